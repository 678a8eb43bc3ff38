/*-------------------------------------------------------------------------
 *
 * test_verdict.c
 *	  Tests of verdict.c, projection.c and reason.c of src/engine/verdict.
 *
 * The rules are tested by a table of scenarios, the error rates of whole runs by
 * simulations with a fixed seed.  Intervals alone are in test_interval.c.
 *
 *-------------------------------------------------------------------------
 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "engine/verdict/reason.h"
#include "engine/verdict/verdict.h"

#define MARGIN		0.05
#define RUNS		1000
#define MAX_CONTENDERS	4		/* of a scenario */

/* Speeds for the table: an interval, an estimate alone, nothing. */
#define SPEED(estimate, low, high) {estimate, low, high}
#define FEW(estimate)	{estimate, NAN, NAN}
#define NONE			{NAN, NAN, NAN}
#define QUIET			SPEED(1, 0.98, 1.02)
#define EQUAL_SPEED		SPEED(1, 0.975, 1.025)
#define SLOW			SPEED(0.8, 0.75, 0.85)
#define FAST			SPEED(1.2, 1.154, 1.246)

/* A contender, with its paced and its saturated speed. */
#define CONTENDER(is_durable, its_name, ...) \
	{.name = its_name, .speed = {__VA_ARGS__}, .durable = is_durable}
#define METHOD(...) CONTENDER(SP_DURABLE_UNKNOWN, __VA_ARGS__)
#define SYNCS(...) CONTENDER(SP_DURABLE_YES, __VA_ARGS__)
#define SYNCS_NOT(...) CONTENDER(SP_DURABLE_NO, __VA_ARGS__)
#define CURRENT(...) METHOD("fdatasync", __VA_ARGS__)

