/*-------------------------------------------------------------------------
 *
 * function.c
 *		CALL sync_probe.trial().
 *
 * The procedure commits once, before its first switch.  From then on it reads no table until
 * it records: its transaction has no snapshot, and VACUUM removes what has died meanwhile.
 *
 * Autovacuum starts no worker while the server reloads more often than autovacuum_naptime divided
 * by the number of databases: with each reload its launcher plans anew.
 *
 * However a trial ends, the setting is restored: see auto_conf.c.  Then the workload that
 * made its load is ended, and its objects are dropped: see workload/load.c.
 *
 *-------------------------------------------------------------------------
 */
#include "trial/trial.h"

#include "access/xlog.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "utils/acl.h"
#include "utils/builtins.h"

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

/* The settings that can be tried, and the figure that decides. */
typedef struct trial_setting
{
	const char *name;
	const char *unit;			/* where SHOW prints none */
	sp_setting_figure deciding;
} trial_setting;

static const trial_setting trial_settings[] = {
	{"wal_sync_method", "", SP_COMMIT_WAIT},
	{"commit_delay", " us", SP_COMMIT_WAIT},
	{"commit_siblings", "", SP_COMMIT_WAIT},
	{"wal_compression", "", SP_COMMIT_RATE},
	{"wal_writer_delay", "", SP_COMMIT_RATE},
	{"wal_writer_flush_after", "", SP_COMMIT_RATE},
};

static const sp_probe_suite trial_suite = {.name = SP_TRIAL_SUITE};

/* ------------------------------------------------------------------- checks */

static void
refuse_if(bool wrong, int sqlstate, const char *where, const char *why)
{
	if (wrong)
		ereport(ERROR,
				(errcode(sqlstate),
				 errmsg("cannot run a trial %s", where),
				 errdetail_internal("%s", why)));
}

static void
check_call(FunctionCallInfo fcinfo)
{
	const char *allowed = GetConfigOption("allow_alter_system", true, false);	/* since 17 */

	sp_refuse_transaction_block(fcinfo, CALL_NAME, "Call it as a statement of its own.");
	sp_check_circumstances("run a trial");
	refuse_if(RecoveryInProgress(), ERRCODE_READ_ONLY_SQL_TRANSACTION,
			  "on a standby", "Nothing commits there.");
	refuse_if(!enableFsync, ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
			  "while fsync is off", "No commit waits for the disk.");
	refuse_if(allowed && strcmp(allowed, "off") == 0, ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
			  "while allow_alter_system is off", "A trial changes settings as ALTER SYSTEM does.");
	PreventCommandIfReadOnly(CALL_NAME);
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

/* ---------------------------------------------------------------- arguments */

/* NULL if it cannot be tried; then valid, if it is not NULL, has those that can. */
static const trial_setting *
find_setting(const char *name, StringInfo valid)
{
	for (size_t i = 0; i < lengthof(trial_settings); i++)
	{
		if (pg_strcasecmp(trial_settings[i].name, name) == 0)
			return &trial_settings[i];
		if (valid)
			appendStringInfo(valid, "%s%s", i > 0 ? ", " : "", trial_settings[i].name);
	}
	return NULL;
}

bool
sp_trial_can_try(const char *setting)
{
	return find_setting(setting, NULL) != NULL;
}

/*
 * A function that is SECURITY DEFINER changes the current user only.  It must not lend
 * its right to whoever may call it.
 */
static const trial_setting *
setting_argument(FunctionCallInfo fcinfo)
{
	const char *name;
	const trial_setting *setting;
	StringInfoData valid;

	sp_refuse_nulls(fcinfo, 1 << ARG_SETTING | 1 << ARG_DURATION);
	name = NameStr(*PG_GETARG_NAME(ARG_SETTING));
	initStringInfo(&valid);
	setting = find_setting(name, &valid);
	/* the server has its own words for a setting that does not exist */
	(void) GetConfigOption(name, false, false);
	if (setting == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("setting \"%s\" cannot be tried", name),
				 errhint("Settings that can be tried are %s.", valid.data)));
	check_right_of(setting->name, GetUserId());
	check_right_of(setting->name, GetSessionUserId());
	return setting;
}

