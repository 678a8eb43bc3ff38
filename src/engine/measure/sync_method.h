/*-------------------------------------------------------------------------
 *
 * sync_method.h
 *		The table of sync methods: how each one opens a file and how it makes
 *		what was written durable.
 *
 * This table is the only place that knows the difference between the values
 * of wal_sync_method; everything else loops over it.  It must not know the
 * server: which of these methods a server offers is the server's to say.
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
 * the writes and is NULL where the open flags already make each write wait.
 * sync returns 0, or -1 with errno set, like fsync(2).
 */
typedef struct sp_sync_method
{
	const char *name;			/* as in wal_sync_method */
	bool		supported;		/* does this platform have it? */
	bool		opens_synced;	/* open_*: the write itself waits */
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
