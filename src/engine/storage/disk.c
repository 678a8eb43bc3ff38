/*-------------------------------------------------------------------------
 *
 * disk.c
 *	  One disk in sysfs: its attributes, and how it is found.
 *
 *-------------------------------------------------------------------------
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/sysmacros.h>
#endif

#include "engine/storage/disks_internal.h"

/* --------------------------------------------------------------- attributes */

bool
sp_read_attribute(const char *directory, const char *attribute, char *value,
				  size_t size)
{
	char		path[PATH_MAX];
	ssize_t		length;
	int			fd;

	value[0] = '\0';
	if (sp_build_path(path, "%s/%s", directory, attribute) != 0)
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	/* sysfs returns a whole attribute in one read */
	length = read(fd, value, size);
	close(fd);
	if (length < 0 || (size_t) length == size)
	{
		value[0] = '\0';
		return false;
	}
	if (length > 0 && value[length - 1] == '\n')
		length--;
	value[length] = '\0';
	return true;
}

/* "0" or "1"; -1 if it is missing or anything else. */
static int
read_flag(const char *directory, const char *attribute)
{
	char		value[SP_ATTRIBUTE_SIZE];

	(void) sp_read_attribute(directory, attribute, value, sizeof(value));
	return strcmp(value, "1") == 0 ? 1 : strcmp(value, "0") == 0 ? 0 : -1;
}

/* ------------------------------------------------- is it a drive, or virtual? */

/*
 * SCSI vendors of drives, in full.  Case matters: RAID controllers call themselves
 * "Intel".  Controllers are not listed, since their own cache is unknown.
 */
static const char *const drive_makers[] = {
	"ATA", "SEAGATE", "HGST", "HITACHI", "WDC", "TOSHIBA", "FUJITSU",
	"SAMSUNG", "INTEL", "KIOXIA", "MICRON", NULL
};

/* Drivers of virtual disks: virtio, Xen, and files of this machine or of another one. */
static const char *const virtual_drivers[] = {"vd", "xvd", "loop", "nbd", "rbd", NULL};

/* Vendors of virtual SCSI disks, in full. */
static const char *const virtual_makers[] = {"QEMU", "VMware", "Msft", "VBOX", "Google", NULL};

/*
 * The models of virtual drives behind the vendor "ATA", and of NVMe that hypervisors
 * make, begin with one of these.  Local disks of a cloud are handed through as they are.
 */
static const char *const virtual_models[] = {
	"QEMU", "VBOX", "VMware", "Virtual", "ORCL-VBOX", "Amazon Elastic Block Store",
	"nvme_card-pd", "MSFT NVMe Accelerator", "Alibaba Cloud Elastic Block Storage", NULL
};

static bool
begins_with_any(const char *text, const char *const *words)
{
	while (*words != NULL && strncasecmp(text, *words, strlen(*words)) != 0)
		words++;
	return *words != NULL;
}

bool
sp_is_one_of(const char *text, const char *const *words)
{
	while (*words != NULL && strcmp(text, *words) != 0)
		words++;
	return *words != NULL;
}

/* Attributes of a fixed width are padded with blanks. */
static void
read_padded(const char *directory, const char *attribute, char *value)
{
	(void) sp_read_attribute(directory, attribute, value, SP_ATTRIBUTE_SIZE);
	for (size_t length = strlen(value); length > 0 && value[length - 1] == ' ';)
		value[--length] = '\0';
}

/*
 * Does a hypervisor or this machine make it of something else?  Then its counters show
 * what reaches the virtual disk, and no more.  Is it a drive of a known maker?  That
 * matters where a disk reports that it rotates, as virtual disks and RAID controllers often
 * do.  Neither is known of most RAID controllers and of NVMe: -1.
 */
static int
read_virtual(const char *directory, const char *name)
{
	char		vendor[SP_ATTRIBUTE_SIZE];
	char		model[SP_ATTRIBUTE_SIZE];
	bool		is_scsi = sp_begins_with(name, "sd");

	if (begins_with_any(name, virtual_drivers))
		return 1;
	if (!is_scsi && !sp_begins_with(name, "nvme"))
		return -1;
	read_padded(directory, "device/vendor", vendor);
	read_padded(directory, "device/model", model);
	if (is_scsi && sp_is_one_of(vendor, virtual_makers))
		return 1;
	if ((!is_scsi || vendor[0] == '\0' || strcmp(vendor, "ATA") == 0) &&
		begins_with_any(model, virtual_models))
		return 1;
	return is_scsi && model[0] != '\0' && sp_is_one_of(vendor, drive_makers) ? 0 : -1;
}

/* ------------------------------------------------------------------ the disk */

/*
 * The kernel counts flushes in the queues of its block layer (blk-mq).  A
 * driver that takes each bio itself counts reads and writes at most.
 */
