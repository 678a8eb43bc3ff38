/*-------------------------------------------------------------------------
 *
 * fail_calls.c
 *		Let system calls of the extension fail, in a real server.
 *
 * For tests only: a library that test/t/SyncProbeTest.pm preloads into a server.  These are the
 * calls on the files of a probe; fail_every_call.c has the others, too.  The file that
 * SP_FAULT_FILE names says what is to fail; it is read again at every call:
 *
 *		# a comment
 *		<call> <n>[+] <errno, "short", "stall", or a number of MB> [<end of the file's name>]
 *
 * The n-th matching call of a process (with "+" each one from there) does not take place and
 * fails; "short" writes half, "stall" only comes 5 s later, and "60MB" is what fstatvfs() reports
 * as available.  Counting starts again whenever the text changes, comments included.  A missing
 * or empty file is no fault.
 *
 * <SP_FAULT_FILE>.log gets a line for each call that fails so: "<call> <file> <errno> injected".
 * Where it exists when the text changes, each other call is a line, too: "<call> <file> done", or
 * "... failed".
 *
 * A call is the extension's if its library makes it, directly or through a few functions of the
 * server such as OpenTemporaryFile().  The server's own must not be touched, also in a directory
 * that is probed: those below a statement that the extension executes are deeper in the stack,
 * and those that write WAL are known by their function or file.
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
#include <execinfo.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>

#define MAX_FAULTS		4
#define LAST_ERRNO		133

/* The functions of this library, and those of the server between it and the extension. */
#define OWN_FRAMES		3
#define SERVER_FRAMES	5

typedef struct fault
{
	char		call[32];
	long		n;
	char		and_later;		/* '+', or a blank */
	char		error[16];		/* as in the file */
	int			error_number;	/* or 0 */
	char		suffix[32];
	long		seen;
} fault;

static fault faults[MAX_FAULTS];
static int	nfaults;
static long available_megabytes;	/* of the last fault */
static char text_read[512];
static bool logs_all;
static bool busy;				/* this library itself makes calls */

/* The first backtrace() loads a library, which must not happen in a call. */
__attribute__((constructor)) static void
prepare(void)
{
	void	   *frame;

	(void) backtrace(&frame, 1);
}

static bool
parse_line(const char *line, fault *f)
{
	memset(f, 0, sizeof(*f));
	if (line[0] == '#' || sscanf(line, "%31s %ld%c %15s %31s", f->call, &f->n, &f->and_later,
								 f->error, f->suffix) < 4)
		return false;
	for (int i = 1; i <= LAST_ERRNO; i++)
	{
		const char *name = strerrorname_np(i);

		if (name != NULL && strcmp(name, f->error) == 0)
			f->error_number = i;
	}
	return true;
}

static const char *
log_file(void)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s.log", getenv("SP_FAULT_FILE"));
	return path;
}

