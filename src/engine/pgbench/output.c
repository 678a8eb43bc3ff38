/*-------------------------------------------------------------------------
 *
 * output.c
 *		Parse the output of pgbench: its progress, its summary, its version.
 *
 * It must not: include a server header, keep state between calls, print, exit,
 * or ask the locale how a number looks.
 *
 * Texts come from a pipe and may have been cut off anywhere.  So a line of the
 * summary without its newline is not read, and a number counts only with the text
 * that follows it: "tps = 12" may be the first half of a longer number.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/pgbench/output.h"

#include <limits.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "engine/text/text.h"

/* A line with a number: the text before it, its field, and the text behind it. */
typedef struct summary_line
{
	const char *label;
	size_t		offset;			/* in sp_pgbench_summary */
	const char *unit;
} summary_line;

static const summary_line number_lines[] = {
	{"latency average = ", offsetof(sp_pgbench_summary, latency_mean_ms), " ms"},
	{"latency stddev = ", offsetof(sp_pgbench_summary, latency_stddev_ms), " ms"},
	{"initial connection time = ", offsetof(sp_pgbench_summary, connection_ms), " ms"},
	{"average connection time = ", offsetof(sp_pgbench_summary, connection_ms), " ms"},
	{"tps = ", offsetof(sp_pgbench_summary, tps), " ("},
};

/* Behind a count there is nothing, or this text. */
static const summary_line count_lines[] = {
	{"number of transactions actually processed: ",
	offsetof(sp_pgbench_summary, transactions), "/"},
	{"number of failed transactions: ", offsetof(sp_pgbench_summary, failed), " ("},
};

static const summary_line int_lines[] = {
	{"number of clients: ", offsetof(sp_pgbench_summary, clients), ""},
	{"number of threads: ", offsetof(sp_pgbench_summary, threads), ""},
};

/* The number of columns with counts between the latency and the text of a statement. */
static const struct
{
	const char *heading;
	int			counts;
}			statement_headings[] =
{
	{"statement latencies in milliseconds and failures:", 1},
	{"statement latencies in milliseconds, failures and retries:", 2},
};

static bool
take_count(sp_slice *line, int64_t *count)
{
	uint64_t	value;

	if (!sp_take_number(line, &value) || value > INT64_MAX)
		return false;
	*count = (int64_t) value;
	return true;
}

/* The words that C libraries and PostgreSQL's own printf write for NAN and infinity. */
static bool
take_no_number(sp_slice *line)
{
	static const char *const words[] = {"nan", "infinity", "inf"};

	for (size_t i = 0; i < lengthof(words); i++)
	{
		size_t		length = strlen(words[i]);

		if (line->length >= length && strncasecmp(line->start, words[i], length) == 0)
		{
			sp_skip(line, length);
			return true;
		}
	}
	return false;
}

/*
 * Take a number as %.Nf prints it.  The digits are collected as an integer, and
 * then divided: below 2^53 the quotient is the nearest double.  Digits beyond the
 * precision of a double are skipped.
 */
static bool
take_output_digits(sp_slice *line, double *number)
{
	double		value = 0;
	double		scale = 1;

	if (!sp_at_digit(*line))
		return false;
	for (; sp_at_digit(*line); sp_skip(line, 1))
		value = value * 10 + (line->start[0] - '0');
	if (sp_take_text(line, "."))
	{
		if (!sp_at_digit(*line))
			return false;
		for (; sp_at_digit(*line); sp_skip(line, 1))
		{
			if (scale >= 1e15)
				continue;
			value = value * 10 + (line->start[0] - '0');
			scale *= 10;
		}
	}
	*number = value / scale;
	return true;
}

/*
 * Take a number.  It is NAN if it is not finite or negative.  pgbench can print
 * such numbers: it reads its threads' counters without a lock, and takes the root
 * of a variance that rounding may have made negative.
 */
static bool
take_number(sp_slice *line, double *number)
{
	bool		negative = sp_take_text(line, "-");

	if (take_no_number(line))
	{
		*number = NAN;
		return true;
	}
	if (!take_output_digits(line, number))
		return false;
	if (!isfinite(*number) || (negative && *number > 0))
		*number = NAN;
	return true;
}

bool
sp_pgbench_parse_progress(const char *line, sp_pgbench_progress *progress)
{
	sp_slice	rest = sp_slice_of(line);
	sp_pgbench_progress result;

	if (!sp_take_text(&rest, "progress: ") || !take_number(&rest, &result.seconds) ||
		!sp_take_text(&rest, " s, ") || !take_number(&rest, &result.tps) ||
		!sp_take_text(&rest, " tps, lat ") || !take_number(&rest, &result.latency_ms) ||
		!sp_take_text(&rest, " ms stddev ") || !take_number(&rest, &result.stddev_ms) ||
		!sp_take_text(&rest, ", ") || !take_count(&rest, &result.failed) ||
		!sp_take_text(&rest, " failed") ||
		(rest.length > 0 && rest.start[0] != ','))
		return false;

	/* without a transaction there is no latency, whatever is printed */
	if (result.tps == 0 && result.latency_ms == 0)
	{
		result.latency_ms = NAN;
		result.stddev_ms = NAN;
	}
	*progress = result;
	return true;
}

