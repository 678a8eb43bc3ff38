/*-------------------------------------------------------------------------
 *
 * configuration.c
 *		The configuration: apply a reload before a measurement, refuse one that would
 *		activate more than is wanted, ALTER SYSTEM.
 *
 * A backend reloads the configuration between two statements of its client, and only
 * if the postmaster has signalled it by then.  After
 *
 *		ALTER SYSTEM SET wal_sync_method = ...; SELECT pg_reload_conf();
 *
 * the next statement of the same session can therefore still see the old value (in 3
 * of 6 tries), while other processes of the server flush with the new one.
 *
 *-------------------------------------------------------------------------
 */
#include "common/common.h"

#include <signal.h>
#include <sys/stat.h>

#include "catalog/pg_authid.h"
#include "miscadmin.h"
#include "parser/parser.h"
#include "postmaster/interrupt.h"
#include "storage/fd.h"
#include "utils/builtins.h"

#include "compat.h"

/* ALTER SYSTEM writes this file. */
#define AUTO_CONF_FILE		"postgresql.auto.conf"

/* A file that was edited within this time may be reloaded soon. */
#define RECENT_EDIT_US		(2 * USECS_PER_SEC)

/* The maximum wait of a call for such a reload, which may never come. */
#define MAX_WAIT_US			(200 * INT64CONST(1000))
#define POLL_MS				5

/* File timestamps are those of the last clock tick, at most 10 ms ago. */
#define CLOCK_TICK_US		(10 * INT64CONST(1000))

/* Reload the configuration as the backend does before the next statement. */
void
sp_process_reload(void)
{
	if (!ConfigReloadPending)
		return;
	ConfigReloadPending = false;
	ProcessConfigFile(PGC_SIGHUP);
}

static TimestampTz
time_of(struct timespec time)
{
	return time_t_to_timestamptz(time.tv_sec) + time.tv_nsec / 1000;
}

/* Was the file changed recently, and after this backend read it? */
static bool
is_newly_edited(const char *path, TimestampTz now)
{
	struct stat status;
	TimestampTz edited;

	if (path == NULL || stat(path, &status) != 0)
		return false;
	edited = time_of(status.st_mtim) + CLOCK_TICK_US;
	return edited > PgReloadTime && now - edited < RECENT_EDIT_US;
}

/*
 * Apply a pending reload.  The signal of a reload may not have reached this backend
 * yet, so wait for it briefly if a configuration file has just been edited.
 */
void
sp_await_reload(void)
{
	TimestampTz started = GetCurrentTimestamp();

	for (TimestampTz now = started; now - started < MAX_WAIT_US; now = GetCurrentTimestamp())
	{
		sp_process_reload();
		if (!is_newly_edited(AUTO_CONF_FILE, now) && !is_newly_edited(ConfigFileName, now))
			return;
		sp_pause(POLL_MS, "SyncProbeReload");
	}
	sp_process_reload();
}

/* ----------------------------------------------------------- pending edits */

/* The files that a reload reads: of settings, of clients, and certificates. */
List *
sp_configuration_files(void)
{
	return lappend(sp_spi_column("SELECT sourcefile FROM pg_file_settings"
								 " WHERE sourcefile IS NOT NULL UNION SELECT setting"
								 " FROM pg_settings WHERE name ~ '^(config|hba|ident)_file$'"
								 " OR name ~ '^ssl_.*_(file|dir)$'",
								 0, NULL, NULL, SP_AS_OWNER), AUTO_CONF_FILE);
}

/*
 * Throw an error if somebody has changed a file since: a reload would activate more than is
 * wanted, or the server has rejected the file.  A file that was moved here keeps the time of
 * its last change, but not that of its inode.  Reads no table.
 */
void
sp_refuse_pending_edits(List *files, TimestampTz load_time)
{
	ListCell   *cell;

	foreach(cell, files)
	{
		const char *path = lfirst(cell);
		struct stat status;

		if (stat(path, &status) == 0 && time_of(status.st_ctim) > load_time)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("file \"%s\" was changed since the server has read it", path),
					 errhint("If view pg_file_settings shows an error, for which the server rejects a file, correct it. Then execute SELECT pg_reload_conf(), also if the change was undone.")));
	}
}

/* ------------------------------------------------------------ ALTER SYSTEM */

/*
 * ALTER SYSTEM SET, or RESET if value is NULL.  As the bootstrap superuser: the caller checks
 * rights.  An error may be thrown while AutoFileLock is held; then the end of the transaction
 * releases it.
 */
void
sp_alter_system(const char *name, const char *value)
{
	char	   *sql = value ?
		psprintf("ALTER SYSTEM SET %s = %s", name, quote_literal_cstr(value)) :
		psprintf("ALTER SYSTEM RESET %s", name);
	RawStmt    *statement = linitial(raw_parser(sql, RAW_PARSE_DEFAULT));
	ErrorContextCallback callback = {
		.previous = error_context_stack, .callback = sp_set_errcode_for_file_access
	};
	Oid			saved_user;
	int			saved_context;

	GetUserIdAndSecContext(&saved_user, &saved_context);
	SetUserIdAndSecContext(BOOTSTRAP_SUPERUSERID, saved_context | SECURITY_LOCAL_USERID_CHANGE);
	error_context_stack = &callback;
	AlterSystemSetConfigFile(castNode(AlterSystemStmt, statement->stmt));
	error_context_stack = callback.previous;
	SetUserIdAndSecContext(saved_user, saved_context);
}

/* The settings in the file that ALTER SYSTEM writes, in their order. */
ConfigVariable *
sp_auto_conf_lines(void)
{
	FILE	   *file = AllocateFile(AUTO_CONF_FILE, "r");
	ConfigVariable *first = NULL;
	ConfigVariable *last = NULL;

	if (file == NULL)
	{
		/* the server, too, takes a missing file for an empty one */
		if (errno != ENOENT)
			ereport(ERROR,
					(sp_errcode_for_file_access(),
					 errmsg("could not open file \"%s\": %m", AUTO_CONF_FILE)));
		return NULL;
	}
	if (!ParseConfigFp(file, AUTO_CONF_FILE, 0, LOG, &first, &last))
		ereport(ERROR,
				(errcode(ERRCODE_CONFIG_FILE_ERROR),
				 errmsg("could not parse the contents of file \"%s\"", AUTO_CONF_FILE)));
	FreeFile(file);
	return first;
}

void
sp_request_reload(void)
{
	if (kill(PostmasterPid, SIGHUP) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not send signal to postmaster: %m")));
}
