/*-------------------------------------------------------------------------
 *
 * test_disks.c
 *	  Tests of src/engine/storage/disks.c and disk_stack.c on captured sysfs trees.
 *
 * It must not: look at the devices of the machine it runs on.  To add a kind of
 * stack, add a directory in test/fixtures/sysroot and a row of the table.
 *
 *-------------------------------------------------------------------------
 */
#include "fixtures.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "engine/storage/disks.h"

#define WB "write back"
#define WT "write through"

/*
 * The disks below the mount of a path.  names are the disks of the first level, and
 * behind a slash the backing devices of a loop device.  physical has a character
 * for each of them: p, or - if it is not known to be physical.  cache and fua are
 * for the two levels.
 */
typedef struct disks_case
{
	const char *kind;
	const char *path;
	int			status;
	const char *names;
	const char *physical;
	const char *cache[SP_LEVELS];
	int			fua[SP_LEVELS];
	bool		incomplete;
} disks_case;

static const disks_case disks_cases[] = {
	{"virtio_ext4", "/", 0, "vda", "-", {WB, ""}, {0, 0}, false},
	{"virtio_ext4", "/srv/pg", 0, "vdb", "-", {WT, ""}, {1, 0}, false},
	{"virtio_ext4", "/proc", ENODEV, "", "", {"", ""}, {0, 0}, false},
	/* the model is the controller's, in the parent directory */
	{"nvme_xfs", "/", 0, "nvme0n1", "-", {WB, ""}, {1, 0}, false},
	{"nvme_xfs", "/boot/efi", 0, "nvme0n1", "-", {WB, ""}, {1, 0}, false},
	/* the head counts no flushes, and says less of the cache than the paths */
	{"nvme_multipath", "/", 0, "nvme1c0n1 nvme1c1n1", "--", {WB, ""}, {1, 0}, false},
	{"nvme_multipath", "/srv/pg", 0, "nvme11c0n1", "-", {WB, ""}, {1, 0}, false},
	{"sda_partition", "/", 0, "sda", "p", {WB, ""}, {0, 0}, false},
	{"dm_nvme", "/", 0, "nvme0n1", "-", {WB, ""}, {1, 0}, false},
	{"md0", "/", ENODEV, "", "", {"", ""}, {0, 0}, false},
	/* no slaves known, or only one that has gone */
	{"md0", "/srv/pg", 0, "md0", "-", {WB, ""}, {1, 0}, true},
	{"md0", "/srv/wal", 0, "md1", "-", {WB, ""}, {1, 0}, true},
	{"lvm_on_md", "/", 0, "sda sdb", "pp", {WB, ""}, {0, 0}, false},
	{"lvm_on_md", "/srv/pg", 0, "sda sdb sdc", "pp-", {WB, ""}, {0, 0}, false},
	{"lvm_on_md", "/boot", 0, "sda", "p", {WB, ""}, {0, 0}, false},
	/* the weakest cache decides */
	{"raid1", "/", 0, "sda sdb", "pp", {WB, ""}, {1, 0}, false},
	{"btrfs", "/", 0, "vda", "-", {WB, ""}, {1, 0}, false},
	{"btrfs", "/srv/whole", 0, "vdb vdc", "--", {WB, ""}, {1, 0}, false},
	{"btrfs", "/srv/mapped", 0, "dm-1", "-", {WB, ""}, {1, 0}, true},
	{"btrfs", "/srv/dm", 0, "dm-0", "-", {WT, ""}, {1, 0}, true},
	{"btrfs", "/srv/gone", ENODEV, "", "", {"", ""}, {0, 0}, false},
	/* files on a device that the tree lacks, and on one that was deleted */
	{"loop", "/mnt/ext4", 0, "loop0", "-", {WB, ""}, {1, 1}, true},
	{"loop", "/mnt/part", 0, "loop1", "-", {WT, ""}, {1, 1}, true},
	{"loop", "/", ENODEV, "", "", {"", ""}, {0, 0}, false},
	/* xfs on LVM, a file, loop; and that once more */
	{"loop_stack", "/mnt/0", 0, "loop0/vda", "--", {WB, WB}, {0, 0}, false},
	{"loop_stack", "/mnt/1", 0, "loop1/vda", "--", {WB, WB}, {0, 0}, false},
	{"loop_stack", "/mnt/11", 0, "loop11/vda", "--", {WB, WB}, {0, 0}, false},
	/* devices: by a symbolic link, a partition, a name of device-mapper */
	{"loop_stack", "/mnt/2", 0, "loop2/vdb", "--", {WB, WT}, {0, 1}, false},
	{"loop_stack", "/mnt/3", 0, "loop3/vdb", "--", {WB, WT}, {0, 1}, false},
	{"loop_stack", "/mnt/7", 0, "loop7/vda", "--", {WB, WB}, {0, 0}, false},
	{"loop_stack", "/mnt/8", 0, "loop8/vda", "--", {WB, WB}, {0, 0}, false},
	{"loop_stack", "/mnt/14", 0, "loop14/vdb", "--", {WB, WT}, {0, 1}, false},
	/* not to be followed: deleted, hidden by its own mount, no disk below */
	{"loop_stack", "/mnt/4", 0, "loop4", "-", {WB, ""}, {0, 1}, true},
	{"loop_stack", "/mnt/5", 0, "loop5", "-", {WB, ""}, {0, 1}, true},
	{"loop_stack", "/mnt/6", 0, "loop6", "-", {WB, ""}, {0, 1}, true},
	{"loop_stack", "/mnt/9", 0, "loop9", "-", {WB, ""}, {0, 1}, true},
	{"loop_stack", "/mnt/10", 0, "loop10", "-", {WB, ""}, {0, 1}, true},
	{"loop_stack", "/mnt/13", 0, "loop13", "-", {WB, ""}, {0, 1}, true},
	/* the lowest layer that is known */
	{"loop_stack", "/mnt/12", 0, "loop12/loop4", "--", {WB, WB}, {0, 1}, true},
	{"loop_stack", "/srv/dm_on_loop", 0, "loop0 loop2/vda vdb", "----", {WB, WB}, {0, 1}, false},
	{"loop_stack", "/srv/part_of_loop", 0, "loop0/vda", "--", {WB, WB}, {0, 0}, false},
	{"dm_cycle", "/0", 0, "dm-1", "-", {WB, ""}, {1, 0}, true},
	{"dm_cycle", "/1", 0, "dm-0", "-", {WB, ""}, {1, 0}, true},
	{"dm_cycle", "/2", 0, "vda", "-", {WB, ""}, {1, 0}, true},
	{"dm_cycle", "/3", 0, "dm-3", "-", {WB, ""}, {1, 0}, true},
	/* in the container, and from its host */
	{"overlay", "/", ENODEV, "", "", {"", ""}, {0, 0}, false},
	{"overlay", "/var/lib/postgresql/data", 0, "vda", "-", {WB, ""}, {0, 0}, false},
	{"overlay_host", "/var/lib/docker/overlay2/c0ffee/merged", 0, "vdb", "-",
	{WB, ""}, {0, 0}, false},
	{"overlay_host", "/mnt/two", 0, "vdb", "-", {WB, ""}, {0, 0}, false},
	{"overlay_host", "/mnt/comma", 0, "vdc", "-", {WB, ""}, {0, 0}, false},
	{"overlay_host", "/mnt/on_tmpfs", ENODEV, "", "", {"", ""}, {0, 0}, false},
	{"overlay_host", "/mnt/readonly", ENODEV, "", "", {"", ""}, {0, 0}, false},
	{"zfs", "/", ENODEV, "", "", {"", ""}, {0, 0}, false},
	{"network", "/srv/nfs", ENODEV, "", "", {"", ""}, {0, 0}, false},
	{"network", "/srv/claims", ENODEV, "", "", {"", ""}, {0, 0}, false},
	{"tmpfs", "/srv/ram", ENODEV, "", "", {"", ""}, {0, 0}, false},
	{"no_sysfs", "/", ENODEV, "", "", {"", ""}, {0, 0}, false},
	{"odd_attributes", "/", 0, "vda", "-", {"", ""}, {1, 0}, false},
	{"odd_attributes", "/noqueue", 0, "vdd", "-", {"", ""}, {1, 0}, false},
	{"odd_attributes", "/cciss", 0, "cciss!c0d0", "-", {WT, ""}, {1, 0}, false},
	{"odd_attributes", "/directory", EISDIR, "", "", {"", ""}, {0, 0}, false},
	{"odd_attributes", "/circle", ELOOP, "", "", {"", ""}, {0, 0}, false},
	{"odd_attributes", "/longname", ENAMETOOLONG, "", "", {"", ""}, {0, 0}, false},
};

