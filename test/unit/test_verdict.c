/*-------------------------------------------------------------------------
 *
 * test_verdict.c
 *	  Tests of src/engine/verdict/verdict.c and interval.c: rules, intervals, and how
 *	  often they err.
 *
 * The rules are a table of scenarios.  The error of all interim analyses is computed
 * exactly.  That the rules are worth following is shown by simulated runs with
 * a fixed seed, analyzed when a probe analyzes them.
 *
 *-------------------------------------------------------------------------
 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "engine/measure/sync_method.h"
#include "engine/verdict/verdict.h"

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

/* A contender, with its paced and its saturated speed. */
#define CONTENDER(durable, name, ...) {name, {__VA_ARGS__}, durable}
#define METHOD(...) CONTENDER(SP_DURABLE_UNKNOWN, __VA_ARGS__)
#define SYNCS(...) CONTENDER(SP_DURABLE_YES, __VA_ARGS__)
#define SYNCS_NOT(...) CONTENDER(SP_DURABLE_NO, __VA_ARGS__)
#define CURRENT(...) METHOD("fdatasync", __VA_ARGS__)

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
		{CURRENT(QUIET, QUIET), METHOD("fsync", FAST, SPEED(1.3, 1.2, 1.4)), METHOD("open_sync", SLOW, SLOW)},
		SP_SWITCH, 1, true,
		{"fsync makes 20 % more flushes a second at this cluster's pace (+15 to +25)",
	"30 % more flushes a second back to back (+20 to +40)"}},
	{"faster back to back, equal when paced",
		{CURRENT(QUIET, QUIET), METHOD("fsync", EQUAL_SPEED, FAST)},
		SP_SWITCH, 1, true, {"20 % more flushes a second back to back"}},
	{"faster back to back, paced not known to be equal",
		{CURRENT(QUIET, QUIET), METHOD("fsync", SPEED(0.97, 0.93, 1.01), FAST)},
	SP_UNDECIDED, 0, false, {"no method is more than 1 % faster at this cluster's pace, or 25 % back to back; not settled: fsync: probe "}},
	{"faster when paced, slower back to back: the pace decides",
		{CURRENT(QUIET, QUIET), METHOD("fsync", FAST, SLOW)},
		SP_SWITCH, 1, true,
		{"20 % fewer flushes a second back to back (-25 to -15)", "the pace decides",
	"for back-to-back flushes fdatasync is the faster"}},
	{"slower when paced, faster back to back: the pace decides",
		{CURRENT(QUIET, QUIET), METHOD("fsync", SLOW, FAST)},
		SP_KEEP, 0, true,
		{"every other method that can be measured is slower than fdatasync",
			"fsync would make 20 % more flushes a second back to back (+15 to +25)",
	"but not at this cluster's pace"}},
	{"all slower", {CURRENT(QUIET, QUIET), METHOD("fsync", SLOW, SLOW), METHOD("open_sync", SLOW, SLOW)},
	SP_KEEP, 0, true, {"slower than fdatasync"}},
	{"one slower, one not measured", {CURRENT(QUIET, QUIET), METHOD("fsync", SLOW, SLOW), METHOD("open_sync", NONE, NONE)},
	SP_KEEP, 0, true, {"that can be measured"}},
	{"a little slower", {CURRENT(QUIET, QUIET), METHOD("fsync", SPEED(0.97, 0.95, 0.99), SPEED(0.98, 0.96, 0.99))},
	SP_KEEP, 0, true, {"slower than fdatasync"}},
	{"one equal, one slower", {CURRENT(QUIET, QUIET), METHOD("fsync", EQUAL_SPEED, EQUAL_SPEED), METHOD("open_sync", SLOW, SLOW)},
	SP_TIE, 0, true, {"no method is more than 3 % faster", "as fast as fdatasync: fsync"}},
	{"all equal", {CURRENT(QUIET, QUIET), METHOD("fsync", EQUAL_SPEED, EQUAL_SPEED), METHOD("open_sync", EQUAL_SPEED, EQUAL_SPEED)},
	SP_TIE, 0, true, {"as fast as fdatasync: fsync, open_sync"}},
	{"one equal, one not measured", {CURRENT(QUIET, QUIET), METHOD("fsync", NONE, NONE), METHOD("open_sync", EQUAL_SPEED, EQUAL_SPEED)},
	SP_TIE, 0, true, {"as fast as fdatasync: open_sync"}},
	{"one equal, one slow when paced but fast back to back",
		{CURRENT(QUIET, QUIET), METHOD("fsync", EQUAL_SPEED, EQUAL_SPEED), METHOD("open_sync", SLOW, FAST)},
	SP_TIE, 0, true, {"as fast as fdatasync: fsync", "open_sync would make 20 % more"}},
	{"one equal, one may be faster",
		{CURRENT(QUIET, QUIET), METHOD("fsync", EQUAL_SPEED, EQUAL_SPEED), METHOD("open_sync", SPEED(1.02, 0.98, 1.065), EQUAL_SPEED)},
	SP_UNDECIDED, 0, false, {"no method is more than 7 % faster", "not settled: open_sync: probe 3 times as long as this run"}},
	{"one equal, one may be slower",
		{CURRENT(QUIET, QUIET), METHOD("fsync", EQUAL_SPEED, EQUAL_SPEED), METHOD("open_sync", SPEED(0.98, 0.90, 1.04), EQUAL_SPEED)},
	SP_TIE, 0, true, {"as fast as fdatasync: fsync"}},
	{"not clear", {CURRENT(QUIET, QUIET), METHOD("fsync", SPEED(1.06, 1.04, 1.075), EQUAL_SPEED)},
	SP_UNDECIDED, 0, false, {"no method is more than 8 % faster", "not settled: fsync: probe 5 times as long as this run"}},
	{"nearly clear: twice is the least", {CURRENT(QUIET, QUIET), METHOD("fsync", SPEED(1.12, 1.049, 1.2), EQUAL_SPEED)},
	SP_UNDECIDED, 0, false, {"probe 2 times as long as this run"}},
	{"the slowest to settle tells how long", {CURRENT(QUIET, QUIET), METHOD("fsync", SPEED(1.12, 1.049, 1.2), EQUAL_SPEED),
	METHOD("open_sync", SPEED(1.02, 0.98, 1.065), EQUAL_SPEED)},
	SP_UNDECIDED, 0, false, {"probe 3 times as long as this run"}},
	{"on the edge of the margin", {CURRENT(QUIET, QUIET), METHOD("fsync", SPEED(1.04, 0.98, 1.10), EQUAL_SPEED)},
	SP_UNDECIDED, 0, false, {"not settled: fsync: probe much longer, or when it is quieter"}},
	{"too few rounds of one of them", {CURRENT(QUIET, QUIET), METHOD("fsync", FEW(1.1), EQUAL_SPEED)},
	SP_UNDECIDED, 0, false, {"too few rounds to exclude anything; not settled: fsync: probe much longer"}},
	{"several faster: the best paced",
		{CURRENT(QUIET, QUIET), METHOD("fsync", FAST, SPEED(2, 1.9, 2.1)), METHOD("open_sync", SPEED(1.3, 1.2, 1.4), FAST)},
	SP_SWITCH, 2, true, {"open_sync makes 30 % more"}},
	{"one faster, a better one not settled",
		{CURRENT(QUIET, QUIET), METHOD("fsync", FAST, FAST), METHOD("open_sync", SPEED(1.3, 1.0, 1.6), EQUAL_SPEED)},
	SP_SWITCH, 1, false, {"fsync makes 20 % more"}},
	{"one faster, a worse one not settled",
		{CURRENT(QUIET, QUIET), METHOD("fsync", FAST, FAST), METHOD("open_sync", SPEED(1.1, 1.0, 1.2), EQUAL_SPEED)},
	SP_SWITCH, 1, true, {"fsync makes 20 % more"}},
	{"noise, and nothing clear",
		{CURRENT(SPEED(1, 0.92, 1.08), QUIET), METHOD("fsync", SPEED(1, 0.91, 1.09), EQUAL_SPEED)},
	SP_UNDECIDED, 0, false, {"the noise is 8.3 %, above the margin of 5 %: probe 3 times as long as this run"}},
	{"noise that more time would not beat",
		{CURRENT(SPEED(1, 0.8, 1.25), QUIET), METHOD("fsync", SPEED(1, 0.8, 1.25), EQUAL_SPEED)},
	SP_UNDECIDED, 0, false, {"the noise is 25.0 %, above the margin of 5 %: probe much longer, or when it is quieter"}},
	{"noise back to back is no matter",
		{CURRENT(QUIET, SPEED(1, 0.92, 1.08)), METHOD("fsync", SLOW, SLOW)},
	SP_KEEP, 0, true, {"slower than fdatasync"}},
	{"noise when paced, however slow the others",
		{CURRENT(SPEED(1, 0.92, 1.08), QUIET), METHOD("fsync", SLOW, SLOW)},
	SP_UNDECIDED, 0, false, {"the noise is 8.3 %"}},
	{"equal, back to back within twice the margin",
		{CURRENT(QUIET, QUIET), METHOD("fsync", EQUAL_SPEED, SPEED(1, 0.91, 1.09))},
	SP_TIE, 0, true, {"no method is more than 3 % faster at this cluster's pace, or 9 % back to back"}},
	{"equal, back to back not within twice the margin",
		{CURRENT(QUIET, QUIET), METHOD("fsync", EQUAL_SPEED, SPEED(1, 0.91, 1.11))},
	SP_UNDECIDED, 0, false, {"11 % back to back; not settled: fsync"}},
	{"equal or slower, back to back within twice the margin",
		{CURRENT(QUIET, QUIET), METHOD("fsync", SPEED(0.98, 0.93, 1.03), SPEED(1, 0.91, 1.09))},
	SP_KEEP, 0, false, {"9 % back to back; equal to fdatasync or slower: fsync"}},
	{"within the margin only back to back",
		{CURRENT(QUIET, QUIET), METHOD("fsync", SPEED(1, 0.96, 1.09), EQUAL_SPEED)},
	SP_UNDECIDED, 0, false, {"no method is more than 9 % faster at this cluster's pace"}},
	/* to stay, twice the margin may be ignored; to switch, the margin is enough */
	{"faster back to back by less than twice the margin",
		{CURRENT(QUIET, QUIET), METHOD("fsync", EQUAL_SPEED, SPEED(1.08, 1.06, 1.095))},
	SP_SWITCH, 1, true, {"8 % more flushes a second back to back (+6 to +9)"}},
	{"clear in spite of the noise",
		{CURRENT(SPEED(1, 0.92, 1.08), QUIET), METHOD("fsync", FAST, FAST)},
	SP_SWITCH, 1, true, {"fsync makes 20 % more"}},
	{"equal or slower, but not faster",
		{CURRENT(QUIET, QUIET), METHOD("open_datasync", SPEED(0.98, 0.93, 1.03), EQUAL_SPEED), METHOD("fsync", SLOW, SLOW)},
	SP_KEEP, 0, false, {"no method is more than 3 % faster at this cluster's pace, or 3 % back to back; equal to fdatasync or slower: open_datasync"}},
	{"no faster than another place",
		{CURRENT(SPEED(1.045, 1.01, 1.08), QUIET), METHOD("fsync", SPEED(1.07, 1.06, 1.08), EQUAL_SPEED)},
	SP_UNDECIDED, 0, false, {"the noise is 8.0 %"}},
	{"no faster than another place, which is quiet",
		{CURRENT(SPEED(1.03, 1.02, 1.04), QUIET), METHOD("fsync", SPEED(1.07, 1.06, 1.08), EQUAL_SPEED)},
	SP_UNDECIDED, 0, false, {"not by more than two files of fdatasync differ: fsync"}},
	{"faster than any place",
		{CURRENT(SPEED(1.045, 1.01, 1.08), QUIET), METHOD("fsync", FAST, EQUAL_SPEED)},
	SP_SWITCH, 1, true, {"fsync makes 20 % more"}},
	{"the current method faster than itself",
		{CURRENT(SPEED(1.1, 1.07, 1.12), QUIET), METHOD("fsync", FAST, FAST)},
	SP_UNDECIDED, 0, false, {"fdatasync against itself"}},
	{"current method not measured", {CURRENT(NONE, NONE), METHOD("fsync", NONE, NONE)},
	SP_UNDECIDED, 0, false, {"the current method fdatasync could not be measured"}},
	{"nothing else measured", {CURRENT(QUIET, QUIET), METHOD("fsync", NONE, NONE)},
	SP_UNDECIDED, 0, false, {"no other method could be measured"}},
	{"alone", {CURRENT(QUIET, QUIET)},
	SP_UNDECIDED, 0, false, {"no other method could be measured"}},
	{"too few rounds", {CURRENT(FEW(1), FEW(1)), METHOD("fsync", FEW(1.5), FEW(1.5))},
	SP_UNDECIDED, 0, false, {"too few rounds"}},
	{"the current method does not sync, another does",
		{SYNCS_NOT("fdatasync", QUIET, QUIET), SYNCS("fsync", SLOW, SLOW), METHOD("open_sync", FAST, FAST)},
		SP_UNSAFE, 1, true, {"syncs with fdatasync do not reach the device", "fsync is the fastest method whose syncs do"}},
	{"the current method does not sync, several others do",
		{SYNCS_NOT("fdatasync", QUIET, QUIET), SYNCS("fsync", SLOW, FAST), SYNCS("open_sync", EQUAL_SPEED, SLOW)},
		SP_UNSAFE, 2, true, {"open_sync is the fastest method whose syncs do"}},
	{"the current method does not sync, and one that does was not measured",
		{SYNCS_NOT("fdatasync", QUIET, QUIET), SYNCS("fsync", NONE, NONE), SYNCS("open_sync", SLOW, SLOW)},
		SP_UNSAFE, 2, true, {"open_sync is the fastest"}},
	{"no method is known to sync",
		{SYNCS_NOT("fdatasync", QUIET, QUIET), SYNCS_NOT("fsync", FAST, FAST), METHOD("open_sync", FAST, FAST)},
		SP_UNSAFE, -1, true, {"nor is there a method whose syncs were seen to: change the storage"}},
	{"not syncing comes before noise",
		{SYNCS_NOT("fdatasync", SPEED(1, 0.5, 2), FEW(1)), SYNCS_NOT("fsync", FEW(1), FEW(1))},
		SP_UNSAFE, -1, true, {"do not reach the device"}},
	{"faster only because it does not sync",
		{SYNCS("fdatasync", QUIET, QUIET), SYNCS_NOT("fsync", SPEED(5, 4, 6), SPEED(5, 4, 6)), METHOD("open_sync", SLOW, SLOW)},
		SP_KEEP, 0, true, {"slower than fdatasync"}},
	{"faster only because it does not sync, and one is equal",
		{SYNCS("fdatasync", QUIET, QUIET), SYNCS_NOT("fsync", SLOW, SPEED(5, 4, 6)), METHOD("open_sync", EQUAL_SPEED, EQUAL_SPEED)},
		SP_TIE, 0, true, {"no method is more than 3 % faster at this cluster's pace, or 3 % back to back; as fast as fdatasync: open_sync"}},
	{"one faster, a faster one does not sync",
		{SYNCS("fdatasync", QUIET, QUIET), SYNCS_NOT("fsync", SPEED(5, 1, 9), FAST), METHOD("open_sync", FAST, FAST)},
		SP_SWITCH, 2, true, {"open_sync makes 20 % more"}},
	{"too few rounds back to back", {CURRENT(QUIET, FEW(1)), METHOD("fsync", FAST, FEW(1.5))},
	SP_UNDECIDED, 0, false, {"too few rounds"}},
};

