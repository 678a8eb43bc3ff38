/*-------------------------------------------------------------------------
 *
 * lines_internal.h
 *		What a single line of pg_test_fsync says.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_PG_TEST_FSYNC_LINES_INTERNAL_H
#define SP_PG_TEST_FSYNC_LINES_INTERNAL_H

#include "engine/pg_test_fsync/report.h"

typedef enum sp_tool_line_kind
{
	SP_TOOL_LINE_UNKNOWN,
	SP_TOOL_LINE_PROSE,			/* an explanation, or nothing */
	SP_TOOL_LINE_SECONDS,
	SP_TOOL_LINE_OPERATIONS,
	SP_TOOL_LINE_DIRECT_IO,
	SP_TOOL_LINE_HEADING,
	SP_TOOL_LINE_FIGURE
} sp_tool_line_kind;

typedef struct sp_tool_line_content
{
	sp_tool_line_kind kind;
	double		seconds;
	int64_t		operations;
	sp_tool_direct_io direct_io;
	sp_tool_section section;	/* of a heading */
	int			block_size;		/* in the heading; 0: it says none */
	int			line;			/* of a figure, in sp_tool_lines: of a method the line in
								 * the first section */
	sp_tool_figure figure;
} sp_tool_line_content;

/* cut: the text ends within the line, or right behind it. */
extern sp_tool_line_content sp_tool_parse_line(sp_slice line, bool cut);

/* The line without blanks at its ends, and without the marks of a quotation before it. */
extern sp_slice sp_tool_strip(sp_slice line);

#endif							/* SP_PG_TEST_FSYNC_LINES_INTERNAL_H */
