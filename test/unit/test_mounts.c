/*-------------------------------------------------------------------------
 *
 * test_mounts.c
 *	  Tests of src/engine/storage/mounts.c on captured and generated mountinfo.
 *
 * It must not: look at the mounts of the machine it runs on, or at timing.  To
 * add a kind of system, add a file in test/fixtures/sysroot and a row of the
 * tables below.
 *
 *-------------------------------------------------------------------------
 */
#include "fixtures.h"

#include "engine/storage/mounts.h"

/* The mount of a path: mount point, type, source and options; NULL if there is none. */
static const struct
{
	const char *kind;
	const char *path;
	const char *text;
}			find_cases[] =
{
	{"virtio_ext4", "/", "/ ext4 /dev/vda rw,relatime,discard,errors=remount-ro"},
	{"virtio_ext4", "/srv/pg", "/srv/pg ext4 /dev/vdb rw,noatime,nobarrier,data=writeback"},
	{"virtio_ext4", "/srv/pgx", "/ ext4 /dev/vda rw,relatime,discard,errors=remount-ro"},
	{"virtio_ext4", "srv/pg", NULL},
	/* a read-only bind mount of a writable file system is read-only */
	{"virtio_ext4", "/srv/readonly",
		"/srv/readonly ext4 /dev/vdb ro,noatime,nobarrier,data=writeback"},
	{"btrfs", "/srv/pg/x",
		"/srv/pg btrfs /dev/vda2 rw,noatime,discard=async,space_cache=v2,subvolid=257,subvol=/@pg"},
	{"zfs", "/srv/pg/wal/0", "/srv/pg/wal zfs tank/pg/wal rw,noatime,xattr,noacl,casesensitive"},
	{"network", "/srv/sshfs/x",
		"/srv/sshfs fuse.sshfs postgres@filer.example.com:/pg "
		"rw,nosuid,nodev,relatime,user_id=0,group_id=0"},
	{"tmpfs", "/srv/nameless", "/srv/nameless tmpfs  rw,relatime,size=8192k"},
	{"escapes", "/srv/with space/x", "/srv/with space ext4 /dev/vdb rw,relatime"},
	{"escapes", "/srv/with\\040space", "/ ext4 /dev/vda rw,relatime"},
	{"escapes", "/srv/tab\tnewline\nend", "/srv/tab\tnewline\nend ext4 /dev/vdb rw,relatime"},
	{"escapes", "/srv/back\\slash", "/srv/back\\slash ext4 /dev/vdb rw,relatime"},
	/* decoded once: an escaped backslash does not begin an escape */
	{"escapes", "/srv/literal\\040", "/srv/literal\\040 ext4 /dev/vdb rw,relatime"},
	{"escapes", "/srv/hash", "/srv/hash tmpfs a#b c rw,relatime,size=1k"},
	/* an escaped comma separates nothing, so this is not read-only */
	{"escapes", "/srv/comma",
		"/srv/comma overlay overlay rw,relatime,lowerdir=/a\\054ro b,upperdir=/u"},
	{"escapes", "/srv/nul_option", "/srv/nul_option ext4 /dev/vdb rw,relatime,a\\000b"},
	{"escapes", "/srv/nul", "/ ext4 /dev/vda rw,relatime"},
	{"escapes", "/srv/nul\\000", "/srv/nul\\000 ext4 /dev/vdb rw,relatime"},
	{"escapes", "/srv/toobig\\777", "/srv/toobig\\777 ext4 /dev/vdb rw,relatime"},
	{"escapes", "/srv/short\\04", "/srv/short\\04 ext4 /dev/vdb rw,relatime"},
	{"escapes", "/srv/m\303\274nchen", "/srv/m\303\274nchen ext4 /dev/vdb rw,relatime"},
	{"overmounted", "/data/pg/base", "/data/pg ext4 /dev/vde rw,relatime,nodelalloc"},
	{"overmounted", "/data/pgsql", "/data ext4 /dev/vdb rw,relatime"},
	/* a read-only super block below a writable mount is read-only */
	{"overmounted", "/early", "/early ext4 /dev/vdf ro,relatime"},
	{"malformed", "/nodash", "/ ext4 /dev/vda rw,relatime"},
	{"malformed", "/good/many_optional", "/good/many_optional ext4 /dev/vdb rw,relatime"},
	{"malformed", "/good/no_optional", "/good/no_optional ext4 /dev/vdb rw,relatime"},
	{"malformed", "/good/dash_source", "/good/dash_source ext4 - rw,relatime"},
	{"malformed", "/good/no_options", "/good/no_options ext4 /dev/vdb rw"},
	{"malformed", "/good/blank_in_options",
		"/good/blank_in_options ext4 /dev/vdb rw,relatime,unescaped=a b"},
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
	{"virtio_ext4", "/srv/pg", "/srv/readonly", true}, {"virtio_ext4", "/", "/srv/pg", false},
	{"btrfs", "/", "/srv/pg", true}, {"btrfs", "/", "/srv/whole", false},
	{"zfs", "/srv/pg", "/srv/pg/wal", false},
	{"overlay", "/etc/hostname", "/var/lib/postgresql/data", true},
	{"overlay", "/", "/var/lib/postgresql/data", false},
	/* without device numbers the mount point decides */
	{"freebsd", "/srv", "/etc", true}, {"freebsd", "/srv", "/pg", false},
	{"freebsd", "/pg", "/pg/x", false},
};

