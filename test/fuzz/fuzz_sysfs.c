/*-------------------------------------------------------------------------
 *
 * fuzz_sysfs.c
 *	  Fuzz target: the statistics of disks, and the tree that they stand in.
 *
 * The input is read twice: as the content of a "stat" attribute, and as what a
 * small tree holds.  For the tree its first line is the shape, in which a
 * digit picks the mount to begin at and letters put links in place; the
 * following lines are the contents of the files, in the order of the table
 * below.  A line that is "-", or is missing, is a missing file.
 *
 * It must not: include a server header, or look at the disks of the machine it
 * runs on.
 *
 *-------------------------------------------------------------------------
 */
#include <errno.h>

#include "engine/storage/diskstats.h"
#include "engine/storage/disks.h"
#include "fuzz.h"

const char *const fuzz_seeds = "fuzz/sysfs";

#define MAX_CONTENT 600

/* All devices that there are; a partition belongs to the disk before it. */
static const struct
{
	const char *name;
	const char *number;
	const char *directory;
}			devices[] =
{
	{"sda", "8:0", "sys/devices/pci/sda"},
	{"sda1", "8:1", "sys/devices/pci/sda/sda1"},
	{"sdb", "8:16", "sys/devices/pci/sdb"},
	{"nvme0n1", "259:0", "sys/devices/virtual/nvme0n1"},
	{"dm-0", "253:0", "sys/devices/virtual/dm-0"},
	{"md0", "9:0", "sys/devices/virtual/md0"},
	{"loop0", "7:0", "sys/devices/virtual/loop0"},
};

/* Letters of the shape: a link, and the device that it leads to. */
static const struct
{
	char		letter;
	const char *path;
	const char *target;
}			links[] =
{
	{'a', "sys/devices/virtual/dm-0/slaves/sda1", "sda1"},
	{'b', "sys/devices/virtual/dm-0/slaves/md0", "md0"},
	{'c', "sys/devices/virtual/dm-0/slaves/loop0", "loop0"},
	{'d', "sys/devices/virtual/dm-0/slaves/gone", "gone"},
	{'e', "sys/devices/virtual/md0/slaves/sda", "sda"},
	{'f', "sys/devices/virtual/md0/slaves/sdb", "sdb"},
	{'g', "sys/devices/virtual/md0/slaves/dm-0", "dm-0"},
	{'h', "sys/devices/virtual/md0/slaves/nvme0n1", "nvme0n1"},
	{'i', "sys/fs/btrfs/uuid/devices/sda1", "sda1"},
	{'j', "sys/fs/btrfs/uuid/devices/sdb", "sdb"},
	{'k', "sys/fs/btrfs/uuid/devices/dm-0", "dm-0"},
	{'l', "sys/class/block/nvme0c0n1", "sda"},
	{'m', "sys/class/block/nvme0c1n1", "sdb"},
	{'n', "dev/link", "loop0"},
};

/* What the lines behind the first are the content of. */
static const char *const files[] = {
	"sys/devices/pci/sda/stat",
	"sys/devices/pci/sda/queue/write_cache",
	"sys/devices/pci/sda/queue/rotational",
	"sys/devices/pci/sda/queue/fua",
	"sys/devices/pci/sda/device/vendor",
	"sys/devices/pci/sda/device/model",
	"sys/devices/virtual/loop0/loop/backing_file",
	"sys/devices/virtual/loop0/stat",
	"sys/devices/pci/sdb/stat",
	"sys/devices/pci/sdb/queue/write_cache",
	"sys/devices/pci/sdb/queue/fua",
	"sys/devices/virtual/nvme0n1/device/model",
	"sys/devices/virtual/nvme0n1/stat",
	"sys/devices/virtual/dm-0/stat",
	"sys/devices/virtual/dm-0/dm/name",
	"path",						/* for sp_disks_add_path */
};

static char mountinfo[] =
"1 0 8:1 / / rw - ext4 /dev/sda1 rw\n"
"2 1 7:0 / /loop rw - ext4 /dev/loop0 rw\n"
"3 1 253:0 / /dm rw - xfs /dev/mapper/dm rw\n"
"4 1 9:0 / /md rw - ext4 /dev/md0 rw\n"
"5 1 0:44 / /btrfs rw - btrfs /dev/sda1 rw\n"
"6 1 0:45 / /over rw - overlay overlay rw,upperdir=/loop/u,workdir=/w\n"
"7 1 259:0 / /nvme rw - ext4 /dev/nvme0n1 rw\n"
"8 1 0:46 / /mapper rw - btrfs /dev/mapper/vg-pg rw\n"
"9 1 0:47 / /none rw - tmpfs tmpfs rw\n"
"10 1 8:99 / /gone rw - ext4 /dev/gone rw\n";

