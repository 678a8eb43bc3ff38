/*-------------------------------------------------------------------------
 *
 * worker.c
 *		Background workers: how they are registered, whether they fit their session, and one that
 *		shows what a process of this server has that starts now.
 *
 * A worker loads the library when it starts.  If the package was upgraded meanwhile, that
 * library is not the one of the session that registers it, and may have another layout of
 * the memory that both share.  A worker that reads it wrongly can crash, and the whole
 * cluster with it.  So the session passes its release outside of that memory, and the
 * worker compares it first.
 *
 * Only the postmaster knows whether it has read the configuration again, and no other process can
 * see it.  But a process that it starts inherits its values.
 *
 * It must not: read shared memory before the releases are compared, or depend on what the calling
 * session shows, which may have values of its own.
 *
 *-------------------------------------------------------------------------
 */
#include "common/common.h"

#include "miscadmin.h"
#include "port/atomics.h"

/* All releases have it first in bgw_extra, or another library cannot read it. */
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
 * shows it, and the worker must return without a look at the memory that they share.  Returning
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

/* ------------------------------------------------------------- a new process */

/* Parallel queries may have all background workers for a moment. */
#define MAX_POLLS	100
#define POLL_MS		100

typedef struct shared_answer
{
	char		setting[NAMEDATALEN];
	sp_new_process shown;
	volatile bool complete;
} shared_answer;

static void
register_when_free(dsm_segment *segment, BackgroundWorkerHandle **handle)
{
	for (int i = 0; !sp_worker_register("pg_sync_probe new process", "sync_probe_new_process",
										false, BGW_NEVER_RESTART, segment, handle); i++)
	{
		if (i == MAX_POLLS || max_worker_processes == 0)
			ereport(ERROR,
					(errcode(ERRCODE_INSUFFICIENT_RESOURCES),
					 errmsg("no background worker is free"),
					 errdetail("A new process shows whether the server has read its configuration."),
					 errhint("Increase max_worker_processes, or wait until other workers end.")));
		sp_pause(POLL_MS, "SyncProbeReload");
	}
}

static sp_new_process
ask_one(const char *setting)
{
	sp_new_process shown;
	dsm_segment *segment = dsm_create(sizeof(shared_answer), 0);
	shared_answer *answer = dsm_segment_address(segment);
	BackgroundWorkerHandle *handle;

	memset(answer, 0, sizeof(*answer));
	strlcpy(answer->setting, setting, sizeof(answer->setting));
	register_when_free(segment, &handle);
	(void) WaitForBackgroundWorkerShutdown(handle);
	if (!answer->complete)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("a background worker has ended before it showed \"%s\"", setting),
				 errhint(SP_WORKER_HINT)));
	shown = answer->shown;
	dsm_detach(segment);
	return shown;
}

/*
 * The value of a setting in a new process, as SHOW prints it, and when the postmaster read
 * its configuration.  The postmaster has handled all signals that it got before this call.
 *
 * The first process may start while the postmaster handles an older request, with a reload
 * still pending.  It handles that before it looks at the next request.
 */
sp_new_process
sp_new_process_show(const char *setting)
{
	(void) ask_one(setting);
	return ask_one(setting);
}

/* The main function of the process.  handle: of the segment with shared_answer. */
void
sync_probe_new_process(Datum handle)
{
	dsm_segment *segment;
	shared_answer *answer;

	if (!sp_worker_fits())
		return;
	BackgroundWorkerUnblockSignals();
	segment = dsm_attach(DatumGetUInt32(handle));
	if (segment == NULL)
		return;					/* the session has been cancelled */
	answer = dsm_segment_address(segment);
	answer->shown.load_time = PgReloadTime;
	strlcpy(answer->shown.value, GetConfigOptionByName(answer->setting, NULL, false),
			sizeof(answer->shown.value));
	pg_write_barrier();
	answer->complete = true;
}

/*
 * sync_probe_internal.await_postmaster(), a procedure: waits until the postmaster has handled all
 * reloads that were requested.  An error if it has rejected a file.
 */
PG_FUNCTION_INFO_V1(sync_probe_await_postmaster);
Datum
sync_probe_await_postmaster(PG_FUNCTION_ARGS)
{
	sp_refuse_transaction_block(fcinfo, "CALL sync_probe.wait_for_reload()",
								"Call it as a statement of its own.");
	sp_refuse_pending_edits(sp_configuration_files(),
							sp_new_process_show("wal_sync_method").load_time);
	PG_RETURN_VOID();
}
