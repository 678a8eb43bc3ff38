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

#include "compat.h"
#include "live/live.h"

/* With fewer flushes the average is not used. */
#define MIN_FLUSHES			1000
#define MIN_OBSERVED_FLUSHES	100

/*
 * Bounds of the flush interval.  Above a clock tick (4 ms) the ranking of the methods
 * no longer changes, and short rounds allow more of them.  Below 0.5 ms the flushes of
 * all methods would not fit.
 */
#define MIN_INTERVAL_US		500
#define DEFAULT_INTERVAL_US		5000

StaticAssertDecl(XLOG_BLCKSZ == SP_WAL_PAGE_SIZE,
				 "the engine writes WAL in pages of 8 kB, this server is built with others");

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

/* Take the mean of a number of flushes. */
static void
take_pace(sp_wal_profile *profile, double bytes_per_flush, double flushes_per_sec,
		  const char *source)
{
	double		size = rint(bytes_per_flush);

	profile->server.flush_size = (int) Min(Max(size, 1), sp_wal_profile_max_flush_size(profile));
	profile->observed_interval_us = (int64) Max(1e6 / flushes_per_sec, 1);
	profile->flush_interval_us = Min(Max(profile->observed_interval_us, MIN_INTERVAL_US),
									 DEFAULT_INTERVAL_US);
	profile->flush_size_source = profile->flush_interval_source = source;
}

/*
 * From the newest commit_waits(), which saw the cluster lately and for a known time; else
 * from the server's statistics, an average since they were reset.
 */
static void
read_pace(sp_wal_profile *profile)
{
	sp_observed_commits observed;
	sp_wal_statistics statistics;

	profile->server.flush_size = SP_WAL_PAGE_SIZE;
	profile->flush_interval_us = DEFAULT_INTERVAL_US;
	profile->flush_size_source = profile->flush_interval_source = "default";
	if (sp_observed_commits_read(&observed) && observed.flushes >= MIN_OBSERVED_FLUSHES)
	{
		take_pace(profile, observed.bytes_per_flush, observed.flushes_per_sec, "commit_waits");
		return;
	}
	sp_wal_statistics_read(&statistics);
	if (statistics.flushes >= MIN_FLUSHES && statistics.seconds > 0)
		take_pace(profile, statistics.bytes / statistics.flushes,
				  statistics.flushes / statistics.seconds, SP_WAL_STATISTICS_VIEW);
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
	profile->server.wal_recycle = wal_recycle;
	profile->server.wal_init_zero = wal_init_zero;
	read_methods(profile);
	read_pace(profile);
}