/* The load's sessions would keep a value of their role or database, whatever is tried. */
static void
refuse_own_value(const char *setting)
{
	static const char reset[] =
		"SELECT concat('ALTER ', CASE WHEN setrole <> 0 THEN format('ROLE %I', current_user)"
		" WHEN setdatabase = 0 THEN 'ROLE ALL' END,"
		" CASE WHEN setrole <> 0 AND setdatabase <> 0 THEN ' IN ' END,"
		" CASE WHEN setdatabase <> 0 THEN format('DATABASE %I', current_database()) END,"
		" ' RESET ', $1)"
		" FROM pg_db_role_setting, unnest(setconfig) AS s"
		" WHERE setrole IN (0, (SELECT oid FROM pg_roles WHERE rolname = current_user))"
		" AND setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))"
		" AND starts_with(s, $1 || '=')";
	List	   *found = sp_spi_column(reset, 1, (Oid[]) {TEXTOID},
									  (Datum[]) {CStringGetTextDatum(setting)}, SP_AS_CALLER);

	if (found != NIL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("\"%s\" is set for the role or the database of the workload", setting),
				 errdetail("Its sessions keep that value, whatever the trial sets."),
				 errhint("%s;", (char *) linitial(found))));
}

/* The value in new processes.  A reload must not activate what others have not reloaded yet. */
static char *
value_now(const sp_trial *trial, const char *setting)
{
	sp_new_process shown = sp_new_process_show(setting);

	sp_refuse_pending_edits(trial->files, shown.load_time);
	return pstrdup(shown.value);
}

/* What an earlier trial has left is not the value to come back to. */
static const char *
restore_leftover(const sp_trial *trial, const char *setting)
{
	const char *value;

	(void) sp_cluster_lock_acquire("a trial", "pg_wal", SP_TRIAL_SUITE, 0);
	/* its watchdog may be about to restore */
	(void) sp_trial_lock(true);
	value = value_now(trial, setting);
	if (sp_trial_restore())
	{
		ereport(NOTICE, (errmsg("cleaned up after an earlier trial")));
		value = value_now(trial, setting);
	}
	sp_trial_unlock();
	sp_cluster_lock_release();
	return value;
}

/*
 * All that may refuse the trial before its first switch, and that reads tables.  In the current
 * memory context, which survives a commit.
 */
static void
prepare_trial(FunctionCallInfo fcinfo, void *state)
{
	sp_trial   *trial = state;
	const trial_setting *setting = setting_argument(fcinfo);

	trial->run.suite = &trial_suite;
	trial->run.compared = &trial->compared;
	trial->compared.duration_us = sp_duration_argument(fcinfo, ARG_DURATION, MIN_DURATION_US);
	if (!PG_ARGISNULL(ARG_SLOT))
		trial->slot_s = sp_interval_argument(fcinfo, ARG_SLOT, MIN_SLOT_US, MAX_SLOT_US,
											 "Omit it to use the shortest one.") / 1e6;
	trial->run.label = sp_label_argument(fcinfo, ARG_LABEL);
	trial->files = sp_configuration_files();
	sp_compared_choose(&trial->compared, setting->name, setting->unit, setting->deciding,
					   restore_leftover(trial, setting->name),
					   PG_ARGISNULL(ARG_VALUES) ? NULL : PG_GETARG_ARRAYTYPE_P(ARG_VALUES));
	if (!PG_ARGISNULL(ARG_WORKLOAD))
	{
		refuse_own_value(setting->name);
		sp_check_wal_consumers("run a trial with a workload");
		trial->run.workload = pstrdup(NameStr(*PG_GETARG_NAME(ARG_WORKLOAD)));
		trial->load = sp_load_make(trial->run.workload,
								   (int) (trial->compared.duration_us / USECS_PER_SEC) +
								   LOAD_GRACE_S);
	}
	sp_trial_choose_slot(trial);
}

/* -------------------------------------------------------------------- trial */

/* After an error the watchdog restores. */
static void
try_values(sp_trial *trial)
{
	const char *setting = trial->compared.setting.setting;
	const char *before = trial->compared.setting.values[0].value;
	const char *now;
	BackgroundWorkerHandle *watchdog;

	/* first of all: what is changed from now on is noticed */
	trial->in_file = sp_auto_conf_read(setting);
	trial->old = trial->in_file.value;
	/* it may have been changed since the arguments were read: a set-up lasts for minutes */
	now = value_now(trial, setting);
	if (strcmp(now, before) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("\"%s\" was changed before the trial began", setting),
				 errdetail("Its value was \"%s\", and is \"%s\" now.", before, now),
				 errhint("Call the trial again.")));
	trial->run.profile.wal_sync_method = value_now(trial, "wal_sync_method");
	sp_progress_set_phase("measuring");
	trial->run.started_at = GetCurrentTimestamp();
	trial->compared.started_ns = sp_monotonic_ns();
	watchdog = sp_watchdog_start();
	sp_trial_run(trial);
	sp_trial_unlock();
	trial->locked = false;
	TerminateBackgroundWorker(watchdog);
	(void) WaitForBackgroundWorkerShutdown(watchdog);
	trial->run.finished_at = GetCurrentTimestamp();
}

