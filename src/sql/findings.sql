--
-- sync_probe_internal.storage_findings
--
-- What is to be known of places without any probe.  facts are rows of
-- examine_locations(); settings are the server's, sizes in bytes; busiest is a
-- tablespace.  All at once, since one call for each
-- of a thousand tablespaces would take longer than everything in it.
--
CREATE TYPE sync_probe_internal.storage AS (
    location name,
    holds_wal boolean,
    directory text,
    filesystem text,
    mount_point text,
    mount_options text,
    device text,
    write_cache text,
    fua boolean,
    disks text[],
    size_bytes bigint,
    available_bytes bigint,
    missing boolean);

COMMENT ON TYPE sync_probe_internal.storage IS
  'What is known of the storage of a location';

CREATE FUNCTION sync_probe_internal.storage_findings(
    facts sync_probe_internal.storage[],
    setting_fsync boolean,
    wal_recycle boolean,
    wal_init_zero boolean,
    max_wal_size bigint,
    reserve_percent integer,
    busiest name)
RETURNS TABLE (
    location name,
    severity text,
    code text,
    message text,
    hint text,
    commands text[],
    evidence jsonb)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
WITH place AS (
    SELECT f.*, string_to_array(f.mount_options, ',') AS options,
           f.filesystem IN ('tmpfs', 'ramfs') AS is_memory,
           f.filesystem ~ '^(nfs|nfs4|cifs|smb3|smbfs|9p|ceph|afs|lustre|glusterfs|beegfs|fuse\.(sshfs|glusterfs|ceph-fuse|s3fs|rclone|davfs2?))$' AS is_network,
           f.filesystem IN ('zfs', 'fuse.zfs') AS is_zfs
    FROM unnest(facts) AS f
)
SELECT p.location, 'error', 'fsync_off',
       'fsync is off: this server syncs nothing, and a crash of the operating system may destroy the cluster',
       'Switch it on, and take a backup: what was written meanwhile may be damaged.',
       ARRAY['ALTER SYSTEM SET fsync = on', 'SELECT pg_reload_conf()'],
       jsonb_build_object('fsync', 'off')
FROM place AS p
WHERE p.holds_wal AND NOT setting_fsync

UNION ALL
SELECT p.location, CASE WHEN p.write_cache = 'write through' THEN 'warning' ELSE 'error' END, 'barrier_off',
       format('%s is mounted with %s: syncs there send no flush to the device', p.mount_point, o.option),
       CASE WHEN p.filesystem = 'overlay' THEN 'Put the data directory on a volume, or start the container without it.'
            ELSE format('mount -o remount,%s %s, and take the option out of /etc/fstab.',
                CASE p.filesystem WHEN 'f2fs' THEN 'fsync_mode=posix' ELSE 'barrier' END, p.mount_point) END,
       NULL,
       jsonb_build_object('mount_options', p.mount_options, 'write_cache', p.write_cache)
FROM place AS p, unnest(p.options) AS o (option)
WHERE o.option IN ('nobarrier', 'barrier=0', 'barrier=none', 'fsync_mode=nobarrier')
   OR (p.filesystem = 'overlay' AND o.option IN ('volatile', 'fsync=volatile'))

UNION ALL
SELECT p.location, 'info', 'write_cache_volatile',
       format('%s has a volatile write cache: a commit is safe only if flushes reach it', coalesce(p.device, p.location::text)),
       'Probe it; durable in sync_probe.recommendations then tells whether they do.',
       ARRAY[sync_probe_internal.probe_command(p.location, NULL)],
       jsonb_build_object('device', p.device, 'disks', p.disks, 'write_cache', p.write_cache, 'fua', p.fua)
FROM place AS p
WHERE p.write_cache = 'write back' AND NOT p.fua

UNION ALL
SELECT p.location, 'error', 'memory_filesystem',
       format('%s is %s: what lies there is gone with the next restart of the machine', p.mount_point, p.filesystem),
       CASE WHEN p.holds_wal THEN 'Stop the server and move pg_wal to a disk.'
            WHEN p.location = 'pg_default' THEN 'Stop the server and move the data directory to a disk.'
            ELSE 'Keep nothing there that the cluster needs: without the tablespace it will not recover. Move its tables to another tablespace, then drop it.' END,
       NULL,
       jsonb_build_object('filesystem', p.filesystem, 'mount_point', p.mount_point)
