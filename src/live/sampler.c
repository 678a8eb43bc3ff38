/*-------------------------------------------------------------------------
 *
 * sampler.c
 *		Samples of the server's processes: who is committing, and what it waits for.
 *
 * RecordTransactionCommit() sets DELAY_CHKPT_START before it inserts the commit record
 * and clears it after the flush, commit_delay included.  Wait events miss commit_delay up
 * to PostgreSQL 18, and the time between two waits.  The wait for a synchronous standby
 * follows, and has a wait event.
 *
 * Everything is read without a lock, as pg_stat_activity reads wait events: a sample may
 * be wrong about a process that changes its state meanwhile.  At about a thousand samples
 * a second this costs 2 % of a processor, with 10 connections and with 500 (measured by
 * the processor time of the backend, under pgbench and idle).  Quick, it costs 6 %.
 *
 *-------------------------------------------------------------------------
 */
#include "live/live.h"

#include <math.h>

#include "access/transam.h"
#include "access/xlog.h"
#include "miscadmin.h"
#include "storage/proc.h"
#include "utils/wait_event.h"

#include "compat.h"

#define MIN_SLEEP_US	500
#define MAX_SLEEP_US	1500
#define QUICKER			5

struct sp_sampler
{
	sp_commit_sums sums;
	int64		started_ns;
	bool		in_recovery;	/* at the start: it may be promoted meanwhile */
	uint64		first_completion;
	XLogRecPtr	first_insert;
	bool	   *has_committed;	/* by the index of the process */
	int			processes;		/* the first ones, which are sampled */
	bool		is_quick;
};

/* InitProcGlobal() gives the first MaxConnections entries to client backends. */
sp_sampler *
sp_sampler_make(bool clients_only, bool quick)
{
	sp_sampler *sampler = palloc0(sizeof(sp_sampler));

	sampler->processes = clients_only ? MaxConnections : (int) ProcGlobal->allProcCount;
	sampler->has_committed = palloc0(sampler->processes * sizeof(bool));
	sampler->is_quick = quick;
	return sampler;
}

/* On a standby nothing is inserted. */
static XLogRecPtr
insert_position(const sp_sampler *sampler)
{
	return sampler->in_recovery ? InvalidXLogRecPtr : GetXLogInsertRecPtr();
}

/*
 * Ends of transactions that had a transaction ID, rollbacks included, and of rolled back
 * subtransactions.  On a standby those that it replays are counted, and nothing commits.
 */
static uint64
completion_count(const sp_sampler *sampler)
{
	return sampler->in_recovery ? 0 : TransamVariables->xactCompletionCount;
}

void
sp_sampler_start(sp_sampler *sampler)
{
	memset(&sampler->sums, 0, sizeof(sampler->sums));
	memset(sampler->has_committed, 0, sampler->processes * sizeof(bool));
	sampler->sums.flushes = NAN;
	sampler->in_recovery = RecoveryInProgress();
	sampler->first_completion = completion_count(sampler);
	sampler->first_insert = insert_position(sampler);
	sampler->started_ns = sp_monotonic_ns();
}

static sp_commit_part
part_of(uint32 wait_event)
{
	if (wait_event == 0)
		return SP_PART_RUNNING;
	if (wait_event == WAIT_EVENT_WAL_SYNC)
		return SP_PART_SYNC;
	if (wait_event == WAIT_EVENT_WAL_WRITE)
		return SP_PART_WRITE;
	if (wait_event == (PG_WAIT_LWLOCK | WALWriteLock->tranche))
		return SP_PART_QUEUE;
	if (wait_event == SP_WAIT_EVENT_COMMIT_DELAY)
		return SP_PART_DELAY;
	return SP_PART_OTHER;
}

static void
sample_commit(sp_sampler *sampler, int i, volatile PGPROC *process, uint32 wait_event)
{
	if (process->delayChkptFlags & DELAY_CHKPT_START)
		sampler->sums.part[part_of(wait_event)]++;
	else if (wait_event == WAIT_EVENT_SYNC_REP)
		sampler->sums.part[SP_PART_SYNC_REP]++;
	else
		return;
	if (!sampler->has_committed[i])
	{
		sampler->has_committed[i] = true;
		sampler->sums.committers++;
	}
}

/*
 * Returns whether it writes or syncs WAL, for whatever reason.  Without a pid the entry is unused,
 * or a prepared transaction.  Up to 16 at least, the pid of a process that has ended stays, but
 * nobody owns its latch.
 */
static bool
sample_process(sp_sampler *sampler, int i)
{
	volatile PGPROC *process = &ProcGlobal->allProcs[i];
	uint32		wait_event;

	if (process->pid == 0 || process->procLatch.owner_pid == 0 || process->pid == MyProcPid)
		return false;
	wait_event = process->wait_event_info;
	if (i < MaxConnections)
	{
		sampler->sums.connected++;
		if (wait_event != WAIT_EVENT_CLIENT_READ)
			sampler->sums.active++;
	}
	sample_commit(sampler, i, process, wait_event);
	return wait_event == WAIT_EVENT_WAL_SYNC || wait_event == WAIT_EVENT_WAL_WRITE;
}

/*
 * The pause is random, since commits may come at a regular pace.  It is no latch wait: its
 * resolution is a millisecond, and nothing that wakes it up is due within this one.
 */
void
sp_sampler_step(sp_sampler *sampler)
{
	double		us = MIN_SLEEP_US + pg_prng_double(&pg_global_prng_state) *
		(MAX_SLEEP_US - MIN_SLEEP_US);
	bool		wal_busy = false;

	for (int i = 0; i < sampler->processes; i++)
		wal_busy |= sample_process(sampler, i);
	sampler->sums.wal_busy += wal_busy;
	sampler->sums.samples++;
	pg_usleep((long) (sampler->is_quick ? us / QUICKER : us));
}

static double
seconds_sampled(const sp_sampler *sampler)
{
	return (double) (sp_monotonic_ns() - sampler->started_ns) / 1e9;
}

void
sp_sampler_run(sp_sampler *sampler, double seconds)
{
	while (seconds_sampled(sampler) < seconds)
	{
		CHECK_FOR_INTERRUPTS();
		sp_check_postmaster();
		sp_sampler_step(sampler);
	}
}

const sp_commit_sums *
sp_sampler_stop(sp_sampler *sampler)
{
	sampler->sums.seconds = seconds_sampled(sampler);
	sampler->sums.commits = completion_count(sampler) - sampler->first_completion;
	sampler->sums.wal_bytes = insert_position(sampler) - sampler->first_insert;
	return &sampler->sums;
}

sp_commit_figures
sp_sampler_look(double seconds)
{
	sp_sampler *sampler = sp_sampler_make(false, false);

	sp_sampler_start(sampler);
	sp_sampler_run(sampler, seconds);
	return sp_commit_figures_of(sp_sampler_stop(sampler));
}
