/*-------------------------------------------------------------------------
 *
 * zfs_tools.h
 *		Read the properties of a ZFS data set with zfs and zpool.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_ZFS_TOOLS_H
#define SP_ZFS_TOOLS_H

#include "postgres.h"

#include "lib/stringinfo.h"

#include "engine/storage/zfs.h"

/* GUC, see pg_sync_probe.c: the directory of zfs and zpool; empty: the usual ones. */
extern char *sp_zfs_directory;

/*
 * Returns true if the properties of the data set are known.  Reasons for what is
 * unknown of the data set or its pool are appended to why_not.
 */
extern bool sp_zfs_ask_tools(const char *dataset, sp_zfs *zfs, StringInfo why_not);

#endif							/* SP_ZFS_TOOLS_H */
