/*-------------------------------------------------------------------------
 *
 * transaction.c
 *		Run a function in its own transaction, and report its error.
 *
 * The background worker has no client, and has more to do after an error.  So an
 * error ends only the transaction, and becomes a report that another process can
 * read.
 *
 * It must not: be called within a transaction, or log an error that another process
 * reports.
 *
 *-------------------------------------------------------------------------
 */
#include "workload/objects_internal.h"

#include "access/xact.h"
#include "executor/spi.h"
#include "mb/pg_wchar.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

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

	/* the position in another query, such as that of a function, would be wrong */
	report->position = script && error->internalquery &&
		strcmp(error->internalquery, script) == 0 ? error->internalpos : 0;
}

/*
 * Call work(arg) in a transaction, connected to SPI.  After an error return false, and
 * fill the report (which may be NULL), with the position if the error is in the script.
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
		sp_spi_connect();
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

/* Write the report to the log. */
void
sp_log_report(const char *what, const char *name, const sp_error_report *report)
{
	ereport(WARNING,
			(errcode(report->sqlstate),
			 errmsg("%s \"%s\": %s", what, name, report->message),
			 report->detail[0] ? errdetail("%s", report->detail) : 0));
}
