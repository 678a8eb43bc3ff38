/*-------------------------------------------------------------------------
 *
 * disk_stack.c
 *	  Find the disks at the bottom of the stack below a mount.
 *
 * It must not: include a server header, keep state between calls, print,
 * exit, write, or open anything outside <sysroot>/sys.
 *
 * A stack looks like this; slaves and devices hold symbolic links to devices
 * and partitions:
 *
 *	/sys/devices/virtual/block/dm-0/slaves/md0
 *	/sys/devices/virtual/block/md0/slaves/sda2
 *	/sys/devices/virtual/block/loop0/loop/backing_file
 *	/sys/fs/btrfs/<uuid>/devices/vdb1
 *	/sys/class/block/nvme0c1n1			a path of the multipath device nvme0n1
 *
 * The mount or path that the caller names must exist.  Any failure further down
 * makes the answer incomplete.
 *
 *-------------------------------------------------------------------------
 */
#include <ctype.h>
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "engine/storage/disks_internal.h"

/* a file on LVM, a cache, RAID, encryption and multipath makes 8 */
#define MAX_LAYERS 16

/* A step of the way down. */
typedef struct descent
{
	const char *sysroot;
	const sp_mount_table *mounts;
	sp_disks   *disks;
	sp_level	level;			/* at which disks are added */
	sp_flush_duty duty;			/* of the disks that are added */
	int			group;			/* that they belong to, or 0 */
	const char *device;			/* the device here; NULL before the first */
	const struct descent *above;
} descent;

/*
 * All functions that add something return 0 if there is at least one disk,
 * else an errno.
 */
static int	add_device(const descent *above, char *directory);
static int	add_path(const descent *way, const char *path, const sp_mount **mount);

/* sysfs answers ENODEV instead of ENOENT while a device is being removed */
static bool
is_missing(int status)
{
	return status == ENOENT || status == ENODEV || status == ENXIO;
}

/* -------------------------------------------------------------- the way down */

static const char *
name_of(const char *directory)
{
	return strrchr(directory, '/') + 1;
}

/*
 * Would the device close a cycle?  The kernel allows none, but a loop device
 * whose file is hidden by its own mount looks like one.
 */
static bool
is_circle(const char *name, const descent *above)
{
	int			layers = 0;

	for (; above->device != NULL; above = above->above)
	{
		if (++layers >= MAX_LAYERS || strcmp(above->device, name) == 0)
			return true;
	}
	return false;
}

/*
 * Is a slave no part of the data of an md array?  Its slot is a number if it is, else
 * "none" (a spare) or "journal".
 */
static bool
is_beside_array(const char *slave)
{
	char		directory[PATH_MAX];
	char		slot[SP_ATTRIBUTE_SIZE];

	return sp_build_path(directory, "%.*s/../md/dev-%s", (int) (name_of(slave) - 1 - slave), slave,
						 name_of(slave)) == 0 &&
		sp_read_attribute(directory, "slot", slot, sizeof(slot)) &&
		!isdigit((unsigned char) slot[0]);
}

/*
 * Add the targets of symbolic links in the order of their names, so that the same stack
 * always gives the same list.
 */
static int
add_links(const descent *way, const glob_t *links)
{
	char		directory[PATH_MAX];
	int			added = 0;

	for (size_t i = 0; i < links->gl_pathc; i++)
	{
		descent		next = *way;

		if (is_beside_array(links->gl_pathv[i]))
			next.duty = SP_FLUSHED_NEVER;
		if (sp_resolve(links->gl_pathv[i], directory) == 0 && add_device(&next, directory) == 0)
			added++;
		else
			way->disks->incomplete[way->level] = true;
	}
	return added > 0 ? 0 : ENODEV;
}

/* Does a flush of an md array go to all its members?  See sp_flush_duty. */
static bool
flushes_all_members(const char *directory)
{
	static const char *const levels[] = {"raid0", "raid1", "raid10", "linear"};
	char		level[SP_ATTRIBUTE_SIZE];

	(void) sp_read_attribute(directory, "md/level", level, sizeof(level));
	for (size_t i = 0; i < lengthof(levels); i++)
	{
		if (strcmp(level, levels[i]) == 0)
			return true;
	}
	return false;
}

