/*-------------------------------------------------------------------------
 *
 * function.c
 *		sync_probe.pgbench() and sync_probe.run_workload().
 *
 * However a run ends (error, cancel, end of the backend), pgbench and its sessions are ended,
 * and the objects are dropped.
 *
 * The function holds the snapshot of its caller, so that VACUUM cannot remove row
 * versions that have died since.  The procedure commits first, and holds no snapshot
 * while pgbench sets up and runs.  There is no other difference.
 *
 *-------------------------------------------------------------------------
 */
#include "workload/workload.h"

#include "access/tupconvert.h"
#include "access/xlog.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "utils/tuplestore.h"

/* The arguments of both, in order. */
enum
{
	ARG_WORKLOAD,
	ARG_TABLESPACE,
	ARG_CLIENTS,
	ARG_THREADS,
	ARG_DURATION,
	ARG_TRANSACTIONS,
	ARG_ROWS,
	ARG_SETTINGS,
	ARG_LABEL,
	ARG_ALLOW_PUBLICATION
};

/* ------------------------------------------------------------------ arguments */

static int
take_duration(FunctionCallInfo fcinfo)
{
	int64		duration_us = sp_duration_argument(fcinfo, ARG_DURATION, USECS_PER_SEC);

	if (duration_us % USECS_PER_SEC != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("duration of %g s is not in whole seconds", duration_us / 1e6),
				 errdetail("pgbench accepts only whole seconds."),
				 errhint("For a shorter run, use transactions => ... instead.")));
	return (int) (duration_us / USECS_PER_SEC);
}

/* The duration is ignored if the number of transactions is given. */
static void
take_length(FunctionCallInfo fcinfo, sp_workload_run *run)
{
	if (!PG_ARGISNULL(ARG_TRANSACTIONS))
		run->transactions = sp_integer_argument(fcinfo, ARG_TRANSACTIONS, 1, PG_INT32_MAX,
												"The number is per client. Omit it to run for a duration.");
	else if ((run->transactions = run->workload.transactions) > 0)
		ereport(NOTICE,
				(errmsg("workload \"%s\" runs a fixed number of transactions: %d per client",
						NameStr(run->workload.name), run->transactions),
				 errhint("Change it with transactions => ...; the duration is ignored.")));
	if (run->transactions == 0)
		run->seconds = take_duration(fcinfo);
}

/* Check everything before anything is created, cheap checks first. */
static void
take_arguments(FunctionCallInfo fcinfo, void *state)
{
	sp_workload_run *run = state;

	sp_refuse_nulls(fcinfo, 1 << ARG_WORKLOAD | 1 << ARG_CLIENTS | 1 << ARG_THREADS |
					1 << ARG_DURATION | 1 << ARG_ROWS | 1 << ARG_ALLOW_PUBLICATION);
	run->clients = sp_integer_argument(fcinfo, ARG_CLIENTS, 1, PG_INT32_MAX, NULL);
	run->threads = Min(run->clients, sp_integer_argument(fcinfo, ARG_THREADS, 1, PG_INT32_MAX,
														 "Threads beyond the number of clients are not started."));
	run->rows = sp_integer_argument(fcinfo, ARG_ROWS, 1, PG_INT32_MAX, NULL);
	run->workload.name = *PG_GETARG_NAME(ARG_WORKLOAD);
	sp_workload_find(&run->workload);
	take_length(fcinfo, run);
	sp_workload_check_privileges();
	if (!PG_GETARG_BOOL(ARG_ALLOW_PUBLICATION))
		sp_workload_check_publications(true);
	sp_workload_find_tablespace(PG_ARGISNULL(ARG_TABLESPACE) ? NULL :
								NameStr(*PG_GETARG_NAME(ARG_TABLESPACE)), run);
	if (!PG_ARGISNULL(ARG_SETTINGS))
	{
		run->settings = PointerGetDatum(PG_DETOAST_DATUM_COPY(PG_GETARG_DATUM(ARG_SETTINGS)));
		run->options = sp_workload_check_settings(run->settings, &run->search_path);
	}
	run->label = sp_label_argument(fcinfo, ARG_LABEL);
	sp_workload_check_connections(run->clients, run->workload.new_connections);
}

