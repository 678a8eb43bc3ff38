-- What sync_probe.findings makes of recorded measurements and of storage.
--
-- A scenario is a row: how it differs from storage and from a run that nothing is to be said
-- about, and all that must be said then.  That list is complete, so that a scenario with none is
-- a near miss.  given() of the stage has the notation of differences.
\ir include/begin.sql
\ir include/stage.sql

-- Everything that was found, for what must hold of any of it.
CREATE TEMP TABLE found (name text, location name, severity text, code text, message text,
    hint text, commands text[], evidence jsonb);

-- ------------------------------------------------------------------- storage

-- Places are separated by " | "; section server of the first has settings.  "says" is in message
-- or hint.
CREATE TEMP TABLE storage_scenario (name text, places text, codes text, says text);

INSERT INTO storage_scenario VALUES
('a disk in order', '', '', ''),
('a tablespace in order',
    ' | name=fast, holds_wal=false, mount_point=/fast, device=sdb, disks=["sdb"]', '', ''),
('fsync off', 'server: fsync=false', 'pg_wal error fsync_off',
    'initdb --sync-only, or unmount the file systems: data written before may still be in memory'),
('nobarrier above a volatile cache',
    'mount_options=rw,nobarrier, write_cache=write back, fua=true', 'pg_wal error barrier_off',
    '/data is mounted with nobarrier'),
('barrier=0, cache unknown', 'mount_options=rw,barrier=0,relatime, write_cache=null',
    'pg_wal error barrier_off', 'with barrier=0'),
('a volatile overlay', 'filesystem=overlay, device=null, mount_options=rw,fsync=volatile',
    'pg_wal info device_unknown, pg_wal warning barrier_off, pg_wal warning overlay_filesystem',
    'is mounted with fsync=volatile'),
('f2fs without barriers', 'filesystem=f2fs, mount_options=rw,fsync_mode=nobarrier',
    'pg_wal warning barrier_off', 'remount,fsync_mode=posix /data'),
('nobarrier above a cache that is not volatile', 'mount_options=nobarrier',
    'pg_wal warning barrier_off', 'remount,barrier /data'),
('barriers on, by name', 'mount_options=rw,barrier,barrier=1,nobarriers', '', ''),
('a volatile cache', 'write_cache=write back', 'pg_wal info write_cache_volatile',
    'nvme0n1 has a volatile write cache'),
('a volatile cache under a name to be quoted',
    'name=O''Hara, holds_wal=false, write_cache=write back', 'O''Hara info write_cache_volatile',
    'Probe it'),
('a volatile cache that takes FUA writes', 'write_cache=write back, fua=true', '', ''),
('tmpfs', 'filesystem=tmpfs, device=null, disks=null, write_cache=null, fua=null',
    'pg_wal error memory_filesystem',
    '/data is tmpfs: its files are lost when the machine restarts / Stop the server'),
('pg_default on tmpfs',
    'name=pg_default, holds_wal=false, filesystem=tmpfs, device=null, disks=null',
    'pg_default error memory_filesystem', 'move the data directory'),
('a tablespace on ramfs',
    'name=fast one, holds_wal=false, filesystem=ramfs, device=null, disks=null',
    'fast one error memory_filesystem', 'then drop it'),
('overlay', 'filesystem=overlay', 'pg_wal warning overlay_filesystem',
    'Put the data directory on a volume'),
('less than the reserve', 'size_bytes=1000000000000, available_bytes=49999999999',
    'pg_wal warning low_space', 'lower max_wal_size'),
('just the reserve', 'size_bytes=1000000000000, available_bytes=50000000000', '', ''),
('less than max_wal_size, also with the WAL that is there',
    'size_bytes=10000000000, available_bytes=1000000000; server: max_wal_size=1000000000000000',
    'pg_wal warning low_space', ''),
('less than max_wal_size, by less than a segment: pg_wal has one',
    'available_bytes=59999999999; server: max_wal_size=60000000000', '', ''),
('less than max_wal_size, but for a tablespace',
    'name=fast, holds_wal=false, available_bytes=59000000000; server: max_wal_size=60000000000',
    '', ''),
('a tablespace with less than the reserve', 'name=fast, holds_wal=false, available_bytes=1000000',
    'fast warning low_space', 'no probe runs'),
('space unknown', 'size_bytes=null, available_bytes=null', '', ''),
('btrfs', 'filesystem=btrfs', 'pg_wal warning cow_wal_settings',
    'pg_wal is on btrfs, a copy-on-write file system: recycling and zero-filling WAL files'),
('zfs', 'filesystem=zfs, device=null, disks=null; server: wal_recycle=false',
    'pg_wal warning cow_wal_settings', 'file system: zero-filling WAL files may gain'),
('zfs with the settings for it',
    'filesystem=zfs, device=null, disks=null; server: wal_recycle=false, wal_init_zero=false', '',
    ''),
