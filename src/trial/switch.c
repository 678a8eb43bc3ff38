/*-------------------------------------------------------------------------
 *
 * switch.c
 *		Prepare one configuration file for each value, and put them in place.
 *
 * All contents are durable before the first switch, so that a switch is a link and an
 * atomic rename: no write, and none of the five syncs of an ALTER SYSTEM, which would
 * disturb what is measured.
 *
 * No error is thrown while AutoFileLock is held: cleaning up after it takes that lock.
 *
 *-------------------------------------------------------------------------
 */
#include "trial/trial.h"

#include <unistd.h>

#include "lib/stringinfo.h"
#include "storage/fd.h"
#include "storage/lwlock.h"
#include "utils/guc.h"

#include "compat.h"

static char *
value_path(int i)
{
	return psprintf("%s%d", SP_TRIAL_VALUE, i);
}

/* The content of postgresql.auto.conf, and the file that it is from. */
static char *
read_original(struct stat *status)
{
	FILE	   *file = AllocateFile(SP_TRIAL_AUTO, "r");
	StringInfoData content;
	char		buffer[8192];
	size_t		length;

	if (file == NULL || fstat(fileno(file), status) != 0)
		ereport(ERROR,
				(errcode_for_file_access(), errmsg("could not open file \"%s\": %m", SP_TRIAL_AUTO)));
	initStringInfo(&content);
	while ((length = fread(buffer, 1, sizeof(buffer), file)) > 0)
		appendBinaryStringInfo(&content, buffer, (int) length);
	if (ferror(file))
		ereport(ERROR,
				(errcode_for_file_access(), errmsg("could not read file \"%s\": %m", SP_TRIAL_AUTO)));
	FreeFile(file);
	if (content.len > 0 && content.data[content.len - 1] != '\n')
		appendStringInfoChar(&content, '\n');
	return content.data;
}

/* The value that the original file gives to the setting, or NULL. */
static char *
value_in_original(const char *setting)
{
	FILE	   *file = AllocateFile(SP_TRIAL_AUTO, "r");
	ConfigVariable *first = NULL;
	ConfigVariable *last = NULL;
	char	   *value = NULL;

	if (file == NULL)
		return NULL;
	if (ParseConfigFp(file, SP_TRIAL_AUTO, 0, LOG, &first, &last))
	{
		for (ConfigVariable *v = first; v; v = v->next)
		{
			if (pg_strcasecmp(v->name, setting) == 0)
				value = v->value;
		}
	}
	FreeFile(file);
	return value;
}

/* A line of a configuration file.  Values of the settings that can be tried need no escape. */
static void
append_line(StringInfo content, const char *name, const char *value)
{
	appendStringInfo(content, "%s = '%s'\n", name, value);
}

static ino_t
make_value_file(const sp_trial *trial, int i, const char *original, const char *marker)
{
	StringInfoData content;
	struct stat status;
	char	   *path = value_path(i);

	initStringInfo(&content);
	appendStringInfoString(&content, original);
	/* the marker comes behind: see merged_content() */
	append_line(&content, trial->setting, trial->values[i].text);
	append_line(&content, SP_TRIAL_MARKER, marker);
	sp_trial_write_file(path, content.data, content.len);
	if (stat(path, &status) != 0)
		ereport(ERROR,
				(errcode_for_file_access(), errmsg("could not stat file \"%s\": %m", path)));
	return status.st_ino;
}

/* Keep the original as a second link, unless it was changed since it was read. */
static void
link_original(const struct stat *expected)
{
	struct stat status;
	bool		changed;
	bool		failed;
	int			save_errno;

	LWLockAcquire(AutoFileLock, LW_EXCLUSIVE);
	changed = stat(SP_TRIAL_AUTO, &status) != 0 || status.st_ino != expected->st_ino ||
		status.st_mtim.tv_sec != expected->st_mtim.tv_sec ||
		status.st_mtim.tv_nsec != expected->st_mtim.tv_nsec;
	failed = !changed && link(SP_TRIAL_AUTO, SP_TRIAL_ORIGINAL) != 0;
	save_errno = errno;
	LWLockRelease(AutoFileLock);
	errno = save_errno;
	if (failed)
		ereport(ERROR,
				(sp_errcode_for_file_access(),
				 errmsg("could not link file \"%s\" to \"%s\": %m", SP_TRIAL_AUTO, SP_TRIAL_ORIGINAL)));
	if (changed)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("file \"%s\" is being changed", SP_TRIAL_AUTO),
				 errhint("Try again.")));
}

void
sp_trial_files_make(const sp_trial *trial, sp_trial_files *files)
{
	struct stat status;
	char	   *original = read_original(&status);
	char	   *old = value_in_original(trial->setting);
	char	   *marker = psprintf("%s%s%s", trial->setting, old ? "=" : "", old ? old : "");

	for (int i = 0; i < trial->count; i++)
		files->values[i] = make_value_file(trial, i, original, marker);
	link_original(&status);
	/* an error, where fsync_fname() would end the server; ALTER SYSTEM has synced the file */
	if (fsync_fname_ext(".", true, false, ERROR) != 0)
		ereport(ERROR,
				(sp_errcode_for_file_access(), errmsg("could not sync the data directory: %m")));
	files->original = files->now = status.st_ino;
}

/* ------------------------------------------------------------------ switch */

typedef enum outcome
{
	SWITCHED,
	CHANGED,					/* not by this trial */
	FAILED						/* errno says why */
} outcome;

static outcome
put_in_place(sp_trial_files *files, int value, const char *path)
{
	struct stat status;

	if (stat(SP_TRIAL_AUTO, &status) != 0 || status.st_ino != files->now)
		return CHANGED;
	/* the watchdog may have restored, which removes the files */
	if (files->now == files->original && access(SP_TRIAL_ORIGINAL, F_OK) != 0)
		return CHANGED;
	/* rename() does nothing with two links to the same file */
	if (files->now == files->values[value])
		return SWITCHED;
	if (link(path, SP_TRIAL_NEXT) != 0 || rename(SP_TRIAL_NEXT, SP_TRIAL_AUTO) != 0)
		return FAILED;
	files->now = files->values[value];
	return SWITCHED;
}

void
sp_trial_switch(sp_trial_files *files, int value)
{
	char	   *path = value_path(value);
	outcome		result;
	int			save_errno;

	LWLockAcquire(AutoFileLock, LW_EXCLUSIVE);
	result = put_in_place(files, value, path);
	save_errno = errno;
	LWLockRelease(AutoFileLock);
	errno = save_errno;
	if (result == FAILED)
		ereport(ERROR,
				(sp_errcode_for_file_access(),
				 errmsg("could not put file \"%s\" in the place of \"%s\": %m", path, SP_TRIAL_AUTO)));
	if (result == CHANGED)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("file \"%s\" was changed during the trial", SP_TRIAL_AUTO),
				 errdetail("ALTER SYSTEM was executed, or this session was stopped for so long that the trial was ended."),
				 errhint("The change is kept. Call the trial again.")));
	pfree(path);
	/* also if the value is in place: all slots must have the cost of a reload */
	sp_trial_reload();
}
