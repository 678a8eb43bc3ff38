--
-- What sync_probe.findings makes of recorded measurements and of storage.
--
-- A scenario is a row: how it differs from storage and from a run that nothing
-- is to be said about, and all that must be said then.  That list is complete,
-- so that a scenario with none is a near miss.
--
\ir include/begin.sql
DELETE FROM sync_probe.runs;
SET LOCAL pg_sync_probe.margin = 0.05;
\ir include/stage.sql

-- Everything that was found, for what must hold of any of it.
CREATE TEMP TABLE found (name text, location name, severity text, code text, message text,
    hint text, commands text[],
    evidence jsonb);

CREATE FUNCTION pg_temp.codes(of_name text, with_location boolean) RETURNS text LANGUAGE sql AS $$
    SELECT coalesce(string_agg(concat_ws(' ', CASE WHEN with_location THEN location END, severity,
        code), ', '
                               ORDER BY location <> 'pg_wal', location, severity, code), 'none')
    FROM found WHERE name = of_name
$$;

-- ------------------------------------------------------------------- storage

CREATE TEMP TABLE storage_scenario (
    name text,
    places jsonb,           -- differences of each from storage in order
    settings jsonb,         -- differences from a server in order
    codes text,             -- all that is said
    says text);             -- in message and hint

INSERT INTO storage_scenario VALUES
('a disk in order', '[{}]', '{}', 'none', NULL),
('a tablespace in order', '[{}, {"name": "fast", "holds_wal": false, "mount_point": "/fast",
        "device": "sdb", "disks": ["sdb"]}]', '{}', 'none', NULL),
('fsync off', '[{}]', '{"fsync": false}', 'pg_wal error fsync_off',
    'Switch it on. Then run sync on the machine, or stop the server and run initdb --sync-only, '
    'or unmount the file systems: data written before may still be in memory only.'),
('nobarrier above a volatile cache', '[{"mount_options": "rw,nobarrier",
        "write_cache": "write back", "fua": true}]', '{}', 'pg_wal error barrier_off',
    '/data is mounted with nobarrier'),
('barrier=0, cache unknown', '[{"mount_options": "rw,barrier=0,relatime", "write_cache": null}]',
    '{}', 'pg_wal error barrier_off', 'with barrier=0'),
('a volatile overlay', '[{"filesystem": "overlay", "device": null,
        "mount_options": "rw,fsync=volatile"}]', '{}',
    'pg_wal info device_unknown, pg_wal warning barrier_off, pg_wal warning overlay_filesystem',
    'is mounted with fsync=volatile'),
('f2fs without barriers', '[{"filesystem": "f2fs", "mount_options": "rw,fsync_mode=nobarrier"}]',
    '{}', 'pg_wal warning barrier_off', 'remount,fsync_mode=posix /data'),
('nobarrier above a cache that is not volatile', '[{"mount_options": "nobarrier"}]', '{}',
    'pg_wal warning barrier_off', 'remount,barrier /data'),
('barriers on, by name', '[{"mount_options": "rw,barrier,barrier=1,nobarriers"}]', '{}', 'none',
    NULL),
('a volatile cache', '[{"write_cache": "write back"}]', '{}', 'pg_wal info write_cache_volatile',
    'nvme0n1 has a volatile write cache'),
('a volatile cache under a name to be quoted', '[{"name": "O''Hara", "holds_wal": false,
        "write_cache": "write back"}]', '{}', 'O''Hara info write_cache_volatile', 'Probe it'),
('a volatile cache that takes FUA writes', '[{"write_cache": "write back", "fua": true}]', '{}',
    'none', NULL),
('tmpfs', '[{"filesystem": "tmpfs", "device": null, "disks": null, "write_cache": null,
        "fua": null}]', '{}', 'pg_wal error memory_filesystem',
    '/data is tmpfs: its files are lost when the machine restarts / Stop the server'),
('pg_default on tmpfs', '[{"name": "pg_default", "holds_wal": false, "filesystem": "tmpfs",
        "device": null, "disks": null}]', '{}', 'pg_default error memory_filesystem',
    'move the data directory'),
('a tablespace on ramfs', '[{"name": "fast one", "holds_wal": false, "filesystem": "ramfs",
        "device": null, "disks": null}]', '{}', 'fast one error memory_filesystem', 'then drop it'),
('overlay', '[{"filesystem": "overlay"}]', '{}', 'pg_wal warning overlay_filesystem',
    'Put the data directory on a volume'),
('less than the reserve', '[{"size_bytes": 1000000000000, "available_bytes": 49999999999}]', '{}',
    'pg_wal warning low_space', 'lower max_wal_size'),
('just the reserve', '[{"size_bytes": 1000000000000, "available_bytes": 50000000000}]', '{}',
    'none', NULL),
('less than max_wal_size', '[{"available_bytes": 59000000000}]', '{"max_wal_size": 60000000000}',
    'pg_wal warning low_space', NULL),
('less than max_wal_size, with the WAL that is there', '[{"available_bytes": 59000000000}]',
    '{"max_wal_size": 60000000000, "wal_size": 1000000000}', 'none', NULL),
('less than max_wal_size, but for a tablespace', '[{"name": "fast", "holds_wal": false,
        "available_bytes": 59000000000}]', '{"max_wal_size": 60000000000}', 'none', NULL),
('a tablespace with less than the reserve', '[{"name": "fast", "holds_wal": false,
        "available_bytes": 1000000}]', '{}', 'fast warning low_space', 'no probe runs'),
('space unknown', '[{"size_bytes": null, "available_bytes": null}]', '{}', 'none', NULL),
('btrfs', '[{"filesystem": "btrfs"}]', '{}', 'pg_wal warning cow_wal_settings',
    'pg_wal is on btrfs, a copy-on-write file system: recycling and zero-filling WAL files'),
('zfs', '[{"filesystem": "zfs", "device": null, "disks": null}]', '{"wal_recycle": false}',
    'pg_wal warning cow_wal_settings', 'file system: zero-filling WAL files may gain'),
('zfs with the settings for it', '[{"filesystem": "zfs", "device": null, "disks": null}]',
    '{"wal_recycle": false, "wal_init_zero": false}', 'none', NULL),
('btrfs with nodatacow', '[{"filesystem": "btrfs", "mount_options": "rw,nodatacow,relatime"}]',
    '{}', 'none', NULL),
('WAL beside the busiest tablespace', '[{}, {"name": "pg_default", "holds_wal": false}]', '{}',
    'pg_wal info wal_shares_device', 'pg_wal shares nvme0n1 with pg_default'),
('one disk of several is shared', '[{"disks": ["sda", "sdb"], "device": "md0"},
        {"name": "pg_default", "holds_wal": false, "mount_point": "/tables", "disks": ["sdb",
        "sdc"]}]', '{}', 'pg_wal info wal_shares_device', 'shares md0'),
('a file system without a disk is shared', '[{"filesystem": "nfs4", "device": null, "disks": null},
        {"name": "pg_default", "holds_wal": false, "filesystem": "ext4", "disks": null}]', '{}',
    'pg_wal info wal_shares_device, pg_wal warning network_filesystem', 'shares /data with'),
('disks of their own', '[{}, {"name": "pg_default", "holds_wal": false, "mount_point": "/tables",
        "disks": ["sdb"]}]', '{}', 'none', NULL),
('another tablespace is the busiest', '[{}, {"name": "pg_default", "holds_wal": false},
        {"name": "fast", "holds_wal": false, "mount_point": "/fast", "disks": ["sdb"]}]',
    '{"busiest": "fast"}', 'none', NULL),
('no disk can be named', '[{"device": null, "disks": null, "write_cache": null, "fua": null}]',
    '{}', 'pg_wal info device_unknown', 'below /data (ext4)'),
('nothing can be told', '[{"device": null, "disks": null, "write_cache": null, "fua": null,
        "filesystem": null, "mount_point": null, "mount_options": null, "size_bytes": null,
        "available_bytes": null}]', '{}', 'pg_wal info device_unknown',
    'below it (unknown file system)'),
('a file system that is not mounted', '[{"name": "fast", "holds_wal": false, "directory": "/fast",
        "missing": true, "device": null}]', '{}', 'fast error tablespace_missing',
    '/fast does not contain what this server created there'),
