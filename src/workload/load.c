/*-------------------------------------------------------------------------
 *
 * load.c
 *		Run a workload beside something else, until that has ended.
 *
 * A trial of a setting needs commits, and an idle server has none.  The workload has the
 * same checks, objects and command as a run of pgbench(), but no result: the
 * caller measures, and so decides how long it runs.  The caller holds the cluster lock.
 *
 * It must not: record anything, or wait for the end of pgbench.
 *
 *-------------------------------------------------------------------------
 */
#include "workload/workload.h"

#include "miscadmin.h"
#include "utils/builtins.h"

/* The defaults of pgbench(), see workload_results.sql. */
#define DEFAULT_CLIENTS		16
#define DEFAULT_THREADS		8
#define DEFAULT_ROWS		500000

/* It has to run as long as it is needed. */
static void
refuse_counted(const sp_workload *workload)
{
	if (workload->transactions > 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("workload \"%s\" cannot make load", NameStr(workload->name)),
				 errdetail("It runs a fixed number of transactions: %d per client.",
						   workload->transactions),
				 errhint("SELECT workload FROM " SP_SCHEMA ".workloads WHERE transactions IS NULL;")));
}

static void
choose_clients(sp_workload_run *run)
{
	run->clients = sp_workload_fit_clients(DEFAULT_CLIENTS, run->workload.new_connections);
	run->threads = Min(run->clients, DEFAULT_THREADS);
	if (run->clients < DEFAULT_CLIENTS)
		ereport(NOTICE,
				(errmsg_plural("workload \"%s\" runs with %d client instead of %d",
							   "workload \"%s\" runs with %d clients instead of %d", run->clients,
							   NameStr(run->workload.name), run->clients, DEFAULT_CLIENTS),
				 errdetail("There are not enough free connections.")));
}

sp_workload_run *
sp_load_make(const char *workload, int seconds)
{
	sp_workload_run *run = palloc0(sizeof(sp_workload_run));

	namestrcpy(&run->workload.name, workload);
	sp_workload_find(&run->workload);
	refuse_counted(&run->workload);
	sp_workload_check_privileges();
	sp_workload_check_publications(false);
	sp_workload_find_tablespace(NULL, run);
	choose_clients(run);
	run->rows = DEFAULT_ROWS;
	run->seconds = seconds;
	run->is_procedure = true;
	sp_workload_check_variables(run);
	return run;
}

/* Without progress and log: nobody wants them. */
void
sp_load_start(sp_workload_run *run)
{
	sp_child_program program = {
		.path = run->pgbench,
		.argv = sp_pgbench_argv(run, false),
		.envp = sp_pgbench_envp(run),
		.starts_others = true
	};

	sp_release_snapshots();
	sp_child_start(&run->load, &program);
}

/*
 * An error if it has ended, or has lost a client.  It goes on without that client, and fails
 * at its end, but that is never awaited.
 */
void
sp_load_check(sp_workload_run *run)
{
	char	   *lines;

	sp_check_wal_reserve();
	if (sp_child_has_ended(&run->load))
	{
		/* a cancel reaches both, and has the better message */
		CHECK_FOR_INTERRUPTS();
		sp_pgbench_complain(ERROR, run, &run->load, NULL, "ran");
	}
	lines = sp_child_new_lines(&run->load);
	if (strstr(lines, SP_PGBENCH_ERROR))
	{
		run->load.err = lines;
		sp_pgbench_complain(ERROR, run, &run->load, "reported an error", "ran");
	}
	pfree(lines);
}
