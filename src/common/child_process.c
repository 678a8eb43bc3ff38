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
 * exit().
 *
 * It must not: interpret the output.
 *
 *-------------------------------------------------------------------------
 */
#include "common/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

#include "common/file_perm.h"
#include "common/file_utils.h"
#include "miscadmin.h"
#include "storage/fd.h"
#include "storage/ipc.h"
#include "storage/latch.h"

#include "common/common.h"
#include "compat.h"

/* An overdue program gets SIGTERM, then SIGKILL, and is then abandoned. */
#define TERM_GRACE_MS	1000
#define KILL_GRACE_MS	2000

/* The same after an error of the caller, which should not take long. */
#define QUICK_TERM_GRACE_MS	200
#define QUICK_KILL_GRACE_MS	1000

/* The maximum wait between two polls for the end of the program. */
#define MAX_WAIT_MS		10

#define MAX_OUTPUT		(1024 * 1024)

/* Without close_range(), higher descriptors are not closed. */
#define MAX_FD_LOOP		65536

/* As shells have it. */
#define CANNOT_EXECUTE	127

static int64
now_ms(void)
{
	return sp_monotonic_ns() / 1000000;
}

/* -------------------------------------------------------- between fork and exec */

/* An ignored signal stays ignored after the exec. */
static void
reset_signal_actions(bool is_insistent)
{
	struct sigaction action = {.sa_handler = SIG_DFL};

	for (int signal_number = 1; signal_number < NSIG; signal_number++)
		(void) sigaction(signal_number, &action, NULL);
	if (!is_insistent)
		return;
	action.sa_handler = SIG_IGN;
	(void) sigaction(SIGINT, &action, NULL);
	(void) sigaction(SIGTERM, &action, NULL);
}

/*
 * Mark all but the standard descriptors close-on-exec.  Most descriptors of a backend
 * are, but not the files of tables, and perhaps not those of other modules.
 */
static void
close_others_at_exec(void)
{
	struct rlimit limit;

#if defined(__linux__) && defined(SYS_close_range)
	const unsigned int close_range_cloexec = 1U << 2;

	if (syscall(SYS_close_range, 3U, ~0U, close_range_cloexec) == 0)
		return;
#endif
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > MAX_FD_LOOP)
		limit.rlim_cur = MAX_FD_LOOP;
	for (int fd = 3; fd < (int) limit.rlim_cur; fd++)
		(void) fcntl(fd, F_SETFD, FD_CLOEXEC);
}

/* All signals are blocked, so that no handler of the server runs; pending ones wait. */
static void
become_program(const sp_child_program *program, int input, const int *outputs, pid_t parent)
{
	const char *words;
	sigset_t	none;

	reset_signal_actions(program->is_insistent);
#ifdef PR_SET_PDEATHSIG
	/* a backend that ends by SIGKILL or _exit() cannot end its child itself */
	(void) prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(CANNOT_EXECUTE);
#endif
	/* they are above 2: a server has its standard descriptors open */
	if (dup2(input, STDIN_FILENO) < 0 || dup2(outputs[0], STDOUT_FILENO) < 0 ||
		dup2(outputs[1], STDERR_FILENO) < 0)
		_exit(CANNOT_EXECUTE);
	close_others_at_exec();
	sigemptyset(&none);
	(void) sigprocmask(SIG_SETMASK, &none, NULL);
	if (program->in_child)
		program->in_child(program->context);
	(void) execve(program->path, program->argv, program->envp);
	words = strerror(errno);
	if (write(STDERR_FILENO, "could not be executed: ", 23) < 0 ||
		write(STDERR_FILENO, words, strlen(words)) < 0)
		_exit(CANNOT_EXECUTE);
	_exit(CANNOT_EXECUTE);
}

/* Negative after an error. */
static pid_t
fork_program(const sp_child_program *program, int input, const int *outputs)
{
	pid_t		parent = getpid();
	pid_t		pid;
	sigset_t	all;
	sigset_t	before;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	pid = fork();
	if (pid == 0)
		become_program(program, input, outputs, parent);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return pid;
}

