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

/* ----------------------------------------------------------------- lines.c */

/* cut: the text ends within the line, or right behind it. */
extern sp_tool_line_content sp_tool_parse_line(sp_slice line, bool cut);

/* The line without blanks at its ends, and without the marks of a quotation before it. */
extern sp_slice sp_tool_strip(sp_slice line);

/* ---------------------------------------------------------------- figure.c */

/* A number with its decimals, and what separates these. */
typedef struct sp_tool_decimal
{
	double		value;
	int			decimals;
	char		separator;		/* '.', ',', or '\0' */
} sp_tool_decimal;

/*
 * Each takes something from the beginning of a line: blanks; words that have one blank or
 * more where *words has one; a number with up to so many decimals; a unit in another
 * language, which is what there is until a blank and a digit.  Returns false, and takes
 * nothing, if it is not there.
 */
extern bool sp_tool_take_blanks(sp_slice *line);
extern bool sp_tool_take_words(sp_slice *line, const char *words);
extern bool sp_tool_take_decimal(sp_slice *line, int max_decimals, sp_tool_decimal *number);
extern bool sp_tool_take_unit(sp_slice *line);

/* Is there nothing, or something that is set off by a blank? */
extern bool sp_tool_at_word_end(sp_slice line);

/* What stands behind a label: the figure, if it is one.  cut: the text ends with the line. */
extern bool sp_tool_parse_value(sp_slice line, bool cut, sp_tool_figure *figure);

#endif							/* SP_PG_TEST_FSYNC_LINES_INTERNAL_H */
