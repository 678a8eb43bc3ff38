/*-------------------------------------------------------------------------
 *
 * slots.c
 *		Give each value slots of time in random order, and sample the commits in them.
 *
 * A round has one slot for each value and a second one for the current value.  A reload
 * costs each process something, so that a slot must be long enough for this to be at most
 * 2 % of it.  A slot counts from when a new process shows its value, and its first part is
 * not counted: sessions take the value in before their next statement, and commits of the
 * old one may still be on their way.
 *
 *-------------------------------------------------------------------------
 */
#include "trial/trial.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/backend_status.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "compat.h"

/* Seconds.  The costs of a reload are those that the prototype has shown. */
#define SETTLE_S			0.02	/* not counted, with few sessions */
#define SETTLE_PER_SESSION_S 0.00016	/* 0.1 s with 500 of them */
#define MAX_SETTLE_S		0.1
#define MIN_SLOT_S			0.3
#define MIN_SLOT_PER_IDLE_S 0.0009	/* 0.75 s with 500 idle sessions */
#define RELOAD_S			0.0025
#define RELOAD_PER_IDLE_S	16e-6
#define RELOAD_PER_ACTIVE_S 0.0003
#define RELOAD_SHARE		0.02
#define LOOK_S				0.2		/* at the sessions, before the first switch */
#define EXPOSURE_S			0.2		/* the first slot of each value, MAX_SETTLE_S included */

/*
 * With fewer commits at a time, on average, a slot has few samples of them, and the mean wait
 * an error of their number.
 */
#define FEW_COMMITTING		2

/* A value whose commits wait that many times as long is not tried any further. */
#define MAX_SLOWDOWN		3
#define MIN_EXPOSED			10		/* commits, with fewer it is not known */
#define EXPOSURE_REPEATS	2
#define MAX_FIRST_SLOTS		20		/* of the current value, until the load commits */

/* Time between two looks at the load: its errors, and the space that its WAL leaves. */
#define LOAD_CHECK_S		0.1

/* Without a commit in the first rounds of that time, there is nothing to compare. */
#define IDLE_S				5

/* Where the rate decides, commits may not wait at all: shorter waits count as this. */
#define MIN_WAIT_US			100

/* ------------------------------------------------------------------- a slot */

/* The shortest slot for the sessions of the server, unless another one was given. */
void
sp_trial_choose_slot(sp_trial *trial)
{
	sp_commit_figures figures = sp_sampler_look(LOOK_S);
	int			clients = trial->load ? trial->load->clients : 0;
	double		idle;
	double		shortest;

	idle = figures.connected - figures.active;
	/* these sessions do not exist yet, but will be active */
	figures.active += clients;
	/*
	 * Once a new process shows a value, all sessions have its signal.  Each takes it in before its
	 * next statement, in a fraction of a millisecond, and many of them share the processors.  A
	 * commit that has begun ends with the old value, with which it waits MAX_SLOWDOWN times as
	 * long at most; fmax() passes over an unknown wait.
	 */
	trial->settle_s = fmin(SETTLE_S + SETTLE_PER_SESSION_S * (figures.connected + clients) +
						   MAX_SLOWDOWN * fmax(figures.wait_us, 0) / 1e6, MAX_SETTLE_S);
	trial->sampler = sp_sampler_make(false, figures.committing + clients < FEW_COMMITTING);
	shortest = Max(MIN_SLOT_S + idle * MIN_SLOT_PER_IDLE_S,
				   (RELOAD_S + RELOAD_PER_IDLE_S * idle +
					RELOAD_PER_ACTIVE_S * figures.active) / RELOAD_SHARE);
	if (trial->slot_s == 0)
		trial->slot_s = shortest;
	if (trial->slot_s < shortest)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("slot of %g s is too short for the sessions of this server", trial->slot_s),
				 errdetail("Each reload costs every session some time."),
				 errhint("Use at least %.2f s, or omit it.", shortest + 0.005)));
	sp_compared_check_duration(&trial->compared, trial->slot_s);
}

/* Sessions whose statement began before that time: they still have an older value. */
static int
count_old_statements(TimestampTz started)
{
	int			count = 0;
	int			entries;

	pgstat_clear_backend_activity_snapshot();
	entries = pgstat_fetch_stat_numbackends();
	for (int i = 1; i <= entries; i++)
	{
		const PgBackendStatus *status = &pgstat_get_local_beentry_by_index(i)->backendStatus;

		count += status->st_procpid != MyProcPid && status->st_backendType == B_BACKEND &&
			(status->st_state == STATE_RUNNING || status->st_state == STATE_FASTPATH) &&
			status->st_activity_start_timestamp < started;
	}
	return count;
}

/* Switch, and wait until processes that start have the value.  restore: give back the old one. */
static void
switch_to(sp_trial *trial, int value, bool restore)
{
	const char *setting = trial->compared.setting.setting;
	const char *expected = trial->compared.setting.values[value].value;
	sp_new_process shown;

	sp_trial_change(trial, restore ? NULL : expected);
	shown = sp_new_process_show(setting);
	if (!restore)
		sp_auto_conf_check_unchanged(&trial->in_file);
	/* at the end the old value is in its place again, and others may have edited another file */
	if (strcmp(shown.value, expected) != 0)
		ereport(restore ? WARNING : ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("\"%s\" is \"%s\" after a reload", setting, shown.value),
				 errdetail("It should be \"%s\".", expected),
				 errhint("It may be set on the command line of the server, or a configuration file was edited or contains errors: see the server log.")));
}

