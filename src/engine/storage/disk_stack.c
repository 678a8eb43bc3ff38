/*-------------------------------------------------------------------------
 *
 * disk_stack.c
 *	  Find the disks at the bottom of the stack below a path.
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
 * The device of the caller's path must exist.  Any failure further down makes the answer
 * incomplete.
 *
 *-------------------------------------------------------------------------
 */
#include <ctype.h>
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
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

/* The device of a path; *mount: the mount of a file, NULL for a device. */
static int
find_device(const descent *way, const char *path, const sp_mount **mount, char *directory)
{
	const sp_mount *beneath;

	*mount = NULL;
	/* /dev/shm is a file system in memory, not a device */
	if (sp_begins_with(path, "/dev/") && !sp_begins_with(path, "/dev/shm/"))
		return sp_find_by_path(way->sysroot, path, directory);
	*mount = sp_mount_table_find(way->mounts, path);
	beneath = *mount == NULL ? NULL : sp_mount_beneath(way->mounts, *mount);
	return beneath == NULL ? ENODEV : sp_find_by_mount(way->sysroot, beneath, directory);
}

/* Change the directory of a partition, which alone has the attribute, to that of its disk. */
static void
ascend_to_whole_disk(char *directory)
{
	char		path[PATH_MAX];

	if (sp_build_path(path, "%s/partition", directory) == 0 && access(path, F_OK) == 0)
		*strrchr(directory, '/') = '\0';
}

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
 * Add the devices that symbolic links point to, in the order of their names, so that the
 * same stack always gives the same list.  If there are several, their duty is no stricter
 * than that.
 */
static int
add_links(const descent *way, const char *folder, const char *names, sp_flush_duty of_several)
{
	char		path[PATH_MAX];
	glob_t		links;
	int			status = ENODEV;

	if (sp_build_path(path, "%s/%s", folder, names) != 0 || glob(path, 0, NULL, &links) != 0)
		return ENODEV;
	for (size_t i = 0; i < links.gl_pathc; i++)
	{
		descent		next = *way;

		if (links.gl_pathc > 1 && next.duty < of_several)
			next.duty = of_several;
		if (is_beside_array(links.gl_pathv[i]))
			next.duty = SP_FLUSHED_NEVER;
		if (realpath(links.gl_pathv[i], path) != NULL && add_device(&next, path) == 0)
			status = 0;
		else
			way->disks->incomplete[way->level] = true;
	}
	globfree(&links);
	return status;
}

/* Of device-mapper or md.  See sp_flush_duty for the levels. */
static int
add_slaves(const descent *here, const char *directory)
{
	static const char *const levels[] = {"raid0", "raid1", "raid10", "linear", NULL};
	char		text[SP_ATTRIBUTE_SIZE];
	descent		way = *here;

	(void) sp_read_attribute(directory, "dm/uuid", text, sizeof(text));
	if (sp_begins_with(text, "mpath-"))
	{
		/* its flushes are counted here, and at the paths as reads; unless it is bio-based */
		if (sp_has_queues(directory))
			return sp_disks_append(way.disks, way.level, directory, way.duty, way.group);
		way.group = ++way.disks->groups;
		return add_links(&way, directory, "slaves/*", SP_FLUSHED_ALWAYS);
	}
	(void) sp_read_attribute(directory, "md/level", text, sizeof(text));
	return add_links(&way, directory, "slaves/*",
					 sp_is_one_of(text, levels) ? SP_FLUSHED_ALWAYS : SP_FLUSHED_PERHAPS);
}

/* The paths nvme<S>c<C>n<N> of nvme<S>n<N>, if that is a head of NVMe multipath. */
static int
add_nvme_paths(const descent *here)
{
	descent		way = *here;
	char		names[64];
	unsigned	subsystem;
	unsigned	namespace;

	if (sscanf(here->device, "nvme%un%u", &subsystem, &namespace) != 2)
		return ENODEV;
	snprintf(names, sizeof(names), "sys/class/block/nvme%uc[0-9]*n%u", subsystem, namespace);
	way.group = ++way.disks->groups;
	return add_links(&way, way.sysroot, names, SP_FLUSHED_ALWAYS);
}