static int
add_slaves(const descent *here, const char *directory)
{
	static const char multipath[] = "mpath-";
	char		pattern[PATH_MAX];
	char		uuid[SP_ATTRIBUTE_SIZE];
	descent		way = *here;
	glob_t		slaves;
	int			status = sp_build_path(pattern, "%s/slaves/*", directory);

	if (status != 0)
		return status;
	if (glob(pattern, 0, NULL, &slaves) != 0)
		return ENODEV;
	(void) sp_read_attribute(directory, "dm/uuid", uuid, sizeof(uuid));
	if (strncmp(uuid, multipath, sizeof(multipath) - 1) == 0)
		way.group = ++way.disks->groups;
	else if (slaves.gl_pathc > 1 && way.duty == SP_FLUSHED_ALWAYS &&
			 !flushes_all_members(directory))
		way.duty = SP_FLUSHED_PERHAPS;
	status = add_links(&way, &slaves);
	globfree(&slaves);
	return status;
}

/*
 * The paths nvme<S>c<C>n<N> of nvme<S>n<N>.  ENODEV if the device is no head of NVMe
 * multipath, or no path is visible.
 */
static int
add_nvme_paths(const descent *here)
{
	char		pattern[PATH_MAX];
	descent		way = *here;
	unsigned	subsystem;
	unsigned	namespace;
	glob_t		paths;
	int			status;

	if (sscanf(here->device, "nvme%un%u", &subsystem, &namespace) != 2)
		return ENODEV;
	status = sp_build_path(pattern, "%s/sys/class/block/nvme%uc[0-9]*n%u", way.sysroot,
						   subsystem, namespace);
	if (status != 0)
		return status;
	if (glob(pattern, 0, NULL, &paths) != 0)
		return ENODEV;
	way.group = ++way.disks->groups;
	status = add_links(&way, &paths);
	globfree(&paths);
	return status;
}

/* Device-mapper and md have no storage of their own. */
static bool
must_have_slaves(const char *name)
{
	return strncmp(name, "dm-", 3) == 0 || strncmp(name, "md", 2) == 0;
}

static bool
is_deleted(const char *file)
{
	static const char suffix[] = " (deleted)";
	size_t		length = strlen(file);

	return length >= sizeof(suffix) - 1 &&
		strcmp(file + length - (sizeof(suffix) - 1), suffix) == 0;
}

static int
add_backing_file(const descent *way, const char *directory)
{
	char		file[sizeof(way->disks->backing_file)];
	const sp_mount *mount = NULL;
	bool		is_first = way->disks->backing_file[0] == '\0';
	int			status;

	if (!sp_read_attribute(directory, "loop/backing_file", file, sizeof(file)))
		return ENODEV;
	if (is_first)
		strcpy(way->disks->backing_file, file);
	/* a file at that path now is another one */
	status = is_deleted(file) ? ENOENT : add_path(way, file, &mount);
	if (is_first)
		way->disks->backing_mount = mount;
	return status;
}

/*
 * A loop device has counters of its own, so it is listed, and the backing
 * devices of its file form a second level.  A loop device that is itself a
 * backing device is listed only if nothing below it is known.
 */
static int
add_loop(const descent *here, const char *directory)
{
	descent		way = *here;

	if (here->level == SP_LEVEL_DEVICE)
	{
		int			status = sp_disks_append(way.disks, way.level, directory, way.duty,
											 way.group);

		if (status != 0)
			return status;
	}
	way.level = SP_LEVEL_BACKING;
	if (add_backing_file(&way, directory) == 0)
		return 0;
	way.disks->incomplete[SP_LEVEL_BACKING] = true;
	return here->level == SP_LEVEL_DEVICE ? 0 :
		sp_disks_append(way.disks, way.level, directory, way.duty, way.group);
}

