/*-------------------------------------------------------------------------
 *
 * engine/verdict/verdict.h
 *		What the rounds of a run allow us to say.
 *
 * From the intervals of all methods, in both regimes, to one verdict with its
 * reason.  Recorded measurements are judged by the same code as a probe that is
 * still running.
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

/* What is known of one method when the verdict is asked for. */
typedef struct sp_contender
{
	const char *name;
	sp_speed	speed[SP_REGIMES];	/* against the current method; for the
									 * current method itself, the A/A control */
	sp_durable	durable;		/* do its syncs reach the device? */
} sp_contender;

/* All methods that are compared, and what they are judged by. */
typedef struct sp_contenders
{
	int			count;
	int			current;		/* index of the method in use; -1: it is not among them */
	double		margin;			/* the minimum gain worth a change: 0.05 is 5 % */
	sp_contender list[SP_MAX_METHODS];
} sp_contenders;

typedef struct sp_judgement
{
	sp_verdict	verdict;
	int			recommended;	/* index of the contender; the current one
								 * unless the verdict is switch or unsafe; -1
								 * if unsafe and none is better */
	bool		by_exclusion;	/* keep, though a slower or equal method is not
								 * told apart: none can be worth a switch */
	double		noise;			/* when paced, see sp_speed_noise(): 0.02 is
								 * 2 %, NAN if unknown */
} sp_judgement;

/* 'switch', 'keep', 'tie', 'undecided', 'unsafe' */
extern const char *sp_verdict_name(sp_verdict verdict);

/*
 * The verdict; there must be a current method.
 *
 * switch: a contender is faster by more than the margin when paced, or so back
 * to back and within the margin when paced; of several the one with the best
 * paced estimate.  Its whole interval must be clear of the margin, and of what
 * the control shows that places alone can do.  keep: every contender is slower
 * in one regime, and in neither faster by more than the margin, or slower by
 * more than the margin when paced.  tie: none reaches above the margin and one
 * lies wholly inside it.  Where none reaches above the margin and nothing else
 * can be said it is keep by exclusion.  keep and tie need a noise below the
 * margin.  What is excluded for them back to back is twice the margin: the
 * paced regime is this cluster's own, the other an outlook.
 *
 * unsafe: the syncs of the current method do not reach the device.  Then speed
 * is no question, and the fastest method is recommended whose syncs do, as far
 * as the counters tell, if there is one.
 *
 * A contender without any interval (not measured) cannot win and stands in no
 * one's way; nor can one win whose syncs do not reach the device.
 */
extern void sp_judge(const sp_contenders *contenders, sp_judgement *judgement);

/*
 * The same verdict in words, for a DBA.  Like snprintf(), cuts what does not fit
 * into size bytes with the terminating NUL.
 */
#define SP_REASON_SIZE	512

extern void sp_explain(const sp_contenders *contenders, const sp_judgement *judgement,
					   char *reason, size_t size);

/*
 * True when more rounds cannot be expected to change the verdict: one other
 * than undecided and keep by exclusion (which may become a tie), and for
 * 'switch' no open contender with a better paced estimate than the recommended
 * one.
 */
extern bool sp_judgement_settled(const sp_contenders *contenders, const sp_judgement *judgement);

/*
 * Can the time that is left settle what is undecided?  growth[r] is how many
 * times as many rounds a regime will have had at the end.  Intervals shrink
 * with the root of that; every estimate is granted to move by a standard error
 * in favour of a verdict.
 */
extern bool sp_projection_settles(const sp_contenders *contenders, const double growth[SP_REGIMES]);

/* Are there questions left that rounds of this regime would answer? */
extern bool sp_regime_is_open(const sp_contenders *contenders, sp_regime regime);

/* Is the contender known to be slower, so that it need not be measured on? */
extern bool sp_contender_is_excluded(const sp_contender *contender, double margin);

#endif							/* SP_VERDICT_H */
