/*-------------------------------------------------------------------------
 *
 * cleanup_function.c
 *		sync_probe.cleanup(): remove what processes that have ended left behind.
 *
 * It must not: touch anything that belongs to a running process.  This backend holds the
 * cluster lock, so that no probe and no workload has files, directories or schemas.
 *
 *-------------------------------------------------------------------------
 */
#include "trial/trial.h"

/*
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
	sp_cluster_lock_acquire("", "", 0);
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
