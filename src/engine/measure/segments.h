/*-------------------------------------------------------------------------
 *
 * segments.h
 *		The suite segments: what a new WAL segment costs, by where it comes from.
 *
 * The server renames an old segment (wal_recycle), or creates a file: one that it fills
 * with zeros (wal_init_zero), or one of which it writes the last byte alone.  What it saves
 * then it may pay later: a flush into blocks that are not there yet allocates them.  So
 * creation and flushes are compared together.
 *
 * suite_segments.c has the plan, the rounds and the verdict, segment_file.c one segment:
 * made, renamed, removed.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_SEGMENTS_H
#define SP_SEGMENTS_H

#include "engine/measure/measure.h"

/* The origin of a segment. */
typedef enum sp_segment_kind
{
	SP_RECYCLED,
	SP_ZERO_FILLED,
	SP_SPARSE,
	SP_SEGMENT_KINDS
} sp_segment_kind;

/* The subject of a test case of the suite. */
typedef enum sp_segment_part
{
	SP_WHOLE_SEGMENT,			/* creation and all flushes, of all kinds */
	SP_NEW_SEGMENT,				/* the same, of those that are created */
	SP_CREATION,
	SP_FIRST_FLUSHES,
	SP_REMOVAL,
	SP_SEGMENT_PARTS
} sp_segment_part;

/* A segment that each round has: a kind, or a kind once more as the A/A control. */
typedef struct sp_segment_slot
{
	sp_segment_kind kind;
	bool		control;
	int			cases[SP_SEGMENT_PARTS];	/* test cases; -1: the part is not its */
} sp_segment_slot;

#define SP_MAX_SEGMENT_SLOTS	(SP_SEGMENT_KINDS + 2)

/* The data of the suite. */
typedef struct sp_segments
{
	int			nslots;
	sp_segment_slot slots[SP_MAX_SEGMENT_SLOTS];	/* each has the file of its number */
	sp_segment_kind current;	/* what this server does */
	sp_segment_kind created;	/* what it does without old segments */
	int			flush_size;		/* bytes of WAL */
	int			fill_write_size;	/* bytes of a write that fills with zeros */
	int			all_flushes;	/* of a segment */
	int			first_flushes;	/* of these are measured in the next round */
	int			fewest_flushes; /* in any round that counts */
} sp_segments;

/* Judge the kinds of the test "segment" or "new_segment".  False if nothing is compared. */
extern bool sp_segments_judge(const sp_probe *probe, const char *test,
							  sp_comparison *comparison, sp_judgement *judgement);

/* ----------------------------------------------------------- segment_file.c */

/* The work on one segment. */
typedef struct sp_segment_work
{
	sp_probe   *probe;
	sp_file    *file;
	int64_t		limit;			/* nothing begins after it */
	int			fill_write_size;
	int64_t		ns;				/* spent in calls, so far */
	int64_t		position;		/* of zero-filling */
	const char *failed;			/* the call, with its errno; NULL: the limit or a signal cut it */
} sp_segment_work;

/*
 * Write blocks with one call, as the server does when it fills a segment.  The buffer, of whole
 * blocks, is repeated as often as needed.  Returns the bytes written, or -1 with errno set.
 */
extern ssize_t sp_write_blocks(int fd, const char *buffer, int64_t buffer_size, int64_t size,
							   int64_t offset);

/*
 * Timed: make a segment of that kind, as the server does, and let it have another name.
 * Its file is open afterwards, with the flags of its method.  False if it failed or was cut.
 */
extern bool sp_segment_make(sp_segment_work *work, sp_segment_kind kind);

/* Timed: remove the file, as the server does with a segment that it does not recycle. */
extern bool sp_segment_remove(sp_segment_work *work);

/* Untimed: remove what is left of a file that the engine has made. */
extern void sp_segment_discard(sp_file *file);

#endif							/* SP_SEGMENTS_H */
