/*-------------------------------------------------------------------------
 *
 * probe_file.c
 *		The files of a probe: room, names, content, removal.
 *
 * They keep their names while they are measured: writes to an unlinked file
 * never enter the intent log of ZFS, and btrfs skips its log tree, so both
 * would look many times too fast.  The names are such that a server which
 * crashes now sweeps them when it recovers; what a killed backend leaves while
 * the server lives is swept by the next probe.
 *
 * Nothing here follows a symbolic link in the last step, overwrites a file
 * that exists, or removes one that is not the one it created.
 *
 *-------------------------------------------------------------------------
 */
#include "pg_sync_probe.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "common/file_perm.h"
#include "common/file_utils.h"
#include "miscadmin.h"
#include "storage/proc.h"

#include "compat.h"

/* Enough for one system call, little enough for a quick cancel. */
#define FILL_CHUNK_SIZE	SP_BUFFER_SIZE

/* RemovePgTempFiles() removes what begins with PG_TEMP_FILE_PREFIX. */
#define TABLESPACE_PREFIX	PG_TEMP_FILE_PREFIX "_sync_probe."

/*
 * RemoveTempXlogFiles() removes what begins with "xlogtemp.".  The server's own
 * file is xlogtemp.<pid>, so ours goes on after the pid.
 */
#define PG_WAL_FORMAT	"xlogtemp.%d.sync_probe.%d"

static void
name_file(const sp_location *location, int pid, int n, char *name)
{
	if (OidIsValid(location->tablespace))
		snprintf(name, SP_NAME_LEN, TABLESPACE_PREFIX "%d.%d", pid, n);
	else
		snprintf(name, SP_NAME_LEN, PG_WAL_FORMAT, pid, n);
}

/*
 * Is this a name that name_file() gives, of whatever process?  Made again and
 * compared, since sscanf() is lenient about blanks, signs and zeros.
 */
static bool
is_probe_file_name(const sp_location *location, const char *name)
{
	const char *format = OidIsValid(location->tablespace) ?
		TABLESPACE_PREFIX "%d.%d" : PG_WAL_FORMAT;
	char		again[SP_NAME_LEN];
	int			pid;
	int			n;

	if (sscanf(name, format, &pid, &n) != 2 || pid <= 0 || n < 0)
		return false;
	name_file(location, pid, n, again);
	return strcmp(name, again) == 0;
}

/* Where the files of a location go, below PGDATA. */
static void
probe_directory(const sp_location *location, char *path)
{
	if (OidIsValid(location->tablespace))
		TempTablespacePath(path, location->tablespace);
	else
		strlcpy(path, location->directory, MAXPGPATH);
}

/*
 * Open the directory, made as the server makes it for its own temporary files.
 * pg_wal may be a symbolic link, that is how it is moved; pgsql_tmp may not.
 * -1 with errno if it cannot be opened.
 */
static int
open_directory(const sp_location *location, bool create, char *path)
{
	int			flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
	struct stat status;
	int			fd;

	probe_directory(location, path);
	if (OidIsValid(location->tablespace))
	{
		flags |= O_NOFOLLOW;
		if (create && MakePGDirectory(path) != 0 && errno != EEXIST)
			return -1;
	}
	if ((fd = open(path, flags)) < 0)
		return -1;

	/* the server itself insists on owning its directories */
	if (fstat(fd, &status) == 0 && status.st_uid == geteuid())
		return fd;
	close(fd);
	errno = EPERM;
	return -1;
}

/* True if it was removed; what could not be is a warning. */
static bool
unlink_at(int directory_fd, const char *directory, const char *name)
{
	if (unlinkat(directory_fd, name, 0) == 0)
		return true;
	if (errno != ENOENT)
		ereport(WARNING,
				(errcode_for_file_access(),
				 errmsg("could not remove file \"%s/%s\": %m", directory, name)));
	return false;
}

/*
 * Remove what probes left whose backend was killed.  The caller is the only
 * probe of the cluster, so every such file is a dead one's.  Returns how many;
 * a directory that cannot be read has none.
 */
