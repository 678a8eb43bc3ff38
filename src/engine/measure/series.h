/*-------------------------------------------------------------------------
 *
 * series.h
 *		The samples of a test case: the times that it is compared by.
 *
 * A sample is the mean time of a flush in one or more rounds.  When a series is full,
 * each two samples are merged into one.  So memory does not grow with the duration
 * of a probe.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_SERIES_H
#define SP_SERIES_H

#include <stdint.h>

#define SP_MAX_SAMPLES	4096

typedef struct sp_series
{
	int			n;
	int64_t		rounds;			/* all that were added */
	int64_t		merged;			/* ends of samples that make one: a power of two */
	int64_t		pending_ends;	/* since the last sample of mean_us */
	int64_t		pending_rounds;
	double		pending_us;
	double		mean_us[SP_MAX_SAMPLES];
} sp_series;

extern void sp_series_reset(sp_series *series);

/* Add the mean time of a flush in one round. */
extern void sp_series_add_round(sp_series *series, double round_us);

/*
 * The rounds since the last end are a sample; nothing happens if there are none.  All
 * cases of a regime end a sample after the same round, so that they can be compared
 * sample by sample.
 */
extern void sp_series_end_sample(sp_series *series);

#endif							/* SP_SERIES_H */
