/*-------------------------------------------------------------------------
 *
 * text.c
 *		Text in buffers of the caller's.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/text/text.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int
sp_build_path(char *path, const char *format,...)
{
	va_list		args;
	int			length;

	va_start(args, format);
	length = vsnprintf(path, PATH_MAX, format, args);
	va_end(args);
	return length < 0 || length >= PATH_MAX ? ENAMETOOLONG : 0;
}

sp_sentence
sp_sentence_begin(char *text, size_t size)
{
	text[0] = '\0';
	return (sp_sentence) {text, size};
}

void
sp_append(sp_sentence *to, const char *format,...)
{
	size_t		used = strlen(to->text);
	va_list		args;

	va_start(args, format);
	vsnprintf(to->text + used, to->size - used, format, args);
	va_end(args);
}
