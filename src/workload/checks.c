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
#include "catalog/namespace.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_database.h"
#include "catalog/pg_tablespace.h"
#include "catalog/pg_type.h"
#include "commands/dbcommands.h"
#include "commands/tablespace.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "pgstat.h"
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

/* pgbench and the background worker log in as the current role. */
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

/* Reports, errors and sessions of pgbench show the content of a script. */
static void
check_readable(const sp_workload *workload)
{
	Oid			table = get_relname_relid("workloads", get_namespace_oid(SP_SCHEMA, false));

	if (pg_class_aclcheck(table, GetUserId(), ACL_SELECT) != ACLCHECK_OK)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied to run workload \"%s\"", NameStr(workload->name)),
				 errdetail("It is not builtin. The output of pgbench shows its script, so the role must be able to read it."),
				 errhint("GRANT SELECT ON " SP_SCHEMA ".workloads TO %s;",
						 quote_identifier(GetUserNameFromId(GetUserId(), false)))));
}

/*
 * May the current user run this script?  It runs with the privileges of the current
 * user, which its author thereby gains.  An author who can SET ROLE to that role gains
 * nothing.  For any other author the caller must confirm that the script is trusted.
 *
 * So must he where the row hides a builtin workload, whoever its author is: who runs that
 * by its name has not read it, and a superuser who restores another's dump has stored
 * whatever rows and authors are in there.
 *
 * To run the script as its author would not help: pgbench's \shell and \setshell run as
 * the operating system account of the server, whatever the role of the session.  It
 * would also measure something else, since each role has its own settings and
 * privileges on tablespaces.
 *
 * has_trust: the caller has an argument "trust", which the hint may name.
 */
void
sp_workload_check_script(const sp_workload *workload, bool trust, bool has_trust)
{
	const char *name = NameStr(workload->name);
	const char *author = NameStr(workload->author);
	Oid			role = get_role_oid(author, true);

	if (workload->builtin)
		return;
	check_readable(workload);
	if (trust || (!workload->hides_builtin && OidIsValid(role) &&
				  role == workload->author_oid && sp_can_act_as(role, GetUserId())))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 workload->hides_builtin ?
			 errmsg("workload \"%s\" is not the builtin workload of that name, and is not trusted", name) :
			 errmsg("workload \"%s\" was written by role \"%s\", and is not trusted", name, author),
			 errdetail("Its SQL would be executed as role \"%s\", its \\shell commands as the operating system account of the server.",
					   GetUserNameFromId(GetUserId(), false)),
			 has_trust ?
			 errhint("Read it with SELECT * FROM " SP_SCHEMA ".workloads WHERE workload = %s; then pass trust => true.",
					 quote_literal_cstr(name)) :
			 errhint("Read it with SELECT * FROM " SP_SCHEMA ".workloads WHERE workload = %s; then insert a copy under a name of your own.",
					 quote_literal_cstr(name))));
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
	const char *publication = NULL;

	sp_spi_connect();
	sp_history_execute("SELECT pubname FROM pg_catalog.pg_publication WHERE puballtables ORDER BY pubname LIMIT 1",
					   0, NULL, NULL, NULL, SPI_OK_SELECT);
	if (SPI_processed > 0)
		publication = SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1);
	if (publication)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cannot run a workload in database \"%s\", whose tables are all published",
						get_database_name(MyDatabaseId)),
				 errdetail("Publication \"%s\" is FOR ALL TABLES. Its subscribers do not have the tables of a workload, and would fail at the first row.",
						   publication),
				 has_allow ?
				 errhint("Run it in another database. If there are no subscribers, pass allow_publication => true.") :
				 errhint("Run it in another database.")));
	SPI_finish();
}

/* -------------------------------------------------------------- connections */

/* The current numbers of client sessions: all, of the role, of the database. */
typedef struct session_counts
{
	Oid			role;
	int			all;
	int			of_role;
	int			of_database;
} session_counts;

static int
int_column(int column)
{
	bool		isnull;

	return DatumGetInt32(sp_history_value(column, &isnull));
}

/* The current user may not see the backend_type of other users' sessions. */
static void
count_sessions(void *arg)
{
	session_counts *counts = arg;
	Oid			types[] = {OIDOID, OIDOID};
	Datum		values[] = {ObjectIdGetDatum(counts->role), ObjectIdGetDatum(MyDatabaseId)};

	sp_history_execute("SELECT pg_catalog.count(*)::pg_catalog.int4,"
					   " pg_catalog.count(*) FILTER (WHERE usesysid OPERATOR(pg_catalog.=) $1)::pg_catalog.int4,"
					   " pg_catalog.count(*) FILTER (WHERE datid OPERATOR(pg_catalog.=) $2)::pg_catalog.int4"
					   " FROM pg_catalog.pg_stat_activity"
					   " WHERE backend_type OPERATOR(pg_catalog.=) 'client backend'",
					   lengthof(types), types, values, NULL, SPI_OK_SELECT);
	counts->all = int_column(1);
	counts->of_role = int_column(2);
	counts->of_database = int_column(3);
}

