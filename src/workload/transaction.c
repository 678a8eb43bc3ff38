/*-------------------------------------------------------------------------
 *
 * transaction.c
 *		Do something in a transaction of its own, which may fail.
 *
 * For a process that has no client and more to do: an error ends the transaction
 * and nothing else, and becomes a report that another process can read.  So does
 * dropping a schema, in transactions that are small enough.
 *
 * It must not: be called within a transaction, or log what somebody else will say.
 *
 *-------------------------------------------------------------------------
 */
#include "workload/objects_internal.h"

#include "access/xact.h"
#include "executor/spi.h"
#include "mb/pg_wchar.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

/*
 * Relations dropped in one transaction.  A table with all that belongs to it
 * takes some ten locks, and others need the lock table too.
 */
#define DROP_BATCH			100

/* ------------------------------------------------------------- transactions */

static void
copy_text(char *to, size_t size, const char *from)
{
	int			length = from ? pg_mbcliplen(from, strlen(from), size - 1) : 0;

	if (length > 0)
		memcpy(to, from, length);
	to[length] = '\0';
}

static void
fill_report(sp_error_report *report, const ErrorData *error, const char *script)
{
	report->sqlstate = error->sqlerrcode;
	copy_text(report->message, sizeof(report->message), error->message);
	copy_text(report->detail, sizeof(report->detail), error->detail);
	copy_text(report->hint, sizeof(report->hint), error->hint);

	/* that of another query, of a function's say, would point anywhere */
	report->position = script && error->internalquery &&
		strcmp(error->internalquery, script) == 0 ? error->internalpos : 0;
}

/*
 * Do work, with SPI connected.  If it fails, false, and what has happened is in
 * the report (which may be NULL), with the place in the script if that is where
 * the error is.
 */
bool
sp_run_in_transaction(void (*work) (void *), void *arg, const char *script,
					  sp_error_report *report)
{
	volatile bool done = false;

	PG_TRY();
	{
		SetCurrentStatementStartTimestamp();
		StartTransactionCommand();
		PushActiveSnapshot(GetTransactionSnapshot());
		SPI_connect();
		work(arg);
		SPI_finish();
		PopActiveSnapshot();
		CommitTransactionCommand();
		done = true;
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(TopMemoryContext);
		error = CopyErrorData();
		FlushErrorState();
		if (report)
			fill_report(report, error, script);
		FreeErrorData(error);
		AbortCurrentTransaction();
	}
	PG_END_TRY();
	return done;
}

/* For the log, where nobody else would tell. */
void
sp_log_report(const char *what, const char *name, const sp_error_report *report)
{
	ereport(WARNING,
			(errcode(report->sqlstate),
			 errmsg("%s \"%s\": %s", what, name, report->message),
			 report->detail[0] ? errdetail("%s", report->detail) : 0));
}

/* ----------------------------------------------------------------- dropping */

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

/* Fewer at once where the lock table is small, or tables have many parts. */
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
 * A schema with all that is in it; the report is of the last try.  A lock that could
 * not be had is not waited for again.
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
