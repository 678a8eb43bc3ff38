/*-------------------------------------------------------------------------
 *
 * workload/workload.h
 *		sync_probe.pgbench() and run_workload(): run pgbench, and record it.
 *
 * function.c takes the arguments and fills values into the scripts (scripts.c);
 * checks.c says whether the workload may and can run.  A background worker makes
 * the objects, since no other session could see those of this transaction
 * (objects.c; in that process worker.c, transaction.c and schema.c).  pgbench
 * runs in a temporary directory (temp_directory.c, pgbench.c, pgbench_command.c),
 * and record.c writes the row; run_group.c knows what else the statement ran.
 *
 * It must not: be used by a probe, or pass text of a user's through a shell.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_WORKLOAD_H
#define SP_WORKLOAD_H

#include "postgres.h"

#include "lib/stringinfo.h"
#include "nodes/pg_list.h"

#include "common/common.h"
#include "engine/pgbench/pgbench.h"

/* A schema of ours: this, and the ID of its run in eight hexadecimal digits. */
#define SP_WORKLOAD_SCHEMA_PREFIX	"sync_probe_workload_"

/*
 * A timed run ends this long after its duration at the latest; a counted run and a
 * set-up, this long after pg_sync_probe.max_duration.  Otherwise one that waits for
 * a lock of the caller would never end, and no probe could run meanwhile.
 */
#define SP_WORKLOAD_GRACE_MS	60000

/* GUCs of pgbench_command.c, see pg_sync_probe.c */
extern char *sp_pgbench_directory;
extern char *sp_pgbench_passfile;

/*
 * A row of sync_probe.workloads; the scripts with their variables replaced,
 * NULL where there is none.
 */
typedef struct sp_workload
{
	NameData	name;
	NameData	suite;
	char	   *setup;
	char	   *script;
	char	   *teardown;
	int			transactions;	/* per client; 0: as long as the duration */
	char	   *protocol;		/* pgbench's -M */
	bool		new_connections;	/* pgbench's -C */
	bool		builtin;
	NameData	author;			/* who wrote the row */
	Oid			author_oid;		/* then, not of whoever has that name now */
} sp_workload;

/* A call of sync_probe.pgbench(), once its arguments are known to be good. */
typedef struct sp_workload_run
{
	sp_workload workload;
	NameData	schema;			/* of its objects; also the application_name of
								 * its sessions */
	uint32		schema_id;		/* what makes that name its own */
	NameData	tablespace;
	bool		default_tablespace; /* it is the database's own */
	char	   *search_path;	/* of its sessions; first, what was asked for */
	int			clients;
	int			threads;
	int			seconds;		/* one of these two is 0 */
	int			transactions;	/* per client */
	int			rows;
	Datum		settings;		/* jsonb as it came; 0: none */
	char	   *options;		/* the same as -c options; NULL: none */
	const char *label;			/* may be NULL */
	char		synchronous_commit[NAMEDATALEN];	/* of role and database */
	bool		is_procedure;	/* no snapshot while pgbench runs */
	sp_progress *progress;		/* what sync_probe.running shows */

	char	   *wal_sync_method;	/* when pgbench began */
	TimestampTz started_at;
	TimestampTz finished_at;
} sp_workload_run;

/* --------------------------------------------------------------- scripts.c */

extern void sp_workload_find(sp_workload *workload);
extern void sp_workload_fill_in(sp_workload_run *run);

/* ---------------------------------------------------------------- checks.c */

extern void sp_workload_check_privileges(void);
extern void sp_workload_check_script(const sp_workload *workload, bool trust);
extern void sp_workload_check_publications(void);
extern void sp_workload_check_connections(int clients, bool new_connections);
extern void sp_workload_find_tablespace(const char *name, sp_workload_run *run);

/* -------------------------------------------------------------- settings.c */

extern char *sp_workload_check_settings(Datum settings, char **search_path);
extern char *sp_workload_setting(Datum settings, const char *name);

