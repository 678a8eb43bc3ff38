/*-------------------------------------------------------------------------
 *
 * output.h
 *		Parse the output of pgbench: its progress, its summary, its version.
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
 * A line of -P: figures since the previous line.  Here and below, a number that
 * is not finite or negative is NAN.
 */
typedef struct sp_pgbench_progress
{
	double		seconds;		/* since the start */
	double		tps;
	double		latency_ms;		/* NAN when no transaction ended */
	double		stddev_ms;		/* the same */
	int64_t		failed;
} sp_pgbench_progress;

/* The summary; missing numbers are -1 or NAN. */
typedef struct sp_pgbench_summary
{
	int			clients;
	int			threads;
	int64_t		transactions;	/* actually processed */
	int64_t		failed;			/* since 18 missing if nothing was begun */
	double		latency_mean_ms;
	double		latency_stddev_ms;
	double		connection_ms;	/* initial connection time, or with -C the
								 * average of a connection */
	double		tps;			/* with -C including the connections, else
								 * without */
} sp_pgbench_summary;

/*
 * Called for each line of -r, in order. text is not terminated.  Of a statement
 * of several lines pgbench prints only the first line, cut to 127 bytes,
 * perhaps within a character.
 */
typedef void (*sp_pgbench_take_statement) (void *context, double latency_ms, int64_t failures,
										   const char *text, size_t length);

/* line has no newline.  Returns false, and sets nothing, if it is not a progress line. */
extern bool sp_pgbench_parse_progress(const char *line, sp_pgbench_progress *progress);

/*
 * text need not be terminated; text behind its last newline is taken as cut
 * off, and is not read.  Returns false unless the number of transactions and
 * their rate (0 if none was done) are known.  Then take is not called, but
 * *summary has the known figures. take may be NULL.  A run that was aborted
 * prints the same, but its exit status is not 0.
 */
extern bool sp_pgbench_parse_summary(const char *text, size_t length, sp_pgbench_summary *summary,
									 sp_pgbench_take_statement take, void *context);

/*
 * Parse the output of `pgbench --version`. Returns the major version, 0 if it
 * is not understood. version gets the text after "pgbench (PostgreSQL) ", cut
 * to size; it is empty if that is not understood.
 */
extern int	sp_pgbench_parse_version(const char *text, char *version, size_t size);

#endif							/* SP_PGBENCH_OUTPUT_H */