('btrfs with nodatacow', 'filesystem=btrfs, mount_options=rw,nodatacow,relatime', '', ''),
('WAL beside the busiest tablespace', ' | name=pg_default, holds_wal=false',
    'pg_wal info wal_shares_device', 'pg_wal shares nvme0n1 with pg_default'),
('one disk of several is shared',
    'disks=["sda", "sdb"], device=md0 | name=pg_default, holds_wal=false, mount_point=/tables, '
    'disks=["sdb", "sdc"]', 'pg_wal info wal_shares_device', 'shares md0'),
('a file system without a disk is shared',
    'filesystem=nfs4, device=null, disks=null | name=pg_default, holds_wal=false, '
    'filesystem=ext4, disks=null',
    'pg_wal info wal_shares_device, pg_wal warning network_filesystem', 'shares /data with'),
('disks of their own', ' | name=pg_default, holds_wal=false, mount_point=/tables, disks=["sdb"]',
    '', ''),
('another tablespace is the busiest',
    'server: busiest=fast | name=pg_default, holds_wal=false | name=fast, holds_wal=false, '
    'mount_point=/fast, disks=["sdb"]', '', ''),
('no disk can be named', 'device=null, disks=null, write_cache=null, fua=null',
    'pg_wal info device_unknown', 'below /data (ext4)'),
('nothing can be told',
    'device=null, disks=null, write_cache=null, fua=null, filesystem=null, mount_point=null, '
    'mount_options=null, size_bytes=null, available_bytes=null', 'pg_wal info device_unknown',
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
    'pg_wal info write_cache_volatile, pg_wal warning low_space, pg_wal warning '
    'overlay_filesystem', ''),
('a file system that is not mounted, on that of pg_wal',
    ' | name=fast, holds_wal=false, shares_filesystem_with=pg_wal, missing=true',
    'fast error tablespace_missing', ''),
('mounted read-only', 'mount_options=ro,relatime', 'pg_wal error read_only_filesystem',
    '/data is mounted read-only'),
('read-only only by name', 'mount_options=rw,errors=remount-ro', '', ''),
('all at once',
    'filesystem=overlay, mount_options=nobarrier, write_cache=write back, available_bytes=1; '
    'server: fsync=false | name=pg_default, holds_wal=false',
    'pg_wal error barrier_off, pg_wal error fsync_off, pg_wal info wal_shares_device, pg_wal '
    'info write_cache_volatile, pg_wal warning low_space, pg_wal warning overlay_filesystem', '');
INSERT INTO storage_scenario
SELECT 'network: ' || filesystem,
       format('filesystem=%s, device=null, disks=null, write_cache=null', filesystem),
       'pg_wal warning network_filesystem',
       '/data is ' || filesystem || ': another machine decides whether a sync reaches a disk'
FROM unnest('{nfs,nfs4,cifs,smb3,9p,ceph,fuse.sshfs,fuse.glusterfs,fuse.s3fs,fuse.davfs,
              fuse.davfs2}'::text[]) AS filesystem
UNION ALL
SELECT 'not on a network: ' || filesystem,
       format('filesystem=%s; server: wal_recycle=false, wal_init_zero=false', filesystem), '', ''
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
     LATERAL (SELECT ARRAY(SELECT pg_temp.place(pg_temp.given(p) - 'server')
                           FROM regexp_split_to_table(s.places, ' [|] ') AS p),
                     '{"fsync": true, "wal_recycle": true, "wal_init_zero": true,
                       "max_wal_size": 1073741824, "reserve_percent": 5,
                       "busiest": "pg_default"}' || coalesce(pg_temp.given(
                         split_part(s.places, ' | ', 1)) -> 'server', '{}')) AS e (facts, settings),
     LATERAL jsonb_to_record(e.settings) AS c (fsync boolean, wal_recycle boolean,
         wal_init_zero boolean, max_wal_size bigint, reserve_percent integer,
         busiest name),
     unnest(sync_probe_internal.storage_findings(e.facts, NULL, c.fsync, c.wal_recycle,
         c.wal_init_zero, c.max_wal_size, c.reserve_percent, c.busiest)) AS f;

-- ---------------------------------------------------------------------- runs

CREATE TEMP VIEW run_findings AS
SELECT f.*
FROM sync_probe_internal.advice(NULL) AS n,
     unnest(sync_probe_internal.run_findings(n.run, n.measured)) AS f;

-- What several scenarios have in common, under the name that they give as "as".
CREATE TEMP TABLE common (name text, given text);
INSERT INTO common VALUES
('no flush', 'durable=no; paced: flushes_per_op=0; saturated: flushes_per_op=0'),
('loop', 'run: device=loop0; storage: backing_file=/srv/disk.img, backing_filesystem=ext4, '
    'disks=[{"name": "loop0"}, {"name": "vda", "write_cache": "write back", "below": true}]'),
