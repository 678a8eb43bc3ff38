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

/*
 * One value of wal_sync_method.
 *
 * open_flags are added to O_RDWR when a file is opened; sync is called after
 * the writes; it is NULL if the open flags make each write sync. sync returns
 * 0, or -1 with errno set, like fsync(2).
 */
typedef struct sp_sync_method
{
	const char *name;			/* as in wal_sync_method */
	bool		supported;		/* does this platform have it? */
	bool		opens_synced;	/* open_*: the write itself syncs */
	int			open_flags;
	int			(*sync) (int fd);
} sp_sync_method;

/* In the order of preference that pg_test_fsync prints. */
extern const sp_sync_method sp_sync_methods[];
extern const size_t sp_sync_method_count;

/* The flag for direct I/O, 0 where this platform has none. */
extern const int sp_direct_io_flag;

/* The method of that name, or NULL. */
extern const sp_sync_method *sp_sync_method_find(const char *name);

#endif							/* SP_SYNC_METHOD_H */
