/*-------------------------------------------------------------------------
 *
 * json.c
 *		What is below a location, and what its device did in a run: the jsonb value of
 *		runs.storage.
 *
 *-------------------------------------------------------------------------
 */
#include "storage/storage.h"

#include <math.h>
#include <sys/utsname.h>

#include "common/common.h"

static void
add_disk(StringInfo json, const sp_disk *disk)
{
	sp_jsonb_begin(json, NULL, '{');
	sp_jsonb_put_text(json, "name", disk->name);
	sp_jsonb_put_text(json, "write_cache", disk->write_cache);
	sp_jsonb_put_boolean(json, "fua", disk->fua);
	sp_jsonb_put_boolean(json, "rotational", disk->rotational);
	sp_jsonb_put_boolean(json, "virtual", disk->is_virtual);
	if (disk->counts_flushes_only)
		sp_jsonb_put_boolean(json, "counts_flushes_only", 1);
	if (!disk->counts_flushes)
		sp_jsonb_put_boolean(json, "counts_flushes", 0);
	if (disk->level == SP_LEVEL_BACKING)
		sp_jsonb_put_boolean(json, "below", 1);
	appendStringInfoChar(json, '}');
}

static void
add_disks(StringInfo json, const sp_disks *disks)
{
	sp_jsonb_begin(json, "disks", '[');
	for (int i = 0; i < disks->count; i++)
		add_disk(json, &disks->disks[i]);
	appendStringInfoChar(json, ']');
	if (disks->incomplete[SP_LEVEL_DEVICE] || disks->incomplete[SP_LEVEL_BACKING])
		sp_jsonb_put_boolean(json, "disks_incomplete", 1);
}

static void
add_vdevs(StringInfo json, const char *name, const sp_zfs *zfs, sp_vdev_use use)
{
	sp_jsonb_begin(json, name, '[');
	for (int i = 0; i < zfs->nvdevs; i++)
	{
		if (zfs->vdevs[i].use == use)
			sp_jsonb_put_text(json, NULL, zfs->vdevs[i].path);
	}
	appendStringInfoChar(json, ']');
}

/* The size of the largest file that was measured.  A small file system has smaller ones. */
static int64
file_bytes(const sp_probe *probe)
{
	int64		bytes = 0;

	for (int n = 0; n < probe->nfiles; n++)
		bytes = Max(bytes, probe->files[n].size);
	return bytes;
}

static void
add_zfs(StringInfo json, const sp_storage *storage)
{
	const sp_zfs *zfs = &storage->zfs;
	char		pool[256];

	sp_zfs_pool_name(storage->dataset, pool);
	sp_jsonb_begin(json, "zfs", '{');
	sp_jsonb_put_text(json, "dataset", storage->dataset);
	sp_jsonb_put_text(json, "pool", pool);
	sp_jsonb_put_text(json, "sync", zfs->sync);
	sp_jsonb_put_text(json, "logbias", zfs->logbias);
	if (zfs->recordsize > 0)
		sp_jsonb_put_number(json, "recordsize", zfs->recordsize, 0);
	if (zfs->nvdevs > 0)
	{
		add_vdevs(json, "data_devices", zfs, SP_VDEV_DATA);
		add_vdevs(json, "log_devices", zfs, SP_VDEV_LOG);
	}
	sp_jsonb_put_text(json, "unknown", storage->zfs_unknown);
	appendStringInfoChar(json, '}');
}

/* The rates of background I/O, from the idle samples. */
static void
add_background(StringInfo json, const sp_probe *probe)
{
	sp_background_rates rates = sp_evidence_background(&probe->background, SP_LEVEL_DEVICE);
	sp_background_rates below = sp_evidence_background(&probe->background, SP_LEVEL_BACKING);

	if (probe->background.ns <= 0)
		return;
	sp_jsonb_begin(json, "others", '{');
	sp_jsonb_put_number(json, "seconds", probe->background.ns / 1e9, 3);
	if (probe->control_windows > 0)
		sp_jsonb_put_number(json, "control_windows", probe->control_windows, 0);
	sp_jsonb_put_number(json, "flushes_per_sec", rates.flushes, 1);
	sp_jsonb_put_number(json, "most_flushes_per_sec", rates.most_flushes, 1);
	if (probe->device.has_backing)
		sp_jsonb_put_number(json, "most_below_flushes_per_sec", below.most_flushes, 1);
	sp_jsonb_put_number(json, "bytes_per_sec", rates.bytes, 0);
	sp_jsonb_put_number(json, "bytes_per_sec_error", rates.bytes_error, 0);
	appendStringInfoChar(json, '}');
}

static int64
readings_lost(const sp_probe *probe)
{
	int64		lost = probe->background.lost;

	for (int c = 0; c < probe->ncases; c++)
		lost += probe->results[c].evidence.lost;
	return lost;
}

