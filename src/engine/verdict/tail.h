/*-------------------------------------------------------------------------
 *
 * tail.h
 *		Does a method have more slow flushes than another?
 *
 * A flush is slow if it takes more than five times the median of the current
 * method.  A method can be faster in most flushes, and still make a few commits
 * wait for a long time.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_TAIL_H
#define SP_TAIL_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The rounds of a case, and those with a slow flush.  The round is the unit: one
 * stall of the disk can make several flushes of a slice slow.
 */
typedef struct sp_tail
{
	int64_t		rounds;
	int64_t		slow_rounds;
} sp_tail;

/* The share of rounds with a slow flush; NAN without a round. */
extern double sp_tail_share(const sp_tail *tail);

/*
 * Is the share larger than that of the other by more than chance, and by enough to
 * matter?  False if one of them has no round.
 *
 * Given all slow rounds of both, those of one are binomial if the shares are equal
 * (Przyborowski and Wilenski, Biometrika 31, 1940); three standard deviations are
 * about once in 500 times.
 */
extern bool sp_tail_exceeds(const sp_tail *tail, const sp_tail *other);

/*
 * May it be larger, as far as these rounds tell?  Few rounds cannot prove more slow flushes,
 * but they can make them likely.  Below 400 rounds of each, two slow ones against none are
 * enough.  With more rounds these are less than the least difference that matters.
 */
extern bool sp_tail_may_exceed(const sp_tail *tail, const sp_tail *other);

/*
 * How many times as many rounds until a share that may be larger is known to be, if
 * both shares stay as they are; 1 if it is known, or may not be larger.
 */
extern double sp_tail_rounds_needed(const sp_tail *tail, const sp_tail *other);

#endif							/* SP_TAIL_H */
