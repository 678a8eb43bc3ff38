/*-------------------------------------------------------------------------
 *
 * verdict.c
 *		The rule that makes a verdict from intervals.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/verdict/verdict.h"

#include <math.h>

/*
 * The best choice needs no proof, only good odds.  Differences between methods are mostly of
 * the size USUAL_DIFFERENCE (the standard deviation of the logarithm, on ext4, xfs, btrfs and
 * ZFS), so an estimate is drawn towards no difference, the more the larger its error is.  The
 * gain that is left must be MIN_GAIN at least, and the chance of being worse by as much at
 * most a tenth (TENTH_DEVIATIONS, one-sided, normal).
 */
#define USUAL_DIFFERENCE	0.10
#define MIN_GAIN			0.01
#define TENTH_DEVIATIONS	1.28

/* The upper end of an interval at the last look, in standard errors. */
#define END_DEVIATIONS		2.1

/* No method is so many times as fast as another one. */
#define OWN_KIND_FIRST		1e9

const char *const sp_verdict_names[] = {
	[SP_UNDECIDED] = "undecided", [SP_SWITCH] = "switch", [SP_KEEP] = "keep",
	[SP_UNSAFE] = "unsafe"
};

const char *const sp_regime_names[] = {[SP_PACED] = "paced", [SP_SATURATED] = "saturated"};

static bool
has_interval(sp_speed speed)
{
	return !isnan(speed.low) && !isnan(speed.high);
}

static bool
is_usable(const sp_candidate *candidate)
{
	return candidate->durable != SP_DURABLE_NO && !isnan(candidate->speed.estimate);
}

/* --------------------------------------------------------------------- tail */

#define DEVIATIONS		3

/* Two against none are 1.41 standard deviations. */
#define LIKELY_DEVIATIONS	1.4

/*
 * The least difference of the shares that matters.  These are shares of rounds, not of
 * flushes.  A slow flush takes at least five times the median.  So 0.5 % more rounds with
 * one make the mean at least 0.13 % longer with 15 flushes in a saturated slice.  When
 * paced, with three flushes to one in a round, they make it at least 0.7 to 2 % longer.
 */
#define MIN_EXCESS_ONE_IN	200

double
sp_tail_share(const sp_tail *tail)
{
	return tail->rounds > 0 ? (double) tail->slow_rounds / (double) tail->rounds : NAN;
}

/*
 * By how many standard deviations is the share larger?  0 if not by enough to matter, or if a
 * share is unknown.  Whole numbers as long as possible: differences of rounded quotients would
 * fall on either side of a limit, as the processor rounds.
 */
static double
deviations_above(const sp_tail *tail, const sp_tail *other)
{
	int64_t		slow = tail->slow_rounds + other->slow_rounds;
	int64_t		pairs = tail->rounds * other->rounds;
	int64_t		excess = tail->slow_rounds * other->rounds - other->slow_rounds * tail->rounds;

	if (excess * MIN_EXCESS_ONE_IN <= pairs)
		return 0;
	return (double) excess / sqrt((double) slow * (double) pairs);
}

bool
sp_tail_exceeds(const sp_tail *tail, const sp_tail *other)
{
	return deviations_above(tail, other) > DEVIATIONS;
}

bool
sp_tail_may_exceed(const sp_tail *tail, const sp_tail *other)
{
	return deviations_above(tail, other) > LIKELY_DEVIATIONS;
}

double
sp_tail_rounds_needed(const sp_tail *tail, const sp_tail *other)
{
	double		deviations = deviations_above(tail, other);

	if (deviations <= LIKELY_DEVIATIONS || deviations >= DEVIATIONS)
		return 1;
	/* deviations grow with the root of the rounds */
	return DEVIATIONS / deviations * DEVIATIONS / deviations;
}

/* ---------------------------------------------------------------- standings */

sp_speed
sp_gain(const sp_comparison *comparison, int candidate)
{
	const sp_candidate *current = &comparison->candidates[comparison->current];
	sp_speed	gain = comparison->candidates[candidate].speed;
	double		most = 1;		/* that one of the own kind may gain, and surely gains */
	double		likely = 1;
	double		least = 1;

	if (!comparison->candidates[candidate].other_kind)
		return gain;
	for (int i = 0; i < comparison->count; i++)
	{
		const sp_candidate *own = &comparison->candidates[i];

		if (own == current || own->other_kind || !is_usable(own) ||
			!has_interval(own->speed) || sp_tail_exceeds(&own->tail, &current->tail))
			continue;
		most = fmax(most, own->speed.high);
		likely = fmax(likely, own->speed.estimate);
		least = fmax(least, own->speed.low);
	}
	gain.low /= most;
	gain.estimate /= likely;
	gain.high /= least;
	return gain;
}

