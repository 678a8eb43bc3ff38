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
	int			homes[1000];	/* of the writes */
	int			writes = 0;
	int			same = 0;		/* place as in the round before */
	unsigned	seen = 0;
	int			n;
	int			rounds;

	plan_wal("fdatasync", 400 * MILLISECOND);
	keep_regime(SP_PACED);
	probe->files[2].status = SP_ERROR;
	probe->files[2].open_errno = EACCES;
	run_probe();
	n = sp_count_cases(probe, SP_PACED);
	rounds = disk.calls[PWRITE] / n;
	assert_int_equal(disk.calls[PWRITE] % n, 0);

	/* the first round of a turn is not counted, and the first one after each move */
	assert_uint_in_range(rounds, 70, 80);
	assert_uint_in_range(probe->rotation.shift[SP_PACED], 3, 4);
	assert_int_equal(probe->rounds[SP_PACED], rounds - 1 - probe->rotation.shift[SP_PACED]);
	assert_int_equal(disk.rounds, probe->rounds[SP_PACED]);
	FOR_EACH_MEASURED(c)
		assert_int_equal(probe->results[c].histogram.ops, disk.rounds);
	assert_int_equal(probe->results[2].status, SP_ERROR);
	assert_int_equal(probe->results[2].error_number, EACCES);
	assert_string_equal(probe->results[2].error_call, "open");

	for (int i = 0; i < disk.nrecords; i++)
	{
		if (disk.records[i].call != PWRITE)
			continue;
		homes[writes] = disk.records[i].home;
		if (writes % n == 0)
			seen = 1U << 2;
		assert_int_equal(seen & 1U << homes[writes], 0);
		seen |= 1U << homes[writes];
		same += writes >= n && homes[writes] == homes[writes - n];
		writes++;
	}
	assert_uint_in_range(same, 0, writes / 2);	/* a quarter by chance */
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
		sp_server	server = server_with("fdatasync");
		uint64_t	operations = 0;

		server.direct_io_all = true;	/* then all cases are compared */
		plan_for(&sp_suite_wal, &server);
		probe->duration_ns = 10 * SECOND;
		keep_regime(SP_SATURATED);
		stay_at_home();			/* with moves: see test_rotation.c */
		if (slow)
			disk.cost[FSYNC] = 3 * MILLISECOND;
		run_probe();
		FOR_EACH_MEASURED(c)
		{
			const sp_result *result = &probe->results[c];
			const int64_t rounds = probe->rounds[SP_SATURATED];
			bool		is_slow = slow && strcmp(probe->cases[c].label, "fsync") == 0;

			operations += result->histogram.ops + (uint64_t) rounds;
			assert_int_equal(result->series.n, rounds);
			/* the first rounds may come before there is a median */
			assert_uint_in_range(result->tail.rounds, rounds - 3, rounds);
			assert_int_equal(result->tail.slow_rounds, is_slow ? result->tail.rounds : 0);
			assert_uint_in_range(result->histogram.ops, (is_slow ? 2 : 7) * rounds,
								 (is_slow ? 2 : 20) * rounds);
			assert_true(!is_slow || result->series.mean_us[rounds - 1] < 2500 * 1.01);
		}
		assert_int_equal(disk.operations, operations);
		assert_int_equal(disk.slept, 0);
	}
}

/*
 * A stall is what it is in the histogram.  In its sample it is five medians of the current
 * method at most, here fdatasync with 0.5 ms.  If it is more, it is one slow round of its case
 * and of no other.
 */
