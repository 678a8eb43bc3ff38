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

#include <ctype.h>
#include <math.h>

#include "access/htup_details.h"
#include "common/pg_prng.h"
#include "funcapi.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/ipc.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/tuplestore.h"

#include "compat.h"
#include "engine/text/units.h"

const char *const sp_probe_arg_names[] = {
	"location", "suite", "duration", "duty_cycle", "flush_size",
	"flush_interval", "stop_early", "label", "record",
	"methods", "commit_delays", "workers"
};

double		sp_margin = 0.05;

/* ---------------------------------------------------------------- arguments */

static const sp_suite *
suite_argument(const char *name)
{
	const sp_suite *suite = sp_suite_find(name);
	StringInfoData valid;

	if (suite)
		return suite;
	initStringInfo(&valid);
	for (int i = 0; i < sp_suite_count; i++)
		appendStringInfo(&valid, "\"%s\", ", sp_suites[i].name);
	appendStringInfoString(&valid, "\"" SP_COMMIT_SUITE "\"");
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("unrecognized suite \"%s\"", name),
			 isdigit((unsigned char) name[0]) ?
			 errhint("The second argument is the suite. For a time: duration => '%s'.", name) :
			 errhint("Valid suites are %s.", valid.data)));
	return NULL;				/* keep compiler quiet */
}

#define COMMIT_HINT		"Omit it, or use suite => '" SP_COMMIT_SUITE "'."
#define STREAM_HINT		"Omit it. A shorter duration or a lower pg_sync_probe.max_stream_write " \
	"writes less."
#define SEGMENTS_HINT	"Omit it. For less load use a duty_cycle below 1."

/*
 * Arguments that mean nothing to a suite; without a name, to any suite but commit.  A stream
 * has no pace: it writes as fast as it can, in blocks of its own.  In the suite segments
 * flushes follow one another.
 */
static const struct
{
	const char *suite;
	sp_probe_argument arg;
	const char *hint;
}			inapplicable[] = {
	{NULL, SP_ARG_METHODS, COMMIT_HINT},
	{NULL, SP_ARG_COMMIT_DELAYS, COMMIT_HINT},
	{NULL, SP_ARG_WORKERS, COMMIT_HINT},
	{"stream", SP_ARG_DUTY_CYCLE, STREAM_HINT},
	{"stream", SP_ARG_FLUSH_SIZE, STREAM_HINT},
	{"stream", SP_ARG_FLUSH_INTERVAL, STREAM_HINT},
	{"segments", SP_ARG_FLUSH_INTERVAL, SEGMENTS_HINT},
};

static void
refuse_inapplicable(FunctionCallInfo fcinfo, const char *suite)
{
	for (size_t i = 0; i < lengthof(inapplicable); i++)
	{
		sp_probe_argument arg = inapplicable[i].arg;

		if (inapplicable[i].suite && strcmp(inapplicable[i].suite, suite) != 0)
			continue;
		/* probe_run() has not all of them */
		if ((int) arg < PG_NARGS() && !PG_ARGISNULL(arg) &&
			!(arg == SP_ARG_DUTY_CYCLE && PG_GETARG_FLOAT8(arg) == 1))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("argument \"%s\" does not apply to suite \"%s\"",
							sp_probe_arg_names[arg], suite),
					 errhint("%s", inapplicable[i].hint)));
	}
}

/* Without arguments a probe takes so long, writing all the time ... */
#define DEFAULT_DURATION_US		(5 * USECS_PER_SEC)

/*
 * ... and beside a load of commits it writes a fifth of the time for five times as long.  All
 * the time cost 8 clients 6 to 19 % of their commits.
 */
#define GENTLE_DUTY_CYCLE		0.2

/* 1 if it is not given, see be_gentle(). */
static double
duty_cycle_argument(FunctionCallInfo fcinfo)
{
	double		duty_cycle = PG_ARGISNULL(SP_ARG_DUTY_CYCLE) ? 1 :
		PG_GETARG_FLOAT8(SP_ARG_DUTY_CYCLE);

	if (isnan(duty_cycle) || duty_cycle <= 0 || duty_cycle > 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("duty_cycle %g is out of range", duty_cycle),
				 errdetail("It must be greater than 0 and at most 1."),
				 errhint("With 0.2, the probe writes one fifth of the time and sleeps the rest.")));
	return duty_cycle;
}

int64
sp_probe_duration(FunctionCallInfo fcinfo)
{
	if (PG_ARGISNULL(SP_ARG_DURATION))
		return Min(DEFAULT_DURATION_US, sp_max_duration_ms * INT64CONST(1000));
	return sp_interval_argument(fcinfo, SP_ARG_DURATION, sp_probe_arg_names,
								SP_MIN_DURATION_MS * INT64CONST(1000),
								sp_max_duration_ms * INT64CONST(1000),
								"The upper limit is pg_sync_probe.max_duration.");
}

