/*
 * Fuzz target: a list of mounts, the tree of sysfs below it, and the statistics of disks.
 *
 * The input is a tree as test/unit/tree.h makes it.  One that cannot be made is no input.
 */
#include "../unit/tree.h"
#include "engine/storage/storage.h"
#include "fuzz.h"

const char *const fuzz_seeds = "sysroot";

/* More only take time. */
#define MAX_MOUNTS	50

static void
check_disk(const sp_disk *disk)
{
	require(disk->name[0] != '\0');
	require_string(disk->name);
	require_string(disk->write_cache);
	require(disk->level < SP_LEVELS && disk->stat_fd == -1);
}

static void
check_counters(const char *sysroot, sp_disks *disks)
{
	sp_counters counters[SP_LEVELS];

	if (sp_disks_open(sysroot, disks) == 0 && sp_disks_read(disks, counters))
	{
		for (int level = 0; level < SP_LEVELS; level++)
		{
			(void) sp_disks_summary(disks, (sp_level) level);
			require(counters[level].nmembers <= SP_MAX_MEMBERS);
			(void) sp_counters_least_flushes(&counters[level]);
			(void) sp_counters_required_flushes(&counters[level]);
		}
	}
	sp_disks_close(disks);
}

static void
check_mount(const sp_mount_table *mounts, const sp_mount *mount)
{
	const sp_mount *beneath = sp_mount_beneath(mounts, mount);
	const sp_mount *again = sp_mount_table_find(mounts, mount->mount_point);

	require(mount->mount_point[0] == '/' && mount->fstype[0] != '\0');
	require(sp_mount_option(mount->mount_options, "ro") != NULL ||
			sp_mount_option(mount->mount_options, "rw") != NULL);
	/* nothing is nearer to a mount point than what is mounted there */
	require(again != NULL && strcmp(again->mount_point, mount->mount_point) == 0);
	require(beneath == NULL || strcmp(beneath->fstype, "overlay") != 0);
}

static void
check_disks(const char *sysroot, const sp_mount_table *mounts, const sp_mount *mount)
{
	static sp_disks disks;
	int			status;

	memset(&disks, 0, sizeof(disks));
	status = sp_disks_add(sysroot, mounts, mount->mount_point, SP_FLUSHED_ALWAYS, 0, &disks);
	/* an error adds no disk */
	require((status == 0) == (disks.count > 0));
	/* the source of each mount as the path of a device, too */
	if (mount->source[0] == '/' && strstr(mount->source, "..") == NULL)
		(void) sp_disks_add(sysroot, mounts, mount->source, SP_FLUSHED_ALWAYS, 0, &disks);
	require(disks.count <= SP_MAX_DISKS);
	require_string(disks.backing_file);
	for (int i = 0; i < disks.count; i++)
		check_disk(&disks.disks[i]);
	check_counters(sysroot, &disks);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char	   *text = strndup((const char *) data, size);
	const char *sysroot = tree_root();
	sp_mount_table mounts = {0};

	require(text != NULL);
	if (make_tree(sysroot, text) && sp_mount_table_read(sysroot, &mounts) == 0)
	{
		for (size_t i = 0; i < mounts.count && i < MAX_MOUNTS; i++)
		{
			check_mount(&mounts, &mounts.mounts[i]);
			check_disks(sysroot, &mounts, &mounts.mounts[i]);
		}
	}
	sp_mount_table_free(&mounts);
	free(text);
	require(access(sysroot, F_OK) != 0 || remove_tree(sysroot));
	return 0;
}
