/*
 * Tests of the timed loop of src/engine/measure/probe.c on a simulated disk.
 *
 * Rounds, order, duty cycle and where the writes go.  How long a run takes is in
 * test_duration.c, what happens when calls fail in test_probe_faults.c.
 */
#include "fake_disk.h"

/* Each round has every case once whose file the caller could open, in a new order. */
TEST(measures_every_case_once_a_round)
{
	const sp_result *closed = &probe->results[2];
	int			before[SP_MAX_FILES] = {0};
	int			n;
	int			same = 0;
	int			rounds;

	plan_wal("fdatasync", 400 * MILLISECOND);
	keep_regime(SP_PACED);
	probe->files[2].status = SP_ERROR;
	probe->files[2].open_errno = EACCES;
	run_probe();
	n = count_compared(SP_PACED);
	rounds = disk.calls[PWRITE] / n;
	assert_int_equal(disk.calls[PWRITE] % n, 0);

	/* the first round of a turn is not counted, and the first one after each move */
	assert_uint_in_range(rounds, 70, 80);
	assert_uint_in_range(count_moves(), 3, 4);
	assert_int_equal(probe->rounds[SP_PACED], rounds - 1 - count_moves());
	assert_int_equal(disk.rounds, probe->rounds[SP_PACED]);
	FOR_EACH_MEASURED(c)
		assert_int_equal(probe->results[c].histogram.ops, disk.rounds);
	assert_int_equal(closed->status, SP_ERROR);
	assert_int_equal(closed->error_number, EACCES);
	assert_string_equal(closed->error_call, "open");

	for (int round = 0, at = 0; round < rounds; round++)
	{
		int			order[SP_MAX_FILES] = {0};
		unsigned	seen = 1 << 2;

		for (int i = 0; i < n; at++)
		{
			if (disk.records[at].call != PWRITE)
				continue;
			order[i] = disk.records[at].home;
			assert_int_equal(seen & 1U << order[i], 0);
			seen |= 1U << order[i++];
		}
		same += round > 0 && memcmp(order, before, sizeof(order)) == 0;
		memcpy(before, order, sizeof(order));
	}
	assert_uint_in_range(same, 0, rounds / 4);	/* one in 24 by chance */
}

/*
 * A saturated slice lasts 4 ms, has at least five operations, and one more that is not counted.
 * Fewer are enough if they take two clock ticks.  Several slow ones are one slow round, in which
 * each is five medians of the current method at most.
 */
TEST(fills_slices)
{
	for (int slow = 0; slow < 2; slow++)
	{
		uint64_t	operations = 0;

		plan_wal("fdatasync", 10 * SECOND);
		keep_regime(SP_SATURATED);
		stay_at_home();			/* with moves: see test_rotation.c */
		if (slow)
			disk.cost[FSYNC] = 3 * MILLISECOND;
		run_probe();
		FOR_EACH_MEASURED(c)
		{
			const sp_result *result = &probe->results[c];
			int64_t		rounds = probe->rounds[SP_SATURATED];
			bool		is_slow = slow && strcmp(probe->cases[c].label, "fsync") == 0;

			operations += result->histogram.ops + (uint64_t) result->series.n;
			if (probe->cases[c].max_rounds > 0 && rounds > probe->cases[c].max_rounds)
				rounds = probe->cases[c].max_rounds;
			else
				/* the first rounds may come before there is a median */
				assert_uint_in_range(result->tail.rounds, rounds - 3, rounds);
			assert_int_equal(result->series.n, rounds);
			assert_int_equal(result->tail.slow_rounds, is_slow ? result->tail.rounds : 0);
			if (is_slow)
			{
				assert_int_equal(result->histogram.ops, 2 * rounds);
				assert_true(result->series.mean_us[rounds - 1] < 2500 * 1.01);
			}
			else
				assert_uint_in_range(result->histogram.ops, 7 * rounds, 20 * rounds);
		}
		assert_int_equal(disk.operations, operations);
		assert_int_equal(disk.slept, 0);
	}
}

/*
 * A case that never syncs has a few long slices, a fifth of each not counted.
 * With a duty cycle its slices are short.
 */
