/*-------------------------------------------------------------------------
 *
 * test_histogram.c
 *	  Tests of src/engine/measure/histogram.c against exact arithmetic on the sample.
 *
 * All latencies in sync_probe.measurements come from here, and nothing else
 * would reveal a bucket that is off by one.
 *
 *-------------------------------------------------------------------------
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

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

/* The only bucket that holds anything after one value was added. */
static int
bucket_of_value(uint64_t ns)
{
	int			found = -1;

	sp_histogram_reset(&histogram);
	sp_histogram_add(&histogram, ns);
	for (int i = 0; i < SP_HISTOGRAM_BUCKETS; i++)
	{
		if (histogram.count[i] == 0)
			continue;
		assert_int_equal(histogram.count[i], 1);
		assert_int_equal(found, -1);
		found = i;
	}
	assert_int_not_equal(found, -1);
	return found;
}

TEST(puts_each_value_between_its_bounds)
{
	assert_int_equal(sp_histogram_lower_ns(0), 0);
	for (int i = 0; i < SP_HISTOGRAM_BUCKETS; i++)
	{
		uint64_t	lower = sp_histogram_lower_ns(i);
		uint64_t	upper = sp_histogram_lower_ns(i + 1);

		assert_true(upper > lower);
		if (bucket_of_value(lower) != i || bucket_of_value(upper - 1) != i ||
			bucket_of_value(lower + (upper - lower) / 2) != i)
			fail_msg("bucket %d: [%llu, %llu)", i,
					 (unsigned long long) lower, (unsigned long long) upper);
	}
	assert_int_equal(sp_histogram_lower_ns(SP_HISTOGRAM_BUCKETS),
					 UINT64_C(1) << SP_HISTOGRAM_OCTAVES);
}

TEST(has_narrow_buckets)
{
	for (int i = 0; i < SP_HISTOGRAM_BUCKETS; i++)
	{
		double		lower = (double) sp_histogram_lower_ns(i);
		double		width = (double) sp_histogram_lower_ns(i + 1) - lower;

		if (lower < 2 * SP_HISTOGRAM_SUB)
			assert_true(width == 1);
		else if (width / lower >= 0.016 || (width - 1) / 2 / lower >= ACCURACY)
			fail_msg("bucket %d is %.4f %% wide", i, width / lower * 100);
	}
}

/* Latencies as a disk has them: lognormal around 300 us. */
static uint64_t
random_latency(uint64_t *seed)
{
	return (uint64_t) (300e3 * exp(random_normal(seed)));
}

static void
check_quantiles(const uint64_t *sorted, size_t n)
{
	static const double qs[] = {0.001, 0.25, 0.5, 0.9, 0.99, 0.999};

	for (size_t i = 0; i < lengthof(qs); i++)
	{
		double		exact = (double) sorted[(size_t) fmax(ceil(qs[i] * (double) n), 1) - 1];
		double		found = sp_histogram_quantile_ns(&histogram, qs[i]);

		if (fabs(found - exact) > ACCURACY * exact)
			fail_msg("quantile %g of %zu values: %g, exactly %g", qs[i], n, found, exact);
	}
}

TEST(agrees_with_the_sorted_sample)
{
	static const size_t sizes[] = {1, 2, 3, 10, 100, 299, 1000, 10007, 100000};
	uint64_t   *sample = malloc(sizes[lengthof(sizes) - 1] * sizeof(uint64_t));
	uint64_t	seed = 2;

	assert_non_null(sample);
	for (size_t i = 0; i < lengthof(sizes); i++)
	{
		size_t		n = sizes[i];
		double		sum = 0;
		/* in memory: clang keeps more than a double of what x87 has computed */
		volatile double mean;
		volatile double found;

		sp_histogram_reset(&histogram);
		for (size_t k = 0; k < n; k++)
		{
			sample[k] = random_latency(&seed);
			sp_histogram_add(&histogram, sample[k]);
			sum += (double) sample[k];
		}
		qsort(sample, n, sizeof(uint64_t), compare_values);
		assert_int_equal(histogram.ops, n);
		assert_int_equal(histogram.min_ns, sample[0]);
		assert_int_equal(histogram.max_ns, sample[n - 1]);
		assert_true(histogram.sum_ns == sum);
		mean = sum / (double) n;
		found = sp_histogram_mean_ns(&histogram);
		assert_true(found == mean);
		check_quantiles(sample, n);
	}
	free(sample);
}

