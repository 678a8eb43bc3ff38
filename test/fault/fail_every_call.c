/*-------------------------------------------------------------------------
 *
 * fail_every_call.c
 *		Let any system call of the extension fail, in a real server.
 *
 * For tests only, and preloaded as fail_calls.c is, which knows calls by the files of a
 * probe.  This one knows them by who makes them: the library of the extension, directly
 * or through a few functions of the server such as OpenTemporaryFile().  The file that
 * SP_FAULT_FILE names has one line:
 *
 *		<serial number> <call> <n> <errno, 0 for a short write, or -1 for a stall of 5 s>
 *
 * The n-th such call of each process does not take place and fails; a negative n: so do all
 * that follow.  Counting starts again whenever the line changes.  Each failure is a line of
 * <SP_FAULT_FILE>.log.
 *
 * It must not touch the server's own calls: those below a statement that the extension
 * executes are deeper in the stack, and those that write WAL are known by their function or file.
 *
 *-------------------------------------------------------------------------
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#undef _FORTIFY_SOURCE
#undef _FILE_OFFSET_BITS

#include <dirent.h>
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
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* The functions of this library, and those of the server between it and the extension. */
#define OWN_FRAMES		3
#define SERVER_FRAMES	5

#define STALL			(-1)

static char line_read[128];
static long seen;
static bool busy;

/* The first backtrace() loads a library, which must not happen in a call. */
__attribute__((constructor)) static void
prepare(void)
{
	void	   *frame;

	(void) backtrace(&frame, 1);
}

/*
 * Writing WAL, which the extension causes by flushing it and by setting wal_sync_method, is the
 * server's: it has to end in a PANIC.  ALTER SYSTEM takes postgresql.auto.conf for an empty file
 * if stat() fails, and so loses all that was in it.
 */
static bool
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
			 (strcmp(info.dli_sname, "AlterSystemSetConfigFile") == 0 && strcmp(call, "stat") == 0)))
			return false;
	}
	return false;
}

/* Not a socket, a message to the log, or a segment of WAL. */
static bool
is_file(int fd)
{
	char		path[PATH_MAX];
	char		link[64];
	const char *name;
	ssize_t		length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, sizeof(path) - 1);
	path[length > 0 ? length : 0] = '\0';
	name = strrchr(path, '/');
	return fd > 2 && path[0] == '/' && strspn(name + 1, "0123456789ABCDEF") != 24;
}

/* Whether this call fails, and with errno set then.  fd: of a file, or -1 */
static __attribute__((noinline)) bool
fails(const char *call, int fd)
{
	const char *control_file = getenv("SP_FAULT_FILE");
	int			saved_errno = errno;
	char		line[sizeof(line_read)] = "";
	char		name[32];
	char		log[PATH_MAX];
	long		n = 0;
	int			error_number = 0;
	int			control;
	bool		result = false;

	if (busy || control_file == NULL)
		return false;
	busy = true;
	if ((control = open(control_file, O_RDONLY | O_CLOEXEC)) >= 0)
	{
		if (read(control, line, sizeof(line) - 1) < 0)
			line[0] = '\0';
		close(control);
	}
	if (strcmp(line, line_read) != 0)
		seen = 0;
	strcpy(line_read, line);
	if (sscanf(line, "%*d %31s %ld %d", name, &n, &error_number) == 3 &&
		strcmp(name, call) == 0 && (fd < 0 || is_file(fd)) && is_of_extension(call))
		result = ++seen == n || (n < 0 && seen >= -n);
	if (result)
	{
		snprintf(log, sizeof(log), "%s.log", control_file);
		if ((control = open(log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600)) >= 0)
		{
			if (write(control, "x\n", 2) != 2)
				abort();
			close(control);
		}
	}
	if (result && error_number == STALL)
	{
		sleep(5);
		result = false;
	}
	busy = false;
	errno = result ? error_number : saved_errno;
	return result;
}

/* ------------------------------------------------------------------- calls */

#define LIST(...) __VA_ARGS__