static const char *const mount_points[] = {
	"/", "/loop", "/dm", "/md", "/btrfs", "/over", "/nvme", "/mapper", "/none",
	"/gone",
};

/* What each file and link is like now, so that only changes need a call. */
typedef struct tree
{
	sp_mount_table *mounts;
	bool		has_link[lengthof(links)];
	bool		has_file[lengthof(files)];
	size_t		lengths[lengthof(files)];
	char		contents[lengthof(files)][MAX_CONTENT];
} tree;

static void
make_link(const char *path, const char *target)
{
	char		link[PATH_MAX];
	char		absolute[PATH_MAX];
	const char *directory = "sys/devices/gone";

	for (size_t i = 0; i < lengthof(devices); i++)
	{
		if (strcmp(devices[i].name, target) == 0)
			directory = devices[i].directory;
	}
	fuzz_path(link, path);
	fuzz_path(absolute, directory);
	require(symlink(absolute, link) == 0);
}

static void
make_device(size_t i)
{
	char		name[128];

	snprintf(name, sizeof(name), "%s/queue", devices[i].directory);
	fuzz_make_directory(name);
	snprintf(name, sizeof(name), "%s/device", devices[i].directory);
	fuzz_make_directory(name);
	snprintf(name, sizeof(name), "%s/slaves", devices[i].directory);
	fuzz_make_directory(name);
	snprintf(name, sizeof(name), "sys/class/block/%s", devices[i].name);
	make_link(name, devices[i].name);
	snprintf(name, sizeof(name), "sys/dev/block/%s", devices[i].number);
	make_link(name, devices[i].name);
}

static void
make_tree(tree *made)
{
	FILE	   *file = fmemopen(mountinfo, sizeof(mountinfo) - 1, "r");

	require(file != NULL);
	require(sp_mount_table_read_stream(file, &made->mounts) == 0);
	require(sp_mount_table_count(made->mounts) == lengthof(mount_points));
	fclose(file);
	fuzz_make_directory("sys/class/block");
	fuzz_make_directory("sys/dev/block");
	fuzz_make_directory("sys/fs/btrfs/uuid/devices");
	fuzz_make_directory("sys/devices/virtual/loop0/loop");
	fuzz_make_directory("sys/devices/virtual/dm-0/dm");
	fuzz_make_directory("dev");
	for (size_t i = 0; i < lengthof(devices); i++)
		make_device(i);
	fuzz_write_file("sys/devices/pci/sda/sda1/partition", "1\n", 2);
}

static void
set_link(tree *now, size_t i, bool wanted)
{
	char		path[PATH_MAX];

	if (now->has_link[i] == wanted)
		return;
	now->has_link[i] = wanted;
	if (wanted)
		make_link(links[i].path, links[i].target);
	else
	{
		fuzz_path(path, links[i].path);
		require(unlink(path) == 0);
	}
}

/* line: NULL for a missing file */
static void
set_file(tree *now, size_t i, const char *line, size_t length)
{
	char		path[PATH_MAX];
	bool		wanted = line != NULL && !(length == 1 && line[0] == '-');

	length = length < MAX_CONTENT - 1 ? length : MAX_CONTENT - 1;
	if (now->has_file[i] && !wanted)
	{
		fuzz_path(path, files[i]);
		require(unlink(path) == 0);
	}
	else if (wanted && (!now->has_file[i] || now->lengths[i] != length ||
						memcmp(now->contents[i], line, length) != 0))
	{
		memcpy(now->contents[i], line, length);
		now->contents[i][length] = '\n';
		now->lengths[i] = length;
		fuzz_write_file(files[i], now->contents[i], length + 1);
	}
	now->has_file[i] = wanted;
}

static bool
take_line(const char **text, size_t *size, const char **line, size_t *length)
{
	const char *end;

	if (*size == 0)
		return false;
	end = memchr(*text, '\n', *size);
	*line = *text;
	*length = end != NULL ? (size_t) (end - *text) : *size;
	*text += *length + (end != NULL);
	*size -= *length + (end != NULL);
	return true;
}

