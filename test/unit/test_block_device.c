/*-------------------------------------------------------------------------
 *
 * test_block_device.c
 *	  Tests of src/engine/storage/block_device.c on captured sysfs trees.
 *
 * It must not: look at the devices of the machine it runs on.  To add a kind of
 * system, add a directory in test/fixtures/sysroot and a row of the table.
 *
 *-------------------------------------------------------------------------
 */
#include "fixtures.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/storage/block_device.h"

/* The device of the mount of a path; on error, all is unknown. */
typedef struct device_case
{
	const char *kind;
	const char *path;
	int			status;
	const char *name;
	int			rotational;
	const char *write_cache;
} device_case;

static const device_case device_cases[] = {
	{"virtio_ext4", "/", 0, "vda", 1, "write back"},
	{"virtio_ext4", "/srv/pg", 0, "vdb", 1, "write through"},
	{"virtio_ext4", "/proc", ENODEV, "", -1, ""},
	{"virtio_ext4", "/dev", ENODEV, "", -1, ""},
	{"nvme_xfs", "/", 0, "nvme0n1", 0, "write back"},
	{"nvme_xfs", "/boot/efi", 0, "nvme0n1", 0, "write back"},
	{"nvme_multipath", "/", 0, "nvme1n1", 0, "write through"},
	{"sda_partition", "/", 0, "sda", 1, "write back"},
	{"sda_partition", "/var/lib/postgresql", 0, "sda", 1, "write back"},
	{"dev_root", "/", 0, "mmcblk0", 0, "write back"},
	{"dev_root", "/pool", ENODEV, "", -1, ""},
	{"loop", "/mnt/ext4", 0, "loop0", 0, "write back"},
	{"loop", "/mnt/part", 0, "loop1", 0, "write through"},
	/* mounted, but the tree has no such device */
	{"loop", "/", ENODEV, "", -1, ""},
	{"btrfs", "/", 0, "vda", 0, "write back"},
	{"btrfs", "/srv/pg", 0, "vda", 0, "write back"},
	{"btrfs", "/srv/whole", 0, "vdb", 1, "write through"},
	{"btrfs", "/srv/mapped", 0, "dm-1", 0, "write back"},
	{"btrfs", "/srv/dm", 0, "dm-0", 0, "write through"},
	{"btrfs", "/srv/gone", ENODEV, "", -1, ""},
	{"btrfs", "/srv/unmapped", ENODEV, "", -1, ""},
	{"dm_nvme", "/", 0, "dm-0", 0, "write back"},
	{"md0", "/srv/pg", 0, "md0", 1, "write back"},
	{"md0", "/srv/wal", 0, "md1", 0, "write back"},
	{"zfs", "/", ENODEV, "", -1, ""},
	{"zfs", "/srv/pg/wal", ENODEV, "", -1, ""},
	{"network", "/srv/nfs", ENODEV, "", -1, ""},
	{"network", "/srv/cifs", ENODEV, "", -1, ""},
	{"network", "/srv/sshfs", ENODEV, "", -1, ""},
	{"network", "/srv/host", ENODEV, "", -1, ""},
	/* the source of a FUSE mount is whatever its owner wrote */
	{"network", "/srv/claims", ENODEV, "", -1, ""},
	/* but fuseblk has a device number from the kernel */
	{"network", "/srv/ntfs", 0, "vdb", 1, "write back"},
	{"tmpfs", "/dev/shm", ENODEV, "", -1, ""},
	{"tmpfs", "/srv/ram", ENODEV, "", -1, ""},
	{"tmpfs", "/srv/nameless", ENODEV, "", -1, ""},
	{"overlay", "/", ENODEV, "", -1, ""},
	{"overlay", "/var/lib/postgresql/data", 0, "vda", 1, "write back"},
	{"no_sysfs", "/", ENODEV, "", -1, ""},
	{"odd_attributes", "/", 0, "vda", 1, ""},
	{"odd_attributes", "/garbage", 0, "vdb", -1, ""},
	{"odd_attributes", "/empty", 0, "vdc", -1, ""},
	{"odd_attributes", "/noqueue", 0, "vdd", -1, ""},
	{"odd_attributes", "/long", 0, "vde", -1, ""},
	{"odd_attributes", "/cciss", 0, "cciss!c0d0", 1, "write through"},
	{"odd_attributes", "/directory", EISDIR, "", -1, ""},
	{"odd_attributes", "/circle", ELOOP, "", -1, ""},
	{"odd_attributes", "/longname", ENAMETOOLONG, "", -1, ""},
};

/*
 * Sources that must not be taken for a device.  Each would find something in
 * the btrfs tree if it were used in a path unchecked.
 */
static const char *const bad_sources[] = {
	"", "/", "/dev", "/dev/", "/dev/.", "/dev/..", "/dev/../block/vda",
	"/dev/vda/vda2", "/dev/./vda", "/dev//vda", "vda", "dev/vda", "/devvda",
	"/DEV/vda", "/dev/mapper", "/dev/mapper/", "/dev/mapper/.",
	"/dev/mapper/..", "/dev/mapper/dm-0", "/dev/mapper/vg0-p",
	"/dev/mapper/vg0-pg-", "/dev/mapper/../dm-0", "/dev/disk/by-label/x",
	"/dev/vda:/dev/vdb", "/dev/vda ",
};

