/*-------------------------------------------------------------------------
 *
 * log.c
 *		Latencies from the transaction log of pgbench (-l), however long it is.
 *
 * It must not: include a server header, allocate memory, open a file, print, or
 * exit.
 *
 * A line is some 35 bytes, and a run may write millions of them, so
 * they are read by hand: a nanosecond a byte, not the microsecond that sscanf()
 * takes for a line.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/pgbench/log.h"

#include <stdbool.h>
#include <string.h>

#define lengthof(array) (sizeof(array) / sizeof((array)[0]))

/* rest_length of a line that is too long: what comes of it is not kept. */
#define TOO_LONG (SP_PGBENCH_LOG_LINE + 1)

/* So many decimal digits always fit into 64 bits. */
#define MAX_DIGITS 19

/* Lag (of -R) and retries (of --max-tries).  An aggregated log has many more. */
#define MAX_FURTHER_COLUMNS 2

/* What stands in the place of a latency, and what it counts as. */
static const struct
{
	const char *word;
	size_t		offset;			/* in sp_pgbench_log */
}			outcomes[] =
{
	{"failed ", offsetof(sp_pgbench_log, failed)},
	{"skipped ", offsetof(sp_pgbench_log, skipped)},
	/* --failures-detailed tells why */
	{"serialization ", offsetof(sp_pgbench_log, failed)},
	{"deadlock ", offsetof(sp_pgbench_log, failed)},
	{"other ", offsetof(sp_pgbench_log, failed)},
};

void
sp_pgbench_log_init(sp_pgbench_log *log)
{
	memset(log, 0, sizeof(*log));
	sp_histogram_reset(&log->latencies);
}

/* Digits; *at is set behind them. */
static bool
take_log_digits(const char **at, const char *end, uint64_t *value)
{
	const char *start = *at;
	const char *digit = start;
	uint64_t	number = 0;

	while (digit < end && *digit >= '0' && *digit <= '9' && digit - start <= MAX_DIGITS)
		number = number * 10 + (uint64_t) (*digit++ - '0');
	*at = digit;
	*value = number;
	return digit > start && digit - start <= MAX_DIGITS;
}

/* A column of digits that is not the last, with the blank behind it. */
static bool
take_column(const char **at, const char *end, uint64_t *value)
{
	return take_log_digits(at, end, value) && *at < end && *(*at)++ == ' ';
}

/* NULL if there is no such word. */
static uint64_t *
take_outcome(sp_pgbench_log *log, const char **at, const char *end)
{
	for (size_t i = 0; i < lengthof(outcomes); i++)
	{
		size_t		length = strlen(outcomes[i].word);

		if ((size_t) (end - *at) >= length && memcmp(*at, outcomes[i].word, length) == 0)
		{
			*at += length;
			return (uint64_t *) ((char *) log + outcomes[i].offset);
		}
	}
	return NULL;
}

/* Script, second, microsecond, and what options add. */
static bool
is_end_of_line(const char *at, const char *end)
{
	uint64_t	ignored;

	if (!take_column(&at, end, &ignored) || !take_column(&at, end, &ignored) ||
		!take_log_digits(&at, end, &ignored))
		return false;
	for (int i = 0; i < MAX_FURTHER_COLUMNS && at < end; i++)
	{
		if (*at++ != ' ' || !take_log_digits(&at, end, &ignored))
			return false;
	}
	return at == end;
}

/* False: it is none of the lines that pgbench writes. */
static bool
count_line(sp_pgbench_log *log, const char *at, size_t length)
{
	const char *end = at + length;
	uint64_t	us;

	/* client and number of the transaction */
	if (length > SP_PGBENCH_LOG_LINE || !take_column(&at, end, &us) ||
		!take_column(&at, end, &us) || at == end)
		return false;
	if (*at < '0' || *at > '9')
	{
		uint64_t   *count = take_outcome(log, &at, end);

		if (count == NULL || !is_end_of_line(at, end))
			return false;
		(*count)++;
		return true;
	}
	if (!take_column(&at, end, &us) || us > UINT64_MAX / 1000 || !is_end_of_line(at, end))
		return false;
	sp_histogram_add(&log->latencies, us * 1000);
	return true;
}

static void
keep(sp_pgbench_log_file *file, const char *data, size_t length)
{
	if (file->rest_length + length > SP_PGBENCH_LOG_LINE)
	{
		file->rest_length = TOO_LONG;
		return;
	}
	memcpy(file->rest + file->rest_length, data, length);
	file->rest_length += length;
}

void
sp_pgbench_log_feed(sp_pgbench_log *log, sp_pgbench_log_file *file,
					const char *data, size_t length)
{
	while (length > 0)
	{
		const char *newline = memchr(data, '\n', length);
		size_t		part = newline != NULL ? (size_t) (newline - data) : length;
		bool		whole = newline != NULL && file->rest_length == 0;

		if (!whole)
			keep(file, data, part);
		if (newline == NULL)
			return;
		if (!(whole ? count_line(log, data, part) : count_line(log, file->rest, file->rest_length)))
			log->unreadable++;
		file->rest_length = 0;
		data += part + 1;
		length -= part + 1;
	}
}

void
sp_pgbench_log_end_of_file(sp_pgbench_log *log, sp_pgbench_log_file *file)
{
	if (file->rest_length > 0)
		log->unreadable++;
	file->rest_length = 0;
}
