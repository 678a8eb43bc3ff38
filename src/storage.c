/*-------------------------------------------------------------------------
 *
 * storage.c
 *		What lies under a location while it is probed: disks, counters, ZFS.
 *
 * Examined before the probe, since nothing of it belongs between timed
 * operations; then only the counters are read.  What cannot be told (no sysfs,
 * no tools, a device that went away) is left out of the facts, with a word why,
 * and is never an error: the timings are worth having without it.
 *
 *-------------------------------------------------------------------------
 */
#include "pg_sync_probe.h"

#include <math.h>
#include <time.h>
#include <unistd.h>

#include "mb/pg_wchar.h"
#include "storage/fd.h"
#include "utils/builtins.h"
#include "utils/json.h"
#include "utils/memutils.h"

#include "zfs_tools.h"

/* Of the session's last probe; in TopMemoryContext, or NULL. */
static char *last_facts = NULL;

PG_FUNCTION_INFO_V1(sync_probe_last_storage);

/* -------------------------------------------------------------- examination */

/* What the kernel says may be in any encoding: spoil what the server cannot hold. */
char *
sp_valid_text(const char *text)
{
	char	   *copy = pstrdup(text);

	if (!pg_verifymbstr(copy, strlen(copy), true))
	{
		for (char *c = copy; *c; c++)
		{
			if (IS_HIGHBIT_SET(*c))
				*c = '?';
		}
	}
	return copy;
}

static bool
is_memory(const char *filesystem)
{
	return strcmp(filesystem, "tmpfs") == 0 || strcmp(filesystem, "ramfs") == 0;
}

/* The kernel's ZFS, or the one in user space. */
static bool
is_zfs(const char *filesystem)
{
	return strcmp(filesystem, "zfs") == 0 || strcmp(filesystem, "fuse.zfs") == 0;
}

/* The disks that syncs go to: those of the pool's data and of its log. */
static void
add_pool_disks(sp_storage *storage, const sp_mount_table *mounts)
{
	for (int i = 0; i < storage->zfs.nvdevs; i++)
	{
		const sp_vdev *vdev = &storage->zfs.vdevs[i];
		char		path[MAXPGPATH];

		if (vdev->use != SP_VDEV_DATA && vdev->use != SP_VDEV_LOG)
			continue;
		/* without -P the tool leaves out the directory */
		snprintf(path, sizeof(path), "%s%s", vdev->path[0] == '/' ? "" : "/dev/", vdev->path);
		if (sp_disks_add_path("", mounts, path, &storage->disks) != 0)
			storage->disks.incomplete[SP_LEVEL_DEVICE] = true;
	}
	if (storage->zfs.more_vdevs)
		storage->disks.incomplete[SP_LEVEL_DEVICE] = true;
}

/*
 * How often has the intent log been committed?  -1 if nobody counts.
 */
static int64
read_zil_commits(sp_storage *storage)
{
	int64_t		commits;

	if (sp_zfs_read_commits("", storage->source, &commits, &storage->zil_whole_system) != 0)
		return -1;
	return commits;
}

static void
examine_zfs(sp_storage *storage, const sp_mount_table *mounts)
{
	StringInfoData why_not;

	initStringInfo(&why_not);
	sp_zfs_init(&storage->zfs);
	storage->is_zfs = true;
	storage->zfs_known = sp_zfs_ask_tools(storage->source, &storage->zfs, &why_not);
	storage->zfs_unknown = why_not.data;
	add_pool_disks(storage, mounts);
	storage->zil_commits_before = read_zil_commits(storage);
}

/* The value of an option with one, or NULL. */
static char *
option_value(const char *options, const char *name)
{
	char	   *rest = pstrdup(options);
	char	   *option;

	while ((option = strsep(&rest, ",")) != NULL)
	{
		Size		length = strlen(name);

		if (strncmp(option, name, length) == 0 && option[length] == '=')
			return option + length + 1;
	}
	return NULL;
}

static bool
has_option(const char *options, const char *name)
{
	char	   *rest = pstrdup(options);
	char	   *option;

	while ((option = strsep(&rest, ",")) != NULL)
	{
		if (strcmp(option, name) == 0)
			return true;
	}
	return false;
}

/*
 * The disks of a file system that has devices; also those that xfs has for its
 * log or its files alone.
 */
