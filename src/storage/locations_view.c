/*-------------------------------------------------------------------------
 *
 * locations_view.c
 *		The rows of the view sync_probe.locations.
 *
 * It must not: fail because one location cannot be read.  Unknown columns are null.
 *
 *-------------------------------------------------------------------------
 */
#include "storage/storage.h"

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "catalog/pg_tablespace.h"
#include "catalog/pg_type.h"
#include "common/relpath.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#include "common/common.h"

/* A location on a file system. */
typedef struct located
{
	const sp_location *location;
	sp_storage	storage;
	dev_t		device;			/* of the first one on a file system */
} located;

/* The st_dev of what is below a directory; 0 if there is no such path. */
static dev_t
device_of(const char *directory, const char *below)
{
	char		path[PATH_MAX + NAMEDATALEN];	/* a resolved name is shorter than PATH_MAX */
	struct stat status;

	/* snprintf(), here and in location.c, was a third of the work for each of 1,000 locations */
	strcpy(stpcpy(stpcpy(path, directory), "/"), below);
	return stat(path, &status) == 0 ? status.st_dev : 0;
}

/* Among more, one that may be left out is not searched for the file of a power test: 1.5 ms. */
#define MANY_LOCATIONS	100

/*
 * May the location be left out?  It is a tablespace that is there, shares the file system of an
 * earlier one, is not named, and has no file of a power test, or is one of many.
 */
static bool
is_one_of_many(const sp_location *location, const List *firsts, bool are_many,
			   const Datum *named, int n)
{
	dev_t		device = device_of(location->directory, TABLESPACE_VERSION_DIRECTORY);
	char		path[MAXPGPATH];
	ListCell   *cell;

	for (int i = 0; i < n; i++)
	{
		if (strcmp(NameStr(location->name), NameStr(*DatumGetName(named[i]))) == 0)
			return false;
	}
	foreach(cell, firsts)
	{
		if (device != 0 && device == ((const located *) lfirst(cell))->device)
			return are_many || !sp_power_test_left(location, path);
	}
	return false;
}

/*
 * The first location on the file system, which is this one if there is none: then its disks are
 * looked for, and it is appended.  The disks of all others are those of the first.
 *
 * Compare mounts, since st_dev differs between subvolumes of one btrfs.  Without mounts compare
 * st_dev: a server in a chroot may see no mount of its root.
 */
static const located *
find_first(List **firsts, located *here)
{
	ListCell   *cell;

	if (here->storage.directory == NULL)
		return here;
	foreach(cell, *firsts)
	{
		const located *first = lfirst(cell);
		const sp_mount *mount = first->storage.mount;

		if (mount && here->storage.mount ? sp_mount_same_filesystem(mount, here->storage.mount) :
			mount == here->storage.mount &&
			first->device == device_of(here->storage.directory, "."))
			return first;
	}
	sp_storage_find_disks(&here->storage);
	here->device = device_of(here->storage.directory, ".");
	*firsts = lappend(*firsts, memcpy(palloc(sizeof(located)), here, sizeof(located)));
	return here;
}

static void
put_known_text(sp_row *row, const char *column, const char *text)
{
	sp_row_put_text(row, column, sp_known_text(text));
}

/* The device is the topmost one, such as LVM or RAID; its write cache is that of its disks. */
static void
put_disks(sp_row *row, const sp_disks *disks)
{
	sp_disks_facts facts = sp_disks_summary(disks, SP_LEVEL_DEVICE);
	Datum		names[SP_MAX_DISKS];
	int			n = 0;

	if (disks->count == 0)
		return;
	for (int i = 0; i < disks->count; i++)
	{
		if (disks->disks[i].level == SP_LEVEL_DEVICE)
			names[n++] = CStringGetTextDatum(disks->disks[i].name);
	}
	put_known_text(row, "device", disks->top.name);
	put_known_text(row, "write_cache", facts.write_cache);
	sp_row_put(row, "fua", BOOLOID, BoolGetDatum(facts.fua));
	sp_row_put(row, "disks", TEXTARRAYOID,
			   PointerGetDatum(construct_array(names, n, TEXTOID, -1, false, TYPALIGN_INT)));
}

