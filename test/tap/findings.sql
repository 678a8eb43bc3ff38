-- What sync_probe.findings makes of recorded measurements and of storage.
--
-- A scenario is a row: how it differs from storage and from a run that nothing is to be said
-- about, and all that must be said then.  That list is complete, so that a scenario with none is
-- a near miss.  given() of the stage has the notation of differences.
\ir include/begin.sql
\ir include/stage.sql

-- Codes have their severity, and the location if it is not pg_wal; "says" is in message or hint,
-- "shows" in the evidence of one of them.
CREATE TEMP TABLE storage_scenario (name text, given text, codes text, says text);
CREATE TEMP TABLE run_scenario (name text, given text, codes text DEFAULT '',
                                says text DEFAULT '', shows text DEFAULT '');

-- ------------------------------------------------------------------- storage

-- Places are separated by " | "; section server of the first has settings.
INSERT INTO storage_scenario VALUES
('a disk in order', '', '', ''),
('fsync off', 'server: fsync=false', 'error fsync_off',
    'initdb --sync-only, or unmount the file systems: data written before may still be in memory'),
('barrier=0, cache unknown', 'mount_options=rw,barrier=0,relatime, write_cache=null',
    'error barrier_off', '/data is mounted with barrier=0'),
('a volatile overlay', 'filesystem=overlay, device=null, mount_options=rw,fsync=volatile',
    'info device_unknown, warning barrier_off, warning overlay_filesystem',
    'is mounted with fsync=volatile'),
('f2fs without barriers', 'filesystem=f2fs, mount_options=rw,fsync_mode=nobarrier',
    'warning barrier_off', 'remount,fsync_mode=posix /data'),
('nobarrier above a cache that is not volatile', 'mount_options=nobarrier',
    'warning barrier_off', 'remount,barrier /data'),
('barriers on, by name', 'mount_options=rw,barrier,barrier=1,nobarriers', '', ''),
('a volatile cache under a name to be quoted',
    'name=O''Hara, holds_wal=false, write_cache=write back', 'O''Hara info write_cache_volatile',
    'nvme0n1 has a volatile write cache'),
('a volatile cache that takes FUA writes', 'write_cache=write back, fua=true', '', ''),
('tmpfs', 'filesystem=tmpfs, device=null, disks=null, write_cache=null, fua=null',
    'error memory_filesystem',
    '/data is tmpfs: its files are lost when the machine restarts / Stop the server'),
('pg_default on tmpfs',
    'name=pg_default, holds_wal=false, filesystem=tmpfs, device=null, disks=null',
    'pg_default error memory_filesystem', 'move the data directory'),
('a tablespace on ramfs',
    'name=fast one, holds_wal=false, filesystem=ramfs, device=null, disks=null',
    'fast one error memory_filesystem', 'then drop it'),
('less than the reserve', 'size_bytes=1000000000000, available_bytes=49999999999',
    'warning low_space', 'the cluster: free space. SELECT'),
('just the reserve', 'size_bytes=1000000000000, available_bytes=50000000000', '', ''),
('less than max_wal_size, also with the WAL that is there',
    'size_bytes=10000000000, available_bytes=1000000000; server: max_wal_size=1000000000000000',
    'warning low_space', 'or lower max_wal_size'),
('less than max_wal_size, by less than a segment: pg_wal has one',
    'available_bytes=59999999999; server: max_wal_size=60000000000', '', ''),
('less than max_wal_size, but for a tablespace',
    'name=fast, holds_wal=false, available_bytes=59000000000; server: max_wal_size=60000000000',
    '', ''),
('a tablespace with less than the reserve', 'name=fast, holds_wal=false, available_bytes=1000000',
    'fast warning low_space', 'no probe runs'),
('btrfs', 'filesystem=btrfs', 'warning cow_wal_settings',
    'pg_wal is on btrfs, a copy-on-write file system: recycling and zero-filling WAL files'),
('zfs', 'filesystem=zfs, device=null, disks=null; server: wal_recycle=false',
    'warning cow_wal_settings', 'file system: zero-filling WAL files may gain'),
('zfs with the settings for it',
    'filesystem=zfs, device=null, disks=null; server: wal_recycle=false, wal_init_zero=false', '',
    ''),
('btrfs with nodatacow', 'filesystem=btrfs, mount_options=rw,nodatacow,relatime', '', ''),
('WAL beside the busiest tablespace', ' | name=pg_default, holds_wal=false',
    'info wal_shares_device', 'pg_wal shares nvme0n1 with pg_default'),
('one disk of several is shared',
    'disks=["sda", "sdb"], device=md0 | name=pg_default, holds_wal=false, mount_point=/tables, '
    'disks=["sdb", "sdc"]', 'info wal_shares_device', 'shares sdb with'),
('a file system without a disk is shared',
    'filesystem=nfs4, device=null, disks=null | name=pg_default, holds_wal=false, '
    'filesystem=ext4, disks=null',
    'info wal_shares_device, warning network_filesystem', 'shares /data with'),
('on a network', 'filesystem=fuse.sshfs, device=null, disks=null, write_cache=null',
    'warning network_filesystem',
    '/data is fuse.sshfs: another machine decides whether a sync reaches a disk'),
('disks of their own', ' | name=pg_default, holds_wal=false, mount_point=/tables, disks=["sdb"]',
    '', ''),
('another tablespace is the busiest',
    'server: busiest=fast | name=pg_default, holds_wal=false | name=fast, holds_wal=false, '
    'mount_point=/fast, disks=["sdb"]', '', ''),
('no disk can be named', 'device=null, disks=null, write_cache=null, fua=null',
    'info device_unknown', 'below /data (ext4)'),
('nothing can be told',
    'device=null, disks=null, write_cache=null, fua=null, filesystem=null, mount_point=null, '
    'mount_options=null, size_bytes=null, available_bytes=null', 'info device_unknown',
    'below it (unknown file system)'),
