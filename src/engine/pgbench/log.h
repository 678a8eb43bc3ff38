/*-------------------------------------------------------------------------
 *
 * log.h
 *		Latencies from the transaction log of pgbench (-l).
 *
 * Each thread of pgbench writes a file of its own.  All are fed to one log, in
 * pieces and in any order.  It keeps a histogram, so its memory does not depend
 * on the length of the files.
 *
 * A line: client, number, microseconds (or "failed", "skipped", or with
 * --failures-detailed the kind of failure), script, time in seconds and
 * microseconds, and further columns by option.  Source: src/bin/pgbench/pgbench.c,
 * doLog(), of PostgreSQL 15 to 19.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_PGBENCH_LOG_H
#define SP_PGBENCH_LOG_H

#include <stddef.h>
#include <stdint.h>

#include "engine/measure/histogram.h"

#define SP_PGBENCH_LOG_LINE	256	/* longer than any line of pgbench */

typedef struct sp_pgbench_log
{
	sp_histogram latencies;		/* of successful transactions, in ns */
	uint64_t	failed;
	uint64_t	skipped;
	uint64_t	unreadable;		/* lines that are not understood */
} sp_pgbench_log;

/* The state of a file between two pieces; all zero at its beginning. */
typedef struct sp_pgbench_log_file
{
	char		rest[SP_PGBENCH_LOG_LINE];	/* of a line whose end is to come */
	size_t		rest_length;	/* more than its size: too long, not kept */
} sp_pgbench_log_file;

extern void sp_pgbench_log_init(sp_pgbench_log *log);

/* Lines may be cut anywhere between two pieces. */
extern void sp_pgbench_log_feed(sp_pgbench_log *log, sp_pgbench_log_file *file,
								const char *data, size_t length);

/*
 * The end of a file.  A last line without a newline is incomplete, and counts
 * as unreadable.
 */
extern void sp_pgbench_log_end_of_file(sp_pgbench_log *log, sp_pgbench_log_file *file);

#endif							/* SP_PGBENCH_LOG_H */
