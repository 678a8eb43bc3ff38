/*
 * Tests of the suite segments: its calls, its files, its verdict.
 *
 * Files, names and directory are real; writes and syncs are those of fake_disk.h.  What
 * happens when a call fails is in test_probe_faults.c.
 */
#include "fake_disk.h"

#define SEGMENT		(1024 * 1024)
#define FLUSH		8192
#define FILL		(256 * 1024)

static sp_segments *const segments = &suite_data.segments;
static int	spaces;

static void
check_space(void *context, int64_t bytes)
{
	(void) context;
	assert_int_equal(bytes, SEGMENT);
	spaces++;
}

/* A plan and a disk in order: a segment has 128 flushes of 0.3 ms, or 38 ms. */
static void
plan(bool wal_recycle, bool wal_init_zero)
{
	plan_for(&sp_suite_segments, &(sp_server) {
		.current = sp_sync_method_find("fdatasync"),
		.segment_size = SEGMENT, .init_write_size = FILL, .flush_size = FLUSH,
		.wal_recycle = wal_recycle, .wal_init_zero = wal_init_zero
	});
	disk.makes_files = true;
	disk.tick = 0;
	for (int call = 0; call < CALLS; call++)
		disk.cost[call] = 10 * 1000;
	disk.cost[FSYNC] = MILLISECOND;
	disk.cost[FDATASYNC] = 300 * 1000;
	probe->duration_ns = 60 * SECOND;
	probe->stop_early = true;
	probe->callbacks.check_space = check_space;
	spaces = 0;
}

/* A slot for each kind comes first. */
static double
mean_ns(sp_segment_part part, sp_segment_kind kind)
{
	return sp_histogram_mean_ns(&probe->results[segments->slots[kind].cases[part]].histogram);
}

/* Of a segment that is made by hand: the first of a kind. */
static sp_segment_work
work_on(sp_segment_kind kind)
{
	plan(true, true);
	for (int i = 0; i < probe->nfiles; i++)
		probe->rotation.in_use[i] = i;
	return (sp_segment_work) {
		.probe = probe, .limit = INT64_MAX, .fill_write_size = FILL,
		.file = &probe->files[kind]
	};
}

TEST(does_what_the_server_does)
{
	/* four writes of 256 kB; durable_rename(); and the descriptor for the flushes */
	static const char *const calls[SP_SEGMENT_KINDS] = {
		[SP_RECYCLED] = "C" "OSCROSCS" "O" "W",
		[SP_ZERO_FILLED] = "OTVVVVSC" "OSCROSCS" "O" "CUS",
		[SP_SPARSE] = "OTWSC" "OSCROSCS" "O" "CUS",
	};

	for (int kind = 0; kind < SP_SEGMENT_KINDS; kind++)
	{
		sp_segment_work work = work_on(kind);

		work.file->position = 1;
		assert_true(sp_segment_make(&work, kind));
		assert_int_equal(work.file->position, 0);
		/* what the engine opens for itself takes no time that counts */
		assert_true(work.ns > 0 && work.ns <= disk.now);
		if (kind != SP_RECYCLED)
			assert_true(sp_segment_remove(&work));
		else					/* one page or less is a plain write */
			assert_int_equal(sp_write_blocks(work.file->fd, buffer, FLUSH, 100, 0), 100);
		assert_string_equal(calls_of(-1), calls[kind]);
		for (int i = 0, fills = 0; i < disk.nrecords; i++)
		{
			if (disk.records[i].call != PWRITEV)
				continue;
			assert_int_equal(disk.records[i].offset, FILL * fills++);
		}
	}
}

/* With few flushes measured, the whole is their mean, as often as a segment has one. */
TEST(adds_creation_and_all_flushes)
{
	double		whole;

	plan(true, true);
	probe->duration_ns = 2 * SECOND;
	run_probe();
	for (int c = 0; c < probe->ncases; c++)
	{
		assert_int_equal(probe->results[c].status, SP_OK);
		assert_int_equal(probe->results[c].series.n, probe->rounds[SP_SATURATED]);
	}
	/* three of five segments are made, in each round and in the one that is not counted */
	assert_int_equal(spaces, 3 * (disk.rounds + 1));
	assert_int_equal(segments->all_flushes, SEGMENT / FLUSH);
	assert_uint_in_range(segments->first_flushes, 8, 100);
	/* 128 flushes of 310 us with their write, and 4 syncs, 4 writes and 6 calls */
	whole = mean_ns(SP_WHOLE_SEGMENT, SP_ZERO_FILLED);
	assert_true(fabs(whole / (128 * 310e3 + 4e6 + 100e3) - 1) < 0.01);
	assert_true(mean_ns(SP_NEW_SEGMENT, SP_ZERO_FILLED) == whole);
	assert_float_equal(mean_ns(SP_CREATION, SP_RECYCLED), 3.05e6, 0.05e6);
	assert_true(probe->finished_ns - probe->started_ns <= probe->duration_ns);
	assert_true(probe->rounds[SP_SATURATED] >= 16);
}

