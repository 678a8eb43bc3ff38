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
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "engine/storage/zfs.h"
#include "engine/text/text.h"

/* ZFS_MAX_DATASET_NAME_LEN is 256 with the NUL. */
#define NAME_SIZE	256

/* The largest file of counters has some 30 lines of 40 bytes in OpenZFS 2.3. */
#define KSTAT_SIZE	16384

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

/*
 * The counters of a data set disappear when it is unmounted, perhaps while they
 * are read.  A file may have the name of the pool.
 */
static bool
is_gone(int status)
{
	return status == ENOENT || status == ENOTDIR || status == ENODEV;
}

/* content: KSTAT_SIZE bytes.  EINVAL if the file is larger: no known file is. */
static int
read_kstat(const char *path, char *content, sp_slice *text)
{
	ssize_t		length = 0;
	int			status = 0;
	int			fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return errno;
	text->start = content;
	text->length = 0;
	do
	{
		text->length += (size_t) length;
		do
			length = read(fd, content + text->length, KSTAT_SIZE - text->length);
		while (length < 0 && errno == EINTR);
	} while (length > 0);
	if (length < 0)
		status = errno;
	else if (text->length == KSTAT_SIZE)
		status = EINVAL;
	close(fd);
	return status;
}

/* Lines are name, number of the type, and value, which may have blanks. */
static bool
find_in_kstat(sp_slice text, const char *wanted, const char *type, sp_slice *value)
{
	sp_slice	line;

	while (sp_take_line(&text, &line))
	{
		sp_slice	name;
		sp_slice	number;

		if (sp_take_word(&line, &name) &&
			sp_take_word(&line, &number) &&
			sp_slice_equals(name, wanted) && sp_slice_equals(number, type))
		{
			*value = line;
			return true;
		}
	}
	return false;
}

static int
find_commits(sp_slice text, int64_t *commits)
{
	sp_slice	value;

	if (!find_in_kstat(text, "zil_commit_count", "4", &value))
		return ENOENT;
	return copy_number(value, commits) ? 0 : EINVAL;
}

/*
 * ENOENT if it is not the file of the data set, or this OpenZFS does not count
 * commits for each data set.
 */
static int
read_objset(const char *path, const char *dataset, int64_t *commits)
{
	char		content[KSTAT_SIZE];
	sp_slice	text;
	sp_slice	name;
	int			status = read_kstat(path, content, &text);

	if (status != 0)
		return status;
	if (!find_in_kstat(text, "dataset_name", "7", &name) ||
		!sp_slice_equals(name, dataset))
		return ENOENT;
	return find_commits(text, commits);
}

/* Each file must be read, since they are named by number. */
static int
search_pool(const char *directory, const char *dataset, int64_t *commits)
{
	char		path[PATH_MAX];
	DIR		   *dir = opendir(directory);
	struct dirent *entry;
	int			status = ENOENT;

	if (dir == NULL)
		return errno;
	while (is_gone(status) && (errno = 0, entry = readdir(dir)) != NULL)
	{
		if (strncmp(entry->d_name, "objset-", 7) != 0)
			continue;
		status = sp_build_path(path, "%s/%s", directory, entry->d_name);
		if (status == 0)
			status = read_objset(path, dataset, commits);
	}
	if (is_gone(status) && errno != 0)
		status = errno;
	closedir(dir);
	return status;
}

static int
read_whole_system(const char *sysroot, int64_t *commits)
{
	char		path[PATH_MAX];
	char		content[KSTAT_SIZE];
	sp_slice	text;
	int			status = sp_build_path(path, "%s/proc/spl/kstat/zfs/zil", sysroot);

	if (status == 0)
		status = read_kstat(path, content, &text);
	if (status != 0)
		return is_gone(status) ? ENOENT : status;
	status = find_commits(text, commits);
	return status == ENOENT ? EINVAL : status;
}

int
sp_zfs_read_commits(const char *sysroot, const char *dataset,
					int64_t *commits, bool *whole_system)
{
	char		directory[PATH_MAX];
	char		pool[NAME_SIZE];
	int			status;

	*commits = -1;
	*whole_system = false;
	if (!sp_zfs_is_dataset_name(dataset))
		return EINVAL;
	sp_zfs_pool_name(dataset, pool);
	status = sp_build_path(directory, "%s/proc/spl/kstat/zfs/%s", sysroot, pool);
	if (status == 0)
		status = search_pool(directory, dataset, commits);
	if (!is_gone(status))
		return status;
	status = read_whole_system(sysroot, commits);
	*whole_system = status == 0;
	return status;
}
