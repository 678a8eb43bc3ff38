/*-------------------------------------------------------------------------
 *
 * reason.c
 *		A verdict in words.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/verdict/reason.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "engine/verdict/verdict_internal.h"

/* A reason that is being written, and what it explains. */
typedef struct explanation
{
	const sp_comparison *comparison;
	const sp_judgement *judgement;
	const sp_contender *current;
	char	   *text;			/* SP_REASON_SIZE bytes */
	double		times_as_long;	/* see sp_explain() */
} explanation;

static void
say(explanation *to, const char *format,...)
	__attribute__((format(printf, 2, 3)));

static void
say(explanation *to, const char *format,...)
{
	size_t		used = strlen(to->text);
	va_list		args;

	va_start(args, format);
	vsnprintf(to->text + used, SP_REASON_SIZE - used, format, args);
	va_end(args);
}

/* "12 % more flushes a second", with the interval where there is one */
static void
say_speed(explanation *to, sp_speed speed, const char *when)
{
	double		gain = (speed.estimate - 1) * 100;

	say(to, "%.0f %% %s flushes a second %s", fabs(gain), gain < 0 ? "fewer" : "more", when);
	if (sp_has_interval(speed))
		say(to, " (%+.0f to %+.0f)", (speed.low - 1) * 100, (speed.high - 1) * 100);
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
		say(to, "%s%s", separator, contender->name);
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
	return ceil((highest - 1) * 100 - 1e-9);
}

/* "no method is more than 7 % faster": what the intervals exclude. */
static void
say_bound(explanation *to)
{
	double		paced = highest_gain(to->comparison, SP_PACED);
	double		saturated = highest_gain(to->comparison, SP_SATURATED);

	if (isnan(paced) || isnan(saturated))
		say(to, "too few rounds to exclude anything");
	else if (paced == 0 && saturated == 0)
		say(to, "no method is faster");
	else
		say(to, "no method is more than %.0f %% faster at this cluster's pace, "
			"or %.0f %% back to back", paced, saturated);
}

static void
explain_switch(explanation *to)
{
	const sp_contender *best = &to->comparison->contenders[to->judgement->recommended];

	say(to, "%s makes ", best->name);
	say_speed(to, best->speed[SP_PACED], "at this cluster's pace");
	say(to, " and ");
	say_speed(to, best->speed[SP_SATURATED], "back to back");
	if (best->speed[SP_SATURATED].high < 1 - to->comparison->margin)
		say(to, "; the pace decides, for back-to-back flushes %s is the faster",
			to->current->name);
}

/* The methods that would gain by more than the margin only when saturated. */
static void
say_gains_when_saturated(explanation *to)
{
	for (int i = 0; i < to->comparison->count; i++)
	{
		const sp_contender *contender = &to->comparison->contenders[i];
		sp_speed	speed = contender->speed[SP_SATURATED];

		if (contender->class == SP_CURRENT || contender->durable == SP_DURABLE_NO ||
			isnan(speed.low) || speed.low <= 1 + to->comparison->margin)
			continue;
		say(to, "; %s would make ", contender->name);
		say_speed(to, speed, "back to back");
		say(to, ", but not at this cluster's pace");
	}
}

static void
explain_stay(explanation *to)
{
	const char *current = to->current->name;

	if (to->judgement->by_exclusion)
	{
		say_bound(to);
		say(to, "; equal to %s or slower: ", current);
		say_names(to, SP_OPEN);
	}
	else if (to->judgement->verdict == SP_KEEP)
		say(to, "every other method that can be measured is slower than %s", current);
	else
	{
		say_bound(to);
		say(to, "; as fast as %s: ", current);
		say_names(to, SP_EQUAL);
	}
	say_gains_when_saturated(to);
}

/*
 * How many times as many rounds until the end of an interval comes within an
 * edge: intervals shrink with the root of the rounds.
 */
static double
rounds_until(double estimate, double end, double edge)
{
	double		ratio = log(end / estimate) / log(edge / estimate);

	return ratio * ratio;
}

/* How many times as many rounds until the intervals of a contender settle something. */
static double
rounds_needed(const sp_contender *contender, double margin)
{
	sp_speed	paced = contender->speed[SP_PACED];
	sp_speed	saturated = contender->speed[SP_SATURATED];
	double		times = 1;

	for (int r = 0; r < SP_REGIMES; r++)
	{
		sp_speed	speed = contender->speed[r];
		double		edge = 1 + sp_stay_limit(r, margin);

		if (!sp_has_interval(speed))
			return INFINITY;
		if (sp_reaches_above(contender, r, margin))
			times = fmax(times, rounds_until(speed.estimate, speed.estimate < edge ?
											 speed.high : speed.low, edge));
	}
	/* a gain when saturated counts only if nothing can be lost when paced */
	if (saturated.low > 1 + margin && paced.low < 1 - margin)
		times = fmax(times, rounds_until(paced.estimate, paced.low, 1 - margin));
	return times;
}

/* The same for all contenders that may still be faster. */
static double
most_rounds_needed(const sp_comparison *comparison)
{
	double		margin = comparison->margin;
	double		times = 1;

	for (int i = 0; i < comparison->count; i++)
	{
		const sp_contender *contender = &comparison->contenders[i];

		if (sp_may_be_faster(contender, margin))
			times = fmax(times, rounds_needed(contender, margin));
	}
	return times;
}

/* Advise how much longer to probe. */
static void
say_longer(explanation *to, double times)
{
	to->times_as_long = times < 20 ? fmax(2, ceil(times)) : INFINITY;
	if (times < 20)
		say(to, "probe %.0f times as long as this run", to->times_as_long);
	else
		say(to, "probe much longer, or when it is quieter");
}

static void
explain_undecided(explanation *to)
{
	const sp_comparison *comparison = to->comparison;
	double		noise = to->judgement->noise;
	const char *current = to->current->name;

	if (isnan(sp_rank_estimate(to->current)))
		say(to, "the current method %s could not be measured", current);
	else if (isnan(noise))
		say(to, "too few rounds, or the control was not measured: probe longer");
	else if (sp_control_contradicts(comparison))
		say(to, "the control, %s against itself, differs by more than the margin of %.0f %%: "
			"probe longer, or when it is quieter", current, comparison->margin * 100);
	else if (noise > comparison->margin)
	{
		double		times = noise / comparison->margin;

		say(to, "the noise is %.1f %%, above the margin of %.0f %%: ",
			noise * 100, comparison->margin * 100);
		say_longer(to, times * times);
	}
	else if (comparison->count_of[SP_FASTER] > 0)
	{
		say(to, "faster, but not by more than two files of %s differ: ", current);
		say_names(to, SP_FASTER);
		say(to, ": probe longer");
	}
	else if (comparison->count_of[SP_OPEN] == 0)
		say(to, "no other method could be measured");
	else
	{
		say_bound(to);
		say(to, "; not settled: ");
		say_names(to, SP_OPEN);
		say(to, ": ");
		say_longer(to, most_rounds_needed(comparison));
	}
}

static void
explain_unsafe(explanation *to)
{
	int			recommended = to->judgement->recommended;

	say(to, "syncs with %s do not reach the device; ", to->current->name);
	if (recommended >= 0)
		say(to, "%s is the fastest method whose syncs do",
			to->comparison->contenders[recommended].name);
	else
		say(to, "no method is known whose syncs do: "
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
		.text = reason,
		.times_as_long = NAN,
	};

	reason[0] = '\0';
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
