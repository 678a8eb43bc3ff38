/*-------------------------------------------------------------------------
 *
 * verdict.h
 *		What the rounds of a run allow us to say.
 *
 * Two steps.  sp_speed_interval() turns the rounds of two test cases into an
 * interval for the ratio of their speeds; sp_judge() turns the intervals of
 * all methods, in both regimes, into one verdict with its reason.  Neither
 * reads a clock or a file: recorded measurements are judged by the same code
 * as a probe that is still running.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_VERDICT_H
#define SP_VERDICT_H

#include <stdbool.h>
#include <stddef.h>

#define SP_FIRST_LOOK_ROUNDS	8	/* then 16, 32, 64, ... */
#define SP_MAX_METHODS			8

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

typedef enum sp_regime
{
	SP_PACED,
	SP_SATURATED,
	SP_REGIMES
} sp_regime;

typedef enum sp_verdict
{
	SP_UNDECIDED,
	SP_SWITCH,
	SP_KEEP,
	SP_TIE,
	SP_UNSAFE
} sp_verdict;

/* What is known of one method when the verdict is asked for. */
typedef struct sp_contender
{
	const char *name;
	sp_speed	speed[SP_REGIMES];	/* against the current method; for the
									 * current method itself, the A/A control */
} sp_contender;

typedef struct sp_judgement
{
	sp_verdict	verdict;
	int			recommended;	/* index of the contender; the current one
								 * unless the verdict is switch */
	bool		by_exclusion;	/* keep, though a slower or equal method is not
								 * told apart: none can be worth a switch */
	double		noise;			/* of the noisier regime, see sp_speed_noise():
								 * 0.02 is 2 %, NAN if unknown */
	char		reason[512];
} sp_judgement;

/* 'switch', 'keep', 'tie', 'undecided', 'unsafe' */
extern const char *sp_verdict_name(sp_verdict verdict);

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

/*
 * The verdict.  contenders[current] is the method in use; margin is the least
 * gain worth a change (0.05 is 5 %).
 *
 * switch: a contender is faster by more than the margin when paced, or so back
 * to back and within the margin when paced; of several the one with the best
 * paced estimate.  Its whole interval must be clear of the margin, and of what
 * the control shows that places alone can do.  keep: every contender is slower
 * in one regime, and in neither faster by more than the margin, or slower by
 * more than the margin when paced.  tie: none reaches above the margin and one
 * lies wholly inside it.  Where none reaches above the margin and nothing else
 * can be said it is keep by exclusion.  keep and tie need a noise below the margin.
 *
 * A contender without any interval (not measured) cannot win and stands in no
 * one's way.  'unsafe' is never returned: it needs the device's evidence.
 */
extern void sp_judge(const sp_contender *contenders, int count, int current,
					 double margin, sp_judgement *judgement);

/*
 * True when more rounds cannot be expected to change the verdict: one other
 * than undecided and keep by exclusion (which may become a tie), and for 'switch' no open contender with a better
 * paced estimate than the recommended one.
 */
extern bool sp_judgement_settled(const sp_contender *contenders, int count, int current,
								 double margin, const sp_judgement *judgement);

#endif							/* SP_VERDICT_H */