/* Those of a row, of which the first is the current method. */
static sp_contenders
contenders_of(const sp_contender *row)
{
	sp_contenders contenders = {.current = 0, .margin = MARGIN};

	for (; contenders.count < 4 && row[contenders.count].name != NULL; contenders.count++)
		contenders.list[contenders.count] = row[contenders.count];
	return contenders;
}

/* The same the other way round. */
static sp_contenders
turned(const sp_contenders *contenders)
{
	sp_contenders result = *contenders;

	for (int i = 0; i < result.count; i++)
		result.list[result.count - 1 - i] = contenders->list[i];
	result.current = result.count - 1;
	return result;
}

static const char *
reason_of(const sp_contenders *contenders, const sp_judgement *judgement)
{
	static char reason[SP_REASON_SIZE];

	sp_explain(contenders, judgement, reason, sizeof(reason));
	return reason;
}

static void
judges_by_the_rules(void **state)
{
	(void) state;
	for (size_t i = 0; i < lengthof(judge_cases); i++)
	{
		sp_contenders contenders = contenders_of(judge_cases[i].contenders);
		sp_judgement judgement;
		const char *reason;

		sp_judge(&contenders, &judgement);
		reason = reason_of(&contenders, &judgement);
		if (judgement.verdict != judge_cases[i].verdict ||
			judgement.recommended != judge_cases[i].recommended)
			fail_msg("%s: %s, method %d: %s", judge_cases[i].scenario,
					 sp_verdict_name(judgement.verdict), judgement.recommended, reason);
		if (sp_judgement_settled(&contenders, &judgement) != judge_cases[i].settled)
			fail_msg("%s: settled is wrong", judge_cases[i].scenario);
		for (size_t k = 0; k < 3 && judge_cases[i].reason[k] != NULL; k++)
		{
			if (strstr(reason, judge_cases[i].reason[k]) == NULL)
				fail_msg("%s: the reason is \"%s\"", judge_cases[i].scenario, reason);
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
		sp_contenders contenders = contenders_of(judge_cases[i].contenders);
		sp_contenders other_way = turned(&contenders);
		sp_judgement judgement;

		sp_judge(&other_way, &judgement);
		assert_int_equal(judgement.verdict, judge_cases[i].verdict);
		assert_int_equal(judgement.recommended, judge_cases[i].recommended < 0 ? -1 :
						 contenders.count - 1 - judge_cases[i].recommended);
	}
}

/* Nothing is said in favour of a method that does not sync. */
static void
praises_no_method_that_does_not_sync(void **state)
{
	static const sp_contenders contenders = {
		.count = 3,
		.margin = MARGIN,
		.list = {SYNCS("fdatasync", QUIET, QUIET), SYNCS_NOT("fsync", SLOW, SPEED(5, 4, 6)),
		METHOD("open_sync", SLOW, SLOW)},
	};
	sp_judgement judgement;

	(void) state;
	sp_judge(&contenders, &judgement);
	assert_int_equal(judgement.verdict, SP_KEEP);
	assert_null(strstr(reason_of(&contenders, &judgement), "fsync would"));
}

/* A reason that does not fit is cut, and says nothing beyond its end. */
static void
cuts_a_long_reason(void **state)
{
	char		name[600];
	sp_contenders contenders = {
		.count = 3,
		.margin = MARGIN,
		.list = {CURRENT(QUIET, QUIET), METHOD(name, EQUAL_SPEED, EQUAL_SPEED),
		METHOD("fsync", EQUAL_SPEED, EQUAL_SPEED)},
	};
	sp_judgement judgement;

	(void) state;
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	sp_judge(&contenders, &judgement);
	assert_int_equal(judgement.verdict, SP_TIE);
	assert_int_equal(strlen(reason_of(&contenders, &judgement)), SP_REASON_SIZE - 1);
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

/* Can the time that is left settle it, if a regime gets growth times the rounds? */
static const struct
{
	const char *scenario;
	sp_contender contenders[4];
	double		growth[SP_REGIMES];
	bool		settles;
}			projection_cases[] =
{
	{"wide, and little time", {CURRENT(QUIET, QUIET), METHOD("fsync", SPEED(1, 0.8, 1.25), EQUAL_SPEED)}, {1.2, 1.2}, false},
	{"wide, and much time", {CURRENT(QUIET, QUIET), METHOD("fsync", SPEED(1, 0.8, 1.25), EQUAL_SPEED)}, {100, 100}, true},
	{"wide when paced, time back to back only",
	{CURRENT(QUIET, QUIET), METHOD("fsync", SPEED(1, 0.8, 1.25), EQUAL_SPEED)}, {1.2, 100}, false},
	{"wide back to back, time for that", {CURRENT(QUIET, QUIET), METHOD("fsync", EQUAL_SPEED, SPEED(1, 0.8, 1.25))}, {1.2, 100}, true},
	{"one not measured at all is not waited for",
		{CURRENT(QUIET, QUIET), METHOD("fsync", SPEED(1, 0.8, 1.25), EQUAL_SPEED), METHOD("open_sync", NONE, NONE)},
	{1.2, 1.2}, false},
	{"faster, and nearly clear", {CURRENT(QUIET, QUIET), METHOD("fsync", SPEED(1.2, 1.045, 1.38), EQUAL_SPEED)}, {1.01, 1.01}, true},
	{"faster, and far from clear", {CURRENT(QUIET, QUIET), METHOD("fsync", SPEED(1.2, 0.9, 1.6), EQUAL_SPEED)}, {1.2, 1.2}, false},
	{"nearly excluded", {CURRENT(QUIET, QUIET), METHOD("fsync", SPEED(1, 0.93, 1.06), EQUAL_SPEED)}, {1.01, 1.01}, true},
	{"one nearly excluded, one far from it",
		{CURRENT(QUIET, QUIET), METHOD("fsync", SPEED(1, 0.93, 1.06), EQUAL_SPEED), METHOD("open_sync", SPEED(1, 0.8, 1.25), EQUAL_SPEED)},
	{1.01, 1.01}, false},
	{"no interval yet", {CURRENT(QUIET, QUIET), METHOD("fsync", FEW(1), EQUAL_SPEED)}, {1.01, 1.01}, true},
	{"no interval of the control yet", {CURRENT(FEW(1), QUIET), METHOD("fsync", SPEED(1, 0.8, 1.25), EQUAL_SPEED)}, {1.01, 1.01}, true},
	{"settled already", {CURRENT(QUIET, QUIET), METHOD("fsync", SLOW, SLOW)}, {1, 1}, true},
	{"noise, and little time", {CURRENT(SPEED(1, 0.85, 1.18), QUIET), METHOD("fsync", SLOW, SLOW)}, {1.2, 1.2}, false},
	{"noise, and much time", {CURRENT(SPEED(1, 0.85, 1.18), QUIET), METHOD("fsync", SLOW, SLOW)}, {100, 100}, true},
	/* it may come nearer to 1, and that must not carry it beyond */
	{"noise around 1, and much time", {CURRENT(SPEED(1.001, 0.82, 1.22), QUIET), METHOD("fsync", SLOW, SLOW)}, {100, 100}, true},
	{"noise around 1 from below", {CURRENT(SPEED(0.999, 0.82, 1.22), QUIET), METHOD("fsync", SLOW, SLOW)}, {100, 100}, true},
	{"noise a little off 1", {CURRENT(SPEED(1.05, 0.9, 1.22), QUIET), METHOD("fsync", SLOW, SLOW)}, {100, 100}, true},
	{"two places that differ", {CURRENT(SPEED(1.1, 1.04, 1.16), QUIET), METHOD("fsync", SLOW, SLOW)}, {100, 100}, false},
};

static void
projects_the_verdict(void **state)
{
	int			wrong = 0;

	(void) state;
	for (size_t i = 0; i < lengthof(projection_cases); i++)
	{
		sp_contenders contenders = contenders_of(projection_cases[i].contenders);
		sp_contenders other_way = turned(&contenders);
		const double *growth = projection_cases[i].growth;

		if (sp_projection_settles(&contenders, growth) != projection_cases[i].settles ||
			sp_projection_settles(&other_way, growth) != projection_cases[i].settles)
		{
			print_message("# wrong: %s\n", projection_cases[i].scenario);
			wrong++;
		}
	}
	assert_int_equal(wrong, 0);
}

/* Only who is slower for certain, in both regimes together, is excluded. */
static void
leaves_out_the_slower_only(void **state)
{
	static const struct
	{
		sp_contender contender;
		bool		excluded;
	}			rows[] = {
		{METHOD("wholly slower", SLOW, SLOW), true},
		{METHOD("slower when paced, faster back to back", SLOW, FAST), true},
		{METHOD("a little slower", SPEED(0.97, 0.95, 0.99), SPEED(1, 0.96, 1.04)), true},
		{METHOD("a little slower, a little faster back to back", SPEED(0.97, 0.95, 0.99), SPEED(1, 0.96, 1.09)), true},
		{METHOD("a little slower, may be faster back to back", SPEED(0.97, 0.95, 0.99), SPEED(1, 0.96, 1.11)), false},
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
		if (sp_contender_is_excluded(&rows[i].contender, MARGIN) != rows[i].excluded)
			fail_msg("%s", rows[i].contender.name);
	}
}

/* The regime that has questions left gets the time. */
static void
knows_which_regime_is_open(void **state)
{
	static const struct
	{
		const char *scenario;
		sp_contender contenders[4];
		bool		open[SP_REGIMES];
	}			rows[] = {
		METHOD("equal", CURRENT(QUIET, QUIET), {"fsync", {EQUAL_SPEED, EQUAL_SPEED)}, {false, false}},
		{"noise when paced", {CURRENT(SPEED(1, 0.92, 1.08), QUIET), METHOD("fsync", SLOW, SLOW)}, {true, false}},
		{"noise back to back, within twice the margin", {CURRENT(QUIET, SPEED(1, 0.92, 1.08)), METHOD("fsync", SLOW, SLOW)}, {false, false}},
		{"noise back to back", {CURRENT(QUIET, SPEED(1, 0.88, 1.12)), METHOD("fsync", SLOW, SLOW)}, {false, true}},
		{"too few rounds of the control", {CURRENT(FEW(1), NONE), METHOD("fsync", SLOW, SLOW)}, {true, true}},
		{"too few rounds of another", {CURRENT(QUIET, QUIET), METHOD("fsync", EQUAL_SPEED, FEW(1))}, {false, true}},
		{"may be faster when paced", {CURRENT(QUIET, QUIET), METHOD("fsync", SPEED(1.02, 0.98, 1.065), EQUAL_SPEED)}, {true, false}},
		{"may be faster back to back", {CURRENT(QUIET, QUIET), METHOD("fsync", EQUAL_SPEED, SPEED(1.04, 0.98, 1.12))}, {false, true}},
		METHOD("either", CURRENT(QUIET, QUIET), {"fsync", {EQUAL_SPEED, SPEED(1.04, 0.98, 1.12)), METHOD("open_sync", SPEED(1.02, 0.98, 1.065), EQUAL_SPEED)}, {true, true}},
		{"who is slower asks nothing", {CURRENT(QUIET, QUIET), METHOD("fsync", SLOW, SPEED(1, 0.7, 1.4))}, {false, false}},
		{"nor who was not measured", {CURRENT(QUIET, QUIET), METHOD("fsync", NONE, NONE)}, {false, false}},
	};

	(void) state;
	for (size_t i = 0; i < lengthof(rows); i++)
	{
		sp_contenders contenders = contenders_of(rows[i].contenders);

		for (int r = 0; r < SP_REGIMES; r++)
		{
			if (sp_regime_is_open(&contenders, r) != rows[i].open[r])
				fail_msg("%s: regime %d", rows[i].scenario, r);
		}
	}
}

/* n values of which the i-th is i + 1, in a shuffled order. */
static sp_speed
interval_of_ranks(int n, double alpha, int comparisons)
{
	static double baseline[4096];
	static double one[4096];
	static double workspace[4096];

	for (int i = 0; i < n; i++)
	{
		baseline[(i * 11 + 2) % n] = i + 1;	/* no n here has a factor 11 */
		one[i] = 1;
	}
	return sp_speed_interval(baseline, one, n, alpha, comparisons, workspace);
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
		sp_speed	speed = interval_of_ranks(rows[i].n, rows[i].alpha, 1);
		double		middle = rows[i].n % 2 == 1 ? rows[i].estimate
			: sqrt((rows[i].estimate - 0.5) * (rows[i].estimate + 0.5));

		assert_true(fabs(speed.estimate / middle - 1) < 1e-12);
		if (isnan(rows[i].low) ? !isnan(speed.low) || !isnan(speed.high)
			: !(fabs(speed.low - rows[i].low) < 1e-9 && fabs(speed.high - rows[i].high) < 1e-9))
			fail_msg("n %d, alpha %g: %g to %g", rows[i].n, rows[i].alpha, speed.low, speed.high);
	}
}

/* Of several, one may seem faster by luck: the low end alone allows for that. */
static void
corrects_the_low_end_only(void **state)
{
	static const int rounds[] = {16, 45, 256, 4096};

	(void) state;
	for (size_t i = 0; i < lengthof(rounds); i++)
	{
		int			n = rounds[i];
		sp_speed	one = interval_of_ranks(n, 0.03, 1);

		for (int comparisons = 2; comparisons <= SP_MAX_METHODS; comparisons++)
		{
			sp_speed	several = interval_of_ranks(n, 0.03, comparisons);
			sp_speed	corrected = interval_of_ranks(n, 0.03 / comparisons, 1);

			assert_true(several.estimate == one.estimate);
			assert_true(several.high == one.high);
			assert_true(several.low == corrected.low);
			assert_true(several.low < one.low);
		}
		/* nothing to compare with must not divide by zero */
		assert_true(interval_of_ranks(n, 0.03, 0).low == one.low);
	}
}

/* ----------------------------------------------------------- the error of all */

#define EQUAL_ERROR_ROUNDS		4096

/* P(Binomial(n, 1/2) = k) for all k; in logarithms, 2^-n is no double. */
static void
binomial(int n, double *chance)
{
	for (int k = 0; k <= n; k++)
		chance[k] = exp(lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0) - n * log(2));
}

