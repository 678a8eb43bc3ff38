/*-------------------------------------------------------------------------
 *
 * scripts.c
 *		Read a workload, and replace the variables in its scripts.
 *
 * The row is read as the owner of the history, so that a role can run a builtin
 * workload without SELECT on the table.
 *
 * It must not: execute a script.  Each value must be quoted for both pgbench and SQL.
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
	char	   *author_oid;
	char	   *transactions;

	/* a user's row before a builtin one that a later version of the extension has brought */
	sp_history_execute("SELECT *, pg_catalog.count(*) OVER () OPERATOR(pg_catalog.>) 1 AS hides_builtin"
					   " FROM " SP_SCHEMA ".workloads WHERE workload OPERATOR(pg_catalog.=) $1"
					   " ORDER BY builtin LIMIT 1",
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
	workload->hides_builtin = is_true(lookup, "hides_builtin");
	namestrcpy(&workload->author, text_column(lookup, "author"));
	author_oid = text_column(lookup, "author_oid");
	workload->author_oid = author_oid ? strtoul(author_oid, NULL, 10) : InvalidOid;
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
 * Quote an identifier or a string for SQL.  pgbench ignores quotes and would replace a
 * :word inside them, so a colon becomes a Unicode escape.
 */
static const char *
quoted(const char *value, char quote)
{
	StringInfoData text;

	if (strchr(value, ':') == NULL)
		return quote == '"' ? quote_identifier(value) : quote_literal_cstr(value);
	initStringInfo(&text);
	appendStringInfo(&text, "U&%c", quote);
	for (; *value; value++)
	{
		if (*value == ':')
			appendStringInfoString(&text, "\\003A");
		else
		{
			if (*value == quote || *value == '\\')
				appendStringInfoChar(&text, *value);
			appendStringInfoChar(&text, *value);
		}
	}
	appendStringInfoChar(&text, quote);
	return text.data;
}

static void
set_variable(sp_script_variable *variable, const char *name, const char *value, bool is_number)
{
	variable->name = name;
	variable->plain = is_number ? value : quoted(value, '"');
	variable->literal = quoted(value, '\'');
	variable->identifier = quoted(value, '"');
}

static char *
with_values(const sp_workload_run *run, const char *script)
{
	sp_script_variable variables[4];
	int			n = 0;
	Size		size;
	char	   *replaced;

	if (script == NULL)
		return NULL;
	set_variable(&variables[n++], "schema", NameStr(run->schema), false);
	set_variable(&variables[n++], "tablespace", NameStr(run->tablespace), false);
	set_variable(&variables[n++], "rows", psprintf("%d", run->rows), true);
	if (run->transactions > 0)
		set_variable(&variables[n++], "transactions", psprintf("%d", run->transactions), true);

	size = sp_script_replace(script, variables, n, NULL, 0) + 1;
	replaced = palloc(size);
	(void) sp_script_replace(script, variables, n, replaced, size);
	return replaced;
}

/*
 * pgbench replaces an undefined variable with null, and would measure something else.
 * With protocol simple it passes the name to the server, where it may be valid, as n is
 * in the slice [1:n].
 */
static void
check_variables(const sp_workload *workload)
{
	static const char *const known[] = {
		"client_id", "default_seed", "iteration", "random_seed", "scale", NULL
	};
	char		name[NAMEDATALEN];

	if (strcmp(workload->protocol, "simple") != 0 &&
		sp_script_unknown_variable(workload->script, known, name, sizeof(name)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("variable \":%s\" in the script of workload \"%s\" is not defined",
						sp_valid_text(name), NameStr(workload->name)),
				 errhint("Valid variables are :schema, :tablespace, :rows, :transactions if their number is given, those of pgbench such as :client_id, and those that \\set defines. A slice needs a blank: [1: n].")));
}

/*
 * The search_path of the sessions.  Builtin scripts do not trust "public", where other
 * users may have created functions that match better than those of pg_catalog.
 */
static char *
search_path_of(const sp_workload_run *run)
{
	const char *others = run->search_path ? run->search_path :
		run->workload.builtin ? "pg_temp" : "\"$user\", public";

	/* only white space: no other schema */
	if (others[strspn(others, " \t\n\r\f\v")] == '\0')
		return pstrdup(quote_identifier(NameStr(run->schema)));
	return psprintf("%s, %s", quote_identifier(NameStr(run->schema)), others);
}

/* Replace the variables in the scripts, and complete search_path. */
void
sp_workload_fill_in(sp_workload_run *run)
{
	sp_workload *workload = &run->workload;

	workload->setup = with_values(run, workload->setup);
	workload->script = with_values(run, workload->script);
	workload->teardown = with_values(run, workload->teardown);
	check_variables(workload);
	run->search_path = search_path_of(run);
}
