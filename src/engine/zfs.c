/*-------------------------------------------------------------------------
 *
 * zfs.c
 *	  Reads what the ZFS tools print and what the ZFS module counts.
 *
 * It must not: include a server header, keep state between calls, start a
 * program, print, exit, write, or open anything outside
 * <sysroot>/proc/spl/kstat/zfs.
 *
 * Texts come from a pipe that may have been cut off, and names in them are
 * chosen by people.  So nothing here relies on a NUL at the end, a line that
 * lost its end is not read, and a text is copied whole or not at all: half a
 * path is another file's.
 *
 *-------------------------------------------------------------------------
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "zfs.h"

/* ZFS_MAX_DATASET_NAME_LEN is 256 with the NUL. */
#define NAME_SIZE	256

/* Some 30 lines of 40 bytes in OpenZFS 2.3; no other file comes near. */
#define KSTAT_SIZE	16384

#define lengthof(array) (sizeof(array) / sizeof((array)[0]))

/* A piece of a text, not NUL terminated. */
typedef struct slice
{
	const char *start;
	size_t		length;
} slice;

/* Where in the output of zpool status are we? */
typedef enum status_part
{
	OUTSIDE,					/* before "config:" or behind its tree */
	IN_CONFIG,					/* before the heading of the tree */
	IN_TREE,					/* before the first line of the tree */
	IN_POOL						/* in the tree of the pool that was asked for */
} status_part;

typedef struct status_reader
{
	sp_zfs	   *zfs;
	const char *pool;
	status_part part;
	size_t		name_column;	/* of the heading */
	size_t		state_column;
	sp_vdev_use use;
	bool		has_pending;	/* a leaf, unless the next line is deeper */
	size_t		pending_depth;
	slice		pending_name;
	slice		pending_state;
} status_reader;

static bool
slice_equals(slice text, const char *string)
{
	return strlen(string) == text.length &&
		memcmp(text.start, string, text.length) == 0;
}

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static slice
trim(slice text)
{
	while (text.length > 0 && is_blank(text.start[0]))
	{
		text.start++;
		text.length--;
	}
	while (text.length > 0 && is_blank(text.start[text.length - 1]))
		text.length--;
	return text;
}

/*
 * Take one line, without its end, off the front of the text.  What comes behind
 * the last newline was cut off somewhere, and is none.
 */
static bool
take_line(slice *text, slice *line)
{
	const char *end = text->length == 0 ? NULL :
		memchr(text->start, '\n', text->length);

	if (end == NULL)
		return false;
	line->start = text->start;
	line->length = (size_t) (end - text->start);
	text->start += line->length + 1;
	text->length -= line->length + 1;
	if (line->length > 0 && line->start[line->length - 1] == '\r')
		line->length--;
	return true;
}

/* Take what comes before a tab, and the tab, off the front of the line. */
static bool
take_field(slice *line, slice *field)
{
	const char *tab = line->length == 0 ? NULL :
		memchr(line->start, '\t', line->length);

	if (tab == NULL)
		return false;
	field->start = line->start;
	field->length = (size_t) (tab - line->start);
	line->start += field->length + 1;
	line->length -= field->length + 1;
	return true;
}

/* Take a word and the blanks behind it, of which there must be one. */
static bool
take_word(slice *line, slice *word)
{
	size_t		length = 0;

	while (length < line->length && !is_blank(line->start[length]))
		length++;
	word->start = line->start;
	word->length = length;
	if (length == line->length)
		return false;
	while (length < line->length && is_blank(line->start[length]))
		length++;
	line->start += length;
	line->length -= length;
	return true;
}

/* Leaves the string alone if the text does not fit, or is the tools' "-". */
static bool
copy_text(slice text, char *string, size_t size)
{
	if (text.length == 0 || text.length >= size ||
		memchr(text.start, '\0', text.length) != NULL ||
		slice_equals(text, "-"))
		return false;
	memcpy(string, text.start, text.length);
	string[text.length] = '\0';
	return true;
}

/* Digits only; leaves the number alone if it is none. */
static bool
copy_number(slice text, int64_t *number)
{
	int64_t		value = 0;

	if (text.length == 0)
		return false;
	for (size_t i = 0; i < text.length; i++)
	{
		int			digit = text.start[i] - '0';

		if (digit < 0 || digit > 9 || value > (INT64_MAX - digit) / 10)
			return false;
		value = value * 10 + digit;
	}
	*number = value;
	return true;
}

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

/* The first component becomes part of a path here. */
static bool
is_name_component(slice component)
{
	for (size_t i = 0; i < component.length; i++)
	{
		if (!is_name_character(component.start[i]))
			return false;
	}
	return component.length > 0 && !slice_equals(component, ".") &&
		!slice_equals(component, "..");
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
		slice		component = {name, strcspn(name, "/")};

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
	slice		name = {dataset, strcspn(dataset, "/")};

	pool[0] = '\0';
	copy_text(name, pool, NAME_SIZE);
}

