/*-------------------------------------------------------------------------
 *
 * engine/storage/storage.h
 *		From a path down to its disks: mounts, devices, counters, ZFS.
 *
 * All of it is read from the kernel's own files, below a root directory that a
 * test may replace, or from the output of the tools of ZFS.
 *
 * It must not: include a server header, keep state between calls, print, write,
 * start a program, or open a file outside of /proc and /sys.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_ENGINE_STORAGE_H
#define SP_ENGINE_STORAGE_H

#include "engine/storage/block_device.h"
#include "engine/storage/disks.h"
#include "engine/storage/diskstats.h"
#include "engine/storage/mountinfo.h"
#include "engine/storage/zfs.h"

#endif							/* SP_ENGINE_STORAGE_H */
