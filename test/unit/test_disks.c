/*
 * Tests of src/engine/storage/disk*.c on captured and made sysfs trees.
 *
 * It must not: look at the devices of the machine it runs on.  To add a kind of
 * stack, add a file in test/fixtures/sysroot that says what is found in it.
 */
#include "fixtures.h"

#include <sys/sysmacros.h>

#include "engine/storage/storage.h"

/* Is a disk with this name, vendor and model virtual?  0 is a physical drive. */
static const struct
{
	const char *name;
	const char *vendor;
	const char *model;
	int			is_virtual;
}			virtual_cases[] =
{
	{"sda", "ATA     ", "INTEL SSDSC2BB48", 0}, {"sda", "QEMU    ", "QEMU HARDDISK   ", 1},
	{"sda", "ATA     ", "QEMU HARDDISK   ", 1}, {"sda", "", "QEMU HARDDISK   ", 1},
	/* a RAID controller, unlike INTEL */
	{"sda", "Intel   ", "RS3DC080        ", -1}, {"sda", "ATAX    ", "x               ", -1},
	{"sda", "        ", "                ", -1}, {"sda", "ATA     ", "", -1},
	{"nvme0n1", "", "Samsung SSD 980 PRO 1TB      ", -1},
	{"nvme0n1", "", "Amazon Elastic Block Store", 1},
	{"nvme0n1", "", "Amazon EC2 NVMe Instance Storage", -1},
	/* no SCSI disk, whatever its attributes say */
	{"vda", "SEAGATE ", "ST600MM0208     ", 1}, {"dm-7", "", "QEMU", -1},
};

/*
 * Sources of btrfs that must not be taken for a device.  Each would find something in
 * the btrfs tree if it were used in a path unchecked.
 */
static const char *const bad_sources[] = {
	"", "/dev", "/dev/", "/dev/.", "/dev/..", "/dev/../block/vda", "/dev/vda/vda2", "/dev//vda",
	"vda", "/devvda", "/dev/mapper", "/dev/mapper/", "/dev/mapper/.", "/dev/mapper/dm-0",
	"/dev/mapper/vg0-p", "/dev/mapper/vg0-pg-", "/dev/mapper/../dm-0", "/dev/vda:/dev/vdb",
	/* too long for a part, a name, a source */
	"/dev/mapper/" X51, "/dev/mapper/" X51 "x", "/dev/mapper/" X51 X51 X51,
	"/dev/mapper/" X51 X51 X51 X51 X51,
};

/* A disk that rotates has an @ behind its name, or a ? if this is unknown. */
static const char *
rotates(const sp_disk *disk)
{
	return disk->rotational > 0 ? "@" : disk->rotational < 0 ? "?" : "";
}

/*
 * "TOP: DISKS, CACHE, fua / DISKS, CACHE, fua; incomplete; FILE on MOUNT": behind the slash are
 * backing devices, FILE is that of the first loop device, and what is not so is left out.  A
 * disk of a known maker has a star.
 */
static const char *
describe(const sp_disks *disks)
{
	static char text[4096];
	sp_sentence to = sp_sentence_begin(text, sizeof(text));

	sp_append(&to, "%s%s:", disks->top.name, rotates(&disks->top));
	for (int level = 0; level < SP_LEVELS; level++)
	{
		sp_disks_facts facts = sp_disks_summary(disks, (sp_level) level);

		if (level > 0 && disks->backing_file[0] == '\0' && !disks->incomplete[level])
			break;
		sp_append(&to, level > 0 ? " /" : "");
		for (int i = 0; i < disks->count; i++)
		{
			const sp_disk *disk = &disks->disks[i];

			assert_int_equal(disk->stat_fd, -1);
			if ((int) disk->level == level)
				sp_append(&to, " %s%s%s", disk->name, rotates(disk),
						  disk->is_virtual == 0 ? "*" : "");
		}
		sp_append(&to, "%s%s%s", facts.write_cache[0] ? ", " : "", facts.write_cache,
				  facts.fua ? ", fua" : "");
	}
	if (disks->incomplete[SP_LEVEL_DEVICE] || disks->incomplete[SP_LEVEL_BACKING])
		sp_append(&to, "; incomplete");
	sp_append(&to, "%s%.24s", disks->backing_file[0] != '\0' ? "; " : "", disks->backing_file);
	if (disks->backing_mount != NULL)
		sp_append(&to, " on %s", disks->backing_mount->mount_point);
	return text;
}

