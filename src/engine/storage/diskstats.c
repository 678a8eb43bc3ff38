/*-------------------------------------------------------------------------
 *
 * diskstats.c
 *	  Parse the "stat" attribute of a disk.
 *
 * The first 11 fields always exist; discards came with Linux 4.18, flushes with
 * 5.5.
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/storage/diskstats.h"

#define SECTOR_SIZE 512			/* of the statistics; the disk's own may differ */

/* In the order of the attribute. */
enum stat_field
{
	READ_IOS, READ_MERGES, READ_SECTORS, READ_MS,
	WRITE_IOS, WRITE_MERGES, WRITE_SECTORS, WRITE_MS,
	IN_FLIGHT, IO_TICKS, TIME_IN_QUEUE,
	OLDEST_FIELDS,
	DISCARD_IOS = OLDEST_FIELDS, DISCARD_MERGES, DISCARD_SECTORS, DISCARD_MS,
	FLUSH_IOS, FLUSH_MS,
	KNOWN_FIELDS
};

bool
sp_counters_parse(const char *text, sp_counters *counters)
{
	uint64_t	fields[KNOWN_FIELDS] = {0};
	int			count;

	memset(counters, 0, sizeof(*counters));
	for (count = 0; count < KNOWN_FIELDS; count++)
	{
		char	   *end;

		fields[count] = strtoull(text, &end, 10);
		if (end == text)
			break;
		text = end;
	}
	if (count < OLDEST_FIELDS)
		return false;
	counters->writes = fields[WRITE_IOS];
	counters->written_bytes = fields[WRITE_SECTORS] * SECTOR_SIZE;
	counters->has_flushes = count == KNOWN_FIELDS;
	counters->flushes = counters->has_flushes ? fields[FLUSH_IOS] : 0;
	counters->busy_ms = fields[IO_TICKS];
	counters->request_ms = fields[READ_MS] + fields[WRITE_MS] + fields[DISCARD_MS] +
		fields[FLUSH_MS];
	return true;
}

void
sp_counters_add(sp_counters *sum, const sp_counters *more)
{
	sum->writes += more->writes;
	sum->written_bytes += more->written_bytes;
	sum->has_flushes = sum->has_flushes && more->has_flushes;
	/* the flushes of some disks would look like those of all */
	sum->flushes = sum->has_flushes ? sum->flushes + more->flushes : 0;
	sum->busy_ms += more->busy_ms;
	sum->request_ms += more->request_ms;
	sum->flushes_only = sum->flushes_only || more->flushes_only;
	for (int i = 0; i < sum->nmembers; i++)
		sum->member_flushes[i] += more->member_flushes[i];
}

/* The least of the members in a set of bits. */
static double
least_of(const sp_counters *counters, uint64_t members)
{
	double		least = NAN;

	for (int i = 0; i < counters->nmembers; i++)
	{
		if (members & UINT64_C(1) << i)
			least = fmin(least, (double) counters->member_flushes[i]);
	}
	return least;
}

double
sp_counters_least_flushes(const sp_counters *counters)
{
	if (!counters->has_flushes)
		return NAN;
	if (counters->nmembers == 0 && !counters->has_exempt)
		return (double) counters->flushes;
	return least_of(counters, UINT64_MAX);
}

double
sp_counters_required_flushes(const sp_counters *counters)
{
	if (!counters->has_flushes)
		return NAN;
	if (counters->required != 0)
		return least_of(counters, counters->required);
	return counters->has_exempt ? NAN : (double) counters->flushes;
}

/* Returns whether it went forwards. */
static bool
subtract(uint64_t *counter, uint64_t before)
{
	return !__builtin_sub_overflow(*counter, before, counter);
}

bool
sp_counters_between(const sp_counters *before, const sp_counters *after,
					sp_counters *delta)
{
	bool		forwards = true;

	*delta = *after;
	delta->has_flushes = before->has_flushes && after->has_flushes;
	forwards &= subtract(&delta->writes, before->writes);
	forwards &= subtract(&delta->written_bytes, before->written_bytes);
	forwards &= subtract(&delta->busy_ms, before->busy_ms);
	forwards &= subtract(&delta->request_ms, before->request_ms);
	if (delta->has_flushes)
	{
		forwards &= subtract(&delta->flushes, before->flushes);
		for (int i = 0; i < delta->nmembers; i++)
			forwards &= subtract(&delta->member_flushes[i], before->member_flushes[i]);
	}
	if (!forwards)
		memset(delta, 0, sizeof(*delta));
	return forwards;
}
