/*-------------------------------------------------------------------------
 *
 * test_zfs.c
 *	  Tests of src/engine/storage/zfs*.c on captured and generated outputs.
 *
 * It must not: start a tool, or look at the ZFS of the machine it runs on.  To
 * add an output, add a file in test/fixtures/zfs and a row of the tables below.
 *
 *-------------------------------------------------------------------------
 */
#include "fixtures.h"

#include "engine/storage/zfs.h"

/* Which names may be given to the tools, and the pool of those that may. */
static const struct
{
	const char *name;
	const char *pool;			/* NULL: no name */
}			name_cases[] =
{
	{"tank", "tank"}, {"tank/pg", "tank"}, {"tank/pg/wal", "tank"},
	{"big pool/pg data", "big pool"}, {"tank/...", "tank"}, {"..a/b", "..a"}, {"", NULL},
	{"-tank", NULL}, {"/tank", NULL}, {" tank", NULL}, {"tank/pg ", NULL}, {"tank/", NULL},
	{"..", NULL}, {"../tank", NULL}, {"tank/../../sys", NULL}, {"tank@snapshot", NULL},
	{"tank\n", NULL}, {"tank;reboot", NULL}, {"t\303\244nk", NULL},
};

/* The properties of a data set; -1 and "" are unknown. */
typedef struct property_case
{
	const char *file;
	const char *dataset;
	bool		found;
	const char *sync;
	const char *logbias;
	int64_t		recordsize;
} property_case;

static const property_case property_cases[] = {
	{"get_openzfs.txt", "tank/pg", true, "standard", "latency", 16384},
	/* the values of a user's own properties do not count */
	{"get_unsafe.txt", "tank/pg/wal", true, "disabled", "throughput", 1048576},
	{"get_always.txt", "big pool/pg data", true, "always", "latency", 131072},
	{"get_volume.txt", "tank/vm", true, "standard", "latency", -1},
	/* knows no sync: the log is always written */
	{"get_zfs_fuse.txt", "spz", true, "", "latency", 131072},
	{"get_openzfs.txt", "tank", false, "", "", -1},
	{"get_openzfs.txt", "tank/pg/wal", false, "", "", -1},
	{"status_full.txt", "tank", false, "", "", -1},
};

/* Generated lines about "d", and the resulting sync and recordsize. */
static const struct
{
	const char *name;
	const char *text;
	const char *sync;
	int64_t		recordsize;
}			property_lines[] =
{
	{"plain", "d\tsync\talways\tlocal\n", "always", -1},
	{"CRLF", "d\tsync\talways\tlocal\r\nd\trecordsize\t8192\t-\r\n", "always", 8192},
	{"cut off before the end", "d\tsync\tdisabled\tloc", "", -1},
	{"without a source", "d\tsync\tdisabled\n", "", -1},
	{"blanks for tabs", "d  sync  disabled  local\n", "", -1},
	{"other data set", "d/e\tsync\tdisabled\tlocal\n", "", -1},
	{"not told", "d\tsync\t-\t-\n", "", -1},
	{"empty value", "d\tsync\t\tlocal\n", "", -1},
	{"fits", "d\tsync\t123456789012345\tlocal\n", "123456789012345", -1},
	{"too long", "d\tsync\t1234567890123456\tlocal\n", "", -1},
	{"the last one counts", "d\tsync\talways\t-\nd\tsync\tdisabled\t-\n", "disabled", -1},
	{"largest number", "d\trecordsize\t9223372036854775807\t-\n", "", INT64_MAX},
	{"for people", "d\trecordsize\t128K\t-\n", "", -1},
};

/* The leaves of a status, in order: use and path. */
#define MAX_LEAVES 12

typedef struct status_case
{
	const char *file;
	const char *pool;
	bool		more;
	sp_vdev		leaves[MAX_LEAVES];	/* up to the first with an empty path */
} status_case;

