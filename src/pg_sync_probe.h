/*-------------------------------------------------------------------------
 *
 * pg_sync_probe.h
 *		What the files of the server's side share.
 *
 * The way of a probe: probe_function.c takes the arguments, finds the place
 * (location.c), asks what this cluster does when it commits (cluster.c),
 * makes itself the only probe (exclusive.c), looks what lies under the place
 * (storage.c, with zfs_tools.c and child_process.c; storage_facts.c), lays out the files
 * (probe_file.c, probe_file_fill.c; free_space.c), lets the engine measure
 * with callbacks.c, and hands the rows to record.c.  verdict_function.c lets SQL
 * judge what was recorded, cleanup_function.c removes what dead processes left.
 * Workloads through pgbench have a header of their own, workload.h.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PG_SYNC_PROBE_H
#define PG_SYNC_PROBE_H

#include "postgres.h"

#include "access/htup.h"
#include "access/tupdesc.h"
#include "fmgr.h"
#include "nodes/pg_list.h"
#include "utils/timestamp.h"

#include "engine/storage/disks.h"
#include "engine/measure/probe.h"
#include "engine/measure/suite.h"
#include "engine/storage/zfs.h"

#define SP_SCHEMA	"sync_probe"

/* GUCs, see pg_sync_probe.c */
extern double sp_margin;
extern int	sp_max_duration_ms;
extern int	sp_reserve_percent;

/* ------------------------------------------------------------ arguments.c */

extern void sp_refuse_null(FunctionCallInfo fcinfo, int arg, const char *const *names);
extern int64 sp_interval_argument(FunctionCallInfo fcinfo, int arg, const char *const *names,
								  int64 least_us, int64 most_us, const char *hint);
extern int	sp_integer_argument(FunctionCallInfo fcinfo, int arg, const char *const *names,
								int least, const char *hint);
extern char *sp_label_argument(FunctionCallInfo fcinfo, int arg);
extern char *sp_postmaster_line(int n);
extern void sp_check_circumstances(const char *verb);

/* --------------------------------------------------------- configuration.c */

extern void sp_process_reload(void);
extern void sp_await_reload(void);

/* ------------------------------------------------------------- location.c */

/* A place that is probed: pg_wal, or a tablespace. */
typedef struct sp_location
{
	NameData	name;
	Oid			tablespace;		/* InvalidOid for pg_wal */
	char		directory[MAXPGPATH];	/* as PostgreSQL sees it, below PGDATA */
} sp_location;

extern void sp_location_find(const char *name, sp_location *location);
extern List *sp_location_list(void);
extern void sp_location_check_privilege(const sp_location *location);

/* The device below a location, and what holds for all of its disks. */
typedef struct sp_location_device
{
	bool		known;
	sp_block_device device;		/* its cache is the weakest of its disks */
	int			fua;
	Datum		disks;			/* their names, text[] */
} sp_location_device;

extern void sp_location_find_device(const sp_mount_table *mounts, const sp_mount *mount,
									sp_location_device *device);

/* -------------------------------------------------------------- cluster.c */

/* What this cluster does when it commits, and where that is known from. */
typedef struct sp_cluster
{
	sp_server	server;			/* for the suites */
	const char *wal_sync_method;
	const char *wal_level;
	int64		flush_interval_us;
	const char *flush_size_source;
	const char *flush_interval_source;
} sp_cluster;

extern void sp_cluster_read(sp_cluster *cluster);
extern int	sp_cluster_most_flush_size(const sp_cluster *cluster);

/* ------------------------------------------------------------ exclusive.c */

/* How far a probe or a workload is; lies in shared memory while it runs. */
typedef struct sp_progress
{
	int			pid;
	NameData	location;		/* of a workload: its tablespace */
	NameData	suite;
	NameData	workload;		/* empty for a probe */
	NameData	phase;			/* 'examining storage', 'writing files',
								 * 'measuring', 'recording'; of a workload
								 * 'setting up', 'running', 'tearing down',
								 * 'recording' */
	TimestampTz started_at;
	TimestampTz measuring_since;	/* 0 until it does */
	int64		duration_us;	/* 0: it ends after so many transactions */
	int64		planned_transactions;	/* 0: when the duration is over */
	volatile int64 rounds;
	volatile int64 transactions;
} sp_progress;

extern sp_progress *sp_exclusive_begin(const char *location, const char *suite, int64 duration_us);
extern void sp_exclusive_phase(const char *phase);
extern void sp_exclusive_end(void);
extern bool sp_token_lock(uint32 token, bool session);
extern void sp_token_unlock(uint32 token);

/* -------------------------------------------------------------- storage.c */

/* What lies under a location; strings are NULL or empty where not known. */
typedef struct sp_storage
{
	char	   *directory;		/* symbolic links resolved */
	char	   *filesystem;
	sp_block_device device;		/* what a DBA knows it by, be it LVM or RAID */
	char	   *mount_options;
	char	   *source;
	const char *syncs_nothing;	/* why, or NULL */
	sp_disks	disks;
	char	   *backing_filesystem; /* where a loop device's file lies */
	char	   *backing_options;
	const char *no_counters;	/* why they are not read, or NULL */
	int			reserved_fds;	/* told to fd.c */

	bool		is_zfs;
	char	   *zfs_unknown;	/* why */
	sp_zfs		zfs;
	int64		zil_commits_before; /* -1: not counted */
	bool		zil_whole_system;
} sp_storage;

