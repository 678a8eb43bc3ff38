/*
 * A probe never takes longer than its duration, on a simulated disk.
 *
 * The bound has two parts: a plan that does not fit into its duration is refused before it
 * runs (plan.c), and a plan that runs ends in time, however slow its flushes are.
 */
#include "fake_disk.h"

#define GRACE		(2 * SECOND)

/* When the first round of each regime ended; 0 if it did not. */
static int64_t first_round_at[SP_REGIMES];

static void
watch_first_rounds(void *context)
{
	fake_round_done(context);
	for (int r = 0; r < SP_REGIMES; r++)
	{
		if (probe->rounds[r] == 1 && first_round_at[r] == 0)
			first_round_at[r] = disk.now;
	}
}

static void
plan_run(const sp_suite *suite, int64_t duration, double duty_cycle, int64_t interval, int64_t cost)
{
	plan_suite(suite, "fdatasync", 8192, 64 * KILOBYTE);
	probe->duration_ns = duration;
	probe->duty_cycle = duty_cycle;
	probe->flush_interval_ns = interval;
	probe->callbacks.round_done = watch_first_rounds;
	disk.cost[PWRITE] = disk.cost[PWRITEV] = cost;
	disk.cost[FSYNC] = disk.cost[FDATASYNC] = cost / 2;
	disk.sd = 0.5;				/* no round tells how long the next one takes */
	disk.seed = (uint64_t) (duration + interval + cost);
	memset(first_round_at, 0, sizeof(first_round_at));
}

static int	stopped;			/* cases */

static void
fail_plan(const char *what)
{
	fail_msg("%g ms, duty cycle %g, every %g us, %d cases, %g us a write: %s",
			 probe->duration_ns / 1e6, probe->duty_cycle, probe->flush_interval_ns / 1e3,
			 probe->ncases, disk.cost[PWRITE] / 1e3, what);
}

/*
 * Check the end of a run: two operations, one of them not counted, may have begun before the
 * deadline.  A slow device may use the grace time for its first round; it is said what was
 * stopped.
 */
static void
check_end(void)
{
	int64_t		deadline = probe->started_ns + probe->duration_ns;
	bool		owed = false;

	for (int c = 0; c < probe->ncases; c++)
	{
		const sp_result *result = &probe->results[c];
		sp_regime	regime = probe->cases[c].regime;
		bool		measured = result->histogram.ops > 0;

		/* a first round that was cut by the end of the grace time is not counted */
		owed = owed || probe->rounds[regime] == 0 || first_round_at[regime] > deadline;
		if (result->status == SP_UNSUPPORTED)
			continue;
		if (!measured && disk.longest_operation * 6 * probe->ncases < GRACE)
			fail_plan("a case was not measured");
		assert_int_equal(result->status, measured ? SP_OK : SP_STOPPED);
		stopped += !measured;
	}
	if (probe->finished_ns > deadline + (owed ? GRACE : 0) + 2 * disk.longest_operation +
		100 * disk.tick)
		fail_plan("not in time");
}

/* A plan is either refused with a suggestion, or ends in time. */
TEST(ends_in_time)
{
	static const int64_t durations[] = {10, 200, 5000};	/* ms */
	static const double duty_cycles[] = {1, 0.2, 0.0001};
	static const int64_t intervals[] = {500, 50000, 3000000};	/* us */
	static const int64_t costs[] = {20, 8000, 150000, 3000000};	/* us */
	int			refused = 0;

	for (int i = 0; i < 2 * 3 * 3 * 3 * 4; i++)
	{
		double		enough_ns;

		plan_run(i % 2 == 0 ? &sp_suite_wal : &sp_suite_pg_test_fsync,
				 durations[i / 2 % 3] * MILLISECOND, duty_cycles[i / 6 % 3],
				 intervals[i / 18 % 3] * 1000, costs[i / 54] * 1000);
		if (i % 4 < 2)
			probe->callbacks.read_counters = fake_read_counters;	/* with idle samples, too */
		if (sp_probe_fits(probe, &enough_ns))
		{
			run_probe();
			check_end();
			continue;
		}
		refused++;
		/* the duration that a refusal names is accepted */
		assert_true(enough_ns > (double) probe->duration_ns);
		probe->duration_ns = (int64_t) ceil(enough_ns);
		if (!sp_probe_fits(probe, &enough_ns))
			fail_plan("refused, too");
	}
	assert_uint_in_range(refused, 50, 2 * 3 * 3 * 3 * 4 - 50);
	assert_true(stopped > 50);
}

/* Of some plans, in ms. */
TEST(tells_whether_a_round_fits)
{
	static const struct
	{
		const sp_suite *suite;
		double		duration;
		double		duty_cycle;
		double		interval;
		sp_regime	deciding;
		bool		fits;
		double		enough;
	}			rows[] =
	{
		/* seven cases of the wal suite, sixteen of the tool's, 4 ms each */
		{&sp_suite_wal, 10, 1, 5, SP_PACED, true, 33},	/* as in the regression tests */
		{&sp_suite_wal, 200, 0.0001, 5, SP_PACED, false, 280005},
		{&sp_suite_wal, 5000, 1, 60000, SP_PACED, false, 60028},
		{&sp_suite_wal, 50, 0.2, 5, SP_PACED, false, 145},
		/* back to back decides: its slices get four fifths of the time */
		{&sp_suite_wal, 10, 1, 5, SP_SATURATED, false, 33},
		{&sp_suite_wal, 50, 0.9, 5, SP_SATURATED, true, 5 + 28 / 0.9},
		{&sp_suite_pg_test_fsync, 10, 0.5, 5, SP_PACED, false, 128},
	};

	FOR_EACH(row, rows)
	{
		double		enough_ns;

		plan_run(row->suite, (int64_t) (row->duration * MILLISECOND), row->duty_cycle,
				 (int64_t) (row->interval * MILLISECOND), 1000);
		probe->deciding = row->deciding;
		assert_int_equal(sp_probe_fits(probe, &enough_ns), row->fits);
		assert_float_equal(enough_ns / MILLISECOND, row->enough, 1e-3);
	}
}

TEST(leaves_out_a_warm_up_that_takes_too_long)
{
	static const struct
	{
		int64_t		interval;	/* ms */
		int64_t		first;		/* when the first round that counts is over */
	}			rows[] = {{1000, 2000}, {1250, 2500}, {1300, 1300}, {2000, 2000}, {4900, 4900}};

	FOR_EACH(row, rows)
	{
		plan_run(&sp_suite_wal, 5 * SECOND, 1, row->interval * MILLISECOND, 100 * 1000);
		run_probe();
		check_end();
		assert_true(probe->rounds[SP_SATURATED] > 0);
		assert_uint_in_range(first_round_at[SP_PACED] - probe->started_ns,
							 row->first * MILLISECOND, (row->first + 10) * MILLISECOND);
	}
}

TEST_MAIN(set_up, tear_down)
