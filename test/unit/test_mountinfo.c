/*-------------------------------------------------------------------------
 *
 * test_mountinfo.c
 *	  Tests of src/engine/storage/mountinfo.c on captured and generated mountinfo.
 *
 * It must not: look at the mounts of the machine it runs on, or at timing.  To
 * add a kind of system, add a directory in test/fixtures/sysroot and a row of
 * the tables below.
 *
 *-------------------------------------------------------------------------
 */
#include "fixtures.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/storage/mountinfo.h"

/* The mount of a path; mount_point is NULL if there is none. */
typedef struct find_case
{
	const char *kind;
	const char *path;
	const char *mount_point;
	const char *fstype;
	const char *source;
	const char *mount_options;
} find_case;

static const find_case find_cases[] = {
	{"virtio_ext4", "/", "/", "ext4", "/dev/vda",
	"rw,relatime,discard,errors=remount-ro"},
	{"virtio_ext4", "/srv", "/", "ext4", "/dev/vda",
	"rw,relatime,discard,errors=remount-ro"},
	{"virtio_ext4", "/srv/pg", "/srv/pg", "ext4", "/dev/vdb",
	"rw,noatime,nobarrier,data=writeback"},
	{"virtio_ext4", "/srv/pg/", "/srv/pg", "ext4", "/dev/vdb",
	"rw,noatime,nobarrier,data=writeback"},
	{"virtio_ext4", "/srv/pg/16/main/pg_wal", "/srv/pg", "ext4", "/dev/vdb",
	"rw,noatime,nobarrier,data=writeback"},
	{"virtio_ext4", "/srv/pgx", "/", "ext4", "/dev/vda",
	"rw,relatime,discard,errors=remount-ro"},
	{"virtio_ext4", "srv/pg", NULL, NULL, NULL, NULL},
	{"virtio_ext4", "", NULL, NULL, NULL, NULL},
	/* a read-only bind mount of a writable file system is read-only */
	{"virtio_ext4", "/srv/readonly", "/srv/readonly", "ext4", "/dev/vdb",
	"ro,noatime,nobarrier,data=writeback"},
	{"nvme_xfs", "/var/lib/pgsql", "/", "xfs", "/dev/nvme0n1p2",
	"rw,relatime,attr2,inode64,logbufs=8,logbsize=32k,noquota"},
	{"sda_partition", "/var/lib/postgresql/15", "/var/lib/postgresql", "ext4",
	"/dev/sda5", "rw,noatime,stripe=64"},
	{"btrfs", "/srv/pg/x", "/srv/pg", "btrfs", "/dev/vda2",
	"rw,noatime,discard=async,space_cache=v2,subvolid=257,subvol=/@pg"},
	{"zfs", "/srv/pg/wal/0", "/srv/pg/wal", "zfs", "tank/pg/wal",
	"rw,noatime,xattr,noacl,casesensitive"},
	{"network", "/srv/sshfs/x", "/srv/sshfs", "fuse.sshfs",
		"postgres@filer.example.com:/pg",
	"rw,nosuid,nodev,relatime,user_id=0,group_id=0"},
	{"tmpfs", "/srv/nameless", "/srv/nameless", "tmpfs", "",
	"rw,relatime,size=8192k"},
	{"overlay", "/var/lib/postgresql/data/base", "/var/lib/postgresql/data",
	"ext4", "/dev/vda1", "rw,relatime,discard,errors=remount-ro"},

	{"escapes", "/srv/with space/x", "/srv/with space", "ext4", "/dev/vdb",
	"rw,relatime"},
	{"escapes", "/srv/with\\040space", "/", "ext4", "/dev/vda", "rw,relatime"},
	{"escapes", "/srv/tab\tnewline\nend", "/srv/tab\tnewline\nend", "ext4",
	"/dev/vdb", "rw,relatime"},
	{"escapes", "/srv/back\\slash", "/srv/back\\slash", "ext4", "/dev/vdb",
	"rw,relatime"},
	/* decoded once: an escaped backslash does not begin an escape */
	{"escapes", "/srv/literal\\040", "/srv/literal\\040", "ext4", "/dev/vdb",
	"rw,relatime"},
	{"escapes", "/srv/hash", "/srv/hash", "tmpfs", "a#b c",
	"rw,relatime,size=1k"},
	/* an escaped comma separates nothing, so this is not read-only */
	{"escapes", "/srv/comma", "/srv/comma", "overlay", "overlay",
	"rw,relatime,lowerdir=/a\\054ro b,upperdir=/u"},
	{"escapes", "/srv/nul_option", "/srv/nul_option", "ext4", "/dev/vdb",
	"rw,relatime,a\\000b"},
	{"escapes", "/srv/nul", "/", "ext4", "/dev/vda", "rw,relatime"},
	{"escapes", "/srv/nul\\000", "/srv/nul\\000", "ext4", "/dev/vdb",
	"rw,relatime"},
	{"escapes", "/srv/toobig\\777", "/srv/toobig\\777", "ext4", "/dev/vdb",
	"rw,relatime"},
	{"escapes", "/srv/short\\04", "/srv/short\\04", "ext4", "/dev/vdb",
	"rw,relatime"},
	{"escapes", "/srv/m\303\274nchen", "/srv/m\303\274nchen", "ext4",
	"/dev/vdb", "rw,relatime"},

	{"overmounted", "/data/pg/base", "/data/pg", "ext4", "/dev/vde",
	"rw,relatime,nodelalloc"},
	{"overmounted", "/data/pgsql", "/data", "ext4", "/dev/vdb", "rw,relatime"},
	{"overmounted", "/database/x", "/database", "ext4", "/dev/vdd",
	"rw,relatime"},
	{"overmounted", "/dat", "/", "ext4", "/dev/vda", "rw,relatime"},
	/* a read-only super block below a writable mount is read-only */
	{"overmounted", "/early", "/early", "ext4", "/dev/vdf", "ro,relatime"},

	{"malformed", "/nodash", "/", "ext4", "/dev/vda", "rw,relatime"},
	{"malformed", "/good/many_optional", "/good/many_optional", "ext4",
	"/dev/vdb", "rw,relatime"},
	{"malformed", "/good/no_optional", "/good/no_optional", "ext4",
	"/dev/vdb", "rw,relatime"},
	{"malformed", "/good/dash_source", "/good/dash_source", "ext4", "-",
	"rw,relatime"},
	{"malformed", "/good/repeated", "/good/repeated", "ext4", "/dev/vdb",
	"rw,relatime,nobarrier,relatim"},
	{"malformed", "/good/blank_in_options", "/good/blank_in_options", "ext4",
	"/dev/vdb", "rw,relatime,unescaped=a b"},
	{"malformed", "/good/no_newline", "/good/no_newline", "ext4", "/dev/vdb",
	"rw,relatime"},
};