TEST(counts_a_stall_as_five_medians)
{
	static const int64_t stalls_us[] = {1900, 1980, 2030, 3000, 100000};

	for (int i = 0; i < 20 * (int) lengthof(stalls_us); i++)
	{
		plan_wal("fdatasync", SECOND);
		keep_regime(SP_PACED);
		stay_at_home();
		drop_copies();
		probe->flush_interval_ns = 8 * MILLISECOND;	/* a sample is a round */
		disk.tick = 0;
		let_fail(PWRITE, 250 + i % 20, 0);
		disk.fault_cost = stalls_us[i / 20] * 1000;
		run_probe();
		assert_true(disk.failed_record >= 0);
		FOR_EACH_MEASURED(c)
		{
			const sp_result *result = &probe->results[c];
			const sp_file *file = &probe->files[probe->cases[c].file];
			double		longest_us = file->method->opens_synced ? 200 : 500;
			double		largest = 0;

			if (probe->cases[c].file == disk.records[disk.failed_record].file)
				longest_us += (double) disk.fault_cost / 1000;
			for (int k = 0; k < result->series.n; k++)
				largest = fmax(largest, result->series.mean_us[k]);
			assert_float_equal(largest, fmin(longest_us, 2500), 0.01 * largest);
			assert_true(result->histogram.max_ns == (uint64_t) (longest_us * 1000));
			assert_int_equal(result->tail.slow_rounds, longest_us > 2500);
			/* without the first 16, of which there is no median yet */
			assert_uint_in_range(result->tail.rounds, probe->rounds[SP_PACED] - 17,
								 probe->rounds[SP_PACED] - 15);
		}
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
		uint64_t	writes;
		int			c;

		plan_suite(&sp_suite_pg_test_fsync, "fdatasync", 8192, 64 * KILOBYTE);
		probe->duration_ns = row->seconds * SECOND;
		probe->duty_cycle = row->duty_cycle;
		run_probe();
		c = probe->ncases - 1;
		assert_string_equal(probe->cases[c].test, "unsynced_write");
		result = &probe->results[c];
		writes = strlen(calls_of(probe->cases[c].file));
		assert_uint_in_range(writes, SP_UNSYNCED_ROUNDS * row->writes * 99 / 100,
							 SP_UNSYNCED_ROUNDS * (row->writes + 1));
		assert_int_equal(result->series.n, SP_UNSYNCED_ROUNDS);
		assert_uint_in_range(result->histogram.ops * 100 / writes, row->counted - 2,
							 row->counted + 1);
		assert_true(probe->rounds[SP_SATURATED] > 2 * SP_UNSYNCED_ROUNDS);
	}
}

/*
 * The time of an operation includes all of it and nothing else, such as reading counters or
 * the clock.  The latter may take less than was measured: no time is below zero.
 */
