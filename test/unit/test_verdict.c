/*
 * Tests of verdict.c and reason.c of src/engine/verdict.
 *
 * The rule and its words are tested by a table of scenarios, each with its sentence.
 * How often whole runs err is in test_runs.c, and intervals are in test_interval.c.
 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "engine/verdict/verdict.h"

#define MAX_CANDIDATES	4		/* of a scenario */

/* Speeds: an interval, an estimate alone, nothing. */
#define SPEED(estimate, low, high) {estimate, low, high}
#define FEW(estimate)	{estimate, NAN, NAN}
#define NONE			{NAN, NAN, NAN}
#define QUIET			SPEED(1, 0.98, 1.02)
#define EQUAL			SPEED(1, 0.975, 1.0241)
#define SLOW			SPEED(0.8, 0.75, 0.85)
#define FAST			SPEED(1.2, 1.154, 1.246)
#define MAYBE			SPEED(1.06, 1.04, 1.075)

/* An estimate whose logarithm has about this standard error: an upper end is 2.1 of them away. */
#define WITH_ERROR(estimate, error) \
	SPEED(estimate, (estimate) / (1 + 2.6 * (error)), (estimate) * (1 + 2.1 * (error)))

/* A candidate; more of its members may follow its speed. */
#define METHOD(its_name, ...) {.name = its_name, .speed = __VA_ARGS__}
#define CURRENT(...) METHOD("fdatasync", __VA_ARGS__)
#define FSYNC(...)		METHOD("fsync", __VA_ARGS__)
#define THROUGH(...)	METHOD("fsync_writethrough", __VA_ARGS__)
#define OPEN_SYNC(...)	METHOD("open_sync", __VA_ARGS__, OTHER_KIND)
#define OTHER_KIND	.other_kind = true
#define DATA_ONLY	.data_only = true
#define SYNCS		.durable = SP_DURABLE_YES
#define NO_CACHE	.durable = SP_DURABLE_NO_CACHE
#define SYNCS_NOT	.durable = SP_DURABLE_NO
#define TAIL(all, slow) .tail = {all, slow}

/* The words of most scenarios; and of values in us. */
#define METHOD_WORDS	.unit = "", .when = " paced"
#define VALUES(...) \
	.words = {.values = true, .unit = " us", .when = "", __VA_ARGS__}

/* Sentences of several scenarios. */
#define TAKES_LESS(name)	name " takes 17 % less time per flush than fdatasync paced"
#define NONE_WORTH			"no other method is worth a switch from fdatasync paced; "
#define SLOW_FLUSHES \
	"4.0 % of its rounds have a flush of more than five times the median "
#define NOT_DURABLE			"syncs with fdatasync do not reach the device"

/* The best choice of a scenario, where the sentence adds nothing. */
#define BEST(i)			.verdict = SP_UNDECIDED, .best = i

/*
 * A scenario for sp_judge().  The first candidate is the current method.  The reason tells what
 * is known of each of the others, and how much longer a run must take.
 */
typedef struct judge_case
{
	const char *scenario;
	sp_candidate candidates[MAX_CANDIDATES];
	sp_verdict	verdict;
	int			best;			/* recommended, too, if the verdict is switch or unsafe */
	double		max_regret;		/* NAN: unknown */
	const char *reason;			/* without the best choice at its end; NULL: any */
	sp_words	words;			/* none: METHOD_WORDS, and a reason without intervals */
	bool		fsync_off;
	int			samples;		/* 0: 100 */
	bool		unsettled;		/* of a switch: a better one may turn up */
} judge_case;

