/*
 * Tests of sp_power_judge(): what a ring of four blocks shows after a power cut.
 */
#include "unit.h"

#include <string.h>

#include "engine/measure/measure.h"

#define BLOCKS	4

/* Number n is in block n % 4; 0: the block is not whole. */
TEST(judges_what_a_ring_shows)
{
	static const struct
	{
		int64_t		numbers[BLOCKS];
		int64_t		seen;
		const char *durable;
		int64_t		newest;
		int64_t		lost;
	}			rings[] = {
		/* not yet full: blocks that were never written mean nothing */
		{{0, 0, 0, 0}, 0, "unknown", 0, 0}, {{0, 1, 2, 0}, 1, "proven", 2, 0},
		{{0, 1, 2, 0}, 3, "refuted", 2, 1}, {{0, 0, 2, 0}, 0, "refuted", 2, 1},
		{{0, 1, 2, 3}, 3, "proven", 3, 0},
		/* number 5 is being written over 1 */
		{{4, 0, 2, 3}, 4, "proven", 4, 0}, {{4, 0, 2, 3}, 5, "refuted", 4, 1},
		{{4, 1, 2, 3}, 5, "refuted", 4, 1},
		/* what the client did not see was synced, too, if a later number is there */
		{{8, 5, 6, 7}, 1, "proven", 8, 0}, {{8, 9, 0, 7}, 8, "proven", 9, 0},
		{{4, 9, 6, 7}, 7, "refuted", 9, 1}, {{0, 9, 0, 7}, 9, "refuted", 9, 1},
		/* all is old, or gone, or the number is wrong */
		{{4, 5, 2, 3}, 9, "refuted", 5, 4}, {{0, 0, 0, 0}, 9, "refuted", 0, 3},
		{{8, 5, 6, 7}, INT64_MAX, "refuted", 8, 4},
	};

	FOR_EACH(ring, rings)
	{
		sp_power_judgement found = sp_power_judge(ring->numbers, BLOCKS, ring->seen, true);

		print_message("ring %d\n", (int) (ring - rings));
		assert_string_equal(found.durable, ring->durable);
		assert_int_equal(found.newest, ring->newest);
		assert_int_equal(found.lost, ring->lost);

		/* what is read in the same boot says nothing */
		found = sp_power_judge(ring->numbers, BLOCKS, ring->seen, false);
		assert_string_equal(found.durable, "unknown");
		assert_true(ring->seen > ring->newest || strstr(found.reason, "not restarted"));
	}
}

/* A file like a segment, of the method of the server; a smaller one if it is large. */
TEST(plans_one_file)
{
	static sp_probe probe;
	sp_server	server = {.current = sp_sync_method_find("fsync")};

	for (int megabytes = 1; megabytes <= 64; megabytes *= 4)
	{
		probe.nfiles = 0;
		server.segment_size = megabytes * INT64_C(1048576);
		sp_power_plan(&probe, &server);
		assert_int_equal(probe.nfiles, 1);
		assert_ptr_equal(probe.files[0].method, server.current);
		assert_int_equal(probe.files[0].size, (megabytes < 16 ? megabytes : 16) * 1048576);
	}
}

TEST_MAIN(NULL, NULL)
