/*-------------------------------------------------------------------------
 *
 * engine/storage/storage.h
 *		Storage below a path: mounts, devices, counters, ZFS.
 *
 * It is read from files of the kernel, below a root directory that tests
 * replace, and from the output of the ZFS tools.
 *
 * It must not: include a server header, keep state between calls, print, write, exit,
 * start a program, or open a file outside of /proc and /sys.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_ENGINE_STORAGE_H
#define SP_ENGINE_STORAGE_H

#include "engine/storage/disks.h"
#include "engine/storage/diskstats.h"
#include "engine/storage/mounts.h"
#include "engine/storage/zfs.h"

#endif							/* SP_ENGINE_STORAGE_H */
