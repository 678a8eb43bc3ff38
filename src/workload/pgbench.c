/*-------------------------------------------------------------------------
 *
 * pgbench.c
 *		Run the server's own pgbench against this server.
 *
 * pgbench_command.c builds the command.  Of the script, progress lines become NOTICEs, and
 * the final report becomes the summary.  If pgbench fails, its first error is the DETAIL,
 * since later ones repeat it for each client.  The transaction log is read through FIFOs
 * while pgbench runs; on disk it would add load to the measured one.
 *
 * It must not: know the workload, or create anything but files in the temporary
 * directory.
 *
 *-------------------------------------------------------------------------
 */
#include "workload/workload.h"

#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/portal.h"
#include "utils/snapmgr.h"

/* Of a DETAIL. */
#define MAX_WORDS			800

/* Without a terminal, pgbench begins its output with this, and goes on in the same line. */
#define PROMPT				"Password: "

/*
 * The capacity of the FIFOs.  When one is full, pgbench must wait; 1 MB holds about
 * 30,000 transactions.  Their sum is at most half of what Linux grants a user before
 * it makes new pipes smaller.
 */
#define MAX_FIFO_BYTES		(1024 * 1024)
#define MAX_FIFO_BYTES_ALL	(32 * MAX_FIFO_BYTES)

/* The output of pgbench while it runs. */
typedef struct output_reader
{
	sp_workload_run *run;
	sp_pgbench_result *result;
	double		next_notice;	/* in seconds */
	sp_pgbench_log_file *log_files; /* one for each thread */
	int		   *log_fds;		/* 0 or negative before it is opened */
} output_reader;

/* --------------------------------------------------------------------- errors */

/*
 * pgbench's error output up to the end of its first error, for a DETAIL: later ones repeat it for
 * each client.  A quoted statement is in the database encoding, but may be truncated.
 */
static char *
own_words(char *err)
{
	StringInfoData words;
	sp_pgbench_progress progress;
	int			errors = 0;

	if (strncmp(err, PROMPT, strlen(PROMPT)) == 0)
		err += strlen(PROMPT);
	initStringInfo(&words);
	for (char *next = err; next;)
	{
		const char *line = strsep(&next, "\n");

		if (line[0] == '\0' || sp_pgbench_parse_progress(line, &progress))
			continue;
		if (strncmp(line, SP_PGBENCH_ERROR, strlen(SP_PGBENCH_ERROR)) == 0 && errors++ > 0)
			break;
		appendStringInfo(&words, "%s%s", words.len > 0 ? "\n" : "", line);
	}
	if (words.len == 0)
		return "It printed no error message.";
	words.data[pg_mbcliplen(words.data, words.len, MAX_WORDS)] = '\0';
	return sp_valid_text(words.data);
}

/* how: pgbench ended, by default as it did; what: "ran", "set up" and so on */
void
sp_pgbench_complain(int elevel, const sp_workload_run *run, const sp_child *child,
					const char *how, const char *what)
{
	const char *words = own_words(child->err);
	bool		connected = strstr(words, SP_PGBENCH_ERROR "connection to server ") == NULL;
	const char *hint = NULL;

	if (!connected)
	{
		how = "could not connect";
		hint = psprintf("If authentication failed: it connects locally as role \"%s\", from the operating system account of the server. Allow this without a password in pg_hba.conf, or set a password file (LOAD 'pg_sync_probe'; ALTER SYSTEM SET pg_sync_probe.pgbench_passfile = ...; SELECT pg_reload_conf();).",
						GetUserNameFromId(GetUserId(), false));
	}
	else if (strstr(words, "due to lock timeout"))
		hint = "The transaction that runs the workload may hold the lock itself; the deadlock detector cannot see this.";
	else if (child->timed_out)
		hint = "It may wait for a lock that the caller holds. Timed runs stop one minute after their duration; counted runs, set-ups and tear-downs one minute after pg_sync_probe.max_duration.";
	else if (run->workload.builtin && run->workload.transactions > 0)
		hint = "Operations of sql-bench that use up their objects need clients => 1, and no more transactions than by default.";
	ereport(elevel,
			(errcode(connected ? ERRCODE_EXTERNAL_ROUTINE_EXCEPTION :
					 ERRCODE_SQLCLIENT_UNABLE_TO_ESTABLISH_SQLCONNECTION),
			 errmsg("pgbench %s while it %s workload \"%s\"", how ? how : child->ending,
					what, NameStr(run->workload.name)),
			 errdetail_internal("%s", words),
			 hint ? errhint("%s", hint) : 0));
}

/* ------------------------------------------------------------------ its output */

static void
read_progress_lines(output_reader *state, sp_child *child)
{
	char	   *lines = sp_child_new_lines(child);
	sp_pgbench_progress now;

	for (char *next = lines; next;)
	{
		double		tps;

		if (!sp_pgbench_parse_progress(strsep(&next, "\n"), &now))
			continue;
		tps = sp_rounded(now.tps, 1);	/* pgbench prints no more digits */
		appendBinaryStringInfo(&state->result->second_tps, (const char *) &tps, sizeof(tps));
		if (now.seconds < state->next_notice)
			continue;
		state->next_notice = now.seconds - 0.5 + SP_NOTICE_PAUSE(now.seconds, 1);
		ereport(NOTICE,
				(errmsg("%s in %s: %.0f s, %.0f transactions/s%s",
						NameStr(state->run->workload.name), NameStr(state->run->tablespace),
						now.seconds, now.tps, isnan(now.latency_ms) ? "" :
						psprintf(", latency %.3f ms", now.latency_ms))));
	}
	pfree(lines);
}

