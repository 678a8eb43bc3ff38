/*-------------------------------------------------------------------------
 *
 * test_pgbench_output.c
 *	  Tests of src/engine/pgbench/output.c on captured and generated outputs.
 *
 * It must not: start pgbench.  To add an output, add a file in
 * test/fixtures/pgbench and a row of the tables below.
 *
 *-------------------------------------------------------------------------
 */
#include "fixtures.h"

#include <stdbool.h>

#include "engine/pgbench/output.h"

#define RAW(bytes) bytes, sizeof(bytes) - 1

/* The lines that make a generated summary complete. */
#define PROCESSED "number of transactions actually processed: 7\n"
#define TPS "tps = 3.500000 (without initial connection time)\n"
#define HEADING "statement latencies in milliseconds and failures:\n"

#define MAX_STATEMENTS 6

typedef struct statement
{
	double		latency_ms;
	int64_t		failures;
	const char *text;
} statement;

typedef struct summary_case
{
	const char *file;
	bool		understood;
	sp_pgbench_summary summary;
	statement	statements[MAX_STATEMENTS]; /* up to the first without text */
} summary_case;

/* In the order of the struct. */
static const summary_case summary_cases[] = {
	{"15_prepared.out", true,
		{4, 2, 22079, 0, 0.534, 0.301, 9.460, 7368.191664},
		{
			{0.001, 0, "\\set id random(1, 1000)"},
			{0.038, 0, "BEGIN;"},
			{0.055, 0, "INSERT INTO t AS old (id, n) VALUES (:id, 1)"},
			/* pgbench itself cuts it */
			{0.077, 0, "SELECT n FROM t WHERE id = :id AND n > 0 AND 'a long "
				"statement is cut by pgbench itself' <> 'at a hundred and "
			"twenty-seven byte"},
			{0.363, 0, "COMMIT;"},
	}},
	{"15_connect.out", true,
		{2, 2, 400, 0, 0.435, 0.511, 3.220, 547.084858},
		{{0.435, 0, "SELECT 1;"}}},
	{"15_serialization.out", true,
		{4, 2, 58, 142, 0.520, 0.302, 5.306, 1682.720204},
		{
			{0.076, 0, "BEGIN ISOLATION LEVEL REPEATABLE READ;"},
			{0.090, 0, "SELECT n FROM hot;"},
			{0.069, 142, "UPDATE hot SET n = n + 1;"},
			{0.332, 0, "COMMIT;"},
	}},
	/* with a column of retries */
	{"15_retries.out", true,
		{4, 2, 72, 48, 0.606, 0.387, 5.623, 2212.389381},
		{
			{0.050, 0, "BEGIN ISOLATION LEVEL REPEATABLE READ;"},
			{0.061, 0, "SELECT n FROM hot;"},
			{0.068, 48, "UPDATE hot SET n = n + 1;"},
			{0.271, 0, "COMMIT;"},
	}},
	{"15_slow.out", true,
		{1, 1, 1, 0, 2204.008, 0, 2.263, 0.453686},
		{{2204.008, 0, "SELECT pg_sleep(2.2);"}}},
	/* the exit status tells that it was incomplete */
	{"15_aborted.out", true,
		{1, 1, 5, 0, 0.487, 0.458, 2.607, 1485.001485},
		{
			{0.352, 0, "INSERT INTO counted SELECT count(*) + 1 FROM counted;"},
			{0.100, 0, "SELECT 1 / (6 - count(*)) FROM counted;"},
	}},
	/* nothing was done: "0 (NaN%)", and no tps; since 18 no failures either */
	{"15_broken.out", true, {2, 1, 0, 0, NAN, NAN, NAN, 0}, {{0, 0, NULL}}},
	{"19_late.out", true, {2, 1, 0, -1, NAN, NAN, NAN, 0}, {{0, 0, NULL}}},
	/* all were done and failed: no tps either, and the exit status is 0 */
	{"15_all_failed.out", true, {2, 1, 0, 6, NAN, NAN, NAN, 0}, {{0, 0, NULL}}},
	/* a script whose lines look like others, and a deviation of less than none */
	{"19_after_its_source.out", true,
		{16, 8, INT64_C(9007199254740993), 12, 15.982, NAN, 41.007, 1000.411276},
		{
			{0.002, 0, "\\set id random(1, \\"},
			{123456789.001, 10, "UPDATE t"},
			{0.070, 2, "number of clients: 5"},
			{0, 0, "tps = 5 (without initial connection time)"},
	}},
	{"15_prepared.err", false, {-1, -1, -1, -1, NAN, NAN, NAN, NAN}, {{0, 0, NULL}}},
	{"15_version.txt", false, {-1, -1, -1, -1, NAN, NAN, NAN, NAN}, {{0, 0, NULL}}},
};

