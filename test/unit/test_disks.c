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
#include "engine/text/text.h"

/* What is found below a path.  The text is that of describe(), or the error. */
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
	}},
	{"nvme_xfs", {
			/* the model is the controller's, in the parent directory */
			{"/", 0, "nvme0n1: nvme0n1, write back, fua"},
	}},
	{"nvme_multipath", {
			/* the head counts no flushes, and says less of the cache than the paths */
			{"/", 0, "nvme1n1: nvme1c0n1 nvme1c1n1, write back, fua"},
			{"/srv/pg", 0, "nvme11n1: nvme11c0n1, write back, fua"},
	}},
	{"sda_partition", {
			{"/", 0, "sda@: sda@*, write back"},
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
			{"/dev/dm-0", 0, "dm-0: sda* sdb*, write back"},
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
			/* devices: whole, a partition, a name of device-mapper */
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
			{"/dev/vdb1", 0, "vdb@: vdb@, write through, fua"},
			{"/dev/vda", 0, "vda@: vda@, write back"},
			{"/dev/mapper/vg0-root", 0, "dm-0@: vda@, write back"},
			{"/dev/loop0", 0, "loop0: loop0, write back / vda@, write back"},
			{"/srv/vdev.img", 0, "dm-0@: vda@, write back"},
			{"/srv/direct/vdev.img", 0, "vdb@: vdb@, write through, fua"},
			{"/mnt/0/vdev.img", 0, "loop0: loop0, write back / vda@, write back"},
			{"/dev/shm/vdev.img", ENODEV, ""},
			{"/mnt/nfs/vdev.img", ENODEV, ""},
			{"/dev/", ENODEV, ""},
			{"/dev/..", ENODEV, ""},
			{"/dev/nothing", ENODEV, ""},
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
			{"/mnt/on_tmpfs", ENODEV, ""},
			{"/mnt/readonly", ENODEV, ""},
	}},
	{"zfs", {
			{"/", ENODEV, ""},
			{"/srv/pg/wal", ENODEV, ""},
	}},
	{"network", {
			{"/srv/nfs", ENODEV, ""},
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
	{"/mnt/2", "/dev/vdb", NULL},
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
	static char text[4096];
	sp_sentence to = sp_sentence_begin(text, sizeof(text));

	sp_say(&to, "%s%s:", disks->top.name, rotates(&disks->top));
	for (int level = 0; level < SP_LEVELS; level++)
	{
		sp_disks_facts facts = sp_disks_summary(disks, (sp_level) level);
		bool		has_any = level == 0 || facts.fua;

		for (int i = 0; i < disks->count; i++)
			has_any = has_any || (int) disks->disks[i].level == level;
		if (!has_any)
			continue;
		sp_say(&to, level > 0 ? " /" : "");
		for (int i = 0; i < disks->count; i++)
		{
			const sp_disk *disk = &disks->disks[i];

			assert_int_equal(disk->stat_fd, -1);
			if ((int) disk->level == level)
				sp_say(&to, " %s%s%s", disk->name, rotates(disk), disk->is_virtual == 0 ? "*" : "");
		}
		sp_say(&to, "%s%s%s", facts.write_cache[0] ? ", " : "", facts.write_cache,
			   facts.fua ? ", fua" : "");
	}
	if (disks->incomplete[SP_LEVEL_DEVICE] || disks->incomplete[SP_LEVEL_BACKING])
		sp_say(&to, "; incomplete");
	return text;
}

static void
check_disks(const char *kind, const disks_case *row)
{
	char		sysroot[PATH_MAX];
	sp_mount_table *table;
	sp_disks	disks;
	int			fd = lowest_free_descriptor();
	int			status;

	fixture_path(sysroot, kind);
	assert_int_equal(sp_mount_table_read(sysroot, &table), 0);
	memset(&disks, 0, sizeof(disks));
	status = sp_disks_add(sysroot, table, row->path, &disks);
	assert_int_equal(lowest_free_descriptor(), fd);
	if (status != row->status || strcmp(describe(&disks), status == 0 ? row->text : ":") != 0)
		fail_msg("%s, path \"%s\": %s, \"%s\"", kind, row->path, strerror(status),
				 describe(&disks));
	sp_mount_table_free(table);
}

TEST(lists_the_disks_below_a_path)
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

		memset(&disks, 0, sizeof(disks));
		assert_int_equal(sp_disks_add(sysroot, table, backing_cases[i].path, &disks), 0);
		assert_string_equal(disks.backing_file, backing_cases[i].backing_file);
		if ((disks.backing_mount == NULL) != (expected == NULL))
			fail_msg("%s: backing mount", backing_cases[i].path);
		if (expected != NULL)
			assert_string_equal(disks.backing_mount->mount_point, expected);
	}
	sp_mount_table_free(table);
}

