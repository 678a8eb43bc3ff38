/*-------------------------------------------------------------------------
 *
 * examine.c
 *		The storage below a location: mount, disks, counters, ZFS.
 *
 * It is examined before the probe.  Between timed operations only the counters are
 * read.  A missing fact (no sysfs, no tools, a removed device) is left out with a
 * reason.  It is never an error, since the timings are useful without it.
 *
 *-------------------------------------------------------------------------
 */
#include "storage/storage.h"

#include <fts.h>
#include <unistd.h>

#include "storage/fd.h"

static void
free_mounts(void *table)
{
	sp_mount_table_free(table);
}

/* The mounts of now, for as long as the current memory context lives. */
const sp_mount_table *
sp_storage_mounts(void)
{
	MemoryContextCallback *callback = palloc(sizeof(MemoryContextCallback));
	sp_mount_table *table = palloc(sizeof(sp_mount_table));

	/* without mountinfo (not Linux, no /proc) what depends on it is unknown */
	if (sp_mount_table_read("", table) != 0)
		sp_mount_table_free(table);
	callback->func = free_mounts;
	callback->arg = table;
	MemoryContextRegisterResetCallback(CurrentMemoryContext, callback);
	return table;
}

/* -------------------------------------------------------------- disks */

static bool
is_memory(const sp_mount *mount)
{
	return mount && (strcmp(mount->fstype, "tmpfs") == 0 || strcmp(mount->fstype, "ramfs") == 0);
}

/* ZFS in the kernel or in user space (FUSE). */
static bool
is_zfs(const sp_mount *mount)
{
	return mount && (strcmp(mount->fstype, "zfs") == 0 || strcmp(mount->fstype, "fuse.zfs") == 0);
}

/* Add a part of the storage, of which the file system may or may not flush the disks. */
static void
add_disks_of(sp_storage *storage, const char *path, sp_flush_duty duty, int group)
{
	if (sp_disks_add("", storage->mounts, path, duty, group, &storage->disks) != 0)
		storage->disks.incomplete[SP_LEVEL_DEVICE] = true;
}

static void
add_vdevs_of(sp_storage *storage, sp_vdev_use use, sp_flush_duty duty, int group)
{
	for (int i = 0; i < storage->zfs.nvdevs; i++)
	{
		if (storage->zfs.vdevs[i].use == use)
			add_disks_of(storage, storage->zfs.vdevs[i].path, duty, group);
	}
}

/*
 * Add the disks that receive syncs: data and log devices of the pool.
 *
 * A sync writes the intent log to one part of the pool, and ZFS flushes that part alone.
 * So the flushes of all of them together must be one a sync.  Where there are log devices,
 * the log is there, and these decide alone.  With another logbias the data of a sync go to
 * the data devices nonetheless.
 */
static void
add_pool_disks(sp_storage *storage)
{
	int			group = ++storage->disks.groups;

	/* first, so that a disk which is both is a log device */
	add_vdevs_of(storage, SP_VDEV_LOG, SP_FLUSHED_PERHAPS, group);
	if (sp_zfs_log_devices_decide(&storage->zfs))
		add_vdevs_of(storage, SP_VDEV_DATA, SP_FLUSHED_NEVER, 0);
	else
		add_vdevs_of(storage, SP_VDEV_DATA, SP_FLUSHED_PERHAPS, group);
	if (storage->zfs.more_vdevs)
		storage->disks.incomplete[SP_LEVEL_DEVICE] = true;
}

/* The name of the volume of ZFS that is this device, "zd0", by udev's links; or NULL. */
static char *
volume_of_device(const char *device)
{
	char	   *const roots[] = {"/dev/zvol", NULL};
	FTS		   *tree = NULL;
	FTSENT	   *entry;
	char	   *volume = NULL;

	if (strncmp(device, "zd", 2) == 0)
		tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	while (tree != NULL && volume == NULL && (entry = fts_read(tree)) != NULL)
	{
		char		target[MAXPGPATH] = "/";

		if ((entry->fts_info == FTS_SL || entry->fts_info == FTS_SLNONE) &&
			readlink(entry->fts_path, target + 1, sizeof(target) - 2) > 0 &&
			strcmp(strrchr(target, '/') + 1, device) == 0)
			volume = pstrdup(entry->fts_path + strlen(roots[0]) + 1);
	}
	if (tree != NULL)
		fts_close(tree);
	return volume;
}

/*
 * Ask the tools for what is ZFS.  The disks of a volume are those of its pool, since its device
 * counts no flushes.
 */
static void
examine_zfs(sp_storage *storage)
{
	StringInfoData why_not;
	bool		is_volume = !is_zfs(storage->beneath);

	storage->dataset = is_volume ? volume_of_device(storage->disks.top.name) :
		storage->beneath->source;
	if (storage->dataset == NULL)
		return;
	initStringInfo(&why_not);
	/* why_not is what is missing in zfs */
	(void) sp_zfs_ask_tools(storage->dataset, &storage->zfs, &why_not);
	storage->zfs_unknown = why_not.data;
	if (is_volume && storage->zfs.nvdevs > 0)
		storage->disks.count = 0;
	add_pool_disks(storage);
	/* a pool is on no single device */
	if (!is_volume)
		storage->disks.top.name[0] = '\0';
}

