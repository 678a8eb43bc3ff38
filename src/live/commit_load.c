/*-------------------------------------------------------------------------
 *
 * commit_load.c
 *		The leader of the commit suite's workers: start them, run slots, end them.
 *
 * While a slot runs, the leader samples the sessions of the server: do they commit, too?  It
 * also looks at the space and the configuration, and permits the workers to write.
 *
 *-------------------------------------------------------------------------
 */
#include "live/live_internal.h"

#include <math.h>

#include "access/xlog.h"
#include "access/xlog_internal.h"
#include "access/xlogrecord.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/interrupt.h"
#include "storage/proc.h"
#include "utils/wait_event.h"

#include "compat.h"

#define CHECK_WORKERS_NS	(20 * INT64CONST(1000000))
#define LOOK_NS				(100 * INT64CONST(1000000))
#define MAX_END_NS			(10 * INT64CONST(1000000000))

/* How long other sessions are sampled for a figure. */
#define OTHERS_SECONDS	1.0

struct sp_commit_load
{
	dsm_segment *segment;
	sp_commit_control *control;
	int			nworkers;		/* registered */
	BackgroundWorkerHandle *handles[SP_MAX_COMMIT_WORKERS];
	int64		next_check_ns;	/* of the workers */
	sp_commit_look look;
	void	   *look_context;
	int64		next_look_ns;
	uint64		in_flight;		/* WAL of workers that have looked for room, at most */
	XLogSegNo	last_segment;	/* that was made */
	bool		over;			/* by the look */
	sp_sampler *others;
};

sp_commit_load *
sp_commit_load_make(void)
{
	sp_commit_load *load = palloc0(sizeof(sp_commit_load));

	load->others = sp_sampler_make();
	sp_sampler_clients_only(load->others);
	sp_sampler_start(load->others);
	return load;
}

/* ----------------------------------------------------------------- watching */

/* Throw an error if a worker has ended. */
static void
check_workers(sp_commit_load *load)
{
	if (sp_monotonic_ns() < load->next_check_ns)
		return;
	load->next_check_ns = sp_monotonic_ns() + CHECK_WORKERS_NS;
	for (int i = 0; i < load->nworkers; i++)
	{
		pid_t		pid;
		BgwHandleStatus status = GetBackgroundWorkerPid(load->handles[i], &pid);

		if (status != BGWH_STOPPED && status != BGWH_POSTMASTER_DIED)
			continue;
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("a background worker of the commit suite has ended"),
				 errdetail("It was worker %d of %d.", i + 1, load->nworkers),
				 load->control->workers[i].process < 0 ? errhint(SP_WORKER_HINT) :
				 errhint("The server log may say why. Start the probe again.")));
	}
}

/* ------------------------------------------------------- permission to write WAL */

int64
sp_commit_load_max_wal_bytes(const sp_commit_load *load)
{
	return (int64) pg_atomic_read_u64(&load->control->max_wal_bytes);
}

bool
sp_commit_load_wal_is_used_up(const sp_commit_load *load)
{
	return (int64) pg_atomic_read_u64(&load->control->wal_bytes) >=
		sp_commit_load_max_wal_bytes(load);
}

/* Workers may write no more than that from now on.  The limit never rises. */
static void
limit_wal(sp_commit_load *load, int64 bytes)
{
	int64		limit = (int64) pg_atomic_read_u64(&load->control->wal_bytes) + bytes;

	if (limit < sp_commit_load_max_wal_bytes(load))
		pg_atomic_write_u64(&load->control->max_wal_bytes, (uint64) limit);
}

/* Two segments more than workers need now: one to go on, and one for other processes. */
static XLogSegNo
wanted_segment(const sp_commit_load *load)
{
	XLogSegNo	segment;

	XLByteToSeg(GetXLogInsertRecPtr() + load->in_flight, segment, wal_segment_size);
	return segment + 2;
}

/*
 * The last segment that exists for sure.  Others may have written beyond those made here, and
 * a checkpoint may have removed some of them: these must not come back, as empty files that
 * would be archived.  Only a leader that is stopped within XLogFileInit() for so long can still
 * do that.
 */
static XLogSegNo
last_segment(sp_commit_load *load)
{
	XLogSegNo	written;

	XLByteToPrevSeg(GetXLogWriteRecPtr(), written, wal_segment_size);
	load->last_segment = Max(load->last_segment, written);
	return load->last_segment;
}

/*
 * Make segments before workers need them.  The server does it while it writes WAL, where a
 * full disk is a PANIC.  Here it is an error.
 */
