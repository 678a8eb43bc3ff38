/*-------------------------------------------------------------------------
 *
 * disk.c
 *	  The attributes of one disk in sysfs.
 *
 * It must not: include a server header, keep state between calls, allocate,
 * print, exit, write.
 *
 *-------------------------------------------------------------------------
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "engine/storage/disks_internal.h"

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
	do
		fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd < 0 && errno == EINTR);
	if (fd < 0)
		return false;
	/* sysfs returns a whole attribute in one read */
	do
		length = read(fd, value, size);
	while (length < 0 && errno == EINTR);
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
	for (; *words != NULL; words++)
	{
		if (strncasecmp(text, *words, strlen(*words)) == 0)
			return true;
	}
	return false;
}

static bool
is_one_of(const char *text, const char *const *words)
{
	for (; *words != NULL; words++)
	{
		if (strcmp(text, *words) == 0)
			return true;
	}
	return false;
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
 * Does a hypervisor or this machine make it of something else?  Then its counters tell
 * what reaches the virtual disk, and no more.  Is it a drive of a known maker?  That
 * matters where a disk says that it rotates, as virtual disks and RAID controllers often
 * do.  Neither is known of most RAID controllers and of NVMe: -1.
 */
static int
read_virtual(const char *directory, const char *name)
{
	char		vendor[SP_ATTRIBUTE_SIZE];
	char		model[SP_ATTRIBUTE_SIZE];
	bool		is_scsi = strncmp(name, "sd", 2) == 0;

	if (begins_with_any(name, virtual_drivers))
		return 1;
	if (!is_scsi && strncmp(name, "nvme", 4) != 0)
		return -1;
	read_padded(directory, "device/vendor", vendor);
	read_padded(directory, "device/model", model);
	if (is_scsi && is_one_of(vendor, virtual_makers))
		return 1;
	if ((!is_scsi || vendor[0] == '\0' || strcmp(vendor, "ATA") == 0) &&
		begins_with_any(model, virtual_models))
		return 1;
	return is_scsi && model[0] != '\0' && is_one_of(vendor, drive_makers) ? 0 : -1;
}

/* ------------------------------------------------------------------ the disk */

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
	disk->counts_flushes = has_queues(directory);
	disk->member = -1;
	disk->stat_fd = -1;
	return 0;
}