/* Scenarios for sp_judge.  The first contender is the current method. */
static const struct
{
	const char *scenario;
	sp_contender contenders[MAX_CONTENDERS];
	sp_verdict	verdict;
	int			recommended;
	bool		settled;
	const char *reason[3];		/* must be part of it */
}			judge_cases[] =
{
	{"faster in both",
		{CURRENT(QUIET, QUIET), METHOD("fsync", FAST, SPEED(1.3, 1.2, 1.4)),
			METHOD("open_sync", SLOW, SLOW)},
		SP_SWITCH, 1, true,
		{"fsync makes 20 % more flushes a second at this cluster's pace (+15 to +25)",
			"30 % more flushes a second back to back (+20 to +40)"}},
	{"faster back to back, equal when paced",
		{CURRENT(QUIET, QUIET), METHOD("fsync", EQUAL_SPEED, FAST)},
		SP_SWITCH, 1, true,
		{"20 % more flushes a second back to back"}},
	{"faster back to back, paced not known to be equal",
		{CURRENT(QUIET, QUIET), METHOD("fsync", SPEED(0.97, 0.93, 1.01), FAST)},
		SP_UNDECIDED, 0, false,
		{"no method is more than 1 % faster at this cluster's pace, or 25 % back to back; "
			"not settled: fsync: probe "}},
	{"faster when paced, slower back to back: the pace decides",
		{CURRENT(QUIET, QUIET), METHOD("fsync", FAST, SLOW)},
		SP_SWITCH, 1, true,
		{"20 % fewer flushes a second back to back (-25 to -15)",
			"the pace decides",
			"for back-to-back flushes fdatasync is the faster"}},
	{"slower when paced, faster back to back: the pace decides",
		{CURRENT(QUIET, QUIET), METHOD("fsync", SLOW, FAST)},
		SP_KEEP, 0, true,
		{"every other method that can be measured is slower than fdatasync",
			"fsync would make 20 % more flushes a second back to back (+15 to +25)",
			"but not at this cluster's pace"}},
	{"all slower",
		{CURRENT(QUIET, QUIET), METHOD("fsync", SLOW, SLOW), METHOD("open_sync", SLOW, SLOW)},
		SP_KEEP, 0, true,
		{"slower than fdatasync"}},
	{"one slower, one not measured",
		{CURRENT(QUIET, QUIET), METHOD("fsync", SLOW, SLOW), METHOD("open_sync", NONE, NONE)},
		SP_KEEP, 0, true,
		{"that can be measured"}},
	{"a little slower",
		{CURRENT(QUIET, QUIET), METHOD("fsync", SPEED(0.97, 0.95, 0.99), SPEED(0.98, 0.96, 0.99))},
		SP_KEEP, 0, true,
		{"slower than fdatasync"}},
	{"one equal, one slower",
		{CURRENT(QUIET, QUIET), METHOD("fsync", EQUAL_SPEED, EQUAL_SPEED),
			METHOD("open_sync", SLOW, SLOW)},
		SP_TIE, 0, true,
		{"no method is more than 3 % faster",
			"as fast as fdatasync: fsync"}},
	{"all equal",
		{CURRENT(QUIET, QUIET), METHOD("fsync", EQUAL_SPEED, EQUAL_SPEED),
			METHOD("open_sync", EQUAL_SPEED, EQUAL_SPEED)},
		SP_TIE, 0, true,
		{"as fast as fdatasync: fsync, open_sync"}},
	{"one equal, one not measured",
		{CURRENT(QUIET, QUIET), METHOD("fsync", NONE, NONE),
			METHOD("open_sync", EQUAL_SPEED, EQUAL_SPEED)},
		SP_TIE, 0, true,
		{"as fast as fdatasync: open_sync"}},
	{"one equal, one slow when paced but fast back to back",
		{CURRENT(QUIET, QUIET), METHOD("fsync", EQUAL_SPEED, EQUAL_SPEED),
			METHOD("open_sync", SLOW, FAST)},
		SP_TIE, 0, true,
		{"as fast as fdatasync: fsync",
			"open_sync would make 20 % more"}},
	{"one equal, one may be faster",
		{CURRENT(QUIET, QUIET), METHOD("fsync", EQUAL_SPEED, EQUAL_SPEED),
			METHOD("open_sync", SPEED(1.02, 0.98, 1.065), EQUAL_SPEED)},
		SP_UNDECIDED, 0, false,
		{"no method is more than 7 % faster",
			"not settled: open_sync: probe 3 times as long as this run"}},
	{"one equal, one may be slower",
		{CURRENT(QUIET, QUIET), METHOD("fsync", EQUAL_SPEED, EQUAL_SPEED),
			METHOD("open_sync", SPEED(0.98, 0.90, 1.04), EQUAL_SPEED)},
		SP_TIE, 0, true,
		{"as fast as fdatasync: fsync"}},
	{"not clear",
		{CURRENT(QUIET, QUIET), METHOD("fsync", SPEED(1.06, 1.04, 1.075), EQUAL_SPEED)},
		SP_UNDECIDED, 0, false,
		{"no method is more than 8 % faster",
			"not settled: fsync: probe 5 times as long as this run"}},
	{"nearly clear: twice is the least",
		{CURRENT(QUIET, QUIET), METHOD("fsync", SPEED(1.12, 1.049, 1.2), EQUAL_SPEED)},
		SP_UNDECIDED, 0, false,
		{"probe 2 times as long as this run"}},
	{"the slowest to settle tells how long",
		{CURRENT(QUIET, QUIET), METHOD("fsync", SPEED(1.12, 1.049, 1.2), EQUAL_SPEED),
			METHOD("open_sync", SPEED(1.02, 0.98, 1.065), EQUAL_SPEED)},
		SP_UNDECIDED, 0, false,
		{"probe 3 times as long as this run"}},
	{"on the edge of the margin",
		{CURRENT(QUIET, QUIET), METHOD("fsync", SPEED(1.04, 0.98, 1.10), EQUAL_SPEED)},
		SP_UNDECIDED, 0, false,
		{"not settled: fsync: probe much longer, or when it is quieter"}},
	{"too few rounds of one of them",
		{CURRENT(QUIET, QUIET), METHOD("fsync", FEW(1.1), EQUAL_SPEED)},
		SP_UNDECIDED, 0, false,
		{"too few rounds to exclude anything; not settled: fsync: probe much longer"}},
	{"several faster: the best paced",
		{CURRENT(QUIET, QUIET), METHOD("fsync", FAST, SPEED(2, 1.9, 2.1)),
			METHOD("open_sync", SPEED(1.3, 1.2, 1.4), FAST)},
		SP_SWITCH, 2, true,
		{"open_sync makes 30 % more"}},
	{"one faster, a better one not settled",
		{CURRENT(QUIET, QUIET), METHOD("fsync", FAST, FAST),
			METHOD("open_sync", SPEED(1.3, 1.0, 1.6), EQUAL_SPEED)},
		SP_SWITCH, 1, false,
		{"fsync makes 20 % more"}},
	{"one faster, a worse one not settled",
		{CURRENT(QUIET, QUIET), METHOD("fsync", FAST, FAST),
			METHOD("open_sync", SPEED(1.1, 1.0, 1.2), EQUAL_SPEED)},
		SP_SWITCH, 1, true,
		{"fsync makes 20 % more"}},
	{"noise, and nothing clear",
		{CURRENT(SPEED(1, 0.92, 1.08), QUIET), METHOD("fsync", SPEED(1, 0.91, 1.09), EQUAL_SPEED)},
		SP_UNDECIDED, 0, false,
		{"the noise is 8.3 %, above the margin of 5 %: probe 3 times as long as this run"}},
	{"noise that more time would not beat",
		{CURRENT(SPEED(1, 0.8, 1.25), QUIET), METHOD("fsync", SPEED(1, 0.8, 1.25), EQUAL_SPEED)},
		SP_UNDECIDED, 0, false,
		{"the noise is 25.0 %, above the margin of 5 %: probe much longer, or when it is "
			"quieter"}},
	{"noise back to back is no matter",
		{CURRENT(QUIET, SPEED(1, 0.92, 1.08)), METHOD("fsync", SLOW, SLOW)},
		SP_KEEP, 0, true,
		{"slower than fdatasync"}},
	{"noise when paced, however slow the others",
		{CURRENT(SPEED(1, 0.92, 1.08), QUIET), METHOD("fsync", SLOW, SLOW)},
		SP_UNDECIDED, 0, false,
		{"the noise is 8.3 %"}},
	{"equal, back to back within twice the margin",
		{CURRENT(QUIET, QUIET), METHOD("fsync", EQUAL_SPEED, SPEED(1, 0.91, 1.09))},
		SP_TIE, 0, true,
		{"no method is more than 3 % faster at this cluster's pace, or 9 % back to back"}},
	{"equal, back to back not within twice the margin",
		{CURRENT(QUIET, QUIET), METHOD("fsync", EQUAL_SPEED, SPEED(1, 0.91, 1.11))},
		SP_UNDECIDED, 0, false,
		{"11 % back to back; not settled: fsync"}},
	{"equal or slower, back to back within twice the margin",
		{CURRENT(QUIET, QUIET), METHOD("fsync", SPEED(0.98, 0.93, 1.03), SPEED(1, 0.91, 1.09))},
		SP_KEEP, 0, false,
		{"9 % back to back; equal to fdatasync or slower: fsync"}},
	{"within the margin only back to back",
		{CURRENT(QUIET, QUIET), METHOD("fsync", SPEED(1, 0.96, 1.09), EQUAL_SPEED)},
		SP_UNDECIDED, 0, false,
		{"no method is more than 9 % faster at this cluster's pace"}},
	/* a gain below twice the margin is ignored to keep a method, but is enough to switch */
	{"faster back to back by less than twice the margin",
		{CURRENT(QUIET, QUIET), METHOD("fsync", EQUAL_SPEED, SPEED(1.08, 1.06, 1.095))},
		SP_SWITCH, 1, true,
		{"8 % more flushes a second back to back (+6 to +9)"}},
	{"clear in spite of the noise",
		{CURRENT(SPEED(1, 0.92, 1.08), QUIET), METHOD("fsync", FAST, FAST)},
		SP_SWITCH, 1, true,
		{"fsync makes 20 % more"}},
	{"equal or slower, but not faster",
		{CURRENT(QUIET, QUIET), METHOD("open_datasync", SPEED(0.98, 0.93, 1.03), EQUAL_SPEED),
			METHOD("fsync", SLOW, SLOW)},
		SP_KEEP, 0, false,
		{"no method is more than 3 % faster at this cluster's pace, or 3 % back to back; "
			"equal to fdatasync or slower: open_datasync"}},
	{"no faster than another place",
		{CURRENT(SPEED(1.045, 1.01, 1.08), QUIET),
			METHOD("fsync", SPEED(1.07, 1.06, 1.08), EQUAL_SPEED)},
		SP_UNDECIDED, 0, false,
		{"the noise is 8.0 %"}},
	{"no faster than another place, which is quiet",
		{CURRENT(SPEED(1.03, 1.02, 1.04), QUIET),
			METHOD("fsync", SPEED(1.07, 1.06, 1.08), EQUAL_SPEED)},
		SP_UNDECIDED, 0, false,
		{"not by more than two files of fdatasync differ: fsync"}},
	{"no faster than another place, beside one that is slower",
		{CURRENT(SPEED(1.03, 1.02, 1.04), QUIET),
			METHOD("fsync", SPEED(1.07, 1.06, 1.08), EQUAL_SPEED), METHOD("open_sync", SLOW, SLOW)},
		SP_UNDECIDED, 0, false,
		{"not by more than two files of fdatasync differ: fsync"}},
	{"faster than any place",
		{CURRENT(SPEED(1.045, 1.01, 1.08), QUIET), METHOD("fsync", FAST, EQUAL_SPEED)},
		SP_SWITCH, 1, true,
		{"fsync makes 20 % more"}},
	{"the current method faster than itself",
		{CURRENT(SPEED(1.1, 1.07, 1.12), QUIET), METHOD("fsync", FAST, FAST)},
		SP_UNDECIDED, 0, false,
		{"fdatasync against itself"}},
	{"current method not measured",
		{CURRENT(NONE, NONE), METHOD("fsync", NONE, NONE)},
		SP_UNDECIDED, 0, false,
		{"the current method fdatasync could not be measured"}},
	{"nothing else measured",
		{CURRENT(QUIET, QUIET), METHOD("fsync", NONE, NONE)},
		SP_UNDECIDED, 0, false,
		{"no other method could be measured"}},
	{"alone",
		{CURRENT(QUIET, QUIET)},
		SP_UNDECIDED, 0, false,
		{"no other method could be measured"}},
	{"too few rounds",
		{CURRENT(FEW(1), FEW(1)), METHOD("fsync", FEW(1.5), FEW(1.5))},
		SP_UNDECIDED, 0, false,
		{"too few rounds"}},
	{"the current method does not sync, another does",
		{SYNCS_NOT("fdatasync", QUIET, QUIET), SYNCS("fsync", SLOW, SLOW),
			METHOD("open_sync", FAST, FAST)},
		SP_UNSAFE, 1, true,
		{"syncs with fdatasync do not reach the device",
			"fsync is the fastest method whose syncs do"}},
	{"the current method does not sync, several others do",
		{SYNCS_NOT("fdatasync", QUIET, QUIET), SYNCS("fsync", SLOW, FAST),
			SYNCS("open_sync", EQUAL_SPEED, SLOW)},
		SP_UNSAFE, 2, true,
		{"open_sync is the fastest method whose syncs do"}},
	{"the current method does not sync, and one that does was not measured",
		{SYNCS_NOT("fdatasync", QUIET, QUIET), SYNCS("fsync", NONE, NONE),
			SYNCS("open_sync", SLOW, SLOW)},
		SP_UNSAFE, 2, true,
		{"open_sync is the fastest"}},
	{"no method is known to sync",
		{SYNCS_NOT("fdatasync", QUIET, QUIET), SYNCS_NOT("fsync", FAST, FAST),
			METHOD("open_sync", FAST, FAST)},
		SP_UNSAFE, -1, true,
		{"no method is known whose syncs do: change the storage"}},
	{"not syncing comes before noise",
		{SYNCS_NOT("fdatasync", SPEED(1, 0.5, 2), FEW(1)), SYNCS_NOT("fsync", FEW(1), FEW(1))},
		SP_UNSAFE, -1, true,
		{"do not reach the device"}},
	{"faster only because it does not sync",
		{SYNCS("fdatasync", QUIET, QUIET), SYNCS_NOT("fsync", SPEED(5, 4, 6), SPEED(5, 4, 6)),
			METHOD("open_sync", SLOW, SLOW)},
		SP_KEEP, 0, true,
		{"slower than fdatasync"}},
	{"faster only because it does not sync, and one is equal",
		{SYNCS("fdatasync", QUIET, QUIET), SYNCS_NOT("fsync", SLOW, SPEED(5, 4, 6)),
			METHOD("open_sync", EQUAL_SPEED, EQUAL_SPEED)},
		SP_TIE, 0, true,
		{"no method is more than 3 % faster at this cluster's pace, or 3 % back to back; "
			"as fast as fdatasync: open_sync"}},
	{"one faster, a faster one does not sync",
		{SYNCS("fdatasync", QUIET, QUIET), SYNCS_NOT("fsync", SPEED(5, 1, 9), FAST),
			METHOD("open_sync", FAST, FAST)},
		SP_SWITCH, 2, true,
		{"open_sync makes 20 % more"}},
	{"too few rounds back to back",
		{CURRENT(QUIET, FEW(1)), METHOD("fsync", FAST, FEW(1.5))},
		SP_UNDECIDED, 0, false,
		{"too few rounds"}},
};