/*
 * Lines before a complete summary, and what becomes of transactions, clients,
 * mean latency and tps.
 */
static const struct
{
	const char *name;
	const char *text;
	size_t		length;
	bool		understood;
	int64_t		transactions;
	int			clients;
	double		latency_mean_ms;
	double		tps;
}			summary_lines[] =
{
	{"empty", RAW(""), false, -1, -1, NAN, NAN},
	{"newlines", RAW("\n\n\n"), false, -1, -1, NAN, NAN},
	{"as little as may be", RAW(PROCESSED TPS), true, 7, -1, NAN, 3.5},
	{"no count", RAW(TPS), false, -1, -1, NAN, 3.5},
	{"no tps", RAW(PROCESSED), false, 7, -1, NAN, NAN},
	{"none, no tps", RAW("number of transactions actually processed: 0\n"), true, 0, -1, NAN, 0},
	{"behind another heading", RAW("statement latencies in milliseconds and failures: x\n"
								   PROCESSED TPS), true, 7, -1, NAN, 3.5},
	{"statements that nobody takes", RAW(PROCESSED TPS HEADING " 0.5 1 X\n"), true, 7, -1,
	NAN, 3.5},
	{"behind the statements", RAW(HEADING PROCESSED TPS), false, -1, -1, NAN, NAN},
	{"part of a label", RAW(" " PROCESSED "x" TPS), false, -1, -1, NAN, NAN},
	/* clients times transactions do not fit into pgbench's int */
	{"of fewer than none", RAW("number of transactions actually processed: "
							   "4/-2147483648\n" TPS), true, 4, -1, NAN, 3.5},
	{"largest count", RAW("number of transactions actually processed: "
						  "9223372036854775807\n" TPS), true, INT64_MAX, -1, NAN, 3.5},
	{"beyond", RAW("number of transactions actually processed: "
				   "9223372036854775808\n" TPS), false, -1, -1, NAN, 3.5},
	{"beyond by a digit", RAW("number of transactions actually processed: "
							  "92233720368547758070\n" TPS), false, -1, -1, NAN, 3.5},
	{"negative count", RAW("number of transactions actually processed: -1\n" TPS),
	false, -1, -1, NAN, 3.5},
	{"not a count", RAW("number of transactions actually processed: NaN\n" TPS),
	false, -1, -1, NAN, 3.5},
	{"count and more", RAW("number of transactions actually processed: 7x\n" TPS),
	false, -1, -1, NAN, 3.5},
	{"tps is nan", RAW(PROCESSED "tps = nan (without)\n"), false, 7, -1, NAN, NAN},
	{"tps is -nan", RAW(PROCESSED "tps = -nan (without)\n"), false, 7, -1, NAN, NAN},
	{"tps is inf", RAW(PROCESSED "tps = inf (without)\n"), false, 7, -1, NAN, NAN},
	{"tps is Infinity", RAW(PROCESSED "tps = Infinity (without)\n"), false, 7, -1,
	NAN, NAN},
	{"tps of nothing", RAW(PROCESSED "tps = 0.000000 (without)\n"), true, 7, -1, NAN, 0},
	{"tps without its end", RAW(PROCESSED "tps = 3.500000 (without"), false, 7, -1,
	NAN, NAN},
	{"tps without what follows", RAW(PROCESSED "tps = 3.5\n"), false, 7, -1, NAN, NAN},
	{"tps without digits", RAW(PROCESSED "tps =  (without)\n"), false, 7, -1, NAN, NAN},
	{"tps ends in a point", RAW(PROCESSED "tps = 3. (without)\n"), false, 7, -1, NAN, NAN},
	{"tps of a locale", RAW(PROCESSED "tps = 3,5 (without)\n"), false, 7, -1, NAN, NAN},
	{"NUL in the number", RAW(PROCESSED "tps = 3\0.5 (without)\n"), false, 7, -1,
	NAN, NAN},
	{"lines behind NUL", RAW("\0\n" PROCESSED TPS), true, 7, -1, NAN, 3.5},
	{"without measuring", RAW("latency average = 1.250 ms (including failures)\n"
							  PROCESSED TPS), true, 7, -1, 1.25, 3.5},
	{"latency is -nan", RAW("latency average = -nan ms\n" PROCESSED TPS), true, 7, -1,
	NAN, 3.5},
	{"latency below zero", RAW("latency average = -0.500 ms\n" PROCESSED TPS), true,
	7, -1, NAN, 3.5},
	{"rounded to -0", RAW("latency average = -0.000 ms\n" PROCESSED TPS), true,
	7, -1, 0, 3.5},
	{"other unit", RAW("latency average = 1.250 s\n" PROCESSED TPS), true, 7, -1,
	NAN, 3.5},
	{"all digits that count",
		RAW("latency average = 0.1000000000000000000000000001 ms\n" PROCESSED TPS), true,
	7, -1, 0.1, 3.5},
	{"clients", RAW("number of clients: 2147483647\n" PROCESSED TPS), true, 7, INT_MAX,
	NAN, 3.5},
	{"too many clients", RAW("number of clients: 2147483648\n" PROCESSED TPS), true,
	7, -1, NAN, 3.5},
	{"clients and more", RAW("number of clients: 3 or 4\n" PROCESSED TPS), true,
	7, -1, NAN, 3.5},
};

