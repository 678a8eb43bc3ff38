/*-------------------------------------------------------------------------
 *
 * verdict.c
 *		The rules that make a verdict from intervals.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/verdict/verdict_internal.h"

#include <math.h>
#include <string.h>

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

bool
sp_has_interval(sp_speed speed)
{
	return !isnan(speed.low) && !isnan(speed.high);
}

double
sp_stay_limit(sp_regime regime, double margin)
{
	return regime == SP_PACED ? margin : 2 * margin;
}

/* The class of a contender other than the current method. */
static sp_contender_class
class_of(const sp_contender *contender, double margin)
{
	sp_speed	paced = contender->speed[SP_PACED];
	sp_speed	saturated = contender->speed[SP_SATURATED];
	double		upper = 1 + margin;
	double		lower = 1 - margin;
	double		saturated_upper = 1 + sp_stay_limit(SP_SATURATED, margin);
	double		saturated_lower = 1 - sp_stay_limit(SP_SATURATED, margin);

	if (contender->durable == SP_DURABLE_NO)
		return SP_UNMEASURED;
	if (isnan(paced.estimate) && isnan(saturated.estimate))
		return SP_UNMEASURED;
	if (!sp_has_interval(paced) || !sp_has_interval(saturated))
		return SP_OPEN;

	/* clear when paced: the saturated regime cannot change that */
	if (paced.low > upper)
		return SP_FASTER;
	if (paced.high < lower)
		return SP_SLOWER;

	/* gains when saturated, and loses nothing when paced */
	if (saturated.low > upper && paced.low >= lower)
		return SP_FASTER;

	/* loses in one regime, and gains too little in the other */
	if ((paced.high < 1 && saturated.high <= saturated_upper) ||
		(saturated.high < 1 && paced.high <= upper))
		return SP_SLOWER;
	if (paced.low >= lower && paced.high <= upper &&
		saturated.low >= saturated_lower && saturated.high <= saturated_upper)
		return SP_EQUAL;
	return SP_OPEN;
}

void
sp_classify(sp_comparison *comparison)
{
	memset(comparison->count_of, 0, sizeof(comparison->count_of));
	for (int i = 0; i < comparison->count; i++)
	{
		sp_contender *contender = &comparison->contenders[i];

		contender->class = i == comparison->current ? SP_CURRENT :
			class_of(contender, comparison->margin);
		comparison->count_of[contender->class]++;
	}
}

bool
sp_reaches_above(const sp_contender *contender, sp_regime regime, double margin)
{
	sp_speed	speed = contender->speed[regime];

	return !sp_has_interval(speed) || speed.high > 1 + sp_stay_limit(regime, margin);
}

bool
sp_may_be_faster(const sp_contender *contender, double margin)
{
	return contender->class == SP_OPEN &&
		(sp_reaches_above(contender, SP_PACED, margin) ||
		 sp_reaches_above(contender, SP_SATURATED, margin));
}

/* Is one of the contenders faster than the current method, or may it be? */
static bool
one_may_be_faster(const sp_comparison *comparison)
{
	for (int i = 0; i < comparison->count; i++)
	{
		if (sp_may_be_faster(&comparison->contenders[i], comparison->margin))
			return true;
	}
	return comparison->count_of[SP_FASTER] > 0;
}

double
sp_rank_estimate(const sp_contender *contender)
{
	double		paced = contender->speed[SP_PACED].estimate;

	return isnan(paced) ? contender->speed[SP_SATURATED].estimate : paced;
}

/* The effect of places: how far two files of one method differ; 1 if not proven. */
static double
place_effect(sp_speed control)
{
	if (control.low > 1)
		return control.estimate;
	if (control.high < 1)
		return 1 / control.estimate;
	return 1;
}

/* Is the contender faster by more than the margin and the effect of places together? */
static bool
beats_places(const sp_contender *contender, const sp_contender *current, double margin)
{
	for (int r = 0; r < SP_REGIMES; r++)
	{
		if (contender->speed[r].low > (1 + margin) * place_effect(current->speed[r]))
			return true;
	}
	return false;
}