extern void sp_storage_examine(const sp_location *location, sp_storage *storage,
							   sp_device_facts *facts);
extern void sp_storage_open(sp_storage *storage, sp_probe *probe);
extern void sp_storage_close(sp_storage *storage);
extern int64 sp_storage_zil_commits(sp_storage *storage);

/* -------------------------------------------------------- storage_facts.c */

extern char *sp_storage_facts(sp_storage *storage, const sp_probe *probe);
extern char *sp_valid_text(const char *text);
extern char *sp_known_text(const char *text);

/* ----------------------------------------------------------- free_space.c */

extern int64 sp_available_space(int directory_fd, const char *directory, int64 least_reserve,
								int64 *reserve);
extern int64 sp_location_space(const sp_location *location, int directory_fd,
							   const char *directory, int64 wanted, int64 *reserve);
extern void sp_check_reserve(const sp_location *location, int directory_fd);
extern char *sp_pretty_bytes(int64 bytes);

/* ----------------------------------------------------------- probe_file.c */

/* The files of one probe, and what is needed to take them away again. */
typedef struct sp_probe_files
{
	const sp_location *location;
	sp_probe   *probe;
	int			directory_fd;	/* -1 until opened */
	int			reserved_fds;	/* told to fd.c */
	int64		rested_ns;		/* between the chunks while filling, in all */
	struct
	{
		bool		exists;
		dev_t		device;
		ino_t		inode;
	}			created[SP_MAX_FILES];
} sp_probe_files;

extern void sp_probe_files_create(sp_probe_files *files);
extern void sp_probe_files_remove(sp_probe_files *files);
extern int	sp_probe_files_sweep(const sp_location *location);

/* ------------------------------------------------------ probe_file_fill.c */

extern void sp_probe_file_fill(sp_probe_files *files, const sp_file *file, const char *directory);

/* ------------------------------------------------------------ callbacks.c */

/* A line of progress with its time; psql puts "NOTICE:  " before it. */
#define SP_NOTICE_LENGTH	100

/* What the engine's callbacks work with; set before the engine runs. */
typedef struct sp_surroundings
{
	const sp_probe *probe;
	const sp_storage *storage;
	const sp_probe_files *files;
	sp_progress *progress;
	uint32		flush_wait_event;
	uint32		sleep_wait_event;
	int64		now_ns;			/* when the clock was read last */
	int64		next_check_ns;	/* of free space */
	int64		next_notice_ns;
	char		noticed[SP_REGIMES][SP_NOTICE_LENGTH];	/* the last line about each */
} sp_surroundings;

extern void sp_callbacks_set(sp_probe *probe, sp_surroundings *surroundings);

/* ------------------------------------------------------------------ spi.c */

extern bool sp_record_possible(void);
extern int	sp_pin_search_path(void);
extern void sp_as_history_owner(void (*work) (void *), void *arg);
extern void sp_history_execute(const char *sql, int nargs, Oid *types, Datum *values,
							   const char *nulls, int expected);
extern Datum sp_history_value(int column, bool *isnull);
extern int64 sp_history_next_id(const char *sequence);
extern TupleDesc sp_history_row_type(const char *table);
extern void sp_put_number(Datum *value, bool *null, double number, int digits);

/* A row of one of these tables, filled by the names of its columns. */
typedef struct sp_row
{
	TupleDesc	type;
	Datum	   *values;
	bool	   *nulls;
} sp_row;

extern sp_row *sp_row_make(TupleDesc type);
extern void sp_row_put(sp_row *row, const char *column, Oid type, Datum value);
extern void sp_row_put_text(sp_row *row, const char *column, const char *value);
extern void sp_row_put_name(sp_row *row, const char *column, const char *value);
extern void sp_row_put_int(sp_row *row, const char *column, Oid type, int64 value);
extern void sp_row_put_number(sp_row *row, const char *column, double value, int digits);
extern void sp_row_put_interval(sp_row *row, const char *column, int64 us);
extern HeapTuple sp_row_form(const sp_row *row);
extern void sp_history_insert(const char *table, TupleDesc type, HeapTuple *rows, int nrows);

/* --------------------------------------------------------------- record.c */

/* Everything about a run that is not a measurement. */
typedef struct sp_run
{
	const sp_location *location;
	const sp_suite *suite;
	const sp_cluster *cluster;
	const sp_probe *probe;
	const sp_storage *storage;
	const char *storage_json;	/* see sp_storage_facts() */
	const char *label;			/* may be NULL */
	TimestampTz started_at;
	TimestampTz finished_at;
} sp_run;

extern int64 sp_record_next_run_id(void);
extern void sp_record(const sp_run *run, int64 run_id, TupleDesc measurement_type,
					  HeapTuple *measurements, int nmeasurements);
extern int	sp_measurement_rows(const sp_probe *probe, int64 run_id, TupleDesc row_type,
								HeapTuple *rows);

#endif							/* PG_SYNC_PROBE_H */