/* The contenders of a row, classified; or the same in reverse order. */
static sp_comparison
compare_row(const sp_contender contenders[MAX_CONTENDERS], bool reversed)
{
	sp_comparison comparison = {.margin = MARGIN};

	while (comparison.count < MAX_CONTENDERS && contenders[comparison.count].name != NULL)
		comparison.count++;
	for (int i = 0; i < comparison.count; i++)
		comparison.contenders[i] = contenders[reversed ? comparison.count - 1 - i : i];
	comparison.current = reversed ? comparison.count - 1 : 0;
	sp_classify(&comparison);
	return comparison;
}

static void
judges_by_the_rules(void **state)
{
	(void) state;
	for (size_t i = 0; i < lengthof(judge_cases); i++)
	{
		sp_comparison comparison = compare_row(judge_cases[i].contenders, false);
		sp_judgement judgement;
		char		reason[SP_REASON_SIZE];

		sp_judge(&comparison, &judgement);
		sp_explain(&comparison, &judgement, reason);
		if (judgement.verdict != judge_cases[i].verdict ||
			judgement.recommended != judge_cases[i].recommended)
			fail_msg("%s: %s, method %d: %s", judge_cases[i].scenario,
					 sp_verdict_name(judgement.verdict), judgement.recommended, reason);
		if (sp_judgement_settled(&comparison, &judgement) != judge_cases[i].settled)
			fail_msg("%s: settled is wrong", judge_cases[i].scenario);
		for (size_t k = 0; k < 3 && judge_cases[i].reason[k] != NULL; k++)
		{
			if (strstr(reason, judge_cases[i].reason[k]) == NULL)
				fail_msg("%s: the reason is \"%s\"", judge_cases[i].scenario, reason);
		}
	}
}