static void
make_segments(sp_commit_load *load, XLogSegNo wanted)
{
	TimeLineID	timeline = GetWALInsertionTimeLine();
	XLogRecPtr	last_begin;

	for (; last_segment(load) < wanted; load->last_segment++)
		close(XLogFileInit(load->last_segment + 1, timeline));
	XLogSegNoOffsetToRecPtr(load->last_segment, 0, wal_segment_size, last_begin);
	pg_atomic_write_u64(&load->control->room, last_begin - load->in_flight);
}

/* Every 100 ms, after a reload, and when workers need another segment. */
static void
attend(sp_commit_load *load)
{
	sp_commit_control *control = load->control;
	uint32		asked = pg_atomic_read_u32(&control->asked);
	bool		reloaded = asked != pg_atomic_read_u32(&control->granted);
	XLogSegNo	wanted = wanted_segment(load);
	int64		free_bytes;

	if (load->over || (!reloaded && wanted <= last_segment(load) &&
					   sp_monotonic_ns() < load->next_look_ns))
		return;
	load->next_look_ns = sp_monotonic_ns() + LOOK_NS;
	/* the signal may reach this process later than a worker */
	if (reloaded)
		ConfigReloadPending = true;
	free_bytes = load->look(load->look_context);
	load->over = free_bytes < 0;
	if (load->over)
		return;
	pg_atomic_write_u32(&control->granted, asked);
	if ((int64) (wanted - load->last_segment) * wal_segment_size > free_bytes)
		limit_wal(load, 0);
	else
	{
		limit_wal(load, free_bytes / 2);
		make_segments(load, wanted);
	}
}

/* One step of waiting while workers run: sample, and sleep for about a millisecond. */
static void
watch(sp_commit_load *load)
{
	CHECK_FOR_INTERRUPTS();
	attend(load);
	check_workers(load);
	sp_sampler_take(load->others);
	sp_sampler_sleep();
}

/* ------------------------------------------------------------------- others */

double
sp_commit_load_others(sp_commit_load *load)
{
	const sp_commit_sums *sums = sp_sampler_stop(load->others);
	sp_commit_figures figures;

	if (sums->seconds < OTHERS_SECONDS)
		return 0;
	sp_commit_figures_of(sums, &figures);
	sp_sampler_start(load->others);
	return figures.committing;
}

/* ------------------------------------------------------------------ workers */

static void
allocate_control(sp_commit_load *load, const sp_commit_demand *demand)
{
	Size		size = offsetof(sp_commit_control, workers) +
		demand->workers * sizeof(sp_commit_worker);

	load->segment = dsm_create(size, 0);
	load->control = dsm_segment_address(load->segment);
	memset(load->control, 0, size);
	load->control->record_size = demand->record_size;
	load->control->think_ns = demand->think_us * 1000;
	pg_atomic_init_u32(&load->control->command, 0);
	pg_atomic_init_u32(&load->control->settled, 0);
	pg_atomic_init_u32(&load->control->resting, 0);
	pg_atomic_init_u32(&load->control->asked, 0);
	pg_atomic_init_u32(&load->control->granted, 0);
	pg_atomic_init_u64(&load->control->room, 0);
	pg_atomic_init_u64(&load->control->max_wal_bytes, (uint64) demand->max_wal_bytes);
	pg_atomic_init_u64(&load->control->wal_bytes, 0);
	for (int i = 0; i < demand->workers; i++)
		load->control->workers[i].process = -1;
}

/* False if no slot of max_worker_processes is free. */
static bool
register_worker(sp_commit_load *load, int number)
{
	BackgroundWorker worker = {0};

	worker.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
	worker.bgw_start_time = BgWorkerStart_RecoveryFinished;
	worker.bgw_restart_time = BGW_NEVER_RESTART;
	snprintf(worker.bgw_name, BGW_MAXLEN, "pg_sync_probe commit worker %d for PID %d",
			 number + 1, MyProcPid);
	snprintf(worker.bgw_type, BGW_MAXLEN, "pg_sync_probe commit worker");
	return sp_worker_register(&worker, "sync_probe_commit_worker", load->segment, number,
							  &load->handles[number]);
}

static void
complain_about_workers(int wanted, int free)
{
	ereport(ERROR,
			(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
			 errmsg("not enough background workers for the commit suite"),
			 errdetail("Needed: %d. Free: %d of max_worker_processes (%d).",
					   wanted, free, max_worker_processes),
			 free > 0 ?
			 errhint("Use workers => %d, or raise max_worker_processes and restart the server.",
					 free) :
			 errhint("Wait until parallel queries and other background workers end, or raise max_worker_processes and restart the server.")));
}

/* They rest until the first slot. */
static void
await_workers(sp_commit_load *load)
{
	for (int i = 0; i < load->nworkers; i++)
	{
		while (load->control->workers[i].process < 0)
			watch(load);
	}
}

