/*-------------------------------------------------------------------------
 *
 * reason.c
 *		A verdict in words.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/verdict/verdict.h"

#include <math.h>
#include <stdio.h>

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

#define append(...)	sp_append(&to->said, __VA_ARGS__)

/* The arguments of "%s%s". */
#define NAME(candidate)	(candidate)->name, to->words->unit

/* ------------------------------------------------------------------ numbers */

typedef struct percentage
{
	char		text[32];
} percentage;

/* It is never "0 %": below 10 it has a digit after the point, and 0.1 at least. */
static percentage
percentage_of(double percent, bool with_sign)
{
	percentage	shown;

	if (percent != 0)
		percent = copysign(fmax(fabs(percent), 0.1), percent);
	snprintf(shown.text, sizeof(shown.text), with_sign ? "%+.*f" : "%.*f",
			 fabs(percent) < 9.95 ? 1 : 0, percent);
	return shown;
}

/* How much longer an operation takes at that speed, or how many more there are. */
static percentage
change_of(double speed, bool rate, bool with_sign)
{
	double		change = rate ? speed - 1 : 1 / speed - 1;

	return percentage_of((with_sign ? change : fabs(change)) * 100, with_sign);
}

double
sp_bound_rounded_up(double bound, double unit)
{
	/* 0.03 * 1000 may be a little more than 30; and 0 is not to become -0 */
	return fabs(ceil(bound * unit - 1e-6) / unit);
}

static percentage
bound(double ratio)
{
	return percentage_of(sp_bound_rounded_up(ratio, ratio < 0.0995 ? 1000 : 100) * 100, false);
}

/* ----------------------------------------------------------------- figures */

/* "; time per flush: fsync +16 to +35 %, open_sync -1.2 to +0.4 %" */
static void
append_speeds(explanation *to, const sp_speed *speeds, bool rate)
{
	bool		is_first = true;

	for (int i = 0; i < to->comparison->count; i++)
	{
		const sp_candidate *candidate = &to->comparison->candidates[i];
		sp_speed	speed = speeds ? speeds[i] : candidate->speed;

		if (candidate == to->current || candidate->standing == SP_UNMEASURED ||
			isnan(speed.low) || isnan(speed.high))
			continue;
		if (is_first)
			append(rate ? "; %ss per second:" : "; time per %s:",
				   to->words->values ? "commit" : "flush");
		append("%s %s%s %s to %s %%", is_first ? "" : ",", NAME(candidate),
			   change_of(rate ? speed.low : speed.high, rate, true).text,
			   change_of(rate ? speed.high : speed.low, rate, true).text);
		is_first = false;
	}
}

/* Methods that were left out: no figure of theirs counts. */
static void
append_not_durable(explanation *to)
{
	const char *separator = "; syncs with";

	for (int i = 0; i < to->comparison->count; i++)
	{
		const sp_candidate *candidate = &to->comparison->candidates[i];

		if (candidate == to->current || candidate->durable != SP_DURABLE_NO)
			continue;
		append("%s %s", separator, candidate->name);
		separator = " and";
	}
	if (separator[0] != ';')
		append(" do not reach the device");
}

/* ------------------------------------------------------ doubts and rejections */

static void
append_stalling(explanation *to, const sp_candidate *candidate)
{
	append("; %s %s faster, but %.1f %% of its rounds have a flush of more than five times the "
		   "median",
		   candidate->name, candidate->speed.low > 1 ? "is" : "may be",
		   sp_tail_share(&candidate->tail) * 100);
	if (to->current->tail.slow_rounds > 0)
		append(" (%.1f %% with %s)", fmax(sp_tail_share(&to->current->tail) * 100, 0.1),
			   to->current->name);
	else
		append(" (none with %s)", to->current->name);
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
	const sp_candidate *candidates = to->comparison->candidates;
	bool		is_switch = to->judgement->verdict == SP_SWITCH;

	return (candidates[i].standing == SP_NO_GAIN ||
			(is_switch && candidates[i].standing == SP_OPEN)) &&
		is_less_over_own_kind(to, i) && candidates[i].speed.high > 1 + to->comparison->margin &&
		(!is_switch || candidates[i].speed.estimate >
		 candidates[to->judgement->recommended].speed.estimate);
}

/* All figures, and why those are not recommended that seem to be worth a switch. */
static void
append_figures(explanation *to)
{
	const sp_comparison *comparison = to->comparison;

	append_speeds(to, NULL, to->words->rate);
	if (to->words->other)
		append_speeds(to, to->words->other, !to->words->rate);
	append_not_durable(to);
	for (int i = 0; i < comparison->count; i++)
	{
		if (comparison->candidates[i].standing == SP_STALLING)
			append_stalling(to, &comparison->candidates[i]);
	}
	for (int i = 0; i < comparison->count; i++)
	{
		double		most = sp_gain(comparison, i).high - 1;

		if (is_rejected_for_own_kind(to, i) && most > 0)
			append("; %s gains at most %s %% over the best method of the kind in use",
				   comparison->candidates[i].name, bound(most).text);
		else if (is_rejected_for_own_kind(to, i))
			append("; %s is slower than the best method of the kind in use",
				   comparison->candidates[i].name);
	}
}

