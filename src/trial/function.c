/*-------------------------------------------------------------------------
 *
 * function.c
 *		CALL sync_probe.trial().
 *
 * The procedure commits once, before its first switch.  From then on it reads no table until
 * it records: its transaction has no snapshot, and holds back no vacuum.
 *
 * However a trial ends, the setting is restored: see watchdog.c.  Then the workload that
 * made its load is ended, and its objects are dropped: see workload/load.c.
 *
 *-------------------------------------------------------------------------
 */
#include "trial/trial.h"

#include "access/htup_details.h"
#include "access/xlog.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"

#include "compat.h"

#define CALL_NAME		"CALL sync_probe.trial()"
#define MIN_DURATION_US	USECS_PER_SEC
#define MIN_SLOT_US		(300 * INT64CONST(1000))
#define MAX_SLOT_US		(60 * USECS_PER_SEC)

/* How long pgbench may run beyond the trial, which ends it: no longer than after an accident. */
#define LOAD_GRACE_S	(10 + SP_WORKLOAD_GRACE_MS / 1000)

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

/* ------------------------------------------------------------------- checks */

static void
check_server(void)
{
	if (RecoveryInProgress())
		ereport(ERROR,
				(errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
				 errmsg("cannot run a trial on a standby"),
				 errdetail("Nothing commits there.")));
	if (!enableFsync)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cannot run a trial while fsync is off"),
				 errdetail("No commit waits for the disk.")));
	if (!sp_alter_system_is_allowed())
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cannot run a trial while allow_alter_system is off"),
				 errdetail("A trial changes settings as ALTER SYSTEM does.")));
}

static void
check_right_of(const char *setting, Oid role)
{
	const char *name;

	if (superuser_arg(role) ||
		pg_parameter_aclcheck(setting, role, ACL_ALTER_SYSTEM) == ACLCHECK_OK)
		return;
	name = GetUserNameFromId(role, false);
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("permission denied to set parameter \"%s\"", setting),
			 errdetail("Role \"%s\" may not change it with ALTER SYSTEM.", name),
			 errhint("GRANT ALTER SYSTEM ON PARAMETER %s TO %s;", setting, quote_identifier(name))));
}

/*
 * A function that is SECURITY DEFINER changes the current user only.  It must not lend
 * this right to whoever may call it.
 */
static void
check_privilege(const char *setting)
{
	check_right_of(setting, GetUserId());
	check_right_of(setting, GetSessionUserId());
}

/* ---------------------------------------------------------------- arguments */

/* The settings that can be tried, and the figure that decides. */
static const struct
{
	const char *name;
	const char *unit;			/* where SHOW prints none */
	sp_setting_figure deciding;
}			trial_settings[] = {
	{"wal_sync_method", "", SP_COMMIT_WAIT},
	{"commit_delay", " us", SP_COMMIT_WAIT},
	{"commit_siblings", "", SP_COMMIT_WAIT},
	{"wal_compression", "", SP_COMMIT_RATE},
	{"wal_writer_delay", "", SP_COMMIT_RATE},
	{"wal_writer_flush_after", "", SP_COMMIT_RATE},
};

/* -1 if it cannot be tried. */
static int
lookup_setting(const char *name)
{
	for (size_t i = 0; i < lengthof(trial_settings); i++)
	{
		if (pg_strcasecmp(trial_settings[i].name, name) == 0)
			return i;
	}
	return -1;
}

bool
sp_trial_can_try(const char *setting)
{
	return lookup_setting(setting) >= 0;
}

/* Its index among those that can be tried. */
static int
setting_argument(const char *name)
{
	int			i = lookup_setting(name);
	StringInfoData valid;

	if (i >= 0)
		return i;
	/* the server has its own words for a setting that does not exist */
	(void) GetConfigOption(name, false, false);
	initStringInfo(&valid);
	for (size_t k = 0; k < lengthof(trial_settings); k++)
		appendStringInfo(&valid, "%s%s", k > 0 ? ", " : "", trial_settings[k].name);
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("setting \"%s\" cannot be tried", name),
			 errhint("Settings that can be tried are %s.", valid.data)));
	return -1;					/* keep compiler quiet */
}