/* ---------------------------------------------------------------------- files */

/*
 * A file without a name in the server's directory of temporary files.  -1 after an error.  If
 * the server crashes before the name is gone, it removes the file when it starts.
 */
static int
open_output(void)
{
	char		path[MAXPGPATH];
	int			fd;

	if (MakePGDirectory("base/" PG_TEMP_FILES_DIR) != 0 && errno != EEXIST)
		return -1;
	snprintf(path, sizeof(path), "base/" PG_TEMP_FILES_DIR "/" PG_TEMP_FILE_PREFIX "_sync_probe.%d.output",
			 MyProcPid);
	/* the child appends, and this process reads at positions of its own */
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, S_IRUSR | S_IWUSR);
	if (fd >= 0)
		(void) unlink(path);
	return fd;
}

static void
close_files(sp_child *child)
{
	for (int i = 0; i < 2; i++)
	{
		if (child->files[i] < 0)
			continue;
		(void) close(child->files[i]);
		ReleaseExternalFD();
		child->files[i] = -1;
	}
}

static off_t
size_of(int fd)
{
	struct stat status;

	return fstat(fd, &status) == 0 ? status.st_size : 0;
}

/* What the file holds from there on, with a NUL behind it. */
static char *
read_output(int fd, off_t position)
{
	Size		length = Min(Max(size_of(fd) - position, 0), MAX_OUTPUT);
	char	   *text = palloc(length + 1);
	ssize_t		got = length > 0 ? pread(fd, text, length, position) : 0;

	text[Max(got, 0)] = '\0';
	return text;
}

/* The next write goes to the end, which is the beginning then. */
static void
discard_excess(int fd)
{
	if (size_of(fd) > MAX_OUTPUT && ftruncate(fd, 0) != 0)
		elog(LOG, "could not truncate an output of a program: %m");
}

char *
sp_child_new_lines(sp_child *child, off_t *position)
{
	int			fd = child->files[1];
	char	   *text;
	char	   *newline;

	if (size_of(fd) < *position)
		*position = 0;
	text = read_output(fd, *position);
	newline = strrchr(text, '\n');
	*(newline ? newline + 1 : text) = '\0';
	*position += strlen(text);
	return text;
}

/* ---------------------------------------------------------------------- start */

/* The error of a start that has failed, with errno. */
static void
start_failed(sp_child *child, const char *message)
{
	int			saved_errno = errno;

	close_files(child);
	errno = saved_errno;
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_RESOURCES),
			 errmsg("could not run \"%s\"", child->program->path),
			 errdetail("%s: %m.", message)));
}

static void
open_files(sp_child *child)
{
	for (int i = 0; i < 2; i++)
	{
		if (!AcquireExternalFD())
		{
			errno = EMFILE;
			start_failed(child, "Too many files are open in this session");
		}
		child->files[i] = open_output();
		if (child->files[i] < 0)
		{
			ReleaseExternalFD();
			start_failed(child, "Could not create a temporary file");
		}
	}
}

void
sp_child_start(sp_child *child, const sp_child_program *program)
{
	int			input;

	*child = (sp_child) {.program = program, .files = {-1, -1}};
	open_files(child);
	input = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (input < 0)
		start_failed(child, "Could not open \"/dev/null\"");
	child->pid = fork_program(program, input, child->files);
	(void) close(input);
	if (child->pid < 0)
		start_failed(child, "Could not fork");
	child->runs = true;
	child->deadline_ms = program->timeout_ms > 0 ? now_ms() + program->timeout_ms : PG_INT64_MAX;
}

/* ------------------------------------------------------------------------ end */

/* 1: the process has ended, 0: not yet, -1: it is not a child of this process. */
static int
reap(pid_t pid, int *status)
{
	pid_t		ended;

	do
		ended = waitpid(pid, status, WNOHANG);
	while (ended < 0 && errno == EINTR);
	return ended > 0 ? 1 : (int) ended;
}

