/*-------------------------------------------------------------------------
 *
 * zfs.c
 *	  Names of data sets, and the properties that the ZFS tools print.
 *
 * It must not: include a server header, keep state between calls, start a
 * program, print, exit, or open anything.
 *
 *-------------------------------------------------------------------------
 */
#include <string.h>

#include "engine/storage/zfs_internal.h"

void
sp_zfs_init(sp_zfs *zfs)
{
	memset(zfs, 0, sizeof(*zfs));
	zfs->recordsize = -1;
	zfs->ashift = -1;
}

static bool
is_name_character(char c)
{
	/* not isalnum(), which depends on the locale */
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		(c >= '0' && c <= '9') || strchr("-_.: ", c) != NULL;
}

/* The first component is used in a path. */
static bool
is_name_component(sp_slice component)
{
	for (size_t i = 0; i < component.length; i++)
	{
		if (!is_name_character(component.start[i]))
			return false;
	}
	return component.length > 0 && !sp_slice_equals(component, ".") &&
		!sp_slice_equals(component, "..");
}

bool
sp_zfs_is_dataset_name(const char *name)
{
	size_t		length = strlen(name);

	if (length == 0 || length >= SP_ZFS_NAME_SIZE || name[0] == '-' ||
		name[0] == ' ' || name[length - 1] == ' ')
		return false;
	for (;;)
	{
		sp_slice	component = {name, strcspn(name, "/")};

		if (!is_name_component(component))
			return false;
		name += component.length;
		if (*name++ == '\0')
			return true;
	}
}

void
sp_zfs_pool_name(const char *dataset, char *pool)
{
	sp_slice	name = {dataset, strcspn(dataset, "/")};

	pool[0] = '\0';
	(void) sp_copy_slice(name, pool, SP_ZFS_NAME_SIZE);
}

bool
sp_zfs_copy_number(sp_slice text, int64_t *number)
{
	uint64_t	value;

	if (!sp_parse_number(text, INT64_MAX, &value))
		return false;
	*number = (int64_t) value;
	return true;
}

static bool
take_property(sp_slice property, sp_slice value, sp_zfs *zfs)
{
	const struct
	{
		const char *name;
		char	   *string;
		size_t		size;
	}			known[] =
	{
		{"sync", zfs->sync, sizeof(zfs->sync)},
		{"logbias", zfs->logbias, sizeof(zfs->logbias)},
		{"primarycache", zfs->primarycache, sizeof(zfs->primarycache)},
		{"compression", zfs->compression, sizeof(zfs->compression)},
	};

	for (size_t i = 0; i < lengthof(known); i++)
	{
		/* the tools write "-" where there is no value */
		if (sp_slice_equals(property, known[i].name))
			return !sp_slice_equals(value, "-") &&
				sp_copy_slice(value, known[i].string, known[i].size);
	}
	return sp_slice_equals(property, "recordsize") &&
		sp_zfs_copy_number(value, &zfs->recordsize);
}

bool
sp_zfs_parse_properties(const char *text, size_t length,
						const char *dataset, sp_zfs *zfs)
{
	sp_slice	rest = {text, length};
	sp_slice	line;
	bool		found = false;

	while (sp_take_line(&rest, &line))
	{
		sp_slice	name;
		sp_slice	property;
		sp_slice	value;

		/* the source is what is left of the line */
		if (sp_take_field(&line, '\t', &name) &&
			sp_take_field(&line, '\t', &property) &&
			sp_take_field(&line, '\t', &value) &&
			sp_slice_equals(name, dataset) &&
			take_property(property, value, zfs))
			found = true;
	}
	return found;
}

bool
sp_zfs_parse_pool_properties(const char *text, size_t length,
							 const char *pool, sp_zfs *zfs)
{
	size_t		pool_length = strlen(pool);
	sp_slice	rest = {text, length};
	sp_slice	line;
	bool		found = false;

	while (sp_take_line(&rest, &line))
	{
		sp_slice	property;
		sp_slice	value;

		/* not by fields, since a pool's name may contain blanks */
		if (line.length <= pool_length || !sp_is_blank(line.start[pool_length]) ||
			memcmp(line.start, pool, pool_length) != 0)
			continue;
		sp_skip(&line, pool_length);
		line = sp_trim(line);
		if (sp_take_word(&line, &property) &&
			sp_take_word(&line, &value) &&
			sp_slice_equals(property, "ashift") &&
			sp_zfs_copy_number(value, &zfs->ashift))
			found = true;
	}
	return found;
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
