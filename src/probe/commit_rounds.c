/*-------------------------------------------------------------------------
 *
 * commit_rounds.c
 *		The slots of the commit suite, and their length.
 *
 * A slot begins when all workers rest, and ends when they rest again.  The first round of each
 * setting warms up and does not count.
 *
 *-------------------------------------------------------------------------
 */
#include "probe/commit_internal.h"

#include <math.h>

#define ROUND_SECONDS		0.2
#define MIN_SLOT_SECONDS	0.04
#define MAX_SLOT_SECONDS	1.0

/* A slot should hold as many commits: of each worker flat out, of all workers when paced. */
#define SLOT_COMMITS		8

static bool
is_delays(const sp_compared *compared)
{
	return strcmp(compared->setting.setting, "commit_delay") == 0;
}

/* -------------------------------------------------------------------- a slot */

/* What workers set.  Their transaction ID matters only where commit_delay may act. */
static void
choose_settings(const sp_commit_run *commit, const sp_compared *compared, const char *value)
{
	bool		delays = is_delays(compared);

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

/* An sp_slot.  The control has no figures of its own. */
static bool
take_slot(void *context, sp_compared *compared, int value, double *wait_us, double *commits_per_sec)
{
	sp_commit_run *commit = context;
	double		ops = 0;
	double		sum_us = 0;

	choose_settings(commit, compared, compared->setting.values[Max(value, 0)].value);
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
		if (value >= 0)
			sp_histogram_merge(&compared->histograms[value], &worker->histogram);
	}
	*wait_us = sum_us / ops;	/* NAN without any */
	return !commit->over;
}

/* ------------------------------------------------------------------- rounds */

/* The first round: it sets the length of the slots that count, as a slow device needs long ones. */
static void
warm_up(sp_commit_run *commit, sp_compared *compared)
{
	sp_setting_comparison *setting = &compared->setting;
	double		seconds = commit->slot_seconds;

	if (sp_compared_round(compared, take_slot, commit))
	{
		/* a slot had no commit at all */
		if (setting->lost_rounds > 0)
			seconds = MAX_SLOT_SECONDS;
		for (int v = 0; v <= setting->count && setting->rounds > 0; v++)
			seconds = Max(seconds, SLOT_COMMITS * setting->values[v].wait_us[0] / 1e6);
		commit->slot_seconds = Min(seconds, MAX_SLOT_SECONDS);
	}
	setting->rounds = setting->lost_rounds = 0;
	for (int v = 0; v < setting->count; v++)
		sp_histogram_reset(&compared->histograms[v]);
}

static int
most_slots(const sp_setting_run *run)
{
	int			most = 0;

	for (int i = 0; i < run->nsettings; i++)
		most = Max(most, run->settings[i].setting.count + 1);
	return most;
}

/* Two rounds of each setting, of which one counts, must fit. */
void
sp_commit_plan_slots(sp_commit_run *commit)
{
	const sp_setting_run *run = &commit->run;
	double		seconds = SLOT_COMMITS * commit->expected_us / 1e6;
	int			slots = 0;

	for (int i = 0; i < run->nsettings; i++)
		slots += 2 * (run->settings[i].setting.count + 1);
	seconds = Max(seconds, Max(ROUND_SECONDS / most_slots(run), MIN_SLOT_SECONDS));
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

/* Of a run that ended early, the reason was said. */
static void
tell_if_few_rounds(const sp_commit_run *commit)
{
	for (int i = 0; i < commit->run.nsettings && !commit->over; i++)
	{
		const sp_setting_comparison *setting = &commit->run.settings[i].setting;

		if (setting->rounds < SP_MIN_SAMPLES)
			ereport(NOTICE,
					(errmsg("too few rounds for a verdict on %s: %d of %d", setting->setting,
							setting->rounds, SP_MIN_SAMPLES),
					 errhint("Use a longer duration.")));
	}
}

/* Let workers commit for the duration, and judge. */
void
sp_commit_rounds(sp_commit_run *commit)
{
	sp_setting_run *run = &commit->run;

	sp_setting_run_begin(run);
	sp_commit_workers_start(commit);
	for (int i = 0; i < run->nsettings && !commit->over; i++)
		warm_up(commit, &run->settings[i]);
	if (!commit->over)
		sp_setting_run_rounds(run, most_slots(run) * commit->slot_seconds, take_slot, commit);
	run->finished_at = GetCurrentTimestamp();
	tell_if_few_workers(run);
	sp_setting_run_judge(run);
	tell_if_few_rounds(commit);
}