/* How many lines of each kind are understood. */
static const struct
{
	const char *kind;
	size_t		count;
}			count_cases[] =
{
	{"virtio_ext4", 6}, {"nvme_xfs", 2}, {"nvme_multipath", 2},
	{"sda_partition", 2}, {"dev_root", 2}, {"loop", 3}, {"btrfs", 7},
	{"dm_nvme", 1}, {"md0", 3}, {"zfs", 3}, {"network", 7}, {"tmpfs", 4},
	{"overlay", 4}, {"no_sysfs", 1}, {"escapes", 12}, {"overmounted", 6},
	{"odd_attributes", 9}, {"malformed", 7}, {"lvm_on_md", 3}, {"raid1", 1},
	{"loop_stack", 22}, {"dm_cycle", 4}, {"overlay_host", 23},
};

/* Are the mounts of two paths of a kind the same file system? */
static const struct
{
	const char *kind;
	const char *a;
	const char *b;
	bool		same;
}			same_cases[] =
{
	{"virtio_ext4", "/srv/pg", "/srv/readonly", true},
	{"virtio_ext4", "/", "/srv/pg", false},
	{"btrfs", "/", "/srv/pg", true},
	{"btrfs", "/", "/srv/whole", false},
	{"zfs", "/srv/pg", "/srv/pg/wal", false},
	{"overlay", "/etc/hostname", "/var/lib/postgresql/data", true},
	{"overlay", "/", "/var/lib/postgresql/data", false},
};

