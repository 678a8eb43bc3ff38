/*-------------------------------------------------------------------------
 *
 * test_verdict.c
 *	  Tests of verdict.c, projection.c and reason.c of src/engine/verdict.
 *
 * The rules are tested by a table of scenarios.  How often they err is in
 * test_simulation.c, the best choice in test_choice.c, slow flushes alone in
 * test_tail.c, and intervals in test_interval.c.
 *
 *-------------------------------------------------------------------------
 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "engine/verdict/reason.h"
#include "engine/verdict/verdict.h"

#define MARGIN		0.05
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
#define TAILED(its_name, paced_tail, saturated_tail, ...) \
	{.name = its_name, .speed = {__VA_ARGS__}, .tail = {paced_tail, saturated_tail}, \
		.durable = SP_DURABLE_UNKNOWN}
#define TAIL(all, slow) {.rounds = all, .slow_rounds = slow}
#define CURRENT(...) METHOD("fdatasync", __VA_ARGS__)

/* A scenario for sp_judge.  The first contender is the current method. */
typedef struct judge_case
{
	const char *scenario;
	sp_contender contenders[MAX_CONTENDERS];
	sp_verdict	verdict;
	int			recommended;
	bool		settled;
	const char *reason[3];		/* must be part of it */
} judge_case;

/* The cluster's interval is not known, the probe's is; so the paced regime decides. */
static const sp_pace every_5_ms = {NAN, 5000, NAN};

/* Here the saturated one does: flushes take 60 % of the time. */
static const sp_pace busy_pace = {500, 5000, 300};

