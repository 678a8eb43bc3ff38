/*
 * What the fuzz targets share.  Each is one file, linked either to a fuzzer, which calls it with
 * inputs that it makes up (script/fuzz), or to replay.c, which calls it with fixtures.
 */
#ifndef SP_FUZZ_H
#define SP_FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/text/text.h"

/* A property that does not hold ends the program, as a crash would. */
#define require(condition) \
	do { \
		if (!(condition)) \
		{ \
			fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition); \
			abort(); \
		} \
	} while (0)

/* The array has an end: sanitizers do not see one that runs on into the next member. */
#define require_string(array) require(memchr(array, '\0', sizeof(array)) != NULL)

/* Each target defines the folder of test/fixtures to begin with, and what an input is for. */
extern const char *const fuzz_seeds;
extern int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif							/* SP_FUZZ_H */
