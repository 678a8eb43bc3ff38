/*-------------------------------------------------------------------------
 *
 * test_pgbench_log.c
 *	  Tests of src/engine/pgbench/log.c on captured and generated logs.
 *
 * It must not: start pgbench.  To add a log, add a file in
 * test/fixtures/pgbench and a row of the tables below.
 *
 *-------------------------------------------------------------------------
 */
#include "fixtures.h"

#include <time.h>

#include "engine/pgbench/log.h"

#define RAW(bytes) bytes, sizeof(bytes) - 1

/* The figures of a log; the histogram itself has tests of its own. */
typedef struct counts
{
	uint64_t	done;
	uint64_t	failed;
	uint64_t	skipped;
	uint64_t	unreadable;
	uint64_t	min_ns;			/* both 0 if nothing was done */
	uint64_t	max_ns;
	double		sum_ns;
} counts;

typedef struct log_case
{
	const char *file;
	counts		expected;
} log_case;

static const log_case log_cases[] = {
	{"15_aborted.log", {5, 0, 0, 0, 246000, 1402000, 2435000}},
	/* 15 logs no time at all for some transactions of a new connection */
	{"15_connect.log", {200, 0, 0, 0, 0, 2179000, 87601000}},
	{"15_serialization.log", {27, 73, 0, 0, 295000, 735000, 13157000}},
	/* with the kinds of failure, and a column of retries */
	{"15_retries.log", {34, 26, 0, 0, 290000, 1875000, 19787000}},
	{"15_sampled.log", {125, 0, 0, 0, 330000, 2170000, 103206000}},
	{"15_sampled.log.1", {104, 0, 0, 0, 321000, 1486000, 80345000}},
	/* with all columns that there are */
	{"19_after_its_source.log", {2, 3, 1, 0, 0, 15982000, 15982000}},
	/* no log: each line is one that cannot be read */
	{"15_prepared.out", {0, 0, 0, 20, 0, 0, 0}},
	{"15_prepared.err", {0, 0, 0, 3, 0, 0, 0}},
};