/* The mount where the data of a mount is stored; NULL if unknown. */
static const struct
{
	const char *kind;
	const char *mount_point;
	const char *beneath;
}			beneath_cases[] =
{
	/* in a container the upper directory is a path of the host */
	{"overlay", "/", NULL},
	{"overlay_host", "/var/lib/docker/overlay2/c0ffee/merged", "/var/lib/docker"},
	{"overlay_host", "/mnt/two", "/var/lib/docker"},
	{"overlay_host", "/mnt/on_tmpfs", "/run"},
	{"overlay_host", "/mnt/slash_at_end", "/"},
	{"overlay_host", "/mnt/dotted_names", "/"},
	{"overlay_host", "/mnt/comma", NULL},
	{"overlay_host", "/mnt/backslash", NULL},
	{"overlay_host", "/mnt/readonly", NULL},
	{"overlay_host", "/mnt/relative", NULL},
	{"overlay_host", "/mnt/dots", NULL},
	{"overlay_host", "/mnt/dot", NULL},
	{"overlay_host", "/mnt/slashes", NULL},
	{"overlay_host", "/mnt/similar", "/"},
	{"overlay_host", "/mnt/itself", NULL},
	/* a file system of its own, whatever its options are */
	{"overlay_host", "/mnt/fuse", "/mnt/fuse"},
};

static sp_mount_table *
read_mounts(const char *kind)
{
	sp_mount_table *table;
	int			fd = lowest_free_descriptor();

	assert_int_equal(sp_mount_table_read(fixture_tree(kind), &table), 0);
	assert_int_equal(lowest_free_descriptor(), fd);
	return table;
}

TEST(finds_the_mount_of_a_path)
{
	for (size_t i = 0; i < lengthof(find_cases); i++)
	{
		sp_mount_table *table = read_mounts(find_cases[i].kind);
		const sp_mount *mount = sp_mount_table_find(table, find_cases[i].path);
		const char *expected = find_cases[i].text;
		char		text[512] = "";

		if (mount != NULL)
			snprintf(text, sizeof(text), "%s %s %s %s", mount->mount_point, mount->fstype,
					 mount->source, mount->mount_options);
		if ((mount == NULL) != (expected == NULL) || strcmp(text, expected ? expected : "") != 0)
			fail_msg("%s, path \"%s\": \"%s\"", find_cases[i].kind, find_cases[i].path, text);
		sp_mount_table_free(table);
	}
}

