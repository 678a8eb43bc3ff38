/*-------------------------------------------------------------------------
 *
 * replay.c
 *	  Feeds a fuzz target with fixtures, as a test that needs no fuzzer.
 *
 * A program that is called replay_NAME takes the files of $SP_FIXTURES/fuzz/NAME,
 * which once broke something and are named after that, and those that the fuzzer
 * begins with.  Each is a line of TAP.  An input that the target dies of is named
 * before, and the plan is not fulfilled.
 *
 * It must not: include a server header, or change a file.
 *
 *-------------------------------------------------------------------------
 */
#include <dirent.h>
#include <errno.h>

#include "fuzz.h"

typedef struct input_list
{
	char	  **paths;
	size_t		count;
} input_list;

static int
is_input(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static void
add_directory(input_list *list, const char *directory)
{
	struct dirent **entries;
	int			count = scandir(directory, &entries, is_input, alphasort);

	/* a folder that was lost must not look like one that passed */
	require(count > 0);
	list->paths = realloc(list->paths,
						  (list->count + (size_t) count + 1) * sizeof(char *));
	require(list->paths != NULL);
	for (int i = 0; i < count; i++)
	{
		char		path[PATH_MAX];

		snprintf(path, sizeof(path), "%s/%s", directory, entries[i]->d_name);
		list->paths[list->count] = strdup(path);
		require(list->paths[list->count++] != NULL);
		free(entries[i]);
	}
	free(entries);
}

/* Of exactly its size, so that reading behind it is noticed. */
static void
feed(const char *path)
{
	FILE	   *file = fopen(path, "re");
	struct stat status;
	uint8_t    *content;
	size_t		size;

	require(file != NULL && fstat(fileno(file), &status) == 0);
	size = (size_t) status.st_size;
	content = malloc(size);
	require(content != NULL || size == 0);
	require(fread(content, 1, size, file) == size);
	fclose(file);
	require(LLVMFuzzerTestOneInput(content, size) == 0);
	free(content);
}

int
main(void)
{
	const char *fixtures = getenv("SP_FIXTURES");
	const char *name = strchr(program_invocation_short_name, '_');
	char		path[PATH_MAX];
	input_list	list = {0};

	require(name != NULL);
	fixtures = fixtures != NULL ? fixtures : "test/fixtures";
	snprintf(path, sizeof(path), "%s/fuzz/%s", fixtures, name + 1);
	add_directory(&list, path);
	snprintf(path, sizeof(path), "%s/%s", fixtures, fuzz_seeds);
	add_directory(&list, path);
	printf("1..%zu\n", list.count);
	for (size_t i = 0; i < list.count; i++)
	{
		printf("# %s\n", list.paths[i]);
		fflush(stdout);
		feed(list.paths[i]);
		printf("ok %zu - %s\n", i + 1, strrchr(list.paths[i], '/') + 1);
		free(list.paths[i]);
	}
	free(list.paths);
	return 0;
}