/*
 * How probably the true speed lies below the interval (or above it) at one analysis
 * at least, up to 4,096 rounds.  Exactly, whatever the distribution of the
 * times: the number of rounds below the median is a walk of fair coins, and it
 * ends where the interval, as the engine makes it, misses.
 */
static double
error_of_all_analyses(int comparisons, bool count_low, bool count_high)
{
	static double chance[EQUAL_ERROR_ROUNDS + 1];
	static double next[EQUAL_ERROR_ROUNDS + 1];
	static double steps[EQUAL_ERROR_ROUNDS + 1];
	double		missed = 0;
	int			before = 0;

	memset(chance, 0, sizeof(chance));
	chance[0] = 1;
	for (int analysis = 1; sp_analysis_rounds(analysis) <= EQUAL_ERROR_ROUNDS; analysis++)
	{
		int			n = (int) sp_analysis_rounds(analysis);
		sp_speed	ranks = interval_of_ranks(n, sp_analysis_alpha(analysis), comparisons);

		binomial(n - before, steps);
		memset(next, 0, sizeof(next));
		for (int k = 0; k <= before; k++)
		{
			for (int step = 0; chance[k] > 0 && step <= n - before; step++)
				next[k + step] += chance[k] * steps[step];
		}
		for (int k = 0; k <= n; k++)
		{
			/* k rounds below the truth: it lies between the k-th and the next */
			if ((count_low && k < lround(ranks.low)) || (count_high && k >= lround(ranks.high)))
			{
				missed += next[k];
				next[k] = 0;
			}
		}
		memcpy(chance, next, sizeof(chance));
		before = n;
	}
	assert_int_equal(before, EQUAL_ERROR_ROUNDS);	/* an analysis falls on it */
	return missed;
}