static const char *
describe_path(const char *sysroot, const sp_mount_table *table, const char *path)
{
	static sp_disks disks;
	int			status;

	memset(&disks, 0, sizeof(disks));
	status = sp_disks_add(sysroot, table, path, SP_FLUSHED_ALWAYS, 0, &disks);
	/* on error no disk was added */
	assert_true(status == 0 || strcmp(describe(&disks), ":") == 0);
	return status == 0 ? describe(&disks) : status == ENODEV ? "no disk" :
		status == ELOOP ? "a circle" : status == ENAMETOOLONG ? "a name too long" : "";
}

TEST(lists_the_disks_below_a_path)
{
	check_trees("= disks ", describe_path);
}

TEST(does_not_trust_the_source)
{
	const char *sysroot = fixture_tree("sysroot/btrfs");
	char		words[][6] = {"/", "btrfs"};
	char		text[300] = "/dev/mapper/vg0-pg";
	sp_mount	mount = {.dev_minor = 99,.mount_point = words[0],.fstype = words[1],.source = text};
	const sp_mount_table table = {1, &mount};

	/* first check that the tree is right */
	assert_non_null(strstr(describe_path(sysroot, &table, "/"), ": "));
	FOR_EACH(source, bad_sources)
	{
		strcpy(text, *source);
		if (strcmp(describe_path(sysroot, &table, "/"), "no disk") != 0)
			fail_msg("source \"%s\": %s", text, describe_path(sysroot, &table, "/"));
	}
}

/* ------------------------------------------------------------- trees made here */

static int
add(const char *sysroot, const char *name, sp_flush_duty duty, int group, sp_disks *disks)
{
	static const sp_mount_table no_mounts = {0};
	char		path[128];

	snprintf(path, sizeof(path), "/dev/%s", name);
	return sp_disks_add(sysroot, &no_mounts, path, duty, group, disks);
}

/* Add devices, with a blank between their names. */
static void
add_all(const char *sysroot, sp_disks *disks, const char *names)
{
	char		copy[64];
	char	   *rest = strcpy(copy, names);

	while (rest != NULL)
		assert_int_equal(add(sysroot, strsep(&rest, " "), SP_FLUSHED_ALWAYS, 0, disks), 0);
}

/* The devices of a new tree.  Returns its root. */
static const char *
make_disks(const char *text, const char *names, sp_disks *disks)
{
	const char *sysroot = new_tree(text);

	memset(disks, 0, sizeof(*disks));
	add_all(sysroot, disks, names);
	return sysroot;
}

TEST(tells_virtual_from_physical)
{
	FOR_EACH(row, virtual_cases)
	{
		char		text[256];
		sp_disks	disks;

		snprintf(text, sizeof(text), "device - %s\n\tdevice/vendor: %s\n\tdevice/model: %s\n",
				 row->name, row->vendor, row->model);
		make_disks(text, row->name, &disks);
		if (disks.disks[0].is_virtual != row->is_virtual)
			fail_msg("%s is %d", text, disks.disks[0].is_virtual);
	}
}

/*
 * Each disk once, and nothing added by an error; one disk more than fits, and a device that
 * is on one more than that.
 */
TEST(adds_to_what_is_there)
{
	char		text[4096] = "";
	const char *sysroot;
	sp_disks	disks;

	for (int i = 0; i <= SP_MAX_DISKS; i++)
		sprintf(text + strlen(text), "device - vd%02d\n", i);
	strcat(text, "device - dm-0\n");
	for (int i = 0; i < SP_MAX_DISKS; i++)
		sprintf(text + strlen(text), "\tslaves/vd%02d -> vd%02d\n", i, i);
	sysroot = make_disks(text, "vd63 dm-0", &disks);
	assert_int_equal(add(sysroot, "nothing", SP_FLUSHED_ALWAYS, 0, &disks), ENODEV);
	assert_int_equal(disks.count, SP_MAX_DISKS);
	assert_null(strstr(describe(&disks), "incomplete"));
	add_all(sysroot, &disks, "vd64");
	assert_int_equal(disks.count, SP_MAX_DISKS);
	assert_string_equal(disks.top.name, "vd63");
	assert_non_null(strstr(describe(&disks), "incomplete"));
}

