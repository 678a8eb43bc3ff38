/*-------------------------------------------------------------------------
 *
 * min_duration.c
 *		The minimum duration of a plan, so that a shorter probe can be refused.
 *
 * It is computed from the plan alone, before a file is written.  The paced
 * regime needs one flush interval, the saturated one a slice for each case.  A
 * duty cycle adds a rest to each slice.
 *
 * It must not: assume a speed of the device.  For a slow device, sp_probe_run()
 * grants the first round two more seconds.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/measure/probe_internal.h"

#include <math.h>

static int
count_planned(const sp_probe *probe, sp_regime regime)
{
	int			n = 0;

	for (int c = 0; c < probe->ncases; c++)
	{
		if (probe->cases[c].regime == regime && probe->files[probe->cases[c].file].status == SP_OK)
			n++;
	}
	return n;
}

/*
 * A slice lasts 4 ms, or its share of the duration if that is less.  So there
 * are two solutions: a duration for whole slices; or, with a large duty cycle,
 * a shorter one for shorter slices.
 */
static double
shortest_duration(const sp_min_duration *min, double whole_slices, double share, double duty_cycle)
{
	double		with_whole_slices = min->paced_ns + whole_slices / duty_cycle;
	double		with_shorter_ones;

	if (share >= duty_cycle)
		return share > duty_cycle || min->paced_ns > 0 ? with_whole_slices : 0;
	with_shorter_ones = min->paced_ns / (1 - share / duty_cycle);
	return fmin(with_whole_slices, with_shorter_ones);
}

void
sp_probe_min_duration(const sp_probe *probe, sp_min_duration *min)
{
	double		duration = (double) probe->duration_ns;
	double		whole_slices;	/* a round of them, without rests */
	double		share;			/* of the saturated regime */
	double		slices;
	double		left;

	min->paced_cases = count_planned(probe, SP_PACED);
	min->saturated_cases = count_planned(probe, SP_SATURATED);
	whole_slices = (double) (min->saturated_cases * SP_SLICE_NS);
	share = min->saturated_cases == 0 ? 0 :
		sp_regime_share(probe, SP_SATURATED, min->paced_cases > 0);
	slices = fmin(whole_slices, share * duration);

	min->paced_ns = min->paced_cases > 0 ? (double) probe->flush_interval_ns : 0;
	min->saturated_ns = slices / probe->duty_cycle;
	min->duration_ns = shortest_duration(min, whole_slices, share, probe->duty_cycle);

	left = duration - min->paced_ns;
	min->duty_cycle = left > 0 && slices <= left ? slices / left : NAN;
	left = duration - min->saturated_ns;
	min->flush_interval_ns = min->paced_cases > 0 && left > 0 ? left : NAN;
}
