/*-------------------------------------------------------------------------
 *
 * child_process.c
 *		Run another program from a backend, and keep serving interrupts.
 *
 * One loop reads output, serves interrupts, checks the time, and polls for the end of
 * the child.  It must poll: a backend leaves SIGCHLD at its default, and a child may
 * close its outputs and go on, or leave them to its own children.
 *
 * sp_child_poll() is one round of such a loop without the wait, for a caller that does
 * something else meanwhile.
 *
 * It must not: fork, which has its own rules (child_exec.c), or interpret the output
 * (child_output.c).
 *
 *-------------------------------------------------------------------------
 */
#include "common/child_process_internal.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/common.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/latch.h"

#include "compat.h"

/* An overdue child gets SIGTERM, then SIGKILL, and is then abandoned. */
#define TERM_GRACE_MS	1000
#define KILL_GRACE_MS	2000

/* The same after an error of the caller, which should not take long. */
#define QUICK_TERM_GRACE_MS	200
#define QUICK_KILL_GRACE_MS	1000

/* The maximum wait between two polls for the end of the child. */
#define MAX_WAIT_MS	100

/*
 * How often streams are read.  A wake-up for each block would take processor time from
 * the child.  If a stream had half of the smallest FIFO size, it is read again at once.
 */
#define STREAMS_WAIT_MS	20
#define STREAM_IS_FAST	(32 * 1024)

/* What a poll reads of an output at most, in calls of read(): as much as a pipe holds. */
#define READS_PER_POLL	8

struct sp_child
{
	const sp_child_program *program;
	sp_child_result *result;
	pid_t		pid;			/* 0 unless it runs */
	sp_child_fds fds;
	sp_child_output outputs[SP_N_OUTPUTS];
	bool		has_fast_stream;
	WaitEventSet *wait_set;		/* NULL: to be created for the open outputs */
	uint32		wait_event;
	int			last_signal;	/* 0 before it is overdue */
	int64		deadline_ms;
	int64		pause_ms;		/* between polls when both outputs are closed */
	bool		sigchld_changed;
	struct sigaction old_sigchld;
	bool		finished;		/* it has ended, and its output is read */
};

/*
 * Children that did not end in time.  A later run reaps them.  If there are more, they
 * stay zombies until this backend ends.
 */
static pid_t abandoned[16];

static int64
now_ms(void)
{
	return sp_monotonic_ns() / 1000000;
}

/* ---------------------------------------------------------------------- start */

/* Another module may have set a SIGCHLD handler that reaps our child. */
static void
set_sigchld(sp_child *child)
{
	struct sigaction action = {.sa_handler = SIG_DFL};

	child->sigchld_changed = sigaction(SIGCHLD, &action, &child->old_sigchld) == 0;
}

static void
start_child(sp_child *child)
{
	const sp_child_program *program = child->program;

	child->pid = sp_start_program(program, &child->fds);
	for (int i = 0; i < program->nstreams; i++)
		child->fds.stream[i] = program->open_stream(program->context, child->pid, i);
	sp_execute_program(&child->fds);
	child->deadline_ms = child->program->timeout_ms > 0 ?
		now_ms() + child->program->timeout_ms : PG_INT64_MAX;
}

/* -------------------------------------------------------------------- waiting */

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

static void
abandon(pid_t pid)
{
	for (size_t i = 0; i < lengthof(abandoned); i++)
	{
		if (abandoned[i] == 0)
		{
			abandoned[i] = pid;
			return;
		}
	}
}

static void
reap_abandoned(void)
{
	int			status;

	for (size_t i = 0; i < lengthof(abandoned); i++)
	{
		if (abandoned[i] != 0 && reap(abandoned[i], &status) != 0)
			abandoned[i] = 0;
	}
}

static bool
has_ended(sp_child *child)
{
	int			ended = reap(child->pid, &child->result->status);

	if (ended == 0)
		return false;
	child->pid = 0;
	if (ended < 0)
		ereport(ERROR,
				(errcode(ERRCODE_SYSTEM_ERROR),
				 errmsg("could not wait for process of \"%s\": %m", child->program->path)));
	return true;
}

/* End an overdue child.  False if SIGKILL did not end it. */
static bool
end_if_overdue(sp_child *child)
{
	int64		now = now_ms();

	if (now < child->deadline_ms)
		return true;
	child->result->timed_out = true;
	if (child->last_signal == SIGKILL)
		return false;
	child->last_signal = child->last_signal == 0 ? SIGTERM : SIGKILL;
	child->deadline_ms = now + (child->last_signal == SIGTERM ? TERM_GRACE_MS : KILL_GRACE_MS);
	child->pause_ms = 1;
	(void) kill(child->pid, child->last_signal);
	return true;
}

