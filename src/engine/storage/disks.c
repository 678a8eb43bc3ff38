/*-------------------------------------------------------------------------
 *
 * disks.c
 *	  A list of disks, their attributes, and their counters.
 *
 * It must not: include a server header, keep state between calls, print,
 * exit, write, or open anything outside <sysroot>/sys.
 *
 * disk_stack.c finds the disks of the list.
 *
 *-------------------------------------------------------------------------
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "engine/storage/disks_internal.h"

/* 17 numbers of 20 digits are 357 bytes; further numbers are not read. */
#define STAT_SIZE 512

void
sp_disks_init(sp_disks *disks)
{
	memset(disks, 0, sizeof(*disks));
}

void
sp_disks_expect(sp_disks *disks, sp_flush_duty duty, bool form_group)
{
	disks->next_duty = duty;
	disks->next_group = form_group ? ++disks->groups : 0;
}

static sp_disk *
find_disk(sp_disks *disks, sp_level level, const char *name)
{
	for (int i = 0; i < disks->count; i++)
	{
		if (disks->disks[i].level == level &&
			strcmp(disks->disks[i].name, name) == 0)
			return &disks->disks[i];
	}
	return NULL;
}

/*
 * The kernel counts flushes in the queues of its block layer (blk-mq).  A
 * driver that takes each bio itself counts reads and writes at most.
 */
static bool
has_queues(const char *directory)
{
	char		path[PATH_MAX];

	return sp_build_path(path, "%s/mq", directory) == 0 && access(path, F_OK) == 0;
}

int
sp_disks_append(sp_disks *disks, sp_level level, const char *directory, sp_flush_duty duty,
				int group)
{
	sp_block_device device;
	sp_disk    *disk;
	int			fua;
	int			iostats = -1;
	int			status = sp_read_block_device(directory, &device);

	/* kernels before 4.10 do not have this attribute */
	if (status == 0)
		status = sp_read_flag(directory, "queue/fua", &fua);
	if (status == 0)
		status = sp_read_flag(directory, "queue/iostats", &iostats);
	if (status != 0)
		return status;
	disk = find_disk(disks, level, device.name);
	if (disk != NULL)
	{
		if (duty < disk->duty)
			disk->duty = duty;
		return 0;
	}
	if (disks->count >= SP_MAX_DISKS)
	{
		disks->incomplete[level] = true;
		return 0;
	}
	disk = &disks->disks[disks->count++];
	memset(disk, 0, sizeof(*disk));
	strcpy(disk->name, device.name);
	disk->level = level;
	disk->rotational = device.rotational;
	strcpy(disk->write_cache, device.write_cache);
	disk->fua = fua;
	disk->is_physical = sp_is_physical(directory, device.name);
	disk->is_virtual = sp_is_virtual(directory, device.name);
	disk->counts_flushes_only = iostats == 0;
	disk->counts_flushes = has_queues(directory);
	disk->duty = duty;
	disk->group = group;
	disk->member = -1;
	disk->stat_fd = -1;
	return 0;
}

/* Can its cache keep a sync from being durable? */
static bool
cache_matters(const sp_disk *disk, sp_level level)
{
	return disk->level == level && disk->duty != SP_FLUSHED_NEVER;
}

const char *
sp_disks_write_cache(const sp_disks *disks, sp_level level)
{
	const char *weakest = NULL;

	for (int i = 0; i < disks->count; i++)
	{
		const sp_disk *disk = &disks->disks[i];

		if (!cache_matters(disk, level))
			continue;
		if (strcmp(disk->write_cache, "write back") == 0)
			return "write back";
		if (strcmp(disk->write_cache, "write through") != 0)
			weakest = "";
		else if (weakest == NULL)
			weakest = "write through";
	}
	return weakest != NULL ? weakest : "";
}

bool
sp_disks_caches_differ(const sp_disks *disks, sp_level level)
{
	const char *first = NULL;

	for (int i = 0; i < disks->count; i++)
	{
		const sp_disk *disk = &disks->disks[i];

		if (!cache_matters(disk, level))
			continue;
		if (first != NULL && strcmp(first, disk->write_cache) != 0)
			return true;
		first = disk->write_cache;
	}
	return false;
}

int
sp_disks_fua(const sp_disks *disks, sp_level level)
{
	if (disks->incomplete[level])
		return 1;
	for (int i = 0; i < disks->count; i++)
	{
		if (cache_matters(&disks->disks[i], level) && disks->disks[i].fua != 0)
			return 1;
	}
	return 0;
}

