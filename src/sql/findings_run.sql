--
-- What the device wrote for a paced sync: background I/O in the time of a sync is subtracted, once
-- for own, twice for low, which leaves room for bursts, and not at all for high.  low and high
-- also have twice the standard error.  given is what the server writes then: the page that holds
-- the old end of WAL is written again, so it is the mean over all places where flush_size bytes
-- can begin in a page of 8 kB.
--
-- A disk that others use tells this only if background I/O was seen for as long as the syncs.  No
-- device writes less than it is given: such a figure is background I/O, taken for the run's.
--
CREATE FUNCTION sync_probe_internal.device_bytes(
    of_storage jsonb,
    paced sync_probe.measurements,
    flush_size integer,
    OUT given double precision,
    OUT own double precision,
    OUT low double precision,
    OUT high double precision)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT g.given, r.own, r.low, r.high
FROM (SELECT nullif(flush_size, 0)::bigint + 8192 - gcd(flush_size, 8192)) AS g (given)
LEFT JOIN LATERAL (
    SELECT (paced).device_bytes_per_op - b.others AS own,
           (paced).device_bytes_per_op - 2 * b.others - 2 * e.error AS low,
           (paced).device_bytes_per_op + 2 * e.error AS high
    FROM (SELECT (paced).mean_us / 1e6) AS t (seconds),
         LATERAL (SELECT (of_storage #>> '{others,bytes_per_sec}')::float8 * t.seconds,
                         (of_storage #>> '{others,bytes_per_sec_error}')::float8 * t.seconds,
                         (of_storage #>> '{others,seconds}')::float8) AS b (others, error, seconds),
         LATERAL (SELECT (of_storage #>> ARRAY['device_bytes_error', (paced).ordinal::text])::float8
                 ) AS d (error),
         LATERAL (SELECT |/ (d.error ^ 2 + b.error ^ 2)) AS e (error)
    WHERE b.seconds >= (paced).ops * t.seconds) AS r
    ON r.own >= g.given AND r.low <= r.high
$$;

--
-- What runs of the wal suite show: whether syncs reach the device, and what hides that; properties
-- of ZFS, see zfsprops(7); what makes syncs slow, or slower than they were.
--
CREATE FUNCTION sync_probe_internal.run_findings(run_ids bigint[])
RETURNS SETOF sync_probe_internal.finding
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
-- The runs, with what each measured of the method in use.
WITH measured AS MATERIALIZED (
    SELECT r.run_id, r.location, r.filesystem, r.device, r.flush_size, r.flush_interval,
           round((((p).relative_speed_high - (p).relative_speed_low) / 2)::numeric, 4)::float8
               AS noise,
           (p).method, f.facts AS storage, f.facts -> 'zfs' AS zfs,
           coalesce(r.device, 'the device') AS device_name,
           -- behind a hypervisor the counters are those of the virtual disk
           coalesce(k.virtual, false) AS on_virtual_disk,
           (p).ordinal AS paced_ordinal,
           (p).p50_us AS paced_p50_us, (p).p99_us AS paced_p99_us,
           (p).flushes_per_op AS paced_flushes, (p).device_bytes_per_op AS paced_bytes,
           (s).device_bytes_per_op AS saturated_bytes,
           (s).p50_us AS saturated_p50_us, (s).p99_us AS saturated_p99_us,
           (s).mean_us AS saturated_us, (s).ops AS saturated_ops,
           (s).ops_per_sec, (s).flushes_per_op AS saturated_flushes, (s).device_utilization,
           e.durable, e.why AS durable_unknown_why, w.lacking AS below_lacking,
           d.given AS written_bytes, d.own AS own_bytes, d.low AS own_bytes_low,
           d.high AS own_bytes_high,
           -- background I/O in the time of one paced flush
           b.flushes * (p).mean_us / 1e6 AS background_flushes,
           b.max_flushes * (p).mean_us / 1e6 AS max_background_flushes
    FROM sync_probe.runs AS r
    CROSS JOIN LATERAL (SELECT coalesce(r.storage, '{}')) AS f (facts)
    CROSS JOIN LATERAL (
        -- The method in use, which may be another one since the run, if the run measured it.
        SELECT p, s
        FROM sync_probe.measurements AS p
        JOIN sync_probe.measurements AS s
            ON s.run_id = p.run_id AND s.test = 'saturated' AND s.method = p.method
           AND s.direct_io = p.direct_io
        WHERE p.run_id = r.run_id AND p.test = 'paced'
          AND (p.method = r.wal_sync_method
               OR p.method = current_setting('wal_sync_method') AND p.ops > 0)
        ORDER BY p.method = r.wal_sync_method
        LIMIT 1) AS m,
         LATERAL (SELECT (r.storage #>> '{others,flushes_per_sec}')::float8,
                         (r.storage #>> '{others,most_flushes_per_sec}')::float8,
                         (r.storage #>> '{others,most_below_flushes_per_sec}')::float8
                 ) AS b (flushes, max_flushes, max_backing_flushes),
         LATERAL sync_probe_internal.device_bytes(f.facts, p, r.flush_size) AS d,
         -- why is stored of the method that was current
         LATERAL (SELECT coalesce((p).durable, (s).durable, 'unknown'),
                         CASE WHEN (p).method = r.wal_sync_method
                              THEN coalesce(f.facts ->> 'durable_unknown',
                                            'the run does not say why')
                              ELSE 'this method was not the current one of the run' END
                 ) AS e (durable, why),
         LATERAL (SELECT bool_and(coalesce((d ->> 'virtual')::boolean, false))
                  FROM jsonb_array_elements(coalesce(f.facts -> 'disks', '[]')) AS d
                  WHERE NOT d ? 'below') AS k (virtual),
         -- Flushes are lacking where a disk below with a volatile cache counted too few: see
         -- src/engine/verdict/evidence.c, which has the same limits.
         LATERAL (SELECT min(o.value::float8)
                             - 2 * coalesce(b.max_backing_flushes * (p).mean_us / 1e6, 0) <= 0.1
                         AND min(o.value::float8) < 0.5
                  FROM jsonb_each_text(coalesce(f.facts -> 'below_flushes_per_op', '{}')) AS o
                  WHERE o.key IN ((p).ordinal::text, (s).ordinal::text)
                    AND EXISTS (SELECT FROM jsonb_array_elements(f.facts -> 'disks') AS d
                                WHERE d ? 'below' AND d ->> 'write_cache' = 'write back'
                                  AND NOT d ? 'counts_flushes')) AS w (lacking)
    WHERE r.suite = 'wal' AND r.run_id = ANY (run_ids)
)
-- Storage that is known to sync nothing has a finding of its own, which says why.
SELECT n.location, 'error', 'flush_missing',
       CASE WHEN n.storage ->> 'writes_uncounted' = 'false' AND w.bytes < 0.1 * n.flush_size
            THEN format('syncs with %s write nothing to %s%s: commits are lost when this machine'
                        ' fails', n.method, v.kind, n.device_name)
            ELSE format('%s %s%s, whose write cache is volatile: commits may be lost when %s',
                        -- others flush, so that there are flushes, but not in each sync
                        CASE WHEN least(n.paced_flushes, n.saturated_flushes) >= 0.1
                                  AND s.lacking > 0.05
                             THEN format('at least %s %% of the syncs with %s ended without a'
                                         ' flush on', floor(100 * s.lacking), n.method)
                             ELSE format('syncs with %s send no flush to', n.method) END,
                        v.kind, n.device_name,
                        CASE WHEN n.on_virtual_disk THEN 'its host fails'
                             ELSE 'the power fails, unless that cache is protected (capacitor,'
                                  ' battery)' END) END,
       'Check the mount options for nobarrier, and the layers in between for one that drops'
       ' flushes. Then probe again.',
       NULL::text[],
       jsonb_build_object('run_id', n.run_id, 'method', n.method,
                          'paced_flushes_per_op', n.paced_flushes,
                          'saturated_flushes_per_op', n.saturated_flushes,
                          'lacking_share', s.lacking, 'own_share', s.own,
                          'others', n.storage -> 'others',
                          'device_bytes_per_op', w.bytes,
                          'write_cache', n.storage -> 'write_cache', 'fua', n.storage -> 'fua')
FROM measured AS n,
     LATERAL (SELECT least(n.paced_bytes, n.saturated_bytes)) AS w (bytes),
     LATERAL (SELECT (n.storage #>> ARRAY['lacking_share', n.paced_ordinal::text])::numeric,
                     (n.storage #>> ARRAY['own_share', n.paced_ordinal::text])::numeric
             ) AS s (lacking, own),
     LATERAL (SELECT CASE WHEN n.on_virtual_disk THEN 'the virtual disk ' ELSE '' END) AS v (kind)
WHERE n.durable = 'no' AND NOT n.storage ? 'syncs_nothing'

UNION ALL
SELECT n.location, 'warning', 'barrier_off',
       format('%s is backed by file %s, on a file system mounted with %s',
              n.device_name, n.storage ->> 'backing_file', o.option),
       'Mount that file system with barriers.',
       NULL,
       jsonb_build_object('run_id', n.run_id, 'backing_file', n.storage -> 'backing_file',
                          'mount_options', n.storage -> 'backing_mount_options')
FROM measured AS n,
     string_to_table(n.storage ->> 'backing_mount_options', ',') AS o (option)
WHERE o.option IN ('nobarrier', 'barrier=0', 'barrier=none', 'fsync_mode=nobarrier')

UNION ALL
-- 15,000 revolutions a minute are 250 a second, and WAL needs one for each sync.  This
-- holds for disks that are known to rotate: virtual disks and RAID controllers often
-- report rotation.  No device completes a write and a flush in 5 us.
SELECT n.location, 'warning', 'implausibly_fast',
       CASE WHEN t.rotates
            THEN format('%s syncs a second with %s, but %s is a rotating disk, which turns at most'
                        ' 250 times a second', round(n.ops_per_sec), n.method, n.device_name)
            ELSE format('half of the syncs with %s took less than %s us, less than any device needs'
                        ' for a flush', n.method, n.saturated_p50_us) END,
       'The disk, or a layer above it, answers before the data are safe. Turn its write cache off'
       ' (hdparm -W 0), and look for a layer that drops flushes.',
       NULL,
       jsonb_build_object('run_id', n.run_id, 'method', n.method, 'ops_per_sec', n.ops_per_sec,
                          'p50_us', n.saturated_p50_us, 'flushes_per_op', n.saturated_flushes,
                          'disks', n.storage -> 'disks')
FROM measured AS n,
     LATERAL (SELECT coalesce(bool_and(coalesce((d ->> 'rotational')::boolean
                                                AND NOT (d ->> 'virtual')::boolean, false)), false),
                     coalesce(bool_or(d ->> 'name' LIKE 'pmem%'), false)
              FROM jsonb_array_elements(coalesce(n.storage -> 'disks', '[]')) AS d
              WHERE NOT d ? 'below') AS t (rotates, is_pmem)
WHERE (t.rotates AND n.ops_per_sec > 250)
   OR (n.saturated_p50_us < 5 AND NOT t.is_pmem
       AND NOT coalesce(n.filesystem IN ('tmpfs', 'ramfs'), false))

UNION ALL
SELECT n.location, 'info', 'counters_unknown',
       CASE WHEN o.disk IS NOT NULL
            THEN format('I/O statistics of %s are disabled: only its flushes are counted', o.disk)
            ELSE format('the counters of %s were not read: %s', n.device_name,
                        coalesce(n.storage ->> 'no_counters',
                                 format('%s failed or went backwards',
                                        CASE n.storage ->> 'readings_lost' WHEN '1'
                                             THEN 'a reading'
                                             ELSE (n.storage ->> 'readings_lost') || ' readings'
                                             END))) END,
       CASE WHEN o.disk IS NOT NULL
            THEN format('Switch them on: write 1 to /sys/class/block/%s/queue/iostats.', o.disk)
            ELSE 'Without them it is unknown whether syncs reach the device.' END,
       NULL,
       jsonb_build_object('run_id', n.run_id, 'no_counters', n.storage -> 'no_counters',
                          'readings_lost', n.storage -> 'readings_lost',
                          'disks', n.storage -> 'disks')
FROM measured AS n,
     LATERAL (SELECT min(d ->> 'name')
              FROM jsonb_array_elements(coalesce(n.storage -> 'disks', '[]')) AS d
              WHERE d ? 'counts_flushes_only' AND n.paced_bytes IS NULL
                AND NOT n.storage ? 'no_counters') AS o (disk)
WHERE (n.storage ? 'no_counters' AND NOT n.storage ? 'syncs_nothing')
   OR (n.storage ? 'readings_lost' AND n.paced_bytes IS NULL)
   OR o.disk IS NOT NULL

UNION ALL
SELECT n.location, 'warning', 'write_amplification',
       format('each sync of %s bytes makes %s write %s (%s times as much, at least %s)',
              n.written_bytes, n.device_name, pg_size_pretty(round(n.own_bytes)::bigint),
              a.factor, a.low),
       CASE WHEN n.filesystem = 'btrfs'
            THEN 'btrfs writes its log tree with each sync. ext4 and xfs write little more than'
                 ' they are given.'
            WHEN n.filesystem IN ('zfs', 'fuse.zfs')
            THEN 'Check recordsize and logbias of the data set, and ashift of the pool.'
            ELSE 'Another wal_sync_method or file system may write less: compare'
                 ' device_bytes_per_op in sync_probe.measurements.' END,
       NULL::text[],
       jsonb_build_object('run_id', n.run_id, 'method', n.method,
                          'device_bytes_per_op', n.paced_bytes,
                          'other_bytes_per_op', round(n.paced_bytes - n.own_bytes),
                          'written_bytes', n.written_bytes, 'amplification', a.factor,
                          'amplification_low', a.low, 'amplification_high', a.high,
                          'others', n.storage -> 'others')
FROM measured AS n,
     LATERAL (SELECT round((n.own_bytes / n.written_bytes)::numeric, 1),
                     round((n.own_bytes_low / n.written_bytes)::numeric, 1),
                     round((n.own_bytes_high / n.written_bytes)::numeric, 1)
             ) AS a (factor, low, high)
WHERE n.own_bytes_low > 4 * n.written_bytes

UNION ALL
SELECT n.location, 'info', 'direct_io_refused',
       format('the file system (%s) refuses O_DIRECT', coalesce(n.filesystem, 'unknown')),
       'PostgreSQL works without direct I/O; debug_io_direct = wal would fail here.',
       NULL,
       jsonb_build_object('run_id', n.run_id, 'methods', d.methods)
FROM measured AS n,
     LATERAL (SELECT jsonb_agg(DISTINCT m.method)
              FROM sync_probe.measurements AS m
              WHERE m.run_id = n.run_id AND m.status = 'no_direct_io') AS d (methods)
WHERE d.methods IS NOT NULL

UNION ALL
SELECT n.location, 'warning', 'slow_tail',
       format('one sync in a hundred with %s takes %s us or more, %s times the median (%s)',
              n.method, t.p99_us, round((t.p99_us / t.p50_us)::numeric), t.test),
       'Commits stall then. Find out what else writes there (iostat -x 1), and see'
       ' sync_probe.latency_histogram of this run.',
       NULL,
       jsonb_build_object('run_id', n.run_id, 'method', n.method, 'test', t.test,
                          'p50_us', t.p50_us, 'p99_us', t.p99_us)
FROM measured AS n,
     LATERAL (SELECT v.*
              FROM (VALUES ('paced', n.paced_p50_us, n.paced_p99_us),
                           ('saturated', n.saturated_p50_us, n.saturated_p99_us)
                   ) AS v (test, p50_us, p99_us)
              WHERE v.p99_us > 10 * v.p50_us AND v.p50_us > 0
              LIMIT 1) AS t

UNION ALL
-- Against the median of up to 20 earlier runs of the same kind: long enough for advice, the same
-- location, file system, device and method, as many pages a flush, about the same pace.  They are
-- sought among the last hundred of the location.
SELECT n.location, 'info', 'drift',
       format('a paced sync with %s takes %s us, %s times as long as before (median of %s earlier'
              ' %s)', n.method, n.paced_p50_us, round(d.ratio::numeric, 2), e.runs,
              CASE e.runs WHEN 1 THEN 'run' ELSE 'runs' END),
       'Load, firmware, mount options or layers below may have changed. On a shared disk, two runs'
       ' of the same differ by up to 30 %: probe again, and compare the runs.',
       ARRAY[format('SELECT * FROM sync_probe.history(%L)', n.location)],
       jsonb_build_object('run_id', n.run_id, 'method', n.method, 'p50_us', n.paced_p50_us,
                          'earlier_runs', e.runs, 'earlier_median_us', e.median_us,
                          'noise', d.noise, 'margin', d.margin)
FROM measured AS n,
     LATERAL (SELECT count(*) AS runs,
                     coalesce(max(round(((m.relative_speed_high - m.relative_speed_low)
                                         / 2)::numeric, 4)), 0)::float8 AS noise,
                     percentile_cont(0.5) WITHIN GROUP (ORDER BY m.p50_us) AS median_us
              FROM (SELECT r.run_id
                    FROM (SELECT r.*, r.run_id + 0 AS n
                          FROM sync_probe.runs AS r
                          WHERE r.suite = 'wal' AND r.location = n.location
                            AND r.run_id + 0 < n.run_id AND r.imported_at IS NULL
                          ORDER BY r.run_id + 0 DESC
                          LIMIT 100) AS r
                    WHERE r.usable_for_advice AND r.filesystem IS NOT DISTINCT FROM n.filesystem
                      AND r.device IS NOT DISTINCT FROM n.device
                      AND (r.flush_size - 1) / 8192 = (n.flush_size - 1) / 8192
                      AND r.flush_interval BETWEEN n.flush_interval / 2 AND n.flush_interval * 2
                    ORDER BY r.n DESC
                    LIMIT 20) AS r
              JOIN sync_probe.measurements AS m ON m.run_id = r.run_id
              WHERE m.test = 'paced' AND m.method = n.method AND m.ops > 0) AS e,
     LATERAL (SELECT n.paced_p50_us / nullif(e.median_us, 0), greatest(e.noise, n.noise, 0),
                     current_setting('pg_sync_probe.margin')::float8) AS d (ratio, noise, margin)
WHERE e.runs > 0 AND abs(d.ratio - 1) > d.margin + d.noise

UNION ALL
-- What a run shows by itself: a row for each, which begins with its condition.
SELECT n.location, f.severity, f.code, f.message, f.hint, NULL,
       jsonb_build_object('run_id', n.run_id) || f.evidence
FROM measured AS n, LATERAL (VALUES
    -- Memory below a loop device or an overlay.  storage_findings() finds locations that are in
    -- memory themselves.
    (n.storage ->> 'syncs_nothing' ~ '(tmpfs|ramfs)$'
     AND coalesce(n.filesystem, '') NOT IN ('tmpfs', 'ramfs'),
     'error', 'memory_filesystem',
     format('%s: syncs there reach no device', n.storage ->> 'syncs_nothing'),
     'Store nothing there that the cluster needs.',
     jsonb_build_object('syncs_nothing', n.storage -> 'syncs_nothing',
                        'backing_file', n.storage -> 'backing_file')),
    -- A loop device whose cache is set to write through gets no flushes to pass on.
    (n.storage ? 'backing_file',
     CASE WHEN n.below_lacking THEN 'warning' ELSE 'info' END, 'loop_device',
     format('%s is the file %s on %s: %s', n.device_name, n.storage ->> 'backing_file',
            coalesce(n.storage ->> 'backing_filesystem', 'an unknown file system'),
            CASE WHEN n.below_lacking THEN 'no flush reaches the disk below, so a sync may get no'
                                     ' further than the memory of this machine'
                 WHEN n.durable IN ('yes', 'no_cache')
                 THEN 'a sync is as safe as on that file system'
                 WHEN n.below_lacking IS NULL THEN 'nothing is known of the disk below'
                 ELSE 'it is unknown whether a sync reaches the disk below' END),
     'This is fine for tests. In production, give PostgreSQL the disk itself.',
     jsonb_build_object('backing_file', n.storage -> 'backing_file',
                        'backing_filesystem', n.storage -> 'backing_filesystem',
                        'disks', n.storage -> 'disks',
                        'below_flushes_per_op', n.storage -> 'below_flushes_per_op')),
    (n.background_flushes > 0 AND n.max_background_flushes > 0.1 AND n.durable <> 'unknown',
     'info', 'counters_shared',
     format('background I/O flushes %s %s times a second, so its counters prove less',
            n.device_name, n.storage #>> '{others,flushes_per_sec}'),
     'To know more, probe longer with stop_early => false, or when the device is quiet.',
     jsonb_build_object('others', n.storage -> 'others',
                        'other_flushes_per_op', round(n.background_flushes::numeric, 3),
                        'flushes_per_op', n.paced_flushes)),
    -- Each way to it has its words, unless a finding says so already: a disk below a loop device
    -- that gets no flush, or counters that were not read.
    (n.durable = 'unknown' AND n.below_lacking IS NOT TRUE
     AND NOT n.storage ? 'no_counters'
     AND NOT (n.storage ? 'readings_lost' AND n.paced_bytes IS NULL),
     'info', 'durable_unknown',
     format('it is unknown whether syncs with %s reach %s: %s', n.method, n.device_name,
            n.durable_unknown_why),
     CASE WHEN n.durable_unknown_why ~ 'background'
          THEN 'Probe longer with stop_early => false, or when the device is quiet.'
          ELSE 'A sync may be safe or not. The evidence has what was counted, and'
               ' sync_probe.measurements each test case.' END,
     jsonb_build_object('method', n.method,
                        'paced_flushes_per_op', n.paced_flushes,
                        'saturated_flushes_per_op', n.saturated_flushes,
                        'below_flushes_per_op', n.storage -> 'below_flushes_per_op',
                        'own_share', n.storage -> 'own_share', 'others', n.storage -> 'others',
                        'disks', n.storage -> 'disks')),
    (n.zfs ->> 'sync' = 'disabled',
     'error', 'zfs_sync_disabled',
     format('ZFS ignores every sync of %s (sync=disabled): a crash loses commits, and measured'
            ' speeds mean nothing', n.zfs ->> 'dataset'),
     format('Switch syncs on: zfs set sync=standard %s', n.zfs ->> 'dataset'),
     jsonb_build_object('zfs', n.zfs)),
    (jsonb_array_length(n.zfs -> 'data_devices') > 0
     AND jsonb_array_length(n.zfs -> 'log_devices') = 0,
     'info', 'zfs_log_on_main_pool',
     format('pool %s has no log device: each sync writes the intent log to the data devices',
            n.zfs ->> 'pool'),
     format('Add a fast device that keeps what it acknowledged when the power fails:'
            ' zpool add %s log mirror DEVICE DEVICE', n.zfs ->> 'pool'),
     jsonb_build_object('zfs', n.zfs)),
    (n.zfs ->> 'logbias' = 'throughput',
     'warning', 'zfs_logbias_throughput',
     format('logbias=throughput makes syncs of %s bypass the log device and write to the main'
            ' pool', n.zfs ->> 'dataset'),
     format('Use the log device: zfs set logbias=latency %s', n.zfs ->> 'dataset'),
     jsonb_build_object('zfs', n.zfs)),
    (n.zfs ? 'unknown' OR NOT n.zfs ? 'sync',
     'info', 'zfs_unknown',
     format('not all ZFS properties of %s are known: %s', n.zfs ->> 'dataset',
            coalesce(n.zfs ->> 'unknown', 'sync is missing')),
     'Check them yourself: zfs get sync,logbias,recordsize; zpool status. Setting'
     ' pg_sync_probe.zfs_directory says where these programs are.',
     jsonb_build_object('zfs', n.zfs)),
    -- The kernel counts device time in milliseconds and clock ticks: too coarse for a few syncs.
    (n.saturated_us > 1000 AND n.device_utilization < 0.25
     AND n.saturated_us * n.saturated_ops >= 100000,
     'warning', 'software_bound',
     format('a sync with %s takes %s us, but the device is idle %s %% of that time: the software'
            ' above it is the bottleneck', n.method, n.saturated_us,
            round(((1 - n.device_utilization) * 100)::numeric)),
     'A faster device will not help. Check the file system, encryption and other layers above'
     ' the device, and whether the processors were busy: load, cgroup limits, steal time.',
     jsonb_build_object('method', n.method, 'mean_us', n.saturated_us,
                        'device_utilization', n.device_utilization))
) AS f (holds, severity, code, message, hint, evidence)
WHERE f.holds
$$;

--
-- The newest stream at each of these locations, if it stalled: in one flush for a second, or for a
-- twentieth of its time in all.  A shorter stall in minutes is usual.
--
CREATE FUNCTION sync_probe_internal.stream_findings(places sync_probe_internal.storage[])
RETURNS SETOF sync_probe_internal.finding
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT r.location, 'warning', 'stream_stalls',
       format('a stream stalled %s in %s s, for %s s in all; in the longest stall, of %s s, %s',
              CASE t.stalls WHEN 1 THEN 'once' ELSE t.stalls || ' times' END,
              round(d.seconds::numeric, 1), round(t.seconds::numeric, 1),
              round(t.longest::numeric, 1), t.meanwhile),
       'Commits wait meanwhile. Another run of suite stream shows whether it happens again.',
       ARRAY[format('SELECT * FROM sync_probe.stream_seconds WHERE run_id = %s', r.run_id)],
       jsonb_build_object('run_id', r.run_id, 'stalls', t.stalls, 'longest', t.list,
                          'stalled_seconds', round(t.seconds::numeric, 3),
                          'longest_seconds', round(t.longest::numeric, 3),
                          'seconds', round(d.seconds::numeric, 3))
FROM unnest(places) AS l
CROSS JOIN LATERAL (
    SELECT (r.run).*
    FROM sync_probe_internal.own_runs AS r
    WHERE (r.run).suite = 'stream' AND (r.run).location = l.name
      AND ARRAY[(r.run).directory, (r.run).device] = ARRAY[l.directory, l.device]
    ORDER BY (r.run).run_id + 0 DESC
    LIMIT 1) AS r
CROSS JOIN LATERAL (SELECT extract(epoch FROM r.finished_at - r.started_at)::float8) AS d (seconds)
CROSS JOIN LATERAL (
    SELECT count(*) AS stalls, sum(x.stalled_ms) / 1000 AS seconds,
           max(x.stalled_ms) / 1000 AS longest,
           max(x.stalled_ms) FILTER (WHERE x.kind = 'flush') / 1000 AS longest_flush,
           (array_agg(x.meanwhile ORDER BY x.stalled_ms DESC))[1] AS meanwhile,
           jsonb_agg(x ORDER BY x.stalled_ms DESC) AS list
    FROM sync_probe_internal.stalls(r.run_id) AS x) AS t
WHERE t.longest_flush >= 1 OR t.seconds >= d.seconds / 20
$$;