/* The verdict does not depend on the order of the contenders. */
static void
judges_any_order(void **state)
{
	(void) state;
	for (size_t i = 0; i < lengthof(judge_cases); i++)
	{
		sp_comparison comparison = compare_row(judge_cases[i].contenders, true);
		sp_judgement judgement;

		sp_judge(&comparison, &judgement);
		assert_int_equal(judgement.verdict, judge_cases[i].verdict);
		assert_int_equal(judgement.recommended, judge_cases[i].recommended < 0 ? -1 :
						 comparison.count - 1 - judge_cases[i].recommended);
	}
}

/* A reason never favours a method that does not sync. */
static void
praises_no_method_that_does_not_sync(void **state)
{
	static const sp_contender contenders[MAX_CONTENDERS] = {
		SYNCS("fdatasync", QUIET, QUIET), SYNCS_NOT("fsync", SLOW, SPEED(5, 4, 6)),
		METHOD("open_sync", SLOW, SLOW)
	};
	sp_comparison comparison = compare_row(contenders, false);
	sp_judgement judgement;
	char		reason[SP_REASON_SIZE];

	(void) state;
	sp_judge(&comparison, &judgement);
	sp_explain(&comparison, &judgement, reason);
	assert_int_equal(judgement.verdict, SP_KEEP);
	assert_null(strstr(reason, "fsync would"));
}

