/*-------------------------------------------------------------------------
 *
 * workload_function.c
 *		sync_probe.pgbench() and sync_probe.run_workload().
 *
 * From arguments to the row that is recorded.  Whatever ends a run (an error, a
 * cancel, the end of the backend), pgbench goes, then its folder, then the
 * objects with the sessions that still use them.
 *
 * A function runs in its caller's snapshot, which keeps the server from
 * removing row versions that are dead since.  The procedure commits first and
 * holds none while pgbench runs; that is all the difference.
 *
 *-------------------------------------------------------------------------
 */
#include "workload.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_type.h"
#include "commands/tablespace.h"
#include "common/pg_prng.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/memutils.h"

#include "engine/script_variables.h"

PG_FUNCTION_INFO_V1(sync_probe_pgbench);
PG_FUNCTION_INFO_V1(sync_probe_run_workload);

/* The arguments of both, in order. */
enum
{
	ARG_WORKLOAD,
	ARG_TABLESPACE,
	ARG_CLIENTS,
	ARG_THREADS,
	ARG_DURATION,
	ARG_TRANSACTIONS,
	ARG_ROWS,
	ARG_SETTINGS,
	ARG_LABEL
};

static const char *const arg_names[] = {
	"workload", "tablespace", "clients", "threads", "duration",
	"transactions", "rows", "settings", "label"
};

/* -------------------------------------------------------------- the workload */

/* A row of sync_probe.workloads that is looked for. */
typedef struct lookup
{
	sp_workload *workload;
	MemoryContext context;		/* of its strings */
	bool		found;
} lookup;

static char *
text_column(const lookup *lookup, const char *column)
{
	int			number = SPI_fnumber(SPI_tuptable->tupdesc, column);
	char	   *value = SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, number);

	return value ? MemoryContextStrdup(lookup->context, value) : NULL;
}

static bool
is_true(const lookup *lookup, const char *column)
{
	return strcmp(text_column(lookup, column), "t") == 0;
}

static void
look_up(void *arg)
{
	lookup	   *lookup = arg;
	sp_workload *workload = lookup->workload;
	Oid			types[] = {NAMEOID};
	Datum		values[] = {NameGetDatum(&workload->name)};
	char	   *transactions;

	sp_history_execute("SELECT * FROM " SP_SCHEMA ".workloads WHERE workload OPERATOR(pg_catalog.=) $1",
					   lengthof(types), types, values, NULL, SPI_OK_SELECT);
	if ((lookup->found = SPI_processed == 1) == false)
		return;
	namestrcpy(&workload->suite, text_column(lookup, "suite"));
	workload->setup = text_column(lookup, "setup");
	workload->script = text_column(lookup, "script");
	workload->teardown = text_column(lookup, "teardown");
	workload->protocol = text_column(lookup, "protocol");
	workload->new_connections = is_true(lookup, "new_connections");
	workload->builtin = is_true(lookup, "builtin");
	transactions = text_column(lookup, "transactions");
	workload->transactions = transactions ? pg_strtoint32(transactions) : 0;
}

static void
find_workload(FunctionCallInfo fcinfo, sp_workload *workload)
{
	lookup		lookup = {.workload = workload, .context = CurrentMemoryContext};

	workload->name = *PG_GETARG_NAME(ARG_WORKLOAD);
	sp_as_history_owner(look_up, &lookup);
	if (!lookup.found)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("unrecognized workload \"%s\"", NameStr(workload->name)),
				 strcmp(NameStr(workload->name), "sql_bench") == 0 ?
				 errhint("This is a suite: SELECT * FROM sync_probe.sql_bench('{pg_default}');") :
				 OidIsValid(get_tablespace_oid(NameStr(workload->name), true)) ?
				 errhint("This is a tablespace: tablespace => %s.", quote_literal_cstr(NameStr(workload->name))) :
				 errhint("See SELECT workload, description FROM sync_probe.workloads; a row that you insert there is a workload of your own.")));
}

/* ---------------------------------------------------------------- the scripts */

/*
 * A name or a string as SQL has it.  pgbench knows no quotes, and would take a
 * :word in one for a variable of its own; escaped, it has no colon.
 */
