/*-------------------------------------------------------------------------
 *
 * commit_leader.c
 *		The leader of the commit suite's workers: start and end them, permit them to write, and
 *		give each value slots of time.
 *
 * While workers run, the leader looks at space, configuration and load: a run that could harm the
 * server, or whose figures would be those of another load, ends before its time.
 *
 * A slot begins when all workers rest, and ends when they rest again.  However a run ends, the
 * workers end.
 *
 *-------------------------------------------------------------------------
 */
#include "probe/commit_internal.h"

#include "access/xlog.h"
#include "access/xlog_internal.h"
#include "miscadmin.h"
#include "postmaster/interrupt.h"
#include "storage/fd.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"

#define LOOK_NS			(100 * INT64CONST(1000000))

/* How long sessions are sampled for a figure. */
#define OTHERS_SECONDS	1.0

/* ---------------------------------------------------------------- the load */

static void
end_early(sp_commit_run *commit, const char *why, const char *hint)
{
	if (commit->over)
		return;
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
	if (strcmp(now, commit->run->profile.wal_sync_method) != 0)
		end_early(commit, psprintf("wal_sync_method was changed to %s", now), NULL);
}

static void
check_others(sp_commit_run *commit)
{
	const sp_commit_sums *sums = sp_sampler_stop(commit->others);
	sp_commit_figures figures;

	if (sums->seconds < OTHERS_SECONDS)
		return;
	figures = sp_commit_figures_of(sums);
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
					 errhint(SP_WORKER_HINT)));
	}
}

/* --------------------------------------------------------------- room for WAL */

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
	int64		bytes = sp_check_reserve(&commit->run->location, commit->directory_fd, 0);
	XLogRecPtr	end;

	if ((int64) (wanted - last_segment(commit)) * wal_segment_size > bytes)
		bytes = 0;
	/* the limit never rises */
	commit->limit = Min(commit->limit, GetXLogInsertRecPtr() + bytes / 2);
	if (wal_is_used_up(commit))
	{
		end_early(commit, psprintf("the server has written %s of WAL",
								   sp_pretty_bytes((int64) (commit->limit - commit->begin))),
				  commit->limit - commit->begin < sp_max_commit_wal_mb * UINT64CONST(1024) * 1024 ?
				  "Free space in pg_wal limits it." : "pg_sync_probe.max_commit_wal limits it.");
		return SP_ROOM_ASKED;
	}
	for (; last_segment(commit) < wanted; commit->last_segment++)
	{
		CHECK_FOR_INTERRUPTS();
		close(XLogFileInit(commit->last_segment + 1, timeline));
	}
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
	check_others(commit);
	if (!commit->over)
		(void) pg_atomic_compare_exchange_u64(room, &seen, make_room(commit));
}

/* One step of waiting while workers run: it takes about a millisecond. */
static void
watch(sp_commit_run *commit)
{
	CHECK_FOR_INTERRUPTS();
	/* workers have ended then, and nothing reports it */
	sp_check_postmaster();
	/* often, after a reload, and when workers need another segment */
	if (pg_atomic_read_u64(&commit->shared->room) == SP_ROOM_ASKED ||
		wanted_segment(commit) > last_segment(commit) || wal_is_used_up(commit) ||
		sp_monotonic_ns() >= commit->next_look_ns)
		look(commit);
	sp_sampler_step(commit->others);
}

static void
await_workers(sp_commit_run *commit, pg_atomic_uint32 *counter)
{
	while (pg_atomic_read_u32(counter) < (uint32) commit->nworkers && !commit->over)
		watch(commit);
	/* their figures */
	pg_read_barrier();
}

/* ------------------------------------------------------------------ workers */

static void
make_shared(sp_commit_run *commit)
{
	Size		size = offsetof(sp_commit_shared, histograms) +
		commit->run->workers * sizeof(sp_histogram);
	sp_commit_shared *shared;

	commit->segment = dsm_create(size, 0);
	commit->shared = shared = dsm_segment_address(commit->segment);
	memset(shared, 0, size);
	shared->record_size = commit->run->profile.server.flush_size;
	strlcpy(shared->method, commit->run->profile.wal_sync_method, NAMEDATALEN);
	strlcpy(shared->commit_delay, commit->commit_delay, NAMEDATALEN);
	shared->hold_xid = commit->delays || atoi(commit->commit_delay) > 0;
	pg_atomic_init_u32(&shared->phase, SP_RESTING);
	pg_atomic_init_u32(&shared->joined, 0);
	pg_atomic_init_u32(&shared->settled, 0);
	pg_atomic_init_u32(&shared->resting, 0);
	pg_atomic_init_u64(&shared->room, SP_ROOM_ASKED);
}

