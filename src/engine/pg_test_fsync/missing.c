/*-------------------------------------------------------------------------
 *
 * missing.c
 *		Say in words what a report of pg_test_fsync lacks.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/pg_test_fsync/report.h"

#include "engine/text/text.h"

/* What a section measures, in the words of its heading. */
static void
say_section(sp_sentence *to, const sp_tool_report *report, sp_tool_section section)
{
	char		size[32] = "";
	sp_sentence kb = sp_sentence_begin(size, sizeof(size));

	if (report->block_size > 0)
		sp_say(&kb, "%dkB ", report->block_size / 1024);
	switch (section)
	{
		case SP_TOOL_ONE_WRITE:
			sp_say(to, "\"one %swrite\"", size);
			break;
		case SP_TOOL_TWO_WRITES:
			sp_say(to, "\"two %swrites\"", size);
			break;
		case SP_TOOL_OPEN_SYNC_SIZES:
			sp_say(to, "\"open_sync with different write sizes\"");
			break;
		case SP_TOOL_NON_WRITE_DESCRIPTOR:
			sp_say(to, "\"fsync on non-write file descriptor\"");
			break;
		case SP_TOOL_UNSYNCED_WRITE:
		case SP_TOOL_SECTIONS:
			sp_say(to, "\"Non-sync'ed %swrites\"", size);
			break;
	}
}

/* A line; where its section has a single one, that section is enough. */
static void
say_line(sp_sentence *to, const sp_tool_report *report, int line)
{
	if (sp_tool_lines[line].section != SP_TOOL_UNSYNCED_WRITE)
		sp_say(to, "%s in ", sp_tool_lines[line].label);
	say_section(to, report, sp_tool_lines[line].section);
}

static bool
lacks_line(const sp_tool_report *report, int line)
{
	return line < SP_TOOL_LINES && report->figures[line].status == SP_TOOL_MISSING;
}

/* The first line after this one that is of another section. */
static int
section_end(int line)
{
	int			end = line + 1;

	while (end < SP_TOOL_LINES && sp_tool_lines[end].section == sp_tool_lines[line].section)
		end++;
	return end;
}

/* From this line on, how many are missing? */
static int
count_missing(const sp_tool_report *report, int line)
{
	int			count = 0;

	while (lacks_line(report, line + count))
		count++;
	return count;
}

static void
say_separator(sp_sentence *to)
{
	sp_say(to, to->text[0] == '\0' ? "" : "; ");
}

/* The headings say it, except for the section that has sizes of its own. */
static void
say_block_size(sp_sentence *to, const sp_tool_report *report)
{
	for (int i = 0; i < SP_TOOL_LINES; i++)
	{
		if (report->block_size == 0 && sp_tool_lines[i].write_size == 0 &&
			report->figures[i].status == SP_TOOL_OK)
		{
			say_separator(to);
			sp_say(to, "the block size");
			return;
		}
	}
}

/* What the head of a report says. */
static void
say_head(sp_sentence *to, const sp_tool_report *report)
{
	bool		direct_io_matters = false;

	for (int i = 0; i < SP_TOOL_LINES; i++)
	{
		if (sp_tool_lines[i].opens_synced && report->figures[i].status == SP_TOOL_OK)
			direct_io_matters = true;
	}
	if (report->seconds <= 0 && report->operations <= 0)
		sp_say(to, "the seconds per test");
	if (report->direct_io == SP_TOOL_DIRECT_IO_UNKNOWN && direct_io_matters)
	{
		say_separator(to);
		sp_say(to, "whether open_* used O_DIRECT");
	}
}

/* Lines that are missing between others: sections if whole ones are. */
static void
say_gap(sp_sentence *to, const sp_tool_report *report, int from, int end)
{
	for (int line = from; line < end; line++)
	{
		bool		begins_section = line == 0 ||
			sp_tool_lines[line - 1].section != sp_tool_lines[line].section;

		say_separator(to);
		if (begins_section && section_end(line) <= end)
		{
			sp_say(to, "the section ");
			say_section(to, report, sp_tool_lines[line].section);
			line = section_end(line) - 1;
		}
		else
		{
			sp_say(to, "the line ");
			say_line(to, report, line);
		}
	}
}

bool
sp_tool_missing(const sp_tool_report *report, char *text, size_t size)
{
	sp_sentence to = sp_sentence_begin(text, size);
	int			first = count_missing(report, 0);
	bool		no_seconds = report->seconds <= 0 && report->operations <= 0;

	if (first > 0 && first < SP_TOOL_LINES && no_seconds)
	{
		sp_say(&to, "the beginning, before ");
		say_line(&to, report, first);
	}
	else
	{
		say_head(&to, report);
		first = 0;
	}
	say_block_size(&to, report);
	for (int line = first; line < SP_TOOL_LINES; line++)
	{
		int			end = line + count_missing(report, line);

		if (end == SP_TOOL_LINES && line > 0)
		{
			say_separator(&to);
			sp_say(&to, "the end, after ");
			say_line(&to, report, line - 1);
		}
		else
			say_gap(&to, report, line, end);
		line = end;
	}
	return text[0] != '\0';
}
