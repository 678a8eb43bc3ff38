/*-------------------------------------------------------------------------
 *
 * slow_disk.c
 *		A disk in memory whose flushes take as long as one says.
 *
 *	slow_disk DIRECTORY MEGABYTES FLUSH_US TAIL_PERCENT TAIL_US
 *
 * Mounts a file system on DIRECTORY (by FUSE, as root) with one file, "disk".  A loop
 * device on it is a disk: the kernel hands on each of its flushes as an fsync of the
 * file.  Each takes FLUSH_US microseconds, and TAIL_PERCENT of 100 take TAIL_US more.
 * Writes and reads only copy memory.
 *
 * Runs in the foreground until DIRECTORY is unmounted or its parent process ends.
 *
 *-------------------------------------------------------------------------
 */
#define FUSE_USE_VERSION 31

#include <errno.h>
#include <fuse.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

#define DISK_PATH	"/disk"

static char *disk;
static off_t disk_size;
static double flush_us;
static double tail_share;
static double tail_us;

/* Flush n is long or not, whatever thread serves it: a hash of its number says so. */
static double
random_of(uint64_t n)
{
	n += UINT64_C(0x9e3779b97f4a7c15);
	n = (n ^ (n >> 33)) * UINT64_C(0xff51afd7ed558ccd);
	n = (n ^ (n >> 33)) * UINT64_C(0xc4ceb9fe1a85ec53);
	return (double) ((n ^ (n >> 33)) >> 11) / (double) (UINT64_C(1) << 53);
}

static int
disk_fsync(const char *path, int data_only, struct fuse_file_info *file)
{
	static atomic_uint_fast64_t flushes;
	bool		is_long = random_of(atomic_fetch_add(&flushes, 1)) < tail_share;
	double		us = flush_us + (is_long ? tail_us : 0);
	struct timespec left = {(time_t) (us / 1e6), (long) (us * 1e3) % 1000000000};

	(void) path;
	(void) data_only;
	(void) file;
	/* the kernel may end a sleep later than asked for, by 50 us unless told otherwise */
	prctl(PR_SET_TIMERSLACK, 1000);
	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR)
		;
	return 0;
}

static int
disk_getattr(const char *path, struct stat *status, struct fuse_file_info *file)
{
	(void) file;
	memset(status, 0, sizeof(*status));
	if (strcmp(path, "/") == 0)
	{
		status->st_mode = S_IFDIR | 0700;
		status->st_nlink = 2;
		return 0;
	}
	if (strcmp(path, DISK_PATH) != 0)
		return -ENOENT;
	status->st_mode = S_IFREG | 0600;
	status->st_nlink = 1;
	status->st_size = disk_size;
	return 0;
}

static int
disk_open(const char *path, struct fuse_file_info *file)
{
	(void) file;
	return strcmp(path, DISK_PATH) == 0 ? 0 : -ENOENT;
}

/* The part of a request that lies within the disk. */
static size_t
within(size_t size, off_t offset)
{
	if (offset >= disk_size)
		return 0;
	return (off_t) size > disk_size - offset ? (size_t) (disk_size - offset) : size;
}

static int
disk_read(const char *path, char *buffer, size_t size, off_t offset, struct fuse_file_info *file)
{
	(void) path;
	(void) file;
	size = within(size, offset);
	memcpy(buffer, disk + offset, size);
	return (int) size;
}

static int
disk_write(const char *path, const char *buffer, size_t size, off_t offset,
		   struct fuse_file_info *file)
{
	(void) path;
	(void) file;
	size = within(size, offset);
	if (size == 0)
		return -ENOSPC;
	memcpy(disk + offset, buffer, size);
	return (int) size;
}

static const struct fuse_operations operations = {
	.getattr = disk_getattr,
	.open = disk_open,
	.read = disk_read,
	.write = disk_write,
	.fsync = disk_fsync,
};

int
main(int argc, char **argv)
{
	char	   *fuse_arguments[] = {argv[0], argv[1], "-f", NULL};

	if (argc != 6)
	{
		fputs("usage: slow_disk DIRECTORY MEGABYTES FLUSH_US TAIL_PERCENT TAIL_US\n", stderr);
		return 2;
	}
	disk_size = (off_t) atoi(argv[2]) << 20;
	flush_us = atof(argv[3]);
	tail_share = atof(argv[4]) / 100;
	tail_us = atof(argv[5]);

	/* without its parent nobody would unmount, and it would keep the namespace alive */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	disk = mmap(NULL, (size_t) disk_size, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (disk == MAP_FAILED)
	{
		perror("slow_disk: mmap");
		return 1;
	}
	return fuse_main(3, fuse_arguments, &operations, NULL);
}
