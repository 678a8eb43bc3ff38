/*-------------------------------------------------------------------------
 *
 * schema.c
 *		Create and drop the schema of a workload, and find leftover ones.
 *
 * A schema is ours if its name and its comment say so.  It is a leftover if no process
 * holds the lock of the ID in its name: the process that owns a schema holds that lock
 * until it exits.
 *
 * It must not: depend on search_path, which a user may have set, or end a transaction.
 *
 *-------------------------------------------------------------------------
 */
#include "workload/objects_internal.h"

#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/snapmgr.h"

#define MARKER \
	"Objects of a workload that sync_probe.pgbench() runs; if none is running, sync_probe.cleanup() drops them"

/* Execute SQL.  Errors that SPI returns are thrown, too. */
void
sp_schema_execute(const char *sql)
{
	int			result = SPI_execute(sql, false, 0);

	if (result == SPI_ERROR_TRANSACTION)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_TRANSACTION_TERMINATION),
				 errmsg("set-up and tear-down must not begin or end transactions"),
				 errdetail("Each of them is one transaction.")));
	if (result == SPI_ERROR_COPY)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("set-up and tear-down cannot COPY from STDIN or to STDOUT"),
				 errdetail("They run in a background worker, which has no client.")));
	if (result < 0)
		elog(ERROR, "SPI_execute failed: %s", SPI_result_code_string(result));
}

void
sp_schema_make(const char *schema)
{
	const char *name = quote_identifier(schema);

	sp_schema_execute(psprintf("CREATE SCHEMA %s", name));
	sp_schema_execute(psprintf("COMMENT ON SCHEMA %s IS %s", name, quote_literal_cstr(MARKER)));
}

/* Parameters: the schema as a literal, and the maximum number. */
#define DROPS_OF_RELATIONS \
	"SELECT pg_catalog.format('DROP %%s IF EXISTS %%I.%%I CASCADE;'," \
	" CASE WHEN c.relkind OPERATOR(pg_catalog.=) 'v' THEN 'VIEW'" \
	" WHEN c.relkind OPERATOR(pg_catalog.=) 'm' THEN 'MATERIALIZED VIEW'" \
	" WHEN c.relkind OPERATOR(pg_catalog.=) 'S' THEN 'SEQUENCE'" \
	" WHEN c.relkind OPERATOR(pg_catalog.=) 'f' THEN 'FOREIGN TABLE'" \
	" ELSE 'TABLE' END, n.nspname, c.relname)" \
	" FROM pg_catalog.pg_namespace n JOIN pg_catalog.pg_class c" \
	" ON c.relnamespace OPERATOR(pg_catalog.=) n.oid" \
	" WHERE n.nspname OPERATOR(pg_catalog.=) %s" \
	" AND c.relkind OPERATOR(pg_catalog.=) ANY ('{r,p,v,m,S,f}')" \
	" AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d" \
	" WHERE d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass" \
	" AND d.objid OPERATOR(pg_catalog.=) c.oid" \
	" AND d.deptype OPERATOR(pg_catalog.=) ANY ('{e,i}'))" \
	" ORDER BY c.relispartition DESC, c.oid DESC LIMIT %d"

/*
 * Drop at most max relations of the schema, and what depends on them.  Returns their
 * number, 0 if none is left.  Partitions come before their tables, so that no step is
 * larger than max.  Relations that belong to an extension or a column are dropped with
 * the schema.
 */
int
sp_schema_drop_relations(const char *schema, int max)
{
	uint64		count;
	StringInfoData drops;

	sp_schema_execute(psprintf(DROPS_OF_RELATIONS, quote_literal_cstr(schema), max));
	count = SPI_processed;
	initStringInfo(&drops);
	for (uint64 i = 0; i < count; i++)
		appendStringInfoString(&drops, SPI_getvalue(SPI_tuptable->vals[i], SPI_tuptable->tupdesc, 1));
	sp_schema_execute(drops.data);
	return (int) count;
}

void
sp_schema_drop(const char *schema)
{
	sp_schema_execute(psprintf("DROP SCHEMA IF EXISTS %s CASCADE", quote_identifier(schema)));
}

#define LEFTOVERS \
	"SELECT n.nspname FROM pg_catalog.pg_namespace n" \
	" WHERE n.nspname OPERATOR(pg_catalog.~) '^" SP_WORKLOAD_SCHEMA_PREFIX "[0-9a-f]{8}$'" \
	" AND pg_catalog.obj_description(n.oid, 'pg_namespace')" \
	" OPERATOR(pg_catalog.=) '" MARKER "'"

/*
 * The names of possible leftovers that the current user owns or may drop.  A schema is
 * a leftover only if the lock of its ID can be acquired.
 */
List *
sp_schema_leftovers(bool own_only, MemoryContext context)
{
	List	   *names = NIL;

	if (own_only)
		sp_schema_execute(psprintf(LEFTOVERS " AND n.nspowner OPERATOR(pg_catalog.=) %u", GetUserId()));
	else
		sp_schema_execute(LEFTOVERS " AND pg_catalog.pg_has_role(n.nspowner, 'USAGE')");
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		char	   *name = SPI_getvalue(SPI_tuptable->vals[i], SPI_tuptable->tupdesc, 1);
		MemoryContext old = MemoryContextSwitchTo(context);

		names = lappend(names, pstrdup(name));
		MemoryContextSwitchTo(old);
	}
	return names;
}

/* The ID in the name of one of our schemas. */
uint32
sp_schema_id(const char *schema)
{
	return (uint32) strtoul(schema + strlen(SP_WORKLOAD_SCHEMA_PREFIX), NULL, 16);
}
