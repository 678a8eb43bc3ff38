/*-------------------------------------------------------------------------
 *
 * child_exec.c
 *		Start a program: descriptors, fork() and execve().
 *
 * Between fork() and execve() the child is a copy of this backend, with its connection,
 * shared memory and exit handlers.  There it may only make system calls: no ereport, no
 * palloc, no exit().
 *
 * It must not: wait for the end of the child, or read its output.
 *
 *-------------------------------------------------------------------------
 */
#include "common/child_process_internal.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

#include "storage/fd.h"

/* Without close_range(), higher descriptors are not closed. */
#define MAX_FD_LOOP		65536

/* -------------------------------------------------------- between fork and exec */

/* An ignored signal would stay ignored after the exec. */
static void
reset_signal_actions(void)
{
	struct sigaction action = {.sa_handler = SIG_DFL};

	for (int signal_number = 1; signal_number < NSIG; signal_number++)
		(void) sigaction(signal_number, &action, NULL);
}

/*
 * Mark all but the standard descriptors close-on-exec.  Most descriptors of a backend
 * are, but not the files of tables, and perhaps not those of other modules.
 */
static void
close_others_at_exec(int max_fd)
{
#if defined(__linux__) && defined(SYS_close_range)
	const unsigned int close_range_cloexec = 1U << 2;

	if (syscall(SYS_close_range, 3U, ~0U, close_range_cloexec) == 0)
		return;
#endif
	for (int fd = 3; fd < max_fd; fd++)
		(void) fcntl(fd, F_SETFD, FD_CLOEXEC);
}

/*
 * Set the three standard descriptors.  First all get numbers above 2.  Otherwise dup2()
 * could overwrite one that is still needed, or duplicate one to itself, which would
 * leave it close-on-exec.
 */
static bool
set_standard_descriptors(int *fds)
{
	const sp_child_fd used[] = {SP_INPUT, SP_OUT_WRITE, SP_ERR_WRITE, SP_EXEC_WRITE};

	for (size_t i = 0; i < lengthof(used); i++)
	{
		int			fd = fcntl(fds[used[i]], F_DUPFD_CLOEXEC, 3);

		if (fd < 0)
			return false;
		fds[used[i]] = fd;
	}
	return dup2(fds[SP_INPUT], STDIN_FILENO) >= 0 &&
		dup2(fds[SP_OUT_WRITE], STDOUT_FILENO) >= 0 &&
		dup2(fds[SP_ERR_WRITE], STDERR_FILENO) >= 0;
}

/*
 * Wait until the parent writes a byte.  Only the parent may have the other end open;
 * otherwise its end would not be seen here.
 */
static bool
wait_for_go(int *fds)
{
	char		go;
	ssize_t		got;

	(void) close(fds[SP_GO_WRITE]);
	do
		got = read(fds[SP_GO_READ], &go, sizeof(go));
	while (got < 0 && errno == EINTR);
	return got == sizeof(go);
}

/*
 * The child.  It starts with all signals blocked, so that no handler of the server
 * runs.  Pending signals take effect when they are unblocked, with default actions.
 */
static void
become_program(const sp_child_program *program, int *fds, pid_t parent, int max_fd)
{
	sigset_t	none;
	int			exec_errno;
	ssize_t		written;

	reset_signal_actions();
#ifdef PR_SET_PDEATHSIG
	/* a backend that ends by SIGKILL or _exit() cannot end its child itself */
	(void) prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(127);
#endif
	if (!wait_for_go(fds))
		_exit(127);
	if (set_standard_descriptors(fds))
	{
		close_others_at_exec(max_fd);
		sigemptyset(&none);
		(void) sigprocmask(SIG_SETMASK, &none, NULL);
		(void) execve(program->path, program->argv, program->envp);
	}
	exec_errno = errno;
	written = write(fds[SP_EXEC_WRITE], &exec_errno, sizeof(exec_errno));
	_exit(written == sizeof(exec_errno) ? 127 : 126);
}

/* ---------------------------------------------------------------- descriptors */

void
sp_init_descriptors(sp_child_fds *fds, int nstreams)
{
	for (int i = 0; i < SP_N_FDS; i++)
		fds->fd[i] = -1;
	fds->stream = palloc(Max(nstreams, 1) * sizeof(int));
	for (int i = 0; i < nstreams; i++)
		fds->stream[i] = -1;
	fds->nstreams = nstreams;
	fds->reserved = 0;
}

