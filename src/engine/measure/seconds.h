/*-------------------------------------------------------------------------
 *
 * seconds.h
 *		A log of a stream: what was written in each second, and the slowest flush.
 *
 * A second belongs to one test case.  It ends with the first operation that ends after
 * it, so it is longer where a flush is slow.  Times are in nanoseconds since the start of
 * the run.  The log has a fixed size; the seconds of a long run are longer.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_SECONDS_H
#define SP_SECONDS_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/verdict/evidence.h"

#define SP_MAX_SECONDS	3600

typedef struct sp_second
{
	int			test_case;
	int64_t		begin_ns;
	int64_t		length_ns;
	int64_t		ops;
	int64_t		bytes;
	int64_t		busy_ns;		/* in operations */
	int64_t		slowest_ns;
	int64_t		slowest_begin_ns;
	sp_evidence_rates device;	/* what it did in all of the second; NAN if unknown */
	sp_evidence_rates slowest_device;	/* and around the slowest flush */
} sp_second;

typedef struct sp_seconds
{
	int			n;
	sp_second	rows[SP_MAX_SECONDS];
} sp_seconds;

/* How long a second is, in a run of so many test cases. */
extern int64_t sp_second_length_ns(int64_t duration_ns, int cases);

/* Begin the next second.  NULL if the log is full. */
extern sp_second *sp_seconds_begin(sp_seconds *seconds, int test_case, int64_t now_ns);

/* Add an operation.  True if it is the slowest of its second so far. */
extern bool sp_second_add(sp_second *second, int64_t begin_ns, int64_t elapsed_ns, int64_t bytes);

/* End the second that was begun last.  One without an operation is dropped: returns false. */
extern bool sp_seconds_end(sp_seconds *seconds, int64_t now_ns);

/* The bytes per second of a row. */
extern double sp_second_rate(const sp_second *second);

/*
 * The bytes per second of a test case, over all its seconds, and in the slowest of those
 * that were not cut short; NAN if there are none.
 */
typedef struct sp_stream_rates
{
	double		mean;
	double		slowest;
} sp_stream_rates;

extern sp_stream_rates sp_seconds_rates(const sp_seconds *seconds, int test_case);

#endif							/* SP_SECONDS_H */
