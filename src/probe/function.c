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

#include "access/htup_details.h"
#include "common/pg_prng.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/ipc.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/tuplestore.h"

#include "compat.h"
#include "engine/text/units.h"

double		sp_margin = 0.05;

/*
 * Beside a load of commits a probe writes a fifth of the time for five times as long.  All
 * the time cost 8 clients 6 to 19 % of their commits.
 */
#define GENTLE_DUTY_CYCLE		0.2

/* The share of the time in which WAL is written or synced, above which no pause is left. */
#define SATURATED_SHARE		0.5

/* The state of a call of probe(), for clean_up(). */
typedef struct probing
{
	sp_probe   *probe;
	sp_probe_context context;
	sp_storage	storage;
	sp_probe_files files;
} probing;

static sp_probe *
plan_probe(FunctionCallInfo fcinfo, const sp_probe_suite *suite, const sp_wal_profile *profile,
		   int64 duration_us, probing *state)
{
	sp_probe   *probe = MemoryContextAllocExtended(CurrentMemoryContext, sizeof(sp_probe),
												   MCXT_ALLOC_ZERO);
	char	   *buffer = palloc(SP_BUFFER_SIZE + SP_WAL_PAGE_SIZE);

	/* O_DIRECT needs a buffer that is aligned to the blocks of the device */
	buffer = (char *) TYPEALIGN(SP_WAL_PAGE_SIZE, buffer);
	sp_fill_random(buffer, SP_BUFFER_SIZE);

	probe->buffer = buffer;
	probe->duration_ns = duration_us * 1000;
	probe->flush_interval_ns = profile->flush_interval_us * 1000;
	probe->fsync_off = !enableFsync;
	probe->duty_cycle = sp_duty_cycle_argument(fcinfo);
	probe->margin = sp_margin;
	probe->stop_early = PG_GETARG_BOOL(SP_ARG_STOP_EARLY);

	/* the generator of the engine takes 48 bits */
	probe->random_seed = pg_prng_uint64(&pg_global_prng_state) & UINT64CONST(0xFFFFFFFFFFFF);
	sp_callbacks_set(probe, &state->context);
	probe->data = palloc0(suite->engine->data_size);
	if (suite->prepare)
		suite->prepare(probe);
	sp_probe_plan(probe, suite->engine, &profile->server);
	return probe;
}

/* Also called while the backend exits: must not throw an error. */
static void
clean_up(int code pg_attribute_unused(), Datum arg)
{
	probing    *state = (probing *) DatumGetPointer(arg);

	sp_storage_close(&state->storage);
	sp_probe_files_remove(&state->files);
}

static void
measure_location(probing *state, const sp_location *location)
{
	memset(&state->files, 0, sizeof(state->files));
	state->files.location = location;
	state->files.probe = state->probe;
	state->files.directory_fd = -1;

	sp_progress_set_phase("examining storage");
	sp_storage_examine(location, &state->storage, &state->probe->device);
	state->probe->syncs_nothing = state->storage.syncs_nothing;
	sp_progress_set_phase("writing files");
	(void) sp_probe_files_sweep(location);
	PG_ENSURE_ERROR_CLEANUP(clean_up, PointerGetDatum(state));
	{
		sp_probe_files_create(&state->files);
		/* after the files, which are required; counters are optional */
		if (sp_storage_open(&state->storage))
			sp_callbacks_set_counters(state->probe);
		sp_progress_set_phase("measuring");
		sp_probe_run(state->probe);
		pgstat_report_wait_end();
	}
	PG_END_ENSURE_ERROR_CLEANUP(clean_up, PointerGetDatum(state));
	clean_up(0, PointerGetDatum(state));
}

/* Beside commits of others, be gentle where the caller has not said how much to write. */
static void
be_gentle(FunctionCallInfo fcinfo, const sp_probe_suite *suite, const sp_wal_profile *profile,
		  sp_probe *probe)
{
	int64		max_ns = sp_max_duration_ms * SP_NS_PER_MS;

	if (!PG_ARGISNULL(SP_ARG_DUTY_CYCLE) || !sp_load_is_seen(&profile->seen) ||
		(suite->refused & SP_REFUSE(SP_ARG_DUTY_CYCLE)) != 0)
		return;
	probe->duty_cycle = GENTLE_DUTY_CYCLE;
	if (PG_ARGISNULL(SP_ARG_DURATION))
		probe->duration_ns = Min((int64) (probe->duration_ns / GENTLE_DUTY_CYCLE), max_ns);
	ereport(NOTICE,
			(errmsg("sessions of this server are committing: the probe writes %g of the time, for up to %s",
					probe->duty_cycle, sp_rounded_time((double) probe->duration_ns, rint)),
			 errdetail("In the %.1f s before, %.1f of them did so at a time on average.",
					   SP_LOOK_S, profile->seen.committing),
			 errhint("Give a duty_cycle: with 1 it takes less time, and costs them more.")));
}

/*
 * Look at the server before the first write: what its commits do decides the regime, and how
 * gentle the probe must be.  wal_sync_method acts on pg_wal alone: of a tablespace the load
 * of this cluster says nothing.
 */
static void
look_at_load(FunctionCallInfo fcinfo, const sp_probe_suite *suite, const sp_location *location,
			 sp_wal_profile *profile, sp_probe *probe)
{
	sp_wal_profile_look(profile);
	be_gentle(fcinfo, suite, profile, probe);
	if (OidIsValid(location->tablespace))
	{
		profile->wal_busy = NAN;
		return;
	}
	/* who gives a flush interval asks about that pace */
	if (PG_ARGISNULL(SP_ARG_FLUSH_INTERVAL) && profile->wal_busy > SATURATED_SHARE)
	{
		probe->deciding = SP_SATURATED;
		profile->load = psprintf("back to back decides: %s", profile->load);
	}
	probe->load = profile->load;
}

