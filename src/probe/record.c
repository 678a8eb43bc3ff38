/*-------------------------------------------------------------------------
 *
 * record.c
 *		The rows of a run in sync_probe.runs, sync_probe.measurements and
 *		sync_probe_internal.samples, and their record in the history.
 *
 * A row of measurements is built once: probe() returns it, and it is inserted, too.  Rows are
 * inserted as the owner of the tables, so that a role that may probe needs no privileges on the
 * history.
 *
 *-------------------------------------------------------------------------
 */
#include "probe/probe.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/fmgrprotos.h"

/* ------------------------------------------------------------- measurements */

/* Microseconds with one digit after the point, below 10 us with three. */
static void
put_us(sp_row *row, const char *column, double us)
{
	sp_row_put_number(row, column, us, us < 10 ? 3 : 1);
}

/* A quantile in microseconds, null with fewer than min_ops operations. */
static void
put_quantile_us(sp_row *row, const char *column, const sp_histogram *histogram, double q,
				uint64_t min_ops)
{
	put_us(row, column,
		   histogram->ops < min_ops ? NAN : sp_histogram_quantile_ns(histogram, q) / 1000);
}

static const char *
describe_error(const sp_result *result)
{
	return psprintf("could not %s file: %s", result->error_call ? result->error_call : "open",
					strerror(result->error_number));
}

/* The error of a test case, when it was left out, or the detail of its suite; or NULL. */
static const char *
describe_case(const sp_run *run, int c)
{
	const sp_probe *probe = run->probe;
	const sp_result *result = &probe->results[c];
	int			control = sp_control_of(probe, c);

	if (result->excluded && result->status == SP_OK &&
		result->series.rounds < probe->rounds[probe->cases[c].regime])
		return psprintf("left out after " INT64_FORMAT " of " INT64_FORMAT " rounds: it cannot gain more than the margin in test %s",
						(int64) result->series.rounds,
						(int64) probe->rounds[probe->cases[c].regime],
						sp_regime_names[probe->deciding]);
	if (result->status == SP_ERROR || result->status == SP_NO_DIRECT_IO)
		return describe_error(result);
	/* the control has no row of its own */
	if (control >= 0 && probe->results[control].status == SP_ERROR)
		return psprintf("its second copy, the control: %s", describe_error(&probe->results[control]));
	return run->suite->describe ? run->suite->describe(probe, c) : NULL;
}

void
sp_put_recommended(sp_row *row, const sp_comparison *comparison, const sp_judgement *judgement,
				   const char *label)
{
	if (judgement->recommended >= 0 &&
		strcmp(comparison->candidates[judgement->recommended].name, label) == 0)
		sp_row_put_text(row, "choice", "recommended");
}

void
sp_put_latencies(sp_row *row, const sp_histogram *histogram)
{
	put_quantile_us(row, "p50_us", histogram, 0.5, 1);
	put_quantile_us(row, "p99_us", histogram, 0.99, SP_P99_MIN_OPS);
	put_us(row, "max_us", histogram->ops ? (double) histogram->max_ns / 1000 : NAN);
	put_us(row, "mean_us", sp_histogram_mean_ns(histogram) / 1000);
	sp_row_put_int(row, "ops", INT8OID, (int64) histogram->ops);
}

void
sp_put_speed(sp_row *row, const sp_speed *speed)
{
	sp_row_put_number(row, "relative_speed", speed->estimate, 3);
	sp_row_put_number(row, "relative_speed_low", speed->low, 3);
	sp_row_put_number(row, "relative_speed_high", speed->high, 3);
}

