/*-------------------------------------------------------------------------
 *
 * scripts.c
 *		Read a workload, and check the variables in its script.
 *
 * The row is read as the owner of the history, so that a role can run a builtin
 * workload without SELECT on the table.
 *
 * It must not: execute a script.
 *
 *-------------------------------------------------------------------------
 */
#include "workload/workload.h"

#include "catalog/pg_type.h"
#include "commands/tablespace.h"
#include "executor/spi.h"
#include "utils/builtins.h"

static char *
text_column(MemoryContext context, const char *column)
{
	int			number = SPI_fnumber(SPI_tuptable->tupdesc, column);
	char	   *value;

	if (number <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" is missing in table %s.workloads", column, SP_SCHEMA),
				 errhint(SP_UPDATE_HINT)));
	value = SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, number);
	return value ? MemoryContextStrdup(context, value) : NULL;
}

static void
complain_unknown(const char *name)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("unrecognized workload \"%s\"", name),
			 strcmp(name, "sql_bench") == 0 ?
			 errhint("It is a suite; run it with CALL sync_probe.sql_bench('{pg_default}');") :
			 OidIsValid(get_tablespace_oid(name, true)) ?
			 errhint("It is a tablespace; pass it as tablespace => %s.", quote_literal_cstr(name)) :
			 errhint("See SELECT workload, description FROM sync_probe.workloads. To add a workload, insert a row.")));
}

/* The row with workload->name; an error if there is none. */
void
sp_workload_find(sp_workload *workload)
{
	MemoryContext context = CurrentMemoryContext;
	Oid			types[] = {NAMEOID};
	Datum		values[] = {NameGetDatum(&workload->name)};
	char	   *transactions;

	/* a builtin one that a later version has brought may have the name of a user's */
	sp_spi_execute("SELECT * FROM " SP_SCHEMA ".workloads"
				   " WHERE workload = $1 ORDER BY builtin DESC LIMIT 1",
				   lengthof(types), types, values, SP_AS_OWNER);
	if (SPI_processed == 0)
		complain_unknown(NameStr(workload->name));
	namestrcpy(&workload->suite, text_column(context, "suite"));
	workload->setup = text_column(context, "setup");
	workload->script = text_column(context, "script");
	workload->teardown = text_column(context, "teardown");
	workload->protocol = text_column(context, "protocol");
	workload->new_connections = text_column(context, "new_connections")[0] == 't';
	workload->builtin = text_column(context, "builtin")[0] == 't';
	transactions = text_column(context, "transactions");
	workload->transactions = transactions ? pg_strtoint32(transactions) : 0;
	SPI_finish();
}

/*
 * The first variable of a script that nobody defines.  As pgbench does, this looks for names
 * behind a colon everywhere, in quotes and comments, too.  The names that \gset and \aset
 * define are columns of results, which are not known here.
 */
#define UNDEFINED_VARIABLE \
	"SELECT m[1] FROM regexp_matches($1, E'(?<!:):([[:alpha:]_]\\\\w*)', 'g') AS m" \
	" WHERE m[1] <> ALL (string_to_array($2, ' ')) AND $1 !~* E'\\\\\\\\[ga]set'" \
	" AND $1 !~* (E'\\\\\\\\set(shell)?\\\\s+' || m[1] || E'\\\\M') LIMIT 1"

/*
 * pgbench replaces an undefined variable with null, and would measure something else.
 * With protocol simple it passes the name to the server, where it may be valid, as n is
 * in the slice [1:n].
 */
void
sp_workload_check_variables(const sp_workload_run *run)
{
	const sp_workload *workload = &run->workload;
	const char *defined =
		"schema tablespace rows client_id default_seed iteration random_seed scale";
	Oid			types[] = {TEXTOID, TEXTOID};
	Datum		values[] = {
		CStringGetTextDatum(workload->script),
		CStringGetTextDatum(run->transactions > 0 ? psprintf("%s transactions", defined) : defined)
	};
	List	   *undefined;

	if (strcmp(workload->protocol, "simple") == 0)
		return;
	undefined = sp_spi_column(UNDEFINED_VARIABLE, lengthof(types), types, values,
							  SP_AS_CALLER);
	if (undefined)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("variable \":%s\" in the script of workload \"%s\" is not defined",
						(char *) linitial(undefined), NameStr(workload->name)),
				 errhint("Valid variables are :schema, :tablespace, :rows, :transactions if their number is given, those of pgbench such as :client_id, and those that \\set defines. A slice needs a blank: [1: n].")));
}