static const char *
quoted(const char *value, char quote)
{
	StringInfoData text;

	if (strchr(value, ':') == NULL)
		return quote == '"' ? quote_identifier(value) : quote_literal_cstr(value);
	initStringInfo(&text);
	appendStringInfo(&text, "U&%c", quote);
	for (; *value; value++)
	{
		if (*value == ':')
			appendStringInfoString(&text, "\\003A");
		else
		{
			if (*value == quote || *value == '\\')
				appendStringInfoChar(&text, *value);
			appendStringInfoChar(&text, *value);
		}
	}
	appendStringInfoChar(&text, quote);
	return text.data;
}

static void
set_variable(sp_script_variable *variable, const char *name, const char *value, bool is_number)
{
	variable->name = name;
	variable->plain = is_number ? value : quoted(value, '"');
	variable->literal = quoted(value, '\'');
	variable->identifier = quoted(value, '"');
}

static char *
with_values(const sp_workload_run *run, const char *script)
{
	sp_script_variable variables[4];
	int			n = 0;
	Size		size;
	char	   *replaced;

	if (script == NULL)
		return NULL;
	set_variable(&variables[n++], "schema", NameStr(run->schema), false);
	set_variable(&variables[n++], "tablespace", NameStr(run->tablespace), false);
	set_variable(&variables[n++], "rows", psprintf("%d", run->rows), true);
	if (run->transactions > 0)
		set_variable(&variables[n++], "transactions", psprintf("%d", run->transactions), true);

	size = sp_script_replace(script, variables, n, NULL, 0) + 1;
	replaced = palloc(size);
	(void) sp_script_replace(script, variables, n, replaced, size);
	return replaced;
}

/*
 * pgbench makes a null of a variable that nothing defines, and measures something
 * else than what was meant.
 */
static void
check_variables(const sp_workload *workload)
{
	static const char *const known[] = {
		"client_id", "default_seed", "iteration", "random_seed", "scale", NULL
	};
	char		name[NAMEDATALEN];

	if (sp_script_unknown_variable(workload->script, known, name, sizeof(name)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("variable \":%s\" in the script of workload \"%s\" is not defined",
						sp_valid_text(name), NameStr(workload->name)),
				 errhint("There are :schema, :tablespace, :rows, where their number is given :transactions, pgbench's own like :client_id, and what \\set defines.")));
}

/*
 * Where sessions look for what has no schema in its name.  Scripts of the
 * extension trust nobody: in "public" others may have put functions that fit
 * better than the server's own.
 */
static char *
search_path_of(const sp_workload_run *run)
{
	const char *others = run->search_path ? run->search_path :
		run->workload.builtin ? "pg_temp" : "\"$user\", public";

	return psprintf("%s%s%s", quote_identifier(NameStr(run->schema)), others[0] ? ", " : "", others);
}

/* ------------------------------------------------------------------ arguments */

static void
take_length(FunctionCallInfo fcinfo, sp_workload_run *run)
{
	int64		duration_us = sp_interval_argument(fcinfo, ARG_DURATION, arg_names, USECS_PER_SEC,
												   sp_max_duration_ms * INT64CONST(1000),
												   "The upper limit is pg_sync_probe.max_duration.");

	if (duration_us % USECS_PER_SEC != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("duration of %g s is not in whole seconds", duration_us / 1e6),
				 errdetail("pgbench knows no parts of a second."),
				 errhint("transactions => ... makes a run shorter.")));
	if (!PG_ARGISNULL(ARG_TRANSACTIONS))
		run->transactions = sp_integer_argument(fcinfo, ARG_TRANSACTIONS, arg_names, 1,
												"They are counted per client. Leave it out to run for a duration.");
	else if ((run->transactions = run->workload.transactions) > 0)
		ereport(NOTICE,
				(errmsg("workload \"%s\" has a number of transactions: %d per client",
						NameStr(run->workload.name), run->transactions),
				 errhint("transactions => ... changes it; the duration does not count.")));
	if (run->transactions == 0)
		run->seconds = (int) (duration_us / USECS_PER_SEC);
}