static HeapTuple
measurement_row(const sp_run *run, int c, int ordinal)
{
	const sp_probe *probe = run->probe;
	const sp_test_case *test_case = &probe->cases[c];
	const sp_result *result = &probe->results[c];
	sp_row	   *row = sp_row_make(run->measurement_type);

	if (run->run_id != 0)
		sp_row_put_int(row, "run_id", INT8OID, run->run_id);
	sp_row_put_int(row, "ordinal", INT4OID, ordinal);
	sp_row_put_text(row, "test", test_case->test);
	sp_row_put_text(row, "method", test_case->label);
	sp_row_put(row, "direct_io", BOOLOID, BoolGetDatum(probe->files[test_case->file].direct_io));
	if (test_case->baseline == c)
		sp_row_put_text(row, "choice", "current");
	sp_row_put_text(row, "status", sp_status_names[result->status]);
	sp_row_put_text(row, "detail", describe_case(run, c));
	sp_put_latencies(row, &result->histogram);
	/* when paced, the interval sets how many operations there are in a second */
	if (test_case->regime == SP_SATURATED)
		sp_row_put_number(row, "ops_per_sec", 1e9 / sp_histogram_mean_ns(&result->histogram), 1);
	sp_put_speed(row, &result->speed);
	sp_row_put_number(row, "flushes_per_op",
					  sp_evidence_rates_of(&result->evidence, SP_LEVEL_DEVICE).flushes, 2);
	/* the durability of a method is that of all its cases */
	if (probe->files[test_case->file].method && result->histogram.ops > 0)
	{
		sp_durable	durable = test_case->candidate ?
			sp_probe_method_durable(probe, test_case->label, false) :
			sp_probe_case_durable(probe, c, false);

		sp_row_put_text(row, "durable", sp_durable_names[durable]);
	}
	if (run->suite->put_case)
		run->suite->put_case(row, probe, c);
	return sp_row_form(row);
}

/* Lower bounds in microseconds and counts of the buckets that are not empty. */
static void
put_buckets(sp_row *row, const sp_histogram *histogram)
{
	double	   *bounds = palloc(SP_HISTOGRAM_BUCKETS * sizeof(double));
	Datum	   *counts = palloc(SP_HISTOGRAM_BUCKETS * sizeof(Datum));
	int			n = 0;

	for (int bucket = 0; bucket < SP_HISTOGRAM_BUCKETS; bucket++)
	{
		if (histogram->count[bucket] == 0)
			continue;
		bounds[n] = (double) sp_histogram_lower_ns(bucket) / 1000;
		counts[n++] = Int64GetDatum((int64) histogram->count[bucket]);
	}
	sp_row_put_doubles(row, "bucket_lower_us", bounds, n);
	sp_row_put(row, "bucket_ops", INT8ARRAYOID,
			   PointerGetDatum(construct_array(counts, n, INT8OID, sizeof(int64),
											   FLOAT8PASSBYVAL, TYPALIGN_DOUBLE)));
}

/*
 * The samples of the last measurement, if it has operations and is recorded.  controls: NULL
 * without a control.
 */
void
sp_add_sample_row(sp_run *run, const sp_histogram *histogram, const double *means, int n,
			  const double *controls, int ncontrols)
{
	sp_row	   *row;

	if (run->run_id == 0 || histogram->ops == 0)
		return;
	row = sp_row_make(sp_history_row_type("samples"));
	sp_row_put_int(row, "run_id", INT8OID, run->run_id);
	sp_row_put_int(row, "ordinal", INT4OID, run->nmeasurements);
	sp_row_put_doubles(row, "round_mean_us", means, n);
	if (controls)
		sp_row_put_doubles(row, "control_round_mean_us", controls, ncontrols);
	put_buckets(row, histogram);
	run->samples[run->nsamples++] = sp_row_form(row);
}

/*
 * Build the rows of a run in the order of the suite.  The A/A controls have no rows; they are
 * in the interval of the current method.
 */
static void
measurement_rows(sp_run *run)
{
	const sp_result *results = run->probe->results;

	for (int c = 0; c < run->probe->ncases; c++)
	{
		int			control = sp_control_of(run->probe, c);
		const sp_series *controls = control >= 0 ? &results[control].series : NULL;

		if (run->probe->cases[c].control)
			continue;
		run->measurements[run->nmeasurements] = measurement_row(run, c, run->nmeasurements + 1);
		run->nmeasurements++;
		sp_add_sample_row(run, &results[c].histogram, results[c].series.mean_us,
						  results[c].series.n, controls ? controls->mean_us : NULL,
						  controls ? controls->n : 0);
	}
}

/* SP_MIN_SAMPLES rounds of two values on real commits take 15 s and the time of reloads. */
#define LIVE_LEAST_S		30

