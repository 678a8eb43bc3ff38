/*-------------------------------------------------------------------------
 *
 * round.c
 *		One round of a regime: every case once, in random order.
 *
 * The round is the unit of the verdict, so all its cases must see the same state
 * of the disk: a round is short, and a case that fails is excluded for good.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/measure/probe_internal.h"

#include <stdlib.h>

/*
 * A slice has at least five counted operations, or lasts two clock ticks.  Its first
 * operation, which is not counted, is part of that time.  On a disk that takes 8 ms for a
 * flush, five would leave time for nine rounds in 5 s, which are too few for any advice.
 */
#define SLICE_MIN_OPS	5
#define SLICE_ENOUGH_NS	(2 * SP_CLOCK_TICK_NS)

/*
 * The slice of a case that never syncs, see SP_UNSYNCED_ROUNDS.  Its first fifth
 * is warm-up and is not counted.
 */
#define UNSYNCED_SLICE_NS		(250 * SP_NS_PER_MS)
#define UNSYNCED_WARM_UP_SHARE	5

/* -------------------------------------------------------------- slow flushes */

/*
 * A flush is slow if it takes more than five times the baseline's median so far.  A
 * sample counts it as that long and no longer: the mean of all times would need ten
 * times the rounds, since a few flushes decide it.  That a method has more slow
 * flushes is judged apart, see sp_tail.
 */
#define SLOW_FACTOR		5
#define SLOW_MIN_OPS	16

/* Set slow_ns of a baseline again when it has an eighth more operations: it takes 2 us. */
static void
update_slow_limit(sp_result *baseline)
{
	uint64_t	ops = baseline->histogram.ops;

	if (ops < SLOW_MIN_OPS || ops < baseline->next_slow_ops)
		return;
	baseline->slow_ns =
		(int64_t) (SLOW_FACTOR * sp_histogram_quantile_ns(&baseline->histogram, 0.5));
	baseline->next_slow_ops = ops + ops / 8;
}

/* The share of a case in one round. */
typedef struct round_sum
{
	int			flushes;
	int64_t		ns;				/* none counts for more than slow_ns of its baseline */
	bool		slow;
} round_sum;

static void
count_flush(sp_probe *probe, int c, int64_t elapsed, round_sum *sum)
{
	int			baseline = probe->cases[c].baseline;
	int64_t		limit = 0;

	sp_histogram_add(&probe->results[c].histogram, (uint64_t) elapsed);
	if (baseline >= 0)
	{
		update_slow_limit(&probe->results[baseline]);
		limit = probe->results[baseline].slow_ns;
	}
	sum->flushes++;
	if (limit > 0 && elapsed > limit)
	{
		sum->slow = true;
		elapsed = limit;
	}
	sum->ns += elapsed;
}

/* ------------------------------------------------------------------ samples */

void
sp_series_add_round(sp_series *series, double round_us)
{
	series->rounds++;
	series->pending_rounds++;
	series->pending_us += round_us;
}

void
sp_series_end_sample(sp_series *series)
{
	if (series->pending_rounds == 0 || ++series->pending_ends < INT64_C(1) << series->merges)
		return;

	if (series->n == SP_MAX_SAMPLES)
	{
		for (int i = 0; i < SP_MAX_SAMPLES / 2; i++)
			series->mean_us[i] = (series->mean_us[2 * i] + series->mean_us[2 * i + 1]) / 2;
		series->n = SP_MAX_SAMPLES / 2;
		series->merges++;
		return;					/* what is pending is now half a sample */
	}
	series->mean_us[series->n++] = series->pending_us / (double) series->pending_rounds;
	series->pending_ends = 0;
	series->pending_rounds = 0;
	series->pending_us = 0;
}

/* Add a round to the series of a case; and to its tail, once its baseline shows what is slow. */
static void
add_round(sp_probe *probe, int c, const round_sum *sum)
{
	sp_result  *result = &probe->results[c];
	int			baseline = probe->cases[c].baseline;

	sp_series_add_round(&result->series, (double) sum->ns / sum->flushes / SP_NS_PER_US);
	if (baseline < 0 || probe->results[baseline].slow_ns == 0)
		return;
	result->tail.rounds++;
	result->tail.slow_rounds += sum->slow;
}