FROM place AS p
WHERE p.is_memory

UNION ALL
SELECT p.location, 'error', 'tablespace_missing',
       format('%s does not hold what this server made there: its file system is not mounted, or the directory is gone',
              coalesce(p.directory, 'its directory')),
       'Mount it again; do not create anything there. Queries on its tables fail until then.',
       NULL,
       jsonb_build_object('directory', p.directory, 'mount_point', p.mount_point, 'filesystem', p.filesystem)
FROM place AS p
WHERE p.missing

UNION ALL
SELECT p.location, 'error', 'read_only_filesystem',
       format('%s is mounted read-only: nothing can be written to %s', p.mount_point, p.location),
       'A file system that meets an error may remount itself so: see the kernel''s log before you mount it for writing again.',
       NULL,
       jsonb_build_object('mount_point', p.mount_point, 'mount_options', p.mount_options)
FROM place AS p
WHERE 'ro' = ANY (p.options) AND NOT p.missing

UNION ALL
SELECT p.location, 'warning', 'network_filesystem',
       format('%s is %s: whether a sync reaches a disk is decided on another machine', p.mount_point, p.filesystem),
       'Export and mount it for synchronous writes (NFS: "sync" in the export, "hard" in the mount), and ask its administrator for the cache of the disks there.',
       NULL,
       jsonb_build_object('filesystem', p.filesystem, 'mount_point', p.mount_point, 'mount_options', p.mount_options)
FROM place AS p
WHERE p.is_network

UNION ALL
SELECT p.location, 'warning', 'overlay_filesystem',
       format('%s is an overlay: the writable layer of a container, gone with it', p.mount_point),
       'Put the data directory on a volume.',
       NULL,
       jsonb_build_object('filesystem', p.filesystem, 'mount_point', p.mount_point, 'device', p.device)
FROM place AS p
WHERE p.filesystem = 'overlay'

UNION ALL
SELECT p.location, 'warning', 'low_space',
       format('%s are available in %s, less than the reserve of %s', pg_size_pretty(p.available_bytes), p.mount_point, pg_size_pretty(n.needed)),
       CASE WHEN p.holds_wal THEN 'A full pg_wal stops the cluster: make room, or lower max_wal_size. See SELECT * FROM pg_replication_slots for what holds WAL back.'
            ELSE 'Make room, or move tables: no probe runs with less than that.' END,
       NULL,
       jsonb_build_object('available_bytes', p.available_bytes, 'reserve_bytes', n.needed, 'size_bytes', p.size_bytes)
FROM place AS p,
     LATERAL (SELECT greatest(p.size_bytes / 100 * reserve_percent,
                              CASE WHEN p.holds_wal THEN max_wal_size ELSE 0 END)) AS n (needed)
WHERE p.available_bytes < n.needed

UNION ALL
SELECT p.location, 'warning', 'cow_wal_settings',
       format('pg_wal is on %s, which copies on write: recycled and zero-filled WAL files gain nothing there, and cost writes', p.filesystem),
       'Switch both off.',
       ARRAY['ALTER SYSTEM SET wal_recycle = off', 'ALTER SYSTEM SET wal_init_zero = off', 'SELECT pg_reload_conf()'],
       jsonb_build_object('filesystem', p.filesystem, 'wal_recycle', wal_recycle, 'wal_init_zero', wal_init_zero)
FROM place AS p
WHERE p.holds_wal AND (wal_recycle OR wal_init_zero)
  AND (p.is_zfs OR p.filesystem IN ('btrfs', 'bcachefs')) AND NOT 'nodatacow' = ANY (p.options)

UNION ALL
SELECT w.location, 'info', 'wal_shares_device',
       format('pg_wal shares %s with %s, the busiest tablespace: its reads and writes delay commits', coalesce(w.device, w.mount_point), b.location),
       'A device of its own for pg_wal makes commits steadier: initdb --waldir, or a symbolic link made while the server is stopped.',
       NULL,
       jsonb_build_object('device', w.device, 'disks', w.disks, 'tablespace', b.location)
