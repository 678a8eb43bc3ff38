/*-------------------------------------------------------------------------
 *
 * commit_record.c
 *		The rows of a run of the commit suite.
 *
 * One row for each value of each setting.  A value of a setting is compared with the
 * current one of that setting.
 *
 *-------------------------------------------------------------------------
 */
#include "probe/probe.h"

#include <math.h>
#include <stdlib.h>

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "utils/guc.h"
#include "utils/tuplestore.h"

#define MAX_ROWS	(2 * SP_MAX_METHODS)

/* The rows of a run, while they are built. */
typedef struct commit_rows
{
	const sp_commit_run *run;
	int64		run_id;			/* 0 if the run is not recorded */
	TupleDesc	run_type;
	TupleDesc	measurement_type;
	TupleDesc	sample_type;
	HeapTuple	run_row;
	HeapTuple	measurements[MAX_ROWS];
	HeapTuple	samples[MAX_ROWS];
	int			count;
	int			samples_count;
} commit_rows;

static const char *
choice_in(const sp_commit_values *values, int v)
{
	if (v == values->setting.current)
		return "current";
	if (values->setting.judgement.verdict == SP_SWITCH &&
		v == values->setting.judgement.recommended)
		return "recommended";
	return NULL;
}

static int
compare_rates(const void *a, const void *b)
{
	double		x = *(const double *) a;
	double		y = *(const double *) b;

	return (x > y) - (x < y);
}

/* NAN without a round. */
static double
median_rate(const sp_setting_comparison *setting, int v)
{
	int			n = setting->rounds;
	double	   *rates;

	if (n == 0)
		return NAN;
	rates = palloc(n * sizeof(double));
	memcpy(rates, setting->values[v].commits_per_sec, n * sizeof(double));
	qsort(rates, n, sizeof(double), compare_rates);
	return (rates[(n - 1) / 2] + rates[n / 2]) / 2;
}

static HeapTuple
value_row(const commit_rows *rows, const sp_commit_values *values, int v, int ordinal)
{
	const sp_commit_value *value = &values->values[v];
	sp_row	   *row = sp_row_make(rows->measurement_type);

	if (rows->run_id != 0)
		sp_row_put_int(row, "run_id", INT8OID, rows->run_id);
	sp_row_put_int(row, "ordinal", INT4OID, ordinal);
	sp_row_put_text(row, "test", values->setting.setting);
	sp_row_put_text(row, "method", value->wal_sync_method);
	sp_row_put_text(row, "value", value->text);
	sp_row_put_text(row, "choice", choice_in(values, v));
	if (v == values->setting.current)
		sp_row_put_text(row, "verdict", sp_verdict_name(values->setting.judgement.verdict));
	sp_row_put_int(row, "write_size", INT4OID, rows->run->record_size);
	sp_row_put_int(row, "writes_per_sync", INT4OID, 1);
	sp_row_put_text(row, "status",
					sp_status_name(value->histogram.ops > 0 ? SP_OK : SP_STOPPED));
	if (value->histogram.ops > 0)
		sp_put_latencies(row, &value->histogram);
	sp_row_put_number(row, "ops_per_sec", median_rate(&values->setting, v), 1);
	sp_put_speeds(row, &values->setting, v);
	return sp_row_form(row);
}

static HeapTuple
value_sample_row(const commit_rows *rows, const sp_commit_values *values, int v, int ordinal)
{
	const sp_setting_comparison *setting = &values->setting;
	sp_row	   *row = sp_row_make(rows->sample_type);

	sp_row_put_int(row, "run_id", INT8OID, rows->run_id);
	sp_row_put_int(row, "ordinal", INT4OID, ordinal);
	sp_row_put_doubles(row, "round_mean_us", setting->values[v].wait_us, setting->rounds);
	if (v == setting->current)
		sp_row_put_doubles(row, "control_round_mean_us", setting->values[setting->count].wait_us,
						   setting->rounds);
	sp_put_buckets(row, &values->values[v].histogram);
	return sp_row_form(row);
}

static void
add_rows(commit_rows *rows, const sp_commit_values *values)
{
	for (int v = 0; v < values->count; v++)
	{
		int			ordinal = rows->count + 1;

		rows->measurements[rows->count++] = value_row(rows, values, v, ordinal);
		if (values->values[v].histogram.ops > 0)
			rows->samples[rows->samples_count++] = value_sample_row(rows, values, v, ordinal);
	}
}

/* -------------------------------------------------------------------- the run */

/* The verdict on the methods; on commit_delay if they were not compared. */
static void
put_verdict(sp_row *row, const sp_commit_run *run)
{
	const sp_commit_values *first = run->methods.count > 0 ? &run->methods : &run->delays;
	const char *reason = first->reason;

	if (run->methods.count > 0 && run->delays.count > 0)
		reason = psprintf("%s. commit_delay: %s", reason, run->delays.reason);
	sp_put_judgement(row, first->setting.setting, &first->setting.comparison,
					 &first->setting.judgement, reason, run->duration_us);
	sp_row_put(row, "usable_for_advice", BOOLOID,
			   BoolGetDatum(run->interval_us == 0 &&
							strcmp(run->record_size_source, "argument") != 0));
}

static void
put_request(sp_row *row, const sp_commit_run *run)
{
	sp_row_put_text(row, "label", run->label);
	sp_row_put_name(row, "location", NameStr(run->location.name));
	sp_row_put_text(row, "suite", SP_COMMIT_SUITE);
	sp_row_put_int(row, "flush_size", INT4OID, run->record_size);
	if (run->interval_us > 0)
		sp_row_put_interval(row, "flush_interval", run->interval_us);
	sp_row_put_int(row, "workers", INT4OID, run->workers);
}

static HeapTuple
commit_run_row(const commit_rows *rows)
{
	const sp_commit_run *run = rows->run;
	sp_row	   *row = sp_row_make(rows->run_type);

	sp_row_put_int(row, "run_id", INT8OID, rows->run_id);
	put_request(row, run);
	sp_put_where(row, &run->storage);
	put_verdict(row, run);
	sp_row_put(row, "started_at", TIMESTAMPTZOID, TimestampTzGetDatum(run->started_at));
	sp_row_put(row, "finished_at", TIMESTAMPTZOID, TimestampTzGetDatum(run->finished_at));
	sp_row_put_text(row, "wal_sync_method", run->wal_sync_method);
	sp_row_put_text(row, "wal_level", run->wal_level);
	return sp_row_form(row);
}

static void
insert_rows(void *arg)
{
	commit_rows *rows = arg;

	sp_history_insert("runs", rows->run_type, &rows->run_row, 1);
	sp_history_insert("measurements", rows->measurement_type, rows->measurements, rows->count);
	sp_history_insert("samples", rows->sample_type, rows->samples, rows->samples_count);
}

void
sp_commit_record(const sp_commit_run *run, int64 run_id, ReturnSetInfo *result)
{
	commit_rows *rows = palloc0(sizeof(commit_rows));

	rows->run = run;
	rows->run_id = run_id;
	rows->measurement_type = result->setDesc;
	rows->run_type = sp_history_row_type("runs");
	rows->sample_type = sp_history_row_type("samples");
	add_rows(rows, &run->methods);
	add_rows(rows, &run->delays);
	for (int i = 0; i < rows->count; i++)
		tuplestore_puttuple(result->setResult, rows->measurements[i]);
	if (run_id == 0)
		return;
	rows->run_row = commit_run_row(rows);
	sp_as_history_owner(insert_rows, rows);
}
