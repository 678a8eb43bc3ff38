/*
 * Tests of src/engine/measure/rotation.c: the files rotate among the methods.
 *
 * What is checked is what the simulated disk saw: who wrote to which file, and when.
 */
#include "fake_disk.h"

/* The calls of a run between two moves. */
typedef struct block
{
	int			syncs[SP_MAX_FILES];	/* of the move, by file */
	bool		comes[SP_MAX_FILES][SP_MAX_FILES];	/* to a file, the method with that home */
} block;

#define MAX_BLOCKS	2000

static block blocks[MAX_BLOCKS];
static int	nblocks;

static void
read_blocks(void)
{
	assert_true(disk.nrecords < MAX_RECORDS);
	memset(blocks, 0, sizeof(blocks));
	nblocks = 0;
	for (int i = 0; i < disk.nrecords; i++)
	{
		const call_record *call = &disk.records[i];
		block	   *now;

		nblocks += i == 0 || (call->cleans_up && !call[-1].cleans_up);
		assert_true(nblocks <= MAX_BLOCKS);
		now = &blocks[nblocks - 1];
		now->syncs[call->file] += call->cleans_up && call->call == FSYNC;
		now->comes[call->file][call->home] = true;
	}
}

/* How many files rotate together with this one, itself included? */
static int
count_ring(int file)
{
	int			n = 0;

	for (int i = 0; i < probe->nfiles; i++)
		n += probe->files[i].ring == probe->files[file].ring && probe->files[i].status == SP_OK;
	return n;
}

/* Whose is the file in the blocks from there on?  Everybody's of its ring, once. */
static void
check_square(int file, int begin)
{
	const sp_file *one = &probe->files[file];

	for (int home = 0; home < probe->nfiles; home++)
	{
		const sp_file *other = &probe->files[home];
		bool		together = one->ring > 0 && other->ring == one->ring && other->status == SP_OK;
		int			visits = 0;

		for (int b = begin; b < begin + count_ring(file); b++)
			visits += blocks[b].comes[file][home];
		assert_true(visits == together || (one->ring == 0 && home == file));
		/* direct writes and buffered ones never share a file */
		assert_true(!together || other->direct_io == one->direct_io);
	}
}

/*
 * In as many blocks as a ring has files, every method comes to every file of it once.  Each is
 * synced once at a move, before anybody writes, by the descriptor of the one who comes.
 */
TEST(brings_every_method_to_every_file)
{
	static const struct
	{
		const char *current;
		bool		direct_io_open;
		sp_regime	regime;
		int			block_rounds;
	}			rows[] = {
		{"fdatasync", false, SP_PACED, 16}, {"fdatasync", false, SP_SATURATED, 4},
		{"open_datasync", true, SP_PACED, 16}, {"fsync", true, SP_SATURATED, 4},
	};

	FOR_EACH(row, rows)
	{
		sp_server	server = server_with(row->current);

		server.direct_io_open = row->direct_io_open;
		plan_for(&sp_suite_wal, &server);
		probe->duration_ns = 3 * SECOND;
		keep_regime(row->regime);
		run_probe();
		read_blocks();
		assert_true(nblocks > 12);
		for (int file = 0; file < probe->nfiles; file++)
		{
			if (probe->files[file].status != SP_OK || probe->files[file].ring > 2)
				continue;
			/* any consecutive blocks: the last one may have no whole round */
			for (int begin = 0; begin + count_ring(file) < nblocks; begin++)
				check_square(file, begin);
			for (int b = 0; b + 1 < nblocks; b++)
				assert_int_equal(blocks[b].syncs[file], b > 0 && probe->files[file].ring > 0);
		}
		/* the round after a move is not counted */
		assert_uint_in_range(probe->rounds[row->regime], row->block_rounds * (nblocks - 1),
							 row->block_rounds * nblocks);
	}
}

static int	block_rounds[MAX_BLOCKS];

static void
count_round_of_block(void *context)
{
	fake_round_done(context);
	block_rounds[probe->rotation.shift[SP_PACED]]++;
}

/* A paced block has at least 16 rounds and lasts at least 40 ms, in whole samples. */
TEST(moves_after_whole_samples)
{
	static const struct
	{
		int64_t		interval;	/* us, and of a round */
		int			sample;		/* rounds */
		int			block;
	}			rows[] = {
		{500, 16, 80}, {3000, 3, 18}, {4000, 2, 16}, {7900, 2, 16}, {8000, 1, 16}, {20000, 1, 16},
		{700, 12, 60},			/* 57 rounds are 40 ms */
		{1500, 6, 30},			/* 26 */
	};

	FOR_EACH(row, rows)
	{
		plan_wal("fdatasync", (20 + 4 * row->block) * row->interval * 1000);
		keep_regime(SP_PACED);
		disk.cost[PWRITE] = disk.cost[FSYNC] = disk.cost[FDATASYNC] = 10 * 1000;
		probe->flush_interval_ns = row->interval * 1000;
		probe->callbacks.round_done = count_round_of_block;
		memset(block_rounds, 0, sizeof(block_rounds));
		run_probe();
		assert_true(probe->rotation.shift[SP_PACED] >= 2);
		for (int b = 0; b < probe->rotation.shift[SP_PACED]; b++)
			assert_int_equal(block_rounds[b], row->block);
		FOR_EACH_MEASURED(c)
		{
			const sp_series *series = &probe->results[c].series;

			assert_int_equal(series->n, probe->rounds[SP_PACED] / row->sample);
			assert_int_equal(series->n, probe->samples[SP_PACED]);
		}
	}
}

