/*-------------------------------------------------------------------------
 *
 * scratch.c
 *		A folder for one run of a workload: the script, the transaction logs.
 *
 * It is among the server's own temporary files, and its name is one that a
 * server which crashes now sweeps, with all that is in it, when it recovers.
 * What a killed backend leaves while the server lives is swept by the next run.
 *
 * It must not: be somewhere else, or be open to anybody but the server's user:
 * scripts may hold what is not for everyone.
 *
 *-------------------------------------------------------------------------
 */
#include "workload.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/file_perm.h"
#include "common/file_utils.h"
#include "miscadmin.h"
#include "storage/fd.h"
#include "utils/guc.h"

#define TEMP_DIRECTORY	"base/" PG_TEMP_FILES_DIR
#define NAME_PREFIX		PG_TEMP_FILE_PREFIX "_sync_probe."
#define NAME_SUFFIX		".workload"

#define READ_SIZE		(64 * 1024)

static void
folder_failed(const char *verb, const char *path)
{
	ereport(ERROR,
			(errcode_for_file_access(),
			 errmsg("could not %s directory \"%s\": %m", verb, path)));
}

/* Is this a name that sp_scratch_make() gives, of whatever process? */
static bool
is_scratch_name(const char *name)
{
	char		again[MAXPGPATH];
	int			pid;

	if (sscanf(name, NAME_PREFIX "%d" NAME_SUFFIX, &pid) != 1 || pid <= 0)
		return false;
	snprintf(again, sizeof(again), NAME_PREFIX "%d" NAME_SUFFIX, pid);
	return strcmp(name, again) == 0;
}

/*
 * The folder of this process, made anew, once what the dead left is gone.  The
 * caller is the only one in the cluster that has such a folder.
 */
void
sp_scratch_make(sp_scratch *scratch)
{
	struct stat status;

	(void) sp_scratch_sweep();
	if (MakePGDirectory(TEMP_DIRECTORY) != 0 && errno != EEXIST)
		folder_failed("create", TEMP_DIRECTORY);
	if (lstat(TEMP_DIRECTORY, &status) == 0 && !S_ISDIR(status.st_mode))
	{
		errno = ENOTDIR;
		folder_failed("use", TEMP_DIRECTORY);
	}
	snprintf(scratch->path, MAXPGPATH, "%s/" NAME_PREFIX "%d" NAME_SUFFIX, TEMP_DIRECTORY, MyProcPid);
	if (mkdir(scratch->path, S_IRWXU) != 0)
	{
		int			saved_errno = errno;
		char	   *path = pstrdup(scratch->path);

		/* it is somebody else's: not to be removed */
		scratch->path[0] = '\0';
		errno = saved_errno;
		folder_failed("create", path);
	}
}

/*
 * How many bytes may be written there: what is free above the reserve, and no
 * more than temp_file_limit, which this is a case of.
 */
int64
sp_scratch_room(const sp_scratch *scratch)
{
	int			fd = OpenTransientFile(scratch->path, O_RDONLY | O_DIRECTORY);
	int64		available;
	int64		reserve;
	int64		room;

	if (fd < 0)
		folder_failed("open", scratch->path);
	available = sp_available_space(fd, scratch->path, 0, &reserve);
	CloseTransientFile(fd);
	room = Max(available - reserve, 0);
	return temp_file_limit >= 0 ? Min(room, (int64) temp_file_limit * 1024) : room;
}

static void
file_failed(const char *verb, const char *path)
{
	ereport(ERROR,
			(errcode_for_file_access(),
			 errmsg("could not %s file \"%s\": %m", verb, path)));
}

/* A new file with that content; returns its path. */
char *
sp_scratch_write(const sp_scratch *scratch, const char *name, const char *content)
{
	char	   *path = psprintf("%s/%s", scratch->path, name);
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

/* A script may have put anything there; to open a pipe could take for ever. */
static void
read_log(const char *path, sp_pgbench_log *log)
{
	int			fd = OpenTransientFile(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
	char	   *buffer = palloc(READ_SIZE);
	struct stat status;
	ssize_t		got;

	if (fd < 0 || fstat(fd, &status) != 0)
		file_failed("open", path);
	if (!S_ISREG(status.st_mode))
	{
		errno = EINVAL;
		file_failed("read", path);
	}
	while ((got = read(fd, buffer, READ_SIZE)) != 0)
	{
		CHECK_FOR_INTERRUPTS();
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			file_failed("read", path);
		sp_pgbench_log_feed(log, buffer, got);
	}
	sp_pgbench_log_end_of_file(log);
	CloseTransientFile(fd);
	pfree(buffer);
}

/* All files whose names begin so: pgbench writes one for each of its threads. */
void
sp_scratch_read_logs(const sp_scratch *scratch, const char *prefix, sp_pgbench_log *log)
{
	DIR		   *directory = AllocateDir(scratch->path);
	struct dirent *entry;

	while ((entry = ReadDir(directory, scratch->path)) != NULL)
	{
		if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0)
			read_log(psprintf("%s/%s", scratch->path, entry->d_name), log);
	}
	FreeDir(directory);
}

/*
 * An error if the files take more than that.  Of what they hold, that is: blocks
 * are allocated later on some file systems.
 */
void
sp_scratch_check_size(const sp_scratch *scratch, int64 most_bytes)
{
	DIR		   *directory = AllocateDir(scratch->path);
	struct dirent *entry;
	int64		bytes = 0;

	while ((entry = ReadDir(directory, scratch->path)) != NULL)
	{
		char		path[MAXPGPATH * 2];
		struct stat status;

		snprintf(path, sizeof(path), "%s/%s", scratch->path, entry->d_name);
		if (lstat(path, &status) == 0 && S_ISREG(status.st_mode))
			bytes += status.st_size;
	}
	FreeDir(directory);
	if (bytes > most_bytes)
		ereport(ERROR,
				(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
				 errmsg("the transaction log of pgbench exceeds " INT64_FORMAT " bytes", most_bytes),
				 errdetail("There are far more transactions than were to be expected."),
				 errhint("Run it for a shorter time or with fewer clients; or give it more room, see temp_file_limit and pg_sync_probe.reserve_percent.")));
}

/* May be called at any time and again, also while the backend exits. */
void
sp_scratch_remove(sp_scratch *scratch)
{
	/* says itself, as a WARNING, what it could not remove */
	if (scratch->path[0] != '\0')
		(void) rmtree(scratch->path, true);
	scratch->path[0] = '\0';
}

/* Remove the folders of dead processes; see sp_scratch_make().  Returns how many. */
int
sp_scratch_sweep(void)
{
	DIR		   *directory = AllocateDir(TEMP_DIRECTORY);
	struct dirent *entry;
	int			removed = 0;

	/* most clusters have none before their first temporary file */
	if (directory == NULL && errno == ENOENT)
		return 0;
	while ((entry = ReadDir(directory, TEMP_DIRECTORY)) != NULL)
	{
		char		path[MAXPGPATH * 2];
		struct stat status;

		snprintf(path, sizeof(path), "%s/%s", TEMP_DIRECTORY, entry->d_name);
		if (is_scratch_name(entry->d_name) && lstat(path, &status) == 0 &&
			S_ISDIR(status.st_mode) && rmtree(path, true))
			removed++;
	}
	FreeDir(directory);
	return removed;
}
