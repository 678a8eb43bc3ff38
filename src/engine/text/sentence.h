/*-------------------------------------------------------------------------
 *
 * sentence.h
 *		Text that is composed piece by piece in a buffer of the caller's.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_SENTENCE_H
#define SP_SENTENCE_H

#include <stddef.h>

/* The text is always terminated.  What does not fit is cut off. */
typedef struct sp_sentence
{
	char	   *text;
	size_t		size;
} sp_sentence;

/* Begin: the text is empty.  size must not be 0. */
extern sp_sentence sp_sentence_begin(char *text, size_t size);

/* Add to the end. */
extern void sp_say(sp_sentence *to, const char *format,...)
			__attribute__((format(printf, 2, 3)));

#endif							/* SP_SENTENCE_H */
