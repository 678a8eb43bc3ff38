/*-------------------------------------------------------------------------
 *
 * zfs_text.c
 *	  Pieces of a text: lines, fields, words, numbers.
 *
 * It must not: include a server header, keep state between calls, print, exit,
 * or open anything.
 *
 * Texts come from a pipe that may have been cut off, and names in them are
 * chosen by people.  So nothing here relies on a NUL at the end, a line that
 * lost its end is not read, and a text is copied whole or not at all: half a
 * path is another file's.
 *
 *-------------------------------------------------------------------------
 */
#include <string.h>

#include "engine/storage/zfs_internal.h"

bool
sp_slice_equals(sp_slice text, const char *string)
{
	return strlen(string) == text.length &&
		memcmp(text.start, string, text.length) == 0;
}

bool
sp_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

sp_slice
sp_trim(sp_slice text)
{
	while (text.length > 0 && sp_is_blank(text.start[0]))
	{
		text.start++;
		text.length--;
	}
	while (text.length > 0 && sp_is_blank(text.start[text.length - 1]))
		text.length--;
	return text;
}

bool
sp_take_line(sp_slice *text, sp_slice *line)
{
	const char *end = text->length == 0 ? NULL :
		memchr(text->start, '\n', text->length);

	if (end == NULL)
		return false;
	line->start = text->start;
	line->length = (size_t) (end - text->start);
	text->start += line->length + 1;
	text->length -= line->length + 1;
	if (line->length > 0 && line->start[line->length - 1] == '\r')
		line->length--;
	return true;
}

bool
sp_take_field(sp_slice *line, sp_slice *field)
{
	const char *tab = line->length == 0 ? NULL :
		memchr(line->start, '\t', line->length);

	if (tab == NULL)
		return false;
	field->start = line->start;
	field->length = (size_t) (tab - line->start);
	line->start += field->length + 1;
	line->length -= field->length + 1;
	return true;
}

bool
sp_take_word(sp_slice *line, sp_slice *word)
{
	size_t		length = 0;

	while (length < line->length && !sp_is_blank(line->start[length]))
		length++;
	word->start = line->start;
	word->length = length;
	if (length == line->length)
		return false;
	while (length < line->length && sp_is_blank(line->start[length]))
		length++;
	line->start += length;
	line->length -= length;
	return true;
}

bool
sp_copy_text(sp_slice text, char *string, size_t size)
{
	if (text.length == 0 || text.length >= size ||
		memchr(text.start, '\0', text.length) != NULL ||
		sp_slice_equals(text, "-"))
		return false;
	memcpy(string, text.start, text.length);
	string[text.length] = '\0';
	return true;
}

bool
sp_copy_number(sp_slice text, int64_t *number)
{
	int64_t		value = 0;

	if (text.length == 0)
		return false;
	for (size_t i = 0; i < text.length; i++)
	{
		int			digit = text.start[i] - '0';

		if (digit < 0 || digit > 9 || value > (INT64_MAX - digit) / 10)
			return false;
		value = value * 10 + digit;
	}
	*number = value;
	return true;
}
