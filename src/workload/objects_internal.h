/*-------------------------------------------------------------------------
 *
 * objects_internal.h
 *		Shared by the leader of a run and the worker that creates its objects.
 *
 * The leader creates the shared memory.  It is detached when the run ends.  Each field
 * has one writer.  The reports of the worker are complete once its state says so.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_OBJECTS_INTERNAL_H
#define SP_OBJECTS_INTERNAL_H

#include "workload/workload.h"

#include "port/atomics.h"
#include "storage/proc.h"

/* How long set-up, tear-down and the drop of objects wait for a lock. */
#define SP_LOCK_TIMEOUT		"10 s"

/* The state of the worker, which only advances. */
typedef enum sp_worker_state
{
	SP_WORKER_STARTING,			/* nothing is committed */
	SP_WORKER_READY,			/* the objects exist */
	SP_WORKER_ENDED				/* they do not, or the reports say why */
} sp_worker_state;

/* An error for another process.  Missing texts are empty. */
typedef struct sp_error_report
{
	int			sqlstate;		/* 0: no error */
	int			position;		/* of the error in the script; 0 if unknown */
	char		message[1024];
	char		detail[1024];
	char		hint[512];
} sp_error_report;

typedef struct sp_objects_shared
{
	/* written by the leader before the worker starts */
	PGPROC	   *leader;
	int			leader_pid;
	Oid			database;
	Oid			user;
	uint32		schema_id;
	int			script_limit_ms;	/* for set-up and tear-down each */
	NameData	workload;
	NameData	schema;
	NameData	tablespace;		/* empty: that of the database */
	Size		search_path;	/* offsets in texts */
	Size		setup;
	Size		teardown;

	/* written by the leader at any time */
	volatile bool stop;
	volatile bool abandoned;	/* nobody will read the reports */

	/* written by the worker */
	PGPROC	   *volatile worker;	/* NULL until it runs */
	pg_atomic_uint32 state;
	char		synchronous_commit[NAMEDATALEN];	/* of role and database */
	sp_error_report set_up;
	sp_error_report tear_down;
	sp_error_report drop;

	char		texts[FLEXIBLE_ARRAY_MEMBER];
} sp_objects_shared;

/* ---------------------------------------------------------------- schema.c */

/* All of these need a transaction and a connection to SPI. */
extern void sp_schema_execute(const char *sql);
extern void sp_schema_make(const char *schema);
extern int	sp_schema_drop_relations(const char *schema, int max);

/* ----------------------------------------------------------- transaction.c */

extern bool sp_run_in_transaction(void (*work) (void *), void *arg, const char *script,
								  sp_error_report *report);
extern void sp_log_report(const char *what, const char *name, const sp_error_report *report);

/* ------------------------------------------------------------------ drop.c */

extern bool sp_drop_in_transactions(const char *schema, int tries, sp_error_report *report);
extern void sp_drop_own_leftovers(const volatile bool *stop);

#endif							/* SP_OBJECTS_INTERNAL_H */
