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
#include "utils/builtins.h"
#include "utils/guc.h"

#include "compat.h"

int			sp_max_commit_wal_mb = 1024;

#define DEFAULT_WORKERS		8

static void
refuse_argument(const char *what, const char *where, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("%s does not apply to %s", what, where),
			 errhint("%s", hint)));
}

/* ------------------------------------------------------------------- values */

static void
take_values(FunctionCallInfo fcinfo, int arg, sp_setting_run *run, const char *name,
			const char *unit, const char *current)
{
	sp_compared_take(&run->settings[run->nsettings++], name, unit, SP_COMMIT_WAIT, current,
					 PG_ARGISNULL(arg) ? NULL : PG_GETARG_ARRAYTYPE_P(arg));
}

/* Who asks for delays wants to know about these, and not about methods. */
static void
plan_values(FunctionCallInfo fcinfo, sp_commit_run *commit)
{
	bool		delays = !PG_ARGISNULL(SP_ARG_COMMIT_DELAYS);

	if (!delays || !PG_ARGISNULL(SP_ARG_METHODS))
		take_values(fcinfo, SP_ARG_METHODS, &commit->run, "wal_sync_method", "",
					commit->run.wal_sync_method);
	if (delays)
		take_values(fcinfo, SP_ARG_COMMIT_DELAYS, &commit->run, "commit_delay", " us",
					psprintf("%d", commit->commit_delay));
}

/* --------------------------------------------------------------------- load */

static void
plan_workers(FunctionCallInfo fcinfo, sp_commit_run *commit, const sp_observed_commits *observed)
{
	commit->fewer_allowed = PG_ARGISNULL(SP_ARG_WORKERS);
	if (commit->fewer_allowed)
	{
		int			workers = observed && observed->committers > 0 ?
			observed->committers : DEFAULT_WORKERS;

		commit->workers_wanted = Min(workers, SP_MAX_COMMIT_WORKERS);
		return;
	}
	commit->workers_wanted = PG_GETARG_INT32(SP_ARG_WORKERS);
	if (commit->workers_wanted < 1 || commit->workers_wanted > SP_MAX_COMMIT_WORKERS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("workers %d is out of range", commit->workers_wanted),
				 errdetail("It must be between 1 and %d.", SP_MAX_COMMIT_WORKERS)));
}

static void
plan_record_size(FunctionCallInfo fcinfo, sp_commit_run *commit,
				 const sp_observed_commits *observed)
{
	int			min = SizeOfXLogRecord;
	sp_wal_profile profile;
	double		size;

	if (!PG_ARGISNULL(SP_ARG_FLUSH_SIZE))
	{
		commit->run.record_size = PG_GETARG_INT32(SP_ARG_FLUSH_SIZE);
		commit->run.given_load = true;
		if (commit->run.record_size < min || commit->run.record_size > SP_MAX_COMMIT_RECORD)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("flush_size %d is out of range", commit->run.record_size),
					 errdetail("It must be between %d and %d bytes, the WAL of one commit.", min,
							   SP_MAX_COMMIT_RECORD),
					 errhint("Omit it to use the average of this cluster.")));
		return;
	}
	if (observed && observed->wal_bytes_per_commit > 0)
		size = observed->wal_bytes_per_commit;
	else
	{
		sp_wal_profile_read(&profile);
		sp_wal_profile_tell_unknown(&profile, false);
		size = profile.server.flush_size;
	}
	commit->run.record_size = (int) Min(Max(rint(size), min), SP_MAX_COMMIT_RECORD);
}

/*
 * Workers pause between two commits as sessions of this cluster do, by Little's law: those
 * that commit, divided by their rate, are the time from one commit to the next, of which
 * the commit is a part.  Without pauses commits would meet more often than they do, and a
 * commit_delay would look better than it is.
 */
static void
plan_interval(FunctionCallInfo fcinfo, sp_commit_run *commit, const sp_observed_commits *observed)
{
	double		cycle_us;

	if (!PG_ARGISNULL(SP_ARG_FLUSH_INTERVAL))
	{
		commit->run.given_load = true;
		commit->run.interval_us = sp_interval_argument(fcinfo, SP_ARG_FLUSH_INTERVAL, sp_probe_arg_names,
												1, SP_MAX_INTERVAL_US,
												"Omit it to commit as often as this cluster.");
		commit->expected_us = commit->run.interval_us;
		return;
	}
	if (observed == NULL || isnan(observed->wait_us) || observed->commits_per_sec <= 0)
		return;
	cycle_us = Min(1e6 * observed->committers / observed->commits_per_sec, SP_MAX_INTERVAL_US);
	commit->think_us = (int64) Max(cycle_us - observed->wait_us, 0);
	commit->expected_us = cycle_us / commit->workers_wanted;
}

/* The load may have been another one when commit_waits() saw it. */
static void
tell_observed_load(const sp_commit_run *commit, const sp_observed_commits *observed)
{
	if (observed == NULL || (!commit->fewer_allowed && commit->run.interval_us > 0))
		return;
	ereport(NOTICE,
			(errmsg("workers: %d, which commit %s", commit->workers_wanted,
					commit->run.interval_us > 0 ? "as often as flush_interval says" :
					commit->think_us == 0 ? "without a pause" :
					psprintf("with pauses of %.3g ms", commit->think_us / 1e3)),
			 errdetail("Taken from commit_waits() result " INT64_FORMAT ".",
					   observed->result_id),
			 errhint("Call commit_waits() again if the load has changed, or pass workers and flush_interval.")));
}

static void
plan_load(FunctionCallInfo fcinfo, sp_commit_run *commit)
{
	sp_observed_commits found;
	const sp_observed_commits *observed = sp_observed_commits_read(&found) ? &found : NULL;

	plan_workers(fcinfo, commit, observed);
	plan_record_size(fcinfo, commit, observed);
	plan_interval(fcinfo, commit, observed);
	tell_observed_load(commit, observed);
}

/* --------------------------------------------------------------------- plan */

sp_commit_run *
sp_commit_plan(FunctionCallInfo fcinfo)
{
	const char *location = NameStr(*PG_GETARG_NAME(SP_ARG_LOCATION));
	sp_commit_run *commit = palloc0(sizeof(sp_commit_run));

	commit->run.suite = SP_COMMIT_SUITE;
	commit->run.duration_us = sp_probe_duration(fcinfo);
	if (!PG_ARGISNULL(SP_ARG_DUTY_CYCLE) && PG_GETARG_FLOAT8(SP_ARG_DUTY_CYCLE) != 1)
		refuse_argument("argument \"duty_cycle\"", "suite \"" SP_COMMIT_SUITE "\"",
						"Use a longer flush_interval or fewer workers for less load.");
	commit->run.label = sp_label_argument(fcinfo, SP_ARG_LABEL);
	commit->stop_early = PG_GETARG_BOOL(SP_ARG_STOP_EARLY);
	sp_location_find(location, &commit->location);
	if (OidIsValid(commit->location.tablespace))
		refuse_argument("suite \"" SP_COMMIT_SUITE "\"", psprintf("location \"%s\"", location),
						"Commits write to pg_wal: SELECT * FROM " SP_SCHEMA ".probe('pg_wal', '" SP_COMMIT_SUITE "').");
	sp_location_check_privilege(&commit->location);
	sp_await_reload();
	commit->run.wal_sync_method = pstrdup(GetConfigOption("wal_sync_method", false, false));
	/* of new sessions, and not what SET may say here */
	commit->commit_delay = atoi(GetConfigOptionResetString("commit_delay"));
	plan_values(fcinfo, commit);
	plan_load(fcinfo, commit);
	return commit;
}
