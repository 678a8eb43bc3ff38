/*-------------------------------------------------------------------------
 *
 * background.c
 *		The device's counters: around each slice, while nothing is written, and in control windows,
 *		the time of a flush without a sync of ours.
 *
 * What is counted while the probe writes nothing is background I/O, which is part of
 * what is counted during the slices.  See engine/verdict/evidence.h for what windows show.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/measure/probe_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/*
 * The length of all idle samples and of one, as multiples of our flush time.  If no
 * flush is seen in 20 flush times, background I/O flushes in less than 1 of 6 (see
 * sp_evidence_background).  How much it writes is known only if it is seen for
 * as long as the syncs of a case.  All samples take at most a sixth of the duration: that is
 * what each of five cases has where paced flushes leave no rest, as on btrfs.
 */
#define ENOUGH_FLUSHES			20
#define IDLE_SAMPLE_FLUSHES		4
#define MAX_IDLE_SAMPLE_SHARE	6

void
sp_begin_reading(sp_probe *probe, sp_counter_reading *reading)
{
	reading->valid = probe->callbacks.read_counters != NULL &&
		probe->callbacks.read_counters(probe->callbacks.context, reading->counters);
	reading->at_ns = sp_now_ns(probe);
}

void
sp_end_reading(sp_probe *probe, sp_counter_reading *reading, sp_evidence *evidence, int64_t ops)
{
	sp_counter_reading begin = *reading;

	if (probe->callbacks.read_counters == NULL)
		return;
	sp_begin_reading(probe, reading);
	if (evidence == NULL)
		return;
	if (begin.valid && reading->valid)
		sp_evidence_add(evidence, begin.counters, reading->counters,
						reading->at_ns - begin.at_ns, ops);
	else
		evidence->lost++;
}

void
sp_idle_sample(sp_probe *probe, int64_t length_ns)
{
	sp_counter_reading reading;

	if (probe->callbacks.read_counters == NULL)
		return;
	sp_begin_reading(probe, &reading);
	probe->callbacks.sleep_until(probe->callbacks.context, reading.at_ns + length_ns);
	sp_end_reading(probe, &reading, &probe->background, 0);
}

/*
 * A rest shorter than that flush is not taken.  While our flush waited, the device may have
 * served all requests of others, so that a short rest sees too few of them.
 */
void
sp_sample_rest(sp_probe *probe, sp_counter_reading *reading, int64_t flush_ns)
{
	if (flush_ns >= 0 && sp_now_ns(probe) - reading->at_ns >= flush_ns)
		sp_end_reading(probe, reading, &probe->background, 0);
	else
		sp_begin_reading(probe, reading);
}

/* How long the paced case took that took longest. */
static int64_t
paced_syncs_ns(const sp_probe *probe)
{
	int64_t		longest = 0;

	for (int c = 0; c < probe->ncases; c++)
	{
		if (probe->cases[c].regime == SP_PACED && probe->results[c].evidence.ns > longest)
			longest = probe->results[c].evidence.ns;
	}
	return longest;
}

/*
 * Without such rests, take idle samples between the rounds, until they are long
 * enough to exclude that background I/O flushes during each of our flushes, and as long as
 * these.
 */
void
sp_sample_more(sp_probe *probe, int64_t flush_ns)
{
	int64_t		syncs_ns = paced_syncs_ns(probe);
	int64_t		enough_ns = ENOUGH_FLUSHES * flush_ns;

	if (probe->background.ns < (syncs_ns > enough_ns ? syncs_ns : enough_ns) &&
		probe->background.ns < probe->duration_ns / MAX_IDLE_SAMPLE_SHARE &&
		sp_now_ns(probe) + IDLE_SAMPLE_FLUSHES * flush_ns < probe->deadline_ns)
		sp_idle_sample(probe, IDLE_SAMPLE_FLUSHES * flush_ns);
}

void
sp_end_flush(sp_probe *probe, sp_counter_reading *reading, sp_result *result)
{
	sp_counter_reading begin = *reading;

	sp_end_reading(probe, reading, result ? &result->evidence : NULL, 1);
	if (result == NULL || !begin.valid || !reading->valid)
		return;
	sp_windows_add(result->windows.syncs, begin.counters, reading->counters);
	result->window_ns = reading->at_ns - begin.at_ns;
}

/* ----------------------------------------------------------- control windows */

/* Control windows may take a tenth of the time. */
#define MAX_WINDOWS_SHARE			10

/*
 * 100 windows decide if at least one in seven has no flush; 60 need one in five (Wilson
 * bounds, as many syncs as controls).  Some windows count for other methods only, or their
 * counters cannot be read: after 200 none is waited for.
 */
#define ENOUGH_WINDOWS		100
#define MAX_AWAITED_WINDOWS		200

/* A file for control writes: no paced case has it, and it can be written to directly. */
static const sp_file *
window_file(const sp_probe *probe)
{
	for (int c = 0; c < probe->ncases; c++)
	{
		const sp_file *file = &probe->files[probe->cases[c].file];

		if (probe->cases[c].regime == SP_SATURATED && !probe->cases[c].candidate &&
			!probe->cases[c].control && file->direct_io && file->status == SP_OK &&
			probe->results[c].status == SP_OK && file->size >= SP_WAL_PAGE_SIZE)
			return file;
	}
	return NULL;
}

