/*-------------------------------------------------------------------------
 *
 * interval.c
 *		From the entries of two test cases to an interval of their speeds.
 *
 * The entry is the unit: within an entry every method sees the same state of a
 * shared disk.  So the ratio of two methods in one entry is far more precise than
 * the ratio of their averages.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/verdict/interval.h"

#include <math.h>
#include <stdlib.h>

#define ANALYSIS_ALPHA		0.006
#define EQUAL_ANALYSES		17		/* up to 4,096 entries */

int64_t
sp_analysis_entries(int analysis)
{
	return llround(SP_FIRST_ANALYSIS_ENTRIES * exp2((analysis - 1) / 2.0));
}

double
sp_analysis_alpha(int analysis)
{
	/* each further analysis gets an eighth of the error of the one before */
	return analysis <= EQUAL_ANALYSES ? ANALYSIS_ALPHA :
		ANALYSIS_ALPHA * exp2(3.0 * (EQUAL_ANALYSES - analysis));
}

static int
compare_doubles(const void *a, const void *b)
{
	double		x = *(const double *) a;
	double		y = *(const double *) b;

	return (x > y) - (x < y);
}

/*
 * The largest r such that the r-th smallest and the r-th largest of n values
 * enclose the median with probability 1 - alpha: r - 1 is the largest k with 2
 * P(Binomial(n, 1/2) <= k) <= alpha. 0 if n is too small.
 */
static int
median_rank(int n, double alpha)
{
	double		below = 0;
	int			r = 0;

	for (int k = 0; k < n / 2; k++)
	{
		/* in logarithms, since 2^-n underflows beyond a thousand entries */
		below += exp(lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0) - n * M_LN2);
		if (2 * below > alpha)
			break;
		r = k + 1;
	}
	return r;
}

sp_speed
sp_speed_interval(const double *baseline_us, const double *case_us,
				  int n, double alpha, int comparisons, double *workspace)
{
	sp_speed	speed = {NAN, NAN, NAN};
	int			low_rank;
	int			high_rank;

	if (n < 1)
		return speed;
	for (int i = 0; i < n; i++)
		workspace[i] = log(baseline_us[i] / case_us[i]);
	qsort(workspace, n, sizeof(double), compare_doubles);

	speed.estimate = exp((workspace[(n - 1) / 2] + workspace[n / 2]) / 2);
	low_rank = median_rank(n, alpha / (comparisons > 0 ? comparisons : 1));
	high_rank = median_rank(n, alpha);
	if (low_rank > 0)
	{
		speed.low = exp(workspace[low_rank - 1]);
		speed.high = exp(workspace[n - high_rank]);
	}
	return speed;
}

sp_median
sp_median_interval(double *values, int n, double alpha)
{
	sp_median	median = {NAN, NAN, NAN};
	int			rank;

	if (n < 1)
		return median;
	qsort(values, n, sizeof(double), compare_doubles);
	median.estimate = values[(n - 1) / 2] / 2 + values[n / 2] / 2;
	rank = median_rank(n, alpha);
	if (rank > 0)
	{
		median.low = values[rank - 1];
		median.high = values[n - rank];
	}
	return median;
}

double
sp_speed_noise(sp_speed speed)
{
	if (speed.low > 1)
		return speed.high - 1;
	if (speed.high < 1)
		return 1 / speed.low - 1;
	return sqrt(speed.high / speed.low) - 1;
}