TEST(does_not_trust_the_source)
{
	static const size_t lengths[] = {63, 64, 128, 256};
	char		sysroot[PATH_MAX];
	char		words[][6] = {"/", "btrfs"};
	char		text[300] = "/dev/mapper/vg0-pg";
	sp_mount	mount = {.dev_minor = 99,.mount_point = words[0],.fstype = words[1],.source = text};
	const sp_mount_table table = {1, &mount};
	sp_disks	disks;

	fixture_path(sysroot, "btrfs");
	memset(&disks, 0, sizeof(disks));
	/* first check that the tree is right */
	assert_int_equal(sp_disks_add(sysroot, &table, "/", &disks), 0);
	for (size_t i = 0; i < lengthof(bad_sources) + lengthof(lengths); i++)
	{
		/* ... and some that are too long */
		strcpy(text, i < lengthof(bad_sources) ? bad_sources[i] : "/dev/mapper/");
		if (i >= lengthof(bad_sources))
			memset(memset(text, 'x', sizeof(text)) + lengths[i - lengthof(bad_sources)], 0, 1);
		memset(&disks, 0, sizeof(disks));
		if (sp_disks_add(sysroot, &table, "/", &disks) != ENODEV ||
			strcmp(describe(&disks), ":") != 0)
			fail_msg("source \"%s\": %s", text, describe(&disks));
	}
}

/* ------------------------------------------------------------- trees made here */

static int
add(const char *sysroot, const char *name, sp_disks *disks)
{
	static const sp_mount_table no_mounts = {0};
	char		path[128];

	snprintf(path, sizeof(path), "/dev/%s", name);
	return sp_disks_add(sysroot, &no_mounts, path, disks);
}

/* Add devices, with a blank between their names. */
static void
add_all(const char *sysroot, sp_disks *disks, const char *names)
{
	char		copy[64];
	char	   *rest = strcpy(copy, names);

	while (rest != NULL)
		assert_int_equal(add(sysroot, strsep(&rest, " "), disks), 0);
}

/* The devices of a new tree below root.  Returns its path, which is good until the next call. */
static const char *
make_disks(const char *root, const char *text, const char *names, sp_disks *disks)
{
	static char sysroot[PATH_MAX];
	static int	number;

	snprintf(sysroot, sizeof(sysroot), "%s/%d", root, number++);
	if (!make_tree(sysroot, text))
		fail_msg("%s", text);
	memset(disks, 0, sizeof(*disks));
	add_all(sysroot, disks, names);
	return sysroot;
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
		make_disks(*state, text, virtual_cases[i].name, &disks);
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

		snprintf(text, sizeof(text), "device - vda\n%sdevice - vdb\n%s", rows[i].caches[0],
				 rows[i].caches[1]);
		make_disks(*state, text, "vda vdb", &disks);
		assert_string_equal(sp_disks_summary(&disks, SP_LEVEL_DEVICE).write_cache,
							rows[i].together);
	}
}

/*
 * Each disk once, and nothing added by an error; one disk more than fits, and a device that
 * is on one more than that.
 */
TEST_IN_DIRECTORY(adds_to_what_is_there)
{
	char		text[4096] = "";
	const char *sysroot;
	sp_disks	disks;

	for (int i = 0; i <= SP_MAX_DISKS; i++)
		sprintf(text + strlen(text), "device - vd%02d\n", i);
	strcat(text, "device - dm-0\n");
	for (int i = 0; i < SP_MAX_DISKS; i++)
		sprintf(text + strlen(text), "\tslaves/vd%02d -> vd%02d\n", i, i);
	sysroot = make_disks(*state, text, "vd63 dm-0", &disks);
	assert_int_equal(add(sysroot, "nothing", &disks), ENODEV);
	assert_int_equal(disks.count, SP_MAX_DISKS);
	assert_null(strstr(describe(&disks), "incomplete"));
	add_all(sysroot, &disks, "vd64");
	assert_int_equal(disks.count, SP_MAX_DISKS);
	assert_string_equal(disks.top.name, "vd63");
	assert_non_null(strstr(describe(&disks), "incomplete"));
}

