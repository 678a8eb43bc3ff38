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
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/storage/disks_internal.h"
#include "engine/storage/system_internal.h"

/* a file on LVM, a cache, RAID, encryption and multipath makes 8 */
#define MAX_LAYERS 16

typedef struct descent
{
	const char *sysroot;
	const sp_mount_table *mounts;	/* or NULL */
	sp_disks   *disks;
	sp_level	level;			/* at which disks are added */
	sp_flush_duty duty;			/* of the disks that are added */
	int			group;			/* that they belong to, or 0 */
} descent;

/* A device on the way down, and the one above it. */
typedef struct layer
{
	const char *name;
	const struct layer *above;
} layer;

/*
 * All functions that add something return 0 if there is at least one disk,
 * else an errno.
 */
static int	add_device(descent *way, char *directory, const layer *above);
static int	add_path(descent *way, const char *path, const layer *above,
					 const sp_mount **mount);

/*
 * Would the device close a cycle?  The kernel allows none, but a loop device
 * whose file is hidden by its own mount looks like one.
 */
static bool
is_circle(const char *name, const layer *above)
{
	int			layers = 0;

	for (; above != NULL; above = above->above)
	{
		if (++layers >= MAX_LAYERS || strcmp(above->name, name) == 0)
			return true;
	}
	return false;
}

static int
is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static void
free_entries(struct dirent **entries, int count)
{
	for (int i = 0; i < count; i++)
		free(entries[i]);
	free(entries);
}

static int
add_link(descent *way, const char *path, const char *name,
		 const layer *above)
{
	char		link[PATH_MAX];
	char		directory[PATH_MAX];
	int			status = sp_build_path(link, "%s/%s", path, name);

	if (status == 0)
		status = sp_resolve(link, directory);
	if (status == 0)
		status = add_device(way, directory, above);
	return status;
}

/* Skip a word and its number; NULL if the text does not begin with them. */
static const char *
skip_numbered(const char *text, const char *word)
{
	size_t		length = strlen(word);

	if (text == NULL || strncmp(text, word, length) != 0 ||
		!isdigit((unsigned char) text[length]))
		return NULL;
	text += length;
	while (isdigit((unsigned char) *text))
		text++;
	return text;
}

/* Is it nvme<S>c<C>n<N>, where head is nvme<S>n<N>? */
static bool
is_path_of_nvme(const char *name, const char *head)
{
	const char *head_namespace = skip_numbered(head, "nvme");
	const char *controller = skip_numbered(name, "nvme");
	const char *namespace = skip_numbered(controller, "c");

	return head_namespace != NULL && namespace != NULL &&
		controller - name == head_namespace - head &&
		memcmp(name, head, (size_t) (controller - name)) == 0 &&
		strcmp(namespace, head_namespace) == 0;
}

/*
 * Is a slave no part of the data of an md array?  Its slot is a number if it is, else
 * "none" (a spare) or "journal".
 */
static bool
is_beside_array(const char *slaves, const char *name)
{
	char		directory[PATH_MAX];
	char		slot[SP_ATTRIBUTE_SIZE];

	return sp_build_path(directory, "%s/../md/dev-%s", slaves, name) == 0 &&
		sp_read_attribute(directory, "slot", slot, sizeof(slot)) == 0 &&
		!isdigit((unsigned char) slot[0]);
}

/*
 * Add the targets of the symbolic links in a directory, in the order of their
 * names, so that the same stack always gives the same list.  With nvme_head,
 * add only the paths of that device.
 */
static int
add_links(descent *way, const char *path, const char *nvme_head,
		  const layer *above)
{
	struct dirent **entries;
	int			count = scandir(path, &entries, is_visible, alphasort);
	int			added = 0;
	sp_flush_duty duty = way->duty;

	if (count < 0)
		return errno;
	for (int i = 0; i < count; i++)
	{
		const char *name = entries[i]->d_name;

		if (nvme_head != NULL && !is_path_of_nvme(name, nvme_head))
			continue;
		way->duty = is_beside_array(path, name) ? SP_FLUSHED_NEVER : duty;
		if (add_link(way, path, name, above) == 0)
			added++;
		else
			way->disks->incomplete[way->level] = true;
	}
	way->duty = duty;
	free_entries(entries, count);
	return added > 0 ? 0 : ENODEV;
}

/* Are the slaves of a device of device-mapper paths to one disk? */
static bool
is_multipath(const char *directory)
{
	static const char prefix[] = "mpath-";
	char		uuid[SP_ATTRIBUTE_SIZE];

	return sp_read_attribute(directory, "dm/uuid", uuid, sizeof(uuid)) == 0 &&
		strncmp(uuid, prefix, sizeof(prefix) - 1) == 0;
}

