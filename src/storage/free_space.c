/*-------------------------------------------------------------------------
 *
 * free_space.c
 *		The reserve of free space that a call leaves.
 *
 * A full pg_wal stops the cluster, and a full tablespace stops its users.  So a call leaves a
 * reserve.  It is checked before the first write and while the call runs, since other
 * processes write, too.
 *
 * It must not: be slow.  Usually a check is one statvfs().
 *
 *-------------------------------------------------------------------------
 */
#include "storage/storage.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "access/xlog_internal.h"
#include "storage/fd.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"

#include "common/common.h"
#include "engine/text/text.h"
#include "compat.h"

int			sp_reserve_percent = 5;

/* The server must be able to create new segments even if WAL exceeds max_wal_size. */
#define MIN_FREE_SEGMENTS	4

/* Time between two checks of pg_wal while a workload runs. */
#define WAL_CHECK_MS		100

/*
 * The bytes that WAL segments occupy, in blocks.  A compressing file system stores a
 * segment of zeros in no space, but needs that space later.  A directory that cannot
 * be read counts as empty, which makes the reserve larger.
 */
static int64
wal_bytes(const char *path, int directory_fd)
{
	DIR		   *directory = AllocateDir(path);
	struct dirent *entry;
	int64		bytes = 0;

	while ((entry = ReadDirExtended(directory, path, DEBUG1)) != NULL)
	{
		struct stat status;

		if (IsXLogFileName(entry->d_name) &&
			fstatat(directory_fd, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
			S_ISREG(status.st_mode))
			bytes += Min((int64) status.st_size, (int64) status.st_blocks * 512);
	}
	FreeDir(directory);
	return bytes;
}

/*
 * The available bytes in the directory of a location, and the reserve.  In pg_wal, WAL
 * must be able to grow to max_wal_size.  Existing WAL counts towards that; it is summed
 * only if the space would not suffice otherwise.
 */
int64
sp_location_space(const sp_location *location, int directory_fd, int64 wanted, int64 *reserve)
{
	int64		max_wal_size = (int64) max_wal_size_mb * 1024 * 1024;
	struct statvfs space;
	int64		available;
	int64		share;

	if (fstatvfs(directory_fd, &space) != 0)
		ereport(ERROR,
				(sp_errcode_for_file_access(),
				 errmsg("could not determine free space of \"%s\": %m", location->directory)));
	available = (int64) space.f_bavail * space.f_frsize;
	*reserve = share = (int64) space.f_blocks * space.f_frsize / 100 * sp_reserve_percent;
	if (OidIsValid(location->tablespace))
		return available;
	share = Max(share, (int64) MIN_FREE_SEGMENTS * wal_segment_size);
	*reserve = Max(share, max_wal_size);
	if (available < wanted + *reserve)
		*reserve = Max(share, max_wal_size - wal_bytes(location->directory, directory_fd));
	return available;
}

/* The directory of a location, for these checks.  It ends with the transaction at the latest. */
int
sp_location_open(const sp_location *location)
{
	int			fd = OpenTransientFile(location->directory, O_RDONLY | O_DIRECTORY);

	if (fd < 0)
		ereport(ERROR,
				(sp_errcode_for_file_access(),
				 errmsg("could not open directory \"%s\": %m", location->directory)));
	return fd;
}

char *
sp_pretty_bytes(int64 bytes)
{
	return text_to_cstring(DatumGetTextPP(DirectFunctionCall1(pg_size_pretty,
															  Int64GetDatum(bytes))));
}

void
sp_space_error(const sp_location *location, int64 available, int64 reserve, int64 wanted)
{
	ereport(ERROR,
			(errcode(ERRCODE_DISK_FULL),
			 errmsg("not enough space at location \"%s\"", NameStr(location->name)),
			 wanted == 0 ?
			 errdetail("%s is available, less than the reserve of %s.",
					   sp_pretty_bytes(available), sp_pretty_bytes(reserve)) :
			 errdetail("Needs %s plus a reserve of %s; %s is available.", sp_pretty_bytes(wanted),
					   sp_pretty_bytes(reserve), sp_pretty_bytes(available)),
			 OidIsValid(location->tablespace) ?
			 errhint("Free some space, or lower pg_sync_probe.reserve_percent.") :
			 errhint("Free some space: check for inactive replication slots and failing archiving. WAL must be able to grow to max_wal_size, and pg_sync_probe.reserve_percent of the file system must stay free.")));
}

/*
 * Throw an error if the reserve, and so many bytes more, are no longer free.  Called while
 * a call runs.  Returns what is free above the reserve.
 */
int64
sp_check_reserve(const sp_location *location, int directory_fd, int64 wanted)
{
	int64		reserve;
	int64		available = sp_location_space(location, directory_fd, wanted, &reserve);

	if (available < reserve + wanted)
		sp_space_error(location, available, reserve, wanted);
	return available - reserve;
}

/*
 * For a workload, whose WAL a replication slot or the archiver may hold back: throw an error if
 * the reserve of pg_wal is no longer free.  May be called at any rate.
 */
void
sp_check_wal_reserve(void)
{
	static int64 checked_ns = 0;	/* 0: never */
	sp_location pg_wal;
	int			fd;

	if (checked_ns != 0 && sp_monotonic_ns() - checked_ns < WAL_CHECK_MS * SP_NS_PER_MS)
		return;
	sp_location_find("pg_wal", &pg_wal);
	fd = sp_location_open(&pg_wal);
	(void) sp_check_reserve(&pg_wal, fd, 0);
	(void) CloseTransientFile(fd);
	checked_ns = sp_monotonic_ns();
}
