/*-------------------------------------------------------------------------
 *
 * disk_kind.c
 *	  Is a disk a drive of a known maker, or a virtual one?
 *
 * It must not: include a server header, keep state between calls, allocate,
 * print, exit, write.
 *
 * Neither is known of most RAID controllers and of NVMe, so both answers can be no.
 *
 *-------------------------------------------------------------------------
 */
#include <string.h>
#include <strings.h>

#include "engine/storage/disks_internal.h"

/*
 * SCSI vendors of drives, in full.  Case matters: RAID controllers call themselves
 * "Intel".  Controllers are not listed, since their own cache is unknown.
 */
static const char *const drive_makers[] = {
	"ATA", "SEAGATE", "HGST", "HITACHI", "WDC", "TOSHIBA", "FUJITSU",
	"SAMSUNG", "INTEL", "KIOXIA", "MICRON",
};

/* Drivers of virtual disks: virtio, Xen, and files of this machine or of another one. */
static const char *const virtual_drivers[] = {"vd", "xvd", "loop", "nbd", "rbd"};

/* Vendors of virtual SCSI disks, in full. */
static const char *const virtual_makers[] = {"QEMU", "VMware", "Msft", "VBOX", "Google"};

/*
 * The models of virtual drives behind the vendor "ATA", and of NVMe that hypervisors
 * make, begin with one of these.  Local disks of a cloud are handed through as they are.
 */
static const char *const virtual_models[] = {
	"QEMU", "VBOX", "VMware", "Virtual", "ORCL-VBOX", "Amazon Elastic Block Store",
	"nvme_card-pd", "MSFT NVMe Accelerator", "Alibaba Cloud Elastic Block Storage",
};

static bool
begins_with_any(const char *text, const char *const words[], size_t n)
{
	for (size_t i = 0; i < n; i++)
	{
		if (strncasecmp(text, words[i], strlen(words[i])) == 0)
			return true;
	}
	return false;
}

/* Attributes of a fixed width are padded with blanks. */
static bool
read_trimmed(const char *directory, const char *attribute, char *value)
{
	size_t		blanks;
	size_t		length;

	if (sp_read_attribute(directory, attribute, value,
						  SP_ATTRIBUTE_SIZE) != 0)
		return false;
	blanks = strspn(value, " ");
	length = strlen(value + blanks);
	while (length > 0 && value[blanks + length - 1] == ' ')
		length--;
	memmove(value, value + blanks, length);
	value[length] = '\0';
	return length > 0;
}

/*
 * Is it a physical drive?  This matters only where a disk says that it rotates, as
 * virtual disks and RAID controllers often do.  So only SCSI disks are asked: NVMe
 * does not rotate, and virtio and Xen disks have no vendor.
 */
bool
sp_is_physical(const char *directory, const char *name)
{
	char		vendor[SP_ATTRIBUTE_SIZE];
	char		model[SP_ATTRIBUTE_SIZE];

	if (strncmp(name, "sd", 2) != 0 ||
		!read_trimmed(directory, "device/vendor", vendor) ||
		!read_trimmed(directory, "device/model", model))
		return false;
	if (begins_with_any(model, virtual_models, lengthof(virtual_models)))
		return false;
	for (size_t i = 0; i < lengthof(drive_makers); i++)
	{
		if (strcmp(vendor, drive_makers[i]) == 0)
			return true;
	}
	return false;
}

/*
 * Does a hypervisor or this machine make it of something else?  Then its counters tell
 * what reaches the virtual disk, and no more.
 */
bool
sp_is_virtual(const char *directory, const char *name)
{
	char		vendor[SP_ATTRIBUTE_SIZE];
	char		model[SP_ATTRIBUTE_SIZE];

	if (begins_with_any(name, virtual_drivers, lengthof(virtual_drivers)))
		return true;
	if (strncmp(name, "sd", 2) == 0 && read_trimmed(directory, "device/vendor", vendor))
	{
		for (size_t i = 0; i < lengthof(virtual_makers); i++)
		{
			if (strcmp(vendor, virtual_makers[i]) == 0)
				return true;
		}
		if (strcmp(vendor, "ATA") != 0)
			return false;
	}
	return (strncmp(name, "sd", 2) == 0 || strncmp(name, "nvme", 4) == 0) &&
		read_trimmed(directory, "device/model", model) &&
		begins_with_any(model, virtual_models, lengthof(virtual_models));
}