/* A figure of each test case, NAN where it is not known, by the ordinals of the measurements. */
static void
add_figures(StringInfo json, const char *name, const sp_probe *probe, const double *figures,
			int digits)
{
	int			ordinal = 0;

	sp_jsonb_begin(json, name, '{');
	for (int c = 0; c < probe->ncases; c++)
	{
		if (!probe->cases[c].control)
			sp_jsonb_put_number(json, psprintf("%d", ++ordinal), figures[c], digits);
	}
	appendStringInfoChar(json, '}');
}

static void
add_evidence(StringInfo json, const sp_probe *probe)
{
	double		bytes[SP_MAX_CASES];
	double		bytes_error[SP_MAX_CASES];
	double		utilization[SP_MAX_CASES];
	double		below_flushes[SP_MAX_CASES];
	double		unflushed_fraction[SP_MAX_CASES];
	double		flushed_fraction[SP_MAX_CASES];

	for (int c = 0; c < probe->ncases; c++)
	{
		const sp_result *result = &probe->results[c];
		const sp_windows *windows = &result->windows;
		sp_evidence_rates device = sp_evidence_rates_of(&result->evidence, SP_LEVEL_DEVICE);
		bool		paced = probe->cases[c].regime == SP_PACED;

		bytes[c] = device.bytes;
		bytes_error[c] = device.bytes_error;
		utilization[c] = device.utilization;
		below_flushes[c] = sp_evidence_rates_of(&result->evidence, SP_LEVEL_BACKING).least_flushes;
		unflushed_fraction[c] = paced ?
			sp_windows_unflushed_fraction(windows, SP_LEVEL_DEVICE) : NAN;
		flushed_fraction[c] = paced ? sp_windows_flushed_fraction(windows, SP_LEVEL_DEVICE) : NAN;
	}
	if (probe->callbacks.read_counters)
	{
		add_figures(json, "device_bytes_per_op", probe, bytes, 0);
		add_figures(json, "device_bytes_error", probe, bytes_error, 3);
		add_figures(json, "device_utilization", probe, utilization, 3);
		add_figures(json, "unflushed_fraction", probe, unflushed_fraction, 3);
	}
	if (probe->control_windows > 0)
		add_figures(json, "flushed_fraction", probe, flushed_fraction, 3);
	if (probe->device.has_backing)
		add_figures(json, "below_flushes_per_op", probe, below_flushes, 3);
}

/* The name and release of the kernel: its version decides how fast a file system syncs. */
static void
add_kernel(StringInfo json)
{
	struct utsname kernel;

	if (uname(&kernel) == 0)
		sp_jsonb_put_text(json, "kernel", psprintf("%s %s", kernel.sysname, kernel.release));
}

/* Why it is not known whether syncs with the current method reach the device. */
static void
add_doubt(StringInfo json, const sp_probe *probe)
{
	const sp_comparison *comparison = &probe->comparison;
	bool		at_backing;
	const char *why = sp_probe_method_doubt(probe,
											comparison->candidates[comparison->current].name,
											&at_backing);

	if (why)
		sp_jsonb_put_text(json, "durable_unknown",
						  at_backing ?
						  psprintf("at the disk below the loop device, %s", why) : why);
}

static void
add_mounts(StringInfo json, const sp_storage *storage)
{
	const sp_mount *backing = storage->disks.backing_mount;

	if (storage->mount)
	{
		sp_jsonb_put_text(json, "mount_options", storage->mount->mount_options);
		sp_jsonb_put_text(json, "source", storage->beneath->source);
	}
	if (backing)
	{
		sp_jsonb_put_text(json, "backing_filesystem", backing->fstype);
		sp_jsonb_put_text(json, "backing_mount_options", backing->mount_options);
	}
}

/* The value of sync_probe.runs.storage. */
Datum
sp_storage_jsonb(const sp_storage *storage, const sp_probe *probe)
{
	StringInfo	json = makeStringInfo();

	sp_jsonb_begin(json, NULL, '{');
	add_kernel(json);
	add_mounts(json, storage);
	sp_jsonb_put_text(json, "syncs_nothing", probe->device.syncs_nothing);
	add_disks(json, &storage->disks);
	sp_jsonb_put_text(json, "write_cache", probe->device.write_cache);
	if (storage->disks.count > 0)
	{
		sp_jsonb_put_boolean(json, "fua", probe->device.fua);
		sp_jsonb_put_boolean(json, "writes_uncounted", probe->device.writes_uncounted);
	}
	sp_jsonb_put_text(json, "below_write_cache", probe->device.backing_write_cache);
	sp_jsonb_put_text(json, "backing_file", storage->disks.backing_file);
	if (storage->dataset)
		add_zfs(json, storage);
	sp_jsonb_put_number(json, "file_bytes", (double) file_bytes(probe), 0);
	sp_jsonb_put_text(json, "no_counters", storage->no_counters);
	add_background(json, probe);
	if (readings_lost(probe) > 0)
		sp_jsonb_put_number(json, "readings_lost", readings_lost(probe), 0);
	add_evidence(json, probe);
	if (probe->judged && probe->suite == &sp_suite_wal)
		add_doubt(json, probe);
	appendStringInfoChar(json, '}');
	return sp_jsonb_datum(json);
}