/* One line, and its end. */
static const struct
{
	const char *name;
	const char *line;
	size_t		length;
	counts		expected;
}			line_cases[] =
{
	{"plain", RAW("0 1 289 0 1795280639 489106\n"), {1, 0, 0, 0, 289000, 289000, 289000}},
	{"no time", RAW("0 1 0 0 1795280639 489106\n"), {1, 0, 0, 0, 0, 0, 0}},
	{"failed", RAW("0 1 failed 0 1795280639 489106\n"), {0, 1, 0, 0, 0, 0, 0}},
	{"skipped", RAW("0 1 skipped 0 1795280639 489106\n"), {0, 0, 1, 0, 0, 0, 0}},
	{"serialization", RAW("0 1 serialization 0 1 1\n"), {0, 1, 0, 0, 0, 0, 0}},
	{"deadlock", RAW("0 1 deadlock 0 1 1\n"), {0, 1, 0, 0, 0, 0, 0}},
	{"other", RAW("0 1 other 0 1 1\n"), {0, 1, 0, 0, 0, 0, 0}},
	{"one more column", RAW("0 1 289 0 1 1 5\n"), {1, 0, 0, 0, 289000, 289000, 289000}},
	{"two more columns", RAW("0 1 289 0 1 1 5 6\n"), {1, 0, 0, 0, 289000, 289000, 289000}},
	/* 18446744073709551 us are the most whose nanoseconds fit */
	{"longest", RAW("0 1 18446744073709551 0 1 1\n"), {1, 0, 0, 0,
			UINT64_C(18446744073709551000), UINT64_C(18446744073709551000),
	18446744073709551000.0}},
	{"beyond", RAW("0 1 18446744073709552 0 1 1\n"), {0, 0, 0, 1, 0, 0, 0}},
	{"far beyond", RAW("0 1 18446744073709551617 0 1 1\n"), {0, 0, 0, 1, 0, 0, 0}},
	{"of 39 digits", RAW("0 1 340282366920938463463374607431768211457 0 1 1\n"),
	{0, 0, 0, 1, 0, 0, 0}},
	{"empty", RAW("\n"), {0, 0, 0, 1, 0, 0, 0}},
	{"client alone", RAW("0\n"), {0, 0, 0, 1, 0, 0, 0}},
	{"without a latency", RAW("0 1 \n"), {0, 0, 0, 1, 0, 0, 0}},
	{"latency alone", RAW("0 1 289\n"), {0, 0, 0, 1, 0, 0, 0}},
	{"without a time", RAW("0 1 289 0\n"), {0, 0, 0, 1, 0, 0, 0}},
	{"without microseconds", RAW("0 1 289 0 1\n"), {0, 0, 0, 1, 0, 0, 0}},
	{"failed, without a time", RAW("0 1 failed 0\n"), {0, 0, 0, 1, 0, 0, 0}},
	{"unknown word", RAW("0 1 lost 0 1 1\n"), {0, 0, 0, 1, 0, 0, 0}},
	{"longer word", RAW("0 1 failedx 0 1 1\n"), {0, 0, 0, 1, 0, 0, 0}},
	{"shorter word", RAW("0 1 faile 0 1 1\n"), {0, 0, 0, 1, 0, 0, 0}},
	{"word alone", RAW("0 1 failed\n"), {0, 0, 0, 1, 0, 0, 0}},
	{"negative", RAW("0 1 -1 0 1 1\n"), {0, 0, 0, 1, 0, 0, 0}},
	{"nan", RAW("0 1 nan 0 1 1\n"), {0, 0, 0, 1, 0, 0, 0}},
	{"inf", RAW("0 1 inf 0 1 1\n"), {0, 0, 0, 1, 0, 0, 0}},
	{"fraction", RAW("0 1 1.5 0 1 1\n"), {0, 0, 0, 1, 0, 0, 0}},
	{"two blanks", RAW("0 1  289 0 1 1\n"), {0, 0, 0, 1, 0, 0, 0}},
	{"blank before", RAW(" 0 1 289 0 1 1\n"), {0, 0, 0, 1, 0, 0, 0}},
	{"blank behind", RAW("0 1 289 0 1 1 \n"), {0, 0, 0, 1, 0, 0, 0}},
	{"tabs", RAW("0\t1\t289\t0\t1\t1\n"), {0, 0, 0, 1, 0, 0, 0}},
	{"CRLF", RAW("0 1 289 0 1 1\r\n"), {0, 0, 0, 1, 0, 0, 0}},
	{"NUL", RAW("0 1 289\0 0 1 1\n"), {0, 0, 0, 1, 0, 0, 0}},
	{"word for a column", RAW("0 1 289 0 1 1 x\n"), {0, 0, 0, 1, 0, 0, 0}},
	{"two lines in one", RAW("0 1 289 0 1 10 2 289 0 1 1\n"), {0, 0, 0, 1, 0, 0, 0}},
	{"aggregated", RAW("1795280639 5 2435 1 246 1402 0 0 0 0 0 0 0 0 0\n"),
	{0, 0, 0, 1, 0, 0, 0}},
};

static void
check_counts(const char *name, const sp_pgbench_log *log, const counts *expected)
{
	const sp_histogram *latencies = &log->latencies;

	if (latencies->ops != expected->done || log->failed != expected->failed ||
		log->skipped != expected->skipped || log->unreadable != expected->unreadable ||
		latencies->min_ns != (expected->done > 0 ? expected->min_ns : UINT64_MAX) ||
		latencies->max_ns != expected->max_ns || latencies->sum_ns != expected->sum_ns)
		fail_msg("%s: %llu done, %llu failed, %llu skipped, %llu unreadable, "
				 "%llu to %llu ns, %.0f in all", name,
				 (unsigned long long) latencies->ops, (unsigned long long) log->failed,
				 (unsigned long long) log->skipped, (unsigned long long) log->unreadable,
				 (unsigned long long) latencies->min_ns,
				 (unsigned long long) latencies->max_ns, latencies->sum_ns);
}

/* Each piece is a copy of its own length, so that reading behind it is noticed. */
static void
feed_in_pieces(sp_pgbench_log *log, sp_pgbench_log_file *file, const char *text, size_t length,
			   size_t piece)
{
	while (length > 0)
	{
		size_t		next = piece < length ? piece : length;
		char	   *copy = malloc(next);

		assert_non_null(copy);
		memcpy(copy, text, next);
		sp_pgbench_log_feed(log, file, copy, next);
		free(copy);
		text += next;
		length -= next;
	}
}

