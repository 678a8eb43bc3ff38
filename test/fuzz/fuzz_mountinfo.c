/*-------------------------------------------------------------------------
 *
 * fuzz_mountinfo.c
 *	  Fuzz target: the kernel's list of mounts.
 *
 * The input is the list; tabs before lines, as captured trees have them, are cut off.
 * Which paths to ask for is taken from it, by a simpler reading of a line than that
 * under test.
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

static void
check_mount(const sp_mount_table *table, const sp_mount *mount)
{
	const sp_mount *beneath = sp_mount_beneath(table, mount);
	const sp_mount *again = sp_mount_table_find(table, mount->mount_point);
	const char *options = mount->mount_options;

	require(mount->mount_point[0] == '/');
	require(mount->fstype[0] != '\0' && mount->source != NULL);
	/* first is ro or rw, and it is not the other, too */
	require(strncmp(options, "ro", 2) == 0 || strncmp(options, "rw", 2) == 0);
	require(options[2] == '\0' || options[2] == ',');
	/* nothing is nearer to a mount point than what is mounted there */
	require(again != NULL && strcmp(again->mount_point, mount->mount_point) == 0);
	require(sp_mount_same_filesystem(mount, mount));
	require(beneath == NULL || strcmp(beneath->fstype, "overlay") != 0);
	require(beneath == mount || strcmp(mount->fstype, "overlay") == 0);
}

static void
check_path(const sp_mount_table *table, const char *path)
{
	const sp_mount *mount = sp_mount_table_find(table, path);
	size_t		length;

	if (mount == NULL)
		return;
	length = strlen(mount->mount_point);
	require(path[0] == '/' && strncmp(path, mount->mount_point, length) == 0);
	require(length == 1 || path[length] == '\0' || path[length] == '/');
	check_mount(table, mount);
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
check_line(const sp_mount_table *table, char *line)
{
	char	   *path = line;

	for (int i = 0; i < 4 && path != NULL; i++)
	{
		path = strchr(path, ' ');
		if (path != NULL)
			path++;
	}
	if (path == NULL)
		return;
	path[strcspn(path, " ")] = '\0';
	check_path(table, path);
	decode(path);
	check_path(table, path);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char	   *list = calloc(size + 1, 1);
	char	   *rest = list;
	char	   *line;
	size_t		length = 0;
	size_t		lines = 0;
	sp_mount_table *table;
	sp_mount_table *longer;
	const sp_mount *last;

	require(list != NULL);
	for (size_t i = 0; i < size; i++)
	{
		if (data[i] != '\t' || (i > 0 && data[i - 1] != '\n'))
			list[length++] = (char) data[i];
	}
	table = read_table(list, length, "\n");
	longer = read_table(list, length, last_lines);
	/* whatever came before, the next lines are read */
	require(longer->count == table->count + 2);
	last = sp_mount_table_find(longer, "/last");
	require(last != NULL && last->dev_minor == 77);
	check_mount(longer, last);
	check_path(table, "/");
	check_path(table, "relative");
	for (size_t i = 0; i < length; i++)
		list[i] = list[i] != '\0' ? list[i] : ' ';
	while ((line = strsep(&rest, "\n")) != NULL)
	{
		if (line[0] != '\0' && lines++ < MAX_LINES)
			check_line(table, line);
	}
	require(table->count <= lines);
	sp_mount_table_free(table);
	sp_mount_table_free(longer);
	free(list);
	return 0;
}
