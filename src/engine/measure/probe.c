/*-------------------------------------------------------------------------
 *
 * probe.c
 *		A run: turns of the regimes, interim analyses, and when to stop.
 *
 * The engine's entry.  It must not allocate and must not print: what it has to
 * say goes to the callbacks.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/measure/probe_internal.h"

#include <math.h>
#include <string.h>

#define NS_PER_MS		INT64_C(1000000)

/*
 * The regimes take turns, so that both see the same hours of a busy disk.  The
 * first paced round of a turn still feels the saturated ones and is not
 * counted: turns must not be too short.
 */
#define TURN_NS			(500 * NS_PER_MS)

/*
 * When nothing better can be there any more, equals may still show: it is
 * worth 64 rounds to see them, and no more.
 */
#define EXCLUSION_ROUNDS	64

/* Fewer rounds say too little of how far off a verdict is. */
#define PROJECTION_ROUNDS		45

/* The idle sample before the first round: a hundredth of the time. */
#define IDLE_SAMPLE_SHARE		100
#define MAX_IDLE_SAMPLE_NS	(50 * NS_PER_MS)

/* How long the first round of a regime may run beyond the time. */
#define FIRST_ROUND_GRACE_NS	(2000 * NS_PER_MS)

const char *
sp_status_name(sp_status status)
{
	switch (status)
	{
		case SP_OK:
			return "ok";
		case SP_UNSUPPORTED:
			return "unsupported";
		case SP_NO_DIRECT_IO:
			return "no_direct_io";
		case SP_STOPPED:
			return "stopped";
		case SP_ERROR:
			break;
	}
	return "error";
}

/* ---------------------------------------------------------- interim analyses */

