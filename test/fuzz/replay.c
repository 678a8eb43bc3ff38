/*-------------------------------------------------------------------------
 *
 * replay.c
 *	  Feeds a fuzz target with fixtures, as a test that needs no fuzzer.
 *
 * A program that is called replay_NAME takes the files of $SP_FIXTURES/fuzz/NAME,
 * which once broke something and are named after that, and those that the fuzzer
 * begins with.  Each is a line of TAP.  An input that the target dies of is named
 * before, and there is no plan then.
 *
 *-------------------------------------------------------------------------
 */
#include <dirent.h>

#include "fuzz.h"

static int
is_input(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
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

/* Returns how many inputs there were, those before included. */
static int
feed_directory(const char *parent, const char *name, int done)
{
	const char *fixtures = getenv("SP_FIXTURES");
	char		directory[PATH_MAX];
	struct dirent **entries;
	int			count;

	snprintf(directory, sizeof(directory), "%s/%s%s",
			 fixtures != NULL ? fixtures : "test/fixtures", parent, name);
	count = scandir(directory, &entries, is_input, alphasort);
	/* a folder that was lost must not look like one that passed */
	require(count > 0);
	for (int i = 0; i < count; i++)
	{
		char		path[2 * PATH_MAX];

		snprintf(path, sizeof(path), "%s/%s", directory, entries[i]->d_name);
		printf("# %s\n", path);
		fflush(stdout);
		feed(path);
		printf("ok %d - %s\n", done + i + 1, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	return done + count;
}

int
main(void)
{
	const char *name = strchr(program_invocation_short_name, '_');

	require(name != NULL);
	printf("1..%d\n", feed_directory("", fuzz_seeds, feed_directory("fuzz/", name + 1, 0)));
	return 0;
}
