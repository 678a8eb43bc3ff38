/*-------------------------------------------------------------------------
 *
 * compat.h
 *		Differences between server versions, each behind one name.
 *
 * No other file of src/ may test PG_VERSION_NUM.  Names follow the newest server.
 * PostgreSQL 15 is the oldest supported version.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_COMPAT_H
#define SP_COMPAT_H

#include "access/transam.h"
#include "access/xlog.h"
#include "port/pg_iovec.h"
#include "storage/fd.h"
#include "utils/guc.h"
#include "utils/wait_event.h"
#if PG_VERSION_NUM >= 160000
#include "varatt.h"				/* part of postgres.h before */
#endif

#if PG_VERSION_NUM < 150000
#error "pg_sync_probe needs PostgreSQL 15 or later"
#endif

/*
 * Does this server open WAL with O_DIRECT?  Up to 15 it does so with the open_*
 * methods while no other process reads WAL (wal_level = minimal).  Since 16
 * (d4e71df6d75) debug_io_direct decides, for all methods.
 */
#if PG_VERSION_NUM >= 160000
#define SP_WAL_DIRECT_IO_OPEN false
#define SP_WAL_DIRECT_IO_ALL ((io_direct_flags & IO_DIRECT_WAL) != 0)
#else
#define SP_WAL_DIRECT_IO_OPEN (!XLogIsNeeded())
#define SP_WAL_DIRECT_IO_ALL false
#endif

/*
 * The bytes that the server writes with one system call when it fills a new segment
 * with zeros, see XLogFileInitInternal(): PG_IOV_MAX pages of WAL, since 16 PG_IOV_MAX
 * blocks (pg_pwrite_zeros()).  PostgreSQL 18 increased PG_IOV_MAX (06fb5612c97).
 */
#if PG_VERSION_NUM >= 160000
#define SP_WAL_INIT_WRITE (PG_IOV_MAX * BLCKSZ)
#else
#define SP_WAL_INIT_WRITE (PG_IOV_MAX * XLOG_BLCKSZ)
#endif

/*
 * The server maps EDQUOT, EINTR and others to XX000; a used-up quota is reported as 53100
 * instead, all others as 58030.  This must come first in ereport(), since later calls may
 * change errno.
 */
static inline int
sp_errcode_for_file_access(void)
{
	if (errno == EDQUOT)
		return errcode(ERRCODE_DISK_FULL);
	(void) errcode_for_file_access();
	return geterrcode() == ERRCODE_INTERNAL_ERROR ? errcode(ERRCODE_IO_ERROR) : 0;
}

/* The same as an error context callback, around functions of the server that access files. */
static inline void
sp_set_errcode_for_file_access(void *arg pg_attribute_unused())
{
	if (geterrcode() == ERRCODE_INTERNAL_ERROR)
		(void) sp_errcode_for_file_access();
}

/*
 * One row of float8: bytes of WAL, its syncs and writes, and since when the bytes and the
 * others are counted, in seconds since 1970.  The counts of writes and syncs moved to
 * pg_stat_io in PostgreSQL 18.
 *
 * A walreceiver syncs WAL that pg_stat_wal does not count, since others inserted it.  From
 * 18 on, its syncs are counted apart: on a standby the row is about them alone, with the
 * bytes that the walreceiver wrote, elsewhere it is about all others.
 */
#if PG_VERSION_NUM >= 180000
#define SP_WAL_STATISTICS_VIEW "pg_stat_io"
#define SP_WAL_STATISTICS_RESET \
	"SELECT pg_stat_reset_shared('wal'), pg_stat_reset_shared('io')"