int
sp_probe_files_sweep(const sp_location *location)
{
	char		path[MAXPGPATH];
	int			fd = open_directory(location, false, path);
	DIR		   *directory;
	struct dirent *entry;
	int			removed = 0;

	if (fd < 0)
		return 0;
	if ((directory = fdopendir(fd)) == NULL)
	{
		close(fd);
		return 0;
	}
	while ((entry = readdir(directory)) != NULL)
	{
		struct stat status;

		if (!is_probe_file_name(location, entry->d_name) ||
			fstatat(fd, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
			!S_ISREG(status.st_mode))
			continue;
		if (unlink_at(fd, path, entry->d_name))
			removed++;
	}
	closedir(directory);
	return removed;
}

/* -------------------------------------------------------------------- room */

/*
 * A full pg_wal stops the cluster, a full tablespace its users: what is written
 * must leave a reserve.  Returns the bytes available; *reserve is how many of
 * these must stay, least_reserve at least.
 */
int64
sp_available_space(int directory_fd, const char *directory, int64 least_reserve, int64 *reserve)
{
	struct statvfs space;

	if (fstatvfs(directory_fd, &space) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not determine free space of \"%s\": %m", directory)));
	*reserve = Max(least_reserve,
				   (int64) space.f_blocks * space.f_frsize / 100 * sp_reserve_percent);
	return (int64) space.f_bavail * space.f_frsize;
}

/* Refuse before a byte is written. */
static void
check_space(const sp_probe_files *files, const char *directory, int64 needed)
{
	bool		is_pg_wal = !OidIsValid(files->location->tablespace);
	int64		reserve;
	int64		available = sp_available_space(files->directory_fd, directory,
												  is_pg_wal ? (int64) max_wal_size_mb * 1024 * 1024 : 0,
												  &reserve);

	if (available < needed + reserve)
		ereport(ERROR,
				(errcode(ERRCODE_DISK_FULL),
				 errmsg("not enough space to probe location \"%s\"", NameStr(files->location->name)),
				 errdetail("Needed are " INT64_FORMAT " bytes and a reserve of " INT64_FORMAT " bytes, available are " INT64_FORMAT " bytes.",
						   needed, reserve, available),
				 !is_pg_wal ?
				 errhint("Free some space, or lower pg_sync_probe.reserve_percent.") :
				 errhint("Free some space: the reserve in pg_wal is the larger of max_wal_size and pg_sync_probe.reserve_percent of the file system.")));

	if (temp_file_limit >= 0 && needed / 1024 > temp_file_limit)
		ereport(ERROR,
				(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
				 errmsg("probing location \"%s\" exceeds temp_file_limit (%dkB)",
						NameStr(files->location->name), temp_file_limit),
				 errdetail("Needed are " INT64_FORMAT " kB.", needed / 1024)));
}

/* Descriptors that fd.c must know of, so that it keeps its own in bounds. */
static void
reserve_fds(sp_probe_files *files, int wanted)
{
	for (; files->reserved_fds < wanted; files->reserved_fds++)
	{
		if (!AcquireExternalFD())
			ereport(ERROR,
					(errcode(ERRCODE_INSUFFICIENT_RESOURCES),
					 errmsg("not enough file descriptors for a probe"),
					 errdetail("Needed are %d.", wanted),
					 errhint("Raise max_files_per_process.")));
	}
}

/* ----------------------------------------------------------------- creation */

static int
flags_of(const sp_file *file)
{
	return O_RDWR | O_NOFOLLOW | O_CLOEXEC |
		(file->method ? file->method->open_flags : 0) |
		(file->direct_io ? sp_direct_io_flag : 0);
}

static void
fill_failed(const char *verb, const sp_file *file, const char *directory)
{
	ereport(ERROR,
			(errcode_for_file_access(),
			 errmsg("could not %s file \"%s/%s\": %m", verb, directory, file->name)));
}

/*
 * Who asked for a duty cycle wants others to get at the device meanwhile: what
 * was just written goes to it at once, not with all the rest at the end, and
 * then it rests.  All rests together last no longer than the measuring may.
 */
static void
rest_after_chunk(sp_probe_files *files, const sp_file *file, int64 begin_ns, const char *directory)
{
	const sp_callbacks *callbacks = &files->probe->callbacks;
	int64		now_ns;
	int64		rest_ns;

	if (fdatasync(file->fd) != 0)
		fill_failed("fsync", file, directory);
	now_ns = callbacks->now_ns(callbacks->context);
	rest_ns = (int64) ((double) (now_ns - begin_ns) * (1 / files->probe->duty_cycle - 1));
	rest_ns = Min(rest_ns, files->probe->duration_ns - files->rested_ns);
	if (rest_ns > 0)
		callbacks->sleep_until(callbacks->context, now_ns + rest_ns);
	files->rested_ns += Max(rest_ns, 0);
}

/*
 * Write every block, so that no measured sync has to turn an unwritten extent
 * into a written one, which is a change of metadata.
 */
