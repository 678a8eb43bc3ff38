/*-------------------------------------------------------------------------
 *
 * location.c
 *		The locations that can be probed: pg_wal and all tablespaces.
 *
 * A user gives a location by name, never by path.  So no user can make the server
 * write into a directory outside the cluster.
 *
 *-------------------------------------------------------------------------
 */
#include "storage/storage.h"

#include <ctype.h>
#include <sys/stat.h>

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_tablespace.h"
#include "commands/tablespace.h"
#include "common/relpath.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"

#define PG_WAL	"pg_wal"

static void
set_location(sp_location *location, const char *name, Oid tablespace)
{
	namestrcpy(&location->name, name);
	location->tablespace = tablespace;
	if (!OidIsValid(tablespace))
		strlcpy(location->directory, PG_WAL, sizeof(location->directory));
	else if (tablespace == DEFAULTTABLESPACE_OID)
		strlcpy(location->directory, "base", sizeof(location->directory));
	else
	{
		/* not by snprintf(), see device_of() */
		char	   *number = stpcpy(location->directory, "pg_tblspc/");

		number[pg_ultoa_n(tablespace, number)] = '\0';
	}
}

/*
 * Find a location by name.  No tablespace can have the name pg_wal, since names that
 * begin with pg_ are reserved.
 */
void
sp_location_find(const char *name, sp_location *location)
{
	Oid			tablespace;

	if (strcmp(name, PG_WAL) == 0)
	{
		set_location(location, name, InvalidOid);
		return;
	}

	tablespace = get_tablespace_oid(name, true);
	if (tablespace == GLOBALTABLESPACE_OID)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("location \"%s\" cannot be probed", name),
				 errhint("It holds only shared catalogs. Probe \"pg_default\", which is on the same file system.")));
	if (!OidIsValid(tablespace))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("location \"%s\" does not exist", name),
				 errdetail("A location is \"pg_wal\" or the name of a tablespace, never a path."),
				 isdigit((unsigned char) name[0]) ?
				 errhint("It was taken as the location. For a time: duration => '%s'.", name) :
				 pg_strcasecmp(name, PG_WAL) == 0 ?
				 errhint("Write it in lower case: \"pg_wal\".") :
				 errhint("See SELECT name, directory FROM sync_probe.locations.")));
	set_location(location, name, tablespace);
}

/* Is there the file of a power test?  path, of MAXPGPATH bytes, is where it would be. */
bool
sp_power_test_left(const sp_location *location, char *path)
{
	struct stat status;

	snprintf(path, MAXPGPATH, "%s%s/" SP_POWER_TEST_FILE, location->directory,
			 location->tablespace > DEFAULTTABLESPACE_OID ? "/" TABLESPACE_VERSION_DIRECTORY : "");
	return lstat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* All locations: pg_wal, then the tablespaces as the catalog has them.  Or only that one. */
List *
sp_location_list(const char *only)
{
	List	   *locations = NIL;
	sp_location *location = palloc(sizeof(sp_location));
	Relation	catalog;
	SysScanDesc scan;
	HeapTuple	tuple;

	sp_location_find(only ? only : PG_WAL, location);
	locations = lappend(locations, location);
	if (only)
		return locations;

	catalog = table_open(TableSpaceRelationId, AccessShareLock);
	scan = systable_beginscan(catalog, InvalidOid, false, NULL, 0, NULL);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_tablespace form = (Form_pg_tablespace) GETSTRUCT(tuple);

		if (form->oid == GLOBALTABLESPACE_OID)
			continue;
		location = palloc(sizeof(sp_location));
		set_location(location, NameStr(form->spcname), form->oid);
		locations = lappend(locations, location);
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return locations;
}

/*
 * A probe of a tablespace needs CREATE on it, as tables and temporary files do.  The
 * default tablespace of the database needs no privilege.
 */
void
sp_location_check_privilege(const sp_location *location)
{
	Oid			tablespace = location->tablespace;

	if (!OidIsValid(tablespace) || tablespace == MyDatabaseTableSpace)
		return;
	if (!DatumGetBool(DirectFunctionCall2(has_tablespace_privilege_id, ObjectIdGetDatum(tablespace),
										  CStringGetTextDatum("CREATE"))))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for tablespace \"%s\"", NameStr(location->name)),
				 errdetail("Probes and workloads write into the tablespace."),
				 errhint("GRANT CREATE ON TABLESPACE %s TO %s;",
						 quote_identifier(NameStr(location->name)),
						 quote_identifier(GetUserNameFromId(GetUserId(), false)))));
}
