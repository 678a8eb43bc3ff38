/*-------------------------------------------------------------------------
 *
 * commit_leader.c
 *		The leader of the commit suite's workers: start and end them, permit them to write.
 *
 * While workers run, the leader looks at space, configuration and load: a run that could harm the
 * server, or whose figures would be those of another load, ends before its time.
 *
 *-------------------------------------------------------------------------
 */
#include "probe/commit_internal.h"

#include "access/xlog.h"
#include "access/xlog_internal.h"
#include "miscadmin.h"
#include "postmaster/interrupt.h"
#include "storage/lwlock.h"

#include "compat.h"

#define LOOK_NS			(100 * INT64CONST(1000000))

/* How long sessions are sampled for a figure. */
#define OTHERS_SECONDS	1.0

/* ---------------------------------------------------------------- the load */

static void
end_early(sp_commit_run *commit, const char *why, const char *hint)
{
	ereport(NOTICE,
			(errmsg("the commit suite ends early: %s", why),
			 hint ? errhint("%s", hint) : 0));
	commit->over = true;
	pg_atomic_write_u64(&commit->shared->room, SP_ROOM_ASKED);
}

static void
check_method(sp_commit_run *commit)
{
	const char *now;

	sp_process_reload();
	now = GetConfigOption("wal_sync_method", false, false);
	if (strcmp(now, commit->run.wal_sync_method) != 0)
		end_early(commit, psprintf("wal_sync_method was changed to %s", now), NULL);
}

static void
check_others(sp_commit_run *commit)
{
	const sp_commit_sums *sums = sp_sampler_stop(commit->others);
	sp_commit_figures figures;

	if (sums->seconds < OTHERS_SECONDS)
		return;
	sp_commit_figures_of(sums, &figures);
	sp_sampler_start(commit->others);
	if (figures.committing > SP_MIN_COMMITTING)
		end_early(commit, psprintf("%.1f sessions of this server are committing now",
								   figures.committing),
				  "CALL " SP_SCHEMA ".trial() compares values on that load.");
}

static void
check_workers(const sp_commit_run *commit)
{
	for (int i = 0; i < commit->nworkers; i++)
	{
		pid_t		pid;
		BgwHandleStatus status = GetBackgroundWorkerPid(commit->handles[i], &pid);

		if (status == BGWH_STOPPED || status == BGWH_POSTMASTER_DIED)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("a background worker of the commit suite has ended"),
					 errdetail("It was worker %d of %d.", i + 1, commit->nworkers),
					 errhint(SP_WORKER_HINT)));
	}
}

/* --------------------------------------------------------------- room for WAL */

/* What is free above the server's own need.  A full pg_wal stops the cluster. */
static int64
free_bytes(const sp_commit_run *commit)
{
	const sp_location *location = &commit->location;
	int64		reserve;
	int64		available = sp_location_space(location, commit->directory_fd, 0, &reserve);

	if (available < reserve)
		ereport(ERROR,
				(errcode(ERRCODE_DISK_FULL),
				 errmsg("not enough space for the commit suite"),
				 errdetail("%s is available, less than the reserve of %s.",
						   sp_pretty_bytes(available), sp_pretty_bytes(reserve)),
				 errhint("Free some space. WAL must be able to grow to max_wal_size, and pg_sync_probe.reserve_percent of the file system must stay free.")));
	return available - reserve;
}

static bool
wal_is_used_up(const sp_commit_run *commit)
{
	return GetXLogInsertRecPtr() + commit->in_flight >= commit->limit;
}

/* Two segments more than workers need now: one to go on, and one for other processes. */
static XLogSegNo
wanted_segment(const sp_commit_run *commit)
{
	XLogSegNo	segment;

	XLByteToSeg(GetXLogInsertRecPtr() + commit->in_flight, segment, wal_segment_size);
	return segment + 2;
}

/*
 * The last segment that exists for sure.  Others may have written beyond those made here, and
 * a checkpoint may have removed some of them: these must not come back, as empty files that
 * would be archived.  Only a leader that is stopped within XLogFileInit() for so long can still
 * do that.
 */
static XLogSegNo
last_segment(sp_commit_run *commit)
{
	XLogSegNo	written;

	XLByteToPrevSeg(GetXLogWriteRecPtr(), written, wal_segment_size);
	commit->last_segment = Max(commit->last_segment, written);
	return commit->last_segment;
}

/*
 * Make segments before workers need them.  The server does it while it writes WAL, where a full
 * disk is a PANIC.  Here it is an error.  Returns where the last record may begin.
 */
static uint64
make_room(sp_commit_run *commit)
{
	XLogSegNo	wanted = wanted_segment(commit);
	TimeLineID	timeline = GetWALInsertionTimeLine();
	int64		bytes = free_bytes(commit);
	XLogRecPtr	end;

	if ((int64) (wanted - last_segment(commit)) * wal_segment_size > bytes)
		bytes = 0;
	/* the limit never rises */
	commit->limit = Min(commit->limit, GetXLogInsertRecPtr() + bytes / 2);
	if (wal_is_used_up(commit))
		return SP_ROOM_ASKED;
	for (; last_segment(commit) < wanted; commit->last_segment++)
		close(XLogFileInit(commit->last_segment + 1, timeline));
	XLogSegNoOffsetToRecPtr(commit->last_segment, 0, wal_segment_size, end);
	return Min(end, commit->limit) - commit->in_flight;
}

/* ----------------------------------------------------------------- watching */

