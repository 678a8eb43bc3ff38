/*-------------------------------------------------------------------------
 *
 * mount_table_internal.h
 *	  How a table of mounts is filled: shared by mount_table.c, mountinfo.c and
 *	  statfs.c only.
 *
 * It must not: be included outside src/engine.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_MOUNT_TABLE_INTERNAL_H
#define SP_MOUNT_TABLE_INTERNAL_H

#include "engine/storage/mountinfo.h"

typedef struct sp_mount_entry
{
	sp_mount	mount;
	size_t		mount_point_length;
	char	   *strings;		/* allocated; the strings of mount point into it, except
								 * mount_options, which is allocated by itself */
} sp_mount_entry;

struct sp_mount_table
{
	sp_mount_entry *entries;
	size_t		count;
	size_t		capacity;
};

/*
 * Add a mount.  On success the table owns strings and mount->mount_options.  Returns 0 or
 * ENOMEM.
 */
extern int	sp_mount_table_append(sp_mount_table *table, const sp_mount *mount, char *strings);

#endif							/* SP_MOUNT_TABLE_INTERNAL_H */
