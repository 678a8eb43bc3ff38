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

/* The saturated regime decides where flushes take more than this share of the time. */
#define SATURATED_LOAD	0.5

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

const char *
sp_regime_name(sp_regime regime)
{
	return regime == SP_PACED ? "paced" : "saturated";
}

sp_regime
sp_other_regime(sp_regime regime)
{
	return regime == SP_PACED ? SP_SATURATED : SP_PACED;
}

double
sp_pace_load(const sp_pace *pace)
{
	return pace->saturated_flush_us / pace->cluster_interval_us;
}

double
sp_stay_limit(const sp_comparison *comparison, sp_regime regime)
{
	return regime == comparison->deciding ? comparison->margin : 2 * comparison->margin;
}

bool
sp_has_heavier_tail(const sp_comparison *comparison, const sp_contender *contender,
					sp_regime regime)
{
	return sp_tail_exceeds(&contender->tail[regime],
						   &comparison->contenders[comparison->current].tail[regime]);
}

bool
sp_may_have_heavier_tail(const sp_comparison *comparison, const sp_contender *contender)
{
	const sp_contender *current = &comparison->contenders[comparison->current];

	for (int r = 0; r < SP_REGIMES; r++)
	{
		if (sp_tail_may_exceed(&contender->tail[r], &current->tail[r]))
			return true;
	}
	return false;
}

/*
 * Is a contender that is faster worth a switch all the same?  Its gain may be proven in
 * fewer rounds than it takes to prove more slow flushes; these must not be likely.
 */
static sp_contender_class
faster_or_barred(const sp_comparison *comparison, const sp_contender *contender)
{
	for (int r = 0; r < SP_REGIMES; r++)
	{
		if (sp_has_heavier_tail(comparison, contender, r))
			return SP_BARRED;
	}
	return sp_may_have_heavier_tail(comparison, contender) ? SP_OPEN : SP_FASTER;
}

bool
sp_is_faster(const sp_comparison *comparison, const sp_contender *contender)
{
	sp_speed	deciding = contender->speed[comparison->deciding];
	sp_speed	other = contender->speed[sp_other_regime(comparison->deciding)];
	double		upper = 1 + comparison->margin;
	double		lower = 1 - comparison->margin;

	return sp_has_interval(deciding) && sp_has_interval(other) &&
		((deciding.low > upper && other.estimate >= lower) ||
		 (other.low > upper && deciding.low >= lower));
}

/* The class of a contender other than the current method. */
static sp_contender_class
class_of(const sp_comparison *comparison, const sp_contender *contender)
{
	sp_regime	other_regime = sp_other_regime(comparison->deciding);
	sp_speed	deciding = contender->speed[comparison->deciding];
	sp_speed	other = contender->speed[other_regime];
	double		upper = 1 + comparison->margin;
	double		lower = 1 - comparison->margin;
	double		other_upper = 1 + sp_stay_limit(comparison, other_regime);
	double		other_lower = 1 - sp_stay_limit(comparison, other_regime);

	if (contender->durable == SP_DURABLE_NO)
		return SP_UNMEASURED;
	if (isnan(deciding.estimate) && isnan(other.estimate))
		return SP_UNMEASURED;
	if (!sp_has_interval(deciding) || !sp_has_interval(other))
		return SP_OPEN;

	if (deciding.high < lower)
		return SP_SLOWER;

	/* gains in one regime, and loses nothing in the other */
	if (deciding.low > upper && other.high < lower)
		return SP_BARRED;
	if (sp_is_faster(comparison, contender))
		return faster_or_barred(comparison, contender);

	/* loses in one regime, and gains too little in the other */
	if ((deciding.high < 1 && other.high <= other_upper) ||
		(other.high < 1 && deciding.high <= upper))
		return SP_SLOWER;
	if (deciding.low >= lower && deciding.high <= upper &&
		other.low >= other_lower && other.high <= other_upper)
		return SP_EQUAL;
	return SP_OPEN;
}

