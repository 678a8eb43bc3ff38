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

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "utils/fmgrprotos.h"

/* The maximum wait for the sessions of a run to end, and the pause between checks. */
#define SESSIONS_WAIT_MS	5000
#define SESSIONS_PAUSE_MS	10

/* Wait until the sessions of a run have ended, when each reports its last statistics. */
void
sp_workload_wait_for_sessions(const sp_workload_run *run)
{
	const char *sessions = psprintf("SELECT pid" SP_WORKLOAD_SESSIONS, NameStr(run->schema),
									GetUserId());

	for (int waited = 0; waited < SESSIONS_WAIT_MS; waited += SESSIONS_PAUSE_MS)
	{
		pgstat_clear_snapshot();
		if (sp_spi_column(sessions, 0, NULL, NULL, SP_AS_CALLER) == NIL)
			return;
		sp_pause(SESSIONS_PAUSE_MS, "SyncProbeWorkload");
	}
	ereport(WARNING,
			(errmsg("sessions of workload \"%s\" have not ended in time", NameStr(run->workload.name)),
			 errdetail("The recorded WAL counters may lack part of their WAL.")));
}

/* ------------------------------------------------------------------- the row */

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

/* The values of settings $1, else of role and database the more special one, else the server. */
#define SYNCHRONOUS_COMMIT \
	"SELECT value FROM (SELECT value, NULL::oid AS setrole, NULL::oid AS setdatabase," \
	" 1 AS priority FROM jsonb_each_text($1) WHERE lower(key) = 'synchronous_commit'" \
	" UNION ALL SELECT substr(c, 20), setrole, setdatabase, 2" \
	" FROM pg_db_role_setting, unnest(setconfig) AS c" \
	" WHERE setdatabase IN (0, $2) AND setrole IN (0, $3)" \
	" AND starts_with(c, 'synchronous_commit=')" \
	" UNION ALL SELECT reset_val, NULL, NULL, 3 FROM pg_settings" \
	" WHERE name = 'synchronous_commit') AS s" \
	" ORDER BY priority, setrole DESC, setdatabase DESC LIMIT 1"

/* That of the sessions of the run. */
static char *
synchronous_commit_of(const sp_workload_run *run)
{
	Oid			types[] = {JSONBOID, OIDOID, OIDOID};
	Datum		values[] = {
		run->settings ? run->settings : DirectFunctionCall1(jsonb_in, CStringGetDatum("{}")),
		ObjectIdGetDatum(MyDatabaseId), ObjectIdGetDatum(GetUserId())
	};

	return linitial(sp_spi_column(SYNCHRONOUS_COMMIT, lengthof(types), types, values,
								  SP_AS_CALLER));
}

/* Settings that affect the cost of a commit, beside the settings that were asked for. */
static Datum
server_settings(const sp_workload_run *run)
{
	static const char *const names[] = {
		"fsync", "full_page_writes", "shared_buffers", "server_version"
	};
	StringInfo	json = makeStringInfo();

	sp_jsonb_begin(json, NULL, '{');
	for (size_t i = 0; i < lengthof(names); i++)
		sp_jsonb_put_text(json, names[i], GetConfigOptionByName(names[i], NULL, false));
	sp_jsonb_put_text(json, "synchronous_commit", synchronous_commit_of(run));
	if (strcmp(run->wal_sync_method, GetConfigOption("wal_sync_method", false, false)) == 0)
		sp_jsonb_put_text(json, "wal_sync_method", run->wal_sync_method);
	appendStringInfoChar(json, '}');
	return sp_jsonb_datum(json);
}

static void
put_workload_request(sp_row *row, const sp_workload_run *run)
{
	sp_row_put_name(row, "workload", NameStr(run->workload.name));
	sp_row_put_name(row, "suite", NameStr(run->workload.suite));
	sp_row_put_name(row, "tablespace", NameStr(run->tablespace));
	sp_row_put_int(row, "rows", INT4OID, run->rows);
	if (run->transactions > 0)
		sp_row_put_int(row, "transactions_per_client", INT4OID, run->transactions);
	if (run->settings != 0)
		sp_row_put(row, "settings", JSONBOID, run->settings);
	sp_row_put(row, "server_settings", JSONBOID, server_settings(run));
	sp_row_put_text(row, "label", run->label);
	sp_row_put(row, "started_at", TIMESTAMPTZOID, TimestampTzGetDatum(run->started_at));
	sp_row_put(row, "finished_at", TIMESTAMPTZOID, TimestampTzGetDatum(run->finished_at));
}

static void
put_workload_outcome(sp_row *row, const sp_workload_run *run, const sp_pgbench_result *result)
{
	const sp_pgbench_summary *summary = &result->summary;
	const sp_histogram *latencies = &result->log.latencies;

	sp_row_put_int(row, "clients", INT4OID, run->clients);
	sp_row_put_int(row, "threads", INT4OID, run->threads);
	sp_row_put_int(row, "transactions", INT8OID, summary->transactions);
	if (summary->failed >= 0)
		sp_row_put_int(row, "failed", INT8OID, summary->failed);
	sp_row_put_number(row, "tps", summary->tps, 6);
	sp_row_put_number(row, "latency_mean_ms", summary->latency_mean_ms, 3);
	put_quantile_ms(row, "latency_p50_ms", latencies, 0.5);
	put_quantile_ms(row, "latency_p99_ms", latencies, 0.99);
	sp_row_put_number(row, "latency_max_ms", latencies->ops > 0 ? latencies->max_ns / 1e6 : NAN, 3);
	sp_row_put_doubles(row, "second_tps", (const double *) result->second_tps.data,
					   result->second_tps.len / sizeof(double));
	sp_row_put(row, "statements", JSONBOID, sp_jsonb_datum(result->statements));
}

/* ----------------------------------------------------------------- recording */

/*
 * All runs of one message of the client are one group, as those of a query over pgbench() or of
 * sql_bench().  Its number is that of its first result.
 */
static int64
run_group(int64 result_id)
{
	static TimestampTz message = 0;
	static int64 group = 0;

	if (message != GetCurrentStatementStartTimestamp())
		group = result_id;
	message = GetCurrentStatementStartTimestamp();
	return group;
}

/* Write the row, and return it in the current memory context. */
HeapTuple
sp_workload_record(const sp_workload_run *run, const sp_pgbench_result *result,
				   const sp_wal_statistics *before, const sp_wal_statistics *after)
{
	TupleDesc	type = sp_history_row_type("workload_results");
	sp_row	   *row = sp_row_make(type);
	HeapTuple	result_row;
	int64		result_id = sp_history_next_id();

	sp_row_put_int(row, "result_id", INT8OID, result_id);
	sp_row_put_int(row, "run_group", INT8OID, run_group(result_id));
	put_workload_request(row, run);
	put_workload_outcome(row, run, result);
	/* if nobody has reset the statistics during the run */
	if (sp_wal_statistics_comparable(before, after))
	{
		sp_row_put_int(row, "wal_bytes", INT8OID, (int64) (after->bytes - before->bytes));
		sp_row_put_int(row, "wal_syncs", INT8OID, (int64) (after->syncs - before->syncs));
	}
	result_row = sp_row_form(row);
	sp_history_insert(type, &result_row, 1);
	return result_row;
}
