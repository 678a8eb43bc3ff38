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

/* Seconds, before the first switch. */
#define GATE_S			0.2

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
static void
try_open_method(const char *name)
{
	const char *call;

	if (sp_wal_try_method(sp_sync_method_find(name), &call) != SP_OK)
		ereport(ERROR,
				(sp_errcode_for_file_access(),
				 errmsg("cannot use %s in pg_wal: could not %s file: %m", name, call),
				 errdetail("A file was opened and written as the server would do it.")));
}

bool
sp_trial_tries_open(const sp_trial *trial)
{
	for (int i = 0; i < trial->count; i++)
	{
		if (trial->values[i].is_open && trial->values[i].left_out == NULL)
			return true;
	}
	return false;
}

void
sp_trial_leave_out_open(sp_trial *trial, const char *why)
{
	for (int i = 0; i < trial->count; i++)
	{
		if (trial->values[i].is_open && trial->values[i].left_out == NULL)
			trial->values[i].left_out = why;
	}
}

void
sp_trial_open_gate(sp_trial *trial, sp_sampler *sampler)
{
	if (!sp_trial_tries_open(trial))
		return;
	for (int i = 0; i < trial->count; i++)
	{
		if (trial->values[i].is_open)
			try_open_method(trial->values[i].text);
	}
	sp_sampler_start(sampler);
	sp_sampler_run(sampler, GATE_S);
	if (sp_sampler_stop(sampler)->unflushed > 0)
		sp_trial_leave_out_open(trial, SP_TRIAL_WHY_UNFLUSHED);
}
