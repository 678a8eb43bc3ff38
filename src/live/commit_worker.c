/*-------------------------------------------------------------------------
 *
 * commit_worker.c
 *		A background worker of the commit suite: it flushes WAL as a commit does.
 *
 * It inserts records that redo nothing (XLOG_NOOP) and flushes each with XLogFlush(), so
 * it takes part in the group commit of the server.  The sync method and commit_delay are
 * set in this process only, which does not read the configuration at a reload: it asks the
 * leader whether it may go on.
 *
 * commit_delay counts other processes with a transaction ID (MinimumActiveBackends()).
 * So each worker holds one where commit_delay matters, for one slot at most, since it
 * holds back vacuum.  The transaction is committed and not rolled back: the record of a
 * rollback is written without a flush.
 *
 * It must not: connect to a database, or outlive its leader.
 *
 *-------------------------------------------------------------------------
 */
#include "live/live_internal.h"

#include "access/rmgr.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "access/xlog_internal.h"
#include "access/xloginsert.h"
#include "access/xlogrecord.h"
#include "catalog/pg_control.h"
#include "common/pg_prng.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/proc.h"
#include "tcop/tcopprot.h"
#include "utils/guc.h"

#include "compat.h"

/* A pause is slept in pieces, so that the end of the slot is seen. */
#define MAX_PIECE_NS	(5 * INT64CONST(1000000))
#define REST_MS			5

/* Until the leader looks, see commit_load.c. */
#define WAIT_NS			(1 * INT64CONST(1000000))

/* The state of this process. */
typedef struct committing
{
	sp_commit_control *control;
	sp_commit_worker *worker;
	char	   *data;
	int			data_size;
	uint32		asked;			/* this worker's last question, by its number */
	uint32		pause_event;
	uint32		rest_event;
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

static bool
slot_goes_on(const committing *state, uint32 command)
{
	return pg_atomic_read_u32(&state->control->command) == command && !state->control->stop;
}

/*
 * Has the leader read the configuration since the last reload, and found the same
 * wal_sync_method?
 */
static bool
may_use_method(committing *state)
{
	if (ConfigReloadPending)
	{
		ConfigReloadPending = false;
		state->asked = pg_atomic_add_fetch_u32(&state->control->asked, 1);
	}
	return pg_atomic_read_u32(&state->control->granted) >= state->asked;
}

static bool
has_room(const committing *state)
{
	return GetXLogInsertRecPtr() < pg_atomic_read_u64(&state->control->room);
}

/*
 * Wait until that time, and until this process may insert a record.  False if the slot has
 * ended before.
 */
static bool
await_turn(committing *state, uint32 command, int64 due_ns)
{
	while (slot_goes_on(state, command))
	{
		int64		left = due_ns - sp_monotonic_ns();

		CHECK_FOR_INTERRUPTS();
		if (left <= 0)
		{
			if (may_use_method(state) && has_room(state))
				return true;
			left = WAIT_NS;
		}
		pgstat_report_wait_start(state->pause_event);
		pg_usleep((long) (Min(left, MAX_PIECE_NS) / 1000) + 1);
		pgstat_report_wait_end();
	}
	return false;
}

/* Insert a record and flush it.  False if it would exceed the limit of WAL. */
static bool
commit_record(const committing *state)
{
	sp_commit_control *control = state->control;
	int64		bytes = MAXALIGN(control->record_size);
	XLogRecPtr	end;

	if (pg_atomic_add_fetch_u64(&control->wal_bytes, bytes) >
		pg_atomic_read_u64(&control->max_wal_bytes))
		return false;
	XLogBeginInsert();
	/* as others that need no checkpoint, no archiving and no snapshot of their own */
	XLogSetRecordFlags(XLOG_MARK_UNIMPORTANT);
	if (state->data_size > 0)
		XLogRegisterData(state->data, state->data_size);
	end = XLogInsert(RM_XLOG_ID, XLOG_NOOP);
	XLogFlush(end);
	return true;
}

/* The next record is due: at random, as commits of sessions are. */
static int64
next_due(int64 due_ns, int64 interval_ns)
{
	return due_ns + (int64) ((0.5 + pg_prng_double(&pg_global_prng_state)) * (double) interval_ns);
}

/*
 * Flush records until the slot ends.  They count once all workers have settled: before,
 * others may still change their method, which syncs.  A record that began in the slot
 * counts even if it ends later.
 */
static void
commit_records(committing *state, uint32 command)
{
	sp_commit_control *control = state->control;
	sp_commit_worker *worker = state->worker;
	int64		interval_ns = control->interval_ns;
	int64		due_ns = sp_monotonic_ns() -
		(int64) (pg_prng_double(&pg_global_prng_state) * (double) interval_ns);
	int64		counted_since_ns = 0;

	for (;;)
	{
		int64		began_ns;

		if (counted_since_ns == 0 &&
			pg_atomic_read_u32(&control->settled) == (uint32) control->nworkers)
			counted_since_ns = sp_monotonic_ns();
		if (control->think_ns > 0)
			due_ns = next_due(sp_monotonic_ns(), control->think_ns);
		else if (interval_ns > 0)
			due_ns = Max(next_due(due_ns, interval_ns), sp_monotonic_ns());
		if (!await_turn(state, command, due_ns))
			break;
		began_ns = sp_monotonic_ns();
		if (!commit_record(state))
			break;
		if (counted_since_ns > 0)
			sp_histogram_add(&worker->histogram, (uint64) (sp_monotonic_ns() - began_ns));
	}
	worker->counted_ns = counted_since_ns > 0 ? sp_monotonic_ns() - counted_since_ns : 0;
}

/* Settings of this process.  No source has a higher priority than PGC_S_OVERRIDE. */
static void
set_own_settings(const sp_commit_control *control)
{
	char		delay[16];

	snprintf(delay, sizeof(delay), "%d", control->commit_delay);
	SetConfigOption("wal_sync_method", control->method, PGC_SIGHUP, PGC_S_OVERRIDE);
	SetConfigOption("commit_delay", delay, PGC_SUSET, PGC_S_OVERRIDE);
}

/* A commit flushes, as a rollback does not: not with a method that may be of the other kind. */
static void
end_transaction(committing *state)
{
	if (may_use_method(state))
		CommitTransactionCommand();
	else
		AbortCurrentTransaction();
}

static void
run_slot(committing *state, uint32 command)
{
	sp_commit_control *control = state->control;
	bool		hold_xid = control->hold_xid;

	set_own_settings(control);
	state->worker->counted_ns = 0;
	sp_histogram_reset(&state->worker->histogram);
	if (hold_xid)
	{
		SetCurrentStatementStartTimestamp();
		StartTransactionCommand();
		(void) GetTopTransactionId();
	}
	if (await_turn(state, command, 0) && commit_record(state))
	{
		(void) pg_atomic_fetch_add_u32(&control->settled, 1);
		commit_records(state, command);
	}
	if (hold_xid)
		end_transaction(state);
	(void) pg_atomic_fetch_add_u32(&control->resting, 1);
}

/* The leader waits for this after an error, too. */
static void
tell_leader(int code pg_attribute_unused(), Datum arg)
{
	((sp_commit_worker *) DatumGetPointer(arg))->ended = true;
}

static void
serve(committing *state)
{
	sp_commit_control *control = state->control;
	uint32		done = 0;

	while (!control->stop)
	{
		/* also one that is over already: the leader waits until all have left it */
		uint32		slot = (pg_atomic_read_u32(&control->command) + 1) / 2;

		CHECK_FOR_INTERRUPTS();
		if (slot != done)
		{
			run_slot(state, 2 * slot - 1);
			done = slot;
			continue;
		}
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, REST_MS,
						 state->rest_event);
		ResetLatch(MyLatch);
	}
}

