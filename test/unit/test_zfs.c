/*
 * Tests of src/engine/storage/zfs.c on captured and generated outputs.
 *
 * It must not: start a tool, or look at the ZFS of the machine it runs on.  To
 * add an output, add a file in test/fixtures/zfs and a row of the tables below.
 */
#include "fixtures.h"

#include "engine/storage/zfs.h"

/* Of a data set: "SYNC LOGBIAS RECORDSIZE", where nothing and 0 are unknown. */
static const struct
{
	const char *printed;
	const char *dataset;
	const char *properties;
}			property_cases[] =
{
	{"@zfs/get_openzfs.txt", "tank/pg", "standard throughput 131072"},
	/* the values of a user's own properties do not count */
	{"d\tsync\tdisabled\tlocal\nd\tcom.example:sync\talways\tlocal\n", "d", "disabled  0"},
	{"big pool/d e\tsync\talways\tinherited from big pool\n", "big pool/d e", "always  0"},
	/* knows no sync: the log is always written */
	{"@zfs/get_zfs_fuse.txt", "spz", " latency 131072"}, {"@zfs/get_openzfs.txt", "tank", "  0"},
	/* cut off, no source, blanks for tabs, not told, empty */
	{"d\tsync\tdisabled\tloc", "d", "  0"}, {"d\tsync\tdisabled\n", "d", "  0"},
	{"d  sync  disabled  local\n", "d", "  0"}, {"d\tsync\t-\t-\n", "d", "  0"},
	{"d\tsync\t\tlocal\n", "d", "  0"},
	/* the longest value, and a longer one */
	{"d\tsync\t123456789012345\tlocal\n", "d", "123456789012345  0"},
	{"d\tsync\t1234567890123456\tlocal\n", "d", "  0"}, {"d\trecordsize\t128K\t-\n", "d", "  0"},
};

/* The tree of pool "p". */
#define TOP "  pool: p\nconfig:\n\n\tNAME    STATE     READ WRITE CKSUM\n" \
	"\tp       ONLINE       0     0     0\n"
#define LEAF(name) "\t  " name "  ONLINE       0     0     0\n"
#define END "\nerrors: No known data errors\n"

/* The longest path and the longest name. */
#define PATH_255 "/" X51 X51 X51 X51 "/dev/gptid/3f1c9a30-2d52-11ef-9d1c-0cc47a000001xxx"
#define NAME_255 X51 X51 X51 X51 X51

/* The leaves of a pool, in order, as describe() has them. */
static const struct
{
	const char *printed;
	const char *pool;
	const char *leaves;
}			status_cases[] =
{
	/* the number of a disk stands for the one it replaces, which is gone */
	{"@zfs/status_full.txt", "tank",
		"/dev/disk/by-id/wwn-0x5000c500a1b2c301-part1 /dev/disk/by-id/wwn-0x5000c500a1b2c302-part1 "
		"/dev/disk/by-id/wwn-0x5000c500a1b2c304-part1 /dev/sdf1 /dev/sdg1 /dev/nvme0n1p3 "
		"/dev/nvme1n1p3 log:/dev/nvme0n1p1 log:/dev/nvme1n1p1 cache:/dev/nvme2n1p1 "
	"spare:/dev/sdf1 spare:/dev/sdh1 "},
	{"@zfs/status_raidz.txt", "big pool",
		"/dev/da0p3 /dev/gpt/disk1 /dev/gptid/3f1c9a30-2d52-11ef-9d1c-0cc47a000001 "
	"/srv/files/a disk.img /dev/da5 log:/dev/nda0p1 "},
	{"@zfs/status_zfs_fuse_mirror.txt", "spm",
	"/srv/zz/b.img log:/srv/zz/l1.img log:/srv/zz/l2.img spare:/srv/zz/s.img "},
	{"@zfs/status_full.txt", "tan", ""},
	{"pool: p\r\n" LEAF("/dev/sda") "  /dev/sdb  UNAVAIL\r\nerrors: no\r\n", "p",
	"/dev/sda "},
	/* no pool, and another one before it */
	{LEAF("/dev/sda") END, "p", ""},
	{"  pool: q\n" LEAF("/dev/sdb") TOP LEAF("/dev/sda") END, "p", "/dev/sda "},
	{TOP LEAF("/dev/sda") "\t  /dev/sdb\n" END, "p", "/dev/sda and more"},
	/* half a path would be the path of another file */
	{TOP LEAF(PATH_255) END, "p", PATH_255 " "},
	{TOP LEAF("/dev/sda") LEAF(PATH_255 "x") END, "p", "/dev/sda and more"},
	/* an unknown section counts as data, and ends the logs */
	{TOP "\tlogs\n" LEAF("/dev/sda") "\tnews\t\n" LEAF("/dev/sdb")
		  "\tcache\n" LEAF("/dev/sdc") TOP LEAF("/dev/sdd") END, "p",
	"log:/dev/sda /dev/sdb cache:/dev/sdc /dev/sdd "},
};