#define SP_WAL_STATISTICS_COUNT_RECEIVED true
#define SP_WAL_STATISTICS_QUERY \
	"SELECT CASE WHEN s.receives THEN sum(io.write_bytes) ELSE w.wal_bytes END::float8," \
	" sum(io.fsyncs)::float8, sum(io.writes)::float8, extract(epoch FROM" \
	" CASE WHEN s.receives THEN max(io.stats_reset) ELSE w.stats_reset END)::float8," \
	" extract(epoch FROM max(io.stats_reset))::float8" \
	" FROM (SELECT pg_is_in_recovery()) AS s (receives), pg_stat_wal AS w, pg_stat_io AS io" \
	" WHERE io.object = 'wal' AND io.context = 'normal'" \
	" AND (io.backend_type = 'walreceiver') = s.receives" \
	" GROUP BY s.receives, w.wal_bytes, w.stats_reset"
#else
#define SP_WAL_STATISTICS_VIEW "pg_stat_wal"
#define SP_WAL_STATISTICS_RESET "SELECT pg_stat_reset_shared('wal')"
#define SP_WAL_STATISTICS_COUNT_RECEIVED false
#define SP_WAL_STATISTICS_QUERY \
	"SELECT wal_bytes::float8, wal_sync::float8, wal_write::float8," \
	" extract(epoch FROM stats_reset)::float8, extract(epoch FROM stats_reset)::float8" \
	" FROM pg_stat_wal"
#endif

/* PostgreSQL 17 (b31ba5310b5) renamed this variable. */
#if PG_VERSION_NUM < 170000
#define TransamVariables ShmemVariableCache
#endif

/* PostgreSQL 20 (72a6dad1c9) counts what is fetched of indexes apart. */
#if PG_VERSION_NUM >= 200000
#define sp_blocks_fetched(relkind) ((relkind) == RELKIND_INDEX ? \
									pg_stat_get_idx_blocks_fetched : pg_stat_get_blocks_fetched)
#else
#define sp_blocks_fetched(relkind) pg_stat_get_blocks_fetched
#endif

/* PostgreSQL 19 gave the sleep of commit_delay a wait event.  0 is none. */
#if PG_VERSION_NUM >= 190000
#define SP_WAIT_EVENT_COMMIT_DELAY WAIT_EVENT_COMMIT_DELAY
#else
#define SP_WAIT_EVENT_COMMIT_DELAY 0
#endif

/* Since PostgreSQL 17 (d3ae2a24f26), ALTER SYSTEM can be switched off. */
#if PG_VERSION_NUM < 170000
static bool AllowAlterSystem pg_attribute_unused() = true;
#endif

/* Since PostgreSQL 17, wait events of extensions have names. */
#if PG_VERSION_NUM >= 170000
#define sp_wait_event_new(name) WaitEventExtensionNew(name)
#else
#define sp_wait_event_new(name) ((void) (name), PG_WAIT_EXTENSION)
#endif

/*
 * Up to 15, dblink connects with PQconnectdb(), in which libpq waits and serves no interrupts, but
 * has a limit.  Since 16 (e4602483e95) the server waits, and does not look at connect_timeout.
 */
#define SP_LIBPQ_WAITS (PG_VERSION_NUM < 160000)

/*
 * Throw an error unless the server accepts a custom parameter of that name.  Since
 * PostgreSQL 17, the server's check throws the error itself.
 */
static inline void
sp_check_custom_name(const char *name)
{
#if PG_VERSION_NUM >= 170000
	check_GUC_name_for_parameter_acl(name);
#else
	if (!check_GUC_name_for_parameter_acl(name))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_NAME),
				 errmsg("invalid configuration parameter name \"%s\"", name),
				 errdetail("Custom parameter names must be two or more simple identifiers separated by dots.")));
#endif
}

/* libpq/libpq.h includes the headers of GSSAPI, which need not be installed. */
extern bool pq_check_connection(void);

/* PostgreSQL 16 (d7e39d72ca1) renamed this function. */
#if PG_VERSION_NUM < 160000
#define pgstat_get_local_beentry_by_index(i) pgstat_fetch_stat_local_beentry(i)
#endif

#endif							/* SP_COMPAT_H */
