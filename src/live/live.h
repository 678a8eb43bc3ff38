/*-------------------------------------------------------------------------
 *
 * live/live.h
 *		The commits of the running server: watch them, and make some.
 *
 * sampler.c samples the processes of the server, and wal_statistics.c reads how often it
 * flushes WAL, and how much.  commit_waits.c makes sync_probe.commit_waits() of both.
 *
 * commit_load.c makes commits: it starts the workers of the commit suite, whose main
 * function is in commit_worker.c, and runs slots of time with one value of a setting each.
 * setting_values.c says what it can compare, and commit_checks.c when it must not.
 *
 * It must not: change a setting of another process, or judge.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_LIVE_H
#define SP_LIVE_H

#include "common/common.h"
#include "engine/measure/measure.h"
#include "engine/verdict/commit_waits.h"
#include "engine/verdict/setting.h"
#include "utils/array.h"

/* -------------------------------------------------------------- sampler.c */

/*
 * Samples the processes of this server without a lock, about once a millisecond unless it is
 * told to be quick.  In the current memory context.
 */
typedef struct sp_sampler sp_sampler;

extern sp_sampler *sp_sampler_make(void);

/* Sample only client backends: no background worker, and no process of the server. */
extern void sp_sampler_clients_only(sp_sampler *sampler);

/* From now on run() samples five times as often. */
extern void sp_sampler_be_quick(sp_sampler *sampler);

/* Begin a time: all sums are zero, and the server's counters are read. */
extern void sp_sampler_start(sp_sampler *sampler);

/* One sample, without a pause.  What it reads may be torn apart by a few microseconds. */
extern void sp_sampler_take(sp_sampler *sampler);

/* Sleep for 0.5 to 1.5 ms, at random. */
extern void sp_sampler_sleep(void);

/* Sample until that much of the time has passed.  Handles interrupts. */
extern void sp_sampler_run(sp_sampler *sampler, double seconds);

/* End the time: the sums are complete. */
extern const sp_commit_sums *sp_sampler_stop(sp_sampler *sampler);

/* Mean number of processes: a commit of 1 ms each 20 ms.  Fewer are no load. */
#define SP_MIN_COMMITTING	0.05

#define SP_LOOK_S	0.3

/* What the processes of the server do, seen for a moment. */
typedef struct sp_load_seen
{
	double		seconds;
	double		wal_busy;		/* share of the time, 0 to 1 */
	double		committing;		/* mean number of processes that are committing */
} sp_load_seen;

/* Look at them for SP_LOOK_S.  Writes nothing.  Handles interrupts. */
extern void sp_load_look(sp_load_seen *seen);

/* Do they commit so often that it matters? */
extern bool sp_load_is_seen(const sp_load_seen *seen);

/* ------------------------------------------------------- wal_statistics.c */

/*
 * What the server has counted, and since when, in seconds since 1970.  On a standby of
 * PostgreSQL 18 or later it is what the walreceiver did.
 */
typedef struct sp_wal_statistics
{
	double		bytes;			/* of all WAL */
	double		syncs;
	double		writes;
	double		sync_time_ms;
	double		bytes_since;
	double		flushes_since;	/* of syncs and writes */
	bool		in_recovery;
} sp_wal_statistics;

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

extern void sp_wal_pace_read(sp_wal_pace *pace);

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
	double		wait_us;		/* mean wait of a commit; NAN if unknown */
	double		flushes;		/* in that time; 0 if unknown */
	double		flushes_per_sec;
	double		bytes_per_flush;
	double		wal_busy;		/* share of the time, 0 to 1; NAN if unknown */
} sp_observed_commits;

/*
 * The newest recorded commit_waits() of this server that saw a load, else a commit, and is not
 * older than pg_sync_probe.commit_waits_max_age.  False if there is none.
 */
extern bool sp_observed_commits_read(sp_observed_commits *observed);

/* ---------------------------------------------------------- commit_load.c */

#define SP_MAX_COMMIT_WORKERS	64

/* The largest record of a worker, in bytes of WAL. */
#define SP_MAX_COMMIT_RECORD	(1024 * 1024)

/* What workers set for a slot, each in its own process only. */
typedef struct sp_commit_settings
{
	const char *wal_sync_method;
	int			commit_delay;	/* microseconds */
	bool		hold_xid;		/* hold a transaction ID, so that commit_delay acts */
} sp_commit_settings;

