/*-------------------------------------------------------------------------
 *
 * projection.c
 *		What more rounds could still change in a verdict, projected.
 *
 * A probe asks so that it spends its time where the questions are, and stops
 * when the rest of it can answer none.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/verdict/verdict_internal.h"

#include <math.h>

bool
sp_regime_is_open(const sp_contenders *contenders, sp_regime regime)
{
	const sp_contender *list = contenders->list;
	double		margin = contenders->margin;
	double		noise = sp_speed_noise(list[contenders->current].speed[regime]);

	if (!(noise <= sp_stay_limit(regime, margin)))
		return true;
	for (int i = 0; i < contenders->count; i++)
	{
		if (i != contenders->current && sp_classify(&list[i], margin) == SP_OPEN &&
			sp_reaches_above_in(&list[i], regime, margin))
			return true;
	}
	return false;
}

bool
sp_contender_is_excluded(const sp_contender *contender, double margin)
{
	return sp_classify(contender, margin) == SP_SLOWER;
}

/*
 * An interval as it may be after growth times as many rounds: narrower, and
 * moved by up to a standard error (a third of its half-width at the
 * analyses' level): up or down, or the control towards what it has to be, 1.
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

/* The verdict if all contenders move that way. */
static sp_verdict
projected_verdict(const sp_contenders *contenders, const double growth[SP_REGIMES], double shift)
{
	sp_contenders projected = *contenders;
	sp_judgement judgement;

	for (int i = 0; i < contenders->count; i++)
	{
		for (int r = 0; r < SP_REGIMES; r++)
			projected.list[i].speed[r] = project(contenders->list[i].speed[r], growth[r],
												 i == contenders->current, shift);
	}
	sp_judge(&projected, &judgement);
	return judgement.verdict;
}

bool
sp_projection_settles(const sp_contenders *contenders, const double growth[SP_REGIMES])
{
	for (int i = 0; i < contenders->count; i++)
	{
		for (int r = 0; r < SP_REGIMES; r++)
		{
			sp_speed	speed = contenders->list[i].speed[r];

			if (!isnan(speed.estimate) && !sp_has_interval(speed))
				return true;	/* too early to tell */
		}
	}
	return projected_verdict(contenders, growth, -1) != SP_UNDECIDED ||
		projected_verdict(contenders, growth, 1) == SP_SWITCH;
}