static void
add_disks_of_mount(sp_storage *storage, const sp_mount_table *mounts, const sp_mount *mount)
{
	static const char *const others[] = {"logdev", "rtdev"};
	int			status = sp_disks_find("", mounts, mount, &storage->disks);

	if (status != 0 && status != ENODEV)
		storage->no_counters = psprintf("the disks cannot be told: %s", strerror(status));
	for (int i = 0; i < lengthof(others) && strcmp(mount->fstype, "xfs") == 0; i++)
	{
		char	   *device = option_value(mount->mount_options, others[i]);

		if (device && sp_disks_add_path("", mounts, device, &storage->disks) != 0)
			storage->disks.incomplete[SP_LEVEL_DEVICE] = true;
	}
}

/* Why no sync there means anything, or NULL. */
static const char *
why_syncs_nothing(const sp_storage *storage, const sp_mount *mount, const sp_mount *beneath)
{
	if (is_memory(beneath->fstype))
		return pstrdup(beneath->fstype);
	if (storage->backing_filesystem && is_memory(storage->backing_filesystem))
		return psprintf("its file is on %s", storage->backing_filesystem);
	if (strcmp(mount->fstype, "overlay") == 0 &&
		(has_option(mount->mount_options, "volatile") || has_option(mount->mount_options, "fsync=volatile")))
		return "volatile overlay";
	if (storage->is_zfs && strcmp(storage->zfs.sync, "disabled") == 0)
		return "sync=disabled";
	return NULL;
}