/* Speed of a case, of its baseline's control in the place of the baseline. */
static sp_speed
case_speed(sp_probe *probe, int c, int analysis, int comparisons)
{
	const sp_series *baseline = &probe->results[probe->cases[c].baseline].rounds;
	sp_speed	one = {1, NAN, NAN};
	int			other = c;
	int			n;

	if (c == probe->cases[c].baseline)
	{
		for (int i = 0; i < probe->ncases; i++)
		{
			if (probe->cases[i].control && probe->cases[i].baseline == c &&
				probe->results[i].status == SP_OK)
				other = i;
		}
		if (other == c)
			return one;
	}
	n = probe->results[other].rounds.n;
	if (n > baseline->n)
		n = baseline->n;
	return sp_speed_interval(baseline->mean_us, probe->results[other].rounds.mean_us,
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

/* Update the speeds of all cases of a regime. */
static void
compute_speeds(sp_probe *probe, sp_regime regime)
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
	compute_speeds(probe, regime);
	if (sp_probe_compare(probe, &comparison))
	{
		sp_judge(&comparison, &probe->judgement);
		probe->judged = true;
		if (probe->stop_early)
			exclude_slower(probe, &comparison);
	}
	probe->callbacks.analysis_done(probe->callbacks.context, regime);
}

/* ---------------------------------------------------------------------- run */

/* Has each regime had its interim analysis after this many rounds? */
static bool
has_analysis_at(const sp_probe *probe, int64_t rounds)
{
	for (int r = 0; r < SP_REGIMES; r++)
	{
		if (probe->analyses[r] == 0 || sp_analysis_rounds(probe->analyses[r]) < rounds)
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
	/* where no method syncs there is nothing to compare */
	if (probe->judgement.verdict == SP_UNSAFE && probe->judgement.recommended < 0)
		return has_analysis_at(probe, 1);
	if (probe->judgement.by_exclusion || probe->judgement.verdict == SP_UNSAFE)
		return has_analysis_at(probe, EXCLUSION_ROUNDS);
	sp_probe_compare(probe, &comparison);
	return sp_judgement_settled(&comparison, &probe->judgement);
}

/*
 * Is there too little time left to settle it?  Then whoever asked is better
 * served at once, with what is known and how much longer it would take.  Noise
 * comes and goes, so where it hides everything half of the time is spent first.
 */
static bool
stays_undecided(sp_probe *probe)
{
	sp_comparison comparison;
	int64_t		left = probe->deadline_ns - sp_now_ns(probe);
	double		growth[SP_REGIMES];

	if (!probe->judged || !has_analysis_at(probe, PROJECTION_ROUNDS) || left <= 0)
		return false;
	if (probe->judgement.noise > probe->margin && left > probe->duration_ns / 2)
		return false;
	/* either regime may get all the time that is left */
	for (int r = 0; r < SP_REGIMES; r++)
		growth[r] = 1 + (double) left / (double) (probe->spent_ns[r] + 1);
	sp_probe_compare(probe, &comparison);
	return !sp_projection_settles(&comparison, growth);
}

/* Expected time of the next round: that of the last one, once there is one. */
static int64_t
expected_length(const sp_probe *probe, sp_regime regime)
{
	int64_t		min = regime == SP_PACED ? probe->flush_interval_ns : 0;

	return probe->round_ns[regime] > min ? probe->round_ns[regime] : min;
}

/* Count a measured round.  An interim analysis follows when one is due. */
static void
count_round(sp_probe *probe, sp_regime regime)
{
	probe->rounds[regime]++;
	probe->callbacks.round_done(probe->callbacks.context);
	if (probe->rounds[regime] != sp_analysis_rounds(probe->analyses[regime] + 1))
		return;
	analyze(probe, regime);
	probe->done = probe->stop_early && (settled(probe) || stays_undecided(probe));
}

/*
 * One turn of a regime: rounds until the turn is over, no further round fits
 * into the time, or the verdict is settled.  The first round of a regime is
 * measured in any case, and may end up to two seconds late.  The warm-up round
 * is left out where two rounds take more than half of the duration.
 */
static void
take_turn(sp_probe *probe, sp_regime regime, int64_t share)
{
	int64_t		turn_begin = sp_now_ns(probe);
	int64_t		turn_end = turn_begin + TURN_NS;
	int64_t		give_up = probe->deadline_ns + FIRST_ROUND_GRACE_NS;
	bool		warm = regime == SP_SATURATED;
	int64_t		rounds_before = probe->rounds[regime];

	if (turn_end > turn_begin + share * sp_count_cases(probe, regime))
		turn_end = turn_begin + share * sp_count_cases(probe, regime);

	while (!probe->done && sp_count_cases(probe, regime) > 0)
	{
		int64_t		begin = sp_now_ns(probe);
		int64_t		left = probe->deadline_ns - begin;
		int64_t		length = expected_length(probe, regime);
		bool		owed = probe->rounds[regime] == 0;

		if (2 * length > probe->duration_ns / 2 || (owed && 2 * length > left))
			warm = true;
		if (owed ? begin >= give_up : (warm ? 1 : 2) * length > left)
		{
			probe->exhausted[regime] = true;
			break;
		}
		if (probe->rounds[regime] > rounds_before && begin + length / 2 >= turn_end)
			break;

		if (regime == SP_PACED)
			sp_paced_round(probe, warm, owed ? give_up : probe->deadline_ns);
		else
			sp_saturated_round(probe, share, owed ? give_up : probe->deadline_ns);
		probe->round_ns[regime] = sp_now_ns(probe) - begin;
		probe->spent_ns[regime] += probe->round_ns[regime];
		if (warm)
			count_round(probe, regime);
		warm = true;
	}
}

static void
prepare(sp_probe *probe)
{
	memset(probe->rounds, 0, sizeof(probe->rounds));
	memset(probe->analyses, 0, sizeof(probe->analyses));
	memset(probe->spent_ns, 0, sizeof(probe->spent_ns));
	memset(probe->round_ns, 0, sizeof(probe->round_ns));
	memset(probe->exhausted, 0, sizeof(probe->exhausted));
	probe->paced_busy_ns = 0;
	probe->judged = false;
	probe->done = false;
	for (int i = 0; i < 3; i++)
		probe->random_state[i] = (unsigned short) (probe->random_seed >> (16 * i));

	for (int c = 0; c < probe->ncases; c++)
	{
		const sp_file *file = &probe->files[probe->cases[c].file];
		sp_result  *result = &probe->results[c];

		result->status = file->status;
		result->error_number = file->open_errno;
		result->error_call = file->status == SP_ERROR ? "open" : NULL;
		sp_histogram_reset(&result->histogram);
		memset(&result->rounds, 0, sizeof(result->rounds));
		result->rounds.rounds_per_entry = 1;
		result->speed = (sp_speed) {NAN, NAN, NAN};
		result->excluded = false;
		memset(&result->evidence, 0, sizeof(result->evidence));
	}
	memset(&probe->background, 0, sizeof(probe->background));
}

static bool
is_open(const sp_probe *probe, sp_regime regime)
{
	sp_comparison comparison;

	return probe->judged && sp_probe_compare(probe, &comparison) &&
		sp_regime_is_open(&comparison, regime);
}

/* Does the regime have cases left, and time for another round? */
static bool
can_go_on(const sp_probe *probe, sp_regime regime)
{
	return !probe->exhausted[regime] && sp_count_cases(probe, regime) > 0;
}

/*
 * The regime whose turn it is, or -1 when none can be measured.  The one that
 * has had less; but where only the other has questions left it gets the time,
 * up to three quarters of it.
 */
static int
next_regime(const sp_probe *probe)
{
	int			less = probe->spent_ns[SP_PACED] <= probe->spent_ns[SP_SATURATED]
		? SP_PACED : SP_SATURATED;
	int			more = SP_REGIMES - 1 - less;

	if (!can_go_on(probe, less))
		return can_go_on(probe, more) ? more : -1;
	if (can_go_on(probe, more) && is_open(probe, more) && !is_open(probe, less) &&
		probe->spent_ns[less] * 3 > probe->spent_ns[more])
		return more;
	return less;
}

void
sp_probe_run(sp_probe *probe)
{
	int64_t		share[SP_REGIMES];
	int			regimes = 0;
	int			regime;

	prepare(probe);
	for (int r = 0; r < SP_REGIMES; r++)
		regimes += sp_count_cases(probe, r) > 0;
	for (int r = 0; r < SP_REGIMES; r++)
	{
		int			cases = sp_count_cases(probe, r);

		share[r] = cases > 0 ? probe->duration_ns / regimes / cases : 0;
	}

	probe->started_ns = sp_now_ns(probe);
	probe->deadline_ns = probe->started_ns + probe->duration_ns;
	sp_idle_sample(probe, probe->duration_ns / IDLE_SAMPLE_SHARE < MAX_IDLE_SAMPLE_NS ?
				   probe->duration_ns / IDLE_SAMPLE_SHARE : MAX_IDLE_SAMPLE_NS);
	while (!probe->done && (regime = next_regime(probe)) >= 0)
		take_turn(probe, regime, share[regime]);

	/* an advice that was settled keeps the intervals that settled it */
	for (int r = 0; r < SP_REGIMES && !(probe->stop_early && settled(probe)); r++)
	{
		if (probe->rounds[r] > 0 &&
			(probe->analyses[r] == 0 ||
			 probe->rounds[r] > sp_analysis_rounds(probe->analyses[r])))
			analyze(probe, r);
	}
	for (int c = 0; c < probe->ncases; c++)
	{
		if (probe->results[c].status == SP_OK && probe->results[c].histogram.ops == 0)
			probe->results[c].status = SP_STOPPED;
	}
	probe->finished_ns = sp_now_ns(probe);
}
