/*-------------------------------------------------------------------------
 *
 * load.c
 *		The workload that makes the load of a trial, where the server has none.
 *
 * It is set up before the files of the trial are made, since a set-up may last for minutes,
 * and writes WAL that is not flushed at once.  So the configuration is checked once more
 * after it.
 *
 *-------------------------------------------------------------------------
 */
#include "trial/trial.h"

/* How long pgbench may run beyond the trial, which ends it: no longer than after an accident. */
#define GRACE_S				(SP_WORKLOAD_GRACE_MS / 1000)

/* How often what pgbench prints is read: it blocks when a pipe of 64 kB is full. */
#define ATTEND_S			0.02

/* How long the first slot waits for its commits.  A load that only reads makes none. */
#define FIRST_COMMITS_S		10

void
sp_trial_prepare_load(sp_trial *trial)
{
	if (trial->workload == NULL)
		return;
	trial->load = sp_load_make(trial->workload,
							   (int) (trial->duration_us / USECS_PER_SEC) + FIRST_COMMITS_S + GRACE_S);
}

void
sp_trial_sample(const sp_trial *trial, sp_sampler *sampler, double seconds)
{
	double		done = 0;

	while (trial->load && done < seconds)
	{
		done = Min(done + ATTEND_S, seconds);
		sp_sampler_run(sampler, done);
		sp_load_check(trial->load);
	}
	sp_sampler_run(sampler, seconds);
}

/* Each client has committed once, on average: they have connected and gone on. */
static void
await_commits(const sp_trial *trial)
{
	sp_sampler *sampler = sp_sampler_make();
	uint64		clients = sp_load_clients(trial->load);

	sp_sampler_start(sampler);
	for (double seconds = 0; seconds < FIRST_COMMITS_S; seconds += ATTEND_S)
	{
		sp_sampler_run(sampler, seconds);
		sp_load_check(trial->load);
		if (sp_sampler_stop(sampler)->commits >= clients)
			break;
	}
}

void
sp_trial_begin_load(sp_trial *trial)
{
	sp_load_set_up(trial->load);
	sp_await_reload();
	sp_trial_check_pending_edits(trial->files, PgReloadTime);
	sp_trial_check_current(trial);
	sp_load_start(trial->load);
	await_commits(trial);
}
