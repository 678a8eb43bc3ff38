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
#include "workload/pgbench_internal.h"

#include <ctype.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands/dbcommands.h"
#include "libpq/pqcomm.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "port.h"
#include "postmaster/postmaster.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/varlena.h"

#include "common/child_process.h"

char	   *sp_pgbench_directory = "";
char	   *sp_pgbench_passfile = "";

#define VERSION_TIMEOUT_MS	10000
#define MAX_VERSION_WORDS	800

#define MAX_ARGUMENTS		32

/* Line numbers of postmaster.pid, see pidfile.h. */
#define SOCKET_DIRECTORY_LINE	5
#define LISTEN_ADDRESS_LINE		6

#define ENVIRONMENT		"PATH=/usr/bin:/bin", "LC_ALL=C"

/* ---------------------------------------------------------- where it connects */

/*
 * Can a client use this directory as its host?  A comma would separate hosts.  A
 * relative path would be a host name, so make it absolute.
 */
static bool
is_usable_directory(char **directory)
{
	if (!is_absolute_path(*directory) && (*directory)[0] != '@')
		*directory = psprintf("%s/%s", DataDir, *directory);
	return strchr(*directory, ',') == NULL;
}

/* The first usable directory that has a socket of this server; NULL if none. */
static const char *
other_socket_directory(void)
{
	List	   *directories;
	ListCell   *cell;

	if (!SplitDirectoriesString(pstrdup(Unix_socket_directories), ',', &directories))
		return NULL;
	foreach(cell, directories)
	{
		char	   *directory = lfirst(cell);
		char		socket[MAXPGPATH];
		struct stat status;

		UNIXSOCK_PATH(socket, PostPortNumber, directory);
		if (is_usable_directory(&directory) && stat(socket, &status) == 0 &&
			S_ISSOCK(status.st_mode))
			return directory;
	}
	return NULL;
}

/* The host to connect to: the first usable socket directory, else the first address. */
static const char *
own_host(void)
{
	char	   *first = sp_postmaster_line(SOCKET_DIRECTORY_LINE);
	const char *address = sp_postmaster_line(LISTEN_ADDRESS_LINE);
	bool		has_socket = first && first[0] != '\0';
	const char *directory = NULL;

	if (has_socket)
		directory = is_usable_directory(&first) ? first : other_socket_directory();
	if (directory)
		return directory;
	if (address == NULL || address[0] == '\0')
		ereport(ERROR,
				(errcode(ERRCODE_SQLCLIENT_UNABLE_TO_ESTABLISH_SQLCONNECTION),
				 has_socket ?
				 errmsg("pgbench cannot connect through a socket in directory \"%s\"", first) :
				 errmsg("this server accepts no connections"),
				 has_socket ?
				 errdetail("It would treat the comma in that name as a separator between hosts.") :
				 errdetail("Both unix_socket_directories and listen_addresses are empty."),
				 has_socket ?
				 errhint("Add a directory without a comma to unix_socket_directories, or add an address to listen_addresses.") : 0));
	return strcmp(address, "*") == 0 ? "localhost" : address;
}

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
				 errdetail("It must exist, and the operating system user of the server must be able to execute it."),
				 errhint("Install the package that contains pgbench for PostgreSQL %d, or set pg_sync_probe.pgbench_directory.",
						 PG_VERSION_NUM / 10000)));
}

/* The output as one line of printable ASCII. */
static char *
plain_words(const char *words)
{
	char	   *plain = pnstrdup(words, MAX_VERSION_WORDS);

	for (char *c = plain; *c; c++)
	{
		if (*c < ' ' || *c > '~')
			*c = ' ';
	}
	return plain;
}

/*
 * Find the pgbench of this server.  That of another major version may lack options or
 * print another format.
 */
void
sp_pgbench_find(sp_pgbench_program *found)
{
	const char *argv[] = {"pgbench", "--version", NULL};
	const char *envp[] = {ENVIRONMENT, NULL};
	sp_child_program program = {
		.path = found->path,
		.argv = (char *const *) argv,
		.envp = (char *const *) envp,
		.timeout_ms = VERSION_TIMEOUT_MS,
		.max_output = MAX_VERSION_WORDS
	};
	sp_child_result result;
	int			major = 0;

	found->host = own_host();
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

/* The server splits options at white space, unless a backslash precedes it. */
void
sp_append_session_option(StringInfo options, const char *name, const char *value)
{
	const char *setting = psprintf("%s=%s", name, value);

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

	initStringInfo(&options);
	/* as the worker does, see become_user() in worker.c */
	sp_append_session_option(&options, "role", "none");
	sp_append_session_option(&options, "search_path", run->search_path);
	sp_append_session_option(&options, "default_tablespace", run->default_tablespace ? "" :
							 NameStr(run->tablespace));
	/* as when variables were replaced in the script */
	sp_append_session_option(&options, "standard_conforming_strings", "on");
	/* settings of the caller come last, so that they prevail */
	if (run->options)
		appendStringInfo(&options, " %s", run->options);
	return options.data;
}

/* Not with session options or the password file: all users can see arguments. */
static char *
own_conninfo(const sp_workload_run *run, const char *host)
{
	StringInfoData conninfo;

	initStringInfo(&conninfo);
	append_conninfo(&conninfo, "host", host);
	append_conninfo(&conninfo, "port", psprintf("%d", PostPortNumber));
	append_conninfo(&conninfo, "user", GetUserNameFromId(GetUserId(), false));
	append_conninfo(&conninfo, "dbname", get_database_name(MyDatabaseId));
	append_conninfo(&conninfo, "client_encoding", GetDatabaseEncodingName());
	append_conninfo(&conninfo, "application_name", NameStr(run->schema));
	return conninfo.data;
}

/* log_directory: NULL for a run without progress and log. */
char **
sp_pgbench_argv(const sp_workload_run *run, const sp_pgbench_program *program,
				const sp_temp_directory *log_directory, const char *script)
{
	char	  **argv = palloc0(MAX_ARGUMENTS * sizeof(char *));
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
	if (log_directory)
	{
		argv[n++] = "--progress=1";
		argv[n++] = "--log";
		argv[n++] = psprintf("--log-prefix=%s/" SP_PGBENCH_LOG_PREFIX, log_directory->path);
	}
	/* variables last as long as the client, so a script can count with this one */
	argv[n++] = "--define=iteration=0";
	argv[n++] = own_conninfo(run, program->host);
	Assert(n < MAX_ARGUMENTS);
	return argv;
}

/* With session options: other users cannot see the environment of a process. */
char **
sp_pgbench_envp(const sp_workload_run *run)
{
	bool		has_passfile = sp_pgbench_passfile && sp_pgbench_passfile[0] != '\0';
	const char *envp[] = {
		ENVIRONMENT,
		psprintf("PGOPTIONS=%s", session_options(run)),
		has_passfile ? psprintf("PGPASSFILE=%s", sp_pgbench_passfile) : NULL,
		NULL
	};

	return memcpy(palloc(sizeof(envp)), envp, sizeof(envp));
}
