/*-------------------------------------------------------------------------
 *
 * fixtures.h
 *	  Find and read captured trees and outputs.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FIXTURES_H
#define FIXTURES_H

#include "unit.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The path of a file in test/fixtures; path has PATH_MAX bytes. */
static inline void
fixture_file(char *path, const char *directory, const char *name)
{
	const char *fixtures = getenv("SP_FIXTURES");
	int			length = snprintf(path, PATH_MAX, "%s/%s/%s",
								  fixtures != NULL ? fixtures : "test/fixtures",
								  directory, name);

	assert_uint_in_range(length, 1, PATH_MAX - 1);
}

/* The path of the captured tree of a kind of system, for sysroot. */
static inline void
fixture_path(char *path, const char *kind)
{
	fixture_file(path, "sysroot", kind);
}

/*
 * Returns a copy of exactly its length, so that reading beyond it is detected,
 * or with so many NULs behind it.  The caller frees it.
 */
static inline char *
read_fixture(const char *directory, const char *name, size_t *length, size_t terminator)
{
	char		path[PATH_MAX];
	struct stat status;
	char	   *text;
	FILE	   *file;

	fixture_file(path, directory, name);
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

/* A copy of exactly that length, so that reading beyond it is detected.  The caller frees it. */
static inline char *
copy_bytes(const char *bytes, size_t length)
{
	char	   *copy = malloc(length > 0 ? length : 1);

	assert_non_null(copy);
	memcpy(copy, bytes, length);
	return copy;
}

#endif							/* FIXTURES_H */