bool
sp_is_finished(const sp_probe *probe, int c)
{
	return probe->results[c].excluded ||
		(probe->cases[c].max_rounds > 0 &&
		 probe->results[c].series.rounds >= probe->cases[c].max_rounds);
}

/* Is a case of this regime still measured? */
static bool
is_due(const sp_probe *probe, int c, sp_regime regime)
{
	return probe->cases[c].regime == regime && probe->results[c].status == SP_OK &&
		!sp_is_finished(probe, c);
}

void
sp_random_order(sp_probe *probe, int n, int *order)
{
	for (int i = 0; i < n; i++)
	{
		int			j = (int) (nrand48(probe->random_state) % (i + 1));

		order[i] = j < i ? order[j] : i;
		order[j] = i;
	}
}

int
sp_shuffle_due(sp_probe *probe, sp_regime regime, int copies, sp_due_operation due[SP_MAX_FILES])
{
	sp_due_operation in_order[SP_MAX_FILES];
	int			order[SP_MAX_FILES];
	int			n = 0;

	for (int c = 0; c < probe->ncases; c++)
	{
		int			home = probe->cases[c].file;

		for (int copy = 0; copy < copies && home >= 0 && is_due(probe, c, regime); copy++)
		{
			in_order[n++] = (sp_due_operation) {c, home};
			home = probe->files[home].copy;
		}
	}
	sp_random_order(probe, n, order);
	for (int i = 0; i < n; i++)
		due[i] = in_order[order[i]];
	return n;
}

int
sp_count_cases(const sp_probe *probe, sp_regime regime)
{
	int			n = 0;

	for (int c = 0; c < probe->ncases; c++)
		n += is_due(probe, c, regime);
	return n;
}

/* -------------------------------------------------------------------- rounds */

/*
 * The end of the rest that makes busy the duty cycle's share of the time since
 * begin.  A rest ends at the deadline at the latest, since no write follows it.
 */
static int64_t
end_of_rest(const sp_probe *probe, int64_t begin, int64_t busy)
{
	double		length = (double) busy / probe->duty_cycle;

	return length < (double) (probe->deadline_ns - begin) ?
		begin + (int64_t) length : probe->deadline_ns;
}

void
sp_rest_since(sp_probe *probe, int64_t begin)
{
	if (probe->duty_cycle < 1)
		probe->callbacks.sleep_until(probe->callbacks.context,
									 end_of_rest(probe, begin, sp_now_ns(probe) - begin));
}

static int64_t
end_of_paced_round(const sp_probe *probe, int64_t begin, int64_t busy)
{
	int64_t		end = end_of_rest(probe, begin, busy);

	return end > begin + probe->flush_interval_ns ? end : begin + probe->flush_interval_ns;
}

/*
 * Every case once, or once for each of its copies, evenly spread over one flush interval:
 * each file is flushed at the cluster's own interval, and the device rests in between.
 * A duty cycle may lengthen the round, as far as the previous round shows; then all
 * rests grow, so that other processes wait for one flush of ours at a time.
 */
