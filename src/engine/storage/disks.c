/*-------------------------------------------------------------------------
 *
 * disks.c
 *	  A list of disks, and their counters.
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

int
sp_disks_append(sp_disks *disks, sp_level level, const char *directory, sp_flush_duty duty,
				int group)
{
	sp_disk		disk;
	int			status = sp_disk_read(directory, &disk);

	if (status != 0)
		return status;
	for (sp_disk *same = disks->disks; same < disks->disks + disks->count; same++)
	{
		if (same->level != level || strcmp(same->name, disk.name) != 0)
			continue;
		if (duty < same->duty)
			same->duty = duty;
		return 0;
	}
	if (disks->count >= SP_MAX_DISKS)
	{
		disks->incomplete[level] = true;
		return 0;
	}
	disk.level = level;
	disk.duty = duty;
	disk.group = group;
	disks->disks[disks->count++] = disk;
	return 0;
}

sp_disks_facts
sp_disks_summary(const sp_disks *disks, sp_level level)
{
	bool		incomplete = disks->incomplete[level];
	sp_disks_facts facts = {.fua = incomplete,.count_flushes = !incomplete};

	for (int i = 0; i < disks->count; i++)
	{
		const sp_disk *disk = &disks->disks[i];

		if (disk->level != level)
			continue;
		facts.count_flushes = facts.count_flushes && disk->counts_flushes;
		/* its cache cannot keep a sync from being durable */
		if (disk->duty == SP_FLUSHED_NEVER)
			continue;
		facts.fua = facts.fua || disk->fua != 0;
		if (facts.write_cache == NULL || strcmp(disk->write_cache, "write back") == 0)
			facts.write_cache = disk->write_cache;
		else if (strcmp(facts.write_cache, disk->write_cache) != 0 &&
				 strcmp(facts.write_cache, "write back") != 0)
			facts.write_cache = "";
	}
	if (facts.write_cache == NULL ||
		(incomplete && strcmp(facts.write_cache, "write back") != 0))
		facts.write_cache = "";
	return facts;
}

/*
 * Number the members of each level: disks that may need a flush.  Disks of a group have the
 * number of the first of them.
 */
static void
number_members(sp_disks *disks)
{
	int			count[SP_LEVELS] = {0};

	for (int i = 0; i < disks->count; i++)
	{
		sp_disk    *disk = &disks->disks[i];

		disk->member = -1;
		if (disk->duty == SP_FLUSHED_NEVER || strcmp(disk->write_cache, "write through") == 0)
			continue;
		for (const sp_disk *other = disks->disks; other < disk; other++)
		{
			if (disk->group != 0 && other->group == disk->group && other->level == disk->level &&
				other->member >= 0)
				disk->member = other->member;
		}
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
	disk->stat_fd = open(path, O_RDONLY | O_CLOEXEC);
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
	length = pread(disk->stat_fd, text, sizeof(text) - 1, 0);
	if (length < 0)
		return false;
	text[length] = '\0';
	return sp_counters_parse(text, counters);
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