static void
make_wait_set(sp_child *child)
{
	WaitEventSet *set = sp_wait_event_set_new(SP_N_OUTPUTS + 2);

	child->wait_set = set;
	AddWaitEventToSet(set, WL_LATCH_SET, PGINVALID_SOCKET, MyLatch, NULL);
	if (IsUnderPostmaster)
		AddWaitEventToSet(set, WL_EXIT_ON_PM_DEATH, PGINVALID_SOCKET, NULL, NULL);
	for (int i = 0; i < SP_N_OUTPUTS; i++)
	{
		if (*child->outputs[i].fd >= 0)
			AddWaitEventToSet(set, WL_SOCKET_READABLE, *child->outputs[i].fd, NULL,
							  &child->outputs[i]);
	}
}

static void
free_wait_set(sp_child *child)
{
	if (child->wait_set)
		FreeWaitEventSet(child->wait_set);
	child->wait_set = NULL;
}

/*
 * The maximum wait for the next event.  A child that has closed its outputs usually
 * ends at once, so it is polled soon.
 */
static long
wait_ms(sp_child *child)
{
	int64		max_ms = MAX_WAIT_MS;

	if (*child->outputs[0].fd < 0 && *child->outputs[1].fd < 0)
	{
		max_ms = child->pause_ms;
		child->pause_ms = Min(child->pause_ms * 2, MAX_WAIT_MS);
	}
	if (child->fds.nstreams > 0)
		max_ms = Min(max_ms, child->has_fast_stream ? 1 : STREAMS_WAIT_MS);
	return (long) Max(1, Min(max_ms, child->deadline_ms - now_ms()));
}

static void
read_streams(sp_child *child)
{
	child->has_fast_stream = false;
	for (int i = 0; i < child->fds.nstreams; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (sp_read_stream(child->program, &child->fds, i) >= STREAM_IS_FAST)
			child->has_fast_stream = true;
	}
}

static void
wait_and_read(sp_child *child)
{
	WaitEvent	events[SP_N_OUTPUTS + 2];
	int			nevents;

	if (child->wait_set == NULL)
		make_wait_set(child);
	nevents = WaitEventSetWait(child->wait_set, wait_ms(child), events, lengthof(events),
							   child->wait_event);
	for (int i = 0; i < nevents; i++)
	{
		sp_child_output *output = events[i].user_data;

		if (events[i].events & WL_LATCH_SET)
			ResetLatch(MyLatch);
		if (output == NULL)
			continue;
		sp_read_output(child->program, output);

		/* a closed output would be reported as readable for ever */
		if (*output->fd < 0)
			free_wait_set(child);
	}
	read_streams(child);
}

/* Has it ended, or is it abandoned since it does not end? */
static bool
is_over(sp_child *child)
{
	if (has_ended(child))
		return true;
	if (end_if_overdue(child))
		return false;
	child->result->abandoned = true;
	abandon(child->pid);
	child->pid = 0;
	return true;
}

/*
 * Wait until the child has ended or is abandoned.  A signal to the process group, such
 * as a cancel, reaches backend and child at once.  So interrupts are checked again
 * before the end of the child is reported as its own.
 */
static void
attend_child(sp_child *child)
{
	while (!is_over(child))
	{
		CHECK_FOR_INTERRUPTS();
		wait_and_read(child);
	}
	CHECK_FOR_INTERRUPTS();
}

/* ------------------------------------------------------------------------ end */

/* Does not check for interrupts, since it is called while they are served. */
static bool
ends_within(pid_t pid, int signal_number, int64 grace_ms)
{
	int64		deadline_ms = now_ms() + grace_ms;
	int			status;

	(void) kill(pid, signal_number);
	while (reap(pid, &status) == 0)
	{
		if (now_ms() >= deadline_ms)
			return false;
		pg_usleep(2000L);
	}
	return true;
}

/*
 * End the child and release all resources.  Also called while the backend exits: must
 * not throw an error.
 */
