/*
 * Read captured outputs, and make captured and other trees.
 */
#ifndef FIXTURES_H
#define FIXTURES_H

#include "unit.h"

#include "engine/storage/mounts.h"
#include "tree.h"

/* Of these, names are made that are too long. */
#define X51 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"

/* A file of test/fixtures, with a NUL behind it.  The caller frees it. */
static inline char *
read_fixture(const char *directory, const char *name)
{
	const char *fixtures = getenv("SP_FIXTURES");
	char		path[PATH_MAX];
	struct stat status;
	char	   *text;
	FILE	   *file;

	snprintf(path, sizeof(path), "%s/%s/%s", fixtures != NULL ? fixtures : "test/fixtures",
			 directory, name);
	file = fopen(path, "re");
	if (file == NULL || fstat(fileno(file), &status) != 0)
		fail_msg("%s: %s", path, strerror(errno));
	text = calloc((size_t) status.st_size + 1, 1);
	assert_non_null(text);
	assert_int_equal(fread(text, 1, (size_t) status.st_size, file), status.st_size);
	fclose(file);
	return text;
}

/* "@NAME" is such a file, and anything else the text itself.  The caller frees it. */
static inline char *
fixture_text(const char *directory, const char *text)
{
	return text[0] == '@' ? read_fixture(directory, text + 1) : strdup(text);
}

/* The root of a new tree, which is good until the next one. */
static inline const char *
new_tree(const char *text)
{
	static int	number;
	char		name[32];
	const char *root;

	snprintf(name, sizeof(name), "%d", number++);
	root = tree_root(name);
	if (!make_tree(root, text))
		fail_msg("%s", text);
	return root;
}

/* The root of the captured tree of a kind of system, which is good until the next one. */
static inline const char *
fixture_tree(const char *kind)
{
	const char *root = tree_root(kind);
	char	   *text;

	if (access(root, F_OK) == 0)
		return root;
	text = read_fixture("sysroot", kind);
	if (!make_tree(root, text))
		fail_msg("test/fixtures/sysroot/%s: not understood", kind);
	free(text);
	return root;
}

/* What a test says of a path. */
typedef const char *(*describe_function) (const char *sysroot, const sp_mount_table *table,
										  const char *path);

/* Lines "= SUBJECT PATH: TEXT" of captured trees are what is said there.  Each kind has some. */
static inline void
check_kinds(const char *subject, const char *const *kinds, size_t n, describe_function say)
{
	for (size_t i = 0; i < n; i++)
	{
		const char *sysroot = fixture_tree(kinds[i]);
		char	   *text = read_fixture("sysroot", kinds[i]);
		char	   *rest = text;
		char	   *line;
		sp_mount_table table;
		int			checked = 0;

		assert_int_equal(sp_mount_table_read(sysroot, &table), 0);
		while ((line = strsep(&rest, "\n")) != NULL)
		{
			const char *marks = strsep(&line, " ");
			const char *name = strsep(&line, " ");
			char	   *expected = line != NULL ? strstr(line, ": ") : NULL;
			int			fd = lowest_free_descriptor();

			if (strcmp(marks, "=") != 0 || strcmp(name, subject) != 0)
				continue;
			*expected = '\0';
			if (strcmp(say(sysroot, &table, line), expected + 2) != 0)
				fail_msg("%s, path \"%s\": \"%s\"", kinds[i], line, say(sysroot, &table, line));
			assert_int_equal(lowest_free_descriptor(), fd);
			checked++;
		}
		assert_true(checked > 0);
		sp_mount_table_free(&table);
		free(text);
	}
}

#endif							/* FIXTURES_H */
