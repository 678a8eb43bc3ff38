/*-------------------------------------------------------------------------
 *
 * verdict.c
 *		What the rounds of a run allow us to say.
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

/*
 * One class for the two regimes of a contender.  Where they contradict each
 * other, the paced one decides: it is what a server that commits now and then
 * sees, and back-to-back figures are what led people astray.
 */
sp_contender_class
sp_classify(const sp_contender *contender, double margin)
{
	sp_speed	paced = contender->speed[SP_PACED];
	sp_speed	saturated = contender->speed[SP_SATURATED];
	double		upper = 1 + margin;
	double		lower = 1 - margin;
	double		saturated_upper = 1 + sp_stay_limit(SP_SATURATED, margin);
	double		saturated_lower = 1 - sp_stay_limit(SP_SATURATED, margin);

	/* a method that does not sync is not a contender at all */
	if (contender->durable == SP_DURABLE_NO)
		return SP_UNMEASURED;
	if (isnan(paced.estimate) && isnan(saturated.estimate))
		return SP_UNMEASURED;
	if (!sp_has_interval(paced) || !sp_has_interval(saturated))
		return SP_OPEN;

	/* whatever the other regime will turn out to be, the paced one decides */
	if (paced.low > upper)
		return SP_FASTER;
	if (paced.high < lower)
		return SP_SLOWER;

	/* gains back to back, and loses nothing at the cluster's pace */
	if (saturated.low > upper && paced.low >= lower)
		return SP_FASTER;

	/* loses in one regime and gains nothing worth a change in the other */
	if ((paced.high < 1 && saturated.high <= saturated_upper) ||
		(saturated.high < 1 && paced.high <= upper))
		return SP_SLOWER;
	if (paced.low >= lower && paced.high <= upper &&
		saturated.low >= saturated_lower && saturated.high <= saturated_upper)
		return SP_EQUAL;
	return SP_OPEN;
}

bool
sp_reaches_above_in(const sp_contender *contender, sp_regime regime, double margin)
{
	sp_speed	speed = contender->speed[regime];

	return !sp_has_interval(speed) || speed.high > 1 + sp_stay_limit(regime, margin);
}

bool
sp_reaches_above(const sp_contender *contender, double margin)
{
	switch (sp_classify(contender, margin))
	{
		case SP_FASTER:
			return true;
		case SP_OPEN:
			return sp_reaches_above_in(contender, SP_PACED, margin) ||
				sp_reaches_above_in(contender, SP_SATURATED, margin);
		case SP_UNMEASURED:
		case SP_EQUAL:
		case SP_SLOWER:
			break;
	}
	return false;
}

double
sp_rank_estimate(const sp_contender *contender)
{
	double		paced = contender->speed[SP_PACED].estimate;

	return isnan(paced) ? contender->speed[SP_SATURATED].estimate : paced;
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

bool
sp_control_contradicts(const sp_contender *current, double margin)
{
	for (int r = 0; r < SP_REGIMES; r++)
	{
		if (current->speed[r].low > 1 + margin || current->speed[r].high < 1 - margin)
			return true;
	}
	return false;
}

/* The noise where it decides: paced, if that was measured. */
static double
control_noise(const sp_contender *current)
{
	sp_speed	paced = current->speed[SP_PACED];

	return sp_speed_noise(isnan(paced.estimate) ? current->speed[SP_SATURATED] : paced);
}

/* The fastest contender whose syncs reach the device; -1 if none is known. */
static int
fastest_durable(const sp_contenders *contenders)
{
	const sp_contender *list = contenders->list;
	int			best = -1;

	for (int i = 0; i < contenders->count; i++)
	{
		if (list[i].durable != SP_DURABLE_YES || isnan(sp_rank_estimate(&list[i])))
			continue;
		if (best < 0 || sp_rank_estimate(&list[i]) > sp_rank_estimate(&list[best]))
			best = i;
	}
	return best;
}

void
sp_judge(const sp_contenders *contenders, sp_judgement *judgement)
{
	const sp_contender *list = contenders->list;
	const sp_contender *current = &list[contenders->current];
	double		margin = contenders->margin;
	int			count_of[SP_SLOWER + 1] = {0};
	int			best = -1;		/* contender to switch to */
	bool		above = false;	/* may one be faster by more than the margin? */

	memset(judgement, 0, sizeof(*judgement));
	judgement->recommended = contenders->current;
	judgement->noise = control_noise(current);

	for (int i = 0; i < contenders->count; i++)
	{
		sp_contender_class class;

		if (i == contenders->current)
			continue;
		class = sp_classify(&list[i], margin);
		count_of[class]++;
		above = above || sp_reaches_above(&list[i], margin);
		if (class == SP_FASTER && beats_place(&list[i], current, margin) &&
			(best < 0 || sp_rank_estimate(&list[i]) > sp_rank_estimate(&list[best])))
			best = i;
	}

	if (current->durable == SP_DURABLE_NO)
	{
		judgement->verdict = SP_UNSAFE;
		judgement->recommended = fastest_durable(contenders);
	}
	else if (isnan(judgement->noise) || sp_control_contradicts(current, margin))
		judgement->verdict = SP_UNDECIDED;
	else if (best >= 0)
	{
		/* an interval that is clear of the margin is so in spite of the noise */
		judgement->verdict = SP_SWITCH;
		judgement->recommended = best;
	}
	else if (judgement->noise > margin)
		judgement->verdict = SP_UNDECIDED;
	else if (count_of[SP_SLOWER] > 0 && count_of[SP_OPEN] + count_of[SP_EQUAL] == 0)
		judgement->verdict = SP_KEEP;
	else if (count_of[SP_EQUAL] > 0 && !above)
		judgement->verdict = SP_TIE;
	else if (count_of[SP_OPEN] > 0 && !above)
	{
		judgement->verdict = SP_KEEP;
		judgement->by_exclusion = true;
	}
}

bool
sp_judgement_settled(const sp_contenders *contenders, const sp_judgement *judgement)
{
	const sp_contender *list = contenders->list;
	double		chosen;

	if (judgement->verdict == SP_UNDECIDED || judgement->by_exclusion)
		return false;
	if (judgement->verdict != SP_SWITCH)
		return true;
	chosen = sp_rank_estimate(&list[judgement->recommended]);
	for (int i = 0; i < contenders->count; i++)
	{
		if (i != contenders->current && sp_classify(&list[i], contenders->margin) == SP_OPEN &&
			sp_rank_estimate(&list[i]) > chosen)
			return false;
	}
	return true;
}
