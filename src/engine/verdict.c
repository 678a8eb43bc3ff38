/*-------------------------------------------------------------------------
 *
 * verdict.c
 *		What the rounds of a run allow us to say.
 *
 * The words of a reason are for a DBA: percent, not ratios, and what to do next.
 *
 *-------------------------------------------------------------------------
 */
#include "verdict.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* How one contender stands against the current method, both regimes seen. */
typedef enum standing
{
	UNMEASURED,
	OPEN,						/* nothing settled yet */
	FASTER,						/* worth a switch */
	EQUAL,						/* wholly inside the margin */
	SLOWER						/* below 1 where it counts */
} standing;

const char *
sp_verdict_name(sp_verdict verdict)
{
	switch (verdict)
	{
		case SP_SWITCH:
			return "switch";
		case SP_KEEP:
			return "keep";
		case SP_TIE:
			return "tie";
		case SP_UNSAFE:
			return "unsafe";
		case SP_UNDECIDED:
			break;
	}
	return "undecided";
}

static bool
has_interval(sp_speed speed)
{
	return !isnan(speed.low) && !isnan(speed.high);
}

/*
 * The two regimes of one contender in one word.  Where they contradict each
 * other, the paced one decides: it is what a server that commits now and then
 * sees, and back-to-back figures are what led people astray.
 */
static standing
stand(const sp_contender *contender, double margin)
{
	sp_speed	paced = contender->speed[SP_PACED];
	sp_speed	saturated = contender->speed[SP_SATURATED];
	double		upper = 1 + margin;
	double		lower = 1 - margin;

	if (isnan(paced.estimate) && isnan(saturated.estimate))
		return UNMEASURED;
	if (!has_interval(paced) || !has_interval(saturated))
		return OPEN;

	/* whatever the other regime will turn out to be, the paced one decides */
	if (paced.low > upper)
		return FASTER;
	if (paced.high < lower)
		return SLOWER;

	/* gains back to back, and loses nothing at the cluster's pace */
	if (saturated.low > upper && paced.low >= lower)
		return FASTER;

	/* loses in one regime and gains nothing worth a change in the other */
	if ((paced.high < 1 && saturated.high <= upper) ||
		(saturated.high < 1 && paced.high <= upper))
		return SLOWER;
	if (paced.low >= lower && paced.high <= upper &&
		saturated.low >= lower && saturated.high <= upper)
		return EQUAL;
	return OPEN;
}

/* Can the contender, for all we know, be more than the margin faster? */
static bool
reaches_above(const sp_contender *contender, double margin)
{
	switch (stand(contender, margin))
	{
		case FASTER:
			return true;
		case OPEN:
			for (int r = 0; r < SP_REGIMES; r++)
			{
				if (!has_interval(contender->speed[r]) || contender->speed[r].high > 1 + margin)
					return true;
			}
			return false;
		case UNMEASURED:
		case EQUAL:
		case SLOWER:
			break;
	}
	return false;
}

/* The estimate that ranks contenders: paced where there is one. */
static double
rank_estimate(const sp_contender *contender)
{
	double		paced = contender->speed[SP_PACED].estimate;

	return isnan(paced) ? contender->speed[SP_SATURATED].estimate : paced;
}

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
	if (has_interval(speed))
		say(judgement, " (%+.0f to %+.0f)", (speed.low - 1) * 100, (speed.high - 1) * 100);
}

/* The names of all contenders of one standing. */
static void
say_names(sp_judgement *judgement, const sp_contender *contenders, int count, int current,
		  double margin, standing wanted)
{
	const char *separator = "";

	for (int i = 0; i < count; i++)
	{
		if (i == current || stand(&contenders[i], margin) != wanted)
			continue;
		say(judgement, "%s%s", separator, contenders[i].name);
		separator = ", ";
	}
}

/* "no method is more than 7 % faster": what is excluded, if anything is. */
static void
say_bound(sp_judgement *judgement, const sp_contender *contenders, int count, int current)
{
	double		highest = 0;

	for (int i = 0; i < count; i++)
	{
		for (int r = 0; i != current && r < SP_REGIMES; r++)
		{
			if (isnan(contenders[i].speed[r].estimate))
				continue;
			if (!has_interval(contenders[i].speed[r]))
			{
				say(judgement, "too few rounds to exclude anything");
				return;
			}
			highest = fmax(highest, contenders[i].speed[r].high);
		}
	}
	if (highest > 1)
		say(judgement, "no method is more than %.0f %% faster", ceil((highest - 1) * 100 - 1e-9));
	else
		say(judgement, "no method is faster");
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
		say_names(judgement, contenders, count, current, margin, OPEN);
	}
	else if (judgement->verdict == SP_KEEP)
		say(judgement, "every other method that can be measured is slower than %s",
			contenders[current].name);
	else
	{
		say_bound(judgement, contenders, count, current);
		say(judgement, "; as fast as %s: ", contenders[current].name);
		say_names(judgement, contenders, count, current, margin, EQUAL);
	}
	for (int i = 0; i < count; i++)
	{
		if (i == current || isnan(contenders[i].speed[SP_SATURATED].low) ||
			contenders[i].speed[SP_SATURATED].low <= 1 + margin)
			continue;
		say(judgement, "; %s would make ", contenders[i].name);
		say_speed(judgement, contenders[i].speed[SP_SATURATED], "back to back");
		say(judgement, ", but not at this cluster's pace");
	}
}

