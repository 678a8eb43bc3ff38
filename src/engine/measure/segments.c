/*-------------------------------------------------------------------------
 *
 * segments.c
 *		The rounds of the suite segments.
 *
 * A round has a segment of each kind in random order, and the current ones twice.  Each is
 * made, its first flushes are measured, and, unless it is recycled, it is removed.  The
 * time of the whole segment is that of its creation, and the mean flush as often as a
 * segment holds one: to measure all flushes would take a second or more for each kind.
 *
 * The first round is not counted.  Each round tells how many flushes leave time for enough
 * rounds to come: a shared disk can be ten times as slow a second later.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/measure/segments_internal.h"

#include <errno.h>
#include <stdlib.h>

/*
 * The duration should have room for as many rounds.  A verdict needs 16 of them, and many
 * short ones tell more of a shared disk than few long ones: in 20 s the control on xfs was
 * 0.96 to 1.06 with 156 rounds, and 0.94 to 1.36 in 12 s with 23.
 */
#define WANTED_ROUNDS		64

/* So few flushes say little about the mean; the first round has as many. */
#define MIN_FIRST_FLUSHES	8

/* One round may be a lucky one: the next has so many times its flushes at most. */
#define MAX_GROWTH			4

/* What was measured of the segment of a slot. */
typedef struct slot_times
{
	bool		complete;
	int64_t		made_ns;
	int64_t		flushes_ns;
	int64_t		removed_ns;
} slot_times;

/* ----------------------------------------------------------------- results */

static sp_result *
result_of(sp_probe *probe, sp_segment_part part, const sp_segment_slot *slot)
{
	int			c = sp_segment_case(probe, part, slot->file);

	return c < 0 ? NULL : &probe->results[c];
}

static void
add_operation(sp_probe *probe, sp_segment_part part, const sp_segment_slot *slot, int64_t ns)
{
	sp_result  *result = result_of(probe, part, slot);

	if (result)
		sp_histogram_add(&result->histogram, (uint64_t) ns);
}

/* The counters of the first round are not counted, either. */
static void
end_reading(sp_probe *probe, sp_counter_reading *reading, sp_segment_part part,
			const sp_segment_slot *slot, bool counted, int64_t ops)
{
	sp_result  *result = counted ? result_of(probe, part, slot) : NULL;
	sp_evidence unused = {0};

	sp_end_reading(probe, reading, result ? &result->evidence : &unused, ops);
}

static bool
has_failed(const sp_probe *probe, const sp_segment_slot *slot)
{
	return probe->results[sp_segment_case(probe, SP_CREATION, slot->file)].status != SP_OK;
}

/* -------------------------------------------------------------------- a slot */

/* Returns false if it ended before its time: a failed flush, or the limit. */
static bool
flush_segment(sp_probe *probe, const sp_segment_slot *slot, int flushes, bool counted,
			  int64_t limit, int64_t *flushes_ns)
{
	int			c = sp_segment_case(probe, SP_FIRST_FLUSHES, slot->file);

	*flushes_ns = 0;
	for (int i = 0; i < flushes; i++)
	{
		int64_t		elapsed;

		if (sp_now_ns(probe) >= limit)
			return false;
		elapsed = sp_timed_operation(probe, c, slot->file);
		if (elapsed < 0)
			return false;
		*flushes_ns += elapsed;
		if (counted)
			add_operation(probe, SP_FIRST_FLUSHES, slot, elapsed);
	}
	return true;
}

/* Handle how a step ended; returns whether the next one follows. */
static bool
goes_on(sp_probe *probe, const sp_segment_slot *slot, const sp_segment_work *work,
		sp_segment_end end)
{
	if (end == SP_SEGMENT_FAILED)
		sp_fail_file(probe, slot->file, work->failed, errno);
	return end == SP_SEGMENT_DONE;
}

