/*-------------------------------------------------------------------------
 *
 * child_process.c
 *		Run another program from a backend, and keep serving interrupts.
 *
 * One loop serves interrupts, checks the time, and polls for the end of the program.  It must
 * poll: a backend leaves SIGCHLD at its default.
 *
 * Between fork() and execve() the child is a copy of this backend, with its connection, shared
 * memory and exit handlers.  There it may only make system calls: no ereport, no palloc, no
 * exit().  posix_spawn() does not do: it cannot make the child end with its parent, nor make
 * files whose names hold the ID of the child.
 *
 * It must not: interpret the output.
 *
 *-------------------------------------------------------------------------
 */
#include "common/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

#include "miscadmin.h"
#include "storage/ipc.h"
#include "utils/wait_event.h"

#include "common/common.h"
#include "compat.h"
#include "engine/text/text.h"

/* A program that has to end gets SIGKILL, and is abandoned after this. */
#define KILL_GRACE_MS	1000

/* Between two polls for the end of the program. */
#define POLL_MS			10

#define MAX_OUTPUT		(1024 * 1024)

/* Without close_range(), higher descriptors are not closed. */
#define MAX_FD_LOOP		65536

/* As shells have it. */
#define CANNOT_EXECUTE	127

/* -------------------------------------------------------- between fork and exec */

/* Files of tables, for example, and what other modules have opened. */
static void
close_other_descriptors(void)
{
#if defined(__linux__) && defined(SYS_close_range)
	if (syscall(SYS_close_range, 3U, ~0U, 0U) == 0)
		return;
#endif
	for (int fd = 3; fd < MAX_FD_LOOP; fd++)
		(void) close(fd);
}

/* All signals are blocked, so that no handler of the server runs; pending ones wait. */
static void
become_program(const sp_child_program *program, const int *outputs)
{
	struct sigaction action = {0};
	sigset_t	none;

#ifdef PR_SET_PDEATHSIG
	/* a backend that ends by SIGKILL or _exit() cannot end its child itself */
	(void) prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != MyProcPid)
		_exit(CANNOT_EXECUTE);
#endif
	/* a server has its standard descriptors open, so that the others are above 2 */
	(void) close(STDIN_FILENO);
	if (open("/dev/null", O_RDWR) != STDIN_FILENO ||
		dup2(outputs ? outputs[0] : STDIN_FILENO, STDOUT_FILENO) < 0 ||
		dup2(outputs ? outputs[1] : STDIN_FILENO, STDERR_FILENO) < 0)
		_exit(CANNOT_EXECUTE);
	close_other_descriptors();
	/* an ignored signal stays ignored: the two that end the backend and its process group */
	for (int n = 1; n < NSIG; n++)
	{
		action.sa_handler = outputs == NULL && (n == SIGINT || n == SIGTERM) ? SIG_IGN : SIG_DFL;
		(void) sigaction(n, &action, NULL);
	}
	sigemptyset(&none);
	(void) sigprocmask(SIG_SETMASK, &none, NULL);
	if (program->in_child)
		program->in_child(program->context);
	(void) execve(program->path, program->argv, program->envp);
	(void) dprintf(STDERR_FILENO, "could not be executed: %s", strerror(errno));
	_exit(CANNOT_EXECUTE);
}

/* Without outputs it runs silently.  Negative after an error. */
static pid_t
fork_program(const sp_child_program *program, const int *outputs)
{
	pid_t		pid;
	sigset_t	all;
	sigset_t	before;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	pid = fork();
	if (pid == 0)
		become_program(program, outputs);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return pid;
}

/* ---------------------------------------------------------------------- files */

/* The rest of the file from there on, with a NUL behind it. */
static char *
read_output(File file, off_t position)
{
	int			length = (int) Min(Max(FileSize(file) - position, 0), MAX_OUTPUT);
	char	   *text = palloc(length + 1);
	int			got = FileRead(file, text, length, position, PG_WAIT_EXTENSION);

	text[Max(got, 0)] = '\0';
	return text;
}

char *
sp_child_new_lines(sp_child *child)
{
	char	   *text;
	char	   *newline;

	if (FileSize(child->files[1]) < child->position)
		child->position = 0;
	text = read_output(child->files[1], child->position);
	newline = strrchr(text, '\n');
	*(newline ? newline + 1 : text) = '\0';
	child->position += strlen(text);
	return text;
}

/* -------------------------------------------------------------- start and end */

