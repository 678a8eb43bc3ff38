/*-------------------------------------------------------------------------
 *
 * cluster_lock.c
 *		The cluster lock: one probe or workload at a time in the cluster.
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
#include "commands/extension.h"
#include "miscadmin.h"
#include "storage/dsm.h"
#include "storage/lock.h"
#include "utils/builtins.h"

/* "sync" in ASCII: distinguishes our tags from other advisory locks */
#define TAG_MAGIC		0x73796e63

/*
 * The last field of a tag.  pg_advisory_lock() uses 1 and 2, so keys of users cannot
 * collide with ours.
 */
#define TAG_MUTEX		11
#define TAG_PROGRESS	12
#define TAG_SCHEMA		13
#define TAG_TRIAL		14

/* The progress of this backend; it is detached at the end of the transaction. */
static dsm_segment *segment;

/* The extension, locked until the end of the transaction. */
static LOCKTAG extension_tag;

static void
set_tag(LOCKTAG *tag, uint32 handle, uint16 kind)
{
	SET_LOCKTAG_ADVISORY(*tag, InvalidOid, TAG_MAGIC, handle, kind);
}

/* Read the progress that a backend has published; false if it no longer exists. */
static bool
read_progress(dsm_handle handle, sp_progress *progress)
{
	dsm_segment *mapped = dsm_find_mapping(handle);
	bool		attach = mapped == NULL;

	if (attach)
		mapped = dsm_attach(handle);
	if (mapped == NULL)
		return false;
	memcpy(progress, dsm_segment_address(mapped), sizeof(*progress));
	if (attach)
		dsm_detach(mapped);
	return true;
}

/*
 * The process that holds the cluster lock; 0 if there is none.  If it has published its
 * progress, set *published and fill *progress.
 */
int
sp_cluster_lock_holder(sp_progress *progress, bool *published)
{
	LockData   *locks = GetLockStatusData();
	int			pid = 0;

	*published = false;
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
			*published = read_progress(tag->locktag_field3, progress);
	}
	return pid;
}

/* A cleanup concerns all locations, and has no location in its progress. */
static bool
is_cleanup(const sp_progress *progress)
{
	return NameStr(progress->location)[0] == '\0';
}

/* Describe the work of the process that holds the lock. */
static char *
describe_holder(int pid, const sp_progress *progress)
{
	const char *since = timestamptz_to_str(progress->started_at);

	if (is_cleanup(progress))
		return psprintf("Process %d has been cleaning up since %s.", pid, since);
	if (sp_progress_is_workload(progress))
		return psprintf("Process %d has been running workload \"%s\" in tablespace \"%s\" since %s.",
						pid, NameStr(progress->workload), NameStr(progress->location), since);
	if (sp_progress_is_trial(progress))
		return psprintf("Process %d has been trying values of a setting since %s.", pid, since);
	return psprintf("Process %d has been probing location \"%s\" since %s.",
					pid, NameStr(progress->location), since);
}

static void
complain_about_holder(void)
{
	sp_progress progress;
	bool		published;
	int			pid = sp_cluster_lock_holder(&progress, &published);

	/* it may have finished since; then the caller only needs to try again */
	ereport(ERROR,
			(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
			 pid == 0 || !published ? errmsg("another probe, workload or cleanup is running in this cluster") :
			 is_cleanup(&progress) ? errmsg("a cleanup is running in this cluster") :
			 sp_progress_is_workload(&progress) ? errmsg("a workload is running in this cluster") :
			 sp_progress_is_trial(&progress) ? errmsg("a trial is running in this cluster") :
			 errmsg("another probe is running in this cluster"),
			 pid == 0 ? 0 :
			 !published ? errdetail("Process %d holds the lock.", pid) :
			 errdetail_internal("%s", describe_holder(pid, &progress)),
			 errhint("Only one of them can run at a time. Wait until it ends (see sync_probe.running), or cancel it with pg_cancel_backend().")));
}

static void
complain_about_drop(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_QUERY_CANCELED),
			 errmsg("canceling statement because the extension is being dropped")));
}

/*
 * DROP EXTENSION locks the extension before anything that belongs to it.  So it waits
 * here for the end of a run, and not with a lock on a table that the run needs for its
 * record, while the run has one on another: that would be a deadlock.  Never waits.
 */
static void
lock_extension(void)
{
	SET_LOCKTAG_OBJECT(extension_tag, MyDatabaseId, ExtensionRelationId,
					   get_extension_oid("pg_sync_probe", false), 0);
	if (LockAcquire(&extension_tag, AccessShareLock, false, true) == LOCKACQUIRE_NOT_AVAIL)
		complain_about_drop();
}

/* Throw an error if DROP EXTENSION waits for this run. */
void
sp_yield_to_drop(void)
{
	if (LockHasWaiters(&extension_tag, AccessShareLock, false))
		complain_about_drop();
}

/*
 * Acquire the cluster lock, or throw an error (55P03).  Returns the published progress,
 * which the caller updates.
 */
sp_progress *
sp_cluster_lock_acquire(const char *location, const char *suite, int64 duration_us)
{
	LOCKTAG		tag;
	sp_progress *progress;

	/* this backend may hold it: a trigger on the history may probe, for example */
	set_tag(&tag, 0, TAG_MUTEX);
	if (LockAcquire(&tag, ExclusiveLock, false, true) != LOCKACQUIRE_OK)
		complain_about_holder();
	lock_extension();

	segment = dsm_create(sizeof(sp_progress), 0);
	progress = dsm_segment_address(segment);
	memset(progress, 0, sizeof(*progress));
	progress->pid = MyProcPid;
	namestrcpy(&progress->location, location);
	namestrcpy(&progress->suite, suite);
	namestrcpy(&progress->phase, "starting");
	progress->started_at = GetCurrentTimestamp();
	progress->duration_us = duration_us;

	set_tag(&tag, dsm_segment_handle(segment), TAG_PROGRESS);
	(void) LockAcquire(&tag, ExclusiveLock, false, true);
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
	LOCKTAG		tag;

	set_tag(&tag, dsm_segment_handle(segment), TAG_PROGRESS);
	LockRelease(&tag, ExclusiveLock, false);
	dsm_detach(segment);
	segment = NULL;
	set_tag(&tag, 0, TAG_MUTEX);
	LockRelease(&tag, ExclusiveLock, false);
}

/* -------------------------------------------------- the schemas of workloads */

/*
 * Lock the schema with this ID in its name, until the end of the transaction or of the
 * session.  The process that owns a schema holds its lock until it exits.  Never waits;
 * false if another process holds the lock.
 */
bool
sp_schema_lock(uint32 schema_id, bool session)
{
	LOCKTAG		tag;

	set_tag(&tag, schema_id, TAG_SCHEMA);
	return LockAcquire(&tag, ExclusiveLock, session, true) != LOCKACQUIRE_NOT_AVAIL;
}

/* Release the lock of the session. */
void
sp_schema_unlock(uint32 schema_id)
{
	LOCKTAG		tag;

	set_tag(&tag, schema_id, TAG_SCHEMA);
	LockRelease(&tag, ExclusiveLock, true);
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
	LOCKTAG		tag;

	set_tag(&tag, 0, TAG_TRIAL);
	return LockAcquire(&tag, ExclusiveLock, false, !wait) != LOCKACQUIRE_NOT_AVAIL;
}

void
sp_trial_unlock(void)
{
	LOCKTAG		tag;

	set_tag(&tag, 0, TAG_TRIAL);
	LockRelease(&tag, ExclusiveLock, false);
}