/* After so many rounds, other files are below the names of ours. */
static int	replace_after;

static void
replace_files(void *context)
{
	fake_round_done(context);
	for (int i = 0; i < probe->nfiles && disk.rounds == replace_after; i++)
	{
		probe->files[i].inode += i % 2;
		probe->files[i].device += 1 - i % 2;
	}
}

/* Who opens a file by its name: a move, an operation of the tool, and a control window. */
enum
{
	MOVE, OPERATION, WINDOW
};

TEST(writes_to_no_strange_file)
{
	for (int who = MOVE; who <= WINDOW; who++)
	{
		plan_suite(who == OPERATION ? &sp_suite_pg_test_fsync : &sp_suite_wal, "fdatasync", 8192,
				   64 * KILOBYTE);
		if (who == WINDOW)
		{
			stay_at_home();
			probe->callbacks.read_counters = fake_read_counters;
			disk.background_flushes_per_second = 1000;
		}
		probe->duration_ns = 2 * SECOND;
		probe->callbacks.round_done = replace_files;
		replace_after = who == OPERATION ? 1 : 20;
		run_probe();
		for (int c = 0; c < probe->ncases; c++)
		{
			const sp_test_case *one = &probe->cases[c];
			const sp_result *result = &probe->results[c];
			bool		opens = probe->files[one->file].ring > 0 ||
				one->descriptor_use != SP_KEEP_OPEN;

			if (result->status == SP_UNSUPPORTED)
				continue;
			assert_int_equal(result->status, opens ? SP_ERROR : SP_OK);
			assert_int_equal(result->error_number, opens ? ESTALE : 0);
			assert_true(!opens || strcmp(result->error_call, "open") == 0);
		}
		assert_int_equal(probe->windows_failed, who == WINDOW);
	}
	/* the window that failed was the last one */
	assert_int_equal(disk.calls[OPENAT], probe->control_windows + 1);
}

/* How many files of each method are flushed in a round: 1.9 ms are busy with one. */
TEST(uses_copies_where_there_is_time)
{
	static const struct
	{
		int64_t		interval;	/* us */
		double		duty_cycle;
		int			copies;
	}			rows[] = {
		{1000, 1, 1}, {5000, 1, 1}, {7500, 1, 1},	/* 2 * 1.9 ms is more than half of it */
		{7700, 1, 2}, {11300, 1, 2}, {11500, 1, 3}, {50000, 1, 3}, {50000, 0.5, 1},
	};

	FOR_EACH(row, rows)
	{
		uint64_t	rounds;

		plan_wal("fdatasync", 0);
		keep_regime(SP_PACED);
		disk.tick = 0;
		probe->duty_cycle = row->duty_cycle;
		probe->flush_interval_ns = row->interval * 1000;
		probe->duration_ns = 150 * probe->flush_interval_ns;
		run_probe();
		assert_int_equal(probe->paced_copies, row->copies);
		rounds = (uint64_t) probe->rounds[SP_PACED];
		FOR_EACH_MEASURED(c)
		{
			const sp_result *result = &probe->results[c];
			double		own = probe->files[probe->cases[c].file].method->opens_synced ? 200 : 500;

			/* the first block has one file each, and tells how long a flush takes */
			if (row->copies == 1)
				assert_int_equal(result->histogram.ops, rounds);
			else
				assert_uint_in_range(result->histogram.ops, row->copies * (rounds - 40),
									 row->copies * (rounds - 16) + 16);
			/* a sample is a mean, however many files */
			for (int k = 0; k < result->series.n; k++)
				assert_float_equal(result->series.mean_us[k], own, 1e-3);
			assert_int_equal(result->tail.slow_rounds, 0);
			assert_uint_in_range(result->tail.rounds, rounds - 17, rounds);
		}
	}
}

/* A move that has not ended when the time is over is cut. */
TEST(moves_within_its_time)
{
	int			cut = 0;

	for (int64_t duration = 2000; duration < 4000; duration += 37)
	{
		int			syncs = 0;

		plan_wal("fdatasync", duration * MILLISECOND);
		disk.cost[FSYNC] = 20 * MILLISECOND;
		disk.cost[FDATASYNC] = MILLISECOND / 2;
		run_probe();
		for (int i = 0; i < disk.nrecords; i++)
		{
			if (!disk.records[i].cleans_up || disk.records[i].call != FSYNC)
				continue;
			syncs++;
			assert_true(disk.records[i].at - disk.cost[FSYNC] < probe->deadline_ns);
		}
		cut += syncs % count_ring(0) != 0;
	}
	assert_true(cut > 0);
}

TEST_MAIN(set_up, tear_down)
