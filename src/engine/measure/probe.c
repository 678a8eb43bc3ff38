/*-------------------------------------------------------------------------
 *
 * probe.c
 *		A run: turns of the regimes, until the time is up or the verdict is settled.
 *
 * The engine's entry point.  It must not allocate or print; it reports to the callbacks.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/measure/probe_internal.h"

#include <math.h>

/*
 * The regimes take turns, so that both see the same states of a shared disk.  The
 * first paced round of a turn still feels the saturated ones and is not counted,
 * so turns must not be too short.
 */
#define TURN_NS			(500 * SP_NS_PER_MS)

/* The idle sample before the first round takes a hundredth of the duration. */
#define IDLE_SAMPLE_SHARE		100
#define MAX_IDLE_SAMPLE_NS	(50 * SP_NS_PER_MS)

const char *const sp_status_names[] = {
	[SP_OK] = "ok",[SP_UNSUPPORTED] = "unsupported",[SP_NO_DIRECT_IO] = "no_direct_io",
	[SP_STOPPED] = "stopped",[SP_ERROR] = "error"
};

/* ------------------------------------------------------------------ a round */

/* The expected time of the next round: that of the last one, if there is one. */
static int64_t
expected_length(const sp_probe *probe, sp_regime regime)
{
	int64_t		min = regime == SP_PACED ? probe->flush_interval_ns : 0;

	return probe->round_ns[regime] > min ? probe->round_ns[regime] : min;
}

/* The first round of a regime is measured in any case, and may end up to two seconds late. */
int64_t
sp_round_limit(const sp_probe *probe, sp_regime regime)
{
	return probe->deadline_ns + (probe->rounds[regime] == 0 ? SP_FIRST_ROUND_GRACE_NS : 0);
}

/* Do so many rounds fit into the remaining time? */
static bool
has_time_for(const sp_probe *probe, sp_regime regime, int rounds, int64_t now)
{
	if (probe->rounds[regime] == 0)
		return now < sp_round_limit(probe, regime);
	return rounds * expected_length(probe, regime) <= probe->deadline_ns - now;
}

/*
 * Is the warm-up round left out?  So it is where two rounds take more than half of
 * the duration, or where the warm-up would leave no time for the first round.
 */
static bool
skips_warm_up(const sp_probe *probe, sp_regime regime, int64_t now)
{
	int64_t		two_rounds = 2 * expected_length(probe, regime);

	return two_rounds > probe->duration_ns / 2 ||
		(probe->rounds[regime] == 0 && two_rounds > probe->deadline_ns - now);
}

/* End the sample of all cases, if it is long enough. */
static bool
end_sample(sp_probe *probe, sp_regime regime)
{
	if (regime == SP_PACED)
	{
		probe->sample_ns += probe->round_ns[regime];
		if (probe->sample_ns < SP_PACED_SAMPLE_NS)
			return false;
		probe->sample_ns = 0;
	}
	probe->samples[regime]++;
	for (int c = 0; c < probe->ncases; c++)
	{
		if (probe->cases[c].regime == regime)
			sp_series_end_sample(&probe->results[c].series);
	}
	return true;
}

/* Both cases of a candidate that cannot be worth a switch: the others get their time. */
static void
exclude_settled(sp_probe *probe)
{
	for (int i = 0; i < probe->comparison.count; i++)
	{
		const sp_candidate *candidate = &probe->comparison.candidates[i];

		for (int r = 0; r < SP_REGIMES && candidate->standing == SP_NO_GAIN; r++)
		{
			int			c = sp_method_case(probe, r, candidate->name);

			if (c >= 0)
				probe->results[c].excluded = true;
		}
	}
}

/* Count a measured round.  A look at the run follows when one is due. */
static void
count_round(sp_probe *probe, sp_regime regime)
{
	probe->rounds[regime]++;
	probe->rotation.block_rounds[regime]++;
	probe->rotation.block_ns[regime] += probe->round_ns[regime];
	probe->callbacks.round_done(probe->callbacks.context);
	if (end_sample(probe, regime) && sp_look_when_due(probe, regime))
		exclude_settled(probe);
}

static void
measure_round(sp_probe *probe, sp_regime regime, int64_t share, bool counted, int64_t now)
{
	bool		complete = regime == SP_PACED ? sp_paced_round(probe, counted) :
		sp_saturated_round(probe, counted, share);

	/* also where no operation has done so */
	probe->callbacks.check_interrupts(probe->callbacks.context);
	probe->spent_ns[regime] += sp_now_ns(probe) - now;
	if (!counted && regime == SP_SATURATED)
		return;					/* it was shorter than those that are counted */
	probe->round_ns[regime] = sp_now_ns(probe) - now;
	if (!counted || !complete)
		return;
	if (regime == SP_PACED)
	{
		probe->paced_ns += probe->round_ns[regime];
		sp_control_window(probe);
	}
	count_round(probe, regime);
}