/* What must hold before anything is made, the cheapest first. */
static void
take_arguments(FunctionCallInfo fcinfo, sp_workload_run *run)
{
	static const int required[] = {ARG_WORKLOAD, ARG_CLIENTS, ARG_THREADS, ARG_DURATION, ARG_ROWS};

	for (int i = 0; i < lengthof(required); i++)
		sp_refuse_null(fcinfo, required[i], arg_names);
	run->clients = sp_integer_argument(fcinfo, ARG_CLIENTS, arg_names, 1, NULL);
	run->threads = Min(run->clients, sp_integer_argument(fcinfo, ARG_THREADS, arg_names, 1,
														 "More threads than clients are lowered to these."));
	run->rows = sp_integer_argument(fcinfo, ARG_ROWS, arg_names, 1, NULL);
	find_workload(fcinfo, &run->workload);
	take_length(fcinfo, run);
	sp_workload_check_privileges();
	sp_workload_find_tablespace(PG_ARGISNULL(ARG_TABLESPACE) ? NULL :
								NameStr(*PG_GETARG_NAME(ARG_TABLESPACE)), run);
	if (!PG_ARGISNULL(ARG_SETTINGS))
	{
		run->settings = PointerGetDatum(PG_DETOAST_DATUM_COPY(PG_GETARG_DATUM(ARG_SETTINGS)));
		run->options = sp_workload_check_settings(run->settings, &run->search_path);
	}
	if (!PG_ARGISNULL(ARG_LABEL))
		run->label = text_to_cstring(PG_GETARG_TEXT_PP(ARG_LABEL));
	sp_workload_check_connections(run->clients, run->workload.new_connections);
}

static void
check_writable(const char *command)
{
	if (RecoveryInProgress())
		ereport(ERROR,
				(errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
				 errmsg("cannot run a workload on a standby"),
				 errdetail("It makes objects and writes rows."),
				 errhint("sync_probe.probe() measures here, too.")));
	PreventCommandIfReadOnly(command);
}

/* 32 random bits: two runs of a cluster never meet, and leftovers are few. */
static void
name_schema(sp_workload_run *run)
{
	run->token = pg_prng_uint32(&pg_global_prng_state);
	snprintf(NameStr(run->schema), NAMEDATALEN, SP_WORKLOAD_SCHEMA_PREFIX "%08x", run->token);
}

/* -------------------------------------------------------------------- the run */

/* What has to go, however the run ends. */
typedef struct running
{
	sp_workload_objects *objects;
	sp_scratch	scratch;
} running;

/* Also called while the backend exits, when errors can no longer be thrown. */
static void
give_up(int code, Datum arg)
{
	running    *state = (running *) DatumGetPointer(arg);

	sp_scratch_remove(&state->scratch);
	if (state->objects)
		sp_workload_objects_give_up(state->objects);
	state->objects = NULL;
}

static void
publish(sp_workload_run *run)
{
	run->progress = sp_exclusive_begin(NameStr(run->tablespace), NameStr(run->workload.suite),
									   run->seconds * USECS_PER_SEC);
	run->progress->workload = run->workload.name;
	run->progress->planned_transactions = (int64) run->transactions * run->clients;
}

/* With the objects there: run pgbench, between two looks at the counters. */
static void
measure(sp_workload_run *run, running *state, const sp_pgbench_program *program,
		sp_pgbench_result *result, sp_wal_counts *before, sp_wal_counts *after)
{
	sp_scratch_make(&state->scratch);
	sp_wal_counts_read(before);
	sp_exclusive_phase("running");
	sp_pgbench_run(run, program, &state->scratch, result);
	sp_exclusive_phase("tearing down");
	sp_scratch_remove(&state->scratch);
	sp_workload_wait_for_sessions(run);
	sp_wal_counts_read(after);
}

