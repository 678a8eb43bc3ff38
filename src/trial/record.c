/*-------------------------------------------------------------------------
 *
 * record.c
 *		The verdict of a trial, its rows in the history, and what the caller is told.
 *
 *-------------------------------------------------------------------------
 */
#include "trial/trial.h"

#include <math.h>

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/guc.h"

#include "compat.h"
#include "engine/text/text.h"
#include "probe/probe.h"

/* ------------------------------------------------------------------ verdict */

/* The value that the comparison has at this place; -1 if it has not. */
static int
place_of(const sp_trial *trial, int value)
{
	for (int k = 0; k < trial->comparison->count; k++)
	{
		if (trial->tried[k] == value)
			return k;
	}
	return -1;
}

static uint64
all_commits(const sp_trial *trial)
{
	uint64		commits = 0;

	for (int i = 0; i < trial->count; i++)
		commits += trial->values[i].sums.commits;
	return commits;
}

/*
 * Do commits wait for a flush of WAL with none of the values?  Then differences in how long
 * they wait are those of the processor.
 */
static bool
waits_for_no_flush(const sp_trial *trial)
{
	sp_commit_sums all = {0};

	for (int i = 0; i < trial->count; i++)
		sp_commit_sums_add(&all, &trial->values[i].sums);
	return trial->deciding == SP_COMMIT_WAIT && sp_commit_waits_for_no_flush(&all);
}

/* Why there is nothing to compare, or NULL. */
static const char *
nothing_to_compare(const sp_trial *trial)
{
	if (trial->comparison->count > 1 && trial->comparison->rounds > 0)
		return waits_for_no_flush(trial) ?
			"commits did not wait for a flush of WAL: synchronous_commit may be off" : NULL;
	if (trial->values[trial->current].left_out)
		return "the current value cannot be tried beside others";
	if (all_commits(trial) == 0)
		return "no transaction that writes has committed";
	return "commits were too few, or did not wait: synchronous_commit may be off";
}

static void
say_left_out(sp_sentence *to, const sp_trial *trial)
{
	for (int i = 0; i < trial->count; i++)
	{
		if (trial->values[i].left_out)
			sp_say(to, "; %s%s was left out: %s", trial->values[i].text, trial->unit,
				   trial->values[i].left_out);
	}
}

static void
judge_trial(sp_trial *trial)
{
	char		reason[SP_REASON_SIZE];
	sp_sentence to = sp_sentence_begin(trial->reason, SP_REASON_SIZE);
	const char *nothing = nothing_to_compare(trial);

	sp_setting_judge(trial->comparison, 0.05);
	if (trial->comparison->count == 1 && trial->values[trial->current].left_out == NULL)
	{
		/* by exclusion: the others cannot be worth a switch, or cannot be tried */
		sp_say(&to, "no other value than %s%s is left", trial->values[trial->current].text,
			   trial->unit);
		trial->comparison->judgement.verdict = SP_UNDECIDED;
	}
	else if (nothing)
	{
		sp_say(&to, "%s", nothing);
		sp_setting_withdraw(trial->comparison);
	}
	else
	{
		sp_setting_explain(trial->comparison, reason);
		sp_say(&to, "%s", reason);
	}
	say_left_out(&to, trial);
	if (trial->old_statements > 0)
		sp_say(&to, "; up to %d sessions ran a statement that was older than a slot, and kept"
			   " the value before", trial->old_statements);
}

const char *
sp_trial_recommended(const sp_trial *trial)
{
	int			recommended = trial->comparison->judgement.recommended;

	return trial->comparison->values[recommended].value;
}

/* ---------------------------------------------------------------- the rows */

typedef struct record_args
{
	const sp_trial *trial;
	int64		run_id;
} record_args;

static void
put_outcome(sp_row *row, const sp_trial *trial)
{
	const sp_setting_comparison *comparison = trial->comparison;

	sp_row_put_name(row, "setting", trial->setting);
	if (trial->workload)
		sp_row_put_name(row, "workload", trial->workload);
	sp_row_put_text(row, "verdict", sp_verdict_name(comparison->judgement.verdict));
	sp_row_put_text(row, "recommended_value", sp_trial_recommended(trial));
	sp_row_put_text(row, "reason", trial->reason);
	sp_row_put(row, "started_at", TIMESTAMPTZOID, TimestampTzGetDatum(trial->started_at));
	sp_row_put(row, "finished_at", TIMESTAMPTZOID, TimestampTzGetDatum(trial->finished_at));
	sp_row_put_interval(row, "duration", trial->finished_at - trial->started_at);
	sp_row_put_int(row, "rounds", INT4OID, comparison->rounds);
	sp_row_put_number(row, "noise", comparison->judgement.noise, 4);
}

static HeapTuple
trial_row(const sp_trial *trial, int64 run_id)
{
	sp_row	   *row = sp_row_make(sp_history_row_type("runs"));
	const char *method = GetConfigOption("wal_sync_method", false, false);
	sp_location location;
	sp_storage	storage = {0};
	sp_device_facts facts;

	sp_location_find("pg_wal", &location);
	sp_storage_examine(&location, &storage, &facts);
	sp_row_put_int(row, "run_id", INT8OID, run_id);
	sp_row_put_text(row, "source", SP_TRIAL_SUITE);
	sp_row_put_text(row, "label", trial->label);
	sp_row_put_name(row, "location", NameStr(location.name));
	sp_row_put_text(row, "suite", SP_TRIAL_SUITE);
	sp_row_put_interval(row, "requested_duration", trial->duration_us);
	sp_row_put_int(row, "random_seed", INT8OID, trial->random_seed);
	sp_row_put_text(row, "wal_sync_method", method);
	sp_row_put_text(row, "wal_sync_method_at_end", method);
	sp_row_put_text(row, "wal_level", GetConfigOption("wal_level", false, false));
	put_outcome(row, trial);
	sp_put_where(row, &storage);
	return sp_row_form(row);
}

