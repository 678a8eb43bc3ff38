/*-------------------------------------------------------------------------
 *
 * objects.c
 *		Make and drop the objects of a workload and its temporary directory, and find objects that
 *		are left over.
 *
 * The sessions of pgbench could not see objects of this uncommitted transaction.  So
 * pgbench runs set-up and tear-down, too.  What it takes to drop the objects is prepared
 * before they exist: after an error no catalog can be read.
 *
 * This backend holds the cluster lock while they exist, so that a schema which is there is a
 * leftover for whoever holds it.  What a run cannot drop, after a crash or a shutdown, the next
 * run of the role or cleanup() drops.
 *
 * It must not: execute SQL of a user itself, or depend on search_path, which a user may have set.
 *
 *-------------------------------------------------------------------------
 */
#include "workload/workload.h"

#include <sys/stat.h>

#include "catalog/pg_database.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "storage/lwlock.h"
#include "utils/builtins.h"

#include "compat.h"

/* How long set-up, tear-down and drop wait for each lock. */
#define LOCK_TIMEOUT		"10s"

/*
 * Any role that may connect can hold locks on the objects, and release each shortly before the
 * wait for it ends.  So all of a drop has a limit, too.
 */
#define DROP_MAX_MS			30000

/* After an error of the run, for the tear-down and for the drop. */
#define GIVE_UP_MS			5000

/*
 * A run does not wait long for leftovers.  Those of other roles may be large, and even a
 * superuser need not wait for them.
 */
#define LEFTOVER_LOCK_TIMEOUT	"200ms"
#define LEFTOVERS_MAX_MS	1000

/* How long sessions of the run may take to end once they are ended. */
#define SESSIONS_MAX_MS		5000

/* -------------------------------------------------------------- the directory */

/*
 * It holds the scripts, and the FIFOs that pgbench writes its transaction log to.  The server
 * removes it after a crash, unless remove_temp_files_after_crash is off; then the next run does.
 *
 * It must not: be anywhere else, or be accessible to other users of the operating system, since
 * scripts may be confidential.
 */
static void
failed(const char *verb, const char *kind, const char *path)
{
	ereport(ERROR,
			(sp_errcode_for_file_access(),
			 errmsg("could not %s %s \"%s\": %m", verb, kind, path)));
}

static void
make_directory(void)
{
	if (MakePGDirectory("base/" PG_TEMP_FILES_DIR) != 0 && errno != EEXIST)
		failed("create", "directory", "base/" PG_TEMP_FILES_DIR);
	(void) sp_workload_directory_remove();
	if (mkdir(SP_WORKLOAD_DIRECTORY, S_IRWXU) != 0)
		failed("create", "directory", SP_WORKLOAD_DIRECTORY);
}

/* Create a file with that content, and return its path. */
char *
sp_workload_directory_write(const char *name, const char *content)
{
	char	   *path = psprintf(SP_WORKLOAD_DIRECTORY "/%s", name);
	FILE	   *file = AllocateFile(path, "wx");

	if (file == NULL)
		failed("create", "file", path);
	if (fputs(content, file) == EOF || FreeFile(file) != 0)
		failed("write", "file", path);
	return path;
}

/* May be called while the backend exits. */
bool
sp_workload_directory_remove(void)
{
	struct stat status;

	if (lstat(SP_WORKLOAD_DIRECTORY, &status) != 0)
	{
		if (errno != ENOENT)
			ereport(WARNING,
					(sp_errcode_for_file_access(),
					 errmsg("could not stat file \"%s\": %m", SP_WORKLOAD_DIRECTORY)));
		return false;
	}
	/* rmtree() sends a WARNING for what it cannot remove */
	return S_ISDIR(status.st_mode) && rmtree(SP_WORKLOAD_DIRECTORY, true);
}

/* ----------------------------------------------------------------- the schema */

/* The comment: with the name it marks a schema as ours. */
#define MARKER \
	"Objects of a workload that sync_probe.pgbench() runs; if none is running, sync_probe.cleanup() drops them"

#define LEFTOVERS \
	"SELECT n.nspname FROM pg_namespace AS n" \
	" WHERE n.nspname ~ '^" SP_WORKLOAD_SCHEMA_PREFIX "[0-9a-f]{8}$'" \
	" AND obj_description(n.oid, 'pg_namespace') = '" MARKER "'"

/* Those that the current user may drop. */
int
sp_schema_drop_leftovers(void)
{
	List	   *dropped = sp_spi_column("SELECT " SP_SCHEMA "_internal.drop_leftovers(ARRAY("
										LEFTOVERS " AND pg_has_role(n.nspowner, 'USAGE')))",
										0, NULL, NULL, SP_AS_CALLER);

	return pg_strtoint32(linitial(dropped));
}

/* ---------------------------------------------------------------- what is run */

/*
 * The end of pgbench does not end a session that executes a statement, such as the drop of a large
 * leftover.
 */
