/*-------------------------------------------------------------------------
 *
 * segments_verdict.c
 *		When the suite segments has seen enough.
 *
 * Two questions are judged as methods are: is another kind of segment worth a switch, and
 * is another kind of those that are created?  Their one figure takes the place of both
 * regimes.  Where the disk is busy with others, kinds may differ by what these do: on a busy
 * disk a kind was seen twice as fast that is half as fast on a quiet one.  So the noise is
 * taken out, see sp_take_out_noise().
 *
 *-------------------------------------------------------------------------
 */
#include "engine/measure/segments_internal.h"

#include <math.h>
#include <string.h>

/* Fill in the kinds of a part.  Returns false if there is nothing to compare. */
static bool
compare_kinds(const sp_probe *probe, sp_segment_part part, sp_comparison *comparison)
{
	memset(comparison, 0, sizeof(*comparison));
	comparison->current = -1;
	comparison->margin = probe->margin;
	comparison->pace = (sp_pace) {NAN, NAN, NAN};
	for (int c = 0; c < probe->ncases; c++)
	{
		const sp_test_case *test_case = &probe->cases[c];
		sp_contender *contender = &comparison->contenders[comparison->count];

		if (test_case->part != part || !test_case->contender)
			continue;
		contender->name = test_case->label;
		contender->durable = SP_DURABLE_UNKNOWN;
		for (int r = 0; r < SP_REGIMES; r++)
			contender->speed[r] = probe->results[c].speed;
		if (test_case->baseline == c)
			comparison->current = comparison->count;
		comparison->count++;
	}
	if (comparison->current < 0)
		return false;
	sp_take_out_noise(comparison);
	sp_classify(comparison);
	return true;
}

bool
sp_segments_judge(const sp_probe *probe, sp_segment_part part, sp_judgement *judgement,
				  const char **recommended)
{
	sp_comparison comparison;

	*recommended = NULL;
	if (!compare_kinds(probe, part, &comparison))
		return false;
	sp_judge(&comparison, judgement);
	if (judgement->verdict == SP_SWITCH)
		*recommended = comparison.contenders[judgement->recommended].name;
	return judgement->by_exclusion || sp_judgement_settled(&comparison, judgement);
}

static bool
is_settled(const sp_probe *probe)
{
	sp_judgement judgement;
	const char *recommended;

	return sp_segments_judge(probe, SP_WHOLE_SEGMENT, &judgement, &recommended) &&
		sp_segments_judge(probe, SP_NEW_SEGMENT, &judgement, &recommended);
}

static void
analyze_kinds(sp_probe *probe)
{
	probe->analyses[SP_SATURATED]++;
	sp_compute_speeds(probe, SP_SATURATED);
	probe->callbacks.analysis_done(probe->callbacks.context, SP_SATURATED);
}

void
sp_segments_analyze_when_due(sp_probe *probe)
{
	if (probe->entries[SP_SATURATED] < sp_analysis_entries(probe->analyses[SP_SATURATED] + 1))
		return;
	analyze_kinds(probe);
	probe->done = probe->stop_early && is_settled(probe);
}

void
sp_segments_analyze_rest(sp_probe *probe)
{
	int64_t		entries = probe->entries[SP_SATURATED];
	int			analyses = probe->analyses[SP_SATURATED];

	/* a settled verdict keeps the intervals that settled it */
	if (!probe->done && entries > 0 &&
		(analyses == 0 || entries > sp_analysis_entries(analyses)))
		analyze_kinds(probe);
}
