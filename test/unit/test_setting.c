/*
 * Tests of src/engine/verdict/setting.c: rounds of a setting's values, and their verdict.
 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "engine/verdict/setting.h"

#define ROUNDS	60

static sp_setting_comparison the_setting;
static sp_setting_comparison *const setting = &the_setting;
static char reason[SP_REASON_SIZE];

/* Two values, of which the first is the current one. */
static void
set_two_values(sp_setting_figure deciding)
{
	memset(setting, 0, sizeof(*setting));
	setting->setting = "wal_sync_method";
	setting->unit = "";
	setting->count = 2;
	setting->comparison.margin = 0.05;
	setting->deciding = deciding;
	setting->values[0].value = "fsync";
	setting->values[1].value = "fdatasync";
}

/*
 * Rounds on a disk that becomes three times as slow, with noise of 2 %: the other value
 * takes this share of the current one's wait, and makes this share of its commits.
 */
static void
add_rounds(int n, double wait, double rate)
{
	uint64_t	seed = 1;

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
judge_and_explain(void)
{
	sp_setting_judge(setting, 0.05);
	sp_setting_explain(setting, reason, sizeof(reason));
	return setting->judgement.verdict;
}

/* What the server's commits were in a trial may leave nothing to compare. */
#define SEEN(...)		.seen = &(const sp_commit_sums) {__VA_ARGS__}
#define SEEN_ALL(where)	SEEN(.commits = 9, .part = {[SP_PART_##where] = 9})

static const struct
{
	sp_setting_figure deciding;
	int			rounds;
	double		wait;
	double		rate;
	sp_verdict	verdict;
	const sp_commit_sums *seen;
	int			lost_rounds;
	bool		fsync_off;
	const char *begins;			/* the reason */
}			judge_cases[] = {
	/* both figures are shown, the deciding one first */
	{SP_COMMIT_WAIT, ROUNDS, 0.8, 1.1, SP_SWITCH,
	.begins = "with fdatasync a commit takes 20 % less time than with fsync; time per commit: "
	"fdatasync -21 to -20 %; commits per second: fdatasync +8.9 to +10 %"},
	/* the figure that does not decide is shown, and has no say */
	{SP_COMMIT_WAIT, ROUNDS, 0.8, 0.8, SP_SWITCH, .begins = "with fdatasync a commit takes 20 % "},
	{SP_COMMIT_RATE, ROUNDS, 1, 1.2, SP_SWITCH,
	.begins = "with fdatasync there are 20 % more commits per second than with fsync; commits per "
	"second: fdatasync +19 to +20 %; time per commit: fdatasync -0.9 to +0.4 %"},
	{SP_COMMIT_RATE, ROUNDS, 0.8, 0.8, SP_KEEP,
	.begins = "every other value is slower than fsync; commits per second: fdatasync -"},
	/* without rounds enough there is no verdict, however clear an estimate is */
	{SP_COMMIT_WAIT, SP_MIN_SAMPLES - 1, 0.5, 2, SP_UNDECIDED,
	.begins = "too few samples to compare: 15 of 16; a run about 2 times as long may decide"},
	{SP_COMMIT_WAIT, SP_MIN_SAMPLES, 0.5, 2, SP_SWITCH, .begins = ""},
	/* more than there is room for */
	{SP_COMMIT_WAIT, SP_SETTING_MAX_ROUNDS + 10, 0.8, 1.1, SP_SWITCH, .begins = ""},
	/* no time, no commits, few of them, and commits that do not wait for a flush */
	{SP_COMMIT_WAIT, 0, 1, 1, SP_UNDECIDED, SEEN(.commits = 1),
	.begins = "the duration left no time for a round; repeat it with a longer one"},
	{SP_COMMIT_WAIT, 0, 1, 1, SP_UNDECIDED, SEEN(0),
	.begins = "no transaction that writes has committed; repeat it while sessions write"},
	{SP_COMMIT_RATE, 0, 1, 1, SP_UNDECIDED, SEEN(.commits = 1), .lost_rounds = 1,
	.begins = "commits were too few, or did not wait: synchronous_commit may be off"},
	{SP_COMMIT_WAIT, ROUNDS, 0.5, 2, SP_UNDECIDED, SEEN_ALL(RUNNING),
	.begins = "commits did not wait for a flush of WAL: synchronous_commit may be off"},
	{SP_COMMIT_RATE, ROUNDS, 0.5, 2, SP_SWITCH, SEEN_ALL(RUNNING), .begins = ""},
	{SP_COMMIT_WAIT, ROUNDS, 0.5, 2, SP_SWITCH, SEEN_ALL(SYNC), .begins = ""},
	{SP_COMMIT_WAIT, 0, 1, 1, SP_UNSAFE, SEEN(0), .fsync_off = true, .begins = ""},
};

TEST(judges)
{
	FOR_EACH(row, judge_cases)
	{
		const sp_judgement *judgement = &setting->judgement;

		set_two_values(row->deciding);
		setting->seen = row->seen;
		setting->comparison.fsync_off = row->fsync_off;
		setting->lost_rounds = row->lost_rounds;
		add_rounds(row->rounds, row->wait, row->rate);
		if (judge_and_explain() != row->verdict ||
			strncmp(reason, row->begins, strlen(row->begins)) != 0)
			fail_msg("row %d: %s", (int) (row - judge_cases), reason);
		assert_int_equal(judgement->recommended, row->verdict == SP_SWITCH);
		assert_int_equal(setting->rounds, fmin(row->rounds, SP_SETTING_MAX_ROUNDS));
		/* where nothing could be compared, nothing is known */
		if (row->verdict != SP_UNDECIDED || row->seen == NULL)
			continue;
		assert_int_equal(judgement->best, 0);
		assert_true(isnan(judgement->max_regret));
		/* and a longer run helps only if there were commits, but no round of them */
		assert_true(row->rounds == 0 && row->seen->commits > 0 ?
					isnan(judgement->times_as_long) : judgement->times_as_long == 1);
	}
}

/* The speed of the current value is that of its control: what noise alone makes. */
TEST(shows_noise_of_the_current_value)
{
	const sp_setting_value *current = &setting->values[0];
	const sp_setting_value *control = &setting->values[2];

	set_two_values(SP_COMMIT_WAIT);
	add_rounds(ROUNDS, 0.8, 1.1);
	for (int i = 0; i < ROUNDS; i++)
		setting->values[2].us[SP_COMMIT_WAIT][i] *= 1.1;
	judge_and_explain();
	for (sp_setting_figure figure = 0; figure < SP_SETTING_FIGURES; figure++)
	{
		sp_speed	noise = sp_speed_interval(current->us[figure], control->us[figure], ROUNDS,
											  0.05, 1, setting->workspace);

		assert_memory_equal(&current->speed[figure], &noise, sizeof(noise));
	}
	/* a control that differs is no second baseline */
	assert_true(fabs(setting->values[1].speed[SP_COMMIT_WAIT].estimate * 0.8 - 1) < 0.02);
}

/* A value that is left out has no figures, and is no competitor; of two one is left. */
TEST(leaves_out_values)
{
	set_two_values(SP_COMMIT_WAIT);
	setting->count = 3;
	setting->values[2].value = "fsync_writethrough";
	setting->values[2].left_out = "it is slow";
	assert_int_equal(sp_setting_others(setting), 1);
	for (int i = 0; i < ROUNDS; i++)
		sp_setting_add_round(setting, (const double[]) {500, 250 + i % 2, 0, 501},
							 (const double[]) {1, 1, 0, 1});
	assert_int_equal(setting->rounds, ROUNDS);
	assert_int_equal(judge_and_explain(), SP_SWITCH);
	assert_int_equal(setting->judgement.recommended, 1);
	assert_non_null(strstr(reason, "; fsync_writethrough was left out: it is slow"));

	setting->values[1].left_out = "so is this";
	assert_int_equal(sp_setting_others(setting), 0);
	assert_int_equal(judge_and_explain(), SP_UNDECIDED);
	assert_true(setting->judgement.times_as_long == 1);
	assert_string_equal(reason, "no other value is left; fdatasync was left out: so is this; "
						"fsync_writethrough was left out: it is slow");
}

TEST(leaves_out_rounds_without_commits)
{
	static const double rounds[][3] = {
		{500, 400, 500}, {500, 0, 500}, {500, 400, NAN}, {-1, 400, 500},
	};
	char		lost[64];

	set_two_values(SP_COMMIT_WAIT);
	for (int i = 0; i < (int) lengthof(rounds); i++)
	{
		/* whichever figure it is that is missing */
		sp_setting_add_round(setting, rounds[i % 2 == 0 ? i : 0], rounds[i % 2 == 0 ? 0 : i]);
		judge_and_explain();
		assert_int_equal(setting->rounds, 1);
		assert_int_equal(setting->lost_rounds, i);
		snprintf(lost, sizeof(lost), "; %d round%s had a slot without a commit that waited", i,
				 i == 1 ? "" : "s");
		assert_int_equal(strstr(reason, lost) != NULL, i > 0);
	}
}

TEST_MAIN(NULL, NULL)