TEST(times_the_operation)
{
	plan_wal("fsync", SECOND);
	drop_copies();				/* they have no additional cost */
	probe->callbacks.read_counters = fake_read_counters;
	probe->clock_cost_ns = 250 * 1000;
	disk.reading_cost = 100 * 1000;
	disk.home_cost[1] = 7000;
	run_probe();
	assert_true(probe->rotation.shift[SP_PACED] > 2);
	for (int c = 0; c < probe->ncases; c++)
	{
		const sp_histogram *histogram = &probe->results[c].histogram;
		const sp_file *file = &probe->files[probe->cases[c].file];
		int			cost = file->method->opens_synced ? 0 : 500 * 1000 + 50 - 250 * 1000;

		cost += file == &probe->files[1] ? 2 * 7000 : 0;
		assert_int_equal(histogram->ops > 0, file->status == SP_OK);
		if (histogram->ops == 0)
			continue;
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
		double		length;
		double		spent;

		plan_wal("fdatasync", 200 * SECOND);
		if (alone)
			keep_regime(deciding);
		probe->deciding = deciding;
		probe->duty_cycle = duty_cycles[i / 4];
		/* no rest within an interval, and a long one after each move */
		disk.cost[PWRITE] = disk.cost[FSYNC] = 3 * MILLISECOND;
		run_probe();
		length = (double) (probe->finished_ns - probe->started_ns);
		spent = (double) (probe->spent_ns[SP_PACED] + probe->spent_ns[SP_SATURATED]);
		assert_float_equal((double) disk.slept / length, 1 - probe->duty_cycle, 0.005);
		assert_float_equal((double) probe->spent_ns[deciding] / spent, alone ? 1 : 0.8, 0.03);
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

/* A long run needs no more memory, and loses no round; here each two are a sample. */
TEST(merges_samples_of_long_runs)
{
	static sp_series series;

	sp_series_end_sample(&series);	/* of a case that had no round */
	for (int i = 0; i < 10 * SP_MAX_SAMPLES + 5; i++)
	{
		sp_series_add_round(&series, 2 * i);
		sp_series_add_round(&series, 2 * i + 1);
		sp_series_end_sample(&series);
	}
	assert_int_equal(series.merges, 4);
	assert_int_equal(series.n, 10 * SP_MAX_SAMPLES / 16);
	assert_int_equal(series.pending_ends, 5);
	for (int k = 0; k < series.n; k++)
		assert_float_equal(series.mean_us[k], 32 * k + 15.5, 1e-6);
}

/* ------------------------------------------------------------- what decides */

/* The speed of a case by its samples, against the mean of both copies of the current method. */
static sp_speed
speed_of(const sp_result *result, const sp_result *current)
{
	static double workspace[SP_MAX_SAMPLES];
	int			control = sp_control_of(probe, (int) (current - probe->results));

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
		assert_int_equal(probe->comparison.count, sp_count_cases(probe, SP_PACED) - 1);
		assert_string_equal(probe->comparison.candidates[probe->comparison.current].name, "fsync");
		for (int i = 0; i < probe->comparison.count; i++)
		{
			const sp_candidate *candidate = &probe->comparison.candidates[i];
			const sp_result *paced = result_in(SP_PACED, candidate->name);
			const sp_result *saturated = result_in(SP_SATURATED, candidate->name);
			const sp_speed speed = speed_of(deciding == SP_PACED ? paced : saturated,
											result_in(deciding, "fsync"));

			assert_int_equal(candidate->other_kind,
							 sp_sync_method_find(candidate->name)->opens_synced);
			assert_int_equal(candidate->data_only, strstr(candidate->name, "datasync") != NULL);
			if (i != probe->comparison.current)
				assert_memory_equal(&candidate->speed, &speed, sizeof(speed));
			assert_int_equal(candidate->tail.rounds, paced->tail.rounds + saturated->tail.rounds);
			assert_int_equal(candidate->tail.slow_rounds,
							 paced->tail.slow_rounds + saturated->tail.slow_rounds);
			assert_true(candidate->tail.slow_rounds > 0);
		}
	}
}

/*
 * Others use the processors for most of the time: few flushes wait, but most rounds do.  Or the
 * first flushes stall, when there is no limit yet, so long that all samples together exceed it.
 */
static int	busy;

static void
wait_for_others(int file __attribute__((unused)), int home __attribute__((unused)),
				bool moves __attribute__((unused)))
{
	if (busy ? disk.now % SECOND > 50 * MILLISECOND : disk.operations < 10)
		disk.now += busy ? 4 * MILLISECOND : SECOND / 10;
}

TEST(compares_nothing_if_most_rounds_are_slow)
{
	for (busy = 0; busy < 2; busy++)
	{
		plan_wal("fdatasync", 30 * SECOND);
		probe->deciding = SP_SATURATED;
		keep_regime(SP_SATURATED);
		disk.cost[PWRITE] = disk.cost[FSYNC] = disk.cost[FDATASYNC] = 20 * 1000;
		disk.model = wait_for_others;
		run_probe();
		assert_int_equal(isnan(result_in(SP_SATURATED, "fsync")->speed.high), busy);
		assert_int_equal(isnan(result_in(SP_SATURATED, "fdatasync")->speed.high), busy);
		assert_int_equal(probe->judgement.verdict, busy ? SP_UNDECIDED : SP_SWITCH);
		assert_int_equal(isnan(probe->judgement.max_regret), busy);
		assert_true(!busy || probe->judgement.times_as_long == 1);
		assert_int_equal(strstr(reason_of_run(), "quieter time") != NULL, busy);
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
		{125000, SP_PACED, " fdatasync with a flush every 125 ms; "},
		/* three flushes of 0.5 ms and two of 0.2 ms do not fit into half a millisecond */
		{500, SP_PACED, " fdatasync with a flush every 1.9 ms; "},
		{5000, SP_SATURATED, " fdatasync back to back; "},
	};

	FOR_EACH(row, rows)
	{
		plan_wal("fdatasync", 4 * SECOND);
		probe->flush_interval_ns = row->interval * 1000;
		probe->deciding = row->deciding;
		probe->load = "WAL is written 12 % of the time";
		run_probe();
		if (strstr(reason_of_run(), row->words) == NULL ||
			strstr(reason_of_run(), probe->load) == NULL)
			fail_msg("%s: %s", row->words, reason_of_run());
	}
}

/* ------------------------------------------------------------ stopping early */

/* A disk on which all methods take the same time, but for noise, and a run that may end early. */
static void
plan_equals(double sd, uint64_t seed, int64_t duration)
{
	plan_wal("fdatasync", duration);
	probe->stop_early = true;
	disk.sd = sd;
	disk.seed = seed;
	/* open_* sync with the write, and so make one call less */
	disk.cost[FSYNC] = disk.cost[FDATASYNC] = 10 * 1000;
	for (int i = 0; i < probe->nfiles; i++)
		disk.home_cost[i] = probe->files[i].method->opens_synced ? 10 * 1000 : 0;
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
		int			c;

		plan_equals(0.6, 3, 4 * SECOND);
		probe->stop_early = stop_early;
		run_probe();
		assert_false(probe->done);
		assert_int_equal(probe->looks, stop_early ? SP_LOOKS - 1 : 0);
		speeds[stop_early] = result_in(SP_PACED, "open_sync")->speed;
		for (c = 0; probe->cases[c].max_rounds == 0; c++)
			;
		assert_int_equal(probe->results[c].series.n, probe->cases[c].max_rounds);
		shown[stop_early] = probe->results[c].speed;
	}
	assert_true(speeds[0].estimate == speeds[1].estimate);
	assert_true(speeds[0].low > speeds[1].low && speeds[0].high < speeds[1].high);
	assert_memory_equal(&shown[0], &shown[1], sizeof(sp_speed));
	assert_true(shown[0].low < shown[0].high);
}

