/*-------------------------------------------------------------------------
 *
 * cluster_lock.c
 *		The cluster lock, for one probe or workload at a time in the cluster, and
 *		sync_probe.running, its progress.
 *
 * Two concurrent probes would disturb each other.  The lock is an advisory lock with
 * database 0.  It works across databases and on a standby, shows in pg_locks, and ends
 * with the transaction.
 *
 * The progress is in a dynamic shared memory segment.  A second advisory lock publishes
 * its handle.  So the library need not be preloaded, and nothing is left behind: locks
 * and segments belong to the resource owner.
 *
 *-------------------------------------------------------------------------
 */
#include "common/common.h"

#include "catalog/pg_extension.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "storage/proc.h"
#include "storage/procarray.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

/* "sync" in ASCII: distinguishes our tags from other advisory locks */
#define TAG_MAGIC		0x73796e63

/*
 * The last field of a tag.  pg_advisory_lock() uses 1 and 2, so keys of users cannot
 * collide with ours.
 */
#define TAG_MUTEX		11
#define TAG_PROGRESS	12
#define TAG_TRIAL		14

/* The progress of this backend; it is detached at the end of the transaction. */
static dsm_segment *segment;

/* The extension, locked until the end of the transaction, if that could be had at once. */
static LOCKTAG extension_tag;
static bool extension_is_locked;

static LockAcquireResult
acquire(uint32 handle, uint16 kind, bool wait)
{
	LOCKTAG		tag;

	SET_LOCKTAG_ADVISORY(tag, InvalidOid, TAG_MAGIC, handle, kind);
	return LockAcquire(&tag, ExclusiveLock, false, !wait);
}

static void
release(uint32 handle, uint16 kind)
{
	LOCKTAG		tag;

	SET_LOCKTAG_ADVISORY(tag, InvalidOid, TAG_MAGIC, handle, kind);
	LockRelease(&tag, ExclusiveLock, false);
}

/* Read the progress that a backend has published, if it still exists. */
static void
read_progress(dsm_handle handle, sp_progress *progress)
{
	dsm_segment *mapped = dsm_find_mapping(handle);
	bool		attach = mapped == NULL;

	if (attach)
		mapped = dsm_attach(handle);
	if (mapped == NULL)
		return;
	memcpy(progress, dsm_segment_address(mapped), sizeof(*progress));
	if (attach)
		dsm_detach(mapped);
}

/* The process that holds the cluster lock, or 0; *progress is all zero if it is not published. */
static int
find_holder(sp_progress *progress)
{
	LockData   *locks = GetLockStatusData();
	int			pid = 0;

	memset(progress, 0, sizeof(*progress));
	for (int i = 0; i < locks->nelements; i++)
	{
		const LockInstanceData *lock = &locks->locks[i];
		const LOCKTAG *tag = &lock->locktag;

		if (tag->locktag_type != LOCKTAG_ADVISORY || tag->locktag_field1 != InvalidOid ||
			tag->locktag_field2 != TAG_MAGIC || lock->holdMask == 0)
			continue;
		if (tag->locktag_field4 == TAG_MUTEX)
			pid = lock->pid;
		else if (tag->locktag_field4 == TAG_PROGRESS)
			read_progress(tag->locktag_field3, progress);
	}
	return pid;
}

static void
complain_about_holder(void)
{
	sp_progress progress;
	int			pid = find_holder(&progress);
	bool		published = progress.started_at != 0;

	/* it may have finished since; then the caller only needs to try again */
	ereport(ERROR,
			(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
			 errmsg("%s is running in this cluster", published ? NameStr(progress.activity) :
					"another probe, workload or cleanup"),
			 pid == 0 ? 0 :
			 !published ? errdetail("Process %d holds the lock.", pid) :
			 NameStr(progress.location)[0] == '\0' ?
			 errdetail("Process %d began it at %s.", pid, timestamptz_to_str(progress.started_at)) :
			 errdetail("Process %d began it in location \"%s\" at %s.", pid,
					   NameStr(progress.location), timestamptz_to_str(progress.started_at)),
			 errhint("Only one probe, trial, workload or cleanup can run at a time. Wait until it ends (see sync_probe.running), or cancel it with pg_cancel_backend().")));
}

/* Throw an error if a role that may drop the extension has its exclusive lock, or waits for it. */
static void
refuse_dropped(void)
{
	const LOCKMASK exclusive = LOCKBIT_ON(AccessExclusiveLock);
	LockData   *locks = GetLockStatusData();

	for (int i = 0; i < locks->nelements; i++)
	{
		const LockInstanceData *lock = &locks->locks[i];
		PGPROC	   *other;

		if (memcmp(&lock->locktag, &extension_tag, sizeof(LOCKTAG)) != 0 ||
			((lock->holdMask | LOCKBIT_ON(lock->waitLockMode)) & exclusive) == 0)
			continue;
		other = BackendPidGetProc(lock->pid);
		if (other && is_member_of_role(other->roleId, sp_history_owner()))
			ereport(ERROR,
					(errcode(ERRCODE_QUERY_CANCELED),
					 errmsg("canceling statement because the extension is being dropped")));
	}
	pfree(locks->locks);
	pfree(locks);
}

