/*-------------------------------------------------------------------------
 *
 * checks.c
 *		Check privileges, tablespace, publications and free connections before a
 *		workload creates anything.
 *
 * The error messages say what is needed and what is there, with numbers or with the
 * GRANT command that helps.
 *
 * It must not: create anything, or read what the current user may not read, except
 * the number of sessions.
 *
 *-------------------------------------------------------------------------
 */
#include "workload/workload.h"

#include "access/htup_details.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_database.h"
#include "catalog/pg_tablespace.h"
#include "commands/dbcommands.h"
#include "commands/tablespace.h"
#include "miscadmin.h"
#include "storage/procarray.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "compat.h"
#include "storage/storage.h"

/* As many as superuser_reserved_connections by default. */
#define SPARE_CONNECTIONS	3

/* --------------------------------------------------------------- privileges */

/* pgbench logs in as the current role. */
static void
check_role(void)
{
	HeapTuple	tuple = SearchSysCache1(AUTHOID, ObjectIdGetDatum(GetUserId()));
	bool		can_login = HeapTupleIsValid(tuple) && ((Form_pg_authid) GETSTRUCT(tuple))->rolcanlogin;

	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	if (!can_login)
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

/* ------------------------------------------------------------- publications */

/*
 * A publication FOR ALL TABLES would send the tables of a run to subscribers that do
 * not have them.  One FOR TABLES IN SCHEMA cannot name the schema of the run, which is
 * new.  has_allow: the caller has an argument "allow_publication".
 */
void
sp_workload_check_publications(bool has_allow)
{
	List	   *publications = sp_spi_column("SELECT pubname FROM pg_publication WHERE puballtables"
											 " ORDER BY pubname LIMIT 1", 0, NULL, NULL, NULL);

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

/* The CONNECTION LIMITs of the role and the database; -1: none. */
static void
read_connection_limits(int *of_role, int *of_database)
{
	HeapTuple	role = SearchSysCache1(AUTHOID, ObjectIdGetDatum(GetUserId()));
	HeapTuple	database = SearchSysCache1(DATABASEOID, ObjectIdGetDatum(MyDatabaseId));

	if (!HeapTupleIsValid(role) || !HeapTupleIsValid(database))
		elog(ERROR, "cache lookup failed for the current role or database");
	*of_role = ((Form_pg_authid) GETSTRUCT(role))->rolconnlimit;
	*of_database = ((Form_pg_database) GETSTRUCT(database))->datconnlimit;
	ReleaseSysCache(role);
	ReleaseSysCache(database);
}

/*
 * Connections that are free, by the rules of the server: superusers may use reserved ones, and
 * no CONNECTION LIMIT holds for them.
 */
static int
free_connections(void)
{
	int			number = MaxConnections - CountDBConnections(InvalidOid);
	int			of_role;
	int			of_database;

	if (superuser())
		return number;
	/* also of a role that may use reserved_connections */
	number -= SuperuserReservedConnections + ReservedConnections;
	read_connection_limits(&of_role, &of_database);
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
