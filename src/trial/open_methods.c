/*-------------------------------------------------------------------------
 *
 * open_methods.c
 *		What a trial of open_datasync and open_sync needs to be safe.
 *
 * With open_*, XLogWrite() takes all WAL that it finds written as flushed.  What another
 * process has written with a buffered method, and not synced yet, is not.  So such a value
 * is tried only where WAL is never written without a sync, and the segments are synced
 * after each of its slots.
 *
 *-------------------------------------------------------------------------
 */
#include "trial/trial.h"

#include "miscadmin.h"

#include "compat.h"

#define GATE_US			200000L
#define GATE_POLL_US	1000L

bool
sp_trial_is_open_method(const char *setting, const char *value)
{
	const sp_sync_method *method = sp_sync_method_find(value);

	return strcmp(setting, "wal_sync_method") == 0 && method != NULL && method->opens_synced;
}

/*
 * Open and write a new file as the server would do it with this method.  Where this
 * fails, the server would stop with a PANIC: up to 15 with wal_level = minimal these
 * methods use O_DIRECT, which not every file system has.
 */
void
sp_trial_check_method(const char *name)
{
	const char *call;

	if (sp_wal_try_method(sp_sync_method_find(name), &call) != SP_OK)
		ereport(ERROR,
				(sp_errcode_for_file_access(),
				 errmsg("cannot use %s in pg_wal: could not %s file: %m", name, call),
				 errdetail("A file was opened and written as the server would do it.")));
}

/* Watch for a while. */
bool
sp_trial_sees_unflushed_wal(void)
{
	for (long us = 0; us < GATE_US; us += GATE_POLL_US)
	{
		CHECK_FOR_INTERRUPTS();
		if (sp_wal_is_unflushed())
			return true;
		pg_usleep(GATE_POLL_US);
	}
	return false;
}