/* Serves no interrupts, since it is called while they are served.  signal_number 0: none. */
static bool
ends_within(pid_t pid, int signal_number, int64 grace_ms, int *status)
{
	int64		deadline_ms = now_ms() + grace_ms;

	(void) kill(pid, signal_number);
	while (reap(pid, status) == 0)
	{
		if (now_ms() >= deadline_ms)
			return false;
		pg_usleep(2000L);
	}
	return true;
}

/* A child that hangs in the kernel stays a zombie until this backend ends. */
static bool
stop(sp_child *child, int64 term_grace_ms, int64 kill_grace_ms)
{
	return ends_within(child->pid, SIGTERM, term_grace_ms, &child->status) ||
		ends_within(child->pid, SIGKILL, kill_grace_ms, &child->status);
}

bool
sp_child_has_ended(sp_child *child)
{
	int			ended;

	if (!child->runs)
		return true;
	ended = reap(child->pid, &child->status);
	child->timed_out = ended == 0 && now_ms() >= child->deadline_ms;
	for (int i = 0; i < 2; i++)
		discard_excess(child->files[i]);
	if (ended == 0 && !child->timed_out)
		return false;
	if (ended == 0)
		child->abandoned = !stop(child, TERM_GRACE_MS, KILL_GRACE_MS);
	child->runs = false;
	if (ended < 0)
		ereport(ERROR,
				(errcode(ERRCODE_SYSTEM_ERROR),
				 errmsg("could not wait for process of \"%s\": %m", child->program->path)));
	child->out = read_output(child->files[0], 0);
	child->err = read_output(child->files[1], 0);
	return true;
}

void
sp_child_end(sp_child *child)
{
	if (child->runs)
		child->abandoned = !stop(child, QUICK_TERM_GRACE_MS, QUICK_KILL_GRACE_MS);
	child->runs = false;
	close_files(child);
}

/* ------------------------------------------------------------------------ run */

static void
end_child(int code pg_attribute_unused(), Datum arg)
{
	sp_child_end((sp_child *) DatumGetPointer(arg));
}

/*
 * A signal to the process group, such as a cancel, reaches backend and child at once.  So
 * interrupts are checked again before the end of the child is reported as its own.
 */
static void
attend_child(sp_child *child)
{
	const sp_child_program *program = child->program;
	uint32		wait_event = sp_wait_event_new("SyncProbeChild");
	long		wait_ms = 1;
	bool		has_ended;

	do
	{
		has_ended = sp_child_has_ended(child);
		CHECK_FOR_INTERRUPTS();
		if (program->meanwhile)
			program->meanwhile(program->context, child);
		if (has_ended)
			return;
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, wait_ms, wait_event);
		ResetLatch(MyLatch);
		wait_ms = Min(wait_ms * 2, MAX_WAIT_MS);
	} while (true);
}

void
sp_child_run(sp_child *child, const sp_child_program *program)
{
	sp_child_start(child, program);
	PG_ENSURE_ERROR_CLEANUP(end_child, PointerGetDatum(child));
	{
		attend_child(child);
	}
	PG_END_ENSURE_ERROR_CLEANUP(end_child, PointerGetDatum(child));
	sp_child_end(child);
}

void
sp_child_run_silently(const sp_child_program *program)
{
	int			null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int			outputs[] = {null, null};
	pid_t		pid = fork_program(program, null, outputs);
	int			status;

	if (null >= 0)
		(void) close(null);
	if (pid > 0 && !ends_within(pid, 0, program->timeout_ms, &status))
		(void) ends_within(pid, SIGKILL, QUICK_KILL_GRACE_MS, &status);
}

/* --------------------------------------------------------------------- result */

bool
sp_child_succeeded(const sp_child *child)
{
	return !child->timed_out && WIFEXITED(child->status) &&
		WEXITSTATUS(child->status) == 0;
}

char *
sp_child_describe(const sp_child *child)
{
	if (child->timed_out)
		return psprintf("did not end within %g s%s", child->program->timeout_ms / 1000.0,
						child->abandoned ? ", nor when it was killed" : "");
	if (WIFSIGNALED(child->status))
		return psprintf("was ended by signal %d", WTERMSIG(child->status));
	return psprintf("exited with status %d", WEXITSTATUS(child->status));
}