/* From good arguments to the recorded row. */
static HeapTuple
run_workload(sp_workload_run *run)
{
	sp_pgbench_program program;
	sp_pgbench_result *result = palloc(sizeof(sp_pgbench_result));
	sp_wal_counts before;
	sp_wal_counts after;
	running		state = {0};
	HeapTuple	row;

	sp_pgbench_find(&program);
	name_schema(run);
	run->search_path = search_path_of(run);
	run->workload.setup = with_values(run, run->workload.setup);
	run->workload.script = with_values(run, run->workload.script);
	run->workload.teardown = with_values(run, run->workload.teardown);
	check_variables(&run->workload);

	publish(run);
	PG_ENSURE_ERROR_CLEANUP(give_up, PointerGetDatum(&state));
	{
		sp_exclusive_phase("setting up");
		state.objects = sp_workload_objects_make(run);
		measure(run, &state, &program, result, &before, &after);
		sp_workload_objects_drop(state.objects);
		state.objects = NULL;
	}
	PG_END_ENSURE_ERROR_CLEANUP(give_up, PointerGetDatum(&state));
	sp_exclusive_phase("recording");
	row = sp_workload_record(run, result, &before, &after);
	sp_exclusive_end();
	pfree(result);
	return row;
}

/*
 * sync_probe.pgbench(workload, tablespace, clients, threads, duration,
 * transactions, rows, settings, label): one row of sync_probe.workload_results.
 */
Datum
sync_probe_pgbench(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	sp_workload_run run = {0};

	sp_check_circumstances("run a workload");
	check_writable("sync_probe.pgbench()");
	take_arguments(fcinfo, &run);
	InitMaterializedSRF(fcinfo, 0);
	tuplestore_puttuple(rsinfo->setResult, run_workload(&run));
	return (Datum) 0;
}

/* -------------------------------------------------------------- the procedure */

#define CALL_NAME	"CALL sync_probe.run_workload()"

static void
check_not_in_transaction(FunctionCallInfo fcinfo)
{
	if (fcinfo->context == NULL || !IsA(fcinfo->context, CallContext) ||
		castNode(CallContext, fcinfo->context)->atomic)
		ereport(ERROR,
				(errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
				 errmsg("%s cannot run inside a transaction block", CALL_NAME),
				 errdetail("It commits, so that no snapshot is held while the workload runs."),
				 errhint("SELECT * FROM sync_probe.pgbench() runs anywhere.")));
}

/* What SET search_path does for a function; a procedure with it may not commit. */
static int
pin_search_path(void)
{
	int			nest_level = NewGUCNestLevel();

	(void) set_config_option("search_path", "pg_catalog, pg_temp", PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
	return nest_level;
}

/*
 * Commit, and go on in a transaction that needs no snapshot between statements,
 * whatever default_transaction_isolation is.
 */
static void
commit(void)
{
	SPI_commit();
	XactIsoLevel = XACT_READ_COMMITTED;
}

/* The columns of the recorded row that the procedure gives back. */
static HeapTuple
output_row(HeapTuple recorded, TupleDesc output_type)
{
	TupleDesc	recorded_type = sp_history_row_type("workload_results");
	Datum	   *values = palloc(output_type->natts * sizeof(Datum));
	bool	   *nulls = palloc(output_type->natts * sizeof(bool));

	for (int i = 0; i < output_type->natts; i++)
	{
		int			column = SPI_fnumber(recorded_type, NameStr(TupleDescAttr(output_type, i)->attname));

		values[i] = heap_getattr(recorded, column, recorded_type, &nulls[i]);
	}
	return heap_form_tuple(output_type, values, nulls);
}

/*
 * CALL sync_probe.run_workload(): the same arguments, some columns of the same
 * row.  What lives through the commit is in SPI's memory context.
 */
Datum
sync_probe_run_workload(PG_FUNCTION_ARGS)
{
	sp_workload_run run = {0};
	TupleDesc	output_type;
	HeapTupleHeader output;
	int			nest_level;

	check_not_in_transaction(fcinfo);
	sp_check_circumstances("run a workload");
	check_writable(CALL_NAME);
	if (SPI_connect_ext(SPI_OPT_NONATOMIC) != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	if (get_call_result_type(fcinfo, NULL, &output_type) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "sync_probe.run_workload() returns no row");
	output_type = BlessTupleDesc(CreateTupleDescCopy(output_type));
	nest_level = pin_search_path();
	take_arguments(fcinfo, &run);
	AtEOXact_GUC(true, nest_level);
	run.is_procedure = true;
	commit();
	nest_level = pin_search_path();
	output = SPI_returntuple(output_row(run_workload(&run), output_type), output_type);
	AtEOXact_GUC(true, nest_level);
	SPI_finish();
	PG_RETURN_HEAPTUPLEHEADER(output);
}
