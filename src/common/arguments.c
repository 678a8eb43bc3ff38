/*-------------------------------------------------------------------------
 *
 * arguments.c
 *		Checks of arguments and server state shared by the SQL functions.
 *
 *-------------------------------------------------------------------------
 */
#include "common/common.h"

#include <math.h>

#include "access/detoast.h"
#include "access/parallel.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/fd.h"
#include "storage/latch.h"
#include "storage/pmsignal.h"
#include "utils/builtins.h"
#include "utils/syscache.h"

#include "compat.h"

int			sp_max_duration_ms = 600000;

/* The history keeps labels for ever, and views show them in a column. */
#define MAX_LABEL_BYTES		256

/* As SQL declares it. */
const char *
sp_argument_name(FunctionCallInfo fcinfo, int arg)
{
	HeapTuple	function = SearchSysCache1(PROCOID, ObjectIdGetDatum(fcinfo->flinfo->fn_oid));
	Oid		   *types;
	char	  **names;
	char	   *modes;

	if (!HeapTupleIsValid(function))
		elog(ERROR, "cache lookup failed for function %u", fcinfo->flinfo->fn_oid);
	(void) get_func_arg_info(function, &types, &names, &modes);
	ReleaseSysCache(function);
	return names[arg];
}

/* arguments: a bit for each that must not be null. */
void
sp_refuse_nulls(FunctionCallInfo fcinfo, int arguments)
{
	for (int arg = 0; arg < PG_NARGS(); arg++)
	{
		if ((arguments & (1 << arg)) != 0 && PG_ARGISNULL(arg))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("argument \"%s\" must not be null", sp_argument_name(fcinfo, arg)),
					 errhint("Omit the argument to use its default.")));
	}
}

/* An interval argument in microseconds.  hint may be NULL. */
int64
sp_interval_argument(FunctionCallInfo fcinfo, int arg, int64 min_us, int64 max_us,
					 const char *hint)
{
	Datum		value = PG_GETARG_DATUM(arg);
	Datum		seconds = DirectFunctionCall2(interval_part, CStringGetTextDatum("epoch"), value);
	double		us = rint(DatumGetFloat8(seconds) * 1e6);

	if (us < min_us || us > max_us)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s \"%s\" is out of range", sp_argument_name(fcinfo, arg),
						DatumGetCString(DirectFunctionCall1(interval_out, value))),
				 errdetail("It must be between %g ms and %g s.", min_us / 1e3, max_us / 1e6),
				 hint ? errhint("%s", hint) : 0));
	return (int64) us;
}

/* The same of a run. */
int64
sp_duration_argument(FunctionCallInfo fcinfo, int arg, int64 min_us)
{
	return sp_interval_argument(fcinfo, arg, min_us, sp_max_duration_ms * INT64CONST(1000),
								"The upper limit is pg_sync_probe.max_duration.");
}

/* An integer argument within that range.  max: PG_INT32_MAX if there is none; hint may be NULL. */
int
sp_integer_argument(FunctionCallInfo fcinfo, int arg, int min, int max, const char *hint)
{
	int			value = PG_GETARG_INT32(arg);

	if (value < min || value > max)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s %d is out of range", sp_argument_name(fcinfo, arg), value),
				 max == PG_INT32_MAX ? errdetail("It must be at least %d.", min) :
				 errdetail("It must be between %d and %d.", min, max),
				 hint ? errhint("%s", hint) : 0));
	return value;
}

/* The free text that is stored with a run; NULL if there is none. */
char *
sp_label_argument(FunctionCallInfo fcinfo, int arg)
{
	Size		bytes;

	if (PG_ARGISNULL(arg))
		return NULL;
	/* check the size first: a compressed value may be too large to detoast */
	bytes = toast_raw_datum_size(PG_GETARG_DATUM(arg)) - VARHDRSZ;
	if (bytes > MAX_LABEL_BYTES)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("label of %zu bytes is too long", bytes),
				 errdetail("It must be at most %d bytes.", MAX_LABEL_BYTES)));
	return text_to_cstring(PG_GETARG_TEXT_PP(arg));
}

/*
 * Line n (from 1) of postmaster.pid, in which the postmaster describes itself; 0 is the
 * last line.  NULL if there is no such line.
 */
char *
sp_postmaster_line(int n)
{
	char		line[MAXPGPATH];
	char	   *found = NULL;
	FILE	   *file = AllocateFile("postmaster.pid", "r");

	if (file == NULL)
		return NULL;
	for (int i = 1; fgets(line, sizeof(line), file); i++)
	{
		line[strcspn(line, "\r\n")] = '\0';
		if (i == n || n == 0)
			found = pstrdup(line);
	}
	FreeFile(file);
	return found;
}

/* The server cannot be started again before the last of its processes has ended. */
void
sp_check_postmaster(void)
{
	if (!PostmasterIsAlive())
		ereport(FATAL,
				(errcode(ERRCODE_ADMIN_SHUTDOWN),
				 errmsg("terminating connection due to unexpected postmaster exit")));
}

/* A session that only sleeps does not notice that its client has gone. */
void
sp_check_client(void)
{
	if (MyProcPort && WaitEventSetCanReportClosed() && !pq_check_connection())
	{
		ClientConnectionLost = true;
		InterruptPending = true;
	}
	CHECK_FOR_INTERRUPTS();
}

/* Pause, until then or until something happens, and serve interrupts. */
void
sp_pause(long ms, const char *wait_event)
{
	(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, ms,
					 sp_wait_event_new(wait_event));
	ResetLatch(MyLatch);
	CHECK_FOR_INTERRUPTS();
}

/* Throw an error where nothing can be measured.  verb: "probe", "run a workload". */
void
sp_check_circumstances(const char *verb)
{
	/* sessions get no signal of a smart shutdown, but this shows it */
	const char *status = sp_postmaster_line(0);
	const char *why = NULL;

	if (!IsUnderPostmaster)
		why = "The server runs in single-user mode.";
	else if (IsParallelWorker())
		why = "This is a parallel worker.";
	else if (status && strncmp(status, "stopping", strlen("stopping")) == 0)
		why = "The server is shutting down.";
	if (why)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cannot %s now", verb),
				 errdetail("%s", why)));
}
