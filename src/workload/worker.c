/*-------------------------------------------------------------------------
 *
 * worker.c
 *		The worker's side: create the objects of a workload, keep and drop them.
 *
 * This background worker reads its task from memory that it shares with the leader
 * (objects.c).  Before it has committed the objects, it can end at any time and leaves
 * nothing.  Afterwards it ends only when it has dropped them, also on SIGTERM.
 *
 * It must not: throw an error outside a transaction, or log an error that the leader
 * reports.
 *
 *-------------------------------------------------------------------------
 */
#include "workload/objects_internal.h"

#include "executor/spi.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/latch.h"
#include "storage/procarray.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/timeout.h"

#include "compat.h"

/* How often this process checks whether the leader still exists. */
#define KEEP_POLL_MS		1000

/* How long sessions of the run may take to end before they are terminated. */
#define SESSIONS_POLL_MS	50
#define SESSIONS_GRACE_MS	1000
#define SESSIONS_MAX_MS	11000

/*
 * The tear-down of the user may take as long as a set-up.  When this process is told
 * to exit, and after an error of the run, it has a grace period only.  Then it is
 * canceled, and repeatedly, since the script may catch a cancel.  After MAX_CANCELS
 * this process exits.  Then a later run of the role or cleanup() drops the schema.
 */
#define TEAR_DOWN_GRACE_MS	10000
#define CANCEL_EVERY_MS		1000
#define MAX_CANCELS		10

/*
 * A drop is tried again after an error that may pass, such as a deadlock, but not after
 * a wait for a lock.  It waits for each lock that it needs.  Any role that may connect
 * can hold some, and release each shortly before the wait for it ends, so that all of
 * it has a limit, too.
 */
#define DROP_TRIES		3
#define DROP_MAX_MS		30000

/* The effect of SIGTERM depends on the phase. */
typedef enum worker_phase
{
	PHASE_CONNECTING,
	PHASE_SETTING_UP,			/* nothing is committed */
	PHASE_OWN_WORK,				/* must not be interrupted */
	PHASE_TEARING_DOWN,			/* the script of the user, which may take long */
	PHASE_DROPPING				/* as own work, but for the time limit */
} worker_phase;

static volatile sig_atomic_t phase = PHASE_CONNECTING;
static volatile sig_atomic_t terminated = false;
static volatile sig_atomic_t cancels = 0;	/* of the tear-down, by the clock */
static volatile TimestampTz tear_down_limit;

static sp_objects_shared *shared;
static uint32 wait_event;
static TimeoutId limit_timer;

/* ------------------------------------------------------------------ signals */

static void
interrupt_query(void)
{
	QueryCancelPending = true;
	InterruptPending = true;
}

/* As the server's own handler, whose signature depends on the version. */
static void
interrupt_process(void)
{
	ProcDiePending = true;
	InterruptPending = true;
}

/*
 * The leader sets shared->stop and then has SIGTERM sent.  That cancels the set-up
 * without a log message.  A second SIGTERM, or one from another process, terminates it.
 * The tear-down is only canceled, however often: the postmaster sends a shutdown's SIGTERM
 * to the process and to its group, which arrives once or twice.
 */
static void
handle_sigterm(SIGNAL_ARGS)
{
	int			save_errno = errno;
	bool		from_leader = shared->stop && !terminated;

	if (phase == PHASE_TEARING_DOWN || (phase == PHASE_SETTING_UP && from_leader))
		interrupt_query();
	else if (phase == PHASE_SETTING_UP || (phase == PHASE_CONNECTING && !from_leader))
		interrupt_process();
	terminated = true;
	SetLatch(MyLatch);
	errno = save_errno;
}

/* The timer of the tear-down and the drop calls this. */
static void
enforce_limit(void)
{
	if (phase == PHASE_TEARING_DOWN && !terminated && !shared->abandoned &&
		GetCurrentTimestamp() < tear_down_limit)
		return;
	if (phase != PHASE_TEARING_DOWN && phase != PHASE_DROPPING)
		return;
	if (phase == PHASE_TEARING_DOWN && ++cancels > MAX_CANCELS)
		interrupt_process();
	else
		interrupt_query();
	SetLatch(MyLatch);
}

/* Serve interrupts such as barriers, but ignore a cancel while idle. */
static void
serve_interrupts(void)
{
	HOLD_CANCEL_INTERRUPTS();
	CHECK_FOR_INTERRUPTS();
	RESUME_CANCEL_INTERRUPTS();
}

static void
wait_a_while(long timeout_ms)
{
	(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, timeout_ms, wait_event);
	ResetLatch(MyLatch);
	serve_interrupts();
}

/* ------------------------------------------------------------------ scripts */

/* Execute a script of the user.  Its SET commands end with it. */
static void
execute_script(const char *script)
{
	int			nest_level = NewGUCNestLevel();

	sp_schema_execute(script);
	AtEOXact_GUC(false, nest_level);
}