/* Does a flush of a device go to all its slaves?  See sp_flush_duty. */
static bool
flushes_all_slaves(const char *directory, const char *slaves)
{
	static const char *const levels[] = {"raid0", "raid1", "raid10", "linear"};
	char		level[SP_ATTRIBUTE_SIZE];
	struct dirent **entries;
	int			count;

	if (sp_read_attribute(directory, "md/level", level, sizeof(level)) == 0)
	{
		for (size_t i = 0; i < lengthof(levels); i++)
		{
			if (strcmp(level, levels[i]) == 0)
				return true;
		}
	}
	count = scandir(slaves, &entries, is_visible, NULL);
	if (count >= 0)
		free_entries(entries, count);
	return count == 1;
}

static int
add_slaves(descent *way, const char *directory, const layer *here)
{
	char		path[PATH_MAX];
	descent		from = *way;
	int			status = sp_build_path(path, "%s/slaves", directory);

	if (status != 0)
		return status;
	if (is_multipath(directory))
		way->group = ++way->disks->groups;
	else if (!flushes_all_slaves(directory, path) && way->duty == SP_FLUSHED_ALWAYS)
		way->duty = SP_FLUSHED_PERHAPS;
	status = add_links(way, path, NULL, here);
	way->group = from.group;
	way->duty = from.duty;
	return status;
}

