/*-------------------------------------------------------------------------
 *
 * verdict_internal.h
 *		Shared by verdict.c, projection.c and reason.c only.
 *
 * Dependencies go one way: projection.c and reason.c use verdict.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_VERDICT_INTERNAL_H
#define SP_VERDICT_INTERNAL_H

#include "engine/verdict/verdict.h"

extern bool sp_has_interval(sp_speed speed);

/*
 * The gain that must be excluded to keep the current method: the margin when
 * paced, twice the margin when saturated.  This cluster does not flush back to
 * back, and excluding as little there takes many times as long.
 */
extern double sp_stay_limit(sp_regime regime, double margin);

/* May the contender still be faster than that limit in this regime? */
extern bool sp_reaches_above(const sp_contender *contender, sp_regime regime, double margin);

/* Is the contender open, and does it reach above the limit in either regime? */
extern bool sp_may_be_faster(const sp_contender *contender, double margin);

/* The estimate that ranks contenders: the paced one where there is one. */
extern double sp_rank_estimate(const sp_contender *contender);

/* Does the A/A control prove the current method faster or slower than itself? */
extern bool sp_control_contradicts(const sp_comparison *comparison);

#endif							/* SP_VERDICT_INTERNAL_H */
