/*-------------------------------------------------------------------------
 *
 * examine.c
 *		The storage below a location that is probed: disks, counters, ZFS.
 *
 * It is examined before the probe.  Between timed operations only the counters are
 * read.  A missing fact (no sysfs, no tools, a removed device) is left out with a
 * reason.  It is never an error, since the timings are useful without it.
 *
 *-------------------------------------------------------------------------
 */
#include "storage/storage.h"

#include "storage/fd.h"

/* -------------------------------------------------------------- examination */

static bool
is_memory(const char *filesystem)
{
	return strcmp(filesystem, "tmpfs") == 0 || strcmp(filesystem, "ramfs") == 0;
}

/* ZFS in the kernel or in user space (FUSE). */
static bool
is_zfs(const char *filesystem)
{
	return strcmp(filesystem, "zfs") == 0 || strcmp(filesystem, "fuse.zfs") == 0;
}

/* Add the disks of a pool that have a use. */
static void
add_vdevs_of(sp_storage *storage, const sp_mount_table *mounts, sp_vdev_use use)
{
	for (int i = 0; i < storage->zfs.nvdevs; i++)
	{
		const sp_vdev *vdev = &storage->zfs.vdevs[i];

		if (vdev->use == use &&
			sp_disks_add_path("", mounts, vdev->path, &storage->disks) != 0)
			storage->disks.incomplete[SP_LEVEL_DEVICE] = true;
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
add_pool_disks(sp_storage *storage, const sp_mount_table *mounts)
{
	bool		log_decides = sp_zfs_log_devices_decide(&storage->zfs);

	/* first, so that a disk which is both is a log device */
	sp_disks_expect(&storage->disks, SP_FLUSHED_PERHAPS, true);
	add_vdevs_of(storage, mounts, SP_VDEV_LOG);
	if (log_decides)
		sp_disks_expect(&storage->disks, SP_FLUSHED_NEVER, false);
	add_vdevs_of(storage, mounts, SP_VDEV_DATA);
	if (storage->zfs.more_vdevs)
		storage->disks.incomplete[SP_LEVEL_DEVICE] = true;
}

/* The number of commits of the intent log; -1 if it is not counted. */
int64
sp_storage_zil_commits(sp_storage *storage)
{
	return sp_zfs_read_commits("", storage->source, &storage->zil_whole_system);
}

static void
examine_zfs(sp_storage *storage, const sp_mount_table *mounts)
{
	StringInfoData why_not;

	initStringInfo(&why_not);
	sp_zfs_init(&storage->zfs);
	storage->is_zfs = true;
	/* why_not says what is missing in zfs */
	(void) sp_zfs_ask_tools(storage->source, &storage->zfs, &why_not);
	storage->zfs_unknown = why_not.data;
	add_pool_disks(storage, mounts);
}

/*
 * Add the disks of a file system that is on block devices, with the separate log and
 * real-time devices of xfs.
 */
static void
add_disks_of_mount(sp_storage *storage, const sp_mount_table *mounts, const sp_mount *mount)
{
	static const char *const options[] = {"logdev", "rtdev"};
	bool		is_xfs = strcmp(mount->fstype, "xfs") == 0;
	int			status;

	/*
	 * xfs_file_fsync() flushes the device that holds the data of the file, and the log
	 * only if metadata were logged.  Files may be on the real-time device instead.
	 */
	if (is_xfs && sp_mount_option(mount->mount_options, "rtdev"))
		sp_disks_expect(&storage->disks, SP_FLUSHED_PERHAPS, false);
	status = sp_disks_find("", mounts, mount, &storage->disks);
	storage->device = storage->disks.top;
	strlcpy(storage->device.write_cache,
			sp_disks_summary(&storage->disks, SP_LEVEL_DEVICE).write_cache,
			sizeof(storage->device.write_cache));
	if (status != 0 && status != ENODEV)
		storage->no_counters = psprintf("the disks cannot be determined: %s", strerror(status));
	if (!is_xfs)
		return;
	for (size_t i = 0; i < lengthof(options); i++)
	{
		const char *device = sp_mount_option(mount->mount_options, options[i]);

		sp_disks_expect(&storage->disks, i == 0 ? SP_FLUSHED_NEVER : SP_FLUSHED_PERHAPS, false);
		if (device && sp_disks_add_path("", mounts, pnstrdup(device, strcspn(device, ",")),
										&storage->disks) != 0)
			storage->disks.incomplete[SP_LEVEL_DEVICE] = true;
	}
}

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
why_syncs_nothing(const sp_storage *storage, const sp_mount *mount, const sp_mount *beneath)
{
	if (is_memory(beneath->fstype))
		return pstrdup(beneath->fstype);
	if (storage->backing_filesystem && is_memory(storage->backing_filesystem))
		return psprintf("its file is on %s", storage->backing_filesystem);
	if (is_volatile_overlay(mount))
		return "volatile overlay";
	if (storage->is_zfs && strcmp(storage->zfs.sync, "disabled") == 0)
		return "sync=disabled";
	return NULL;
}

static void
examine_mount(sp_storage *storage, const sp_mount_table *mounts, const sp_mount *mount)
{
	const sp_mount *beneath = sp_mount_beneath(mounts, mount);

	/* the file system below an overlay counts, if it is known */
	if (beneath == NULL)
		beneath = mount;

	/* copy the strings, since the mount table is freed before the probe */
	storage->filesystem = pstrdup(mount->fstype);
	storage->mount_options = pstrdup(mount->mount_options);
	storage->source = pstrdup(beneath->source);
	if (is_zfs(beneath->fstype))
		examine_zfs(storage, mounts);
	else
		add_disks_of_mount(storage, mounts, beneath);
	if (storage->disks.backing_mount)
	{
		storage->backing_filesystem = pstrdup(storage->disks.backing_mount->fstype);
		storage->backing_options = pstrdup(storage->disks.backing_mount->mount_options);
		storage->disks.backing_mount = NULL;
	}
	storage->syncs_nothing = why_syncs_nothing(storage, mount, beneath);
}

/* Set the facts for the engine. */
static void
set_facts(const sp_storage *storage, sp_device_facts *facts)
{
	sp_disks_facts device = sp_disks_summary(&storage->disks, SP_LEVEL_DEVICE);
	sp_disks_facts backing = sp_disks_summary(&storage->disks, SP_LEVEL_BACKING);

	facts->syncs_nothing = storage->syncs_nothing != NULL;
	strlcpy(facts->write_cache, device.caches_differ ? SP_MIXED_CACHES : device.write_cache,
			sizeof(facts->write_cache));
	strlcpy(facts->backing_write_cache,
			backing.caches_differ ? SP_MIXED_CACHES : backing.write_cache,
			sizeof(facts->backing_write_cache));
	facts->fua = device.fua;
	facts->flushes_uncounted = !device.count_flushes;

	/*
	 * A driver without the kernel's queues may count no writes either.  Of ZFS it is not
	 * known which parts of the pool a sync writes to, nor what deduplication leaves out.
	 */
	facts->writes_uncounted = facts->flushes_uncounted || storage->is_zfs;

	/* the file of a loop device has a backing device, even if that is unknown */
	facts->has_backing = storage->disks.backing_file[0] != '\0';
	for (int i = 0; i < storage->disks.count; i++)
		facts->has_backing = facts->has_backing || storage->disks.disks[i].level == SP_LEVEL_BACKING;
}

/*
 * Find out everything but the counters.  Afterwards only memory is held.  This may
 * run the ZFS tools and wait some seconds for them.
 */
void
sp_storage_examine(const sp_location *location, sp_storage *storage, sp_device_facts *facts)
{
	char	   *directory = realpath(location->directory, NULL);
	sp_mount_table *mounts = NULL;

	memset(storage, 0, sizeof(*storage));
	sp_disks_init(&storage->disks);
	storage->zil_commits_before = -1;
	(void) sp_mount_table_read("", &mounts);
	PG_TRY();
	{
		const sp_mount *mount = NULL;

		if (directory)
			storage->directory = pstrdup(directory);
		if (mounts && directory)
			mount = sp_mount_table_find(mounts, directory);
		if (mount)
			examine_mount(storage, mounts, mount);
	}
	PG_FINALLY();
	{
		sp_mount_table_free(mounts);
		free(directory);
	}
	PG_END_TRY();

	memset(facts, 0, sizeof(*facts));
	set_facts(storage, facts);
}

/* ----------------------------------------------------------------- counters */

bool
sp_storage_open(sp_storage *storage)
{
	int			status;

	/* after the files have been written: see sp_probe.syncs */
	if (storage->is_zfs)
		storage->zil_commits_before = sp_storage_zil_commits(storage);
	if (storage->disks.count == 0)
	{
		if (storage->no_counters == NULL)
			storage->no_counters = "the disks are unknown";
		return false;
	}
	for (; storage->reserved_fds < storage->disks.count; storage->reserved_fds++)
	{
		if (!AcquireExternalFD())
		{
			storage->no_counters = "too many files are open";
			sp_storage_close(storage);
			return false;
		}
	}
	status = sp_disks_open("", &storage->disks);
	if (status != 0)
	{
		storage->no_counters = psprintf("the counters cannot be opened: %s", strerror(status));
		sp_storage_close(storage);
		return false;
	}
	return true;
}

/* May be called twice, and while the backend exits. */
void
sp_storage_close(sp_storage *storage)
{
	sp_disks_close(&storage->disks);
	for (; storage->reserved_fds > 0; storage->reserved_fds--)
		ReleaseExternalFD();
}