static bool
take_property(slice property, slice value, sp_zfs *zfs)
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
		{"mountpoint", zfs->mountpoint, sizeof(zfs->mountpoint)},
	};

	for (size_t i = 0; i < lengthof(known); i++)
	{
		if (slice_equals(property, known[i].name))
			return copy_text(value, known[i].string, known[i].size);
	}
	return slice_equals(property, "recordsize") &&
		copy_number(value, &zfs->recordsize);
}

bool
sp_zfs_parse_properties(const char *text, size_t length,
						const char *dataset, sp_zfs *zfs)
{
	slice		rest = {text, length};
	slice		line;
	bool		found = false;

	while (take_line(&rest, &line))
	{
		slice		name;
		slice		property;
		slice		value;

		/* the source is what is left of the line */
		if (take_field(&line, &name) &&
			take_field(&line, &property) &&
			take_field(&line, &value) &&
			slice_equals(name, dataset) &&
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
	slice		rest = {text, length};
	slice		line;
	bool		found = false;

	while (take_line(&rest, &line))
	{
		slice		property;
		slice		value;

		/* not by fields: a pool's name may have blanks inside */
		if (line.length <= pool_length || !is_blank(line.start[pool_length]) ||
			memcmp(line.start, pool, pool_length) != 0)
			continue;
		line.start += pool_length;
		line.length -= pool_length;
		line = trim(line);
		if (take_word(&line, &property) &&
			take_word(&line, &value) &&
			slice_equals(property, "ashift") &&
			copy_number(value, &zfs->ashift))
			found = true;
	}
	return found;
}

/* A device that takes no write any more has no say in what a sync costs. */
static bool
is_lost(slice state)
{
	static const char *const lost[] = {
		"UNAVAIL", "REMOVED", "OFFLINE", "FAULTED",
	};

	for (size_t i = 0; i < lengthof(lost); i++)
	{
		if (slice_equals(state, lost[i]))
			return true;
	}
	return false;
}

/* A spare of dRAID, "draid2-0-1", is space on the disks of the group. */
static bool
is_distributed_spare(slice name)
{
	return name.length > 5 && memcmp(name.start, "draid", 5) == 0;
}

/* The line before turned out to be a leaf. */
static void
add_pending(status_reader *reader)
{
	sp_zfs	   *zfs = reader->zfs;
	sp_vdev    *vdev = &zfs->vdevs[zfs->nvdevs];

	if (!reader->has_pending)
		return;
	reader->has_pending = false;
	if (is_lost(reader->pending_state) ||
		is_distributed_spare(reader->pending_name))
		return;
	if (zfs->nvdevs >= SP_ZFS_MAX_VDEVS ||
		!copy_text(reader->pending_name, vdev->path, sizeof(vdev->path)))
	{
		zfs->more_vdevs = true;
		return;
	}
	vdev->use = reader->use;
	zfs->nvdevs++;
}

/*
 * "NAME   STATE   READ WRITE CKSUM": the columns tell where a name ends, which
 * may have blanks inside.
 */
static void
read_heading(status_reader *reader, slice line)
{
	static const char name[] = "NAME ";
	static const char state[] = " STATE ";
	const char *found = memmem(line.start, line.length, state,
							   sizeof(state) - 1);
	slice		heading = trim(line);

	if (found == NULL || heading.length < sizeof(name) - 1 ||
		memcmp(heading.start, name, sizeof(name) - 1) != 0)
		return;
	reader->name_column = (size_t) (heading.start - line.start);
	reader->state_column = (size_t) (found - line.start) + 1;
	reader->part = IN_TREE;
}

/* What is not indented: the pool itself first, then what other parts are for. */
static void
read_tree_top(status_reader *reader, slice name)
{
	if (reader->part == IN_TREE)
	{
		reader->part = slice_equals(name, reader->pool) ? IN_POOL : OUTSIDE;
		reader->use = SP_VDEV_DATA;
	}
	else if (slice_equals(name, "logs"))
		reader->use = SP_VDEV_LOG;
	else if (slice_equals(name, "cache"))
		reader->use = SP_VDEV_CACHE;
	else if (slice_equals(name, "spares"))
		reader->use = SP_VDEV_SPARE;
	else
		reader->use = SP_VDEV_DATA;
}

/* A line of the tree: its depth is how far it is indented. */
static void
read_tree_line(status_reader *reader, slice line)
{
	size_t		column = reader->state_column;
	slice		name = {line.start, line.length < column ? line.length : column};
	slice		rest = {line.start + name.length, line.length - name.length};
	slice		state;
	slice		trimmed = trim(name);
	size_t		depth = (size_t) (trimmed.start - line.start);

	if (reader->has_pending && depth > reader->pending_depth)
		reader->has_pending = false;
	add_pending(reader);
	if (depth <= reader->name_column)
		read_tree_top(reader, trimmed);
	else if (reader->part != IN_POOL)
		return;
	else if (rest.length == 0 || !is_blank(line.start[column - 1]) ||
			 is_blank(line.start[column]))
		reader->zfs->more_vdevs = true;
	else
	{
		(void) take_word(&rest, &state);	/* may be the last */
		reader->has_pending = true;
		reader->pending_depth = depth;
		reader->pending_name = trimmed;
		reader->pending_state = state;
	}
}

static void
read_status_line(status_reader *reader, slice line)
{
	if (reader->part == IN_TREE || reader->part == IN_POOL)
	{
		if (trim(line).length > 0 && is_blank(line.start[0]))
		{
			read_tree_line(reader, line);
			return;
		}
		add_pending(reader);
		reader->part = OUTSIDE;
	}
	if (slice_equals(line, "config:"))
		reader->part = IN_CONFIG;
	else if (reader->part == IN_CONFIG)
		read_heading(reader, line);
}

bool
sp_zfs_parse_status(const char *text, size_t length, const char *pool,
					sp_zfs *zfs)
{
	status_reader reader = {.zfs = zfs,.pool = pool};
	slice		rest = {text, length};
	slice		line;

	zfs->nvdevs = 0;
	zfs->more_vdevs = false;
	while (take_line(&rest, &line))
		read_status_line(&reader, line);
	/* cut off: the last line may be a mirror whose disks are missing */
	if (reader.part == IN_POOL)
		zfs->more_vdevs = true;
	return zfs->nvdevs > 0;
}

static int	build_path(char *path, const char *format,...)
			__attribute__((format(printf, 2, 3)));

/* path: PATH_MAX bytes.  A name cut short would be another file's name. */
static int
build_path(char *path, const char *format,...)
{
	va_list		arguments;
	int			length;

	va_start(arguments, format);
	length = vsnprintf(path, PATH_MAX, format, arguments);
	va_end(arguments);
	return length < 0 || length >= PATH_MAX ? ENAMETOOLONG : 0;
}

/* Counters of a data set go when it is unmounted, perhaps while we look. */
static bool
is_missing(int status)
{
	return status == ENOENT || status == ENOTDIR || status == ENODEV;
}

/* content: KSTAT_SIZE bytes.  A longer file is none that we know: EINVAL. */
static int
read_kstat(const char *path, char *content, slice *text)
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
find_in_kstat(slice text, const char *wanted, const char *type, slice *value)
{
	slice		line;

	while (take_line(&text, &line))
	{
		slice		name;
		slice		number;

		if (take_word(&line, &name) &&
			take_word(&line, &number) &&
			slice_equals(name, wanted) && slice_equals(number, type))
		{
			*value = line;
			return true;
		}
	}
	return false;
}

static int
find_commits(slice text, int64_t *commits)
{
	slice		value;

	if (!find_in_kstat(text, "zil_commit_count", "4", &value))
		return ENOENT;
	return copy_number(value, commits) ? 0 : EINVAL;
}

/*
 * ENOENT: not the data set's, or of an OpenZFS that does not count for each
 * data set.
 */
static int
read_objset(const char *path, const char *dataset, int64_t *commits)
{
	char		content[KSTAT_SIZE];
	slice		text;
	slice		name;
	int			status = read_kstat(path, content, &text);

	if (status != 0)
		return status;
	if (!find_in_kstat(text, "dataset_name", "7", &name) ||
		!slice_equals(name, dataset))
		return ENOENT;
	return find_commits(text, commits);
}

/* Only by looking into each file: they are named by number. */
static int
search_pool(const char *directory, const char *dataset, int64_t *commits)
{
	char		path[PATH_MAX];
	DIR		   *dir = opendir(directory);
	struct dirent *entry;
	int			status = ENOENT;

	if (dir == NULL)
		return errno;
	while (is_missing(status) && (errno = 0, entry = readdir(dir)) != NULL)
	{
		if (strncmp(entry->d_name, "objset-", 7) != 0)
			continue;
		status = build_path(path, "%s/%s", directory, entry->d_name);
		if (status == 0)
			status = read_objset(path, dataset, commits);
	}
	if (is_missing(status) && errno != 0)
		status = errno;
	closedir(dir);
	return status;
}

static int
read_whole_system(const char *sysroot, int64_t *commits)
{
	char		path[PATH_MAX];
	char		content[KSTAT_SIZE];
	slice		text;
	int			status = build_path(path, "%s/proc/spl/kstat/zfs/zil", sysroot);

	if (status == 0)
		status = read_kstat(path, content, &text);
	if (status != 0)
		return is_missing(status) ? ENOENT : status;
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
	status = build_path(directory, "%s/proc/spl/kstat/zfs/%s", sysroot, pool);
	if (status == 0)
		status = search_pool(directory, dataset, commits);
	if (!is_missing(status))
		return status;
	status = read_whole_system(sysroot, commits);
	*whole_system = status == 0;
	return status;
}
