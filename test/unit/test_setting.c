/*-------------------------------------------------------------------------
 *
 * test_setting.c
 *	  Tests of src/engine/verdict/setting.c: rounds of a setting's values, and their verdict.
 *
 *-------------------------------------------------------------------------
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/verdict/setting.h"

#define ROUNDS	60

/* Two values, of which the first is the current one. */
static sp_setting_comparison *
two_values(sp_setting_figure deciding)
{
	sp_setting_comparison *setting = calloc(1, sizeof(*setting));

	assert_non_null(setting);
	setting->setting = "wal_sync_method";
	setting->unit = "";
	setting->count = 2;
	setting->margin = 0.05;
	setting->deciding = deciding;
	setting->values[0].value = "fsync";
	setting->values[1].value = "fdatasync";
	return setting;
}

/*
 * Rounds on a disk that becomes three times as slow, with noise of 2 %: the other value
 * takes this share of the current one's wait, and makes this share of its commits.
 */
static void
add_rounds(sp_setting_comparison *setting, int n, double wait, double rate, uint64_t seed)
{
	for (int i = 0; i < n; i++)
	{
		double		drift = 1 + 2.0 * i / n;
		double		wait_us[] = {500 * drift, 500 * drift * wait, 500 * drift};
		double		per_sec[] = {2000 / drift, 2000 / drift * rate, 2000 / drift};

		for (int v = 0; v < 3; v++)
		{
			wait_us[v] *= exp(0.02 * random_normal(&seed));
			per_sec[v] *= exp(0.02 * random_normal(&seed));
		}
		sp_setting_add_round(setting, wait_us, per_sec);
	}
}

static sp_verdict
judge_and_explain(sp_setting_comparison *setting, char reason[SP_REASON_SIZE])
{
	sp_setting_judge(setting, 0.05);
	sp_setting_explain(setting, reason, SP_REASON_SIZE);
	return setting->judgement.verdict;
}

TEST(judges)
{
	static const struct
	{
		const char *scenario;
		sp_setting_figure deciding;
		double		wait;
		double		rate;
		sp_verdict	verdict;
		const char *begins;
	}			rows[] = {
		{"shorter wait, more commits", SP_COMMIT_WAIT, 0.8, 1.1, SP_SWITCH,
		"with fdatasync a commit takes 20 % less time than with fsync; time per commit: "},
		/* the figure that does not decide is shown, and has no say */
		{"shorter wait, fewer commits", SP_COMMIT_WAIT, 0.8, 0.8, SP_SWITCH,
		"with fdatasync a commit takes 20 % less time than with fsync; time per commit: "},
		{"longer wait, more commits", SP_COMMIT_WAIT, 1.2, 1.2, SP_KEEP,
		"every other value is slower than fsync; time per commit: fdatasync +"},
		{"equal", SP_COMMIT_WAIT, 1, 1, SP_KEEP, "no other value can gain more than "},
		{"more commits decide", SP_COMMIT_RATE, 1, 1.2, SP_SWITCH,
		"with fdatasync there are 19 % more commits per second than with fsync; commits per "},
		{"fewer commits decide", SP_COMMIT_RATE, 0.8, 0.8, SP_KEEP,
		"every other value is slower than fsync; commits per second: fdatasync -"},
	};

	for (size_t i = 0; i < lengthof(rows); i++)
	{
		sp_setting_comparison *setting = two_values(rows[i].deciding);
		char		reason[SP_REASON_SIZE];

		add_rounds(setting, ROUNDS, rows[i].wait, rows[i].rate, i + 1);
		assert_int_equal(judge_and_explain(setting, reason), rows[i].verdict);
		print_message("# %s: %s\n", rows[i].scenario, reason);
		assert_int_equal(setting->judgement.recommended, rows[i].verdict == SP_SWITCH);
		assert_memory_equal(reason, rows[i].begins, strlen(rows[i].begins));
		/* both figures are shown, the deciding one first */
		assert_int_equal(strstr(reason, "; time per commit: fdatasync ") <
						 strstr(reason, "; commits per second: fdatasync "),
						 rows[i].deciding == SP_COMMIT_WAIT);
		free(setting);
	}
}

/* Without rounds enough there is no verdict, however clear an estimate is. */
TEST(needs_enough_rounds)
{
	sp_setting_comparison *setting = two_values(SP_COMMIT_WAIT);
	char		reason[SP_REASON_SIZE];

	add_rounds(setting, SP_MIN_SAMPLES - 1, 0.5, 2, 1);
	assert_int_equal(judge_and_explain(setting, reason), SP_UNDECIDED);
	assert_true(setting->values[1].speed[SP_COMMIT_WAIT].estimate > 1.5);
	assert_string_equal(reason, "too few rounds to compare: 15 of 16; a longer run may decide");
	add_rounds(setting, 1, 0.5, 2, 3);
	assert_int_equal(judge_and_explain(setting, reason), SP_SWITCH);
	free(setting);
}

