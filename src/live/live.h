/*-------------------------------------------------------------------------
 *
 * live/live.h
 *		The commits of the running server, watched without a lock or a write.
 *
 * sampler.c samples the processes of the server, and wal_statistics.c reads how often it
 * flushes WAL, and how much.  commit_waits.c makes sync_probe.commit_waits() of both.
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
 * Samples the processes of this server without a lock, about once a millisecond, or five times
 * as often if it is quick.  clients_only: no background worker, and no process of the server.
 * In the current memory context.
 */
typedef struct sp_sampler sp_sampler;

extern sp_sampler *sp_sampler_make(bool clients_only, bool quick);

/* Begin a time: all sums are zero, and the server's counters are read. */
extern void sp_sampler_start(sp_sampler *sampler);

/* One sample, and a pause until the next. */
extern void sp_sampler_step(sp_sampler *sampler);

/* Sample until that much of the time has passed.  Handles interrupts. */
extern void sp_sampler_run(sp_sampler *sampler, double seconds);

/* End the time: the sums are complete. */
extern const sp_commit_sums *sp_sampler_stop(sp_sampler *sampler);

/* All of this at once: the figures of a time that begins now.  Writes nothing. */
extern sp_commit_figures sp_sampler_look(double seconds);

/* Before a run. */
#define SP_LOOK_S	0.3

/* Mean number of processes: a commit of 1 ms each 20 ms.  Fewer are no load. */
#define SP_MIN_COMMITTING	0.05

/* ------------------------------------------------------- wal_statistics.c */

/*
 * The server's counters, and since when they count, in seconds since 1970.  On a standby of
 * PostgreSQL 18 or later it is what the walreceiver did.
 */
typedef struct sp_wal_statistics
{
	/* these in the order of SP_WAL_STATISTICS_QUERY */
	double		bytes;			/* of all WAL */
	double		syncs;
	double		writes;
	double		bytes_since;
	double		flushes_since;	/* of syncs and writes */

	bool		in_recovery;
} sp_wal_statistics;

/* float8 columns of the first row that SPI has found; NAN for a null, and without a row. */
extern void sp_first_row(double *columns, int n);

extern void sp_wal_statistics_read(sp_wal_statistics *statistics);

/* The flushes among them, with the present wal_sync_method. */
extern double sp_wal_statistics_flushes(const sp_wal_statistics *statistics);

/* Is later less earlier what this server did between the two? */
extern bool sp_wal_statistics_comparable(const sp_wal_statistics *earlier,
										 const sp_wal_statistics *later);

/* The mean flush of this server since its statistics were reset. */
typedef struct sp_wal_pace
{
	double		flushes;		/* NAN if there are no statistics */
	double		bytes_per_flush;	/* NAN if unknown */
	double		flushes_per_sec;	/* NAN if unknown */
	const char *unknown;		/* why one of them is, or NULL */
	bool		in_recovery;
} sp_wal_pace;

extern sp_wal_pace sp_wal_pace_read(void);

/* --------------------------------------------------------- commit_waits.c */

extern int	sp_commit_waits_max_age;	/* GUC, see pg_sync_probe.c */

/* The commits of this server: columns of observed_commits().  NAN: unknown. */
typedef struct sp_observed_commits
{
	double		committers;		/* sessions that committed */
	double		commits_per_sec;
	double		wal_bytes_per_commit;
	double		wait_us;		/* mean wait of a commit */
	double		flushes;		/* in that time */
	double		flushes_per_sec;
	double		bytes_per_flush;
	double		wal_busy;		/* share of the time, 0 to 1 */
} sp_observed_commits;

/*
 * The newest recorded commit_waits() of this server that saw a load, else a commit, and is not
 * older than pg_sync_probe.commit_waits_max_age.  Or all of one hour: of those of the last week
 * with 30 s of samples, as fewer may have met one bulk load, the busiest.  False if there is none.
 */
extern bool sp_observed_commits_read(sp_observed_commits *observed, bool busiest_hour);

#endif							/* SP_LIVE_H */
