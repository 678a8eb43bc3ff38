/*-------------------------------------------------------------------------
 *
 * temp_directory.c
 *		The temporary directory of a run: the script, and the FIFOs that pgbench
 *		writes its transaction log to.
 *
 * It is in the server's directory of temporary files.  After a crash, the server
 * removes it when it starts.  The next run removes the directory of a killed backend.
 *
 * It must not: be anywhere else, or be accessible to other users of the operating
 * system, since scripts may be confidential.
 *
 *-------------------------------------------------------------------------
 */
#include "workload/workload.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/file_perm.h"
#include "common/file_utils.h"
#include "miscadmin.h"
#include "storage/fd.h"

#define TEMP_DIRECTORY	"base/" PG_TEMP_FILES_DIR
#define NAME_PREFIX		PG_TEMP_FILE_PREFIX "_sync_probe."
#define NAME_SUFFIX		".workload"

static void
directory_failed(const char *verb, const char *path)
{
	ereport(ERROR,
			(errcode_for_file_access(),
			 errmsg("could not %s directory \"%s\": %m", verb, path)));
}

/* Is this a name from sp_temp_directory_make(), of any process? */
static bool
is_temp_directory_name(const char *name)
{
	char		again[MAXPGPATH];
	int			pid;

	if (sscanf(name, NAME_PREFIX "%d" NAME_SUFFIX, &pid) != 1 || pid <= 0)
		return false;
	snprintf(again, sizeof(again), NAME_PREFIX "%d" NAME_SUFFIX, pid);
	return strcmp(name, again) == 0;
}

/*
 * Create the directory of this process, after the removal of leftovers.  The caller
 * holds the cluster lock, so no other process has such a directory.
 */
void
sp_temp_directory_make(sp_temp_directory *directory)
{
	struct stat status;

	(void) sp_temp_directory_sweep();
	if (MakePGDirectory(TEMP_DIRECTORY) != 0 && errno != EEXIST)
		directory_failed("create", TEMP_DIRECTORY);
	if (lstat(TEMP_DIRECTORY, &status) == 0 && !S_ISDIR(status.st_mode))
	{
		errno = ENOTDIR;
		directory_failed("use", TEMP_DIRECTORY);
	}
	snprintf(directory->path, MAXPGPATH, "%s/" NAME_PREFIX "%d" NAME_SUFFIX, TEMP_DIRECTORY, MyProcPid);
	if (mkdir(directory->path, S_IRWXU) != 0)
	{
		int			saved_errno = errno;
		char	   *path = pstrdup(directory->path);

		/* it is not ours and must not be removed */
		directory->path[0] = '\0';
		errno = saved_errno;
		directory_failed("create", path);
	}
}

static void
file_failed(const char *verb, const char *path)
{
	ereport(ERROR,
			(errcode_for_file_access(),
			 errmsg("could not %s file \"%s\": %m", verb, path)));
}

/* Create a file with that content, and return its path. */
char *
sp_temp_directory_write(const sp_temp_directory *directory, const char *name, const char *content)
{
	char	   *path = psprintf("%s/%s", directory->path, name);
	Size		length = strlen(content);
	int			fd = OpenTransientFilePerm(path, O_WRONLY | O_CREAT | O_EXCL, S_IRUSR | S_IWUSR);
	Size		done = 0;

	if (fd < 0)
		file_failed("create", path);
	while (done < length)
	{
		ssize_t		written = write(fd, content + done, length - done);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
		{
			if (written == 0)
				errno = ENOSPC;
			file_failed("write", path);
		}
		done += written;
	}
	if (CloseTransientFile(fd) != 0)
		file_failed("close", path);
	return path;
}

/* May be called at any time, repeatedly, and while the backend exits. */
void
sp_temp_directory_remove(sp_temp_directory *directory)
{
	/* rmtree() sends a WARNING for what it cannot remove */
	if (directory->path[0] != '\0')
		(void) rmtree(directory->path, true);
	directory->path[0] = '\0';
}

/* Remove leftovers, and return their number.  The caller must hold the cluster lock. */
int
sp_temp_directory_sweep(void)
{
	DIR		   *directory = AllocateDir(TEMP_DIRECTORY);
	struct dirent *entry;
	int			removed = 0;

	/* it does not exist before the first temporary file of the cluster */
	if (directory == NULL && errno == ENOENT)
		return 0;
	while ((entry = ReadDir(directory, TEMP_DIRECTORY)) != NULL)
	{
		char		path[MAXPGPATH * 2];
		struct stat status;

		snprintf(path, sizeof(path), "%s/%s", TEMP_DIRECTORY, entry->d_name);
		if (is_temp_directory_name(entry->d_name) && lstat(path, &status) == 0 &&
			S_ISDIR(status.st_mode) && rmtree(path, true))
			removed++;
	}
	FreeDir(directory);
	return removed;
}
