/*-------------------------------------------------------------------------
 *
 * test_disks.c
 *	  Tests of src/engine/storage/disk*.c on captured and made sysfs trees.
 *
 * It must not: look at the devices of the machine it runs on.  To add a kind of
 * stack, add a file in test/fixtures/sysroot and a row of the table.
 *
 *-------------------------------------------------------------------------
 */
#include "fixtures.h"

#include <sys/sysmacros.h>

#include "engine/storage/disks.h"

static const sp_mount_table no_mounts = {0};

/*
 * What is found below a mount, or below a path that is no mount point.  The text is that
 * of describe(), or the error.
 */
typedef struct disks_case
{
	const char *path;
	int			status;
	const char *text;
} disks_case;

/* A kind of system, and rows up to the one without a path. */
static const struct
{
	const char *kind;
	disks_case	rows[33];
}			disks_cases[] =
{
	{"virtio_ext4", {
			{"/", 0, "vda@: vda@, write back"},
			{"/srv/pg", 0, "vdb@: vdb@, write through, fua"},
			{"/proc", ENODEV, ""},
			{"/dev", ENODEV, ""},
	}},
	{"nvme_xfs", {
			/* the model is the controller's, in the parent directory */
			{"/", 0, "nvme0n1: nvme0n1, write back, fua"},
			{"/boot/efi", 0, "nvme0n1: nvme0n1, write back, fua"},
	}},
	{"nvme_multipath", {
			/* the head counts no flushes, and says less of the cache than the paths */
			{"/", 0, "nvme1n1: nvme1c0n1 nvme1c1n1, write back, fua"},
			{"/srv/pg", 0, "nvme11n1: nvme11c0n1, write back, fua"},
	}},
	{"sda_partition", {
			{"/", 0, "sda@: sda@*, write back"},
			{"/var/lib/postgresql", 0, "sda@: sda@*, write back"},
	}},
	{"dm_nvme", {
			{"/", 0, "dm-0: nvme0n1, write back, fua"},
	}},
	{"md0", {
			{"/", ENODEV, ""},
			/* no slaves known, or only one that has gone */
			{"/srv/pg", 0, "md0@: md0@, write back, fua; incomplete"},
			{"/srv/wal", 0, "md1: md1, write back, fua; incomplete"},
	}},
	{"lvm_on_md", {
			{"/", 0, "dm-0: sda* sdb*, write back"},
			{"/srv/pg", 0, "dm-1: sda* sdb* sdc@, write back"},
			{"/boot", 0, "sda: sda*, write back"},
			{"/dev/dm-0", 0, ": sda* sdb*, write back"},
	}},
	{"raid1", {
			/* the weakest cache decides */
			{"/", 0, "md0: sda* sdb*, write back, fua"},
	}},
	{"btrfs", {
			{"/", 0, "vda: vda, write back, fua"},
			{"/srv/whole", 0, "vdb@: vdb@ vdc@, write back, fua"},
			{"/srv/mapped", 0, "dm-1: dm-1, write back, fua; incomplete"},
			{"/srv/dm", 0, "dm-0: dm-0, write through, fua; incomplete"},
			{"/srv/gone", ENODEV, ""},
			{"/srv/pg", 0, "vda: vda, write back, fua"},
			{"/srv/unmapped", ENODEV, ""},
	}},
	{"loop", {
			/* files on a device that the tree lacks, and on one that was deleted */
			{"/mnt/ext4", 0, "loop0: loop0, write back, fua /, fua; incomplete"},
			{"/mnt/part", 0, "loop1: loop1, write through, fua /, fua; incomplete"},
			{"/", ENODEV, ""},
	}},
	{"loop_stack", {
			/* xfs on LVM, a file, loop; and that once more */
			{"/mnt/0", 0, "loop0: loop0, write back / vda@, write back"},
			{"/mnt/1", 0, "loop1: loop1, write back / vda@, write back"},
			{"/mnt/11", 0, "loop11: loop11, write back / vda@, write back"},
			/* devices: by a symbolic link, a partition, a name of device-mapper */
			{"/mnt/2", 0, "loop2: loop2, write back / vdb@, write through, fua"},
			{"/mnt/3", 0, "loop3: loop3, write back / vdb@, write through, fua"},
			{"/mnt/7", 0, "loop7: loop7, write back / vda@, write back"},
			{"/mnt/8", 0, "loop8: loop8, write back / vda@, write back"},
			{"/mnt/14", 0, "loop14: loop14, write back / vdb@, write through, fua"},
			/* not to be followed: deleted, hidden by its own mount, no disk below */
			{"/mnt/4", 0, "loop4: loop4, write back /, fua; incomplete"},
			{"/mnt/5", 0, "loop5: loop5, write back /, fua; incomplete"},
			{"/mnt/6", 0, "loop6: loop6, write back /, fua; incomplete"},
			{"/mnt/9", 0, "loop9: loop9, write back /, fua; incomplete"},
			{"/mnt/10", 0, "loop10: loop10, write back /, fua; incomplete"},
			{"/mnt/13", 0, "loop13: loop13, write back /, fua; incomplete"},
			/* the lowest layer that is known */
			{"/mnt/12", 0, "loop12: loop12, write back / loop4, write back, fua; incomplete"},
			{"/srv/dm_on_loop", 0, "dm-1@: loop0 loop2, write back / vda@ vdb@, write back, fua"},
			{"/srv/part_of_loop", 0, "loop0: loop0, write back / vda@, write back"},
			{"/dev/vdb1", 0, ": vdb@, write through, fua"},
			{"/dev/vda", 0, ": vda@, write back"},
			{"/dev/disk/by-id/virtio-backup", 0, ": vdb@, write through, fua"},
			{"/dev/mapper/vg0-root", 0, ": vda@, write back"},
			{"/dev/loop0", 0, ": loop0, write back / vda@, write back"},
			{"/srv/vdev.img", 0, ": vda@, write back"},
			{"/srv/direct/vdev.img", 0, ": vdb@, write through, fua"},
			{"/mnt/0/vdev.img", 0, ": loop0, write back / vda@, write back"},
			{"/dev/shm/vdev.img", ENODEV, ""},
			{"/mnt/nfs/vdev.img", ENODEV, ""},
			{"/dev/", ENODEV, ""},
			{"/dev/..", ENODEV, ""},
			{"/dev/nothing", ENODEV, ""},
			{"/dev/disk/by-id/nothing", ENODEV, ""},
			{"vdb1", ENODEV, ""},
	}},
	{"dm_cycle", {
			{"/0", 0, "dm-0: dm-1, write back, fua; incomplete"},
			{"/1", 0, "dm-1: dm-0, write back, fua; incomplete"},
			{"/2", 0, "dm-2: vda, write back, fua; incomplete"},
			{"/3", 0, "dm-3: dm-3, write back, fua; incomplete"},
	}},
	{"overlay", {
			/* in the container, and from its host */
			{"/", ENODEV, ""},
			{"/var/lib/postgresql/data", 0, "vda@: vda@, write back"},
	}},
	{"overlay_host", {
			{"/var/lib/docker/overlay2/c0ffee/merged", 0, "vdb@: vdb@, write back"},
			{"/mnt/two", 0, "vdb@: vdb@, write back"},
			{"/mnt/comma", 0, "vdc@: vdc@, write back"},
			{"/mnt/on_tmpfs", ENODEV, ""},
			{"/mnt/readonly", ENODEV, ""},
	}},
	{"zfs", {
			{"/", ENODEV, ""},
			{"/srv/pg/wal", ENODEV, ""},
	}},
	{"network", {
			{"/srv/nfs", ENODEV, ""},
			{"/srv/claims", ENODEV, ""},
			{"/srv/cifs", ENODEV, ""},
			{"/srv/sshfs", ENODEV, ""},
			{"/srv/host", ENODEV, ""},
			{"/srv/ntfs", 0, "vdb@: vdb@, write back, fua"},
	}},
	{"tmpfs", {
			{"/srv/ram", ENODEV, ""},
			{"/dev/shm", ENODEV, ""},
			{"/srv/nameless", ENODEV, ""},
	}},
	{"no_sysfs", {
			{"/", ENODEV, ""},
			{"/dev/vda", ENODEV, ""},
	}},
	{"odd_attributes", {
			{"/", 0, "vda@: vda@, fua"},
			{"/noqueue", 0, "vdd?: vdd?, fua"},
			{"/cciss", 0, "cciss!c0d0@: cciss!c0d0@, write through, fua"},
			{"/directory", 0, "vdf?: vdf?, fua"},
			{"/circle", ELOOP, ""},
			{"/longname", ENAMETOOLONG, ""},
			{"/garbage", 0, "vdb?: vdb?, fua"},
			{"/empty", 0, "vdc?: vdc?, fua"},
			{"/long", 0, "vde?: vde?, fua"},
	}},
	{"dev_root", {
			{"/", 0, "mmcblk0: mmcblk0, write back, fua"},
			{"/pool", ENODEV, ""},
	}},
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
	{"/mnt/14", "/mnt/overlay/h.img", "/mnt/overlay"},
	{"/srv/dm_on_loop", "/srv/images/a.img", "/"},
	{"/", "", NULL},
};

