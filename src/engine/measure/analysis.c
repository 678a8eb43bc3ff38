/*-------------------------------------------------------------------------
 *
 * analysis.c
 *		Interim analyses: speeds, verdict, and whether more rounds can change it.
 *
 * It must not: measure.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/measure/probe_internal.h"

#include <math.h>
#include <string.h>

/*
 * After a keep by exclusion, up to 64 entries are measured to find methods that are
 * equal.
 */
#define EXCLUSION_ENTRIES	64

/* With fewer entries, a projection is too uncertain. */
#define PROJECTION_ENTRIES		45

/* ------------------------------------------------------------------- speeds */

/* The speed of a case against its baseline; for the baseline, that of its control. */
static sp_speed
case_speed(sp_probe *probe, int c, int analysis, int comparisons)
{
	const sp_series *baseline = &probe->results[probe->cases[c].baseline].series;
	sp_speed	one = {1, NAN, NAN};
	sp_speed	none = {NAN, NAN, NAN};
	int			other = c;
	int			n;

	if (c == probe->cases[c].baseline)
	{
		for (int i = 0; i < probe->ncases; i++)
		{
			if (probe->cases[i].control && probe->cases[i].baseline == c)
				other = i;
		}
		if (other == c)
			return one;			/* the suite has no control */
		if (probe->results[other].status != SP_OK)
			return none;
	}
	n = probe->results[other].series.n;
	if (n > baseline->n)
		n = baseline->n;
	return sp_speed_interval(baseline->mean_us, probe->results[other].series.mean_us,
							 n, sp_analysis_alpha(analysis), comparisons, probe->workspace);
}

/* Exclude both cases of each slower contender: the other cases get their time. */
static void
exclude_slower(sp_probe *probe, const sp_comparison *comparison)
{
	for (int i = 0; i < comparison->count; i++)
	{
		const sp_contender *contender = &comparison->contenders[i];

		if (contender->class != SP_SLOWER)
			continue;
		for (int c = 0; c < probe->ncases; c++)
		{
			if (probe->cases[c].contender && strcmp(probe->cases[c].label, contender->name) == 0)
				probe->results[c].excluded = true;
		}
	}
}

/* How many contenders of a regime are compared with the current method? */
static int
count_comparisons(const sp_probe *probe, sp_regime regime)
{
	int			n = 0;

	for (int c = 0; c < probe->ncases; c++)
	{
		const sp_test_case *test_case = &probe->cases[c];

		if (test_case->regime == regime && test_case->contender &&
			test_case->baseline >= 0 && test_case->baseline != c &&
			probe->results[c].status == SP_OK)
			n++;
	}
	return n;
}

void
sp_compute_speeds(sp_probe *probe, sp_regime regime)
{
	sp_speed	none = {NAN, NAN, NAN};
	int			comparisons = count_comparisons(probe, regime);

	for (int c = 0; c < probe->ncases; c++)
	{
		int			baseline = probe->cases[c].baseline;

		/* a finished case keeps the interval of its last round */
		if (probe->cases[c].regime != regime ||
			(sp_is_finished(probe, c) && probe->rounds[regime] > probe->cases[c].max_rounds))
			continue;
		/* the control is one comparison by itself */
		probe->results[c].speed = baseline >= 0 && probe->results[c].status == SP_OK &&
			probe->results[baseline].status == SP_OK ?
			case_speed(probe, c, probe->analyses[regime], c == baseline ? 1 : comparisons) : none;
	}
}

static void
analyze(sp_probe *probe, sp_regime regime)
{
	sp_comparison comparison;

	probe->analyses[regime]++;
	sp_compute_speeds(probe, regime);
	if (sp_probe_compare(probe, &comparison))
	{
		sp_judge(&comparison, &probe->judgement);
		probe->judged = true;
		if (probe->stop_early)
			exclude_slower(probe, &comparison);
	}
	probe->callbacks.analysis_done(probe->callbacks.context, regime);
}

/* --------------------------------------------------------------- when to stop */

/* Has each regime had its interim analysis after this many entries? */
static bool
has_analysis_at(const sp_probe *probe, int64_t entries)
{
	for (int r = 0; r < SP_REGIMES; r++)
	{
		if (probe->analyses[r] == 0 || sp_analysis_entries(probe->analyses[r]) < entries)
			return false;
	}
	return true;
}

static bool
settled(const sp_probe *probe)
{
	sp_comparison comparison;

	if (!probe->judged)
		return false;
	/* if no method is durable, there is nothing to compare */
	if (probe->judgement.verdict == SP_UNSAFE && probe->judgement.recommended < 0)
		return has_analysis_at(probe, 1);
	if (probe->judgement.by_exclusion || probe->judgement.verdict == SP_UNSAFE)
		return has_analysis_at(probe, EXCLUSION_ENTRIES);
	sp_probe_compare(probe, &comparison);
	return sp_judgement_settled(&comparison, &probe->judgement);
}

/*
 * Is there too little time left to settle the verdict?  Then the probe stops at
 * once, and its reason says how much longer it would take.  Noise may pass: while
 * it exceeds the margin, half of the duration is spent first.
 */
static bool
stays_undecided(sp_probe *probe)
{
	sp_comparison comparison;
	int64_t		left = probe->deadline_ns - sp_now_ns(probe);
	double		growth[SP_REGIMES];

	if (!probe->judged || !has_analysis_at(probe, PROJECTION_ENTRIES) || left <= 0)
		return false;
	if (probe->judgement.noise > probe->margin && left > probe->duration_ns / 2)
		return false;
	/* either regime may get all the time that is left */
	for (int r = 0; r < SP_REGIMES; r++)
		growth[r] = 1 + (double) left / (double) (probe->spent_ns[r] + 1);
	sp_probe_compare(probe, &comparison);
	return !sp_projection_settles(&comparison, growth);
}

bool
sp_is_open(const sp_probe *probe, sp_regime regime)
{
	sp_comparison comparison;

	return probe->judged && sp_probe_compare(probe, &comparison) &&
		sp_regime_is_open(&comparison, regime);
}

void
sp_analyze_when_due(sp_probe *probe, sp_regime regime)
{
	if (probe->entries[regime] < sp_analysis_entries(probe->analyses[regime] + 1))
		return;
	analyze(probe, regime);
	probe->done = probe->stop_early && (settled(probe) || stays_undecided(probe)) &&
		!sp_needs_windows(probe);
}

/* -------------------------------------------------------------------- the end */

/* Analyze rounds that came after the last interim analysis. */
static void
analyze_latest(sp_probe *probe)
{
	for (int r = 0; r < SP_REGIMES; r++)
	{
		int64_t		entries = probe->entries[r];

		/* a settled verdict keeps the intervals that settled it */
		if (probe->stop_early && settled(probe))
			return;
		if (entries > 0 &&
			(probe->analyses[r] == 0 || entries > sp_analysis_entries(probe->analyses[r])))
			analyze(probe, r);
	}
}

/* A file that has failed since the last interim analysis has no speed any more. */
static void
judge_failures(sp_probe *probe)
{
	sp_comparison comparison;

	if (probe->judged && probe->places.frozen && sp_probe_compare(probe, &comparison))
		sp_judge(&comparison, &probe->judgement);
}

void
sp_analyze_rest(sp_probe *probe)
{
	analyze_latest(probe);
	judge_failures(probe);
}