/* CONNECTION LIMIT of the role and of the database; -1 is none. */
static void
connection_limits(Oid role, int *of_role, int *of_database)
{
	HeapTuple	role_tuple = SearchSysCache1(AUTHOID, ObjectIdGetDatum(role));
	HeapTuple	database_tuple = SearchSysCache1(DATABASEOID, ObjectIdGetDatum(MyDatabaseId));

	if (!HeapTupleIsValid(role_tuple) || !HeapTupleIsValid(database_tuple))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("the current role or database was dropped")));
	*of_role = ((Form_pg_authid) GETSTRUCT(role_tuple))->rolconnlimit;
	*of_database = ((Form_pg_database) GETSTRUCT(database_tuple))->datconnlimit;
	ReleaseSysCache(role_tuple);
	ReleaseSysCache(database_tuple);
}

/* The limit that leaves the fewest connections. */
typedef struct tightest_limit
{
	const char *what;
	int			limit;
	int			used;
	int			room;			/* connections that are free */
} tightest_limit;

/* limit: negative if there is no limit */
static void
consider_limit(tightest_limit *tightest, const char *what, int limit, int used)
{
	int			room = Max(limit - used, 0);

	if (limit < 0 || (tightest->what && room >= tightest->room))
		return;
	*tightest = (tightest_limit) {.what = what, .limit = limit, .used = used, .room = room};
}

static tightest_limit
find_tightest_limit(void)
{
	session_counts counts = {.role = GetUserId()};
	tightest_limit tightest = {0};
	int			of_role;
	int			of_database;

	/* count the sessions of now, not those of an earlier snapshot */
	pgstat_clear_snapshot();
	sp_as_history_owner(count_sessions, &counts);
	if (superuser())
	{
		consider_limit(&tightest, "max_connections", MaxConnections, counts.all);
		return tightest;
	}
	connection_limits(counts.role, &of_role, &of_database);
	consider_limit(&tightest, "max_connections, without reserved connections,",
				   Max(MaxConnections - sp_reserved_connections(), 0), counts.all);
	consider_limit(&tightest, "The role's CONNECTION LIMIT", of_role, counts.of_role);
	consider_limit(&tightest, "The database's CONNECTION LIMIT", of_database, counts.of_database);
	return tightest;
}

static int
most_clients(const tightest_limit *tightest, bool new_connections)
{
	return (tightest->room - 1) / (new_connections ? 2 : 1);
}

/*
 * Are there enough free connections?  pgbench opens one connection before those of its
 * clients, and its backend may still exist when these connect.  With new_connections
 * the same holds for each client.
 */
void
sp_workload_check_connections(int clients, bool new_connections)
{
	tightest_limit tightest = find_tightest_limit();
	int			max_clients = most_clients(&tightest, new_connections);

	if (clients > max_clients)
		ereport(ERROR,
				(errcode(ERRCODE_TOO_MANY_CONNECTIONS),
				 errmsg_plural("not enough free connections for %d client",
							   "not enough free connections for %d clients", clients, clients),
				 errdetail("%s limits sessions to %d; in use: %d. pgbench needs one connection more than clients%s.",
						   tightest.what, tightest.limit, tightest.used,
						   new_connections ? ", and with new_connections a second one for each client" : ""),
				 max_clients > 0 ?
				 errhint("Argument \"clients\" can be at most %d now.", max_clients) :
				 errhint("Wait until some sessions have ended, or raise the limit.")));
}

/*
 * For a caller without an argument "clients": that many clients, or fewer, so that some
 * connections stay free for others.  An error if there is none.
 */
int
sp_workload_fit_clients(int wanted, bool new_connections)
{
	tightest_limit tightest = find_tightest_limit();
	int			max_clients = most_clients(&tightest, new_connections);

	if (max_clients < 1)
		sp_workload_check_connections(1, new_connections);
	return Min(wanted, Max(max_clients - SPARE_CONNECTIONS, 1));
}

/* ------------------------------------------------------------------ EXECUTE */

/*
 * EXECUTE on pgbench() or run_workload() is the right to run builtin workloads.  A function
 * that runs one on behalf of its caller must not lend it.
 */
void
sp_workload_check_execute(void)
{
	bool		isnull;
	bool		allowed;

	sp_spi_connect();
	sp_history_execute("SELECT EXISTS (SELECT FROM pg_catalog.pg_proc p"
					   " JOIN pg_catalog.pg_namespace n"
					   " ON p.pronamespace OPERATOR(pg_catalog.=) n.oid"
					   " WHERE n.nspname OPERATOR(pg_catalog.=) '" SP_SCHEMA "'"
					   " AND p.proname OPERATOR(pg_catalog.=) ANY ('{pgbench,run_workload}')"
					   " AND pg_catalog.has_function_privilege(p.oid, 'EXECUTE'))",
					   0, NULL, NULL, NULL, SPI_OK_SELECT);
	allowed = DatumGetBool(sp_history_value(1, &isnull));
	SPI_finish();
	if (!allowed)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied to run a workload"),
				 errdetail("It needs EXECUTE on pgbench() or run_workload()."),
				 errhint("GRANT EXECUTE ON PROCEDURE " SP_SCHEMA ".run_workload TO %s;",
						 quote_identifier(GetUserNameFromId(GetUserId(), false)))));
}