static void
check_slot(const sp_trial *trial, double shortest)
{
	int			slots = trial->run.settings[0].count + 1;

	if (trial->slot_s < shortest)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("slot of %g s is too short for the sessions of this server", trial->slot_s),
				 errdetail("Each reload costs every session some time."),
				 errhint("Use at least %.2f s, or omit it.", shortest + 0.005)));
	if (trial->run.duration_us < slots * trial->slot_s * USECS_PER_SEC)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("duration of %g s is too short for one round",
						(double) trial->run.duration_us / USECS_PER_SEC),
				 errdetail("A round has %d slots of %.2f s.", slots, trial->slot_s)));
}

/* In the current memory context, which survives a commit. */
static void
take_trial_arguments(FunctionCallInfo fcinfo, sp_trial *trial)
{
	sp_refuse_null(fcinfo, ARG_DURATION, trial_arg_names);
	trial->run.suite = SP_TRIAL_SUITE;
	trial->run.duration_us = sp_interval_argument(fcinfo, ARG_DURATION, trial_arg_names,
												  MIN_DURATION_US,
												  sp_max_duration_ms * INT64CONST(1000),
												  "The upper limit is pg_sync_probe.max_duration.");
	if (!PG_ARGISNULL(ARG_SLOT))
		trial->slot_s = (double) sp_interval_argument(fcinfo, ARG_SLOT, trial_arg_names, MIN_SLOT_US,
													  MAX_SLOT_US, "Omit it to use the shortest one.") /
			USECS_PER_SEC;
	if (!PG_ARGISNULL(ARG_WORKLOAD))
		trial->run.workload = pstrdup(NameStr(*PG_GETARG_NAME(ARG_WORKLOAD)));
	trial->run.label = sp_label_argument(fcinfo, ARG_LABEL);
}

/* -------------------------------------------------------------------- trial */

/* It may have been changed since the arguments were read: a set-up lasts for minutes. */
static void
check_current(const sp_trial *trial)
{
	const char *current = trial->run.settings[0].values[0].text;
	sp_new_process shown;

	sp_new_process_show(sp_trial_setting(trial), &shown);
	sp_refuse_pending_edits(trial->files, shown.load_time);
	if (strcmp(shown.value, current) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("\"%s\" was changed before the trial began", sp_trial_setting(trial)),
				 errdetail("Its value was \"%s\", and is \"%s\" now.", current, shown.value),
				 errhint("Call the trial again.")));
}

/*
 * After an error nothing is done here: the lock ends with the transaction, and the watchdog
 * restores.
 */
static void
try_values(sp_trial *trial, sp_progress *progress)
{
	BackgroundWorkerHandle *watchdog;
	sp_new_process method;

	/* first of all: what is changed from now on is noticed */
	sp_trial_read_old(trial);
	check_current(trial);
	sp_new_process_show("wal_sync_method", &method);
	trial->run.wal_sync_method = pstrdup(method.value);
	sp_progress_set_phase("measuring");
	trial->run.started_at = GetCurrentTimestamp();
	watchdog = sp_watchdog_start();
	sp_trial_run(trial, progress);
	sp_trial_unlock();
	trial->locked = false;
	sp_watchdog_stop(watchdog);
	trial->run.finished_at = GetCurrentTimestamp();
}

/*
 * Also called while the backend exits: must not throw an error.  It waits for processes.
 * Release the locks first, so that neither the watchdog nor ALTER SYSTEM has to wait.
 */
static void
clean_up_load(int code pg_attribute_unused(), Datum arg)
{
	sp_trial   *trial = (sp_trial *) DatumGetPointer(arg);

	LWLockReleaseAll();
	if (trial->locked)
		sp_trial_unlock();
	sp_load_give_up(trial->load);
}

static void
try_values_with_load(sp_trial *trial, sp_progress *progress)
{
	namestrcpy(&progress->workload, trial->run.workload);
	PG_ENSURE_ERROR_CLEANUP(clean_up_load, PointerGetDatum(trial));
	{
		sp_progress_set_phase("setting up");
		sp_load_set_up(trial->load);
		sp_load_start(trial->load);
		try_values(trial, progress);
		sp_progress_set_phase("tearing down");
		sp_load_finish(trial->load);
	}
	PG_END_ENSURE_ERROR_CLEANUP(clean_up_load, PointerGetDatum(trial));
}

/* ---------------------------------------------------------------- procedure */

