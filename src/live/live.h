/*-------------------------------------------------------------------------
 *
 * live/live.h
 *		The commits of the running server: watch them, and make some.
 *
 * sampler.c samples the processes of the server, and wal_statistics.c reads how often it
 * flushes WAL.  commit_waits.c makes sync_probe.commit_waits() of both.
 *
 * It must not: change a setting of another process, or judge.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_LIVE_H
#define SP_LIVE_H

#include "common/common.h"
#include "engine/verdict/commit_waits.h"

/* -------------------------------------------------------------- sampler.c */

/*
 * Samples the processes of this server without a lock, about once a millisecond.  In the
 * current memory context.
 */
typedef struct sp_sampler sp_sampler;

extern sp_sampler *sp_sampler_make(void);

/* Begin a time: all sums are zero, and the server's counters are read. */
extern void sp_sampler_start(sp_sampler *sampler);

/* One sample, without a pause.  What it reads may be torn apart by a few microseconds. */
extern void sp_sampler_take(sp_sampler *sampler);

/* Sleep for 0.5 to 1.5 ms, at random. */
extern void sp_sampler_sleep(sp_sampler *sampler);

/* Sample until that much of the time has passed.  Handles interrupts. */
extern void sp_sampler_run(sp_sampler *sampler, double seconds);

/* End the time: the sums are complete. */
extern const sp_commit_sums *sp_sampler_stop(sp_sampler *sampler);

/* Is WAL written that is not flushed, now? */
extern bool sp_wal_is_unflushed(void);

/* ------------------------------------------------------- wal_statistics.c */

/* Sums of the server since a time.  bytes: of all WAL; seconds: since that time. */
typedef struct sp_wal_statistics
{
	double		bytes;
	double		flushes;
	double		seconds;
} sp_wal_statistics;

extern void sp_wal_statistics_read(sp_wal_statistics *statistics);

/* --------------------------------------------------------- commit_waits.c */

/* GUC, see pg_sync_probe.c */
extern int	sp_commit_waits_max_age;

/* What is known of the commits of this server.  All zero: nothing. */
typedef struct sp_observed_commits
{
	int64		result_id;		/* of sync_probe.commit_wait_results */
	int			committers;		/* sessions that committed */
	double		commits_per_sec;
	double		wal_bytes_per_commit;
	double		wait_share;		/* of the active time of sessions; NAN if unknown */
	double		flushes;		/* in that time; 0 if unknown */
	double		flushes_per_sec;
	double		bytes_per_flush;
} sp_observed_commits;

/*
 * The newest recorded commit_waits() of this server that is not older than
 * pg_sync_probe.commit_waits_max_age.  False if there is none.
 */
extern bool sp_observed_commits_read(sp_observed_commits *observed);

#endif							/* SP_LIVE_H */
