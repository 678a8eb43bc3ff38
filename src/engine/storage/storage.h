/*-------------------------------------------------------------------------
 *
 * engine/storage/storage.h
 *	  Storage below a path: all disks, and their counters.
 *
 * A sync ends at a disk: its counters show whether the flush arrived, and its
 * write cache whether a flush was needed.  What a DBA calls the device may be a
 * stack: LVM on RAID on disks.  Only the disks at the bottom count flushes, so these
 * are listed: their counters are summed, and the weakest cache decides.
 *
 * This folder reads files of the kernel, below a root directory that tests replace, and the
 * output of the ZFS tools.
 *
 * It must not: include a server header, keep state between calls, print, write, exit,
 * start a program, or open a file outside of /proc and /sys.
 *
 * Format: kernel Documentation/ABI/stable/sysfs-block; slaves/ for dm and md,
 * loop/backing_file, /sys/fs/btrfs/<uuid>/devices, nvme<S>c<C>n<N> below
 * nvme<S>n<N>.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_ENGINE_STORAGE_H
#define SP_ENGINE_STORAGE_H

#include <limits.h>

#include "engine/storage/diskstats.h"
#include "engine/storage/mounts.h"

#define SP_MAX_DISKS	64

/*
 * Does a flush of the file system go to a disk?
 *
 * Linux sends it to all members of RAID 0, 1 and 10 and of a linear array
 * (md_flush_request), and to all devices of a btrfs (barrier_all_devices), whichever of
 * them hold the data.  RAID 5 with a journal or a partial parity log flushes otherwise,
 * and device-mapper has targets that leave devices out, such as the metadata of a thin
 * pool.  Spares of md are not flushed.  From the strictest to the weakest.
 */
typedef enum sp_flush_duty
{
	SP_FLUSHED_ALWAYS,
	SP_FLUSHED_PERHAPS,
	SP_FLUSHED_NEVER
} sp_flush_duty;

/* A whole disk, not a partition.  An attribute that cannot be read is unknown. */
typedef struct sp_disk
{
	char		name[64];		/* as in /sys/class/block: "sda", "nvme0c1n1"; "" is none */
	sp_level	level;
	int			rotational;		/* 1 yes, 0 no, -1 unknown */
	char		write_cache[16];	/* "write back", "write through" or "" */
	int			fua;			/* 1 yes, 0 no, -1 unknown */
	int			is_virtual;		/* 1 yes, 0 a drive of a known maker, -1 unknown */
	bool		counts_flushes_only;	/* queue/iostats is 0: the kernel still counts
										 * flushes, see blk_account_io_flush() */
	bool		counts_flushes; /* in the kernel's queues; zram, DRBD and zvols count none */
	sp_flush_duty duty;
	int			group;			/* its disks are one member: a flush goes to one; 0: none */
	int			member;			/* its index, see sp_counters; -1 if it needs no flush */
	int			stat_fd;		/* its counters; -1 if not open */
} sp_disk;

/* A list begins with all zero. */
typedef struct sp_disks
{
	sp_disk		top;			/* what the first path is on: "vda", "md0", "dm-0" */
	int			count;
	sp_disk		disks[SP_MAX_DISKS];
	bool		incomplete[SP_LEVELS];	/* there are more than these */
	char		backing_file[PATH_MAX + 16];	/* of the first loop device, "" if none; it
												 * may end with " (deleted)" */
	const sp_mount *backing_mount;	/* of that file; NULL if unknown, a device or none */
	int			groups;			/* the last one */
} sp_disks;

/* The facts of a level's disks together; but for the last, those that may be flushed. */
typedef struct sp_disks_facts
{
	const char *write_cache;	/* "write back" if one has it, "write through" if all, else "" */
	bool		fua;			/* one takes FUA writes, or may (unknown, or not listed) */
	bool		count_flushes;	/* all do, and the list is complete */
} sp_disks_facts;

/*
 * Add all disks below a path, each once per level.
 *
 * sysroot: "" on a live system, else the directory of a captured tree.
 * path: absolute, without symbolic links.  Below /dev (but not /dev/shm) it is a block
 * device: there links are followed, and no node is opened.  Else it is a file or directory.
 *
 * The device number of its mount is used if it is a real one, else (btrfs) the source, if
 * that is below /dev.  Followed are: partitions to their disk; dm and md to their slaves,
 * over any number of layers; the head of NVMe multipath to its paths; btrfs to all
 * devices of the same file system; overlay to the file system of its upper
 * directory; loop devices are listed themselves, and the backing devices of their
 * file once more at SP_LEVEL_BACKING (of loop devices on loop devices
 * only the lowest layer).
 *
 * duty, group: of these disks, see sp_disk.  A new group is ++disks->groups.
 *
 * Returns 0; ENODEV if there is none (network, memory, FUSE and ZFS file
 * systems, or no sysfs); else the errno of the call that failed.  On error
 * no disk was added.  What is missing or cannot be read further down the stack
 * only sets incomplete, as do more than SP_MAX_DISKS disks; where the next
 * layer down is not known, the lowest known device is listed.
 *
 * Limit: in a container a loop device's file is named as its host sees it, and
 * looked for among the mounts of the container.
 */
extern int	sp_disks_add(const char *sysroot, const sp_mount_table *mounts, const char *path,
						 sp_flush_duty duty, int group, sp_disks *disks);

extern sp_disks_facts sp_disks_summary(const sp_disks *disks, sp_level level);

/*
 * Open the counters of all disks; sp_disks_close closes what is open, and may
 * always be called.  Returns 0 or the errno of the first that failed, with
 * none left open.
 */
extern int	sp_disks_open(const char *sysroot, sp_disks *disks);
extern void sp_disks_close(sp_disks *disks);

/*
 * Read the counters of all disks, summed for each level; a level without disks
 * is all zero.  Takes a few microseconds a disk, and allocates nothing.
 * Returns false if one cannot be read any more, or was never opened.
 */
extern bool sp_disks_read(const sp_disks *disks, sp_counters counters[SP_LEVELS]);

#endif							/* SP_ENGINE_STORAGE_H */
