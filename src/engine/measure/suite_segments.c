/*-------------------------------------------------------------------------
 *
 * suite_segments.c
 *		The suite segments: its plan and its verdict.
 *
 * Each slot of a round has a file of its own.  Old segments are there before the run.  The
 * others are made and removed in each round, so that one of them exists at a time.
 *
 * Two questions are judged as methods are: is another kind of segment worth a switch, and
 * is another kind of those that are created?
 *
 *-------------------------------------------------------------------------
 */
#include "engine/measure/segments_internal.h"

#include <string.h>

static const char *const kind_names[SP_SEGMENT_KINDS] = {
	[SP_RECYCLED] = "recycle",[SP_ZERO_FILLED] = "zero_fill",[SP_SPARSE] = "sparse"
};

static const char *const part_names[SP_SEGMENT_PARTS] = {
	[SP_WHOLE_SEGMENT] = "segment",[SP_NEW_SEGMENT] = "new_segment",[SP_CREATION] = "create",
	[SP_FIRST_FLUSHES] = "first_flushes",[SP_REMOVAL] = "remove"
};

static bool
part_has(sp_segment_part part, sp_segment_kind kind)
{
	return kind != SP_RECYCLED || (part != SP_NEW_SEGMENT && part != SP_REMOVAL);
}

/* What each kind of a part is compared with. */
static sp_segment_kind
baseline_kind(const sp_segments *segments, sp_segment_part part)
{
	return part_has(part, segments->current) ? segments->current : segments->created;
}

static bool
is_judged(sp_segment_part part)
{
	return part == SP_WHOLE_SEGMENT || part == SP_NEW_SEGMENT;
}

static void
add_slot(sp_probe *probe, const sp_server *server, sp_segment_kind kind, bool control)
{
	sp_segments *segments = &probe->segments;
	const sp_sync_method *method = server->current;
	int64_t		size = server->segment_size < SP_WAL_FILE_MAX_SIZE ?
		server->segment_size : SP_WAL_FILE_MAX_SIZE;
	/* without a method that it knows, the engine cannot flush */
	int			file = sp_plan_file(probe, method, method && sp_opens_directly(server, method),
									size, server->init_write_size, method != NULL);

	probe->files[file].made_by_engine = kind != SP_RECYCLED;
	segments->slots[segments->nslots++] = (sp_segment_slot) {kind, file, control};
}

static int
add_segment_case(sp_probe *probe, sp_segment_part part, const sp_segment_slot *slot)
{
	return sp_plan_case(probe, (sp_test_case) {
		.test = part_names[part],
			.label = kind_names[slot->kind],
			.file = slot->file,
			.regime = SP_SATURATED,
			.advances = true,
			.write_size = part == SP_FIRST_FLUSHES ?
			probe->segments.flush_size : (int) probe->files[slot->file].size,
			.writes_per_sync = 1,
			.baseline = -1,
			.control = slot->control,
			.candidate = is_judged(part) && !slot->control,
			.part = part,
	});
}

/*
 * The cases of a part: one for each kind, and behind them the controls.  A control of a
 * kind that is not the baseline of this part is measured for another part alone.
 */
static void
add_part(sp_probe *probe, sp_segment_part part)
{
	const sp_segments *segments = &probe->segments;
	sp_segment_kind current = baseline_kind(segments, part);
	int			first = probe->ncases;
	int			baseline = -1;

	for (int controls = 0; controls < 2; controls++)
	{
		for (int i = 0; i < segments->nslots; i++)
		{
			const sp_segment_slot *slot = &segments->slots[i];
			int			c;

			if (slot->control != (controls == 1) || !part_has(part, slot->kind))
				continue;
			c = add_segment_case(probe, part, slot);
			if (!slot->control && slot->kind == current)
				baseline = c;
		}
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
	sp_segments *segments = &probe->segments;

	memset(segments, 0, sizeof(*segments));
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

	segments->all_flushes = (int) (probe->files[0].size / server->flush_size);
	if (segments->all_flushes < 1)
		segments->all_flushes = 1;
	for (int part = SP_WHOLE_SEGMENT; part < SP_SEGMENT_PARTS; part++)
		add_part(probe, part);
}

int
sp_segment_case(const sp_probe *probe, sp_segment_part part, int file)
{
	for (int c = 0; c < probe->ncases; c++)
	{
		if (probe->cases[c].part == part && probe->cases[c].file == file)
			return c;
	}
	return -1;
}

bool
sp_segments_judge(const sp_probe *probe, sp_segment_part part, sp_comparison *comparison,
				  sp_judgement *judgement)
{
	memset(comparison, 0, sizeof(*comparison));
	comparison->current = -1;
	comparison->margin = probe->margin;
	for (int c = 0; c < probe->ncases; c++)
	{
		const sp_test_case *test_case = &probe->cases[c];
		sp_candidate *candidate = &comparison->candidates[comparison->count];

		if (test_case->part != part || !test_case->candidate)
			continue;
		candidate->name = test_case->label;
		candidate->durable = SP_DURABLE_UNKNOWN;
		candidate->speed = probe->results[c].speed;
		if (test_case->baseline == c)
			comparison->current = comparison->count;
		comparison->count++;
	}
	if (comparison->current < 0)
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

	probe->judged = sp_segments_judge(probe, SP_WHOLE_SEGMENT, &probe->comparison,
									  &probe->judgement);
	return probe->judged && sp_is_settled(&probe->comparison, &probe->judgement) &&
		sp_segments_judge(probe, SP_NEW_SEGMENT, &created, &judgement) &&
		sp_is_settled(&created, &judgement);
}

const sp_suite sp_suite_segments = {
	.name = "segments",.plan = plan_segments,.run = sp_segments_measure,.judge = judge_segments,
	.any_duration = true
};