('a directory that is gone', '[{"name": "fast", "holds_wal": false, "directory": null,
        "missing": true, "filesystem": null, "mount_point": null, "mount_options": null,
        "device": null, "write_cache": null}]', '{}', 'fast error tablespace_missing',
    'its directory does not contain'),
('mounted read-only', '[{"mount_options": "ro,relatime"}]', '{}',
    'pg_wal error read_only_filesystem',
    '/data is mounted read-only: nothing can be written to pg_wal'),
('read-only only by name', '[{"mount_options": "rw,errors=remount-ro"}]', '{}', 'none', NULL),
('all at once', '[{"filesystem": "overlay", "mount_options": "nobarrier",
        "write_cache": "write back", "available_bytes": 1}, {"name": "pg_default",
        "holds_wal": false}]', '{"fsync": false}',
    'pg_wal error barrier_off, pg_wal error fsync_off, pg_wal info wal_shares_device, pg_wal info '
    'write_cache_volatile, pg_wal warning low_space, pg_wal warning overlay_filesystem', NULL);
INSERT INTO storage_scenario
SELECT 'network: ' || filesystem,
       jsonb_build_array(jsonb_build_object('filesystem', filesystem, 'device', NULL,
                                            'disks', NULL, 'write_cache', NULL)),
       '{}', 'pg_wal warning network_filesystem',
       '/data is ' || filesystem
       || ': another machine decides whether a sync reaches a disk'
FROM unnest('{nfs,nfs4,cifs,smb3,9p,ceph,fuse.sshfs,fuse.glusterfs,fuse.s3fs,fuse.davfs,
              fuse.davfs2}'::text[]) AS filesystem;
INSERT INTO storage_scenario
SELECT 'not on a network: ' || filesystem,
       jsonb_build_array(jsonb_build_object('filesystem', filesystem)),
       '{"wal_recycle": false, "wal_init_zero": false}', 'none', NULL
FROM unnest('{ext4,xfs,fuse.zfs,fuseblk,fuse.sshfsx,xnfs,nfsd}'::text[]) AS filesystem;

-- storage and server in order
CREATE FUNCTION pg_temp.place(differences jsonb) RETURNS sync_probe_internal.storage
LANGUAGE sql AS $$
    SELECT jsonb_populate_record(NULL::sync_probe_internal.storage,
        '{"name": "pg_wal", "holds_wal": true, "filesystem": "ext4", "mount_point": "/data",
          "mount_options": "rw,relatime", "device": "nvme0n1", "write_cache": "write through",
          "fua": false, "disks": ["nvme0n1"], "size_bytes": 100000000000,
          "available_bytes": 50000000000, "missing": false}' || differences)
$$;

INSERT INTO found
SELECT 'storage: ' || s.name, f.*
FROM storage_scenario AS s,
     LATERAL (SELECT '{"fsync": true, "wal_recycle": true, "wal_init_zero": true,
                       "max_wal_size": 1073741824, "wal_size": 0, "reserve_percent": 5,
                       "busiest": "pg_default"}' || s.settings) AS c (settings),
     LATERAL (SELECT ARRAY(SELECT pg_temp.place(p.place)
                           FROM jsonb_array_elements(s.places) AS p (place))) AS e (facts),
     LATERAL sync_probe_internal.storage_findings(
         e.facts, NULL, (c.settings ->> 'fsync')::boolean, (c.settings ->> 'wal_recycle')::boolean,
         (c.settings ->> 'wal_init_zero')::boolean, (c.settings ->> 'max_wal_size')::bigint,
         (c.settings ->> 'wal_size')::bigint, (c.settings ->> 'reserve_percent')::integer,
         (c.settings ->> 'busiest')::name) AS f;

-- ---------------------------------------------------------------------- runs

CREATE TEMP VIEW run_findings AS
SELECT f.* FROM sync_probe_internal.run_findings(
    ARRAY(SELECT (n.run).run_id FROM sync_probe_internal.newest_runs AS n)) AS f;

-- What several scenarios have in common, under the name that they give as "as".
CREATE TEMP TABLE common (name text, given jsonb);
INSERT INTO common VALUES
('no flush', '{"durable": "no", "paced": {"flushes_per_op": 0},
        "saturated": {"flushes_per_op": 0}}'),
('loop', '{"run": {"device": "loop0"}, "storage": {"backing_file": "/srv/disk.img",
        "backing_filesystem": "ext4", "disks": [{"name": "loop0", "write_cache": "write back",
        "virtual": true}, {"name": "vda", "write_cache": "write back", "below": true}]}}'),
('zfs', '{"run": {"filesystem": "zfs", "device": null}, "storage": {"zfs": {"dataset": "tank/pg",
        "pool": "tank", "sync": "standard"}}}'),
('rotating', '{"run": {"device": "sda"}, "storage": {"disks": [{"name": "sda", "rotational": true,
        "virtual": false}]}}'),
('slow', '{"saturated": {"ops_per_sec": 330.846, "mean_us": 3023, "p50_us": 3000, "p99_us": 5000,
        "device_utilization": 0.19}}'),
('background', '{"storage": {"others": {"seconds": 1.5, "flushes_per_sec": 0,
        "most_flushes_per_sec": 2, "bytes_per_sec": 0, "bytes_per_sec_error": 0}}}');

-- Members of the second replace those of the first, also in objects.
CREATE FUNCTION pg_temp.merged(a jsonb, b jsonb) RETURNS jsonb LANGUAGE sql AS $$
    SELECT CASE WHEN jsonb_typeof(a) = 'object' AND jsonb_typeof(b) = 'object'
                THEN a || coalesce((SELECT jsonb_object_agg(m.key, pg_temp.merged(a -> m.key,
                                                                                m.value))
                                    FROM jsonb_each(b) AS m), '{}')
                ELSE b END
$$;

-- A run of the wal suite on a good SSD; fdatasync is the current method, fsync is
-- slower.  Given are differences of the run, its storage, and the paced and saturated
-- rows of fdatasync; durable of fdatasync if it is not yes, and why it is unknown.  Members of the
-- storage that are null are left out.
CREATE FUNCTION pg_temp.record(given jsonb) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    id bigint;
BEGIN
    given := pg_temp.merged(coalesce((SELECT c.given FROM common AS c
                                      WHERE c.name = record.given ->> 'as'), '{}'), given);
    id := pg_temp.record_run(jsonb_build_object('storage', jsonb_strip_nulls(
        '{"source": "/dev/nvme0n1", "mount_options": "rw,relatime",
          "write_cache": "write back", "fua": false,
          "disks": [{"name": "nvme0n1", "write_cache": "write back", "fua": false,
                     "rotational": false, "virtual": false}],
          "others": {"seconds": 1.5, "flushes_per_sec": 0, "most_flushes_per_sec": 2,
                     "bytes_per_sec": 0, "bytes_per_sec_error": 0},
          "device_bytes_error": {"2": 0, "3": 0}}'
        || jsonb_build_object('durable_unknown', given -> 'why')
        || coalesce(given -> 'storage', '{}')))
        || jsonb_build_object('durable', coalesce(given ->> 'durable', 'yes'))
        || CASE given ->> 'durable' WHEN 'no'
           THEN '{"verdict": "unsafe", "recommended_value": null,
                  "reason": "syncs with fdatasync do not reach the device"}' ELSE '{}' END::jsonb
        || coalesce(given -> 'run', '{}'));
    INSERT INTO sync_probe.measurements
    SELECT (jsonb_populate_record(NULL::sync_probe.measurements,
        '{"direct_io": false, "write_size": 8192, "status": "ok",
          "flushes_per_op": 1, "device_bytes_per_op": 10000,
          "device_utilization": 0.9}'
        || jsonb_build_object('run_id', id,
                              'durable', CASE m.figures ->> 'method' WHEN 'fdatasync'
                                         THEN coalesce(given ->> 'durable', 'yes') ELSE 'no' END)
        || m.figures || coalesce(m.changes, '{}'))).*
    FROM (VALUES
        ('{"ordinal": 2, "test": "paced", "method": "fdatasync", "ops": 400, "ops_per_sec": 1727,
           "mean_us": 579, "p50_us": 570, "p99_us": 900, "relative_speed_low": 0.99,
           "relative_speed_high": 1.01}'::jsonb,
         given -> 'paced'),
        ('{"ordinal": 3, "test": "paced", "method": "fsync", "ops": 400, "ops_per_sec": 1196,
           "mean_us": 836, "p50_us": 830, "p90_us": 1000, "p99_us": 99999, "flushes_per_op": 0,
           "device_bytes_per_op": 99999}', NULL),
        ('{"ordinal": 7, "test": "saturated", "method": "fdatasync", "ops": 4000,
           "ops_per_sec": 3745, "mean_us": 267, "p50_us": 265, "p90_us": 300, "p99_us": 500}',
         given -> 'saturated'),
        ('{"ordinal": 8, "test": "saturated", "method": "fsync", "ops": 4000,
           "ops_per_sec": 3676, "mean_us": 272, "p50_us": 2, "p90_us": 300, "p99_us": 99999,
           "flushes_per_op": 0}', NULL)) AS m (figures, changes);
    INSERT INTO sync_probe.measurements (run_id, ordinal, test, method, direct_io, status) VALUES
        (id, 4, 'paced', 'fsync_writethrough', false, 'unsupported'),
        (id, 9, 'saturated', 'fsync_writethrough', false, 'unsupported');
    RETURN id;
