--
-- A row of sync_probe.findings.  The functions of the files findings_*.sql return such
-- rows, one paragraph for each code: where it holds, then the columns in the order of the type:
-- location, severity and code; message; hint and commands; evidence.
--
CREATE TYPE sync_probe_internal.finding AS (
    location name,
    severity text,
    code text,
    message text,
    hint text,
    commands text[],
    evidence jsonb);

--
-- Findings about file systems, disks and settings, which need no probe.  Where a run has answered a
-- question, the finding has the answer.
--
-- What is true of a file system is reported at the first location on it.
--
-- facts: the locations that may have a finding.  runs: those that advice rests on.
-- busiest: busiest_tablespace().  assumed: settings that override the
-- server's, settled by a run or given by a test.
--
CREATE FUNCTION sync_probe_internal.storage_findings(
    facts sync_probe_internal.storage[],
    runs sync_probe.runs[],
    busiest name,
    assumed jsonb)
RETURNS sync_probe_internal.finding[]
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    p sync_probe_internal.storage; o record; options text[];
    wal_recycle boolean; wal_init_zero boolean; is_memory boolean; is_network boolean;
    kept bigint; growth bigint; reserve bigint;
    result sync_probe_internal.finding[] := '{}';
BEGIN
FOREACH p IN ARRAY facts LOOP
    options := string_to_array(p.mount_options, ',');
    is_memory := p.filesystem IN ('tmpfs', 'ramfs');

    IF p.missing THEN result := result || (p.name, 'error', 'tablespace_missing',
        format('%s does not contain what this server created there: its file system is not'
               ' mounted, or the directory was removed', coalesce(p.directory, 'its directory')),
        'Mount it again, and create nothing there. Until then queries on its tables fail, and a'
        ' checkpoint may end the server with a PANIC.', NULL,
        jsonb_build_object('directory', p.directory, 'mount_point', p.mount_point,
                           'filesystem', p.filesystem))::sync_probe_internal.finding;
    END IF;

    IF p.holds_wal AND NOT coalesce(assumed ->> 'fsync', current_setting('fsync'))::boolean
    THEN result := result || (p.name, 'error', 'fsync_off',
        'fsync is off: this server syncs nothing, and a crash of the operating system may destroy'
        ' the cluster',
        'Switch it on. Then run sync on the machine, or stop the server and run initdb --sync-only,'
        ' or unmount the file systems: data written before may still be in memory only.',
        ARRAY['ALTER SYSTEM SET fsync = on', 'SELECT pg_catalog.pg_reload_conf()'],
        jsonb_build_object('fsync', 'off'))::sync_probe_internal.finding;
    END IF;

    -- The manual on wal_recycle and wal_init_zero: copy-on-write file systems need neither.  It
    -- is a rule for what was not measured, see findings().
    IF p.holds_wal AND p.filesystem IN ('zfs', 'fuse.zfs', 'btrfs', 'bcachefs')
       AND NOT 'nodatacow' = ANY (options) THEN
        wal_recycle := coalesce(assumed ->> 'wal_recycle', current_setting('wal_recycle'));
        wal_init_zero := coalesce(assumed ->> 'wal_init_zero', current_setting('wal_init_zero'));
        IF wal_recycle OR wal_init_zero
        THEN result := result || (p.name, 'warning', 'cow_wal_settings',
        format('pg_wal is on %s, a copy-on-write file system: %s may gain nothing there and cost'
               ' writes', p.filesystem,
               concat_ws(' and ', CASE WHEN wal_recycle THEN 'recycling' END,
                         CASE WHEN wal_init_zero THEN 'zero-filling' END) || ' WAL files'),
        'The manual advises to switch wal_recycle and wal_init_zero off there. Measure whether that'
        ' holds here: a finding then shows the result.',
        ARRAY[format('SELECT * FROM sync_probe.probe(%L, ''segments'')', p.name)],
        jsonb_build_object('filesystem', p.filesystem, 'wal_recycle', wal_recycle,
                           'wal_init_zero', wal_init_zero))::sync_probe_internal.finding;
        END IF;
    END IF;

    -- The manual, "WAL Internals": WAL is best on another disk than the main database files.
    IF p.holds_wal AND is_memory IS NOT TRUE
       AND EXISTS (SELECT FROM unnest(facts) AS b
                   WHERE b.name = busiest AND NOT b.holds_wal
                     AND (p.disks && b.disks OR p.mount_point = b.mount_point))
    THEN result := result || (p.name, 'info', 'wal_shares_device',
        format('pg_wal shares %s with %s, the busiest tablespace: its reads and writes may'
               ' delay commits', (
                   SELECT coalesce(CASE WHEN b.device = p.device THEN p.device
                                        ELSE (SELECT min(d) FROM unnest(p.disks) AS d
                                              WHERE d = ANY (b.disks)) END, p.mount_point)
                   FROM unnest(facts) AS b WHERE b.name = busiest), busiest),
        'Give pg_wal a device of its own: initdb --waldir, or a symbolic link created while the'
        ' server is stopped.', NULL,
        jsonb_build_object('device', p.device, 'disks', p.disks, 'tablespace', busiest)
        )::sync_probe_internal.finding;
    END IF;

    CONTINUE WHEN p.shares_filesystem_with IS NOT NULL;

    -- ext4(5): barrier=0; f2fs: fsync_mode=nobarrier; overlayfs: volatile omits all syncs.
    IF options
       && '{nobarrier,barrier=0,barrier=none,fsync_mode=nobarrier,volatile,fsync=volatile}'
    THEN result := result || ARRAY(SELECT (
        p.name, CASE p.write_cache WHEN 'write through' THEN 'warning' ELSE 'error' END,
        'barrier_off',
        format('%s is mounted with %s: syncs there send no flush to the device',
               p.mount_point, option),
        CASE p.filesystem
            WHEN 'overlay' THEN 'Put the data directory on a volume, or start the container'
                                ' without this option.'
            ELSE format('Run mount -o remount,%s %s, and remove the option from /etc/fstab.',
                        CASE p.filesystem WHEN 'f2fs' THEN 'fsync_mode=posix' ELSE 'barrier' END,
                        p.mount_point) END, NULL,
        jsonb_build_object('mount_options', p.mount_options, 'write_cache', p.write_cache)
        )::sync_probe_internal.finding
        FROM unnest(options) AS option
        WHERE option IN ('nobarrier', 'barrier=0', 'barrier=none', 'fsync_mode=nobarrier')
           OR p.filesystem = 'overlay' AND option IN ('volatile', 'fsync=volatile'));
    END IF;

    -- A disk with FUA can make a single write durable without a flush.  Where nothing can be
    -- written, there is nothing to probe.
    IF p.write_cache = 'write back' AND NOT p.fua AND NOT p.missing
       AND NOT coalesce('ro' = ANY (options), false) THEN
        -- the run there, else at another location on it
        SELECT r.run_id, r.durable, r.wal_sync_method AS method, r.fsync INTO o
        FROM unnest(runs) AS r
        JOIN unnest(facts) AS f ON f.name = r.location
        WHERE coalesce(f.shares_filesystem_with, f.name) = p.name
        ORDER BY CASE WHEN f.name <> p.name THEN r.run_id END DESC NULLS FIRST
        LIMIT 1;
        result := result || (p.name, 'info', 'write_cache_volatile',
        format('%s has a volatile write cache: a commit is safe only if flushes reach it, or if a'
               ' capacitor or battery protects it', coalesce(p.device, p.name::text)),
        CASE o.durable
            WHEN 'yes' THEN format('In run %s, syncs with %s reached it.', o.run_id, o.method)
            WHEN 'no' THEN format(CASE WHEN o.fsync IS FALSE THEN 'In run %s, fsync was off.'
                                       ELSE 'In run %s, syncs with %s did not reach it.' END,
                                  o.run_id, o.method)
            WHEN 'no_cache' THEN format('In run %s, it had no volatile cache.', o.run_id)
            WHEN 'unknown' THEN format('Run %s did not show whether syncs with %s reach it.',
                                       o.run_id, o.method)
            ELSE 'Probe it. Column durable of sync_probe.recommendations then shows whether they'
                 ' do.' END,
        CASE WHEN o.run_id IS NULL THEN ARRAY[sync_probe_internal.probe_command(p.name)] END,
        jsonb_build_object('device', p.device, 'disks', p.disks, 'write_cache', p.write_cache,
                           'fua', p.fua)
            || CASE WHEN o.run_id IS NULL THEN '{}'
                    ELSE jsonb_build_object('run_id', o.run_id, 'durable', o.durable) END
        )::sync_probe_internal.finding;
    END IF;

    IF is_memory THEN result := result || (p.name, 'error', 'memory_filesystem',
        format('%s is %s: its files are lost when the machine restarts',
               p.mount_point, p.filesystem),
        CASE WHEN p.holds_wal THEN 'Stop the server and move pg_wal to a disk.'
             WHEN p.name = 'pg_default'
             THEN 'Stop the server and move the data directory to a disk.'
             ELSE 'Move its tables to another tablespace, then drop it. Without the tablespace'
                  ' the cluster does not recover from a crash.' END, NULL,
        jsonb_build_object('filesystem', p.filesystem, 'mount_point', p.mount_point)
        )::sync_probe_internal.finding;
    END IF;

    IF 'ro' = ANY (options) AND NOT p.missing
    THEN result := result || (p.name, 'error', 'read_only_filesystem',
        format('%s is mounted read-only: nothing can be written to %s', p.mount_point, p.name),
        'The kernel may have remounted it after an error. Read the kernel log before you mount it'
        ' for writing again.', NULL,
        jsonb_build_object('mount_point', p.mount_point, 'mount_options', p.mount_options)
        )::sync_probe_internal.finding;
    END IF;

    IF p.filesystem = 'overlay' THEN result := result || (p.name, 'warning', 'overlay_filesystem',
        format('%s is an overlay, the writable layer of a container: it is removed with the'
               ' container', p.mount_point),
        'Put the data directory on a volume.', NULL,
        jsonb_build_object('filesystem', p.filesystem, 'mount_point', p.mount_point,
                           'device', p.device))::sync_probe_internal.finding;
    END IF;

    -- Memory, network file systems and ZFS have no device of their own, see sp_find_by_mount().
    IF p.device IS NULL THEN
        is_network := p.filesystem IN (
            'nfs', 'nfs4', 'cifs', 'smb3', 'smbfs', '9p', 'ceph', 'afs', 'lustre', 'glusterfs',
            'beegfs', 'fuse.sshfs', 'fuse.glusterfs', 'fuse.ceph-fuse', 'fuse.s3fs', 'fuse.rclone',
            'fuse.davfs', 'fuse.davfs2');
        IF is_network THEN result := result || (p.name, 'warning', 'network_filesystem',
        format('%s is %s: another machine decides whether a sync reaches a disk',
               p.mount_point, p.filesystem),
        'Export and mount it for synchronous writes (NFS: "sync" in the export, "hard" in the'
        ' mount). Ask its administrator about the write caches of the disks there.', NULL,
        jsonb_build_object('filesystem', p.filesystem, 'mount_point', p.mount_point,
                           'mount_options', p.mount_options))::sync_probe_internal.finding;
        END IF;
        IF NOT p.missing
           AND NOT coalesce(is_memory OR is_network OR p.filesystem IN ('zfs', 'fuse.zfs'), false)
        THEN result := result || (p.name, 'info', 'device_unknown',
        format('no disk is known below %s (%s): nothing shows whether syncs reach one',
               coalesce(p.mount_point, 'it'), coalesce(p.filesystem, 'unknown file system')),
        'On Linux, disks are found in /sys and /proc/self/mountinfo. A container must see both.',
        NULL,
        jsonb_build_object('filesystem', p.filesystem, 'mount_point', p.mount_point)
        )::sync_probe_internal.finding;
        END IF;
    END IF;

    -- About the reserve of a probe, in which WAL may grow to max_wal_size.  A probe also keeps
    -- four segments free, and counts blocks (src/storage/free_space.c).
    kept := p.size_bytes / 100 * current_setting('pg_sync_probe.reserve_percent')::integer;
    growth := CASE WHEN p.holds_wal THEN
        pg_size_bytes(coalesce(assumed ->> 'max_wal_size', current_setting('max_wal_size'))) END;
    IF p.available_bytes < greatest(kept, growth) THEN
        -- the WAL that is there has its space
        growth := growth - (SELECT sum(w.size) FROM pg_ls_waldir() AS w);
        reserve := greatest(kept, growth);
        IF p.available_bytes < reserve THEN result := result || (p.name, 'warning', 'low_space',
        format('%s has %s available, less than the reserve of %s',
               coalesce(p.mount_point, p.directory), pg_size_pretty(p.available_bytes),
               pg_size_pretty(reserve)),
        CASE WHEN p.holds_wal
             THEN concat('A full pg_wal stops the cluster: free space',
                         CASE WHEN growth > kept THEN ', or lower max_wal_size' END,
                         '. SELECT * FROM pg_replication_slots shows what retains WAL.')
             ELSE 'Free space, or move tables: no probe runs with less than the reserve.' END, NULL,
        jsonb_build_object('available_bytes', p.available_bytes, 'reserve_bytes', reserve,
                           'size_bytes', p.size_bytes))::sync_probe_internal.finding;
        END IF;
    END IF;
END LOOP;
RETURN result;
END
$$;

--
-- The tablespace with the most blocks fetched.  The statistics of each database count for
-- its default tablespace.  Relations of this database in another tablespace count for
-- that one; such relations of other databases cannot be seen from here.
--
CREATE FUNCTION sync_probe_internal.busiest_tablespace()
RETURNS name
LANGUAGE c STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'sync_probe_busiest_tablespace';

REVOKE ALL ON FUNCTION sync_probe_internal.busiest_tablespace FROM PUBLIC;
GRANT EXECUTE ON FUNCTION sync_probe_internal.busiest_tablespace TO pg_monitor;
