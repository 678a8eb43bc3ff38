/*-------------------------------------------------------------------------
 *
 * probe_internal.h
 *		What operation.c, round.c and probe.c share, and nobody else uses.
 *
 * One direction: probe.c (the run) calls round.c (a round), which calls
 * operation.c (an operation).
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_PROBE_INTERNAL_H
#define SP_PROBE_INTERNAL_H

#include "engine/measure/probe.h"

/*
 * Run and time an operation of case c: its time in ns, or -1 when the case has
 * failed and is excluded.
 */
extern int64_t sp_timed_operation(sp_probe *probe, int c);

extern int64_t sp_now_ns(sp_probe *probe);

/* Has the case had all the rounds that it gets? */
extern bool sp_is_finished(const sp_probe *probe, int c);

/* How many cases of a regime can be measured? */
extern int	sp_count_cases(const sp_probe *probe, sp_regime regime);

/* The device's counters at one moment. */
typedef struct sp_reading
{
	bool		valid;
	int64_t		at_ns;
	sp_counters counters[SP_LEVELS];
} sp_reading;

/*
 * Read the counters; and read them again and add what came between to evidence,
 * for so many operations.  *reading is the later one then.
 */
extern void sp_take_reading(sp_probe *probe, sp_reading *reading);
extern void sp_end_reading(sp_probe *probe, sp_reading *reading, sp_evidence *evidence, int64_t ops);

/* Do nothing for so long, and count background I/O. */
extern void sp_idle_sample(sp_probe *probe, int64_t length_ns);

/*
 * A saturated slice lasts 4 ms, a tick of most kernels' clocks (HZ=250).  Within
 * a tick a file's time stamp changes once, which is what fsync and open_sync
 * have to journal: a shorter slice would often miss it, a longer one makes fewer
 * rounds.  Many short rounds are what beats the bursts of a shared disk: in
 * 2.5 s of a busy virtual disk the interval of the control was 0.90 to 1.10
 * with slices of 3 ms, 0.7 to 1.5 with 10 ms, and 0.4 to 4 with 30 ms.
 */
#define SP_SLICE_NS		INT64_C(4000000)

/*
 * A round; no operation of it is begun after limit.  counted: or only warming
 * up.  share: the most time, in ns, that a slice may take.  The rests of a duty
 * cycle end at the deadline of the probe.
 */
extern void sp_paced_round(sp_probe *probe, bool counted, int64_t limit);
extern void sp_saturated_round(sp_probe *probe, int64_t share, int64_t limit);

#endif							/* SP_PROBE_INTERNAL_H */