TEST(skips_what_is_no_line)
{
	sp_mount_table *table = read_mounts("malformed");

	assert_int_equal(table->count, 6);
	sp_mount_table_free(table);
}

TEST(tells_file_systems_apart)
{
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

TEST(finds_options)
{
	static const char options[] = "rw,upperdir=/x,volatile,fsync=volatile,last=1";

	assert_string_equal(sp_mount_option(options, "last"), "1");
	assert_memory_equal(sp_mount_option(options, "upperdir"), "/x,", 3);
	assert_non_null(sp_mount_option(options, "volatile"));
	assert_int_equal(strcspn(sp_mount_option(options, "volatile"), ","), 0);
	assert_null(sp_mount_option(options, "upper"));
	assert_null(sp_mount_option(options, "dir"));
	assert_null(sp_mount_option("", "ro"));
}

TEST(tells_what_lies_beneath)
{
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
TEST(tells_no_upper_directory_from_its_beginning)
{
	static const char before[] = "rw,upperdir=/";
	char		options[sizeof(before) + PATH_MAX];
	char		fstype[] = "overlay";
	sp_mount	mount = {.fstype = fstype,.mount_options = options};
	sp_mount_table *table = read_mounts("virtio_ext4");

	memset(options, 'x', sizeof(options));
	memcpy(options, before, sizeof(before) - 1);
	options[sizeof(before) - 1 + PATH_MAX - 2] = '\0';
	assert_non_null(sp_mount_beneath(table, &mount));
	options[sizeof(before) - 1 + PATH_MAX - 2] = 'x';
	options[sizeof(before) - 1 + PATH_MAX - 1] = '\0';
	assert_null(sp_mount_beneath(table, &mount));
	sp_mount_table_free(table);
}

/* As containers bring them, and behind them a line longer than any buffer. */
TEST(reads_ten_thousand_mounts)
{
	const unsigned mounts = 10000;
	char	   *text;
	size_t		length;
	FILE	   *file = open_memstream(&text, &length);
	sp_mount_table *table;

	assert_non_null(file);
	for (unsigned i = 0; i < mounts; i++)
		assert_true(fprintf(file, "1 0 0:%u / /pods/%u/vol rw - tmpfs tmpfs rw\n", i, i) > 0);
	fputs("1 0 0:58 / / rw - overlay overlay rw,lowerdir=", file);
	for (unsigned i = 0; i < mounts; i++)
		fputs("/layer:", file);
	assert_int_equal(fclose(file), 0);
	file = fmemopen(text, length, "r");
	assert_int_equal(sp_mount_table_read_stream(file, &table), 0);
	fclose(file);
	free(text);
	assert_int_equal(table->count, mounts + 1);
	assert_int_equal(sp_mount_table_find(table, "/pods/1234/vol/file")->dev_minor, 1234);
	assert_int_equal(strlen(table->mounts[mounts].mount_options),
					 strlen("rw,lowerdir=") + mounts * strlen("/layer:"));
	sp_mount_table_free(table);
}

TEST(reports_what_it_cannot_read)
{
	char		path[PATH_MAX + 100];
	sp_mount_table *table = (sp_mount_table *) path;

	assert_int_equal(sp_mount_table_read(tree_root("nothing"), &table), ENOENT);
	assert_null(table);
	sp_mount_table_free(table);
	table = (sp_mount_table *) path;
	assert_int_equal(sp_mount_table_read(new_tree("proc/self/mountinfo/a_directory:\n"), &table),
					 EISDIR);
	assert_null(table);

	/* any shortened path would still be a directory */
	for (size_t i = 0; i < sizeof(path) - 1; i++)
		path[i] = i % 2 == 0 ? '/' : '.';
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(sp_mount_table_read(path, &table), ENAMETOOLONG);
	assert_null(table);
}

TEST_MAIN(NULL, NULL)
