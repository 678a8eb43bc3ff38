/*
 * src/common/child_process.c and src/storage/zfs_tools.c from SQL.
 *
 * For test/t/009_child_process.pl.  Linked with the objects of these files (see Makefile); the
 * linker puts __wrap_kill() in the place of kill(2).
 */
#include "postgres.h"

#include <signal.h>
#include <unistd.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"

#include "common/child_process.h"
#include "storage/storage.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(child_process_test_run);
PG_FUNCTION_INFO_V1(child_process_test_silently);
PG_FUNCTION_INFO_V1(child_process_test_ask_zfs);

static bool deaf = false;

extern PGDLLEXPORT void _PG_init(void);
extern int	__real_kill(pid_t pid, int signal_number);
extern int	__wrap_kill(pid_t pid, int signal_number);

void
_PG_init(void)
{
	DefineCustomStringVariable("child_process_test.zfs_directory",
							   "As pg_sync_probe.zfs_directory.", NULL,
							   &sp_zfs_directory, "", PGC_SUSET, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("child_process_test.deaf",
							 "No signal reaches a child, as if it hung in the kernel.", NULL,
							 &deaf, false, PGC_SUSET, 0, NULL, NULL, NULL);
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
		.envp = environment, .timeout_ms = PG_GETARG_INT32(2), .starts_others = true
	};
}

/* -------------------------------------------------------------- child process */

/* child_process_test_run(path, argv, timeout_ms): succeeded, timed out, ending, outputs */
Datum
child_process_test_run(PG_FUNCTION_ARGS)
{
	sp_child_program program = program_of(fcinfo);
	sp_child	child;

	sp_child_run(&child, &program);
	PG_RETURN_TEXT_P(cstring_to_text(psprintf("%d|%d|%s|%s|%s", child.succeeded, child.timed_out,
											  child.ending, child.out, child.err)));
}

Datum
child_process_test_silently(PG_FUNCTION_ARGS)
{
	sp_child_program program = program_of(fcinfo);

	sp_child_run_silently(&program, program.timeout_ms);
	PG_RETURN_VOID();
}

/* ------------------------------------------------------------------------ zfs */

/* child_process_test_ask_zfs(dataset): known, sync, number of devices, why */
Datum
child_process_test_ask_zfs(PG_FUNCTION_ARGS)
{
	sp_zfs	   *zfs = palloc(sizeof(sp_zfs));
	StringInfoData why;
	bool		known;

	initStringInfo(&why);
	known = sp_zfs_ask_tools(text_to_cstring(PG_GETARG_TEXT_PP(0)), zfs, &why);
	PG_RETURN_TEXT_P(cstring_to_text(psprintf("%d|%s|%d|%s", known, zfs->sync, zfs->nvdevs,
											  why.data)));
}
