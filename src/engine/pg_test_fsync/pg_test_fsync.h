/*-------------------------------------------------------------------------
 *
 * engine/pg_test_fsync/pg_test_fsync.h
 *		Reports of the program pg_test_fsync.
 *
 * As PostgreSQL 9.1 to 19 print them in English.  PostgreSQL 11 and later translate
 * them: of such a report the lines with figures are understood.
 *
 * It must not: include a server header, allocate, print, or run that program.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_ENGINE_PG_TEST_FSYNC_H
#define SP_ENGINE_PG_TEST_FSYNC_H

#include "engine/pg_test_fsync/report.h"

#endif							/* SP_ENGINE_PG_TEST_FSYNC_H */
