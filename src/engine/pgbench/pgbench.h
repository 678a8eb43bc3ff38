/*-------------------------------------------------------------------------
 *
 * engine/pgbench/pgbench.h
 *		Read what pgbench prints, and its transaction log.
 *
 * Source of the formats: src/bin/pgbench/pgbench.c of PostgreSQL 15 to 19, run with
 * LC_ALL=C and the options of src/workload/pgbench_command.c.
 *
 * A double that is negative or not finite is NAN: pgbench reads its threads' counters without
 * a lock, so that it can print such numbers.
 *
 * It must not: include a server header, allocate, print, or start a program.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_ENGINE_PGBENCH_H
#define SP_ENGINE_PGBENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/measure/histogram.h"

/* A line of -P: figures since the previous line. */
typedef struct sp_pgbench_progress
{
	double		seconds;		/* since the start */
	double		tps;
	double		latency_ms;		/* NAN when no transaction ended */
} sp_pgbench_progress;

typedef struct sp_pgbench_summary
{
	int64_t		transactions;
	int64_t		failed;			/* since 18 -1 if nothing was begun */
	double		latency_mean_ms;
	double		tps;			/* with -C including the connections, else without */
} sp_pgbench_summary;

/* Of a statement of several lines pgbench prints only the first, cut to 127 bytes. */
typedef void (*sp_pgbench_take_statement) (void *context, double latency_ms, int64_t failures,
										   const char *text);

/* The log of all threads: latencies of transactions that did not fail, and unknown lines. */
typedef struct sp_pgbench_log
{
	sp_histogram latencies;
	uint64_t	unreadable;
} sp_pgbench_log;

/* The state of one thread's file within a line; all zero at its beginning. */
typedef struct sp_pgbench_log_file
{
	uint64_t	us;				/* the latency, as far as it has been read */
	int			column;
	bool		has_begun;
	bool		has_failed;		/* the latency is a word */
	bool		is_odd;
} sp_pgbench_log_file;

/* line has no newline.  Returns false, and sets nothing, if it is not a progress line. */
extern bool sp_pgbench_parse_progress(const char *line, sp_pgbench_progress *progress);

/*
 * Text behind the last newline is taken as cut off.  Returns false, without a call of take,
 * unless transactions and tps are known.
 */
extern bool sp_pgbench_parse_summary(const char *text, sp_pgbench_summary *summary,
									 sp_pgbench_take_statement take, void *context);

/* Each thread writes a file, which is read in pieces. */
extern void sp_pgbench_log_feed(sp_pgbench_log *log, sp_pgbench_log_file *file, const char *data,
								size_t length);

/* A last line without a newline is unreadable. */
extern void sp_pgbench_log_end_of_file(sp_pgbench_log *log, sp_pgbench_log_file *file);

#endif							/* SP_ENGINE_PGBENCH_H */
