/*-------------------------------------------------------------------------
 *
 * projection.c
 *		Can more entries still change the verdict?
 *
 * A probe asks this to give its time to the regime with open questions, and to
 * stop when the remaining time cannot answer any.  Its reason then says how much longer
 * the next one should take.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/verdict/verdict_internal.h"

#include <math.h>

bool
sp_regime_is_open(const sp_comparison *comparison, sp_regime regime)
{
	sp_speed	control = comparison->contenders[comparison->current].speed[regime];

	/* written so that an unknown noise (NAN) is open */
	if (!(sp_speed_noise(control) <= sp_stay_limit(comparison, regime)))
		return true;
	for (int i = 0; i < comparison->count; i++)
	{
		const sp_contender *contender = &comparison->contenders[i];

		if (contender->class == SP_OPEN &&
			sp_reaches_above(comparison, contender, regime))
			return true;
	}
	return false;
}

/*
 * Project an interval to growth times as many entries.  It becomes narrower, and
 * moves by up to one standard error, which is a third of its half-width at the
 * level of the analyses.  The control moves towards 1, where its true value is;
 * a contender moves by shift standard errors.
 */
static sp_speed
project(sp_speed speed, double growth, bool control, double shift)
{
	double		estimate = log(speed.estimate);
	double		below = estimate - log(speed.low);
	double		above = log(speed.high) - estimate;
	double		error = (below + above) / 2 / 3;

	estimate += control ? -copysign(fmin(fabs(estimate), error), estimate) : shift * error;
	speed.estimate = exp(estimate);
	speed.low = exp(estimate - below / sqrt(growth));
	speed.high = exp(estimate + above / sqrt(growth));
	return speed;
}

/*
 * The verdict if all contenders move by shift standard errors.  More slow flushes that are
 * not proven are taken to be chance: proven, they would settle the question as well.
 */
static sp_verdict
projected_verdict(const sp_comparison *comparison, const double growth[SP_REGIMES], double shift)
{
	sp_comparison projected = *comparison;
	sp_judgement judgement;

	for (int i = 0; i < projected.count; i++)
	{
		sp_contender *contender = &projected.contenders[i];

		for (int r = 0; r < SP_REGIMES; r++)
		{
			contender->speed[r] = project(contender->speed[r], growth[r],
										  i == projected.current, shift);
			if (i != projected.current && !sp_has_heavier_tail(comparison, contender, r))
				contender->tail[r] = (sp_tail) {0, 0};
		}
	}
	sp_classify(&projected);
	sp_judge(&projected, &judgement);
	return judgement.verdict;
}

bool
sp_projection_settles(const sp_comparison *comparison, const double growth[SP_REGIMES])
{
	for (int i = 0; i < comparison->count; i++)
	{
		for (int r = 0; r < SP_REGIMES; r++)
		{
			sp_speed	speed = comparison->contenders[i].speed[r];

			if (!isnan(speed.estimate) && !sp_has_interval(speed))
				return true;	/* too early to tell */
		}
	}
	return projected_verdict(comparison, growth, -1) != SP_UNDECIDED ||
		projected_verdict(comparison, growth, 1) == SP_SWITCH;
}

/*
 * How many times as many entries until the end of an interval comes within an
 * edge: intervals shrink with the root of the entries.
 */
static double
entries_until(double estimate, double end, double edge)
{
	double		ratio = log(end / estimate) / log(edge / estimate);

	return ratio * ratio;
}

/* How many times as many entries until the intervals of a contender settle something. */
static double
entries_needed(const sp_comparison *comparison, const sp_contender *contender)
{
	const sp_contender *current = &comparison->contenders[comparison->current];
	double		margin = comparison->margin;
	sp_speed	deciding = contender->speed[comparison->deciding];
	sp_speed	other = contender->speed[sp_other_regime(comparison->deciding)];
	double		times = 1;

	for (int r = 0; r < SP_REGIMES; r++)
	{
		sp_speed	speed = contender->speed[r];
		double		edge = 1 + sp_stay_limit(comparison, r);

		if (!sp_has_interval(speed))
			return INFINITY;
		times = fmax(times, sp_tail_rounds_needed(&contender->tail[r], &current->tail[r]));
		if (sp_reaches_above(comparison, contender, r))
			times = fmax(times, entries_until(speed.estimate, speed.estimate < edge ?
											 speed.high : speed.low, edge));
	}
	/* a gain in the other regime counts only if nothing can be lost in the deciding one */
	if (other.low > 1 + margin && deciding.low < 1 - margin)
		times = fmax(times, entries_until(deciding.estimate, deciding.low, 1 - margin));
	return times;
}

double
sp_entries_needed(const sp_comparison *comparison)
{
	double		times = 1;

	for (int i = 0; i < comparison->count; i++)
	{
		const sp_contender *contender = &comparison->contenders[i];

		if (sp_may_be_faster(comparison, contender))
			times = fmax(times, entries_needed(comparison, contender));
	}
	return times;
}
