/*-------------------------------------------------------------------------
 *
 * fuzz_mountinfo.c
 *	  Fuzz target: the kernel's list of mounts.
 *
 * The input is the list.  Which paths to ask for is taken from it, by a
 * simpler reading of a line than that under test.
 *
 * It must not: include a server header, or look at the mounts of the machine
 * it runs on.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/storage/mountinfo.h"
#include "fuzz.h"

const char *const fuzz_seeds = "fuzz/mountinfo";

/* More only take time: finding them is quadratic. */
#define MAX_LINES	200

/* Two mounts on the same place, of which the last one hides the other. */
static const char last_lines[] =
	"\n9 1 8:76 / /last rw,noatime - ext4 /dev/first rw\n"
	"9 1 8:77 / /last rw,noatime - ext4 /dev/last rw\n";

/* The list as the kernel would hand it out, or with these behind it. */
static sp_mount_table *
read_table(const uint8_t *data, size_t size, bool with_last)
{
	char	   *text = malloc(size + sizeof(last_lines));
	size_t		length = size;
	sp_mount_table *table;
	FILE	   *file;

	require(text != NULL);
	if (size > 0)
		memcpy(text, data, size);
	if (with_last)
	{
		memcpy(text + size, last_lines, sizeof(last_lines) - 1);
		length += sizeof(last_lines) - 1;
	}
	file = fmemopen(text, length, "r");
	require(file != NULL);
	require(sp_mount_table_read_stream(file, &table) == 0);
	require(table != NULL);
	fclose(file);
	free(text);
	return table;
}

/* Each option once and not empty, since join_options says so. */
static void
check_options(const char *options, bool has_escapes)
{
	bool		is_first = true;
	bool		has_ro = strcmp(options, "ro") == 0 ||
		strncmp(options, "ro,", 3) == 0;

	while (*options != '\0')
	{
		size_t		length = strcspn(options, ",");
		const char *next = options + length + (options[length] == ',');

		require(length > 0);
		require(options[length] == '\0' || *next != '\0');
		/* escapes are decoded after the options were compared */
		if (!has_escapes)
		{
			bool		is_ro = length == 2 && memcmp(options, "ro", 2) == 0;
			bool		is_rw = length == 2 && memcmp(options, "rw", 2) == 0;

			require(!is_ro || is_first);
			require(!is_rw || !has_ro);
		}
		is_first = false;
		options = next;
	}
}

static void
check_mount(const sp_mount_table *table, const sp_mount *mount,
			bool has_escapes)
{
	const sp_mount *beneath = sp_mount_beneath(table, mount);
	const sp_mount *again = sp_mount_table_find(table, mount->mount_point);

	require(mount->mount_point[0] == '/');
	require(mount->root[0] != '\0' && mount->fstype[0] != '\0');
	require(mount->source != NULL);
	check_options(mount->mount_options, has_escapes);
	/* nothing is nearer to a mount point than what is mounted there */
	require(again != NULL);
	require(strcmp(again->mount_point, mount->mount_point) == 0);
	require(sp_mount_same_filesystem(mount, mount));
	require(!sp_mount_same_filesystem(mount, NULL));
	require(beneath == NULL || strcmp(beneath->fstype, "overlay") != 0);
	require(beneath == mount || strcmp(mount->fstype, "overlay") == 0);
}

static bool
is_same_text(const sp_mount *a, const sp_mount *b)
{
	return a->dev_major == b->dev_major && a->dev_minor == b->dev_minor &&
		strcmp(a->root, b->root) == 0 &&
		strcmp(a->mount_point, b->mount_point) == 0 &&
		strcmp(a->mount_options, b->mount_options) == 0 &&
		strcmp(a->fstype, b->fstype) == 0 &&
		strcmp(a->source, b->source) == 0;
}

/* What is found for a path, in two tables read from the same. */
static void
check_path(const sp_mount_table *table, const sp_mount_table *same,
		   const char *path, bool has_escapes)
{
	const sp_mount *mount = sp_mount_table_find(table, path);
	const sp_mount *other = sp_mount_table_find(same, path);
	size_t		length;

	require((mount == NULL) == (other == NULL));
	if (mount == NULL)
		return;
	require(is_same_text(mount, other));
	require(sp_mount_same_filesystem(mount, other));
	require(sp_mount_same_filesystem(other, mount));
	length = strlen(mount->mount_point);
	require(path[0] == '/' && strncmp(path, mount->mount_point, length) == 0);
	require(length == 1 || path[length] == '\0' || path[length] == '/');
	check_mount(table, mount, has_escapes);
	check_mount(same, other, has_escapes);
}

/* Octal digits of any value: the kernel writes only some, others stay as is. */
static void
decode(char *text)
{
	char	   *to = text;

	while (*text != '\0')
	{
		if (text[0] == '\\' && strspn(text + 1, "01234567") >= 3)
		{
			*to++ = (char) strtoul((char[]) {text[1], text[2], text[3], '\0'},
								   NULL, 8);
			text += 4;
		}
		else
			*to++ = *text++;
	}
	*to = '\0';
}

/* The fifth word of a line is a path, as it is or with its escapes decoded. */
static void
check_line(const sp_mount_table *table, const sp_mount_table *same,
		   const char *line, size_t length, bool has_escapes)
{
	char	   *copy = strndup(line, length);
	char	   *path = copy;

	require(copy != NULL);
	for (int i = 0; i < 4 && path != NULL; i++)
	{
		path = strchr(path, ' ');
		if (path != NULL)
			path++;
	}
	if (path != NULL)
	{
		path[strcspn(path, " ")] = '\0';
		check_path(table, same, path, has_escapes);
		decode(path);
		check_path(table, same, path, has_escapes);
	}
	free(copy);
}

/* Returns how many lines may be mounts. */
static size_t
check_lines(const sp_mount_table *table, const sp_mount_table *same,
			const uint8_t *data, size_t size, bool has_escapes)
{
	const char *text = (const char *) data;
	size_t		lines = 0;

	while (size > 0)
	{
		const char *end = memchr(text, '\n', size);
		size_t		length = end == NULL ? size : (size_t) (end - text);

		/* one with a NUL is none: what is behind it would be lost */
		if (length > 0 && memchr(text, '\0', length) == NULL &&
			lines++ < MAX_LINES)
			check_line(table, same, text, length, has_escapes);
		text += length + (end != NULL);
		size -= length + (end != NULL);
	}
	return lines;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	sp_mount_table *table = read_table(data, size, false);
	sp_mount_table *same = read_table(data, size, false);
	sp_mount_table *longer = read_table(data, size, true);
	const sp_mount *last = sp_mount_table_find(longer, "/last");
	bool		has_escapes = size > 0 && memchr(data, '\\', size) != NULL;
	size_t		lines = check_lines(table, same, data, size, has_escapes);

	require(sp_mount_table_count(table) == sp_mount_table_count(same));
	require(sp_mount_table_count(table) <= lines);
	/* whatever came before, the next lines are read */
	require(sp_mount_table_count(longer) == sp_mount_table_count(table) + 2);
	require(last != NULL && last->dev_minor == 77);
	check_mount(longer, last, false);
	check_path(table, same, "/", has_escapes);
	check_path(table, same, "relative", has_escapes);
	sp_mount_table_free(table);
	sp_mount_table_free(same);
	sp_mount_table_free(longer);
	return 0;
}
