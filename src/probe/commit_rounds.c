/*-------------------------------------------------------------------------
 *
 * commit_rounds.c
 *		The rounds of the commit suite, and what ends them.
 *
 * A round holds a slot for each value in random order, and a second one for the current
 * value.  The first round of each setting warms up and does not count.  The rounds of two
 * settings alternate, until both are settled.
 *
 * However a run ends, the workers end.
 *
 *-------------------------------------------------------------------------
 */
#include "probe/probe.h"

#include <fcntl.h>
#include <math.h>

#include "common/pg_prng.h"
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

/* Before the workers begin: at most that, and a tenth of the duration. */
#define BASELINE_SECONDS	0.5

/* Other sessions are compared with themselves once a second, with that many commits. */
#define OTHERS_SECONDS		1.0
#define MIN_OTHERS_COMMITS	20
#define MAX_OTHERS_FACTOR	2

/* The state of a run. */
typedef struct commit_running
{
	sp_commit_run *run;
	sp_progress *progress;
	sp_commit_load *load;
	pg_prng_state random;
	int64		started_ns;
	int			directory_fd;
	double		slot_seconds;
	double		others_wait_us; /* before the workers; NAN if too few commits */
	double		others_since;	/* seconds of the run at which others were counted anew */
	double		round_seconds;	/* the longest so far */
	bool		over;
} commit_running;

static double
elapsed_seconds(const commit_running *state)
{
	return (double) (sp_monotonic_ns() - state->started_ns) / 1e9;
}

static int64
setting_max_wal_bytes(void)
{
	return (int64) sp_max_commit_wal_mb * 1024 * 1024;
}

/* ------------------------------------------------------------------- rounds */

/* One slot.  Returns false if it was cut short. */
static bool
run_slot_of(commit_running *state, sp_commit_values *values, int m, bool counts,
			sp_commit_slot *slot)
{
	sp_commit_value *value = sp_commit_member(values, m);
	sp_commit_settings settings = {
		.wal_sync_method = value->wal_sync_method,
		.commit_delay = value->commit_delay,
		.hold_xid = values->hold_xid
	};
	/* the control has no figures of its own */
	bool		shown = counts && m < values->count;

	if (!sp_commit_load_slot(state->load, &settings, state->slot_seconds, slot,
							 shown ? &value->histogram : NULL))
		return false;
	if (shown)
	{
		value->syncs += slot->syncs;
		value->worker_syncs += slot->worker_syncs;
	}
	return true;
}

/* A slow device needs longer slots.  Known after the first round. */
static void
adapt_slot(commit_running *state, const double *wait_us, int n)
{
	for (int i = 0; i < n; i++)
	{
		/* a slot without a commit says nothing */
		if (wait_us[i] > 0)
			state->slot_seconds = Max(state->slot_seconds, SLOT_COMMITS * wait_us[i] / 1e6);
	}
	state->slot_seconds = Min(state->slot_seconds, MAX_SLOT_SECONDS);
}

static void
run_round(commit_running *state, sp_commit_values *values, bool counts)
{
	int			n = values->count + 1;
	int			order[SP_MAX_METHODS + 1];
	double		wait_us[SP_MAX_METHODS + 1];
	double		commits_per_sec[SP_MAX_METHODS + 1];
	double		began = elapsed_seconds(state);

	sp_shuffle(order, n, &state->random);
	for (int i = 0; i < n; i++)
	{
		sp_commit_slot slot;

		if (!run_slot_of(state, values, order[i], counts, &slot))
			return;
		wait_us[order[i]] = slot.wait_us;
		commits_per_sec[order[i]] = slot.commits_per_sec;
	}
	state->round_seconds = Max(state->round_seconds, elapsed_seconds(state) - began);
	if (!counts)
	{
		adapt_slot(state, wait_us, n);
		return;
	}
	sp_setting_add_round(&values->setting, wait_us, commits_per_sec);
	state->progress->rounds = ++state->run->rounds;
	sp_commit_look_if_due(state->run, values, (int64) (elapsed_seconds(state) * 1e6));
}

/* ------------------------------------------------------------------- limits */

static void
end_early(commit_running *state, const char *why, const char *hint)
{
	ereport(NOTICE,
			(errmsg("the commit suite ends early: %s", why),
			 hint ? errhint("%s", hint) : 0));
	state->over = state->run->ended_early = true;
}

static void
check_wal(commit_running *state)
{
	int64		limit = sp_commit_load_max_wal_bytes(state->load);

	if (sp_commit_load_wal_is_used_up(state->load))
		end_early(state, psprintf("it has written %s of WAL", sp_pretty_bytes(limit)),
				  limit < setting_max_wal_bytes() ?
				  "Free space in pg_wal limits it." : "pg_sync_probe.max_commit_wal limits it.");
}

static double
others_wait_us(commit_running *state)
{
	sp_commit_sums sums;
	sp_commit_figures figures;

	sp_commit_load_others_stop(state->load, &sums);
	if (sums.commits < MIN_OTHERS_COMMITS)
		return NAN;
	sp_commit_figures_of(&sums, &figures);
	return figures.wait_us;
}

/* Compared with their time before the workers began. */
static void
check_others(commit_running *state)
{
	double		wait_us;

	if (elapsed_seconds(state) - state->others_since < OTHERS_SECONDS)
		return;
	wait_us = others_wait_us(state);
	if (wait_us > MAX_OTHERS_FACTOR * state->others_wait_us)
		end_early(state, psprintf("commits of other sessions wait %.0f us instead of %.0f us",
								 wait_us, state->others_wait_us),
				 "Use a longer flush_interval or fewer workers, or CALL " SP_SCHEMA ".trial().");
	state->others_since = elapsed_seconds(state);
	sp_commit_load_others_start(state->load);
}

