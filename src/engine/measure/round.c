/*-------------------------------------------------------------------------
 *
 * round.c
 *		One round of a regime: every case once, in random order.
 *
 * A round is the unit of the verdict, so all its cases must have seen the same
 * state of the disk: it is short, and a case that fails is excluded for good.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/measure/probe_internal.h"

#include <stdlib.h>

/*
 * A slice has at least five counted operations; a slow device may take longer
 * for these, but never more than the case's share of the time.
 */
#define SLICE_MIN_OPS	5

/*
 * The slice of a case that never syncs, see SP_UNSYNCED_ROUNDS.  Its first fifth
 * is warm-up and is not counted.
 */
#define UNSYNCED_SLICE_NS		INT64_C(250000000)
#define UNSYNCED_WARM_UP_SHARE	5

/* The counters are read in a hundredth of a slice, or not in all slices. */
#define SLICE_COUNTERS_SHARE	100

/*
 * The length of all idle samples and of one, in times of a flush of ours.  Whoever
 * is not seen in 20 of them flushes in less than 1 of 6 (see
 * sp_evidence_max_flushes_per_second).  At most a tenth of the duration.
 */
#define ENOUGH_FLUSHES			20
#define IDLE_SAMPLE_FLUSHES		4
#define MAX_IDLE_SAMPLE_SHARE	10

int64_t
sp_now_ns(sp_probe *probe)
{
	return probe->callbacks.now_ns(probe->callbacks.context);
}

static void
series_append(sp_series *series, double round_us)
{
	series->pending_us += round_us;
	if (++series->pending < series->rounds_per_entry)
		return;

	if (series->n == SP_MAX_ROUNDS)
	{
		for (int i = 0; i < SP_MAX_ROUNDS / 2; i++)
			series->mean_us[i] = (series->mean_us[2 * i] + series->mean_us[2 * i + 1]) / 2;
		series->n = SP_MAX_ROUNDS / 2;
		series->rounds_per_entry *= 2;
		return;					/* what is pending is now half an entry */
	}
	series->mean_us[series->n++] = series->pending_us / (double) series->pending;
	series->pending = 0;
	series->pending_us = 0;
}

/* Has the case had all the rounds that it gets? */
bool
sp_is_finished(const sp_probe *probe, int c)
{
	return probe->results[c].excluded ||
		(probe->cases[c].max_rounds > 0 &&
		 probe->results[c].rounds.n >= probe->cases[c].max_rounds);
}

/* The cases of a regime that are to be measured, in a fresh random order. */
static int
shuffle_cases(sp_probe *probe, sp_regime regime, int *order)
{
	int			n = 0;

	for (int c = 0; c < probe->ncases; c++)
	{
		if (probe->cases[c].regime == regime && probe->results[c].status == SP_OK &&
			!sp_is_finished(probe, c))
			order[n++] = c;
	}
	for (int i = n - 1; i > 0; i--)
	{
		int			j = (int) (nrand48(probe->random_state) % (i + 1));
		int			swap = order[i];

		order[i] = order[j];
		order[j] = swap;
	}
	return n;
}

int
sp_count_cases(const sp_probe *probe, sp_regime regime)
{
	int			n = 0;

	for (int c = 0; c < probe->ncases; c++)
	{
		if (probe->cases[c].regime == regime && probe->results[c].status == SP_OK)
			n++;
	}
	return n;
}

static void
sleep_until(sp_probe *probe, int64_t deadline)
{
	if (sp_now_ns(probe) < deadline)
		probe->callbacks.sleep_until(probe->callbacks.context, deadline);
}

/* ----------------------------------------------------------------- counters */

void
sp_take_reading(sp_probe *probe, sp_reading *reading)
{
	reading->valid = probe->callbacks.read_counters != NULL &&
		probe->callbacks.read_counters(probe->callbacks.context, reading->counters);
	reading->at_ns = sp_now_ns(probe);
}

