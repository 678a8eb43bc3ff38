/*-------------------------------------------------------------------------
 *
 * objects_internal.h
 *		What the leader of a run and the worker that makes its objects share.
 *
 * The memory between them is made by the leader, and detached by whatever ends
 * the run.  Each field has one writer; what comes back from the worker is
 * complete once its state says so.
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

/* How far the worker is.  It never goes back. */
typedef enum sp_worker_state
{
	SP_WORKER_STARTING,			/* nothing is committed */
	SP_WORKER_READY,			/* the objects are there */
	SP_WORKER_ENDED				/* they are not, or see the reports why not */
} sp_worker_state;

/* An error, on its way to another process; empty texts are none. */
typedef struct sp_error_report
{
	int			sqlstate;		/* 0: no error */
	int			position;		/* in the script, if it was the script; or 0 */
	char		message[1024];
	char		detail[1024];
	char		hint[512];
} sp_error_report;

typedef struct sp_objects_shared
{
	/* by the leader, before there is a worker */
	PGPROC	   *leader;
	int			leader_pid;
	Oid			database;
	Oid			user;
	uint32		schema_id;
	int			script_limit_ms;	/* for set-up and tear-down each */
	NameData	workload;
	NameData	schema;
	NameData	tablespace;		/* empty: the database's own */
	Size		search_path;	/* offsets in texts */
	Size		setup;
	Size		teardown;

	/* by the leader, at any time */
	volatile bool stop;
	volatile bool abandoned;	/* nobody will read the reports */

	/* by the worker */
	PGPROC	   *volatile worker;	/* NULL until it runs */
	pg_atomic_uint32 state;
	char		synchronous_commit[NAMEDATALEN];	/* of role and database */
	sp_error_report set_up;
	sp_error_report tear_down;
	sp_error_report drop;

	char		texts[FLEXIBLE_ARRAY_MEMBER];
} sp_objects_shared;

/* ---------------------------------------------------------------- schema.c */

/* All of these need a transaction, and SPI connected. */
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