static void
errs_less_than_five_percent_in_all(void **state)
{
	double		beyond = 0;
	double		total = error_of_all_analyses(1, true, true);
	int			analysis = 1;

	(void) state;
	while (sp_analysis_rounds(analysis) <= EQUAL_ERROR_ROUNDS)
		analysis++;
	for (int last = analysis + 40; analysis < last; analysis++)
	{
		assert_true(sp_analysis_alpha(analysis) > 0);	/* something is always left */
		beyond += sp_analysis_alpha(analysis);
	}
	print_message("# all analyses up to %d rounds miss with %.2f %%, those beyond with %.3f %% at most\n",
				  EQUAL_ERROR_ROUNDS, 100 * total, 100 * beyond);
	assert_true(beyond < 0.001);
	assert_true(total > 0.04);
	assert_true(total + beyond <= 0.05);

	/* the low ends of several together get no more than their half of it */
	for (int comparisons = 2; comparisons < (int) sp_sync_method_count; comparisons++)
	{
		double		low = comparisons * error_of_all_analyses(comparisons, true, false);
		double		high = error_of_all_analyses(comparisons, false, true);

		print_message("# %d comparisons: a low end misses with %.2f %%, a high end with %.2f %%\n",
					  comparisons, 100 * low, 100 * high);
		assert_true(low <= 0.025);
		assert_true(low + high + beyond <= 0.05);
	}
}

