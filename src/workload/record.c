/*-------------------------------------------------------------------------
 *
 * record.c
 *		A run of a workload as a row, and what the server counted meanwhile.
 *
 * The row that is recorded is the row that is returned.  It is written as the
 * owner of the history, as in probe/record.c.
 *
 *-------------------------------------------------------------------------
 */
#include "workload/workload.h"

#include <math.h>

#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/latch.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/json.h"

#include "compat.h"

#define MAX_VALUES			48

/* How long is waited for the sessions of a run that is over, and how often asked. */
#define SESSIONS_WAIT_MS	5000
#define SESSIONS_PAUSE_MS	10

/* ---------------------------------------------------------- what was counted */

static double
double_column(int column)
{
	bool		isnull;
	Datum		value = sp_history_value(column, &isnull);

	return isnull ? NAN : DatumGetFloat8(value);
}

/* Of the whole server, up to now. */
void
sp_wal_counts_read(sp_wal_counts *counts)
{
	pgstat_clear_snapshot();
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	sp_history_execute(SP_WAL_STATISTICS_QUERY, 0, NULL, NULL, NULL, SPI_OK_SELECT);
	counts->bytes = double_column(1);
	counts->syncs = double_column(2);
	counts->sync_time_ms = track_wal_io_timing ? double_column(5) : NAN;
	SPI_finish();
}

/* Of the current user: anybody else may call itself by that name, too. */
static int
sessions_of(const char *application_name)
{
	Oid			types[] = {TEXTOID, OIDOID};
	Datum		values[] = {CStringGetTextDatum(application_name), ObjectIdGetDatum(GetUserId())};
	bool		isnull;
	int			count;

	pgstat_clear_snapshot();
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	sp_history_execute("SELECT pg_catalog.count(*)::pg_catalog.int4 FROM pg_catalog.pg_stat_activity"
					   " WHERE application_name OPERATOR(pg_catalog.=) $1"
					   " AND usesysid OPERATOR(pg_catalog.=) $2"
					   " AND backend_type OPERATOR(pg_catalog.=) 'client backend'",
					   lengthof(types), types, values, NULL, SPI_OK_SELECT);
	count = DatumGetInt32(sp_history_value(1, &isnull));
	SPI_finish();
	return count;
}

/*
 * Wait until the sessions of a run are gone: only with its end a backend tells
 * the last of what it has counted.
 */
void
sp_workload_wait_for_sessions(const sp_workload_run *run)
{
	uint32		wait_event = sp_wait_event_new("SyncProbeWorkload");

	for (int waited = 0; waited < SESSIONS_WAIT_MS; waited += SESSIONS_PAUSE_MS)
	{
		if (sessions_of(NameStr(run->schema)) == 0)
			return;
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 SESSIONS_PAUSE_MS, wait_event);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
	ereport(WARNING,
			(errmsg("sessions of workload \"%s\" have not ended in time", NameStr(run->workload.name)),
			 errdetail("Part of their WAL may be missing in what is recorded.")));
}

/* ------------------------------------------------------------------- the row */

/* Names of columns and their values, as they are collected. */
typedef struct row_values
{
	StringInfoData columns;
	StringInfoData places;
	int			n;
	Oid			types[MAX_VALUES];
	Datum		values[MAX_VALUES];
	char		nulls[MAX_VALUES];
} row_values;

static void
put(row_values *row, const char *column, Oid type, bool isnull, Datum value)
{
	const char *comma = row->n > 0 ? ", " : "";

	Assert(row->n < MAX_VALUES);
	row->types[row->n] = type;
	row->nulls[row->n] = isnull ? 'n' : ' ';
	row->values[row->n] = isnull ? (Datum) 0 : value;
	row->n++;
	appendStringInfo(&row->columns, "%s%s", comma, column);
	appendStringInfo(&row->places, "%s$%d", comma, row->n);
}

static void
put_int(row_values *row, const char *column, int64 value)
{
	put(row, column, INT8OID, value < 0, Int64GetDatum(value));
}

static void
put_text(row_values *row, const char *column, const char *value)
{
	put(row, column, TEXTOID, value == NULL, value ? CStringGetTextDatum(value) : (Datum) 0);
}

