/*-------------------------------------------------------------------------
 *
 * test_tail.c
 *	  Tests of src/engine/verdict/tail.c, and of what the timed loop counts for it.
 *
 * The rule is tested by a table, its error by the exact distribution.  How slow flushes are
 * counted, and how a sample caps them, is seen on the simulated disk of fake_disk.h.
 *
 *-------------------------------------------------------------------------
 */
#include "fake_disk.h"

#include "engine/verdict/tail.h"

#define KILOBYTE	INT64_C(1024)

static void
tells_the_share(void **state)
{
	(void) state;
	assert_true(isnan(sp_tail_share(&(sp_tail) {0, 0})));
	assert_true(sp_tail_share(&(sp_tail) {8, 0}) == 0);
	assert_true(sp_tail_share(&(sp_tail) {8, 2}) == 0.25);
	assert_true(sp_tail_share(&(sp_tail) {8, 8}) == 1);
}

static void
needs_enough_more_slow_flushes(void **state)
{
	static const struct
	{
		const char *scenario;
		sp_tail		tail;
		sp_tail		other;
		bool		exceeds;
	}			rows[] = {
		{"no round at all", {0, 0}, {0, 0}, false},
		{"no round of one", {0, 0}, {100, 50}, false},
		{"no round of the other", {100, 50}, {0, 0}, false},
		{"no slow one", {1000, 0}, {1000, 0}, false},
		{"all are slow", {1000, 1000}, {1000, 1000}, false},
		{"equal", {1000, 30}, {1000, 30}, false},
		{"fewer", {1000, 10}, {1000, 30}, false},
		{"all against none", {1000, 1000}, {1000, 0}, true},
		/* of so many slow rounds a half is expected: three deviations of the sign test */
		{"9 and 0", {500, 9}, {500, 0}, false},
		{"10 and 0", {500, 10}, {500, 0}, true},
		{"16 and 3", {500, 16}, {500, 3}, false},
		{"17 and 3", {500, 17}, {500, 3}, true},
		{"78 and 45", {1000, 78}, {1000, 45}, false},
		{"79 and 45", {1000, 79}, {1000, 45}, true},
		/* with twice the rounds, two thirds are expected */
		{"twice the rounds, 6 and 0", {1000, 18}, {500, 0}, false},
		{"twice the rounds, 19 and 0", {1000, 19}, {500, 0}, true},
		{"half of the rounds, 4 and 0", {500, 4}, {1000, 0}, false},
		{"half of the rounds, 5 and 0", {500, 5}, {1000, 0}, true},
		/* significant, but less than half a percent more */
		{"0.4 % more", {100000, 500}, {100000, 100}, false},
		{"half a percent more", {100000, 600}, {100000, 100}, false},
		{"a little more than half a percent", {100000, 601}, {100000, 100}, true},
		/* the same at large shares */
		{"50 and 51 %", {1000000, 510000}, {1000000, 500000}, true},
		{"50 and 50.4 %", {1000000, 504000}, {1000000, 500000}, false},
	};
	static const struct
	{
		const char *scenario;
		sp_tail		tail;
		sp_tail		other;
		bool		may_exceed;
	}			likely_rows[] = {
		{"no round at all", {0, 0}, {0, 0}, false},
		{"no round of the other", {100, 50}, {0, 0}, false},
		{"none and none", {15, 0}, {15, 0}, false},
		{"one and none", {15, 1}, {15, 0}, false},
		{"two and none", {15, 2}, {15, 0}, true},
		{"three and one", {100, 3}, {100, 1}, false},
		{"six and two", {100, 6}, {100, 2}, true},
		{"none and two", {15, 0}, {15, 2}, false},
		{"two and none, but of many", {1000, 2}, {1000, 0}, false},
	};

	(void) state;
	for (size_t i = 0; i < lengthof(rows); i++)
	{
		if (sp_tail_exceeds(&rows[i].tail, &rows[i].other) != rows[i].exceeds)
			fail_msg("%s", rows[i].scenario);
		/* never both ways */
		if (rows[i].exceeds)
			assert_false(sp_tail_exceeds(&rows[i].other, &rows[i].tail));
		/* what is proven is likely */
		assert_true(!rows[i].exceeds || sp_tail_may_exceed(&rows[i].tail, &rows[i].other));
	}
	for (size_t i = 0; i < lengthof(likely_rows); i++)
	{
		if (sp_tail_may_exceed(&likely_rows[i].tail, &likely_rows[i].other) !=
			likely_rows[i].may_exceed)
			fail_msg("%s", likely_rows[i].scenario);
	}
}