static const judge_case judge_cases[] = {
	/* ---- switch */
	{"one faster, a better one open", {CURRENT(QUIET), THROUGH(SPEED(1.3, 1.01, 1.6)), FSYNC(FAST)},
		SP_SWITCH, 2, 0.6, .reason = TAKES_LESS("fsync"), .unsettled = true},
	{"one faster, a worse one open", {CURRENT(QUIET), FSYNC(FAST), THROUGH(SPEED(1.1, 0.99, 1.22))},
		SP_SWITCH, 1, 0.246, .reason = TAKES_LESS("fsync")},
	{"by more than the noise, which is above the margin", {CURRENT(SPEED(1, 1 / 1.15, 1.15)),
		FSYNC(FAST)}, SP_SWITCH, 1, 0.246, .reason = TAKES_LESS("fsync")},
	{"the other kind, by more than the margin over the own one, which is faster, too",
		{CURRENT(QUIET), FSYNC(FAST), OPEN_SYNC(SPEED(1.5, 1.45, 1.55))}, SP_SWITCH, 2, 0.55,
		.reason = "open_sync takes 33 % less time per flush than fdatasync paced"},
	{"the own kind, and the other one may be worth more", {CURRENT(QUIET), FSYNC(FAST),
		OPEN_SYNC(SPEED(1.3, 1.25, 1.35))}, SP_SWITCH, 1, 0.35,
		.reason = TAKES_LESS("fsync") "; open_sync gains at most 17 % over the best method of the "
		"kind in use",
		.unsettled = true},
	/* the one of the own kind is no alternative */
	{"the other kind, and the own one has slow flushes", {CURRENT(QUIET, TAIL(1000, 1)),
		FSYNC(FAST, TAIL(1000, 40)), OPEN_SYNC(FAST, TAIL(1000, 1))}, SP_SWITCH, 2, 0.246,
		.reason = TAKES_LESS("open_sync") "; fsync is faster, but " SLOW_FLUSHES "(0.1 % with "
		"fdatasync)"},
	/* nor is one that does not sync */
	{"the other kind, and the fastest of the own one does not sync", {CURRENT(QUIET, SYNCS),
		FSYNC(SPEED(5, 4, 6), SYNCS_NOT), OPEN_SYNC(FAST)}, SP_SWITCH, 2, 0.246,
		.reason = TAKES_LESS("open_sync") "; syncs with fsync do not reach the device"},
	/* ---- keep */
	{"one equal, one not measured", {CURRENT(QUIET), FSYNC(NONE), OPEN_SYNC(EQUAL)}, SP_KEEP, 0,
		0.0241,
		.reason = "no other method that could be compared can gain more than 2.5 % over fdatasync "
		"paced"},
	{"one slower, two that do not sync", {CURRENT(QUIET, SYNCS), FSYNC(SLOW),
		OPEN_SYNC(FAST, SYNCS_NOT), METHOD("open_datasync", FAST, OTHER_KIND, SYNCS_NOT)}, SP_KEEP,
		0, 0,
		.reason = "every other method that could be compared is slower than fdatasync paced; time "
		"per flush: fsync +18 to +33 %; syncs with open_sync and open_datasync do not reach the "
		"device", .words = {METHOD_WORDS}},
	{"perhaps faster, with more slow flushes", {CURRENT(QUIET, TAIL(1000, 1)),
		FSYNC(SPEED(1.04, 0.98, 1.1), TAIL(1000, 40))}, SP_KEEP, 0, 0.1,
		.reason = NONE_WORTH "fsync may be faster, but " SLOW_FLUSHES "(0.1 % with fdatasync)"},
	{"one faster with slow flushes, where the current one has none, one equal",
		{CURRENT(QUIET, TAIL(1000, 0)), FSYNC(FAST, TAIL(1000, 40)), THROUGH(EQUAL, TAIL(1000, 0))},
		SP_KEEP, 0, 0.246,
		.reason = NONE_WORTH "fsync is faster, but " SLOW_FLUSHES "(none with fdatasync)"},
	/* the own kind gains too little, and the other one too little over that */
	{"the other kind gains something over the current one, little over the best of the own one",
		{CURRENT(QUIET), FSYNC(SPEED(1.03, 1.02, 1.04)), OPEN_SYNC(SPEED(1.045, 1.03, 1.06))},
		SP_KEEP, 0, 0.06,
		.reason = NONE_WORTH "open_sync gains at most 4.0 % over the best method of the kind in "
		"use"},
	{"the other kind is faster than the current one, slower than the best of the own one",
		{CURRENT(QUIET), FSYNC(SPEED(1.035, 1.03, 1.04)), OPEN_SYNC(SPEED(1.02, 1.01, 1.028))},
		SP_KEEP, 0, 0.04,
		.reason = "no other method can gain more than 4.0 % over fdatasync paced"},
	/* a control is needed for a switch, not for that */
	{"one equal, a control apart", {CURRENT(SPEED(3, 2, 4)), FSYNC(EQUAL)}, SP_KEEP, 0, 0.0241,
		.reason = "no other method can gain more than 2.5 % over fdatasync paced"},
	/* tenths below 10 %, and at least one; none above */
	{"percentages", {CURRENT(QUIET), FSYNC(SPEED(0.95, 0.9095, 1.00001)),
		THROUGH(SPEED(0.9, 0.8, 0.9995))}, SP_KEEP, 0, 0.00001,
		.reason = "no other method can gain more than 0.1 % over fdatasync paced; time per flush: "
		"fsync -0.1 to +10 %, fsync_writethrough +0.1 to +25 %", .words = {METHOD_WORDS}},
	/* ---- undecided */
	{"nearly clear: twice is the least", {CURRENT(QUIET), FSYNC(SPEED(1.12, 1.049, 1.2))},
		SP_UNDECIDED, 1, 0.2,
		.reason = "fsync may still gain up to 20 % paced; a run about 2 times as long may decide"},
	{"20 times", {CURRENT(QUIET), FSYNC(SPEED(1.02, 0.9, 1.161))}, SP_UNDECIDED, 0, 0.161,
		.reason = "fsync may still gain up to 17 % paced; a run about 20 times as long may decide"},
	{"more than 20 times", {CURRENT(QUIET), FSYNC(SPEED(1.02, 0.9, 1.165))}, SP_UNDECIDED, 0, 0.165,
		.reason = "fsync may still gain up to 17 % paced; only a run more than 20 times "
		"as long, or one at a quieter time, may decide"},
	{"one has no interval", {CURRENT(QUIET), FSYNC(FEW(1.5)), THROUGH(MAYBE)}, SP_UNDECIDED, 2, NAN,
		.reason = "fsync may gain any amount paced; fsync_writethrough may still gain up to 7.5 %; "
		"a longer run may decide"},
	{"the other kind may gain over the best of two", {CURRENT(QUIET),
		FSYNC(SPEED(1.03, 1.02, 1.04)), THROUGH(SPEED(1.02, 1.01, 1.025)),
		OPEN_SYNC(SPEED(1.1, 1.08, 1.12))}, SP_UNDECIDED, 1, 0.12,
		.reason = "open_sync may still gain up to 9.9 % paced over the best method of the kind in "
		"use; a run about 3 times as long may decide"},
	{"the other kind may gain over the current one, the best of its own", {CURRENT(QUIET),
		FSYNC(SLOW), OPEN_SYNC(MAYBE)}, SP_UNDECIDED, 0, 0.075,
		.reason = "open_sync may still gain up to 7.5 % paced; a run about 5 times as long may "
		"decide"},
	/* the other kind gains 12 % over the current one, 2 % over the own one: that tells how long */
	{"both kinds may gain: the other one over the own one", {CURRENT(QUIET),
		FSYNC(SPEED(1.10, 1.045, 1.158)), OPEN_SYNC(SPEED(1.122, 1.10, 1.145))}, SP_UNDECIDED, 1,
		0.158,
		.reason = "fsync may still gain up to 16 % paced; open_sync may still gain up to 9.6 % "
		"over the best method of the kind in use; a run about 7 times as long may decide"},
	{"likely slow flushes", {CURRENT(QUIET, TAIL(15, 0)), FSYNC(FAST, TAIL(15, 2))}, SP_UNDECIDED,
		0, 0.246,
		.reason = "fsync gains more than the margin of 5.0 % paced, but 2 of its 15 rounds had a "
		"slow flush (0 of 15 with fdatasync), which may be chance; a run about 5 times as long may "
		"decide"},
	{"15 rounds", {CURRENT(FEW(1)), FSYNC(FEW(1.5))}, SP_UNDECIDED, 0, NAN,
		.reason = "too few samples to compare: 15 of 16; a run about 2 times as long may decide; "
		"WAL is busy",
		.words = {.unit = "", .when = " back to back", .load = "WAL is busy"}, .samples = 15},
	{"nothing compared", {CURRENT(FEW(1)), FSYNC(NONE)}, SP_UNDECIDED, 0, NAN,
		.reason = "nothing could be compared with fdatasync",
		.words = {.unit = "", .when = ""}, .samples = 15},
	{"nothing compared in all the time", {CURRENT(QUIET), FSYNC(NONE)}, SP_UNDECIDED, 0, NAN,
		.reason = "nothing could be compared with fdatasync", .words = {.unit = "", .when = ""}},
	/* ---- unsafe */
	{"not durable: the fastest of those that are", {CURRENT(QUIET, SYNCS_NOT), FSYNC(SLOW, SYNCS),
		THROUGH(EQUAL, NO_CACHE), OPEN_SYNC(FAST)}, SP_UNSAFE, 2, NAN,
		.reason = NOT_DURABLE "; fsync_writethrough is the fastest method whose syncs do"},
	{"not durable: the own kind first", {CURRENT(QUIET, SYNCS_NOT),
		METHOD("open_datasync", FAST, OTHER_KIND, SYNCS), FSYNC(SLOW, SYNCS),
		OPEN_SYNC(FAST, SYNCS)}, SP_UNSAFE, 2, NAN,
		.reason = NOT_DURABLE "; fsync is the fastest method of its kind whose syncs do"},
	{"not durable: only one of the other kind is", {CURRENT(QUIET, SYNCS_NOT),
		FSYNC(SLOW, SYNCS_NOT), OPEN_SYNC(FAST, SYNCS)}, SP_UNSAFE, 2, NAN,
		.reason = NOT_DURABLE "; open_sync is the fastest method whose syncs do"},
	{"fsync off", {CURRENT(QUIET, SYNCS_NOT), FSYNC(FAST, SYNCS)}, SP_UNSAFE, 0, NAN,
		.reason = "fsync is off: this server syncs nothing", .fsync_off = true},
	{"nothing is known to sync", {CURRENT(QUIET, SYNCS_NOT), FSYNC(FAST),
		OPEN_SYNC(FAST, SYNCS_NOT)}, SP_UNSAFE, -1, NAN,
		.reason = NOT_DURABLE " (tmpfs is in memory); no method is known whose syncs do: change "
		"the storage, not the setting",
		.words = {METHOD_WORDS, .syncs_nothing = "tmpfs is in memory", .load = "WAL is busy"}},
	/* ---- values: what else was compared is not known of all.  See also test_setting.c */
	{"a value", {METHOD("0", QUIET), METHOD("1000", FAST), METHOD("5000", SLOW)}, SP_SWITCH, 1,
		0.246,
		.reason = "with 1000 us there are 20 % more commits per second than with 0 us; commits per "
		"second: 1000 us +15 to +25 %, 5000 us -25 to -15 %; time per commit: 1000 us -17 to -9.1 "
		"%", VALUES(.rate = true,
		.other = (const sp_speed[]) {SPEED(1.15, 1.1, 1.2), FEW(1.1), QUIET})},
	{"a value, and noise", {METHOD("0", SPEED(1, 1 / 1.3, 1.3)), METHOD("1000", FAST)},
		SP_UNDECIDED, 1, 0.246,
		.reason = "1000 us gains more than the margin of 5.0 %, but 0 us differs from itself by up "
		"to 30 %; time per commit: 1000 us -20 to -13 %; a run about 3 times as long may decide",
		VALUES()},
	{"a value, and no control", {METHOD("0", NONE), METHOD("1000", FAST)}, SP_UNDECIDED, 1, 0.246,
		.reason = "1000 us gains more than the margin of 5.0 %, but the control, 0 us against "
		"itself, was not measured; time per commit: 1000 us -20 to -13 %; a longer run may decide",
		VALUES()},
	/* ---- the best choice while there is no proof */
	/* the expected gain must be more than 1 % */
	{"a gain of 0.9 %, known well", {CURRENT(QUIET), FSYNC(WITH_ERROR(1.009, 0.001)),
		THROUGH(WITH_ERROR(1, 0.1))}, BEST(0)},
	{"a gain of 1.1 %, known well", {CURRENT(QUIET), FSYNC(WITH_ERROR(1.011, 0.001)),
		THROUGH(WITH_ERROR(1, 0.1))}, BEST(1)},
	/* the larger the error, the more it is drawn towards none: 1.1 % becomes 0.98 % */
	{"a gain of 1.1 %, known less well", {CURRENT(QUIET), FSYNC(WITH_ERROR(1.011, 0.035))},
		BEST(0)},
	{"a large gain, known badly", {CURRENT(QUIET), FSYNC(WITH_ERROR(1.2, 0.1))}, BEST(1)},
	{"a large gain, known badly, and a smaller one, known well", {CURRENT(QUIET),
		FSYNC(WITH_ERROR(1.2, 0.09)), THROUGH(SPEED(1.15, 1.02, 1.16))}, BEST(2)},
	/* the chance of a loss of more than 1 % must be at most a tenth */
	{"5 % and an error of 2 %", {CURRENT(QUIET), FSYNC(WITH_ERROR(1.05, 0.02))}, BEST(1)},
	{"5 % and an error of 5 %", {CURRENT(QUIET), FSYNC(WITH_ERROR(1.05, 0.05))}, BEST(0)},
	/* the default of the platform needs no odds, but must not seem slower */
	{"data only, hardly faster, known badly", {FSYNC(QUIET),
		METHOD("fdatasync", WITH_ERROR(1.001, 0.1), DATA_ONLY)}, BEST(1)},
	{"data only, seems slower", {FSYNC(QUIET),
		METHOD("fdatasync", WITH_ERROR(0.999, 0.1), DATA_ONLY)}, BEST(0)},
	{"data only, and the current one is, too", {CURRENT(QUIET, DATA_ONLY),
		FSYNC(WITH_ERROR(1.03, 0.05), DATA_ONLY)}, BEST(0)},
};

