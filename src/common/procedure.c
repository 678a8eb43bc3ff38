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
#include "funcapi.h"
#include "nodes/parsenodes.h"

/* Throw an error unless the procedure can commit.  call: "CALL sync_probe.trial()". */
void
sp_refuse_transaction_block(FunctionCallInfo fcinfo, const char *call, const char *hint)
{
	if (fcinfo->context == NULL || !IsA(fcinfo->context, CallContext) ||
		castNode(CallContext, fcinfo->context)->atomic)
		ereport(ERROR,
				(errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
				 errmsg("%s cannot run inside a transaction block", call),
				 errdetail("It commits, so that it holds no snapshot while it runs."),
				 errhint("%s", hint)));
}

/*
 * The frame of such a procedure.  prepare() reads tables, and checks what may refuse the call;
 * then the procedure commits, and work() makes its row of that type.  Both get a state of that
 * size, all zero.  They run in the memory context of SPI, which survives the commit.
 */
Datum
sp_procedure_run(FunctionCallInfo fcinfo, Size state_size,
				 void (*prepare) (FunctionCallInfo fcinfo, void *state),
				 HeapTuple (*work) (void *state, TupleDesc type))
{
	TupleDesc	type;
	HeapTupleHeader output;
	void	   *state;

	if (SPI_connect_ext(SPI_OPT_NONATOMIC) != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	if (get_call_result_type(fcinfo, NULL, &type) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "the procedure returns no row");
	type = BlessTupleDesc(CreateTupleDescCopy(type));
	state = palloc0(state_size);
	prepare(fcinfo, state);
	SPI_commit();
	/* whatever default_transaction_isolation is: it holds no snapshot between statements */
	XactIsoLevel = XACT_READ_COMMITTED;
	output = SPI_returntuple(work(state, type), type);
	SPI_finish();
	PG_RETURN_HEAPTUPLEHEADER(output);
}