static HeapTuple
procedure_row(const sp_compared *compared, int64 run_id, TupleDesc type)
{
	const sp_judgement *judgement = &compared->setting.judgement;
	Datum		values[] = {
		Int64GetDatum(run_id),
		CStringGetTextDatum(sp_verdict_name(judgement->verdict)),
		CStringGetTextDatum(compared->values[judgement->recommended].text),
		CStringGetTextDatum(compared->reason),
	};
	bool		nulls[lengthof(values)] = {false};

	Assert(type->natts == lengthof(values));
	return heap_form_tuple(type, values, nulls);
}

/* What an earlier trial has left is not the value to come back to. */
static void
restore_leftover(const sp_trial *trial, const char *setting, sp_new_process *shown)
{
	(void) sp_cluster_lock_acquire("pg_wal", SP_TRIAL_SUITE, 0);
	/* its watchdog may be about to restore */
	(void) sp_trial_lock(true);
	sp_new_process_show(setting, shown);
	/* before the first reload */
	sp_refuse_pending_edits(trial->files, shown->load_time);
	if (sp_trial_restore())
	{
		ereport(NOTICE, (errmsg("restored the setting of an earlier trial")));
		sp_new_process_show(setting, shown);
	}
	sp_trial_unlock();
	sp_cluster_lock_release();
}

/* All that may refuse the trial before its first switch, and that reads tables. */
static void
prepare_trial(FunctionCallInfo fcinfo, sp_trial *trial)
{
	sp_new_process shown;
	int			i;

	sp_refuse_null(fcinfo, ARG_SETTING, trial_arg_names);
	i = setting_argument(NameStr(*PG_GETARG_NAME(ARG_SETTING)));
	check_privilege(trial_settings[i].name);
	take_trial_arguments(fcinfo, trial);
	trial->files = sp_configuration_files();
	restore_leftover(trial, trial_settings[i].name, &shown);
	trial->run.nsettings = 1;
	sp_compared_take(&trial->run.settings[0], trial_settings[i].name, trial_settings[i].unit,
					 trial_settings[i].deciding, shown.value,
					 PG_ARGISNULL(ARG_VALUES) ? NULL : PG_GETARG_ARRAYTYPE_P(ARG_VALUES));
	if (trial->run.workload)
		trial->load = sp_load_make(trial->run.workload,
								   (int) (trial->run.duration_us / USECS_PER_SEC) + LOAD_GRACE_S);
	check_slot(trial, sp_trial_choose_slot(trial));
}

static void
run_trial(sp_trial *trial)
{
	sp_progress *progress = sp_cluster_lock_acquire("pg_wal", SP_TRIAL_SUITE,
													 trial->run.duration_us);

	trial->locked = sp_trial_lock(true);
	if (trial->load)
		try_values_with_load(trial, progress);
	else
		try_values(trial, progress);
	sp_progress_set_phase("recording");
}

static void
check_all(FunctionCallInfo fcinfo)
{
	sp_refuse_transaction_block(fcinfo, CALL_NAME,
								"It commits, so that it holds no snapshot while it runs.",
								"Call it as a statement of its own.");
	sp_check_circumstances("run a trial");
	check_server();
	PreventCommandIfReadOnly(CALL_NAME);
}

/*
 * sync_probe.trial(setting, values, duration, slot, workload, label, INOUT run_id,
 * INOUT verdict, INOUT recommended_value, INOUT reason)
 */
PG_FUNCTION_INFO_V1(sync_probe_trial);
Datum
sync_probe_trial(PG_FUNCTION_ARGS)
{
	sp_trial   *trial;
	TupleDesc	type;
	HeapTupleHeader output;
	int64		run_id;
	int			nest_level;

	check_all(fcinfo);
	if (SPI_connect_ext(SPI_OPT_NONATOMIC) != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	if (get_call_result_type(fcinfo, NULL, &type) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "sync_probe.trial() returns no row");
	type = BlessTupleDesc(CreateTupleDescCopy(type));
	trial = palloc0(sizeof(sp_trial));
	/* a procedure with SET search_path cannot commit */
	nest_level = sp_pin_search_path();
	prepare_trial(fcinfo, trial);
	AtEOXact_GUC(true, nest_level);
	sp_commit();

	nest_level = sp_pin_search_path();
	run_trial(trial);
	sp_trial_judge(trial);
	run_id = sp_setting_record(&trial->run, true, NULL);
	sp_trial_tell(trial);
	sp_cluster_lock_release();
	output = SPI_returntuple(procedure_row(&trial->run.settings[0], run_id, type), type);
	AtEOXact_GUC(true, nest_level);
	SPI_finish();
	PG_RETURN_HEAPTUPLEHEADER(output);
}
