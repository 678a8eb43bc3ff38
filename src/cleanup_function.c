/*-------------------------------------------------------------------------
 *
 * cleanup_function.c
 *		sync_probe.cleanup(): remove what processes that have ended left behind.
 *
 * It must not: touch anything that belongs to a running process.  Files and
 * directories are safe because this backend holds the cluster lock.  Schemas are safe
 * because the process that owns a schema holds its lock until it exits.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "storage/latch.h"
#include "storage/proc.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/timeout.h"

#include "probe/probe.h"
#include "trial/trial.h"
#include "workload/workload.h"

/*
 * Any role can hold locks on the tables of a schema, and release each shortly before the
 * wait for it ends.  So the sum of all waits has a limit, too.
 */
#define LOCK_TIMEOUT		"1 s"
#define SCHEMAS_MAX_S		10

/* The result for all schemas. */
typedef struct schemas
{
	int			dropped;
	int			left;
	const char *first_left;
	const ErrorData *first_error;	/* NULL: no time was left for it */
} schemas;

static volatile sig_atomic_t is_dropping = false;

/* The timer calls this.  It cancels a drop, but not the statement of the caller. */
static void
cancel_drop(void)
{
	if (!is_dropping)
		return;
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

static bool
is_out_of_time(void)
{
	return get_timeout_indicator(drop_timer(), false);
}

static void
note_left(schemas *schemas, const char *name, const ErrorData *error)
{
	if (schemas->left++ > 0)
		return;
	schemas->first_left = name;
	schemas->first_error = error;
}

/* Count the error, unless it is a cancel of this query. */
static void
note_error(schemas *schemas, const char *name, ErrorData *error)
{
	bool		is_canceled = error->sqlerrcode == ERRCODE_QUERY_CANCELED;

	if (is_canceled && !is_out_of_time())
		ReThrowError(error);
	note_left(schemas, name, is_canceled ? NULL : error);
}

/*
 * Drop one schema in a subtransaction.  If it is locked or too large for one
 * transaction, the other schemas can still be dropped.
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
		/* if the lock is held, a running process will drop the schema */
		is_left = sp_schema_lock(sp_schema_id(name), false);
		is_dropping = true;
		/* the timer fires only once, and may have done so just before */
		if (is_out_of_time())
			cancel_drop();
		if (is_left)
			sp_schema_drop(name);
		is_dropping = false;
		/* serve a late cancel of the timer here, not in the caller's statement */
		CHECK_FOR_INTERRUPTS();
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		is_dropping = false;
		if (is_out_of_time())
			QueryCancelPending = false;
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
					   error ? error->message : "no time was left"),
			 errhint("Call sync_probe.cleanup() again when no session uses their tables. It waits " LOCK_TIMEOUT " for a lock unless lock_timeout is set, and %d s in all. A schema that is too large for one transaction is dropped when its owner runs the next workload.",
					 SCHEMAS_MAX_S)));
}

/*
 * Drop the leftover schemas of this database that the current user may drop.
 * Returns their number.
 */
static int
drop_leftover_schemas(void)
{
	int			nest_level = NewGUCNestLevel();
	schemas		schemas = {0};
	ListCell   *cell;

	/* suppress the NOTICE "drop cascades to" */
	(void) set_config_option("client_min_messages", "warning", PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
	if (LockTimeout == 0)
		(void) set_config_option("lock_timeout", LOCK_TIMEOUT, PGC_USERSET, PGC_S_SESSION,
								 GUC_ACTION_SAVE, true, 0, false);
	sp_spi_connect();
	enable_timeout_after(drop_timer(), SCHEMAS_MAX_S * 1000);
	foreach(cell, sp_schema_leftovers(false))
	{
		if (is_out_of_time())
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
	removed += sp_temp_directory_sweep();
	/* after what cannot fail */
	removed += sp_trial_cleanup();
	if (sp_record_possible())
		removed += drop_leftover_schemas();
	sp_cluster_lock_release();
	PG_RETURN_INT32(removed);
}
