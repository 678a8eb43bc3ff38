/*-------------------------------------------------------------------------
 *
 * lines.c
 *		What a single line of pg_test_fsync says.
 *
 * figure.c reads its words and numbers.
 *
 * It must not: include a server header, or keep state between calls.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/pg_test_fsync/lines_internal.h"

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

/* A block of WAL has at most 64 kB; a fork's may have more. */
#define MAX_BLOCK_KB		1024

/* A longer line is none of the program's. */
#define MAX_LINE_LENGTH	1000

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
take_label_and_blanks(sp_slice *line, const char *label)
{
	sp_slice	rest = *line;

	if (!sp_tool_take_words(&rest, label) || !sp_tool_take_blanks(&rest))
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

	if (!sp_take_number(&rest, &writes) || !sp_tool_take_words(&rest, " * ") ||
		!sp_take_number(&rest, &kb) || !sp_tool_take_unit(&rest))
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
		!sp_tool_take_words(line, "kB "))
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
	while (!sp_tool_at_word_end(*line))
		sp_skip(line, 1);
	return sp_tool_take_blanks(line);
}

static bool
parse_heading(sp_slice line, sp_tool_line_content *content)
{
	int		   *size = &content->block_size;
	sp_slice	rest = line;

	if (sp_tool_take_words(&rest, "Compare file sync methods using one ") &&
		take_block_size(&rest, size) && sp_tool_take_words(&rest, "write:"))
		content->section = SP_TOOL_ONE_WRITE;
	else if (rest = line, sp_tool_take_words(&rest, "Compare file sync methods using two ") &&
			 take_block_size(&rest, size) && sp_tool_take_words(&rest, "writes:"))
		content->section = SP_TOOL_TWO_WRITES;
	else if (rest = line,
			 sp_tool_take_words(&rest, "Compare open_sync with different write sizes:"))
		content->section = SP_TOOL_OPEN_SYNC_SIZES;
	else if (rest = line,
			 sp_tool_take_words(&rest, "Test if fsync on non-write file descriptor is honored:"))
		content->section = SP_TOOL_NON_WRITE_DESCRIPTOR;
	else if (rest = line, take_non_synced(&rest) &&
			 take_block_size(&rest, size) && sp_tool_take_words(&rest, "writes:"))
		content->section = SP_TOOL_UNSYNCED_WRITE;
	else
		return false;
	content->kind = SP_TOOL_LINE_HEADING;
	return rest.length == 0;
}

static bool
parse_seconds(sp_slice line, sp_tool_line_content *content)
{
	sp_tool_decimal seconds;

	if (!sp_tool_take_decimal(&line, 2, &seconds) || seconds.value <= 0 ||
		seconds.separator == ',' ||
		!(sp_tool_take_words(&line, " seconds per test") ||
		  sp_tool_take_words(&line, " second per test")) ||
		line.length > 0)
		return false;
	content->kind = SP_TOOL_LINE_SECONDS;
	content->seconds = seconds.value;
	return true;
}

static bool
parse_operations(sp_slice line, sp_tool_line_content *content)
{
	sp_tool_decimal operations;

	if (!sp_tool_take_decimal(&line, 0, &operations) || operations.value <= 0 ||
		!sp_tool_take_words(&line, " operations per test") || line.length > 0)
		return false;
	content->kind = SP_TOOL_LINE_OPERATIONS;
	content->operations = (int64_t) operations.value;
	return true;
}

/* F_NOCACHE is macOS's way, since PostgreSQL 16. */
static bool
parse_direct_io(sp_slice line, sp_tool_line_content *content)
{
	if (sp_tool_take_words(&line, "O_DIRECT supported on this platform") ||
		sp_tool_take_words(&line, "F_NOCACHE supported on this platform"))
		content->direct_io = SP_TOOL_DIRECT_IO;
	else if (sp_tool_take_words(&line, "Direct I/O is not supported on this platform"))
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
	if (content->line < 0 || !sp_tool_parse_value(line, cut, &content->figure))
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

		if (sp_tool_take_words(&rest, explanations[i]))
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
