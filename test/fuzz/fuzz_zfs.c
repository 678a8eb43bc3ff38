/*
 * Fuzz target: what the ZFS tools print.
 *
 * The input is the text.  It is read as each kind that there is, for names
 * that the corpus uses, since a fuzzer is slow to guess that two places must
 * hold the same name.
 */
#include "fuzz.h"
#include "engine/storage/zfs.h"

const char *const fuzz_seeds = "zfs";

static const char *const names[] = {
	"tank", "tank/pg", "tank/pg/wal", "big pool", "big pool/pg data", "spz",
	"spm", "rpool", "logs", "",
};

/* A parser changes its text. */
static void
check_parser(bool (*parse) (char *text, const char *name, sp_zfs *zfs), const uint8_t *data,
			 size_t size, const char *name)
{
	char	   *copy = strndup((const char *) data, size);
	sp_zfs		zfs = {0};
	bool		found;

	require(copy != NULL);
	found = parse(copy, name, &zfs);
	free(copy);
	require_string(zfs.sync);
	require_string(zfs.logbias);
	require(zfs.recordsize >= 0);
	require(zfs.nvdevs >= 0 && zfs.nvdevs <= SP_ZFS_MAX_VDEVS);
	for (int i = 0; i < zfs.nvdevs; i++)
	{
		require(zfs.vdevs[i].path[0] == '/');
		require_string(zfs.vdevs[i].path);
	}
	require(found == (zfs.nvdevs > 0 || zfs.sync[0] != '\0' || zfs.logbias[0] != '\0' ||
					  zfs.recordsize > 0));
}

static void
check_name(const uint8_t *data, size_t size)
{
	char	   *name = strndup((const char *) data, size);
	char		pool[256];

	require(name != NULL);
	sp_zfs_pool_name(name, pool);
	require_string(pool);
	require(strchr(pool, '/') == NULL);
	free(name);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	for (size_t i = 0; i < lengthof(names); i++)
	{
		if (memmem(data, size, names[i], strlen(names[i])) == NULL)
			continue;
		check_parser(sp_zfs_parse_properties, data, size, names[i]);
		check_parser(sp_zfs_parse_status, data, size, names[i]);
	}
	check_name(data, size);
	return 0;
}