static char *
after_sessions(const sp_workload_run *run, const char *sql)
{
	return psprintf("SELECT pg_catalog.pg_terminate_backend(pid, %d)" SP_WORKLOAD_SESSIONS
					" AND pid OPERATOR(pg_catalog.<>) pg_catalog.pg_backend_pid();\n%s\n;\n",
					SESSIONS_MAX_MS, NameStr(run->schema), GetUserId(), sql);
}

static char *
drop_sql(const char *schema)
{
	return psprintf("CALL " SP_SCHEMA "_internal.drop_schema('%s');\n", schema);
}

static void
watch_space(void *context pg_attribute_unused(), sp_child *child)
{
	if (child->runs)
		sp_check_wal_reserve();
}

static void
prepare_scripts(sp_workload_run *run)
{
	int			limit_ms = sp_workload_limit_ms(sp_max_duration_ms);
	const char *schema = NameStr(run->schema);

	/* one implicit transaction: a schema without its comment would never be dropped */
	const char *set_up = psprintf("CREATE SCHEMA %s\\;\nCOMMENT ON SCHEMA %s IS '%s';\n%s", schema,
								  schema, MARKER, run->workload.setup ? run->workload.setup : "");

	run->set_up = sp_pgbench_prepare(run, "set_up.sql", "set up", after_sessions(run, set_up),
									 false, LOCK_TIMEOUT, limit_ms);
	run->set_up->program.meanwhile = watch_space;
	if (run->workload.teardown)
		run->tear_down = sp_pgbench_prepare(run, "tear_down.sql", "tore down",
											after_sessions(run, run->workload.teardown), true,
											LOCK_TIMEOUT, limit_ms);
	run->drop = sp_pgbench_prepare(run, "drop.sql", "dropped the schema of",
								   after_sessions(run, drop_sql(schema)), true,
								   LOCK_TIMEOUT, DROP_MAX_MS);
}

/* Nobody needs to know what cannot be dropped: a later run tries again. */
static void
drop_own_leftovers(const sp_workload_run *run)
{
	const char *own = psprintf(LEFTOVERS " AND n.nspowner = %u", GetUserId());
	StringInfoData sql;
	ListCell   *cell;

	initStringInfo(&sql);
	foreach(cell, sp_spi_column(own, 0, NULL, NULL, SP_AS_CALLER))
		appendStringInfoString(&sql, drop_sql(lfirst(cell)));
	if (sql.len > 0)
	{
		const sp_pgbench_once *drop =
			sp_pgbench_prepare(run, "leftovers.sql", "dropped leftovers of", sql.data, true,
							   LEFTOVER_LOCK_TIMEOUT, LEFTOVERS_MAX_MS);

		sp_child_run_silently(&drop->program, LEFTOVERS_MAX_MS);
	}
}

/* -------------------------------------------------------------- make and drop */

void
sp_workload_make(sp_workload_run *run)
{
	sp_check_wal_reserve();
	sp_pgbench_find(run);
	/* 32 random bits: a collision with one of a few leftovers is very unlikely */
	snprintf(NameStr(run->schema), NAMEDATALEN, SP_WORKLOAD_SCHEMA_PREFIX "%08x",
			 pg_prng_uint32(&pg_global_prng_state));
	make_directory();
	prepare_scripts(run);
	drop_own_leftovers(run);
	run->has_objects = true;
	if (run->is_procedure)
		sp_release_snapshots();
	sp_pgbench_run_once(run, run->set_up, ERROR);
}

/* The drop is tried even if the tear-down has failed. */
void
sp_workload_unmake(sp_workload_run *run)
{
	const sp_pgbench_once *tear_down = run->tear_down;

	sp_child_end(&run->load);
	run->tear_down = NULL;
	if (tear_down)
		sp_pgbench_run_once(run, tear_down, WARNING);
	sp_pgbench_run_once(run, run->drop, WARNING);
	(void) sp_workload_directory_remove();
}

/* DROP DATABASE waits 5 s for this backend with FORCE, and new sessions would wait for that. */
void
sp_workload_give_up(int code pg_attribute_unused(), Datum arg)
{
	sp_workload_run *run = (sp_workload_run *) DatumGetPointer(arg);
	LOCKTAG		database;

	sp_child_end(&run->load);
	LWLockReleaseAll();
	SET_LOCKTAG_OBJECT(database, InvalidOid, DatabaseRelationId, MyDatabaseId, 0);
	if (run->has_objects &&
		LockAcquire(&database, RowExclusiveLock, false, true) != LOCKACQUIRE_NOT_AVAIL)
	{
		LockRelease(&database, RowExclusiveLock, false);
		if (run->tear_down)
			sp_child_run_silently(&run->tear_down->program, GIVE_UP_MS);
		sp_child_run_silently(&run->drop->program, GIVE_UP_MS);
	}
	(void) sp_workload_directory_remove();
}
