/*-------------------------------------------------------------------------
 *
 * log.c
 *		Latencies from the transaction log of pgbench (-l).
 *
 * It must not: include a server header, allocate memory, open a file, print, or
 * exit.
 *
 * A run may write millions of lines of some 35 bytes.  So they are not read by
 * sscanf(), which takes a microsecond a line, but at 1.6 nanoseconds a byte.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/pgbench/log.h"

#include <stdbool.h>
#include <string.h>

#include "engine/text/text.h"

/* The rest_length of a line that is too long and not kept. */
#define TOO_LONG (SP_PGBENCH_LOG_LINE + 1)

/* Lag (of -R) and retries (of --max-tries).  An aggregated log has many more. */
#define MAX_FURTHER_COLUMNS 2

/* The words that stand in the place of a latency, and the counter of each. */
static const struct
{
	const char *word;
	size_t		offset;			/* in sp_pgbench_log */
}			outcomes[] =
{
	{"failed ", offsetof(sp_pgbench_log, failed)},
	{"skipped ", offsetof(sp_pgbench_log, skipped)},
	/* with --failures-detailed */
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

/* A column of digits that is not the last, with the blank behind it. */
static bool
take_column(sp_slice *line, uint64_t *value)
{
	return sp_take_number(line, value) && sp_take_text(line, " ");
}

/* The counter of the outcome that stands in the place of a latency; NULL if there is none. */
static uint64_t *
take_outcome(sp_pgbench_log *log, sp_slice *line)
{
	for (size_t i = 0; i < lengthof(outcomes); i++)
	{
		if (sp_take_text(line, outcomes[i].word))
			return (uint64_t *) ((char *) log + outcomes[i].offset);
	}
	return NULL;
}

/* Script, second, microsecond, and the columns that options add. */
static bool
is_end_of_line(sp_slice line)
{
	uint64_t	ignored;

	if (!take_column(&line, &ignored) || !take_column(&line, &ignored) ||
		!sp_take_number(&line, &ignored))
		return false;
	for (int i = 0; i < MAX_FURTHER_COLUMNS && line.length > 0; i++)
	{
		if (!sp_take_text(&line, " ") || !sp_take_number(&line, &ignored))
			return false;
	}
	return line.length == 0;
}

/* Returns false if pgbench does not write such a line. */
static bool
count_line(sp_pgbench_log *log, sp_slice line)
{
	uint64_t	us;
	uint64_t   *outcome;

	/* client and number of the transaction */
	if (line.length > SP_PGBENCH_LOG_LINE || !take_column(&line, &us) || !take_column(&line, &us))
		return false;
	if (!sp_at_digit(line))
	{
		outcome = take_outcome(log, &line);
		if (outcome == NULL || !is_end_of_line(line))
			return false;
		(*outcome)++;
		return true;
	}
	if (!take_column(&line, &us) || us > UINT64_MAX / SP_NS_PER_US || !is_end_of_line(line))
		return false;
	sp_histogram_add(&log->latencies, us * SP_NS_PER_US);
	return true;
}

static void
keep(sp_pgbench_log_file *file, sp_slice part)
{
	if (file->rest_length + part.length > SP_PGBENCH_LOG_LINE)
	{
		file->rest_length = TOO_LONG;
		return;
	}
	memcpy(file->rest + file->rest_length, part.start, part.length);
	file->rest_length += part.length;
}

void
sp_pgbench_log_feed(sp_pgbench_log *log, sp_pgbench_log_file *file,
					const char *data, size_t length)
{
	sp_slice	rest = {data, length};
	sp_slice	line;

	/* CRs are kept: pgbench writes none */
	while (sp_take_field(&rest, '\n', &line))
	{
		if (file->rest_length > 0)
		{
			keep(file, line);
			line = (sp_slice) {file->rest, file->rest_length};
		}
		if (!count_line(log, line))
			log->unreadable++;
		file->rest_length = 0;
	}
	if (rest.length > 0)
		keep(file, rest);
}

void
sp_pgbench_log_end_of_file(sp_pgbench_log *log, sp_pgbench_log_file *file)
{
	if (file->rest_length > 0)
		log->unreadable++;
	file->rest_length = 0;
}
