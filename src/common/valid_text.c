/*-------------------------------------------------------------------------
 *
 * valid_text.c
 *		Make text from outside the server valid in the database encoding.
 *
 * It must not: throw an error because of an encoding.
 *
 *-------------------------------------------------------------------------
 */
#include "common/common.h"

#include "mb/pg_wchar.h"

/*
 * Text from the kernel may be in any encoding.  If it is invalid here, replace all
 * non-ASCII bytes with question marks.
 */
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

/* The same, but NULL if the text is empty or NULL. */
char *
sp_known_text(const char *text)
{
	return text == NULL || text[0] == '\0' ? NULL : sp_valid_text(text);
}
