/*-------------------------------------------------------------------------
 *
 * block_device.c
 *	  Find the whole disk of a mount in sysfs.
 *
 * It must not: include a server header, keep state between calls, print,
 * exit, write, or open anything outside <sysroot>/sys.
 *
 * /sys/dev/block/M:N and /sys/class/block/NAME are symbolic links to the
 * directory of a device; that of a partition lies within that of its disk:
 *
 *	/sys/devices/pci0000:00/.../nvme/nvme0/nvme0n1/nvme0n1p2/partition
 *	/sys/devices/pci0000:00/.../nvme/nvme0/nvme0n1/queue/write_cache
 *
 *-------------------------------------------------------------------------
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/storage/block_device_internal.h"

/*
 * File systems without a device number whose source is free text: the source of
 * a tmpfs or a FUSE file system may be given as /dev/sda.
 */
static const char *const types_without_device[] = {
	"9p", "ceph", "cifs", "devtmpfs", "fuse", "nfs", "nfs4", "overlay",
	"ramfs", "smb3", "tmpfs", "virtiofs", "zfs",
};

/* sysfs answers ENODEV instead of ENOENT while a device is being removed */
bool
sp_is_missing(int status)
{
	return status == ENOENT || status == ENODEV || status == ENXIO;
}

/* A name from outside must be a single component of a path. */
static bool
is_single_component(const char *name)
{
	return name[0] != '\0' && strchr(name, '/') == NULL &&
		strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

int
sp_read_attribute(const char *directory, const char *attribute, char *value,
				  size_t size)
{
	char		path[PATH_MAX];
	ssize_t		length;
	int			status = sp_build_path(path, "%s/%s", directory, attribute);
	int			fd;

	value[0] = '\0';
	if (status != 0)
		return status;
	do
		fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd < 0 && errno == EINTR);
	if (fd < 0)
		return errno;
	/* sysfs returns a whole attribute in one read */
	do
		length = read(fd, value, size);
	while (length < 0 && errno == EINTR);
	status = length < 0 ? errno : (size_t) length == size ? EOVERFLOW : 0;
	close(fd);
	if (status == 0 && length > 0 && value[length - 1] == '\n')
		length--;
	value[status == 0 ? length : 0] = '\0';
	return status;
}

int
sp_read_flag(const char *directory, const char *attribute, int *flag)
{
	char		value[SP_ATTRIBUTE_SIZE];
	int			status = sp_read_attribute(directory, attribute, value,
										   sizeof(value));

	*flag = -1;
	if (strcmp(value, "0") == 0 || strcmp(value, "1") == 0)
		*flag = value[0] - '0';
	return sp_is_missing(status) || status == EOVERFLOW ? 0 : status;
}

int
sp_resolve(const char *path, char *directory)
{
	return realpath(path, directory) == NULL ? errno : 0;
}

int
sp_find_by_number(const char *sysroot, unsigned dev_major, unsigned dev_minor,
				  char *directory)
{
	char		path[PATH_MAX];
	int			status = sp_build_path(path, "%s/sys/dev/block/%u:%u", sysroot,
									   dev_major, dev_minor);

	return status != 0 ? status : sp_resolve(path, directory);
}

int
sp_find_by_name(const char *sysroot, const char *name, char *directory)
{
	char		path[PATH_MAX];
	int			status;

	/* a name that does not fit sp_block_device is not a device's */
	if (!is_single_component(name) ||
		strlen(name) >= sizeof(((sp_block_device *) NULL)->name))
		return ENODEV;
	status = sp_build_path(path, "%s/sys/class/block/%s", sysroot, name);
	return status != 0 ? status : sp_resolve(path, directory);
}

/*
 * Is the entry of /sys/class/block the device-mapper device of that name?  Sets
 * *match; to false if the device is removed meanwhile.
 */
static int
compare_mapper_name(const char *directory, const char *entry,
					const char *mapper_name, bool *match)
{
	char		attribute[NAME_MAX + sizeof("/dm/name")];
	char		value[SP_ATTRIBUTE_SIZE];
	int			status;

	*match = false;
	if (strncmp(entry, "dm-", 3) != 0)
		return 0;
	snprintf(attribute, sizeof(attribute), "%s/dm/name", entry);
	status = sp_read_attribute(directory, attribute, value, sizeof(value));
	if (status == 0)
		*match = strcmp(value, mapper_name) == 0;
	return sp_is_missing(status) || status == EOVERFLOW ? 0 : status;
}

