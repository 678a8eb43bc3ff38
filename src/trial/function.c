/*-------------------------------------------------------------------------
 *
 * function.c
 *		CALL sync_probe.trial().
 *
 * The procedure commits once, before it takes the cluster lock.  From then on it reads no
 * table until it records: its transaction has no snapshot, and holds back no vacuum.
 *
 * However a trial ends, the setting is restored: see watchdog.c.  Then the workload that
 * made its load is ended, and its objects are dropped: see workload/load.c.
 *
 *-------------------------------------------------------------------------
 */
#include "trial/trial.h"

#include "access/htup_details.h"
#include "common/pg_prng.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "utils/builtins.h"
#include "utils/guc.h"

#include "compat.h"

#define CALL_NAME		"CALL sync_probe.trial()"
#define MIN_DURATION_US	USECS_PER_SEC
#define MIN_SLOT_US		(300 * INT64CONST(1000))
#define MAX_SLOT_US		(60 * USECS_PER_SEC)

/* The arguments, in order. */
enum
{
	ARG_SETTING,
	ARG_VALUES,
	ARG_DURATION,
	ARG_SLOT,
	ARG_WORKLOAD,
	ARG_LABEL
};

static const char *const trial_arg_names[] = {
	"setting", "values", "duration", "slot", "workload", "label"
};

/* ---------------------------------------------------------------- arguments */

static void
check_slot(const sp_trial *trial, double shortest)
{
	if (trial->slot_s < shortest)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("slot of %g s is too short for the sessions of this server", trial->slot_s),
				 errdetail("Each reload costs every session some time."),
				 errhint("Use at least %.2f s, or omit it.", shortest + 0.005)));
	if (trial->duration_us < (trial->count + 1) * trial->slot_s * USECS_PER_SEC)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("duration of %g s is too short for one round",
						(double) trial->duration_us / USECS_PER_SEC),
				 errdetail("A round has %d slots of %.2f s.", trial->count + 1, trial->slot_s)));
}

static void
take_setting(FunctionCallInfo fcinfo, sp_trial *trial)
{
	sp_refuse_null(fcinfo, ARG_SETTING, trial_arg_names);
	sp_trial_take_setting(trial, NameStr(*PG_GETARG_NAME(ARG_SETTING)));
	sp_trial_check_privilege(trial->setting);
}

/* In the current memory context, which survives a commit. */
static void
take_other_arguments(FunctionCallInfo fcinfo, sp_trial *trial)
{
	sp_refuse_null(fcinfo, ARG_DURATION, trial_arg_names);
	trial->duration_us = sp_interval_argument(fcinfo, ARG_DURATION, trial_arg_names,
											  MIN_DURATION_US,
											  sp_max_duration_ms * INT64CONST(1000),
											  "The upper limit is pg_sync_probe.max_duration.");
	if (!PG_ARGISNULL(ARG_SLOT))
		trial->slot_s = (double) sp_interval_argument(fcinfo, ARG_SLOT, trial_arg_names, MIN_SLOT_US,
													  MAX_SLOT_US, "Omit it to use the shortest one.") /
			USECS_PER_SEC;
	if (!PG_ARGISNULL(ARG_WORKLOAD))
		trial->workload = pstrdup(NameStr(*PG_GETARG_NAME(ARG_WORKLOAD)));
	trial->label = sp_label_argument(fcinfo, ARG_LABEL);
	trial->random_seed = (int64) (pg_prng_uint64(&pg_global_prng_state) & UINT64CONST(0xFFFFFFFFFFFF));
}

/* -------------------------------------------------------------------- trial */

/* What an earlier trial has left is not the value to come back to. */
static void
restore_leftover(void)
{
	(void) sp_cluster_lock_acquire("pg_wal", SP_TRIAL_SUITE, 0);
	if (sp_trial_cleanup() > 0)
		ereport(NOTICE, (errmsg("restored the setting of an earlier trial")));
	sp_process_reload();
	sp_cluster_lock_release();
}

/* What must be given back, however the trial ends. */
typedef struct trying
{
	sp_trial   *trial;
	sp_watchdog *watchdog;		/* NULL before it watches */
} trying;

/* Also called while the backend exits: must not throw an error. */
static void
clean_up_trial(int code pg_attribute_unused(), Datum arg)
{
	trying	   *state = (trying *) DatumGetPointer(arg);

	if (state->watchdog)
		sp_watchdog_give_up(state->watchdog);
	else
		(void) sp_trial_restore_quietly();
	sp_mixed_wal_sync(&state->trial->mixed);
}