/*
 * DROP EXTENSION locks the extension before anything that belongs to it.  So it waits
 * here for the end of a run, and not with a lock on a table that the run needs for its
 * record, while the run has one on another: that would be a deadlock.  Never waits.
 *
 * ALTER FUNCTION ... DEPENDS ON EXTENSION takes the same lock, before it checks privileges: a
 * role that may not drop the extension must not stop a run with it.
 */
static void
lock_extension(void)
{
	SET_LOCKTAG_OBJECT(extension_tag, MyDatabaseId, ExtensionRelationId,
					   get_extension_oid("pg_sync_probe", false), 0);
	extension_is_locked = LockAcquire(&extension_tag, AccessShareLock, false, true) !=
		LOCKACQUIRE_NOT_AVAIL;
	if (!extension_is_locked)
		refuse_dropped();
}

/* Throw an error if DROP EXTENSION waits for this run. */
void
sp_yield_to_drop(void)
{
	if (extension_is_locked && LockHasWaiters(&extension_tag, AccessShareLock, false))
		refuse_dropped();
}

/*
 * Acquire the cluster lock, or throw an error (55P03).  Returns the published progress,
 * which the caller updates.
 */
sp_progress *
sp_cluster_lock_acquire(const char *activity, const char *location, const char *suite,
						int64 duration_us)
{
	sp_progress *progress;

	/* this backend may hold it: a trigger on the history may probe, for example */
	if (acquire(0, TAG_MUTEX, false) != LOCKACQUIRE_OK)
		complain_about_holder();
	lock_extension();

	segment = dsm_create(sizeof(sp_progress), 0);
	progress = dsm_segment_address(segment);
	memset(progress, 0, sizeof(*progress));
	namestrcpy(&progress->activity, activity);
	namestrcpy(&progress->location, location);
	namestrcpy(&progress->suite, suite);
	namestrcpy(&progress->phase, "starting");
	progress->started_at = GetCurrentTimestamp();
	progress->duration_us = duration_us;

	(void) acquire(dsm_segment_handle(segment), TAG_PROGRESS, false);
	return progress;
}

/* Set the phase that sync_probe.running shows. */
void
sp_progress_set_phase(const char *phase)
{
	sp_progress *progress = dsm_segment_address(segment);

	namestrcpy(&progress->phase, phase);
	if (strcmp(phase, "measuring") == 0 || strcmp(phase, "running") == 0)
		progress->measuring_since = GetCurrentTimestamp();
}

/* Release the cluster lock.  After an error the resource owner does this. */
void
sp_cluster_lock_release(void)
{
	release(dsm_segment_handle(segment), TAG_PROGRESS);
	dsm_detach(segment);
	release(0, TAG_MUTEX);
}

/* ---------------------------------------------- the setting that a trial changes */

/*
 * The holder of this lock may restore the setting of a trial: its session while it runs,
 * then the worker that watches it, cleanup() or the next trial.  It ends with the
 * transaction.  False if another process holds it.
 */
bool
sp_trial_lock(bool wait)
{
	return acquire(0, TAG_TRIAL, wait) != LOCKACQUIRE_NOT_AVAIL;
}

void
sp_trial_unlock(void)
{
	release(0, TAG_TRIAL);
}

/* ------------------------------------------------------------ sync_probe.running */

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

/* sync_probe_internal.running(): one row for the probe or workload that runs, if one does. */
PG_FUNCTION_INFO_V1(sync_probe_running);
Datum
sync_probe_running(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	sp_progress progress;
	int			pid = find_holder(&progress);
	sp_row	   *row;

	InitMaterializedSRF(fcinfo, 0);
	if (pid == 0 || progress.started_at == 0)
		return (Datum) 0;

	row = sp_row_make(rsinfo->setDesc);
	sp_row_put_int(row, "pid", INT4OID, pid);
	sp_row_put_name(row, "location", NameStr(progress.location));
	sp_row_put_text(row, "suite", NameStr(progress.suite));
	if (NameStr(progress.workload)[0] != '\0')
		sp_row_put_name(row, "workload", NameStr(progress.workload));
	sp_row_put_text(row, "phase", NameStr(progress.phase));
	sp_row_put(row, "started_at", TIMESTAMPTZOID, TimestampTzGetDatum(progress.started_at));
	sp_row_put_number(row, "percent_done", share_done(&progress) * 100, 1);
	tuplestore_puttuple(rsinfo->setResult, sp_row_form(row));
	return (Datum) 0;
}
