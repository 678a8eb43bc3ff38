/*-------------------------------------------------------------------------
 *
 * reason.h
 *		A verdict in words.
 *
 * The words are for a DBA: percent instead of ratios, and what to do next.
 *
 * It must not: change a verdict.  verdict.c knows nothing of this file.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_REASON_H
#define SP_REASON_H

#include "engine/verdict/verdict.h"

/* Enough for the names of all methods; a longer reason is cut short. */
#define SP_REASON_SIZE			1024

/*
 * Write the reason of a judgement of this comparison.  Returns how many times as long
 * a probe should take to settle the verdict: infinite if it can hardly do so, NAN if
 * more time is not the question.
 */
extern double sp_explain(const sp_comparison *comparison, const sp_judgement *judgement,
						 char reason[SP_REASON_SIZE]);

#endif							/* SP_REASON_H */