static const sp_words method_words = {METHOD_WORDS};

/* The candidates of a row, the current one last: it may be any of them. */
static sp_comparison
compare_row(const judge_case *row)
{
	sp_comparison comparison = {
		.margin = 0.05, .fsync_off = row->fsync_off, .samples = row->samples ? row->samples : 100
	};

	while (comparison.count < MAX_CANDIDATES && row->candidates[comparison.count].name != NULL)
		comparison.count++;
	for (int i = 0; i < comparison.count; i++)
		comparison.candidates[i] = row->candidates[(i + 1) % comparison.count];
	comparison.current = comparison.count - 1;
	/* behind the last, what would decide all if it were looked at */
	comparison.candidates[comparison.count] =
		(sp_candidate) {.speed = SPEED(8, 1e-9, 9), .standing = SP_OPEN};
	return comparison;
}

/* Take the list of intervals out of a reason. */
static void
cut_list(char reason[SP_REASON_SIZE])
{
	char	   *begin = strstr(reason, "; time per flush: ");
	char	   *end = begin ? begin + 1 + strcspn(begin + 1, ";") : NULL;

	if (begin)
		memmove(begin, end, strlen(end) + 1);
}

static void
check_reason(const judge_case *row, const sp_comparison *comparison, const sp_judgement *judgement)
{
	const sp_words *words = row->words.unit ? &row->words : &method_words;
	bool		has_best = row->verdict == SP_UNDECIDED && row->best > 0;
	char		reason[SP_REASON_SIZE];
	char		expected[SP_REASON_SIZE];

	sp_explain(comparison, judgement, words, reason);
	if (words == &method_words)
		cut_list(reason);
	snprintf(expected, sizeof(expected), "%s%s%s%s", row->reason,
			 has_best ? "; the best choice so far is " : "",
			 has_best ? row->candidates[row->best].name : "", has_best ? words->unit : "");
	if (strcmp(reason, expected) != 0)
		fail_msg("%s: the reason is \"%s\"", row->scenario, reason);
}

