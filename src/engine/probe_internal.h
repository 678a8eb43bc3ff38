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

#include "probe.h"

/*
 * Run and time an operation of case c: its time in ns, or -1 when the case has
 * failed and is out.
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

/* Do nothing for so long, and hear what others do. */
extern void sp_listen(sp_probe *probe, int64_t length_ns);

/*
 * A round; no case is begun after give_up.  counted: or only warming up.
 * share: the most time, in ns, that a slice may take.
 */
extern void sp_paced_round(sp_probe *probe, bool counted, int64_t give_up);
extern void sp_saturated_round(sp_probe *probe, int64_t share, int64_t give_up);

#endif							/* SP_PROBE_INTERNAL_H */
