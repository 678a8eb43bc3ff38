/*-------------------------------------------------------------------------
 *
 * progress.c
 *		sync_probe.running: the progress of the probe or workload of the cluster.
 *
 * It must not: wait for the other process, or change its progress.
 *
 *-------------------------------------------------------------------------
 */
#include "common/common.h"

#include <math.h>

#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

bool
sp_progress_is_workload(const sp_progress *progress)
{
	return NameStr(progress->workload)[0] != '\0' && !sp_progress_is_trial(progress);
}

bool
sp_progress_is_trial(const sp_progress *progress)
{
	return strcmp(NameStr(progress->suite), SP_TRIAL_SUITE) == 0;
}

/* The share of the transactions or of the time that is done. */
static double
share_done(const sp_progress *progress)
{
	double		done = 0;

	if (progress->measuring_since == 0)
		return 0;
	if (progress->planned_transactions > 0)
		done = (double) progress->transactions / progress->planned_transactions;
	else if (progress->duration_us > 0)
		done = (double) (GetCurrentTimestamp() - progress->measuring_since) / progress->duration_us;
	return Min(done, 1);
}

/*
 * sync_probe_internal.running(): one row for the probe or workload that runs, if one does.
 */
PG_FUNCTION_INFO_V1(sync_probe_running);
Datum
sync_probe_running(PG_FUNCTION_ARGS)
{
#define RUNNING_COLUMNS 7
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	Datum		values[RUNNING_COLUMNS] = {0};
	bool		nulls[RUNNING_COLUMNS] = {0};
	sp_progress progress;
	bool		published;
	int			i = 0;

	InitMaterializedSRF(fcinfo, 0);
	if (sp_cluster_lock_holder(&progress, &published) == 0 || !published)
		return (Datum) 0;

	values[i++] = Int32GetDatum(progress.pid);
	values[i++] = NameGetDatum(&progress.location);
	values[i++] = CStringGetTextDatum(NameStr(progress.suite));
	nulls[i] = NameStr(progress.workload)[0] == '\0';
	values[i++] = NameGetDatum(&progress.workload);
	values[i++] = CStringGetTextDatum(NameStr(progress.phase));
	values[i++] = TimestampTzGetDatum(progress.started_at);
	values[i++] = Float8GetDatum(round(share_done(&progress) * 1000) / 10);
	Assert(i == RUNNING_COLUMNS);
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	return (Datum) 0;
}