('a file system that is not mounted',
    'name=fast, holds_wal=false, directory=/fast, missing=true, device=null',
    'fast error tablespace_missing', '/fast does not contain what this server created there'),
('a directory that is gone',
    'name=fast, holds_wal=false, directory=null, missing=true, filesystem=null, '
    'mount_point=null, mount_options=null, device=null, write_cache=null',
    'fast error tablespace_missing', 'its directory does not contain'),
('a file system with two locations',
    'filesystem=overlay, write_cache=write back, available_bytes=1 | name=fast, holds_wal=false, '
    'shares_filesystem_with=pg_wal, filesystem=overlay, write_cache=write back, available_bytes=1',
    'info write_cache_volatile, warning low_space, warning overlay_filesystem',
    'Put the data directory on a volume'),
('a file system that is not mounted, on that of pg_wal',
    ' | name=fast, holds_wal=false, shares_filesystem_with=pg_wal, missing=true',
    'fast error tablespace_missing', ''),
('mounted read-only', 'mount_options=ro,relatime', 'error read_only_filesystem',
    '/data is mounted read-only'),
('read-only only by name', 'mount_options=rw,errors=remount-ro', '', '');

CREATE FUNCTION pg_temp.storage_found(places text) RETURNS SETOF sync_probe_internal.finding
LANGUAGE sql AS $$
    SELECT f.*
    FROM (SELECT '{"fsync": true, "wal_recycle": true, "wal_init_zero": true,
                   "max_wal_size": 1073741824, "busiest": "pg_default"}'
                 || coalesce(pg_temp.given(split_part(places, ' | ', 1)) -> 'server', '{}'))
             AS s (server),
         unnest(sync_probe_internal.storage_findings(ARRAY(
             SELECT jsonb_populate_record(NULL::sync_probe_internal.storage,
                 '{"name": "pg_wal", "holds_wal": true, "filesystem": "ext4",
                   "mount_point": "/data", "mount_options": "rw,relatime", "device": "nvme0n1",
                   "write_cache": "write through", "fua": false, "disks": ["nvme0n1"],
                   "size_bytes": 100000000000, "available_bytes": 50000000000, "missing": false}'
                 || (pg_temp.given(p) - 'server'))
             FROM regexp_split_to_table(places, ' [|] ') AS p),
             NULL, server ->> 'busiest', server)) AS f
$$;

-- ---------------------------------------------------------------------- runs

-- What runs have in common: all, or those that give this name as "as".
CREATE TEMP TABLE common AS
SELECT name, pg_temp.given(given) AS given FROM (VALUES
-- on a good SSD; fdatasync is the current method, fsync is slower
('usual', 'durable=yes; storage: source=/dev/nvme0n1, mount_options=rw,relatime, fua=false, '
    'write_cache=write back, disks=[{"name": "nvme0n1", "write_cache": "write back", "fua": false, '
    '"rotational": false, "virtual": false}], device_bytes_error={"2": 0, "3": 0}, '
    'device_bytes_per_op={"2": 10000, "3": 99999, "7": 10000, "8": 10000}, '
    'device_utilization={"2": 0.9, "3": 0.9, "7": 0.9, "8": 0.9}; '
    'storage.others: seconds=1.5, flushes_per_sec=0, most_flushes_per_sec=2, bytes_per_sec=0, '
    'bytes_per_sec_error=0; '
    'paced: ordinal=2, test=paced, method=fdatasync, ops=400, ops_per_sec=1727, mean_us=579, '
    'p50_us=570, p99_us=900, relative_speed_low=0.99, relative_speed_high=1.01; '
    'fsync: ordinal=3, test=paced, method=fsync, ops=400, ops_per_sec=1196, mean_us=836, '
    'p50_us=830, p99_us=99999, flushes_per_op=0, durable=no; '
    'through: ordinal=4, test=paced, method=fsync_writethrough, status=unsupported, ops=null; '
    'saturated: ordinal=7, test=saturated, method=fdatasync, ops=4000, ops_per_sec=3745, '
    'mean_us=267, p50_us=265, p99_us=500; '
    'fsyncs: ordinal=8, test=saturated, method=fsync, ops=4000, ops_per_sec=3676, mean_us=272, '
    'p50_us=2, p99_us=99999, flushes_per_op=0, durable=no'),
('no flush', 'durable=no; paced: flushes_per_op=0; saturated: flushes_per_op=0'),
('too fast', 'durable=no; paced: flushes_per_op=0, p50_us=9, p99_us=9; '
    'saturated: flushes_per_op=0, p50_us=3, p99_us=9'),
('loop', 'run: device=loop0; storage: backing_file=/srv/disk.img, backing_filesystem=ext4, '
    'disks=[{"name": "loop0"}, {"name": "vda", "write_cache": "write back", "below": true}]'),
('zfs', 'run: filesystem=zfs, device=null; '
    'storage.zfs: dataset=tank/pg, pool=tank, sync=standard'),
('rotating', 'run: device=sda; '
    'storage: disks=[{"name": "sda", "rotational": true, "virtual": false}]'),
('slow', 'saturated: mean_us=3023; storage.device_utilization: 7=0.19')) AS v (name, given);

-- A run of the wal suite with differences: of the run, its storage, and the paced and saturated
-- rows of fdatasync; durable of fdatasync if it is not yes, and why it is unknown.  Other rows have
-- any name and an ordinal.  Members of the storage that are null are left out.
CREATE FUNCTION pg_temp.record(differences text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    changes jsonb := pg_temp.given(differences);
    id bigint;
BEGIN
    SELECT pg_temp.merged(pg_temp.merged(u.given, coalesce(c.given, '{}')), changes) INTO changes
    FROM common AS u LEFT JOIN common AS c ON c.name = changes ->> 'as' WHERE u.name = 'usual';
    id := pg_temp.record_run(
        jsonb_build_object('durable', changes -> 'durable', 'storage', changes -> 'storage'
                               || jsonb_build_object('durable_unknown', changes -> 'why'))
        || CASE changes ->> 'durable' WHEN 'no'
           THEN '{"verdict": "unsafe", "recommended_value": null,
                  "reason": "syncs with fdatasync do not reach the device"}' ELSE '{}' END::jsonb
        || coalesce(changes -> 'run', '{}'));
    PERFORM pg_temp.record_cases(id, VARIADIC ARRAY(
        SELECT jsonb_build_object('flushes_per_op', 1, 'durable', changes -> 'durable') || c.value
        FROM jsonb_each(changes) AS c WHERE c.value ? 'ordinal'));
    UPDATE sync_probe.runs AS r
    SET storage = jsonb_strip_nulls(r.storage || jsonb_build_object(
        'earlier', sync_probe_internal.earlier_runs(r)))
    WHERE r.run_id = id;
    RETURN id;
