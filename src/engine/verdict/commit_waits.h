/*-------------------------------------------------------------------------
 *
 * commit_waits.h
 *		From samples of the server's processes to the mean time that a commit waits.
 *
 * The mean number of processes that are committing, divided by the commits per second,
 * is the mean time of a commit (Little, A proof for the queuing formula L = lambda W,
 * Operations Research 9, 1961).  It needs no time stamp of any commit.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_COMMIT_WAITS_H
#define SP_COMMIT_WAITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a process that is committing waits for. */
typedef enum sp_commit_part
{
	SP_PART_SYNC,				/* the sync of WAL */
	SP_PART_WRITE,				/* the write of WAL */
	SP_PART_QUEUE,				/* another process that writes or syncs WAL */
	SP_PART_RUNNING,			/* nothing that is known: it computes, before 19 commit_delay */
	SP_PART_DELAY,				/* commit_delay; before 19 the caller moves RUNNING here */
	SP_PART_OTHER,				/* any other wait event */
	SP_PART_SYNC_REP,			/* a synchronous standby */
	SP_COMMIT_PARTS
} sp_commit_part;

/*
 * The samples of a time.  The sums are over all samples: divided by their number, they
 * are mean numbers of processes.
 */
typedef struct sp_commit_sums
{
	double		seconds;
	int64_t		samples;
	int64_t		part[SP_COMMIT_PARTS];	/* processes that are committing */
	int64_t		active;			/* client backends that do not wait for their client */
	int64_t		connected;		/* client backends */
	int64_t		wal_busy;		/* samples in which a process wrote or synced WAL */
	int			committers;		/* processes that were seen committing at least once */
	uint64_t	commits;		/* ends of transactions that had a transaction ID */
	uint64_t	wal_bytes;		/* inserted by all processes */
	double		flushes;		/* by the server's statistics; NAN if unknown */
} sp_commit_sums;

/* The same as figures.  NAN where nothing was seen that gives one. */
typedef struct sp_commit_figures
{
	double		commits_per_sec;
	double		wait_us;		/* mean time that a commit waits, all parts */
	double		part_us[SP_COMMIT_PARTS];
	double		wait_share;		/* of the time of active sessions, 0 to 1 */
	double		committing;		/* mean number of processes that are committing */
	double		wal_busy;		/* share of the time in which a process writes or syncs WAL */
	double		active;
	double		connected;
	double		wal_bytes_per_commit;
	double		flushes_per_sec;
} sp_commit_figures;

extern sp_commit_figures sp_commit_figures_of(const sp_commit_sums *sums);

/* Add the sums of another time: all but committers, which become the larger number. */
extern void sp_commit_sums_add(sp_commit_sums *sums, const sp_commit_sums *other);

/*
 * Do commits wait neither for their own flush nor for one of another, nor for a standby?
 * False if no process was seen committing.
 */
extern bool sp_commit_waits_for_no_flush(const sp_commit_sums *sums);

/*
 * The answer to "would a faster sync help?", as one or two sentences.  commit_delay is the
 * setting, in microseconds.  Cut short if it does not fit.
 */
extern void sp_commit_answer(const sp_commit_sums *sums, int commit_delay,
							 char *answer, size_t size);

#endif							/* SP_COMMIT_WAITS_H */
