/*-------------------------------------------------------------------------
 *
 * random.c
 *		Random content, and a random order.
 *
 *-------------------------------------------------------------------------
 */
#include "common/common.h"

#include "miscadmin.h"

/* Bytes that a file system cannot compress.  They differ from process to process. */
void
sp_fill_random(char *buffer, size_t size)
{
	pg_prng_state state;

	/* content need not be reproducible */
	pg_prng_seed(&state, (uint64) MyProcPid);
	for (size_t i = 0; i < size; i += sizeof(uint64))
	{
		uint64		random = pg_prng_uint64(&state);

		memcpy(buffer + i, &random, Min(sizeof(random), size - i));
	}
}

/* The numbers below n in random order, all orders alike (Fisher and Yates, inside out). */
void
sp_shuffle(int *order, int n, pg_prng_state *state)
{
	for (int i = 0; i < n; i++)
	{
		int			j = (int) pg_prng_uint64_range(state, 0, i);

		order[i] = order[j];
		order[j] = i;
	}
}
