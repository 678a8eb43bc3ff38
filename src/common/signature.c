/*-------------------------------------------------------------------------
 *
 * signature.c
 *		Is a function declared in SQL as this library expects?
 *
 * A new package replaces the library at once.  The functions in SQL stay as they are until
 * ALTER EXTENSION UPDATE, and a session goes on with the library that it has loaded.  So
 * SQL and library may be of different versions.  Too few arguments, or others, would be
 * read from memory that does not hold them.
 *
 * It must not: refuse what only differs in names of arguments or in defaults.
 *
 *-------------------------------------------------------------------------
 */
#include "common/common.h"

#include "access/htup_details.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/syscache.h"

/* As in pg_type: format_type() would depend on search_path. */
static void
append_type(StringInfo text, Oid type)
{
	Oid			element = get_element_type(type);
	Oid			base = OidIsValid(element) ? element : type;
	HeapTuple	tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(base));
	Form_pg_type form;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for type %u", base);
	form = (Form_pg_type) GETSTRUCT(tuple);
	if (form->typnamespace != PG_CATALOG_NAMESPACE)
		appendStringInfo(text, "%s.", get_namespace_name(form->typnamespace));
	appendStringInfo(text, "%s%s", NameStr(form->typname), OidIsValid(element) ? "[]" : "");
	ReleaseSysCache(tuple);
}

static bool
is_input(const char *modes, int i)
{
	return modes == NULL || strchr("ibv", modes[i]) != NULL;
}

static bool
is_output(const char *modes, int i)
{
	return modes != NULL && strchr("obt", modes[i]) != NULL;
}

/* The function as the comment on sp_check_signature() describes it. */
static char *
declared_signature(HeapTuple function)
{
	Form_pg_proc form = (Form_pg_proc) GETSTRUCT(function);
	Oid		   *types;
	char	  **names;
	char	   *modes;
	int			n = get_func_arg_info(function, &types, &names, &modes);
	int			columns = 0;
	StringInfoData text;

	initStringInfo(&text);
	for (int i = 0; i < n; i++)
	{
		if (!is_input(modes, i))
			continue;
		if (text.len > 0)
			appendStringInfoString(&text, ", ");
		append_type(&text, types[i]);
	}
	appendStringInfo(&text, "%s-> %s", text.len > 0 ? " " : "", form->proretset ? "SETOF " : "");
	for (int i = 0; i < n; i++)
	{
		if (!is_output(modes, i))
			continue;
		appendStringInfo(&text, "%s%s ", columns++ > 0 ? ", " : "", names ? names[i] : "");
		append_type(&text, types[i]);
	}
	if (columns == 0)
		append_type(&text, form->prorettype);
	if (form->proisstrict)
		appendStringInfoString(&text, " STRICT");
	return text.data;
}

/*
 * An error unless the function that is called has this signature: types of the arguments,
 * "->", SETOF, the type of the result or names and types of its columns, STRICT.  Looked
 * at once for each place in a query.
 */
void
sp_check_signature(FunctionCallInfo fcinfo, const char *expected)
{
	static char checked;
	Oid			oid = fcinfo->flinfo->fn_oid;
	HeapTuple	function;
	char	   *declared;

	if (fcinfo->flinfo->fn_extra == &checked)
		return;
	function = SearchSysCache1(PROCOID, ObjectIdGetDatum(oid));
	if (!HeapTupleIsValid(function))
		elog(ERROR, "cache lookup failed for function %u", oid);
	declared = declared_signature(function);
	ReleaseSysCache(function);
	if (strcmp(declared, expected) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("function %s does not fit this library of pg_sync_probe, which is version %s",
						format_procedure(oid), SP_VERSION),
				 errdetail("It is declared as \"%s\", the library expects \"%s\".", declared, expected),
				 errhint(SP_UPDATE_HINT)));
	pfree(declared);
	fcinfo->flinfo->fn_extra = &checked;
}
