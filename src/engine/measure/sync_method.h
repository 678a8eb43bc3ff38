/*-------------------------------------------------------------------------
 *
 * sync_method.h
 *		The table of sync methods: how each one opens a file and makes writes
 *		durable.
 *
 * Only this table knows how the values of wal_sync_method differ; all other
 * code loops over it.  It must not know which of these methods a server offers:
 * the caller passes that.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_SYNC_METHOD_H
#define SP_SYNC_METHOD_H

#include <stdbool.h>
#include <stddef.h>

/* One value of wal_sync_method. */
typedef struct sp_sync_method
{
	const char *name;			/* as in wal_sync_method */
	bool		supported;		/* does this platform have it? */
	bool		opens_synced;	/* open_*: the write itself syncs */
	bool		data_only;		/* not the file's times */
	int			open_flags;		/* added to O_RDWR */
	int			(*sync) (int fd);	/* after the writes, like fsync(2); NULL: each write syncs */
} sp_sync_method;

/* In the order of preference that pg_test_fsync prints. */
extern const sp_sync_method sp_sync_methods[];
extern const size_t sp_sync_method_count;

/*
 * May a write that bypasses the device's cache (FUA) make a sync of this method durable,
 * instead of a flush?
 *
 * On Linux this holds only for O_DIRECT with O_DSYNC (fs/iomap/direct-io.c): a FUA write
 * covers the data and nothing else.  With O_SYNC the kernel does not try it, since O_SYNC
 * also asks for the metadata: it calls the file system's fsync, which flushes.  Buffered
 * data are written back without FUA, and then flushed by fsync.  A journal may write its
 * commit record by FUA, but flushes the data before it.
 */
extern bool sp_fua_may_replace_flush(const sp_sync_method *method, bool direct_io);

/* The method of that name, or NULL. */
extern const sp_sync_method *sp_sync_method_find(const char *name);

#endif							/* SP_SYNC_METHOD_H */
