/*-------------------------------------------------------------------------
 *
 * record.c
 *		A run as rows: of the result, and of the tables that keep it.
 *
 * The row of sync_probe.measurements is built once and serves for both.  It is
 * recorded as the owner of the tables, so that who may probe need not be able
 * to write into the history of all probes.
 *
 *-------------------------------------------------------------------------
 */
#include "probe/probe.h"

#include <math.h>
#include <unistd.h>

#include "access/htup_details.h"
#include "access/xlog.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/json.h"
#include "utils/memutils.h"

#include "compat.h"

/* Of the session's last probe, as json; in TopMemoryContext, or NULL. */
static char *last_run = NULL;

PG_FUNCTION_INFO_V1(sync_probe_this_server);
PG_FUNCTION_INFO_V1(sync_probe_last_run);

/* --------------------------------------------------------- building of rows */

/* Microseconds: to a tenth, below ten to a nanosecond. */
static void
put_us(sp_row *row, const char *column, double us)
{
	sp_row_put_number(row, column, us, us < 10 ? 3 : 1);
}

/* A quantile in microseconds, null below the operations it takes. */
static void
put_quantile_us(sp_row *row, const char *column, const sp_histogram *histogram, double q,
				uint64_t min_ops)
{
	put_us(row, column,
		   histogram->ops < min_ops ? NAN : sp_histogram_quantile_ns(histogram, q) / 1000);
}

/*
 * What went wrong with a case, or why its figures are of a part of the run only;
 * NULL for all others.
 */
static const char *
describe_case(const sp_probe *probe, int c)
{
	const sp_result *result = &probe->results[c];
	const sp_series *rounds = &result->rounds;

	if (result->excluded && result->status == SP_OK)
		return psprintf("left out after " INT64_FORMAT " of " INT64_FORMAT " rounds: it is slower",
						(int64) (rounds->n * rounds->rounds_per_entry + rounds->pending),
						(int64) probe->rounds[probe->cases[c].regime]);
	if (result->status != SP_ERROR && result->status != SP_NO_DIRECT_IO)
		return NULL;
	return psprintf("could not %s file: %s", result->error_call ? result->error_call : "open",
					strerror(result->error_number));
}

/* Of the current method and the recommended one; NULL for all others. */
static const char *
choice_of(const sp_probe *probe, int c)
{
	const sp_test_case *test_case = &probe->cases[c];
	sp_comparison comparison;

	if (test_case->baseline == c)
		return "current";
	if (!test_case->contender || !probe->judged || probe->judgement.recommended < 0)
		return NULL;
	(void) sp_probe_compare(probe, &comparison);
	return strcmp(comparison.contenders[probe->judgement.recommended].name,
				  test_case->label) == 0 ? "recommended" : NULL;
}

static void
put_latencies(sp_row *row, const sp_histogram *histogram)
{
	double		mean_ns = sp_histogram_mean_ns(histogram);

	put_quantile_us(row, "p50_us", histogram, 0.5, 1);
	put_quantile_us(row, "p90_us", histogram, 0.9, 1);
	put_quantile_us(row, "p99_us", histogram, 0.99, SP_P99_MIN_OPS);
	put_quantile_us(row, "p999_us", histogram, 0.999, SP_P999_MIN_OPS);
	put_us(row, "max_us", histogram->ops ? (double) histogram->max_ns / 1000 : NAN);
	put_us(row, "mean_us", mean_ns / 1000);
	put_us(row, "stddev_us", sp_histogram_stddev_ns(histogram) / 1000);
	sp_row_put_number(row, "ops_per_sec", 1e9 / mean_ns, 1);
	sp_row_put_int(row, "ops", INT8OID, (int64) histogram->ops);
}

/* run_id: 0 for a run that is not recorded */
static HeapTuple
measurement_row(const sp_probe *probe, int c, int ordinal, int64 run_id, TupleDesc row_type)
{
	const sp_test_case *test_case = &probe->cases[c];
	const sp_result *result = &probe->results[c];
	sp_evidence_rates device = sp_evidence_rates_of(&result->evidence, SP_LEVEL_DEVICE);
	sp_row	   *row = sp_row_make(row_type);

	if (run_id != 0)
		sp_row_put_int(row, "run_id", INT8OID, run_id);
	sp_row_put_int(row, "ordinal", INT4OID, ordinal);
	sp_row_put_text(row, "test", test_case->test);
	sp_row_put_text(row, "method", test_case->label);
	sp_row_put(row, "direct_io", BOOLOID, BoolGetDatum(probe->files[test_case->file].direct_io));
	sp_row_put_text(row, "choice", choice_of(probe, c));
	sp_row_put_int(row, "write_size", INT4OID, test_case->write_size);
	sp_row_put_int(row, "writes_per_sync", INT4OID, test_case->writes_per_sync);
	sp_row_put_text(row, "status", sp_status_name(result->status));
	sp_row_put_text(row, "detail", describe_case(probe, c));
	put_latencies(row, &result->histogram);
	sp_row_put_number(row, "relative_speed", result->speed.estimate, 3);
	sp_row_put_number(row, "relative_speed_low", result->speed.low, 3);
	sp_row_put_number(row, "relative_speed_high", result->speed.high, 3);
	sp_row_put_number(row, "flushes_per_op", device.flushes, 2);
	sp_row_put_number(row, "device_writes_per_op", device.writes, 2);
	sp_row_put_number(row, "device_bytes_per_op", device.bytes, 0);
	sp_row_put_number(row, "device_utilization", device.utilization, 3);
	return sp_row_form(row);
}

