/*-------------------------------------------------------------------------
 *
 * test_choice.c
 *	  Tests of src/engine/verdict/choice.c: the best choice, and what staying costs.
 *
 * The rule is tested by a table, its use by a simulation with a fixed seed: a choice by
 * odds must lose less than always staying does, and seldom be the worse method.
 *
 *-------------------------------------------------------------------------
 */
#include "unit.h"

#include <string.h>

#include "engine/verdict/reason.h"
#include "engine/verdict/verdict.h"

#define MARGIN		0.05
#define MAX_CONTENDERS	4		/* of a scenario */

#define SPEED(estimate, low, high) {estimate, low, high}
#define NONE			{NAN, NAN, NAN}
#define QUIET			SPEED(1, 0.98, 1.02)
#define EQUAL_SPEED		SPEED(1, 0.975, 1.025)
#define SLOW			SPEED(0.8, 0.75, 0.85)
#define FAST			SPEED(1.2, 1.154, 1.246)

/* An estimate whose logarithm has this standard error: the engine takes 2.75 of them. */
#define WITH_ERROR(estimate, error) \
	SPEED(estimate, (estimate) / (1 + 2.75 * (error)), (estimate) * (1 + 2.75 * (error)))

#define METHOD(its_name, ...) \
	{.name = its_name, .speed = {__VA_ARGS__}, .durable = SP_DURABLE_UNKNOWN}
#define SYNCS(its_name, ...) \
	{.name = its_name, .speed = {__VA_ARGS__}, .durable = SP_DURABLE_YES}
#define SYNCS_NOT(its_name, ...) \
	{.name = its_name, .speed = {__VA_ARGS__}, .durable = SP_DURABLE_NO}
#define CURRENT(...) METHOD("fdatasync", __VA_ARGS__)
#define SLOW_FLUSHES(its_name, ...) \
	{.name = its_name, .speed = {__VA_ARGS__}, .tail = {{1000, 40}, {0, 0}}}

static const sp_pace paced_pace = {NAN, 5000, NAN};
static const sp_pace busy_pace = {500, 5000, 300};

