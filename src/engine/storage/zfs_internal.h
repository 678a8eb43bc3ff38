/*-------------------------------------------------------------------------
 *
 * zfs_internal.h
 *	  What zfs.c (names, properties), zfs_status.c (the parts of a pool) and
 *	  zfs_counters.c (the kernel's counters) share: zfs_text.c.
 *
 * It must not: be included outside src/engine.
 *
 * What takes or copies returns whether it did; if not, the text it was to take
 * from stays as it is.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_ZFS_INTERNAL_H
#define SP_ZFS_INTERNAL_H

#include "engine/storage/zfs.h"

/* ZFS_MAX_DATASET_NAME_LEN is 256 with the NUL. */
#define SP_ZFS_NAME_SIZE	256

/* A piece of a text, not NUL terminated. */
typedef struct sp_slice
{
	const char *start;
	size_t		length;
} sp_slice;

extern bool sp_slice_equals(sp_slice text, const char *string);

/* A blank or a tab. */
extern bool sp_is_blank(char c);

/* Without the blanks at both ends. */
extern sp_slice sp_trim(sp_slice text);

/*
 * Take one line, without its end, off the front of the text.  What comes behind
 * the last newline was cut off somewhere, and is none.
 */
extern bool sp_take_line(sp_slice *text, sp_slice *line);

/* Take what comes before a tab, and the tab, off the front of the line. */
extern bool sp_take_field(sp_slice *line, sp_slice *field);

/*
 * Take a word and the blanks behind it, of which there must be one.  *word: set
 * also if there is none.
 */
extern bool sp_take_word(sp_slice *line, sp_slice *word);

/* Leaves the string alone if the text does not fit, or is the tools' "-". */
extern bool sp_copy_text(sp_slice text, char *string, size_t size);

/* Digits only; leaves the number alone if it is none. */
extern bool sp_copy_number(sp_slice text, int64_t *number);

#endif							/* SP_ZFS_INTERNAL_H */
