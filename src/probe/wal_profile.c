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

#include "compat.h"

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

/* Does this server offer that method?  It is asked without a change. */
bool
sp_server_offers(const char *method)
{
	return set_config_option("wal_sync_method", method, PGC_SIGHUP, PGC_S_SESSION,
							 GUC_ACTION_SAVE, false, DEBUG5, false) != 0;
}

static void
read_methods(sp_wal_profile *profile)
{
	profile->wal_sync_method = pstrdup(GetConfigOption("wal_sync_method", false, false));
	profile->server.current = sp_sync_method_find(profile->wal_sync_method);
	for (size_t i = 0; i < sp_sync_method_count; i++)
		profile->server.offers[i] = sp_server_offers(sp_sync_methods[i].name);
}

/* The maximum flush size: the bytes of WAL that a probe file holds. */
int
sp_wal_profile_max_flush_size(const sp_wal_profile *profile)
{
	return (int) Min(profile->server.segment_size, SP_WAL_FILE_MAX_SIZE);
}

static void
take_size(sp_wal_profile *profile, double bytes_per_flush)
{
	double		size = rint(bytes_per_flush);

	profile->server.flush_size = (int) Min(Max(size, 1), sp_wal_profile_max_flush_size(profile));
	profile->knows_size = true;
}

static void
take_interval(sp_wal_profile *profile, double flushes_per_sec)
{
	profile->flush_interval_us = (int64) Min(Max(1e6 / flushes_per_sec, MIN_INTERVAL_US),
											 DEFAULT_INTERVAL_US);
	profile->knows_interval = true;
}

/* The average since the server's statistics were reset, as far as they have it. */
static void
read_average_pace(sp_wal_profile *profile)
{
	sp_wal_pace pace = sp_wal_pace_read();

	profile->in_recovery = pace.in_recovery;
	if (pace.flushes >= MIN_FLUSHES || pace.in_recovery)
		profile->pace_unknown = pace.unknown;
	if (!(pace.flushes >= MIN_FLUSHES))
		return;
	if (!isnan(pace.bytes_per_flush))
		take_size(profile, pace.bytes_per_flush);
	if (!isnan(pace.flushes_per_sec))
		take_interval(profile, pace.flushes_per_sec);
}

/*
 * From the newest commit_waits(), which saw the cluster lately and for a known time, or from all
 * of the busiest hour; else, also where that hour has few flushes, from the server's statistics.
 */
static void
read_pace(sp_wal_profile *profile)
{
	sp_observed_commits observed;
	bool		found = sp_observed_commits_read(&observed, profile->busiest_hour);

	if (profile->busiest_hour && !found)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the busiest hour of the last week is unknown"),
				 errdetail("No hour of that week in " SP_SCHEMA ".commit_wait_hours has samples of 30 s in all."),
				 errhint("Call " SP_SCHEMA ".commit_waits('1 s') every minute, by pg_cron for example.")));

	profile->server.flush_size = SP_WAL_PAGE_SIZE;
	profile->flush_interval_us = DEFAULT_INTERVAL_US;
	if (found && observed.flushes >= MIN_OBSERVED_FLUSHES)
	{
		profile->observed_busy = observed.wal_busy;
		take_size(profile, observed.bytes_per_flush);
		take_interval(profile, observed.flushes_per_sec);
	}
	else
		read_average_pace(profile);
}

void
sp_wal_profile_notice_unknown(const sp_wal_profile *profile, bool interval_matters)
{
	bool		no_size = !profile->knows_size;
	bool		no_interval = interval_matters && !profile->knows_interval;
	const char *size = psprintf("%d bytes", SP_WAL_PAGE_SIZE);
	const char *interval = psprintf("%d ms", DEFAULT_INTERVAL_US / 1000);

	if (profile->pace_unknown == NULL || !(no_size || no_interval))
		return;
	ereport(NOTICE,
			(errmsg("%s of this server unknown: %s",
					no_size && no_interval ? "flush size and interval" :
					no_size ? "flush size" : "flush interval", profile->pace_unknown),
			 errdetail("%s are used instead.", no_size && no_interval ?
					   psprintf("%s and %s", size, interval) : no_size ? size : interval),
			 profile->in_recovery ?
			 errhint("Give the probe flush_size and flush_interval of the primary: see a run of its own in " SP_SCHEMA ".runs.") :
			 errhint("Call " SP_SCHEMA ".commit_waits() under the usual load. Or reset the statistics, and probe again after %d flushes: %s.",
					 MIN_FLUSHES, SP_WAL_STATISTICS_RESET)));
}

/*
 * A recent commit_waits() that saw commits shows more of the load than a moment does, and an
 * idle moment must not displace it.
 */
void
sp_wal_profile_look(sp_wal_profile *profile)
{
	profile->seen = sp_sampler_look(SP_LOOK_S);
	profile->wal_busy = profile->seen.wal_busy;
	if (!isnan(profile->observed_busy))
		profile->wal_busy = profile->observed_busy;
	profile->load = isnan(profile->wal_busy) ? NULL :
		psprintf("%s WAL was being written or synced %s of the time",
				 isnan(profile->observed_busy) ?
				 psprintf("in the %.1f s before this probe", SP_LOOK_S) :
				 profile->busiest_hour ? "in the busiest hour of the last week" :
				 "in the newest commit_waits() that saw commits",
				 profile->wal_busy == 0 ? "none" : profile->wal_busy < 0.01 ? "less than 1 %" :
				 psprintf("%.0f %%", profile->wal_busy * 100));
}

/* The strings are in the current memory context. */
void
sp_wal_profile_read(sp_wal_profile *profile, bool busiest_hour)
{
	memset(profile, 0, sizeof(*profile));
	profile->busiest_hour = busiest_hour;
	profile->wal_busy = profile->observed_busy = NAN;
	profile->server.segment_size = wal_segment_size;
	profile->server.init_write_size = SP_WAL_INIT_WRITE;
	profile->server.direct_io_open = SP_WAL_DIRECT_IO_OPEN;
	profile->server.direct_io_all = SP_WAL_DIRECT_IO_ALL;
	profile->server.max_stream_bytes = (int64) sp_max_stream_mb * 1024 * 1024;
	profile->server.wal_recycle = wal_recycle;
	profile->server.wal_init_zero = wal_init_zero;
	read_methods(profile);
	read_pace(profile);
}
