/*-------------------------------------------------------------------------
 *
 * zfs.c
 *	  Names of data sets, the properties that the ZFS tools print, and the counters of
 *	  the kernel module.
 *
 * It must not: include a server header, keep state between calls, start a
 * program, print, exit, write, or open anything outside
 * <sysroot>/proc/spl/kstat/zfs.
 *
 *-------------------------------------------------------------------------
 */
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/storage/zfs.h"
#include "engine/text/text.h"

/* ZFS_MAX_DATASET_NAME_LEN is 256 with the NUL. */
#define NAME_SIZE	256

void
sp_zfs_init(sp_zfs *zfs)
{
	memset(zfs, 0, sizeof(*zfs));
	zfs->recordsize = -1;
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

	if (length == 0 || length >= NAME_SIZE || name[0] == '-' ||
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
	(void) sp_copy_slice(name, pool, NAME_SIZE);
}

/* Set a number unless the text is none. */
static bool
copy_number(sp_slice text, int64_t *number)
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
	};

	for (size_t i = 0; i < lengthof(known); i++)
	{
		/* the tools write "-" where there is no value */
		if (sp_slice_equals(property, known[i].name))
			return !sp_slice_equals(value, "-") &&
				sp_copy_slice(value, known[i].string, known[i].size);
	}
	return sp_slice_equals(property, "recordsize") &&
		copy_number(value, &zfs->recordsize);
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

/* A device that takes no more writes does not affect the cost of a sync. */
static bool
is_lost(sp_slice state)
{
	static const char *const lost[] = {
		"UNAVAIL", "REMOVED", "OFFLINE", "FAULTED",
	};

	for (size_t i = 0; i < lengthof(lost); i++)
	{
		if (sp_slice_equals(state, lost[i]))
			return true;
	}
	return false;
}

/*
 * "PATH  STATE ...": the path may have blanks, two end it.  False if the list lacks it
 * afterwards.
 */
static bool
add_leaf(sp_zfs *zfs, sp_slice line, sp_vdev_use use)
{
	const char *end = memmem(line.start, line.length, "  ", 2);
	sp_vdev    *vdev = &zfs->vdevs[zfs->nvdevs];
	sp_slice	path = line;
	sp_slice	state;

	if (end == NULL)
		return false;
	path.length = (size_t) (end - line.start);
	sp_skip(&line, path.length);
	line = sp_trim(line);
	(void) sp_take_word(&line, &state); /* may be the last */
	if (is_lost(state))
		return true;
	if (zfs->nvdevs >= SP_ZFS_MAX_VDEVS || !sp_copy_slice(path, vdev->path, sizeof(vdev->path)))
		return false;
	vdev->use = use;
	zfs->nvdevs++;
	return true;
}

/* A word alone begins another part of the pool. */
static sp_vdev_use
use_of_part(sp_slice word)
{
	return sp_slice_equals(word, "logs") ? SP_VDEV_LOG :
		sp_slice_equals(word, "cache") ? SP_VDEV_CACHE :
		sp_slice_equals(word, "spares") ? SP_VDEV_SPARE : SP_VDEV_DATA;
}

bool
sp_zfs_parse_status(const char *text, size_t length, const char *pool,
					sp_zfs *zfs)
{
	sp_slice	rest = {text, length};
	sp_slice	line;
	sp_slice	word;
	sp_vdev_use use = SP_VDEV_DATA;
	bool		in_pool = false;

	zfs->nvdevs = 0;
	zfs->more_vdevs = false;
	while (sp_take_line(&rest, &line))
	{
		line = sp_trim(line);
		if (sp_take_text(&line, "pool: "))
		{
			in_pool = sp_slice_equals(line, pool);
			use = SP_VDEV_DATA;
		}
		else if (sp_take_text(&line, "errors: "))
			in_pool = false;
		else if (in_pool && line.length > 0 && line.start[0] == '/')
			zfs->more_vdevs |= !add_leaf(zfs, line, use);
		else if (in_pool && line.length > 0 && !sp_take_word(&line, &word))
			use = use_of_part(word);
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

/* ----------------------------------------------------------------- counters */

/* Of a line of name, type and value, which may have blanks; NULL if the name is another. */
static const char *
counter_value(const char *line, const char *name)
{
	size_t		length = strlen(name);

	if (strncmp(line, name, length) != 0 || line[length] != ' ')
		return NULL;
	line += length;
	line += strspn(line, " ");
	line += strcspn(line, " ");
	return line + strspn(line, " ");
}

/*
 * The commits in a file of counters; -1 if they are not counted there, or if the file is
 * not of the data set (unless that is NULL).
 */
static int64_t
read_commits(const char *path, const char *dataset)
{
	FILE	   *file = fopen(path, "re");
	char	   *line = NULL;
	size_t		size = 0;
	bool		is_wanted = dataset == NULL;
	int64_t		commits = -1;

	if (file == NULL)
		return -1;
	while (getline(&line, &size, file) >= 0)
	{
		const char *value;

		line[strcspn(line, "\n")] = '\0';
		value = counter_value(line, "zil_commit_count");
		if (value != NULL && value[0] >= '0' && value[0] <= '9')
			commits = strtoll(value, NULL, 10);
		value = counter_value(line, "dataset_name");
		if (value != NULL && dataset != NULL && strcmp(value, dataset) == 0)
			is_wanted = true;
	}
	free(line);
	fclose(file);
	return is_wanted ? commits : -1;
}

/* Each file of the pool may be the one of the data set, since they are named by number. */
int64_t
sp_zfs_read_commits(const char *sysroot, const char *dataset, bool *whole_system)
{
	char		path[PATH_MAX];
	char		pool[NAME_SIZE];
	int64_t		commits = -1;
	glob_t		files;

	*whole_system = false;
	if (!sp_zfs_is_dataset_name(dataset))
		return -1;
	sp_zfs_pool_name(dataset, pool);
	if (sp_build_path(path, "%s/proc/spl/kstat/zfs/%s/objset-*", sysroot, pool) == 0 &&
		glob(path, 0, NULL, &files) == 0)
	{
		for (size_t i = 0; i < files.gl_pathc && commits < 0; i++)
			commits = read_commits(files.gl_pathv[i], dataset);
		globfree(&files);
	}
	if (commits < 0 && sp_build_path(path, "%s/proc/spl/kstat/zfs/zil", sysroot) == 0)
	{
		commits = read_commits(path, NULL);
		*whole_system = commits >= 0;
	}
	return commits;
}
