/*-------------------------------------------------------------------------
 *
 * windows.c
 *		Count windows without a flush, and compare those of syncs with control ones.
 *
 * It must not: read a file or a clock, allocate, print.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/verdict/windows.h"

#include <math.h>

void
sp_windows_add(sp_window_count counts[SP_LEVELS], const sp_counters before[SP_LEVELS],
			   const sp_counters after[SP_LEVELS])
{
	for (int level = 0; level < SP_LEVELS; level++)
	{
		sp_counters between;
		double		least;

		if (!sp_counters_between(&before[level], &after[level], &between))
			continue;
		least = sp_counters_least_flushes(&between);
		if (isnan(least))
			continue;
		counts[level].all++;
		counts[level].unflushed += least < 1;
		counts[level].lacking += sp_counters_required_flushes(&between) < 1;
	}
}

/*
 * A bound of a share of which k in n were seen, so many standard errors away (Wilson's
 * interval): the upper one, or with negative errors the lower one.
 */
static double
share_bound(int64_t k, int64_t n, double errors)
{
	double		share = (double) k / (double) n;
	double		squared = errors * errors / (double) n;
	double		spread = errors * sqrt(share * (1 - share) / (double) n + squared / 4 / (double) n);

	return (share + squared / 2 + spread) / (1 + squared);
}

double
sp_windows_own_share(const sp_windows *windows, sp_level level)
{
	const sp_window_count *syncs = &windows->syncs[level];
	const sp_window_count *controls = &windows->controls[level];

	if (syncs->all == 0 || controls->all == 0 || controls->unflushed == 0)
		return NAN;
	return fmax(0, 1 - share_bound(syncs->unflushed, syncs->all, 2) /
				share_bound(controls->unflushed, controls->all, -2));
}

double
sp_windows_lacking_share(const sp_windows *windows, sp_level level)
{
	const sp_window_count *syncs = &windows->syncs[level];

	return syncs->all == 0 ? NAN : share_bound(syncs->lacking, syncs->all, -3);
}