END
$$;

CREATE TEMP TABLE run_scenario (
    name text,
    given jsonb,            -- differences of "run", "storage", "paced", "saturated"
    codes text,             -- all that is said
    says text,              -- in message and hint
    shows jsonb);           -- in the evidence of one of them

INSERT INTO run_scenario VALUES
('an SSD in order', '{}', 'none', NULL, NULL),

-- flush_missing
('no flush', '{"as": "no flush", "saturated": {"flushes_per_op": 0.02}}', 'error flush_missing',
    'syncs with fdatasync send no flush to nvme0n1, whose write cache is volatile: commits may be '
    'lost when the power fails, unless that cache is protected (capacitor, battery)',
    '{"method": "fdatasync",
        "paced_flushes_per_op": 0, "saturated_flushes_per_op": 0.02, "write_cache": "write back",
        "fua": false, "others": {"flushes_per_sec": 0}}'),
('no flush at a virtual disk', '{"as": "no flush", "storage": {"disks": [{"name": "nvme0n1",
        "write_cache": "write back", "virtual": true}]}}', 'error flush_missing',
    'send no flush to the virtual disk nvme0n1, whose write cache is volatile: commits may be lost '
    'when its host fails', NULL),
('a flush now and then', '{"durable": "unknown",
        "why": "there were fewer flushes than syncs, but not so few that this proves anything",
        "paced": {"flushes_per_op": 0.3}}', 'info durable_unknown',
    'it is unknown whether syncs with fdatasync reach nvme0n1: there were fewer flushes than syncs',
    '{"method": "fdatasync", "paced_flushes_per_op": 0.3, "others": {"flushes_per_sec": 0}}'),
('flushes of others, but not in each sync', '{"durable": "no",
        "storage": {"others": {"flushes_per_sec": 2000, "most_flushes_per_sec": 2100,
        "bytes_per_sec": 0}, "lacking_share": {"2": 0.29, "3": 0.9}, "own_share": {"2": 0}},
        "paced": {"flushes_per_op": 1.2}}', 'error flush_missing, info counters_shared',
    'at least 29 % of the syncs with fdatasync ended without a flush on nvme0n1, whose write cache '
    'is volatile: commits may be lost when the power fails', '{"paced_flushes_per_op": 1.2,
        "lacking_share": 0.29, "own_share": 0}'),
('no flush, and none of others either', '{"as": "no flush",
        "storage": {"lacking_share": {"2": 0.97}}}', 'error flush_missing',
    'syncs with fdatasync send no flush to nvme0n1', '{"lacking_share": 0.97, "own_share": null}'),
('nothing is written', '{"as": "no flush", "storage": {"write_cache": "write through",
        "writes_uncounted": false}, "paced": {"device_bytes_per_op": 100}}', 'error flush_missing',
    'syncs with fdatasync write nothing to nvme0n1', '{"device_bytes_per_op": 100}'),
('memory', '{"durable": "no", "run": {"filesystem": "tmpfs", "device": null},
        "storage": {"syncs_nothing": "tmpfs", "disks": [], "write_cache": null, "fua": null,
        "others": null, "no_counters": "no disk can be named"}, "paced": {"flushes_per_op": null,
        "mean_us": 2, "p50_us": 1.5, "p99_us": 6}, "saturated": {"flushes_per_op": null,
        "ops_per_sec": 700000, "mean_us": 1.4, "p50_us": 1.3, "p99_us": 6,
        "device_utilization": null}}', 'none', NULL, NULL),

-- ZFS
('ZFS in order', '{"as": "zfs", "storage": {"zfs": {"logbias": "latency",
        "data_devices": ["/dev/sda"], "log_devices": ["/dev/nvme0n1"]}}}', 'none', NULL, NULL),

-- FreeBSD, 12 SATA disks: 6,676 syncs a second
('ZFS that syncs nothing', '{"as": "zfs", "durable": "no",
        "storage": {"syncs_nothing": "sync=disabled", "disks": [{"name": "sda", "rotational": true,
        "virtual": false}, {"name": "sdb", "rotational": true, "virtual": false}],
        "zfs": {"sync": "disabled", "logbias": "latency"}}, "paced": {"flushes_per_op": 0},
        "saturated": {"ops_per_sec": 6676.001, "mean_us": 150, "p50_us": 148,
        "flushes_per_op": 0}}', 'error zfs_sync_disabled, warning implausibly_fast',
    'zfs set sync=standard tank/pg', '{"zfs": {"dataset": "tank/pg", "sync": "disabled"}}'),
('ZFS without a log device', '{"as": "zfs", "storage": {"zfs": {"data_devices": ["/dev/sda"],
        "log_devices": []}}}', 'info zfs_log_on_main_pool', 'zpool add tank log mirror',
    '{"zfs": {"data_devices": ["/dev/sda"]}}'),
('ZFS with devices that are not known', '{"as": "zfs", "storage": {"zfs": {"data_devices": [],
        "log_devices": []}}}', 'none', NULL, NULL),

-- Linux, a PCIe SSD as log device that logbias=throughput does not use, O_DIRECT refused:
-- 330 a second
('ZFS that writes past its log device', '{"as": "slow", "run": {"filesystem": "zfs",
        "device": null}, "storage": {"disks": [{"name": "sda", "rotational": true,
        "virtual": false}, {"name": "nvme0n1", "rotational": false, "virtual": false}],
        "zfs": {"dataset": "tank/pg", "pool": "tank", "sync": "standard", "logbias": "throughput",
        "data_devices": ["/dev/sda"], "log_devices": ["/dev/nvme0n1"]}}}',
    'warning software_bound, warning zfs_logbias_throughput', 'zfs set logbias=latency tank/pg',
    '{"zfs": {"logbias": "throughput"}}'),
('ZFS that tells half of it', '{"as": "zfs",
        "storage": {"zfs": {"unknown": "zpool: permission denied"}}}', 'info zfs_unknown',
    'zpool: permission denied', '{"zfs": {"sync": "standard"}}'),
('ZFS that does not tell of sync', '{"run": {"filesystem": "zfs", "device": null},
        "storage": {"zfs": {"dataset": "tank/pg", "pool": "tank", "logbias": "latency"}}}',
    'info zfs_unknown', 'sync is missing', NULL),

-- barrier_off and loop_device
('a loop device', '{"as": "loop", "storage": {"backing_mount_options": "rw,barrier=1",
        "others": {"flushes_per_sec": 0, "most_flushes_per_sec": 2,
        "most_below_flushes_per_sec": 2}, "below_flushes_per_op": {"2": 1, "3": 0, "7": 1,
        "8": 0}}}', 'info loop_device',
    'loop0 is the file /srv/disk.img on ext4: a sync is as safe as on that file system',
    '{"backing_file": "/srv/disk.img", "below_flushes_per_op": {"2": 1, "7": 1}}'),
('a loop device through which a flush gets now and then', '{"as": "loop", "durable": "unknown",
        "why": "at the disk below the loop device, there were flushes, but it was not seen how '
        'many background I/O makes",
        "storage": {"below_flushes_per_op": {"2": 1, "3": 0, "7": 0.11, "8": 0}}}',
    'info durable_unknown, info loop_device', 'it is unknown whether a sync reaches the disk below',
    '{"below_flushes_per_op": {"7": 0.11}}'),
