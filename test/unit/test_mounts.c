/*
 * Tests of src/engine/storage/mounts.c on captured and generated mountinfo.
 *
 * It must not: look at the mounts of the machine it runs on, or at timing.  To
 * add a kind of system, add a file in test/fixtures/sysroot that says what is
 * found in it.
 */
#include "fixtures.h"

#include "engine/storage/mounts.h"

/* Are the mounts of two paths the same file system? */
static const struct
{
	const char *fixture;
	const char *a;
	const char *b;
	bool		same;
}			same_cases[] =
{
	{"sysroot/virtio_ext4", "/srv/pg", "/srv/readonly", true},
	{"sysroot/virtio_ext4", "/", "/srv/pg", false},
	{"sysroot/btrfs", "/", "/srv/pg", true}, {"sysroot/btrfs", "/", "/srv/whole", false},
	{"sysroot/zfs", "/srv/pg", "/srv/pg/wal", false},
};

static sp_mount_table
read_mounts(const char *fixture)
{
	sp_mount_table table;

	assert_int_equal(sp_mount_table_read(fixture_tree(fixture), &table), 0);
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
	sp_mount_table table = read_mounts("sysroot/escapes");
	const char *odd = "/srv/tab\tnewline\nend";

	check_trees("= mount ", describe_mount);
	/* no line can have that one */
	assert_string_equal(sp_mount_table_find(&table, odd)->mount_point, odd);
	sp_mount_table_free(&table);

	/* what is no line is skipped */
	table = read_mounts("sysroot/malformed");
	assert_int_equal(table.count, 6);
	sp_mount_table_free(&table);
}

TEST(tells_file_systems_apart)
{
	FOR_EACH(row, same_cases)
	{
		sp_mount_table table = read_mounts(row->fixture);
		const sp_mount *a = sp_mount_table_find(&table, row->a);
		const sp_mount *b = sp_mount_table_find(&table, row->b);

		if (sp_mount_same_filesystem(a, b) != row->same ||
			sp_mount_same_filesystem(b, a) != row->same)
			fail_msg("%s: %s and %s", row->fixture, row->a, row->b);
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
	check_trees("= beneath ", describe_beneath);
}

/* The longest path there can be, and one more. */
TEST(tells_no_upper_directory_from_its_beginning)
{
	char		options[2 * PATH_MAX];
	char		fstype[] = "overlay";
	sp_mount	mount = {.fstype = fstype,.mount_options = options};
	sp_mount_table table = read_mounts("sysroot/virtio_ext4");

	for (int length = PATH_MAX - 1; length <= PATH_MAX; length++)
	{
		snprintf(options, sizeof(options), "rw,upperdir=/%0*d", length - 1, 0);
		assert_int_equal(sp_mount_beneath(&table, &mount) != NULL, length < PATH_MAX);
	}
	sp_mount_table_free(&table);
}

/* As containers bring them, and behind them a line longer than any buffer. */
TEST(reads_ten_thousand_mounts)
{
	const unsigned mounts = 10000;
	const int	layers = 100000;
	FILE	   *file = tmpfile();
	sp_mount_table table = {0};

	assert_non_null(file);
	for (unsigned i = 0; i < mounts; i++)
		fprintf(file, "1 0 0:%u / /pods/%u/vol rw - tmpfs tmpfs rw\n", i, i);
	fprintf(file, "1 0 0:58 / / rw - overlay overlay rw,lowerdir=/%0*d", layers, 0);
	rewind(file);
	assert_int_equal(sp_mount_table_add_lines(&table, file), 0);
	fclose(file);
	assert_int_equal(table.count, mounts + 1);
	assert_int_equal(sp_mount_table_find(&table, "/pods/1234/vol/file")->dev_minor, 1234);
	assert_int_equal(strlen(table.mounts[mounts].mount_options), strlen("rw,lowerdir=/") + layers);
	sp_mount_table_free(&table);
}

TEST(reports_what_it_cannot_read)
{
	sp_mount_table table;

	assert_int_equal(sp_mount_table_read(tree_root(), &table), ENOENT);
	assert_int_equal(sp_mount_table_read(new_tree("proc/self/mountinfo/a_directory:\n"), &table),
					 EISDIR);
	sp_mount_table_free(&table);
	assert_int_equal(sp_mount_table_read(path_too_long(), &table), ENAMETOOLONG);
	assert_int_equal(table.count, 0);
}

TEST_MAIN(NULL, NULL)
