/*-------------------------------------------------------------------------
 *
 * slots.c
 *		Give each value slots of time in random order, and sample the commits in them.
 *
 * A round has one slot for each value and a second one for the current value.  A reload
 * costs each process something, so that a slot must be long enough for this to be at most
 * 2 % of it.  The first part of a slot is not counted: sessions take the value in before
 * their next statement, and commits of the old one may still be on their way.
 *
 *-------------------------------------------------------------------------
 */
#include "trial/trial.h"

#include <math.h>

#include "common/pg_prng.h"
#include "miscadmin.h"
#include "postmaster/interrupt.h"
#include "storage/latch.h"
#include "utils/backend_status.h"
#include "utils/snapmgr.h"

#include "compat.h"
#include "probe/probe.h"

/* Seconds.  The costs of a reload are those that the prototype has shown. */
#define SETTLE_S			0.1		/* not counted */
#define MIN_SLOT_S			0.3
#define MIN_SLOT_PER_IDLE_S 0.0009	/* 0.75 s with 500 idle sessions */
#define RELOAD_S			0.0025
#define RELOAD_PER_IDLE_S	16e-6
#define RELOAD_PER_ACTIVE_S 0.0003
#define RELOAD_SHARE		0.02
#define LOOK_S				0.2		/* at the sessions, before the first switch */
#define EXPOSURE_S			0.2		/* the first slot of each value, SETTLE_S included */

/* A value whose commits wait that many times as long is not tried any further. */
#define MAX_SLOWDOWN		3
#define MIN_EXPOSED			10		/* commits, with fewer it is not known */
#define EXPOSURE_REPEATS	2

/* Without a commit in the first rounds of that time, there is nothing to compare. */
#define IDLE_S				5

/* Where the rate decides, commits may not wait at all: shorter waits count as this. */
#define MIN_WAIT_US			100

typedef struct run_state
{
	sp_trial   *trial;
	sp_trial_files *files;
	sp_watchdog *watchdog;
	sp_sampler *sampler;
	pg_prng_state random;
	bool		old_statements; /* of that slot */
} run_state;

/* ------------------------------------------------------------------- sessions */

void
sp_trial_choose_slot(sp_trial *trial, double *shortest)
{
	sp_sampler *sampler = sp_sampler_make();
	sp_commit_figures figures;
	double		idle;

	sp_sampler_start(sampler);
	sp_sampler_run(sampler, LOOK_S);
	sp_commit_figures_of(sp_sampler_stop(sampler), &figures);
	/* its sessions do not exist yet, but will be active */
	if (trial->load)
	{
		figures.active += sp_load_clients(trial->load);
		figures.connected += sp_load_clients(trial->load);
	}
	idle = figures.connected - figures.active;
	*shortest = MIN_SLOT_S + idle * MIN_SLOT_PER_IDLE_S;
	*shortest = Max(*shortest, (RELOAD_S + RELOAD_PER_IDLE_S * idle +
								RELOAD_PER_ACTIVE_S * figures.active) / RELOAD_SHARE);
	if (trial->slot_s == 0)
		trial->slot_s = *shortest;
}

/*
 * Sessions whose statement began before that time: they still have an older value.  With
 * track_activities off it is not known; silent_too counts those as well.
 */
static int
count_old_statements(TimestampTz started, bool silent_too)
{
	int			count = 0;
	int			entries;

	pgstat_clear_backend_activity_snapshot();
	entries = pgstat_fetch_stat_numbackends();
	for (int i = 1; i <= entries; i++)
	{
		const PgBackendStatus *status = &pgstat_get_local_beentry_by_index(i)->backendStatus;

		if (status->st_procpid == MyProcPid || status->st_backendType != B_BACKEND)
			continue;
		if (status->st_state == STATE_DISABLED)
			count += silent_too;
		else if ((status->st_state == STATE_RUNNING || status->st_state == STATE_FASTPATH) &&
				 status->st_activity_start_timestamp < started)
			count++;
	}
	pgstat_clear_backend_activity_snapshot();
	return count;
}

/* A session that only sleeps does not notice that its client has gone. */
static void
check_client(void)
{
	if (MyProcPort && !pq_check_connection())
	{
		ClientConnectionLost = true;
		InterruptPending = true;
	}
	CHECK_FOR_INTERRUPTS();
}

/* ------------------------------------------------------------------- a slot */

