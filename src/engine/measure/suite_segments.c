/*-------------------------------------------------------------------------
 *
 * suite_segments.c
 *		The suite segments: its plan, its rounds and its verdict.
 *
 * A round has a segment of each kind in random order, and the current ones twice.  Each is
 * made, its first flushes are measured, and, unless it is recycled, it is removed.  The
 * time of the whole segment is that of its creation, and the mean flush as often as a
 * segment holds one: to measure all flushes would take a second or more for each kind.
 * Each slot of a round has a file of its own.  Old segments are there before the run.  The
 * others are made and removed in each round, so that one of them exists at a time.
 *
 * The first round is not counted.  Each round decides how many flushes leave time for enough
 * rounds to come: a shared disk can be ten times as slow a second later.
 *
 * Two questions are judged as methods are: is another kind of segment worth a switch, and
 * is another kind of those that are created?
 *
 *-------------------------------------------------------------------------
 */
#include "engine/measure/probe_internal.h"

#include <errno.h>

#include "engine/measure/segments.h"

/*
 * The duration should have room for as many rounds.  A verdict needs 16 of them, and many
 * short ones show more of a shared disk than few long ones: in 20 s the control on xfs was
 * 0.96 to 1.06 with 156 rounds, and 0.94 to 1.36 in 12 s with 23.
 */
#define WANTED_ROUNDS		64

/* So few flushes are no good estimate of the mean; the first round has as many. */
#define MIN_FIRST_FLUSHES	8

/* One round may be a lucky one: the next has so many times its flushes at most. */
#define MAX_GROWTH			4

static const char *const kind_names[SP_SEGMENT_KINDS] = {
	[SP_RECYCLED] = "recycle",[SP_ZERO_FILLED] = "zero_fill",[SP_SPARSE] = "sparse"
};

static const char *const part_names[SP_SEGMENT_PARTS] = {
	[SP_WHOLE_SEGMENT] = "segment",[SP_NEW_SEGMENT] = "new_segment",[SP_CREATION] = "create",
	[SP_FIRST_FLUSHES] = "first_flushes",[SP_REMOVAL] = "remove"
};

static int
at_most(int value, int limit)
{
	return value < limit ? value : limit;
}

/* --------------------------------------------------------------------- plan */

static bool
part_has(sp_segment_part part, sp_segment_kind kind)
{
	return kind != SP_RECYCLED || (part != SP_NEW_SEGMENT && part != SP_REMOVAL);
}

/* The slot has the file of its number. */
static void
add_slot(sp_probe *probe, const sp_server *server, sp_segment_kind kind, bool control)
{
	sp_segments *segments = probe->data;
	const sp_sync_method *method = server->current;
	int64_t		size = server->segment_size < SP_WAL_FILE_MAX_SIZE ?
		server->segment_size : SP_WAL_FILE_MAX_SIZE;
	/* without a method that it knows, the engine cannot flush */
	int			file = sp_plan_file(probe, method, method && sp_opens_directly(server, method),
									size, server->init_write_size, method != NULL);

	probe->files[file].made_by_engine = kind != SP_RECYCLED;
	segments->slots[segments->nslots++] = (sp_segment_slot) {.kind = kind, .control = control};
}

/*
 * The cases of a part: one for each kind, and behind them the controls.  A control of a
 * kind that is not the baseline of this part is measured for another part alone.
 */
static void
add_part(sp_probe *probe, sp_segment_part part)
{
	sp_segments *segments = probe->data;
	sp_segment_kind current = part_has(part, segments->current) ?
		segments->current : segments->created;
	int			first = probe->ncases;
	int			baseline = -1;

	for (int i = 0; i < segments->nslots; i++)
	{
		sp_segment_slot *slot = &segments->slots[i];

		slot->cases[part] = -1;
		if (!part_has(part, slot->kind))
			continue;
		if (!slot->control && slot->kind == current)
			baseline = probe->ncases;
		slot->cases[part] = sp_plan_case(probe, (sp_test_case) {
			.test = part_names[part], .label = kind_names[slot->kind], .file = i,
				.regime = SP_SATURATED, .advances = true,
				.write_size = part == SP_FIRST_FLUSHES ? segments->flush_size :
				(int) probe->files[i].size,
				.writes_per_sync = 1, .baseline = -1, .control = slot->control,
				.candidate = part <= SP_NEW_SEGMENT && !slot->control,
		});
	}
	for (int c = first; c < probe->ncases; c++)
	{
		if (!probe->cases[c].control || probe->cases[c].label == kind_names[current])
			probe->cases[c].baseline = baseline;
	}
}