END
$$;

-- What is found of the newest of runs, which " | " separates.
CREATE TEMP VIEW run_findings AS
SELECT f.*
FROM sync_probe_internal.advice(NULL) AS n,
     unnest(sync_probe_internal.run_findings(n.run, n.measured)) AS f;
CREATE FUNCTION pg_temp.run_found(runs text) RETURNS SETOF sync_probe_internal.finding
LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM sync_probe.runs;
    PERFORM pg_temp.record(r) FROM regexp_split_to_table(runs, ' [|] ') AS r;
    RETURN QUERY SELECT * FROM run_findings;
END
$$;

INSERT INTO run_scenario VALUES
('an SSD in order', '', '', '', ''),
-- flush_missing
('no flush', 'as=no flush; saturated: flushes_per_op=0.02; storage.unflushed_fraction: 2=0.97',
    'error flush_missing', 'syncs with fdatasync send no flush to nvme0n1, whose write cache is '
    'volatile: commits may be lost when the power fails, unless that cache is protected',
    'saturated_flushes_per_op=0.02, unflushed_fraction=0.97, write_cache=write back, fua=false'),
('no flush at a virtual disk',
    'as=no flush; storage: disks=[{"name": "nvme0n1", "write_cache": "write back", "virtual": '
    'true}]', 'error flush_missing',
    'the virtual disk nvme0n1, whose write cache is volatile: commits may be lost when its host '
    'fails', ''),
('a flush now and then',
    'durable=unknown, why=there were fewer flushes than syncs; paced: flushes_per_op=0.3',
    'info durable_unknown', 'reach nvme0n1: there were fewer flushes than syncs',
    'paced_flushes_per_op=0.3; others: flushes_per_sec=0'),
('flushes of others, but not in each sync',
    'durable=no; storage.others: flushes_per_sec=2000, most_flushes_per_sec=2100; '
    'storage.unflushed_fraction: 2=0.29, 3=0.9; storage.flushed_fraction: 2=0; '
    'paced: flushes_per_op=1.2',
    'error flush_missing, info counters_shared',
    'at least 29 % of the syncs with fdatasync ended without a flush on nvme0n1',
    'paced_flushes_per_op=1.2, unflushed_fraction=0.29, flushed_fraction=0'),
('nothing is written', 'as=no flush; storage: write_cache=write through, writes_uncounted=false; '
    'storage.device_bytes_per_op: 2=100', 'error flush_missing',
    'syncs with fdatasync write nothing to nvme0n1', 'device_bytes_per_op=100'),
('nothing is written back to back',
    'as=no flush; storage: write_cache=write through, writes_uncounted=false; '
    'storage.device_bytes_per_op: 7=99', 'error flush_missing',
    'syncs with fdatasync write nothing to nvme0n1', 'device_bytes_per_op=99'),
('memory',
    'durable=no; run: filesystem=tmpfs, device=null; storage: syncs_nothing=tmpfs, disks=[], '
    'no_counters=no disk can be named; paced: p50_us=1.5, p99_us=60; '
    'saturated: p50_us=1.3, p99_us=6', '', '', ''),
-- ZFS
('ZFS in order', 'as=zfs; storage.zfs: logbias=latency, data_devices=["/dev/sda"], '
    'log_devices=["/dev/nvme0n1"]', '', '', ''),
('ZFS with devices that are not known', 'as=zfs; storage.zfs: data_devices=[], log_devices=[]',
    '', '', ''),
-- FreeBSD, 12 SATA disks: 6,676 syncs a second
('ZFS that syncs nothing',
    'as=zfs, durable=no; storage: syncs_nothing=sync=disabled, disks=[{"name": "sda", '
    '"rotational": true, "virtual": false}]; storage.zfs: sync=disabled, logbias=throughput, '
    'data_devices=["/dev/sda"], log_devices=[]; '
    'saturated: ops_per_sec=6676.001, p50_us=148',
    'error zfs_sync_disabled, warning implausibly_fast', 'zfs set sync=standard tank/pg',
    'zfs: dataset=tank/pg, sync=disabled'),
('ZFS without a log device', 'as=zfs; storage.zfs: data_devices=["/dev/sda"], log_devices=[]',
    'info zfs_log_on_main_pool', 'zpool add tank log mirror', 'zfs: data_devices=["/dev/sda"]'),
-- Linux, a PCIe SSD as log device that logbias=throughput does not use, O_DIRECT refused:
-- 330 a second
('ZFS that writes past its log device',
    'as=zfs; storage.zfs: logbias=throughput; saturated: ops_per_sec=330.846, mean_us=3023; '
    'storage.device_utilization: 7=0.19', 'warning software_bound, warning zfs_logbias_throughput',
    'zfs set logbias=latency tank/pg', 'zfs: logbias=throughput'),
('ZFS that tells half of it', 'as=zfs; storage.zfs: unknown=zpool: permission denied',
    'info zfs_unknown', 'zpool: permission denied', 'zfs: sync=standard'),
('ZFS that does not tell of sync',
    'run: filesystem=zfs, device=null; storage.zfs: dataset=tank/pg, pool=tank, logbias=latency',
    'info zfs_unknown', 'sync is missing', ''),
