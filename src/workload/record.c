/*-------------------------------------------------------------------------
 *
 * record.c
 *		Record a run of a workload, with the WAL counters of the server.
 *
 * The recorded row is also the returned row.  It is inserted as the owner of the
 * history, as in probe/record.c.
 *
 *-------------------------------------------------------------------------
 */
#include "workload/workload.h"

#include <math.h>

#include "access/xlog.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/latch.h"
#include "utils/builtins.h"
#include "utils/guc.h"

#include "compat.h"

/* The maximum wait for the sessions of a run to end, and the pause between checks. */
#define SESSIONS_WAIT_MS	5000
#define SESSIONS_PAUSE_MS	10

/* ------------------------------------------------------------------ sessions */

static int
count_run_sessions(const sp_workload_run *run)
{
	bool		isnull;
	int			count;

	pgstat_clear_snapshot();
	sp_spi_connect();
	sp_history_execute(psprintf("SELECT pg_catalog.count(*)::pg_catalog.int4" SP_WORKLOAD_SESSIONS,
								quote_literal_cstr(NameStr(run->schema)), GetUserId()),
					   0, NULL, NULL, NULL, SPI_OK_SELECT);
	count = DatumGetInt32(sp_history_value(1, &isnull));
	SPI_finish();
	return count;
}

/* Wait until the sessions of a run have ended, when each reports its last statistics. */
void
sp_workload_wait_for_sessions(const sp_workload_run *run)
{
	uint32		wait_event = sp_wait_event_new("SyncProbeWorkload");

	for (int waited = 0; waited < SESSIONS_WAIT_MS; waited += SESSIONS_PAUSE_MS)
	{
		if (count_run_sessions(run) == 0)
			return;
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 SESSIONS_PAUSE_MS, wait_event);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
	ereport(WARNING,
			(errmsg("sessions of workload \"%s\" have not ended in time", NameStr(run->workload.name)),
			 errdetail("The recorded WAL counters may lack part of their WAL.")));
}

/* ------------------------------------------------------------------- the row */

/* Negative is null. */
static void
put_count(sp_row *row, const char *column, Oid type, int64 value)
{
	if (value >= 0)
		sp_row_put_int(row, column, type, value);
}

static void
put_boolean(sp_row *row, const char *column, bool value)
{
	sp_row_put(row, column, BOOLOID, BoolGetDatum(value));
}

/*
 * A quantile; null if there are too few values for a 95 % confidence interval with an
 * upper bound, see histogram.h.
 */
static void
put_quantile_ms(sp_row *row, const char *column, const sp_histogram *latencies, double q)
{
	bool		known = latencies->ops > 0 && 1 - pow(q, (double) latencies->ops) >= 0.95;

	sp_row_put_number(row, column, known ? sp_histogram_quantile_ns(latencies, q) / 1e6 : NAN, 3);
}

static void
put_series(sp_row *row, const char *column, const double *values, int n, int digits)
{
	double	   *rounded = palloc(Max(n, 1) * sizeof(double));

	for (int i = 0; i < n; i++)
		rounded[i] = sp_rounded(values[i], digits);
	sp_row_put_doubles(row, column, rounded, n);
}

static Datum
statements_jsonb(List *statements)
{
	sp_jsonb   *json = sp_jsonb_make();
	ListCell   *cell;

	sp_jsonb_begin_array(json, NULL);
	foreach(cell, statements)
	{
		const sp_pgbench_line_statement *statement = lfirst(cell);

		sp_jsonb_begin_object(json, NULL);
		sp_jsonb_put_text(json, "statement", statement->text);
		if (!isnan(statement->latency_ms))
			sp_jsonb_put_number(json, "latency_ms", statement->latency_ms, 3);
		sp_jsonb_put_number(json, "failures", statement->failures, 0);
		sp_jsonb_end_object(json);
	}
	sp_jsonb_end_array(json);
	return sp_jsonb_datum(json);
}

/*
 * The synchronous_commit of the sessions of the run: that of settings, otherwise that
 * of role and database.  The value is spelled as the server shows it.
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

/* The settings that affect the cost of a commit, beside those that were asked for. */
static void
put_configuration(sp_row *row, const sp_workload_run *run)
{
	sp_row_put_text(row, "wal_sync_method", run->wal_sync_method);
	sp_row_put_text(row, "wal_sync_method_at_end", GetConfigOption("wal_sync_method", false, false));
	put_boolean(row, "fsync", enableFsync);
	sp_row_put_text(row, "synchronous_commit", synchronous_commit_of(run));
	put_boolean(row, "full_page_writes", fullPageWrites);
	sp_row_put_text(row, "shared_buffers", GetConfigOptionByName("shared_buffers", NULL, false));
	sp_row_put_int(row, "server_version_num", INT4OID, PG_VERSION_NUM);
}