/* ------------------------------------------------------------------- set-up */

/* Report a setting of role and database, which the sessions of the run start with, too. */
static void
report_session(void)
{
	strlcpy(shared->synchronous_commit, GetConfigOption("synchronous_commit", false, false), NAMEDATALEN);
}

/*
 * Override settings of role and database.  synchronous_commit is local, since standbys
 * need not have the objects, and a wait for one could delay the exit.
 */
static void
set_session(void)
{
	static const struct
	{
		const char *name;
		const char *value;
	}			settings[] = {
		{"application_name", "pg_sync_probe"},
		{"client_min_messages", "warning"},
		{"default_transaction_read_only", "off"},
		{"row_security", "on"},
		{"synchronous_commit", "local"},
		/* as when variables were replaced in the scripts */
		{"standard_conforming_strings", "on"},
		{"statement_timeout", "0"},
		{"idle_in_transaction_session_timeout", "0"},
		{"transaction_timeout", "0"},
	};

	for (size_t i = 0; i < lengthof(settings); i++)
	{
		/* not every server version has all of them */
		if (GetConfigOption(settings[i].name, true, false) != NULL)
			SetConfigOption(settings[i].name, settings[i].value, PGC_USERSET, PGC_S_SESSION);
	}
	SetConfigOption("search_path", shared->texts + shared->search_path, PGC_USERSET, PGC_S_SESSION);
	SetConfigOption("default_tablespace", NameStr(shared->tablespace), PGC_USERSET, PGC_S_SESSION);
}

/*
 * The owner of a database can set a role for all its sessions.  That role would own
 * the objects of the run, and could replace the functions that its sessions execute.
 */
static void
become_user(void)
{
	SetConfigOption("role", "none", PGC_SUSET, PGC_S_SESSION);
	if (GetUserId() != shared->user || GetSessionUserId() != shared->user)
		elog(FATAL, "workload worker is not the role that runs the workload");
}

/*
 * Create the objects.  SIGTERM interrupts this until shortly before the commit: one
 * that has arrived by then is served at the end, a later one after the commit.
 */
static void
make_objects(void *arg pg_attribute_unused())
{
	if (!sp_schema_lock(shared->schema_id, true))
		elog(ERROR, "schema ID %08x is in use", shared->schema_id);
	sp_schema_make(NameStr(shared->schema));
	execute_script(shared->texts + shared->setup);

	/* deferred constraints may take long, too */
	sp_schema_execute("SET CONSTRAINTS ALL IMMEDIATE");
	phase = PHASE_OWN_WORK;
	CHECK_FOR_INTERRUPTS();
}

static bool
set_up(void)
{
	const char *script = shared->texts + shared->setup;
	bool		done;

	pgstat_report_activity(STATE_RUNNING, "set-up of a workload");
	sp_drop_own_leftovers(&shared->stop);
	SetConfigOption("lock_timeout", SP_LOCK_TIMEOUT, PGC_USERSET, PGC_S_SESSION);

	/* the cancel may have arrived while leftovers were dropped */
	done = !shared->stop && sp_run_in_transaction(make_objects, NULL, script, &shared->set_up);
	phase = PHASE_OWN_WORK;

	/* report statistics now, so that they are not counted for the workload */
	pgstat_report_stat(true);
	return done;
}

/* ---------------------------------------------------------------------- keep */

static void
set_state(sp_worker_state state)
{
	/* write the reports before the state, and read "stop" after it */
	pg_memory_barrier();
	pg_atomic_write_u32(&shared->state, state);
	pg_memory_barrier();
	SetLatch(&shared->leader->procLatch);
}

static bool
leader_lives(void)
{
	return BackendPidGetProc(shared->leader_pid) == shared->leader;
}

static void
keep_objects(void)
{
	pgstat_report_activity(STATE_IDLE, NULL);
	while (!shared->stop && !terminated && leader_lives())
		wait_a_while(KEEP_POLL_MS);
}

/* ---------------------------------------------------------------- tear-down */

typedef struct session_check
{
	bool		terminate;
	uint64		found;
} session_check;

static void
check_sessions(void *arg)
{
	session_check *check = arg;
	const char *schema = quote_literal_cstr(NameStr(shared->schema));

	sp_schema_execute(check->terminate ?
					  psprintf("SELECT pg_catalog.pg_terminate_backend(pid)" SP_WORKLOAD_SESSIONS,
							   schema, shared->user) :
					  psprintf("SELECT pid" SP_WORKLOAD_SESSIONS, schema, shared->user));
	check->found = SPI_processed;
}

/* Wait for the sessions of the run, and terminate those that do not end. */
static void
end_sessions(void)
{
	TimestampTz started = GetCurrentTimestamp();
	session_check check = {0};

	while (sp_run_in_transaction(check_sessions, &check, NULL, NULL) && check.found > 0)
	{
		TimestampTz now = GetCurrentTimestamp();

		if (TimestampDifferenceExceeds(started, now, SESSIONS_MAX_MS))
			return;
		check.terminate = TimestampDifferenceExceeds(started, now, SESSIONS_GRACE_MS);
		wait_a_while(SESSIONS_POLL_MS);
	}
}