static const struct
{
	const char *scenario;
	const sp_pace *pace;
	sp_contender contenders[MAX_CONTENDERS];
	sp_verdict	verdict;
	int			best;
	double		loss_bound;		/* NAN: unknown */
}			choice_cases[] =
{
	{"proven", &paced_pace,
		{CURRENT(QUIET, QUIET), METHOD("fsync", FAST, FAST)},
		SP_SWITCH, 1, 0.246},
	{"equal", &paced_pace,
		{CURRENT(QUIET, QUIET), METHOD("fsync", EQUAL_SPEED, EQUAL_SPEED)},
		SP_TIE, 0, 0.025},
	{"slower", &paced_pace,
		{CURRENT(QUIET, QUIET), METHOD("fsync", SLOW, SLOW)},
		SP_KEEP, 0, 0},
	{"good odds, not proven", &paced_pace,
		{CURRENT(QUIET, QUIET), METHOD("fsync", SPEED(1.06, 1.04, 1.075), EQUAL_SPEED)},
		SP_UNDECIDED, 1, 0.075},
	/* the expected gain must be more than 1 % */
	{"a gain of 0.9 %, known well", &paced_pace,
		{CURRENT(QUIET, QUIET), METHOD("fsync", WITH_ERROR(1.009, 0.001), EQUAL_SPEED)},
		SP_TIE, 0, 1.009 * 1.00275 - 1},
	{"a gain of 1.1 %, known well", &paced_pace,
		{CURRENT(QUIET, QUIET), METHOD("fsync", WITH_ERROR(1.011, 0.001), EQUAL_SPEED)},
		SP_TIE, 1, 1.011 * 1.00275 - 1},
	/* the larger the error, the more it is drawn towards none: 1.1 % becomes 0.98 % */
	{"a gain of 1.1 %, known less well", &paced_pace,
		{CURRENT(QUIET, QUIET), METHOD("fsync", WITH_ERROR(1.011, 0.035), EQUAL_SPEED)},
		SP_UNDECIDED, 0, 1.011 * 1.09625 - 1},
	/* 20 % may be chance; 15 % are not */
	{"a large gain, known badly", &paced_pace,
		{CURRENT(QUIET, QUIET), METHOD("fsync", WITH_ERROR(1.2, 0.1), EQUAL_SPEED)},
		SP_UNDECIDED, 1, 1.2 * 1.275 - 1},
	{"a large gain, known badly, and a smaller one, known well", &paced_pace,
		{CURRENT(QUIET, QUIET), METHOD("fsync", WITH_ERROR(1.2, 0.1), EQUAL_SPEED),
			METHOD("open_sync", SPEED(1.15, 1.02, 1.16), EQUAL_SPEED)},
		SP_UNDECIDED, 2, 1.2 * 1.275 - 1},
	/* the chance of a loss of more than 1 % must be at most a tenth */
	{"5 % and an error of 2 %", &paced_pace,
		{CURRENT(QUIET, QUIET), METHOD("fsync", WITH_ERROR(1.05, 0.02), EQUAL_SPEED)},
		SP_UNDECIDED, 1, 1.05 * 1.055 - 1},
	{"5 % and an error of 5 %", &paced_pace,
		{CURRENT(QUIET, QUIET), METHOD("fsync", WITH_ERROR(1.05, 0.05), EQUAL_SPEED)},
		SP_UNDECIDED, 0, 1.05 * 1.1375 - 1},
	{"barred by the other regime", &paced_pace,
		{CURRENT(QUIET, QUIET), METHOD("fsync", FAST, SLOW)},
		SP_KEEP, 0, 0.246},
	{"barred by slow flushes", &paced_pace,
		{{.name = "fdatasync",.speed = {QUIET, QUIET},.tail = {{1000, 1}, {0, 0}}},
			SLOW_FLUSHES("fsync", FAST, FAST)},
		SP_KEEP, 0, 0.246},
	{"open, with slow flushes", &paced_pace,
		{{.name = "fdatasync",.speed = {QUIET, QUIET},.tail = {{1000, 1}, {0, 0}}},
			SLOW_FLUSHES("fsync", SPEED(1.06, 1.04, 1.075), EQUAL_SPEED)},
		SP_UNDECIDED, 0, 0.075},
	{"open, perhaps with slow flushes", &paced_pace,
		{{.name = "fdatasync",.speed = {QUIET, QUIET},.tail = {{15, 0}, {0, 0}}},
			{.name = "fsync",.speed = {SPEED(1.06, 1.04, 1.075), EQUAL_SPEED},
			.tail = {{15, 2}, {0, 0}}}},
		SP_UNDECIDED, 0, 0.075},
	{"open, with one slow flush", &paced_pace,
		{{.name = "fdatasync",.speed = {QUIET, QUIET},.tail = {{15, 0}, {0, 0}}},
			{.name = "fsync",.speed = {SPEED(1.06, 1.04, 1.075), EQUAL_SPEED},
			.tail = {{15, 1}, {0, 0}}}},
		SP_UNDECIDED, 1, 0.075},
	{"barred, and another with good odds", &paced_pace,
		{CURRENT(QUIET, QUIET), METHOD("fsync", FAST, SLOW),
			METHOD("open_sync", SPEED(1.06, 1.04, 1.075), EQUAL_SPEED)},
		SP_UNDECIDED, 2, 0.246},
	{"not measured", &paced_pace,
		{CURRENT(QUIET, QUIET), METHOD("fsync", NONE, NONE), METHOD("open_sync", SLOW, SLOW)},
		SP_KEEP, 0, 0},
	{"does not sync", &paced_pace,
		{SYNCS("fdatasync", QUIET, QUIET), SYNCS_NOT("fsync", FAST, FAST),
			SYNCS("open_sync", SLOW, SLOW)},
		SP_KEEP, 0, 0},
	{"without an interval", &paced_pace,
		{CURRENT(QUIET, QUIET), METHOD("fsync", SPEED(1.5, NAN, NAN), EQUAL_SPEED)},
		SP_UNDECIDED, 0, NAN},
	{"one without an interval, another with good odds", &paced_pace,
		{CURRENT(QUIET, QUIET), METHOD("fsync", SPEED(1.5, NAN, NAN), EQUAL_SPEED),
			METHOD("open_sync", SPEED(1.06, 1.04, 1.075), EQUAL_SPEED)},
		SP_UNDECIDED, 2, NAN},
	{"not measured when paced", &paced_pace,
		{CURRENT(QUIET, QUIET), METHOD("fsync", NONE, FAST)},
		SP_UNDECIDED, 0, NAN},
	{"better back to back only", &paced_pace,
		{CURRENT(QUIET, QUIET),
			METHOD("fsync", EQUAL_SPEED, SPEED(1.06, 1.04, 1.075))},
		SP_TIE, 0, 0.025},
	{"saturated: better back to back only", &busy_pace,
		{CURRENT(QUIET, QUIET),
			METHOD("fsync", EQUAL_SPEED, SPEED(1.06, 1.04, 1.075))},
		SP_UNDECIDED, 1, 0.075},
	{"saturated: better when paced only", &busy_pace,
		{CURRENT(QUIET, QUIET),
			METHOD("fsync", SPEED(1.06, 1.04, 1.075), EQUAL_SPEED)},
		SP_TIE, 0, 0.025},
	{"unsafe", &paced_pace,
		{SYNCS_NOT("fdatasync", QUIET, QUIET), SYNCS("fsync", SLOW, SLOW),
			METHOD("open_sync", FAST, FAST)},
		SP_UNSAFE, 1, NAN},
	{"unsafe, and nothing is known to be better", &paced_pace,
		{SYNCS_NOT("fdatasync", QUIET, QUIET), METHOD("open_sync", FAST, FAST)},
		SP_UNSAFE, -1, NAN},
	/* a verdict needs a quiet control, a choice does not */
	{"noise", &paced_pace,
		{CURRENT(SPEED(1, 0.92, 1.08), QUIET),
			METHOD("fsync", SPEED(1.08, 1.03, 1.13), EQUAL_SPEED)},
		SP_UNDECIDED, 1, 0.13},
	{"alone", &paced_pace,
		{CURRENT(QUIET, QUIET)},
		SP_UNDECIDED, 0, NAN},
	{"nothing to compare with", &paced_pace,
		{CURRENT(QUIET, QUIET), METHOD("fsync", NONE, NONE)},
		SP_UNDECIDED, 0, NAN},
	{"the current method is not measured", &paced_pace,
		{CURRENT(NONE, NONE), METHOD("fsync", NONE, NONE)},
		SP_UNDECIDED, 0, NAN},
};

