/*-------------------------------------------------------------------------
 *
 * mountinfo.c
 *	  Reads mounts as Linux lists them, and their options.
 *
 * It must not: include a server header, keep state between calls, print,
 * exit, resolve paths, or open anything but a file of this kind.
 *
 * A line looks like this; the number of optional fields before the lone "-"
 * varies from none to several:
 *
 *	36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=ro
 *	id parent dev root mount_point options optional... - fstype source super
 *
 * Containers can bring 10,000 mounts, so the reading is one pass, and a
 * search compares each line once.
 *
 *-------------------------------------------------------------------------
 */
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/storage/mount_table_internal.h"
#include "engine/storage/system_internal.h"
#include "engine/text/text.h"

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
		if (is_octal_escape(text))
		{
			char		decoded = (char) (((text[1] - '0') << 6) |
										  ((text[2] - '0') << 3) |
										  (text[3] - '0'));

			if (decoded != keep && decoded != '\0')
			{
				*to++ = decoded;
				text += 4;
				continue;
			}
		}
		*to++ = *text++;
	}
	*to = '\0';
}

static bool
has_option(const char *list, const char *option, size_t length)
{
	while (*list != '\0')
	{
		size_t		here = strcspn(list, ",");

		if (here == length && memcmp(list, option, length) == 0)
			return true;
		list += here;
		list += (*list == ',');
	}
	return false;
}

/* Append to joined each option of the list that it does not hold yet. */
static void
append_options(char *joined, const char *list)
{
	char	   *end = joined + strlen(joined);

	while (*list != '\0')
	{
		size_t		length = strcspn(list, ",");
		bool		contradicts_ro = length == 2 && memcmp(list, "rw", 2) == 0 &&
			has_option(joined, "ro", 2);

		if (length > 0 && !contradicts_ro && !has_option(joined, list, length))
		{
			if (end != joined)
				*end++ = ',';
			memcpy(end, list, length);
			end += length;
			*end = '\0';
		}
		list += length;
		list += (*list == ',');
	}
}

/*
 * Join both lists of options.  Both contain rw or ro: a read-only bind mount of
 * a writable file system would be "ro,...,rw,...", which is ambiguous.  So rw
 * is left out if either list has ro.
 *
 * Returns allocated memory, NULL if there is none.
 */
static char *
join_options(const char *per_mount, const char *super)
{
	/* each option at most once, so both lists and a comma always suffice */
	char	   *joined = malloc(strlen(per_mount) + strlen(super) + 2);

	if (joined == NULL)
		return NULL;
	joined[0] = '\0';
	if (has_option(per_mount, "ro", 2) || has_option(super, "ro", 2))
		strcpy(joined, "ro");
	append_options(joined, per_mount);
	append_options(joined, super);
	decode_escapes(joined, ',');
	return joined;
}

static bool
is_mount_id(const char *text)
{
	uint64_t	ignored;

	return sp_parse_number(sp_slice_of(text), UINT_MAX, &ignored);
}

static bool
parse_device_number(const char *text, sp_mount *mount)
{
	sp_slice	rest = sp_slice_of(text);
	uint64_t	dev_major;
	uint64_t	dev_minor;

	if (!sp_take_number(&rest, &dev_major) || dev_major > UINT_MAX ||
		!sp_take_text(&rest, ":") || !sp_parse_number(rest, UINT_MAX, &dev_minor))
		return false;
	mount->dev_major = (unsigned) dev_major;
	mount->dev_minor = (unsigned) dev_minor;
	return true;
}

/*
 * Cut the line into the fields of mount, which point into it afterwards; its
 * mount_options are those of the mount alone.  Fields are separated by
 * exactly one blank: an empty source is two blanks in a row.
 *
 * Returns false if this is not a line of mountinfo.
 */