/* The mount where the data of a mount is stored; NULL if unknown. */
static const struct
{
	const char *kind;
	const char *mount_point;
	const char *beneath;
}			beneath_cases[] =
{
	{"virtio_ext4", "/srv/pg", "/srv/pg"},
	{"network", "/srv/nfs", "/srv/nfs"},
	{"zfs", "/srv/pg/wal", "/srv/pg/wal"},
	/* in a container the upper directory is a path of the host */
	{"overlay", "/", NULL},
	{"overlay", "/var/lib/postgresql/data", "/var/lib/postgresql/data"},
	{"overlay_host", "/", "/"},
	{"overlay_host", "/var/lib/docker/overlay2/c0ffee/merged",
	"/var/lib/docker"},
	{"overlay_host", "/mnt/two", "/var/lib/docker"},
	{"overlay_host", "/mnt/on_tmpfs", "/run"},
	{"overlay_host", "/mnt/slash_at_end", "/"},
	{"overlay_host", "/mnt/dotted_names", "/"},
	{"overlay_host", "/mnt/comma", "/srv/a,b:c"},
	{"overlay_host", "/mnt/escaped_comma", "/srv/a,b:c"},
	{"overlay_host", "/mnt/backslash", "/srv/d\\e f"},
	{"overlay_host", "/mnt/readonly", NULL},
	{"overlay_host", "/mnt/relative", NULL},
	{"overlay_host", "/mnt/dots", NULL},
	{"overlay_host", "/mnt/dot", NULL},
	{"overlay_host", "/mnt/slashes", NULL},
	{"overlay_host", "/mnt/similar", "/"},
	{"overlay_host", "/mnt/itself", NULL},
	{"overlay_host", "/mnt/circle1", NULL},
	/* a file system of its own, whatever its options are */
	{"overlay_host", "/mnt/fuse", "/mnt/fuse"},
};

/* Lines that cannot be kept in a text file, and how many are understood. */
static const struct
{
	const char *name;
	const char *bytes;
	size_t		length;
	size_t		count;
}			raw_cases[] =
{
#define RAW(bytes) bytes, sizeof(bytes) - 1
	{"empty file", RAW(""), 0},
	{"empty lines", RAW("\n\n\n"), 0},
	{"NUL in a line", RAW("1 0 8:1 / /a\0b rw - ext4 /dev/sda1 rw\n"), 0},
	{"NUL at the end", RAW("1 0 8:1 / /a rw - ext4 /dev/sda1 rw\0\n"), 0},
	{"line after NUL", RAW("\0\n1 0 8:1 / /a rw - ext4 /dev/sda1 rw\n"), 1},
	{"cut short", RAW("1 0 8:1 / /a rw - ext4 /dev/sda1"), 0},
	{"only blanks", RAW("                \n"), 0},
	{"no newline at the end", RAW("1 0 8:1 / /a rw - ext4 /dev/sda1 rw"), 1},
	{"empty options", RAW("1 0 8:1 / /a  - ext4 /dev/sda1 \n"), 1},
};

static sp_mount_table *
read_mounts(const char *kind)
{
	char		sysroot[PATH_MAX];
	sp_mount_table *table;
	int			fd = lowest_free_descriptor();
	int			status;

	fixture_path(sysroot, kind);
	status = sp_mount_table_read(sysroot, &table);
	assert_int_equal(lowest_free_descriptor(), fd);
	if (status != 0)
		fail_msg("%s: %s", sysroot, strerror(status));
	assert_non_null(table);
	return table;
}

static void
check_string(const find_case *row, const char *field, const char *found,
			 const char *expected)
{
	if (strcmp(found, expected) != 0)
		fail_msg("%s, path \"%s\": %s is \"%s\", expected \"%s\"",
				 row->kind, row->path, field, found, expected);
}

static void
check_find(const find_case *row)
{
	sp_mount_table *table = read_mounts(row->kind);
	const sp_mount *mount = sp_mount_table_find(table, row->path);

	if ((mount == NULL) != (row->mount_point == NULL))
		fail_msg("%s, path \"%s\": mount point is %s", row->kind, row->path,
				 mount == NULL ? "missing" : mount->mount_point);
	if (mount != NULL)
	{
		check_string(row, "mount_point", mount->mount_point, row->mount_point);
		check_string(row, "fstype", mount->fstype, row->fstype);
		check_string(row, "source", mount->source, row->source);
		check_string(row, "mount_options", mount->mount_options,
					 row->mount_options);
	}
	sp_mount_table_free(table);
}

static void
finds_the_mount_of_a_path(void **state)
{
	(void) state;
	for (size_t i = 0; i < lengthof(find_cases); i++)
		check_find(&find_cases[i]);
}

static void
understands_the_lines_it_should(void **state)
{
	(void) state;
	for (size_t i = 0; i < lengthof(count_cases); i++)
	{
		sp_mount_table *table = read_mounts(count_cases[i].kind);

		if (sp_mount_table_count(table) != count_cases[i].count)
			fail_msg("%s: %zu mounts, expected %zu", count_cases[i].kind,
					 sp_mount_table_count(table), count_cases[i].count);
		sp_mount_table_free(table);
	}
}

