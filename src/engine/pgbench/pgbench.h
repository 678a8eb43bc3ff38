/*-------------------------------------------------------------------------
 *
 * engine/pgbench/pgbench.h
 *		Scripts for pgbench, and its output.
 *
 * Its output, its transaction log, and the variables in its scripts, as
 * PostgreSQL 15 to 19 have them.
 *
 * It must not: include a server header, allocate, print, open a file, or start
 * a program.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_ENGINE_PGBENCH_H
#define SP_ENGINE_PGBENCH_H

#include "engine/pgbench/log.h"
#include "engine/pgbench/output.h"
#include "engine/pgbench/script_variables.h"

#endif							/* SP_ENGINE_PGBENCH_H */