/* Is a disk with this name, vendor and model virtual?  0 is a physical drive. */
static const struct
{
	const char *name;
	const char *vendor;			/* NULL: no such attribute */
	const char *model;
	int			is_virtual;
}			virtual_cases[] =
{
	{"sda", "ATA     ", "INTEL SSDSC2BB48", 0}, {"sda", "SEAGATE ", "ST600MM0208     ", 0},
	{"sda", "WDC", "WUSTR6480ASS204 ", 0}, {"sdaa", "TOSHIBA ", "AL15SEB060N     ", 0},
	{"sda", "QEMU    ", "QEMU HARDDISK   ", 1}, {"sda", "ATA     ", "QEMU HARDDISK   ", 1},
	{"sda", "ATA     ", "VMware Virtual I", 1}, {"sda", "Msft    ", "Virtual Disk    ", 1},
	{"sda", NULL, "QEMU HARDDISK   ", 1}, {"sda", "DELL    ", "PERC H730 Mini  ", -1},
	/* a RAID controller, unlike INTEL */
	{"sda", "Intel   ", "RS3DC080        ", -1}, {"sda", "ATAX    ", "x               ", -1},
	{"sda", "Virtual ", "x               ", -1}, {"sda", "        ", "                ", -1},
	{"sda", "ATA     ", NULL, -1},
	{"nvme0n1", NULL, "Samsung SSD 980 PRO 1TB                 ", -1},
	{"nvme0n1", NULL, "Amazon Elastic Block Store", 1},
	{"nvme0n1", NULL, "Amazon EC2 NVMe Instance Storage", -1}, {"mmcblk0", NULL, NULL, -1},
	/* no SCSI disk, whatever its attributes say */
	{"vda", "SEAGATE ", "ST600MM0208     ", 1}, {"xvda", NULL, NULL, 1}, {"loop3", NULL, NULL, 1},
	{"dm-7", NULL, "QEMU", -1},
};

