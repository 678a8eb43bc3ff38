/*-------------------------------------------------------------------------
 *
 * workload/workload.h
 *		sync_probe.pgbench() and run_workload(): run pgbench, and record it.
 *		Run one as the load of something else, too.
 *
 * function.c checks the arguments with checks.c and settings.c, and puts values into
 * the scripts (scripts.c).  A background worker creates the objects, since no other
 * session could see those of this transaction (objects.c; in that process worker.c,
 * transaction.c, drop.c and schema.c).  pgbench runs in a temporary directory
 * (temp_directory.c, pgbench.c, pgbench_command.c).  record.c writes the row, and
 * run_group.c finds the runs of the same statement.  load.c runs a workload beside a trial.
 *
 * How long it waits for locks is in objects_internal.h (set-up, tear-down, drop),
 * worker.c (all of a drop) and drop.c (leftovers); cleanup_function.c has its own.
 *
 * It must not: be used by a probe, or pass text of a user through a shell.
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
#include "live/live.h"

/* The name of a schema is this prefix and the schema ID in eight hexadecimal digits. */
#define SP_WORKLOAD_SCHEMA_PREFIX	"sync_probe_workload_"

/*
 * Timed runs stop this long after their duration; counted runs and set-ups stop this
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
 * The sessions of a run, of its application_name as a literal and the OID of its role.
 * Another role may use the same application_name.
 */
#define SP_WORKLOAD_SESSIONS \
	" FROM pg_catalog.pg_stat_activity" \
	" WHERE application_name OPERATOR(pg_catalog.=) %s" \
	" AND usesysid OPERATOR(pg_catalog.=) %u" \
	" AND backend_type OPERATOR(pg_catalog.=) 'client backend'"

/* GUCs of pgbench_command.c, see pg_sync_probe.c */
extern char *sp_pgbench_directory;
extern char *sp_pgbench_passfile;

/* A row of sync_probe.workloads, with variables replaced.  A missing script is NULL. */
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
	bool		hides_builtin;	/* one of that name */
	NameData	author;			/* the role that wrote the row */
	Oid			author_oid;		/* its OID: another role may have the name now */
} sp_workload;

/* A call of sync_probe.pgbench() with valid arguments. */
typedef struct sp_workload_run
{
	sp_workload workload;
	NameData	schema;			/* of its objects; also the application_name of
								 * its sessions */
	uint32		schema_id;		/* the unique part of that name */
	NameData	tablespace;
	bool		default_tablespace; /* it is that of the database */
	char	   *search_path;	/* of its sessions; at first only that in settings */
	int			clients;
	int			threads;
	int			seconds;		/* one of these two is 0 */
	int			transactions;	/* per client */
	int			rows;
	Datum		settings;		/* the jsonb argument; 0: none */
	char	   *options;		/* the settings as -c options; NULL: none */
	const char *label;			/* may be NULL */
	char		synchronous_commit[NAMEDATALEN];	/* of role and database */
	bool		is_procedure;	/* holds no snapshot while pgbench runs */
	sp_progress *progress;		/* shown by sync_probe.running */

	char	   *wal_sync_method;	/* when pgbench began */
	TimestampTz started_at;
	TimestampTz finished_at;
} sp_workload_run;

/* -------------------------------------------------------------- function.c */

/* Set schema_id and schema. */
extern void sp_workload_name_schema(sp_workload_run *run);

/* --------------------------------------------------------------- scripts.c */

extern void sp_workload_find(sp_workload *workload);
extern void sp_workload_fill_in(sp_workload_run *run);

/* ---------------------------------------------------------------- checks.c */

extern void sp_workload_check_privileges(void);
extern void sp_workload_check_execute(void);
extern void sp_workload_check_script(const sp_workload *workload, bool trust, bool has_trust);
extern void sp_workload_check_publications(bool has_allow);
extern void sp_workload_check_connections(int clients, bool new_connections);
extern int	sp_workload_fit_clients(int wanted, bool new_connections);
extern void sp_workload_find_tablespace(const char *name, sp_workload_run *run);

/* -------------------------------------------------------------- settings.c */

extern char *sp_workload_check_settings(Datum settings, char **search_path);
extern char *sp_workload_setting(Datum settings, const char *name);

/* --------------------------------------------------------------- objects.c */

