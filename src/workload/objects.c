/*-------------------------------------------------------------------------
 *
 * objects.c
 *		The leader's side of creating and dropping the objects of a workload.
 *
 * The sessions of pgbench could not see objects of this uncommitted transaction.  So a
 * background worker creates them in its own transactions (worker.c).  It needs no
 * password, and it survives this backend and can still drop the objects.
 *
 * The shared memory belongs to the resource owner.  However the run ends, it is
 * detached, which tells the worker to drop everything.
 *
 * It must not: create or drop anything itself.
 *
 *-------------------------------------------------------------------------
 */
#include "workload/objects_internal.h"

#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/pmsignal.h"
#include "utils/memutils.h"

#include "compat.h"

/* The worker sets our latch; this is a fallback. */
#define MAX_WAIT_MS		1000

/* The maximum wait after an error of the caller. */
#define GIVE_UP_MS			2000
#define GIVE_UP_POLL_MS		5

struct sp_workload_objects
{
	dsm_segment *segment;		/* NULL once it is detached */
	sp_objects_shared *shared;
	BackgroundWorkerHandle *handle; /* NULL before the worker is registered */
	uint32		wait_event;
	bool		terminated;		/* it was told to end during the set-up */
};

/* -------------------------------------------------------------- the worker */

static sp_worker_state
worker_state(const sp_workload_objects *objects)
{
	sp_worker_state state = pg_atomic_read_u32(&objects->shared->state);

	/* read its reports only after its state */
	pg_read_barrier();
	return state;
}

/* Has the worker ended, or was it never started? */
static bool
worker_is_gone(const sp_workload_objects *objects)
{
	pid_t		pid;

	return objects->handle == NULL || GetBackgroundWorkerPid(objects->handle, &pid) == BGWH_STOPPED;
}

/*
 * Tell the worker to stop: it drops its objects when it wakes up, or its set-up is
 * interrupted.  Throws no error.
 */
static void
tell_to_stop(sp_workload_objects *objects)
{
	sp_objects_shared *shared = objects->shared;
	PGPROC	   *worker;

	/* the worker reads this after it has changed its state */
	shared->stop = true;
	pg_memory_barrier();
	if (worker_state(objects) == SP_WORKER_STARTING && objects->handle != NULL)
	{
		/* the worker would treat a second SIGTERM as a shutdown */
		if (!objects->terminated)
			TerminateBackgroundWorker(objects->handle);
		objects->terminated = true;
		return;
	}
	worker = shared->worker;
	if (worker != NULL)
		SetLatch(&worker->procLatch);
}

/* Wait until the worker has reached the state or has ended, or until that time. */
static void
await_worker(const sp_workload_objects *objects, sp_worker_state state, TimestampTz latest)
{
	while (worker_state(objects) < state && !worker_is_gone(objects) &&
		   GetCurrentTimestamp() < latest)
	{
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 MAX_WAIT_MS, objects->wait_event);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
}

/* -------------------------------------------------------------------- start */

/* Called by the resource owner, possibly after the memory of the caller is gone. */
static void
on_detach(dsm_segment *segment pg_attribute_unused(), Datum arg)
{
	sp_workload_objects *objects = (sp_workload_objects *) DatumGetPointer(arg);

	objects->shared->abandoned = true;
	if (worker_state(objects) != SP_WORKER_ENDED)
		tell_to_stop(objects);
	objects->segment = NULL;
}

static Size
text_size(const char *text)
{
	return text ? strlen(text) + 1 : 1;
}

/* Copy the text, return its offset, and advance *next. */
static Size
put_shared_text(sp_objects_shared *shared, Size *next, const char *text)
{
	Size		place = *next;

	memcpy(shared->texts + place, text ? text : "", text_size(text));
	*next += text_size(text);
	return place;
}

static void
make_segment(sp_workload_objects *objects, const sp_workload_run *run)
{
	Size		size = offsetof(sp_objects_shared, texts) + text_size(run->search_path) +
		text_size(run->workload.setup) + text_size(run->workload.teardown);
	Size		next = 0;
	sp_objects_shared *shared;

	objects->segment = dsm_create(size, 0);
	objects->shared = shared = dsm_segment_address(objects->segment);
	memset(shared, 0, offsetof(sp_objects_shared, texts));
	pg_atomic_init_u32(&shared->state, SP_WORKER_STARTING);
	shared->leader = MyProc;
	shared->leader_pid = MyProcPid;
	shared->database = MyDatabaseId;
	shared->user = GetUserId();
	shared->schema_id = run->schema_id;
	shared->script_limit_ms = sp_workload_limit_ms(sp_max_duration_ms);
	shared->workload = run->workload.name;
	shared->schema = run->schema;
	if (!run->default_tablespace)
		shared->tablespace = run->tablespace;
	shared->search_path = put_shared_text(shared, &next, run->search_path);
	shared->setup = put_shared_text(shared, &next, run->workload.setup);
	shared->teardown = put_shared_text(shared, &next, run->workload.teardown);
	on_dsm_detach(objects->segment, on_detach, PointerGetDatum(objects));
}

static void
start_worker(sp_workload_objects *objects)
{
	BackgroundWorker worker = {0};
	MemoryContext old;
	bool		registered;

	snprintf(worker.bgw_name, sizeof(worker.bgw_name), "pg_sync_probe workload \"%s\"",
			 NameStr(objects->shared->workload));
	snprintf(worker.bgw_type, sizeof(worker.bgw_type), "pg_sync_probe workload");
	worker.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
	worker.bgw_start_time = BgWorkerStart_RecoveryFinished;
	worker.bgw_restart_time = BGW_NEVER_RESTART;

	old = MemoryContextSwitchTo(TopTransactionContext);
	registered = sp_worker_register(&worker, "sync_probe_workload_worker", objects->segment, 0,
									&objects->handle);
	MemoryContextSwitchTo(old);
	if (!registered)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_RESOURCES),
				 errmsg("could not start a background worker for workload \"%s\"",
						NameStr(objects->shared->workload)),
				 errdetail("No worker process is free; max_worker_processes is %d.", max_worker_processes),
				 errhint("Try again later, or raise max_worker_processes.")));
}

