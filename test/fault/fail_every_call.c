/*-------------------------------------------------------------------------
 *
 * fail_every_call.c
 *		Let any system call of the extension fail: fail_calls.c with all other calls.
 *
 *-------------------------------------------------------------------------
 */
#include "fail_calls.c"

/* Without the headers that declare them: pointers that are only handed on can be any. */

DEFINE_OPEN(open, "open_path", (const char *path, int flags), (path, flags))
DEFINE_OPEN(open64, "open_path", (const char *path, int flags), (path, flags))
extern int	__open64_2(const char *path, int flags);
DEFINE(int, __open64_2, "open_path", -1, path, (const char *path, int flags), (path, flags), -1)

DEFINE_BOTH(FILE *, fopen, -1, path, (const char *path, const char *mode), (path, mode), NULL)
DEFINE(void *, opendir, "opendir", -1, path, (const char *path), (path), NULL)
DEFINE(void *, fdopendir, "fdopendir", -1, "", (int fd), (fd), NULL)
DEFINE_BOTH(void *, readdir, -1, "", (void *directory), (directory), NULL)
DEFINE_BOTH(int, fstat, fd, "", (int fd, void *status), (fd, status), -1)
DEFINE_BOTH(int, stat, -1, path, (const char *path, void *status), (path, status), -1)
DEFINE_BOTH(int, lstat, -1, path, (const char *path, void *status), (path, status), -1)
DEFINE(int, fstatat64, "fstatat", -1, path, (int at, const char *path, void *status, int flags),
	   (at, path, status, flags), -1)
DEFINE(int, mkdir, "mkdir", -1, path, (const char *path, mode_t mode), (path, mode), -1)
DEFINE(int, mkfifo, "mkfifo", -1, path, (const char *path, mode_t mode), (path, mode), -1)
DEFINE(int, unlink, "unlink", -1, path, (const char *path), (path), -1)
DEFINE(int, rmdir, "rmdir", -1, path, (const char *path), (path), -1)
DEFINE(int, rename, "rename", -1, from, (const char *from, const char *to), (from, to), -1)
DEFINE(int, dup2, "dup2", -1, "", (int from, int to), (from, to), -1)
DEFINE(pid_t, fork, "fork", -1, "", (void), (), -1)
DEFINE(int, execve, "execve", -1, path,
	   (const char *path, char *const argv[], char *const envp[]), (path, argv, envp), -1)
DEFINE(int, shm_open, "shm_open", -1, name, (const char *name, int flags, mode_t mode),
	   (name, flags, mode), -1)
DEFINE_BOTH(int, posix_fallocate, -1, "", (int fd, off_t offset, off_t size),
			(fd, offset, size), errno)
DEFINE(ssize_t, readlink, "readlink", -1, path, (const char *path, char *to, size_t size),
	   (path, to, size), -1)
DEFINE(ssize_t, read, "read", fd, "", (int fd, void *to, size_t size), (fd, to, size), -1)
DEFINE(ssize_t, write, "write", fd, "", (int fd, const void *from, size_t size),
	   (fd, from, size), SHORT(real(fd, from, size / 2)))
DEFINE_BOTH(ssize_t, pread, fd, "", (int fd, void *to, size_t size, off_t offset),
			(fd, to, size, offset), -1)

/* The descriptor is gone all the same, as on Linux. */
DEFINE(int, close, "close", fd, "", (int fd), (fd), (real(fd), -1))

/* dlsym() may call these. */
extern void *__libc_malloc(size_t size);
extern void *__libc_realloc(void *old, size_t size);

void *
malloc(size_t size)
{
	return fails("malloc", -1, "") ? NULL : __libc_malloc(size);
}

void *
realloc(void *old, size_t size)
{
	return fails("realloc", -1, "") ? NULL : __libc_realloc(old, size);
}
