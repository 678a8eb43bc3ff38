/*-------------------------------------------------------------------------
 *
 * cleanup_function.c
 *		sync_probe.cleanup(): remove what processes that have ended left behind.
 *
 * It must not: touch anything that belongs to a running process.  This backend holds the
 * cluster lock, so that no probe and no workload has files, directories or schemas.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "executor/spi.h"
#include "storage/proc.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

#include "probe/probe.h"
#include "trial/trial.h"
#include "workload/workload.h"

/*
 * Any role can hold locks on the tables of a schema, and release each shortly before the
 * wait for it ends.  So cleanup() hardly waits.
 */
#define LOCK_TIMEOUT		"10 ms"

/*
 * Drop one schema in a subtransaction.  If it is locked or too large for one
 * transaction, the other schemas can still be dropped.  Returns the error, or NULL.
 */
static ErrorData *
drop_leftover(const char *name, int *dropped)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	ErrorData  *volatile error = NULL;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		sp_schema_drop(name);
		ReleaseCurrentSubTransaction();
		++*dropped;
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
	if (error && error->sqlerrcode == ERRCODE_QUERY_CANCELED)
		ReThrowError(error);
	return error;
}

/*
 * Drop the leftover schemas of this database that the current user may drop.
 * Returns their number.
 */
static int
drop_leftover_schemas(void)
{
	int			nest_level = NewGUCNestLevel();
	int			dropped = 0;
	int			left = 0;
	const char *first_left = NULL;
	ErrorData  *first_error = NULL;
	ListCell   *cell;

	/* suppress the NOTICE "drop cascades to" */
	(void) set_config_option("client_min_messages", "warning", PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
	if (LockTimeout == 0)
		(void) set_config_option("lock_timeout", LOCK_TIMEOUT, PGC_USERSET, PGC_S_SESSION,
								 GUC_ACTION_SAVE, true, 0, false);
	foreach(cell, sp_schema_leftovers(false))
	{
		ErrorData  *error = drop_leftover(lfirst(cell), &dropped);

		if (error && left++ == 0)
		{
			first_left = lfirst(cell);
			first_error = error;
		}
	}
	AtEOXact_GUC(true, nest_level);
	if (left > 0)
		ereport(WARNING,
				(errcode(first_error->sqlerrcode),
				 errmsg_plural("%d schema of a workload could not be dropped",
							   "%d schemas of workloads could not be dropped", left, left),
				 errdetail("The first is \"%s\": %s", first_left, first_error->message),
				 errhint("Call sync_probe.cleanup() again when no session uses their tables. It waits " LOCK_TIMEOUT " for a lock unless lock_timeout is set. A schema that is too large for one transaction is dropped when its owner runs the next workload.")));
	return dropped;
}

/*
 * Returns the number of files, directories and schemas that were removed, and of settings
 * that were restored.  On a standby and in a read-only transaction, schemas are not
 * dropped.
 */
PG_FUNCTION_INFO_V1(sync_probe_cleanup);
Datum
sync_probe_cleanup(PG_FUNCTION_ARGS)
{
	int			removed = 0;
	ListCell   *cell;

	sp_check_circumstances("clean up");
	sp_cluster_lock_acquire("", "", 0);
	sp_progress_set_phase("cleaning up");
	foreach(cell, sp_location_list())
		removed += sp_probe_files_sweep(lfirst(cell));
	/* after what cannot fail */
	removed += sp_trial_cleanup();
	if (sp_record_possible())
		removed += drop_leftover_schemas();
	sp_cluster_lock_release();
	PG_RETURN_INT32(removed);
}