TEST(judges_by_the_rule)
{
	FOR_EACH(row, judge_cases)
	{
		bool		moves = row->verdict == SP_SWITCH || row->verdict == SP_UNSAFE;
		bool		undecided = row->verdict == SP_UNDECIDED;
		sp_comparison comparison = compare_row(row);
		int			best = row->best < 0 ? -1 : (row->best + comparison.current) % comparison.count;
		sp_judgement judgement;

		sp_judge(&comparison, &judgement);
		if (judgement.verdict != row->verdict || judgement.best != best ||
			judgement.recommended != (moves ? best : comparison.current) ||
			(row->reason && !is_same(judgement.max_regret, row->max_regret)) ||
			sp_is_settled(&comparison, &judgement) != (!undecided && !row->unsettled) ||
			(!undecided && !isnan(judgement.times_as_long)) ||
			(row->reason && strncmp(row->reason, "nothing could", 13) == 0 &&
			 (judgement.times_as_long == 1) != (comparison.samples >= 16)))
			fail_msg("%s: %s, method %d, best %d, staying costs %g", row->scenario,
					 sp_verdict_names[judgement.verdict], judgement.recommended, judgement.best,
					 judgement.max_regret);
		if (row->reason)
			check_reason(row, &comparison, &judgement);
	}
}