/* --------------------------------------------------------------- objects.c */

/* The objects of a run, and the process that made them and will drop them. */
typedef struct sp_workload_objects sp_workload_objects;

/*
 * Have the schema and what the set-up makes in it made, by another process in
 * transactions of its own.  First it drops what workloads of this role left whose
 * server crashed.  Errors: those of the set-up, with their own SQLSTATE.  Sets
 * run->synchronous_commit.
 *
 * Whatever ends this transaction or backend then, the objects are dropped: by
 * that process, which ends the sessions of the run before.
 */
extern sp_workload_objects *sp_workload_objects_make(sp_workload_run *run);

/* Drop them, and wait for that; what the tear-down complains about is a WARNING. */
extern void sp_workload_objects_drop(sp_workload_objects *objects);

/*
 * The same after an error, or while the backend exits: throws none, says
 * nothing, and waits a little while only.  The other process goes on.
 */
extern void sp_workload_objects_give_up(sp_workload_objects *objects);

/* ---------------------------------------------------------------- schema.c */

/* All of these need a transaction, and SPI connected. */
extern void sp_schema_drop(const char *schema);
extern List *sp_schema_leftovers(bool own_only, MemoryContext context);
extern uint32 sp_schema_id(const char *schema);

/* ---------------------------------------------------------------- worker.c */

extern PGDLLEXPORT void sync_probe_workload_worker(Datum main_arg);

/* -------------------------------------------------------- temp_directory.c */

/* The temporary directory of a run; paths are below the data directory. */
typedef struct sp_temp_directory
{
	char		path[MAXPGPATH];	/* empty until made */
} sp_temp_directory;

extern void sp_temp_directory_make(sp_temp_directory *directory);
extern char *sp_temp_directory_write(const sp_temp_directory *directory, const char *name,
									 const char *content);
extern int	sp_temp_directory_fifo(const sp_temp_directory *directory, const char *name, int bytes);
extern void sp_temp_directory_remove(sp_temp_directory *directory);
extern int	sp_temp_directory_sweep(void);

/* ----------------------------------------------------------------- pgbench.c */

/* The program that is run. */
typedef struct sp_pgbench_program
{
	char		path[MAXPGPATH];
	char		version[64];	/* its own words, "15.20 (Debian ...)" */
	const char *host;			/* where it finds this server */
} sp_pgbench_program;

/* What a run of pgbench came to. */
typedef struct sp_pgbench_result
{
	const sp_pgbench_program *program;
	sp_pgbench_summary summary;
	List	   *statements;		/* of sp_pgbench_line_statement */
	int			nseconds;		/* one for each progress line */
	double	   *second_tps;
	double	   *second_latency_ms;
	sp_pgbench_log log;
} sp_pgbench_result;

/* One statement or meta-command of the script. */
typedef struct sp_pgbench_line_statement
{
	double		latency_ms;
	int64		failures;
	char	   *text;
} sp_pgbench_line_statement;

extern void sp_append_session_option(StringInfo options, const char *name, const char *value);
extern void sp_pgbench_find(sp_pgbench_program *program);
extern void sp_pgbench_run(sp_workload_run *run, const sp_pgbench_program *program,
						   const sp_temp_directory *directory, sp_pgbench_result *result);

/* --------------------------------------------------------------- run_group.c */

extern int64 sp_run_group(int64 result_id);

/* ---------------------------------------------------------------- record.c */

/* What the server counted, of all its sessions; NAN where it does not know. */
typedef struct sp_wal_counts
{
	double		bytes;
	double		syncs;
	double		sync_time_ms;
} sp_wal_counts;

extern void sp_wal_counts_read(sp_wal_counts *counts);
extern void sp_workload_wait_for_sessions(const sp_workload_run *run);
extern HeapTuple sp_workload_record(const sp_workload_run *run, const sp_pgbench_result *result,
									const sp_wal_counts *before, const sp_wal_counts *after);

#endif							/* SP_WORKLOAD_H */