/*
 * Also called while the backend exits: must not throw an error.  It waits for processes.
 * Release the locks first, so that neither the watchdog nor ALTER SYSTEM has to wait.
 */
static void
clean_up_trial(int code pg_attribute_unused(), Datum arg)
{
	sp_trial   *trial = (sp_trial *) DatumGetPointer(arg);

	LWLockReleaseAll();
	if (trial->locked)
		sp_trial_unlock();
	if (trial->load)
		sp_workload_give_up(0, PointerGetDatum(trial->load));
}

static void
try_values_on_load(sp_trial *trial)
{
	PG_ENSURE_ERROR_CLEANUP(clean_up_trial, PointerGetDatum(trial));
	{
		if (trial->load)
		{
			sp_progress_set_phase("setting up");
			sp_workload_make(trial->load);
			sp_load_start(trial->load);
		}
		try_values(trial);
		if (trial->load)
		{
			sp_progress_set_phase("tearing down");
			sp_workload_unmake(trial->load);
		}
	}
	PG_END_ENSURE_ERROR_CLEANUP(clean_up_trial, PointerGetDatum(trial));
}

/* ------------------------------------------------------------------ verdict */

static void
judge_trial(sp_trial *trial)
{
	sp_compared *compared = &trial->compared;
	int			old = trial->old_statements;

	compared->setting.seen = &trial->seen;
	sp_compared_judge(compared);
	if (old > 0)
		strlcat(compared->reason,
				psprintf("; %s%d session%s still used the previous value, in a statement that began before the slot",
						 old == 1 ? "" : "up to ", old, old == 1 ? "" : "s"),
				sizeof(compared->reason));
}

static void
report_values(const sp_trial *trial)
{
	const sp_setting_comparison *setting = &trial->compared.setting;

	for (int i = 0; i < setting->count; i++)
	{
		sp_commit_figures figures = sp_commit_figures_of(&trial->compared.sums[i]);

		ereport(NOTICE,
				(errmsg_internal("%s = %s%s: %s", setting->setting, setting->values[i].value,
								 setting->unit, setting->values[i].left_out ? "left out" :
								 trial->compared.sums[i].seconds == 0 ? "not measured" :
								 trial->compared.sums[i].commits == 0 ? "no commits" :
								 psprintf("%.1f commits per second, a commit waits %.0f us",
										  figures.commits_per_sec, figures.wait_us))));
	}
	if (trial->load == NULL && trial->seen.commits == 0 && sp_setting_others(setting) > 0)
		ereport(NOTICE,
				(errmsg("no transaction that writes has committed during the trial"),
				 errhint("Call it while the server is busy, or let a workload make load:"
						 " workload => 'upsert'.")));
}

/* ---------------------------------------------------------------- procedure */

static HeapTuple
run_trial(void *state, TupleDesc type)
{
	sp_trial   *trial = state;
	const sp_compared *compared = &trial->compared;
	const sp_judgement *judgement = &compared->setting.judgement;
	sp_progress *progress = sp_cluster_lock_acquire("a trial", "pg_wal", SP_TRIAL_SUITE,
													 trial->compared.duration_us);
	sp_row	   *row = sp_row_make(type);

	if (trial->load)
		namestrcpy(&progress->workload, trial->run.workload);
	trial->locked = sp_trial_lock(true);
	try_values_on_load(trial);
	sp_progress_set_phase("recording");
	sp_process_reload();
	judge_trial(trial);
	report_values(trial);
	sp_location_find("pg_wal", &trial->run.location);
	sp_record(&trial->run, true);
	sp_row_put_int(row, "run_id", INT8OID, trial->run.run_id);
	sp_row_put_text(row, "verdict", sp_verdict_names[judgement->verdict]);
	sp_row_put_text(row, "recommended_value", judgement->recommended < 0 ? NULL :
					compared->setting.values[judgement->recommended].value);
	sp_row_put_text(row, "reason", compared->reason);
	sp_cluster_lock_release();
	return sp_row_form(row);
}

/*
 * sync_probe.trial(setting, values, duration, slot, workload, label, INOUT run_id,
 * INOUT verdict, INOUT recommended_value, INOUT reason)
 */
PG_FUNCTION_INFO_V1(sync_probe_trial);
Datum
sync_probe_trial(PG_FUNCTION_ARGS)
{
	check_call(fcinfo);
	return sp_procedure_run(fcinfo, sizeof(sp_trial), prepare_trial, run_trial);
}
