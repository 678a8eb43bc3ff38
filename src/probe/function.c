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

#include "common/pg_prng.h"
#include "funcapi.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/ipc.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#include "compat.h"

const char *const sp_probe_arg_names[] = {
	"location", "suite", "duration", "duty_cycle", "flush_size",
	"flush_interval", "stop_early", "label", "record",
	"methods", "commit_delays", "workers"
};

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
		if (arg == SP_ARG_DUTY_CYCLE ? PG_GETARG_FLOAT8(arg) != 1 : !PG_ARGISNULL(arg))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("argument \"%s\" does not apply to suite \"%s\"",
							sp_probe_arg_names[arg], suite),
					 errhint("%s", inapplicable[i].hint)));
	}
}

static double
duty_cycle_argument(FunctionCallInfo fcinfo)
{
	double		duty_cycle = PG_GETARG_FLOAT8(SP_ARG_DUTY_CYCLE);

	if (isnan(duty_cycle) || duty_cycle <= 0 || duty_cycle > 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("duty_cycle %g is out of range", duty_cycle),
				 errdetail("It must be greater than 0 and at most 1."),
				 errhint("With 0.2, the probe writes one fifth of the time and sleeps the rest.")));
	return duty_cycle;
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
check_duration(FunctionCallInfo fcinfo, const sp_probe *probe)
{
	sp_min_duration min;
	char	   *slices;
	char	   *shown = DatumGetCString(DirectFunctionCall1(interval_out, PG_GETARG_DATUM(SP_ARG_DURATION)));

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
			 errmsg("duration \"%s\" is too short for one round of all test cases", shown),
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
	/* an interval that was given is that of the cluster that is asked about */
	probe->cluster_interval_ns = 1000 *
		(PG_ARGISNULL(SP_ARG_FLUSH_INTERVAL) ? profile->observed_interval_us : profile->flush_interval_us);
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

/* A short probe, or a long flush interval: it is recorded, but the advice stays as it was. */
static void
tell_if_too_short(const sp_probe *probe)
{
	int64		paced = probe->entries[SP_PACED];
	int64		saturated = probe->entries[SP_SATURATED];

	if (probe->segments.nslots > 0 && saturated < SP_FIRST_ANALYSIS_ENTRIES)
		ereport(NOTICE,
				(errmsg("too few rounds for advice: " INT64_FORMAT " of %d", saturated,
						SP_FIRST_ANALYSIS_ENTRIES),
				 errhint("Use a longer duration.")));
	if (probe->judged && Min(paced, saturated) < SP_FIRST_ANALYSIS_ENTRIES)
		ereport(NOTICE,
				(errmsg("too few rounds for advice: paced entries: " INT64_FORMAT ", saturated rounds: "
						INT64_FORMAT "; %d of each are needed",
						paced, saturated, SP_FIRST_ANALYSIS_ENTRIES)));
}

static void
return_and_record(FunctionCallInfo fcinfo, const sp_run *run)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	HeapTuple	rows[SP_MAX_CASES];
	bool		recorded = PG_GETARG_BOOL(SP_ARG_RECORD) && sp_record_or_tell();
	int64		run_id = recorded ? sp_history_next_id("runs_run_id_seq") : 0;
	int			nrows;

	tell_if_too_short(run->probe);
	sp_stream_tell_end(run->probe);

	nrows = sp_measurement_rows(run->probe, run_id, rsinfo->setDesc, rows);
	sp_record(run, run_id, rsinfo->setDesc, rows, nrows);
	for (int i = 0; i < nrows; i++)
		tuplestore_puttuple(rsinfo->setResult, rows[i]);
}

/*
 * sync_probe.probe(location, suite, duration, duty_cycle, flush_size,
 * flush_interval, stop_early, label, record, methods, commit_delays, workers)
 */
SP_FUNCTION(sync_probe_probe,
			"name, text, interval, float8, int4, interval, bool, text, bool, text[], int4[], "
			"int4 -> SETOF sync_probe.measurements")
{
	sp_location location;
	sp_wal_profile profile;
	sp_run		run = {.location = &location, .profile = &profile};
	probing		state = {0};
	int64		duration_us;
	char	   *suite;

	sp_check_circumstances("probe");
	for (int arg = SP_ARG_LOCATION; arg <= SP_ARG_RECORD; arg++)
	{
		if (arg != SP_ARG_FLUSH_SIZE && arg != SP_ARG_FLUSH_INTERVAL && arg != SP_ARG_LABEL)
			sp_refuse_null(fcinfo, arg, sp_probe_arg_names);
	}
	suite = text_to_cstring(PG_GETARG_TEXT_PP(SP_ARG_SUITE));
	if (strcmp(suite, SP_COMMIT_SUITE) == 0)
		return sp_commit_suite(fcinfo);
	run.suite = suite_argument(suite);
	refuse_inapplicable(fcinfo, suite);
	duration_us = sp_interval_argument(fcinfo, SP_ARG_DURATION, sp_probe_arg_names,
									   SP_MIN_DURATION_MS * INT64CONST(1000),
									   sp_max_duration_ms * INT64CONST(1000),
									   "The upper limit is pg_sync_probe.max_duration.");
	run.label = sp_label_argument(fcinfo, SP_ARG_LABEL);
	sp_location_find(NameStr(*PG_GETARG_NAME(SP_ARG_LOCATION)), &location);
	sp_location_check_privilege(&location);
	sp_await_reload();
	sp_wal_profile_read(&profile);
	override_pace(fcinfo, &profile);

	InitMaterializedSRF(fcinfo, 0);
	state.probe = plan_probe(fcinfo, run.suite, &profile, duration_us, &state);
	run.probe = state.probe;
	check_duration(fcinfo, state.probe);
	tell_unknown_pace(run.suite, &profile);

	state.context.storage = &state.storage;
	state.context.files = &state.files;
	state.context.progress = sp_cluster_lock_acquire(NameStr(location.name), run.suite->name, duration_us);
	run.started_at = GetCurrentTimestamp();
	measure_location(&state, &location);
	run.finished_at = GetCurrentTimestamp();
	run.measuring_since = state.context.progress->measuring_since;
	run.storage = &state.storage;
	run.storage_jsonb = sp_storage_jsonb(&state.storage, state.probe);
	sp_progress_set_phase("recording");
	sp_process_reload();
	return_and_record(fcinfo, &run);
	sp_cluster_lock_release();
	return (Datum) 0;
}
