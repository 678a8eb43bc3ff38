/*-------------------------------------------------------------------------
 *
 * suite.h
 *		The suites: which test cases are measured together.
 *
 * A suite is rows; adding a case is adding a row.  What it depends on is told
 * by the caller in sp_server: the engine asks no server itself.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_SUITE_H
#define SP_SUITE_H

#include "engine/measure/probe.h"

/*
 * The wal suite's files are as large as a WAL segment, but not larger than
 * this: more would say no more, and would only be longer to write before.
 */
#define SP_WAL_FILE_MAX_SIZE	(16 * 1024 * 1024)

/* What a suite must know of the server whose commits it imitates. */
typedef struct sp_server
{
	const sp_sync_method *current;	/* wal_sync_method; NULL if we do not know it */
	bool		offers[SP_MAX_METHODS];	/* by index into sp_sync_methods */
	bool		direct_io_open;	/* O_DIRECT with open_*? */
	bool		direct_io_all;	/* O_DIRECT with every method? */
	int64_t		segment_size;	/* wal_segment_size, bytes */
	int			init_write_size;	/* bytes of a write that fills a new segment */
	int			flush_size;		/* bytes of WAL per flush */
} sp_server;

typedef struct sp_suite
{
	const char *name;
	void		(*plan) (sp_probe *probe, const sp_server *server);
} sp_suite;

extern const sp_suite sp_suites[];
extern const int sp_suite_count;

/* The suite of that name, or NULL. */
extern const sp_suite *sp_suite_find(const char *name);

/*
 * Halve the files of a plan, for a small file system.  False where nothing can
 * be halved: files have 1 MB at least, and hold what one flush writes.
 */
extern bool sp_suite_halve_files(sp_probe *probe);

#endif							/* SP_SUITE_H */
