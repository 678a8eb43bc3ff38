/*-------------------------------------------------------------------------
 *
 * evidence.h
 *		The counters of the device, and what they prove about a sync.
 *
 * The counters of the disks are read before and after each slice, outside the
 * timed part, and between the flushes of the paced regime, when they count
 * background I/O.  They are evidence, not proof: only a power failure proves a
 * drive honest.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_EVIDENCE_H
#define SP_EVIDENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/storage/diskstats.h"

/*
 * Of the bytes written between two readings, and of how much there was to write for: the
 * operations, or the time of background I/O in nanoseconds.
 */
typedef struct sp_byte_sums
{
	int64_t		pairs;
	double		amount;
	double		bytes;
	double		amount_squared;
	double		bytes_squared;
	double		product;
} sp_byte_sums;

/* Counters, summed over a time and a number of operations. */
typedef struct sp_evidence
{
	int64_t		ops;
	int64_t		ns;
	int64_t		lost;			/* pairs of readings that could not be used */
	sp_counters counters[SP_LEVELS];
	sp_byte_sums byte_sums;		/* of the device */
} sp_evidence;

/* The same per operation; NAN where it is not known. */
typedef struct sp_evidence_rates
{
	double		flushes;		/* of all disks of the level */
	double		least_flushes;	/* see sp_counters_least_flushes() */
	double		required_flushes;
	double		writes;
	double		bytes;
	double		bytes_error;	/* standard error of bytes, at the device */
	double		utilization;	/* share of the time that it was busy, at most: see evidence.c */
} sp_evidence_rates;

/* What background I/O does per second; NAN where the idle samples are too short. */
typedef struct sp_background_rates
{
	double		flushes;
	double		most_flushes;	/* an upper bound, given the random error of the count */
	double		bytes;
	double		bytes_error;	/* standard error of bytes, at the device */
} sp_background_rates;

/* Do the syncs of a method reach the device? */
typedef enum sp_durable
{
	SP_DURABLE_UNKNOWN,
	SP_DURABLE_NO,
	SP_DURABLE_YES,
	SP_DURABLE_NO_CACHE,		/* the device reports no volatile cache: no flush is needed */
	SP_DURABLES
} sp_durable;

/* The flushes of one test case at one level.  NAN where it is not known. */
typedef struct sp_flush_facts
{
	double		flushes_per_op; /* at a disk that each sync must flush */
	double		least_flushes_per_op;	/* at the disk with the fewest of all that need them */
	double		background_flushes_per_op;	/* upper bound of those of background I/O */
	double		flushed_fraction;	/* see sp_windows_flushed_fraction() */
	double		unflushed_fraction;	/* see sp_windows_unflushed_fraction() */
} sp_flush_facts;

/* The facts from which sp_durable is derived. */
typedef struct sp_durable_facts
{
	bool		syncs_nothing;	/* a file system in memory, or one that ignores syncs */
	const char *write_cache;	/* "write back" of a disk, "write through" of all, or "" */
	bool		flush_may_hide; /* a FUA write may replace it, or the driver not count it */
	double		writes_per_op;	/* NAN if the counters may miss writes */
	sp_flush_facts device;
	bool		has_backing;	/* it is a loop device, which passes flushes on */
	const char *backing_write_cache;	/* as write_cache, of the disks below it */
	sp_flush_facts backing;
} sp_durable_facts;

extern const char *const sp_durable_names[];

/* Are data safe on stable storage then, as far as the counters and the device show? */
extern bool sp_durable_is_safe(sp_durable durable);

/* Add the difference of two readings.  A pair that cannot be used counts as lost. */
extern void sp_evidence_add(sp_evidence *evidence, const sp_counters before[SP_LEVELS],
							const sp_counters after[SP_LEVELS], int64_t ns, int64_t ops);

/* Per operation, for one level. */
extern sp_evidence_rates sp_evidence_rates_of(const sp_evidence *evidence, sp_level level);

/* Per second, for one level; NAN where it is not known. */
extern sp_background_rates sp_evidence_background(const sp_evidence *evidence, sp_level level);

/*
 * The rule for one test case.
 *
 * no: nothing is synced at all; or syncs (nearly) never write to the device; or
 * (nearly) no flushes arrive at a write-back cache, though they would be counted; or
 * some syncs had none at all.  Background I/O can hide a missing flush, but not remove
 * one.
 *
 * yes: each sync had a flush, and background I/O cannot have caused all of them, since it
 * flushes too seldom, or since it left control windows without a flush.
 *
 * no_cache: the device reports no volatile cache (write through).  Then the kernel sends
 * no flush, and none is needed.  The report of the device is the only evidence of it.
 *
 * unknown: anything else.
 */
extern sp_durable sp_judge_durable(const sp_durable_facts *facts);

/*
 * Why it is unknown, in words; NULL if it is not.  at_backing: that is so at the disks below a
 * loop device.
 */
extern const char *sp_unknown_durable_reason(const sp_durable_facts *facts, bool *at_backing);

/* ------------------------------------------------------------------ windows */

/*
 * Were there flushes in the time of each sync, and in times without one?
 *
 * A sync that reaches the device has a flush that begins after its write and ends before
 * it returns.  So the counters, read before and after each sync, show at least one flush
 * each time, however busy the device is.  Others flush, too: control windows show how often
 * a flush is seen in such a time without a sync of ours.  In these the probe writes,
 * does not sync, and waits as long as a sync took.
 *
 * The mean of flushes would prove less.  The kernel lets one flush serve all syncs that
 * wait for it.  So on a busy device a sync need not add a flush, and the mean of an
 * honest one is that of the control windows.  Times without any flush are not affected.
 *
 * On ext4 on a loop device, 200 syncs and 200 windows each: beside pgbench with 8 clients
 * no sync was without a flush, but 47 to 65 windows; with nobarrier, beside a program
 * that only flushes, 33 syncs were.
 */

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
extern double sp_windows_flushed_fraction(const sp_windows *windows, sp_level level);

/*
 * A lower bound of the share of syncs that had no flush, of ours or of others, with three
 * standard errors.  NAN without windows.
 */
extern double sp_windows_unflushed_fraction(const sp_windows *windows, sp_level level);

#endif							/* SP_EVIDENCE_H */
