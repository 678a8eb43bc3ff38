/*
 * Tests of src/engine/verdict/interval.c.
 *
 * Intervals are compared with all means of pairs, sorted, and with the exact distribution of
 * the signed-rank statistic, which is the same for all symmetric errors.
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "engine/verdict/interval.h"
#include "engine/verdict/verdict.h"

#define MAX_N	4096

static double workspace[MAX_N];

static int
compare_doubles(const void *a, const void *b)
{
	double		x = *(const double *) a;
	double		y = *(const double *) b;

	return (x > y) - (x < y);
}

/* All means of pairs of n values, each with itself included, sorted.  Returns how many. */
static int
walsh_averages(const double *values, int n, double *means)
{
	int			count = 0;

	for (int i = 0; i < n; i++)
	{
		for (int j = i; j < n; j++)
			means[count++] = (values[i] + values[j]) / 2;
	}
	qsort(means, (size_t) count, sizeof(double), compare_doubles);
	return count;
}

/* P(signed-rank statistic of n values <= k): it is a sum of some of the ranks 1 to n. */
static double
signed_rank_chance(int n, int k)
{
	static double chance[64 * 65 / 2 + 1];
	int			pairs = n * (n + 1) / 2;
	double		sum = 0;

	assert_true(n <= 64);
	memset(chance, 0, sizeof(chance));
	chance[0] = 1;
	for (int rank = 1; rank <= n; rank++)
	{
		for (int i = pairs; i >= 0; i--)
			chance[i] = (chance[i] + (i >= rank ? chance[i - rank] : 0)) / 2;
	}
	for (int i = 0; i <= k; i++)
		sum += chance[i];
	return sum;
}

/* The interval of n speeds whose logarithms are these. */
static sp_speed
interval_of(const double *logs, int n, double alpha, int comparisons)
{
	static double baseline[MAX_N];
	static double one[MAX_N];

	for (int i = 0; i < n; i++)
	{
		baseline[i] = exp(logs[i]);
		one[i] = 1;
	}
	return sp_speed_interval(baseline, one, n, alpha, comparisons, workspace);
}

/* Which of the sorted means is that, from 1?  -1 if it is none. */
static int
rank_of(const double *means, int count, double value)
{
	for (int i = 0; i < count; i++)
	{
		if (fabs(means[i] - value) < 1e-12)
			return i + 1;
	}
	return -1;
}

/*
 * The ends are means of pairs, as far from both ends, and their error by the exact
 * distribution is at most what was asked.  The normal approximation makes that of a small alpha
 * smaller still.  With few samples there is an estimate, and no end.
 */
TEST(agrees_with_all_means_of_pairs)
{
	static const double alphas[] = {0.005, 0.01, 0.035, 0.05};
	static double means[64 * 65 / 2];
	double		logs[64];
	uint64_t	seed = 12;

	assert_true(isnan(sp_speed_interval(NULL, NULL, 0, 0.05, 1, NULL).estimate));
	for (int n = 1; n <= 40; n++)
	{
		int			pairs = n * (n + 1) / 2;

		for (int i = 0; i < n; i++)
			logs[i] = 0.1 * random_normal(&seed);
		assert_int_equal(walsh_averages(logs, n, means), pairs);
		for (size_t a = 0; a < lengthof(alphas); a++)
		{
			sp_speed	speed = interval_of(logs, n, alphas[a], 1);
			int			low = rank_of(means, pairs, log(speed.low));
			int			high = rank_of(means, pairs, log(speed.high));
			double		error;

			assert_true(fabs(log(speed.estimate) -
							 (means[(pairs - 1) / 2] + means[pairs / 2]) / 2) < 1e-12);
			assert_true(isnan(speed.low) == (n < SP_MIN_SAMPLES) &&
						isnan(speed.high) == (n < SP_MIN_SAMPLES));
			if (n < SP_MIN_SAMPLES)
				continue;
			assert_true(low >= 1);
			assert_int_equal(low + high, pairs + 1);
			/* the true value is below the k-th mean if the statistic is at most k - 1 */
			error = 2 * signed_rank_chance(n, low - 1);
			if (error > 1.02 * alphas[a] || error < 0.4 * alphas[a])
				fail_msg("n %d, alpha %g: rank %d, error %g", n, alphas[a], low, error);
		}
	}
}

/* One of several may seem faster by chance: only the low end is corrected for that. */
TEST(corrects_the_low_end_only)
{
	static const int samples[] = {16, 45, 256, MAX_N};
	static double logs[MAX_N];
	uint64_t	seed = 9;

	for (int i = 0; i < MAX_N; i++)
		logs[i] = random_normal(&seed);
	for (size_t i = 0; i < lengthof(samples); i++)
	{
		int			n = samples[i];
		sp_speed	one = interval_of(logs, n, 0.03, 1);

		for (int comparisons = 2; comparisons <= SP_MAX_METHODS; comparisons++)
		{
			sp_speed	several = interval_of(logs, n, 0.03, comparisons);
			sp_speed	corrected = interval_of(logs, n, 0.03 / comparisons, 1);

			assert_true(several.estimate == one.estimate);
			assert_true(several.high == one.high);
			assert_true(several.low == corrected.low);
			assert_true(several.low < one.low);
		}
		/* no comparison at all must not divide by zero */
		assert_true(interval_of(logs, n, 0.03, 0).low == one.low);
	}
}

