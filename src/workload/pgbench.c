/*-------------------------------------------------------------------------
 *
 * pgbench.c
 *		Run the server's own pgbench against this very server.
 *
 * What it is told is in pgbench_command.c.  What it says while it runs becomes
 * progress, what it says at the end the summary; if it fails its first words are
 * the DETAIL of the error, as all that follows says the same again for every
 * client.  Its transaction log goes through FIFOs and is read as it comes: on
 * disk it would be load beside the one that is measured, and as long as the run.
 *
 * It must not: know what the workload is, or make and drop anything but the
 * files in the temporary directory it is given.
 *
 *-------------------------------------------------------------------------
 */
#include "workload/pgbench_internal.h"

#include <math.h>

#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/portal.h"
#include "utils/snapmgr.h"

#include "common/child_process.h"

/* Its summary grows with the statements of the script, its errors with clients. */
#define MAX_OUTPUT			(1024 * 1024)
#define MAX_WORDS			800

/* What it asks for nobody, and then goes on in the same line. */
#define PROMPT				"Password: "

/* A NOTICE a second, and later one each twentieth of the time that has passed. */
#define NOTICES_OF_THE_PAST	20

/*
 * How far pgbench may be ahead of us in its log before it has to wait: a
 * megabyte is some 30,000 transactions.  Together no more than half of what
 * Linux grants an account before new pipes of it get smaller.
 */
#define MAX_FIFO_BYTES		(1024 * 1024)
#define MAX_FIFO_BYTES_ALL	(32 * MAX_FIFO_BYTES)
#define MIN_FIFO_BYTES		(64 * 1024)	/* what Linux gives anyway */

/* What the callbacks that get its lines and its log work with. */
typedef struct output_reader
{
	sp_workload_run *run;
	sp_pgbench_result *result;
	int			allocated;		/* of the result's seconds */
	double		seconds;		/* of the line before */
	double		transactions;
	double		next_notice;
	const sp_temp_directory *directory;
	sp_pgbench_log_file *log_files; /* for each thread */
	StringInfoData words;		/* what is no progress, with the first error */
	int			errors;
} output_reader;

/* ------------------------------------------------------------- what it says */

static void
note_progress(output_reader *state, const sp_pgbench_progress *progress)
{
	sp_pgbench_result *result = state->result;
	double		elapsed = progress->seconds - state->seconds;

	if (result->nseconds == state->allocated)
	{
		state->allocated *= 2;
		result->second_tps = repalloc(result->second_tps, state->allocated * sizeof(double));
		result->second_latency_ms = repalloc(result->second_latency_ms, state->allocated * sizeof(double));
	}
	result->second_tps[result->nseconds] = progress->tps;
	result->second_latency_ms[result->nseconds++] = progress->latency_ms;

	state->seconds = progress->seconds;
	if (!isnan(progress->tps))
		state->transactions += progress->tps * elapsed;
	state->run->progress->transactions = (int64) rint(state->transactions);
	if (progress->seconds < state->next_notice)
		return;
	state->next_notice = progress->seconds - 0.5 + Max(1, progress->seconds / NOTICES_OF_THE_PAST);
	ereport(NOTICE,
			(errmsg("%s in %s: %.0f s, %.0f transactions/s%s",
					NameStr(state->run->workload.name), NameStr(state->run->tablespace),
					progress->seconds, progress->tps,
					isnan(progress->latency_ms) ? "" :
					psprintf(", latency %.3f ms", progress->latency_ms))));
}

static void
take_pgbench_line(void *context, bool from_stderr, const char *line)
{
	output_reader *state = context;
	sp_pgbench_progress progress;

	if (!from_stderr)
		return;
	if (strncmp(line, PROMPT, strlen(PROMPT)) == 0)
		line += strlen(PROMPT);
	if (strncmp(line, "pgbench: error: ", strlen("pgbench: error: ")) == 0)
		state->errors++;
	if (sp_pgbench_parse_progress(line, &progress))
		note_progress(state, &progress);
	else if (state->errors < 2 && state->words.len < MAX_WORDS && line[0] != '\0')
		appendStringInfo(&state->words, "%s%s", state->words.len > 0 ? "\n" : "", line);
}

/* pgbench cuts its text, and may cut a character in two. */
static void
take_statement(void *context, double latency_ms, int64_t failures, const char *text, size_t length)
{
	sp_pgbench_result *result = context;
	sp_pgbench_line_statement *statement = palloc(sizeof(*statement));

	statement->latency_ms = latency_ms;
	statement->failures = failures;
	statement->text = sp_valid_text(pnstrdup(text, pg_mbcliplen(text, length, length)));
	result->statements = lappend(result->statements, statement);
}

/*
 * Its words, for a DETAIL.  A statement that it quotes is in the encoding of
 * the database, but may be cut.
 */
static char *
own_words(output_reader *state)
{
	if (state->words.len == 0)
		return "It said nothing.";
	if (state->words.len > MAX_WORDS)
	{
		state->words.len = pg_mbcliplen(state->words.data, state->words.len, MAX_WORDS);
		state->words.data[state->words.len] = '\0';
	}
	if (state->errors > 1)
		appendStringInfo(&state->words, "\n(%d more errors after this one)", state->errors - 1);
	return sp_valid_text(state->words.data);
}

