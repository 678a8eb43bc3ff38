/*-------------------------------------------------------------------------
 *
 * commit_suite.c
 *		The suite commit of sync_probe.probe(): real WAL, and the server's group commit.
 *
 * The first round of each setting warms up and does not count.  The rounds of two settings
 * alternate, until both are settled.
 *
 * However a run ends, the workers end.
 *
 *-------------------------------------------------------------------------
 */
#include "probe/probe.h"

#include <fcntl.h>
#include <math.h>

#include "funcapi.h"
#include "miscadmin.h"
#include "storage/fd.h"
#include "storage/ipc.h"
#include "utils/guc.h"

#include "compat.h"

#define ROUND_SECONDS		0.2
#define MIN_SLOT_SECONDS	0.04
#define MAX_SLOT_SECONDS	1.0

/* A slot should hold as many commits: of each worker flat out, of all workers when paced. */
#define SLOT_COMMITS		8

/* The state of a run. */
typedef struct committing
{
	sp_commit_run *commit;
	sp_progress *progress;
	sp_commit_load *load;
	sp_compared *compared;		/* whose round it is */
	bool		warms_up;
	int64		started_ns;
	int			directory_fd;
	double		slot_seconds;
	double		round_seconds;	/* the longest so far */
	bool		over;
	int			looks[SP_MAX_SETTINGS]; /* interim ones that were taken */
	bool		done[SP_MAX_SETTINGS];
} committing;

static double
elapsed_seconds(const committing *state)
{
	return (double) (sp_monotonic_ns() - state->started_ns) / 1e9;
}

static bool
is_delays(const sp_compared *compared)
{
	return strcmp(compared->setting.setting, "commit_delay") == 0;
}

/* ------------------------------------------------------------------- rounds */

/* An sp_slot.  A slow device needs longer ones, which is known after the first round. */
static bool
take_slot(void *context, int value, bool is_control, double *wait_us, double *commits_per_sec)
{
	committing *state = context;
	sp_compared_value *compared = &state->compared->values[value];
	bool		delays = is_delays(state->compared);
	sp_commit_settings settings = {
		.wal_sync_method = delays ? state->commit->run.wal_sync_method : compared->text,
		.commit_delay = delays ? atoi(compared->text) : state->commit->commit_delay,
		/* the transaction ID of workers matters only where commit_delay may act */
		.hold_xid = delays || state->commit->commit_delay > 0
	};
	sp_commit_slot slot;

	/* the control has no figures of its own */
	if (!sp_commit_load_slot(state->load, &settings, state->slot_seconds, &slot,
							 state->warms_up || is_control ? NULL : &compared->histogram))
		return false;
	*wait_us = slot.wait_us;
	*commits_per_sec = slot.commits_per_sec;
	return true;
}

/* The first round: it sets the length of the slots that count. */
static void
warm_up(committing *state, sp_compared *compared)
{
	sp_setting_comparison *setting = &compared->setting;
	double		began = elapsed_seconds(state);

	state->compared = compared;
	state->warms_up = true;
	if (sp_compared_round(compared, take_slot, state))
	{
		/* a slot had no commit at all */
		if (setting->lost_rounds > 0)
			state->slot_seconds = MAX_SLOT_SECONDS;
		for (int v = 0; v <= setting->count && setting->rounds > 0; v++)
			state->slot_seconds = Max(state->slot_seconds,
									  SLOT_COMMITS * setting->values[v].wait_us[0] / 1e6);
		state->slot_seconds = Min(state->slot_seconds, MAX_SLOT_SECONDS);
		state->round_seconds = Max(state->round_seconds, elapsed_seconds(state) - began);
	}
	state->warms_up = false;
	setting->rounds = setting->lost_rounds = 0;
}

static void
look_if_due(committing *state, int i)
{
	sp_compared *compared = &state->commit->run.settings[i];
	int			due = sp_looks_due((int64) (elapsed_seconds(state) * 1e6),
								   state->commit->run.duration_us);

	if (!state->commit->stop_early || due <= state->looks[i])
		return;
	state->looks[i] = due;
	sp_compared_judge(compared, sp_look_alpha(due));
	state->done[i] = sp_is_settled(&compared->setting.comparison, &compared->setting.judgement);
}

