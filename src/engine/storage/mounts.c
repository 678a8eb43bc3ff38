/*-------------------------------------------------------------------------
 *
 * mounts.c
 *	  Reads mounts as Linux lists them, and finds the mount of a path.
 *
 * A line of proc(5), "/proc/[pid]/mountinfo", looks like this; the number of optional
 * fields before the lone "-" varies from none to several:
 *
 *	36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=ro
 *	id parent dev root mount_point options optional... - fstype source super
 *
 * getmntent(3) reads /proc/mounts, which lacks the device number.
 *
 * Containers can bring 10,000 mounts, so the reading is one pass, and a
 * search compares each line once.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/storage/mounts.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "engine/text/text.h"

/* The kernel allows two layers; more are a cycle of misleading paths. */
#define MAX_OVERLAYS 8

/* ------------------------------------------------------------------ reading */

static bool
is_octal_escape(const char *text)
{
	/* the first digit is 0 to 3, since the value must fit a byte */
	return text[0] == '\\' &&
		text[1] >= '0' && text[1] <= '3' &&
		text[2] >= '0' && text[2] <= '7' &&
		text[3] >= '0' && text[3] <= '7';
}

/*
 * Decode \ooo in place, except where it stands for the character "keep". \000
 * also stays: it would end the string.
 */
static void
decode_escapes(char *text, char keep)
{
	char	   *to = text;

	while (*text != '\0')
	{
		char		decoded = is_octal_escape(text) ?
			(char) ((text[1] - '0') << 6 | (text[2] - '0') << 3 | (text[3] - '0')) : '\0';
		bool		decodes = decoded != '\0' && decoded != keep;

		*to++ = decodes ? decoded : *text;
		text += decodes ? 4 : 1;
	}
	*to = '\0';
}

/* The first option of either list is rw or ro.  Allocated, or NULL. */
static char *
join_options(const char *per_mount, const char *super)
{
	bool		read_only = sp_mount_option(per_mount, "ro") || sp_mount_option(super, "ro");
	char	   *joined;

	if (asprintf(&joined, "%s%s%s", read_only ? "ro" : "rw",
				 per_mount + strcspn(per_mount, ","), super + strcspn(super, ",")) < 0)
		return NULL;
	decode_escapes(joined, ',');
	return joined;
}

static bool
parse_device_number(const char *text, sp_mount *mount)
{
	int			end = 0;

	/* the kernel's numbers have 12 and 20 bits: with widths no number overflows */
	return sscanf(text, "%8u:%8u%n", &mount->dev_major, &mount->dev_minor, &end) == 2 &&
		text[end] == '\0';
}

/*
 * Cut the line into the fields of mount; its mount_options are those of the mount alone.
 * Fields are separated by exactly one blank: an empty source is two blanks in a row.
 *
 * Returns false if this is not a line of mountinfo.
 */
static bool
split_line(char *line, sp_mount *mount, const char **super_options)
{
	char	   *rest = line;
	char	   *device;
	char	   *field;

	if (line[0] < '0' || line[0] > '9')
		return false;
	(void) strsep(&rest, " ");	/* id */
	(void) strsep(&rest, " ");	/* parent */
	device = strsep(&rest, " ");
	(void) strsep(&rest, " ");	/* root */
	mount->mount_point = strsep(&rest, " ");
	mount->mount_options = strsep(&rest, " ");
	do
		field = strsep(&rest, " ");
	while (field != NULL && strcmp(field, "-") != 0);
	mount->fstype = strsep(&rest, " ");
	mount->source = strsep(&rest, " ");
	*super_options = rest;

	/* strsep returns NULL from the end on, so that the last one stands for all */
	return rest != NULL && parse_device_number(device, mount) &&
		mount->mount_point[0] == '/' && mount->fstype[0] != '\0';
}

static int
add_mount(sp_mount_table *table, const sp_mount *mount)
{
	size_t		count = table->count;

	/* the room doubles when it is used up */
	if ((count & (count - 1)) == 0)
	{
		sp_mount   *mounts = realloc(table->mounts,
									 (count == 0 ? 1 : 2 * count) * sizeof(sp_mount));

		if (mounts == NULL)
			return ENOMEM;
		table->mounts = mounts;
	}
	table->mounts[table->count++] = *mount;
	return 0;
}