static void
settle(TimestampTz until)
{
	uint32		wait_event = sp_wait_event_new("SyncProbeTrial");

	for (;;)
	{
		long		ms = TimestampDifferenceMilliseconds(GetCurrentTimestamp(), until);

		if (ms <= 0)
			break;
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, ms, wait_event);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
}

/*
 * One slot of a value.  False if it does not count, since the value cannot be tried any
 * longer.  *sums are valid until the next slot.
 */
static bool
take_slot(run_state *state, int value, double seconds, const sp_commit_sums **sums)
{
	sp_trial   *trial = state->trial;
	TimestampTz started;
	int			old;

	check_client();
	sp_check_circumstances("go on with the trial");
	if (sp_trial_tries_open(trial) && state->old_statements)
		sp_trial_leave_out_open(trial, SP_TRIAL_WHY_OLD);
	if (trial->values[value].left_out)
		return false;
	sp_watchdog_feed(state->watchdog, seconds);
	if (trial->values[value].is_open && !trial->mixed.owed)
		sp_mixed_wal_begin(&trial->mixed);
	sp_trial_switch(state->files, value);
	started = GetCurrentTimestamp();
	settle(started + (TimestampTz) (SETTLE_S * USECS_PER_SEC));
	/* after the slots of open_*, once sessions have had time to leave it */
	if (!trial->values[value].is_open)
		sp_mixed_wal_sync(&trial->mixed);

	/* nothing is read from a table during a slot */
	InvalidateCatalogSnapshot();
	sp_sampler_start(state->sampler);
	sp_trial_sample(trial, state->sampler, seconds - SETTLE_S);
	*sums = sp_sampler_stop(state->sampler);

	old = count_old_statements(started, sp_trial_tries_open(trial));
	state->old_statements = old > 0;
	trial->old_statements = Max(trial->old_statements, old);
	if (sp_trial_tries_open(trial) && (*sums)->unflushed > 0)
		sp_trial_leave_out_open(trial, SP_TRIAL_WHY_UNFLUSHED);
	return trial->values[value].left_out == NULL;
}

/* Without the current value there is nothing to compare with. */
static bool
has_current(const sp_trial *trial)
{
	return trial->values[trial->current].left_out == NULL;
}

/* --------------------------------------------------------- first exposures */

/* The mean wait in a short slot; NAN if it is not known. */
static double
expose_value(run_state *state, int value)
{
	const sp_commit_sums *sums;
	sp_commit_figures figures;

	if (!take_slot(state, value, EXPOSURE_S, &sums) || sums->commits < MIN_EXPOSED)
		return NAN;
	sp_commit_figures_of(sums, &figures);
	return figures.wait_us;
}

/*
 * A value that is far slower costs the users of the server too much.  A disk may stall for
 * as long as an exposure, so a slow one is repeated beside the current value.
 */
static void
expose(run_state *state)
{
	sp_trial   *trial = state->trial;
	double		current_us = expose_value(state, trial->current);

	for (int i = 0; i < trial->count && has_current(trial); i++)
	{
		double		wait_us;

		if (i == trial->current)
			continue;
		wait_us = expose_value(state, i);
		for (int again = 0; again < EXPOSURE_REPEATS && wait_us > MAX_SLOWDOWN * current_us; again++)
		{
			current_us = fmax(current_us, expose_value(state, trial->current));
			wait_us = fmin(wait_us, expose_value(state, i));
		}
		if (wait_us > MAX_SLOWDOWN * current_us)
			trial->values[i].left_out =
				psprintf("in its first %d slots of %g ms a commit waited %.1f times as long",
						 1 + EXPOSURE_REPEATS, (EXPOSURE_S - SETTLE_S) * 1e3, wait_us / current_us);
	}
}

/* ------------------------------------------------------------------ rounds */

/* Let the comparison have the values that are still tried.  False if it has no other. */
static bool
begin_comparison(run_state *state)
{
	sp_trial   *trial = state->trial;
	sp_setting_comparison *comparison = trial->comparison;

	memset(comparison, 0, sizeof(*comparison));
	comparison->setting = trial->setting;
	comparison->unit = trial->unit;
	comparison->margin = sp_margin;
	comparison->deciding = trial->deciding;
	for (int i = 0; i < trial->count; i++)
	{
		if (trial->values[i].left_out && i != trial->current)
			continue;
		if (i == trial->current)
			comparison->current = comparison->count;
		trial->tried[comparison->count] = i;
		comparison->values[comparison->count].value = trial->values[i].text;
		comparison->values[comparison->count].durable = SP_DURABLE_UNKNOWN;
		comparison->count++;
	}
	return comparison->count > 1 && has_current(trial);
}

