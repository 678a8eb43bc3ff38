/*-------------------------------------------------------------------------
 *
 * background.c
 *		The device's counters, around each slice and while nothing is written.
 *
 * What is counted while the probe writes nothing is background I/O, which is part of
 * what is counted during the slices.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/measure/probe_internal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* Sham windows may take a tenth of the time. */
#define MAX_SHAM_SHARE			10

/* So many tell, if anything can: with fewer than 60, one in five must have no flush. */
#define ENOUGH_SHAM_WINDOWS		100

/* Reading the counters may take a hundredth of a slice. */
#define SLICE_COUNTERS_SHARE	100

/*
 * The length of all idle samples and of one, as multiples of our flush time.  If no
 * flush is seen in 20 flush times, background I/O flushes in less than 1 of 6 (see
 * sp_evidence_max_flushes_per_second).  All samples take at most a tenth of the
 * duration.
 */
#define ENOUGH_FLUSHES			20
#define IDLE_SAMPLE_FLUSHES		4
#define MAX_IDLE_SAMPLE_SHARE	10

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
 * Take the rest since the last flush as an idle sample: what was counted is
 * background I/O.  A rest shorter than that flush is not taken.  While our flush
 * waited, the device may have served all requests of others, so that a short rest
 * sees too few of them.
 */
void
sp_sample_rest(sp_probe *probe, sp_counter_reading *reading, int64_t flush_ns)
{
	if (sp_now_ns(probe) - reading->at_ns >= flush_ns)
		sp_end_reading(probe, reading, &probe->background, 0);
	else
		sp_begin_reading(probe, reading);
}

/*
 * Without such rests, take idle samples between the rounds, until they are long
 * enough to exclude that background I/O flushes during each of our flushes.
 */
void
sp_sample_more(sp_probe *probe, int64_t flush_ns)
{
	if (probe->background.ns < ENOUGH_FLUSHES * flush_ns &&
		probe->background.ns < probe->duration_ns / MAX_IDLE_SAMPLE_SHARE &&
		sp_now_ns(probe) + IDLE_SAMPLE_FLUSHES * flush_ns < probe->deadline_ns)
		sp_idle_sample(probe, IDLE_SAMPLE_FLUSHES * flush_ns);
}

/* --------------------------------------------------------------- sham windows */

void
sp_end_flush(sp_probe *probe, sp_counter_reading *reading, sp_result *result)
{
	sp_counter_reading begin = *reading;
	sp_evidence uncounted = {0};

	sp_end_reading(probe, reading, result ? &result->evidence : &uncounted, 1);
	probe->last_flush_ns = reading->at_ns;
	if (result == NULL || !begin.valid || !reading->valid)
		return;
	sp_windows_add(result->windows.syncs, begin.counters, reading->counters);
	result->window_ns = reading->at_ns - begin.at_ns;
}

/* A file for sham writes: no paced case has it, and it can be written to directly. */
static const sp_file *
sham_file(const sp_probe *probe)
{
	for (int c = 0; c < probe->ncases; c++)
	{
		const sp_file *file = &probe->files[probe->cases[c].file];

		if (probe->cases[c].regime == SP_SATURATED && !probe->cases[c].contender &&
			!probe->cases[c].control && file->direct_io && file->status == SP_OK &&
			probe->results[c].status == SP_OK && file->size >= SP_WAL_PAGE_SIZE)
			return file;
	}
	return NULL;
}

/*
 * Write to the device without a sync.  A window needs that write: on some devices a write
 * waits for the flush of another process, so that a sync which makes no flush ends
 * together with one.  The write is direct, since a buffered one would not go to the device.
 */
static bool
sham_write(sp_probe *probe, const sp_file *file)
{
	int			fd;
	bool		written;

	probe->callbacks.operation_begin(probe->callbacks.context);
	fd = openat(file->directory_fd, file->name,
				O_RDWR | O_NOFOLLOW | O_CLOEXEC | sp_direct_io_flag);
	written = fd >= 0 && pwrite(fd, probe->buffer, SP_WAL_PAGE_SIZE, 0) == SP_WAL_PAGE_SIZE;
	if (fd >= 0 && close(fd) != 0)
		written = false;
	probe->callbacks.operation_end(probe->callbacks.context);
	return written;
}

