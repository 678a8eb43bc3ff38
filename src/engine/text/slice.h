/*-------------------------------------------------------------------------
 *
 * slice.h
 *		A piece of a text, and how to read lines, words and numbers from it.
 *
 * Texts come from files and pipes that may have been cut off, and names in them
 * are chosen by people.  So a slice has no NUL at its end, and a line without its
 * newline is not read.
 *
 * The sp_take_ functions remove what they return from the front of a text.  They
 * return false, and leave the text as it is, if it does not begin with that.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_SLICE_H
#define SP_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sp_slice
{
	const char *start;
	size_t		length;
} sp_slice;

/* All of a string that ends with a NUL. */
extern sp_slice sp_slice_of(const char *string);

extern bool sp_slice_equals(sp_slice text, const char *string);

/* A space or a tab. */
extern bool sp_is_blank(char c);

/* The text without the blanks at both ends. */
extern sp_slice sp_trim(sp_slice text);

/* Does the text begin with a decimal digit? */
extern bool sp_at_digit(sp_slice text);

/* Remove so many bytes, which must be there, from the front. */
extern void sp_skip(sp_slice *text, size_t length);

extern bool sp_take_text(sp_slice *text, const char *expected);

/* Take one or more spaces. */
extern bool sp_take_spaces(sp_slice *text);

/* Take an unsigned decimal number of at most 64 bits. */
extern bool sp_take_number(sp_slice *text, uint64_t *number);

/* Take a line with its newline.  *line has neither that nor a CR before it. */
extern bool sp_take_line(sp_slice *text, sp_slice *line);

/* Take a field with the separator behind it, which *field does not have. */
extern bool sp_take_field(sp_slice *text, char separator, sp_slice *field);

/*
 * Copy a text to a string of size bytes.  Returns false, and leaves the string as
 * it is, if the text is empty, does not fit, or contains a NUL.
 */
extern bool sp_copy_slice(sp_slice text, char *string, size_t size);

#endif							/* SP_SLICE_H */
