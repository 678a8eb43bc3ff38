/*-------------------------------------------------------------------------
 *
 * test_tail.c
 *	  Tests of src/engine/verdict/tail.c, and of what the timed loop counts for it.
 *
 * The rule is tested by a table.  How slow flushes are counted, and how a sample caps them, is
 * seen on the simulated disk of fake_disk.h.
 *
 *-------------------------------------------------------------------------
 */
#include "fake_disk.h"

#include "engine/verdict/tail.h"

TEST(tells_the_share)
{
	assert_true(isnan(sp_tail_share(&(sp_tail) {0, 0})));
	assert_true(sp_tail_share(&(sp_tail) {8, 0}) == 0);
	assert_true(sp_tail_share(&(sp_tail) {8, 2}) == 0.25);
	assert_true(sp_tail_share(&(sp_tail) {8, 8}) == 1);
}

TEST(needs_enough_more_slow_flushes)
{
	enum
	{
		NO, MAY, DOES
	};
	static const struct
	{
		sp_tail		tail;
		sp_tail		other;
		int			exceeds;
	}			rows[] = {
		/* no round, no slow one, all are slow, equal, fewer */
		{{0, 0}, {0, 0}, NO}, {{0, 0}, {100, 50}, NO}, {{100, 50}, {0, 0}, NO},
		{{1000, 0}, {1000, 0}, NO}, {{1000, 1000}, {1000, 1000}, NO},
		{{1000, 30}, {1000, 30}, NO}, {{1000, 10}, {1000, 30}, NO}, {{15, 0}, {15, 2}, NO},
		{{1000, 1000}, {1000, 0}, DOES},
		/* of so many slow rounds a half is expected: three deviations of the sign test */
		{{500, 9}, {500, 0}, MAY}, {{500, 10}, {500, 0}, DOES}, {{500, 16}, {500, 3}, MAY},
		{{500, 17}, {500, 3}, DOES}, {{1000, 78}, {1000, 45}, MAY}, {{1000, 79}, {1000, 45}, DOES},
		/* with twice the rounds, two thirds are expected */
		{{1000, 18}, {500, 0}, MAY}, {{1000, 19}, {500, 0}, DOES},
		{{500, 4}, {1000, 0}, MAY}, {{500, 5}, {1000, 0}, DOES},
		/* significant, but at most half a percent more */
		{{100000, 500}, {100000, 100}, NO}, {{100000, 600}, {100000, 100}, NO},
		{{100000, 601}, {100000, 100}, DOES}, {{1000000, 510000}, {1000000, 500000}, DOES},
		{{1000000, 504000}, {1000000, 500000}, NO}, {{1000, 2}, {1000, 0}, NO},
		/* likely */
		{{15, 0}, {15, 0}, NO}, {{15, 1}, {15, 0}, NO}, {{15, 2}, {15, 0}, MAY},
		{{100, 3}, {100, 1}, NO}, {{100, 6}, {100, 2}, MAY},
	};

	for (size_t i = 0; i < lengthof(rows); i++)
	{
		const sp_tail *tail = &rows[i].tail;
		const sp_tail *other = &rows[i].other;

		if (sp_tail_exceeds(tail, other) != (rows[i].exceeds == DOES) ||
			sp_tail_may_exceed(tail, other) != (rows[i].exceeds != NO))
			fail_msg("row %zu: %d of %d", i, (int) tail->slow_rounds, (int) tail->rounds);
		/* never both ways */
		assert_false(rows[i].exceeds == DOES && sp_tail_exceeds(other, tail));
	}
}

/* ---------------------------------------------------------------- timed loop */

/* A stall: the n-th write to a file takes so much longer. */
static void
plan_stall(sp_regime regime, int at, int64_t stall)
{
	plan_wal("fdatasync", SECOND);
	keep_regime(regime);
	stay_at_home();
	drop_copies();
	probe->flush_interval_ns = 8 * MILLISECOND;	/* a sample is a round */
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
TEST(counts_a_stall_as_five_medians)
{
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
TEST(knows_what_is_slow)
{
	static const struct
	{
		int64_t		stall;		/* us */
		bool		slow;
	}			rows[] = {{1900, false}, {1980, false}, {2030, true}, {3000, true}};

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
TEST(counts_a_slow_slice_once)
{
	int			slow = 0;
	int64_t		rounds;

	plan_wal("fdatasync", 4 * SECOND);
	keep_regime(SP_SATURATED);
	stay_at_home();
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

TEST_MAIN(set_up, tear_down)