('a loop device on a disk that is busy', '{"as": "loop", "durable": "unknown",
        "why": "at the disk below the loop device, background I/O flushes so often that it may '
        'have made all flushes",
        "storage": {"others": {"flushes_per_sec": 0, "most_flushes_per_sec": 2,
        "most_below_flushes_per_sec": 1000}, "below_flushes_per_op": {"2": 1, "3": 0, "7": 1,
        "8": 0}}}', 'info durable_unknown, info loop_device',
    'reach loop0: at the disk below the loop device, background I/O flushes so often that it may '
    'have made all flushes / Probe longer', '{"others": {"most_below_flushes_per_sec": 1000}}'),
('a loop device that no flush gets through', '{"as": "loop", "durable": "unknown",
        "why": "at the disk below the loop device, there were flushes, but it was not seen how '
        'many background I/O makes",
        "storage": {"backing_filesystem": "xfs", "disks": [{"name": "loop0"}, {"name": "sda",
        "write_cache": "write through", "below": true}, {"name": "vda", "write_cache": "write back",
        "below": true}], "below_flushes_per_op": {"2": 1, "7": 0.1}}}', 'warning loop_device',
    'no flush reaches the disk below', '{"backing_filesystem": "xfs"}'),
('a loop device above a write-through cache', '{"durable": "no_cache", "run": {"device": "loop0"},
        "storage": {"backing_file": "/srv/disk.img", "disks": [{"name": "loop0",
        "write_cache": "write back"}, {"name": "vda", "write_cache": "write through",
        "below": true}], "below_write_cache": "write through", "below_flushes_per_op": {"2": 0,
        "7": 0}}}', 'info loop_device', 'a sync is as safe as', NULL),
('a loop device above one that counts no flushes', '{"durable": "unknown",
        "why": "at the disk below the loop device, there were fewer flushes than syncs, but not '
        'so few that this proves anything",
        "run": {"device": "loop0"}, "storage": {"backing_file": "/srv/disk.img",
        "disks": [{"name": "loop0", "write_cache": "write back"}, {"name": "zd0",
        "write_cache": "write back", "below": true, "counts_flushes": false}],
        "below_flushes_per_op": {"2": 0, "7": 0}}}', 'info durable_unknown, info loop_device', NULL,
    NULL),
('a loop device whose file is in memory', '{"durable": "no", "run": {"device": "loop0"},
        "storage": {"syncs_nothing": "its file is on tmpfs", "backing_file": "/srv/disk.img",
        "backing_filesystem": "tmpfs", "below_flushes_per_op": {}}}',
    'error memory_filesystem, info loop_device',
    'its file is on tmpfs: syncs there reach no device', NULL),
('a loop device above nobody knows what', '{"durable": "unknown",
        "why": "at the disk below the loop device, flushes are not counted",
        "run": {"device": "loop0"}, "storage": {"backing_file": "/srv/disk.img",
        "below_flushes_per_op": {}}}', 'info durable_unknown, info loop_device',
    'nothing is known of the disk below', NULL),
('nobarrier under the backing file', '{"run": {"device": "loop0"},
        "storage": {"backing_file": "/srv/disk.img",
        "backing_mount_options": "rw,nobarrier,relatime"}}',
    'info loop_device, warning barrier_off',
    'loop0 is backed by file /srv/disk.img, on a file system mounted with nobarrier',
    '{"mount_options": "rw,nobarrier,relatime"}'),

-- implausibly_fast: 6,676 syncs a second are the field report's
('a rotating disk that is too fast', '{"as": "rotating", "saturated": {"ops_per_sec": 6676.001,
        "mean_us": 150, "p50_us": 148}}', 'warning implausibly_fast',
    '6676 syncs a second with fdatasync, but sda is a rotating disk', '{"ops_per_sec": 6676.001,
        "p50_us": 148, "flushes_per_op": 1, "disks": [{"name": "sda"}]}'),
('a rotating disk, one a second too many', '{"as": "rotating", "saturated": {"ops_per_sec": 251}}',
    'warning implausibly_fast', NULL, NULL),
('a rotating disk at its best', '{"as": "rotating", "paced": {"ops_per_sec": 300},
        "saturated": {"ops_per_sec": 250}}', 'none', NULL, NULL),
('a virtual disk that says it rotates', '{"run": {"device": "vda"},
        "storage": {"disks": [{"name": "vda", "rotational": true, "virtual": true}]}}', 'none',
    NULL, NULL),
('a rotating disk beside one of which nothing is known', '{"run": {"device": "md0"},
        "storage": {"disks": [{"name": "sda", "rotational": true, "virtual": false}, {"name": "sdb",
        "rotational": true}, {"name": "sdc"}]}}', 'none', NULL, NULL),
('a physical disk that does not say whether it rotates', '{"as": "rotating",
        "storage": {"disks": [{"name": "sda", "virtual": false}]}}', 'none', NULL, NULL),
('a rotating disk below a loop device', '{"run": {"device": "loop0"},
        "storage": {"backing_file": "/srv/disk.img", "disks": [{"name": "loop0", "rotational": true,
        "virtual": true}, {"name": "sda", "rotational": true, "virtual": false, "below": true}]}}',
    'info loop_device', NULL, NULL),
('what lies below makes no disk rotate less', '{"as": "rotating",
        "storage": {"disks": [{"name": "sda", "rotational": true, "virtual": false},
        {"name": "pmem0", "rotational": false, "virtual": false, "below": true}]}}',
    'warning implausibly_fast', NULL, NULL),
('faster than any device', '{"saturated": {"ops_per_sec": 204000, "mean_us": 4.9, "p50_us": 4.9,
        "p99_us": 6}}', 'warning implausibly_fast',
    'half of the syncs with fdatasync took less than 4.9 us', '{"p50_us": 4.9}'),
('as fast as a device may be', '{"saturated": {"ops_per_sec": 200000, "mean_us": 5, "p50_us": 5,
        "p99_us": 6}}', 'none', NULL, NULL),
('no disk is known, but none is so fast', '{"run": {"device": null, "filesystem": null},
        "storage": {"disks": []}, "saturated": {"ops_per_sec": 500000, "mean_us": 2, "p50_us": 2,
        "p99_us": 6}}', 'warning implausibly_fast', NULL, NULL),
('persistent memory', '{"run": {"device": "pmem0"}, "storage": {"disks": [{"name": "pmem0",
        "rotational": false, "virtual": false}]}, "saturated": {"ops_per_sec": 500000, "mean_us": 2,
        "p50_us": 2, "p99_us": 6}}', 'none', NULL, NULL),

-- write_amplification
('btrfs', '{"run": {"filesystem": "btrfs"}, "paced": {"device_bytes_per_op": 81920},
        "storage": {"device_bytes_error": {"2": 4096}}}', 'warning write_amplification',
    'each sync of 8192 bytes makes nvme0n1 write 80 kB (10.0 times as much, at least 9.0) / btrfs '
    'writes its log tree', '{"device_bytes_per_op": 81920, "other_bytes_per_op": 0,
        "written_bytes": 8192, "amplification": 10.0, "amplification_low": 9.0,
        "amplification_high": 11.0}'),
('zfs', '{"run": {"filesystem": "zfs", "device": null}, "paced": {"device_bytes_per_op": 81920}}',
    'warning write_amplification',
    'makes the device write 80 kB (10.0 times as much, at least 10.0) / Check recordsize', NULL),
('four times as much and a byte', '{"paced": {"device_bytes_per_op": 32769}}',
    'warning write_amplification', 'Another wal_sync_method', NULL),
('four times as much', '{"paced": {"device_bytes_per_op": 32768}}', 'none', NULL, NULL),

-- 10,000,000 bytes a second are 5,790 in the time of a sync
('four times as much without twice the background', '{"as": "background",
        "storage": {"others": {"bytes_per_sec": 10000000}},
        "paced": {"device_bytes_per_op": 44348}}', 'none', NULL, NULL),
('more even so', '{"as": "background", "storage": {"others": {"bytes_per_sec": 10000000}},
        "paced": {"device_bytes_per_op": 44349}}', 'warning write_amplification', NULL,
    '{"other_bytes_per_op": 5790, "written_bytes": 8192}'),