static void
chooses_by_the_odds(void **state)
{
	(void) state;
	for (size_t i = 0; i < lengthof(choice_cases); i++)
	{
		for (int reversed = 0; reversed < 2; reversed++)
		{
			sp_comparison comparison = {.margin = MARGIN,.pace = *choice_cases[i].pace};
			sp_judgement judgement;
			char		reason[SP_REASON_SIZE];
			bool		says;
			int			best;

			while (comparison.count < MAX_CONTENDERS &&
				   choice_cases[i].contenders[comparison.count].name != NULL)
				comparison.count++;
			for (int c = 0; c < comparison.count; c++)
				comparison.contenders[reversed ? comparison.count - 1 - c : c] =
					choice_cases[i].contenders[c];
			comparison.current = reversed ? comparison.count - 1 : 0;
			sp_classify(&comparison);
			sp_judge(&comparison, &judgement);
			sp_explain(&comparison, &judgement, reason);

			best = reversed && judgement.best >= 0 ? comparison.count - 1 - judgement.best
				: judgement.best;
			if (judgement.verdict != choice_cases[i].verdict || best != choice_cases[i].best)
				fail_msg("%s: %s, best is %d", choice_cases[i].scenario,
						 sp_verdict_name(judgement.verdict), best);
			if (isnan(choice_cases[i].loss_bound) ? !isnan(judgement.loss_bound)
				: !(fabs(judgement.loss_bound - choice_cases[i].loss_bound) < 1e-9))
				fail_msg("%s: staying costs %g at most", choice_cases[i].scenario,
						 judgement.loss_bound);
			/* the reason names it where there is no verdict */
			says = strstr(reason, "; the best choice so far is ") != NULL;
			assert_int_equal(says, judgement.verdict == SP_UNDECIDED && best > 0);
		}
	}
}

