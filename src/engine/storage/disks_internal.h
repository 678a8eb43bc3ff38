/*-------------------------------------------------------------------------
 *
 * disks_internal.h
 *	  One device in sysfs: shared by disk.c, disk_stack.c (the stack) and disks.c (the list).
 *
 * A "directory" is the real path of a device's directory in sysfs; its last component is
 * the device's name.  Where one is set, it has PATH_MAX bytes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_DISKS_INTERNAL_H
#define SP_DISKS_INTERNAL_H

#include <string.h>

#include "engine/storage/storage.h"
#include "engine/text/text.h"

/* device-mapper names: DM_NAME_LEN is 128 with the NUL, plus the newline */
#define SP_ATTRIBUTE_SIZE 256

/*
 * Read an attribute, without its newline, into value, which has size bytes.  False, with
 * an empty value, if it is missing, cannot be read or is longer: no known one is.
 */
extern bool sp_read_attribute(const char *directory, const char *attribute,
							  char *value, size_t size);

static inline bool
sp_begins_with(const char *text, const char *beginning)
{
	return strncmp(text, beginning, strlen(beginning)) == 0;
}

/* Is it one of the words?  They end with NULL. */
extern bool sp_is_one_of(const char *text, const char *const *words);

/* The device that is mounted, or at a path below /dev.  Return 0 or an errno. */
extern int	sp_find_by_mount(const char *sysroot, const sp_mount *mount, char *directory);
extern int	sp_find_by_path(const char *sysroot, const char *path, char *directory);

/* Name and attributes of the disk in a directory.  ENAMETOOLONG if it cannot be one. */
extern int	sp_disk_read(const char *directory, sp_disk *disk);

/* Does the kernel count the flushes of that device? */
extern bool sp_has_queues(const char *directory);

/*
 * Add the disk in a directory, unless the level has it.  A disk that is found twice has
 * the stricter duty.  A full list becomes incomplete.  Returns 0 or ENAMETOOLONG.
 */
extern int	sp_disks_append(sp_disks *disks, sp_level level,
							const char *directory, sp_flush_duty duty, int group);

#endif							/* SP_DISKS_INTERNAL_H */