-- barrier_off and loop_device
('a loop device', 'as=loop; storage: backing_mount_options=rw,barrier=1; storage.others: '
    'most_below_flushes_per_sec=2; storage.below_flushes_per_op: 2=1, 7=1', 'info loop_device',
    'loop0 is the file /srv/disk.img on ext4: a sync is as safe as',
    'backing_file=/srv/disk.img; below_flushes_per_op: 2=1, 7=1'),
('a loop device through which a flush gets now and then',
    'as=loop, durable=unknown, why=it was not seen how many background I/O makes; '
    'storage.below_flushes_per_op: 2=1, 7=0.11', 'info durable_unknown, info loop_device',
    'it is unknown whether a sync reaches the disk below', 'below_flushes_per_op: 7=0.11'),
('a loop device on a disk that is busy',
    'as=loop, durable=unknown, why=background I/O flushes too often; '
    'storage.others: most_below_flushes_per_sec=1000; storage.below_flushes_per_op: 2=1, 7=1',
    'info durable_unknown, info loop_device',
    'reach loop0: background I/O flushes too often / Probe longer',
    'others: most_below_flushes_per_sec=1000'),
('a loop device that no flush gets through',
    'as=loop, durable=unknown, why=it was not seen how many background I/O makes; '
    'storage: backing_filesystem=xfs; storage.below_flushes_per_op: 2=1, 7=0.1',
    'warning loop_device', 'no flush reaches the disk below', 'backing_filesystem=xfs'),
('a loop device above a write-through cache',
    'as=loop, durable=no_cache; storage: below_flushes_per_op={"2": 0, "7": 0}, '
    'disks=[{"name": "vda", "write_cache": "write through", "below": true}]', 'info loop_device',
    'a sync is as safe as', ''),
('a loop device above one that counts no flushes',
    'as=loop, durable=unknown, why=unknown; storage: below_flushes_per_op={"2": 0, "7": 0}, '
    'disks=[{"write_cache": "write back", "below": true, "counts_flushes": false}]',
    'info durable_unknown, info loop_device', '', ''),
('a loop device whose file is in memory',
    'durable=no; run: device=loop0; storage: syncs_nothing=its file is on tmpfs, '
    'backing_file=/srv/disk.img, backing_filesystem=tmpfs, below_flushes_per_op={}',
    'error memory_filesystem, info loop_device',
    'its file is on tmpfs: syncs there reach no device', ''),
('a loop device above nobody knows what',
    'durable=unknown, why=at the disk below the loop device, flushes are not counted; '
    'run: device=loop0; storage: backing_file=/srv/disk.img, below_flushes_per_op={}',
    'info durable_unknown, info loop_device', 'nothing is known of the disk below', ''),
('nobarrier under the backing file', 'run: device=loop0; storage: backing_file=/srv/disk.img, '
    'backing_mount_options=rw,nobarrier,relatime', 'info loop_device, warning barrier_off',
    'on a file system mounted with nobarrier', 'mount_options=rw,nobarrier,relatime'),
-- implausibly_fast
('a rotating disk that is too fast', 'as=rotating; saturated: ops_per_sec=251, p50_us=148',
    'warning implausibly_fast', '251 syncs a second with fdatasync, but sda is a rotating disk',
    'ops_per_sec=251, p50_us=148, flushes_per_op=1, disks=[{"name": "sda"}]'),
('a rotating disk at its best', 'as=rotating; paced: ops_per_sec=300; saturated: ops_per_sec=250',
    '', '', ''),
('a rotating disk beside one of which nothing is known',
    'run: device=md0; storage: disks=[{"name": "sda", "rotational": true, "virtual": false}, '
    '{"name": "sdb", "rotational": true}, {"name": "sdc"}]', '', '', ''),
('a rotating disk below a loop device',
    'run: device=loop0; storage: backing_file=/srv/disk.img, disks=[{"name": "loop0", '
    '"rotational": true, "virtual": true}, {"name": "sda", "rotational": true, "virtual": '
    'false, "below": true}]', 'info loop_device', '', ''),
('what lies below makes no disk rotate less',
    'as=rotating; storage: disks=[{"name": "sda", "rotational": true, "virtual": false}, '
    '{"name": "pmem0", "rotational": false, "virtual": false, "below": true}]',
    'warning implausibly_fast', '', ''),
('faster than any device', 'saturated: p50_us=4.9, p99_us=6', 'warning implausibly_fast',
    'half of the syncs with fdatasync took less than 4.9 us', 'p50_us=4.9'),
('as fast as a device may be', 'saturated: p50_us=5, p99_us=6', '', '', ''),
('no disk is known, but none is so fast',
    'run: device=null, filesystem=null; storage: disks=[]; saturated: p50_us=2, p99_us=6',
    'warning implausibly_fast', '', ''),
('persistent memory',
    'run: device=pmem0; storage: disks=[{"name": "pmem0", "rotational": false, "virtual": '
    'false}]; saturated: p50_us=2, p99_us=6', '', '', ''),
-- write_amplification
('btrfs', 'run: filesystem=btrfs; storage.device_bytes_per_op: 2=81920; '
    'storage.device_bytes_error: 2=4096',
    'warning write_amplification',
    'each sync of 8192 bytes makes nvme0n1 write 80 kB (10.0 times as much, at least 9.0) / '
    'btrfs writes its log tree',
    'device_bytes_per_op=81920, other_bytes_per_op=0, written_bytes=8192, amplification=10.0, '
    'amplification_low=9.0, amplification_high=11.0'),
('zfs', 'run: filesystem=zfs, device=null; storage.device_bytes_per_op: 2=81920',
    'warning write_amplification',
    'makes the device write 80 kB (10.0 times as much, at least 10.0) / Check recordsize', ''),
('four times as much and a byte', 'storage.device_bytes_per_op: 2=32769',
    'warning write_amplification', 'Another wal_sync_method', ''),
