/*-------------------------------------------------------------------------
 *
 * wal_statistics.c
 *		The server's statistics about its flushes of WAL.
 *
 * They count from a reset, and survive a clean restart and a promotion.  Two things can
 * make their quotients meaningless.  Since PostgreSQL 18, bytes and flushes are counted in
 * different views, which can be reset at different times.  And time as a standby counts:
 * the server inserts no WAL then, but its walreceiver flushes.
 *
 *-------------------------------------------------------------------------
 */
#include "live/live.h"

#include <math.h>
#include <sys/stat.h>

#include "access/xlog_internal.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "pgstat.h"
#include "utils/builtins.h"

#include "compat.h"
#include "engine/measure/sync_method.h"

/*
 * Two resets count as one if they are at most this share of the shorter time apart: those
 * of one statement are some microseconds apart.
 */
#define MAX_APART			0.01

/* ----------------------------------------------------------------- counters */

void
sp_first_row(double *columns, int n)
{
	for (int i = 0; i < n; i++)
	{
		bool		isnull = true;
		Datum		value = 0;

		if (SPI_processed > 0)
			value = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, i + 1, &isnull);
		columns[i] = isnull ? NAN : DatumGetFloat8(value);
	}
}

/*
 * All that the server has counted since its statistics were reset.  NAN where it has
 * nothing.  A session reports what it has done once a second at most.
 */
void
sp_wal_statistics_read(sp_wal_statistics *statistics)
{
	/* a transaction would see the same again */
	pgstat_clear_snapshot();
	statistics->in_recovery = RecoveryInProgress();
	sp_spi_execute(SP_WAL_STATISTICS_QUERY, 0, NULL, NULL, SP_AS_CALLER);
	sp_first_row((double *) statistics, offsetof(sp_wal_statistics, in_recovery) / sizeof(double));
	SPI_finish();
}

double
sp_wal_statistics_flushes(const sp_wal_statistics *statistics)
{
	const sp_sync_method *method =
		sp_sync_method_find(GetConfigOption("wal_sync_method", false, false));

	/* with open_*, every write is a flush, and the server counts no syncs */
	return method && method->opens_synced ? statistics->writes : statistics->syncs;
}

/* Not if they were reset in between, or if it was a standby. */
bool
sp_wal_statistics_comparable(const sp_wal_statistics *earlier, const sp_wal_statistics *later)
{
	return !earlier->in_recovery && !later->in_recovery &&
		earlier->bytes_since == later->bytes_since &&
		earlier->flushes_since == later->flushes_since;
}

/* ----------------------------------------------------------------- recovery */

/*
 * When this server last became a primary, in seconds since 1970: a promotion begins a
 * timeline, and writes its history file after the walreceiver has ended.  -INFINITY if it
 * never was anything else, INFINITY if it is a standby, and NAN if the file is missing.
 */
static double
recovery_end(void)
{
	char		path[MAXPGPATH];
	TimeLineID	timeline;
	struct stat history;

	if (RecoveryInProgress())
		return INFINITY;
	timeline = GetWALInsertionTimeLine();
	if (timeline == 1)
		return -INFINITY;
	TLHistoryFilePath(path, timeline);
	if (stat(path, &history) != 0)
		return NAN;
	return (double) history.st_mtim.tv_sec + history.st_mtim.tv_nsec / 1e9;
}

static void
put_time(sp_row *row, const char *column, double seconds)
{
	if (!isnan(seconds))
		sp_row_put(row, column, TIMESTAMPTZOID,
				   DirectFunctionCall1(float8_timestamptz, Float8GetDatum(seconds)));
}

/* sync_probe_internal.wal_written(OUT wal_bytes, OUT since, OUT recovery_end) */
PG_FUNCTION_INFO_V1(sync_probe_wal_written);
Datum
sync_probe_wal_written(PG_FUNCTION_ARGS)
{
	sp_row	   *row = sp_row_of_result(fcinfo);
	sp_wal_statistics statistics;

	sp_wal_statistics_read(&statistics);
	sp_row_put_number(row, "wal_bytes", statistics.bytes, 0);
	put_time(row, "since", statistics.bytes_since);
	put_time(row, "recovery_end", recovery_end());
	return HeapTupleGetDatum(sp_row_form(row));
}

/* --------------------------------------------------------------------- pace */

/*
 * The size of a flush is known where the bytes are those of the flushes.  The rate needs more: the
 * whole time must be that of a primary.  On a standby a walreceiver reports what it did only
 * after it had nothing to do for seconds.
 */
sp_wal_pace
sp_wal_pace_read(void)
{
	sp_wal_pace pace = {.bytes_per_flush = NAN, .flushes_per_sec = NAN};
	sp_wal_statistics statistics;
	double		now = (double) GetCurrentTimestamp() / USECS_PER_SEC +
		(POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * (double) SECS_PER_DAY;
	bool		includes_recovery;
	double		apart;
	double		shorter;

	sp_wal_statistics_read(&statistics);
	/* if that is not known, it may */
	includes_recovery = !(statistics.flushes_since >= recovery_end());
	apart = fabs(statistics.bytes_since - statistics.flushes_since);
	shorter = now - Max(statistics.bytes_since, statistics.flushes_since);
	pace.in_recovery = statistics.in_recovery;
	pace.flushes = sp_wal_statistics_flushes(&statistics);
	if (!(apart <= MAX_APART * shorter))
		pace.unknown = "pg_stat_wal and pg_stat_io were reset at different times";
	else if (SP_WAL_STATISTICS_COUNT_RECEIVED || !includes_recovery)
		pace.bytes_per_flush = statistics.bytes / pace.flushes;
	if (pace.in_recovery)
		pace.unknown = "this server is a standby";
	else if (includes_recovery)
		pace.unknown = SP_WAL_STATISTICS_VIEW " includes time as a standby";
	else
		pace.flushes_per_sec = pace.flushes / (now - statistics.flushes_since);
	return pace;
}