/* Scenarios of every_5_ms. */
static const judge_case judge_cases[] = {
	{"faster in both",
		{CURRENT(QUIET, QUIET), METHOD("fsync", FAST, SPEED(1.3, 1.2, 1.4)),
			METHOD("open_sync", SLOW, SLOW)},
		SP_SWITCH, 1, true,
		{"fsync takes 17 % less time per flush with a flush every 5 ms (-20 to -13)",
			"and makes 30 % more flushes a second back to back (+20 to +40)"}},
	{"faster back to back, equal when paced",
		{CURRENT(QUIET, QUIET), METHOD("fsync", EQUAL_SPEED, FAST)},
		SP_SWITCH, 1, true,
		{"20 % more flushes a second back to back"}},
	{"faster back to back, paced not known to be equal",
		{CURRENT(QUIET, QUIET), METHOD("fsync", SPEED(0.97, 0.93, 1.01), FAST)},
		SP_UNDECIDED, 0, false,
		{"no method is more than 1 % faster with a flush every 5 ms, or 25 % back to back; "
			"not settled: fsync: probe "}},
	/* what a cluster may come to know at its peak bars a gain at its usual pace */
	{"faster when paced, slower back to back",
		{CURRENT(QUIET, QUIET), METHOD("fsync", FAST, SLOW)},
		SP_KEEP, 0, true,
		{"no other method that can be measured is worth a switch from fdatasync; "
			"fsync takes 17 % less time per flush with a flush every 5 ms (-20 to -13), but it "
			"makes 20 % fewer flushes a second back to back (-25 to -15)"}},
	{"faster when paced, perhaps slower back to back",
		{CURRENT(QUIET, QUIET), METHOD("fsync", FAST, SPEED(0.94, 0.92, 0.96))},
		SP_UNDECIDED, 0, false,
		{"no method is more than 25 % faster with a flush every 5 ms, or 0 % back to back; "
			"not settled: fsync"}},
	{"faster when paced, a little slower back to back",
		{CURRENT(QUIET, QUIET), METHOD("fsync", FAST, SPEED(0.96, 0.93, 0.99))},
		SP_SWITCH, 1, true,
		{"fsync takes 17 % less", "makes 4 % fewer flushes a second back to back (-7 to -1)"}},
	{"one faster when paced but slower back to back, one faster in both by less",
		{CURRENT(QUIET, QUIET), METHOD("fsync", SPEED(1.3, 1.2, 1.4), SLOW),
			METHOD("open_sync", FAST, EQUAL_SPEED)},
		SP_SWITCH, 2, true,
		{"open_sync takes 17 % less"}},
	{"one barred, one equal",
		{CURRENT(QUIET, QUIET), METHOD("fsync", FAST, SLOW),
			METHOD("open_sync", EQUAL_SPEED, EQUAL_SPEED)},
		SP_TIE, 0, true,
		{"as fast as fdatasync: open_sync; fsync takes 17 % less"}},
	{"one barred, one open",
		{CURRENT(QUIET, QUIET), METHOD("fsync", FAST, SLOW),
			METHOD("open_sync", SPEED(1.02, 0.98, 1.065), EQUAL_SPEED)},
		SP_UNDECIDED, 0, false,
		{"not settled: open_sync"}},
	{"one barred, one slower",
		{CURRENT(QUIET, QUIET), METHOD("fsync", FAST, SLOW), METHOD("open_sync", SLOW, SLOW)},
		SP_KEEP, 0, true,
		{"worth a switch from fdatasync; fsync takes 17 % less"}},
	{"slower when paced, faster back to back: the pace decides",
		{CURRENT(QUIET, QUIET), METHOD("fsync", SLOW, FAST)},
		SP_KEEP, 0, true,
		{"every other method that can be measured is slower than fdatasync",
			"fsync would make 20 % more flushes a second back to back (+15 to +25)",
			"but not with a flush every 5 ms"}},
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
		{"open_sync takes 23 % less"}},
	{"one faster, a better one not settled",
		{CURRENT(QUIET, QUIET), METHOD("fsync", FAST, FAST),
			METHOD("open_sync", SPEED(1.3, 1.0, 1.6), EQUAL_SPEED)},
		SP_SWITCH, 1, false,
		{"fsync takes 17 % less"}},
	{"one faster, a worse one not settled",
		{CURRENT(QUIET, QUIET), METHOD("fsync", FAST, FAST),
			METHOD("open_sync", SPEED(1.1, 1.0, 1.2), EQUAL_SPEED)},
		SP_SWITCH, 1, true,
		{"fsync takes 17 % less"}},
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
		{"no method is more than 3 % faster with a flush every 5 ms, or 9 % back to back"}},
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
		{"no method is more than 9 % faster with a flush every 5 ms"}},
	/* a gain below twice the margin is ignored to keep a method, but is enough to switch */
	{"faster back to back by less than twice the margin",
		{CURRENT(QUIET, QUIET), METHOD("fsync", EQUAL_SPEED, SPEED(1.08, 1.06, 1.095))},
		SP_SWITCH, 1, true,
		{"8 % more flushes a second back to back (+6 to +9)"}},
	{"clear in spite of the noise",
		{CURRENT(SPEED(1, 0.92, 1.08), QUIET), METHOD("fsync", FAST, FAST)},
		SP_SWITCH, 1, true,
		{"fsync takes 17 % less"}},
	{"equal or slower, but not faster",
		{CURRENT(QUIET, QUIET), METHOD("open_datasync", SPEED(0.98, 0.93, 1.03), EQUAL_SPEED),
			METHOD("fsync", SLOW, SLOW)},
		SP_KEEP, 0, false,
		{"no method is more than 3 % faster with a flush every 5 ms, or 3 % back to back; "
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
		{"fsync takes 17 % less"}},
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
		{"no method is more than 3 % faster with a flush every 5 ms, or 3 % back to back; "
			"as fast as fdatasync: open_sync"}},
	{"one faster, a faster one does not sync",
		{SYNCS("fdatasync", QUIET, QUIET), SYNCS_NOT("fsync", SPEED(5, 1, 9), FAST),
			METHOD("open_sync", FAST, FAST)},
		SP_SWITCH, 2, true,
		{"open_sync takes 17 % less"}},
	{"too few rounds back to back",
		{CURRENT(QUIET, FEW(1)), METHOD("fsync", FAST, FEW(1.5))},
		SP_UNDECIDED, 0, false,
		{"too few rounds"}},

	/* slow flushes */
	{"faster, but with slow flushes when paced",
		{TAILED("fdatasync", TAIL(1000, 2), TAIL(1000, 0), QUIET, QUIET),
			TAILED("fsync", TAIL(1000, 30), TAIL(1000, 0), FAST, FAST)},
		SP_KEEP, 0, true,
		{"worth a switch from fdatasync; fsync takes 17 % less time per flush with a flush every "
			"5 ms (-20 to -13), but 3.0 % of its paced rounds have a flush of more than five "
			"times the median (0.2 % with fdatasync)"}},
	{"faster, but with slow flushes back to back",
		{TAILED("fdatasync", TAIL(1000, 2), TAIL(1000, 10), QUIET, QUIET),
			TAILED("fsync", TAIL(1000, 2), TAIL(1000, 50), FAST, FAST)},
		SP_KEEP, 0, true,
		{"5.0 % of its saturated rounds have a flush of more than five times the median "
			"(1.0 % with fdatasync)"}},
	{"faster, with fewer slow flushes",
		{TAILED("fdatasync", TAIL(1000, 30), TAIL(1000, 50), QUIET, QUIET),
			TAILED("fsync", TAIL(1000, 2), TAIL(1000, 0), FAST, FAST)},
		SP_SWITCH, 1, true,
		{"fsync takes 17 % less"}},
	{"faster, with more slow flushes by chance",
		{TAILED("fdatasync", TAIL(100, 1), TAIL(100, 1), QUIET, QUIET),
			TAILED("fsync", TAIL(100, 3), TAIL(100, 2), FAST, FAST)},
		SP_SWITCH, 1, true,
		{"fsync takes 17 % less"}},
	/* fewer rounds than it takes to prove them */
	{"faster, perhaps with more slow flushes back to back",
		{TAILED("fdatasync", TAIL(75, 0), TAIL(15, 0), QUIET, QUIET),
			TAILED("fsync", TAIL(75, 1), TAIL(15, 6), FAST, FAST)},
		SP_UNDECIDED, 0, false,
		{"fsync is faster, but 6 of 15 saturated rounds had a slow flush (0 of 15 with fdatasync), "
			"too few to tell; no method is more than",
			"not settled: fsync: probe 2 times as long"}},
	{"faster, perhaps with more slow flushes when paced",
		{TAILED("fdatasync", TAIL(75, 0), TAIL(15, 0), QUIET, QUIET),
			TAILED("fsync", TAIL(75, 2), TAIL(15, 0), FAST, FAST)},
		SP_UNDECIDED, 0, false,
		{"fsync is faster, but 2 of 75 paced rounds had a slow flush (0 of 75 with fdatasync)",
			"not settled: fsync: probe 5 times as long"}},
	{"one faster, a better one perhaps with more slow flushes",
		{TAILED("fdatasync", TAIL(75, 0), TAIL(15, 0), QUIET, QUIET),
			TAILED("fsync", TAIL(75, 0), TAIL(15, 0), FAST, FAST),
			TAILED("open_sync", TAIL(75, 0), TAIL(15, 6), SPEED(1.3, 1.2, 1.4), FAST)},
		SP_SWITCH, 1, false,
		{"fsync takes 17 % less"}},
	{"faster, with slightly more slow flushes",
		{TAILED("fdatasync", TAIL(100000, 100), TAIL(100000, 100), QUIET, QUIET),
			TAILED("fsync", TAIL(100000, 500), TAIL(100000, 500), FAST, FAST)},
		SP_SWITCH, 1, true,
		{"fsync takes 17 % less"}},
	{"one faster but with slow flushes, one faster by less",
		{TAILED("fdatasync", TAIL(1000, 2), TAIL(1000, 0), QUIET, QUIET),
			TAILED("fsync", TAIL(1000, 30), TAIL(1000, 0), SPEED(1.3, 1.2, 1.4), FAST),
			TAILED("open_sync", TAIL(1000, 2), TAIL(1000, 0), FAST, FAST)},
		SP_SWITCH, 2, true,
		{"open_sync takes 17 % less"}},
	{"equal, with slow flushes",
		{TAILED("fdatasync", TAIL(1000, 2), TAIL(1000, 0), QUIET, QUIET),
			TAILED("fsync", TAIL(1000, 30), TAIL(1000, 0), EQUAL_SPEED, EQUAL_SPEED)},
		SP_TIE, 0, true,
		{"as fast as fdatasync: fsync"}},
	{"slower, with slow flushes",
		{TAILED("fdatasync", TAIL(1000, 2), TAIL(1000, 0), QUIET, QUIET),
			TAILED("fsync", TAIL(1000, 30), TAIL(1000, 0), SLOW, SLOW)},
		SP_KEEP, 0, true,
		{"every other method that can be measured is slower than fdatasync"}},
};

