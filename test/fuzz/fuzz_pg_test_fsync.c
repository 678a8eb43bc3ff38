/*-------------------------------------------------------------------------
 *
 * fuzz_pg_test_fsync.c
 *	  Fuzz target: reports of pg_test_fsync.
 *
 * The input is the text.
 *
 * It must not: include a server header, or run pg_test_fsync.
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>

#include "fuzz.h"
#include "engine/pg_test_fsync/pg_test_fsync.h"

/* No input has more lines. */
#define MAX_REPORTS		4096

/* Longer than a report as print_report() writes it. */
#define REPORT_SIZE		4096

typedef struct report_list
{
	int			count;
	sp_tool_report reports[MAX_REPORTS];
} report_list;

static void
read_reports(const char *text, size_t length, report_list *list)
{
	sp_tool_reader reader;
	sp_tool_step step;

	list->count = 0;
	sp_tool_reader_init(&reader, text, length);
	do
	{
		sp_tool_report *report = &list->reports[list->count];

		memset(report, 0, sizeof(*report));
		step = sp_tool_read_line(&reader, report);
		if (step == SP_TOOL_STEP_REPORT)
			list->count++;
		require(list->count < MAX_REPORTS);
	} while (step != SP_TOOL_STEP_END);
	require(reader.rest.length == 0);
	require(reader.not_understood.length == 0 ||
			(reader.not_understood.start >= text &&
			 reader.not_understood.start + reader.not_understood.length <= text + length));
}

static void
check_report(const sp_tool_report *report)
{
	char		missing[SP_TOOL_MISSING_SIZE];
	int			count = sp_tool_count(report);

	require(count >= 1 && count <= SP_TOOL_LINES);
	require(isfinite(report->seconds) && report->seconds >= 0 && report->operations >= 0);
	require(report->block_size >= 0 && report->block_size <= 1024 * 1024);
	for (int i = 0; i < SP_TOOL_LINES; i++)
	{
		const sp_tool_figure *figure = &report->figures[i];

		require(figure->status <= SP_TOOL_NO_DIRECT_IO);
		if (figure->status == SP_TOOL_OK)
		{
			require(isfinite(figure->ops_per_sec) && figure->ops_per_sec > 0);
			require(isfinite(figure->mean_us) && figure->mean_us > 0);
		}
		else
			require(figure->ops_per_sec == 0 && figure->mean_us == 0);
	}
	require(sp_tool_missing(report, missing, sizeof(missing)) || count == SP_TOOL_LINES);
	require(strlen(missing) < sizeof(missing) - 1);
}

static bool
same_figure(const sp_tool_figure *a, const sp_tool_figure *b)
{
	return a->status == b->status && a->ops_per_sec == b->ops_per_sec &&
		a->mean_us == b->mean_us;
}

static bool
same_report(const sp_tool_report *a, const sp_tool_report *b)
{
	for (int i = 0; i < SP_TOOL_LINES; i++)
	{
		if (!same_figure(&a->figures[i], &b->figures[i]))
			return false;
	}
	return a->seconds == b->seconds && a->operations == b->operations &&
		a->direct_io == b->direct_io && a->block_size == b->block_size;
}

/* ------------------------------------------------------------------- printing */

static void
print_head(char **to, const sp_tool_report *report)
{
	if (report->seconds > 0)
		*to += sprintf(*to, "%.2f seconds per test\n", report->seconds);
	else if (report->operations > 0)
		*to += sprintf(*to, "%lld operations per test\n", (long long) report->operations);
	if (report->direct_io == SP_TOOL_DIRECT_IO)
		*to += sprintf(*to, "O_DIRECT supported on this platform for open_*.\n");
	else if (report->direct_io == SP_TOOL_NO_DIRECT_IO_HERE)
		*to += sprintf(*to, "Direct I/O is not supported on this platform.\n");
}

