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
#include "pg_sync_probe.h"

#include <unistd.h>

#include "access/htup_details.h"
#include "funcapi.h"
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
#define TAG_TOKEN		13

PG_FUNCTION_INFO_V1(sync_probe_running);

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
static int
find_holder(sp_progress *progress, bool *published)
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

static bool
is_workload(const sp_progress *progress)
{
	return NameStr(progress->workload)[0] != '\0';
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
	if (is_workload(progress))
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
	int			pid = find_holder(&progress, &published);

	/* it may have finished since: then it is enough to try again */
	ereport(ERROR,
			(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
			 pid == 0 || !published ? errmsg("another probe, workload or cleanup is running in this cluster") :
			 is_cleanup(&progress) ? errmsg("a cleanup is running in this cluster") :
			 is_workload(&progress) ? errmsg("a workload is running in this cluster") :
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
sp_exclusive_begin(const char *location, const char *suite, int64 duration_us)
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
sp_exclusive_phase(const char *phase)
{
	sp_progress *progress = dsm_segment_address(segment);

	namestrcpy(&progress->phase, phase);
	if (strcmp(phase, "measuring") == 0 || strcmp(phase, "running") == 0)
		progress->measuring_since = GetCurrentTimestamp();
}

/* Let the next one in; after an error the resource owner does it. */
void
sp_exclusive_end(void)
{
	LOCKTAG		tag;

	set_tag(&tag, dsm_segment_handle(segment), TAG_PROGRESS);
	LockRelease(&tag, ExclusiveLock, false);
	dsm_detach(segment);
	segment = NULL;
	set_tag(&tag, 0, TAG_MUTEX);
	LockRelease(&tag, ExclusiveLock, false);
}

/* -------------------------------------------------- the objects of workloads */

/*
 * The process that is to drop the objects with this token in their name holds its
 * lock, until the end of the transaction or of the session.  Never waits; false if
 * another process has it.
 */
bool
sp_token_lock(uint32 token, bool session)
{
	LOCKTAG		tag;

	set_tag(&tag, token, TAG_TOKEN);
	return LockAcquire(&tag, ExclusiveLock, session, true) != LOCKACQUIRE_NOT_AVAIL;
}

/* That of the session. */
void
sp_token_unlock(uint32 token)
{
	LOCKTAG		tag;

	set_tag(&tag, token, TAG_TOKEN);
	LockRelease(&tag, ExclusiveLock, true);
}

/* ---------------------------------------------------------- sync_probe.running */

/* Of the time, or of the transactions where these are what ends it. */
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
 * sync_probe._running(): one row for the probe or workload that runs, if one does.
 */
Datum
sync_probe_running(PG_FUNCTION_ARGS)
{
#define RUNNING_COLUMNS 10
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	Datum		values[RUNNING_COLUMNS] = {0};
	bool		nulls[RUNNING_COLUMNS] = {0};
	sp_progress progress;
	bool		published;
	bool		workload;
	int			i = 0;

	InitMaterializedSRF(fcinfo, 0);
	if (find_holder(&progress, &published) == 0 || !published)
		return (Datum) 0;

	workload = is_workload(&progress);
	values[i++] = Int32GetDatum(progress.pid);
	values[i++] = NameGetDatum(&progress.location);
	values[i++] = CStringGetTextDatum(NameStr(progress.suite));
	nulls[i] = !workload;
	values[i++] = NameGetDatum(&progress.workload);
	values[i++] = CStringGetTextDatum(NameStr(progress.phase));
	values[i++] = TimestampTzGetDatum(progress.started_at);
	nulls[i] = workload;
	values[i++] = Int64GetDatum(progress.rounds);
	nulls[i] = !workload;
	values[i++] = Int64GetDatum(progress.transactions);
	values[i++] = Float8GetDatum(share_done(&progress));
	nulls[i] = progress.duration_us == 0;
	values[i++] = Float8GetDatum((double) progress.duration_us / 1e6);
	Assert(i == RUNNING_COLUMNS);
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	return (Datum) 0;
}