('zfs', 'run: filesystem=zfs, device=null; '
    'storage.zfs: dataset=tank/pg, pool=tank, sync=standard'),
('rotating', 'run: device=sda; '
    'storage: disks=[{"name": "sda", "rotational": true, "virtual": false}]'),
('slow', 'saturated: mean_us=3023; storage.device_utilization: 7=0.19');

-- A run of the wal suite on a good SSD; fdatasync is the current method, fsync is slower.  Given
-- are differences of the run, its storage, and the paced and saturated rows of fdatasync; durable
-- of fdatasync if it is not yes, and why it is unknown.  Members of the storage that are null are
-- left out.
CREATE FUNCTION pg_temp.record(differences text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    id bigint;
    changes jsonb := pg_temp.given(differences);
BEGIN
    changes := pg_temp.merged(coalesce((SELECT pg_temp.given(c.given) FROM common AS c
                                      WHERE c.name = changes ->> 'as'), '{}'), changes);
    id := pg_temp.record_run(jsonb_build_object('storage', pg_temp.merged(
        '{"source": "/dev/nvme0n1", "mount_options": "rw,relatime",
          "write_cache": "write back", "fua": false,
          "disks": [{"name": "nvme0n1", "write_cache": "write back", "fua": false,
                     "rotational": false, "virtual": false}],
          "others": {"seconds": 1.5, "flushes_per_sec": 0, "most_flushes_per_sec": 2,
                     "bytes_per_sec": 0, "bytes_per_sec_error": 0},
          "device_bytes_per_op": {"2": 10000, "3": 99999, "7": 10000, "8": 10000},
          "device_bytes_error": {"2": 0, "3": 0},
          "device_utilization": {"2": 0.9, "3": 0.9, "7": 0.9, "8": 0.9}}'
        || jsonb_build_object('durable_unknown', changes -> 'why'),
        coalesce(changes -> 'storage', '{}')))
        || jsonb_build_object('durable', coalesce(changes ->> 'durable', 'yes'))
        || CASE changes ->> 'durable' WHEN 'no'
           THEN '{"verdict": "unsafe", "recommended_value": null,
                  "reason": "syncs with fdatasync do not reach the device"}' ELSE '{}' END::jsonb
        || coalesce(changes -> 'run', '{}'));
    INSERT INTO sync_probe.measurements
    SELECT (jsonb_populate_record(NULL::sync_probe.measurements,
        '{"direct_io": false, "status": "ok", "ops": 400, "flushes_per_op": 1}'
        || jsonb_build_object('run_id', id, 'ordinal', m.ordinal, 'test', m.test,
                              'method', m.method, 'durable', CASE m.method WHEN 'fdatasync'
                                  THEN coalesce(changes ->> 'durable', 'yes') ELSE 'no' END)
        || pg_temp.given(m.figures)
        || CASE m.method WHEN 'fdatasync' THEN coalesce(changes -> m.test, '{}') ELSE '{}' END)).*
    FROM (VALUES
        (2, 'paced', 'fdatasync', 'ops_per_sec=1727, mean_us=579, p50_us=570, p99_us=900, '
            'relative_speed_low=0.99, relative_speed_high=1.01'),
        (3, 'paced', 'fsync', 'ops_per_sec=1196, mean_us=836, p50_us=830, p99_us=99999, '
            'flushes_per_op=0'),
        (4, 'paced', 'fsync_writethrough', 'status=unsupported, ops=null'),
        (7, 'saturated', 'fdatasync', 'ops=4000, ops_per_sec=3745, mean_us=267, p50_us=265, '
            'p99_us=500'),
        (8, 'saturated', 'fsync', 'ops=4000, ops_per_sec=3676, mean_us=272, p50_us=2, '
            'p99_us=99999, flushes_per_op=0')) AS m (ordinal, test, method, figures);
    UPDATE sync_probe.runs AS r
    SET storage = jsonb_strip_nulls(r.storage || jsonb_build_object(
        'earlier', sync_probe_internal.earlier_runs(r)))
    WHERE r.run_id = id;
    RETURN id;
END
$$;

-- All that is said, with words in message or hint, and what is in the evidence of one of them.
CREATE TEMP TABLE run_scenario (name text, given text, codes text, says text, shows text);

INSERT INTO run_scenario VALUES
('an SSD in order', '', '', '', ''),
-- flush_missing
('no flush', 'as=no flush; saturated: flushes_per_op=0.02', 'error flush_missing',
    'fails, unless that cache is protected (capacitor, battery)',
    'saturated_flushes_per_op=0.02, write_cache=write back, fua=false'),
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
    'storage.lacking_share: 2=0.29, 3=0.9; storage.own_share: 2=0; paced: flushes_per_op=1.2',
    'error flush_missing, info counters_shared',
    'at least 29 % of the syncs with fdatasync ended without a flush on nvme0n1',
    'paced_flushes_per_op=1.2, lacking_share=0.29, own_share=0'),
