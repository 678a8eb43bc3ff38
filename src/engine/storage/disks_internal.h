/*-------------------------------------------------------------------------
 *
 * disks_internal.h
 *	  Shared by disk_stack.c (the stack), disk_kind.c and disks.c (the list) only.
 *
 * It must not: be included outside src/engine.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_DISKS_INTERNAL_H
#define SP_DISKS_INTERNAL_H

#include "engine/storage/block_device_internal.h"
#include "engine/storage/disks.h"

/*
 * Add the disk in a directory, unless the level has it.  A disk that is found twice has
 * the stricter duty.  A full list becomes incomplete.  Returns 0, or the errno of reading
 * the attributes of the disk; then nothing was added.
 */
extern int	sp_disks_append(sp_disks *disks, sp_level level,
							const char *directory, sp_flush_duty duty, int group);

/* disk_kind.c, see sp_disk; directory: of the disk. */
extern bool sp_is_physical(const char *directory, const char *name);
extern bool sp_is_virtual(const char *directory, const char *name);

#endif							/* SP_DISKS_INTERNAL_H */