static const status_case status_cases[] = {
	{"status_full.txt", "tank", false, {
			{"/dev/disk/by-id/wwn-0x5000c500a1b2c301-part1", SP_VDEV_DATA},
			{"/dev/disk/by-id/wwn-0x5000c500a1b2c302-part1", SP_VDEV_DATA},
			/* its number stands for the one it replaces, which is gone */
			{"/dev/disk/by-id/wwn-0x5000c500a1b2c304-part1", SP_VDEV_DATA},
			{"/dev/sdf1", SP_VDEV_DATA},
			{"/dev/sdg1", SP_VDEV_DATA},
			{"/dev/nvme0n1p3", SP_VDEV_DATA},
			{"/dev/nvme1n1p3", SP_VDEV_DATA},
			{"/dev/nvme0n1p1", SP_VDEV_LOG},
			{"/dev/nvme1n1p1", SP_VDEV_LOG},
			{"/dev/nvme2n1p1", SP_VDEV_CACHE},
			{"/dev/sdf1", SP_VDEV_SPARE},
			{"/dev/sdh1", SP_VDEV_SPARE},
	}},
	{"status_raidz.txt", "big pool", false, {
			{"/dev/da0p3", SP_VDEV_DATA},
			{"/dev/gpt/disk1", SP_VDEV_DATA},
			{"/dev/gptid/3f1c9a30-2d52-11ef-9d1c-0cc47a000001", SP_VDEV_DATA},
			{"/srv/files/a disk.img", SP_VDEV_DATA},
			{"/dev/da5", SP_VDEV_DATA},
			{"/dev/nda0p1", SP_VDEV_LOG},
	}},
	{"status_draid.txt", "tank", false, {
			{"/dev/sda1", SP_VDEV_DATA},
			{"/dev/sdb1", SP_VDEV_DATA},
			{"/dev/sdc1", SP_VDEV_DATA},
			{"/dev/sdd1", SP_VDEV_DATA},
	}},
	{"status_zfs_fuse.txt", "spz", false, {
			{"/srv/zz/z.img", SP_VDEV_DATA},
	}},
	{"status_zfs_fuse_mirror.txt", "spm", false, {
			{"/srv/zz/b.img", SP_VDEV_DATA},
			{"/srv/zz/l1.img", SP_VDEV_LOG},
			{"/srv/zz/l2.img", SP_VDEV_LOG},
			{"/srv/zz/s.img", SP_VDEV_SPARE},
	}},
	{"status_full.txt", "tan", false, {{"", 0}}},
	{"get_openzfs.txt", "tank", false, {{"", 0}}},
};

/* The tree of pool "p". */
#define TOP "  pool: p\nconfig:\n\n\tNAME    STATE     READ WRITE CKSUM\n" \
	"\tp       ONLINE       0     0     0\n"
#define LEAF(name) "\t  " name "  ONLINE       0     0     0\n"
#define END "\nerrors: No known data errors\n"

static const struct
{
	const char *name;
	const char *text;
	int			count;
	bool		more;
}			status_lines[] =
{
	{"empty", "", 0, false},
	{"plain", TOP LEAF("/dev/sda") LEAF("/dev/sdb") END, 2, false},
	{"CRLF", "pool: p\r\n" LEAF("/dev/sda") "  /dev/sdb  UNAVAIL\r\nerrors: no\r\n", 1, false},
	{"no pool", LEAF("/dev/sda") END, 0, false},
	{"another pool behind", TOP LEAF("/dev/sda") END "  pool: q\n" LEAF("/dev/sdb") END, 1, false},
	{"another pool before", "  pool: q\n" LEAF("/dev/sdb") TOP LEAF("/dev/sda") END, 1, false},
	{"without paths", TOP LEAF("sda") END, 0, false},
	{"files with errors", TOP LEAF("/dev/sda") "\nerrors: in these files:\n\n        /srv/pg/1  \n",
		1, false},
	/* without what follows, there may be more */
	{"cut off behind a leaf", TOP LEAF("/dev/sda"), 1, true},
	{"cut off in a state", TOP LEAF("/dev/sda") "\t  /dev/sdc  UNAV", 1, true},
	{"line without a state", TOP LEAF("/dev/sda") "\t  /dev/sdb\n" END, 1, true},
	{"lost, state ends the line", TOP "\t  /dev/sda  UNAVAIL\n" END, 0, false},
};

TEST(knows_the_name_of_a_data_set)
{
	for (size_t i = 0; i < lengthof(name_cases); i++)
	{
		char		pool[256];

		if (sp_zfs_is_dataset_name(name_cases[i].name) !=
			(name_cases[i].pool != NULL))
			fail_msg("\"%s\"", name_cases[i].name);
		sp_zfs_pool_name(name_cases[i].name, pool);
		if (name_cases[i].pool != NULL)
			assert_string_equal(pool, name_cases[i].pool);
	}
}