/* Arguments override the statistics of the cluster. */
static void
override_pace(FunctionCallInfo fcinfo, sp_wal_profile *profile)
{
	if (!PG_ARGISNULL(SP_ARG_FLUSH_SIZE))
	{
		int			flush_size = PG_GETARG_INT32(SP_ARG_FLUSH_SIZE);
		int			max = sp_wal_profile_max_flush_size(profile);

		if (flush_size < 1 || flush_size > max)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("flush_size %d is out of range", flush_size),
					 errdetail("It must be between 1 and %d bytes, the size of a probe file.", max),
					 errhint("Omit it to use the average of this cluster.")));
		profile->server.flush_size = flush_size;
		profile->flush_size_source = "argument";
	}
	if (!PG_ARGISNULL(SP_ARG_FLUSH_INTERVAL))
	{
		profile->flush_interval_us =
			sp_interval_argument(fcinfo, SP_ARG_FLUSH_INTERVAL, sp_probe_arg_names, 1, SP_MAX_INTERVAL_US,
								 "Omit it to use the average of this cluster.");
		profile->flush_interval_source = "argument";
	}
}

/* A time with its unit, rounded up or down to two or three digits. */
static char *
rounded_time(double ns, double (*round_off) (double))
{
	if (ns < 1e6)
		return psprintf("%g ms", round_off(ns / 1e3) / 1e3);
	if (ns < 1e9)
		return psprintf("%g ms", round_off(ns / 1e6));
	if (ns < 100e9)
		return psprintf("%g s", round_off(ns / 1e8) / 10);
	return psprintf("%g s", round_off(ns / 1e9));
}

/* The hint: which argument to change, and to what value. */
static char *
way_out(const sp_probe *probe, const sp_min_duration *min)
{
	StringInfoData hint;
	const char *separator = "";

	initStringInfo(&hint);
	appendStringInfoString(&hint, "Use ");
	if (min->duration_ns <= sp_max_duration_ms * 1e6)
	{
		appendStringInfo(&hint, "a duration of at least %s", rounded_time(min->duration_ns, ceil));
		separator = ", or ";
	}
	if (min->duty_cycle > probe->duty_cycle)
	{
		double		duty_cycle = ceil(min->duty_cycle * 1000) / 1000;

		appendStringInfo(&hint, duty_cycle < 1 ? "%sa duty_cycle of at least %g" : "%sa duty_cycle of 1",
						 separator, duty_cycle);
		separator = ", or ";
	}
	if (min->flush_interval_ns >= 1000)
	{
		appendStringInfo(&hint, "%sa flush_interval of at most %s", separator,
						 rounded_time(min->flush_interval_ns, floor));
		separator = ", or ";
	}
	if (separator[0] == '\0')
		appendStringInfoString(&hint, "a larger duty_cycle and a shorter flush_interval");
	appendStringInfoChar(&hint, '.');
	return hint.data;
}

/* Throw an error if the duration is too short for one round of every test case. */
static void
check_duration(const sp_probe *probe)
{
	sp_min_duration min;
	char	   *slices;

	/* how long a segment takes is not known before */
	if (probe->segments.nslots > 0)
		return;
	sp_probe_min_duration(probe, &min);
	if (min.duration_ns <= (double) probe->duration_ns)
		return;

	slices = psprintf("%s (%d test cases of %.3g ms each, divided by a duty_cycle of %g)",
					  rounded_time(min.saturated_ns, ceil), min.saturated_cases,
					  min.saturated_ns * probe->duty_cycle / min.saturated_cases / 1e6, probe->duty_cycle);
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("duration %s is too short for one round of all test cases",
					rounded_time((double) probe->duration_ns, rint)),
			 min.paced_cases == 0 ?
			 errdetail("One round takes at least %s.", slices) :
			 errdetail("One round takes at least %s when paced (the flush_interval), and %s when saturated.",
					   rounded_time(min.paced_ns, ceil), slices),
			 errhint("%s", way_out(probe, &min))));
}

/* Suite wal writes at the cluster's pace; a segment has flushes of its size. */
static void
tell_unknown_pace(const sp_suite *suite, const sp_wal_profile *profile)
{
	bool		paced = strcmp(suite->name, "wal") == 0;

	if (paced || strcmp(suite->name, "segments") == 0)
		sp_wal_profile_tell_unknown(profile, paced);
}

