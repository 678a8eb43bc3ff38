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

/* A reason that is being written, and what it explains. */
typedef struct explanation
{
	const sp_comparison *comparison;
	const sp_judgement *judgement;
	const sp_words *words;
	const sp_candidate *current;
	sp_sentence said;
} explanation;

/* ------------------------------------------------------------------ numbers */

/* A percentage is never "0 %": below 10 it has a digit after the point, and 0.1 at least. */
static int
digits_of(double percent)
{
	return fabs(percent) < 9.95 ? 1 : 0;
}

static double
at_least_a_tenth(double percent)
{
	return percent == 0 ? 0 : copysign(fmax(fabs(percent), 0.1), percent);
}

/* How much longer an operation takes at that speed, or how many more there are, in percent. */
static double
change_of(double speed, bool rate)
{
	return at_least_a_tenth((rate ? speed - 1 : 1 / speed - 1) * 100);
}

/* "4.2 %", rounded up */
static void
say_bound(explanation *to, double ratio)
{
	double		percent = at_least_a_tenth(ratio * 100);
	int			digits = digits_of(percent);
	double		unit = digits == 1 ? 10 : 1;

	sp_say(&to->said, "%.*f %%", digits, ceil(percent * unit - 1e-6) / unit);
}

/* ----------------------------------------------------------------- figures */

static const char *
thing(const explanation *to)
{
	return to->words->values ? "value" : "method";
}

/* What a speed is about. */
static const char *
operation(const explanation *to)
{
	return to->words->values ? "commit" : "flush";
}

static void
say_name(explanation *to, const sp_candidate *candidate)
{
	sp_say(&to->said, "%s%s", candidate->name, to->words->unit);
}

/* "; time per flush: fsync +16 to +35 %, open_sync -1.2 to +0.4 %" */
static void
say_speeds(explanation *to, const sp_speed *speeds, bool rate)
{
	const char *separator = ": ";

	for (int i = 0; i < to->comparison->count; i++)
	{
		const sp_candidate *candidate = &to->comparison->candidates[i];
		sp_speed	speed = speeds ? speeds[i] : candidate->speed;
		double		least = change_of(rate ? speed.low : speed.high, rate);
		double		most = change_of(rate ? speed.high : speed.low, rate);

		if (candidate == to->current || candidate->standing == SP_UNMEASURED ||
			isnan(speed.low) || isnan(speed.high))
			continue;
		if (separator[0] == ':')
		{
			sp_say(&to->said, "; ");
			sp_say(&to->said, rate ? "%ss per second" : "time per %s", operation(to));
		}
		sp_say(&to->said, "%s", separator);
		say_name(to, candidate);
		sp_say(&to->said, " %+.*f to %+.*f %%", digits_of(least), least, digits_of(most), most);
		separator = ", ";
	}
}

/* Methods that were left out: no figure of theirs counts. */
static void
say_not_durable(explanation *to)
{
	const char *separator = "; syncs with ";

	for (int i = 0; i < to->comparison->count; i++)
	{
		const sp_candidate *candidate = &to->comparison->candidates[i];

		if (candidate == to->current || candidate->durable != SP_DURABLE_NO)
			continue;
		sp_say(&to->said, "%s%s", separator, candidate->name);
		separator = " and ";
	}
	if (separator[0] != ';')
		sp_say(&to->said, " do not reach the device");
}

static void
say_figures(explanation *to)
{
	say_speeds(to, NULL, to->words->rate);
	if (to->words->other)
		say_speeds(to, to->words->other, !to->words->rate);
	say_not_durable(to);
}

/* ------------------------------------------------------ doubts and rejections */

static void
say_stalling(explanation *to)
{
	for (int i = 0; i < to->comparison->count; i++)
	{
		const sp_candidate *candidate = &to->comparison->candidates[i];

		if (candidate->standing != SP_STALLING)
			continue;
		sp_say(&to->said, "; %s %s faster, but %.1f %% of its rounds have a flush of more than "
			   "five times the median", candidate->name,
			   candidate->speed.low > 1 ? "is" : "may be",
			   sp_tail_share(&candidate->tail) * 100);
		if (to->current->tail.slow_rounds > 0)
			sp_say(&to->said, " (%.1f %% with %s)",
				   at_least_a_tenth(sp_tail_share(&to->current->tail) * 100), to->current->name);
		else
			sp_say(&to->said, " (none with %s)", to->current->name);
	}
}

/* Is the gain over the best method of the kind in use less than that over the current one? */
static bool
is_less_over_own_kind(const explanation *to, int i)
{
	return sp_gain(to->comparison, i).high < to->comparison->candidates[i].speed.high;
}

