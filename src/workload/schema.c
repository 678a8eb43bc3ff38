/*-------------------------------------------------------------------------
 *
 * schema.c
 *		The schemas of workloads: which are ours, and which are left over.
 *
 * A schema is ours if its name and its comment say so.  It is a leftover for whoever holds the
 * cluster lock: a run holds that as long as it has a schema.
 *
 * It must not: depend on search_path, which a user may have set, or end a transaction.
 *
 *-------------------------------------------------------------------------
 */
#include "workload/workload.h"

#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#define MARKER \
	"Objects of a workload that sync_probe.pgbench() runs; if none is running, sync_probe.cleanup() drops them"

const char *
sp_schema_marker(void)
{
	return MARKER;
}

#define LEFTOVERS \
	"SELECT n.nspname FROM pg_catalog.pg_namespace n" \
	" WHERE n.nspname OPERATOR(pg_catalog.~) '^" SP_WORKLOAD_SCHEMA_PREFIX "[0-9a-f]{8}$'" \
	" AND pg_catalog.obj_description(n.oid, 'pg_namespace')" \
	" OPERATOR(pg_catalog.=) '" MARKER "'"

List *
sp_schema_leftovers(bool own_only)
{
	const char *sql = own_only ?
		psprintf(LEFTOVERS " AND n.nspowner OPERATOR(pg_catalog.=) %u", GetUserId()) :
		LEFTOVERS " AND pg_catalog.pg_has_role(n.nspowner, 'USAGE')";

	return sp_spi_column(sql, 0, NULL, NULL, NULL);
}

/* In one transaction, so that it fails if the lock table is too small for it. */
void
sp_schema_drop(const char *schema)
{
	sp_spi_execute(psprintf("DROP SCHEMA IF EXISTS %s CASCADE", quote_identifier(schema)),
				   0, NULL, NULL, NULL, SPI_OK_UTILITY);
	SPI_finish();
}
