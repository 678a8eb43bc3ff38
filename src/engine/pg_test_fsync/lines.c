/*-------------------------------------------------------------------------
 *
 * lines.c
 *		What a single line of pg_test_fsync says.
 *
 * It must not: include a server header, keep state between calls, or ask the locale how a
 * number looks.
 *
 * A wrong number is worse than a missing one.  So a number counts only with the unit behind
 * it, and only if it agrees with the second number of its line.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/pg_test_fsync/lines_internal.h"

#include <math.h>
#include <string.h>

#include "engine/text/text.h"

#define TOOL_METHODS(section, writes) \
	{section, "open_datasync", "open_datasync", true, 0, writes}, \
	{section, "fdatasync", "fdatasync", false, 0, writes}, \
	{section, "fsync", "fsync", false, 0, writes}, \
	{section, "fsync_writethrough", "fsync_writethrough", false, 0, writes}, \
	{section, "open_sync", "open_sync", true, 0, writes}

#define TOOL_SIZE(label, kb) \
	{SP_TOOL_OPEN_SYNC_SIZES, label, "open_sync", true, (kb) * 1024, 16 / (kb)}

const sp_tool_line sp_tool_lines[SP_TOOL_LINES] = {
	TOOL_METHODS(SP_TOOL_ONE_WRITE, 1),
	TOOL_METHODS(SP_TOOL_TWO_WRITES, 2),
	TOOL_SIZE("1 * 16kB open_sync write", 16),
	TOOL_SIZE("2 * 8kB open_sync writes", 8),
	TOOL_SIZE("4 * 4kB open_sync writes", 4),
	TOOL_SIZE("8 * 2kB open_sync writes", 2),
	TOOL_SIZE("16 * 1kB open_sync writes", 1),
	{SP_TOOL_NON_WRITE_DESCRIPTOR, "write, fsync, close", "write_fsync_close", false, 0, 1},
	{SP_TOOL_NON_WRITE_DESCRIPTOR, "write, close, fsync", "write_close_fsync", false, 0, 1},
	{SP_TOOL_UNSYNCED_WRITE, "write", "write", false, 0, 1},
};

const char *const sp_tool_tests[SP_TOOL_SECTIONS] = {
	"one_write", "two_writes", "open_sync_sizes", "non_write_descriptor", "unsynced_write"
};

/* How the lines begin that explain, and those of pg_test_fsync_report(). */
static const char *const explanations[] = {
	"(in wal_sync_method preference order",
	"(in \"wal_sync_method\" preference order",
	"is Linux's default)",
	"(This is designed to compare the cost of writing 16kB",
	"in different write open_sync sizes.)",
	"open_sync sizes.)",
	"(16kB in each sync, in writes of these sizes)",
	"(If the times are similar, fsync() can sync data written",
	"on a different descriptor.)",
	"descriptor.)",
	"(similar times: fsync() can sync what another descriptor wrote)",
	"* This file system and its mount options do not support direct",
	"I/O, e.g. ext4 in journaled mode.",
};

/* More digits than that are no rate of syncs. */
#define MAX_RATE_DIGITS		9

/* A block of WAL has at most 64 kB; a fork's may have more. */
#define MAX_BLOCK_KB		1024

/* A longer line is none of the program's. */
#define MAX_LINE_LENGTH	1000

/* How far the two numbers of a line may be apart: both are rounded. */
#define MAX_DISAGREEMENT	0.01

/* A byte order mark, which some editors put before a text. */
#define BYTE_ORDER_MARK		"\xef\xbb\xbf"

sp_slice
sp_tool_strip(sp_slice line)
{
	(void) sp_take_text(&line, BYTE_ORDER_MARK);
	while (line.length > 0 && line.start[line.length - 1] == '\r')
		line.length--;
	line = sp_trim(line);
	while (line.length > 0 && (line.start[0] == '>' || line.start[0] == '|'))
	{
		sp_skip(&line, 1);
		line = sp_trim(line);
	}
	return line;
}

