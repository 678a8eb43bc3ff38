/*-------------------------------------------------------------------------
 *
 * files.c
 *		Create, fill and remove the files of a probe.
 *
 * The files keep their names while they are measured.  Writes to an unlinked file
 * bypass the intent log of ZFS and the log tree of btrfs, so both would look many times
 * too fast.  After a crash, the server removes files with these names when it starts.
 * The next probe removes the files of a killed backend.
 *
 * It must not: follow a symbolic link as the last component of a path, overwrite a
 * file, or remove a file that it did not create.
 *
 *-------------------------------------------------------------------------
 */
#include "probe/probe.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/file_perm.h"
#include "common/file_utils.h"
#include "miscadmin.h"

#include "compat.h"
#include "engine/measure/segments.h"

/*
 * RemovePgTempFiles() removes files whose names begin with PG_TEMP_FILE_PREFIX, and
 * RemoveTempXlogFiles() those that begin with "xlogtemp.".  The server itself uses
 * xlogtemp.<pid>, so our names have a suffix.
 */
static const char *
name_format(const sp_location *location)
{
	return OidIsValid(location->tablespace) ? PG_TEMP_FILE_PREFIX "_sync_probe.%d.%d" :
		"xlogtemp.%d.sync_probe.%d";
}

static void
name_file(const sp_location *location, int pid, int n, char *name)
{
	snprintf(name, SP_NAME_LEN, name_format(location), pid, n);
}

/*
 * Is this a name from name_file(), of any process?  The name is built again and
 * compared, since sscanf() accepts blanks, signs and leading zeros.
 */
static bool
is_probe_file_name(const sp_location *location, const char *name)
{
	char		again[SP_NAME_LEN];
	int			pid;
	int			n;

	if (sscanf(name, name_format(location), &pid, &n) != 2 || pid <= 0 || n < 0)
		return false;
	name_file(location, pid, n, again);
	return strcmp(name, again) == 0;
}

/*
 * Open the directory for the files of a location, and create it first as the server does for its
 * own temporary files.  pg_wal may be a symbolic link; pgsql_tmp must not be one.  lasting: the
 * one above, which is not swept.  Returns -1 and sets errno if it cannot be opened.
 *
 * The owner is not checked.  The server checks only the owner of its data directory,
 * and accepts a pg_wal that belongs to root and is writable by a group.  A user who can
 * write there could replace WAL itself.  Our files are protected differently: O_EXCL
 * creates them, and a file is removed only if its device and inode are unchanged.
 */
static int
open_directory(const sp_location *location, bool lasting, bool create, char *path)
{
	int			flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

	strlcpy(path, location->directory, MAXPGPATH);
	if (lasting)
	{
		(void) sp_power_test_left(location, path);
		get_parent_directory(path);
	}
	else if (OidIsValid(location->tablespace))
	{
		TempTablespacePath(path, location->tablespace);
		flags |= O_NOFOLLOW;
		if (create && MakePGDirectory(path) != 0 && errno != EEXIST)
			return -1;
	}
	return open(path, flags);
}

/* Returns whether the file was removed.  A failure is a WARNING. */
static bool
unlink_at(int directory_fd, const char *directory, const char *name)
{
	if (unlinkat(directory_fd, name, 0) == 0)
		return true;
	if (errno != ENOENT)
		ereport(WARNING,
				(sp_errcode_for_file_access(),
				 errmsg("could not remove file \"%s/%s\": %m", directory, name)));
	return false;
}

/* Returns whether a power test had left its file, and it was removed. */
bool
sp_power_test_remove(const sp_location *location)
{
	char		path[MAXPGPATH];

	return sp_power_test_left(location, path) && unlink_at(AT_FDCWD, ".", path);
}

/*
 * Remove the files of killed backends.  The caller holds the cluster lock, so no
 * other probe is running.  Returns the number of files; a directory that cannot be
 * read counts as empty.
 */
int
sp_probe_files_sweep(const sp_location *location)
{
	char		path[MAXPGPATH];
	int			fd = open_directory(location, false, false, path);
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

		if (is_probe_file_name(location, entry->d_name) &&
			fstatat(fd, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
			S_ISREG(status.st_mode))
			removed += unlink_at(fd, path, entry->d_name);
	}
	closedir(directory);
	return removed;
}

/* ------------------------------------------------------------------- space */

int64
sp_probe_files_size(const sp_probe *probe)
{
	int64		size = 0;

	for (int n = 0; n < probe->nfiles; n++)
	{
		if (probe->files[n].status == SP_OK)
			size += probe->files[n].size;
	}
	return size;
}

/*
 * Check free space before anything is written.  If the files do not fit, reduce their
 * size and number as far as the suite allows.
 */