FROM place AS w
JOIN place AS b ON b.location = busiest
WHERE w.holds_wal AND NOT b.holds_wal AND NOT coalesce(w.is_memory, false) AND (w.disks && b.disks OR w.mount_point = b.mount_point)

UNION ALL
SELECT p.location, 'info', 'device_unknown',
       format('no disk can be named below %s (%s): nothing tells whether syncs reach one', coalesce(p.mount_point, 'it'), coalesce(p.filesystem, 'unknown file system')),
       'On Linux /sys and /proc/self/mountinfo tell; in a container they have to be visible.',
       NULL,
       jsonb_build_object('filesystem', p.filesystem, 'mount_point', p.mount_point)
FROM place AS p
WHERE p.device IS NULL AND NOT coalesce(p.is_memory OR p.is_network OR p.is_zfs, false) AND NOT p.missing
$$;

COMMENT ON FUNCTION sync_probe_internal.storage_findings(sync_probe_internal.storage[], boolean, boolean, boolean, bigint, integer, name) IS
  'What is to be known of the storage of locations, without any probe';

--
-- sync_probe_internal.busiest_tablespace
--
-- The tablespace whose blocks were asked for most, by the statistics of each
-- database for its default tablespace; what this database has in others counts
-- for those.  What other databases have in others cannot be seen from here.
--
CREATE FUNCTION sync_probe_internal.busiest_tablespace()
RETURNS name
LANGUAGE sql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
SELECT t.spcname
FROM (SELECT d.dattablespace AS oid, pg_stat_get_db_blocks_fetched(d.oid) AS blocks
      FROM pg_database AS d
      UNION ALL
      SELECT m.oid, m.sign * pg_stat_get_blocks_fetched(c.oid)
      FROM pg_class AS c
      JOIN pg_database AS d ON d.datname = current_database(),
           LATERAL (VALUES (c.reltablespace, 1), (d.dattablespace, -1)) AS m (oid, sign)
      WHERE c.reltablespace <> 0 AND NOT c.relisshared) AS s
JOIN pg_tablespace AS t ON t.oid = s.oid
GROUP BY t.oid, t.spcname
ORDER BY sum(s.blocks) DESC NULLS LAST, t.oid
LIMIT 1
$$;

COMMENT ON FUNCTION sync_probe_internal.busiest_tablespace() IS
  'The tablespace with the most blocks fetched, as far as this database can tell';

