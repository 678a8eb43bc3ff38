/*-------------------------------------------------------------------------
 *
 * volatile_disks.c
 *		nbdkit plugin: disks whose cache is lost when the power fails.
 *
 * Exports "0", "1", ... are the disks.  What is written is in memory until a flush, or a write
 * with FUA, brings it into the disk's file in the folder.  The export "control" takes one command
 * in each write, a line of text padded with zeros:
 *
 *		cut NAME SHARE		what would be left if the power failed now: a copy of all disks,
 *							named NAME, with SHARE % of what was not flushed, at random
 *		load NAME			the disks become that copy, as after a restart, and honest
 *		lie					from now on flushes and FUA are acknowledged, and do nothing
 *
 * All disks are served by one process, one request at a time, so a cut hits all of them at one
 * moment.  Parameters: folder=PATH, disks=NUMBER, size=BYTES of each.
 *
 *-------------------------------------------------------------------------
 */
#define NBDKIT_API_VERSION 2
#include <nbdkit-plugin.h>

#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

#define THREAD_MODEL	NBDKIT_THREAD_MODEL_SERIALIZE_ALL_REQUESTS

#define SECTOR			512

typedef struct disk
{
	int			fd;				/* what is on the medium */
	char	   *contents;		/* a private map of it, in which writes come first */
	bool	   *dirty;			/* was this sector not flushed since? */
	uint32_t   *dirty_sectors;	/* and which these are */
	uint32_t	ndirty;
} disk;

static char *folder;
static int	number_of_disks;
static uint64_t disk_size;
static bool lies;
static disk *disks;				/* the one after the last is "control" */

static int
lab_config(const char *key, const char *value)
{
	if (strcmp(key, "folder") == 0)
		folder = nbdkit_absolute_path(value);
	else if (strcmp(key, "disks") == 0)
		number_of_disks = atoi(value);
	else if (strcmp(key, "size") == 0)
		disk_size = nbdkit_parse_size(value);
	else
	{
		nbdkit_error("unknown parameter \"%s\"", key);
		return -1;
	}
	return 0;
}

/* The file of a disk, or of the copy NAME of it. */
static const char *
path_of(const disk *d, const char *name)
{
	static char path[4096];

	snprintf(path, sizeof(path), "%s/%td%s", folder, d - disks, name);
	return path;
}

static int
use_medium(disk *d, const char *path, int flags)
{
	d->fd = open(path, flags | O_RDWR | O_CLOEXEC, 0600);
	if (d->fd < 0 || ftruncate(d->fd, (off_t) disk_size) != 0 ||
		(d->contents = mmap(NULL, disk_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE,
							d->fd, 0)) == MAP_FAILED)
	{
		nbdkit_error("%s: %m", path);
		return -1;
	}
	while (d->ndirty > 0)
		d->dirty[d->dirty_sectors[--d->ndirty]] = false;
	return 0;
}

static int
lab_get_ready(void)
{
	disks = calloc((size_t) number_of_disks + 1, sizeof(*disks));
	for (disk *d = disks; d <= disks + number_of_disks; d++)
	{
		/* memory that costs nothing until it is used */
		d->dirty = calloc(disk_size / SECTOR, sizeof(*d->dirty));
		d->dirty_sectors = calloc(disk_size / SECTOR, sizeof(*d->dirty_sectors));
		if (d->dirty == NULL || d->dirty_sectors == NULL ||
			use_medium(d, path_of(d, ""), O_CREAT) != 0)
			return -1;
	}
	return 0;
}

static int
write_sector(const disk *d, int fd, uint64_t sector)
{
	uint64_t	begin = sector * SECTOR;

	return pwrite(fd, d->contents + begin, SECTOR, (off_t) begin) == SECTOR ? 0 : -1;
}

