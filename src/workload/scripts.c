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
#include "utils/memutils.h"

/* -------------------------------------------------------------- the workload */

/* The search for a row of sync_probe.workloads. */
typedef struct lookup
{
	sp_workload *workload;
	MemoryContext context;		/* of its strings */
	bool		found;
} lookup;

static char *
text_column(const lookup *lookup, const char *column)
{
	int			number = SPI_fnumber(SPI_tuptable->tupdesc, column);
	char	   *value;

	if (number <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" is missing in table %s.workloads", column, SP_SCHEMA),
				 errhint(SP_UPDATE_HINT)));
	value = SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, number);
	return value ? MemoryContextStrdup(lookup->context, value) : NULL;
}

static bool
is_true(const lookup *lookup, const char *column)
{
	return strcmp(text_column(lookup, column), "t") == 0;
}

static void
read_workload(void *arg)
{
	lookup	   *lookup = arg;
	sp_workload *workload = lookup->workload;
	Oid			types[] = {NAMEOID};
	Datum		values[] = {NameGetDatum(&workload->name)};
	char	   *transactions;

	/* a builtin one that a later version has brought may have the name of a user's */
	sp_spi_execute("SELECT * FROM " SP_SCHEMA ".workloads"
				   " WHERE workload OPERATOR(pg_catalog.=) $1 ORDER BY builtin DESC LIMIT 1",
				   lengthof(types), types, values, NULL, SPI_OK_SELECT);
	if ((lookup->found = SPI_processed == 1) == false)
		return;
	namestrcpy(&workload->suite, text_column(lookup, "suite"));
	workload->setup = text_column(lookup, "setup");
	workload->script = text_column(lookup, "script");
	workload->teardown = text_column(lookup, "teardown");
	workload->protocol = text_column(lookup, "protocol");
	workload->new_connections = is_true(lookup, "new_connections");
	workload->builtin = is_true(lookup, "builtin");
	transactions = text_column(lookup, "transactions");
	workload->transactions = transactions ? pg_strtoint32(transactions) : 0;
}

/* The row with workload->name; an error if there is none. */
void
sp_workload_find(sp_workload *workload)
{
	lookup		lookup = {.workload = workload, .context = CurrentMemoryContext};

	sp_as_history_owner(read_workload, &lookup);
	if (!lookup.found)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("unrecognized workload \"%s\"", NameStr(workload->name)),
				 strcmp(NameStr(workload->name), "sql_bench") == 0 ?
				 errhint("It is a suite; run it with CALL sync_probe.sql_bench('{pg_default}');") :
				 OidIsValid(get_tablespace_oid(NameStr(workload->name), true)) ?
				 errhint("It is a tablespace; pass it as tablespace => %s.", quote_literal_cstr(NameStr(workload->name))) :
				 errhint("See SELECT workload, description FROM sync_probe.workloads. To add a workload, insert a row.")));
}

/* ---------------------------------------------------------------- the scripts */

/*
 * The first variable of a script that nobody defines.  As pgbench does, this looks for names
 * behind a colon everywhere, in quotes and comments, too.  The names that \gset and \aset
 * define are columns of results, which are not known here.
 */
#define UNDEFINED_VARIABLE \
	"SELECT m[1] FROM pg_catalog.regexp_matches($1, '(?<!:):([[:alpha:]_]\\w*)', 'g') AS m" \
	" WHERE m[1] OPERATOR(pg_catalog.<>) ALL (pg_catalog.string_to_array($2, ' '))" \
	" AND $1 OPERATOR(pg_catalog.!~*) ('\\\\set(shell)?\\s+' OPERATOR(pg_catalog.||) m[1]" \
	" OPERATOR(pg_catalog.||) '\\M')" \
	" AND $1 OPERATOR(pg_catalog.!~*) '\\\\[ga]set' LIMIT 1"

/*
 * pgbench replaces an undefined variable with null, and would measure something else.
 * With protocol simple it passes the name to the server, where it may be valid, as n is
 * in the slice [1:n].
 */
void
sp_workload_check_variables(const sp_workload_run *run)
{
	const sp_workload *workload = &run->workload;
	const char *defined = "schema tablespace rows client_id default_seed iteration random_seed scale";
	Oid			types[] = {TEXTOID, TEXTOID};
	Datum		values[] = {
		CStringGetTextDatum(workload->script),
		CStringGetTextDatum(run->transactions > 0 ? psprintf("%s transactions", defined) : defined)
	};

	if (strcmp(workload->protocol, "simple") == 0)
		return;
	sp_spi_connect();
	sp_spi_execute(UNDEFINED_VARIABLE, lengthof(types), types, values, NULL, SPI_OK_SELECT);
	if (SPI_processed > 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("variable \":%s\" in the script of workload \"%s\" is not defined",
						SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1),
						NameStr(workload->name)),
				 errhint("Valid variables are :schema, :tablespace, :rows, :transactions if their number is given, those of pgbench such as :client_id, and those that \\set defines. A slice needs a blank: [1: n].")));
	SPI_finish();
}