/*
 * With equal shares it is seldom true: the sum over all outcomes of two binomial
 * distributions.
 */
static void
seldom_errs(void **state)
{
	static const struct
	{
		int			rounds;
		int			other;
		double		share;
	}			rows[] = {
		{64, 64, 0.01}, {64, 64, 0.1}, {256, 256, 0.02}, {500, 500, 0.01},
		{500, 500, 0.3}, {1000, 500, 0.02}, {500, 1000, 0.02},
	};

	(void) state;
	for (size_t i = 0; i < lengthof(rows); i++)
	{
		static double chance[1001];
		static double other_chance[1001];
		double		wrong = 0;

		for (int k = 0; k <= 1000; k++)
		{
			int			n = rows[i].rounds;
			int			m = rows[i].other;

			chance[k] = k > n ? 0 : exp(lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0) +
										k * log(rows[i].share) +
										(n - k) * log(1 - rows[i].share));
			other_chance[k] = k > m ? 0 :
				exp(lgamma(m + 1.0) - lgamma(k + 1.0) - lgamma(m - k + 1.0) +
					k * log(rows[i].share) + (m - k) * log(1 - rows[i].share));
		}
		for (int k = 0; k <= rows[i].rounds; k++)
		{
			for (int j = 0; j <= rows[i].other; j++)
			{
				if (sp_tail_exceeds(&(sp_tail) {rows[i].rounds, k},
									&(sp_tail) {rows[i].other, j}))
					wrong += chance[k] * other_chance[j];
			}
		}
		print_message("# share %g of %d and %d rounds: wrong once in %.0f times\n",
					  rows[i].share, rows[i].rounds, rows[i].other, 1 / wrong);
		assert_true(wrong < 1 / 250.0);
	}
}

/* ---------------------------------------------------------------- timed loop */

/* A stall: the n-th write to a file takes so much longer. */
static void
plan_stall(sp_regime regime, int at, int64_t stall)
{
	plan_suite(&sp_suite_wal, "fdatasync", 8192, 64 * KILOBYTE);
	keep_regime(regime);
	stay_at_home();
	drop_copies();
	probe->flush_interval_ns = 8 * MILLISECOND;	/* a sample is a round */
	probe->duration_ns = SECOND;
	disk.tick = 0;
	/* an error that does not fail: a signal would be repeated */
	disk.fail_call = PWRITE;
	disk.fail_errno = 0;
	disk.fail_at = at;
	disk.fault_cost = stall;
}

/* The case of the regime that writes to a file. */
static int
case_of(int file)
{
	for (int c = 0; c < probe->ncases; c++)
	{
		if (probe->cases[c].file == file && probe->results[c].status == SP_OK)
			return c;
	}
	fail_msg("no case");
	return -1;
}

/* The largest sample of a case, and how many samples are not the usual one. */
static double
largest_sample(int c, double usual_us, int *others)
{
	const sp_series *series = &probe->results[c].series;
	double		largest = 0;

	*others = 0;
	for (int i = 0; i < series->n; i++)
	{
		largest = fmax(largest, series->mean_us[i]);
		*others += fabs(series->mean_us[i] / usual_us - 1) > 0.01;
	}
	return largest;
}

