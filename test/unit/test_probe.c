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
	plan_suite("wal", "fdatasync", 8192, 64 * KILOBYTE);
	keep_regime(SP_PACED);
	probe->duration_ns = 400 * MILLISECOND;
	run_probe();
	n = (int) sp_sync_method_count;	/* one not supported, one twice */
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
		/* at 5 ms, an entry is two rounds */
		assert_int_equal(probe->results[c].series.n, (rounds - uncounted) / 2);
		assert_int_equal(probe->results[c].series.n, probe->entries[SP_PACED]);
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

/* The files in the order in which they were written to, as one number. */
static uint64_t
order_of_run(uint64_t seed)
{
	uint64_t	hash = 0;

	probe->random_seed = seed;
	run_probe();
	assert_uint_in_range(disk.nrecords, 100, MAX_RECORDS - 1);
	for (int i = 0; i < disk.nrecords; i++)
		hash = (hash ^ (uint64_t) disk.records[i].file) * UINT64_C(0x100000001b3) + 1;
	return hash;
}

static void
repeats_the_order_of_a_seed(void **state)
{
	uint64_t	hash;

	(void) state;
	plan_suite("wal", "fdatasync", 8192, 64 * KILOBYTE);
	hash = order_of_run(42);
	assert_true(order_of_run(42) == hash);
	assert_true(order_of_run(43) != hash);
	/* the seed has 48 bits */
	assert_true(order_of_run(42 + (UINT64_C(1) << 40)) != hash);
}

