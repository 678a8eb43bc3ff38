/*-------------------------------------------------------------------------
 *
 * workload/workload.h
 *		sync_probe.pgbench() and run_workload(): run pgbench, and record it.
 *		Run one as the load of something else, too.
 *
 * function.c checks the arguments with checks.c.  scripts.c reads the row of the workload.
 * pgbench runs all of its SQL (pgbench.c, pgbench_command.c): the set-up, the script and the
 * tear-down, in a schema of their own that objects.c makes and drops, with files in a temporary
 * directory.  record.c writes the row.  load.c runs a workload beside a trial.
 *
 * It must not: be used by a probe, or pass text of a user through a shell.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_WORKLOAD_H
#define SP_WORKLOAD_H

#include "common/child_process.h"
#include "common/file_utils.h"
#include "common/common.h"
#include "engine/pgbench/pgbench.h"
#include "live/live.h"
#include "storage/storage.h"

/* The name of a schema is this prefix and a random number in eight hexadecimal digits. */
#define SP_WORKLOAD_SCHEMA_PREFIX	"sync_probe_workload_"

/*
 * Timed runs stop this long after their duration; counted runs, set-ups and tear-downs stop this
 * long after pg_sync_probe.max_duration.  Otherwise a run that waits for a lock of its
 * caller would never end, and would block all probes.
 */
#define SP_WORKLOAD_GRACE_MS	60000

static inline int
sp_workload_limit_ms(int64 duration_ms)
{
	return (int) Min(duration_ms + SP_WORKLOAD_GRACE_MS, PG_INT32_MAX);
}

/*
 * The sessions of a run, of its application_name and the OID of its role.  Another role may use
 * the same application_name.
 */
#define SP_WORKLOAD_SESSIONS \
	" FROM pg_catalog.pg_stat_activity" \
	" WHERE application_name OPERATOR(pg_catalog.=) '%s'" \
	" AND usesysid OPERATOR(pg_catalog.=) %u" \
	" AND backend_type OPERATOR(pg_catalog.=) 'client backend'"

/* GUCs of pgbench_command.c, see pg_sync_probe.c */
extern char *sp_pgbench_directory;
extern char *sp_pgbench_passfile;

/* A set-up, tear-down or drop: SQL that pgbench runs once. */
typedef struct sp_pgbench_once
{
	const char *what;			/* for messages: "set up", "tore down" */
	sp_child_program program;
} sp_pgbench_once;

/* A row of sync_probe.workloads.  A missing set-up or tear-down is NULL. */
typedef struct sp_workload
{
	NameData	name;
	NameData	suite;
	char	   *setup;
	char	   *script;
	char	   *teardown;
	int			transactions;	/* per client; 0: the duration limits the run */
	char	   *protocol;		/* pgbench's -M */
	bool		new_connections;	/* pgbench's -C */
	bool		builtin;
} sp_workload;

/* A call of sync_probe.pgbench() with valid arguments. */
typedef struct sp_workload_run
{
	sp_workload workload;
	NameData	schema;			/* of its objects; also application_name of its sessions */
	NameData	tablespace;
	bool		default_tablespace; /* it is that of the database */
	char	   *search_path;	/* of its sessions, behind its schema; NULL: the usual one */
	int			clients;
	int			threads;
	int			seconds;		/* one of these two is 0 */
	int			transactions;	/* per client */
	int			rows;
	Datum		settings;		/* the jsonb argument; 0: none */
	char	   *options;		/* the settings as -c options; NULL: none */
	const char *label;			/* may be NULL */
	bool		is_procedure;	/* holds no snapshot while pgbench runs */
	sp_progress *progress;		/* shown by sync_probe.running */

	char		pgbench[MAXPGPATH]; /* that is run */
	const char *host;			/* that it connects to */
	bool		has_objects;	/* at least in part */
	sp_pgbench_once *set_up;
	const sp_pgbench_once *tear_down;	/* NULL: none, or it has begun */
	const sp_pgbench_once *drop;

	sp_child	load;			/* pgbench, if it is the load of something else */

	char	   *wal_sync_method;	/* when pgbench began */
	TimestampTz started_at;
	TimestampTz finished_at;
} sp_workload_run;

/* --------------------------------------------------------------- scripts.c */

extern void sp_workload_find(sp_workload *workload);
extern void sp_workload_check_variables(const sp_workload_run *run);

/* ---------------------------------------------------------------- checks.c */