/* Why one that gains more than the margin is not recommended yet. */
static void
append_doubt(explanation *to, const sp_candidate *candidate, const char *when)
{
	const sp_tail *tail = &candidate->tail;
	const sp_tail *current = &to->current->tail;

	append("%s%s gains more than the margin of %s %%%s, but ", NAME(candidate),
		   bound(to->comparison->margin).text, when);
	if (sp_tail_may_exceed(tail, current))
		append("%lld of its %lld rounds had a slow flush (%lld of %lld with %s), which may be "
			   "chance",
			   (long long) tail->slow_rounds, (long long) tail->rounds,
			   (long long) current->slow_rounds, (long long) current->rounds, to->current->name);
	else if (isnan(to->judgement->noise))
		append("the control, %s%s against itself, was not measured", NAME(to->current));
	else
		append("%s%s differs from itself by up to %s %%", NAME(to->current),
			   bound(to->judgement->noise).text);
}

/* A candidate that may still gain, and its bound. */
static void
append_open(explanation *to, int i, const char *when)
{
	const sp_candidate *candidate = &to->comparison->candidates[i];
	sp_speed	gain = sp_gain(to->comparison, i);

	if (isnan(gain.high))
		append("%s%s may gain any amount%s", NAME(candidate), when);
	else
		append("%s%s may still gain up to %s %%%s%s", NAME(candidate),
			   bound(gain.high - 1).text, when,
			   is_less_over_own_kind(to, i) ? " over the best method of the kind in use" : "");
}

/* ---------------------------------------------------------------- verdicts */

static void
explain_switch(explanation *to)
{
	const sp_candidate *best = &to->comparison->candidates[to->judgement->recommended];

	append(!to->words->values ? "%s%s takes %s %% less time per flush than %s%s%s" :
		   to->words->rate ? "with %s%s there are %s %% more commits per second than with %s%s%s" :
		   "with %s%s a commit takes %s %% less time than with %s%s%s", NAME(best),
		   change_of(best->speed.estimate, to->words->rate, false).text, NAME(to->current),
		   to->words->when);
	append_figures(to);
}

static void
explain_keep(explanation *to)
{
	const char *thing = to->words->values ? "value" : "method";
	const char *compared = "";
	double		highest = 0;
	bool		some_gain = false;

	for (int i = 0; i < to->comparison->count; i++)
	{
		const sp_candidate *candidate = &to->comparison->candidates[i];

		if (candidate->standing == SP_UNMEASURED)
			compared = " that could be compared";
		if (candidate->standing == SP_NO_GAIN)
			highest = fmax(highest, candidate->speed.high - 1);
		some_gain = some_gain || candidate->standing == SP_STALLING ||
			is_rejected_for_own_kind(to, i);
	}
	if (some_gain)
		append("no other %s is worth a switch from ", thing);
	else if (highest > 0)
		append("no other %s%s can gain more than %s %% over ", thing, compared,
			   bound(highest).text);
	else
		append("every other %s%s is slower than ", thing, compared);
	append("%s%s%s", NAME(to->current), to->words->when);
	append_figures(to);
}

static void
append_duration(explanation *to)
{
	double		times = to->judgement->times_as_long;

	if (isnan(times))
		append("; a longer run may decide");
	else if (isinf(times))
		append("; only a run more than %d times as long, or one at a quieter time, may decide",
			   SP_MAX_TIMES_AS_LONG);
	else
		append("; a run about %.0f times as long may decide", times);
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
	if (comparison->samples < SP_MIN_SAMPLES && (compared > 0 || comparison->samples == 0))
	{
		append("too few samples to compare: %d of %d", comparison->samples, SP_MIN_SAMPLES);
		append_duration(to);
		return;
	}
	if (compared == 0)
	{
		append("nothing could be compared with %s%s", NAME(to->current));
		append_not_durable(to);
		return;
	}
	if (comparison->mostly_slow)
	{
		append("most rounds%s wait for something else than their flushes, such as busy "
			   "processors: nothing "
			   "can be compared; repeat it at a quieter time", when);
		return;
	}
	for (int i = 0; i < comparison->count; i++)
	{
		const sp_candidate *candidate = &comparison->candidates[i];

		if (!sp_may_gain(candidate))
			continue;
		append("%s", separator);
		if (candidate->standing == SP_DOUBTED)
			append_doubt(to, candidate, when);
		else
			append_open(to, i, when);
		separator = "; ";
		when = "";
	}
	append_figures(to);
	append_duration(to);
	if (to->judgement->best != comparison->current)
		append("; the best choice so far is %s%s",
			   NAME(&comparison->candidates[to->judgement->best]));
}

/* The own kind comes first: another method whose syncs reach the device may be faster. */
static bool
is_fastest_durable(const explanation *to, const sp_candidate *best)
{
	for (int i = 0; i < to->comparison->count; i++)
	{
		const sp_candidate *candidate = &to->comparison->candidates[i];

		if (sp_durable_is_safe(candidate->durable) &&
			candidate->speed.estimate > best->speed.estimate)
			return false;
	}
	return true;
}

static void
explain_unsafe(explanation *to)
{
	const sp_candidate *best;

	if (to->comparison->fsync_off)
	{
		append("fsync is off: this server syncs nothing");
		return;
	}
	append("syncs with %s do not reach the device", to->current->name);
	if (to->words->syncs_nothing)
		append(" (%s)", to->words->syncs_nothing);
	if (to->judgement->recommended < 0)
	{
		append("; no method is known whose syncs do: change the storage, not the setting");
		return;
	}
	best = &to->comparison->candidates[to->judgement->recommended];
	append("; %s is the fastest method%s whose syncs do", best->name,
		   is_fastest_durable(to, best) ? "" : " of its kind");
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
		sp_append(&to.said, "; %s", words->load);
}
