/*-------------------------------------------------------------------------
 *
 * checks.c
 *		Where a trial is refused: who may not, and where a reload would do more.
 *
 *-------------------------------------------------------------------------
 */
#include "trial/trial.h"

#include "access/xlog.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/memutils.h"

#include "compat.h"

void
sp_trial_check_server(void)
{
	if (RecoveryInProgress())
		ereport(ERROR,
				(errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
				 errmsg("cannot run a trial on a standby"),
				 errdetail("Nothing commits there.")));
	if (!enableFsync)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cannot run a trial while fsync is off"),
				 errdetail("No commit waits for the disk.")));
	if (!sp_alter_system_is_allowed())
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cannot run a trial while allow_alter_system is off"),
				 errdetail("A trial changes settings as ALTER SYSTEM does.")));
}

/* -------------------------------------------------------------- privileges */

static void
check_right_of(const char *setting, Oid role)
{
	const char *name;

	if (superuser_arg(role) ||
		pg_parameter_aclcheck(setting, role, ACL_ALTER_SYSTEM) == ACLCHECK_OK)
		return;
	name = GetUserNameFromId(role, false);
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("permission denied to set parameter \"%s\"", setting),
			 errdetail("Role \"%s\" may not change it with ALTER SYSTEM.", name),
			 errhint("GRANT ALTER SYSTEM ON PARAMETER %s TO %s;", setting, quote_identifier(name))));
}

/*
 * A function that is SECURITY DEFINER changes the current user only.  It must not lend
 * this right to whoever may call it.
 */
void
sp_trial_check_privilege(const char *setting)
{
	check_right_of(setting, GetUserId());
	check_right_of(setting, GetSessionUserId());
}

/* ------------------------------------------------------------- the setting */

typedef struct source_query
{
	const char *setting;
	char	   *source;
	int64		overrides;
} source_query;

static void
read_source(void *arg)
{
	source_query *query = arg;
	Oid			types[1] = {TEXTOID};
	Datum		values[1] = {CStringGetTextDatum(query->setting)};
	bool		isnull;

	sp_history_execute("SELECT s.source, (SELECT pg_catalog.count(*)"
					   " FROM pg_catalog.pg_db_role_setting r, pg_catalog.unnest(r.setconfig) c"
					   " WHERE pg_catalog.split_part(c, '=', 1) OPERATOR(pg_catalog.=) $1)"
					   " FROM pg_catalog.pg_settings s WHERE s.name OPERATOR(pg_catalog.=) $1",
					   1, types, values, NULL, SPI_OK_SELECT);
	query->source = MemoryContextStrdup(TopTransactionContext,
										TextDatumGetCString(sp_history_value(1, &isnull)));
	query->overrides = DatumGetInt64(sp_history_value(2, &isnull));
}

/* A value from a configuration file, or the default, is what a reload changes. */
static bool
is_from_file(const char *source)
{
	return strcmp(source, "default") == 0 || strcmp(source, "configuration file") == 0;
}

void
sp_trial_check_source(const char *setting)
{
	source_query query = {.setting = setting};
	bool		of_postmaster;

	sp_as_history_owner(read_source, &query);
	of_postmaster = strcmp(query.source, "command line") == 0 ||
		strcmp(query.source, "override") == 0;
	if (!is_from_file(query.source))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("a reload would not change \"%s\"", setting),
				 errdetail("Its value is from: %s.", query.source),
				 of_postmaster ? errhint("Start the server without this option.") :
				 errhint("Use a session that has no value of its own.")));
	if (query.overrides > 0)
		ereport(NOTICE,
				(errmsg("some sessions have a value of \"%s\" of their own", setting),
				 errdetail("ALTER ROLE or ALTER DATABASE sets it. The trial does not change it there.")));
}

/* ----------------------------------------------------------- pending edits */

static void
refuse_edit(const char *path)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("file \"%s\" was changed since the server has read it", path),
			 errdetail("A trial reloads the configuration, which would activate the change."),
			 errhint("Check the file. Then undo the change, or execute SELECT pg_reload_conf().")));
}

static TimestampTz
timestamp_of(struct timespec time)
{
	return time_t_to_timestamptz(time.tv_sec) + time.tv_nsec / 1000;
}

/*
 * A file that was moved here keeps the time of its last change, but not that of its inode.
 * A trial itself changes the latter of postgresql.auto.conf.
 */
static void
check_file(const char *path, TimestampTz loaded)
{
	struct stat status;

	if (stat(path, &status) != 0)
		return;
	if (timestamp_of(status.st_mtim) > loaded)
		refuse_edit(path);
	if (strcmp(last_dir_separator(path) ? last_dir_separator(path) + 1 : path, SP_TRIAL_AUTO) == 0)
		return;
	if (timestamp_of(status.st_ctim) > loaded)
		refuse_edit(path);
}

/* Files with an error: then a reload changes nothing.  A pending restart is none. */
static void
read_settings_files(void *arg)
{
	List	  **paths = arg;
	SPITupleTable *table;
	uint64		count;

	sp_history_execute("SELECT DISTINCT f.sourcefile, pg_catalog.bool_or(f.error IS NOT NULL"
					   " AND NOT coalesce(s.pending_restart, false))"
					   " FROM pg_catalog.pg_file_settings f LEFT JOIN pg_catalog.pg_settings s"
					   " ON pg_catalog.lower(f.name) OPERATOR(pg_catalog.=) pg_catalog.lower(s.name)"
					   " WHERE f.sourcefile IS NOT NULL GROUP BY f.sourcefile",
					   0, NULL, NULL, NULL, SPI_OK_SELECT);
	table = SPI_tuptable;
	count = SPI_processed;
	for (uint64 i = 0; i < count; i++)
	{
		char	   *path = SPI_getvalue(table->vals[i], table->tupdesc, 1);
		char	   *has_error = SPI_getvalue(table->vals[i], table->tupdesc, 2);
		MemoryContext old;

		if (has_error && has_error[0] == 't')
			ereport(ERROR,
					(errcode(ERRCODE_CONFIG_FILE_ERROR),
					 errmsg("configuration file \"%s\" contains errors", path),
					 errdetail("A reload would not change a setting."),
					 errhint("See the view pg_file_settings.")));
		/* SPI's own contexts end with it; the caller's outlives a commit */
		old = MemoryContextSwitchTo(GetMemoryChunkContext(*paths));
		*paths = lappend(*paths, pstrdup(path));
		MemoryContextSwitchTo(old);
	}
}

/* The files that a reload reads.  In the current memory context. */
List *
sp_trial_list_files(void)
{
	static const char *const certificates[] = {
		"ssl_cert_file", "ssl_key_file", "ssl_ca_file", "ssl_crl_file", "ssl_crl_dir",
		"ssl_dh_params_file"
	};
	List	   *paths = list_make1(pstrdup(SP_TRIAL_AUTO));

	paths = lappend(paths, pstrdup(ConfigFileName));
	paths = lappend(paths, pstrdup(HbaFileName));
	paths = lappend(paths, pstrdup(IdentFileName));
	for (size_t i = 0; i < lengthof(certificates); i++)
	{
		const char *path = GetConfigOption(certificates[i], true, false);

		if (path && path[0] != '\0')
			paths = lappend(paths, pstrdup(path));
	}
	sp_as_history_owner(read_settings_files, &paths);
	return paths;
}

/* loaded: when the server has read its configuration.  Reads no table. */
void
sp_trial_check_pending_edits(List *paths, TimestampTz loaded)
{
	ListCell   *cell;

	foreach(cell, paths)
		check_file(lfirst(cell), loaded);
}