TEST(knows_how_long_a_name_may_be)
{
	char		name[258];
	char		pool[256];

	memset(name, 'a', sizeof(name));
	name[255] = '\0';
	assert_true(sp_zfs_is_dataset_name(name));
	sp_zfs_pool_name(name, pool);
	assert_string_equal(pool, name);
	name[255] = 'a';
	name[256] = '\0';
	assert_false(sp_zfs_is_dataset_name(name));
	sp_zfs_pool_name(name, pool);
	assert_string_equal(pool, "");
	/* what counts is the whole, but only the pool's is copied */
	name[255] = '/';
	name[256] = 'x';
	name[257] = '\0';
	assert_false(sp_zfs_is_dataset_name(name));
	sp_zfs_pool_name(name, pool);
	assert_int_equal(strlen(pool), 255);
}

TEST(reads_properties)
{
	for (size_t i = 0; i < lengthof(property_cases); i++)
	{
		const property_case *row = &property_cases[i];
		size_t		length;
		char	   *text = read_fixture("zfs", row->file, &length, 1);
		sp_zfs		zfs;

		sp_zfs_init(&zfs);
		if (sp_zfs_parse_properties(text, row->dataset, &zfs) != row->found ||
			strcmp(zfs.sync, row->sync) != 0 || strcmp(zfs.logbias, row->logbias) != 0 ||
			zfs.recordsize != row->recordsize)
			fail_msg("%s, %s: sync \"%s\", logbias \"%s\", recordsize %lld", row->file,
					 row->dataset, zfs.sync, zfs.logbias, (long long) zfs.recordsize);
		free(text);
	}
}

TEST(reads_odd_lines_of_properties)
{
	for (size_t i = 0; i < lengthof(property_lines); i++)
	{
		char	   *text = strdup(property_lines[i].text);
		sp_zfs		zfs;
		bool		found;

		sp_zfs_init(&zfs);
		found = sp_zfs_parse_properties(text, "d", &zfs);
		if (strcmp(zfs.sync, property_lines[i].sync) != 0 ||
			zfs.recordsize != property_lines[i].recordsize ||
			found != (zfs.sync[0] != '\0' || zfs.recordsize != -1))
			fail_msg("%s: sync \"%s\", recordsize %lld, found %d", property_lines[i].name,
					 zfs.sync, (long long) zfs.recordsize, found);
		free(text);
	}
}

TEST(finds_the_leaves_of_a_pool)
{
	for (size_t i = 0; i < lengthof(status_cases); i++)
	{
		const status_case *row = &status_cases[i];
		size_t		length;
		char	   *text = read_fixture("zfs", row->file, &length, 1);
		int			count = 0;
		sp_zfs		zfs;

		sp_zfs_init(&zfs);
		while (count < MAX_LEAVES && row->leaves[count].path[0] != '\0')
			count++;
		if (sp_zfs_parse_status(text, row->pool, &zfs) != (count > 0) ||
			zfs.nvdevs != count || zfs.more_vdevs != row->more)
			fail_msg("%s, %s: %d leaves, expected %d; more is %d", row->file, row->pool,
					 zfs.nvdevs, count, zfs.more_vdevs);
		for (int k = 0; k < count; k++)
		{
			if (strcmp(zfs.vdevs[k].path, row->leaves[k].path) != 0 ||
				zfs.vdevs[k].use != row->leaves[k].use)
				fail_msg("%s, %s: leaf %d is \"%s\" for %d, expected \"%s\"", row->file, row->pool,
						 k, zfs.vdevs[k].path, (int) zfs.vdevs[k].use, row->leaves[k].path);
		}
		free(text);
	}
}

TEST(reads_odd_trees)
{
	for (size_t i = 0; i < lengthof(status_lines); i++)
	{
		char	   *text = strdup(status_lines[i].text);
		sp_zfs		zfs;

		sp_zfs_init(&zfs);
		if (sp_zfs_parse_status(text, "p", &zfs) != (status_lines[i].count > 0) ||
			zfs.nvdevs != status_lines[i].count ||
			zfs.more_vdevs != status_lines[i].more)
			fail_msg("%s: %d leaves, more is %d", status_lines[i].name,
					 zfs.nvdevs, zfs.more_vdevs);
		free(text);
	}
}

/* An unknown section, here "news", counts as data, and ends the logs. */
TEST(takes_other_parts_for_data)
{
	char		text[] = TOP "\tlogs\n" LEAF("/dev/sda")
		"\tnews\t\n" LEAF("/dev/sdb") "\tcache\n" LEAF("/dev/sdc")
		TOP LEAF("/dev/sdd") END;
	static const sp_vdev_use uses[] = {
		SP_VDEV_LOG, SP_VDEV_DATA, SP_VDEV_CACHE, SP_VDEV_DATA,
	};
	sp_zfs		zfs;

	sp_zfs_init(&zfs);
	assert_true(sp_zfs_parse_status(text, "p", &zfs));
	assert_int_equal(zfs.nvdevs, lengthof(uses));
	for (size_t i = 0; i < lengthof(uses); i++)
		assert_int_equal(zfs.vdevs[i].use, uses[i]);
}