/* Scenarios that depend on the pace. */
static const struct
{
	sp_pace		pace;
	judge_case	row;
}			pace_cases[] =
{
	/* a cluster that flushes for 60 % of the time, or for another share */
	{{500, 5000, 300}, {"saturated: faster back to back, slower when paced",
		{CURRENT(QUIET, QUIET), METHOD("fsync", SLOW, FAST)},
		SP_KEEP, 0, true,
		{"worth a switch from fdatasync; fsync makes 20 % more flushes a second back to back "
			"(+15 to +25), but it takes 25 % more time per flush with a flush every 5 ms "
			"(+18 to +33)",
			"; back to back decides, since this cluster flushes 60 % of the time"}}},
	{{500, 5000, 300}, {"saturated: slower back to back, faster when paced",
		{CURRENT(QUIET, QUIET), METHOD("fsync", FAST, SLOW)},
		SP_KEEP, 0, true,
		{"every other method that can be measured is slower than fdatasync; fsync would take "
			"17 % less time per flush with a flush every 5 ms (-20 to -13), but is not faster "
			"back to back",
			"; back to back decides"}}},
	{{500, 5000, 300}, {"saturated: faster in both",
		{CURRENT(QUIET, QUIET), METHOD("fsync", SPEED(1.3, 1.2, 1.4), FAST)},
		SP_SWITCH, 1, true,
		{"fsync makes 20 % more flushes a second back to back (+15 to +25) and takes "
			"23 % less time per flush with a flush every 5 ms (-29 to -17)",
			"; back to back decides"}}},
	{{500, 5000, 300}, {"saturated: several faster: the best back to back",
		{CURRENT(QUIET, QUIET), METHOD("fsync", FAST, SPEED(2, 1.9, 2.1)),
			METHOD("open_sync", SPEED(1.3, 1.2, 1.4), FAST)},
		SP_SWITCH, 1, true,
		{"fsync makes ", "and takes 17 % less"}}},
	{{500, 5000, 300}, {"saturated: equal, when paced within twice the margin",
		{CURRENT(QUIET, QUIET), METHOD("fsync", SPEED(1, 0.91, 1.09), EQUAL_SPEED)},
		SP_TIE, 0, true,
		{"no method is more than 9 % faster with a flush every 5 ms, or 3 % back to back",
			"; back to back decides"}}},
	{{500, 5000, 300}, {"saturated: equal, back to back not within the margin",
		{CURRENT(QUIET, QUIET), METHOD("fsync", EQUAL_SPEED, SPEED(1, 0.91, 1.09))},
		SP_UNDECIDED, 0, false,
		{"not settled: fsync", "; back to back decides"}}},
	{{500, 5000, 300}, {"saturated: noise when paced is no matter",
		{CURRENT(SPEED(1, 0.92, 1.08), QUIET), METHOD("fsync", SLOW, SLOW)},
		SP_KEEP, 0, true,
		{"slower than fdatasync"}}},
	{{500, 5000, 300}, {"saturated: noise back to back",
		{CURRENT(QUIET, SPEED(1, 0.92, 1.08)), METHOD("fsync", SLOW, SLOW)},
		SP_UNDECIDED, 0, false,
		{"the noise is 8.3 %"}}},
	{{500, 5000, 250}, {"half of the time: the paced regime decides",
		{CURRENT(QUIET, QUIET), METHOD("fsync", SLOW, FAST)},
		SP_KEEP, 0, true,
		{"every other method that can be measured is slower than fdatasync; fsync would make "
			"20 % more flushes a second back to back (+15 to +25), but not with a flush every "
			"5 ms"}}},
	{{500, 5000, 250.01}, {"a little more than half of the time",
		{CURRENT(QUIET, QUIET), METHOD("fsync", SLOW, FAST)},
		SP_KEEP, 0, true,
		{"fsync makes 20 % more", "; back to back decides, since this cluster flushes 50 % of"}}},
	{{500, 5000, 1000}, {"more than all of the time",
		{CURRENT(QUIET, QUIET), METHOD("fsync", SLOW, FAST)},
		SP_KEEP, 0, true,
		{"; back to back decides, since this cluster flushes 100 % of the time"}}},
	{{NAN, 5000, 300}, {"the cluster's interval is not known",
		{CURRENT(QUIET, QUIET), METHOD("fsync", SLOW, FAST)},
		SP_KEEP, 0, true,
		{"every other method that can be measured is slower than fdatasync; fsync would make "}}},
	{{500, 5000, NAN}, {"the flush time is not known",
		{CURRENT(QUIET, QUIET), METHOD("fsync", SLOW, FAST)},
		SP_KEEP, 0, true,
		{"every other method that can be measured is slower than fdatasync; fsync would make "}}},

	/* the pace that was achieved */
	{{NAN, NAN, NAN}, {"the probe's interval is not known",
		{CURRENT(QUIET, QUIET), METHOD("fsync", FAST, FAST)},
		SP_SWITCH, 1, true,
		{"fsync takes 17 % less time per flush when paced (-20 to -13) and makes"}}},
	{{NAN, 512, NAN}, {"a fast pace",
		{CURRENT(QUIET, QUIET), METHOD("fsync", FAST, FAST)},
		SP_SWITCH, 1, true,
		{"time per flush with a flush every 0.51 ms (-20"}}},
	{{NAN, 5096, NAN}, {"an odd pace",
		{CURRENT(QUIET, QUIET), METHOD("fsync", FAST, FAST)},
		SP_SWITCH, 1, true,
		{"time per flush with a flush every 5.1 ms (-20"}}},
	{{NAN, 123900, NAN}, {"a slow pace",
		{CURRENT(QUIET, QUIET), METHOD("fsync", FAST, FAST)},
		SP_SWITCH, 1, true,
		{"time per flush with a flush every 124 ms (-20"}}},
};

