/*-------------------------------------------------------------------------
 *
 * test_commit_waits.c
 *	  Tests of src/engine/verdict/commit_waits.c: figures, sums and the answer.
 *
 *-------------------------------------------------------------------------
 */
#include "unit.h"

#include <string.h>

#include "engine/verdict/commit_waits.h"

#define ANSWER_SIZE	1024

/* 1,000 samples in a second: two of four active sessions commit, a thousand times. */
static sp_commit_sums
busy(void)
{
	sp_commit_sums sums = {
		.seconds = 1,
		.samples = 1000,
		.active = 4000,
		.connected = 10000,
		.wal_busy = 900,
		.committers = 8,
		.commits = 1000,
		.wal_bytes = 300000,
		.flushes = 500,
	};

	sums.part[SP_PART_SYNC] = 800;
	sums.part[SP_PART_WRITE] = 200;
	sums.part[SP_PART_QUEUE] = 1000;
	return sums;
}

TEST(follows_from_littles_law)
{
	sp_commit_sums sums = busy();
	sp_commit_figures figures;

	sp_commit_figures_of(&sums, &figures);
	assert_float_equal(figures.commits_per_sec, 1000, 1e-9);
	assert_float_equal(figures.committing, 2, 1e-9);
	assert_float_equal(figures.wait_us, 2000, 1e-9);
	assert_float_equal(figures.part_us[SP_PART_SYNC], 800, 1e-9);
	assert_float_equal(figures.part_us[SP_PART_QUEUE], 1000, 1e-9);
	assert_float_equal(figures.wait_share, 0.5, 1e-9);
	assert_float_equal(figures.connected, 10, 1e-9);
	assert_float_equal(figures.wal_busy, 0.9, 1e-9);
	assert_float_equal(figures.wal_bytes_per_commit, 300, 1e-9);
	assert_float_equal(figures.flushes_per_sec, 500, 1e-9);
}

TEST(parts_add_up)
{
	sp_commit_sums sums = busy();
	sp_commit_figures figures;
	double		sum = 0;

	for (int p = 0; p < SP_COMMIT_PARTS; p++)
		sums.part[p] = 10 * p + 1;
	sp_commit_figures_of(&sums, &figures);
	for (int p = 0; p < SP_COMMIT_PARTS; p++)
		sum += figures.part_us[p];
	assert_float_equal(sum, figures.wait_us, 1e-6);
}

/* What was not seen is NAN, and never 0 or 1. */
TEST(tells_what_is_unknown)
{
	sp_commit_sums nothing = {.flushes = NAN};
	sp_commit_sums idle = {.seconds = 5, .samples = 5000, .connected = 5000};
	sp_commit_figures figures;

	sp_commit_figures_of(&nothing, &figures);
	assert_true(isnan(figures.commits_per_sec));
	assert_true(isnan(figures.wait_us));
	assert_true(isnan(figures.wait_share));
	assert_true(isnan(figures.flushes_per_sec));
	assert_true(isnan(figures.wal_busy));
	sp_commit_figures_of(&idle, &figures);
	assert_true(figures.commits_per_sec == 0);
	assert_true(figures.wal_busy == 0);
	assert_true(isnan(figures.wait_us));
	assert_true(isnan(figures.wait_share));
	assert_true(isnan(figures.wal_bytes_per_commit));
}

/* Processes of logical replication commit, too, and are no sessions. */
TEST(share_is_at_most_one)
{
	sp_commit_sums sums = busy();
	sp_commit_figures figures;

	sums.active = 1000;
	sp_commit_figures_of(&sums, &figures);
	assert_true(figures.wait_share == 1);
}

TEST(adds_sums)
{
	sp_commit_sums sums = busy();
	sp_commit_sums other = busy();
	sp_commit_figures one;
	sp_commit_figures both;

	other.committers = 9;
	other.wal_busy = 100;
	sp_commit_figures_of(&sums, &one);
	sp_commit_sums_add(&sums, &other);
	sp_commit_figures_of(&sums, &both);
	assert_true(sums.commits == 2000 && sums.samples == 2000);
	assert_int_equal(sums.committers, 9);
	assert_float_equal(both.wal_busy, 0.5, 1e-9);
	assert_float_equal(one.wait_us, both.wait_us, 1e-9);
	assert_float_equal(one.wait_share, both.wait_share, 1e-9);
	assert_float_equal(one.flushes_per_sec, both.flushes_per_sec, 1e-9);
}

