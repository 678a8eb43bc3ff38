/*-------------------------------------------------------------------------
 *
 * live_internal.h
 *		What the workers of the commit suite and their leader share.
 *
 * The leader alternates slots and rests.  A rest ends when the leader makes command odd,
 * and the slot when it makes it even again.  Each worker tells when it has settled in a
 * slot and when it rests.  The leader changes method, commit_delay and hold_xid, and reads
 * the figures of a worker, only while all workers rest.
 *
 * A worker inserts a record only with leave of the leader, which it withholds by doing
 * nothing: if it hangs, workers stop.  There must be room in segments that exist, since
 * making one on a full disk is a PANIC in a worker, and an error in the leader.  And after
 * a reload the leader must have seen that wal_sync_method is still the same.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_LIVE_INTERNAL_H
#define SP_LIVE_INTERNAL_H

#include "live/live.h"
#include "port/atomics.h"
#include "storage/latch.h"
#include "storage/proc.h"

/* One worker; only it writes here. */
typedef struct sp_commit_worker
{
	volatile int process;		/* its index in ProcGlobal->allProcs; -1 before it began */
	volatile bool ended;

	/* of the last slot */
	int64		counted_ns;		/* time in which its records were counted */
	sp_histogram histogram;		/* of the records that were counted */
} sp_commit_worker;

/* In dynamic shared memory. */
typedef struct sp_commit_control
{
	/* set before the workers start */
	int			record_size;	/* bytes of WAL, with the header of the record */
	int64		interval_ns;	/* between two records of a worker, or 0 */
	int64		think_ns;		/* from one record of a worker to its next, or 0 */
	int			nworkers;		/* set once all have started */

	/* set before each slot */
	char		method[NAMEDATALEN];
	int			commit_delay;
	bool		hold_xid;

	pg_atomic_uint32 command;
	pg_atomic_uint32 settled;	/* workers that have flushed once in this slot */
	pg_atomic_uint32 resting;	/* workers that have left this slot */

	pg_atomic_uint32 asked;		/* by workers: at their start, and at each reload */
	pg_atomic_uint32 granted;	/* of these, the leader has read the configuration since */
	pg_atomic_uint64 room;		/* a record may begin before this position */
	pg_atomic_uint64 max_wal_bytes; /* of all workers; beyond it none writes a record */
	pg_atomic_uint64 wal_bytes; /* of all workers so far, or tried */
	volatile bool stop;

	sp_commit_worker workers[FLEXIBLE_ARRAY_MEMBER];
} sp_commit_control;

/*
 * The process of an entry, read without a lock, or NULL.  Without a pid the entry is unused,
 * or a prepared transaction.  Up to 16 at least, the pid of a process that has ended stays,
 * but nobody owns its latch.
 */
static inline volatile PGPROC *
sp_live_process(int i)
{
	volatile PGPROC *process = &ProcGlobal->allProcs[i];

	return process->pid != 0 && process->procLatch.owner_pid != 0 ? process : NULL;
}

extern PGDLLEXPORT void sync_probe_commit_worker(Datum handle);

#endif							/* SP_LIVE_INTERNAL_H */