/*
 * Is it said of one of the other kind what it gains over the own kind?  So it is if it seems
 * to be worth a switch from the current method, and to be better than the one that is worth it.
 */
static bool
is_rejected_for_own_kind(const explanation *to, int i)
{
	const sp_candidate *candidate = &to->comparison->candidates[i];
	int			recommended = to->judgement->recommended;
	bool		is_switch = to->judgement->verdict == SP_SWITCH;

	return (candidate->standing == SP_NO_GAIN || (is_switch && candidate->standing == SP_OPEN)) &&
		is_less_over_own_kind(to, i) && candidate->speed.high > 1 + to->comparison->margin &&
		(!is_switch ||
		 candidate->speed.estimate > to->comparison->candidates[recommended].speed.estimate);
}

/* Those that seem to be worth a switch and are not. */
static void
say_rejected(explanation *to)
{
	say_stalling(to);
	for (int i = 0; i < to->comparison->count; i++)
	{
		double		most = sp_gain(to->comparison, i).high - 1;

		if (!is_rejected_for_own_kind(to, i))
			continue;
		sp_say(&to->said, "; %s ", to->comparison->candidates[i].name);
		if (most > 0)
		{
			sp_say(&to->said, "gains at most ");
			say_bound(to, most);
			sp_say(&to->said, " over");
		}
		else
			sp_say(&to->said, "is slower than");
		sp_say(&to->said, " the best method of the kind in use");
	}
}

/* Why one that gains more than the margin is not recommended yet. */
static void
say_doubt(explanation *to, const sp_candidate *candidate, const char *when)
{
	const sp_tail *tail = &candidate->tail;
	const sp_tail *current = &to->current->tail;
	double		noise = to->judgement->noise;

	say_name(to, candidate);
	sp_say(&to->said, " gains more than the margin of ");
	say_bound(to, to->comparison->margin);
	sp_say(&to->said, "%s", when);
	if (sp_tail_may_exceed(tail, current))
		sp_say(&to->said, ", but %lld of its %lld rounds had a slow flush (%lld of %lld with %s), "
			   "which may be chance", (long long) tail->slow_rounds, (long long) tail->rounds,
			   (long long) current->slow_rounds, (long long) current->rounds, to->current->name);
	else if (isnan(noise))
	{
		sp_say(&to->said, ", but the control, ");
		say_name(to, to->current);
		sp_say(&to->said, " against itself, was not measured");
	}
	else
	{
		sp_say(&to->said, ", but ");
		say_name(to, to->current);
		sp_say(&to->said, " differs from itself by up to ");
		say_bound(to, noise);
	}
}

/* ---------------------------------------------------------------- verdicts */

static void
explain_switch(explanation *to)
{
	const sp_candidate *best = &to->comparison->candidates[to->judgement->recommended];
	double		change = change_of(best->speed.estimate, to->words->rate);

	sp_say(&to->said, to->words->values ? "with " : "");
	say_name(to, best);
	if (to->words->values)
		sp_say(&to->said, to->words->rate ?
			   " there are %.*f %% more commits per second than with " :
			   " a commit takes %.*f %% less time than with ", digits_of(change), fabs(change));
	else
		sp_say(&to->said, " takes %.*f %% less time per flush than ", digits_of(change),
			   fabs(change));
	say_name(to, to->current);
	sp_say(&to->said, "%s", to->words->when);
	say_figures(to);
	say_rejected(to);
}

static void
explain_keep(explanation *to)
{
	double		highest = 0;
	bool		some_gain = false;
	bool		missing = false;

	for (int i = 0; i < to->comparison->count; i++)
	{
		const sp_candidate *candidate = &to->comparison->candidates[i];

		missing = missing || candidate->standing == SP_UNMEASURED;
		if (candidate->standing == SP_NO_GAIN)
			highest = fmax(highest, candidate->speed.high - 1);
		some_gain = some_gain || candidate->standing == SP_STALLING ||
			is_rejected_for_own_kind(to, i);
	}
	if (some_gain)
		sp_say(&to->said, "no other %s is worth a switch from ", thing(to));
	else if (highest > 0)
	{
		sp_say(&to->said, "no other %s%s can gain more than ", thing(to),
			   missing ? " that could be compared" : "");
		say_bound(to, highest);
		sp_say(&to->said, " over ");
	}
	else
		sp_say(&to->said, "every other %s%s is slower than ", thing(to),
			   missing ? " that could be compared" : "");
	say_name(to, to->current);
	sp_say(&to->said, "%s", to->words->when);
	say_figures(to);
	say_rejected(to);
}