static void
put_location_row(ReturnSetInfo *rsinfo, const located *here, const located *first)
{
	const sp_location *location = here->location;
	const sp_storage *storage = &here->storage;
	sp_row	   *row = sp_row_make(rsinfo->setDesc);
	char		target[MAXPGPATH] = "";
	struct statvfs space;

	sp_row_put_name(row, "name", NameStr(location->name));
	sp_row_put(row, "holds_wal", BOOLOID, BoolGetDatum(!OidIsValid(location->tablespace)));
	if (OidIsValid(location->tablespace))
		sp_row_put(row, "tablespace", OIDOID, ObjectIdGetDatum(location->tablespace));
	/* if the directory is missing, the target of the symbolic link */
	put_known_text(row, "directory", storage->directory ||
				   readlink(location->directory, target, sizeof(target) - 1) < 0 ?
				   storage->directory : target);
	if (storage->mount)
	{
		put_known_text(row, "filesystem", storage->mount->fstype);
		put_known_text(row, "mount_point", storage->mount->mount_point);
		put_known_text(row, "mount_options", storage->mount->mount_options);
	}
	put_disks(row, &first->storage.disks);
	if (storage->directory && statvfs(storage->directory, &space) == 0)
	{
		sp_row_put_int(row, "size_bytes", INT8OID, (int64) space.f_blocks * space.f_frsize);
		sp_row_put_int(row, "available_bytes", INT8OID, (int64) space.f_bavail * space.f_frsize);
	}
	if (first != here)
		sp_row_put_name(row, "shares_filesystem_with", NameStr(first->location->name));
	/*
	 * A directory that cannot be resolved is missing, whatever is in it.  If a file system is
	 * not mounted, the directory of the tablespace is empty.
	 */
	sp_row_put(row, "missing", BOOLOID,
			   BoolGetDatum(storage->directory == NULL ||
							(location->tablespace > DEFAULTTABLESPACE_OID &&
							 device_of(storage->directory, TABLESPACE_VERSION_DIRECTORY) == 0)));
	sp_row_put(row, "power_test_left", BOOLOID, BoolGetDatum(sp_power_test_left(location, target)));
	tuplestore_puttuple(rsinfo->setResult, sp_row_form(row));
}

static int
compare_locations(const ListCell *a, const ListCell *b)
{
	const sp_location *x = lfirst(a);
	const sp_location *y = lfirst(b);

	/* pg_wal first, then pg_default: InvalidOid and the lowest OID of a tablespace */
	if (x->tablespace <= DEFAULTTABLESPACE_OID || y->tablespace <= DEFAULTTABLESPACE_OID)
		return x->tablespace < y->tablespace ? -1 : 1;
	return strcmp(NameStr(x->name), NameStr(y->name));
}

/*
 * sync_probe_internal.examine_locations(only_location, named): the rows of the view
 * sync_probe.locations; with the first argument that one alone, so that a probe of one location
 * does not wait for the file system of another that hangs; with the second one only those, the
 * first one on each file system, what is missing, and what has the file of a power test.
 */
PG_FUNCTION_INFO_V1(sync_probe_locations);
Datum
sync_probe_locations(PG_FUNCTION_ARGS)
{
	List	   *locations = sp_location_list(PG_ARGISNULL(0) ? NULL : NameStr(*PG_GETARG_NAME(0)));
	const sp_mount_table *mounts = sp_storage_mounts();
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "row of a location",
												  ALLOCSET_SMALL_SIZES);
	located    *here = palloc(sizeof(located));
	List	   *firsts = NIL;
	ListCell   *cell;
	Datum	   *named = NULL;
	int			n = 0;

	if (!PG_ARGISNULL(1))
		deconstruct_array(PG_GETARG_ARRAYTYPE_P(1), NAMEOID, NAMEDATALEN, false, TYPALIGN_CHAR,
						  &named, NULL, &n);
	InitMaterializedSRF(fcinfo, 0);
	list_sort(locations, compare_locations);
	foreach(cell, locations)
	{
		const located *first;

		CHECK_FOR_INTERRUPTS();
		if (!PG_ARGISNULL(1) &&
			is_one_of_many(lfirst(cell), firsts, list_length(locations) > MANY_LOCATIONS, named, n))
			continue;
		here->location = lfirst(cell);
		sp_storage_find(here->location, mounts, &here->storage);
		first = find_first(&firsts, here);
		context = MemoryContextSwitchTo(context);
		put_location_row((ReturnSetInfo *) fcinfo->resultinfo, here, first);
		context = MemoryContextSwitchTo(context);
		MemoryContextReset(context);
	}
	return (Datum) 0;
}