static void
check_space(const sp_probing *state)
{
	const sp_location *location = &state->run->location;
	int64		needed;
	int64		available;
	int64		reserve;
	bool		fits;

	do
	{
		needed = sp_probe_files_size(state->run->probe);
		available = sp_location_space(location, state->directory_fd, needed, &reserve);
		fits = available >= needed + reserve;
	} while (!fits && sp_suite_shrink_files(state->run->probe));

	if (!fits)
		sp_space_error(location, available, reserve, needed);
	if (temp_file_limit >= 0 && needed / 1024 > temp_file_limit)
		ereport(ERROR,
				(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
				 errmsg("probing location \"%s\" exceeds temp_file_limit (%dkB)",
						NameStr(location->name), temp_file_limit),
				 errdetail("Needs %s.", sp_pretty_bytes(needed))));
}

static int
count_descriptors(const sp_probe *probe)
{
	int			wanted = 2;		/* the directory, and a file that is being opened again */

	for (int n = 0; n < probe->nfiles; n++)
		wanted += probe->files[n].status == SP_OK;
	return wanted;
}

/*
 * Reserve descriptors, so that fd.c keeps the total below the limit.  If there are too
 * few, the copies of files are dropped.
 */
static void
reserve_fds(sp_probing *state)
{
	while (state->reserved_fds < count_descriptors(state->run->probe))
	{
		if (AcquireExternalFD())
			state->reserved_fds++;
		else if (!sp_suite_drop_copies(state->run->probe))
			ereport(ERROR,
					(errcode(ERRCODE_INSUFFICIENT_RESOURCES),
					 errmsg("not enough file descriptors for a probe"),
					 errdetail("Needs %d.", count_descriptors(state->run->probe)),
					 errhint("Raise max_files_per_process.")));
	}
}

/* Throw an error about a file, or about their directory if it is NULL. */
void
sp_probe_file_error(const sp_probing *state, const char *verb, const sp_file *file)
{
	ereport(ERROR,
			(sp_errcode_for_file_access(),
			 file ? errmsg("could not %s file \"%s/%s\": %m", verb, state->directory, file->name) :
			 errmsg("could not %s directory \"%s\": %m", verb, state->directory)));
}

/* ------------------------------------------------------------------ filling */

/*
 * Every block is written.  Otherwise a measured sync would have to convert unwritten
 * extents, which changes metadata.  Filling is not measured, but the size of its writes
 * determines the folios of the page cache, and on some file systems these determine
 * the cost of later writes.
 *
 * It must not: delay a cancel, ignore the duty cycle, or use up the reserve.
 */

/* The bytes between two pauses of the duty cycle, and between two checks of free space. */
#define REST_BYTES		(256 * 1024)
#define CHECK_BYTES		(1024 * 1024)

/*
 * With a duty cycle, flush what was just written, not everything at the end, and then
 * pause, so that other processes can use the device.  The sum of all pauses is at most
 * the duration of the probe.
 */
static void
rest_after_chunk(sp_probing *state, const sp_file *file, int64 begin_ns)
{
	const sp_probe *probe = state->run->probe;
	const sp_callbacks *callbacks = &probe->callbacks;
	int64		now_ns;
	int64		rest_ns;

	if (fdatasync(file->fd) != 0)
		sp_probe_file_error(state, "fsync", file);
	now_ns = callbacks->now_ns(callbacks->context);
	rest_ns = (int64) ((double) (now_ns - begin_ns) * (1 / probe->duty_cycle - 1));
	rest_ns = Min(rest_ns, probe->duration_ns - state->rested_ns);
	if (rest_ns > 0)
		callbacks->sleep_until(callbacks->context, now_ns + rest_ns);
	state->rested_ns += Max(rest_ns, 0);
}

/*
 * Write one chunk.  After a short write, the next call returns the reason, usually a
 * full file system or a quota.
 */
static void
fill_chunk(const sp_probing *state, const sp_file *file, int64 offset, int64 size)
{
	for (int64 done = 0; done < size;)
	{
		ssize_t		written;

		CHECK_FOR_INTERRUPTS();
		written = sp_write_blocks(file->fd, state->run->probe->buffer, SP_FILL_BUFFER_SIZE,
								  size - done, offset + done);
		if (written < 0 && errno == EINTR)
			continue;
		if (written == 0)
			errno = ENOSPC;
		if (written <= 0)
			sp_probe_file_error(state, "write", file);
		done += written;
	}
}

