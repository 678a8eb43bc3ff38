/*-------------------------------------------------------------------------
 *
 * commit_internal.h
 *		The suite commit: real WAL, and the server's own group commit.
 *
 * commit_suite.c checks the arguments and calls the rest.  commit_leader.c starts and ends
 * workers, permits them to write, and gives each value slots of time; commit_worker.c is what
 * workers do.
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

#include "access/xlogdefs.h"
#include "port/atomics.h"

#define SP_MAX_COMMIT_WORKERS	64

/* A slot: workers set their value and flush once; then their records count. */
typedef enum sp_commit_phase
{
	SP_RESTING,
	SP_SETTLING,
	SP_COUNTING
} sp_commit_phase;

/* Instead of a position of WAL: a worker asks for leave; the leader looks. */
#define SP_ROOM_ASKED		0
#define SP_ROOM_LOOKING		1

/*
 * Shared memory of workers and their leader.  But for the atomic members, the leader writes here,
 * and reads the figures of workers, only while all of them rest.
 */
typedef struct sp_commit_shared
{
	int			record_size;	/* bytes of WAL, with the header of the record */
	int64		pause_ns;		/* of a worker between two records, on average */

	/* set before each slot; workers set it in their own process only */
	char		method[NAMEDATALEN];
	char		commit_delay[NAMEDATALEN];
	bool		hold_xid;		/* hold a transaction ID, so that commit_delay acts */

	pg_atomic_uint32 phase;		/* sp_commit_phase, by the leader */
	pg_atomic_uint32 joined;	/* workers that have taken a histogram */
	pg_atomic_uint32 settled;	/* workers that have flushed once in this slot */
	pg_atomic_uint32 resting;	/* workers that have started, and have left this slot */
	pg_atomic_uint64 room;		/* a record may begin before this position of WAL */

	sp_histogram histograms[FLEXIBLE_ARRAY_MEMBER]; /* of each worker in the last slot */
} sp_commit_shared;

/* A run of the commit suite.  Large. */
typedef struct sp_commit_run
{
	sp_run	   *run;
	sp_compared compared;

	/* of the arguments */
	bool		fewer_allowed;	/* than run->workers; else fewer are an error */
	double		interval_us;	/* workers pause, so that one of them goes on after that; 0: none */
	bool		delays;			/* the setting is commit_delay */
	const char *commit_delay;	/* of the server */
	double		slot_s;

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

extern void sp_commit_measure(sp_commit_run *commit);
extern PGDLLEXPORT void sync_probe_commit_worker(Datum handle);

#endif							/* SP_COMMIT_INTERNAL_H */
