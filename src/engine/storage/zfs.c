/*-------------------------------------------------------------------------
 *
 * zfs.c
 *	  Names of data sets, and what the ZFS tools print.
 *
 *-------------------------------------------------------------------------
 */
#include <stdlib.h>
#include <string.h>

#include "engine/storage/zfs.h"

/* ZFS_MAX_DATASET_NAME_LEN is 256 with the NUL. */
#define NAME_SIZE	256

bool
sp_zfs_is_dataset_name(const char *name)
{
	return name[0] != '\0' && name[0] != '-' && strlen(name) < NAME_SIZE;
}

void
sp_zfs_pool_name(const char *dataset, char *pool)
{
	size_t		length = strcspn(dataset, "/");

	if (length >= NAME_SIZE)
		length = 0;
	memcpy(pool, dataset, length);
	pool[length] = '\0';
}

/* --------------------------------------------------------- output of the tools */

/* The next line; NULL at the end, and for a line that was cut off before its own. */
static char *
next_line(char **text)
{
	char	   *line = strsep(text, "\n");

	if (*text == NULL)
		return NULL;
	line[strcspn(line, "\r")] = '\0';
	return line;
}

/* The tools write "-" where there is no value; half a path would be another file's. */
static bool
copy_value(const char *value, char *string, size_t size)
{
	size_t		length = strlen(value);

	if (length == 0 || length >= size || strcmp(value, "-") == 0)
		return false;
	memcpy(string, value, length + 1);
	return true;
}

static bool
take_property(const char *property, const char *value, sp_zfs *zfs)
{
	if (strcmp(property, "sync") == 0)
		return copy_value(value, zfs->sync, sizeof(zfs->sync));
	if (strcmp(property, "logbias") == 0)
		return copy_value(value, zfs->logbias, sizeof(zfs->logbias));
	if (strcmp(property, "recordsize") != 0 || value[strspn(value, "0123456789")] != '\0' ||
		strtoll(value, NULL, 10) == 0)
		return false;
	zfs->recordsize = strtoll(value, NULL, 10);
	return true;
}

bool
sp_zfs_parse_properties(char *text, const char *dataset, sp_zfs *zfs)
{
	char	   *line;
	bool		found = false;

	while ((line = next_line(&text)) != NULL)
	{
		const char *name = strsep(&line, "\t");
		const char *property = strsep(&line, "\t");
		const char *value = strsep(&line, "\t");

		/* the source is what is left of the line */
		if (line != NULL && strcmp(name, dataset) == 0 && take_property(property, value, zfs))
			found = true;
	}
	return found;
}

/*
 * "PATH  STATE ...": the path may have blanks, two end it.  False if the list lacks it
 * afterwards.
 */
static bool
add_leaf(sp_zfs *zfs, char *line, sp_vdev_use use)
{
	char	   *state = strstr(line, "  ");
	sp_vdev    *vdev = &zfs->vdevs[zfs->nvdevs];

	if (state == NULL)
		return false;
	*state++ = '\0';
	state += strspn(state, " ");
	state[strcspn(state, " ")] = '\0';
	/* a device that takes no more writes does not affect the cost of a sync */
	if (strcmp(state, "UNAVAIL") == 0 || strcmp(state, "REMOVED") == 0 ||
		strcmp(state, "OFFLINE") == 0 || strcmp(state, "FAULTED") == 0)
		return true;
	if (zfs->nvdevs >= SP_ZFS_MAX_VDEVS || !copy_value(line, vdev->path, sizeof(vdev->path)))
		return false;
	vdev->use = use;
	zfs->nvdevs++;
	return true;
}

bool
sp_zfs_parse_status(char *text, const char *pool, sp_zfs *zfs)
{
	char	   *line;
	sp_vdev_use use = SP_VDEV_DATA;
	bool		in_pool = false;

	zfs->nvdevs = 0;
	zfs->more_vdevs = false;
	while ((line = next_line(&text)) != NULL)
	{
		/* some lines have a tab at their end */
		line += strspn(line, " \t");
		line[strcspn(line, "\t")] = '\0';
		if (strncmp(line, "pool: ", 6) == 0)
		{
			in_pool = strcmp(line + 6, pool) == 0;
			use = SP_VDEV_DATA;
		}
		else if (strncmp(line, "errors: ", 8) == 0)
			in_pool = false;
		else if (in_pool && line[0] == '/')
			zfs->more_vdevs |= !add_leaf(zfs, line, use);
		/* a word alone begins another part of the pool */
		else if (in_pool && line[0] != '\0' && strchr(line, ' ') == NULL)
			use = strcmp(line, "logs") == 0 ? SP_VDEV_LOG :
				strcmp(line, "cache") == 0 ? SP_VDEV_CACHE :
				strcmp(line, "spares") == 0 ? SP_VDEV_SPARE : SP_VDEV_DATA;
	}
	/* without its last line it was cut off */
	zfs->more_vdevs |= in_pool;
	return zfs->nvdevs > 0;
}

bool
sp_zfs_log_devices_decide(const sp_zfs *zfs)
{
	if (zfs->more_vdevs || strcmp(zfs->logbias, "latency") != 0)
		return false;
	for (int i = 0; i < zfs->nvdevs; i++)
	{
		if (zfs->vdevs[i].use == SP_VDEV_LOG)
			return true;
	}
	return false;
}
