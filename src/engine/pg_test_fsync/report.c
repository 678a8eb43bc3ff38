/*-------------------------------------------------------------------------
 *
 * report.c
 *		Put the lines of pg_test_fsync together to reports.
 *
 * It must not: include a server header, allocate, or take a line that may belong to another
 * section.
 *
 * Lines of a report come in a fixed order.  So a line or a heading that does not come after
 * the one before it begins another report.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/pg_test_fsync/report.h"

#include <string.h>

#include "engine/pg_test_fsync/lines_internal.h"
#include "engine/text/text.h"

/* From this section on, labels tell the section of a line. */
#define FIRST_SELF_DESCRIBING	SP_TOOL_OPEN_SYNC_SIZES

static void
begin_report(sp_tool_reader *reader)
{
	memset(&reader->report, 0, sizeof(reader->report));
	memset(&reader->orphans, 0, sizeof(reader->orphans));
	reader->section = -1;
	reader->last = -1;
}

void
sp_tool_reader_init(sp_tool_reader *reader, const char *text, size_t length)
{
	reader->rest = (sp_slice) {text, length};
	reader->not_understood = (sp_slice) {NULL, 0};
	begin_report(reader);
}

int
sp_tool_count(const sp_tool_report *report)
{
	int			count = 0;

	for (int i = 0; i < SP_TOOL_LINES; i++)
		count += report->figures[i].status != SP_TOOL_MISSING;
	return count;
}

/* End the report, and begin another one.  Returns false if there was nothing in it. */
static bool
end_report(sp_tool_reader *reader, sp_tool_report *report)
{
	bool		any = sp_tool_count(&reader->report) > 0;

	if (any)
		*report = reader->report;
	begin_report(reader);
	return any;
}

/* ------------------------------------------------ lines without their heading */

/* Keep a line of which only the method is known. */
static void
keep_orphan(sp_tool_orphans *orphans, int method, const sp_tool_figure *figure)
{
	if (orphans->groups == 0 || method <= orphans->last)
	{
		/* the lines of an earlier report are of no use without their heading */
		if (orphans->groups == 2)
			memset(orphans, 0, sizeof(*orphans));
		orphans->groups++;
	}
	orphans->last = method;
	orphans->figures[orphans->groups - 1][method] = *figure;
}

/* With its beginning cut off, a translated label may end with "open_sync". */
static bool
is_open_sync_alone(const sp_tool_orphans *orphans)
{
	if (orphans->groups != 1)
		return false;
	for (int m = 0; m < SP_TOOL_METHODS - 1; m++)
	{
		if (orphans->figures[0][m].status != SP_TOOL_MISSING)
			return false;
	}
	return true;
}

static void
adopt_group(sp_tool_reader *reader, int group, sp_tool_section section)
{
	int			first = section * SP_TOOL_METHODS;

	for (int m = 0; m < SP_TOOL_METHODS; m++)
	{
		const sp_tool_figure *figure = &reader->orphans.figures[group][m];

		if (figure->status != SP_TOOL_MISSING)
			reader->report.figures[first + m] = *figure;
	}
}

/*
 * The next section tells where lines without a heading belong.  Those before the second
 * section are of the first one, and those before the third are of the second.
 */
static void
adopt_orphans(sp_tool_reader *reader, sp_tool_section next)
{
	int			groups = reader->orphans.groups;

	if (groups > 0 && next == SP_TOOL_TWO_WRITES)
		adopt_group(reader, groups - 1, SP_TOOL_ONE_WRITE);
	if (groups > 0 && next == SP_TOOL_OPEN_SYNC_SIZES)
	{
		adopt_group(reader, groups - 1, SP_TOOL_TWO_WRITES);
		if (groups == 2)
			adopt_group(reader, 0, SP_TOOL_ONE_WRITE);
	}
	memset(&reader->orphans, 0, sizeof(reader->orphans));
}

/* ------------------------------------------------------------- lines in order */

/* Go on to a section, or to another report if it comes before the latest one. */
static bool
enter_section(sp_tool_reader *reader, sp_tool_section section, sp_tool_report *report)
{
	bool		ended = false;

	if ((int) section < reader->section)
		ended = end_report(reader, report);
	if (reader->section < 0)
		adopt_orphans(reader, section);
	reader->section = (int) section;
	return ended;
}

