/*
 * Tests of src/engine/pgbench on captured and made-up outputs and logs.
 *
 * It must not: start pgbench.
 */
#include "fixtures.h"

#include "engine/pgbench/pgbench.h"

#define DONE "number of transactions actually processed: 7\n"
#define TPS "tps = 3.500000 (without initial connection time)\n"
#define HEADING "statement latencies in milliseconds and failures:\n"

static const struct
{
	const char *text;
	bool		understood;
	sp_pgbench_summary summary;
	const char *statements;		/* milliseconds, failures and the text of each */
}			summaries[] =
{
	{"@pgbench/15_prepared.out", true, {22079, 0, 0.534, 7368.191664},
		"0.001 0 \\set id random(1, 1000)\n0.038 0 BEGIN;\n"
		"0.055 0 INSERT INTO t AS old (id, n) VALUES (:id, 1)\n"
		/* pgbench itself cuts it */
		"0.077 0 SELECT n FROM t WHERE id = :id AND n > 0 AND 'a long statement is cut by "
		"pgbench itself' <> 'at a hundred and twenty-seven byte\n0.363 0 COMMIT;\n"},
	{"@pgbench/15_connect.out", true, {400, 0, 0.435, 547.084858}, "0.435 0 SELECT 1;\n"},
	{"@pgbench/15_serialization.out", true, {58, 142, 0.520, 1682.720204},
		"0.076 0 BEGIN ISOLATION LEVEL REPEATABLE READ;\n0.090 0 SELECT n FROM hot;\n"
	"0.069 142 UPDATE hot SET n = n + 1;\n0.332 0 COMMIT;\n"},
	/* nothing was done: "0 (NaN%)", and no tps; since 18 no failures either */
	{"@pgbench/15_broken.out", true, {0, 0, NAN, 0}, ""},
	{"@pgbench/19_late.out", true, {0, -1, NAN, 0}, ""},
	{"", false, {-1, -1, NAN, NAN}, ""}, {DONE, false, {7, -1, NAN, NAN}, ""},
	{DONE "tps = 3.500000 (cut off", false, {7, -1, NAN, NAN}, ""},
	{TPS, false, {-1, -1, NAN, 3.5}, ""}, {DONE "tps = 3\n", false, {7, -1, NAN, NAN}, ""},
	{DONE "tps = inf (without)\n", false, {7, -1, NAN, NAN}, ""},
	{"latency average = -0.500 ms\n" DONE TPS, true, {7, -1, NAN, 3.5}, ""},
	/* statements that look like other lines, without a time, of several lines, cut off */
	{DONE TPS HEADING "    0.070  2 tps = 5 (without)\n  NaN 1 X\n"
		"  \\set i (1 + \\\n   2)\n\t3 0 Z\n  1 0 Y", true, {7, -1, NAN, 3.5},
		"0.070 2 tps = 5 (without)\nnan 1 X\n"},
	{HEADING DONE TPS, false, {-1, -1, NAN, NAN}, ""},
};

static void
append_statement(void *context, double latency_ms, int64_t failures, const char *text)
{
	char	   *statements = context;

	sprintf(statements + strlen(statements), "%.*f %lld %s\n", isnan(latency_ms) ? 0 : 3,
			latency_ms, (long long) failures, text);
}

TEST(reads_summaries)
{
	FOR_EACH(row, summaries)
	{
		const sp_pgbench_summary *expected = &row->summary;
		char		statements[4096] = "";
		char	   *text = fixture_text(row->text);
		sp_pgbench_summary got;

		if (sp_pgbench_parse_summary(text, &got, append_statement, statements) !=
			row->understood || got.transactions != expected->transactions ||
			got.failed != expected->failed || !is_same(got.tps, expected->tps) ||
			!is_same(got.latency_mean_ms, expected->latency_mean_ms))
			fail_msg("%s: %lld done, %lld failed, %g ms, %.9g tps", row->text,
					 (long long) got.transactions, (long long) got.failed, got.latency_mean_ms,
					 got.tps);
		assert_string_equal(statements, row->statements);
		free(text);
	}
}