TEST(writes_unsynced_at_a_stretch)
{
	static const struct
	{
		int64_t		seconds;
		double		duty_cycle;
		uint64_t	writes;		/* of 0.2 ms: in 250, 125 and 4 ms */
		uint64_t	counted;	/* percent */
	}			rows[] = {{32, 1, 1250, 80}, {8, 1, 625, 80}, {32, 0.5, 20, 95}};

	FOR_EACH(row, rows)
	{
		const sp_result *result;
		uint64_t	writes = 0;

		plan_suite(&sp_suite_pg_test_fsync, "fdatasync", 8192, 64 * KILOBYTE);
		probe->duration_ns = row->seconds * SECOND;
		probe->duty_cycle = row->duty_cycle;
		run_probe();
		result = &probe->results[probe->ncases - 1];
		assert_string_equal(probe->cases[probe->ncases - 1].test, "unsynced_write");
		for (int k = 0; k < disk.nrecords; k++)
			writes += disk.records[k].file == probe->cases[probe->ncases - 1].file;
		assert_uint_in_range(writes, SP_UNSYNCED_ROUNDS * row->writes * 99 / 100,
							 SP_UNSYNCED_ROUNDS * (row->writes + 1));
		assert_int_equal(result->series.n, SP_UNSYNCED_ROUNDS);
		assert_uint_in_range(result->histogram.ops * 100 / writes, row->counted - 2,
							 row->counted + 1);
		assert_true(probe->rounds[SP_SATURATED] > 2 * SP_UNSYNCED_ROUNDS);
	}
}

/* The time of an operation includes all of it and nothing else, such as reading counters. */
TEST(times_the_operation)
{
	plan_wal("fsync", SECOND);
	probe->callbacks.read_counters = fake_read_counters;
	disk.reading_cost = 100 * 1000;
	disk.home_cost[1] = 7000;
	run_probe();
	assert_true(count_moves() > 2);
	FOR_EACH_MEASURED(c)
	{
		const sp_histogram *histogram = &probe->results[c].histogram;
		const sp_file *file = &probe->files[probe->cases[c].file];
		uint64_t	cost = 200 * 1000 + (file->method->sync ? 300 * 1000 : 0) +
			(probe->cases[c].file == 1 ? 2 * 7000 : 0) + 50;

		assert_true(histogram->ops > 0);
		assert_int_equal(histogram->min_ns, cost);
		assert_int_equal(histogram->max_ns, cost);
	}
	assert_true(disk.interrupt_checks >= disk.operations);
}

/*
 * Four fifths of the time are for the regime that decides, and the other one is shown; where
 * there is no other one it gets all.  The disk works so much as the duty cycle says, and other
 * processes wait for one flush of ours at a time: 3.3 ms of each 16, at a fifth.
 */
TEST(shares_its_time)
{
	static const double duty_cycles[] = {0.2, 0.5, 0.05};

	for (size_t i = 0; i < 4 * lengthof(duty_cycles); i++)
	{
		sp_regime	deciding = i % 2 == 0 ? SP_PACED : SP_SATURATED;
		bool		alone = i / 2 % 2 == 0;
		int64_t		before = 0;
		double		slept;
		double		share;

		plan_wal("fdatasync", 200 * SECOND);
		if (alone)
			keep_regime(deciding);
		probe->deciding = deciding;
		probe->duty_cycle = duty_cycles[i / 4];
		/* no rest within an interval, and a long one after each move */
		disk.cost[PWRITE] = disk.cost[FSYNC] = 3 * MILLISECOND;
		run_probe();
		slept = (double) disk.slept / (double) (probe->finished_ns - probe->started_ns);
		if (fabs(slept - (1 - probe->duty_cycle)) > 0.005)
			fail_msg("duty cycle %g: slept %.1f %%", probe->duty_cycle, slept * 100);
		share = (double) probe->spent_ns[deciding] /
			(double) (probe->spent_ns[SP_PACED] + probe->spent_ns[SP_SATURATED]);
		assert_float_equal(share, alone ? 1 : 0.8, 0.03);
		for (int r = 0; r < SP_REGIMES; r++)
			assert_true(probe->rounds[r] >= SP_MIN_SAMPLES || (alone && r != (int) deciding));
		if (i > 0)
			continue;
		assert_uint_in_range(disk.nrecords, 400, MAX_RECORDS - 1);
		/* the first rounds do not know yet how long flushes take */
		for (int k = 50; k < disk.nrecords; k++)
		{
			if (disk.records[k].call != PWRITE)
				continue;
			assert_true(before == 0 || disk.records[k].at - before > 10 * MILLISECOND);
			before = disk.records[k].at;
		}
	}
}

