/*-------------------------------------------------------------------------
 *
 * tool_report_function.c
 *		sync_probe.import_pg_test_fsync(): record what the program pg_test_fsync has printed.
 *
 * A run gets only what the text says.  Where it was measured, on what, and by which server is
 * unknown, so these columns are null.
 *
 * It must not: run that program, or take anything of this server for the run's.
 *
 *-------------------------------------------------------------------------
 */
#include "probe/probe.h"

#include <math.h>

#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_type.h"
#include "engine/pg_test_fsync/pg_test_fsync.h"
#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#include "compat.h"

/* What is printed in a day.  Somebody who passes more has probably passed the wrong text. */
#define MAX_REPORTS		1000

/* Of a line that is shown in a message. */
#define MAX_SHOWN_BYTES	80

/* The arguments, in order. */
enum
{
	ARG_REPORT,
	ARG_LABEL
};

typedef struct import
{
	const char *label;
	int			nreports;
	sp_tool_report *reports;
	int64	   *run_ids;
	TupleDesc	run_type;
	TupleDesc	measurement_type;
	HeapTuple  *runs;
	HeapTuple  *measurements;
	int			nmeasurements;
} import;

/* ------------------------------------------------------------------ the text */

static void
check_recordable(void)
{
	if (!sp_record_possible())
		ereport(ERROR,
				(errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
				 errmsg(RecoveryInProgress() ? "cannot record a report on a standby"
						: "cannot record a report in a read-only transaction"),
				 errhint(RecoveryInProgress() ? "Import it on the primary."
						 : "Import it in a transaction that may write.")));
}

/* A line for a message: not too long, and in one line whatever it holds. */
static char *
shown_line(sp_slice line)
{
	int			length = pg_mbcliplen(line.start, (int) Min(line.length, MaxAllocSize),
									  MAX_SHOWN_BYTES);
	char	   *shown = palloc(length + 4);

	memcpy(shown, line.start, length);
	strcpy(shown + length, (size_t) length < line.length ? "..." : "");
	for (char *c = shown; *c; c++)
	{
		if ((unsigned char) *c < ' ' || *c == 0x7f)
			*c = ' ';
	}
	return shown;
}

static void
refuse_text(sp_slice text, sp_slice not_understood)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
			 errmsg("the text holds no report of pg_test_fsync"),
			 not_understood.length > 0
			 ? errdetail("The first line that was not understood is \"%s\".",
						 shown_line(not_understood))
			 : text.length == 0 ? errdetail("It is empty.")
			 : errdetail("It has no line with a figure of which the section is known."),
			 errhint("Pass the output of the program itself, with its headings, best in English "
					 "(LC_ALL=C pg_test_fsync); not the name of a file.")));
}

static void
add_report(import *work, const sp_tool_report *report, int *allocated)
{
	if (work->nreports == MAX_REPORTS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the text holds more than %d reports of pg_test_fsync", MAX_REPORTS),
				 errhint("Import it in parts.")));
	if (work->nreports == *allocated)
	{
		*allocated = Min(*allocated * 2, MAX_REPORTS);
		work->reports = repalloc(work->reports, *allocated * sizeof(sp_tool_report));
	}
	work->reports[work->nreports++] = *report;
}

static void
read_reports(import *work, sp_slice text)
{
	sp_tool_reader reader;
	sp_tool_report report;
	sp_tool_step step;
	int			allocated = 4;

	work->reports = palloc(allocated * sizeof(sp_tool_report));
	sp_tool_reader_init(&reader, text.start, text.length);
	while ((step = sp_tool_read_line(&reader, &report)) != SP_TOOL_STEP_END)
	{
		CHECK_FOR_INTERRUPTS();
		if (step == SP_TOOL_STEP_REPORT)
			add_report(work, &report, &allocated);
	}
	if (work->nreports == 0)
		refuse_text(text, reader.not_understood);
}

/* ------------------------------------------------------------------- the rows */

static HeapTuple
imported_run(const import *work, int r)
{
	sp_row	   *row = sp_row_make(work->run_type);

	sp_row_put_int(row, "run_id", INT8OID, work->run_ids[r]);
	sp_row_put_text(row, "label", work->label);
	sp_row_put_text(row, "suite", "pg_test_fsync");
	sp_row_put(row, "imported_at", TIMESTAMPTZOID,
			   TimestampTzGetDatum(GetCurrentTransactionStartTimestamp()));
	return sp_row_form(row);
}

static const char *
status_name(sp_tool_status status)
{
	switch (status)
	{
		case SP_TOOL_OK:
			return sp_status_name(SP_OK);
		case SP_TOOL_NO_DIRECT_IO:
			return sp_status_name(SP_NO_DIRECT_IO);
		case SP_TOOL_UNSUPPORTED:
		case SP_TOOL_MISSING:
			break;
	}
	return sp_status_name(SP_UNSUPPORTED);
}