static slot_times
measure_slot(sp_probe *probe, const sp_segment_slot *slot, int flushes, bool counted,
			 int64_t limit)
{
	sp_file    *file = &probe->files[slot->file];
	sp_segment_work work = {.probe = probe, .file = file, .limit = limit};
	slot_times	times = {0};
	sp_counter_reading reading;

	if (slot->kind == SP_RECYCLED)
		sp_segment_let_age(file);
	sp_begin_reading(probe, &reading);
	if (!goes_on(probe, slot, &work, sp_segment_make(&work, slot->kind)))
		return times;
	times.made_ns = work.ns;
	end_reading(probe, &reading, SP_CREATION, slot, counted, 1);
	if (!flush_segment(probe, slot, flushes, counted, limit, &times.flushes_ns))
		return times;
	end_reading(probe, &reading, SP_FIRST_FLUSHES, slot, counted, flushes);
	if (slot->kind != SP_RECYCLED)
	{
		work.ns = 0;
		if (!goes_on(probe, slot, &work, sp_segment_remove(&work)))
			return times;
		times.removed_ns = work.ns;
		end_reading(probe, &reading, SP_REMOVAL, slot, counted, 1);
	}
	times.complete = true;
	return times;
}

/* ------------------------------------------------------------------- a round */

static void
shuffle_slots(sp_probe *probe, int order[SP_MAX_SEGMENT_SLOTS])
{
	for (int i = 0; i < probe->segments.nslots; i++)
	{
		int			j = (int) (nrand48(probe->random_state) % (i + 1));

		order[i] = order[j];
		order[j] = i;
	}
}

static double
whole_ns(const sp_segments *segments, const slot_times *times)
{
	return (double) times->made_ns +
		(double) times->flushes_ns / segments->first_flushes * segments->all_flushes;
}

static void
add_sample(sp_probe *probe, sp_segment_part part, const sp_segment_slot *slot, double ns)
{
	sp_result  *result = result_of(probe, part, slot);

	/* a time of 0 has no ratio */
	if (result)
		sp_series_add_round(&result->series, ns > 1 ? ns / 1e3 : 1e-3);
}

/* A round in which all went well: its times are a sample of each case. */
static void
count_segments(sp_probe *probe, const slot_times times[SP_MAX_SEGMENT_SLOTS])
{
	const sp_segments *segments = &probe->segments;

	for (int i = 0; i < segments->nslots; i++)
	{
		const sp_segment_slot *slot = &segments->slots[i];
		double		whole = whole_ns(segments, &times[i]);

		if (!times[i].complete)
			continue;
		add_operation(probe, SP_WHOLE_SEGMENT, slot, (int64_t) whole);
		add_operation(probe, SP_NEW_SEGMENT, slot, (int64_t) whole);
		add_operation(probe, SP_CREATION, slot, times[i].made_ns);
		add_operation(probe, SP_REMOVAL, slot, times[i].removed_ns);
		add_sample(probe, SP_WHOLE_SEGMENT, slot, whole);
		add_sample(probe, SP_NEW_SEGMENT, slot, whole);
		add_sample(probe, SP_CREATION, slot, (double) times[i].made_ns);
		add_sample(probe, SP_FIRST_FLUSHES, slot,
				  (double) times[i].flushes_ns / segments->first_flushes);
		add_sample(probe, SP_REMOVAL, slot, (double) times[i].removed_ns);
	}
	for (int c = 0; c < probe->ncases; c++)
		sp_series_end_sample(&probe->results[c].series);
	if (probe->rounds[SP_SATURATED] == 0 || segments->first_flushes < segments->fewest_flushes)
		probe->segments.fewest_flushes = segments->first_flushes;
	probe->rounds[SP_SATURATED]++;
	probe->samples[SP_SATURATED]++;
	probe->callbacks.round_done(probe->callbacks.context);
}

