/*-------------------------------------------------------------------------
 *
 * cleanup_function.c
 *		sync_probe.cleanup(): remove what dead processes left.
 *
 * It must not: touch what belongs to one that lives.  Files and folders are
 * safe since this backend is the only probe of the cluster meanwhile; schemas
 * are, since who is to drop one holds a lock as long as he lives.
 *
 *-------------------------------------------------------------------------
 */
#include "workload.h"

PG_FUNCTION_INFO_V1(sync_probe_cleanup);

/*
 * Returns how many files, folders and schemas were removed; schemas are those of
 * this database.  On a standby and in a read-only transaction they stay.
 */
Datum
sync_probe_cleanup(PG_FUNCTION_ARGS)
{
	int			removed = 0;
	ListCell   *cell;

	sp_check_circumstances("clean up");
	sp_exclusive_begin("", "", 0);
	sp_exclusive_phase("cleaning up");
	foreach(cell, sp_location_list())
		removed += sp_probe_files_sweep(lfirst(cell));
	removed += sp_scratch_sweep();
	if (sp_record_possible())
		removed += sp_workload_drop_leftovers();
	sp_exclusive_end();
	PG_RETURN_INT32(removed);
}
