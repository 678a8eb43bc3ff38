/*-------------------------------------------------------------------------
 *
 * output.c
 *		Understand what pgbench prints: its progress, its summary, its version.
 *
 * It must not: include a server header, keep state between calls, print, exit,
 * or ask the locale how a number looks.
 *
 * Texts come from a pipe that may have been cut off anywhere.  So a line of the
 * summary that lost its end is not read, and a number counts only with what
 * stands behind it: "tps = 12" may be the first half of another one.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/pgbench/output.h"

#include <limits.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#define lengthof(array) (sizeof(array) / sizeof((array)[0]))

/* What is left of a line; not NUL terminated. */
typedef struct piece
{
	const char *at;
	const char *end;
} piece;

/* What a line of numbers begins with, where they go, and what is behind them. */
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

/* Behind a count: nothing, or what may be there besides. */
static const summary_line count_lines[] = {
	{"number of transactions actually processed: ",
	offsetof(sp_pgbench_summary, transactions), "/"},
	{"number of failed transactions: ", offsetof(sp_pgbench_summary, failed), " ("},
};

static const summary_line int_lines[] = {
	{"number of clients: ", offsetof(sp_pgbench_summary, clients), ""},
	{"number of threads: ", offsetof(sp_pgbench_summary, threads), ""},
};

/* The columns of counts between the latency and the text of a statement. */
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
take_text(piece *line, const char *text)
{
	size_t		length = strlen(text);

	if ((size_t) (line->end - line->at) < length || memcmp(line->at, text, length) != 0)
		return false;
	line->at += length;
	return true;
}

static bool
take_blanks(piece *line)
{
	const char *start = line->at;

	while (line->at < line->end && *line->at == ' ')
		line->at++;
	return line->at > start;
}

static bool
at_digit(const piece *line)
{
	return line->at < line->end && *line->at >= '0' && *line->at <= '9';
}

static bool
take_count(piece *line, int64_t *count)
{
	int64_t		value = 0;

	if (!at_digit(line))
		return false;
	for (; at_digit(line); line->at++)
	{
		int			digit = *line->at - '0';

		if (value > (INT64_MAX - digit) / 10)
			return false;
		value = value * 10 + digit;
	}
	*count = value;
	return true;
}

/* What C libraries, and PostgreSQL's own printf, write for what is no number. */
static bool
take_no_number(piece *line)
{
	static const char *const words[] = {"nan", "infinity", "inf"};

	for (size_t i = 0; i < lengthof(words); i++)
	{
		size_t		length = strlen(words[i]);

		if ((size_t) (line->end - line->at) >= length &&
			strncasecmp(line->at, words[i], length) == 0)
		{
			line->at += length;
			return true;
		}
	}
	return false;
}

/*
 * A number as %.Nf prints it.  The digits are gathered as if there were no
 * point: below 2^53 the quotient is then the nearest that there is.  More of
 * them behind the point than that can hold change nothing.
 */
static bool
take_output_digits(piece *line, double *number)
{
	double		value = 0;
	double		scale = 1;

	if (!at_digit(line))
		return false;
	for (; at_digit(line); line->at++)
		value = value * 10 + (*line->at - '0');
	if (line->at < line->end && *line->at == '.')
	{
		line->at++;
		if (!at_digit(line))
			return false;
		for (; at_digit(line); line->at++)
		{
			if (scale >= 1e15)
				continue;
			value = value * 10 + (*line->at - '0');
			scale *= 10;
		}
	}
	*number = value / scale;
	return true;
}

/*
 * NAN for all that is not finite or is below zero, which none of these figures
 * can be: pgbench reads its threads' counters without a lock, and takes a root
 * of what rounding may have pushed below zero.
 */