/* The stack may be high enough for real systems, but not endless. */
TEST_IN_DIRECTORY(follows_a_high_stack)
{
	char		text[4096] = "device - vda\ndevice - dm-30\n\tslaves/vda -> vda\n";
	sp_disks	disks;

	for (int i = 0; i < 30; i++)
		sprintf(text + strlen(text), "device - dm-%d\n\tslaves/x -> dm-%d\n", i, i + 1);
	make_disks(*state, text, "dm-20", &disks);
	assert_string_equal(describe(&disks), "dm-20?: vda?, fua");
	make_disks(*state, text, "dm-0", &disks);
	assert_string_equal(describe(&disks), "dm-0?: dm-15?, fua; incomplete");
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

/* The number of a node decides, whatever its name is and wherever a link to it lies. */
TEST_IN_DIRECTORY(asks_a_node_for_its_number)
{
	static const char *const names[] = {"vda", "disk/by-id/virtio-backup"};

	for (size_t i = 0; i < lengthof(names); i++)
	{
		char		path[PATH_MAX];
		sp_disks	disks;

		snprintf(path, sizeof(path), "%s/dev/%s", (char *) *state, names[i]);
		assert_true(make_tree(*state, "device 254:0 vda\ndevice 254:16 vdb\n"));
		memset(&disks, 0, sizeof(disks));
		node = path;
		assert_int_equal(add(*state, names[i], &disks), 0);
		node = NULL;
		assert_string_equal(describe(&disks), "vdb?: vdb?, fua");
	}
}

/* ---------------------------------------------------------------- counters */

#define STAT(writes, sectors, flushes) \
	"\tstat: 0 0 0 0 " writes " 0 " sectors " 0 0 0 0 0 0 0 0 " flushes " 0\n"

/* What is written to the tree, and the writes and flushes read after that. */
static const struct
{
	const char *text;
	uint64_t	device[2];
	uint64_t	backing[2];
	bool		fails;
}			counter_cases[] =
{
	{"", {5, 6}, {110, 220}, false},
	/* the same descriptor tells what is new */
	{"device - vda\n" STAT("11", "88", "21"), {5, 6}, {111, 221}, false},
	/* one disk of a level that counts no flushes is enough */
	{"device - vdb\n\tstat: 0 0 0 0 100 0 800 0 0 0 0\n", {5, 6}, {111, 0}, false},
	/* what no kernel writes */
	{"device - vdb\n\tstat: no numbers\n", {0, 0}, {0, 0}, true},
};

static void
check_sums(const sp_counters *found, const uint64_t expected[2])
{
	assert_int_equal(found->writes, expected[0]);
	assert_int_equal(found->written_bytes, expected[0] * 4096);
	assert_int_equal(found->has_flushes, expected[1] > 0);
	assert_int_equal(found->flushes, expected[1]);
}

TEST_IN_DIRECTORY(sums_the_counters_of_each_level)
{
	const char *sysroot;
	sp_disks	disks;
	sp_counters counters[SP_LEVELS];
	int			fd = lowest_free_descriptor();

	sysroot = make_disks(*state, "device - loop0\n\tloop/backing_file: /dev/dm-0\n"
						 STAT("5", "40", "6") "device - vda\n" STAT("10", "80", "20")
						 "device - vdb\n" STAT("100", "800", "200")
						 "device - dm-0\n\tslaves/vda -> vda\n\tslaves/vdb -> vdb\n",
						 "loop0", &disks);
	assert_false(sp_disks_read(&disks, counters));
	/* opened twice is open once */
	assert_int_equal(sp_disks_open(sysroot, &disks), 0);
	assert_int_equal(sp_disks_open(sysroot, &disks), 0);
	for (size_t i = 0; i < lengthof(counter_cases); i++)
	{
		memset(counters, 'x', sizeof(counters));
		assert_true(make_tree(sysroot, counter_cases[i].text));
		assert_int_equal(sp_disks_read(&disks, counters), !counter_cases[i].fails);
		check_sums(&counters[SP_LEVEL_DEVICE], counter_cases[i].device);
		check_sums(&counters[SP_LEVEL_BACKING], counter_cases[i].backing);
	}
	/* ... and closed twice is closed once */
	sp_disks_close(&disks);
	assert_false(sp_disks_read(&disks, counters));
	assert_int_equal(dup(STDERR_FILENO), fd);
	sp_disks_close(&disks);
	assert_int_equal(close(fd), 0);

	/* without disks */
	memset(&disks, 0, sizeof(disks));
	assert_int_equal(sp_disks_open(sysroot, &disks), 0);
	memset(counters, 'x', sizeof(counters));
	assert_true(sp_disks_read(&disks, counters));
	assert_memory_equal(counters, ((const sp_counters[SP_LEVELS]) {{0}}), sizeof(counters));
}

TEST_IN_DIRECTORY(opens_all_or_none)
{
	char		too_long[PATH_MAX];
	const char *sysroot;
	sp_disks	disks;
	sp_counters counters[SP_LEVELS];
	int			fd = lowest_free_descriptor();

	sysroot = make_disks(*state, "device - vda\n" STAT("1", "8", "2") "device - vdb\n", "vda vdb",
						 &disks);
	assert_int_equal(sp_disks_open(sysroot, &disks), ENOENT);
	assert_int_equal(lowest_free_descriptor(), fd);
	/* reading a directory fails, as reading a removed disk does */
	assert_true(make_tree(sysroot, "device - vdb\n\tstat/x:\n"));
	assert_int_equal(sp_disks_open(sysroot, &disks), 0);
	assert_false(sp_disks_read(&disks, counters));
	sp_disks_close(&disks);
	/* any shortened path would still be a directory */
	for (size_t i = 0; i < sizeof(too_long); i++)
		too_long[i] = "/."[i % 2];
	too_long[sizeof(too_long) - 1] = '\0';
	assert_int_equal(sp_disks_open(too_long, &disks), ENAMETOOLONG);
	assert_int_equal(add(too_long, "vda", &disks), ENAMETOOLONG);
	assert_int_equal(disks.count, 2);
}

/* With a disk that counts no flushes, or an unknown one, missing flushes prove nothing. */
TEST_IN_DIRECTORY(knows_who_counts_flushes)
{
	static const struct
	{
		const char *names;
		bool		all_do;
		bool		counts_only[2];	/* its statistics are off */
	}			rows[] =
	{
		{"vda", true, {false, false}}, {"vda vdb", true, {false, true}},
		{"vdb zd0", false, {true, false}},
		/* without its slaves */
		{"dm-9", false, {false, false}},
	};

	for (size_t i = 0; i < lengthof(rows); i++)
	{
		sp_disks	disks;
		sp_counters counters[SP_LEVELS];
		const char *sysroot = make_disks(*state, "device - zd0\n" STAT("0", "0", "0")
										 "device - vda\n\tmq/0/nr_tags: 128\n\tqueue/iostats: 1\n"
										 STAT("0", "0", "0")
										 "device - vdb\n\tmq/0/nr_tags: 128\n\tqueue/iostats: 0\n"
										 STAT("0", "0", "0")
										 "device - dm-9\n\tmq/0/nr_tags: 128\n"
										 STAT("0", "0", "0"), rows[i].names, &disks);

		assert_int_equal(sp_disks_summary(&disks, SP_LEVEL_DEVICE).count_flushes, rows[i].all_do);
		assert_true(sp_disks_summary(&disks, SP_LEVEL_BACKING).count_flushes);
		for (int d = 0; d < disks.count; d++)
			assert_int_equal(disks.disks[d].counts_flushes_only, rows[i].counts_only[d]);
		/* one disk of a level that counts nothing else is enough */
		assert_int_equal(sp_disks_open(sysroot, &disks), 0);
		assert_true(sp_disks_read(&disks, counters));
		sp_disks_close(&disks);
		assert_int_equal(counters[SP_LEVEL_DEVICE].flushes_only,
						 rows[i].counts_only[0] || rows[i].counts_only[1]);
		assert_false(counters[SP_LEVEL_BACKING].flushes_only);
	}
}

/* Below the device under test; vdd is a spare. */
static const char slaves[] =
	"device - vda\n" BACK STAT("1", "8", "2")
	"device - vdb\n" BACK STAT("1", "8", "30")
	"device - vdc\n" THROUGH STAT("1", "8", "500")
	"device - vdd\n" BACK STAT("1", "8", "0")
	"device - vde\n" STAT("1", "8", "7");

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
	{"RAID 1 over LVM over one", "md0", "\tmd/level: raid1\n" SLAVE("dm-1") SLAVE("dm-2")
		"device - dm-1\n\tslaves/vda -> vda\ndevice - dm-2\n\tslaves/vdb -> vdb\n", 2, 2},
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
		char		text[2048];
		sp_disks	disks;

		snprintf(text, sizeof(text), "%sdevice - %s\n%s", slaves, duty_cases[i].name,
				 duty_cases[i].text);
		check_flushes(duty_cases[i].kind, make_disks(*state, text, duty_cases[i].name, &disks),
					  &disks, duty_cases[i].least, duty_cases[i].required);
	}
}

/* As for a pool of ZFS: the log device decides, or data devices are one member with it. */
TEST_IN_DIRECTORY(takes_the_duty_from_the_caller)
{
	sp_disks	disks;

	assert_true(make_tree(*state, slaves));
	for (int log_decides = 0; log_decides < 2; log_decides++)
	{
		memset(&disks, 0, sizeof(disks));
		sp_disks_expect(&disks, SP_FLUSHED_PERHAPS, true);
		add_all(*state, &disks, "vdb");
		if (log_decides)
			sp_disks_expect(&disks, SP_FLUSHED_NEVER, false);
		add_all(*state, &disks, "vda vdc");
		check_flushes("pool", *state, &disks, log_decides ? 30 : 32, log_decides ? 532 : NAN);
		/* a disk that is also one of the others keeps the stricter duty */
		sp_disks_expect(&disks, SP_FLUSHED_ALWAYS, false);
		add_all(*state, &disks, "vda");
		assert_int_equal(disks.count, 3);
		assert_int_equal(disks.disks[1].duty, SP_FLUSHED_ALWAYS);
	}
}

TEST_MAIN(NULL, NULL)