static bool
take_blanks(sp_slice *line)
{
	bool		any = false;

	for (; line->length > 0 && sp_is_blank(line->start[0]); sp_skip(line, 1))
		any = true;
	return any;
}

/* Take words that have one blank or more where *words has one. */
static bool
take_spaced_words(sp_slice *line, const char *words)
{
	sp_slice	rest = *line;

	for (const char *c = words; *c != '\0'; c++)
	{
		if (*c == ' ')
		{
			if (!take_blanks(&rest))
				return false;
		}
		else if (rest.length > 0 && rest.start[0] == *c)
			sp_skip(&rest, 1);
		else
			return false;
	}
	*line = rest;
	return true;
}

/* A number with up to so many decimals, and what separates these. */
typedef struct decimal
{
	double		value;
	int			decimals;
	char		separator;		/* '.', ',', or '\0' */
} decimal;

/*
 * The digits are collected as an integer, and then divided: below 2^53 the quotient is
 * the nearest double.
 */
static bool
take_decimal(sp_slice *line, int max_decimals, decimal *number)
{
	sp_slice	rest = *line;
	double		value = 0;
	double		scale = 1;
	int			digits = 0;
	decimal		result = {0};

	for (; sp_at_digit(rest); sp_skip(&rest, 1), digits++)
		value = value * 10 + (rest.start[0] - '0');
	if (digits == 0 || digits > MAX_RATE_DIGITS)
		return false;
	if (rest.length > 1 && (rest.start[0] == '.' || rest.start[0] == ',') &&
		rest.start[1] >= '0' && rest.start[1] <= '9')
	{
		result.separator = rest.start[0];
		for (sp_skip(&rest, 1); sp_at_digit(rest); sp_skip(&rest, 1))
		{
			if (++result.decimals > max_decimals)
				return false;
			value = value * 10 + (rest.start[0] - '0');
			scale *= 10;
		}
	}
	result.value = value / scale;
	*number = result;
	*line = rest;
	return true;
}

/* Is there nothing, or something that is set off by a blank? */
static bool
at_word_end(sp_slice line)
{
	return line.length == 0 || sp_is_blank(line.start[0]);
}

/*
 * The second number of a line, the microseconds; 0 if there is none.  If it is not whole,
 * because the line was cut or wrapped, the first number still stands.
 */
static double
take_usecs(sp_slice line)
{
	decimal		usecs;

	if (take_blanks(&line) && take_decimal(&line, 0, &usecs) &&
		take_spaced_words(&line, " usecs/op") && at_word_end(line))
		return usecs.value;
	return 0;
}

/*
 * Both numbers are rounded, and for slow operations the second one says more.  With a
 * decimal comma, as PostgreSQL 11 and later print it in many locales, there must be a second
 * number: 14,640 could also be a number of thousands.
 */
static bool
make_figure(decimal rate, double usecs, sp_tool_figure *figure)
{
	double		mean_us;

	if (rate.value <= 0 || (rate.separator == ',' && (rate.decimals != 3 || usecs <= 0)))
		return false;
	mean_us = 1e6 / rate.value;
	if (usecs > 0)
	{
		if (fabs(mean_us - usecs) > 1 + (MAX_DISAGREEMENT + 0.0005 / rate.value) * mean_us)
			return false;
		if (rint(mean_us) != usecs)
			mean_us = usecs;
	}
	*figure = (sp_tool_figure) {SP_TOOL_OK, rate.value, mean_us};
	return true;
}

/* A unit in another language: what there is until a blank and a digit. */
static bool
take_unit(sp_slice *line)
{
	bool		after_blank = false;
	size_t		length = 0;

	while (length < line->length && !(line->start[length] >= '0' && line->start[length] <= '9'))
		after_blank = sp_is_blank(line->start[length++]);
	if (length == 0 || length == line->length || !after_blank)
		return false;
	sp_skip(line, length);
	return true;
}

/*
 * Two numbers and their units as other languages have them.  That both numbers agree proves
 * what the units are.
 */
