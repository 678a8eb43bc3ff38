/*-------------------------------------------------------------------------
 *
 * verdict_internal.h
 *		What verdict.c, projection.c and reason.c share, and nobody else uses.
 *
 * One direction: projection.c and reason.c call verdict.c, which calls neither.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_VERDICT_INTERNAL_H
#define SP_VERDICT_INTERNAL_H

#include "engine/verdict/verdict.h"

/* What one contender is against the current method, both regimes seen. */
typedef enum sp_contender_class
{
	SP_UNMEASURED,					/* or known not to sync */
	SP_OPEN,						/* nothing settled yet */
	SP_FASTER,						/* worth a switch */
	SP_EQUAL,						/* wholly inside the margin */
	SP_SLOWER						/* below 1 where it counts */
} sp_contender_class;

/* Classify one contender by both regimes. */
extern sp_contender_class sp_classify(const sp_contender *contender, double margin);

extern bool sp_has_interval(sp_speed speed);

/*
 * What a method must be known not to gain, so that one may stay: the margin at
 * the cluster's own pace, and twice that back to back, which this cluster does
 * not do, and which takes many times as long to measure as exactly.
 */
extern double sp_stay_limit(sp_regime regime, double margin);

/* Can it, for all we know, be faster than that in this regime, or in either? */
extern bool sp_reaches_above_in(const sp_contender *contender, sp_regime regime, double margin);
extern bool sp_reaches_above(const sp_contender *contender, double margin);

/* The estimate that ranks contenders: paced where there is one. */
extern double sp_rank_estimate(const sp_contender *contender);

/* Is the current method proven to be faster or slower than itself? */
extern bool sp_control_contradicts(const sp_contender *current, double margin);

#endif							/* SP_VERDICT_INTERNAL_H */
