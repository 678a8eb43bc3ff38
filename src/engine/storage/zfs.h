/*-------------------------------------------------------------------------
 *
 * zfs.h
 *	  The properties and devices of a ZFS data set.
 *
 * ZFS does not name a block device, and its properties decide whether a sync is
 * effective.  This reads what `zfs get` and `zpool status` print: zfs-get(8) and
 * zpool-status(8).
 *
 * It must not: start a program, or open anything.
 *
 * Texts are cut into their lines and words.  A last line without its newline is taken
 * as cut off, and is not read.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_ZFS_H
#define SP_ZFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SP_ZFS_MAX_VDEVS	64

/* The use of a part of a pool. */
typedef enum sp_vdev_use
{
	SP_VDEV_DATA,				/* also "special" and "dedup" */
	SP_VDEV_LOG,
	SP_VDEV_CACHE,
	SP_VDEV_SPARE
} sp_vdev_use;

/* A leaf of the pool: a disk or a file, not the mirror it is part of. */
typedef struct sp_vdev
{
	char		path[256];		/* absolute */
	sp_vdev_use use;
} sp_vdev;

/* What is unknown is empty or 0: at first all. */
typedef struct sp_zfs
{
	/* of the data set */
	char		sync[16];		/* "standard", "always", "disabled" */
	char		logbias[16];	/* "latency", "throughput" */
	int64_t		recordsize;		/* bytes */
	/* of the pool */
	int			nvdevs;
	sp_vdev		vdevs[SP_ZFS_MAX_VDEVS];
	bool		more_vdevs;		/* the list is incomplete: too long, cut off, not understood */
} sp_zfs;

/*
 * May this be the name of a data set (or pool)?  It is one argument of the tools, which
 * know what else is none; but a dash would begin an option.
 */
extern bool sp_zfs_is_dataset_name(const char *name);

/*
 * pool: room for 256 bytes; the data set's name up to its first slash, empty if
 * that is too long.
 */
extern void sp_zfs_pool_name(const char *dataset, char *pool);

/*
 * Take the properties of sp_zfs from the output of `zfs get -Hp all DATASET`:
 * lines of name, property, value, source, separated by tabs.  Other properties,
 * other data sets, and other lines are skipped; a value that is "-", too long
 * or not a number is unknown.
 *
 * Returns true if any was taken.
 */
extern bool sp_zfs_parse_properties(char *text, const char *dataset, sp_zfs *zfs);

/*
 * Replace the leaves by those in the output of `zpool status -P POOL`; other pools are
 * skipped.  A leaf is a line that begins with its absolute path: a mirror-0, a raidz1-0,
 * a distributed spare of dRAID, or a disk that is gone for good has none.  Leaves that the
 * pool has lost (state UNAVAIL, REMOVED, OFFLINE, FAULTED) are left out.  A spare in use is
 * listed twice: as data, and as a spare.
 *
 * Returns true if any leaf was found.
 */
extern bool sp_zfs_parse_status(char *text, const char *pool, sp_zfs *zfs);

/*
 * Do the log devices of the pool decide alone whether syncs are durable?  So it is where
 * there are any, and logbias is "latency".
 */
extern bool sp_zfs_log_devices_decide(const sp_zfs *zfs);

#endif							/* SP_ZFS_H */
