/*-------------------------------------------------------------------------
 *
 * checks.c
 *		Check privileges, tablespace, publications, free connections, and the settings of the
 *		sessions before a workload creates anything.
 *
 * Error messages have what is needed and what is there, with numbers or with the
 * GRANT command that helps.
 *
 * It must not: create anything, set anything in this session, or read what the current user may
 * not read, except the number of sessions.
 *
 *-------------------------------------------------------------------------
 */
#include "workload/workload.h"

#include "catalog/pg_authid.h"
#include "catalog/pg_tablespace.h"
#include "catalog/pg_type.h"
#include "commands/dbcommands.h"
#include "commands/tablespace.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "storage/procarray.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"

#include "compat.h"

/* As many as superuser_reserved_connections by default. */
#define SPARE_CONNECTIONS	3

/* --------------------------------------------------------------- privileges */

/* pgbench logs in as the current role. */
static void
check_role(void)
{
	if (sp_spi_column("SELECT 1 FROM pg_roles WHERE rolname = current_user AND rolcanlogin",
					  0, NULL, NULL, SP_AS_CALLER) == NIL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_AUTHORIZATION_SPECIFICATION),
				 errmsg("role \"%s\" cannot run a workload", GetUserNameFromId(GetUserId(), false)),
				 errdetail("The sessions of a workload log in as the current role, which does not have the LOGIN attribute."),
				 errhint("Run it as a role that can log in.")));
}

/* The privileges needed besides EXECUTE on the function and CREATE on the tablespace. */
void
sp_workload_check_privileges(void)
{
	const char *user = quote_identifier(GetUserNameFromId(GetUserId(), false));

	if (!has_privs_of_role(GetUserId(), ROLE_PG_EXECUTE_SERVER_PROGRAM))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied to run a workload"),
				 errdetail("Only roles with privileges of the \"%s\" role may run a program on the server.",
						   "pg_execute_server_program"),
				 errhint("GRANT pg_execute_server_program TO %s;", user)));
	if (!DatumGetBool(DirectFunctionCall2(has_database_privilege_id, ObjectIdGetDatum(MyDatabaseId),
										  CStringGetTextDatum("CREATE"))))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for database \"%s\"", get_database_name(MyDatabaseId)),
				 errdetail("A workload creates its objects in a new schema."),
				 errhint("GRANT CREATE ON DATABASE %s TO %s;",
						 quote_identifier(get_database_name(MyDatabaseId)), user)));
	check_role();
}

/*
 * Find the tablespace; NULL is that of the database.  Sets run->tablespace and
 * run->default_tablespace.
 */
void
sp_workload_find_tablespace(const char *name, sp_workload_run *run)
{
	sp_location location = {0};

	location.tablespace = name ? get_tablespace_oid(name, true) : MyDatabaseTableSpace;
	if (!OidIsValid(location.tablespace))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("tablespace \"%s\" does not exist", name),
				 errhint("See SELECT spcname FROM pg_tablespace. WAL always goes to pg_wal, whatever the tablespace.")));
	if (location.tablespace == GLOBALTABLESPACE_OID)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a workload cannot run in tablespace \"%s\"", name),
				 errhint("It holds only shared catalogs. Use \"pg_default\", which is on the same file system.")));
	namestrcpy(&location.name, name ? name : get_tablespace_name(location.tablespace));
	sp_location_check_privilege(&location);
	run->tablespace = location.name;
	run->default_tablespace = location.tablespace == MyDatabaseTableSpace;
}

/*
 * A publication FOR ALL TABLES would send the tables of a run to subscribers that do
 * not have them.  One FOR TABLES IN SCHEMA cannot name the schema of the run, which is
 * new.  has_allow: the caller has an argument "allow_publication".
 */