static void
register_workers(sp_commit_run *commit)
{
	int			wanted = commit->run->workers;

	while (commit->nworkers < wanted &&
		   sp_worker_register("pg_sync_probe commit worker", "sync_probe_commit_worker", true,
							  BGW_NEVER_RESTART, commit->segment,
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

static void
start_workers(sp_commit_run *commit)
{
	sp_run	   *run = commit->run;

	commit->in_flight = run->workers * MAXALIGN(run->profile.server.flush_size);
	commit->begin = GetXLogInsertRecPtr();
	commit->limit = commit->begin + sp_max_commit_wal_mb * UINT64CONST(1024) * 1024;
	commit->others = sp_sampler_make(true, false);
	sp_sampler_start(commit->others);
	make_shared(commit);
	/* is there space? */
	look(commit);
	register_workers(commit);
	run->workers = commit->nworkers;
	commit->shared->pause_ns = (int64) (commit->interval_us * 1000) * commit->nworkers;
	await_workers(commit, &commit->shared->resting);
}

/*
 * End the workers and wait for them, as the server does at the end of a parallel query.  Also
 * called after an error and while the backend exits: must not throw an error.  First it releases
 * locks that workers may wait for.
 */
static void
end_workers(int code pg_attribute_unused(), Datum arg)
{
	sp_commit_run *commit = (sp_commit_run *) DatumGetPointer(arg);

	LWLockReleaseAll();
	HOLD_INTERRUPTS();
	for (int i = 0; i < commit->nworkers; i++)
		TerminateBackgroundWorker(commit->handles[i]);
	for (int i = 0; i < commit->nworkers; i++)
		(void) WaitForBackgroundWorkerShutdown(commit->handles[i]);
	RESUME_INTERRUPTS();
}

/* -------------------------------------------------------------------- slots */

/*
 * Let workers commit in one slot.  Their records count once all have settled: before, others may
 * still change their method, which syncs.  Returns how long they count, in seconds.
 */
static double
let_workers_commit(sp_commit_run *commit)
{
	sp_commit_shared *shared = commit->shared;
	int64		began_ns;
	int64		ended_ns;

	pg_atomic_write_u32(&shared->settled, 0);
	pg_atomic_write_u32(&shared->resting, 0);
	(void) pg_atomic_exchange_u32(&shared->phase, SP_SETTLING);
	await_workers(commit, &shared->settled);
	began_ns = sp_monotonic_ns();
	pg_atomic_write_u32(&shared->phase, SP_COUNTING);
	while ((ended_ns = sp_monotonic_ns()) < began_ns + commit->slot_s * 1e9 && !commit->over)
		watch(commit);
	pg_atomic_write_u32(&shared->phase, SP_RESTING);
	await_workers(commit, &shared->resting);
	return (double) (ended_ns - began_ns) / 1e9;
}

/* An sp_slot.  The control has no figures of its own. */
static bool
take_slot(void *context, int value, double *wait_us, double *commits_per_sec)
{
	sp_commit_run *commit = context;
	sp_compared *compared = &commit->compared;
	sp_histogram sum = {0};
	double		seconds;

	strlcpy(commit->delays ? commit->shared->commit_delay : commit->shared->method,
			compared->setting.values[Max(value, 0)].value, NAMEDATALEN);
	seconds = let_workers_commit(commit);
	if (commit->over)
		return false;
	for (int i = 0; i < commit->nworkers; i++)
		sp_histogram_merge(&sum, &commit->shared->histograms[i]);
	*wait_us = sp_histogram_mean_ns(&sum) / 1000;	/* NAN without any */
	*commits_per_sec = (double) sum.ops / seconds;
	if (value < 0)
		return true;
	sp_histogram_merge(&compared->histograms[value], &sum);
	compared->sums[value].commits += sum.ops;
	compared->sums[value].seconds += seconds;
	return true;
}

/* commit_delay acts only while commit_siblings other transactions are active. */
static void
notice_if_few_workers(const sp_commit_run *commit)
{
	int			siblings = atoi(GetConfigOptionResetString("commit_siblings"));

	if (commit->delays && commit->run->workers <= siblings)
		ereport(NOTICE,
				(errmsg("commit_delay has no effect with fewer than commit_siblings (%d) other transactions; workers: %d",
						siblings, commit->run->workers),
				 errhint("Use workers => %d or more.", siblings + 1)));
}

/* Let workers commit for the duration, and judge. */
void
sp_commit_measure(sp_commit_run *commit)
{
	sp_compared *compared = &commit->compared;

	commit->directory_fd = sp_location_open(&commit->run->location);
	commit->run->started_at = GetCurrentTimestamp();
	compared->started_ns = sp_monotonic_ns();
	PG_ENSURE_ERROR_CLEANUP(end_workers, PointerGetDatum(commit));
	{
		start_workers(commit);
		sp_compared_rounds(compared, commit->slot_s, take_slot, commit);
	}
	PG_END_ENSURE_ERROR_CLEANUP(end_workers, PointerGetDatum(commit));
	end_workers(0, PointerGetDatum(commit));
	dsm_detach(commit->segment);
	(void) CloseTransientFile(commit->directory_fd);
	commit->run->finished_at = GetCurrentTimestamp();
	notice_if_few_workers(commit);
	sp_compared_judge(compared);
	/* an early end was already reported */
	if (!commit->over)
		sp_notice_if_too_short(commit->run, compared->setting.rounds);
}
