/*-------------------------------------------------------------------------
 *
 * child_process_internal.h
 *		What child_process.c (the run) and child_exec.c (its start) share, and
 *		nobody else uses.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_CHILD_PROCESS_INTERNAL_H
#define SP_CHILD_PROCESS_INTERNAL_H

#include "child_process.h"

/* Descriptors of a run: three pipes, and what the child reads. */
typedef enum sp_child_fd
{
	SP_OUT_READ,
	SP_OUT_WRITE,
	SP_ERR_READ,
	SP_ERR_WRITE,
	SP_EXEC_READ,				/* an errno, if the program could not be run */
	SP_EXEC_WRITE,
	SP_INPUT
} sp_child_fd;

#define SP_N_FDS	(SP_INPUT + 1)

typedef struct sp_child_fds
{
	int			fd[SP_N_FDS];	/* -1: not open */
	int			reserved;		/* told to fd.c */
} sp_child_fds;

/*
 * Open them all, from none.  If that throws an error, or anything else does
 * later, sp_close_descriptors() closes what is open.
 */
extern void sp_open_descriptors(sp_child_fds *fds, const char *path);
extern void sp_close_descriptor(int *fd);
extern void sp_close_descriptors(sp_child_fds *fds);

/*
 * Make a process that becomes the program, and close what only that needs.
 * Whether the program could be run is told by SP_EXEC_READ.
 */
extern pid_t sp_start_program(const sp_child_program *program, sp_child_fds *fds);

#endif							/* SP_CHILD_PROCESS_INTERNAL_H */