/* ------------------------------------------------------------------ simulation */

#define METHODS		4
#define RUNS		4000

/* The loss of a choice against the best method, as a logarithm; and whether it is worse. */
typedef struct losses
{
	double		of_choice;
	double		of_staying;
	int			changes;
	int			worse;			/* than the current method by more than 1 % */
} losses;

/* One comparison with errors like those of a short probe. */
static void
simulate(double usual, double error, uint64_t *seed, losses *sum)
{
	sp_comparison comparison = {.margin = MARGIN,.count = METHODS,.pace = {NAN, 5000, NAN}};
	double		truth[METHODS] = {0};
	double		best = 0;
	sp_judgement judgement;

	for (int m = 0; m < METHODS; m++)
	{
		double		estimate;

		truth[m] = m == 0 ? 0 : usual * random_normal(seed);
		best = fmax(best, truth[m]);
		comparison.contenders[m].name = "a method";
		for (int r = 0; r < SP_REGIMES; r++)
		{
			estimate = truth[m] + error * random_normal(seed);
			comparison.contenders[m].speed[r] = (sp_speed) {
				exp(estimate), exp(estimate - 3.2 * error), exp(estimate + 2.75 * error)
			};
		}
	}
	sp_classify(&comparison);
	sp_judge(&comparison, &judgement);
	sum->of_choice += best - truth[judgement.best];
	sum->of_staying += best;
	sum->changes += judgement.best != 0;
	sum->worse += truth[judgement.best] < -0.01;
}

/* It loses less than staying does, and is seldom worse: in a tenth of all runs at most. */
static void
loses_less_than_staying(void **state)
{
	static const struct
	{
		double		usual;		/* differences of methods */
		double		error;
	}			rows[] = {{0.1, 0.01}, {0.1, 0.03}, {0.1, 0.06}, {0.03, 0.02}, {0.2, 0.05}};
	uint64_t	seed = 4;

	(void) state;
	for (size_t i = 0; i < lengthof(rows); i++)
	{
		losses		sum = {0};

		for (int run = 0; run < RUNS; run++)
			simulate(rows[i].usual, rows[i].error, &seed, &sum);
		print_message("# differences of %.0f %%, errors of %.0f %%: staying loses %.2f %%, "
					  "the choice %.2f %%; changes %.1f %%, worse by over 1 %% in %.2f %%\n",
					  100 * rows[i].usual, 100 * rows[i].error, 100 * sum.of_staying / RUNS,
					  100 * sum.of_choice / RUNS, 100.0 * sum.changes / RUNS,
					  100.0 * sum.worse / RUNS);
		assert_true(sum.of_choice < sum.of_staying);
		assert_uint_in_range(sum.worse, 0, RUNS / 10);
		assert_true(sum.changes > RUNS / 20);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chooses_by_the_odds),
		cmocka_unit_test(loses_less_than_staying),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("choice", tests, NULL, NULL);
}
