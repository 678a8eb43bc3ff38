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

#include "catalog/pg_type.h"
#include "miscadmin.h"

/*
 * Advice rests on runs at the cluster's own pace and size, with samples enough for an interval.
 */
static bool
is_usable_for_advice(const sp_run *run)
{
	const sp_probe *probe = run->probe;

	if (run->profile.given)
		return false;
	/* values of a setting that had too few are undecided, and the advice is a longer run */
	return run->compared ||
		(probe->judged && probe->samples[probe->deciding] >= SP_MIN_SAMPLES);
}

static HeapTuple
run_row(const sp_run *run, TupleDesc row_type)
{
	const sp_wal_profile *profile = &run->profile;
	const sp_storage *storage = &run->storage;
	const sp_compared *compared = run->compared;
	sp_row	   *row = sp_row_make(row_type);

	if (run->run_id != 0)
		sp_row_put_int(row, "run_id", INT8OID, run->run_id);
	sp_row_put_text(row, "label", run->label);
	sp_row_put_name(row, "location", NameStr(run->location.name));
	sp_row_put_text(row, "suite", run->suite->engine->name);
	sp_row_put_name(row, "workload", run->workload);
	if (run->workers > 0)
		sp_row_put_int(row, "workers", INT4OID, run->workers);
	if (profile->server.flush_size > 0)
		sp_row_put_int(row, "flush_size", INT4OID, profile->server.flush_size);
	if (profile->flush_interval_us > 0)
		sp_row_put_interval(row, "flush_interval", profile->flush_interval_us);
	sp_row_put_this_server(row);
	sp_row_put_int(row, "server_version_num", INT4OID, PG_VERSION_NUM);
	sp_row_put(row, "fsync", BOOLOID, BoolGetDatum(enableFsync));
	sp_row_put_text(row, "directory", sp_known_text(storage->directory));
	sp_row_put_text(row, "filesystem",
					storage->mount ? sp_known_text(storage->mount->fstype) : NULL);
	sp_row_put_text(row, "device", sp_known_text(storage->disks.top.name));
	sp_row_put(row, "started_at", TIMESTAMPTZOID, TimestampTzGetDatum(run->started_at));
	sp_row_put(row, "finished_at", TIMESTAMPTZOID, TimestampTzGetDatum(run->finished_at));
	sp_row_put_text(row, "wal_sync_method", profile->wal_sync_method);
	sp_row_put_text(row, "wal_level", GetConfigOption("wal_level", false, false));
	if (run->storage_jsonb)
		sp_row_put(row, "storage", JSONBOID, run->storage_jsonb);
	sp_row_put(row, "usable_for_advice", BOOLOID, BoolGetDatum(is_usable_for_advice(run)));
	if (compared)
		sp_put_judgement(row, compared->setting.setting, &compared->setting.comparison,
						 &compared->setting.judgement, compared->reason, compared->duration_us);
	else if (run->suite->put_verdict)
		run->suite->put_verdict(row, run);
	return sp_row_form(row);
}

/* Build the rows of the run, and insert them into the history if that is wanted and possible. */
void
sp_record(sp_run *run, bool wanted)
{
	TupleDesc	run_type = sp_history_row_type("runs");

	if (wanted && sp_record_or_tell())
		run->run_id = sp_history_next_id("runs_run_id_seq");
	run->measurement_type = sp_history_row_type("measurements");
	if (run->compared)
		sp_compared_rows(run);
	else
		sp_measurement_rows(run);
	run->row = run_row(run, run_type);
	if (run->run_id == 0)
		return;
	sp_history_insert(run_type, &run->row, 1);
	sp_history_insert(run->measurement_type, run->measurements, run->nmeasurements);
	sp_history_insert(sp_history_row_type("samples"), run->samples, run->nsamples);
	if (run->suite->record)
		run->suite->record(run);
}
