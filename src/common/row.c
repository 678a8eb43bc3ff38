/*-------------------------------------------------------------------------
 *
 * row.c
 *		Rows of the extension's tables, filled by the names of their columns.
 *
 * It must not: know what a column means.
 *
 *-------------------------------------------------------------------------
 */
#include "common/common.h"

#include <math.h>

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"

/*
 * Text from the kernel may be in any encoding.  If it is invalid in that of the database, replace
 * all non-ASCII bytes with question marks.  Throws no error because of an encoding.
 */
char *
sp_valid_text(const char *text)
{
	char	   *copy = pstrdup(text);

	if (!pg_verifymbstr(copy, strlen(copy), true))
	{
		for (char *c = copy; *c; c++)
		{
			if (IS_HIGHBIT_SET(*c))
				*c = '?';
		}
	}
	return copy;
}

/* The same, but NULL if the text is empty or NULL. */
char *
sp_known_text(const char *text)
{
	return text == NULL || text[0] == '\0' ? NULL : sp_valid_text(text);
}

/* A row of that type.  A column is null until it is put. */
sp_row *
sp_row_make(TupleDesc type)
{
	sp_row	   *row = palloc(sizeof(sp_row));

	row->type = type;
	row->values = palloc(type->natts * sizeof(Datum));
	row->nulls = palloc(type->natts * sizeof(bool));
	memset(row->nulls, true, type->natts * sizeof(bool));
	return row;
}

/* A row that this function returns, as SQL declares it. */
sp_row *
sp_row_of_result(FunctionCallInfo fcinfo)
{
	TupleDesc	type;

	if (get_call_result_type(fcinfo, NULL, &type) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	return sp_row_make(BlessTupleDesc(type));
}

/*
 * Set a column by its name.  If the table has no such column of that type, it is of
 * another version of the extension, or a user has altered it.
 */
void
sp_row_put(sp_row *row, const char *column, Oid type, Datum value)
{
	int			number = SPI_fnumber(row->type, column);

	if (number <= 0 || SPI_gettypeid(row->type, number) != type)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of type %s is missing in table %s", column,
						format_type_be(type), format_type_be_qualified(row->type->tdtypeid)),
				 errdetail("The table must be as this version of the extension, %s, creates it.", SP_VERSION),
				 errhint(SP_UPDATE_HINT)));
	row->values[number - 1] = value;
	row->nulls[number - 1] = false;
}

/* A NULL pointer leaves the column null. */
void
sp_row_put_text(sp_row *row, const char *column, const char *value)
{
	if (value)
		sp_row_put(row, column, TEXTOID, CStringGetTextDatum(value));
}

void
sp_row_put_name(sp_row *row, const char *column, const char *value)
{
	if (value)
		sp_row_put(row, column, NAMEOID, DirectFunctionCall1(namein, CStringGetDatum(value)));
}

void
sp_row_put_int(sp_row *row, const char *column, Oid type, int64 value)
{
	sp_row_put(row, column, type,
			   type == INT8OID ? Int64GetDatum(value) : Int32GetDatum((int32) value));
}

/* Rounded to that many digits; NAN if it is not finite. */
double
sp_rounded(double value, int digits)
{
	double		scale = pow(10, digits);

	return isinf(value) ? NAN : rint(value * scale) / scale;
}

/* Rounded to that many digits; a value that is not finite stays null. */
void
sp_row_put_number(sp_row *row, const char *column, double value, int digits)
{
	double		rounded = sp_rounded(value, digits);

	if (!isnan(rounded))
		sp_row_put(row, column, FLOAT8OID, Float8GetDatum(rounded));
}

/* An array of n values; NAN becomes null. */
void
sp_row_put_doubles(sp_row *row, const char *column, const double *values, int n)
{
	Datum	   *datums = palloc(Max(n, 1) * sizeof(Datum));
	bool	   *nulls = palloc(Max(n, 1) * sizeof(bool));
	int			lower = 1;

	for (int i = 0; i < n; i++)
	{
		datums[i] = Float8GetDatum(values[i]);
		nulls[i] = isnan(values[i]);
	}
	sp_row_put(row, column, FLOAT8ARRAYOID,
			   PointerGetDatum(construct_md_array(datums, nulls, n > 0 ? 1 : 0, &n, &lower,
												  FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL,
												  TYPALIGN_DOUBLE)));
}

void
sp_row_put_interval(sp_row *row, const char *column, int64 us)
{
	Interval   *interval = palloc0(sizeof(Interval));

	interval->time = us;
	sp_row_put(row, column, INTERVALOID, IntervalPGetDatum(interval));
}

HeapTuple
sp_row_form(const sp_row *row)
{
	return heap_form_tuple(row->type, row->values, row->nulls);
}

static bool
is_null_in_all(HeapTuple *rows, int nrows, int column, TupleDesc type)
{
	for (int i = 0; i < nrows; i++)
	{
		if (!heap_attisnull(rows[i], column, type))
			return false;
	}
	return true;
}

/*
 * The columns that the rows fill.  All others get their defaults: generated columns, and
 * columns that a user has added.
 */
static char *
filled_columns(TupleDesc type, HeapTuple *rows, int nrows)
{
	StringInfoData columns;

	initStringInfo(&columns);
	for (int i = 0; i < type->natts; i++)
	{
		if (!is_null_in_all(rows, nrows, i + 1, type))
			appendStringInfo(&columns, "%s%s", columns.len > 0 ? ", " : "",
							 quote_identifier(NameStr(TupleDescAttr(type, i)->attname)));
	}
	return columns.data;
}

/* Insert rows, if any, into the table whose row type it is, as its owner. */
void
sp_history_insert(TupleDesc type, HeapTuple *rows, int nrows)
{
	Datum	   *datums;
	Oid			types[1] = {get_array_type(type->tdtypeid)};
	Datum		values[1];
	char	   *columns;

	/* a probe in which nothing could be measured has no samples */
	if (nrows == 0)
		return;
	columns = filled_columns(type, rows, nrows);
	datums = palloc(nrows * sizeof(Datum));
	for (int i = 0; i < nrows; i++)
		datums[i] = HeapTupleGetDatum(rows[i]);
	values[0] = PointerGetDatum(construct_array(datums, nrows, type->tdtypeid,
												-1, false, TYPALIGN_DOUBLE));
	/* the number of a run is known before its row is inserted */
	sp_spi_execute(psprintf("INSERT INTO %s (%s) OVERRIDING SYSTEM VALUE SELECT %s"
							" FROM unnest($1)",
							format_type_be_qualified(type->tdtypeid), columns, columns),
				   1, types, values, SP_AS_OWNER);
	SPI_finish();
}
