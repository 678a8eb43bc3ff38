/*-------------------------------------------------------------------------
 *
 * reason.c
 *		A verdict in words.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/verdict/reason.h"

#include <math.h>
#include <string.h>

#include "engine/text/text.h"
#include "engine/verdict/verdict_internal.h"

/* A reason that is being written, and what it explains. */
typedef struct explanation
{
	const sp_comparison *comparison;
	const sp_judgement *judgement;
	const sp_contender *current;
	sp_sentence said;
	double		times_as_long;	/* see sp_explain() */
} explanation;

/* "with a flush every 5 ms": at the pace that was achieved. */
static void
say_paced_interval(explanation *to)
{
	double		interval_us = to->comparison->pace.paced_interval_us;

	if (isnan(interval_us))
		sp_say(&to->said, "when paced");
	else if (interval_us < 10000)
		sp_say(&to->said, "with a flush every %.2g ms", interval_us / 1000);
	else
		sp_say(&to->said, "with a flush every %.0f ms", interval_us / 1000);
}

/*
 * When paced, the interval is given, and a method decides how long each commit waits:
 * "takes 11 % less time per flush with a flush every 5 ms (-14 to -8)".
 */
static void
say_paced(explanation *to, sp_speed speed)
{
	double		change = (1 / speed.estimate - 1) * 100;

	sp_say(&to->said, "%.0f %% %s time per flush ", fabs(change), change > 0 ? "more" : "less");
	say_paced_interval(to);
	if (sp_has_interval(speed))
		sp_say(&to->said, " (%+.0f to %+.0f)", (1 / speed.high - 1) * 100, (1 / speed.low - 1) * 100);
}

/* "12 % more flushes a second back to back", with the interval where there is one */
static void
say_saturated(explanation *to, sp_speed speed)
{
	double		gain = (speed.estimate - 1) * 100;

	sp_say(&to->said, "%.0f %% %s flushes a second back to back", fabs(gain),
		   gain < 0 ? "fewer" : "more");
	if (sp_has_interval(speed))
		sp_say(&to->said, " (%+.0f to %+.0f)", (speed.low - 1) * 100, (speed.high - 1) * 100);
}

/* "takes 11 % less time per flush ..." or "makes 12 % more flushes ...", by the regime. */
static void
say_does(explanation *to, const sp_contender *contender, sp_regime regime)
{
	if (regime == SP_PACED)
	{
		sp_say(&to->said, "takes ");
		say_paced(to, contender->speed[SP_PACED]);
	}
	else
	{
		sp_say(&to->said, "makes ");
		say_saturated(to, contender->speed[SP_SATURATED]);
	}
}

/* The names of all contenders of one class, separated by commas. */
static void
say_names(explanation *to, sp_contender_class wanted)
{
	const char *separator = "";

	for (int i = 0; i < to->comparison->count; i++)
	{
		const sp_contender *contender = &to->comparison->contenders[i];

		if (contender->class != wanted)
			continue;
		sp_say(&to->said, "%s%s", separator, contender->name);
		separator = ", ";
	}
}

/* An upper bound, in percent, of what any other method gains in a regime; NAN if unknown. */
static double
highest_gain(const sp_comparison *comparison, sp_regime regime)
{
	double		highest = 1;

	for (int i = 0; i < comparison->count; i++)
	{
		const sp_contender *contender = &comparison->contenders[i];
		sp_speed	speed = contender->speed[regime];

		if (contender->class == SP_CURRENT || contender->durable == SP_DURABLE_NO ||
			isnan(speed.estimate))
			continue;
		if (!sp_has_interval(speed))
			return NAN;
		highest = fmax(highest, speed.high);
	}
	return ceil((highest - 1) * 100 - 1e-9) + 0.0;	/* not -0 */
}

/* "no method is more than 7 % faster": what the intervals exclude. */
static void
say_bound(explanation *to)
{
	double		paced = highest_gain(to->comparison, SP_PACED);
	double		saturated = highest_gain(to->comparison, SP_SATURATED);

	if (isnan(paced) || isnan(saturated))
		sp_say(&to->said, "too few rounds to exclude anything");
	else if (paced == 0 && saturated == 0)
		sp_say(&to->said, "no method is faster");
	else
	{
		sp_say(&to->said, "no method is more than %.0f %% faster ", paced);
		say_paced_interval(to);
		sp_say(&to->said, ", or %.0f %% back to back", saturated);
	}
}

