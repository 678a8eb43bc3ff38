/*-------------------------------------------------------------------------
 *
 * child_process_internal.h
 *		Shared by child_process.c (the run), child_exec.c (its start) and
 *		child_output.c (its output) only.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_CHILD_PROCESS_INTERNAL_H
#define SP_CHILD_PROCESS_INTERNAL_H

#include "common/child_process.h"

/* Descriptors of a run: four pipes and the standard input. */
typedef enum sp_child_fd
{
	SP_OUT_READ,
	SP_OUT_WRITE,
	SP_ERR_READ,
	SP_ERR_WRITE,
	SP_EXEC_READ,				/* errno, if execve() failed */
	SP_EXEC_WRITE,
	SP_GO_READ,					/* a byte: execute the program; end of file: exit */
	SP_GO_WRITE,
	SP_INPUT
} sp_child_fd;

#define SP_N_FDS	(SP_INPUT + 1)

typedef struct sp_child_fds
{
	int			fd[SP_N_FDS];	/* -1: not open */
	int			nstreams;
	int		   *stream;			/* -1: not open */
	int			reserved;		/* with AcquireExternalFD() */
} sp_child_fds;

/* Set all to "not open".  Call this before anything that may throw an error. */
extern void sp_init_descriptors(sp_child_fds *fds, int nstreams);

/*
 * Open all descriptors but the streams, and reserve those.  After an error here or
 * later, sp_close_descriptors() closes what is open.
 */
extern void sp_open_descriptors(sp_child_fds *fds, const sp_child_program *program);
extern void sp_close_descriptor(int *fd);
extern void sp_close_descriptors(sp_child_fds *fds);

/* Fork the child, which waits before its exec, and close the child's pipe ends. */
extern pid_t sp_start_program(const sp_child_program *program, sp_child_fds *fds);

/* Let the child execute the program.  SP_EXEC_READ tells whether it could. */
extern void sp_execute_program(sp_child_fds *fds);

/* One of the two outputs of the child. */
typedef struct sp_child_output
{
	int		   *fd;				/* -1 at its end */
	bool		from_stderr;
	StringInfo	kept;
	StringInfoData line;		/* the current line so far */
} sp_child_output;

#define SP_N_OUTPUTS	2

extern void sp_init_outputs(sp_child_output *outputs, sp_child_result *result, sp_child_fds *fds);

/* Call read() once.  At end of file the descriptor is closed. */
extern void sp_read_output(const sp_child_program *program, sp_child_output *output);

/* Read the rest after the child has ended. */
extern void sp_read_rest(const sp_child_program *program, sp_child_output *output);

/* Read all that is available in a stream; returns the number of bytes. */
extern Size sp_read_stream(const sp_child_program *program, const sp_child_fds *fds, int stream);

#endif							/* SP_CHILD_PROCESS_INTERNAL_H */