void
sp_end_reading(sp_probe *probe, sp_reading *reading, sp_evidence *evidence, int64_t ops)
{
	sp_reading	begin = *reading;

	if (probe->callbacks.read_counters == NULL)
		return;
	sp_take_reading(probe, reading);
	if (begin.valid && reading->valid)
		sp_evidence_add(evidence, begin.counters, reading->counters,
						reading->at_ns - begin.at_ns, ops);
	else
		evidence->lost++;
}

void
sp_idle_sample(sp_probe *probe, int64_t length_ns)
{
	sp_reading	reading;

	if (probe->callbacks.read_counters == NULL)
		return;
	sp_take_reading(probe, &reading);
	probe->callbacks.sleep_until(probe->callbacks.context, reading.at_ns + length_ns);
	sp_end_reading(probe, &reading, &probe->background, 0);
}

/*
 * The rest since the flush before: what has moved is background I/O.  But a
 * device that serves one request after the other ends that while ours waits: a
 * rest that is shorter than our flush took sees too little of it.
 */
static void
sample_rest(sp_probe *probe, sp_reading *reading, int64_t flush_ns)
{
	if (sp_now_ns(probe) - reading->at_ns >= flush_ns)
		sp_end_reading(probe, reading, &probe->background, 0);
	else
		sp_take_reading(probe, reading);
}

/*
 * Where there were no such rests: take idle samples between the rounds, until they
 * are long enough to say that background I/O does not flush in each of our flushes.
 */
static void
sample_more(sp_probe *probe, int64_t flush_ns)
{
	if (probe->background.ns < ENOUGH_FLUSHES * flush_ns &&
		probe->background.ns < probe->duration_ns / MAX_IDLE_SAMPLE_SHARE &&
		sp_now_ns(probe) + IDLE_SAMPLE_FLUSHES * flush_ns < probe->deadline_ns)
		sp_idle_sample(probe, IDLE_SAMPLE_FLUSHES * flush_ns);
}

/*
 * Is this a round in which the counters are read?  Twice a slice, that may cost
 * a hundredth of it; a disk takes a microsecond, so only with dozens of disks
 * below one file system rounds have to go without.
 */
static bool
round_has_evidence(const sp_probe *probe, sp_regime regime)
{
	int64_t		every = 1 + 2 * probe->counters_cost_ns * SLICE_COUNTERS_SHARE / SP_SLICE_NS;

	return probe->callbacks.read_counters != NULL && probe->rounds[regime] % every == 0;
}

/* -------------------------------------------------------------------- rounds */

/*
 * The end of a rest, so that busy is the duty cycle's share of the time since
 * begin.  A rest never goes beyond the deadline: no write follows it.
 */
static int64_t
end_of_rest(const sp_probe *probe, int64_t begin, int64_t busy)
{
	double		length = (double) busy / probe->duty_cycle;

	return length < (double) (probe->deadline_ns - begin) ? begin + (int64_t) length : probe->deadline_ns;
}

/* The end of a paced round that keeps the device busy for that long. */
static int64_t
end_of_paced_round(const sp_probe *probe, int64_t begin, int64_t busy)
{
	int64_t		end = end_of_rest(probe, begin, busy);

	return end > begin + probe->flush_interval_ns ? end : begin + probe->flush_interval_ns;
}

/*
 * Every case once, evenly spread over one flush interval: each file sees the
 * cluster's own interval, and the device rests in between as it does there.
 * Where the duty cycle makes that longer (as far as the round before tells),
 * the rests grow: other processes wait for one flush of ours at a time.
 */