/* Which regime decides, where it is not the paced one. */
static void
say_deciding(explanation *to)
{
	double		load = sp_pace_load(&to->comparison->pace);

	if (to->comparison->deciding == SP_SATURATED)
		sp_say(&to->said, "; back to back decides, since this cluster flushes %.0f %% of the time",
			fmin(load, 1) * 100);
}

/* What bars a contender that is faster. */
static void
say_bar(explanation *to, const sp_contender *contender)
{
	for (int r = 0; r < SP_REGIMES; r++)
	{
		if (!sp_has_heavier_tail(to->comparison, contender, r))
			continue;
		sp_say(&to->said, "%.1f %% of its %s rounds have a flush of more than five times the median "
			"(%.1f %% with %s)", sp_tail_share(&contender->tail[r]) * 100, sp_regime_name(r),
			sp_tail_share(&to->current->tail[r]) * 100, to->current->name);
		return;
	}
	sp_say(&to->said, "it ");
	say_does(to, contender, sp_other_regime(to->comparison->deciding));
}

/* The methods that are faster, and why they are not recommended. */
static void
say_barred(explanation *to)
{
	for (int i = 0; i < to->comparison->count; i++)
	{
		const sp_contender *contender = &to->comparison->contenders[i];

		if (contender->class != SP_BARRED)
			continue;
		sp_say(&to->said, "; %s ", contender->name);
		say_does(to, contender, to->comparison->deciding);
		sp_say(&to->said, ", but ");
		say_bar(to, contender);
	}
}

static void
explain_switch(explanation *to)
{
	const sp_contender *best = &to->comparison->contenders[to->judgement->recommended];
	sp_regime	deciding = to->comparison->deciding;

	/* what this cluster would see comes first */
	sp_say(&to->said, "%s ", best->name);
	say_does(to, best, deciding);
	sp_say(&to->said, " and ");
	say_does(to, best, sp_other_regime(deciding));
	say_deciding(to);
}

/* The methods that would gain by more than the margin only in the regime that does not decide. */
static void
say_other_gains(explanation *to)
{
	sp_regime	other = sp_other_regime(to->comparison->deciding);

	for (int i = 0; i < to->comparison->count; i++)
	{
		const sp_contender *contender = &to->comparison->contenders[i];
		sp_speed	speed = contender->speed[other];

		if (contender->class == SP_CURRENT || contender->class == SP_BARRED ||
			contender->durable == SP_DURABLE_NO ||
			isnan(speed.low) || speed.low <= 1 + to->comparison->margin)
			continue;
		sp_say(&to->said, "; %s would ", contender->name);
		if (other == SP_SATURATED)
		{
			sp_say(&to->said, "make ");
			say_saturated(to, speed);
			sp_say(&to->said, ", but not ");
			say_paced_interval(to);
		}
		else
		{
			sp_say(&to->said, "take ");
			say_paced(to, speed);
			sp_say(&to->said, ", but is not faster back to back");
		}
	}
}

static void
explain_stay(explanation *to)
{
	const char *current = to->current->name;

	if (to->judgement->by_exclusion)
	{
		say_bound(to);
		sp_say(&to->said, "; equal to %s or slower: ", current);
		say_names(to, SP_OPEN);
	}
	else if (to->judgement->verdict == SP_KEEP && to->comparison->count_of[SP_BARRED] > 0)
		sp_say(&to->said, "no other method that can be measured is worth a switch from %s", current);
	else if (to->judgement->verdict == SP_KEEP)
		sp_say(&to->said, "every other method that can be measured is slower than %s", current);
	else
	{
		say_bound(to);
		sp_say(&to->said, "; as fast as %s: ", current);
		say_names(to, SP_EQUAL);
	}
	say_barred(to);
	say_other_gains(to);
	say_deciding(to);
}

/* "2 of 40 paced rounds had a slow flush (0 of 41 with fdatasync)" */
static void
say_likely_tail(explanation *to, const sp_contender *contender)
{
	for (int r = 0; r < SP_REGIMES; r++)
	{
		const sp_tail *tail = &contender->tail[r];
		const sp_tail *current = &to->current->tail[r];

		if (!sp_tail_may_exceed(tail, current))
			continue;
		sp_say(&to->said, "%lld of %lld %s rounds had a slow flush (%lld of %lld with %s)",
			(long long) tail->slow_rounds, (long long) tail->rounds, sp_regime_name(r),
			(long long) current->slow_rounds, (long long) current->rounds, to->current->name);
		return;
	}
}

