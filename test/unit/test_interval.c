/*-------------------------------------------------------------------------
 *
 * test_interval.c
 *	  Tests of src/engine/verdict/interval.c.
 *
 * The error of all interim analyses together is computed exactly.  The coverage
 * of one interval is shown by simulations with a fixed seed.
 *
 *-------------------------------------------------------------------------
 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "engine/measure/sync_method.h"
#include "engine/verdict/verdict.h"

/* The interval of n speeds, which are 1 to n in a shuffled order: its ends are ranks. */
static sp_speed
interval_of_ranks(int n, double alpha, int comparisons)
{
	static double baseline[4096];
	static double one[4096];
	static double workspace[4096];

	for (int i = 0; i < n; i++)
	{
		baseline[(i * 11 + 2) % n] = i + 1;	/* n is never a multiple of 11 */
		one[i] = 1;
	}
	return sp_speed_interval(baseline, one, n, alpha, comparisons, workspace);
}

/* The ranks of the interval of the median agree with tables of the sign test. */
static void
takes_the_known_order_statistics(void **state)
{
	static const struct
	{
		int			n;
		double		alpha;
		double		low;		/* NAN: no interval */
		double		high;
		double		estimate;
	}			rows[] = {
		{1, 0.05, NAN, NAN, 1},
		{6, 0.03, NAN, NAN, 3.5},
		{6, 0.05, 1, 6, 3.5},
		{7, 0.05, 1, 7, 4},
		{8, 0.05, 1, 8, 4.5},	/* 2 / 256; the next rank has 18 / 256 */
		{8, 0.0703, 1, 8, 4.5},
		{8, 0.0704, 2, 7, 4.5},
		{8, 0.0079, 1, 8, 4.5},
		{8, 0.0078, NAN, NAN, 4.5},
		{9, 0.05, 2, 8, 5},
		{12, 0.05, 3, 10, 6.5},
		{16, 0.05, 4, 13, 8.5},
		{32, 0.05, 10, 23, 16.5},
		{64, 0.05, 24, 41, 32.5},
		{128, 0.05, 53, 76, 64.5},
	};

	(void) state;
	for (size_t i = 0; i < lengthof(rows); i++)
	{
		sp_speed	speed = interval_of_ranks(rows[i].n, rows[i].alpha, 1);
		double		middle = rows[i].n % 2 == 1 ? rows[i].estimate
			: sqrt((rows[i].estimate - 0.5) * (rows[i].estimate + 0.5));

		assert_true(fabs(speed.estimate / middle - 1) < 1e-12);
		if (isnan(rows[i].low) ? !isnan(speed.low) || !isnan(speed.high)
			: !(fabs(speed.low - rows[i].low) < 1e-9 && fabs(speed.high - rows[i].high) < 1e-9))
			fail_msg("n %d, alpha %g: %g to %g", rows[i].n, rows[i].alpha, speed.low, speed.high);
	}
}

/* One of several may seem faster by chance: only the low end is corrected for that. */
static void
corrects_the_low_end_only(void **state)
{
	static const int rounds[] = {16, 45, 256, 4096};

	(void) state;
	for (size_t i = 0; i < lengthof(rounds); i++)
	{
		int			n = rounds[i];
		sp_speed	one = interval_of_ranks(n, 0.03, 1);

		for (int comparisons = 2; comparisons <= SP_MAX_METHODS; comparisons++)
		{
			sp_speed	several = interval_of_ranks(n, 0.03, comparisons);
			sp_speed	corrected = interval_of_ranks(n, 0.03 / comparisons, 1);

			assert_true(several.estimate == one.estimate);
			assert_true(several.high == one.high);
			assert_true(several.low == corrected.low);
			assert_true(several.low < one.low);
		}
		/* no comparison at all must not divide by zero */
		assert_true(interval_of_ranks(n, 0.03, 0).low == one.low);
	}
}

/* ------------------------------------------------- the error of all analyses */

#define EQUAL_ERROR_ROUNDS		4096

/* P(Binomial(n, 1/2) = k) for all k; in logarithms, since 2^-n underflows. */
static void
binomial(int n, double *chance)
{
	for (int k = 0; k <= n; k++)
		chance[k] = exp(lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0) - n * log(2));
}

/*
 * The probability that the interval misses the true speed at one or more analyses
 * up to 4,096 rounds: at its low end, at its high end, or at either.  It is exact
 * for any distribution of the times.  The number of rounds below the median is a
 * random walk of fair coins, which ends where the engine's interval misses.
 */
