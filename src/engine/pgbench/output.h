/*-------------------------------------------------------------------------
 *
 * output.h
 *		Understand what pgbench prints: its progress, its summary, its version.
 *
 * Source of the formats: src/bin/pgbench/pgbench.c of PostgreSQL 15 to 19, run
 * with LC_ALL=C.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_PGBENCH_OUTPUT_H
#define SP_PGBENCH_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A line of -P, of the time since the one before.  Here and below, a number that
 * is not finite or below zero is NAN.
 */
typedef struct sp_pgbench_progress
{
	double		seconds;		/* since the start */
	double		tps;
	double		latency_ms;		/* NAN when no transaction ended */
	double		stddev_ms;		/* the same */
	int64_t		failed;
} sp_pgbench_progress;

/* The summary; numbers that it does not hold are -1 or NAN. */
typedef struct sp_pgbench_summary
{
	int			clients;
	int			threads;
	int64_t		transactions;	/* actually processed */
	int64_t		failed;
	double		latency_mean_ms;
	double		latency_stddev_ms;
	double		connection_ms;	/* initial connection time, or with -C the
								 * average of a connection */
	double		tps;			/* with -C including the connections, else
								 * without */
} sp_pgbench_summary;

/*
 * Called for each line of -r, in order.  text is not terminated; a statement of
 * several lines comes as pgbench prints it, in its first line alone, and cut to
 * 127 bytes: the last of its characters may lack some of its own.
 */
typedef void (*sp_pgbench_take_statement) (void *context, double latency_ms, int64_t failures,
										   const char *text, size_t length);

/* line: without its newline.  False: it is not a progress line, and nothing is set. */
extern bool sp_pgbench_parse_progress(const char *line, sp_pgbench_progress *progress);

/*
 * text need not be terminated, but what is behind its last newline was cut off
 * and is not read.  False unless it says how many transactions were processed
 * and how many a second (0, if all failed): then nobody knows what happened, and take is not
 * called; what is known is in *summary all the same.  take may be NULL.
 */
extern bool sp_pgbench_parse_summary(const char *text, size_t length, sp_pgbench_summary *summary,
									 sp_pgbench_take_statement take, void *context);

/*
 * What `pgbench --version` prints.  Returns the major version, 0 if it is not
 * understood; version gets the words after "pgbench (PostgreSQL) ", cut to size, or
 * is empty then.
 */
extern int	sp_pgbench_parse_version(const char *text, char *version, size_t size);

#endif							/* SP_PGBENCH_OUTPUT_H */