TEST(judges_the_kinds)
{
	static const struct
	{
		bool		recycle;
		bool		init_zero;
		int			more_us[SP_SEGMENT_KINDS];	/* of each write and sync */
		const char *recommended[2];	/* of all, of those that are created; NULL: keep */
	}			rows[] =
	{
		/* to allocate costs: as on ext4 */
		{true, true, {0, 0, 300}, {NULL, NULL}}, {true, false, {0, 0, 300}, {NULL, "zero_fill"}},
		{false, false, {0, 0, 300}, {"recycle", "zero_fill"}},
		/* old segments cost, new ones do not: what the manual expects of copy on write */
		{true, true, {300, 100, 0}, {"sparse", "sparse"}},
		{false, true, {300, 100, 0}, {"sparse", "sparse"}},
		{false, false, {300, 100, 0}, {NULL, NULL}},
	};

	FOR_EACH(row, rows)
	{
		plan(row->recycle, row->init_zero);
		disk.sd = 0.3;
		disk.cost[FSYNC] = 2 * MILLISECOND;
		for (int slot = 0; slot < segments->nslots; slot++)
			disk.home_cost[slot] = row->more_us[segments->slots[slot].kind] * 1000;
		run_probe();
		for (int created = 0; created < 2; created++)
		{
			const char *recommended = row->recommended[created];
			sp_comparison comparison;
			sp_judgement judgement;

			assert_true(sp_segments_judge(probe, created ? "new_segment" : "segment",
										  &comparison, &judgement));
			assert_int_equal(judgement.verdict, recommended ? SP_SWITCH : SP_KEEP);
			assert_true(!recommended || strcmp(recommended,
						comparison.candidates[judgement.recommended].name) == 0);
		}
		/* such differences are settled at the first look, after a quarter of the time */
		assert_true(probe->done);
		assert_uint_in_range(probe->finished_ns - probe->started_ns, 15 * SECOND, 16 * SECOND);
	}
}

static void
become_slow(void *context)
{
	fake_round_done(context);
	disk.cost[FDATASYNC] = 3 * MILLISECOND;
}

/* A disk that becomes slow gets fewer flushes in a round, not fewer rounds; also with rests. */
TEST(adapts_to_a_disk_that_slows_down)
{
	static const double duty_cycles[] = {1, 0.25};

	FOR_EACH(duty_cycle, duty_cycles)
	{
		int64_t		length;

		plan(true, true);
		probe->callbacks.round_done = become_slow;
		probe->stop_early = false;
		probe->duration_ns = 20 * SECOND;
		probe->duty_cycle = *duty_cycle;
		run_probe();
		length = probe->finished_ns - probe->started_ns;
		assert_true(length <= probe->duration_ns);
		assert_float_equal((double) disk.slept / (double) length, 1 - probe->duty_cycle, 0.02);
		assert_true(probe->rounds[SP_SATURATED] >= 16);
		assert_uint_in_range(segments->fewest_flushes, 8, 64);
	}
}

/*
 * Neither a file with the name that a segment would get nor one in its place is touched.  A file
 * that could not be removed is still known: the caller removes it, or reports it.
 */
TEST(touches_no_other_file)
{
	sp_segment_work work = work_on(SP_SPARSE);
	sp_file    *file = work.file;

	__real_close(__real_openat(directory_fd, file->other_name, O_RDWR | O_CREAT | O_EXCL, 0600));
	assert_false(sp_segment_make(&work, SP_SPARSE));
	assert_int_equal(errno, EEXIST);
	assert_int_equal(__real_unlinkat(directory_fd, file->other_name, 0), 0);

	assert_true(sp_segment_make(&work, SP_SPARSE));
	let_fail(UNLINK, 1, EIO);
	sp_segment_discard(file);
	assert_true(file->exists);
	file->inode++;
	assert_false(sp_segment_remove(&work));
	assert_int_equal(errno, ESTALE);
	file->inode--;
	file->device++;
	sp_segment_discard(file);
	assert_int_equal(__real_unlinkat(directory_fd, file->name, 0), 0);
}

TEST_MAIN(set_up, tear_down)
