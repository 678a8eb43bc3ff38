/*-------------------------------------------------------------------------
 *
 * setting_record.c
 *		The verdict of a run that compares values of a setting, and its rows.
 *
 * The commit suite and trials are such runs.  One row for each value of each setting: a value
 * is compared with the current one of its setting.
 *
 *-------------------------------------------------------------------------
 */
#include "probe/probe.h"

#include <math.h>

#include "access/htup_details.h"
#include "access/xlog.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/guc.h"
#include "utils/tuplestore.h"

#define MAX_ROWS	(SP_MAX_SETTINGS * SP_MAX_METHODS)

/* The rows of a run, while they are built. */
typedef struct setting_rows
{
	const sp_setting_run *run;
	int64		run_id;			/* 0 if the run is not recorded */
	TupleDesc	run_type;
	TupleDesc	measurement_type;
	TupleDesc	sample_type;
	HeapTuple	run_row;
	HeapTuple	measurements[MAX_ROWS];
	HeapTuple	samples[MAX_ROWS];
	int			count;
	int			samples_count;
} setting_rows;

/* error: see sp_setting_judge() */
void
sp_compared_judge(sp_compared *compared, double error)
{
	compared->setting.fsync_off = !enableFsync;
	compared->setting.margin = sp_margin;
	sp_setting_judge(&compared->setting, error);
}

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
put_times(sp_row *row, const sp_compared_value *value)
{
	sp_commit_figures figures;

	if (value->histogram.ops > 0)
		sp_put_latencies(row, &value->histogram);
	else
	{
		sp_commit_figures_of(&value->sums, &figures);
		sp_row_put_int(row, "ops", INT8OID, (int64) value->sums.commits);
		sp_row_put_number(row, "mean_us", figures.wait_us, 1);
	}
	return value->histogram.ops > 0 || value->sums.commits > 0;
}

static HeapTuple
value_row(const setting_rows *rows, const sp_compared *compared, int v)
{
	const sp_setting_run *run = rows->run;
	const sp_setting_comparison *setting = &compared->setting;
	const sp_compared_value *value = &compared->values[v];
	sp_row	   *row = sp_row_make(rows->measurement_type);
	bool		seen;

	if (rows->run_id != 0)
		sp_row_put_int(row, "run_id", INT8OID, rows->run_id);
	sp_row_put_int(row, "ordinal", INT4OID, rows->count + 1);
	sp_row_put_text(row, "test", setting->setting);
	sp_row_put_text(row, "method", strcmp(setting->setting, "wal_sync_method") == 0 ?
					value->text : run->wal_sync_method);
	sp_row_put_text(row, "value", value->text);
	sp_row_put_text(row, "choice", v == setting->current ? "current" :
					v == setting->judgement.recommended ? "recommended" : NULL);
	if (v == setting->current)
		sp_row_put_text(row, "verdict", sp_verdict_name(setting->judgement.verdict));
	if (run->record_size > 0)
	{
		sp_row_put_int(row, "write_size", INT4OID, run->record_size);
		sp_row_put_int(row, "writes_per_sync", INT4OID, 1);
	}
	seen = put_times(row, value);
	sp_row_put_text(row, "status", sp_status_name(seen && !value->left_out ? SP_OK : SP_STOPPED));
	sp_row_put_text(row, "detail", value->left_out);
	if (v < setting->count)
	{
		sp_row_put_number(row, "ops_per_sec", median_rate(setting, v), 1);
		sp_put_speeds(row, setting, v);
	}
	return sp_row_form(row);
}

static HeapTuple
value_sample_row(const setting_rows *rows, const sp_compared *compared, int v)
{
	const sp_setting_comparison *setting = &compared->setting;
	sp_row	   *row = sp_row_make(rows->sample_type);

	sp_row_put_int(row, "run_id", INT8OID, rows->run_id);
	sp_row_put_int(row, "ordinal", INT4OID, rows->count + 1);
	sp_row_put_doubles(row, "round_mean_us", setting->values[v].wait_us, setting->rounds);
	if (v == setting->current)
		sp_row_put_doubles(row, "control_round_mean_us", setting->values[setting->count].wait_us,
						   setting->rounds);
	sp_put_buckets(row, &compared->values[v].histogram);
	return sp_row_form(row);
}

static void
add_rows(setting_rows *rows, const sp_compared *compared)
{
	for (int v = 0; v < compared->count; v++)
	{
		if (compared->values[v].histogram.ops > 0)
			rows->samples[rows->samples_count++] = value_sample_row(rows, compared, v);
		rows->measurements[rows->count] = value_row(rows, compared, v);
		rows->count++;
	}
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
setting_run_row(const setting_rows *rows)
{
	const sp_setting_run *run = rows->run;
	sp_row	   *row = sp_row_make(rows->run_type);
	sp_location location;
	sp_storage	storage = {0};
	sp_device_facts facts = {0};

	sp_location_find("pg_wal", &location);
	sp_storage_examine(&location, &storage, &facts);
	sp_row_put_int(row, "run_id", INT8OID, rows->run_id);
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

static void
insert_rows(void *arg)
{
	setting_rows *rows = arg;

	sp_history_insert("runs", rows->run_type, &rows->run_row, 1);
	sp_history_insert("measurements", rows->measurement_type, rows->measurements, rows->count);
	sp_history_insert("samples", rows->sample_type, rows->samples, rows->samples_count);
}

/*
 * Build the rows of a run that is judged, and return its measurements unless result is NULL.
 * Record them if that is asked for.  Returns the run_id, or 0.
 */
int64
sp_setting_record(const sp_setting_run *run, bool record, ReturnSetInfo *result)
{
	setting_rows *rows = palloc0(sizeof(setting_rows));

	rows->run = run;
	rows->run_id = record ? sp_history_next_id("runs_run_id_seq") : 0;
	rows->measurement_type = result ? result->setDesc : sp_history_row_type("measurements");
	rows->run_type = sp_history_row_type("runs");
	rows->sample_type = sp_history_row_type("samples");
	for (int i = 0; i < run->nsettings; i++)
		add_rows(rows, &run->settings[i]);
	for (int i = 0; result && i < rows->count; i++)
		tuplestore_puttuple(result->setResult, rows->measurements[i]);
	if (record)
	{
		rows->run_row = setting_run_row(rows);
		sp_as_history_owner(insert_rows, rows);
	}
	return rows->run_id;
}