('four times as much', 'storage.device_bytes_per_op: 2=32768', '', '', ''),
-- 10,000,000 bytes a second are 5,790 in the time of a sync
('four times as much without twice the background',
    'storage.others: bytes_per_sec=10000000; storage.device_bytes_per_op: 2=44348', '', '', ''),
('more even so', 'storage.others: bytes_per_sec=10000000; storage.device_bytes_per_op: 2=44349',
    'warning write_amplification', '', 'other_bytes_per_op=5790, written_bytes=8192'),
-- the two errors, of 3,000 and 4,000 bytes a sync, are one of 5,000
('the errors of both count, and are too large',
    'storage.device_bytes_error: 2=3000; storage.others: bytes_per_sec_error=6908463; '
    'storage.device_bytes_per_op: 2=42767', '', '', ''),
('the errors of both are small enough',
    'storage.device_bytes_error: 2=3000; storage.others: bytes_per_sec_error=6908463; '
    'storage.device_bytes_per_op: 2=42769', 'warning write_amplification', '', ''),
-- 400 syncs of 579 us took 0.2316 s; a background seen for 0.067 s made it 21.2 on a shared disk
('the background was seen for a moment',
    'storage.others: seconds=0.2315; storage.device_bytes_per_op: 2=173670', '', '', ''),
('the background was seen for as long as the syncs',
    'storage.others: seconds=0.2317; storage.device_bytes_per_op: 2=173670',
    'warning write_amplification', '(21.2 times as much', ''),
-- 100 bytes are a page or two, on average 100 + 8192 - 4 bytes
('small flushes', 'run: flush_size=100; storage.device_bytes_per_op: 2=33153',
    'warning write_amplification', '', 'written_bytes=8288'),
('the error is not known', 'storage: device_bytes_error=null; storage.device_bytes_per_op: 2=81920',
    '', '', ''),
-- software_bound: 3,023 us while the disks are under 20 percent busy are the field report's
('slow above an idle disk', 'as=slow', 'warning software_bound',
    'takes 3023 us, but the device is idle 81 % of that time',
    'mean_us=3023, device_utilization=0.19'),
('a quarter busy', 'saturated: mean_us=3023; storage.device_utilization: 7=0.25', '', '', ''),
('a millisecond', 'saturated: mean_us=1000; storage.device_utilization: 7=0.1', '', '', ''),
('a millisecond and more', 'saturated: mean_us=1000.1; storage.device_utilization: 7=0.249',
    'warning software_bound', '', ''),
('slow for less than a tenth of a second',
    'saturated: ops=33, mean_us=3023; storage.device_utilization: 7=0', '', '', ''),
('slow for a tenth of a second', 'saturated: ops=34, mean_us=3023; storage.device_utilization: 7=0',
    'warning software_bound', 'idle 100 %', ''),
-- slow_tail
('a long tail', 'paced: p99_us=5701', 'warning slow_tail',
    'takes 5701 us or more, 10 times the median (paced)', 'test=paced, p50_us=570, p99_us=5701'),
('a tail', 'paced: p99_us=5700; saturated: p99_us=2650', '', '', ''),
('a long tail back to back', 'saturated: p99_us=2651', 'warning slow_tail', '(saturated)',
    'test=saturated, p99_us=2651'),
-- counters_shared: 100 flushes a second are 0.058 in the time of a sync
('others flush too', 'storage.others: flushes_per_sec=100, most_flushes_per_sec=180',
    'info counters_shared', 'background I/O flushes nvme0n1 100 times a second',
    'other_flushes_per_op=0.058, flushes_per_op=1; others: flushes_per_sec=100'),
('nobody was heard, but not for long', 'storage.others: most_flushes_per_sec=300', '', '', ''),
('others hardly flush', 'storage.others: flushes_per_sec=80, most_flushes_per_sec=170', '', '', ''),
-- counters_unknown
('no counters',
    'durable=unknown; storage: disks=[], no_counters=no disk can be named; run: device=null; '
    'storage.device_bytes_per_op: 2=null', 'info counters_unknown',
    'the counters of the device were not read: no disk can be named',
    'no_counters=no disk can be named'),
('only flushes are counted',
    'storage: disks=[{"name": "nvme0n1", "write_cache": "write back", "fua": false, '
    '"rotational": false, "counts_flushes_only": true}]; storage.device_bytes_per_op: 2=null; '
    'storage.device_utilization: 7=null', 'info counters_unknown',
    'I/O statistics of nvme0n1 are disabled: only its flushes are counted', ''),
('some counters that went backwards', 'storage: readings_lost=3', '', '', ''),
('counters that went backwards', 'storage: readings_lost=3; storage.device_bytes_per_op: 2=null',
    'info counters_unknown',
    'the counters of nvme0n1 were not read: 3 readings failed or went backwards',
    'readings_lost=3, disks=[{"name": "nvme0n1"}]'),
-- direct_io_refused: rows beside those of the current method, in any order
('O_DIRECT is taken, or fails for another reason',
    'a: ordinal=11, method=open_sync, status=ok; b: ordinal=12, method=open_sync, status=error',
    '', '', ''),
('O_DIRECT is refused',
    'run: filesystem=xfs; a: ordinal=11, method=open_datasync, status=no_direct_io; '
    'b: ordinal=12, method=open_sync, status=no_direct_io; '
    'c: ordinal=13, test=saturated, method=open_sync, status=no_direct_io',
    'info direct_io_refused', 'the file system (xfs) refuses O_DIRECT / PostgreSQL works', ''),
('by nobody knows whom',
    'run: filesystem=null, server_version_num=150000; a: ordinal=11, status=no_direct_io',
    'info direct_io_refused',
    'the file system (unknown) refuses O_DIRECT / An open_* method with wal_level = minimal', ''),
-- the method in use is looked at, if the run measured it, here chosen after the run
('another method since', 'as=no flush; run: wal_sync_method=fsync', 'error flush_missing',
    'syncs with fdatasync send no flush', 'method=fdatasync'),
