/*-------------------------------------------------------------------------
 *
 * mount_table.c
 *	  The mounts of a system, and the mount of a path.
 *
 * It must not: include a server header, keep state between calls, print,
 * exit, resolve paths, or open anything.
 *
 *-------------------------------------------------------------------------
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/storage/mount_table_internal.h"

/* Make room for one more entry; doubling keeps the whole reading linear. */
static int
reserve_entry(sp_mount_table *table)
{
	size_t		capacity = table->capacity == 0 ? 64 : table->capacity * 2;
	sp_mount_entry *entries;

	if (table->count < table->capacity)
		return 0;
	if (capacity > SIZE_MAX / sizeof(sp_mount_entry))
		return ENOMEM;
	entries = realloc(table->entries, capacity * sizeof(sp_mount_entry));
	if (entries == NULL)
		return ENOMEM;
	table->entries = entries;
	table->capacity = capacity;
	return 0;
}

int
sp_mount_table_append(sp_mount_table *table, const sp_mount *mount, char *strings)
{
	int			status = reserve_entry(table);

	if (status != 0)
		return status;
	table->entries[table->count++] = (sp_mount_entry) {
		.mount = *mount,
		.mount_point_length = strlen(mount->mount_point),
		.strings = strings,
	};
	return 0;
}

/* Compare whole components: /data is no parent of /database. */
static bool
entry_holds_path(const sp_mount_entry *entry, const char *path)
{
	size_t		length = entry->mount_point_length;

	if (length == 1)			/* the root directory */
		return true;
	return strncmp(path, entry->mount.mount_point, length) == 0 &&
		(path[length] == '\0' || path[length] == '/');
}

const sp_mount *
sp_mount_table_find(const sp_mount_table *table, const char *path)
{
	const sp_mount_entry *best = NULL;

	if (path[0] != '/')
		return NULL;
	for (size_t i = 0; i < table->count; i++)
	{
		const sp_mount_entry *entry = &table->entries[i];

		/* equal length is the same mount point, and the later one hides it */
		if ((best == NULL ||
			 entry->mount_point_length >= best->mount_point_length) &&
			entry_holds_path(entry, path))
			best = entry;
	}
	return best == NULL ? NULL : &best->mount;
}

size_t
sp_mount_table_count(const sp_mount_table *table)
{
	return table->count;
}

void
sp_mount_table_free(sp_mount_table *table)
{
	if (table == NULL)
		return;
	for (size_t i = 0; i < table->count; i++)
	{
		free(table->entries[i].mount.mount_options);
		free(table->entries[i].strings);
	}
	free(table->entries);
	free(table);
}

bool
sp_mount_same_filesystem(const sp_mount *a, const sp_mount *b)
{
	if (a == NULL || b == NULL)
		return false;
	if (a->dev_major == 0 && b->dev_major == 0 && a->dev_minor == 0 && b->dev_minor == 0)
		return strcmp(a->mount_point, b->mount_point) == 0;
	if (a->dev_major == b->dev_major && a->dev_minor == b->dev_minor)
		return true;
	return strcmp(a->fstype, "btrfs") == 0 &&
		strcmp(b->fstype, "btrfs") == 0 &&
		a->source[0] != '\0' && strcmp(a->source, b->source) == 0;
}
