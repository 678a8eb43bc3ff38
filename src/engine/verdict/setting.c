/*-------------------------------------------------------------------------
 *
 * setting.c
 *		Compare values of a setting by the rounds of a trial or of the commit suite.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/verdict/setting.h"

#include <math.h>

#include "engine/text/text.h"

int
sp_setting_others(const sp_setting_comparison *setting)
{
	int			others = 0;

	for (int i = 1; i < setting->count; i++)
		others += setting->values[i].left_out == NULL;
	return others;
}

void
sp_setting_add_round(sp_setting_comparison *setting,
					 const double *wait_us, const double *commits_per_sec)
{
	int			n = setting->rounds;

	if (n == SP_SETTING_MAX_ROUNDS)
		return;
	for (int i = 0; i <= setting->count; i++)
	{
		/* written so that NAN is lost, too */
		if (!setting->values[i].left_out && !(wait_us[i] > 0 && commits_per_sec[i] > 0))
		{
			setting->lost_rounds++;
			return;
		}
	}
	for (int i = 0; i <= setting->count; i++)
	{
		setting->values[i].us[SP_COMMIT_WAIT][n] = wait_us[i];
		setting->values[i].us[SP_COMMIT_RATE][n] = 1e6 / commits_per_sec[i];
	}
	setting->rounds++;
}

/* A speed above 1 is better: a shorter wait, or more commits. */
static sp_speed
speed_of(sp_setting_comparison *setting, int i, sp_setting_figure figure, double error)
{
	const double *current = setting->values[0].us[figure];
	const double *control = setting->values[setting->count].us[figure];

	if (setting->values[i].left_out)
		return (sp_speed) {NAN, NAN, NAN};
	if (i == 0)
		return sp_speed_interval(current, control, setting->rounds, error, 1,
								 setting->workspace);
	return sp_speed_against_both(current, control, setting->values[i].us[figure],
								 setting->rounds, error, sp_setting_others(setting),
								 setting->workspace);
}

/*
 * Why there is nothing to compare, or NULL.  Where commits wait for no flush of WAL with any
 * of the values, differences in how long they wait are those of the processor.
 */
static const char *
nothing_to_compare(const sp_setting_comparison *setting)
{
	const sp_commit_sums *seen = setting->seen;

	if (setting->comparison.fsync_off)
		return NULL;			/* which is a verdict of its own */
	if (sp_setting_others(setting) == 0)
		return "no other value is left";
	if (seen == NULL)
		return NULL;
	if (setting->rounds == 0)
		return seen->commits == 0 ?
			"no transaction that writes has committed; repeat it while sessions write" :
			setting->lost_rounds == 0 ?
			"the duration left no time for a round; repeat it with a longer one" :
			"commits were too few, or did not wait: synchronous_commit may be off";
	if (setting->deciding == SP_COMMIT_WAIT && sp_commit_waits_for_no_flush(seen))
		return "commits did not wait for a flush of WAL: synchronous_commit may be off";
	return NULL;
}

void
sp_setting_judge(sp_setting_comparison *setting, double error)
{
	sp_comparison *comparison = &setting->comparison;
	sp_judgement *judgement = &setting->judgement;

	comparison->count = setting->count;
	comparison->samples = setting->rounds;
	for (int i = 0; i < setting->count; i++)
	{
		for (sp_setting_figure figure = 0; figure < SP_SETTING_FIGURES; figure++)
			setting->values[i].speed[figure] = speed_of(setting, i, figure, error);
		comparison->candidates[i] = (sp_candidate) {
			.name = setting->values[i].value, .durable = SP_DURABLE_UNKNOWN,
			.speed = setting->values[i].speed[setting->deciding]
		};
	}
	sp_judge(comparison, judgement);
	setting->nothing = nothing_to_compare(setting);
	if (setting->nothing == NULL)
		return;
	judgement->verdict = SP_UNDECIDED;
	judgement->recommended = judgement->best = 0;
	judgement->max_regret = NAN;
	/* a longer run helps if there were commits, but no round of them */
	judgement->times_as_long = sp_setting_others(setting) > 0 && setting->rounds == 0 &&
		setting->seen->commits > 0 ? NAN : 1;
}

static void
append_comparison(const sp_setting_comparison *setting, sp_sentence *to)
{
	sp_setting_figure other = setting->deciding == SP_COMMIT_WAIT ? SP_COMMIT_RATE : SP_COMMIT_WAIT;
	sp_speed	others[SP_MAX_METHODS];
	sp_words	words = {
		.values = true,
		.unit = setting->unit,
		.rate = setting->deciding == SP_COMMIT_RATE,
		.when = "",
		.other = others
	};
	char		reason[SP_REASON_SIZE];

	for (int i = 0; i < setting->count; i++)
		others[i] = setting->values[i].speed[other];
	sp_explain(&setting->comparison, &setting->judgement, &words, reason);
	sp_append(to, "%s", reason);
	if (setting->lost_rounds > 0 && setting->judgement.verdict != SP_UNSAFE)
		sp_append(to, "; %d round%s had a slot without a commit that waited", setting->lost_rounds,
				  setting->lost_rounds == 1 ? "" : "s");
}

void
sp_setting_explain(const sp_setting_comparison *setting, char *reason, size_t size)
{
	sp_sentence to = sp_sentence_begin(reason, size);

	if (setting->nothing)
		sp_append(&to, "%s", setting->nothing);
	else
		append_comparison(setting, &to);
	for (int i = 0; i < setting->count; i++)
	{
		if (setting->values[i].left_out)
			sp_append(&to, "; %s%s was left out: %s", setting->values[i].value, setting->unit,
					  setting->values[i].left_out);
	}
}
