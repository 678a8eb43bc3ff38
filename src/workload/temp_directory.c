/*-------------------------------------------------------------------------
 *
 * temp_directory.c
 *		The temporary directory of a run: the script, and the FIFOs that pgbench
 *		writes its transaction log to.
 *
 * It is in the server's directory of temporary files, whose content the server removes after
 * a crash.
 *
 * It must not: be anywhere else, or be accessible to other users of the operating
 * system, since scripts may be confidential.
 *
 *-------------------------------------------------------------------------
 */
#include "workload/workload.h"

#include <sys/stat.h>

#include "common/file_utils.h"
#include "miscadmin.h"
#include "storage/fd.h"

#define TEMP_DIRECTORY	"base/" PG_TEMP_FILES_DIR
#define NAME_PREFIX		PG_TEMP_FILE_PREFIX "_sync_probe."
#define NAME_SUFFIX		".workload"

static void
failed(const char *verb, const char *kind, const char *path)
{
	ereport(ERROR,
			(errcode_for_file_access(),
			 errmsg("could not %s %s \"%s\": %m", verb, kind, path)));
}

/* Whatever has its name already is a leftover of a process with the same ID. */
void
sp_temp_directory_make(char *directory)
{
	char		path[MAXPGPATH];
	struct stat status;

	if (MakePGDirectory(TEMP_DIRECTORY) != 0 && errno != EEXIST)
		failed("create", "directory", TEMP_DIRECTORY);
	snprintf(path, sizeof(path), "%s/" NAME_PREFIX "%d" NAME_SUFFIX, TEMP_DIRECTORY, MyProcPid);
	if (lstat(path, &status) == 0 && S_ISDIR(status.st_mode))
		(void) rmtree(path, true);
	if (mkdir(path, S_IRWXU) != 0)
		failed("create", "directory", path);
	strlcpy(directory, path, MAXPGPATH);
}

/* Create a file with that content, and return its path. */
char *
sp_temp_directory_write(const char *directory, const char *name, const char *content)
{
	char	   *path = psprintf("%s/%s", directory, name);
	FILE	   *file = AllocateFile(path, "wx");

	if (file == NULL)
		failed("create", "file", path);
	if (fputs(content, file) == EOF || FreeFile(file) != 0)
		failed("write", "file", path);
	return path;
}

/* May be called at any time, repeatedly, and while the backend exits. */
void
sp_temp_directory_remove(char *directory)
{
	/* rmtree() sends a WARNING for what it cannot remove */
	if (directory[0] != '\0')
		(void) rmtree(directory, true);
	directory[0] = '\0';
}
