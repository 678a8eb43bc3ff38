/*
 * Included by every unit test: cmocka, the list of tests, a random number
 * generator, and a check for descriptors left open.
 *
 * The generator is our own, so that a fixed seed gives the same simulation with
 * every C library.
 */
#ifndef UNIT_H
#define UNIT_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdbool.h>
#include <unistd.h>

#include "engine/text/text.h"

/* cmocka 2 has this name for what was assert_in_range(), which it deprecates. */
#ifndef assert_uint_in_range
#define assert_uint_in_range(value, minimum, maximum) assert_in_range(value, minimum, maximum)
#endif

static struct CMUnitTest tests[64];	/* those that are not used have no name */
static int	ntests;

/* Begins a test, which joins the list before main() runs. */
#define TEST(name) \
	static void name(void **state); \
	static void __attribute__((constructor)) \
	add_##name(void) \
	{ \
		tests[ntests++] = (struct CMUnitTest) {#name, name, NULL, NULL, NULL}; \
	} \
	static void \
	name(void **state __attribute__((unused)))

/* Ends a file: set_up and tear_down are for all its tests. */
#define TEST_MAIN(set_up, tear_down) \
int \
main(void) \
{ \
	cmocka_set_message_output(CM_OUTPUT_TAP); \
	return cmocka_run_group_tests(tests, set_up, tear_down); \
}

/* All rows of a table, one after the other. */
#define FOR_EACH(row, table) \
	for (const __typeof__(*(table)) *row = (table); row < (table) + lengthof(table); row++)

/* The number of the next descriptor: it grows if one is left open. */
static inline int
lowest_free_descriptor(void)
{
	int			fd = dup(STDERR_FILENO);

	assert_true(fd >= 0);
	close(fd);
	return fd;
}

/* Unknown values are the same, too. */
static inline bool
is_same(double one, double other)
{
	return isnan(one) ? isnan(other) : one == other || fabs(one - other) < 1e-9;
}

/* splitmix64 */
static inline uint64_t
random_bits(uint64_t *state)
{
	uint64_t	z = (*state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* In (0, 1) without its ends, so that its logarithm is finite. */
static inline double
random_uniform(uint64_t *state)
{
	return ((double) (random_bits(state) >> 11) + 0.5) / 9007199254740992.0;
}

/* Normal with mean 0 and standard deviation 1 (Box and Muller). */
static inline double
random_normal(uint64_t *state)
{
	double		radius = sqrt(-2 * log(random_uniform(state)));

	return radius * cos(2 * 3.14159265358979323846 * random_uniform(state));
}

#endif							/* UNIT_H */