/* The main function of a worker.  handle: of the segment with sp_commit_control. */
void
sync_probe_commit_worker(Datum handle)
{
	committing	state = {0};
	dsm_segment *segment;

	if (!sp_worker_fits())
		return;
	pqsignal(SIGTERM, die);
	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	BackgroundWorkerUnblockSignals();
	BackgroundWorkerInitializeConnection(NULL, NULL, 0);

	segment = dsm_attach(DatumGetUInt32(handle));
	if (segment == NULL)
		return;					/* the leader has ended */
	dsm_pin_mapping(segment);
	state.control = dsm_segment_address(segment);
	state.worker = &state.control->workers[sp_worker_number()];
	state.data_size = record_data_size(state.control->record_size);
	state.data = palloc(state.data_size + 1);
	sp_fill_random(state.data, state.data_size);
	state.pause_event = sp_wait_event_new("SyncProbeCommitPause");
	state.rest_event = sp_wait_event_new("SyncProbeCommitRest");

	/* a reload may have come before this process could notice it */
	ConfigReloadPending = true;
	/* the end of its transactions must not wait for a standby */
	SetConfigOption("synchronous_commit", "local", PGC_USERSET, PGC_S_OVERRIDE);
	pgstat_report_activity(STATE_RUNNING, "sync_probe.probe(): flushing WAL for the commit suite");
	before_shmem_exit(tell_leader, PointerGetDatum(state.worker));
	state.worker->process = (int) (MyProc - ProcGlobal->allProcs);
	serve(&state);
}
