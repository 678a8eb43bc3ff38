/*-------------------------------------------------------------------------
 *
 * pgbench.c
 *		Run the server's own pgbench against this very server.
 *
 * What it is told: an argument vector and a quoted connection string.  What it
 * says while it runs becomes progress, what it says at the end the summary; if
 * it fails its first words are the DETAIL of the error, as all that follows
 * says the same again for every client.
 *
 * It must not: know what the workload is, or make and drop anything but the
 * files in the folder it is given.
 *
 *-------------------------------------------------------------------------
 */
#include "workload.h"

#include <ctype.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands/dbcommands.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "port.h"
#include "postmaster/postmaster.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "child_process.h"

/* Its summary grows with the statements of the script, its errors with clients. */
#define MOST_OUTPUT			(1024 * 1024)
#define MOST_WORDS			800
#define VERSION_TIMEOUT_MS	10000

/*
 * Of more transactions a sample is logged.  How many a duration will hold is
 * not known before: a client that waits for a server's answers makes 10,000 a
 * second at most, a round trip through a Unix socket taking some 50 us.
 */
#define MOST_LOGGED			5000000
#define MOST_TPS_OF_CLIENT	10000
#define LOG_LINE_BYTES		48

/* Fewer logged transactions would say little, and little room is no room. */
#define LEAST_LOGGED		10000

/* Lines of progress that become a NOTICE, in a run of any length. */
#define MOST_NOTICES		60

#define LOG_PREFIX			"log"

/* Line numbers of postmaster.pid, see the server's pidfile.h. */
#define SOCKET_DIRECTORY_LINE	5
#define LISTEN_ADDRESS_LINE		6

/* What the callback that gets its lines works with. */
typedef struct listening
{
	sp_workload_run *run;
	sp_pgbench_result *result;
	int			allocated;		/* of the result's seconds */
	double		seconds;		/* of the line before */
	double		transactions;
	double		next_notice;
	double		notice_interval;
	StringInfoData words;		/* what is no progress */
} listening;

static char *const environment[] = {
	"PATH=/usr/bin:/bin", "LC_ALL=C", NULL
};

/* -------------------------------------------------------------- the program */

static void
find_program(char *path)
{
	struct stat status;

	if (sp_pgbench_directory && sp_pgbench_directory[0] != '\0')
		snprintf(path, MAXPGPATH, "%s", sp_pgbench_directory);
	else
	{
		strlcpy(path, my_exec_path, MAXPGPATH);
		get_parent_directory(path);
	}
	join_path_components(path, path, "pgbench");
	if (stat(path, &status) != 0 || !S_ISREG(status.st_mode) || access(path, X_OK) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FILE),
				 errmsg("could not find program \"%s\"", path),
				 errdetail("It must be there, and executable for the server's user."),
				 errhint("Install the package that has pgbench for PostgreSQL %d, or set pg_sync_probe.pgbench_directory.",
						 PG_VERSION_NUM / 10000)));
}

/* What it said, in one line of plain ASCII. */
static char *
plain_words(const char *words)
{
	char	   *plain = pnstrdup(words, MOST_WORDS);

	for (char *c = plain; *c; c++)
	{
		if (*c < ' ' || *c > '~')
			*c = ' ';
	}
	return plain;
}

/*
 * The pgbench that belongs to this server.  Another major version's may lack
 * what we ask for, or print what we do not understand.
 */
void
sp_pgbench_find(sp_pgbench_program *found)
{
	const char *argv[] = {"pgbench", "--version", NULL};
	sp_child_program program = {
		.path = found->path,
		.argv = (char *const *) argv,
		.envp = environment,
		.timeout_ms = VERSION_TIMEOUT_MS,
		.most_output = MOST_WORDS
	};
	sp_child_result result;
	int			major = 0;

	find_program(found->path);
	sp_child_run(&program, &result);
	if (sp_child_succeeded(&result))
		major = sp_pgbench_parse_version(result.out.data, found->version, sizeof(found->version));
	if (major != PG_VERSION_NUM / 10000)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FILE),
				 major > 0 ?
				 errmsg("program \"%s\" is of version %d, expected %d", found->path, major,
						PG_VERSION_NUM / 10000) :
				 errmsg("program \"%s\" is not pgbench", found->path),
				 major > 0 ? 0 :
				 errdetail("It %s: %s", sp_child_describe(&program, &result),
						   plain_words(result.err.len > 0 ? result.err.data : result.out.data)),
				 errhint("Set pg_sync_probe.pgbench_directory to the directory of the pgbench of PostgreSQL %d.",
						 PG_VERSION_NUM / 10000)));
}

/* ------------------------------------------------------------- its arguments */

