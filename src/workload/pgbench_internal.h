/*-------------------------------------------------------------------------
 *
 * pgbench_internal.h
 *		What pgbench.c (the run) and pgbench_command.c (its command) share, and
 *		nobody else uses.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_PGBENCH_INTERNAL_H
#define SP_PGBENCH_INTERNAL_H

#include "workload/workload.h"

/* Names of the files of its log in the temporary directory begin so. */
#define SP_PGBENCH_LOG_PREFIX	"log"

extern char **sp_pgbench_argv(const sp_workload_run *run, const sp_pgbench_program *program,
							  const sp_temp_directory *directory, const char *script);
extern char **sp_pgbench_envp(const sp_workload_run *run);

#endif							/* SP_PGBENCH_INTERNAL_H */
