/*-------------------------------------------------------------------------
 *
 * auto_conf.c
 *		Change the setting of a trial as ALTER SYSTEM does, and give its old value back.
 *
 * The server's own AlterSystemSetConfigFile() writes postgresql.auto.conf, so that the
 * changes of other sessions are merged.  It moves the line of a setting to the end of the
 * file.
 *
 * A trial keeps a marker in the file: '"setting","old value","next value"'.  Whoever
 * finds it knows what to restore, also after a crash and in another release; the old value is empty
 * where the file had none.  Each switch writes the marker with the next value, the
 * value, and the marker without it.  So a value behind the marker is that of another session,
 * unless it is the next one.
 *
 * A background worker, the watchdog, waits for the lock that the session of the trial holds, and
 * restores what there is to restore: nothing after a trial that ended well, the setting after an
 * error, a cancel, or the end of the session, also at a shutdown.  After an error of its own the
 * postmaster starts it again, after a crash of the server at once.  The library may be of another
 * release then, which has the same marker.
 *
 *-------------------------------------------------------------------------
 */
#include "trial/trial.h"

#include "access/xact.h"
#include "catalog/objectaccess.h"
#include "postmaster/interrupt.h"
#include "utils/memutils.h"
#include "utils/varlena.h"

#include "compat.h"

/* ------------------------------------------------------------------- the file */

/* The fields of a marker.  NIL if it names no setting that a trial can have: it is forged. */
static List *
fields_of_marker(const char *marker)
{
	List	   *fields = NIL;

	if (marker == NULL || !SplitGUCList(pstrdup(marker), ',', &fields) ||
		list_length(fields) < 3 || !sp_trial_can_try(linitial(fields)))
		return NIL;
	return fields;
}

/* setting: NULL for the one that the marker names. */
sp_auto_conf
sp_auto_conf_read(const char *setting)
{
	ConfigVariable *lines = sp_auto_conf_lines();
	sp_auto_conf conf = {.setting = setting};

	for (ConfigVariable *line = lines; line; line = line->next)
	{
		if (strcmp(line->name, SP_TRIAL_MARKER) == 0)
			conf.marker = line->value;
	}
	if (setting == NULL && fields_of_marker(conf.marker))
		conf.setting = linitial(fields_of_marker(conf.marker));
	for (ConfigVariable *line = lines; conf.setting && line; line = line->next)
	{
		if (strcmp(line->name, SP_TRIAL_MARKER) == 0)
			conf.value_is_newer = false;
		if (pg_strcasecmp(line->name, conf.setting) != 0)
			continue;
		conf.value = line->value;
		conf.value_is_newer = true;
	}
	return conf;
}

static bool
same_text(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* An error unless the file is as it was left.  A change of another session is to be in force. */
void
sp_auto_conf_check_unchanged(const sp_auto_conf *left)
{
	sp_auto_conf now = sp_auto_conf_read(left->setting);

	if (same_text(now.value, left->value) && same_text(now.marker, left->marker) &&
		now.value_is_newer == left->value_is_newer)
		return;
	sp_request_reload();
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_IN_USE),
			 errmsg("\"%s\" was changed during the trial", left->setting),
			 errhint("The change is kept. Call the trial again.")));
}

/*
 * The server calls this hook in AlterSystemSetConfigFile(), once it holds AutoFileLock and has
 * read the file.  So no change of another session comes between the check and the write:
 * where the check was before, 2 of 14 were lost on a busy disk, since an ALTER SYSTEM that
 * syncs its file holds the lock for that long.
 */
static const sp_auto_conf *left_in_file;
static object_access_hook_type_str next_hook;

static void
check_under_lock(ObjectAccessType access, Oid class_id, const char *name, int sub_id, void *arg)
{
	sp_auto_conf_check_unchanged(left_in_file);
	if (next_hook)
		next_hook(access, class_id, name, sub_id, arg);
}

/*
 * ALTER SYSTEM of the setting, or of the marker, unless another session has changed what was left
 * in the file.  value: NULL to remove the line.
 */
static void
write_line(sp_auto_conf *conf, bool of_marker, const char *value)
{
	left_in_file = conf;
	next_hook = object_access_hook_str;
	object_access_hook_str = check_under_lock;
	PG_TRY();
	{
		sp_alter_system(of_marker ? SP_TRIAL_MARKER : conf->setting, value);
	}
	PG_FINALLY();
	{
		object_access_hook_str = next_hook;
	}
	PG_END_TRY();
	if (of_marker)
		conf->marker = value;
	else
		conf->value = value;
	conf->value_is_newer = conf->value && (!of_marker || value == NULL);
}

