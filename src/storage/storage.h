/*-------------------------------------------------------------------------
 *
 * storage/storage.h
 *		The locations of the cluster, and the storage below them.
 *
 * A location is pg_wal or a tablespace.  This folder finds the file system and the
 * disks below each location, and shows them as SQL rows and as jsonb; and it guards the free
 * space there.  busiest.c finds the tablespace that is read most.
 *
 * It must not: write a file, measure, or record.  What cannot be found out is left
 * out, and is no error, but for free space.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_STORAGE_H
#define SP_STORAGE_H

#include "postgres.h"

#include "lib/stringinfo.h"
#include "nodes/pg_list.h"

#include "engine/measure/measure.h"
#include "engine/storage/storage.h"
#include "engine/storage/zfs.h"

/* ------------------------------------------------------------- location.c */

/* pg_wal or a tablespace. */
typedef struct sp_location
{
	NameData	name;
	Oid			tablespace;		/* InvalidOid for pg_wal */
	char		directory[32];	/* relative to PGDATA */
} sp_location;

extern void sp_location_find(const char *name, sp_location *location);
extern List *sp_location_list(const char *only);
extern void sp_location_check_privilege(const sp_location *location);

/*
 * The file of a power test must survive a restart.  pg_basebackup, pg_checksums and pg_rewind skip
 * this prefix, and the server sweeps it in pgsql_tmp alone.
 */
#define SP_POWER_TEST_FILE	"pgsql_tmp_sync_probe.power_test"

extern bool sp_power_test_left(const sp_location *location, char *path);

/* ----------------------------------------------------------- free_space.c */

extern int	sp_reserve_percent;	/* GUC, see pg_sync_probe.c */

extern int64 sp_location_space(const sp_location *location, int directory_fd, int64 wanted,
							   int64 *reserve);
extern int	sp_location_open(const sp_location *location);
extern void sp_space_error(const sp_location *location, int64 available, int64 reserve,
						   int64 wanted);
extern int64 sp_check_reserve(const sp_location *location, int directory_fd, int64 wanted);
extern void sp_check_wal_reserve(void);
extern char *sp_pretty_bytes(int64 bytes);

/* -------------------------------------------------------------- examine.c */

/* The storage below a location. */
typedef struct sp_storage
{
	char	   *directory;		/* symbolic links resolved; NULL if it is missing */
	const sp_mount_table *mounts;	/* without any where they cannot be read */
	const sp_mount *mount;		/* NULL if unknown */
	const sp_mount *beneath;	/* the file system below an overlay, if it is known, or mount */
	sp_disks	disks;			/* that receive syncs */
	const char *no_counters;	/* why the counters are not read, or NULL */

	/* by sp_storage_examine() and sp_storage_open() */
	const char *dataset;		/* of ZFS, a file system or the volume below it; or NULL */
	char	   *zfs_unknown;	/* why properties are unknown; may be empty */
	sp_zfs		zfs;
	int			reserved_fds;	/* reserved with AcquireExternalFD() */
} sp_storage;

extern const sp_mount_table *sp_storage_mounts(void);
extern void sp_storage_find(const sp_location *location, const sp_mount_table *mounts,
							sp_storage *storage);
extern void sp_storage_find_disks(sp_storage *storage);
extern void sp_storage_examine(const sp_location *location, sp_storage *storage);
extern sp_device_facts sp_storage_facts(const sp_storage *storage);

/*
 * Open the counters of its disks, right before the run.  The caller must call
 * sp_storage_close() afterwards, also after an error.  If they cannot be read, return
 * false and set storage->no_counters.
 */
extern bool sp_storage_open(sp_storage *storage);
extern void sp_storage_close(sp_storage *storage);

/* ------------------------------------------------------------ zfs_tools.c */

/* GUC, see pg_sync_probe.c: the directory of zfs and zpool; empty: the usual ones. */
extern char *sp_zfs_directory;

/*
 * Returns true if the properties of the data set are known.  why_not, which is empty,
 * gets the reason for what is unknown of the data set or its pool.
 */
extern bool sp_zfs_ask_tools(const char *dataset, sp_zfs *zfs, StringInfo why_not);

/* ----------------------------------------------------------------- json.c */

extern Datum sp_storage_jsonb(const sp_storage *storage, const sp_probe *probe);

#endif							/* SP_STORAGE_H */
