/*-------------------------------------------------------------------------
 *
 * commit_worker.c
 *		A background worker of the commit suite: it flushes WAL as a commit does.
 *
 * It inserts records that redo nothing (XLOG_NOOP) and flushes each with XLogFlush(), so it takes
 * part in the group commit of the server.  The sync method and commit_delay are set in this
 * process only, which does not read the configuration at a reload: it asks the leader whether it
 * may go on.
 *
 * commit_delay counts other processes with a transaction ID (MinimumActiveBackends()).  So each
 * worker holds one where commit_delay matters, for one slot at most, since it holds back vacuum.
 * The transaction is committed and not rolled back: the record of a rollback is written without
 * a flush.
 *
 * It must not: connect to a database, or outlive its leader.
 *
 *-------------------------------------------------------------------------
 */
#include "probe/commit_internal.h"

#include <math.h>

#include "access/xact.h"
#include "access/xlog.h"
#include "access/xloginsert.h"
#include "access/xlogrecord.h"
#include "catalog/pg_control.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/pmsignal.h"

#include "compat.h"

/* A pause is slept in pieces, so that the end of the slot is seen. */
#define MAX_PIECE_NS	(5 * INT64CONST(1000000))

/* Until the leader looks, or begins a slot. */
#define WAIT_NS			(1 * INT64CONST(1000000))

/* The state of this process. */
typedef struct committing
{
	sp_commit_shared *shared;
	sp_histogram *histogram;
	char	   *data;
	int			data_size;
	uint32		wait_event;
} committing;

static void
nap(const committing *state, int64 ns)
{
	pgstat_report_wait_start(state->wait_event);
	pg_usleep((long) (Min(ns, MAX_PIECE_NS) / 1000) + 1);
	pgstat_report_wait_end();
}

/* Is there room, and has the leader read the configuration since the last reload? */
static bool
has_leave(const committing *state)
{
	if (ConfigReloadPending)
	{
		ConfigReloadPending = false;
		pg_atomic_write_u64(&state->shared->room, SP_ROOM_ASKED);
	}
	return GetXLogInsertRecPtr() < pg_atomic_read_u64(&state->shared->room);
}

static sp_commit_phase
phase(const committing *state)
{
	sp_commit_phase now = pg_atomic_read_u32(&state->shared->phase);

	/* what the leader wrote before */
	pg_read_barrier();
	/* nobody else would end this process, which keeps the server from starting again */
	if (!PostmasterIsAlive())
		proc_exit(1);
	return ShutdownRequestPending ? SP_RESTING : now;
}

/* Wait until that time, and until this process may write.  False if the slot has ended before. */
static bool
await_turn(const committing *state, int64 due_ns)
{
	while (phase(state) != SP_RESTING)
	{
		int64		left = due_ns - sp_monotonic_ns();

		CHECK_FOR_INTERRUPTS();
		if (left <= 0 && has_leave(state))
			return true;
		nap(state, left <= 0 ? WAIT_NS : left);
	}
	return false;
}

static void
commit_record(const committing *state)
{
	XLogBeginInsert();
	/* as others that need no checkpoint, no archiving and no snapshot of their own */
	XLogSetRecordFlags(XLOG_MARK_UNIMPORTANT);
	XLogRegisterData(state->data, state->data_size);
	XLogFlush(XLogInsert(RM_XLOG_ID, XLOG_NOOP));
}

/*
 * Flush records until the slot ends.  A record that began while they count does so even if it
 * ends later.  A pause may end at any moment with equal probability, since sessions do not commit
 * in step, and it may already have lasted for long when the slot begins.
 */
static void
commit_records(const committing *state)
{
	for (;;)
	{
		double		pauses = -log1p(-pg_prng_double(&pg_global_prng_state));
		int64		began_ns;
		bool		counts;

		if (!await_turn(state, sp_monotonic_ns() + (int64) (pauses * state->shared->pause_ns)))
			return;
		counts = phase(state) == SP_COUNTING;
		began_ns = sp_monotonic_ns();
		commit_record(state);
		if (counts)
			sp_histogram_add(state->histogram, (uint64) (sp_monotonic_ns() - began_ns));
	}
}

static void
run_slot(const committing *state)
{
	bool		hold_xid = state->shared->hold_xid;

	/* in this process; no source has a higher priority than PGC_S_OVERRIDE */
	SetConfigOption("wal_sync_method", state->shared->method, PGC_SIGHUP, PGC_S_OVERRIDE);
	SetConfigOption("commit_delay", state->shared->commit_delay, PGC_SUSET, PGC_S_OVERRIDE);
	memset(state->histogram, 0, sizeof(sp_histogram));
	if (hold_xid)
	{
		SetCurrentStatementStartTimestamp();
		StartTransactionCommand();
		(void) GetTopTransactionId();
	}
	if (await_turn(state, 0))
	{
		commit_record(state);
		(void) pg_atomic_fetch_add_u32(&state->shared->settled, 1);
		commit_records(state);
	}
	/* a commit flushes, as a rollback does not: not with a method that may be of the other kind */
	if (hold_xid && has_leave(state))
		CommitTransactionCommand();
	else if (hold_xid)
		AbortCurrentTransaction();
}

/* No slot is missed or taken twice: the leader waits until all have settled, and until all rest. */
static void
serve(const committing *state)
{
	while (!ShutdownRequestPending)
	{
		CHECK_FOR_INTERRUPTS();
		if (phase(state) == SP_RESTING)
			nap(state, WAIT_NS);
		else
		{
			run_slot(state);
			(void) pg_atomic_fetch_add_u32(&state->shared->resting, 1);
		}
	}
}

/* The main function of a worker.  handle: of the segment with sp_commit_shared. */
void
sync_probe_commit_worker(Datum handle)
{
	committing	state = {0};
	dsm_segment *segment;

	if (!sp_worker_fits())
		return;
	pqsignal(SIGTERM, SignalHandlerForShutdownRequest);
	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	BackgroundWorkerUnblockSignals();
	BackgroundWorkerInitializeConnection(NULL, NULL, 0);

	segment = dsm_attach(DatumGetUInt32(handle));
	if (segment == NULL)
		return;					/* the leader has ended */
	dsm_pin_mapping(segment);
	state.shared = dsm_segment_address(segment);
	state.histogram = &state.shared->histograms[pg_atomic_fetch_add_u32(&state.shared->joined, 1)];
	/* a long record has a longer header of its data */
	state.data_size = state.shared->record_size -
		(int) (SizeOfXLogRecord + SizeOfXLogRecordDataHeaderShort);
	if (state.data_size > UINT8_MAX)
		state.data_size += SizeOfXLogRecordDataHeaderShort - SizeOfXLogRecordDataHeaderLong;
	state.data = palloc(state.data_size);
	if (!pg_strong_random(state.data, state.data_size))
		elog(ERROR, "no random bytes");
	state.wait_event = sp_wait_event_new("SyncProbeCommitPause");

	/* a reload may have come before this process could notice it */
	ConfigReloadPending = true;
	/* the end of its transactions must not wait for a standby */
	SetConfigOption("synchronous_commit", "local", PGC_USERSET, PGC_S_OVERRIDE);
	pgstat_report_activity(STATE_RUNNING, "sync_probe.probe(): flushing WAL for the commit suite");
	(void) pg_atomic_fetch_add_u32(&state.shared->resting, 1);
	serve(&state);
}
