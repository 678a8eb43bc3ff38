/*-------------------------------------------------------------------------
 *
 * pgbench.c
 *		Run the server's own pgbench against this server.
 *
 * pgbench_command.c builds the command.  Progress lines become NOTICEs, and the final
 * report becomes the summary.  If pgbench fails, its first error is the DETAIL, since
 * later ones repeat it for each client.  The transaction log is read through FIFOs
 * while pgbench runs; on disk it would add load to the measured one.
 *
 * It must not: know the workload, or create anything but files in the temporary
 * directory.
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

/* The summary grows with the statements of the script, the errors with clients. */
#define MAX_OUTPUT			(1024 * 1024)
#define MAX_WORDS			800

/* Without a terminal, pgbench prints this and goes on in the same line. */
#define PROMPT				"Password: "

/* One NOTICE a second, later one after each 1/20 of the time that has passed. */
#define NOTICES_OF_THE_PAST	20

/*
 * The capacity of the FIFOs.  When one is full, pgbench must wait; 1 MB holds about
 * 30,000 transactions.  Their sum is at most half of what Linux grants a user before
 * it makes new pipes smaller.
 */
#define MAX_FIFO_BYTES		(1024 * 1024)
#define MAX_FIFO_BYTES_ALL	(32 * MAX_FIFO_BYTES)
#define MIN_FIFO_BYTES		(64 * 1024)	/* the default of Linux */

/* The context of the callbacks for output and log.  A load has only words. */
typedef struct output_reader
{
	sp_workload_run *run;
	sp_pgbench_result *result;
	int			allocated;		/* of the result's seconds */
	double		seconds;		/* of the previous progress line */
	double		transactions;
	double		next_notice;
	const sp_temp_directory *directory;
	sp_pgbench_log_file *log_files; /* one for each thread */
	StringInfoData words;		/* other lines, up to the first error */
	int			errors;
} output_reader;

/* ------------------------------------------------------------------ its output */

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

static const char *
without_prompt(const char *line)
{
	return strncmp(line, PROMPT, strlen(PROMPT)) == 0 ? line + strlen(PROMPT) : line;
}

static void
take_words(void *context, bool from_stderr, const char *line)
{
	output_reader *state = context;

	if (!from_stderr)
		return;
	line = without_prompt(line);
	if (strncmp(line, "pgbench: error: ", strlen("pgbench: error: ")) == 0)
		state->errors++;
	if (state->errors < 2 && state->words.len < MAX_WORDS && line[0] != '\0')
		appendStringInfo(&state->words, "%s%s", state->words.len > 0 ? "\n" : "", line);
}

static void
take_pgbench_line(void *context, bool from_stderr, const char *line)
{
	sp_pgbench_progress progress;

	if (from_stderr && sp_pgbench_parse_progress(without_prompt(line), &progress))
		note_progress(context, &progress);
	else
		take_words(context, from_stderr, line);
}

/* pgbench truncates the text, possibly within a multibyte character. */
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
 * The error output for a DETAIL.  A quoted statement is in the database encoding, but
 * may be truncated.
 */
static char *
own_words(output_reader *state)
{
	if (state->words.len == 0)
		return "It printed no error message.";
	if (state->words.len > MAX_WORDS)
	{
		state->words.len = pg_mbcliplen(state->words.data, state->words.len, MAX_WORDS);
		state->words.data[state->words.len] = '\0';
	}
	if (state->errors > 1)
		appendStringInfo(&state->words, "\n(errors after this one: %d)", state->errors - 1);
	return sp_valid_text(state->words.data);
}

static void
complain_about_connection(const sp_workload_run *run, const char *words)
{
	ereport(ERROR,
			(errcode(ERRCODE_SQLCLIENT_UNABLE_TO_ESTABLISH_SQLCONNECTION),
			 errmsg("pgbench could not connect to run workload \"%s\"", NameStr(run->workload.name)),
			 errdetail_internal("%s", words),
			 errhint("It connects locally as role \"%s\", from the operating system account of the server. Allow this without a password in pg_hba.conf, or set a password file (LOAD 'pg_sync_probe'; ALTER SYSTEM SET pg_sync_probe.pgbench_passfile = ...; SELECT pg_reload_conf();).",
					 GetUserNameFromId(GetUserId(), false))));
}

/* what: how pgbench ended */
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
			 errhint("It may wait for a lock that the caller holds. Counted runs stop one minute after pg_sync_probe.max_duration, timed runs one minute after their duration.") : 0));
}