TEST(follows_a_high_stack)
{
	char		text[4096] = "device - vda\ndevice - dm-30\n\tslaves/vda -> vda\n";
	sp_disks	disks;

	for (int i = 0; i < 30; i++)
		sprintf(text + strlen(text), "device - dm-%d\n\tslaves/x -> dm-%d\n", i, i + 1);
	make_disks(text, "dm-20", &disks);
	assert_string_equal(describe(&disks), "dm-20?: vda?, fua");
	make_disks(text, "dm-0", &disks);
	assert_string_equal(describe(&disks), "dm-0?: dm-15?, fua; incomplete");
}

/* Only root can make nodes: below this tree, if set, any file is the node of vdb. */
static const char *nodes;

extern int	__real_stat(const char *path, struct stat *st);
extern int	__wrap_stat(const char *path, struct stat *st);

int
__wrap_stat(const char *path, struct stat *st)
{
	if (nodes == NULL || strncmp(path, nodes, strlen(nodes)) != 0)
		return __real_stat(path, st);
	memset(st, 0, sizeof(*st));
	st->st_mode = S_IFBLK | 0600;
	st->st_rdev = makedev(254, 16);
	return 0;
}

/* The number of a node decides, whatever its name is and wherever a link to it lies. */
TEST(asks_a_node_for_its_number)
{
	sp_disks	disks = {0};

	nodes = new_tree("device 254:0 vda\ndevice 254:16 vdb\n");
	add_all(nodes, &disks, "vda disk/by-id/virtio-backup");
	nodes = NULL;
	assert_string_equal(describe(&disks), "vdb?: vdb?, fua");
}

/* ---------------------------------------------------------------- counters */

#define BACK "\tqueue/write_cache: write back\n"
#define THROUGH "\tqueue/write_cache: write through\n"
#define STAT(writes, sectors, flushes) \
	"\tstat: 0 0 0 0 " writes " 0 " sectors " 0 0 0 0 0 0 0 0 " flushes " 0\n"

/* What is written to the tree, and the writes and flushes read after that; none: it fails. */
static const struct
{
	const char *text;
	uint64_t	device[2];
	uint64_t	backing[2];
}			counter_cases[] =
{
	{"", {5, 6}, {110, 220}},
	/* the same descriptor tells what is new */
	{"device - vda\n" STAT("11", "88", "21"), {5, 6}, {111, 221}},
	/* one disk of a level that counts no flushes is enough */
	{"device - vdb\n\tstat: 0 0 0 0 100 0 800 0 0 0 0\n", {5, 6}, {111, 0}},
	{"device - vda\n\tstat: 0 0 0 0 10 0 80 0 0 0 0\ndevice - vdb\n" STAT("100", "800", "200"),
	{5, 6}, {110, 0}},
	/* what no kernel writes */
	{"device - vdb\n\tstat: no numbers\n", {0, 0}, {0, 0}},
};

static void
check_sums(const sp_counters *found, const uint64_t expected[2])
{
	assert_int_equal(found->writes, expected[0]);
	assert_int_equal(found->written_bytes, expected[0] * 4096);
	assert_int_equal(found->has_flushes, expected[1] > 0);
	assert_int_equal(found->flushes, expected[1]);
}

TEST(sums_the_counters_of_each_level)
{
	const char *sysroot;
	sp_disks	disks;
	sp_counters counters[SP_LEVELS];
	int			fd = lowest_free_descriptor();

	sysroot = make_disks("device - loop0\n\tloop/backing_file: /dev/dm-0\n" STAT("5", "40", "6")
						 "device - vda\n" STAT("10", "80", "20")
						 "device - vdb\n" STAT("100", "800", "200")
						 "device - dm-0\n\tslaves/vda -> vda\n\tslaves/vdb -> vdb\n",
						 "loop0", &disks);
	assert_false(sp_disks_read(&disks, counters));
	/* opened twice is open once */
	assert_int_equal(sp_disks_open(sysroot, &disks), 0);
	assert_int_equal(sp_disks_open(sysroot, &disks), 0);
	FOR_EACH(row, counter_cases)
	{
		memset(counters, 'x', sizeof(counters));
		assert_true(make_tree(sysroot, row->text));
		assert_int_equal(sp_disks_read(&disks, counters), row->device[0] > 0);
		check_sums(&counters[SP_LEVEL_DEVICE], row->device);
		check_sums(&counters[SP_LEVEL_BACKING], row->backing);
	}
	/* ... and closed twice is closed once */
	sp_disks_close(&disks);
	assert_false(sp_disks_read(&disks, counters));
	assert_int_equal(dup(STDERR_FILENO), fd);
	sp_disks_close(&disks);
	assert_int_equal(close(fd), 0);
}

