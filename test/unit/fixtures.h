/*-------------------------------------------------------------------------
 *
 * fixtures.h
 *	  Find and read captured outputs, and unpack captured trees.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FIXTURES_H
#define FIXTURES_H

#include "unit.h"

#include "tree.h"

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

/* An empty directory in memory or /tmp, whose path the caller frees. */
static inline char *
make_directory(void)
{
	char	   *path = strdup(access("/dev/shm", W_OK) == 0 ? "/dev/shm/sp_test_XXXXXX" :
							  "/tmp/sp_test_XXXXXX");

	assert_non_null(path);
	assert_non_null(mkdtemp(path));
	return path;
}

/* Setup and teardown of a test whose state is the path of a directory. */
static inline int
make_state_directory(void **state)
{
	*state = make_directory();
	return 0;
}

static inline int
remove_state_directory(void **state)
{
	bool		removed = remove_tree(*state);

	free(*state);
	return removed ? 0 : -1;
}

#define TEST_IN_DIRECTORY(name) TEST_WITH(name, make_state_directory, remove_state_directory)

static char *unpacked;			/* where trees are, for as long as the program runs */

static inline void
remove_unpacked(void)
{
	(void) remove_tree(unpacked);
	free(unpacked);
}

/* The root of the captured tree of a kind of system; path has PATH_MAX bytes. */
static inline void
fixture_path(char *path, const char *kind)
{
	char	   *text;
	size_t		length;

	if (unpacked == NULL)
	{
		unpacked = make_directory();
		assert_int_equal(atexit(remove_unpacked), 0);
	}
	assert_uint_in_range(snprintf(path, PATH_MAX, "%s/%s", unpacked, kind), 1, PATH_MAX - 1);
	if (access(path, F_OK) == 0)
		return;
	text = read_fixture("sysroot", kind, &length, 1);
	if (!make_tree(path, text))
		fail_msg("test/fixtures/sysroot/%s: not understood", kind);
	free(text);
}

#endif							/* FIXTURES_H */
