/*-------------------------------------------------------------------------
 *
 * spi.c
 *		Access to the extension's own tables through SPI.
 *
 * A caller may probe without any right on the tables: reading and writing run
 * as their owner.
 *
 * It must not: execute text that a user has given.
 *
 *-------------------------------------------------------------------------
 */
#include "common/common.h"

#include <math.h>

#include "access/htup_details.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

/* Rows cannot be written on a standby or in a read-only transaction. */
bool
sp_record_possible(void)
{
	return !RecoveryInProgress() && !XactReadOnly;
}

/* A number rounded to what it is worth; null when it is none. */
void
sp_put_number(Datum *value, bool *null, double number, int digits)
{
	double		scale = pow(10, digits);

	*null = isnan(number) || isinf(number);
	*value = *null ? (Datum) 0 : Float8GetDatum(rint(number * scale) / scale);
}

/* The role to record as: the owner of the history. */
static Oid
history_owner(void)
{
	Oid			relation = get_relname_relid("runs", get_namespace_oid(SP_SCHEMA, false));
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));
	Oid			owner;

	if (!HeapTupleIsValid(tuple))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("table \"%s.runs\" does not exist", SP_SCHEMA),
				 errhint("Create the extension again: DROP EXTENSION pg_sync_probe; CREATE EXTENSION pg_sync_probe;")));
	owner = ((Form_pg_class) GETSTRUCT(tuple))->relowner;
	ReleaseSysCache(tuple);
	return owner;
}

/* The row type of one of the history's tables. */
TupleDesc
sp_history_row_type(const char *table)
{
	Oid			relation = get_relname_relid(table, get_namespace_oid(SP_SCHEMA, false));

	return lookup_rowtype_tupdesc_copy(get_rel_type_id(relation), -1);
}

/* Execute what must come out as expected (an SPI_OK_ code). */
void
sp_history_execute(const char *sql, int nargs, Oid *types, Datum *values, const char *nulls, int expected)
{
	int			result = SPI_execute_with_args(sql, nargs, types, values, nulls, false, 0);

	if (result != expected)
		elog(ERROR, "could not execute: %s: %s", sql, SPI_result_code_string(result));
}

/*
 * What SET search_path does for a function; AtEOXact_GUC() with what is returned
 * undoes it.
 */
int
sp_pin_search_path(void)
{
	int			nest_level = NewGUCNestLevel();

	(void) set_config_option("search_path", "pg_catalog, pg_temp", PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
	return nest_level;
}

/*
 * Call work(arg) inside SPI as the owner of the history, as the checks of
 * foreign keys run as the owner of their table.  Expressions and triggers that
 * somebody added to a table run as the owner, too: they find the server's own
 * functions first, and cannot change the session, as in maintenance commands
 * (see SECURITY_RESTRICTED_OPERATION in the server's miscinit.c).
 */
void
sp_as_history_owner(void (*work) (void *), void *arg)
{
	Oid			saved_user;
	int			saved_context;
	int			nest_level = sp_pin_search_path();

	GetUserIdAndSecContext(&saved_user, &saved_context);
	SetUserIdAndSecContext(history_owner(), saved_context | SECURITY_LOCAL_USERID_CHANGE |
						   SECURITY_RESTRICTED_OPERATION | SECURITY_NOFORCE_RLS);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	work(arg);
	SPI_finish();
	AtEOXact_GUC(false, nest_level);
	SetUserIdAndSecContext(saved_user, saved_context);
}

/* Of the one row that sp_history_execute() has found. */
Datum
sp_history_value(int column, bool *isnull)
{
	return SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, column, isnull);
}

/* The next number of one of the history's sequences; to be called as its owner. */
int64
sp_history_next_id(const char *sequence)
{
	bool		isnull;

	sp_history_execute(psprintf("SELECT pg_catalog.nextval('" SP_SCHEMA ".%s')", sequence),
					   0, NULL, NULL, NULL, SPI_OK_SELECT);
	return DatumGetInt64(sp_history_value(1, &isnull));
}

/* ------------------------------------------------------- rows of these tables */

/* A row of that type; every column is null until it is put. */
sp_row *
sp_row_make(TupleDesc type)
{
	sp_row	   *row = palloc(sizeof(sp_row));

	row->type = type;
	row->values = palloc0(type->natts * sizeof(Datum));
	row->nulls = palloc(type->natts * sizeof(bool));
	memset(row->nulls, true, type->natts * sizeof(bool));
	return row;
}

/*
 * Set a column by its name.  A table that lacks it, or has it as another type,
 * is of another version of the extension, or somebody altered it.
 */
void
sp_row_put(sp_row *row, const char *column, Oid type, Datum value)
{
	int			number = SPI_fnumber(row->type, column);

	if (number <= 0 || SPI_gettypeid(row->type, number) != type)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of type %s is missing in table \"%s.%s\"", column,
						format_type_be(type), SP_SCHEMA, format_type_be(row->type->tdtypeid)),
				 errhint("The table must be as the extension made it.")));
	row->values[number - 1] = value;
	row->nulls[number - 1] = false;
}

/* NULL stays null. */
void
sp_row_put_text(sp_row *row, const char *column, const char *value)
{
	if (value)
		sp_row_put(row, column, TEXTOID, CStringGetTextDatum(value));
}

void
sp_row_put_name(sp_row *row, const char *column, const char *value)
{
	NameData   *name = palloc(sizeof(NameData));

	namestrcpy(name, value);
	sp_row_put(row, column, NAMEOID, NameGetDatum(name));
}

void
sp_row_put_int(sp_row *row, const char *column, Oid type, int64 value)
{
	sp_row_put(row, column, type, type == INT8OID ? Int64GetDatum(value) : Int32GetDatum((int32) value));
}

/* Rounded to so many digits; what is no number stays null. */
void
sp_row_put_number(sp_row *row, const char *column, double value, int digits)
{
	Datum		rounded;
	bool		isnull;

	sp_put_number(&rounded, &isnull, value, digits);
	if (!isnull)
		sp_row_put(row, column, FLOAT8OID, rounded);
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

/* Generated columns are the table's own; dropped ones have no name any more. */
static char *
insertable_columns(TupleDesc type)
{
	StringInfoData columns;

	initStringInfo(&columns);
	for (int i = 0; i < type->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(type, i);

		if (!attribute->attisdropped && attribute->attgenerated == '\0')
			appendStringInfo(&columns, "%s%s", columns.len > 0 ? ", " : "",
							 quote_identifier(NameStr(attribute->attname)));
	}
	return columns.data;
}

/* Insert rows of the table's own row type; to be called as its owner. */
void
sp_history_insert(const char *table, TupleDesc type, HeapTuple *rows, int nrows)
{
	Datum	   *datums = palloc(nrows * sizeof(Datum));
	Oid			types[1] = {get_array_type(type->tdtypeid)};
	Datum		values[1];
	char	   *columns = insertable_columns(type);

	for (int i = 0; i < nrows; i++)
		datums[i] = HeapTupleGetDatum(rows[i]);
	values[0] = PointerGetDatum(construct_array(datums, nrows, type->tdtypeid,
												-1, false, TYPALIGN_DOUBLE));
	sp_history_execute(psprintf("INSERT INTO %s.%s (%s) SELECT %s FROM pg_catalog.unnest($1)",
								SP_SCHEMA, table, columns, columns),
					   1, types, values, NULL, SPI_OK_INSERT);
}
