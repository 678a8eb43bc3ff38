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
sp_regime_is_open(const sp_contender *contenders, int count, int current,
				  double margin, sp_regime regime)
{
	if (!(sp_speed_noise(contenders[current].speed[regime]) <= sp_stay_limit(regime, margin)))
		return true;
	for (int i = 0; i < count; i++)
	{
		if (i != current && sp_classify(&contenders[i], margin) == SP_OPEN &&
			sp_reaches_above_in(&contenders[i], regime, margin))
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
projected_verdict(const sp_contender *contenders, int count, int current, double margin,
				  const double growth[SP_REGIMES], double shift)
{
	sp_contender projected[SP_MAX_METHODS];
	sp_judgement judgement;

	for (int i = 0; i < count; i++)
	{
		projected[i] = contenders[i];
		for (int r = 0; r < SP_REGIMES; r++)
			projected[i].speed[r] = project(contenders[i].speed[r], growth[r], i == current, shift);
	}
	sp_judge(projected, count, current, margin, &judgement);
	return judgement.verdict;
}

bool
sp_projection_settles(const sp_contender *contenders, int count, int current,
					  double margin, const double growth[SP_REGIMES])
{
	for (int i = 0; i < count; i++)
	{
		for (int r = 0; r < SP_REGIMES; r++)
		{
			if (!isnan(contenders[i].speed[r].estimate) && !sp_has_interval(contenders[i].speed[r]))
				return true;	/* too early to tell */
		}
	}
	return projected_verdict(contenders, count, current, margin, growth, -1) != SP_UNDECIDED ||
		projected_verdict(contenders, count, current, margin, growth, 1) == SP_SWITCH;
}
