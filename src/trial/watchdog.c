/*-------------------------------------------------------------------------
 *
 * watchdog.c
 *		The background worker that restores if the session of a trial cannot.
 *
 * It shares no memory with the session, but waits for the lock that the session holds.
 * With the lock it restores what there is to restore: nothing after a trial that ended well,
 * the setting after an error, a cancel, or the end of the session, also at a shutdown.
 * Without the lock it restores only past the trial's deadline, if that very session holds
 * the lock: it must have been stopped.
 *
 * After a crash the postmaster starts it again, and nobody holds the lock.  The library may
 * be of another release then, which has the same marker.
 *
 *-------------------------------------------------------------------------
 */
#include "trial/trial.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/latch.h"

#include "compat.h"

#define NAME				"pg_sync_probe trial"
#define POLL_MS				100
#define MAX_PAUSE_MS		60000

/* ------------------------------------------------------------- the session */

/* deadline: it restores then even if the session does not end. */
BackgroundWorkerHandle *
sp_watchdog_start(TimestampTz deadline)
{
	BackgroundWorker worker = {0};
	BackgroundWorkerHandle *handle;
	pid_t		pid;

	worker.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
	worker.bgw_start_time = BgWorkerStart_RecoveryFinished;
	worker.bgw_restart_time = 1;	/* with BGW_NEVER_RESTART a crash would forget it */
	worker.bgw_main_arg = UInt32GetDatum((uint32) (deadline / USECS_PER_SEC));
	strlcpy(worker.bgw_name, NAME, sizeof(worker.bgw_name));
	strlcpy(worker.bgw_type, NAME, sizeof(worker.bgw_type));
	if (!sp_worker_register(&worker, "sync_probe_trial_watchdog", NULL, 0, &handle) ||
		WaitForBackgroundWorkerStartup(handle, &pid) != BGWH_STARTED)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_RESOURCES),
				 errmsg("no background worker is free for the trial"),
				 errdetail("The trial needs one that restores the setting if the session cannot."),
				 errhint("Increase max_worker_processes, or wait until other workers end.")));
	return handle;
}

/* The setting has its old value. */
void
sp_watchdog_stop(BackgroundWorkerHandle *watchdog)
{
	TerminateBackgroundWorker(watchdog);
	(void) WaitForBackgroundWorkerShutdown(watchdog);
}

/* -------------------------------------------------------------- the worker */

/* A lock that is taken here is held until the end of the transaction. */
static bool
may_restore(TimestampTz deadline)
{
	if (sp_trial_lock(false))
		return true;
	/* the session has restored, and waits for this worker to end */
	if (ShutdownRequestPending && !sp_trial_is_marked())
		return true;
	return GetCurrentTimestamp() > deadline &&
		sp_trial_lock_holder() == MyBgworkerEntry->bgw_notify_pid;
}

/* False: not yet. */
static bool
restore_in_transaction(TimestampTz deadline)
{
	char	   *setting;
	bool		done;

	StartTransactionCommand();
	done = may_restore(deadline);
	if (done && (setting = sp_trial_restore()) != NULL)
		ereport(LOG,
				(errmsg("restored \"%s\" after a trial that did not end by itself", setting)));
	CommitTransactionCommand();
	return done;
}

/* Only the first failure is logged: the file may stay as it is for days. */
static void
end_failed_transaction(MemoryContext context, bool first)
{
	HOLD_INTERRUPTS();
	if (first)
	{
		errhint("A trial has changed a setting. The attempt to restore it is repeated.");
		EmitErrorReport();
	}
	AbortCurrentTransaction();
	MemoryContextSwitchTo(context);
	FlushErrorState();
	RESUME_INTERRUPTS();
}

void
sync_probe_trial_watchdog(Datum main_arg)
{
	TimestampTz deadline = (TimestampTz) DatumGetUInt32(main_arg) * USECS_PER_SEC;
	uint32		wait_event = sp_wait_event_new("SyncProbeTrial");
	MemoryContext context = CurrentMemoryContext;
	volatile long pause_ms = POLL_MS;
	volatile bool done = false;

	pqsignal(SIGTERM, SignalHandlerForShutdownRequest);
	BackgroundWorkerUnblockSignals();
	BackgroundWorkerInitializeConnection(NULL, NULL, 0);
	while (!done)
	{
		PG_TRY();
		{
			done = restore_in_transaction(deadline);
		}
		PG_CATCH();
		{
			end_failed_transaction(context, pause_ms == POLL_MS);
			pause_ms = Min(pause_ms * 2, MAX_PAUSE_MS);
			done = ShutdownRequestPending;	/* cleanup() restores after the next start */
		}
		PG_END_TRY();
		if (!done)
			(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, pause_ms,
							 wait_event);
		ResetLatch(MyLatch);
	}
}
