/*
 * Tests of the stream suite on a simulated disk: its turns, its log, its rates.
 *
 * The disk takes 0.5 ms for a write and its sync.
 */
#include "fake_disk.h"

static sp_stream *const stream = &suite_data.stream;

static void
plan_stream(int64_t duration, int64_t max_bytes)
{
	max_stream_bytes = max_bytes;
	plan_suite(&sp_suite_stream, "fdatasync", 8192, 16 * MEGABYTE);
	probe->duration_ns = duration;
	disk.sync_flushes = disk.write_requests = 1;
	disk.reading_cost = 1000;
	probe->callbacks.read_counters = fake_read_counters;
}

/* The log holds what was measured, second by second, with no gap between: the samples. */
static void
check_log(void)
{
	int64_t		ops[SP_MAX_CASES] = {0};
	int			seconds[SP_MAX_CASES] = {0};
	int64_t		bytes = 0;

	assert_uint_in_range(stream->n, 1, SP_MAX_SECONDS);
	for (int i = 0; i < stream->n; i++)
	{
		const sp_second *second = &stream->seconds[i];
		int64_t		end = second->begin_ns + second->length_ns;

		seconds[second->test_case]++;
		ops[second->test_case] += second->ops;
		bytes += second->bytes;
		assert_true(second->bytes == second->ops * probe->cases[second->test_case].write_size);
		assert_true(second->busy_ns <= second->length_ns);
		assert_uint_in_range(second->slowest_ns, 1, second->length_ns);
		if (i + 1 < stream->n)
			assert_uint_in_range(stream->seconds[i + 1].begin_ns - end, 0, MILLISECOND);
	}
	for (int c = 0; c < probe->ncases; c++)
	{
		assert_int_equal(seconds[c], probe->results[c].series.n);
		assert_int_equal(ops[c], probe->results[c].histogram.ops);
	}
	assert_true(bytes == stream->written_bytes);
}

TEST(gives_each_second_to_a_case)
{
	plan_stream(23 * SECOND, 0);
	run_probe();
	check_log();
	assert_int_equal(probe->ncases, 5);
	assert_int_equal(probe->rounds[SP_SATURATED], 4);
	assert_int_equal(disk.rounds, 4);
	assert_int_equal(disk.slept, SECOND / 20);	/* the idle sample */
	assert_true(probe->finished_ns - probe->started_ns < 23 * SECOND + 2 * MILLISECOND);

	/* each case once a round, and each row begins in a second of its own */
	for (int i = 0; i < stream->n; i++)
	{
		for (int k = i - i % 5; k < i; k++)
			assert_int_not_equal(stream->seconds[k].test_case, stream->seconds[i].test_case);
		if (i > 0)
			assert_true(stream->seconds[i].begin_ns / SECOND >
						stream->seconds[i - 1].begin_ns / SECOND);
	}
	assert_int_equal(stream->n, 23);
}

TEST(logs_a_stall)
{
	const int64_t stall = 3500 * MILLISECOND;
	const sp_second *stalled = NULL;

	plan_stream(20 * SECOND, 0);
	let_fail(FDATASYNC, 2000, 0);
	disk.fault_cost = stall;
	run_probe();
	check_log();
	for (const sp_second *second = stream->seconds; second < stream->seconds + stream->n; second++)
	{
		if (isnan(second->slowest_utilization))
			continue;
		assert_null(stalled);
		stalled = second;
	}
	assert_non_null(stalled);
	assert_uint_in_range(stalled->slowest_ns - stall, 0, MILLISECOND);
	assert_uint_in_range(stalled->length_ns, stall, stall + SECOND);
	assert_true(stalled->begin_ns + probe->started_ns < disk.records[disk.failed_record].at);

	/* around the slow one: with the 10 ms before it at most, in which this disk is idle */
	assert_float_equal(stalled->slowest_utilization, 3500.0 / 3505, 5.0 / 3505);
	assert_float_equal(stalled->device.utilization, (double) stall / (double) stalled->length_ns,
					   0.001);
	assert_float_equal(stalled->device.flushes, (double) stalled->ops, 0.1);
	assert_float_equal(stalled->device.bytes, (double) stalled->bytes, 0.1);
	/* a run of 20 s with a stall of 3.5 s still gives every case its turns */
	assert_int_equal(probe->rounds[SP_SATURATED], 3);
}

TEST(ends_at_its_limit_of_bytes)
{
	static const int64_t limits[] = {
		8191, 8192, 100000, MEGABYTE, 40 * MEGABYTE, 2000 * MEGABYTE
	};

	FOR_EACH(limit, limits)
	{
		plan_stream(30 * SECOND, *limit);
		run_probe();
		assert_true(stream->bytes_used_up);
		assert_true(stream->written_bytes <= *limit);
		assert_true(stream->written_bytes > *limit - MEGABYTE);
		if (stream->written_bytes > 0)
			check_log();
		for (int c = 0; c < probe->ncases; c++)
			assert_int_equal(probe->results[c].status,
							 probe->results[c].histogram.ops > 0 ? SP_OK : SP_STOPPED);
	}
}

/* Rates of one case: all its bytes in all its time, and its slowest whole second. */
TEST(computes_the_rates_of_a_case)
{
	static const sp_stream log = {
		.n = 5,
		.seconds = {
			{.test_case = 0, .length_ns = SECOND, .bytes = 30 * MEGABYTE},
			{.test_case = 1, .length_ns = SECOND, .bytes = 500 * MEGABYTE},
			{.test_case = 0, .length_ns = 4 * SECOND, .bytes = 20 * MEGABYTE},
			/* cut short: its rate tells nothing; unless all are short */
			{.test_case = 0, .length_ns = SECOND / 10, .bytes = MEGABYTE},
			{.test_case = 2, .length_ns = SECOND / 1000, .bytes = MEGABYTE},
		}
	};
	static const double rates[][2] = {{10, 5}, {500, 500}, {1000, 1000}};	/* mean, slowest */

	for (int c = 0; c < 3; c++)
	{
		sp_stream_rates found = sp_stream_rates_of(&log, c);

		assert_float_equal(found.mean / MEGABYTE, rates[c][0], 1e-6);
		assert_float_equal(found.slowest / MEGABYTE, rates[c][1], 1e-6);
	}
	assert_true(isnan(sp_stream_rates_of(&log, 3).mean));
	assert_true(isnan(sp_stream_rates_of(&log, 3).slowest));
}

/* Whatever the duration: each case has a second in it, and the log has room for all. */
TEST(fits_every_duration)
{
	static const int64_t durations_ms[] = {
		10, 999, 1000, 4999, 5000, 5001, 600000, 3599000, 3600000, 3601000, INT32_MAX
	};

	FOR_EACH(ms, durations_ms)
	{
		for (int cases = 1; cases <= SP_MAX_CASES; cases++)
		{
			int64_t		duration = *ms * MILLISECOND;
			int64_t		length = sp_second_length_ns(duration, cases);

			assert_true(length > 0 && length * cases <= duration);
			assert_true(length % SECOND == 0 || length * cases + cases > duration);
			/* the last one may be short, and those of the first round may be late */
			assert_true(duration / length + 1 + cases <= SP_MAX_SECONDS);
		}
	}
	assert_int_equal(sp_second_length_ns(600 * SECOND, 5), SECOND);
	/* a run in which no case can be measured */
	assert_int_equal(sp_second_length_ns(SECOND, 0), SECOND);
}

TEST_MAIN(set_up, tear_down)
