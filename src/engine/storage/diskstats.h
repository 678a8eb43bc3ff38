/*-------------------------------------------------------------------------
 *
 * diskstats.h
 *	  The statistics of a disk in sysfs.
 *
 * Counters show what timing cannot: whether a flush arrived, how many bytes a
 * write became, how long the device was busy.  They are those of the whole
 * disk, so they include background I/O.
 *
 * It must not: include a server header, keep state between calls, allocate,
 * open a file, print, exit.
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

/* Since boot, or between two readings. */
typedef struct sp_counters
{
	uint64_t	writes;			/* write requests completed */
	uint64_t	written_bytes;	/* by them */
	bool		has_flushes;	/* kernels before 5.5 do not count flushes */
	uint64_t	flushes;		/* flush requests completed */
	uint64_t	busy_ms;		/* io_ticks: at least one request in flight, in
								 * steps of a clock tick */
	uint64_t	request_ms;		/* the sum of the times of all requests */
} sp_counters;

/*
 * Parse the content of a "stat" attribute.
 *
 * Returns false, with *counters all zero, if it is not one: fewer than 11
 * fields, anything but unsigned decimal numbers, a number beyond 64 bits.
 * Fields behind the known ones are ignored.
 */
extern bool sp_counters_parse(const char *text, size_t length, sp_counters *counters);

/* Add the counters of one more disk; the sum has flushes if both have. */
extern void sp_counters_add(sp_counters *sum, const sp_counters *more);

/*
 * The difference of two readings.  Returns false, with *delta all zero, if a
 * counter went backwards: it wrapped (times do, every 50 days), or the device
 * was replaced.
 */
extern bool sp_counters_between(const sp_counters *before, const sp_counters *after,
								sp_counters *delta);

#endif							/* SP_DISKSTATS_H */
