/*-------------------------------------------------------------------------
 *
 * setting.c
 *		Compare values of a setting by the rounds of a trial or of the commit suite.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/verdict/setting.h"

#include <math.h>
#include <string.h>

#include "engine/text/text.h"

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
		if (!(wait_us[i] > 0 && commits_per_sec[i] > 0))
		{
			setting->lost_rounds++;
			return;
		}
	}
	for (int i = 0; i <= setting->count; i++)
	{
		setting->values[i].wait_us[n] = wait_us[i];
		setting->values[i].us_per_commit[n] = 1e6 / commits_per_sec[i];
	}
	setting->rounds++;
}

/* A figure of a value in each round: smaller is better. */
static const double *
figure_of(const sp_setting_value *value, sp_setting_figure figure)
{
	return figure == SP_COMMIT_WAIT ? value->wait_us : value->us_per_commit;
}

/* A speed above 1 is better: a shorter wait, or more commits. */
static sp_speed
speed_of(sp_setting_comparison *setting, int i, sp_setting_figure figure, double error)
{
	const double *current = figure_of(&setting->values[setting->current], figure);
	const double *control = figure_of(&setting->values[setting->count], figure);

	if (i == setting->current)
		return sp_speed_interval(current, control, setting->rounds, error, 1,
								 setting->workspace);
	return sp_speed_against_both(current, control, figure_of(&setting->values[i], figure),
								 setting->rounds, error, setting->count - 1,
								 setting->baseline, setting->workspace);
}

void
sp_setting_judge(sp_setting_comparison *setting, double error)
{
	sp_comparison *comparison = &setting->comparison;

	memset(comparison, 0, sizeof(*comparison));
	comparison->count = setting->count;
	comparison->current = setting->current;
	comparison->margin = setting->margin;
	comparison->fsync_off = setting->fsync_off;
	for (int i = 0; i < setting->count; i++)
	{
		for (sp_setting_figure figure = 0; figure < SP_SETTING_FIGURES; figure++)
			setting->values[i].speed[figure] = speed_of(setting, i, figure, error);
		comparison->candidates[i].name = setting->values[i].value;
		comparison->candidates[i].durable = SP_DURABLE_UNKNOWN;
		comparison->candidates[i].speed = setting->values[i].speed[setting->deciding];
	}
	sp_judge(comparison, &setting->judgement);
}

void
sp_setting_withdraw(sp_setting_comparison *setting)
{
	setting->judgement.verdict = SP_UNDECIDED;
	setting->judgement.recommended = setting->judgement.best = setting->current;
	setting->judgement.max_regret = setting->judgement.times_as_long = NAN;
}

void
sp_setting_explain(const sp_setting_comparison *setting, char reason[SP_REASON_SIZE])
{
	sp_setting_figure other = setting->deciding == SP_COMMIT_WAIT ? SP_COMMIT_RATE : SP_COMMIT_WAIT;
	sp_speed	others[SP_MAX_METHODS];
	sp_words	words = {
		.values = true,
		.unit = setting->unit,
		.rate = setting->deciding == SP_COMMIT_RATE,
		.when = "",
		.samples = setting->rounds,
		.other = others
	};
	sp_sentence to;
	size_t		length;

	for (int i = 0; i < setting->count; i++)
		others[i] = setting->values[i].speed[other];
	sp_explain(&setting->comparison, &setting->judgement, &words, reason);
	length = strlen(reason);
	to = (sp_sentence) {reason + length, SP_REASON_SIZE - length};
	if (setting->lost_rounds > 0 && setting->judgement.verdict != SP_UNSAFE)
		sp_say(&to, "; %d round%s had a slot without a commit", setting->lost_rounds,
			   setting->lost_rounds == 1 ? "" : "s");
}