/* Returns the mount to begin at. */
static const sp_mount *
set_tree(tree *now, const char *text, size_t size)
{
	const char *line = "";
	size_t		length = 0;
	size_t		mount = 0;

	(void) take_line(&text, &size, &line, &length);
	for (size_t i = 0; i < length; i++)
	{
		if (line[i] >= '0' && line[i] <= '9')
			mount = (size_t) (line[i] - '0');
	}
	for (size_t i = 0; i < lengthof(links); i++)
		set_link(now, i, memchr(line, links[i].letter, length) != NULL);
	for (size_t i = 0; i < lengthof(files); i++)
	{
		bool		has_line = take_line(&text, &size, &line, &length);

		set_file(now, i, has_line ? line : NULL, length);
	}
	return sp_mount_table_find(now->mounts, mount_points[mount]);
}

static size_t
count_fields(const char *text, size_t length)
{
	size_t		fields = 0;

	for (size_t i = 0; i < length; i++)
	{
		if (text[i] != ' ' && text[i] != '\n' && (i == 0 || text[i - 1] == ' '))
			fields++;
	}
	return fields;
}

static bool
is_zero(const sp_counters *counters)
{
	return counters->writes == 0 && counters->written_bytes == 0 &&
		counters->flushes == 0 && counters->busy_ms == 0 &&
		counters->request_ms == 0;
}

/* Adding and taking away must agree, unless the sum wraps. */
static void
check_arithmetic(const sp_counters *counters)
{
	sp_counters sum = *counters;
	sp_counters delta;

	require(sp_counters_between(counters, counters, &delta));
	require(is_zero(&delta) && delta.has_flushes == counters->has_flushes);
	sp_counters_add(&sum, counters);
	require(sum.written_bytes % 512 == 0);
	if (!sp_counters_between(counters, &sum, &delta))
	{
		require(is_zero(&delta) && !delta.has_flushes);
		require(sum.writes < counters->writes ||
				sum.written_bytes < counters->written_bytes ||
				sum.flushes < counters->flushes ||
				sum.busy_ms < counters->busy_ms ||
				sum.request_ms < counters->request_ms);
		return;
	}
	require(delta.writes == counters->writes);
	require(delta.written_bytes == counters->written_bytes);
	require(delta.flushes == counters->flushes);
	require(delta.busy_ms == counters->busy_ms);
	require(delta.request_ms == counters->request_ms);
	require(delta.has_flushes == counters->has_flushes);
}

static void
check_stat(const char *text, size_t length)
{
	sp_counters first;
	sp_counters second;
	bool		parsed = sp_counters_parse(text, length, &first);

	require(sp_counters_parse(text, length, &second) == parsed);
	require(memcmp(&first, &second, sizeof(first)) == 0);
	require(parsed || (is_zero(&first) && !first.has_flushes));
	if (!parsed)
		return;
	require(count_fields(text, length) >= 11);
	require(first.has_flushes == (count_fields(text, length) >= 17));
	require(first.has_flushes || first.flushes == 0);
	require(first.written_bytes % 512 == 0);
	check_arithmetic(&first);
}

static bool
is_flag(int flag)
{
	return flag >= -1 && flag <= 1;
}

static bool
is_cache(const char *cache)
{
	return strcmp(cache, "") == 0 || strcmp(cache, "write back") == 0 ||
		strcmp(cache, "write through") == 0;
}

static bool
is_device(const char *name)
{
	for (size_t i = 0; i < lengthof(devices); i++)
	{
		if (strcmp(devices[i].name, name) == 0)
			return true;
	}
	return false;
}

static void
check_disk(const sp_disks *disks, int i)
{
	const sp_disk *disk = &disks->disks[i];

	require(is_device(disk->name) && strcmp(disk->name, "sda1") != 0);
	require(disk->level < SP_LEVELS && disk->stat_fd == -1);
	require(is_flag(disk->rotational) && is_flag(disk->fua));
	require(is_cache(disk->write_cache));
	for (int j = 0; j < i; j++)
		require(disk->level != disks->disks[j].level ||
				strcmp(disk->name, disks->disks[j].name) != 0);
}