/* -------------------------------------------------------------------- probe */

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
plan_probe(FunctionCallInfo fcinfo, const sp_suite *suite, const sp_wal_profile *profile,
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
	probe->duty_cycle = duty_cycle_argument(fcinfo);
	probe->margin = sp_margin;
	probe->stop_early = PG_GETARG_BOOL(SP_ARG_STOP_EARLY);

	/* the generator of the engine takes 48 bits */
	probe->random_seed = pg_prng_uint64(&pg_global_prng_state) & UINT64CONST(0xFFFFFFFFFFFF);
	sp_callbacks_set(probe, &state->context);
	if (suite->streams)
		sp_stream_prepare(probe);
	suite->plan(probe, &profile->server);
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
be_gentle(FunctionCallInfo fcinfo, const sp_suite *suite, const sp_wal_profile *profile,
		  sp_probe *probe)
{
	int64		max_ns = sp_max_duration_ms * SP_NS_PER_MS;

	if (!PG_ARGISNULL(SP_ARG_DUTY_CYCLE) || suite->streams || !sp_load_is_seen(&profile->seen))
		return;
	probe->duty_cycle = GENTLE_DUTY_CYCLE;
	if (PG_ARGISNULL(SP_ARG_DURATION))
		probe->duration_ns = Min((int64) (probe->duration_ns / GENTLE_DUTY_CYCLE), max_ns);
	ereport(NOTICE,
			(errmsg("sessions of this server are committing: the probe writes %g of the time, for up to %s",
					probe->duty_cycle, rounded_time((double) probe->duration_ns, rint)),
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
look_at_load(FunctionCallInfo fcinfo, const sp_suite *suite, const sp_location *location,
			 sp_wal_profile *profile, sp_probe *probe)
{
	sp_wal_profile_look(profile);
	be_gentle(fcinfo, suite, profile, probe);
	if (OidIsValid(location->tablespace))
	{
		profile->wal_busy_source = NULL;
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
	bool		segments = probe->segments.nslots > 0;
	int64		entries = probe->entries[segments ? SP_SATURATED : probe->deciding];

	if ((segments || probe->judged) && entries < SP_MIN_ENTRIES)
		ereport(NOTICE,
				(errmsg("too few rounds for advice: " INT64_FORMAT " of %d", entries, SP_MIN_ENTRIES),
				 errhint("Use a longer duration.")));
}

/*
 * Measure and record.  Returns the row of the run, and the rows of its measurements, of that
 * row type.
 */
static HeapTuple
probe_with(FunctionCallInfo fcinfo, const char *suite, TupleDesc row_type,
		   HeapTuple rows[SP_MAX_CASES], int *nrows)
{
	sp_location location;
	sp_wal_profile profile;
	sp_run		run = {.location = &location, .profile = &profile};
	probing		state = {0};
	int64		duration_us;
	int64		run_id;
	HeapTuple	row;

	run.suite = suite_argument(suite);
	refuse_inapplicable(fcinfo, suite);
	duration_us = sp_probe_duration(fcinfo);
	run.label = sp_label_argument(fcinfo, SP_ARG_LABEL);
	sp_location_find(NameStr(*PG_GETARG_NAME(SP_ARG_LOCATION)), &location);
	sp_location_check_privilege(&location);
	sp_await_reload();
	sp_wal_profile_read(&profile);
	override_pace(fcinfo, &profile);
	state.probe = plan_probe(fcinfo, run.suite, &profile, duration_us, &state);
	run.probe = state.probe;
	check_duration(state.probe);
	tell_unknown_pace(run.suite, &profile);

	state.context.storage = &state.storage;
	state.context.files = &state.files;
	state.context.progress = sp_cluster_lock_acquire(NameStr(location.name), run.suite->name, duration_us);
	look_at_load(fcinfo, run.suite, &location, &profile, state.probe);
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
	sp_stream_tell_end(run.probe);
	*nrows = sp_measurement_rows(run.probe, run_id, row_type, rows);
	row = sp_record(&run, run_id, row_type, rows, *nrows);
	sp_cluster_lock_release();
	return row;
}

static void
refuse_nulls(FunctionCallInfo fcinfo)
{
	static const sp_probe_argument needed[] = {
		SP_ARG_LOCATION, SP_ARG_SUITE, SP_ARG_STOP_EARLY, SP_ARG_RECORD
	};

	for (size_t i = 0; i < lengthof(needed); i++)
		sp_refuse_null(fcinfo, needed[i], sp_probe_arg_names);
}

/*
 * sync_probe.probe(location, suite, duration, duty_cycle, flush_size,
 * flush_interval, stop_early, label, record, methods, commit_delays, workers)
 */
SP_FUNCTION(sync_probe_probe,
			"name, text, interval, float8, int4, interval, bool, text, bool, text[], int4[], "
			"int4 -> SETOF sync_probe.measurements")
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	HeapTuple	rows[SP_MAX_CASES];
	int			nrows;
	char	   *suite;

	sp_check_circumstances("probe");
	refuse_nulls(fcinfo);
	suite = text_to_cstring(PG_GETARG_TEXT_PP(SP_ARG_SUITE));
	if (strcmp(suite, SP_COMMIT_SUITE) == 0)
		return sp_commit_suite(fcinfo);
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
SP_FUNCTION(sync_probe_probe_run,
			"name, text, interval, float8, int4, interval, bool, text, bool -> sync_probe.runs")
{
	HeapTuple	rows[SP_MAX_CASES];
	int			nrows;

	sp_check_circumstances("probe");
	check_may_probe();
	refuse_nulls(fcinfo);
	return HeapTupleGetDatum(probe_with(fcinfo, text_to_cstring(PG_GETARG_TEXT_PP(SP_ARG_SUITE)),
										sp_history_row_type("measurements"), rows, &nrows));
}
