/*-------------------------------------------------------------------------
 *
 * record.c
 *		The verdict of a trial, its rows in the history, and what the caller is told.
 *
 *-------------------------------------------------------------------------
 */
#include "trial/trial.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/guc.h"

#include "compat.h"
#include "engine/text/text.h"
#include "probe/probe.h"

/* ------------------------------------------------------------------ verdict */

static sp_commit_sums
all_sums(const sp_trial *trial)
{
	sp_commit_sums all = {0};

	for (int i = 0; i < trial->count; i++)
		sp_commit_sums_add(&all, &trial->values[i].sums);
	return all;
}

/*
 * Why there is nothing to compare, or NULL.  Where commits wait for no flush of WAL with any
 * of the values, differences in how long they wait are those of the processor.
 */
static const char *
nothing_to_compare(const sp_trial *trial)
{
	sp_commit_sums all = all_sums(trial);

	if (trial->comparison->count == 1)
		return "no other value is left";
	if (trial->comparison->rounds == 0)
		return all.commits == 0 ? "no transaction that writes has committed" :
			"commits were too few, or did not wait: synchronous_commit may be off";
	if (trial->deciding == SP_COMMIT_WAIT && sp_commit_waits_for_no_flush(&all))
		return "commits did not wait for a flush of WAL: synchronous_commit may be off";
	return NULL;
}

static void
judge_trial(sp_trial *trial)
{
	char		reason[SP_REASON_SIZE];
	sp_sentence to = sp_sentence_begin(trial->reason, SP_REASON_SIZE);
	const char *nothing = nothing_to_compare(trial);

	trial->comparison->fsync_off = !enableFsync;
	sp_setting_judge(trial->comparison, SP_ALPHA);
	if (nothing && enableFsync)
		sp_setting_withdraw(trial->comparison);
	else
		sp_setting_explain(trial->comparison, reason);
	sp_say(&to, "%s", nothing && enableFsync ? nothing : reason);
	for (int i = 0; i < trial->count; i++)
	{
		if (trial->values[i].left_out)
			sp_say(&to, "; %s%s was left out: %s", trial->values[i].text, trial->unit,
				   trial->values[i].left_out);
	}
	if (trial->old_statements > 0)
		sp_say(&to, trial->old_statements == 1 ?
			   "; %d session still used the previous value, in a statement that began before the slot" :
			   "; up to %d sessions still used the previous value, in a statement that began before the slot",
			   trial->old_statements);
}

const char *
sp_trial_recommended(const sp_trial *trial)
{
	return trial->comparison->values[trial->comparison->judgement.recommended].value;
}

/* ---------------------------------------------------------------- the rows */

static HeapTuple
trial_row(const sp_trial *trial, int64 run_id)
{
	const sp_setting_comparison *comparison = trial->comparison;
	sp_row	   *row = sp_row_make(sp_history_row_type("runs"));
	sp_location location;
	sp_storage	storage = {0};
	sp_device_facts facts;

	sp_location_find("pg_wal", &location);
	sp_storage_examine(&location, &storage, &facts);
	sp_row_put_int(row, "run_id", INT8OID, run_id);
	sp_row_put_text(row, "label", trial->label);
	sp_row_put_name(row, "location", NameStr(location.name));
	sp_row_put_text(row, "suite", SP_TRIAL_SUITE);
	sp_row_put_text(row, "wal_sync_method", trial->method.value);
	sp_row_put_text(row, "wal_level", GetConfigOption("wal_level", false, false));
	sp_put_judgement(row, trial->setting, &comparison->comparison, &comparison->judgement,
					 trial->reason, trial->duration_us);
	sp_row_put(row, "usable_for_advice", BOOLOID, BoolGetDatum(true));
	if (trial->workload)
		sp_row_put_name(row, "workload", trial->workload);
	sp_row_put(row, "started_at", TIMESTAMPTZOID, TimestampTzGetDatum(trial->started_at));
	sp_row_put(row, "finished_at", TIMESTAMPTZOID, TimestampTzGetDatum(trial->finished_at));
	sp_put_where(row, &storage);
	return sp_row_form(row);
}

/* place: in the comparison; -1 if the value was left out. */
static HeapTuple
tried_value_row(const sp_trial *trial, int value, int place, int64 run_id, TupleDesc type)
{
	const sp_trial_value *tried = &trial->values[value];
	bool		recommended = place >= 0 && place == trial->comparison->judgement.recommended;
	sp_row	   *row = sp_row_make(type);
	sp_commit_figures figures;

	sp_commit_figures_of(&tried->sums, &figures);
	sp_row_put_int(row, "run_id", INT8OID, run_id);
	sp_row_put_int(row, "ordinal", INT4OID, value + 1);
	sp_row_put_text(row, "test", trial->setting);
	sp_row_put_text(row, "method", strcmp(trial->setting, "wal_sync_method") == 0 ? tried->text :
					trial->method.value);
	sp_row_put_text(row, "value", tried->text);
	sp_row_put_text(row, "choice", value == 0 ? "current" : recommended ? "recommended" : NULL);
	if (value == 0)
		sp_row_put_text(row, "verdict",
						sp_verdict_name(trial->comparison->judgement.verdict));
	sp_row_put_text(row, "status", tried->left_out ? "stopped" : "ok");
	sp_row_put_text(row, "detail", tried->left_out);
	sp_row_put_int(row, "ops", INT8OID, (int64) tried->sums.commits);
	sp_row_put_number(row, "ops_per_sec", figures.commits_per_sec, 1);
	sp_row_put_number(row, "mean_us", figures.wait_us, 1);
	if (place >= 0)
		sp_put_speeds(row, trial->comparison, place);
	return sp_row_form(row);
}

typedef struct record_args
{
	const sp_trial *trial;
	int64		run_id;
} record_args;

static void
record_trial(void *arg)
{
	const sp_trial *trial = ((record_args *) arg)->trial;
	int64		run_id = ((record_args *) arg)->run_id;
	TupleDesc	type = sp_history_row_type("measurements");
	HeapTuple	rows[SP_MAX_METHODS];
	HeapTuple	run = trial_row(trial, run_id);
	int			place = 0;

	for (int i = 0; i < trial->count; i++)
		rows[i] = tried_value_row(trial, i, trial->values[i].left_out ? -1 : place++, run_id, type);
	sp_history_insert("runs", sp_history_row_type("runs"), &run, 1);
	sp_history_insert("measurements", type, rows, trial->count);
}

/* Judge the trial, and record it.  Returns its run_id. */
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

/* A NOTICE for each value. */
void
sp_trial_tell(const sp_trial *trial)
{
	for (int i = 0; i < trial->count; i++)
	{
		const sp_trial_value *tried = &trial->values[i];
		sp_commit_figures figures;

		sp_commit_figures_of(&tried->sums, &figures);
		ereport(NOTICE,
				(tried->sums.commits == 0 ?
				 errmsg("%s = %s%s: %s", trial->setting, tried->text, trial->unit,
						tried->left_out ? "left out" : "no commits") :
				 errmsg("%s = %s%s: %.1f commits per second, a commit waits %.0f us",
						trial->setting, tried->text, trial->unit, figures.commits_per_sec,
						figures.wait_us)));
	}
	if (trial->load == NULL && all_sums(trial).commits == 0 && trial->comparison->count > 1)
		ereport(NOTICE,
				(errmsg("no transaction that writes has committed during the trial"),
				 errhint("Call it while the server is busy, or let a workload make load:"
						 " workload => 'upsert'.")));
}