/* The contenders of a row, classified; or the same in reverse order. */
static sp_comparison
compare_row(const sp_contender contenders[MAX_CONTENDERS], const sp_pace *pace, bool reversed)
{
	sp_comparison comparison = {.margin = MARGIN, .pace = *pace};

	while (comparison.count < MAX_CONTENDERS && contenders[comparison.count].name != NULL)
		comparison.count++;
	for (int i = 0; i < comparison.count; i++)
		comparison.contenders[i] = contenders[reversed ? comparison.count - 1 - i : i];
	comparison.current = reversed ? comparison.count - 1 : 0;
	sp_classify(&comparison);
	return comparison;
}

static void
check_case(const judge_case *row, const sp_pace *pace)
{
	sp_comparison comparison = compare_row(row->contenders, pace, false);
	sp_judgement judgement;
	char		reason[SP_REASON_SIZE];

	sp_judge(&comparison, &judgement);
	sp_explain(&comparison, &judgement, reason);
	if (judgement.verdict != row->verdict || judgement.recommended != row->recommended)
		fail_msg("%s: %s, method %d: %s", row->scenario,
				 sp_verdict_name(judgement.verdict), judgement.recommended, reason);
	if (sp_judgement_settled(&comparison, &judgement) != row->settled)
		fail_msg("%s: settled is wrong", row->scenario);
	for (size_t k = 0; k < lengthof(row->reason) && row->reason[k] != NULL; k++)
	{
		if (strstr(reason, row->reason[k]) == NULL)
			fail_msg("%s: the reason is \"%s\"", row->scenario, reason);
	}
	/* only the regime that is not the usual one is named */
	assert_int_equal(strstr(reason, "back to back decides") != NULL,
					 comparison.deciding == SP_SATURATED);
}

