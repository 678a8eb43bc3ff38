/*-------------------------------------------------------------------------
 *
 * fail_calls.c
 *		Let system calls on the files of a probe fail, in a real server.
 *
 * For tests only: a library that test/t/SyncProbeTest.pm preloads into a server.  The
 * file that SP_FAULT_FILE names says what is to fail; it is read again at every call
 * that matters:
 *
 *		# a comment
 *		<call> <n>[+] <errno, "short", or a number of MB> [<end of the file's name>]
 *
 * The n-th matching call of a process (with "+" each one from there) does not take
 * place and fails; "short" writes half; "60MB" is what fstatvfs() reports as
 * available.  Counting starts again whenever the text changes, comments included.  A
 * missing or empty file is no fault.
 *
 * Where <SP_FAULT_FILE>.log exists, a line is appended for every matching call:
 * "<call> <file> done", "... failed", or "... <errno> injected".
 *
 * It must not touch a call that is not a probe's: everything else the server
 * does to its files has to go through, also in a directory that is probed.
 *
 *-------------------------------------------------------------------------
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

/* Both would give one name of a call to two of the functions below. */
#undef _FORTIFY_SOURCE
#undef _FILE_OFFSET_BITS

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#define MAX_FAULTS		4
#define SHORT_WRITE		(-1)
#define AVAILABLE		(-2)

typedef struct fault
{
	char		call[32];
	long		n;
	bool		and_later;
	char		error[16];		/* as in the file */
	int			error_number;	/* or SHORT_WRITE, or AVAILABLE */
	long		megabytes;		/* that are */
	char		suffix[32];
	long		seen;
} fault;

static fault faults[MAX_FAULTS];
static int	nfaults;
static long injected_megabytes;	/* of the last fault */
static char text_read[512];

/* Where a probe has files now; only a sync of this descriptor is its own. */
static int	probe_directory = -1;

static const struct
{
	const char *name;
	int			number;
}			errors[] = {
	{"EDQUOT", EDQUOT}, {"EINTR", EINTR}, {"EINVAL", EINVAL}, {"EIO", EIO},
	{"EMFILE", EMFILE}, {"ENOSPC", ENOSPC}, {"EROFS", EROFS}, {"short", SHORT_WRITE},
};

/* A line that says nothing we know injects nothing, which the test sees. */
static void
parse_line(const char *line)
{
	fault	   *f = &faults[nfaults];
	char		n[16];

	memset(f, 0, sizeof(*f));
	if (nfaults == MAX_FAULTS || line[0] == '#' ||
		sscanf(line, "%31s %15s %15s %31s", f->call, n, f->error, f->suffix) < 3)
		return;
	if (sscanf(f->error, "%ldMB", &f->megabytes) == 1)
		f->error_number = AVAILABLE;
	f->n = strtol(n, NULL, 10);
	f->and_later = strchr(n, '+') != NULL;
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
	{
		if (strcmp(errors[i].name, f->error) == 0)
			f->error_number = errors[i].number;
	}
	if (f->n > 0 && f->error_number != 0)
		nfaults++;
}