/* A long run needs no more memory, and loses no round. */
TEST(merges_samples_of_long_runs)
{
	plan_wal("fdatasync", 400 * SECOND);
	keep_regime(SP_PACED);
	drop_copies();				/* the histogram has single flushes */
	probe->flush_interval_ns = 8 * MILLISECOND;	/* a sample is a round */
	disk.cost[PWRITE] = disk.cost[FSYNC] = disk.cost[FDATASYNC] = 10 * 1000;
	run_probe();
	FOR_EACH_MEASURED(c)
	{
		const sp_series *series = &probe->results[c].series;
		double		mean_us = sp_histogram_mean_ns(&probe->results[c].histogram) / 1000;

		assert_int_equal(series->merges, 4);
		assert_uint_in_range(series->n, SP_MAX_SAMPLES / 2, SP_MAX_SAMPLES);
		assert_int_equal(series->rounds, probe->rounds[SP_PACED]);
		assert_int_equal(series->n * 16 + series->pending_ends, probe->samples[SP_PACED]);
		for (int k = 0; k < series->n; k++)
			assert_true(fabs(series->mean_us[k] / mean_us - 1) < 1e-9);
	}
}

/* ------------------------------------------------------------- what decides */

static bool
is_same_speed(sp_speed a, sp_speed b)
{
	return memcmp(&a, &b, sizeof(a)) == 0;
}

/* The speed of a case by its samples, against the mean of both copies of the current method. */
static sp_speed
speed_of(const sp_result *result, const sp_result *current)
{
	static double workspace[SP_MAX_SAMPLES];
	int			control = sp_control_of(probe, (int) (current - probe->results));

	assert_true(probe->cases[control].control);
	return sp_speed_against_both(current->series.mean_us, probe->results[control].series.mean_us,
								 result->series.mean_us, result->series.n, SP_ALPHA,
								 probe->comparison.count - 1, workspace);
}

/*
 * The methods of a run, as the rule sees them: those that the platform has, their speeds where
 * it decides, and their slow flushes of both regimes.
 */
TEST(compares_methods_where_it_decides)
{
	for (sp_regime deciding = 0; deciding < SP_REGIMES; deciding++)
	{
		plan_wal("fsync", 10 * SECOND);
		probe->deciding = deciding;
		disk.sd = 1.2;			/* the regimes have different times */
		disk.cost[FSYNC] = MILLISECOND;
		run_probe();
		assert_int_equal(probe->comparison.count, count_compared(deciding) - 1);
		assert_string_equal(probe->comparison.candidates[probe->comparison.current].name, "fsync");
		for (int i = 0; i < probe->comparison.count; i++)
		{
			const sp_candidate *candidate = &probe->comparison.candidates[i];
			const sp_result *paced = result_in(SP_PACED, candidate->name);
			const sp_result *saturated = result_in(SP_SATURATED, candidate->name);

			assert_int_equal(candidate->other_kind,
							 sp_sync_method_find(candidate->name)->opens_synced);
			assert_int_equal(candidate->data_only, strstr(candidate->name, "datasync") != NULL);
			assert_true(i == probe->comparison.current ||
						is_same_speed(candidate->speed, speed_of(result_in(deciding,
									  candidate->name), result_in(deciding, "fsync"))));
			assert_int_equal(candidate->tail.rounds, paced->tail.rounds + saturated->tail.rounds);
			assert_int_equal(candidate->tail.slow_rounds,
							 paced->tail.slow_rounds + saturated->tail.slow_rounds);
			assert_true(candidate->tail.slow_rounds > 0);
		}
	}
}