static sp_standing
standing_of(const sp_comparison *comparison, int i, double noise)
{
	const sp_candidate *candidate = &comparison->candidates[i];
	const sp_candidate *current = &comparison->candidates[comparison->current];
	sp_speed	gain = sp_gain(comparison, i);
	double		worth = 1 + comparison->margin;

	if (i == comparison->current)
		return SP_CURRENT;
	if (!is_usable(candidate))
		return SP_UNMEASURED;
	if (!has_interval(gain))
		return SP_OPEN;
	if (gain.high <= worth)
		return SP_NO_GAIN;
	if (sp_tail_exceeds(&candidate->tail, &current->tail))
		return SP_STALLING;
	if (gain.low <= worth)
		return SP_OPEN;
	/* written so that an unknown noise is a doubt */
	if (!(gain.low > 1 + noise) || sp_tail_may_exceed(&candidate->tail, &current->tail))
		return SP_DOUBTED;
	return SP_FASTER;
}

bool
sp_may_gain(const sp_candidate *candidate)
{
	return candidate->standing == SP_OPEN || candidate->standing == SP_DOUBTED;
}

/* ------------------------------------------------------------- which of them */

/* Its worth; 0 if it is no choice. */
typedef double (*worth_function) (const sp_comparison *comparison, const sp_candidate *candidate);

/* The one that is worth most; -1 if there is no choice. */
static int
best_by(const sp_comparison *comparison, worth_function worth_of)
{
	int			best = -1;
	double		most = 0;

	for (int i = 0; i < comparison->count; i++)
	{
		double		worth = worth_of(comparison, &comparison->candidates[i]);

		if (worth > most)
		{
			best = i;
			most = worth;
		}
	}
	return best;
}

/* The speed of a method whose syncs reach the device; any of the own kind comes first. */
static double
durable_speed(const sp_comparison *comparison __attribute__((unused)),
			  const sp_candidate *candidate)
{
	if (!sp_durable_is_safe(candidate->durable) || isnan(candidate->speed.estimate))
		return 0;
	return candidate->speed.estimate * (candidate->other_kind ? 1 : OWN_KIND_FIRST);
}

/* One of the other kind is worth a switch only if it gains over the best of the own kind. */
static double
switch_speed(const sp_comparison *comparison __attribute__((unused)),
			 const sp_candidate *candidate)
{
	return candidate->standing == SP_FASTER ? candidate->speed.estimate : 0;
}

/*
 * The expected gain of a candidate, as a logarithm; not above 0 if the current one is the better
 * choice.  The platform's default is the method of its kind that syncs data only.  It has the
 * odds for itself: in most places it was the best one, or as good (bench/README.md).
 */
static double
expected_gain(const sp_comparison *comparison, const sp_candidate *candidate)
{
	const sp_candidate *current = &comparison->candidates[comparison->current];
	double		usual = USUAL_DIFFERENCE * USUAL_DIFFERENCE;
	double		error;
	double		gain;

	if (candidate->standing == SP_CURRENT || !is_usable(candidate) || candidate->other_kind ||
		sp_tail_may_exceed(&candidate->tail, &current->tail))
		return 0;
	/*
	 * The lower end is corrected for the number of methods, the upper one is not.  Without an
	 * interval all this is NAN, which is not above 0.
	 */
	error = log(candidate->speed.high / candidate->speed.estimate) / END_DEVIATIONS;
	error *= error;
	gain = log(candidate->speed.estimate) * usual / (usual + error);
	if (candidate->data_only && !current->data_only)
		return gain;
	if (gain <= MIN_GAIN ||
		gain - TENTH_DEVIATIONS * sqrt(usual * error / (usual + error)) <= -MIN_GAIN)
		return 0;
	return gain;
}

/*
 * The upper ends need no correction for the number of methods: the claim is that no
 * method gains more, see sp_speed_interval().
 */
