/*-------------------------------------------------------------------------
 *
 * segment_file.c
 *		Make, rename and remove a segment as the server does, and time it.
 *
 * The calls are those of XLogFileInitInternal(), InstallXLogFileSegment() and
 * RemoveXlogFile(): write, fsync, durable_rename(), durable_unlink().  Each is timed by
 * itself, and interrupts are checked between any two of them.  So a cancel waits for one
 * sync at most, though a segment on a slow disk takes seconds.
 *
 * It must not: replace a file, remove one that is not ours, or repeat a sync that failed.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/measure/probe_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "engine/measure/segments.h"

/* A write has as many blocks as the server's, at most. */
#define MAX_BLOCKS	128

static const char zeros[SP_WAL_PAGE_SIZE];

/* Of a step, which is an sp_calls with an sp_segment_work. */
static sp_file *
file_of(void *work)
{
	return ((sp_segment_work *) work)->file;
}

/* -------------------------------------------------------------------- steps */

static const char *
make_file(void *work)
{
	return sp_create_file(file_of(work));
}

ssize_t
sp_write_blocks(int fd, const char *buffer, int64_t buffer_size, int64_t size, int64_t offset)
{
	struct iovec parts[MAX_BLOCKS];
	int			nparts = 0;

	for (int64_t done = 0; done < size && nparts < MAX_BLOCKS; nparts++)
	{
		int64_t		left = size - done;

		parts[nparts].iov_base = (char *) buffer + done % buffer_size;
		parts[nparts].iov_len = (size_t) (left < SP_WAL_PAGE_SIZE ? left : SP_WAL_PAGE_SIZE);
		done += (int64_t) parts[nparts].iov_len;
	}
	return nparts == 1 ? pwrite(fd, buffer, parts[0].iov_len, offset) :
		pwritev(fd, parts, nparts, offset);
}

/* One write; what is left is for the next one. */
static const char *
write_zeros(void *what)
{
	sp_segment_work *work = what;
	int64_t		size = work->file->size - work->position;
	ssize_t		written;

	if (size > work->fill_write_size)
		size = work->fill_write_size;
	written = sp_write_blocks(work->file->fd, zeros, sizeof(zeros), size, work->position);
	if (written == 0)
		errno = ENOSPC;
	if (written <= 0)
		return "pwrite";
	work->position += written;
	return NULL;
}

static const char *
write_last_byte(void *work)
{
	ssize_t		written = pwrite(file_of(work)->fd, zeros, 1, file_of(work)->size - 1);

	if (written == 0)
		errno = ENOSPC;
	return written == 1 ? NULL : "pwrite";
}

static const char *
sync_and_close(void *work)
{
	int			fd = file_of(work)->fd;

	if (fsync(fd) != 0)
		return "fsync";
	file_of(work)->fd = -1;
	return close(fd) == 0 ? NULL : "close";
}

/* As fsync_fname() does, by the name.  The descriptor is closed by the next step. */
static const char *
sync_by_name(void *work)
{
	sp_file    *file = file_of(work);

	file->fd = openat(file->directory_fd, file->name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	return file->fd < 0 ? "open" : sync_and_close(work);
}

static const char *
give_other_name(void *work)
{
	sp_file    *file = file_of(work);
	char		name[SP_NAME_LEN];

	if (renameat(file->directory_fd, file->name, file->directory_fd, file->other_name) != 0)
		return "rename";
	memcpy(name, file->name, sizeof(name));
	memcpy(file->name, file->other_name, sizeof(name));
	memcpy(file->other_name, name, sizeof(name));
	return NULL;
}

static const char *
sync_directory(void *work)
{
	return fsync(file_of(work)->directory_fd) == 0 ? NULL : "fsync";
}

static const char *
remove_file(void *work)
{
	sp_file    *file = file_of(work);

	if (unlinkat(file->directory_fd, file->name, 0) != 0)
		return "unlink";
	file->exists = false;
	return NULL;
}

/* ------------------------------------------------------------------- untimed */

/* A rename would replace a file without a word. */
static bool
is_free(const sp_file *file, const char *name)
{
	struct stat status;

	if (fstatat(file->directory_fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0)
		errno = EEXIST;
	return errno == ENOENT;
}

/* What it closes was synced, or is no longer used. */
static void
close_file(sp_file *file)
{
	if (file->fd >= 0)
		(void) close(file->fd);
	file->fd = -1;
}

/* A signal fails nothing: the round that it cuts is not counted. */
static bool
fail(sp_segment_work *work, const char *call)
{
	work->failed = errno == EINTR ? NULL : call;
	return false;
}

void
sp_segment_discard(sp_file *file)
{
	close_file(file);
	if (file->exists && sp_is_in_place(file) && unlinkat(file->directory_fd, file->name, 0) != 0)
		return;					/* the caller of the suite tries again, and reports it */
	file->exists = false;
}

/* ---------------------------------------------------------------- operations */

/* Steps that follow each other, up to NULL. */
static bool
run_steps(sp_segment_work *work, const sp_calls *steps)
{
	while (*steps)
	{
		const char *failed;
		int64_t		elapsed_ns;

		if (sp_now_ns(work->probe) >= work->limit)
			return false;
		failed = sp_time_calls(work->probe, *steps, work, &elapsed_ns);
		if (failed)
			return fail(work, failed);
		work->ns += elapsed_ns;
		if (*steps != write_zeros || work->position >= work->file->size)
			steps++;
	}
	return true;
}

#define DURABLE_RENAME	sync_by_name, give_other_name, sync_by_name, sync_directory

bool
sp_segment_make(sp_segment_work *work, sp_segment_kind kind)
{
	static const sp_calls steps[SP_SEGMENT_KINDS][8] = {
		[SP_RECYCLED] = {DURABLE_RENAME},
		[SP_ZERO_FILLED] = {make_file, write_zeros, sync_and_close, DURABLE_RENAME},
		[SP_SPARSE] = {make_file, write_last_byte, sync_and_close, DURABLE_RENAME},
	};
	sp_file    *file = work->file;

	work->position = 0;
	close_file(file);
	if (!is_free(file, file->other_name))
		return fail(work, "rename");
	if (!run_steps(work, steps[kind]))
		return false;
	if (!sp_is_in_place(file))
		return fail(work, "open");
	file->fd = sp_openat(file->directory_fd, file->name, sp_open_flags(file));
	file->position = 0;
	return file->fd >= 0 || fail(work, "open");
}

bool
sp_segment_remove(sp_segment_work *work)
{
	static const sp_calls steps[] = {remove_file, sync_directory, NULL};

	close_file(work->file);
	return sp_is_in_place(work->file) ? run_steps(work, steps) : fail(work, "unlink");
}