/*
 * Sources of btrfs that must not be taken for a device.  Each would find something in
 * the btrfs tree if it were used in a path unchecked.
 */
static const char *const bad_sources[] = {
	"", "/", "/dev", "/dev/", "/dev/.", "/dev/..", "/dev/../block/vda", "/dev/vda/vda2",
	"/dev/./vda", "/dev//vda", "vda", "dev/vda", "/devvda", "/DEV/vda", "/dev/mapper",
	"/dev/mapper/", "/dev/mapper/.", "/dev/mapper/..", "/dev/mapper/dm-0", "/dev/mapper/vg0-p",
	"/dev/mapper/vg0-pg-", "/dev/mapper/../dm-0", "/dev/disk/by-label/x", "/dev/vda:/dev/vdb",
	"/dev/vda ",
};

/* Fill the fields, so that a field that is not set is detected. */
static void
init_with_rubbish(sp_disks *disks)
{
	memset(disks, 'x', sizeof(*disks));
	sp_disks_init(disks);
}

static bool
is_incomplete(const sp_disks *disks)
{
	return disks->incomplete[SP_LEVEL_DEVICE] || disks->incomplete[SP_LEVEL_BACKING];
}

/* A disk that rotates has an @ behind its name, or a ? if this is unknown. */
static const char *
rotates(const sp_disk *disk)
{
	return disk->rotational > 0 ? "@" : disk->rotational < 0 ? "?" : "";
}

/*
 * "TOP: DISKS, CACHE, fua / DISKS, CACHE, fua; incomplete": behind the slash are backing
 * devices, and what is not so is left out.  A disk of a known maker has a star.
 */
