/*-------------------------------------------------------------------------
 *
 * statfs.c
 *	  A mount from what BSD systems tell of it: see statfs_internal.h.
 *
 * It must not: include a server header, keep state between calls, make a
 * system call.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/storage/statfs_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The options, allocated; NULL without memory. */
static char *
name_flags(const sp_statfs_record *record, const sp_mount_flag *flags, size_t nflags)
{
	size_t		size = sizeof("rw");
	char	   *options;

	for (size_t i = 0; i < nflags; i++)
		size += strlen(flags[i].option) + 1;
	options = malloc(size);
	if (options == NULL)
		return NULL;
	strcpy(options, record->read_only ? "ro" : "rw");
	for (size_t i = 0; i < nflags; i++)
	{
		if ((record->flags & flags[i].flag) == 0)
			continue;
		strcat(options, ",");
		strcat(options, flags[i].option);
	}
	return options;
}

/* Copy a string, and move on behind it. */
static char *
take_copy(char **room, const char *text)
{
	char	   *copy = *room;
	size_t		size = strlen(text) + 1;

	memcpy(copy, text, size);
	*room += size;
	return copy;
}

int
sp_mount_table_add_record(sp_mount_table *table, const sp_statfs_record *record,
						  const sp_mount_flag *flags, size_t nflags)
{
	char	   *strings = malloc(strlen(record->fstype) + strlen(record->mount_point) +
								 strlen(record->source) + sizeof("/") + 3);
	char	   *options = name_flags(record, flags, nflags);
	char	   *room = strings;
	sp_mount	mount = {
		.dev_major = (unsigned) record->fsid[0],.dev_minor = (unsigned) record->fsid[1],
		.mount_options = options,
	};

	if (strings != NULL && options != NULL)
	{
		mount.fstype = take_copy(&room, record->fstype);
		mount.mount_point = take_copy(&room, record->mount_point);
		mount.source = take_copy(&room, record->source);
		mount.root = take_copy(&room, "/");
		if (sp_mount_table_append(table, &mount, strings) == 0)
			return 0;
	}
	free(strings);
	free(options);
	return ENOMEM;
}
