/*-------------------------------------------------------------------------
 *
 * callbacks.c
 *		The callbacks of the engine: clock, interrupts, sleep, counters, progress.
 *
 * The engine calls them between the operations, thousands of times a second, so they
 * must be fast.  Each may throw an error; the engine is not called again after it.
 *
 *-------------------------------------------------------------------------
 */
#include "probe/probe.h"

#include "miscadmin.h"
#include "storage/latch.h"

#include "compat.h"
#include "engine/text/text.h"

/*
 * How often a probe checks free space, and for DROP EXTENSION.  A slow check (remote file
 * system, thousands of WAL segments) runs less often, so that it takes at most 1/50 of the
 * time.
 */
#define SPACE_CHECK_INTERVAL_NS	(250 * SP_NS_PER_MS)
#define SPACE_CHECK_SHARE		50

static int64_t
callback_now(void *context)
{
	return ((sp_probing *) context)->now_ns = sp_monotonic_ns();
}

static void
check_again(sp_probing *state)
{
	int64_t		begin_ns = callback_now(state);
	int64_t		end_ns;

	sp_check_postmaster();
	sp_yield_to_drop();
	sp_check_reserve(&state->run->location, state->directory_fd, 0);
	end_ns = callback_now(state);
	state->next_check_ns = end_ns +
		Max(SPACE_CHECK_INTERVAL_NS, (end_ns - begin_ns) * SPACE_CHECK_SHARE);
}

/* Called between any two operations, so it uses the last reading of the clock. */
static void
callback_check_interrupts(void *context)
{
	sp_probing *state = context;

	CHECK_FOR_INTERRUPTS();
	if (state->now_ns >= state->next_check_ns)
		check_again(state);
}

/* macOS sleeps for a time only, not until one. */
static void
sleep_precisely(int64_t deadline_ns, int64_t left_ns pg_attribute_unused())
{
#ifdef TIMER_ABSTIME
	struct timespec until = {deadline_ns / SP_NS_PER_S, deadline_ns % SP_NS_PER_S};

	(void) clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
#else
	struct timespec left = {left_ns / SP_NS_PER_S, left_ns % SP_NS_PER_S};

	(void) nanosleep(&left, NULL);
#endif
}

/*
 * A latch wait has a resolution of 1 ms, which is too coarse for a flush interval of
 * 0.5 ms.  So the last 2 ms are slept by sleep_precisely().  A busy loop would keep
 * the processor at its full clock rate, unlike on an idle server.
 */
static void
callback_sleep_until(void *context, int64_t deadline_ns)
{
	sp_probing *state = context;

	for (;;)
	{
		int64_t		left = deadline_ns - callback_now(context);

		if (left <= 0)
			return;
		if (left < 2 * SP_NS_PER_MS)
			sleep_precisely(deadline_ns, left);
		else
		{
			(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
							 (long) (Min(left - SP_NS_PER_MS, SPACE_CHECK_INTERVAL_NS) /
									 SP_NS_PER_MS),
							 state->sleep_wait_event);
			ResetLatch(MyLatch);
		}
		callback_check_interrupts(context);
	}
}

/* Before a file is created. */
static void
callback_check_space(void *context, int64_t bytes)
{
	sp_probing *state = context;

	sp_check_reserve(&state->run->location, state->directory_fd, bytes);
}

static void
callback_operation_begin(void *context)
{
	pgstat_report_wait_start(((sp_probing *) context)->flush_wait_event);
}

static void
callback_operation_end(void *context pg_attribute_unused())
{
	pgstat_report_wait_end();
}

static bool
callback_read_counters(void *context, sp_counters counters[SP_LEVELS])
{
	return sp_disks_read(&((sp_probing *) context)->run->storage.disks, counters);
}

/* ----------------------------------------------------------------- progress */

/* While it is measured, the deciding regime is shown. */
static bool
is_shown(const sp_probe *probe, const sp_test_case *test_case)
{
	return test_case->regime == probe->deciding && !test_case->control &&
		test_case->baseline >= 0 && test_case->max_rounds == 0;
}

