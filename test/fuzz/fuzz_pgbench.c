/*-------------------------------------------------------------------------
 *
 * fuzz_pgbench.c
 *	  Fuzz target: what pgbench prints and logs.
 *
 * Each parser gets the whole input.
 *
 * It must not: include a server header, or start pgbench.
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>

#include "fuzz.h"
#include "engine/pgbench/log.h"
#include "engine/pgbench/output.h"

const char *const fuzz_seeds = "pgbench";

/* Of the right length, so that reading behind it is noticed. */
static char *
copy_bytes(const char *text, size_t length, size_t terminator)
{
	size_t		size = length + terminator;
	char	   *copy = calloc(size > 0 ? size : 1, 1);

	require(copy != NULL);
	if (length > 0)
		memcpy(copy, text, length);
	return copy;
}

static bool
is_figure(double number)
{
	return isnan(number) || (isfinite(number) && number >= 0);
}

static bool
same(double first, double second)
{
	return first == second || (isnan(first) && isnan(second));
}

static void
check_progress(const char *text, size_t length)
{
	char	   *line = copy_bytes(text, length, 1);
	sp_pgbench_progress progress = {-2, -2, -2, -2, -2};

	if (sp_pgbench_parse_progress(line, &progress))
	{
		require(is_figure(progress.seconds) && is_figure(progress.tps));
		require(is_figure(progress.latency_ms) && is_figure(progress.stddev_ms));
		require(progress.failed >= 0);
		require(progress.tps != 0 || progress.latency_ms != 0);
		require(strstr(line, " failed") != NULL);
	}
	else
		require(progress.seconds == -2 && progress.tps == -2 && progress.failed == -2 &&
				progress.latency_ms == -2 && progress.stddev_ms == -2);
	free(line);
}

/* Where statements may come from, and how many came. */
typedef struct statements
{
	const char *text;
	size_t		length;
	size_t		count;
} statements;

static void
check_statement(void *context, double latency_ms, int64_t failures, const char *text,
				size_t length)
{
	statements *seen = context;

	seen->count++;
	require(is_figure(latency_ms) && failures >= 0);
	require(text >= seen->text && length < seen->length);
	/* its newline is part of the text, but not of the statement */
	require(text + length < seen->text + seen->length && text[length] == '\n');
	require(length == 0 || memchr(text, '\n', length) == NULL);
}

static bool
is_same_summary(const sp_pgbench_summary *first, const sp_pgbench_summary *second)
{
	return first->clients == second->clients && first->threads == second->threads &&
		first->transactions == second->transactions &&
		first->failed == second->failed && same(first->tps, second->tps) &&
		same(first->latency_mean_ms, second->latency_mean_ms) &&
		same(first->latency_stddev_ms, second->latency_stddev_ms) &&
		same(first->connection_ms, second->connection_ms);
}

static void
check_summary(const char *text, size_t length)
{
	char	   *copy = copy_bytes(text, length, 0);
	statements	seen = {copy, length, 0};
	sp_pgbench_summary summary;
	sp_pgbench_summary again;
	bool		understood = sp_pgbench_parse_summary(copy, length, &summary,
													  check_statement, &seen);

	require(understood == (summary.transactions >= 0 && !isnan(summary.tps)));
	require(understood || seen.count == 0);
	require(summary.clients >= -1 && summary.threads >= -1);
	require(summary.transactions >= -1 && summary.failed >= -1);
	require(is_figure(summary.latency_mean_ms) && is_figure(summary.latency_stddev_ms));
	require(is_figure(summary.connection_ms) && is_figure(summary.tps));
	/* who does not want the statements gets the same */
	require(sp_pgbench_parse_summary(copy, length, &again, NULL, NULL) == understood);
	require(is_same_summary(&summary, &again));
	free(copy);
}

static void
check_version(const char *text, size_t length)
{
	char	   *copy = copy_bytes(text, length, 1);
	char		whole[256];
	int			major = sp_pgbench_parse_version(copy, whole, sizeof(whole));

	require(major >= 0 && strnlen(whole, sizeof(whole)) < sizeof(whole));
	require(strpbrk(whole, "\r\n") == NULL && strstr(copy, whole) != NULL);
	require(major == 0 ? whole[0] == '\0' : atoi(whole) == major);
	for (size_t size = 0; size < 8; size++)
	{
		char	   *cut = malloc(size > 0 ? size : 1);

		require(cut != NULL && sp_pgbench_parse_version(copy, cut, size) == major);
		require(size == 0 || (memchr(cut, '\0', size) != NULL &&
							  strncmp(cut, whole, strlen(cut)) == 0));
		free(cut);
	}
	free(copy);
}

static bool
is_same_log(const sp_pgbench_log *first, const sp_pgbench_log *second)
{
	return first->failed == second->failed && first->skipped == second->skipped &&
		first->unreadable == second->unreadable &&
		memcmp(&first->latencies, &second->latencies, sizeof(first->latencies)) == 0;
}

static uint64_t
count_newlines(const char *text, size_t length)
{
	uint64_t	count = 0;

	for (size_t i = 0; i < length; i++)
		count += text[i] == '\n';
	return count;
}

static void
check_log(const char *text, size_t length)
{
	static sp_pgbench_log whole;
	static sp_pgbench_log pieces;
	sp_pgbench_log_file whole_file = {0};
	sp_pgbench_log_file pieces_file = {0};
	char	   *copy = copy_bytes(text, length, 0);
	uint64_t	lines = count_newlines(text, length);

	sp_pgbench_log_init(&whole);
	sp_pgbench_log_feed(&whole, &whole_file, copy, length);
	free(copy);
	require(whole.latencies.ops + whole.failed + whole.skipped + whole.unreadable == lines);

	sp_pgbench_log_init(&pieces);
	for (size_t at = 0, piece; at < length; at += piece)
	{
		/* of lengths that the text decides on, and that differ */
		piece = (unsigned char) text[at] % 37 + 1;
		piece = piece < length - at ? piece : length - at;
		copy = copy_bytes(text + at, piece, 0);
		sp_pgbench_log_feed(&pieces, &pieces_file, copy, piece);
		free(copy);
	}
	require(is_same_log(&whole, &pieces));
	require(whole_file.rest_length == pieces_file.rest_length);

	sp_pgbench_log_end_of_file(&pieces, &pieces_file);
	require(pieces_file.rest_length == 0);
	require(pieces.unreadable ==
			whole.unreadable + (length > 0 && text[length - 1] != '\n'));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *) data;

	check_progress(text, size);
	check_summary(text, size);
	check_version(text, size);
	check_log(text, size);
	return 0;
}