static void
read_faults(const char *control_file)
{
	char		text[sizeof(text_read)] = "";
	char	   *rest = text;
	char	   *line;
	int			fd = open(control_file, O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
	{
		if (read(fd, text, sizeof(text) - 1) < 0)
			text[0] = '\0';
		close(fd);
	}
	if (strcmp(text, text_read) == 0)
		return;
	strcpy(text_read, text);
	logs_all = access(log_file(), F_OK) == 0;
	nfaults = 0;
	while (nfaults < MAX_FAULTS && (line = strsep(&rest, "\n")) != NULL)
		nfaults += parse_line(line, &faults[nfaults]);
}

/*
 * Writing WAL, which the extension causes by flushing it and by setting wal_sync_method, is the
 * server's: it has to end in a PANIC.  ALTER SYSTEM takes postgresql.auto.conf for an empty file
 * if stat() fails, and so loses all that was in it.
 */
static __attribute__((noinline)) bool
is_of_extension(const char *call)
{
	void	   *frames[OWN_FRAMES + SERVER_FRAMES];
	int			n = backtrace(frames, OWN_FRAMES + SERVER_FRAMES);
	Dl_info		info;

	for (int i = 0; i < n; i++)
	{
		if (!dladdr(frames[i], &info))
			continue;
		if (strstr(info.dli_fname, "/pg_sync_probe.so"))
			return true;
		if (info.dli_sname != NULL &&
			(strcasestr(info.dli_sname, "xlog") ||
			 (strcmp(info.dli_sname, "AlterSystemSetConfigFile") == 0 &&
			  strcmp(call, "stat") == 0)))
			return false;
	}
	return false;
}

/* The last part of a path, or of the path of a descriptor. */
static const char *
name_of(int fd, const char *path)
{
	static char target[PATH_MAX];
	char		link[64];
	ssize_t		length;

	if (fd >= 0)
	{
		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		length = readlink(link, target, sizeof(target) - 1);
		target[length > 0 ? length : 0] = '\0';
		path = target;
	}
	return strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
}

static inline bool
matches(const fault *f, const char *call, int fd, const char *path)
{
	const char *name;
	const char *end;

	if (strcmp(f->call, call) != 0)
		return false;
	name = name_of(fd, path);
	end = name + strlen(name) - strlen(f->suffix);
	/* not a socket, a message to the log, or a segment of WAL */
	if (fd >= 0 && (fd <= 2 || strchr(name, ':') || strspn(name, "0123456789ABCDEF") == 24))
		return false;
	return end >= name && strcmp(end, f->suffix) == 0 && is_of_extension(call);
}

static void
log_call(const char *call, const char *name, const char *outcome)
{
	int			fd = open(log_file(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0 || dprintf(fd, "%s %s %s\n", call, name, outcome) < 0)
		abort();
	close(fd);
}

/* Whether this call fails, and with errno set then: 0 for what is no error.  fd: or -1 */
static __attribute__((noinline)) bool
fails(const char *call, int fd, const char *path)
{
	const char *control_file = getenv("SP_FAULT_FILE");
	int			saved_errno = errno;
	const fault *found = NULL;
	char		outcome[32];

	if (busy || control_file == NULL)
		return false;
	busy = true;
	read_faults(control_file);
	for (fault *f = faults; f < faults + nfaults; f++)
	{
		if (matches(f, call, fd, path) &&
			(++f->seen == f->n || (f->and_later == '+' && f->seen > f->n)))
			found = f;
	}
	if (found != NULL)
	{
		snprintf(outcome, sizeof(outcome), "%s injected", found->error);
		log_call(call, name_of(fd, path), outcome);
		available_megabytes = atol(found->error);
		if (strcmp(found->error, "stall") == 0)
		{
			for (unsigned left = 5; left > 0; left = sleep(left))
				;
			found = NULL;
		}
	}
	busy = false;
	errno = found != NULL ? found->error_number : saved_errno;
	return found != NULL;
}

static __attribute__((noinline)) void
ended(const char *call, int fd, const char *path, bool failed)
{
	int			saved_errno = errno;

	if (busy || !logs_all || !is_of_extension(call))
		return;
	busy = true;
	log_call(call, name_of(fd, path), failed ? "failed" : "done");
	busy = false;
	errno = saved_errno;
}

/* ------------------------------------------------------------------- calls */

#define LIST(...) __VA_ARGS__

/* instead: what a call that fails does and returns */
#define CALL_REAL(type, name, call, fd, path, arguments, instead) \
	type		result; \
\
	if (real == NULL && (real = (__typeof__(real)) dlsym(RTLD_NEXT, #name)) == NULL) \
		abort(); \
	if (fails(call, fd, path)) \
		return instead; \
	result = real arguments; \
	ended(call, fd, path, result == (type) -1); \
	return result;

#define DEFINE(type, name, call, fd, path, parameters, arguments, instead) \
type \
name(LIST parameters) \
{ \
	static type (*real) (LIST parameters); \
	CALL_REAL(type, name, call, fd, path, arguments, instead) \
}

#define DEFINE_BOTH(type, name, ...) \
	DEFINE(type, name, #name, __VA_ARGS__) \
	DEFINE(type, name##64, #name, __VA_ARGS__)

#define DEFINE_OPEN(name, call, parameters, arguments) \
int \
name(LIST parameters,...) \
{ \
	static int	(*real) (LIST parameters,...); \
	mode_t		mode = 0; \
	va_list		more; \
\
	va_start(more, flags); \
	if (flags & O_CREAT) \
		mode = va_arg(more, mode_t); \
	va_end(more); \
	CALL_REAL(int, name, call, -1, path, (LIST arguments, mode), -1) \
}

/* Of no bytes at all if that is what fails. */
#define SHORT(real_call) (errno != 0 ? -1 : real_call)

DEFINE_BOTH(ssize_t, pwrite, fd, "", (int fd, const void *from, size_t size, off_t offset),
			(fd, from, size, offset), SHORT(real(fd, from, size / 2, offset)))
DEFINE_BOTH(ssize_t, pwritev, fd, "", (int fd, const struct iovec *parts, int n, off_t offset),
			(fd, parts, n, offset), SHORT(real(fd, parts, n / 2, offset)))
DEFINE(int, fsync, fcntl(fd, F_GETFL) & O_DIRECTORY ? "fsync_directory" : "fsync", fd, "",
	   (int fd), (fd), -1)
DEFINE(int, fdatasync, "fdatasync", fd, "", (int fd), (fd), -1)
DEFINE(int, unlinkat, "unlinkat", -1, path, (int at, const char *path, int flags),
	   (at, path, flags), -1)

static int
report_available(int result, struct statvfs64 *status)
{
	status->f_bavail = (fsblkcnt64_t) available_megabytes * 1024 * 1024 / status->f_frsize;
	return result;
}

DEFINE(int, fstatvfs64, "fstatvfs", fd, "", (int fd, struct statvfs64 *status), (fd, status),
	   SHORT(report_available(real(fd, status), status)))

DEFINE_OPEN(openat64, flags & O_CREAT ? "create" : "open", (int at, const char *path, int flags),
			(at, path, flags))

/* What openat() without a mode becomes with _FORTIFY_SOURCE. */
extern int	__openat64_2(int at, const char *path, int flags);
DEFINE(int, __openat64_2, "open", -1, path, (int at, const char *path, int flags),
	   (at, path, flags), -1)