/* The methods that are faster, and wait for more rounds to tell of slow flushes. */
static void
say_waiting(explanation *to)
{
	for (int i = 0; i < to->comparison->count; i++)
	{
		const sp_contender *contender = &to->comparison->contenders[i];

		if (contender->class != SP_OPEN || !sp_is_faster(to->comparison, contender))
			continue;
		sp_say(&to->said, "%s is faster, but ", contender->name);
		say_likely_tail(to, contender);
		sp_say(&to->said, ", too few to tell; ");
	}
}

/* Advise how much longer to probe. */
static void
say_longer(explanation *to, double times)
{
	to->times_as_long = times < 20 ? fmax(2, ceil(times)) : INFINITY;
	if (times < 20)
		sp_say(&to->said, "probe %.0f times as long as this run", to->times_as_long);
	else
		sp_say(&to->said, "probe much longer, or when it is quieter");
}

/* Is there a figure against the current method?  Its own one is that of the control. */
static bool
is_any_compared(const sp_comparison *comparison)
{
	for (int i = 0; i < comparison->count; i++)
	{
		if (!isnan(sp_rank_estimate(comparison, &comparison->contenders[i])))
			return true;
	}
	return false;
}

static void
explain_undecided(explanation *to)
{
	const sp_comparison *comparison = to->comparison;
	double		noise = to->judgement->noise;
	const char *current = to->current->name;

	if (isnan(noise) && !is_any_compared(comparison))
		sp_say(&to->said, "the current method %s could not be measured", current);
	else if (isnan(noise))
		sp_say(&to->said, "too few rounds, or the control was not measured: probe longer");
	else if (sp_control_contradicts(comparison))
		sp_say(&to->said, "the control, %s against itself, differs by more than the margin of %.0f %%: "
			"probe longer, or when it is quieter", current, comparison->margin * 100);
	else if (noise > comparison->margin)
	{
		double		times = noise / comparison->margin;

		sp_say(&to->said, "the noise is %.1f %%, above the margin of %.0f %%: ",
			noise * 100, comparison->margin * 100);
		say_longer(to, times * times);
	}
	else if (comparison->count_of[SP_FASTER] > 0)
	{
		sp_say(&to->said, "faster, but not by more than two files of %s differ: ", current);
		say_names(to, SP_FASTER);
		sp_say(&to->said, ": probe longer");
	}
	else if (comparison->count_of[SP_OPEN] == 0)
		sp_say(&to->said, "no other method could be measured");
	else
	{
		say_waiting(to);
		say_bound(to);
		sp_say(&to->said, "; not settled: ");
		say_names(to, SP_OPEN);
		sp_say(&to->said, ": ");
		say_longer(to, sp_entries_needed(comparison));
	}
	if (comparison->count_of[SP_SLOWER] > 0)
	{
		sp_say(&to->said, "; slower than %s: ", current);
		say_names(to, SP_SLOWER);
	}
	if (to->judgement->best != comparison->current && to->judgement->best >= 0)
		sp_say(&to->said, "; the best choice so far is %s",
			comparison->contenders[to->judgement->best].name);
	say_deciding(to);
}

static void
explain_unsafe(explanation *to)
{
	int			recommended = to->judgement->recommended;

	sp_say(&to->said, "syncs with %s do not reach the device; ", to->current->name);
	if (recommended >= 0)
		sp_say(&to->said, "%s is the fastest method whose syncs do",
			to->comparison->contenders[recommended].name);
	else
		sp_say(&to->said, "no method is known whose syncs do: "
			"change the storage, not the setting");
}

double
sp_explain(const sp_comparison *comparison, const sp_judgement *judgement,
		   char reason[SP_REASON_SIZE])
{
	explanation to = {
		.comparison = comparison,
		.judgement = judgement,
		.current = &comparison->contenders[comparison->current],
		.said = sp_sentence_begin(reason, SP_REASON_SIZE),
		.times_as_long = NAN,
	};

	switch (judgement->verdict)
	{
		case SP_UNSAFE:
			explain_unsafe(&to);
			break;
		case SP_SWITCH:
			explain_switch(&to);
			break;
		case SP_UNDECIDED:
			explain_undecided(&to);
			break;
		case SP_KEEP:
		case SP_TIE:
			explain_stay(&to);
			break;
	}
	return to.times_as_long;
}
