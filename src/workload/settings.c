/*-------------------------------------------------------------------------
 *
 * settings.c
 *		The settings that a caller gives to the sessions of a workload.
 *
 * They are checked before anything is created, as the server would check them when
 * a client connects.
 *
 * It must not: set anything in this session.
 *
 *-------------------------------------------------------------------------
 */
#include "workload/workload.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/jsonb.h"

#include "compat.h"

/*
 * Check a setting as the server does when a client connects, without setting it.  Of a
 * custom parameter that is not defined, only the name is checked: any value is valid,
 * and a check of it would define the parameter in this session.
 */
static void
check_setting(const char *name, const char *value)
{
	static const char *const ours[] = {"application_name", "role", "session_authorization"};

	for (size_t i = 0; i < lengthof(ours); i++)
	{
		if (pg_strcasecmp(name, ours[i]) == 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("setting \"%s\" cannot be given to a workload", name),
					 errdetail("The run sets role and application_name itself.")));
	}
	/* the parameter that most users will try here */
	if (pg_strcasecmp(name, "wal_sync_method") == 0)
		ereport(ERROR,
				(errcode(ERRCODE_CANT_CHANGE_RUNTIME_PARAM),
				 errmsg("parameter \"%s\" cannot be changed now", name),
				 errdetail("It applies to the whole cluster."),
				 errhint("Change it between two runs with ALTER SYSTEM SET wal_sync_method = ...; SELECT pg_reload_conf(); CALL sync_probe.wait_for_reload(); CHECKPOINT; and compare the rows of sync_probe.workload_results.")));
	if (strchr(name, '.') && GetConfigOption(name, true, false) == NULL)
	{
		sp_check_custom_name(name);
		return;
	}
	(void) set_config_option(name, value, superuser() ? PGC_SU_BACKEND : PGC_BACKEND,
							 PGC_S_CLIENT, GUC_ACTION_SET, false, ERROR, false);
}

/* The server accepts a startup packet of at most 10,000 bytes. */
#define MAX_OPTIONS_BYTES	8000

#define EACH_SETTING \
	"SELECT key, CASE WHEN jsonb_typeof(value) = ANY ('{string,number,boolean}')" \
	" THEN value #>> '{}' END FROM jsonb_each($1)"

/*
 * The settings of a jsonb object as session options, or an error that says what is
 * wrong.  A search_path is returned apart, since the schema of the run precedes it.
 */
char *
sp_workload_check_settings(Datum settings, char **search_path)
{
	Oid			types[] = {JSONBOID};
	MemoryContext context = CurrentMemoryContext;
	StringInfoData options;
	Size		bytes;

	if (!JB_ROOT_IS_OBJECT(DatumGetJsonbP(settings)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("settings must be a json object"),
				 errhint("For example: settings => '{\"synchronous_commit\": \"off\"}'.")));
	initStringInfo(&options);
	sp_spi_execute(EACH_SETTING, lengthof(types), types, &settings, NULL, SPI_OK_SELECT);
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		const char *name = SPI_getvalue(SPI_tuptable->vals[i], SPI_tuptable->tupdesc, 1);
		const char *value = SPI_getvalue(SPI_tuptable->vals[i], SPI_tuptable->tupdesc, 2);

		if (value == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("value of setting \"%s\" must be a string, a number or a boolean", name)));
		check_setting(name, value);
		if (pg_strcasecmp(name, "search_path") == 0)
			*search_path = MemoryContextStrdup(context, value);
		else
			sp_append_session_option(&options, name, value);
	}
	SPI_finish();
	/* each character of search_path may need an escape */
	bytes = options.len + (*search_path ? strlen(*search_path) * 2 : 0);
	if (bytes > MAX_OPTIONS_BYTES)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("settings of %zu bytes are too long", bytes),
				 errdetail("Encoded as connection options, they may take %d bytes.",
						   MAX_OPTIONS_BYTES)));
	return options.len > 0 ? options.data : NULL;
}
