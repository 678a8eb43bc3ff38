/*-------------------------------------------------------------------------
 *
 * places.c
 *		Which file each method writes to: the files rotate.
 *
 * Two files of one method differ by their places on the disk, and stay so for the
 * whole run.  A longer run would only make this difference more certain.  So every
 * method comes to every file: after a block of rounds each method moves on to the
 * next file of its ring, which makes a Latin square of methods and files.
 *
 * What a method leaves behind must not be paid by the one that comes next: a time
 * stamp that fdatasync leaves dirty would be journaled by fsync.  So all files of a
 * ring are synced when they move, and the next round is not counted.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/measure/probe_internal.h"

#include <stdlib.h>

/*
 * The length of a block.  A paced one has at least 16 rounds, and lasts ten clock
 * ticks, so that moving takes a small part of the time.  A saturated one is shorter,
 * so that five blocks, a whole square, fit into one turn.
 */
#define PACED_BLOCK_ROUNDS		16
#define PACED_BLOCK_NS			(10 * SP_SLICE_NS)
#define SATURATED_BLOCK_ROUNDS	4

bool
sp_file_serves(const sp_probe *probe, int file, int home)
{
	const sp_file *one = &probe->files[file];
	const sp_file *other = &probe->files[home];

	if (file == home)
		return true;

	/* a direct write drops pages that the next buffered one would find in the cache */
	return one->rotates && other->rotates && one->direct_io == other->direct_io &&
		one->status == SP_OK && other->status == SP_OK;
}

void
sp_creation_order(const sp_probe *probe, int order[SP_MAX_FILES])
{
	unsigned short random_state[3];

	/* not the random numbers of the run itself */
	for (int i = 0; i < 3; i++)
		random_state[i] = (unsigned short) (~probe->random_seed >> (16 * i));
	for (int i = 0; i < probe->nfiles; i++)
	{
		int			j = (int) (nrand48(random_state) % (i + 1));

		order[i] = order[j];
		order[j] = i;
	}
}

/* Does it have a descriptor for each of the files that it may have to serve? */
static bool
is_open_for_all(const sp_probe *probe, int file)
{
	for (int home = 0; home < probe->nfiles; home++)
	{
		if (sp_file_serves(probe, file, home) && probe->files[file].fds[home] < 0)
			return false;
	}
	return true;
}

void
sp_places_prepare(sp_probe *probe)
{
	sp_places  *places = &probe->places;

	*places = (sp_places) {0};
	for (int file = 0; file < probe->nfiles; file++)
	{
		sp_ring    *ring = &places->rings[probe->files[file].direct_io];

		places->in_use[file] = file;
		if (probe->files[file].rotates && probe->files[file].status == SP_OK &&
			is_open_for_all(probe, file))
			ring->files[ring->n++] = file;
	}
}

/* The rounds of a block: a whole number of entries. */
static int64_t
rounds_of_block(const sp_probe *probe, sp_regime regime)
{
	int64_t		rounds = SATURATED_BLOCK_ROUNDS;
	int			entry = probe->entry_rounds[regime];

	if (regime == SP_PACED)
		rounds = PACED_BLOCK_NS / probe->flush_interval_ns;
	if (regime == SP_PACED && rounds < PACED_BLOCK_ROUNDS)
		rounds = PACED_BLOCK_ROUNDS;
	return (rounds + entry - 1) / entry * entry;
}

/* Sync all files of the rings.  A duty cycle has its rest afterwards. */
static void
settle_files(sp_probe *probe)
{
	sp_places  *places = &probe->places;
	int64_t		begin = sp_now_ns(probe);

	for (int r = 0; r < 2; r++)
	{
		for (int i = 0; i < places->rings[r].n && !places->frozen; i++)
			sp_settle_file(probe, places->rings[r].files[i]);
	}
	sp_rest_since(probe, begin);
}

/* Let every method be at the file where the regime's shift says.  True if one has moved. */
static bool
move_files(sp_probe *probe, sp_regime regime)
{
	sp_places  *places = &probe->places;
	bool		moved = false;

	for (int r = 0; r < 2; r++)
	{
		const sp_ring *ring = &places->rings[r];

		for (int i = 0; i < ring->n; i++)
		{
			int			file = ring->files[(i + places->shift[regime]) % ring->n];

			moved = moved || places->in_use[ring->files[i]] != file;
			places->in_use[ring->files[i]] = file;
		}
	}
	if (moved)
		settle_files(probe);
	return moved;
}

bool
sp_places_begin_turn(sp_probe *probe, sp_regime regime)
{
	return !probe->places.frozen && move_files(probe, regime);
}

bool
sp_places_begin_round(sp_probe *probe, sp_regime regime)
{
	sp_places  *places = &probe->places;

	if (places->frozen || places->block_rounds[regime] < rounds_of_block(probe, regime))
		return false;
	places->block_rounds[regime] = 0;
	places->shift[regime]++;
	return move_files(probe, regime);
}