('another method since, which the run did not measure',
    'as=no flush; run: wal_sync_method=fsync; paced: ops=0', 'error flush_missing, '
    'warning implausibly_fast, warning slow_tail, warning write_amplification',
    'syncs with fsync send no flush', 'method=fsync'),
('a method that was not measured twice', 'as=no flush; saturated: test=other', '', '', ''),
('what O_DIRECT would do is not looked at',
    'z: ordinal=11, test=saturated, direct_io=true, p50_us=1', '', '', '');

-- drift, of runs in this order: an SSD's cache on, then off, 13,786 syncs a second, then 519
INSERT INTO run_scenario VALUES
('the cache was turned off', 'paced: p50_us=73 | paced: p50_us=1926', 'warning drift',
    'a paced sync with fdatasync takes 1926 us, 26.38 times as long as before (median of 1 earlier'
    ' run)', 'p50_us=1926, earlier_runs=1, earlier_median_us=73, noise=0.01, margin=0.05'),
-- 5 percent of margin, 1 of noise
('slower by more', ' | paced: p50_us=605', 'info drift', '1.06 times', ''),
('twice as slow', ' | paced: p50_us=1140', 'info drift', '2.00 times', ''),
('faster by more', ' | paced: p50_us=535', 'info drift', '0.94 times', ''),
('noise is not known',
    'paced: relative_speed_low=null | paced: p50_us=604, relative_speed_low=null', 'info drift',
    '1.06 times', ''),
-- of the same kind
('as many pages', 'run: flush_size=100; paced: p50_us=73 | ', 'warning drift', '7.81 times', ''),
('about the same pace', 'run: flush_interval=2.5 ms; paced: p50_us=73'
    ' | run: flush_interval=10 ms; paced: p50_us=73 | ', 'warning drift', 'of 2 earlier runs', ''),
('neither device nor file system is known, as before',
    'run: device=null, filesystem=null; paced: p50_us=73 | run: device=null, filesystem=null',
    'warning drift', '7.81 times', ''),
('another method was the current one, but both were measured',
    'run: wal_sync_method=fsync; paced: p50_us=73 | ', 'warning drift', '7.81 times', '');
INSERT INTO run_scenario (name, given) VALUES
('slower, by the margin and the noise', ' | paced: p50_us=604'),
('faster, by the margin and the noise', ' | paced: p50_us=536'),
('the newest is noisy', ' | paced: p50_us=605, relative_speed_low=0.95, relative_speed_high=1.05'),
('one before was noisy',
    'paced: relative_speed_low=0.95, relative_speed_high=1.05 |  | paced: p50_us=605'),
('of several the median counts', 'paced: p50_us=100 |  | paced: p50_us=9000 | '),
('what is long ago', repeat('paced: p50_us=100 | ', 30) || repeat(' | ', 20)),
('back to back only', ' | saturated: p50_us=1926, p99_us=1926'),
('more pages', 'run: flush_size=8193; paced: p50_us=73 | '),
('another pace', 'run: flush_interval=2.4 ms; paced: p50_us=73'
    ' | run: flush_interval=10.1 ms; paced: p50_us=73 | '),
('another device', 'run: device=sdb; paced: p50_us=73 | '),
('another cluster', 'run: system_identifier=1; paced: p50_us=73 | '),
('another host', 'run: host=elsewhere; paced: p50_us=73 | '),
('a device that is not known', 'run: device=null; paced: p50_us=73 | '),
('another file system', 'run: filesystem=xfs; paced: p50_us=73 | '),
('another location', 'run: location=pg_default; paced: p50_us=73, p99_us=99 | '),
('another suite', 'run: suite=pg_test_fsync; paced: p50_us=73 | '),
('an import, or a run of few samples', 'run: usable_for_advice=false; paced: p50_us=73 | '),
('another method', 'paced: p50_us=73, method=open_sync | '),
('another regime', 'paced: p50_us=73, test=saturated | '),
('not measured before', 'paced: p50_us=73, ops=0 | '),
('of the method in use, which was not current', 'run: wal_sync_method=fsync; paced: p50_us=73'
    ' | run: wal_sync_method=fsync; saturated: p50_us=265');

-- --------------------------------------------------------------------- tests

CREATE TEMP TABLE scenario AS
SELECT 'storage: ' || name AS name, given, codes, says, '' AS shows FROM storage_scenario
UNION ALL SELECT 'run: ' || name, given, codes, says, shows FROM run_scenario;
-- everything that is found, for what must hold of any of it
CREATE TEMP TABLE found AS
SELECT 'storage: ' || s.name AS name, f.*
FROM storage_scenario AS s, LATERAL pg_temp.storage_found(s.given) AS f
UNION ALL
SELECT 'run: ' || s.name, f.* FROM run_scenario AS s, LATERAL pg_temp.run_found(s.given) AS f;

SELECT is((SELECT coalesce(string_agg(concat_ws(' ', nullif(f.location, 'pg_wal'), f.severity,
                                                f.code), ', '
                                      ORDER BY f.location <> 'pg_wal', f.location, f.severity,
                                               f.code), '')
           FROM found AS f WHERE f.name = s.name), s.codes, s.name)
FROM scenario AS s;
SELECT ok(EXISTS (SELECT FROM found AS f WHERE f.name = s.name
                  AND strpos(f.message || ' / ' || f.hint, says) > 0), s.name || ': says ' || says)
FROM scenario AS s WHERE says <> '';
SELECT ok(EXISTS (SELECT FROM found AS f WHERE f.name = s.name
                  AND f.evidence @> pg_temp.given(shows)), s.name || ': shows ' || shows)
FROM scenario AS s WHERE shows <> '';
SELECT is(evidence -> 'methods', '["open_datasync", "open_sync"]', 'each method once')
FROM found WHERE name = 'run: O_DIRECT is refused';