static void
print_heading(char **to, sp_tool_section section, int block_size)
{
	static const char *const before[SP_TOOL_SECTIONS] = {
		"Compare file sync methods using one ", "Compare file sync methods using two ",
		"Compare open_sync with different write sizes:",
		"Test if fsync on non-write file descriptor is honored:", "Non-sync'ed "
	};
	static const char *const behind[SP_TOOL_SECTIONS] = {"write:", "writes:", "", "", "writes:"};

	*to += sprintf(*to, "\n%s", before[section]);
	if (behind[section][0] != '\0' && block_size > 0)
		*to += sprintf(*to, "%dkB ", block_size / 1024);
	*to += sprintf(*to, "%s\n", behind[section]);
}

static void
print_figure(char **to, const char *label, const sp_tool_figure *figure)
{
	*to += sprintf(*to, "        %-30s", label);
	if (figure->status == SP_TOOL_OK)
		*to += sprintf(*to, "%13.3f ops/sec  %6.0f usecs/op\n", figure->ops_per_sec,
					   figure->mean_us);
	else
		*to += sprintf(*to, "%21s\n", figure->status == SP_TOOL_UNSUPPORTED ? "n/a" : "n/a*");
}

/* In the layout of the program. */
static size_t
print_report(const sp_tool_report *report, char *text)
{
	char	   *to = text;

	print_head(&to, report);
	for (int i = 0; i < SP_TOOL_LINES; i++)
	{
		const sp_tool_line *line = &sp_tool_lines[i];

		if (i == 0 || line->section != sp_tool_lines[i - 1].section)
			print_heading(&to, line->section, report->block_size);
		if (report->figures[i].status != SP_TOOL_MISSING)
			print_figure(&to, line->label, &report->figures[i]);
	}
	require(to < text + REPORT_SIZE);
	return (size_t) (to - text);
}

/* What is printed says the same. */
static void
check_round_trip(const sp_tool_report *report)
{
	static report_list again;
	char		text[REPORT_SIZE];

	read_reports(text, print_report(report, text), &again);
	require(again.count == 1);
	require(same_report(report, &again.reports[0]));
}

/* ------------------------------------------------------------- changed texts */

/* The first lines of a text say a part of what all of it says. */
static void
check_first_lines(const char *text, size_t length, const report_list *whole)
{
	static report_list part;

	length /= 2;
	while (length > 0 && text[length - 1] != '\n')
		length--;
	read_reports(text, length, &part);
	require(part.count <= whole->count);
	for (int r = 0; r < part.count; r++)
	{
		const sp_tool_report *report = &part.reports[r];

		require(r == part.count - 1 || same_report(report, &whole->reports[r]));
		for (int i = 0; i < SP_TOOL_LINES; i++)
			require(report->figures[i].status == SP_TOOL_MISSING ||
					same_figure(&report->figures[i], &whole->reports[r].figures[i]));
	}
}

/* Lines of another system that are quoted say the same. */
static void
check_quoted(const char *text, size_t length, const report_list *whole)
{
	static report_list again;
	char	   *quoted = malloc(5 * length + 3);
	size_t		to = 0;
	bool		at_start = true;

	require(quoted != NULL);
	for (size_t from = 0; from < length; from++)
	{
		/* a mark of the byte order is one only at the very start */
		if (at_start && text[from] != '\xef')
		{
			memcpy(quoted + to, "> ", 2);
			to += 2;
		}
		at_start = text[from] == '\n';
		if (at_start)
			quoted[to++] = '\r';
		quoted[to++] = text[from];
	}
	read_reports(quoted, to, &again);
	require(again.count == whole->count);
	for (int r = 0; r < again.count; r++)
		require(same_report(&again.reports[r], &whole->reports[r]));
	free(quoted);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static report_list first;
	static report_list second;
	const char *text = (const char *) data;

	/* a report takes more than two bytes */
	if (size > 2 * (MAX_REPORTS - 1))
		return 0;
	read_reports(text, size, &first);
	read_reports(text, size, &second);
	require(first.count == second.count);
	for (int r = 0; r < first.count; r++)
	{
		check_report(&first.reports[r]);
		require(same_report(&first.reports[r], &second.reports[r]));
		check_round_trip(&first.reports[r]);
	}
	check_first_lines(text, size, &first);
	check_quoted(text, size, &first);
	return 0;
}
