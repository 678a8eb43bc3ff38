/*-------------------------------------------------------------------------
 *
 * fuzz_mountinfo.c
 *	  Fuzz target: the kernel's list of mounts.
 *
 * The input is the list; tabs before lines, as captured trees have them, are cut off.
 * Which paths to ask for is taken from it, by a simpler reading of a line than that
 * under test.
 *
 * It must not: include a server header, or look at the mounts of the machine
 * it runs on.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/storage/mounts.h"
#include "fuzz.h"

const char *const fuzz_seeds = "sysroot";

/* More only take time: finding them is quadratic. */
#define MAX_LINES	200

/* Two mounts on the same place, of which the last one hides the other. */
static const char last_lines[] =
	"\n9 1 8:76 / /last rw,noatime - ext4 /dev/first rw\n"
	"9 1 8:77 / /last rw,noatime - ext4 /dev/last rw\n";

/* The list as the kernel would hand it out, or with these behind it. */
static sp_mount_table *
read_table(const char *list, size_t size, const char *behind)
{
	char	   *text = malloc(size + strlen(behind) + 1);
	sp_mount_table *table;
	FILE	   *file;

	require(text != NULL);
	memcpy(text, list, size);
	strcpy(text + size, behind);
	file = fmemopen(text, size + strlen(behind), "r");
	require(file != NULL && sp_mount_table_read_stream(file, &table) == 0);
	fclose(file);
	free(text);
	return table;
}

/* First is ro or rw, and it is not the other, too. */
static void
check_options(const char *options)
{
	require(strncmp(options, "ro", 2) == 0 || strncmp(options, "rw", 2) == 0);
	require(options[2] == '\0' || options[2] == ',');
}

static void
check_mount(const sp_mount_table *table, const sp_mount *mount)
{
	const sp_mount *beneath = sp_mount_beneath(table, mount);
	const sp_mount *again = sp_mount_table_find(table, mount->mount_point);

	require(mount->mount_point[0] == '/');
	require(mount->fstype[0] != '\0' && mount->source != NULL);
	check_options(mount->mount_options);
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
		strcmp(a->mount_point, b->mount_point) == 0 &&
		strcmp(a->mount_options, b->mount_options) == 0 &&
		strcmp(a->fstype, b->fstype) == 0 &&
		strcmp(a->source, b->source) == 0;
}

/* What is found for a path, in two tables read from the same. */
static void
check_path(const sp_mount_table *table, const sp_mount_table *same,
		   const char *path)
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
	check_mount(table, mount);
	check_mount(same, other);
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
		   const char *line, size_t length)
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
		check_path(table, same, path);
		decode(path);
		check_path(table, same, path);
	}
	free(copy);
}

/* Returns how many lines may be mounts. */
static size_t
check_lines(const sp_mount_table *table, const sp_mount_table *same,
			const char *text, size_t size)
{
	size_t		lines = 0;

	while (size > 0)
	{
		const char *end = memchr(text, '\n', size);
		size_t		length = end == NULL ? size : (size_t) (end - text);

		if (length > 0 && lines++ < MAX_LINES)
			check_line(table, same, text, length);
		text += length + (end != NULL);
		size -= length + (end != NULL);
	}
	return lines;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char	   *list = calloc(size + 1, 1);
	size_t		length = 0;
	sp_mount_table *table;
	sp_mount_table *same;
	sp_mount_table *longer;
	const sp_mount *last;

	require(list != NULL);
	for (size_t i = 0; i < size; i++)
	{
		if (data[i] != '\t' || (i > 0 && data[i - 1] != '\n'))
			list[length++] = (char) data[i];
	}
	table = read_table(list, length, "\n");
	same = read_table(list, length, "\n");
	longer = read_table(list, length, last_lines);
	last = sp_mount_table_find(longer, "/last");
	require(table->count == same->count);
	require(table->count <= check_lines(table, same, list, length));
	/* whatever came before, the next lines are read */
	require(longer->count == table->count + 2);
	require(last != NULL && last->dev_minor == 77);
	check_mount(longer, last);
	check_path(table, same, "/");
	check_path(table, same, "relative");
	sp_mount_table_free(table);
	sp_mount_table_free(same);
	sp_mount_table_free(longer);
	free(list);
	return 0;
}
