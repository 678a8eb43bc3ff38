/*-------------------------------------------------------------------------
 *
 * commit_suite.c
 *		The suite commit of sync_probe.probe(): real WAL, and the server's group commit.
 *
 *-------------------------------------------------------------------------
 */
#include "probe/probe.h"

#include <math.h>

#include "funcapi.h"
#include "miscadmin.h"
#include "utils/guc.h"

#include "compat.h"

static void
tell_if_few_rounds(const sp_commit_run *run, const sp_commit_values *values)
{
	double		rounds = values->setting.rounds;
	double		seconds = run->measured_us / 1e6;

	if (values->count == 0 || rounds >= SP_MIN_SAMPLES)
		return;
	/* ended before its time: the reason was said */
	ereport(NOTICE,
			(errmsg("too few rounds for a verdict on %s: %d of %d",
					values->setting.setting, values->setting.rounds, SP_MIN_SAMPLES),
			 run->ended_early || rounds == 0 ? 0 :
			 errhint("Use a duration of at least %.0f s.",
					 ceil(seconds * (SP_MIN_SAMPLES + 1) / rounds))));
}

/* commit_delay acts only while commit_siblings other transactions are active. */
static void
tell_if_few_workers(const sp_commit_run *run)
{
	int			siblings = atoi(GetConfigOption("commit_siblings", false, false));

	if (run->delays.count > 0 && run->workers <= siblings)
		ereport(NOTICE,
				(errmsg_plural("commit_delay has no effect with fewer than commit_siblings (%d) other transactions; %d worker is too few by itself",
							   "commit_delay has no effect with fewer than commit_siblings (%d) other transactions; %d workers are too few by themselves",
							   run->workers, siblings, run->workers),
				 errhint("Use workers => %d or more.", siblings + 1)));
}

static int64
new_run_id(FunctionCallInfo fcinfo)
{
	if (!PG_GETARG_BOOL(SP_ARG_RECORD) || !sp_record_or_tell())
		return 0;
	return sp_history_next_id("runs_run_id_seq");
}

/* The arguments of probe(), whose suite is commit. */
Datum
sp_commit_suite(FunctionCallInfo fcinfo)
{
	sp_commit_run *run = sp_commit_plan(fcinfo);
	sp_device_facts facts = {0};
	sp_progress *progress;

	sp_commit_checks();
	InitMaterializedSRF(fcinfo, 0);
	progress = sp_cluster_lock_acquire(NameStr(run->location.name), SP_COMMIT_SUITE,
									   run->duration_us);
	run->started_at = GetCurrentTimestamp();
	sp_progress_set_phase("examining storage");
	sp_storage_examine(&run->location, &run->storage, &facts);
	sp_commit_rounds(run, progress);
	run->finished_at = GetCurrentTimestamp();
	tell_if_few_workers(run);
	tell_if_few_rounds(run, &run->methods);
	tell_if_few_rounds(run, &run->delays);
	sp_progress_set_phase("recording");
	sp_process_reload();
	sp_commit_record(run, new_run_id(fcinfo), (ReturnSetInfo *) fcinfo->resultinfo);
	sp_cluster_lock_release();
	return (Datum) 0;
}
