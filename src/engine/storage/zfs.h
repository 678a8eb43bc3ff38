/*-------------------------------------------------------------------------
 *
 * zfs.h
 *	  What the tools and the kernel's counters tell of a ZFS data set.
 *
 * ZFS names no block device and decides by properties whether a sync means
 * anything.  This module reads what `zfs get`, `zpool status` and `zpool get`
 * print, and the counters of OpenZFS; it starts no program.
 *
 * It must not: include a server header, keep state between calls, start a
 * program, print, exit, write, or open anything outside
 * <sysroot>/proc/spl/kstat/zfs.
 *
 * Texts need no NUL at the end.  A last line without its newline was cut off,
 * and is not read.
 *
 * Format: zfs-get(8), zpool-status(8), zpool-get(8); OpenZFS
 * module/zfs/dataset_kstats.c and module/zfs/zil.c for the counters.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_ZFS_H
#define SP_ZFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SP_ZFS_MAX_VDEVS	64

/* What a part of a pool is there for. */
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
	char		path[256];		/* as the tool names it: absolute with -P, else
								 * perhaps only "sda" */
	sp_vdev_use use;
} sp_vdev;

/* Strings are empty, and numbers -1, where the tools did not tell. */
typedef struct sp_zfs
{
	/* of the data set */
	char		sync[16];		/* "standard", "always", "disabled" */
	char		logbias[16];	/* "latency", "throughput" */
	char		primarycache[16];
	char		compression[16];
	int64_t		recordsize;		/* bytes */
	/* of the pool */
	int64_t		ashift;			/* 0: each part of the pool its own */
	int			nvdevs;
	sp_vdev		vdevs[SP_ZFS_MAX_VDEVS];
	bool		more_vdevs;		/* than these: too many, a path too long, or the
								 * tool's output was cut off or odd */
} sp_zfs;

/* Nothing known. */
extern void sp_zfs_init(sp_zfs *zfs);

/*
 * Is this the name of a data set (or pool), that may be given to the tools?
 * They take letters, digits and -_.:/ (and blanks within); it does not begin
 * with a dash, has no component that is empty, "." or "..", and is not longer
 * than 255.
 */
extern bool sp_zfs_is_dataset_name(const char *name);

/*
 * pool: room for 256 bytes; the data set's name up to its first slash, empty if
 * that is too long.
 */
extern void sp_zfs_pool_name(const char *dataset, char *pool);

/*
 * Take what is known here from the output of `zfs get -Hp all DATASET`: lines
 * of name, property, value, source, separated by tabs.  Other properties,
 * other data sets, and lines that are not such are skipped; a value that is "-",
 * longer than its field or no number is unknown.
 *
 * Returns true if any was taken.
 */
extern bool sp_zfs_parse_properties(const char *text, size_t length,
									const char *dataset, sp_zfs *zfs);

/*
 * Take the leaves, in place of those known, from the output of `zpool status
 * [-P] POOL`, from the tree below "config:"; trees of other pools are skipped.
 * A line that has deeper ones below it (mirror-0, raidz1-0, replacing-0,
 * spare-0, the pool itself) is no leaf.  Left out are leaves that the pool has
 * lost (state UNAVAIL, REMOVED, OFFLINE, FAULTED), and the distributed spares
 * of dRAID, which are no disks.  A spare in use is there twice: for what it
 * replaces, and as a spare.
 *
 * Returns true if any leaf was found.
 */
extern bool sp_zfs_parse_status(const char *text, size_t length,
								const char *pool, sp_zfs *zfs);

/*
 * Take ashift from the output of `zpool get all POOL`: with -Hp separated by
 * tabs, without by blanks under a heading.  Returns true if it was there.
 */
extern bool sp_zfs_parse_pool_properties(const char *text, size_t length,
										 const char *pool, sp_zfs *zfs);

/*
 * How often has the intent log been committed?  Of the data set, where OpenZFS
 * counts it (2.2 and later: zil_commit_count in
 * <sysroot>/proc/spl/kstat/zfs/<pool>/objset-0x..., found by its
 * dataset_name); *whole_system is set if only the counter of all pools
 * together (<sysroot>/proc/spl/kstat/zfs/zil) exists.
 *
 * Looks into the files of the pool one after the other: some microseconds for
 * each data set that is mounted.
 *
 * Returns 0; ENOENT if neither exists; else, with *commits -1, the errno of the
 * call that failed, EINVAL if the file or the name is not understood.
 */
extern int	sp_zfs_read_commits(const char *sysroot, const char *dataset,
								int64_t *commits, bool *whole_system);

#endif							/* SP_ZFS_H */
