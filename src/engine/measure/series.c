/*-------------------------------------------------------------------------
 *
 * series.c
 *		The samples of a test case: the times that it is compared by.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/measure/probe_internal.h"

void
sp_series_add_round(sp_series *series, double round_us)
{
	series->rounds++;
	series->pending_rounds++;
	series->pending_us += round_us;
}

void
sp_series_end_sample(sp_series *series)
{
	if (series->pending_rounds == 0 || ++series->pending_ends < INT64_C(1) << series->merges)
		return;

	if (series->n == SP_MAX_SAMPLES)
	{
		for (int i = 0; i < SP_MAX_SAMPLES / 2; i++)
			series->mean_us[i] = (series->mean_us[2 * i] + series->mean_us[2 * i + 1]) / 2;
		series->n = SP_MAX_SAMPLES / 2;
		series->merges++;
		return;					/* what is pending is now half a sample */
	}
	series->mean_us[series->n++] = series->pending_us / (double) series->pending_rounds;
	series->pending_ends = 0;
	series->pending_rounds = 0;
	series->pending_us = 0;
}
