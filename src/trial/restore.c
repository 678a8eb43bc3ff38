/*-------------------------------------------------------------------------
 *
 * restore.c
 *		Give postgresql.auto.conf back as it was before a trial.
 *
 * The original is kept as a second hard link.  So restoring it is one rename, which needs
 * no space and gives back the same inode: content, owner, mode and time stamps.
 *
 * If somebody runs ALTER SYSTEM during a trial, the server writes a new file from the one
 * of the trial.  Then the original is outdated, and the setting and the marker are taken
 * out of the new file instead.
 *
 * Several processes may restore at once, and each may be killed at any point: every step
 * can be repeated.
 *
 *-------------------------------------------------------------------------
 */
#include "trial/trial.h"

#include <fcntl.h>
#include <unistd.h>

#include "miscadmin.h"
#include "postmaster/interrupt.h"
#include "storage/fd.h"
#include "storage/latch.h"
#include "storage/lwlock.h"
#include "utils/guc.h"

#include "compat.h"

/* How long the watchdog waits for a process that was stopped while it held the lock. */
#define LOCK_TRIES		50
#define LOCK_POLL_US	100000L

/* The wait for the postmaster to reload: it may be swapped out, but not gone. */
#define RELOAD_MAX_MS	5000
#define RELOAD_POLL_MS	10

/* ------------------------------------------- only async-signal-safe calls */

static bool
same_file(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_dev == b->st_dev;
}

/* name: SP_TRIAL_VALUE with a digit of its own at the end */
#define VALUE_NAME			SP_TRIAL_VALUE "0"
#define SET_VALUE(name, i)	((name)[sizeof(VALUE_NAME) - 2] = (char) ('0' + (i)))

static bool
is_value_file(const struct stat *status)
{
	char		name[] = VALUE_NAME;
	struct stat value;

	for (int i = 0; i < SP_MAX_METHODS; i++)
	{
		SET_VALUE(name, i);
		if (stat(name, &value) == 0 && same_file(&value, status))
			return true;
	}
	return false;
}

static void
remove_files(void)
{
	char		name[] = VALUE_NAME;
	int			directory;

	/* after the original is in place, its link is not needed */
	(void) unlink(SP_TRIAL_ORIGINAL);
	(void) unlink(SP_TRIAL_NEXT);
	for (int i = 0; i < SP_MAX_METHODS; i++)
	{
		SET_VALUE(name, i);
		(void) unlink(name);
	}
	directory = open(".", O_RDONLY);
	if (directory < 0)
		return;
	(void) fsync(directory);
	(void) close(directory);
}

sp_restored
sp_trial_restore_raw(void)
{
	struct stat original;
	struct stat status;
	bool		exists;

	if (stat(SP_TRIAL_ORIGINAL, &original) != 0)
		return SP_NOT_SWITCHED;
	exists = stat(SP_TRIAL_AUTO, &status) == 0;
	if (exists && !same_file(&status, &original))
	{
		if (!is_value_file(&status))
			return SP_CHANGED_BY_OTHERS;
		exists = false;
	}
	if (!exists && rename(SP_TRIAL_ORIGINAL, SP_TRIAL_AUTO) != 0)
		return SP_RESTORE_FAILED;
	remove_files();
	return SP_RESTORED;
}

/* ------------------------------------------------------------------- files */

void
sp_trial_write_file(const char *path, const char *content, size_t length)
{
	int			fd = OpenTransientFile(path, O_CREAT | O_EXCL | O_WRONLY | PG_BINARY);

	if (fd < 0)
		ereport(ERROR,
				(sp_errcode_for_file_access(), errmsg("could not create file \"%s\": %m", path)));
	errno = 0;
	if (write(fd, content, length) != (ssize_t) length)
	{
		if (errno == 0)
			errno = ENOSPC;
		ereport(ERROR,
				(sp_errcode_for_file_access(), errmsg("could not write file \"%s\": %m", path)));
	}
	if (pg_fsync(fd) != 0 || CloseTransientFile(fd) != 0)
		ereport(ERROR,
				(sp_errcode_for_file_access(), errmsg("could not sync file \"%s\": %m", path)));
}

/* The settings of a file.  NULL if it cannot be read, or has none; with an error, too. */
static ConfigVariable *
read_settings(const char *path, int elevel)
{
	FILE	   *file = AllocateFile(path, "r");
	ConfigVariable *first = NULL;
	ConfigVariable *last = NULL;
	bool		valid;

	if (file == NULL)
		return NULL;
	valid = ParseConfigFp(file, path, 0, LOG, &first, &last);
	FreeFile(file);
	if (valid)
		return first;
	ereport(elevel,
			(errcode(ERRCODE_CONFIG_FILE_ERROR),
			 errmsg("could not parse the contents of file \"%s\"", path)));
	return NULL;
}

/* Does it name a setting that can be tried?  Others are not restored for anybody. */
static bool
is_marker(const char *value)
{
	size_t		length = strcspn(value, "=");
	char	   *setting = pnstrdup(value, length);
	bool		known = sp_trial_can_try(setting);

	pfree(setting);
	return known;
}

char *
sp_trial_marker(int elevel)
{
	char	   *marker = NULL;

	for (ConfigVariable *v = read_settings(SP_TRIAL_AUTO, elevel); v; v = v->next)
	{
		if (strcmp(v->name, SP_TRIAL_MARKER) == 0 && is_marker(v->value))
			marker = v->value;
	}
	return marker;
}

/* ------------------------------------------------------------------- merge */