static const char *
describe(const sp_disks *disks)
{
	static char text[2048];
	size_t		length = (size_t) snprintf(text, sizeof(text), "%s%s:", disks->top.name,
										   rotates(&disks->top));

	for (int level = 0; level < SP_LEVELS; level++)
	{
		sp_disks_facts facts = sp_disks_summary(disks, (sp_level) level);
		size_t		before;

		length += (size_t) sprintf(text + length, level == 0 ? "" : " /");
		before = length;
		for (int i = 0; i < disks->count; i++)
		{
			assert_int_equal(disks->disks[i].stat_fd, -1);
			if ((int) disks->disks[i].level == level)
				length += (size_t) sprintf(text + length, " %s%s%s", disks->disks[i].name,
										   rotates(&disks->disks[i]),
										   disks->disks[i].is_virtual == 0 ? "*" : "");
		}
		length += (size_t) sprintf(text + length, "%s%s%s", facts.write_cache[0] ? ", " : "",
								   facts.write_cache, facts.fua ? ", fua" : "");
		if (level > 0 && length == before)
			text[length -= 2] = '\0';
	}
	if (is_incomplete(disks))
		strcpy(text + length, "; incomplete");
	return text;
}

static void
check_disks(const char *kind, const disks_case *row)
{
	char		sysroot[PATH_MAX];
	sp_mount_table *table;
	const sp_mount *mount;
	sp_disks	disks;
	int			fd = lowest_free_descriptor();
	int			status;

	fixture_path(sysroot, kind);
	assert_int_equal(sp_mount_table_read(sysroot, &table), 0);
	init_with_rubbish(&disks);
	mount = sp_mount_table_find(table, row->path);
	status = mount != NULL && strcmp(mount->mount_point, row->path) == 0 ?
		sp_disks_find(sysroot, table, mount, &disks) :
		sp_disks_add_path(sysroot, table, row->path, &disks);
	assert_int_equal(lowest_free_descriptor(), fd);
	if (status != row->status || strcmp(describe(&disks), status == 0 ? row->text : ":") != 0)
		fail_msg("%s, path \"%s\": %s, \"%s\"", kind, row->path, strerror(status),
				 describe(&disks));
	sp_mount_table_free(table);
}

TEST(lists_the_disks_below_a_mount_or_path)
{
	for (size_t i = 0; i < lengthof(disks_cases); i++)
	{
		for (const disks_case *row = disks_cases[i].rows; row->path != NULL; row++)
			check_disks(disks_cases[i].kind, row);
	}
}

TEST(tells_the_backing_file)
{
	char		sysroot[PATH_MAX];
	sp_mount_table *table;

	fixture_path(sysroot, "loop_stack");
	assert_int_equal(sp_mount_table_read(sysroot, &table), 0);
	for (size_t i = 0; i < lengthof(backing_cases); i++)
	{
		const char *expected = backing_cases[i].mount_point;
		sp_disks	disks;

		init_with_rubbish(&disks);
		assert_int_equal(sp_disks_find(sysroot, table,
									   sp_mount_table_find(table, backing_cases[i].path),
									   &disks), 0);
		assert_string_equal(disks.backing_file, backing_cases[i].backing_file);
		if ((disks.backing_mount == NULL) != (expected == NULL))
			fail_msg("%s: backing mount", backing_cases[i].path);
		if (expected != NULL)
			assert_string_equal(disks.backing_mount->mount_point, expected);
	}
	sp_mount_table_free(table);
}

static int
add(const char *sysroot, const char *name, sp_disks *disks)
{
	char		path[128];

	snprintf(path, sizeof(path), "/dev/%s", name);
	return sp_disks_add_path(sysroot, &no_mounts, path, disks);
}

/* Several names, up to a NULL, in one list. */
static void
add_all(const char *sysroot, sp_disks *disks, const char *const *names)
{
	for (; *names != NULL; names++)
		assert_int_equal(add(sysroot, *names, disks), 0);
}

/* Each disk once, nothing lost, and nothing added by an error. */
TEST(adds_to_what_is_there)
{
	char		sysroot[PATH_MAX];
	sp_mount_table *table;
	sp_disks	disks;

	fixture_path(sysroot, "loop_stack");
	assert_int_equal(sp_mount_table_read(sysroot, &table), 0);
	init_with_rubbish(&disks);
	add_all(sysroot, &disks, (const char *const[]) {"vdb", NULL});
	assert_int_equal(sp_disks_find(sysroot, table, sp_mount_table_find(table, "/mnt/0"),
								   &disks), 0);
	add_all(sysroot, &disks, (const char *const[]) {"vdb1", "vda", NULL});
	assert_int_equal(add(sysroot, "nothing", &disks), ENODEV);
	assert_string_equal(describe(&disks), "loop0: vdb@ loop0 vda@, write back, fua /"
						" vda@, write back");
	sp_mount_table_free(table);
}

