/*-------------------------------------------------------------------------
 *
 * zfs_tools.h
 *		Ask the tools of ZFS what they know of a data set.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_ZFS_TOOLS_H
#define SP_ZFS_TOOLS_H

#include "postgres.h"

#include "lib/stringinfo.h"

#include "engine/storage/zfs.h"

/* GUC, see pg_sync_probe.c: where zfs and zpool are; empty: the usual places. */
extern char *sp_zfs_directory;

/*
 * Returns true if the properties of the data set were told.  Why not, or why
 * nothing could be learned of its pool, is appended to why_not in words.
 */
extern bool sp_zfs_ask_tools(const char *dataset, sp_zfs *zfs, StringInfo why_not);

#endif							/* SP_ZFS_TOOLS_H */