static void
judges_by_the_rules(void **state)
{
	(void) state;
	for (size_t i = 0; i < lengthof(judge_cases); i++)
		check_case(&judge_cases[i], &every_5_ms);
	for (size_t i = 0; i < lengthof(pace_cases); i++)
		check_case(&pace_cases[i].row, &pace_cases[i].pace);
}

/* The verdict does not depend on the order of the contenders. */
static void
check_reversed(const judge_case *row, const sp_pace *pace)
{
	sp_comparison comparison = compare_row(row->contenders, pace, true);
	sp_judgement judgement;

	sp_judge(&comparison, &judgement);
	assert_int_equal(judgement.verdict, row->verdict);
	assert_int_equal(judgement.recommended, row->recommended < 0 ? -1 :
					 comparison.count - 1 - row->recommended);
}

static void
judges_any_order(void **state)
{
	(void) state;
	for (size_t i = 0; i < lengthof(judge_cases); i++)
		check_reversed(&judge_cases[i], &every_5_ms);
	for (size_t i = 0; i < lengthof(pace_cases); i++)
		check_reversed(&pace_cases[i].row, &pace_cases[i].pace);
}

/* A reason never favours a method that does not sync. */
static void
praises_no_method_that_does_not_sync(void **state)
{
	static const sp_contender contenders[MAX_CONTENDERS] = {
		SYNCS("fdatasync", QUIET, QUIET), SYNCS_NOT("fsync", SLOW, SPEED(5, 4, 6)),
		METHOD("open_sync", SLOW, SLOW)
	};
	sp_comparison comparison = compare_row(contenders, &every_5_ms, false);
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
	char		name[1200];
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
	comparison = compare_row(contenders, &every_5_ms, false);
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
	/* slow flushes are proven then, or were chance */
	{"faster, perhaps with more slow flushes",
		{TAILED("fdatasync", TAIL(75, 0), TAIL(15, 0), QUIET, QUIET),
			TAILED("fsync", TAIL(75, 0), TAIL(15, 6), FAST, FAST)},
		{1.01, 1.01}, true},
	{"perhaps faster, and perhaps with more slow flushes",
		{TAILED("fdatasync", TAIL(75, 0), TAIL(15, 0), QUIET, QUIET),
			TAILED("fsync", TAIL(75, 0), TAIL(15, 6), SPEED(1.2, 0.9, 1.6), EQUAL_SPEED)},
		{1.2, 1.2}, false},
	{"barred, and another one far from clear",
		{TAILED("fdatasync", TAIL(75, 0), TAIL(150, 0), QUIET, QUIET),
			TAILED("fsync", TAIL(75, 0), TAIL(150, 60), FAST, FAST),
			METHOD("open_sync", SPEED(1, 0.8, 1.25), EQUAL_SPEED)},
		{1.2, 1.2}, false},
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
			sp_comparison comparison =
				compare_row(projection_cases[i].contenders, &every_5_ms, reversed);

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
		sp_comparison comparison = compare_row(contenders, &every_5_ms, false);

		assert_int_equal(comparison.contenders[0].class, SP_CURRENT);
		if ((comparison.contenders[1].class == SP_SLOWER) != rows[i].excluded)
			fail_msg("%s", rows[i].contender.name);
	}
}

