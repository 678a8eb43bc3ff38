/*-------------------------------------------------------------------------
 *
 * worker.c
 *		Background workers: how they are registered, and whether they fit their session.
 *
 * A worker loads the library when it starts.  If the package was upgraded meanwhile, that
 * library is not the one of the session that registers it, and may have another layout of
 * the memory that both share.  A worker that reads it wrongly can crash, and the whole
 * cluster with it.  So the session passes its release outside of that memory, and the
 * worker compares it first.
 *
 * It must not: read the memory that is shared.
 *
 *-------------------------------------------------------------------------
 */
#include "common/common.h"

#include "miscadmin.h"

/* All releases have it first in bgw_extra, or another library cannot tell. */
StaticAssertDecl(sizeof(SP_VERSION) <= BGW_EXTRALEN, "too long a release");

/*
 * In the session: register a worker of that type.  segment: what both share, or NULL.  Without
 * database there is no transaction, but it starts on a standby, too.  The handle is allocated in
 * the current memory context.  False if no slot of max_worker_processes is free.
 */
bool
sp_worker_register(const char *type, const char *function, bool database, int restart_s,
				   dsm_segment *segment, BackgroundWorkerHandle **handle)
{
	BackgroundWorker worker = {
		.bgw_flags = BGWORKER_SHMEM_ACCESS | (database ? BGWORKER_BACKEND_DATABASE_CONNECTION : 0),
		.bgw_start_time = database ? BgWorkerStart_RecoveryFinished : BgWorkerStart_PostmasterStart,
		.bgw_restart_time = restart_s,
		.bgw_library_name = "pg_sync_probe",
		.bgw_main_arg = UInt32GetDatum(segment ? dsm_segment_handle(segment) : 0),
		.bgw_notify_pid = MyProcPid
	};

	strlcpy(worker.bgw_function_name, function, sizeof(worker.bgw_function_name));
	strlcpy(worker.bgw_type, type, sizeof(worker.bgw_type));
	strlcpy(worker.bgw_name, type, sizeof(worker.bgw_name));
	strlcpy(worker.bgw_extra, SP_VERSION, sizeof(worker.bgw_extra));
	return RegisterDynamicBackgroundWorker(&worker, handle);
}

/*
 * In the worker: is this library of the same release as that of the session?  If not, the log
 * says so, and the worker must return without a look at the memory that they share.  Returning
 * ends it with exit code 0, so that it is not started again.
 */
bool
sp_worker_fits(void)
{
	if (strncmp(MyBgworkerEntry->bgw_extra, SP_VERSION, BGW_EXTRALEN) == 0)
		return true;
	ereport(LOG,
			(errmsg("background worker \"%s\" cannot work: its session has loaded another release "
					"of pg_sync_probe, but the library is now release %s; "
					"the session must reconnect",
					MyBgworkerEntry->bgw_name, SP_VERSION)));
	return false;
}