/* The reason names the regime and the pace that was achieved, and after all the load. */
TEST(names_what_decides)
{
	static const struct
	{
		int64_t		interval;	/* us, that of the plan */
		sp_regime	deciding;
		const char *words;
	}			rows[] = {
		{5000, SP_PACED, " over fdatasync with a flush every 5 ms; time per flush: "},
		{20000, SP_PACED, " over fdatasync with a flush every 20 ms; time per flush: "},
		/* five flushes of 0.5 ms do not fit into half a millisecond */
		{500, SP_PACED, " over fdatasync with a flush every 2.5 ms; time per flush: "},
		{5000, SP_SATURATED, " over fdatasync back to back; time per flush: "},
	};

	FOR_EACH(row, rows)
	{
		plan_wal("fdatasync", 4 * SECOND);
		even_out_methods(300 * 1000);
		disk.sd = 0.01;
		probe->flush_interval_ns = row->interval * 1000;
		probe->deciding = row->deciding;
		probe->load = "WAL is written 12 % of the time";
		run_probe();
		if (strstr(reason_of_run(), row->words) == NULL ||
			strstr(reason_of_run(), probe->load) == NULL)
			fail_msg("%s: %s", row->words, reason_of_run());
	}
}

TEST(doubts_without_counters)
{
	bool		at_backing = true;

	plan_suite(&sp_suite_wal, "fdatasync", 8192, 64 * KILOBYTE);
	assert_string_equal(sp_probe_method_doubt(probe, "fdatasync", &at_backing),
						"none of its syncs was measured");
	assert_false(at_backing);
	probe->device.write_cache = "write back";
	run_probe();
	assert_int_equal(sp_probe_method_durable(probe, "fdatasync", false), SP_DURABLE_UNKNOWN);
	assert_string_equal(sp_probe_method_doubt(probe, "fdatasync", &at_backing),
						"flushes are not counted");
	assert_false(at_backing);
	assert_string_equal(sp_probe_method_doubt(probe, "no method", &at_backing),
						"none of its syncs was measured");
	/* it is known: nothing is synced at all */
	probe->device.syncs_nothing = "it is in memory";
	assert_int_equal(sp_probe_method_durable(probe, "fdatasync", false), SP_DURABLE_NO);
	assert_null(sp_probe_method_doubt(probe, "fdatasync", &at_backing));
	run_probe();
	assert_non_null(strstr(reason_of_run(), " do not reach the device (it is in memory); "));
}

/* ------------------------------------------------------------ stopping early */

/* A disk on which all methods take the same time, but for noise, and a run that may end early. */
static void
plan_equals(double sd, uint64_t seed, int64_t duration)
{
	plan_wal("fdatasync", duration);
	probe->stop_early = true;
	even_out_methods(10 * 1000);
	disk.sd = sd;
	disk.seed = seed;
}

/*
 * The time of methods that cannot be worth a switch, here fsync, goes to the others, in both
 * regimes, and they keep their interval.  The others are too noisy to be settled.
 */
TEST(leaves_out_what_cannot_gain)
{
	for (sp_regime deciding = 0; deciding < SP_REGIMES; deciding++)
	{
		plan_equals(1.5, 1, 6 * SECOND);
		disk.cost[FSYNC] = 3 * MILLISECOND;
		probe->deciding = deciding;
		run_probe();
		assert_false(probe->done);
		FOR_EACH_MEASURED(c)
		{
			const sp_result *result = &probe->results[c];
			int64_t		samples = probe->samples[probe->cases[c].regime];
			bool		is_fsync = strcmp(probe->cases[c].label, "fsync") == 0;

			if (!probe->cases[c].candidate && !probe->cases[c].control)
				continue;
			assert_int_equal(result->excluded, is_fsync);
			/* since the first look, after a quarter of the time */
			assert_uint_in_range(result->series.n, is_fsync ? samples / 10 : samples,
								 is_fsync ? samples * 4 / 10 : samples);
			/* it is not known from the samples that came later */
			if (is_fsync && probe->cases[c].regime == deciding)
				assert_true(result->speed.high < 0.95);
		}
		assert_int_equal(probe->judgement.verdict, SP_UNDECIDED);
		assert_non_null(strstr(reason_of_run(), " fsync +"));
	}
}