extern void sp_workload_check_privileges(void);
extern void sp_workload_check_publications(bool has_allow);
extern void sp_workload_check_connections(int clients, bool new_connections);
extern int	sp_workload_fit_clients(int wanted, bool new_connections);
extern void sp_workload_find_tablespace(const char *name, sp_workload_run *run);
extern char *sp_workload_check_settings(Datum settings, char **search_path);

/* --------------------------------------------------------------- objects.c */

/*
 * Find pgbench, create the temporary directory and the schema of the run, and run the set-up.
 * First drop what earlier runs of this role left.  From here on, until one of the next two is
 * called, the run has objects.
 */
extern void sp_workload_make(sp_workload_run *run);

/* End a load, run the tear-down, and drop the schema.  Their errors are WARNINGs. */
extern void sp_workload_unmake(sp_workload_run *run);

/* The same of a run after an error, or while the backend exits: no error, waits for seconds. */
extern void sp_workload_give_up(int code, Datum run);

/* Drop what runs have left in this database.  Returns the number of schemas. */
extern int	sp_schema_drop_leftovers(void);

/*
 * The temporary directory, in the server's directory of temporary files.  Only the holder of the
 * cluster lock has it.  Returns whether it was there, and is removed.
 */
#define SP_WORKLOAD_DIRECTORY \
	"base/" PG_TEMP_FILES_DIR "/" PG_TEMP_FILE_PREFIX "_sync_probe.workload"

extern bool sp_workload_directory_remove(void);
extern char *sp_workload_directory_write(const char *name, const char *content);

/* -------------------------------------------------------- pgbench_command.c */

/* The prefix of log files. */
#define SP_PGBENCH_LOG_PREFIX	SP_WORKLOAD_DIRECTORY "/log"

extern void sp_append_session_option(StringInfo options, const char *name, const char *value);
extern void sp_pgbench_find(sp_workload_run *run);
extern char **sp_pgbench_argv(const sp_workload_run *run, bool with_log);
extern char **sp_pgbench_envp(const sp_workload_run *run);

/*
 * Write the SQL to the temporary directory, and build the command that runs it.  removes: what the
 * run has made, rather than making it.
 */
extern sp_pgbench_once *sp_pgbench_prepare(const sp_workload_run *run, const char *name,
										   const char *what, const char *sql, bool removes,
										   const char *lock_timeout, int limit_ms);

/* ----------------------------------------------------------------- pgbench.c */

/* How an error of pgbench begins. */
#define SP_PGBENCH_ERROR	"pgbench: error: "

/* The result of a run of pgbench. */
typedef struct sp_pgbench_result
{
	sp_pgbench_summary summary;
	StringInfo	statements;		/* the lines of the script, with their latencies */
	StringInfoData second_tps;	/* of double, one for each progress line */
	sp_pgbench_log log;
} sp_pgbench_result;

extern void sp_pgbench_complain(int elevel, const sp_workload_run *run, const sp_child *child,
								const char *how, const char *what);
extern void sp_release_snapshots(void);
extern void sp_pgbench_run(sp_workload_run *run, sp_pgbench_result *result);

/* Run it, with an error or a warning if it fails. */
extern void sp_pgbench_run_once(const sp_workload_run *run, const sp_pgbench_once *once,
								int elevel);

/* -------------------------------------------------------------------- load.c */

/*
 * A workload that runs until it is ended, and is not recorded: the load of a trial.
 * Its arguments are the defaults of pgbench(), but for the time.
 *
 * Check all that pgbench() checks, but not EXECUTE on it.  In the current memory context, which
 * must survive a commit of the caller.  seconds: how long the caller may need it.  Its hints
 * name no argument.
 */
extern sp_workload_run *sp_load_make(const char *workload, int seconds);

/* Start pgbench, once the run has objects.  Releases all snapshots. */
extern void sp_load_start(sp_workload_run *run);

/*
 * Call it often: it reads what pgbench prints, and checks the space in pg_wal.  Its errors are
 * those of pgbench().
 */
extern void sp_load_check(sp_workload_run *run);

/* ---------------------------------------------------------------- record.c */

extern void sp_workload_wait_for_sessions(const sp_workload_run *run);
extern HeapTuple sp_workload_record(const sp_workload_run *run, const sp_pgbench_result *result,
									const sp_wal_statistics *before,
									const sp_wal_statistics *after);

#endif							/* SP_WORKLOAD_H */
