/*-------------------------------------------------------------------------
 *
 * volatile_disks.c
 *		nbdkit plugin: disks whose cache is lost when the power fails.
 *
 * Exports "0", "1", ... are the disks, files of these names in the folder.  What is written is
 * in memory until a flush, or a write with FUA, brings it into the file.  The export "control"
 * takes one command in each write, a line of text padded with zeros:
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
#define _GNU_SOURCE
#define NBDKIT_API_VERSION 2
#include <nbdkit-plugin.h>

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define THREAD_MODEL	NBDKIT_THREAD_MODEL_SERIALIZE_ALL_REQUESTS

#define SECTOR			512
#define MAX_DISKS		8

typedef struct disk
{
	int			number;
	int			fd;				/* what is on the medium */
	char	   *cache;			/* and what is newer */
	bool	   *dirty;			/* is this sector of the cache? */
	uint64_t	first_dirty;	/* sectors outside of these are not */
	uint64_t	end_dirty;
} disk;

static char *folder;
static int	number_of_disks = 1;
static uint64_t disk_size = 1024 * 1024 * 1024;
static bool lies;
static disk disks[MAX_DISKS];

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

/* The file of a disk, or of the copy NAME of it; a new one if it is to be created. */
static int
open_medium(int number, const char *name, int flags)
{
	char		path[4096];
	int			fd;

	snprintf(path, sizeof(path), "%s/%d%s%s", folder, number, *name ? "." : "", name);
	if (flags & O_CREAT)
		unlink(path);			/* the disk may still be an earlier copy of this name */
	fd = open(path, flags | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, (off_t) disk_size) != 0)
	{
		nbdkit_error("%s: %m", path);
		return -1;
	}
	return fd;
}

