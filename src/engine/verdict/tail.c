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
 * The least difference of the shares that matters.  A slow flush takes at least five
 * times the median, so 0.5 % more of them make the mean at least 2 % longer.
 */
#define MIN_EXCESS		0.005

double
sp_tail_share(const sp_tail *tail)
{
	return tail->rounds > 0 ? (double) tail->slow_rounds / (double) tail->rounds : NAN;
}

static bool
exceeds_by(const sp_tail *tail, const sp_tail *other, double deviations)
{
	double		slow = (double) (tail->slow_rounds + other->slow_rounds);
	double		part;			/* of all rounds */
	double		excess;

	/* written so that an unknown share (NAN) exceeds nothing */
	if (!(sp_tail_share(tail) - sp_tail_share(other) > MIN_EXCESS))
		return false;
	part = (double) tail->rounds / (double) (tail->rounds + other->rounds);
	excess = (double) tail->slow_rounds - slow * part;
	return excess > deviations * sqrt(slow * part * (1 - part));
}

bool
sp_tail_exceeds(const sp_tail *tail, const sp_tail *other)
{
	return exceeds_by(tail, other, DEVIATIONS);
}

bool
sp_tail_may_exceed(const sp_tail *tail, const sp_tail *other)
{
	return exceeds_by(tail, other, LIKELY_DEVIATIONS);
}