bool
sp_control_contradicts(const sp_comparison *comparison)
{
	const sp_contender *current = &comparison->contenders[comparison->current];

	for (int r = 0; r < SP_REGIMES; r++)
	{
		if (current->speed[r].low > 1 + comparison->margin ||
			current->speed[r].high < 1 - comparison->margin)
			return true;
	}
	return false;
}

/* The noise of the deciding regime: the paced one, if it was measured. */
static double
control_noise(const sp_contender *current)
{
	sp_speed	paced = current->speed[SP_PACED];

	return sp_speed_noise(isnan(paced.estimate) ? current->speed[SP_SATURATED] : paced);
}

/* The better of two contenders by estimate; best is -1 if there is none yet. */
static int
better_of(const sp_comparison *comparison, int best, int other)
{
	if (best >= 0 && !(sp_rank_estimate(&comparison->contenders[other]) >
					   sp_rank_estimate(&comparison->contenders[best])))
		return best;
	return other;
}

/* The fastest method whose syncs reach the device; -1 if none is known. */
static int
fastest_durable(const sp_comparison *comparison)
{
	int			best = -1;

	for (int i = 0; i < comparison->count; i++)
	{
		const sp_contender *contender = &comparison->contenders[i];

		if (contender->durable == SP_DURABLE_YES && !isnan(sp_rank_estimate(contender)))
			best = better_of(comparison, best, i);
	}
	return best;
}

/* The method to switch to; -1 if there is none. */
static int
fastest_worth_a_switch(const sp_comparison *comparison)
{
	const sp_contender *current = &comparison->contenders[comparison->current];
	int			best = -1;

	for (int i = 0; i < comparison->count; i++)
	{
		const sp_contender *contender = &comparison->contenders[i];

		if (contender->class == SP_FASTER &&
			beats_places(contender, current, comparison->margin))
			best = better_of(comparison, best, i);
	}
	return best;
}

void
sp_judge(const sp_comparison *comparison, sp_judgement *judgement)
{
	const sp_contender *current = &comparison->contenders[comparison->current];
	const int  *count_of = comparison->count_of;
	int			best = fastest_worth_a_switch(comparison);

	memset(judgement, 0, sizeof(*judgement));
	judgement->verdict = SP_UNDECIDED;
	judgement->recommended = comparison->current;
	judgement->noise = control_noise(current);

	if (current->durable == SP_DURABLE_NO)
	{
		judgement->verdict = SP_UNSAFE;
		judgement->recommended = fastest_durable(comparison);
	}
	else if (isnan(judgement->noise) || sp_control_contradicts(comparison))
		return;
	else if (best >= 0)
	{
		/* before the noise: an interval that exceeds the margin has it included */
		judgement->verdict = SP_SWITCH;
		judgement->recommended = best;
	}
	else if (judgement->noise > comparison->margin)
		return;
	else if (count_of[SP_SLOWER] > 0 &&
			 count_of[SP_FASTER] + count_of[SP_OPEN] + count_of[SP_EQUAL] == 0)
		judgement->verdict = SP_KEEP;
	else if (one_may_be_faster(comparison))
		return;
	else if (count_of[SP_EQUAL] > 0)
		judgement->verdict = SP_TIE;
	else if (count_of[SP_OPEN] > 0)
	{
		judgement->verdict = SP_KEEP;
		judgement->by_exclusion = true;
	}
}

bool
sp_judgement_settled(const sp_comparison *comparison, const sp_judgement *judgement)
{
	double		chosen;

	if (judgement->verdict == SP_UNDECIDED || judgement->by_exclusion)
		return false;
	if (judgement->verdict != SP_SWITCH)
		return true;
	chosen = sp_rank_estimate(&comparison->contenders[judgement->recommended]);
	for (int i = 0; i < comparison->count; i++)
	{
		const sp_contender *contender = &comparison->contenders[i];

		if (contender->class == SP_OPEN && sp_rank_estimate(contender) > chosen)
			return false;
	}
	return true;
}