/* Which regime decides, and by which share of the time? */
static void
knows_which_regime_decides(void **state)
{
	static const struct
	{
		sp_pace		pace;
		double		load;		/* NAN: unknown */
		sp_regime	deciding;
	}			rows[] = {
		{{1000, 5000, 100}, 0.1, SP_PACED},
		{{1000, 5000, 500}, 0.5, SP_PACED},
		{{1000, 5000, 501}, 0.501, SP_SATURATED},
		{{1000, 5000, 4000}, 4, SP_SATURATED},
		{{NAN, 5000, 4000}, NAN, SP_PACED},
		{{1000, 5000, NAN}, NAN, SP_PACED},
		{{NAN, NAN, NAN}, NAN, SP_PACED},
		/* what the probe achieved is not the pace of the cluster */
		{{10000, 500, 400}, 0.04, SP_PACED},
	};

	(void) state;
	for (size_t i = 0; i < lengthof(rows); i++)
	{
		sp_contender contenders[MAX_CONTENDERS] = {CURRENT(QUIET, QUIET)};
		sp_comparison comparison = compare_row(contenders, &rows[i].pace, false);
		double		load = sp_pace_load(&rows[i].pace);

		assert_int_equal(comparison.deciding, rows[i].deciding);
		assert_true(isnan(rows[i].load) ? isnan(load) : fabs(load - rows[i].load) < 1e-9);
	}
	assert_string_equal(sp_regime_name(SP_PACED), "paced");
	assert_string_equal(sp_regime_name(SP_SATURATED), "saturated");
}

