/*-------------------------------------------------------------------------
 *
 * pgbench_fixtures.h
 *	  What the tests of pgbench's outputs and logs share: captured files.
 *
 * They are named after the version that wrote them.  Those that no pgbench
 * wrote, but a person after the source of a newer one, say so in their names.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PGBENCH_FIXTURES_H
#define PGBENCH_FIXTURES_H

#include "fixtures.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/*
 * To be freed.  Of exactly its length, so that reading behind it is noticed;
 * or terminated, with a NUL that does not count.
 */
static inline char *
read_fixture(const char *name, size_t *length, size_t terminator)
{
	char		path[PATH_MAX];
	struct stat status;
	char	   *text;
	FILE	   *file;

	fixture_file(path, "pgbench", name);
	file = fopen(path, "re");
	if (file == NULL || fstat(fileno(file), &status) != 0)
		fail_msg("%s: %s", path, strerror(errno));
	*length = (size_t) status.st_size;
	text = calloc(*length + terminator, 1);
	assert_non_null(text);
	assert_int_equal(fread(text, 1, *length, file), *length);
	fclose(file);
	return text;
}

#endif							/* PGBENCH_FIXTURES_H */