/*
 * Output cut off anywhere has no leaf that the whole does not have, and is
 * marked as incomplete if it has fewer.
 */
TEST(invents_nothing_when_cut_off)
{
	size_t		length;
	char	   *text = read_fixture("zfs", "status_full.txt", &length, 1);
	char	   *whole_text = strdup(text);
	sp_zfs		whole;

	sp_zfs_init(&whole);
	assert_true(sp_zfs_parse_status(whole_text, "tank", &whole));
	free(whole_text);
	for (size_t cut = 0; cut < length; cut++)
	{
		char	   *copy = strndup(text, cut);
		sp_zfs		zfs;

		sp_zfs_init(&zfs);
		sp_zfs_parse_status(copy, "tank", &zfs);
		assert_true(zfs.nvdevs <= whole.nvdevs);
		assert_memory_equal(zfs.vdevs, whole.vdevs,
							(size_t) zfs.nvdevs * sizeof(zfs.vdevs[0]));
		assert_true(zfs.nvdevs == 0 || zfs.nvdevs == whole.nvdevs ||
					zfs.more_vdevs);
		free(copy);
	}
	free(text);
}

TEST(says_when_there_are_more)
{
	char		whole[16384] = TOP;
	size_t		length = strlen(whole);
	sp_zfs		zfs;

	for (int leaves = 1; leaves <= SP_ZFS_MAX_VDEVS + 1; leaves++)
	{
		char		text[sizeof(whole)];

		length += (size_t) sprintf(whole + length, LEAF("/x%03d"), leaves);
		strcpy(text, whole);
		strcat(text, END);
		sp_zfs_init(&zfs);
		assert_true(sp_zfs_parse_status(text, "p", &zfs));
		assert_int_equal(zfs.more_vdevs, leaves > SP_ZFS_MAX_VDEVS);
		assert_int_equal(zfs.nvdevs,
						 leaves > SP_ZFS_MAX_VDEVS ? SP_ZFS_MAX_VDEVS : leaves);
	}
	assert_string_equal(zfs.vdevs[SP_ZFS_MAX_VDEVS - 1].path, "/x064");
	/* what was known of another pool is gone */
	assert_false(sp_zfs_parse_status((char[]) {""}, "p", &zfs));
	assert_int_equal(zfs.nvdevs, 0);
	assert_false(zfs.more_vdevs);
}

/* Half a path would be the path of another file. */
TEST(leaves_out_a_path_that_is_too_long)
{
	for (int width = 255; width <= 256; width++)
	{
		char		path[300];
		char		text[2048];
		sp_zfs		zfs;

			memset(path, '/', sizeof(path));
		path[width] = '\0';
		sprintf(text, TOP "\t  %s  ONLINE       0\n" END, path);
		sp_zfs_init(&zfs);
		assert_int_equal(sp_zfs_parse_status(text, "p", &zfs),
						 width == 255);
		assert_int_equal(zfs.more_vdevs, width > 255);
		assert_string_equal(zfs.vdevs[0].path, width == 255 ? path : "");
	}
}

TEST(lets_log_devices_decide)
{
	sp_zfs		zfs;

	sp_zfs_init(&zfs);
	strcpy(zfs.logbias, "latency");
	zfs.nvdevs = 2;
	zfs.vdevs[0].use = SP_VDEV_DATA;
	zfs.vdevs[1].use = SP_VDEV_CACHE;
	assert_false(sp_zfs_log_devices_decide(&zfs));
	zfs.vdevs[1].use = SP_VDEV_LOG;
	assert_true(sp_zfs_log_devices_decide(&zfs));
	/* another log device may be missing in the list */
	zfs.more_vdevs = true;
	assert_false(sp_zfs_log_devices_decide(&zfs));
	zfs.more_vdevs = false;
	strcpy(zfs.logbias, "throughput");
	assert_false(sp_zfs_log_devices_decide(&zfs));
	strcpy(zfs.logbias, "");
	assert_false(sp_zfs_log_devices_decide(&zfs));
}

TEST_MAIN(NULL, NULL)
