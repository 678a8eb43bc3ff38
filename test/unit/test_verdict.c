/*-------------------------------------------------------------------------
 *
 * test_verdict.c
 *	  Tests of src/engine/verdict.c: intervals, rules, and how often it errs.
 *
 * The rules are a table of scenarios.  That they are worth following is shown
 * by simulated runs with a fixed seed, looked at as a probe looks at them.
 *
 *-------------------------------------------------------------------------
 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "verdict.h"

#define MARGIN		0.05
#define RUNS		1000

/* Speeds for the table: an interval, an estimate alone, nothing. */
#define SPEED(estimate, low, high) {estimate, low, high}
#define FEW(estimate)	{estimate, NAN, NAN}
#define NONE			{NAN, NAN, NAN}
#define QUIET			SPEED(1, 0.98, 1.02)
#define EQUAL_SPEED		SPEED(1, 0.975, 1.025)
#define SLOW			SPEED(0.8, 0.75, 0.85)
#define FAST			SPEED(1.2, 1.154, 1.246)
#define CURRENT(paced, saturated) {"fdatasync", {paced, saturated}}

/* What sp_judge makes of some contenders; the first one is the current. */
static const struct
{
	const char *scenario;
	sp_contender contenders[4];
	sp_verdict	verdict;
	int			recommended;
	bool		settled;
	const char *reason[3];		/* must be part of it */
}			judge_cases[] =
{
	{"faster in both",
		{CURRENT(QUIET, QUIET), {"fsync", {FAST, SPEED(1.3, 1.2, 1.4)}}, {"open_sync", {SLOW, SLOW}}},
		SP_SWITCH, 1, true,
		{"fsync makes 20 % more flushes a second at this cluster's pace (+15 to +25)",
	"30 % more flushes a second back to back (+20 to +40)"}},
	{"faster back to back, equal when paced",
		{CURRENT(QUIET, QUIET), {"fsync", {EQUAL_SPEED, FAST}}},
		SP_SWITCH, 1, true, {"20 % more flushes a second back to back"}},
	{"faster back to back, paced not known to be equal",
		{CURRENT(QUIET, QUIET), {"fsync", {SPEED(0.97, 0.93, 1.01), FAST}}},
	SP_UNDECIDED, 0, false, {"not settled: fsync", "no method is more than 25 % faster"}},
	{"faster when paced, slower back to back: the pace decides",
		{CURRENT(QUIET, QUIET), {"fsync", {FAST, SLOW}}},
		SP_SWITCH, 1, true,
		{"20 % fewer flushes a second back to back (-25 to -15)", "the pace decides",
	"for back-to-back flushes fdatasync is the faster"}},
	{"slower when paced, faster back to back: the pace decides",
		{CURRENT(QUIET, QUIET), {"fsync", {SLOW, FAST}}},
		SP_KEEP, 0, true,
		{"every other method that can be measured is slower than fdatasync",
			"fsync would make 20 % more flushes a second back to back (+15 to +25)",
	"but not at this cluster's pace"}},
	{"all slower", {CURRENT(QUIET, QUIET), {"fsync", {SLOW, SLOW}}, {"open_sync", {SLOW, SLOW}}},
	SP_KEEP, 0, true, {"slower than fdatasync"}},
	{"one slower, one not measured", {CURRENT(QUIET, QUIET), {"fsync", {SLOW, SLOW}}, {"open_sync", {NONE, NONE}}},
	SP_KEEP, 0, true, {"that can be measured"}},
	{"a little slower", {CURRENT(QUIET, QUIET), {"fsync", {SPEED(0.97, 0.95, 0.99), SPEED(0.98, 0.96, 0.99)}}},
	SP_KEEP, 0, true, {"slower than fdatasync"}},
	{"one equal, one slower", {CURRENT(QUIET, QUIET), {"fsync", {EQUAL_SPEED, EQUAL_SPEED}}, {"open_sync", {SLOW, SLOW}}},
	SP_TIE, 0, true, {"no method is more than 3 % faster", "as fast as fdatasync: fsync"}},
	{"all equal", {CURRENT(QUIET, QUIET), {"fsync", {EQUAL_SPEED, EQUAL_SPEED}}, {"open_sync", {EQUAL_SPEED, EQUAL_SPEED}}},
	SP_TIE, 0, true, {"as fast as fdatasync: fsync, open_sync"}},
	{"one equal, one not measured", {CURRENT(QUIET, QUIET), {"fsync", {NONE, NONE}}, {"open_sync", {EQUAL_SPEED, EQUAL_SPEED}}},
	SP_TIE, 0, true, {"as fast as fdatasync: open_sync"}},
	{"one equal, one slow when paced but fast back to back",
		{CURRENT(QUIET, QUIET), {"fsync", {EQUAL_SPEED, EQUAL_SPEED}}, {"open_sync", {SLOW, FAST}}},
	SP_TIE, 0, true, {"as fast as fdatasync: fsync", "open_sync would make 20 % more"}},
	{"one equal, one may be faster",
		{CURRENT(QUIET, QUIET), {"fsync", {EQUAL_SPEED, EQUAL_SPEED}}, {"open_sync", {SPEED(1.02, 0.98, 1.065), EQUAL_SPEED}}},
	SP_UNDECIDED, 0, false, {"no method is more than 7 % faster", "not settled: open_sync", "probe longer"}},
	{"one equal, one may be slower",
		{CURRENT(QUIET, QUIET), {"fsync", {EQUAL_SPEED, EQUAL_SPEED}}, {"open_sync", {SPEED(0.98, 0.90, 1.04), EQUAL_SPEED}}},
	SP_TIE, 0, true, {"as fast as fdatasync: fsync"}},
	{"not clear", {CURRENT(QUIET, QUIET), {"fsync", {SPEED(1.06, 1.04, 1.075), EQUAL_SPEED}}},
	SP_UNDECIDED, 0, false, {"no method is more than 8 % faster", "not settled: fsync"}},
	{"several faster: the best paced",
		{CURRENT(QUIET, QUIET), {"fsync", {FAST, SPEED(2, 1.9, 2.1)}}, {"open_sync", {SPEED(1.3, 1.2, 1.4), FAST}}},
	SP_SWITCH, 2, true, {"open_sync makes 30 % more"}},
	{"one faster, a better one not settled",
		{CURRENT(QUIET, QUIET), {"fsync", {FAST, FAST}}, {"open_sync", {SPEED(1.3, 1.0, 1.6), EQUAL_SPEED}}},
	SP_SWITCH, 1, false, {"fsync makes 20 % more"}},
	{"one faster, a worse one not settled",
		{CURRENT(QUIET, QUIET), {"fsync", {FAST, FAST}}, {"open_sync", {SPEED(1.1, 1.0, 1.2), EQUAL_SPEED}}},
	SP_SWITCH, 1, true, {"fsync makes 20 % more"}},
	{"noise, and nothing clear",
		{CURRENT(SPEED(1, 0.92, 1.08), QUIET), {"fsync", {SPEED(1, 0.91, 1.09), EQUAL_SPEED}}},
	SP_UNDECIDED, 0, false, {"the noise is 8 %, above the margin of 5 %", "when it is quieter"}},
	{"noise back to back",
		{CURRENT(QUIET, SPEED(1, 0.92, 1.08)), {"fsync", {SLOW, SLOW}}},
	SP_UNDECIDED, 0, false, {"the noise is 8 %"}},
	{"clear in spite of the noise",
		{CURRENT(SPEED(1, 0.92, 1.08), QUIET), {"fsync", {FAST, FAST}}},
	SP_SWITCH, 1, true, {"fsync makes 20 % more"}},
	{"equal or slower, but not faster",
		{CURRENT(QUIET, QUIET), {"open_datasync", {SPEED(0.98, 0.93, 1.03), EQUAL_SPEED}}, {"fsync", {SLOW, SLOW}}},
	SP_KEEP, 0, false, {"no method is more than 3 % faster; equal to fdatasync or slower: open_datasync"}},
	{"no faster than another place",
		{CURRENT(SPEED(1.045, 1.01, 1.08), QUIET), {"fsync", {SPEED(1.07, 1.06, 1.08), EQUAL_SPEED}}},
	SP_UNDECIDED, 0, false, {"the noise is 8 %"}},
	{"no faster than another place, which is quiet",
		{CURRENT(SPEED(1.03, 1.02, 1.04), QUIET), {"fsync", {SPEED(1.07, 1.06, 1.08), EQUAL_SPEED}}},
	SP_UNDECIDED, 0, false, {"not by more than two files of fdatasync differ: fsync"}},
	{"faster than any place",
		{CURRENT(SPEED(1.045, 1.01, 1.08), QUIET), {"fsync", {FAST, EQUAL_SPEED}}},
	SP_SWITCH, 1, true, {"fsync makes 20 % more"}},
	{"the current method faster than itself",
		{CURRENT(SPEED(1.1, 1.07, 1.12), QUIET), {"fsync", {FAST, FAST}}},
	SP_UNDECIDED, 0, false, {"fdatasync against itself"}},
	{"current method not measured", {CURRENT(NONE, NONE), {"fsync", {NONE, NONE}}},
	SP_UNDECIDED, 0, false, {"the current method fdatasync could not be measured"}},
	{"nothing else measured", {CURRENT(QUIET, QUIET), {"fsync", {NONE, NONE}}},
	SP_UNDECIDED, 0, false, {"no other method could be measured"}},
	{"alone", {CURRENT(QUIET, QUIET)},
	SP_UNDECIDED, 0, false, {"no other method could be measured"}},
	{"too few rounds", {CURRENT(FEW(1), FEW(1)), {"fsync", {FEW(1.5), FEW(1.5)}}},
	SP_UNDECIDED, 0, false, {"too few rounds"}},
	{"too few rounds back to back", {CURRENT(QUIET, FEW(1)), {"fsync", {FAST, FEW(1.5)}}},
	SP_UNDECIDED, 0, false, {"too few rounds"}},
};

