/*-------------------------------------------------------------------------
 *
 * commit_values.c
 *		The values that a run of the commit suite compares: which are left, and the verdict.
 *
 * It must not: write WAL, or wait.
 *
 *-------------------------------------------------------------------------
 */
#include "probe/probe.h"

#include <math.h>

#include "engine/text/sentence.h"

/* Below that share of the syncs, workers do not show what their settings do. */
#define MIN_OWN_SHARE		(1.0 / 3)

/* ------------------------------------------------------------------- values */

/* Leave a member out of the comparison.  It must not be the current one. */
static void
drop_member(sp_commit_values *values, int m)
{
	sp_setting_comparison *setting = &values->setting;

	sp_setting_remove_value(setting, m);
	memmove(&values->member[m], &values->member[m + 1], (setting->count - m) * sizeof(int));
	if (setting->count == 1)
		values->done = true;
}

sp_commit_value *
sp_commit_member(sp_commit_values *values, int m)
{
	/* the control is the current value once more */
	return &values->values[values->member[m == values->setting.count ? values->setting.current : m]];
}

bool
sp_commit_has_mixed(sp_commit_values *values)
{
	for (int m = 0; m < values->setting.count; m++)
	{
		if (sp_commit_member(values, m)->mixed)
			return true;
	}
	return false;
}

/* WAL is written and not flushed: methods of the other kind must not be used any more. */
void
sp_commit_stop_mixed(sp_commit_values *values)
{
	for (int m = values->setting.count - 1; m >= 0; m--)
	{
		sp_commit_value *value = sp_commit_member(values, m);

		if (!value->mixed)
			continue;
		value->status = SP_STOPPED;
		value->detail = "other sessions write WAL without flushing it, which is not safe beside "
			"this method";
		drop_member(values, m);
	}
}

/* A worker that cannot write WAL would end the server, so the others are tried before. */
void
sp_commit_try_methods(sp_commit_values *methods)
{
	for (int m = methods->setting.count - 1; m >= 0; m--)
	{
		sp_commit_value *value = sp_commit_member(methods, m);
		const char *call;

		if (m == methods->setting.current)
			continue;
		value->status = sp_wal_try_method(sp_sync_method_find(value->wal_sync_method), &call);
		if (value->status == SP_OK)
			continue;
		value->detail = psprintf("could not %s file: %s", call, strerror(errno));
		drop_member(methods, m);
	}
}

/* ---------------------------------------------------------------- judgement */

static void
judge(const sp_commit_run *run, sp_commit_values *values)
{
	double		error = run->stop_early ? sp_analysis_alpha(values->analyses + 1) : 0.05;

	sp_setting_judge(&values->setting, error);
}

/* At an interim analysis: is the verdict settled? */
void
sp_commit_analyze_if_due(const sp_commit_run *run, sp_commit_values *values)
{
	sp_setting_comparison *setting = &values->setting;

	if (!run->stop_early ||
		setting->rounds < sp_analysis_entries(values->analyses + 1))
		return;
	judge(run, values);
	values->analyses++;
	values->done = sp_judgement_settled(&setting->comparison, &setting->judgement);
}

/* The smallest share of the syncs that workers made with one of the values. */
static double
least_own_share(sp_commit_values *values)
{
	double		least = NAN;

	for (int m = 0; m < values->setting.count; m++)
	{
		const sp_commit_value *value = sp_commit_member(values, m);

		least = fmin(least, sp_commit_load_own_share(value->worker_syncs, value->syncs));
	}
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

	if (diluted && (judgement->verdict == SP_KEEP || judgement->verdict == SP_TIE))
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
	if (!values->done || values->analyses == 0)
		judge(run, values);
	if (values->setting.count > 1)
	{
		explain(values);
		return;
	}
	values->setting.judgement.verdict = SP_UNDECIDED;
	strlcpy(values->reason, "no other value could be measured", sizeof(values->reason));
}
