/*-------------------------------------------------------------------------
 *
 * reason.c
 *		A verdict in words.
 *
 * They are for a DBA: percent, not ratios, and what to do next.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/verdict/verdict_internal.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* What is explained, and the text so far. */
typedef struct explanation
{
	const sp_contenders *contenders;
	const sp_judgement *judgement;
	char	   *text;
	size_t		size;
} explanation;

static void
say(explanation *of, const char *format,...)
	__attribute__((format(printf, 2, 3)));

static void
say(explanation *of, const char *format,...)
{
	size_t		used = strlen(of->text);
	va_list		args;

	va_start(args, format);
	vsnprintf(of->text + used, of->size - used, format, args);
	va_end(args);
}

/* "12 % more flushes a second", with the interval where there is one */
static void
say_speed(explanation *of, sp_speed speed, const char *when)
{
	double		gain = (speed.estimate - 1) * 100;

	say(of, "%.0f %% %s flushes a second %s", fabs(gain), gain < 0 ? "fewer" : "more", when);
	if (sp_has_interval(speed))
		say(of, " (%+.0f to %+.0f)", (speed.low - 1) * 100, (speed.high - 1) * 100);
}

static const sp_contender *
current_of(const explanation *of)
{
	return &of->contenders->list[of->contenders->current];
}

/* Is it a contender of that class, and not the current method? */
static bool
is_of_class(const explanation *of, int i, sp_contender_class wanted)
{
	return i != of->contenders->current &&
		sp_classify(&of->contenders->list[i], of->contenders->margin) == wanted;
}

/* The names of all contenders of one class. */
static void
say_names(explanation *of, sp_contender_class wanted)
{
	const char *separator = "";

	for (int i = 0; i < of->contenders->count; i++)
	{
		if (!is_of_class(of, i, wanted))
			continue;
		say(of, "%s%s", separator, of->contenders->list[i].name);
		separator = ", ";
	}
}

/* The upper bound of what any other method gains in a regime; NAN if unknown. */
static double
highest_gain(const explanation *of, sp_regime regime)
{
	double		highest = 1;

	for (int i = 0; i < of->contenders->count; i++)
	{
		const sp_contender *contender = &of->contenders->list[i];
		sp_speed	speed = contender->speed[regime];

		if (i == of->contenders->current || isnan(speed.estimate) ||
			contender->durable == SP_DURABLE_NO)
			continue;
		if (!sp_has_interval(speed))
			return NAN;
		highest = fmax(highest, speed.high);
	}
	return ceil((highest - 1) * 100 - 1e-9);
}

/* "no method is more than 7 % faster": what is excluded, if anything is. */
static void
say_bound(explanation *of)
{
	double		paced = highest_gain(of, SP_PACED);
	double		saturated = highest_gain(of, SP_SATURATED);

	if (isnan(paced) || isnan(saturated))
		say(of, "too few rounds to exclude anything");
	else if (paced == 0 && saturated == 0)
		say(of, "no method is faster");
	else
		say(of, "no method is more than %.0f %% faster at this cluster's pace, or %.0f %% back to back",
			paced, saturated);
}

static void
explain_switch(explanation *of)
{
	const sp_contender *best = &of->contenders->list[of->judgement->recommended];

	say(of, "%s makes ", best->name);
	say_speed(of, best->speed[SP_PACED], "at this cluster's pace");
	say(of, " and ");
	say_speed(of, best->speed[SP_SATURATED], "back to back");
	if (best->speed[SP_SATURATED].high < 1 - of->contenders->margin)
		say(of, "; the pace decides, for back-to-back flushes %s is the faster",
			current_of(of)->name);
}

/* What others gain back to back, where that does not count. */
static void
say_saturated_gains(explanation *of)
{
	for (int i = 0; i < of->contenders->count; i++)
	{
		const sp_contender *contender = &of->contenders->list[i];
		sp_speed	saturated = contender->speed[SP_SATURATED];

		if (i == of->contenders->current || contender->durable == SP_DURABLE_NO ||
			isnan(saturated.low) || saturated.low <= 1 + of->contenders->margin)
			continue;
		say(of, "; %s would make ", contender->name);
		say_speed(of, saturated, "back to back");
		say(of, ", but not at this cluster's pace");
	}
}

static void
explain_stay(explanation *of)
{
	if (of->judgement->by_exclusion)
	{
		say_bound(of);
		say(of, "; equal to %s or slower: ", current_of(of)->name);
		say_names(of, SP_OPEN);
	}
	else if (of->judgement->verdict == SP_KEEP)
		say(of, "every other method that can be measured is slower than %s", current_of(of)->name);
	else
	{
		say_bound(of);
		say(of, "; as fast as %s: ", current_of(of)->name);
		say_names(of, SP_EQUAL);
	}
	say_saturated_gains(of);
}

