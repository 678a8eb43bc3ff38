/*-------------------------------------------------------------------------
 *
 * wal_statistics.c
 *		What the server's statistics say about its flushes of WAL.
 *
 *-------------------------------------------------------------------------
 */
#include "live/live.h"

#include "executor/spi.h"
#include "pgstat.h"

#include "compat.h"

/* With open_*, every write is a flush, and the server counts no syncs. */
static bool
writes_are_flushes(void)
{
	return strncmp(GetConfigOption("wal_sync_method", false, false), "open_", strlen("open_")) == 0;
}

/*
 * All that the server has counted since its statistics were reset.  All zero if it has
 * none.  A session reports what it has done once a second at most.
 */
void
sp_wal_statistics_read(sp_wal_statistics *statistics)
{
	double		fields[4] = {0};

	/* a transaction would see the same again */
	pgstat_clear_snapshot();
	sp_spi_connect();
	if (SPI_execute(SP_WAL_STATISTICS_QUERY, true, 1) != SPI_OK_SELECT)
		elog(ERROR, "could not read the statistics of WAL");
	for (size_t i = 0; i < lengthof(fields) && SPI_processed == 1; i++)
	{
		bool		isnull;
		Datum		value = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, i + 1, &isnull);

		if (!isnull)
			fields[i] = DatumGetFloat8(value);
	}
	SPI_finish();
	statistics->bytes = fields[0];
	statistics->flushes = writes_are_flushes() ? fields[2] : fields[1];
	statistics->seconds = fields[3];
}