/* Add the mount that a line describes, if it does: then it is the table's, and becomes NULL. */
static int
add_line(sp_mount_table *table, char **line)
{
	sp_mount	mount = {.line = *line};
	const char *super_options;
	int			status;

	mount.line[strcspn(mount.line, "\n")] = '\0';
	if (!split_line(mount.line, &mount, &super_options))
		return 0;
	mount.mount_options = join_options(mount.mount_options, super_options);
	if (mount.mount_options == NULL)
		return ENOMEM;
	decode_escapes(mount.mount_point, '\0');
	decode_escapes(mount.fstype, '\0');
	decode_escapes(mount.source, '\0');
	status = add_mount(table, &mount);
	if (status == 0)
		*line = NULL;
	else
		free(mount.mount_options);
	return status;
}

int
sp_mount_table_add_lines(sp_mount_table *table, FILE *file)
{
	char	   *line = NULL;
	size_t		size = 0;
	int			status = 0;

	while (status == 0 && (errno = 0, getline(&line, &size, file) >= 0))
		status = add_line(table, &line);
	if (status == 0 && (ferror(file) || !feof(file)))
		status = errno != 0 ? errno : EIO;
	free(line);
	return status;
}

int
sp_mount_table_read(const char *sysroot, sp_mount_table *table)
{
	char		path[PATH_MAX];
	int			status = sp_build_path(path, "%s/proc/self/mountinfo", sysroot);
	FILE	   *file;

	*table = (sp_mount_table) {0};
	if (status != 0)
		return status;
	if ((file = fopen(path, "re")) == NULL)
		return errno;
	status = sp_mount_table_add_lines(table, file);
	fclose(file);
	return status;
}

void
sp_mount_table_free(sp_mount_table *table)
{
	for (size_t i = 0; i < table->count; i++)
	{
		free(table->mounts[i].line);
		free(table->mounts[i].mount_options);
	}
	free(table->mounts);
	*table = (sp_mount_table) {0};
}

/* ------------------------------------------------------------------ finding */

const sp_mount *
sp_mount_table_find(const sp_mount_table *table, const char *path)
{
	const sp_mount *best = NULL;
	size_t		best_length = 0;

	for (size_t i = 0; path[0] == '/' && i < table->count; i++)
	{
		const sp_mount *mount = &table->mounts[i];
		size_t		length = strlen(mount->mount_point);

		/* whole components: /data is no parent of /database */
		if (length > 1 &&
			(strncmp(path, mount->mount_point, length) != 0 ||
			 (path[length] != '\0' && path[length] != '/')))
			continue;
		/* equal length is the same mount point, and the later one hides it */
		if (length >= best_length)
		{
			best = mount;
			best_length = length;
		}
	}
	return best;
}

bool
sp_mount_same_filesystem(const sp_mount *a, const sp_mount *b)
{
	if (a->dev_major == b->dev_major && a->dev_minor == b->dev_minor)
		return true;
	return strcmp(a->fstype, "btrfs") == 0 && strcmp(b->fstype, "btrfs") == 0 &&
		a->source[0] != '\0' && strcmp(a->source, b->source) == 0;
}

const char *
sp_mount_option(const char *options, const char *name)
{
	size_t		length = strlen(name);

	while (*options != '\0')
	{
		size_t		here = strcspn(options, ",");

		if (here >= length && strncmp(options, name, length) == 0 &&
			(here == length || options[length] == '='))
			return options + length + (here > length);
		options += here;
		options += (*options == ',');
	}
	return NULL;
}

/* ----------------------------------------------------------------- overlays */

/*
 * Copy the upper directory among the options of an overlay to path, which has PATH_MAX
 * bytes.  False if there is none, or it is no plain path: it must be absolute, and no
 * component but the last one empty, "." or "..".  With a backslash it is escaped, by the
 * kernel (a comma is \054) or twice, since mount(8) takes a backslash before any character.
 */
static bool
take_upper_directory(const char *options, char *path)
{
	const char *value = sp_mount_option(options, "upperdir");
	size_t		length = value == NULL ? 0 : strcspn(value, ",");

	if (length == 0 || length >= PATH_MAX || value[0] != '/')
		return false;
	memcpy(path, value, length);
	path[length] = '\0';
	if (strchr(path, '\\') != NULL)
		return false;
	while (*path == '/')
	{
		length = strcspn(++path, "/");
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
		if (strcmp(mount->fstype, "overlay") != 0)
			return mount;
		if (!take_upper_directory(mount->mount_options, path))
			return NULL;
		mount = sp_mount_table_find(table, path);
	}
	return NULL;
}