static double
error_of_all_analyses(int comparisons, bool count_low, bool count_high)
{
	static double chance[EQUAL_ERROR_ROUNDS + 1];
	static double next[EQUAL_ERROR_ROUNDS + 1];
	static double steps[EQUAL_ERROR_ROUNDS + 1];
	double		missed = 0;
	int			before = 0;

	memset(chance, 0, sizeof(chance));
	chance[0] = 1;
	for (int analysis = 1; sp_analysis_entries(analysis) <= EQUAL_ERROR_ROUNDS; analysis++)
	{
		int			n = (int) sp_analysis_entries(analysis);
		sp_speed	ranks = interval_of_ranks(n, sp_analysis_alpha(analysis), comparisons);

		binomial(n - before, steps);
		memset(next, 0, sizeof(next));
		for (int k = 0; k <= before; k++)
		{
			for (int step = 0; chance[k] > 0 && step <= n - before; step++)
				next[k + step] += chance[k] * steps[step];
		}
		for (int k = 0; k <= n; k++)
		{
			/* k rounds are below the true speed: it lies between the k-th and the next */
			if ((count_low && k < lround(ranks.low)) || (count_high && k >= lround(ranks.high)))
			{
				missed += next[k];
				next[k] = 0;
			}
		}
		memcpy(chance, next, sizeof(chance));
		before = n;
	}
	assert_int_equal(before, EQUAL_ERROR_ROUNDS);	/* there is an analysis at it */
	return missed;
}

static void
errs_less_than_five_percent_in_all(void **state)
{
	double		beyond = 0;
	double		total = error_of_all_analyses(1, true, true);
	int			analysis = 1;

	(void) state;
	while (sp_analysis_entries(analysis) <= EQUAL_ERROR_ROUNDS)
		analysis++;
	for (int last = analysis + 40; analysis < last; analysis++)
	{
		assert_true(sp_analysis_alpha(analysis) > 0);	/* no analysis has an error of zero */
		beyond += sp_analysis_alpha(analysis);
	}
	print_message("# all analyses up to %d rounds miss with %.2f %%, "
				  "those beyond with %.3f %% at most\n",
				  EQUAL_ERROR_ROUNDS, 100 * total, 100 * beyond);
	assert_true(beyond < 0.001);
	assert_true(total > 0.04);
	assert_true(total + beyond <= 0.05);

	/* the low ends of several comparisons together miss with at most half of it */
	for (int comparisons = 2; comparisons < (int) sp_sync_method_count; comparisons++)
	{
		double		low = comparisons * error_of_all_analyses(comparisons, true, false);
		double		high = error_of_all_analyses(comparisons, false, true);

		print_message("# %d comparisons: a low end misses with %.2f %%, a high end with %.2f %%\n",
					  comparisons, 100 * low, 100 * high);
		assert_true(low <= 0.025);
		assert_true(low + high + beyond <= 0.05);
	}
}

static void
spaces_analyses_ever_wider(void **state)
{
	static const int first[] = {16, 23, 32, 45, 64, 91, 128, 181, 256, 362, 512};

	(void) state;
	for (size_t i = 0; i < lengthof(first); i++)
		assert_int_equal(sp_analysis_entries((int) i + 1), first[i]);
	/* a run of weeks: no overflow, and no two analyses at the same round */
	for (int analysis = 2; analysis < 80; analysis++)
		assert_true(sp_analysis_entries(analysis) > sp_analysis_entries(analysis - 1));
}

static void
has_no_interval_without_rounds(void **state)
{
	sp_speed	speed = sp_speed_interval(NULL, NULL, 0, 0.05, 1, NULL);

	(void) state;
	assert_true(isnan(speed.estimate) && isnan(speed.low) && isnan(speed.high));
	assert_true(isnan(sp_speed_noise(speed)));
	assert_true(fabs(sp_speed_noise((sp_speed) {1, 1 / 1.1, 1.1}) - 0.1) < 1e-12);
	/* an interval that does not enclose 1: its farther end */
	assert_true(fabs(sp_speed_noise((sp_speed) {1.1, 1.02, 1.15}) - 0.15) < 1e-12);
	assert_true(fabs(sp_speed_noise((sp_speed) {0.9, 0.8, 0.95}) - 0.25) < 1e-12);
}

/* 2^-4096 underflows.  The normal approximation is good to a rank or two. */
static void
works_with_thousands_of_rounds(void **state)
{
	static const double alphas[] = {0.05, 1e-3, 1e-6};
	static const double sigmas[] = {1.960, 3.291, 4.892};

	(void) state;
	for (size_t i = 0; i < lengthof(alphas); i++)
	{
		sp_speed	speed = interval_of_ranks(4095, alphas[i], 1);
		double		rank = 4096 / 2.0 - sigmas[i] * sqrt(4095) / 2;

		assert_true(fabs(speed.low - rank) < 2);
		assert_true(fabs(speed.low + speed.high - 4096) < 1e-6);
		speed = interval_of_ranks(4096, alphas[i], 1);
		assert_true(fabs(speed.low - rank) < 2);
	}
}

/*
 * Each end misses as often as the binomial distribution says, even if one round
 * in ten is a hundred times as slow.
 */
