/*-------------------------------------------------------------------------
 *
 * test_probe.c
 *	  Tests of the timed loop of src/engine/measure/probe.c on a simulated disk.
 *
 * Rounds, order, duty cycle and where the writes go.  All times are those of a
 * clock that the test moves.  How long a run takes is in test_duration.c, what
 * happens when calls fail in test_probe_faults.c; the __wrap_ functions of all
 * are in fake_disk.h.
 *
 *-------------------------------------------------------------------------
 */
#include "fake_disk.h"

#define KILOBYTE	INT64_C(1024)

/* Each round has every case of a regime once, in a new order. */
static void
measures_every_case_once_a_round(void **state)
{
	int			before[SP_MAX_FILES] = {0};
	int			n;
	int			same = 0;
	int			rounds;
	int			uncounted;

	(void) state;
	plan_suite(&sp_suite_wal, "fdatasync", 8192, 64 * KILOBYTE);
	keep_regime(SP_PACED);
	probe->duration_ns = 400 * MILLISECOND;
	run_probe();
	n = count_compared(SP_PACED);
	rounds = disk.calls[PWRITE] / n;
	assert_int_equal(disk.calls[PWRITE] % n, 0);

	/* the first round of a turn is not counted, and the first one after each move */
	assert_uint_in_range(rounds, 70, 80);
	assert_uint_in_range(count_moves(), 3, 4);
	uncounted = 1 + count_moves();
	assert_int_equal(probe->rounds[SP_PACED], rounds - uncounted);
	assert_int_equal(disk.rounds, probe->rounds[SP_PACED]);
	for (int c = 0; c < probe->ncases; c++)
	{
		if (probe->results[c].status == SP_UNSUPPORTED)
			continue;
		assert_int_equal(probe->results[c].status, SP_OK);
		assert_int_equal(probe->results[c].histogram.ops, rounds - uncounted);
		/* at 5 ms, a sample is two rounds */
		assert_int_equal(probe->results[c].series.n, (rounds - uncounted) / 2);
		assert_int_equal(probe->results[c].series.n, probe->samples[SP_PACED]);
	}

	for (int round = 0, at = 0; round < rounds; round++)
	{
		int			order[SP_MAX_FILES] = {0};
		bool		seen[SP_MAX_FILES] = {false};

		for (int i = 0; i < n; at++)
		{
			if (disk.records[at].call != PWRITE)
				continue;
			order[i] = disk.records[at].home;
			assert_false(seen[order[i]]);
			seen[order[i++]] = true;
		}
		same += round > 0 && memcmp(order, before, sizeof(order)) == 0;
		memcpy(before, order, sizeof(order));
	}
	assert_uint_in_range(same, 0, rounds / 4);	/* one in 120 by chance */
}