--
-- sync_probe_internal.newest_measured
--
-- The newest run of each location with what it measured of its current method.
--
CREATE VIEW sync_probe_internal.newest_measured AS
SELECT r.run_id, r.location, r.filesystem, r.device, r.flush_size, r.flush_interval, r.noise,
       r.wal_sync_method AS method, coalesce(jsonb_strip_nulls(r.storage), '{}') AS storage,
       p.ordinal AS paced_ordinal, s.ordinal AS saturated_ordinal,
       p.p50_us AS paced_p50_us, p.p99_us AS paced_p99_us,
       p.flushes_per_op AS paced_flushes, p.device_bytes_per_op AS paced_bytes,
       s.p50_us AS saturated_p50_us, s.p99_us AS saturated_p99_us, s.mean_us AS saturated_us, s.ops AS saturated_ops,
       s.ops_per_sec, s.flushes_per_op AS saturated_flushes, s.device_utilization,
       sync_probe_internal.method_durable(r.storage, p, s) AS durable,
       -- The page that holds the old end of WAL is written again: the mean over
       -- all places where flush_size bytes can begin in a page of 8 kB.
       nullif(r.flush_size, 0)::bigint + 8192 - gcd(r.flush_size, 8192) AS written_bytes,
       -- background I/O in the time of one paced flush
       (r.storage #>> '{others,flushes_per_sec}')::float8 * p.mean_us / 1e6 AS background_flushes,
       (r.storage #>> '{others,most_flushes_per_sec}')::float8 * p.mean_us / 1e6 AS max_background_flushes,
       (r.storage #>> '{others,most_below_flushes_per_sec}')::float8 * p.mean_us / 1e6 AS max_background_backing_flushes,
       coalesce((r.storage #>> '{others,bytes_per_sec}')::float8 * p.mean_us / 1e6, 0) AS background_bytes
FROM (SELECT (n.run).* FROM sync_probe_internal.newest_runs AS n) AS r
JOIN sync_probe.measurements AS p
    ON p.run_id = r.run_id AND p.test = 'paced' AND p.method = r.wal_sync_method
JOIN sync_probe.measurements AS s
    ON s.run_id = r.run_id AND s.test = 'saturated' AND s.method = p.method
   AND s.direct_io = p.direct_io;

-- device_lifetime() reads it with the rights of its caller.
GRANT SELECT ON sync_probe_internal.newest_measured TO pg_monitor;

COMMENT ON VIEW sync_probe_internal.newest_measured IS
  'The newest run of each location with the figures of its current method';

--
-- sync_probe_internal.run_findings
--
-- What is to be known from the newest run of each location.
--
CREATE VIEW sync_probe_internal.run_findings AS
WITH newest AS MATERIALIZED (
    SELECT * FROM sync_probe_internal.newest_measured
)
SELECT n.location, 'error' AS severity, 'flush_missing' AS code,
       format('syncs with %s send no flush to %s, whose write cache is volatile: commits may be lost when the power fails', n.method, coalesce(n.device, 'the device')) AS message,
       'Look for nobarrier among the mount options, and for a layer in between that swallows flushes. Then probe again.' AS hint,
       NULL::text[] AS commands,
       jsonb_build_object('run_id', n.run_id, 'method', n.method,
           'paced_flushes_per_op', n.paced_flushes, 'saturated_flushes_per_op', n.saturated_flushes,
           'others', n.storage -> 'others', 'write_cache', n.storage -> 'write_cache', 'fua', n.storage -> 'fua') AS evidence
FROM newest AS n
WHERE n.durable = 'no' AND NOT n.storage ? 'syncs_nothing'

UNION ALL
SELECT n.location, 'error', 'memory_filesystem',
       format('%s: syncs there reach no device', n.storage ->> 'syncs_nothing'),
       'Keep nothing there that the cluster needs.',
       NULL,
       jsonb_build_object('run_id', n.run_id, 'syncs_nothing', n.storage -> 'syncs_nothing', 'backing_file', n.storage -> 'backing_file')
FROM newest AS n
WHERE n.storage ->> 'syncs_nothing' ~ '(tmpfs|ramfs)$' AND coalesce(n.filesystem, '') NOT IN ('tmpfs', 'ramfs')

UNION ALL
SELECT n.location, 'error', 'zfs_sync_disabled',
       format('ZFS ignores every sync of %s (sync=disabled): its speed is void, and commits are lost in a crash', n.storage #>> '{zfs,dataset}'),
       format('zfs set sync=standard %s', n.storage #>> '{zfs,dataset}'),
       NULL,
       jsonb_build_object('run_id', n.run_id, 'zfs', n.storage -> 'zfs')
FROM newest AS n
WHERE n.storage #>> '{zfs,sync}' = 'disabled'

UNION ALL
SELECT n.location, 'info', 'zfs_log_on_main_pool',
       format('pool %s has no log device: each sync writes the intent log among the data', n.storage #>> '{zfs,pool}'),
       format('A fast device that keeps what it acknowledged: zpool add %s log mirror DEVICE DEVICE', n.storage #>> '{zfs,pool}'),
       NULL,
       jsonb_build_object('run_id', n.run_id, 'zfs', n.storage -> 'zfs')
FROM newest AS n
WHERE jsonb_array_length(n.storage #> '{zfs,data_devices}') > 0
  AND jsonb_array_length(n.storage #> '{zfs,log_devices}') = 0

UNION ALL
SELECT n.location, 'warning', 'zfs_logbias_throughput',
       format('logbias=throughput lets the syncs of %s go past the log device, to the main pool', n.storage #>> '{zfs,dataset}'),
       format('zfs set logbias=latency %s', n.storage #>> '{zfs,dataset}'),
       NULL,
       jsonb_build_object('run_id', n.run_id, 'zfs', n.storage -> 'zfs')
FROM newest AS n
WHERE n.storage #>> '{zfs,logbias}' = 'throughput'

UNION ALL
SELECT n.location, 'info', 'zfs_unknown',
       format('the ZFS of %s does not tell all its properties: %s', n.storage #>> '{zfs,dataset}', coalesce(n.storage #>> '{zfs,unknown}', 'sync is not among them')),
       'Look yourself: zfs get sync,logbias,recordsize; zpool status. pg_sync_probe.zfs_directory says where the tools are.',
       NULL,
       jsonb_build_object('run_id', n.run_id, 'zfs', n.storage -> 'zfs')
FROM newest AS n
WHERE n.storage ? 'zfs' AND (n.storage -> 'zfs' ? 'unknown' OR NOT n.storage -> 'zfs' ? 'sync')

UNION ALL
SELECT n.location, 'warning', 'barrier_off',
       format('%s lies in the file %s, on a file system mounted with %s', coalesce(n.device, 'the device'), n.storage ->> 'backing_file', o.option),
       'Mount that file system with barriers.',
       NULL,
       jsonb_build_object('run_id', n.run_id, 'backing_file', n.storage -> 'backing_file', 'mount_options', n.storage -> 'backing_mount_options')
FROM newest AS n, string_to_table(n.storage ->> 'backing_mount_options', ',') AS o (option)
WHERE o.option IN ('nobarrier', 'barrier=0', 'barrier=none', 'fsync_mode=nobarrier')

UNION ALL
-- A loop device whose cache is set to write through gets no flushes to pass on.
SELECT n.location, CASE WHEN b.lacking THEN 'warning' ELSE 'info' END, 'loop_device',
       format('%s is the file %s on %s: %s', coalesce(n.device, 'the device'), n.storage ->> 'backing_file', coalesce(n.storage ->> 'backing_filesystem', 'an unknown file system'),
           CASE WHEN b.lacking THEN 'no flush arrives at the disk below, so a sync may get no further than the memory of this machine'
                WHEN b.lacking IS NULL THEN 'nothing is known of the disk below'
                ELSE 'a sync is as safe as it is there' END),
       'Fine for tests. In production give PostgreSQL the disk itself.',
       NULL,
       jsonb_build_object('run_id', n.run_id, 'backing_file', n.storage -> 'backing_file',
           'backing_filesystem', n.storage -> 'backing_filesystem',
           'disks', n.storage -> 'disks', 'below_flushes_per_op', n.storage -> 'below_flushes_per_op')
FROM newest AS n,
     LATERAL (SELECT min(f.value::float8) - 2 * coalesce(n.max_background_backing_flushes, 0) <= 0.1
                         AND min(f.value::float8) < 0.5
              FROM jsonb_each_text(coalesce(n.storage -> 'below_flushes_per_op', '{}')) AS f
              WHERE f.key IN (n.paced_ordinal::text, n.saturated_ordinal::text)
                AND EXISTS (SELECT FROM jsonb_array_elements(n.storage -> 'disks') AS d
                            WHERE d ? 'below' AND d ->> 'write_cache' = 'write back' AND NOT d ? 'counts_flushes')) AS b (lacking)
WHERE n.storage ? 'backing_file'

UNION ALL
-- 15,000 revolutions a minute are 250 a second, and WAL needs one for each sync;
-- only for disks that are known to turn, since virtual ones and RAID
-- controllers often say so.  No device takes a write and a flush in 5 us.
SELECT n.location, 'warning', 'implausibly_fast',
       CASE WHEN t.turns THEN format('%s syncs a second with %s, but %s is a rotating disk and turns 250 times a second at most', round(n.ops_per_sec), n.method, coalesce(n.device, 'the device'))
            ELSE format('half of the syncs with %s took less than %s us, less than any device needs for a flush', n.method, n.saturated_p50_us) END,
       'The disk or a layer above it answers before the data are safe. Turn its write cache off (hdparm -W 0), and look for a layer that swallows flushes.',
       NULL,
       jsonb_build_object('run_id', n.run_id, 'method', n.method, 'ops_per_sec', n.ops_per_sec, 'p50_us', n.saturated_p50_us,
           'flushes_per_op', n.saturated_flushes, 'disks', n.storage -> 'disks')
FROM newest AS n,
     LATERAL (SELECT coalesce(bool_and(coalesce((d ->> 'rotational')::boolean AND NOT (d ->> 'virtual')::boolean, false)), false) AS turns,
                     coalesce(bool_or(d ->> 'name' LIKE 'pmem%'), false) AS is_pmem
              FROM jsonb_array_elements(coalesce(n.storage -> 'disks', '[]')) AS d
              WHERE NOT d ? 'below') AS t
WHERE (t.turns AND n.ops_per_sec > 250)
   OR (n.saturated_p50_us < 5 AND NOT t.is_pmem AND NOT coalesce(n.filesystem IN ('tmpfs', 'ramfs'), false))

UNION ALL
SELECT n.location, 'warning', 'write_amplification',
       format('each sync of %s bytes makes %s write %s (%s times as much)', n.written_bytes, coalesce(n.device, 'the device'), pg_size_pretty(round(a.bytes)::bigint), round((a.bytes / n.written_bytes)::numeric, 1)),
       CASE WHEN n.filesystem = 'btrfs' THEN 'btrfs writes its log tree with each sync. ext4 and xfs write about what they are given.'
            WHEN n.filesystem IN ('zfs', 'fuse.zfs') THEN 'See recordsize and logbias of the data set, and ashift of the pool.'
            ELSE 'Another wal_sync_method, or file system, writes less: compare device_bytes_per_op in sync_probe.measurements.' END,
       NULL,
       jsonb_build_object('run_id', n.run_id, 'method', n.method, 'device_bytes_per_op', n.paced_bytes,
           'other_bytes_per_op', round(n.background_bytes), 'written_bytes', n.written_bytes, 'amplification', round((a.bytes / n.written_bytes)::numeric, 1))
FROM newest AS n,
     LATERAL (SELECT n.paced_bytes - n.background_bytes) AS a (bytes)
WHERE a.bytes > 4 * n.written_bytes

UNION ALL
SELECT n.location, 'warning', 'software_bound',
       format('a sync with %s takes %s us, but the device is idle %s %% of that time: the software above it is the bottleneck', n.method, n.saturated_us, round(((1 - n.device_utilization) * 100)::numeric)),
       'A faster device will not help. Look at the file system, encryption, or the layers between.',
       NULL,
       jsonb_build_object('run_id', n.run_id, 'method', n.method, 'mean_us', n.saturated_us, 'device_utilization', n.device_utilization)
FROM newest AS n
WHERE n.saturated_us > 1000 AND n.device_utilization < 0.25
  -- the kernel counts whole milliseconds, and clock ticks: too coarse for a few syncs
  AND n.saturated_us * n.saturated_ops >= 100000

UNION ALL
SELECT n.location, 'info', 'direct_io_refused',
       format('the file system (%s) refuses O_DIRECT', coalesce(n.filesystem, 'unknown')),
       'PostgreSQL does without where it is not asked for; debug_io_direct = wal would fail here.',
       NULL,
       jsonb_build_object('run_id', n.run_id, 'methods', d.methods)
FROM newest AS n,
     LATERAL (SELECT jsonb_agg(DISTINCT m.method)
              FROM sync_probe.measurements AS m
              WHERE m.run_id = n.run_id AND m.status = 'no_direct_io') AS d (methods)
WHERE d.methods IS NOT NULL

UNION ALL
SELECT n.location, 'warning', 'slow_tail',
       format('one sync in a hundred with %s takes %s us or more, %s times the median (%s)', n.method, t.p99_us, round((t.p99_us / t.p50_us)::numeric), t.test),
       'Commits stall then. See who else writes there (iostat -x 1), and sync_probe.latency_histogram for this run.',
       NULL,
       jsonb_build_object('run_id', n.run_id, 'method', n.method, 'test', t.test, 'p50_us', t.p50_us, 'p99_us', t.p99_us)
FROM newest AS n,
     LATERAL (SELECT v.*
              FROM (VALUES ('paced', n.paced_p50_us, n.paced_p99_us),
                           ('saturated', n.saturated_p50_us, n.saturated_p99_us)) AS v (test, p50_us, p99_us)
              WHERE v.p99_us > 10 * v.p50_us AND v.p50_us > 0
              LIMIT 1) AS t

UNION ALL
-- Of the same kind: the same method at the same place on the same device, with
-- writes of as many pages at about the same pace.
SELECT n.location, 'info', 'drift',
       format('a paced sync with %s takes %s us, %s %% %s than before (median of %s earlier %s)', n.method, n.paced_p50_us,
           round((abs(d.ratio - 1) * 100)::numeric), CASE WHEN d.ratio > 1 THEN 'more' ELSE 'less' END,
           e.runs, CASE e.runs WHEN 1 THEN 'run' ELSE 'runs' END),
       'Something changed: load, firmware, mount options, the layers below. Compare the runs.',
       ARRAY[format('SELECT * FROM sync_probe.runs WHERE location = %L AND suite = ''wal'' ORDER BY run_id DESC LIMIT 20', n.location)],
       jsonb_build_object('run_id', n.run_id, 'method', n.method, 'p50_us', n.paced_p50_us,
           'earlier_runs', e.runs, 'earlier_median_us', e.median_us, 'noise', d.noise, 'margin', d.margin)
FROM newest AS n,
     LATERAL (SELECT count(*) AS runs, percentile_cont(0.5) WITHIN GROUP (ORDER BY m.p50_us) AS median_us,
                     coalesce(max(b.noise), 0) AS noise
              FROM (SELECT r.run_id, r.noise
                    -- The last hundred by the index, see newest_runs; "+ 0", or
                    -- the primary key is walked through the runs of all locations.
                    FROM (SELECT r.*
                          FROM sync_probe.runs AS r
                          WHERE (r.location, r.suite) >= (n.location, 'wal')
                            AND (r.location, r.suite) <= (n.location, 'wal')
                            AND r.run_id + 0 < n.run_id
                          ORDER BY r.location, r.suite, r.run_id DESC
                          LIMIT 100) AS r
                    WHERE r.filesystem IS NOT DISTINCT FROM n.filesystem
                      AND r.device IS NOT DISTINCT FROM n.device
                      AND (r.flush_size - 1) / 8192 = (n.flush_size - 1) / 8192
                      AND r.flush_interval BETWEEN n.flush_interval / 2 AND n.flush_interval * 2
                    ORDER BY r.run_id DESC
                    LIMIT 20) AS b
              JOIN sync_probe.measurements AS m
                  ON m.run_id = b.run_id AND m.test = 'paced' AND m.method = n.method AND m.ops > 0) AS e,
     LATERAL (SELECT n.paced_p50_us / nullif(e.median_us, 0), greatest(e.noise, n.noise),
                     current_setting('pg_sync_probe.margin')::float8) AS d (ratio, noise, margin)
WHERE e.runs > 0 AND abs(d.ratio - 1) > d.margin + d.noise

UNION ALL
SELECT n.location, 'info', 'counters_shared',
       format('background I/O uses %s, too: it flushes %s times a second, so the counters prove less', coalesce(n.device, 'the device'), n.storage #>> '{others,flushes_per_sec}'),
       'Where durable is unknown, probe when it is quiet.',
       NULL,
       jsonb_build_object('run_id', n.run_id, 'others', n.storage -> 'others',
           'other_flushes_per_op', round(n.background_flushes::numeric, 3), 'flushes_per_op', n.paced_flushes)
FROM newest AS n
WHERE n.background_flushes > 0 AND n.max_background_flushes > 0.1

UNION ALL
SELECT n.location, 'info', 'counters_unknown',
       format('the counters of %s were not read: %s', coalesce(n.device, 'the device'),
           coalesce(n.storage ->> 'no_counters', format('%s times they could not be read, or went backwards', n.storage ->> 'readings_lost'))),
       'Without them nothing tells whether syncs reach the device.',
       NULL,
       jsonb_build_object('run_id', n.run_id, 'no_counters', n.storage -> 'no_counters', 'readings_lost', n.storage -> 'readings_lost', 'disks', n.storage -> 'disks')
FROM newest AS n
WHERE (n.storage ? 'no_counters' AND NOT n.storage ? 'syncs_nothing') OR (n.storage ? 'readings_lost' AND n.paced_bytes IS NULL);

-- findings() reads it with the rights of its caller.
GRANT SELECT ON sync_probe_internal.run_findings TO pg_monitor;

COMMENT ON VIEW sync_probe_internal.run_findings IS
  'What is to be known from the newest run of each location';

--
-- sync_probe_internal.findings
--
-- The rows of the view.  A function for the sake of its jit setting: with many
-- tablespaces the plan looks costly enough to be compiled, which takes seconds
-- for what takes milliseconds.
--
CREATE FUNCTION sync_probe_internal.findings()
RETURNS TABLE (
    location name,
    severity text,
    code text,
    message text,
    hint text,
    commands text[],
    evidence jsonb)
LANGUAGE sql STABLE PARALLEL RESTRICTED
ROWS 100
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $$
SELECT s.*
FROM sync_probe_internal.storage_findings(
         ARRAY(SELECT ROW(l.name, l.holds_wal, l.directory, l.filesystem, l.mount_point, l.mount_options,
                          l.device, l.write_cache, l.fua, l.disks, l.size_bytes, l.available_bytes,
                          l.missing)::sync_probe_internal.storage
               FROM sync_probe_internal.examine_locations(NULL) AS l),
         current_setting('fsync')::boolean,
         current_setting('wal_recycle')::boolean,
         current_setting('wal_init_zero')::boolean,
         pg_size_bytes(current_setting('max_wal_size')),
         current_setting('pg_sync_probe.reserve_percent')::integer,
         sync_probe_internal.busiest_tablespace()) AS s
UNION ALL
SELECT r.location, r.severity, r.code, r.message, r.hint, r.commands, r.evidence
FROM sync_probe_internal.run_findings AS r
UNION ALL
SELECT d.location, 'warning', 'outdated_run',
       format('run %s is of another time: %s', d.run_id, array_to_string(c.changes, '; ')),
       'What recommendations says of it may no longer hold. Probe again.',
       d.commands,
       jsonb_build_object('run_id', d.run_id, 'finished_at', d.measured_at, 'changes', c.changes)
FROM sync_probe.recommendation_details AS d
JOIN sync_probe_internal.newest_runs AS n USING (location),
     LATERAL sync_probe_internal.changes(n.run, n.place) AS c (changes)
WHERE d.outdated
UNION ALL
SELECT o.location, 'info', 'run_passed_over',
       format('run %s is the newest of %s, but no advice rests on it: %s', o.run_id, o.location, o.why),
       'Advice rests on runs of this server, at this directory and device, at the cluster''s own pace.',
       NULL,
       jsonb_build_object('run_id', o.run_id, 'finished_at', o.finished_at, 'why', o.why)
FROM sync_probe_internal.passed_over_runs AS o
$$;

REVOKE ALL ON FUNCTION sync_probe_internal.findings() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION sync_probe_internal.findings() TO pg_monitor;

COMMENT ON FUNCTION sync_probe_internal.findings() IS
  'What is to be known of all locations, with and without a probe';

--
-- findings
--
-- The facts about each location that one must know before believing a number.
--
CREATE VIEW sync_probe.findings AS
SELECT f.location, f.severity, f.code, f.message, f.hint, f.commands, f.evidence
FROM sync_probe_internal.findings() AS f
ORDER BY f.location <> 'pg_wal', f.location,
         array_position(ARRAY['error', 'warning', 'info'], f.severity), f.code;

GRANT SELECT ON sync_probe.findings TO pg_monitor;

COMMENT ON VIEW sync_probe.findings IS
  'Facts about the locations that one must know before believing a number, the worst first';
COMMENT ON COLUMN sync_probe.findings.severity IS
  'error: data are in danger; warning: do something; info: know it';
COMMENT ON COLUMN sync_probe.findings.code IS
  'Stable name of the finding; doc/durability-and-findings.md lists them';
COMMENT ON COLUMN sync_probe.findings.hint IS
  'What helps';
COMMENT ON COLUMN sync_probe.findings.commands IS
  'SQL that helps, each element one statement; null if there is none';
COMMENT ON COLUMN sync_probe.findings.evidence IS
  'The figures and settings that it rests on';