/* How far two files of one method differ by their places alone; 1 if not proven. */
static double
place_effect(sp_speed control)
{
	if (control.low > 1)
		return control.estimate;
	if (control.high < 1)
		return 1 / control.estimate;
	return 1;
}

/* Is the contender faster by more than the margin and what places can do? */
static bool
beats_place(const sp_contender *contender, const sp_contender *current, double margin)
{
	for (int r = 0; r < SP_REGIMES; r++)
	{
		if (contender->speed[r].low > (1 + margin) * place_effect(current->speed[r]))
			return true;
	}
	return false;
}

/* Is the current method proven to be faster or slower than itself? */
static bool
control_contradicts(const sp_contender *current, double margin)
{
	for (int r = 0; r < SP_REGIMES; r++)
	{
		if (current->speed[r].low > 1 + margin || current->speed[r].high < 1 - margin)
			return true;
	}
	return false;
}

static void
explain_undecided(const sp_contender *contenders, int count, int current, double margin,
				  const int *standings, sp_judgement *judgement)
{
	if (isnan(rank_estimate(&contenders[current])))
		say(judgement, "the current method %s could not be measured", contenders[current].name);
	else if (isnan(judgement->noise))
		say(judgement, "too few rounds, or the control was not measured: probe longer");
	else if (control_contradicts(&contenders[current], margin))
		say(judgement, "the control, %s against itself, differs by more than the margin of %.0f %%: probe longer, or when it is quieter",
			contenders[current].name, margin * 100);
	else if (judgement->noise > margin)
		say(judgement, "the noise is %.0f %%, above the margin of %.0f %%: probe longer, or when it is quieter",
			judgement->noise * 100, margin * 100);
	else if (standings[FASTER] > 0)
	{
		say(judgement, "faster, but not by more than two files of %s differ: ", contenders[current].name);
		say_names(judgement, contenders, count, current, margin, FASTER);
		say(judgement, ": probe longer");
	}
	else if (standings[OPEN] == 0)
		say(judgement, "no other method could be measured");
	else
	{
		say_bound(judgement, contenders, count, current);
		say(judgement, "; not settled: ");
		say_names(judgement, contenders, count, current, margin, OPEN);
		say(judgement, ": probe longer");
	}
}

/* The noise of the noisier regime. */
static double
control_noise(const sp_contender *current)
{
	double		paced = sp_speed_noise(current->speed[SP_PACED]);
	double		saturated = sp_speed_noise(current->speed[SP_SATURATED]);

	return isnan(paced) || isnan(saturated) ? NAN : fmax(paced, saturated);
}

void
sp_judge(const sp_contender *contenders, int count, int current,
		 double margin, sp_judgement *judgement)
{
	int			standings[SLOWER + 1] = {0};
	int			best = -1;		/* contender to switch to */
	bool		above = false;	/* may one be faster by more than the margin? */

	memset(judgement, 0, sizeof(*judgement));
	judgement->recommended = current;
	judgement->noise = control_noise(&contenders[current]);

	for (int i = 0; i < count; i++)
	{
		standing	s;

		if (i == current)
			continue;
		s = stand(&contenders[i], margin);
		standings[s]++;
		above = above || reaches_above(&contenders[i], margin);
		if (s == FASTER && beats_place(&contenders[i], &contenders[current], margin) &&
			(best < 0 || rank_estimate(&contenders[i]) > rank_estimate(&contenders[best])))
			best = i;
	}

	if (isnan(judgement->noise) || control_contradicts(&contenders[current], margin))
		judgement->verdict = SP_UNDECIDED;
	else if (best >= 0)
	{
		/* an interval that is clear of the margin is so in spite of the noise */
		judgement->verdict = SP_SWITCH;
		judgement->recommended = best;
	}
	else if (judgement->noise > margin)
		judgement->verdict = SP_UNDECIDED;
	else if (standings[SLOWER] > 0 && standings[OPEN] + standings[EQUAL] == 0)
		judgement->verdict = SP_KEEP;
	else if (standings[EQUAL] > 0 && !above)
		judgement->verdict = SP_TIE;
	else if (standings[OPEN] > 0 && !above)
	{
		judgement->verdict = SP_KEEP;
		judgement->by_exclusion = true;
	}

	if (judgement->verdict == SP_SWITCH)
		explain_switch(contenders, current, margin, judgement);
	else if (judgement->verdict == SP_UNDECIDED)
		explain_undecided(contenders, count, current, margin, standings, judgement);
	else
		explain_stay(contenders, count, current, margin, judgement);
}

bool
sp_judgement_settled(const sp_contender *contenders, int count, int current,
					 double margin, const sp_judgement *judgement)
{
	double		chosen;

	if (judgement->verdict == SP_UNDECIDED || judgement->by_exclusion)
		return false;
	if (judgement->verdict != SP_SWITCH)
		return true;
	chosen = rank_estimate(&contenders[judgement->recommended]);
	for (int i = 0; i < count; i++)
	{
		if (i != current && stand(&contenders[i], margin) == OPEN &&
			rank_estimate(&contenders[i]) > chosen)
			return false;
	}
	return true;
}
