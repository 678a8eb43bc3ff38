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

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_tablespace.h"
#include "catalog/pg_type.h"
#include "commands/tablespace.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/rel.h"

#include "compat.h"

#define PG_WAL	"pg_wal"

static void
set_location(sp_location *location, const char *name, Oid tablespace)
{
	namestrcpy(&location->name, name);
	location->tablespace = tablespace;
	if (!OidIsValid(tablespace))
		strlcpy(location->directory, PG_WAL, MAXPGPATH);
	else if (tablespace == DEFAULTTABLESPACE_OID)
		strlcpy(location->directory, "base", MAXPGPATH);
	else
		snprintf(location->directory, MAXPGPATH, "pg_tblspc/%u", tablespace);
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
				 errhint("The first argument is the location. For a time: duration => '%s'.", name) :
				 pg_strcasecmp(name, PG_WAL) == 0 ?
				 errhint("Write it in lower case: \"pg_wal\".") :
				 errhint("See SELECT name, directory FROM sync_probe.locations.")));
	set_location(location, name, tablespace);
}

/* All locations: pg_wal, pg_default, then the others by name. */
List *
sp_location_list(void)
{
	List	   *locations = NIL;
	sp_location *location = palloc(sizeof(sp_location));
	Relation	catalog;
	SysScanDesc scan;
	HeapTuple	tuple;

	set_location(location, PG_WAL, InvalidOid);
	locations = lappend(locations, location);

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
	if (sp_tablespace_aclcheck(tablespace, GetUserId()) != ACLCHECK_OK)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for tablespace \"%s\"", NameStr(location->name)),
				 errdetail("A probe writes files into the tablespace."),
				 errhint("GRANT CREATE ON TABLESPACE %s TO %s;",
						 quote_identifier(NameStr(location->name)),
						 quote_identifier(GetUserNameFromId(GetUserId(), false)))));
}

/* --------------------------------------------------------------- its device */

/* The names of the disks of the device, as text[]. */
static Datum
disk_names(const sp_disks *disks)
{
	Datum		names[SP_MAX_DISKS];
	int			n = 0;

	for (int i = 0; i < disks->count; i++)
	{
		if (disks->disks[i].level == SP_LEVEL_DEVICE)
			names[n++] = CStringGetTextDatum(disks->disks[i].name);
	}
	return PointerGetDatum(construct_array(names, n, TEXTOID, -1, false, TYPALIGN_INT));
}

/*
 * The device is the topmost one, such as LVM or RAID.  Its write cache is that of the
 * disks below it.  mount: the mount of the location.
 */
void
sp_location_find_device(const sp_mount_table *mounts, const sp_mount *mount,
						sp_location_device *device)
{
	const sp_mount *beneath = sp_mount_beneath(mounts, mount);
	sp_disks   *disks;

	memset(device, 0, sizeof(*device));
	device->known = beneath && sp_block_device_find("", beneath, &device->device) == 0;
	if (!device->known)
		return;
	disks = palloc(sizeof(sp_disks));
	sp_disks_init(disks);
	if (sp_disks_find("", mounts, beneath, disks) == 0)
	{
		strlcpy(device->device.write_cache, sp_disks_write_cache(disks, SP_LEVEL_DEVICE),
				sizeof(device->device.write_cache));
		device->fua = sp_disks_fua(disks, SP_LEVEL_DEVICE);
		device->disks = disk_names(disks);
	}
	pfree(disks);
}
