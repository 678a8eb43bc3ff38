/*-------------------------------------------------------------------------
 *
 * sentence.c
 *		Text that is composed piece by piece.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/text/sentence.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

sp_sentence
sp_sentence_begin(char *text, size_t size)
{
	text[0] = '\0';
	return (sp_sentence) {text, size};
}

void
sp_say(sp_sentence *to, const char *format,...)
{
	size_t		used = strlen(to->text);
	va_list		args;

	va_start(args, format);
	vsnprintf(to->text + used, to->size - used, format, args);
	va_end(args);
}