('no flush, and none of others either', 'as=no flush; storage.lacking_share: 2=0.97',
    'error flush_missing', 'syncs with fdatasync send no flush to nvme0n1',
    'lacking_share=0.97, own_share=null'),
('nothing is written',
    'as=no flush; storage: write_cache=write through, writes_uncounted=false; '
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
('ZFS in order',
    'as=zfs; storage.zfs: logbias=latency, data_devices=["/dev/sda"], '
    'log_devices=["/dev/nvme0n1"]', '', '', ''),
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
('ZFS with devices that are not known', 'as=zfs; storage.zfs: data_devices=[], log_devices=[]',
    '', '', ''),
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
('a loop device',
    'as=loop; storage: backing_mount_options=rw,barrier=1; storage.others: '
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
('nobarrier under the backing file',
    'run: device=loop0; storage: backing_file=/srv/disk.img, '
    'backing_mount_options=rw,nobarrier,relatime', 'info loop_device, warning barrier_off',
    'on a file system mounted with nobarrier', 'mount_options=rw,nobarrier,relatime'),
-- implausibly_fast: 6,676 syncs a second are the field report's
('a rotating disk that is too fast', 'as=rotating; saturated: ops_per_sec=6676.001, p50_us=148',
    'warning implausibly_fast', '6676 syncs a second with fdatasync, but sda is a rotating disk',
    'ops_per_sec=6676.001, p50_us=148, flushes_per_op=1, disks=[{"name": "sda"}]'),
('a rotating disk, one a second too many', 'as=rotating; saturated: ops_per_sec=251',
    'warning implausibly_fast', '', ''),
('a rotating disk at its best', 'as=rotating; paced: ops_per_sec=300; saturated: ops_per_sec=250',
    '', '', ''),
('a virtual disk that says it rotates',
    'run: device=vda; storage: disks=[{"name": "vda", "rotational": true, "virtual": true}]', '',
    '', ''),
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
('btrfs',
    'run: filesystem=btrfs; storage.device_bytes_per_op: 2=81920; '
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
('large flushes', 'run: flush_size=100000; storage.device_bytes_per_op: 2=432641',
    'warning write_amplification', '', 'written_bytes=108160'),
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
('slow, and nobody knows why',
    'saturated: mean_us=3023; storage.device_utilization: 7=null', '', '', ''),
-- slow_tail
('a long tail', 'paced: p99_us=5701', 'warning slow_tail',
    'takes 5701 us or more, 10 times the median (paced)', 'test=paced, p50_us=570, p99_us=5701'),
('a tail', 'paced: p99_us=5700; saturated: p99_us=2650', '', '', ''),
('a long tail back to back', 'saturated: p99_us=2651', 'warning slow_tail', '(saturated)',
    'test=saturated, p99_us=2651'),
('too few operations for a tail', 'paced: p99_us=null; saturated: p99_us=null', '', '', ''),
-- counters_shared: 100 flushes a second are 0.058 in the time of a sync
('others flush too', 'storage.others: flushes_per_sec=100, most_flushes_per_sec=180',
    'info counters_shared', 'background I/O flushes nvme0n1 100 times a second',
    'other_flushes_per_op=0.058, flushes_per_op=1; others: flushes_per_sec=100'),
('nobody was heard, but not for long', 'storage.others: most_flushes_per_sec=300', '', '', ''),
('others hardly flush', 'storage.others: flushes_per_sec=80, most_flushes_per_sec=170', '', '',
    ''),
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
    'readings_lost=3, disks=[{"name": "nvme0n1"}]');

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

-- Runs in this order, separated by " | "; what the message says of the newest, or nothing.
CREATE TEMP TABLE drift_scenario (name text, runs text, says text);

INSERT INTO drift_scenario VALUES
-- an SSD's cache on, then off: 13,786 syncs a second, then 519
('the cache was turned off', 'paced: p50_us=73 | paced: p50_us=1926',
    'a paced sync with fdatasync takes 1926 us, 26.38 times as long as before (median of 1 earlier'
    ' run)'),
('nothing before', 'paced: p50_us=1926', ''),
-- 5 percent of margin, 1 of noise
('slower, by the margin and the noise', ' | paced: p50_us=604', ''),
('slower by more', ' | paced: p50_us=605', '1.06 times'),
('faster, by the margin and the noise', ' | paced: p50_us=536', ''),
('faster by more', ' | paced: p50_us=535', '0.94 times'),
('the newest is noisy',
    ' | paced: p50_us=605, relative_speed_low=0.95, relative_speed_high=1.05', ''),
('one before was noisy',
    'paced: relative_speed_low=0.95, relative_speed_high=1.05 |  | paced: p50_us=605', ''),
('noise is not known',
    'paced: relative_speed_low=null | paced: p50_us=604, relative_speed_low=null', '1.06 times'),
('of several the median counts', 'paced: p50_us=100 |  | paced: p50_us=9000 | ', ''),
('what is long ago', repeat('paced: p50_us=100 | ', 30) || repeat(' | ', 20), ''),
('back to back only', ' | saturated: p50_us=1926', ''),
-- of the same kind
('as many pages', 'run: flush_size=100; paced: p50_us=73 | ', '7.81 times'),
('more pages', 'run: flush_size=8193; paced: p50_us=73 | ', ''),
('about the same pace', 'run: flush_interval=2.5 ms; paced: p50_us=73'
    ' | run: flush_interval=10 ms; paced: p50_us=73 | ', 'of 2 earlier runs'),
('another pace', 'run: flush_interval=2.4 ms; paced: p50_us=73'
    ' | run: flush_interval=10.1 ms; paced: p50_us=73 | ', ''),
('another device', 'run: device=sdb; paced: p50_us=73 | ', ''),
('another cluster', 'run: system_identifier=1; paced: p50_us=73 | ', ''),
('another host', 'run: host=elsewhere; paced: p50_us=73 | ', ''),
('a device that is not known', 'run: device=null; paced: p50_us=73 | ', ''),
('another file system', 'run: filesystem=xfs; paced: p50_us=73 | ', ''),
('neither is known, as before',
    'run: device=null, filesystem=null; paced: p50_us=73 | run: device=null, filesystem=null',
    '7.81 times'),
('another location', 'run: location=pg_default; paced: p50_us=73 | ', ''),
('another suite', 'run: suite=pg_test_fsync; paced: p50_us=73 | ', ''),
('an import, or a run of few samples', 'run: usable_for_advice=false; paced: p50_us=73 | ', ''),
('another method was the current one, but both were measured',
    'run: wal_sync_method=fsync; paced: p50_us=73 | ', '7.81 times'),
('another method', 'paced: p50_us=73, method=open_sync | ', ''),
('another regime', 'paced: p50_us=73, test=saturated | ', ''),
('not measured before', 'paced: p50_us=73, ops=0 | ', '');

DO $$
DECLARE
    s drift_scenario;
BEGIN
    FOR s IN SELECT * FROM drift_scenario LOOP
        DELETE FROM sync_probe.runs;
        PERFORM pg_temp.record(r) FROM regexp_split_to_table(s.runs, ' [|] ') AS r;
        INSERT INTO found SELECT 'drift: ' || s.name, f.* FROM run_findings AS f
        WHERE f.code = 'drift';
    END LOOP;
END
$$;

-- --------------------------------------------------------------------- tests

SELECT is((SELECT coalesce(string_agg(concat_ws(' ', CASE WHEN with_location THEN f.location END,
                                                f.severity, f.code), ', '
                                      ORDER BY f.location <> 'pg_wal', f.location, f.severity,
                                               f.code), '')
           FROM found AS f WHERE f.name = s.name), s.codes, s.name)
FROM (SELECT 'storage: ' || name, codes, true FROM storage_scenario
      UNION ALL SELECT 'run: ' || name, codes, false FROM run_scenario)
    AS s (name, codes, with_location);
SELECT ok(EXISTS (SELECT FROM found AS f WHERE f.name = s.name
                  AND strpos(f.message || ' / ' || f.hint, says) > 0), s.name || ': says ' || says)
FROM (SELECT 'storage: ' || name, says FROM storage_scenario
      UNION ALL SELECT 'run: ' || name, says FROM run_scenario
      UNION ALL SELECT 'drift: ' || name, says FROM drift_scenario) AS s (name, says)
WHERE says <> '';
SELECT ok(EXISTS (SELECT FROM found AS f WHERE f.name = 'run: ' || s.name
                  AND f.evidence @> pg_temp.given(shows)), 'run: ' || name || ': shows ' || shows)
FROM run_scenario AS s WHERE shows <> '';
SELECT is_empty($$SELECT found.name, message FROM found JOIN drift_scenario AS s
                  ON found.name = 'drift: ' || s.name WHERE s.says = ''$$, 'no drift');
SELECT ok((SELECT evidence @> '{"p50_us": 1926, "earlier_runs": 1, "earlier_median_us": 73,
                                "noise": 0.01, "margin": 0.05, "method": "fdatasync"}'
           FROM found WHERE name = 'drift: the cache was turned off'), 'drift: evidence');

-- of whatever was found
SELECT set_eq('SELECT DISTINCT code FROM found',
    '{barrier_off, counters_shared, counters_unknown, cow_wal_settings, device_unknown, drift,
      durable_unknown, flush_missing, fsync_off, implausibly_fast, loop_device, low_space,
      memory_filesystem, network_filesystem, overlay_filesystem, read_only_filesystem, slow_tail,
      software_bound, tablespace_missing, wal_shares_device, write_amplification,
      write_cache_volatile, zfs_log_on_main_pool, zfs_logbias_throughput, zfs_sync_disabled,
      zfs_unknown}'::text[],
    'each code but direct_io_refused was seen above');