/* Take values that were left out meanwhile out of the rounds so far, too. */
static bool
shrink_comparison(run_state *state)
{
	sp_trial   *trial = state->trial;
	sp_setting_comparison *comparison = trial->comparison;

	for (int k = comparison->count - 1; k >= 0; k--)
	{
		if (trial->values[trial->tried[k]].left_out == NULL || k == comparison->current)
			continue;
		sp_setting_remove_value(comparison, k);
		memmove(&trial->tried[k], &trial->tried[k + 1],
				(comparison->count - k) * sizeof(trial->tried[0]));
	}
	return comparison->count > 1 && has_current(trial);
}

/* False if a value was left out in it: then it does not count. */
static bool
take_round(run_state *state)
{
	sp_trial   *trial = state->trial;
	sp_setting_comparison *comparison = trial->comparison;
	int			n = comparison->count + 1;	/* the last one is the control */
	int			order[SP_MAX_METHODS + 1];
	double		wait_us[SP_MAX_METHODS + 1];
	double		rate[SP_MAX_METHODS + 1];

	sp_shuffle(order, n, &state->random);
	for (int i = 0; i < n; i++)
	{
		int			k = order[i];
		int			value = trial->tried[k == comparison->count ? comparison->current : k];
		const sp_commit_sums *sums;
		sp_commit_figures figures;

		if (!take_slot(state, value, trial->slot_s, &sums))
			return false;
		sp_commit_figures_of(sums, &figures);
		wait_us[k] = trial->deciding == SP_COMMIT_RATE && sums->commits > 0 ?
			Max(figures.wait_us, MIN_WAIT_US) : figures.wait_us;
		rate[k] = figures.commits_per_sec;
		if (k != comparison->count)
			sp_commit_sums_add(&trial->values[value].sums, sums);
	}
	sp_setting_add_round(comparison, wait_us, rate);
	return true;
}

static double
seconds_until(TimestampTz end)
{
	return (double) (end - GetCurrentTimestamp()) / USECS_PER_SEC;
}

/* Has the server been idle from the beginning? */
static bool
is_idle(const sp_trial *trial)
{
	for (int i = 0; i < trial->count; i++)
	{
		if (trial->values[i].sums.commits > 0)
			return false;
	}
	return GetCurrentTimestamp() - trial->started_at > IDLE_S * USECS_PER_SEC;
}

static void
take_rounds(run_state *state, TimestampTz end, sp_progress *progress)
{
	sp_trial   *trial = state->trial;
	bool		go_on = begin_comparison(state);

	while (go_on && trial->comparison->rounds < SP_SETTING_MAX_ROUNDS &&
		   seconds_until(end) > (trial->comparison->count + 1) * trial->slot_s)
	{
		if (take_round(state))
			progress->rounds++;
		go_on = shrink_comparison(state) && !is_idle(trial);
	}
}

/* Back to the current value, which may be one of open_*. */
static void
go_back(run_state *state)
{
	sp_trial   *trial = state->trial;

	if (trial->values[trial->current].is_open && !trial->mixed.owed)
		sp_mixed_wal_begin(&trial->mixed);
	(void) sp_trial_restore(NULL, true);
	sp_trial_reload();
	if (trial->mixed.owed)
		settle(GetCurrentTimestamp() + (TimestampTz) (SETTLE_S * USECS_PER_SEC));
	sp_mixed_wal_sync(&trial->mixed);
}

void
sp_trial_run(sp_trial *trial, sp_trial_files *files, sp_watchdog *watchdog,
			 sp_progress *progress)
{
	run_state	state = {
		.trial = trial,
		.files = files,
		.watchdog = watchdog,
		.sampler = sp_sampler_make(),
	};
	TimestampTz end = GetCurrentTimestamp() + trial->duration_us;

	pg_prng_seed(&state.random, (uint64) trial->random_seed);
	sp_trial_open_gate(trial, state.sampler);
	expose(&state);
	take_rounds(&state, end, progress);
	go_back(&state);
}
