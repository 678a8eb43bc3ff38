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
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#include "common/common.h"

/* A row of the view, before it is a tuple. */
typedef struct location_row
{
	const sp_location *location;
	char		directory[MAXPGPATH];	/* symbolic links resolved */
	bool		exists;
	bool		in_use;			/* it holds the directory of this server version */
	dev_t		st_dev;
	const sp_mount *mount;		/* NULL if unknown */
	const sp_disks *disks;		/* NULL if unknown */
	bool		has_space;
	struct statvfs space;
} location_row;

/* Many tablespaces are usually on a few mounts: take the disks of the same mount. */
static const sp_disks *
find_disks(const sp_mount_table *mounts, const sp_mount *mount, const location_row *before, int n)
{
	sp_disks   *disks;

	for (int i = 0; i < n; i++)
	{
		if (before[i].mount == mount)
			return before[i].disks;
	}
	disks = palloc(sizeof(sp_disks));
	sp_disks_init(disks);
	return sp_disks_find("", mounts, mount, disks) == 0 ? disks : NULL;
}

/*
 * Does the directory of this server version exist?  If the file system is not
 * mounted, the directory of the tablespace is empty.
 */
static bool
is_in_use(const sp_location *location)
{
	char		path[MAXPGPATH];
	struct stat status;

	if (!OidIsValid(location->tablespace) || location->tablespace == DEFAULTTABLESPACE_OID)
		return true;
	snprintf(path, sizeof(path), "%s/%s", location->directory, TABLESPACE_VERSION_DIRECTORY);
	return stat(path, &status) == 0;
}

/* Fill a row.  Unknown fields stay unset.  before: the n rows before this one. */
static void
examine_location(const sp_location *location, const sp_mount_table *mounts,
				 const location_row *before, int n, location_row *row)
{
	char	   *resolved = realpath(location->directory, NULL);
	struct stat status;

	memset(row, 0, sizeof(*row));
	row->location = location;
	if (resolved == NULL)
	{
		/* the directory is missing: show the target of the symbolic link */
		ssize_t		length = readlink(location->directory, row->directory, MAXPGPATH - 1);

		row->directory[length > 0 ? length : 0] = '\0';
		return;
	}
	strlcpy(row->directory, resolved, MAXPGPATH);
	free(resolved);

	row->exists = stat(row->directory, &status) == 0;
	row->st_dev = row->exists ? status.st_dev : 0;
	row->in_use = is_in_use(location);
	row->has_space = statvfs(row->directory, &row->space) == 0;
	if (mounts)
		row->mount = sp_mount_table_find(mounts, row->directory);
	if (row->mount)
		row->disks = find_disks(mounts, row->mount, before, n);
}

/*
 * Compare mounts, since st_dev differs between subvolumes of one btrfs.  Without
 * mounts compare st_dev: a server in a chroot may see no mount of its root.
 */
static bool
same_filesystem(const location_row *a, const location_row *b)
{
	if (a->mount && b->mount)
		return sp_mount_same_filesystem(a->mount, b->mount);
	return a->exists && b->exists && !a->mount && !b->mount && a->st_dev == b->st_dev;
}

static void
put_known_text(sp_row *row, const char *column, const char *text)
{
	if (text && text[0] != '\0')
		sp_row_put_text(row, column, sp_valid_text(text));
}

static void
put_mount(sp_row *row, const sp_mount *mount)
{
	put_known_text(row, "filesystem", mount->fstype);
	put_known_text(row, "mount_point", mount->mount_point);
	put_known_text(row, "mount_options", mount->mount_options);
}

/* The device is the topmost one, such as LVM or RAID; its write cache is that of its disks. */
static void
put_disks(sp_row *row, const sp_disks *disks)
{
	sp_disks_facts facts = sp_disks_summary(disks, SP_LEVEL_DEVICE);
	Datum		names[SP_MAX_DISKS];
	int			n = 0;

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
put_space(sp_row *row, const struct statvfs *space)
{
	sp_row_put_int(row, "size_bytes", INT8OID, (int64) space->f_blocks * space->f_frsize);
	sp_row_put_int(row, "available_bytes", INT8OID, (int64) space->f_bavail * space->f_frsize);
}

/* first: the first location on the same file system, NULL if it is this one */
static void
put_location_row(ReturnSetInfo *rsinfo, const location_row *location, const sp_location *first)
{
	Oid			tablespace = location->location->tablespace;
	sp_row	   *row = sp_row_make(rsinfo->setDesc);

	sp_row_put_name(row, "name", NameStr(location->location->name));
	sp_row_put(row, "holds_wal", BOOLOID, BoolGetDatum(!OidIsValid(tablespace)));
	if (OidIsValid(tablespace))
		sp_row_put(row, "tablespace", OIDOID, ObjectIdGetDatum(tablespace));
	put_known_text(row, "directory", location->directory);
	if (location->mount)
		put_mount(row, location->mount);
	if (location->disks)
		put_disks(row, location->disks);
	if (location->has_space)
		put_space(row, &location->space);
	if (first)
		sp_row_put_name(row, "shares_filesystem_with", NameStr(first->name));
	sp_row_put(row, "missing", BOOLOID, BoolGetDatum(!location->in_use));
	tuplestore_puttuple(rsinfo->setResult, sp_row_form(row));
}

static sp_location *
single_location(const char *name)
{
	sp_location *location = palloc(sizeof(sp_location));

	sp_location_find(name, location);
	return location;
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
 * sync_probe_internal.examine_locations(only_location): the rows of the view
 * sync_probe.locations; with an argument that one alone, so that a probe of
 * one location does not wait for the file system of another that hangs.
 */
PG_FUNCTION_INFO_V1(sync_probe_locations);
Datum
sync_probe_locations(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	List	   *locations = PG_ARGISNULL(0) ? sp_location_list() :
		list_make1(single_location(NameStr(*PG_GETARG_NAME(0))));
	location_row *rows = palloc(list_length(locations) * sizeof(location_row));
	sp_mount_table *mounts = NULL;
	int			n = 0;
	ListCell   *cell;

	InitMaterializedSRF(fcinfo, 0);
	list_sort(locations, compare_locations);

	/* without mountinfo (not Linux, no /proc) the columns from it stay null */
	(void) sp_mount_table_read("", &mounts);
	PG_TRY();
	{
		foreach(cell, locations)
		{
			const sp_location *first = NULL;

			examine_location(lfirst(cell), mounts, rows, n, &rows[n]);
			for (int i = 0; i < n && !first; i++)
			{
				if (same_filesystem(&rows[i], &rows[n]))
					first = rows[i].location;
			}
			put_location_row(rsinfo, &rows[n++], first);
		}
	}
	PG_FINALLY();
	{
		sp_mount_table_free(mounts);
	}
	PG_END_TRY();
	return (Datum) 0;
}