SELECT is_empty('SELECT f.* FROM found AS f WHERE (' || holds || ') IS NOT TRUE', holds)
FROM unnest(ARRAY[
    $$severity IN ('error', 'warning', 'info')$$,
    $$message ~ '^[^ ].*[^ .]$'$$,
    $$hint ~ '^[^ ].*[^ ]$'$$,
    -- no gap where a value was not known
    $$message || ' / ' || hint !~ 'NULL|  |[^a-z_]\(\)| [,:;)](?! )| \)|\( '$$,
    $$jsonb_typeof(evidence) = 'object' AND evidence <> '{}'$$,
    $$name LIKE 'storage: %' OR evidence ? 'run_id'$$,
    $$code <> 'drift' OR severity = 'info'$$]) AS holds;

-- O_DIRECT that the file system refused, in a row beside those of the current method
DELETE FROM sync_probe.runs;
SELECT pg_temp.record('run: filesystem=zfs') AS run_id \gset
INSERT INTO sync_probe.measurements (run_id, ordinal, test, method, direct_io, status)
VALUES (:run_id, 11, 'saturated', 'open_datasync', true, 'ok'),
       (:run_id, 12, 'saturated', 'open_sync', true, 'error');
SELECT is_empty('SELECT * FROM run_findings', 'O_DIRECT is taken, or fails for another reason');
UPDATE sync_probe.measurements SET status = 'no_direct_io' WHERE ordinal > 10;
SELECT results_eq('SELECT location, severity, code, message, evidence -> ''methods'''
                  ' FROM run_findings',
    $$VALUES ('pg_wal'::name, 'info', 'direct_io_refused',
              'the file system (zfs) refuses O_DIRECT', '["open_datasync", "open_sync"]'::jsonb)$$,
    'O_DIRECT is refused');
