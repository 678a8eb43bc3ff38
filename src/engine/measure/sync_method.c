/*-------------------------------------------------------------------------
 *
 * sync_method.c
 *		The table of sync methods.  All #ifdefs about them are here.
 *
 * The flags and calls are those of issue_xlog_fsync() and get_sync_bit() in
 * PostgreSQL's src/backend/access/transam/xlog.c.  They are called directly,
 * since the server's pg_fsync() does nothing while fsync is off.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/measure/sync_method.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "engine/text/text.h"
#include "engine/verdict/verdict.h"

#ifdef F_FULLFSYNC
static int
fsync_writethrough(int fd)
{
	return fcntl(fd, F_FULLFSYNC, 0) == -1 ? -1 : 0;
}
#define FSYNC_WRITETHROUGH true, false, false, 0, fsync_writethrough
#else
#define FSYNC_WRITETHROUGH false, false, false, 0, NULL
#endif

#ifdef O_DSYNC
#define OPEN_DATASYNC true, true, true, O_DSYNC, NULL
#else
#define OPEN_DATASYNC false, true, true, 0, NULL
#endif

/*
 * All systems of PostgreSQL have fdatasync(), and since 16 it is a value of wal_sync_method on
 * all of them.  POSIX has _POSIX_SYNCHRONIZED_IO to ask for it, but that denies it on FreeBSD,
 * OpenBSD and macOS, and nothing with musl.  macOS does not declare it; elsewhere a missing
 * declaration ends the compilation.
 */
#ifdef __APPLE__
extern int	fdatasync(int fd);
#endif

const sp_sync_method sp_sync_methods[] = {
	{"open_datasync", OPEN_DATASYNC},
	{"fdatasync", true, false, true, 0, fdatasync},
	{"fsync", true, false, false, 0, fsync},
	{"fsync_writethrough", FSYNC_WRITETHROUGH},
	{"open_sync", true, true, false, O_SYNC, NULL},
};

_Static_assert(lengthof(sp_sync_methods) <= SP_MAX_METHODS,
			   "SP_MAX_METHODS must hold all methods");

const size_t sp_sync_method_count = lengthof(sp_sync_methods);

const sp_sync_method *
sp_sync_method_find(const char *name)
{
	for (size_t i = 0; i < sp_sync_method_count; i++)
	{
		if (strcmp(sp_sync_methods[i].name, name) == 0)
			return &sp_sync_methods[i];
	}
	return NULL;
}

/* O_SYNC includes the bits of O_DSYNC on Linux; elsewhere the two may be the same. */
bool
sp_fua_may_replace_flush(const sp_sync_method *method, bool direct_io)
{
#ifdef O_DSYNC
	return direct_io && method != NULL && (method->open_flags & (O_SYNC | O_DSYNC)) == O_DSYNC;
#else
	return direct_io && method != NULL && method->opens_synced;
#endif
}