static bool
take_number(piece *line, double *number)
{
	bool		negative = take_text(line, "-");

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
	piece		rest = {line, line + strlen(line)};
	sp_pgbench_progress result;

	if (!take_text(&rest, "progress: ") || !take_number(&rest, &result.seconds) ||
		!take_text(&rest, " s, ") || !take_number(&rest, &result.tps) ||
		!take_text(&rest, " tps, lat ") || !take_number(&rest, &result.latency_ms) ||
		!take_text(&rest, " ms stddev ") || !take_number(&rest, &result.stddev_ms) ||
		!take_text(&rest, ", ") || !take_count(&rest, &result.failed) ||
		!take_text(&rest, " failed") ||
		(rest.at < rest.end && *rest.at != ','))
		return false;

	/* where no transaction ended there is no latency, whatever is printed */
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
read_number_line(piece line, sp_pgbench_summary *summary)
{
	for (size_t i = 0; i < lengthof(number_lines); i++)
	{
		piece		rest = line;
		double		number;

		if (take_text(&rest, number_lines[i].label) && take_number(&rest, &number) &&
			take_text(&rest, number_lines[i].unit))
			*(double *) field_of(summary, &number_lines[i]) = number;
	}
}

static bool
read_count(piece line, const summary_line *kind, int64_t *count)
{
	return take_text(&line, kind->label) && take_count(&line, count) &&
		(line.at == line.end ||
		 (kind->unit[0] != '\0' && take_text(&line, kind->unit)));
}

static void
read_count_line(piece line, sp_pgbench_summary *summary)
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

/* How many columns of counts follow; 0: the line is no heading of statements. */
static int
heading_counts(piece line)
{
	for (size_t i = 0; i < lengthof(statement_headings); i++)
	{
		piece		rest = line;

		if (take_text(&rest, statement_headings[i].heading) && rest.at == rest.end)
			return statement_headings[i].counts;
	}
	return 0;
}

/* A meta-command may go on in further lines: they do not look like this. */
static void
read_statement(piece line, int counts, sp_pgbench_take_statement take, void *context)
{
	double		latency_ms;
	int64_t		failures = 0;
	int64_t		retries;

	if (!take_blanks(&line) || !take_number(&line, &latency_ms))
		return;
	for (int i = 0; i < counts; i++)
	{
		if (!take_blanks(&line) || !take_count(&line, i == 0 ? &failures : &retries))
			return;
	}
	/* 15 writes two blanks here, 19 one; the text itself never begins with any */
	if (take_blanks(&line))
		take(context, latency_ms, failures, line.at, (size_t) (line.end - line.at));
}

/* Take the next line off the front; what is behind the last newline is none. */
static bool
take_output_line(piece *text, piece *line)
{
	const char *newline = text->at == text->end ? NULL :
		memchr(text->at, '\n', (size_t) (text->end - text->at));

	if (newline == NULL)
		return false;
	line->at = text->at;
	line->end = newline;
	text->at = newline + 1;
	return true;
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
	piece		rest = {text, text + length};
	piece		line;
	int			counts = 0;

	summary_init(summary);
	while (counts == 0 && take_output_line(&rest, &line))
	{
		read_number_line(line, summary);
		read_count_line(line, summary);
		counts = heading_counts(line);
	}
	/* where all failed, pgbench ends here */
	if (summary->transactions == 0 && summary->failed > 0 && isnan(summary->tps))
		summary->tps = 0;
	if (summary->transactions < 0 || isnan(summary->tps))
		return false;

	/* statements are the last; their text may look like any of the lines above */
	while (take != NULL && counts > 0 && take_output_line(&rest, &line))
		read_statement(line, counts, take, context);
	return true;
}

int
sp_pgbench_parse_version(const char *text, char *version, size_t size)
{
	piece		rest = {text, text + strcspn(text, "\r\n")};
	piece		words;
	int64_t		major;
	size_t		length;

	if (size > 0)
		version[0] = '\0';
	if (!take_text(&rest, "pgbench (PostgreSQL) "))
		return 0;
	words = rest;
	if (!take_count(&rest, &major) || major == 0 || major > INT_MAX)
		return 0;
	if (size > 0)
	{
		length = (size_t) (words.end - words.at);
		length = length < size ? length : size - 1;
		memcpy(version, words.at, length);
		version[length] = '\0';
	}
	return (int) major;
}
