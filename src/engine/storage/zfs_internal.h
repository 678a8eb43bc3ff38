/*-------------------------------------------------------------------------
 *
 * zfs_internal.h
 *	  Shared by zfs.c (names, properties), zfs_status.c (the parts of a pool) and
 *	  zfs_counters.c (the kernel's counters).
 *
 * It must not: be included outside src/engine.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_ZFS_INTERNAL_H
#define SP_ZFS_INTERNAL_H

#include "engine/storage/zfs.h"
#include "engine/text/text.h"

/* ZFS_MAX_DATASET_NAME_LEN is 256 with the NUL. */
#define SP_ZFS_NAME_SIZE	256

/* Set a number unless the text is none. */
extern bool sp_zfs_copy_number(sp_slice text, int64_t *number);

#endif							/* SP_ZFS_INTERNAL_H */