/* A reason that does not fit is cut at the end of its buffer. */
static void
cuts_a_long_reason(void **state)
{
	char		name[600];
	sp_contender contenders[MAX_CONTENDERS] = {
		CURRENT(QUIET, QUIET), METHOD(name, EQUAL_SPEED, EQUAL_SPEED),
		METHOD("fsync", EQUAL_SPEED, EQUAL_SPEED)
	};
	sp_comparison comparison;
	sp_judgement judgement;
	char		reason[SP_REASON_SIZE];

	(void) state;
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	comparison = compare_row(contenders, false);
	sp_judge(&comparison, &judgement);
	sp_explain(&comparison, &judgement, reason);
	assert_int_equal(judgement.verdict, SP_TIE);
	assert_int_equal(strlen(reason), sizeof(reason) - 1);
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

/* Can the remaining time settle the verdict, if a regime gets growth times the rounds? */
static const struct
{
	const char *scenario;
	sp_contender contenders[MAX_CONTENDERS];
	double		growth[SP_REGIMES];
	bool		settles;
}			projection_cases[] =
{
	{"wide, and little time",
		{CURRENT(QUIET, QUIET), METHOD("fsync", SPEED(1, 0.8, 1.25), EQUAL_SPEED)},
		{1.2, 1.2}, false},
	{"wide, and much time",
		{CURRENT(QUIET, QUIET), METHOD("fsync", SPEED(1, 0.8, 1.25), EQUAL_SPEED)},
		{100, 100}, true},
	{"wide when paced, time back to back only",
		{CURRENT(QUIET, QUIET), METHOD("fsync", SPEED(1, 0.8, 1.25), EQUAL_SPEED)},
		{1.2, 100}, false},
	{"wide back to back, time for that",
		{CURRENT(QUIET, QUIET), METHOD("fsync", EQUAL_SPEED, SPEED(1, 0.8, 1.25))},
		{1.2, 100}, true},
	{"one not measured at all is not waited for",
		{CURRENT(QUIET, QUIET), METHOD("fsync", SPEED(1, 0.8, 1.25), EQUAL_SPEED),
			METHOD("open_sync", NONE, NONE)},
		{1.2, 1.2}, false},
	{"faster, and nearly clear",
		{CURRENT(QUIET, QUIET), METHOD("fsync", SPEED(1.2, 1.045, 1.38), EQUAL_SPEED)},
		{1.01, 1.01}, true},
	{"faster, and far from clear",
		{CURRENT(QUIET, QUIET), METHOD("fsync", SPEED(1.2, 0.9, 1.6), EQUAL_SPEED)},
		{1.2, 1.2}, false},
	{"nearly excluded",
		{CURRENT(QUIET, QUIET), METHOD("fsync", SPEED(1, 0.93, 1.06), EQUAL_SPEED)},
		{1.01, 1.01}, true},
	{"one nearly excluded, one far from it",
		{CURRENT(QUIET, QUIET), METHOD("fsync", SPEED(1, 0.93, 1.06), EQUAL_SPEED),
			METHOD("open_sync", SPEED(1, 0.8, 1.25), EQUAL_SPEED)},
		{1.01, 1.01}, false},
	{"no interval yet",
		{CURRENT(QUIET, QUIET), METHOD("fsync", FEW(1), EQUAL_SPEED)},
		{1.01, 1.01}, true},
	{"no interval of the control yet",
		{CURRENT(FEW(1), QUIET), METHOD("fsync", SPEED(1, 0.8, 1.25), EQUAL_SPEED)},
		{1.01, 1.01}, true},
	{"settled already",
		{CURRENT(QUIET, QUIET), METHOD("fsync", SLOW, SLOW)},
		{1, 1}, true},
	{"noise, and little time",
		{CURRENT(SPEED(1, 0.85, 1.18), QUIET), METHOD("fsync", SLOW, SLOW)},
		{1.2, 1.2}, false},
	{"noise, and much time",
		{CURRENT(SPEED(1, 0.85, 1.18), QUIET), METHOD("fsync", SLOW, SLOW)},
		{100, 100}, true},
	/* the control moves towards 1, but not beyond */
	{"noise around 1, and much time",
		{CURRENT(SPEED(1.001, 0.82, 1.22), QUIET), METHOD("fsync", SLOW, SLOW)},
		{100, 100}, true},
	{"noise around 1 from below",
		{CURRENT(SPEED(0.999, 0.82, 1.22), QUIET), METHOD("fsync", SLOW, SLOW)},
		{100, 100}, true},
	{"noise a little off 1",
		{CURRENT(SPEED(1.05, 0.9, 1.22), QUIET), METHOD("fsync", SLOW, SLOW)},
		{100, 100}, true},
	{"two places that differ",
		{CURRENT(SPEED(1.1, 1.04, 1.16), QUIET), METHOD("fsync", SLOW, SLOW)},
		{100, 100}, false},
};

static void
projects_the_verdict(void **state)
{
	(void) state;
	for (size_t i = 0; i < lengthof(projection_cases); i++)
	{
		for (int reversed = 0; reversed <= 1; reversed++)
		{
			sp_comparison comparison = compare_row(projection_cases[i].contenders, reversed);

			if (sp_projection_settles(&comparison, projection_cases[i].growth) !=
				projection_cases[i].settles)
				fail_msg("%s%s", projection_cases[i].scenario, reversed ? ", reversed" : "");
		}
	}
}

/* Only a method that is proven slower, both regimes taken together, is excluded. */
static void
excludes_only_slower_methods(void **state)
{
	static const struct
	{
		sp_contender contender;
		bool		excluded;
	}			rows[] = {
		{METHOD("wholly slower", SLOW, SLOW), true},
		{METHOD("slower when paced, faster back to back", SLOW, FAST), true},
		{METHOD("a little slower", SPEED(0.97, 0.95, 0.99), SPEED(1, 0.96, 1.04)), true},
		{METHOD("a little slower, a little faster back to back",
				SPEED(0.97, 0.95, 0.99), SPEED(1, 0.96, 1.09)),
			true},
		{METHOD("a little slower, may be faster back to back",
				SPEED(0.97, 0.95, 0.99), SPEED(1, 0.96, 1.11)),
			false},
		{METHOD("slower back to back, may be faster when paced", SPEED(1, 0.9, 1.1), SLOW), false},
		{METHOD("faster when paced", FAST, SLOW), false},
		{METHOD("equal", EQUAL_SPEED, EQUAL_SPEED), false},
		{METHOD("seems slower", SPEED(0.9, 0.8, 1.01), SPEED(0.9, 0.8, 1.01)), false},
		{METHOD("too few rounds", FEW(0.5), FEW(0.5)), false},
		{METHOD("paced only so far", SLOW, NONE), false},
		{METHOD("not measured", NONE, NONE), false},
		{SYNCS_NOT("does not sync", SLOW, SLOW), false},
	};

	(void) state;
	for (size_t i = 0; i < lengthof(rows); i++)
	{
		sp_contender contenders[MAX_CONTENDERS] = {CURRENT(QUIET, QUIET), rows[i].contender};
		sp_comparison comparison = compare_row(contenders, false);

		assert_int_equal(comparison.contenders[0].class, SP_CURRENT);
		if ((comparison.contenders[1].class == SP_SLOWER) != rows[i].excluded)
			fail_msg("%s", rows[i].contender.name);
	}
}

/* Which regime can still settle something? */
static void
knows_which_regime_is_open(void **state)
{
	static const struct
	{
		const char *scenario;
		sp_contender contenders[MAX_CONTENDERS];
		bool		open[SP_REGIMES];
	}			rows[] = {
		{"equal",
			{CURRENT(QUIET, QUIET), METHOD("fsync", EQUAL_SPEED, EQUAL_SPEED)},
			{false, false}},
		{"noise when paced",
			{CURRENT(SPEED(1, 0.92, 1.08), QUIET), METHOD("fsync", SLOW, SLOW)},
			{true, false}},
		{"noise back to back, within twice the margin",
			{CURRENT(QUIET, SPEED(1, 0.92, 1.08)), METHOD("fsync", SLOW, SLOW)},
			{false, false}},
		{"noise back to back",
			{CURRENT(QUIET, SPEED(1, 0.88, 1.12)), METHOD("fsync", SLOW, SLOW)},
			{false, true}},
		{"too few rounds of the control",
			{CURRENT(FEW(1), NONE), METHOD("fsync", SLOW, SLOW)},
			{true, true}},
		{"too few rounds of another",
			{CURRENT(QUIET, QUIET), METHOD("fsync", EQUAL_SPEED, FEW(1))},
			{false, true}},
		{"may be faster when paced",
			{CURRENT(QUIET, QUIET), METHOD("fsync", SPEED(1.02, 0.98, 1.065), EQUAL_SPEED)},
			{true, false}},
		{"may be faster back to back",
			{CURRENT(QUIET, QUIET), METHOD("fsync", EQUAL_SPEED, SPEED(1.04, 0.98, 1.12))},
			{false, true}},
		{"either",
			{CURRENT(QUIET, QUIET), METHOD("fsync", EQUAL_SPEED, SPEED(1.04, 0.98, 1.12)),
				METHOD("open_sync", SPEED(1.02, 0.98, 1.065), EQUAL_SPEED)},
			{true, true}},
		{"who is slower asks nothing",
			{CURRENT(QUIET, QUIET), METHOD("fsync", SLOW, SPEED(1, 0.7, 1.4))},
			{false, false}},
		{"nor who was not measured",
			{CURRENT(QUIET, QUIET), METHOD("fsync", NONE, NONE)},
			{false, false}},
	};

	(void) state;
	for (size_t i = 0; i < lengthof(rows); i++)
	{
		sp_comparison comparison = compare_row(rows[i].contenders, false);

		for (int r = 0; r < SP_REGIMES; r++)
		{
			if (sp_regime_is_open(&comparison, r) != rows[i].open[r])
				fail_msg("%s: regime %d", rows[i].scenario, r);
		}
	}
}

/* -------------------------------------------------------------- simulation */

#define METHODS		4			/* the current one and three others */
#define MAX_ROUNDS	128

typedef struct simulation
{
	const char *name;
	double		speed[METHODS];	/* true, in both regimes */
	double		sd;				/* of log(current / method) per round */
	int			max_rounds;
	bool		gives_up;		/* stops when projected to stay undecided, as a probe
								 * does */
} simulation;

/* The rounds of a run: of every method, and of the control after them. */
typedef double run_times[SP_REGIMES][METHODS + 1][MAX_ROUNDS];

static void
simulate_round(const simulation *sim, run_times us, int round, uint64_t *seed)
{
	for (int r = 0; r < SP_REGIMES; r++)
	{
		/* the state of the disk, which all share in this round */
		double		common = 300 * exp(0.5 * random_normal(seed));

		for (int m = 0; m <= METHODS; m++)
			us[r][m][round] = common / sim->speed[m < METHODS ? m : 0] *
				exp(sim->sd / sqrt(2) * random_normal(seed));
	}
}

/* Compare the methods after so many rounds, as an interim analysis does. */
static sp_comparison
compare_run(run_times us, int rounds, int analysis)
{
	static const char *const names[METHODS] = {
		"fdatasync", "fsync", "open_sync", "open_datasync"
	};
	sp_comparison comparison = {.count = METHODS,.margin = MARGIN};
	double		workspace[MAX_ROUNDS];

	for (int m = 0; m < METHODS; m++)
	{
		comparison.contenders[m].name = names[m];
		for (int r = 0; r < SP_REGIMES; r++)
			comparison.contenders[m].speed[r] =
				sp_speed_interval(us[r][0], us[r][m == 0 ? METHODS : m], rounds,
								  sp_analysis_alpha(analysis), m == 0 ? 1 : METHODS - 1,
								  workspace);
	}
	sp_classify(&comparison);
	return comparison;
}

/* One run with its interim analyses until the verdict is settled; returns its rounds. */
static int
simulate_run(const simulation *sim, uint64_t *seed, sp_judgement *judgement)
{
	static run_times us;
	int			rounds = 0;

	for (int analysis = 1; sp_analysis_rounds(analysis) <= sim->max_rounds; analysis++)
	{
		sp_comparison comparison;

		while (rounds < sp_analysis_rounds(analysis))
			simulate_round(sim, us, rounds++, seed);
		comparison = compare_run(us, rounds, analysis);
		sp_judge(&comparison, judgement);
		if (sp_judgement_settled(&comparison, judgement))
			break;
		if (sim->gives_up && rounds >= 45 && rounds < sim->max_rounds)
		{
			/* a probe projects that either regime gets all the remaining time */
			double		growth = 1 + 2.0 * (sim->max_rounds - rounds) / rounds;

			if (!sp_projection_settles(&comparison, (double[]) {growth, growth}))
				break;
		}
	}
	return rounds;
}

/* How many of the runs end with this verdict, and this method recommended. */
static int
simulate(const simulation *sim, sp_verdict verdict, int recommended)
{
	int			verdicts[SP_UNSAFE + 1] = {0};
	int			wanted = 0;
	int64_t		rounds = 0;
	uint64_t	seed = 15;

	for (int run = 0; run < RUNS; run++)
	{
		sp_judgement judgement;

		rounds += simulate_run(sim, &seed, &judgement);
		verdicts[judgement.verdict]++;
		if (judgement.verdict == verdict &&
			(recommended < 0 || judgement.recommended == recommended))
			wanted++;
	}
	print_message("# %s: switch %d, keep %d, tie %d, undecided %d of %d runs, "
				  "%.0f rounds each; counted %d\n",
				  sim->name, verdicts[SP_SWITCH], verdicts[SP_KEEP], verdicts[SP_TIE],
				  verdicts[SP_UNDECIDED], RUNS, (double) rounds / RUNS, wanted);
	return wanted;
}

static void
seldom_switches_without_a_difference(void **state)
{
	static const simulation sim = {"no difference, sd 10 %", {1, 1, 1, 1}, 0.10, 64, false};

	(void) state;
	assert_in_range(simulate(&sim, SP_SWITCH, -1), 0, RUNS * 25 / 1000);
}

static void
finds_what_is_faster(void **state)
{
	static const simulation sim = {"one 20 % faster, sd 10 %", {1, 1, 1.2, 1}, 0.10, 32, false};

	(void) state;
	assert_in_range(simulate(&sim, SP_SWITCH, 2), RUNS * 95 / 100, RUNS);
}

static void
calls_equals_a_tie(void **state)
{
	static const simulation sim = {"all within 1 %, sd 5 %", {1, 0.99, 1, 1.01}, 0.05, 64, false};

	(void) state;
	assert_in_range(simulate(&sim, SP_TIE, 0), RUNS * 90 / 100, RUNS);
}

/* Stopping by projection must not cost more than a few verdicts. */
static void
gives_up_seldom_in_vain(void **state)
{
	static const simulation rows[] = {
		{"one 20 % faster, sd 20 %", {1, 1, 1.2, 1}, 0.20, 128, false},
		{"one 10 % faster, sd 10 %", {1, 1, 1.1, 1}, 0.10, 128, false},
		{"all within 1 %, sd 5 %", {1, 0.99, 1, 1.01}, 0.05, 64, false},
		{"all within 1 %, sd 8 %", {1, 0.99, 1, 1.01}, 0.08, 128, false},
	};

	(void) state;
	for (size_t i = 0; i < lengthof(rows); i++)
	{
		simulation	sim = rows[i];
		int			undecided = simulate(&sim, SP_UNDECIDED, -1);

		sim.gives_up = true;
		assert_in_range(simulate(&sim, SP_UNDECIDED, -1), 0, undecided + RUNS * 3 / 100);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(judges_by_the_rules),
		cmocka_unit_test(judges_any_order),
		cmocka_unit_test(praises_no_method_that_does_not_sync),
		cmocka_unit_test(cuts_a_long_reason),
		cmocka_unit_test(names_verdicts),
		cmocka_unit_test(projects_the_verdict),
		cmocka_unit_test(excludes_only_slower_methods),
		cmocka_unit_test(knows_which_regime_is_open),
		cmocka_unit_test(seldom_switches_without_a_difference),
		cmocka_unit_test(finds_what_is_faster),
		cmocka_unit_test(calls_equals_a_tie),
		cmocka_unit_test(gives_up_seldom_in_vain),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("verdict", tests, NULL, NULL);
}
