/*
 * Read captured outputs, and make captured and other trees.
 */
#ifndef FIXTURES_H
#define FIXTURES_H

#include "unit.h"

#include <glob.h>

#include "engine/storage/mounts.h"
#include "tree.h"

/* Of these, names are made that are too long. */
#define X51 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"

/* Names of captured files are relative to their folder. */
static void __attribute__((constructor))
enter_fixtures(void)
{
	const char *fixtures = getenv("SP_FIXTURES");

	if (chdir(fixtures != NULL ? fixtures : "test/fixtures") != 0)
		abort();
}

/* A captured file, with a NUL behind it.  The caller frees it. */
static inline char *
read_fixture(const char *path)
{
	char	   *text = NULL;
	size_t		size = 0;
	FILE	   *file = fopen(path, "re");
	ssize_t		length = file == NULL ? -1 : getdelim(&text, &size, '\0', file);

	if (length < 0)
		fail_msg("%s: %s", path, strerror(errno));
	fclose(file);
	/* so that reading behind it is noticed */
	return realloc(text, (size_t) length + 1);
}

/* "@PATH" is such a file, and anything else the text itself.  The caller frees it. */
static inline char *
fixture_text(const char *text)
{
	return text[0] == '@' ? read_fixture(text + 1) : strdup(text);
}

/* The root of a new tree, which is good until the next one. */
static inline const char *
new_tree(const char *text)
{
	const char *root = tree_root();

	if (!make_tree(root, text))
		fail_msg("%s", text);
	return root;
}

/* That of a captured tree. */
static inline const char *
fixture_tree(const char *path)
{
	char	   *text = read_fixture(path);
	const char *root = new_tree(text);

	free(text);
	return root;
}

/* Any part of this path would still be a directory. */
static inline const char *
path_too_long(void)
{
	static char path[PATH_MAX + 1];

	for (int i = 0; i < PATH_MAX; i++)
		path[i] = "/."[i % 2];
	return path;
}

/* What a test says of a path. */
typedef const char *(*describe_function) (const char *sysroot, const sp_mount_table *table,
										  const char *path);

/* In a captured tree, lines that begin so and go on "PATH: TEXT" are what is said there. */
static inline int
check_tree(const char *fixture, const char *begin, describe_function say)
{
	char	   *text = read_fixture(fixture);
	const char *sysroot = new_tree(text);
	char	   *rest = text;
	char	   *path;
	sp_mount_table table;
	int			fd = lowest_free_descriptor();
	int			checked = 0;

	assert_int_equal(sp_mount_table_read(sysroot, &table), 0);
	while ((path = strsep(&rest, "\n")) != NULL)
	{
		char	   *expected = strstr(path, ": ");

		if (strncmp(path, begin, strlen(begin)) != 0)
			continue;
		path += strlen(begin);
		*expected = '\0';
		if (strcmp(say(sysroot, &table, path), expected + 2) != 0)
			fail_msg("%s, path \"%s\": \"%s\"", fixture, path, say(sysroot, &table, path));
		checked++;
	}
	assert_int_equal(lowest_free_descriptor(), fd);
	sp_mount_table_free(&table);
	free(text);
	return checked;
}

static inline void
check_trees(const char *begin, describe_function say)
{
	glob_t		fixtures;
	int			checked = 0;

	assert_int_equal(glob("sysroot/*", 0, NULL, &fixtures), 0);
	for (size_t i = 0; i < fixtures.gl_pathc; i++)
		checked += check_tree(fixtures.gl_pathv[i], begin, say);
	assert_true(checked > 0);
	globfree(&fixtures);
}

#endif							/* FIXTURES_H */