static const struct
{
	const char *line;
	sp_pgbench_progress expected;	/* of no seconds: no such line */
}			progress_lines[] =
{
	{"progress: 1.0 s, 1830.8 tps, lat 2.165 ms stddev 0.453, 0 failed", {1.0, 1830.8, 2.165}},
	/* none ended; or one did, in a second that lasted very long */
	{"progress: 2.0 s, 0.0 tps, lat -nan ms stddev -nan, 3 failed", {2.0, 0, NAN}},
	{"progress: 2.0 s, 0.0 tps, lat 0.000 ms stddev 0.000, 3 failed", {2.0, 0, NAN}},
	{"progress: 90.0 s, 0.0 tps, lat 88000.123 ms stddev 0.000, 0 failed", {90.0, 0, 88000.123}},
	/* no time went by */
	{"progress: 2.0 s, inf tps, lat 1.000 ms stddev 0.000, 0 failed", {2.0, NAN, 1}},
	{"progress: 1.0 s, 1.0 tps, lat 1.0", {0, 0, 0}},
	{"pgbench: error: Run was aborted; the above results are incomplete.", {0, 0, 0}},
};

TEST(reads_progress)
{
	FOR_EACH(row, progress_lines)
	{
		const sp_pgbench_progress *expected = &row->expected;
		sp_pgbench_progress got = {0, 0, 0};

		if (sp_pgbench_parse_progress(row->line, &got) != (expected->seconds > 0) ||
			!is_same(got.seconds, expected->seconds) || !is_same(got.tps, expected->tps) ||
			!is_same(got.latency_ms, expected->latency_ms))
			fail_msg("%s: %g s, %g tps, %g ms", row->line, got.seconds, got.tps, got.latency_ms);
	}
}

static const struct
{
	const char *text;
	uint64_t	done;
	uint64_t	unreadable;
	uint64_t	max_ns;
	double		sum_ns;
}			logs[] =
{
	/* 15 logs no time at all for some transactions of a new connection */
	{"@pgbench/15_connect.log", 20, 0, 1557000, 5054000},
	{"@pgbench/15_serialization.log", 8, 0, 700000, 3815000},
	{"0 1 289 0 1795280639 489106\n0 2 30 0 17952", 1, 1, 289000, 289000},
	/* the most whose nanoseconds fit, and one more */
	{"0 1 18446744073709551 0 1 1\n", 1, 0, UINT64_C(18446744073709551000), 18446744073709551000.0},
	{"0 1 18446744073709552 0 1 1\n", 0, 1, 0, 0}, {"0 1 18446744073709551617 0 1 1\n", 0, 1, 0, 0},
	{"\n0\n0 1 289\n0 1 289 0 1\n0 1 289 0 1 1 5\n0 1 289 0 1 x\n0  1 289 0 1 1\n", 0, 7, 0, 0},
	/* a line that lost its end, and the next one in it */
	{"0 1 280 1 2 289 0 1 1\n0 3 5 0 1 1\n", 1, 1, 5000, 5000},
};

/* In pieces of any size, each of its own length, so that reading behind it is noticed. */
TEST(reads_logs)
{
	FOR_EACH(row, logs)
	{
		char	   *text = fixture_text(row->text);
		size_t		length = strlen(text);

		for (size_t piece = 1; piece <= 80; piece++)
		{
			sp_pgbench_log log = {0};
			sp_pgbench_log_file file = {0};

			for (size_t at = 0; at < length; at += piece)
			{
				size_t		next = length - at < piece ? length - at : piece;
				char	   *copy = malloc(next);

				assert_non_null(copy);
				memcpy(copy, text + at, next);
				sp_pgbench_log_feed(&log, &file, copy, next);
				free(copy);
			}
			sp_pgbench_log_end_of_file(&log, &file);
			if (log.latencies.ops != row->done || log.unreadable != row->unreadable ||
				log.latencies.max_ns != row->max_ns || log.latencies.sum_ns != row->sum_ns)
				fail_msg("%s, in pieces of %zu: %ju done, %ju unreadable, at most %ju ns", text,
						 piece, (uintmax_t) log.latencies.ops, (uintmax_t) log.unreadable,
						 (uintmax_t) log.latencies.max_ns);
		}
		free(text);
	}
}

TEST_MAIN(NULL, NULL)
