/*-------------------------------------------------------------------------
 *
 * test_zfs.c
 *	  Tests of src/engine/storage/zfs*.c on captured and generated outputs.
 *
 * It must not: start a tool, or look at the ZFS of the machine it runs on.  To
 * add an output, add a file in test/fixtures/zfs and a row of the tables below;
 * for the counters of a system, a file in test/fixtures/sysroot.
 *
 *-------------------------------------------------------------------------
 */
#include "fixtures.h"

#include "engine/storage/zfs.h"

#define RAW(bytes) bytes, sizeof(bytes) - 1

/* Which names may be given to the tools, and the pool of those that may. */
static const struct
{
	const char *name;
	const char *pool;			/* NULL: no name */
}			name_cases[] =
{
	{"tank", "tank"},
	{"tank/pg", "tank"},
	{"tank/pg/wal", "tank"},
	{"big pool/pg data", "big pool"},
	{"tank/...", "tank"},
	{"..a/b", "..a"},
	{"", NULL},
	{"-tank", NULL},
	{"/tank", NULL},
	{" tank", NULL},
	{"tank/pg ", NULL},
	{"tank/", NULL},
	{"..", NULL},
	{"../tank", NULL},
	{"tank/../../sys", NULL},
	{"tank@snapshot", NULL},
	{"tank\n", NULL},
	{"tank;reboot", NULL},
	{"t\303\244nk", NULL},
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
	size_t		length;
	const char *sync;
	int64_t		recordsize;
}			property_lines[] =
{
	{"plain", RAW("d\tsync\talways\tlocal\n"), "always", -1},
	{"CRLF", RAW("d\tsync\talways\tlocal\r\nd\trecordsize\t8192\t-\r\n"),
	"always", 8192},
	{"cut off before the end", RAW("d\tsync\tdisabled\tloc"), "", -1},
	{"without a source", RAW("d\tsync\tdisabled\n"), "", -1},
	{"blanks for tabs", RAW("d  sync  disabled  local\n"), "", -1},
	{"other data set", RAW("d/e\tsync\tdisabled\tlocal\n"), "", -1},
	{"not told", RAW("d\tsync\t-\t-\n"), "", -1},
	{"empty value", RAW("d\tsync\t\tlocal\n"), "", -1},
	{"NUL in the value", RAW("d\tsync\tdis\0abled\tlocal\n"), "", -1},
	{"fits", RAW("d\tsync\t123456789012345\tlocal\n"), "123456789012345", -1},
	{"too long", RAW("d\tsync\t1234567890123456\tlocal\n"), "", -1},
	{"the last one counts", RAW("d\tsync\talways\t-\nd\tsync\tdisabled\t-\n"),
	"disabled", -1},
	{"largest number", RAW("d\trecordsize\t9223372036854775807\t-\n"), "",
	INT64_MAX},
	{"beyond", RAW("d\trecordsize\t9223372036854775808\t-\n"), "", -1},
	{"for people", RAW("d\trecordsize\t128K\t-\n"), "", -1},
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
	/* two pools, of which one is called like a part */
	{"status_short_names.txt", "rpool", false, {
			{"sda3", SP_VDEV_DATA},
	}},
	{"status_short_names.txt", "logs", false, {
			{"ada0p3", SP_VDEV_DATA},
			{"ada1p1", SP_VDEV_LOG},
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

/* The text between the heading and the end of the tree of pool "p". */
#define HEADING "config:\n\n\tNAME    STATE     READ WRITE CKSUM\n"
#define TOP "\tp       ONLINE       0     0     0\n"
#define LEAF(name) "\t  " name "   ONLINE       0     0     0\n"
#define END "\nerrors: No known data errors\n"

static const struct
{
	const char *name;
	const char *text;
	size_t		length;
	int			count;
	bool		more;
}			status_lines[] =
{
	{"empty", RAW(""), 0, false},
	{"plain", RAW(HEADING TOP LEAF("sda") LEAF("sdb") END), 2, false},
	{"no config", RAW("\tNAME    STATE     READ\n" TOP LEAF("sda") END), 0,
	false},
	{"no heading", RAW("config:\n\n" TOP LEAF("sda") END), 0, false},
	{"no pool", RAW(HEADING LEAF("sda") END), 0, false},
	/* without what follows, it might have been a mirror */
	{"cut off behind a leaf", RAW(HEADING TOP LEAF("sda") LEAF("sdb")), 1,
	true},
	{"cut off in a state", RAW(HEADING TOP LEAF("sda") LEAF("sdb")
							   "\t  sdc   UNAV"), 1, true},
	{"cut off in the heading", RAW("config:\n\n\tNAME    STATE     RE"), 0,
	false},
	{"line without a state", RAW(HEADING TOP LEAF("sda") "\t  sdb\n" END), 1,
	true},
	{"state in another column", RAW(HEADING TOP LEAF("sda")
									"\t  sdb ONLINE  0 0 0\n" END), 1, true},
	{"line of blanks", RAW(HEADING TOP LEAF("sda") "\t \n" LEAF("sdb") END), 1,
	false},
	{"name over the column", RAW(HEADING TOP LEAF("sda")
								 "\t  longer_name ONLINE  0 0 0\n" END), 1,
	true},
	{"lost, state ends the line", RAW(HEADING TOP "\t  sda   UNAVAIL\n" END),
	0, false},
	{"NUL in a name", RAW(HEADING TOP LEAF("s\0a") LEAF("sdb") END), 1, true},
	{"config in the tree", RAW(HEADING TOP LEAF("sda") HEADING TOP LEAF("sdb")
							   END), 2, false},
	{"another pool in the tree", RAW(HEADING "\tq" "       ONLINE \n"
									 LEAF("sda") TOP LEAF("sdb") END), 0,
	false},
};

/* Counters of the data sets in test/fixtures/sysroot/zfs_kstat. */
static const struct
{
	const char *sysroot;
	const char *dataset;
	int			status;
	int64_t		commits;
	bool		whole_system;
}			commit_cases[] =
{
	{"zfs_kstat", "tank", 0, 17, false},
	{"zfs_kstat", "tank/pg", 0, 180994, false},
	/* a double would not hold it */
	{"zfs_kstat", "tank/pg/wal", 0, 9007199254740993, false},
	{"zfs_kstat", "tank/pg data", 0, 5, false},
	{"zfs_kstat", "big pool/pg data", 0, 4242, false},
	/* before OpenZFS 2.2, not mounted, another pool, in a file of the pool */
	{"zfs_kstat", "old/pg", 0, 200417, true},
	{"zfs_kstat", "tank/p", 0, 200417, true},
	{"zfs_kstat", "tank/pg/wal/x", 0, 200417, true},
	{"zfs_kstat", "other/pg", 0, 200417, true},
	{"zfs_kstat", "tank/none", 0, 200417, true},
	/* a file stands where its directory would */
	{"zfs_kstat", "zil/pg", 0, 200417, true},
	/* a counter that is not one of its kind, and one that is no number */
	{"zfs_kstat", "tank/typed", 0, 200417, true},
	{"zfs_kstat", "tank/odd", EINVAL, -1, false},
	{"zfs_kstat", "../zfs/tank", EINVAL, -1, false},
	{"zfs_kstat", "", EINVAL, -1, false},
	{"zfs", "tank/pg", ENOENT, -1, false},
};

/* Content of the counters of all pools. */
static const struct
{
	const char *name;
	const char *bytes;
	size_t		length;
	int			status;
	int64_t		commits;
}			kstat_cases[] =
{
#define KSTAT "1 1 0x01 1 48 1 2\nname  type data\n"
	{"plain", RAW(KSTAT "zil_commit_count  4    12\n"), 0, 12},
	{"empty", RAW(""), EINVAL, -1},
	{"cut off", RAW(KSTAT "zil_commit_count  4    12"), EINVAL, -1},
	{"empty value", RAW(KSTAT "zil_commit_count  4    \n"), EINVAL, -1},
	{"negative", RAW(KSTAT "zil_commit_count  4    -1\n"), EINVAL, -1},
	{"beyond", RAW(KSTAT "zil_commit_count  4    9223372036854775808\n"),
	EINVAL, -1},
};

static void
knows_the_name_of_a_data_set(void **state)
{
	(void) state;
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

static void
knows_how_long_a_name_may_be(void **state)
{
	char		name[258];
	char		pool[256];

	(void) state;
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

static void
check_string(const property_case *row, const char *property,
			 const char *found, const char *expected)
{
	if (strcmp(found, expected) != 0)
		fail_msg("%s, %s: %s is \"%s\", expected \"%s\"", row->file,
				 row->dataset, property, found, expected);
}

static void
check_properties(const property_case *row)
{
	size_t		length;
	char	   *text = read_fixture("zfs", row->file, &length, 0);
	sp_zfs		zfs;

	sp_zfs_init(&zfs);
	if (sp_zfs_parse_properties(text, length, row->dataset,
								&zfs) != row->found)
		fail_msg("%s, %s: found is not %d", row->file, row->dataset,
				 row->found);
	check_string(row, "sync", zfs.sync, row->sync);
	check_string(row, "logbias", zfs.logbias, row->logbias);
	if (zfs.recordsize != row->recordsize)
		fail_msg("%s, %s: recordsize is %lld", row->file, row->dataset,
				 (long long) zfs.recordsize);
	free(text);
}

static void
reads_properties(void **state)
{
	(void) state;
	for (size_t i = 0; i < lengthof(property_cases); i++)
		check_properties(&property_cases[i]);
}

static void
reads_odd_lines_of_properties(void **state)
{
	(void) state;
	for (size_t i = 0; i < lengthof(property_lines); i++)
	{
		const char *name = property_lines[i].name;
		size_t		length = property_lines[i].length;
		char	   *text = copy_bytes(property_lines[i].text, length);
		sp_zfs		zfs;
		bool		found;

		sp_zfs_init(&zfs);
		found = sp_zfs_parse_properties(text, length, "d", &zfs);
		if (strcmp(zfs.sync, property_lines[i].sync) != 0)
			fail_msg("%s: sync is \"%s\"", name, zfs.sync);
		if (zfs.recordsize != property_lines[i].recordsize)
			fail_msg("%s: recordsize is %lld", name,
					 (long long) zfs.recordsize);
		if (found != (zfs.sync[0] != '\0' || zfs.recordsize != -1))
			fail_msg("%s: found is %d", name, found);
		free(text);
	}
}

static void
check_leaves(const status_case *row, const char *text, size_t length)
{
	int			count = 0;
	sp_zfs		zfs;

	sp_zfs_init(&zfs);
	while (count < MAX_LEAVES && row->leaves[count].path[0] != '\0')
		count++;
	if (sp_zfs_parse_status(text, length, row->pool, &zfs) != (count > 0) ||
		zfs.nvdevs != count || zfs.more_vdevs != row->more)
		fail_msg("%s, %s: %d leaves, expected %d; more is %d", row->file, row->pool,
				 zfs.nvdevs, count, zfs.more_vdevs);
	for (int i = 0; i < count; i++)
	{
		if (strcmp(zfs.vdevs[i].path, row->leaves[i].path) != 0 ||
			zfs.vdevs[i].use != row->leaves[i].use)
			fail_msg("%s, %s: leaf %d is \"%s\" for %d, expected \"%s\"",
					 row->file, row->pool, i, zfs.vdevs[i].path,
					 (int) zfs.vdevs[i].use, row->leaves[i].path);
	}
}

static void
finds_the_leaves_of_a_pool(void **state)
{
	(void) state;
	for (size_t i = 0; i < lengthof(status_cases); i++)
	{
		size_t		length;
		char	   *text = read_fixture("zfs", status_cases[i].file, &length, 0);

		check_leaves(&status_cases[i], text, length);
		free(text);
	}
}

static void
reads_odd_trees(void **state)
{
	(void) state;
	for (size_t i = 0; i < lengthof(status_lines); i++)
	{
		size_t		length = status_lines[i].length;
		char	   *text = copy_bytes(status_lines[i].text, length);
		sp_zfs		zfs;

		sp_zfs_init(&zfs);
		if (sp_zfs_parse_status(text, length, "p", &zfs) !=
			(status_lines[i].count > 0) ||
			zfs.nvdevs != status_lines[i].count ||
			zfs.more_vdevs != status_lines[i].more)
			fail_msg("%s: %d leaves, more is %d", status_lines[i].name,
					 zfs.nvdevs, zfs.more_vdevs);
		free(text);
	}
}

/* An unknown section, here "news", counts as data, and ends the logs. */
static void
takes_other_parts_for_data(void **state)
{
	static const char text[] = HEADING TOP "\tlogs\n" LEAF("sda")
		"\tnews\t\n" LEAF("sdb") "\tcache\n" LEAF("sdc")
		HEADING TOP LEAF("sdd") END;
	static const sp_vdev_use uses[] = {
		SP_VDEV_LOG, SP_VDEV_DATA, SP_VDEV_CACHE, SP_VDEV_DATA,
	};
	sp_zfs		zfs;

	(void) state;
	sp_zfs_init(&zfs);
	assert_true(sp_zfs_parse_status(text, sizeof(text) - 1, "p", &zfs));
	assert_int_equal(zfs.nvdevs, lengthof(uses));
	for (size_t i = 0; i < lengthof(uses); i++)
		assert_int_equal(zfs.vdevs[i].use, uses[i]);
}

/*
 * Output cut off anywhere has no leaf that the whole does not have, and is
 * marked as incomplete if it has fewer.
 */
static void
invents_nothing_when_cut_off(void **state)
{
	size_t		length;
	char	   *text = read_fixture("zfs", "status_full.txt", &length, 0);
	sp_zfs		whole;

	(void) state;
	sp_zfs_init(&whole);
	assert_true(sp_zfs_parse_status(text, length, "tank", &whole));
	for (size_t cut = 0; cut < length; cut++)
	{
		char	   *copy = copy_bytes(text, cut);
		sp_zfs		zfs;

		sp_zfs_init(&zfs);
		sp_zfs_parse_status(copy, cut, "tank", &zfs);
		assert_true(zfs.nvdevs <= whole.nvdevs);
		assert_memory_equal(zfs.vdevs, whole.vdevs,
							(size_t) zfs.nvdevs * sizeof(zfs.vdevs[0]));
		assert_true(zfs.nvdevs == 0 || zfs.nvdevs == whole.nvdevs ||
					zfs.more_vdevs);
		free(copy);
	}
	free(text);
}

/* Appends to a text that must have room for it. */
static size_t
add_leaf(char *text, const char *path)
{
	return (size_t) sprintf(text, "\t  %s  ONLINE       0     0     0\n", path);
}

static void
says_when_there_are_more(void **state)
{
	char		text[16384] = HEADING TOP;
	size_t		length = strlen(text);
	sp_zfs		zfs;

	(void) state;
	for (int leaves = 1; leaves <= SP_ZFS_MAX_VDEVS + 1; leaves++)
	{
		char		path[8];

		snprintf(path, sizeof(path), "x%03d", leaves);
		length += add_leaf(text + length, path);
		strcpy(text + length, END);
		sp_zfs_init(&zfs);
		assert_true(sp_zfs_parse_status(text, strlen(text), "p", &zfs));
		assert_int_equal(zfs.more_vdevs, leaves > SP_ZFS_MAX_VDEVS);
		assert_int_equal(zfs.nvdevs,
						 leaves > SP_ZFS_MAX_VDEVS ? SP_ZFS_MAX_VDEVS : leaves);
	}
	assert_string_equal(zfs.vdevs[SP_ZFS_MAX_VDEVS - 1].path, "x064");
	/* what was known of another pool is gone */
	assert_false(sp_zfs_parse_status("", 0, "p", &zfs));
	assert_int_equal(zfs.nvdevs, 0);
	assert_false(zfs.more_vdevs);
}

/* Half a path would be the path of another file. */
static void
leaves_out_a_path_that_is_too_long(void **state)
{
	for (int width = 255; width <= 256; width++)
	{
		char		path[300];
		char		text[2048];
		int			length;
		sp_zfs		zfs;

		(void) state;
		memset(path, 'x', sizeof(path));
		path[width] = '\0';
		length = sprintf(text, "config:\n\n\t%-*s  STATE     READ\n"
						 "\t%-*s  ONLINE       0\n\t  %s  ONLINE       0\n\n",
						 width + 2, "NAME", width + 2, "p", path);
		sp_zfs_init(&zfs);
		assert_int_equal(sp_zfs_parse_status(text, (size_t) length, "p", &zfs),
						 width == 255);
		assert_int_equal(zfs.more_vdevs, width > 255);
		assert_string_equal(zfs.vdevs[0].path, width == 255 ? path : "");
	}
}

static void
reads_the_commits_of_a_data_set(void **state)
{
	(void) state;
	for (size_t i = 0; i < lengthof(commit_cases); i++)
	{
		char		sysroot[PATH_MAX];
		int			fd = lowest_free_descriptor();
		int64_t		commits = 99;
		bool		whole_system = !commit_cases[i].whole_system;
		int			status;

		fixture_path(sysroot, commit_cases[i].sysroot);
		status = sp_zfs_read_commits(sysroot, commit_cases[i].dataset,
									 &commits, &whole_system);
		if (status != commit_cases[i].status ||
			commits != commit_cases[i].commits ||
			whole_system != commit_cases[i].whole_system)
			fail_msg("%s: %s, %lld commits, whole system is %d",
					 commit_cases[i].dataset, strerror(status),
					 (long long) commits, whole_system);
		assert_int_equal(lowest_free_descriptor(), fd);
	}
}

static void
write_counters(const char *sysroot, const char *name, const char *bytes,
			   size_t length)
{
	char		path[PATH_MAX];
	FILE	   *file;

	snprintf(path, sizeof(path), "%s/proc/spl/kstat/zfs/%s", sysroot, name);
	assert_true(make_tree(sysroot, "proc/spl/kstat/zfs/p/txgs:\n"));
	file = fopen(path, "we");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, length, file), length);
	assert_int_equal(fclose(file), 0);
}

static void
reads_odd_counters(void **state)
{
	for (size_t i = 0; i < lengthof(kstat_cases); i++)
	{
		int64_t		commits = 99;
		bool		whole_system;
		int			status;

		write_counters(*state, "zil", kstat_cases[i].bytes,
					   kstat_cases[i].length);
		status = sp_zfs_read_commits(*state, "p/d", &commits, &whole_system);
		if (status != kstat_cases[i].status ||
			commits != kstat_cases[i].commits ||
			whole_system != (status == 0))
			fail_msg("%s: %s, %lld commits", kstat_cases[i].name,
					 strerror(status), (long long) commits);
	}
}

/* Files have up to 16 kB; larger ones are not read. */
static void
limits_the_size_of_counters(void **state)
{
	static const char counter[] = "zil_commit_count  4    12\n";
	char		text[16384];
	int64_t		commits;
	bool		whole_system;

	memset(text, '\n', sizeof(text));
	memcpy(text, counter, sizeof(counter) - 1);
	write_counters(*state, "zil", text, sizeof(text) - 1);
	assert_int_equal(sp_zfs_read_commits(*state, "p", &commits, &whole_system),
					 0);
	assert_int_equal(commits, 12);
	write_counters(*state, "zil", text, sizeof(text));
	assert_int_equal(sp_zfs_read_commits(*state, "p", &commits, &whole_system),
					 EINVAL);
}

static void
reports_what_it_cannot_read(void **state)
{
	char		path[PATH_MAX + 100];
	int64_t		commits = 99;
	bool		whole_system;

	assert_int_equal(sp_zfs_read_commits(*state, "p", &commits, &whole_system),
					 ENOENT);
	assert_int_equal(commits, -1);
	assert_true(make_tree(*state, "proc/spl/kstat/zfs/p/txgs:\n"));
	snprintf(path, sizeof(path), "%s/proc/spl/kstat/zfs/zil", (char *) *state);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(sp_zfs_read_commits(*state, "p", &commits, &whole_system),
					 EISDIR);
	snprintf(path, sizeof(path), "%s/proc/spl/kstat/zfs/p/objset-0x36",
			 (char *) *state);
	/* points to itself: neither missing nor readable */
	assert_int_equal(symlink("objset-0x36", path), 0);
	assert_int_equal(sp_zfs_read_commits(*state, "p", &commits, &whole_system),
					 ELOOP);
	assert_false(whole_system);

	/* any shortened path would still be a directory */
	for (size_t i = 0; i < sizeof(path) - 1; i++)
		path[i] = i % 2 == 0 ? '/' : '.';
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(sp_zfs_read_commits(path, "p", &commits, &whole_system),
					 ENAMETOOLONG);
	assert_int_equal(commits, -1);
}

static void
lets_log_devices_decide(void **state)
{
	sp_zfs		zfs;

	(void) state;
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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_the_name_of_a_data_set),
		cmocka_unit_test(knows_how_long_a_name_may_be),
		cmocka_unit_test(reads_properties),
		cmocka_unit_test(reads_odd_lines_of_properties),
		cmocka_unit_test(finds_the_leaves_of_a_pool),
		cmocka_unit_test(reads_odd_trees),
		cmocka_unit_test(takes_other_parts_for_data),
		cmocka_unit_test(invents_nothing_when_cut_off),
		cmocka_unit_test(says_when_there_are_more),
		cmocka_unit_test(leaves_out_a_path_that_is_too_long),
		cmocka_unit_test(reads_the_commits_of_a_data_set),
		WITH_DIRECTORY(reads_odd_counters),
		WITH_DIRECTORY(limits_the_size_of_counters),
		WITH_DIRECTORY(reports_what_it_cannot_read),
		cmocka_unit_test(lets_log_devices_decide),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("zfs", tests, NULL, NULL);
}