/*
 * The rows of a run in the order of the suite, without the A/A controls: these
 * are in the interval of the current method's row.  Returns how many.
 */
int
sp_measurement_rows(const sp_probe *probe, int64 run_id, TupleDesc row_type, HeapTuple *rows)
{
	int			n = 0;

	for (int c = 0; c < probe->ncases; c++)
	{
		if (probe->cases[c].control)
			continue;
		rows[n] = measurement_row(probe, c, n + 1, run_id, row_type);
		n++;
	}
	return n;
}

/* The non-empty buckets: their lower bounds in microseconds, their counts. */
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

static void
put_rounds(sp_row *row, const char *column, const sp_series *rounds)
{
	sp_row_put_doubles(row, column, rounds->mean_us, rounds->n);
}

static HeapTuple
sample_row(const sp_probe *probe, int c, int ordinal, int64 run_id, TupleDesc row_type)
{
	sp_row	   *row = sp_row_make(row_type);

	sp_row_put_int(row, "run_id", INT8OID, run_id);
	sp_row_put_int(row, "ordinal", INT4OID, ordinal);
	put_rounds(row, "round_mean_us", &probe->results[c].rounds);
	/* null for all but current methods */
	for (int i = 0; i < probe->ncases; i++)
	{
		if (probe->cases[i].control && probe->cases[i].baseline == c)
			put_rounds(row, "control_round_mean_us", &probe->results[i].rounds);
	}
	put_buckets(row, &probe->results[c].histogram);
	return sp_row_form(row);
}

/* ------------------------------------------------------------------ the run */

/*
 * Where a run was made: its advice is for no other server.  The system identifier
 * alone does not tell a standby from its primary.
 */
static uint64
this_server(char *host, size_t size)
{
	if (gethostname(host, size) != 0)
		host[0] = '\0';
	host[size - 1] = '\0';
	return GetSystemIdentifier();
}

/*
 * sync_probe_internal.this_server(OUT system_identifier bigint, OUT host text): see
 * sync_probe.runs.
 */
Datum
sync_probe_this_server(PG_FUNCTION_ARGS)
{
	TupleDesc	row_type;
	char		host[MAXPGPATH];
	Datum		values[2];
	bool		nulls[2] = {false, false};

	if (get_call_result_type(fcinfo, NULL, &row_type) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	values[0] = Int64GetDatum((int64) this_server(host, sizeof(host)));
	values[1] = CStringGetTextDatum(sp_valid_text(host));
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(row_type), values, nulls));
}

static void
put_probe_request(sp_row *row, const sp_run *run)
{
	const sp_probe *probe = run->probe;
	const sp_wal_profile *profile = run->profile;

	sp_row_put_text(row, "label", run->label);
	sp_row_put_name(row, "location", NameStr(run->location->name));
	sp_row_put_text(row, "suite", run->suite->name);
	sp_row_put_interval(row, "requested_duration", probe->duration_ns / 1000);
	sp_row_put_number(row, "duty_cycle", probe->duty_cycle, 6);
	sp_row_put(row, "stop_early", BOOLOID, BoolGetDatum(probe->stop_early));
	sp_row_put_int(row, "flush_size", INT4OID, profile->server.flush_size);
	sp_row_put_text(row, "flush_size_source", profile->flush_size_source);
	sp_row_put_interval(row, "flush_interval", profile->flush_interval_us);
	sp_row_put_text(row, "flush_interval_source", profile->flush_interval_source);
	sp_row_put_int(row, "random_seed", INT8OID, (int64) probe->random_seed);
}

static void
put_where(sp_row *row, const sp_run *run)
{
	const sp_storage *storage = run->storage;
	char		host[MAXPGPATH];

	sp_row_put_int(row, "system_identifier", INT8OID, (int64) this_server(host, sizeof(host)));
	sp_row_put_text(row, "host", sp_valid_text(host));
	sp_row_put_name(row, "username", GetUserNameFromId(GetUserId(), false));
	sp_row_put_int(row, "server_version_num", INT4OID, PG_VERSION_NUM);
	sp_row_put_text(row, "directory", sp_known_text(storage->directory));
	sp_row_put_text(row, "filesystem", sp_known_text(storage->filesystem));
	sp_row_put_text(row, "device", sp_known_text(storage->device.name));
	sp_row_put_text(row, "write_cache", sp_known_text(storage->device.write_cache));
}

