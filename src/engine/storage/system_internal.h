/*-------------------------------------------------------------------------
 *
 * system_internal.h
 *	  What each system tells in its own way.
 *
 * system_linux.c, system_bsd.c (with macOS) and system_other.c define the same functions;
 * one of them is compiled.  Nothing else in this folder depends on the system: the files of
 * /proc and /sys are those of Linux, and are missing elsewhere.  So counters, caches and
 * kinds of disks are unknown there, and are never guessed.
 *
 * It must not: be included outside src/engine/storage.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_SYSTEM_INTERNAL_H
#define SP_SYSTEM_INTERNAL_H

#include <sys/types.h>

#include "engine/storage/mountinfo.h"

/* All mounts that this process sees; as sp_mount_table_read.  ENOTSUP if unknown. */
extern int	sp_system_mounts(sp_mount_table **table);

/* The two parts of the number of a device. */
extern void sp_system_device_number(dev_t device, unsigned *dev_major, unsigned *dev_minor);

/* A file in the format of /proc/self/mountinfo.  Returns 0, ENOMEM or the errno. */
extern int	sp_mountinfo_read(const char *path, sp_mount_table **table);

#endif							/* SP_SYSTEM_INTERNAL_H */