/* The disks below a path, such as a part of a ZFS pool. */
static const struct
{
	const char *kind;
	const char *path;
	int			status;
	const char *names;
}			path_cases[] =
{
	{"loop_stack", "/dev/vdb1", 0, "vdb"},
	{"loop_stack", "/dev/vda", 0, "vda"},
	{"loop_stack", "/dev/disk/by-id/virtio-backup", 0, "vdb"},
	{"loop_stack", "/dev/mapper/vg0-root", 0, "vda"},
	{"loop_stack", "/dev/loop0", 0, "loop0/vda"},
	{"loop_stack", "/srv/vdev.img", 0, "vda"},
	{"loop_stack", "/srv/direct/vdev.img", 0, "vdb"},
	{"loop_stack", "/mnt/0/vdev.img", 0, "loop0/vda"},
	{"loop_stack", "/dev/shm/vdev.img", ENODEV, ""},
	{"loop_stack", "/mnt/nfs/vdev.img", ENODEV, ""},
	{"loop_stack", "/dev/", ENODEV, ""},
	{"loop_stack", "/dev/..", ENODEV, ""},
	{"loop_stack", "/dev/nothing", ENODEV, ""},
	{"loop_stack", "/dev/disk/by-id/nothing", ENODEV, ""},
	{"loop_stack", "vdb1", ENODEV, ""},
	{"loop_stack", "", ENODEV, ""},
	{"lvm_on_md", "/dev/dm-0", 0, "sda sdb"},
	{"no_sysfs", "/dev/vda", ENODEV, ""},
};

/* The path that a loop device tells, and the mount that it lies on. */
static const struct
{
	const char *path;
	const char *backing_file;
	const char *mount_point;	/* NULL: none */
}			backing_cases[] =
{
	{"/mnt/0", "/srv/images/a.img", "/"},
	{"/mnt/1", "/mnt/0/b.img", "/mnt/0"},
	{"/mnt/2", "/dev/disk/by-id/virtio-backup", NULL},
	{"/mnt/4", "/srv/c.img (deleted)", NULL},
	{"/mnt/6", "/dev/shm/d.img", "/dev/shm"},
	{"/mnt/9", "", NULL},
	{"/mnt/10", "/mnt/nfs/e.img", "/mnt/nfs"},
	{"/mnt/11", "/mnt/1/f.img", "/mnt/1"},
	{"/mnt/14", "/mnt/overlay/h.img", "/mnt/overlay"},
	{"/srv/dm_on_loop", "/srv/images/a.img", "/"},
	{"/srv/direct", "", NULL},
	{"/", "", NULL},
};

/* Is a disk with this name, vendor and model a physical drive? */
static const struct
{
	const char *name;
	const char *vendor;			/* NULL: no such attribute */
	const char *model;
	bool		is_physical;
	bool		is_virtual;
}			physical_cases[] =
{
	{"vda", NULL, NULL, false, true},
	{"mmcblk0", NULL, NULL, false, false},
	{"nvme0n1", NULL, "Samsung SSD 980 PRO 1TB                 ", false, false},
	{"sda", "ATA     ", "INTEL SSDSC2BB48", true, false},
	{"sda", "SEAGATE ", "ST600MM0208     ", true, false},
	{"sda", "WDC", "WUSTR6480ASS204 ", true, false},
	{"sdaa", "TOSHIBA ", "AL15SEB060N     ", true, false},
	{"sda", "QEMU    ", "QEMU HARDDISK   ", false, true},
	{"sda", "ATA     ", "QEMU HARDDISK   ", false, true},
	{"sda", "ATA     ", "VBOX HARDDISK   ", false, true},
	{"sda", "ATA     ", "VMware Virtual I", false, true},
	{"sda", "ATA     ", "Virtual HD      ", false, true},
	{"sda", "VMware  ", "Virtual disk    ", false, true},
	{"sda", "Msft    ", "Virtual Disk    ", false, true},
	{"sda", "Google  ", "PersistentDisk  ", false, true},
	{"sda", "DELL    ", "PERC H730 Mini  ", false, false},
	{"sda", "HP      ", "LOGICAL VOLUME  ", false, false},
	/* a RAID controller, unlike INTEL */
	{"sda", "Intel   ", "RS3DC080        ", false, false},
	{"sda", "ATAX    ", "x               ", false, false},
	{"sda", "        ", "                ", false, false},
	{"sda", "ATA     ", NULL, false, false},
	{"sda", NULL, "QEMU HARDDISK   ", false, true},
	/* no SCSI disk, whatever its attributes say */
	{"vda", "SEAGATE ", "ST600MM0208     ", false, true},
	{"vdb1x", NULL, NULL, false, true}, {"xvda", NULL, NULL, false, true},
	{"loop3", NULL, NULL, false, true}, {"nbd0", NULL, NULL, false, true},
	{"nvme0n1", NULL, "Amazon Elastic Block Store", false, true},
	{"nvme0n1", NULL, "Amazon EC2 NVMe Instance Storage", false, false},
	{"nvme0n1", NULL, "QEMU NVMe Ctrl                          ", false, true},
	{"sda", "Virtual ", "x               ", false, false},
	{"dm-7", NULL, "QEMU", false, false},
};

