/*-------------------------------------------------------------------------
 *
 * interval.c
 *		From the samples of two test cases to an interval of their speeds.
 *
 * The sample is the unit: within a sample every method sees the same state of a
 * shared disk.  So the ratio of two methods in one sample is far more precise than
 * the ratio of their averages.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/verdict/interval.h"

#include <math.h>
#include <stdlib.h>

/* Halving an interval of doubles so often leaves none between its ends. */
#define HALVINGS	64

int
sp_looks_due(int64_t elapsed, int64_t duration)
{
	return elapsed >= duration / 2 ? 2 : elapsed >= duration / 4 ? 1 : 0;
}

double
sp_look_alpha(int look)
{
	static const double alpha[SP_LOOKS] = {0.005, 0.010, 0.035};

	return alpha[look - 1];
}

static int
compare_doubles(const void *a, const void *b)
{
	double		x = *(const double *) a;
	double		y = *(const double *) b;

	return (x > y) - (x < y);
}

/* z such that a standard normal variable exceeds it with that probability. */
static double
normal_quantile(double upper_tail)
{
	double		low = 0;
	double		high = 40;

	for (int i = 0; i < HALVINGS; i++)
	{
		double		z = (low + high) / 2;

		if (erfc(z / sqrt(2)) / 2 > upper_tail)
			low = z;
		else
			high = z;
	}
	return high;
}

/* How many means of pairs, each value with itself included, are at most that? */
static double
pairs_up_to(const double *sorted, int n, double limit)
{
	double		count = 0;
	int			j = n - 1;

	for (int i = 0; i < n; i++)
	{
		/* written as below, so that a limit that is the mean of a pair counts it */
		while (j >= i && (sorted[i] + sorted[j]) / 2 > limit)
			j--;
		if (j < i)
			break;
		count += j - i + 1;
	}
	return count;
}

/* The k-th smallest mean of a pair, from 1. */
static double
pair_mean(const double *sorted, int n, double k)
{
	double		low = sorted[0];
	double		high = sorted[n - 1];

	for (int i = 0; i < HALVINGS; i++)
	{
		double		middle = low + (high - low) / 2;

		if (pairs_up_to(sorted, n, middle) >= k)
			high = middle;
		else
			low = middle;
	}
	return high;
}

/*
 * The rank of the end of an interval: the signed-rank statistic of n values has mean
 * pairs / 2 and this variance, and is close to normal from 16 values on, with lighter tails.
 * At least 1.
 */
static double
end_rank(int n, double upper_tail)
{
	double		pairs = n * (n + 1.0) / 2;
	double		deviation = sqrt(n * (n + 1.0) * (2.0 * n + 1) / 24);

	return fmax(1, floor(pairs / 2 - normal_quantile(upper_tail) * deviation));
}

sp_speed
sp_speed_interval(const double *baseline_us, const double *case_us,
				  int n, double alpha, int comparisons, double *workspace)
{
	sp_speed	speed = {NAN, NAN, NAN};
	double		pairs = n * (n + 1.0) / 2;
	double		middle;

	if (n < 1)
		return speed;
	for (int i = 0; i < n; i++)
		workspace[i] = log(baseline_us[i] / case_us[i]);
	qsort(workspace, n, sizeof(double), compare_doubles);

	middle = floor((pairs + 1) / 2);
	speed.estimate = exp((pair_mean(workspace, n, middle) +
						  pair_mean(workspace, n, pairs + 1 - middle)) / 2);
	if (n < SP_MIN_SAMPLES)
		return speed;
	speed.low = exp(pair_mean(workspace, n,
							  end_rank(n, alpha / 2 / (comparisons > 0 ? comparisons : 1))));
	speed.high = exp(pair_mean(workspace, n, pairs + 1 - end_rank(n, alpha / 2)));
	return speed;
}

sp_speed
sp_speed_against_both(const double *baseline_us, const double *copy_us, const double *case_us,
					  int n, double alpha, int comparisons, double *workspace)
{
	sp_speed	copy = {NAN, NAN, NAN};

	if (copy_us)
		copy = sp_speed_interval(baseline_us, copy_us, n, alpha, 1, workspace);
	if (copy_us == NULL || copy.low > 1 || copy.high < 1)
		return sp_speed_interval(baseline_us, case_us, n, alpha, comparisons, workspace);
	for (int i = 0; i < n; i++)
		workspace[i] = sqrt(baseline_us[i] * copy_us[i]);
	return sp_speed_interval(workspace, case_us, n, alpha, comparisons, workspace);
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
		/* in logarithms, since 2^-n underflows beyond a thousand samples */
		below += exp(lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0) - n * M_LN2);
		if (2 * below > alpha)
			break;
		r = k + 1;
	}
	return r;
}

sp_speed
sp_median_interval(double *values, int n, double alpha)
{
	sp_speed	median = {NAN, NAN, NAN};
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