static int
count_contenders(const sp_contender *contenders)
{
	int			count = 0;

	while (count < 4 && contenders[count].name != NULL)
		count++;
	return count;
}

static void
judges_by_the_rules(void **state)
{
	(void) state;
	for (size_t i = 0; i < lengthof(judge_cases); i++)
	{
		const sp_contender *contenders = judge_cases[i].contenders;
		int			count = count_contenders(contenders);
		sp_judgement judgement;

		sp_judge(contenders, count, 0, MARGIN, &judgement);
		if (judgement.verdict != judge_cases[i].verdict ||
			judgement.recommended != judge_cases[i].recommended)
			fail_msg("%s: %s, method %d: %s", judge_cases[i].scenario,
					 sp_verdict_name(judgement.verdict), judgement.recommended, judgement.reason);
		if (sp_judgement_settled(contenders, count, 0, MARGIN, &judgement) != judge_cases[i].settled)
			fail_msg("%s: settled is wrong", judge_cases[i].scenario);
		for (size_t k = 0; k < 3 && judge_cases[i].reason[k] != NULL; k++)
		{
			if (strstr(judgement.reason, judge_cases[i].reason[k]) == NULL)
				fail_msg("%s: the reason is \"%s\"", judge_cases[i].scenario, judgement.reason);
		}
	}
}

