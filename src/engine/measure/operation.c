/*-------------------------------------------------------------------------
 *
 * operation.c
 *		Time one operation: write, sync, and their errors.
 *
 * Every method, suite and regime uses this.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/measure/probe_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/*
 * Write everything with one call, as the server does.  After a short write another writes
 * the rest; if that fails, its errno is the reason (a full file system, a quota).
 * Returns NULL, or the name of the call that failed, with errno set.
 */
static const char *
write_all(int fd, const char *buffer, size_t size, off_t offset)
{
	while (size > 0)
	{
		ssize_t		written = pwrite(fd, buffer, size, offset);

		if (written == 0)
			errno = ENOSPC;
		if (written <= 0)
			return "pwrite";
		size -= (size_t) written;
		offset += written;
	}
	return NULL;
}

/*
 * Write as XLogWrite() does for a flush: one call writes all pages from the one
 * with the old end of WAL to the one with the new end.
 */
static const char *
write_flush(sp_probe *probe, const sp_test_case *test_case, sp_file *file)
{
	int64_t		first = file->position / SP_WAL_PAGE_SIZE * SP_WAL_PAGE_SIZE;
	int64_t		end = file->position + test_case->write_size;
	size_t		size;

	if (end > file->size)
	{
		first = 0;
		end = test_case->write_size;
	}
	size = (size_t) ((end - first + SP_WAL_PAGE_SIZE - 1) / SP_WAL_PAGE_SIZE * SP_WAL_PAGE_SIZE);
	if (first + (int64_t) size > file->size)
		size = (size_t) (file->size - first);

	file->position = end;
	return write_all(file->fd, probe->buffer, size, first);
}

static const char *
write_pattern(sp_probe *probe, const sp_test_case *test_case, int fd)
{
	for (int i = 0; i < test_case->writes_per_sync; i++)
	{
		const char *failed = write_all(fd, probe->buffer, (size_t) test_case->write_size,
									   (off_t) i * test_case->write_size);

		if (failed)
			return failed;
	}
	return NULL;
}

/* Returns NULL, or the name of the call that failed, with errno set. */
static const char *
sync_file(const sp_sync_method *method, int fd)
{
	if (method == NULL || method->sync == NULL || method->sync(fd) == 0)
		return NULL;
	return method->name;
}

static int
open_again(const sp_file *file)
{
	return sp_open_same_file(file, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
}

/* Close a descriptor.  An earlier failure keeps its name and errno. */
static const char *
close_after(int fd, const char *failed)
{
	int			saved_errno = errno;

	if (close(fd) != 0 && failed == NULL)
		return "close";
	errno = saved_errno;
	return failed;
}

/*
 * The two lines of pg_test_fsync about descriptors.  Both open the file twice,
 * so that they differ only in the descriptor that is synced.  The times of both include
 * the calls that check whether it is the same file.
 */
static const char *
reopening_operation(sp_probe *probe, const sp_test_case *test_case, const sp_file *file)
{
	const sp_sync_method *method = probe->files[test_case->file].method;
	bool		sync_second = test_case->descriptor_use == SP_WRITE_CLOSE_SYNC;
	const char *failed;
	int			fd;

	if ((fd = open_again(file)) < 0)
		return "open";
	failed = write_pattern(probe, test_case, fd);
	if (failed == NULL && !sync_second)
		failed = sync_file(method, fd);
	if ((failed = close_after(fd, failed)) != NULL)
		return failed;

	if ((fd = open_again(file)) < 0)
		return "open";
	if (sync_second)
		failed = sync_file(method, fd);
	return close_after(fd, failed);
}

/* A timed operation: a case, and the file that it writes to. */
typedef struct operation
{
	sp_probe   *probe;
	const sp_test_case *test_case;
	sp_file    *file;
} operation;

/* An sp_calls. */
static const char *
operate(void *what)
{
	sp_probe   *probe = ((operation *) what)->probe;
	const sp_test_case *test_case = ((operation *) what)->test_case;
	sp_file    *file = ((operation *) what)->file;
	const char *failed;

	if (test_case->descriptor_use != SP_KEEP_OPEN)
		return reopening_operation(probe, test_case, file);
	failed = test_case->advances
		? write_flush(probe, test_case, file)
		: write_pattern(probe, test_case, file->fd);
	return failed ? failed : sync_file(probe->files[test_case->file].method, file->fd);
}

/* ------------------------------------------------------------------- timing */

int64_t
sp_now_ns(sp_probe *probe)
{
	return probe->callbacks.now_ns(probe->callbacks.context);
}

const char *
sp_time_calls(sp_probe *probe, sp_calls calls, void *what, int64_t *elapsed_ns)
{
	const sp_callbacks *callbacks = &probe->callbacks;
	const char *failed;
	int64_t		begin;
	int			failed_errno;

	callbacks->check_interrupts(callbacks->context);
	callbacks->operation_begin(callbacks->context);
	begin = callbacks->now_ns(callbacks->context);
	failed = calls(what);
	failed_errno = errno;		/* callbacks may change it */
	*elapsed_ns = callbacks->now_ns(callbacks->context) - begin - probe->clock_cost_ns;
	callbacks->operation_end(callbacks->context);
	if (*elapsed_ns < 0)
		*elapsed_ns = 0;
	errno = failed_errno;
	return failed;
}

const char *
sp_repeat_calls(sp_probe *probe, sp_calls calls, void *what, int64_t *elapsed_ns)
{
	const char *failed;

	do
		failed = sp_time_calls(probe, calls, what, elapsed_ns);
	while (failed && errno == EINTR);
	return failed;
}

static bool
uses_file(const sp_probe *probe, int c, int home)
{
	int			file = probe->cases[c].file;

	while (file >= 0 && file != home)
		file = probe->files[file].copy;
	return file == home;
}

void
sp_fail_file(sp_probe *probe, int home, const char *call, int error_number)
{
	probe->rotation.frozen = true;
	for (int c = 0; c < probe->ncases; c++)
	{
		sp_result  *result = &probe->results[c];

		if (!uses_file(probe, c, home) || result->status != SP_OK)
			continue;

		/* some file systems accept O_DIRECT at open and refuse it at the write */
		result->status = error_number == EINVAL && probe->files[home].direct_io
			? SP_NO_DIRECT_IO : SP_ERROR;
		result->error_number = error_number;
		result->error_call = call;
	}
}

int64_t
sp_timed_operation(sp_probe *probe, int c, int home)
{
	operation	what = {probe, &probe->cases[c], &probe->files[probe->rotation.in_use[home]]};
	int64_t		elapsed_ns;
	const char *failed = sp_repeat_calls(probe, operate, &what, &elapsed_ns);

	if (failed)
	{
		sp_fail_file(probe, home, failed, errno);
		return -1;
	}
	return elapsed_ns;
}
