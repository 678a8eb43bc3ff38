/*-------------------------------------------------------------------------
 *
 * engine/pgbench/pgbench.c
 *		Read what pgbench prints, and its transaction log.
 *
 * A server's LC_NUMERIC is always C, so that scanf reads numbers as pgbench writes them.
 *
 * It must not: include a server header, allocate, print, or start a program.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/pgbench/pgbench.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/text/text.h"

/* A line that is longer is cut.  Only a meta-command can be. */
#define MAX_LINE			1024

/* client, number, latency, script, second, microsecond */
#define LATENCY_COLUMN		2
#define LAST_COLUMN			5

static double
or_nan(double number)
{
	return isfinite(number) && number >= 0 ? number : NAN;
}

/* -------------------------------------------------------------------- output */

bool
sp_pgbench_parse_progress(const char *line, sp_pgbench_progress *progress)
{
	double		seconds;
	double		tps;
	double		latency_ms;
	int			length = 0;

	if (sscanf(line, "progress: %lf s, %lf tps, lat %lf ms%n", &seconds, &tps, &latency_ms,
			   &length) != 3 ||
		length == 0)
		return false;
	progress->seconds = or_nan(seconds);
	progress->tps = or_nan(tps);
	/* without a transaction there is no latency, whatever is printed */
	progress->latency_ms = tps == 0 && latency_ms == 0 ? NAN : or_nan(latency_ms);
	return true;
}

/* sscanf() would look for the end of the whole text each time. */
static bool
take_line(const char **text, char *line)
{
	const char *newline = strchr(*text, '\n');

	if (newline == NULL)
		return false;
	snprintf(line, MAX_LINE, "%.*s", (int) (newline - *text), *text);
	*text = newline + 1;
	return true;
}

static void
read_summary_line(const char *line, sp_pgbench_summary *summary)
{
	int64_t		count;
	double		number;
	int			length = 0;

	if (sscanf(line, "number of transactions actually processed: %" SCNd64, &count) == 1)
		summary->transactions = count;
	else if (sscanf(line, "number of failed transactions: %" SCNd64, &count) == 1)
		summary->failed = count;
	else if (sscanf(line, "latency average = %lf ms%n", &number, &length) == 1 && length > 0)
		summary->latency_mean_ms = or_nan(number);
	else if (sscanf(line, "tps = %lf (%n", &number, &length) == 1 && length > 0)
		summary->tps = or_nan(number);
}

/* The further lines of a long meta-command do not match, and are skipped. */
static void
read_statement(const char *line, sp_pgbench_take_statement take, void *context)
{
	double		latency_ms;
	int64_t		failures;
	int			text = 0;

	if (sscanf(line, " %lf %" SCNd64 " %n", &latency_ms, &failures, &text) == 2 && text > 0 &&
		line[0] == ' ')
		take(context, or_nan(latency_ms), failures, line + text);
}

bool
sp_pgbench_parse_summary(const char *text, sp_pgbench_summary *summary,
						 sp_pgbench_take_statement take, void *context)
{
	char		line[MAX_LINE];
	bool		has_statements = false;

	*summary = (sp_pgbench_summary) {-1, -1, NAN, NAN};
	while (!has_statements && take_line(&text, line))
	{
		read_summary_line(line, summary);
		has_statements = strcmp(line, "statement latencies in milliseconds and failures:") == 0;
	}
	/* if no transaction was done, pgbench prints no more */
	if (summary->transactions == 0 && isnan(summary->tps))
		summary->tps = 0;
	if (summary->transactions < 0 || isnan(summary->tps))
		return false;

	/* statements come last, since their text may look like any of the lines above */
	while (take_line(&text, line))
		read_statement(line, take, context);
	return true;
}

/* ----------------------------------------------------------------------- log */

static void
end_line(sp_pgbench_log *log, sp_pgbench_log_file *file)
{
	if (file->is_odd || file->column != LAST_COLUMN || file->us > UINT64_MAX / SP_NS_PER_US)
		log->unreadable++;
	else if (!file->has_failed)
		sp_histogram_add(&log->latencies, file->us * SP_NS_PER_US);
	*file = (sp_pgbench_log_file) {0};
}

/* A run may write hundreds of thousands of lines a second. */
void
sp_pgbench_log_feed(sp_pgbench_log *log, sp_pgbench_log_file *file, const char *data, size_t length)
{
	for (const char *c = data; c < data + length; c++)
	{
		if (*c == '\n')
		{
			end_line(log, file);
			continue;
		}
		file->has_begun = true;
		if (*c == ' ')
			file->column++;
		else if (*c < '0' || *c > '9')
			*(file->column == LATENCY_COLUMN ? &file->has_failed : &file->is_odd) = true;
		else if (file->column == LATENCY_COLUMN && file->us <= UINT64_MAX / SP_NS_PER_US)
			file->us = file->us * 10 + (uint64_t) (*c - '0');
	}
}

void
sp_pgbench_log_end_of_file(sp_pgbench_log *log, sp_pgbench_log_file *file)
{
	if (file->has_begun)
		log->unreadable++;
	*file = (sp_pgbench_log_file) {0};
}
