/*-------------------------------------------------------------------------
 *
 * slice.c
 *		A piece of a text, and how to read lines, words and numbers from it.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/text/slice.h"

#include <string.h>

sp_slice
sp_slice_of(const char *string)
{
	return (sp_slice) {string, strlen(string)};
}

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

bool
sp_at_digit(sp_slice text)
{
	return text.length > 0 && text.start[0] >= '0' && text.start[0] <= '9';
}

void
sp_skip(sp_slice *text, size_t length)
{
	text->start += length;
	text->length -= length;
}

sp_slice
sp_trim(sp_slice text)
{
	while (text.length > 0 && sp_is_blank(text.start[0]))
		sp_skip(&text, 1);
	while (text.length > 0 && sp_is_blank(text.start[text.length - 1]))
		text.length--;
	return text;
}

bool
sp_take_text(sp_slice *text, const char *expected)
{
	size_t		length = strlen(expected);

	if (text->length < length || memcmp(text->start, expected, length) != 0)
		return false;
	sp_skip(text, length);
	return true;
}

bool
sp_take_spaces(sp_slice *text)
{
	size_t		length = 0;

	while (length < text->length && text->start[length] == ' ')
		length++;
	sp_skip(text, length);
	return length > 0;
}

/* Transaction logs of gigabytes are read with this: it is kept short and fast. */
bool
sp_take_number(sp_slice *text, uint64_t *number)
{
	const char *start = text->start;
	size_t		length = 0;
	uint64_t	value = 0;

	for (; length < text->length && start[length] >= '0' && start[length] <= '9'; length++)
	{
		if (__builtin_mul_overflow(value, 10, &value) ||
			__builtin_add_overflow(value, (unsigned) (start[length] - '0'), &value))
			return false;
	}
	if (length == 0)
		return false;
	sp_skip(text, length);
	*number = value;
	return true;
}

bool
sp_take_field(sp_slice *text, char separator, sp_slice *field)
{
	const char *end = text->length == 0 ? NULL :
		memchr(text->start, separator, text->length);

	if (end == NULL)
		return false;
	field->start = text->start;
	field->length = (size_t) (end - text->start);
	sp_skip(text, field->length + 1);
	return true;
}

bool
sp_take_line(sp_slice *text, sp_slice *line)
{
	if (!sp_take_field(text, '\n', line))
		return false;
	if (line->length > 0 && line->start[line->length - 1] == '\r')
		line->length--;
	return true;
}

bool
sp_copy_slice(sp_slice text, char *string, size_t size)
{
	if (text.length == 0 || text.length >= size ||
		memchr(text.start, '\0', text.length) != NULL)
		return false;
	memcpy(string, text.start, text.length);
	string[text.length] = '\0';
	return true;
}