static void
keeps_number_and_root(void **state)
{
	sp_mount_table *table = read_mounts("escapes");
	const sp_mount *mount = sp_mount_table_find(table, "/srv/with space");

	(void) state;
	assert_non_null(mount);
	assert_int_equal(mount->dev_major, 254);
	assert_int_equal(mount->dev_minor, 16);
	assert_string_equal(mount->root, "/pg data");
	sp_mount_table_free(table);
}

static void
tells_file_systems_apart(void **state)
{
	(void) state;
	for (size_t i = 0; i < lengthof(same_cases); i++)
	{
		sp_mount_table *table = read_mounts(same_cases[i].kind);
		const sp_mount *a = sp_mount_table_find(table, same_cases[i].a);
		const sp_mount *b = sp_mount_table_find(table, same_cases[i].b);

		if (sp_mount_same_filesystem(a, b) != same_cases[i].same ||
			sp_mount_same_filesystem(b, a) != same_cases[i].same)
			fail_msg("%s: %s and %s", same_cases[i].kind, same_cases[i].a,
					 same_cases[i].b);
		sp_mount_table_free(table);
	}
}

static void
compares_btrfs_by_source(void **state)
{
	char		btrfs[] = "btrfs";
	char		ext4[] = "ext4";
	char		vda[] = "/dev/vda";
	char		vdb[] = "/dev/vdb";
	char		empty[] = "";
	sp_mount	a = {.dev_minor = 31,.fstype = btrfs,.source = vda};
	sp_mount	b = {.dev_minor = 32,.fstype = btrfs,.source = vda};

	(void) state;
	assert_true(sp_mount_same_filesystem(&a, &b));
	b.source = vdb;
	assert_false(sp_mount_same_filesystem(&a, &b));
	a.source = b.source = empty;
	assert_false(sp_mount_same_filesystem(&a, &b));
	a.source = b.source = vda;
	a.fstype = ext4;
	assert_false(sp_mount_same_filesystem(&a, &b));
	assert_false(sp_mount_same_filesystem(&b, &a));
	b.fstype = ext4;
	assert_false(sp_mount_same_filesystem(&a, &b));
	b.dev_minor = 31;
	b.dev_major = 8;
	assert_false(sp_mount_same_filesystem(&a, &b));
	assert_false(sp_mount_same_filesystem(&a, NULL));
	assert_false(sp_mount_same_filesystem(NULL, NULL));
}

static void
tells_what_lies_beneath(void **state)
{
	(void) state;
	for (size_t i = 0; i < lengthof(beneath_cases); i++)
	{
		sp_mount_table *table = read_mounts(beneath_cases[i].kind);
		const char *expected = beneath_cases[i].beneath;
		const sp_mount *mount = sp_mount_table_find(table,
													beneath_cases[i].mount_point);
		const sp_mount *found;

		assert_string_equal(mount->mount_point, beneath_cases[i].mount_point);
		found = sp_mount_beneath(table, mount);
		if ((found == NULL) != (expected == NULL) ||
			(found != NULL && strcmp(found->mount_point, expected) != 0))
			fail_msg("%s, \"%s\": \"%s\"", beneath_cases[i].kind,
					 beneath_cases[i].mount_point,
					 found == NULL ? "none" : found->mount_point);
		sp_mount_table_free(table);
	}
}

/* The longest path there can be, and one more. */
static void
tells_no_upper_directory_from_its_beginning(void **state)
{
	static const char before[] = "rw,upperdir=/";
	char		options[sizeof(before) + PATH_MAX];
	char		fstype[] = "overlay";
	sp_mount	mount = {.fstype = fstype,.mount_options = options};
	sp_mount_table *table = read_mounts("virtio_ext4");

	(void) state;
	memset(options, 'x', sizeof(options));
	memcpy(options, before, sizeof(before) - 1);
	options[sizeof(before) - 1 + PATH_MAX - 2] = '\0';
	assert_non_null(sp_mount_beneath(table, &mount));
	options[sizeof(before) - 1 + PATH_MAX - 2] = 'x';
	options[sizeof(before) - 1 + PATH_MAX - 1] = '\0';
	assert_null(sp_mount_beneath(table, &mount));
	/* an escape that ends with the list */
	strcpy(options, "upperdir=/srv/x\\");
	assert_non_null(sp_mount_beneath(table, &mount));
	strcpy(options, "upperdir=");
	assert_null(sp_mount_beneath(table, &mount));
	sp_mount_table_free(table);
}

static FILE *
create_mountinfo(const char *sysroot)
{
	char		path[PATH_MAX];
	FILE	   *file;

	assert_true(make_tree(sysroot, "proc/self/mountinfo:\n"));
	snprintf(path, sizeof(path), "%s/proc/self/mountinfo", sysroot);
	file = fopen(path, "w");
	assert_non_null(file);
	return file;
}