static void
covers_as_promised(void **state)
{
	static const struct
	{
		int			n;
		double		alpha;
		int			comparisons;
		double		low;		/* P(Binomial(n, 1/2) < rank) */
		double		high;
	}			rows[] = {
		{8, 0.05, 1, 0.00391, 0.00391},
		{16, 0.05, 1, 0.01064, 0.01064},
		{20, 0.05, 1, 0.02069, 0.02069},
		{64, 0.05, 1, 0.01638, 0.01638},
		{16, 0.05, 3, 0.00209, 0.01064},
		{64, 0.05, 3, 0.00407, 0.01638},
	};
	const int	runs = 20000;
	uint64_t	seed = 20;

	(void) state;
	for (size_t i = 0; i < lengthof(rows); i++)
	{
		int			too_high = 0;
		int			too_low = 0;

		for (int run = 0; run < runs; run++)
		{
			double		baseline[64];
			double		other[64];
			double		workspace[64];
			sp_speed	speed;

			for (int k = 0; k < rows[i].n; k++)
			{
				baseline[k] = 300 * 1.2 * exp(0.1 * random_normal(&seed));
				other[k] = 300 * exp(0.1 * random_normal(&seed));
				if (random_uniform(&seed) < 0.1)
					*(random_uniform(&seed) < 0.5 ? &baseline[k] : &other[k]) *= 100;
			}
			speed = sp_speed_interval(baseline, other, rows[i].n, rows[i].alpha,
									  rows[i].comparisons, workspace);
			too_high += speed.low > 1.2;
			too_low += speed.high < 1.2;
		}
		print_message("# n %d, %d comparisons: low end missed %.2f %%, by theory %.2f %%; "
					  "high end %.2f %% and %.2f %%\n",
					  rows[i].n, rows[i].comparisons, 100.0 * too_high / runs, 100 * rows[i].low,
					  100.0 * too_low / runs, 100 * rows[i].high);
		assert_true(fabs(too_high - rows[i].low * runs) < 4 * sqrt(rows[i].low * runs));
		assert_true(fabs(too_low - rows[i].high * runs) < 4 * sqrt(rows[i].high * runs));
	}
}

/* The median of values of its own, without a baseline. */
static void
takes_the_median_of_one_series(void **state)
{
	double		none[1];
	double		five[] = {5, 1, 4, 2, 3};
	double		eight[] = {80, 10, 70, 20, 60, 30, 50, 40};
	double		large[] = {1.7e308, 1.7e308};	/* their sum is infinite */
	sp_median	median;

	(void) state;
	assert_true(isnan(sp_median_interval(none, 0, 0.05).estimate));
	median = sp_median_interval(five, 5, 0.05);
	assert_true(median.estimate == 3 && isnan(median.low) && isnan(median.high));
	median = sp_median_interval(five, 5, 0.07);
	assert_true(median.estimate == 3 && median.low == 1 && median.high == 5);
	median = sp_median_interval(eight, 8, 0.05);
	assert_true(median.estimate == 45 && median.low == 10 && median.high == 80);
	median = sp_median_interval(eight, 8, 0.0704);
	assert_true(median.low == 20 && median.high == 70);
	assert_true(sp_median_interval(large, 2, 0.05).estimate == large[0]);
}

/*
 * The ratio of two medians lies between the ratios of the ends of their intervals, if each
 * of these misses with half of the error.
 */
static void
covers_the_ratio_of_two_runs(void **state)
{
	uint64_t	seed = 7;
	int			missed = 0;
	int			runs = 20000;

	(void) state;
	for (int i = 0; i < runs; i++)
	{
		double		before[20];
		double		after[37];
		sp_median	a;
		sp_median	b;

		for (int k = 0; k < 20; k++)
			before[k] = 100 * exp(0.1 * random_normal(&seed));
		for (int k = 0; k < 37; k++)
			after[k] = 210 * exp(0.3 * random_normal(&seed));
		a = sp_median_interval(before, 20, 0.025);
		b = sp_median_interval(after, 37, 0.025);
		missed += b.low / a.high > 2.1 || b.high / a.low < 2.1;
	}
	print_message("# the interval of a ratio missed %.2f %%\n", 100.0 * missed / runs);
	assert_true(missed > 0);
	assert_true(missed < 0.05 * runs);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_the_known_order_statistics),
		cmocka_unit_test(corrects_the_low_end_only),
		cmocka_unit_test(errs_less_than_five_percent_in_all),
		cmocka_unit_test(spaces_analyses_ever_wider),
		cmocka_unit_test(has_no_interval_without_rounds),
		cmocka_unit_test(works_with_thousands_of_rounds),
		cmocka_unit_test(covers_as_promised),
		cmocka_unit_test(takes_the_median_of_one_series),
		cmocka_unit_test(covers_the_ratio_of_two_runs),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("interval", tests, NULL, NULL);
}