TEST(needs_enough_more_slow_flushes)
{
	enum
	{
		NO, MAY, DOES
	};
	static const struct
	{
		sp_tail		tail;
		sp_tail		other;
		int			exceeds;
	}			rows[] = {
		/* no round, no slow one, all are slow, equal, fewer */
		{{0, 0}, {0, 0}, NO}, {{0, 0}, {100, 50}, NO}, {{100, 50}, {0, 0}, NO},
		{{1000, 0}, {1000, 0}, NO}, {{1000, 1000}, {1000, 1000}, NO},
		{{1000, 30}, {1000, 30}, NO}, {{1000, 10}, {1000, 30}, NO}, {{15, 0}, {15, 2}, NO},
		{{1000, 1000}, {1000, 0}, DOES},
		/* of so many slow rounds a half is expected: three deviations of the sign test */
		{{500, 9}, {500, 0}, MAY}, {{500, 10}, {500, 0}, DOES}, {{500, 16}, {500, 3}, MAY},
		{{500, 17}, {500, 3}, DOES}, {{1000, 78}, {1000, 45}, MAY}, {{1000, 79}, {1000, 45}, DOES},
		/* with twice the rounds, two thirds are expected */
		{{1000, 18}, {500, 0}, MAY}, {{1000, 19}, {500, 0}, DOES},
		{{500, 4}, {1000, 0}, MAY}, {{500, 5}, {1000, 0}, DOES},
		/* significant, but at most half a percent more */
		{{100000, 500}, {100000, 100}, NO}, {{100000, 600}, {100000, 100}, NO},
		{{100000, 601}, {100000, 100}, DOES}, {{1000000, 510000}, {1000000, 500000}, DOES},
		{{1000000, 504000}, {1000000, 500000}, NO}, {{1000, 2}, {1000, 0}, NO},
		/* likely */
		{{15, 0}, {15, 0}, NO}, {{15, 1}, {15, 0}, NO}, {{15, 2}, {15, 0}, MAY},
		{{100, 3}, {100, 1}, NO}, {{100, 6}, {100, 2}, MAY},
	};

	FOR_EACH(row, rows)
	{
		const sp_tail *tail = &row->tail;
		const sp_tail *other = &row->other;

		if (sp_tail_exceeds(tail, other) != (row->exceeds == DOES) ||
			sp_tail_may_exceed(tail, other) != (row->exceeds != NO))
			fail_msg("row %d", (int) (row - rows));
		/* more rounds can decide only what is likely */
		assert_true(sp_tail_rounds_needed(tail, other) >= 1);
		assert_true(row->exceeds == MAY || sp_tail_rounds_needed(tail, other) <= 1);
		/* never both ways */
		assert_false(row->exceeds == DOES && sp_tail_exceeds(other, tail));
	}
}

TEST_MAIN(NULL, NULL)
