/*-------------------------------------------------------------------------
 *
 * overlay.c
 *	  Find the file system that stores the writes of an overlay.
 *
 * It must not: include a server header, keep state between calls, print,
 * exit, resolve paths, or open anything.
 *
 * Format: kernel Documentation/filesystems/overlayfs.rst; fs/overlayfs,
 * ovl_show_options().
 *
 *-------------------------------------------------------------------------
 */
#include <limits.h>
#include <string.h>

#include "engine/storage/mountinfo.h"

/* The kernel allows two layers; more are a cycle of misleading paths. */
#define MAX_OVERLAYS 8

static bool
is_escaped_comma(const char *text)
{
	return strncmp(text, "\\054", 4) == 0;
}

/*
 * Decode a directory among the options of an overlay into path, which has
 * PATH_MAX bytes.  It is escaped twice: mount(8) may be given a backslash
 * before any character, which the kernel keeps, and the kernel writes a comma
 * as \054.
 *
 * Returns false if it is too long to be a path.
 */
static bool
decode_directory(const char *value, char *path)
{
	size_t		length = 0;

	while (*value != '\0' && *value != ',')
	{
		bool		is_comma;

		if (*value == '\\' && !is_escaped_comma(value) &&
			value[1] != '\0' && value[1] != ',')
			value++;
		if (length >= PATH_MAX - 1)
			return false;
		is_comma = is_escaped_comma(value);
		path[length++] = is_comma ? ',' : *value;
		value += is_comma ? 4 : 1;
	}
	path[length] = '\0';
	return true;
}

/* Absolute, and no component but the last one empty, "." or "..". */
static bool
is_plain_path(const char *path)
{
	if (*path != '/')
		return false;
	while (*path == '/')
	{
		size_t		length = strcspn(++path, "/");

		if ((length == 0 && *path != '\0') ||
			(length > 0 && strncmp(path, "..", length) == 0))
			return false;
		path += length;
	}
	return true;
}

const sp_mount *
sp_mount_beneath(const sp_mount_table *table, const sp_mount *mount)
{
	char		path[PATH_MAX];

	for (int i = 0; i < MAX_OVERLAYS && mount != NULL; i++)
	{
		const char *value;

		if (strcmp(mount->fstype, "overlay") != 0)
			return mount;
		value = sp_mount_option(mount->mount_options, "upperdir");
		if (value == NULL || !decode_directory(value, path) ||
			!is_plain_path(path))
			return NULL;
		mount = sp_mount_table_find(table, path);
	}
	return NULL;
}