static void
append_setting(StringInfo content, const char *name, const char *value)
{
	char	   *escaped = escape_single_quotes_ascii(value);

	if (escaped == NULL)
		ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory")));
	appendStringInfo(content, "%s = '%s'\n", name, escaped);
	free(escaped);
}

/*
 * ALTER SYSTEM removes the lines of its setting and appends one.  So a line of the
 * setting before the marker is that of the trial, and one behind it is newer.
 */
static char *
merged_content(const char *setting, const char *old, int *length)
{
	StringInfoData content;
	bool		marker_seen = false;
	bool		ours_seen = false;
	bool		newer_seen = false;

	initStringInfo(&content);
	appendStringInfoString(&content, "# Do not edit this file manually!\n"
						   "# It will be overwritten by the ALTER SYSTEM command.\n");
	for (ConfigVariable *v = read_settings(SP_TRIAL_AUTO, ERROR); v; v = v->next)
	{
		if (strcmp(v->name, SP_TRIAL_MARKER) == 0)
			marker_seen = true;
		else if (pg_strcasecmp(v->name, setting) != 0)
			append_setting(&content, v->name, v->value);
		else if (!marker_seen)
			ours_seen = true;
		else
		{
			newer_seen = true;
			append_setting(&content, v->name, v->value);
		}
	}
	if (ours_seen && !newer_seen && old)
		append_setting(&content, setting, old);
	*length = content.len;
	return content.data;
}

/* The file is one that others have written from a file of the trial. */
static void
merge(char *marker)
{
	char	   *old = strchr(marker, '=');
	char	   *content;
	int			length;

	if (old)
		*old++ = '\0';
	content = merged_content(marker, old, &length);
	(void) unlink(SP_TRIAL_NEXT);
	sp_trial_write_file(SP_TRIAL_NEXT, content, length);
	(void) durable_rename(SP_TRIAL_NEXT, SP_TRIAL_AUTO, ERROR);
}

/* ----------------------------------------------------------------- restore */

bool
sp_trial_identify(sp_trial_identity *identity)
{
	struct stat status;

	memset(identity, 0, sizeof(*identity));
	if (stat(VALUE_NAME, &status) != 0)
		return false;
	identity->device = status.st_dev;
	identity->inode = status.st_ino;
	identity->modified = status.st_mtim;
	return true;
}

/* Without the first prepared file, no other trial has begun. */
static bool
are_files_of(const sp_trial_identity *of)
{
	sp_trial_identity now;

	if (!sp_trial_identify(&now))
		return true;
	return now.device == of->device && now.inode == of->inode &&
		now.modified.tv_sec == of->modified.tv_sec && now.modified.tv_nsec == of->modified.tv_nsec;
}

/* Returns whether the lock is held: without patience, a stopped process may keep it. */
static bool
lock_file(bool patient)
{
	if (patient)
		LWLockAcquire(AutoFileLock, LW_EXCLUSIVE);
	for (int i = 0; !patient && i < LOCK_TRIES; i++)
	{
		if (LWLockConditionalAcquire(AutoFileLock, LW_EXCLUSIVE))
			break;
		pg_usleep(LOCK_POLL_US);
	}
	return LWLockHeldByMe(AutoFileLock);
}

sp_restored
sp_trial_restore_quietly(void)
{
	sp_restored restored;

	/* the error may have been thrown by a merge */
	if (!LWLockHeldByMe(AutoFileLock))
		LWLockAcquire(AutoFileLock, LW_EXCLUSIVE);
	restored = sp_trial_restore_raw();
	/* some files may be made, and the link not yet */
	if (restored == SP_NOT_SWITCHED)
		remove_files();
	LWLockRelease(AutoFileLock);
	if (restored != SP_NOT_SWITCHED)
		(void) kill(PostmasterPid, SIGHUP);
	return restored;
}

/* The file is not one of the trial, but may be made from one: by ALTER SYSTEM or a copy. */
static sp_restored
restore_by_merging(sp_restored restored)
{
	char	   *marker = sp_trial_marker(ERROR);

	if (marker)
	{
		merge(marker);
		restored = SP_RESTORED;
	}
	remove_files();
	return restored;
}

bool
sp_trial_restore(const sp_trial_identity *of, bool patient)
{
	bool		locked = lock_file(patient);
	sp_restored restored = SP_NOT_SWITCHED;

	if (of == NULL || are_files_of(of))
	{
		restored = sp_trial_restore_raw();
		if (restored == SP_NOT_SWITCHED || restored == SP_CHANGED_BY_OTHERS)
			restored = restore_by_merging(restored);
	}
	if (locked)
		LWLockRelease(AutoFileLock);
	if (restored == SP_RESTORE_FAILED)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not rename file \"%s\" to \"%s\": %m",
						SP_TRIAL_ORIGINAL, SP_TRIAL_AUTO)));
	if (restored == SP_NOT_SWITCHED)
		return false;
	(void) kill(PostmasterPid, SIGHUP);
	return restored == SP_RESTORED;
}

/* ------------------------------------------------------------------ reload */

/*
 * The postmaster reads the files first, and then tells its children.  This session stays
 * at the values that it has: it reads the files before its next statement.
 */
void
sp_trial_reload(void)
{
	uint32		wait_event = sp_wait_event_new("SyncProbeReload");

	ConfigReloadPending = false;
	if (kill(PostmasterPid, SIGHUP) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_SYSTEM_ERROR),
				 errmsg("could not send signal to postmaster: %m")));
	for (int waited_ms = 0; !ConfigReloadPending && waited_ms < RELOAD_MAX_MS;
		 waited_ms += RELOAD_POLL_MS)
	{
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, RELOAD_POLL_MS,
						 wait_event);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
}