static void
append_conninfo(StringInfo conninfo, const char *key, const char *value)
{
	appendStringInfo(conninfo, "%s%s='", conninfo->len > 0 ? " " : "", key);
	for (; *value; value++)
	{
		if (*value == '\'' || *value == '\\')
			appendStringInfoChar(conninfo, '\\');
		appendStringInfoChar(conninfo, *value);
	}
	appendStringInfoChar(conninfo, '\'');
}

/* As the server splits them: at white space, unless a backslash is before it. */
static void
append_option(StringInfo options, const char *setting)
{
	appendStringInfo(options, "%s-c ", options->len > 0 ? " " : "");
	for (; *setting; setting++)
	{
		if (isspace((unsigned char) *setting) || *setting == '\\')
			appendStringInfoChar(options, '\\');
		appendStringInfoChar(options, *setting);
	}
}

static char *
session_options(const sp_workload_run *run)
{
	StringInfoData options;
	ListCell   *cell;

	initStringInfo(&options);
	append_option(&options, psprintf("search_path=%s", run->search_path));
	append_option(&options, psprintf("default_tablespace=%s", run->default_tablespace ? "" :
									 NameStr(run->tablespace)));
	/* what the caller asks for comes last, so that it prevails */
	foreach(cell, run->options)
		append_option(&options, lfirst(cell));
	return options.data;
}

/* Where this server listens: its first socket, else its first address. */
static const char *
own_host(void)
{
	const char *directory = sp_postmaster_line(SOCKET_DIRECTORY_LINE);
	const char *address = sp_postmaster_line(LISTEN_ADDRESS_LINE);

	if (directory && directory[0] != '\0')
		return directory;
	if (address == NULL || address[0] == '\0')
		ereport(ERROR,
				(errcode(ERRCODE_SQLCLIENT_UNABLE_TO_ESTABLISH_SQLCONNECTION),
				 errmsg("this server accepts no connections"),
				 errdetail("Neither unix_socket_directories nor listen_addresses name anything.")));
	return strcmp(address, "*") == 0 ? "localhost" : address;
}

static char *
own_conninfo(const sp_workload_run *run)
{
	StringInfoData conninfo;

	initStringInfo(&conninfo);
	append_conninfo(&conninfo, "host", own_host());
	append_conninfo(&conninfo, "port", psprintf("%d", PostPortNumber));
	append_conninfo(&conninfo, "user", GetUserNameFromId(GetUserId(), false));
	append_conninfo(&conninfo, "dbname", get_database_name(MyDatabaseId));
	append_conninfo(&conninfo, "application_name", NameStr(run->schema));
	append_conninfo(&conninfo, "options", session_options(run));
	if (sp_pgbench_passfile && sp_pgbench_passfile[0] != '\0')
		append_conninfo(&conninfo, "passfile", sp_pgbench_passfile);
	return conninfo.data;
}

/*
 * Which share of the transactions is logged.  The log takes no more than half
 * of the room there is: the workload may need the rest.
 */
static double
sampling_rate(const sp_workload_run *run, int64 room)
{
	double		expected = (double) run->clients *
		(run->transactions > 0 ? run->transactions : (double) MOST_TPS_OF_CLIENT * run->seconds);
	double		most = Min(MOST_LOGGED, room / 2 / LOG_LINE_BYTES);

	if (most < Min(LEAST_LOGGED, expected))
		ereport(ERROR,
				(errcode(ERRCODE_DISK_FULL),
				 errmsg("not enough space for the transaction log of pgbench"),
				 errdetail("Needed are " INT64_FORMAT " bytes in \"base\", there are " INT64_FORMAT " above the reserve or below temp_file_limit.",
						   (int64) Min(LEAST_LOGGED, expected) * LOG_LINE_BYTES * 2, room),
				 errhint("Free some space, lower pg_sync_probe.reserve_percent, or raise temp_file_limit.")));
	return Min(1, most / expected);
}

static char **
own_argv(const sp_workload_run *run, const sp_scratch *scratch, const char *script)
{
	char	  **argv = palloc0(32 * sizeof(char *));
	int			n = 0;

	argv[n++] = "pgbench";
	argv[n++] = "-M";
	argv[n++] = run->workload.protocol;
	argv[n++] = "-n";
	argv[n++] = "-r";
	argv[n++] = "-f";
	argv[n++] = (char *) script;
	argv[n++] = psprintf("--client=%d", run->clients);
	argv[n++] = psprintf("--jobs=%d", run->threads);
	argv[n++] = run->transactions > 0 ? psprintf("--transactions=%d", run->transactions) :
		psprintf("--time=%d", run->seconds);
	if (run->workload.new_connections)
		argv[n++] = "-C";
	argv[n++] = "--progress=1";
	argv[n++] = "--log";
	argv[n++] = psprintf("--log-prefix=%s/" LOG_PREFIX, scratch->path);
	if (run->sampling_rate < 1)
		argv[n++] = psprintf("--sampling-rate=%.9f", run->sampling_rate);
	/* variables live as long as a client: with this one it can count */
	argv[n++] = "--define=iteration=0";
	argv[n++] = own_conninfo(run);
	Assert(n < 32);
	return argv;
}

