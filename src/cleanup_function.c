/*-------------------------------------------------------------------------
 *
 * cleanup_function.c
 *		sync_probe.cleanup(): remove what dead processes left.
 *
 * It must not: touch what belongs to one that lives.  Files and folders are
 * safe since this backend is the only probe of the cluster meanwhile; schemas
 * are, since who is to drop one holds a lock as long as he lives.
 *
 *-------------------------------------------------------------------------
 */
#include "workload_objects_internal.h"

#include "access/xact.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

#define LOCK_TIMEOUT	"10s"

PG_FUNCTION_INFO_V1(sync_probe_cleanup);

/* It could not be dropped: say why, unless that is that we are to stop. */
static void
warn_or_rethrow(const char *schema, ErrorData *error)
{
	if (error->sqlerrcode == ERRCODE_QUERY_CANCELED)
		ReThrowError(error);
	ereport(WARNING,
			(errcode(error->sqlerrcode),
			 errmsg("could not drop schema \"%s\": %s", schema, error->message),
			 error->detail ? errdetail_internal("%s", error->detail) : 0,
			 errhint("The next run of a workload in this database will try again, in smaller steps.")));
	FreeErrorData(error);
}

/*
 * One in a subtransaction of its own: that somebody holds a lock on it, or that it
 * is too large for one transaction, must not keep the others.
 */
static bool
drop_leftover(const char *schema)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	ErrorData  *volatile error = NULL;

	if (!sp_token_lock(sp_schema_token(schema), false))
		return false;
	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		sp_schema_drop(schema);
		ReleaseCurrentSubTransaction();
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
	if (error)
		warn_or_rethrow(schema, error);
	return error == NULL;
}

/*
 * The schemas of this database that runs left whose processes are gone, and that
 * the current user may drop.  Returns how many were.
 */
static int
drop_leftovers(void)
{
	int			nest_level = NewGUCNestLevel();
	int			dropped = 0;
	ListCell   *cell;

	/* or the user reads what "drop cascades to" */
	(void) set_config_option("client_min_messages", "warning", PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
	(void) set_config_option("lock_timeout", LOCK_TIMEOUT, PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	foreach(cell, sp_schema_leftovers(CurrentMemoryContext))
	{
		if (drop_leftover(lfirst(cell)))
			dropped++;
	}
	SPI_finish();
	AtEOXact_GUC(true, nest_level);
	return dropped;
}

/*
 * Returns how many files, folders and schemas were removed.  On a standby and in a
 * read-only transaction schemas stay.
 */
Datum
sync_probe_cleanup(PG_FUNCTION_ARGS)
{
	int			removed = 0;
	ListCell   *cell;

	sp_check_circumstances("clean up");
	sp_exclusive_begin("", "", 0);
	sp_exclusive_phase("cleaning up");
	foreach(cell, sp_location_list())
		removed += sp_probe_files_sweep(lfirst(cell));
	removed += sp_scratch_sweep();
	if (sp_record_possible())
		removed += drop_leftovers();
	sp_exclusive_end();
	PG_RETURN_INT32(removed);
}