/*
 * An sp_calls: write to the device without a sync.  A window needs that write: on some devices
 * a write waits for the flush of another process, so that a sync which makes no flush ends
 * together with one.  The write is direct, since a buffered one would not go to the device.
 */
static const char *
write_directly(void *what)
{
	const sp_probe *probe = what;
	int			fd = sp_open_same_file(window_file(probe), O_RDWR | O_NOFOLLOW | O_CLOEXEC |
									   sp_direct_io_flag);
	ssize_t		written;
	int			write_errno;

	if (fd < 0)
		return "open";
	errno = 0;
	written = pwrite(fd, probe->buffer, SP_WAL_PAGE_SIZE, 0);
	write_errno = errno;
	if (close(fd) != 0)
		return "close";
	errno = write_errno;
	return written == SP_WAL_PAGE_SIZE ? NULL : "pwrite";
}

/* Where nobody else flushes, the idle samples show enough. */
static bool
windows_may_help(const sp_probe *probe)
{
	return (probe->background.counters[SP_LEVEL_DEVICE].flushes > 0 ||
			probe->background.counters[SP_LEVEL_BACKING].flushes > 0) &&
		!probe->windows_failed && window_file(probe) != NULL;
}

/*
 * The paced case of the current method, if more windows may decide whether it is durable;
 * else -1.
 */
static int
case_without_windows(const sp_probe *probe)
{
	for (int c = 0; c < probe->ncases; c++)
	{
		const sp_test_case *test_case = &probe->cases[c];

		if (test_case->regime == SP_PACED && test_case->baseline == c &&
			probe->results[c].status == SP_OK && probe->results[c].window_ns > 0 &&
			probe->results[c].windows.controls[SP_LEVEL_DEVICE].all < ENOUGH_WINDOWS &&
			sp_windows_may_decide(probe, test_case->label))
			return c;
	}
	return -1;
}

/*
 * The length of the last flush of the current method while that lacks windows: a window
 * counts for a case only if it is as long as its flush.  Then that of any paced case.
 * 0 if there was no flush.
 */
static int64_t
random_window_ns(sp_probe *probe)
{
	int			measured[SP_MAX_CASES];
	int			n = 0;
	int			current = case_without_windows(probe);

	if (current >= 0)
		return probe->results[current].window_ns;
	for (int c = 0; c < probe->ncases; c++)
	{
		if (probe->results[c].window_ns > 0 && !sp_is_finished(probe, c))
			measured[n++] = c;
	}
	return n == 0 ? 0 : probe->results[measured[nrand48(probe->random_state) % n]].window_ns;
}

/*
 * Wait for the begin, write, and wait for the end.  After our last flush the window waits for
 * at least its own length, and then for a random time: that flush may have served the requests
 * of others.  False if there is no time for it.
 */
static bool
take_window(sp_probe *probe, int64_t length, sp_counter_reading *before,
			sp_counter_reading *after)
{
	const sp_callbacks *callbacks = &probe->callbacks;
	int64_t		begin = sp_now_ns(probe);
	int64_t		elapsed_ns;

	if (begin < probe->last_flush_ns + length)
		begin = probe->last_flush_ns + length;
	begin += (int64_t) (erand48(probe->random_state) * (double) length);
	if (begin + 2 * length > probe->deadline_ns)
		return false;
	callbacks->sleep_until(callbacks->context, begin);
	sp_begin_reading(probe, before);
	probe->windows_failed = sp_repeat_calls(probe, write_directly, probe, &elapsed_ns) != NULL;
	callbacks->sleep_until(callbacks->context, before->at_ns + length);
	sp_begin_reading(probe, after);
	return true;
}

/* Count a window for all cases whose last flush took no longer. */
static void
count_window(sp_probe *probe, const sp_counter_reading *before, const sp_counter_reading *after)
{
	for (int c = 0; c < probe->ncases; c++)
	{
		sp_result  *result = &probe->results[c];

		if (result->window_ns > 0 && result->window_ns <= after->at_ns - before->at_ns)
			sp_windows_add(result->windows.controls, before->counters, after->counters);
	}
}

void
sp_control_window(sp_probe *probe)
{
	int64_t		now = sp_now_ns(probe);
	int64_t		length;
	sp_counter_reading before;
	sp_counter_reading after;

	if (!windows_may_help(probe) ||
		probe->windows_ns > (now - probe->started_ns) / MAX_WINDOWS_SHARE)
		return;
	length = random_window_ns(probe);
	if (length == 0 || !take_window(probe, length, &before, &after))
		return;
	probe->windows_ns += after.at_ns - now;
	if (probe->windows_failed)
		return;
	probe->control_windows++;
	if (before.valid && after.valid)
		count_window(probe, &before, &after);
}

bool
sp_needs_windows(const sp_probe *probe)
{
	return windows_may_help(probe) && !probe->exhausted[SP_PACED] &&
		probe->control_windows < MAX_AWAITED_WINDOWS && case_without_windows(probe) >= 0;
}
