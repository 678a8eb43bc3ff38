/*-------------------------------------------------------------------------
 *
 * watchdog.c
 *		The background worker that restores if the session of a trial cannot.
 *
 * It has no database.  It restores when the session has gone, when the session does not
 * say in time that it goes on, at a shutdown, when the postmaster has died, and in the
 * handlers of SIGQUIT and SIGABRT: an immediate stop, or a crash of any process.  In these
 * handlers only async-signal-safe calls are made.  The session has the same handlers, in
 * case the watchdog is the process that has crashed.
 *
 * The postmaster starts it again after a crash.  Then its shared memory has gone: it
 * restores what the handlers could not, and ends.  The library may be of another release
 * then, since all releases find the same files and the same marker (see trial.h).
 *
 *-------------------------------------------------------------------------
 */
#include "trial/trial.h"

#include <signal.h>
#include <unistd.h>

#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/procarray.h"
#include "tcop/tcopprot.h"
#include "utils/memutils.h"

#include "compat.h"

#define NAME			"pg_sync_probe trial"

/* How often the watchdog looks after the session. */
#define POLL_MS			200

/* At a shutdown the session restores by itself, unless it is stopped. */
#define SHUTDOWN_POLLS	10

/* Time beyond what the session has announced, for a machine that is busy. */
#define GRACE_S			10

typedef struct watched
{
	int			owner_pid;
	PGPROC	   *owner;
	PGPROC	   *watchdog;
	volatile bool ready;
	volatile bool done;			/* nothing is left to restore */
	volatile bool abandoned;	/* the session leaves it to the watchdog */
	volatile TimestampTz deadline;
	TimestampTz load_time;		/* of the postmaster; set before ready */
	sp_trial_identity files;
} watched;

struct sp_watchdog
{
	dsm_segment *segment;
	watched    *shared;
	BackgroundWorkerHandle *handle;
};

/* ---------------------------------------------------------- both processes */

/* Restore, and let the postmaster know: after a crash it keeps its values otherwise. */
static void
restore_in_handler(void)
{
	if (sp_trial_restore_raw() == SP_RESTORED)
		(void) kill(PostmasterPid, SIGHUP);
}

/* Then die as without this handler. */
static void
restore_and_abort(SIGNAL_ARGS)
{
	restore_in_handler();
	pqsignal(SIGABRT, PG_SIG_DFL);
	(void) kill(getpid(), SIGABRT);
}

/* ------------------------------------------------------------- the session */

static void
restore_and_quit(SIGNAL_ARGS)
{
	restore_in_handler();
	pqsignal(SIGQUIT, quickdie);
	(void) kill(getpid(), SIGQUIT);
}

static void
set_handlers(bool watching)
{
	pqsignal(SIGQUIT, watching ? restore_and_quit : quickdie);
	pqsignal(SIGABRT, watching ? restore_and_abort : PG_SIG_DFL);
}

static void
make_shared(sp_watchdog *watchdog)
{
	watchdog->segment = dsm_create(sizeof(watched), 0);
	watchdog->shared = dsm_segment_address(watchdog->segment);
	memset(watchdog->shared, 0, sizeof(watched));
	watchdog->shared->owner_pid = MyProcPid;
	watchdog->shared->owner = MyProc;
	sp_watchdog_feed(watchdog, 0);
	if (!sp_trial_identify(&watchdog->shared->files))
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not stat the files of the trial: %m")));
}

static void
register_watchdog(sp_watchdog *watchdog)
{
	BackgroundWorker worker = {0};

	worker.bgw_flags = BGWORKER_SHMEM_ACCESS;
	worker.bgw_start_time = BgWorkerStart_PostmasterStart;
	worker.bgw_restart_time = 1;	/* with BGW_NEVER_RESTART a crash would forget it */
	strlcpy(worker.bgw_name, NAME, sizeof(worker.bgw_name));
	strlcpy(worker.bgw_type, NAME, sizeof(worker.bgw_type));
	if (!sp_worker_register(&worker, "sync_probe_trial_watchdog", watchdog->segment, 0,
							&watchdog->handle))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_RESOURCES),
				 errmsg("no background worker is free for the trial"),
				 errdetail("The trial needs one that restores the setting if the session cannot."),
				 errhint("Increase max_worker_processes, or wait until other workers end.")));
}

static void
await_watching(sp_watchdog *watchdog)
{
	uint32		wait_event = sp_wait_event_new("SyncProbeTrial");
	pid_t		pid;

	while (!watchdog->shared->ready)
	{
		if (GetBackgroundWorkerPid(watchdog->handle, &pid) == BGWH_STOPPED)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("the background worker of the trial has ended"),
					 errhint(SP_WORKER_HINT)));
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, POLL_MS, wait_event);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
}

sp_watchdog *
sp_watchdog_start(void)
{
	/* after an error, clean_up() of function.c still needs it */
	sp_watchdog *watchdog = MemoryContextAllocZero(TopTransactionContext, sizeof(sp_watchdog));

	make_shared(watchdog);
	register_watchdog(watchdog);
	PG_TRY();
	{
		await_watching(watchdog);
	}
	PG_CATCH();
	{
		watchdog->shared->done = true;
		TerminateBackgroundWorker(watchdog->handle);
		PG_RE_THROW();
	}
	PG_END_TRY();
	set_handlers(true);
	return watchdog;
}