/*
 * A run that may end early is looked at after a quarter of its time, and after half of it; it
 * ends where the verdict is settled.
 */
TEST(ends_where_it_is_settled)
{
	const int64_t duration = 8 * SECOND;
	const int	runs = 60;
	int			ended[SP_LOOKS + 1] = {0};

	for (int run = 0; run < runs; run++)
	{
		int64_t		took;

		/* the noisier, the later */
		plan_equals(0.05 + 0.01 * run, (uint64_t) run + 1, duration);
		probe->deciding = run % 2 == 0 ? SP_PACED : SP_SATURATED;
		run_probe();
		took = probe->finished_ns - probe->started_ns;
		ended[probe->done ? probe->looks : SP_LOOKS]++;
		if (!probe->done)
		{
			assert_int_equal(probe->looks, SP_LOOKS - 1);
			assert_uint_in_range(took, duration - SECOND / 5, duration);
			continue;
		}
		/* a turn of the other regime may come between */
		assert_uint_in_range(took, duration * probe->looks / 4,
							 duration * probe->looks / 4 + SECOND);
		assert_int_equal(probe->judgement.verdict, SP_KEEP);
	}
	for (int look = 1; look <= SP_LOOKS; look++)
		assert_true(ended[look] > 5);
}

/* A short run whose verdict is settled within the first turn still measures the other regime. */
TEST(ends_when_every_case_was_measured)
{
	plan_equals(0.01, 1, SECOND);
	run_probe();
	assert_true(probe->done);
	FOR_EACH_MEASURED(c)
		assert_true(probe->results[c].histogram.ops > 0);
	assert_int_not_equal(result_in(SP_SATURATED, "fsync")->status, SP_STOPPED);
}

/*
 * Otherwise there is one look, at the end, with the whole error: its interval is narrower.  A
 * case that is only shown gets its interval with its last round, and keeps it.
 */
TEST(looks_once_at_the_end)
{
	sp_speed	speeds[2];
	sp_speed	shown[2];

	for (int stop_early = 0; stop_early < 2; stop_early++)
	{
		plan_equals(0.6, 3, 4 * SECOND);
		probe->stop_early = stop_early;
		run_probe();
		assert_false(probe->done);
		assert_int_equal(probe->looks, stop_early ? SP_LOOKS - 1 : 0);
		speeds[stop_early] = result_in(SP_PACED, "open_sync")->speed;
		for (int c = 0; c < probe->ncases; c++)
		{
			if (probe->cases[c].max_rounds == 0)
				continue;
			assert_int_equal(probe->results[c].series.n, probe->cases[c].max_rounds);
			shown[stop_early] = probe->results[c].speed;
		}
	}
	assert_true(speeds[0].estimate == speeds[1].estimate);
	assert_true(speeds[0].low > speeds[1].low && speeds[0].high < speeds[1].high);
	assert_true(is_same_speed(shown[0], shown[1]));
	assert_true(shown[0].low < shown[0].high);
}

TEST(judges_nothing_without_a_current_method)
{
	static const sp_suite *const suites[] = {&sp_suite_wal, &sp_suite_pg_test_fsync};

	for (size_t s = 0; s < lengthof(suites); s++)
	{
		plan_suite(suites[s], NULL, 8192, 64 * KILOBYTE);
		probe->stop_early = true;
		probe->duration_ns = SECOND;
		run_probe();
		assert_false(probe->judged);
		assert_true(probe->finished_ns - probe->started_ns > SECOND / 2);
		for (int c = 0; c < probe->ncases; c++)
			assert_true(isnan(probe->results[c].speed.estimate));
	}
}

