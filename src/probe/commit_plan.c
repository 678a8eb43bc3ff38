/*-------------------------------------------------------------------------
 *
 * commit_plan.c
 *		The arguments of probe() for the commit suite, and its plan.
 *
 * What is not given comes from the newest commit_waits(): how many sessions commit, how
 * much WAL, and how often.
 *
 * It must not: write WAL, or start a worker.
 *
 *-------------------------------------------------------------------------
 */
#include "probe/probe.h"

#include <math.h>

#include "access/xlogrecord.h"
#include "catalog/pg_type.h"
#include "common/pg_prng.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"

#include "compat.h"

int			sp_max_commit_wal_mb = 1024;

#define DEFAULT_WORKERS		8

/* ------------------------------------------------------------------- values */

static void
refuse_argument(int arg, const char *why, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("argument \"%s\" %s", sp_probe_arg_names[arg], why),
			 errhint("%s", hint)));
}

/* Prepare the comparison of values with the first one, which is current. */
static void
take_values(FunctionCallInfo fcinfo, int arg, sp_commit_values *values, const char *name,
			const char *unit, const char *current)
{
	sp_setting_comparison *setting = &values->setting;
	sp_setting_values taken;

	sp_setting_values_take(&taken, name, current,
						   PG_ARGISNULL(arg) ? NULL : PG_GETARG_ARRAYTYPE_P(arg));
	values->count = setting->count = taken.count;
	setting->setting = name;
	setting->unit = unit;
	setting->margin = sp_margin;
	setting->deciding = SP_COMMIT_WAIT;
	for (int i = 0; i < values->count; i++)
	{
		values->values[i].text = setting->values[i].value = taken.text[i];
		sp_histogram_reset(&values->values[i].histogram);
	}
	setting->values[values->count].value = taken.text[0];
}

/* Who asks for delays wants to know about these, and not about methods. */
static void
plan_values(FunctionCallInfo fcinfo, sp_commit_run *run)
{
	bool		delays = !PG_ARGISNULL(SP_ARG_COMMIT_DELAYS);

	if (!delays || !PG_ARGISNULL(SP_ARG_METHODS))
		take_values(fcinfo, SP_ARG_METHODS, &run->methods, "wal_sync_method", "",
					run->wal_sync_method);
	if (delays)
		take_values(fcinfo, SP_ARG_COMMIT_DELAYS, &run->delays, "commit_delay", " us",
					psprintf("%d", run->commit_delay));
	for (int i = 0; i < run->methods.count; i++)
	{
		run->methods.values[i].wal_sync_method = run->methods.values[i].text;
		run->methods.values[i].commit_delay = run->commit_delay;
	}
	for (int i = 0; i < run->delays.count; i++)
	{
		run->delays.values[i].wal_sync_method = run->wal_sync_method;
		run->delays.values[i].commit_delay = atoi(run->delays.values[i].text);
	}
	/* the transaction ID of workers matters only where commit_delay may act */
	run->methods.hold_xid = run->commit_delay > 0;
	run->delays.hold_xid = true;
}

/* --------------------------------------------------------------------- load */

static void
plan_workers(FunctionCallInfo fcinfo, sp_commit_run *run, const sp_observed_commits *observed)
{
	run->fewer_allowed = PG_ARGISNULL(SP_ARG_WORKERS);
	if (run->fewer_allowed)
	{
		int			workers = observed && observed->committers > 0 ?
			observed->committers : DEFAULT_WORKERS;

		run->workers_wanted = Min(workers, SP_MAX_COMMIT_WORKERS);
		return;
	}
	run->workers_wanted = PG_GETARG_INT32(SP_ARG_WORKERS);
	if (run->workers_wanted < 1 || run->workers_wanted > SP_MAX_COMMIT_WORKERS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("workers %d is out of range", run->workers_wanted),
				 errdetail("It must be between 1 and %d.", SP_MAX_COMMIT_WORKERS)));
}

static void
plan_record_size(FunctionCallInfo fcinfo, sp_commit_run *run, const sp_wal_profile *profile,
				 const sp_observed_commits *observed)
{
	int			min = SizeOfXLogRecord;
	double		size = profile->server.flush_size;

	run->record_size_source = "statistics";
	if (!PG_ARGISNULL(SP_ARG_FLUSH_SIZE))
	{
		run->record_size = PG_GETARG_INT32(SP_ARG_FLUSH_SIZE);
		run->record_size_source = "argument";
		if (run->record_size < min || run->record_size > SP_MAX_COMMIT_RECORD)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("flush_size %d is out of range", run->record_size),
					 errdetail("It must be between %d and %d bytes, the WAL of one commit.", min,
							   SP_MAX_COMMIT_RECORD),
					 errhint("Omit it to use the average of this cluster.")));
		return;
	}
	if (observed && observed->wal_bytes_per_commit > 0)
	{
		size = observed->wal_bytes_per_commit;
		run->record_size_source = "commit_waits";
	}
	else
		sp_wal_profile_tell_unknown(profile, false);
	run->record_size = (int) Min(Max(rint(size), min), SP_MAX_COMMIT_RECORD);
}

