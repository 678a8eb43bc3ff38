/*-------------------------------------------------------------------------
 *
 * block_device.h
 *	  The disk below a mount, and whether it has a volatile write cache.
 *
 * A sync ends at a disk: its counters tell whether the flush arrived, and its
 * write cache whether a flush was needed.  Both belong to the whole disk, so
 * the disk is named, not the partition.
 *
 * It must not: include a server header, keep state between calls, print,
 * exit, write, or open anything outside <sysroot>/sys.
 *
 * Format: kernel Documentation/ABI/stable/sysfs-block and
 * Documentation/admin-guide/sysfs-rules.rst.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_BLOCK_DEVICE_H
#define SP_BLOCK_DEVICE_H

#include "engine/storage/mountinfo.h"

/* The name is that of /sys/class/block, where its counters are: <name>/stat. */
typedef struct sp_block_device
{
	char		name[64];		/* whole disk: "vda", "nvme0n1", "md0", "dm-0" */
	int			rotational;		/* 1 yes, 0 no, -1 unknown */
	char		write_cache[16];	/* "write back", "write through" or "" */
} sp_block_device;

/*
 * Name the disk below a mount.
 *
 * sysroot: "" on a live system, else the directory of a captured tree, whose
 * symbolic links must be relative.
 * mount: from sp_mount_table_find; the device number is used if it is a real
 * one, else (btrfs) the source, if that is /dev/NAME or /dev/mapper/NAME.
 * *device: always set; on error to an empty name and all unknown.
 *
 * A partition yields its disk.  dm and md devices are named themselves, not
 * the disks they consist of.  A btrfs on several devices yields the one that
 * its source names.  An attribute that is missing or holds an unknown value
 * is unknown, not an error.
 *
 * Returns 0; ENODEV if no block device can be named (network, memory, stacked,
 * FUSE and ZFS file systems, or no sysfs); else the errno of the call that
 * failed: EACCES, EIO, ELOOP, ENOTDIR, ENAMETOOLONG, ENOMEM.
 */
extern int	sp_block_device_find(const char *sysroot, const sp_mount *mount,
								 sp_block_device *device);

#endif							/* SP_BLOCK_DEVICE_H */
