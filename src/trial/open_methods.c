/*-------------------------------------------------------------------------
 *
 * open_methods.c
 *		What a trial of open_datasync and open_sync needs to be safe.
 *
 * With open_*, XLogWrite() takes all WAL that it finds written as flushed.  What another
 * process has written with a buffered method, and not synced yet, is not.  So such a value
 * is tried only where WAL is never written without a sync, and the segments are synced
 * after each of its slots.
 *
 *-------------------------------------------------------------------------
 */
#include "trial/trial.h"

#include <fcntl.h>
#include <unistd.h>

#include "access/xlog.h"
#include "access/xlog_internal.h"
#include "miscadmin.h"
#include "storage/fd.h"

#include "compat.h"
#include "engine/measure/sync_method.h"

/* RemoveTempXlogFiles() removes it after a crash, and cleanup() knows its name. */
#define SCRATCH_FORMAT	XLOGDIR "/xlogtemp.%d.sync_probe.0"

#define GATE_US			200000L
#define GATE_POLL_US	1000L

bool
sp_trial_is_open_method(const char *setting, const char *value)
{
	const sp_sync_method *method = sp_sync_method_find(value);

	return strcmp(setting, "wal_sync_method") == 0 && method != NULL && method->opens_synced;
}

/*
 * Open and write a file as the server would do it with this method.  Where this fails,
 * the server would stop with a PANIC: up to 15 with wal_level = minimal these methods use
 * O_DIRECT, which not every file system has.
 */
void
sp_trial_write_scratch_file(const char *name)
{
	const sp_sync_method *method = sp_sync_method_find(name);
	int			flags = O_RDWR | O_CREAT | O_EXCL | PG_BINARY | method->open_flags;
	char	   *path = psprintf(SCRATCH_FORMAT, MyProcPid);
	char	   *buffer = palloc0(2 * XLOG_BLCKSZ);
	int			fd;
	bool		failed;
	int			save_errno;

	buffer = (char *) TYPEALIGN(XLOG_BLCKSZ, buffer);
	if (sp_wal_direct_io_open() || sp_wal_direct_io_all())
		flags |= sp_direct_io_flag;
	(void) unlink(path);
	fd = OpenTransientFile(path, flags);
	failed = fd < 0 || pg_pwrite(fd, buffer, XLOG_BLCKSZ, 0) != XLOG_BLCKSZ;
	save_errno = errno;
	if (fd >= 0)
		(void) CloseTransientFile(fd);
	(void) unlink(path);
	errno = save_errno;
	if (failed)
		ereport(ERROR,
				(sp_errcode_for_file_access(),
				 errmsg("the file system of pg_wal does not support %s: %m", name),
				 errdetail("A file could not be opened and written as the server would do it.")));
}

/* Watch for a while. */
bool
sp_trial_sees_unflushed_wal(void)
{
	for (long us = 0; us < GATE_US; us += GATE_POLL_US)
	{
		CHECK_FOR_INTERRUPTS();
		if (sp_wal_is_unflushed())
			return true;
		pg_usleep(GATE_POLL_US);
	}
	return false;
}

static void
sync_segment(const char *path)
{
	int			fd = OpenTransientFile(path, O_RDWR | PG_BINARY);

	/* a checkpoint may have removed it meanwhile */
	if (fd < 0 && errno == ENOENT)
		return;
	if (fd < 0 || fdatasync(fd) != 0)
		ereport(data_sync_elevel(ERROR),
				(errcode_for_file_access(), errmsg("could not fdatasync file \"%s\": %m", path)));
	(void) CloseTransientFile(fd);
}

/* All segments that a recovery would read. */
void
sp_trial_sync_segments(void)
{
	TimeLineID	timeline = GetWALInsertionTimeLine();
	XLogSegNo	segment;
	XLogSegNo	last;

	XLByteToSeg(GetRedoRecPtr(), segment, wal_segment_size);
	XLByteToSeg(GetXLogWriteRecPtr(), last, wal_segment_size);
	for (; segment <= last; segment++)
	{
		char		path[MAXPGPATH];

		XLogFilePath(path, timeline, segment, wal_segment_size);
		sync_segment(path);
	}
}
