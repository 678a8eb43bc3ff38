/*-------------------------------------------------------------------------
 *
 * record.c
 *		Record a probe in the history.
 *
 * Rows are inserted as the owner of the tables, so that a role that may probe needs no
 * privileges on the history.
 *
 *-------------------------------------------------------------------------
 */
#include "probe/probe.h"

#include "access/htup_details.h"
#include "access/xlog.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/memutils.h"


/* ------------------------------------------------------------------ the run */

static void
put_probe_request(sp_row *row, const sp_run *run)
{
	const sp_wal_profile *profile = run->profile;

	sp_row_put_text(row, "label", run->label);
	sp_row_put_name(row, "location", NameStr(run->location->name));
	sp_row_put_text(row, "suite", run->suite->engine->name);
	sp_row_put_int(row, "flush_size", INT4OID, profile->server.flush_size);
	sp_row_put_interval(row, "flush_interval", profile->flush_interval_us);
}

void
sp_put_where(sp_row *row, const sp_storage *storage)
{
	sp_row_put_this_server(row);
	sp_row_put_int(row, "server_version_num", INT4OID, PG_VERSION_NUM);
	sp_row_put(row, "fsync", BOOLOID, BoolGetDatum(enableFsync));
	sp_row_put_text(row, "directory", sp_known_text(storage->directory));
	sp_row_put_text(row, "filesystem",
					storage->mount ? sp_known_text(storage->mount->fstype) : NULL);
	sp_row_put_text(row, "device", sp_known_text(storage->disks.top.name));
}

/*
 * Advice rests on runs at the cluster's own pace and size, with samples enough for an interval.
 */
static bool
is_usable_for_advice(const sp_run *run)
{
	const sp_probe *probe = run->probe;

	return probe->judged && probe->samples[probe->deciding] >= SP_MIN_SAMPLES &&
		!run->profile->given;
}

static void
put_probe_outcome(sp_row *row, const sp_run *run)
{
	sp_row_put(row, "started_at", TIMESTAMPTZOID, TimestampTzGetDatum(run->started_at));
	sp_row_put(row, "finished_at", TIMESTAMPTZOID, TimestampTzGetDatum(run->finished_at));
	sp_row_put_text(row, "wal_sync_method", run->profile->wal_sync_method);
	sp_row_put_text(row, "wal_level", run->profile->wal_level);
	sp_row_put(row, "storage", JSONBOID, run->storage_jsonb);
	sp_row_put(row, "usable_for_advice", BOOLOID, BoolGetDatum(is_usable_for_advice(run)));
}

/* run_id: 0 if the run is not recorded */
static HeapTuple
run_row(const sp_run *run, int64 run_id, TupleDesc row_type)
{
	sp_row	   *row = sp_row_make(row_type);

	if (run_id != 0)
		sp_row_put_int(row, "run_id", INT8OID, run_id);
	put_probe_request(row, run);
	sp_put_where(row, run->storage);
	put_probe_outcome(row, run);
	if (run->suite->put_verdict)
		run->suite->put_verdict(row, run);
	return sp_row_form(row);
}

/* ---------------------------------------------------------------- recording */

typedef struct record_args
{
	const sp_run *run;
	int64		run_id;
	HeapTuple	row;
	TupleDesc	row_type;
	TupleDesc	measurement_type;
	HeapTuple  *measurements;
	int			nmeasurements;
} record_args;

static void
record(void *arg)
{
	record_args *args = arg;
	const sp_probe *probe = args->run->probe;
	TupleDesc	sample_type = sp_history_row_type("samples");
	HeapTuple  *samples = palloc(SP_MAX_CASES * sizeof(HeapTuple));
	int			nsamples = 0;
	int			ordinal = 0;

	for (int c = 0; c < probe->ncases; c++)
	{
		if (probe->cases[c].control)
			continue;
		ordinal++;
		if (probe->results[c].histogram.ops > 0)
			samples[nsamples++] = sp_sample_row(probe, c, ordinal, args->run_id, sample_type);
	}
	sp_history_insert("runs", args->row_type, &args->row, 1);
	sp_history_insert("measurements", args->measurement_type, args->measurements, args->nmeasurements);
	sp_history_insert("samples", sample_type, samples, nsamples);
	if (args->run->suite->record)
		args->run->suite->record(args->run, args->run_id);
}

/*
 * Insert a run, its measurements and their samples into the history, unless run_id is 0.
 * Returns the row of the run.
 */
HeapTuple
sp_record(const sp_run *run, int64 run_id, TupleDesc measurement_type,
		  HeapTuple *measurements, int nmeasurements)
{
	record_args args = {
		.run = run,
		.run_id = run_id,
		.row_type = sp_history_row_type("runs"),
		.measurement_type = measurement_type,
		.measurements = measurements,
		.nmeasurements = nmeasurements
	};

	args.row = run_row(run, run_id, args.row_type);
	if (run_id != 0)
		sp_as_history_owner(record, &args);
	return args.row;
}
