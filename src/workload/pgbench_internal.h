/*-------------------------------------------------------------------------
 *
 * pgbench_internal.h
 *		Shared by pgbench.c, pgbench_command.c and load.c only: the command, its errors.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_PGBENCH_INTERNAL_H
#define SP_PGBENCH_INTERNAL_H

#include "workload/workload.h"

/* The prefix of log file names in the temporary directory. */
#define SP_PGBENCH_LOG_PREFIX	"log"

extern char **sp_pgbench_argv(const sp_workload_run *run, bool with_log);
extern char **sp_pgbench_envp(const sp_workload_run *run);

/* How an error of pgbench begins. */
#define SP_PGBENCH_ERROR	"pgbench: error: "

extern void sp_pgbench_complain(int elevel, const sp_workload_run *run, const sp_child *child,
								const char *how, const char *what);
extern void sp_release_snapshots(void);

#endif							/* SP_PGBENCH_INTERNAL_H */