UPDATE sync_probe.runs SET filesystem = NULL;
SELECT is((SELECT message FROM run_findings),
          'the file system (unknown) refuses O_DIRECT', 'by nobody knows whom');
SELECT pg_temp.record('run: filesystem=zfs') AS run_id \gset
SELECT is_empty('SELECT * FROM run_findings', 'nor by a newer run');
SELECT pg_temp.record_run('{"wal_sync_method": "open_sync"}') AS run_id \gset
INSERT INTO sync_probe.measurements (run_id, ordinal, test, method, direct_io, status)
VALUES (:run_id, 1, 'paced', 'open_sync', true, 'no_direct_io'),
       (:run_id, 2, 'saturated', 'open_sync', true, 'no_direct_io');
SELECT set_has($$SELECT f.code, f.evidence -> 'methods'
                 FROM sync_probe.runs AS r, unnest(sync_probe_internal.run_findings(r, ARRAY(
                     SELECT m FROM sync_probe.measurements AS m WHERE m.run_id = r.run_id
                     ORDER BY m.ordinal DESC))) AS f
                 WHERE r.wal_sync_method = 'open_sync'$$,
               $$VALUES ('direct_io_refused', '["open_sync"]'::jsonb)$$,
               'of the method in use, in any order of rows');

-- the margin is the reader's: two runs that differ by 23 %
DELETE FROM sync_probe.runs;
SELECT pg_temp.record(''), pg_temp.record('paced: p50_us=700') AS run_id \gset
SELECT is((SELECT code FROM run_findings), 'drift', 'drift beyond the margin');
SET LOCAL pg_sync_probe.margin = 0.5;
SELECT is_empty('SELECT * FROM run_findings', 'but not beyond a wide margin');
SET LOCAL pg_sync_probe.margin = 0.05;

-- the method in use is looked at, here chosen after the run
DELETE FROM sync_probe.runs;
SELECT pg_temp.record('as=no flush; run: wal_sync_method=fsync') AS run_id \gset
SELECT matches((SELECT message FROM run_findings), '^syncs with fdatasync send no flush ',
               'the method in use, if the run measured it');
UPDATE sync_probe.measurements SET ops = 0 WHERE method = 'fdatasync';
SELECT set_eq('SELECT evidence ->> ''method'' FROM run_findings', '{fsync}'::text[],
              'else that of the run');
DELETE FROM sync_probe.measurements WHERE test = 'saturated';
SELECT is_empty('SELECT * FROM run_findings', 'nothing of a method that was not measured twice');
DELETE FROM sync_probe.runs;
SELECT pg_temp.record('run: wal_sync_method=fsync'), pg_temp.record('run: wal_sync_method=fsync')
    AS run_id \gset