/* Changes directory to that of the whole disk. */
static int
add_device(const descent *above, char *directory)
{
	descent		here = *above;

	sp_ascend_to_whole_disk(directory);
	here.above = above;
	here.device = name_of(directory);
	if (is_circle(here.device, above))
		return ELOOP;
	if (strncmp(here.device, "loop", 4) == 0)
		return add_loop(&here, directory);
	if (add_nvme_paths(&here) == 0 || add_slaves(&here, directory) == 0)
		return 0;
	if (must_have_slaves(here.device))
		here.disks->incomplete[here.level] = true;
	return sp_disks_append(here.disks, here.level, directory, here.duty, here.group);
}

/* Add all devices of the btrfs that one of them belongs to. */
static int
add_btrfs(const descent *way, const char *directory)
{
	char		pattern[PATH_MAX];
	glob_t		found;
	int			status = sp_build_path(pattern, "%s/sys/fs/btrfs/*/devices/%s", way->sysroot,
									   name_of(directory));

	if (status != 0 || glob(pattern, 0, NULL, &found) != 0)
		return ENODEV;
	strcpy(pattern, found.gl_pathv[0]);
	globfree(&found);
	strcpy(strrchr(pattern, '/') + 1, "*");
	if (glob(pattern, 0, NULL, &found) != 0)
		return ENODEV;
	status = add_links(way, &found);
	globfree(&found);
	return status;
}

/* top: set to what the file system is on, unless it is NULL */
static int
add_mount(const descent *way, const sp_mount *mount, sp_disk *top)
{
	char		directory[PATH_MAX];
	char		whole[PATH_MAX];
	int			status;

	mount = sp_mount_beneath(way->mounts, mount);
	if (mount == NULL)
		return ENODEV;
	status = sp_find_by_mount(way->sysroot, mount, directory);
	if (status == 0 && top != NULL)
	{
		strcpy(whole, directory);
		sp_ascend_to_whole_disk(whole);
		status = sp_disk_read(whole, top);
	}
	if (status != 0)
		return status;
	if (strcmp(mount->fstype, "btrfs") == 0 && add_btrfs(way, directory) == 0)
		return 0;
	return add_device(way, directory);
}

/* *mount: set to the mount of a file; NULL for a device. */
static int
add_path(const descent *way, const char *path, const sp_mount **mount)
{
	char		directory[PATH_MAX];
	int			status;

	*mount = NULL;
	/* /dev/shm is a file system in memory, not a device */
	if (strncmp(path, "/dev/", 5) == 0 && strncmp(path, "/dev/shm/", 9) != 0)
	{
		status = sp_find_by_path(way->sysroot, path, directory);
		return status != 0 ? status : add_device(way, directory);
	}
	*mount = sp_mount_table_find(way->mounts, path);
	return *mount == NULL ? ENODEV : add_mount(way, *mount, NULL);
}

/* ---------------------------------------------------------------- interface */

/* Disks are added to a copy of the caller's list, which takes its place if all went well. */
static descent
begin(const char *sysroot, const sp_mount_table *mounts, const sp_disks *disks, sp_disks *found)
{
	*found = *disks;
	return (descent) {
		.sysroot = sysroot,.mounts = mounts,.disks = found,.level = SP_LEVEL_DEVICE,
		.duty = disks->next_duty,.group = disks->next_group
	};
}

static int
finish(int status, const sp_disks *found, sp_disks *disks)
{
	if (status == 0)
		*disks = *found;
	return is_missing(status) ? ENODEV : status;
}

int
sp_disks_find(const char *sysroot, const sp_mount_table *mounts,
			  const sp_mount *mount, sp_disks *disks)
{
	sp_disks	found;
	descent		way = begin(sysroot, mounts, disks, &found);

	return finish(add_mount(&way, mount, &found.top), &found, disks);
}

int
sp_disks_add_path(const char *sysroot, const sp_mount_table *mounts,
				  const char *path, sp_disks *disks)
{
	sp_disks	found;
	const sp_mount *mount;
	descent		way = begin(sysroot, mounts, disks, &found);

	return finish(add_path(&way, path, &mount), &found, disks);
}