static void
plan_segments(sp_probe *probe, const sp_server *server)
{
	sp_segments *segments = probe->data;
	int64_t		all_flushes;

	probe->deciding = SP_SATURATED;
	segments->created = server->wal_init_zero ? SP_ZERO_FILLED : SP_SPARSE;
	segments->current = server->wal_recycle ? SP_RECYCLED : segments->created;
	segments->flush_size = server->flush_size;
	segments->fill_write_size = server->init_write_size;
	for (int kind = 0; kind < SP_SEGMENT_KINDS; kind++)
		add_slot(probe, server, kind, false);
	add_slot(probe, server, segments->created, true);
	if (segments->current == SP_RECYCLED)
		add_slot(probe, server, SP_RECYCLED, true);

	all_flushes = probe->files[0].size / server->flush_size;
	segments->all_flushes = all_flushes > 1 ? (int) all_flushes : 1;
	for (int part = 0; part < SP_SEGMENT_PARTS; part++)
		add_part(probe, part);
}

/* ------------------------------------------------------------------ verdict */

bool
sp_segments_judge(const sp_probe *probe, const char *test, sp_comparison *comparison,
				  sp_judgement *judgement)
{
	if (!sp_compare(probe, test, comparison))
		return false;
	sp_judge(comparison, judgement);
	return true;
}

/* The whole segment is the comparison of the run; both questions must be settled. */
static bool
judge_segments(sp_probe *probe)
{
	sp_comparison created;
	sp_judgement judgement;

	probe->judged = sp_segments_judge(probe, part_names[SP_WHOLE_SEGMENT], &probe->comparison,
									  &probe->judgement);
	return probe->judged && sp_is_settled(&probe->comparison, &probe->judgement) &&
		sp_segments_judge(probe, part_names[SP_NEW_SEGMENT], &created, &judgement) &&
		sp_is_settled(&created, &judgement);
}

/* ------------------------------------------------------------------- a slot */

/* The times of the segment of a slot. */
typedef struct slot_times
{
	bool		complete;
	int64_t		made_ns;
	int64_t		flushes_ns;
	int64_t		removed_ns;
} slot_times;

static bool
slot_failed(const sp_probe *probe, const sp_segment_slot *slot)
{
	return probe->results[slot->cases[SP_CREATION]].status != SP_OK;
}

/* The counters of the first round are not counted, either. */
static void
end_reading(sp_probe *probe, sp_counter_reading *reading, int c, bool counted, int64_t ops)
{
	sp_end_reading(probe, reading, counted ? &probe->results[c].evidence : NULL, ops);
}

/* Returns false if it ended before its time: a failed flush, or the limit. */
static bool
flush_segment(sp_probe *probe, int c, int flushes, bool counted, int64_t limit,
			  int64_t *flushes_ns)
{
	for (int i = 0; i < flushes; i++)
	{
		int64_t		elapsed = -1;

		if (sp_now_ns(probe) < limit)
			elapsed = sp_timed_operation(probe, c, probe->cases[c].file);
		if (elapsed < 0)
			return false;
		*flushes_ns += elapsed;
		if (counted)
			sp_histogram_add(&probe->results[c].histogram, (uint64_t) elapsed);
	}
	return true;
}

/* Returns false if it was cut, or has failed: then work->failed is the call. */
static bool
measure_slot(sp_segment_work *work, const sp_segment_slot *slot, int flushes, bool counted,
			 slot_times *times)
{
	sp_probe   *probe = work->probe;
	sp_counter_reading reading;

	/* an old segment is no longer in the page cache */
	if (slot->kind == SP_RECYCLED && work->file->fd >= 0)
		sp_drop_cached_pages(work->file->fd);
	sp_begin_reading(probe, &reading);
	if (!sp_segment_make(work, slot->kind))
		return false;
	times->made_ns = work->ns;
	end_reading(probe, &reading, slot->cases[SP_CREATION], counted, 1);
	if (!flush_segment(probe, slot->cases[SP_FIRST_FLUSHES], flushes, counted, work->limit,
					   &times->flushes_ns))
		return false;
	end_reading(probe, &reading, slot->cases[SP_FIRST_FLUSHES], counted, flushes);
	if (slot->kind == SP_RECYCLED)
		return true;
	if (!sp_segment_remove(work))
		return false;
	times->removed_ns = work->ns - times->made_ns;
	end_reading(probe, &reading, slot->cases[SP_REMOVAL], counted, 1);
	return true;
}

/* ------------------------------------------------------------------ a round */

static void
add_sample(sp_probe *probe, int c, double ns)
{
	/* a time of 0 has no ratio */
	if (c >= 0)
		sp_series_add_round(&probe->results[c].series, ns > 1 ? ns / 1e3 : 1e-3);
}

static void
add_time(sp_probe *probe, int c, double ns)
{
	if (c >= 0)
		sp_histogram_add(&probe->results[c].histogram, (uint64_t) ns);
	add_sample(probe, c, ns);
}

