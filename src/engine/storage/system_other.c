/*-------------------------------------------------------------------------
 *
 * system_other.c
 *	  See system_internal.h: systems of which nothing is known.
 *
 * It must not: include a server header, or guess.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/storage/system_internal.h"

#if !defined(__linux__) && !defined(__FreeBSD__) && !defined(__APPLE__)

#include <errno.h>

int
sp_system_mounts(sp_mount_table **table)
{
	*table = NULL;
	return ENOTSUP;
}

/* Only Linux has a file that is named by the number. */
void
sp_system_device_number(dev_t device, unsigned *dev_major, unsigned *dev_minor)
{
	(void) device;
	*dev_major = *dev_minor = 0;
}

#endif
