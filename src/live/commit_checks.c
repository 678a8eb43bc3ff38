/*-------------------------------------------------------------------------
 *
 * commit_checks.c
 *		When the commit suite must not write WAL.
 *
 * Its WAL goes to the archive and to all standbys.  Where one of them lags behind, more
 * WAL would stay in pg_wal.
 *
 * Where sessions commit, its workers would be a second load beside theirs, and the group
 * commit that it measures would be that of both.
 *
 *-------------------------------------------------------------------------
 */
#include "live/live.h"

#include "access/xlog.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "replication/slot.h"

#include "compat.h"

static void
refuse_now(const char *detail, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("cannot run the commit suite now"),
			 errdetail_internal("%s", detail),
			 errhint("%s", hint)));
}

static void
check_archiving(void)
{
	const PgStat_ArchiverStats *archiver = pgstat_fetch_stat_archiver();

	if (XLogArchivingActive() &&
		archiver->last_failed_timestamp > archiver->last_archived_timestamp)
		refuse_now("The last attempt to archive WAL has failed, see pg_stat_archiver.",
				   "Wait until archiving works again.");
}

/* The name of a slot that retains more WAL than max_wal_size; NULL if there is none. */
static char *
lagging_slot(void)
{
	XLogRecPtr	now = GetXLogInsertRecPtr();
	char	   *name = NULL;

	LWLockAcquire(ReplicationSlotControlLock, LW_SHARED);
	for (int i = 0; i < max_replication_slots && name == NULL; i++)
	{
		ReplicationSlot *slot = &ReplicationSlotCtl->replication_slots[i];
		XLogRecPtr	restart_lsn;

		if (!slot->in_use)
			continue;
		SpinLockAcquire(&slot->mutex);
		restart_lsn = slot->data.restart_lsn;
		SpinLockRelease(&slot->mutex);
		if (restart_lsn != InvalidXLogRecPtr &&
			restart_lsn + max_wal_size_mb * UINT64CONST(1024) * 1024 < now)
			name = pstrdup(NameStr(slot->data.name));
	}
	LWLockRelease(ReplicationSlotControlLock);
	return name;
}

void
sp_commit_checks(void)
{
	char	   *slot;

	if (RecoveryInProgress())
		refuse_now("This server is a standby, which does not write WAL of its own.",
				 "Run it on the primary, or probe with suite 'wal' here.");
	if (!enableFsync)
		refuse_now("fsync is off, so that no method would sync.",
				 "Set fsync = on, or probe with suite 'wal'.");
	check_archiving();
	slot = lagging_slot();
	if (slot)
		refuse_now(psprintf("Replication slot \"%s\" retains more WAL than max_wal_size.", slot),
				 "Wait until its consumer has caught up, or drop the slot.");
}

void
sp_commit_check_load(void)
{
	sp_load_seen seen;

	sp_load_look(&seen);
	if (sp_load_is_seen(&seen))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("suite \"commit\" cannot run beside the load of this server"),
				 errdetail("In %.1f s, %.1f sessions were committing on average.",
						   seen.seconds, seen.committing),
				 errhint("CALL " SP_SCHEMA ".trial() compares values on that load.")));
}