static void
begins_with_nothing(void **state)
{
	static const counts nothing = {0, 0, 0, 0, 0, 0, 0};
	sp_pgbench_log log;
	sp_pgbench_log_file file = {0};

	(void) state;
	memset(&log, 1, sizeof(log));
	sp_pgbench_log_init(&log);
	check_counts("new", &log, &nothing);
	sp_pgbench_log_feed(&log, &file, "", 0);
	sp_pgbench_log_end_of_file(&log, &file);
	check_counts("of nothing", &log, &nothing);
}

static void
reads_logs_in_any_pieces(void **state)
{
	(void) state;
	for (size_t i = 0; i < lengthof(log_cases); i++)
	{
		size_t		length;
		char	   *text = read_fixture("pgbench", log_cases[i].file, &length, 0);

		for (size_t piece = 1; piece <= 80; piece++)
		{
			sp_pgbench_log log;
			sp_pgbench_log_file file = {0};

			sp_pgbench_log_init(&log);
			feed_in_pieces(&log, &file, text, length, piece < 80 ? piece : length);
			sp_pgbench_log_end_of_file(&log, &file);
			check_counts(log_cases[i].file, &log, &log_cases[i].expected);
		}
		free(text);
	}
}

static void
reads_odd_lines(void **state)
{
	(void) state;
	for (size_t i = 0; i < lengthof(line_cases); i++)
	{
		for (size_t piece = 1; piece <= line_cases[i].length; piece++)
		{
			sp_pgbench_log log;
			sp_pgbench_log_file file = {0};

			sp_pgbench_log_init(&log);
			feed_in_pieces(&log, &file, line_cases[i].line, line_cases[i].length, piece);
			check_counts(line_cases[i].name, &log, &line_cases[i].expected);
		}
	}
}

/* Files of several threads come in turns, cut in the middle of their lines. */
static void
reads_files_in_turns(void **state)
{
	static const counts both = {229, 0, 0, 0, 321000, 2170000, 183551000};
	size_t		lengths[2];
	char	   *texts[] = {
		read_fixture("pgbench", "15_sampled.log", &lengths[0], 0),
		read_fixture("pgbench", "15_sampled.log.1", &lengths[1], 0)
	};

	(void) state;
	for (size_t piece = 1; piece <= 80; piece++)
	{
		sp_pgbench_log log;
		sp_pgbench_log_file files[2] = {0};

		sp_pgbench_log_init(&log);
		for (size_t at = 0; at < lengths[0] || at < lengths[1]; at += piece)
		{
			for (size_t i = 0; i < 2; i++)
			{
				size_t		start = at < lengths[i] ? at : lengths[i];
				size_t		left = lengths[i] - start;

				feed_in_pieces(&log, &files[i], texts[i] + start, left < piece ? left : piece,
							   piece);
			}
		}
		sp_pgbench_log_end_of_file(&log, &files[0]);
		sp_pgbench_log_end_of_file(&log, &files[1]);
		check_counts("both", &log, &both);
	}
	free(texts[0]);
	free(texts[1]);
}

/* A cut-off line is not read, and not taken for the beginning of the next file. */
static void
counts_a_line_that_lost_its_end(void **state)
{
	static const counts expected = {1, 0, 0, 1, 289000, 289000, 289000};
	static const char cut[] = "0 1 289 0 1795280639 48";
	static const char next[] = "0 1 289 0 1795280639 489106\n";
	sp_pgbench_log log;
	sp_pgbench_log_file file = {0};

	(void) state;
	sp_pgbench_log_init(&log);
	sp_pgbench_log_feed(&log, &file, cut, sizeof(cut) - 1);
	sp_pgbench_log_end_of_file(&log, &file);
	sp_pgbench_log_end_of_file(&log, &file);
	sp_pgbench_log_feed(&log, &file, next, sizeof(next) - 1);
	sp_pgbench_log_end_of_file(&log, &file);
	check_counts("cut", &log, &expected);
}

