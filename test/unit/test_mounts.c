/*
 * Tests of src/engine/storage/mounts.c on captured and generated mountinfo.
 *
 * It must not: look at the mounts of the machine it runs on, or at timing.  To
 * add a kind of system, add a file in test/fixtures/sysroot that says what is
 * found in it.
 */
#include "fixtures.h"

#include "engine/storage/mounts.h"

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

static sp_mount_table
read_mounts(const char *kind)
{
	sp_mount_table table;
	int			fd = lowest_free_descriptor();

	assert_int_equal(sp_mount_table_read(fixture_tree(kind), &table), 0);
	assert_int_equal(lowest_free_descriptor(), fd);
	return table;
}

/* Mount point, type, source and options. */
static const char *
describe_mount(const char *sysroot, const sp_mount_table *table, const char *path)
{
	static char text[512];
	const sp_mount *mount = sp_mount_table_find(table, path);

	(void) sysroot;
	if (mount == NULL)
		return "no mount";
	snprintf(text, sizeof(text), "%s %s %s %s", mount->mount_point, mount->fstype,
			 mount->source, mount->mount_options);
	return text;
}

TEST(finds_the_mount_of_a_path)
{
	static const char *const kinds[] = {
		"virtio_ext4", "btrfs", "zfs", "network", "tmpfs", "escapes", "overmounted", "malformed",
	};
	sp_mount_table table = read_mounts("escapes");
	const char *odd = "/srv/tab\tnewline\nend";

	check_kinds("mount", kinds, lengthof(kinds), describe_mount);
	/* no line can have that one */
	assert_string_equal(sp_mount_table_find(&table, odd)->mount_point, odd);
	sp_mount_table_free(&table);

	/* what is no line is skipped */
	table = read_mounts("malformed");
	assert_int_equal(table.count, 6);
	sp_mount_table_free(&table);
}

TEST(tells_file_systems_apart)
{
	FOR_EACH(row, same_cases)
	{
		sp_mount_table table = read_mounts(row->kind);
		const sp_mount *a = sp_mount_table_find(&table, row->a);
		const sp_mount *b = sp_mount_table_find(&table, row->b);

		if (sp_mount_same_filesystem(a, b) != row->same ||
			sp_mount_same_filesystem(b, a) != row->same)
			fail_msg("%s: %s and %s", row->kind, row->a, row->b);
		sp_mount_table_free(&table);
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

/* The mount where the data of a mount is stored. */
static const char *
describe_beneath(const char *sysroot, const sp_mount_table *table, const char *mount_point)
{
	const sp_mount *mount = sp_mount_table_find(table, mount_point);
	const sp_mount *beneath = sp_mount_beneath(table, mount);

	(void) sysroot;
	assert_string_equal(mount->mount_point, mount_point);
	return beneath == NULL ? "unknown" : beneath->mount_point;
}

TEST(tells_what_lies_beneath)
{
	static const char *const kinds[] = {"overlay", "overlay_host"};

	check_kinds("beneath", kinds, lengthof(kinds), describe_beneath);
}

/* The longest path there can be, and one more. */
TEST(tells_no_upper_directory_from_its_beginning)
{
	static const char before[] = "rw,upperdir=/";
	char		options[sizeof(before) + PATH_MAX];
	char		fstype[] = "overlay";
	sp_mount	mount = {.fstype = fstype,.mount_options = options};
	sp_mount_table table = read_mounts("virtio_ext4");

	memset(options, 'x', sizeof(options));
	memcpy(options, before, sizeof(before) - 1);
	options[sizeof(before) - 1 + PATH_MAX - 2] = '\0';
	assert_non_null(sp_mount_beneath(&table, &mount));
	options[sizeof(before) - 1 + PATH_MAX - 2] = 'x';
	options[sizeof(before) - 1 + PATH_MAX - 1] = '\0';
	assert_null(sp_mount_beneath(&table, &mount));
	sp_mount_table_free(&table);
}

/* As containers bring them, and behind them a line longer than any buffer. */
TEST(reads_ten_thousand_mounts)
{
	const unsigned mounts = 10000;
	char	   *text;
	size_t		length;
	FILE	   *file = open_memstream(&text, &length);
	sp_mount_table table = {0};

	assert_non_null(file);
	for (unsigned i = 0; i < mounts; i++)
		assert_true(fprintf(file, "1 0 0:%u / /pods/%u/vol rw - tmpfs tmpfs rw\n", i, i) > 0);
	fputs("1 0 0:58 / / rw - overlay overlay rw,lowerdir=", file);
	for (unsigned i = 0; i < mounts; i++)
		fputs("/layer:", file);
	assert_int_equal(fclose(file), 0);
	file = fmemopen(text, length, "r");
	assert_int_equal(sp_mount_table_add_lines(&table, file), 0);
	fclose(file);
	free(text);
	assert_int_equal(table.count, mounts + 1);
	assert_int_equal(sp_mount_table_find(&table, "/pods/1234/vol/file")->dev_minor, 1234);
	assert_int_equal(strlen(table.mounts[mounts].mount_options),
					 strlen("rw,lowerdir=") + mounts * strlen("/layer:"));
	sp_mount_table_free(&table);
}

TEST(reports_what_it_cannot_read)
{
	char		path[PATH_MAX + 100];
	sp_mount_table table;

	assert_int_equal(sp_mount_table_read(tree_root("nothing"), &table), ENOENT);
	assert_int_equal(sp_mount_table_read(new_tree("proc/self/mountinfo/a_directory:\n"), &table),
					 EISDIR);
	sp_mount_table_free(&table);

	/* any shortened path would still be a directory */
	for (size_t i = 0; i < sizeof(path) - 1; i++)
		path[i] = i % 2 == 0 ? '/' : '.';
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(sp_mount_table_read(path, &table), ENAMETOOLONG);
	assert_int_equal(table.count, 0);
}

TEST_MAIN(NULL, NULL)