/* A saturated slice lasts 4 ms, has at least five operations, and one more that is not counted. */
static void
fills_slices(void **state)
{
	(void) state;
	plan_suite("wal", "fdatasync", 8192, 64 * KILOBYTE);
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

		plan_suite("pg_test_fsync", "fdatasync", 8192, 64 * KILOBYTE);
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
	plan_suite("wal", "fsync", 8192, 64 * KILOBYTE);
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

static const char *const suites[] = {"wal", "pg_test_fsync"};

static void
rests_as_told(void **state)
{
	static const double duty_cycles[] = {0.2, 0.5, 0.05};

	(void) state;
	for (size_t s = 0; s < 2 * lengthof(duty_cycles); s++)
	{
		double		slept;

		plan_suite("wal", "fdatasync", 8192, 64 * KILOBYTE);
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
	plan_suite("wal", "fdatasync", 8192, 64 * KILOBYTE);
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
	plan_suite("wal", "fdatasync", 8192, 64 * KILOBYTE);
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
		assert_uint_in_range(series->n, SP_MAX_ENTRIES / 2, SP_MAX_ENTRIES);
		assert_int_equal(series->rounds, rounds);
		assert_int_equal(series->n * series->merged + series->pending_ends,
						 probe->entries[SP_PACED]);
		for (int i = 0; i < series->n; i++)
			assert_true(fabs(series->mean_us[i] / mean_us - 1) < 1e-9);
	}
}

/* A long run needs no more memory, and loses no round. */
static void
merges_entries_of_long_runs(void **state)
{
	static const struct
	{
		int64_t		interval;	/* us */
		int64_t		seconds;
		int64_t		merged;		/* entries that became one */
	}			rows[] = {{8000, 45, 2}, {8000, 85, 4}, {8000, 400, 16}, {500, 50, 2}};

	(void) state;
	for (size_t i = 0; i < lengthof(rows); i++)
	{
		plan_suite("wal", "fdatasync", 8192, 64 * KILOBYTE);
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

static void
stops_when_settled(void **state)
{
	sp_comparison comparison;

	(void) state;
	plan_suite("wal", "fsync", 8192, 64 * KILOBYTE);
	probe->duration_ns = 10 * SECOND;
	disk.cost[FSYNC] = MILLISECOND;
	disk.cost[FDATASYNC] = MILLISECOND / 2;
	disk.home_cost[0] = disk.home_cost[4] = 5 * MILLISECOND;

	run_probe();
	assert_true(probe->finished_ns - probe->started_ns > 9 * SECOND);
	probe->stop_early = true;
	run_probe();
	assert_true(probe->finished_ns - probe->started_ns < 5 * SECOND);
	assert_true(probe->judged);
	assert_int_equal(probe->judgement.verdict, SP_SWITCH);
	assert_true(sp_probe_compare(probe, &comparison));
	assert_int_equal(comparison.count, (int) sp_sync_method_count);
	assert_string_equal(comparison.contenders[comparison.current].name, "fsync");
	assert_string_equal(comparison.contenders[probe->judgement.recommended].name, "fdatasync");
	for (int r = 0; r < SP_REGIMES; r++)
		assert_true(fabs(comparison.contenders[1].speed[r].estimate - 1.2 / 0.7) < 0.01);
	assert_int_equal(disk.analyses, probe->analyses[SP_PACED] + probe->analyses[SP_SATURATED]);
}

/* The paces that decide: the cluster's own, and what the probe made of it. */
static void
knows_its_pace(void **state)
{
	static const struct
	{
		int64_t		cluster;	/* us; 0: unknown */
		int64_t		interval;	/* us, that of the plan */
		double		achieved;	/* us */
		sp_regime	deciding;
	}			rows[] = {
		/* a flush of the current method takes 0.5 ms back to back */
		{0, 5000, 5000, SP_PACED},
		{5000, 5000, 5000, SP_PACED},
		{1001, 5000, 5000, SP_PACED},
		{999, 5000, 5000, SP_SATURATED},
		/* five flushes of 0.2 to 0.5 ms do not fit into half a millisecond */
		{500, 500, 1900, SP_SATURATED},
	};
	sp_comparison comparison;

	(void) state;
	for (size_t i = 0; i < lengthof(rows); i++)
	{
		plan_suite("wal", "fdatasync", 8192, 64 * KILOBYTE);
		probe->duration_ns = 2 * SECOND;
		probe->flush_interval_ns = rows[i].interval * 1000;
		probe->cluster_interval_ns = rows[i].cluster * 1000;
		disk.tick = 0;
		run_probe();
		assert_true(sp_probe_compare(probe, &comparison));
		assert_true(rows[i].cluster == 0 ? isnan(comparison.pace.cluster_interval_us)
					: comparison.pace.cluster_interval_us == (double) rows[i].cluster);
		assert_float_equal(comparison.pace.paced_interval_us, rows[i].achieved, 1);
		assert_float_equal(comparison.pace.saturated_flush_us, 500, 1);
		assert_int_equal(comparison.deciding, rows[i].deciding);
		assert_int_equal(strstr(reason_of_run(), "back to back decides") != NULL,
						 rows[i].deciding == SP_SATURATED);
	}

	/* without the other regime, its flush time is not known */
	plan_suite("wal", "fdatasync", 8192, 64 * KILOBYTE);
	keep_regime(SP_PACED);
	run_probe();
	assert_true(sp_probe_compare(probe, &comparison));
	assert_true(isnan(comparison.pace.saturated_flush_us));
	assert_int_equal(comparison.deciding, SP_PACED);
}

/* A case that is only shown gets its interval with its last round, and keeps it. */
static void
looks_at_what_is_only_shown(void **state)
{
	int			shown = 0;

	(void) state;
	plan_suite("wal", "fdatasync", 8192, 64 * KILOBYTE);
	disk.sd = 0.2;
	probe->duration_ns = 10 * SECOND;
	run_probe();
	for (int c = 0; c < probe->ncases; c++)
	{
		const sp_result *result = &probe->results[c];
		double		ratio;

		if (probe->cases[c].max_rounds == 0)
			continue;
		shown++;
		assert_int_equal(result->series.n, probe->cases[c].max_rounds);
		assert_true(probe->rounds[SP_SATURATED] > 2 * result->series.n);
		ratio = result->speed.high / result->speed.low;
		assert_true(ratio > 1 && ratio < 2);
	}
	assert_int_equal(shown, 2);
}

/* ------------------------------------------------------------ stopping early */

/* The excluded cases, as they were when they were excluded. */
static bool seen_excluded[SP_MAX_CASES];
static sp_result when_out[SP_MAX_CASES];

static bool
is_same_speed(sp_speed a, sp_speed b)
{
	return a.estimate == b.estimate && a.low == b.low && a.high == b.high;
}

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
		/* rounds of an entry that had begun still make one */
		assert_uint_in_range(result->series.n, when_out[c].series.n,
						when_out[c].series.n + (when_out[c].series.pending_rounds > 0));
		assert_int_equal(result->histogram.ops, when_out[c].histogram.ops);
	}
}

static void
watch_excluded(void *context, sp_regime regime)
{
	fake_analysis_done(context, regime);
	check_left_out();
}

/* A disk on which all methods take the same time, but for noise. */
static void
plan_equals(double sd, uint64_t seed)
{
	plan_suite("wal", "fdatasync", 8192, 64 * KILOBYTE);
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
	plan_equals(0.3, 1);
	disk.cost[FSYNC] = 3 * MILLISECOND;
	probe->duration_ns = 20 * SECOND;
	probe->stop_early = stop_early;
	probe->callbacks.analysis_done = watch_excluded;
	memset(seen_excluded, 0, sizeof(seen_excluded));
}

/* The time of slower methods goes to the others, and they keep their interval. */
static void
leaves_out_what_is_slower(void **state)
{
	(void) state;
	plan_slow_fsync(true);
	run_probe();
	check_left_out();
	for (int c = 0; c < probe->ncases; c++)
	{
		const sp_result *result = &probe->results[c];
		bool		is_fsync = strcmp(probe->cases[c].label, "fsync") == 0;

		if (result->status == SP_UNSUPPORTED ||
			!(probe->cases[c].contender || probe->cases[c].control))
			continue;
		assert_int_equal(result->excluded, is_fsync);
		if (is_fsync)
		{
			assert_true(seen_excluded[c]);
			assert_uint_in_range(result->series.n, SP_FIRST_ANALYSIS_ENTRIES,
							probe->entries[probe->cases[c].regime] -
							SP_FIRST_ANALYSIS_ENTRIES);
			assert_true(result->speed.high < 0.95);
		}
		else
			assert_int_equal(result->series.n,
							 probe->entries[probe->cases[c].regime]);
	}
	assert_non_null(strstr(reason_of_run(), "open_datasync"));
}

/* Without stop_early, no case is excluded. */
static void
leaves_out_nothing_unless_told(void **state)
{
	(void) state;
	plan_slow_fsync(false);
	run_probe();
	for (int c = 0; c < probe->ncases; c++)
	{
		const sp_result *result = &probe->results[c];

		assert_false(result->excluded);
		if (result->status == SP_OK && probe->cases[c].max_rounds == 0)
			assert_int_equal(result->series.n,
							 probe->entries[probe->cases[c].regime]);
	}
	assert_true(probe->finished_ns - probe->started_ns > 19 * SECOND);

	/* nothing remains of a run that excluded cases */
	probe->stop_early = true;
	run_probe();
	assert_true(probe->results[2].excluded);
	memset(seen_excluded, 0, sizeof(seen_excluded));
	probe->stop_early = false;
	run_probe();
	assert_false(probe->results[2].excluded);
	assert_int_equal(probe->results[2].series.n, probe->entries[SP_PACED]);
}

/*
 * Equal methods on a disk that no short run can tell apart: why wait?  The noise may
 * pass, so half of the time is spent; where luck makes one seem faster it is worth a
 * while longer, in a few runs all of it.
 */
static void
stops_when_projected_undecided(void **state)
{
	const int64_t duration = 10 * SECOND;
	const int	runs = 20;
	int64_t		all = 0;
	int			given_up = 0;

	(void) state;
	for (int run = 1; run <= runs; run++)
	{
		for (int stop_early = 0; stop_early < 2; stop_early++)
		{
			int64_t		took;

			plan_equals(1.5, (uint64_t) run);
			probe->duration_ns = duration;
			probe->stop_early = stop_early;
			run_probe();
			took = probe->finished_ns - probe->started_ns;
			assert_true(probe->judged);
			assert_int_equal(probe->judgement.verdict, SP_UNDECIDED);
			assert_non_null(strstr(reason_of_run(), "the noise is "));
			/* there is no projection from fewer entries */
			for (int r = 0; r < SP_REGIMES; r++)
				assert_true(probe->entries[r] >= 45);

			/* to the end means within half a round of it */
			assert_int_equal(probe->done, took < duration - SECOND / 5);
			assert_false(probe->done && !stop_early);
			if (stop_early)
			{
				given_up += probe->done;
				all += took;
			}
		}
	}
	print_message("# %d of %d given up, after %.0f %% of the time\n", given_up, runs,
				  100.0 * (double) all / (double) (runs * duration));
	assert_uint_in_range(given_up, runs * 8 / 10, runs);
	assert_uint_in_range(all, runs * duration / 2, runs * duration * 7 / 10);
}

/* With enough time for the noise, differences and ties are found. */
static void
goes_on_when_projected_decided(void **state)
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
			decided += i == 0 ? probe->judgement.verdict == SP_SWITCH
				: probe->judgement.verdict == SP_TIE || probe->judgement.verdict == SP_KEEP;
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

		plan_suite("wal", "fdatasync", position_cases[i].flush_size,
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
	plan_suite("pg_test_fsync", "fdatasync", 8192, 64 * KILOBYTE);
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

static void
names_every_status(void **state)
{
	(void) state;
	assert_string_equal(sp_status_name(SP_OK), "ok");
	assert_string_equal(sp_status_name(SP_UNSUPPORTED), "unsupported");
	assert_string_equal(sp_status_name(SP_NO_DIRECT_IO), "no_direct_io");
	assert_string_equal(sp_status_name(SP_STOPPED), "stopped");
	assert_string_equal(sp_status_name(SP_ERROR), "error");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(measures_every_case_once_a_round),
		cmocka_unit_test(repeats_the_order_of_a_seed),
		cmocka_unit_test(fills_slices),
		cmocka_unit_test(writes_unsynced_at_a_stretch),
		cmocka_unit_test(times_the_operation),
		cmocka_unit_test(rests_as_told),
		cmocka_unit_test(rests_after_every_flush),
		cmocka_unit_test(keeps_the_pace),
		cmocka_unit_test(merges_entries_of_long_runs),
		cmocka_unit_test(stops_when_settled),
		cmocka_unit_test(knows_its_pace),
		cmocka_unit_test(looks_at_what_is_only_shown),
		cmocka_unit_test(leaves_out_what_is_slower),
		cmocka_unit_test(leaves_out_nothing_unless_told),
		cmocka_unit_test(stops_when_projected_undecided),
		cmocka_unit_test(goes_on_when_projected_decided),
		cmocka_unit_test(judges_nothing_without_a_current_method),
		cmocka_unit_test(moves_as_the_wal_does),
		cmocka_unit_test(writes_where_the_tool_does),
		cmocka_unit_test(writes_within_its_files),
		cmocka_unit_test(names_every_status),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("probe", tests, set_up, tear_down);
}