static void *
field_of(sp_pgbench_summary *summary, const summary_line *line)
{
	return (char *) summary + line->offset;
}

static void
read_number_line(sp_slice line, sp_pgbench_summary *summary)
{
	for (size_t i = 0; i < lengthof(number_lines); i++)
	{
		sp_slice	rest = line;
		double		number;

		if (sp_take_text(&rest, number_lines[i].label) && take_number(&rest, &number) &&
			sp_take_text(&rest, number_lines[i].unit))
			*(double *) field_of(summary, &number_lines[i]) = number;
	}
}

static bool
read_count(sp_slice line, const summary_line *kind, int64_t *count)
{
	return sp_take_text(&line, kind->label) && take_count(&line, count) &&
		(line.length == 0 ||
		 (kind->unit[0] != '\0' && sp_take_text(&line, kind->unit)));
}

static void
read_count_line(sp_slice line, sp_pgbench_summary *summary)
{
	int64_t		count;

	for (size_t i = 0; i < lengthof(count_lines); i++)
	{
		if (read_count(line, &count_lines[i], &count))
			*(int64_t *) field_of(summary, &count_lines[i]) = count;
	}
	for (size_t i = 0; i < lengthof(int_lines); i++)
	{
		if (read_count(line, &int_lines[i], &count) && count <= INT_MAX)
			*(int *) field_of(summary, &int_lines[i]) = (int) count;
	}
}

/* How many columns of counts follow?  0 if the line is no heading of statements. */
static int
heading_counts(sp_slice line)
{
	for (size_t i = 0; i < lengthof(statement_headings); i++)
	{
		sp_slice	rest = line;

		if (sp_take_text(&rest, statement_headings[i].heading) && rest.length == 0)
			return statement_headings[i].counts;
	}
	return 0;
}

/* The further lines of a long meta-command do not match, and are skipped. */
static void
read_statement(sp_slice line, int counts, sp_pgbench_take_statement take, void *context)
{
	double		latency_ms;
	int64_t		failures = 0;
	int64_t		retries;

	if (!sp_take_spaces(&line) || !take_number(&line, &latency_ms))
		return;
	for (int i = 0; i < counts; i++)
	{
		if (!sp_take_spaces(&line) || !take_count(&line, i == 0 ? &failures : &retries))
			return;
	}
	/* 15 writes two spaces here, 19 writes one; the text never begins with a space */
	if (sp_take_spaces(&line))
		take(context, latency_ms, failures, line.start, line.length);
}

static void
summary_init(sp_pgbench_summary *summary)
{
	summary->clients = -1;
	summary->threads = -1;
	summary->transactions = -1;
	summary->failed = -1;
	summary->latency_mean_ms = NAN;
	summary->latency_stddev_ms = NAN;
	summary->connection_ms = NAN;
	summary->tps = NAN;
}

bool
sp_pgbench_parse_summary(const char *text, size_t length, sp_pgbench_summary *summary,
						 sp_pgbench_take_statement take, void *context)
{
	sp_slice	rest = {text, length};
	sp_slice	line;
	int			counts = 0;

	summary_init(summary);
	while (counts == 0 && sp_take_line(&rest, &line))
	{
		read_number_line(line, summary);
		read_count_line(line, summary);
		counts = heading_counts(line);
	}
	/* if no transaction was done, pgbench prints no more */
	if (summary->transactions == 0 && isnan(summary->tps))
		summary->tps = 0;
	if (summary->transactions < 0 || isnan(summary->tps))
		return false;

	/* statements come last, since their text may look like any of the lines above */
	while (take != NULL && counts > 0 && sp_take_line(&rest, &line))
		read_statement(line, counts, take, context);
	return true;
}

int
sp_pgbench_parse_version(const char *text, char *version, size_t size)
{
	sp_slice	rest = {text, strcspn(text, "\r\n")};
	sp_slice	words;
	int64_t		major;
	size_t		length;

	if (size > 0)
		version[0] = '\0';
	if (!sp_take_text(&rest, "pgbench (PostgreSQL) "))
		return 0;
	words = rest;
	if (!take_count(&rest, &major) || major == 0 || major > INT_MAX)
		return 0;
	if (size > 0)
	{
		length = words.length < size ? words.length : size - 1;
		memcpy(version, words.start, length);
		version[length] = '\0';
	}
	return (int) major;
}