static sp_mount_table *
read_mounts(const char *sysroot)
{
	sp_mount_table *table;

	assert_int_equal(sp_mount_table_read(sysroot, &table), 0);
	return table;
}

static const sp_mount *
find_mount(const sp_mount_table *table, const char *path)
{
	const sp_mount *mount = sp_mount_table_find(table, path);

	assert_non_null(mount);
	/* a wrong path in a row would test another mount */
	assert_string_equal(mount->mount_point, path);
	return mount;
}

/* Fill the fields, so that a field that is not set is detected. */
static void
init_with_rubbish(sp_disks *disks)
{
	memset(disks, 'x', sizeof(*disks));
	sp_disks_init(disks);
}

static void
list_names(const sp_disks *disks, char *names, size_t size)
{
	size_t		length = 0;

	names[0] = '\0';
	for (int level = 0; level < SP_LEVELS; level++)
	{
		const char *separator = level == 0 ? "" : "/";

		for (int i = 0; i < disks->count; i++)
		{
			if ((int) disks->disks[i].level != level)
				continue;
			length += (size_t) snprintf(names + length, size - length, "%s%s",
										separator, disks->disks[i].name);
			assert_true(length < size);
			separator = " ";
		}
	}
}

/* In the order of list_names. */
static void
list_physical(const sp_disks *disks, char *physical)
{
	for (int level = 0; level < SP_LEVELS; level++)
		for (int i = 0; i < disks->count; i++)
		{
			if ((int) disks->disks[i].level == level)
				*physical++ = disks->disks[i].is_physical ? 'p' : '-';
		}
	*physical = '\0';
}

static bool
is_incomplete(const sp_disks *disks)
{
	return disks->incomplete[SP_LEVEL_DEVICE] || disks->incomplete[SP_LEVEL_BACKING];
}

static void
check_levels(const disks_case *row, const sp_disks *disks)
{
	for (int level = 0; level < SP_LEVELS; level++)
	{
		const char *cache = sp_disks_write_cache(disks, (sp_level) level);
		int			fua = sp_disks_fua(disks, (sp_level) level);

		if (strcmp(cache, row->cache[level]) != 0 || fua != row->fua[level])
			fail_msg("%s, path \"%s\", level %d: \"%s\", fua %d", row->kind,
					 row->path, level, cache, fua);
	}
	for (int i = 0; i < disks->count; i++)
		assert_int_equal(disks->disks[i].stat_fd, -1);
}

static void
check_disks(const disks_case *row)
{
	char		sysroot[PATH_MAX];
	char		names[1024];
	char		physical[SP_MAX_DISKS + 1];
	sp_mount_table *table;
	sp_disks	disks;
	int			fd = lowest_free_descriptor();
	int			status;

	fixture_path(sysroot, row->kind);
	table = read_mounts(sysroot);
	init_with_rubbish(&disks);
	status = sp_disks_find(sysroot, table, find_mount(table, row->path),
						   &disks);
	assert_int_equal(lowest_free_descriptor(), fd);
	list_names(&disks, names, sizeof(names));
	list_physical(&disks, physical);
	if (status != row->status || strcmp(names, row->names) != 0 ||
		strcmp(physical, row->physical) != 0 ||
		is_incomplete(&disks) != row->incomplete)
		fail_msg("%s, path \"%s\": %s, \"%s\", \"%s\"%s", row->kind, row->path,
				 strerror(status), names, physical,
				 is_incomplete(&disks) ? ", incomplete" : "");
	check_levels(row, &disks);
	sp_mount_table_free(table);
}

static void
lists_the_disks_below_a_mount(void **state)
{
	(void) state;
	for (size_t i = 0; i < lengthof(disks_cases); i++)
		check_disks(&disks_cases[i]);
}

static void
lists_the_disks_below_a_path(void **state)
{
	(void) state;
	for (size_t i = 0; i < lengthof(path_cases); i++)
	{
		char		sysroot[PATH_MAX];
		char		names[1024];
		sp_mount_table *table;
		sp_disks	disks;
		int			status;

		fixture_path(sysroot, path_cases[i].kind);
		table = read_mounts(sysroot);
		init_with_rubbish(&disks);
		status = sp_disks_add_path(sysroot, table, path_cases[i].path, &disks);
		list_names(&disks, names, sizeof(names));
		if (status != path_cases[i].status ||
			strcmp(names, path_cases[i].names) != 0 || is_incomplete(&disks))
			fail_msg("%s, path \"%s\": %s, \"%s\"", path_cases[i].kind,
					 path_cases[i].path, strerror(status), names);
		sp_mount_table_free(table);
	}
}

