/*-------------------------------------------------------------------------
 *
 * connect.c
 *		A time limit for dblink_connect(), which has none since PostgreSQL 16.
 *
 *-------------------------------------------------------------------------
 */
#include "common/common.h"

#include <signal.h>

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/timeout.h"

#include "compat.h"

#define LIMIT_OF_LIBPQ	"PGCONNECT_TIMEOUT"

static volatile sig_atomic_t expired;

/* Runs in the signal handler, which sets the latch.  A cancel that is pending is not ours. */
static void
cancel_connecting(void)
{
	if (!QueryCancelPending)
		expired = InterruptPending = QueryCancelPending = true;
}

/*
 * sync_probe_internal.connect_within(ms, dblink, connection, server)
 *
 * Execute dblink_connect() of that schema.  If it takes longer, it is canceled, which is then an
 * error like any other of a connection.  A cancel or a timeout of the caller's statement stays
 * what it is.
 */
PG_FUNCTION_INFO_V1(sync_probe_connect_within);
Datum
sync_probe_connect_within(PG_FUNCTION_ARGS)
{
	static TimeoutId timeout = MAX_TIMEOUTS;
	Oid			types[] = {TEXTOID, TEXTOID};
	Datum		names[] = {PG_GETARG_DATUM(2), PG_GETARG_DATUM(3)};
	const char *dblink = quote_identifier(NameStr(*PG_GETARG_NAME(1)));
	bool		limit_libpq = SP_LIBPQ_WAITS && getenv(LIMIT_OF_LIBPQ) == NULL;
	bool		statement_limit = get_timeout_active(STATEMENT_TIMEOUT);

	if (timeout == MAX_TIMEOUTS)
		timeout = RegisterTimeout(USER_TIMEOUT, cancel_connecting);
	if (limit_libpq)
		setenv(LIMIT_OF_LIBPQ, psprintf("%d", (PG_GETARG_INT32(0) + 999) / 1000), true);
	expired = false;
	PG_TRY();
	{
		if (!SP_LIBPQ_WAITS)
			enable_timeout_after(timeout, PG_GETARG_INT32(0));
		sp_spi_execute(psprintf("SELECT %s.dblink_connect($1, $2)", dblink),
					   lengthof(types), types, names, SP_AS_CALLER);
		SPI_finish();
	}
	PG_FINALLY();
	{
		disable_timeout(timeout, false);
		if (limit_libpq)
			unsetenv(LIMIT_OF_LIBPQ);
		/* not if the statement has run out of its own time meanwhile */
		if (expired && statement_limit == get_timeout_active(STATEMENT_TIMEOUT))
		{
			expired = false;	/* else each call around this one would add an error to the stack */
			if (!QueryCancelPending)
				ereport(ERROR,
						(errcode(ERRCODE_SQLCLIENT_UNABLE_TO_ESTABLISH_SQLCONNECTION),
						 errmsg("could not establish connection"), errdetail("timeout expired")));
			QueryCancelPending = false; /* it came when all was over */
		}
	}
	PG_END_TRY();
	PG_RETURN_VOID();
}
