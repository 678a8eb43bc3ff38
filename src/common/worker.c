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

/* In bgw_extra.  All releases have the release first, or another library cannot tell. */
typedef struct worker_extra
{
	char		release[32];
	int			number;
} worker_extra;

StaticAssertDecl(sizeof(worker_extra) <= BGW_EXTRALEN, "too large for bgw_extra");
StaticAssertDecl(sizeof(SP_VERSION) <= sizeof(((worker_extra *) 0)->release), "too long a release");

static worker_extra
make_extra(int number)
{
	worker_extra extra = {.number = number};

	strlcpy(extra.release, SP_VERSION, sizeof(extra.release));
	return extra;
}

/* ------------------------------------------------------------- the session */

/*
 * Register a worker of that type.  Several of the same function are told apart by number, which
 * then is part of their name.  segment: what both share, or NULL.  Without database there is no
 * transaction, but it starts on a standby, too.  The handle is allocated in the current memory
 * context.  False if no slot of max_worker_processes is free.
 */
bool
sp_worker_register(const char *type, const char *function, bool database, int restart_s,
				   dsm_segment *segment, int number, BackgroundWorkerHandle **handle)
{
	worker_extra extra = make_extra(number);
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
	snprintf(worker.bgw_name, sizeof(worker.bgw_name), number > 0 ? "%s %d" : "%s", type, number);
	memcpy(worker.bgw_extra, &extra, sizeof(extra));
	return RegisterDynamicBackgroundWorker(&worker, handle);
}

/* -------------------------------------------------------------- the worker */

static worker_extra
registered_extra(void)
{
	worker_extra extra;

	memcpy(&extra, MyBgworkerEntry->bgw_extra, sizeof(extra));
	return extra;
}

/*
 * Is this library of the same release as that of the session?  If not, the log says so, and
 * the worker must return without a look at the memory that they share.  Returning ends it
 * with exit code 0, so that it is not started again.
 */
bool
sp_worker_fits(void)
{
	worker_extra theirs = registered_extra();
	worker_extra ours = make_extra(0);

	if (memcmp(theirs.release, ours.release, sizeof(ours.release)) == 0)
		return true;
	ereport(LOG,
			(errmsg("background worker \"%s\" cannot work: its session has loaded another release "
					"of pg_sync_probe, but the library is now release %s; "
					"the session must reconnect",
					MyBgworkerEntry->bgw_name, ours.release)));
	return false;
}

int
sp_worker_number(void)
{
	return registered_extra().number;
}
