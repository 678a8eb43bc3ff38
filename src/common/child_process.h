/*-------------------------------------------------------------------------
 *
 * child_process.h
 *		Run another program from a backend, and keep serving interrupts.
 *
 * The program gets an argument vector, not a shell command, a minimal environment, /dev/null
 * as its standard input, and no other descriptor of the server.  It is in the process group of
 * the backend, so that a shutdown reaches it, too.  It writes its outputs into temporary files:
 * nobody need read them in time, and its own children cannot hold them open.  Of one that grows
 * beyond 1 MB, only the end is kept.  Whatever ends the caller (error, cancel, termination) ends
 * the program.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_CHILD_PROCESS_H
#define SP_CHILD_PROCESS_H

#include "postgres.h"

#include "storage/fd.h"

typedef struct sp_child sp_child;

typedef struct sp_child_program
{
	const char *path;			/* absolute, or relative to the data directory */
	char *const *argv;			/* argv[0] is the name; ends with NULL */
	char *const *envp;			/* the whole environment; ends with NULL */
	int			timeout_ms;		/* the program is ended after this; 0: no limit */
	bool		starts_others;	/* as pgbench does: they end with it if it is killed */

	/* Or NULL: called in the new process, where it may only make system calls. */
	void		(*in_child) (void *context);

	/* Or NULL: called every few milliseconds, and once after the end.  May throw an error. */
	void		(*meanwhile) (void *context, sp_child *child);
	void	   *context;		/* of these functions */
} sp_child_program;

/* A program that runs or has ended. */
struct sp_child
{
	sp_child_program program;
	pid_t		pid;
	bool		runs;
	File		files[2];		/* its outputs; 0: closed */
	off_t		position;		/* of the next line in its error output */
	int64		deadline_ns;

	/* once it has ended; text is palloc'd in the memory context of the caller */
	bool		succeeded;		/* it has exited with status 0 */
	bool		timed_out;
	char	   *ending;			/* "exited with status 1", "was ended by signal 9", ... */
	char	   *out;
	char	   *err;
};

/*
 * Run the program until it ends.  Its failure is not an error; if it could not be executed, err
 * has the reason.  Errors are those of this server.
 */
extern void sp_child_run(sp_child *child, const sp_child_program *program);

/* Or start it, and go on.  The caller ends it, also after an error. */
extern void sp_child_start(sp_child *child, const sp_child_program *program);

/* Does not wait, but for the end of a program whose time is up. */
extern bool sp_child_has_ended(sp_child *child);

/* The lines that it has written to stderr since the last call. */
extern char *sp_child_new_lines(sp_child *child);

/* End it if it runs, and close its files.  Throws no error; may be called again. */
extern void sp_child_end(sp_child *child);

/*
 * Run it after an error, or while the backend exits: throw no error, serve no interrupt, read
 * no output.  It is killed after that time.  It ignores SIGINT and SIGTERM.
 */
extern void sp_child_run_silently(const sp_child_program *program, int timeout_ms);

#endif							/* SP_CHILD_PROCESS_H */