static void
examine_mount(sp_storage *storage, const sp_mount_table *mounts, const sp_mount *mount)
{
	const sp_mount *beneath = sp_mount_beneath(mounts, mount);

	/* what is below an overlay decides, if that can be told */
	if (beneath == NULL)
		beneath = mount;

	/* the table is freed before the probe */
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

/* What the engine is told of it. */
static void
set_facts(const sp_storage *storage, sp_device_facts *facts)
{
	facts->syncs_nothing = storage->syncs_nothing != NULL;
	strlcpy(facts->write_cache, sp_disks_caches_differ(&storage->disks, SP_LEVEL_DEVICE) ?
			SP_MIXED_CACHES : sp_disks_write_cache(&storage->disks, SP_LEVEL_DEVICE),
			sizeof(facts->write_cache));

	/* either way a flush need not be seen */
	facts->fua = sp_disks_fua(&storage->disks, SP_LEVEL_DEVICE) ||
		!sp_disks_count_flushes(&storage->disks, SP_LEVEL_DEVICE);

	/* a file has something below it, known or not */
	facts->has_below = storage->disks.backing_file[0] != '\0';
	for (int i = 0; i < storage->disks.count; i++)
		facts->has_below = facts->has_below || storage->disks.disks[i].level == SP_LEVEL_BELOW;
}

/*
 * Everything but the counters; holds nothing but memory afterwards.  May start
 * the tools of ZFS, and wait some seconds for their answer.
 */
void
sp_storage_examine(const sp_location *location, sp_storage *storage, sp_device_facts *facts)
{
	char	   *directory = realpath(location->directory, NULL);
	sp_mount_table *mounts = NULL;
	const sp_mount *mount = NULL;

	memset(storage, 0, sizeof(*storage));
	sp_disks_init(&storage->disks);
	storage->zil_commits_before = -1;
	(void) sp_mount_table_read("", &mounts);
	PG_TRY();
	{
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

static bool
read_counters(void *context, sp_counters counters[SP_LEVELS])
{
	return sp_disks_read(&((sp_surroundings *) context)->storage->disks, counters);
}

/* What one reading takes: the least of some. */
static int64
reading_cost_ns(const sp_probe *probe)
{
	const sp_callbacks *callbacks = &probe->callbacks;
	sp_counters counters[SP_LEVELS];
	int64		least = PG_INT64_MAX;

	for (int i = 0; i < 16; i++)
	{
		int64		begin = callbacks->now_ns(callbacks->context);

		if (!callbacks->read_counters(callbacks->context, counters))
			return 0;
		least = Min(least, callbacks->now_ns(callbacks->context) - begin);
	}
	return least;
}

/* The first disk whose statistics are switched off; NULL if there is none. */
static const char *
disk_without_statistics(const sp_disks *disks)
{
	for (int i = 0; i < disks->count; i++)
	{
		if (disks->disks[i].counts_nothing)
			return disks->disks[i].name;
	}
	return NULL;
}

/*
 * Let the engine read the counters.  From here on sp_storage_close() is owed,
 * whatever happens.
 */
void
sp_storage_open(sp_storage *storage, sp_probe *probe)
{
	int			status;

	if (storage->disks.count == 0)
	{
		if (storage->no_counters == NULL)
			storage->no_counters = "no disk can be named";
		return;
	}
	if (disk_without_statistics(&storage->disks))
	{
		storage->no_counters = psprintf("its statistics are off (0 in /sys/class/block/%s/queue/iostats)",
										disk_without_statistics(&storage->disks));
		return;
	}
	for (; storage->reserved_fds < storage->disks.count; storage->reserved_fds++)
	{
		if (!AcquireExternalFD())
		{
			storage->no_counters = "too many files are open";
			sp_storage_close(storage);
			return;
		}
	}
	status = sp_disks_open("", &storage->disks);
	if (status != 0)
	{
		storage->no_counters = psprintf("the counters cannot be opened: %s", strerror(status));
		sp_storage_close(storage);
		return;
	}
	probe->callbacks.read_counters = read_counters;
	probe->counters_cost_ns = reading_cost_ns(probe);
}

/* Also called while the backend exits; may be called twice. */
void
sp_storage_close(sp_storage *storage)
{
	sp_disks_close(&storage->disks);
	for (; storage->reserved_fds > 0; storage->reserved_fds--)
		ReleaseExternalFD();
}

/* -------------------------------------------------------------------- facts */

/* The members of an object; text that is empty and numbers that are none are left out. */
static void
begin_member(StringInfo json, const char *name)
{
	char		before = json->len > 0 ? json->data[json->len - 1] : '{';

	if (before != '{' && before != '[')
		appendStringInfoChar(json, ',');
	escape_json(json, name);
	appendStringInfoChar(json, ':');
}

static void
add_text(StringInfo json, const char *name, const char *text)
{
	if (text == NULL || text[0] == '\0')
		return;
	begin_member(json, name);
	escape_json(json, sp_valid_text(text));
}

static void
add_number(StringInfo json, const char *name, double number, int digits)
{
	if (isnan(number) || isinf(number))
		return;
	begin_member(json, name);
	appendStringInfo(json, "%.*f", digits, number);
}

/* 1 or 0; -1 is not known */
static void
add_boolean(StringInfo json, const char *name, int value)
{
	if (value < 0)
		return;
	begin_member(json, name);
	appendStringInfoString(json, value ? "true" : "false");
}

static void
add_disks(StringInfo json, const sp_disks *disks)
{
	begin_member(json, "disks");
	appendStringInfoChar(json, '[');
	for (int i = 0; i < disks->count; i++)
	{
		const sp_disk *disk = &disks->disks[i];

		appendStringInfoString(json, i > 0 ? ",{" : "{");
		add_text(json, "name", disk->name);
		add_text(json, "write_cache", disk->write_cache);
		add_boolean(json, "fua", disk->fua);
		add_boolean(json, "rotational", disk->rotational);
		add_boolean(json, "virtual", disk->virtual);
		if (!disk->counts_flushes)
			add_boolean(json, "counts_flushes", 0);
		if (disk->level == SP_LEVEL_BELOW)
			add_boolean(json, "below", 1);
		appendStringInfoChar(json, '}');
	}
	appendStringInfoChar(json, ']');
	if (disks->incomplete[SP_LEVEL_DEVICE] || disks->incomplete[SP_LEVEL_BELOW])
		add_boolean(json, "disks_incomplete", 1);
}

static void
add_vdevs(StringInfo json, const char *name, const sp_zfs *zfs, sp_vdev_use use)
{
	const char *separator = "";

	begin_member(json, name);
	appendStringInfoChar(json, '[');
	for (int i = 0; i < zfs->nvdevs; i++)
	{
		if (zfs->vdevs[i].use != use)
			continue;
		appendStringInfoString(json, separator);
		escape_json(json, sp_valid_text(zfs->vdevs[i].path));
		separator = ",";
	}
	appendStringInfoChar(json, ']');
}

/* The operations of a run that were to sync, for what is counted of a whole run. */
static int64
count_syncs(const sp_probe *probe)
{
	int64		syncs = 0;

	for (int c = 0; c < probe->ncases; c++)
	{
		if (probe->files[probe->cases[c].file].method != NULL)
			syncs += (int64) probe->results[c].histogram.ops;
	}
	return syncs;
}

static void
add_zil_commits(StringInfo json, sp_storage *storage, const sp_probe *probe)
{
	int64		before = storage->zil_commits_before;
	int64		after = before < 0 ? -1 : read_zil_commits(storage);
	int64		syncs = count_syncs(probe);

	if (before < 0 || after < before || syncs == 0)
		return;
	add_number(json, "intent_log_commits_per_op", (double) (after - before) / syncs, 2);
	if (storage->zil_whole_system)
		add_boolean(json, "intent_log_commits_of_all_pools", 1);
}

static void
add_zfs(StringInfo json, sp_storage *storage, const sp_probe *probe)
{
	const sp_zfs *zfs = &storage->zfs;
	char		pool[256];

	sp_zfs_pool_name(storage->source, pool);
	begin_member(json, "zfs");
	appendStringInfoChar(json, '{');
	add_text(json, "dataset", storage->source);
	add_text(json, "pool", pool);
	add_text(json, "sync", zfs->sync);
	add_text(json, "logbias", zfs->logbias);
	if (zfs->recordsize >= 0)
		add_number(json, "recordsize", zfs->recordsize, 0);
	add_text(json, "primarycache", zfs->primarycache);
	add_text(json, "compression", zfs->compression);
	/* 0 is "automatic": each part of the pool has its own */
	if (zfs->ashift > 0)
		add_number(json, "ashift", zfs->ashift, 0);
	if (zfs->nvdevs > 0)
	{
		add_vdevs(json, "data_devices", zfs, SP_VDEV_DATA);
		add_vdevs(json, "log_devices", zfs, SP_VDEV_LOG);
	}
	add_zil_commits(json, storage, probe);
	if (storage->zfs_unknown[0] != '\0')
		add_text(json, "unknown", storage->zfs_unknown);
	appendStringInfoChar(json, '}');
}

/*
 * What others did, while the probe did nothing; and what arrived below a loop
 * device, by the ordinals of the measurements.
 */
static void
add_counters(StringInfo json, const sp_probe *probe)
{
	const sp_evidence *others = &probe->others;
	int64		lost = others->lost;
	int			ordinal = 0;

	if (others->ns > 0)
	{
		begin_member(json, "others");
		appendStringInfoChar(json, '{');
		add_number(json, "seconds", others->ns / 1e9, 3);
		add_number(json, "flushes_per_sec", sp_evidence_flushes_per_second(others, SP_LEVEL_DEVICE), 1);
		add_number(json, "most_flushes_per_sec", sp_evidence_most_flushes_per_second(others, SP_LEVEL_DEVICE), 1);
		if (probe->device.has_below)
			add_number(json, "most_below_flushes_per_sec",
					   sp_evidence_most_flushes_per_second(others, SP_LEVEL_BELOW), 1);
		add_number(json, "bytes_per_sec", sp_evidence_bytes_per_second(others, SP_LEVEL_DEVICE), 0);
		appendStringInfoChar(json, '}');
	}
	for (int c = 0; c < probe->ncases; c++)
		lost += probe->results[c].evidence.lost;
	if (lost > 0)
		add_number(json, "readings_lost", lost, 0);
	if (!probe->device.has_below)
		return;

	begin_member(json, "below_flushes_per_op");
	appendStringInfoChar(json, '{');
	for (int c = 0; c < probe->ncases; c++)
	{
		if (probe->cases[c].control)
			continue;
		ordinal++;
		add_number(json, psprintf("%d", ordinal),
				   sp_evidence_rates_of(&probe->results[c].evidence, SP_LEVEL_BELOW).flushes, 3);
	}
	appendStringInfoChar(json, '}');
}

/*
 * The facts as they are kept in sync_probe.runs.storage, see there; also kept
 * for sync_probe._last_storage().
 */
char *
sp_storage_facts(sp_storage *storage, const sp_probe *probe)
{
	StringInfoData json;

	initStringInfo(&json);
	appendStringInfoChar(&json, '{');
	add_text(&json, "mount_options", storage->mount_options);
	add_text(&json, "source", storage->source);
	add_text(&json, "syncs_nothing", storage->syncs_nothing);
	add_disks(&json, &storage->disks);
	add_text(&json, "write_cache", probe->device.write_cache);
	if (storage->disks.count > 0)
		add_boolean(&json, "fua", probe->device.fua);
	add_text(&json, "backing_file", storage->disks.backing_file);
	add_text(&json, "backing_filesystem", storage->backing_filesystem);
	add_text(&json, "backing_mount_options", storage->backing_options);
	if (storage->is_zfs)
		add_zfs(&json, storage, probe);
	add_text(&json, "no_counters", storage->no_counters);
	if (probe->callbacks.read_counters)
		add_number(&json, "counters_read_us", probe->counters_cost_ns / 1e3, 2);
	add_counters(&json, probe);
	appendStringInfoChar(&json, '}');

	if (last_facts)
		pfree(last_facts);
	last_facts = NULL;			/* should there be no memory for the new one */
	last_facts = MemoryContextStrdup(TopMemoryContext, json.data);
	return json.data;
}

/*
 * sync_probe._last_storage(): the facts of this session's last probe as json
 * text, for the advice on a run that could not be recorded; null before it.
 */
Datum
sync_probe_last_storage(PG_FUNCTION_ARGS)
{
	if (last_facts == NULL)
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(cstring_to_text(last_facts));
}