void
sp_classify(sp_comparison *comparison)
{
	/* written so that an unknown load (NAN) lets the paced regime decide */
	comparison->deciding =
		sp_pace_load(&comparison->pace) > SATURATED_LOAD ? SP_SATURATED : SP_PACED;
	memset(comparison->count_of, 0, sizeof(comparison->count_of));
	for (int i = 0; i < comparison->count; i++)
	{
		sp_contender *contender = &comparison->contenders[i];

		contender->class = i == comparison->current ? SP_CURRENT :
			class_of(comparison, contender);
		comparison->count_of[contender->class]++;
	}
}

bool
sp_reaches_above(const sp_comparison *comparison, const sp_contender *contender,
				 sp_regime regime)
{
	sp_speed	speed = contender->speed[regime];

	return !sp_has_interval(speed) || speed.high > 1 + sp_stay_limit(comparison, regime);
}

bool
sp_may_be_faster(const sp_comparison *comparison, const sp_contender *contender)
{
	return contender->class == SP_OPEN &&
		(sp_reaches_above(comparison, contender, SP_PACED) ||
		 sp_reaches_above(comparison, contender, SP_SATURATED));
}

/* Is one of the contenders faster than the current method, or may it be? */
static bool
one_may_be_faster(const sp_comparison *comparison)
{
	for (int i = 0; i < comparison->count; i++)
	{
		if (sp_may_be_faster(comparison, &comparison->contenders[i]))
			return true;
	}
	return comparison->count_of[SP_FASTER] > 0;
}

double
sp_rank_estimate(const sp_comparison *comparison, const sp_contender *contender)
{
	double		deciding = contender->speed[comparison->deciding].estimate;

	return isnan(deciding) ?
		contender->speed[sp_other_regime(comparison->deciding)].estimate : deciding;
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

void
sp_take_out_noise(sp_comparison *comparison)
{
	sp_contender *current = &comparison->contenders[comparison->current];
	double		noise = sp_speed_noise(current->speed[SP_PACED]);
	double		lowered = (1 + noise) / (1 + comparison->margin);

	if (isnan(noise) || sp_control_contradicts(comparison))
		return;
	for (int i = 0; i < comparison->count; i++)
	{
		sp_contender *contender = &comparison->contenders[i];

		for (int r = 0; r < SP_REGIMES; r++)
		{
			if (contender == current)
				contender->speed[r] = (sp_speed) {1, 1, 1};
			else if (lowered > 1)
				contender->speed[r].low /= lowered;
		}
	}
}

/* The noise of the deciding regime, if it was measured. */
static double
control_noise(const sp_comparison *comparison, const sp_contender *current)
{
	sp_speed	deciding = current->speed[comparison->deciding];

	return sp_speed_noise(isnan(deciding.estimate) ?
						  current->speed[sp_other_regime(comparison->deciding)] : deciding);
}

/* The better of two contenders by estimate; best is -1 if there is none yet. */
static int
better_of(const sp_comparison *comparison, int best, int other)
{
	if (best >= 0 && !(sp_rank_estimate(comparison, &comparison->contenders[other]) >
					   sp_rank_estimate(comparison, &comparison->contenders[best])))
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

		if (sp_durable_is_safe(contender->durable) &&
			!isnan(sp_rank_estimate(comparison, contender)))
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
	judgement->noise = control_noise(comparison, current);
	judgement->best = sp_best_choice(comparison);
	judgement->loss_bound = sp_loss_bound(comparison);

	if (current->durable == SP_DURABLE_NO)
	{
		judgement->verdict = SP_UNSAFE;
		judgement->recommended = judgement->best = fastest_durable(comparison);
		judgement->loss_bound = NAN;
	}
	else if (isnan(judgement->noise) || sp_control_contradicts(comparison))
		return;
	else if (best >= 0)
	{
		/* before the noise: an interval that exceeds the margin has it included */
		judgement->verdict = SP_SWITCH;
		judgement->recommended = judgement->best = best;
	}
	else if (judgement->noise > comparison->margin)
		return;
	else if (count_of[SP_SLOWER] + count_of[SP_BARRED] > 0 &&
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
	chosen = sp_rank_estimate(comparison, &comparison->contenders[judgement->recommended]);
	for (int i = 0; i < comparison->count; i++)
	{
		const sp_contender *contender = &comparison->contenders[i];

		if (contender->class == SP_OPEN && sp_rank_estimate(comparison, contender) > chosen)
			return false;
	}
	return true;
}
