/*-------------------------------------------------------------------------
 *
 * suite_wal.c
 *		The suite wal of sync_probe.probe(): the verdict on the methods.
 *
 *-------------------------------------------------------------------------
 */
#include "probe/probe.h"

static void
put_method(sp_row *row, const sp_probe *probe, int c)
{
	const sp_test_case *test_case = &probe->cases[c];

	if (test_case->candidate && probe->judged && test_case->baseline != c)
		sp_put_recommended(row, &probe->comparison, &probe->judgement, test_case->label);
}

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
					 probe->duration_ns / 1000);
	sp_row_put_text(row, "deciding_test", sp_regime_name(probe->deciding));
	sp_row_put_number(row, "flush_us", sp_probe_flush_us(probe), 1);
	sp_row_put_text(row, "durable", comparison->fsync_off ? sp_durable_name(SP_DURABLE_NO) :
					sp_durable_name(comparison->candidates[comparison->current].durable));
	sp_row_put_number(row, "wal_busy", run->profile.wal_busy, 4);
}

const sp_probe_suite sp_probe_suite_wal = {
	.engine = &sp_suite_wal,
	.refused = SP_COMMIT_ARGUMENTS,
	.uses_flush_size = true,
	.put_case = put_method,
	.put_verdict = put_method_verdict
};