TEST(opens_all_or_none)
{
	const char *sysroot;
	sp_disks	disks;
	sp_counters counters[SP_LEVELS];
	int			fd = lowest_free_descriptor();

	sysroot = make_disks("device - vda\n" STAT("1", "8", "2") "device - vdb\n", "vda vdb", &disks);
	assert_int_equal(sp_disks_open(sysroot, &disks), ENOENT);
	assert_int_equal(lowest_free_descriptor(), fd);
	/* reading a directory fails, as reading a removed disk does */
	assert_true(make_tree(sysroot, "device - vdb\n\tstat/x:\n"));
	assert_int_equal(sp_disks_open(sysroot, &disks), 0);
	assert_false(sp_disks_read(&disks, counters));
	sp_disks_close(&disks);
	assert_int_equal(sp_disks_open(path_too_long(), &disks), ENAMETOOLONG);
	assert_int_equal(add(path_too_long(), "vda", SP_FLUSHED_ALWAYS, 0, &disks), ENAMETOOLONG);
	assert_int_equal(disks.count, 2);
}

/* ------------------------------------------------------ caches and flushes */

/* A disk that counts flushes: so many. */
#define DISK(name, attributes, flushes) \
	"device - " name "\n\tmq/0/nr_tags: 128\n" attributes STAT("1", "8", flushes)

/* vdd is a spare, zd0 counts no flushes, and of vdf the other statistics are off. */
static const char some_disks[] =
	DISK("vda", BACK, "2") DISK("vdb", BACK, "30") DISK("vdc", THROUGH, "500")
	DISK("vdd", BACK, "0") DISK("vde", "", "7") DISK("vdf", "\tqueue/iostats: 0\n" THROUGH, "0")
	DISK("vdg", "\tqueue/iostats: 1\n", "9") "device - zd0\n" BACK STAT("1", "8", "0");

#define SLAVE(name) "\tslaves/" name " -> " name "\n\tmd/dev-" name "/slot: 0\n"
#define SPARE(name) "\tslaves/" name " -> " name "\n\tmd/dev-" name "/slot: none\n"
#define TWO SLAVE("vda") SLAVE("vdb")
#define MD(level) "device - md0\n\tmd/level: " level "\n"
#define DM(uuid) "device - dm-0\n\tdm/uuid: " uuid "\n"

/*
 * What is added; a new device, where that is one; and what describe_flushes() says: the flushes
 * of the member with the fewest, and of those that must be flushed.
 */
