/*-------------------------------------------------------------------------
 *
 * interval.h
 *		From the rounds of two test cases to an interval of their speeds.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_INTERVAL_H
#define SP_INTERVAL_H

#define SP_FIRST_LOOK_ROUNDS	8	/* then 16, 32, 64, ... */

/*
 * A ratio of speeds and its confidence interval: 1.10 means 10 % more syncs
 * per second than the current method.  All NAN without any round; low and
 * high alone are NAN where the rounds are too few for an interval.
 */
typedef struct sp_speed
{
	double		estimate;
	double		low;
	double		high;
} sp_speed;

/*
 * The error allowed to each interval of the look'th look (1, 2, ...), so that
 * all intervals of all looks together miss with at most 5 %: the looks get an
 * eighth, an eighth, a quarter, a quarter of it and then always half as much
 * (little at 8 rounds, which settle nothing), shared equally by the
 * comparisons (Bonferroni).
 */
extern double sp_look_alpha(int look, int comparisons);

/*
 * Speed of a case against a baseline, from the mean time of each round: the
 * median of the logarithms of baseline_us[i] / case_us[i], with the exact
 * interval of the median by order statistics (David and Nagaraja, Order
 * Statistics, 7.1), which assumes no distribution and shrugs at outliers.
 * scratch holds n doubles.
 */
extern sp_speed sp_speed_interval(const double *baseline_us, const double *case_us,
								  int n, double alpha, double *scratch);

/*
 * Noise as the A/A control's interval shows it: its half-width as a ratio.
 * Where it does not even enclose 1, two files of the same method differ by
 * their places alone (seen on tmpfs, 12 %): then its farther end.  NAN without
 * an interval.
 */
extern double sp_speed_noise(sp_speed speed);

#endif							/* SP_INTERVAL_H */