/* Lines of statements; none if the text is NULL. */
static const struct
{
	const char *line;
	size_t		length;
	statement	expected;
}			statement_lines[] =
{
	{RAW(" 0.5 1 X\n"), {0.5, 1, "X"}},
	{RAW(" 0.5 9223372036854775807 X\n"), {0.5, INT64_MAX, "X"}},
	{RAW(" NaN 1 X\n"), {NAN, 1, "X"}},
	/* one column of counts only: what follows is the text */
	{RAW(" 0.5 1 2 X\n"), {0.5, 1, "2 X"}},
	{RAW(" 0.5 1 S\303\244\377\n"), {0.5, 1, "S\303\244\377"}},
	{RAW("0.5 1 X\n"), {0, 0, NULL}},
	{RAW(" 0.5 9223372036854775808 X\n"), {0, 0, NULL}},
	{RAW(" 0.5 -1 X\n"), {0, 0, NULL}},
	{RAW(" 0.5 X\n"), {0, 0, NULL}},
	{RAW(" 0.5 1X\n"), {0, 0, NULL}},
	{RAW(" 0.5 1\n"), {0, 0, NULL}},
	{RAW(" 0.5\n"), {0, 0, NULL}},
	{RAW(" x 1 X\n"), {0, 0, NULL}},
	{RAW("\n"), {0, 0, NULL}},
	{RAW(" 0.5 1 lost its end"), {0, 0, NULL}},
};

