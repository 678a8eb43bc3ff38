/*-------------------------------------------------------------------------
 *
 * cleanup_function.c
 *		sync_probe.cleanup(): remove what dead processes left.
 *
 * It must not: touch what belongs to one that lives.  Files and directories are
 * safe since this backend is the only probe of the cluster meanwhile; schemas
 * are, since the process that is to drop one holds a lock until it exits.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "storage/latch.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/timeout.h"

#include "probe/probe.h"
#include "workload/workload.h"

/*
 * Anybody may hold locks on the tables of a schema, and let go of one shortly before
 * the wait for it is over.  So there is a limit for all of them together, too.
 */
#define LOCK_TIMEOUT		"1 s"
#define SCHEMAS_MAX_S		10

PG_FUNCTION_INFO_V1(sync_probe_cleanup);

/* What became of the schemas. */
typedef struct schemas
{
	int			dropped;
	int			left;
	const char *first_left;
	const ErrorData *first_error;	/* NULL: there was no time for it */
} schemas;

static volatile sig_atomic_t is_dropping = false;
static volatile sig_atomic_t is_out_of_time = false;

/* Of a timer.  What it cancels is the drop, not the caller's statement. */
static void
cancel_drop(void)
{
	if (!is_dropping)
		return;
	is_out_of_time = true;
	QueryCancelPending = true;
	InterruptPending = true;
	SetLatch(MyLatch);
}

static TimeoutId
drop_timer(void)
{
	static TimeoutId timer = MAX_TIMEOUTS;

	if (timer == MAX_TIMEOUTS)
		timer = RegisterTimeout(USER_TIMEOUT, cancel_drop);
	return timer;
}

static void
note_left(schemas *schemas, const char *name, const ErrorData *error)
{
	if (schemas->left++ > 0)
		return;
	schemas->first_left = name;
	schemas->first_error = error;
}

/* Count it, unless the error is that we are to stop. */
static void
note_error(schemas *schemas, const char *name, ErrorData *error)
{
	bool		is_canceled = error->sqlerrcode == ERRCODE_QUERY_CANCELED;

	if (is_canceled && !is_out_of_time)
		ReThrowError(error);
	note_left(schemas, name, is_canceled ? NULL : error);
}

/*
 * One in a subtransaction of its own: that somebody holds a lock on it, or that it
 * is too large for one transaction, must not keep the others.
 */
static void
drop_leftover(schemas *schemas, const char *name)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	ErrorData  *volatile error = NULL;
	volatile bool is_left = false;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		/* or a process that lives will drop it */
		is_left = sp_schema_lock(sp_schema_id(name), false);
		is_dropping = true;
		if (is_left)
			sp_schema_drop(name);
		is_dropping = false;
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		is_dropping = false;
		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
	if (error)
		note_error(schemas, name, error);
	else if (is_left)
		schemas->dropped++;
}

static void
warn_about_left(const schemas *schemas)
{
	const ErrorData *error = schemas->first_error;

	ereport(WARNING,
			(errcode(error ? error->sqlerrcode : ERRCODE_LOCK_NOT_AVAILABLE),
			 errmsg_plural("%d schema of a workload could not be dropped",
						   "%d schemas of workloads could not be dropped",
						   schemas->left, schemas->left),
			 errdetail("The first is \"%s\": %s", schemas->first_left,
					   error ? error->message : "there was no time left"),
			 errhint("Call sync_probe.cleanup() again when nobody uses their tables. It waits " LOCK_TIMEOUT " for a lock, and %d s in all. One that is too large for a transaction goes with the next workload that its owner runs.",
					 SCHEMAS_MAX_S)));
}

/*
 * The schemas of this database that runs left whose processes are gone, and that
 * the current user may drop.  Returns how many were.
 */
static int
drop_leftover_schemas(void)
{
	int			nest_level = NewGUCNestLevel();
	schemas		schemas = {0};
	ListCell   *cell;

	/* or the user reads what "drop cascades to" */
	(void) set_config_option("client_min_messages", "warning", PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
	(void) set_config_option("lock_timeout", LOCK_TIMEOUT, PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
	sp_spi_connect();
	is_out_of_time = false;
	enable_timeout_after(drop_timer(), SCHEMAS_MAX_S * 1000);
	foreach(cell, sp_schema_leftovers(false, CurrentMemoryContext))
	{
		if (get_timeout_indicator(drop_timer(), false))
			note_left(&schemas, lfirst(cell), NULL);
		else
			drop_leftover(&schemas, lfirst(cell));
	}
	disable_timeout(drop_timer(), false);
	AtEOXact_GUC(true, nest_level);
	if (schemas.left > 0)
		warn_about_left(&schemas);
	SPI_finish();
	return schemas.dropped;
}

/*
 * Returns how many files, directories and schemas were removed.  On a standby and in a
 * read-only transaction schemas stay.
 */
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
	removed += sp_temp_directory_sweep();
	if (sp_record_possible())
		removed += drop_leftover_schemas();
	sp_cluster_lock_release();
	PG_RETURN_INT32(removed);
}
