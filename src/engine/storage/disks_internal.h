/*-------------------------------------------------------------------------
 *
 * disks_internal.h
 *	  One device: shared by disk.c, disk_stack.c (the stack) and disks.c (the list) only.
 *
 * It must not: be included outside src/engine.
 *
 * A "directory" is the real path of a device's directory in sysfs; its last component is
 * the device's name.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_DISKS_INTERNAL_H
#define SP_DISKS_INTERNAL_H

#include "engine/storage/disks.h"
#include "engine/text/text.h"

/* device-mapper names: DM_NAME_LEN is 128 with the NUL, plus the newline */
#define SP_ATTRIBUTE_SIZE 256

/*
 * Read an attribute, without its newline, into value, which has size bytes.  False, with
 * an empty value, if it is missing, cannot be read or is longer: no known one is.
 */
extern bool sp_read_attribute(const char *directory, const char *attribute,
							  char *value, size_t size);

/* directory: PATH_MAX bytes, set to the target of a symbolic link.  Returns 0 or an errno. */
extern int	sp_resolve(const char *path, char *directory);

/* The same with a device's directory, by what is mounted or by a path below /dev. */
extern int	sp_find_by_mount(const char *sysroot, const sp_mount *mount, char *directory);
extern int	sp_find_by_path(const char *sysroot, const char *path, char *directory);

/* Change the directory of a partition to that of its disk. */
extern void sp_ascend_to_whole_disk(char *directory);

/* Name and attributes of the disk in a directory.  ENAMETOOLONG if it cannot be one. */
extern int	sp_disk_read(const char *directory, sp_disk *disk);

/*
 * Add the disk in a directory, unless the level has it.  A disk that is found twice has
 * the stricter duty.  A full list becomes incomplete.  Returns 0 or ENAMETOOLONG.
 */
extern int	sp_disks_append(sp_disks *disks, sp_level level,
							const char *directory, sp_flush_duty duty, int group);

#endif							/* SP_DISKS_INTERNAL_H */
