/*-------------------------------------------------------------------------
 *
 * child_process_internal.h
 *		What child_process.c (the run), child_exec.c (its start) and
 *		child_output.c (what it writes) share, and nobody else uses.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_CHILD_PROCESS_INTERNAL_H
#define SP_CHILD_PROCESS_INTERNAL_H

#include "common/child_process.h"

/* Descriptors of a run: four pipes, and what the child reads. */
typedef enum sp_child_fd
{
	SP_OUT_READ,
	SP_OUT_WRITE,
	SP_ERR_READ,
	SP_ERR_WRITE,
	SP_EXEC_READ,				/* an errno, if the program could not be run */
	SP_EXEC_WRITE,
	SP_GO_READ,					/* a byte: execute the program; its end: exit */
	SP_GO_WRITE,
	SP_INPUT
} sp_child_fd;

#define SP_N_FDS	(SP_INPUT + 1)

typedef struct sp_child_fds
{
	int			fd[SP_N_FDS];	/* -1: not open */
	int			nstreams;
	int		   *stream;			/* -1: not open */
	int			reserved;		/* told to fd.c */
} sp_child_fds;

/* With none open, before anything that may throw an error. */
extern void sp_init_descriptors(sp_child_fds *fds, int nstreams);

/*
 * Open all but the streams, and reserve those.  If that throws an error, or
 * anything else does later, sp_close_descriptors() closes what is open.
 */
extern void sp_open_descriptors(sp_child_fds *fds, const sp_child_program *program);
extern void sp_close_descriptor(int *fd);
extern void sp_close_descriptors(sp_child_fds *fds);

/*
 * Make a process that waits to become the program, and close what only that
 * needs.
 */
extern pid_t sp_start_program(const sp_child_program *program, sp_child_fds *fds);

/*
 * Let it execute the program, once the streams are open.  Whether it could is
 * told by SP_EXEC_READ.
 */
extern void sp_execute_program(sp_child_fds *fds);

/* One of the two outputs of the child. */
typedef struct sp_child_output
{
	int		   *fd;				/* -1 at its end */
	bool		from_stderr;
	StringInfo	kept;
	StringInfoData line;		/* as much as is there of the current one */
} sp_child_output;

#define SP_N_OUTPUTS	2

extern void sp_init_outputs(sp_child_output *outputs, sp_child_result *result, sp_child_fds *fds);

/* As much as one read() gives; at its end the descriptor is closed. */
extern void sp_read_output(const sp_child_program *program, sp_child_output *output);

/* What is left once the child has ended. */
extern void sp_read_rest(const sp_child_program *program, sp_child_output *output);

/* All that is in a stream now; returns how many bytes that were. */
extern Size sp_read_stream(const sp_child_program *program, const sp_child_fds *fds, int stream);

#endif							/* SP_CHILD_PROCESS_INTERNAL_H */