/* Write all blocks of a new file, and sync it.  Sizes of files and of writes are powers of two. */
static void
fill_file(sp_probing *state, const sp_file *file)
{
	const sp_probe *probe = state->run->probe;
	int64		begin_ns = probe->callbacks.now_ns(probe->callbacks.context);

	Assert(file->size % CHECK_BYTES == 0);
	for (int64 done = 0; done < file->size;)
	{
		int64		chunk = Min(file->layout_write_size, file->size - done);

		if (done % CHECK_BYTES == 0)
			sp_check_reserve(&state->run->location, state->directory_fd, 0);
		fill_chunk(state, file, done, chunk);
		done += chunk;
		state->filled_bytes += chunk;
		sp_notice_filling(state);
		if (probe->duty_cycle < 1 && done % REST_BYTES == 0)
		{
			rest_after_chunk(state, file, begin_ns);
			begin_ns = probe->callbacks.now_ns(probe->callbacks.context);
		}
	}
	if (fsync(file->fd) != 0)
		sp_probe_file_error(state, "fsync", file);
}

/* ----------------------------------------------------------------- creation */

/*
 * Create and fill one file, then open it with the flags of its method.  If that fails,
 * the status of the file shows it; the file system may refuse O_DIRECT.
 */
static void
create_file(sp_probing *state, sp_file *file)
{
	if (sp_create_file(file) != NULL)
		sp_probe_file_error(state, "create", file);
	fill_file(state, file);
	close(file->fd);

	file->fd = sp_openat(state->directory_fd, file->name, sp_open_flags(file));
	if (file->fd >= 0)
		return;
	file->open_errno = errno;
	file->status = file->direct_io && errno == EINVAL ? SP_NO_DIRECT_IO : SP_ERROR;
}

/* All of these names are swept, but for the file of a power test, which is its only one. */
static void
name_files(sp_probing *state)
{
	for (int n = 0; n < state->run->probe->nfiles; n++)
	{
		sp_file    *file = &state->run->probe->files[n];

		name_file(&state->run->location, MyProcPid, n, file->name);
		name_file(&state->run->location, MyProcPid, n + SP_MAX_FILES, file->other_name);
		if (state->lasting)
			strlcpy(file->name, SP_POWER_TEST_FILE, SP_NAME_LEN);
		file->directory_fd = state->directory_fd;
		file->create_mode = pg_file_create_mode;
	}
}

/*
 * Create the files that the probe has planned.  After an error, the caller must call
 * sp_probe_files_remove().
 */
void
sp_probe_files_create(sp_probing *state)
{
	sp_probe   *probe = state->run->probe;

	reserve_fds(state);

	state->directory_fd = open_directory(&state->run->location, state->lasting, true,
										 state->directory);
	if (state->directory_fd < 0 && errno == ENOENT && OidIsValid(state->run->location.tablespace))
		ereport(ERROR,
				(sp_errcode_for_file_access(),
				 errmsg("tablespace \"%s\" has no directory", NameStr(state->run->location.name)),
				 errdetail("Could not open directory \"%s\": %m.", state->directory),
				 errhint("Is its file system mounted? See SELECT * FROM " SP_SCHEMA ".findings.")));
	if (state->directory_fd < 0)
		sp_probe_file_error(state, "open", NULL);
	check_space(state);

	name_files(state);
	for (int n = 0; n < probe->nfiles; n++)
	{
		if (probe->files[n].status == SP_OK && !probe->files[n].made_by_engine)
			create_file(state, &probe->files[n]);
	}
	if (fsync(state->directory_fd) != 0)
		sp_probe_file_error(state, "fsync", NULL);
}

/*
 * Close and remove the files.  May be called at any time, repeatedly, and while the
 * backend exits.  A file that replaced ours is not removed.
 */
void
sp_probe_files_remove(sp_probing *state)
{
	for (int n = 0; n < state->run->probe->nfiles; n++)
	{
		sp_file    *file = &state->run->probe->files[n];

		if (file->fd >= 0)
			close(file->fd);
		file->fd = -1;
		if (!file->exists)
			continue;
		file->exists = false;

		if (sp_is_in_place(file))
			(void) unlink_at(state->directory_fd, state->directory, file->name);
		else if (errno != ENOENT && errno != ESTALE)
			ereport(WARNING,
					(sp_errcode_for_file_access(),
					 errmsg("could not stat file \"%s/%s\": %m", state->directory, file->name)));
		else
			ereport(WARNING,
					(errmsg("probe file \"%s/%s\" is no longer there", state->directory, file->name),
					 errdetail("It was removed or replaced while it was measured. Measurements of a removed file can be wrong.")));
	}
	if (state->directory_fd >= 0)
		close(state->directory_fd);
	state->directory_fd = -1;
	for (; state->reserved_fds > 0; state->reserved_fds--)
		ReleaseExternalFD();
}