/* Check for one more: the wait set reserves its own when it is created. */
static void
reserve_descriptors(sp_child_fds *fds, const sp_child_program *program)
{
	int			needed = SP_N_FDS + fds->nstreams + 1;

	for (; fds->reserved < needed; fds->reserved++)
	{
		if (!AcquireExternalFD())
			ereport(ERROR,
					(errcode(ERRCODE_INSUFFICIENT_RESOURCES),
					 errmsg("not enough file descriptors to run \"%s\"", program->path),
					 errdetail("It needs %d in this session, and %d are free.",
							   needed, fds->reserved),
					 program->streams_hint ?
					 errhint("%s Alternatively, raise max_files_per_process.", program->streams_hint) :
					 errhint("Raise max_files_per_process.")));
	}
	ReleaseExternalFD();
	fds->reserved--;
}

/* A backend has one thread, so nothing is forked between the two calls of macOS. */
static int
close_on_exec_pipe(int *ends)
{
#ifdef __APPLE__
	return pipe(ends) != 0 || fcntl(ends[0], F_SETFD, FD_CLOEXEC) != 0 ||
		fcntl(ends[1], F_SETFD, FD_CLOEXEC) != 0 ? -1 : 0;
#else
	return pipe2(ends, O_CLOEXEC);
#endif
}

static void
open_pipe(int *ends)
{
	if (close_on_exec_pipe(ends) != 0)
	{
		ends[0] = ends[1] = -1;
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not create pipe: %m")));
	}
}

/* The pipe ends that the parent reads. */
static const sp_child_fd our_ends[] = {SP_OUT_READ, SP_ERR_READ, SP_EXEC_READ};

void
sp_open_descriptors(sp_child_fds *fds, const sp_child_program *program)
{
	reserve_descriptors(fds, program);
	open_pipe(&fds->fd[SP_OUT_READ]);
	open_pipe(&fds->fd[SP_ERR_READ]);
	open_pipe(&fds->fd[SP_EXEC_READ]);
	open_pipe(&fds->fd[SP_GO_READ]);
	for (size_t i = 0; i < lengthof(our_ends); i++)
	{
		if (!pg_set_noblock(fds->fd[our_ends[i]]))
			ereport(ERROR,
					(errcode_for_file_access(),
					 errmsg("could not set pipe to nonblocking mode: %m")));
	}
	fds->fd[SP_INPUT] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (fds->fd[SP_INPUT] < 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not open file \"%s\": %m", "/dev/null")));
}

void
sp_close_descriptor(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void
sp_close_descriptors(sp_child_fds *fds)
{
	for (int i = 0; i < SP_N_FDS; i++)
		sp_close_descriptor(&fds->fd[i]);
	for (int i = 0; i < fds->nstreams; i++)
		sp_close_descriptor(&fds->stream[i]);
	for (; fds->reserved > 0; fds->reserved--)
		ReleaseExternalFD();
}

/* ---------------------------------------------------------------------- start */

static int
max_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > MAX_FD_LOOP)
		return MAX_FD_LOOP;
	return (int) limit.rlim_cur;
}

pid_t
sp_start_program(const sp_child_program *program, sp_child_fds *fds)
{
	int			max_fd = max_descriptors();
	pid_t		parent = getpid();
	pid_t		pid;
	sigset_t	all;
	sigset_t	before;
	int			saved_errno;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	pid = fork();
	if (pid == 0)
		become_program(program, fds->fd, parent, max_fd);
	saved_errno = errno;
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (pid < 0)
	{
		errno = saved_errno;
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_RESOURCES),
				 errmsg("could not fork process to run \"%s\": %m", program->path)));
	}
	sp_close_descriptor(&fds->fd[SP_OUT_WRITE]);
	sp_close_descriptor(&fds->fd[SP_ERR_WRITE]);
	sp_close_descriptor(&fds->fd[SP_EXEC_WRITE]);
	sp_close_descriptor(&fds->fd[SP_GO_READ]);
	sp_close_descriptor(&fds->fd[SP_INPUT]);
	return pid;
}

/* If the child has ended already, the caller that waits for it will see that. */
void
sp_execute_program(sp_child_fds *fds)
{
	const char	go = 1;
	ssize_t		written;

	do
		written = write(fds->fd[SP_GO_WRITE], &go, sizeof(go));
	while (written < 0 && errno == EINTR);
	sp_close_descriptor(&fds->fd[SP_GO_WRITE]);
}
