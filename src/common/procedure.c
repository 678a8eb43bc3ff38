/*-------------------------------------------------------------------------
 *
 * procedure.c
 *		Procedures that commit, so that they hold no snapshot while they run.
 *
 * Such a procedure has no SET clause and no SECURITY DEFINER: with either of them the
 * server refuses its commit.
 *
 *-------------------------------------------------------------------------
 */
#include "common/common.h"

#include "access/xact.h"
#include "executor/spi.h"
#include "nodes/parsenodes.h"

/* Throw an error unless the procedure can commit.  call: "CALL sync_probe.trial()". */
void
sp_refuse_transaction_block(FunctionCallInfo fcinfo, const char *call,
							const char *detail, const char *hint)
{
	if (fcinfo->context == NULL || !IsA(fcinfo->context, CallContext) ||
		castNode(CallContext, fcinfo->context)->atomic)
		ereport(ERROR,
				(errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
				 errmsg("%s cannot run inside a transaction block", call),
				 errdetail("%s", detail),
				 errhint("%s", hint)));
}

/*
 * Commit.  The next transaction is READ COMMITTED, whatever
 * default_transaction_isolation is, so that it holds no snapshot between statements.
 */
void
sp_commit(void)
{
	SPI_commit();
	XactIsoLevel = XACT_READ_COMMITTED;
}