/* A short probe, or a long flush interval: it is recorded, but the advice stays as it was. */
static void
tell_if_too_short(const sp_probe *probe)
{
	int64		samples = probe->samples[probe->deciding];

	if (probe->judged && samples < SP_MIN_SAMPLES)
		ereport(NOTICE,
				(errmsg("too few rounds for advice: " INT64_FORMAT " of %d", samples, SP_MIN_SAMPLES),
				 errhint("Use a longer duration.")));
}

/*
 * Measure and record.  Returns the row of the run, and the rows of its measurements, of that
 * row type.
 */
static HeapTuple
probe_with(FunctionCallInfo fcinfo, const sp_probe_suite *suite, TupleDesc row_type,
		   HeapTuple rows[SP_MAX_CASES], int *nrows)
{
	sp_location location;
	sp_wal_profile profile;
	sp_run		run = {.suite = suite, .location = &location, .profile = &profile};
	probing		state = {0};
	int64		duration_us;
	int64		run_id;
	HeapTuple	row;

	duration_us = sp_probe_duration(fcinfo);
	run.label = sp_label_argument(fcinfo, SP_ARG_LABEL);
	sp_location_find(NameStr(*PG_GETARG_NAME(SP_ARG_LOCATION)), &location);
	sp_location_check_privilege(&location);
	sp_await_reload();
	sp_wal_profile_read(&profile);
	sp_pace_arguments(fcinfo, &profile);
	state.probe = plan_probe(fcinfo, suite, &profile, duration_us, &state);
	run.probe = state.probe;
	sp_check_duration(state.probe);
	if (suite->uses_flush_size)
		sp_wal_profile_tell_unknown(&profile,
									(suite->refused & SP_REFUSE(SP_ARG_FLUSH_INTERVAL)) == 0);

	state.context.suite = suite;
	state.context.storage = &state.storage;
	state.context.files = &state.files;
	state.context.progress = sp_cluster_lock_acquire(NameStr(location.name), suite->engine->name,
													 duration_us);
	look_at_load(fcinfo, suite, &location, &profile, state.probe);
	state.context.progress->duration_us = state.probe->duration_ns / 1000;
	run.started_at = GetCurrentTimestamp();
	measure_location(&state, &location);
	run.finished_at = GetCurrentTimestamp();
	run.measuring_since = state.context.progress->measuring_since;
	run.storage = &state.storage;
	run.storage_jsonb = sp_storage_jsonb(&state.storage, state.probe);
	sp_progress_set_phase("recording");
	sp_process_reload();

	run_id = PG_GETARG_BOOL(SP_ARG_RECORD) && sp_record_or_tell() ?
		sp_history_next_id("runs_run_id_seq") : 0;
	tell_if_too_short(run.probe);
	if (suite->tell_end)
		suite->tell_end(run.probe);
	*nrows = sp_measurement_rows(&run, run_id, row_type, rows);
	row = sp_record(&run, run_id, row_type, rows, *nrows);
	sp_cluster_lock_release();
	return row;
}

/*
 * sync_probe.probe(location, suite, duration, duty_cycle, flush_size,
 * flush_interval, stop_early, label, record, methods, commit_delays, workers)
 */
PG_FUNCTION_INFO_V1(sync_probe_probe);
Datum
sync_probe_probe(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	HeapTuple	rows[SP_MAX_CASES];
	int			nrows;
	const sp_probe_suite *suite;

	sp_check_circumstances("probe");
	sp_refuse_null_arguments(fcinfo);
	suite = sp_suite_argument(fcinfo);
	if (suite->call)
		return suite->call(fcinfo);
	InitMaterializedSRF(fcinfo, 0);
	(void) probe_with(fcinfo, suite, rsinfo->setDesc, rows, &nrows);
	for (int i = 0; i < nrows; i++)
		tuplestore_puttuple(rsinfo->setResult, rows[i]);
	return (Datum) 0;
}

#define PROBE_SIGNATURE	SP_SCHEMA ".probe(name, text, interval, float8, integer, interval, boolean, " \
	"text, boolean, text[], integer[], integer)"

/* Who may not call probe() may not call what does the same for probe_all(). */
static void
check_may_probe(void)
{
	if (!DatumGetBool(DirectFunctionCall2(has_function_privilege_name,
										  CStringGetTextDatum(PROBE_SIGNATURE),
										  CStringGetTextDatum("EXECUTE"))))
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_FUNCTION, "probe");
}

/*
 * sync_probe_internal.probe_run(location, suite, duration, duty_cycle, flush_size,
 * flush_interval, stop_early, label, record) RETURNS sync_probe.runs
 *
 * The same, and the row of the run: on a standby it is not in the table.
 */
PG_FUNCTION_INFO_V1(sync_probe_probe_run);
Datum
sync_probe_probe_run(PG_FUNCTION_ARGS)
{
	HeapTuple	rows[SP_MAX_CASES];
	int			nrows;

	sp_check_circumstances("probe");
	check_may_probe();
	sp_refuse_null_arguments(fcinfo);
	/* its only caller, probe_all(), asks for suite wal */
	return HeapTupleGetDatum(probe_with(fcinfo, sp_suite_argument(fcinfo),
										sp_history_row_type("measurements"), rows, &nrows));
}