/* ------------------------------------------------------------- what it says */

static void
note_progress(listening *state, const sp_pgbench_progress *progress)
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
	state->transactions += progress->tps * elapsed;
	state->run->progress->transactions = (int64) rint(state->transactions);
	if (progress->seconds < state->next_notice)
		return;
	state->next_notice = progress->seconds + state->notice_interval - 0.5;
	ereport(NOTICE,
			(errmsg("%s in %s: %.0f s, %.0f transactions/s%s",
					NameStr(state->run->workload.name), NameStr(state->run->tablespace),
					progress->seconds, progress->tps,
					isnan(progress->latency_ms) ? "" :
					psprintf(", latency %.3f ms", progress->latency_ms))));
}

static void
take_line(void *context, bool from_stderr, const char *line)
{
	listening  *state = context;
	sp_pgbench_progress progress;

	if (!from_stderr)
		return;
	if (sp_pgbench_parse_progress(line, &progress))
		note_progress(state, &progress);
	else if (state->words.len < MOST_WORDS && line[0] != '\0')
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
own_words(listening *state)
{
	if (state->words.len == 0)
		return "It said nothing.";
	if (state->words.len > MOST_WORDS)
		state->words.data[pg_mbcliplen(state->words.data, state->words.len, MOST_WORDS)] = '\0';
	return sp_valid_text(state->words.data);
}

static void
complain(const sp_workload_run *run, listening *state, const char *what)
{
	char	   *words = own_words(state);
	bool		no_connection = strstr(words, "connection to server ") != NULL;
	bool		no_login = no_connection &&
		(strstr(words, "password") != NULL || strstr(words, "authentication failed") != NULL ||
		 strstr(words, "pg_hba.conf") != NULL);

	ereport(ERROR,
			(errcode(no_connection ? ERRCODE_SQLCLIENT_UNABLE_TO_ESTABLISH_SQLCONNECTION :
					 ERRCODE_EXTERNAL_ROUTINE_EXCEPTION),
			 no_connection ?
			 errmsg("pgbench could not connect to run workload \"%s\"", NameStr(run->workload.name)) :
			 errmsg("pgbench %s while it ran workload \"%s\"", what, NameStr(run->workload.name)),
			 errdetail_internal("%s", words),
			 no_login ?
			 errhint("It connects as role \"%s\" from the server's own machine and account. Let a line of pg_hba.conf allow that without a password, or set pg_sync_probe.pgbench_passfile to a password file.",
					 GetUserNameFromId(GetUserId(), false)) : 0));
}

/* ------------------------------------------------------------------ the run */

static void
init_listening(listening *state, sp_workload_run *run, sp_pgbench_result *result)
{
	memset(state, 0, sizeof(*state));
	state->run = run;
	state->result = result;
	state->allocated = 64;
	state->notice_interval = Max(1.0, (double) run->seconds / MOST_NOTICES);
	initStringInfo(&state->words);
	result->second_tps = palloc(state->allocated * sizeof(double));
	result->second_latency_ms = palloc(state->allocated * sizeof(double));
}

/*
 * Run the workload's script from the scratch folder; result is what came of it.
 * Sets run->sampling_rate, and updates run->progress.
 */
void
sp_pgbench_run(sp_workload_run *run, const sp_pgbench_program *found,
			   const sp_scratch *scratch, sp_pgbench_result *result)
{
	char	   *script = sp_scratch_write(scratch, "script.sql", run->workload.script);
	listening	state;
	sp_child_program program = {
		.path = found->path,
		.envp = environment,
		.most_output = MOST_OUTPUT,
		.line = take_line,
		.context = &state
	};
	sp_child_result ended;

	memset(result, 0, sizeof(*result));
	result->program = found;
	init_listening(&state, run, result);
	run->sampling_rate = sampling_rate(run, sp_scratch_room(scratch));
	program.argv = own_argv(run, scratch, script);

	run->started_at = GetCurrentTimestamp();
	sp_child_run(&program, &ended);
	run->finished_at = GetCurrentTimestamp();
	if (!sp_child_succeeded(&ended))
		complain(run, &state, sp_child_describe(&program, &ended));
	if (!sp_pgbench_parse_summary(ended.out.data, ended.out.len, &result->summary,
								  take_statement, result))
		complain(run, &state, "printed a summary that is not understood");
	pfree(ended.out.data);
	pfree(ended.err.data);

	sp_pgbench_log_init(&result->log);
	sp_scratch_read_logs(scratch, LOG_PREFIX ".", &result->log);
	if (result->log.unreadable > 0)
		ereport(WARNING,
				(errmsg("%llu lines of pgbench's transaction log are not understood",
						(unsigned long long) result->log.unreadable)));
}