/*
 * How many times as many rounds until an interval ends before an edge; it
 * shrinks with their root.
 */
static double
rounds_until(double estimate, double end, double edge)
{
	double		ratio = log(end / estimate) / log(edge / estimate);

	return ratio * ratio;
}

/* How many times as many rounds until the contender's intervals settle something. */
static double
rounds_needed(const sp_contender *contender, double margin)
{
	double		times = 1;

	for (int r = 0; r < SP_REGIMES; r++)
	{
		sp_speed	speed = contender->speed[r];
		double		edge = 1 + sp_stay_limit(r, margin);

		if (!sp_has_interval(speed))
			return INFINITY;
		if (sp_reaches_above_in(contender, r, margin))
			times = fmax(times, rounds_until(speed.estimate,
											 speed.estimate < edge ? speed.high : speed.low, edge));
	}
	/* a gain back to back counts once nothing can be lost when paced */
	if (contender->speed[SP_SATURATED].low > 1 + margin && contender->speed[SP_PACED].low < 1 - margin)
		times = fmax(times, rounds_until(contender->speed[SP_PACED].estimate,
										 contender->speed[SP_PACED].low, 1 - margin));
	return times;
}

/* Advice to whoever would know more: how much longer. */
static void
say_longer(explanation *of, double times)
{
	if (times < 20)
		say(of, "probe %.0f times as long as this run", fmax(2, ceil(times)));
	else
		say(of, "probe much longer, or when it is quieter");
}

static int
count_class(const explanation *of, sp_contender_class wanted)
{
	int			n = 0;

	for (int i = 0; i < of->contenders->count; i++)
		n += is_of_class(of, i, wanted);
	return n;
}

/* Methods that may be faster, and how long it takes to know. */
static void
explain_open(explanation *of)
{
	const sp_contenders *contenders = of->contenders;
	double		times = 1;

	for (int i = 0; i < contenders->count; i++)
	{
		if (i != contenders->current && sp_reaches_above(&contenders->list[i], contenders->margin))
			times = fmax(times, rounds_needed(&contenders->list[i], contenders->margin));
	}
	say_bound(of);
	say(of, "; not settled: ");
	say_names(of, SP_OPEN);
	say(of, ": ");
	say_longer(of, times);
}

static void
explain_undecided(explanation *of)
{
	const sp_contender *current = current_of(of);
	double		margin = of->contenders->margin;
	double		noise = of->judgement->noise;

	if (isnan(sp_rank_estimate(current)))
		say(of, "the current method %s could not be measured", current->name);
	else if (isnan(noise))
		say(of, "too few rounds, or the control was not measured: probe longer");
	else if (sp_control_contradicts(current, margin))
		say(of, "the control, %s against itself, differs by more than the margin of %.0f %%: probe longer, or when it is quieter",
			current->name, margin * 100);
	else if (noise > margin)
	{
		say(of, "the noise is %.1f %%, above the margin of %.0f %%: ", noise * 100, margin * 100);
		say_longer(of, noise / margin * (noise / margin));
	}
	else if (count_class(of, SP_FASTER) > 0)
	{
		say(of, "faster, but not by more than two files of %s differ: ", current->name);
		say_names(of, SP_FASTER);
		say(of, ": probe longer");
	}
	else if (count_class(of, SP_OPEN) == 0)
		say(of, "no other method could be measured");
	else
		explain_open(of);
}

static void
explain_unsafe(explanation *of)
{
	say(of, "syncs with %s do not reach the device; ", current_of(of)->name);
	if (of->judgement->recommended >= 0)
		say(of, "%s is the fastest method whose syncs do",
			of->contenders->list[of->judgement->recommended].name);
	else
		say(of, "nor is there a method whose syncs were seen to: change the storage, not the setting");
}

void
sp_explain(const sp_contenders *contenders, const sp_judgement *judgement,
		   char *reason, size_t size)
{
	explanation of = {contenders, judgement, reason, size};

	reason[0] = '\0';
	if (judgement->verdict == SP_UNSAFE)
		explain_unsafe(&of);
	else if (judgement->verdict == SP_SWITCH)
		explain_switch(&of);
	else if (judgement->verdict == SP_UNDECIDED)
		explain_undecided(&of);
	else
		explain_stay(&of);
}
