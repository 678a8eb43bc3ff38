/*-------------------------------------------------------------------------
 *
 * child_process_test.c
 *		src/common/child_process.c and src/storage/zfs_tools.c from SQL.
 *
 * For test/t/009_child_process.pl.  Linked with the objects of these files (see
 * Makefile); the linker puts the functions __wrap_* here in the place of some
 * system calls: with a setting they fail, or do nothing.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <signal.h>
#include <unistd.h>

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/memutils.h"

#include "common/child_process.h"
#include "storage/storage.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(child_process_test_run);
PG_FUNCTION_INFO_V1(child_process_test_silently);
PG_FUNCTION_INFO_V1(child_process_test_repeat);
PG_FUNCTION_INFO_V1(child_process_test_ask_zfs);

static bool fail_fork = false;
static bool deaf = false;

extern PGDLLEXPORT void _PG_init(void);
extern pid_t __real_fork(void);
extern pid_t __wrap_fork(void);
extern int	__real_kill(pid_t pid, int signal_number);
extern int	__wrap_kill(pid_t pid, int signal_number);

void
_PG_init(void)
{
	DefineCustomStringVariable("child_process_test.zfs_directory",
							   "As pg_sync_probe.zfs_directory.", NULL,
							   &sp_zfs_directory, "", PGC_SUSET, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("child_process_test.fail_fork",
							 "No process can be made.", NULL,
							 &fail_fork, false, PGC_SUSET, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("child_process_test.deaf",
							 "No signal reaches a child, as if it hung in the kernel.", NULL,
							 &deaf, false, PGC_SUSET, 0, NULL, NULL, NULL);
}

/* ------------------------------------------------- instead of system calls */

pid_t
__wrap_fork(void)
{
	if (!fail_fork)
		return __real_fork();
	errno = EAGAIN;
	return -1;
}

int
__wrap_kill(pid_t pid, int signal_number)
{
	return deaf ? 0 : __real_kill(pid, signal_number);
}

/* ------------------------------------------------------------ arguments, rows */

static char **
text_array(ArrayType *array)
{
	Datum	   *elements;
	int			count;
	char	  **strings;

	deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT, &elements, NULL, &count);
	strings = palloc0(sizeof(char *) * (count + 1));
	for (int i = 0; i < count; i++)
		strings[i] = TextDatumGetCString(elements[i]);
	return strings;
}

/* Arguments 0 to 2 of a function: path, argv, timeout_ms. */
static sp_child_program
program_of(FunctionCallInfo fcinfo)
{
	static char *const environment[] = {"PATH=/usr/bin:/bin", "LC_ALL=C", NULL};

	return (sp_child_program) {
		.path = text_to_cstring(PG_GETARG_TEXT_PP(0)),
		.argv = text_array(PG_GETARG_ARRAYTYPE_P(1)),
		.envp = environment,
		.timeout_ms = PG_GETARG_INT32(2)
	};
}

static Datum
row(FunctionCallInfo fcinfo, Datum *values, bool *nulls)
{
	TupleDesc	type;

	if (get_call_result_type(fcinfo, NULL, &type) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(type), values, nulls));
}

/* -------------------------------------------------------------- child process */

/* child_process_test_run(path, argv, timeout_ms): all of the result */
Datum
child_process_test_run(PG_FUNCTION_ARGS)
{
	sp_child_program program = program_of(fcinfo);
	sp_child	child;
	Datum		values[6];
	bool		nulls[6] = {false};

	sp_child_run(&child, &program);
	values[0] = BoolGetDatum(sp_child_succeeded(&child));
	values[1] = BoolGetDatum(child.timed_out);
	values[2] = BoolGetDatum(child.abandoned);
	values[3] = CStringGetTextDatum(sp_child_describe(&child));
	values[4] = CStringGetTextDatum(child.out);
	values[5] = CStringGetTextDatum(child.err);
	return row(fcinfo, values, nulls);
}

Datum
child_process_test_silently(PG_FUNCTION_ARGS)
{
	sp_child_program program = program_of(fcinfo);

	program.is_insistent = true;
	sp_child_run_silently(&program);
	PG_RETURN_VOID();
}

/*
 * child_process_test_repeat(path, argv, timeout_ms, times): by how many bytes has memory
 * grown between the tenth run and the last, apart from the result?
 */
Datum
child_process_test_repeat(PG_FUNCTION_ARGS)
{
	sp_child_program program = program_of(fcinfo);
	sp_child	child;
	Size		before = 0;

	for (int i = 0; i < PG_GETARG_INT32(3); i++)
	{
		if (i == 10)
			before = MemoryContextMemAllocated(TopMemoryContext, true);
		sp_child_run(&child, &program);
		if (!sp_child_succeeded(&child))
			elog(ERROR, "it %s", sp_child_describe(&child));
		pfree(child.out);
		pfree(child.err);
	}
	PG_RETURN_INT64((int64) MemoryContextMemAllocated(TopMemoryContext, true) - (int64) before);
}

/* ------------------------------------------------------------------------ zfs */

static Datum
text_or_null(const char *string, bool *null)
{
	*null = string[0] == '\0';
	return *null ? (Datum) 0 : CStringGetTextDatum(string);
}

/*
 * child_process_test_ask_zfs(dataset): known, why, sync, logbias, recordsize, vdevs
 */
Datum
child_process_test_ask_zfs(PG_FUNCTION_ARGS)
{
	sp_zfs	   *zfs = palloc(sizeof(sp_zfs));
	StringInfoData why;
	Datum		vdevs[SP_ZFS_MAX_VDEVS];
	Datum		values[6];
	bool		nulls[6] = {false};
	int			i = 0;

	initStringInfo(&why);
	values[i++] = BoolGetDatum(sp_zfs_ask_tools(text_to_cstring(PG_GETARG_TEXT_PP(0)), zfs, &why));
	values[i++] = CStringGetTextDatum(why.data);
	values[i] = text_or_null(zfs->sync, &nulls[i]);
	i++;
	values[i] = text_or_null(zfs->logbias, &nulls[i]);
	i++;
	values[i++] = Int64GetDatum(zfs->recordsize);
	for (int n = 0; n < zfs->nvdevs; n++)
		vdevs[n] = CStringGetTextDatum(zfs->vdevs[n].path);
	values[i++] = PointerGetDatum(construct_array(vdevs, zfs->nvdevs, TEXTOID, -1, false,
												   TYPALIGN_INT));
	Assert(i == lengthof(values));
	return row(fcinfo, values, nulls);
}