/* A saturated slice lasts 4 ms, has at least five operations, and one more that is not counted. */
static void
fills_slices(void **state)
{
	(void) state;
	plan_suite(&sp_suite_wal, "fdatasync", 8192, 64 * KILOBYTE);
	keep_regime(SP_SATURATED);
	stay_at_home();				/* with moves: see test_places.c */
	probe->duration_ns = 10 * SECOND;
	for (int slow = 0; slow < 2; slow++)
	{
		uint64_t	operations = 0;
		int64_t		rounds;

		if (slow)
			disk.cost[FSYNC] = 20 * MILLISECOND;
		run_probe();
		for (int c = 0; c < probe->ncases; c++)
		{
			const sp_result *result = &probe->results[c];
			bool		is_fsync = strcmp(probe->cases[c].label, "fsync") == 0;

			if (result->status != SP_OK)
				continue;
			operations += result->histogram.ops + (uint64_t) result->series.n;
			rounds = probe->rounds[SP_SATURATED];
			if (probe->cases[c].max_rounds > 0 && rounds > probe->cases[c].max_rounds)
				rounds = probe->cases[c].max_rounds;
			assert_int_equal(result->series.n, rounds);
			if (slow && is_fsync)
				assert_int_equal(result->histogram.ops, rounds);	/* two clock ticks are enough */
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
static void
writes_unsynced_at_a_stretch(void **state)
{
	static const struct
	{
		int64_t		seconds;
		double		duty_cycle;
		int64_t		length;		/* ms */
	}			rows[] = {{32, 1, 250}, {8, 1, 125}, {32, 0.5, 4}};

	(void) state;
	for (size_t i = 0; i < lengthof(rows); i++)
	{
		int			c;
		int64_t		stretches = 0;
		int64_t		writes = 0;
		int64_t		begin = 0;

		plan_suite(&sp_suite_pg_test_fsync, "fdatasync", 8192, 64 * KILOBYTE);
		probe->duration_ns = rows[i].seconds * SECOND;
		probe->duty_cycle = rows[i].duty_cycle;
		c = probe->ncases - 1;
		assert_string_equal(probe->cases[c].test, "unsynced_write");
		run_probe();
		assert_uint_in_range(disk.nrecords, 1000, MAX_RECORDS);	/* they come first */
		for (int k = 0; k < disk.nrecords; k++)
		{
			int64_t		taken;

			if (disk.records[k].file != probe->cases[c].file)
				continue;
			writes++;
			if (k == 0 || disk.records[k - 1].file != disk.records[k].file)
				begin = disk.records[k].at;
			if (k + 1 < disk.nrecords && disk.records[k + 1].file == disk.records[k].file)
				continue;
			stretches++;
			taken = disk.records[k].at - begin;
			assert_uint_in_range(taken, (rows[i].length - 1) * MILLISECOND,
							(rows[i].length + 2) * MILLISECOND);
		}
		assert_int_equal(stretches, SP_UNSYNCED_ROUNDS);
		assert_int_equal(probe->results[c].series.n, SP_UNSYNCED_ROUNDS);
		if (rows[i].length > 4)
			assert_uint_in_range(probe->results[c].histogram.ops * 100 / (uint64_t) writes, 78, 81);
		else
			assert_int_equal(probe->results[c].histogram.ops, writes - stretches);
		assert_true(probe->rounds[SP_SATURATED] > 2 * SP_UNSYNCED_ROUNDS);
	}
}

/* The time of an operation includes all of it and nothing else. */
static void
times_the_operation(void **state)
{
	(void) state;
	plan_suite(&sp_suite_wal, "fsync", 8192, 64 * KILOBYTE);
	disk.home_cost[1] = 7000;
	probe->duration_ns = SECOND;	/* with moves */
	run_probe();
	assert_true(count_moves() > 2);
	for (int c = 0; c < probe->ncases; c++)
	{
		const sp_histogram *histogram = &probe->results[c].histogram;
		const sp_file *file = &probe->files[probe->cases[c].file];
		uint64_t	cost = 200 * 1000 + (file->method->sync ? 300 * 1000 : 0) +
			(probe->cases[c].file == 1 ? 2 * 7000 : 0) + 50;

		if (file->status != SP_OK)
			continue;
		assert_true(histogram->ops > 0);
		assert_int_equal(histogram->min_ns, cost);
		assert_int_equal(histogram->max_ns, cost);
	}
	assert_true(disk.interrupt_checks >= disk.operations);
}

static const sp_suite *const suites[] = {&sp_suite_wal, &sp_suite_pg_test_fsync};

static void
rests_as_told(void **state)
{
	static const double duty_cycles[] = {0.2, 0.5, 0.05};

	(void) state;
	for (size_t s = 0; s < 2 * lengthof(duty_cycles); s++)
	{
		double		slept;

		plan_suite(&sp_suite_wal, "fdatasync", 8192, 64 * KILOBYTE);
		keep_regime(s % 2 == 0 ? SP_PACED : SP_SATURATED);
		probe->duty_cycle = duty_cycles[s / 2];
		probe->duration_ns = 5 * SECOND;
		disk.cost[PWRITE] = 3 * MILLISECOND;	/* no rest within an interval */
		run_probe();
		slept = (double) disk.slept / (double) (probe->finished_ns - probe->started_ns);
		if (fabs(slept - (1 - probe->duty_cycle)) > 0.005)
			fail_msg("duty cycle %g: slept %.1f %%", probe->duty_cycle, slept * 100);
	}
}

/* Other processes wait for one flush of ours at a time: 3.3 ms of each 16. */
static void
rests_after_every_flush(void **state)
{
	int64_t		before = 0;

	(void) state;
	plan_suite(&sp_suite_wal, "fdatasync", 8192, 64 * KILOBYTE);
	keep_regime(SP_PACED);
	probe->duty_cycle = 0.2;
	probe->duration_ns = 5 * SECOND;
	disk.cost[PWRITE] = 3 * MILLISECOND;
	run_probe();
	assert_uint_in_range(disk.nrecords, 400, MAX_RECORDS - 1);
	/* the first rounds do not know yet how long flushes take */
	for (int i = 50; i < disk.nrecords; i++)
	{
		if (disk.records[i].call != PWRITE)
			continue;
		if (before > 0)
			assert_true(disk.records[i].at - before > 10 * MILLISECOND);
		before = disk.records[i].at;
	}
}

/* An interval has one flush of each case, even if all are fast. */
static void
keeps_the_pace(void **state)
{
	(void) state;
	plan_suite(&sp_suite_wal, "fdatasync", 8192, 64 * KILOBYTE);
	keep_regime(SP_PACED);
	probe->duration_ns = 2 * SECOND;
	run_probe();
	/*
	 * Four turns of 500 ms, the first round of each uncounted.  To move takes a round, and
	 * 0.3 ms for each of five files.
	 */
	assert_uint_in_range(count_moves(), 20, 23);
	assert_uint_in_range(probe->rounds[SP_PACED], 2000 * 16 / (16 * 5 + 6.5) - 4 - 3,
					2000 * 16 / (16 * 5 + 6.5) + 1);

	stay_at_home();
	run_probe();
	assert_int_equal(count_moves(), 0);
	assert_uint_in_range(probe->rounds[SP_PACED], 2000 / 5 - 4 - 3, 2000 / 5 - 4 + 1);
}

static void
checks_series(int64_t rounds)
{
	for (int c = 0; c < probe->ncases; c++)
	{
		const sp_series *series = &probe->results[c].series;
		double		mean_us = sp_histogram_mean_ns(&probe->results[c].histogram) / 1000;

		if (probe->results[c].status == SP_UNSUPPORTED)
			continue;
		assert_uint_in_range(series->n, SP_MAX_SAMPLES / 2, SP_MAX_SAMPLES);
		assert_int_equal(series->rounds, rounds);
		assert_int_equal(series->n * series->merged + series->pending_ends,
						 probe->samples[SP_PACED]);
		for (int i = 0; i < series->n; i++)
			assert_true(fabs(series->mean_us[i] / mean_us - 1) < 1e-9);
	}
}

/* A long run needs no more memory, and loses no round. */
static void
merges_samples_of_long_runs(void **state)
{
	static const struct
	{
		int64_t		interval;	/* us */
		int64_t		seconds;
		int64_t		merged;		/* samples that became one */
	}			rows[] = {{8000, 45, 2}, {8000, 85, 4}, {8000, 400, 16}, {500, 50, 2}};

	(void) state;
	for (size_t i = 0; i < lengthof(rows); i++)
	{
		plan_suite(&sp_suite_wal, "fdatasync", 8192, 64 * KILOBYTE);
		keep_regime(SP_PACED);
		drop_copies();			/* the histogram has single flushes */
		probe->flush_interval_ns = rows[i].interval * 1000;
		disk.cost[PWRITE] = disk.cost[FSYNC] = disk.cost[FDATASYNC] = 10 * 1000;
		probe->duration_ns = rows[i].seconds * SECOND;
		run_probe();
		checks_series(probe->rounds[SP_PACED]);
		assert_int_equal(probe->results[1].series.merged, rows[i].merged);
	}
}

/* ------------------------------------------------------------- what decides */

/* The speed of a method in a regime, by its case. */
static sp_speed
speed_in(sp_regime regime, const char *label)
{
	for (int c = 0; c < probe->ncases; c++)
	{
		if (probe->cases[c].regime == regime && probe->cases[c].candidate &&
			strcmp(probe->cases[c].label, label) == 0)
			return probe->results[c].speed;
	}
	fail_msg("no case of %s", label);
	return (sp_speed) {NAN, NAN, NAN};
}

static bool
is_same(double a, double b)
{
	return isnan(a) ? isnan(b) : a == b;
}

static bool
is_same_speed(sp_speed a, sp_speed b)
{
	return is_same(a.estimate, b.estimate) && is_same(a.low, b.low) && is_same(a.high, b.high);
}

/* Four fifths of the time are for the regime that decides; the other one is shown. */
static void
gives_most_time_to_what_decides(void **state)
{
	(void) state;
	for (sp_regime deciding = 0; deciding < SP_REGIMES; deciding++)
	{
		double		share;

		plan_suite(&sp_suite_wal, "fdatasync", 8192, 64 * KILOBYTE);
		probe->deciding = deciding;
		probe->duration_ns = 20 * SECOND;
		run_probe();
		share = (double) probe->spent_ns[deciding] /
			(double) (probe->spent_ns[SP_PACED] + probe->spent_ns[SP_SATURATED]);
		print_message("# %s decides: %.1f %% of the time\n", sp_regime_name(deciding), 100 * share);
		assert_true(fabs(share - 0.8) < 0.03);
		for (int r = 0; r < SP_REGIMES; r++)
			assert_true(probe->rounds[r] >= SP_MIN_SAMPLES);

		/* where there is no other one it gets all */
		keep_regime(deciding);
		run_probe();
		assert_int_equal(probe->spent_ns[SP_REGIMES - 1 - deciding], 0);
		assert_true(probe->spent_ns[deciding] > 19 * SECOND);
	}
}

/* The methods of a run, as the rule sees them: those that the platform has. */
static void
compares_methods_where_it_decides(void **state)
{
	(void) state;
	for (sp_regime deciding = 0; deciding < SP_REGIMES; deciding++)
	{
		plan_suite(&sp_suite_wal, "fsync", 8192, 64 * KILOBYTE);
		probe->deciding = deciding;
		probe->duration_ns = 10 * SECOND;
		disk.sd = 0.1;			/* the regimes have different times */
		disk.cost[FSYNC] = MILLISECOND;
		run_probe();
		assert_true(probe->judged);
		assert_int_equal(probe->comparison.count, count_compared(deciding) - 1);
		assert_true(probe->comparison.margin == probe->margin);
		assert_string_equal(probe->comparison.candidates[probe->comparison.current].name, "fsync");
		for (int i = 0; i < probe->comparison.count; i++)
		{
			const sp_candidate *candidate = &probe->comparison.candidates[i];
			const sp_sync_method *method = sp_sync_method_find(candidate->name);

			assert_int_equal(candidate->other_kind, method->opens_synced);
			assert_int_equal(candidate->data_only, strstr(candidate->name, "datasync") != NULL);
			assert_true(method->supported);
			assert_true(is_same_speed(candidate->speed, speed_in(deciding, candidate->name)));
			assert_false(is_same_speed(candidate->speed,
									   speed_in(SP_REGIMES - 1 - deciding, candidate->name)));
		}
	}
}

/* The slow flushes of both regimes bar a switch. */
static void
counts_slow_flushes_of_both_regimes(void **state)
{
	(void) state;
	for (sp_regime deciding = 0; deciding < SP_REGIMES; deciding++)
	{
		plan_suite(&sp_suite_wal, "fsync", 8192, 64 * KILOBYTE);
		probe->deciding = deciding;
		probe->duration_ns = 4 * SECOND;
		disk.sd = 1.5;
		run_probe();
		for (int i = 0; i < probe->comparison.count; i++)
		{
			const sp_candidate *candidate = &probe->comparison.candidates[i];
			sp_tail		sum = {0, 0};

			for (int c = 0; c < probe->ncases; c++)
			{
				const sp_tail *tail = &probe->results[c].tail;

				if (!probe->cases[c].candidate ||
					strcmp(probe->cases[c].label, candidate->name) != 0)
					continue;
				assert_true(tail->rounds > 0);
				sum.rounds += tail->rounds;
				sum.slow_rounds += tail->slow_rounds;
			}
			assert_int_equal(candidate->tail.rounds, sum.rounds);
			assert_int_equal(candidate->tail.slow_rounds, sum.slow_rounds);
			assert_true(sum.slow_rounds > 0);
		}
	}
}

/* The reason names the regime, and the pace that was achieved. */
static void
names_what_decides(void **state)
{
	static const struct
	{
		int64_t		interval;	/* us, that of the plan */
		sp_regime	deciding;
		const char *when;
	}			rows[] = {
		{5000, SP_PACED, " over fdatasync with a flush every 5 ms; time per flush: "},
		{20000, SP_PACED, " over fdatasync with a flush every 20 ms; time per flush: "},
		/* five flushes of 0.5 ms do not fit into half a millisecond */
		{500, SP_PACED, " over fdatasync with a flush every 2.5 ms; time per flush: "},
		{5000, SP_SATURATED, " over fdatasync back to back; time per flush: "},
	};

	(void) state;
	for (size_t i = 0; i < lengthof(rows); i++)
	{
		plan_suite(&sp_suite_wal, "fdatasync", 8192, 64 * KILOBYTE);
		/* open_* sync with the write, and so make one call less */
		for (int f = 0; f < probe->nfiles; f++)
			disk.home_cost[f] = probe->files[f].method->opens_synced ? 300 * 1000 : 0;
		disk.sd = 0.01;
		probe->duration_ns = 4 * SECOND;
		probe->flush_interval_ns = rows[i].interval * 1000;
		probe->deciding = rows[i].deciding;
		run_probe();
		assert_int_equal(probe->judgement.verdict, SP_KEEP);
		if (strstr(reason_of_run(), rows[i].when) == NULL)
			fail_msg("\"%s\" is not in \"%s\"", rows[i].when, reason_of_run());
		assert_non_null(strstr(reason_of_run(), "no other method can gain more than "));
		assert_null(strstr(reason_of_run(), "WAL is written"));

		probe->load = "WAL is written 12 % of the time";
		assert_non_null(strstr(reason_of_run(), " %; WAL is written 12 % of the time"));
	}
}

/* The mean of what the recommended method took, where it decides. */
static void
tells_the_time_of_a_flush(void **state)
{
	(void) state;
	for (sp_regime deciding = 0; deciding < SP_REGIMES; deciding++)
	{
		plan_suite(&sp_suite_wal, "fsync", 8192, 64 * KILOBYTE);
		probe->deciding = deciding;
		probe->duration_ns = 4 * SECOND;
		disk.tick = 0;
		disk.cost[FSYNC] = MILLISECOND;
		for (int f = 0; f < probe->nfiles; f++)
			disk.home_cost[f] = probe->files[f].method->opens_synced ? MILLISECOND : 0;
		run_probe();
		assert_int_equal(probe->judgement.verdict, SP_SWITCH);
		assert_string_equal(probe->comparison.candidates[probe->judgement.recommended].name,
							"fdatasync");
		assert_float_equal(sp_probe_flush_us(probe), 500, 1e-6);
		probe->judgement.recommended = probe->comparison.current;
		assert_float_equal(sp_probe_flush_us(probe), 1200, 1e-6);
		probe->judgement.recommended = -1;
		assert_true(isnan(sp_probe_flush_us(probe)));
		probe->judged = false;
		assert_true(isnan(sp_probe_flush_us(probe)));
	}
}

/* Without counters nothing is known of the device, and it is said why. */
static void
doubts_without_counters(void **state)
{
	bool		at_backing = true;

	(void) state;
	plan_suite(&sp_suite_wal, "fdatasync", 8192, 64 * KILOBYTE);
	assert_string_equal(sp_probe_method_doubt(probe, "fdatasync", &at_backing),
						"none of its syncs was measured");
	assert_false(at_backing);
	strcpy(probe->device.write_cache, "write back");
	run_probe();
	assert_string_equal(sp_probe_method_doubt(probe, "fdatasync", &at_backing),
						"flushes are not counted");
	assert_false(at_backing);
	assert_string_equal(sp_probe_method_doubt(probe, "no method", &at_backing),
						"none of its syncs was measured");
	/* it is known: nothing is synced at all */
	probe->device.syncs_nothing = true;
	assert_null(sp_probe_method_doubt(probe, "fdatasync", &at_backing));
	probe->syncs_nothing = "it is in memory";
	run_probe();
	assert_string_equal(reason_of_run(), "syncs with fdatasync do not reach the device (it is in "
						"memory); no method is known whose syncs do: change the storage, not the "
						"setting");
	assert_true(isnan(sp_probe_flush_us(probe)));
}

/* A case that is only shown gets its interval with its last round, and keeps it. */
static void
looks_at_what_is_only_shown(void **state)
{
	int			shown;

	(void) state;
	for (int i = 0; i < 4; i++)
	{
		shown = 0;
		plan_suite(&sp_suite_wal, "fdatasync", 8192, 64 * KILOBYTE);
		disk.sd = 0.2;
		probe->duration_ns = 16 * SECOND;
		probe->deciding = i % 2 == 0 ? SP_PACED : SP_SATURATED;
		probe->stop_early = i >= 2;
		run_probe();
		for (int c = 0; c < probe->ncases; c++)
		{
			const sp_result *result = &probe->results[c];
			double		ratio;

			if (probe->cases[c].max_rounds == 0)
				continue;
			shown++;
			assert_int_equal(result->series.n, probe->cases[c].max_rounds);
			assert_true(probe->rounds[SP_SATURATED] > result->series.n);
			ratio = result->speed.high / result->speed.low;
			assert_true(ratio > 1 && ratio < 2);
		}
		assert_int_equal(shown, 2);
	}
}

/* ------------------------------------------------------------ stopping early */

/* The excluded cases, as they were when they were excluded. */
static bool seen_excluded[SP_MAX_CASES];
static sp_result when_out[SP_MAX_CASES];

static void
check_left_out(void)
{
	for (int c = 0; c < probe->ncases; c++)
	{
		const sp_result *result = &probe->results[c];

		if (!seen_excluded[c])
		{
			seen_excluded[c] = result->excluded;
			when_out[c] = *result;
			continue;
		}
		assert_true(result->excluded);
		assert_true(is_same_speed(result->speed, when_out[c].speed));
		assert_int_equal(result->series.rounds, when_out[c].series.rounds);
		/* rounds of a sample that had begun still make one */
		assert_uint_in_range(result->series.n, when_out[c].series.n,
						when_out[c].series.n + (when_out[c].series.pending_rounds > 0));
		assert_int_equal(result->histogram.ops, when_out[c].histogram.ops);
	}
}

/* A look follows this. */
static void
watch_excluded(void *context)
{
	fake_round_done(context);
	check_left_out();
}

/* A disk on which all methods take the same time, but for noise. */
static void
plan_equals(double sd, uint64_t seed)
{
	plan_suite(&sp_suite_wal, "fdatasync", 8192, 64 * KILOBYTE);
	disk.cost[FSYNC] = disk.cost[FDATASYNC] = 10 * 1000;
	/* open_* sync with the write, and so make one call less */
	for (int i = 0; i < probe->nfiles; i++)
		disk.home_cost[i] = probe->files[i].method->opens_synced ? 10 * 1000 : 0;
	disk.sd = sd;
	disk.seed = seed;
}

/* And one on which fsync is slow. */
static void
plan_slow_fsync(bool stop_early)
{
	plan_equals(1.5, 1);
	disk.cost[FSYNC] = 3 * MILLISECOND;
	probe->duration_ns = 6 * SECOND;
	probe->stop_early = stop_early;
	probe->callbacks.round_done = watch_excluded;
	memset(seen_excluded, 0, sizeof(seen_excluded));
}

/*
 * The time of methods that cannot be worth a switch goes to the others, in both regimes, and
 * they keep their interval.  The others are too noisy to be settled.
 */
static void
leaves_out_what_cannot_gain(void **state)
{
	(void) state;
	for (sp_regime deciding = 0; deciding < SP_REGIMES; deciding++)
	{
		plan_slow_fsync(true);
		probe->deciding = deciding;
		run_probe();
		check_left_out();
		assert_false(probe->done);
		assert_int_equal(probe->looks, 2);
		for (int c = 0; c < probe->ncases; c++)
		{
			const sp_result *result = &probe->results[c];
			sp_regime	regime = probe->cases[c].regime;
			bool		is_fsync = strcmp(probe->cases[c].label, "fsync") == 0;

			if (result->status == SP_UNSUPPORTED ||
				!(probe->cases[c].candidate || probe->cases[c].control))
				continue;
			assert_int_equal(result->excluded, is_fsync);
			if (!is_fsync)
			{
				assert_int_equal(result->series.n, probe->samples[regime]);
				continue;
			}
			assert_true(seen_excluded[c]);
			/* since the first look, after a quarter of the time */
			assert_true(result->series.n * 10 > probe->samples[regime]);
			assert_true(result->series.n * 10 < probe->samples[regime] * 4);
			/* it is not known from the samples that came later */
			if (regime == deciding)
				assert_true(result->speed.high < 0.95);
		}
		assert_int_equal(probe->judgement.verdict, SP_UNDECIDED);
		assert_non_null(strstr(reason_of_run(), "; time per flush: "));
		assert_non_null(strstr(reason_of_run(), " fsync +"));
	}
}

/*
 * A run that may end early is looked at after a quarter of its time, and after half of it; it
 * ends where the verdict is settled.
 */
static void
ends_where_it_is_settled(void **state)
{
	const int64_t duration = 8 * SECOND;
	const int	runs = 60;
	int			ended[SP_LOOKS + 1] = {0};

	(void) state;
	for (int run = 0; run < runs; run++)
	{
		int64_t		took;

		/* the noisier, the later */
		plan_equals(0.05 + 0.01 * run, (uint64_t) run + 1);
		probe->deciding = run % 2 == 0 ? SP_PACED : SP_SATURATED;
		probe->duration_ns = duration;
		probe->stop_early = true;
		run_probe();
		took = probe->finished_ns - probe->started_ns;
		if (!probe->done)
		{
			assert_int_equal(probe->looks, SP_LOOKS - 1);
			assert_uint_in_range(took, duration - SECOND / 5, duration);
			ended[SP_LOOKS]++;
			continue;
		}
		/* a turn of the other regime may come between */
		assert_uint_in_range(took, duration * probe->looks / 4,
							 duration * probe->looks / 4 + SECOND);
		ended[probe->looks]++;
		assert_true(sp_is_settled(&probe->comparison, &probe->judgement));
		assert_int_equal(probe->judgement.verdict, SP_KEEP);
	}
	print_message("# ended at a quarter %d, at a half %d, at the end %d of %d\n",
				  ended[1], ended[2], ended[3], runs);
	for (int look = 1; look <= SP_LOOKS; look++)
		assert_true(ended[look] > 5);
}

/* Otherwise there is one look, at the end, with the whole error. */
static void
looks_once_unless_told(void **state)
{
	sp_speed	early;
	sp_speed	late;

	(void) state;
	for (int stop_early = 0; stop_early < 2; stop_early++)
	{
		plan_equals(0.6, 7);
		probe->duration_ns = 4 * SECOND;
		probe->stop_early = stop_early;
		run_probe();
		assert_false(probe->done);
		assert_int_equal(probe->looks, stop_early ? SP_LOOKS - 1 : 0);
		assert_uint_in_range(probe->finished_ns - probe->started_ns, 4 * SECOND - SECOND / 5,
							 4 * SECOND);
		*(stop_early ? &early : &late) = speed_in(SP_PACED, "open_sync");
	}
	/* the last of three has less of it: its interval is wider */
	assert_true(early.estimate == late.estimate);
	assert_true(early.low < late.low && early.high > late.high);
}

/* What is clear is found at the first look, in either regime. */
static void
finds_what_is_clear(void **state)
{
	(void) state;
	for (sp_regime deciding = 0; deciding < SP_REGIMES; deciding++)
	{
		plan_suite(&sp_suite_wal, "fsync", 8192, 64 * KILOBYTE);
		probe->deciding = deciding;
		probe->duration_ns = 10 * SECOND;
		probe->stop_early = true;
		disk.cost[FSYNC] = MILLISECOND;
		disk.cost[FDATASYNC] = MILLISECOND / 2;
		disk.home_cost[0] = disk.home_cost[4] = 5 * MILLISECOND;
		run_probe();
		assert_true(probe->done);
		assert_int_equal(probe->looks, 1);
		assert_int_equal(probe->judgement.verdict, SP_SWITCH);
		assert_string_equal(probe->comparison.candidates[probe->judgement.recommended].name,
							"fdatasync");
		for (sp_regime r = 0; r < SP_REGIMES; r++)
			assert_true(fabs(speed_in(r, "fdatasync").estimate - 1.2 / 0.7) < 0.01);
	}
}

/* With enough time for the noise, differences are found, and that there is none. */
static void
decides_with_enough_time(void **state)
{
	static const int64_t slower[] = {50 * 1000, 10 * 1000};	/* fdatasync, the current one */

	(void) state;
	for (size_t i = 0; i < lengthof(slower); i++)
	{
		int			decided = 0;

		for (uint64_t seed = 1; seed <= 20; seed++)
		{
			plan_equals(0.3, seed);
			disk.cost[FDATASYNC] = slower[i];
			probe->duration_ns = 60 * SECOND;
			probe->stop_early = true;
			run_probe();
			decided += probe->judgement.verdict == (i == 0 ? SP_SWITCH : SP_KEEP);
		}
		print_message("# fdatasync of %d us: %d of 20 decided\n", (int) slower[i] / 1000, decided);
		assert_uint_in_range(decided, 19, 20);
	}
}

static void
judges_nothing_without_a_current_method(void **state)
{
	(void) state;
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

/* Offsets and sizes of the first writes of one file, in kB. */
static const struct
{
	int			flush_size;		/* bytes */
	int			file_size;		/* kB */
	struct
	{
		int			offset;
		int			size;
	}			writes[6];
}			position_cases[] =
{
	{8192, 32, {{0, 8}, {8, 8}, {16, 8}, {24, 8}, {0, 8}, {8, 8}}},
	/* to 3000, 6000, 9000, 12000, 15000; 18000 does not fit */
	{3000, 16, {{0, 8}, {0, 8}, {0, 16}, {8, 8}, {8, 8}, {0, 8}}},
	{8193, 24, {{0, 16}, {8, 16}, {0, 16}, {8, 16}, {0, 16}, {8, 16}}},
	{12288, 32, {{0, 16}, {8, 16}, {0, 16}, {8, 16}, {0, 16}, {8, 16}}},
	{1, 8, {{0, 8}, {0, 8}, {0, 8}, {0, 8}, {0, 8}, {0, 8}}},
	{32768, 32, {{0, 32}, {0, 32}, {0, 32}, {0, 32}, {0, 32}, {0, 32}}},
	{40000, 32, {{0, 32}, {0, 32}, {0, 32}, {0, 32}, {0, 32}, {0, 32}}},
	{262144, 1024, {{0, 256}, {256, 256}, {512, 256}, {768, 256}, {0, 256}, {256, 256}}},
	/* longer than the buffer; 300000 is in the 37th page */
	{300000, 1024, {{0, 296}, {288, 304}, {584, 296}, {0, 296}, {288, 304}, {584, 296}}},
	{1048576, 2048, {{0, 1024}, {1024, 1024}, {0, 1024}, {1024, 1024}, {0, 1024}, {1024, 1024}}},
	{16777216, 16384, {{0, 16384}, {0, 16384}, {0, 16384}, {0, 16384}, {0, 16384}, {0, 16384}}},
};

static void
moves_as_the_wal_does(void **state)
{
	(void) state;
	for (size_t i = 0; i < lengthof(position_cases); i++)
	{
		size_t		found = 0;

		plan_suite(&sp_suite_wal, "fdatasync", position_cases[i].flush_size,
				   position_cases[i].file_size * KILOBYTE);
		probe->ncases = 2;		/* open_datasync and fdatasync, paced */
		run_probe();
		for (int k = 0; k < disk.nrecords && found < 6; k++)
		{
			const call_record *call = &disk.records[k];

			if (call->file != 1 || (call->call != PWRITE && call->call != PWRITEV))
				continue;
			if (call->offset != position_cases[i].writes[found].offset * KILOBYTE ||
				call->size != position_cases[i].writes[found].size * KILOBYTE)
				fail_msg("flush of %d, write %zu: %lld at %lld",
						 position_cases[i].flush_size, found,
						 (long long) call->size, (long long) call->offset);
			/* what is longer than the buffer is still one call */
			assert_int_equal(call->call == PWRITEV, call->size > SP_BUFFER_SIZE);
			assert_int_equal(call->parts, (call->size + SP_BUFFER_SIZE - 1) / SP_BUFFER_SIZE);
			found++;
		}
		assert_int_equal(found, 6);
	}
}

/* The tool always writes at the beginning of the file. */
static void
writes_where_the_tool_does(void **state)
{
	int			next[SP_MAX_FILES] = {0};

	(void) state;
	plan_suite(&sp_suite_pg_test_fsync, "fdatasync", 8192, 64 * KILOBYTE);
	run_probe();
	for (int k = 0; k < disk.nrecords; k++)
	{
		const call_record *call = &disk.records[k];
		const sp_test_case *test_case = &probe->cases[call->file];

		assert_int_equal(test_case->file, call->file);	/* one case a file */
		if (call->call != PWRITE)
		{
			assert_int_not_equal(call->call, PWRITEV);
			continue;
		}
		assert_int_equal(call->size, test_case->write_size);
		assert_int_equal(call->offset, next[call->file] * test_case->write_size);
		next[call->file] = (next[call->file] + 1) % test_case->writes_per_sync;
	}
	/* the lines that open and close make each call twice */
	assert_true(disk.calls[OPENAT] > 0 && disk.calls[OPENAT] % 2 == 0);
	assert_int_equal(disk.calls[OPENAT], disk.calls[CLOSE]);
}

/* With real writes: no file grows, and no other file changes. */
static void
writes_within_its_files(void **state)
{
	(void) state;
	for (size_t s = 0; s < lengthof(suites); s++)
	{
		plan_suite(suites[s], "fdatasync", 10000, 64 * KILOBYTE);
		disk.really_writes = true;
		probe->files[1].status = SP_ERROR;
		probe->files[1].open_errno = EACCES;
		run_probe();
		for (int i = 0; i < probe->nfiles; i++)
		{
			struct stat status;

			if (probe->files[i].fd < 0)
				continue;
			assert_int_equal(fstat(probe->files[i].fd, &status), 0);
			assert_true(status.st_size == probe->files[i].size);
		}
		for (int k = 0; k < disk.nrecords; k++)
			assert_int_not_equal(disk.records[k].file, 1);
		assert_int_equal(probe->results[1].status, SP_ERROR);
		assert_int_equal(probe->results[1].error_number, EACCES);
		assert_string_equal(probe->results[1].error_call, "open");
		assert_int_equal(probe->results[1].histogram.ops, 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(measures_every_case_once_a_round),
		cmocka_unit_test(fills_slices),
		cmocka_unit_test(writes_unsynced_at_a_stretch),
		cmocka_unit_test(times_the_operation),
		cmocka_unit_test(rests_as_told),
		cmocka_unit_test(rests_after_every_flush),
		cmocka_unit_test(keeps_the_pace),
		cmocka_unit_test(merges_samples_of_long_runs),
		cmocka_unit_test(gives_most_time_to_what_decides),
		cmocka_unit_test(compares_methods_where_it_decides),
		cmocka_unit_test(counts_slow_flushes_of_both_regimes),
		cmocka_unit_test(names_what_decides),
		cmocka_unit_test(tells_the_time_of_a_flush),
		cmocka_unit_test(doubts_without_counters),
		cmocka_unit_test(looks_at_what_is_only_shown),
		cmocka_unit_test(leaves_out_what_cannot_gain),
		cmocka_unit_test(ends_where_it_is_settled),
		cmocka_unit_test(looks_once_unless_told),
		cmocka_unit_test(finds_what_is_clear),
		cmocka_unit_test(decides_with_enough_time),
		cmocka_unit_test(judges_nothing_without_a_current_method),
		cmocka_unit_test(moves_as_the_wal_does),
		cmocka_unit_test(writes_where_the_tool_does),
		cmocka_unit_test(writes_within_its_files),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("probe", tests, set_up, tear_down);
}
