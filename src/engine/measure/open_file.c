/*-------------------------------------------------------------------------
 *
 * open_file.c
 *		Create and open files, and keep them out of the page cache.  All #ifdefs about that are
 *		here.
 *
 * macOS has no O_DIRECT: F_NOCACHE is set after the file is opened, as the server does in
 * BasicOpenFilePerm() for its PG_O_DIRECT.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/measure/probe_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#ifdef STATX_INO
#include <sys/sysmacros.h>
#endif
#include <unistd.h>

#if defined(O_DIRECT)
const int	sp_direct_io_flag = O_DIRECT;
#elif defined(F_NOCACHE)
#define NO_CACHE	INT_MIN		/* the bit that no flag of open() has */
_Static_assert((NO_CACHE & (O_RDWR | O_CREAT | O_EXCL | O_SYNC | O_DSYNC | O_NOFOLLOW |
							O_CLOEXEC | O_DIRECTORY)) == 0, "NO_CACHE must be a bit of its own");
const int	sp_direct_io_flag = NO_CACHE;
#else
const int	sp_direct_io_flag = 0;
#endif

int
sp_openat(int directory_fd, const char *name, int flags)
{
#ifdef NO_CACHE
	int			fd = openat(directory_fd, name, flags & ~NO_CACHE);

	if (fd >= 0 && (flags & NO_CACHE) != 0 && fcntl(fd, F_NOCACHE, 1) < 0)
	{
		int			saved_errno = errno;

		(void) close(fd);
		errno = saved_errno;
		return -1;
	}
	return fd;
#else
	return openat(directory_fd, name, flags);
#endif
}

int
sp_open_flags(const sp_file *file)
{
	return O_RDWR | O_NOFOLLOW | O_CLOEXEC |
		(file->method ? file->method->open_flags : 0) |
		(file->direct_io ? sp_direct_io_flag : 0);
}

const char *
sp_create_file(sp_file *file)
{
	struct stat status;
	int			saved_errno;

	file->fd = openat(file->directory_fd, file->name,
					  O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, file->create_mode);
	if (file->fd < 0)
		return "open";
	if (fstat(file->fd, &status) == 0)
	{
		file->exists = true;
		file->device = status.st_dev;
		file->inode = status.st_ino;
		return NULL;
	}
	/* without device and inode it could not be removed later */
	saved_errno = errno;
	(void) unlinkat(file->directory_fd, file->name, 0);
	(void) close(file->fd);
	file->fd = -1;
	errno = saved_errno;
	return "fstat";
}

bool
sp_is_in_place(const sp_file *file)
{
	struct stat status;

	if (fstatat(file->directory_fd, file->name, &status, AT_SYMLINK_NOFOLLOW) != 0)
		return false;
	errno = ESTALE;
	return status.st_dev == file->device && status.st_ino == file->inode;
}

/*
 * This is called while operations are timed.  Since Linux 6.13, the first write after somebody
 * read a file's times gives it new ones, which the next fsync() writes to the journal: with
 * fstat() here, ext4 in memory did 11,000 operations a second instead of 18,000.  So the times
 * are not asked for.
 */
static bool
is_same_file(int fd, const sp_file *file)
{
#ifdef STATX_INO
	struct statx status;

	return statx(fd, "", AT_EMPTY_PATH, STATX_INO, &status) == 0 &&
		makedev(status.stx_dev_major, status.stx_dev_minor) == file->device &&
		status.stx_ino == file->inode;
#else
	struct stat status;

	return fstat(fd, &status) == 0 &&
		status.st_dev == file->device && status.st_ino == file->inode;
#endif
}

int
sp_open_same_file(const sp_file *file, int flags)
{
	int			fd = sp_openat(file->directory_fd, file->name, flags);

	if (fd >= 0 && !is_same_file(fd, file))
	{
		close(fd);
		errno = ESTALE;
		return -1;
	}
	return fd;
}

void
sp_drop_cached_pages(int fd)
{
#ifdef POSIX_FADV_DONTNEED
	(void) posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
#else
	(void) fd;
#endif
}
