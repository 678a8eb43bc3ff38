/*-------------------------------------------------------------------------
 *
 * histogram.h
 *		A log-linear histogram of latencies.
 *
 * Buckets are one nanosecond wide up to 128 ns, then 64 to the octave: the
 * middle of a bucket is within 0.8 % of every value in it.  Histograms of the
 * same layout are merged by adding their counts.  The caller provides the
 * memory, which does not grow with the length of a probe.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_HISTOGRAM_H
#define SP_HISTOGRAM_H

#include <stdint.h>

#define SP_HISTOGRAM_SUBBITS	6	/* 64 buckets an octave */
#define SP_HISTOGRAM_SUB		(1 << SP_HISTOGRAM_SUBBITS)

/* Latencies of 2^40 ns (18 minutes) and more share the last bucket. */
#define SP_HISTOGRAM_OCTAVES	40
#define SP_HISTOGRAM_BUCKETS	\
	((SP_HISTOGRAM_OCTAVES - SP_HISTOGRAM_SUBBITS + 1) * SP_HISTOGRAM_SUB)

/*
 * The minimum number of values for a p99: with fewer, its 95 % confidence interval has no
 * upper end (1 - q^n < 0.95).
 */
#define SP_P99_MIN_OPS		299

/* Empty while it is all zero. */
typedef struct sp_histogram
{
	uint64_t	ops;
	uint64_t	min_ns;			/* exact */
	uint64_t	max_ns;			/* exact */
	double		sum_ns;			/* exact up to 2^53 ns, 104 days */
	uint64_t	count[SP_HISTOGRAM_BUCKETS];
} sp_histogram;

extern void sp_histogram_add(sp_histogram *histogram, uint64_t ns);

/* Add all values of another histogram. */
extern void sp_histogram_merge(sp_histogram *histogram, const sp_histogram *other);

/* The lower bound of a bucket in ns.  Its upper bound is the lower one of the next. */
extern uint64_t sp_histogram_lower_ns(int bucket);

/* The mean in ns; NAN when empty. */
extern double sp_histogram_mean_ns(const sp_histogram *histogram);

/*
 * The q-quantile (0 < q < 1) in ns, by nearest rank, within 0.8 %, and never
 * outside [min, max].  NAN when empty.
 */
extern double sp_histogram_quantile_ns(const sp_histogram *histogram, double q);

#endif							/* SP_HISTOGRAM_H */