/* The head of a report says it, or a line that failed for it. */
static void
put_direct_io(sp_row *row, const sp_tool_report *report, int line)
{
	bool		opens_synced = sp_tool_lines[line].opens_synced;

	if (opens_synced && report->direct_io == SP_TOOL_DIRECT_IO_UNKNOWN &&
		report->figures[line].status != SP_TOOL_NO_DIRECT_IO)
		return;
	sp_row_put(row, "direct_io", BOOLOID,
			   BoolGetDatum(opens_synced && report->direct_io != SP_TOOL_NO_DIRECT_IO_HERE));
}

/* As in other rows, unless it would then print as another number of microseconds. */
static double
rounded_us(double us)
{
	double		rounded = sp_rounded(us, 3);

	return rint(rounded) == rint(us) ? rounded : us;
}

/* A line keeps its place in the suite, whatever else is missing. */
static HeapTuple
imported_line(const import *work, int r, int line)
{
	const sp_tool_report *report = &work->reports[r];
	const sp_tool_figure *figure = &report->figures[line];
	const sp_tool_line *kind = &sp_tool_lines[line];
	int			write_size = kind->write_size > 0 ? kind->write_size : report->block_size;
	sp_row	   *row = sp_row_make(work->measurement_type);

	sp_row_put_int(row, "run_id", INT8OID, work->run_ids[r]);
	sp_row_put_int(row, "ordinal", INT4OID, line + 1);
	sp_row_put_text(row, "test", sp_tool_tests[kind->section]);
	sp_row_put_text(row, "method", kind->method);
	sp_row_put_text(row, "status", status_name(figure->status));
	put_direct_io(row, report, line);
	if (write_size > 0)
		sp_row_put_int(row, "write_size", INT4OID, write_size);
	sp_row_put_int(row, "writes_per_sync", INT4OID, kind->writes_per_sync);
	if (figure->status == SP_TOOL_OK)
	{
		sp_row_put(row, "ops_per_sec", FLOAT8OID, Float8GetDatum(figure->ops_per_sec));
		sp_row_put(row, "mean_us", FLOAT8OID, Float8GetDatum(rounded_us(figure->mean_us)));
		if (report->operations > 0)
			sp_row_put_int(row, "ops", INT8OID, report->operations);
	}
	return sp_row_form(row);
}

static void
make_rows(import *work)
{
	work->run_type = sp_history_row_type("runs");
	work->measurement_type = sp_history_row_type("measurements");
	work->run_ids = palloc(work->nreports * sizeof(int64));
	work->runs = palloc(work->nreports * sizeof(HeapTuple));
	work->measurements = palloc(work->nreports * SP_TOOL_LINES * sizeof(HeapTuple));
	for (int r = 0; r < work->nreports; r++)
	{
		CHECK_FOR_INTERRUPTS();
		work->run_ids[r] = sp_history_next_id("runs_run_id_seq");
		work->runs[r] = imported_run(work, r);
		for (int line = 0; line < SP_TOOL_LINES; line++)
		{
			if (work->reports[r].figures[line].status != SP_TOOL_MISSING)
				work->measurements[work->nmeasurements++] = imported_line(work, r, line);
		}
	}
}

static void
insert_imported(void *arg)
{
	import	   *work = arg;

	sp_history_insert("runs", work->run_type, work->runs, work->nreports);
	sp_history_insert("measurements", work->measurement_type, work->measurements,
					  work->nmeasurements);
}

static void
return_rows(const import *work, ReturnSetInfo *result)
{
#define IMPORT_COLUMNS 3
	for (int r = 0; r < work->nreports; r++)
	{
		Datum		values[IMPORT_COLUMNS] = {0};
		bool		nulls[IMPORT_COLUMNS] = {0};
		char		missing[SP_TOOL_MISSING_SIZE];
		int			i = 0;

		values[i++] = Int64GetDatum(work->run_ids[r]);
		values[i++] = Int32GetDatum(sp_tool_count(&work->reports[r]));
		nulls[i] = !sp_tool_missing(&work->reports[r], missing, sizeof(missing));
		values[i++] = CStringGetTextDatum(missing);
		Assert(i == IMPORT_COLUMNS);
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
}

/*
 * sync_probe.import_pg_test_fsync(report text, label text)
 *		RETURNS TABLE (run_id bigint, test_cases integer, missing text)
 */
SP_FUNCTION(sync_probe_import_pg_test_fsync,
			"text, text -> SETOF run_id int8, test_cases int4, missing text")
{
	import		work = {0};
	text	   *report;

	if (PG_ARGISNULL(ARG_REPORT))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"report\" must not be null"),
				 errhint("Pass the output of the program pg_test_fsync.")));
	work.label = sp_label_argument(fcinfo, ARG_LABEL);
	check_recordable();
	report = PG_GETARG_TEXT_PP(ARG_REPORT);
	read_reports(&work, (sp_slice) {VARDATA_ANY(report), VARSIZE_ANY_EXHDR(report)});
	make_rows(&work);
	InitMaterializedSRF(fcinfo, 0);
	sp_as_history_owner(insert_imported, &work);
	return_rows(&work, (ReturnSetInfo *) fcinfo->resultinfo);
	return (Datum) 0;
}