static void
tear_down(void *arg pg_attribute_unused())
{
	TimestampTz now = GetCurrentTimestamp();

	tear_down_limit = TimestampTzPlusMilliseconds(now, shared->script_limit_ms);
	phase = PHASE_TEARING_DOWN;
	enable_timeout_every(limit_timer,
						 TimestampTzPlusMilliseconds(now, Min(TEAR_DOWN_GRACE_MS, shared->script_limit_ms)),
						 CANCEL_EVERY_MS);
	execute_script(shared->texts + shared->teardown);

	/* deferred triggers may take long, too */
	sp_schema_execute("SET CONSTRAINTS ALL IMMEDIATE");
	phase = PHASE_OWN_WORK;
}

static void
run_tear_down(void)
{
	bool		done;

	if (shared->texts[shared->teardown] == '\0')
		return;

	/* discard an earlier cancel */
	QueryCancelPending = false;
	done = sp_run_in_transaction(tear_down, NULL, NULL, &shared->tear_down);
	phase = PHASE_OWN_WORK;
	disable_timeout(limit_timer, false);
	QueryCancelPending = false;
	if (!done && shared->tear_down.sqlstate == ERRCODE_QUERY_CANCELED && cancels > 0)
		snprintf(shared->tear_down.message, sizeof(shared->tear_down.message),
				 "canceled because it did not end in time");
	if (!done && (shared->abandoned || terminated))
		sp_log_report("could not tear down workload", NameStr(shared->workload), &shared->tear_down);
}

static void
drop_schema(void)
{
	bool		done;
	bool		is_late;

	enable_timeout_every(limit_timer,
						 TimestampTzPlusMilliseconds(GetCurrentTimestamp(), DROP_MAX_MS),
						 CANCEL_EVERY_MS);
	phase = PHASE_DROPPING;
	done = sp_drop_in_transactions(NameStr(shared->schema), DROP_TRIES, &shared->drop);
	phase = PHASE_OWN_WORK;
	is_late = get_timeout_indicator(limit_timer, true);
	disable_timeout(limit_timer, false);
	QueryCancelPending = false;
	if (!done && is_late && shared->drop.sqlstate == ERRCODE_QUERY_CANCELED)
		snprintf(shared->drop.message, sizeof(shared->drop.message),
				 "canceled because it took more than %d s", DROP_MAX_MS / 1000);
	if (!done)
		sp_log_report("could not drop schema", NameStr(shared->schema), &shared->drop);
}

/* Each step runs even if the one before has failed. */
static void
take_objects_away(void)
{
	pgstat_report_activity(STATE_RUNNING, "tear-down of a workload");
	SetConfigOption("lock_timeout", SP_LOCK_TIMEOUT, PGC_USERSET, PGC_S_SESSION);
	end_sessions();
	run_tear_down();
	drop_schema();
	pgstat_report_stat(true);
}

/* --------------------------------------------------------------------- main */

/*
 * At exit, the shared memory is unmapped before the process ends.  A SIGTERM that the
 * leader has sent to interrupt the set-up may arrive in between.
 */
static void
on_worker_detach(dsm_segment *segment pg_attribute_unused(), Datum arg pg_attribute_unused())
{
	pqsignal(SIGTERM, PG_SIG_IGN);
	phase = PHASE_OWN_WORK;
}

/*
 * Attach the shared memory before signals are unblocked.  False if the leader has gone:
 * then there is nothing to do.
 */
static bool
attach(dsm_handle handle)
{
	dsm_segment *segment = dsm_attach(handle);

	if (segment == NULL)
		return false;
	dsm_pin_mapping(segment);
	on_dsm_detach(segment, on_worker_detach, (Datum) 0);
	shared = dsm_segment_address(segment);
	shared->worker = MyProc;
	return true;
}

void
sync_probe_workload_worker(Datum main_arg)
{
	if (!sp_worker_fits() || !attach(DatumGetUInt32(main_arg)))
		return;
	pqsignal(SIGTERM, handle_sigterm);
	BackgroundWorkerUnblockSignals();
	BackgroundWorkerInitializeConnectionByOid(shared->database, shared->user, 0);
	wait_event = sp_wait_event_new("SyncProbeWorkload");
	limit_timer = RegisterTimeout(USER_TIMEOUT, enforce_limit);
	report_session();
	set_session();
	become_user();

	phase = PHASE_SETTING_UP;
	if (set_up())
	{
		set_state(SP_WORKER_READY);
		keep_objects();
		take_objects_away();
		sp_schema_unlock(shared->schema_id);
	}
	set_state(SP_WORKER_ENDED);
}
