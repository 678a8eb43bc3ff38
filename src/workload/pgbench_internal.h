/*-------------------------------------------------------------------------
 *
 * pgbench_internal.h
 *		Shared by pgbench.c (the run) and pgbench_command.c (its command) only.
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

#endif							/* SP_PGBENCH_INTERNAL_H */
