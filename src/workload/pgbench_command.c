/*-------------------------------------------------------------------------
 *
 * pgbench_command.c
 *		Find pgbench, and build its argument vector, connection string and
 *		environment.
 *
 * It must not: run a workload, or use a shell.
 *
 *-------------------------------------------------------------------------
 */
#include "workload/workload.h"

#include "commands/dbcommands.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "postmaster/postmaster.h"
#include "storage/latch.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

char	   *sp_pgbench_directory = "";
char	   *sp_pgbench_passfile = "";

#define MAX_ARGUMENTS		32

/* Line numbers of postmaster.pid, see pidfile.h. */
#define SOCKET_DIRECTORY_LINE	5
#define LISTEN_ADDRESS_LINE		6

#define WHITE_SPACE		" \t\n\r\f\v"

#define ENVIRONMENT		"PATH=/usr/bin:/bin", "LC_ALL=C"

static const char *
own_host(void)
{
	char	   *directory = sp_postmaster_line(SOCKET_DIRECTORY_LINE);
	char	   *address = sp_postmaster_line(LISTEN_ADDRESS_LINE);

	if (directory && directory[0] != '\0')
		/* a client takes a relative path for the name of a host */
		return is_absolute_path(directory) || directory[0] == '@' ? directory :
			psprintf("%s/%s", DataDir, directory);
	if (address == NULL || address[0] == '\0')
		ereport(ERROR,
				(errcode(ERRCODE_SQLCLIENT_UNABLE_TO_ESTABLISH_SQLCONNECTION),
				 errmsg("this server accepts no connections"),
				 errdetail("Both unix_socket_directories and listen_addresses are empty.")));
	return strcmp(address, "*") == 0 ? "localhost" : address;
}

void
sp_pgbench_find(sp_workload_run *run)
{
	char	   *path = run->pgbench;

	run->host = own_host();
	if (sp_pgbench_directory && sp_pgbench_directory[0] != '\0')
		snprintf(path, MAXPGPATH, "%s", sp_pgbench_directory);
	else
	{
		strlcpy(path, my_exec_path, MAXPGPATH);
		get_parent_directory(path);
	}
	join_path_components(path, path, "pgbench");
	/* -2: it can be executed, but not read */
	if (validate_exec(path) == -1)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FILE),
				 errmsg("could not find program \"%s\"", path),
				 errdetail("It must exist, and the operating system user of the server must be able to execute it."),
				 errhint("Install the package that contains pgbench for PostgreSQL %d, or set pg_sync_probe.pgbench_directory.",
						 PG_VERSION_NUM / 10000)));
}

/* With a backslash before each of the characters that are special there. */
static void
append_escaped(StringInfo text, const char *value, const char *special)
{
	for (; *value; value++)
	{
		if (strchr(special, *value))
			appendStringInfoChar(text, '\\');
		appendStringInfoChar(text, *value);
	}
}

static void
append_conninfo(StringInfo conninfo, const char *key, const char *value)
{
	appendStringInfo(conninfo, "%s%s='", conninfo->len > 0 ? " " : "", key);
	append_escaped(conninfo, value, "'\\");
	appendStringInfoChar(conninfo, '\'');
}

/* The server splits options at white space, unless a backslash precedes it. */
void
sp_append_session_option(StringInfo options, const char *name, const char *value)
{
	appendStringInfo(options, "%s-c ", options->len > 0 ? " " : "");
	append_escaped(options, psprintf("%s=%s", name, value), WHITE_SPACE "\\");
}

/*
 * The search_path of the sessions.  Builtin scripts do not trust "public", where other
 * users may have created functions that match better than those of pg_catalog.
 */
static char *
search_path_of(const sp_workload_run *run)
{
	const char *others = run->search_path ? run->search_path :
		run->workload.builtin ? "pg_temp" : "\"$user\", public";

	/* only white space: no other schema */
	if (others[strspn(others, WHITE_SPACE)] == '\0')
		return pstrdup(NameStr(run->schema));
	return psprintf("%s, %s", NameStr(run->schema), others);
}

static void
append_session_options(StringInfo options, const sp_workload_run *run)
{
	/*
	 * The owner of a database can set a role for all its sessions.  That role would own the
	 * objects of the run, and could replace the functions that its sessions execute.
	 */
	sp_append_session_option(options, "role", "none");
	sp_append_session_option(options, "search_path", search_path_of(run));
	/* those of a pgbench that was killed end by themselves */
	if (WaitEventSetCanReportClosed())
		sp_append_session_option(options, "client_connection_check_interval", "1s");
	/* pgbench takes it to be on */
	sp_append_session_option(options, "standard_conforming_strings", "on");
}

/* Not of the tear-down and the drop: no session begins with it once the tablespace is dropped. */
static void
append_tablespace_option(StringInfo options, const sp_workload_run *run)
{
	sp_append_session_option(options, "default_tablespace", run->default_tablespace ? "" :
							 NameStr(run->tablespace));
}

/*
 * Override settings of role and database.  synchronous_commit is local, since standbys need not
 * have the objects, and a wait for one could be long.
 */