/* --------------------------------------------------------------------- its log */

/* The names of the log files are those of threadRun() in pgbench.c of 15 to 19. */
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

/* The log must hold as many transactions as the summary; \shell may have changed it. */
static void
check_log(output_reader *state)
{
	sp_pgbench_log *log = &state->result->log;

	for (int i = 0; i < state->run->threads; i++)
		sp_pgbench_log_end_of_file(log, &state->log_files[i]);
	if (log->unreadable > 0 || log->latencies.ops != (uint64_t) state->result->summary.transactions)
		ereport(WARNING,
				(errmsg("the transaction log of pgbench is not complete"),
				 errdetail("It holds " INT64_FORMAT " of " INT64_FORMAT " transactions; unreadable lines: " INT64_FORMAT ". Latency quantiles and the maximum are those of the transactions that it holds.",
						   (int64) log->latencies.ops, state->result->summary.transactions,
						   (int64) log->unreadable)));
}

/*
 * Clients end a transaction that they have begun, but begin none when time is up, which
 * runs while they connect.
 */
static void
check_transactions(output_reader *state)
{
	sp_pgbench_summary *summary = &state->result->summary;

	if (summary->transactions > 0 || summary->failed > 0)
		return;
	summary->failed = 0;		/* 18 and later print no failures then */
	ereport(WARNING,
			(errmsg("workload \"%s\" has begun no transaction", NameStr(state->run->workload.name)),
			 errdetail("Its clients were not connected before its duration was over."),
			 errhint("Choose a longer duration, or fewer clients.")));
}

/* ------------------------------------------------------------------ the run */

/*
 * After a commit, the first statement of a CALL takes a snapshot and holds it until the
 * next commit.  Catalog lookups may hold another one.
 */
static void
release_snapshots(void)
{
	ForgetPortalSnapshots();
	InvalidateCatalogSnapshot();
}

static void
init_output_reader(output_reader *state, sp_workload_run *run, sp_pgbench_result *result)
{
	memset(state, 0, sizeof(*state));
	state->run = run;
	initStringInfo(&state->words);
	if (result == NULL)
		return;
	state->result = result;
	state->allocated = 64;
	state->log_files = palloc0(run->threads * sizeof(*state->log_files));
	sp_pgbench_log_init(&result->log);
	result->second_tps = palloc(state->allocated * sizeof(double));
	result->second_latency_ms = palloc(state->allocated * sizeof(double));
}

/* Run the script of the workload, and set *result.  Updates run->progress. */
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
		.timeout_ms = sp_workload_limit_ms(run->seconds > 0 ? run->seconds * INT64CONST(1000) :
										   sp_max_duration_ms),
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
	check_transactions(&state);
	pfree(ended.out.data);
	pfree(ended.err.data);
	pfree(state.log_files);
}

/* ------------------------------------------------------------------- as a load */

struct sp_pgbench_load
{
	sp_workload_run *run;
	output_reader reader;
	sp_child_program program;
	sp_child_result ended;
	sp_child   *child;			/* NULL before it is started */
};

/* Without progress and log: nobody wants them. */
sp_pgbench_load *
sp_pgbench_start(sp_workload_run *run, const sp_pgbench_program *found,
				 const sp_temp_directory *directory)
{
	char	   *script = sp_temp_directory_write(directory, "script.sql", run->workload.script);
	sp_pgbench_load *load = palloc0(sizeof(sp_pgbench_load));

	load->run = run;
	init_output_reader(&load->reader, run, NULL);
	load->program = (sp_child_program) {
		.path = found->path,
		.argv = sp_pgbench_argv(run, found, NULL, script),
		.envp = sp_pgbench_envp(run),
		.max_output = MAX_OUTPUT,
		.line = take_words,
		.context = &load->reader
	};
	release_snapshots();
	load->child = sp_child_start(&load->program, &load->ended);
	return load;
}

/*
 * An error if it has ended, or has lost a client.  It goes on without that client, and fails
 * at its end, but that is never awaited.
 */
void
sp_pgbench_check(sp_pgbench_load *load)
{
	if (sp_child_poll(load->child))
		complain(load->run, &load->reader, sp_child_describe(&load->program, &load->ended), false);
	if (load->reader.errors > 0)
		complain(load->run, &load->reader, "reported an error", false);
}

/* Throws no error. */
void
sp_pgbench_end(sp_pgbench_load *load)
{
	if (load->child)
		sp_child_end(load->child);
}
