/*-------------------------------------------------------------------------
 *
 * commit_internal.h
 *		The suite commit: real WAL, and the server's own group commit.
 *
 * commit_suite.c checks the arguments and calls the rest.  commit_rounds.c gives each value slots
 * of time.  commit_leader.c starts and ends workers, and permits them to write; commit_worker.c
 * is what they do.
 *
 * A worker inserts a record only with leave of the leader, which it withholds by doing nothing:
 * if it hangs, workers stop.  There must be room in segments that exist, since making one on a
 * full disk is a PANIC in a worker, and an error in the leader.  And after a reload the leader
 * must have seen that wal_sync_method is still the same.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_COMMIT_INTERNAL_H
#define SP_COMMIT_INTERNAL_H

#include "probe/probe.h"
#include "probe/setting_run.h"

#include "access/xlogdefs.h"
#include "port/atomics.h"

#define SP_MAX_COMMIT_WORKERS	64

/* The largest record of a worker, in bytes of WAL. */
#define SP_MAX_COMMIT_RECORD	(1024 * 1024)

/* What a worker did in the last slot; only it writes here. */
typedef struct sp_commit_worker
{
	int64		counted_ns;		/* time in which its records were counted */
	sp_histogram histogram;		/* of the records that were counted */
} sp_commit_worker;

/* Instead of a position of WAL: a worker asks for leave; the leader looks. */
#define SP_ROOM_ASKED		0
#define SP_ROOM_LOOKING		1

/*
 * What workers and their leader share.  But for the atomic members, the leader writes here, and
 * reads the figures of workers, only while all of them rest.
 */
typedef struct sp_commit_shared
{
	int			record_size;	/* bytes of WAL, with the header of the record */
	int64		pause_ns;		/* between two records of a worker, or 0 */
	bool		thinks;			/* from the end of one; else from when it was due */
	uint32		nworkers;

	/* set before each slot; workers set it in their own process only */
	char		method[NAMEDATALEN];
	int			commit_delay;
	bool		hold_xid;		/* hold a transaction ID, so that commit_delay acts */

	pg_atomic_uint32 slot;		/* by the leader: odd while one runs */
	pg_atomic_uint32 settled;	/* workers that have flushed once in this slot */
	pg_atomic_uint32 resting;	/* workers that have started, and have left this slot */
	pg_atomic_uint64 room;		/* a record may begin before this position of WAL */

	sp_commit_worker workers[FLEXIBLE_ARRAY_MEMBER];
} sp_commit_shared;

/* A run of the commit suite.  Large. */
typedef struct sp_commit_run
{
	sp_setting_run run;

	/* of the arguments */
	sp_location location;
	int			workers_wanted;
	bool		fewer_allowed;	/* else fewer are an error */
	int64		think_us;		/* of a worker between two commits, or 0 */
	double		expected_us;	/* between two commits of all workers; 0: unknown */
	int			commit_delay;	/* of the server */
	double		slot_seconds;

	/* of the leader */
	int			directory_fd;
	dsm_segment *segment;
	sp_commit_shared *shared;
	int			nworkers;		/* registered */
	BackgroundWorkerHandle *handles[SP_MAX_COMMIT_WORKERS];
	sp_sampler *others;			/* do sessions commit, too? */
	int64		next_look_ns;
	XLogRecPtr	begin;			/* of the WAL of this run */
	XLogRecPtr	limit;			/* its end at the latest */
	uint64		in_flight;		/* WAL of workers that have looked for room, at most */
	uint64		last_segment;	/* that was made */
	bool		over;			/* before its time */
} sp_commit_run;

/* ---------------------------------------------------------- commit_rounds.c */

extern void sp_commit_plan_slots(sp_commit_run *commit);
extern void sp_commit_rounds(sp_commit_run *commit);

/* ---------------------------------------------------------- commit_leader.c */

extern void sp_commit_workers_start(sp_commit_run *commit);
extern void sp_commit_watch(sp_commit_run *commit);
extern void sp_commit_workers_end(int code, Datum commit);

/* ---------------------------------------------------------- commit_worker.c */

extern PGDLLEXPORT void sync_probe_commit_worker(Datum handle);

#endif							/* SP_COMMIT_INTERNAL_H */
