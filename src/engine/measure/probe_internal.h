/*-------------------------------------------------------------------------
 *
 * probe_internal.h
 *		Shared by the files of a run.
 *
 * The row of a suite has functions to plan, run and judge it.  Suites of short slices run in
 * probe.c, which calls rotation.c (which file) and round.c (a round); stream and segments have
 * rounds of their own.  All use operation.c (an operation), background.c (the counters) and
 * analysis.c (a look, for which candidates.c compares methods).
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_PROBE_INTERNAL_H
#define SP_PROBE_INTERNAL_H

#include "engine/measure/measure.h"
#include "engine/text/text.h"

/* -------------------------------------------------------------------- plan.c */

/* Add a file or a test case to a plan.  Returns its index. */
extern int	sp_plan_file(sp_probe *probe, const sp_sync_method *method, bool direct_io,
						 int64_t size, int layout_write_size, bool offered);
extern int	sp_plan_case(sp_probe *probe, sp_test_case test_case);

/* Does this server open WAL with O_DIRECT for a method? */
extern bool sp_opens_directly(const sp_server *server, const sp_sync_method *method);

/* The share of the duration that the deciding regime gets; the other one is only shown. */
#define SP_DECIDING_SHARE	0.8

/* All of it if there are no cases of the other regime. */
extern double sp_regime_share(const sp_probe *probe, sp_regime regime);

/* --------------------------------------------------------------- operation.c */

extern int64_t sp_now_ns(sp_probe *probe);

/*
 * Calls that are one operation: what is the file, and how.  Returns NULL, or the name
 * of the call that failed, with errno set.
 */
typedef const char *(*sp_calls) (void *what);

/*
 * Check interrupts, and then time the calls as an operation.  Between the two readings of the
 * clock nothing else is done: no allocation, no message, no check of interrupts.
 */
extern const char *sp_time_calls(sp_probe *probe, sp_calls calls, void *what,
								 int64_t *elapsed_ns);

/* The same, and once more if a signal has interrupted them. */
extern const char *sp_repeat_calls(sp_probe *probe, sp_calls calls, void *what,
								   int64_t *elapsed_ns);

/*
 * Run and time one operation of case c at the place of a file: its own or a copy of
 * that.  Returns its time in ns, or -1 if it failed and the case is excluded.
 */
extern int64_t sp_timed_operation(sp_probe *probe, int c, int home);

/*
 * Exclude all test cases of a method whose file failed: the other regime shares its
 * descriptor, and a sync after a failed sync may report success.  From now on no file
 * moves, so that nobody else comes to the one that failed.
 */
extern void sp_fail_file(sp_probe *probe, int home, const char *call, int error_number);

/* -------------------------------------------------------------- open_file.c */

/*
 * Open a file by its name once more.  The name may be that of another file by now: then
 * this returns -1 with errno ESTALE, and has written nothing.
 */
extern int	sp_open_same_file(const sp_file *file, int flags);

/* Let the kernel forget what it has cached of a synced file; not every system can. */
extern void sp_drop_cached_pages(int fd);

/* --------------------------------------------------------------- rotation.c */

/*
 * Before every round: let the files be where they belong.  Returns true if they have
 * moved: then the next round must not be counted.
 */
extern bool sp_rotation_begin_round(sp_probe *probe, sp_regime regime);

/* ------------------------------------------------------------------- probe.c */

/* The first round of a regime may end so long after the deadline. */
#define SP_FIRST_ROUND_GRACE_NS	(2000 * SP_NS_PER_MS)

/* No operation of the next round of a regime begins after that. */
extern int64_t sp_round_limit(const sp_probe *probe, sp_regime regime);

/* Measure rounds of the regimes in turns: sp_suite.run() of suites of short slices. */
extern void sp_take_turns(sp_probe *probe);

/* ------------------------------------------------------------------- round.c */

/*
 * A saturated slice lasts a clock tick.  A shorter one would often miss what fsync pays
 * once a tick, and a longer one makes fewer rounds.  Many short rounds even out the
 * bursts of a shared disk: in 2.5 s of a busy virtual disk the interval of the control
 * was 0.90 to 1.10 with slices of 3 ms, 0.7 to 1.5 with 10 ms, and 0.4 to 4 with 30 ms.
 */
#define SP_SLICE_NS		SP_CLOCK_TICK_NS

/* Is the case excluded, or has it had all its rounds? */
extern bool sp_is_finished(const sp_probe *probe, int c);

/* How many cases of a regime are still measured? */
extern int	sp_count_cases(const sp_probe *probe, sp_regime regime);

