/*-------------------------------------------------------------------------
 *
 * windows.h
 *		Were there flushes in the time of each sync, and in times without one?
 *
 * A sync that reaches the device has a flush that begins after its write and ends before
 * it returns.  So the counters, read before and after each sync, show at least one flush
 * each time, however busy the device is.  Others flush, too: how often a flush is seen in
 * such a time without a sync of ours is told by control windows.  In these the probe writes,
 * does not sync, and waits as long as a sync took.
 *
 * The mean of flushes would tell less.  The kernel lets one flush serve all syncs that
 * wait for it.  So on a busy device a sync need not add a flush, and the mean of an
 * honest one is that of the control windows.  Times without any flush are not affected.
 *
 * On ext4 on a loop device, 200 syncs and 200 windows each: beside pgbench with 8 clients
 * no sync was without a flush, but 47 to 65 windows; with nobarrier, beside a program
 * that only flushes, 33 syncs were.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_WINDOWS_H
#define SP_WINDOWS_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/storage/diskstats.h"

/* Windows of one kind at one level: all, and those in which a flush was missing. */
typedef struct sp_window_count
{
	int64_t		all;
	int64_t		unflushed;		/* at some disk that needs flushes */
	int64_t		lacking;		/* at one that each sync must flush */
} sp_window_count;

typedef struct sp_windows
{
	sp_window_count syncs[SP_LEVELS];
	sp_window_count controls[SP_LEVELS];
} sp_windows;

/* Add a window; readings that cannot be used, and levels without a flush counter, are not. */
extern void sp_windows_add(sp_window_count counts[SP_LEVELS],
						   const sp_counters before[SP_LEVELS],
						   const sp_counters after[SP_LEVELS]);

/*
 * A lower bound of the share of syncs that had a flush of their own, with two standard
 * errors on each side.  Of the syncs without a flush of their own, the same share shows no
 * flush as of the control windows.  NAN if there are no windows of either kind, or no control
 * window was without a flush.
 */
extern double sp_windows_own_share(const sp_windows *windows, sp_level level);

/*
 * A lower bound of the share of syncs that had no flush, of ours or of others, with three
 * standard errors.  NAN without windows.
 */
extern double sp_windows_lacking_share(const sp_windows *windows, sp_level level);

#endif							/* SP_WINDOWS_H */
