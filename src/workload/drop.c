/*-------------------------------------------------------------------------
 *
 * drop.c
 *		Drop the schemas of workloads, in transactions that are small enough.
 *
 * One transaction cannot drop thousands of tables: it locks each of them, and the
 * lock table is small.
 *
 * It must not: be called within a transaction.
 *
 *-------------------------------------------------------------------------
 */
#include "workload/objects_internal.h"

#include "utils/guc.h"
#include "utils/memutils.h"

/*
 * Relations dropped in one transaction.  A table with its indexes and TOAST takes
 * about ten locks, and other sessions need the lock table, too.
 */
#define DROP_BATCH			100

/*
 * A run does not wait long for leftovers, since other sessions may hold locks on
 * their tables.  After the maximum time it begins no further one.
 */
#define LEFTOVER_LOCK_TIMEOUT	"200 ms"
#define LEFTOVERS_MAX_MS	1000

typedef struct drop_step
{
	const char *schema;
	int			max;
	int			count;
} drop_step;

static void
drop_some_relations(void *arg)
{
	drop_step  *step = arg;

	step->count = sp_schema_drop_relations(step->schema, step->max);
}

static void
drop_the_rest(void *arg)
{
	const drop_step *step = arg;

	sp_schema_drop(step->schema);
}

/* Use smaller steps if the lock table is small or tables have many partitions. */
static bool
drop_once(const char *schema, sp_error_report *report)
{
	drop_step	step = {.schema = schema, .max = DROP_BATCH, .count = 1};

	while (step.count > 0)
	{
		if (sp_run_in_transaction(drop_some_relations, &step, NULL, report))
			continue;
		if (report->sqlstate != ERRCODE_OUT_OF_MEMORY || step.max == 1)
			return false;
		step.max = Max(1, step.max / 4);
	}
	return sp_run_in_transaction(drop_the_rest, &step, NULL, report);
}

/*
 * Drop a schema with its content.  The report is that of the last try.  A lock timeout
 * ends the tries, since the next one would wait as long.
 */
bool
sp_drop_in_transactions(const char *schema, int tries, sp_error_report *report)
{
	for (int n = 1; n <= tries; n++)
	{
		if (drop_once(schema, report))
		{
			report->sqlstate = 0;
			return true;
		}
		if (report->sqlstate == ERRCODE_LOCK_NOT_AVAILABLE)
			return false;
	}
	return false;
}

/* ---------------------------------------------------------------- leftovers */

static void
find_leftovers(void *arg)
{
	*(List **) arg = sp_schema_leftovers(true, TopMemoryContext);
}

/*
 * Drop the schemas that crashed servers left and that the current role owns, until
 * *stop is set.  Schemas of other roles may be large, and even a superuser need not
 * wait for them.  A later run or cleanup() drops the schemas that remain.
 */
void
sp_drop_own_leftovers(const volatile bool *stop)
{
	TimestampTz started = GetCurrentTimestamp();
	List	   *schemas = NIL;
	ListCell   *cell;
	sp_error_report ignored = {0};

	SetConfigOption("lock_timeout", LEFTOVER_LOCK_TIMEOUT, PGC_USERSET, PGC_S_SESSION);
	if (!sp_run_in_transaction(find_leftovers, &schemas, NULL, NULL))
		return;
	foreach(cell, schemas)
	{
		uint32		schema_id = sp_schema_id(lfirst(cell));

		if (*stop ||
			TimestampDifferenceExceeds(started, GetCurrentTimestamp(), LEFTOVERS_MAX_MS))
			break;
		if (!sp_schema_lock(schema_id, true))
			continue;
		(void) sp_drop_in_transactions(lfirst(cell), 1, &ignored);
		sp_schema_unlock(schema_id);
	}
	list_free_deep(schemas);
}