/*
 * A stall of 100 ms is five medians in its sample, in the histogram what it is, and one
 * slow round of that case alone.
 */
static void
counts_a_stall_as_five_medians(void **state)
{
	(void) state;
	for (int at = 250; at < 270; at++)
	{
		int			c;
		int			others;
		double		usual = 500;	/* fdatasync, the current method: 0.2 and 0.3 ms */
		double		own;

		plan_stall(SP_PACED, at, 100 * MILLISECOND);
		run_probe();
		assert_true(disk.failed_file >= 0);
		c = case_of(disk.failed_file);
		own = probe->files[disk.failed_file].method->opens_synced ? 200 : 500;
		assert_float_equal(largest_sample(c, own, &others), 5 * usual, 0.01 * 5 * usual);
		assert_int_equal(others, 1);
		assert_int_equal(probe->results[c].histogram.max_ns,
						 100 * MILLISECOND + (int64_t) own * 1000);
		for (int i = 0; i < probe->ncases; i++)
		{
			const sp_tail *tail = &probe->results[i].tail;

			if (probe->results[i].status != SP_OK)
				continue;
			assert_int_equal(tail->slow_rounds, i == c);
			/* without the first 16, of which there is no median yet */
			assert_uint_in_range(tail->rounds, probe->rounds[SP_PACED] - 17,
							probe->rounds[SP_PACED] - 15);
		}
	}
}

/* At five medians a flush is not slow yet. */
static void
knows_what_is_slow(void **state)
{
	static const struct
	{
		int64_t		stall;		/* us */
		bool		slow;
	}			rows[] = {{1900, false}, {1980, false}, {2030, true}, {3000, true}};

	(void) state;
	for (size_t i = 0; i < lengthof(rows); i++)
	{
		int			seen = 0;

		for (int at = 250; at < 260; at++)
		{
			int			c;

			plan_stall(SP_PACED, at, rows[i].stall * 1000);
			run_probe();
			c = case_of(disk.failed_file);
			if (probe->files[disk.failed_file].method->opens_synced)
				continue;		/* these take less */
			seen++;
			assert_int_equal(probe->results[c].tail.slow_rounds, rows[i].slow);
		}
		assert_true(seen > 1);
	}
}

/* Several slow flushes of one slice are one slow round. */
static void
counts_a_slow_slice_once(void **state)
{
	int			slow = 0;
	int64_t		rounds;

	(void) state;
	plan_suite(&sp_suite_wal, "fdatasync", 8192, 64 * KILOBYTE);
	keep_regime(SP_SATURATED);
	stay_at_home();
	probe->duration_ns = 4 * SECOND;
	disk.home_cost[2] = 2 * MILLISECOND;	/* fsync: each takes 4.5 ms, and each is slow */
	run_probe();
	rounds = probe->rounds[SP_SATURATED];
	for (int c = 0; c < probe->ncases; c++)
	{
		const sp_result *result = &probe->results[c];

		if (result->status != SP_OK || probe->cases[c].max_rounds > 0)
			continue;
		if (strcmp(probe->cases[c].label, "fsync") == 0)
		{
			slow++;
			assert_int_equal(result->tail.slow_rounds, result->tail.rounds);
			assert_int_equal(result->histogram.ops, rounds);	/* two clock ticks are enough */
			/* the first round may come before there is a median */
			assert_true(result->series.mean_us[rounds - 1] < 2500 * 1.01);
		}
		else
			assert_int_equal(result->tail.slow_rounds, 0);
		assert_uint_in_range(result->tail.rounds, rounds - 3, rounds);
	}
	assert_int_equal(slow, 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tells_the_share),
		cmocka_unit_test(needs_enough_more_slow_flushes),
		cmocka_unit_test(seldom_errs),
		cmocka_unit_test(counts_a_stall_as_five_medians),
		cmocka_unit_test(knows_what_is_slow),
		cmocka_unit_test(counts_a_slow_slice_once),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("tail", tests, set_up, tear_down);
}
