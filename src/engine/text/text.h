/*-------------------------------------------------------------------------
 *
 * engine/text/text.h
 *		Text in buffers of the caller's; and what C lacks for all of the engine.
 *
 * The lowest folder: all of the engine may use it.
 *
 * It must not: include a header of another folder, allocate, print, or open a
 * file.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_TEXT_H
#define SP_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* The server's c.h defines it, too. */
#ifndef lengthof
#define lengthof(array) (sizeof(array) / sizeof((array)[0]))
#endif

#define SP_NS_PER_US	INT64_C(1000)
#define SP_NS_PER_MS	INT64_C(1000000)
#define SP_NS_PER_S		INT64_C(1000000000)

/*
 * path: PATH_MAX bytes.  A name cut short would be another file's name, so this
 * returns ENAMETOOLONG then, else 0.
 */
extern int	sp_build_path(char *path, const char *format,...)
			__attribute__((format(printf, 2, 3)));

/* Text that is composed piece by piece.  What does not fit is cut off. */
typedef struct sp_sentence
{
	char	   *text;			/* always terminated */
	size_t		size;
} sp_sentence;

/* Begin: the text is empty.  size must not be 0. */
extern sp_sentence sp_sentence_begin(char *text, size_t size);

/* Add to the end. */
extern void sp_append(sp_sentence *to, const char *format,...)
			__attribute__((format(printf, 2, 3)));

#endif							/* SP_TEXT_H */