/* What is free above the server's own need.  A full pg_wal stops the cluster. */
static int64
free_bytes(const commit_running *state)
{
	const sp_location *location = &state->run->location;
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
	commit_running *state = context;
	const char *now;

	sp_check_client();
	sp_yield_to_drop();
	sp_process_reload();
	now = GetConfigOption("wal_sync_method", false, false);
	if (strcmp(now, state->run->wal_sync_method) != 0)
	{
		end_early(state, psprintf("wal_sync_method was changed to %s", now), NULL);
		return -1;
	}
	return free_bytes(state);
}

static void
check_limits(commit_running *state)
{
	check_wal(state);
	check_others(state);
}

static bool
has_time_for_round(const commit_running *state)
{
	return elapsed_seconds(state) + state->round_seconds < state->run->duration_us / 1e6;
}

/* ---------------------------------------------------------------------- run */

static void
run_all_rounds(commit_running *state)
{
	sp_commit_values *both[] = {&state->run->methods, &state->run->delays};

	for (size_t i = 0; i < lengthof(both) && !state->over; i++)
	{
		if (both[i]->count > 0)
			run_round(state, both[i], false);
	}
	for (int i = 0; !state->over; i = !i)
	{
		bool		left = both[i]->count > 0 && !both[i]->done;
		bool		left_other = both[!i]->count > 0 && !both[!i]->done;

		if (!left && !left_other)
			return;
		if (!left)
			continue;
		if (!has_time_for_round(state))
			return;
		check_limits(state);
		if (!state->over)
			run_round(state, both[i], true);
	}
}

/* What the commits of others are like before: few, or those of a load that begins later. */
static void
look_before(commit_running *state)
{
	sp_commit_load_others_start(state->load);
	sp_commit_load_others_sample(state->load,
								 Min(BASELINE_SECONDS, state->run->duration_us / 1e7));
	state->others_wait_us = others_wait_us(state);
	sp_commit_load_others_start(state->load);
	state->others_since = elapsed_seconds(state);
}

static double
first_slot_seconds(const sp_commit_run *run)
{
	int			slots = Max(run->methods.count, run->delays.count) + 1;
	double		seconds = Max(ROUND_SECONDS / slots, MIN_SLOT_SECONDS);

	return Min(Max(seconds, SLOT_COMMITS * run->expected_us / 1e6), MAX_SLOT_SECONDS);
}

/* Two rounds of each setting, of which one counts, must fit. */
static void
check_suite_duration(const sp_commit_run *run, double slot_seconds)
{
	int			slots = (run->methods.count ? run->methods.count + 1 : 0) +
		(run->delays.count ? run->delays.count + 1 : 0);
	double		needed = 2 * slots * slot_seconds;

	/* a tenth is spent before */
	needed = Min(needed / 0.9, needed + BASELINE_SECONDS);
	if (run->duration_us / 1e6 < needed)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("duration is too short for the commit suite"),
				 errdetail("A first round and one that counts take %.2g s: %d slots of %.2g s.",
						   needed, 2 * slots, slot_seconds),
				 errhint("A verdict needs at least %d rounds.", SP_MIN_SAMPLES)));
}

/* Also called while the backend exits: must not throw an error. */
static void
end_workers(int code pg_attribute_unused(), Datum arg)
{
	commit_running *state = (commit_running *) DatumGetPointer(arg);

	sp_commit_load_abandon(state->load);
}

static void
commit_with_workers(commit_running *state)
{
	sp_commit_run *run = state->run;
	sp_commit_demand demand = {
		.workers = run->workers_wanted,
		.fewer_allowed = run->fewer_allowed,
		.record_size = run->record_size,
		.interval_us = run->interval_us,
		.think_us = run->think_us,
		.max_wal_bytes = setting_max_wal_bytes(),
		.look = look,
		.look_context = state
	};

	PG_ENSURE_ERROR_CLEANUP(end_workers, PointerGetDatum(state));
	{
		run->workers = sp_commit_load_start(state->load, &demand);
		look_before(state);
		run_all_rounds(state);
		sp_commit_load_finish(state->load);
	}
	PG_END_ENSURE_ERROR_CLEANUP(end_workers, PointerGetDatum(state));
}

void
sp_commit_rounds(sp_commit_run *run, sp_progress *progress)
{
	commit_running state = {.run = run, .progress = progress};

	state.slot_seconds = first_slot_seconds(run);
	check_suite_duration(run, state.slot_seconds);
	sp_commit_check_load();
	state.load = sp_commit_load_make();
	state.directory_fd = OpenTransientFile(run->location.directory, O_RDONLY | O_DIRECTORY);
	if (state.directory_fd < 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not open directory \"%s\": %m", run->location.directory)));
	pg_prng_seed(&state.random, run->random_seed);

	sp_progress_set_phase("measuring");
	state.started_ns = sp_monotonic_ns();
	commit_with_workers(&state);
	run->measured_us = (int64) (elapsed_seconds(&state) * 1e6);
	(void) CloseTransientFile(state.directory_fd);
	sp_commit_conclude(run, &run->methods);
	sp_commit_conclude(run, &run->delays);
}
