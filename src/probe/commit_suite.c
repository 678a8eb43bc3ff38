/*-------------------------------------------------------------------------
 *
 * commit_suite.c
 *		The suite commit of sync_probe.probe(): its arguments, when it is refused, and its run.
 *
 * What is not given comes from the newest commit_waits(): how many sessions commit, how much WAL,
 * and how often.  However a run ends, the workers end.
 *
 *-------------------------------------------------------------------------
 */
#include "probe/commit_internal.h"

#include <fcntl.h>
#include <math.h>

#include "access/xlogrecord.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "storage/fd.h"
#include "storage/ipc.h"
#include "utils/builtins.h"

#include "compat.h"

int			sp_max_commit_wal_mb = 1024;

#define DEFAULT_WORKERS		8

/* ------------------------------------------------------------------- checks */

/*
 * When the suite must not write WAL: its WAL goes to the archive and to all standbys, and where
 * one of them lags behind, more WAL stays in pg_wal.
 */
static const char refusal_query[] =
	"SELECT detail, hint FROM pg_stat_archiver, (VALUES"
	" (CASE WHEN pg_is_in_recovery() THEN NULL ELSE pg_current_wal_insert_lsn() END)) AS w (lsn),"
	" LATERAL (VALUES"
	" (w.lsn IS NULL, 'This server is a standby, which does not write WAL of its own.',"
	" 'Run it on the primary, or probe with suite ''wal'' here.'),"
	" (NOT current_setting('fsync')::boolean, 'fsync is off, so that no method would sync.',"
	" 'Set fsync = on, or probe with suite ''wal''.'),"
	" (current_setting('archive_mode') <> 'off'"
	" AND last_failed_time > coalesce(last_archived_time, '-infinity'),"
	" 'The last attempt to archive WAL has failed, see pg_stat_archiver.',"
	" 'Wait until archiving works again.'),"
	" (true, (SELECT format('Replication slot \"%s\" retains more WAL than max_wal_size.', slot_name)"
	" FROM pg_replication_slots WHERE pg_wal_lsn_diff(w.lsn, restart_lsn)"
	" > pg_size_bytes(current_setting('max_wal_size')) LIMIT 1),"
	" 'Wait until its consumer has caught up, or drop the slot.')"
	") AS v (refused, detail, hint) WHERE refused AND detail IS NOT NULL LIMIT 1";

/* In the search path of probe(). */
static void
check_server(void)
{
	sp_spi_connect();
	if (SPI_execute(refusal_query, true, 1) != SPI_OK_SELECT)
		elog(ERROR, "could not read the state of archive and replication slots");
	if (SPI_processed > 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cannot run the commit suite now"),
				 errdetail_internal("%s", SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1)),
				 errhint("%s", SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 2))));
	SPI_finish();
}

/*
 * Where sessions commit, workers would be a second load beside theirs, and the group commit that
 * is measured would be that of both.
 */
static void
check_load(void)
{
	sp_load_seen seen;

	sp_load_look(&seen);
	if (sp_load_is_seen(&seen))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("suite \"commit\" cannot run beside the load of this server"),
				 errdetail("In %.1f s, %.1f sessions were committing on average.",
						   seen.seconds, seen.committing),
				 errhint("CALL " SP_SCHEMA ".trial() compares values on that load.")));
}

/* --------------------------------------------------------------------- plan */

static ArrayType *
values_argument(FunctionCallInfo fcinfo, sp_probe_argument arg)
{
	return PG_ARGISNULL(arg) ? NULL : PG_GETARG_ARRAYTYPE_P(arg);
}

/* Who asks for delays wants to know about these, and not about methods. */
static void
plan_values(FunctionCallInfo fcinfo, sp_commit_run *commit)
{
	ArrayType  *methods = values_argument(fcinfo, SP_ARG_METHODS);
	ArrayType  *delays = values_argument(fcinfo, SP_ARG_COMMIT_DELAYS);

	commit->run.wal_sync_method = pstrdup(GetConfigOption("wal_sync_method", false, false));
	/* of new sessions, and not what SET may say here */
	commit->commit_delay = atoi(GetConfigOptionResetString("commit_delay"));
	if (methods || !delays)
		sp_setting_run_add(&commit->run, "wal_sync_method", "", SP_COMMIT_WAIT,
						   commit->run.wal_sync_method, methods);
	if (delays)
		sp_setting_run_add(&commit->run, "commit_delay", " us", SP_COMMIT_WAIT,
						   psprintf("%d", commit->commit_delay), delays);
}

