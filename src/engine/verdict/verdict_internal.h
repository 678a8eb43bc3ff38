/*-------------------------------------------------------------------------
 *
 * verdict_internal.h
 *		Shared by verdict.c, choice.c, projection.c and reason.c only.
 *
 * Dependencies go one way: projection.c and reason.c use verdict.c, which uses
 * choice.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_VERDICT_INTERNAL_H
#define SP_VERDICT_INTERNAL_H

#include "engine/verdict/verdict.h"

extern bool sp_has_interval(sp_speed speed);

/* The regime that is not the given one. */
extern sp_regime sp_other_regime(sp_regime regime);

/*
 * The gain that must be excluded to keep the current method: the margin in the
 * deciding regime, twice the margin in the other.  That one is not what this cluster
 * does, and excluding as little there takes many times as long.
 */
extern double sp_stay_limit(const sp_comparison *comparison, sp_regime regime);

/* May the contender still be faster than that limit in this regime? */
extern bool sp_reaches_above(const sp_comparison *comparison, const sp_contender *contender,
							 sp_regime regime);

/* Is the contender open, and does it reach above the limit in either regime? */
extern bool sp_may_be_faster(const sp_comparison *comparison, const sp_contender *contender);

/* The estimate that ranks contenders: that of the deciding regime where there is one. */
extern double sp_rank_estimate(const sp_comparison *comparison, const sp_contender *contender);

/* Has the contender a larger share of slow flushes than the current method? */
extern bool sp_has_heavier_tail(const sp_comparison *comparison, const sp_contender *contender,
								sp_regime regime);

/* Is it faster, as far as the intervals tell?  Slow flushes may still bar it. */
extern bool sp_is_faster(const sp_comparison *comparison, const sp_contender *contender);

/* May it have a larger share of slow flushes, in either regime? */
extern bool sp_may_have_heavier_tail(const sp_comparison *comparison,
									 const sp_contender *contender);

/*
 * How many times as many entries until the intervals of all contenders that may be faster
 * settle something: infinite if one has no interval.  At least 1.
 */
extern double sp_entries_needed(const sp_comparison *comparison);

/* The best choice by estimates and their errors; the current method if none is better. */
extern int	sp_best_choice(const sp_comparison *comparison);

/* How much longer a flush with the current method takes at most: see sp_judgement. */
extern double sp_loss_bound(const sp_comparison *comparison);

#endif							/* SP_VERDICT_INTERNAL_H */
