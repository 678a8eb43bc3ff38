/*-------------------------------------------------------------------------
 *
 * verdict.c
 *		The verdict of a trial, and what the caller is told.
 *
 *-------------------------------------------------------------------------
 */
#include "trial/trial.h"

#include "miscadmin.h"

#include "engine/text/text.h"

static sp_commit_sums
all_sums(const sp_compared *compared)
{
	sp_commit_sums all = {0};

	for (int i = 0; i < compared->count; i++)
		sp_commit_sums_add(&all, &compared->values[i].sums);
	return all;
}

/*
 * Why there is nothing to compare, or NULL.  Where commits wait for no flush of WAL with any
 * of the values, differences in how long they wait are those of the processor.
 */
static const char *
nothing_to_compare(const sp_compared *compared)
{
	sp_commit_sums all = all_sums(compared);

	if (!enableFsync)
		return NULL;			/* which is a verdict of its own */
	if (compared->setting.count == 1)
		return "no other value is left";
	if (compared->setting.rounds == 0)
		return all.commits == 0 ? "no transaction that writes has committed" :
			"commits were too few, or did not wait: synchronous_commit may be off";
	if (compared->setting.deciding == SP_COMMIT_WAIT && sp_commit_waits_for_no_flush(&all))
		return "commits did not wait for a flush of WAL: synchronous_commit may be off";
	return NULL;
}

void
sp_trial_judge(sp_trial *trial)
{
	sp_compared *compared = &trial->run.settings[0];
	sp_setting_comparison *setting = &compared->setting;
	sp_sentence to = sp_sentence_begin(compared->reason, sizeof(compared->reason));
	const char *nothing = nothing_to_compare(compared);
	char		reason[SP_REASON_SIZE];

	sp_compared_judge(compared, SP_ALPHA);
	if (nothing)
		sp_setting_withdraw(setting);
	else
		sp_setting_explain(setting, reason);
	sp_say(&to, "%s", nothing ? nothing : reason);
	for (int i = setting->count; i < compared->count; i++)
		sp_say(&to, "; %s%s was left out: %s", compared->values[i].text, setting->unit,
			   compared->values[i].left_out);
	if (trial->old_statements > 0)
		sp_say(&to, trial->old_statements == 1 ?
			   "; %d session still used the previous value, in a statement that began before the slot" :
			   "; up to %d sessions still used the previous value, in a statement that began before the slot",
			   trial->old_statements);
}

/* A NOTICE for each value. */
void
sp_trial_tell(const sp_trial *trial)
{
	const sp_compared *compared = &trial->run.settings[0];

	for (int i = 0; i < compared->count; i++)
	{
		const sp_compared_value *value = &compared->values[i];
		sp_commit_figures figures;

		sp_commit_figures_of(&value->sums, &figures);
		ereport(NOTICE,
				(value->sums.commits == 0 ?
				 errmsg("%s = %s%s: %s", compared->setting.setting, value->text,
						compared->setting.unit, value->left_out ? "left out" : "no commits") :
				 errmsg("%s = %s%s: %.1f commits per second, a commit waits %.0f us",
						compared->setting.setting, value->text, compared->setting.unit,
						figures.commits_per_sec, figures.wait_us)));
	}
	if (trial->load == NULL && all_sums(compared).commits == 0 && compared->setting.count > 1)
		ereport(NOTICE,
				(errmsg("no transaction that writes has committed during the trial"),
				 errhint("Call it while the server is busy, or let a workload make load:"
						 " workload => 'upsert'.")));
}
