/*-------------------------------------------------------------------------
 *
 * child_process.h
 *		Run another program from a backend, and keep serving interrupts.
 *
 * The program gets an argument vector, not a shell command, a minimal environment,
 * /dev/null as its standard input, and no other descriptor of the server.  It is in the
 * process group of the backend, so that a shutdown reaches it, too.  Its outputs, and
 * streams such as FIFOs, are read while it runs.  Whatever ends the caller (error,
 * cancel, termination) ends the child.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_CHILD_PROCESS_H
#define SP_CHILD_PROCESS_H

#include "postgres.h"

#include "lib/stringinfo.h"

/* The program to run, and the callbacks for its output. */
typedef struct sp_child_program
{
	const char *path;			/* absolute, or relative to the data directory */
	char *const *argv;			/* argv[0] is the name; ends with NULL */
	char *const *envp;			/* the whole environment; ends with NULL */
	int			timeout_ms;		/* the program is ended after this; 0: no limit */
	Size		max_output;		/* bytes of each output that are kept; the rest
								 * is discarded */

	/*
	 * If set, it is called with each line of output, without its newline.  It may
	 * throw an error.  A line is cut at max_output bytes.
	 */
	void		(*line) (void *context, bool from_stderr, const char *line);

	/*
	 * Files that the program writes and that are read like its outputs: FIFOs whose
	 * names contain its process ID.  open_stream() is called for each, from 0, before
	 * the exec.  It returns a nonblocking descriptor for reading, or throws an error.
	 * stream_data() is called with the data, and may throw an error.
	 */
	int			nstreams;
	int			(*open_stream) (void *context, pid_t pid, int stream);
	void		(*stream_data) (void *context, int stream, const char *data, Size length);
	const char *streams_hint;	/* how to use fewer streams; may be NULL */

	void	   *context;		/* of these functions */
} sp_child_program;

/* The end of the program. */
typedef struct sp_child_result
{
	bool		started;		/* false: exec_errno is the reason */
	int			exec_errno;
	bool		timed_out;
	int			status;			/* of waitpid() */
	bool		abandoned;		/* it did not end after SIGKILL, since it hangs
								 * in the kernel: status is unknown */
	StringInfoData out;			/* NUL-terminated, in the caller's context */
	StringInfoData err;
} sp_child_result;

/*
 * Run the program until it ends.  Its failure is not an error.  Errors are those of
 * this server: no process, no pipe, interrupts.
 */
extern void sp_child_run(const sp_child_program *program, sp_child_result *result);

/*
 * Or start it, and go on.  The caller polls it, and ends it also after an error.  program
 * and result must stay as long.
 */
typedef struct sp_child sp_child;

extern sp_child *sp_child_start(const sp_child_program *program, sp_child_result *result);

/*
 * Read what it has written so far, without a wait.  True if it has ended: the result is
 * complete.  Errors are those of sp_child_run().
 */
extern bool sp_child_poll(sp_child *child);

/* End it if it has not ended, without a result.  Throws no error; may be called again. */
extern void sp_child_end(sp_child *child);

/* Did the program run and exit with status 0? */
extern bool sp_child_succeeded(const sp_child_result *result);

/* "exited with status 1", "was ended by signal 9", "did not end within 5 s", ... */
extern char *sp_child_describe(const sp_child_program *program, const sp_child_result *result);

#endif							/* SP_CHILD_PROCESS_H */
