/*-------------------------------------------------------------------------
 *
 * function.c
 *		sync_probe.probe().
 *
 * However a probe ends (error, cancel, end of the backend), its files are removed.
 * The resource owner releases the cluster lock and the progress.
 *
 *-------------------------------------------------------------------------
 */
#include "probe/probe.h"

#include <math.h>

#include "funcapi.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/tuplestore.h"

#include "engine/text/text.h"

double		sp_margin = 0.05;

/*
 * Beside a load of commits a probe writes a fifth of the time for five times as long.  All
 * the time cost 8 clients 6 to 19 % of their commits.
 */
#define GENTLE_DUTY_CYCLE		0.2

/* The share of the time in which WAL is written or synced, above which no pause is left. */
#define SATURATED_SHARE		0.5

/* Random bytes, which no file system can compress, aligned for O_DIRECT: for the longest write. */
static char *
make_buffer(const sp_probe *probe)
{
	Size		size = SP_FILL_BUFFER_SIZE;
	char	   *buffer;

	/* a flush begins and ends within pages that it writes whole */
	for (int i = 0; i < probe->ncases; i++)
		size = Max(size, probe->cases[i].write_size + 2 * SP_WAL_PAGE_SIZE);
	size = Min(size, SP_WAL_FILE_MAX_SIZE);

	buffer = (char *) TYPEALIGN(SP_WAL_PAGE_SIZE, palloc(size + SP_WAL_PAGE_SIZE));
	if (!pg_strong_random(buffer, size))
		elog(ERROR, "no random bytes");
	return buffer;
}

/* For the whole of that duration. */
void
sp_probe_plan(sp_run *run, int64 duration_us, sp_probing *state)
{
	sp_probe   *probe = run->probe = palloc0(sizeof(sp_probe));

	probe->duration_ns = duration_us * 1000;
	probe->flush_interval_ns = run->profile.flush_interval_us * 1000;
	probe->fsync_off = !enableFsync;
	probe->duty_cycle = 1;
	probe->margin = sp_margin;

	/* the generator of the engine takes 48 bits */
	probe->random_seed = pg_prng_uint64(&pg_global_prng_state) & UINT64CONST(0xFFFFFFFFFFFF);
	sp_callbacks_set(probe, state);
	probe->suite = run->suite->engine;
	probe->data = palloc0(probe->suite->data_size);
	probe->suite->plan(probe, &run->profile.server);
	probe->buffer = make_buffer(probe);
}

/* Also called while the backend exits: must not throw an error. */
static void
clean_up(int code pg_attribute_unused(), Datum arg)
{
	sp_probing *state = (sp_probing *) DatumGetPointer(arg);

	/* a WARNING would serve them */
	HOLD_INTERRUPTS();
	sp_storage_close(&state->run->storage);
	sp_probe_files_remove(state);
	RESUME_INTERRUPTS();
}

void
sp_probe_location(sp_probing *state)
{
	sp_run	   *run = state->run;

	sp_progress_set_phase("examining storage");
	sp_storage_examine(&run->location, &run->storage);
	run->probe->device = sp_storage_facts(&run->storage);
	sp_progress_set_phase("writing files");
	(void) sp_probe_files_sweep(&run->location);
	PG_ENSURE_ERROR_CLEANUP(clean_up, PointerGetDatum(state));
	{
		sp_probe_files_create(state);
		/* after the files, which are required; counters are optional */
		if (!sp_storage_open(&run->storage))
			run->probe->callbacks.read_counters = NULL;
		sp_progress_set_phase("measuring");
		sp_probe_run(run->probe);
	}
	PG_END_ENSURE_ERROR_CLEANUP(clean_up, PointerGetDatum(state));
	clean_up(0, PointerGetDatum(state));
}

/* Beside commits of others, be gentle where the caller has not said how much to write. */
static void
be_gentle(FunctionCallInfo fcinfo, const sp_run *run)
{
	sp_probe   *probe = run->probe;
	int64		max_ns = sp_max_duration_ms * SP_NS_PER_MS;

	if (!PG_ARGISNULL(SP_ARG_DUTY_CYCLE) || !(run->profile.seen.committing > SP_MIN_COMMITTING) ||
		(run->suite->refused & SP_REFUSE(SP_ARG_DUTY_CYCLE)) != 0)
		return;
	probe->duty_cycle = GENTLE_DUTY_CYCLE;
	if (PG_ARGISNULL(SP_ARG_DURATION))
		probe->duration_ns = Min((int64) (probe->duration_ns / GENTLE_DUTY_CYCLE), max_ns);
	ereport(NOTICE,
			(errmsg("sessions of this server are committing: the probe writes %g of the time, for up to %s",
					probe->duty_cycle, sp_rounded_time((double) probe->duration_ns, rint)),
			 errdetail("In the %.1f s before, %.1f of them were committing on average.",
					   SP_LOOK_S, run->profile.seen.committing),
			 errhint("With duty_cycle => 1, probe() takes less time and costs them more.")));
}

/*
 * Look at the server before the first write: what its commits do decides the regime, and how
 * gentle the probe must be.  wal_sync_method acts on pg_wal alone: for a tablespace the load
 * of this cluster means nothing.
 */