/* The separate log and real-time devices of xfs. */
static void
add_xfs_device(sp_storage *storage, const char *option, sp_flush_duty duty)
{
	const char *device = sp_mount_option(storage->beneath->mount_options, option);

	if (device)
		add_disks_of(storage, pnstrdup(device, strcspn(device, ",")), duty, 0);
}

static void
add_mount_disks(sp_storage *storage)
{
	bool		is_xfs = strcmp(storage->beneath->fstype, "xfs") == 0;

	/*
	 * xfs_file_fsync() flushes the device that holds the data of the file, and the log
	 * only if metadata were logged.  Files may be on the real-time device instead.
	 */
	bool		perhaps = is_xfs && sp_mount_option(storage->beneath->mount_options, "rtdev");
	int			status = sp_disks_add("", storage->mounts, storage->directory,
									  perhaps ? SP_FLUSHED_PERHAPS : SP_FLUSHED_ALWAYS, 0,
									  &storage->disks);

	if (status != 0 && status != ENODEV)
		storage->no_counters = psprintf("the disks cannot be determined: %s", strerror(status));
	if (is_xfs)
	{
		add_xfs_device(storage, "logdev", SP_FLUSHED_NEVER);
		add_xfs_device(storage, "rtdev", SP_FLUSHED_PERHAPS);
	}
}

/* Find the directory, if it is not missing, and its mount. */
void
sp_storage_find(const sp_location *location, const sp_mount_table *mounts, sp_storage *storage)
{
	char		resolved[PATH_MAX];

	memset(storage, 0, sizeof(*storage));
	storage->mounts = mounts;
	if (realpath(location->directory, resolved) == NULL)
		return;
	storage->directory = pstrdup(resolved);
	storage->mount = sp_mount_table_find(mounts, storage->directory);
	if (storage->mount)
		storage->beneath = sp_mount_beneath(mounts, storage->mount);
	if (storage->beneath == NULL)
		storage->beneath = storage->mount;
}

/* Add the disks of the mount.  Of a ZFS pool, only its tools know them. */
void
sp_storage_find_disks(sp_storage *storage)
{
	if (storage->mount && !is_zfs(storage->beneath))
		add_mount_disks(storage);
}

/* -------------------------------------------------------------- examination */

/* The option was "volatile", and is "fsync=volatile" in newer kernels. */
static bool
is_volatile_overlay(const sp_mount *mount)
{
	const char *fsync_option = sp_mount_option(mount->mount_options, "fsync");

	return strcmp(mount->fstype, "overlay") == 0 &&
		(sp_mount_option(mount->mount_options, "volatile") ||
		 (fsync_option && strncmp(fsync_option, "volatile", 8) == 0));
}

/* Why a sync does not make data durable there, or NULL. */
static const char *
why_syncs_nothing(const sp_storage *storage)
{
	if (is_memory(storage->beneath))
		return storage->beneath->fstype;
	if (is_memory(storage->disks.backing_mount))
		return psprintf("its file is on %s", storage->disks.backing_mount->fstype);
	if (storage->mount && is_volatile_overlay(storage->mount))
		return "volatile overlay";
	if (storage->dataset && strcmp(storage->zfs.sync, "disabled") == 0)
		return "sync=disabled";
	return NULL;
}

/* The facts for the engine, which live as long as the storage. */
sp_device_facts
sp_storage_facts(const sp_storage *storage)
{
	sp_disks_facts device = sp_disks_summary(&storage->disks, SP_LEVEL_DEVICE);

	return (sp_device_facts) {
		.syncs_nothing = why_syncs_nothing(storage),
		.write_cache = device.write_cache,
		.fua = device.fua,
		.flushes_uncounted = !device.count_flushes,
		/*
		 * A driver without the kernel's queues may count no writes either.  Of ZFS it is not
		 * known which parts of the pool a sync writes to, nor what deduplication leaves out.
		 */
		.writes_uncounted = !device.count_flushes || storage->dataset != NULL,
		/* the file of a loop device has a backing device, even if that is unknown */
		.has_backing = storage->disks.backing_file[0] != '\0',
		.backing_write_cache = sp_disks_summary(&storage->disks, SP_LEVEL_BACKING).write_cache
	};
}

/*
 * Find out everything but the counters.  Afterwards only memory is held.  This may
 * run the ZFS tools and wait some seconds for them.
 */
void
sp_storage_examine(const sp_location *location, sp_storage *storage)
{
	sp_storage_find(location, sp_storage_mounts(), storage);
	sp_storage_find_disks(storage);
	examine_zfs(storage);
}

/* ----------------------------------------------------------------- counters */

bool
sp_storage_open(sp_storage *storage)
{
	int			status;

	if (storage->disks.count == 0)
	{
		if (storage->no_counters == NULL)
			storage->no_counters = "the disks are unknown";
		return false;
	}
	while (storage->reserved_fds < storage->disks.count && AcquireExternalFD())
		storage->reserved_fds++;
	status = storage->reserved_fds < storage->disks.count ? EMFILE :
		sp_disks_open("", &storage->disks);
	if (status == 0)
		return true;
	storage->no_counters = psprintf("the counters cannot be opened: %s", strerror(status));
	sp_storage_close(storage);
	return false;
}

/* May be called twice, and while the backend exits. */
void
sp_storage_close(sp_storage *storage)
{
	sp_disks_close(&storage->disks);
	for (; storage->reserved_fds > 0; storage->reserved_fds--)
		ReleaseExternalFD();
}
