/*-------------------------------------------------------------------------
 *
 * histogram.c
 *		A log-linear histogram of latencies.
 *
 * sp_histogram_add() is called once per measured operation and must take
 * nanoseconds only: an unsynced 8 kB write takes about two microseconds.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/measure/histogram.h"

#include <math.h>

static int
bucket_of(uint64_t ns)
{
	int			octave;

	if (ns < SP_HISTOGRAM_SUB)
		return (int) ns;
	octave = 63 - __builtin_clzll(ns);
	if (octave >= SP_HISTOGRAM_OCTAVES)
		return SP_HISTOGRAM_BUCKETS - 1;

	/* the leading bit is dropped: it is the octave itself */
	return (octave - SP_HISTOGRAM_SUBBITS + 1) * SP_HISTOGRAM_SUB
		+ (int) ((ns >> (octave - SP_HISTOGRAM_SUBBITS)) & (SP_HISTOGRAM_SUB - 1));
}

uint64_t
sp_histogram_lower_ns(int bucket)
{
	int			octave;

	if (bucket < SP_HISTOGRAM_SUB)
		return (uint64_t) bucket;
	octave = bucket / SP_HISTOGRAM_SUB - 1;
	return ((uint64_t) (SP_HISTOGRAM_SUB + bucket % SP_HISTOGRAM_SUB)) << octave;
}

void
sp_histogram_add(sp_histogram *histogram, uint64_t ns)
{
	histogram->sum_ns += (double) ns;
	if (histogram->ops++ == 0 || ns < histogram->min_ns)
		histogram->min_ns = ns;
	if (ns > histogram->max_ns)
		histogram->max_ns = ns;
	histogram->count[bucket_of(ns)]++;
}

void
sp_histogram_merge(sp_histogram *histogram, const sp_histogram *other)
{
	if (histogram->ops == 0 || (other->ops > 0 && other->min_ns < histogram->min_ns))
		histogram->min_ns = other->min_ns;
	histogram->ops += other->ops;
	histogram->sum_ns += other->sum_ns;
	if (other->max_ns > histogram->max_ns)
		histogram->max_ns = other->max_ns;
	for (int i = 0; i < SP_HISTOGRAM_BUCKETS; i++)
		histogram->count[i] += other->count[i];
}

double
sp_histogram_mean_ns(const sp_histogram *histogram)
{
	return histogram->ops > 0 ? histogram->sum_ns / (double) histogram->ops : NAN;
}

double
sp_histogram_quantile_ns(const sp_histogram *histogram, double q)
{
	uint64_t	rank;
	uint64_t	seen = 0;

	if (histogram->ops == 0)
		return NAN;
	rank = (uint64_t) ceil(q * (double) histogram->ops);
	for (int i = 0; i < SP_HISTOGRAM_BUCKETS; i++)
	{
		seen += histogram->count[i];
		if (seen >= rank)
		{
			double		lower = (double) sp_histogram_lower_ns(i);
			double		upper = (double) sp_histogram_lower_ns(i + 1);
			double		middle = (lower + upper - 1) / 2;

			return fmin(fmax(middle, (double) histogram->min_ns), (double) histogram->max_ns);
		}
	}
	return (double) histogram->max_ns;
}
