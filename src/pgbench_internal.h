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

#include "workload.h"

/* Names of its logs in the scratch folder begin so. */
#define SP_PGBENCH_LOG_PREFIX	"log"

extern char *const sp_pgbench_environment[];

/* most_log_bytes: what the log must not exceed. */
extern char **sp_pgbench_argv(sp_workload_run *run, const sp_scratch *scratch, const char *script,
							  int64 *most_log_bytes);

#endif							/* SP_PGBENCH_INTERNAL_H */