-- the two errors, of 3,000 and 4,000 bytes a sync, are one of 5,000
('the errors of both count, and are too large', '{"as": "background",
        "storage": {"device_bytes_error": {"2": 3000}, "others": {"bytes_per_sec_error": 6908463}},
        "paced": {"device_bytes_per_op": 42767}}', 'none', NULL, NULL),
('the errors of both are small enough', '{"as": "background",
        "storage": {"device_bytes_error": {"2": 3000}, "others": {"bytes_per_sec_error": 6908463}},
        "paced": {"device_bytes_per_op": 42769}}', 'warning write_amplification', NULL, NULL),

-- 400 syncs of 579 us took 0.2316 s; a background seen for 0.067 s made it 21.2 on a shared disk
('the background was seen for a moment', '{"as": "background",
        "storage": {"others": {"seconds": 0.2315}}, "paced": {"device_bytes_per_op": 173670}}',
    'none', NULL, NULL),
('the background was seen for as long as the syncs', '{"as": "background",
        "storage": {"others": {"seconds": 0.2317}}, "paced": {"device_bytes_per_op": 173670}}',
    'warning write_amplification', '(21.2 times as much', NULL),

-- 100 bytes are a page or two, on average 100 + 8192 - 4 bytes
('small flushes', '{"run": {"flush_size": 100}, "paced": {"device_bytes_per_op": 33153}}',
    'warning write_amplification', NULL, '{"written_bytes": 8288}'),
('large flushes', '{"run": {"flush_size": 100000}, "paced": {"device_bytes_per_op": 432641}}',
    'warning write_amplification', NULL, '{"written_bytes": 108160}'),
('the error is not known', '{"storage": {"device_bytes_error": null},
        "paced": {"device_bytes_per_op": 81920}}', 'none', NULL, NULL),

-- software_bound: 3,023 us while the disks are under 20 percent busy are the field report's
('slow above an idle disk', '{"as": "slow"}', 'warning software_bound',
    'takes 3023 us, but the device is idle 81 % of that time', '{"mean_us": 3023,
        "device_utilization": 0.19}'),
('a quarter busy', '{"saturated": {"mean_us": 3023, "device_utilization": 0.25}}', 'none', NULL,
    NULL),
('a millisecond', '{"saturated": {"mean_us": 1000, "device_utilization": 0.1}}', 'none', NULL,
    NULL),
('a millisecond and more', '{"saturated": {"mean_us": 1000.1, "device_utilization": 0.249}}',
    'warning software_bound', NULL, NULL),
('slow for less than a tenth of a second', '{"saturated": {"ops": 33, "mean_us": 3023,
        "device_utilization": 0}}', 'none', NULL, NULL),
('slow for a tenth of a second', '{"saturated": {"ops": 34, "mean_us": 3023,
        "device_utilization": 0}}', 'warning software_bound', 'idle 100 %', NULL),
('slow, and nobody knows why', '{"saturated": {"mean_us": 3023, "device_utilization": null}}',
    'none', NULL, NULL),

-- slow_tail
('a long tail', '{"paced": {"p99_us": 5701}}', 'warning slow_tail',
    'takes 5701 us or more, 10 times the median (paced)', '{"test": "paced", "p50_us": 570,
        "p99_us": 5701}'),
('a tail', '{"paced": {"p99_us": 5700}, "saturated": {"p99_us": 2650}}', 'none', NULL, NULL),
('a long tail back to back', '{"saturated": {"p99_us": 2651}}', 'warning slow_tail', '(saturated)',
    '{"test": "saturated", "p99_us": 2651}'),
('too few operations for a tail', '{"paced": {"p99_us": null}, "saturated": {"p99_us": null}}',
    'none', NULL, NULL),

-- counters_shared: 100 flushes a second are 0.058 in the time of a sync
('others flush too', '{"storage": {"others": {"flushes_per_sec": 100, "most_flushes_per_sec": 180,
        "bytes_per_sec": 0}}}', 'info counters_shared',
    'background I/O flushes nvme0n1 100 times a second', '{"others": {"flushes_per_sec": 100},
        "other_flushes_per_op": 0.058, "flushes_per_op": 1}'),
('others flush too, no disk has a name', '{"run": {"device": null},
        "storage": {"others": {"flushes_per_sec": 100, "most_flushes_per_sec": 180,
        "bytes_per_sec": 0}}}', 'info counters_shared',
    'background I/O flushes the device 100 times', NULL),
('nobody was heard, but not for long', '{"storage": {"others": {"flushes_per_sec": 0,
        "most_flushes_per_sec": 300, "bytes_per_sec": 0}}}', 'none', NULL, NULL),
('others hardly flush', '{"storage": {"others": {"flushes_per_sec": 80, "most_flushes_per_sec": 170,
        "bytes_per_sec": 0}}}', 'none', NULL, NULL),

-- counters_unknown
('no counters', '{"durable": "unknown", "why": "flushes are not counted", "run": {"device": null},
        "storage": {"disks": [], "no_counters": "no disk can be named", "others": null,
        "write_cache": null, "fua": null}, "paced": {"flushes_per_op": null,
        "device_bytes_per_op": null}, "saturated": {"flushes_per_op": null,
        "device_utilization": null}}', 'info counters_unknown',
    'the counters of the device were not read: no disk can be named',
    '{"no_counters": "no disk can be named"}'),
('only flushes are counted', '{"storage": {"disks": [{"name": "nvme0n1",
        "write_cache": "write back", "fua": false, "rotational": false,
        "counts_flushes_only": true}]}, "paced": {"device_bytes_per_op": null},
        "saturated": {"device_utilization": null}}', 'info counters_unknown',
    'I/O statistics of nvme0n1 are disabled: only its flushes are counted', NULL),
('some counters that went backwards', '{"storage": {"readings_lost": 3}}', 'none', NULL, NULL),
('counters that went backwards', '{"storage": {"readings_lost": 3},
        "paced": {"device_bytes_per_op": null}}', 'info counters_unknown',
    'the counters of nvme0n1 were not read: 3 readings failed or went backwards',
    '{"readings_lost": 3, "disks": [{"name": "nvme0n1"}]}'),

-- several at once
('all of them', '{"as": "background", "durable": "no", "run": {"device": "sda"},
        "storage": {"disks": [{"name": "sda", "rotational": true, "virtual": false,
        "write_cache": "write back"}], "others": {"seconds": 1, "flushes_per_sec": 200,
        "most_flushes_per_sec": 250}, "readings_lost": 1}, "paced": {"flushes_per_op": 0,
        "device_bytes_per_op": 90000, "p99_us": 9000}, "saturated": {"mean_us": 3023,
        "device_utilization": 0.1}}',
    'error flush_missing, info counters_shared, warning implausibly_fast, warning slow_tail, '
    'warning software_bound, warning write_amplification', NULL, NULL);

-- each run becomes the newest in turn, and the first one too: drift is looked at below
DO $$
DECLARE
    s run_scenario;
BEGIN
    FOR s IN SELECT * FROM run_scenario LOOP
        DELETE FROM sync_probe.runs;
        PERFORM pg_temp.record(s.given);
        INSERT INTO found SELECT 'run: ' || s.name, f.* FROM run_findings AS f;
    END LOOP;
END
$$;

-- --------------------------------------------------------------------- drift

CREATE TEMP TABLE drift_scenario (
    name text,
    earlier jsonb,          -- differences of runs before the newest, in this order
    newest jsonb,           -- differences of the newest
    says text);             -- in the message; null: no drift

INSERT INTO drift_scenario VALUES
-- an SSD's cache on, then off: 13,786 syncs a second, then 519; and the other way
('the cache was turned off', '[{"paced": {"p50_us": 73}}]', '{"paced": {"p50_us": 1926}}',
    'a paced sync with fdatasync takes 1926 us, 2538 % more than before (median of 1 earlier run)'),
('the cache was turned on', '[{"paced": {"p50_us": 1926}}]', '{"paced": {"p50_us": 73}}',
    'takes 73 us, 96 % less than before'),
