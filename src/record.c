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
#include "pg_sync_probe.h"

#include <math.h>

#include "access/htup_details.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "compat.h"

#define MEASUREMENT_COLUMNS	28
#define SAMPLE_COLUMNS		6

/* Rows cannot be written on a standby or in a read-only transaction. */
bool
sp_record_possible(void)
{
	return !RecoveryInProgress() && !XactReadOnly;
}

/* --------------------------------------------------------- building of rows */

/* A number rounded to what it is worth; null when it is none. */
void
sp_put_number(Datum *value, bool *null, double number, int digits)
{
	double		scale = pow(10, digits);

	*null = isnan(number) || isinf(number);
	*value = *null ? (Datum) 0 : Float8GetDatum(rint(number * scale) / scale);
}

/* Microseconds: to a tenth, below ten to a nanosecond. */
static void
put_us(Datum *value, bool *null, double us)
{
	sp_put_number(value, null, us, us < 10 ? 3 : 1);
}

/* A quantile in microseconds, null below the operations it takes. */
static void
put_quantile(Datum *value, bool *null, const sp_histogram *histogram, double q, uint64_t least_ops)
{
	put_us(value, null,
		   histogram->ops < least_ops ? NAN : sp_histogram_quantile_ns(histogram, q) / 1000);
}

/* What went wrong with a case, in words; NULL when nothing did. */
static const char *
describe_failure(const sp_result *result)
{
	if (result->status != SP_ERROR && result->status != SP_NO_DIRECT_IO)
		return NULL;
	return psprintf("could not %s file: %s", result->error_call ? result->error_call : "open",
					strerror(result->error_number));
}

static HeapTuple
measurement_row(const sp_probe *probe, int c, int ordinal, int64 run_id, bool recorded,
				TupleDesc row_type)
{
	const sp_test_case *test_case = &probe->cases[c];
	const sp_result *result = &probe->results[c];
	const sp_histogram *histogram = &result->histogram;
	const char *detail = describe_failure(result);
	double		mean_ns = sp_histogram_mean_ns(histogram);
	sp_evidence_rates device = sp_evidence_rates_of(&result->evidence, SP_LEVEL_DEVICE);
	Datum		values[MEASUREMENT_COLUMNS] = {0};
	bool		nulls[MEASUREMENT_COLUMNS] = {0};
	int			i = 0;

	nulls[i] = !recorded;
	values[i++] = Int64GetDatum(run_id);
	values[i++] = Int32GetDatum(ordinal);
	values[i++] = CStringGetTextDatum(test_case->test);
	values[i++] = CStringGetTextDatum(test_case->label);
	values[i++] = BoolGetDatum(probe->files[test_case->file].direct_io);
	values[i++] = Int32GetDatum(test_case->write_size);
	values[i++] = Int32GetDatum(test_case->writes_per_sync);
	values[i++] = CStringGetTextDatum(sp_status_name(result->status));

	sp_put_number(&values[i], &nulls[i], 1e9 / mean_ns, 1);
	i++;
	put_us(&values[i], &nulls[i], mean_ns / 1000);
	i++;
	put_quantile(&values[i], &nulls[i], histogram, 0.5, 1);
	i++;
	put_quantile(&values[i], &nulls[i], histogram, 0.9, 1);
	i++;
	put_quantile(&values[i], &nulls[i], histogram, 0.99, SP_P99_MIN_OPS);
	i++;
	put_quantile(&values[i], &nulls[i], histogram, 0.999, SP_P999_MIN_OPS);
	i++;
	put_us(&values[i], &nulls[i], histogram->ops ? (double) histogram->max_ns / 1000 : NAN);
	i++;
	put_us(&values[i], &nulls[i], sp_histogram_stddev_ns(histogram) / 1000);
	i++;
	values[i++] = Int64GetDatum((int64) histogram->ops);
	sp_put_number(&values[i], &nulls[i], result->speed.estimate, 3);
	i++;
	sp_put_number(&values[i], &nulls[i], result->speed.low, 3);
	i++;
	sp_put_number(&values[i], &nulls[i], result->speed.high, 3);
	i++;

	sp_put_number(&values[i], &nulls[i], device.flushes, 2);
	i++;
	sp_put_number(&values[i], &nulls[i], device.writes, 2);
	i++;
	sp_put_number(&values[i], &nulls[i], device.bytes, 0);
	i++;
	sp_put_number(&values[i], &nulls[i], device.utilization, 3);
	i++;

	nulls[i] = detail == NULL;
	if (detail)
		values[i] = CStringGetTextDatum(detail);
	i++;

	/* a row type with columns more or less is another version's script */
	if (i != row_type->natts)
		elog(ERROR, "sync_probe.measurements has %d columns, expected %d", row_type->natts, i);
	return heap_form_tuple(row_type, values, nulls);
}