TEST(does_not_trust_the_source)
{
	char		sysroot[PATH_MAX];
	char		fstype[] = "btrfs";
	char		text[300];
	sp_mount	mount = {.dev_minor = 99,.fstype = fstype,.source = text};
	sp_disks	disks;

	fixture_path(sysroot, "btrfs");
	init_with_rubbish(&disks);
	/* first check that the tree is right */
	strcpy(text, "/dev/mapper/vg0-pg");
	assert_int_equal(sp_disks_find(sysroot, &no_mounts, &mount, &disks), 0);
	for (size_t i = 0; i < lengthof(bad_sources) + 4; i++)
	{
		static const size_t lengths[] = {63, 64, 128, 256};

		/* ... and some that are too long */
		strcpy(text, i < lengthof(bad_sources) ? bad_sources[i] : "/dev/mapper/");
		if (i >= lengthof(bad_sources))
			memset(memset(text, 'x', sizeof(text)) + lengths[i - lengthof(bad_sources)], 0, 1);
		init_with_rubbish(&disks);
		if (sp_disks_find(sysroot, &no_mounts, &mount, &disks) != ENODEV ||
			strcmp(describe(&disks), ":") != 0)
			fail_msg("source \"%s\": %s", text, describe(&disks));
	}
}

/* What sysroot/NUMBER is to hold: each row has a tree of its own. */
static const char *
make_row(const char *root, size_t number, const char *text)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%zu", root, number);
	if (!make_tree(path, text))
		fail_msg("%s", text);
	return path;
}

TEST_IN_DIRECTORY(tells_virtual_from_physical)
{
	for (size_t i = 0; i < lengthof(virtual_cases); i++)
	{
		const char *vendor = virtual_cases[i].vendor;
		const char *model = virtual_cases[i].model;
		char		text[256];
		sp_disks	disks;

		snprintf(text, sizeof(text), "device - %s\n%s%s\n%s%s\n", virtual_cases[i].name,
				 vendor ? "\tdevice/vendor: " : "", vendor ? vendor : "",
				 model ? "\tdevice/model: " : "", model ? model : "");
		init_with_rubbish(&disks);
		assert_int_equal(add(make_row(*state, i, text), virtual_cases[i].name, &disks), 0);
		if (disks.disks[0].is_virtual != virtual_cases[i].is_virtual)
			fail_msg("%s is %d", text, disks.disks[0].is_virtual);
	}
}

#define BACK "\tqueue/write_cache: write back\n"
#define THROUGH "\tqueue/write_cache: write through\n"

/* A disk without the attribute makes the cache unknown, unless another one is write back. */
TEST_IN_DIRECTORY(takes_the_weakest_cache)
{
	static const struct
	{
		const char *caches[2];
		const char *together;
	}			rows[] =
	{
		{{THROUGH, THROUGH}, "write through"}, {{THROUGH, BACK}, "write back"},
		{{BACK, THROUGH}, "write back"}, {{BACK, BACK}, "write back"}, {{THROUGH, ""}, ""},
		{{"", THROUGH}, ""}, {{"", ""}, ""}, {{"", BACK}, "write back"},
	};

	for (size_t i = 0; i < lengthof(rows); i++)
	{
		char		text[256];
		sp_disks	disks;
		sp_disks_facts facts;

		snprintf(text, sizeof(text), "device - vda\n%sdevice - vdb\n%s", rows[i].caches[0],
				 rows[i].caches[1]);
		init_with_rubbish(&disks);
		add_all(make_row(*state, i, text), &disks, (const char *const[]) {"vda", "vdb", NULL});
		facts = sp_disks_summary(&disks, SP_LEVEL_DEVICE);
		assert_string_equal(facts.write_cache, rows[i].together);
		assert_int_equal(facts.caches_differ, strcmp(rows[i].caches[0], rows[i].caches[1]) != 0);
	}
}

/* One disk more than fits, and a device that is on one more than that. */
TEST_IN_DIRECTORY(lists_no_more_than_it_can)
{
	char		text[4096] = "";
	sp_disks	disks;

	for (int i = 0; i <= SP_MAX_DISKS; i++)
		sprintf(text + strlen(text), "device - vd%02d\n", i);
	strcat(text, "device - dm-0\n");
	for (int i = 0; i < SP_MAX_DISKS; i++)
		sprintf(text + strlen(text), "\tslaves/vd%02d -> vd%02d\n", i, i);
	assert_true(make_tree(*state, text));
	init_with_rubbish(&disks);
	add_all(*state, &disks, (const char *const[]) {"dm-0", "vd63", NULL});
	assert_int_equal(disks.count, SP_MAX_DISKS);
	assert_false(is_incomplete(&disks));
	assert_int_equal(add(*state, "vd64", &disks), 0);
	assert_int_equal(disks.count, SP_MAX_DISKS);
	assert_true(is_incomplete(&disks));
}