/* The objects of a run, and the process that creates and drops them. */
typedef struct sp_workload_objects sp_workload_objects;

/*
 * Let another process create the schema and run the set-up, in its own transactions.
 * First it drops leftover schemas of this role.  Errors of the set-up are thrown with
 * their own SQLSTATE.  Sets run->synchronous_commit.
 *
 * However this transaction or backend ends, that process ends the sessions of the run
 * and drops the objects.
 */
extern sp_workload_objects *sp_workload_objects_make(sp_workload_run *run);

/* Drop the objects, and wait for that.  An error of the tear-down is a WARNING. */
extern void sp_workload_objects_drop(sp_workload_objects *objects);

/*
 * The same after an error, or while the backend exits.  Throws no error, sends no
 * message, and waits only briefly.  The other process goes on.
 */
extern void sp_workload_objects_give_up(sp_workload_objects *objects);

/* ---------------------------------------------------------------- schema.c */

/* The first two need a transaction and a connection to SPI. */
extern void sp_schema_drop(const char *schema);
extern List *sp_schema_leftovers(bool own_only, MemoryContext context);
extern uint32 sp_schema_id(const char *schema);

/* ---------------------------------------------------------------- worker.c */

extern PGDLLEXPORT void sync_probe_workload_worker(Datum main_arg);

/* -------------------------------------------------------- temp_directory.c */

/* The temporary directory of a run.  Paths are relative to the data directory. */
typedef struct sp_temp_directory
{
	char		path[MAXPGPATH];	/* empty before it is created */
} sp_temp_directory;

extern void sp_temp_directory_make(sp_temp_directory *directory);
extern char *sp_temp_directory_write(const sp_temp_directory *directory, const char *name,
									 const char *content);
extern int	sp_temp_directory_fifo(const sp_temp_directory *directory, const char *name, int bytes);
extern void sp_temp_directory_remove(sp_temp_directory *directory);
extern int	sp_temp_directory_sweep(void);

/* ----------------------------------------------------------------- pgbench.c */

/* The pgbench that is run. */
typedef struct sp_pgbench_program
{
	char		path[MAXPGPATH];
	char		version[64];	/* as it prints it, "15.20 (Debian ...)" */
	const char *host;			/* the host that it connects to */
} sp_pgbench_program;

/* The result of a run of pgbench. */
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

/* The same program while the caller does something else, see load.c. */
typedef struct sp_pgbench_load sp_pgbench_load;

extern sp_pgbench_load *sp_pgbench_start(sp_workload_run *run, const sp_pgbench_program *program,
										 const sp_temp_directory *directory);
extern void sp_pgbench_check(sp_pgbench_load *load);
extern void sp_pgbench_end(sp_pgbench_load *load);

/* -------------------------------------------------------------------- load.c */

/*
 * A workload that runs until it is told to end, and is not recorded: the load of a trial.
 * Its arguments are the defaults of pgbench(), but for the time.
 */
typedef struct sp_load sp_load;

/*
 * Check all that pgbench() checks, and EXECUTE on it.  In the current memory context, which
 * must survive a commit of the caller.  seconds: how long the caller may need it.  Its hints
 * name no argument.
 */
extern sp_load *sp_load_make(const char *workload, int seconds);
extern int	sp_load_clients(const sp_load *load);

/* Create its objects.  From here on the caller must end with finish() or give_up(). */
extern void sp_load_set_up(sp_load *load);

/* Start pgbench.  Releases all snapshots. */
extern void sp_load_start(sp_load *load);

/* Call it often: it reads what pgbench prints.  Its errors are those of pgbench(). */
extern void sp_load_check(sp_load *load);

/* End pgbench, drop the objects, and wait for that. */
extern void sp_load_finish(sp_load *load);

/* The same after an error, or while the backend exits: throws no error, waits briefly. */
extern void sp_load_give_up(sp_load *load);

/* --------------------------------------------------------------- run_group.c */

extern int64 sp_run_group(int64 result_id);

/* ---------------------------------------------------------------- record.c */

extern void sp_workload_wait_for_sessions(const sp_workload_run *run);
extern HeapTuple sp_workload_record(const sp_workload_run *run, const sp_pgbench_result *result,
									const sp_wal_statistics *before, const sp_wal_statistics *after);

#endif							/* SP_WORKLOAD_H */