static void
tells_the_backing_file(void **state)
{
	char		sysroot[PATH_MAX];
	sp_mount_table *table;

	(void) state;
	fixture_path(sysroot, "loop_stack");
	table = read_mounts(sysroot);
	for (size_t i = 0; i < lengthof(backing_cases); i++)
	{
		const char *expected = backing_cases[i].mount_point;
		sp_disks	disks;

		init_with_rubbish(&disks);
		assert_int_equal(sp_disks_find(sysroot, table,
									   find_mount(table, backing_cases[i].path),
									   &disks), 0);
		assert_string_equal(disks.backing_file, backing_cases[i].backing_file);
		if ((disks.backing_mount == NULL) != (expected == NULL))
			fail_msg("%s: backing mount", backing_cases[i].path);
		if (expected != NULL)
			assert_string_equal(disks.backing_mount->mount_point, expected);
	}
	sp_mount_table_free(table);
}

/* Cut short in the field, but not on the way to its disk (see the table). */
static void
cuts_a_long_backing_file(void **state)
{
	char		sysroot[PATH_MAX];
	sp_mount_table *table;
	sp_disks	disks;

	(void) state;
	fixture_path(sysroot, "loop_stack");
	table = read_mounts(sysroot);
	init_with_rubbish(&disks);
	assert_int_equal(sp_disks_find(sysroot, table,
								   find_mount(table, "/mnt/8"), &disks), 0);
	assert_int_equal(strlen(disks.backing_file),
					 sizeof(disks.backing_file) - 1);
	assert_memory_equal(disks.backing_file, "/srv/directory_of_", 18);
	assert_string_equal(disks.backing_mount->mount_point, "/");
	sp_mount_table_free(table);
}

/* Several mounts and paths in one list: each disk once, nothing lost. */
static void
adds_to_what_is_there(void **state)
{
	char		sysroot[PATH_MAX];
	char		names[1024];
	sp_mount_table *table;
	sp_disks	disks;

	(void) state;
	fixture_path(sysroot, "loop_stack");
	table = read_mounts(sysroot);
	init_with_rubbish(&disks);
	assert_int_equal(sp_disks_add_path(sysroot, table, "/dev/vdb", &disks), 0);
	assert_int_equal(sp_disks_find(sysroot, table,
								   find_mount(table, "/mnt/0"), &disks), 0);
	assert_int_equal(sp_disks_add_path(sysroot, table, "/dev/vdb1", &disks),
					 0);
	/* vda is known only as a backing device */
	assert_int_equal(sp_disks_find(sysroot, table, find_mount(table, "/"),
								   &disks), 0);
	assert_int_equal(sp_disks_add_path(sysroot, table, "/dev/nothing", &disks),
					 ENODEV);
	list_names(&disks, names, sizeof(names));
	assert_string_equal(names, "vdb loop0 vda/vda");
	assert_false(is_incomplete(&disks));
	sp_mount_table_free(table);
}

static void
does_without_mounts(void **state)
{
	char		sysroot[PATH_MAX];
	char		names[1024];
	sp_mount_table *table;
	sp_disks	disks;

	(void) state;
	fixture_path(sysroot, "loop_stack");
	table = read_mounts(sysroot);
	init_with_rubbish(&disks);
	assert_int_equal(sp_disks_find(sysroot, NULL, find_mount(table, "/mnt/0"),
								   &disks), 0);
	list_names(&disks, names, sizeof(names));
	assert_string_equal(names, "loop0");
	assert_string_equal(disks.backing_file, "/srv/images/a.img");
	assert_null(disks.backing_mount);
	assert_true(is_incomplete(&disks));
	assert_int_equal(sp_disks_add_path(sysroot, NULL, "/srv/x", &disks),
					 ENODEV);
	assert_int_equal(sp_disks_find(sysroot, NULL,
								   find_mount(table, "/mnt/overlay"), &disks),
					 ENODEV);
	sp_mount_table_free(table);
}

static void make_path(char *path, const char *format,...)
			__attribute__((format(printf, 2, 3)));

/* Format a path of PATH_MAX bytes, and make the directories above it. */
static void
make_path(char *path, const char *format,...)
{
	va_list		arguments;

	va_start(arguments, format);
	assert_uint_in_range(vsnprintf(path, PATH_MAX, format, arguments), 1,
					PATH_MAX - 1);
	va_end(arguments);
	for (char *slash = path + 1; (slash = strchr(slash, '/')) != NULL; slash++)
	{
		*slash = '\0';
		assert_true(mkdir(path, 0700) == 0 || errno == EEXIST);
		*slash = '/';
	}
}