/* The numbers below n in a new random order. */
extern void sp_random_order(sp_probe *probe, int n, int *order);

/*
 * An operation that is due in a round: a case, and which of its files it uses. A file
 * is known by its number in the plan, wherever it is now.
 */
typedef struct sp_due_operation
{
	int			c;
	int			home;
} sp_due_operation;

/*
 * The operations that are due in a round, in a new random order: every case of the regime that is
 * still measured, with so many of its files.  Returns how many these are.
 */
extern int	sp_shuffle_due(sp_probe *probe, sp_regime regime, int copies,
						   sp_due_operation due[SP_MAX_FILES]);

/* Rest as the duty cycle demands after having been busy since begin. */
extern void sp_rest_since(sp_probe *probe, int64_t begin);

/*
 * Measure one round.  Returns false if the limit cut it: then it must not be counted.
 * counted is false for a warm-up round; share is the longest time, in ns, that a slice may
 * take.  The rests of a duty cycle end at the deadline of the probe.
 */
extern bool sp_paced_round(sp_probe *probe, bool counted);
extern bool sp_saturated_round(sp_probe *probe, bool counted, int64_t share);

/* Add the mean time of a flush in one round. */
extern void sp_series_add_round(sp_series *series, double round_us);

/*
 * The rounds since the last end are a sample; nothing happens if there are none.  All
 * cases of a regime end a sample after the same round, so that they can be compared
 * sample by sample.
 */
extern void sp_series_end_sample(sp_series *series);

/* -------------------------------------------------------------- background.c */

/* The device's counters at one moment. */
typedef struct sp_counter_reading
{
	bool		valid;
	int64_t		at_ns;
	sp_counters counters[SP_LEVELS];
} sp_counter_reading;

extern void sp_begin_reading(sp_probe *probe, sp_counter_reading *reading);

/*
 * Read the counters again, and add what they counted meanwhile to the evidence of
 * so many operations, if that is not NULL.  *reading becomes the new reading.
 */
extern void sp_end_reading(sp_probe *probe, sp_counter_reading *reading,
						   sp_evidence *evidence, int64_t ops);

/*
 * The same for a paced flush, which is a window, too.  result: NULL if it does not
 * count.
 */
extern void sp_end_flush(sp_probe *probe, sp_counter_reading *reading, sp_result *result);

/* Sleep for so long, and count background I/O. */
extern void sp_idle_sample(sp_probe *probe, int64_t length_ns);

/*
 * Take the rest since the last flush, which took flush_ns (-1: it failed), as an idle
 * sample, if it is long enough.
 */
extern void sp_sample_rest(sp_probe *probe, sp_counter_reading *reading, int64_t flush_ns);

/* Take an idle sample between two rounds, if there are too few. */
extern void sp_sample_more(sp_probe *probe, int64_t flush_ns);

/* Take a control window after the last flush, if others flush and there is time for it. */
extern void sp_control_window(sp_probe *probe);

/*
 * May some more control windows decide whether the current method is durable?  Then the probe
 * does not stop early.  After 200 windows it does not wait for more.
 */
extern bool sp_needs_windows(const sp_probe *probe);

/* ---------------------------------------------------------------- analysis.c */

/*
 * At the end of a sample: look at the run, if that is due, and return whether it was.  The
 * probe is done if it stops early and the verdict is settled.
 */
extern bool sp_look_when_due(sp_probe *probe, sp_regime regime);

/* At the end of the run, the last look, unless it was done before. */
extern void sp_look_at_end(sp_probe *probe);

/*
 * Are samples of a baseline more than half of what a slow flush counts as, on average?  Where
 * processors are busy, most rounds wait for these.  Such samples are alike whatever the method is.
 */
extern bool sp_is_mostly_slow(const sp_result *baseline);

/* -------------------------------------------------------------- candidates.c */

/*
 * Fill in a comparison of the candidates of a test.  Returns false without a current one:
 * then nothing is judged.
 */
extern bool sp_compare(const sp_probe *probe, const char *test, sp_comparison *comparison);

/* Compare and judge the methods of the wal suite: its sp_suite.judge(). */
extern bool sp_judge_methods(sp_probe *probe);

/* The case of a method in a regime; -1 if there is none. */
extern int	sp_method_case(const sp_probe *probe, sp_regime regime, const char *label);

/* Is it unknown whether a method is durable, but would be known by control windows? */
extern bool sp_windows_may_decide(const sp_probe *probe, const char *label);

#endif							/* SP_PROBE_INTERNAL_H */