('nothing before', '[]', '{"paced": {"p50_us": 1926}}', NULL),
-- 5 percent of margin, 1 of noise
('slower, by the margin and the noise', '[{}]', '{"paced": {"p50_us": 604}}', NULL),
('slower by more', '[{}]', '{"paced": {"p50_us": 605}}', '6 % more'),
('faster, by the margin and the noise', '[{}]', '{"paced": {"p50_us": 536}}', NULL),
('faster by more', '[{}]', '{"paced": {"p50_us": 535}}', '6 % less'),
('the newest is noisy', '[{}]', '{"paced": {"p50_us": 605, "relative_speed_low": 0.95,
    "relative_speed_high": 1.05}}', NULL),
('one before was noisy',
 '[{"paced": {"relative_speed_low": 0.95, "relative_speed_high": 1.05}}, {}]',
    '{"paced": {"p50_us": 605}}', NULL),
('noise is not known', '[{"paced": {"relative_speed_low": null}}]',
    '{"paced": {"p50_us": 604, "relative_speed_low": null}}', '6 % more'),
('of several the median counts', '[{"paced": {"p50_us": 100}}, {}, {"paced": {"p50_us": 9000}}]',
    '{}', NULL),
('several before', '[{}, {}, {}]', '{"paced": {"p50_us": 1926}}', 'median of 3 earlier runs'),
('what is long ago',
    (SELECT jsonb_agg(CASE WHEN i <= 30 THEN '{"paced": {"p50_us": 100}}'::jsonb
                      ELSE '{}' END ORDER BY i) FROM generate_series(1, 50) AS i),
    '{}', NULL),
('back to back only', '[{}]', '{"saturated": {"p50_us": 1926}}', NULL),
-- of the same kind
('as many pages', '[{"run": {"flush_size": 100}, "paced": {"p50_us": 73}}]', '{}', '681 % more'),
('more pages', '[{"run": {"flush_size": 8193}, "paced": {"p50_us": 73}}]', '{}', NULL),
('about the same pace',
    '[{"run": {"flush_interval": "2.5 ms"}, "paced": {"p50_us": 73}},
        {"run": {"flush_interval": "10 ms"}, "paced": {"p50_us": 73}}]',
    '{}', 'of 2 earlier runs'),
('another pace',
    '[{"run": {"flush_interval": "2.4 ms"}, "paced": {"p50_us": 73}},
        {"run": {"flush_interval": "10.1 ms"}, "paced": {"p50_us": 73}}]',
    '{}', NULL),
('another device', '[{"run": {"device": "sdb"}, "paced": {"p50_us": 73}}]', '{}', NULL),
('a device that is not known', '[{"run": {"device": null}, "paced": {"p50_us": 73}}]', '{}', NULL),
('another file system', '[{"run": {"filesystem": "xfs"}, "paced": {"p50_us": 73}}]', '{}', NULL),
('neither is known, as before',
    '[{"run": {"device": null, "filesystem": null}, "paced": {"p50_us": 73}}]',
    '{"run": {"device": null, "filesystem": null}}', '681 % more'),
('another location', '[{"run": {"location": "pg_default"}, "paced": {"p50_us": 73}}]', '{}', NULL),
('another suite', '[{"run": {"suite": "pg_test_fsync"}, "paced": {"p50_us": 73}}]', '{}', NULL),
('another method was the current one, but both were measured',
    '[{"run": {"wal_sync_method": "fsync"}, "paced": {"p50_us": 73}}]', '{}', '681 % more'),
('another method', '[{"paced": {"p50_us": 73, "method": "open_sync"}}]', '{}', NULL),
('another regime', '[{"paced": {"p50_us": 73, "test": "saturated"}}]', '{}', NULL),
('not measured before', '[{"paced": {"p50_us": 73, "ops": 0}}]', '{}', NULL);

CREATE TEMP TABLE drift (name text, expected text, message text, evidence jsonb);
DO $$
DECLARE
    s drift_scenario;
    r jsonb;
BEGIN
    FOR s IN SELECT * FROM drift_scenario LOOP
        DELETE FROM sync_probe.runs;
        FOR r IN SELECT * FROM jsonb_array_elements(s.earlier || jsonb_build_array(s.newest)) LOOP
            PERFORM pg_temp.record(r);
        END LOOP;
        INSERT INTO drift SELECT s.name, s.says, f.message, f.evidence
        FROM (SELECT) AS one LEFT JOIN run_findings AS f ON f.location = 'pg_wal'
            AND f.code = 'drift';
        INSERT INTO found SELECT 'drift: ' || s.name, f.* FROM run_findings AS f
        WHERE f.code = 'drift';
    END LOOP;
END
$$;

-- --------------------------------------------------------------------- tests

-- Written by hand or by another version: nothing to say is better than an error.
CREATE TEMP TABLE odd (storage text);
INSERT INTO odd VALUES (NULL), ('{}'), ('null'), ('[]'), ('"text"'), ('{"disks": []}'),
    ('{"disks": [{}]}'), ('{"disks": null}'),
    ('{"disks": [{"name": "sda", "rotational": null, "virtual": null}]}'), ('{"others": {}}'),
        ('{"others": null}'), ('{"others": {"flushes_per_sec": null, "bytes_per_sec": null}}'),
    ('{"others": {"bytes_per_sec": 1}}'), ('{"below_flushes_per_op": {}}'),
        ('{"below_flushes_per_op": null}'), ('{"below_flushes_per_op": {"2": null, "7": null}}'),
    ('{"zfs": null}'), ('{"zfs": {"dataset": "d", "pool": "p", "sync": "standard",
            "data_devices": null, "log_devices": null}}'),
    ('{"write_cache": null, "fua": null}'), ('{"backing_file": null,
            "backing_mount_options": null}'), ('{"no_counters": null, "readings_lost": null}');

-- A run that becomes the newest: an error unless one is recorded.
PREPARE record (jsonb) AS SELECT pg_temp.record($1) AS run_id;

CREATE TEMP VIEW commands AS SELECT DISTINCT c AS command FROM found, unnest(commands) AS c;

SELECT plan((SELECT count(*) + count(says) FROM storage_scenario)::integer
            + (SELECT count(*) + count(says) + count(shows) FROM run_scenario)::integer
            + (SELECT count(*) FROM drift_scenario)::integer
            + (SELECT count(*) FROM odd)::integer + 64);

SELECT is(pg_temp.codes('storage: ' || name, true), codes, 'storage: ' || name)
FROM storage_scenario;
SELECT ok(EXISTS (SELECT FROM found AS f WHERE f.name = 'storage: ' || s.name
                  AND strpos(f.message || ' / ' || f.hint, says) > 0),
          'storage: ' || name || ': says ' || says)
FROM storage_scenario AS s WHERE says IS NOT NULL;

SELECT is(pg_temp.codes('run: ' || name, false), codes, 'run: ' || name) FROM run_scenario;
SELECT ok(EXISTS (SELECT FROM found AS f WHERE f.name = 'run: ' || s.name
                  AND strpos(f.message || ' / ' || f.hint, says) > 0),
          'run: ' || name || ': says ' || says)
FROM run_scenario AS s WHERE says IS NOT NULL;
SELECT ok(EXISTS (SELECT FROM found AS f WHERE f.name = 'run: ' || s.name
                  AND f.evidence @> shows),
          'run: ' || name || ': shows ' || shows)
FROM run_scenario AS s WHERE shows IS NOT NULL;

SELECT ok((expected IS NULL AND message IS NULL) OR strpos(message, expected) > 0,
          'drift: ' || name || ': ' || coalesce(message, 'none'))
FROM drift;
SELECT ok((SELECT evidence @> '{"p50_us": 1926, "earlier_runs": 1, "earlier_median_us": 73,
                                "noise": 0.01, "margin": 0.05, "method": "fdatasync"}'
           FROM drift WHERE name = 'the cache was turned off'), 'drift: evidence');

-- of whatever was found
SELECT set_eq('SELECT DISTINCT code FROM found',
    '{barrier_off, counters_shared, counters_unknown, cow_wal_settings, device_unknown, drift,
      durable_unknown, flush_missing, fsync_off, implausibly_fast, loop_device, low_space,
      memory_filesystem, network_filesystem, overlay_filesystem, read_only_filesystem, slow_tail,
      software_bound, tablespace_missing, wal_shares_device, write_amplification,
      write_cache_volatile, zfs_log_on_main_pool, zfs_logbias_throughput, zfs_sync_disabled,
      zfs_unknown}'::text[],
    'each code but direct_io_refused was seen above');
