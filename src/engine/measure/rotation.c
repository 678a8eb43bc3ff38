/*-------------------------------------------------------------------------
 *
 * rotation.c
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

#include <errno.h>
#include <unistd.h>

/*
 * The length of a block.  A paced one has at least 16 rounds, and lasts ten clock
 * ticks, so that moving takes a small part of the time.  A saturated one is shorter,
 * so that five blocks, a whole square, fit into one turn.
 */
#define PACED_BLOCK_ROUNDS		16
#define PACED_BLOCK_NS			(10 * SP_CLOCK_TICK_NS)
#define SATURATED_BLOCK_ROUNDS	4

/* The files that rotate together. */
typedef struct file_ring
{
	int			n;
	int			files[SP_MAX_FILES];
} file_ring;

static file_ring
ring_of(const sp_probe *probe, int number)
{
	file_ring	found = {0};

	for (int file = 0; file < probe->nfiles; file++)
	{
		if (probe->files[file].ring == number && probe->files[file].status == SP_OK)
			found.files[found.n++] = file;
	}
	return found;
}

/* Is a block over?  A paced one ends with a sample, which so comes from one place. */
static bool
block_is_over(const sp_probe *probe, sp_regime regime)
{
	const sp_rotation *rotation = &probe->rotation;

	if (regime == SP_SATURATED)
		return rotation->block_rounds[regime] >= SATURATED_BLOCK_ROUNDS;
	return probe->sample_ns == 0 && rotation->block_rounds[regime] >= PACED_BLOCK_ROUNDS &&
		rotation->block_ns[regime] >= PACED_BLOCK_NS;
}

/* No file is taken over later than that: the regimes have their first rounds until then. */
static int64_t
last_move(const sp_probe *probe)
{
	for (int r = 0; r < SP_REGIMES; r++)
	{
		if (sp_count_cases(probe, r) > 0 && sp_round_limit(probe, r) > probe->deadline_ns)
			return sp_round_limit(probe, r);
	}
	return probe->deadline_ns;
}

/* A file in use by a method, and the file of the plan with its flags. */
typedef struct move
{
	sp_file    *file;
	const sp_file *home;
} move;

/* An sp_calls, whose time does not count: sync a file, and open it as its method does. */
static const char *
take_over(void *what)
{
	const move *to = what;
	int			fd;

	if (fsync(to->file->fd) != 0)
		return "fsync";
	fd = sp_open_same_file(to->file, sp_open_flags(to->home));
	if (fd < 0)
		return "open";
	/* what it closes was synced */
	(void) close(to->file->fd);
	to->file->fd = fd;
	return NULL;
}

/*
 * Sync and open the files of a ring.  One that fails excludes its new method alone.
 * When the time is over the run ends, since the others are still open for other methods.
 */
static void
take_over_ring(sp_probe *probe, const file_ring *ring)
{
	int64_t		limit = last_move(probe);

	for (int i = 0; i < ring->n; i++)
	{
		int			home = ring->files[i];
		move		to = {&probe->files[probe->rotation.in_use[home]], &probe->files[home]};
		int64_t		elapsed_ns;
		const char *failed;

		if (sp_now_ns(probe) >= limit)
		{
			for (int regime = 0; regime < SP_REGIMES; regime++)
				probe->exhausted[regime] = true;
			return;
		}
		failed = sp_repeat_calls(probe, take_over, &to, &elapsed_ns);
		if (failed)
			sp_fail_file(probe, home, failed, errno);
	}
}

/* Let every method of a ring be at the file that the shift gives.  True if they have moved. */
static bool
move_ring(sp_rotation *rotation, const file_ring *ring, int shift)
{
	bool		moved = false;

	for (int i = 0; i < ring->n; i++)
	{
		int		   *in_use = &rotation->in_use[ring->files[i]];
		int			file = ring->files[(i + shift) % ring->n];

		moved = moved || *in_use != file;
		*in_use = file;
	}
	return moved;
}

/*
 * Move the rings that a regime uses: the first files of the cases, and when paced as many
 * copies as are flushed.  True if one has moved.  A duty cycle has its rest afterwards.
 */
static bool
move_files(sp_probe *probe, sp_regime regime)
{
	sp_rotation *rotation = &probe->rotation;
	int			copies = regime == SP_PACED ? probe->paced_copies : 1;
	int64_t		begin = sp_now_ns(probe);
	bool		moved = false;

	/* without and with O_DIRECT, for every copy */
	for (int number = 1; number <= 2 * copies; number++)
	{
		file_ring	ring = ring_of(probe, number);

		if (!move_ring(rotation, &ring, rotation->shift[regime]))
			continue;
		moved = true;
		take_over_ring(probe, &ring);
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
static int
choose_paced_copies(const sp_probe *probe)
{
	double		busy = 0;		/* with one flush for each case */
	int			copies = 1;

	for (int c = 0; c < probe->ncases; c++)
	{
		const sp_result *result = &probe->results[c];

		if (probe->cases[c].regime == SP_PACED && result->status == SP_OK &&
			!result->excluded && result->histogram.ops > 0)
			busy += sp_histogram_quantile_ns(&result->histogram, 0.5);
	}
	if (busy == 0 || probe->duty_cycle < 1)
		return copies;
	while (copies < SP_PACED_COPIES &&
		   (copies + 1) * busy < (double) probe->flush_interval_ns / 2)
		copies++;
	return copies;
}

/*
 * When a block is over, the next one begins here, also if it is the begin of a turn: files
 * move once then, not twice.
 */
bool
sp_rotation_begin_round(sp_probe *probe, sp_regime regime)
{
	sp_rotation *rotation = &probe->rotation;

	if (rotation->frozen)
		return false;
	if (block_is_over(probe, regime))
	{
		rotation->block_rounds[regime] = 0;
		rotation->block_ns[regime] = 0;
		rotation->shift[regime]++;
		if (regime == SP_PACED)
			probe->paced_copies = choose_paced_copies(probe);
	}
	return move_files(probe, regime);
}
