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

#include "access/rmgr.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "access/xlog_internal.h"
#include "access/xloginsert.h"
#include "access/xlogrecord.h"
#include "catalog/pg_control.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/interrupt.h"

#include "compat.h"

/* A pause is slept in pieces, so that the end of the slot is seen. */
#define MAX_PIECE_NS	(5 * INT64CONST(1000000))

/* Until the leader looks, or begins a slot. */
#define WAIT_NS			(1 * INT64CONST(1000000))

/* The state of this process. */
typedef struct committing
{
	sp_commit_shared *shared;
	sp_commit_worker *figures;
	char	   *data;
	int			data_size;
	uint32		wait_event;
} committing;

/* Bytes of data that make a record of that size: headers of data are of two kinds. */
static int
record_data_size(int record_size)
{
	int			room = record_size - (int) (SizeOfXLogRecord + SizeOfXLogRecordDataHeaderShort);

	if (room <= 255)
		return Max(room, 0);
	return record_size - (int) (SizeOfXLogRecord + SizeOfXLogRecordDataHeaderLong);
}

static void
nap(const committing *state, int64 ns)
{
	pgstat_report_wait_start(state->wait_event);
	pg_usleep((long) (Min(ns, MAX_PIECE_NS) / 1000) + 1);
	pgstat_report_wait_end();
}

static bool
slot_goes_on(const committing *state, uint32 slot)
{
	return pg_atomic_read_u32(&state->shared->slot) == slot && !ShutdownRequestPending;
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

/* Wait until that time, and until this process may write.  False if the slot has ended before. */
static bool
await_turn(const committing *state, uint32 slot, int64 due_ns)
{
	while (slot_goes_on(state, slot))
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
	if (state->data_size > 0)
		XLogRegisterData(state->data, state->data_size);
	XLogFlush(XLogInsert(RM_XLOG_ID, XLOG_NOOP));
}

/* The next record is due: at random, as commits of sessions are. */
static int64
next_due(int64 since_ns, int64 pause_ns)
{
	return since_ns + (int64) ((0.5 + pg_prng_double(&pg_global_prng_state)) * (double) pause_ns);
}

/*
 * Flush records until the slot ends.  They count once all workers have settled: before, others
 * may still change their method, which syncs.  A record that began in the slot counts even if it
 * ends later.
 */
static void
commit_records(committing *state, uint32 slot)
{
	sp_commit_shared *shared = state->shared;
	int64		due_ns = sp_monotonic_ns() -
		(int64) (pg_prng_double(&pg_global_prng_state) * (double) shared->pause_ns);
	int64		counted_since_ns = 0;

	for (;;)
	{
		int64		began_ns = sp_monotonic_ns();

		if (counted_since_ns == 0 && pg_atomic_read_u32(&shared->settled) == shared->nworkers)
			counted_since_ns = began_ns;
		due_ns = next_due(shared->thinks ? began_ns : due_ns, shared->pause_ns);
		due_ns = Max(due_ns, began_ns);
		if (!await_turn(state, slot, due_ns))
			break;
		began_ns = sp_monotonic_ns();
		commit_record(state);
		if (counted_since_ns > 0)
			sp_histogram_add(&state->figures->histogram, (uint64) (sp_monotonic_ns() - began_ns));
	}
	state->figures->counted_ns = counted_since_ns > 0 ? sp_monotonic_ns() - counted_since_ns : 0;
}

/* Settings of this process.  No source has a higher priority than PGC_S_OVERRIDE. */
static void
set_own_settings(const sp_commit_shared *shared)
{
	char		delay[16];

	snprintf(delay, sizeof(delay), "%d", shared->commit_delay);
	SetConfigOption("wal_sync_method", shared->method, PGC_SIGHUP, PGC_S_OVERRIDE);
	SetConfigOption("commit_delay", delay, PGC_SUSET, PGC_S_OVERRIDE);
}

static void
run_slot(committing *state, uint32 slot)
{
	bool		hold_xid = state->shared->hold_xid;

	set_own_settings(state->shared);
	state->figures->counted_ns = 0;
	sp_histogram_reset(&state->figures->histogram);
	if (hold_xid)
	{
		SetCurrentStatementStartTimestamp();
		StartTransactionCommand();
		(void) GetTopTransactionId();
	}
	if (await_turn(state, slot, 0))
	{
		commit_record(state);
		(void) pg_atomic_fetch_add_u32(&state->shared->settled, 1);
		commit_records(state, slot);
	}
	/* a commit flushes, as a rollback does not: not with a method that may be of the other kind */
	if (hold_xid && has_leave(state))
		CommitTransactionCommand();
	else if (hold_xid)
		AbortCurrentTransaction();
}

static void
serve(committing *state)
{
	uint32		done = 0;

	while (!ShutdownRequestPending)
	{
		/* also one that is over already: the leader waits until all have left it */
		uint32		slot = (pg_atomic_read_u32(&state->shared->slot) + 1) / 2;

		CHECK_FOR_INTERRUPTS();
		if (slot == done)
		{
			nap(state, WAIT_NS);
			continue;
		}
		run_slot(state, 2 * slot - 1);
		done = slot;
		(void) pg_atomic_fetch_add_u32(&state->shared->resting, 1);
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
	state.figures = &state.shared->workers[sp_worker_number() - 1];
	state.data_size = record_data_size(state.shared->record_size);
	state.data = palloc(state.data_size + 1);
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