static void
end_child(int code pg_attribute_unused(), Datum arg)
{
	sp_child *child = (sp_child *) DatumGetPointer(arg);

	/* before the exec the child has all signals blocked, but exits when this closes */
	sp_close_descriptor(&child->fds.fd[SP_GO_WRITE]);
	if (child->pid > 0 &&
		!ends_within(child->pid, SIGTERM, QUICK_TERM_GRACE_MS) &&
		!ends_within(child->pid, SIGKILL, QUICK_KILL_GRACE_MS))
		abandon(child->pid);
	child->pid = 0;
	free_wait_set(child);
	sp_close_descriptors(&child->fds);
	if (child->sigchld_changed)
		(void) sigaction(SIGCHLD, &child->old_sigchld, NULL);
	child->sigchld_changed = false;
}

static void
finish_result(sp_child *child)
{
	sp_child_result *result = child->result;

	for (int i = 0; i < SP_N_OUTPUTS; i++)
		sp_read_rest(child->program, &child->outputs[i]);
	read_streams(child);
	result->started = read(child->fds.fd[SP_EXEC_READ], &result->exec_errno, sizeof(result->exec_errno)) !=
		sizeof(result->exec_errno);
}

static void
init_child(sp_child *child, const sp_child_program *program, sp_child_result *result)
{
	memset(child, 0, sizeof(*child));
	memset(result, 0, sizeof(*result));
	child->program = program;
	child->result = result;
	child->pause_ms = 1;
	child->wait_event = sp_wait_event_new("SyncProbeChild");
	sp_init_descriptors(&child->fds, program->nstreams);
	sp_init_outputs(child->outputs, result, &child->fds);
}

void
sp_child_run(const sp_child_program *program, sp_child_result *result)
{
	sp_child	child;

	reap_abandoned();
	init_child(&child, program, result);
	PG_ENSURE_ERROR_CLEANUP(end_child, PointerGetDatum(&child));
	{
		sp_open_descriptors(&child.fds, program);
		set_sigchld(&child);
		start_child(&child);
		attend_child(&child);
		finish_result(&child);
	}
	PG_END_ENSURE_ERROR_CLEANUP(end_child, PointerGetDatum(&child));
	end_child(0, PointerGetDatum(&child));
	for (int i = 0; i < SP_N_OUTPUTS; i++)
		pfree(child.outputs[i].line.data);
	pfree(child.fds.stream);
}

/* ------------------------------------------------- beside the caller's own work */

sp_child *
sp_child_start(const sp_child_program *program, sp_child_result *result)
{
	sp_child   *child = palloc(sizeof(sp_child));

	reap_abandoned();
	init_child(child, program, result);
	PG_ENSURE_ERROR_CLEANUP(end_child, PointerGetDatum(child));
	{
		sp_open_descriptors(&child->fds, program);
		set_sigchld(child);
		start_child(child);
	}
	PG_END_ENSURE_ERROR_CLEANUP(end_child, PointerGetDatum(child));
	return child;
}

/* Does not wait.  A program that writes faster than it is polled has to wait itself. */
static void
read_available(sp_child *child)
{
	for (int i = 0; i < SP_N_OUTPUTS; i++)
	{
		sp_child_output *output = &child->outputs[i];

		for (int reads = 0; reads < READS_PER_POLL && *output->fd >= 0; reads++)
			sp_read_output(child->program, output);
	}
	read_streams(child);
}

bool
sp_child_poll(sp_child *child)
{
	if (child->finished)
		return true;
	if (child->pid > 0 && !is_over(child))
	{
		read_available(child);
		return false;
	}
	/* see attend_child() */
	CHECK_FOR_INTERRUPTS();
	finish_result(child);
	child->finished = true;
	return true;
}

void
sp_child_end(sp_child *child)
{
	end_child(0, PointerGetDatum(child));
	child->finished = true;
}

/* --------------------------------------------------------------------- result */

bool
sp_child_succeeded(const sp_child_result *result)
{
	return result->started && !result->timed_out && !result->abandoned &&
		WIFEXITED(result->status) && WEXITSTATUS(result->status) == 0;
}

char *
sp_child_describe(const sp_child_program *program, const sp_child_result *result)
{
	if (!result->started)
		return psprintf("could not be started: %s", strerror(result->exec_errno));
	if (result->timed_out)
		return psprintf("did not end within %g s%s", program->timeout_ms / 1000.0,
						result->abandoned ? ", nor when it was killed" : "");
	if (WIFSIGNALED(result->status))
		return psprintf("was ended by signal %d", WTERMSIG(result->status));
	return psprintf("exited with status %d", WEXITSTATUS(result->status));
}
