/*-------------------------------------------------------------------------
 *
 * watchdog.c
 *		The background worker that restores if the session of a trial cannot.
 *
 * It shares no memory with the session, but waits for the lock that the session holds.  With
 * the lock it restores what there is to restore: nothing after a trial that ended well, the
 * setting after an error, a cancel, or the end of the session, also at a shutdown.
 *
 * After an error of its own it ends, and the postmaster starts it again: at once after a crash
 * of the server.  The library may be of another release then, which has the same marker.
 *
 *-------------------------------------------------------------------------
 */
#include "trial/trial.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "postmaster/interrupt.h"
#include "storage/latch.h"

#include "compat.h"

#define POLL_MS				100

/* After an error.  With BGW_NEVER_RESTART a crash of the server would forget the worker. */
#define RESTART_S			10

/* ------------------------------------------------------------- the session */

BackgroundWorkerHandle *
sp_watchdog_start(void)
{
	BackgroundWorker worker = {
		.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION,
		.bgw_start_time = BgWorkerStart_RecoveryFinished,
		.bgw_restart_time = RESTART_S,
		.bgw_name = "pg_sync_probe trial",
		.bgw_type = "pg_sync_probe trial"
	};
	BackgroundWorkerHandle *handle;
	pid_t		pid;

	if (!sp_worker_register(&worker, "sync_probe_trial_watchdog", NULL, 0, &handle) ||
		WaitForBackgroundWorkerStartup(handle, &pid) != BGWH_STARTED)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_RESOURCES),
				 errmsg("no background worker is free for the trial"),
				 errdetail("The trial needs one that restores the setting if the session cannot."),
				 errhint("Increase max_worker_processes, or wait until other workers end.")));
	return handle;
}

/* -------------------------------------------------------------- the worker */

/* False if the session still holds the lock. */
static bool
restore_in_transaction(void)
{
	const char *setting = NULL;
	bool		locked;

	StartTransactionCommand();
	locked = sp_trial_lock(false);
	if (locked)
		setting = sp_trial_restore();
	if (setting)
		ereport(LOG,
				(errmsg("restored \"%s\" after a trial that did not end by itself", setting)));
	CommitTransactionCommand();
	return locked;
}

/* A shutdown ends the session, and then the worker: a signal by itself does not. */
void
sync_probe_trial_watchdog(Datum main_arg pg_attribute_unused())
{
	uint32		wait_event;

	pqsignal(SIGTERM, SignalHandlerForShutdownRequest);
	BackgroundWorkerUnblockSignals();
	BackgroundWorkerInitializeConnection(NULL, NULL, 0);
	wait_event = sp_wait_event_new("SyncProbeTrial");
	while (!restore_in_transaction())
	{
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, POLL_MS,
						 wait_event);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
}