static void
looks_ever_more_seldom(void **state)
{
	static const int first[] = {16, 23, 32, 45, 64, 91, 128, 181, 256, 362, 512};

	(void) state;
	for (size_t i = 0; i < lengthof(first); i++)
		assert_int_equal(sp_analysis_rounds((int) i + 1), first[i]);
	/* a run of weeks: no overflow, and no analysis is due twice */
	for (int analysis = 2; analysis < 80; analysis++)
		assert_true(sp_analysis_rounds(analysis) > sp_analysis_rounds(analysis - 1));
}

static void
knows_nothing_from_nothing(void **state)
{
	sp_speed	speed = sp_speed_interval(NULL, NULL, 0, 0.05, 1, NULL);

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
		sp_speed	speed = interval_of_ranks(4095, alphas[i], 1);
		double		rank = 4096 / 2.0 - sigmas[i] * sqrt(4095) / 2;

		assert_true(fabs(speed.low - rank) < 2);
		assert_true(fabs(speed.low + speed.high - 4096) < 1e-6);
		speed = interval_of_ranks(4096, alphas[i], 1);
		assert_true(fabs(speed.low - rank) < 2);
	}
}

/*
 * Misses are as many as the binomial distribution says at either end, even
 * where a round in ten is a hundred times as slow.
 */