/* A line of -P, and its five numbers; none if expected.failed is -1. */
static const struct
{
	const char *line;
	sp_pgbench_progress expected;
}			progress_lines[] =
{
	{"progress: 1.0 s, 1830.8 tps, lat 2.165 ms stddev 0.453, 0 failed",
	{1.0, 1830.8, 2.165, 0.453, 0}},
	{"progress: 30.0 s, 0.1 tps, lat 2.165 ms stddev 0.453, 9223372036854775807 failed",
	{30.0, 0.1, 2.165, 0.453, INT64_MAX}},
	/* one transaction, whose variance was rounded */
	{"progress: 2.0 s, 1.0 tps, lat 2.165 ms stddev -nan, 0 failed",
	{2.0, 1.0, 2.165, NAN, 0}},
	{"progress: 2.0 s, 1.0 tps, lat 2.165 ms stddev NaN, 0 failed",
	{2.0, 1.0, 2.165, NAN, 0}},
	/* none ended */
	{"progress: 2.0 s, 0.0 tps, lat -nan ms stddev -nan, 3 failed",
	{2.0, 0, NAN, NAN, 3}},
	{"progress: 2.0 s, 0.0 tps, lat 0.000 ms stddev 0.000, 3 failed",
	{2.0, 0, NAN, NAN, 3}},
	/* one did, in a second that lasted very long */
	{"progress: 90.0 s, 0.0 tps, lat 88000.123 ms stddev 0.000, 0 failed",
	{90.0, 0, 88000.123, 0, 0}},
	/* many did, without a time */
	{"progress: 2.0 s, 5.0 tps, lat 0.000 ms stddev 0.000, 0 failed",
	{2.0, 5, 0, 0, 0}},
	/* no time went by */
	{"progress: 2.0 s, inf tps, lat 1.000 ms stddev 0.000, 0 failed",
	{2.0, NAN, 1, 0, 0}},
	{"progress: nan s, -Infinity tps, lat -1.000 ms stddev INF, 0 failed",
	{NAN, NAN, NAN, NAN, 0}},
	{"", {0, 0, 0, 0, -1}},
	{"progress: 1.0 s", {0, 0, 0, 0, -1}},
	{" progress: 1.0 s, 1.0 tps, lat 1.0 ms stddev 0.4, 0 failed", {0, 0, 0, 0, -1}},
	{"progress: s, 1.0 tps, lat 1.0 ms stddev 0.4, 0 failed", {0, 0, 0, 0, -1}},
	{"progress: 1.0 s, . tps, lat 1.0 ms stddev 0.4, 0 failed", {0, 0, 0, 0, -1}},
	{"progress: 1.0 s, 1.0 tps, lat 1,0 ms stddev 0.4, 0 failed", {0, 0, 0, 0, -1}},
	{"progress: 1.0 s, 1.0 tps, lat --1.0 ms stddev 0.4, 0 failed", {0, 0, 0, 0, -1}},
	{"progress: 1.0 s, 1.0 tps, lat 1.0 ms stddev 0x4, 0 failed", {0, 0, 0, 0, -1}},
	{"progress: 1.0 s, 1.0 tps, lat 1.0 ms stddev 0.4, -1 failed", {0, 0, 0, 0, -1}},
	{"progress: 1.0 s, 1.0 tps, lat 1.0 ms stddev 0.4, 9223372036854775808 failed",
	{0, 0, 0, 0, -1}},
	{"progress: 1.0 s, 1.0 tps, lat 1.0 ms stddev 0.4", {0, 0, 0, 0, -1}},
	{"progress: 1.0 s, 1.0 tps, lat 1.0 ms stddev 0.4, 0 fail", {0, 0, 0, 0, -1}},
	{"progress: 1.0 s, 1.0 tps, lat 1.0 ms stddev 0.4, 0 failed.", {0, 0, 0, 0, -1}},
	{"progress: 1.0 s, 1.0 tps, lat 1.0 ms stddev 0.4, 0 failures", {0, 0, 0, 0, -1}},
	{"pgbench: error: Run was aborted; the above results are incomplete.",
	{0, 0, 0, 0, -1}},
};

/* A captured file of them: how many, and the last. */
static const struct
{
	const char *file;
	int			lines;
	sp_pgbench_progress last;
}			progress_files[] =
{
	{"15_prepared.err", 3, {3.0, 8260.5, 0.477, 0.173, 0}},
	{"15_slow.err", 2, {2.0, 0, NAN, NAN, 0}},
	{"15_aborted.err", 0, {0, 0, 0, 0, 0}},
	{"15_prepared.out", 0, {0, 0, 0, 0, 0}},
	{"19_after_its_source.err", 2, {1795280636.250, 1.0, 15.982, NAN, 3}},
};