/*
 * Swap the regimes, and let the other one decide: everything else is the same.  Only
 * the words differ.
 */
static void
treats_the_regimes_alike(void **state)
{
	(void) state;
	for (size_t i = 0; i < lengthof(judge_cases); i++)
	{
		sp_comparison comparison = compare_row(judge_cases[i].contenders, &every_5_ms, false);
		sp_comparison swapped = comparison;
		sp_judgement judgement;
		sp_judgement other;

		for (int c = 0; c < swapped.count; c++)
		{
			for (int r = 0; r < SP_REGIMES; r++)
			{
				swapped.contenders[c].speed[r] = comparison.contenders[c].speed[SP_SATURATED - r];
				swapped.contenders[c].tail[r] = comparison.contenders[c].tail[SP_SATURATED - r];
			}
		}
		swapped.pace = busy_pace;
		sp_classify(&swapped);
		assert_int_equal(swapped.deciding, SP_SATURATED);
		sp_judge(&comparison, &judgement);
		sp_judge(&swapped, &other);
		for (int c = 0; c < swapped.count; c++)
			assert_int_equal(swapped.contenders[c].class, comparison.contenders[c].class);
		if (judgement.verdict != other.verdict || judgement.recommended != other.recommended ||
			judgement.best != other.best || judgement.by_exclusion != other.by_exclusion)
			fail_msg("%s: %s and %s", judge_cases[i].scenario,
					 sp_verdict_name(judgement.verdict), sp_verdict_name(other.verdict));
		for (int r = 0; r < SP_REGIMES; r++)
			assert_int_equal(sp_regime_is_open(&comparison, r),
							 sp_regime_is_open(&swapped, SP_SATURATED - r));
		assert_int_equal(sp_judgement_settled(&comparison, &judgement),
						 sp_judgement_settled(&swapped, &other));
		assert_int_equal(sp_projection_settles(&comparison, (double[]) {1.5, 4}),
						 sp_projection_settles(&swapped, (double[]) {4, 1.5}));
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
		sp_comparison comparison = compare_row(rows[i].contenders, &every_5_ms, false);

		for (int r = 0; r < SP_REGIMES; r++)
		{
			if (sp_regime_is_open(&comparison, r) != rows[i].open[r])
				fail_msg("%s: regime %d", rows[i].scenario, r);
		}
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
		cmocka_unit_test(knows_which_regime_decides),
		cmocka_unit_test(treats_the_regimes_alike),
		cmocka_unit_test(knows_which_regime_is_open),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("verdict", tests, NULL, NULL);
}