static bool
split_line(char *line, sp_mount *mount, const char **super_options)
{
	char	   *rest = line;
	char	   *mount_id = strsep(&rest, " ");
	char	   *parent_id = strsep(&rest, " ");
	char	   *device = strsep(&rest, " ");
	char	   *field;

	mount->root = strsep(&rest, " ");
	mount->mount_point = strsep(&rest, " ");
	mount->mount_options = strsep(&rest, " ");
	do
		field = strsep(&rest, " ");
	while (field != NULL && strcmp(field, "-") != 0);
	mount->fstype = strsep(&rest, " ");
	mount->source = strsep(&rest, " ");
	*super_options = rest;

	/* strsep returns NULL from the end on, so that the last one tells for all */
	if (rest == NULL)
		return false;
	return is_mount_id(mount_id) &&
		is_mount_id(parent_id) &&
		parse_device_number(device, mount) &&
		mount->root[0] != '\0' &&
		mount->mount_point[0] == '/' &&
		mount->fstype[0] != '\0';
}

/*
 * Add the mount that a line describes, if it does.  On success the table owns
 * the line and *used is set; otherwise it is still the caller's.
 */
static int
add_mount_line(sp_mount_table *table, char *line, size_t length, bool *used)
{
	sp_mount	mount;
	const char *super_options;
	int			status;

	*used = false;
	if (length > 0 && line[length - 1] == '\n')
		line[--length] = '\0';
	/* a NUL inside would hide the rest of the line from what follows */
	if (strlen(line) != length ||
		!split_line(line, &mount, &super_options))
		return 0;
	mount.mount_options = join_options(mount.mount_options, super_options);
	if (mount.mount_options == NULL)
		return ENOMEM;
	decode_escapes(mount.root, '\0');
	decode_escapes(mount.mount_point, '\0');
	decode_escapes(mount.fstype, '\0');
	decode_escapes(mount.source, '\0');
	status = sp_mount_table_append(table, &mount, line);
	if (status != 0)
	{
		free(mount.mount_options);
		return status;
	}
	*used = true;
	return 0;
}

static int
read_lines(FILE *file, sp_mount_table *table)
{
	for (;;)
	{
		char	   *line = NULL;
		size_t		size = 0;
		ssize_t		length;
		bool		used = false;
		int			status = 0;

		errno = 0;
		length = getline(&line, &size, file);
		if (length >= 0)
			status = add_mount_line(table, line, (size_t) length, &used);
		else if (ferror(file) || !feof(file))
			status = errno != 0 ? errno : EIO;
		if (!used)
			free(line);
		if (status != 0 || length < 0)
			return status;
	}
}

int
sp_mount_table_read_stream(FILE *file, sp_mount_table **table)
{
	sp_mount_table *result = calloc(1, sizeof(*result));
	int			status = result == NULL ? ENOMEM : read_lines(file, result);

	*table = NULL;
	if (status != 0)
	{
		sp_mount_table_free(result);
		return status;
	}
	*table = result;
	return 0;
}

int
sp_mountinfo_read(const char *path, sp_mount_table **table)
{
	FILE	   *file = fopen(path, "re");
	int			status;

	*table = NULL;
	if (file == NULL)
		return errno;
	status = sp_mount_table_read_stream(file, table);
	fclose(file);
	return status;
}

/* A captured tree is one of Linux, wherever it is read. */
int
sp_mount_table_read(const char *sysroot, sp_mount_table **table)
{
	char		path[PATH_MAX];
	int			status;

	if (sysroot[0] == '\0')
		return sp_system_mounts(table);
	*table = NULL;
	status = sp_build_path(path, "%s/proc/self/mountinfo", sysroot);
	return status != 0 ? status : sp_mountinfo_read(path, table);
}

bool
sp_mount_has_option(const char *options, const char *option)
{
	return has_option(options, option, strlen(option));
}

const char *
sp_mount_option(const char *options, const char *name)
{
	size_t		length = strlen(name);

	while (*options != '\0')
	{
		if (strncmp(options, name, length) == 0 && options[length] == '=')
			return options + length + 1;
		options += strcspn(options, ",");
		options += (*options == ',');
	}
	return NULL;
}