static int
flush_disk(disk *d)
{
	for (; d->ndirty > 0; d->ndirty--)
	{
		uint32_t	sector = d->dirty_sectors[d->ndirty - 1];

		if (write_sector(d, d->fd, sector) != 0)
			return -1;
		d->dirty[sector] = false;
	}
	return 0;
}

static int
cut(const disk *d, const char *path, int share)
{
	char		medium[64];
	char	   *const arguments[] = {"cp", medium, (char *) path, NULL};
	int			result = 0;
	int			status;
	int			fd;
	pid_t		pid;

	/* holes stay holes; the disk may still be an earlier copy of this name */
	unlink(path);
	snprintf(medium, sizeof(medium), "/proc/%d/fd/%d", getpid(), d->fd);
	if (posix_spawnp(&pid, "cp", NULL, NULL, arguments, environ) != 0 ||
		waitpid(pid, &status, 0) != pid || status != 0 ||
		(fd = open(path, O_WRONLY | O_CLOEXEC)) < 0)
		return -1;
	for (uint32_t i = 0; i < d->ndirty && result == 0; i++)
		if (rand() % 100 < share)
			result = write_sector(d, fd, d->dirty_sectors[i]);
	close(fd);
	return result;
}

static int
load(disk *d, const char *path)
{
	munmap(d->contents, disk_size);
	close(d->fd);
	return use_medium(d, path, 0);
}

static int
obey(const char *command)
{
	char		name[64] = ".";
	int			share;
	bool		cuts = sscanf(command, "cut %62s %d", name + 1, &share) == 2;
	bool		loads = !cuts && sscanf(command, "load %62s", name + 1) == 1;
	int			result = 0;

	if (!cuts && !loads && strcmp(command, "lie") != 0)
	{
		nbdkit_error("unknown command \"%s\"", command);
		return -1;
	}
	for (disk *d = disks; d < disks + number_of_disks && result == 0; d++)
		result = cuts ? cut(d, path_of(d, name), share) :
			loads ? load(d, path_of(d, name)) : flush_disk(d);
	if (!cuts)
		lies = !loads;
	return result;
}

static void *
lab_open(int readonly)
{
	const char *name = nbdkit_export_name();

	(void) readonly;
	return disks + (strcmp(name, "control") == 0 ? number_of_disks : atoi(name));
}

static int64_t
lab_get_size(void *handle)
{
	(void) handle;
	return (int64_t) disk_size;
}

static int
lab_can_fua(void *handle)
{
	(void) handle;
	return NBDKIT_FUA_NATIVE;
}

static int
lab_pread(void *handle, void *buffer, uint32_t count, uint64_t offset, uint32_t flags)
{
	const disk *d = handle;

	(void) flags;
	memcpy(buffer, d->contents + offset, count);
	return 0;
}

static int
lab_pwrite(void *handle, const void *buffer, uint32_t count, uint64_t offset, uint32_t flags)
{
	disk	   *d = handle;

	if (d == disks + number_of_disks)
		return obey(buffer);
	memcpy(d->contents + offset, buffer, count);
	if ((flags & NBDKIT_FLAG_FUA) && !lies)
		return pwrite(d->fd, buffer, count, (off_t) offset) == (ssize_t) count ? 0 : -1;
	for (uint64_t i = offset / SECTOR; i * SECTOR < offset + count; i++)
	{
		if (!d->dirty[i])
			d->dirty_sectors[d->ndirty++] = (uint32_t) i;
		d->dirty[i] = true;
	}
	return 0;
}

static int
lab_flush(void *handle, uint32_t flags)
{
	(void) flags;
	return lies ? 0 : flush_disk(handle);
}

static struct nbdkit_plugin plugin = {
	.name = "volatile-disks",
	.config = lab_config, .get_ready = lab_get_ready,
	.open = lab_open, .get_size = lab_get_size, .can_fua = lab_can_fua,
	.pread = lab_pread, .pwrite = lab_pwrite, .flush = lab_flush,
};

NBDKIT_REGISTER_PLUGIN(plugin)
