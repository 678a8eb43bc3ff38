/*-------------------------------------------------------------------------
 *
 * zfs_tools.c
 *		Read the properties of a ZFS data set with zfs and zpool.
 *
 * No file in /proc or /sys shows whether ZFS honours syncs; only its tools do.  They
 * may be missing, refuse an unprivileged user, or hang in the kernel with the pool.
 * So a failure is not an error but a reason in words, and a tool that does not answer
 * is not run again.
 *
 * The name of the data set comes from the list of mounts.  It is passed to the tools
 * as one argument, and only if it cannot be mistaken for an option.
 *
 *-------------------------------------------------------------------------
 */
#include "storage/zfs_tools.h"

#include <sys/stat.h>
#include <unistd.h>

#include "common/child_process.h"

char	   *sp_zfs_directory = "";

#define TIMEOUT_MS		5000
#define MAX_OUTPUT		(256 * 1024)

/* The characters of a tool's error message that are repeated. */
#define MAX_WORDS		200

static const char *const usual_directories[] = {
	"/usr/sbin", "/sbin", "/usr/local/sbin", "/usr/bin", "/bin"
};

#define MAX_TOOL_ARGUMENTS	5

/* The commands of one kind, and the parser of their output. */
typedef struct question
{
	/* the second is for tools that do not know the options of the first */
	const char *commands[2][MAX_TOOL_ARGUMENTS];
	bool		(*parse) (const char *text, size_t length, const char *name, sp_zfs *zfs);
} question;

static const question about_dataset = {
	{{"zfs", "get", "-Hp", "all"}}, sp_zfs_parse_properties
};
static const question about_pool = {
	{{"zpool", "status", "-P"}, {"zpool", "status"}}, sp_zfs_parse_status
};

/* The result of a command. */
typedef enum tool_answer
{
	UNDERSTOOD,
	REFUSED,					/* or the output is not understood */
	NO_ANSWER					/* do not run a tool again */
} tool_answer;

static bool
is_program(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

/* path: room for MAXPGPATH */
static bool
find_tool(const char *name, char *path)
{
	if (sp_zfs_directory && sp_zfs_directory[0] != '\0')
	{
		snprintf(path, MAXPGPATH, "%s/%s", sp_zfs_directory, name);
		return is_program(path);
	}
	for (size_t i = 0; i < lengthof(usual_directories); i++)
	{
		snprintf(path, MAXPGPATH, "%s/%s", usual_directories[i], name);
		if (is_program(path))
			return true;
	}
	return false;
}

/*
 * Append the first line of an error message.  The encoding of names in it is unknown,
 * so all but printable ASCII becomes a question mark.
 */
static void
append_complaint(StringInfo reason, const StringInfoData *err)
{
	int			length = strcspn(err->data, "\r\n");

	if (length == 0)
		return;
	appendStringInfoString(reason, ": ");
	for (int i = 0; i < Min(length, MAX_WORDS); i++)
	{
		char		c = err->data[i];

		appendStringInfoChar(reason, c < ' ' || c > '~' ? '?' : c);
	}
}

static void
append_not_found(StringInfo reason, const char *name)
{
	appendStringInfo(reason, "there is no program \"%s\"", name);
	if (sp_zfs_directory && sp_zfs_directory[0] != '\0')
		appendStringInfo(reason, " in \"%s\"", sp_zfs_directory);
	else
	{
		for (size_t i = 0; i < lengthof(usual_directories); i++)
			appendStringInfo(reason, "%s%s", i == 0 ? " in " : ", ", usual_directories[i]);
	}
}

/* Parse the output; unless it is understood, append why not to reason. */
static tool_answer
take_answer(const question *asked, const sp_child_program *program, const sp_child_result *result,
			const char *name, sp_zfs *zfs, StringInfo reason)
{
	appendStringInfo(reason, "%s %s ", program->argv[0], program->argv[1]);
	if (!sp_child_succeeded(result))
	{
		appendStringInfoString(reason, sp_child_describe(program, result));
		append_complaint(reason, &result->err);
		return result->timed_out ? NO_ANSWER : REFUSED;
	}
	if (asked->parse(result->out.data, result->out.len, name, zfs))
		return UNDERSTOOD;
	appendStringInfoString(reason, "printed output that is not understood");
	return REFUSED;
}

/* Run one command with the name as its last argument. */
static tool_answer
run_command(const question *asked, const char *const *command, const char *name,
			sp_zfs *zfs, StringInfo reason)
{
	static char *const environment[] = {
		"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C", NULL
	};
	const char *argv[MAX_TOOL_ARGUMENTS + 2] = {NULL};
	char		path[MAXPGPATH];
	sp_child_program program = {
		.path = path,
		.argv = (char *const *) argv,
		.envp = environment,
		.timeout_ms = TIMEOUT_MS,
		.max_output = MAX_OUTPUT
	};
	sp_child_result result;
	tool_answer answer;
	int			argc = 0;

	for (; argc < MAX_TOOL_ARGUMENTS && command[argc]; argc++)
		argv[argc] = command[argc];
	argv[argc] = name;

	resetStringInfo(reason);
	if (!find_tool(command[0], path))
	{
		append_not_found(reason, command[0]);
		return NO_ANSWER;
	}
	sp_child_run(&program, &result);
	answer = take_answer(asked, &program, &result, name, zfs, reason);
	pfree(result.out.data);
	pfree(result.err.data);
	return answer;
}

/* The failure of the last command is appended to why_not. */
static tool_answer
ask(const question *asked, const char *name, sp_zfs *zfs, StringInfo why_not)
{
	tool_answer answer = REFUSED;
	StringInfoData reason;

	initStringInfo(&reason);
	for (size_t i = 0; i < lengthof(asked->commands) && answer == REFUSED; i++)
	{
		if (asked->commands[i][0])
			answer = run_command(asked, asked->commands[i], name, zfs, &reason);
	}
	if (answer != UNDERSTOOD)
		appendStringInfo(why_not, "%s%s", why_not->len > 0 ? "; " : "", reason.data);
	pfree(reason.data);
	return answer;
}

bool
sp_zfs_ask_tools(const char *dataset, sp_zfs *zfs, StringInfo why_not)
{
	char		pool[256];

	sp_zfs_init(zfs);
	if (!sp_zfs_is_dataset_name(dataset))
	{
		appendStringInfo(why_not, "\"%s\" is not the name of a data set", dataset);
		return false;
	}
	if (ask(&about_dataset, dataset, zfs, why_not) != UNDERSTOOD)
		return false;
	sp_zfs_pool_name(dataset, pool);
	(void) ask(&about_pool, pool, zfs, why_not);
	return true;
}