/* The order of the contenders, and which is the current one, is no matter. */
static void
judges_any_order(void **state)
{
	(void) state;
	for (size_t i = 0; i < lengthof(judge_cases); i++)
	{
		int			count = count_contenders(judge_cases[i].contenders);
		sp_contender turned[4];
		sp_judgement judgement;

		for (int k = 0; k < count; k++)
			turned[count - 1 - k] = judge_cases[i].contenders[k];
		sp_judge(turned, count, count - 1, MARGIN, &judgement);
		assert_int_equal(judgement.verdict, judge_cases[i].verdict);
		assert_int_equal(judgement.recommended, count - 1 - judge_cases[i].recommended);
	}
}

/* A reason that does not fit is cut, and says nothing beyond its end. */
static void
cuts_a_long_reason(void **state)
{
	char		name[600];
	sp_contender contenders[] = {CURRENT(QUIET, QUIET), {name, {EQUAL_SPEED, EQUAL_SPEED}},
	{"fsync", {EQUAL_SPEED, EQUAL_SPEED}}};
	sp_judgement judgement;

	(void) state;
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	sp_judge(contenders, 3, 0, MARGIN, &judgement);
	assert_int_equal(judgement.verdict, SP_TIE);
	assert_int_equal(strlen(judgement.reason), sizeof(judgement.reason) - 1);
}

