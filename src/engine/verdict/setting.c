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

/* What is judged: the figure that does not decide has a say only if it is clear of 1. */
static void
enter_value(const sp_setting_comparison *setting, const sp_setting_value *value,
			sp_contender *contender)
{
	for (int r = 0; r < SP_REGIMES; r++)
	{
		bool		clear = value->speed[r].low > 1 || value->speed[r].high < 1;

		contender->speed[r] = value->speed[clear ? r : (int) setting->deciding];
	}
	contender->name = value->value;
	contender->durable = value->durable;
}

void
sp_setting_judge(sp_setting_comparison *setting, double error)
{
	sp_comparison *comparison = &setting->comparison;

	memset(comparison, 0, sizeof(*comparison));
	comparison->count = setting->count;
	comparison->current = setting->current;
	comparison->margin = setting->margin;
	/* a load of 1 makes the second figure decide, an unknown one the first */
	comparison->pace = setting->deciding == SP_COMMIT_RATE ?
		(sp_pace) {1, 1, 1} : (sp_pace) {NAN, NAN, NAN};
	for (int i = 0; i < setting->count; i++)
	{
		compare_value(setting, &setting->values[i], error);
		enter_value(setting, &setting->values[i], &comparison->contenders[i]);
	}
	sp_classify(comparison);
	sp_judge(comparison, &setting->judgement);
	if (setting->rounds < SP_SETTING_MIN_ROUNDS)
		sp_setting_withdraw(setting);
}

void
sp_setting_withdraw(sp_setting_comparison *setting)
{
	setting->judgement.verdict = SP_UNDECIDED;
	setting->judgement.recommended = setting->judgement.best = setting->current;
}

/* ------------------------------------------------------------------- words */

/* " (-15 to -8)", in percent, where there is an interval */
static void
say_interval(sp_sentence *to, double low, double high)
{
	if (!isnan(low) && !isnan(high))
		sp_say(to, " (%+.0f to %+.0f)", (low - 1) * 100, (high - 1) * 100);
}

/* "12 % less time (-15 to -8)" */
static void
say_wait(sp_sentence *to, sp_speed speed)
{
	double		change = (1 / speed.estimate - 1) * 100;

	sp_say(to, "%.0f %% %s time", fabs(change), change > 0 ? "more" : "less");
	say_interval(to, 1 / speed.high, 1 / speed.low);
}

/* "4 % more commits per second (+1 to +7)" */
static void
say_rate(sp_sentence *to, sp_speed speed)
{
	double		gain = (speed.estimate - 1) * 100;

	sp_say(to, "%.0f %% %s commits per second", fabs(gain), gain < 0 ? "fewer" : "more");
	say_interval(to, speed.low, speed.high);
}

/* "with 50 us a commit takes 12 % less time (-15 to -8), with 4 % more ..." */
static void
say_value(sp_sentence *to, const sp_setting_comparison *setting, int i)
{
	const sp_setting_value *value = &setting->values[i];

	sp_say(to, "with %s%s ", value->value, setting->unit);
	if (isnan(value->speed[SP_COMMIT_WAIT].estimate))
	{
		sp_say(to, "nothing was measured");
		return;
	}
	sp_say(to, "a commit takes ");
	say_wait(to, value->speed[SP_COMMIT_WAIT]);
	sp_say(to, ", with ");
	say_rate(to, value->speed[SP_COMMIT_RATE]);
}

static void
say_others(sp_sentence *to, const sp_setting_comparison *setting)
{
	for (int i = 0; i < setting->count; i++)
	{
		if (i == setting->current)
			continue;
		sp_say(to, "; ");
		say_value(to, setting, i);
	}
}

/* Why it is undecided. */
static void
say_open(sp_sentence *to, const sp_setting_comparison *setting)
{
	double		noise = setting->judgement.noise;

	if (setting->rounds < SP_SETTING_MIN_ROUNDS)
		sp_say(to, "too few rounds: %d of %d", setting->rounds, SP_SETTING_MIN_ROUNDS);
	else if (isnan(noise))
		sp_say(to, "the current value could not be compared with itself");
	else if (noise > setting->margin)
		sp_say(to, "two measurements of the current value differ by up to %.0f %%, "
			"more than the margin of %.0f %%", noise * 100, setting->margin * 100);
	else
		sp_say(to, "the differences are not settled in this time");
	if (setting->lost_rounds > 0)
		sp_say(to, "; %d round%s had a slot without a commit", setting->lost_rounds,
			   setting->lost_rounds == 1 ? "" : "s");
}

void
sp_setting_explain(const sp_setting_comparison *setting, char reason[SP_REASON_SIZE])
{
	const sp_judgement *judgement = &setting->judgement;
	const char *current = setting->values[setting->current].value;
	sp_sentence to = sp_sentence_begin(reason, SP_REASON_SIZE);

	switch (judgement->verdict)
	{
		case SP_SWITCH:
			say_value(&to, setting, judgement->recommended);
			sp_say(&to, " than with %s%s", current, setting->unit);
			return;
		case SP_UNSAFE:
			sp_say(&to, "syncs with %s do not reach the device", current);
			return;
		case SP_KEEP:
			sp_say(&to, "no other value is worth a switch from %s%s", current, setting->unit);
			break;
		case SP_TIE:
			sp_say(&to, "no other value is worth a switch from %s%s, and at least one is equal to it",
				current, setting->unit);
			break;
		case SP_UNDECIDED:
			say_open(&to, setting);
			break;
	}
	if (setting->rounds > 0)
		say_others(&to, setting);
}