/* Rounded to so many digits; null if it is no number. */
static void
put_number(row_values *row, const char *column, double value, int digits)
{
	Datum		rounded;
	bool		isnull;

	sp_put_number(&rounded, &isnull, value, digits);
	put(row, column, FLOAT8OID, isnull, rounded);
}

/*
 * With fewer values a 95 % confidence interval of the quantile has no upper end,
 * as in histogram.h.
 */
static void
put_quantile_ms(row_values *row, const char *column, const sp_histogram *latencies, double q)
{
	bool		known = latencies->ops > 0 && 1 - pow(q, (double) latencies->ops) >= 0.95;

	put_number(row, column, known ? sp_histogram_quantile_ns(latencies, q) / 1e6 : NAN, 3);
}

static void
put_series(row_values *row, const char *column, const double *values, int n, int digits)
{
	Datum	   *datums = palloc(Max(n, 1) * sizeof(Datum));
	bool	   *nulls = palloc(Max(n, 1) * sizeof(bool));
	int			lower = 1;

	for (int i = 0; i < n; i++)
		sp_put_number(&datums[i], &nulls[i], values[i], digits);
	put(row, column, FLOAT8ARRAYOID, false,
		PointerGetDatum(construct_md_array(datums, nulls, n > 0 ? 1 : 0, &n, &lower, FLOAT8OID,
										   sizeof(float8), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE)));
}

/* Json text, by the server's own functions for it. */
static char *
statements_json(List *statements)
{
	StringInfoData json;
	ListCell   *cell;

	initStringInfo(&json);
	appendStringInfoChar(&json, '[');
	foreach(cell, statements)
	{
		const sp_pgbench_line_statement *statement = lfirst(cell);

		appendStringInfoString(&json, json.len > 1 ? ", {\"statement\": " : "{\"statement\": ");
		escape_json(&json, statement->text);
		if (!isnan(statement->latency_ms))
			appendStringInfo(&json, ", \"latency_ms\": %.3f", statement->latency_ms);
		appendStringInfo(&json, ", \"failures\": " INT64_FORMAT "}", statement->failures);
	}
	appendStringInfoChar(&json, ']');
	return json.data;
}

/*
 * What the sessions of the run have: given in settings, else what role and database
 * have set.  The server's own words, whatever those of settings are.
 */