static void
names_verdicts(void **state)
{
	(void) state;
	assert_string_equal(sp_verdict_name(SP_UNDECIDED), "undecided");
	assert_string_equal(sp_verdict_name(SP_SWITCH), "switch");
	assert_string_equal(sp_verdict_name(SP_KEEP), "keep");
	assert_string_equal(sp_verdict_name(SP_TIE), "tie");
	assert_string_equal(sp_verdict_name(SP_UNSAFE), "unsafe");
}

static void
spends_no_more_than_five_percent(void **state)
{
	(void) state;
	for (int comparisons = 1; comparisons <= SP_MAX_METHODS; comparisons++)
	{
		double		sum = 0;

		for (int look = 1; look <= 40; look++)
		{
			assert_true(sp_look_alpha(look, comparisons) > 0);
			sum += comparisons * sp_look_alpha(look, comparisons);
		}
		assert_true(sum <= 0.05 * (1 + 1e-9));
		assert_true(sum > 0.049);
	}
	/* nothing to compare with must not divide by zero */
	assert_true(isfinite(sp_look_alpha(1, 0)));
}

/* n values of which the i-th is i + 1, in a shuffled order. */
static sp_speed
interval_of_ranks(int n, double alpha)
{
	static double baseline[4096];
	static double one[4096];
	static double scratch[4096];

	for (int i = 0; i < n; i++)
	{
		baseline[(i * 11 + 2) % n] = i + 1;	/* no n here has a factor 11 */
		one[i] = 1;
	}
	return sp_speed_interval(baseline, one, n, alpha, scratch);
}

/* From tables of the sign test: ranks of the interval of the median. */
static void
takes_the_known_order_statistics(void **state)
{
	static const struct
	{
		int			n;
		double		alpha;
		double		low;		/* NAN: no interval */
		double		high;
		double		estimate;
	}			rows[] = {
		{1, 0.05, NAN, NAN, 1},
		{6, 0.03, NAN, NAN, 3.5},
		{6, 0.05, 1, 6, 3.5},
		{7, 0.05, 1, 7, 4},
		{8, 0.05, 1, 8, 4.5},	/* 2 / 256; the next would be 18 / 256 */
		{8, 0.0703, 1, 8, 4.5},
		{8, 0.0704, 2, 7, 4.5},
		{8, 0.0079, 1, 8, 4.5},
		{8, 0.0078, NAN, NAN, 4.5},
		{9, 0.05, 2, 8, 5},
		{12, 0.05, 3, 10, 6.5},
		{16, 0.05, 4, 13, 8.5},
		{32, 0.05, 10, 23, 16.5},
		{64, 0.05, 24, 41, 32.5},
		{128, 0.05, 53, 76, 64.5},
	};

	(void) state;
	for (size_t i = 0; i < lengthof(rows); i++)
	{
		sp_speed	speed = interval_of_ranks(rows[i].n, rows[i].alpha);
		double		middle = rows[i].n % 2 == 1 ? rows[i].estimate
			: sqrt((rows[i].estimate - 0.5) * (rows[i].estimate + 0.5));

		assert_true(fabs(speed.estimate / middle - 1) < 1e-12);
		if (isnan(rows[i].low) ? !isnan(speed.low) || !isnan(speed.high)
			: !(fabs(speed.low - rows[i].low) < 1e-9 && fabs(speed.high - rows[i].high) < 1e-9))
			fail_msg("n %d, alpha %g: %g to %g", rows[i].n, rows[i].alpha, speed.low, speed.high);
	}
}