SELECT is_empty('SELECT * FROM run_findings', 'no drift from one method to another');
INSERT INTO sync_probe.measurements (run_id, ordinal, test, method, direct_io, status, ops, p50_us)
VALUES (:run_id, 11, 'saturated', 'fdatasync', true, 'ok', 9, 1);
SELECT is_empty('SELECT * FROM run_findings', 'what O_DIRECT would do is not looked at');

-- only the newest run of a location counts, and only of the wal suite; here one at pg_default, one
-- of the other suite, and one at a tablespace that was dropped
DELETE FROM sync_probe.runs;
SELECT pg_temp.record('as=no flush'),
       pg_temp.record('as=no flush; run: location=pg_default;'
                      ' storage.others: flushes_per_sec=100, most_flushes_per_sec=200'),
       pg_temp.record('run: suite=pg_test_fsync'),
       pg_temp.record('as=no flush; run: location=gone') AS run_id \gset
SELECT bag_eq('SELECT location, code FROM run_findings',
    $$VALUES ('pg_wal'::name, 'flush_missing'), ('pg_default', 'flush_missing'),
             ('pg_default', 'counters_shared')$$, 'both locations, but no other');
SELECT pg_temp.record('') AS run_id \gset
SELECT bag_eq('SELECT location, code FROM run_findings',
    $$VALUES ('pg_default'::name, 'flush_missing'), ('pg_default', 'counters_shared')$$,
    'a newer run at pg_wal, with flushes, is the one that counts there');

-- a power test stands above what counters do not tell
DELETE FROM sync_probe.runs;
SELECT pg_temp.record('durable=unknown, why=there were fewer flushes than syncs') AS run_id \gset
SELECT set_has('SELECT location, code FROM sync_probe.findings',
    $$VALUES ('pg_wal'::name, 'durable_unknown')$$, 'counters do not tell');
SELECT pg_temp.record_run('{"suite": "power_test", "usable_for_advice": false,
    "durable": "proven", "reason": "seen"}') AS power_test_id \gset
SELECT is_empty($$SELECT FROM sync_probe.findings
                  WHERE location = 'pg_wal' AND code = 'durable_unknown'$$, 'a power test does');

DELETE FROM sync_probe.runs;
SELECT pg_temp.record('as=no flush; run: location=pg_default') AS run_id \gset
-- the view has both sorts, of real storage: a reserve that none can leave
SET LOCAL pg_sync_probe.reserve_percent = 100;
SELECT set_has('SELECT location, code FROM sync_probe.findings',
    $$SELECT name, 'low_space' FROM sync_probe.locations
      WHERE available_bytes < size_bytes / 100 * 100 AND shares_filesystem_with IS NULL
      UNION ALL SELECT 'pg_default', 'flush_missing'$$,
    'findings has those of storage and those of runs');
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

-- fsync was off since this server was started
CREATE FUNCTION pg_temp.fsync_findings(differences text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM sync_probe.runs;
    PERFORM pg_temp.record_run(
        jsonb_build_object('suite', 'stream', 'fsync', false, 'finished_at', clock_timestamp())
        || pg_temp.given(differences));
    RETURN (SELECT string_agg(location || ' ' || severity, ' ') FROM sync_probe.findings
            WHERE code = 'fsync_was_off' AND commands IS NULL);
END
$$;
SELECT is(pg_temp.fsync_findings(differences), expected, 'fsync was off: ' || differences)
FROM (VALUES ('', 'pg_wal warning'), ('location=pg_default', 'pg_wal warning'),
             ('fsync=true', NULL), ('fsync=null', NULL),
             ('finished_at=2000-01-01', NULL),
             ('host=elsewhere', NULL)) AS v (differences, expected);

-- what a trial has left behind is in test/t/018_trial.pl; a publication came after the extension
SELECT is_empty($$SELECT code FROM sync_probe.findings
                  WHERE code IN ('trial_not_restored', 'history_published')$$,
                'no trial is left, and the tables are not published');
SET LOCAL client_min_messages = error;
CREATE PUBLICATION everything FOR ALL TABLES;
SELECT results_eq($$SELECT location, severity, evidence FROM sync_probe.findings
                    WHERE code = 'history_published'$$,
    $$VALUES ('pg_wal'::name, 'warning', '{"publications": ["everything"]}'::jsonb)$$,
    'now they are');
DROP PUBLICATION everything;

-- a run of other times: recommendations.sql has what makes it so
DELETE FROM sync_probe.runs;
SELECT pg_temp.record('storage: mount_options=rw,relatime') AS run_id \gset
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
    shares_filesystem_with = CASE name WHEN 'pg_default' THEN 'pg_wal' END
WHERE name IN ('pg_wal', 'pg_default');
DELETE FROM examined WHERE name NOT IN ('pg_wal', 'pg_default');
SELECT is(pg_temp.found_at_all(), 'pg_wal barrier_off', 'one mount, one finding');
SELECT pg_temp.record('storage: mount_options=rw'),
       pg_temp.record('as=no flush; storage: mount_options=rw; paced: p50_us=9;'
                      ' saturated: p50_us=3, p99_us=9') AS run_id \gset
UPDATE examined SET mount_options = 'rw,nobarrier' WHERE name = 'pg_wal';
SELECT is(pg_temp.found_at_all(), 'pg_wal barrier_off', 'and what a probe makes of it');
SELECT is(evidence - 'mount_options' - 'write_cache', format(
    '{"locations": ["pg_default", "pg_wal"], "run_id": %s, "also_found": ["drift", "flush_missing",
      "implausibly_fast", "outdated_run", "write_cache_volatile"]}', :run_id)::jsonb,
    'its evidence names them') FROM sync_probe.findings WHERE code = 'barrier_off';