/* Offsets and sizes of the first writes of one file, in kB; what follows repeats them. */
static const struct
{
	const sp_suite *suite;
	const char *test;			/* its first case is looked at */
	int			flush_size;		/* bytes */
	int			file_size;		/* kB */
	int			nwrites;
	int			writes[6][2];
}			position_cases[] =
{
	{&sp_suite_wal, "paced", 8192, 32, 4, {{0, 8}, {8, 8}, {16, 8}, {24, 8}}},
	/* to 3000, 6000, 9000, 12000, 15000; 18000 does not fit */
	{&sp_suite_wal, "paced", 3000, 16, 5, {{0, 8}, {0, 8}, {0, 16}, {8, 8}, {8, 8}}},
	{&sp_suite_wal, "paced", 8193, 24, 2, {{0, 16}, {8, 16}}},
	{&sp_suite_wal, "paced", 12288, 32, 2, {{0, 16}, {8, 16}}},
	{&sp_suite_wal, "paced", 1, 8, 1, {{0, 8}}},
	{&sp_suite_wal, "paced", 32768, 32, 1, {{0, 32}}},
	{&sp_suite_wal, "paced", 40000, 32, 1, {{0, 32}}},
	/* one call, however long; 300000 is in the 37th page */
	{&sp_suite_wal, "paced", 300000, 1024, 3, {{0, 296}, {288, 304}, {584, 296}}},
	{&sp_suite_wal, "paced", 1048576, 2048, 2, {{0, 1024}, {1024, 1024}}},
	{&sp_suite_wal, "paced", 16777216, 16384, 1, {{0, 16384}}},
	/* the tool always writes at the beginning of the file */
	{&sp_suite_pg_test_fsync, "one_write", 8192, 64, 1, {{0, 8}}},
	{&sp_suite_pg_test_fsync, "two_writes", 8192, 64, 2, {{0, 8}, {8, 8}}},
	{&sp_suite_pg_test_fsync, "non_write_descriptor", 8192, 64, 1, {{0, 8}}},
};

TEST(writes_where_the_server_and_the_tool_do)
{
	FOR_EACH(row, position_cases)
	{
		int			found = 0;
		int			c = 0;

		plan_suite(row->suite, "fdatasync", row->flush_size, row->file_size * KILOBYTE);
		while (strcmp(probe->cases[c].test, row->test) != 0)
			c++;
		if (row->suite == &sp_suite_wal)
			probe->ncases = 2;	/* open_datasync and fdatasync, paced */
		run_probe();
		for (int k = 0; k < disk.nrecords && found < 6; k++)
		{
			const call_record *call = &disk.records[k];
			const int  *expected = row->writes[found % row->nwrites];

			if (call->file != probe->cases[c].file || call->call != PWRITE)
				continue;
			if (call->offset != expected[0] * KILOBYTE || call->size != expected[1] * KILOBYTE)
				fail_msg("row %d, write %d: %lld at %lld", (int) (row - position_cases), found,
						 (long long) call->size, (long long) call->offset);
			found++;
		}
		assert_int_equal(found, 6);
		/* the lines that open and close make each call twice */
		assert_true(row->suite == &sp_suite_wal || disk.calls[OPENAT] % 2 == 0);
		assert_int_equal(disk.calls[OPENAT], disk.calls[CLOSE]);
	}
}

TEST(opens_and_closes_as_the_tool_does)
{
	static const char *const orders[] = {
		[SP_WRITE_SYNC_CLOSE] = "OWSCOC",[SP_WRITE_CLOSE_SYNC] = "OWCOSC"
	};
	int			found = 0;

	plan_suite(&sp_suite_pg_test_fsync, "fdatasync", 8192, 64 * KILOBYTE);
	stay_at_home();
	run_probe();
	for (int c = 0; c < probe->ncases; c++)
	{
		const sp_test_case *one = &probe->cases[c];
		const char *order = one->descriptor_use == SP_KEEP_OPEN ? NULL : orders[one->descriptor_use];
		int			n = 0;

		for (int k = 0; k < disk.nrecords; k++)
		{
			char		call = "WVOCSFRU"[disk.records[k].call];

			if (disk.records[k].file != one->file)
				continue;
			assert_true(order ? call == order[n++ % 6] : call != 'O' && call != 'C');
			found += n == 6;
		}
	}
	assert_int_equal(found, 2);
}

TEST_MAIN(set_up, tear_down)
