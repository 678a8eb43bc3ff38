/*-------------------------------------------------------------------------
 *
 * block_device_internal.h
 *	  Reading sysfs: shared by block_device.c, disks.c and disk_stack.c only.
 *
 * It must not: be included outside src/engine.
 *
 * A "directory" is the real path of a device's directory in sysfs, in a buffer
 * of PATH_MAX bytes; its last component is the device's name.  All functions
 * that return an int return 0 or an errno.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_BLOCK_DEVICE_INTERNAL_H
#define SP_BLOCK_DEVICE_INTERNAL_H

#include "engine/storage/block_device.h"
#include "engine/text/text.h"

/* device-mapper names: DM_NAME_LEN is 128 with the NUL, plus the newline */
#define SP_ATTRIBUTE_SIZE 256

/* Does the errno mean that something does not exist, or no longer exists? */
extern bool sp_is_missing(int status);

/*
 * Read an attribute, without its newline, into value, which has size bytes and
 * is empty on error.  EOVERFLOW if it is longer: no known attribute is.
 */
extern int	sp_read_attribute(const char *directory, const char *attribute,
							  char *value, size_t size);

/* "0" or "1" into *flag; -1 if it is missing or anything else. */
extern int	sp_read_flag(const char *directory, const char *attribute,
						 int *flag);

/* Resolve a symbolic link: directory is set to its target. */
extern int	sp_resolve(const char *path, char *directory);

/* The directory of a device: by its number, ... */
extern int	sp_find_by_number(const char *sysroot, unsigned dev_major,
							  unsigned dev_minor, char *directory);

/* ... by its name in /sys/class/block, ... */
extern int	sp_find_by_name(const char *sysroot, const char *name,
							char *directory);

/*
 * ... by the text /dev/NAME or /dev/mapper/NAME (whether there is such a node
 * or not; ENODEV if the text is another one), ...
 */
extern int	sp_find_by_node(const char *sysroot, const char *node,
							char *directory);

/* ... or as that of a mount. */
extern int	sp_find_by_mount(const char *sysroot, const sp_mount *mount,
							 char *directory);

/* Change the directory of a partition to that of its disk. */
extern int	sp_ascend_to_whole_disk(char *directory);

/*
 * Name and attributes of the device in a directory.  *device: always set; on
 * error to an empty name and all unknown.
 */
extern int	sp_read_block_device(const char *directory,
								 sp_block_device *device);

#endif							/* SP_BLOCK_DEVICE_INTERNAL_H */