static void
check_writable(const char *command)
{
	if (RecoveryInProgress())
		ereport(ERROR,
				(errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
				 errmsg("cannot run a workload on a standby"),
				 errdetail("It creates objects and writes rows."),
				 errhint("sync_probe.probe() works on a standby, too.")));
	PreventCommandIfReadOnly(command);
}

/* -------------------------------------------------------------------- the run */

static void
publish(sp_workload_run *run)
{
	run->progress = sp_cluster_lock_acquire("a workload", NameStr(run->tablespace),
											NameStr(run->workload.suite),
											run->seconds * USECS_PER_SEC);
	run->progress->workload = run->workload.name;
	run->progress->planned_transactions = (int64) run->transactions * run->clients;
}

/* Run pgbench between two readings of the WAL counters. */
static void
measure_workload(sp_workload_run *run, sp_pgbench_result *result, sp_wal_statistics *before,
				 sp_wal_statistics *after)
{
	sp_await_reload();
	run->wal_sync_method = pstrdup(GetConfigOption("wal_sync_method", false, false));
	sp_wal_statistics_read(before);
	sp_progress_set_phase("running");
	sp_pgbench_run(run, result);
	sp_progress_set_phase("tearing down");
	sp_workload_wait_for_sessions(run);
	sp_wal_statistics_read(after);
}

static HeapTuple
run_workload(sp_workload_run *run)
{
	sp_pgbench_result *result = palloc0(sizeof(sp_pgbench_result));
	sp_wal_statistics before;
	sp_wal_statistics after;
	HeapTuple	row;

	sp_workload_check_variables(run);
	publish(run);
	PG_ENSURE_ERROR_CLEANUP(sp_workload_give_up, PointerGetDatum(run));
	{
		sp_progress_set_phase("setting up");
		sp_workload_make(run);
		measure_workload(run, result, &before, &after);
		sp_workload_unmake(run);
	}
	PG_END_ENSURE_ERROR_CLEANUP(sp_workload_give_up, PointerGetDatum(run));
	sp_progress_set_phase("recording");
	sp_process_reload();
	row = sp_workload_record(run, result, &before, &after);
	sp_cluster_lock_release();
	return row;
}

/*
 * sync_probe.pgbench(workload, tablespace, clients, threads, duration,
 * transactions, rows, settings, label, allow_publication): one row of
 * sync_probe.workload_results.
 */
PG_FUNCTION_INFO_V1(sync_probe_pgbench);
Datum
sync_probe_pgbench(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	sp_workload_run run = {0};

	sp_check_circumstances("run a workload");
	check_writable("sync_probe.pgbench()");
	take_arguments(fcinfo, &run);
	InitMaterializedSRF(fcinfo, 0);
	tuplestore_puttuple(rsinfo->setResult, run_workload(&run));
	return (Datum) 0;
}

/* -------------------------------------------------------------- the procedure */

#define CALL_NAME	"CALL sync_probe.run_workload()"

/* The columns of the recorded row that the procedure returns. */
static HeapTuple
output_row(void *state, TupleDesc output_type)
{
	sp_workload_run *run = state;
	HeapTuple	recorded;

	run->is_procedure = true;
	recorded = run_workload(run);
	return execute_attr_map_tuple(recorded,
								  convert_tuples_by_name(sp_history_row_type("workload_results"),
														 output_type));
}

/* CALL sync_probe.run_workload(): the same arguments, and some columns of the same row. */
PG_FUNCTION_INFO_V1(sync_probe_run_workload);
Datum
sync_probe_run_workload(PG_FUNCTION_ARGS)
{
	sp_refuse_transaction_block(fcinfo, CALL_NAME,
								"SELECT * FROM sync_probe.pgbench() can run inside a transaction block.");
	sp_check_circumstances("run a workload");
	check_writable(CALL_NAME);
	return sp_procedure_run(fcinfo, sizeof(sp_workload_run), take_arguments, output_row);
}
