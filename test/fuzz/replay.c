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
#include <unistd.h>

#include "fuzz.h"

/* Of exactly its size, so that reading behind it is noticed. */
static void
feed(const char *path)
{
	static uint8_t buffer[1024 * 1024];
	FILE	   *file = fopen(path, "re");
	size_t		size = file != NULL ? fread(buffer, 1, sizeof(buffer), file) : 0;
	uint8_t    *content = malloc(size);

	require(file != NULL && feof(file) && content != NULL);
	memcpy(content, buffer, size);
	fclose(file);
	require(LLVMFuzzerTestOneInput(content, size) == 0);
	free(content);
}

int
main(void)
{
	const char *fixtures = getenv("SP_FIXTURES");
	const char *name = strchr(program_invocation_short_name, '_');
	char		pattern[PATH_MAX];
	glob_t		inputs;

	require(chdir(fixtures != NULL ? fixtures : "test/fixtures") == 0 && name != NULL);
	/* a folder that was lost must not look like one that passed */
	snprintf(pattern, sizeof(pattern), "fuzz/%s/*", name + 1);
	require(glob(pattern, 0, NULL, &inputs) == 0);
	snprintf(pattern, sizeof(pattern), "%s/*", fuzz_seeds);
	require(glob(pattern, GLOB_APPEND, NULL, &inputs) == 0);
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