static const struct
{
	const char *text;
	int			major;
	const char *version;		/* empty if there is none */
}			version_cases[] =
{
	{"pgbench (PostgreSQL) 15.20 (Debian 15.20-0+deb12u1)\n", 15,
	"15.20 (Debian 15.20-0+deb12u1)"},
	{"pgbench (PostgreSQL) 16.4", 16, "16.4"},
	{"pgbench (PostgreSQL) 19devel\n", 19, "19devel"},
	{"pgbench (PostgreSQL) 19beta1\r\nmore\n", 19, "19beta1"},
	{"pgbench (PostgreSQL) 19rc1 (Ubuntu 19~rc1-1)", 19, "19rc1 (Ubuntu 19~rc1-1)"},
	{"pgbench (PostgreSQL) 9.6.24\n", 9, "9.6.24"},
	{"pgbench (PostgreSQL) 2147483647", INT_MAX, "2147483647"},
	{"pgbench (PostgreSQL) 2147483648", 0, ""},
	{"pgbench (PostgreSQL) 99999999999999999999", 0, ""},
	{"pgbench (PostgreSQL) 0.1", 0, ""},
	{"pgbench (PostgreSQL) ", 0, ""},
	{"pgbench (PostgreSQL) devel", 0, ""},
	{"pgbench (PostgreSQL) -15", 0, ""},
	{"pgbench (PostgreSQL)\n15", 0, ""},
	{"psql (PostgreSQL) 15.20", 0, ""},
	{"pgbench (another) 15.20", 0, ""},
	{" pgbench (PostgreSQL) 15.20", 0, ""},
	{"", 0, ""},
};

static bool
same(double got, double expected)
{
	return got == expected || (isnan(got) && isnan(expected));
}

/* What the statements of a text are to be, and how many came. */
typedef struct expectation
{
	const char *name;
	const statement *statements;
	size_t		count;
} expectation;

static void
check_statement(void *context, double latency_ms, int64_t failures, const char *text,
				size_t length)
{
	expectation *expected = context;
	const statement *next = &expected->statements[expected->count++];

	if (expected->count > MAX_STATEMENTS || next->text == NULL ||
		!same(latency_ms, next->latency_ms) || failures != next->failures ||
		length != strlen(next->text) || memcmp(text, next->text, length) != 0)
		fail_msg("%s, statement %zu: %g ms, %lld, \"%.*s\"", expected->name,
				 expected->count, latency_ms, (long long) failures, (int) length, text);
}

static bool
same_summary(const sp_pgbench_summary *got, const sp_pgbench_summary *expected)
{
	return got->clients == expected->clients && got->threads == expected->threads &&
		got->transactions == expected->transactions && got->failed == expected->failed &&
		same(got->latency_mean_ms, expected->latency_mean_ms) &&
		same(got->latency_stddev_ms, expected->latency_stddev_ms) &&
		same(got->connection_ms, expected->connection_ms) &&
		same(got->tps, expected->tps);
}

static void
reads_summaries(void **state)
{
	(void) state;
	for (size_t i = 0; i < lengthof(summary_cases); i++)
	{
		const summary_case *row = &summary_cases[i];
		expectation expected = {row->file, row->statements, 0};
		sp_pgbench_summary summary;
		size_t		length;
		char	   *text = read_fixture("pgbench", row->file, &length, 0);

		if (sp_pgbench_parse_summary(text, length, &summary, check_statement,
									 &expected) != row->understood ||
			!same_summary(&summary, &row->summary))
			fail_msg("%s: %d clients, %d threads, %lld done, %lld failed, %g %g %g %.9g",
					 row->file, summary.clients, summary.threads,
					 (long long) summary.transactions, (long long) summary.failed,
					 summary.latency_mean_ms, summary.latency_stddev_ms,
					 summary.connection_ms, summary.tps);
		if (expected.count < MAX_STATEMENTS && row->statements[expected.count].text != NULL)
			fail_msg("%s: %zu statements only", row->file, expected.count);
		free(text);
	}
}