void
sp_paced_round(sp_probe *probe, bool counted, int64_t limit)
{
	int			order[SP_MAX_CASES];
	int			n = shuffle_cases(probe, SP_PACED, order);
	int64_t		start = sp_now_ns(probe);
	int64_t		busy = 0;
	int64_t		length = end_of_paced_round(probe, start, probe->duty_cycle < 1 ? probe->paced_busy_ns : 0) - start;
	int64_t		end;
	bool		read = round_has_evidence(probe, SP_PACED);
	sp_reading	reading = {0};
	sp_evidence uncounted = {0};
	int64_t		elapsed = 0;

	for (int i = 0; i < n; i++)
	{
		sp_result  *result = &probe->results[order[i]];

		sleep_until(probe, start + length * i / n);
		if (sp_now_ns(probe) > limit)
			return;

		if (read && i > 0)
			sample_rest(probe, &reading, elapsed);
		else if (read)
			sp_take_reading(probe, &reading);
		elapsed = sp_timed_operation(probe, order[i]);
		if (read)
			sp_end_reading(probe, &reading, counted && elapsed >= 0 ? &result->evidence : &uncounted, 1);
		if (elapsed < 0)
			continue;
		busy += elapsed;
		if (counted)
		{
			sp_histogram_add(&result->histogram, (uint64_t) elapsed);
			series_append(&result->rounds, (double) elapsed / 1000);
		}
	}

	probe->paced_busy_ns = busy;
	end = end_of_paced_round(probe, start, busy);
	sleep_until(probe, end < probe->deadline_ns ? end : probe->deadline_ns);
	if (n > 0)
		sample_more(probe, busy / n);
}

/* With a duty cycle slices stay short: a long one would need a very long rest. */
static bool
has_long_slices(const sp_probe *probe, int c)
{
	return probe->files[probe->cases[c].file].method == NULL && probe->duty_cycle >= 1;
}

/* How long a slice lasts at least; share: at most. */
static int64_t
slice_length(const sp_probe *probe, int c, int64_t share)
{
	int64_t		length = SP_SLICE_NS;

	if (has_long_slices(probe, c) && share / SP_UNSYNCED_ROUNDS > length)
		length = share / SP_UNSYNCED_ROUNDS < UNSYNCED_SLICE_NS ? share / SP_UNSYNCED_ROUNDS : UNSYNCED_SLICE_NS;
	return length < share ? length : share;
}

/*
 * One case, back to back.  The first operation pays for what the case before left (a
 * time stamp to be journaled, a cold path) and is made but not counted.
 */
static void
saturated_slice(sp_probe *probe, int c, int64_t share, int64_t limit)
{
	sp_result  *result = &probe->results[c];
	int64_t		min_length = slice_length(probe, c, share);
	int64_t		begin = sp_now_ns(probe);
	int64_t		warm = begin + (has_long_slices(probe, c) ? min_length / UNSYNCED_WARM_UP_SHARE : 0);
	int64_t		sum = 0;
	int64_t		length;
	int			ops = 0;
	bool		complete;
	bool		read = round_has_evidence(probe, SP_SATURATED);
	sp_reading	reading = {0};

	do
	{
		if (sp_timed_operation(probe, c) < 0)
			return;
	} while (sp_now_ns(probe) < warm && sp_now_ns(probe) < limit);
	if (read)
		sp_take_reading(probe, &reading);
	do
	{
		int64_t		elapsed = sp_timed_operation(probe, c);

		if (elapsed < 0)
			return;
		sp_histogram_add(&result->histogram, (uint64_t) elapsed);
		sum += elapsed;
		ops++;
		length = sp_now_ns(probe) - begin;
		complete = length >= share || (length >= min_length && ops >= SLICE_MIN_OPS);
	} while (!complete && begin + length < limit);

	if (read)
		sp_end_reading(probe, &reading, &result->evidence, ops);
	/* a slice that was cut may have missed the clock tick, and seem too fast */
	if (complete)
		series_append(&result->rounds, (double) sum / ops / 1000);
	if (probe->duty_cycle < 1)
		sleep_until(probe, end_of_rest(probe, begin, length));
}

void
sp_saturated_round(sp_probe *probe, int64_t share, int64_t limit)
{
	int			order[SP_MAX_CASES];
	int			n = shuffle_cases(probe, SP_SATURATED, order);

	for (int i = 0; i < n && sp_now_ns(probe) <= limit; i++)
		saturated_slice(probe, order[i], share, limit);
}
