/*
 * Tests of src/engine/measure/histogram.c against exact arithmetic on the sample.
 *
 * All latencies in sync_probe.measurements come from here, and nothing else
 * would reveal a bucket that is off by one.
 */
#include "unit.h"

#include <stdlib.h>

#include "engine/measure/histogram.h"

/* The middle of a bucket is at most this far from any value in it. */
#define ACCURACY	0.008

static sp_histogram histogram;

static int
compare_values(const void *a, const void *b)
{
	uint64_t	x = *(const uint64_t *) a;
	uint64_t	y = *(const uint64_t *) b;

	return (x > y) - (x < y);
}

/* Is a value added to that bucket? */
static void
check_bucket(uint64_t ns, int bucket)
{
	histogram = (sp_histogram) {0};
	sp_histogram_add(&histogram, ns);
	if (histogram.count[bucket] != 1)
		fail_msg("%llu is not in bucket %d", (unsigned long long) ns, bucket);
}

TEST(puts_each_value_between_narrow_bounds)
{
	for (int i = 0; i < SP_HISTOGRAM_BUCKETS; i++)
	{
		uint64_t	lower = sp_histogram_lower_ns(i);
		uint64_t	width = sp_histogram_lower_ns(i + 1) - lower;

		check_bucket(lower, i);
		check_bucket(lower + width - 1, i);
		assert_true(width == 1 || (double) (width - 1) / 2 < ACCURACY * (double) lower);
	}
	assert_int_equal(sp_histogram_lower_ns(0), 0);
	/* the last one also takes all that is longer */
	check_bucket(UINT64_C(1) << SP_HISTOGRAM_OCTAVES, SP_HISTOGRAM_BUCKETS - 1);
	check_bucket(UINT64_MAX, SP_HISTOGRAM_BUCKETS - 1);
	assert_true(sp_histogram_quantile_ns(&histogram, 0.5) == (double) UINT64_MAX);
}

/* Latencies as a disk has them, lognormal around 300 us; in two parts that are merged. */
TEST(agrees_with_the_sorted_sample)
{
	static const size_t sizes[] = {1, 2, 3, 10, 100, 299, 1000, 10007};
	static const double qs[] = {0.001, 0.25, 0.5, 0.9, 0.99, 0.999};
	static uint64_t sample[10007];
	static sp_histogram other;
	uint64_t	seed = 2;

	FOR_EACH(n, sizes)
	{
		double		sum = 0;

		histogram = other = (sp_histogram) {0};
		assert_true(isnan(sp_histogram_mean_ns(&histogram)));
		assert_true(isnan(sp_histogram_quantile_ns(&histogram, 0.5)));
		for (size_t k = 0; k < *n; k++)
		{
			sample[k] = (uint64_t) (300e3 * exp(random_normal(&seed)));
			sp_histogram_add(k % 3 == 0 ? &histogram : &other, sample[k]);
			sum += (double) sample[k];
		}
		sp_histogram_merge(&histogram, &other);
		qsort(sample, *n, sizeof(uint64_t), compare_values);
		assert_int_equal(histogram.ops, *n);
		assert_int_equal(histogram.min_ns, sample[0]);
		assert_int_equal(histogram.max_ns, sample[*n - 1]);
		assert_true(fabs(sp_histogram_mean_ns(&histogram) / (sum / (double) *n) - 1) < 1e-12);
		FOR_EACH(q, qs)
		{
			double		exact = (double) sample[(size_t) fmax(ceil(*q * (double) *n), 1) - 1];

			assert_float_equal(sp_histogram_quantile_ns(&histogram, *q), exact, ACCURACY * exact);
		}
	}
}

TEST_MAIN(NULL, NULL)
