/*-------------------------------------------------------------------------
 *
 * compat.h
 *		Differences between server versions, behind one name each.
 *
 * The only file of src/ that may look at PG_VERSION_NUM.  Names follow the
 * newest server; PostgreSQL 15 is the oldest one supported.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_COMPAT_H
#define SP_COMPAT_H

#include "access/xlog.h"
#include "catalog/pg_tablespace.h"
#include "port/pg_iovec.h"
#include "postmaster/postmaster.h"
#include "storage/fd.h"
#include "utils/acl.h"
#include "utils/guc.h"
#include "utils/jsonb.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#if PG_VERSION_NUM < 150000
#error "pg_sync_probe needs PostgreSQL 15 or later"
#endif

/* Renamed, with the variable, in PostgreSQL 17. */
#if PG_VERSION_NUM >= 170000
extern PGDLLIMPORT const struct config_enum_entry wal_sync_method_options[];
#else
extern PGDLLIMPORT const struct config_enum_entry sync_method_options[];
#define wal_sync_method_options sync_method_options
#endif

/*
 * Where this server opens WAL with O_DIRECT.  Up to 15 with open_* while
 * nobody reads WAL behind it; since 16 (d4e71df6d75) where debug_io_direct
 * says so, and then with every method.
 */
static inline bool
sp_wal_direct_io_open(void)
{
#if PG_VERSION_NUM >= 160000
	return false;
#else
	return !XLogIsNeeded();
#endif
}

static inline bool
sp_wal_direct_io_all(void)
{
#if PG_VERSION_NUM >= 160000
	return (io_direct_flags & IO_DIRECT_WAL) != 0;
#else
	return false;
#endif
}

/*
 * What the server writes with one system call when it fills a new segment with
 * zeros, see XLogFileInitInternal(): PG_IOV_MAX pages of WAL, since 16 as many
 * blocks (pg_pwrite_zeros()).  PG_IOV_MAX has grown in 18 (06fb5612c97).
 */
#if PG_VERSION_NUM >= 160000
#define SP_WAL_INIT_BLOCK BLCKSZ
#else
#define SP_WAL_INIT_BLOCK XLOG_BLCKSZ
#endif
#define SP_WAL_INIT_WRITE (PG_IOV_MAX * SP_WAL_INIT_BLOCK)

/*
 * No server has a class for a quota that is used up: it would be XX000.  To be
 * the first one in an ereport(), as errno is not kept for longer.
 */
static inline int
sp_errcode_for_file_access(void)
{
	return errno == EDQUOT ? errcode(ERRCODE_DISK_FULL) : errcode_for_file_access();
}

/*
 * One row of float8: bytes of WAL, its syncs and writes, the seconds since these are
 * counted, and the milliseconds that the syncs took.  The counts of writes and syncs
 * moved to pg_stat_io in PostgreSQL 18.
 */
#if PG_VERSION_NUM >= 180000
#define SP_WAL_STATISTICS_VIEW "pg_stat_io"
#define SP_WAL_STATISTICS_QUERY \
	"SELECT w.wal_bytes::pg_catalog.float8, pg_catalog.sum(io.fsyncs)::pg_catalog.float8," \
	" pg_catalog.sum(io.writes)::pg_catalog.float8," \
	" extract(epoch FROM pg_catalog.clock_timestamp() OPERATOR(pg_catalog.-)" \
	" greatest(pg_catalog.max(io.stats_reset), w.stats_reset))::pg_catalog.float8," \
	" pg_catalog.sum(io.fsync_time)::pg_catalog.float8" \
	" FROM pg_catalog.pg_stat_wal w, pg_catalog.pg_stat_io io" \
	" WHERE io.object OPERATOR(pg_catalog.=) 'wal'" \
	" AND io.context OPERATOR(pg_catalog.=) 'normal'" \
	" GROUP BY w.wal_bytes, w.stats_reset"
#else
#define SP_WAL_STATISTICS_VIEW "pg_stat_wal"
#define SP_WAL_STATISTICS_QUERY \
	"SELECT wal_bytes::pg_catalog.float8, wal_sync::pg_catalog.float8," \
	" wal_write::pg_catalog.float8, extract(epoch FROM pg_catalog.clock_timestamp()" \
	" OPERATOR(pg_catalog.-) stats_reset)::pg_catalog.float8," \
	" wal_sync_time::pg_catalog.float8 FROM pg_catalog.pg_stat_wal"
#endif

/* Infinite intervals came with PostgreSQL 17. */
#ifndef INTERVAL_NOT_FINITE
#define INTERVAL_NOT_FINITE(interval) false
#endif

/* Wait events of extensions have names since PostgreSQL 17. */
#if PG_VERSION_NUM >= 170000
#define sp_wait_event_new(name) WaitEventExtensionNew(name)
#else
#define sp_wait_event_new(name) PG_WAIT_EXTENSION
#endif

/* Wait sets belong to a resource owner (here none) since PostgreSQL 17 (50c67c2019a). */
#if PG_VERSION_NUM >= 170000
#define sp_wait_event_set_new(nevents) CreateWaitEventSet(NULL, nevents)
#else
#define sp_wait_event_set_new(nevents) CreateWaitEventSet(CurrentMemoryContext, nevents)
#endif

/* Privilege checks were made one function in PostgreSQL 16 (c727f511bd7). */
#if PG_VERSION_NUM >= 160000
#define sp_tablespace_aclcheck(tablespace, role) \
	object_aclcheck(TableSpaceRelationId, tablespace, role, ACL_CREATE)
#else
#define sp_tablespace_aclcheck(tablespace, role) \
	pg_tablespace_aclcheck(tablespace, role, ACL_CREATE)
#endif

/*
 * Can a role SET ROLE to another?  Since PostgreSQL 16 (3d14e171e9e) membership alone
 * does not allow that.
 */
#if PG_VERSION_NUM >= 160000
#define sp_can_act_as(member, role) member_can_set_role(member, role)
#else
#define sp_can_act_as(member, role) is_member_of_role(member, role)
#endif

/*
 * Connections that are not for everybody.  A second kind came with PostgreSQL
 * 16 (6e2775e4d4e); that some roles may use it is left out.
 */
static inline int
sp_reserved_connections(void)
{
#if PG_VERSION_NUM >= 160000
	return SuperuserReservedConnections + ReservedConnections;
#else
	return ReservedBackends;
#endif
}

/*
 * The state of a jsonb value that is being built.  Since PostgreSQL 19 it includes
 * the result.
 */
#if PG_VERSION_NUM < 190000
typedef struct JsonbInState
{
	JsonbValue *result;
	JsonbParseState *parseState;
} JsonbInState;

#define pushJsonbValue(state, token, value) \
	((void) ((state)->result = (pushJsonbValue) (&(state)->parseState, token, value)))
#endif

/*
 * An error unless the server would accept a setting of that name that nobody has
 * defined.  Since PostgreSQL 17 its check throws the error itself.
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

#endif							/* SP_COMPAT_H */
