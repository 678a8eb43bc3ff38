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

static void
check_mount(const sp_mount_table *table, const sp_mount *mount)
{
	const sp_mount *beneath = sp_mount_beneath(table, mount);
	const sp_mount *again = sp_mount_table_find(table, mount->mount_point);

	require(mount->mount_point[0] == '/' && mount->fstype[0] != '\0');
	require(sp_mount_option(mount->mount_options, "ro") != NULL ||
			sp_mount_option(mount->mount_options, "rw") != NULL);
	/* nothing is nearer to a mount point than what is mounted there */
	require(again != NULL && strcmp(again->mount_point, mount->mount_point) == 0);
	require(beneath == NULL || strcmp(beneath->fstype, "overlay") != 0);
	(void) sp_mount_table_find(table, mount->source);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char	   *list = malloc(size + 1);
	size_t		length = 0;
	sp_mount_table *table;
	FILE	   *file;

	require(list != NULL);
	for (size_t i = 0; i < size; i++)
	{
		if (data[i] != '\t' || (i > 0 && data[i - 1] != '\n'))
			list[length++] = (char) data[i];
	}
	/* a stream of no bytes would be an error */
	list[length++] = '\n';
	file = fmemopen(list, length, "r");
	require(file != NULL && sp_mount_table_read_stream(file, &table) == 0);
	fclose(file);
	free(list);
	for (size_t i = 0; i < table->count && i < MAX_MOUNTS; i++)
		check_mount(table, &table->mounts[i]);
	sp_mount_table_free(table);
	return 0;
}
