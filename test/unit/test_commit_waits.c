/*
 * Tests of src/engine/verdict/commit_waits.c: figures, sums and the answer.
 */
#include "unit.h"

#include <string.h>

#include "engine/verdict/commit_waits.h"

/* 1,000 samples in a second: some commits, two at a time, beside so many active sessions. */
#define SAMPLES(n, sessions, ...) { \
	.seconds = 1, .samples = 1000, .active = 1000 * (sessions), .connected = 10000, \
	.wal_busy = 900, .committers = 8, .commits = n, .wal_bytes = 300000, .flushes = 500, \
	.part = __VA_ARGS__}
#define BUSY {[SP_PART_SYNC] = 800,[SP_PART_WRITE] = 200,[SP_PART_QUEUE] = 1000}

/* What follows from the samples by Little's law.  What was not seen is NAN, and never 0 or 1. */
static const struct
{
	const char *scenario;
	sp_commit_sums sums;
	sp_commit_figures figures;
}			figure_cases[] = {
	{"busy", SAMPLES(1000, 4, BUSY), {1000, 2000, {800, 200, 1000}, 0.5, 2, 0.9, 4, 10, 300, 500}},
	/* logical replication commits in processes that are no sessions */
	{"more commit than are active", SAMPLES(1000, 1, BUSY),
		{1000, 2000, {800, 200, 1000}, 1, 2, 0.9, 1, 10, 300, 500}},
	{"every part", SAMPLES(100, 4, {1, 2, 3, 4, 5, 6, 7}),
		{100, 280, {10, 20, 30, 40, 50, 60, 70}, 0.007, 0.028, 0.9, 4, 10, 3000, 500}},
	{"nobody commits", SAMPLES(0, 0, {0}), {0, NAN, {NAN, NAN, NAN, NAN, NAN, NAN, NAN}, NAN,
			0, 0.9, 0, 10, NAN, 500}},
	{"nothing seen", {.flushes = NAN}, {NAN, NAN, {NAN, NAN, NAN, NAN, NAN, NAN, NAN}, NAN,
			NAN, NAN, NAN, NAN, NAN, NAN}},
};

static void
check_figures(const char *scenario, const sp_commit_sums *sums, const sp_commit_figures *expected)
{
	sp_commit_figures figures = sp_commit_figures_of(sums);
	const double *found = (const double *) &figures;
	const double *wanted = (const double *) expected;

	for (size_t i = 0; i < sizeof(figures) / sizeof(double); i++)
	{
		if (!is_same(found[i], wanted[i]))
			fail_msg("%s, figure %zu: %g, not %g", scenario, i, found[i], wanted[i]);
	}
}

TEST(computes_figures)
{
	FOR_EACH(row, figure_cases)
		check_figures(row->scenario, &row->sums, &row->figures);
}

/* Twice the same in twice the time gives the same figures, but for what differs. */
TEST(adds_sums)
{
	sp_commit_sums sums = figure_cases[0].sums;
	sp_commit_sums other = figure_cases[0].sums;
	sp_commit_figures both = figure_cases[0].figures;

	other.committers = 9;
	other.wal_busy = 100;
	both.wal_busy = 0.5;
	sp_commit_sums_add(&sums, &other);
	check_figures("sum", &sums, &both);
	assert_true(sums.commits == 2000 && sums.samples == 2000);
	assert_int_equal(sums.committers, 9);
}

/* Of the active time of sessions, of a commit, of its own WAL, and of what else. */
#define WAITS(share, commit, wal, more, saved) \
	"sessions wait for commits in " share " % of their active time; a commit waits " commit \
	", of which " wal " are writes and syncs of WAL, its own or those ahead of it" more \
	"; syncs in half the time would save " saved " % of the active time"
#define DELAY(us) ", and up to " us " are commit_delay"

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
		{"few commits", 19, 4000, {600, [SP_PART_SYNC_REP] = 400}, 0,
			"too few commits for an answer: 19 in 1.0 s; call it under load"},
		{"a light load", 25, 15, {15}, 0,
			"too few commits for an answer: 25 in 1.0 s; call it under load"},
		{"commits that do not wait", 20000, 4000, {19}, 0,
			"no: commits hardly wait, 19 of 1000 samples saw one that does"},
		{"all in the sync", 1000, 2000, {1000}, 0,
			"yes: " WAITS("50", "1.0 ms", "1.0 ms", "", "25")},
		{"of no session", 1000, 0, {1000}, 0, "yes: " WAITS("100", "1.0 ms", "1.0 ms", "", "50")},
		/* the queue waits for a process that writes and syncs all of its time */
		{"with a queue", 1000, 4000, BUSY, 0, "yes: " WAITS("50", "2.0 ms", "2.0 ms", "", "25")},
		{"commit_delay", 1000, 2000, {[SP_PART_SYNC] = 500, [SP_PART_DELAY] = 500}, 200,
			"yes: " WAITS("50", "1.0 ms", "500 us", DELAY("500 us"), "12")},
		/* most queue behind a process that sleeps */
		{"a long commit_delay", 1000, 10000,
			{[SP_PART_SYNC] = 50, [SP_PART_DELAY] = 950, [SP_PART_QUEUE] = 9000}, 5000,
			"hardly: " WAITS("100", "10 ms", "500 us", DELAY("9.5 ms"), "2")
			"; first try a shorter commit_delay, which is 5000 us"},
		{"asynchronous commits", 1000, 2000, {[SP_PART_RUNNING] = 95, [SP_PART_QUEUE] = 5}, 0,
			"no: commits do not wait for a sync (synchronous_commit may be off)"},
		{"a standby that is gone", 0, 2000, {[SP_PART_SYNC_REP] = 2000}, 0,
			"no: a synchronous standby lets too few commits end"},
		{"a slow standby", 100, 2000, {[SP_PART_SYNC] = 100, [SP_PART_SYNC_REP] = 1900}, 0,
			"no: " WAITS("100", "20 ms", "1.0 ms",
							 ", and 19 ms are for the synchronous standby", "2")},
	};

	FOR_EACH(row, rows)
	{
		sp_commit_sums sums = figure_cases[0].sums;
		char		answer[1024];

		sums.commits = (uint64_t) row->commits;
		sums.active = row->active;
		memcpy(sums.part, row->part, sizeof(sums.part));
		sp_commit_answer(&sums, row->commit_delay, answer, sizeof(answer));
		print_message("# %s\n", row->scenario);
		assert_string_equal(answer, row->answer);
	}
}

TEST_MAIN(NULL, NULL)