bool
sp_disks_count_flushes(const sp_disks *disks, sp_level level)
{
	for (int i = 0; i < disks->count; i++)
	{
		if (disks->disks[i].level == level && !disks->disks[i].counts_flushes)
			return false;
	}
	return !disks->incomplete[level];
}

int
sp_disks_count(const sp_disks *disks, sp_level level)
{
	int			count = 0;

	for (int i = 0; i < disks->count; i++)
		count += disks->disks[i].level == level;
	return count;
}

/* The member that an earlier disk of the same group has; -1 if there is none. */
static int
member_of_group(const sp_disks *disks, int last)
{
	const sp_disk *disk = &disks->disks[last];

	for (int i = 0; i < last && disk->group != 0; i++)
	{
		if (disks->disks[i].level == disk->level && disks->disks[i].group == disk->group &&
			disks->disks[i].member >= 0)
			return disks->disks[i].member;
	}
	return -1;
}

/* Number the members of each level: disks that may need a flush. */
static void
number_members(sp_disks *disks)
{
	int			count[SP_LEVELS] = {0};

	for (int i = 0; i < disks->count; i++)
	{
		sp_disk    *disk = &disks->disks[i];

		disk->member = -1;
		if (!cache_matters(disk, disk->level) || strcmp(disk->write_cache, "write through") == 0)
			continue;
		disk->member = member_of_group(disks, i);
		if (disk->member < 0)
			disk->member = count[disk->level]++;
	}
}

static int
open_counters(const char *sysroot, sp_disk *disk)
{
	char		path[PATH_MAX];
	int			status = sp_build_path(path, "%s/sys/class/block/%s/stat",
									   sysroot, disk->name);

	if (status != 0)
		return status;
	do
		disk->stat_fd = open(path, O_RDONLY | O_CLOEXEC);
	while (disk->stat_fd < 0 && errno == EINTR);
	return disk->stat_fd < 0 ? errno : 0;
}

int
sp_disks_open(const char *sysroot, sp_disks *disks)
{
	sp_disks_close(disks);
	number_members(disks);
	for (int i = 0; i < disks->count; i++)
	{
		int			status = open_counters(sysroot, &disks->disks[i]);

		if (status != 0)
		{
			sp_disks_close(disks);
			return status;
		}
	}
	return 0;
}

void
sp_disks_close(sp_disks *disks)
{
	for (int i = 0; i < disks->count; i++)
	{
		if (disks->disks[i].stat_fd >= 0)
			close(disks->disks[i].stat_fd);
		disks->disks[i].stat_fd = -1;
	}
}

static bool
read_counters(const sp_disk *disk, sp_counters *counters)
{
	char		text[STAT_SIZE];
	ssize_t		length;

	if (disk->stat_fd < 0)
		return false;
	/* a read at offset 0 gets new numbers */
	do
		length = pread(disk->stat_fd, text, sizeof(text), 0);
	while (length < 0 && errno == EINTR);
	return length >= 0 && sp_counters_parse(text, (size_t) length, counters);
}

/*
 * Add a disk's flushes to those of its member.  A disk that is never flushed does not
 * count at all; one without a volatile cache may hold the file, and then no disk needs a
 * flush.
 */
static void
add_member(const sp_disk *disk, uint64_t flushes, sp_counters *level)
{
	if (disk->member < 0)
	{
		level->has_exempt = level->has_exempt || disk->duty != SP_FLUSHED_NEVER;
		return;
	}
	if (disk->member >= level->nmembers)
		level->nmembers = disk->member + 1;
	level->member_flushes[disk->member] += flushes;
	if (disk->duty == SP_FLUSHED_ALWAYS && strcmp(disk->write_cache, "write back") == 0)
		level->required |= UINT64_C(1) << disk->member;
}

bool
sp_disks_read(const sp_disks *disks, sp_counters counters[SP_LEVELS])
{
	bool		has_any[SP_LEVELS] = {false};

	memset(counters, 0, SP_LEVELS * sizeof(counters[0]));
	for (int i = 0; i < disks->count; i++)
	{
		sp_level	level = disks->disks[i].level;
		sp_counters one;

		if (!read_counters(&disks->disks[i], &one))
		{
			memset(counters, 0, SP_LEVELS * sizeof(counters[0]));
			return false;
		}
		one.flushes_only = disks->disks[i].counts_flushes_only;
		if (!has_any[level])
			counters[level].has_flushes = true;
		has_any[level] = true;
		sp_counters_add(&counters[level], &one);
		add_member(&disks->disks[i], one.flushes, &counters[level]);
	}
	return true;
}
