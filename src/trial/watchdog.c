/*-------------------------------------------------------------------------
 *
 * watchdog.c
 *		The background worker that restores if the session of a trial cannot.
 *
 * It shares no memory with the session, but waits for the lock that the session holds.
 * With the lock it restores what there is to restore: nothing after a trial that ended well,
 * the setting after an error, a cancel, or the end of the session, also at a shutdown.
 * Without the lock it restores only this trial, and past its deadline: then the session must
 * have been stopped.
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
#define MAX_PAUSE_MS		60000	/* after errors */
#define MAX_WAIT_MS			1000	/* without serving interrupts */

/* ------------------------------------------------------------- the session */

/* deadline_s: since 2000; it restores then even if the session does not end. */
BackgroundWorkerHandle *
sp_watchdog_start(uint32 deadline_s)
{
	BackgroundWorker worker = {0};
	BackgroundWorkerHandle *handle;
	pid_t		pid;

	worker.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
	worker.bgw_start_time = BgWorkerStart_RecoveryFinished;
	worker.bgw_restart_time = 1;	/* with BGW_NEVER_RESTART a crash would forget it */
	worker.bgw_main_arg = UInt32GetDatum(deadline_s);
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

/* The setting has its old value, and the lock is released. */
void
sp_watchdog_stop(BackgroundWorkerHandle *watchdog)
{
	TerminateBackgroundWorker(watchdog);
	(void) WaitForBackgroundWorkerShutdown(watchdog);
}

/* -------------------------------------------------------------- the worker */

/* False: not yet.  A lock that is taken here is held until the end of the transaction. */
static bool
restore_in_transaction(uint32 deadline_s)
{
	const char *setting = NULL;
	bool		locked;

	StartTransactionCommand();
	locked = sp_trial_lock(false);
	if (locked)
		setting = sp_trial_restore(NULL);
	else if (GetCurrentTimestamp() > (TimestampTz) deadline_s * USECS_PER_SEC)
		setting = sp_trial_restore(psprintf("%u", deadline_s));
	if (setting)
		ereport(LOG,
				(errmsg("restored \"%s\" after a trial that did not end by itself", setting)));
	CommitTransactionCommand();
	return locked || setting;
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

/*
 * A shutdown ends the pause.  Interrupts are served at least once a second: others wait until
 * this process has absorbed a barrier, as DROP DATABASE does.
 */
static void
pause_for(int ms)
{
	uint32		wait_event = sp_wait_event_new("SyncProbeTrial");
	bool		was_requested = ShutdownRequestPending;

	for (; ms > 0 && (was_requested || !ShutdownRequestPending); ms -= MAX_WAIT_MS)
	{
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 Min(ms, MAX_WAIT_MS), wait_event);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
}

void
sync_probe_trial_watchdog(Datum main_arg)
{
	MemoryContext context = CurrentMemoryContext;
	volatile int pause_ms = POLL_MS;
	volatile bool done = false;

	pqsignal(SIGTERM, SignalHandlerForShutdownRequest);
	BackgroundWorkerUnblockSignals();
	BackgroundWorkerInitializeConnection(NULL, NULL, 0);
	while (!done)
	{
		PG_TRY();
		{
			pause_for(pause_ms);
			done = restore_in_transaction(DatumGetUInt32(main_arg));
		}
		PG_CATCH();
		{
			end_failed_transaction(context, pause_ms == POLL_MS);
			pause_ms = Min(pause_ms * 2, MAX_PAUSE_MS);
			done = ShutdownRequestPending;	/* cleanup() restores after the next start */
		}
		PG_END_TRY();
	}
}
