/*-------------------------------------------------------------------------
 *
 * fuzz_mountinfo.c
 *	  Fuzz target: the kernel's list of mounts.
 *
 * The input is the list; tabs before lines, as captured trees have them, are cut off.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/storage/mounts.h"
#include "fuzz.h"

const char *const fuzz_seeds = "sysroot";

/* More only take time: finding them is quadratic. */
#define MAX_MOUNTS	200

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

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char	   *list = calloc(size + 1, 1);
	size_t		length = 0;
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
	for (size_t i = 0; i < table->count && i < MAX_MOUNTS; i++)
	{
		check_mount(table, &table->mounts[i]);
		check_path(table, table->mounts[i].mount_point);
		check_path(table, table->mounts[i].source);
	}
	sp_mount_table_free(table);
	sp_mount_table_free(longer);
	free(list);
	return 0;
}