static double
max_regret(const sp_comparison *comparison)
{
	double		highest = NAN;	/* as long as there is nothing to compare with */

	for (int i = 0; i < comparison->count; i++)
	{
		const sp_candidate *candidate = &comparison->candidates[i];

		if (i == comparison->current || !is_usable(candidate))
			continue;
		if (!has_interval(candidate->speed))
			return NAN;
		/* fmax() takes the other argument of a NAN */
		highest = fmax(highest, fmax(candidate->speed.high, 1));
	}
	return highest - 1;
}

/* ---------------------------------------------------------------- how long yet */

/*
 * How many times as many samples until an interval comes off the margin, if its estimate
 * stays: intervals shrink with the root of the samples.
 */
static double
samples_needed(const sp_comparison *comparison, int i)
{
	const sp_candidate *candidate = &comparison->candidates[i];
	const sp_candidate *current = &comparison->candidates[comparison->current];
	sp_speed	gain = sp_gain(comparison, i);
	double		worth = log(1 + comparison->margin);
	double		estimate = log(gain.estimate);
	double		end = log(estimate < worth ? gain.high : gain.low);
	double		ratio = (end - estimate) / (worth - estimate);

	if (!has_interval(gain))
		return NAN;
	if (candidate->standing != SP_DOUBTED)
		return ratio * ratio;
	if (!has_interval(current->speed))
		return NAN;				/* who knows why there is no control */
	end = log(gain.low) - log1p(sp_speed_noise(current->speed));
	return fmax(fmax(2, pow((estimate - end) / estimate, 2)),
				sp_tail_rounds_needed(&candidate->tail, &current->tail));
}

/* NAN if there is no interval, although there are samples enough, or no sample. */
static double
times_as_long(const sp_comparison *comparison)
{
	double		times = 2;

	for (int i = 0; i < comparison->count; i++)
	{
		double		needed;

		if (!sp_may_gain(&comparison->candidates[i]))
			continue;
		needed = samples_needed(comparison, i);
		if (isnan(needed) && comparison->samples > 0 && comparison->samples < SP_MIN_SAMPLES)
			needed = (double) SP_MIN_SAMPLES / comparison->samples;
		if (isnan(needed))
			return NAN;
		times = fmax(times, ceil(needed));
	}
	return times > SP_MAX_TIMES_AS_LONG ? INFINITY : times;
}

/* ------------------------------------------------------------------- verdict */

void
sp_judge(sp_comparison *comparison, sp_judgement *judgement)
{
	const sp_candidate *current = &comparison->candidates[comparison->current];
	bool		may_gain = false;
	bool		compared = false;
	int			best;

	*judgement = (sp_judgement) {
		.verdict = SP_UNDECIDED,
		.recommended = comparison->current,
		.best = comparison->current,
		.noise = sp_speed_noise(current->speed),
		.max_regret = NAN,
		.times_as_long = NAN
	};
	for (int i = 0; i < comparison->count; i++)
	{
		sp_candidate *candidate = &comparison->candidates[i];

		candidate->standing = standing_of(comparison, i, judgement->noise);
		may_gain = may_gain || sp_may_gain(candidate);
		compared = compared || (candidate != current && candidate->standing != SP_UNMEASURED);
	}

	if (comparison->fsync_off || current->durable == SP_DURABLE_NO)
	{
		judgement->verdict = SP_UNSAFE;
		if (!comparison->fsync_off)
			judgement->recommended = judgement->best = best_by(comparison, durable_speed);
		return;
	}

	judgement->max_regret = max_regret(comparison);
	best = best_by(comparison, switch_speed);
	if (best >= 0)
	{
		judgement->verdict = SP_SWITCH;
		judgement->recommended = judgement->best = best;
		return;
	}
	if (compared && !may_gain)
	{
		judgement->verdict = SP_KEEP;
		return;
	}
	best = best_by(comparison, expected_gain);
	if (best >= 0)
		judgement->best = best;
	if (may_gain || comparison->samples >= SP_MIN_SAMPLES)
		judgement->times_as_long = !may_gain || comparison->mostly_slow ? 1 :
			times_as_long(comparison);
}

bool
sp_is_settled(const sp_comparison *comparison, const sp_judgement *judgement)
{
	if (judgement->verdict != SP_SWITCH)
		return judgement->verdict != SP_UNDECIDED;
	for (int i = 0; i < comparison->count; i++)
	{
		const sp_candidate *candidate = &comparison->candidates[i];

		if (sp_may_gain(candidate) && candidate->speed.estimate >
			comparison->candidates[judgement->recommended].speed.estimate)
			return false;
	}
	return true;
}
