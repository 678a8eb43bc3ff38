/*-------------------------------------------------------------------------
 *
 * interval.h
 *		From the entries of two test cases to an interval of their speeds.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_INTERVAL_H
#define SP_INTERVAL_H

#include <stdint.h>

/*
 * Interim analyses are due after 16, 23, 32, 45, 64, ... entries, each time the
 * square root of two times as many. analysis is 1, 2, ...
 */
#define SP_FIRST_ANALYSIS_ENTRIES	16

extern int64_t sp_analysis_entries(int analysis);

/*
 * A ratio of speeds and its confidence interval: 1.10 means 10 % more syncs per
 * second than the current method.  All are NAN without any entry; low and high
 * are NAN if the entries are too few for an interval.
 */
typedef struct sp_speed
{
	double		estimate;
	double		low;
	double		high;
} sp_speed;

/*
 * The error of an interval at the n-th interim analysis.  It makes the
 * intervals of all analyses together miss with at most 5 %.  It is the same at
 * every analysis up to 4,096 entries (Pocock, Group sequential methods,
 * Biometrika 64, 1977).  Analyses of the same growing set of entries mostly err
 * together: 0.006 at each of 17 is 4.6 % in all, as test/unit/test_interval.c
 * computes exactly.  Equal shares of 5 % would be half as much each.
 */
extern double sp_analysis_alpha(int analysis);

/*
 * Speed of a case against a baseline, from the mean time of each entry: the
 * median of the logarithms of baseline_us[i] / case_us[i], with the exact
 * interval of the median by order statistics (David and Nagaraja, Order
 * Statistics, 7.1), which assumes no distribution and is robust against
 * outliers.
 *
 * The lower end is corrected for the number of comparisons (Bonferroni): one of
 * several methods may seem faster by chance.  The upper end is not: it serves
 * the claim that no method is faster, which must hold for all of them at once
 * (Berger, Multiparameter hypothesis testing, Technometrics 24, 1982).
 *
 * workspace: of n doubles.
 */
extern sp_speed sp_speed_interval(const double *baseline_us, const double *case_us,
								  int n, double alpha, int comparisons, double *workspace);

/*
 * The median of n values and its exact interval by order statistics, as above.  It sorts
 * the values.
 */
typedef struct sp_median
{
	double		estimate;
	double		low;
	double		high;
} sp_median;

extern sp_median sp_median_interval(double *values, int n, double alpha);

/*
 * The noise that the interval of the A/A control shows: its half-width as a
 * ratio.  If the interval does not enclose 1, two files of the same method
 * differ by their places alone (12 % on tmpfs); then the noise is its farther
 * end.  NAN without an interval.
 */
extern double sp_speed_noise(sp_speed speed);

#endif							/* SP_INTERVAL_H */