/* Add all devices of the btrfs that one of them belongs to. */
static int
add_btrfs(const descent *way, const char *directory)
{
	char		pattern[PATH_MAX];
	glob_t		found;
	int			status = ENODEV;

	if (sp_build_path(pattern, "%s/sys/fs/btrfs/*/devices/%s", way->sysroot,
					  name_of(directory)) != 0 || glob(pattern, 0, NULL, &found) != 0)
		return ENODEV;
	*strrchr(found.gl_pathv[0], '/') = '\0';
	status = add_links(way, found.gl_pathv[0], "*", SP_FLUSHED_ALWAYS);
	globfree(&found);
	return status;
}

static int
add_found(const descent *way, char *directory)
{
	return add_btrfs(way, directory) == 0 ? 0 : add_device(way, directory);
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
add_backing_file(const descent *way, const char *loop)
{
	char		file[sizeof(way->disks->backing_file)];
	char		directory[PATH_MAX];
	const sp_mount *mount = NULL;
	bool		is_first = way->disks->backing_file[0] == '\0';
	int			status;

	if (!sp_read_attribute(loop, "loop/backing_file", file, sizeof(file)))
		return ENODEV;
	if (is_first)
		strcpy(way->disks->backing_file, file);
	/* a file at that path now is another one */
	status = is_deleted(file) ? ENOENT : find_device(way, file, &mount, directory);
	if (is_first)
		way->disks->backing_mount = mount;
	return status != 0 ? status : add_found(way, directory);
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
	bool		is_backing = here->level == SP_LEVEL_BACKING;
	int			status = is_backing ? 0 :
		sp_disks_append(here->disks, here->level, directory, here->duty, here->group);

	if (status != 0)
		return status;
	way.level = SP_LEVEL_BACKING;
	if (add_backing_file(&way, directory) == 0)
		return 0;
	way.disks->incomplete[SP_LEVEL_BACKING] = true;
	return is_backing ?
		sp_disks_append(way.disks, way.level, directory, way.duty, way.group) : 0;
}

/* Changes directory to that of the whole disk. */
static int
add_device(const descent *above, char *directory)
{
	descent		here = *above;

	ascend_to_whole_disk(directory);
	here.above = above;
	here.device = name_of(directory);
	if (is_circle(here.device, above))
		return ELOOP;
	if (sp_begins_with(here.device, "loop"))
		return add_loop(&here, directory);
	if (add_nvme_paths(&here) == 0 || add_slaves(&here, directory) == 0)
		return 0;
	/* these have no storage of their own */
	if (sp_begins_with(here.device, "dm-") || sp_begins_with(here.device, "md"))
		here.disks->incomplete[here.level] = true;
	return sp_disks_append(here.disks, here.level, directory, here.duty, here.group);
}

int
sp_disks_add(const char *sysroot, const sp_mount_table *mounts, const char *path,
			 sp_flush_duty duty, int group, sp_disks *disks)
{
	const descent way = {
		.sysroot = sysroot,.mounts = mounts,.disks = disks,.level = SP_LEVEL_DEVICE,
		.duty = duty,.group = group
	};
	char		directory[PATH_MAX];
	char		whole[PATH_MAX];
	const sp_mount *mount;
	int			status = find_device(&way, path, &mount, directory);

	if (status == 0 && disks->top.name[0] == '\0')
	{
		strcpy(whole, directory);
		ascend_to_whole_disk(whole);
		status = sp_disk_read(whole, &disks->top);
	}
	if (status == 0)
		status = add_found(&way, directory);
	/* sysfs answers ENODEV instead of ENOENT while a device is being removed */
	return status == ENOENT || status == ENXIO ? ENODEV : status;
}
