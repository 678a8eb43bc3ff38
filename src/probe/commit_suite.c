/*-------------------------------------------------------------------------
 *
 * commit_suite.c
 *		The suite commit of sync_probe.probe(): its arguments, when it is refused, and its run.
 *
 * Arguments that are not given come from the newest commit_waits(): how many sessions commit, how
 * much WAL, and how often.
 *
 *-------------------------------------------------------------------------
 */
#include "probe/commit_internal.h"

#include "access/xlogrecord.h"
#include "executor/spi.h"

int			sp_max_commit_wal_mb = 1024;

#define DEFAULT_WORKERS		8

/* A record of a worker, in bytes of WAL: the server asserts that it holds at least a byte. */
#define MIN_RECORD			((int) (SizeOfXLogRecord + SizeOfXLogRecordDataHeaderShort) + 1)
#define MAX_RECORD			(1024 * 1024)

/*
 * A slot should hold as many commits, where workers pause.  Without pauses each worker commits in
 * it, however long that takes.
 */
#define SLOT_COMMITS		8
#define MIN_SLOT_S			0.05
#define MAX_SLOT_S			1.0

/*
 * When the suite, or the load of a trial, must not write WAL: it goes to the archive and to all
 * standbys, and where one of them lags behind, more WAL stays in pg_wal, or its slot is lost.
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
	" (true, (SELECT format('Replication slot \"%s\" retains more WAL than max_wal_size.',"
	" slot_name) FROM pg_replication_slots WHERE pg_wal_lsn_diff(w.lsn, restart_lsn)"
	" > pg_size_bytes(current_setting('max_wal_size')) LIMIT 1),"
	" 'Wait until its consumer has caught up, or drop the slot.'),"
	/* one that has reserved nothing has a size, too */
	" (true, (SELECT format('Replication slot \"%s\" is lost after %s of WAL, less than twice"
	" pg_sync_probe.max_commit_wal.', slot_name, pg_size_pretty(greatest(safe_wal_size, 0)))"
	" FROM pg_replication_slots WHERE restart_lsn IS NOT NULL AND safe_wal_size"
	" < 2 * pg_size_bytes(current_setting('pg_sync_probe.max_commit_wal')) LIMIT 1),"
	" 'Wait until its consumer has caught up, or raise max_slot_wal_keep_size.')"
	") AS v (refused, detail, hint) WHERE refused AND detail IS NOT NULL LIMIT 1";

/* An error (55000) "cannot ... now" where one of them could suffer. */
void
sp_check_wal_consumers(const char *what)
{
	sp_spi_execute(refusal_query, 0, NULL, NULL, SP_AS_CALLER);
	if (SPI_processed > 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cannot %s now", what),
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
	sp_commit_figures seen = sp_sampler_look(SP_LOOK_S);

	if (seen.committing > SP_MIN_COMMITTING)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("suite \"commit\" cannot run beside the load of this server"),
				 errdetail("In %.1f s, %.1f sessions were committing on average.",
						   SP_LOOK_S, seen.committing),
				 errhint("CALL " SP_SCHEMA ".trial() compares values on that load.")));
}

static void
plan_values(FunctionCallInfo fcinfo, sp_commit_run *commit)
{
	bool		delays = !PG_ARGISNULL(SP_ARG_COMMIT_DELAYS);
	int			given = delays ? SP_ARG_COMMIT_DELAYS : SP_ARG_METHODS;

	if (delays && !PG_ARGISNULL(SP_ARG_METHODS))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cannot specify both methods and commit_delays"),
				 errhint("A run compares the values of one setting.")));
	commit->delays = delays;
	/* of new sessions, and not what SET has changed here */
	commit->commit_delay = pstrdup(GetConfigOptionResetString("commit_delay"));
	sp_compared_choose(&commit->compared, delays ? "commit_delay" : "wal_sync_method",
					   delays ? " us" : "", SP_COMMIT_WAIT,
					   delays ? commit->commit_delay : commit->run->profile.wal_sync_method,
					   PG_ARGISNULL(given) ? NULL : PG_GETARG_ARRAYTYPE_P(given));
}

/*
 * Workers pause between two commits as sessions of this cluster do, by Little's law: those
 * that commit, divided by their rate, are the time from one commit to the next, of which
 * the commit is a part.  Without pauses commits would meet more often than they do, and a
 * commit_delay would look better than it is.
 */