void
sp_workload_check_publications(bool has_allow)
{
	List	   *publications = sp_spi_column("SELECT pubname FROM pg_publication WHERE puballtables"
											 " ORDER BY pubname LIMIT 1", 0, NULL, NULL,
											 SP_AS_CALLER);

	if (publications)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cannot run a workload in database \"%s\", whose tables are all published",
						get_database_name(MyDatabaseId)),
				 errdetail("Publication \"%s\" is FOR ALL TABLES. Its subscribers do not have the tables of a workload, and would fail at the first row.",
						   (char *) linitial(publications)),
				 has_allow ?
				 errhint("Run it in another database. If there are no subscribers, pass allow_publication => true.") :
				 errhint("Run it in another database.")));
}

/* -------------------------------------------------------------- connections */

/*
 * Connections that are free, by the rules of the server: superusers may use reserved ones, and
 * no CONNECTION LIMIT holds for them.
 */
static int
free_connections(void)
{
	int			number = MaxConnections - CountDBConnections(InvalidOid);
	List	   *limits;			/* CONNECTION LIMITs; -1: none */
	int			of_role;
	int			of_database;

	if (superuser())
		return number;
	/* reserved also for a role that may use reserved_connections, which the server has since 16 */
	limits = sp_spi_column("SELECT unnest(ARRAY[(SELECT rolconnlimit FROM pg_roles"
						   " WHERE rolname = current_user), (SELECT datconnlimit FROM pg_database"
						   " WHERE datname = current_database()),"
						   " current_setting('superuser_reserved_connections')::int"
						   " + coalesce(current_setting('reserved_connections', true)::int, 0)])",
						   0, NULL, NULL, SP_AS_CALLER);
	of_role = pg_strtoint32(linitial(limits));
	of_database = pg_strtoint32(lsecond(limits));
	number -= pg_strtoint32(lthird(limits));
	if (of_role >= 0)
		number = Min(number, of_role - CountUserBackends(GetUserId()));
	if (of_database >= 0)
		number = Min(number, of_database - CountDBConnections(MyDatabaseId));
	return number;
}

/*
 * pgbench opens one connection before those of its clients, and its backend may still exist
 * when these connect.  With new_connections the same holds for each client.
 */
static int
most_clients(bool new_connections)
{
	return Max(free_connections() - 1, 0) / (new_connections ? 2 : 1);
}

/* Are there enough free connections? */
void
sp_workload_check_connections(int clients, bool new_connections)
{
	int			max_clients = most_clients(new_connections);

	if (clients > max_clients)
		ereport(ERROR,
				(errcode(ERRCODE_TOO_MANY_CONNECTIONS),
				 errmsg_plural("not enough free connections for %d client",
							   "not enough free connections for %d clients", clients, clients),
				 errdetail("There are enough for %d within max_connections and the CONNECTION LIMIT of role and database. pgbench needs one connection more than clients%s.",
						   max_clients, new_connections ? ", and with new_connections a second one for each client" : ""),
				 errhint("Lower \"clients\", wait until sessions have ended, or raise the limit.")));
}

/*
 * For a caller without an argument "clients": that many clients, or fewer, so that some
 * connections stay free for others.  An error if there is none.
 */
int
sp_workload_fit_clients(int wanted, bool new_connections)
{
	int			max_clients = most_clients(new_connections);

	if (max_clients < 1)
		sp_workload_check_connections(1, new_connections);
	return Min(wanted, Max(max_clients - SPARE_CONNECTIONS, 1));
}

/* ----------------------------------------------------------------- settings */

/*
 * Check a setting as SET does, without setting it, but also of those that only a new session can
 * have.  When a client connects, the server takes any tablespace.  Of a custom parameter that is
 * not defined, only the name is checked: any value is valid, and a check of it would define the
 * parameter in this session.
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
							 PGC_S_SESSION, GUC_ACTION_SET, false, ERROR, false);
}

/* The server accepts a startup packet of at most 10,000 bytes. */
#define MAX_OPTIONS_BYTES	8000

#define EACH_SETTING \
	"SELECT key, CASE WHEN jsonb_typeof(value) = ANY ('{string,number,boolean}')" \
	" THEN value #>> '{}' END FROM jsonb_each($1)"

/*
 * The settings of a jsonb object as session options, or an error that names what is
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
	sp_spi_execute(EACH_SETTING, lengthof(types), types, &settings, SP_AS_CALLER);
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
