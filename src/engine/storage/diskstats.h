/*-------------------------------------------------------------------------
 *
 * diskstats.h
 *	  The statistics of a disk in sysfs.
 *
 * Counters show what timing cannot: whether a flush arrived, how many bytes a
 * write became, how long the device was busy.  They are those of the whole
 * disk, so they include background I/O.
 *
 * Format: kernel Documentation/block/stat.rst.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_DISKSTATS_H
#define SP_DISKSTATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where in the stack a disk is; counters are summed for each level. */
typedef enum sp_level
{
	SP_LEVEL_DEVICE,			/* directly below the file system */
	SP_LEVEL_BACKING,			/* backing devices: below the file of a loop device */
	SP_LEVELS
} sp_level;

/*
 * A member is a disk of a level whose cache each flush of the file system must reach.
 * Some disks are one member together, since a flush goes to one of them alone: the paths
 * to one disk.
 */
#define SP_MAX_MEMBERS	64

/* Since boot, or between two readings; of a disk, or the sum of those of a level. */
typedef struct sp_counters
{
	uint64_t	writes;			/* write requests completed */
	uint64_t	written_bytes;	/* by them */
	bool		has_flushes;	/* kernels before 5.5 do not count flushes */
	uint64_t	flushes;		/* flush requests completed */
	uint64_t	busy_ms;		/* io_ticks: a request is in flight, in steps of a clock tick */
	uint64_t	request_ms;		/* the sum of the times of all requests */

	/* the statistics of a disk are switched off: all but flushes stand still */
	bool		flushes_only;

	/* of a level: the flushes of its members; none where a level is one disk */
	int			nmembers;
	uint64_t	required;		/* bit n is set if each sync must flush member n */
	bool		has_exempt;		/* there are disks that need no flush */
	uint64_t	member_flushes[SP_MAX_MEMBERS];
} sp_counters;

/*
 * Parse the content of a "stat" attribute: numbers, with a NUL behind them.
 *
 * Returns false, with *counters all zero, if there are fewer than the 11 of the oldest
 * kernels.  What is behind the known fields is ignored.
 */
extern bool sp_counters_parse(const char *text, sp_counters *counters);

/*
 * Add the counters of one more disk, or of one more time; the sum has flushes if both
 * have.  The members are those of the first sum, so both must have the same.
 */
extern void sp_counters_add(sp_counters *sum, const sp_counters *more);

/*
 * The flushes of the member with the fewest; of all, or only of those that each sync must
 * flush.  If there are none of the latter, the flushes of all disks together: if these
 * lack, no disk was flushed.  NAN if it is not known, and if disks that need no flush may
 * hold the file.
 */
extern double sp_counters_least_flushes(const sp_counters *counters);
extern double sp_counters_required_flushes(const sp_counters *counters);

/*
 * The difference of two readings.  Returns false, with *delta all zero, if a
 * counter went backwards: it wrapped (times do, every 50 days), or the device
 * was replaced.
 */
extern bool sp_counters_between(const sp_counters *before, const sp_counters *after,
								sp_counters *delta);

#endif							/* SP_DISKSTATS_H */