static void
put_speed(sp_row *row, const char *name, sp_speed speed)
{
	sp_row_put_number(row, name, speed.estimate, 3);
	sp_row_put_number(row, psprintf("%s_low", name), speed.low, 3);
	sp_row_put_number(row, psprintf("%s_high", name), speed.high, 3);
}

static const char *
choice_of_value(const sp_trial *trial, int value)
{
	if (value == trial->current)
		return "current";
	return place_of(trial, value) == trial->comparison->judgement.recommended ?
		"recommended" : NULL;
}

static HeapTuple
tried_value_row(const sp_trial *trial, int value, int64 run_id, TupleDesc type)
{
	sp_row	   *row = sp_row_make(type);
	const sp_trial_value *tried = &trial->values[value];
	int			place = place_of(trial, value);
	bool		is_method = strcmp(trial->setting, "wal_sync_method") == 0;
	sp_commit_figures figures;

	sp_commit_figures_of(&tried->sums, &figures);
	sp_row_put_text(row, "test", trial->setting);
	sp_row_put_text(row, "method", is_method ? tried->text :
					GetConfigOption("wal_sync_method", false, false));
	sp_row_put_text(row, "value", tried->text);
	sp_row_put_text(row, "choice", choice_of_value(trial, value));
	sp_row_put_text(row, "status", tried->left_out ? "stopped" : "ok");
	sp_row_put_text(row, "detail", tried->left_out);
	sp_row_put_int(row, "ops", INT8OID, (int64) tried->sums.commits);
	sp_row_put_number(row, "ops_per_sec", figures.commits_per_sec, 1);
	sp_row_put_number(row, "mean_us", figures.wait_us, 1);
	if (place >= 0)
	{
		const sp_speed *speed = trial->comparison->values[place].speed;

		put_speed(row, "relative_speed", speed[SP_COMMIT_WAIT]);
		put_speed(row, "relative_rate", speed[SP_COMMIT_RATE]);
		sp_row_put_int(row, "rounds", INT4OID, trial->comparison->rounds);
	}
	sp_row_put_int(row, "run_id", INT8OID, run_id);
	sp_row_put_int(row, "ordinal", INT4OID, value + 1);
	return sp_row_form(row);
}

static void
record_trial(void *arg)
{
	record_args *args = arg;
	TupleDesc	run_type = sp_history_row_type("runs");
	TupleDesc	type = sp_history_row_type("measurements");
	HeapTuple	rows[SP_MAX_METHODS];
	HeapTuple	run = trial_row(args->trial, args->run_id);

	for (int i = 0; i < args->trial->count; i++)
		rows[i] = tried_value_row(args->trial, i, args->run_id, type);
	sp_history_insert("runs", run_type, &run, 1);
	sp_history_insert("measurements", type, rows, args->trial->count);
}

int64
sp_trial_record(sp_trial *trial)
{
	record_args args = {.trial = trial};

	judge_trial(trial);
	args.run_id = sp_history_next_id("runs_run_id_seq");
	sp_as_history_owner(record_trial, &args);
	return args.run_id;
}

/* ------------------------------------------------------------------- words */

static void
tell_value(const sp_trial *trial, int value)
{
	const sp_trial_value *tried = &trial->values[value];
	sp_commit_figures figures;

	sp_commit_figures_of(&tried->sums, &figures);
	if (tried->sums.commits == 0 && tried->left_out)
		ereport(NOTICE,
				(errmsg("%s = %s%s: left out", trial->setting, tried->text, trial->unit)));
	else if (tried->sums.commits == 0)
		ereport(NOTICE,
				(errmsg("%s = %s%s: no commits", trial->setting, tried->text, trial->unit)));
	else
		ereport(NOTICE,
				(errmsg("%s = %s%s: %.1f commits per second, a commit waits %.0f us",
						trial->setting, tried->text, trial->unit, figures.commits_per_sec,
						figures.wait_us)));
}

/* What to type next. */
static void
tell_command(const sp_trial *trial)
{
	const char *recommended = sp_trial_recommended(trial);

	if (trial->comparison->judgement.verdict != SP_SWITCH)
		return;
	if (strcmp(trial->setting, "wal_sync_method") == 0)
		ereport(NOTICE,
				(errmsg("the trial recommends %s = %s", trial->setting, recommended),
				 errhint("Execute the commands in " SP_SCHEMA ".recommendation_details.")));
	else
		ereport(NOTICE,
				(errmsg("the trial recommends %s = %s", trial->setting, recommended),
				 errhint("ALTER SYSTEM SET %s = '%s'; SELECT pg_reload_conf();", trial->setting,
						 recommended)));
}

void
sp_trial_tell(const sp_trial *trial)
{
	for (int i = 0; i < trial->count; i++)
		tell_value(trial, i);
	tell_command(trial);
	if (trial->load == NULL && all_commits(trial) == 0 && trial->comparison->count > 1 &&
		trial->values[trial->current].left_out == NULL)
		ereport(NOTICE,
				(errmsg("no transaction that writes has committed during the trial"),
				 errhint("Call it while the server is busy, or let a workload make load:"
						 " workload => 'upsert'.")));
}
