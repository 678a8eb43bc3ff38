--
-- What the device wrote for a paced sync: background I/O in the time of a sync is subtracted, once
-- for own, twice for low, which leaves room for bursts, and not at all for high.  low and high
-- also have twice the standard error.  given is what the server writes then: the page that holds
-- the old end of WAL is written again, so it is the mean over all places where flush_size bytes
-- can begin in a page of 8 kB.
--
-- A disk that others use proves this only if background I/O was seen for as long as the syncs.  No
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
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    bytes float8 := (of_storage #>> ARRAY['device_bytes_per_op', paced.ordinal::text])::float8;
    seconds float8 := paced.mean_us / 1e6;
    others float8; error float8;
BEGIN
    given := nullif(flush_size, 0)::bigint + 8192 - gcd(flush_size, 8192);
    IF (of_storage #>> '{others,seconds}')::float8 >= paced.ops * seconds THEN
        others := (of_storage #>> '{others,bytes_per_sec}')::float8 * seconds;
        error := |/ (
            (of_storage #>> ARRAY['device_bytes_error', paced.ordinal::text])::float8 ^ 2
            + ((of_storage #>> '{others,bytes_per_sec_error}')::float8 * seconds) ^ 2);
        own := bytes - others;
        low := bytes - 2 * others - 2 * error;
        high := bytes + 2 * error;
    END IF;
    IF (own >= given AND low <= high) IS NOT TRUE THEN
        SELECT NULL, NULL, NULL INTO own, low, high;
    END IF;
END
$$;

--
-- Earlier runs of the same kind, for the finding drift: up to 20 that are long enough
-- for advice, of the same server, location, file system, device and method, with as many pages a
-- flush and about the same pace.  They are sought among the last hundred of the suite at the
-- location.  Null if there are none.  A run stores it.
--
CREATE FUNCTION sync_probe_internal.earlier_runs(run sync_probe.runs)
RETURNS jsonb
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT CASE WHEN count(*) > 0 THEN
    jsonb_strip_nulls(jsonb_build_object('runs', count(*),
        'median_us', percentile_cont(0.5) WITHIN GROUP (ORDER BY m.p50_us),
        'noise', round((max(m.relative_speed_high - m.relative_speed_low) / 2)::numeric, 4))) END
FROM (SELECT r.run_id
      FROM (SELECT r.*
            FROM sync_probe.runs AS r
            WHERE r.suite = run.suite AND r.location = run.location
              AND r.run_id + 0 < run.run_id AND r.imported_at IS NULL
            ORDER BY r.run_id + 0 DESC
            LIMIT 100) AS r
      WHERE r.usable_for_advice AND r.system_identifier = run.system_identifier
        AND r.host IS NOT DISTINCT FROM run.host
        AND r.filesystem IS NOT DISTINCT FROM run.filesystem
        AND r.device IS NOT DISTINCT FROM run.device
        AND (r.flush_size - 1) / 8192 = (run.flush_size - 1) / 8192
        AND r.flush_interval BETWEEN run.flush_interval / 2 AND run.flush_interval * 2
      ORDER BY r.run_id DESC
      LIMIT 20) AS r
JOIN sync_probe.measurements AS m USING (run_id)
WHERE m.test = 'paced' AND m.method = run.wal_sync_method AND m.ops > 0
$$;

--
-- Findings of a run of the wal suite: whether syncs reach the device, and what hides that;
-- properties of ZFS, see zfsprops(7); what makes syncs slow, or slower than they were.
--
-- In conditions that every call reaches, a number in quotes takes the type of the other side: an
-- operator of two types, as of a figure and an integer, is searched for among all of its name, once
-- in a session.  What is reached only when a rule holds needs no quotes.
--
CREATE FUNCTION sync_probe_internal.run_findings(
    run sync_probe.runs,
    measured sync_probe.measurements[])
RETURNS sync_probe_internal.finding[]
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    o record; m sync_probe.measurements; paced sync_probe.measurements;
    saturated sync_probe.measurements; slow sync_probe.measurements;
    -- with || it is decompressed once, not by each rule
    storage jsonb := coalesce(run.storage || '{}', '{}');
    disks jsonb := coalesce(storage -> 'disks', '[]'); zfs jsonb;
    device text := coalesce(run.device, 'the device');
    method text := current_setting('wal_sync_method');
    disk text; uncounted text; durable text; why text;
    bytes float8; written float8; utilization float8; lacking numeric;
    background float8; ratio float8; noise float8; margin float8;
    on_virtual_disk boolean; below_lacking boolean; refused text[];
    result sync_probe_internal.finding[] := '{}';
BEGIN
    -- The method in use, which may be another one since the run, if the run measured it.
    FOREACH m IN ARRAY measured LOOP
        IF m.test = 'paced' AND (m.method = method AND m.ops > 0
                                 OR m.method = run.wal_sync_method AND paced.test IS NULL) THEN
            paced := m;
        END IF;
    END LOOP;
    FOREACH m IN ARRAY measured LOOP
        IF m.status = 'no_direct_io' AND array_position(refused, m.method) IS NULL THEN
            refused := refused || m.method;
        END IF;
        IF m.test = 'saturated' AND m.method = paced.method
           AND m.direct_io = paced.direct_io THEN
            saturated := m;
        END IF;
    END LOOP;
    IF saturated.test IS NULL THEN
        RETURN result;
    END IF;
    durable := coalesce(paced.durable, saturated.durable, 'unknown');
    bytes := (storage #>> ARRAY['device_bytes_per_op', paced.ordinal::text])::float8;

    -- Storage that is known to sync nothing has a finding of its own, with the reason.
    IF durable = 'no' AND NOT storage ? 'syncs_nothing' THEN
        written := least(bytes, (storage #>> ARRAY['device_bytes_per_op', saturated.ordinal::text]
                                )::float8);
        lacking := storage #>> ARRAY['unflushed_fraction', paced.ordinal::text];
        -- behind a hypervisor the counters are those of the virtual disk
        on_virtual_disk := (SELECT bool_and(coalesce((d ->> 'virtual')::boolean, false))
                            FROM jsonb_array_elements(disks) AS d WHERE NOT d ? 'below');
        disk := CASE WHEN on_virtual_disk THEN 'the virtual disk ' ELSE '' END || device;
        result := result || (run.location, 'error', 'flush_missing',
        CASE WHEN storage ->> 'writes_uncounted' = 'false' AND written < 0.1 * run.flush_size
             THEN format('syncs with %s write nothing to %s: commits are lost when this machine'
                         ' fails', paced.method, disk)
             ELSE format('%s %s, whose write cache is volatile: commits may be lost when %s',
                         -- others flush, so that there are flushes, but not in each sync
                         CASE WHEN least(paced.flushes_per_op, saturated.flushes_per_op) >= 0.1
                                   AND lacking > 0.05
                              THEN format('at least %s %% of the syncs with %s ended without a'
                                          ' flush on', floor(100 * lacking), paced.method)
                              ELSE format('syncs with %s send no flush to', paced.method) END,
                         disk,
                         CASE WHEN on_virtual_disk THEN 'its host fails'
                              ELSE 'the power fails, unless that cache is protected (capacitor,'
                                   ' battery)' END) END,
        'Check the mount options for nobarrier, and the layers in between for one that drops'
        ' flushes. Then probe again.', NULL,
        jsonb_build_object('run_id', run.run_id, 'method', paced.method,
                           'paced_flushes_per_op', paced.flushes_per_op,
                           'saturated_flushes_per_op', saturated.flushes_per_op,
                           'unflushed_fraction', lacking,
                           'flushed_fraction',
                           (storage #>> ARRAY['flushed_fraction', paced.ordinal::text])::numeric,
                           'others', storage -> 'others', 'device_bytes_per_op', written,
                           'write_cache', storage -> 'write_cache', 'fua', storage -> 'fua')
        )::sync_probe_internal.finding;
    END IF;

    -- 15,000 revolutions a minute are 250 a second, and WAL needs one for each sync.  This
    -- holds for disks that are known to rotate: virtual disks and RAID controllers often
    -- report rotation.  No device completes a write and a flush in 5 us.
    IF saturated.p50_us < '5' OR saturated.ops_per_sec > '250'
       AND disks @> '[{"rotational": true, "virtual": false}]' THEN
        SELECT saturated.ops_per_sec > 250
               AND bool_and(coalesce((d ->> 'rotational')::boolean
                                     AND NOT (d ->> 'virtual')::boolean, false)) AS rotates,
               bool_or(d ->> 'name' LIKE 'pmem%') IS TRUE
               OR run.filesystem IN ('tmpfs', 'ramfs') IS TRUE AS is_memory
        INTO o FROM jsonb_array_elements(disks) AS d WHERE NOT d ? 'below';
        IF o.rotates OR saturated.p50_us < 5 AND NOT o.is_memory
        THEN result := result || (run.location, 'warning', 'implausibly_fast',
        CASE WHEN o.rotates
             THEN format('%s syncs a second with %s, but %s is a rotating disk, which turns at most'
                         ' 250 times a second', round(saturated.ops_per_sec), paced.method, device)
             ELSE format('half of the syncs with %s took less than %s us, less than any device'
                         ' needs for a flush', paced.method, saturated.p50_us) END,
        'The disk, or a layer above it, answers before the data are safe. Turn its write cache off'
        ' (hdparm -W 0), and look for a layer that drops flushes.', NULL,
        jsonb_build_object('run_id', run.run_id, 'method', paced.method,
                           'ops_per_sec', saturated.ops_per_sec, 'p50_us', saturated.p50_us,
                           'flushes_per_op', saturated.flushes_per_op,
                           'disks', storage -> 'disks'))::sync_probe_internal.finding;
        END IF;
    END IF;

    IF bytes IS NULL THEN	-- not read, or only flushes are counted
        IF NOT storage ? 'no_counters' THEN
            uncounted := (SELECT min(d ->> 'name') FROM jsonb_array_elements(disks) AS d
                          WHERE d ? 'counts_flushes_only');
        END IF;
        IF storage ? 'no_counters' AND NOT storage ? 'syncs_nothing' OR storage ? 'readings_lost'
           OR uncounted IS NOT NULL
        THEN result := result || (run.location, 'info', 'counters_unknown',
        CASE WHEN uncounted IS NOT NULL
             THEN format('I/O statistics of %s are disabled: only its flushes are counted',
                         uncounted)
             ELSE format('the counters of %s were not read: %s', device,
                         coalesce(storage ->> 'no_counters',
                                  format('%s failed or went backwards',
                                         CASE storage ->> 'readings_lost' WHEN '1'
                                              THEN 'a reading'
                                              ELSE (storage ->> 'readings_lost') || ' readings'
                                              END))) END,
        CASE WHEN uncounted IS NOT NULL
             THEN format('Switch them on: write 1 to /sys/class/block/%s/queue/iostats.', uncounted)
             ELSE 'Without them it is unknown whether syncs reach the device.' END, NULL,
        jsonb_build_object('run_id', run.run_id, 'no_counters', storage -> 'no_counters',
                           'readings_lost', storage -> 'readings_lost',
                           'disks', storage -> 'disks'))::sync_probe_internal.finding;
        END IF;
    END IF;

    -- A device is given at least the flush itself.
    IF bytes > '4' * run.flush_size::float8 THEN
        o := sync_probe_internal.device_bytes(storage, paced, run.flush_size);
        IF o.low > 4 * o.given
        THEN result := result || (run.location, 'warning', 'write_amplification',
        format('each sync of %s bytes makes %s write %s (%s times as much, at least %s)',
               o.given, device, pg_size_pretty(round(o.own)::bigint),
               round((o.own / o.given)::numeric, 1), round((o.low / o.given)::numeric, 1)),
        CASE WHEN run.filesystem = 'btrfs'
             THEN 'btrfs writes its log tree with each sync. ext4 and xfs write little more than'
                  ' they are given.'
             WHEN run.filesystem IN ('zfs', 'fuse.zfs')
             THEN 'Check recordsize and logbias of the data set, and ashift of the pool.'
             ELSE 'Another wal_sync_method or file system may write less: compare'
                  ' device_bytes_per_op in storage of sync_probe.runs.' END, NULL,
        jsonb_build_object('run_id', run.run_id, 'method', paced.method,
                           'device_bytes_per_op', bytes,
                           'other_bytes_per_op', round(bytes - o.own),
                           'written_bytes', o.given,
                           'amplification', round((o.own / o.given)::numeric, 1),
                           'amplification_low', round((o.low / o.given)::numeric, 1),
                           'amplification_high', round((o.high / o.given)::numeric, 1),
                           'others', storage -> 'others'))::sync_probe_internal.finding;
        END IF;
    END IF;

    IF refused IS NOT NULL THEN result := result || (run.location, 'info', 'direct_io_refused',
        format('the file system (%s) refuses O_DIRECT', coalesce(run.filesystem, 'unknown')),
        CASE WHEN run.server_version_num < '160000'
             THEN 'An open_* method with wal_level = minimal would fail here.'
             ELSE 'PostgreSQL works without direct I/O; debug_io_direct = wal would fail here.'
             END, NULL,
        jsonb_build_object('run_id', run.run_id, 'methods', refused)
        )::sync_probe_internal.finding;
    END IF;

    -- Where syncs do nothing, a slow one means nothing; the reason may be memory.
    IF NOT storage ? 'syncs_nothing' THEN
        slow := CASE WHEN paced.p99_us > '10' * paced.p50_us AND paced.p50_us > '0' THEN paced
                     WHEN saturated.p99_us > '10' * saturated.p50_us AND saturated.p50_us > '0'
                     THEN saturated END;
        IF slow.test IS NOT NULL THEN result := result || (run.location, 'warning', 'slow_tail',
        format('one sync in a hundred with %s takes %s us or more, %s times the median (%s)',
               slow.method, slow.p99_us, round((slow.p99_us / slow.p50_us)::numeric), slow.test),
        format('Commits stall then. Find out what else writes there (iostat -x 1), and see'
               ' sync_probe.latency_histogram(%s).', run.run_id), NULL,
        jsonb_build_object('run_id', run.run_id, 'method', slow.method, 'test', slow.test,
                           'p50_us', slow.p50_us,
                           'p99_us', slow.p99_us))::sync_probe_internal.finding;
        END IF;
    -- Memory below a loop device or an overlay.  storage_findings() finds locations that are in
    -- memory themselves.
    ELSIF storage ->> 'syncs_nothing' ~ '(tmpfs|ramfs)$'
       AND coalesce(run.filesystem, '') NOT IN ('tmpfs', 'ramfs')
    THEN result := result || (run.location, 'error', 'memory_filesystem',
        format('%s: syncs there reach no device', storage ->> 'syncs_nothing'),
        'Store nothing there that the cluster needs.', NULL,
        jsonb_build_object('run_id', run.run_id, 'syncs_nothing', storage -> 'syncs_nothing',
                           'backing_file', storage -> 'backing_file'))::sync_probe_internal.finding;
    END IF;

    -- Against the median of earlier runs, of the method that was current.
    ratio := CASE WHEN paced.method = run.wal_sync_method
                  THEN paced.p50_us / nullif((storage #>> '{earlier,median_us}')::float8, '0') END;
    margin := current_setting('pg_sync_probe.margin');
    IF abs(ratio - '1') > margin THEN
        noise := greatest((storage #>> '{earlier,noise}')::float8,
                          (paced.relative_speed_high - paced.relative_speed_low) / 2, 0);
        IF abs(ratio - '1') > margin + noise THEN result := result || (
        run.location, CASE WHEN ratio > 2 THEN 'warning' ELSE 'info' END, 'drift',
        format('a paced sync with %s takes %s us, %s times as long as before (median of %s earlier'
               ' %s)', paced.method, paced.p50_us, round(ratio::numeric, 2),
               storage #>> '{earlier,runs}',
               CASE storage #>> '{earlier,runs}' WHEN '1' THEN 'run' ELSE 'runs' END),
        'Load, firmware, mount options or layers below may have changed. On a shared disk, two runs'
        ' of the same differ by up to 30 %: probe again, and compare the runs.',
        ARRAY[format('SELECT * FROM sync_probe.history(%L)', run.location)],
        jsonb_build_object('run_id', run.run_id, 'method', paced.method, 'p50_us', paced.p50_us,
                           'earlier_runs', storage #> '{earlier,runs}',
                           'earlier_median_us', storage #> '{earlier,median_us}',
                           'noise', round(noise::numeric, 4),
                           'margin', margin))::sync_probe_internal.finding;
        END IF;
    END IF;

    -- Of the file of a loop device: the options of its mount, and what its disk counts.
    IF storage ? 'backing_file' THEN
        result := result || ARRAY(SELECT (
        run.location, 'warning', 'barrier_off',
        format('%s is backed by file %s, on a file system mounted with %s',
               device, storage ->> 'backing_file', option),
        'Mount that file system with barriers.', NULL,
        jsonb_build_object('run_id', run.run_id, 'backing_file', storage -> 'backing_file',
                           'mount_options', storage -> 'backing_mount_options')
        )::sync_probe_internal.finding
        FROM string_to_table(storage ->> 'backing_mount_options', ',') AS option
        WHERE option IN ('nobarrier', 'barrier=0', 'barrier=none', 'fsync_mode=nobarrier'));
        -- Flushes are lacking where a disk below with a volatile cache counted too few: see
        -- src/engine/verdict/evidence.c, which has the same limits.
        IF storage ? 'below_flushes_per_op' THEN
            SELECT min(b.value::float8)
                   - 2 * coalesce((storage #>> '{others,most_below_flushes_per_sec}')::float8
                                  * paced.mean_us / 1e6, 0) <= 0.1
                   AND min(b.value::float8) < 0.5
            INTO below_lacking
            FROM jsonb_each_text(storage -> 'below_flushes_per_op') AS b
            WHERE b.key IN (paced.ordinal::text, saturated.ordinal::text)
              AND EXISTS (SELECT FROM jsonb_array_elements(disks) AS d
                          WHERE d ? 'below' AND d ->> 'write_cache' = 'write back'
                            AND NOT d ? 'counts_flushes');
        END IF;
        -- A loop device whose cache is set to write through gets no flushes to pass on.
        result := result || (
        run.location, CASE WHEN below_lacking THEN 'warning' ELSE 'info' END, 'loop_device',
        format('%s is the file %s on %s: %s', device, storage ->> 'backing_file',
               coalesce(storage ->> 'backing_filesystem', 'an unknown file system'),
               CASE WHEN below_lacking
                    THEN 'no flush reaches the disk below, so a sync may get no further than the'
                         ' memory of this machine'
                    WHEN durable IN ('yes', 'no_cache')
                    THEN 'a sync is as safe as on that file system'
                    WHEN below_lacking IS NULL THEN 'nothing is known of the disk below'
                    ELSE 'it is unknown whether a sync reaches the disk below' END),
        'This is fine for tests. In production, give PostgreSQL the disk itself.', NULL,
        jsonb_build_object('run_id', run.run_id, 'backing_file', storage -> 'backing_file',
                           'backing_filesystem', storage -> 'backing_filesystem',
                           'disks', storage -> 'disks',
                           'below_flushes_per_op', storage -> 'below_flushes_per_op')
        )::sync_probe_internal.finding;
    END IF;

    -- background I/O in the time of one paced flush
    background := (storage #>> '{others,flushes_per_sec}')::float8 * paced.mean_us / '1e6';
    IF background > '0' AND durable <> 'unknown'
       AND (storage #>> '{others,most_flushes_per_sec}')::float8 * paced.mean_us / '1e6' > '0.1'
    THEN result := result || (run.location, 'info', 'counters_shared',
        format('background I/O flushes %s %s times a second, so its counters prove less',
               device, storage #>> '{others,flushes_per_sec}'),
        'To know more, probe longer with stop_early => false, or when the device is quiet.', NULL,
        jsonb_build_object('run_id', run.run_id, 'others', storage -> 'others',
                           'other_flushes_per_op', round(background::numeric, 3),
                           'flushes_per_op', paced.flushes_per_op))::sync_probe_internal.finding;
    END IF;

    -- Each way to it has its words, unless another finding has it already: a disk below a loop
    -- device that gets no flush, or counters that were not read.
    IF durable = 'unknown' AND below_lacking IS NOT TRUE AND NOT storage ? 'no_counters'
       AND NOT (storage ? 'readings_lost' AND bytes IS NULL) THEN
        -- why is stored of the method that was current
        why := CASE WHEN paced.method = run.wal_sync_method
                    THEN coalesce(storage ->> 'durable_unknown', 'the run has no reason')
                    ELSE 'this method was not the current one of the run' END;
        result := result || (run.location, 'info', 'durable_unknown',
        format('it is unknown whether syncs with %s reach %s: %s', paced.method, device, why),
        CASE WHEN why ~ 'background'
             THEN 'Probe longer with stop_early => false, or when the device is quiet.'
             ELSE 'A sync may be safe or not. The evidence has what was counted, and'
                  ' sync_probe.measurements each test case.' END, NULL,
        jsonb_build_object('run_id', run.run_id, 'method', paced.method,
                           'paced_flushes_per_op', paced.flushes_per_op,
                           'saturated_flushes_per_op', saturated.flushes_per_op,
                           'below_flushes_per_op', storage -> 'below_flushes_per_op',
                           'flushed_fraction', storage -> 'flushed_fraction',
                           'others', storage -> 'others',
                           'disks', storage -> 'disks'))::sync_probe_internal.finding;
    END IF;

    IF storage ? 'zfs' THEN
        zfs := storage -> 'zfs';
        result := result || ARRAY(SELECT (
        run.location, z.severity, z.code, z.message, z.hint, NULL,
        jsonb_build_object('run_id', run.run_id, 'zfs', zfs))::sync_probe_internal.finding
        FROM (VALUES
    (zfs ->> 'sync' = 'disabled',
     'error', 'zfs_sync_disabled',
     format('ZFS ignores every sync of %s (sync=disabled): a crash loses commits, and measured'
            ' speeds mean nothing', zfs ->> 'dataset'),
     format('Switch syncs on: zfs set sync=standard %s', zfs ->> 'dataset')),
    (zfs ->> 'sync' <> 'disabled' AND jsonb_array_length(zfs -> 'data_devices') > 0
     AND jsonb_array_length(zfs -> 'log_devices') = 0,
     'info', 'zfs_log_on_main_pool',
     format('pool %s has no log device: each sync writes the intent log to the data devices',
            zfs ->> 'pool'),
     format('Add a fast device that keeps what it acknowledged when the power fails:'
            ' zpool add %s log mirror DEVICE DEVICE', zfs ->> 'pool')),
    (zfs ->> 'sync' <> 'disabled' AND zfs ->> 'logbias' = 'throughput',
     'warning', 'zfs_logbias_throughput',
     format('logbias=throughput makes syncs of %s bypass the log device and write to the main'
            ' pool', zfs ->> 'dataset'),
     format('Use the log device: zfs set logbias=latency %s', zfs ->> 'dataset')),
    (zfs ? 'unknown' OR NOT zfs ? 'sync',
     'info', 'zfs_unknown',
     format('not all ZFS properties of %s are known: %s', zfs ->> 'dataset',
            coalesce(zfs ->> 'unknown', 'sync is missing')),
     'Check them yourself: zfs get sync,logbias,recordsize; zpool status. Setting'
     ' pg_sync_probe.zfs_directory is the directory of these programs.')
        ) AS z (holds, severity, code, message, hint)
        WHERE z.holds);
    END IF;

    -- The kernel counts device time in milliseconds and clock ticks: too coarse for a few syncs.
    IF saturated.mean_us > '1000' AND saturated.mean_us * saturated.ops::float8 >= '100000' THEN
        utilization := (storage #>> ARRAY['device_utilization', saturated.ordinal::text])::float8;
        IF utilization < '0.25' THEN result := result || (run.location, 'warning', 'software_bound',
        format('a sync with %s takes %s us, but the device is idle %s %% of that time: the software'
               ' above it is the bottleneck', paced.method, saturated.mean_us,
               round(((1 - utilization) * 100)::numeric)),
        'A faster device will not help. Check the file system, encryption and other layers above'
        ' the device, and whether the processors were busy: load, cgroup limits, steal time.', NULL,
        jsonb_build_object('run_id', run.run_id, 'method', paced.method,
                           'mean_us', saturated.mean_us,
                           'device_utilization', utilization)
        )::sync_probe_internal.finding;
        END IF;
    END IF;
RETURN result;
END
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
       CASE r.location WHEN 'pg_wal' THEN 'Commits' ELSE 'Checkpoints' END
       || ' wait meanwhile. Another run of suite stream shows whether it happens again.',
       ARRAY[format('SELECT * FROM sync_probe.stream_seconds(%s)', r.run_id)],
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
CROSS JOIN LATERAL (SELECT sum(s.length_ms) / 1000 FROM sync_probe_internal.stream_seconds AS s
                    WHERE s.run_id = r.run_id) AS d (seconds)
CROSS JOIN LATERAL (
    SELECT count(*) AS stalls, sum(x.stalled_ms) / 1000 AS seconds,
           max(x.stalled_ms) / 1000 AS longest,
           max(x.stalled_ms) FILTER (WHERE x.kind = 'flush') / 1000 AS longest_flush,
           (array_agg(x.meanwhile ORDER BY x.stalled_ms DESC))[1] AS meanwhile,
           to_jsonb((array_agg(x ORDER BY x.stalled_ms DESC))[:5]) AS list
    FROM sync_probe_internal.judged_seconds(r.run_id) AS x
    WHERE x.kind IS NOT NULL) AS t
WHERE t.longest_flush >= 1 OR t.seconds >= d.seconds / 20
$$;