static bool
take_heading(sp_tool_reader *reader, const sp_tool_line_content *content,
			 sp_tool_report *report)
{
	sp_tool_report *current = &reader->report;
	bool		ended = false;

	/* a heading stands once, and the block size is that of the program */
	if ((int) content->section == reader->section ||
		(content->block_size != 0 && current->block_size != 0 &&
		 content->block_size != current->block_size))
		ended = end_report(reader, report);
	if (enter_section(reader, content->section, report))
		ended = true;
	if (content->block_size != 0)
		reader->report.block_size = content->block_size;
	return ended;
}

/* Of a line of the first two sections, the heading tells which of them. */
static bool
take_method(sp_tool_reader *reader, int method, const sp_tool_figure *figure,
			sp_tool_report *report)
{
	int			line = reader->section * SP_TOOL_METHODS + method;
	bool		ended = false;

	if (reader->section >= FIRST_SELF_DESCRIBING ||
		(reader->section >= 0 && line <= reader->last))
		ended = end_report(reader, report);
	if (reader->section < 0)
		keep_orphan(&reader->orphans, method, figure);
	else
	{
		reader->report.figures[line] = *figure;
		reader->last = line;
	}
	return ended;
}

static bool
take_figure(sp_tool_reader *reader, int line, const sp_tool_figure *figure,
			sp_tool_report *report)
{
	bool		ended = false;

	if (sp_tool_lines[line].section < FIRST_SELF_DESCRIBING)
		return take_method(reader, line, figure, report);
	/* where the beginning is cut off, "write" may be the end of another label */
	if (sp_tool_lines[line].section == SP_TOOL_UNSYNCED_WRITE &&
		reader->section < SP_TOOL_NON_WRITE_DESCRIPTOR)
		return false;
	if (line <= reader->last)
		ended = end_report(reader, report);
	/* within a section, that may be the line before, of which the beginning is cut off */
	if (sp_tool_lines[line - 1].section == sp_tool_lines[line].section &&
		is_open_sync_alone(&reader->orphans))
		memset(&reader->orphans, 0, sizeof(reader->orphans));
	if (enter_section(reader, sp_tool_lines[line].section, report))
		ended = true;
	reader->report.figures[line] = *figure;
	reader->last = line;
	return ended;
}

/* The two lines at the head of a report, in this order. */
static bool
take_head(sp_tool_reader *reader, const sp_tool_line_content *content, sp_tool_report *report)
{
	sp_tool_report *current = &reader->report;
	bool		ended = false;

	if (content->kind != SP_TOOL_LINE_DIRECT_IO || reader->section >= 0 ||
		reader->orphans.groups > 0 || current->direct_io != SP_TOOL_DIRECT_IO_UNKNOWN)
		ended = end_report(reader, report);
	if (content->kind == SP_TOOL_LINE_SECONDS)
		current->seconds = content->seconds;
	else if (content->kind == SP_TOOL_LINE_OPERATIONS)
		current->operations = content->operations;
	else
		current->direct_io = content->direct_io;
	return ended;
}

static bool
take_content(sp_tool_reader *reader, const sp_tool_line_content *content,
			 sp_tool_report *report)
{
	switch (content->kind)
	{
		case SP_TOOL_LINE_SECONDS:
		case SP_TOOL_LINE_OPERATIONS:
		case SP_TOOL_LINE_DIRECT_IO:
			return take_head(reader, content, report);
		case SP_TOOL_LINE_HEADING:
			return take_heading(reader, content, report);
		case SP_TOOL_LINE_FIGURE:
			return take_figure(reader, content->line, &content->figure, report);
		case SP_TOOL_LINE_PROSE:
		case SP_TOOL_LINE_UNKNOWN:
			break;
	}
	return false;
}

sp_tool_step
sp_tool_read_line(sp_tool_reader *reader, sp_tool_report *report)
{
	sp_slice	line;
	bool		cut = false;
	sp_tool_line_content content;

	if (!sp_take_line(&reader->rest, &line))
	{
		if (reader->rest.length == 0)
			return end_report(reader, report) ? SP_TOOL_STEP_REPORT : SP_TOOL_STEP_END;
		line = reader->rest;
		sp_skip(&reader->rest, line.length);
		cut = true;
	}
	content = sp_tool_parse_line(line, cut);
	if (content.kind == SP_TOOL_LINE_UNKNOWN && reader->not_understood.length == 0)
		reader->not_understood = sp_tool_strip(line);
	return take_content(reader, &content, report) ? SP_TOOL_STEP_REPORT : SP_TOOL_STEP_LINE;
}