/* A value that is left out has no figures, and is no competitor; of two one is left. */
TEST(leaves_out_values)
{
	sp_setting_comparison *setting = two_values(SP_COMMIT_WAIT);
	char		reason[SP_REASON_SIZE];

	setting->count = 3;
	setting->values[2].value = "fsync_writethrough";
	setting->values[2].left_out = "it is slow";
	assert_int_equal(sp_setting_others(setting), 1);
	for (int i = 0; i < ROUNDS; i++)
		sp_setting_add_round(setting, (const double[]) {500, 250 + i % 2, 0, 501},
							 (const double[]) {1, 1, 0, 1});
	assert_int_equal(setting->rounds, ROUNDS);
	assert_int_equal(judge_and_explain(setting, reason), SP_SWITCH);
	assert_int_equal(setting->judgement.recommended, 1);
	assert_non_null(strstr(reason, "; fsync_writethrough was left out: it is slow"));

	setting->values[1].left_out = "so is this";
	assert_int_equal(sp_setting_others(setting), 0);
	assert_int_equal(judge_and_explain(setting, reason), SP_UNDECIDED);
	assert_string_equal(reason, "no other value is left; fdatasync was left out: so is this; "
						"fsync_writethrough was left out: it is slow");
	free(setting);
}

/* What the server's commits were in a trial may leave nothing to compare. */
TEST(needs_commits_that_wait)
{
	static const struct
	{
		const char *scenario;
		sp_setting_figure deciding;
		int			rounds;
		int			lost_rounds;
		sp_commit_sums seen;
		bool		fsync_off;
		sp_verdict	verdict;
		const char *nothing;	/* if undecided */
	}			rows[] = {
		{"no time", SP_COMMIT_WAIT, 0, 0, {.commits = 1}, false, SP_UNDECIDED,
		"the duration left no time for a round; repeat it with a longer one"},
		{"no commits", SP_COMMIT_WAIT, 0, 0, {.commits = 0}, false, SP_UNDECIDED,
		"no transaction that writes has committed; repeat it while sessions write"},
		{"few", SP_COMMIT_RATE, 0, 1, {.commits = 1}, false, SP_UNDECIDED,
		"commits were too few, or did not wait: synchronous_commit may be off"},
		{"asynchronous", SP_COMMIT_WAIT, ROUNDS, 0,
			{.commits = 9, .part = {[SP_PART_RUNNING] = 9}}, false, SP_UNDECIDED,
		"commits did not wait for a flush of WAL: synchronous_commit may be off"},
		{"asynchronous, the rate decides", SP_COMMIT_RATE, ROUNDS, 0,
		{.commits = 9, .part = {[SP_PART_RUNNING] = 9}}, false, SP_SWITCH, NULL},
		{"flushes", SP_COMMIT_WAIT, ROUNDS, 0,
		{.commits = 9, .part = {[SP_PART_SYNC] = 9}}, false, SP_SWITCH, NULL},
		{"fsync is off", SP_COMMIT_WAIT, 0, 0, {.commits = 0}, true, SP_UNSAFE, NULL},
	};

	for (size_t i = 0; i < lengthof(rows); i++)
	{
		sp_setting_comparison *setting = two_values(rows[i].deciding);
		char		reason[SP_REASON_SIZE];

		setting->seen = &rows[i].seen;
		setting->fsync_off = rows[i].fsync_off;
		setting->lost_rounds = rows[i].lost_rounds;
		add_rounds(setting, rows[i].rounds, 0.5, 2, 1);
		if (judge_and_explain(setting, reason) != rows[i].verdict)
			fail_msg("%s: %s", rows[i].scenario, reason);
		if (rows[i].verdict == SP_UNDECIDED)
		{
			assert_string_equal(reason, rows[i].nothing);
			assert_int_equal(setting->judgement.recommended, 0);
			assert_int_equal(setting->judgement.best, 0);
			assert_true(isnan(setting->judgement.max_regret) &&
						isnan(setting->judgement.times_as_long));
		}
		free(setting);
	}
}

TEST(leaves_out_rounds_without_commits)
{
	static const double rounds[][3] = {
		{500, 400, 500}, {500, 0, 500}, {500, 400, NAN}, {-1, 400, 500},
	};
	sp_setting_comparison *setting = two_values(SP_COMMIT_WAIT);
	char		reason[SP_REASON_SIZE];
	char		lost[64];

	for (int i = 0; i < (int) lengthof(rounds); i++)
	{
		/* whichever figure it is that is missing */
		sp_setting_add_round(setting, rounds[i % 2 == 0 ? i : 0], rounds[i % 2 == 0 ? 0 : i]);
		judge_and_explain(setting, reason);
		assert_int_equal(setting->rounds, 1);
		assert_int_equal(setting->lost_rounds, i);
		snprintf(lost, sizeof(lost), "; %d round%s had a slot without a commit", i,
				 i == 1 ? "" : "s");
		assert_int_equal(strstr(reason, lost) != NULL, i > 0);
	}
	free(setting);
}

TEST(keeps_within_its_room)
{
	sp_setting_comparison *setting = two_values(SP_COMMIT_WAIT);

	add_rounds(setting, SP_SETTING_MAX_ROUNDS + 10, 0.8, 1.1, 3);
	assert_int_equal(setting->rounds, SP_SETTING_MAX_ROUNDS);
	sp_setting_judge(setting, 0.05);
	assert_int_equal(setting->judgement.verdict, SP_SWITCH);
	free(setting);
}

TEST_MAIN(NULL, NULL)
