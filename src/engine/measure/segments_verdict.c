/*-------------------------------------------------------------------------
 *
 * segments_verdict.c
 *		The verdict of the suite segments.
 *
 * Two questions are judged as methods are: is another kind of segment worth a switch, and
 * is another kind of those that are created?
 *
 *-------------------------------------------------------------------------
 */
#include "engine/measure/segments_internal.h"

#include <string.h>

bool
sp_segments_judge(const sp_probe *probe, sp_segment_part part, sp_comparison *comparison,
				  sp_judgement *judgement)
{
	memset(comparison, 0, sizeof(*comparison));
	comparison->current = -1;
	comparison->margin = probe->margin;
	for (int c = 0; c < probe->ncases; c++)
	{
		const sp_test_case *test_case = &probe->cases[c];
		sp_contender *contender = &comparison->contenders[comparison->count];

		if (test_case->part != part || !test_case->contender)
			continue;
		contender->name = test_case->label;
		contender->durable = SP_DURABLE_UNKNOWN;
		contender->speed = probe->results[c].speed;
		if (test_case->baseline == c)
			comparison->current = comparison->count;
		comparison->count++;
	}
	if (comparison->current < 0)
		return false;
	sp_judge(comparison, judgement);
	return true;
}

bool
sp_segments_are_settled(const sp_probe *probe)
{
	sp_comparison comparison;
	sp_judgement judgement;

	return sp_segments_judge(probe, SP_WHOLE_SEGMENT, &comparison, &judgement) &&
		sp_is_settled(&comparison, &judgement) &&
		sp_segments_judge(probe, SP_NEW_SEGMENT, &comparison, &judgement) &&
		sp_is_settled(&comparison, &judgement);
}
