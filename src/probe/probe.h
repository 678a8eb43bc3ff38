/*-------------------------------------------------------------------------
 *
 * probe/probe.h
 *		sync_probe.probe(): measure one location, and record it.
 *
 * function.c checks the arguments, reads how this cluster flushes WAL (wal_profile.c),
 * creates the files (files.c, file_fill.c, free_space.c), and lets the engine measure
 * with callbacks.c.  measurement_rows.c builds the rows of the result, and record.c
 * records the run.  verdict_function.c judges recorded figures for SQL.
 *
 * It must not: time an operation, which the engine does, or use a workload.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_PROBE_FUNCTION_H
#define SP_PROBE_FUNCTION_H

#include "common/common.h"
#include "storage/storage.h"

/* ---------------------------------------------------- verdict_function.c */

/* GUC, see pg_sync_probe.c */
extern double sp_margin;

/* ----------------------------------------------------------- wal_profile.c */

/* How this cluster flushes WAL, and the sources of these values. */
typedef struct sp_wal_profile
{
	sp_server	server;			/* for the suites */
	const char *wal_sync_method;
	const char *wal_level;
	int64		flush_interval_us;	/* of the paced regime */
	int64		observed_interval_us;	/* by the statistics; 0 if they hold too little */
	const char *flush_size_source;
	const char *flush_interval_source;
} sp_wal_profile;

extern void sp_wal_profile_read(sp_wal_profile *profile);
extern int	sp_wal_profile_max_flush_size(const sp_wal_profile *profile);

/* ----------------------------------------------------------- free_space.c */

/* GUC, see pg_sync_probe.c */
extern int	sp_reserve_percent;

extern int64 sp_location_space(const sp_location *location, int directory_fd,
							   const char *directory, int64 wanted, int64 *reserve);
extern void sp_check_reserve(const sp_location *location, int directory_fd);
extern char *sp_pretty_bytes(int64 bytes);

/* ---------------------------------------------------------------- files.c */

/* The files of one probe, and what is needed to remove them. */
typedef struct sp_probe_files
{
	const sp_location *location;
	sp_probe   *probe;
	int			directory_fd;	/* -1 until opened */
	int			reserved_fds;	/* told to fd.c */
	int64		rested_ns;		/* between the chunks while filling, in all */
	int64		filled_bytes;	/* of all files, so far */
	struct
	{
		bool		exists;
		dev_t		device;
		ino_t		inode;
	}			created[SP_MAX_FILES];
} sp_probe_files;

extern void sp_probe_files_create(sp_probe_files *files);
extern void sp_probe_files_remove(sp_probe_files *files);
extern int64 sp_probe_files_size(const sp_probe *probe);
extern int	sp_probe_files_sweep(const sp_location *location);

/* ------------------------------------------------------------ file_fill.c */

extern void sp_probe_file_fill(sp_probe_files *files, const sp_file *file, const char *directory);

/* ------------------------------------------------------------ callbacks.c */

/* The maximum length of a progress NOTICE. */
#define SP_NOTICE_LENGTH	100

/* The context of the engine's callbacks. */
typedef struct sp_probe_context
{
	const sp_probe *probe;
	const sp_storage *storage;
	const sp_probe_files *files;
	sp_progress *progress;
	uint32		flush_wait_event;
	uint32		sleep_wait_event;
	int64		now_ns;			/* the last reading of the clock */
	int64		next_check_ns;	/* of free space */
	int64		filling_since_ns;	/* files are written; 0 before */
	int64		next_notice_ns;
	char		noticed[SP_REGIMES][SP_NOTICE_LENGTH];	/* the last NOTICE of each regime */
} sp_probe_context;

extern void sp_callbacks_set(sp_probe *probe, sp_probe_context *context);
extern void sp_notice_filling(const sp_probe *probe, int64 done, int64 total);

/* Let the engine read the counters.  They must be open. */
extern void sp_callbacks_set_counters(sp_probe *probe);

/* ----------------------------------------------------- measurement_rows.c */

extern int	sp_measurement_rows(const sp_probe *probe, int64 run_id, TupleDesc row_type,
								HeapTuple *rows);
extern HeapTuple sp_sample_row(const sp_probe *probe, int c, int ordinal, int64 run_id,
							   TupleDesc row_type);

/* --------------------------------------------------------------- record.c */

/* A run without its measurements. */
typedef struct sp_run
{
	const sp_location *location;
	const sp_suite *suite;
	const sp_wal_profile *profile;
	const sp_probe *probe;
	const sp_storage *storage;
	Datum		storage_jsonb;	/* see sp_storage_jsonb() */
	const char *label;			/* may be NULL */
	TimestampTz started_at;
	TimestampTz finished_at;
} sp_run;

extern void sp_record(const sp_run *run, int64 run_id, TupleDesc measurement_type,
					  HeapTuple *measurements, int nmeasurements);

#endif							/* SP_PROBE_FUNCTION_H */
