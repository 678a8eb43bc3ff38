/*-------------------------------------------------------------------------
 *
 * commit_values.c
 *		The values that a run of the commit suite compares, and the verdict on them.
 *
 * It must not: write WAL, or wait.
 *
 *-------------------------------------------------------------------------
 */
#include "probe/probe.h"

#include <math.h>

#include "miscadmin.h"

#include "engine/text/sentence.h"

/* Below that share of the syncs, workers do not show what their settings do. */
#define MIN_OWN_SHARE		(1.0 / 3)

sp_commit_value *
sp_commit_member(sp_commit_values *values, int m)
{
	/* the control is the current value once more */
	return &values->values[m == values->count ? values->setting.current : m];
}

/* ---------------------------------------------------------------- judgement */

static void
judge(sp_commit_values *values, double error)
{
	values->setting.fsync_off = !enableFsync;
	sp_setting_judge(&values->setting, error);
}

void
sp_commit_look_if_due(const sp_commit_run *run, sp_commit_values *values, int64 elapsed_us)
{
	int			due = sp_looks_due(elapsed_us, run->duration_us);

	if (!run->stop_early || due <= values->looks)
		return;
	values->looks = due;
	judge(values, sp_look_alpha(due));
	values->done = sp_is_settled(&values->setting.comparison, &values->setting.judgement);
}

/* The smallest share of the syncs that workers made with one of the values. */
static double
least_own_share(sp_commit_values *values)
{
	double		least = NAN;

	for (int i = 0; i < values->count; i++)
		least = fmin(least, sp_commit_load_own_share(values->values[i].worker_syncs,
													 values->values[i].syncs));
	return least;
}

/*
 * Where others sync most of the WAL, differences look smaller than they are: they may still
 * show a gain, but never that there is none.
 */
static void
explain(sp_commit_values *values)
{
	sp_judgement *judgement = &values->setting.judgement;
	sp_sentence to = {values->reason, sizeof(values->reason)};
	double		own_share = least_own_share(values);
	bool		diluted = own_share < MIN_OWN_SHARE;

	if (diluted && judgement->verdict == SP_KEEP)
	{
		judgement->verdict = SP_UNDECIDED;
		values->reason[0] = '\0';
	}
	else
	{
		sp_setting_explain(&values->setting, values->reason);
		if (diluted)
			sp_say(&to, "; ");
	}
	if (diluted)
		sp_say(&to, "workers made only %.0f %% of the syncs of WAL, and other processes synced with "
			   "the server's own settings: CALL " SP_SCHEMA ".trial() compares those",
			   own_share * 100);
}

void
sp_commit_conclude(const sp_commit_run *run, sp_commit_values *values)
{
	if (values->count == 0)
		return;
	/* a settled verdict keeps the intervals that settled it */
	if (!values->done || values->looks == 0)
		judge(values, run->stop_early ? sp_look_alpha(SP_LOOKS) : SP_ALPHA);
	explain(values);
}
