/*-------------------------------------------------------------------------
 *
 * cluster_lock.c
 *		One probe at a time in the cluster, seen by everyone.
 *
 * Two probes at once would measure each other.  The lock is an advisory lock
 * tag with database 0: it works across databases and on a standby, shows in
 * pg_locks, and goes away with the transaction however that ends.
 *
 * How far the probe is lies in a dynamic shared memory segment, whose handle
 * is published as a second lock tag.  So nothing has to be preloaded, and
 * nothing is left behind: locks and segments belong to the resource owner.
 *
 *-------------------------------------------------------------------------
 */
#include "common/common.h"

#include "miscadmin.h"
#include "storage/dsm.h"
#include "storage/lock.h"
#include "utils/builtins.h"

/* "sync", in ASCII: what tells our tags from other advisory locks */
#define TAG_MAGIC		0x73796e63

/*
 * The last field of a tag: pg_advisory_lock() uses 1 and 2, so no user's key
 * can collide with ours.
 */
#define TAG_MUTEX		11
#define TAG_PROGRESS	12
#define TAG_SCHEMA		13

/* Of the probe of this backend; the memory is gone with the transaction. */
static dsm_segment *segment;

static void
set_tag(LOCKTAG *tag, uint32 handle, uint16 kind)
{
	SET_LOCKTAG_ADVISORY(*tag, InvalidOid, TAG_MAGIC, handle, kind);
}

/* Read what another backend (or this one) has published; false if it is gone. */
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
 * The process that holds our lock, 0 if none does; *progress is filled and
 * *published set when it has published how far it is.
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

/* A cleanup goes through all locations and has none of its own. */
static bool
is_cleanup(const sp_progress *progress)
{
	return NameStr(progress->location)[0] == '\0';
}

/* What the process that holds the lock is doing, and since when. */
static char *
describe_holder(int pid, const sp_progress *progress)
{
	const char *since = timestamptz_to_str(progress->started_at);

	if (is_cleanup(progress))
		return psprintf("Process %d has been cleaning up since %s.", pid, since);
	if (sp_progress_is_workload(progress))
		return psprintf("Process %d has been running workload \"%s\" in tablespace \"%s\" since %s.",
						pid, NameStr(progress->workload), NameStr(progress->location), since);
	return psprintf("Process %d has been probing location \"%s\" since %s.",
					pid, NameStr(progress->location), since);
}

static void
complain_about_holder(void)
{
	sp_progress progress;
	bool		published;
	int			pid = sp_cluster_lock_holder(&progress, &published);

	/* it may have finished since: then it is enough to try again */
	ereport(ERROR,
			(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
			 pid == 0 || !published ? errmsg("another probe, workload or cleanup is running in this cluster") :
			 is_cleanup(&progress) ? errmsg("a cleanup is running in this cluster") :
			 sp_progress_is_workload(&progress) ? errmsg("a workload is running in this cluster") :
			 errmsg("another probe is running in this cluster"),
			 pid == 0 ? 0 :
			 !published ? errdetail("Process %d holds the lock.", pid) :
			 errdetail_internal("%s", describe_holder(pid, &progress)),
			 errhint("Only one of them runs at a time. Wait until it ends (see sync_probe.running), or cancel it with pg_cancel_backend().")));
}

/*
 * Become the only probe of the cluster, or error 55P03.  Returns the progress
 * that others see; the caller keeps it up to date.
 */
sp_progress *
sp_cluster_lock_acquire(const char *location, const char *suite, int64 duration_us)
{
	LOCKTAG		tag;
	sp_progress *progress;

	/* held already: a trigger on the history, say, that probes in turn */
	set_tag(&tag, 0, TAG_MUTEX);
	if (LockAcquire(&tag, ExclusiveLock, false, true) != LOCKACQUIRE_OK)
		complain_about_holder();

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

/* The word that sync_probe.running shows. */
void
sp_progress_set_phase(const char *phase)
{
	sp_progress *progress = dsm_segment_address(segment);

	namestrcpy(&progress->phase, phase);
	if (strcmp(phase, "measuring") == 0 || strcmp(phase, "running") == 0)
		progress->measuring_since = GetCurrentTimestamp();
}

/* Let the next one in; after an error the resource owner does it. */
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
 * The process that is to drop the schema with this ID in its name holds its lock,
 * until the end of the transaction or of the session.  Never waits; false if
 * another process has it.
 */
bool
sp_schema_lock(uint32 schema_id, bool session)
{
	LOCKTAG		tag;

	set_tag(&tag, schema_id, TAG_SCHEMA);
	return LockAcquire(&tag, ExclusiveLock, session, true) != LOCKACQUIRE_NOT_AVAIL;
}

/* That of the session. */
void
sp_schema_unlock(uint32 schema_id)
{
	LOCKTAG		tag;

	set_tag(&tag, schema_id, TAG_SCHEMA);
	LockRelease(&tag, ExclusiveLock, true);
}