/*
 * Whole seconds with which a run of that duration may settle its question: at least least_s, and
 * at most pg_sync_probe.max_duration.
 */
static void
put_longer_duration(sp_row *row, const sp_judgement *judgement, int64 duration_us, int least_s)
{
	double		times = isnan(judgement->times_as_long) ? 3 :
		Min(judgement->times_as_long, SP_MAX_TIMES_AS_LONG);
	int64		longer_us = (int64) (times * duration_us) / USECS_PER_SEC * USECS_PER_SEC;

	/* a longer one does not help, or would have to be too long */
	if (times <= 1 ||
		(isinf(judgement->times_as_long) && duration_us >= least_s * USECS_PER_SEC))
		return;
	longer_us = Max(longer_us, least_s * USECS_PER_SEC);
	longer_us = Min(longer_us, sp_max_duration_ms * INT64CONST(1000));
	if (longer_us > duration_us)
		sp_row_put_interval(row, "longer_duration", longer_us);
}

/*
 * The judgement of a run of that duration: its columns of sync_probe.runs.  least_s:
 * the shortest run to recommend if it is undecided.
 */
void
sp_put_judgement(sp_row *row, const char *setting, const sp_comparison *comparison,
				 const sp_judgement *judgement, const char *reason, int64 duration_us,
				 int least_s)
{
	sp_row_put_name(row, "setting", setting);
	sp_row_put_text(row, "verdict", sp_verdict_names[judgement->verdict]);
	/* both are unknown, or none is */
	if (judgement->recommended >= 0)
	{
		sp_row_put_text(row, "recommended_value",
						comparison->candidates[judgement->recommended].name);
		sp_row_put_text(row, "best_value", comparison->candidates[judgement->best].name);
	}
	sp_row_put_number(row, "max_regret", sp_bound_rounded_up(judgement->max_regret, 1000), 3);
	sp_row_put_number(row, "margin", comparison->margin, 6);
	sp_row_put_text(row, "reason", reason);
	if (judgement->verdict == SP_UNDECIDED)
		put_longer_duration(row, judgement, duration_us, least_s);
}

/* ------------------------------------------------------------------ the run */

/* Advice rests on runs at the cluster's own pace and size, with samples enough for an interval. */
static bool
is_usable_for_advice(const sp_run *run)
{
	const sp_probe *probe = run->probe;

	if (run->profile.given)
		return false;
	/* values of a setting that had too few are undecided, and the advice is a longer run */
	return run->compared ||
		(probe->judged && probe->samples[probe->deciding] >= SP_MIN_SAMPLES);
}

static HeapTuple
run_row(const sp_run *run, TupleDesc row_type)
{
	const sp_wal_profile *profile = &run->profile;
	const sp_storage *storage = &run->storage;
	const sp_compared *compared = run->compared;
	sp_row	   *row = sp_row_make(row_type);

	if (run->run_id != 0)
		sp_row_put_int(row, "run_id", INT8OID, run->run_id);
	sp_row_put_text(row, "label", run->label);
	sp_row_put_name(row, "location", NameStr(run->location.name));
	sp_row_put_text(row, "suite", run->suite->name);
	sp_row_put_name(row, "workload", run->workload);
	if (run->workers > 0)
		sp_row_put_int(row, "workers", INT4OID, run->workers);
	if (profile->server.flush_size > 0)
		sp_row_put_int(row, "flush_size", INT4OID, profile->server.flush_size);
	if (profile->flush_interval_us > 0)
		sp_row_put_interval(row, "flush_interval", profile->flush_interval_us);
	sp_row_put_this_server(row);
	sp_row_put_int(row, "server_version_num", INT4OID, PG_VERSION_NUM);
	sp_row_put(row, "fsync", BOOLOID, BoolGetDatum(enableFsync));
	sp_row_put_text(row, "directory", sp_known_text(storage->directory));
	sp_row_put_text(row, "filesystem",
					storage->mount ? sp_known_text(storage->mount->fstype) : NULL);
	sp_row_put_text(row, "device", sp_known_text(storage->disks.top.name));
	sp_row_put(row, "started_at", TIMESTAMPTZOID, TimestampTzGetDatum(run->started_at));
	sp_row_put(row, "finished_at", TIMESTAMPTZOID, TimestampTzGetDatum(run->finished_at));
	sp_row_put_text(row, "wal_sync_method", profile->wal_sync_method);
	if (run->storage_jsonb)
		sp_row_put(row, "storage", JSONBOID, run->storage_jsonb);
	sp_row_put(row, "usable_for_advice", BOOLOID, BoolGetDatum(is_usable_for_advice(run)));
	if (compared)
		sp_put_judgement(row, compared->setting.setting, &compared->setting.comparison,
						 &compared->setting.judgement, compared->reason, compared->duration_us,
						 LIVE_LEAST_S);
	else if (run->suite->put_verdict)
		run->suite->put_verdict(row, run);
	return sp_row_form(row);
}