UPDATE examined SET mount_point = '/other', shares_filesystem_with = NULL
WHERE name = 'pg_default';
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
               THEN format('In run %s, syncs with fdatasync did not reach it.', :run_id)
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
CREATE FUNCTION pg_temp.cache_hint(run text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    id bigint := pg_temp.record('run: ' || run || '; storage: mount_options=rw');
BEGIN
    RETURN (SELECT replace(f.hint, id::text, 'N') FROM sync_probe.findings AS f
            WHERE f.code = 'write_cache_volatile' AND f.location = 'pg_wal');
END
$$;
SELECT is(pg_temp.cache_hint(run), expected, 'a volatile cache, ' || run)
FROM (VALUES ('durable=yes', 'In run N, syncs with fdatasync reached it.'),
             ('durable=no, fsync=false', 'In run N, fsync was off.'),
             ('durable=no_cache', 'In run N, it had no volatile cache.'),
             ('durable=unknown', 'Run N could not tell whether syncs with fdatasync reach it.'))
         AS v (run, expected);

-- what cannot be written to is not to be probed
CREATE TEMP VIEW at_default AS
SELECT unnest(commands) AS command FROM sync_probe.recommendation_details
WHERE location = 'pg_default'
UNION ALL SELECT unnest(commands) FROM sync_probe.findings WHERE location = 'pg_default';
SELECT set_has('SELECT * FROM at_default',
               $$VALUES ('SELECT * FROM sync_probe.probe(''pg_default'')')$$, 'probe it');
UPDATE examined SET mount_options = 'ro' WHERE name = 'pg_default';
SELECT is_empty('SELECT * FROM at_default', 'but not read-only');
SELECT pg_temp.record('run: location=pg_default, stop_early=true; storage: mount_options=rw')
    AS run_id \gset
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
UPDATE examined SET shares_filesystem_with = 'pg_wal' WHERE name = 'pg_default';
SELECT is(pg_temp.found_at_all(), 'pg_wal durable_unknown', 'of a file system that is told once');

-- every command is one statement, and one that the server understands
SELECT set_eq('SELECT DISTINCT code FROM found WHERE commands IS NOT NULL',
    '{fsync_off, write_cache_volatile, cow_wal_settings, drift, outdated_run}'::text[],
    'what has commands');
CREATE TEMP VIEW commands AS SELECT DISTINCT c AS command FROM found, unnest(commands) AS c;
SELECT is_empty('SELECT command FROM commands WHERE command ~ '';|^ | $''', 'one statement each');
SELECT lives_ok('PREPARE once AS ' || command || '; DEALLOCATE once', command)
FROM commands WHERE command LIKE 'SELECT %';
SELECT ok(command LIKE 'SELECT %' OR command ~ '^ALTER SYSTEM SET [a-z_]+ = (on|off)$', command)
FROM commands;

-- written by hand or by another version: nothing to say is better than an error
SELECT pg_temp.record('') AS run_id \gset
SELECT lives_ok(format('UPDATE sync_probe.runs SET storage = %L;'
                       ' CREATE TEMP TABLE got ON COMMIT DROP AS'
                       ' SELECT * FROM run_findings; DROP TABLE got', storage),
                'storage: ' || coalesce(storage, 'none'))
FROM unnest(ARRAY[NULL, '{}', '{"disks": []}', '{"disks": [{}]}', '{"others": {}}',
    '{"others": {"bytes_per_sec": 1}}', '{"below_flushes_per_op": {}}',
    '{"zfs": {"dataset": "d", "pool": "p", "sync": "standard"}}']) AS storage;

-- figures that no probe records, but a hand might
DELETE FROM sync_probe.runs;
SELECT lives_ok(format('SELECT pg_temp.record(%1$L), pg_temp.record(%1$L);'
                       ' SELECT * FROM sync_probe.findings', given), 'figures: ' || given)
FROM unnest(ARRAY['run: flush_size=0; storage.device_bytes_per_op: 2=9000',
                  'run: flush_size=2147483647; paced: p50_us=0; saturated: p50_us=0']) AS given;

\ir include/end.sql
