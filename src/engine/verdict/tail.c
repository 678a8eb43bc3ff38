/*-------------------------------------------------------------------------
 *
 * tail.c
 *		Does a method have more slow flushes than another?
 *
 *-------------------------------------------------------------------------
 */
#include "engine/verdict/tail.h"

#include <math.h>

#define DEVIATIONS		3

/* Two against none are 1.41 standard deviations. */
#define LIKELY_DEVIATIONS	1.4

/*
 * The least difference of the shares that matters.  These are shares of rounds, not of
 * flushes.  A slow flush takes at least five times the median.  So 0.5 % more rounds with
 * one make the mean at least 0.13 % longer with 15 flushes in a saturated slice.  When
 * paced, with three flushes to one in a round, they make it at least 0.7 to 2 % longer.
 */
#define MIN_EXCESS_ONE_IN	200

double
sp_tail_share(const sp_tail *tail)
{
	return tail->rounds > 0 ? (double) tail->slow_rounds / (double) tail->rounds : NAN;
}

/*
 * By how many standard deviations is the share larger?  0 if not by enough to matter, or if a
 * share is unknown.  Whole numbers as long as possible: differences of rounded quotients would
 * fall on either side of a limit, as the processor rounds.
 */
static double
deviations_above(const sp_tail *tail, const sp_tail *other)
{
	int64_t		slow = tail->slow_rounds + other->slow_rounds;
	int64_t		pairs = tail->rounds * other->rounds;
	int64_t		excess = tail->slow_rounds * other->rounds - other->slow_rounds * tail->rounds;

	if (excess * MIN_EXCESS_ONE_IN <= pairs)
		return 0;
	return (double) excess / sqrt((double) slow * (double) pairs);
}

bool
sp_tail_exceeds(const sp_tail *tail, const sp_tail *other)
{
	return deviations_above(tail, other) > DEVIATIONS;
}

bool
sp_tail_may_exceed(const sp_tail *tail, const sp_tail *other)
{
	return deviations_above(tail, other) > LIKELY_DEVIATIONS;
}

double
sp_tail_rounds_needed(const sp_tail *tail, const sp_tail *other)
{
	double		deviations = deviations_above(tail, other);

	if (deviations <= LIKELY_DEVIATIONS || deviations >= DEVIATIONS)
		return 1;
	/* deviations grow with the root of the rounds */
	return DEVIATIONS / deviations * DEVIATIONS / deviations;
}