static bool
parse_translated(decimal rate, sp_slice line, sp_tool_figure *figure)
{
	decimal		usecs;

	return rate.decimals == 3 && take_blanks(&line) && take_unit(&line) &&
		take_decimal(&line, 0, &usecs) && usecs.value > 0 && take_blanks(&line) &&
		line.length > 0 && !sp_at_digit(line) && make_figure(rate, usecs.value, figure);
}

/* What stands behind a label.  "n/a" at the end of a cut text may have been "n/a*". */
static bool
parse_value(sp_slice line, bool cut, sp_tool_figure *figure)
{
	decimal		rate;
	sp_slice	rest;

	if (sp_take_text(&line, "n/a"))
	{
		bool		star = sp_take_text(&line, "*");

		figure->status = star ? SP_TOOL_NO_DIRECT_IO : SP_TOOL_UNSUPPORTED;
		return line.length == 0 && (star || !cut);
	}
	if (!take_decimal(&line, 3, &rate))
		return false;
	rest = line;
	if (take_spaced_words(&rest, " ops/sec"))
		return at_word_end(rest) && make_figure(rate, take_usecs(rest), figure);
	return parse_translated(rate, line, figure);
}

static bool
take_label_and_blanks(sp_slice *line, const char *label)
{
	sp_slice	rest = *line;

	if (!take_spaced_words(&rest, label) || !take_blanks(&rest))
		return false;
	*line = rest;
	return true;
}

/* "2 *  8kB" and words of another language; -1 if it is none of the tool's sizes. */
static int
take_translated_size(sp_slice *line)
{
	sp_slice	rest = *line;
	uint64_t	writes;
	uint64_t	kb;

	if (!sp_take_number(&rest, &writes) || !take_spaced_words(&rest, " * ") ||
		!sp_take_number(&rest, &kb) || !take_unit(&rest))
		return -1;
	for (int i = 0; i < SP_TOOL_LINES; i++)
	{
		if (sp_tool_lines[i].section == SP_TOOL_OPEN_SYNC_SIZES &&
			(uint64_t) sp_tool_lines[i].writes_per_sync == writes &&
			(uint64_t) sp_tool_lines[i].write_size / 1024 == kb)
		{
			*line = rest;
			return i;
		}
	}
	return -1;
}

/*
 * The line that has this label, without the second section, whose labels are those of the
 * first; -1 if there is none.  9.1 leaves out how many writes there are.
 */
static int
take_label(sp_slice *line)
{
	for (int i = 0; i < SP_TOOL_LINES; i++)
	{
		const sp_tool_line *known = &sp_tool_lines[i];

		if (known->section == SP_TOOL_TWO_WRITES)
			continue;
		if (take_label_and_blanks(line, known->label) ||
			(known->section == SP_TOOL_OPEN_SYNC_SIZES &&
			 take_label_and_blanks(line, strchr(known->label, '*') + 2)))
			return i;
	}
	return take_translated_size(line);
}

/* "8kB ", or nothing where the size is not known. */
static bool
take_block_size(sp_slice *line, int *block_size)
{
	uint64_t	kb;

	*block_size = 0;
	if (!sp_at_digit(*line))
		return true;
	if (!sp_take_number(line, &kb) || kb == 0 || kb > MAX_BLOCK_KB ||
		!take_spaced_words(line, "kB "))
		return false;
	*block_size = (int) kb * 1024;
	return true;
}

/* Up to 9.4, and later: Non-Sync'ed, Non-sync'ed.  The apostrophe may have become another. */
static bool
take_non_synced(sp_slice *line)
{
	if (!sp_take_text(line, "Non-Sync") && !sp_take_text(line, "Non-sync"))
		return false;
	while (!at_word_end(*line))
		sp_skip(line, 1);
	return take_blanks(line);
}

