/*-------------------------------------------------------------------------
 *
 * commit_waits.c
 *		sync_probe.commit_waits(): how long the commits of this server wait, and for what.
 *
 * It measures without any write.  Only its result is recorded, as one row.
 *
 *-------------------------------------------------------------------------
 */
#include "live/live.h"

#include <math.h>

#include "access/xlog.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "miscadmin.h"

#include "compat.h"

/* The server's statistics lag by a second, so a shorter time is not worth the reading. */
#define MIN_DURATION_US		(100 * INT64CONST(1000))

int			sp_commit_waits_max_age = 3600;

/* The samples, and the settings at that time. */
typedef struct observation
{
	sp_commit_sums sums;
	TimestampTz started_at;
	const char *wal_sync_method;
	int			commit_delay;
} observation;

static void
observe(observation *seen, int64 duration_us)
{
	sp_sampler *sampler = sp_sampler_make(false, false);
	sp_wal_statistics before;
	sp_wal_statistics after;

	sp_process_reload();
	seen->wal_sync_method = pstrdup(GetConfigOption("wal_sync_method", false, false));
	seen->commit_delay = atoi(GetConfigOptionResetString("commit_delay"));
	seen->started_at = GetCurrentTimestamp();
	sp_wal_statistics_read(&before);
	sp_sampler_start(sampler);
	sp_sampler_run(sampler, duration_us / 1e6);
	seen->sums = *sp_sampler_stop(sampler);
	/* up to 18, a process that sleeps for commit_delay has no wait event, like one that runs */
	if (seen->commit_delay > 0 && SP_WAIT_EVENT_COMMIT_DELAY == 0)
	{
		seen->sums.part[SP_PART_DELAY] = seen->sums.part[SP_PART_RUNNING];
		seen->sums.part[SP_PART_RUNNING] = 0;
	}
	sp_wal_statistics_read(&after);
	/* sessions report their flushes once a second */
	if (duration_us >= USECS_PER_SEC && sp_wal_statistics_comparable(&before, &after))
		seen->sums.flushes = sp_wal_statistics_flushes(&after) - sp_wal_statistics_flushes(&before);
}

static void
put_waits(sp_row *row, const sp_commit_figures *figures)
{
	const double *part_us = figures->part_us;

	sp_row_put_number(row, "commits_per_sec", figures->commits_per_sec, 1);
	sp_row_put_number(row, "commit_wait_us", figures->wait_us, 1);
	sp_row_put_number(row, "wait_share", figures->wait_share, 4);
	sp_row_put_number(row, "sync_us", part_us[SP_PART_SYNC], 1);
	sp_row_put_number(row, "write_us", part_us[SP_PART_WRITE], 1);
	sp_row_put_number(row, "queue_us", part_us[SP_PART_QUEUE], 1);
	sp_row_put_number(row, "commit_delay_us", part_us[SP_PART_DELAY], 1);
	sp_row_put_number(row, "sync_rep_us", part_us[SP_PART_SYNC_REP], 1);
}

static HeapTuple
result_row(const observation *seen, TupleDesc type)
{
	sp_row	   *row = sp_row_make(type);
	sp_commit_figures figures = sp_commit_figures_of(&seen->sums);
	char		answer[1024];

	sp_commit_answer(&seen->sums, seen->commit_delay, answer, sizeof(answer));
	sp_row_put_text(row, "answer", RecoveryInProgress() ?
					"nothing commits on a standby: call it on the primary" :
					!enableFsync ?
					"no: fsync is off, so that commits do not wait for a sync" : answer);
	put_waits(row, &figures);
	sp_row_put_int(row, "committers", INT4OID, seen->sums.committers);
	sp_row_put_number(row, "wal_bytes_per_commit", figures.wal_bytes_per_commit, 0);
	sp_row_put_number(row, "flushes_per_sec", figures.flushes_per_sec, 1);
	sp_row_put_number(row, "wal_busy", figures.wal_busy, 4);
	sp_row_put(row, "started_at", TIMESTAMPTZOID, TimestampTzGetDatum(seen->started_at));
	sp_row_put_interval(row, "duration", (int64) (seen->sums.seconds * 1e6));
	sp_row_put_text(row, "wal_sync_method", seen->wal_sync_method);
	sp_row_put_this_server(row);
	return sp_row_form(row);
}

/* sync_probe.commit_waits(duration interval) RETURNS sync_probe.commit_wait_results */
PG_FUNCTION_INFO_V1(sync_probe_commit_waits);
Datum
sync_probe_commit_waits(PG_FUNCTION_ARGS)
{
	observation seen = {0};
	TupleDesc	type;
	HeapTuple	row;

	sp_check_circumstances("sample commits");
	sp_refuse_nulls(fcinfo, 1);
	observe(&seen, sp_duration_argument(fcinfo, 0, MIN_DURATION_US));
	sp_process_reload();
	type = BlessTupleDesc(sp_history_row_type("commit_wait_results"));
	row = result_row(&seen, type);
	if (sp_record_or_notice())
		sp_history_insert(type, &row, 1);
	return HeapTupleGetDatum(row);
}

bool
sp_observed_commits_read(sp_observed_commits *observed, bool busiest_hour)
{
	Oid			types[] = {BOOLOID, INT4OID, FLOAT8OID};
	Datum		values[] = {
		BoolGetDatum(busiest_hour), Int32GetDatum(sp_commit_waits_max_age),
		Float8GetDatum(SP_MIN_COMMITTING)
	};

	sp_spi_execute("SELECT * FROM " SP_SCHEMA "_internal.observed_commits($1, $2, $3)",
				   lengthof(types), types, values, SP_AS_OWNER);
	sp_first_row((double *) observed, sizeof(*observed) / sizeof(double));
	SPI_finish();
	return !isnan(observed->commits_per_sec);
}