static void
knows_nothing_from_nothing(void **state)
{
	sp_speed	speed = sp_speed_interval(NULL, NULL, 0, 0.05, NULL);

	(void) state;
	assert_true(isnan(speed.estimate) && isnan(speed.low) && isnan(speed.high));
	assert_true(isnan(sp_speed_noise(speed)));
	assert_true(fabs(sp_speed_noise((sp_speed) SPEED(1, 1 / 1.1, 1.1)) - 0.1) < 1e-12);
	/* that does not enclose 1: the farther end */
	assert_true(fabs(sp_speed_noise((sp_speed) SPEED(1.1, 1.02, 1.15)) - 0.15) < 1e-12);
	assert_true(fabs(sp_speed_noise((sp_speed) SPEED(0.9, 0.8, 0.95)) - 0.25) < 1e-12);
}

/* 2^-4096 is no double; the normal approximation is good to a rank or two. */
static void
works_with_thousands_of_rounds(void **state)
{
	static const double alphas[] = {0.05, 1e-3, 1e-6};
	static const double sigmas[] = {1.960, 3.291, 4.892};

	(void) state;
	for (size_t i = 0; i < lengthof(alphas); i++)
	{
		sp_speed	speed = interval_of_ranks(4095, alphas[i]);
		double		rank = 4096 / 2.0 - sigmas[i] * sqrt(4095) / 2;

		assert_true(fabs(speed.low - rank) < 2);
		assert_true(fabs(speed.low + speed.high - 4096) < 1e-6);
		speed = interval_of_ranks(4096, alphas[i]);
		assert_true(fabs(speed.low - rank) < 2);
	}
}

/*
 * Misses are as many as the binomial distribution says, even where a round in
 * ten is a hundred times as slow.
 */
static void
covers_as_promised(void **state)
{
	static const struct
	{
		int			n;
		double		alpha;
		double		exact;		/* 2 P(Binomial(n, 1/2) < rank) */
	}			rows[] = {{8, 0.05, 0.0078}, {16, 0.05, 0.0213}, {20, 0.05, 0.0414}, {64, 0.05, 0.0328}};
	const int	runs = 20000;
	uint64_t	seed = 20;

	(void) state;
	for (size_t i = 0; i < lengthof(rows); i++)
	{
		int			missed = 0;
		double		deviation = sqrt(rows[i].exact * (1 - rows[i].exact) * runs);

		for (int run = 0; run < runs; run++)
		{
			double		baseline[64];
			double		other[64];
			double		scratch[64];
			sp_speed	speed;

			for (int k = 0; k < rows[i].n; k++)
			{
				baseline[k] = 300 * 1.2 * exp(0.1 * random_normal(&seed));
				other[k] = 300 * exp(0.1 * random_normal(&seed));
				if (random_uniform(&seed) < 0.1)
					*(random_uniform(&seed) < 0.5 ? &baseline[k] : &other[k]) *= 100;
			}
			speed = sp_speed_interval(baseline, other, rows[i].n, rows[i].alpha, scratch);
			missed += speed.low > 1.2 || speed.high < 1.2;
		}
		print_message("# n %d: %.2f %% missed, by theory %.2f %%\n", rows[i].n,
					  100.0 * missed / runs, 100 * rows[i].exact);
		assert_true(fabs(missed - rows[i].exact * runs) < 4 * deviation);
	}
}

/* -------------------------------------------------------------- simulation */

#define METHODS		4			/* the current one and three others */
#define MAX_ROUNDS	64

typedef struct simulation
{
	const char *name;
	double		speed[METHODS];	/* true, in both regimes */
	double		sd;				/* of log(current / method) per round */
	int			max_rounds;
} simulation;

/* The rounds of a run: of every method, and of the control after them. */
typedef double run_times[SP_REGIMES][METHODS + 1][MAX_ROUNDS];