static bool
parse_heading(sp_slice line, sp_tool_line_content *content)
{
	int		   *size = &content->block_size;
	sp_slice	rest = line;

	if (take_spaced_words(&rest, "Compare file sync methods using one ") &&
		take_block_size(&rest, size) && take_spaced_words(&rest, "write:"))
		content->section = SP_TOOL_ONE_WRITE;
	else if (rest = line, take_spaced_words(&rest, "Compare file sync methods using two ") &&
			 take_block_size(&rest, size) && take_spaced_words(&rest, "writes:"))
		content->section = SP_TOOL_TWO_WRITES;
	else if (rest = line,
			 take_spaced_words(&rest, "Compare open_sync with different write sizes:"))
		content->section = SP_TOOL_OPEN_SYNC_SIZES;
	else if (rest = line,
			 take_spaced_words(&rest, "Test if fsync on non-write file descriptor is honored:"))
		content->section = SP_TOOL_NON_WRITE_DESCRIPTOR;
	else if (rest = line, take_non_synced(&rest) &&
			 take_block_size(&rest, size) && take_spaced_words(&rest, "writes:"))
		content->section = SP_TOOL_UNSYNCED_WRITE;
	else
		return false;
	content->kind = SP_TOOL_LINE_HEADING;
	return rest.length == 0;
}

static bool
parse_seconds(sp_slice line, sp_tool_line_content *content)
{
	decimal		seconds;

	if (!take_decimal(&line, 2, &seconds) || seconds.value <= 0 || seconds.separator == ',' ||
		!(take_spaced_words(&line, " seconds per test") ||
		  take_spaced_words(&line, " second per test")) ||
		line.length > 0)
		return false;
	content->kind = SP_TOOL_LINE_SECONDS;
	content->seconds = seconds.value;
	return true;
}

static bool
parse_operations(sp_slice line, sp_tool_line_content *content)
{
	decimal		operations;

	if (!take_decimal(&line, 0, &operations) || operations.value <= 0 ||
		!take_spaced_words(&line, " operations per test") || line.length > 0)
		return false;
	content->kind = SP_TOOL_LINE_OPERATIONS;
	content->operations = (int64_t) operations.value;
	return true;
}

/* F_NOCACHE is macOS's way, since PostgreSQL 16. */
static bool
parse_direct_io(sp_slice line, sp_tool_line_content *content)
{
	if (take_spaced_words(&line, "O_DIRECT supported on this platform") ||
		take_spaced_words(&line, "F_NOCACHE supported on this platform"))
		content->direct_io = SP_TOOL_DIRECT_IO;
	else if (take_spaced_words(&line, "Direct I/O is not supported on this platform"))
		content->direct_io = SP_TOOL_NO_DIRECT_IO_HERE;
	else
		return false;
	content->kind = SP_TOOL_LINE_DIRECT_IO;
	return true;
}

static bool
parse_figure_line(sp_slice line, bool cut, sp_tool_line_content *content)
{
	content->line = take_label(&line);
	if (content->line < 0 || !parse_value(line, cut, &content->figure))
		return false;
	content->kind = SP_TOOL_LINE_FIGURE;
	return true;
}

static bool
is_prose(sp_slice line)
{
	if (line.length == 0)
		return true;
	for (size_t i = 0; i < lengthof(explanations); i++)
	{
		sp_slice	rest = line;

		if (take_spaced_words(&rest, explanations[i]))
			return true;
	}
	return false;
}

sp_tool_line_content
sp_tool_parse_line(sp_slice line, bool cut)
{
	sp_tool_line_content content = {.kind = SP_TOOL_LINE_UNKNOWN};

	line = sp_tool_strip(line);
	if (line.length > MAX_LINE_LENGTH)
		return content;
	if (parse_figure_line(line, cut, &content) || parse_heading(line, &content) ||
		parse_seconds(line, &content) || parse_operations(line, &content) ||
		parse_direct_io(line, &content))
		return content;
	content = (sp_tool_line_content) {
		.kind = is_prose(line) ? SP_TOOL_LINE_PROSE : SP_TOOL_LINE_UNKNOWN
	};
	return content;
}
