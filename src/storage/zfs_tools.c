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
#include "storage/storage.h"

#include <sys/stat.h>
#include <unistd.h>

#include "common/child_process.h"

char	   *sp_zfs_directory = "";

#define TIMEOUT_MS		5000

/* The characters of a tool's error message that are repeated. */
#define MAX_WORDS		200

static const char *const usual_directories[] = {
	"/usr/sbin", "/sbin", "/usr/local/sbin", "/usr/bin", "/bin"
};

#define MAX_TOOL_ARGUMENTS	5

/* A command, without the name that is its last argument, and the parser of its output. */
typedef struct command
{
	const char *argv[MAX_TOOL_ARGUMENTS];
	bool		(*parse) (char *text, const char *name, sp_zfs *zfs);
} command;

static const command get_properties = {{"zfs", "get", "-Hp", "all"}, sp_zfs_parse_properties};

/* The second is for tools that do not know the options of the first. */
static const command get_status[] = {
	{{"zpool", "status", "-P"}, sp_zfs_parse_status},
	{{"zpool", "status"}, sp_zfs_parse_status},
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
append_complaint(StringInfo reason, const char *err)
{
	int			length = strcspn(err, "\r\n");

	if (length == 0)
		return;
	appendStringInfoString(reason, ": ");
	for (int i = 0; i < Min(length, MAX_WORDS); i++)
	{
		char		c = err[i];

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
take_answer(const command *asked, const sp_child *tool, const char *name, sp_zfs *zfs,
			StringInfo reason)
{
	bool		succeeded = sp_child_succeeded(tool);

	if (succeeded && asked->parse(tool->out, name, zfs))
		return UNDERSTOOD;
	appendStringInfo(reason, "%s %s ", asked->argv[0], asked->argv[1]);
	if (succeeded)
	{
		appendStringInfoString(reason, "printed output that is not understood");
		return REFUSED;
	}
	appendStringInfoString(reason, sp_child_describe(tool));
	append_complaint(reason, tool->err);
	return tool->timed_out ? NO_ANSWER : REFUSED;
}

/* Set reason to why there is no answer, or to nothing. */
static tool_answer
run_command(const command *asked, const char *name, sp_zfs *zfs, StringInfo reason)
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
		.timeout_ms = TIMEOUT_MS
	};
	sp_child	tool;
	tool_answer answer;
	int			argc = 0;

	for (; argc < MAX_TOOL_ARGUMENTS && asked->argv[argc]; argc++)
		argv[argc] = asked->argv[argc];
	argv[argc] = name;

	resetStringInfo(reason);
	if (!find_tool(argv[0], path))
	{
		append_not_found(reason, argv[0]);
		return NO_ANSWER;
	}
	sp_child_run(&tool, &program);
	answer = take_answer(asked, &tool, name, zfs, reason);
	pfree(tool.out);
	pfree(tool.err);
	return answer;
}

bool
sp_zfs_ask_tools(const char *dataset, sp_zfs *zfs, StringInfo why_not)
{
	char		pool[256];
	tool_answer answer = REFUSED;

	sp_zfs_init(zfs);
	if (!sp_zfs_is_dataset_name(dataset))
	{
		appendStringInfo(why_not, "\"%s\" is not the name of a data set", dataset);
		return false;
	}
	if (run_command(&get_properties, dataset, zfs, why_not) != UNDERSTOOD)
		return false;
	sp_zfs_pool_name(dataset, pool);
	for (size_t i = 0; i < lengthof(get_status) && answer == REFUSED; i++)
		answer = run_command(&get_status[i], pool, zfs, why_not);
	return true;
}