TimestampTz
sp_watchdog_load_time(const sp_watchdog *watchdog)
{
	return watchdog->shared->load_time;
}

void
sp_watchdog_feed(sp_watchdog *watchdog, double seconds)
{
	watchdog->shared->deadline = GetCurrentTimestamp() +
		(TimestampTz) ((seconds + GRACE_S) * USECS_PER_SEC);
}

static void
wake_worker(watched *shared)
{
	if (shared->watchdog)
		SetLatch(&shared->watchdog->procLatch);
}

void
sp_watchdog_stop(sp_watchdog *watchdog)
{
	set_handlers(false);
	watchdog->shared->done = true;
	wake_worker(watchdog->shared);
	(void) WaitForBackgroundWorkerShutdown(watchdog->handle);
	dsm_detach(watchdog->segment);
}

void
sp_watchdog_give_up(sp_watchdog *watchdog)
{
	sp_restored restored = sp_trial_restore_quietly();

	set_handlers(false);
	/* not switched: the watchdog was first, and somebody may have copied its file since */
	if (restored == SP_RESTORED)
		watchdog->shared->done = true;
	else
		watchdog->shared->abandoned = true;
	wake_worker(watchdog->shared);
}

/* -------------------------------------------------------------- the worker */

static volatile sig_atomic_t shutdown_requested = false;

static void
note_shutdown(SIGNAL_ARGS)
{
	int			save_errno = errno;

	shutdown_requested = true;
	SetLatch(MyLatch);
	errno = save_errno;
}

static void
restore_and_exit(SIGNAL_ARGS)
{
	restore_in_handler();
	_exit(2);
}

static bool
owner_lives(const watched *shared)
{
	return BackendPidGetProc(shared->owner_pid) == shared->owner;
}

/* Why the watchdog must restore, or NULL. */
static const char *
reason_to_restore(const watched *shared, int shutdown_polls)
{
	if (shared->abandoned)
		return "it ended with an error";
	if (!owner_lives(shared))
		return "its session has ended";
	if (GetCurrentTimestamp() > shared->deadline)
		return "its session does not go on";
	if (shutdown_polls > SHUTDOWN_POLLS)
		return "the server is shutting down";
	return NULL;
}

/* Wait until there is a reason to restore.  NULL: the session has done so. */
static const char *
await_reason(const watched *shared)
{
	uint32		wait_event = sp_wait_event_new("SyncProbeTrial");
	const char *why = NULL;
	int			shutdown_polls = 0;

	while (!shared->done && why == NULL)
	{
		int			events = WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_POSTMASTER_DEATH,
									   POLL_MS, wait_event);

		ResetLatch(MyLatch);
		if (events & WL_POSTMASTER_DEATH)
		{
			(void) sp_trial_restore_raw();
			_exit(1);
		}
		CHECK_FOR_INTERRUPTS();
		if (shutdown_requested)
			shutdown_polls++;
		why = reason_to_restore(shared, shutdown_polls);
	}
	return why;
}

/* Wait until the session has ended its trial, in whatever way. */
static void
await_end(const watched *shared)
{
	uint32		wait_event = sp_wait_event_new("SyncProbeTrial");

	while (!shared->done && !shared->abandoned && owner_lives(shared) && !shutdown_requested)
	{
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, POLL_MS, wait_event);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
}

/*
 * ALTER SYSTEM of another session may have read the file of the trial before, and put its
 * copy in place after it was restored.  So look again once nothing of the trial goes on.
 */
static void
watch_session(watched *shared)
{
	const char *why = await_reason(shared);

	if (why == NULL || shared->done)
		return;
	if (sp_trial_restore(&shared->files, false))
		ereport(LOG, (errmsg("restored \"%s\" after a trial: %s", SP_TRIAL_AUTO, why)));
	await_end(shared);
	if (!shared->done && sp_trial_restore(&shared->files, true))
		ereport(LOG, (errmsg("took the values of a trial out of \"%s\"", SP_TRIAL_AUTO)));
}

void
sync_probe_trial_watchdog(Datum main_arg)
{
	dsm_segment *segment;
	watched    *shared;

	pqsignal(SIGQUIT, restore_and_exit);
	pqsignal(SIGABRT, restore_and_abort);
	pqsignal(SIGTERM, note_shutdown);
	BackgroundWorkerUnblockSignals();
	segment = dsm_attach(DatumGetUInt32(main_arg));
	if (segment == NULL)
	{
		/* after a crash, or when the session has ended meanwhile */
		if (sp_trial_restore(NULL, true))
			ereport(LOG, (errmsg("restored \"%s\" after a trial that crashed", SP_TRIAL_AUTO)));
		(void) kill(PostmasterPid, SIGHUP);
		return;
	}
	/* nothing is switched yet; the session fails, and removes its files itself */
	if (!sp_worker_fits())
		return;
	dsm_pin_mapping(segment);
	shared = dsm_segment_address(segment);
	shared->watchdog = MyProc;
	/* inherited: it has not read the files itself */
	shared->load_time = PgReloadTime;
	pg_write_barrier();
	shared->ready = true;
	SetLatch(&shared->owner->procLatch);
	watch_session(shared);
}