static void
reads_odd_summaries(void **state)
{
	(void) state;
	for (size_t i = 0; i < lengthof(summary_lines); i++)
	{
		size_t		length = summary_lines[i].length;
		char	   *text = copy_bytes(summary_lines[i].text, length);
		sp_pgbench_summary summary;

		if (sp_pgbench_parse_summary(text, length, &summary, NULL, NULL) !=
			summary_lines[i].understood ||
			summary.transactions != summary_lines[i].transactions ||
			summary.clients != summary_lines[i].clients ||
			!same(summary.latency_mean_ms, summary_lines[i].latency_mean_ms) ||
			!same(summary.tps, summary_lines[i].tps))
			fail_msg("%s: %lld done, %d clients, %g ms, %g tps", summary_lines[i].name,
					 (long long) summary.transactions, summary.clients,
					 summary.latency_mean_ms, summary.tps);
		free(text);
	}
}

static void
reads_odd_statements(void **state)
{
	static const char complete[] = PROCESSED TPS HEADING;

	(void) state;
	for (size_t i = 0; i < lengthof(statement_lines); i++)
	{
		size_t		length = sizeof(complete) - 1 + statement_lines[i].length;
		char	   *text = malloc(length);
		const statement rows[] = {statement_lines[i].expected, {0, 0, NULL}};
		expectation expected = {statement_lines[i].line, rows, 0};
		sp_pgbench_summary summary;

		assert_non_null(text);
		memcpy(text, complete, sizeof(complete) - 1);
		memcpy(text + sizeof(complete) - 1, statement_lines[i].line,
			   statement_lines[i].length);
		assert_true(sp_pgbench_parse_summary(text, length, &summary, check_statement,
											 &expected));
		if (expected.count != (rows[0].text != NULL))
			fail_msg("%s: %zu statements", statement_lines[i].line, expected.count);
		free(text);
	}
}

/* An incomplete summary reports no statements. */
static void
tells_no_statement_without_a_summary(void **state)
{
	static const char text[] = PROCESSED HEADING " 0.5 1 X\n";
	expectation expected = {"without tps", NULL, 0};
	sp_pgbench_summary summary;

	(void) state;
	assert_false(sp_pgbench_parse_summary(text, sizeof(text) - 1, &summary,
										  check_statement, &expected));
	assert_int_equal(expected.count, 0);
}

/* A summary cut off anywhere gives no figures but those of the whole. */
static void
invents_nothing_when_cut_off(void **state)
{
	const summary_case *row = &summary_cases[0];
	size_t		length;
	char	   *text = read_fixture("pgbench", row->file, &length, 0);

	(void) state;
	for (size_t cut = 0; cut < length; cut++)
	{
		char	   *copy = copy_bytes(text, cut);
		expectation expected = {row->file, row->statements, 0};
		sp_pgbench_summary got;
		sp_pgbench_summary whole = row->summary;

		sp_pgbench_parse_summary(copy, cut, &got, check_statement, &expected);
#define FORGET(field, unknown) \
		if (same((double) got.field, unknown)) \
			whole.field = got.field
		FORGET(clients, -1);
		FORGET(threads, -1);
		FORGET(transactions, -1);
		FORGET(failed, -1);
		FORGET(latency_mean_ms, NAN);
		FORGET(latency_stddev_ms, NAN);
		FORGET(connection_ms, NAN);
		FORGET(tps, NAN);
		assert_true(same_summary(&got, &whole));
		free(copy);
	}
	free(text);
}

/* Numbers of any length are numbers, or none. */
static void
reads_long_numbers(void **state)
{
	(void) state;
	for (int digits = 1; digits < 400; digits++)
	{
		char		line[900];
		char		nines[400];
		sp_pgbench_progress progress;

		memset(nines, '9', sizeof(nines));
		nines[digits] = '\0';
		snprintf(line, sizeof(line), "progress: 1.0 s, %s.0 tps, lat 0.%s ms stddev 0.0, "
				 "0 failed", nines, nines);
		assert_true(sp_pgbench_parse_progress(line, &progress));
		if (digits <= 300)
			assert_true(fabs(progress.tps / pow(10, digits) - 1) < 0.11);
		else
			assert_true(isnan(progress.tps) || isfinite(progress.tps));
		assert_true(digits < 320 || isnan(progress.tps));
		assert_true(progress.latency_ms > 0.89 && progress.latency_ms <= 1);
	}
}