/* A worker that asks meanwhile has read a newer configuration: then there is no leave yet. */
static void
look(sp_commit_run *commit)
{
	pg_atomic_uint64 *room = &commit->shared->room;
	uint64		seen = pg_atomic_read_u64(room);
	uint64		end;

	commit->next_look_ns = sp_monotonic_ns() + LOOK_NS;
	check_workers(commit);
	if (commit->over)
		return;
	if (seen == SP_ROOM_ASKED)
	{
		seen = SP_ROOM_LOOKING;
		pg_atomic_write_u64(room, seen);
		/* the signal may reach this process later than a worker */
		ConfigReloadPending = true;
	}
	sp_check_client();
	sp_yield_to_drop();
	check_method(commit);
	if (!commit->over)
		check_others(commit);
	if (commit->over)
		return;
	end = make_room(commit);
	if (wal_is_used_up(commit))
		end_early(commit, psprintf("the server has written %s of WAL",
								   sp_pretty_bytes((int64) (commit->limit - commit->begin))),
				  commit->limit - commit->begin < sp_max_commit_wal_mb * UINT64CONST(1024) * 1024 ?
				  "Free space in pg_wal limits it." : "pg_sync_probe.max_commit_wal limits it.");
	else
		(void) pg_atomic_compare_exchange_u64(room, &seen, end);
}

/* One step of waiting while workers run: it takes about a millisecond. */
void
sp_commit_watch(sp_commit_run *commit)
{
	CHECK_FOR_INTERRUPTS();
	/* often, after a reload, and when workers need another segment */
	if (pg_atomic_read_u64(&commit->shared->room) == SP_ROOM_ASKED ||
		wanted_segment(commit) > last_segment(commit) || wal_is_used_up(commit) ||
		sp_monotonic_ns() >= commit->next_look_ns)
		look(commit);
	sp_sampler_step(commit->others);
}

/* ------------------------------------------------------------------ workers */

static void
make_shared(sp_commit_run *commit)
{
	Size		size = offsetof(sp_commit_shared, workers) +
		commit->workers_wanted * sizeof(sp_commit_worker);
	sp_commit_shared *shared;

	commit->segment = dsm_create(size, 0);
	commit->shared = shared = dsm_segment_address(commit->segment);
	memset(shared, 0, size);
	shared->record_size = commit->run.record_size;
	pg_atomic_init_u32(&shared->slot, 0);
	pg_atomic_init_u32(&shared->settled, 0);
	pg_atomic_init_u32(&shared->resting, 0);
	pg_atomic_init_u64(&shared->room, SP_ROOM_ASKED);
}

static void
register_workers(sp_commit_run *commit)
{
	int			wanted = commit->workers_wanted;

	while (commit->nworkers < wanted &&
		   sp_worker_register("pg_sync_probe commit worker", "sync_probe_commit_worker", true,
							  BGW_NEVER_RESTART, commit->segment, commit->nworkers + 1,
							  &commit->handles[commit->nworkers]))
		commit->nworkers++;
	if (commit->nworkers == wanted)
		return;
	if (commit->nworkers == 0 || !commit->fewer_allowed)
		ereport(ERROR,
				(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
				 errmsg("not enough background workers for the commit suite"),
				 errdetail("Needed: %d. Free: %d of max_worker_processes (%d).",
						   wanted, commit->nworkers, max_worker_processes),
				 errhint("Use fewer workers, wait until parallel queries and other background workers end, or raise max_worker_processes and restart the server.")));
	ereport(NOTICE,
			(errmsg("using %d of %d workers; max_worker_processes (%d) is exhausted",
					commit->nworkers, wanted, max_worker_processes)));
}

/*
 * Start workers, and wait until they rest.  The caller must end them, also after an error.
 */
void
sp_commit_workers_start(sp_commit_run *commit)
{
	commit->in_flight = commit->workers_wanted * MAXALIGN(commit->run.record_size);
	commit->begin = GetXLogInsertRecPtr();
	commit->limit = commit->begin + sp_max_commit_wal_mb * UINT64CONST(1024) * 1024;
	commit->others = sp_sampler_make(true, false);
	sp_sampler_start(commit->others);
	make_shared(commit);
	/* is there space? */
	look(commit);
	register_workers(commit);
	commit->run.workers = commit->nworkers;
	commit->shared->nworkers = (uint32) commit->nworkers;
	commit->shared->thinks = commit->think_us > 0;
	commit->shared->pause_ns = (commit->think_us > 0 ? commit->think_us :
								commit->run.interval_us * commit->nworkers) * 1000;
	while (pg_atomic_read_u32(&commit->shared->resting) < commit->shared->nworkers)
		sp_commit_watch(commit);
}

/*
 * End the workers and wait for them, as the server does at the end of a parallel query.  Also
 * called after an error and while the backend exits: must not throw an error.  First it releases
 * locks that workers may wait for.
 */
void
sp_commit_workers_end(int code pg_attribute_unused(), Datum arg)
{
	sp_commit_run *commit = (sp_commit_run *) DatumGetPointer(arg);

	LWLockReleaseAll();
	HOLD_INTERRUPTS();
	for (int i = 0; i < commit->nworkers; i++)
		TerminateBackgroundWorker(commit->handles[i]);
	for (int i = 0; i < commit->nworkers; i++)
		(void) WaitForBackgroundWorkerShutdown(commit->handles[i]);
	commit->nworkers = 0;
	RESUME_INTERRUPTS();
}
