/*-------------------------------------------------------------------------
 *
 * wal_segments.c
 *		Files of WAL: try a method on a new one, and sync those that were mixed.
 *
 * A process with open_sync or open_datasync takes WAL that others have written without a
 * sync as flushed (XLogWrite()).  If such a process is used beside others, the segments
 * are synced afterwards, so that nothing that counts as flushed stays in the page cache.
 *
 * It must not: write to a segment.
 *
 *-------------------------------------------------------------------------
 */
#include "live/live.h"

#include <fcntl.h>
#include <unistd.h>

#include "access/xlog.h"
#include "access/xlog_internal.h"
#include "catalog/pg_control.h"
#include "common/controldata_utils.h"
#include "common/file_perm.h"
#include "miscadmin.h"
#include "storage/fd.h"

#include "compat.h"

/* The server sweeps this name after a crash, and a probe that of a dead process. */
#define SCRATCH_FILE_FORMAT	XLOGDIR "/xlogtemp.%d.sync_probe.%d"
#define SCRATCH_FILE_NUMBER	99

/*
 * Not GetRedoRecPtr(): while a checkpoint runs, this is already its redo pointer, and a
 * crash would still begin at that of the last one that is complete.
 */
void
sp_mixed_wal_begin(sp_mixed_wal *mixed)
{
	bool		crc_ok;
	ControlFileData *control = get_controlfile(DataDir, &crc_ok);

	if (!crc_ok)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("calculated CRC checksum does not match value stored in file")));
	XLByteToSeg(control->checkPointCopy.redo, mixed->first_segment, wal_segment_size);
	mixed->timeline = GetWALInsertionTimeLine();
	mixed->owed = true;
	pfree(control);
}

static void
sync_segment(const sp_mixed_wal *mixed, XLogSegNo segment)
{
	char		path[MAXPGPATH];
	int			fd;

	XLogFilePath(path, mixed->timeline, segment, wal_segment_size);
	fd = BasicOpenFile(path, O_RDWR | PG_BINARY);
	if (fd < 0)
	{
		/* a checkpoint has removed it since */
		if (errno != ENOENT)
			ereport(WARNING,
					(sp_errcode_for_file_access(),
					 errmsg("could not open file \"%s\": %m", path),
					 errdetail("WAL in it may not be durable until the next checkpoint."),
					 errhint("Execute CHECKPOINT.")));
		return;
	}
	/* not repeated: after an error, a second call may succeed although data are lost */
	if (fdatasync(fd) != 0)
		ereport(PANIC,
				(sp_errcode_for_file_access(),
				 errmsg("could not fdatasync file \"%s\": %m", path)));
	close(fd);
}

void
sp_mixed_wal_sync(sp_mixed_wal *mixed)
{
	XLogSegNo	last;

	if (!mixed->owed)
		return;
	XLByteToSeg(GetXLogInsertRecPtr(), last, wal_segment_size);
	for (XLogSegNo segment = mixed->first_segment; segment <= last; segment++)
		sync_segment(mixed, segment);
	mixed->owed = false;
}

/* ------------------------------------------------------- try a method first */

/* Returns -1 with errno, or 0. */
static int
write_block(int fd, int flags, const char *path, const char **call)
{
	char		memory[2 * XLOG_BLCKSZ];
	char	   *block = (char *) TYPEALIGN(XLOG_BLCKSZ, memory);
	int			result = -1;

	memset(block, 0, XLOG_BLCKSZ);
	*call = "write";
	if (pwrite(fd, block, XLOG_BLCKSZ, 0) != XLOG_BLCKSZ)
		return -1;
	*call = "open";
	fd = sp_openat(AT_FDCWD, path, flags);
	if (fd < 0)
		return -1;
	*call = "write";
	if (pwrite(fd, block, XLOG_BLCKSZ, 0) == XLOG_BLCKSZ)
		result = 0;
	if (close(fd) != 0)
		result = -1;
	return result;
}

sp_status
sp_wal_try_method(const sp_sync_method *method, const char **call)
{
	bool		direct = sp_wal_direct_io_all() ||
		(method->opens_synced && sp_wal_direct_io_open());
	int			flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | method->open_flags |
		(direct ? sp_direct_io_flag : 0);
	char		path[MAXPGPATH];
	int			result;
	int			saved_errno;
	int			fd;

	snprintf(path, sizeof(path), SCRATCH_FILE_FORMAT, MyProcPid, SCRATCH_FILE_NUMBER);
	*call = "create";
	fd = openat(AT_FDCWD, path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
				pg_file_create_mode);
	if (fd < 0)
		return SP_ERROR;
	result = write_block(fd, flags, path, call);
	saved_errno = errno;
	close(fd);
	(void) unlinkat(AT_FDCWD, path, 0);
	errno = saved_errno;
	if (result == 0)
		return SP_OK;
	return direct && errno == EINVAL ? SP_NO_DIRECT_IO : SP_ERROR;
}
