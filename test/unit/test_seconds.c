/*-------------------------------------------------------------------------
 *
 * test_seconds.c
 *	  Tests of src/engine/measure/seconds.c: the log of a stream.
 *
 *-------------------------------------------------------------------------
 */
#include "unit.h"

#include <limits.h>
#include <math.h>

#include "engine/measure/seconds.h"
#include "engine/text/units.h"

#define MEGABYTE	(INT64_C(1024) * 1024)

static sp_seconds seconds;

/* A whole second of a case: so many megabytes in so many flushes, and the length. */
static void
add_second(int test_case, int64_t begin, int64_t length, int64_t megabytes)
{
	sp_second  *second = sp_seconds_begin(&seconds, test_case, begin);

	assert_non_null(second);
	for (int64_t i = 0; i < megabytes; i++)
		(void) sp_second_add(second, begin + i, 1, MEGABYTE);
	assert_int_equal(sp_seconds_end(&seconds, begin + length), megabytes > 0);
}

TEST(keeps_the_slowest_flush)
{
	sp_second  *second;

	seconds.n = 0;
	second = sp_seconds_begin(&seconds, 3, 500);
	assert_true(isnan(second->device.flushes) && isnan(second->slowest_device.utilization));
	/* the first one, even if it took no time */
	assert_true(sp_second_add(second, 500, 0, 10));
	assert_true(sp_second_add(second, 600, 70, 10));
	assert_false(sp_second_add(second, 700, 70, 10));
	assert_false(sp_second_add(second, 800, 69, 10));
	assert_true(sp_second_add(second, 900, 71, 10));
	assert_true(sp_seconds_end(&seconds, 1000));
	assert_int_equal(seconds.n, 1);
	assert_int_equal(second->test_case, 3);
	assert_int_equal(second->ops, 5);
	assert_int_equal(second->bytes, 50);
	assert_int_equal(second->busy_ns, 280);
	assert_int_equal(second->slowest_ns, 71);
	assert_int_equal(second->slowest_begin_ns, 900);
	assert_int_equal(second->length_ns, 500);
}

TEST(drops_a_second_without_a_flush)
{
	seconds.n = 0;
	add_second(0, 0, SP_NS_PER_S, 2);
	add_second(1, SP_NS_PER_S, SP_NS_PER_S, 0);
	assert_int_equal(seconds.n, 1);
	assert_int_equal(seconds.rows[0].test_case, 0);
}

TEST(ends_when_it_is_full)
{
	seconds.n = 0;
	for (int i = 0; i < SP_MAX_SECONDS; i++)
		add_second(i % 5, i, 1, 1);
	assert_null(sp_seconds_begin(&seconds, 0, SP_MAX_SECONDS));
	assert_int_equal(seconds.n, SP_MAX_SECONDS);
}

/* Rates of one case: all its bytes in all its time, and its slowest whole second. */
TEST(computes_the_rates_of_a_case)
{
	sp_stream_rates rates;

	seconds.n = 0;
	assert_true(isnan(sp_seconds_rates(&seconds, 0).mean));
	assert_true(isnan(sp_seconds_rates(&seconds, 0).slowest));
	add_second(0, 0, SP_NS_PER_S, 30);
	add_second(1, 1 * SP_NS_PER_S, SP_NS_PER_S, 500);
	add_second(0, 2 * SP_NS_PER_S, 4 * SP_NS_PER_S, 20);
	/* cut short: its rate tells nothing */
	add_second(0, 7 * SP_NS_PER_S, SP_NS_PER_S / 10, 1);
	add_second(1, 8 * SP_NS_PER_S, SP_NS_PER_S / 10, 1);
	rates = sp_seconds_rates(&seconds, 0);
	assert_float_equal(rates.mean, 10.0 * MEGABYTE, 1);
	assert_float_equal(rates.slowest, 5.0 * MEGABYTE, 1);
	rates = sp_seconds_rates(&seconds, 1);
	assert_float_equal(rates.mean, 501 / 1.1 * MEGABYTE, 1);
	assert_float_equal(rates.slowest, 500.0 * MEGABYTE, 1);
	assert_true(isnan(sp_seconds_rates(&seconds, 2).mean));

	/* all are short in a short run */
	seconds.n = 0;
	add_second(0, 0, SP_NS_PER_MS, 1);
	assert_float_equal(sp_seconds_rates(&seconds, 0).slowest, 1000.0 * MEGABYTE, 1);
}

/* Whatever the duration: each case has a second in it, and the log has room for all. */
TEST(fits_every_duration)
{
	static const int64_t durations_ms[] = {
		10, 999, 1000, 4999, 5000, 5001, 60000, 600000, 3599000, 3600000, 3601000, 86400000,
		INT_MAX
	};

	for (size_t i = 0; i < lengthof(durations_ms); i++)
	{
		for (int cases = 1; cases <= 32; cases++)
		{
			int64_t		duration = durations_ms[i] * SP_NS_PER_MS;
			int64_t		length = sp_second_length_ns(duration, cases);

			assert_true(length > 0 && length * cases <= duration);
			assert_true(length == SP_NS_PER_S || length * cases + cases > duration ||
						length % SP_NS_PER_S == 0);
			/* the last one may be short, and those of the first round may be late */
			assert_true(duration / length + 1 + cases <= SP_MAX_SECONDS);
		}
	}
	assert_int_equal(sp_second_length_ns(600 * SP_NS_PER_S, 5), SP_NS_PER_S);
	/* a run in which no case can be measured */
	assert_int_equal(sp_second_length_ns(SP_NS_PER_S, 0), SP_NS_PER_S);
}

TEST_MAIN(NULL, NULL)