static void
take_observed(FunctionCallInfo fcinfo, sp_commit_run *commit, const sp_observed_commits *seen)
{
	sp_wal_profile *profile = &commit->run->profile;
	const char *siblings = GetConfigOptionResetString("commit_siblings");
	int			least = commit->delays ? atoi(siblings) + 1 : 1;	/* for commit_delay to act */
	double		pause_us;

	/* written so that what is unknown is none */
	if (commit->fewer_allowed && seen->committers > 0)
		commit->run->workers = (int) Min(Max(seen->committers, least), SP_MAX_COMMIT_WORKERS);
	if (PG_ARGISNULL(SP_ARG_FLUSH_SIZE) && seen->wal_bytes_per_commit > 0)
		profile->server.flush_size = (int) Min(seen->wal_bytes_per_commit, MAX_RECORD);
	if (!PG_ARGISNULL(SP_ARG_FLUSH_INTERVAL) || !(seen->committers > 0 && seen->wait_us > 0))
		return;
	pause_us = Max(Min(1e6 * seen->committers / seen->commits_per_sec, SP_MAX_INTERVAL_US) -
				   seen->wait_us, 0);
	commit->interval_us = pause_us / commit->run->workers;
	ereport(NOTICE,
			(errmsg("workers: %d; pauses between commits, as in the %s: %.3g ms",
					commit->run->workers, profile->busiest_hour ? "busiest hour" :
					"newest commit_waits() that saw commits", pause_us / 1e3)));
}

/* How many workers there are, how often they commit, and how much. */
static void
plan_load(FunctionCallInfo fcinfo, sp_commit_run *commit)
{
	sp_run	   *run = commit->run;
	sp_wal_profile *profile = &run->profile;
	sp_observed_commits seen;

	commit->fewer_allowed = PG_ARGISNULL(SP_ARG_WORKERS);
	run->workers = commit->fewer_allowed ? DEFAULT_WORKERS :
		sp_integer_argument(fcinfo, SP_ARG_WORKERS, 1, SP_MAX_COMMIT_WORKERS,
							"Omit it to use those of commit_waits().");
	/* the mean flush of the statistics has several commits, those of earlier runs, too */
	profile->server.flush_size = SP_WAL_PAGE_SIZE;
	profile->flush_interval_us = 0;
	sp_pace_arguments(fcinfo, profile, MIN_RECORD, MAX_RECORD);
	commit->interval_us = profile->flush_interval_us;
	if (sp_observed_commits_read(&seen, profile->busiest_hour))
		take_observed(fcinfo, commit, &seen);
	profile->server.flush_size = Min(Max(profile->server.flush_size, MIN_RECORD), MAX_RECORD);
	commit->slot_s = Min(Max(SLOT_COMMITS * commit->interval_us / 1e6, MIN_SLOT_S), MAX_SLOT_S);
	sp_compared_check_duration(&commit->compared, commit->slot_s);
}

/* Measure the values of one setting. */
void
sp_commit_suite(FunctionCallInfo fcinfo, sp_run *run)
{
	sp_commit_run *commit = palloc0(sizeof(sp_commit_run));

	if (OidIsValid(run->location.tablespace))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("suite \"%s\" does not apply to location \"%s\"", SP_COMMIT_SUITE,
						NameStr(run->location.name)),
				 errhint("Commits write to pg_wal: SELECT * FROM " SP_SCHEMA ".probe('pg_wal', '" SP_COMMIT_SUITE "').")));
	commit->run = run;
	run->compared = &commit->compared;
	commit->compared.duration_us = sp_probe_duration(fcinfo);
	commit->compared.stop_early = PG_GETARG_BOOL(SP_ARG_STOP_EARLY);
	plan_values(fcinfo, commit);
	plan_load(fcinfo, commit);
	sp_check_wal_consumers("run the commit suite");
	(void) sp_cluster_lock_acquire("a probe", "pg_wal", SP_COMMIT_SUITE,
								   commit->compared.duration_us);
	/* workers and this session read the files again while it runs */
	sp_refuse_pending_edits(sp_configuration_files(),
							sp_new_process_show("wal_sync_method").load_time);
	check_load();
	sp_progress_set_phase("measuring");
	sp_commit_measure(commit);
}
