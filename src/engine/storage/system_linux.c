/*-------------------------------------------------------------------------
 *
 * system_linux.c
 *	  See system_internal.h: Linux, with any C library.
 *
 * It must not: include a server header, or open anything but /proc/self/mountinfo.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/storage/system_internal.h"

#ifdef __linux__

#include <sys/sysmacros.h>

int
sp_system_mounts(sp_mount_table **table)
{
	return sp_mountinfo_read("/proc/self/mountinfo", table);
}

void
sp_system_device_number(dev_t device, unsigned *dev_major, unsigned *dev_minor)
{
	*dev_major = major(device);
	*dev_minor = minor(device);
}

#endif							/* __linux__ */
