/*-------------------------------------------------------------------------
 *
 * path.c
 *	  Puts paths together.
 *
 * It must not: include a server header, keep state between calls, print, exit,
 * or open anything.
 *
 *-------------------------------------------------------------------------
 */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>

#include "engine/text/path.h"

int
sp_build_path(char *path, const char *format,...)
{
	va_list		arguments;
	int			length;

	va_start(arguments, format);
	length = vsnprintf(path, PATH_MAX, format, arguments);
	va_end(arguments);
	return length < 0 || length >= PATH_MAX ? ENAMETOOLONG : 0;
}
