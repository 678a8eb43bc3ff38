/*-------------------------------------------------------------------------
 *
 * spi.c
 *		Access to the extension's own tables through SPI, and procedures that commit, so that they
 *		hold no snapshot while they run.
 *
 * A caller needs no privileges on the tables, which are read and written as their
 * owner.
 *
 * Such a procedure has no SET clause and no SECURITY DEFINER: with either of them the server
 * refuses its commit.
 *
 * It must not: execute SQL that a user has given.
 *
 *-------------------------------------------------------------------------
 */
#include "common/common.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "commands/sequence.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

/* Rows cannot be written on a standby or in a read-only transaction. */
bool
sp_record_possible(void)
{
	return !RecoveryInProgress() && !XactReadOnly;
}

/* The same, with a NOTICE if nothing is recorded. */
bool
sp_record_or_notice(void)
{
	bool		possible = sp_record_possible();

	if (!possible)
		ereport(NOTICE,
				(errmsg("nothing was recorded: %s", RecoveryInProgress() ?
						"this server is a standby" : "the transaction is read-only")));
	return possible;
}

/* One of the history's tables: what users read through functions is internal. */
static Oid
history_table(const char *table)
{
	Oid			relation = get_relname_relid(table, get_namespace_oid(SP_SCHEMA "_internal", false));

	if (!OidIsValid(relation))
		relation = get_relname_relid(table, get_namespace_oid(SP_SCHEMA, false));
	if (!OidIsValid(relation))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("table \"%s\" of extension \"pg_sync_probe\" does not exist", table),
				 errhint(SP_UPDATE_HINT)));
	return relation;
}

/* The owner of the history, which records runs. */
Oid
sp_history_owner(void)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(history_table("runs")));
	Oid			owner;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for table runs");
	owner = ((Form_pg_class) GETSTRUCT(tuple))->relowner;
	ReleaseSysCache(tuple);
	return owner;
}

/* The row type of one of the history's tables. */
TupleDesc
sp_history_row_type(const char *table)
{
	return lookup_rowtype_tupdesc_copy(get_rel_type_id(history_table(table)), -1);
}

/*
 * Connect to SPI, and execute a query.  The caller ends with SPI_finish().  Names without a schema
 * are those of pg_catalog, and neither expressions nor triggers that a user has added to a table
 * can change the session.
 *
 * It may run as the owner of the history, as foreign-key checks run as the owner of their table;
 * after an error the transaction ends this.  Expressions and triggers that a user has added run as
 * the owner, too, and cannot become another role (see SECURITY_RESTRICTED_OPERATION in miscinit.c).
 */
void
sp_spi_execute(const char *sql, int nargs, Oid *types, Datum *values, bool as_owner)
{
	int			nest_level = NewGUCNestLevel();
	Oid			user;
	int			context;
	int			result;

	GetUserIdAndSecContext(&user, &context);
	if (as_owner)
		SetUserIdAndSecContext(sp_history_owner(), context | SECURITY_LOCAL_USERID_CHANGE |
							   SECURITY_RESTRICTED_OPERATION | SECURITY_NOFORCE_RLS);
	(void) set_config_option("search_path", "pg_catalog, pg_temp", PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	result = SPI_execute_with_args(sql, nargs, types, values, NULL, false, 0);
	AtEOXact_GUC(false, nest_level);
	SetUserIdAndSecContext(user, context);
	if (result != SPI_OK_SELECT && result != SPI_OK_INSERT)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("could not execute: %s: %s", sql, SPI_result_code_string(result)),
				 errhint("Drop rules on the tables of schema " SP_SCHEMA ".")));
}

/* The first column of all rows as text, in the current memory context. */
List *
sp_spi_column(const char *sql, int nargs, Oid *types, Datum *values, bool as_owner)
{
	MemoryContext context = CurrentMemoryContext;
	List	   *column = NIL;

	sp_spi_execute(sql, nargs, types, values, as_owner);
	MemoryContextSwitchTo(context);
	for (uint64 i = 0; i < SPI_processed; i++)
		column = lappend(column, SPI_getvalue(SPI_tuptable->vals[i], SPI_tuptable->tupdesc, 1));
	SPI_finish();
	return column;
}

/* The number of the next run, of a probe or a workload.  The caller needs no right on that. */
int64
sp_history_next_id(void)
{
	return nextval_internal(get_relname_relid("runs_run_id_seq",
											  get_namespace_oid(SP_SCHEMA, false)), false);
}

/* ----------------------------------------------------------------- procedures */

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
	Oid			user = GetUserId();

	if (SPI_connect_ext(SPI_OPT_NONATOMIC) != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	if (get_call_result_type(fcinfo, NULL, &type) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "the procedure returns no row");
	type = BlessTupleDesc(CreateTupleDescCopy(type));
	state = palloc0(state_size);
	prepare(fcinfo, state);
	SPI_commit();
	/* prepare() has checked what that role may do */
	if (GetUserId() != user)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the current user has changed with the commit of the procedure"),
				 errhint("Use SET ROLE instead of SET LOCAL ROLE.")));
	/* whatever default_transaction_isolation is: it holds no snapshot between statements */
	XactIsoLevel = XACT_READ_COMMITTED;
	output = SPI_returntuple(work(state, type), type);
	SPI_finish();
	PG_RETURN_HEAPTUPLEHEADER(output);
}