/* Memory that costs nothing until it is used. */
static void *
lazy_memory(size_t size)
{
	void	   *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
							  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static void
forget_cache(disk *d)
{
	if (d->first_dirty < d->end_dirty)
		memset(d->dirty + d->first_dirty, 0, d->end_dirty - d->first_dirty);
	d->first_dirty = disk_size / SECTOR;
	d->end_dirty = 0;
}

static int
lab_get_ready(void)
{
	if (folder == NULL || number_of_disks < 1 || number_of_disks > MAX_DISKS)
	{
		nbdkit_error("folder=PATH is needed, and 1 to %d disks", MAX_DISKS);
		return -1;
	}
	for (int i = 0; i < number_of_disks; i++)
	{
		disk	   *d = &disks[i];

		d->number = i;
		d->fd = open_medium(i, "", O_CREAT);
		d->cache = lazy_memory(disk_size);
		d->dirty = lazy_memory(disk_size / SECTOR);
		if (d->fd < 0 || d->cache == NULL || d->dirty == NULL)
			return -1;
		forget_cache(d);
	}
	return 0;
}

/* Bring some of the cache into a file. */
static int
write_dirty(const disk *d, int fd, int share)
{
	for (uint64_t i = d->first_dirty; i < d->end_dirty; i++)
	{
		uint64_t	begin = i * SECTOR;
		size_t		size;

		while (i < d->end_dirty && d->dirty[i] && rand() % 100 < share)
			i++;
		size = i * SECTOR - begin;
		if (size > 0 && pwrite(fd, d->cache + begin, size, (off_t) begin) != (ssize_t) size)
			return -1;
	}
	return 0;
}

static int
flush_disk(disk *d)
{
	if (write_dirty(d, d->fd, 100) != 0)
		return -1;
	forget_cache(d);
	return 0;
}

/* Holes stay holes. */
static int
copy_file(int from, int to)
{
	off_t		begin = 0;

	while ((begin = lseek(from, begin, SEEK_DATA)) >= 0)
	{
		off_t		end = lseek(from, begin, SEEK_HOLE);
		off_t		out = begin;

		while (begin < end)
			if (copy_file_range(from, &begin, to, &out, (size_t) (end - begin), 0) <= 0)
				return -1;
	}
	return errno == ENXIO ? 0 : -1;
}

static int
cut(const disk *d, const char *name, int share)
{
	int			fd = open_medium(d->number, name, O_CREAT);
	int			result;

	if (fd < 0)
		return -1;
	result = copy_file(d->fd, fd) == 0 && write_dirty(d, fd, share) == 0 ? 0 : -1;
	close(fd);
	return result;
}

static int
load(disk *d, const char *name)
{
	int			fd = open_medium(d->number, name, 0);

	if (fd < 0)
		return -1;
	close(d->fd);
	d->fd = fd;
	forget_cache(d);
	return 0;
}

static int
obey(const char *command)
{
	char		name[64];
	int			share;
	bool		cuts = sscanf(command, "cut %63s %d", name, &share) == 2;
	bool		loads = !cuts && sscanf(command, "load %63s", name) == 1;
	int			result = 0;

	if (!cuts && !loads && strcmp(command, "lie") != 0)
	{
		nbdkit_error("unknown command \"%s\"", command);
		return -1;
	}
	for (int i = 0; i < number_of_disks && result == 0; i++)
		result = cuts ? cut(&disks[i], name, share) :
			loads ? load(&disks[i], name) : flush_disk(&disks[i]);
	if (!cuts)
		lies = !loads;
	return result;
}

/* The handle of a connection: its disk, or disks + MAX_DISKS for "control". */
static void *
lab_open(int readonly)
{
	const char *name = nbdkit_export_name();

	(void) readonly;
	if (name != NULL && strcmp(name, "control") == 0)
		return disks + MAX_DISKS;
	if (name != NULL && name[0] >= '0' && name[0] < '0' + number_of_disks && name[1] == '\0')
		return &disks[name[0] - '0'];
	nbdkit_error("there is no disk \"%s\"", name != NULL ? name : "");
	return NULL;
}

static bool
is_control(const void *handle)
{
	return handle == disks + MAX_DISKS;
}

static int64_t
lab_get_size(void *handle)
{
	return is_control(handle) ? 4096 : (int64_t) disk_size;
}

static int
lab_can(void *handle)
{
	(void) handle;
	return 1;
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
	if (is_control(handle))
	{
		memset(buffer, 0, count);
		return 0;
	}
	if (pread(d->fd, buffer, count, (off_t) offset) != (ssize_t) count)
		return -1;
	for (uint64_t at = 0; at < count; at += SECTOR)
		if (d->dirty[(offset + at) / SECTOR])
			memcpy((char *) buffer + at, d->cache + offset + at, SECTOR);
	return 0;
}

static int
lab_pwrite(void *handle, const void *buffer, uint32_t count, uint64_t offset, uint32_t flags)
{
	disk	   *d = handle;
	uint64_t	first = offset / SECTOR;
	uint64_t	end = (offset + count) / SECTOR;

	if (is_control(handle))
	{
		char		command[SECTOR + 1] = "";

		memcpy(command, buffer, count < SECTOR ? count : SECTOR);
		return obey(command);
	}
	if ((flags & NBDKIT_FLAG_FUA) && !lies)
	{
		if (pwrite(d->fd, buffer, count, (off_t) offset) != (ssize_t) count)
			return -1;
		memset(d->dirty + first, 0, end - first);
		return 0;
	}
	memcpy(d->cache + offset, buffer, count);
	memset(d->dirty + first, 1, end - first);
	if (first < d->first_dirty)
		d->first_dirty = first;
	if (end > d->end_dirty)
		d->end_dirty = end;
	return 0;
}

static int
lab_flush(void *handle, uint32_t flags)
{
	(void) flags;
	return is_control(handle) || lies ? 0 : flush_disk(handle);
}

/* Requests of whole sectors only. */
static int
lab_block_size(void *handle, uint32_t *minimum, uint32_t *preferred, uint32_t *maximum)
{
	(void) handle;
	*minimum = SECTOR;
	*preferred = 4096;
	*maximum = 0xffffffff;
	return 0;
}

static struct nbdkit_plugin plugin = {
	.name = "volatile-disks",
	.config = lab_config,
	.get_ready = lab_get_ready,
	.open = lab_open,
	.get_size = lab_get_size,
	.block_size = lab_block_size,
	.can_flush = lab_can,
	.can_multi_conn = lab_can,
	.can_fua = lab_can_fua,
	.pread = lab_pread,
	.pwrite = lab_pwrite,
	.flush = lab_flush,
};

NBDKIT_REGISTER_PLUGIN(plugin)
