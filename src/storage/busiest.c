/*-------------------------------------------------------------------------
 *
 * busiest.c
 *		The tablespace with the most blocks fetched, for the finding wal_shares_device.
 *
 * The statistics of a database count for its default tablespace; relations elsewhere are known of
 * this database alone.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_class.h"
#include "catalog/pg_database.h"
#include "commands/tablespace.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/hsearch.h"

#include "compat.h"

typedef struct fetched
{
	Oid			tablespace;		/* the key */
	int64		blocks;
} fetched;

static void
add_blocks(HTAB *all, Oid tablespace, int64 blocks)
{
	bool		found;
	fetched    *here = hash_search(all, &tablespace, HASH_ENTER, &found);

	here->blocks = blocks + (found ? here->blocks : 0);
}

/* counted: the function of the server that counts what was fetched of an object. */
static int64
blocks_of(PGFunction counted, Oid object)
{
	return DatumGetInt64(DirectFunctionCall1(counted, ObjectIdGetDatum(object)));
}

/*
 * sync_probe_internal.busiest_tablespace(): of several the one with the lowest OID.
 *
 * In C, since to plan such a query took a twentieth of the first findings of a session.
 */
PG_FUNCTION_INFO_V1(sync_probe_busiest_tablespace);
Datum
sync_probe_busiest_tablespace(PG_FUNCTION_ARGS)
{
	HASHCTL		layout = {.keysize = sizeof(Oid), .entrysize = sizeof(fetched),
	.hcxt = CurrentMemoryContext};
	HTAB	   *all = hash_create("blocks of tablespaces", 16, &layout,
								  HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	fetched		busiest = {InvalidOid, PG_INT64_MIN};
	fetched    *here;
	HASH_SEQ_STATUS status;
	Relation	catalog;
	SysScanDesc scan;
	HeapTuple	tuple;
	const char *name;

	catalog = table_open(DatabaseRelationId, AccessShareLock);
	scan = systable_beginscan(catalog, InvalidOid, false, NULL, 0, NULL);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_database database = (Form_pg_database) GETSTRUCT(tuple);

		add_blocks(all, database->dattablespace,
				   blocks_of(pg_stat_get_db_blocks_fetched, database->oid));
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);

	/* what is elsewhere in this database; in other databases it cannot be seen */
	catalog = table_open(RelationRelationId, AccessShareLock);
	scan = systable_beginscan(catalog, InvalidOid, false, NULL, 0, NULL);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_class relation = (Form_pg_class) GETSTRUCT(tuple);

		if (OidIsValid(relation->reltablespace) && !relation->relisshared)
		{
			int64		blocks = blocks_of(sp_blocks_fetched(relation->relkind), relation->oid);

			add_blocks(all, relation->reltablespace, blocks);
			add_blocks(all, MyDatabaseTableSpace, -blocks);
		}
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);

	hash_seq_init(&status, all);
	while ((here = hash_seq_search(&status)) != NULL)
	{
		if (here->blocks > busiest.blocks ||
			(here->blocks == busiest.blocks && here->tablespace < busiest.tablespace))
			busiest = *here;
	}
	/* it may have been dropped meanwhile */
	name = get_tablespace_name(busiest.tablespace);
	if (name == NULL)
		PG_RETURN_NULL();
	PG_RETURN_DATUM(DirectFunctionCall1(namein, CStringGetDatum(name)));
}