TEST(knows_the_name_of_a_data_set)
{
	static const struct
	{
		const char *name;
		bool		is_name;
		const char *pool;
	}			rows[] =
	{
		{"tank", true, "tank"}, {"tank/pg/wal", true, "tank"},
		{"big pool/pg data", true, "big pool"}, {"", false, ""}, {"-tank", false, "-tank"},
		/* no part of a name that is too long is another pool */
		{NAME_255, true, NAME_255}, {NAME_255 "x", false, ""},
	};

	FOR_EACH(row, rows)
	{
		char		pool[256];

		assert_int_equal(sp_zfs_is_dataset_name(row->name), row->is_name);
		sp_zfs_pool_name(row->name, pool);
		assert_string_equal(pool, row->pool);
	}
}

static const char *
describe(const sp_zfs *zfs)
{
	static const char *const uses[] = {
		[SP_VDEV_DATA] = "",[SP_VDEV_LOG] = "log:",[SP_VDEV_CACHE] = "cache:",
		[SP_VDEV_SPARE] = "spare:"
	};
	static char text[SP_ZFS_MAX_VDEVS * 300];
	sp_sentence to = sp_sentence_begin(text, sizeof(text));

	for (int i = 0; i < zfs->nvdevs; i++)
		sp_append(&to, "%s%s ", uses[zfs->vdevs[i].use], zfs->vdevs[i].path);
	sp_append(&to, zfs->more_vdevs ? "and more" : "");
	return text;
}

TEST(reads_properties)
{
	FOR_EACH(row, property_cases)
	{
		char	   *text = fixture_text(row->printed);
		char		properties[64];
		sp_zfs		zfs = {0};
		bool		found = sp_zfs_parse_properties(text, row->dataset, &zfs);

		snprintf(properties, sizeof(properties), "%s %s %lld", zfs.sync, zfs.logbias,
				 (long long) zfs.recordsize);
		if (strcmp(properties, row->properties) != 0 ||
			found != (strcmp(properties, "  0") != 0))
			fail_msg("%s: \"%s\", found %d", row->printed, properties, found);
		free(text);
	}
}

TEST(finds_the_leaves_of_a_pool)
{
	sp_zfs		zfs = {0};

	/* what was known of another pool is gone each time */
	FOR_EACH(row, status_cases)
	{
		char	   *text = fixture_text(row->printed);

		if (sp_zfs_parse_status(text, row->pool, &zfs) != (row->leaves[0] != '\0') ||
			strcmp(describe(&zfs), row->leaves) != 0)
			fail_msg("%s: \"%s\"", row->printed, describe(&zfs));
		free(text);
	}
}

/*
 * Output cut off anywhere has no leaf that the whole does not have, and is
 * marked as incomplete if it has fewer.
 */
TEST(invents_nothing_when_cut_off)
{
	char	   *text = read_fixture("zfs/status_full.txt");
	const char *whole = status_cases[0].leaves;

	for (size_t cut = 0; cut < strlen(text); cut++)
	{
		char	   *copy = strndup(text, cut);
		sp_zfs		zfs = {0};

		sp_zfs_parse_status(copy, "tank", &zfs);
		assert_true(zfs.nvdevs == 0 || zfs.more_vdevs || strcmp(describe(&zfs), whole) == 0);
		zfs.more_vdevs = false;
		assert_memory_equal(describe(&zfs), whole, strlen(describe(&zfs)));
		free(copy);
	}
	free(text);
}

TEST(says_when_there_are_more)
{
	for (int leaves = SP_ZFS_MAX_VDEVS; leaves <= SP_ZFS_MAX_VDEVS + 1; leaves++)
	{
		char		text[16384];
		sp_sentence to = sp_sentence_begin(text, sizeof(text));
		sp_zfs		zfs = {0};

		sp_append(&to, TOP);
		for (int i = 1; i <= leaves; i++)
			sp_append(&to, LEAF("/x%03d"), i);
		sp_append(&to, END);
		assert_true(sp_zfs_parse_status(text, "p", &zfs));
		assert_int_equal(zfs.more_vdevs, leaves > SP_ZFS_MAX_VDEVS);
		assert_int_equal(zfs.nvdevs, SP_ZFS_MAX_VDEVS);
		assert_string_equal(zfs.vdevs[SP_ZFS_MAX_VDEVS - 1].path, "/x064");
	}
}

/* Where there are any, with this logbias, and none may be missing in the list. */
TEST(lets_log_devices_decide)
{
	static const struct
	{
		sp_vdev_use use;
		const char *logbias;
		bool		more;
		bool		decide;
	}			rows[] =
	{
		{SP_VDEV_LOG, "latency", false, true}, {SP_VDEV_CACHE, "latency", false, false},
		{SP_VDEV_LOG, "latency", true, false}, {SP_VDEV_LOG, "throughput", false, false},
	};

	FOR_EACH(row, rows)
	{
		sp_zfs		zfs = {.nvdevs = 2,.more_vdevs = row->more};

		zfs.vdevs[1].use = row->use;
		strcpy(zfs.logbias, row->logbias);
		assert_int_equal(sp_zfs_log_devices_decide(&zfs), row->decide);
	}
}

TEST_MAIN(NULL, NULL)