bool
sp_paced_round(sp_probe *probe, bool counted)
{
	sp_due_operation due[SP_MAX_FILES];
	round_sum	sums[SP_MAX_CASES] = {0};
	int			n = sp_shuffle_due(probe, SP_PACED, probe->paced_copies, due);
	int64_t		limit = sp_round_limit(probe, SP_PACED);
	int64_t		start = sp_now_ns(probe);
	int64_t		busy = 0;
	int64_t		expected_busy = probe->duty_cycle < 1 ? probe->paced_busy_ns : 0;
	int64_t		length = end_of_paced_round(probe, start, expected_busy) - start;
	int64_t		end;
	sp_counter_reading reading = {0};
	int64_t		elapsed = 0;

	for (int i = 0; i < n; i++)
	{
		int			c = due[i].c;
		sp_result  *result = &probe->results[c];

		/* a copy that failed in this round has excluded the case */
		if (result->status != SP_OK)
			continue;
		probe->callbacks.sleep_until(probe->callbacks.context, start + length * i / n);
		if (sp_now_ns(probe) > limit)
			return false;

		if (i > 0)
			sp_sample_rest(probe, &reading, elapsed);
		else
			sp_begin_reading(probe, &reading);
		elapsed = sp_timed_operation(probe, c, due[i].home);
		probe->last_flush_ns = sp_now_ns(probe);
		sp_end_flush(probe, &reading, counted && elapsed >= 0 ? result : NULL);
		if (elapsed < 0)
			continue;
		busy += elapsed;
		if (counted)
			count_flush(probe, c, elapsed, &sums[c]);
	}
	for (int c = 0; c < probe->ncases; c++)
	{
		if (sums[c].flushes > 0 && probe->results[c].status == SP_OK)
			add_round(probe, c, &sums[c]);
	}

	probe->paced_busy_ns = busy;
	end = end_of_paced_round(probe, start, busy);
	probe->callbacks.sleep_until(probe->callbacks.context,
								 end < probe->deadline_ns ? end : probe->deadline_ns);
	if (n > 0)
		sp_sample_more(probe, busy / n);
	return true;
}

/* With a duty cycle, slices stay short: a long slice would need a very long rest. */
static bool
has_long_slices(const sp_probe *probe, int c)
{
	return probe->files[probe->cases[c].file].method == NULL && probe->duty_cycle >= 1;
}

/* The minimum length of a slice; share is its maximum. */
static int64_t
slice_length(const sp_probe *probe, int c, int64_t share)
{
	int64_t		length = SP_SLICE_NS;
	int64_t		longer = share / SP_UNSYNCED_ROUNDS;

	if (has_long_slices(probe, c) && longer > length)
		length = longer < UNSYNCED_SLICE_NS ? longer : UNSYNCED_SLICE_NS;
	return length < share ? length : share;
}

/*
 * One case, back to back.  The first operation is not counted: it pays for what the
 * previous case left behind (a time stamp to be journaled, cold caches).
 */
static bool
saturated_slice(sp_probe *probe, int c, bool counted, int64_t share, int64_t limit)
{
	int			file = probe->cases[c].file;
	int64_t		min_length = slice_length(probe, c, share);
	int64_t		begin = sp_now_ns(probe);
	int64_t		warm_up = has_long_slices(probe, c) ? min_length / UNSYNCED_WARM_UP_SHARE : 0;
	round_sum	sum = {0};
	int64_t		length;
	bool		complete;
	sp_counter_reading reading = {0};

	do
	{
		if (sp_timed_operation(probe, c, file) < 0)
			return true;
	} while (sp_now_ns(probe) < begin + warm_up && sp_now_ns(probe) < limit);
	if (!counted || sp_now_ns(probe) >= limit)
	{
		sp_rest_since(probe, begin);
		return !counted;
	}
	sp_begin_reading(probe, &reading);
	do
	{
		int64_t		elapsed = sp_timed_operation(probe, c, file);

		if (elapsed < 0)
			return true;
		count_flush(probe, c, elapsed, &sum);
		length = sp_now_ns(probe) - begin;
		complete = length >= share ||
			(length >= min_length && (sum.flushes >= SLICE_MIN_OPS || length >= SLICE_ENOUGH_NS));
	} while (!complete && begin + length < limit);

	sp_end_reading(probe, &reading, &probe->results[c].evidence, sum.flushes);
	/* a slice that was cut short may have missed the clock tick, and seem too fast */
	if (complete)
		add_round(probe, c, &sum);
	sp_rest_since(probe, begin);
	return complete;
}

bool
sp_saturated_round(sp_probe *probe, bool counted, int64_t share)
{
	sp_due_operation due[SP_MAX_FILES];
	int			n = sp_shuffle_due(probe, SP_SATURATED, 1, due);
	int64_t		limit = sp_round_limit(probe, SP_SATURATED);

	for (int i = 0; i < n; i++)
	{
		if (sp_now_ns(probe) > limit || !saturated_slice(probe, due[i].c, counted, share, limit))
			return false;
	}
	return true;
}
