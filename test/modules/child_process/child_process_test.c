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

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/wait_event.h"

#include "common/child_process.h"
#include "storage/storage.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(child_process_test_run);
PG_FUNCTION_INFO_V1(child_process_test_lines);
PG_FUNCTION_INFO_V1(child_process_test_poll);
PG_FUNCTION_INFO_V1(child_process_test_streams);
PG_FUNCTION_INFO_V1(child_process_test_repeat);
PG_FUNCTION_INFO_V1(child_process_test_sigchld);
PG_FUNCTION_INFO_V1(child_process_test_ask_zfs);

static int	fail_pipe = 0;
static bool fail_fork = false;
static bool deaf = false;
static int	fail_stream = -1;
static int	hang_stream = -1;

extern PGDLLEXPORT void _PG_init(void);
extern int	__real_pipe2(int *ends, int flags);
extern int	__wrap_pipe2(int *ends, int flags);
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
	DefineCustomIntVariable("child_process_test.fail_pipe",
							"Which pipe of a run cannot be made.", NULL,
							&fail_pipe, 0, 0, 100, PGC_SUSET, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("child_process_test.fail_fork",
							 "No process can be made.", NULL,
							 &fail_fork, false, PGC_SUSET, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("child_process_test.deaf",
							 "No signal reaches a child, as if it hung in the kernel.", NULL,
							 &deaf, false, PGC_SUSET, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("child_process_test.fail_stream",
							"Which stream of a run cannot be opened.", NULL,
							&fail_stream, -1, -1, 100, PGC_SUSET, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("child_process_test.hang_stream",
							"At which stream of a run nothing goes on until the child is gone.", NULL,
							&hang_stream, -1, -1, 100, PGC_SUSET, 0, NULL, NULL, NULL);
}

/* ------------------------------------------------- instead of system calls */

/* Of this run; see get_program(). */
static int	pipes_made = 0;

int
__wrap_pipe2(int *ends, int flags)
{
	if (++pipes_made != fail_pipe)
		return __real_pipe2(ends, flags);
	errno = EMFILE;
	return -1;
}

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

/* Arguments 0 to 3 of a function: path, argv, timeout_ms, max_output. */
static void
get_program(FunctionCallInfo fcinfo, sp_child_program *program)
{
	static char *const environment[] = {"PATH=/usr/bin:/bin", "LC_ALL=C", NULL};

	memset(program, 0, sizeof(*program));
	program->path = text_to_cstring(PG_GETARG_TEXT_PP(0));
	program->argv = text_array(PG_GETARG_ARRAYTYPE_P(1));
	program->envp = environment;
	program->timeout_ms = PG_GETARG_INT32(2);
	program->max_output = PG_GETARG_INT32(3);
	pipes_made = 0;
}

/* Whatever bytes, as text that any encoding takes. */
static Datum
bytes_as_text(const StringInfoData *bytes)
{
	StringInfoData text;

	initStringInfo(&text);
	for (int i = 0; i < bytes->len; i++)
	{
		unsigned char c = bytes->data[i];

		if (c == '\n' || (c >= ' ' && c <= '~'))
			appendStringInfoChar(&text, c);
		else
			appendStringInfo(&text, "<%02x>", c);
	}
	return PointerGetDatum(cstring_to_text_with_len(text.data, text.len));
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

/*
 * child_process_test_run(path, argv, timeout_ms, max_output): started,
 * exec_errno, timed_out, abandoned, succeeded, description, out, err
 */
Datum
child_process_test_run(PG_FUNCTION_ARGS)
{
	sp_child_program program;
	sp_child_result result;
	Datum		values[8];
	bool		nulls[8] = {false};
	int			i = 0;

	get_program(fcinfo, &program);
	sp_child_run(&program, &result);
	if (result.out.data[result.out.len] != '\0' || result.err.data[result.err.len] != '\0')
		elog(ERROR, "an output does not end with NUL");
	values[i++] = BoolGetDatum(result.started);
	values[i++] = Int32GetDatum(result.exec_errno);
	values[i++] = BoolGetDatum(result.timed_out);
	values[i++] = BoolGetDatum(result.abandoned);
	values[i++] = BoolGetDatum(sp_child_succeeded(&result));
	values[i++] = CStringGetTextDatum(sp_child_describe(&program, &result));
	values[i++] = bytes_as_text(&result.out);
	values[i++] = bytes_as_text(&result.err);
	Assert(i == lengthof(values));
	return row(fcinfo, values, nulls);
}

typedef struct lines_seen
{
	StringInfoData all;
	char	   *throw_at;
} lines_seen;

static void
see_line(void *context, bool from_stderr, const char *line)
{
	lines_seen *seen = context;

	appendStringInfo(&seen->all, "%s: %s\n", from_stderr ? "err" : "out", line);
	if (strcmp(line, seen->throw_at) == 0)
		ereport(ERROR, (errmsg("line \"%s\" was seen", line)));
}

/*
 * child_process_test_lines(path, argv, timeout_ms, max_output, throw_at): the
 * lines of both outputs as they came; an error at one that is throw_at.
 */
Datum
child_process_test_lines(PG_FUNCTION_ARGS)
{
	sp_child_program program;
	sp_child_result result;
	lines_seen	seen;

	get_program(fcinfo, &program);
	initStringInfo(&seen.all);
	seen.throw_at = text_to_cstring(PG_GETARG_TEXT_PP(4));
	program.line = see_line;
	program.context = &seen;
	sp_child_run(&program, &result);
	PG_RETURN_DATUM(bytes_as_text(&seen.all));
}

typedef struct line_awaited
{
	const char *line;
	bool		seen;
} line_awaited;

static void
await_line(void *context, bool from_stderr pg_attribute_unused(), const char *line)
{
	line_awaited *awaited = context;

	if (strcmp(line, awaited->line) == 0)
		awaited->seen = true;
}

static void
end_polled(int code pg_attribute_unused(), Datum arg)
{
	sp_child_end((sp_child *) DatumGetPointer(arg));
}

/*
 * child_process_test_poll(path, argv, timeout_ms, max_output, until): start it, poll until it
 * has ended or has written that line, and end it.  Whether it had ended; then how; its output.
 */
Datum
child_process_test_poll(PG_FUNCTION_ARGS)
{
	line_awaited awaited = {.line = text_to_cstring(PG_GETARG_TEXT_PP(4))};
	sp_child_program program;
	sp_child_result result;
	sp_child   *child;
	bool		ended;
	Datum		values[4];
	bool		nulls[4] = {false};

	get_program(fcinfo, &program);
	program.line = await_line;
	program.context = &awaited;
	child = sp_child_start(&program, &result);
	PG_ENSURE_ERROR_CLEANUP(end_polled, PointerGetDatum(child));
	{
		while (!(ended = sp_child_poll(child)) && !awaited.seen)
		{
			CHECK_FOR_INTERRUPTS();
			pg_usleep(1000L);
		}
	}
	PG_END_ENSURE_ERROR_CLEANUP(end_polled, PointerGetDatum(child));
	if (ended && !sp_child_poll(child))
		elog(ERROR, "a child that has ended has not ended");
	sp_child_end(child);
	sp_child_end(child);
	values[0] = BoolGetDatum(ended);
	nulls[1] = !ended;
	values[1] = ended ? CStringGetTextDatum(sp_child_describe(&program, &result)) : (Datum) 0;
	values[2] = bytes_as_text(&result.out);
	values[3] = bytes_as_text(&result.err);
	return row(fcinfo, values, nulls);
}

typedef struct streams_seen
{
	const char *prefix;
	const char *throw_at;
	StringInfo	contents;
} streams_seen;

/* Gone, or not yet waited for: the test looks at that, too. */
static bool
is_alive(pid_t pid)
{
	char	   *path = psprintf("/proc/%d/stat", (int) pid);
	FILE	   *file = fopen(path, "r");
	char		state = 'Z';

	if (file == NULL)
		return false;
	if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
		state = 'Z';
	fclose(file);
	return state != 'Z';
}

static int
open_stream(void *context, pid_t pid, int stream)
{
	streams_seen *seen = context;
	char	   *path = psprintf("%s.%d.%d", seen->prefix, (int) pid, stream);
	int			fd;

	if (stream == fail_stream)
		ereport(ERROR, (errmsg("stream %d cannot be opened", stream)));
	while (stream == hang_stream && is_alive(pid))
	{
		CHECK_FOR_INTERRUPTS();
		(void) WaitLatch(MyLatch, WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, 1, PG_WAIT_EXTENSION);
	}
	if (mkfifo(path, S_IRUSR | S_IWUSR) != 0 || (fd = open(path, O_RDONLY | O_NONBLOCK)) < 0)
		elog(ERROR, "could not open FIFO \"%s\": %m", path);
	return fd;
}

static void
take_stream(void *context, int stream, const char *data, Size length)
{
	streams_seen *seen = context;

	appendBinaryStringInfo(&seen->contents[stream], data, length);
	if (strcmp(seen->contents[stream].data, seen->throw_at) == 0)
		ereport(ERROR, (errmsg("stream %d was read", stream)));
}

/*
 * child_process_test_streams(path, argv, timeout_ms, max_output, prefix, n,
 * throw_at): what the child wrote into n FIFOs, which are called
 * prefix.<its process ID>.<number>; and how it ended.  An error when that of one
 * is throw_at.
 */
Datum
child_process_test_streams(PG_FUNCTION_ARGS)
{
	sp_child_program program;
	sp_child_result result;
	streams_seen seen;
	Datum	   *contents;
	Datum		values[3];
	bool		nulls[3] = {false};

	get_program(fcinfo, &program);
	seen.prefix = text_to_cstring(PG_GETARG_TEXT_PP(4));
	seen.throw_at = text_to_cstring(PG_GETARG_TEXT_PP(6));
	program.nstreams = PG_GETARG_INT32(5);
	program.open_stream = open_stream;
	program.stream_data = take_stream;
	program.streams_hint = "Ask for fewer streams.";
	program.context = &seen;
	seen.contents = palloc(sizeof(StringInfoData) * program.nstreams);
	for (int i = 0; i < program.nstreams; i++)
		initStringInfo(&seen.contents[i]);
	sp_child_run(&program, &result);

	contents = palloc(sizeof(Datum) * program.nstreams);
	for (int i = 0; i < program.nstreams; i++)
		contents[i] = bytes_as_text(&seen.contents[i]);
	values[0] = CStringGetTextDatum(sp_child_describe(&program, &result));
	values[1] = bytes_as_text(&result.out);
	values[2] = PointerGetDatum(construct_array(contents, program.nstreams, TEXTOID, -1, false,
												 TYPALIGN_INT));
	return row(fcinfo, values, nulls);
}

/*
 * child_process_test_repeat(path, argv, timeout_ms, max_output, times): by how
 * many bytes has the memory of this call grown between the tenth run and the
 * last, apart from the result?
 */
Datum
child_process_test_repeat(PG_FUNCTION_ARGS)
{
	sp_child_program program;
	sp_child_result result;
	Size		before = 0;

	get_program(fcinfo, &program);
	for (int i = 0; i < PG_GETARG_INT32(4); i++)
	{
		if (i == 10)
			before = MemoryContextMemAllocated(TopMemoryContext, true);
		sp_child_run(&program, &result);
		if (!sp_child_succeeded(&result))
			elog(ERROR, "it %s", sp_child_describe(&program, &result));
		pfree(result.out.data);
		pfree(result.err.data);
	}
	PG_RETURN_INT64((int64) MemoryContextMemAllocated(TopMemoryContext, true) - (int64) before);
}

/*
 * child_process_test_sigchld(ignore): true ignores SIGCHLD from now on, as
 * another module might, null changes nothing.  Is it ignored?
 */
Datum
child_process_test_sigchld(PG_FUNCTION_ARGS)
{
	struct sigaction action;

	if (!PG_ARGISNULL(0))
		signal(SIGCHLD, PG_GETARG_BOOL(0) ? SIG_IGN : SIG_DFL);
	sigaction(SIGCHLD, NULL, &action);
	PG_RETURN_BOOL(action.sa_handler == SIG_IGN);
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
