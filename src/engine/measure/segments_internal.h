/*-------------------------------------------------------------------------
 *
 * segments_internal.h
 *		Shared by the files of the suite segments.
 *
 * suite_segments.c has the plan and the verdict, segments.c the rounds, and segment_file.c
 * one segment: made, renamed, removed.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_SEGMENTS_INTERNAL_H
#define SP_SEGMENTS_INTERNAL_H

#include "engine/measure/probe_internal.h"

/* --------------------------------------------------------- suite_segments.c */

/* The case of a part that measures that file; -1 if there is none. */
extern int	sp_segment_case(const sp_probe *probe, sp_segment_part part, int file);

/* ----------------------------------------------------------- segment_file.c */

/* How it ended. */
typedef enum sp_segment_end
{
	SP_SEGMENT_DONE,
	SP_SEGMENT_FAILED,			/* errno says why */
	SP_SEGMENT_CUT				/* by the limit of time, or by a signal */
} sp_segment_end;

/* What is done with one segment. */
typedef struct sp_segment_work
{
	sp_probe   *probe;
	sp_file    *file;
	int64_t		limit;			/* nothing begins after it */
	int64_t		ns;				/* spent in calls, so far */
	int64_t		position;		/* of zero-filling */
	const char *failed;			/* the call that failed */
} sp_segment_work;

/*
 * Timed: make a segment of that kind, as the server does, and let it have another name.
 * Its file is open afterwards, with the flags of its method.
 */
extern sp_segment_end sp_segment_make(sp_segment_work *work, sp_segment_kind kind);

/* Timed: remove the file, as the server does with a segment that it does not recycle. */
extern sp_segment_end sp_segment_remove(sp_segment_work *work);

/* Untimed: remove what is left of a file that the engine has made. */
extern void sp_segment_discard(sp_file *file);

/* Untimed: let the kernel drop an old segment from its page cache. */
extern void sp_segment_let_age(const sp_file *file);

/* -------------------------------------------------------------- segments.c */

/* The rounds, until the time is up or all is settled. */
extern void sp_segments_measure(sp_probe *probe);

#endif							/* SP_SEGMENTS_INTERNAL_H */
