/*-------------------------------------------------------------------------
 *
 * html_escape.c
 *		Text as HTML: in ASCII, so that it means the same in every encoding.
 *
 * It must not: throw an error because of an encoding, or let a character through that
 * could end a tag, an attribute or an element.
 *
 *-------------------------------------------------------------------------
 */
#include "common/common.h"

#include "catalog/namespace.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"

#include "compat.h"

#define REPLACEMENT_CHARACTER	0xFFFD
#define CONTROL_PICTURES		0x2400	/* has a picture for each of the 32 controls */
#define PICTURE_OF_DELETE		0x2421

/* Characters that HTML forbids. */
static bool
is_forbidden(pg_wchar c)
{
	return (c >= 0x80 && c <= 0x9F) ||
		(c >= 0xFDD0 && c <= 0xFDEF) || (c & 0xFFFE) == 0xFFFE;
}

/* Characters that set the direction of what is next to them. */
static bool
is_direction(pg_wchar c)
{
	return c == 0x061C || c == 0x200E || c == 0x200F ||
		(c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

/*
 * Characters that nobody sees: two names that differ would look the same.  Not those that
 * Persian and emoji need (U+200C, U+200D), nor selectors of variants.
 */
static bool
is_invisible(pg_wchar c)
{
	return c == 0x00AD || c == 0x034F || c == 0x115F || c == 0x1160 || c == 0x180E ||
		c == 0x200B || (c >= 0x2060 && c <= 0x2065) || (c >= 0x206A && c <= 0x206F) ||
		c == 0x3164 || c == 0xFEFF || c == 0xFFA0 || (c >= 0xE0000 && c <= 0xE007F);
}

static void
append_character(StringInfo html, pg_wchar c)
{
	if (c < 0x20 && c != '\t' && c != '\n')
		c += CONTROL_PICTURES;
	else if (c == 0x7F)
		c = PICTURE_OF_DELETE;
	else if (is_forbidden(c) || is_direction(c) || is_invisible(c))
		c = REPLACEMENT_CHARACTER;

	switch (c)
	{
		case '&':
			appendStringInfoString(html, "&amp;");
			break;
		case '<':
			appendStringInfoString(html, "&lt;");
			break;
		case '>':
			appendStringInfoString(html, "&gt;");
			break;
		case '"':
			appendStringInfoString(html, "&quot;");
			break;
		case '\'':
			appendStringInfoString(html, "&#39;");
			break;
		default:
			if (c < 0x80)
				appendStringInfoChar(html, (char) c);
			else
				appendStringInfo(html, "&#%u;", (unsigned) c);
	}
}

/* The non-ASCII character at text, of length bytes in the database encoding. */
static void
append_converted(StringInfo html, const char *text, int length, Oid conversion)
{
	unsigned char utf8[64];
	int			encoding = GetDatabaseEncoding();
	int			converted = OidIsValid(conversion) ?
		pg_do_encoding_conversion_buf(conversion, encoding, PG_UTF8, (unsigned char *) text,
									  length, utf8, sizeof(utf8), true) : 0;

	if (converted < length)
	{
		append_character(html, REPLACEMENT_CHARACTER);
		return;
	}
	/* Some characters are two in Unicode. */
	for (const unsigned char *c = utf8; *c; c += pg_utf_mblen(c))
		append_character(html, utf8_to_unicode(c));
}

/*
 * html_escape(text).  SQL_ASCII says nothing about bytes above 127: they are taken for
 * UTF-8 where that is valid.
 */
PG_FUNCTION_INFO_V1(sync_probe_html_escape);
Datum
sync_probe_html_escape(PG_FUNCTION_ARGS)
{
	text	   *argument = PG_GETARG_TEXT_PP(0);
	const char *c = VARDATA_ANY(argument);
	const char *end = c + VARSIZE_ANY_EXHDR(argument);
	int			encoding = GetDatabaseEncoding();
	int			length;
	Oid			conversion = InvalidOid;
	StringInfoData html;

	if (encoding != PG_UTF8 && encoding != PG_SQL_ASCII)
		conversion = FindDefaultConversionProc(encoding, PG_UTF8);
	initStringInfo(&html);
	for (; c < end; c += length)
	{
		length = 1;
		if (!IS_HIGHBIT_SET(*c))
			append_character(&html, (unsigned char) *c);
		else if (encoding == PG_UTF8 || encoding == PG_SQL_ASCII)
		{
			length = pg_encoding_verifymbchar(PG_UTF8, c, (int) (end - c));
			append_character(&html, length > 0 ? utf8_to_unicode((const unsigned char *) c)
							 : REPLACEMENT_CHARACTER);
			length = Max(length, 1);
		}
		else
		{
			length = Min(pg_mblen(c), (int) (end - c));
			append_converted(&html, c, length, conversion);
		}
	}
	PG_RETURN_TEXT_P(cstring_to_text_with_len(html.data, html.len));
}