SELECT is_empty($$SELECT name, code FROM found
                  WHERE severity IS NULL OR severity NOT IN ('error', 'warning', 'info')$$,
                'a severity that is known');
SELECT is_empty($$SELECT name, code, message FROM found
                  WHERE message IS NULL OR message !~ '^[^ ].*[^ .]$'$$,
                'a message without a period');
SELECT is_empty($$SELECT name, code, hint FROM found
                  WHERE hint IS NULL OR hint !~ '^[^ ].*[^ ]$'$$, 'a hint');
SELECT is_empty($$SELECT name, code, message, hint FROM found
                  WHERE message || ' / ' || hint
                        ~ 'NULL|  |[^a-z_]\(\)| [,:;)](?! )| \)|\( '$$,
                'no gap where a value was not known');
SELECT is_empty($$SELECT name, code, evidence FROM found
                  WHERE jsonb_typeof(evidence) IS DISTINCT FROM 'object' OR evidence = '{}'$$,
                'evidence is an object, with something in it');
SELECT is_empty($$SELECT name, code FROM found
                  WHERE name NOT LIKE 'storage: %' AND NOT evidence ? 'run_id'$$,
                'what a run tells names the run');
SELECT is(min(severity) || max(severity), 'infoinfo', 'drift is an information')
FROM found WHERE code = 'drift';

-- O_DIRECT that the file system refused, in a row beside those of the current method
DELETE FROM sync_probe.runs;
EXECUTE record ('{"run": {"filesystem": "zfs"}}') \gset
INSERT INTO sync_probe.measurements (run_id, ordinal, test, method, direct_io, status)
SELECT run_id, o.ordinal, 'saturated', o.method, true, o.status
FROM sync_probe.runs,
     (VALUES (11, 'open_datasync', 'ok'), (12, 'open_sync', 'error'))
         AS o (ordinal, method, status);
SELECT is_empty('SELECT * FROM run_findings',
                'O_DIRECT is taken, or fails for another reason');
UPDATE sync_probe.measurements SET status = 'no_direct_io' WHERE ordinal > 10;
SELECT results_eq(
    $$SELECT location, severity, code, message, evidence -> 'methods'
      FROM run_findings$$,
    $$VALUES ('pg_wal'::name, 'info', 'direct_io_refused',
              'the file system (zfs) refuses O_DIRECT',
              '["open_datasync", "open_sync"]'::jsonb)$$,
    'O_DIRECT is refused');
UPDATE sync_probe.runs SET filesystem = NULL;
SELECT is((SELECT message FROM run_findings),
          'the file system (unknown) refuses O_DIRECT', 'by nobody knows whom');

EXECUTE record ('{"run": {"filesystem": "zfs"}}') \gset
SELECT is_empty('SELECT * FROM run_findings', 'nor by a newer run');

-- the margin is the reader's: two runs that differ by 23 %
DELETE FROM sync_probe.runs;
EXECUTE record ('{}') \gset
EXECUTE record ('{"paced": {"p50_us": 700}}') \gset
SELECT is((SELECT code FROM run_findings), 'drift', 'drift beyond the margin');
SET LOCAL pg_sync_probe.margin = 0.5;
SELECT is_empty('SELECT * FROM run_findings', 'but not beyond a wide margin');
SET LOCAL pg_sync_probe.margin = 0.05;

-- only the newest run of a location counts, and only of the wal suite; here one at
-- pg_default, one of the other suite, and one at a tablespace that was dropped
DELETE FROM sync_probe.runs;
EXECUTE record ('{"durable": "no", "paced": {"flushes_per_op": 0}}') \gset
EXECUTE record ('{"durable": "no", "run": {"location": "pg_default"},
    "saturated": {"flushes_per_op": 0},
    "storage": {"others": {"flushes_per_sec": 100, "most_flushes_per_sec": 200}}}') \gset
EXECUTE record ('{"run": {"location": "pg_wal", "suite": "pg_test_fsync"}}') \gset
EXECUTE record ('{"durable": "no", "run": {"location": "gone"},
    "paced": {"flushes_per_op": 0}}') \gset
SELECT bag_eq('SELECT location, code FROM run_findings',
    $$VALUES ('pg_wal'::name, 'flush_missing'), ('pg_default', 'flush_missing'),
             ('pg_default', 'counters_shared')$$, 'both locations, but no other');
EXECUTE record ('{}') \gset
SELECT bag_eq('SELECT location, code FROM run_findings',
    $$VALUES ('pg_default'::name, 'flush_missing'), ('pg_default', 'counters_shared')$$,
    'a newer run at pg_wal, with flushes, is the one that counts there');

-- the view has both sorts, of real storage: a reserve that none can leave
SET LOCAL pg_sync_probe.reserve_percent = 100;
SELECT set_has('SELECT location, code FROM sync_probe.findings',
    $$SELECT name, 'low_space' FROM sync_probe.locations
      WHERE available_bytes < size_bytes / 100 * 100
      UNION ALL SELECT 'pg_default', 'flush_missing'$$,
    'findings has those of storage and those of runs');
CREATE TEMP VIEW in_order AS
SELECT row_number() OVER () AS place,
       row_number() OVER (ORDER BY location <> 'pg_wal', location,
                          strpos('error warning info', severity), code) AS sorted
FROM sync_probe.findings;
SELECT is((SELECT count(*) > 2 AND bool_and(place = sorted) FROM in_order), true,
          'pg_wal first, and of each location the worst first');
SET LOCAL pg_sync_probe.reserve_percent = 0;
SELECT is((SELECT count(*) FROM sync_probe.findings
           WHERE code = 'low_space' AND location <> 'pg_wal'),
          0::bigint, 'none is low if nothing is to be left');

SELECT ok(sync_probe_internal.busiest_tablespace() IN (SELECT spcname FROM pg_tablespace),
          'one of the tablespaces is the busiest');

-- test/t/018_trial.pl has what leaves it
SELECT is_empty($$SELECT code FROM sync_probe.findings WHERE code = 'trial_not_restored'$$,
                'no trial is left');

