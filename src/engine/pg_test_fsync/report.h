/*-------------------------------------------------------------------------
 *
 * report.h
 *		Read the reports of pg_test_fsync from a text.
 *
 * A report has up to 18 lines with figures, in five sections.  People keep these texts in
 * mails, tickets and blogs: lines may be quoted, or missing.
 *
 * Source of the formats: contrib/pg_test_fsync/pg_test_fsync.c of PostgreSQL 9.1 to 9.4, and
 * src/bin/pg_test_fsync/pg_test_fsync.c of 9.5 to 19.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_PG_TEST_FSYNC_REPORT_H
#define SP_PG_TEST_FSYNC_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/text/slice.h"

typedef enum sp_tool_section
{
	SP_TOOL_ONE_WRITE,
	SP_TOOL_TWO_WRITES,
	SP_TOOL_OPEN_SYNC_SIZES,
	SP_TOOL_NON_WRITE_DESCRIPTOR,
	SP_TOOL_UNSYNCED_WRITE,
	SP_TOOL_SECTIONS
} sp_tool_section;

#define SP_TOOL_METHODS		5	/* lines of each of the first two sections */
#define SP_TOOL_LINES		18

/* A line of the tool: what it measures. */
typedef struct sp_tool_line
{
	sp_tool_section section;
	const char *label;			/* as it is printed */
	const char *method;
	bool		opens_synced;	/* the file is opened with O_SYNC or O_DSYNC */
	int			write_size;		/* in bytes; 0: the block size of the report */
	int			writes_per_sync;
} sp_tool_line;

/* In the order in which they are printed. */
extern const sp_tool_line sp_tool_lines[SP_TOOL_LINES];

/* The test of a section, as in the pg_test_fsync suite. */
extern const char *const sp_tool_tests[SP_TOOL_SECTIONS];

typedef enum sp_tool_status
{
	SP_TOOL_MISSING,			/* no such line, or no figure in it */
	SP_TOOL_OK,
	SP_TOOL_UNSUPPORTED,		/* n/a */
	SP_TOOL_NO_DIRECT_IO		/* n/a*: the file system refuses O_DIRECT */
} sp_tool_status;

/* What a line says.  The numbers are finite and positive if the status is SP_TOOL_OK. */
typedef struct sp_tool_figure
{
	sp_tool_status status;
	double		ops_per_sec;
	double		mean_us;		/* the inverse of it, unless the line says it more exactly */
} sp_tool_figure;

typedef enum sp_tool_direct_io
{
	SP_TOOL_DIRECT_IO_UNKNOWN,
	SP_TOOL_DIRECT_IO,			/* the open_* methods use it */
	SP_TOOL_NO_DIRECT_IO_HERE	/* the platform has none */
} sp_tool_direct_io;

typedef struct sp_tool_report
{
	double		seconds;		/* per test; 0: not said */
	int64_t		operations;		/* per test, in 9.1; 0: not said */
	sp_tool_direct_io direct_io;
	int			block_size;		/* in bytes; 0: not said */
	sp_tool_figure figures[SP_TOOL_LINES];
} sp_tool_report;

/* Lines of the first two sections whose heading has not been read. */
typedef struct sp_tool_orphans
{
	int			groups;			/* 0, 1 or 2 */
	int			last;			/* of the last group */
	sp_tool_figure figures[2][SP_TOOL_METHODS];
} sp_tool_orphans;

/* Progress in a text.  Of its fields the caller may read not_understood. */
typedef struct sp_tool_reader
{
	sp_slice	rest;
	sp_slice	not_understood; /* the first such line; empty if there is none */
	sp_tool_report report;		/* what is being read */
	int			section;		/* the latest; -1: none yet */
	int			last;			/* the latest line with a figure; -1: none yet */
	sp_tool_orphans orphans;
} sp_tool_reader;

typedef enum sp_tool_step
{
	SP_TOOL_STEP_LINE,			/* a line has been read */
	SP_TOOL_STEP_REPORT,		/* and it ended a report */
	SP_TOOL_STEP_END			/* there is no more */
} sp_tool_step;

/* text need not be terminated, and must live as long as the reader is used. */
extern void sp_tool_reader_init(sp_tool_reader *reader, const char *text, size_t length);

/*
 * Read one line.  *report is set only if the result is SP_TOOL_STEP_REPORT; it has at least one
 * line then.  A text may have several reports.
 */
extern sp_tool_step sp_tool_read_line(sp_tool_reader *reader, sp_tool_report *report);

/* The number of lines of a report that are not missing. */
extern int	sp_tool_count(const sp_tool_report *report);

/* Longer than what sp_tool_missing() can say. */
#define SP_TOOL_MISSING_SIZE	2048

/* Say what a report lacks.  Returns false, and an empty text, if it is complete. */
extern bool sp_tool_missing(const sp_tool_report *report, char *text, size_t size);

#endif							/* SP_PG_TEST_FSYNC_REPORT_H */