/* /dev/mapper/NAME: sysfs knows it as dm-N and keeps NAME in an attribute. */
static int
find_by_mapper_name(const char *sysroot, const char *mapper_name,
					char *directory)
{
	char		path[PATH_MAX];
	DIR		   *dir;
	int			status = sp_build_path(path, "%s/sys/class/block", sysroot);
	bool		match = false;

	if (!is_single_component(mapper_name))
		return ENODEV;
	if (status != 0)
		return status;
	dir = opendir(path);
	if (dir == NULL)
		return errno;
	while (status == 0 && !match)
	{
		struct dirent *entry;

		errno = 0;
		entry = readdir(dir);
		if (entry == NULL)
		{
			status = errno != 0 ? errno : ENODEV;
			break;
		}
		status = compare_mapper_name(path, entry->d_name, mapper_name, &match);
		if (match)
			status = sp_find_by_name(sysroot, entry->d_name, directory);
	}
	closedir(dir);
	return status;
}

static bool
has_source_of_free_text(const char *fstype)
{
	for (size_t i = 0; i < lengthof(types_without_device); i++)
	{
		if (strcmp(fstype, types_without_device[i]) == 0)
			return true;
	}
	return strncmp(fstype, "fuse.", 5) == 0;
}

int
sp_find_by_node(const char *sysroot, const char *node, char *directory)
{
	static const char mapper[] = "/dev/mapper/";
	static const char dev[] = "/dev/";

	if (strncmp(node, mapper, sizeof(mapper) - 1) == 0)
		return find_by_mapper_name(sysroot, node + sizeof(mapper) - 1,
								   directory);
	if (strncmp(node, dev, sizeof(dev) - 1) == 0)
		return sp_find_by_name(sysroot, node + sizeof(dev) - 1, directory);
	return ENODEV;
}

int
sp_find_by_mount(const char *sysroot, const sp_mount *mount, char *directory)
{
	/* the kernel uses major 0 for file systems without a block device */
	if (mount->dev_major != 0)
		return sp_find_by_number(sysroot, mount->dev_major, mount->dev_minor,
								 directory);
	if (has_source_of_free_text(mount->fstype))
		return ENODEV;
	return sp_find_by_node(sysroot, mount->source, directory);
}

/* Only partitions have the attribute; their parent directory is the disk. */
int
sp_ascend_to_whole_disk(char *directory)
{
	char		path[PATH_MAX];
	int			status = sp_build_path(path, "%s/partition", directory);

	if (status != 0)
		return status;
	if (access(path, F_OK) == 0)
		*strrchr(directory, '/') = '\0';
	else if (!sp_is_missing(errno))
		return errno;
	return 0;
}

static int
copy_name(const char *directory, sp_block_device *device)
{
	/* realpath made it absolute, so there is a slash */
	const char *name = strrchr(directory, '/') + 1;

	if (strlen(name) >= sizeof(device->name))
		return ENAMETOOLONG;
	strcpy(device->name, name);
	return 0;
}

/* Kernels before 4.7 do not have this attribute. */
static int
read_write_cache(const char *directory, sp_block_device *device)
{
	char		value[SP_ATTRIBUTE_SIZE];
	int			status = sp_read_attribute(directory, "queue/write_cache",
										   value, sizeof(value));

	if (strcmp(value, "write back") == 0 ||
		strcmp(value, "write through") == 0)
		strcpy(device->write_cache, value);
	return sp_is_missing(status) || status == EOVERFLOW ? 0 : status;
}

static void
set_unknown(sp_block_device *device)
{
	memset(device, 0, sizeof(*device));
	device->rotational = -1;
}

int
sp_read_block_device(const char *directory, sp_block_device *device)
{
	int			status;

	set_unknown(device);
	status = copy_name(directory, device);
	if (status == 0)
		status = sp_read_flag(directory, "queue/rotational",
							  &device->rotational);
	if (status == 0)
		status = read_write_cache(directory, device);
	if (status != 0)
		set_unknown(device);
	return status;
}

int
sp_block_device_find(const char *sysroot, const sp_mount *mount,
					 sp_block_device *device)
{
	char		directory[PATH_MAX];
	int			status;

	set_unknown(device);
	status = sp_find_by_mount(sysroot, mount, directory);
	if (status == 0)
		status = sp_ascend_to_whole_disk(directory);
	if (status == 0)
		status = sp_read_block_device(directory, device);
	return sp_is_missing(status) ? ENODEV : status;
}