static void
append_once_options(StringInfo options, const char *lock_timeout)
{
	sp_append_session_option(options, "client_min_messages", "warning");
	sp_append_session_option(options, "default_transaction_read_only", "off");
	sp_append_session_option(options, "row_security", "on");
	sp_append_session_option(options, "synchronous_commit", "local");
	sp_append_session_option(options, "statement_timeout", "0");
	sp_append_session_option(options, "idle_in_transaction_session_timeout", "0");
	/* the server has it since 17 */
	if (GetConfigOption("transaction_timeout", true, false))
		sp_append_session_option(options, "transaction_timeout", "0");
	sp_append_session_option(options, "lock_timeout", lock_timeout);
}

/* With session options: other users cannot see the environment of a process. */
static char **
environment(const char *options)
{
	bool		has_passfile = sp_pgbench_passfile && sp_pgbench_passfile[0] != '\0';
	const char *envp[] = {
		ENVIRONMENT,
		psprintf("PGOPTIONS=%s", options),
		has_passfile ? psprintf("PGPASSFILE=%s", sp_pgbench_passfile) : NULL,
		NULL
	};

	return memcpy(palloc(sizeof(envp)), envp, sizeof(envp));
}

char **
sp_pgbench_envp(const sp_workload_run *run)
{
	StringInfoData options;

	initStringInfo(&options);
	append_session_options(&options, run);
	append_tablespace_option(&options, run);
	/* settings of the caller come last, so that they prevail */
	if (run->options)
		appendStringInfo(&options, " %s", run->options);
	return environment(options.data);
}

/* Not with session options or the password file: all users can see arguments. */
static char *
own_conninfo(const sp_workload_run *run)
{
	StringInfoData conninfo;

	initStringInfo(&conninfo);
	append_conninfo(&conninfo, "host", run->host);
	append_conninfo(&conninfo, "port", psprintf("%d", PostPortNumber));
	append_conninfo(&conninfo, "user", GetUserNameFromId(GetUserId(), false));
	append_conninfo(&conninfo, "dbname", get_database_name(MyDatabaseId));
	append_conninfo(&conninfo, "client_encoding", GetDatabaseEncodingName());
	append_conninfo(&conninfo, "application_name", NameStr(run->schema));
	return conninfo.data;
}

/* The arguments that a script has in common with its set-up and tear-down. */
static int
common_arguments(char **argv, const sp_workload_run *run, const char *protocol, const char *file)
{
	int			n = 0;

	argv[n++] = "pgbench";
	argv[n++] = "-M";
	argv[n++] = (char *) protocol;
	argv[n++] = "-n";
	argv[n++] = "-f";
	argv[n++] = (char *) file;
	argv[n++] = psprintf("--define=schema=%s", NameStr(run->schema));
	argv[n++] = psprintf("--define=tablespace=%s", quote_identifier(NameStr(run->tablespace)));
	argv[n++] = psprintf("--define=rows=%d", run->rows);
	if (run->transactions > 0)
		argv[n++] = psprintf("--define=transactions=%d", run->transactions);
	return n;
}

char **
sp_pgbench_argv(const sp_workload_run *run, bool with_log)
{
	char	  **argv = palloc0(MAX_ARGUMENTS * sizeof(char *));
	char	   *file = sp_workload_directory_write("script.sql", run->workload.script);
	int			n = common_arguments(argv, run, run->workload.protocol, file);

	argv[n++] = "-r";
	argv[n++] = psprintf("--client=%d", run->clients);
	argv[n++] = psprintf("--jobs=%d", run->threads);
	argv[n++] = run->transactions > 0 ? psprintf("--transactions=%d", run->transactions) :
		psprintf("--time=%d", run->seconds);
	if (run->workload.new_connections)
		argv[n++] = "-C";
	if (with_log)
	{
		argv[n++] = "--progress=1";
		argv[n++] = "--log";
		argv[n++] = "--log-prefix=" SP_PGBENCH_LOG_PREFIX;
	}
	/* variables last as long as the client, so a script can count with this one */
	argv[n++] = "--define=iteration=0";
	argv[n++] = own_conninfo(run);
	Assert(n < MAX_ARGUMENTS);
	return argv;
}

sp_pgbench_once *
sp_pgbench_prepare(const sp_workload_run *run, const char *name, const char *what, const char *sql,
				   bool removes, const char *lock_timeout, int limit_ms)
{
	sp_pgbench_once *once = palloc(sizeof(sp_pgbench_once));
	char	  **argv = palloc0(MAX_ARGUMENTS * sizeof(char *));
	char	   *file = sp_workload_directory_write(name, sql);
	int			n = common_arguments(argv, run, "simple", file);
	StringInfoData options;

	initStringInfo(&options);
	append_session_options(&options, run);
	if (!removes)
		append_tablespace_option(&options, run);
	append_once_options(&options, lock_timeout);
	argv[n++] = "--transactions=1";
	argv[n++] = own_conninfo(run);
	Assert(n < MAX_ARGUMENTS);
	*once = (sp_pgbench_once) {
		.what = what,
		.program = {
			.path = run->pgbench,
			.argv = argv,
			.envp = environment(options.data),
			.timeout_ms = limit_ms,
			.starts_others = true
		}
	};
	return once;
}
