/*-------------------------------------------------------------------------
 *
 * seconds.c
 *		A log of a stream: what was written in each second, and the slowest flush.
 *
 * It must not: read a clock or a counter, allocate.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/measure/seconds.h"

#include <math.h>

#include "engine/text/units.h"

/* Of the nominal length; the end of the run cuts the last second. */
#define WHOLE_SECOND	0.5

/*
 * Every test case has a second before the duration is over.  The log has room for all
 * seconds, also if the first round of the cases ends late.
 */
int64_t
sp_second_length_ns(int64_t duration_ns, int cases)
{
	int64_t		length = SP_NS_PER_S;
	int64_t		rows = SP_MAX_SECONDS - cases - 1;

	if (duration_ns / rows > length)
		length = (duration_ns / rows / SP_NS_PER_S + 1) * SP_NS_PER_S;
	return cases > 0 && duration_ns / cases < length ? duration_ns / cases : length;
}

sp_second *
sp_seconds_begin(sp_seconds *seconds, int test_case, int64_t now_ns)
{
	const sp_evidence_rates unknown = {NAN, NAN, NAN, NAN, NAN, NAN, NAN};
	sp_second  *second = &seconds->rows[seconds->n];

	if (seconds->n == SP_MAX_SECONDS)
		return NULL;
	seconds->n++;
	*second = (sp_second) {
		.test_case = test_case, .begin_ns = now_ns, .device = unknown, .slowest_device = unknown
	};
	return second;
}

bool
sp_second_add(sp_second *second, int64_t begin_ns, int64_t elapsed_ns, int64_t bytes)
{
	second->ops++;
	second->bytes += bytes;
	second->busy_ns += elapsed_ns;
	if (second->ops > 1 && elapsed_ns <= second->slowest_ns)
		return false;
	second->slowest_ns = elapsed_ns;
	second->slowest_begin_ns = begin_ns;
	return true;
}

bool
sp_seconds_end(sp_seconds *seconds, int64_t now_ns)
{
	sp_second  *second = &seconds->rows[seconds->n - 1];

	second->length_ns = now_ns - second->begin_ns;
	if (second->ops > 0)
		return true;
	seconds->n--;
	return false;
}

double
sp_second_rate(const sp_second *second)
{
	return second->length_ns > 0 ?
		(double) second->bytes * SP_NS_PER_S / (double) second->length_ns : NAN;
}

sp_stream_rates
sp_seconds_rates(const sp_seconds *seconds, int test_case)
{
	sp_stream_rates rates = {NAN, NAN};
	int64_t		longest_ns = 0;
	int64_t		length_ns = 0;
	int64_t		bytes = 0;

	for (int i = 0; i < seconds->n; i++)
	{
		const sp_second *second = &seconds->rows[i];

		if (second->test_case != test_case)
			continue;
		length_ns += second->length_ns;
		bytes += second->bytes;
		if (second->length_ns > longest_ns)
			longest_ns = second->length_ns;
	}
	if (length_ns > 0)
		rates.mean = (double) bytes * SP_NS_PER_S / (double) length_ns;
	if (longest_ns > SP_NS_PER_S)
		longest_ns = SP_NS_PER_S;
	for (int i = 0; i < seconds->n; i++)
	{
		const sp_second *second = &seconds->rows[i];

		if (second->test_case == test_case &&
			(double) second->length_ns >= WHOLE_SECOND * (double) longest_ns)
			rates.slowest = fmin(rates.slowest, sp_second_rate(second));
	}
	return rates;
}
