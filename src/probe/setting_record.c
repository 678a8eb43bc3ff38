/*-------------------------------------------------------------------------
 *
 * setting_record.c
 *		The rows of a run that compares values of settings.
 *
 * One row of measurements for each value of each setting: a value is compared with the current
 * one of its setting.
 *
 *-------------------------------------------------------------------------
 */
#include "probe/probe.h"
#include "probe/setting_run.h"

#include "catalog/pg_type.h"
#include "utils/tuplestore.h"

/* ------------------------------------------------------------------- a value */

/* Commits per second in the rounds; NAN without one. */
static double
median_rate(const sp_setting_comparison *setting, int v)
{
	double	   *rates = palloc((setting->rounds + 1) * sizeof(double));

	for (int i = 0; i < setting->rounds; i++)
		rates[i] = 1e6 / setting->values[v].us_per_commit[i];
	return sp_median_interval(rates, setting->rounds, SP_ALPHA).estimate;
}

/* Workers time each commit of theirs; of the server's commits the mean is known. */
static bool
put_times(sp_row *row, const sp_compared *compared, int v)
{
	const sp_commit_sums *sums = &compared->sums[v];
	sp_commit_figures figures;

	if (compared->histograms[v].ops > 0)
	{
		sp_put_latencies(row, &compared->histograms[v]);
		return true;
	}
	sp_commit_figures_of(sums, &figures);
	sp_row_put_int(row, "ops", INT8OID, (int64) sums->commits);
	sp_row_put_number(row, "mean_us", figures.wait_us, 1);
	return sums->commits > 0;
}

/* run_id: 0 if the run is not recorded */
static HeapTuple
value_row(const sp_setting_run *run, int64 run_id, int ordinal, const sp_compared *compared, int v,
		  TupleDesc type)
{
	const sp_setting_comparison *setting = &compared->setting;
	const sp_setting_value *value = &setting->values[v];
	sp_row	   *row = sp_row_make(type);
	bool		seen = put_times(row, compared, v);

	if (run_id != 0)
		sp_row_put_int(row, "run_id", INT8OID, run_id);
	sp_row_put_int(row, "ordinal", INT4OID, ordinal);
	sp_row_put_text(row, "test", setting->setting);
	sp_row_put_text(row, "method", value->value);
	sp_row_put_text(row, "choice", v == 0 ? "current" :
					v == setting->judgement.recommended ? "recommended" : NULL);
	if (v == 0)
		sp_row_put_text(row, "verdict", sp_verdict_name(setting->judgement.verdict));
	if (run->record_size > 0)
		sp_row_put_int(row, "write_size", INT4OID, run->record_size);
	sp_row_put_text(row, "status", sp_status_name(seen && !value->left_out ? SP_OK : SP_STOPPED));
	sp_row_put_text(row, "detail", value->left_out);
	if (!value->left_out)
	{
		sp_row_put_number(row, "ops_per_sec", median_rate(setting, v), 1);
		sp_put_speeds(row, setting, v);
	}
	return sp_row_form(row);
}

static HeapTuple
value_sample_row(int64 run_id, int ordinal, const sp_compared *compared, int v, TupleDesc type)
{
	const sp_setting_comparison *setting = &compared->setting;
	sp_row	   *row = sp_row_make(type);

	sp_row_put_int(row, "run_id", INT8OID, run_id);
	sp_row_put_int(row, "ordinal", INT4OID, ordinal);
	sp_row_put_doubles(row, "round_mean_us", setting->values[v].wait_us, setting->rounds);
	if (v == 0)
		sp_row_put_doubles(row, "control_round_mean_us", setting->values[setting->count].wait_us,
						   setting->rounds);
	sp_put_buckets(row, &compared->histograms[v]);
	return sp_row_form(row);
}

/* -------------------------------------------------------------------- the run */