/* What one of which little is known may still gain. */
static void
say_open(explanation *to, int i, const char *when)
{
	sp_speed	gain = sp_gain(to->comparison, i);

	say_name(to, &to->comparison->candidates[i]);
	if (isnan(gain.high))
	{
		sp_say(&to->said, " may gain any amount%s", when);
		return;
	}
	sp_say(&to->said, " may still gain up to ");
	say_bound(to, gain.high - 1);
	sp_say(&to->said, "%s", when);
	if (is_less_over_own_kind(to, i))
		sp_say(&to->said, " over the best method of the kind in use");
}

static void
say_duration(explanation *to)
{
	double		times = to->judgement->times_as_long;

	if (isnan(times))
		sp_say(&to->said, "; a longer run may decide");
	else if (isinf(times))
		sp_say(&to->said, "; only a far longer run, or one at a quieter time, may decide");
	else
		sp_say(&to->said, "; a run about %.0f times as long may decide", times);
}

static void
explain_undecided(explanation *to)
{
	const sp_comparison *comparison = to->comparison;
	const char *separator = "";
	const char *when = to->words->when;
	int			compared = 0;

	for (int i = 0; i < comparison->count; i++)
		compared += i != comparison->current &&
			comparison->candidates[i].standing != SP_UNMEASURED;
	if (to->words->samples < SP_MIN_SAMPLES && (compared > 0 || to->words->samples == 0))
	{
		sp_say(&to->said, "too few rounds to compare: %d of %d; a longer run may decide",
			   to->words->samples, SP_MIN_SAMPLES);
		return;
	}
	if (compared == 0)
	{
		sp_say(&to->said, "nothing could be compared with ");
		say_name(to, to->current);
		say_not_durable(to);
		return;
	}
	for (int i = 0; i < comparison->count; i++)
	{
		const sp_candidate *candidate = &comparison->candidates[i];

		if (!sp_may_gain(candidate))
			continue;
		sp_say(&to->said, "%s", separator);
		if (candidate->standing == SP_DOUBTED)
			say_doubt(to, candidate, when);
		else
			say_open(to, i, when);
		separator = "; ";
		when = "";
	}
	say_figures(to);
	say_rejected(to);
	say_duration(to);
	if (to->judgement->best != comparison->current)
	{
		sp_say(&to->said, "; the best choice so far is ");
		say_name(to, &comparison->candidates[to->judgement->best]);
	}
}

/* The own kind comes first: another method whose syncs reach the device may be faster. */
static bool
is_fastest_durable(const explanation *to, const sp_candidate *recommended)
{
	for (int i = 0; i < to->comparison->count; i++)
	{
		const sp_candidate *candidate = &to->comparison->candidates[i];

		if (sp_durable_is_safe(candidate->durable) &&
			candidate->speed.estimate > recommended->speed.estimate)
			return false;
	}
	return true;
}

static void
explain_unsafe(explanation *to)
{
	int			recommended = to->judgement->recommended;

	if (to->comparison->fsync_off)
	{
		sp_say(&to->said, "fsync is off: this server syncs nothing");
		return;
	}
	sp_say(&to->said, "syncs with %s do not reach the device", to->current->name);
	if (to->words->syncs_nothing)
		sp_say(&to->said, " (%s)", to->words->syncs_nothing);
	if (recommended >= 0)
	{
		const sp_candidate *best = &to->comparison->candidates[recommended];

		sp_say(&to->said, "; %s is the fastest method%s whose syncs do", best->name,
			   is_fastest_durable(to, best) ? "" : " of its kind");
	}
	else
		sp_say(&to->said, "; no method is known whose syncs do: "
			   "change the storage, not the setting");
}

void
sp_explain(const sp_comparison *comparison, const sp_judgement *judgement,
		   const sp_words *words, char reason[SP_REASON_SIZE])
{
	explanation to = {
		.comparison = comparison,
		.judgement = judgement,
		.words = words,
		.current = &comparison->candidates[comparison->current],
		.said = sp_sentence_begin(reason, SP_REASON_SIZE),
	};

	switch (judgement->verdict)
	{
		case SP_UNSAFE:
			explain_unsafe(&to);
			return;
		case SP_SWITCH:
			explain_switch(&to);
			break;
		case SP_UNDECIDED:
			explain_undecided(&to);
			break;
		case SP_KEEP:
			explain_keep(&to);
			break;
	}
	if (words->load)
		sp_say(&to.said, "; %s", words->load);
}