/* Fill the fields, so that a field that is not set is detected. */
static void
fill_with_rubbish(sp_block_device *device)
{
	memset(device, 'x', sizeof(*device));
}

static void
assert_all_unknown(const sp_block_device *device)
{
	assert_string_equal(device->name, "");
	assert_int_equal(device->rotational, -1);
	assert_string_equal(device->write_cache, "");
}

static void
check_device(const device_case *row)
{
	char		sysroot[PATH_MAX];
	sp_mount_table *table;
	const sp_mount *mount;
	sp_block_device device;
	int			fd = lowest_free_descriptor();
	int			status;

	fixture_path(sysroot, row->kind);
	assert_int_equal(sp_mount_table_read(sysroot, &table), 0);
	mount = sp_mount_table_find(table, row->path);
	assert_non_null(mount);
	/* a wrong path in a row would test another mount */
	assert_string_equal(mount->mount_point, row->path);
	fill_with_rubbish(&device);
	status = sp_block_device_find(sysroot, mount, &device);
	assert_int_equal(lowest_free_descriptor(), fd);
	if (status != row->status ||
		strcmp(device.name, row->name) != 0 ||
		device.rotational != row->rotational ||
		strcmp(device.write_cache, row->write_cache) != 0)
		fail_msg("%s, path \"%s\": %s, \"%s\", %d, \"%s\"", row->kind,
				 row->path, strerror(status), device.name, device.rotational,
				 device.write_cache);
	sp_mount_table_free(table);
}

static void
names_the_disk_of_a_mount(void **state)
{
	(void) state;
	for (size_t i = 0; i < lengthof(device_cases); i++)
		check_device(&device_cases[i]);
}

static int
find_by_source(const char *kind, const char *source, sp_block_device *device)
{
	char		sysroot[PATH_MAX];
	char		fstype[] = "btrfs";
	char	   *copy = strdup(source);
	sp_mount	mount = {.dev_minor = 99,.fstype = fstype,.source = copy};
	int			status;

	assert_non_null(copy);
	fixture_path(sysroot, kind);
	fill_with_rubbish(device);
	status = sp_block_device_find(sysroot, &mount, device);
	free(copy);
	return status;
}

static void
does_not_trust_the_source(void **state)
{
	sp_block_device device;

	(void) state;
	/* first check that the tree is right */
	assert_int_equal(find_by_source("btrfs", "/dev/vda", &device), 0);
	assert_int_equal(find_by_source("btrfs", "/dev/mapper/vg0-pg", &device),
					 0);
	assert_string_equal(device.name, "dm-0");
	for (size_t i = 0; i < lengthof(bad_sources); i++)
	{
		int			status = find_by_source("btrfs", bad_sources[i], &device);

		if (status != ENODEV)
			fail_msg("source \"%s\": %s, \"%s\"", bad_sources[i],
					 strerror(status), device.name);
		assert_all_unknown(&device);
	}
}

static void
survives_long_sources(void **state)
{
	static const size_t lengths[] = {63, 64, 127, 128, 255, 256, 5000};
	static const char *const prefixes[] = {"/dev/", "/dev/mapper/"};
	sp_block_device device;

	(void) state;
	for (size_t i = 0; i < lengthof(lengths); i++)
		for (size_t j = 0; j < lengthof(prefixes); j++)
		{
			size_t		prefix = strlen(prefixes[j]);
			char	   *source = malloc(prefix + lengths[i] + 1);

			assert_non_null(source);
			memcpy(source, prefixes[j], prefix);
			memset(source + prefix, 'x', lengths[i]);
			source[prefix + lengths[i]] = '\0';
			assert_int_equal(find_by_source("btrfs", source, &device), ENODEV);
			assert_all_unknown(&device);
			free(source);
		}
}

static void
has_no_device_without_sysfs(void **state)
{
	sp_block_device device;

	(void) state;
	assert_int_equal(find_by_source("no_sysfs", "/dev/vda", &device), ENODEV);
	assert_int_equal(find_by_source("no_sysfs", "/dev/mapper/x", &device),
					 ENODEV);
	assert_all_unknown(&device);
}

static void
rejects_a_sysroot_too_long(void **state)
{
	static const char *const sources[] = {"/dev/vda", "/dev/mapper/x"};
	char		sysroot[PATH_MAX];
	sp_block_device device;

	(void) state;
	/* any shortened path would still be a directory */
	for (size_t i = 0; i < sizeof(sysroot) - 1; i++)
		sysroot[i] = i % 2 == 0 ? '/' : '.';
	sysroot[sizeof(sysroot) - 1] = '\0';
	for (unsigned major = 0; major < 2; major++)
		for (size_t i = 0; i < lengthof(sources); i++)
		{
			char		fstype[] = "btrfs";
			char	   *source = strdup(sources[i]);
			sp_mount	mount = {.dev_major = major,.fstype = fstype,
			.source = source};

			assert_non_null(source);
			fill_with_rubbish(&device);
			assert_int_equal(sp_block_device_find(sysroot, &mount, &device),
							 ENAMETOOLONG);
			assert_all_unknown(&device);
			free(source);
		}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_the_disk_of_a_mount),
		cmocka_unit_test(does_not_trust_the_source),
		cmocka_unit_test(survives_long_sources),
		cmocka_unit_test(has_no_device_without_sysfs),
		cmocka_unit_test(rejects_a_sysroot_too_long),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("block_device", tests, NULL, NULL);
}