-- of whatever was found
SELECT is_empty('SELECT f.* FROM found AS f WHERE (' || holds || ') IS NOT TRUE', holds)
FROM unnest(ARRAY[
    $$severity IN ('error', 'warning', 'info')$$,
    $$message ~ '^[^ ].*[^ .]$'$$,
    $$hint ~ '^[^ ].*[^ ]$'$$,
    -- no gap where a value was not known
    $$message || ' / ' || hint !~ 'NULL|  |[^a-z_]\(\)| [,:;)](?! )| \)|\( '$$,
    $$jsonb_typeof(evidence) = 'object' AND evidence <> '{}'$$,
    $$name LIKE 'storage: %' OR evidence ? 'run_id'$$]) AS holds;

-- the margin is the reader's: two runs that differ by 23 %
SET LOCAL pg_sync_probe.margin = 0.5;
SELECT is_empty($$SELECT * FROM pg_temp.run_found(' | paced: p50_us=700')$$,
                'no drift within a wide margin');
SET LOCAL pg_sync_probe.margin = 0.05;

-- only the newest run of a location counts, and only of the wal suite; here one at pg_default, one
-- of the other suite, and one at a tablespace that was dropped
SELECT bag_eq($$SELECT location, code FROM pg_temp.run_found('as=no flush | as=no flush; '
        'run: location=pg_default; storage.others: flushes_per_sec=100, most_flushes_per_sec=200 | '
        'run: suite=pg_test_fsync | as=no flush; run: location=gone')$$,
    $$VALUES ('pg_wal'::name, 'flush_missing'), ('pg_default', 'flush_missing'),
             ('pg_default', 'counters_shared')$$, 'both locations, but no other');
SELECT pg_temp.record('') AS run_id \gset
SELECT set_eq('SELECT location FROM run_findings', '{pg_default}'::name[],
    'a newer run at pg_wal, with flushes, is the one that counts there');

-- ------------------------------------------------------------------ the view

-- Both locations are on one file system.
UPDATE examined SET shares_filesystem_with = 'pg_wal', mount_point = '/data'
WHERE name = 'pg_default';
CREATE TEMP TABLE usual AS SELECT * FROM examined;

-- What the view has after these runs, if the locations have become like that.
CREATE FUNCTION pg_temp.view_found(places text, runs text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM sync_probe.runs;
    DELETE FROM examined;
    INSERT INTO examined SELECT * FROM usual;
    PERFORM pg_temp.record(r) FROM regexp_split_to_table(runs, ' [|] ') AS r WHERE runs <> '';
    WITH changed AS (
        DELETE FROM examined
        RETURNING jsonb_populate_record(examined, coalesce(pg_temp.given(places) -> name, '{}')))
    INSERT INTO examined SELECT (c.jsonb_populate_record).* FROM changed AS c;
    RETURN (SELECT string_agg(concat_ws(' ', nullif(location, 'pg_wal'), code), ', '
                              ORDER BY location <> 'pg_wal', location, code)
            FROM sync_probe.findings WHERE code <> 'wal_shares_device');
END
$$;
SELECT is(pg_temp.view_found(places, runs), codes, name)
FROM (VALUES
    -- what no probe has seen, unless something else says so
    ('not probed', 'pg_wal: write_cache=null; '
        'pg_default: write_cache=null, shares_filesystem_with=null', '',
     'durable_unknown, pg_default durable_unknown'),
    ('a file system that is told once', 'pg_wal: write_cache=null', '', 'durable_unknown'),
    ('a volatile cache says so', '', '', 'write_cache_volatile'),
    -- a power test stands above what counters do not tell
    ('counters do not tell', '', 'durable=unknown, why=there were fewer flushes than syncs',
     'durable_unknown, write_cache_volatile'),
    ('a power test does', '', 'durable=unknown, why=there were fewer flushes than syncs | '
        'run: suite=power_test, usable_for_advice=false, durable=proven', 'write_cache_volatile'),
    -- since this server was started
    ('fsync was off', '', 'run: suite=stream, location=pg_default, fsync=false',
     'fsync_was_off, write_cache_volatile'),
    ('fsync was on', '', 'run: suite=stream, fsync=true', 'write_cache_volatile'),
    ('fsync was off before', '', 'run: suite=stream, fsync=false, finished_at=2000-01-01',
     'write_cache_volatile'),
    ('fsync was off elsewhere', '', 'run: suite=stream, fsync=false, host=elsewhere',
     'write_cache_volatile'),
    -- recommendations.sql has what makes a run outdated
    ('a run of today', '', 'durable=yes', 'write_cache_volatile'),
    ('a run of other times', 'pg_wal: mount_options=rw,noatime', 'durable=yes',
     'outdated_run, write_cache_volatile'),
    -- a mount without barriers, and all that follows from it
    ('with barriers', '', ' | as=too fast',
     'drift, flush_missing, implausibly_fast, write_cache_volatile'),
    ('two mounts, two findings', 'pg_wal: mount_options=rw,nobarrier; '
        'pg_default: mount_options=rw,nobarrier, shares_filesystem_with=null', ' | as=too fast',
     'barrier_off, pg_default barrier_off'),
    ('one mount, one finding', 'pg_wal: mount_options=rw,nobarrier', '', 'barrier_off'),
    ('and what a probe makes of it', 'pg_wal: mount_options=rw,nobarrier', ' | as=too fast',
     'barrier_off'))
    AS v (name, places, runs, codes);
SELECT is(evidence - 'mount_options' - 'write_cache', format(
    '{"locations": ["pg_default", "pg_wal"], "run_id": %s, "also_found": ["drift", "flush_missing",
      "implausibly_fast", "outdated_run", "write_cache_volatile"]}', max(r.run_id))::jsonb,
    'its evidence names them')
FROM sync_probe.findings, sync_probe.runs AS r WHERE code = 'barrier_off' GROUP BY evidence;