static void
complain_about_connection(const sp_workload_run *run, const char *words)
{
	ereport(ERROR,
			(errcode(ERRCODE_SQLCLIENT_UNABLE_TO_ESTABLISH_SQLCONNECTION),
			 errmsg("pgbench could not connect to run workload \"%s\"", NameStr(run->workload.name)),
			 errdetail_internal("%s", words),
			 errhint("It connects as role \"%s\" from the server's own machine and account. Let a line of pg_hba.conf allow that without a password, or name a password file (LOAD 'pg_sync_probe'; ALTER SYSTEM SET pg_sync_probe.pgbench_passfile = ...; SELECT pg_reload_conf();).",
					 GetUserNameFromId(GetUserId(), false))));
}

/* what: it did */
static void
complain(const sp_workload_run *run, output_reader *state, const char *what, bool timed_out)
{
	const char *words = own_words(state);

	if (strstr(words, "pgbench: error: connection to server "))
		complain_about_connection(run, words);
	ereport(ERROR,
			(errcode(ERRCODE_EXTERNAL_ROUTINE_EXCEPTION),
			 errmsg("pgbench %s while it ran workload \"%s\"", what, NameStr(run->workload.name)),
			 errdetail_internal("%s", words),
			 timed_out ?
			 errhint("Does it wait for a lock that the caller holds? A number of transactions may take pg_sync_probe.max_duration and a minute, a duration a minute more than itself.") : 0));
}

/* --------------------------------------------------------- what it logs */

/* The files of its log have these names, see threadRun() in pgbench.c of 15 to 19. */
static int
open_log_file(void *context, pid_t pid, int thread)
{
	output_reader *state = context;
	char		name[64];
	int			bytes = Min(MAX_FIFO_BYTES, MAX_FIFO_BYTES_ALL / state->run->threads);

	if (thread == 0)
		snprintf(name, sizeof(name), SP_PGBENCH_LOG_PREFIX ".%d", (int) pid);
	else
		snprintf(name, sizeof(name), SP_PGBENCH_LOG_PREFIX ".%d.%d", (int) pid, thread);
	return sp_temp_directory_fifo(state->directory, name, Max(bytes, MIN_FIFO_BYTES));
}

static void
take_log(void *context, int thread, const char *data, Size length)
{
	output_reader *state = context;

	sp_pgbench_log_feed(&state->result->log, &state->log_files[thread], data, length);
}

/* A script may do anything to the files; pgbench itself logs what it counts. */
static void
check_log(output_reader *state)
{
	sp_pgbench_log *log = &state->result->log;

	for (int i = 0; i < state->run->threads; i++)
		sp_pgbench_log_end_of_file(log, &state->log_files[i]);
	if (log->unreadable > 0 || log->latencies.ops != (uint64_t) state->result->summary.transactions)
		ereport(WARNING,
				(errmsg("the transaction log of pgbench is not complete"),
				 errdetail("It holds " INT64_FORMAT " of " INT64_FORMAT " transactions; unreadable lines: " INT64_FORMAT ". Latency quantiles and the maximum are of the transactions that it holds.",
						   (int64) log->latencies.ops, state->result->summary.transactions,
						   (int64) log->unreadable)));
}

/* ------------------------------------------------------------------ the run */

/*
 * After a commit the first statement that is executed gives a CALL a snapshot
 * again, which stays until the next commit; and what was looked up in the
 * catalogs may hold another.
 */
static void
release_snapshots(void)
{
	ForgetPortalSnapshots();
	InvalidateCatalogSnapshot();
}

static int
timeout_ms(const sp_workload_run *run)
{
	int64		own_ms = run->seconds > 0 ? run->seconds * INT64CONST(1000) : sp_max_duration_ms;

	return (int) Min(own_ms + SP_WORKLOAD_GRACE_MS, PG_INT32_MAX);
}

static void
init_output_reader(output_reader *state, sp_workload_run *run, sp_pgbench_result *result)
{
	memset(state, 0, sizeof(*state));
	state->run = run;
	state->result = result;
	state->allocated = 64;
	state->log_files = palloc0(run->threads * sizeof(*state->log_files));
	initStringInfo(&state->words);
	sp_pgbench_log_init(&result->log);
	result->second_tps = palloc(state->allocated * sizeof(double));
	result->second_latency_ms = palloc(state->allocated * sizeof(double));
}

/*
 * Run the workload's script from the temporary directory; result is what came of
 * it.  Updates run->progress.
 */
void
sp_pgbench_run(sp_workload_run *run, const sp_pgbench_program *found,
			   const sp_temp_directory *directory, sp_pgbench_result *result)
{
	char	   *script = sp_temp_directory_write(directory, "script.sql", run->workload.script);
	output_reader state;
	sp_child_program program = {
		.path = found->path,
		.argv = sp_pgbench_argv(run, found, directory, script),
		.envp = sp_pgbench_envp(run),
		.timeout_ms = timeout_ms(run),
		.max_output = MAX_OUTPUT,
		.line = take_pgbench_line,
		.nstreams = run->threads,
		.open_stream = open_log_file,
		.stream_data = take_log,
		.streams_hint = "Lower threads; each takes one descriptor.",
		.context = &state
	};
	sp_child_result ended;

	memset(result, 0, sizeof(*result));
	result->program = found;
	init_output_reader(&state, run, result);
	state.directory = directory;

	if (run->is_procedure)
		release_snapshots();
	run->started_at = GetCurrentTimestamp();
	sp_child_run(&program, &ended);
	run->finished_at = GetCurrentTimestamp();
	if (!sp_child_succeeded(&ended))
		complain(run, &state, sp_child_describe(&program, &ended), ended.timed_out);
	if (!sp_pgbench_parse_summary(ended.out.data, ended.out.len, &result->summary,
								  take_statement, result))
		complain(run, &state, "printed a summary that is not understood", false);
	check_log(&state);
	pfree(ended.out.data);
	pfree(ended.err.data);
	pfree(state.log_files);
}