static void
try_values(sp_trial *trial, sp_progress *progress)
{
	trying		state = {.trial = trial};
	sp_trial_files files = {0};

	sp_progress_set_phase("measuring");
	trial->started_at = GetCurrentTimestamp();
	PG_ENSURE_ERROR_CLEANUP(clean_up_trial, PointerGetDatum(&state));
	{
		sp_trial_files_make(trial, &files);
		state.watchdog = sp_watchdog_start();
		sp_trial_check_pending_edits(trial->files, sp_watchdog_load_time(state.watchdog));
		sp_trial_run(trial, &files, state.watchdog, progress);
	}
	PG_END_ENSURE_ERROR_CLEANUP(clean_up_trial, PointerGetDatum(&state));
	sp_watchdog_stop(state.watchdog);
	trial->finished_at = GetCurrentTimestamp();
}

/* Also called while the backend exits: must not throw an error. */
static void
clean_up_load(int code pg_attribute_unused(), Datum arg)
{
	sp_load_give_up((sp_load *) DatumGetPointer(arg));
}

/* After an error the setting is restored first: pgbench and the objects can wait. */
static void
try_values_with_load(sp_trial *trial, sp_progress *progress)
{
	namestrcpy(&progress->workload, trial->workload);
	PG_ENSURE_ERROR_CLEANUP(clean_up_load, PointerGetDatum(trial->load));
	{
		sp_progress_set_phase("setting up");
		sp_trial_begin_load(trial);
		try_values(trial, progress);
		sp_progress_set_phase("tearing down");
		sp_load_finish(trial->load);
	}
	PG_END_ENSURE_ERROR_CLEANUP(clean_up_load, PointerGetDatum(trial->load));
}

static void
run_trial(sp_trial *trial)
{
	sp_progress *progress = sp_cluster_lock_acquire("pg_wal", SP_TRIAL_SUITE, trial->duration_us);

	if (trial->load)
		try_values_with_load(trial, progress);
	else
		try_values(trial, progress);
}

/* ---------------------------------------------------------------- procedure */

static HeapTuple
procedure_row(const sp_trial *trial, int64 run_id, TupleDesc type)
{
	Datum		values[] = {
		Int64GetDatum(run_id),
		CStringGetTextDatum(sp_verdict_name(trial->comparison->judgement.verdict)),
		CStringGetTextDatum(sp_trial_recommended(trial)),
		CStringGetTextDatum(trial->reason),
	};
	bool		nulls[lengthof(values)] = {false};

	Assert(type->natts == lengthof(values));
	return heap_form_tuple(type, values, nulls);
}

static void
check_all(FunctionCallInfo fcinfo)
{
	sp_refuse_transaction_block(fcinfo, CALL_NAME,
								"It commits, so that it holds no snapshot while it runs.",
								"Call it as a statement of its own.");
	sp_check_circumstances("run a trial");
	sp_trial_check_server();
	PreventCommandIfReadOnly(CALL_NAME);
}

/*
 * sync_probe.trial(setting, values, duration, slot, workload, label, INOUT run_id,
 * INOUT verdict, INOUT recommended_value, INOUT reason)
 */
SP_FUNCTION(sync_probe_trial,
			"name, text[], interval, interval, name, text, int8, text, text, text -> run_id "
			"int8, verdict text, recommended_value text, reason text")
{
	sp_trial   *trial;
	TupleDesc	type;
	HeapTupleHeader output;
	double		shortest;
	int64		run_id;
	int			nest_level;

	check_all(fcinfo);
	if (SPI_connect_ext(SPI_OPT_NONATOMIC) != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	if (get_call_result_type(fcinfo, NULL, &type) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "sync_probe.trial() returns no row");
	type = BlessTupleDesc(CreateTupleDescCopy(type));
	trial = palloc0(sizeof(sp_trial));
	trial->comparison = palloc0(sizeof(sp_setting_comparison));
	/* a procedure with SET search_path cannot commit */
	nest_level = sp_pin_search_path();
	take_setting(fcinfo, trial);
	take_other_arguments(fcinfo, trial);
	sp_await_reload();
	/* before the first reload */
	trial->files = sp_trial_list_files();
	sp_trial_check_pending_edits(trial->files, PgReloadTime);
	restore_leftover();
	sp_trial_check_source(trial->setting);
	sp_trial_take_values(trial, PG_ARGISNULL(ARG_VALUES) ? (Datum) 0 : PG_GETARG_DATUM(ARG_VALUES),
						 PG_ARGISNULL(ARG_VALUES));
	sp_trial_prepare_load(trial);
	sp_trial_choose_slot(trial, &shortest);
	check_slot(trial, shortest);
	AtEOXact_GUC(true, nest_level);
	sp_commit();

	nest_level = sp_pin_search_path();
	run_trial(trial);
	sp_progress_set_phase("recording");
	run_id = sp_trial_record(trial);
	sp_trial_tell(trial);
	sp_cluster_lock_release();
	output = SPI_returntuple(procedure_row(trial, run_id, type), type);
	AtEOXact_GUC(true, nest_level);
	SPI_finish();
	PG_RETURN_HEAPTUPLEHEADER(output);
}
