/*
 * Tests of src/engine/verdict/interval.c.
 *
 * Intervals are compared with all means of pairs, and with the exact distribution of
 * the signed-rank statistic, which is the same for all symmetric errors.
 */
#include "unit.h"

#include <string.h>

#include "engine/verdict/interval.h"
#include "engine/verdict/verdict.h"

#define MAX_N	4096

static double workspace[MAX_N];

/* How many means of pairs of n values, each with itself included, are below that? */
static int
means_below(const double *values, int n, double limit)
{
	int			count = 0;

	for (int i = 0; i < n; i++)
	{
		for (int j = i; j < n; j++)
			count += (values[i] + values[j]) / 2 < limit;
	}
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

/* Which mean of a pair is that, from the smallest, 1? */
static int
rank_of(const double *values, int n, double mean)
{
	int			rank = means_below(values, n, mean + 1e-12);

	assert_int_equal(means_below(values, n, mean - 1e-12), rank - 1);
	return rank;
}

/*
 * The ends are means of pairs, as far from both ends, and their error by the exact
 * distribution is at most what was asked.  The normal approximation makes that of a small alpha
 * smaller still.  With few samples there is an estimate, and no end.
 */
TEST(agrees_with_all_means_of_pairs)
{
	static const double alphas[] = {0.005, 0.01, 0.035, 0.05};
	double		logs[64];
	uint64_t	seed = 12;

	assert_true(isnan(sp_speed_interval(NULL, NULL, 0, 0.05, 1, NULL).estimate));
	for (int n = 1; n <= 40; n++)
	{
		int			pairs = n * (n + 1) / 2;

		for (int i = 0; i < n; i++)
			logs[i] = 0.1 * random_normal(&seed);
		FOR_EACH(alpha, alphas)
		{
			sp_speed	speed = interval_of(logs, n, *alpha, 1);
			int			low;
			double		error;

			/* the middle one, or between both */
			assert_int_equal(means_below(logs, n, log(speed.estimate) - 1e-12), pairs / 2);
			assert_int_equal(means_below(logs, n, log(speed.estimate) + 1e-12), (pairs + 1) / 2);
			assert_int_equal(isnan(speed.low), n < SP_MIN_SAMPLES);
			assert_int_equal(isnan(speed.high), n < SP_MIN_SAMPLES);
			if (n < SP_MIN_SAMPLES)
				continue;
			low = rank_of(logs, n, log(speed.low));
			assert_int_equal(low + rank_of(logs, n, log(speed.high)), pairs + 1);
			/* the true value is below the k-th mean if the statistic is at most k - 1 */
			error = 2 * signed_rank_chance(n, low - 1);
			if (error > 1.02 * *alpha || error < 0.4 * *alpha)
				fail_msg("n %d, alpha %g: rank %d, error %g", n, *alpha, low, error);
		}
	}
}

/* One of several may seem faster by chance: only the low end is corrected for that. */
TEST(corrects_the_low_end_only)
{
	static double logs[MAX_N];
	uint64_t	seed = 9;
	sp_speed	one;

	for (int i = 0; i < MAX_N; i++)
		logs[i] = random_normal(&seed);
	one = interval_of(logs, MAX_N, 0.03, 1);
	for (int comparisons = 2; comparisons <= SP_MAX_METHODS; comparisons++)
	{
		sp_speed	several = interval_of(logs, MAX_N, 0.03, comparisons);

		assert_true(several.estimate == one.estimate && several.high == one.high);
		assert_true(several.low == interval_of(logs, MAX_N, 0.03 / comparisons, 1).low);
		assert_true(several.low < one.low);
	}
	/* no comparison at all must not divide by zero */
	assert_true(interval_of(logs, MAX_N, 0.03, 0).low == one.low);
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
	assert_int_equal(sp_looks_due(249, 1000), 0);
	assert_int_equal(sp_looks_due(250, 1000), 1);
	assert_int_equal(sp_looks_due(499, 1000), 1);
	assert_int_equal(sp_looks_due(500, 1000), 2);
	assert_int_equal(sp_looks_due(5000, 1000), 2);
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
		{1, 0.05, 0}, {6, 0.03, 0}, {6, 0.05, 1},
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

/* A copy that differs would make the case look faster or slower than it is: it is not taken. */
TEST(takes_both_copies_of_a_baseline)
{
	static const double copies[] = {1, 1.2, 1 / 1.2, 0};	/* the time that it takes; 0: none */
	double		samples[3][200];	/* of the baseline, its copy and the case */
	const int	n = lengthof(samples[0]);
	uint64_t	seed = 1;

	FOR_EACH(copy, copies)
	{
		double		wanted[lengthof(samples[0])];
		sp_speed	expected;
		sp_speed	found;

		for (int i = 0; i < n; i++)
		{
			for (int k = 0; k < 3; k++)
				samples[k][i] = (k == 1 ? *copy : 1) * exp(0.1 * random_normal(&seed));
			wanted[i] = *copy == 1 ? sqrt(samples[0][i] * samples[1][i]) : samples[0][i];
		}
		expected = sp_speed_interval(wanted, samples[2], n, 0.001, 3, workspace);
		found = sp_speed_against_both(samples[0], *copy > 0 ? samples[1] : NULL, samples[2], n,
									  0.001, 3, workspace);
		assert_memory_equal(&found, &expected, sizeof(found));
	}
}

TEST_MAIN(NULL, NULL)
