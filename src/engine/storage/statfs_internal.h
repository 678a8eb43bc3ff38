/*-------------------------------------------------------------------------
 *
 * statfs_internal.h
 *	  A mount from what BSD systems tell of it.
 *
 * The record has the fields of their struct statfs that matter, so that all but the call
 * can be tested on every system.
 *
 * It must not: be included outside src/engine/storage.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_STATFS_INTERNAL_H
#define SP_STATFS_INTERNAL_H

#include <stdint.h>

#include "engine/storage/mount_table_internal.h"

typedef struct sp_statfs_record
{
	const char *fstype;
	const char *mount_point;
	const char *source;
	bool		read_only;
	uint64_t	flags;
	int32_t		fsid[2];		/* FreeBSD tells others than root none: both are 0 */
} sp_statfs_record;

/* A bit of the flags, and its name among the mount options. */
typedef struct sp_mount_flag
{
	uint64_t	flag;
	const char *option;
} sp_mount_flag;

/*
 * Add the mount of a record, with "ro" or "rw" and then the named flags as its options.  The
 * table gets copies.  Returns 0 or ENOMEM.
 */
extern int	sp_mount_table_add_record(sp_mount_table *table, const sp_statfs_record *record,
									  const sp_mount_flag *flags, size_t nflags);

#endif							/* SP_STATFS_INTERNAL_H */
