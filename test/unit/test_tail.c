/*
 * Tests of the tails of src/engine/verdict/verdict.c, and of what the timed loop counts for it.
 *
 * The rule is tested by a table.  How slow flushes are counted, and how a sample caps them, is
 * seen on the simulated disk of fake_disk.h.
 */
#include "fake_disk.h"

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

	FOR_EACH(row, rows)
	{
		const sp_tail *tail = &row->tail;
		const sp_tail *other = &row->other;

		if (sp_tail_exceeds(tail, other) != (row->exceeds == DOES) ||
			sp_tail_may_exceed(tail, other) != (row->exceeds != NO))
			fail_msg("row %d", (int) (row - rows));
		/* more rounds can decide only what is likely */
		assert_true(sp_tail_rounds_needed(tail, other) >= 1);
		assert_true(row->exceeds == MAY || sp_tail_rounds_needed(tail, other) <= 1);
		/* never both ways */
		assert_false(row->exceeds == DOES && sp_tail_exceeds(other, tail));
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

TEST_MAIN(set_up, tear_down)
