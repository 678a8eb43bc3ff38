/*
 * Tests of src/engine/storage/diskstats.c on lines as kernels write them.
 *
 * It must not: look at the disks of the machine it runs on.
 */
#include "unit.h"

#include <string.h>

#include "engine/storage/diskstats.h"

#define COUNTED(n, bytes, counts_flushes, flushed, busy, request) { \
	.writes = n, .written_bytes = bytes, .has_flushes = counts_flushes, .flushes = flushed, \
	.busy_ms = busy, .request_ms = request}

static const struct
{
	const char *name;
	const char *text;
	sp_counters counters;		/* all zero if not understood */
}			parse_cases[] =
{
	{"before 4.18", "     421        2     6338       43      667     1234     8952"
		"      912        0      660      955\n",
	COUNTED(667, 8952 * 512, false, 0, 660, 43 + 912)},
	/* flushes since 5.5; each field is read from its place, and no other one matters */
	{"a later kernel", "1 2 4 8 16 32 64 128 256 512 1024 2048 4096 8192 16384 32768 65536 7 7\n",
	COUNTED(16, 64 * 512, true, 32768, 512, 8 + 128 + 16384 + 65536)},
	{"flushes without their time", "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n",
	COUNTED(5, 7 * 512, false, 0, 10, 4 + 8 + 15)},
	{"ten fields", "1 2 3 4 5 6 7 8 9 10\n", {0}},
};

/*
 * The difference between two readings of which the first has 10 writes of 100 bytes, 5
 * flushes, 50 ms and 60 ms; if any counter goes backwards there is none.
 */
static const struct
{
	const char *name;
	sp_counters before;
	sp_counters after;
	sp_counters delta;
}			between_cases[] =
{
#define BEFORE COUNTED(10, 100, true, 5, 50, 60)
	{"all", BEFORE, COUNTED(13, 104, true, 10, 56, 67), COUNTED(3, 4, true, 5, 6, 7)},
	{"writes back", BEFORE, COUNTED(9, 104, true, 10, 56, 67), {0}},
	{"bytes back", BEFORE, COUNTED(13, 99, true, 10, 56, 67), {0}},
	{"flushes back", BEFORE, COUNTED(13, 104, true, 4, 56, 67), {0}},
	{"busy back", BEFORE, COUNTED(13, 104, true, 10, 49, 67), {0}},
	{"time back", BEFORE, COUNTED(13, 104, true, 10, 56, 59), {0}},
};

static void
check_counters(const char *name, bool understood, const sp_counters *found,
			   const sp_counters *expected)
{
	if (understood != (expected->writes > 0) || found->writes != expected->writes ||
		found->written_bytes != expected->written_bytes ||
		found->has_flushes != expected->has_flushes || found->flushes != expected->flushes ||
		found->busy_ms != expected->busy_ms || found->request_ms != expected->request_ms)
		fail_msg("%s: %d, %ju writes, %ju flushes, %ju ms, %ju ms", name, understood,
				 (uintmax_t) found->writes, (uintmax_t) found->flushes,
				 (uintmax_t) found->busy_ms, (uintmax_t) found->request_ms);
}

TEST(takes_numbers_out_of_a_line)
{
	FOR_EACH(row, parse_cases)
	{
		sp_counters counters;
		bool		understood;

		memset(&counters, 'x', sizeof(counters));
		understood = sp_counters_parse(row->text, &counters);
		check_counters(row->name, understood, &counters, &row->counters);
	}
}

TEST(subtracts_readings)
{
	FOR_EACH(row, between_cases)
	{
		sp_counters delta;
		bool		understood;

		memset(&delta, 'x', sizeof(delta));
		understood = sp_counters_between(&row->before, &row->after, &delta);
		check_counters(row->name, understood, &delta, &row->delta);
	}
}

/* Two mirrors, of which one must be flushed, and how often each of them was. */
static sp_counters
level_of_two(uint64_t first, uint64_t second)
{
	return (sp_counters) {
		.has_flushes = true,.flushes = first + second,
		.nmembers = 2,.required = 2,.member_flushes = {first, second},
	};
}

TEST(keeps_the_flushes_of_members)
{
	sp_counters before = level_of_two(100, 1000);
	sp_counters after = level_of_two(100, 1005);
	sp_counters sum;
	sp_counters delta;

	assert_true(sp_counters_between(&before, &after, &sum));
	assert_float_equal(sp_counters_least_flushes(&sum), 0, 0);
	assert_float_equal(sp_counters_required_flushes(&sum), 5, 0);
	before = level_of_two(102, 1006);
	assert_true(sp_counters_between(&after, &before, &delta));
	sp_counters_add(&sum, &delta);
	assert_int_equal(sum.flushes, 8);
	assert_float_equal(sp_counters_least_flushes(&sum), 2, 0);
	assert_float_equal(sp_counters_required_flushes(&sum), 6, 0);

	/* one goes back, while the sum does not */
	after = level_of_two(101, 2000);
	assert_false(sp_counters_between(&before, &after, &delta));
	assert_int_equal(delta.nmembers, 0);
}

TEST_MAIN(NULL, NULL)
