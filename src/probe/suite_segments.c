/*-------------------------------------------------------------------------
 *
 * suite_segments.c
 *		The suite segments of sync_probe.probe(): a verdict for each part.
 *
 *-------------------------------------------------------------------------
 */
#include "probe/probe.h"

#include "engine/measure/segments.h"

static char *
describe_part(const sp_probe *probe, int c)
{
	const sp_segments *segments = probe->data;

	if (!probe->cases[c].candidate)
		return NULL;
	return segments->all_flushes == 1 ? "creation and one flush" :
		psprintf("creation and %d flushes, of which the first %d or more were measured",
				 segments->all_flushes, segments->fewest_flushes);
}

/* A run has two verdicts, each in the row of the current kind of its part. */
static void
put_part(sp_row *row, const sp_probe *probe, int c)
{
	const sp_test_case *test_case = &probe->cases[c];
	sp_comparison kinds;
	sp_judgement judgement;

	if (!test_case->candidate || !sp_segments_judge(probe, test_case->test, &kinds, &judgement))
		return;
	if (test_case->baseline == c)
		sp_row_put_text(row, "verdict", sp_verdict_name(judgement.verdict));
	else
		sp_put_recommended(row, &kinds, &judgement, test_case->label);
}

const sp_probe_suite sp_probe_suite_segments = {
	.engine = &sp_suite_segments,
	.refused = SP_COMMIT_ARGUMENTS | SP_REFUSE(SP_ARG_FLUSH_INTERVAL),
	.refused_hint = "Omit it. For less load use a duty_cycle below 1.",
	.uses_flush_size = true,
	.describe = describe_part,
	.put_case = put_part
};
