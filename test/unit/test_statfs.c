/*-------------------------------------------------------------------------
 *
 * test_statfs.c
 *	  Tests of src/engine/storage/statfs.c on records as FreeBSD and macOS give them.
 *
 * It must not: call getfsstat(), which other systems lack.
 *
 *-------------------------------------------------------------------------
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "engine/storage/block_device.h"
#include "engine/storage/statfs_internal.h"

/* Bits as in FreeBSD's sys/mount.h. */
static const sp_mount_flag flags[] = {
	{0x40, "async"}, {0x1000, "local"}, {0x10000000, "noatime"},
	{0x200000, "soft-updates"}, {UINT64_C(0x100000000), "beyond 32 bits"},
};

/* As getfsstat() lists them: those that are mounted later come later. */
static const sp_statfs_record records[] = {
	{"ufs", "/", "/dev/ada0p2", false, 0x201000, {0x5f, 0x35a0b0c1}},
	{"devfs", "/dev", "devfs", false, 0, {-1, 0x71}},
	{"zfs", "/var/db/postgres", "tank/pg", false, 0x10001000, {0x60, 0xde}},
	{"zfs", "/var/db/postgres/wal", "tank/pg/wal", false, UINT64_C(0x100001000), {0x61, 0xde}},
	{"cd9660", "/mnt/a b", "/dev/cd0", true, 0x1040, {0, 0}},
	{"nullfs", "/jail/pg", "/var/db/postgres", true, 0, {0, 0}},
};

static sp_mount_table *
make_table(void)
{
	sp_mount_table *table = calloc(1, sizeof(sp_mount_table));

	assert_non_null(table);
	for (size_t i = 0; i < lengthof(records); i++)
		assert_int_equal(sp_mount_table_add_record(table, &records[i], flags, lengthof(flags)), 0);
	return table;
}

static void
makes_a_mount_of_each_record(void **state)
{
	static const struct
	{
		const char *path;
		const char *mount_point;
		const char *fstype;
		const char *source;
		const char *options;
	}			rows[] = {
		{"/home", "/", "ufs", "/dev/ada0p2", "rw,local,soft-updates"},
		{"/dev/null", "/dev", "devfs", "devfs", "rw"},
		{"/var/db/postgres/data15", "/var/db/postgres", "zfs", "tank/pg", "rw,local,noatime"},
		{"/var/db/postgres/wal/0", "/var/db/postgres/wal", "zfs", "tank/pg/wal",
		"rw,local,beyond 32 bits"},
		{"/mnt/a b/c", "/mnt/a b", "cd9660", "/dev/cd0", "ro,async,local"},
		{"/jail/pg", "/jail/pg", "nullfs", "/var/db/postgres", "ro"},
	};
	sp_mount_table *table = make_table();

	(void) state;
	assert_int_equal(sp_mount_table_count(table), lengthof(records));
	for (size_t i = 0; i < lengthof(rows); i++)
	{
		const sp_mount *mount = sp_mount_table_find(table, rows[i].path);

		assert_non_null(mount);
		assert_string_equal(mount->mount_point, rows[i].mount_point);
		assert_string_equal(mount->fstype, rows[i].fstype);
		assert_string_equal(mount->source, rows[i].source);
		assert_string_equal(mount->mount_options, rows[i].options);
		assert_string_equal(mount->root, "/");
	}
	sp_mount_table_free(table);
}

/* The kernel tells the numbers of file systems to root alone. */
static void
tells_file_systems_apart_without_numbers(void **state)
{
	sp_mount_table *table = make_table();
	const sp_mount *root = sp_mount_table_find(table, "/");
	const sp_mount *disc = sp_mount_table_find(table, "/mnt/a b");
	const sp_mount *jail = sp_mount_table_find(table, "/jail/pg");

	(void) state;
	assert_int_equal(root->dev_major, 0x5f);
	assert_int_equal(root->dev_minor, 0x35a0b0c1);
	assert_false(sp_mount_same_filesystem(disc, jail));
	assert_true(sp_mount_same_filesystem(disc, sp_mount_table_find(table, "/mnt/a b/c")));
	assert_false(sp_mount_same_filesystem(root, disc));
	assert_true(sp_mount_same_filesystem(root, sp_mount_table_find(table, "/etc")));
	sp_mount_table_free(table);
}

/* Nothing is guessed about disks: no file tells of them. */
static void
names_no_device(void **state)
{
	sp_mount_table *table = make_table();

	(void) state;
	for (size_t i = 0; i < lengthof(records); i++)
	{
		const sp_mount *mount = sp_mount_table_find(table, records[i].mount_point);
		sp_block_device device = {.rotational = 1};

		assert_int_not_equal(sp_block_device_find("/nonexistent", mount, &device), 0);
		assert_string_equal(device.name, "");
		assert_string_equal(device.write_cache, "");
		assert_int_equal(device.rotational, -1);
	}
	sp_mount_table_free(table);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(makes_a_mount_of_each_record),
		cmocka_unit_test(tells_file_systems_apart_without_numbers),
		cmocka_unit_test(names_no_device),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("statfs", tests, NULL, NULL);
}