/* A slot may take a minute, in which the load writes WAL. */
static void
sample_for(sp_trial *trial, double seconds)
{
	for (double until = 0; until < seconds;)
	{
		until = Min(until + LOAD_CHECK_S, seconds);
		sp_sampler_run(trial->sampler, until);
		if (trial->load)
			sp_load_check(trial->load);
	}
}

/* Switch, and sample.  The sums are valid until the next time. */
static const sp_commit_sums *
sample_value(sp_trial *trial, int value, double settle_s, double seconds)
{
	MemoryContext context = MemoryContextSwitchTo(trial->slot_context);
	TimestampTz started;

	sp_check_client();
	sp_yield_to_drop();
	sp_check_circumstances("go on with the trial");
	switch_to(trial, value, false);
	MemoryContextSwitchTo(context);
	MemoryContextReset(trial->slot_context);
	started = GetCurrentTimestamp();
	/* nothing is read from a table during a slot */
	InvalidateCatalogSnapshot();
	sp_sampler_start(trial->sampler);
	sample_for(trial, settle_s);
	sp_sampler_start(trial->sampler);
	sample_for(trial, seconds - settle_s);
	trial->old_statements = Max(trial->old_statements, count_old_statements(started));
	return sp_sampler_stop(trial->sampler);
}

/* An sp_slot. */
static bool
take_trial_slot(void *context, int value, double *wait_us, double *commits_per_sec)
{
	sp_trial   *trial = context;
	sp_compared *compared = &trial->compared;
	const sp_commit_sums *sums;
	sp_commit_figures figures;

	/* the server has been idle from the beginning */
	if (trial->seen.commits == 0 &&
		sp_monotonic_ns() - compared->started_ns > IDLE_S * INT64CONST(1000000000))
		return false;
	sums = sample_value(trial, Max(value, 0), trial->settle_s, trial->slot_s);
	figures = sp_commit_figures_of(sums);
	*wait_us = compared->setting.deciding == SP_COMMIT_RATE && sums->commits > 0 ?
		Max(figures.wait_us, MIN_WAIT_US) : figures.wait_us;
	*commits_per_sec = figures.commits_per_sec;
	sp_commit_sums_add(&trial->seen, sums);
	if (value >= 0)
		sp_commit_sums_add(&compared->sums[value], sums);
	return true;
}

/* --------------------------------------------------------- first exposures */

/*
 * The mean wait in a short slot.  With few commits it is not known for the current value;
 * another value may be the cause that they are few.  How long commits of the value before take
 * is not known either.
 */
static double
expose_value(sp_trial *trial, int value)
{
	const sp_commit_sums *sums = sample_value(trial, value, MAX_SETTLE_S, EXPOSURE_S);
	double		wait_us = sp_commit_figures_of(sums).wait_us;

	sp_commit_sums_add(&trial->seen, sums);
	if (value == 0)
		return sums->commits < MIN_EXPOSED ? NAN : wait_us;
	return sums->commits == 0 ? INFINITY : wait_us;
}

/*
 * A value that is far slower costs the users of the server too much.  A disk may stall for
 * as long as an exposure, so a slow one is repeated beside the current value.
 */
static void
expose(sp_trial *trial)
{
	sp_setting_comparison *setting = &trial->compared.setting;
	double		current_us;
	int			slots = 0;

	/* clients of a load need time to connect; one that only reads makes no commits */
	do
		current_us = expose_value(trial, 0);
	while (isnan(current_us) && trial->load && ++slots < MAX_FIRST_SLOTS);
	for (int i = 1; i < setting->count; i++)
	{
		double		wait_us = expose_value(trial, i);

		for (int n = 0; n < EXPOSURE_REPEATS && wait_us > MAX_SLOWDOWN * current_us; n++)
		{
			current_us = fmax(current_us, expose_value(trial, 0));
			wait_us = fmin(wait_us, expose_value(trial, i));
		}
		if (wait_us > MAX_SLOWDOWN * current_us)
			setting->values[i].left_out =
				psprintf("in its first %d slots of %g ms %s", 1 + EXPOSURE_REPEATS,
						 (EXPOSURE_S - MAX_SETTLE_S) * 1e3,
						 isinf(wait_us) ? "nothing committed" :
						 psprintf("a commit waited %.1f times as long", wait_us / current_us));
	}
}

/* Try the values for the duration, and give the old one back. */
void
sp_trial_run(sp_trial *trial)
{
	trial->slot_context = AllocSetContextCreate(CurrentMemoryContext, "slot of a trial",
												ALLOCSET_DEFAULT_SIZES);
	expose(trial);
	sp_compared_rounds(&trial->compared, trial->slot_s, take_trial_slot, trial);
	switch_to(trial, 0, true);
}
