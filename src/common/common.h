/*-------------------------------------------------------------------------
 *
 * common/common.h
 *		Functions of the server part that probes, trials and workloads share.
 *
 * Checks of arguments, access to the extension's tables through SPI, the cluster lock
 * that lets one probe or workload run at a time, its progress, reloads of the
 * configuration, text and jsonb, background workers, and what a
 * process shows that starts now.  child_process.h runs other programs.
 *
 * It must not: measure, look at what is below a location, or run a workload.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_COMMON_H
#define SP_COMMON_H

#include "postgres.h"

#include <time.h>

#include "access/htup.h"
#include "access/tupdesc.h"
#include "common/pg_prng.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "nodes/pg_list.h"
#include "postmaster/bgworker.h"
#include "storage/dsm.h"
#include "utils/guc.h"
#include "utils/timestamp.h"

#define SP_SCHEMA	"sync_probe"

/* macOS has other names than POSIX for these members of struct stat. */
#ifdef __APPLE__
#define st_mtim		st_mtimespec
#define st_ctim		st_ctimespec
#endif

/* The clock of all measurements: it is never set. */
static inline int64
sp_monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64) now.tv_sec * 1000000000 + now.tv_nsec;
}

/* For errors where SQL and library do not fit together. */
#define SP_UPDATE_HINT \
	"After an upgrade of the package, ALTER EXTENSION pg_sync_probe UPDATE; in each database. " \
	"Sessions from before it must reconnect."

/* ------------------------------------------------------------ arguments.c */

extern int	sp_max_duration_ms;	/* GUC, see pg_sync_probe.c */

extern const char *sp_argument_name(FunctionCallInfo fcinfo, int arg);
extern void sp_refuse_nulls(FunctionCallInfo fcinfo, int arguments);
extern int64 sp_interval_argument(FunctionCallInfo fcinfo, int arg, int64 min_us, int64 max_us,
								  const char *hint);
extern int64 sp_duration_argument(FunctionCallInfo fcinfo, int arg, int64 min_us);
extern int	sp_integer_argument(FunctionCallInfo fcinfo, int arg, int min, int max,
								const char *hint);
extern char *sp_label_argument(FunctionCallInfo fcinfo, int arg);
extern char *sp_postmaster_line(int n);
extern void sp_check_postmaster(void);
extern void sp_check_client(void);
extern void sp_pause(long ms, const char *wait_event);
extern void sp_check_circumstances(const char *verb);

/* --------------------------------------------------------- configuration.c */

extern void sp_process_reload(void);
extern void sp_await_reload(void);
extern List *sp_configuration_files(void);
extern void sp_refuse_pending_edits(List *files, TimestampTz load_time);
extern void sp_alter_system(const char *name, const char *value);
extern ConfigVariable *sp_auto_conf_lines(void);
extern void sp_request_reload(void);

/* --------------------------------------------------------- cluster_lock.c */

/* Suites that probe() has not, in their progress and in their rows of sync_probe.runs. */
#define SP_TRIAL_SUITE		"trial"
#define SP_POWER_TEST_SUITE	"power_test"

/* The progress of a probe or workload, in shared memory while it runs. */
typedef struct sp_progress
{
	NameData	activity;		/* "a probe", for messages */
	NameData	location;		/* of a workload: its tablespace; empty: all */
	NameData	suite;
	NameData	workload;		/* empty for a probe; of a trial: what makes its load */
	NameData	phase;			/* see sync_probe.running */
	TimestampTz started_at;
	TimestampTz measuring_since;	/* 0 before that */
	int64		duration_us;	/* 0: the run ends after planned_transactions */
	int64		planned_transactions;	/* 0: the run ends after its duration */
	volatile int64 transactions;
} sp_progress;

extern sp_progress *sp_cluster_lock_acquire(const char *activity, const char *location,
											const char *suite, int64 duration_us);