static void
write_attribute(const char *sysroot, const char *disk, const char *attribute,
				const char *text)
{
	char		path[PATH_MAX];
	FILE	   *file;

	make_path(path, "%s/sys/class/block/%s/%s", sysroot, disk, attribute);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

/* Create two disks, one of them the slave of the other. */
static void
make_slave(const char *sysroot, const char *upper, const char *lower)
{
	char		path[PATH_MAX];
	char		target[128];

	make_path(path, "%s/sys/class/block/%s/x", sysroot, lower);
	make_path(path, "%s/sys/class/block/%s/slaves/%s", sysroot, upper, lower);
	snprintf(target, sizeof(target), "../../%s", lower);
	assert_int_equal(symlink(target, path), 0);
}

static void
add_disk(const char *sysroot, const char *name, sp_disks *disks)
{
	char		path[128];

	snprintf(path, sizeof(path), "/dev/%s", name);
	assert_int_equal(sp_disks_add_path(sysroot, NULL, path, disks), 0);
}

static void
knows_physical_disks(void **state)
{
	for (size_t i = 0; i < lengthof(physical_cases); i++)
	{
		char		sysroot[PATH_MAX];
		const char *name = physical_cases[i].name;
		sp_disks	disks;

		/* each row has a tree of its own, without the attributes of others */
		snprintf(sysroot, sizeof(sysroot), "%s/%zu", (char *) *state, i);
		write_attribute(sysroot, name, "queue/rotational", "0\n");
		if (physical_cases[i].vendor != NULL)
			write_attribute(sysroot, name, "device/vendor",
							physical_cases[i].vendor);
		if (physical_cases[i].model != NULL)
			write_attribute(sysroot, name, "device/model",
							physical_cases[i].model);
		init_with_rubbish(&disks);
		add_disk(sysroot, name, &disks);
		if (disks.disks[0].is_physical != physical_cases[i].is_physical)
			fail_msg("%s, \"%s\", \"%s\": %d", name,
					 physical_cases[i].vendor ? physical_cases[i].vendor : "",
					 physical_cases[i].model ? physical_cases[i].model : "",
					 disks.disks[0].is_physical);
		if (disks.disks[0].is_virtual != physical_cases[i].is_virtual)
			fail_msg("row %zu, %s: virtual %d", i, name, disks.disks[0].is_virtual);
	}
}

/* A disk without the attribute makes the cache unknown, unless another one is write back. */
static void
takes_the_weakest_cache(void **state)
{
	static const struct
	{
		const char *caches[2];	/* NULL: no such attribute */
		const char *together;
	}			rows[] =
	{
		{{WT, WT}, WT}, {{WT, WB}, WB}, {{WB, WT}, WB}, {{WB, WB}, WB},
		{{WT, NULL}, ""}, {{NULL, WT}, ""}, {{NULL, NULL}, ""},
		{{NULL, WB}, WB}, {{WB, NULL}, WB},
	};

	for (size_t i = 0; i < lengthof(rows); i++)
	{
		char		sysroot[PATH_MAX];
		sp_disks	disks;

		snprintf(sysroot, sizeof(sysroot), "%s/%zu", (char *) *state, i);
		init_with_rubbish(&disks);
		for (int j = 0; j < 2; j++)
		{
			const char *name = j == 0 ? "vda" : "vdb";

			write_attribute(sysroot, name, "queue/rotational", "0\n");
			if (rows[i].caches[j] != NULL)
				write_attribute(sysroot, name, "queue/write_cache",
								rows[i].caches[j]);
			add_disk(sysroot, name, &disks);
		}
		if (strcmp(sp_disks_write_cache(&disks, SP_LEVEL_DEVICE),
				   rows[i].together) != 0)
			fail_msg("%zu: \"%s\"", i,
					 sp_disks_write_cache(&disks, SP_LEVEL_DEVICE));
		assert_string_equal(sp_disks_write_cache(&disks, SP_LEVEL_BACKING), "");
	}
}

static void
lists_no_more_than_it_can(void **state)
{
	sp_disks	disks;

	for (int i = 0; i < SP_MAX_DISKS + 1; i++)
	{
		char		name[16];

		snprintf(name, sizeof(name), "vd%02d", i);
		make_slave(*state, i < SP_MAX_DISKS ? "dm-0" : "dm-1", name);
	}
	init_with_rubbish(&disks);
	add_disk(*state, "dm-0", &disks);
	assert_int_equal(disks.count, SP_MAX_DISKS);
	assert_false(is_incomplete(&disks));
	/* in the list already */
	add_disk(*state, "vd63", &disks);
	assert_false(is_incomplete(&disks));
	add_disk(*state, "dm-1", &disks);
	assert_int_equal(disks.count, SP_MAX_DISKS);
	assert_true(is_incomplete(&disks));
	assert_string_equal(disks.disks[SP_MAX_DISKS - 1].name, "vd63");
}

/* A character that does not fit as a whole is left out. */
static void
cuts_a_backing_file_between_letters(void **state)
{
	char		path[400] = "/srv/";
	sp_disks	disks;

	/* two bytes each, and an odd number of bytes before them */
	while (strlen(path) < 300)
		strcat(path, "\303\274");
	write_attribute(*state, "loop0", "loop/backing_file", path);
	init_with_rubbish(&disks);
	add_disk(*state, "loop0", &disks);
	assert_int_equal(strlen(disks.backing_file), 255);
	write_attribute(*state, "loop0", "loop/backing_file", path + 1);
	init_with_rubbish(&disks);
	add_disk(*state, "loop0", &disks);
	assert_int_equal(strlen(disks.backing_file), 254);
	assert_memory_equal(disks.backing_file, path + 1, 254);
}

/* A slave has been removed, and then the device itself cannot be read. */
static void
changes_nothing_on_error(void **state)
{
	char		path[PATH_MAX];
	sp_disks	disks;

	make_path(path, "%s/sys/class/block/dm-0/slaves/vda", (char *) *state);
	assert_int_equal(symlink("../../vda", path), 0);
	make_path(path, "%s/sys/class/block/dm-0/queue/rotational/x",
			  (char *) *state);
	init_with_rubbish(&disks);
	assert_int_equal(sp_disks_add_path(*state, NULL, "/dev/dm-0", &disks),
					 EISDIR);
	assert_int_equal(disks.count, 0);
	assert_false(is_incomplete(&disks));
}

/* The stack may be high enough for real systems, but not endless. */
static void
follows_a_high_stack(void **state)
{
	sp_disks	disks;

	for (int i = 0; i < 30; i++)
	{
		char		upper[16];
		char		lower[16];

		snprintf(upper, sizeof(upper), "dm-%d", i);
		snprintf(lower, sizeof(lower), "dm-%d", i + 1);
		make_slave(*state, upper, lower);
	}
	make_slave(*state, "dm-30", "vda");
	init_with_rubbish(&disks);
	add_disk(*state, "dm-20", &disks);
	assert_int_equal(disks.count, 1);
	assert_string_equal(disks.disks[0].name, "vda");
	assert_false(is_incomplete(&disks));
	init_with_rubbish(&disks);
	add_disk(*state, "dm-0", &disks);
	assert_int_equal(disks.count, 1);
	assert_int_equal(strncmp(disks.disks[0].name, "dm-", 3), 0);
	assert_true(is_incomplete(&disks));
}

/* Only root can make nodes: one file, if set, looks like the node of vdb. */
static const char *node;

extern int	__real_stat(const char *path, struct stat *st);
extern int	__wrap_stat(const char *path, struct stat *st);

int
__wrap_stat(const char *path, struct stat *st)
{
	if (node == NULL || strcmp(path, node) != 0)
		return __real_stat(path, st);
	memset(st, 0, sizeof(*st));
	st->st_mode = S_IFBLK | 0600;
	st->st_rdev = makedev(254, 16);
	return 0;
}

/* The number of a node decides, whatever its name is. */
static void
asks_a_node_for_its_number(void **state)
{
	char		sysroot[PATH_MAX];
	char		path[PATH_MAX];
	sp_disks	disks;

	snprintf(sysroot, sizeof(sysroot), "%s", (char *) *state);
	write_attribute(sysroot, "vda", "queue/rotational", "0\n");
	write_attribute(sysroot, "vdb", "queue/rotational", "1\n");
	make_path(path, "%s/sys/dev/block/254:16", sysroot);
	assert_int_equal(symlink("../../class/block/vdb", path), 0);
	make_path(path, "%s/dev/vda", sysroot);
	node = path;
	init_with_rubbish(&disks);
	add_disk(sysroot, "vda", &disks);
	node = NULL;
	assert_string_equal(disks.disks[0].name, "vdb");
	assert_int_equal(disks.disks[0].rotational, 1);
}

static void
read_counters(const char *kind, sp_counters *sum)
{
	char		sysroot[PATH_MAX];
	sp_mount_table *table;
	sp_disks	disks;
	sp_counters counters[SP_LEVELS];

	fixture_path(sysroot, kind);
	table = read_mounts(sysroot);
	init_with_rubbish(&disks);
	assert_int_equal(sp_disks_find(sysroot, table, find_mount(table, "/"),
								   &disks), 0);
	assert_int_equal(sp_disks_open(sysroot, &disks), 0);
	assert_true(sp_disks_read(&disks, counters));
	sp_disks_close(&disks);
	sp_mount_table_free(table);
	*sum = counters[SP_LEVEL_DEVICE];
}

/* Of one disk, of two, and of one that counts flushes beside one that does not. */
static void
reads_captured_counters(void **state)
{
	sp_counters one;
	sp_counters two;
	sp_counters mixed;

	(void) state;
	read_counters("virtio_ext4", &one);
	assert_int_equal(one.writes, 12132712);
	assert_true(one.has_flushes);
	assert_int_equal(one.flushes, 2481116);
	read_counters("lvm_on_md", &two);
	assert_int_equal(two.writes, 2 * one.writes);
	assert_int_equal(two.flushes, 2 * one.flushes);
	read_counters("raid1", &mixed);
	assert_int_equal(mixed.writes, one.writes + 1190674);
	assert_false(mixed.has_flushes);
}

static void
check_sums(const sp_counters *found, uint64_t writes, uint64_t flushes)
{
	assert_int_equal(found->writes, writes);
	assert_int_equal(found->written_bytes, writes * 4096);
	assert_int_equal(found->has_flushes, flushes > 0);
	assert_int_equal(found->flushes, flushes);
}

static void
write_stat(const char *sysroot, const char *disk, int writes, int flushes)
{
	char		text[256];

	snprintf(text, sizeof(text), "0 0 0 0 %d 0 %d 0 0 0 0 0 0 0 0 %d 0\n",
			 writes, writes * 8, flushes);
	write_attribute(sysroot, disk, "stat", text);
}

static void
sums_the_counters_of_each_level(void **state)
{
	sp_disks	disks;
	sp_counters counters[SP_LEVELS];
	int			fd = lowest_free_descriptor();

	write_stat(*state, "loop0", 5, 6);
	write_attribute(*state, "loop0", "loop/backing_file", "/dev/dm-0\n");
	write_stat(*state, "vda", 10, 20);
	write_stat(*state, "vdb", 100, 200);
	make_slave(*state, "dm-0", "vda");
	make_slave(*state, "dm-0", "vdb");
	init_with_rubbish(&disks);
	add_disk(*state, "loop0", &disks);
	assert_int_equal(sp_disks_open(*state, &disks), 0);
	assert_true(sp_disks_read(&disks, counters));
	check_sums(&counters[SP_LEVEL_DEVICE], 5, 6);
	check_sums(&counters[SP_LEVEL_BACKING], 110, 220);
	/* the same descriptor tells what is new */
	write_stat(*state, "vda", 11, 21);
	assert_true(sp_disks_read(&disks, counters));
	check_sums(&counters[SP_LEVEL_BACKING], 111, 221);
	assert_false(counters[SP_LEVEL_BACKING].flushes_only);
	/* one disk of a level that counts nothing else, or no flushes, is enough */
	disks.disks[1].counts_flushes_only = true;
	assert_true(sp_disks_read(&disks, counters));
	assert_true(counters[SP_LEVEL_BACKING].flushes_only);
	assert_false(counters[SP_LEVEL_DEVICE].flushes_only);
	write_attribute(*state, "vdb", "stat", "0 0 0 0 100 0 800 0 0 0 0\n");
	assert_true(sp_disks_read(&disks, counters));
	check_sums(&counters[SP_LEVEL_DEVICE], 5, 6);
	check_sums(&counters[SP_LEVEL_BACKING], 111, 0);
	/* opened twice is open once */
	assert_int_equal(sp_disks_open(*state, &disks), 0);
	assert_true(sp_disks_read(&disks, counters));
	sp_disks_close(&disks);
	assert_int_equal(lowest_free_descriptor(), fd);
	assert_false(sp_disks_read(&disks, counters));
	/* the number may be another file's by now */
	assert_int_equal(dup(STDERR_FILENO), fd);
	sp_disks_close(&disks);
	assert_int_equal(close(fd), 0);
}

static void
has_no_counters_without_disks(void **state)
{
	sp_disks	disks;
	sp_counters counters[SP_LEVELS];
	const sp_counters zero = {0};

	init_with_rubbish(&disks);
	assert_int_equal(sp_disks_open(*state, &disks), 0);
	memset(counters, 'x', sizeof(counters));
	assert_true(sp_disks_read(&disks, counters));
	for (int i = 0; i < SP_LEVELS; i++)
		assert_memory_equal(&counters[i], &zero, sizeof(zero));
	sp_disks_close(&disks);
	/* a level without disks, beside one with some */
	write_stat(*state, "vda", 1, 2);
	add_disk(*state, "vda", &disks);
	assert_int_equal(sp_disks_open(*state, &disks), 0);
	memset(counters, 'x', sizeof(counters));
	assert_true(sp_disks_read(&disks, counters));
	check_sums(&counters[SP_LEVEL_DEVICE], 1, 2);
	assert_memory_equal(&counters[SP_LEVEL_BACKING], &zero, sizeof(zero));
	sp_disks_close(&disks);
}

/* Text that the kernel does not write, or a descriptor that cannot be read. */
static void
reports_counters_it_cannot_read(void **state)
{
	static const char *const garbage[] = {"", "\n", "1 2 3\n", "no numbers\n",
	"0 0 0 0 1 0 8 0 -1 0 0\n"};
	char		path[PATH_MAX];
	sp_disks	disks;
	sp_counters counters[SP_LEVELS];
	int			fd = lowest_free_descriptor();

	write_stat(*state, "vda", 1, 2);
	write_stat(*state, "vdb", 1, 2);
	init_with_rubbish(&disks);
	add_disk(*state, "vda", &disks);
	add_disk(*state, "vdb", &disks);
	assert_int_equal(sp_disks_open(*state, &disks), 0);
	for (size_t i = 0; i < lengthof(garbage); i++)
	{
		write_attribute(*state, "vdb", "stat", garbage[i]);
		if (sp_disks_read(&disks, counters))
			fail_msg("understood \"%s\"", garbage[i]);
		assert_int_equal(counters[SP_LEVEL_DEVICE].writes, 0);
	}
	sp_disks_close(&disks);
	/* reading a directory fails, as reading a removed disk does */
	make_path(path, "%s/sys/class/block/vdb/stat", (char *) *state);
	assert_int_equal(remove(path), 0);
	make_path(path, "%s/sys/class/block/vdb/stat/x", (char *) *state);
	assert_int_equal(sp_disks_open(*state, &disks), 0);
	assert_false(sp_disks_read(&disks, counters));
	sp_disks_close(&disks);
	assert_int_equal(lowest_free_descriptor(), fd);
}

/* With a disk that counts no flushes, or an unknown one, missing flushes prove nothing. */
static void
knows_who_counts_flushes(void **state)
{
	sp_disks	disks;

	write_attribute(*state, "vda", "mq/0/nr_tags", "128\n");
	write_attribute(*state, "zd0", "queue/rotational", "0\n");
	write_attribute(*state, "dm-9", "mq/0/nr_tags", "128\n");
	init_with_rubbish(&disks);
	assert_true(sp_disks_count_flushes(&disks, SP_LEVEL_DEVICE));
	add_disk(*state, "vda", &disks);
	assert_true(disks.disks[0].counts_flushes);
	assert_true(sp_disks_count_flushes(&disks, SP_LEVEL_DEVICE));
	add_disk(*state, "zd0", &disks);
	assert_false(disks.disks[1].counts_flushes);
	assert_false(sp_disks_count_flushes(&disks, SP_LEVEL_DEVICE));
	assert_true(sp_disks_count_flushes(&disks, SP_LEVEL_BACKING));
	/* without its slaves */
	init_with_rubbish(&disks);
	add_disk(*state, "dm-9", &disks);
	assert_true(disks.disks[0].counts_flushes);
	assert_false(sp_disks_count_flushes(&disks, SP_LEVEL_DEVICE));
}

static void
compares_the_caches(void **state)
{
	sp_disks	disks;

	write_attribute(*state, "vda", "queue/write_cache", "write back\n");
	write_attribute(*state, "vda", "queue/iostats", "1\n");
	write_attribute(*state, "vdb", "queue/write_cache", "write back\n");
	write_attribute(*state, "vdb", "queue/iostats", "0\n");
	write_attribute(*state, "vdc", "queue/write_cache", "write through\n");
	init_with_rubbish(&disks);
	assert_false(sp_disks_caches_differ(&disks, SP_LEVEL_DEVICE));
	add_disk(*state, "vda", &disks);
	add_disk(*state, "vdb", &disks);
	assert_false(sp_disks_caches_differ(&disks, SP_LEVEL_DEVICE));
	add_disk(*state, "vdc", &disks);
	assert_true(sp_disks_caches_differ(&disks, SP_LEVEL_DEVICE));
	assert_false(sp_disks_caches_differ(&disks, SP_LEVEL_BACKING));
	/* statistics that were switched off */
	assert_false(disks.disks[0].counts_flushes_only);
	assert_true(disks.disks[1].counts_flushes_only);
	assert_false(disks.disks[2].counts_flushes_only);
}

/* A stack of /dev/<top> over vda and vdb (or other slaves), and what must be flushed. */
static const struct
{
	const char *kind;
	const char *top;
	const char *attribute;		/* of it, that says what it is; or NULL */
	const char *value;
	const char *slaves[3];
	double		least;			/* of vda 2, vdb 30, vdc 500 flushes */
	double		required;
}			duty_cases[] =
{
	{"RAID 1", "md0", "md/level", "raid1\n", {"vda", "vdb"}, 2, 2},
	{"RAID 0", "md0", "md/level", "raid0\n", {"vda", "vdb"}, 2, 2},
	{"RAID 10", "md0", "md/level", "raid10\n", {"vda", "vdb"}, 2, 2},
	{"a linear array", "md0", "md/level", "linear\n", {"vda", "vdb"}, 2, 2},
	{"RAID 5", "md0", "md/level", "raid5\n", {"vda", "vdb"}, 2, 32},
	{"an array of unknown kind", "md0", NULL, NULL, {"vda", "vdb"}, 2, 32},
	{"multipath", "dm-0", "dm/uuid", "mpath-36001405\n", {"vda", "vdb"}, 32, 32},
	{"LVM over two", "dm-0", "dm/uuid", "LVM-abc\n", {"vda", "vdb"}, 2, 32},
	{"LVM over one", "dm-0", "dm/uuid", "LVM-abc\n", {"vdb"}, 30, 30},
	{"one needs no flush", "md0", "md/level", "raid1\n", {"vda", "vdc"}, 2, 2},
	{"one needs no flush, or the other", "dm-0", "dm/uuid", "LVM-abc\n", {"vda", "vdc"}, 2, NAN},
	{"none needs a flush", "md0", "md/level", "raid1\n", {"vdc"}, NAN, NAN},
	{"one and a spare", "md0", "md/level", "raid1\n", {"vdb", "vdd"}, 30, 30},
	{"no cache is known", "md0", "md/level", "raid1\n", {"vdb", "vde"}, 7, 30},
};

static void
same_double(const char *kind, double found, double expected)
{
	if (!(found == expected || (isnan(found) && isnan(expected))))
		fail_msg("%s: %g, not %g", kind, found, expected);
}

static void
knows_which_disks_each_sync_flushes(void **state)
{
	static const struct
	{
		const char *name;
		const char *cache;
		int			flushes;
	}			all[] = {
		{"vda", "write back\n", 2}, {"vdb", "write back\n", 30},
		{"vdc", "write through\n", 500}, {"vdd", "write back\n", 0}, {"vde", "\n", 7},
	};

	for (size_t i = 0; i < lengthof(duty_cases); i++)
	{
		sp_disks	disks;
		sp_counters counters[SP_LEVELS];
		char		sysroot[PATH_MAX];
		const char *top = duty_cases[i].top;

		/* each row has a tree of its own */
		snprintf(sysroot, sizeof(sysroot), "%s/%zu", (char *) *state, i);
		for (size_t d = 0; d < lengthof(all); d++)
		{
			write_stat(sysroot, all[d].name, 1, all[d].flushes);
			write_attribute(sysroot, all[d].name, "queue/write_cache", all[d].cache);
		}
		write_attribute(sysroot, top, "queue/rotational", "0\n");
		if (duty_cases[i].attribute)
			write_attribute(sysroot, top, duty_cases[i].attribute, duty_cases[i].value);
		for (int n = 0; n < 3 && duty_cases[i].slaves[n]; n++)
		{
			char		slot[64];

			make_slave(sysroot, top, duty_cases[i].slaves[n]);
			snprintf(slot, sizeof(slot), "md/dev-%s/slot", duty_cases[i].slaves[n]);
			write_attribute(sysroot, top, slot,
							strcmp(duty_cases[i].slaves[n], "vdd") == 0 ? "none\n" : "0\n");
		}
		init_with_rubbish(&disks);
		add_disk(sysroot, top, &disks);
		assert_int_equal(sp_disks_open(sysroot, &disks), 0);
		assert_true(sp_disks_read(&disks, counters));
		sp_disks_close(&disks);
		same_double(duty_cases[i].kind, sp_counters_least_flushes(&counters[0]),
					duty_cases[i].least);
		same_double(duty_cases[i].kind, sp_counters_required_flushes(&counters[0]),
					duty_cases[i].required);
	}
}

/* As for a pool of ZFS: the log device decides, and data devices are one member. */
static void
takes_the_duty_from_the_caller(void **state)
{
	sp_disks	disks;
	sp_counters counters[SP_LEVELS];

	write_stat(*state, "vda", 1, 2);
	write_stat(*state, "vdb", 1, 30);
	write_stat(*state, "vdc", 1, 500);
	write_attribute(*state, "vda", "queue/write_cache", "write back\n");
	write_attribute(*state, "vdb", "queue/write_cache", "write back\n");
	write_attribute(*state, "vdc", "queue/write_cache", "write through\n");
	for (int log_decides = 0; log_decides < 2; log_decides++)
	{
		init_with_rubbish(&disks);
		sp_disks_expect(&disks, SP_FLUSHED_PERHAPS, true);
		add_disk(*state, "vdb", &disks);
		if (log_decides)
			sp_disks_expect(&disks, SP_FLUSHED_NEVER, false);
		add_disk(*state, "vda", &disks);
		add_disk(*state, "vdc", &disks);
		assert_int_equal(sp_disks_open(*state, &disks), 0);
		assert_true(sp_disks_read(&disks, counters));
		sp_disks_close(&disks);
		assert_int_equal(counters[0].flushes, 532);
		same_double("least", sp_counters_least_flushes(&counters[0]), log_decides ? 30 : 32);
		same_double("required", sp_counters_required_flushes(&counters[0]),
					log_decides ? 532 : NAN);
		assert_int_equal(sp_disks_caches_differ(&disks, SP_LEVEL_DEVICE), !log_decides);
		assert_int_equal(sp_disks_count(&disks, SP_LEVEL_DEVICE), 3);
		assert_int_equal(sp_disks_count(&disks, SP_LEVEL_BACKING), 0);
		/* a disk that is also one of the others keeps the stricter duty */
		sp_disks_expect(&disks, SP_FLUSHED_ALWAYS, false);
		add_disk(*state, "vda", &disks);
		assert_int_equal(disks.count, 3);
		assert_int_equal(disks.disks[1].duty, SP_FLUSHED_ALWAYS);
	}
}

static void
opens_all_or_none(void **state)
{
	char		sysroot[PATH_MAX];
	sp_disks	disks;
	sp_counters counters[SP_LEVELS];
	int			fd = lowest_free_descriptor();

	write_stat(*state, "vda", 1, 2);
	write_attribute(*state, "vdb", "queue/rotational", "0\n");
	init_with_rubbish(&disks);
	add_disk(*state, "vda", &disks);
	assert_false(sp_disks_read(&disks, counters));
	add_disk(*state, "vdb", &disks);
	assert_int_equal(sp_disks_open(*state, &disks), ENOENT);
	assert_int_equal(lowest_free_descriptor(), fd);
	assert_false(sp_disks_read(&disks, counters));
	/* any shortened path would still be a directory */
	for (size_t i = 0; i < sizeof(sysroot) - 1; i++)
		sysroot[i] = i % 2 == 0 ? '/' : '.';
	sysroot[sizeof(sysroot) - 1] = '\0';
	assert_int_equal(sp_disks_open(sysroot, &disks), ENAMETOOLONG);
	assert_int_equal(sp_disks_add_path(sysroot, NULL, "/dev/vda", &disks),
					 ENAMETOOLONG);
	assert_int_equal(disks.count, 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_the_disks_below_a_mount),
		cmocka_unit_test(lists_the_disks_below_a_path),
		cmocka_unit_test(tells_the_backing_file),
		cmocka_unit_test(cuts_a_long_backing_file),
		cmocka_unit_test(adds_to_what_is_there),
		cmocka_unit_test(does_without_mounts),
		WITH_DIRECTORY(knows_physical_disks),
		WITH_DIRECTORY(takes_the_weakest_cache),
		WITH_DIRECTORY(lists_no_more_than_it_can),
		WITH_DIRECTORY(cuts_a_backing_file_between_letters),
		WITH_DIRECTORY(changes_nothing_on_error),
		WITH_DIRECTORY(follows_a_high_stack),
		WITH_DIRECTORY(asks_a_node_for_its_number),
		cmocka_unit_test(reads_captured_counters),
		WITH_DIRECTORY(sums_the_counters_of_each_level),
		WITH_DIRECTORY(has_no_counters_without_disks),
		WITH_DIRECTORY(reports_counters_it_cannot_read),
		WITH_DIRECTORY(knows_who_counts_flushes),
		WITH_DIRECTORY(compares_the_caches),
		WITH_DIRECTORY(knows_which_disks_each_sync_flushes),
		WITH_DIRECTORY(takes_the_duty_from_the_caller),
		WITH_DIRECTORY(opens_all_or_none),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("disks", tests, NULL, NULL);
}