/* Returns false if a segment was cut: then the round does not count. */
static bool
measure_segments(sp_probe *probe, int flushes, bool counted, int64_t limit,
			  slot_times times[SP_MAX_SEGMENT_SLOTS])
{
	int			order[SP_MAX_SEGMENT_SLOTS];
	bool		whole = true;

	shuffle_slots(probe, order);
	for (int i = 0; i < probe->segments.nslots; i++)
	{
		const sp_segment_slot *slot = &probe->segments.slots[order[i]];
		sp_file    *file = &probe->files[slot->file];
		int64_t		begin = sp_now_ns(probe);

		times[order[i]] = (slot_times) {0};
		if (has_failed(probe, slot))
			continue;
		probe->callbacks.check_interrupts(probe->callbacks.context);
		if (slot->kind != SP_RECYCLED && probe->callbacks.check_space)
			probe->callbacks.check_space(probe->callbacks.context, file->size);
		times[order[i]] = measure_slot(probe, slot, flushes, counted, limit);
		if (slot->kind != SP_RECYCLED)
			sp_segment_discard(file);
		whole = whole && (times[order[i]].complete || has_failed(probe, slot));
		sp_rest_since(probe, begin);
	}
	return whole;
}

/*
 * How many flushes of each segment leave time for enough rounds, as long as these are like
 * the last one.  All segments of a round have as many, so that they can be compared.
 */
static int
choose_first_flushes(sp_probe *probe, const slot_times times[SP_MAX_SEGMENT_SLOTS])
{
	const sp_segments *segments = &probe->segments;
	int64_t		rounds = WANTED_ROUNDS - probe->rounds[SP_SATURATED];
	double		left = (double) (probe->deadline_ns - sp_now_ns(probe)) * probe->duty_cycle;
	int			most = segments->first_flushes * MAX_GROWTH;
	double		one_of_each = 0;
	double		flushes;

	if (rounds < 1)
		return segments->first_flushes;
	left /= (double) rounds;
	for (int i = 0; i < segments->nslots; i++)
	{
		left -= (double) (times[i].made_ns + times[i].removed_ns);
		one_of_each += (double) times[i].flushes_ns / segments->first_flushes;
	}
	if (most > segments->all_flushes)
		most = segments->all_flushes;
	flushes = one_of_each > 0 ? left / one_of_each : most;
	if (flushes >= most)
		return most;
	return flushes > MIN_FIRST_FLUSHES ? (int) flushes :
		most < MIN_FIRST_FLUSHES ? most : MIN_FIRST_FLUSHES;
}

/* -------------------------------------------------------------------- the run */

static bool
has_slots_left(const sp_probe *probe)
{
	int			left = 0;

	for (int i = 0; i < probe->segments.nslots; i++)
		left += !has_failed(probe, &probe->segments.slots[i]);
	return left > 0;
}

void
sp_segments_measure(sp_probe *probe)
{
	sp_segments *segments = &probe->segments;
	slot_times	times[SP_MAX_SEGMENT_SLOTS];
	bool		counted = false;
	int64_t		round_ns = 0;

	segments->first_flushes = segments->all_flushes < MIN_FIRST_FLUSHES ?
		segments->all_flushes : MIN_FIRST_FLUSHES;
	while (!probe->done && has_slots_left(probe))
	{
		bool		first = probe->rounds[SP_SATURATED] == 0;
		int64_t		begin = sp_now_ns(probe);
		int64_t		limit = probe->deadline_ns + (first ? SP_FIRST_ROUND_GRACE_NS : 0);
		bool		whole;

		if (begin >= limit || (!first && begin + round_ns > probe->deadline_ns))
			break;
		whole = measure_segments(probe, segments->first_flushes, counted, limit, times);
		round_ns = sp_now_ns(probe) - begin;
		probe->spent_ns[SP_SATURATED] += round_ns;
		if (!whole)
			continue;
		if (counted)
		{
			count_segments(probe, times);
			(void) sp_look_when_due(probe, SP_SATURATED);
		}
		segments->first_flushes = choose_first_flushes(probe, times);
		counted = true;
	}
	probe->round_ns[SP_SATURATED] = round_ns;
}