/* The files belong to the resource owner, so that they are gone after an error. */
void
sp_child_start(sp_child *child, const sp_child_program *program)
{
	ErrorContextCallback context = {
		.previous = error_context_stack, .callback = sp_set_errcode_for_file_access
	};
	int			outputs[2];

	*child = (sp_child) {.program = *program};
	error_context_stack = &context;
	for (int i = 0; i < 2; i++)
	{
		child->files[i] = OpenTemporaryFile(false);
		outputs[i] = FileGetRawDesc(child->files[i]);
		(void) fcntl(outputs[i], F_SETFL, O_APPEND);
	}
	error_context_stack = context.previous;
	child->pid = fork_program(program, outputs);
	if (child->pid < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_RESOURCES),
				 errmsg("could not run \"%s\"", program->path),
				 errdetail("Could not fork: %m.")));
	child->runs = true;
	child->deadline_ns = program->timeout_ms > 0 ?
		sp_monotonic_ns() + program->timeout_ms * SP_NS_PER_MS : PG_INT64_MAX;
}

/* Serves no interrupts, since it is called while they are served. */
static bool
ends_within(pid_t pid, int grace_ms)
{
	int64		deadline_ns = sp_monotonic_ns() + grace_ms * SP_NS_PER_MS;

	while (waitpid(pid, NULL, WNOHANG) == 0)
	{
		if (sp_monotonic_ns() >= deadline_ns)
			return false;
		pg_usleep(2000L);
	}
	return true;
}

/*
 * A child that hangs in the kernel stays a zombie until this backend ends.  Its own children are
 * in the process group of the backend, which leads it: SIGPIPE ends them, which it ignores.  It
 * ends all others there, too, such as the program of a COPY: so not for a program without children.
 */
static bool
ends_by_kill(pid_t pid, bool starts_others)
{
	if (kill(pid, SIGKILL) == 0 && starts_others && getpgrp() == MyProcPid)
		(void) kill(0, SIGPIPE);
	return ends_within(pid, KILL_GRACE_MS);
}

bool
sp_child_has_ended(sp_child *child)
{
	int			status = 0;
	pid_t		ended;

	if (!child->runs)
		return true;
	ended = waitpid(child->pid, &status, WNOHANG);
	for (int i = 0; ended == 0 && i < 2; i++)
	{
		/* it appends, at the beginning then; twice, as it may be ending after its last line */
		if (FileSize(child->files[i]) > 2 * MAX_OUTPUT)
			(void) FileTruncate(child->files[i], 0, PG_WAIT_EXTENSION);
	}
	if (ended == 0 && sp_monotonic_ns() < child->deadline_ns)
		return false;
	child->runs = false;
	child->timed_out = ended == 0;
	child->succeeded = ended > 0 && status == 0;
	if (child->timed_out)
		child->ending = psprintf("did not end within %g s%s", child->program.timeout_ms / 1000.0,
								 ends_by_kill(child->pid, child->program.starts_others) ? "" :
								 ", nor when it was killed");
	else if (ended < 0)
		child->ending = psprintf("could not be waited for: %m");
	else if (WIFSIGNALED(status))
		child->ending = psprintf("was ended by signal %d", WTERMSIG(status));
	else
		child->ending = psprintf("exited with status %d", WEXITSTATUS(status));
	child->out = read_output(child->files[0], Max(FileSize(child->files[0]) - MAX_OUTPUT, 0));
	child->err = read_output(child->files[1], Max(FileSize(child->files[1]) - MAX_OUTPUT, 0));
	return true;
}

void
sp_child_end(sp_child *child)
{
	if (child->runs)
		(void) ends_by_kill(child->pid, child->program.starts_others);
	child->runs = false;
	for (int i = 0; i < 2; i++)
	{
		if (child->files[i] > 0)
			FileClose(child->files[i]);
		child->files[i] = 0;
	}
}

/* ------------------------------------------------------------------------ run */

static void
end_child(int code pg_attribute_unused(), Datum arg)
{
	sp_child_end((sp_child *) DatumGetPointer(arg));
}

void
sp_child_run(sp_child *child, const sp_child_program *program)
{
	bool		has_ended = false;

	sp_child_start(child, program);
	PG_ENSURE_ERROR_CLEANUP(end_child, PointerGetDatum(child));
	while (!has_ended)
	{
		sp_pause(POLL_MS, "SyncProbeChild");
		has_ended = sp_child_has_ended(child);

		/*
		 * A signal to the process group, such as a cancel, reaches backend and child at once.  So
		 * interrupts are served before the end of the child is reported as its own.
		 */
		sp_check_client();
		if (program->meanwhile)
			program->meanwhile(program->context, child);
	}
	PG_END_ENSURE_ERROR_CLEANUP(end_child, PointerGetDatum(child));
	sp_child_end(child);
}

void
sp_child_run_silently(const sp_child_program *program, int timeout_ms)
{
	pid_t		pid = fork_program(program, NULL);

	if (pid > 0 && !ends_within(pid, timeout_ms))
		(void) ends_by_kill(pid, program->starts_others);
}