TEST(judges_nothing_without_a_current_method)
{
	plan_wal(NULL, SECOND);
	probe->stop_early = true;
	run_probe();
	assert_false(probe->judged);
	assert_true(probe->finished_ns - probe->started_ns > SECOND / 2);
	for (int c = 0; c < probe->ncases; c++)
		assert_true(isnan(probe->results[c].speed.estimate));
}

/* The first six writes of a file: offset and size, in kB. */
TEST(writes_where_the_server_and_the_tool_do)
{
	static const struct
	{
		const sp_suite *suite;
		const char *test;		/* its first case is looked at */
		int			flush_size; /* bytes */
		int			file_size;	/* kB */
		const char *writes;
	}			rows[] = {
		{&sp_suite_wal, "paced", 8192, 32, "0+8 8+8 16+8 24+8 0+8 8+8 "},
		/* to 3000, 6000, 9000, 12000, 15000; 18000 does not fit */
		{&sp_suite_wal, "paced", 3000, 16, "0+8 0+8 0+16 8+8 8+8 0+8 "},
		{&sp_suite_wal, "paced", 40000, 32, "0+32 0+32 0+32 0+32 0+32 0+32 "},
		/* one call, however long; 300000 is in the 37th page */
		{&sp_suite_wal, "paced", 300000, 1024, "0+296 288+304 584+296 0+296 288+304 584+296 "},
		/* the tool always writes at the beginning of the file */
		{&sp_suite_pg_test_fsync, "one_write", 8192, 64, "0+8 0+8 0+8 0+8 0+8 0+8 "},
		{&sp_suite_pg_test_fsync, "two_writes", 8192, 64, "0+8 8+8 0+8 8+8 0+8 8+8 "},
		{&sp_suite_pg_test_fsync, "non_write_descriptor", 8192, 64, "0+8 0+8 0+8 0+8 0+8 0+8 "},
	};

	FOR_EACH(row, rows)
	{
		char		text[200];
		sp_sentence writes = sp_sentence_begin(text, sizeof(text));
		int			found = 0;
		int			c = 0;

		plan_suite(row->suite, "fdatasync", row->flush_size, row->file_size * KILOBYTE);
		while (strcmp(probe->cases[c].test, row->test) != 0)
			c++;
		run_probe();
		for (const call_record *call = disk.records; found < 6; call++)
		{
			assert_true(call < disk.records + disk.nrecords);
			if (call->file != probe->cases[c].file || call->call != PWRITE)
				continue;
			sp_append(&writes, "%d+%d ", (int) (call->offset / KILOBYTE),
					  (int) (call->size / KILOBYTE));
			found++;
		}
		assert_string_equal(text, row->writes);
	}
}

TEST(opens_and_closes_as_the_tool_does)
{
	static const char *const orders[] = {
		[SP_WRITE_SYNC_CLOSE] = "OWSCOCOWSCOC",[SP_WRITE_CLOSE_SYNC] = "OWCOSCOWCOSC"
	};

	plan_suite(&sp_suite_pg_test_fsync, "fdatasync", 8192, 64 * KILOBYTE);
	stay_at_home();
	run_probe();
	FOR_EACH_MEASURED(c)
	{
		const sp_test_case *one = &probe->cases[c];
		const char *calls = calls_of(one->file);

		if (one->descriptor_use == SP_KEEP_OPEN)
			assert_int_equal(strspn(calls, "WSF"), strlen(calls));
		else
			assert_int_equal(strncmp(calls, orders[one->descriptor_use], 12), 0);
	}
}

TEST_MAIN(set_up, tear_down)