/* The figures of a slot. */
typedef struct sp_commit_slot
{
	double		commits_per_sec;	/* of all workers together */
	double		wait_us;		/* mean time of one; NAN without any */
} sp_commit_slot;

/* The workers of one run.  In the current memory context. */
typedef struct sp_commit_load sp_commit_load;

extern sp_commit_load *sp_commit_load_make(void);

/*
 * What the leader looks at: whether it has to apply a reload, and the space.  Returns how many
 * bytes are free in pg_wal above the server's own need, or -1 if the run is over.  May throw
 * an error.
 */
typedef int64 (*sp_commit_look) (void *context);

/* How workers commit.  Both times 0: one commit follows the other without a pause. */
typedef struct sp_commit_demand
{
	int			workers;
	bool		fewer_allowed;	/* else fewer are an error */
	int			record_size;	/* bytes of WAL per commit */
	int64		interval_us;	/* between two commits of all workers together, or 0 */
	int64		think_us;		/* of a worker between two commits, or 0 */
	int64		max_wal_bytes;	/* no record is written beyond it */
	sp_commit_look look;
	void	   *look_context;
} sp_commit_demand;

/*
 * Register workers, and wait until they have started.  They rest.  Returns their number.
 * After an error, the caller must call sp_commit_load_abandon().
 */
extern int	sp_commit_load_start(sp_commit_load *load, const sp_commit_demand *demand);

/*
 * Let all workers commit for that time, and add the time of each commit to the histogram,
 * which may be NULL.  Returns false if the slot was cut short, since the run is over or its
 * WAL is used up.  Handles interrupts.  An error if a worker ends.
 */
extern bool sp_commit_load_slot(sp_commit_load *load, const sp_commit_settings *settings,
								double seconds, sp_commit_slot *slot, sp_histogram *histogram);

/*
 * The limit of the workers' WAL in bytes: max_wal_bytes, or less, so that it never takes more
 * than half of what is free.
 */
extern int64 sp_commit_load_max_wal_bytes(const sp_commit_load *load);

/* Have workers reached it? */
extern bool sp_commit_load_wal_is_used_up(const sp_commit_load *load);

/*
 * How many sessions were committing on average since the last call; 0 if that was less than
 * a second ago.
 */
extern double sp_commit_load_others(sp_commit_load *load);

/* End the workers and wait for them. */
extern void sp_commit_load_finish(sp_commit_load *load);

/*
 * The same after an error, or while the backend exits: waits for at most 10 s, and throws
 * no error.
 */
extern void sp_commit_load_abandon(sp_commit_load *load);

/* ------------------------------------------------------- setting_values.c */

/* A value that is compared, and what was seen with it. */
typedef struct sp_compared_value
{
	const char *text;			/* as SHOW prints it */
	const char *left_out;		/* why it is not compared; NULL if it is */
	sp_commit_sums sums;		/* of a trial: the commits of the server in its slots */
	sp_histogram histogram;		/* of the commit suite: the commits of workers */
} sp_compared_value;

/* The values of one setting, and their comparison.  Large. */
typedef struct sp_compared
{
	int			count;			/* 0: the setting is not compared */
	sp_compared_value values[SP_MAX_METHODS];	/* the current one first, left out ones last */
	sp_setting_comparison setting;	/* of those that are not left out */
	char		reason[2 * SP_REASON_SIZE];
} sp_compared;

extern void sp_compared_take(sp_compared *compared, const char *setting, const char *unit,
							 sp_setting_figure deciding, const char *current, ArrayType *given);
extern void sp_compared_leave_out(sp_compared *compared, int i, const char *why);

/* One slot with a value: the figures of its commits.  False if it was cut short. */
typedef bool (*sp_slot) (void *context, int value, bool is_control,
						 double *wait_us, double *commits_per_sec);

extern bool sp_compared_round(sp_compared *compared, sp_slot slot, void *context);

/* -------------------------------------------------------- commit_checks.c */

/* Throw an error where the server should not get WAL that nobody needs. */
extern void sp_commit_checks(void);

/* Throw an error if sessions of the server commit. */
extern void sp_commit_check_load(void);

#endif							/* SP_LIVE_H */
