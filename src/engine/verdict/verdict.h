/*-------------------------------------------------------------------------
 *
 * engine/verdict/verdict.h
 *		From the intervals of all methods, in both regimes, to one verdict.
 *
 * The same code judges a running probe and recorded measurements.
 *
 * It must not: include a server header, allocate, print, or read a clock or a
 * file.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_VERDICT_H
#define SP_VERDICT_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/verdict/evidence.h"
#include "engine/verdict/interval.h"
#include "engine/verdict/tail.h"

#define SP_MAX_METHODS			8

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

/* A method compared with the current one, both regimes taken together. */
typedef enum sp_contender_class
{
	SP_CURRENT,					/* it is the current method itself */
	SP_UNMEASURED,				/* no figures, or its syncs do not reach the device */
	SP_OPEN,					/* not settled yet */
	SP_FASTER,					/* worth a switch */
	SP_EQUAL,					/* both intervals lie within the margins */
	SP_SLOWER,					/* cannot be worth a switch */
	SP_BARRED,					/* faster, but not worth a switch: slower in the other
								 * regime, or more slow flushes */
	SP_CLASSES
} sp_contender_class;

/* What is known of one method. */
typedef struct sp_contender
{
	const char *name;
	sp_speed	speed[SP_REGIMES];	/* against the current method; for the
									 * current method itself, the A/A control */
	sp_tail		tail[SP_REGIMES];
	sp_durable	durable;		/* do its syncs reach the device? */
	sp_contender_class class;	/* set by sp_classify() */
} sp_contender;

/*
 * How fast the cluster flushes, and the times from which the deciding regime follows.
 * NAN is unknown.
 */
typedef struct sp_pace
{
	double		cluster_interval_us;	/* between two flushes of the cluster */
	double		paced_interval_us;	/* between two of a file when paced, as achieved */
	double		saturated_flush_us; /* mean time of the current method */
} sp_pace;

/*
 * All methods of a run.  The caller fills in the contenders, their count,
 * current, margin and pace, and then calls sp_classify().  All other functions need
 * the classes.
 */
typedef struct sp_comparison
{
	sp_contender contenders[SP_MAX_METHODS];
	int			count;
	int			current;		/* index of the method in use */
	double		margin;			/* the least gain worth a switch: 0.05 is 5 % */
	sp_pace		pace;
	sp_regime	deciding;		/* set by sp_classify() */
	int			count_of[SP_CLASSES];	/* set by sp_classify() */
} sp_comparison;

typedef struct sp_judgement
{
	sp_verdict	verdict;
	int			recommended;	/* index of the contender: the current one unless
								 * the verdict is switch or unsafe; -1 if unsafe
								 * and no method is known to be durable */
	bool		by_exclusion;	/* keep, because no other method can be worth a
								 * switch; some may still turn out equal */
	double		noise;			/* of the deciding regime if it was measured, see
								 * sp_speed_noise(): 0.02 is 2 %, NAN if unknown */
	int			best;			/* the best choice so far, whatever the verdict: see
								 * choice.c; -1 as recommended */
	double		loss_bound;		/* A flush with the current method takes at most this
								 * much longer than with the best one: 0.03 is 3 %
								 * longer.  NAN if unknown */
} sp_judgement;

/* 'switch', 'keep', 'tie', 'undecided', 'unsafe' */
extern const char *sp_verdict_name(sp_verdict verdict);

/* 'paced', 'saturated' */
extern const char *sp_regime_name(sp_regime regime);

/*
 * The share of the time that the cluster spends in flushes; NAN if unknown.  The
 * saturated flush time is used: it is the shortest, so that the share is not
 * overestimated.
 */
extern double sp_pace_load(const sp_pace *pace);

/*
 * Find the deciding regime, set the class of each contender, and count the classes.
 *
 * The saturated regime decides where the cluster flushes for more than half of the
 * time, else the paced one.  A cluster of one client that commits without a pause
 * leaves no room for the paced flushes of five files.  Such a cluster never gets the
 * gain of a paced flush.
 */
extern void sp_classify(sp_comparison *comparison);

/*
 * The verdict.
 *
 * switch: a contender is faster by more than the margin in one regime and not slower
 * by more than the margin in the other.  Its whole interval must exceed the margin,
 * and also the effect of places that the control shows.  In neither regime it has more
 * slow flushes.  Where these are proven (sp_tail_exceeds(), three deviations) it is
 * barred.  Where they are only likely (sp_tail_may_exceed(), 1.4 deviations) it stays
 * open, and is not the best choice either.  Of several contenders, the one with the best
 * estimate in the deciding regime is recommended.
 *
 * keep: no contender is worth a switch, since each one is slower or barred.  Slower is:
 * by more than the margin in the deciding regime; or in one regime, and not faster by
 * more than the margin in the other.  Barred is: faster by more than the margin, but
 * slower by as much in the other regime, or with more slow flushes.
 *
 * tie: no contender can be worth a switch, and at least one lies wholly within the
 * margins.
 *
 * keep by exclusion: no contender can be worth a switch, and nothing else can be said.
 *
 * unsafe: the syncs of the current method do not reach the device.  The fastest
 * method is recommended whose syncs do, as far as the counters tell.
 *
 * keep and tie need a noise below the margin.  For them the margin is doubled
 * in the regime that does not decide, see sp_stay_limit().
 *
 * A contender that was not measured, or whose syncs do not reach the device,
 * cannot win and does not block a verdict.
 */
extern void sp_judge(const sp_comparison *comparison, sp_judgement *judgement);

/*
 * True when more entries are not expected to change the verdict.  So it is for
 * all verdicts but undecided and keep by exclusion (which may become a tie).
 * For 'switch', no open contender may have a better estimate in the deciding regime
 * than the recommended one.
 */
extern bool sp_judgement_settled(const sp_comparison *comparison,
								 const sp_judgement *judgement);

/*
 * Can the remaining time settle what is undecided?  growth[r] is the number of
 * entries that a regime will have had at the end, divided by that of now.
 * Intervals are taken to shrink with the root of it, and every estimate to move
 * by one standard error in favour of a verdict.
 */
extern bool sp_projection_settles(const sp_comparison *comparison,
								  const double growth[SP_REGIMES]);

/* Does the A/A control prove the current method faster or slower than itself? */
extern bool sp_control_contradicts(const sp_comparison *comparison);

/*
 * Let a switch need a gain beyond the noise, and the other verdicts none: where one figure
 * takes the place of both regimes, and storage is busy with others.  A switch then gains
 * more than two measurements of the current contender differ.  For a verdict that it stays
 * noise does not matter, as the intervals of the others are as wide as it makes them.  A
 * control that contradicts, or was not measured, stays: nothing can be said then.
 */
extern void sp_take_out_noise(sp_comparison *comparison);

/* Can more entries of this regime still settle something? */
extern bool sp_regime_is_open(const sp_comparison *comparison, sp_regime regime);

#endif							/* SP_VERDICT_H */
