/*-------------------------------------------------------------------------
 *
 * units.h
 *		lengthof, and nanoseconds: defined once for the whole engine.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_UNITS_H
#define SP_UNITS_H

#include <stdint.h>

/* The server's c.h defines it, too. */
#ifndef lengthof
#define lengthof(array) (sizeof(array) / sizeof((array)[0]))
#endif

#define SP_NS_PER_US	INT64_C(1000)
#define SP_NS_PER_MS	INT64_C(1000000)
#define SP_NS_PER_S		INT64_C(1000000000)

#endif							/* SP_UNITS_H */