/* An element of the array that record.c keeps. */
static void
take_statement(void *context, double latency_ms, int64_t failures, const char *text)
{
	StringInfo	statements = context;

	sp_jsonb_begin(statements, NULL, '{');
	/* pgbench truncates the text, possibly within a multibyte character */
	sp_jsonb_put_text(statements, "statement",
					  pnstrdup(text, pg_mbcliplen(text, strlen(text), MAX_WORDS)));
	sp_jsonb_put_number(statements, "latency_ms", latency_ms, 3);
	sp_jsonb_put_number(statements, "failures", failures, 0);
	appendStringInfoChar(statements, '}');
}

/* --------------------------------------------------------------------- its log */

/* The names of the log files are those of threadRun() in pgbench.c of 15 to 19. */
static void
name_log_file(char *path, pid_t pid, int thread)
{
	int			length = snprintf(path, MAXPGPATH, SP_PGBENCH_LOG_PREFIX ".%d", (int) pid);

	if (thread > 0)
		snprintf(path + length, MAXPGPATH - length, ".%d", thread);
}

/* In the child, whose ID is part of the names.  If one cannot be made, the log is incomplete. */
static void
make_log_files(void *context)
{
	output_reader *state = context;
	char		path[MAXPGPATH];

	for (int i = 0; i < state->run->threads; i++)
	{
		name_log_file(path, getpid(), i);
		(void) mkfifo(path, S_IRUSR | S_IWUSR);
	}
}

/*
 * pgbench waits until this has happened.  Before it does so, the file need not exist.  After an
 * error the end of the transaction closes the file.
 */
static void
open_log_file(output_reader *state, pid_t pid, int thread)
{
	char		path[MAXPGPATH];
	int			fd;

	name_log_file(path, pid, thread);
	fd = OpenTransientFile(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
#ifdef F_SETPIPE_SZ
	if (fd >= 0)
		(void) fcntl(fd, F_SETPIPE_SZ,
					 Min(MAX_FIFO_BYTES, MAX_FIFO_BYTES_ALL / state->run->threads));
#endif
	state->log_fds[thread] = fd;
}

/* One read returns all that a FIFO holds; more would follow a writer that is as fast. */
static void
read_meanwhile(void *context, sp_child *child)
{
	static char buffer[MAX_FIFO_BYTES];
	output_reader *state = context;

	if (child->runs)
		sp_check_wal_reserve();
	for (int i = 0; i < state->run->threads; i++)
	{
		ssize_t		got;

		if (state->log_fds[i] <= 0)
			open_log_file(state, child->pid, i);
		got = read(state->log_fds[i], buffer, sizeof(buffer));
		if (got > 0)
			sp_pgbench_log_feed(&state->result->log, &state->log_files[i], buffer, got);
	}
	state->run->progress->transactions = (int64) state->result->log.latencies.ops;
	read_progress_lines(state, child);
}

/* The log must hold as many transactions as the summary; \shell may have changed it. */
static void
check_log(output_reader *state)
{
	sp_pgbench_log *log = &state->result->log;

	for (int i = 0; i < state->run->threads; i++)
	{
		sp_pgbench_log_end_of_file(log, &state->log_files[i]);
		if (state->log_fds[i] > 0)
			(void) CloseTransientFile(state->log_fds[i]);
	}
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
void
sp_release_snapshots(void)
{
	ForgetPortalSnapshots();
	InvalidateCatalogSnapshot();
}

/* Run the script of the workload, and set *result.  Updates run->progress. */
void
sp_pgbench_run(sp_workload_run *run, sp_pgbench_result *result)
{
	output_reader state = {
		.run = run,
		.result = result,
		.log_files = palloc0(run->threads * sizeof(sp_pgbench_log_file)),
		.log_fds = palloc0(run->threads * sizeof(int))
	};
	sp_child_program program = {
		.path = run->pgbench,
		.argv = sp_pgbench_argv(run, true),
		.envp = sp_pgbench_envp(run),
		.timeout_ms = sp_workload_limit_ms(run->seconds > 0 ? run->seconds * INT64CONST(1000) :
										   sp_max_duration_ms),
		.starts_others = true,
		.in_child = make_log_files,
		.meanwhile = read_meanwhile,
		.context = &state
	};
	sp_child	child;

	initStringInfo(&result->second_tps);
	result->statements = makeStringInfo();
	sp_jsonb_begin(result->statements, NULL, '[');
	if (run->is_procedure)
		sp_release_snapshots();
	run->started_at = GetCurrentTimestamp();
	sp_child_run(&child, &program);
	run->finished_at = GetCurrentTimestamp();
	if (!child.succeeded)
		sp_pgbench_complain(ERROR, run, &child, NULL, "ran");
	if (!sp_pgbench_parse_summary(child.out, &result->summary, take_statement, result->statements))
		sp_pgbench_complain(ERROR, run, &child, "printed a summary that is not understood", "ran");
	appendStringInfoChar(result->statements, ']');
	check_log(&state);
	check_transactions(&state);
}

void
sp_pgbench_run_once(const sp_workload_run *run, const sp_pgbench_once *once, int elevel)
{
	sp_child	child;

	sp_child_run(&child, &once->program);
	if (!child.succeeded)
		sp_pgbench_complain(elevel, run, &child, NULL, once->what);
}
