/*-------------------------------------------------------------------------
 *
 * suite.h
 *		The suites: which test cases are measured together, and how.
 *
 * To add a suite, add a file suite_*.c with its row, and a line to src/probe/suites.c.  The
 * caller describes its server in sp_server.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_SUITE_H
#define SP_SUITE_H

#include "engine/measure/probe.h"

/*
 * The wal suite has three files of 4 MB for each method, for flushes up to 64 kB.  For
 * larger ones it has one file of this size: a larger file takes longer to fill and gives
 * the same figures.  None is larger than a WAL segment.
 */
#define SP_WAL_FILE_MAX_SIZE	(16 * 1024 * 1024)

/* The properties of the server whose commits a suite imitates. */
typedef struct sp_server
{
	const sp_sync_method *current;	/* wal_sync_method; NULL if unknown */
	bool		offers[SP_MAX_METHODS];	/* by index into sp_sync_methods */
	bool		direct_io_open;	/* O_DIRECT with open_*? */
	bool		direct_io_all;	/* O_DIRECT with every method? */
	int64_t		segment_size;	/* wal_segment_size, bytes */
	int			init_write_size;	/* bytes of a write that fills a new segment */
	int			flush_size;		/* bytes of WAL per flush */
	bool		wal_recycle;
	bool		wal_init_zero;
} sp_server;

typedef struct sp_suite
{
	const char *name;
	void		(*plan) (sp_probe *probe, const sp_server *server);

	/* Measure until the time is up, or probe->done. */
	void		(*run) (sp_probe *probe);

	/*
	 * At a look: fill in probe->comparison, and set probe->judged.  Returns whether more
	 * time is not expected to change the verdict.  NULL: nothing is judged.
	 */
	bool		(*judge) (sp_probe *probe);
	bool		any_duration;	/* how long a round takes is not known before */
} sp_suite;

extern const sp_suite sp_suite_wal;
extern const sp_suite sp_suite_pg_test_fsync;
extern const sp_suite sp_suite_stream;	/* the caller sets probe->seconds and max_bytes */
extern const sp_suite sp_suite_segments;

/* Plan a run of a suite, in a probe that is all zeros but for what the plan needs. */
extern void sp_probe_plan(sp_probe *probe, const sp_suite *suite, const sp_server *server);

/*
 * For a small file system: halve the files of a plan or, if a file would become
 * smaller than 1 MB or than one flush, drop the copies.  Returns false if neither
 * is possible.
 */
extern bool sp_suite_shrink_files(sp_probe *probe);

/* Drop the copies of a plan: its last files.  Returns false if it has none. */
extern bool sp_suite_drop_copies(sp_probe *probe);

#endif							/* SP_SUITE_H */
