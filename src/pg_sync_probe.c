/*-------------------------------------------------------------------------
 *
 * pg_sync_probe.c
 *		The module: its configuration parameters, and sync_probe.cleanup().
 *
 * The first call of a function loads the library.  It does not need
 * shared_preload_libraries, and so no restart of the server.
 *
 *-------------------------------------------------------------------------
 */
#include <limits.h>

#include "trial/trial.h"

PG_MODULE_MAGIC;

extern PGDLLEXPORT void _PG_init(void);

void
_PG_init(void)
{
	static char *trial_restores;	/* the server needs to know the marker */

	DefineCustomRealVariable("pg_sync_probe.margin",
							 "Minimum gain that is worth a change.",
							 "0.05 is 5 percent.",
							 &sp_margin, 0.05, 0.001, 1.0,
							 PGC_SUSET, 0, NULL, NULL, NULL);

	DefineCustomIntVariable("pg_sync_probe.max_duration",
							"Longest duration of a probe, trial, workload or commit_waits().",
							NULL,
							&sp_max_duration_ms, 600000, 10, INT_MAX,
							PGC_SUSET, GUC_UNIT_MS, NULL, NULL, NULL);

	DefineCustomIntVariable("pg_sync_probe.commit_waits_max_age",
							"Maximum age of a commit_waits() result that gives a probe its pace.",
							"With 0 the statistics of the server do.",
							&sp_commit_waits_max_age, 3600, 0, INT_MAX,
							PGC_USERSET, GUC_UNIT_S, NULL, NULL, NULL);

	DefineCustomIntVariable("pg_sync_probe.reserve_percent",
							"Share of a file system that probes leave free, and workloads in pg_wal.",
							"In pg_wal, WAL must also be able to grow to max_wal_size.",
							&sp_reserve_percent, 5, 0, 100,
							PGC_SUSET, 0, NULL, NULL, NULL);

	DefineCustomIntVariable("pg_sync_probe.max_commit_wal",
							"WAL after which the commit suite ends.",
							NULL,
							&sp_max_commit_wal_mb, 1024, 1, MAX_KILOBYTES,
							PGC_SUSET, GUC_UNIT_MB, NULL, NULL, NULL);

	DefineCustomIntVariable("pg_sync_probe.max_stream_write",
							"Bytes written after which the stream suite ends.",
							"Each of its files is written once before, and is not larger.",
							&sp_max_stream_mb, 16 * 1024, 1, MAX_KILOBYTES,
							PGC_SUSET, GUC_UNIT_MB, NULL, NULL, NULL);

	DefineCustomStringVariable("pg_sync_probe.zfs_directory",
							   "Directory of zfs and zpool.",
							   "If empty, the usual directories are searched.",
							   &sp_zfs_directory, "",
							   PGC_SUSET, 0, NULL, NULL, NULL);

	DefineCustomStringVariable("pg_sync_probe.pgbench_directory",
							   "Directory of pgbench.",
							   "If empty, that of the server program.",
							   &sp_pgbench_directory, "",
							   PGC_SUSET, 0, NULL, NULL, NULL);

	DefineCustomStringVariable("pg_sync_probe.pgbench_passfile",
							   "Password file of pgbench.",
							   "If empty, .pgpass of the server's operating system user.",
							   &sp_pgbench_passfile, "",
							   PGC_SUSET, GUC_SUPERUSER_ONLY, NULL, NULL, NULL);

	DefineCustomStringVariable(SP_TRIAL_MARKER,
							   "Setting that a trial has changed, and its previous value.",
							   "Written by trial() while it runs. cleanup() restores a setting that is left.",
							   &trial_restores, "",
							   PGC_SIGHUP, GUC_NOT_IN_SAMPLE, NULL, NULL, NULL);

	MarkGUCPrefixReserved("pg_sync_probe");
}

/*
 * sync_probe.cleanup(): remove what processes that have ended left behind.  This backend holds the
 * cluster lock, so that no probe and no workload has files, directories or schemas.
 *
 * Returns the number of files, directories and schemas that were removed, and of trials that
 * had left a setting or its marker.  On a standby and in a read-only transaction, schemas are not
 * dropped.
 */
PG_FUNCTION_INFO_V1(sync_probe_cleanup);
Datum
sync_probe_cleanup(PG_FUNCTION_ARGS)
{
	int			removed = 0;
	ListCell   *cell;

	sp_check_circumstances("clean up");
	sp_cluster_lock_acquire("a cleanup", "", "", 0);
	sp_progress_set_phase("cleaning up");
	foreach(cell, sp_location_list(NULL))
		removed += sp_probe_files_sweep(lfirst(cell)) + sp_power_test_remove(lfirst(cell));
	removed += sp_workload_directory_remove();
	/* after what cannot fail */
	removed += sp_trial_cleanup();
	if (sp_record_possible())
		removed += sp_schema_drop_leftovers();
	sp_cluster_lock_release();
	PG_RETURN_INT32(removed);
}