-- fsync was off since this server was started
CREATE FUNCTION pg_temp.fsync_findings(differences text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM sync_probe.runs;
    PERFORM pg_temp.record_run(
        jsonb_build_object('suite', 'stream', 'fsync', false, 'finished_at', clock_timestamp())
        || differences::jsonb);
    INSERT INTO found SELECT 'fsync', f.* FROM sync_probe.findings AS f
    WHERE code = 'fsync_was_off';
    RETURN (SELECT string_agg(location || ' ' || severity, ' ') FROM sync_probe.findings
            WHERE code = 'fsync_was_off');
END
$$;
SELECT is(pg_temp.fsync_findings(differences), expected, 'fsync was off: ' || name)
FROM (VALUES ('a run of this server', '{}', 'pg_wal warning'),
             ('a run of a tablespace', '{"location": "pg_default"}', 'pg_wal warning'),
             ('it was on', '{"fsync": true}', NULL),
             ('nobody knows', '{"fsync": null}', NULL),
             ('before the server was started', '{"finished_at": "2000-01-01"}', NULL),
             ('on another host', '{"host": "elsewhere"}', NULL),
             ('in another cluster', '{"system_identifier": 1}', NULL),
             ('in an imported run', '{"imported_at": "2026-01-01"}', NULL))
    AS v (name, differences, expected);

-- a publication that came after the extension
SELECT is_empty($$SELECT code FROM sync_probe.findings WHERE code = 'history_published'$$,
                'the tables are not published');
SET LOCAL client_min_messages = error;
CREATE PUBLICATION everything FOR ALL TABLES;
SELECT results_eq($$SELECT location, severity, evidence FROM sync_probe.findings
                    WHERE code = 'history_published'$$,
    $$VALUES ('pg_wal'::name, 'warning', '{"publications": ["everything"]}'::jsonb)$$,
    'now they are');
DROP PUBLICATION everything;

-- a run of other times: recommendations.sql has what makes it so
DELETE FROM sync_probe.runs;
EXECUTE record ('{"storage": {"mount_options": "rw,relatime"}}') \gset
SELECT is_empty('SELECT FROM sync_probe.findings WHERE code = ''outdated_run''', 'of today');
UPDATE examined SET mount_options = 'rw,noatime' WHERE name = 'pg_wal';
INSERT INTO found SELECT 'outdated', f.* FROM sync_probe.findings AS f WHERE code = 'outdated_run';
SELECT results_eq(
    $$SELECT location, severity, message, commands, evidence -> 'changes'
      FROM found WHERE name = 'outdated'$$,
    format($$VALUES ('pg_wal'::name, 'warning',
                     'run %s is outdated: mount options were relatime, are noatime',
                     '{SELECT * FROM sync_probe.probe()}'::text[],
                     '["mount options were relatime, are noatime"]'::jsonb)$$, :run_id),
    'of other times');

-- one mount without barriers, which two locations share, and all that follows from it
CREATE FUNCTION pg_temp.found_at_all() RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(format('%s %s', location, code), ', ' ORDER BY location <> 'pg_wal', code)
    FROM sync_probe.findings
    WHERE code IN ('barrier_off', 'flush_missing', 'write_cache_volatile', 'outdated_run', 'drift',
                   'implausibly_fast', 'durable_unknown')
$$;
DELETE FROM sync_probe.runs;
UPDATE examined SET mount_point = '/data', mount_options = 'rw,nobarrier', missing = false,
    write_cache = 'write back', fua = false, device = 'nvme0n1', filesystem = 'ext4',
    shares_filesystem_with = NULL
WHERE name IN ('pg_wal', 'pg_default');
DELETE FROM examined WHERE name NOT IN ('pg_wal', 'pg_default');
SELECT is(pg_temp.found_at_all(), 'pg_wal barrier_off', 'one mount, one finding');
EXECUTE record ('{"storage": {"mount_options": "rw"}}') \gset
EXECUTE record ('{"durable": "no", "storage": {"mount_options": "rw"},
    "paced": {"flushes_per_op": 0, "p50_us": 9},
    "saturated": {"flushes_per_op": 0, "p50_us": 3, "p99_us": 9}}') \gset
UPDATE examined SET mount_options = 'rw,nobarrier' WHERE name = 'pg_wal';
SELECT is(pg_temp.found_at_all(), 'pg_wal barrier_off', 'and what a probe makes of it');
SELECT is(evidence - 'mount_options' - 'write_cache', format(
    '{"locations": ["pg_default", "pg_wal"], "run_id": %s, "also_found": ["drift", "flush_missing",
      "implausibly_fast", "outdated_run", "write_cache_volatile"]}', :run_id)::jsonb,
    'its evidence names them') FROM sync_probe.findings WHERE code = 'barrier_off';
UPDATE examined SET mount_point = '/other' WHERE name = 'pg_default';
SELECT is(pg_temp.found_at_all(), 'pg_wal barrier_off, pg_default barrier_off',
          'two mounts, two findings');
UPDATE examined SET mount_options = 'rw';
SELECT is(pg_temp.found_at_all(),
          'pg_wal drift, pg_wal flush_missing, pg_wal implausibly_fast, '
          'pg_wal write_cache_volatile, pg_default write_cache_volatile',
          'with barriers they stand for themselves');

-- what a probe has found stands there instead of the advice to probe
SELECT is(coalesce(hint, '') || coalesce(commands::text, ''),
          CASE location WHEN 'pg_wal'
               THEN format('In run %s, syncs with fdatasync did not reach it.',
                                                  :run_id)
               ELSE 'Probe it. Column durable of sync_probe.recommendations then shows whether they'
                    ' do.{"SELECT * FROM sync_probe.probe(''pg_default'')"}' END,
          format('%s: a volatile cache, and a probe of pg_wal', location))
FROM sync_probe.findings WHERE code = 'write_cache_volatile';
UPDATE examined SET shares_filesystem_with = 'pg_wal' WHERE name = 'pg_default';
SELECT is((SELECT string_agg(DISTINCT hint, ' ') FROM sync_probe.findings
           WHERE code = 'write_cache_volatile'),
          format('In run %s, syncs with fdatasync did not reach it.', :run_id),
          'or of the same file system');
UPDATE examined SET shares_filesystem_with = NULL WHERE name = 'pg_default';
CREATE FUNCTION pg_temp.cache_hint(durable text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    id bigint := pg_temp.record(jsonb_build_object('durable', durable));
BEGIN
    UPDATE examined SET mount_options = 'rw' WHERE name = 'pg_wal';
    RETURN (SELECT replace(f.hint, id::text, 'N') FROM sync_probe.findings AS f
            WHERE f.code = 'write_cache_volatile' AND f.location = 'pg_wal');
END
$$;
SELECT is(pg_temp.cache_hint(durable), expected, 'a volatile cache, durable: ' || durable)
FROM (VALUES ('yes', 'In run N, syncs with fdatasync reached it.'),
             ('no_cache', 'In run N, it had no volatile cache.'),
             ('unknown', 'Run N could not tell whether syncs with fdatasync reach it.'))
         AS v (durable, expected);

-- what cannot be written to is not to be probed
SELECT set_has('SELECT unnest(commands) FROM sync_probe.recommendation_details'
               ' UNION ALL SELECT unnest(commands) FROM sync_probe.findings',
               $$VALUES ('SELECT * FROM sync_probe.probe(''pg_default'')')$$, 'probe it');
UPDATE examined SET mount_options = 'ro' WHERE name = 'pg_default';
SELECT is_empty($$SELECT commands FROM sync_probe.recommendation_details
                  WHERE location = 'pg_default' AND commands IS NOT NULL
                  UNION ALL SELECT commands FROM sync_probe.findings
                  WHERE location = 'pg_default' AND commands IS NOT NULL$$, 'but not read-only');
EXECUTE record ('{"run": {"location": "pg_default", "stop_early": true},
    "storage": {"mount_options": "rw"}}') \gset
UPDATE examined SET mount_options = 'ro', write_cache = 'write back' WHERE name = 'pg_default';
SELECT is((verdict = 'outdated') || coalesce(commands::text, ''), 'false',
          'nor is its run outdated by that, or to be repeated')
FROM sync_probe.recommendation_details WHERE location = 'pg_default';

-- not probed, and nothing else says so
DELETE FROM sync_probe.runs;
UPDATE examined SET mount_options = 'rw', write_cache = NULL, device = 'nvme0n1'
WHERE name IN ('pg_wal', 'pg_default');
SELECT is(pg_temp.found_at_all(), 'pg_wal durable_unknown, pg_default durable_unknown',
          'not probed, so durable is unknown');

-- every command is one statement, and one that the server understands
SELECT set_eq('SELECT DISTINCT code FROM found WHERE commands IS NOT NULL',
    '{fsync_off, write_cache_volatile, cow_wal_settings, drift, outdated_run}'::text[],
    'what has commands');
SELECT is_empty('SELECT command FROM commands WHERE command ~ '';|^ | $''', 'one statement each');
SELECT lives_ok('PREPARE once AS ' || command || '; DEALLOCATE once', command)
FROM commands WHERE command LIKE 'SELECT %';
SELECT ok(command LIKE 'SELECT %' OR command ~ '^ALTER SYSTEM SET [a-z_]+ = (on|off)$', command)
FROM commands;

-- storage that is not as expected
UPDATE sync_probe.measurements SET flushes_per_op = 1;
SELECT lives_ok(format('UPDATE sync_probe.runs SET storage = %L;'
                       ' CREATE TEMP TABLE got ON COMMIT DROP AS'
                       ' SELECT * FROM run_findings; DROP TABLE got', storage),
                'storage: ' || coalesce(storage::jsonb::text, 'none'))
FROM odd;

-- figures that no probe records, but a hand might
SELECT lives_ok(format('DELETE FROM sync_probe.runs;'
                       ' SELECT pg_temp.record(%1$L), pg_temp.record(%1$L);'
                       ' SELECT * FROM sync_probe.findings',
                       jsonb_build_object('run', run, 'paced', figures, 'saturated', figures)),
                format('figures: %s %s', run, figures))
FROM (VALUES ('{"flush_size": 0}'::jsonb, '{"device_bytes_per_op": 9000}'::jsonb),
             ('{"flush_size": 2147483647}', '{"p50_us": 0}')) AS odd (run, figures);

SELECT * FROM finish();
ROLLBACK;
