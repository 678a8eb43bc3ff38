/*-------------------------------------------------------------------------
 *
 * wal_profile.c
 *		How this cluster flushes WAL: methods, open flags, interval, size.
 *
 * All values come from the running server, so that a probe does what the next commit
 * of this cluster does.
 *
 *-------------------------------------------------------------------------
 */
#include "probe/probe.h"

#include <math.h>

#include "access/xlog_internal.h"
#include "executor/spi.h"

#include "compat.h"

/* With fewer flushes the average is not used. */
#define MIN_FLUSHES			1000

/*
 * Bounds of the flush interval.  Above a clock tick (4 ms) the ranking of the methods
 * no longer changes, and short rounds allow more of them.  Below 0.5 ms the flushes of
 * all methods would not fit.
 */
#define MIN_INTERVAL_US		500
#define DEFAULT_INTERVAL_US		5000

StaticAssertDecl(XLOG_BLCKSZ == SP_WAL_PAGE_SIZE,
				 "the engine writes WAL in pages of 8 kB, this server is built with others");

typedef struct wal_statistics
{
	double		bytes;
	double		syncs;
	double		writes;
	double		seconds;
} wal_statistics;

/* All zero if the server has no statistics yet. */
static void
read_wal_statistics(wal_statistics *statistics)
{
	double	   *fields[] = {&statistics->bytes, &statistics->syncs,
		&statistics->writes, &statistics->seconds};

	memset(statistics, 0, sizeof(*statistics));
	sp_spi_connect();
	if (SPI_execute(SP_WAL_STATISTICS_QUERY, true, 1) != SPI_OK_SELECT)
		elog(ERROR, "could not read the statistics of WAL");
	for (int i = 0; i < lengthof(fields) && SPI_processed == 1; i++)
	{
		bool		isnull;
		Datum		value = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, i + 1, &isnull);

		if (!isnull)
			*fields[i] = DatumGetFloat8(value);
	}
	SPI_finish();
}

/* Which methods of the engine does this server offer? */
static void
read_methods(sp_wal_profile *profile)
{
	profile->wal_sync_method = pstrdup(GetConfigOption("wal_sync_method", false, false));
	profile->server.current = sp_sync_method_find(profile->wal_sync_method);
	for (const struct config_enum_entry *entry = wal_sync_method_options; entry->name; entry++)
	{
		for (size_t i = 0; i < sp_sync_method_count; i++)
		{
			if (strcmp(entry->name, sp_sync_methods[i].name) == 0)
				profile->server.offers[i] = true;
		}
	}
}

/* The maximum flush size: the bytes of WAL that a probe file holds. */
int
sp_wal_profile_max_flush_size(const sp_wal_profile *profile)
{
	return (int) Min(profile->server.segment_size, SP_WAL_FILE_MAX_SIZE);
}

static void
read_pace(sp_wal_profile *profile)
{
	wal_statistics statistics;
	double		flushes;
	double		size = 0;

	read_wal_statistics(&statistics);

	/* with open_*, every write is a flush, and the server counts no syncs */
	flushes = profile->server.current && profile->server.current->opens_synced
		? statistics.writes : statistics.syncs;

	profile->server.flush_size = SP_WAL_PAGE_SIZE;
	profile->flush_interval_us = DEFAULT_INTERVAL_US;
	profile->flush_size_source = profile->flush_interval_source = "default";
	if (flushes < MIN_FLUSHES || statistics.seconds <= 0)
		return;

	size = rint(statistics.bytes / flushes);
	profile->server.flush_size = (int) Min(Max(size, 1), sp_wal_profile_max_flush_size(profile));
	profile->observed_interval_us = (int64) Max(statistics.seconds * 1e6 / flushes, 1);
	profile->flush_interval_us = Min(Max(profile->observed_interval_us, MIN_INTERVAL_US),
									 DEFAULT_INTERVAL_US);
	profile->flush_size_source = profile->flush_interval_source = SP_WAL_STATISTICS_VIEW;
}

/* The strings are in the current memory context. */
void
sp_wal_profile_read(sp_wal_profile *profile)
{
	memset(profile, 0, sizeof(*profile));
	profile->wal_level = pstrdup(GetConfigOption("wal_level", false, false));
	profile->server.segment_size = wal_segment_size;
	profile->server.init_write_size = SP_WAL_INIT_WRITE;
	profile->server.direct_io_open = sp_wal_direct_io_open();
	profile->server.direct_io_all = sp_wal_direct_io_all();
	read_methods(profile);
	read_pace(profile);
}