static void
run_round(committing *state, int i)
{
	double		began = elapsed_seconds(state);

	state->compared = &state->commit->run.settings[i];
	if (!sp_compared_round(state->compared, take_slot, state))
		return;
	state->round_seconds = Max(state->round_seconds, elapsed_seconds(state) - began);
	state->progress->rounds++;
	look_if_due(state, i);
}

/* ------------------------------------------------------------------- limits */

static void
end_early(committing *state, const char *why, const char *hint)
{
	ereport(NOTICE,
			(errmsg("the commit suite ends early: %s", why),
			 hint ? errhint("%s", hint) : 0));
	state->over = true;
}

static void
check_limits(committing *state)
{
	int64		limit = sp_commit_load_max_wal_bytes(state->load);
	double		committing = sp_commit_load_others(state->load);

	if (sp_commit_load_wal_is_used_up(state->load))
		end_early(state, psprintf("it has written %s of WAL", sp_pretty_bytes(limit)),
				  limit < sp_max_commit_wal_mb * INT64CONST(1024) * 1024 ?
				  "Free space in pg_wal limits it." : "pg_sync_probe.max_commit_wal limits it.");
	else if (committing > SP_MIN_COMMITTING)
		end_early(state, psprintf("%.1f sessions of this server are committing now", committing),
				  "CALL " SP_SCHEMA ".trial() compares values on that load.");
}

/* What is free above the server's own need.  A full pg_wal stops the cluster. */
static int64
free_bytes(const committing *state)
{
	const sp_location *location = &state->commit->location;
	int64		reserve;
	int64		available = sp_location_space(location, state->directory_fd, location->directory,
											  0, &reserve);

	if (available < reserve)
		ereport(ERROR,
				(errcode(ERRCODE_DISK_FULL),
				 errmsg("not enough space for the commit suite"),
				 errdetail("%s is available, less than the reserve of %s.",
						   sp_pretty_bytes(available), sp_pretty_bytes(reserve)),
				 errhint("Free some space. WAL must be able to grow to max_wal_size, and pg_sync_probe.reserve_percent of the file system must stay free.")));
	return available - reserve;
}

/* An sp_commit_look: workers of the other kind must not meet those of the server. */
static int64
look(void *context)
{
	committing *state = context;
	const char *now;

	sp_check_client();
	sp_yield_to_drop();
	sp_process_reload();
	now = GetConfigOption("wal_sync_method", false, false);
	if (strcmp(now, state->commit->run.wal_sync_method) != 0)
	{
		end_early(state, psprintf("wal_sync_method was changed to %s", now), NULL);
		return -1;
	}
	return free_bytes(state);
}

/* ---------------------------------------------------------------------- run */

static void
run_all_rounds(committing *state)
{
	sp_setting_run *run = &state->commit->run;
	bool		left = true;

	for (int i = 0; i < run->nsettings && !state->over; i++)
		warm_up(state, &run->settings[i]);
	while (left && !state->over)
	{
		left = false;
		for (int i = 0; i < run->nsettings && !state->over; i++)
		{
			if (state->done[i] ||
				elapsed_seconds(state) + state->round_seconds >= run->duration_us / 1e6)
				continue;
			left = true;
			check_limits(state);
			if (!state->over)
				run_round(state, i);
		}
	}
}

static int
most_slots(const sp_setting_run *run)
{
	int			slots = 0;

	for (int i = 0; i < run->nsettings; i++)
		slots = Max(slots, run->settings[i].count + 1);
	return slots;
}

/* Two rounds of each setting, of which one counts, must fit. */
static void
plan_slots(committing *state)
{
	const sp_setting_run *run = &state->commit->run;
	int			slots = 0;

	state->slot_seconds = Max(ROUND_SECONDS / most_slots(run), MIN_SLOT_SECONDS);
	state->slot_seconds = Max(state->slot_seconds, SLOT_COMMITS * state->commit->expected_us / 1e6);
	state->slot_seconds = Min(state->slot_seconds, MAX_SLOT_SECONDS);
	for (int i = 0; i < run->nsettings; i++)
		slots += 2 * (run->settings[i].count + 1);
	if (run->duration_us / 1e6 < slots * state->slot_seconds)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("duration is too short for the commit suite"),
				 errdetail("A first round and one that counts take %.2g s: %d slots of %.2g s.",
						   slots * state->slot_seconds, slots, state->slot_seconds),
				 errhint("A verdict needs at least %d rounds.", SP_MIN_SAMPLES)));
}

