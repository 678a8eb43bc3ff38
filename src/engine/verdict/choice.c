/*-------------------------------------------------------------------------
 *
 * choice.c
 *		The best choice so far, and how much longer than it a flush may take.
 *
 * A verdict needs proof, and often there is none in the time.  A DBA must choose a
 * method all the same.  The rule here needs no proof, only good odds, so it finds
 * smaller gains and errs more often, but then by little.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/verdict/verdict_internal.h"

#include <math.h>

/*
 * Between methods, differences of flush time are mostly of this size (the standard
 * deviation of the logarithm, on ext4, xfs, btrfs and ZFS).  An estimate is drawn towards no
 * difference, the more the larger its error is.
 */
#define USUAL_DIFFERENCE	0.10

/* The expected gain must be larger than this ... */
#define MIN_GAIN			0.01

/* ... and the chance of being worse by more than that at most a tenth (one-sided, normal). */
#define TENTH_DEVIATIONS	1.28

/* The ends of an interval at the level of the analyses, in standard errors. */
#define INTERVAL_DEVIATIONS	2.75

/*
 * The expected gain of a contender, as a logarithm; NAN if it is not a choice.  Whatever
 * its class, it is none if more slow flushes are likely: the gain does not include them.
 */
static double
expected_gain(const sp_comparison *comparison, const sp_contender *contender)
{
	sp_speed	speed = contender->speed[comparison->deciding];
	double		usual = USUAL_DIFFERENCE * USUAL_DIFFERENCE;
	double		error;
	double		gain;

	if (contender->class == SP_CURRENT || contender->class == SP_UNMEASURED ||
		contender->class == SP_BARRED || !sp_has_interval(speed) ||
		sp_may_have_heavier_tail(comparison, contender))
		return NAN;
	/* the lower end is corrected for the number of methods, the upper one is not */
	error = log(speed.high / speed.estimate) / INTERVAL_DEVIATIONS;
	error *= error;
	gain = log(speed.estimate) * usual / (usual + error);
	if (gain <= MIN_GAIN ||
		gain - TENTH_DEVIATIONS * sqrt(usual * error / (usual + error)) <= -MIN_GAIN)
		return NAN;
	return gain;
}

int
sp_best_choice(const sp_comparison *comparison)
{
	int			best = comparison->current;
	double		most = 0;

	for (int i = 0; i < comparison->count; i++)
	{
		double		gain = expected_gain(comparison, &comparison->contenders[i]);

		if (gain > most)
		{
			best = i;
			most = gain;
		}
	}
	return best;
}

/*
 * The upper ends need no correction for the number of methods: the claim is that no
 * method gains more, see sp_speed_interval().
 */
double
sp_loss_bound(const sp_comparison *comparison)
{
	double		highest = NAN;	/* as long as there is nothing to compare with */

	for (int i = 0; i < comparison->count; i++)
	{
		const sp_contender *contender = &comparison->contenders[i];
		sp_speed	speed = contender->speed[comparison->deciding];

		if (contender->class == SP_CURRENT || contender->class == SP_UNMEASURED)
			continue;
		if (!sp_has_interval(speed))
			return NAN;
		/* fmax() takes the other argument of a NAN */
		highest = fmax(highest, fmax(speed.high, 1));
	}
	return highest - 1;
}