TEST(shares_the_error_among_looks)
{
	double		sum = 0;

	for (int look = 1; look <= SP_LOOKS; look++)
	{
		assert_true(sp_look_alpha(look) > 0);
		assert_true(look == 1 || sp_look_alpha(look) > sp_look_alpha(look - 1));
		sum += sp_look_alpha(look);
	}
	assert_true(fabs(sum - SP_ALPHA) < 1e-12);
}

TEST(looks_at_a_quarter_and_a_half)
{
	static const struct
	{
		int64_t		elapsed;
		int64_t		duration;
		int			due;
	}			rows[] = {
		{0, 1000, 0}, {249, 1000, 0}, {250, 1000, 1}, {499, 1000, 1}, {500, 1000, 2},
		{5000, 1000, 2},
		/* a week, in nanoseconds */
		{INT64_C(151199999999999), INT64_C(604800000000000), 0},
		{INT64_C(151200000000000), INT64_C(604800000000000), 1},
	};

	FOR_EACH(row, rows)
		assert_int_equal(sp_looks_due(row->elapsed, row->duration), row->due);
}

TEST(knows_the_noise_of_a_control)
{
	assert_true(isnan(sp_speed_noise((sp_speed) {1, NAN, NAN})));
	assert_true(fabs(sp_speed_noise((sp_speed) {1, 1 / 1.1, 1.1}) - 0.1) < 1e-12);
	/* an interval that does not enclose 1: its farther end */
	assert_true(fabs(sp_speed_noise((sp_speed) {1.1, 1.02, 1.15}) - 0.15) < 1e-12);
	assert_true(fabs(sp_speed_noise((sp_speed) {0.9, 0.8, 0.95}) - 0.25) < 1e-12);
}

/* The ranks of the interval of the median agree with tables of the sign test. */
TEST(takes_the_known_order_statistics)
{
	static const struct
	{
		int			n;
		double		alpha;
		int			low;		/* as far from the other end; 0: no interval */
	}			rows[] = {
		{1, 0.05, 0}, {6, 0.03, 0}, {6, 0.05, 1}, {7, 0.05, 1},
		/* 2 / 256; the next rank has 18 / 256 */
		{8, 0.05, 1}, {8, 0.0703, 1}, {8, 0.0704, 2}, {8, 0.0079, 1}, {8, 0.0078, 0},
		{9, 0.05, 2}, {16, 0.05, 4}, {64, 0.05, 24}, {128, 0.05, 53},
	};

	FOR_EACH(row, rows)
	{
		double		values[128];
		sp_speed	median;

		for (int k = 0; k < row->n; k++)
			values[(k * 11 + 2) % row->n] = k + 1;	/* n is never a multiple of 11 */
		median = sp_median_interval(values, row->n, row->alpha);
		assert_true(median.estimate == (row->n + 1) / 2.0);
		if (!is_same(median.low, row->low > 0 ? row->low : NAN) ||
			!is_same(median.high, row->low > 0 ? row->n + 1 - row->low : NAN))
			fail_msg("n %d, alpha %g: %g to %g", row->n, row->alpha, median.low, median.high);
	}
}

static void
assert_same_speed(sp_speed one, sp_speed other)
{
	assert_true(one.estimate == other.estimate && one.low == other.low && one.high == other.high);
}

/* A copy that differs would make the case look faster or slower than it is: it is not taken. */
TEST(takes_both_copies_of_a_baseline)
{
	static const double copies[] = {1, 1.2, 1 / 1.2};	/* the time that the copy takes */
	double		samples[3][200];	/* of the baseline, its copy and the case */
	const int	n = lengthof(samples[0]);
	uint64_t	seed = 1;

	for (size_t row = 0; row < lengthof(copies); row++)
	{
		double		wanted[lengthof(samples[0])];

		/* all follow the disk, and have a noise of 10 % of their own */
		for (int i = 0; i < n; i++)
		{
			double		common = exp(0.5 * random_normal(&seed));

			for (int k = 0; k < 3; k++)
				samples[k][i] = 100 * common * (k == 1 ? copies[row] : 1) *
					exp(0.1 * random_normal(&seed));
			wanted[i] = row == 0 ? sqrt(samples[0][i] * samples[1][i]) : samples[0][i];
		}
		assert_same_speed(sp_speed_against_both(samples[0], samples[1], samples[2], n, 0.001, 3,
												workspace),
						  sp_speed_interval(wanted, samples[2], n, 0.001, 3, workspace));
		assert_same_speed(sp_speed_against_both(samples[0], NULL, samples[2], n, 0.001, 3,
												workspace),
						  sp_speed_interval(samples[0], samples[2], n, 0.001, 3, workspace));
	}
}

TEST_MAIN(NULL, NULL)