static char *
synchronous_commit_of(const sp_workload_run *run)
{
	const char *given = sp_workload_setting(run->settings, "synchronous_commit");
	int			nest_level;
	char	   *value;

	if (given == NULL)
		return pstrdup(run->synchronous_commit);
	nest_level = NewGUCNestLevel();
	(void) set_config_option("synchronous_commit", given, PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
	value = pstrdup(GetConfigOption("synchronous_commit", false, false));
	AtEOXact_GUC(false, nest_level);
	return value;
}

/* What decides what a commit costs, besides what was asked for. */
static void
put_configuration(row_values *row, const sp_workload_run *run)
{
	put_text(row, "wal_sync_method", run->wal_sync_method);
	put_text(row, "wal_sync_method_at_end", GetConfigOption("wal_sync_method", false, false));
	put(row, "fsync", BOOLOID, false, BoolGetDatum(enableFsync));
	put_text(row, "synchronous_commit", synchronous_commit_of(run));
	put(row, "full_page_writes", BOOLOID, false, BoolGetDatum(fullPageWrites));
	put_text(row, "shared_buffers", GetConfigOptionByName("shared_buffers", NULL, false));
	put(row, "server_version_num", INT4OID, false, Int32GetDatum(PG_VERSION_NUM));
}

static void
put_workload_request(row_values *row, const sp_workload_run *run)
{
	NameData   *username = palloc(sizeof(NameData));

	namestrcpy(username, GetUserNameFromId(GetUserId(), false));
	put(row, "username", NAMEOID, false, NameGetDatum(username));
	put(row, "workload", NAMEOID, false, NameGetDatum(&run->workload.name));
	put(row, "suite", NAMEOID, false, NameGetDatum(&run->workload.suite));
	put(row, "tablespace", NAMEOID, false, NameGetDatum(&run->tablespace));
	put_int(row, "rows", run->rows);
	put_int(row, "transactions_per_client", run->transactions > 0 ? run->transactions : -1);
	put_text(row, "protocol", run->workload.protocol);
	put(row, "new_connections", BOOLOID, false, BoolGetDatum(run->workload.new_connections));
	put(row, "settings", JSONBOID, run->settings == 0, run->settings);
	put_text(row, "label", run->label);
	put(row, "started_at", TIMESTAMPTZOID, false, TimestampTzGetDatum(run->started_at));
	put(row, "finished_at", TIMESTAMPTZOID, false, TimestampTzGetDatum(run->finished_at));
}

static void
put_workload_outcome(row_values *row, const sp_pgbench_result *result)
{
	const sp_pgbench_summary *summary = &result->summary;
	const sp_histogram *latencies = &result->log.latencies;

	put_int(row, "clients", summary->clients);
	put_int(row, "threads", summary->threads);
	put_int(row, "transactions", summary->transactions);
	put_int(row, "failed", summary->failed);
	put_number(row, "seconds", summary->transactions / summary->tps, 6);
	put_number(row, "tps", summary->tps, 3);
	put_number(row, "connection_ms", summary->connection_ms, 3);
	put_number(row, "latency_mean_ms", summary->latency_mean_ms, 3);
	put_number(row, "latency_stddev_ms", summary->latency_stddev_ms, 3);
	put_quantile_ms(row, "latency_p50_ms", latencies, 0.5);
	put_quantile_ms(row, "latency_p95_ms", latencies, 0.95);
	put_quantile_ms(row, "latency_p99_ms", latencies, 0.99);
	put_number(row, "latency_max_ms", latencies->ops > 0 ? latencies->max_ns / 1e6 : NAN, 3);
	put_series(row, "second_tps", result->second_tps, result->nseconds, 1);
	put_series(row, "second_latency_ms", result->second_latency_ms, result->nseconds, 3);
	put_text(row, "pgbench_version", result->program->version);
}

static void
put_what_was_counted(row_values *row, const sp_wal_counts *before, const sp_wal_counts *after)
{
	/* somebody reset the statistics meanwhile */
	bool		lost = after->bytes < before->bytes || after->syncs < before->syncs;

	put_int(row, "wal_bytes", lost ? -1 : (int64) (after->bytes - before->bytes));
	put_int(row, "wal_syncs", lost ? -1 : (int64) (after->syncs - before->syncs));
	put_number(row, "wal_sync_time_ms", lost ? NAN : after->sync_time_ms - before->sync_time_ms, 3);
}

/* ----------------------------------------------------------------- recording */

typedef struct insertion
{
	row_values	row;
	char	   *statements;
	HeapTuple	recorded;
	MemoryContext context;		/* of the above */
} insertion;

static void
insert(void *arg)
{
	insertion  *insertion = arg;
	row_values *row = &insertion->row;
	int64		result_id = sp_history_next_id("workload_results_result_id_seq");
	MemoryContext before;

	put_int(row, "result_id", result_id);
	put_int(row, "run_group", sp_run_group(result_id));
	put_text(row, "statements", insertion->statements);

	/* the last value is text that the column wants as jsonb */
	sp_history_execute(psprintf("INSERT INTO " SP_SCHEMA ".workload_results (%s) VALUES (%s::pg_catalog.jsonb) RETURNING *",
								row->columns.data, row->places.data),
					   row->n, row->types, row->values, row->nulls, SPI_OK_INSERT_RETURNING);

	/* a column was dropped: then this is not a row of the table's type */
	if (SPI_tuptable->tupdesc->natts != sp_history_row_type("workload_results")->natts)
		elog(ERROR, "sync_probe.workload_results is not as the extension made it");
	before = MemoryContextSwitchTo(insertion->context);
	insertion->recorded = heap_copytuple(SPI_tuptable->vals[0]);
	MemoryContextSwitchTo(before);
}

/* Write the row, and return it in the current memory context. */
HeapTuple
sp_workload_record(const sp_workload_run *run, const sp_pgbench_result *result,
				   const sp_wal_counts *before, const sp_wal_counts *after)
{
	insertion	insertion = {0};

	initStringInfo(&insertion.row.columns);
	initStringInfo(&insertion.row.places);
	put_workload_request(&insertion.row, run);
	put_configuration(&insertion.row, run);
	put_workload_outcome(&insertion.row, result);
	put_what_was_counted(&insertion.row, before, after);
	insertion.statements = statements_json(result->statements);
	insertion.context = CurrentMemoryContext;
	sp_as_history_owner(insert, &insertion);
	return insertion.recorded;
}