static void
complain_about_time(const sp_workload_run *run, int64 limit_ms)
{
	ereport(ERROR,
			(errcode(ERRCODE_QUERY_CANCELED),
			 errmsg("could not set up workload \"%s\" within %g s", NameStr(run->workload.name),
					limit_ms / 1e3),
			 errdetail("A set-up stops one minute after pg_sync_probe.max_duration."),
			 errhint("Create fewer objects or rows, or raise pg_sync_probe.max_duration.")));
}

/* The hint of the report, or our own for such an error; may be NULL. */
static const char *
set_up_hint(const sp_error_report *report)
{
	if (report->hint[0] != '\0')
		return report->hint;
	if (report->sqlstate == ERRCODE_LOCK_NOT_AVAILABLE)
		return "The transaction that runs the workload may hold the lock itself; the deadlock detector cannot see this. A set-up waits " SP_LOCK_TIMEOUT " for a lock, unless it sets lock_timeout.";
	return NULL;
}

static void
complain_about_set_up(const sp_workload_objects *objects, const sp_workload_run *run)
{
	const sp_error_report *report = &objects->shared->set_up;
	const char *hint = set_up_hint(report);

	if (worker_state(objects) != SP_WORKER_ENDED || report->sqlstate == 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("could not set up workload \"%s\": its background worker has ended",
						NameStr(run->workload.name)),
				 objects->shared->worker == NULL ? errhint(SP_WORKER_HINT) :
				 errhint("See the server log for the reason.")));
	ereport(ERROR,
			(errcode(report->sqlstate),
			 errmsg("could not set up workload \"%s\": %s", NameStr(run->workload.name), report->message),
			 report->detail[0] ? errdetail("%s", report->detail) : 0,
			 hint ? errhint("%s", hint) : 0,
			 report->position > 0 ? internalerrposition(report->position) : 0,
			 report->position > 0 ? internalerrquery(run->workload.setup) : 0));
}

static void
give_up_objects(int code pg_attribute_unused(), Datum arg)
{
	sp_workload_objects_give_up((sp_workload_objects *) DatumGetPointer(arg));
}

sp_workload_objects *
sp_workload_objects_make(sp_workload_run *run)
{
	/* the memory of a portal is freed before its resource owner is released */
	sp_workload_objects *objects = MemoryContextAllocZero(TopTransactionContext,
														  sizeof(sp_workload_objects));
	int			limit_ms = sp_workload_limit_ms(sp_max_duration_ms);

	objects->wait_event = sp_wait_event_new("SyncProbeWorkload");
	PG_ENSURE_ERROR_CLEANUP(give_up_objects, PointerGetDatum(objects));
	{
		make_segment(objects, run);
		start_worker(objects);
		await_worker(objects, SP_WORKER_READY,
					 TimestampTzPlusMilliseconds(GetCurrentTimestamp(), limit_ms));
		if (worker_state(objects) == SP_WORKER_STARTING && !worker_is_gone(objects))
			complain_about_time(run, limit_ms);
		if (worker_state(objects) != SP_WORKER_READY)
			complain_about_set_up(objects, run);
		strlcpy(run->synchronous_commit, objects->shared->synchronous_commit, NAMEDATALEN);
	}
	PG_END_ENSURE_ERROR_CLEANUP(give_up_objects, PointerGetDatum(objects));
	return objects;
}

/* ---------------------------------------------------------------------- end */

static void
warn_about(const char *what, const char *name, const sp_error_report *report, const char *hint)
{
	if (report->sqlstate == 0)
		return;
	if (report->hint[0] != '\0')
		hint = report->hint;
	ereport(WARNING,
			(errcode(report->sqlstate),
			 errmsg("%s \"%s\": %s", what, name, report->message),
			 report->detail[0] ? errdetail("%s", report->detail) : 0,
			 hint ? errhint("%s", hint) : 0));
}

void
sp_workload_objects_drop(sp_workload_objects *objects)
{
	const sp_objects_shared *shared = objects->shared;
	const char *hint = "SELECT sync_probe.cleanup() drops it.";

	tell_to_stop(objects);
	await_worker(objects, SP_WORKER_ENDED, DT_NOEND);
	if (worker_state(objects) == SP_WORKER_ENDED)
	{
		warn_about("could not tear down workload", NameStr(shared->workload), &shared->tear_down, NULL);
		warn_about("could not drop schema", NameStr(shared->schema), &shared->drop, hint);
	}
	else
		ereport(WARNING,
				(errmsg("schema \"%s\" may be left over", NameStr(shared->schema)),
				 errdetail("The background worker that drops it has ended."),
				 errhint("%s", hint)));
	dsm_detach(objects->segment);
}

void
sp_workload_objects_give_up(sp_workload_objects *objects)
{
	if (objects == NULL || objects->segment == NULL)
		return;
	objects->shared->abandoned = true;
	tell_to_stop(objects);
	/* no wait for the latch: interrupts must not be served here, and it may stay set */
	for (int waited_ms = 0; waited_ms < GIVE_UP_MS; waited_ms += GIVE_UP_POLL_MS)
	{
		if (worker_state(objects) == SP_WORKER_ENDED || worker_is_gone(objects) ||
			!PostmasterIsAlive())
			break;
		pg_usleep(GIVE_UP_POLL_MS * 1000L);
	}
	dsm_detach(objects->segment);
}