static void
skips_what_is_no_line(void **state)
{
	for (size_t i = 0; i < lengthof(raw_cases); i++)
	{
		FILE	   *file = create_mountinfo(*state);
		sp_mount_table *table;

		assert_int_equal(fwrite(raw_cases[i].bytes, 1, raw_cases[i].length,
								file), raw_cases[i].length);
		assert_int_equal(fclose(file), 0);
		assert_int_equal(sp_mount_table_read(*state, &table), 0);
		if (sp_mount_table_count(table) != raw_cases[i].count)
			fail_msg("%s: %zu mounts", raw_cases[i].name,
					 sp_mount_table_count(table));
		if (raw_cases[i].count == 0)
			assert_null(sp_mount_table_find(table, "/a"));
		sp_mount_table_free(table);
	}
}

/* Every mount is found again by a path of its own: no line is lost. */
static void
reads_ten_thousand_mounts(void **state)
{
	const unsigned mounts = 10000;
	FILE	   *file = create_mountinfo(*state);
	sp_mount_table *table;

	for (unsigned i = 0; i < mounts; i++)
		assert_true(fprintf(file, "%u 1 0:%u / /run/pods/%u/vol rw,relatime "
							"shared:%u - tmpfs tmpfs rw,size=%uk\n",
							i + 30, i + 40, i, i, i) > 0);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(sp_mount_table_read(*state, &table), 0);
	assert_int_equal(sp_mount_table_count(table), mounts);
	for (unsigned i = 0; i < mounts; i++)
	{
		char		path[64];
		const sp_mount *mount;

		snprintf(path, sizeof(path), "/run/pods/%u/vol/file", i);
		mount = sp_mount_table_find(table, path);
		assert_non_null(mount);
		assert_int_equal(mount->dev_minor, i + 40);
	}
	assert_null(sp_mount_table_find(table, "/run/pods/10000/vol"));
	sp_mount_table_free(table);
}

/* The line is longer than any likely buffer. */
static void
reads_a_very_long_line(void **state)
{
	const size_t layers = 20000;
	FILE	   *file = create_mountinfo(*state);
	sp_mount_table *table;
	const sp_mount *mount;

	fputs("1 0 0:58 / / rw - overlay overlay rw,lowerdir=", file);
	for (size_t i = 0; i < layers; i++)
		fputs("/layer:", file);
	fputs(",upperdir=/u\n", file);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(sp_mount_table_read(*state, &table), 0);
	mount = sp_mount_table_find(table, "/");
	assert_non_null(mount);
	assert_int_equal(strlen(mount->mount_options),
					 strlen("rw,lowerdir=,upperdir=/u") + layers * 7);
	sp_mount_table_free(table);
}

static void
reports_what_it_cannot_read(void **state)
{
	char		path[PATH_MAX + 100];
	sp_mount_table *table = (sp_mount_table *) path;

	assert_int_equal(sp_mount_table_read(*state, &table), ENOENT);
	assert_null(table);
	assert_int_equal(sp_mount_table_read("/nonexistent/sysroot", &table),
					 ENOENT);

	assert_true(make_tree(*state, "proc/self/mountinfo/a_directory:\n"));
	table = (sp_mount_table *) path;
	assert_int_equal(sp_mount_table_read(*state, &table), EISDIR);
	assert_null(table);

	/* any shortened path would still be a directory */
	for (size_t i = 0; i < sizeof(path) - 1; i++)
		path[i] = i % 2 == 0 ? '/' : '.';
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(sp_mount_table_read(path, &table), ENAMETOOLONG);
	assert_null(table);
}

static void
frees_nothing_gladly(void **state)
{
	(void) state;
	sp_mount_table_free(NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_the_mount_of_a_path),
		cmocka_unit_test(understands_the_lines_it_should),
		cmocka_unit_test(keeps_number_and_root),
		cmocka_unit_test(tells_file_systems_apart),
		cmocka_unit_test(compares_btrfs_by_source),
		cmocka_unit_test(tells_what_lies_beneath),
		cmocka_unit_test(tells_no_upper_directory_from_its_beginning),
		WITH_DIRECTORY(skips_what_is_no_line),
		WITH_DIRECTORY(reads_ten_thousand_mounts),
		WITH_DIRECTORY(reads_a_very_long_line),
		WITH_DIRECTORY(reports_what_it_cannot_read),
		cmocka_unit_test(frees_nothing_gladly),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("filesystem", tests, NULL, NULL);
}