/* The weakest of a level decides. */
static void
check_level(const sp_disks *disks, sp_level level)
{
	const char *cache = sp_disks_write_cache(disks, level);
	int			fua = sp_disks_fua(disks, level);
	int			count = 0;
	int			through = 0;
	int			may_fua = 0;

	require(is_cache(cache) && (fua == 0 || fua == 1));
	for (int i = 0; i < disks->count; i++)
	{
		const sp_disk *disk = &disks->disks[i];

		if (disk->level != level)
			continue;
		count++;
		through += strcmp(disk->write_cache, "write through") == 0;
		may_fua += disk->fua != 0;
		require(strcmp(disk->write_cache, "write back") != 0 ||
				strcmp(cache, "write back") == 0);
	}
	require(fua == (may_fua > 0 || disks->incomplete[level]));
	if (strcmp(cache, "write through") == 0)
		require(count > 0 && through == count);
	else
		require(count == 0 || through < count || disks->incomplete[level]);
}

/* Files do not change meanwhile, so neither do counters. */
static void
check_counters(const sp_disks *disks)
{
	sp_counters first[SP_LEVELS];
	sp_counters second[SP_LEVELS];
	bool		was_read = sp_disks_read(disks, first);

	require(sp_disks_read(disks, second) == was_read);
	require(memcmp(first, second, sizeof(first)) == 0);
	for (int level = 0; level < SP_LEVELS; level++)
	{
		int			count = 0;

		for (int i = 0; i < disks->count; i++)
			count += disks->disks[i].level == (sp_level) level;
		require((was_read && count > 0) || is_zero(&first[level]));
		check_arithmetic(&first[level]);
	}
}

static void
check_disks(const char *sysroot, const tree *now, sp_disks *disks)
{
	require(disks->count >= 0 && disks->count <= SP_MAX_DISKS);
	for (int i = 0; i < disks->count; i++)
		check_disk(disks, i);
	for (int level = 0; level < SP_LEVELS; level++)
		check_level(disks, (sp_level) level);
	require(strlen(disks->backing_file) < sizeof(disks->backing_file));
	require(disks->backing_mount == NULL ||
			disks->backing_mount ==
			sp_mount_table_find(now->mounts, disks->backing_mount->mount_point));
	if (sp_disks_open(sysroot, disks) == 0)
		check_counters(disks);
	sp_disks_close(disks);
	for (int i = 0; i < disks->count; i++)
		require(disks->disks[i].stat_fd == -1);
}

/* Whatever was found, asking again finds the same; an error adds nothing. */
static void
check_find(const char *sysroot, const tree *now, const sp_mount *mount,
		   const char *path)
{
	sp_disks	empty;
	sp_disks	first;
	sp_disks	second;
	int			status;
	int			again;

	sp_disks_init(&empty);
	first = second = empty;
	if (path != NULL)
	{
		status = sp_disks_add_path(sysroot, now->mounts, path, &first);
		again = sp_disks_add_path(sysroot, now->mounts, path, &second);
	}
	else
	{
		status = sp_disks_find(sysroot, now->mounts, mount, &first);
		again = sp_disks_find(sysroot, now->mounts, mount, &second);
	}
	require(status == again);
	require(memcmp(&first, &second, sizeof(first)) == 0);
	require(status == 0 ? first.count > 0 :
			memcmp(&first, &empty, sizeof(first)) == 0);
	check_disks(sysroot, now, &first);
}

static void
check_block_device(const char *sysroot, const sp_mount *mount)
{
	sp_block_device device;
	int			status = sp_block_device_find(sysroot, mount, &device);

	require(status == 0 ? is_device(device.name) : device.name[0] == '\0');
	require(is_flag(device.rotational) && is_cache(device.write_cache));
}

/* The last of the files is no file but a path that a tool might name. */
static void
check_path(const char *sysroot, const tree *now)
{
	const size_t last = lengthof(files) - 1;
	char		path[MAX_CONTENT];

	if (!now->has_file[last])
		return;
	memcpy(path, now->contents[last], now->lengths[last]);
	path[now->lengths[last]] = '\0';
	/* what is above the tree is another on each machine */
	if (path[0] == '/' && strstr(path, "..") == NULL)
		check_find(sysroot, now, NULL, path);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static tree now;
	const char *text = (const char *) data;
	const sp_mount *mount;
	const char *line;
	size_t		length;
	int			fd;

	if (now.mounts == NULL)
		make_tree(&now);
	check_stat(text, size);
	mount = set_tree(&now, text, size);
	while (take_line(&text, &size, &line, &length))
		check_stat(line, length);

	fd = dup(STDERR_FILENO);
	close(fd);
	check_block_device(fuzz_directory(), mount);
	check_find(fuzz_directory(), &now, mount, NULL);
	check_path(fuzz_directory(), &now);
	/* whatever was opened is closed again */
	require(dup(STDERR_FILENO) == fd);
	close(fd);
	return 0;
}