static bool
others_flush(const sp_evidence *background)
{
	for (int level = 0; level < SP_LEVELS; level++)
	{
		if (background->counters[level].flushes > 0)
			return true;
	}
	return false;
}

/* The length of the last flush of any paced case; 0 if there was none. */
static int64_t
random_window_ns(sp_probe *probe)
{
	int			measured[SP_MAX_CASES];
	int			n = 0;

	for (int c = 0; c < probe->ncases; c++)
	{
		if (probe->results[c].window_ns > 0 && !sp_is_finished(probe, c))
			measured[n++] = c;
	}
	return n == 0 ? 0 : probe->results[measured[nrand48(probe->random_state) % n]].window_ns;
}

/*
 * Where nobody else flushes, the idle samples tell enough.  The window begins no sooner
 * after our last flush than it is long: that flush may have served the requests of others.
 * It counts for all cases whose last flush took no longer.
 */
void
sp_sham_window(sp_probe *probe)
{
	int64_t		now = sp_now_ns(probe);
	const sp_file *file = sham_file(probe);
	int64_t		length;
	int64_t		begin;
	sp_counter_reading before;
	sp_counter_reading after;

	if (!others_flush(&probe->background) || probe->sham_failed || file == NULL ||
		probe->sham_ns > (now - probe->started_ns) / MAX_SHAM_SHARE ||
		(length = random_window_ns(probe)) == 0)
		return;
	begin = probe->last_flush_ns + length > now ? probe->last_flush_ns + length : now;
	begin += (int64_t) (erand48(probe->random_state) * (double) length);
	if (begin + 2 * length > probe->deadline_ns)
		return;

	probe->callbacks.sleep_until(probe->callbacks.context, begin);
	sp_begin_reading(probe, &before);
	probe->sham_failed = !sham_write(probe, file);
	if (sp_now_ns(probe) < before.at_ns + length)
		probe->callbacks.sleep_until(probe->callbacks.context, before.at_ns + length);
	sp_begin_reading(probe, &after);
	probe->sham_ns += after.at_ns - now;
	if (probe->sham_failed || !before.valid || !after.valid)
		return;
	probe->sham_windows++;
	for (int c = 0; c < probe->ncases; c++)
	{
		if (probe->results[c].window_ns > 0 &&
			probe->results[c].window_ns <= after.at_ns - before.at_ns)
			sp_windows_add(probe->results[c].windows.shams, before.counters, after.counters);
	}
}

bool
sp_needs_windows(const sp_probe *probe)
{
	if (!others_flush(&probe->background) || probe->sham_failed || sham_file(probe) == NULL)
		return false;
	for (int c = 0; c < probe->ncases; c++)
	{
		const sp_test_case *test_case = &probe->cases[c];

		if (test_case->regime == SP_PACED && test_case->baseline == c &&
			probe->results[c].windows.shams[SP_LEVEL_DEVICE].all < ENOUGH_SHAM_WINDOWS)
			return sp_probe_method_durable(probe, test_case->label) == SP_DURABLE_UNKNOWN;
	}
	return false;
}

/* ------------------------------------------------------------------------ cost */

/*
 * Are the counters read in this round?  They are read twice a slice, which may
 * cost a hundredth of it.  A disk takes a microsecond, so rounds are skipped only
 * with dozens of disks below one file system.
 */
bool
sp_round_has_evidence(const sp_probe *probe, sp_regime regime)
{
	int64_t		every = 1 + 2 * probe->counters_cost_ns * SLICE_COUNTERS_SHARE / SP_SLICE_NS;

	return probe->callbacks.read_counters != NULL && probe->rounds[regime] % every == 0;
}
