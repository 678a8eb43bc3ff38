/*
 * Tests of the windows of src/engine/verdict/evidence.c.
 */
#include "unit.h"

#include <string.h>

#include "engine/verdict/evidence.h"

/* Add so many windows; in each, the two disks of the level have so many flushes. */
static void
add_windows(sp_window_count *counts, int n, uint64_t first, uint64_t second)
{
	sp_counters before[SP_LEVELS] = {
		{.has_flushes = true,.flushes = 10,.nmembers = 2,.required = 1,.member_flushes = {3, 7}},
		{.has_flushes = false},
	};
	sp_counters after[SP_LEVELS];

	memcpy(after, before, sizeof(after));
	after[0].flushes += first + second;
	after[0].member_flushes[0] += first;
	after[0].member_flushes[1] += second;
	for (int i = 0; i < n; i++)
		sp_windows_add(counts, before, after);
}

TEST(counts_windows_without_a_flush)
{
	sp_windows	windows = {0};
	sp_counters less[SP_LEVELS] = {{.has_flushes = true}, {.has_flushes = true}};
	sp_counters more[SP_LEVELS] = {{.has_flushes = true,.flushes = 1}, {.has_flushes = true}};

	add_windows(windows.syncs, 5, 1, 2);
	add_windows(windows.syncs, 3, 2, 0);
	add_windows(windows.syncs, 2, 0, 4);
	/* not at a level that counts no flushes */
	assert_int_equal(windows.syncs[1].all, 0);
	/* a level goes backwards, and the other one does not */
	sp_windows_add(windows.syncs, more, less);
	assert_int_equal(windows.syncs[0].all, 10);
	assert_int_equal(windows.syncs[0].unflushed, 5);
	assert_int_equal(windows.syncs[0].lacking, 2);
	assert_int_equal(windows.syncs[1].all, 1);
	assert_int_equal(windows.syncs[1].unflushed, 1);
}

/* Unknown (?), more than the most that is no proof (+), or not (-). */
static char
tells(double share, double most)
{
	return isnan(share) ? '?' : share > most ? '+' : '-';
}

/*
 * What was seen beside others: whether it proves that half of the syncs flush, and that more
 * than some do not.
 */
TEST(compares_syncs_with_controls)
{
	static const struct
	{
		int			syncs;
		int			syncs_without;
		int			controls;
		int			controls_without;
		const char *tells;
	}			rows[] = {
		{0, 0, 0, 0, "??"}, {100, 0, 0, 0, "?-"}, {100, 13, 0, 0, "?+"}, {100, 11, 0, 0, "?-"},
		/* others flush all the time, or nearly */
		{100, 0, 100, 0, "?-"}, {100, 0, 101, 1, "--"},
		/* a quiet device */
		{100, 0, 100, 100, "+-"}, {100, 100, 100, 100, "-+"},
		/* beside pgbench, and beside a program that flushes */
		{200, 0, 200, 47, "+-"}, {60, 0, 60, 15, "+-"}, {200, 33, 200, 68, "-+"},
		{200, 0, 200, 6, "--"},
		/* too few, or too many */
		{5, 0, 5, 1, "--"}, {100, 1, 3, 3, "+-"}, {100, 1, 3, 1, "--"},
		{100, 20, 100, 40, "-+"}, {1000, 10, 1000, 300, "+-"},
	};

	FOR_EACH(row, rows)
	{
		sp_windows	windows = {0};

		add_windows(windows.syncs, row->syncs_without, 0, 1);
		add_windows(windows.syncs, row->syncs - row->syncs_without, 1, 1);
		add_windows(windows.controls, row->controls_without, 0, 1);
		add_windows(windows.controls, row->controls - row->controls_without, 1, 1);
		print_message("# row %d\n", (int) (row - rows));
		assert_int_equal(tells(sp_windows_own_share(&windows, SP_LEVEL_DEVICE), 0.5),
						 row->tells[0]);
		assert_int_equal(tells(sp_windows_lacking_share(&windows, SP_LEVEL_DEVICE), 0.05),
						 row->tells[1]);
		assert_true(isnan(sp_windows_own_share(&windows, SP_LEVEL_BACKING)));
	}
}

TEST_MAIN(NULL, NULL)