extern void sp_yield_to_drop(void);
extern void sp_progress_set_phase(const char *phase);
extern void sp_cluster_lock_release(void);
extern bool sp_trial_lock(bool wait);
extern void sp_trial_unlock(void);

/* Until the next NOTICE of progress: a second, later a twentieth of the time that has passed. */
#define SP_NOTICE_PAUSE(passed, second)	Max((second), (passed) / 20)

/* --------------------------------------------------------------- worker.c */

/* The hint of a session whose worker has ended before it began to work. */
#define SP_WORKER_HINT \
	"If the package was upgraded after this session began, reconnect. " \
	"Otherwise see the server log for the reason."

extern bool sp_worker_register(const char *type, const char *function, bool database,
							   int restart_s, dsm_segment *segment,
							   BackgroundWorkerHandle **handle);
extern bool sp_worker_fits(void);

typedef struct sp_new_process
{
	char		value[128];		/* of the setting asked for */
	TimestampTz load_time;		/* when the postmaster read its configuration */
} sp_new_process;

extern sp_new_process sp_new_process_show(const char *setting);
extern PGDLLEXPORT void sync_probe_new_process(Datum handle);

/* ---------------------------------------------------------------- jsonb.c */

extern void sp_jsonb_begin(StringInfo json, const char *name, char bracket);
extern void sp_jsonb_put_text(StringInfo json, const char *name, const char *text);
extern void sp_jsonb_put_number(StringInfo json, const char *name, double number, int digits);
extern void sp_jsonb_put_boolean(StringInfo json, const char *name, int boolean);
extern Datum sp_jsonb_datum(StringInfo json);

/* ------------------------------------------------------------------ spi.c */

/* As whom a query runs: the caller, or the owner of the history. */
#define SP_AS_CALLER	false
#define SP_AS_OWNER		true

extern bool sp_record_possible(void);
extern Oid sp_history_owner(void);
extern bool sp_record_or_notice(void);
extern void sp_spi_execute(const char *sql, int nargs, Oid *types, Datum *values, bool as_owner);
extern List *sp_spi_column(const char *sql, int nargs, Oid *types, Datum *values, bool as_owner);
extern int64 sp_history_next_id(void);
extern TupleDesc sp_history_row_type(const char *table);
extern void sp_refuse_transaction_block(FunctionCallInfo fcinfo, const char *call,
										const char *hint);
extern Datum sp_procedure_run(FunctionCallInfo fcinfo, Size state_size,
							  void (*prepare) (FunctionCallInfo fcinfo, void *state),
							  HeapTuple (*work) (void *state, TupleDesc type));

/* ------------------------------------------------------------------ row.c */

extern char *sp_valid_text(const char *text);
extern char *sp_known_text(const char *text);

/* A row of one of the extension's tables.  A column is null until it is put. */
typedef struct sp_row
{
	TupleDesc	type;
	Datum	   *values;
	bool	   *nulls;
} sp_row;

extern sp_row *sp_row_make(TupleDesc type);
extern sp_row *sp_row_of_result(FunctionCallInfo fcinfo);
extern void sp_row_put(sp_row *row, const char *column, Oid type, Datum value);
extern void sp_row_put_text(sp_row *row, const char *column, const char *value);
extern void sp_row_put_name(sp_row *row, const char *column, const char *value);
extern void sp_row_put_int(sp_row *row, const char *column, Oid type, int64 value);
extern double sp_rounded(double value, int digits);
extern void sp_row_put_number(sp_row *row, const char *column, double value, int digits);
extern void sp_row_put_doubles(sp_row *row, const char *column, const double *values, int n);
extern void sp_row_put_interval(sp_row *row, const char *column, int64 us);
extern HeapTuple sp_row_form(const sp_row *row);
extern void sp_history_insert(TupleDesc type, HeapTuple *rows, int nrows);

/* ---------------------------------------------------------- this_server.c */

extern void sp_row_put_this_server(sp_row *row);

#endif							/* SP_COMMON_H */
