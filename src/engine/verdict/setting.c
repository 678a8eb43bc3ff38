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
		setting->values[i].commits_per_sec[n] = commits_per_sec[i];
	}
	setting->rounds++;
}

/* A speed above 1 is better: a shorter wait, or more commits. */
static void
compare_value(sp_setting_comparison *setting, sp_setting_value *value, double error)
{
	const sp_setting_value *current = &setting->values[setting->current];
	/* the current value against its control */
	const sp_setting_value *other = value == current ? &setting->values[setting->count] : value;
	int			comparisons = setting->count - 1;

	value->speed[SP_COMMIT_WAIT] =
		sp_speed_interval(current->wait_us, other->wait_us, setting->rounds,
						  error, comparisons, setting->workspace);
	value->speed[SP_COMMIT_RATE] =
		sp_speed_interval(other->commits_per_sec, current->commits_per_sec, setting->rounds,
						  error, comparisons, setting->workspace);
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
		compare_value(setting, &setting->values[i], error);
		comparison->contenders[i].name = setting->values[i].value;
		comparison->contenders[i].durable = SP_DURABLE_UNKNOWN;
		comparison->contenders[i].speed = setting->values[i].speed[setting->deciding];
	}
	sp_judge(comparison, &setting->judgement);
}

void
sp_setting_withdraw(sp_setting_comparison *setting)
{
	setting->judgement.verdict = SP_UNDECIDED;
	setting->judgement.recommended = setting->judgement.best = setting->current;
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
		.entries = setting->rounds,
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