static void
covers_as_promised(void **state)
{
	static const struct
	{
		int			n;
		double		alpha;
		int			comparisons;
		double		low;		/* P(Binomial(n, 1/2) < rank) */
		double		high;
	}			rows[] = {
		{8, 0.05, 1, 0.00391, 0.00391},
		{16, 0.05, 1, 0.01064, 0.01064},
		{20, 0.05, 1, 0.02069, 0.02069},
		{64, 0.05, 1, 0.01638, 0.01638},
		{16, 0.05, 3, 0.00209, 0.01064},
		{64, 0.05, 3, 0.00407, 0.01638},
	};
	const int	runs = 20000;
	uint64_t	seed = 20;

	(void) state;
	for (size_t i = 0; i < lengthof(rows); i++)
	{
		int			too_high = 0;
		int			too_low = 0;

		for (int run = 0; run < runs; run++)
		{
			double		baseline[64];
			double		other[64];
			double		workspace[64];
			sp_speed	speed;

			for (int k = 0; k < rows[i].n; k++)
			{
				baseline[k] = 300 * 1.2 * exp(0.1 * random_normal(&seed));
				other[k] = 300 * exp(0.1 * random_normal(&seed));
				if (random_uniform(&seed) < 0.1)
					*(random_uniform(&seed) < 0.5 ? &baseline[k] : &other[k]) *= 100;
			}
			speed = sp_speed_interval(baseline, other, rows[i].n, rows[i].alpha,
									  rows[i].comparisons, workspace);
			too_high += speed.low > 1.2;
			too_low += speed.high < 1.2;
		}
		print_message("# n %d, %d comparisons: low end missed %.2f %%, by theory %.2f %%; high end %.2f %% and %.2f %%\n",
					  rows[i].n, rows[i].comparisons, 100.0 * too_high / runs, 100 * rows[i].low,
					  100.0 * too_low / runs, 100 * rows[i].high);
		assert_true(fabs(too_high - rows[i].low * runs) < 4 * sqrt(rows[i].low * runs));
		assert_true(fabs(too_low - rows[i].high * runs) < 4 * sqrt(rows[i].high * runs));
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
	bool		gives_up;		/* as a probe does when there is too little time left */
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

/* One run with its interim analyses until the verdict is settled; its rounds. */
static int
simulate_run(const simulation *sim, uint64_t *seed, sp_judgement *judgement)
{
	static const char *const names[METHODS] = {"fdatasync", "fsync", "open_sync", "open_datasync"};
	static run_times us;
	sp_contenders contenders = {.count = METHODS, .margin = MARGIN};
	int			rounds = 0;

	for (int analysis = 1; sp_analysis_rounds(analysis) <= sim->max_rounds; analysis++)
	{
		double		workspace[MAX_ROUNDS];

		while (rounds < sp_analysis_rounds(analysis))
			simulate_round(sim, us, rounds++, seed);
		for (int m = 0; m < METHODS; m++)
		{
			contenders.list[m].name = names[m];
			for (int r = 0; r < SP_REGIMES; r++)
				contenders.list[m].speed[r] =
					sp_speed_interval(us[r][0], us[r][m == 0 ? METHODS : m], rounds, sp_analysis_alpha(analysis),
									  m == 0 ? 1 : METHODS - 1, workspace);
		}
		sp_judge(&contenders, judgement);
		if (sp_judgement_settled(&contenders, judgement))
			break;
		if (sim->gives_up && rounds >= 45 && rounds < sim->max_rounds)
		{
			/* the engine grants either regime the time of both */
			double		growth = 1 + 2.0 * (sim->max_rounds - rounds) / rounds;

			if (!sp_projection_settles(&contenders, (double[]) {growth, growth}))
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
		if (judgement.verdict == verdict && (recommended < 0 || judgement.recommended == recommended))
			wanted++;
	}
	print_message("# %s: switch %d, keep %d, tie %d, undecided %d of %d runs, %.0f rounds each; counted %d\n",
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

/* To give up by projection must not cost more than a few verdicts. */
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
		cmocka_unit_test(leaves_out_the_slower_only),
		cmocka_unit_test(knows_which_regime_is_open),
		cmocka_unit_test(takes_the_known_order_statistics),
		cmocka_unit_test(corrects_the_low_end_only),
		cmocka_unit_test(errs_less_than_five_percent_in_all),
		cmocka_unit_test(looks_ever_more_seldom),
		cmocka_unit_test(knows_nothing_from_nothing),
		cmocka_unit_test(works_with_thousands_of_rounds),
		cmocka_unit_test(covers_as_promised),
		cmocka_unit_test(seldom_switches_without_a_difference),
		cmocka_unit_test(finds_what_is_faster),
		cmocka_unit_test(calls_equals_a_tie),
		cmocka_unit_test(gives_up_seldom_in_vain),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("verdict", tests, NULL, NULL);
}