/* A round in which all went well: its times are a sample of each case. */
static void
count_segments(sp_probe *probe, const slot_times times[SP_MAX_SEGMENT_SLOTS])
{
	sp_segments *segments = probe->data;

	for (int i = 0; i < segments->nslots; i++)
	{
		const int  *cases = segments->slots[i].cases;
		double		flush_ns = (double) times[i].flushes_ns / segments->first_flushes;
		double		whole_ns = (double) times[i].made_ns + flush_ns * segments->all_flushes;

		if (!times[i].complete)
			continue;
		add_time(probe, cases[SP_WHOLE_SEGMENT], whole_ns);
		add_time(probe, cases[SP_NEW_SEGMENT], whole_ns);
		add_time(probe, cases[SP_CREATION], (double) times[i].made_ns);
		add_sample(probe, cases[SP_FIRST_FLUSHES], flush_ns);
		add_time(probe, cases[SP_REMOVAL], (double) times[i].removed_ns);
	}
	for (int c = 0; c < probe->ncases; c++)
		sp_series_end_sample(&probe->results[c].series);
	if (probe->rounds[SP_SATURATED] == 0 || segments->first_flushes < segments->fewest_flushes)
		segments->fewest_flushes = segments->first_flushes;
	probe->rounds[SP_SATURATED]++;
	probe->samples[SP_SATURATED]++;
	probe->callbacks.round_done(probe->callbacks.context);
}

/* Returns false if a segment was cut: then the round does not count. */
static bool
measure_segments(sp_probe *probe, bool counted, int64_t limit,
				 slot_times times[SP_MAX_SEGMENT_SLOTS])
{
	const sp_segments *segments = probe->data;
	int			order[SP_MAX_SEGMENT_SLOTS];
	bool		whole = true;

	sp_random_order(probe, segments->nslots, order);
	for (int i = 0; i < segments->nslots; i++)
	{
		int			number = order[i];
		const sp_segment_slot *slot = &segments->slots[number];
		sp_file    *file = &probe->files[number];
		sp_segment_work work = {
			.probe = probe, .file = file, .limit = limit,
			.fill_write_size = segments->fill_write_size
		};
		int64_t		begin = sp_now_ns(probe);

		times[number] = (slot_times) {0};
		if (slot_failed(probe, slot))
			continue;
		probe->callbacks.check_interrupts(probe->callbacks.context);
		if (file->made_by_engine && probe->callbacks.check_space)
			probe->callbacks.check_space(probe->callbacks.context, file->size);
		times[number].complete = measure_slot(&work, slot, segments->first_flushes, counted,
											  &times[number]);
		if (work.failed)
			sp_fail_file(probe, number, work.failed, errno);
		if (file->made_by_engine)
			sp_segment_discard(file);
		whole = whole && (times[number].complete || slot_failed(probe, slot));
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
	const sp_segments *segments = probe->data;
	int64_t		rounds = WANTED_ROUNDS - probe->rounds[SP_SATURATED];
	double		left = (double) (probe->deadline_ns - sp_now_ns(probe)) * probe->duty_cycle;
	int			most = at_most(segments->first_flushes * MAX_GROWTH, segments->all_flushes);
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
	flushes = one_of_each > 0 ? left / one_of_each : most;
	if (flushes >= most)
		return most;
	return flushes > MIN_FIRST_FLUSHES ? (int) flushes : at_most(MIN_FIRST_FLUSHES, most);
}

/* ------------------------------------------------------------------ the run */

static bool
has_slots_left(const sp_probe *probe)
{
	const sp_segments *segments = probe->data;

	for (int i = 0; i < segments->nslots; i++)
	{
		if (!slot_failed(probe, &segments->slots[i]))
			return true;
	}
	return false;
}

/* Rounds, until the time is up or all is settled. */
static void
run_segments(sp_probe *probe)
{
	sp_segments *segments = probe->data;
	slot_times	times[SP_MAX_SEGMENT_SLOTS] = {0};
	bool		counted = false;
	int64_t		round_ns = 0;

	segments->first_flushes = at_most(MIN_FIRST_FLUSHES, segments->all_flushes);
	while (!probe->done && has_slots_left(probe))
	{
		int64_t		begin = sp_now_ns(probe);
		int64_t		limit = sp_round_limit(probe, SP_SATURATED);
		bool		whole;

		if (begin >= limit ||
			(probe->rounds[SP_SATURATED] > 0 && begin + round_ns > probe->deadline_ns))
			break;
		whole = measure_segments(probe, counted, limit, times);
		round_ns = sp_now_ns(probe) - begin;
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
}

const sp_suite sp_suite_segments = {
	.data_size = sizeof(sp_segments),.plan = plan_segments,.run = run_segments,
	.judge = judge_segments,.any_duration = true
};