/* Also called while the backend exits: must not throw an error. */
static void
end_workers(int code pg_attribute_unused(), Datum arg)
{
	committing *state = (committing *) DatumGetPointer(arg);

	sp_commit_load_abandon(state->load);
}

static void
commit_with_workers(committing *state)
{
	sp_commit_run *commit = state->commit;
	sp_commit_demand demand = {
		.workers = commit->workers_wanted,
		.fewer_allowed = commit->fewer_allowed,
		.record_size = commit->run.record_size,
		.interval_us = commit->run.interval_us,
		.think_us = commit->think_us,
		.max_wal_bytes = sp_max_commit_wal_mb * INT64CONST(1024) * 1024,
		.look = look,
		.look_context = state
	};

	PG_ENSURE_ERROR_CLEANUP(end_workers, PointerGetDatum(state));
	{
		commit->run.workers = sp_commit_load_start(state->load, &demand);
		run_all_rounds(state);
		sp_commit_load_finish(state->load);
	}
	PG_END_ENSURE_ERROR_CLEANUP(end_workers, PointerGetDatum(state));
}

/* ------------------------------------------------------------------ verdict */

/* commit_delay acts only while commit_siblings other transactions are active. */
static void
tell_if_few_workers(const committing *state)
{
	const sp_setting_run *run = &state->commit->run;
	int			siblings = atoi(GetConfigOption("commit_siblings", false, false));

	if (is_delays(&run->settings[run->nsettings - 1]) && run->workers <= siblings)
		ereport(NOTICE,
				(errmsg_plural("commit_delay has no effect with fewer than commit_siblings (%d) other transactions; %d worker is too few by itself",
							   "commit_delay has no effect with fewer than commit_siblings (%d) other transactions; %d workers are too few by themselves",
							   run->workers, siblings, run->workers),
				 errhint("Use workers => %d or more.", siblings + 1)));
}

static void
judge(committing *state, int i, double seconds)
{
	sp_compared *compared = &state->commit->run.settings[i];
	int			rounds = compared->setting.rounds;

	/* a settled verdict keeps the intervals that settled it */
	if (!state->done[i])
		sp_compared_judge(compared, state->commit->stop_early ? sp_look_alpha(SP_LOOKS) : SP_ALPHA);
	sp_setting_explain(&compared->setting, compared->reason);
	if (rounds >= SP_MIN_SAMPLES)
		return;
	ereport(NOTICE,
			(errmsg("too few rounds for a verdict on %s: %d of %d", compared->setting.setting,
					rounds, SP_MIN_SAMPLES),
			/* of a run that ended early, the reason was said */
			 state->over || rounds == 0 ? 0 :
			 errhint("Use a duration of at least %.0f s.",
					 ceil(seconds * (SP_MIN_SAMPLES + 1) / rounds))));
}

static void
measure(committing *state)
{
	sp_setting_run *run = &state->commit->run;
	double		seconds;

	state->directory_fd = OpenTransientFile(state->commit->location.directory,
											O_RDONLY | O_DIRECTORY);
	if (state->directory_fd < 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not open directory \"%s\": %m", state->commit->location.directory)));
	state->load = sp_commit_load_make();
	sp_progress_set_phase("measuring");
	run->started_at = GetCurrentTimestamp();
	state->started_ns = sp_monotonic_ns();
	commit_with_workers(state);
	run->finished_at = GetCurrentTimestamp();
	seconds = elapsed_seconds(state);
	(void) CloseTransientFile(state->directory_fd);
	tell_if_few_workers(state);
	for (int i = 0; i < run->nsettings; i++)
		judge(state, i, seconds);
}

/* The arguments of probe(), whose suite is commit. */
Datum
sp_commit_suite(FunctionCallInfo fcinfo)
{
	committing	state = {.commit = sp_commit_plan(fcinfo)};
	sp_setting_run *run = &state.commit->run;

	sp_commit_checks();
	InitMaterializedSRF(fcinfo, 0);
	state.progress = sp_cluster_lock_acquire("pg_wal", SP_COMMIT_SUITE, run->duration_us);
	plan_slots(&state);
	sp_commit_check_load();
	measure(&state);
	sp_progress_set_phase("recording");
	sp_process_reload();
	(void) sp_setting_record(run, PG_GETARG_BOOL(SP_ARG_RECORD) && sp_record_or_tell(),
							 (ReturnSetInfo *) fcinfo->resultinfo);
	sp_cluster_lock_release();
	return (Datum) 0;
}
