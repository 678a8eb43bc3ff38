/*-------------------------------------------------------------------------
 *
 * power_test.c
 *		The file of a power test, and what it shows after the power was cut.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/measure/probe_internal.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

void
sp_power_plan(sp_probe *probe, const sp_server *server)
{
	int64_t		size = server->segment_size < SP_WAL_FILE_MAX_SIZE ?
		server->segment_size : SP_WAL_FILE_MAX_SIZE;

	sp_plan_file(probe, server->current, sp_opens_directly(server, server->current), size,
				 server->init_write_size, true);
}

sp_power_judgement
sp_power_judge(const int64_t *numbers, int blocks, int64_t seen, bool restarted)
{
	sp_power_judgement found = {.durable = "unknown"};
	const char *but = "";
	int64_t		last;			/* that was synced, or was being written */
	int64_t		first;			/* that must be there */

	assert(blocks > 0);
	for (int i = 0; i < blocks; i++)
		found.newest = numbers[i] > found.newest ? numbers[i] : found.newest;
	last = seen > found.newest ? seen : found.newest;
	first = last > blocks ? last - blocks + 1 : 1;

	/* the number behind the last one, which may be written in part, has its place */
	if (last >= blocks && numbers[first % blocks] == 0)
		first++;
	for (int i = 0; i <= last - first; i++)
	{
		int64_t		n = first + i;

		found.lost += numbers[n % blocks] != n;
	}
	if (restarted && found.lost > 0)
		found.durable = "refuted";
	else if (restarted && seen > 0)
		found.durable = "proven";
	if (seen > found.newest)
		but = ", if that is no typing error";
	else if (!restarted)
		but = "; the machine has not restarted: they may be read from memory";
	snprintf(found.reason, sizeof(found.reason),
			 "numbers %" PRId64 " to %" PRId64 " must be there: %" PRId64 " lost; newest %" PRId64
			 ", seen %" PRId64 "%s", first, last, found.lost, found.newest, seen, but);
	return found;
}