/*
 * Workers pause between two commits as sessions of this cluster do, by Little's law: those
 * that commit, divided by their rate, are the time from one commit to the next, of which
 * the commit is a part.  Without pauses commits would meet more often than they do, and a
 * commit_delay would look better than it is.
 */
static void
plan_interval(FunctionCallInfo fcinfo, sp_commit_run *run, const sp_observed_commits *observed)
{
	double		cycle_us;

	if (!PG_ARGISNULL(SP_ARG_FLUSH_INTERVAL))
	{
		run->interval_us = sp_interval_argument(fcinfo, SP_ARG_FLUSH_INTERVAL, sp_probe_arg_names,
												1, SP_MAX_INTERVAL_US,
												"Omit it to commit as often as this cluster.");
		run->expected_us = run->interval_us;
		return;
	}
	if (observed == NULL || isnan(observed->wait_us) || observed->commits_per_sec <= 0)
		return;
	cycle_us = Min(1e6 * observed->committers / observed->commits_per_sec, SP_MAX_INTERVAL_US);
	run->think_us = (int64) Max(cycle_us - observed->wait_us, 0);
	run->expected_us = cycle_us / run->workers_wanted;
}

/* The load may have been another one when commit_waits() saw it. */
static void
tell_observed_load(const sp_commit_run *run, const sp_observed_commits *observed)
{
	if (observed == NULL || (!run->fewer_allowed && run->interval_us > 0))
		return;
	ereport(NOTICE,
			(errmsg("workers: %d, which commit %s", run->workers_wanted,
					run->interval_us > 0 ? "as often as flush_interval says" :
					run->think_us == 0 ? "without a pause" :
					psprintf("with pauses of %.3g ms", run->think_us / 1e3)),
			 errdetail("Taken from commit_waits() result " INT64_FORMAT ".",
					   observed->result_id),
			 errhint("Call commit_waits() again if the load has changed, or pass workers and flush_interval.")));
}

static void
plan_load(FunctionCallInfo fcinfo, sp_commit_run *run)
{
	sp_observed_commits found;
	sp_wal_profile profile;
	const sp_observed_commits *observed = sp_observed_commits_read(&found) ? &found : NULL;

	sp_wal_profile_read(&profile);
	run->wal_level = profile.wal_level;
	plan_workers(fcinfo, run, observed);
	plan_record_size(fcinfo, run, &profile, observed);
	plan_interval(fcinfo, run, observed);
	tell_observed_load(run, observed);
}

/* --------------------------------------------------------------------- plan */

static void
check_location(FunctionCallInfo fcinfo, sp_commit_run *run)
{
	const char *name = NameStr(*PG_GETARG_NAME(SP_ARG_LOCATION));

	sp_location_find(name, &run->location);
	if (OidIsValid(run->location.tablespace))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("suite \"" SP_COMMIT_SUITE "\" does not apply to location \"%s\"", name),
				 errhint("Commits write to pg_wal: SELECT * FROM " SP_SCHEMA ".probe('pg_wal', '" SP_COMMIT_SUITE "').")));
	sp_location_check_privilege(&run->location);
}

sp_commit_run *
sp_commit_plan(FunctionCallInfo fcinfo)
{
	sp_commit_run *run = MemoryContextAllocExtended(CurrentMemoryContext, sizeof(sp_commit_run),
													MCXT_ALLOC_ZERO);

	run->duration_us = sp_probe_duration(fcinfo);
	if (!PG_ARGISNULL(SP_ARG_DUTY_CYCLE) && PG_GETARG_FLOAT8(SP_ARG_DUTY_CYCLE) != 1)
		refuse_argument(SP_ARG_DUTY_CYCLE, "does not apply to suite \"" SP_COMMIT_SUITE "\"",
						"Use a longer flush_interval or fewer workers for less load.");
	run->label = sp_label_argument(fcinfo, SP_ARG_LABEL);
	run->stop_early = PG_GETARG_BOOL(SP_ARG_STOP_EARLY);
	check_location(fcinfo, run);
	sp_await_reload();
	run->wal_sync_method = pstrdup(GetConfigOption("wal_sync_method", false, false));
	/* of new sessions, and not what SET may say here */
	run->commit_delay = atoi(GetConfigOptionResetString("commit_delay"));
	run->random_seed = pg_prng_uint64(&pg_global_prng_state) & UINT64CONST(0xFFFFFFFFFFFF);
	plan_values(fcinfo, run);
	plan_load(fcinfo, run);
	return run;
}
