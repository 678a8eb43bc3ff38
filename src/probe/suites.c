/*-------------------------------------------------------------------------
 *
 * suites.c
 *		The suites of sync_probe.probe(): the verdict of wal on the methods, one of segments for
 *		each part, and the table of all.
 *
 *-------------------------------------------------------------------------
 */
#include "probe/probe.h"

#include "engine/measure/segments.h"

/* ---------------------------------------------------------------------- wal */

static void
put_method(sp_row *row, const sp_probe *probe, int c)
{
	const sp_test_case *test_case = &probe->cases[c];

	if (!test_case->candidate || !probe->judged)
		return;
	if (test_case->baseline != c)
		sp_put_recommended(row, &probe->comparison, &probe->judgement, test_case->label);
	else if (test_case->regime == probe->deciding)
		sp_row_put_text(row, "verdict", sp_verdict_names[probe->judgement.verdict]);
}

/* Three times the default duration. */
#define LEAST_S		15

static void
put_method_verdict(sp_row *row, const sp_run *run)
{
	const sp_probe *probe = run->probe;
	const sp_comparison *comparison = &probe->comparison;
	char		reason[SP_REASON_SIZE];

	if (!probe->judged)
		return;
	sp_probe_explain(probe, reason);
	sp_put_judgement(row, "wal_sync_method", comparison, &probe->judgement, sp_valid_text(reason),
					 probe->duration_ns / 1000, LEAST_S);
	sp_row_put_text(row, "durable", comparison->fsync_off ? sp_durable_names[SP_DURABLE_NO] :
					sp_durable_names[comparison->candidates[comparison->current].durable]);
}

/* ----------------------------------------------------------------- segments */

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
		sp_row_put_text(row, "verdict", sp_verdict_names[judgement.verdict]);
	else
		sp_put_recommended(row, &kinds, &judgement, test_case->label);
}

/* ---------------------------------------------------------------- the table */

#define SP_SUITE(id, ...)		{.name = #id, .engine = &sp_suite_##id, __VA_ARGS__},

const sp_probe_suite sp_probe_suites[] = {
#include "engine/measure/suitelist.h"
	{
		.name = SP_COMMIT_SUITE,
		.measure = sp_commit_suite,
		.refused = SP_REFUSE(SP_ARG_DUTY_CYCLE),
		.refused_hint = "Use a longer flush_interval or fewer workers for less load."
	},
	{.name = NULL}
};