/* "paced: fsync 812 us, fdatasync 633 us": mean times, as far as they fit; may be empty. */
static char *
describe_means(const sp_probe *probe)
{
	const char *test = NULL;
	StringInfoData line;

	initStringInfo(&line);
	for (int c = 0; c < probe->ncases; c++)
	{
		const sp_test_case *test_case = &probe->cases[c];
		double		mean_ns = sp_histogram_mean_ns(&probe->results[c].histogram);
		char	   *mean;

		if (!is_shown(probe, test_case) || probe->results[c].histogram.ops == 0 ||
			(test && test != test_case->test))
			continue;
		mean = psprintf(mean_ns < 1e7 ? "%s %s %.0f us" : "%s %s %.0f ms",
						test ? "," : psprintf("%s:", test_case->test), test_case->label,
						mean_ns < 1e7 ? mean_ns / 1e3 : mean_ns / 1e6);
		if (line.len + strlen(mean) >= SP_NOTICE_LENGTH)
			break;
		appendStringInfoString(&line, mean);
		test = test_case->test;
	}
	return line.data;
}

/* Send a progress NOTICE, unless it is too early. */
static void
callback_round_done(void *context)
{
	sp_probing *state = context;
	const sp_probe *probe = state->run->probe;
	int64_t		elapsed_ns = state->now_ns - probe->started_ns;
	char	   *line;

	if (state->now_ns < Max(state->next_notice_ns, probe->started_ns + SP_NS_PER_S))
		return;
	line = state->run->suite->progress ? state->run->suite->progress(probe) : describe_means(probe);
	if (line[0] != '\0')
	{
		ereport(NOTICE, (errmsg("%.1f s, %s", elapsed_ns / 1e9, line)));
		state->next_notice_ns = state->now_ns + SP_NOTICE_PAUSE(elapsed_ns, SP_NS_PER_S);
	}
	pfree(line);
}

/* Send a NOTICE about the writing of files, if it takes longer than a second. */
void
sp_notice_filling(sp_probing *state)
{
	int64		now_ns = callback_now(state);

	if (state->next_notice_ns == 0)
		state->next_notice_ns = now_ns + SP_NS_PER_S;
	if (now_ns < state->next_notice_ns)
		return;
	ereport(NOTICE,
			(errmsg("writing files, %s of %s", sp_pretty_bytes(state->filled_bytes),
					sp_pretty_bytes(sp_probe_files_size(state->run->probe)))));
	state->next_notice_ns = now_ns + SP_NS_PER_S;
}

/*
 * The cost of reading the clock: the minimum of 64 means of 64 readings.  A mean is
 * needed because some clocks have steps of 10 ns, while an unsynced write takes 250 ns.
 * The minimum excludes interrupts.
 */
static int64
clock_cost_ns(sp_probing *context)
{
	const int	readings = 64;
	int64		minimum = SP_NS_PER_S;

	for (int i = 0; i < 64; i++)
	{
		int64		before = callback_now(context);
		int64		after = before;

		for (int k = 0; k < readings; k++)
			after = callback_now(context);
		minimum = Min(minimum, after - before);
	}
	return minimum / readings;
}

/* Set the callbacks of the probe.  The state must outlive it. */
void
sp_callbacks_set(sp_probe *probe, sp_probing *state)
{
	state->flush_wait_event = sp_wait_event_new("SyncProbeFlush");
	state->sleep_wait_event = sp_wait_event_new("SyncProbeSleep");
	probe->clock_cost_ns = clock_cost_ns(state);
	probe->callbacks = (sp_callbacks) {
		.context = state,
		.now_ns = callback_now,
		.check_interrupts = callback_check_interrupts,
		.sleep_until = callback_sleep_until,
		.operation_begin = callback_operation_begin,
		.operation_end = callback_operation_end,
		.round_done = callback_round_done,
		.read_counters = callback_read_counters,
		.check_space = callback_check_space,
	};
}
