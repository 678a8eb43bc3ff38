/*-------------------------------------------------------------------------
 *
 * commit_rounds.c
 *		The rounds of the commit suite, and their verdicts.
 *
 * A slot begins when all workers rest, and ends when they rest again.  The first round of each
 * setting warms up and does not count.  The rounds of two settings alternate, until both are
 * settled.
 *
 *-------------------------------------------------------------------------
 */
#include "probe/commit_internal.h"

#include <math.h>

#include "utils/guc.h"

#define ROUND_SECONDS		0.2
#define MIN_SLOT_SECONDS	0.04
#define MAX_SLOT_SECONDS	1.0

/* A slot should hold as many commits: of each worker flat out, of all workers when paced. */
#define SLOT_COMMITS		8

typedef struct rounds_state
{
	sp_commit_run *commit;
	sp_compared *compared;		/* whose round it is */
	bool		warms_up;
	int64		started_ns;
	double		round_seconds;	/* the longest so far */
	int			looks[SP_MAX_SETTINGS]; /* interim ones that were taken */
	bool		done[SP_MAX_SETTINGS];
} rounds_state;

static double
elapsed_seconds(const rounds_state *state)
{
	return (double) (sp_monotonic_ns() - state->started_ns) / 1e9;
}

static bool
is_delays(const sp_compared *compared)
{
	return strcmp(compared->setting.setting, "commit_delay") == 0;
}

/* -------------------------------------------------------------------- a slot */

/* What workers set.  Their transaction ID matters only where commit_delay may act. */
static void
choose_settings(const rounds_state *state, const char *value)
{
	const sp_commit_run *commit = state->commit;
	bool		delays = is_delays(state->compared);

	strlcpy(commit->shared->method, delays ? commit->run.wal_sync_method : value,
			sizeof(commit->shared->method));
	commit->shared->commit_delay = delays ? atoi(value) : commit->commit_delay;
	commit->shared->hold_xid = delays || commit->commit_delay > 0;
}

static void
let_workers_commit(sp_commit_run *commit)
{
	sp_commit_shared *shared = commit->shared;
	int64		end_ns;

	pg_atomic_write_u32(&shared->settled, 0);
	pg_atomic_write_u32(&shared->resting, 0);
	(void) pg_atomic_fetch_add_u32(&shared->slot, 1);
	while (pg_atomic_read_u32(&shared->settled) < shared->nworkers && !commit->over)
		sp_commit_watch(commit);
	end_ns = sp_monotonic_ns() + (int64) (commit->slot_seconds * 1e9);
	while (sp_monotonic_ns() < end_ns && !commit->over)
		sp_commit_watch(commit);
	(void) pg_atomic_fetch_add_u32(&shared->slot, 1);
	while (pg_atomic_read_u32(&shared->resting) < shared->nworkers)
		sp_commit_watch(commit);
}

/* An sp_slot.  A first round and the control have no figures of their own. */
static bool
take_slot(void *context, int value, bool is_control, double *wait_us, double *commits_per_sec)
{
	rounds_state *state = context;
	sp_commit_run *commit = state->commit;
	double		ops = 0;
	double		sum_us = 0;

	choose_settings(state, state->compared->setting.values[value].value);
	let_workers_commit(commit);
	*commits_per_sec = 0;
	for (int i = 0; i < commit->nworkers; i++)
	{
		const sp_commit_worker *worker = &commit->shared->workers[i];

		if (worker->counted_ns == 0)
			continue;
		ops += (double) worker->histogram.ops;
		sum_us += worker->histogram.sum_ns / 1000;
		*commits_per_sec += (double) worker->histogram.ops * 1e9 / (double) worker->counted_ns;
		if (!state->warms_up && !is_control)
			sp_histogram_merge(&state->compared->histograms[value], &worker->histogram);
	}
	*wait_us = sum_us / ops;	/* NAN without any */
	return !commit->over;
}

/* ------------------------------------------------------------------- rounds */

/* False if it was cut short. */
static bool
run_round(rounds_state *state, int i)
{
	double		began = elapsed_seconds(state);

	state->compared = &state->commit->run.settings[i];
	if (!sp_compared_round(state->compared, take_slot, state))
		return false;
	state->round_seconds = Max(state->round_seconds, elapsed_seconds(state) - began);
	return true;
}

