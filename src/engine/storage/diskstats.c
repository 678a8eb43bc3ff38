/*-------------------------------------------------------------------------
 *
 * diskstats.c
 *	  Takes apart the "stat" attribute of a disk.
 *
 * It must not: include a server header, keep state between calls, allocate,
 * open a file, print, exit.
 *
 * The fields came in three steps: the first 11 always, discards with Linux
 * 4.18, flushes with 5.5.
 *
 *-------------------------------------------------------------------------
 */
#include <stdint.h>
#include <string.h>

#include "engine/storage/diskstats.h"

#define SECTOR_SIZE 512			/* of the statistics, whatever the disk's is */

#define lengthof(array) (sizeof(array) / sizeof((array)[0]))

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

static const enum stat_field request_times[] = {
	READ_MS, WRITE_MS, DISCARD_MS, FLUSH_MS,
};

/*
 * Read the number at *text, which moves behind it.  False if there is none,
 * or one beyond 64 bits.
 */
static bool
parse_counter(const char **text, const char *end, uint64_t *number)
{
	const char *begin = *text;

	*number = 0;
	for (; *text < end && **text >= '0' && **text <= '9'; (*text)++)
	{
		uint64_t	digit = (uint64_t) (**text - '0');

		if (*number > (UINT64_MAX - digit) / 10)
			return false;
		*number = *number * 10 + digit;
	}
	return *text > begin;
}

/*
 * Returns how many fields there are, at most KNOWN_FIELDS, or 0 if one of
 * them is not a number.  Those that an older kernel lacks are 0.
 */
static int
parse_fields(const char *text, size_t length, uint64_t fields[KNOWN_FIELDS])
{
	const char *end = text + length;
	int			count = 0;

	memset(fields, 0, KNOWN_FIELDS * sizeof(fields[0]));
	if (length > 0 && end[-1] == '\n')
		end--;
	while (count < KNOWN_FIELDS)
	{
		/* the kernel pads to columns */
		while (text < end && *text == ' ')
			text++;
		if (text == end)
			break;
		if (!parse_counter(&text, end, &fields[count]) ||
			(text < end && *text != ' '))
			return 0;
		count++;
	}
	return count;
}

static bool
sum_request_times(const uint64_t fields[KNOWN_FIELDS], uint64_t *sum)
{
	*sum = 0;
	for (size_t i = 0; i < lengthof(request_times); i++)
	{
		if (fields[request_times[i]] > UINT64_MAX - *sum)
			return false;
		*sum += fields[request_times[i]];
	}
	return true;
}

bool
sp_counters_parse(const char *text, size_t length, sp_counters *counters)
{
	uint64_t	fields[KNOWN_FIELDS];
	uint64_t	request_ms;
	int			count = parse_fields(text, length, fields);

	memset(counters, 0, sizeof(*counters));
	if (count < OLDEST_FIELDS ||
		fields[WRITE_SECTORS] > UINT64_MAX / SECTOR_SIZE ||
		!sum_request_times(fields, &request_ms))
		return false;
	counters->writes = fields[WRITE_IOS];
	counters->written_bytes = fields[WRITE_SECTORS] * SECTOR_SIZE;
	counters->has_flushes = count == KNOWN_FIELDS;
	counters->flushes = counters->has_flushes ? fields[FLUSH_IOS] : 0;
	counters->busy_ms = fields[IO_TICKS];
	counters->request_ms = request_ms;
	return true;
}

void
sp_counters_add(sp_counters *sum, const sp_counters *more)
{
	sum->writes += more->writes;
	sum->written_bytes += more->written_bytes;
	sum->has_flushes = sum->has_flushes && more->has_flushes;
	/* those of one disk would pass for those of all */
	sum->flushes = sum->has_flushes ? sum->flushes + more->flushes : 0;
	sum->busy_ms += more->busy_ms;
	sum->request_ms += more->request_ms;
}

bool
sp_counters_between(const sp_counters *before, const sp_counters *after,
					sp_counters *delta)
{
	bool		has_flushes = before->has_flushes && after->has_flushes;

	memset(delta, 0, sizeof(*delta));
	if (after->writes < before->writes ||
		after->written_bytes < before->written_bytes ||
		(has_flushes && after->flushes < before->flushes) ||
		after->busy_ms < before->busy_ms ||
		after->request_ms < before->request_ms)
		return false;
	delta->writes = after->writes - before->writes;
	delta->written_bytes = after->written_bytes - before->written_bytes;
	delta->has_flushes = has_flushes;
	delta->flushes = has_flushes ? after->flushes - before->flushes : 0;
	delta->busy_ms = after->busy_ms - before->busy_ms;
	delta->request_ms = after->request_ms - before->request_ms;
	return true;
}
