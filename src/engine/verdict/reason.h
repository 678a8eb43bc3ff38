/*-------------------------------------------------------------------------
 *
 * reason.h
 *		A verdict in words.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_REASON_H
#define SP_REASON_H

#include "engine/verdict/verdict.h"

#define SP_REASON_SIZE	1024

/* What was compared, in words. */
typedef struct sp_words
{
	bool		values;			/* of a setting and its commits, not methods and their flushes */
	const char *unit;			/* of a name: " us", or "" */
	bool		rate;			/* speeds are operations per second, not time for each */
	const char *when;			/* " back to back", or "" */
	int			samples;		/* that were compared */
	const sp_speed *other;		/* of each candidate, where something else was compared, too: if
								 * rate the time, else the rate; or NULL */
	const char *load;			/* what was seen of the server's load, or NULL */
	const char *syncs_nothing;	/* why the file system does not sync, or NULL */
} sp_words;

/* An upper bound in parts of 1 / unit.  It is never rounded to less than was shown. */
extern double sp_bound_rounded_up(double bound, double unit);

/* The reason of a verdict of sp_judge(), as one sentence.  Cut short if it does not fit. */
extern void sp_explain(const sp_comparison *comparison, const sp_judgement *judgement,
					   const sp_words *words, char reason[SP_REASON_SIZE]);

#endif							/* SP_REASON_H */