/* ENODEV if the device is no head of NVMe multipath, or no path is visible. */
static int
add_nvme_paths(descent *way, const layer *here)
{
	char		path[PATH_MAX];
	int			group = way->group;
	int			status = sp_build_path(path, "%s/sys/class/block", way->sysroot);

	if (skip_numbered(here->name, "nvme") == NULL)
		return ENODEV;
	if (status != 0)
		return status;
	way->group = ++way->disks->groups;
	status = add_links(way, path, here->name, here);
	way->group = group;
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

static void
keep_backing_file(sp_disks *disks, const char *file)
{
	size_t		length = strlen(file);

	if (length >= sizeof(disks->backing_file))
	{
		length = sizeof(disks->backing_file) - 1;
		/* do not cut a UTF-8 character */
		while (length > 0 && ((unsigned char) file[length] & 0xC0) == 0x80)
			length--;
	}
	memcpy(disks->backing_file, file, length);
	disks->backing_file[length] = '\0';
}

static int
add_backing_file(descent *way, const char *directory, const layer *here)
{
	char		file[PATH_MAX + sizeof(" (deleted)\n")];
	const sp_mount *mount = NULL;
	bool		is_first = way->disks->backing_file[0] == '\0';
	int			status = sp_read_attribute(directory, "loop/backing_file",
										   file, sizeof(file));

	if (status != 0)
		return status;
	if (is_first)
		keep_backing_file(way->disks, file);
	/* a file at that path now is another one */
	status = is_deleted(file) ? ENOENT : add_path(way, file, here, &mount);
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
add_loop(descent *way, const char *directory, const layer *here)
{
	sp_level	level = way->level;
	int			backing;

	if (level == SP_LEVEL_DEVICE)
	{
		int			status = sp_disks_append(way->disks, level, directory, way->duty,
											 way->group);

		if (status != 0)
			return status;
	}
	way->level = SP_LEVEL_BACKING;
	backing = add_backing_file(way, directory, here);
	way->level = level;
	if (backing == 0)
		return 0;
	way->disks->incomplete[SP_LEVEL_BACKING] = true;
	return level == SP_LEVEL_DEVICE ? 0 :
		sp_disks_append(way->disks, level, directory, way->duty, way->group);
}

/* Changes directory to that of the whole disk. */
static int
add_device(descent *way, char *directory, const layer *above)
{
	layer		here = {.above = above};
	int			status = sp_ascend_to_whole_disk(directory);

	if (status != 0)
		return status;
	here.name = strrchr(directory, '/') + 1;
	if (is_circle(here.name, above))
		return ELOOP;
	if (skip_numbered(here.name, "loop") != NULL)
		return add_loop(way, directory, &here);
	if (add_nvme_paths(way, &here) == 0 ||
		add_slaves(way, directory, &here) == 0)
		return 0;
	if (must_have_slaves(here.name))
		way->disks->incomplete[way->level] = true;
	return sp_disks_append(way->disks, way->level, directory, way->duty, way->group);
}

/*
 * Add all devices of the btrfs that one of them belongs to.  ENODEV if no file
 * system is known to have it.
 */
static int
add_btrfs(descent *way, const char *directory, const layer *above)
{
	const char *name = strrchr(directory, '/') + 1;
	char		path[PATH_MAX];
	char		member[PATH_MAX];
	struct dirent **entries;
	int			count;
	int			status = sp_build_path(path, "%s/sys/fs/btrfs",
									   way->sysroot);

	if (status != 0)
		return status;
	count = scandir(path, &entries, is_visible, alphasort);
	if (count < 0)
		return errno;
	status = ENODEV;
	for (int i = 0; i < count && status == ENODEV; i++)
	{
		if (sp_build_path(member, "%s/%s/devices/%s", path,
						  entries[i]->d_name, name) != 0 ||
			access(member, F_OK) != 0)
			continue;
		*strrchr(member, '/') = '\0';
		status = add_links(way, member, NULL, above);
	}
	free_entries(entries, count);
	return status;
}

static int
add_mount(descent *way, const sp_mount *mount, const layer *above)
{
	char		directory[PATH_MAX];
	int			status;

	if (strcmp(mount->fstype, "overlay") == 0)
	{
		if (way->mounts != NULL)
			mount = sp_mount_beneath(way->mounts, mount);
		if (mount == NULL)
			return ENODEV;
	}
	status = sp_find_by_mount(way->sysroot, mount, directory);
	if (status != 0)
		return status;
	if (strcmp(mount->fstype, "btrfs") == 0 &&
		add_btrfs(way, directory, above) == 0)
		return 0;
	return add_device(way, directory, above);
}

/* /dev/shm is a file system in memory, not a device. */
static bool
is_device_path(const char *path)
{
	return strncmp(path, "/dev/", 5) == 0 && strncmp(path, "/dev/shm/", 9) != 0;
}

/*
 * A device node has the number.  Without nodes (in a captured tree or a
 * container) the name is used: the target of symbolic links if they exist, else
 * the given name.
 */
static int
find_by_device_path(const char *sysroot, const char *path, char *directory)
{
	char		node[PATH_MAX];
	char		target[PATH_MAX];
	struct stat st;
	int			status = sp_build_path(node, "%s%s", sysroot, path);

	if (status != 0)
		return status;
	if (stat(node, &st) == 0 && S_ISBLK(st.st_mode))
	{
		unsigned	dev_major;
		unsigned	dev_minor;

		sp_system_device_number(st.st_rdev, &dev_major, &dev_minor);
		return sp_find_by_number(sysroot, dev_major, dev_minor, directory);
	}
	if (sp_resolve(node, target) == 0)
		return sp_find_by_name(sysroot, strrchr(target, '/') + 1, directory);
	return sp_find_by_node(sysroot, path, directory);
}

/* *mount: set to the mount of a file; NULL for a device. */
static int
add_path(descent *way, const char *path, const layer *above,
		 const sp_mount **mount)
{
	char		directory[PATH_MAX];
	int			status;

	*mount = NULL;
	if (is_device_path(path))
	{
		status = find_by_device_path(way->sysroot, path, directory);
		return status != 0 ? status : add_device(way, directory, above);
	}
	if (way->mounts != NULL)
		*mount = sp_mount_table_find(way->mounts, path);
	return *mount == NULL ? ENODEV : add_mount(way, *mount, above);
}

/*
 * Copy the found disks to the caller's list if there was no error.  found began
 * as a copy of it.
 */
static int
finish(int status, const sp_disks *found, sp_disks *all)
{
	if (status == 0)
		*all = *found;
	return sp_is_missing(status) ? ENODEV : status;
}

int
sp_disks_find(const char *sysroot, const sp_mount_table *mounts,
			  const sp_mount *mount, sp_disks *disks)
{
	sp_disks	found = *disks;
	descent		way = {.sysroot = sysroot,.mounts = mounts,
	.disks = &found,.level = SP_LEVEL_DEVICE,.duty = disks->next_duty,.group = disks->next_group};

	return finish(add_mount(&way, mount, NULL), &found, disks);
}

int
sp_disks_add_path(const char *sysroot, const sp_mount_table *mounts,
				  const char *path, sp_disks *disks)
{
	sp_disks	found = *disks;
	const sp_mount *mount;
	descent		way = {.sysroot = sysroot,.mounts = mounts,
	.disks = &found,.level = SP_LEVEL_DEVICE,.duty = disks->next_duty,.group = disks->next_group};

	return finish(add_path(&way, path, NULL, &mount), &found, disks);
}
