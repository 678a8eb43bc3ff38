/*-------------------------------------------------------------------------
 *
 * fixtures.h
 *	  Where captured trees and outputs are.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FIXTURES_H
#define FIXTURES_H

#include "unit.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

/* path: room for PATH_MAX; of a file of test/fixtures. */
static inline void
fixture_file(char *path, const char *folder, const char *name)
{
	const char *fixtures = getenv("SP_FIXTURES");
	int			length = snprintf(path, PATH_MAX, "%s/%s/%s",
								  fixtures != NULL ? fixtures : "test/fixtures",
								  folder, name);

	assert_in_range(length, 1, PATH_MAX - 1);
}

/* The same of a kind of system, for sysroot. */
static inline void
fixture_path(char *path, const char *kind)
{
	fixture_file(path, "sysroot", kind);
}

#endif							/* FIXTURES_H */