TEST(says_nothing_about_nothing)
{
	memset(&histogram, 0xff, sizeof(histogram));
	sp_histogram_reset(&histogram);
	assert_int_equal(histogram.ops, 0);
	assert_int_equal(histogram.min_ns, UINT64_MAX);
	assert_int_equal(histogram.max_ns, 0);
	for (int i = 0; i < SP_HISTOGRAM_BUCKETS; i++)
		assert_int_equal(histogram.count[i], 0);
	assert_true(isnan(sp_histogram_mean_ns(&histogram)));
	assert_true(isnan(sp_histogram_quantile_ns(&histogram, 0.5)));

	sp_histogram_add(&histogram, 5);
	assert_true(sp_histogram_mean_ns(&histogram) == 5);
}

TEST(takes_values_of_any_size)
{
	static const uint64_t huge[] = {
		(UINT64_C(1) << SP_HISTOGRAM_OCTAVES) - 1, UINT64_C(1) << SP_HISTOGRAM_OCTAVES,
		UINT64_C(3) << SP_HISTOGRAM_OCTAVES, UINT64_C(1) << 63, UINT64_MAX,
	};

	for (size_t i = 0; i < lengthof(huge); i++)
		assert_int_equal(bucket_of_value(huge[i]), SP_HISTOGRAM_BUCKETS - 1);

	/* a quantile in the last bucket lies between minimum and maximum */
	sp_histogram_reset(&histogram);
	for (size_t i = 2; i < lengthof(huge); i++)
		sp_histogram_add(&histogram, huge[i]);
	assert_int_equal(histogram.max_ns, UINT64_MAX);
	assert_int_equal(histogram.min_ns, huge[2]);
	assert_true(sp_histogram_quantile_ns(&histogram, 0.5) == (double) huge[2]);
}

/* As if all values had been added to one; also to and from an empty one. */
TEST(merges_all_that_it_knows)
{
	static sp_histogram parts[3];
	static sp_histogram whole;
	uint64_t	seed = 11;

	sp_histogram_reset(&whole);
	for (int i = 0; i < 3; i++)
		sp_histogram_reset(&parts[i]);
	for (int i = 0; i < 3000; i++)
	{
		uint64_t	ns = random_latency(&seed) + (i % 3 == 0 ? 5000000 : 0);

		sp_histogram_add(&parts[i % 3 == 0 ? 0 : 1], ns);
		sp_histogram_add(&whole, ns);
	}
	sp_histogram_merge(&parts[2], &parts[0]);
	sp_histogram_merge(&parts[2], &parts[1]);
	sp_histogram_reset(&parts[0]);
	sp_histogram_merge(&parts[2], &parts[0]);
	assert_int_equal(parts[2].ops, whole.ops);
	assert_int_equal(parts[2].min_ns, whole.min_ns);
	assert_int_equal(parts[2].max_ns, whole.max_ns);
	assert_memory_equal(parts[2].count, whole.count, sizeof(whole.count));
	assert_true(fabs(sp_histogram_mean_ns(&parts[2]) / sp_histogram_mean_ns(&whole) - 1) < 1e-12);
}

/* The smallest sample with an upper bound of the quantile at 95 %. */
TEST(knows_how_many_values_a_quantile_needs)
{
	assert_true(1 - pow(0.99, SP_P99_MIN_OPS) >= 0.95);
	assert_true(1 - pow(0.99, SP_P99_MIN_OPS - 1) < 0.95);
}

TEST_MAIN(NULL, NULL)