/* ---------------------------------------------------------- while a trial runs */

/* It lives as long as the trial. */
static const char *
make_marker(sp_trial *trial, const char *next)
{
	return MemoryContextStrdup(GetMemoryChunkContext(trial),
							   psprintf("\"%s\",\"%s\",\"%s\"", trial->compared.setting.setting,
										trial->old ? trial->old : "", next ? next : ""));
}

/* Give the setting a value.  NULL: the one it had before the trial, which ends the changes. */
void
sp_trial_change(sp_trial *trial, const char *value)
{
	write_line(&trial->in_file, true, make_marker(trial, value ? value : trial->old));
	write_line(&trial->in_file, false, value ? value : trial->old);
	write_line(&trial->in_file, true, value ? make_marker(trial, NULL) : NULL);
	sp_request_reload();
}

/* ------------------------------------------------------------------- afterwards */

/*
 * Restore what a trial has left that runs no longer: the caller holds sp_trial_lock().  A newer
 * value stays, and the marker goes alone.  Returns the setting, or NULL if there is no marker.
 */
const char *
sp_trial_restore(void)
{
	sp_auto_conf conf = sp_auto_conf_read(NULL);
	List	   *fields = fields_of_marker(conf.marker);
	bool		allowed = AllowAlterSystem;
	char	   *old;

	if (fields == NIL)
		return NULL;
	old = lsecond(fields);
	PG_TRY();
	{
		/* it may have been switched off since the trial began */
		AllowAlterSystem = true;
		if (conf.value && (!conf.value_is_newer || strcmp(lthird(fields), conf.value) == 0))
			write_line(&conf, false, old[0] ? old : NULL);
		write_line(&conf, true, NULL);
	}
	PG_FINALLY();
	{
		AllowAlterSystem = allowed;
	}
	PG_END_TRY();
	sp_request_reload();
	return conf.setting;
}

/*
 * The same in a session that has the cluster lock, so that no trial runs.  The next
 * statement shows the old value, unless the server rejects its files.
 */
bool
sp_trial_cleanup(void)
{
	const char *marker = GetConfigOption(SP_TRIAL_MARKER, true, false);
	bool		restored;

	(void) sp_trial_lock(true);
	restored = sp_trial_restore() != NULL;
	sp_trial_unlock();
	/* or the server has rejected the file that was restored */
	if (!restored && fields_of_marker(marker) == NIL)
		return false;
	sp_request_reload();
	(void) sp_new_process_show(SP_TRIAL_MARKER);
	return true;
}

/* -------------------------------------------------------------- the watchdog */

/* After an error.  With BGW_NEVER_RESTART a crash of the server would forget the worker. */
#define RESTART_S			10
#define POLL_MS				100

BackgroundWorkerHandle *
sp_watchdog_start(void)
{
	BackgroundWorkerHandle *handle;
	pid_t		pid;

	if (!sp_worker_register("pg_sync_probe trial", "sync_probe_trial_watchdog", true, RESTART_S,
							NULL, &handle) ||
		WaitForBackgroundWorkerStartup(handle, &pid) != BGWH_STARTED)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_RESOURCES),
				 errmsg("no background worker is free for the trial"),
				 errdetail("The trial needs one that restores the setting if the session cannot."),
				 errhint("Increase max_worker_processes, or wait until other workers end.")));
	return handle;
}

/* False if the session still holds the lock. */
static bool
restore_in_transaction(void)
{
	const char *setting;
	bool		locked;

	StartTransactionCommand();
	locked = sp_trial_lock(false);
	setting = locked ? sp_trial_restore() : NULL;
	if (setting)
		ereport(LOG,
				(errmsg("corrected postgresql.auto.conf after a trial of \"%s\" that did not end by itself", setting)));
	CommitTransactionCommand();
	return locked;
}

/* A shutdown ends the session, and then the worker: a signal by itself does not. */
void
sync_probe_trial_watchdog(Datum main_arg pg_attribute_unused())
{
	pqsignal(SIGTERM, SignalHandlerForShutdownRequest);
	BackgroundWorkerUnblockSignals();
	BackgroundWorkerInitializeConnection(NULL, NULL, 0);
	while (!restore_in_transaction())
		sp_pause(POLL_MS, "SyncProbeTrial");
}
