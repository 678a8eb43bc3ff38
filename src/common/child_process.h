/*-------------------------------------------------------------------------
 *
 * child_process.h
 *		Run another program from a backend, and stay a good backend meanwhile.
 *
 * The program gets an argument vector, never a shell; a minimal environment;
 * /dev/null as its standard input and no other descriptor of the server.  It is
 * in the backend's process group, so that a shutdown reaches it too.  Both its
 * outputs are read as they come, and streams such as FIFOs too, under a wait that
 * also looks at interrupts.  Whatever ends the caller (error, cancel,
 * termination) ends the child.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_CHILD_PROCESS_H
#define SP_CHILD_PROCESS_H

#include "postgres.h"

#include "lib/stringinfo.h"

/* What is to be run, and what is done with what it says. */
typedef struct sp_child_program
{
	const char *path;			/* absolute, or relative to the data directory */
	char *const *argv;			/* argv[0] is the name; ends with NULL */
	char *const *envp;			/* the whole environment; ends with NULL */
	int			timeout_ms;		/* then it is ended; 0: no limit */
	Size		max_output;		/* bytes of each output that are kept; the rest
								 * is read and dropped */

	/*
	 * If set, called with each line of an output as it comes, without its
	 * newline; it may throw an error.  A line longer than max_output comes cut.
	 */
	void		(*line) (void *context, bool from_stderr, const char *line);

	/*
	 * Files that the program writes and that are read like its outputs: FIFOs
	 * whose names contain its process ID.  open_stream() is called for each, from
	 * 0, while the process waits to execute the program.  It returns a
	 * nonblocking descriptor to read, or throws an error.  stream_data() gets
	 * what was read, and may throw an error.
	 */
	int			nstreams;
	int			(*open_stream) (void *context, pid_t pid, int stream);
	void		(*stream_data) (void *context, int stream, const char *data, Size length);
	const char *streams_hint;	/* how to need fewer of them; may be NULL */

	void	   *context;		/* of these functions */
} sp_child_program;

/* How it ended. */
typedef struct sp_child_result
{
	bool		started;		/* false: exec_errno says why not */
	int			exec_errno;
	bool		timed_out;
	int			status;			/* of waitpid() */
	bool		abandoned;		/* did not even end by SIGKILL (it hangs in the
								 * kernel): status is not known */
	StringInfoData out;			/* NUL-terminated, in the caller's context */
	StringInfoData err;
} sp_child_result;

/*
 * Run it to its end.  Throws no error for what the program does; errors are of
 * this server alone (no process, no pipe, interrupts).
 */
extern void sp_child_run(const sp_child_program *program, sp_child_result *result);

/* Did it run and exit with status 0? */
extern bool sp_child_succeeded(const sp_child_result *result);

/* "exited with status 1", "was ended by signal 9", "did not end within 5 s", ... */
extern char *sp_child_describe(const sp_child_program *program, const sp_child_result *result);

#endif							/* SP_CHILD_PROCESS_H */