int
sp_commit_load_start(sp_commit_load *load, const sp_commit_demand *demand)
{
	int			wanted = demand->workers;

	allocate_control(load, demand);
	load->look = demand->look;
	load->look_context = demand->look_context;
	load->in_flight = demand->workers * MAXALIGN(demand->record_size);
	attend(load);
	while (load->nworkers < wanted && register_worker(load, load->nworkers))
		load->nworkers++;
	if (load->nworkers < wanted && (load->nworkers == 0 || !demand->fewer_allowed))
		complain_about_workers(wanted, load->nworkers);
	if (load->nworkers < wanted)
		ereport(NOTICE,
				(errmsg("using %d of %d workers; max_worker_processes (%d) is exhausted",
						load->nworkers, wanted, max_worker_processes)));
	load->control->nworkers = load->nworkers;
	load->control->interval_ns = demand->interval_us * 1000 * load->nworkers;
	await_workers(load);
	return load->nworkers;
}

static void
wake_workers(sp_commit_load *load)
{
	for (int i = 0; i < load->nworkers; i++)
	{
		int			process = load->control->workers[i].process;

		if (process >= 0 && !load->control->workers[i].ended)
			SetLatch(&ProcGlobal->allProcs[process].procLatch);
	}
}

/* -------------------------------------------------------------------- slots */

/* All workers rest: sum up what they did. */
static void
collect_slot(sp_commit_load *load, sp_commit_slot *slot, sp_histogram *histogram)
{
	double		sum_us = 0;
	int64		counted = 0;

	memset(slot, 0, sizeof(*slot));
	for (int i = 0; i < load->nworkers; i++)
	{
		const sp_commit_worker *worker = &load->control->workers[i];

		if (worker->counted_ns == 0)
			continue;
		counted += (int64) worker->histogram.ops;
		sum_us += worker->histogram.sum_ns / 1000;
		slot->commits_per_sec += (double) worker->histogram.ops / ((double) worker->counted_ns / 1e9);
		if (histogram)
			sp_histogram_merge(histogram, &worker->histogram);
	}
	slot->wait_us = counted > 0 ? sum_us / (double) counted : NAN;
}

static bool
is_cut_short(const sp_commit_load *load)
{
	return load->over || sp_commit_load_wal_is_used_up(load);
}

bool
sp_commit_load_slot(sp_commit_load *load, const sp_commit_settings *settings, double seconds,
					sp_commit_slot *slot, sp_histogram *histogram)
{
	sp_commit_control *control = load->control;
	uint32		nworkers = (uint32) load->nworkers;
	int64		end_ns;

	strlcpy(control->method, settings->wal_sync_method, sizeof(control->method));
	control->commit_delay = settings->commit_delay;
	control->hold_xid = settings->hold_xid;
	pg_atomic_write_u32(&control->settled, 0);
	pg_atomic_write_u32(&control->resting, 0);
	(void) pg_atomic_fetch_add_u32(&control->command, 1);
	wake_workers(load);

	while (pg_atomic_read_u32(&control->settled) < nworkers && !is_cut_short(load))
		watch(load);
	end_ns = sp_monotonic_ns() + (int64) (seconds * 1e9);
	while (sp_monotonic_ns() < end_ns && !is_cut_short(load))
		watch(load);
	(void) pg_atomic_fetch_add_u32(&control->command, 1);
	while (pg_atomic_read_u32(&control->resting) < nworkers)
		watch(load);
	collect_slot(load, slot, histogram);
	return !is_cut_short(load);
}

/* ---------------------------------------------------------------------- end */

void
sp_commit_load_finish(sp_commit_load *load)
{
	load->control->stop = true;
	wake_workers(load);
	for (int i = 0; i < load->nworkers; i++)
		(void) WaitForBackgroundWorkerShutdown(load->handles[i]);
	load->nworkers = 0;
	dsm_detach(load->segment);
	load->segment = NULL;
	load->control = NULL;
}

/* A worker that has not begun yet is stopped by the postmaster, and finds no segment. */
static bool
all_ended(const sp_commit_load *load)
{
	for (int i = 0; i < load->nworkers; i++)
	{
		const sp_commit_worker *worker = &load->control->workers[i];

		if (worker->process >= 0 && !worker->ended)
			return false;
	}
	return true;
}

void
sp_commit_load_abandon(sp_commit_load *load)
{
	int64		give_up_ns = sp_monotonic_ns() + MAX_END_NS;

	if (load->segment == NULL)
		return;
	load->control->stop = true;
	wake_workers(load);
	for (int i = 0; i < load->nworkers; i++)
	{
		if (load->control->workers[i].process < 0)
			TerminateBackgroundWorker(load->handles[i]);
	}
	while (!all_ended(load) && sp_monotonic_ns() < give_up_ns)
		pg_usleep(1000);
}