bool
sp_has_queues(const char *directory)
{
	char		path[PATH_MAX];

	return sp_build_path(path, "%s/mq", directory) == 0 && access(path, F_OK) == 0;
}

int
sp_disk_read(const char *directory, sp_disk *disk)
{
	/* realpath() made it absolute, so there is a slash */
	const char *name = strrchr(directory, '/') + 1;
	char		cache[SP_ATTRIBUTE_SIZE];

	memset(disk, 0, sizeof(*disk));
	if (strlen(name) >= sizeof(disk->name))
		return ENAMETOOLONG;
	strcpy(disk->name, name);
	(void) sp_read_attribute(directory, "queue/write_cache", cache, sizeof(cache));
	if (strcmp(cache, "write back") == 0 || strcmp(cache, "write through") == 0)
		strcpy(disk->write_cache, cache);
	disk->rotational = read_flag(directory, "queue/rotational");
	disk->fua = read_flag(directory, "queue/fua");
	disk->is_virtual = read_virtual(directory, name);
	disk->counts_flushes_only = read_flag(directory, "queue/iostats") == 0;
	disk->counts_flushes = sp_has_queues(directory);
	disk->member = -1;
	disk->stat_fd = -1;
	return 0;
}

/* ------------------------------------------------- where it is in sysfs */

static int
find_link(const char *sysroot, const char *folder, const char *name, char *directory)
{
	char		path[PATH_MAX];
	int			status = sp_build_path(path, "%s/sys/%s/%s", sysroot, folder, name);

	if (status != 0)
		return status;
	return realpath(path, directory) == NULL ? errno : 0;
}

static int
find_by_number(const char *sysroot, unsigned dev_major, unsigned dev_minor, char *directory)
{
	char		name[32];

	snprintf(name, sizeof(name), "%u:%u", dev_major, dev_minor);
	return find_link(sysroot, "dev/block", name, directory);
}

/* /dev/mapper/NAME: sysfs knows it as dm-N and keeps NAME in an attribute. */
static int
find_by_mapper_name(const char *sysroot, const char *mapper_name, char *directory)
{
	char		pattern[PATH_MAX];
	char		name[SP_ATTRIBUTE_SIZE];
	glob_t		found;
	int			status = sp_build_path(pattern, "%s/sys/class/block/dm-*", sysroot);

	if (status != 0 || mapper_name[0] == '\0' || glob(pattern, 0, NULL, &found) != 0)
		return ENODEV;
	status = ENODEV;
	for (size_t i = 0; i < found.gl_pathc && status == ENODEV; i++)
	{
		if (sp_read_attribute(found.gl_pathv[i], "dm/name", name, sizeof(name)) &&
			strcmp(name, mapper_name) == 0)
			status = realpath(found.gl_pathv[i], directory) == NULL ? errno : 0;
	}
	globfree(&found);
	return status;
}

/*
 * By the text /dev/NAME or /dev/mapper/NAME, whether there is such a node or not.  A name
 * from outside must be a single component of a path, and fit sp_disk.
 */
static int
find_by_text(const char *sysroot, const char *path, char *directory)
{
	static const char *const no_names[] = {"", ".", "..", NULL};
	const char *name;

	if (sp_begins_with(path, "/dev/mapper/"))
		return find_by_mapper_name(sysroot, path + strlen("/dev/mapper/"), directory);
	if (!sp_begins_with(path, "/dev/"))
		return ENODEV;
	name = path + strlen("/dev/");
	if (sp_is_one_of(name, no_names) || strchr(name, '/') != NULL ||
		strlen(name) >= sizeof(((sp_disk *) NULL)->name))
		return ENODEV;
	return find_link(sysroot, "class/block", name, directory);
}

/* A device node has the number; without nodes (in a container) the text is used. */
int
sp_find_by_path(const char *sysroot, const char *path, char *directory)
{
	char		node[PATH_MAX];
	struct stat st;
	int			status = sp_build_path(node, "%s%s", sysroot, path);

	if (status != 0)
		return status;
	if (stat(node, &st) == 0 && S_ISBLK(st.st_mode))
		return find_by_number(sysroot, major(st.st_rdev), minor(st.st_rdev), directory);
	return find_by_text(sysroot, path, directory);
}

int
sp_find_by_mount(const char *sysroot, const sp_mount *mount, char *directory)
{
	static const char *const by_source[] = {"btrfs", "bcachefs", NULL};

	/* the kernel uses major 0 for file systems that may have several devices, or none */
	if (mount->dev_major != 0)
		return find_by_number(sysroot, mount->dev_major, mount->dev_minor, directory);
	/* the source of others is free text: of a tmpfs or in FUSE it may be given as /dev/sda */
	return sp_is_one_of(mount->fstype, by_source) ?
		find_by_text(sysroot, mount->source, directory) : ENODEV;
}