/* The first round: it sets the length of the slots that count, as a slow device needs long ones. */
static void
warm_up(rounds_state *state, int i)
{
	sp_setting_comparison *setting = &state->commit->run.settings[i].setting;
	double		seconds = state->commit->slot_seconds;

	if (run_round(state, i))
	{
		/* a slot had no commit at all */
		if (setting->lost_rounds > 0)
			seconds = MAX_SLOT_SECONDS;
		for (int v = 0; v <= setting->count && setting->rounds > 0; v++)
			seconds = Max(seconds, SLOT_COMMITS * setting->values[v].wait_us[0] / 1e6);
		state->commit->slot_seconds = Min(seconds, MAX_SLOT_SECONDS);
	}
	setting->rounds = setting->lost_rounds = 0;
}

static void
look_if_due(rounds_state *state, int i)
{
	const sp_commit_run *commit = state->commit;
	int			due = sp_looks_due((int64) (elapsed_seconds(state) * 1e6),
								   commit->run.duration_us);

	if (!commit->stop_early || due <= state->looks[i])
		return;
	state->looks[i] = due;
	sp_compared_judge(state->compared, sp_look_alpha(due));
	state->done[i] = sp_is_settled(&state->compared->setting.comparison,
								   &state->compared->setting.judgement);
}

static void
run_all_rounds(rounds_state *state, sp_progress *progress)
{
	const sp_commit_run *commit = state->commit;
	bool		left = true;

	state->warms_up = true;
	for (int i = 0; i < commit->run.nsettings && !commit->over; i++)
		warm_up(state, i);
	state->warms_up = false;
	while (left && !commit->over)
	{
		left = false;
		for (int i = 0; i < commit->run.nsettings && !commit->over; i++)
		{
			if (state->done[i] ||
				elapsed_seconds(state) + state->round_seconds >= commit->run.duration_us / 1e6)
				continue;
			left = true;
			if (!run_round(state, i))
				return;
			look_if_due(state, i);
		}
	}
}

/* Two rounds of each setting, of which one counts, must fit. */
void
sp_commit_plan_slots(sp_commit_run *commit)
{
	const sp_setting_run *run = &commit->run;
	double		seconds = SLOT_COMMITS * commit->expected_us / 1e6;
	int			most = 0;
	int			slots = 0;

	for (int i = 0; i < run->nsettings; i++)
	{
		most = Max(most, run->settings[i].setting.count + 1);
		slots += 2 * (run->settings[i].setting.count + 1);
	}
	seconds = Max(seconds, Max(ROUND_SECONDS / most, MIN_SLOT_SECONDS));
	commit->slot_seconds = Min(seconds, MAX_SLOT_SECONDS);
	if (run->duration_us / 1e6 < slots * commit->slot_seconds)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("duration is too short for the commit suite"),
				 errdetail("A first round and one that counts take %.2g s: %d slots of %.2g s.",
						   slots * commit->slot_seconds, slots, commit->slot_seconds),
				 errhint("A verdict needs at least %d rounds.", SP_MIN_SAMPLES)));
}

/* ------------------------------------------------------------------ verdicts */

/* commit_delay acts only while commit_siblings other transactions are active. */
static void
tell_if_few_workers(const sp_setting_run *run)
{
	int			siblings = atoi(GetConfigOption("commit_siblings", false, false));

	if (is_delays(&run->settings[run->nsettings - 1]) && run->workers <= siblings)
		ereport(NOTICE,
				(errmsg("commit_delay has no effect with fewer than commit_siblings (%d) other transactions; workers: %d",
						siblings, run->workers),
				 errhint("Use workers => %d or more.", siblings + 1)));
}

static void
judge(const rounds_state *state, int i)
{
	const sp_commit_run *commit = state->commit;
	sp_compared *compared = &state->commit->run.settings[i];

	/* a settled verdict keeps the intervals that settled it */
	if (!state->done[i])
		sp_compared_judge(compared, commit->stop_early ? sp_look_alpha(SP_LOOKS) : SP_ALPHA);
	sp_setting_explain(&compared->setting, compared->reason, sizeof(compared->reason));
	if (compared->setting.rounds < SP_MIN_SAMPLES)
		ereport(NOTICE,
				(errmsg("too few rounds for a verdict on %s: %d of %d", compared->setting.setting,
						compared->setting.rounds, SP_MIN_SAMPLES),
				 /* of a run that ended early, the reason was said */
				 commit->over ? 0 : errhint("Use a longer duration.")));
}

/* Let workers commit for the duration, and judge. */
void
sp_commit_rounds(sp_commit_run *commit, sp_progress *progress)
{
	rounds_state state = {.commit = commit, .started_ns = sp_monotonic_ns()};

	commit->run.started_at = GetCurrentTimestamp();
	sp_commit_workers_start(commit);
	run_all_rounds(&state, progress);
	commit->run.finished_at = GetCurrentTimestamp();
	tell_if_few_workers(&commit->run);
	for (int i = 0; i < commit->run.nsettings; i++)
		judge(&state, i);
}
