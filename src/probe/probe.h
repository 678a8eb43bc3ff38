/*-------------------------------------------------------------------------
 *
 * probe/probe.h
 *		sync_probe.probe(): measure one location, and record it.
 *
 * function.c takes the arguments, asks what this cluster does when it commits
 * (wal_profile.c), lays out the files (files.c, file_fill.c; free_space.c), lets
 * the engine measure with callbacks.c, and hands the rows to record.c.
 * verdict_function.c lets SQL judge what was recorded.
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

/* What this cluster does when it commits, and where that is known from. */
typedef struct sp_wal_profile
{
	sp_server	server;			/* for the suites */
	const char *wal_sync_method;
	const char *wal_level;
	int64		flush_interval_us;
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

/* The files of one probe, and what is needed to take them away again. */
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

/* A line of progress with its time; psql puts "NOTICE:  " before it. */
#define SP_NOTICE_LENGTH	100

/* What the engine's callbacks work with; set before the engine runs. */
typedef struct sp_probe_context
{
	const sp_probe *probe;
	const sp_storage *storage;
	const sp_probe_files *files;
	sp_progress *progress;
	uint32		flush_wait_event;
	uint32		sleep_wait_event;
	int64		now_ns;			/* when the clock was read last */
	int64		next_check_ns;	/* of free space */
	int64		filling_since_ns;	/* files are written; 0 before */
	int64		next_notice_ns;
	char		noticed[SP_REGIMES][SP_NOTICE_LENGTH];	/* the last line about each */
} sp_probe_context;

extern void sp_callbacks_set(sp_probe *probe, sp_probe_context *context);
extern void sp_notice_filling(const sp_probe *probe, int64 done, int64 total);

/* Let the engine read the counters, too, once they are open. */
extern void sp_callbacks_set_counters(sp_probe *probe);

/* ----------------------------------------------------- measurement_rows.c */

extern int	sp_measurement_rows(const sp_probe *probe, int64 run_id, TupleDesc row_type,
								HeapTuple *rows);
extern HeapTuple sp_sample_row(const sp_probe *probe, int c, int ordinal, int64 run_id,
							   TupleDesc row_type);

/* --------------------------------------------------------------- record.c */

/* Everything about a run that is not a measurement. */
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