/*
 * The rows of a run in the order of the suite, without the A/A controls: these
 * are in the interval of the current method's row.  Returns how many.
 */
int
sp_measurement_rows(const sp_probe *probe, int64 run_id, bool recorded,
					TupleDesc row_type, HeapTuple *rows)
{
	int			n = 0;

	for (int c = 0; c < probe->ncases; c++)
	{
		if (probe->cases[c].control)
			continue;
		rows[n] = measurement_row(probe, c, n + 1, run_id, recorded, row_type);
		n++;
	}
	return n;
}

static Datum
doubles_array(const double *values, int n)
{
	Datum	   *datums = palloc(Max(n, 1) * sizeof(Datum));

	for (int i = 0; i < n; i++)
		datums[i] = Float8GetDatum(values[i]);
	return PointerGetDatum(construct_array(datums, n, FLOAT8OID, sizeof(float8),
										   FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

/* The non-empty buckets: their lower bounds in microseconds, their counts. */
static void
put_buckets(const sp_histogram *histogram, Datum *lower_us, Datum *ops)
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
	*lower_us = doubles_array(bounds, n);
	*ops = PointerGetDatum(construct_array(counts, n, INT8OID, sizeof(int64),
										   FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

/* The rounds of the A/A control of case c; null for all but current methods. */
static void
put_control_rounds(const sp_probe *probe, int c, Datum *value, bool *null)
{
	*null = true;
	for (int i = 0; i < probe->ncases; i++)
	{
		if (!probe->cases[i].control || probe->cases[i].baseline != c)
			continue;
		*value = doubles_array(probe->results[i].rounds.mean_us, probe->results[i].rounds.n);
		*null = false;
	}
}

static HeapTuple
sample_row(const sp_probe *probe, int c, int ordinal, int64 run_id, TupleDesc row_type)
{
	const sp_result *result = &probe->results[c];
	Datum		values[SAMPLE_COLUMNS];
	bool		nulls[SAMPLE_COLUMNS] = {0};

	values[0] = Int64GetDatum(run_id);
	values[1] = Int32GetDatum(ordinal);
	values[2] = doubles_array(result->rounds.mean_us, result->rounds.n);
	put_control_rounds(probe, c, &values[3], &nulls[3]);
	put_buckets(&result->histogram, &values[4], &values[5]);
	if (row_type->natts != SAMPLE_COLUMNS)
		elog(ERROR, "sync_probe.samples has %d columns, expected %d", row_type->natts, SAMPLE_COLUMNS);
	return heap_form_tuple(row_type, values, nulls);
}

/* ---------------------------------------------------------------- recording */

/* The role to record as: the owner of the history. */
static Oid
history_owner(void)
{
	Oid			relation = get_relname_relid("runs", get_namespace_oid(SP_SCHEMA, false));
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));
	Oid			owner;

	if (!HeapTupleIsValid(tuple))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("table \"%s.runs\" does not exist", SP_SCHEMA),
				 errhint("Create the extension again: DROP EXTENSION pg_sync_probe; CREATE EXTENSION pg_sync_probe;")));
	owner = ((Form_pg_class) GETSTRUCT(tuple))->relowner;
	ReleaseSysCache(tuple);
	return owner;
}

/* The row type of one of the history's tables. */
TupleDesc
sp_history_row_type(const char *table)
{
	Oid			relation = get_relname_relid(table, get_namespace_oid(SP_SCHEMA, false));

	return lookup_rowtype_tupdesc_copy(get_rel_type_id(relation), -1);
}

/* Execute what must come out as expected (an SPI_OK_ code). */
void
sp_history_execute(const char *sql, int nargs, Oid *types, Datum *values, const char *nulls, int expected)
{
	int			result = SPI_execute_with_args(sql, nargs, types, values, nulls, false, 0);

	if (result != expected)
		elog(ERROR, "could not execute: %s: %s", sql, SPI_result_code_string(result));
}

/*
 * What SET search_path does for a function; AtEOXact_GUC() with what is returned
 * undoes it.
 */
int
sp_pin_search_path(void)
{
	int			nest_level = NewGUCNestLevel();

	(void) set_config_option("search_path", "pg_catalog, pg_temp", PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
	return nest_level;
}

/*
 * Call work(arg) inside SPI as the owner of the history, as the checks of
 * foreign keys run as the owner of their table.  Expressions and triggers that
 * somebody added to a table run as the owner, too: they find the server's own
 * functions first, and cannot change the session, as in maintenance commands
 * (see SECURITY_RESTRICTED_OPERATION in the server's miscinit.c).
 */
void
sp_as_history_owner(void (*work) (void *), void *arg)
{
	Oid			saved_user;
	int			saved_context;
	int			nest_level = sp_pin_search_path();

	GetUserIdAndSecContext(&saved_user, &saved_context);
	SetUserIdAndSecContext(history_owner(), saved_context | SECURITY_LOCAL_USERID_CHANGE |
						   SECURITY_RESTRICTED_OPERATION | SECURITY_NOFORCE_RLS);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	work(arg);
	SPI_finish();
	AtEOXact_GUC(false, nest_level);
	SetUserIdAndSecContext(saved_user, saved_context);
}

/* Of the one row that sp_history_execute() has found. */
Datum
sp_history_value(int column, bool *isnull)
{
	return SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, column, isnull);
}

/* The next number of one of the history's sequences; to be called as its owner. */
int64
sp_history_next_id(const char *sequence)
{
	bool		isnull;

	sp_history_execute(psprintf("SELECT pg_catalog.nextval('" SP_SCHEMA ".%s')", sequence),
					   0, NULL, NULL, NULL, SPI_OK_SELECT);
	return DatumGetInt64(sp_history_value(1, &isnull));
}

static void
next_run_id(void *arg)
{
	*(int64 *) arg = sp_history_next_id("runs_run_id_seq");
}

/* Taken before the rows are built, since every row carries it. */
int64
sp_record_next_run_id(void)
{
	int64		run_id = 0;

	sp_as_history_owner(next_run_id, &run_id);
	return run_id;
}

static void
insert_rows(const char *table, TupleDesc row_type, HeapTuple *rows, int nrows)
{
	Datum	   *datums = palloc(nrows * sizeof(Datum));
	Oid			types[1] = {get_array_type(row_type->tdtypeid)};
	Datum		values[1];

	for (int i = 0; i < nrows; i++)
		datums[i] = HeapTupleGetDatum(rows[i]);
	values[0] = PointerGetDatum(construct_array(datums, nrows, row_type->tdtypeid,
												-1, false, TYPALIGN_DOUBLE));
	sp_history_execute(psprintf("INSERT INTO %s.%s SELECT * FROM pg_catalog.unnest($1)", SP_SCHEMA, table),
					   1, types, values, NULL, SPI_OK_INSERT);
}

static void
insert_run(const sp_run *run, int64 run_id)
{
	const sp_probe *probe = run->probe;
	bool		has_noise = probe->judged && !isnan(probe->judgement.noise);
	int64		rounds = 0;
	int			n = 0;
	Oid			types[20];
	Datum		values[20];
	char		nulls[20];

	for (int r = 0; r < SP_REGIMES; r++)
		rounds += probe->rounds[r];

#define BIND(type, isnull, value) \
	(types[n] = (type), nulls[n] = (isnull) ? 'n' : ' ', values[n] = (isnull) ? (Datum) 0 : (value), n++)
	BIND(INT8OID, false, Int64GetDatum(run_id));
	BIND(TEXTOID, run->label == NULL, CStringGetTextDatum(run->label));
	BIND(NAMEOID, false, NameGetDatum(&run->location->name));
	BIND(TEXTOID, false, CStringGetTextDatum(run->suite->name));
	BIND(TIMESTAMPTZOID, false, TimestampTzGetDatum(run->started_at));
	BIND(TIMESTAMPTZOID, false, TimestampTzGetDatum(run->finished_at));
	BIND(INT4OID, false, Int32GetDatum(PG_VERSION_NUM));
	BIND(TEXTOID, false, CStringGetTextDatum(run->cluster->wal_sync_method));
	BIND(TEXTOID, false, CStringGetTextDatum(run->cluster->wal_level));
	BIND(INT4OID, false, Int32GetDatum(run->cluster->server.flush_size));
	BIND(TEXTOID, false, CStringGetTextDatum(run->cluster->flush_size_source));
	BIND(INT8OID, false, Int64GetDatum(run->cluster->flush_interval_us));
	BIND(TEXTOID, false, CStringGetTextDatum(run->cluster->flush_interval_source));
	BIND(INT8OID, false, Int64GetDatum((probe->finished_ns - probe->started_ns) / 1000));
	BIND(INT4OID, false, Int32GetDatum((int32) Min(rounds, PG_INT32_MAX)));
	BIND(INT8OID, false, Int64GetDatum((int64) probe->random_seed));
	BIND(FLOAT8OID, !has_noise, Float8GetDatum(rint(probe->judgement.noise * 10000) / 10000));
	BIND(TEXTOID, false, CStringGetTextDatum(run->storage));
#undef BIND
	Assert(n <= lengthof(types));

	sp_history_execute("INSERT INTO " SP_SCHEMA ".runs (run_id, source, label, location, suite,"
					   " started_at, finished_at, directory, filesystem, device, write_cache,"
					   " server_version_num, wal_sync_method, wal_level,"
					   " flush_size, flush_size_source, flush_interval, flush_interval_source,"
					   " duration, rounds, random_seed, noise, storage)"
					   " SELECT $1, 'probe', $2, $3, $4, $5, $6,"
					   " l.directory, l.filesystem, l.device, l.write_cache, $7, $8, $9, $10, $11,"
					   " $12 OPERATOR(pg_catalog.*) interval '1 microsecond', $13,"
					   " $14 OPERATOR(pg_catalog.*) interval '1 microsecond', $15, $16, $17, $18::jsonb"
					   " FROM " SP_SCHEMA "._examine_locations($3) l",
					   n, types, values, nulls, SPI_OK_INSERT);
}

typedef struct record_args
{
	const sp_run *run;
	int64		run_id;
	TupleDesc	row_type;
	HeapTuple  *rows;
	int			nrows;
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
	insert_run(args->run, args->run_id);
	insert_rows("measurements", args->row_type, args->rows, args->nrows);
	insert_rows("samples", sample_type, samples, nsamples);
}

/* Write a run, its measurements and their samples into the history. */
void
sp_record(const sp_run *run, int64 run_id, TupleDesc row_type, HeapTuple *rows, int nrows)
{
	record_args args = {run, run_id, row_type, rows, nrows};

	sp_as_history_owner(record, &args);
}