/* The stack may be high enough for real systems, but not endless. */
TEST_IN_DIRECTORY(follows_a_high_stack)
{
	char		text[4096] = "device - vda\ndevice - dm-30\n\tslaves/vda -> vda\n";
	sp_disks	disks;

	for (int i = 0; i < 30; i++)
		sprintf(text + strlen(text), "device - dm-%d\n\tslaves/x -> dm-%d\n", i, i + 1);
	assert_true(make_tree(*state, text));
	init_with_rubbish(&disks);
	assert_int_equal(add(*state, "dm-20", &disks), 0);
	assert_string_equal(describe(&disks), ": vda?, fua");
	init_with_rubbish(&disks);
	assert_int_equal(add(*state, "dm-0", &disks), 0);
	assert_string_equal(describe(&disks), ": dm-15?, fua; incomplete");
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
TEST_IN_DIRECTORY(asks_a_node_for_its_number)
{
	char		path[PATH_MAX];
	sp_disks	disks;

	assert_true(make_tree(*state, "device 254:0 vda\ndevice 254:16 vdb\n"));
	snprintf(path, sizeof(path), "%s/dev/vda", (char *) *state);
	node = path;
	init_with_rubbish(&disks);
	assert_int_equal(add(*state, "vda", &disks), 0);
	node = NULL;
	assert_string_equal(describe(&disks), ": vdb?, fua");
}

/* ---------------------------------------------------------------- counters */

static void
write_stat(const char *sysroot, const char *disk, int writes, int flushes)
{
	char		text[256];

	snprintf(text, sizeof(text), "device - %s\n\tstat: 0 0 0 0 %d 0 %d 0 0 0 0 0 0 0 0 %d 0\n",
			 disk, writes, writes * 8, flushes);
	assert_true(make_tree(sysroot, text));
}

static void
check_sums(const sp_counters *found, uint64_t writes, uint64_t flushes)
{
	assert_int_equal(found->writes, writes);
	assert_int_equal(found->written_bytes, writes * 4096);
	assert_int_equal(found->has_flushes, flushes > 0);
	assert_int_equal(found->flushes, flushes);
}

TEST_IN_DIRECTORY(sums_the_counters_of_each_level)
{
	sp_disks	disks;
	sp_counters counters[SP_LEVELS];
	const sp_counters zero = {0};
	int			fd = lowest_free_descriptor();

	init_with_rubbish(&disks);
	assert_int_equal(sp_disks_open(*state, &disks), 0);
	memset(counters, 'x', sizeof(counters));
	assert_true(sp_disks_read(&disks, counters));
	assert_memory_equal(&counters[SP_LEVEL_DEVICE], &zero, sizeof(zero));
	assert_memory_equal(&counters[SP_LEVEL_BACKING], &zero, sizeof(zero));

	write_stat(*state, "loop0", 5, 6);
	write_stat(*state, "vda", 10, 20);
	write_stat(*state, "vdb", 100, 200);
	assert_true(make_tree(*state, "device - loop0\n\tloop/backing_file: /dev/dm-0\n"
						  "device - dm-0\n\tslaves/vda -> vda\n\tslaves/vdb -> vdb\n"));
	assert_int_equal(add(*state, "loop0", &disks), 0);
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
	assert_true(make_tree(*state, "device - vdb\n\tstat: 0 0 0 0 100 0 800 0 0 0 0\n"));
	assert_true(sp_disks_read(&disks, counters));
	assert_true(counters[SP_LEVEL_BACKING].flushes_only);
	assert_false(counters[SP_LEVEL_DEVICE].flushes_only);
	check_sums(&counters[SP_LEVEL_DEVICE], 5, 6);
	check_sums(&counters[SP_LEVEL_BACKING], 111, 0);
	/* what no kernel writes */
	assert_true(make_tree(*state, "device - vdb\n\tstat: no numbers\n"));
	assert_false(sp_disks_read(&disks, counters));
	assert_int_equal(counters[SP_LEVEL_DEVICE].writes, 0);
	/* opened twice is open once, and closed twice is closed once */
	assert_int_equal(sp_disks_open(*state, &disks), 0);
	sp_disks_close(&disks);
	assert_int_equal(lowest_free_descriptor(), fd);
	assert_false(sp_disks_read(&disks, counters));
	assert_int_equal(dup(STDERR_FILENO), fd);
	sp_disks_close(&disks);
	assert_int_equal(close(fd), 0);
}

TEST_IN_DIRECTORY(opens_all_or_none)
{
	char		sysroot[PATH_MAX];
	sp_disks	disks;
	sp_counters counters[SP_LEVELS];
	int			fd = lowest_free_descriptor();

	write_stat(*state, "vda", 1, 2);
	assert_true(make_tree(*state, "device - vdb\n"));
	init_with_rubbish(&disks);
	add_all(*state, &disks, (const char *const[]) {"vda", "vdb", NULL});
	assert_false(sp_disks_read(&disks, counters));
	assert_int_equal(sp_disks_open(*state, &disks), ENOENT);
	assert_int_equal(lowest_free_descriptor(), fd);
	/* reading a directory fails, as reading a removed disk does */
	assert_true(make_tree(*state, "device - vdb\n\tstat/x:\n"));
	assert_int_equal(sp_disks_open(*state, &disks), 0);
	assert_false(sp_disks_read(&disks, counters));
	sp_disks_close(&disks);
	/* any shortened path would still be a directory */
	for (size_t i = 0; i < sizeof(sysroot) - 1; i++)
		sysroot[i] = i % 2 == 0 ? '/' : '.';
	sysroot[sizeof(sysroot) - 1] = '\0';
	assert_int_equal(sp_disks_open(sysroot, &disks), ENAMETOOLONG);
	assert_int_equal(add(sysroot, "vda", &disks), ENAMETOOLONG);
	assert_int_equal(disks.count, 2);
}

/* With a disk that counts no flushes, or an unknown one, missing flushes prove nothing. */
TEST_IN_DIRECTORY(knows_who_counts_flushes)
{
	sp_disks	disks;

	assert_true(make_tree(*state, "device - vda\n\tmq/0/nr_tags: 128\n\tqueue/iostats: 1\n"
						  "device - zd0\n\tqueue/iostats: 0\n"
						  "device - dm-9\n\tmq/0/nr_tags: 128\n"));
	init_with_rubbish(&disks);
	add_all(*state, &disks, (const char *const[]) {"vda", NULL});
	assert_true(sp_disks_summary(&disks, SP_LEVEL_DEVICE).count_flushes);
	add_all(*state, &disks, (const char *const[]) {"zd0", NULL});
	assert_false(sp_disks_summary(&disks, SP_LEVEL_DEVICE).count_flushes);
	assert_true(sp_disks_summary(&disks, SP_LEVEL_BACKING).count_flushes);
	/* statistics that were switched off */
	assert_false(disks.disks[0].counts_flushes_only);
	assert_true(disks.disks[1].counts_flushes_only);
	/* without its slaves */
	init_with_rubbish(&disks);
	add_all(*state, &disks, (const char *const[]) {"dm-9", NULL});
	assert_true(disks.disks[0].counts_flushes);
	assert_false(sp_disks_summary(&disks, SP_LEVEL_DEVICE).count_flushes);
}

/* Below the device under test; vdd is a spare. */
static const char slaves[] =
	"device - vda\n" BACK "\tstat: 0 0 0 0 1 0 8 0 0 0 0 0 0 0 0 2 0\n"
	"device - vdb\n" BACK "\tstat: 0 0 0 0 1 0 8 0 0 0 0 0 0 0 0 30 0\n"
	"device - vdc\n" THROUGH "\tstat: 0 0 0 0 1 0 8 0 0 0 0 0 0 0 0 500 0\n"
	"device - vdd\n" BACK "\tstat: 0 0 0 0 1 0 8 0 0 0 0 0 0 0 0 0 0\n"
	"device - vde\n\tstat: 0 0 0 0 1 0 8 0 0 0 0 0 0 0 0 7 0\n";

#define SLAVE(name) "\tslaves/" name " -> " name "\n\tmd/dev-" name "/slot: 0\n"
#define SPARE(name) "\tslaves/" name " -> " name "\n\tmd/dev-" name "/slot: none\n"

/* A stack over some of them, and the flushes of its member with the fewest. */
static const struct
{
	const char *kind;
	const char *name;
	const char *text;
	double		least;
	double		required;
}			duty_cases[] =
{
	{"RAID 1", "md0", "\tmd/level: raid1\n" SLAVE("vda") SLAVE("vdb"), 2, 2},
	{"RAID 0", "md0", "\tmd/level: raid0\n" SLAVE("vda") SLAVE("vdb"), 2, 2},
	{"RAID 10", "md0", "\tmd/level: raid10\n" SLAVE("vda") SLAVE("vdb"), 2, 2},
	{"a linear array", "md0", "\tmd/level: linear\n" SLAVE("vda") SLAVE("vdb"), 2, 2},
	{"RAID 5", "md0", "\tmd/level: raid5\n" SLAVE("vda") SLAVE("vdb"), 2, 32},
	{"an array of unknown kind", "md0", SLAVE("vda") SLAVE("vdb"), 2, 32},
	{"multipath", "dm-0", "\tdm/uuid: mpath-36001405\n" SLAVE("vda") SLAVE("vdb"), 32, 32},
	{"LVM over two", "dm-0", "\tdm/uuid: LVM-abc\n" SLAVE("vda") SLAVE("vdb"), 2, 32},
	{"LVM over one", "dm-0", "\tdm/uuid: LVM-abc\n" SLAVE("vdb"), 30, 30},
	{"one needs no flush", "md0", "\tmd/level: raid1\n" SLAVE("vda") SLAVE("vdc"), 2, 2},
	{"one needs no flush, or the other", "dm-0", SLAVE("vda") SLAVE("vdc"), 2, NAN},
	{"none needs a flush", "md0", "\tmd/level: raid1\n" SLAVE("vdc"), NAN, NAN},
	{"one and a spare", "md0", "\tmd/level: raid1\n" SLAVE("vdb") SPARE("vdd"), 30, 30},
	{"no cache is known", "md0", "\tmd/level: raid1\n" SLAVE("vdb") SLAVE("vde"), 7, 30},
};

static void
check_flushes(const char *kind, const char *sysroot, sp_disks *disks, double least,
			  double required)
{
	sp_counters counters[SP_LEVELS];
	double		found[2];

	assert_int_equal(sp_disks_open(sysroot, disks), 0);
	assert_true(sp_disks_read(disks, counters));
	sp_disks_close(disks);
	found[0] = sp_counters_least_flushes(&counters[0]);
	found[1] = sp_counters_required_flushes(&counters[0]);
	if (!(found[0] == least || (isnan(found[0]) && isnan(least))) ||
		!(found[1] == required || (isnan(found[1]) && isnan(required))))
		fail_msg("%s: %g and %g, not %g and %g", kind, found[0], found[1], least, required);
}

TEST_IN_DIRECTORY(knows_which_disks_each_sync_flushes)
{
	for (size_t i = 0; i < lengthof(duty_cases); i++)
	{
		const char *sysroot;
		char		text[2048];
		sp_disks	disks;

		snprintf(text, sizeof(text), "%sdevice - %s\n%s", slaves, duty_cases[i].name,
				 duty_cases[i].text);
		sysroot = make_row(*state, i, text);
		init_with_rubbish(&disks);
		assert_int_equal(add(sysroot, duty_cases[i].name, &disks), 0);
		check_flushes(duty_cases[i].kind, sysroot, &disks, duty_cases[i].least,
					  duty_cases[i].required);
	}
}

/* As for a pool of ZFS: the log device decides, or data devices are one member with it. */
TEST_IN_DIRECTORY(takes_the_duty_from_the_caller)
{
	sp_disks	disks;

	assert_true(make_tree(*state, slaves));
	for (int log_decides = 0; log_decides < 2; log_decides++)
	{
		init_with_rubbish(&disks);
		sp_disks_expect(&disks, SP_FLUSHED_PERHAPS, true);
		add_all(*state, &disks, (const char *const[]) {"vdb", NULL});
		if (log_decides)
			sp_disks_expect(&disks, SP_FLUSHED_NEVER, false);
		add_all(*state, &disks, (const char *const[]) {"vda", "vdc", NULL});
		check_flushes("pool", *state, &disks, log_decides ? 30 : 32, log_decides ? 532 : NAN);
		assert_int_equal(sp_disks_summary(&disks, SP_LEVEL_DEVICE).caches_differ, !log_decides);
		/* a disk that is also one of the others keeps the stricter duty */
		sp_disks_expect(&disks, SP_FLUSHED_ALWAYS, false);
		add_all(*state, &disks, (const char *const[]) {"vda", NULL});
		assert_int_equal(disks.count, 3);
		assert_int_equal(disks.disks[1].duty, SP_FLUSHED_ALWAYS);
	}
}

TEST_MAIN(NULL, NULL)
