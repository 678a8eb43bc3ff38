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

#include "common/child_process.h"

char	   *sp_zfs_directory = "";

#define TIMEOUT_MS		5000

/* The characters of a tool's error message that are repeated. */
#define MAX_WORDS		200

static const char usual_directories[] = "/usr/sbin:/sbin:/usr/local/sbin:/usr/bin:/bin";

typedef bool (*output_parser) (char *text, const char *name, sp_zfs *zfs);

/* The result of a command. */
typedef enum tool_answer
{
	UNDERSTOOD,
	REFUSED,					/* or the output is not understood */
	NO_ANSWER					/* do not run a tool again */
} tool_answer;

/* path: room for MAXPGPATH; directories: with a colon between them, as in PATH. */
static bool
find_tool(const char *directories, const char *name, char *path)
{
	for (;; directories++)
	{
		int			length = strcspn(directories, ":");

		snprintf(path, MAXPGPATH, "%.*s/%s", length, directories, name);
		if (validate_exec(path) != -1)
			return true;
		directories += length;
		if (*directories == '\0')
			return false;
	}
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

/* Parse the output; unless it is understood, append why not to reason. */
static tool_answer
take_answer(const char *const *argv, const sp_child *tool, output_parser parse, const char *name,
			sp_zfs *zfs, StringInfo reason)
{
	if (tool->succeeded && parse(tool->out, name, zfs))
		return UNDERSTOOD;
	appendStringInfo(reason, "%s %s ", argv[0], argv[1]);
	if (tool->succeeded)
	{
		appendStringInfoString(reason, "printed output that is not understood");
		return REFUSED;
	}
	appendStringInfoString(reason, tool->ending);
	append_complaint(reason, tool->err);
	return tool->timed_out ? NO_ANSWER : REFUSED;
}

/* Run a command about name.  Set reason to why there is no answer, or to nothing. */
static tool_answer
ask_tool(const char *const *argv, output_parser parse, const char *name, sp_zfs *zfs,
		 StringInfo reason)
{
	static char *const environment[] = {
		"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C", NULL
	};
	const char *directories = sp_zfs_directory && sp_zfs_directory[0] != '\0' ?
		sp_zfs_directory : usual_directories;
	char		path[MAXPGPATH];
	sp_child_program program = {
		.path = path,
		.argv = (char *const *) argv,
		.envp = environment,
		.timeout_ms = TIMEOUT_MS
	};
	sp_child	tool;

	resetStringInfo(reason);
	if (!find_tool(directories, argv[0], path))
	{
		appendStringInfo(reason, "there is no program \"%s\" in \"%s\"", argv[0], directories);
		return NO_ANSWER;
	}
	sp_child_run(&tool, &program);
	return take_answer(argv, &tool, parse, name, zfs, reason);
}

bool
sp_zfs_ask_tools(const char *dataset, sp_zfs *zfs, StringInfo why_not)
{
	char		pool[256];
	const char *get[] = {"zfs", "get", "-Hp", "all", dataset, NULL};
	const char *status[] = {"zpool", "status", "-P", pool, NULL};
	const char *old_status[] = {"zpool", "status", pool, NULL};

	memset(zfs, 0, sizeof(*zfs));
	if (!sp_zfs_is_dataset_name(dataset))
	{
		appendStringInfo(why_not, "\"%s\" is not the name of a data set", dataset);
		return false;
	}
	if (ask_tool(get, sp_zfs_parse_properties, dataset, zfs, why_not) != UNDERSTOOD)
		return false;
	sp_zfs_pool_name(dataset, pool);
	/* zfs-fuse does not know the option */
	if (ask_tool(status, sp_zfs_parse_status, pool, zfs, why_not) == REFUSED)
		(void) ask_tool(old_status, sp_zfs_parse_status, pool, zfs, why_not);
	return true;
}
