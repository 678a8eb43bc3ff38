/*-------------------------------------------------------------------------
 *
 * commit_worker.c
 *		A background worker of the commit suite: it flushes WAL as a commit does.
 *
 * It inserts records that redo nothing (XLOG_NOOP) and flushes each with XLogFlush(), so
 * it takes part in the group commit of the server.  The sync method and commit_delay are
 * set in this process only.  SIGHUP is ignored, so that a reload does not undo this.
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

#include <signal.h>

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

/* The state of this process. */
typedef struct committing
{
	sp_commit_control *control;
	sp_commit_worker *worker;
	char	   *data;
	int			data_size;
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
	return pg_atomic_read_u32(&state->control->command) == command && !state->control->stop &&
		(int64) pg_atomic_read_u64(&state->control->lease_ns) > sp_monotonic_ns();
}

/*
 * Insert a record and flush it.  False if it would exceed the limit: the leader looks at
 * limits between rounds only, and many workers fill a disk sooner.
 */
static bool
commit_record(const committing *state)
{
	sp_commit_control *control = state->control;
	int64		bytes = MAXALIGN(control->record_size);
	XLogRecPtr	end;

	if ((int64) pg_atomic_fetch_add_u64(&control->wal_bytes, bytes) + bytes >
		control->max_wal_bytes)
		return false;
	XLogBeginInsert();
	/* as others that need no checkpoint, no archiving and no snapshot of their own */
	XLogSetRecordFlags(XLOG_MARK_UNIMPORTANT);
	if (state->data_size > 0)
		XLogRegisterData(state->data, state->data_size);
	end = XLogInsert(RM_XLOG_ID, XLOG_NOOP);
	XLogFlush(end);
	state->worker->records++;
	return true;
}

/* Sleep until that time; false if the slot has ended before. */
static bool
pause_until(const committing *state, uint32 command, int64 due_ns)
{
	int64		left;

	while ((left = due_ns - sp_monotonic_ns()) > 0)
	{
		if (!slot_goes_on(state, command))
			return false;
		CHECK_FOR_INTERRUPTS();
		pgstat_report_wait_start(state->pause_event);
		pg_usleep((long) (Min(left, MAX_PIECE_NS) / 1000) + 1);
		pgstat_report_wait_end();
	}
	return slot_goes_on(state, command);
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
commit_records(const committing *state, uint32 command)
{
	sp_commit_control *control = state->control;
	sp_commit_worker *worker = state->worker;
	int64		interval_ns = control->interval_ns;
	int64		due_ns = sp_monotonic_ns() -
		(int64) (pg_prng_double(&pg_global_prng_state) * (double) interval_ns);
	int64		counted_since_ns = 0;

	while (slot_goes_on(state, command))
	{
		int64		began_ns;

		CHECK_FOR_INTERRUPTS();
		if (counted_since_ns == 0 &&
			pg_atomic_read_u32(&control->settled) == (uint32) control->nworkers)
			counted_since_ns = sp_monotonic_ns();
		if (control->think_ns > 0)
			due_ns = next_due(sp_monotonic_ns(), control->think_ns);
		else if (interval_ns > 0)
			due_ns = Max(next_due(due_ns, interval_ns), sp_monotonic_ns());
		if (control->think_ns + interval_ns > 0 && !pause_until(state, command, due_ns))
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

static void
run_slot(const committing *state, uint32 command)
{
	sp_commit_control *control = state->control;
	bool		hold_xid = control->hold_xid;
	bool		within_limit;

	set_own_settings(control);
	state->worker->records = 0;
	state->worker->counted_ns = 0;
	sp_histogram_reset(&state->worker->histogram);
	if (hold_xid)
	{
		SetCurrentStatementStartTimestamp();
		StartTransactionCommand();
		(void) GetTopTransactionId();
	}
	/* the leader waits for all to settle, and to rest, also beyond the limit of WAL */
	within_limit = commit_record(state);
	(void) pg_atomic_fetch_add_u32(&control->settled, 1);
	if (within_limit)
		commit_records(state, command);
	if (hold_xid)
		CommitTransactionCommand();
	(void) pg_atomic_fetch_add_u32(&control->resting, 1);
}

/* The leader waits for this after an error, too. */
static void
tell_leader(int code pg_attribute_unused(), Datum arg)
{
	((sp_commit_worker *) DatumGetPointer(arg))->ended = true;
}

/* A leader tells when it ends; one that was killed cannot. */
static bool
leader_is_alive(const sp_commit_control *control)
{
	return kill(control->leader_pid, 0) == 0 || errno != ESRCH;
}

static void
serve(const committing *state)
{
	sp_commit_control *control = state->control;
	uint32		done = 0;

	while (!control->stop && leader_is_alive(control))
	{
		uint32		command = pg_atomic_read_u32(&control->command);

		CHECK_FOR_INTERRUPTS();
		if (command % 2 == 1 && command != done)
		{
			run_slot(state, command);
			done = command;
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

	/* the end of its transactions must not wait for a standby */
	SetConfigOption("synchronous_commit", "local", PGC_USERSET, PGC_S_OVERRIDE);
	pgstat_report_activity(STATE_RUNNING, "sync_probe.probe(): flushing WAL for the commit suite");
	before_shmem_exit(tell_leader, PointerGetDatum(state.worker));
	state.worker->process = (int) (MyProc - ProcGlobal->allProcs);
	serve(&state);
}