SELECT pg_temp.view_found('pg_wal: mount_options=rw,noatime', 'durable=yes');
INSERT INTO found SELECT 'outdated', f.* FROM sync_probe.findings AS f WHERE code = 'outdated_run';
SELECT results_eq(
    $$SELECT location, severity, regexp_replace(message, 'run \d+', 'run N'), commands,
             evidence -> 'changes' FROM found WHERE name = 'outdated'$$,
    $$VALUES ('pg_wal'::name, 'warning',
              'run N is outdated: mount options were relatime, are noatime',
              '{SELECT * FROM sync_probe.probe()}'::text[],
              '["mount options were relatime, are noatime"]'::jsonb)$$, 'what has changed');

-- what a probe has found stands there instead of the advice to probe
CREATE FUNCTION pg_temp.cache_hint(of_location text) RETURNS text LANGUAGE sql AS $$
    SELECT regexp_replace(concat_ws(' ', hint, commands::text), '([Rr]un) \d+', '\1 N')
    FROM sync_probe.findings WHERE code = 'write_cache_volatile' AND location = of_location
$$;
SELECT pg_temp.view_found('pg_default: shares_filesystem_with=null', 'durable=no');
SELECT is(pg_temp.cache_hint('pg_default'),
          'Probe it. Column durable of sync_probe.recommendations then shows whether they do.'
          ' {"SELECT * FROM sync_probe.probe(''pg_default'')"}', 'a volatile cache');
SELECT is(pg_temp.cache_hint('pg_wal'), hint, 'a volatile cache, ' || run)
FROM (VALUES ('durable=no | run: location=pg_default, durable=yes',
              'In run N, syncs with fdatasync did not reach it.'),
             ('location=pg_default, durable=no',
              'In run N, syncs with fdatasync did not reach it.'),
             ('durable=yes', 'In run N, syncs with fdatasync reached it.'),
             ('durable=no, fsync=false', 'In run N, fsync was off.'),
             ('durable=no_cache', 'In run N, it had no volatile cache.'),
             ('durable=unknown', 'Run N did not show whether syncs with fdatasync reach it.'))
         AS v (run, hint),
     pg_temp.view_found('', 'run: ' || run);

-- what cannot be written to is not to be probed, nor is its run outdated by that, or to be repeated
SELECT is_empty($$SELECT commands, verdict FROM sync_probe.recommendation_details
                  WHERE location = 'pg_default' AND (commands <> '{}' OR verdict = 'outdated')
                  UNION ALL SELECT commands, code FROM sync_probe.findings
                  WHERE location = 'pg_default' AND commands <> '{}'$$, 'read-only: ' || runs)
FROM unnest('{"","run: location=pg_default, stop_early=true"}'::text[]) AS runs,
     pg_temp.view_found('pg_default: mount_options=ro,relatime, shares_filesystem_with=null', runs);

-- both sorts; here a reserve that none can leave
SELECT pg_temp.view_found('pg_default: shares_filesystem_with=null',
                          'as=no flush; run: location=pg_default');
SET LOCAL pg_sync_probe.reserve_percent = 100;
SELECT set_has('SELECT location, code FROM sync_probe.findings',
    $$VALUES ('pg_wal'::name, 'low_space'), ('pg_default', 'low_space'),
             ('pg_default', 'flush_missing')$$, 'findings of storage and of runs');
SELECT ok(count(*) > 2 AND bool_and(place = sorted),
          'pg_wal first, and of each location the worst first')
FROM (SELECT row_number() OVER () AS place,
             row_number() OVER (ORDER BY location <> 'pg_wal', location,
                                strpos('error warning info', severity), code) AS sorted
      FROM sync_probe.findings) AS in_order;
SET LOCAL pg_sync_probe.reserve_percent = 0;
SELECT is_empty($$SELECT FROM sync_probe.findings
                  WHERE code = 'low_space' AND location <> 'pg_wal'$$,
                'none is low if nothing is to be left');

SELECT ok(sync_probe_internal.busiest_tablespace() IN (SELECT spcname FROM pg_tablespace),
          'one of the tablespaces is the busiest');

-- trial_not_restored is in test/t/018_trial.pl; a publication came after the extension
SET LOCAL client_min_messages = error;
CREATE PUBLICATION everything FOR ALL TABLES;
SELECT results_eq($$SELECT location, severity, evidence FROM sync_probe.findings
                    WHERE code = 'history_published'$$,
    $$VALUES ('pg_wal'::name, 'warning', '{"publications": ["everything"]}'::jsonb)$$,
    'the tables are published');
DROP PUBLICATION everything;

-- every command is one statement, and one that the server understands
SELECT set_eq('SELECT DISTINCT code FROM found WHERE commands IS NOT NULL',
    '{fsync_off, write_cache_volatile, cow_wal_settings, drift, outdated_run}'::text[],
    'what has commands');
SELECT CASE WHEN command ~ '^SELECT [^;]*[^; ]$'
            THEN lives_ok('PREPARE once AS ' || command || '; DEALLOCATE once', command)
            ELSE matches(command, '^ALTER SYSTEM SET [a-z_]+ = (on|off)$', command) END
FROM (SELECT DISTINCT unnest(commands) FROM found) AS c (command);

-- written by hand or by another version: nothing to say is better than an error
SELECT pg_temp.record('') AS run_id \gset
SELECT lives_ok(format('UPDATE sync_probe.runs SET storage = %L; SELECT * FROM run_findings',
                       storage), 'storage: ' || coalesce(storage, 'none'))
FROM unnest(ARRAY[NULL, '{}', '{"disks": []}', '{"disks": [{}]}', '{"others": {}}',
    '{"others": {"bytes_per_sec": 1}}', '{"below_flushes_per_op": {}}',
    '{"zfs": {"dataset": "d", "pool": "p", "sync": "standard"}}']) AS storage;
-- figures that no probe records, but a hand might
SELECT lives_ok(format('SELECT * FROM pg_temp.run_found(%L)', given || ' | ' || given), given)
FROM unnest(ARRAY['run: flush_size=0; storage.device_bytes_per_op: 2=9000',
                  'run: flush_size=2147483647; paced: p50_us=0; saturated: p50_us=0']) AS given;

\ir include/end.sql