/*
 * A line of that length, whose end alone looks like one, and a good one behind
 * it.  None of pgbench's is that long.
 */
static void
check_length(size_t length, size_t piece)
{
	static const counts expected = {0, 1, 0, 1, 0, 0, 0};
	static const char end[] = "0 1 7 0 1 1\n";
	static const char next[] = "0 2 failed 0 1 1\n";
	char	   *text = malloc(length + sizeof(next));
	sp_pgbench_log log;
	sp_pgbench_log_file file = {0};

	assert_non_null(text);
	memset(text, '1', length);
	memcpy(text + length - (sizeof(end) - 2), end, sizeof(end) - 1);
	memcpy(text + length + 1, next, sizeof(next) - 1);
	sp_pgbench_log_init(&log);
	feed_in_pieces(&log, &file, text, length + sizeof(next), piece);
	sp_pgbench_log_end_of_file(&log, &file);
	check_counts("long", &log, &expected);
	free(text);
}

/* Byte by byte: the kept part of a line never exceeds its buffer. */
static void
keeps_no_more_than_a_line(void **state)
{
	sp_pgbench_log log;
	sp_pgbench_log_file file = {0};

	(void) state;
	sp_pgbench_log_init(&log);
	for (size_t length = 1; length < 3 * SP_PGBENCH_LOG_LINE; length++)
	{
		sp_pgbench_log_feed(&log, &file, "1", 1);
		assert_int_equal(file.rest_length, length <= SP_PGBENCH_LOG_LINE ? length :
						 SP_PGBENCH_LOG_LINE + 1);
	}
}

static void
survives_lines_of_any_length(void **state)
{
	static const size_t lengths[] = {
		SP_PGBENCH_LOG_LINE - 1, SP_PGBENCH_LOG_LINE, SP_PGBENCH_LOG_LINE + 1,
		SP_PGBENCH_LOG_LINE + 2, 2 * SP_PGBENCH_LOG_LINE, 1000000,
	};

	(void) state;
	for (size_t i = 0; i < lengthof(lengths); i++)
	{
		check_length(lengths[i], SP_PGBENCH_LOG_LINE - 1);
		check_length(lengths[i], SP_PGBENCH_LOG_LINE);
		check_length(lengths[i], SP_PGBENCH_LOG_LINE + 1);
		check_length(lengths[i], lengths[i]);
		check_length(lengths[i], 2000000);
		if (lengths[i] < 1000)
			check_length(lengths[i], 1);
	}
}

/* Fed like a file.  The time is printed, not tested, since machines differ. */
static void
reads_a_million_lines(void **state)
{
	static const char line[] = "15 1000000 1234567 0 1795280639 489106\n";
	static const size_t lines_of_piece = 1000;
	const size_t length = sizeof(line) - 1;
	char	   *piece = malloc(lines_of_piece * length);
	sp_pgbench_log log;
	sp_pgbench_log_file file = {0};
	clock_t		start;
	double		seconds;

	(void) state;
	assert_non_null(piece);
	for (size_t i = 0; i < lines_of_piece; i++)
		memcpy(piece + i * length, line, length);
	sp_pgbench_log_init(&log);
	start = clock();
	for (size_t i = 0; i < 1000; i++)
		sp_pgbench_log_feed(&log, &file, piece, lines_of_piece * length);
	seconds = (double) (clock() - start) / CLOCKS_PER_SEC;
	sp_pgbench_log_end_of_file(&log, &file);
	assert_int_equal(log.latencies.ops, 1000000);
	assert_int_equal(log.unreadable, 0);
	assert_true(log.latencies.min_ns == 1234567000 && log.latencies.max_ns == 1234567000);
	print_message("# %.0f ns a line\n", seconds * 1000);
	free(piece);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(begins_with_nothing),
		cmocka_unit_test(reads_logs_in_any_pieces),
		cmocka_unit_test(reads_odd_lines),
		cmocka_unit_test(reads_files_in_turns),
		cmocka_unit_test(counts_a_line_that_lost_its_end),
		cmocka_unit_test(keeps_no_more_than_a_line),
		cmocka_unit_test(survives_lines_of_any_length),
		cmocka_unit_test(reads_a_million_lines),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("pgbench_log", tests, NULL, NULL);
}
