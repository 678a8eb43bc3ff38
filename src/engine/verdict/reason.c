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

static void
say(sp_judgement *judgement, const char *format,...)
	__attribute__((format(printf, 2, 3)));

static void
say(sp_judgement *judgement, const char *format,...)
{
	size_t		used = strlen(judgement->reason);
	va_list		args;

	va_start(args, format);
	vsnprintf(judgement->reason + used, sizeof(judgement->reason) - used, format, args);
	va_end(args);
}

/* "12 % more flushes a second", with the interval where there is one */
static void
say_speed(sp_judgement *judgement, sp_speed speed, const char *when)
{
	double		gain = (speed.estimate - 1) * 100;

	say(judgement, "%.0f %% %s flushes a second %s", fabs(gain), gain < 0 ? "fewer" : "more", when);
	if (sp_has_interval(speed))
		say(judgement, " (%+.0f to %+.0f)", (speed.low - 1) * 100, (speed.high - 1) * 100);
}

/* The names of all contenders of one class. */
static void
say_names(sp_judgement *judgement, const sp_contender *contenders, int count, int current,
		  double margin, sp_contender_class wanted)
{
	const char *separator = "";

	for (int i = 0; i < count; i++)
	{
		if (i == current || sp_classify(&contenders[i], margin) != wanted)
			continue;
		say(judgement, "%s%s", separator, contenders[i].name);
		separator = ", ";
	}
}

/* The least bound on what any other method gains in a regime; NAN if unknown. */
static double
highest_gain(const sp_contender *contenders, int count, int current, sp_regime regime)
{
	double		highest = 1;

	for (int i = 0; i < count; i++)
	{
		sp_speed	speed = contenders[i].speed[regime];

		if (i == current || isnan(speed.estimate) || contenders[i].durable == SP_DURABLE_NO)
			continue;
		if (!sp_has_interval(speed))
			return NAN;
		highest = fmax(highest, speed.high);
	}
	return ceil((highest - 1) * 100 - 1e-9);
}

/* "no method is more than 7 % faster": what is excluded, if anything is. */
static void
say_bound(sp_judgement *judgement, const sp_contender *contenders, int count, int current)
{
	double		paced = highest_gain(contenders, count, current, SP_PACED);
	double		saturated = highest_gain(contenders, count, current, SP_SATURATED);

	if (isnan(paced) || isnan(saturated))
		say(judgement, "too few rounds to exclude anything");
	else if (paced == 0 && saturated == 0)
		say(judgement, "no method is faster");
	else
		say(judgement, "no method is more than %.0f %% faster at this cluster's pace, or %.0f %% back to back",
			paced, saturated);
}

static void
explain_switch(const sp_contender *contenders, int current, double margin, sp_judgement *judgement)
{
	const sp_contender *best = &contenders[judgement->recommended];

	say(judgement, "%s makes ", best->name);
	say_speed(judgement, best->speed[SP_PACED], "at this cluster's pace");
	say(judgement, " and ");
	say_speed(judgement, best->speed[SP_SATURATED], "back to back");
	if (best->speed[SP_SATURATED].high < 1 - margin)
		say(judgement, "; the pace decides, for back-to-back flushes %s is the faster",
			contenders[current].name);
}

static void
explain_stay(const sp_contender *contenders, int count, int current, double margin,
			 sp_judgement *judgement)
{
	if (judgement->by_exclusion)
	{
		say_bound(judgement, contenders, count, current);
		say(judgement, "; equal to %s or slower: ", contenders[current].name);
		say_names(judgement, contenders, count, current, margin, SP_OPEN);
	}
	else if (judgement->verdict == SP_KEEP)
		say(judgement, "every other method that can be measured is slower than %s",
			contenders[current].name);
	else
	{
		say_bound(judgement, contenders, count, current);
		say(judgement, "; as fast as %s: ", contenders[current].name);
		say_names(judgement, contenders, count, current, margin, SP_EQUAL);
	}
	for (int i = 0; i < count; i++)
	{
		if (i == current || contenders[i].durable == SP_DURABLE_NO ||
			isnan(contenders[i].speed[SP_SATURATED].low) ||
			contenders[i].speed[SP_SATURATED].low <= 1 + margin)
			continue;
		say(judgement, "; %s would make ", contenders[i].name);
		say_speed(judgement, contenders[i].speed[SP_SATURATED], "back to back");
		say(judgement, ", but not at this cluster's pace");
	}
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
say_longer(sp_judgement *judgement, double times)
{
	if (times < 20)
		say(judgement, "probe %.0f times as long as this run", fmax(2, ceil(times)));
	else
		say(judgement, "probe much longer, or when it is quieter");
}

static int
count_class(const sp_contender *contenders, int count, int current, double margin, sp_contender_class wanted)
{
	int			n = 0;

	for (int i = 0; i < count; i++)
		n += i != current && sp_classify(&contenders[i], margin) == wanted;
	return n;
}

static void
explain_undecided(const sp_contender *contenders, int count, int current, double margin,
				  sp_judgement *judgement)
{
	if (isnan(sp_rank_estimate(&contenders[current])))
		say(judgement, "the current method %s could not be measured", contenders[current].name);
	else if (isnan(judgement->noise))
		say(judgement, "too few rounds, or the control was not measured: probe longer");
	else if (sp_control_contradicts(&contenders[current], margin))
		say(judgement, "the control, %s against itself, differs by more than the margin of %.0f %%: probe longer, or when it is quieter",
			contenders[current].name, margin * 100);
	else if (judgement->noise > margin)
	{
		double		times = judgement->noise / margin;

		say(judgement, "the noise is %.1f %%, above the margin of %.0f %%: ",
			judgement->noise * 100, margin * 100);
		say_longer(judgement, times * times);
	}
	else if (count_class(contenders, count, current, margin, SP_FASTER) > 0)
	{
		say(judgement, "faster, but not by more than two files of %s differ: ", contenders[current].name);
		say_names(judgement, contenders, count, current, margin, SP_FASTER);
		say(judgement, ": probe longer");
	}
	else if (count_class(contenders, count, current, margin, SP_OPEN) == 0)
		say(judgement, "no other method could be measured");
	else
	{
		double		times = 1;

		for (int i = 0; i < count; i++)
		{
			if (i != current && sp_reaches_above(&contenders[i], margin))
				times = fmax(times, rounds_needed(&contenders[i], margin));
		}
		say_bound(judgement, contenders, count, current);
		say(judgement, "; not settled: ");
		say_names(judgement, contenders, count, current, margin, SP_OPEN);
		say(judgement, ": ");
		say_longer(judgement, times);
	}
}

static void
explain_unsafe(const sp_contender *contenders, int current, sp_judgement *judgement)
{
	say(judgement, "syncs with %s do not reach the device; ", contenders[current].name);
	if (judgement->recommended >= 0)
		say(judgement, "%s is the fastest method whose syncs do",
			contenders[judgement->recommended].name);
	else
		say(judgement, "nor is there a method whose syncs were seen to: change the storage, not the setting");
}

void
sp_explain(const sp_contender *contenders, int count, int current,
		   double margin, sp_judgement *judgement)
{
	if (judgement->verdict == SP_UNSAFE)
		explain_unsafe(contenders, current, judgement);
	else if (judgement->verdict == SP_SWITCH)
		explain_switch(contenders, current, margin, judgement);
	else if (judgement->verdict == SP_UNDECIDED)
		explain_undecided(contenders, count, current, margin, judgement);
	else
		explain_stay(contenders, count, current, margin, judgement);
}