static void
plan_workers(FunctionCallInfo fcinfo, sp_commit_run *commit, const sp_observed_commits *observed)
{
	commit->fewer_allowed = PG_ARGISNULL(SP_ARG_WORKERS);
	if (!commit->fewer_allowed)
		commit->workers_wanted = sp_integer_argument(fcinfo, SP_ARG_WORKERS, sp_probe_arg_names, 1,
													 SP_MAX_COMMIT_WORKERS, "Omit it to use those of commit_waits().");
	else if (observed && observed->committers > 0)
		commit->workers_wanted = (int) Min(observed->committers, SP_MAX_COMMIT_WORKERS);
	else
		commit->workers_wanted = DEFAULT_WORKERS;
}

static void
plan_record_size(FunctionCallInfo fcinfo, sp_commit_run *commit,
				 const sp_observed_commits *observed)
{
	int			min = SizeOfXLogRecord;
	double		size;

	if (!PG_ARGISNULL(SP_ARG_FLUSH_SIZE))
	{
		commit->run.given_load = true;
		commit->run.record_size =
			sp_integer_argument(fcinfo, SP_ARG_FLUSH_SIZE, sp_probe_arg_names, min,
								SP_MAX_COMMIT_RECORD,
								"It is the WAL of one commit in bytes. Omit it to use the average of this cluster.");
		return;
	}
	if (observed && observed->wal_bytes_per_commit > 0)
		size = observed->wal_bytes_per_commit;
	else
	{
		sp_wal_profile profile;

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
		commit->run.interval_us =
			sp_interval_argument(fcinfo, SP_ARG_FLUSH_INTERVAL, sp_probe_arg_names, 1,
								 SP_MAX_INTERVAL_US, "Omit it to commit as often as this cluster.");
		commit->expected_us = commit->run.interval_us;
		return;
	}
	/* written so that what is unknown is none */
	if (observed == NULL || !(observed->wait_us > 0) || !(observed->committers > 0))
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
			 errdetail("Taken from commit_waits() result %.0f.",
					   observed->result_id),
			 errhint("Call commit_waits() again if the load has changed, or pass workers and flush_interval.")));
}

static sp_commit_run *
plan_run(FunctionCallInfo fcinfo)
{
	const char *location = NameStr(*PG_GETARG_NAME(SP_ARG_LOCATION));
	sp_commit_run *commit = palloc0(sizeof(sp_commit_run));
	sp_observed_commits found;
	const sp_observed_commits *observed;

	commit->run.suite = SP_COMMIT_SUITE;
	commit->run.duration_us = sp_probe_duration(fcinfo);
	commit->run.label = sp_label_argument(fcinfo, SP_ARG_LABEL);
	commit->run.stop_early = PG_GETARG_BOOL(SP_ARG_STOP_EARLY);
	sp_location_find(location, &commit->location);
	if (OidIsValid(commit->location.tablespace))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("suite \"%s\" does not apply to location \"%s\"", SP_COMMIT_SUITE, location),
				 errhint("Commits write to pg_wal: SELECT * FROM " SP_SCHEMA ".probe('pg_wal', '" SP_COMMIT_SUITE "').")));
	sp_location_check_privilege(&commit->location);
	sp_await_reload();
	plan_values(fcinfo, commit);
	observed = sp_observed_commits_read(&found) ? &found : NULL;
	plan_workers(fcinfo, commit, observed);
	plan_record_size(fcinfo, commit, observed);
	plan_interval(fcinfo, commit, observed);
	tell_observed_load(commit, observed);
	sp_commit_plan_slots(commit);
	return commit;
}

/* ---------------------------------------------------------------------- run */

static void
measure(sp_commit_run *commit)
{
	commit->directory_fd = OpenTransientFile(commit->location.directory, O_RDONLY | O_DIRECTORY);
	if (commit->directory_fd < 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not open directory \"%s\": %m", commit->location.directory)));
	PG_ENSURE_ERROR_CLEANUP(sp_commit_workers_end, PointerGetDatum(commit));
	{
		sp_commit_rounds(commit);
	}
	PG_END_ENSURE_ERROR_CLEANUP(sp_commit_workers_end, PointerGetDatum(commit));
	sp_commit_workers_end(0, PointerGetDatum(commit));
	dsm_detach(commit->segment);
	(void) CloseTransientFile(commit->directory_fd);
}

/* The arguments of probe(), whose suite is commit. */
Datum
sp_commit_suite(FunctionCallInfo fcinfo)
{
	sp_commit_run *commit = plan_run(fcinfo);

	check_server();
	InitMaterializedSRF(fcinfo, 0);
	(void) sp_cluster_lock_acquire("pg_wal", SP_COMMIT_SUITE, commit->run.duration_us);
	check_load();
	sp_progress_set_phase("measuring");
	measure(commit);
	sp_progress_set_phase("recording");
	sp_process_reload();
	(void) sp_setting_record(&commit->run, PG_GETARG_BOOL(SP_ARG_RECORD) && sp_record_or_tell(),
							 (ReturnSetInfo *) fcinfo->resultinfo);
	sp_cluster_lock_release();
	return (Datum) 0;
}