static void
simulate_round(const simulation *sim, run_times us, int round, uint64_t *seed)
{
	for (int r = 0; r < SP_REGIMES; r++)
	{
		/* what the disk does to all of them in this round */
		double		common = 300 * exp(0.5 * random_normal(seed));

		for (int m = 0; m <= METHODS; m++)
			us[r][m][round] = common / sim->speed[m < METHODS ? m : 0] *
				exp(sim->sd / sqrt(2) * random_normal(seed));
	}
}

/* One run, looked at after 8, 16, ... rounds until the verdict is settled. */
static void
simulate_run(const simulation *sim, uint64_t *seed, sp_judgement *judgement)
{
	static const char *const names[METHODS] = {"fdatasync", "fsync", "open_sync", "open_datasync"};
	static run_times us;
	sp_contender contenders[METHODS];
	int			rounds = 0;
	int			end = SP_FIRST_LOOK_ROUNDS;

	for (int look = 1; end <= sim->max_rounds; look++, end *= 2)
	{
		double		alpha = sp_look_alpha(look, METHODS - 1);
		double		scratch[MAX_ROUNDS];

		while (rounds < end)
			simulate_round(sim, us, rounds++, seed);
		for (int m = 0; m < METHODS; m++)
		{
			contenders[m].name = names[m];
			for (int r = 0; r < SP_REGIMES; r++)
				contenders[m].speed[r] =
					sp_speed_interval(us[r][0], us[r][m == 0 ? METHODS : m], rounds, alpha, scratch);
		}
		sp_judge(contenders, METHODS, 0, MARGIN, judgement);
		if (sp_judgement_settled(contenders, METHODS, 0, MARGIN, judgement))
			return;
	}
}

/* How many of the runs end with this verdict, and this method recommended. */
static int
simulate(const simulation *sim, sp_verdict verdict, int recommended)
{
	int			verdicts[SP_UNSAFE + 1] = {0};
	int			wanted = 0;
	uint64_t	seed = 15;

	for (int run = 0; run < RUNS; run++)
	{
		sp_judgement judgement;

		simulate_run(sim, &seed, &judgement);
		verdicts[judgement.verdict]++;
		if (judgement.verdict == verdict && (recommended < 0 || judgement.recommended == recommended))
			wanted++;
	}
	print_message("# %s: switch %d, keep %d, tie %d, undecided %d of %d runs; counted %d\n",
				  sim->name, verdicts[SP_SWITCH], verdicts[SP_KEEP], verdicts[SP_TIE],
				  verdicts[SP_UNDECIDED], RUNS, wanted);
	return wanted;
}

static void
seldom_switches_without_a_difference(void **state)
{
	static const simulation sim = {"no difference, sd 10 %", {1, 1, 1, 1}, 0.10, 64};

	(void) state;
	assert_in_range(simulate(&sim, SP_SWITCH, -1), 0, RUNS * 25 / 1000);
}

static void
finds_what_is_faster(void **state)
{
	static const simulation sim = {"one 20 % faster, sd 10 %", {1, 1, 1.2, 1}, 0.10, 32};

	(void) state;
	assert_in_range(simulate(&sim, SP_SWITCH, 2), RUNS * 95 / 100, RUNS);
}

static void
calls_equals_a_tie(void **state)
{
	static const simulation sim = {"all within 1 %, sd 5 %", {1, 0.99, 1, 1.01}, 0.05, 64};

	(void) state;
	assert_in_range(simulate(&sim, SP_TIE, 0), RUNS * 90 / 100, RUNS);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(judges_by_the_rules),
		cmocka_unit_test(judges_any_order),
		cmocka_unit_test(cuts_a_long_reason),
		cmocka_unit_test(names_verdicts),
		cmocka_unit_test(spends_no_more_than_five_percent),
		cmocka_unit_test(takes_the_known_order_statistics),
		cmocka_unit_test(knows_nothing_from_nothing),
		cmocka_unit_test(works_with_thousands_of_rounds),
		cmocka_unit_test(covers_as_promised),
		cmocka_unit_test(seldom_switches_without_a_difference),
		cmocka_unit_test(finds_what_is_faster),
		cmocka_unit_test(calls_equals_a_tie),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("verdict", tests, NULL, NULL);
}