static bool
same_progress(const sp_pgbench_progress *got, const sp_pgbench_progress *expected)
{
	return same(got->seconds, expected->seconds) && same(got->tps, expected->tps) &&
		same(got->latency_ms, expected->latency_ms) &&
		same(got->stddev_ms, expected->stddev_ms) && got->failed == expected->failed;
}

static void
reads_progress(void **state)
{
	(void) state;
	for (size_t i = 0; i < lengthof(progress_lines); i++)
	{
		const sp_pgbench_progress untouched = {-2, -2, -2, -2, -2};
		sp_pgbench_progress progress = untouched;
		bool		is_progress = progress_lines[i].expected.failed >= 0;

		if (sp_pgbench_parse_progress(progress_lines[i].line, &progress) != is_progress ||
			!same_progress(&progress, is_progress ? &progress_lines[i].expected :
						   &untouched))
			fail_msg("%s: %g s, %g tps, %g ms, %g, %lld", progress_lines[i].line,
					 progress.seconds, progress.tps, progress.latency_ms,
					 progress.stddev_ms, (long long) progress.failed);
	}
}

static void
reads_captured_progress(void **state)
{
	(void) state;
	for (size_t i = 0; i < lengthof(progress_files); i++)
	{
		size_t		length;
		char	   *text = read_fixture("pgbench", progress_files[i].file, &length, 1);
		sp_pgbench_progress last = {0, 0, 0, 0, 0};
		int			lines = 0;

		for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n"))
			lines += sp_pgbench_parse_progress(line, &last);
		if (lines != progress_files[i].lines ||
			!same_progress(&last, &progress_files[i].last))
			fail_msg("%s: %d lines, %g s, %g tps, %g ms, %g, %lld",
					 progress_files[i].file, lines, last.seconds, last.tps,
					 last.latency_ms, last.stddev_ms, (long long) last.failed);
		free(text);
	}
}

static void
reads_versions(void **state)
{
	(void) state;
	for (size_t i = 0; i < lengthof(version_cases); i++)
	{
		char		version[64] = "before";
		int			major = sp_pgbench_parse_version(version_cases[i].text, version,
													 sizeof(version));

		if (major != version_cases[i].major ||
			strcmp(version, version_cases[i].version) != 0)
			fail_msg("%s: %d, \"%s\"", version_cases[i].text, major, version);
	}
}

static void
reads_the_captured_version(void **state)
{
	size_t		length;
	char	   *text = read_fixture("pgbench", "15_version.txt", &length, 1);
	char		version[64];

	(void) state;
	assert_int_equal(sp_pgbench_parse_version(text, version, sizeof(version)), 15);
	assert_string_equal(version, "15.20 (Debian 15.20-0+deb12u1)");
	free(text);
}

static void
cuts_a_version_to_size(void **state)
{
	static const char text[] = "pgbench (PostgreSQL) 15.20";
	char		untouched = 'x';

	(void) state;
	assert_int_equal(sp_pgbench_parse_version(text, &untouched, 0), 15);
	assert_int_equal(sp_pgbench_parse_version("", &untouched, 0), 0);
	assert_int_equal(untouched, 'x');
	for (size_t size = 1; size <= 8; size++)
	{
		char	   *version = malloc(size);

		assert_non_null(version);
		assert_int_equal(sp_pgbench_parse_version(text, version, size), 15);
		assert_int_equal(strlen(version), size - 1 < 5 ? size - 1 : 5);
		assert_memory_equal(version, "15.20", strlen(version));
		free(version);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_summaries),
		cmocka_unit_test(reads_odd_summaries),
		cmocka_unit_test(reads_odd_statements),
		cmocka_unit_test(tells_no_statement_without_a_summary),
		cmocka_unit_test(invents_nothing_when_cut_off),
		cmocka_unit_test(reads_long_numbers),
		cmocka_unit_test(reads_progress),
		cmocka_unit_test(reads_captured_progress),
		cmocka_unit_test(reads_versions),
		cmocka_unit_test(reads_the_captured_version),
		cmocka_unit_test(cuts_a_version_to_size),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("pgbench_output", tests, NULL, NULL);
}
