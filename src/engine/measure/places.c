/*-------------------------------------------------------------------------
 *
 * places.c
 *		Which file each method writes to: the files rotate.
 *
 * Two files of one method differ by their places on the disk, and stay so for the
 * whole run.  A longer run would only make this difference more certain.  So every
 * method comes to every file: after a block of rounds each method moves on to the
 * next file of its ring, which makes a Latin square of methods and files.  Files with
 * O_DIRECT are a ring of their own: a direct write drops pages that the next buffered
 * one would find in the cache.
 *
 * What a method leaves behind must not be paid by the one that comes next: a time
 * stamp that fdatasync leaves dirty would be journaled by fsync.  So all files of a
 * ring are synced when they move.  The next round is not counted, unless rounds are so
 * long that two take more than half of the duration (see skips_warm_up() in probe.c).
 *
 *-------------------------------------------------------------------------
 */
#include "engine/measure/probe_internal.h"

/*
 * The length of a block.  A paced one has at least 16 rounds, and lasts ten clock
 * ticks, so that moving takes a small part of the time.  A saturated one is shorter,
 * so that five blocks, a whole square, fit into one turn.
 */
#define PACED_BLOCK_ROUNDS		16
#define PACED_BLOCK_NS			(10 * SP_CLOCK_TICK_NS)
#define SATURATED_BLOCK_ROUNDS	4

void
sp_places_prepare(sp_probe *probe)
{
	sp_places  *places = &probe->places;

	*places = (sp_places) {0};
	for (int file = 0; file < probe->nfiles; file++)
	{
		int			number = probe->files[file].ring;

		places->in_use[file] = file;
		if (number > 0 && probe->files[file].status == SP_OK)
		{
			sp_ring    *ring = &places->rings[number - 1];

			ring->files[ring->n++] = file;
		}
	}
}

/* Is a block over?  A paced one ends with a sample, which so comes from one place. */
static bool
block_is_over(const sp_probe *probe, sp_regime regime)
{
	const sp_places *places = &probe->places;

	if (regime == SP_SATURATED)
		return places->block_rounds[regime] >= SATURATED_BLOCK_ROUNDS;
	return probe->sample_ns == 0 && places->block_rounds[regime] >= PACED_BLOCK_ROUNDS &&
		places->block_ns[regime] >= PACED_BLOCK_NS;
}

/* No file is taken over later than that: the regimes have their first rounds until then. */
static int64_t
last_move(const sp_probe *probe)
{
	for (int r = 0; r < SP_REGIMES; r++)
	{
		if (probe->rounds[r] == 0 && sp_count_cases(probe, r) > 0)
			return probe->deadline_ns + SP_FIRST_ROUND_GRACE_NS;
	}
	return probe->deadline_ns;
}

/* Let every method of a ring be at the file where the shift says.  True if they have moved. */
static bool
move_ring(sp_places *places, const sp_ring *ring, int shift)
{
	bool		moved = false;

	for (int i = 0; i < ring->n; i++)
	{
		int			file = ring->files[(i + shift) % ring->n];

		moved = moved || places->in_use[ring->files[i]] != file;
		places->in_use[ring->files[i]] = file;
	}
	return moved;
}

/*
 * Sync and open the files of a ring.  One that fails excludes its new method alone.
 * When the time is over the run ends, since the others are still open for other methods.
 */
static void
take_over_ring(sp_probe *probe, const sp_ring *ring)
{
	int64_t		limit = last_move(probe);

	for (int i = 0; i < ring->n; i++)
	{
		if (sp_now_ns(probe) >= limit)
		{
			for (int regime = 0; regime < SP_REGIMES; regime++)
				probe->exhausted[regime] = true;
			return;
		}
		sp_take_over_file(probe, ring->files[i]);
	}
}

/*
 * Move the rings that a regime uses: the first files of the cases, and when paced as many
 * copies as are flushed.  True if one has moved.  A duty cycle has its rest afterwards.
 */
static bool
move_files(sp_probe *probe, sp_regime regime)
{
	sp_places  *places = &probe->places;
	int			copies = regime == SP_PACED ? probe->paced_copies : 1;
	int64_t		begin = sp_now_ns(probe);
	bool		moved = false;

	for (int r = 0; r < 2 * copies; r++)
	{
		if (!move_ring(places, &places->rings[r], places->shift[regime]))
			continue;
		moved = true;
		take_over_ring(probe, &places->rings[r]);
	}
	if (moved)
		sp_rest_since(probe, begin);
	return moved;
}

/*
 * How many files of each method are flushed in a paced round: as many as leave the
 * device idle for half of the time.  When it has no rest at all, a flush is not what
 * it is in the cluster.
 */
static void
set_paced_copies(sp_probe *probe)
{
	double		busy = 0;		/* with one flush for each case */

	for (int c = 0; c < probe->ncases; c++)
	{
		const sp_result *result = &probe->results[c];

		if (probe->cases[c].regime != SP_PACED || result->status != SP_OK ||
			result->excluded || result->histogram.ops == 0)
			continue;
		busy += sp_histogram_quantile_ns(&result->histogram, 0.5);
	}
	probe->paced_copies = 1;
	if (busy == 0 || probe->duty_cycle < 1)
		return;
	while (probe->paced_copies < SP_PACED_COPIES &&
		   (probe->paced_copies + 1) * busy < (double) probe->flush_interval_ns / 2)
		probe->paced_copies++;
}

/*
 * When a block is over, the next one begins here, also if it is the begin of a turn: files
 * move once then, not twice.
 */
bool
sp_places_begin_round(sp_probe *probe, sp_regime regime)
{
	sp_places  *places = &probe->places;

	if (places->frozen)
		return false;
	if (block_is_over(probe, regime))
	{
		places->block_rounds[regime] = 0;
		places->block_ns[regime] = 0;
		places->shift[regime]++;
		if (regime == SP_PACED)
			set_paced_copies(probe);
	}
	return move_files(probe, regime);
}
