/*-------------------------------------------------------------------------
 *
 * analysis.c
 *		Looks at a run: speeds, the verdict, and whether more time can change it.
 *
 * It must not: measure.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/measure/probe_internal.h"

#include <math.h>

/* ------------------------------------------------------------------- speeds */

int
sp_control_of(const sp_probe *probe, int baseline)
{
	for (int c = 0; c < probe->ncases; c++)
	{
		if (probe->cases[c].control && probe->cases[c].baseline == baseline)
			return c;
	}
	return -1;
}

static int
min_samples(const sp_series *one, const sp_series *other)
{
	return one->n < other->n ? one->n : other->n;
}

static bool
has_failed(const sp_probe *probe, int c)
{
	return probe->results[c].status != SP_OK;
}

/* The speed of a case against both copies of its baseline. */
static sp_speed
case_speed(sp_probe *probe, int c, double alpha, int comparisons)
{
	int			control = sp_control_of(probe, probe->cases[c].baseline);
	const sp_series *baseline = &probe->results[probe->cases[c].baseline].series;
	const sp_series *series = &probe->results[c].series;
	bool		has_copy = control >= 0 && !has_failed(probe, control);
	const sp_series *copy = &probe->results[has_copy ? control : c].series;
	int			n = min_samples(baseline, series);

	return sp_speed_against_both(baseline->mean_us, has_copy ? copy->mean_us : NULL,
								 series->mean_us, n < copy->n ? n : copy->n, alpha,
								 comparisons, probe->workspace);
}

/* The A/A control: a baseline against its second copy. */
static sp_speed
control_speed(sp_probe *probe, int baseline, double alpha)
{
	int			control = sp_control_of(probe, baseline);
	const sp_series *series = &probe->results[baseline].series;

	if (control < 0)
		return (sp_speed) {1, NAN, NAN};
	return sp_speed_interval(series->mean_us, probe->results[control].series.mean_us,
							 min_samples(series, &probe->results[control].series), alpha, 1,
							 probe->workspace);
}

/* How many candidates of a regime are compared with the current method? */
static int
count_comparisons(const sp_probe *probe, sp_regime regime)
{
	int			n = 0;

	for (int c = 0; c < probe->ncases; c++)
	{
		const sp_test_case *test_case = &probe->cases[c];

		n += test_case->regime == regime && test_case->candidate && test_case->baseline >= 0 &&
			test_case->baseline != c && !has_failed(probe, c);
	}
	return n;
}

/* A case that failed has no speed, nor has one that was compared with it. */
static bool
has_no_speed(const sp_probe *probe, int c)
{
	int			baseline = probe->cases[c].baseline;
	int			control = baseline == c ? sp_control_of(probe, c) : -1;

	return baseline < 0 || has_failed(probe, c) || has_failed(probe, baseline) ||
		(control >= 0 && has_failed(probe, control));
}

/* The first samples may be above the limit, as they are older than it is. */
bool
sp_is_mostly_slow(const sp_result *baseline)
{
	const sp_series *series = &baseline->series;
	double		limit_us = (double) baseline->slow_ns / SP_NS_PER_US;
	double		sum_us = 0;

	for (int i = 0; i < series->n; i++)
		sum_us += fmin(series->mean_us[i], limit_us);
	return limit_us > 0 && sum_us > limit_us / 2 * series->n;
}

static void
compute_speed(sp_probe *probe, int c, double alpha)
{
	int			baseline = probe->cases[c].baseline;
	sp_speed   *speed = &probe->results[c].speed;

	*speed = baseline == c ? control_speed(probe, c, alpha) :
		case_speed(probe, c, alpha, count_comparisons(probe, probe->cases[c].regime));
	if (sp_is_mostly_slow(&probe->results[baseline]))
		speed->low = speed->high = NAN;
}

/* ------------------------------------------------------------------- a look */

/* Returns whether the verdict is settled. */
static bool
take_look(sp_probe *probe, double alpha)
{
	for (int c = 0; c < probe->ncases; c++)
	{
		/* a finished case keeps the interval of its last round: its samples are not merged
		 * any more, as those of its baseline are */
		if (has_no_speed(probe, c))
			probe->results[c].speed = (sp_speed) {NAN, NAN, NAN};
		else if (!sp_is_finished(probe, c))
			compute_speed(probe, c, alpha);
	}
	return probe->suite->judge != NULL && probe->suite->judge(probe);
}

/* Cases that are only shown have had their rounds. */
static void
look_at_shown(sp_probe *probe, sp_regime regime)
{
	for (int c = 0; c < probe->ncases; c++)
	{
		if (probe->cases[c].regime == regime && probe->cases[c].max_rounds > 0 &&
			probe->rounds[regime] == probe->cases[c].max_rounds && !has_no_speed(probe, c))
			compute_speed(probe, c, SP_ALPHA);
	}
}

/* Else the run could end with cases that were not measured. */
static bool
all_regimes_have_begun(const sp_probe *probe)
{
	for (int r = 0; r < SP_REGIMES; r++)
	{
		if (probe->rounds[r] == 0 && sp_count_cases(probe, r) > 0)
			return false;
	}
	return true;
}

bool
sp_look_when_due(sp_probe *probe, sp_regime regime)
{
	int			due = sp_looks_due(sp_now_ns(probe) - probe->started_ns, probe->duration_ns);

	look_at_shown(probe, regime);
	if (!probe->stop_early || due <= probe->looks || !all_regimes_have_begun(probe))
		return false;
	probe->looks = due;
	probe->done = take_look(probe, sp_look_alpha(due));
	return true;
}

void
sp_look_at_end(sp_probe *probe)
{
	/* a settled verdict keeps the intervals that settled it */
	if (!probe->done)
		(void) take_look(probe, probe->stop_early ? sp_look_alpha(SP_LOOKS) : SP_ALPHA);
}