TEST(answers)
{
	static const struct
	{
		const char *scenario;
		int64_t		commits;
		int64_t		active;
		int64_t		part[SP_COMMIT_PARTS];
		int			commit_delay;
		const char *answer;
	}			rows[] = {
		{"few commits", 19, 4000, {1000}, 0, "too few commits for an answer: 19 in 1.0 s"},
		{"commits that do not wait", 20000, 4000, {19}, 0,
			"no: commits hardly wait, 19 of 1000 samples saw one that does"},
		{"all in the sync", 1000, 2000, {1000}, 0,
			"yes: sessions wait for commits in 50 % of their active time; a commit waits 1.0 ms, "
			"of which 1.0 ms are writes and syncs of WAL, its own or those ahead of it; syncs in "
			"half the time would save 25 % of the active time"},
		/* the queue waits for a process that writes and syncs all of its time */
		{"with a queue", 1000, 4000,
			{[SP_PART_SYNC] = 800, [SP_PART_WRITE] = 200, [SP_PART_QUEUE] = 1000}, 0,
			"yes: sessions wait for commits in 50 % of their active time; a commit waits 2.0 ms, "
			"of which 2.0 ms are writes and syncs of WAL, its own or those ahead of it; syncs in "
			"half the time would save 25 % of the active time"},
		{"little of the time", 1000, 100000, {[SP_PART_SYNC] = 1000}, 0,
			"hardly: sessions wait for commits in 1 % of their active time; a commit waits 1.0 ms, "
			"of which 1.0 ms are writes and syncs of WAL, its own or those ahead of it; syncs in "
			"half the time would save 0 % of the active time"},
		{"commit_delay without a wait event", 1000, 2000,
			{[SP_PART_SYNC] = 500, [SP_PART_RUNNING] = 500}, 200,
			"yes: sessions wait for commits in 50 % of their active time; a commit waits 1.0 ms, "
			"of which 500 us are writes and syncs of WAL, its own or those ahead of it, and up to "
			"500 us are commit_delay; syncs in half the time would save 12 % of the active time"},
		/* most queue behind a process that sleeps */
		{"a long commit_delay", 1000, 10000,
			{[SP_PART_SYNC] = 50, [SP_PART_RUNNING] = 950, [SP_PART_QUEUE] = 9000}, 5000,
			"hardly: sessions wait for commits in 100 % of their active time; a commit waits 10 "
			"ms, of which 500 us are writes and syncs of WAL, its own or those ahead of it, and up "
			"to 9.5 ms are commit_delay; syncs in half the time would save 2 % of the active time; "
			"first try a shorter commit_delay, which is 5000 us"},
		{"asynchronous commits", 1000, 2000, {[SP_PART_RUNNING] = 95, [SP_PART_QUEUE] = 5}, 0,
			"no: commits do not wait for a sync (synchronous_commit may be off)"},
		{"a slow standby", 100, 2000, {[SP_PART_SYNC] = 100, [SP_PART_SYNC_REP] = 1900}, 0,
			"hardly: sessions wait for commits in 100 % of their active time; a commit waits 20 "
			"ms, of which 1.0 ms are writes and syncs of WAL, its own or those ahead of it, and 19 "
			"ms are for the synchronous standby; syncs in half the time would save 2 % of the "
			"active time"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
	{
		sp_commit_sums sums = busy();
		char		answer[ANSWER_SIZE];

		sums.commits = (uint64_t) rows[i].commits;
		sums.active = rows[i].active;
		memcpy(sums.part, rows[i].part, sizeof(sums.part));
		sp_commit_answer(&sums, rows[i].commit_delay, answer, sizeof(answer));
		print_message("# %s\n", rows[i].scenario);
		assert_string_equal(answer, rows[i].answer);
	}
}

TEST_MAIN(NULL, NULL)
