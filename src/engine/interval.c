/*-------------------------------------------------------------------------
 *
 * interval.c
 *		From the rounds of two test cases to an interval of their speeds.
 *
 * The round is the unit: within a round every method saw the same state of a
 * disk that others use too, so the ratio of two methods in one round is worth
 * far more than the ratio of their averages.
 *
 *-------------------------------------------------------------------------
 */
#include "interval.h"

#include <math.h>
#include <stdlib.h>

#define TOTAL_ALPHA		0.05

double
sp_look_alpha(int look, int comparisons)
{
	/* an eighth, an eighth, a quarter, a quarter, then always half as much */
	double		share = look <= 2 ? 1.0 / 8 : pow(2, look > 4 ? 2 - look : -2);

	return TOTAL_ALPHA * share / (comparisons > 0 ? comparisons : 1);
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
 * enclose the median with probability 1 - alpha: r - 1 is the largest k with
 * 2 P(Binomial(n, 1/2) <= k) <= alpha.  0 where n is too small for any.
 */
static int
median_rank(int n, double alpha)
{
	double		below = 0;
	int			r = 0;

	for (int k = 0; k < n / 2; k++)
	{
		/* in logarithms: 2^-n alone underflows beyond a thousand rounds */
		below += exp(lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0) - n * M_LN2);
		if (2 * below > alpha)
			break;
		r = k + 1;
	}
	return r;
}

sp_speed
sp_speed_interval(const double *baseline_us, const double *case_us,
				  int n, double alpha, double *scratch)
{
	sp_speed	speed = {NAN, NAN, NAN};
	int			rank;

	if (n < 1)
		return speed;
	for (int i = 0; i < n; i++)
		scratch[i] = log(baseline_us[i] / case_us[i]);
	qsort(scratch, n, sizeof(double), compare_doubles);

	speed.estimate = exp((scratch[(n - 1) / 2] + scratch[n / 2]) / 2);
	rank = median_rank(n, alpha);
	if (rank > 0)
	{
		speed.low = exp(scratch[rank - 1]);
		speed.high = exp(scratch[n - rank]);
	}
	return speed;
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
