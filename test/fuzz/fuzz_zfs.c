/*-------------------------------------------------------------------------
 *
 * fuzz_zfs.c
 *	  Fuzz target: what the ZFS tools print.
 *
 * The input is the text.  It is read as each kind that there is, for names
 * that the corpus uses, since a fuzzer is slow to guess that two places must
 * hold the same name.
 *
 *-------------------------------------------------------------------------
 */
#include "fuzz.h"
#include "engine/storage/zfs.h"

const char *const fuzz_seeds = "zfs";

typedef bool (*zfs_parser) (char *text, const char *name, sp_zfs *zfs);

static const char *const names[] = {
	"tank", "tank/pg", "tank/pg/wal", "big pool", "big pool/pg data", "spz",
	"spm", "rpool", "logs", "",
};

/* What a parser, which changes its text, makes of the first bytes. */
static bool
parse_copy(zfs_parser parse, const char *text, size_t length, const char *name, sp_zfs *zfs)
{
	char	   *copy = strndup(text, length);
	bool		found;

	require(copy != NULL);
	memset(zfs, 0, sizeof(*zfs));
	found = parse(copy, name, zfs);
	free(copy);
	return found;
}

/* A value is a piece of the text, or unknown. */
static void
check_string(const char *text, size_t length, const char *string, size_t size)
{
	size_t		string_length = strnlen(string, size);

	require(string_length < size);
	require(strchr(string, '\n') == NULL && strcmp(string, "-") != 0);
	require(string_length == 0 || memmem(text, length, string, string_length) != NULL);
}

static void
check_result(const char *text, size_t length, const sp_zfs *zfs)
{
	check_string(text, length, zfs->sync, sizeof(zfs->sync));
	check_string(text, length, zfs->logbias, sizeof(zfs->logbias));
	require(zfs->recordsize >= 0);
	require(zfs->nvdevs >= 0 && zfs->nvdevs <= SP_ZFS_MAX_VDEVS);
	for (int i = 0; i < zfs->nvdevs; i++)
	{
		const char *path = zfs->vdevs[i].path;

		check_string(text, length, path, sizeof(zfs->vdevs[i].path));
		require(path[0] != '\0' && path[0] != ' ' && path[0] != '\t');
		require(zfs->vdevs[i].use <= SP_VDEV_SPARE);
	}
}

/*
 * Lines are read one after the other, so what half of the text tells is how
 * the answer for the whole begins.
 */
static void
check_half(zfs_parser parse, const char *text, size_t length, const char *name,
		   const sp_zfs *whole)
{
	sp_zfs		half;

	(void) parse_copy(parse, text, length / 2, name, &half);
	check_result(text, length / 2, &half);
	require(half.nvdevs <= whole->nvdevs);
	require(memcmp(half.vdevs, whole->vdevs,
				   (size_t) half.nvdevs * sizeof(sp_vdev)) == 0);
	require(half.recordsize == 0 || whole->recordsize > 0);
	require(half.sync[0] == '\0' || whole->sync[0] != '\0');
}

static void
check_parser(zfs_parser parse, const char *text, size_t length, const char *name)
{
	static const sp_zfs empty;
	sp_zfs		whole;
	bool		found = parse_copy(parse, text, length, name, &whole);

	check_result(text, length, &whole);
	check_half(parse, text, length, name, &whole);
	/* without an answer nothing may be set, but that there was more */
	whole.more_vdevs = false;
	require(found == (memcmp(&whole, &empty, sizeof(whole)) != 0));
}

static void
check_name(const char *text, size_t length)
{
	char		name[300];
	char		pool[256];

	length = length < sizeof(name) - 1 ? length : sizeof(name) - 1;
	if (length > 0)
		memcpy(name, text, length);
	name[length] = '\0';
	sp_zfs_pool_name(name, pool);
	require(strlen(pool) < sizeof(pool) && strchr(pool, '/') == NULL);
	require(strncmp(name, pool, strlen(pool)) == 0);
	require(!sp_zfs_is_dataset_name(name) || (strlen(name) < 256 && name[0] != '-'));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *) data;

	for (size_t i = 0; i < lengthof(names); i++)
	{
		if (memmem(text, size, names[i], strlen(names[i])) == NULL)
			continue;
		check_parser(sp_zfs_parse_properties, text, size, names[i]);
		check_parser(sp_zfs_parse_status, text, size, names[i]);
	}
	check_name(text, size);
	return 0;
}
