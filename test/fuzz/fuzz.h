/*-------------------------------------------------------------------------
 *
 * fuzz.h
 *	  What the fuzz targets share.
 *
 * A target is one file, linked either to a fuzzer, which calls it with inputs that
 * it makes up (script/fuzz), or to replay.c, which calls it with fixtures.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_FUZZ_H
#define SP_FUZZ_H

#include <stdint.h>

#include "../unit/tree.h"
#include "engine/text/units.h"

/* A property that does not hold ends the program, as a crash would. */
#define require(condition) \
	do { \
		if (!(condition)) \
		{ \
			fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition); \
			abort(); \
		} \
	} while (0)

/* Each target defines these: the folder of test/fixtures with inputs to begin with, ... */
extern const char *const fuzz_seeds;

/* ... and what is done with an input. */
extern int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A directory of this process, for as long as it runs; see fuzz_directory. */
static char fuzz_directory_path[64];

static void
fuzz_remove_directory(void)
{
	require(remove_tree(fuzz_directory_path));
}

/* In memory where there is such a place: files are written for each input. */
static inline const char *
fuzz_directory(void)
{
	if (fuzz_directory_path[0] == '\0')
	{
		strcpy(fuzz_directory_path, access("/dev/shm", W_OK) == 0 ?
			   "/dev/shm/sp_fuzz_XXXXXX" : "/tmp/sp_fuzz_XXXXXX");
		require(mkdtemp(fuzz_directory_path) != NULL);
		require(atexit(fuzz_remove_directory) == 0);
	}
	return fuzz_directory_path;
}

/* The number of the next descriptor: it grows if one is left open. */
static inline int
fuzz_next_descriptor(void)
{
	int			fd = dup(STDERR_FILENO);

	close(fd);
	return fd;
}

#endif							/* SP_FUZZ_H */
