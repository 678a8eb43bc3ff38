/*-------------------------------------------------------------------------
 *
 * stream.h
 *		A log of a stream: what was written in each second, and the slowest flush.
 *
 * A second belongs to one test case.  It ends with the first operation that ends after
 * it, so it is longer where a flush is slow.  Times are in nanoseconds since the start of
 * the run.  The log has a fixed size; the seconds of a long run are longer.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_STREAM_H
#define SP_STREAM_H

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
	sp_evidence_rates device;	/* what it did in all of the second; NAN if unknown */
	double		slowest_utilization;	/* of the device around the slowest flush; or NAN */
} sp_second;

/* The data of the suite stream. */
typedef struct sp_stream
{
	int64_t		max_bytes;		/* see sp_server.max_stream_bytes */
	int64_t		written_bytes;
	bool		bytes_used_up;	/* max_bytes has ended the run */
	int			n;
	sp_second	seconds[SP_MAX_SECONDS];
} sp_stream;

/* How long a second is, in a run of so many test cases. */
extern int64_t sp_second_length_ns(int64_t duration_ns, int cases);

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

extern sp_stream_rates sp_stream_rates_of(const sp_stream *stream, int test_case);

#endif							/* SP_STREAM_H */