/* The verdict is that of the first setting. */
static void
put_setting_verdict(sp_row *row, const sp_setting_run *run)
{
	const sp_compared *first = &run->settings[0];
	const char *reason = first->reason;

	for (int i = 1; i < run->nsettings; i++)
		reason = psprintf("%s. %s: %s", reason, run->settings[i].setting.setting,
						  run->settings[i].reason);
	sp_put_judgement(row, first->setting.setting, &first->setting.comparison,
					 &first->setting.judgement, reason, run->duration_us);
	/* one that was too short is undecided, and its advice is a longer one */
	sp_row_put(row, "usable_for_advice", BOOLOID, BoolGetDatum(!run->given_load));
}

static HeapTuple
setting_run_row(const sp_setting_run *run, int64 run_id, TupleDesc type)
{
	sp_row	   *row = sp_row_make(type);
	sp_location location;
	sp_storage	storage = {0};
	sp_device_facts facts = {0};

	sp_location_find("pg_wal", &location);
	sp_storage_examine(&location, &storage, &facts);
	sp_row_put_int(row, "run_id", INT8OID, run_id);
	sp_row_put_text(row, "label", run->label);
	sp_row_put_name(row, "location", NameStr(location.name));
	sp_row_put_text(row, "suite", run->suite);
	if (run->workload)
		sp_row_put_name(row, "workload", run->workload);
	if (run->record_size > 0)
	{
		sp_row_put_int(row, "flush_size", INT4OID, run->record_size);
		sp_row_put_int(row, "workers", INT4OID, run->workers);
	}
	if (run->interval_us > 0)
		sp_row_put_interval(row, "flush_interval", run->interval_us);
	sp_put_where(row, &storage);
	put_setting_verdict(row, run);
	sp_row_put(row, "started_at", TIMESTAMPTZOID, TimestampTzGetDatum(run->started_at));
	sp_row_put(row, "finished_at", TIMESTAMPTZOID, TimestampTzGetDatum(run->finished_at));
	sp_row_put_text(row, "wal_sync_method", run->wal_sync_method);
	sp_row_put_text(row, "wal_level", GetConfigOption("wal_level", false, false));
	return sp_row_form(row);
}

typedef struct setting_record_args
{
	const sp_setting_run *run;
	int64		run_id;
	HeapTuple	row;
	TupleDesc	type;
} setting_record_args;

static void
insert_run(void *arg)
{
	const setting_record_args *args = arg;
	const sp_setting_run *run = args->run;
	HeapTuple	row = args->row;
	TupleDesc	measurement_type = sp_history_row_type("measurements");
	TupleDesc	sample_type = sp_history_row_type("samples");
	int			ordinal = 0;

	sp_history_insert("runs", args->type, &row, 1);
	for (int i = 0; i < run->nsettings; i++)
	{
		const sp_compared *compared = &run->settings[i];

		for (int v = 0; v < compared->setting.count; v++)
		{
			row = value_row(run, args->run_id, ++ordinal, compared, v, measurement_type);
			sp_history_insert("measurements", measurement_type, &row, 1);
			row = value_sample_row(args->run_id, ordinal, compared, v, sample_type);
			sp_history_insert("samples", sample_type, &row, compared->histograms[v].ops > 0);
		}
	}
}

/*
 * Return the measurements of a run that is judged, unless result is NULL, and record it if that
 * is asked for.  Returns the run_id, or 0.
 */
int64
sp_setting_record(const sp_setting_run *run, bool record, ReturnSetInfo *result)
{
	setting_record_args args = {.run = run};
	int			ordinal = 0;

	if (record)
		args.run_id = sp_history_next_id("runs_run_id_seq");
	for (int i = 0; result && i < run->nsettings; i++)
	{
		for (int v = 0; v < run->settings[i].setting.count; v++)
			tuplestore_puttuple(result->setResult,
								value_row(run, args.run_id, ++ordinal, &run->settings[i], v,
										  result->setDesc));
	}
	if (record)
	{
		args.type = sp_history_row_type("runs");
		args.row = setting_run_row(run, args.run_id, args.type);
		sp_as_history_owner(insert_run, &args);
	}
	return args.run_id;
}
