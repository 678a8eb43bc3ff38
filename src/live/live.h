/*-------------------------------------------------------------------------
 *
 * live/live.h
 *		The commits of the running server: watch them, and make some.
 *
 * sampler.c samples the processes of the server.  commit_waits.c makes
 * sync_probe.commit_waits() of it.
 *
 * It must not: change a setting of another process, or judge.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_LIVE_H
#define SP_LIVE_H

#include "common/common.h"
#include "engine/verdict/commit_waits.h"

/* -------------------------------------------------------------- sampler.c */

/*
 * Samples the processes of this server without a lock, about once a millisecond.  In the
 * current memory context.
 */
typedef struct sp_sampler sp_sampler;

extern sp_sampler *sp_sampler_make(void);

/* Begin a time: all sums are zero, and the server's counters are read. */
extern void sp_sampler_start(sp_sampler *sampler);

/* One sample, without a pause.  What it reads may be torn apart by a few microseconds. */
extern void sp_sampler_take(sp_sampler *sampler);

/* Sleep for 0.5 to 1.5 ms, at random. */
extern void sp_sampler_sleep(sp_sampler *sampler);

/* Sample until that much of the time has passed.  Handles interrupts. */
extern void sp_sampler_run(sp_sampler *sampler, double seconds);

/* End the time: the sums are complete. */
extern const sp_commit_sums *sp_sampler_stop(sp_sampler *sampler);

/* Is WAL written that is not flushed, now? */
extern bool sp_wal_is_unflushed(void);

#endif							/* SP_LIVE_H */
