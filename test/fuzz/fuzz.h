/*-------------------------------------------------------------------------
 *
 * fuzz.h
 *	  What the fuzz targets share.
 *
 * A target is one file, linked either to a fuzzer, which calls it with inputs that
 * it makes up (script/fuzz), or to replay.c, which calls it with fixtures.
 *
 * It must not: include a server header, or hold what only one target needs.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_FUZZ_H
#define SP_FUZZ_H

#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../unit/tree.h"
#include "engine/text/units.h"

/* A property that does not hold ends the program, as a crash would. */
#define require(condition) \
	do { \
		if (!(condition)) \
		{ \
			fprintf(stderr, "%s:%d: does not hold: %s\n", \
					__FILE__, __LINE__, #condition); \
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
		bool		in_memory = access("/dev/shm", W_OK) == 0;

		strcpy(fuzz_directory_path,
			   in_memory ? "/dev/shm/sp_fuzz_XXXXXX" : "/tmp/sp_fuzz_XXXXXX");
		require(mkdtemp(fuzz_directory_path) != NULL);
		require(atexit(fuzz_remove_directory) == 0);
	}
	return fuzz_directory_path;
}

/* path: PATH_MAX bytes, set to a place within the directory */
static inline void
fuzz_path(char *path, const char *name)
{
	int			length = snprintf(path, PATH_MAX, "%s/%s", fuzz_directory(),
								  name);

	require(length > 0 && length < PATH_MAX);
}

/* Its directory must exist. */
static inline void
fuzz_write_file(const char *name, const void *content, size_t size)
{
	char		path[PATH_MAX];
	int			fd;

	fuzz_path(path, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	require(fd >= 0);
	require(write(fd, content, size) == (ssize_t) size);
	close(fd);
}

#endif							/* SP_FUZZ_H */