static void
read_faults(const char *control_file)
{
	char		text[sizeof(text_read)] = "";
	char	   *rest = text;
	char	   *line;
	ssize_t		length = 0;
	int			fd = open(control_file, O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
	{
		length = read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	text[length > 0 ? length : 0] = '\0';
	if (strcmp(text, text_read) == 0)
		return;
	strcpy(text_read, text);
	nfaults = 0;
	while ((line = strsep(&rest, "\n")) != NULL)
		parse_line(line);
}

static void
log_call(const char *call, const char *path, const char *outcome, const char *more)
{
	const char *control_file = getenv("SP_FAULT_FILE");
	char		name[PATH_MAX];
	char		line[PATH_MAX];
	int			length;
	int			fd;

	snprintf(name, sizeof(name), "%s.log", control_file);
	if ((fd = open(name, O_WRONLY | O_APPEND | O_CLOEXEC)) < 0)
		return;
	length = snprintf(line, sizeof(line), "%s %.256s %s%s\n", call, path, outcome, more);
	if (write(fd, line, (size_t) length) != length)
		abort();
	close(fd);
}

/* What the call has to do: 0 to go on, SHORT_WRITE, or an errno to fail with.  Keeps errno. */
static int
injected(const char *call, const char *path)
{
	const char *control_file = getenv("SP_FAULT_FILE");
	int			saved_errno = errno;
	int			result = 0;

	if (control_file == NULL)
		return 0;
	read_faults(control_file);
	for (int i = 0; i < nfaults; i++)
	{
		fault	   *f = &faults[i];
		size_t		length = strlen(f->suffix);

		if (strcmp(f->call, call) != 0 || strlen(path) < length ||
			strcmp(path + strlen(path) - length, f->suffix) != 0)
			continue;
		f->seen++;
		if (f->seen == f->n || (f->and_later && f->seen > f->n))
		{
			result = f->error_number;
			injected_megabytes = f->megabytes;
			log_call(call, path, f->error, " injected");
		}
	}
	errno = saved_errno;
	return result;
}

/* Log how a real call ended, and hand that on. */
static ssize_t
ended(const char *call, const char *path, ssize_t result)
{
	int			saved_errno = errno;

	if (getenv("SP_FAULT_FILE"))
		log_call(call, path, result < 0 ? "failed" : "done", "");
	errno = saved_errno;
	return result;
}

/* ------------------------------------------------------------------- names */

static const char *
last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Not just any "sync_probe": pg_sync_probe.so is a file of the server, too. */
static bool
is_probe_file(const char *path)
{
	const char *name = last_part(path);

	return strncmp(name, "pgsql_tmp_sync_probe.", strlen("pgsql_tmp_sync_probe.")) == 0 ||
		(strncmp(name, "xlogtemp.", strlen("xlogtemp.")) == 0 && strstr(name, ".sync_probe."));
}

/* The last part of the path of a descriptor; empty if it has none. */
static const char *
name_of(int fd)
{
	static char path[PATH_MAX];
	char		link[64];
	int			saved_errno = errno;
	ssize_t		length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, sizeof(path) - 1);
	path[length > 0 ? length : 0] = '\0';
	errno = saved_errno;
	return last_part(path);
}

/* The probe is over when its files are removed, and the number soon another's. */
static bool
is_probe_file_to_remove(const char *path)
{
	if (!is_probe_file(path))
		return false;
	probe_directory = -1;
	return true;
}

/* ------------------------------------------------------------------- calls */

/* Sets call_real. */
#define REAL(result, name, ...) \
	static result (*call_real) (__VA_ARGS__); \
	if (call_real == NULL && (call_real = (result (*) (__VA_ARGS__)) dlsym(RTLD_NEXT, #name)) == NULL) \
		abort()

#define LIST(...) __VA_ARGS__

/* A call that is a probe's if the condition holds; instead: with "short", or a number of MB. */
#define DEFINE(result, name, parameters, arguments, instead, condition, call, file) \
result \
name(LIST parameters) \
{ \
	int			error_number; \
	REAL(result, name, LIST parameters); \
\
	if (!(condition)) \
		return call_real arguments; \
	if ((error_number = injected(call, file)) < 0) \
		return instead; \
	if (error_number != 0) \
	{ \
		errno = error_number; \
		return -1; \
	} \
	return (result) ended(call, file, call_real arguments); \
}

#define DEFINE_PWRITE(name, offset_type) \
	DEFINE(ssize_t, name, (int fd, const void *buffer, size_t size, offset_type offset), \
		   (fd, buffer, size, offset), call_real(fd, buffer, size / 2, offset), \
		   is_probe_file(name_of(fd)), "pwrite", name_of(fd))

DEFINE_PWRITE(pwrite, off_t)
DEFINE_PWRITE(pwrite64, off64_t)

#define DEFINE_PWRITEV(name, offset_type) \
	DEFINE(ssize_t, name, (int fd, const struct iovec *parts, int n, offset_type offset), \
		   (fd, parts, n, offset), call_real(fd, parts, n / 2, offset), \
		   is_probe_file(name_of(fd)), "pwritev", name_of(fd))

DEFINE_PWRITEV(pwritev, off_t)
DEFINE_PWRITEV(pwritev64, off64_t)

DEFINE(int, fsync, (int fd), (fd), -1, fd == probe_directory || is_probe_file(name_of(fd)),
	   fd == probe_directory ? "fsync_directory" : "fsync", name_of(fd))

DEFINE(int, fdatasync, (int fd), (fd), -1, is_probe_file(name_of(fd)), "fdatasync", name_of(fd))

DEFINE(int, unlinkat, (int directory, const char *path, int flags), (directory, path, flags), -1,
	   is_probe_file_to_remove(path), "unlinkat", path)

/* The server itself calls neither of these, and the extension has offsets of 64 bits everywhere. */
static int
report_available(int result, struct statvfs64 *status)
{
	status->f_bavail = (fsblkcnt64_t) injected_megabytes * 1024 * 1024 / status->f_frsize;
	return result;
}

DEFINE(int, fstatvfs64, (int fd, struct statvfs64 *status), (fd, status),
	   report_available(call_real(fd, status), status), true, "fstatvfs", name_of(fd))

int
openat64(int directory, const char *path, int flags,...)
{
	const char *call = flags & O_CREAT ? "create" : "open";
	mode_t		mode = 0;
	va_list		arguments;
	int			error_number;
	REAL(int, openat64, int, const char *, int,...);

	if ((flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE)
	{
		va_start(arguments, flags);
		mode = va_arg(arguments, mode_t);
		va_end(arguments);
	}
	if (!is_probe_file(path))
		return call_real(directory, path, flags, mode);
	if (flags & O_CREAT)
		probe_directory = directory;
	if ((error_number = injected(call, path)) != 0)
	{
		errno = error_number;
		return -1;
	}
	return (int) ended(call, path, call_real(directory, path, flags, mode));
}

/* What openat() without a mode becomes with _FORTIFY_SOURCE. */
extern int	__openat64_2(int directory, const char *path, int flags);

int
__openat64_2(int directory, const char *path, int flags)
{
	return openat64(directory, path, flags);
}