/* Add to runs.storage what earlier runs of the same kind measured, for the finding drift. */
static void
add_earlier_runs(sp_run *run, TupleDesc row_type)
{
	Oid			types[1] = {row_type->tdtypeid};
	Datum		values[1] = {HeapTupleGetDatum(run->row)};
	List	   *storage = sp_spi_column("SELECT ($1).storage || jsonb_build_object('earlier', e)"
										" FROM " SP_SCHEMA "_internal.earlier_runs($1) AS e"
										" WHERE e IS NOT NULL",
										1, types, values, SP_AS_OWNER);

	if (storage == NIL)
		return;
	run->storage_jsonb = DirectFunctionCall1(jsonb_in, CStringGetDatum(linitial(storage)));
	run->row = run_row(run, row_type);
}

/* Build the rows of the run, and insert them into the history if that is wanted and possible. */
void
sp_record(sp_run *run, bool wanted)
{
	TupleDesc	run_type = sp_history_row_type("runs");

	if (wanted && sp_record_or_notice())
		run->run_id = sp_history_next_id();
	run->measurement_type = sp_history_row_type("measurements");
	if (run->compared)
		sp_compared_rows(run);
	else
		measurement_rows(run);
	run->row = run_row(run, run_type);
	if (run->run_id == 0)
		return;
	if (run->storage_jsonb)
		add_earlier_runs(run, run_type);
	sp_history_insert(run_type, &run->row, 1);
	sp_history_insert(run->measurement_type, run->measurements, run->nmeasurements);
	sp_history_insert(sp_history_row_type("samples"), run->samples, run->nsamples);
	if (run->suite->record)
		run->suite->record(run);
}

/* ------------------------------------------------- the samples of recorded runs */

/* The elements that are numbers.  Returns their count. */
static int
take_numbers(ArrayType *array, double **numbers)
{
	Datum	   *values;
	bool	   *nulls;
	int			n;
	int			count = 0;

	deconstruct_array(array, FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE,
					  &values, &nulls, &n);
	*numbers = palloc(Max(n, 1) * sizeof(double));
	for (int i = 0; i < n; i++)
	{
		if (!nulls[i] && isfinite(DatumGetFloat8(values[i])))
			(*numbers)[count++] = DatumGetFloat8(values[i]);
	}
	return count;
}

/*
 * sync_probe_internal.median_interval(samples float8[], alpha float8,
 *		OUT median float8, OUT low float8, OUT high float8)
 *
 * Methods within a run are compared sample by sample.  Two runs have no samples in common: what can
 * be compared is the median of each.  What is unknown is null: everything without a number, the
 * interval if they are too few.
 */
PG_FUNCTION_INFO_V1(sync_probe_median_interval);
Datum
sync_probe_median_interval(PG_FUNCTION_ARGS)
{
	double	   *numbers;
	int			count = take_numbers(PG_GETARG_ARRAYTYPE_P(0), &numbers);
	sp_speed	median = sp_median_interval(numbers, count, PG_GETARG_FLOAT8(1));
	sp_row	   *row = sp_row_of_result(fcinfo);

	if (!isnan(median.estimate))
		sp_row_put(row, "median", FLOAT8OID, Float8GetDatum(median.estimate));
	if (!isnan(median.low))
	{
		sp_row_put(row, "low", FLOAT8OID, Float8GetDatum(median.low));
		sp_row_put(row, "high", FLOAT8OID, Float8GetDatum(median.high));
	}
	return HeapTupleGetDatum(sp_row_form(row));
}