static void
fill_file(sp_probe_files *files, const sp_file *file, const char *directory)
{
	const sp_probe *probe = files->probe;

	for (int64 done = 0; done < file->size;)
	{
		int64		begin_ns = probe->callbacks.now_ns(probe->callbacks.context);
		size_t		chunk = Min(FILL_CHUNK_SIZE, file->size - done);
		ssize_t		written = pwrite(file->fd, probe->buffer, chunk, done);

		if (written != (ssize_t) chunk)
		{
			if (written >= 0)
				errno = ENOSPC;
			else if (errno == EINTR)
				continue;
			fill_failed("write", file, directory);
		}
		done += written;
		if (probe->duty_cycle < 1)
			rest_after_chunk(files, file, begin_ns, directory);
		CHECK_FOR_INTERRUPTS();
	}
	if (fsync(file->fd) != 0)
		fill_failed("fsync", file, directory);
}

/*
 * One file, written and opened as its method opens it.  A refusal of O_DIRECT
 * is a finding, noted in the file's status; anything else is an error.
 */
static void
create_file(sp_probe_files *files, int n, const char *directory)
{
	sp_file    *file = &files->probe->files[n];
	struct stat status;

	name_file(files->location, MyProcPid, n, file->name);
	file->directory_fd = files->directory_fd;
	file->fd = openat(files->directory_fd, file->name,
					  O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, pg_file_create_mode);
	if (file->fd >= 0 && fstat(file->fd, &status) != 0)
	{
		int			saved_errno = errno;

		/* without its identity it could not be removed later */
		(void) unlinkat(files->directory_fd, file->name, 0);
		close(file->fd);
		file->fd = -1;
		errno = saved_errno;
	}
	if (file->fd < 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not create file \"%s/%s\": %m", directory, file->name)));
	files->created[n].exists = true;
	files->created[n].device = status.st_dev;
	files->created[n].inode = status.st_ino;

	fill_file(files, file, directory);
	close(file->fd);

	file->fd = openat(files->directory_fd, file->name, flags_of(file));
	if (file->fd >= 0)
		return;
	file->open_errno = errno;
	file->status = file->direct_io && errno == EINVAL ? SP_NO_DIRECT_IO : SP_ERROR;
}

/*
 * Lay out the files of the probe's plan.  On error what exists is for
 * sp_probe_files_remove(), which the caller sees to.
 */
void
sp_probe_files_create(sp_probe_files *files)
{
	sp_probe   *probe = files->probe;
	char		directory[MAXPGPATH];
	int64		needed = 0;
	int			wanted = 2;		/* the directory, and one that is opened again */

	for (int n = 0; n < probe->nfiles; n++)
	{
		if (probe->files[n].status != SP_OK)
			continue;
		needed += probe->files[n].size;
		wanted++;
	}
	reserve_fds(files, wanted);

	files->directory_fd = open_directory(files->location, true, directory);
	if (files->directory_fd < 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not open directory \"%s\": %m", directory)));
	check_space(files, directory, needed);

	for (int n = 0; n < probe->nfiles; n++)
	{
		if (probe->files[n].status == SP_OK)
			create_file(files, n, directory);
	}
	if (fsync(files->directory_fd) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not fsync directory \"%s\": %m", directory)));
}

/*
 * Close and remove; may be called at any time and again, also while the
 * backend exits.  A file that somebody put in our place is not ours.
 */
void
sp_probe_files_remove(sp_probe_files *files)
{
	char		directory[MAXPGPATH];

	probe_directory(files->location, directory);
	for (int n = 0; n < files->probe->nfiles; n++)
	{
		sp_file    *file = &files->probe->files[n];
		struct stat status;

		if (file->fd >= 0)
			close(file->fd);
		file->fd = -1;
		if (!files->created[n].exists)
			continue;
		files->created[n].exists = false;

		if (fstatat(files->directory_fd, file->name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
			status.st_dev != files->created[n].device || status.st_ino != files->created[n].inode)
			ereport(WARNING,
					(errmsg("probe file \"%s/%s\" is no longer there", directory, file->name),
					 errdetail("Somebody removed or replaced it while it was measured; measurements of a removed file can be wrong.")));
		else
			(void) unlink_at(files->directory_fd, directory, file->name);
	}
	if (files->directory_fd >= 0)
		close(files->directory_fd);
	files->directory_fd = -1;
	for (; files->reserved_fds > 0; files->reserved_fds--)
		ReleaseExternalFD();
}