static void
look_at_load(FunctionCallInfo fcinfo, sp_run *run)
{
	sp_wal_profile *profile = &run->profile;

	sp_wal_profile_look(profile);
	be_gentle(fcinfo, run);
	if (OidIsValid(run->location.tablespace))
	{
		profile->wal_busy = NAN;
		return;
	}
	/* a given flush interval is a question about that pace */
	if (PG_ARGISNULL(SP_ARG_FLUSH_INTERVAL) && profile->wal_busy > SATURATED_SHARE)
	{
		run->probe->deciding = SP_SATURATED;
		profile->load = psprintf("back to back decides: %s", profile->load);
	}
	run->probe->load = profile->load;
}

/*
 * A short run: it is recorded, but the advice stays as it was.  So it does after a run of a given
 * size or interval, however long.
 */
void
sp_notice_if_too_short(const sp_run *run, int64 samples)
{
	if (samples < SP_MIN_SAMPLES && !run->profile.given)
		ereport(NOTICE,
				(errmsg("too few samples for advice: " INT64_FORMAT " of %d", samples, SP_MIN_SAMPLES),
				 errhint("Use a longer duration.")));
}

static void
measure_files(FunctionCallInfo fcinfo, sp_run *run)
{
	const sp_probe_suite *suite = run->suite;
	sp_probing	state = {.run = run, .directory_fd = -1};
	sp_progress *progress;
	int64		duration_us = sp_probe_duration(fcinfo);

	sp_pace_arguments(fcinfo, &run->profile, 1, sp_wal_profile_max_flush_size(&run->profile));
	sp_probe_plan(run, duration_us, &state);
	run->probe->duty_cycle = sp_duty_cycle_argument(fcinfo);
	run->probe->stop_early = PG_GETARG_BOOL(SP_ARG_STOP_EARLY);
	sp_check_duration(run->probe);
	if ((suite->refused & SP_REFUSE(SP_ARG_FLUSH_SIZE)) == 0)
		sp_wal_profile_notice_unknown(&run->profile,
									(suite->refused & SP_REFUSE(SP_ARG_FLUSH_INTERVAL)) == 0);
	else
		run->profile.server.flush_size = suite->flush_size;

	progress = sp_cluster_lock_acquire("a probe", NameStr(run->location.name), suite->name,
									   duration_us);
	look_at_load(fcinfo, run);
	progress->duration_us = run->probe->duration_ns / 1000;
	run->started_at = GetCurrentTimestamp();
	sp_probe_location(&state);
	run->finished_at = GetCurrentTimestamp();
	run->measuring_since = progress->measuring_since;
	run->storage_jsonb = sp_storage_jsonb(&run->storage, run->probe);
	if (run->probe->judged)
		sp_notice_if_too_short(run, run->probe->samples[run->probe->deciding]);
	if (suite->report_end)
		suite->report_end(run->probe);
}

/* Measure and record.  Sets the rows of the run. */
static void
probe_with(FunctionCallInfo fcinfo, sp_run *run)
{
	sp_check_circumstances("probe");
	sp_refuse_nulls(fcinfo, 1 << SP_ARG_LOCATION | 1 << SP_ARG_SUITE | 1 << SP_ARG_STOP_EARLY |
					1 << SP_ARG_RECORD);
	run->suite = sp_suite_argument(fcinfo);
	run->label = sp_label_argument(fcinfo, SP_ARG_LABEL);
	sp_location_find(NameStr(*PG_GETARG_NAME(SP_ARG_LOCATION)), &run->location);
	sp_location_check_privilege(&run->location);
	sp_await_reload();
	sp_wal_profile_read(&run->profile, sp_busiest_hour_argument(fcinfo));
	if (run->suite->measure)
		run->suite->measure(fcinfo, run);
	else
		measure_files(fcinfo, run);
	sp_progress_set_phase("recording");
	sp_process_reload();
	sp_record(run, PG_GETARG_BOOL(SP_ARG_RECORD));
	sp_cluster_lock_release();
}

/* Internal functions that probe require the privilege to call probe(). */
static void
check_may_probe(void)
{
	Datum		probe = DirectFunctionCall1(regprocin, CStringGetDatum(SP_SCHEMA ".probe"));

	if (!DatumGetBool(DirectFunctionCall2(has_function_privilege_id, probe,
										  CStringGetTextDatum("EXECUTE"))))
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_FUNCTION, "probe");
}

/*
 * sync_probe.probe(location, suite, duration, duty_cycle, flush_size,
 * flush_interval, stop_early, label, record, pace, methods, commit_delays, workers)
 *
 * sync_probe_internal.probe_run(the first ten of these) RETURNS TABLE (run, measured): each row
 * with that of the run.  On a standby it is not in the table.
 */
PG_FUNCTION_INFO_V1(sync_probe_probe);
Datum
sync_probe_probe(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	bool		with_run = PG_NARGS() < SP_PROBE_ARGUMENTS;
	sp_run		run = {0};

	if (with_run)
		check_may_probe();
	InitMaterializedSRF(fcinfo, 0);
	probe_with(fcinfo, &run);
	for (int i = 0; i < run.nmeasurements; i++)
	{
		Datum		values[] = {HeapTupleGetDatum(run.row), HeapTupleGetDatum(run.measurements[i])};

		if (with_run)
			tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, (bool[2]) {false});
		else
			tuplestore_puttuple(rsinfo->setResult, run.measurements[i]);
	}
	return (Datum) 0;
}
