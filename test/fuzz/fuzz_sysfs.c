/*-------------------------------------------------------------------------
 *
 * fuzz_sysfs.c
 *	  Fuzz target: a tree of sysfs, and the statistics of its disks.
 *
 * The input is a tree as test/unit/tree.h makes it, with the list of its mounts.  One
 * that cannot be made is no input.
 *
 *-------------------------------------------------------------------------
 */
#include "../unit/tree.h"
#include "engine/storage/disks.h"
#include "fuzz.h"

const char *const fuzz_seeds = "sysroot";

/* Where trees are, for as long as this process runs. */
static char directory[64];

static void
remove_directory(void)
{
	require(remove_tree(directory));
}

/* In memory where there is such a place: files are written for each input. */
static void
make_directory(void)
{
	if (directory[0] != '\0')
		return;
	strcpy(directory, access("/dev/shm", W_OK) == 0 ? "/dev/shm/sp_fuzz_XXXXXX" :
		   "/tmp/sp_fuzz_XXXXXX");
	require(mkdtemp(directory) != NULL);
	require(atexit(remove_directory) == 0);
}

/* The number of the next descriptor: it grows if one is left open. */
static int
next_descriptor(void)
{
	int			fd = dup(STDERR_FILENO);

	close(fd);
	return fd;
}

/* More only take time. */
#define MAX_MOUNTS	50

static bool
is_cache(const char *cache)
{
	return strcmp(cache, "") == 0 || strcmp(cache, "write back") == 0 ||
		strcmp(cache, "write through") == 0;
}

static void
check_disk(const sp_disks *disks, int i)
{
	const sp_disk *disk = &disks->disks[i];

	require(disk->name[0] != '\0' && strlen(disk->name) < sizeof(disk->name));
	require(disk->level < SP_LEVELS && disk->stat_fd == -1);
	require(is_cache(disk->write_cache));
	for (int j = 0; j < i; j++)
		require(disk->level != disks->disks[j].level ||
				strcmp(disk->name, disks->disks[j].name) != 0);
}

/* The weakest of a level decides. */
static void
check_level(const sp_disks *disks, sp_level level)
{
	sp_disks_facts facts = sp_disks_summary(disks, level);
	int			through = 0;
	int			flushed = 0;
	bool		may_fua = disks->incomplete[level];

	require(is_cache(facts.write_cache));
	for (int i = 0; i < disks->count; i++)
	{
		const sp_disk *disk = &disks->disks[i];

		if (disk->level != level || disk->duty == SP_FLUSHED_NEVER)
			continue;
		flushed++;
		through += strcmp(disk->write_cache, "write through") == 0;
		may_fua = may_fua || disk->fua != 0;
		require(strcmp(disk->write_cache, "write back") != 0 ||
				strcmp(facts.write_cache, "write back") == 0);
	}
	require(facts.fua == may_fua);
	require((strcmp(facts.write_cache, "write through") == 0) ==
			(flushed > 0 && through == flushed));
}

/* Files do not change meanwhile, so neither do counters. */
static void
check_counters(const char *sysroot, sp_disks *disks)
{
	sp_counters first[SP_LEVELS];
	sp_counters second[SP_LEVELS];

	if (sp_disks_open(sysroot, disks) == 0)
	{
		require(sp_disks_read(disks, first) == sp_disks_read(disks, second));
		require(memcmp(first, second, sizeof(first)) == 0);
		for (int level = 0; level < SP_LEVELS; level++)
		{
			sp_counters sum = first[level];
			sp_counters delta;

			require(sum.nmembers <= SP_MAX_MEMBERS);
			require(sp_counters_between(&sum, &sum, &delta) && delta.writes == 0);
			sp_counters_add(&sum, &first[level]);
			(void) sp_counters_least_flushes(&sum);
			(void) sp_counters_required_flushes(&sum);
		}
	}
	sp_disks_close(disks);
}

/* Whatever was found, asking again finds the same; an error adds no disk. */
static void
check_mount(const char *sysroot, const sp_mount_table *mounts, const sp_mount *mount)
{
	static sp_disks first;
	static sp_disks second;
	int			status;

	memset(&first, 0, sizeof(first));
	memset(&second, 0, sizeof(second));
	status = sp_disks_add(sysroot, mounts, mount->mount_point, &first);
	require(sp_disks_add(sysroot, mounts, mount->mount_point, &second) == status);
	require(memcmp(&first, &second, sizeof(first)) == 0);
	require((status == 0) == (first.count > 0));
	require(first.count <= SP_MAX_DISKS);
	require(strnlen(first.backing_file, sizeof(first.backing_file)) <
			sizeof(first.backing_file));
	for (int i = 0; i < first.count; i++)
		check_disk(&first, i);
	for (int level = 0; level < SP_LEVELS; level++)
		check_level(&first, (sp_level) level);
	/* the source of each mount as the path of a device, too */
	if (mount->source[0] == '/' && strstr(mount->source, "..") == NULL)
		(void) sp_disks_add(sysroot, mounts, mount->source, &first);
	check_counters(sysroot, &first);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char		sysroot[PATH_MAX];
	char	   *text = strndup((const char *) data, size);
	sp_mount_table *mounts;
	int			fd = next_descriptor();

	require(text != NULL);
	make_directory();
	snprintf(sysroot, sizeof(sysroot), "%s/tree", directory);
	if (make_tree(sysroot, text) && sp_mount_table_read(sysroot, &mounts) == 0)
	{
		for (size_t i = 0; i < mounts->count && i < MAX_MOUNTS; i++)
			check_mount(sysroot, mounts, &mounts->mounts[i]);
		sp_mount_table_free(mounts);
	}
	free(text);
	if (access(sysroot, F_OK) == 0)
		require(remove_tree(sysroot));
	require(next_descriptor() == fd);
	return 0;
}
