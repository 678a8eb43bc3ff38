/*-------------------------------------------------------------------------
 *
 * auto_conf.c
 *		Change the setting of a trial as ALTER SYSTEM does, and give its old value back.
 *
 * The server's own AlterSystemSetConfigFile() writes postgresql.auto.conf, so that the
 * changes of other sessions are merged.  It moves the line of a setting to the end of the
 * file.  A trial writes its marker after each value.  So a value before the marker is that
 * of the trial, and one behind it is newer: another session has run ALTER SYSTEM, or the
 * trial has failed between its two writes.
 *
 * The marker is '"setting","old value","tried value",...'; the old value is empty where the
 * file had none.  It tells whoever finds it what to restore, also after a crash and in
 * another release.
 *
 *-------------------------------------------------------------------------
 */
#include "trial/trial.h"

#include "utils/guc.h"
#include "utils/varlena.h"

#include "compat.h"

char	   *sp_trial_restores = NULL;

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

/* What the file says of a setting, and of the marker.  NULL: nothing. */
typedef struct auto_conf
{
	char	   *value;
	char	   *marker;
	List	   *fields;			/* of the marker */
	bool		value_is_newer; /* its line is behind the marker's */
} auto_conf;

/* setting: NULL for the one that the marker names. */
static auto_conf
read_auto_conf(const char *setting)
{
	ConfigVariable *lines = sp_auto_conf_lines();
	auto_conf	conf = {NULL};

	for (ConfigVariable *line = lines; line; line = line->next)
	{
		if (strcmp(line->name, SP_TRIAL_MARKER) == 0)
			conf.marker = line->value;
	}
	conf.fields = fields_of_marker(conf.marker);
	if (setting == NULL && conf.fields)
		setting = linitial(conf.fields);
	for (ConfigVariable *line = lines; setting && line; line = line->next)
	{
		if (strcmp(line->name, SP_TRIAL_MARKER) == 0)
			conf.value_is_newer = false;
		if (pg_strcasecmp(line->name, setting) != 0)
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

/* ---------------------------------------------------------- while a trial runs */

void
sp_trial_read_old(sp_trial *trial)
{
	trial->old = trial->in_file = read_auto_conf(trial->setting).value;
}

void
sp_trial_begin_changes(sp_trial *trial)
{
	StringInfoData marker;

	initStringInfo(&marker);
	appendStringInfo(&marker, "\"%s\",\"%s\"", trial->setting, trial->old ? trial->old : "");
	for (int i = 0; i < trial->count; i++)
		appendStringInfo(&marker, ",\"%s\"", trial->values[i].text);
	trial->marker = marker.data;
	sp_alter_system(SP_TRIAL_MARKER, trial->marker);
}

/*
 * Has another session changed the setting or the marker?  Its change stays, and the trial
 * ends.  One that comes between this look and the next write, within a millisecond, is lost.
 */
static void
check_changes_of_others(const sp_trial *trial)
{
	auto_conf	conf = read_auto_conf(trial->setting);
	bool		value_is_ours = !conf.value_is_newer && same_text(conf.value, trial->in_file);

	if (conf.marker == NULL)
		value_is_ours = same_text(conf.value, trial->in_file);
	if (value_is_ours && same_text(conf.marker, trial->marker))
		return;
	if (value_is_ours)
		sp_alter_system(trial->setting, trial->old);
	sp_alter_system(SP_TRIAL_MARKER, NULL);
	sp_request_reload();
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_IN_USE),
			 errmsg("\"%s\" was changed during the trial",
					value_is_ours ? SP_TRIAL_MARKER : trial->setting),
			 errdetail("ALTER SYSTEM was executed, or this session was stopped for so long that the trial was ended."),
			 errhint("The change is kept. Call the trial again.")));
}

/* Give the setting a value.  NULL: the one it had before the trial, which ends the changes. */
void
sp_trial_change(sp_trial *trial, const char *value)
{
	check_changes_of_others(trial);
	trial->in_file = value ? value : trial->old;
	sp_alter_system(trial->setting, trial->in_file);
	sp_alter_system(SP_TRIAL_MARKER, value ? trial->marker : NULL);
	sp_request_reload();
}

/* ------------------------------------------------------------------- afterwards */

bool
sp_trial_is_marked(void)
{
	return read_auto_conf(NULL).fields != NIL;
}

static bool
is_tried(const auto_conf *conf)
{
	ListCell   *cell;

	for_each_from(cell, conf->fields, 2)
	{
		if (strcmp(lfirst(cell), conf->value) == 0)
			return true;
	}
	return false;
}

/*
 * Restore what a trial has left that runs no longer.  The caller holds sp_trial_lock(), or
 * knows that the session does nothing.  A newer value stays, unless it is one that the trial
 * tried: it may have ended between its two writes.  Returns the setting, or NULL if there is
 * nothing to restore.
 */
char *
sp_trial_restore(void)
{
	auto_conf	conf = read_auto_conf(NULL);
	char	   *old;

	if (conf.fields == NIL)
		return NULL;
	old = lsecond(conf.fields);
	if (conf.value && (!conf.value_is_newer || is_tried(&conf)))
		sp_alter_system(linitial(conf.fields), old[0] ? old : NULL);
	sp_alter_system(SP_TRIAL_MARKER, NULL);
	sp_request_reload();
	return linitial(conf.fields);
}

/*
 * The same in a session that has the cluster lock, so that no trial runs.  The next
 * statement shows the old value.
 */
bool
sp_trial_cleanup(void)
{
	sp_new_process shown;
	char	   *setting;

	(void) sp_trial_lock(true);
	setting = sp_trial_restore();
	sp_trial_unlock();
	if (setting)
		sp_new_process_show(setting, &shown);
	return setting != NULL;
}
