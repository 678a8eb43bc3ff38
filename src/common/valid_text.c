/*-------------------------------------------------------------------------
 *
 * valid_text.c
 *		Text from outside, as the database can hold it.
 *
 * It must not: throw an error because of an encoding.
 *
 *-------------------------------------------------------------------------
 */
#include "common/common.h"

#include "mb/pg_wchar.h"

/* What the kernel says may be in any encoding: spoil what the server cannot hold. */
char *
sp_valid_text(const char *text)
{
	char	   *copy = pstrdup(text);

	if (!pg_verifymbstr(copy, strlen(copy), true))
	{
		for (char *c = copy; *c; c++)
		{
			if (IS_HIGHBIT_SET(*c))
				*c = '?';
		}
	}
	return copy;
}

/* The same, and NULL where it is empty or NULL. */
char *
sp_known_text(const char *text)
{
	return text == NULL || text[0] == '\0' ? NULL : sp_valid_text(text);
}
