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
 *-------------------------------------------------------------------------
 */
#ifndef SP_SEGMENTS_H
#define SP_SEGMENTS_H

#include <stdbool.h>

/* Where a segment comes from. */
typedef enum sp_segment_kind
{
	SP_RECYCLED,
	SP_ZERO_FILLED,
	SP_SPARSE,
	SP_SEGMENT_KINDS
} sp_segment_kind;

/* What a test case of the suite is about. */
typedef enum sp_segment_part
{
	SP_NO_PART,					/* of another suite */
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
	int			file;			/* index into the files of the probe */
	bool		control;
} sp_segment_slot;

#define SP_MAX_SEGMENT_SLOTS	(SP_SEGMENT_KINDS + 2)

typedef struct sp_segments
{
	int			nslots;			/* 0: another suite */
	sp_segment_slot slots[SP_MAX_SEGMENT_SLOTS];
	sp_segment_kind current;	/* what this server does */
	sp_segment_kind created;	/* what it does without old segments */
	int			flush_size;		/* bytes of WAL */
	int			fill_write_size;	/* bytes of a write that fills with zeros */
	int			all_flushes;	/* of a segment */
	int			first_flushes;	/* of these are measured in the next round */
	int			fewest_flushes; /* in any round that counts */
} sp_segments;

#endif							/* SP_SEGMENTS_H */