/* -------------------------------------------------------------------- turns */

/* Does the regime have cases left, and time for another round? */
static bool
can_go_on(const sp_probe *probe, sp_regime regime)
{
	return !probe->done && !probe->exhausted[regime] && sp_count_cases(probe, regime) > 0;
}

/*
 * One turn of a regime: rounds until the turn is over, no further round fits into
 * the remaining time, or the verdict is settled.  A paced turn begins with a
 * warm-up round, which is not counted; so does every round after files have moved.
 */
static void
take_turn(sp_probe *probe, sp_regime regime, int64_t share)
{
	int64_t		now = sp_now_ns(probe);
	int64_t		length = share * sp_count_cases(probe, regime);
	int64_t		end = now + (length < TURN_NS ? length : TURN_NS);
	int64_t		rounds_before = probe->rounds[regime];
	bool		counted = regime == SP_SATURATED;

	while (can_go_on(probe, regime))
	{
		/* a turn has at least one counted round; half a round may exceed it */
		if (probe->rounds[regime] > rounds_before &&
			sp_now_ns(probe) + expected_length(probe, regime) / 2 >= end)
			return;
		now = sp_now_ns(probe);
		/* files do not move before that: a round must follow a move within the turn */
		probe->exhausted[regime] = !has_time_for(probe, regime, 1, now);
		if (!probe->exhausted[regime] && sp_rotation_begin_round(probe, regime))
			counted = false;
		now = sp_now_ns(probe);
		counted = counted || skips_warm_up(probe, regime, now);
		if (!has_time_for(probe, regime, counted ? 1 : 2, now))
			probe->exhausted[regime] = true;
		if (!probe->exhausted[regime])
			measure_round(probe, regime, share, counted, now);
		counted = true;
	}
}

/*
 * The regime of the next turn, or -1 if none can be measured: the one that has had less of
 * its share.
 */
static int
next_regime(const sp_probe *probe)
{
	sp_regime	deciding = probe->deciding;
	sp_regime	other = deciding == SP_PACED ? SP_SATURATED : SP_PACED;
	double		spent = (double) probe->spent_ns[deciding] / SP_DECIDING_SHARE;
	double		spent_other = (double) probe->spent_ns[other] / (1 - SP_DECIDING_SHARE);

	if (can_go_on(probe, deciding) && (spent <= spent_other || !can_go_on(probe, other)))
		return (int) deciding;
	return can_go_on(probe, other) ? (int) other : -1;
}

void
sp_take_turns(sp_probe *probe)
{
	int64_t		share[SP_REGIMES];	/* the time of a case */
	int			regime;

	for (sp_regime r = 0; r < SP_REGIMES; r++)
	{
		int			cases = sp_count_cases(probe, r);

		share[r] = cases > 0 ? (int64_t) ((double) probe->duration_ns *
										  sp_regime_share(probe, r)) / cases : 0;
	}
	while ((regime = next_regime(probe)) >= 0)
		take_turn(probe, regime, share[regime]);
}

/* ---------------------------------------------------------------------- run */

static void
prepare(sp_probe *probe)
{
	probe->paced_copies = 1;
	for (int file = 0; file < probe->nfiles; file++)
		probe->rotation.in_use[file] = file;
	for (int i = 0; i < 3; i++)
		probe->random_state[i] = (unsigned short) (probe->random_seed >> (16 * i));
	for (int c = 0; c < probe->ncases; c++)
	{
		const sp_file *file = &probe->files[probe->cases[c].file];
		sp_result  *result = &probe->results[c];

		result->status = file->status;
		result->error_number = file->open_errno;
		result->error_call = file->status == SP_ERROR ? "open" : NULL;
		result->speed = (sp_speed) {NAN, NAN, NAN};
	}
}

void
sp_probe_run(sp_probe *probe)
{
	int64_t		idle_sample = probe->duration_ns / IDLE_SAMPLE_SHARE;

	prepare(probe);
	probe->started_ns = sp_now_ns(probe);
	probe->deadline_ns = probe->started_ns + probe->duration_ns;
	sp_idle_sample(probe, idle_sample < MAX_IDLE_SAMPLE_NS ? idle_sample : MAX_IDLE_SAMPLE_NS);
	probe->suite->run(probe);
	sp_look_at_end(probe);
	for (int c = 0; c < probe->ncases; c++)
	{
		if (probe->results[c].status == SP_OK && probe->results[c].histogram.ops == 0)
			probe->results[c].status = SP_STOPPED;
	}
	probe->finished_ns = sp_now_ns(probe);
}