static void
put_workload_request(sp_row *row, const sp_workload_run *run)
{
	sp_row_put_name(row, "username", GetUserNameFromId(GetUserId(), false));
	sp_row_put_name(row, "workload", NameStr(run->workload.name));
	sp_row_put_name(row, "suite", NameStr(run->workload.suite));
	sp_row_put_name(row, "tablespace", NameStr(run->tablespace));
	sp_row_put_int(row, "rows", INT4OID, run->rows);
	if (run->transactions > 0)
		sp_row_put_int(row, "transactions_per_client", INT4OID, run->transactions);
	sp_row_put_text(row, "protocol", run->workload.protocol);
	put_boolean(row, "new_connections", run->workload.new_connections);
	if (run->settings != 0)
		sp_row_put(row, "settings", JSONBOID, run->settings);
	sp_row_put_text(row, "label", run->label);
	sp_row_put(row, "started_at", TIMESTAMPTZOID, TimestampTzGetDatum(run->started_at));
	sp_row_put(row, "finished_at", TIMESTAMPTZOID, TimestampTzGetDatum(run->finished_at));
}

static void
put_workload_outcome(sp_row *row, const sp_pgbench_result *result)
{
	const sp_pgbench_summary *summary = &result->summary;
	const sp_histogram *latencies = &result->log.latencies;

	put_count(row, "clients", INT4OID, summary->clients);
	put_count(row, "threads", INT4OID, summary->threads);
	put_count(row, "transactions", INT8OID, summary->transactions);
	put_count(row, "failed", INT8OID, summary->failed);
	sp_row_put_number(row, "seconds", summary->transactions / summary->tps, 6);
	sp_row_put_number(row, "tps", summary->tps, 3);
	sp_row_put_number(row, "connection_ms", summary->connection_ms, 3);
	sp_row_put_number(row, "latency_mean_ms", summary->latency_mean_ms, 3);
	sp_row_put_number(row, "latency_stddev_ms", summary->latency_stddev_ms, 3);
	put_quantile_ms(row, "latency_p50_ms", latencies, 0.5);
	put_quantile_ms(row, "latency_p95_ms", latencies, 0.95);
	put_quantile_ms(row, "latency_p99_ms", latencies, 0.99);
	sp_row_put_number(row, "latency_max_ms", latencies->ops > 0 ? latencies->max_ns / 1e6 : NAN, 3);
	put_series(row, "second_tps", result->second_tps, result->nseconds, 1);
	put_series(row, "second_latency_ms", result->second_latency_ms, result->nseconds, 3);
	sp_row_put_text(row, "pgbench_version", result->program->version);
	sp_row_put(row, "statements", JSONBOID, statements_jsonb(result->statements));
}

static void
put_wal_counts(sp_row *row, const sp_wal_statistics *before, const sp_wal_statistics *after)
{
	/* somebody reset the statistics during the run */
	if (!sp_wal_statistics_comparable(before, after))
		return;
	put_count(row, "wal_bytes", INT8OID, (int64) (after->bytes - before->bytes));
	put_count(row, "wal_syncs", INT8OID, (int64) (after->syncs - before->syncs));
	if (track_wal_io_timing)
		sp_row_put_number(row, "wal_sync_time_ms", after->sync_time_ms - before->sync_time_ms, 3);
}

/* ----------------------------------------------------------------- recording */

#define RESULTS_TABLE	"workload_results"

typedef struct insertion
{
	TupleDesc	type;
	HeapTuple	row;
} insertion;

static void
insert_result(void *arg)
{
	insertion  *insertion = arg;

	sp_history_insert(RESULTS_TABLE, insertion->type, &insertion->row, 1);
}

/* Write the row, and return it in the current memory context. */
HeapTuple
sp_workload_record(const sp_workload_run *run, const sp_pgbench_result *result,
				   const sp_wal_statistics *before, const sp_wal_statistics *after)
{
	insertion	insertion = {.type = sp_history_row_type(RESULTS_TABLE)};
	sp_row	   *row = sp_row_make(insertion.type);
	int64		result_id = sp_history_next_id(RESULTS_TABLE "_result_id_seq");

	sp_row_put_int(row, "result_id", INT8OID, result_id);
	sp_row_put_int(row, "run_group", INT8OID, sp_run_group(result_id));
	put_workload_request(row, run);
	put_configuration(row, run);
	put_workload_outcome(row, result);
	put_wal_counts(row, before, after);
	insertion.row = sp_row_form(row);
	sp_as_history_owner(insert_result, &insertion);
	return insertion.row;
}
