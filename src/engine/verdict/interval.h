/*-------------------------------------------------------------------------
 *
 * interval.h
 *		From the samples of two test cases to an interval of their speeds.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_INTERVAL_H
#define SP_INTERVAL_H

#include <stdint.h>

/* The error of all looks at one set of samples together. */
#define SP_ALPHA			0.05

/*
 * A run that may stop early is looked at when a quarter of its time is over, a half, and at
 * its end.  Most of the error is left to the last look (as O'Brien and Fleming do, A
 * multiple testing procedure for clinical trials, Biometrics 35, 1979), since that one has
 * most samples; the sum is SP_ALPHA (Bonferroni).
 */
#define SP_LOOKS			3

/* With fewer samples there is no interval. */
#define SP_MIN_SAMPLES		16

/* How many looks are due after that time of a duration, the last one excepted: 0, 1 or 2. */
extern int	sp_looks_due(int64_t elapsed, int64_t duration);

/* The error of an interval at look 1, 2, or 3. */
extern double sp_look_alpha(int look);

/*
 * A ratio of speeds and its confidence interval: 1.10 means 10 % more syncs per
 * second than the current method.  All are NAN without any sample; low and high
 * are NAN if the samples are too few for an interval.
 */
typedef struct sp_speed
{
	double		estimate;
	double		low;
	double		high;
} sp_speed;

/*
 * Speed of a case against a baseline, from the mean time of each sample: the Hodges-Lehmann
 * estimate of the logarithms of baseline_us[i] / case_us[i], which is the median of the
 * means of all pairs, and the interval that goes with it (Hodges and Lehmann, Estimates of
 * location based on rank tests, Ann. Math. Stat. 34, 1963).  It assumes that the logarithms
 * are symmetric about their median.  It is nearly as narrow as that of the mean, and one
 * sample in five may be an outlier.
 *
 * The lower end is corrected for the number of comparisons (Bonferroni): one of
 * several methods may seem faster by chance.  The upper end is not: it serves
 * the claim that no method is faster, which must hold for all of them at once
 * (Berger, Multiparameter hypothesis testing, Technometrics 24, 1982).
 *
 * workspace: of n doubles; it may be the baseline.
 */
extern sp_speed sp_speed_interval(const double *baseline_us, const double *case_us,
								  int n, double alpha, int comparisons, double *workspace);

/*
 * The same against a baseline that was measured twice: against the mean of both, sample by
 * sample.  One alone would bring all of its noise into each comparison: in the rounds of the
 * bench's 90 nulls, the interval has 0.88 of its width.  A copy that is proven to differ is not
 * taken, so that it cannot make another case look better than it is.  copy_us: NULL if there
 * is none.
 */
extern sp_speed sp_speed_against_both(const double *baseline_us, const double *copy_us,
									  const double *case_us, int n, double alpha,
									  int comparisons, double *workspace);

/*
 * The median of n values and its exact interval by order statistics (David and Nagaraja,
 * Order Statistics, 7.1).  It sorts the values.
 */
extern sp_speed sp_median_interval(double *values, int n, double alpha);

/*
 * The noise that the interval of the A/A control shows: its half-width as a
 * ratio.  If the interval does not enclose 1, two files of the same method
 * differ by their places alone (12 % on tmpfs); then the noise is its farther
 * end.  NAN without an interval.
 */
extern double sp_speed_noise(sp_speed speed);

#endif							/* SP_INTERVAL_H */