static void
put_probe_outcome(sp_row *row, const sp_run *run)
{
	const sp_probe *probe = run->probe;
	int64		rounds = 0;

	for (int r = 0; r < SP_REGIMES; r++)
		rounds += probe->rounds[r];
	sp_row_put(row, "started_at", TIMESTAMPTZOID, TimestampTzGetDatum(run->started_at));
	sp_row_put(row, "finished_at", TIMESTAMPTZOID, TimestampTzGetDatum(run->finished_at));
	sp_row_put_text(row, "wal_sync_method", run->profile->wal_sync_method);
	sp_row_put_text(row, "wal_sync_method_at_end", GetConfigOption("wal_sync_method", false, false));
	sp_row_put_text(row, "wal_level", run->profile->wal_level);
	sp_row_put_interval(row, "duration", (probe->finished_ns - probe->started_ns) / 1000);
	sp_row_put_int(row, "rounds", INT4OID, Min(rounds, PG_INT32_MAX));
	sp_row_put_int(row, "paced_rounds", INT4OID, Min(probe->rounds[SP_PACED], PG_INT32_MAX));
	sp_row_put_int(row, "saturated_rounds", INT4OID, Min(probe->rounds[SP_SATURATED], PG_INT32_MAX));
	if (probe->judged)
		sp_row_put_number(row, "noise", probe->judgement.noise, 4);
	sp_row_put(row, "storage", JSONBOID, run->storage_jsonb);
}

/* run_id: 0 for a run that is not recorded */
static HeapTuple
run_row(const sp_run *run, int64 run_id, TupleDesc row_type)
{
	sp_row	   *row = sp_row_make(row_type);

	if (run_id != 0)
		sp_row_put_int(row, "run_id", INT8OID, run_id);
	sp_row_put_text(row, "source", "probe");
	put_probe_request(row, run);
	put_where(row, run);
	put_probe_outcome(row, run);
	return sp_row_form(row);
}

/* Keep it as text: a table that is altered meanwhile cannot make it invalid. */
static void
remember_run(HeapTuple row)
{
	Datum		json = DirectFunctionCall1(row_to_json, HeapTupleGetDatum(row));

	if (last_run)
		pfree(last_run);
	last_run = NULL;			/* should there be no memory for the new one */
	last_run = MemoryContextStrdup(TopMemoryContext, TextDatumGetCString(json));
}

/*
 * sync_probe_internal.last_run() RETURNS text: this session's last probe as json, with
 * the columns of sync_probe.runs, for the advice on a run that could not be
 * recorded; null before it.
 */
Datum
sync_probe_last_run(PG_FUNCTION_ARGS)
{
	if (last_run == NULL)
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(cstring_to_text(last_run));
}

/* ---------------------------------------------------------------- recording */

typedef struct record_args
{
	const sp_run *run;
	int64		run_id;
	HeapTuple	row;
	TupleDesc	row_type;
	TupleDesc	measurement_type;
	HeapTuple  *measurements;
	int			nmeasurements;
} record_args;

static void
record(void *arg)
{
	record_args *args = arg;
	const sp_probe *probe = args->run->probe;
	TupleDesc	sample_type = sp_history_row_type("samples");
	HeapTuple  *samples = palloc(SP_MAX_CASES * sizeof(HeapTuple));
	int			nsamples = 0;
	int			ordinal = 0;

	for (int c = 0; c < probe->ncases; c++)
	{
		if (probe->cases[c].control)
			continue;
		ordinal++;
		if (probe->results[c].histogram.ops > 0)
			samples[nsamples++] = sample_row(probe, c, ordinal, args->run_id, sample_type);
	}
	sp_history_insert("runs", args->row_type, &args->row, 1);
	sp_history_insert("measurements", args->measurement_type, args->measurements, args->nmeasurements);
	sp_history_insert("samples", sample_type, samples, nsamples);
}

/*
 * Write a run, its measurements and their samples into the history; with a
 * run_id of 0 only remember it for the session.
 */
void
sp_record(const sp_run *run, int64 run_id, TupleDesc measurement_type,
		  HeapTuple *measurements, int nmeasurements)
{
	record_args args = {
		.run = run,
		.run_id = run_id,
		.row_type = sp_history_row_type("runs"),
		.measurement_type = measurement_type,
		.measurements = measurements,
		.nmeasurements = nmeasurements
	};

	args.row = run_row(run, run_id, args.row_type);
	remember_run(args.row);
	if (run_id != 0)
		sp_as_history_owner(record, &args);
}