/* instead: what a call that fails does and returns */
#define DEFINE(type, function, call, fd, parameters, arguments, instead) \
type \
function(LIST parameters) \
{ \
	static type (*real) (LIST parameters); \
\
	if (real == NULL && \
		(real = (type (*) (LIST parameters)) dlsym(RTLD_NEXT, #function)) == NULL) \
		abort(); \
	return fails(call, fd) ? instead : real arguments; \
}

#define DEFINE_BOTH(type, function, ...) \
	DEFINE(type, function, #function, __VA_ARGS__) \
	DEFINE(type, function##64, #function, __VA_ARGS__)

/* Of no bytes at all if that is what fails. */
#define SHORT(real_call) (errno != 0 ? -1 : real_call)

#define DEFINE_OPEN(function, call, parameters, arguments) \
int \
function(LIST parameters,...) \
{ \
	static int	(*real) (LIST parameters,...); \
	mode_t		mode = 0; \
	va_list		more; \
\
	if (real == NULL && \
		(real = (int (*) (LIST parameters,...)) dlsym(RTLD_NEXT, #function)) == NULL) \
		abort(); \
	if (flags & (O_CREAT | (O_TMPFILE & ~O_DIRECTORY))) \
	{ \
		va_start(more, flags); \
		mode = va_arg(more, mode_t); \
		va_end(more); \
	} \
	return fails(call, -1) ? -1 : real(LIST arguments, mode); \
}

DEFINE_OPEN(open, "open", (const char *path, int flags), (path, flags))
DEFINE_OPEN(open64, "open", (const char *path, int flags), (path, flags))
DEFINE_OPEN(openat, "openat", (int at, const char *path, int flags), (at, path, flags))
DEFINE_OPEN(openat64, "openat", (int at, const char *path, int flags), (at, path, flags))
extern int	__openat64_2(int at, const char *path, int flags);
DEFINE(int, __openat64_2, "openat", -1, (int at, const char *path, int flags), (at, path, flags),
	   -1)
extern int	__open64_2(const char *path, int flags);
DEFINE(int, __open64_2, "open", -1, (const char *path, int flags), (path, flags), -1)

DEFINE_BOTH(FILE *, fopen, -1, (const char *path, const char *mode), (path, mode), NULL)
DEFINE(DIR *, opendir, "opendir", -1, (const char *path), (path), NULL)
DEFINE(DIR *, fdopendir, "fdopendir", -1, (int fd), (fd), NULL)
DEFINE(struct dirent *, readdir, "readdir", -1, (DIR *directory), (directory), NULL)
DEFINE(struct dirent64 *, readdir64, "readdir", -1, (DIR *directory), (directory), NULL)
DEFINE(int, fstat, "fstat", fd, (int fd, struct stat *status), (fd, status), -1)
DEFINE(int, fstat64, "fstat", fd, (int fd, struct stat64 *status), (fd, status), -1)
DEFINE(int, stat, "stat", -1, (const char *path, struct stat *status), (path, status), -1)
DEFINE(int, stat64, "stat", -1, (const char *path, struct stat64 *status), (path, status), -1)
DEFINE(int, lstat, "lstat", -1, (const char *path, struct stat *status), (path, status), -1)
DEFINE(int, lstat64, "lstat", -1, (const char *path, struct stat64 *status), (path, status), -1)
DEFINE(int, fstatat64, "fstatat", -1,
	   (int at, const char *path, struct stat64 *status, int flags), (at, path, status, flags), -1)
DEFINE(int, mkdir, "mkdir", -1, (const char *path, mode_t mode), (path, mode), -1)
DEFINE(int, mkfifo, "mkfifo", -1, (const char *path, mode_t mode), (path, mode), -1)
DEFINE(int, unlink, "unlink", -1, (const char *path), (path), -1)
DEFINE(int, unlinkat, "unlinkat", -1, (int at, const char *path, int flags), (at, path, flags), -1)
DEFINE(int, rmdir, "rmdir", -1, (const char *path), (path), -1)
DEFINE(int, rename, "rename", -1, (const char *from, const char *to), (from, to), -1)
DEFINE(int, dup2, "dup2", -1, (int from, int to), (from, to), -1)
DEFINE(pid_t, fork, "fork", -1, (void), (), -1)
DEFINE(int, execve, "execve", -1, (const char *path, char *const argv[], char *const envp[]),
	   (path, argv, envp), -1)
DEFINE(int, shm_open, "shm_open", -1, (const char *name, int flags, mode_t mode),
	   (name, flags, mode), -1)
DEFINE_BOTH(int, posix_fallocate, -1, (int fd, off_t offset, off_t size), (fd, offset, size),
			errno)
DEFINE(ssize_t, readlink, "readlink", -1, (const char *path, char *to, size_t size),
	   (path, to, size), -1)
DEFINE(ssize_t, read, "read", fd, (int fd, void *to, size_t size), (fd, to, size), -1)
DEFINE(ssize_t, write, "write", fd, (int fd, const void *from, size_t size), (fd, from, size),
	   SHORT(real(fd, from, size / 2)))
DEFINE_BOTH(ssize_t, pread, fd, (int fd, void *to, size_t size, off_t offset),
			(fd, to, size, offset), -1)
DEFINE_BOTH(ssize_t, pwrite, fd, (int fd, const void *from, size_t size, off_t offset),
			(fd, from, size, offset), SHORT(real(fd, from, size / 2, offset)))
DEFINE_BOTH(ssize_t, pwritev, fd, (int fd, const struct iovec *parts, int n, off_t offset),
			(fd, parts, n, offset), SHORT(real(fd, parts, n / 2, offset)))
DEFINE(int, fsync, "fsync", fd, (int fd), (fd), -1)
DEFINE(int, fdatasync, "fdatasync", fd, (int fd), (fd), -1)
/* dlsym() may call these */
extern void *__libc_malloc(size_t size);
extern void *__libc_realloc(void *old, size_t size);

void *
malloc(size_t size)
{
	return fails("malloc", -1) ? NULL : __libc_malloc(size);
}

void *
realloc(void *old, size_t size)
{
	return fails("realloc", -1) ? NULL : __libc_realloc(old, size);
}

/* the descriptor is gone all the same, as on Linux */
int
close(int fd)
{
	static int	(*real) (int fd);
	bool		failed;
	int			error_number;

	if (real == NULL && (real = (int (*) (int)) dlsym(RTLD_NEXT, "close")) == NULL)
		abort();
	failed = fails("close", fd);
	error_number = errno;
	if (!failed)
		return real(fd);
	(void) real(fd);
	errno = error_number;
	return -1;
}
