/*
 * Feeds a fuzz target with fixtures, as a test that needs no fuzzer.
 *
 * A program that is called replay_NAME takes the files of $SP_FIXTURES/fuzz/NAME,
 * which once broke something and are named after that, and those that the fuzzer
 * begins with.  Each is a line of TAP.  An input that the target dies of is named
 * before.
 */
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <sys/stat.h>

#include "fuzz.h"

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
	glob_t		inputs;

	require(name != NULL);
	for (int i = 0; i < 2; i++)
	{
		char		pattern[PATH_MAX];

		snprintf(pattern, sizeof(pattern), "%s/%s%s/*", fixtures != NULL ? fixtures :
				 "test/fixtures", i == 0 ? "fuzz/" : "", i == 0 ? name + 1 : fuzz_seeds);
		/* a folder that was lost must not look like one that passed */
		require(glob(pattern, i == 0 ? 0 : GLOB_APPEND, NULL, &inputs) == 0);
	}
	printf("1..%zu\n", inputs.gl_pathc);
	for (size_t i = 0; i < inputs.gl_pathc; i++)
	{
		printf("# %s\n", inputs.gl_pathv[i]);
		fflush(stdout);
		feed(inputs.gl_pathv[i]);
		printf("ok %zu - %s\n", i + 1, strrchr(inputs.gl_pathv[i], '/') + 1);
	}
	globfree(&inputs);
	return 0;
}