static const struct
{
	const char *kind;
	const char *names;
	const char *text;
	const char *flushes;
}			flush_cases[] =
{
	{"RAID 1", "md0", MD("raid1") TWO, "write back, 2, 2"},
	{"RAID 0", "md0", MD("raid0") TWO, "write back, 2, 2"},
	{"RAID 10", "md0", MD("raid10") TWO, "write back, 2, 2"},
	{"linear", "md0", MD("linear") TWO, "write back, 2, 2"},
	{"RAID 5", "md0", MD("raid5") TWO, "write back, 2, 32"},
	{"bio-based multipath", "dm-0", DM("mpath-360") TWO, "write back, 32, 32"},
	{"multipath", "dm-0", DM("mpath-360") "\tmq/0/nr_tags: 128\n" BACK STAT("1", "8", "5") TWO,
	"write back, 5, 5"},
	{"LVM over two", "dm-0", DM("LVM-abc") TWO, "write back, 2, 32"},
	{"RAID 1 over LVM over one", "md0", MD("raid1") SLAVE("dm-1") SLAVE("dm-2")
		"device - dm-1\n\tslaves/vda -> vda\ndevice - dm-2\n\tslaves/vdb -> vdb\n",
	"write back, 2, 2"},
	{"LVM over one", "dm-0", DM("LVM-abc") SLAVE("vdb"), "write back, 30, 30"},
	{"a spare", "md0", MD("raid1") SLAVE("vdb") SPARE("vdd"), "write back, 30, 30"},
	{"a loop device", "loop0", "device - loop0\n\tmq/0/nr_tags: 128\n"
		"\tloop/backing_file: /dev/zd0\n" STAT("1", "8", "3"), ", 3, 3"},
	/* the weakest cache decides; a disk that needs no flush may have taken the data */
	{"write back", "vda vdc", "", "write back, 2, 2"},
	{"write back last", "vdc vdb", "", "write back, 30, 30"},
	{"not surely flushed", "dm-0", DM("LVM-abc") SLAVE("vda") SLAVE("vdc"), "write back, 2, -1"},
	{"write through", "vdc vdf", "", "write through, -1, -1; flushes only"},
	{"unknown last", "vdc vde", "", ", 7, -1"}, {"unknown first", "vde vdc", "", ", 7, -1"},
	{"unknown, write back", "vde vdb", "", "write back, 7, 30"},
	{"unknown both", "vde vdg", "", ", 7, 16"},
	/* missing flushes prove nothing where one disk counts none */
	{"a zvol", "vdf zd0", "", "write back, 0, 0; uncounted; flushes only"},
	{"without its slaves", "dm-9", "device - dm-9\n\tmq/0/nr_tags: 128\n" STAT("1", "8", "0"),
	", 0, 0; uncounted"},
};

/* "CACHE, LEAST, REQUIRED; uncounted; flushes only", of the device; -1 is unknown. */
static const char *
describe_flushes(const char *sysroot, sp_disks *disks)
{
	static char text[64];
	sp_sentence to = sp_sentence_begin(text, sizeof(text));
	sp_disks_facts facts = sp_disks_summary(disks, SP_LEVEL_DEVICE);
	sp_counters counters[SP_LEVELS];
	double		least;
	double		required;

	assert_int_equal(sp_disks_open(sysroot, disks), 0);
	assert_true(sp_disks_read(disks, counters));
	sp_disks_close(disks);
	least = sp_counters_least_flushes(&counters[SP_LEVEL_DEVICE]);
	required = sp_counters_required_flushes(&counters[SP_LEVEL_DEVICE]);
	sp_append(&to, "%s, %g, %g%s%s", facts.write_cache, isnan(least) ? -1 : least,
			  isnan(required) ? -1 : required, facts.count_flushes ? "" : "; uncounted",
			  counters[SP_LEVEL_DEVICE].flushes_only ? "; flushes only" : "");
	return text;
}

TEST(knows_which_disks_each_sync_flushes)
{
	FOR_EACH(row, flush_cases)
	{
		const char *sysroot;
		char		text[2048];
		sp_disks	disks;

		snprintf(text, sizeof(text), "%s%s", some_disks, row->text);
		sysroot = make_disks(text, row->names, &disks);
		if (strcmp(describe_flushes(sysroot, &disks), row->flushes) != 0)
			fail_msg("%s: %s", row->kind, describe_flushes(sysroot, &disks));
	}
}

/* As for a pool of ZFS: the log device decides, or data devices are one member with it. */
TEST(takes_the_duty_from_the_caller)
{
	const char *sysroot = new_tree(some_disks);

	for (int log_decides = 0; log_decides < 2; log_decides++)
	{
		sp_disks	disks = {.groups = 1};
		sp_flush_duty duty = log_decides ? SP_FLUSHED_NEVER : SP_FLUSHED_PERHAPS;

		assert_int_equal(add(sysroot, "vdb", SP_FLUSHED_PERHAPS, 1, &disks), 0);
		assert_int_equal(add(sysroot, "vda", duty, !log_decides, &disks), 0);
		assert_int_equal(add(sysroot, "vdc", duty, !log_decides, &disks), 0);
		assert_string_equal(describe_flushes(sysroot, &disks),
							log_decides ? "write back, 30, 532" : "write back, 32, -1");
		/* a disk that is also one of the others keeps the stricter duty */
		add_all(sysroot, &disks, "vda");
		assert_int_equal(disks.count, 3);
		assert_int_equal(disks.disks[1].duty, SP_FLUSHED_ALWAYS);
	}
}

TEST_MAIN(NULL, NULL)
