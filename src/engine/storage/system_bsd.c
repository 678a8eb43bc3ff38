/*-------------------------------------------------------------------------
 *
 * system_bsd.c
 *	  See system_internal.h: FreeBSD and macOS, which list mounts by getfsstat().
 *
 * It must not: include a server header, or ask a file system, which may hang: the kernel
 * answers from what it has.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/storage/system_internal.h"

#if defined(__FreeBSD__) || defined(__APPLE__)

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <sys/mount.h>

#include "engine/storage/statfs_internal.h"
#include "engine/text/units.h"

/* As mount(8) of these systems prints them.  Each has some that the other one lacks. */
static const sp_mount_flag flags[] = {
#ifdef MNT_ASYNC
	{MNT_ASYNC, "async"},
#endif
#ifdef MNT_SYNCHRONOUS
	{MNT_SYNCHRONOUS, "sync"},
#endif
#ifdef MNT_LOCAL
	{MNT_LOCAL, "local"},
#endif
#ifdef MNT_NOATIME
	{MNT_NOATIME, "noatime"},
#endif
#ifdef MNT_SOFTDEP
	{MNT_SOFTDEP, "soft-updates"},
#endif
#ifdef MNT_SUJ
	{MNT_SUJ, "journaled soft-updates"},
#endif
#ifdef MNT_GJOURNAL
	{MNT_GJOURNAL, "gjournal"},
#endif
#ifdef MNT_JOURNALED
	{MNT_JOURNALED, "journaled"},
#endif
#ifdef MNT_NOCLUSTERR
	{MNT_NOCLUSTERR, "noclusterr"},
#endif
#ifdef MNT_NOCLUSTERW
	{MNT_NOCLUSTERW, "noclusterw"},
#endif
#ifdef MNT_REMOVABLE
	{MNT_REMOVABLE, "removable"},
#endif
};

static int
add_records(sp_mount_table *table, const struct statfs *records, int count)
{
	for (int i = 0; i < count; i++)
	{
		sp_statfs_record record = {
			.fstype = records[i].f_fstypename,
			.mount_point = records[i].f_mntonname,
			.source = records[i].f_mntfromname,
			.read_only = (records[i].f_flags & MNT_RDONLY) != 0,
			.flags = records[i].f_flags,
		};
		int			status;

		memcpy(record.fsid, &records[i].f_fsid, sizeof(record.fsid));
		status = sp_mount_table_add_record(table, &record, flags, lengthof(flags));
		if (status != 0)
			return status;
	}
	return 0;
}

/* A file system may be mounted between two calls: ask again while the room is full. */
static int
get_records(struct statfs **records, int *count)
{
	int			room = getfsstat(NULL, 0, MNT_NOWAIT);

	for (*records = NULL; room >= 0;)
	{
		struct statfs *larger = realloc(*records, (size_t) ++room * sizeof(struct statfs));

		if (larger == NULL)
			return ENOMEM;
		*records = larger;
		*count = getfsstat(larger, (long) ((size_t) room * sizeof(struct statfs)), MNT_NOWAIT);
		if (*count >= 0 && *count < room)
			return 0;
		room = *count < 0 ? -1 : room * 2;
	}
	return errno;
}

int
sp_system_mounts(sp_mount_table **table)
{
	struct statfs *records;
	int			count;
	int			status = get_records(&records, &count);

	*table = NULL;
	if (status == 0)
	{
		*table = calloc(1, sizeof(sp_mount_table));
		status = *table == NULL ? ENOMEM : add_records(*table, records, count);
	}
	free(records);
	if (status != 0)
	{
		sp_mount_table_free(*table);
		*table = NULL;
	}
	return status;
}

void
sp_system_device_number(dev_t device, unsigned *dev_major, unsigned *dev_minor)
{
	*dev_major = (unsigned) major(device);
	*dev_minor = (unsigned) minor(device);
}

#endif							/* FreeBSD, macOS */
