/* pg_sync_probe: joined by make from the files in src/sql, in the order of the Makefile */

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION pg_sync_probe" to load this file. \quit

-- Names without a schema are the server's own, whatever the caller's search_path is.
SET LOCAL search_path = pg_catalog, pg_temp;

-- The server parses the whole script before it executes the first statement: SET comes too late.
DO $$
BEGIN
    IF current_setting('standard_conforming_strings') <> 'on' THEN
        RAISE EXCEPTION 'standard_conforming_strings must be on to create this extension'
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = 'Otherwise backslashes in the scripts of workloads would get lost.',
                  HINT = 'SET standard_conforming_strings = on; then create the extension.';
    END IF;
END
$$;

--
-- A publication FOR ALL TABLES would publish the tables of this extension.  Subscribers
-- that lack them stop at the first row.  A probe measures the whole cluster, so that the
-- extension works as well in another database.
--
DO $$
DECLARE
    publication name;
BEGIN
    SELECT p.pubname INTO publication
    FROM pg_publication AS p
    WHERE p.puballtables
      AND lower(current_setting('sync_probe.allow_publication', true)) IS DISTINCT FROM 'on'
    ORDER BY p.pubname LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'publication "%" would publish the tables of this extension', publication
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = 'It is FOR ALL TABLES. Subscribers that lack these tables would stop.',
                  HINT = 'Create the extension in another database of the cluster, which measures'
                         ' the same. Or, if no subscriber can be harmed:'
                         ' SET sync_probe.allow_publication = on;';
    END IF;
END
$$;

-- Not IF NOT EXISTS: the owner of a schema could put functions into it that a superuser then calls.
CREATE SCHEMA sync_probe;
CREATE SCHEMA sync_probe_internal;

COMMENT ON SCHEMA sync_probe IS
  'What a commit costs on this storage, and which wal_sync_method to use';

COMMENT ON SCHEMA sync_probe_internal IS
  'Internals of schema sync_probe: not for direct use, may change in any version';

GRANT USAGE ON SCHEMA sync_probe, sync_probe_internal TO PUBLIC;
--
-- bar
--
-- A share, 0 to 1, as a bar of block characters: eighths of a character where both the
-- database and the client use UTF8, else whole ones of "#": chr() of a block is an error in
-- another database, and so is its conversion for another client.  The encoding of the client is
-- that of the session alone, not of its parallel workers.
--
CREATE FUNCTION sync_probe.bar(fraction double precision, width integer DEFAULT 40)
RETURNS text
LANGUAGE plpgsql STABLE STRICT PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    parts integer := CASE WHEN getdatabaseencoding() = 'UTF8' AND pg_client_encoding() = 'UTF8'
                          THEN 8 ELSE 1 END;
    steps integer;
BEGIN
    IF fraction = 'NaN' OR fraction <= 0 OR width <= 0 THEN
        RETURN '';
    END IF;
    steps := greatest(1, round(least(fraction, 1) * least(width, 40) * parts));
    IF parts = 1 THEN
        RETURN repeat('#', steps);
    END IF;
    -- U+2588 is a full block, U+2589 is seven eighths of one, and so on
    RETURN repeat(chr(9608), steps / 8)
        || CASE WHEN steps % 8 > 0 THEN chr(9616 - steps % 8) ELSE '' END;
END
$$;

COMMENT ON FUNCTION sync_probe.bar IS
  'A share of 0 to 1 as a bar of at most width characters, 40 at most; a share above 0 shows';
--
-- locations
--
-- pg_wal and the tablespaces, and what is known of their storage.
--
CREATE TYPE sync_probe_internal.storage AS (
    name name,
    holds_wal boolean,
    tablespace oid,
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
    shares_filesystem_with name,
    missing boolean);

CREATE FUNCTION sync_probe_internal.examine_locations(only_location name)
RETURNS SETOF sync_probe_internal.storage
LANGUAGE c STABLE PARALLEL RESTRICTED
ROWS 10 -- the default of 1,000 makes queries look costly enough for JIT compilation
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'sync_probe_locations';

REVOKE ALL ON FUNCTION sync_probe_internal.examine_locations FROM PUBLIC;
GRANT EXECUTE ON FUNCTION sync_probe_internal.examine_locations TO pg_monitor;

CREATE VIEW sync_probe.locations AS
SELECT l.name, l.directory, l.filesystem, l.mount_point, l.mount_options, l.device, l.write_cache,
       l.size_bytes, l.available_bytes, l.shares_filesystem_with
FROM sync_probe_internal.examine_locations(NULL) AS l;

REVOKE ALL ON sync_probe.locations FROM PUBLIC;
GRANT SELECT ON sync_probe.locations TO pg_monitor;

COMMENT ON VIEW sync_probe.locations IS
  'Where probe() can measure: pg_wal and every tablespace except pg_global. Null: the system '
  'does not report it';
COMMENT ON COLUMN sync_probe.locations.name IS 'pg_wal, or the name of the tablespace';
COMMENT ON COLUMN sync_probe.locations.directory IS
  'Directory with symbolic links resolved; null if it is missing';
COMMENT ON COLUMN sync_probe.locations.filesystem IS 'Type of the file system';
COMMENT ON COLUMN sync_probe.locations.mount_point IS 'Where it is mounted';
COMMENT ON COLUMN sync_probe.locations.mount_options IS
  'Options of the mount and of the file system';
COMMENT ON COLUMN sync_probe.locations.device IS 'Whole disk below it (vda, nvme0n1, md0)';
COMMENT ON COLUMN sync_probe.locations.write_cache IS
  'write back (volatile, needs flushes) or write through, as the kernel sees it';
COMMENT ON COLUMN sync_probe.locations.size_bytes IS 'Size of the file system';
COMMENT ON COLUMN sync_probe.locations.available_bytes IS
  'Bytes that the server''s account can still write';
COMMENT ON COLUMN sync_probe.locations.shares_filesystem_with IS
  'First location in this view on the same file system';
--
-- runs
--
-- One row for each probe: one location, measured by one suite.
--
CREATE TABLE sync_probe.runs (
    run_id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    label text,
    location name,
    suite text NOT NULL,
    setting name,
    workload name,
    verdict text
        CHECK (verdict IN ('switch', 'keep', 'undecided', 'unsafe')),
    recommended_value text,
    best_value text,
    max_regret double precision,
    deciding_test text CHECK (deciding_test IN ('paced', 'saturated')),
    flush_us double precision,
    margin double precision,
    durable text CHECK (durable IN ('yes', 'no', 'no_cache', 'unknown')),
    longer_duration interval,
    reason text,
    started_at timestamptz,
    finished_at timestamptz,
    directory text,
    filesystem text,
    device text,
    wal_sync_method text,
    wal_level text,
    fsync boolean,
    flush_size integer,
    flush_interval interval,
    workers integer,
    wal_busy double precision,
    server_version_num integer,
    system_identifier bigint,
    host text,
    storage jsonb,
    imported_at timestamptz,
    usable_for_advice boolean NOT NULL DEFAULT false,
    CHECK (NOT usable_for_advice OR imported_at IS NULL)
);

-- What advice and findings look through, see sync_probe_internal.own_runs.  With the bare run_id
-- the planner would rather walk down the primary key to the first run that matches, and if none
-- does, through the whole history.
CREATE INDEX ON sync_probe.runs (suite, location, (run_id + 0) DESC) WHERE imported_at IS NULL;
-- for the finding fsync_was_off
CREATE INDEX ON sync_probe.runs (finished_at) WHERE NOT fsync;

GRANT SELECT ON sync_probe.runs TO pg_monitor;

COMMENT ON TABLE sync_probe.runs IS
  'History: one row for each recorded run. Deleting one deletes its measurements and '
  'seconds';
COMMENT ON COLUMN sync_probe.runs.run_id IS 'Number of the run';
COMMENT ON COLUMN sync_probe.runs.label IS 'Free text stored with the run';
COMMENT ON COLUMN sync_probe.runs.location IS
  'pg_wal or a tablespace; null in imports of pg_test_fsync';
COMMENT ON COLUMN sync_probe.runs.suite IS 'wal, commit, stream, segments, pg_test_fsync, or trial';
COMMENT ON COLUMN sync_probe.runs.setting IS 'Setting whose values the run compared';
COMMENT ON COLUMN sync_probe.runs.workload IS
  'Workload that made the load of a trial; null if the server''s own sessions did';
COMMENT ON COLUMN sync_probe.runs.verdict IS
  'switch, keep, undecided or unsafe, as judged when the run ended; null if nothing was compared';
COMMENT ON COLUMN sync_probe.runs.recommended_value IS
  'Value that the run recommends; with keep and undecided the current one';
COMMENT ON COLUMN sync_probe.runs.best_value IS 'Best choice by good odds, whatever the verdict';
COMMENT ON COLUMN sync_probe.runs.max_regret IS
  'The current value takes at most this much longer than the best one';
COMMENT ON COLUMN sync_probe.runs.deciding_test IS 'paced or saturated; suite wal only';
COMMENT ON COLUMN sync_probe.runs.flush_us IS
  'Mean time of a flush with the recommended method in that test';
COMMENT ON COLUMN sync_probe.runs.margin IS 'Least gain that was worth a switch';
COMMENT ON COLUMN sync_probe.runs.durable IS
  'Whether syncs with the current method reached the device, as in recommendation_details';
COMMENT ON COLUMN sync_probe.runs.longer_duration IS
  'Duration that may settle an undecided run; null if max_duration allows no longer one';
COMMENT ON COLUMN sync_probe.runs.reason IS 'Reason of the verdict';
COMMENT ON COLUMN sync_probe.runs.started_at IS 'Start and end of the run';
COMMENT ON COLUMN sync_probe.runs.finished_at IS 'Start and end of the run';
COMMENT ON COLUMN sync_probe.runs.directory IS 'Directory of the location';
COMMENT ON COLUMN sync_probe.runs.filesystem IS 'Type of its file system, and whole disk below it';
COMMENT ON COLUMN sync_probe.runs.device IS 'Type of its file system, and whole disk below it';
COMMENT ON COLUMN sync_probe.runs.wal_sync_method IS
  'Setting of the server when the run began: the current method';
COMMENT ON COLUMN sync_probe.runs.wal_level IS 'Setting of the server';
COMMENT ON COLUMN sync_probe.runs.fsync IS 'Setting of the server at the end of the run';
COMMENT ON COLUMN sync_probe.runs.flush_size IS
  'Bytes of WAL per flush, in suite commit per commit';
COMMENT ON COLUMN sync_probe.runs.flush_interval IS
  'Time between two paced flushes, in suite commit between two commits of all workers';
COMMENT ON COLUMN sync_probe.runs.workers IS 'Background workers of suite commit';
COMMENT ON COLUMN sync_probe.runs.wal_busy IS
  'Share of the time in which the server wrote or synced WAL, 0 to 1';
COMMENT ON COLUMN sync_probe.runs.server_version_num IS 'Version of the server';
COMMENT ON COLUMN sync_probe.runs.system_identifier IS 'System identifier of the cluster';
COMMENT ON COLUMN sync_probe.runs.host IS 'Name of the machine';
COMMENT ON COLUMN sync_probe.runs.storage IS
  'Mount options, disks and their caches, background I/O, ZFS; without what is unknown';
COMMENT ON COLUMN sync_probe.runs.imported_at IS
  'Time of the import; null if this server measured the run';
COMMENT ON COLUMN sync_probe.runs.usable_for_advice IS
  'True if not imported and with the cluster''s own flush size and interval; in suites wal and '
  'segments, with at least 16 samples';

--
-- measurements
--
-- One row for each test case of a run.  probe() returns rows of this type.
--
-- There is no foreign key, here and below: pg_restore with several jobs loads the tables of an
-- extension in any order, and would fail.  Triggers on runs and measurements do the rest.
--
CREATE TABLE sync_probe.measurements (
    test text NOT NULL,
    method text NOT NULL,
    direct_io boolean,
    choice text CHECK (choice IN ('current', 'recommended')),
    verdict text CHECK (verdict IN ('switch', 'keep', 'undecided', 'unsafe')),
    durable text CHECK (durable IN ('yes', 'no', 'no_cache', 'unknown')),
    status text NOT NULL
        CHECK (status IN ('ok', 'unsupported', 'no_direct_io', 'stopped', 'error')),
    p50_us double precision,
    relative_speed double precision,
    relative_speed_low double precision,
    relative_speed_high double precision,
    p99_us double precision,
    max_us double precision,
    flushes_per_op double precision,
    ops bigint,
    mean_us double precision,
    ops_per_sec double precision,
    device_bytes_per_op double precision,
    device_utilization double precision,
    write_size integer,
    detail text,
    run_id bigint,
    ordinal integer,
    PRIMARY KEY (run_id, ordinal)
);

GRANT SELECT ON sync_probe.measurements TO pg_monitor;

COMMENT ON TABLE sync_probe.measurements IS
  'History: one row for each test case of a run. Times are in microseconds; figures are null if '
  'the case was not measured';
COMMENT ON COLUMN sync_probe.measurements.test IS
  'Test of the suite; the setting whose values a trial or the commit suite compared';
COMMENT ON COLUMN sync_probe.measurements.method IS
  'Sync method, or what the test does instead; of a setting that is compared its value; in suite '
  'segments recycle, zero_fill or sparse';
COMMENT ON COLUMN sync_probe.measurements.direct_io IS 'Whether the file was opened with O_DIRECT';
COMMENT ON COLUMN sync_probe.measurements.choice IS
  'current: what the server''s settings make; recommended: what this run recommends instead';
COMMENT ON COLUMN sync_probe.measurements.verdict IS
  'Verdict of a trial, or of suite commit or segments, on the row of the current value: switch, '
  'keep or undecided';
COMMENT ON COLUMN sync_probe.measurements.durable IS
  'Whether syncs with this method reached the device: yes, no, no_cache or unknown; suite wal '
  'only';
COMMENT ON COLUMN sync_probe.measurements.status IS
  'ok; unsupported by platform or server; no_direct_io: the file system refuses O_DIRECT; '
  'stopped: no time was left; error: see detail';
COMMENT ON COLUMN sync_probe.measurements.p50_us IS 'Median latency of an operation';
COMMENT ON COLUMN sync_probe.measurements.relative_speed IS
  'Current method''s time divided by this one''s within samples: 1.10 if the current method '
  'takes 1.10 times as long. On its own row that of its two copies';
COMMENT ON COLUMN sync_probe.measurements.relative_speed_low IS
  'Its 95 percent confidence interval, corrected for repeated looks and the number of methods';
COMMENT ON COLUMN sync_probe.measurements.relative_speed_high IS
  'Its 95 percent confidence interval, corrected for repeated looks and the number of methods';
COMMENT ON COLUMN sync_probe.measurements.p99_us IS '99th percentile; null below 299 operations';
COMMENT ON COLUMN sync_probe.measurements.max_us IS 'Longest latency';
COMMENT ON COLUMN sync_probe.measurements.flushes_per_op IS
  'Flush requests that the disks completed, background I/O included; null if unknown';
COMMENT ON COLUMN sync_probe.measurements.ops IS
  'Operations counted: one is the writes and their sync';
COMMENT ON COLUMN sync_probe.measurements.mean_us IS
  'Mean time of an operation; a few slow ones change it';
COMMENT ON COLUMN sync_probe.measurements.ops_per_sec IS
  'Operations per second of time spent in them, or commits per second; null when paced';
COMMENT ON COLUMN sync_probe.measurements.device_bytes_per_op IS
  'Bytes that the disks wrote, background I/O included';
COMMENT ON COLUMN sync_probe.measurements.device_utilization IS
  'Share of the time that the device was busy, 0 to 1; an upper bound';
COMMENT ON COLUMN sync_probe.measurements.write_size IS
  'Bytes per flush (wal), of a segment (segments), or per write (others)';
COMMENT ON COLUMN sync_probe.measurements.detail IS
  'Call that failed and its error; when a slower method was left out; rate (stream) or flushes '
  'of a segment (segments)';
COMMENT ON COLUMN sync_probe.measurements.run_id IS
  'Run of this test case; null if it was not recorded';
COMMENT ON COLUMN sync_probe.measurements.ordinal IS 'Position in the run, from 1';

--
-- samples
--
-- The samples and the histogram of each measurement, which latency_histogram, compare() and
-- history() show.
--
-- round_mean_us: mean time of an operation in each sample, where a slow flush counts as five times
-- the current method's median; neighbours are merged above 4,096 samples.  The control has
-- another, null except for the current method.  Buckets that are not empty: 64 to the octave, 1 ns
-- wide below 128 ns.
--
CREATE TABLE sync_probe_internal.samples (
    run_id bigint,
    ordinal integer,
    round_mean_us double precision[],
    control_round_mean_us double precision[],
    bucket_lower_us double precision[],
    bucket_ops bigint[],
    PRIMARY KEY (run_id, ordinal)
);

GRANT SELECT ON sync_probe_internal.samples TO pg_monitor;

-- The history is the user's data: pg_dump includes it.
SELECT pg_catalog.pg_extension_config_dump('sync_probe.runs', '');
SELECT pg_catalog.pg_extension_config_dump('sync_probe.runs_run_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('sync_probe.measurements', '');
SELECT pg_catalog.pg_extension_config_dump('sync_probe_internal.samples', '');

--
-- sync_probe_internal.delete_rows, renumber_run
--
-- What belongs to a run goes with it, or to its new number.  They run as the owner, as
-- actions of foreign keys do.  Nobody else can make triggers of them: on a table of his
-- own, the comparisons could call a function of his own as the owner.
--
-- Arguments of delete_rows: the columns that belong together, then the tables.
--
CREATE FUNCTION sync_probe_internal.delete_rows()
RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    FOR i IN 1 .. TG_NARGS - 1 LOOP
        EXECUTE format('DELETE FROM %s', TG_ARGV[i])
                || CASE TG_OP WHEN 'DELETE'
                   THEN format(' WHERE (%1$s) IN (SELECT %1$s FROM gone)', TG_ARGV[0]) ELSE '' END;
    END LOOP;
    RETURN NULL;
END
$function$;

REVOKE ALL ON FUNCTION sync_probe_internal.delete_rows FROM PUBLIC;

CREATE FUNCTION sync_probe_internal.renumber_run()
RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    UPDATE sync_probe.measurements SET run_id = new.run_id WHERE run_id = old.run_id;
    UPDATE sync_probe_internal.samples SET run_id = new.run_id WHERE run_id = old.run_id;
    UPDATE sync_probe.stream_seconds SET run_id = new.run_id WHERE run_id = old.run_id;
    RETURN NULL;
END
$function$;

REVOKE ALL ON FUNCTION sync_probe_internal.renumber_run FROM PUBLIC;

CREATE TRIGGER delete_measurements AFTER DELETE ON sync_probe.runs
    REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION sync_probe_internal.delete_rows(
        'run_id', 'sync_probe.measurements');
CREATE TRIGGER truncate_measurements AFTER TRUNCATE ON sync_probe.runs
    FOR EACH STATEMENT EXECUTE FUNCTION sync_probe_internal.delete_rows(
        'run_id', 'sync_probe.measurements');
CREATE TRIGGER renumber_run AFTER UPDATE OF run_id ON sync_probe.runs
    FOR EACH ROW WHEN (old.run_id <> new.run_id)
    EXECUTE FUNCTION sync_probe_internal.renumber_run();
CREATE TRIGGER delete_samples AFTER DELETE ON sync_probe.measurements
    REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION sync_probe_internal.delete_rows(
        'run_id, ordinal', 'sync_probe_internal.samples', 'sync_probe.stream_seconds');
CREATE TRIGGER truncate_samples AFTER TRUNCATE ON sync_probe.measurements
    FOR EACH STATEMENT EXECUTE FUNCTION sync_probe_internal.delete_rows(
        'run_id, ordinal', 'sync_probe_internal.samples', 'sync_probe.stream_seconds');
--
-- stream_seconds
--
-- One row for each second of a run of the stream suite.  Each belongs to one test case.
--
CREATE TABLE sync_probe.stream_seconds (
    run_id bigint,
    ordinal integer,
    second integer,
    began_at timestamptz,
    length_ms double precision,
    bytes bigint,
    slowest_us double precision,
    slowest_at timestamptz,
    device_bytes bigint,
    device_flushes bigint,
    device_utilization double precision,
    slowest_device_bytes bigint,
    slowest_device_flushes bigint,
    slowest_device_utilization double precision,
    PRIMARY KEY (run_id, ordinal, second)
);

GRANT SELECT ON sync_probe.stream_seconds TO pg_monitor;

COMMENT ON TABLE sync_probe.stream_seconds IS
  'History: what the stream suite wrote in each second, and what all wrote to the device. Each '
  'second belongs to one test case';
COMMENT ON COLUMN sync_probe.stream_seconds.run_id IS 'As in measurements';
COMMENT ON COLUMN sync_probe.stream_seconds.ordinal IS 'As in measurements';
COMMENT ON COLUMN sync_probe.stream_seconds.second IS 'Seconds since the start of the measuring';
COMMENT ON COLUMN sync_probe.stream_seconds.began_at IS 'When it began';
COMMENT ON COLUMN sync_probe.stream_seconds.length_ms IS
  'Its length; it ends with the first flush that ends after a second';
COMMENT ON COLUMN sync_probe.stream_seconds.bytes IS 'Bytes written by flushes';
COMMENT ON COLUMN sync_probe.stream_seconds.slowest_us IS 'Longest flush';
COMMENT ON COLUMN sync_probe.stream_seconds.slowest_at IS 'When it began';
COMMENT ON COLUMN sync_probe.stream_seconds.device_bytes IS
  'Bytes that the disks wrote; null if unknown';
COMMENT ON COLUMN sync_probe.stream_seconds.device_flushes IS
  'Flush requests that the disks completed';
COMMENT ON COLUMN sync_probe.stream_seconds.device_utilization IS
  'Share of the time that the device was busy, 0 to 1; an upper bound';
COMMENT ON COLUMN sync_probe.stream_seconds.slowest_device_bytes IS
  'The same around the slowest flush; null if it took less than 20 ms';
COMMENT ON COLUMN sync_probe.stream_seconds.slowest_device_flushes IS
  'The same around the slowest flush; null if it took less than 20 ms';
COMMENT ON COLUMN sync_probe.stream_seconds.slowest_device_utilization IS
  'The same around the slowest flush; null if it took less than 20 ms';

-- The history is the user's data: pg_dump includes it.
SELECT pg_catalog.pg_extension_config_dump('sync_probe.stream_seconds', '');

--
-- stalls
--
-- Where a stream stalled: a flush of more than 100 ms and ten times the median of its test
-- case, or a second with less than a tenth of the median rate of its seconds.  A second that
-- the end of the run has cut short has too few flushes for a rate.
--
-- Of a flush the counters are those around it, else those of the whole second.  They tell who made
-- it wait: not an idle device, and a busy one unless others wrote.  written: the bytes that the
-- run's own flushes usually make the device write in that time; 8 MB are more than the journal and
-- the log tree of any file system add to a flush.
--
CREATE VIEW sync_probe_internal.stalls AS
WITH usual AS (
    SELECT run_id, ordinal,
           percentile_cont(0.5) WITHIN GROUP (ORDER BY bytes / nullif(length_ms, 0)) AS rate,
           percentile_cont(0.5) WITHIN GROUP (ORDER BY device_bytes / nullif(bytes, 0)::float8)
               AS amplification
    FROM sync_probe.stream_seconds
    GROUP BY run_id, ordinal
)
SELECT t.run_id, m.test, m.method, t.second, k.stalled_at, k.kind,
       round(k.stalled_ms::numeric, 1)::float8 AS stalled_ms,
       CASE WHEN num_nulls(k.utilization, k.device_bytes) > 0
            THEN 'unknown: the counters of the device were not read'
            ELSE format(
                CASE WHEN k.utilization < 0.25
                     THEN 'the device was idle %s %% of the time: something above it waited (file'
                          ' system, processor, a limit on I/O)'
                     WHEN k.device_bytes > 2 * w.written + 8 * 1024 * 1024
                     THEN 'the device was busy %2$s %% of the time: others wrote %3$s'
                     ELSE 'the device was busy %2$s %% of the time and wrote %4$s: it was'
                          ' slow itself' END,
                round((100 * (1 - k.utilization))::numeric), round((100 * k.utilization)::numeric),
                pg_size_pretty(greatest(k.device_bytes - w.written, 0)::bigint),
                pg_size_pretty(k.device_bytes)
                || coalesce(' in ' || k.flushes
                            || CASE k.flushes WHEN 1 THEN ' flush' ELSE ' flushes' END, ''))
            END AS meanwhile
FROM sync_probe.stream_seconds AS t
JOIN usual AS u USING (run_id, ordinal)
JOIN sync_probe.measurements AS m USING (run_id, ordinal),
     LATERAL (SELECT t.slowest_us > greatest(10 * m.p50_us, 100000)) AS f (is_flush),
     LATERAL (SELECT 'flush', t.slowest_at, t.slowest_us / 1000, m.write_size::bigint,
                     t.slowest_device_utilization, t.slowest_device_bytes, t.slowest_device_flushes
              WHERE f.is_flush
              UNION ALL
              SELECT 'second'::text, t.began_at, t.length_ms, t.bytes, t.device_utilization,
                     t.device_bytes, t.device_flushes
              WHERE NOT f.is_flush AND t.length_ms >= 500
                AND t.bytes / nullif(t.length_ms, 0) < u.rate / 10
             ) AS k (kind, stalled_at, stalled_ms, bytes, utilization, device_bytes, flushes),
     LATERAL (SELECT coalesce(k.bytes * u.amplification, 0)) AS w (written);

-- findings() and report_html() read it with the rights of their callers.
GRANT SELECT ON sync_probe_internal.stalls TO pg_monitor;
--
-- commit_wait_results
--
-- One row for each call of commit_waits(), which returns a row of this type.
--
CREATE TABLE sync_probe.commit_wait_results (
    answer text NOT NULL,
    commits_per_sec double precision,
    commit_wait_us double precision,
    wait_share double precision,
    sync_us double precision,
    write_us double precision,
    queue_us double precision,
    commit_delay_us double precision,
    sync_rep_us double precision,
    other_us double precision,
    committers integer,
    committing_sessions double precision,
    wal_bytes_per_commit double precision,
    flushes_per_sec double precision,
    wal_busy double precision,
    wal_sync_method text,
    commit_delay integer,
    started_at timestamptz,
    duration interval,
    system_identifier bigint,
    host text,
    result_id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY
);

GRANT SELECT ON sync_probe.commit_wait_results TO pg_monitor;

COMMENT ON TABLE sync_probe.commit_wait_results IS
  'History of commit_waits(). Times are means for each commit, in microseconds; null if unknown';
COMMENT ON COLUMN sync_probe.commit_wait_results.answer IS
  'Whether a faster sync would help, in words';
COMMENT ON COLUMN sync_probe.commit_wait_results.commits_per_sec IS
  'Transactions with a transaction ID, rollbacks and rolled back subtransactions included';
COMMENT ON COLUMN sync_probe.commit_wait_results.commit_wait_us IS
  'Time that a commit waits; the sum of its six parts';
COMMENT ON COLUMN sync_probe.commit_wait_results.wait_share IS
  'Share of the active time of sessions that is spent in commits, 0 to 1';
COMMENT ON COLUMN sync_probe.commit_wait_results.sync_us IS
  'Part in the sync of WAL (wait event WALSync)';
COMMENT ON COLUMN sync_probe.commit_wait_results.write_us IS
  'Part in the write of WAL (WALWrite); with open_* it includes the sync';
COMMENT ON COLUMN sync_probe.commit_wait_results.queue_us IS
  'Part in which another process writes or syncs WAL (WALWriteLock)';
COMMENT ON COLUMN sync_probe.commit_wait_results.commit_delay_us IS
  'Part that sleeps for commit_delay, up to PostgreSQL 18 with processor time';
COMMENT ON COLUMN sync_probe.commit_wait_results.sync_rep_us IS
  'Part that waits for a synchronous standby (SyncRep)';
COMMENT ON COLUMN sync_probe.commit_wait_results.other_us IS
  'Part in processor time and other wait events';
COMMENT ON COLUMN sync_probe.commit_wait_results.committers IS
  'Processes that were seen in a commit';
COMMENT ON COLUMN sync_probe.commit_wait_results.committing_sessions IS
  'Mean number of committing processes';
COMMENT ON COLUMN sync_probe.commit_wait_results.wal_bytes_per_commit IS
  'Bytes of WAL of all processes, divided by commits';
COMMENT ON COLUMN sync_probe.commit_wait_results.flushes_per_sec IS 'Flushes of WAL';
COMMENT ON COLUMN sync_probe.commit_wait_results.wal_busy IS
  'Share of the time in which a process wrote or synced WAL, 0 to 1';
COMMENT ON COLUMN sync_probe.commit_wait_results.wal_sync_method IS 'Setting of the server';
COMMENT ON COLUMN sync_probe.commit_wait_results.commit_delay IS
  'Setting of the calling session, in microseconds';
COMMENT ON COLUMN sync_probe.commit_wait_results.started_at IS 'Start of the sampling';
COMMENT ON COLUMN sync_probe.commit_wait_results.duration IS 'Time that was sampled';
COMMENT ON COLUMN sync_probe.commit_wait_results.system_identifier IS
  'System identifier of the cluster';
COMMENT ON COLUMN sync_probe.commit_wait_results.host IS 'Name of the machine';
COMMENT ON COLUMN sync_probe.commit_wait_results.result_id IS
  'Number of the result; null if it was not recorded';

-- The history is the user's data: pg_dump includes it.
SELECT pg_catalog.pg_extension_config_dump('sync_probe.commit_wait_results', '');
SELECT pg_catalog.pg_extension_config_dump('sync_probe.commit_wait_results_result_id_seq', '');

--
-- commit_waits
--
-- How long the commits of this server wait, and for what: processes are sampled for the
-- duration, about a thousand times a second, without a lock and without a write.  On a
-- standby and in a read-only transaction nothing is recorded.
--
CREATE FUNCTION sync_probe.commit_waits(duration interval DEFAULT '5 s')
RETURNS sync_probe.commit_wait_results
LANGUAGE c VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'sync_probe_commit_waits';

REVOKE ALL ON FUNCTION sync_probe.commit_waits FROM PUBLIC;
GRANT EXECUTE ON FUNCTION sync_probe.commit_waits TO pg_monitor;

COMMENT ON FUNCTION sync_probe.commit_waits IS
  'Sample how long the commits of this server wait, for what, and whether a faster sync would '
  'help. Returns one row and records it';
--
-- workloads
--
-- What sync_probe.pgbench() can run: SQL that creates objects, SQL that pgbench runs
-- again and again, and SQL that removes what dropping the schema does not.
--
-- Each run gets a schema of its own.  Tables whose names have no schema are created
-- there.  The schema is dropped after the run with all its objects.
--
-- All three are what pgbench's manual calls a transaction script; pgbench runs set-up and
-- tear-down once, with protocol simple.  They have its variables, such as :client_id, and
-- :schema, :tablespace (quoted as an identifier), :rows, and :transactions where transactions
-- are counted.  pgbench replaces them everywhere, in quotes and comments, too.
--
-- A later version may bring a builtin workload with the name of a user's row.  Both are
-- kept, in an update as in a restore; the name means the builtin one.
--
CREATE TABLE sync_probe.workloads (
    workload name CHECK (workload <> ''),
    suite name NOT NULL DEFAULT 'user',
    description text,
    setup text,
    script text NOT NULL CHECK (script <> ''),
    teardown text,
    transactions integer CHECK (transactions > 0),
    protocol text NOT NULL DEFAULT 'prepared'
        CHECK (protocol IN ('simple', 'extended', 'prepared')),
    new_connections boolean NOT NULL DEFAULT false,
    builtin boolean NOT NULL DEFAULT false,
    PRIMARY KEY (workload, builtin)
);

GRANT SELECT ON sync_probe.workloads TO pg_monitor;

COMMENT ON TABLE sync_probe.workloads IS
  'SQL workloads that pgbench() can run; insert a row to add one. Requires the privileges of '
  'pg_execute_server_program';
COMMENT ON COLUMN sync_probe.workloads.workload IS
  'Its name. If a builtin workload has the same name, that one runs';
COMMENT ON COLUMN sync_probe.workloads.suite IS
  'Group that workload_comparison shows together';
COMMENT ON COLUMN sync_probe.workloads.description IS
  'Free text';
COMMENT ON COLUMN sync_probe.workloads.setup IS
  'SQL that creates the objects; pgbench runs it once';
COMMENT ON COLUMN sync_probe.workloads.script IS
  'Transaction script of pgbench';
COMMENT ON COLUMN sync_probe.workloads.teardown IS
  'SQL that removes what the set-up created outside of :schema; pgbench runs it once';
COMMENT ON COLUMN sync_probe.workloads.transactions IS
  'How often each client runs the script; null: until the duration ends';
COMMENT ON COLUMN sync_probe.workloads.protocol IS
  'simple, extended or prepared, as pgbench''s -M';
COMMENT ON COLUMN sync_probe.workloads.new_connections IS
  'A new connection for each transaction, as pgbench''s -C';
COMMENT ON COLUMN sync_probe.workloads.builtin IS
  'True if it came with the extension';

--
-- sync_probe_internal.check_workload
--
-- Whoever runs a workload executes its SQL with privileges of their own, and its \shell
-- commands as the account of the server.  So only a role that has that account may write one:
-- it can do all of this anyway.  Builtin workloads cannot be changed, because their names are
-- in the history with the meaning that they have.  The triggers are in workload_results.sql,
-- after the builtin rows.
--
CREATE FUNCTION sync_probe_internal.check_workload()
RETURNS trigger
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    IF TG_OP = 'TRUNCATE' THEN
        RAISE EXCEPTION 'table "workloads" cannot be truncated'
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = 'It contains the workloads that came with the extension.',
                  HINT = 'DELETE FROM sync_probe.workloads WHERE NOT builtin;';
    END IF;
    IF TG_OP <> 'INSERT' AND old.builtin THEN
        RAISE EXCEPTION 'workload "%" came with the extension', old.workload
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = 'It cannot be changed or removed, because earlier results and those of '
                           'other servers refer to its name.',
                  HINT = 'Insert a copy under a name of your own.';
    END IF;
    IF TG_OP = 'DELETE' THEN
        RETURN old;
    END IF;
    IF NOT pg_has_role(current_user, 'pg_execute_server_program', 'USAGE') THEN
        RAISE EXCEPTION 'permission denied to write workload "%"', new.workload
            USING ERRCODE = 'insufficient_privilege',
                  DETAIL = 'Only roles with privileges of the "pg_execute_server_program" role may '
                           'write SQL that others run.',
                  HINT = format('GRANT pg_execute_server_program TO %I;', current_user);
    END IF;
    IF new.builtin THEN
        RAISE EXCEPTION 'workload "%" cannot be builtin', new.workload
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = 'Builtin workloads come with the extension. pg_dump leaves them out.',
                  HINT = 'Leave out column builtin.';
    END IF;
    IF EXISTS (SELECT FROM sync_probe.workloads AS w
               WHERE w.workload = new.workload AND w.builtin) THEN
        -- no error: it would end a restore
        RAISE WARNING 'workload "%" has the name of a builtin workload, which runs instead',
            new.workload USING HINT = 'Give the row another name.';
    END IF;
    RETURN new;
END
$function$;

--
-- sync_probe_internal.drop_schema
--
-- pgbench calls it.  One transaction cannot drop thousands of tables: it locks each of them
-- with its indexes and TOAST, and the lock table is small.  Partitions come before their tables,
-- so that no step is larger than the others.  What belongs to an extension or a column is
-- dropped with the schema.  It has no SET search_path, because a procedure with one cannot
-- commit.
--
CREATE PROCEDURE sync_probe_internal.drop_schema(schema name)
LANGUAGE plpgsql
AS $procedure$
DECLARE
    drops pg_catalog.text;
BEGIN
    LOOP
        SELECT pg_catalog.string_agg(
                   pg_catalog.format('DROP %s IF EXISTS %I.%I CASCADE', r.kind, schema, r.relname),
                   '; ')
        INTO drops
        FROM (SELECT c.relname,
                     CASE WHEN c.relkind OPERATOR(pg_catalog.=) 'v' THEN 'VIEW'
                          WHEN c.relkind OPERATOR(pg_catalog.=) 'm' THEN 'MATERIALIZED VIEW'
                          WHEN c.relkind OPERATOR(pg_catalog.=) 'S' THEN 'SEQUENCE'
                          WHEN c.relkind OPERATOR(pg_catalog.=) 'f' THEN 'FOREIGN TABLE'
                          ELSE 'TABLE' END AS kind
              FROM pg_catalog.pg_class AS c
              WHERE c.relnamespace OPERATOR(pg_catalog.=)
                        (SELECT n.oid FROM pg_catalog.pg_namespace AS n
                         WHERE n.nspname OPERATOR(pg_catalog.=) schema)
                AND c.relkind OPERATOR(pg_catalog.=) ANY ('{r,p,v,m,S,f}')
                AND NOT EXISTS (
                    SELECT FROM pg_catalog.pg_depend AS d
                    WHERE d.classid OPERATOR(pg_catalog.=)
                              'pg_catalog.pg_class'::pg_catalog.regclass
                      AND d.objid OPERATOR(pg_catalog.=) c.oid
                      AND d.deptype OPERATOR(pg_catalog.=) ANY ('{e,i}'))
              ORDER BY c.relispartition DESC, c.oid DESC LIMIT 20) AS r;
        EXIT WHEN drops IS NULL;
        EXECUTE drops;
        COMMIT;
    END LOOP;
    EXECUTE pg_catalog.format('DROP SCHEMA IF EXISTS %I CASCADE', schema);
END
$procedure$;

--
-- sync_probe_internal.drop_leftovers
--
-- cleanup() calls it.  Each schema has a subtransaction: if it is locked, or too large for one
-- transaction, the others can still be dropped.  Any role can hold locks on the tables of a
-- schema, and release each shortly before the wait for it ends; so this hardly waits.  Returns
-- how many were dropped.
--
CREATE FUNCTION sync_probe_internal.drop_leftovers(schemas name[]) RETURNS integer
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
-- no NOTICE of what else is dropped
SET client_min_messages = warning
AS $function$
DECLARE
    leftover name;
    dropped integer := 0;
    kept integer := 0;
    code text;
    reason text;
    waits_for_ever boolean := current_setting('lock_timeout') = '0';
BEGIN
    IF waits_for_ever THEN
        SET LOCAL lock_timeout = '10ms';
    END IF;
    FOREACH leftover IN ARRAY schemas LOOP
        BEGIN
            EXECUTE format('DROP SCHEMA IF EXISTS %I CASCADE', leftover);
            dropped := dropped + 1;
        EXCEPTION WHEN OTHERS THEN
            IF kept = 0 THEN
                code := sqlstate;
                reason := format('The first is "%s": %s', leftover, sqlerrm);
            END IF;
            kept := kept + 1;
        END;
    END LOOP;
    IF waits_for_ever THEN
        SET LOCAL lock_timeout = 0;
    END IF;
    IF kept > 0 THEN
        RAISE WARNING USING ERRCODE = code, DETAIL = reason,
            MESSAGE = CASE kept WHEN 1 THEN '1 schema of a workload could not be dropped'
                      ELSE format('%s schemas of workloads could not be dropped', kept) END,
            HINT = 'Call sync_probe.cleanup() again when no session uses their tables. It waits'
                   ' 10 ms for a lock unless lock_timeout is set. A schema that is too large for'
                   ' one transaction is dropped when its owner runs the next workload.';
    END IF;
    RETURN dropped;
END
$function$;

-- Workloads that users added are their data: pg_dump includes them.
SELECT pg_catalog.pg_extension_config_dump('sync_probe.workloads', 'WHERE NOT builtin');

--
-- The upsert of the field report: update the row, insert it if it is missing, and ignore
-- the duplicate if another session was faster.  The table starts empty.
--
INSERT INTO sync_probe.workloads (workload, suite, description, setup, script, builtin) VALUES
('upsert', 'upsert',
 'Update a row by its key, or insert it: a PL/pgSQL function that ignores duplicates',
 $setup$
CREATE TABLE test (id int PRIMARY KEY, info text, crt_time timestamp);
CREATE FUNCTION upsert(key int) RETURNS void LANGUAGE plpgsql AS $function$
BEGIN
    UPDATE test SET info = md5(random()::text), crt_time = now() WHERE id = key;
    IF NOT FOUND THEN
        INSERT INTO test (id, info, crt_time) VALUES (key, md5(random()::text), now());
    END IF;
EXCEPTION
    WHEN unique_violation THEN
        NULL;
END
$function$;
$setup$,
 $script$
\set id random(1, :rows)
SELECT upsert(:id);
$script$, true),
('upsert_on_conflict', 'upsert', 'The same in one statement: INSERT ... ON CONFLICT DO UPDATE',
 $setup$
CREATE TABLE test (id int PRIMARY KEY, info text, crt_time timestamp);
$setup$,
 $script$
\set id random(1, :rows)
INSERT INTO test (id, info, crt_time) VALUES (:id, md5(random()::text), now())
ON CONFLICT (id) DO UPDATE SET info = excluded.info, crt_time = excluded.crt_time;
$script$, true);
--
-- sql_bench
--
-- The operations of MySQL's sql-bench in PostgreSQL's SQL, each a row of sync_probe.workloads.
-- Names and iterations are those of a report on ufs and zfs, to be compared with ours.
--
-- An iteration is one run of the script, and one statement of sql-bench, even if it takes several
-- here.  The data is generated, in the sizes of the original data; a comment above an operation
-- says what else differs.  pgbench runs one client with -D iteration=0, and the script counts.
-- Operations that use up their objects run at most as often as given here.
--
WITH
-- Of ATIS and Wisconsin: rows (if selects read them), columns in the key, columns, char(10)s.
tables (name, rows, key, columns, chars) AS (VALUES
('aircraft', 130, 1, 'aircraft_code, category, engines, range_miles, pay_load, capacity', 7),
('airline', 320, 1, 'airline_code', 2), ('airport', 15, 1, 'airport_code, state_code', 4),
('airport_service', 12, 2, 'city_code, airport_code, minutes_distant', 2),
('city', 12, 1, 'city_code, state_code', 3), ('state', 60, 1, 'state_code', 2),
('compound_class', 139, 1, 'fare_class, night', 7),
('fare', 534, 1, 'fare_code, from_airport, to_airport, fare_class, restrict_code, one_way_cost', 2),
('flight', 579, 1, 'flight_code, from_airport, to_airport, airline_code, aircraft_code, stops', 8),
('flight_class', 2895, 2, 'flight_code, fare_class', 0),
('flight_fare', 2895, 2, 'flight_code, fare_code', 0),
('flight_day', 385, 2, 'day_mask, day_code', 1),
('day_name', 7, 1, 'day_code', 1), ('month_name', 12, 1, 'month_number', 1),
('restrict_carrier', 605, 2, 'restrict_code, airline_code', 0)
UNION ALL SELECT split_part(t, ' ', 1), 0, 1, 'code', split_part(t, ' ', 2)::int
FROM unnest('{class_of_service 2, code_description 1, connect_leg 2, dual_carrier 4, fconnection 8,
    food_service 3, ground_service 3, restrict_class 1, restriction 6, stop1 2, time_interval 2,
    time_zone 1, transport 1}'::text[]) AS t
UNION ALL SELECT name, NULL, 1, 'unique1, unique2, two, four, ten, twenty, hundred, thousand,'
       ' twothousand, fivethous, tenthous, odd, even', 3
FROM unnest('{onek, tenk1, tenk2, bprime}'::text[]) AS name),

-- How many values a column has: in row n its value is n modulo that number.
sizes (size) AS (VALUES ('{"aircraft_code": 130, "airline_code": 320, "airport_code": 15,
  "category": 6, "city_code": 12, "day_code": 7, "engines": 5, "fare_class": 139, "fare_code": 534,
  "flight_code": 579, "from_airport": 15, "restrict_code": 55, "state_code": 60, "stops": 3,
  "to_airport": 14}'::jsonb)),

-- pgbench reports the first line of a statement.  The line break keeps it short.  Orders are given,
-- or scripts would differ between servers.
layouts (name, rows, creation, filling) AS (
SELECT name COLLATE "C", rows,
       format(E'CREATE TABLE %s (\n%s%sPRIMARY KEY (%s))%s', name,
              string_agg(c || ' int NOT NULL, ', '' ORDER BY n),
              (SELECT string_agg(format('s%s char(10), ', i), '') FROM generate_series(1, chars) i),
              string_agg(c, ', ' ORDER BY n) FILTER (WHERE n <= key),
              string_agg(format('; CREATE INDEX ON %s (%s)', name, c), '' ORDER BY n)
                  FILTER (WHERE c IN ('from_airport', 'to_airport', 'unique2', 'hundred'))),
       format(E'INSERT INTO %s SELECT %s%s FROM generate_series(0, %s) AS n;\nANALYZE %1$s', name,
              string_agg('n % ' || coalesce(size ->> c, '1000'), ', ' ORDER BY n),
              repeat(', n', chars), rows - 1)
FROM tables, sizes, regexp_split_to_table(columns, ', ') WITH ORDINALITY AS c (c, n)
GROUP BY name, rows, key, chars),

thousand (names, ones) AS (
SELECT string_agg('i' || n, ', '), string_agg('1', ', ') FROM generate_series(0, 999) AS n),

-- What set-ups are made of.  MATERIALIZED: made once, not for each operation.
parts (part, sql) AS MATERIALIZED (
SELECT CASE WHEN rows IS NULL THEN 'wisconsin' ELSE 'atis' END,
       string_agg(creation, E';\n' ORDER BY name)
FROM layouts GROUP BY rows IS NULL
UNION ALL SELECT 'atis rows', string_agg(filling, E';\n' ORDER BY name) FROM layouts WHERE rows > 0
UNION ALL SELECT 'indexes', string_agg(format('CREATE INDEX ind%1$s ON bench (i%1$s)', n), '; ')
FROM generate_series(1, 8) AS n
UNION ALL VALUES
('bench', $$CREATE TABLE bench (i1 int NOT NULL, i2 int NOT NULL, i3 int NOT NULL, i4 int NOT NULL,
    i5 int NOT NULL, i6 int NOT NULL, i7 int NOT NULL, i8 int NOT NULL);
INSERT INTO bench SELECT n, n, n, n, n, n, n, n FROM generate_series(1, :rows / 10) AS n$$),
('tenk1', $$INSERT INTO tenk1
SELECT n * 7919::bigint % :rows, n, n % 2, n % 4, n % 10, n % 20, n % 100, n % 1000, n % 2000,
    n % 5000, n, n % 100 * 2 + 1, n % 100 * 2, n, n, n FROM generate_series(0, :rows - 1) AS n;
INSERT INTO onek SELECT * FROM tenk1 WHERE unique2 < :rows / 10; ANALYZE onek, tenk1$$),
('some', 'INSERT INTO bprime SELECT * FROM onek; ANALYZE bprime'),
('all', 'INSERT INTO bprime SELECT * FROM tenk1; ANALYZE bprime'),
-- Keys of several columns: six regions, a hundred groups.
('keys', 'CREATE TABLE bench (region int, idn int, rev_idn int NOT NULL, grp int NOT NULL,
    PRIMARY KEY (region, idn), UNIQUE (region, rev_idn), UNIQUE (region, grp, idn))'),
('rows', 'INSERT INTO bench SELECT n % 6, n, :rows - 1 - n, n * 3 % 100
FROM generate_series(0, :rows - 1) AS n; ANALYZE bench'),
('row', $$CREATE TABLE bench AS SELECT 1 AS a, 100 AS i, 'AAA'::char(10) AS s$$),
('second row', $$INSERT INTO bench VALUES (2, 200, 'BBB')$$),
-- EXTERNAL: a string of A's compresses to almost nothing.
('string', $$CREATE TABLE bench (b text); ALTER TABLE bench ALTER b SET STORAGE EXTERNAL;
INSERT INTO bench VALUES (repeat('A', 65000))$$),
-- Texts of a thousand columns take long to store.
('thousand columns', $$DO 'BEGIN EXECUTE (
    SELECT ''CREATE TABLE bench AS SELECT '' || string_agg(''1 AS i'' || n, '', '' ORDER BY n)
    FROM generate_series(0, 999) AS n); END'$$),
-- as by alter_table_add
('added', $$DO 'BEGIN EXECUTE (
    SELECT ''ALTER TABLE bench ''
           || string_agg(format(''ADD c%s_%s int'', n % 10, n / 10 + 1), '', '' ORDER BY n)
    FROM generate_series(0, 999) AS n); END'$$),
('many', $$DO 'BEGIN FOR i IN 1 .. :transactions LOOP
    EXECUTE format(''CREATE TABLE bench_%s (i int PRIMARY KEY, d float8, s char(10))'', i);
    IF i % 100 = 0 THEN COMMIT; END IF;
END LOOP; END'$$)),

-- Parts of the set-up, iterations, description, and alternatives, with " | " between them, of
-- which each iteration runs the next one, in rounds: :round counts the rounds from 0.
operations (workload, setup, transactions, description, script) AS (VALUES
('alter_table_add', '{bench}'::text[], 100, 'Add ten columns to a table of 8 and 1,000 rows',
 (SELECT 'ALTER TABLE bench ' || string_agg(format('ADD c%s_:iteration int', c), ', ')
  FROM generate_series(0, 9) AS c)),
-- The original drops ten columns and then skips one, hence 91 and not 100.
('alter_table_drop', '{bench, added}', 91, 'Drop ten of the columns that alter_table_add added',
 (SELECT 'ALTER TABLE bench ' || string_agg(format('DROP c%s_:iteration', c), ', ')
  FROM generate_series(0, 9) AS c)),
('create_index', '{bench, added}', 8, '', 'CREATE INDEX ind:iteration ON bench (i:iteration)'),
('drop_index', '{bench, added, indexes}', 8, '', 'DROP INDEX ind:iteration'),

('connect', '{}', 10000, 'Connect and disconnect', NULL),
('connect+select_1_row', '{row}', 10000, '', 'SELECT a, i, s, :iteration FROM bench'),
('connect+select_simple', '{}', 10000, '', 'SELECT :iteration'),
('select_simple', '{}', 100000, '', 'SELECT :iteration'),
('select_simple_cache', '{}', 100000, '', 'SELECT 10000'),
('select_1_row', '{row}', 100000, '', 'SELECT a, i, s, :iteration FROM bench'),
('select_1_row_cache', '{row}', 100000, '', 'SELECT a, i, s FROM bench'),
('select_2_rows', '{row, second row}', 100000, '', 'SELECT a, i, s, :iteration FROM bench'),
('select_column+column', '{row, second row}', 100000, '',
 'SELECT a + a + a + a + a + a + a + a + a + :iteration FROM bench'),
('select_big_str', '{string}', 10000, '', 'SELECT b, :iteration FROM bench'),
-- sql-bench runs the first form to the end before the second.
('select_many_fields', '{thousand columns}', 2000, 'Select 1,000 columns, by * and by name in turn',
 (SELECT format(E'SELECT * FROM bench | SELECT\n%s FROM bench', names) FROM thousand)),
('insert_many_fields', '{thousand columns}', 2000, 'Insert 1,000 columns, in two forms in turn',
 (SELECT format(E'INSERT INTO bench VALUES (\n%s) | INSERT INTO bench (\n%s) VALUES (%1$s)',
                ones, names) FROM thousand)),
-- Only three of the four Wisconsin tables, because the original counts 31.
('create_table', '{}', 31, 'Create one of the 28 tables of ATIS, or 3 of Wisconsin',
 (SELECT string_agg(format('BEGIN; %s; COMMIT', creation), ' | ' ORDER BY name) FROM layouts
  WHERE name <> 'tenk2')),
('drop_table', '{atis, atis rows}', 28, 'Drop one of the 28 tables of ATIS, most with rows',
 (SELECT string_agg('DROP TABLE ' || name, ' | ' ORDER BY name) FROM layouts
  WHERE rows IS NOT NULL)),
('create_MANY_tables', '{}', 10000, 'Create a table with a primary key',
 'CREATE TABLE bench_:iteration (i int PRIMARY KEY, d float8, s char(10))'),
('select_group_when_MANY_tables', '{many}', 10000, '', 'SELECT count(*) FROM bench_:iteration'),
('drop_table_when_MANY_tables', '{many}', 10000, '', 'DROP TABLE bench_:iteration'),
('create+drop', '{}', 10000, 'Create a table with a primary key, and drop it',
 'CREATE TABLE bench (i int PRIMARY KEY, d float8, s char(10)); DROP TABLE bench'),
('create_key+drop', '{}', 10000, 'Create a table with 16 columns and 16 indexes, and drop it',
 (SELECT format(E'BEGIN; CREATE TABLE bench (\n%s, PRIMARY KEY (%s)); %s COMMIT; DROP TABLE bench',
                string_agg(f || ' char(5)', ', '), string_agg(f, ', '),
                string_agg(format('CREATE INDEX ON bench (%s);', f), ' ') FILTER (WHERE n > 1))
  FROM generate_series(1, 16) AS n, format('field%s', n) AS f)),
-- The original inserts three of five rows into Wisconsin tables.
('insert', '{atis, wisconsin, keys}', 50768, 'Insert one row, into one of three tables',
$$INSERT INTO tenk1 VALUES (:iteration, :iteration, 0, 2, 0, 10, 50, 688, 1950, 4950, 9950, 1, 100)
| INSERT INTO flight_fare VALUES (:iteration, 7100000)
| INSERT INTO bench VALUES (:iteration % 6, :iteration, -:iteration, :iteration * 3 % 100)$$),
('delete_big', '{wisconsin, tenk1, all}', 1, '', 'DELETE FROM bprime WHERE unique2 >= :rows / 10'),

('select_cache', '{keys, rows}', 10000, '', 'SELECT sum(idn + 100), sum(rev_idn - 100) FROM bench'),
('select_cache2', '{keys, rows}', 10000, '',
 'SELECT sum(idn + :iteration), sum(rev_idn - :iteration) FROM bench'),
('select_big', '{keys, rows}', 70, 'Select by parts of a key, and by a column without one',
$$SELECT idn FROM bench WHERE region = :round % 7
| SELECT idn FROM bench WHERE region = :round % 7 AND idn = :round
| SELECT idn FROM bench WHERE region = :round % 7 AND rev_idn = :round
| SELECT idn FROM bench WHERE region = :round % 7 AND grp = :round * 11 % 100
| SELECT idn FROM bench WHERE region BETWEEN 1 AND 4 AND grp = :round * 11 % 100
| SELECT idn FROM bench WHERE grp = :round * 11 % 100$$),
('select_range', '{keys, rows}', 410, 'Select by a hundred alternatives',
 (SELECT format(E'SELECT * FROM bench WHERE region = :round %% 7 AND grp IN (\n%s)'
                ' | SELECT * FROM bench WHERE region = :round %% 7 AND (\n%s)',
                string_agg(g::text, ', '), string_agg('grp = ' || g, ' OR '))
  FROM generate_series(1, 100) AS n, LATERAL (SELECT n * n % 100) AS v (g))),
('min_max_on_key', '{keys, rows}', 70000, 'Minimum and maximum of a key, or of its next part',
$$SELECT min(region) FROM bench | SELECT max(region) FROM bench
| SELECT min(rev_idn) FROM bench WHERE region = :round % 6
| SELECT max(grp) FROM bench WHERE region = :round % 6
| SELECT max(idn) FROM bench WHERE region = :round % 6 AND grp = :round * 3 % 100
| SELECT max(region) FROM bench WHERE region < :round % 6$$),
('count_on_key', '{keys, rows}', 50000, 'Count by parts of a key',
$$SELECT count(*) FROM bench WHERE region = :round % 6
| SELECT count(*) FROM bench WHERE region = :round % 6 AND grp = :round * 3 % 100
| SELECT count(*) FROM bench WHERE region > :round % 6
| SELECT count(*) FROM bench WHERE region = :round % 6 AND grp > :round * 3 % 100$$),
('count_group_on_key_parts', '{keys, rows}', 1000, '',
 'SELECT grp, count(*) FROM bench GROUP BY grp'),
('count_distinct_key_prefix', '{keys, rows}', 1000, '', 'SELECT count(DISTINCT region) FROM bench'),
('count_distinct', '{keys, rows}', 1000, '', 'SELECT count(DISTINCT grp) FROM bench'),
('count_distinct_2', '{keys, rows}', 1000, '',
 'SELECT count(DISTINCT grp), count(DISTINCT rev_idn) FROM bench'),
('count_distinct_group_on_key', '{keys, rows}', 1000, '',
 'SELECT region, count(DISTINCT idn) FROM bench GROUP BY region'),
('count_distinct_group_on_key_parts', '{keys, rows}', 1000, '',
 'SELECT grp, count(DISTINCT idn) FROM bench GROUP BY grp'),
('count_distinct_group', '{keys, rows}', 1000, '',
 'SELECT grp, count(DISTINCT rev_idn) FROM bench GROUP BY grp'),
('count_distinct_big', '{keys, rows}', 100, '',
 'SELECT idn, count(DISTINCT region) FROM bench GROUP BY idn'),

('select_simple_join', '{atis, atis rows}', 500, 'Join two tables of ATIS',
$$SELECT * FROM city JOIN state USING (state_code) WHERE city_code = 7
| SELECT * FROM state JOIN city USING (state_code)
| SELECT * FROM month_name JOIN day_name ON month_number = day_code
| SELECT flight_code, category FROM flight JOIN aircraft USING (aircraft_code)$$),
('select_join', '{atis, atis rows}', 100, '',
 'SELECT * FROM flight JOIN aircraft USING (aircraft_code) JOIN airline USING (airline_code)'),
('select_key_prefix_join', '{atis, atis rows}', 100, '', 'SELECT fare_code FROM restrict_carrier
    JOIN airline USING (airline_code) JOIN fare USING (restrict_code)'),
('select_distinct', '{atis, atis rows}', 800, 'What differs in a table or a join of ATIS',
$$SELECT DISTINCT category FROM aircraft | SELECT DISTINCT from_airport FROM flight
| SELECT DISTINCT aircraft_code FROM flight | SELECT DISTINCT flight_code FROM flight_fare
| SELECT DISTINCT * FROM fare
| SELECT DISTINCT category, airline_code FROM flight JOIN aircraft USING (aircraft_code)
    JOIN airline USING (airline_code)$$),
-- sql-bench has 28 statements, many of which differ only in a name or an order.
('select_group', '{atis, atis rows}', 2800, 'Groups and aggregates over ATIS, 7 in turn',
$$SELECT day_code, count(*) FROM flight_day JOIN day_name USING (day_code) GROUP BY 1 ORDER BY 1
| SELECT avg(engines), sum(engines), stddev(engines) FROM aircraft WHERE engines > 0
| SELECT from_airport, avg(stops) FROM flight WHERE to_airport = 1 GROUP BY 1
| SELECT category, count(*) FROM aircraft WHERE engines = 2 GROUP BY 1 HAVING count(*) > 4
| SELECT airline_code, range_miles, fare_class FROM flight JOIN aircraft USING (aircraft_code)
    JOIN flight_class USING (flight_code) WHERE range_miles <> 0 AND stops > 0 GROUP BY 1, 2, 3
| SELECT state_code, city_code, minutes_distant FROM airport_service JOIN city USING (city_code)
    JOIN airport USING (airport_code, state_code) JOIN state USING (state_code) GROUP BY 1, 2, 3
| SELECT night, one_way_cost FROM fare JOIN compound_class USING (fare_class)
    WHERE one_way_cost BETWEEN 280 AND 825 GROUP BY 1, 2 ORDER BY one_way_cost$$),
-- The original makes its changes at the end.
('wisc_benchmark', '{wisconsin, tenk1, some}', 114, 'Ten selects and joins, and changes, in turn',
$$SELECT * FROM tenk1 WHERE unique2 > 301 AND unique2 < 402
| SELECT * FROM tenk1 WHERE unique1 > 647 AND unique1 < 1648
| SELECT * FROM tenk1 WHERE unique2 = 2001 | SELECT min(unique2) FROM tenk1
| SELECT * FROM tenk1 WHERE unique2 BETWEEN 302 AND 401
| SELECT * FROM tenk1 AS a JOIN tenk1 AS b USING (unique2) WHERE unique2 < 1000
| SELECT * FROM tenk1 JOIN bprime USING (unique2)
| SELECT * FROM onek JOIN tenk1 AS a USING (unique2) JOIN tenk1 AS b USING (unique2)
| SELECT two, four, ten, twenty, hundred FROM tenk1 | SELECT * FROM onek
| BEGIN;
INSERT INTO tenk1 VALUES (:rows + :iteration, 2 * :rows + :iteration, 0, 2, 0, 10, 50, 688, 1950,
    4950, 9950, 1, 100);
DELETE FROM tenk1 WHERE unique2 = :rows / 4 + :iteration;
UPDATE tenk1 SET unique2 = 4 * :rows + :iteration WHERE unique2 = :rows / 2 + :iteration;
COMMIT$$))

INSERT INTO sync_probe.workloads (workload, suite, description, setup, script, teardown,
    transactions, protocol, new_connections, builtin)
SELECT workload, 'sql_bench', coalesce(nullif(description, ''), script),
       (SELECT string_agg(sql || E';\n', '' ORDER BY n)
        FROM unnest(setup) WITH ORDINALITY AS u (part, n) JOIN parts USING (part)),
       concat(CASE WHEN count > 1 THEN format(E'\\set which :iteration %% %1$s\n'
                                              '\\set round :iteration / %1$s\n', count) END,
              E'\\set iteration :iteration + 1\n',
              CASE WHEN count > 1 THEN turns || E'\\endif\n' ELSE script || E';\n' END),
       -- the drop of a schema has less time than a tear-down
       CASE WHEN workload ~ 'MANY' THEN 'CALL sync_probe_internal.drop_schema('':schema'')' END,
       transactions, 'simple', workload LIKE 'connect%', true
FROM operations, LATERAL (
    SELECT count(*), string_agg(format(E'\\%sif :which = %s\n%s;\n', CASE WHEN n > 1 THEN 'el' END,
                                       n - 1, statement), '' ORDER BY n)
    FROM regexp_split_to_table(script, '\s\| ') WITH ORDINALITY s (statement, n)) t (count, turns);
-- After the rows of the extension.  ALWAYS: session_replication_role cannot switch the
-- triggers off.
CREATE TRIGGER check_row BEFORE INSERT OR UPDATE OR DELETE ON sync_probe.workloads
    FOR EACH ROW EXECUTE FUNCTION sync_probe_internal.check_workload();
CREATE TRIGGER check_truncate BEFORE TRUNCATE ON sync_probe.workloads
    FOR EACH STATEMENT EXECUTE FUNCTION sync_probe_internal.check_workload();
ALTER TABLE sync_probe.workloads ENABLE ALWAYS TRIGGER check_row;
ALTER TABLE sync_probe.workloads ENABLE ALWAYS TRIGGER check_truncate;

--
-- workload_results
--
-- One row for each run of a workload.  pgbench() returns rows of this type.
--
CREATE TABLE sync_probe.workload_results (
    result_id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    run_group bigint NOT NULL,
    workload name NOT NULL,
    tablespace name,
    tps double precision,
    latency_mean_ms double precision,
    latency_p50_ms double precision,
    latency_p99_ms double precision,
    latency_max_ms double precision,
    transactions bigint,
    failed bigint,
    clients integer,
    threads integer,
    wal_bytes bigint,
    wal_syncs bigint,
    settings jsonb,
    server_settings jsonb,
    label text,
    suite name,
    rows integer,
    transactions_per_client integer,
    started_at timestamptz,
    finished_at timestamptz,
    statements jsonb,
    second_tps double precision[]
);

CREATE INDEX ON sync_probe.workload_results (suite, run_group DESC);

GRANT SELECT ON sync_probe.workload_results TO pg_monitor;

COMMENT ON TABLE sync_probe.workload_results IS
  'History: one row for each run of a workload. Latencies are in milliseconds';
COMMENT ON COLUMN sync_probe.workload_results.result_id IS
  'Number of the run';
COMMENT ON COLUMN sync_probe.workload_results.run_group IS
  'First result_id of the same statement';
COMMENT ON COLUMN sync_probe.workload_results.workload IS
  'Workload that ran';
COMMENT ON COLUMN sync_probe.workload_results.tablespace IS
  'Tablespace of its objects';
COMMENT ON COLUMN sync_probe.workload_results.tps IS
  'Transactions per second as pgbench reports them, without the first connections';
COMMENT ON COLUMN sync_probe.workload_results.latency_mean_ms IS
  'Mean as pgbench reports it';
COMMENT ON COLUMN sync_probe.workload_results.latency_p50_ms IS
  'From the log of all transactions, within 1 percent; null where it has too few';
COMMENT ON COLUMN sync_probe.workload_results.latency_p99_ms IS
  'From the log of all transactions, within 1 percent; null where it has too few';
COMMENT ON COLUMN sync_probe.workload_results.latency_max_ms IS
  'From the log of all transactions, within 1 percent; null where it has too few';
COMMENT ON COLUMN sync_probe.workload_results.transactions IS
  'Transactions completed';
COMMENT ON COLUMN sync_probe.workload_results.failed IS
  'Ended with a serialization failure or a deadlock; other errors end the run';
COMMENT ON COLUMN sync_probe.workload_results.clients IS
  'Clients and threads of pgbench';
COMMENT ON COLUMN sync_probe.workload_results.threads IS
  'Clients and threads of pgbench';
COMMENT ON COLUMN sync_probe.workload_results.wal_bytes IS
  'WAL of the whole server during the run; null if the statistics were reset';
COMMENT ON COLUMN sync_probe.workload_results.wal_syncs IS
  'WAL syncs of the whole server; 0 with open_*, whose writes are not counted';
COMMENT ON COLUMN sync_probe.workload_results.settings IS
  'Argument settings';
COMMENT ON COLUMN sync_probe.workload_results.server_settings IS
  'Settings that affect the cost of a commit, and server_version; synchronous_commit is that of '
  'the sessions, wal_sync_method is missing if it was changed meanwhile';
COMMENT ON COLUMN sync_probe.workload_results.label IS
  'Free text stored with the run';
COMMENT ON COLUMN sync_probe.workload_results.suite IS
  'Suite of the workload';
COMMENT ON COLUMN sync_probe.workload_results.rows IS
  'Argument rows';
COMMENT ON COLUMN sync_probe.workload_results.transactions_per_client IS
  'Argument transactions; null if the run had a duration';
COMMENT ON COLUMN sync_probe.workload_results.started_at IS
  'Start and end of pgbench';
COMMENT ON COLUMN sync_probe.workload_results.finished_at IS
  'Start and end of pgbench';
COMMENT ON COLUMN sync_probe.workload_results.statements IS
  'Mean latency and failures of each line of the script';
COMMENT ON COLUMN sync_probe.workload_results.second_tps IS
  'Transactions per second in each second';

-- The history is the user's data: pg_dump includes it.
SELECT pg_catalog.pg_extension_config_dump('sync_probe.workload_results', '');
SELECT pg_catalog.pg_extension_config_dump('sync_probe.workload_results_result_id_seq', '');

--
-- pgbench
--
-- Run a workload with the server's own pgbench, as
--   pgbench -M prepared -n -r -f script -c clients -j threads -T duration
-- against this server, as the current user in the current database.  The role needs the
-- privileges of pg_execute_server_program, LOGIN, and CREATE on the database and on the
-- tablespace.
--
-- It returns one row, which is recorded.  pgbench runs set-up and tear-down, too; the objects
-- are in a schema of their own.  A publication FOR ALL TABLES would publish them: in
-- its database a workload runs only with allow_publication.  doc/workloads.md describes
-- arguments and columns, doc/settings-and-privileges.md errors.
--
CREATE FUNCTION sync_probe.pgbench(
    workload name DEFAULT 'upsert',
    tablespace name DEFAULT NULL,
    clients integer DEFAULT 16,
    threads integer DEFAULT 8,
    duration interval DEFAULT '30 s',
    transactions integer DEFAULT NULL,
    rows integer DEFAULT 500000,
    settings jsonb DEFAULT NULL,
    label text DEFAULT NULL,
    allow_publication boolean DEFAULT false)
RETURNS SETOF sync_probe.workload_results
LANGUAGE c VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'sync_probe_pgbench';

REVOKE ALL ON FUNCTION sync_probe.pgbench FROM PUBLIC;

COMMENT ON FUNCTION sync_probe.pgbench IS
  'Run a workload with the server''s pgbench, record it and return its row. Requires the '
  'privileges of pg_execute_server_program';

--
-- run_workload
--
-- The same as a procedure.  It commits first, so that no snapshot of the caller keeps the
-- server from removing dead row versions while the workload runs.  It cannot be called in
-- a transaction block.  It has no SET search_path, because a procedure with one cannot
-- commit; every name that it executes has a schema.
--
CREATE PROCEDURE sync_probe.run_workload(
    workload name DEFAULT 'upsert',
    tablespace name DEFAULT NULL,
    clients integer DEFAULT 16,
    threads integer DEFAULT 8,
    duration interval DEFAULT '30 s',
    transactions integer DEFAULT NULL,
    rows integer DEFAULT 500000,
    settings jsonb DEFAULT NULL,
    label text DEFAULT NULL,
    allow_publication boolean DEFAULT false,
    INOUT result_id bigint DEFAULT NULL,
    INOUT tps double precision DEFAULT NULL,
    INOUT latency_mean_ms double precision DEFAULT NULL,
    INOUT latency_p99_ms double precision DEFAULT NULL)
LANGUAGE c
AS 'MODULE_PATHNAME', 'sync_probe_run_workload';

REVOKE ALL ON PROCEDURE sync_probe.run_workload FROM PUBLIC;

COMMENT ON PROCEDURE sync_probe.run_workload IS
  'Run a workload as pgbench() does, but without a snapshot, which would keep dead row versions';
--
-- probe
--
-- Measure one location with one suite.  It writes files of its own there, removes them at
-- the end, and loads the device while it runs.  For the wal suite these are three files of
-- 4 MB for each sync method, or one of 16 MB for flushes of more than 64 kB.
--
-- The segments suite has up to three files at a time, each of a segment or 16 MB.  The commit
-- suite writes no files: background workers write WAL, see doc/real-commits.md.
--
-- By default it takes at most 5 s and writes all the time.  Where sessions are committing when
-- it begins, it writes a fifth of the time for up to 25 s.
--
-- It returns one row for each test case, always the same cases in the same order.  A case
-- that could not be measured is a row whose status says why.  doc/probe.md describes
-- arguments and columns, doc/settings-and-privileges.md errors.
--
CREATE FUNCTION sync_probe.probe(
    location name DEFAULT 'pg_wal',
    suite text DEFAULT 'wal',
    duration interval DEFAULT NULL,
    duty_cycle double precision DEFAULT NULL,
    flush_size integer DEFAULT NULL,
    flush_interval interval DEFAULT NULL,
    stop_early boolean DEFAULT true,
    label text DEFAULT NULL,
    record boolean DEFAULT true,
    methods text[] DEFAULT NULL,
    commit_delays integer[] DEFAULT NULL,
    workers integer DEFAULT NULL)
RETURNS SETOF sync_probe.measurements
LANGUAGE c VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'sync_probe_probe';

REVOKE ALL ON FUNCTION sync_probe.probe FROM PUBLIC;

COMMENT ON FUNCTION sync_probe.probe IS
  'Measure writing and syncing at pg_wal or a tablespace with every sync method. Returns one row '
  'for each test case. Requires CREATE on a tablespace other than the database''s own';

--
-- The same for suites that write files, with the row of the run as its result: on a standby it
-- is not in the history.  Requires EXECUTE on probe(), which it checks.
--
CREATE FUNCTION sync_probe_internal.probe_run(
    location name,
    suite text,
    duration interval DEFAULT NULL,
    duty_cycle double precision DEFAULT NULL,
    flush_size integer DEFAULT NULL,
    flush_interval interval DEFAULT NULL,
    stop_early boolean DEFAULT true,
    label text DEFAULT NULL,
    record boolean DEFAULT true)
RETURNS sync_probe.runs
LANGUAGE c VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'sync_probe_probe_run';

--
-- cleanup
--
-- Remove the files of probes whose backend was killed, and the directories of such
-- workloads with their schemas in this database.  Before it starts, each probe does so
-- for its own location, and each workload for the schemas of its role in its database.
--
-- The schemas are those of all roles that the caller can act as.  It waits 10 ms for a lock,
-- unless lock_timeout is set.  A WARNING says how many are left.
--
CREATE FUNCTION sync_probe.cleanup()
RETURNS integer
LANGUAGE c VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'sync_probe_cleanup';

REVOKE ALL ON FUNCTION sync_probe.cleanup FROM PUBLIC;

COMMENT ON FUNCTION sync_probe.cleanup IS
  'Remove files in all locations and schemas in this database that killed probes and workloads '
  'left behind, and restore the setting of a trial. Returns how many';
--
-- trial
--
-- Try values of a setting on the server's own load, or on that of a workload: switch it
-- for the whole cluster, in short slots of time in random order, and compare how long
-- commits wait and how many there are.  However it ends, the old value comes back.  Values of
-- wal_sync_method are of the kind in use: buffered, or open_*.
--
-- Settings are wal_sync_method, commit_delay, commit_siblings, wal_compression,
-- wal_writer_delay and wal_writer_flush_after.  workload: a row of workloads, which
-- pgbench runs as long as the trial lasts; it needs the privileges of run_workload(), too.
-- doc/real-commits.md describes it, doc/settings-and-privileges.md its errors.
--
-- Without SET search_path, with which it could not commit.
--
CREATE PROCEDURE sync_probe.trial(
    setting name DEFAULT 'wal_sync_method',
    "values" text[] DEFAULT NULL,
    duration interval DEFAULT '1 min',
    slot interval DEFAULT NULL,
    workload name DEFAULT NULL,
    label text DEFAULT NULL,
    INOUT run_id bigint DEFAULT NULL,
    INOUT verdict text DEFAULT NULL,
    INOUT recommended_value text DEFAULT NULL,
    INOUT reason text DEFAULT NULL)
LANGUAGE c
AS 'MODULE_PATHNAME', 'sync_probe_trial';

REVOKE ALL ON PROCEDURE sync_probe.trial FROM PUBLIC;

COMMENT ON PROCEDURE sync_probe.trial IS
  'Switch a setting of the cluster in short random slots, compare the commits of its sessions, '
  'and restore it. Requires ALTER SYSTEM on the setting; with workload, which makes the load, '
  'also the privileges of run_workload()';
--
-- latency_histogram
--
-- The latency distribution of each measurement, eight buckets to the octave: fine enough
-- to show two humps, with few rows.  sync_probe_internal.samples has the 64 buckets to
-- the octave that were recorded.
--
CREATE VIEW sync_probe.latency_histogram AS
WITH bucket AS (
    SELECT s.run_id, s.ordinal, b.lower_us, b.ops,
           -- without 1e-9, rounding can put a power of two into the octave below
           pow(2, floor(ln(greatest(b.lower_us, 0.001) * 1000) / ln(2.0::float8) + 1e-9))
               AS octave_ns
    FROM sync_probe_internal.samples AS s,
         LATERAL unnest(s.bucket_lower_us, s.bucket_ops) AS b (lower_us, ops)
), part AS (
    SELECT run_id, ordinal, ops,
           octave_ns / 1000 * (1 + floor((lower_us * 1000 / octave_ns - 1) * 8 + 1e-9) / 8)
               AS lower_us,
           octave_ns / 8000 AS width_us
    FROM bucket
), bar AS (
    SELECT run_id, ordinal, lower_us, lower_us + width_us AS upper_us,
           sum(ops)::bigint AS ops,
           (sum(ops) / nullif(max(sum(ops)) OVER of_measurement, 0))::float8 AS height
    FROM part
    GROUP BY run_id, ordinal, lower_us, width_us
    WINDOW of_measurement AS (PARTITION BY run_id, ordinal)
)
SELECT b.run_id, b.ordinal, m.test, m.method,
       round(b.lower_us::numeric, CASE WHEN b.lower_us < 10 THEN 3 ELSE 1 END)::float8 AS lower_us,
       round(b.upper_us::numeric, CASE WHEN b.upper_us < 10 THEN 3 ELSE 1 END)::float8 AS upper_us,
       b.ops, sync_probe.bar(b.height) AS bar
FROM bar AS b
JOIN sync_probe.measurements AS m USING (run_id, ordinal)
ORDER BY b.run_id, b.ordinal, b.lower_us;

GRANT SELECT ON sync_probe.latency_histogram TO pg_monitor;

COMMENT ON VIEW sync_probe.latency_histogram IS
  'Latency distribution of each measurement. Ask for one run_id: over the whole history the view '
  'is slow';
COMMENT ON COLUMN sync_probe.latency_histogram.run_id IS 'As in measurements';
COMMENT ON COLUMN sync_probe.latency_histogram.ordinal IS 'As in measurements';
COMMENT ON COLUMN sync_probe.latency_histogram.test IS 'As in measurements';
COMMENT ON COLUMN sync_probe.latency_histogram.method IS 'As in measurements';
COMMENT ON COLUMN sync_probe.latency_histogram.lower_us IS
  'Bounds of the bucket; there are eight to the octave';
COMMENT ON COLUMN sync_probe.latency_histogram.upper_us IS
  'Bounds of the bucket; there are eight to the octave';
COMMENT ON COLUMN sync_probe.latency_histogram.ops IS 'Operations in the bucket';
COMMENT ON COLUMN sync_probe.latency_histogram.bar IS
  'ops as a bar; the fullest bucket has 40 characters';
--
-- Whether a change between two methods leads through a time in which WAL counts as flushed
-- that is not: see "A change of wal_sync_method" in doc/durability-and-findings.md.  With an
-- open_* method XLogWrite() takes what is written for flushed, whoever wrote it.  So one of
-- them must not meet a process that writes WAL without one, in either direction.  Methods
-- that sync the file afterwards can meet: each sync is of the whole file.
--
CREATE FUNCTION sync_probe_internal.unlike_methods(one text, other text)
RETURNS boolean
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT starts_with(one, 'open_') <> starts_with(other, 'open_')
$$;

--
-- The statements that change wal_sync_method on a running server.
--
CREATE FUNCTION sync_probe_internal.change_commands(old_method text, new_method text)
RETURNS text[]
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT ARRAY[format('ALTER SYSTEM SET wal_sync_method = %L', new_method),
             'SELECT pg_reload_conf()']
       || CASE WHEN sync_probe_internal.unlike_methods(old_method, new_method)
               THEN ARRAY['CALL sync_probe.wait_for_reload()', 'CHECKPOINT'] END
$$;

--
-- Wait until the postmaster has handled all reloads that were requested before, and return
-- the time.  By then it has told all processes.
--
CREATE FUNCTION sync_probe_internal.await_postmaster()
RETURNS timestamptz
LANGUAGE c VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'sync_probe_await_postmaster';

REVOKE ALL ON FUNCTION sync_probe_internal.await_postmaster FROM PUBLIC;
GRANT EXECUTE ON FUNCTION sync_probe_internal.await_postmaster TO pg_monitor;

--
-- Processes that execute a statement which began before a time.  A session takes a new
-- configuration between two statements only, a worker of autovacuum between two tables, the
-- checkpointer between two checkpoints and while it waits in one.  WAL senders take it at
-- once, and their statement never ends.  Lists of processes are null if empty; news: the
-- first one is not the one of the notice before.
--
CREATE FUNCTION sync_probe_internal.older_statements(
    before timestamptz,
    noticed text,
    OUT pids text,
    OUT silent_pids text,
    OUT news boolean)
LANGUAGE sql VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
SELECT s.pids, s.silent_pids, s.pids IS DISTINCT FROM noticed
FROM (SELECT string_agg(a.pid::text, ', ' ORDER BY a.pid)
                 FILTER (WHERE CASE a.backend_type
                     WHEN 'autovacuum worker' THEN coalesce(a.query_start, a.backend_start) < before
                     WHEN 'checkpointer' THEN coalesce(a.wait_event, '') NOT IN
                         ('CheckpointerMain', 'CheckpointWriteDelay')
                     ELSE a.state IN ('active', 'fastpath function call')
                         AND a.query_start < before END),
             -- track_activities is off there: it is unknown whether a statement runs
             string_agg(a.pid::text, ', ' ORDER BY a.pid) FILTER (WHERE a.state = 'disabled')
      FROM pg_stat_activity AS a
      WHERE a.pid <> pg_backend_pid() AND a.backend_type <> 'walsender') AS s (pids, silent_pids)
$$;

REVOKE ALL ON FUNCTION sync_probe_internal.older_statements FROM PUBLIC;
GRANT EXECUTE ON FUNCTION sync_probe_internal.older_statements TO pg_monitor;

--
-- wait_for_reload
--
-- Wait until all processes of the cluster have the configuration of the last reload.
--
-- It commits after each look, so that it holds no snapshot while it waits: a statement that
-- it waits for may take hours.  It has no SET search_path, because a procedure with one
-- cannot commit; every name in it, of types too, has a schema.
--
CREATE PROCEDURE sync_probe.wait_for_reload()
LANGUAGE plpgsql
AS $procedure$
DECLARE
    before pg_catalog.timestamptz;
    seen pg_catalog.record;
    noticed pg_catalog.text;
BEGIN
    COMMIT;
    before := sync_probe_internal.await_postmaster();
    LOOP
        SELECT * INTO seen FROM sync_probe_internal.older_statements(before, noticed);
        EXIT WHEN seen.pids IS NULL;
        IF seen.news THEN
            RAISE NOTICE 'waiting for processes that may not have read the configuration yet'
                USING DETAIL = pg_catalog.concat('Processes: ', seen.pids, '.');
            noticed := seen.pids;
        END IF;
        COMMIT;
        PERFORM pg_catalog.pg_sleep(0.1);
    END LOOP;
    IF seen.silent_pids IS NOT NULL THEN
        RAISE WARNING 'it is unknown whether all sessions use the configuration of the last reload'
            USING DETAIL = pg_catalog.concat('track_activities is off in processes: ',
                                             seen.silent_pids, '.'),
                  HINT = 'Wait until each of them has executed another statement.';
    END IF;
END
$procedure$;

REVOKE ALL ON PROCEDURE sync_probe.wait_for_reload FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE sync_probe.wait_for_reload TO pg_monitor;

COMMENT ON PROCEDURE sync_probe.wait_for_reload IS
  'Wait until all processes have the configuration of the last reload';
--
-- running
--
-- The probe, trial, workload or cleanup that runs in this cluster.  Every session of every
-- database sees it; pg_stat_activity has its role and database.
--
CREATE FUNCTION sync_probe_internal.running(
    OUT pid integer,
    OUT location name,
    OUT suite text,
    OUT workload name,
    OUT phase text,
    OUT started_at timestamptz,
    OUT percent_done double precision)
RETURNS SETOF record
LANGUAGE c VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'sync_probe_running';

REVOKE ALL ON FUNCTION sync_probe_internal.running FROM PUBLIC;
GRANT EXECUTE ON FUNCTION sync_probe_internal.running TO pg_monitor;

CREATE VIEW sync_probe.running AS
SELECT r.pid, r.location, r.suite, r.workload, r.phase, r.started_at, r.percent_done
FROM sync_probe_internal.running() AS r;

GRANT SELECT ON sync_probe.running TO pg_monitor;

COMMENT ON VIEW sync_probe.running IS
  'The probe, trial, workload or cleanup that runs now in this cluster';
COMMENT ON COLUMN sync_probe.running.pid IS 'Process ID of its backend, as in pg_stat_activity';
COMMENT ON COLUMN sync_probe.running.location IS
  'Location of the probe, tablespace of the workload';
COMMENT ON COLUMN sync_probe.running.suite IS 'Suite, or trial';
COMMENT ON COLUMN sync_probe.running.workload IS 'Workload that runs';
COMMENT ON COLUMN sync_probe.running.phase IS
  'Such as examining storage, writing files, measuring, recording, setting up, running, tearing '
  'down, cleaning up';
COMMENT ON COLUMN sync_probe.running.started_at IS 'Start';
COMMENT ON COLUMN sync_probe.running.percent_done IS
  'Percentage of the duration or of the transactions';
--
-- This server and machine.  On a standby and in a restored dump sync_probe.runs has runs
-- of other servers.
--
CREATE FUNCTION sync_probe_internal.this_server(
    OUT system_identifier bigint,
    OUT host text)
LANGUAGE c STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'sync_probe_this_server';

REVOKE ALL ON FUNCTION sync_probe_internal.this_server FROM PUBLIC;
GRANT EXECUTE ON FUNCTION sync_probe_internal.this_server TO pg_monitor;

--
-- The statement that probes a location.
--
CREATE FUNCTION sync_probe_internal.probe_command(location name)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT format('SELECT * FROM sync_probe.probe(%s)', quote_literal(nullif(location, 'pg_wal')))
$$;

--
-- The statement that repeats an undecided run for as long as may decide it; null if the run
-- was as long as pg_sync_probe.max_duration allows.
--
CREATE FUNCTION sync_probe_internal.longer_command(run sync_probe.runs)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT CASE run.suite
           WHEN 'wal' THEN format('SELECT * FROM sync_probe.probe(%s)', concat_ws(', ',
               quote_literal(nullif(run.location, 'pg_wal')), d.argument))
           WHEN 'commit' THEN format('SELECT * FROM sync_probe.probe(suite => ''commit'', %s)',
                                     concat_ws(', ', d.argument, 'workers => ' || run.workers))
           WHEN 'trial' THEN format('CALL sync_probe.trial(%s)', concat_ws(', ',
               quote_literal(nullif(run.setting, 'wal_sync_method')), d.argument,
               'workload => ' || quote_literal(run.workload))) END
FROM (SELECT format('duration => ''%s s''', trim_scale(extract(epoch FROM run.longer_duration))))
    AS d (argument)
WHERE run.longer_duration IS NOT NULL
$$;

--
-- The options of a list that another list lacks, in their order; "none" if there are none.
-- Whether the mount can be written to changes no measurement, and has a finding of its own.
--
CREATE FUNCTION sync_probe_internal.options_left(options text, others text)
RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT coalesce(string_agg(o.option, ',' ORDER BY o.n), 'none')
FROM string_to_table(options, ',') WITH ORDINALITY AS o (option, n)
WHERE o.option <> ALL (string_to_array(others, ','))
  AND o.option NOT IN ('ro', 'rw')
$$;

--
-- What has changed at a location since a run: "write cache was write back, is write
-- through".  Of mount options only those that differ.  Directory and device are left out: a
-- run at another directory or device is not a run of this location.  No change are the
-- wal_sync_method of now if the advice of the run was followed, and the methods of a trial while
-- it runs.
--
CREATE FUNCTION sync_probe_internal.changes_since(
    run sync_probe.runs,
    place sync_probe_internal.storage,
    followed boolean)
RETURNS text[]
LANGUAGE sql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
SELECT array_agg(format(c.words, c.before, coalesce(c.now, 'unknown')) ORDER BY c.n)
FROM (SELECT run.storage ->> 'mount_options', place.mount_options) AS o (before, now),
     LATERAL (VALUES
    (1, 'wal_sync_method was %s, is %s', CASE WHEN NOT followed THEN run.wal_sync_method END,
        CASE WHEN EXISTS (SELECT FROM sync_probe_internal.running() AS r WHERE r.suite = 'trial')
             THEN run.wal_sync_method ELSE current_setting('wal_sync_method') END),
    -- off while it is on now; the other way round the advice itself is that fsync is off
    (2, 'fsync was %s, is %s', CASE WHEN NOT run.fsync THEN 'off' END, current_setting('fsync')),
    -- up to PostgreSQL 15 it decides whether open_* methods use O_DIRECT
    (3, 'wal_level was %s, is %s',
        CASE WHEN current_setting('server_version_num')::integer < 160000
                  AND (run.wal_level = 'minimal') <> (current_setting('wal_level') = 'minimal')
             THEN run.wal_level END,
        current_setting('wal_level')),
    (4, 'pg_sync_probe.margin was %s, is %s', run.margin::text,
        -- as a run stores it
        round(coalesce(current_setting('pg_sync_probe.margin', true), '0.05')::numeric,
              6)::float8::text),
    (5, 'file system was %s, is %s', run.filesystem, place.filesystem),
    -- that of a ZFS pool is known to a probe alone
    (6, 'write cache was %s, is %s',
        CASE WHEN place.filesystem ~ 'zfs$' IS NOT TRUE THEN run.storage ->> 'write_cache' END,
        place.write_cache),
    -- words are made only of what differs, which it seldom does
    (7, 'mount options were %s, are %s',
        CASE WHEN o.before <> o.now IS NOT FALSE
             THEN coalesce(sync_probe_internal.options_left(o.before, o.now), o.before) END,
        CASE WHEN o.before <> o.now THEN sync_probe_internal.options_left(o.now, o.before) END)
) AS c (n, words, before, now)
WHERE c.before <> coalesce(c.now, '')
$$;

--
-- Whether the advice of a run was followed: what it recommends instead is the current value.
--
CREATE FUNCTION sync_probe_internal.followed(
    verdict text, recommended text, before text, setting name)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT coalesce(verdict IN ('switch', 'unsafe') AND recommended <> before
                AND recommended = current_setting(setting), false)
$$;

--
-- What a run of the wal suite says today of its location; null: there is none.  It takes a row,
-- because a run on a standby is not in the table and has no run_id.  changes and was_followed are
-- the results of changes_since() and followed().
--
CREATE FUNCTION sync_probe_internal.run_advice(
    of_location name,
    run sync_probe.runs,
    changes text[],
    was_followed boolean)
RETURNS TABLE (
    holds_wal boolean,
    verdict text,
    current_method text,
    recommended_method text,
    best_method text,
    max_regret double precision,
    deciding_test text,
    flush_us double precision,
    durable text,
    basis text,
    run_id bigint,
    reason text)
LANGUAGE sql STABLE PARALLEL SAFE
ROWS 1 -- the default of 1,000 makes queries look costly enough for JIT compilation
SET search_path = pg_catalog, pg_temp
AS $$
WITH today AS (
    SELECT of_location = 'pg_wal' AS holds_wal, n.fsync,
           -- fsync = off is worse than anything that a run may have found
           CASE WHEN NOT n.fsync THEN 'unsafe'
                WHEN run.suite IS NULL THEN 'not probed'
                WHEN changes IS NOT NULL THEN 'outdated'
                WHEN was_followed THEN 'keep'
                ELSE run.verdict END AS verdict
    FROM (SELECT current_setting('fsync')::boolean) AS n (fsync)
)
SELECT t.holds_wal, t.verdict, current_setting('wal_sync_method'), a.recommended_value,
       CASE WHEN was_followed THEN a.recommended_value ELSE a.best_value END,
       -- The bound is about the method that was current.
       CASE WHEN NOT was_followed THEN a.max_regret END,
       a.deciding_test, a.flush_us,
       CASE WHEN NOT t.fsync THEN 'no'
            ELSE coalesce(CASE WHEN was_followed
                               THEN (SELECT m.durable FROM sync_probe.measurements AS m
                                     WHERE m.run_id = a.run_id AND m.method = a.recommended_value
                                       AND m.test = a.deciding_test)
                               ELSE a.durable END, 'unknown') END,
       run.suite, run.run_id,
       CASE WHEN NOT t.fsync THEN 'fsync is off: this server syncs nothing'
            WHEN t.verdict = 'outdated'
            THEN format('run %s is outdated: %s', run.run_id, array_to_string(changes, ', '))
            WHEN was_followed
            THEN format('chosen instead of %s: %s', run.wal_sync_method, run.reason)
            WHEN run.verdict = 'switch' AND NOT t.holds_wal
            THEN 'if the WAL were here: ' || run.reason
            ELSE run.reason END
FROM today AS t
-- An outdated run has no advice.
LEFT JOIN (SELECT run.*) AS a ON t.verdict <> 'outdated'
$$;

--
-- The runs that this server made; others tell nothing of it.  Whoever wants the newest one of a
-- location and a suite sorts by run_id + 0, as the index of runs does, and compares directory and
-- device as one array, where null equals null: with IS NOT DISTINCT FROM, and a device that no run
-- knows, the planner expects no row and sorts the whole history of the location.  A list of columns
-- would lack those that an update adds to the table.
--
CREATE VIEW sync_probe_internal.own_runs AS
SELECT r AS run
FROM sync_probe.runs AS r
WHERE r.imported_at IS NULL
  AND (r.system_identifier, r.host) = (SELECT s.system_identifier, s.host
                                       FROM sync_probe_internal.this_server() AS s);

--
-- For each location the run that its advice rests on: the newest run that is usable for
-- advice and was made by this server, at the directory and on the device that the location
-- has now.  passed_over: a newer run of the wal suite that was measured here, and why no advice
-- rests on it.  Who imports a run does not expect advice from it.  suites: of which there are runs.
--
-- last has the newest run of each suite at each location that has any: one step down the index for
-- each.  Of 1,000 locations few may have runs, and few of all suites.
--
CREATE VIEW sync_probe_internal.newest_runs AS
WITH RECURSIVE last AS (
    (SELECT r.suite, r.location, r.run_id
     FROM sync_probe.runs AS r
     WHERE r.imported_at IS NULL
     ORDER BY r.suite, r.location, r.run_id + 0 DESC
     LIMIT 1)
    UNION ALL
    SELECT n.*
    FROM last AS l,
         LATERAL (SELECT r.suite, r.location, r.run_id
                  FROM sync_probe.runs AS r
                  WHERE r.imported_at IS NULL AND (r.suite, r.location) > (l.suite, l.location)
                  ORDER BY r.suite, r.location, r.run_id + 0 DESC
                  LIMIT 1) AS n
)
SELECT l.name AS location, l AS place, r.run, o.run_id AS passed_over,
       o.finished_at AS passed_over_at, o.why AS passed_over_why, w.suites
FROM sync_probe_internal.examine_locations(NULL) AS l
CROSS JOIN sync_probe_internal.this_server() AS s
LEFT JOIN (SELECT w.location, array_agg(w.suite) AS suites,
                  max(w.run_id) FILTER (WHERE w.suite = 'wal') AS run_id
           FROM last AS w
           GROUP BY w.location) AS w ON w.location = l.name
LEFT JOIN LATERAL (
    SELECT r.run
    FROM sync_probe_internal.own_runs AS r
    WHERE w.run_id IS NOT NULL
      AND (r.run).suite = 'wal' AND (r.run).location = l.name AND (r.run).usable_for_advice
      AND ARRAY[(r.run).directory, (r.run).device] = ARRAY[l.directory, l.device]
    ORDER BY (r.run).run_id + 0 DESC
    LIMIT 1) AS r ON true
LEFT JOIN LATERAL (
    SELECT n.run_id, n.finished_at,
           concat_ws(', ',
               CASE WHEN n.system_identifier IS DISTINCT FROM s.system_identifier
                    THEN 'another cluster made it'
                    WHEN n.host IS DISTINCT FROM s.host
                    THEN format('host %s made it', coalesce(n.host, 'unknown')) END,
               CASE WHEN n.directory IS DISTINCT FROM l.directory
                    THEN format('its directory was %s', coalesce(n.directory, 'unknown')) END,
               CASE WHEN n.device IS DISTINCT FROM l.device
                    THEN format('its device was %s', coalesce(n.device, 'unknown')) END,
               CASE WHEN NOT n.usable_for_advice
                    THEN 'it has fewer than 16 samples, or was given flush_size or flush_interval'
                    END) AS why
    FROM sync_probe.runs AS n
    WHERE n.run_id = w.run_id AND w.run_id IS DISTINCT FROM (r.run).run_id) AS o ON true;

-- findings(), device_lifetime() and report_html() read them with the rights of their callers.
GRANT SELECT ON sync_probe_internal.own_runs, sync_probe_internal.newest_runs TO pg_monitor;

--
-- The runs that compared values of a setting on real commits at the place of the WAL, made by
-- this server, at its directory and device, and at the cluster's own pace and size: of each
-- sort the newest one, and the newest one that has decided.  A trial of the load of the
-- server's own sessions comes first, then one of a workload, then the commit suite.  counts: it
-- has decided, and nothing has changed since but that its advice was followed.
--
CREATE FUNCTION sync_probe_internal.live_runs(place sync_probe_internal.storage, of_setting name)
RETURNS TABLE (
    rank integer,
    run sync_probe.runs,
    verdict text,
    current_value text,
    recommended_value text,
    followed boolean,
    counts boolean)
LANGUAGE sql STABLE PARALLEL RESTRICTED
ROWS 3
SET search_path = pg_catalog, pg_temp
AS $$
SELECT u.rank, r.run, r.verdict, r.current_value, v.recommended_value, f.followed,
       w.decided
       AND sync_probe_internal.changes_since(r.run, place,
               f.followed AND of_setting = 'wal_sync_method') IS NULL
FROM (VALUES (1, 'trial', false), (2, 'trial', true), (3, 'commit', false))
         AS u (rank, suite, made),
     (VALUES (true), (false)) AS w (decided),
     LATERAL (
         SELECT r.run, c.verdict, c.method AS current_value
         FROM sync_probe_internal.own_runs AS r
         -- with the limit a run comes first; else the planner looks for such rows in the history
         CROSS JOIN LATERAL (SELECT m.verdict, m.method
                             FROM sync_probe.measurements AS m
                             WHERE m.run_id = (r.run).run_id AND m.test = of_setting
                               AND m.verdict IS NOT NULL
                             LIMIT 1) AS c
         WHERE (r.run).suite = u.suite AND (r.run).location = place.name
           AND ARRAY[(r.run).directory, (r.run).device] = ARRAY[place.directory, place.device]
           AND (r.run).usable_for_advice
           AND ((r.run).workload IS NOT NULL) = u.made
           AND (c.verdict IN ('switch', 'keep') OR NOT w.decided)
         ORDER BY (r.run).run_id + 0 DESC
         LIMIT 1) AS r,
     LATERAL (SELECT coalesce((SELECT m.method FROM sync_probe.measurements AS m
                               WHERE m.run_id = (r.run).run_id AND m.test = of_setting
                                 AND m.choice = 'recommended'),
                              r.current_value)) AS v (recommended_value),
     LATERAL (SELECT sync_probe_internal.followed(r.verdict, v.recommended_value, r.current_value,
                                                  of_setting)) AS f (followed)
$$;

--
-- What they say of wal_sync_method: the first one that counts, and beside it the newest one.
-- compared: all methods that it measured.
--
CREATE FUNCTION sync_probe_internal.live_method(
    place sync_probe_internal.storage,
    OUT verdict text,
    OUT recommended_method text,
    OUT max_regret double precision,
    OUT basis text,
    OUT run_id bigint,
    OUT compared text[],
    OUT reason text,
    OUT commands text[],
    OUT newest_run_id bigint,
    OUT newest_verdict text,
    OUT newest_reason text,
    OUT newest_command text)
RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL RESTRICTED
ROWS 1
SET search_path = pg_catalog, pg_temp
AS $$
WITH live AS MATERIALIZED (
    SELECT l.*, (l.run).run_id AS run_id
    FROM sync_probe_internal.live_runs(place, 'wal_sync_method') AS l
)
SELECT CASE WHEN d.followed THEN 'keep' ELSE d.verdict END, d.recommended_value,
       CASE WHEN NOT d.followed THEN (d.run).max_regret END,
       (d.run).suite, d.run_id, m.compared,
       CASE WHEN d.followed THEN format('chosen instead of %s: ', d.current_value) ELSE '' END
           || (d.run).reason,
       CASE WHEN d.verdict = 'switch' AND NOT d.followed
            THEN sync_probe_internal.change_commands(current_setting('wal_sync_method'),
                                                     d.recommended_value) END,
       n.run_id, n.verdict, (n.run).reason,
       CASE WHEN n.verdict = 'undecided' THEN sync_probe_internal.longer_command(n.run) END
FROM (SELECT l.* FROM live AS l ORDER BY l.run_id DESC LIMIT 1) AS n
LEFT JOIN (SELECT l.* FROM live AS l WHERE l.counts ORDER BY l.rank LIMIT 1) AS d ON true
LEFT JOIN LATERAL (
    SELECT array_agg(m.method) AS compared
    FROM sync_probe.measurements AS m
    WHERE m.run_id = d.run_id AND m.test = 'wal_sync_method' AND m.status = 'ok') AS m ON true
$$;

--
-- What they say of commit_delay; nothing once the setting has another value than the one that was
-- current and the one that is recommended.
--
CREATE FUNCTION sync_probe_internal.live_commit_delay(
    place sync_probe_internal.storage,
    OUT commit_delay integer,
    OUT commands text[])
RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL RESTRICTED
ROWS 1
SET search_path = pg_catalog, pg_temp
AS $$
SELECT v.recommended,
       CASE WHEN v.recommended <> v.now
            THEN ARRAY[format('ALTER SYSTEM SET commit_delay = %s', v.recommended),
                       'SELECT pg_reload_conf()'] END
FROM sync_probe_internal.live_runs(place, 'commit_delay') AS l
-- a value of the history may be anything
CROSS JOIN LATERAL (SELECT substring(l.recommended_value FROM '^[0-9]{1,6}$')::integer,
                           substring(l.current_value FROM '^[0-9]{1,6}$')::integer,
                           current_setting('commit_delay')::integer)
    AS v (recommended, before, now)
WHERE l.counts AND v.now IN (v.recommended, v.before)
ORDER BY l.rank
LIMIT 1
$$;
--
-- What is recommended at each location, with the figures behind it; and beside it the location
-- and its runs, which findings() rests on, too.  A location without a run has advice if it holds
-- the WAL, or if no location on its file system has a run.
--
-- A trial or a run of the commit suite decides, unless what a probe recommends was not
-- among the methods that it compared.
--
CREATE VIEW sync_probe_internal.advice AS
SELECT n.*, d.*
FROM (SELECT n.*,
             (n.run).run_id IS NOT NULL OR (n.place).holds_wal
             OR (n.place).shares_filesystem_with IS NULL
                AND NOT bool_or((n.run).run_id IS NOT NULL) OVER
                        (PARTITION BY coalesce((n.place).shares_filesystem_with, n.location))
                 AS is_advised
      FROM sync_probe_internal.newest_runs AS n) AS n
LEFT JOIN LATERAL (
    SELECT a.holds_wal,
           CASE WHEN u.live THEN v.verdict ELSE a.verdict END AS verdict,
           a.current_method,
           CASE WHEN u.live THEN v.recommended_method ELSE a.recommended_method END
               AS recommended_method,
           CASE WHEN u.live THEN v.recommended_method ELSE a.best_method END AS best_method,
           CASE WHEN u.live THEN v.max_regret ELSE a.max_regret END AS max_regret,
           CASE WHEN NOT u.live THEN a.deciding_test END AS deciding_test,
           CASE WHEN NOT u.live THEN a.flush_us END AS flush_us,
           a.durable,
           CASE WHEN u.live THEN v.basis ELSE a.basis END AS basis,
           CASE WHEN u.live THEN v.run_id ELSE a.run_id END AS run_id,
           CASE WHEN u.live THEN v.reason
                WHEN a.run_id IS NOT NULL OR a.verdict = 'unsafe' THEN a.reason
                ELSE coalesce(format('run %s does not count: ', n.passed_over)
                              || n.passed_over_why, 'never probed') END
           || CASE WHEN v.newest_run_id IS DISTINCT FROM CASE WHEN u.live THEN v.run_id END
                   THEN format('. Run %s, on real commits: %s, %s', v.newest_run_id,
                               v.newest_verdict, v.newest_reason) ELSE '' END AS reason,
           -- a command that measures again comes last
           nullif(coalesce(c.commands, '{}')
                  || coalesce(CASE WHEN u.live THEN v.commands
                                   WHEN w.can_be_probed THEN p.commands END, '{}')
                  || CASE WHEN v.newest_command IS NOT NULL AND NOT u.live AND a.verdict <> 'unsafe'
                          THEN ARRAY[v.newest_command] ELSE '{}' END,
                  '{}') AS commands,
           c.commit_delay AS recommended_commit_delay,
           s.changes
    FROM sync_probe_internal.followed((n.run).verdict, (n.run).recommended_value,
             (n.run).wal_sync_method, 'wal_sync_method') AS f (followed)
    CROSS JOIN LATERAL sync_probe_internal.changes_since(n.run, n.place, f.followed) AS s (changes)
    CROSS JOIN LATERAL sync_probe_internal.run_advice(n.location, n.run, s.changes,
                                                      f.followed) AS a
    -- Where nothing can be written, there is nothing but a probe to be told: wal_sync_method acts
    -- on pg_wal alone, and a server whose pg_wal is read-only does not run.
    CROSS JOIN LATERAL (
        SELECT coalesce('ro' <> ALL (string_to_array((n.place).mount_options, ',')), true)
        ) AS w (can_be_probed)
    -- wal_sync_method is one setting of the whole cluster, and acts on pg_wal alone.
    CROSS JOIN LATERAL (
        SELECT CASE WHEN a.holds_wal AND NOT current_setting('fsync')::boolean
                    THEN ARRAY['ALTER SYSTEM SET fsync = on', 'SELECT pg_reload_conf()']
                    WHEN a.verdict = 'outdated' OR a.basis IS NULL
                    -- names have collation C, and the column one of its own
                    THEN ARRAY[sync_probe_internal.probe_command(n.location COLLATE "default")]
                    WHEN a.verdict IN ('switch', 'unsafe') AND a.holds_wal
                         AND a.recommended_method <> a.current_method
                    THEN sync_probe_internal.change_commands(a.current_method,
                                                             a.recommended_method)
                    WHEN a.verdict = 'undecided'
                    THEN array_remove(ARRAY[sync_probe_internal.longer_command(n.run)], NULL)
                    END) AS p (commands)
    -- OFFSET 0: not called for each tablespace, which would take a millisecond
    LEFT JOIN LATERAL (SELECT v.* FROM sync_probe_internal.live_method(n.place) AS v
                       WHERE a.holds_wal AND n.suites && '{trial,commit}' OFFSET 0) AS v ON true
    CROSS JOIN LATERAL (SELECT coalesce(v.run_id IS NOT NULL AND a.verdict <> 'unsafe'
        AND (a.verdict IN ('not probed', 'undecided', 'outdated')
             OR a.recommended_method = ANY (v.compared)), false)) AS u (live)
    LEFT JOIN LATERAL (SELECT c.* FROM sync_probe_internal.live_commit_delay(n.place) AS c
                       WHERE a.holds_wal AND n.suites && '{trial,commit}' OFFSET 0) AS c ON true
    WHERE n.is_advised
    OFFSET 0) AS d ON true; -- not pulled up, which would look for advice at each location

-- findings() reads it with the rights of its caller.
GRANT SELECT ON sync_probe_internal.advice TO pg_monitor;

--
-- recommendation_details
--
CREATE VIEW sync_probe.recommendation_details AS
SELECT a.location, a.verdict, a.current_method, a.recommended_method, a.best_method, a.max_regret,
       a.deciding_test, a.flush_us, a.durable, a.basis, a.run_id, a.reason, a.commands,
       a.recommended_commit_delay
FROM sync_probe_internal.advice AS a
WHERE a.is_advised
ORDER BY a.location <> 'pg_wal', a.location;

GRANT SELECT ON sync_probe.recommendation_details TO pg_monitor;

COMMENT ON VIEW sync_probe.recommendation_details IS
  'Recommended wal_sync_method for each location, with reason and commands. Without a usable '
  'run, pg_wal has a row, others if no location on their file system has one';
COMMENT ON COLUMN sync_probe.recommendation_details.location IS
  'Location that the advice is about; wal_sync_method acts on pg_wal alone';
COMMENT ON COLUMN sync_probe.recommendation_details.verdict IS
  'switch, keep, undecided, unsafe, outdated or not probed';
COMMENT ON COLUMN sync_probe.recommendation_details.current_method IS
  'wal_sync_method of the server';
COMMENT ON COLUMN sync_probe.recommendation_details.recommended_method IS
  'Method to use; null if there is no advice';
COMMENT ON COLUMN sync_probe.recommendation_details.best_method IS
  'Best choice by good odds, whatever the verdict, of the current method''s kind';
COMMENT ON COLUMN sync_probe.recommendation_details.max_regret IS
  'A flush with the current method takes at most this much longer than with the best one, at 95 '
  'percent confidence: 0.03 is 3 percent; null if unknown, or if the advice was followed';
COMMENT ON COLUMN sync_probe.recommendation_details.deciding_test IS
  'paced or saturated; null if a trial or the commit suite decides';
COMMENT ON COLUMN sync_probe.recommendation_details.flush_us IS
  'Mean time of a flush with the recommended method in that test';
COMMENT ON COLUMN sync_probe.recommendation_details.recommended_commit_delay IS
  'commit_delay in microseconds that a trial or the commit suite recommends; null if none has '
  'decided';
COMMENT ON COLUMN sync_probe.recommendation_details.durable IS
  'Whether syncs with the current method reach the device: yes, no, no_cache (the device reports '
  'no volatile cache) or unknown';
COMMENT ON COLUMN sync_probe.recommendation_details.basis IS
  'What the advice rests on: trial, commit or wal; null without a run';
COMMENT ON COLUMN sync_probe.recommendation_details.run_id IS 'Run that the advice uses';
COMMENT ON COLUMN sync_probe.recommendation_details.reason IS
  'Reason of the verdict, and what the newest run on real commits found if the advice does not '
  'rest on it';
COMMENT ON COLUMN sync_probe.recommendation_details.commands IS
  'SQL to execute next, one statement in each element; null if nothing is to be done';

--
-- recommendations
--
-- The main columns of recommendation_details, which fit 120 characters.
--
CREATE VIEW sync_probe.recommendations AS
SELECT d.location, d.verdict, d.current_method, d.recommended_method, d.max_regret, d.flush_us,
       d.durable, d.basis
FROM sync_probe.recommendation_details AS d
ORDER BY d.location <> 'pg_wal', d.location;

GRANT SELECT ON sync_probe.recommendations TO pg_monitor;

COMMENT ON VIEW sync_probe.recommendations IS
  'Recommended wal_sync_method for each location; columns as in recommendation_details';
COMMENT ON COLUMN sync_probe.recommendations.location IS 'As in recommendation_details';
COMMENT ON COLUMN sync_probe.recommendations.verdict IS 'As in recommendation_details';
COMMENT ON COLUMN sync_probe.recommendations.current_method IS 'As in recommendation_details';
COMMENT ON COLUMN sync_probe.recommendations.recommended_method IS 'As in recommendation_details';
COMMENT ON COLUMN sync_probe.recommendations.max_regret IS 'As in recommendation_details';
COMMENT ON COLUMN sync_probe.recommendations.flush_us IS 'As in recommendation_details';
COMMENT ON COLUMN sync_probe.recommendations.durable IS 'As in recommendation_details';
COMMENT ON COLUMN sync_probe.recommendations.basis IS 'As in recommendation_details';

--
-- An error unless the caller has the privileges of pg_monitor, or SELECT on all of the
-- tables, if any are given.  Its hint has the GRANT that helps.
--
CREATE FUNCTION sync_probe_internal.require_monitor(caller text, or_select regclass[] DEFAULT '{}')
RETURNS void
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    unreadable text := (SELECT format('It reads table "sync_probe.%s".', c.relname)
                        FROM unnest(or_select) WITH ORDINALITY AS t (oid, n)
                        JOIN pg_class AS c USING (oid)
                        WHERE NOT has_table_privilege(c.oid, 'SELECT') ORDER BY t.n LIMIT 1);
BEGIN
    IF NOT pg_has_role('pg_monitor', 'USAGE') AND (or_select = '{}' OR unreadable <> '') THEN
        RAISE insufficient_privilege USING
            MESSAGE = format('permission denied to call sync_probe.%s', caller),
            DETAIL = coalesce(unreadable,
                'Only roles with privileges of the "pg_monitor" role may call it.'),
            HINT = format('GRANT pg_monitor TO %I;', current_user);
    END IF;
END
$$;

--
-- A WARNING with a detail and a hint, each left out if it is empty.
--
CREATE FUNCTION sync_probe_internal.warn(message text, detail text, hint text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF detail <> '' AND hint <> '' THEN
        RAISE WARNING USING MESSAGE = message, DETAIL = detail, HINT = hint;
    ELSIF detail <> '' THEN
        RAISE WARNING USING MESSAGE = message, DETAIL = detail;
    ELSIF hint <> '' THEN
        RAISE WARNING USING MESSAGE = message, HINT = hint;
    ELSE
        RAISE WARNING USING MESSAGE = message;
    END IF;
END
$$;

--
-- probe_all
--
-- Probe each file system once with the wal suite, for at most the given duration each, at
-- the first location on it that the caller may probe.
--
-- A location that cannot be probed gives a WARNING, and the others are still probed.
-- Another probe that runs, or a cancel, ends it with an error.
--
CREATE FUNCTION sync_probe.probe_all(
    duration interval DEFAULT NULL,
    duty_cycle double precision DEFAULT NULL,
    label text DEFAULT NULL)
RETURNS SETOF sync_probe.recommendations
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    place name;
    detail text;
    hint text;
BEGIN
    PERFORM sync_probe_internal.require_monitor('probe_all()');
    FOR place IN
        SELECT p.name
        FROM (SELECT DISTINCT ON (f.first) l.name, min(l.n) OVER (PARTITION BY f.first) AS n
              FROM (SELECT *, row_number() OVER () AS n
                    FROM sync_probe_internal.examine_locations(NULL)) AS l,
                   LATERAL (SELECT coalesce(l.shares_filesystem_with, l.name)) AS f (first),
                   LATERAL (SELECT l.holds_wal OR has_tablespace_privilege(l.tablespace, 'CREATE')
                                   OR l.tablespace = d.dattablespace
                            FROM pg_database AS d
                            WHERE d.datname = current_database()) AS a (allowed)
              -- If the caller may probe none, the error of the first location says why.
              ORDER BY f.first, a.allowed DESC, l.n) AS p
        ORDER BY p.n
    LOOP
        BEGIN
            RAISE NOTICE 'probing location "%"', place;
            RETURN QUERY
                SELECT p.location, d.verdict, d.current_method, d.recommended_method, d.max_regret,
                       d.flush_us, d.durable, d.basis
                FROM sync_probe_internal.probe_run(place, 'wal', probe_all.duration,
                         probe_all.duty_cycle, label => probe_all.label) AS p,
                     sync_probe_internal.run_advice(p.location, p, NULL, false) AS d;
        EXCEPTION
            -- An error of the call itself would repeat for every location.
            WHEN lock_not_available OR invalid_parameter_value
                OR object_not_in_prerequisite_state THEN
                RAISE;
            WHEN OTHERS THEN
                GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
                PERFORM sync_probe_internal.warn(
                    format('could not probe location "%s": %s', place, SQLERRM), detail, hint);
        END;
    END LOOP;
END
$$;

REVOKE ALL ON FUNCTION sync_probe.probe_all FROM PUBLIC;

COMMENT ON FUNCTION sync_probe.probe_all IS
  'Probe each file system of the cluster once, and return the recommendation for each. Requires '
  'EXECUTE on probe() and the privileges of pg_monitor';
--
-- The median of an array, and the ends of its exact interval: order statistics that enclose
-- the median with probability 1 - alpha (see src/engine/verdict/interval.h).  Null elements
-- are left out; too few have no interval.
--
CREATE FUNCTION sync_probe_internal.median_interval(
    samples double precision[],
    alpha double precision,
    OUT median double precision,
    OUT low double precision,
    OUT high double precision)
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'sync_probe_median_interval';

--
-- A duration in words, whatever IntervalStyle is.
--
CREATE FUNCTION sync_probe_internal.milliseconds(duration interval)
RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT trim_scale(extract(epoch FROM duration) * 1000) || ' ms'
$$;

--
-- An error unless all of these runs exist; and, if there is a limit, unless they are one or
-- more, at most so many, and each named once.
--
CREATE FUNCTION sync_probe_internal.require_runs(run_ids bigint[], most integer DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    wrong text;
BEGIN
    wrong := CASE WHEN most IS NULL THEN NULL
                  WHEN run_ids IS NULL THEN 'argument "run_ids" must not be null'
                  WHEN cardinality(run_ids) = 0 THEN 'argument "run_ids" must name a run'
                  WHEN cardinality(run_ids) > most
                  THEN format('argument "run_ids" names %s runs, at most %s are allowed',
                              cardinality(run_ids), most) END;
    IF wrong IS NULL THEN
        SELECT CASE WHEN i.run_id IS NULL THEN 'argument "run_ids" must not contain null'
                    WHEN r.run_id IS NULL THEN format('run %s does not exist', i.run_id)
                    ELSE format('argument "run_ids" names run %s twice', i.run_id) END
        INTO wrong
        FROM (SELECT u.run_id, u.n, row_number() OVER (PARTITION BY u.run_id ORDER BY u.n) AS nth
              FROM unnest(run_ids) WITH ORDINALITY AS u (run_id, n)) AS i
        LEFT JOIN sync_probe.runs AS r ON r.run_id = i.run_id
        WHERE r.run_id IS NULL OR (i.nth > 1 AND most IS NOT NULL)
        ORDER BY i.n LIMIT 1;
    END IF;
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION USING
            ERRCODE = 'invalid_parameter_value', MESSAGE = wrong,
            HINT = 'See SELECT run_id, label, location, suite, finished_at FROM sync_probe.runs.';
    END IF;
END
$$;

--
-- The runs in the order of the array, each with a short name of its own: its label, else
-- "run 7".  If two names are equal, the number of each run is part of its name.
--
CREATE FUNCTION sync_probe_internal.compared_runs(
    run_ids bigint[],
    OUT place bigint,
    OUT name text,
    OUT run sync_probe.runs)
RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT n.place,
       CASE WHEN max(n.alike) OVER () = 1 THEN n.name
            WHEN n.label IS NULL THEN format('run %s', (n.run).run_id)
            ELSE format('run %s: %s', (n.run).run_id, n.label) END,
       n.run
FROM (SELECT l.*, count(*) OVER (PARTITION BY l.name) AS alike
      FROM (SELECT i.place, r AS run, nullif(left(r.label, 40), '') AS label,
                   coalesce(nullif(left(r.label, 40), ''), format('run %s', r.run_id)) AS name
            FROM unnest(run_ids) WITH ORDINALITY AS i (run_id, place)
            JOIN sync_probe.runs AS r ON r.run_id = i.run_id) AS l) AS n
$$;

--
-- The test cases of these runs, with names that are unique within a test of a run: the method, and
-- where that is not unique, what tells them apart.
--
-- value_us is the median of the samples, as in a verdict, where all of the runs have samples
-- of the case.  It is the mean of all operations where one has none, since a mean and a
-- median do not compare: pg_test_fsync prints a mean, and a trial records one.
--
-- The interval of each median misses with 2.5 % at most, so that both of a ratio miss with
-- 5 % at most (Bonferroni's inequality).
--
CREATE FUNCTION sync_probe_internal.compared_cases(
    run_ids bigint[],
    OUT place bigint,
    OUT name text,
    OUT run sync_probe.runs,
    OUT test_case text,
    OUT measured sync_probe.measurements,
    OUT statistic text,
    OUT value_us double precision,
    OUT low double precision,
    OUT high double precision)
RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
WITH measured AS (
    SELECT c.place, c.name, c.run, m AS measured, i.median, i.low, i.high
    FROM sync_probe_internal.compared_runs(run_ids) AS c
    JOIN sync_probe.measurements AS m ON m.run_id = (c.run).run_id
    LEFT JOIN sync_probe_internal.samples AS s ON s.run_id = m.run_id AND s.ordinal = m.ordinal
    LEFT JOIN LATERAL sync_probe_internal.median_interval(s.round_mean_us, 0.025) AS i ON true
), told AS (
    SELECT m.*, (m.measured).test,
           (m.measured).method
           || CASE WHEN (m.measured).direct_io AND NOT bool_and((m.measured).direct_io) OVER w
                   THEN ' direct' ELSE '' END
           || CASE WHEN min((m.measured).write_size) OVER w < max((m.measured).write_size) OVER w
                   THEN CASE (m.measured).write_size % 1024
                            WHEN 0 THEN format(' %s kB', (m.measured).write_size / 1024)
                            ELSE format(' %s B', (m.measured).write_size) END ELSE '' END AS told
    FROM measured AS m
    WINDOW w AS (PARTITION BY m.place, (m.measured).test, (m.measured).method)
), named AS (
    SELECT t.*,
           t.told || coalesce(' #' || nullif(row_number() OVER (
               PARTITION BY t.place, t.test, t.told ORDER BY (t.measured).ordinal), 1), '')
               AS test_case
    FROM told AS t
), valued AS (
    SELECT n.*, bool_and(n.median IS NOT NULL) FILTER (WHERE (n.measured).mean_us IS NOT NULL)
                    OVER (PARTITION BY n.test, n.test_case) AS by_median
    FROM named AS n
)
SELECT v.place, v.name, v.run, v.test_case, v.measured,
       CASE WHEN v.by_median THEN 'median' WHEN NOT v.by_median THEN 'mean' END,
       CASE WHEN v.by_median THEN v.median ELSE (v.measured).mean_us END,
       CASE WHEN v.by_median THEN v.low END,
       CASE WHEN v.by_median THEN v.high END
FROM valued AS v
$$;

--
-- Whether the syncs of a test case reach the device, as the run stored it: of its method in the
-- wal suite, else of the run's current method.
--
CREATE FUNCTION sync_probe_internal.case_durable(
    run sync_probe.runs,
    measured sync_probe.measurements)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT coalesce(measured.durable,
                CASE WHEN measured.method = run.wal_sync_method THEN run.durable END)
$$;

--
-- What makes a test case of a run another measurement than that of the first run, in words;
-- null if nothing known does.  What is unknown of both is no difference.  Neither is another device
-- or file system of one machine: that is what a comparison of locations is about.
--
CREATE FUNCTION sync_probe_internal.differences(
    first_run sync_probe.runs,
    first_case sync_probe.measurements,
    run sync_probe.runs,
    measured sync_probe.measurements)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT nullif(concat_ws('; ',
    CASE WHEN run.suite <> first_run.suite
         THEN format('suite %s, not %s', run.suite, first_run.suite) END,
    CASE WHEN run.host IS DISTINCT FROM first_run.host
         THEN coalesce(format('host %s, not ', coalesce(run.host, 'unknown')) || first_run.host,
                       'host of the first run unknown')
         WHEN run.system_identifier IS DISTINCT FROM first_run.system_identifier
         THEN 'another cluster' END,
    -- of a flush, the pages that it writes
    CASE WHEN run.suite = 'pg_test_fsync'
              AND measured.write_size IS DISTINCT FROM first_case.write_size
         THEN format('writes of %s bytes, not %s', measured.write_size, first_case.write_size)
         WHEN run.suite <> 'pg_test_fsync'
              AND (run.flush_size::bigint - 1) / 8192 <> (first_run.flush_size::bigint - 1) / 8192
         THEN format('flushes of %s bytes, not %s', run.flush_size, first_run.flush_size) END,
    CASE WHEN measured.direct_io <> first_case.direct_io
         THEN CASE WHEN measured.direct_io THEN 'with O_DIRECT' ELSE 'without O_DIRECT' END END,
    -- other tests flush back to back
    CASE WHEN (measured.test = 'paced' OR run.suite = 'commit')
              AND (num_nulls(run.flush_interval, first_run.flush_interval) = 1
                   OR run.flush_interval > first_run.flush_interval * 2
                   OR run.flush_interval * 2 < first_run.flush_interval)
         THEN format('flush interval %s, not %s',
                     coalesce(sync_probe_internal.milliseconds(run.flush_interval), 'none'),
                     coalesce(sync_probe_internal.milliseconds(first_run.flush_interval),
                              'none')) END,
    CASE WHEN run.workers <> first_run.workers
         THEN format('workers: %s, not %s', run.workers, first_run.workers) END,
    CASE WHEN run.workload IS DISTINCT FROM first_run.workload
         THEN format('load of %s, not %s', coalesce(run.workload, 'its own sessions'),
                     coalesce(first_run.workload, 'its own sessions')) END,
    -- another setting was compared while syncs were done with one method
    CASE WHEN run.suite IN ('commit', 'trial') AND measured.test <> 'wal_sync_method'
              AND run.wal_sync_method <> first_run.wal_sync_method
         THEN format('%s, not %s', run.wal_sync_method, first_run.wal_sync_method) END), '')
$$;

--
-- compare
--
-- Test cases of several runs side by side, in long form for psql's \crosstabview.
--
CREATE FUNCTION sync_probe.compare(run_ids bigint[])
RETURNS TABLE (
    run text,
    test text,
    test_case text,
    value_us double precision,
    ratio double precision,
    ratio_low double precision,
    ratio_high double precision,
    bar text,
    not_comparable text,
    statistic text,
    run_id bigint,
    ordinal integer)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
SET jit = off -- many columns look costly enough to compile, which takes longer than the query
AS $$
BEGIN
    PERFORM sync_probe_internal.require_monitor('compare()',
        '{sync_probe.runs,sync_probe.measurements,sync_probe_internal.samples}');
    PERFORM sync_probe_internal.require_runs(run_ids, 100);
    RETURN QUERY
        WITH cases AS MATERIALIZED (
            SELECT c.*, (c.measured).test,
                   coalesce((c.measured).test <> 'unsynced_write'
                            AND sync_probe_internal.case_durable(c.run, c.measured) = 'no', false)
                       AS unsafe
            FROM sync_probe_internal.compared_cases(run_ids) AS c
        ), first_run AS (
            SELECT c.name, (c.run).suite FROM sync_probe_internal.compared_runs(run_ids) AS c
            WHERE c.place = 1
        )
        SELECT c.name, c.test, c.test_case,
               round(c.value_us::numeric, CASE WHEN c.value_us < 10 THEN 3 ELSE 1 END)::float8,
               round((c.value_us / nullif(f.value_us, 0))::numeric, 3)::float8,
               CASE WHEN c.place > 1
                    THEN round((c.low / nullif(f.high, 0))::numeric, 3)::float8 END,
               CASE WHEN c.place > 1
                    THEN round((c.high / nullif(f.low, 0))::numeric, 3)::float8 END,
               sync_probe.bar(c.value_us / nullif(max(c.value_us) OVER of_test, 0), 20),
               nullif(concat_ws('; ',
                   CASE WHEN c.place > f.place AND num_nulls(c.value_us, f.value_us) = 0
                        THEN sync_probe_internal.differences(f.run, f.measured, c.run, c.measured)
                        WHEN c.place > 1 AND c.value_us IS NOT NULL AND (c.run).suite <> o.suite
                        THEN format('suite %s, not %s', (c.run).suite, o.suite)
                        WHEN c.place > 1 AND c.value_us IS NOT NULL
                        THEN format('not measured by %s', o.name) END,
                   CASE WHEN c.unsafe THEN 'its syncs do not reach the device' END,
                   CASE WHEN f.unsafe AND c.place > 1
                        THEN format('syncs of %s do not reach the device', f.name) END), ''),
               c.statistic, (c.run).run_id, (c.measured).ordinal
        FROM cases AS c
        CROSS JOIN first_run AS o
        LEFT JOIN cases AS f ON f.place = 1 AND f.test = c.test AND f.test_case = c.test_case
        WINDOW of_test AS (PARTITION BY c.test)
        ORDER BY min((c.measured).ordinal) OVER of_test, c.test,
                 min((c.measured).ordinal) OVER (PARTITION BY c.test, c.test_case), c.test_case,
                 c.place;
END
$$;

COMMENT ON FUNCTION sync_probe.compare IS
  'Test cases of up to 100 runs side by side. value_us is the median of the samples, else the '
  'mean (statistic); ratio is relative to the first run (2: twice as long), with its 95 percent '
  'confidence interval; not_comparable names what else differs. Requires SELECT on the tables';
--
-- The version of a server as its manual writes it: 15.4.
--
CREATE FUNCTION sync_probe_internal.version_words(server_version_num integer)
RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT format('%s.%s', server_version_num / 10000, server_version_num % 10000)
$$;

--
-- What is different since the run before, one element each: what it is, and how it was and is.
-- What is unknown of one of them is no change, but a device or a host that is no longer known
-- is.  Flushes differ by the pages that they write; paces by more than a factor of two.
-- Words are made only of what differs: these calls were most of the time of history().
--
CREATE FUNCTION sync_probe_internal.changes_between(before sync_probe.runs, run sync_probe.runs)
RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT array_agg(format('%s: %s -> %s', c.what, coalesce(c.old, 'unknown'),
                        coalesce(c.new, 'unknown')) ORDER BY c.n)
FROM (VALUES
    (1, 'host', before.host, run.host, true),
    (2, 'directory', before.directory, run.directory, true),
    (3, 'device', before.device, run.device, true),
    (4, 'file system', before.filesystem, run.filesystem, true),
    (5, 'mount options',
        CASE WHEN before.storage -> 'mount_options' <> run.storage -> 'mount_options'
             THEN sync_probe_internal.options_left(before.storage ->> 'mount_options',
                                                   run.storage ->> 'mount_options') END,
        CASE WHEN before.storage -> 'mount_options' <> run.storage -> 'mount_options'
             THEN sync_probe_internal.options_left(run.storage ->> 'mount_options',
                                                   before.storage ->> 'mount_options') END, false),
    (6, 'write cache', before.storage ->> 'write_cache', run.storage ->> 'write_cache', true),
    (7, 'kernel', before.storage ->> 'kernel', run.storage ->> 'kernel', false),
    (8, 'server version',
        CASE WHEN before.server_version_num <> run.server_version_num
             THEN sync_probe_internal.version_words(before.server_version_num) END,
        CASE WHEN before.server_version_num <> run.server_version_num
             THEN sync_probe_internal.version_words(run.server_version_num) END, false),
    (9, 'wal_sync_method', before.wal_sync_method, run.wal_sync_method, false),
    (10, 'flush size',
        CASE WHEN (before.flush_size::bigint - 1) / 8192 <> (run.flush_size::bigint - 1) / 8192
             THEN before.flush_size || ' bytes' END, run.flush_size || ' bytes', false),
    (11, 'flush interval',
        CASE WHEN before.flush_interval > run.flush_interval * 2
                  OR before.flush_interval * 2 < run.flush_interval
             THEN sync_probe_internal.milliseconds(before.flush_interval) END,
        CASE WHEN before.flush_interval <> run.flush_interval
             THEN sync_probe_internal.milliseconds(run.flush_interval) END, false)
) AS c (n, what, old, new, or_unknown)
WHERE CASE WHEN c.or_unknown THEN c.old IS DISTINCT FROM c.new ELSE c.old <> c.new END
$$;

--
-- Time of a method when paced: as compare() takes it, the median of the samples with the
-- interval that is due to one of two runs.
--
CREATE FUNCTION sync_probe_internal.paced_time(
    of_run bigint,
    of_method text,
    OUT mean_us double precision,
    OUT median double precision,
    OUT low double precision,
    OUT high double precision)
RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL SAFE
ROWS 1
SET search_path = pg_catalog, pg_temp
AS $$
SELECT m.mean_us, i.median, i.low, i.high
FROM sync_probe.measurements AS m
LEFT JOIN sync_probe_internal.samples AS s ON s.run_id = m.run_id AND s.ordinal = m.ordinal
LEFT JOIN LATERAL sync_probe_internal.median_interval(s.round_mean_us, 0.025) AS i ON true
WHERE m.run_id = of_run AND m.test = 'paced' AND m.method = of_method
LIMIT 1
$$;

--
-- history
--
-- The runs of a location in the order in which they were made, and what changed between them.
--
-- A location without a run must exist.  The error is that of probe().
--
CREATE FUNCTION sync_probe.history(location name DEFAULT 'pg_wal')
RETURNS TABLE (
    finished_at timestamptz,
    run_id bigint,
    method text,
    p50_us double precision,
    p99_us double precision,
    bar text,
    ratio double precision,
    ratio_low double precision,
    ratio_high double precision,
    changes text,
    sentence text,
    label text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
SET jit = off -- many columns look costly enough to compile, which takes longer than the query
AS $$
DECLARE
    least_change double precision;
BEGIN
    PERFORM sync_probe_internal.require_monitor('history()');
    IF location IS NULL THEN
        RAISE EXCEPTION 'argument "location" must not be null'
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'See SELECT name FROM sync_probe.locations.';
    END IF;
    -- this call loads the library, which knows the setting
    PERFORM sync_probe_internal.this_server();
    least_change := current_setting('pg_sync_probe.margin');
    RETURN QUERY
        WITH own AS (
            -- before: the last run that measured something
            SELECT r AS run, m AS measured,
                   max(r.run_id) FILTER (WHERE m.ops > 0)
                       OVER (ORDER BY r.run_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
                       AS before
            FROM sync_probe_internal.this_server() AS s
            JOIN sync_probe.runs AS r USING (system_identifier)
            LEFT JOIN sync_probe.measurements AS m
                ON m.run_id = r.run_id AND m.test = 'paced' AND m.method = r.wal_sync_method
            WHERE r.suite = 'wal' AND r.location = history.location AND r.imported_at IS NULL
        )
        SELECT date_trunc('second', (o.run).finished_at), (o.run).run_id,
               (o.run).wal_sync_method, (o.measured).p50_us, (o.measured).p99_us,
               sync_probe.bar((o.measured).p50_us
                              / nullif(max((o.measured).p50_us) OVER (), 0), 20),
               r.ratio::float8, r.low::float8, r.high::float8,
               array_to_string(c.changes, '; '),
               nullif(concat_ws('; ',
                   CASE WHEN r.low > 1 + least_change OR r.high < 1 / (1 + least_change)
                        THEN (
                       -- The same method took longer or less time.  A change of wal_sync_method
                       -- is none that it could feel.  Size and interval of flushes are observed
                       -- and follow the load: they cause nothing.
                       SELECT format('since %s changed (%s%s), %s takes %s times as long%s',
                                     string_agg('the ' || split_part(x.change, ': ', 1), ' and '
                                                ORDER BY x.n),
                                     CASE WHEN d.first = d.last THEN 'on '
                                          ELSE format('between %s and ', d.first) END,
                                     d.last, (o.run).wal_sync_method, round(r.ratio, 2),
                                     ' (' || round(r.low, 2) || ' to ' || round(r.high, 2) || ')')
                       FROM unnest(c.changes) WITH ORDINALITY AS x (change, n),
                            LATERAL (SELECT to_char(b.finished_at, 'YYYY-MM-DD'),
                                            to_char((o.run).finished_at, 'YYYY-MM-DD')
                                    ) AS d (first, last)
                       WHERE split_part(x.change, ': ', 1)
                             NOT IN ('wal_sync_method', 'flush size', 'flush interval')
                       GROUP BY d.first, d.last) END,
                   -- what a change of wal_sync_method did, by the run after it, which measured both
                   (SELECT format('%s takes %s times as long as %s did (%sby run %s)',
                                  (o.run).wal_sync_method, round(m.relative_speed::numeric, 2),
                                  m.method,
                                  round(m.relative_speed_low::numeric, 2) || ' to '
                                      || round(m.relative_speed_high::numeric, 2) || ', ',
                                  m.run_id)
                    FROM sync_probe.measurements AS m
                    WHERE m.run_id = (o.run).run_id AND m.test = 'paced'
                      AND m.method = b.wal_sync_method AND m.method <> (o.run).wal_sync_method
                      AND (m.relative_speed_low > 1 + least_change
                           OR m.relative_speed_high < 1 / (1 + least_change))
                    LIMIT 1),
                   CASE WHEN sync_probe_internal.case_durable(o.run, o.measured) = 'no'
                        THEN format('syncs with %s do not reach the device',
                                    (o.run).wal_sync_method) END), ''),
               (o.run).label
        FROM own AS o
        LEFT JOIN sync_probe.runs AS b ON b.run_id = o.before
        LEFT JOIN LATERAL sync_probe_internal.paced_time(o.before, (o.run).wal_sync_method)
            AS t ON true
        LEFT JOIN LATERAL sync_probe_internal.paced_time((o.run).run_id, (o.run).wal_sync_method)
            AS n ON true
        LEFT JOIN LATERAL (
            SELECT round((CASE WHEN num_nulls(t.median, n.median) = 0
                               THEN n.median / nullif(t.median, 0)
                               ELSE n.mean_us / nullif(t.mean_us, 0) END)::numeric, 3),
                   round((n.low / nullif(t.high, 0))::numeric, 3),
                   round((n.high / nullif(t.low, 0))::numeric, 3)) AS r (ratio, low, high) ON true
        LEFT JOIN LATERAL (
            SELECT sync_probe_internal.changes_between(b, o.run)
            WHERE b.run_id IS NOT NULL) AS c (changes) ON true
        ORDER BY (o.run).run_id;
    IF NOT FOUND THEN
        PERFORM sync_probe_internal.examine_locations(history.location);
    END IF;
END
$$;

COMMENT ON FUNCTION sync_probe.history IS
  'Runs of the wal suite of this cluster at a location, the newest last: time of a paced flush, '
  'ratio to the same method in the run before (2: twice as long), what has changed since then '
  '(changes), and a difference beyond the margin in words (sentence). Requires the privileges of '
  'pg_monitor';
--
-- The verdict on the kinds which a test of the suite segments has compared, as the run stored
-- it.  All columns are null without a current kind.
--
CREATE FUNCTION sync_probe_internal.judge_kinds(
    measured sync_probe.measurements[],
    of_test text,
    OUT verdict text,
    OUT current_kind text,
    OUT recommended_kind text)
RETURNS record
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT c.verdict, c.method,
       CASE WHEN c.verdict = 'switch' THEN coalesce(r.method, c.method) ELSE c.method END
FROM unnest(measured) AS c
LEFT JOIN unnest(measured) AS r ON r.test = of_test AND r.choice = 'recommended'
WHERE c.test = of_test AND c.choice = 'current' AND c.verdict IS NOT NULL
ORDER BY c.ordinal, r.ordinal
LIMIT 1
$$;

--
-- The interval of a measurement's time against that of the current kind: "0.77 to 0.83".
--
CREATE FUNCTION sync_probe_internal.times_as_long(measured sync_probe.measurements)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT CASE WHEN measured.relative_speed_low > 0 AND measured.relative_speed_high > 0
            THEN format('%s to %s', round((1 / measured.relative_speed_high)::numeric, 2),
                        round((1 / measured.relative_speed_low)::numeric, 2))
            ELSE 'an unknown number of' END
$$;

--
-- What a run of the suite segments says of wal_recycle and wal_init_zero: a row for each.
-- All kinds together decide wal_recycle.  The kinds that are created decide wal_init_zero,
-- unless one of them is worth a switch among all kinds: then it is that one.
--
-- at_run and recommended: on or off.  speed: of the other value against that at the run.  doubt:
-- why it is undecided.  The speeds compare segments of the same round, the medians that
-- explain_segments() names are of the whole run: where the disk changes meanwhile, they differ.
--
CREATE FUNCTION sync_probe_internal.segment_settings(measured sync_probe.measurements[])
RETURNS TABLE (
    setting name,
    verdict text,
    at_run text,
    recommended text,
    speed double precision,
    speed_low double precision,
    speed_high double precision,
    doubt text)
LANGUAGE sql STABLE PARALLEL SAFE
ROWS 2
SET search_path = pg_catalog, pg_temp
AS $$
WITH kind AS (
    SELECT w.verdict, w.current_kind, w.recommended_kind, n.verdict AS new_verdict,
           n.current_kind AS new_current, c.created, c.by_all
    FROM sync_probe_internal.judge_kinds(measured, 'segment') AS w,
         sync_probe_internal.judge_kinds(measured, 'new_segment') AS n,
         LATERAL (SELECT w.verdict = 'switch' AND w.recommended_kind <> 'recycle') AS a (by_all),
         LATERAL (SELECT CASE WHEN a.by_all THEN w.recommended_kind ELSE n.recommended_kind END,
                         a.by_all) AS c (created, by_all)
    WHERE w.current_kind IS NOT NULL AND n.current_kind IS NOT NULL
), said AS (
    SELECT 'wal_recycle' AS setting,
           CASE WHEN k.verdict <> 'switch' THEN k.verdict
                WHEN (k.current_kind = 'recycle') = (k.recommended_kind = 'recycle') THEN 'keep'
                ELSE 'switch' END AS verdict,
           k.current_kind = 'recycle' AS at_run, k.recommended_kind = 'recycle' AS recommended,
           'segment' AS test,
           CASE k.current_kind WHEN 'recycle' THEN k.created ELSE 'recycle' END AS other
    FROM kind AS k
    UNION ALL
    SELECT 'wal_init_zero',
           CASE WHEN NOT k.by_all THEN k.new_verdict
                WHEN k.created = k.new_current THEN 'keep'
                ELSE 'switch' END,
           k.new_current = 'zero_fill', k.created = 'zero_fill', 'new_segment',
           CASE k.new_current WHEN 'zero_fill' THEN 'sparse' ELSE 'zero_fill' END
    FROM kind AS k
)
SELECT s.setting, s.verdict, CASE WHEN s.at_run THEN 'on' ELSE 'off' END,
       CASE WHEN s.recommended THEN 'on' ELSE 'off' END,
       m.relative_speed, m.relative_speed_low, m.relative_speed_high,
       CASE WHEN s.verdict = 'undecided' THEN
            format('not settled: compared within rounds, a segment with the other value takes %s'
                   ' times as long, and a second one with the present value %s; medians of the'
                   ' whole run also show how the disk changed meanwhile',
                   sync_probe_internal.times_as_long(m), sync_probe_internal.times_as_long(c)) END
FROM said AS s
LEFT JOIN unnest(measured) AS m ON m.test = s.test AND m.method = s.other
LEFT JOIN unnest(measured) AS c ON c.test = s.test AND c.choice = 'current'
$$;

--
-- The figures of a run in words: "a segment with all its flushes takes 304 ms recycled, ...".
--
CREATE FUNCTION sync_probe_internal.explain_segments(measured sync_probe.measurements[])
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT format('a segment with all its flushes takes %s (medians)',
              string_agg(format('%s ms %s', t.ms, t.kind), ', ' ORDER BY m.ordinal)
                  FILTER (WHERE m.test = 'segment'))
       || coalesce('; commits wait for its creation: '
              || string_agg(format('%s ms %s (at most %s)', t.ms, t.kind, t.max_ms), ', '
                            ORDER BY m.ordinal)
                     FILTER (WHERE m.test = 'create' AND m.method <> 'recycle'), '')
FROM unnest(measured) AS m,
     LATERAL (SELECT CASE m.method WHEN 'recycle' THEN 'recycled' WHEN 'sparse' THEN 'sparse'
                                   ELSE 'zero-filled' END,
                     (m.p50_us / 1e3)::numeric, (m.max_us / 1e3)::numeric) AS n (kind, ms, max_ms),
     LATERAL (SELECT n.kind,
                     round(n.ms, CASE WHEN n.ms < 1 THEN 2 WHEN n.ms < 10 THEN 1 ELSE 0 END) AS ms,
                     round(n.max_ms, CASE WHEN n.max_ms < 1 THEN 2 WHEN n.max_ms < 10 THEN 1
                                          ELSE 0 END) AS max_ms) AS t
WHERE m.test IN ('segment', 'create') AND m.p50_us IS NOT NULL
$$;

--
-- What was measured on wal_recycle and wal_init_zero at these locations: two rows of the newest
-- run that counts at each.  It was measured by this server, at the directory and on the device
-- that the location has now, with flushes as large as the cluster's, and in at least
-- SP_MIN_SAMPLES rounds; nothing has changed since; and each setting has the value that it had
-- then, or the one that was recommended.
--
CREATE FUNCTION sync_probe_internal.segment_advice(places sync_probe_internal.storage[])
RETURNS TABLE (
    location name,
    setting name,
    verdict text,
    current_value text,
    recommended_value text,
    ratio double precision,
    ratio_low double precision,
    ratio_high double precision,
    run_id bigint,
    reason text,
    commands text[])
LANGUAGE sql STABLE PARALLEL RESTRICTED
ROWS 10
SET search_path = pg_catalog, pg_temp
AS $$
WITH judged AS (
    SELECT l.name AS location, l.holds_wal, r.run_id, s.*,
           c.current_value, sync_probe_internal.explain_segments(f.measured) AS figures,
           s.verdict = 'switch' AND c.current_value = s.recommended AS followed,
           bool_and(c.current_value IN (s.at_run, s.recommended)) OVER (PARTITION BY l.name)
               AS counts
    FROM unnest(places) AS l
    CROSS JOIN LATERAL (
        SELECT r.run, (r.run).run_id
        FROM sync_probe_internal.own_runs AS r
        WHERE (r.run).suite = 'segments' AND (r.run).location = l.name
          AND ARRAY[(r.run).directory, (r.run).device] = ARRAY[l.directory, l.device]
          AND (r.run).usable_for_advice
        ORDER BY (r.run).run_id + 0 DESC
        LIMIT 1) AS r
    CROSS JOIN LATERAL (SELECT ARRAY(SELECT m FROM sync_probe.measurements AS m
                                     WHERE m.run_id = r.run_id)) AS f (measured)
    CROSS JOIN LATERAL sync_probe_internal.segment_settings(f.measured) AS s
    CROSS JOIN LATERAL (SELECT current_setting(s.setting)) AS c (current_value)
    WHERE sync_probe_internal.changes_since(r.run, l, false) IS NULL
)
SELECT j.location, j.setting,
       CASE WHEN j.followed THEN 'keep' ELSE j.verdict END, j.current_value, j.recommended,
       round((CASE WHEN j.followed THEN j.speed ELSE 1 / nullif(j.speed, 0) END)::numeric, 2),
       round((CASE WHEN j.followed THEN j.speed_low
                   ELSE 1 / nullif(j.speed_high, 0) END)::numeric, 2),
       round((CASE WHEN j.followed THEN j.speed_high
                   ELSE 1 / nullif(j.speed_low, 0) END)::numeric, 2),
       j.run_id,
       concat(CASE WHEN NOT j.holds_wal THEN 'if the WAL were here: ' END,
              CASE WHEN j.followed THEN format('chosen instead of %s: ', j.at_run) END,
              j.doubt || '; ', j.figures),
       CASE WHEN j.verdict = 'undecided'
            THEN ARRAY[format('SELECT * FROM sync_probe.probe(%L, ''segments'', ''1 min'')',
                              j.location)]
            WHEN j.verdict = 'switch' AND NOT j.followed AND j.holds_wal
            THEN ARRAY[format('ALTER SYSTEM SET %s = %s', j.setting, j.recommended),
                       'SELECT pg_reload_conf()'] END
FROM judged AS j
WHERE j.counts
ORDER BY j.holds_wal DESC, j.location, j.setting DESC
$$;
--
-- A row of sync_probe.findings.  The functions of the files findings_*.sql return such
-- rows, one paragraph for each code.  Each paragraph gives the columns in the order of the
-- type, one to a line: location with severity and code, message, hint, commands, evidence;
-- then where the finding holds.
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
-- question, the finding says so.
--
-- What is true of a file system is told at the first location on it.
--
-- facts: the locations that there may be something to say of, in one call: one for each of 1,000
-- tablespaces would take longer than the findings themselves.  runs: those that advice rests on.  The other arguments are settings of the server,
-- sizes in bytes; wal_size is what pg_wal holds, busiest is busiest_tablespace().  wal_recycle and
-- wal_init_zero are false, too, where a run has settled them.
--
CREATE FUNCTION sync_probe_internal.storage_findings(
    facts sync_probe_internal.storage[],
    runs sync_probe.runs[],
    setting_fsync boolean,
    wal_recycle boolean,
    wal_init_zero boolean,
    max_wal_size bigint,
    wal_size bigint,
    reserve_percent integer,
    busiest name)
RETURNS SETOF sync_probe_internal.finding
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
WITH place AS (
    SELECT f.*, string_to_array(f.mount_options, ',') AS options,
           f.filesystem IN ('tmpfs', 'ramfs') AS is_memory,
           f.filesystem ~ ('^(nfs|nfs4|cifs|smb3|smbfs|9p|ceph|afs|lustre|glusterfs|beegfs'
                           '|fuse[.](sshfs|glusterfs|ceph-fuse|s3fs|rclone|davfs2?))$')
               AS is_network
    FROM unnest(facts) AS f
), filesystem AS (
    SELECT p.* FROM place AS p WHERE p.shares_filesystem_with IS NULL
)
-- ext4(5): barrier=0; f2fs: fsync_mode=nobarrier; overlayfs: volatile omits all syncs.
SELECT p.name,
       CASE p.write_cache WHEN 'write through' THEN 'warning' ELSE 'error' END, 'barrier_off',
       format('%s is mounted with %s: syncs there send no flush to the device',
              p.mount_point, o.option),
       CASE p.filesystem
           WHEN 'overlay' THEN 'Put the data directory on a volume, or start the container'
                               ' without this option.'
           ELSE format('Run mount -o remount,%s %s, and remove the option from /etc/fstab.',
                       CASE p.filesystem WHEN 'f2fs' THEN 'fsync_mode=posix' ELSE 'barrier' END,
                       p.mount_point) END,
       NULL::text[],
       jsonb_build_object('mount_options', p.mount_options, 'write_cache', p.write_cache)
FROM filesystem AS p, unnest(p.options) AS o (option)
WHERE p.options && '{nobarrier,barrier=0,barrier=none,fsync_mode=nobarrier,volatile,fsync=volatile}'
  AND (o.option IN ('nobarrier', 'barrier=0', 'barrier=none', 'fsync_mode=nobarrier')
       OR p.filesystem = 'overlay' AND o.option IN ('volatile', 'fsync=volatile'))

UNION ALL
-- A disk with FUA can make a single write durable without a flush.  Where nothing can be
-- written, there is nothing to probe.
SELECT p.name, 'info', 'write_cache_volatile',
       format('%s has a volatile write cache: a commit is safe only if flushes reach it, or if a'
              ' capacitor or battery protects it', coalesce(p.device, p.name::text)),
       CASE r.durable
           WHEN 'yes' THEN format('In run %s, syncs with %s reached it.', r.run_id, r.method)
           WHEN 'no' THEN format('In run %s, syncs with %s did not reach it.', r.run_id, r.method)
           WHEN 'no_cache' THEN format('In run %s, it had no volatile cache.', r.run_id)
           WHEN 'unknown' THEN format('Run %s could not tell whether syncs with %s reach it.',
                                      r.run_id, r.method)
           ELSE 'Probe it. Column durable of sync_probe.recommendations then shows whether they'
                ' do.' END,
       CASE WHEN r.run_id IS NULL THEN ARRAY[sync_probe_internal.probe_command(p.name)] END,
       jsonb_build_object('device', p.device, 'disks', p.disks,
                          'write_cache', p.write_cache, 'fua', p.fua)
           || CASE WHEN r.run_id IS NULL THEN '{}'
                   ELSE jsonb_build_object('run_id', r.run_id, 'durable', r.durable) END
FROM filesystem AS p
-- the run there, else at another location on it
LEFT JOIN LATERAL (
    SELECT r.run_id, r.durable, r.wal_sync_method AS method
    FROM unnest(runs) AS r
    JOIN place AS o ON o.name = r.location
    WHERE coalesce(o.shares_filesystem_with, o.name) = p.name
    ORDER BY o.name <> p.name, r.run_id DESC
    LIMIT 1) AS r ON true
WHERE p.write_cache = 'write back' AND NOT p.fua AND NOT p.missing
  AND NOT coalesce('ro' = ANY (p.options), false)

UNION ALL
SELECT p.name, 'error', 'memory_filesystem',
       format('%s is %s: its files are lost when the machine restarts',
              p.mount_point, p.filesystem),
       CASE WHEN p.holds_wal THEN 'Stop the server and move pg_wal to a disk.'
            WHEN p.name = 'pg_default' THEN 'Stop the server and move the data directory to a disk.'
            ELSE 'Move its tables to another tablespace, then drop it. Without the tablespace'
                 ' the cluster does not recover from a crash.' END,
       NULL,
       jsonb_build_object('filesystem', p.filesystem, 'mount_point', p.mount_point)
FROM filesystem AS p
WHERE p.is_memory

UNION ALL
SELECT p.name, 'error', 'tablespace_missing',
       format('%s does not contain what this server created there: its file system is not mounted,'
              ' or the directory was removed', coalesce(p.directory, 'its directory')),
       'Mount it again, and create nothing there. Queries on its tables fail until then.',
       NULL,
       jsonb_build_object('directory', p.directory, 'mount_point', p.mount_point,
                          'filesystem', p.filesystem)
FROM place AS p
WHERE p.missing

UNION ALL
SELECT p.name, 'error', 'read_only_filesystem',
       format('%s is mounted read-only: nothing can be written to %s', p.mount_point, p.name),
       'The kernel may have remounted it after an error. Read the kernel log before you mount it'
       ' for writing again.',
       NULL,
       jsonb_build_object('mount_point', p.mount_point, 'mount_options', p.mount_options)
FROM filesystem AS p
WHERE 'ro' = ANY (p.options) AND NOT p.missing

UNION ALL
SELECT p.name, 'warning', 'network_filesystem',
       format('%s is %s: another machine decides whether a sync reaches a disk',
              p.mount_point, p.filesystem),
       'Export and mount it for synchronous writes (NFS: "sync" in the export, "hard" in the'
       ' mount). Ask its administrator about the write caches of the disks there.',
       NULL,
       jsonb_build_object('filesystem', p.filesystem, 'mount_point', p.mount_point,
                          'mount_options', p.mount_options)
FROM filesystem AS p
WHERE p.is_network

UNION ALL
SELECT p.name, 'warning', 'overlay_filesystem',
       format('%s is an overlay, the writable layer of a container: it is removed with the'
              ' container', p.mount_point),
       'Put the data directory on a volume.',
       NULL,
       jsonb_build_object('filesystem', p.filesystem, 'mount_point', p.mount_point,
                          'device', p.device)
FROM filesystem AS p
WHERE p.filesystem = 'overlay'

UNION ALL
-- Memory, network file systems and ZFS have no device of their own to name.
SELECT p.name, 'info', 'device_unknown',
       format('no disk is known below %s (%s): nothing shows whether syncs reach one',
              coalesce(p.mount_point, 'it'), coalesce(p.filesystem, 'unknown file system')),
       'On Linux, disks are found in /sys and /proc/self/mountinfo. A container must see both.',
       NULL,
       jsonb_build_object('filesystem', p.filesystem, 'mount_point', p.mount_point)
FROM filesystem AS p
WHERE p.device IS NULL AND NOT p.missing
  AND NOT coalesce(p.is_memory OR p.is_network OR p.filesystem IN ('zfs', 'fuse.zfs'), false)

UNION ALL
SELECT p.name, 'error', 'fsync_off',
       'fsync is off: this server syncs nothing, and a crash of the operating system may destroy'
       ' the cluster',
       'Switch it on. Then run sync on the machine, or stop the server and run initdb --sync-only,'
       ' or unmount the file systems: data written before may still be in memory only.',
       ARRAY['ALTER SYSTEM SET fsync = on', 'SELECT pg_reload_conf()'],
       jsonb_build_object('fsync', 'off')
FROM place AS p
WHERE p.holds_wal AND NOT setting_fsync

UNION ALL
-- About the reserve of a probe, in which WAL may grow to max_wal_size.  A probe also keeps
-- four segments free, and counts blocks (src/probe/free_space.c).
SELECT p.name, 'warning', 'low_space',
       format('%s has %s available, less than the reserve of %s',
              coalesce(p.mount_point, p.directory), pg_size_pretty(p.available_bytes),
              pg_size_pretty(r.reserve)),
       CASE WHEN p.holds_wal
            THEN 'A full pg_wal stops the cluster: free space, or lower max_wal_size.'
                 ' SELECT * FROM pg_replication_slots shows what retains WAL.'
            ELSE 'Free space, or move tables: no probe runs with less than the reserve.' END,
       NULL,
       jsonb_build_object('available_bytes', p.available_bytes, 'reserve_bytes', r.reserve,
                          'size_bytes', p.size_bytes)
FROM filesystem AS p,
     LATERAL (SELECT greatest(p.size_bytes / 100 * reserve_percent,
                              CASE WHEN p.holds_wal THEN max_wal_size - wal_size ELSE 0 END)
             ) AS r (reserve)
WHERE p.available_bytes < r.reserve

UNION ALL
-- The manual on wal_recycle and wal_init_zero: copy-on-write file systems need neither.  It
-- is a rule for what was not measured, see findings().
SELECT p.name, 'warning', 'cow_wal_settings',
       format('pg_wal is on %s, a copy-on-write file system: %s may gain nothing there and cost'
              ' writes', p.filesystem,
              concat_ws(' and ', CASE WHEN wal_recycle THEN 'recycling' END,
                        CASE WHEN wal_init_zero THEN 'zero-filling' END) || ' WAL files'),
       'The manual advises to switch wal_recycle and wal_init_zero off there. Measure whether that'
       ' holds here: a finding then shows the result.',
       ARRAY[format('SELECT * FROM sync_probe.probe(%L, ''segments'')', p.name)],
       jsonb_build_object('filesystem', p.filesystem, 'wal_recycle', wal_recycle,
                          'wal_init_zero', wal_init_zero)
FROM place AS p
WHERE p.holds_wal AND (wal_recycle OR wal_init_zero)
  AND p.filesystem IN ('zfs', 'fuse.zfs', 'btrfs', 'bcachefs')
  AND NOT 'nodatacow' = ANY (string_to_array(p.mount_options, ','))

UNION ALL
-- The manual, "WAL Internals": WAL is best on another disk than the main database files.
SELECT w.name, 'info', 'wal_shares_device',
       format('pg_wal shares %s with %s, the busiest tablespace: its reads and writes delay'
              ' commits', coalesce(w.device, w.mount_point), b.name),
       'Give pg_wal a device of its own: initdb --waldir, or a symbolic link created while the'
       ' server is stopped.',
       NULL,
       jsonb_build_object('device', w.device, 'disks', w.disks, 'tablespace', b.name)
FROM place AS w
JOIN place AS b ON b.name = busiest
WHERE w.holds_wal AND NOT b.holds_wal
  AND (w.disks && b.disks OR w.mount_point = b.mount_point)
  AND NOT coalesce(w.filesystem IN ('tmpfs', 'ramfs'), false)
$$;

--
-- Blocks fetched of a relation.  The views know which function has the statistics of an index:
-- since PostgreSQL 20 (72a6dad1c9) another one than those of a table.  A function, since to plan
-- these views takes milliseconds: most databases have no relation to ask it for.
--
CREATE FUNCTION sync_probe_internal.blocks_fetched(relation oid)
RETURNS bigint
LANGUAGE sql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
SELECT t.heap_blks_read + t.heap_blks_hit FROM pg_statio_all_tables AS t WHERE t.relid = relation
UNION ALL
SELECT i.idx_blks_read + i.idx_blks_hit
FROM pg_statio_all_indexes AS i WHERE i.indexrelid = relation
UNION ALL
SELECT q.blks_read + q.blks_hit FROM pg_statio_all_sequences AS q WHERE q.relid = relation
$$;

--
-- The tablespace with the most blocks fetched.  The statistics of each database count for
-- its default tablespace.  Relations of this database in another tablespace count for
-- that one; such relations of other databases cannot be seen from here.
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
      SELECT m.oid, m.sign * b.blocks
      FROM pg_class AS c
      JOIN pg_database AS d ON d.datname = current_database(),
           LATERAL (SELECT sync_probe_internal.blocks_fetched(c.oid)) AS b (blocks),
           LATERAL (VALUES (c.reltablespace, 1), (d.dattablespace, -1)) AS m (oid, sign)
      WHERE c.reltablespace <> 0 AND NOT c.relisshared) AS s
JOIN pg_tablespace AS t ON t.oid = s.oid
GROUP BY t.oid, t.spcname
ORDER BY sum(s.blocks) DESC NULLS LAST, t.oid
LIMIT 1
$$;
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
-- The runs of the wal suite, with what each measured of the method in use.
--
CREATE VIEW sync_probe_internal.measured_runs AS
SELECT r.run_id, r.location, r.filesystem, r.device, r.flush_size, r.flush_interval,
       round((((p).relative_speed_high - (p).relative_speed_low) / 2)::numeric, 4)::float8 AS noise,
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
CROSS JOIN LATERAL (SELECT coalesce(jsonb_strip_nulls(r.storage), '{}')) AS f (facts)
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
                          THEN coalesce(f.facts ->> 'durable_unknown', 'the run does not say why')
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
WHERE r.suite = 'wal';

-- findings() and device_lifetime() read it with the rights of their callers.
GRANT SELECT ON sync_probe_internal.measured_runs TO pg_monitor;

--
-- What runs of the wal suite show: whether syncs reach the device, and what hides that; properties
-- of ZFS, see zfsprops(7); what makes syncs slow, or slower than they were.
--
CREATE FUNCTION sync_probe_internal.run_findings(run_ids bigint[])
RETURNS SETOF sync_probe_internal.finding
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
WITH measured AS MATERIALIZED (
    SELECT * FROM sync_probe_internal.measured_runs AS m WHERE m.run_id = ANY (run_ids)
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
-- Against the median of up to 20 earlier runs of the same kind: the same location, file
-- system, device and method, as many pages a flush, about the same pace.  They are sought
-- among the last hundred of the location.
SELECT n.location, 'info', 'drift',
       format('a paced sync with %s takes %s us, %s %% %s than before (median of %s earlier %s)',
              n.method, n.paced_p50_us,
              coalesce(nullif(round((abs(d.ratio - 1) * 100)::numeric), 0)::text, 'less than 1'),
              CASE WHEN d.ratio > 1 THEN 'more' ELSE 'less' END,
              e.runs, CASE e.runs WHEN 1 THEN 'run' ELSE 'runs' END),
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
                    WHERE r.filesystem IS NOT DISTINCT FROM n.filesystem
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
           jsonb_agg(to_jsonb(x) - 'run_id' ORDER BY x.stalled_ms DESC) AS list
    FROM sync_probe_internal.stalls AS x
    WHERE x.run_id = r.run_id) AS t
WHERE t.longest_flush >= 1 OR t.seconds >= d.seconds / 20
$$;
--
-- The rows of the view, a paragraph for each code.  Those of storage and settings are in
-- findings_storage.sql, those of a run of the wal suite in findings_run.sql.  A new code also has
-- its place in doc/durability-and-findings.md and in the list of test/tap/findings.sql.
--
-- To examine the storage of many locations is most of the work: it is done once, by the view
-- advice.  A function is planned when it is first called: not where no location has such runs.
--
-- One cause is one finding: what is true of a file system is told at the first location on it, and
-- what follows from a mount without barriers is named in the evidence of barrier_off.
--
-- A function, so that it can set jit: with many tablespaces the plan looks costly enough to
-- compile, which takes seconds for a query of milliseconds.
--
CREATE FUNCTION sync_probe_internal.findings()
RETURNS SETOF sync_probe_internal.finding
LANGUAGE sql STABLE PARALLEL RESTRICTED
ROWS 100
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $$
WITH advice AS MATERIALIZED (
    SELECT * FROM sync_probe_internal.advice
), runs AS MATERIALIZED (
    SELECT array_agg(a.run) AS runs, array_agg(a.run_id) AS ids
    FROM (SELECT a.run, (a.run).run_id FROM advice AS a) AS a
    WHERE a.run_id IS NOT NULL
), segments AS MATERIALIZED (
    SELECT a.*
    FROM (SELECT array_agg(a.place) AS places FROM advice AS a
          WHERE 'segments' = ANY (a.suites)) AS e,
         LATERAL sync_probe_internal.segment_advice(e.places) AS a
    WHERE e.places IS NOT NULL
), busiest AS MATERIALIZED (
    SELECT sync_probe_internal.busiest_tablespace() AS name
), of_storage AS MATERIALIZED (
    SELECT f.*
    FROM busiest AS b,
         -- what was measured needs no rule
         (SELECT ARRAY(SELECT s.setting::text FROM segments AS s
                       WHERE s.location = 'pg_wal' AND s.verdict <> 'undecided')) AS m (settled),
         LATERAL sync_probe_internal.storage_findings(
             (SELECT array_agg(a.place)
              FROM advice AS a
              WHERE (a.place).shares_filesystem_with IS NULL OR (a.place).missing
                 OR (a.run).run_id IS NOT NULL OR a.location = b.name),
             (SELECT r.runs FROM runs AS r),
             current_setting('fsync')::boolean,
             current_setting('wal_recycle')::boolean AND NOT 'wal_recycle' = ANY (m.settled),
             current_setting('wal_init_zero')::boolean AND NOT 'wal_init_zero' = ANY (m.settled),
             pg_size_bytes(current_setting('max_wal_size')),
             (SELECT coalesce(sum(w.size), 0)::bigint FROM pg_ls_waldir() AS w),
             current_setting('pg_sync_probe.reserve_percent')::integer,
             b.name) AS f
), cause AS (
    -- A file system without barriers, and the locations on it.
    SELECT a.location, f.location AS cause
    FROM of_storage AS f
    JOIN advice AS a ON coalesce((a.place).shares_filesystem_with, a.location) = f.location
    WHERE f.code = 'barrier_off'
), told AS (
    -- effect_of: the cause that says it all.
    SELECT f.*, c.cause,
           CASE WHEN f.code IN ('flush_missing', 'write_cache_volatile')
                     OR f.code = 'outdated_run' AND f.evidence #>> '{changes,1}' IS NULL
                        AND starts_with(f.evidence #>> '{changes,0}', 'mount options ')
                     OR f.code = 'implausibly_fast'
                     OR f.code = 'drift' AND (f.evidence ->> 'p50_us')::float8
                                             < (f.evidence ->> 'earlier_median_us')::float8
                THEN c.cause END AS effect_of
    FROM (
SELECT * FROM of_storage

UNION ALL
-- What a run of the suite segments says of wal_recycle and wal_init_zero, a row for each.
SELECT s.location, CASE WHEN s.verdict = 'switch' AND s.location = 'pg_wal' THEN 'warning'
                        ELSE 'info' END, 'cow_wal_settings',
       format(CASE s.verdict WHEN 'switch' THEN '%s = %s makes WAL segments cheaper (run %s)'
                             WHEN 'keep' THEN '%s = %s is right (run %s)'
                             ELSE 'it is undecided whether %s = %s is right (run %s)' END,
              s.setting, s.recommended_value, s.run_id),
       upper(left(s.reason, 1)) || substr(s.reason, 2) || '.',
       s.commands,
       jsonb_build_object('run_id', s.run_id, 'setting', s.setting, 'verdict', s.verdict,
                          'current', s.current_value, 'recommended', s.recommended_value,
                          'ratio', s.ratio, 'ratio_low', s.ratio_low, 'ratio_high', s.ratio_high)
FROM segments AS s

UNION ALL
SELECT f.*
FROM runs AS r, LATERAL sync_probe_internal.run_findings(r.ids) AS f
WHERE r.ids IS NOT NULL

UNION ALL
SELECT f.*
FROM (SELECT array_agg(a.place) AS places FROM advice AS a
      WHERE 'stream' = ANY (a.suites)) AS e,
     LATERAL sync_probe_internal.stream_findings(e.places) AS f
WHERE e.places IS NOT NULL

UNION ALL
-- Without a run that counts; other findings may say already why there is none, or what matters.
SELECT a.location, 'info', 'durable_unknown',
       format('no probe has seen whether syncs at %s reach the device', a.location),
       'Probe it.',
       ARRAY[sync_probe_internal.probe_command(a.location)],
       jsonb_build_object('verdict', a.verdict)
FROM advice AS a
WHERE a.is_advised AND a.durable = 'unknown' AND (a.run).run_id IS NULL
  AND a.passed_over IS NULL
  AND NOT EXISTS (SELECT FROM of_storage AS f
                  WHERE f.location = a.location
                    AND f.code IN ('barrier_off', 'device_unknown', 'memory_filesystem',
                                   'network_filesystem', 'read_only_filesystem',
                                   'tablespace_missing', 'write_cache_volatile'))

UNION ALL
SELECT a.location, 'warning', 'outdated_run',
       format('run %s is outdated: %s', a.run_id, array_to_string(a.changes, '; ')),
       'Its recommendation may no longer hold. Probe again.',
       a.commands,
       jsonb_build_object('run_id', a.run_id, 'finished_at', (a.run).finished_at,
                          'changes', a.changes)
FROM advice AS a
WHERE a.verdict = 'outdated'

UNION ALL
-- Only with a recommendation to change wal_sync_method on the running server.
SELECT a.location, 'info', 'sync_method_change',
       format('while processes change from %s to %s, WAL counts as flushed that the disk may not'
              ' have', current_setting('wal_sync_method'), a.recommended_method),
       'If the power fails then, commits are lost or the cluster is damaged. It is over when a'
       ' checkpoint has completed that began after all processes had the new method: execute all'
       ' of these commands, or restart the server instead of a reload.',
       a.commands,
       jsonb_build_object('run_id', a.run_id, 'method', current_setting('wal_sync_method'),
                          'recommended_method', a.recommended_method)
FROM advice AS a
WHERE a.commands @> sync_probe_internal.change_commands(current_setting('wal_sync_method'),
                                                        a.recommended_method)
  AND sync_probe_internal.unlike_methods(current_setting('wal_sync_method'),
                                         a.recommended_method)

UNION ALL
-- Nothing of the server tells what fsync was before, but a run of that time does.
SELECT 'pg_wal', 'warning', 'fsync_was_off',
       format('fsync was off during run %s, after this server was started: what was written'
              ' meanwhile may not be on disk', r.run_id),
       'If the operating system crashes, the cluster may be destroyed. Run sync on the machine, or'
       ' stop the server and run initdb --sync-only, or unmount the file systems. This finding'
       ' stays until the server is restarted.',
       NULL,
       jsonb_build_object('run_id', r.run_id, 'finished_at', r.finished_at,
                          'server_started_at', pg_postmaster_start_time())
FROM (SELECT (r.run).*
      FROM sync_probe_internal.own_runs AS r
      WHERE NOT (r.run).fsync AND (r.run).finished_at > pg_postmaster_start_time()
      ORDER BY (r.run).finished_at DESC
      LIMIT 1) AS r
WHERE current_setting('fsync')::boolean

UNION ALL
SELECT 'pg_wal', 'error', 'trial_not_restored',
       format('a trial has left a value of %s behind', t.fields[1]),
       'The server or the machine has failed during the trial. Restore the value from before.',
       ARRAY['SELECT sync_probe.cleanup()'],
       jsonb_build_object('setting', t.fields[1], 'value_before', nullif(t.fields[2], ''))
FROM string_to_array(left(substr(current_setting('pg_sync_probe.trial_restores', true), 2), -1),
                     '","') AS t (fields)
WHERE cardinality(t.fields) > 2
  AND NOT EXISTS (SELECT FROM sync_probe.running WHERE suite = 'trial')

UNION ALL
-- CREATE EXTENSION refuses where there is such a publication; it may have come later.
SELECT 'pg_wal', 'warning', 'history_published',
       format('publication %s is FOR ALL TABLES, which includes the tables of this extension',
              string_agg(quote_ident(p.pubname), ', ' ORDER BY p.pubname)),
       'Subscribers that lack these tables stop at the first row that is recorded. Keep the'
       ' extension in another database, which measures the same.',
       NULL,
       jsonb_build_object('publications', jsonb_agg(p.pubname ORDER BY p.pubname))
FROM pg_publication AS p
WHERE p.puballtables
HAVING count(*) > 0

UNION ALL
SELECT a.location, 'info', 'run_passed_over',
       format('run %s is the newest of %s, but no advice rests on it: %s',
              a.passed_over, a.location, a.passed_over_why),
       'Advice rests on runs of this server, at this directory and device, at the cluster''s own'
       ' pace.',
       NULL,
       jsonb_build_object('run_id', a.passed_over, 'finished_at', a.passed_over_at,
                          'why', a.passed_over_why)
FROM advice AS a
WHERE a.passed_over IS NOT NULL
) AS f
    LEFT JOIN cause AS c USING (location)
)
SELECT t.location, t.severity, t.code, t.message, t.hint, t.commands,
       CASE WHEN t.code = 'barrier_off' AND t.location = t.cause
            THEN t.evidence || (
                SELECT jsonb_strip_nulls(jsonb_build_object(
                           'locations', (SELECT jsonb_agg(c.location ORDER BY c.location)
                                         FROM cause AS c WHERE c.cause = t.cause),
                           'also_found', jsonb_agg(DISTINCT o.code),
                           'run_id', min((o.evidence ->> 'run_id')::bigint) FILTER (WHERE
                               o.location = t.cause)))
                FROM told AS o WHERE o.effect_of = t.cause)
            ELSE t.evidence END
FROM told AS t
WHERE t.effect_of IS NULL
$$;

REVOKE ALL ON FUNCTION sync_probe_internal.findings FROM PUBLIC;
GRANT EXECUTE ON FUNCTION sync_probe_internal.findings TO pg_monitor;

--
-- findings
--
-- The facts about each location that one must know before believing a number.
--
CREATE VIEW sync_probe.findings AS
SELECT f.location, f.severity, f.code, f.message, f.hint, f.commands, f.evidence
FROM sync_probe_internal.findings() AS f
ORDER BY f.location <> 'pg_wal', f.location,
         array_position(ARRAY['error', 'warning', 'info'], f.severity), f.code, f.message;

GRANT SELECT ON sync_probe.findings TO pg_monitor;

COMMENT ON VIEW sync_probe.findings IS
  'Facts about storage, settings and runs that decide how far figures can be trusted; in each '
  'location the most severe first';
COMMENT ON COLUMN sync_probe.findings.location IS 'Location that the finding is about';
COMMENT ON COLUMN sync_probe.findings.severity IS
  'error: data are at risk; warning: act on it; info: good to know';
COMMENT ON COLUMN sync_probe.findings.code IS 'Name of the finding, the same in all versions';
COMMENT ON COLUMN sync_probe.findings.message IS 'What was found';
COMMENT ON COLUMN sync_probe.findings.hint IS 'What to do';
COMMENT ON COLUMN sync_probe.findings.commands IS
  'SQL that helps, one statement in each element; null if there is none';
COMMENT ON COLUMN sync_probe.findings.evidence IS
  'Figures and settings behind the finding; run_id if a run showed it';
--
-- When this server was promoted, or recovered to a point in time: -infinity if never,
-- infinity on a standby, and null if the timeline's history file is missing.  Statistics
-- survive a promotion, and time as a standby counts in them.
--
CREATE FUNCTION sync_probe_internal.recovery_end()
RETURNS timestamptz
LANGUAGE c VOLATILE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'sync_probe_recovery_end';

--
-- Bytes of WAL per second since the statistics were reset, and the source of that rate.
-- The rate is null with less than an hour of statistics: the first minutes after a start
-- or a restored dump are not typical.  It is null where they include time as a standby:
-- pg_stat_wal does not count the WAL that a standby receives.
--
CREATE FUNCTION sync_probe_internal.wal_rate(
    wal_bytes numeric,
    since timestamptz,
    until timestamptz,
    recovery_end timestamptz,
    OUT bytes_per_sec double precision,
    OUT source text)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT CASE WHEN a.seconds >= 3600 AND since >= recovery_end THEN wal_bytes / a.seconds END,
       CASE WHEN recovery_end = 'infinity' THEN 'pg_stat_wal does not count what a standby receives'
            WHEN since < recovery_end THEN 'pg_stat_wal includes time as a standby'
            WHEN recovery_end IS NULL THEN 'no history file shows whether this was a standby'
            WHEN a.seconds >= 3600 THEN format('pg_stat_wal since %s', since)
            ELSE format('pg_stat_wal covers only %s s, an hour is needed', round(a.seconds)) END
FROM (SELECT extract(epoch FROM until - since)) AS a (seconds)
$$;

--
-- device_lifetime
--
-- How long an SSD lasts under the WAL of this cluster: its capacity times its erase
-- cycles, divided by the bytes written.  The rate of WAL is the mean since the statistics
-- were reset, see wal_rate().  The newest run of the location measured the write
-- amplification of its current method: the bytes that the device wrote for a flush,
-- divided by the bytes of WAL in it (a flush of 100 bytes writes a page of 8 kB).  An
-- argument replaces either.  Writes that the controller of the SSD adds are not included.
-- What is unknown is null, and its source says why.
--
CREATE TYPE sync_probe.lifetime AS (
    location name,
    device text,
    capacity_bytes bigint,
    erase_cycles integer,
    wal_bytes_per_sec double precision,
    wal_rate_source text,
    write_amplification double precision,
    write_amplification_source text,
    written_bytes_per_day double precision,
    years double precision);

COMMENT ON TYPE sync_probe.lifetime IS 'Result of device_lifetime()';
COMMENT ON COLUMN sync_probe.lifetime.location IS 'Argument';
COMMENT ON COLUMN sync_probe.lifetime.device IS 'Whole disk of the location; null if unknown';
COMMENT ON COLUMN sync_probe.lifetime.capacity_bytes IS 'Argument';
COMMENT ON COLUMN sync_probe.lifetime.erase_cycles IS 'Argument';
COMMENT ON COLUMN sync_probe.lifetime.wal_bytes_per_sec IS 'Bytes of WAL per second';
COMMENT ON COLUMN sync_probe.lifetime.wal_rate_source IS 'Its source, or why it is unknown';
COMMENT ON COLUMN sync_probe.lifetime.write_amplification IS
  'Bytes that the device writes for each byte of WAL';
COMMENT ON COLUMN sync_probe.lifetime.write_amplification_source IS
  'Its source, or why it is unknown';
COMMENT ON COLUMN sync_probe.lifetime.written_bytes_per_day IS 'Bytes that the device writes';
COMMENT ON COLUMN sync_probe.lifetime.years IS
  'Years until all erase cycles are used; null if a factor is unknown';

CREATE FUNCTION sync_probe.device_lifetime(
    location name,
    capacity_bytes bigint,
    erase_cycles integer,
    wal_bytes_per_sec double precision DEFAULT NULL,
    write_amplification double precision DEFAULT NULL)
RETURNS sync_probe.lifetime
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    argument record;
    device text;
    rate double precision := wal_bytes_per_sec;
    rate_source text := 'argument';
    amplification double precision := write_amplification;
    amplification_source text := 'argument';
BEGIN
    FOR argument IN
        SELECT * FROM (VALUES ('capacity_bytes', capacity_bytes::float8, false),
                              ('erase_cycles', erase_cycles, false),
                              ('wal_bytes_per_sec', wal_bytes_per_sec, true),
                              ('write_amplification', write_amplification, true)
                      ) AS v (name, value, may_be_null)
    LOOP
        IF argument.value IS NULL AND NOT argument.may_be_null THEN
            RAISE EXCEPTION USING
                ERRCODE = 'invalid_parameter_value',
                MESSAGE = format('argument "%s" must not be null', argument.name),
                HINT = 'The data sheet of the device states it. For example:'
                       ' SELECT * FROM sync_probe.device_lifetime(''pg_wal'', 480000000000, 3000);';
        ELSIF NOT (argument.value > 0 AND argument.value < 'Infinity') THEN
            RAISE EXCEPTION USING
                ERRCODE = 'invalid_parameter_value',
                MESSAGE = format('%s %s is out of range', argument.name, argument.value),
                DETAIL = 'It must be greater than 0.';
        END IF;
    END LOOP;
    IF location IS NULL THEN
        RAISE EXCEPTION USING
            ERRCODE = 'invalid_parameter_value',
            MESSAGE = 'argument "location" must not be null',
            HINT = 'See SELECT name FROM sync_probe.locations.';
    END IF;

    device := (SELECT l.device
               FROM sync_probe_internal.examine_locations(device_lifetime.location) AS l);
    IF rate IS NULL THEN
        SELECT r.bytes_per_sec, r.source INTO rate, rate_source
        FROM pg_stat_wal AS w,
             sync_probe_internal.wal_rate(w.wal_bytes, w.stats_reset, clock_timestamp(),
                                          sync_probe_internal.recovery_end()) AS r;
    END IF;
    IF amplification IS NULL THEN
        SELECT a.amplification,
               CASE WHEN n.paced_bytes IS NULL
                    THEN format('run %s did not read the counters', n.run_id)
                    WHEN a.amplification IS NULL
                    THEN format('run %s did not see enough of background I/O', n.run_id)
                    ELSE format('run %s, %s bytes of WAL a flush', n.run_id, n.flush_size) END
        INTO amplification, amplification_source
        FROM sync_probe_internal.measured_runs AS n,
             -- Background I/O comes in bursts; its mean says little where it is as much.
             LATERAL (SELECT CASE WHEN n.own_bytes_low > 0
                                  THEN round((n.own_bytes / nullif(n.flush_size, 0))::numeric, 2)
                                  END) AS a (amplification)
        WHERE n.run_id = (SELECT (r.run).run_id FROM sync_probe_internal.newest_runs AS r
                          WHERE r.location = device_lifetime.location);
        amplification_source := coalesce(amplification_source, 'not probed yet');
    END IF;
    RETURN ROW(location, device, capacity_bytes, erase_cycles, round(rate), rate_source,
               amplification, amplification_source, round(rate * amplification * 86400),
               round((capacity_bytes::float8 * erase_cycles
                      / nullif(rate * amplification * 86400 * 365.25, 0))::numeric, 1)
              )::sync_probe.lifetime;
END
$$;

REVOKE ALL ON FUNCTION sync_probe.device_lifetime FROM PUBLIC;
GRANT EXECUTE ON FUNCTION sync_probe.device_lifetime TO pg_monitor;

COMMENT ON FUNCTION sync_probe.device_lifetime IS
  'Years that an SSD of this capacity in bytes and erase cycles lasts at this cluster''s rate of '
  'WAL';
--
-- pg_test_fsync_report
--
-- A run of the pg_test_fsync suite in the layout of that program.
--
CREATE FUNCTION sync_probe.pg_test_fsync_report(run_id bigint)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    found_suite text;
    imported boolean;
    report text;
BEGIN
    SELECT r.suite, r.imported_at IS NOT NULL INTO found_suite, imported FROM sync_probe.runs AS r
    WHERE r.run_id = pg_test_fsync_report.run_id;
    IF found_suite IS DISTINCT FROM 'pg_test_fsync' THEN
        RAISE EXCEPTION USING
            ERRCODE = 'invalid_parameter_value',
            MESSAGE = CASE
                WHEN pg_test_fsync_report.run_id IS NULL
                THEN 'argument "run_id" must not be null'
                WHEN found_suite IS NULL
                THEN format('run %s does not exist', pg_test_fsync_report.run_id)
                ELSE format('run %s is of suite "%s", expected "pg_test_fsync"',
                            pg_test_fsync_report.run_id, found_suite) END,
            HINT = 'See SELECT run_id FROM sync_probe.runs WHERE suite = ''pg_test_fsync''.';
    END IF;

    WITH line AS (
        SELECT m.test, m.ordinal, m.status, m.direct_io, m.method LIKE 'open%' AS is_open, m.ops,
               m.mean_us,
               -- unknown in an import that lacks the heading
               CASE WHEN m.write_size % 1024 = 0
                    THEN format('%skB ', m.write_size / 1024) ELSE '' END AS size,
               format('        %-30s%s',
                   CASE m.test
                       -- 16 kB in each sync
                       WHEN 'open_sync_sizes' THEN format('%2s * %2skB open_sync write%s',
                            16384 / nullif(m.write_size, 0), m.write_size / 1024,
                            CASE WHEN m.write_size < 16384 THEN 's' ELSE '' END)
                       WHEN 'non_write_descriptor' THEN replace(m.method, '_', ', ')
                       ELSE m.method END,
                   CASE WHEN m.ops_per_sec IS NOT NULL
                        THEN format('%13s ops/sec  %6s usecs/op',
                                    -- of a probe, ops_per_sec has fewer decimals
                                    to_char(CASE WHEN imported THEN m.ops_per_sec
                                                 ELSE 1e6 / nullif(m.mean_us, 0) END,
                                            'FM999999999990.000'),
                                    to_char(m.mean_us, 'FM999999999990'))
                        ELSE format('%21s', CASE m.status WHEN 'no_direct_io' THEN 'n/a*'
                                                          WHEN 'unsupported' THEN 'n/a'
                                                          ELSE m.status END) END) AS text
        FROM sync_probe.measurements AS m
        WHERE m.run_id = pg_test_fsync_report.run_id
    ), block AS (
        SELECT s.position,
               format(E'%s\n%s%s', replace(s.heading, '{size}', l.size),
                      string_agg(l.text, E'\n' ORDER BY l.ordinal),
                      CASE WHEN bool_or(l.status = 'no_direct_io') AND s.has_note THEN
                           E'\n* This file system and its mount options do not support direct I/O.'
                      END) AS text
        FROM line AS l
        JOIN (VALUES
            (1, 'one_write', true, E'Compare file sync methods using one {size}write:\n'
                                   '(in wal_sync_method preference order)'),
            (2, 'two_writes', true, E'Compare file sync methods using two {size}writes:\n'
                                    '(in wal_sync_method preference order)'),
            (3, 'open_sync_sizes', false, E'Compare open_sync with different write sizes:\n'
                                          '(16kB in each sync, in writes of these sizes)'),
            (4, 'non_write_descriptor', false,
                E'Test if fsync on non-write file descriptor is honored:\n'
                '(similar times: fsync() can sync what another descriptor wrote)'),
            (5, 'unsynced_write', false, 'Non-sync''ed {size}writes:')
        ) AS s (position, test, has_note, heading) USING (test)
        GROUP BY s.position, s.has_note, replace(s.heading, '{size}', l.size)
    ), head AS (
        SELECT concat_ws(E'\n',
                   CASE WHEN imported THEN t.ops || ' operations per test'
                        WHEN t.seconds = 1 THEN '1 second per test'
                        ELSE t.seconds || ' seconds per test' END,
                   CASE t.direct_io
                        WHEN true THEN 'O_DIRECT supported on this platform for open_datasync and'
                                       ' open_sync.'
                        WHEN false THEN 'Direct I/O is not supported on this platform.' END) AS text
        FROM (SELECT round(avg(l.ops * l.mean_us)::numeric / 1e6, 2) AS seconds, max(l.ops) AS ops,
                     bool_or(l.direct_io) FILTER (WHERE l.is_open) AS direct_io
              FROM line AS l) AS t
    )
    SELECT concat_ws(E'\n\n', nullif(h.text, ''), string_agg(b.text, E'\n\n' ORDER BY b.position))
           || E'\n'
    INTO report FROM head AS h LEFT JOIN block AS b ON true GROUP BY h.text;
    RETURN report;
END
$$;

COMMENT ON FUNCTION sync_probe.pg_test_fsync_report IS
  'Run of the pg_test_fsync suite, or an import, in the layout of the program. Requires SELECT on '
  'the tables';

--
-- import_pg_test_fsync
--
-- Record the figures in a text that the program pg_test_fsync has printed, on whatever machine.
-- A run gets only what the text says: of the place and the server nothing is known.
--
-- Source of the formats: contrib/pg_test_fsync/pg_test_fsync.c of PostgreSQL 9.1 to 9.4, and
-- src/bin/pg_test_fsync/pg_test_fsync.c of 9.5 to 19.
--
CREATE FUNCTION sync_probe.import_pg_test_fsync(report text, label text DEFAULT NULL)
RETURNS TABLE (run_id bigint, test_cases integer, not_understood text)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET standard_conforming_strings = on
AS $$
DECLARE
    part record;
    new_id bigint;
BEGIN
    IF report IS NULL OR octet_length(report) > 1000000 OR octet_length(label) > 256 THEN
        RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
            MESSAGE = CASE WHEN report IS NULL THEN 'argument "report" must not be null'
                           WHEN octet_length(label) > 256
                           THEN 'argument "label" is longer than 256 bytes'
                           ELSE 'argument "report" is longer than 1 MB' END,
            HINT = 'Pass what pg_test_fsync printed, and a short label.';
    END IF;

    FOR part IN
        WITH line AS (       -- quotes of mails begin with ">"
            SELECT l.n, btrim(regexp_replace(l.line, '^[>\s]+', ''), E' \t\r') AS text
            FROM string_to_table(report, E'\n') WITH ORDINALITY AS l (line, n)
        ), heading AS (
            SELECT l.*, h.test, (regexp_match(l.text, '(\d{1,4})kB writes?:?$'))[1] AS kb,
                   -- a report begins with this line, or with its first section
                   l.text ~ '^\d+ (seconds?|operations) per test$'
                   OR h.test = 'one_write' AND report !~ '(second|operation)s? per test' AS begins
            FROM line AS l
            LEFT JOIN (VALUES ('one_write', '^Compare file sync methods using one '),
                              ('two_writes', '^Compare file sync methods using two '),
                              ('open_sync_sizes', '^Compare open_sync with different write sizes'),
                              ('non_write_descriptor', '^Test if fsync on non-write file'),
                              ('unsynced_write', '^Non-[Ss]ync''ed ')) AS h (test, pattern)
                ON l.text ~ h.pattern
        ), section AS (
            SELECT h.*, count(*) FILTER (WHERE h.begins) OVER (ORDER BY h.n) AS report,
                   count(h.test) OVER (ORDER BY h.n) AS section,
                   -- of a long line the match would take minutes
                   CASE WHEN length(h.text) <= 200 THEN regexp_match(h.text,
                       '^(\S.*?)\s+(?:(\d{1,12})[.,](\d{1,6}) ops/sec'
                       '(?:\s+(\d{1,12}) usecs/op)?|(n/a)(\*?))$') END AS figure
            FROM heading AS h
        ), said AS (
            SELECT s.*, first_value(s.test) OVER (PARTITION BY s.section ORDER BY s.n) AS of_test,
                   max(s.kb::integer) FILTER (WHERE s.test IS NOT NULL)
                       OVER (PARTITION BY s.report) AS block_kb,
                   bool_and(s.text !~ 'not supported')
                       FILTER (WHERE s.text ~ 'supported on this platform')
                       OVER (PARTITION BY s.report) AS direct_io,
                   max((regexp_match(s.text, '^(\d{1,9}) operations per test$'))[1]::bigint)
                       OVER (PARTITION BY s.report) AS ops
            FROM section AS s
        ), case_of AS (
            SELECT s.*, c.ordinal, c.method, c.kb AS case_kb,
                   replace(concat(s.figure[2], '.', s.figure[3]), ' ', '') AS rate
            FROM said AS s
            LEFT JOIN (VALUES
                (1, 'one_write', 'open_datasync', 'open_datasync', NULL),
                (2, 'one_write', 'fdatasync', 'fdatasync', NULL),
                (3, 'one_write', 'fsync', 'fsync', NULL),
                (4, 'one_write', 'fsync_writethrough', 'fsync_writethrough', NULL),
                (5, 'one_write', 'open_sync', 'open_sync', NULL),
                (6, 'two_writes', 'open_datasync', 'open_datasync', NULL),
                (7, 'two_writes', 'fdatasync', 'fdatasync', NULL),
                (8, 'two_writes', 'fsync', 'fsync', NULL),
                (9, 'two_writes', 'fsync_writethrough', 'fsync_writethrough', NULL),
                (10, 'two_writes', 'open_sync', 'open_sync', NULL),
                (11, 'open_sync_sizes', '16kB open_sync write', 'open_sync', 16),
                (12, 'open_sync_sizes', '8kB open_sync writes', 'open_sync', 8),
                (13, 'open_sync_sizes', '4kB open_sync writes', 'open_sync', 4),
                (14, 'open_sync_sizes', '2kB open_sync writes', 'open_sync', 2),
                (15, 'open_sync_sizes', '1kB open_sync writes', 'open_sync', 1),
                (16, 'non_write_descriptor', 'write, fsync, close', 'write_fsync_close', NULL),
                (17, 'non_write_descriptor', 'write, close, fsync', 'write_close_fsync', NULL),
                (18, 'unsynced_write', 'write', 'write', NULL)
            ) AS c (ordinal, test, label, method, kb)
                ON c.test = s.of_test
               AND c.label = regexp_replace(s.figure[1], '^\d+ \* +(?=\d+kB open_sync)', '')
        )
        SELECT c.report, min(c.n) AS n,
               jsonb_agg(jsonb_build_object(
                   'ordinal', c.ordinal, 'test', c.of_test, 'method', c.method,
                   'status', CASE WHEN c.figure[6] = '*' THEN 'no_direct_io'
                                  WHEN c.figure[5] IS NOT NULL THEN 'unsupported' ELSE 'ok' END,
                   'direct_io', CASE WHEN c.method NOT LIKE 'open%' THEN false
                                     ELSE c.direct_io OR nullif(c.figure[6] = '*', false) END,
                   'write_size', coalesce(c.case_kb, c.block_kb) * 1024,
                   'ops_per_sec', CASE WHEN c.figure[5] IS NULL THEN c.rate END,
                   -- of a low rate the microseconds have more digits
                   'mean_us', CASE WHEN c.figure[5] IS NULL THEN
                       CASE WHEN c.figure[4]::numeric <> round(1e6 / nullif(c.rate::numeric, 0))
                            THEN c.figure[4]::numeric
                            ELSE round(1e6 / nullif(c.rate::numeric, 0), 3) END END,
                   'ops', CASE WHEN c.figure[5] IS NULL THEN c.ops END))
                   FILTER (WHERE c.ordinal IS NOT NULL) AS rows,
               string_agg(c.text, E'\n' ORDER BY c.n)
                   FILTER (WHERE c.ordinal IS NULL AND c.test IS NULL AND c.text !~
                       '^$|^\(|^is Linux''s default\)$|open_sync sizes[.]\)$|descriptor[.]\)$|'
                       '^\* This file system|^I/O, e[.]g[.]| per test$|supported on this platform')
                   AS unknown
        FROM case_of AS c GROUP BY c.report ORDER BY c.report
    LOOP
        not_understood := concat_ws(E'\n', not_understood, part.unknown);
        CONTINUE WHEN part.rows IS NULL;
        INSERT INTO sync_probe.runs (label, suite, imported_at)
        VALUES (label, 'pg_test_fsync', now()) RETURNING runs.run_id INTO new_id;
        INSERT INTO sync_probe.measurements
        SELECT DISTINCT ON (x.ordinal)
               (jsonb_populate_record(x, jsonb_build_object('run_id', new_id))).*
        FROM jsonb_populate_recordset(NULL::sync_probe.measurements, part.rows) AS x
        ORDER BY x.ordinal;
        GET DIAGNOSTICS test_cases = ROW_COUNT;
        run_id := new_id;
        not_understood := nullif(left(not_understood, 1000), '');
        RETURN NEXT;
        not_understood := NULL;
    END LOOP;
    IF new_id IS NULL THEN
        RAISE EXCEPTION 'the text holds no report of pg_test_fsync'
            USING ERRCODE = 'invalid_parameter_value',
                  DETAIL = format('Lines that were not understood: "%s".',
                                  left(regexp_replace(not_understood, '\s+', ' ', 'g'), 200)),
                  HINT = 'Pass the output of the program itself, with its headings, in English'
                         ' (LC_ALL=C pg_test_fsync); not the name of a file.';
    END IF;
END
$$;

REVOKE ALL ON FUNCTION sync_probe.import_pg_test_fsync FROM PUBLIC;

COMMENT ON FUNCTION sync_probe.import_pg_test_fsync IS
  'Record the output of the program pg_test_fsync as a run for each report in it. Returns how '
  'many test cases each has, and lines that were not understood';
--
-- workload_comparison
--
-- The newest statement of each suite that ran workloads, side by side, in long form for
-- psql's \crosstabview.  A combination is what may differ between runs of the same
-- workload: tablespace, settings, label, and in brackets clients, threads and rows where
-- they did differ.
--
CREATE VIEW sync_probe_internal.workload_times AS
WITH result AS (
    SELECT r.run_group, r.suite, r.workload AS operation, r.result_id, r.transactions,
           r.transactions / r.tps AS seconds,
           r.transactions_per_client IS NOT NULL AS counted, o.others,
           -- the collation of type name would conflict with the default one of the others
           concat_ws(' ', r.tablespace COLLATE "default",
                     (SELECT string_agg(key || '=' || value, ' ' ORDER BY key)
                      FROM jsonb_each_text(r.settings)),
                     '(' || nullif(r.label, '') || ')') AS combination,
           min(o.others) OVER w IS DISTINCT FROM max(o.others) OVER w AS others_differ
    FROM sync_probe.workload_results AS r
    CROSS JOIN LATERAL (SELECT concat_ws(', ', 'clients ' || r.clients, 'threads ' || r.threads,
                                         'rows ' || r.rows)) AS o (others)
    WHERE r.transactions > 0
    WINDOW w AS (PARTITION BY r.run_group, r.suite, r.workload)
), named AS (
    SELECT run_group, suite, operation, result_id, transactions, seconds, counted,
           combination || CASE WHEN others_differ THEN ' [' || others || ']' ELSE '' END
               AS combination
    FROM result
)
SELECT run_group, suite, operation, combination,
       min(result_id) AS first_result,
       bool_and(counted) AS counted,
       round(avg(transactions)) AS iterations,
       avg(seconds) AS seconds,
       sum(transactions) / sum(seconds) AS tps
FROM named
GROUP BY run_group, suite, operation, combination;

CREATE VIEW sync_probe_internal.workload_comparison AS
WITH combination AS (
    SELECT run_group, suite, combination,
           row_number() OVER (PARTITION BY run_group, suite ORDER BY min(first_result)) AS place,
           count(*) OVER (PARTITION BY run_group, suite) AS combinations
    FROM sync_probe_internal.workload_times
    GROUP BY run_group, suite, combination
), operation AS (
    SELECT *, count(*) OVER (PARTITION BY run_group, suite, operation) AS ran_in
    FROM sync_probe_internal.workload_times
), line AS (
    SELECT run_group, suite, operation, combination, iterations, seconds, tps, false AS is_total
    FROM operation
    UNION ALL
    -- Sums can be compared if all combinations ran the same operations equally often.
    SELECT run_group, suite, 'TOTALS'::name, combination, sum(iterations), sum(seconds),
           sum(iterations) / sum(seconds), true
    FROM operation
    JOIN combination USING (run_group, suite, combination)
    WHERE ran_in = combinations
    GROUP BY run_group, suite, combination
    HAVING bool_and(counted) AND count(*) > 1
)
SELECT line.run_group, line.suite, line.operation, line.iterations, line.combination,
       line.seconds, line.tps,
       first_value(line.tps) OVER (PARTITION BY line.run_group, line.suite, line.is_total,
                                                line.operation
                                   ORDER BY combination.place) / line.tps AS ratio,
       combination.place, line.is_total
FROM line
JOIN combination USING (run_group, suite, combination);

CREATE VIEW sync_probe.workload_comparison AS
SELECT c.operation, c.iterations::bigint AS iterations, c.combination,
       round(c.seconds::numeric, 3)::float8 AS seconds,
       round(c.tps::numeric, CASE WHEN c.tps < 100 THEN 4 ELSE 1 END)::float8 AS tps,
       round(c.ratio::numeric, 3)::float8 AS ratio,
       c.suite, c.run_group
FROM sync_probe_internal.workload_comparison AS c
WHERE (c.suite, c.run_group) IN (SELECT suite, max(run_group)
                                 FROM sync_probe.workload_results GROUP BY suite)
ORDER BY c.suite, c.is_total DESC, c.operation, c.place;

GRANT SELECT ON sync_probe_internal.workload_times, sync_probe_internal.workload_comparison,
  sync_probe.workload_comparison TO pg_monitor;

COMMENT ON VIEW sync_probe.workload_comparison IS
  'The newest statement of each suite that ran workloads, as psql''s \crosstabview takes it';
COMMENT ON COLUMN sync_probe.workload_comparison.operation IS
  'Name of the workload; TOTALS: sum of those that all combinations ran';
COMMENT ON COLUMN sync_probe.workload_comparison.iterations IS
  'Transactions of one run';
COMMENT ON COLUMN sync_probe.workload_comparison.combination IS
  'Tablespace, settings and label, and in brackets what else differs';
COMMENT ON COLUMN sync_probe.workload_comparison.seconds IS
  'Seconds of one run; the mean if it was repeated';
COMMENT ON COLUMN sync_probe.workload_comparison.tps IS
  'Transactions per second';
COMMENT ON COLUMN sync_probe.workload_comparison.ratio IS
  'Time of a transaction relative to the first combination: 2 is twice as long';
COMMENT ON COLUMN sync_probe.workload_comparison.suite IS
  'Suite of the workload';
COMMENT ON COLUMN sync_probe.workload_comparison.run_group IS
  'As in workload_results';

--
-- sql_bench
--
-- All operations of suite sql_bench, one client each, for every combination of a
-- tablespace and a set of settings.  The combinations take turns in each operation, and
-- the first of them changes, so that no combination always has the warmer caches.
--
-- A procedure that commits cannot pin its search_path.  So sql_bench_plan() does all that
-- needs one, and the procedure has no operator and no name without a schema.  It commits
-- each row, so that an error later does not lose it.
--
-- Everybody may execute the plan.  It writes nothing, and its errors say which privileges
-- a role lacks.
--
CREATE FUNCTION sync_probe_internal.sql_bench_plan(
    tablespaces name[],
    scale double precision,
    settings jsonb[],
    OUT workload name,
    OUT tablespace name,
    OUT run_settings jsonb,
    OUT transactions integer,
    OUT progress text)
RETURNS SETOF record
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    wrong record;
    combinations integer;
BEGIN
    IF NOT has_table_privilege('sync_probe.workloads', 'SELECT') THEN
        RAISE EXCEPTION 'permission denied to run sql_bench'
            USING ERRCODE = 'insufficient_privilege',
                  DETAIL = 'It reads sync_probe.workloads; workload_comparison shows the results.',
                  HINT = format('GRANT pg_monitor TO %I;', current_user);
    END IF;
    IF NOT has_function_privilege('sync_probe.run_workload'::regproc, 'EXECUTE') THEN
        RAISE EXCEPTION 'permission denied to run sql_bench'
            USING ERRCODE = 'insufficient_privilege',
                  DETAIL = 'It calls sync_probe.run_workload().',
                  HINT = format('GRANT EXECUTE ON PROCEDURE sync_probe.run_workload TO %I;',
                                current_user);
    END IF;
    IF tablespaces IS NULL OR cardinality(tablespaces) = 0 THEN
        RAISE EXCEPTION 'tablespaces must name at least one'
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'For example: CALL sync_probe.sql_bench(''{pg_default,fast_ssd}'');';
    END IF;
    IF array_position(tablespaces, NULL) IS NOT NULL THEN
        RAISE EXCEPTION 'tablespaces must not contain null'
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'A database without a tablespace of its own is in "pg_default".';
    END IF;
    IF scale IS NULL OR NOT scale > 0 OR scale > 1 THEN
        RAISE EXCEPTION 'scale % is out of range', coalesce(scale::text, 'null')
            USING ERRCODE = 'invalid_parameter_value',
                  DETAIL = 'It must be greater than 0, and at most 1.',
                  HINT = '1 runs as many iterations as MySQL''s sql-bench, 0.01 one percent of'
                         ' them.';
    END IF;
    SELECT t.name INTO wrong
    FROM unnest(tablespaces) AS t (name) WHERE t.name NOT IN (SELECT spcname FROM pg_tablespace);
    IF FOUND THEN
        RAISE EXCEPTION 'tablespace "%" does not exist', wrong.name
            USING ERRCODE = 'undefined_object', HINT = 'See SELECT spcname FROM pg_tablespace.';
    END IF;
    settings := coalesce(nullif(settings, '{}'), ARRAY[NULL::jsonb]);
    combinations := cardinality(tablespaces) * cardinality(settings);

    RETURN QUERY
        WITH operation AS (
            SELECT w.workload AS name,
                   greatest(1, round(w.transactions * scale))::integer AS transactions,
                   row_number() OVER (ORDER BY w.workload) AS number, count(*) OVER () AS operations
            FROM sync_probe.workloads AS w
            WHERE w.suite = 'sql_bench' AND w.builtin
        ), run AS (
            SELECT o.*, t.name AS place, s.value,
                   -- the first operation runs in the order of the arguments
                   ((t.place - 1) * cardinality(settings) + s.place + combinations - 1
                    - (o.number - 1) % combinations) % combinations AS turn
            FROM operation AS o
            CROSS JOIN unnest(tablespaces) WITH ORDINALITY AS t (name, place)
            CROSS JOIN unnest(settings) WITH ORDINALITY AS s (value, place)
        )
        SELECT r.name, r.place, r.value, r.transactions,
               CASE WHEN r.turn = 0 THEN format('%s (%s of %s)', r.name, r.number, r.operations) END
        FROM run AS r
        ORDER BY r.number, r.turn;
END
$function$;

CREATE PROCEDURE sync_probe.sql_bench(
    tablespaces name[],
    scale double precision DEFAULT 0.01,
    settings jsonb[] DEFAULT NULL,
    allow_publication boolean DEFAULT false)
LANGUAGE plpgsql
AS $procedure$
DECLARE
    run pg_catalog.record;
    result_id pg_catalog.int8;
    tps pg_catalog.float8;
    latency_mean_ms pg_catalog.float8;
    latency_p99_ms pg_catalog.float8;
BEGIN
    FOR run IN SELECT * FROM sync_probe_internal.sql_bench_plan(tablespaces, scale, settings)
    LOOP
        IF run.progress IS NOT NULL THEN
            RAISE NOTICE '%', run.progress;
        END IF;
        CALL sync_probe.run_workload(run.workload, run.tablespace, 1, 1,
            transactions => run.transactions, rows => 10000, settings => run.run_settings,
            allow_publication => allow_publication, result_id => result_id, tps => tps,
            latency_mean_ms => latency_mean_ms, latency_p99_ms => latency_p99_ms);
        COMMIT;
    END LOOP;
END
$procedure$;

REVOKE ALL ON PROCEDURE sync_probe.sql_bench FROM PUBLIC;

COMMENT ON PROCEDURE sync_probe.sql_bench IS
  'Run all operations of sql-bench in each tablespace, in turns, with scale times the original '
  'iterations. Requires EXECUTE on run_workload(), and SELECT on workloads';
--
-- Runs as a document, for another server.
--
-- {"format": "pg_sync_probe runs", "version": 1, "runs": [...]}.  A run is an object of its
-- columns, and of an array for each table whose rows belong to runs.  What is new on the other
-- server is left out: run_id, imported_at, usable_for_advice.
--

--
-- export_json
--
-- The settings make the document the same in each session, and exact: extra_float_digits above
-- zero writes the shortest number that is read as the same bits.
--
CREATE FUNCTION sync_probe.export_json(run_ids bigint[])
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
SET extra_float_digits = 1
SET timezone = 'UTC'
SET datestyle = 'ISO, YMD'
SET intervalstyle = 'postgres'
AS $$
BEGIN
    PERFORM sync_probe_internal.require_monitor('export_json()', '{sync_probe.runs,
        sync_probe.measurements,sync_probe_internal.samples,sync_probe.stream_seconds}');
    PERFORM sync_probe_internal.require_runs(run_ids, 1000);
    RETURN jsonb_build_object('format', 'pg_sync_probe runs', 'version', 1, 'runs', jsonb_agg(
            to_jsonb(r) - '{run_id,imported_at,usable_for_advice}'::text[]
            || jsonb_build_object(
                'measurements', (SELECT coalesce(jsonb_agg(to_jsonb(x) - 'run_id'
                                                           ORDER BY x.ordinal), '[]')
                                 FROM sync_probe.measurements AS x WHERE x.run_id = r.run_id),
                'samples', (SELECT coalesce(jsonb_agg(to_jsonb(x) - 'run_id'
                                                      ORDER BY x.ordinal), '[]')
                            FROM sync_probe_internal.samples AS x WHERE x.run_id = r.run_id),
                'stream_seconds', (SELECT coalesce(jsonb_agg(to_jsonb(x) - 'run_id'
                                                             ORDER BY x.ordinal, x.second), '[]')
                                   FROM sync_probe.stream_seconds AS x
                                   WHERE x.run_id = r.run_id))
            ORDER BY array_position(run_ids, r.run_id)))
        FROM sync_probe.runs AS r WHERE r.run_id = ANY (run_ids);
END
$$;

COMMENT ON FUNCTION sync_probe.export_json IS
  'Document of up to 1,000 runs for import_json() on another server. Requires SELECT on the '
  'tables';

--
-- What is wrong with a document; null if nothing is that the tables do not refuse themselves.
-- Views divide and multiply figures, so none is negative, infinite, or beyond 10^15; but
-- identifiers of clusters may be.  The tables' types read figures in strings, too: so what they
-- make of them is looked at.
--
CREATE FUNCTION sync_probe_internal.document_fault(document jsonb)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT CASE
    WHEN document IS NULL THEN 'it is null'
    WHEN document ->> 'format' IS DISTINCT FROM 'pg_sync_probe runs'
    THEN 'its member "format" is not "pg_sync_probe runs"'
    WHEN document -> 'version' IS DISTINCT FROM '1'
    THEN format('its version is %s, supported is 1',
                coalesce(left(document ->> 'version', 20), 'null'))
    WHEN jsonb_typeof(document -> 'runs') IS DISTINCT FROM 'array'
    THEN 'its member "runs" is not an array'
    WHEN jsonb_array_length(document -> 'runs') > 1000
    THEN format('it has %s runs, at most 1000 are allowed', jsonb_array_length(document -> 'runs'))
    ELSE (
        SELECT format('runs[%s]: %s', r.n - 1, f.fault)
        FROM jsonb_array_elements(document -> 'runs') WITH ORDINALITY AS r (run, n),
             LATERAL (SELECT min(k) AS unknown
                      FROM jsonb_object_keys(CASE jsonb_typeof(r.run) WHEN 'object' THEN r.run
                                                                      ELSE '{}' END) AS k
                      WHERE k NOT IN ('measurements', 'samples', 'stream_seconds')
                        AND k NOT IN (SELECT a.attname FROM pg_attribute AS a
                                      WHERE a.attrelid = 'sync_probe.runs'::regclass
                                        AND a.attnum > 0 AND a.attname NOT IN
                                            ('run_id', 'imported_at', 'usable_for_advice'))) AS m,
             LATERAL (SELECT CASE
                 WHEN jsonb_typeof(r.run) <> 'object' THEN 'it is not an object'
                 WHEN NOT r.run ?& '{measurements,samples,stream_seconds}'
                 THEN 'measurements, samples or stream_seconds is missing'
                 WHEN m.unknown IS NOT NULL
                 THEN format('member "%s" is unknown', left(m.unknown, 63))
                 WHEN jsonb_path_exists(jsonb_build_array(
                          jsonb_populate_record(NULL::sync_probe.runs,
                                                r.run - 'system_identifier'),
                          (SELECT jsonb_agg(x) FROM jsonb_populate_recordset(
                               NULL::sync_probe.measurements, r.run -> 'measurements') AS x),
                          (SELECT jsonb_agg(x) FROM jsonb_populate_recordset(
                               NULL::sync_probe_internal.samples, r.run -> 'samples') AS x),
                          (SELECT jsonb_agg(x) FROM jsonb_populate_recordset(
                               NULL::sync_probe.stream_seconds, r.run -> 'stream_seconds') AS x)),
                      '$.** ? (
                          @.type() == "number" && (@ < 0 || @ > 1e15)
                          || @ like_regex "^ *[-+]?(nan|inf(inity)?) *$" flag "i")')
                 THEN 'it has a figure that is not from 0 to 10^15'
                 WHEN jsonb_typeof(r.run -> 'storage') NOT IN ('object', 'null')
                 THEN 'its storage is not an object'
                 WHEN EXISTS (SELECT FROM jsonb_path_query(r.run, '$.samples[*].ordinal') AS o
                              WHERE NOT jsonb_path_exists(r.run,
                                            '$.measurements[*] ? (@.ordinal == $o)',
                                            jsonb_build_object('o', o)))
                 THEN 'samples has an ordinal that measurements has not' END) AS f (fault)
        WHERE f.fault IS NOT NULL ORDER BY r.n LIMIT 1) END
$$;

--
-- import_json
--
-- Writes as the owner of the tables, as probe() does: a role that may import needs no privileges
-- on the history.  The types and constraints of the tables say what a row may be.  A value of
-- jsonb takes up to a hundred times as much memory as its text.
--
CREATE FUNCTION sync_probe.import_json(document text)
RETURNS SETOF bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET timezone = 'UTC'
SET datestyle = 'ISO, YMD'
SET intervalstyle = 'postgres'
AS $$
DECLARE
    max_bytes CONSTANT bigint := 64 * 1024 * 1024;
    fault text;
    object jsonb;
    new_id bigint;
    belongs jsonb;
BEGIN
    IF octet_length(document) > max_bytes THEN
        RAISE EXCEPTION 'the document is larger than %', pg_size_pretty(max_bytes)
            USING ERRCODE = 'program_limit_exceeded', HINT = 'Export fewer runs at a time.';
    END IF;
    fault := sync_probe_internal.document_fault(document::jsonb);
    FOR object IN SELECT jsonb_array_elements(CASE WHEN fault IS NULL
                                                   THEN document::jsonb -> 'runs' END)
    LOOP
        new_id := nextval('sync_probe.runs_run_id_seq');
        belongs := jsonb_build_object('run_id', new_id);
        INSERT INTO sync_probe.runs
        SELECT (jsonb_populate_record(NULL::sync_probe.runs, object || belongs
                    || jsonb_build_object('imported_at', now(), 'usable_for_advice', false))).*;
        INSERT INTO sync_probe.measurements
        SELECT (jsonb_populate_record(x, belongs)).*
        FROM jsonb_populate_recordset(NULL::sync_probe.measurements, object -> 'measurements') AS x;
        INSERT INTO sync_probe_internal.samples
        SELECT (jsonb_populate_record(x, belongs)).*
        FROM jsonb_populate_recordset(NULL::sync_probe_internal.samples, object -> 'samples') AS x;
        INSERT INTO sync_probe.stream_seconds
        SELECT (jsonb_populate_record(x, belongs)).*
        FROM jsonb_populate_recordset(NULL::sync_probe.stream_seconds,
                                      object -> 'stream_seconds') AS x;
        RETURN NEXT new_id;
    END LOOP;
    IF fault IS NOT NULL THEN
        RAISE EXCEPTION 'cannot import the document: %', fault
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'Pass what sync_probe.export_json() of the same version returned.';
    END IF;
END
$$;

REVOKE ALL ON FUNCTION sync_probe.import_json FROM PUBLIC;

COMMENT ON FUNCTION sync_probe.import_json IS
  'Import all runs of a document of export_json(), or none: up to 1,000 runs and 64 MB. Returns '
  'their new numbers. No advice rests on them';
--
-- The style sheet of the report.  Contrast to the background: text at least 4.5, marks at least 3,
-- in both colour schemes.  A page on paper is light.
--
CREATE FUNCTION sync_probe_internal.html_style()
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $css$
SELECT $$
:root { color-scheme: light dark;
  --bg: #fdfdfc; --panel: #f4f4f1; --ink: #1c2024; --ink2: #4b535c; --ink3: #646d78;
  --rule: #d5d8dc; --grid: #e8eaec; --band: #e8eef4;
  --blue: #22609c; --red: #ad2a1d; --amber: #85590a; --green: #1f6a4a;
  --cur: #56616c; --oth: #7a8490 }
@media screen and (prefers-color-scheme: dark) { :root {
  --bg: #15181b; --panel: #1e2226; --ink: #e6e8ea; --ink2: #b3bac2; --ink3: #959ea8;
  --rule: #3a4149; --grid: #2a3036; --band: #27313c;
  --blue: #86b7e8; --red: #ff9388; --amber: #e3b768; --green: #7cc8a2;
  --cur: #a9b2bc; --oth: #7b8590 } }
* { box-sizing: border-box }
html { -webkit-text-size-adjust: 100% }
body { margin: 0; background: var(--bg); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue",
    "Liberation Sans", Arial, sans-serif;
  font-variant-numeric: tabular-nums lining-nums; overflow-wrap: break-word }
h1, h2, h3, p, dl, dd, ol, ul, figure, pre { margin: 0 }
a { color: var(--blue); text-underline-offset: .18em }
:focus-visible { outline: 2px solid var(--blue); outline-offset: 2px; border-radius: 2px }
.skip { position: absolute; left: -99rem }
.skip:focus { position: static }
.page { max-width: 74rem; margin: 0 auto; padding: 0 1rem 2rem }
.defs { position: absolute }

/* text */
h1 { font-size: 1.75rem; line-height: 1.18; font-weight: 650; letter-spacing: -.015em;
  text-wrap: balance }
h2 { font-size: 1.125rem; line-height: 1.3; font-weight: 650; text-wrap: balance }
h2 b { display: block; font-size: .8125rem; font-weight: 400; color: var(--ink3) }
h3 { font-size: .9375rem; line-height: 1.4; font-weight: 650 }
.panel { font-size: .8125rem; line-height: 1.5; font-weight: 600; margin-bottom: .35rem;
  white-space: nowrap; overflow: hidden; text-overflow: ellipsis }
code, pre, .m, .plot .k {
  font-family: ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace }
code, .m { font-size: .94em; overflow-wrap: anywhere }
.how, .sm, .key, figcaption, summary {
  font-size: .8125rem; line-height: 1.5; color: var(--ink2) }
.how { margin-top: .4rem; max-width: 64ch }
.kicker { font-size: .8125rem; color: var(--ink3); padding: 1.25rem 0 .9rem }
.lead { font-size: 1.0625rem; color: var(--ink2); margin-top: .6rem; max-width: 62ch }
.note { font-size: .875rem; color: var(--ink2); margin-top: 1.2rem; max-width: 76ch }
.blue { --c: var(--blue) } .green { --c: var(--green) } .amber { --c: var(--amber) }
.red { --c: var(--red) } .grey { --c: var(--ink3) }
.tag { color: var(--c); font-weight: 650 }
.from { font-size: .75rem; border: 1px solid var(--amber); color: var(--amber);
  border-radius: 2px; padding: 0 .3rem; white-space: nowrap }
pre { background: var(--panel); border-radius: 3px; padding: .45rem .7rem; margin-top: .65rem;
  font-size: .8125rem; line-height: 1.5; white-space: pre-wrap; overflow-wrap: anywhere;
  -webkit-user-select: all; user-select: all }
dt { font-size: .75rem; line-height: 1.45; color: var(--ink3) }
dd { font-size: .875rem; line-height: 1.4 }

/* head, contents, sections */
.glance { list-style: none; padding: 0; margin-top: 1.3rem; display: grid; gap: .7rem 1rem;
  grid-template-columns: repeat(auto-fill, minmax(7.6rem, 1fr));
  font-size: .8125rem; line-height: 1.45 }
.glance a { display: block; border-top: 2px solid var(--c); padding-top: .25rem;
  color: var(--ink2); text-decoration: none; overflow: hidden; text-overflow: ellipsis;
  white-space: nowrap }
.glance b { display: block; color: var(--c); font-weight: 650 }
.facts { display: grid; grid-template-columns: 1fr 1fr; gap: .7rem 1.5rem; margin-top: 1.4rem;
  padding-top: .8rem; border-top: 1px solid var(--rule) }
.facts > div, .figures > div { min-width: 0 }
nav { margin-top: .9rem }
nav ol { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: 0 1.3rem;
  font-size: .8125rem }
nav a { text-decoration: none; display: inline-block; padding: .25rem 0 }
section { padding-top: 2.4rem }
.body { margin-top: 1rem; min-width: 0 }
footer { margin-top: 3rem; border-top: 1px solid var(--rule); padding-top: .8rem }
footer p { max-width: 90ch }
footer p + p { margin-top: .4rem }

/* verdicts and findings */
.v { border-top: 2px solid var(--c); padding-top: .55rem; min-width: 0 }
.vh { display: flex; flex-wrap: wrap; justify-content: space-between; align-items: baseline;
  gap: .2rem .75rem }
.vh > * { min-width: 0; overflow-wrap: anywhere }
.vw { font-size: 1rem; line-height: 1.4 }
.big .vw { font-size: 1.375rem; line-height: 1.3; margin: .15rem 0 .1rem;
  letter-spacing: -.01em }
.why { font-size: .875rem; color: var(--ink2); margin-top: .2rem; max-width: 66ch }
.big .why { font-size: .9375rem; color: var(--ink) }
.figures { display: grid; grid-template-columns: 1fr 1fr; gap: .5rem 1.2rem;
  margin-top: .65rem }
.figures dd { font-size: .8125rem }
.pair { display: grid; gap: 1.7rem 2.2rem; margin-top: 1.9rem }
.fi { border-top: 1px solid var(--rule); padding: .65rem 0 .75rem }
.fi > * { min-width: 0 }
.sv { font-size: .8125rem; line-height: 1.7 }
.fi div p { font-size: .875rem; max-width: 80ch; overflow-wrap: anywhere }
.fi div p + p { color: var(--ink2) }
h3 .sm { font-weight: 400 }

/* figures: x in percent of the plot, y in pixels, so that text keeps its size */
figure + figure { margin-top: 1.8rem }
figure > h3 { margin-bottom: .6rem }
figcaption { margin-top: .45rem; max-width: 76ch }
.key { display: flex; flex-wrap: wrap; gap: .1rem 1.1rem; margin-bottom: .6rem }
.key svg { width: 14px; height: 12px; vertical-align: -1px; overflow: visible }
.panels { --least: 22rem; display: grid; gap: 1.1rem 1.5rem;
  grid-template-columns: repeat(auto-fit, minmax(min(var(--least), 100%), 1fr)) }
.panels > div { container-type: inline-size; min-width: 0 }
.plot { --l: 6.9rem; --r: 2.2rem; display: block; overflow: visible;
  margin: 0 var(--r) 0 var(--l); width: calc(100% - var(--l) - var(--r)) }
.intervals .plot { --r: 3.4rem }
.lines { --least: 15rem }
.lines .plot { --l: 3.4rem; --r: 1rem }
.wd { display: none }
@container (min-width: 34rem) { .intervals .plot { --r: 10rem } .wd { display: inline } }
.plot text { font-size: 12px; fill: var(--ink2) }
.plot .k { fill: var(--ink); text-anchor: end }
.plot .u { font-size: 11px; fill: var(--ink3); text-anchor: end }
.plot .t { fill: var(--ink3) }
.plot .e { text-anchor: end }
.plot .c { text-anchor: middle }
.plot .b { font-weight: 650; fill: var(--ink) }
.plot .b .t { font-weight: 400 }
.plot .bx { font-weight: 650; fill: var(--red) }
.plot .y, .plot .b { paint-order: stroke; stroke: var(--bg); stroke-width: 3px;
  stroke-linejoin: round }
.plot .on { fill: var(--bg); stroke: none }
.plot .oth .on { fill: #000 }
.cur { --m: var(--cur) } .rec { --m: var(--blue) } .oth { --m: var(--oth) }
.bad { --m: var(--red) }
.f { fill: var(--m) }
.h { fill: var(--bg); stroke: var(--m); stroke-width: 1.5 }
.l { stroke: var(--m); stroke-width: 1.75; fill: none }
.g { stroke: var(--grid) }
.z { stroke: var(--ink3) }
.band { fill: var(--band) }
.xm { stroke: var(--red); stroke-width: 2 }
.q9 { stroke: var(--ink2); stroke-dasharray: 2 2 }

/* tables */
details { margin-top: .6rem }
summary { color: var(--blue); cursor: pointer; width: fit-content }
.scroll { overflow-x: auto; margin-top: .4rem }
table { border-collapse: collapse; font-size: .75rem; line-height: 1.35; white-space: nowrap;
  text-align: right }
caption { text-align: left; color: var(--ink2); padding-bottom: .3rem }
th { font-weight: 500; color: var(--ink2); vertical-align: bottom }
tbody th { color: var(--ink); text-align: left }
th, td { padding: .2rem 0 .2rem .9rem }
tr > :first-child { padding-left: 0; text-align: left }
thead th { border-bottom: 1px solid var(--rule) }
tbody tr:nth-child(4n) > * { border-bottom: 1px solid var(--grid) }
.s { text-align: left }

@media (min-width: 40.01rem) {
  .facts { grid-template-columns: repeat(4, 1fr) }
  .big .figures { grid-template-columns: repeat(auto-fit, minmax(7.5rem, 1fr)) }
  .pair { grid-template-columns: 1fr 1fr }
  .fi { display: grid; grid-template-columns: 4.6rem 1fr } }
@media (min-width: 62rem) {
  .page { padding: 0 2rem 3rem }
  h1 { font-size: 2.25rem }
  .lead { font-size: 1.125rem }
  section { display: grid; grid-template-columns: 13.5rem minmax(0, 1fr); column-gap: 2.75rem;
    padding-top: 2rem; margin-top: 2.2rem; border-top: 1px solid var(--rule) }
  .hd { position: sticky; top: 1.2rem; align-self: start }
  .body { margin-top: .15rem }
  #numbers { display: block }
  #numbers .hd { position: static } }
@media print {
  @page { size: A4; margin: 14mm 14mm 16mm;
    @bottom-right { content: counter(page) " / " counter(pages); font: 8pt sans-serif } }
  * { -webkit-print-color-adjust: exact; print-color-adjust: exact }
  :root { --bg: #fff }
  body { font-size: 10.5pt }
  .page { padding: 0 }
  nav, .skip, .ft, details:not([open]) { display: none }
  .kicker { padding-top: 0 }
  section { padding-top: 1.5rem }
  .hd, h3, .panel, .key { break-after: avoid }
  .hd, figure, .v, .fi, tr { break-inside: avoid }
  .scroll { overflow: visible }
  table { font-size: 6.3pt; white-space: normal }
  thead th { overflow-wrap: anywhere }
  th, td { padding: .1rem 0 .1rem .45rem }
  a { color: inherit; text-decoration: none } }
$$
$css$;
--
-- HTML of the report
--
-- Arguments and table cells are plain text, which these functions escape.  Only arguments whose
-- names end in _html are HTML already.  All functions return HTML in ASCII; a character beyond
-- that is a reference: &micro; or &#181;.
--

--
-- Text in UTF-8 with references for what is not ASCII.  Controls become visible pictures.
-- Characters that HTML forbids, that set the direction of text, or that nobody sees become U+FFFD:
-- two names that differ would look the same.  Not those that Persian and emoji need (U+200C,
-- U+200D).
--
CREATE FUNCTION sync_probe_internal.html_references(utf8 bytea)
RETURNS text
LANGUAGE sql IMMUTABLE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
SELECT string_agg(CASE WHEN c.code BETWEEN 32 AND 126 OR c.code IN (9, 10)
                       THEN chr(c.code::integer)
                       ELSE format('&#%s;', CASE
           WHEN c.code < 32 THEN c.code + 9216      -- U+2400 is the first of the pictures
           WHEN c.code = 127 THEN 9249
           WHEN to_hex(c.code) ~ ('^([89].|ad|34f|61c|115f|1160|180e|200[bef]|202[a-e]|206.|3164|'
                                  'fd[de].|feff|ffa0|.*fff[ef]|e00[0-7].)$') THEN 65533
           ELSE c.code END) END, '' ORDER BY b.i)
FROM (SELECT i, get_byte(utf8, i) AS first FROM generate_series(0, length(utf8) - 1) AS i) AS b,
     LATERAL (SELECT CASE WHEN b.first < 128 THEN 0 WHEN b.first < 224 THEN 1
                          WHEN b.first < 240 THEN 2 ELSE 3 END) AS f (following),
     -- bits of the first byte, then six of each that follows
     LATERAL (SELECT (b.first & (ARRAY[127, 31, 15, 7])[f.following + 1]) << 6 * f.following
                     | coalesce(sum((get_byte(utf8, b.i + k) & 63) << 6 * (f.following - k)), 0)
              FROM generate_series(1, f.following) AS k) AS c (code)
WHERE b.first NOT BETWEEN 128 AND 191
$$;

--
-- Text as HTML, for elements and for attributes in quotes.  It is ASCII, which means the same in
-- every encoding of databases and clients.  What has no Unicode becomes U+FFFD.
--
CREATE FUNCTION sync_probe_internal.html_escape(plain text)
RETURNS text
LANGUAGE plpgsql STABLE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    html text := replace(replace(replace(replace(replace(
        plain, '&', '&amp;'), '<', '&lt;'), '>', '&gt;'), '"', '&quot;'), '''', '&#39;');
    result text := '';
    piece text;
BEGIN
    IF html !~ '[^\t\n -~]' THEN
        RETURN html;
    END IF;
    BEGIN
        RETURN sync_probe_internal.html_references(convert_to(html, 'UTF8'));
    EXCEPTION WHEN untranslatable_character OR character_not_in_repertoire THEN
        NULL; -- by pieces, then
    END;
    -- SQL_ASCII has bytes instead of characters: those that may be one in UTF-8 stay together
    FOR piece IN SELECT m[1] FROM regexp_matches(html, '[\xC2-\xDF][\x80-\xBF]|'
        '[\xE0-\xEF][\x80-\xBF]{2}|[\xF0-\xF4][\x80-\xBF]{3}|.', 'g') AS m
    LOOP
        BEGIN
            result := result || sync_probe_internal.html_references(convert_to(piece, 'UTF8'));
        EXCEPTION WHEN untranslatable_character OR character_not_in_repertoire THEN
            result := result || '&#65533;';
        END;
    END LOOP;
    RETURN result;
END
$$;

--
-- A sentence of this extension as HTML: escaped, with the signs that its messages write in
-- ASCII.  Not for names, which it could change.
--
CREATE FUNCTION sync_probe_internal.html_prose(plain text)
RETURNS text
LANGUAGE sql STABLE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
SELECT regexp_replace(regexp_replace(regexp_replace(
           sync_probe_internal.html_escape(plain),
           '(\d) (%|(?:ms|s|us)\M)', '\1&nbsp;\2', 'g'),
           '(\d&nbsp;|, |^| )us\M', '\1&micro;s', 'g'),
           '(^|[ (])-(\d)', '\1&minus;\2', 'g')
$$;

--
-- The class of the colour of a verdict, of a severity or of an answer whether syncs are
-- durable.
--
CREATE FUNCTION sync_probe_internal.html_class(word text)
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT CASE WHEN word = 'switch' THEN 'blue'
            WHEN word IN ('keep', 'yes', 'no_cache') THEN 'green'
            WHEN word IN ('undecided', 'outdated', 'warning', 'unknown') THEN 'amber'
            WHEN word IN ('unsafe', 'error', 'no') THEN 'red'
            ELSE 'grey' END
$$;

--
-- Such a word in its colour.
--
CREATE FUNCTION sync_probe_internal.html_tag(word text)
RETURNS text
LANGUAGE sql STABLE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
SELECT format('<b class="tag %s">%s</b>', sync_probe_internal.html_class(word),
              sync_probe_internal.html_escape(word))
$$;

--
-- Commands, one in each line, to be selected by one click.
--
CREATE FUNCTION sync_probe_internal.html_code(commands text[])
RETURNS text
LANGUAGE sql STABLE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
SELECT '<pre>' || string_agg(sync_probe_internal.html_escape(c.command) || ';', E'\n'
                             ORDER BY c.n) || '</pre>'
FROM unnest(commands) WITH ORDINALITY AS c (command, n)
WHERE c.command IS NOT NULL
$$;

--
-- At most so many characters of a text; what is cut off is an ellipsis.
--
CREATE FUNCTION sync_probe_internal.clipped(plain text, characters integer)
RETURNS text
LANGUAGE sql STABLE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
SELECT CASE WHEN length(plain) <= characters THEN plain
            ELSE left(plain, characters - 3) || '...' END
$$;

--
-- A number in as many digits as it is worth, in plain text: 0.012, 0.87, 9.94, 68.4, 1,896.  Null
-- if it is unknown, or not a number.
--
CREATE FUNCTION sync_probe_internal.html_number(number double precision)
RETURNS text
LANGUAGE sql IMMUTABLE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
SELECT CASE WHEN number IN ('NaN', 'Infinity', '-Infinity') THEN NULL
            WHEN abs(number) >= 1e15 THEN ltrim(to_char(number, '9.9EEEE'))
            WHEN number = round(number) OR abs(number) >= 99.95
            THEN to_char(round(number::numeric), 'FM999,999,999,999,999,990')
            WHEN abs(number) >= 9.995 THEN to_char(round(number::numeric, 1), 'FM90.0')
            WHEN abs(number) >= 0.0995 THEN to_char(round(number::numeric, 2), 'FM0.00')
            ELSE to_char(round(number::numeric, 3), 'FM0.000') END
$$;

--
-- The same in at most six characters, for a figure, where all numbers are measured ones: 1.00,
-- 1,896, 18.9k, 1.90M.
--
CREATE FUNCTION sync_probe_internal.html_short(number double precision)
RETURNS text
LANGUAGE sql IMMUTABLE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
SELECT CASE WHEN number <> 0 AND number = round(number) AND abs(number) < 10
            THEN to_char(number, 'FM0.00')
            WHEN abs(number) < 9999.5 THEN sync_probe_internal.html_number(number)
            WHEN abs(number) < 999500 THEN sync_probe_internal.html_number(number / 1e3) || 'k'
            WHEN abs(number) < 999.5e6 THEN sync_probe_internal.html_number(number / 1e6) || 'M'
            WHEN abs(number) < 'Infinity' THEN ltrim(to_char(number, '9EEEE')) END
$$;

--
-- The label of a tick, which is a round number, in at most five characters from 0.001 up.
--
CREATE FUNCTION sync_probe_internal.html_tick(tick double precision)
RETURNS text
LANGUAGE sql IMMUTABLE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
SELECT CASE WHEN tick < 1e4 THEN tick::text ELSE sync_probe_internal.html_short(tick) END
$$;

--
-- A time span in plain text, with the unit that suits it: 289 us, 5 ms, 30 s.
--
CREATE FUNCTION sync_probe_internal.html_duration(microseconds double precision)
RETURNS text
LANGUAGE sql IMMUTABLE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
SELECT CASE WHEN abs(microseconds) < 999.5
            THEN sync_probe_internal.html_number(microseconds) || ' us'
            WHEN abs(microseconds) < 999950
            THEN trim_scale(round((microseconds / 1e3)::numeric, 2)) || ' ms'
            WHEN microseconds < 'Infinity'
            THEN trim_scale(round((microseconds / 1e6)::numeric, 1)) || ' s' END
$$;

CREATE FUNCTION sync_probe_internal.html_duration(span interval)
RETURNS text
LANGUAGE sql IMMUTABLE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
SELECT sync_probe_internal.html_duration((extract(epoch FROM span) * 1e6)::float8)
$$;

--
-- A moment in plain text, in UTC whatever the session's time zone is.
--
CREATE FUNCTION sync_probe_internal.html_time(moment timestamptz)
RETURNS text
LANGUAGE sql IMMUTABLE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
SELECT CASE WHEN isfinite(moment)
            THEN to_char(moment AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"') END
$$;

--
-- A bound of the loss, in plain text: how much longer a flush may take.
--
CREATE FUNCTION sync_probe_internal.html_bound(max_regret double precision)
RETURNS text
LANGUAGE sql IMMUTABLE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
SELECT CASE WHEN max_regret IN ('NaN', 'Infinity', '-Infinity') THEN NULL
            WHEN max_regret <= 0 THEN 'no longer'
            WHEN max_regret < 0.01 THEN 'less than 1 % longer'
            ELSE format('at most %s %% longer', ceil((100 * max_regret)::numeric)) END
$$;

--
-- A table: its caption, and its rows, an array of objects with the names and values of columns.  A
-- column without any value is left out.  The first names the row.  A null, and a number that is
-- none, is a dash.  A text is cut after 200 characters.
--
CREATE FUNCTION sync_probe_internal.html_table(caption text, cells json)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
WITH cell AS (
    SELECT r.n AS row, c.name, c.n AS place, json_typeof(c.value) = 'number' AS is_number,
           CASE WHEN c.value #>> '{}' NOT IN ('NaN', 'Infinity', '-Infinity')
                THEN c.value #>> '{}' END AS plain
    FROM json_array_elements(cells) WITH ORDINALITY AS r (value, n),
         json_each(r.value) WITH ORDINALITY AS c (name, value, n)
), head AS (
    SELECT place, name, place = min(place) OVER () AS is_first,
           CASE WHEN NOT bool_or(is_number) THEN ' class=s' END AS class
    FROM cell WHERE plain IS NOT NULL GROUP BY place, name
)
SELECT format('<div class=scroll tabindex=0 role=region aria-label="%s"><table>'
              '<caption>%s</caption><thead><tr>%s<tbody>%s</table></div>',
              sync_probe_internal.html_escape(caption), sync_probe_internal.html_prose(caption),
              (SELECT string_agg(format('<th scope=col%s>%s', h.class,
                                        sync_probe_internal.html_prose(h.name)), '' ORDER BY place)
               FROM head AS h),
              (SELECT string_agg(html, '' ORDER BY row)
               FROM (SELECT c.row, E'\n<tr>' || string_agg(concat(
                         CASE WHEN h.is_first THEN '<th scope=row' ELSE '<td' END, h.class, '>',
                         coalesce(CASE
                             WHEN c.is_number
                             THEN replace(sync_probe_internal.html_number(c.plain::float8),
                                          '-', '&minus;')
                             ELSE sync_probe_internal.html_escape(
                                 sync_probe_internal.clipped(c.plain, 200)) END,
                             '&ndash;')), '' ORDER BY c.place) AS html
                     FROM cell AS c JOIN head AS h USING (place) GROUP BY c.row) AS line))
$$;
--
-- Figures of the report
--
-- A plot has no viewBox: x is in percent of its width, y in pixels, and names stand left of 0 %.
-- So text keeps its size from a phone to paper.  Labels cannot touch, whatever was measured:
-- numbers are short, ticks far apart, and names and units stand in the margin.  Colours are
-- classes: cur (current), rec (recommended), oth (other), bad (syncs do not reach the device).  A
-- colour never says something that no word says.
--

--
-- A mark of a figure: the title of its plot; the name of its row or line, which stands once where
-- marks share it, and a note below; its colour and shape; its number, with an interval or without;
-- where it is in time, as a share of the width from 0 to 1; words in place of the number.  Shapes
-- are dot (if null), ring, cross and, across a plot of lines, line; of bars box (if null) and
-- frame.
--
CREATE TYPE sync_probe_internal.mark AS (
    panel text,
    name text,
    note text,
    colour text,
    shape text,
    number double precision,
    low double precision,
    high double precision,
    at double precision,
    words text);

--
-- What the query of a section returns, one row for each of its figures; it may leave columns out.
-- kind: intervals, bars or lines.  marks: an array of rows of type mark.  All plots have one axis,
-- in that unit; with a null unit each has its own.  Unit "times": ratios to the row that is
-- current.  key: pairs of colour and shape, and their meaning.  cells: the rows of the table below.
-- html: the whole content, in place of a figure.
--
CREATE TYPE sync_probe_internal.figure AS (
    kind text,
    heading text,
    unit text,
    marks sync_probe_internal.mark[],
    key text[],
    caption text,
    cells json,
    html text);

--
-- An axis: its ends, whether it is logarithmic, its ticks, and its unit.
--
CREATE TYPE sync_probe_internal.axis AS (
    low double precision,
    high double precision,
    logarithmic boolean,
    ticks double precision[],
    unit text);

--
-- An axis that holds two numbers, with ticks at least 20 percent of its length apart.  A linear one
-- begins at 0.  One of ratios holds 1 and 15 percent to each side of it, and ends at 1/20 and 20,
-- another logarithmic one at 0.01: beyond that a mark is an arrow.  Null if no axis holds the
-- numbers.
--
CREATE FUNCTION sync_probe_internal.html_axis(
    lowest double precision,
    highest double precision,
    unit text,
    logarithmic boolean)
RETURNS sync_probe_internal.axis
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    low numeric := 0;
    high numeric;
    least_step numeric;
    factors numeric[];
    ticks float8[];
BEGIN
    IF unit = 'times' THEN
        low := greatest(least(lowest / 1.03, 0.87), 0.045);
        high := least(greatest(highest * 1.03, 1.15), 22);
    ELSIF NOT logarithmic THEN
        high := CASE WHEN highest > 0 AND highest < 1e12
                     THEN greatest(highest * 1.04, 0.01) ELSE 1 END;
    ELSIF lowest > 0 AND highest >= lowest AND highest < 1e12 THEN
        low := greatest(lowest, 0.01) / 1.15;
        high := greatest(highest * 1.15, low * 2);
    ELSE
        RETURN NULL;
    END IF;
    least_step := 0.2 * CASE WHEN logarithmic THEN log(high / low) ELSE high END;
    -- the finest of these that are so far apart, in a decade of a logarithmic axis
    factors := CASE WHEN NOT logarithmic THEN '{1,2,5,10}'
                    WHEN least_step > 0.477 THEN '{1}' -- or less often than in each decade
                    WHEN least_step > 0.3 THEN '{1,3}'
                    WHEN least_step > 0.176 THEN '{1,2,5}'
                    WHEN least_step > 0.096 THEN '{1,1.5,2.5,4,6}'
                    WHEN least_step > 0.041 THEN '{1,1.25,1.6,2,2.5,3.2,4,5,6.3,8}'
                    ELSE '{1,1.1,1.25,1.4,1.6,1.8,2,2.25,2.5,2.8,3.2,3.6,4,4.5,5,5.6,6.3,7,8,9}'
                    END;
    IF NOT logarithmic THEN
        least_step := min(s.step) FROM unnest(factors) AS f,
            LATERAL (SELECT f * 10 ^ floor(log(least_step))) AS s (step) WHERE s.step >= least_step;
        ticks := ARRAY(SELECT least_step * n
                       FROM generate_series(0, floor(high / least_step)) AS n);
    ELSE
        ticks := ARRAY(SELECT t.tick
                       FROM generate_series(floor(log(low)), floor(log(high)),
                                            ceil(least_step)) AS d,
                            unnest(factors) AS f, LATERAL (SELECT f * 10 ^ d) AS t (tick)
                       WHERE t.tick BETWEEN low AND high ORDER BY t.tick);
    END IF;
    RETURN ROW(low, high, logarithmic, ticks, unit)::sync_probe_internal.axis;
END
$$;

--
-- A plot: its height in pixels, and its content.
--
CREATE TYPE sync_probe_internal.plot AS (height integer, html text);

--
-- Where a number is on an axis, in percent from its low end.  What is beyond an end is at it.
-- Null if the number is unknown.
--
CREATE FUNCTION sync_probe_internal.html_at(
    axis sync_probe_internal.axis,
    number double precision)
RETURNS numeric
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT CASE WHEN number = 'NaN' OR axis.low IS NULL THEN NULL
            WHEN number <= axis.low THEN 0
            WHEN number >= axis.high THEN 100
            ELSE trim_scale(round((100 * CASE
                WHEN axis.logarithmic THEN ln(number / axis.low) / ln(axis.high / axis.low)
                ELSE (number - axis.low) / (axis.high - axis.low) END)::numeric, 1)) END
$$;

--
-- Vertical lines at the ticks, numbers below them, and the unit where the names of rows are.
--
CREATE FUNCTION sync_probe_internal.html_grid(
    axis sync_probe_internal.axis,
    top integer,
    bottom integer)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT concat(string_agg(format(
                  '<line class=%1$s x1=%2$s%% x2=%2$s%% y1=%3$s y2=%4$s />'
                  '<text class="t c" x=%2$s%% y=%5$s>%6$s</text>',
                  CASE WHEN tick = 0 THEN 'z' ELSE 'g' END, sync_probe_internal.html_at(axis, tick),
                  top, bottom, bottom + 15, sync_probe_internal.html_tick(tick)), ''),
              format('<text class="t e" x=-24 y=%s>%s</text>', bottom + 15,
                     CASE axis.unit WHEN 'times' THEN '&times;'
                                    ELSE sync_probe_internal.html_prose(axis.unit) END))
FROM unnest(axis.ticks) AS tick
$$;

--
-- The name of a row left of the plot, with its baseline at y, and a note below.
--
CREATE FUNCTION sync_probe_internal.html_row_name(y bigint, name text, note text)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT concat(format('<text class=k x=-10 y=%s>%s</text>', y, sync_probe_internal.html_escape(
                  CASE WHEN length(name) > 14 THEN left(name, 12) || '..' ELSE name END)),
              format('<text class=u x=-10 y=%s>', y + 15)
                  || sync_probe_internal.html_escape(nullif(note, '')) || '</text>')
$$;

--
-- Numbers with their intervals, one below the other.  Ratios have the
-- band of the margin, a line at 1, and what is better to the right.  A number beyond the axis is an
-- arrow at its end.
--
CREATE FUNCTION sync_probe_internal.html_intervals(
    marks sync_probe_internal.mark[],
    axis sync_probe_internal.axis)
RETURNS sync_probe_internal.plot
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
WITH line AS (
    -- 18 pixels a line, and 12 more where another row begins
    SELECT m.*, 8 + 18 * m.ordinality + 12 * count(*) FILTER (WHERE m.starts) OVER w AS y,
           sync_probe_internal.html_at(axis, m.number) AS x,
           CASE WHEN axis.unit = 'times' THEN '&times;' END AS sign
    FROM (SELECT m.*, m.name IS DISTINCT FROM lag(m.name) OVER (ORDER BY m.ordinality) AS starts
          FROM unnest(marks) WITH ORDINALITY AS m) AS m
    WINDOW w AS (ORDER BY m.ordinality)
), frame AS (
    SELECT max(y)::integer + 20 AS bottom, sync_probe_internal.html_at(axis, 1) AS one,
           sync_probe_internal.html_at(axis, 1 / (1 + margin)) AS low,
           sync_probe_internal.html_at(axis, 1 + margin) AS high
    FROM line, CAST(current_setting('pg_sync_probe.margin') AS float8) AS margin
    GROUP BY margin
)
SELECT f.bottom + 22, concat(
    CASE WHEN axis.unit = 'times'
         THEN format('<rect class=band x=%s%% width=%s%% y=24 height=%s />', f.low, f.high - f.low,
                     f.bottom - 24) END,
    sync_probe_internal.html_grid(axis, 24, f.bottom),
    CASE WHEN axis.unit = 'times'
         THEN format('<line class=z x1=%1$s%% x2=%1$s%% y1=24 y2=%2$s />'
                     '<text class="t e" x=%1$s%% dx=-14 y=14>&larr; worse</text>'
                     '<text class=t x=%1$s%% dx=14 y=14>better &rarr;</text>', f.one, f.bottom) END,
    string_agg(concat(
        format('<g class=%s>', coalesce(l.colour, 'oth')),
        CASE WHEN l.starts THEN sync_probe_internal.html_row_name(l.y + 4, l.name, l.note) END,
        CASE WHEN l.low < l.high
             THEN format('<line class=l x1=%s%% x2=%s%% y1=%s y2=%3$s />',
                         sync_probe_internal.html_at(axis, l.low),
                         sync_probe_internal.html_at(axis, l.high), l.y) END,
        CASE WHEN l.number > axis.high
             THEN format('<text class="e bx" x=100%% y=%s>&rsaquo;</text>', l.y + 4)
             WHEN l.number < axis.low
             THEN format('<text class=bx x=0 y=%s>&lsaquo;</text>', l.y + 4)
             ELSE format('<circle class=%s cx=%s%% cy=%s r=4.5 />',
                         CASE l.shape WHEN 'ring' THEN 'h' ELSE 'f' END, l.x, l.y) END,
        format('<text class=%s x=100%% dx=12 y=%s>%s%s',
               CASE l.shape WHEN 'ring' THEN 't' ELSE 'b' END, l.y + 4,
               sync_probe_internal.html_short(l.number), l.sign),
        '<tspan class="wd t"> (' || sync_probe_internal.html_short(l.low) || ' to '
            || sync_probe_internal.html_short(l.high) || ')</tspan>',
        '</text></g>'), '' ORDER BY l.ordinality))
FROM frame AS f, line AS l
GROUP BY f.bottom, f.low, f.one, f.high
$$;

--
-- A bar of 14 pixels for each mark.  The number, or the words where
-- it is unknown, stand behind a short bar and in a long one.
--
CREATE FUNCTION sync_probe_internal.html_bars(
    marks sync_probe_internal.mark[],
    axis sync_probe_internal.axis)
RETURNS sync_probe_internal.plot
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT 26 * cardinality(marks) + 22, concat(
    sync_probe_internal.html_grid(axis, 0, 26 * cardinality(marks)),
    string_agg(concat(
        format('<g class=%s>', coalesce(m.colour, 'oth')),
        sync_probe_internal.html_row_name(y, m.name, NULL),
        CASE WHEN x > 0 THEN format('<rect class=%s width=%s%% y=%s height=14 />',
                                    CASE m.shape WHEN 'frame' THEN 'h' ELSE 'f' END, x, y - 11) END,
        format('<text class="%s" x=%s%% dx=%s y=%s>',
               CASE WHEN NOT x > 60 THEN 'y' WHEN m.shape = 'frame' THEN 'e' ELSE 'e on' END,
               x, CASE WHEN x > 60 THEN -5 ELSE 5 END, y),
        sync_probe_internal.html_escape(
            coalesce(sync_probe_internal.html_short(m.number),
                     sync_probe_internal.clipped(m.words, 16), 'unknown')),
        '</text></g>'), '' ORDER BY m.ordinality))
FROM unnest(marks) WITH ORDINALITY AS m,
     LATERAL (SELECT coalesce(sync_probe_internal.html_at(axis, m.number), 0),
                     26 * m.ordinality - 9) AS at (x, y)
$$;

--
-- Numbers over time, in a box of 200 pixels.  A line for each name is
-- broken where the note changes or a number is unknown.  A mark of shape line is a dashed line
-- across, with its words above, unless the one before is too near.  Below stand the words of the
-- first and the last mark that have a number.
--
CREATE FUNCTION sync_probe_internal.html_lines(
    marks sync_probe_internal.mark[],
    axis sync_probe_internal.axis)
RETURNS sync_probe_internal.plot
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
WITH point AS (
    SELECT m.*, round((100 * m.at)::numeric, 1) AS x,
           round(220 - 1.9 * sync_probe_internal.html_at(axis, m.number)) AS y
    FROM unnest(marks) WITH ORDINALITY AS m
), joined AS (
    SELECT p.*, lag(x) OVER w AS old_x, lag(y) OVER w AS old_y,
           note IS NOT DISTINCT FROM lag(note) OVER w AS joins
    FROM point AS p WHERE p.shape IS DISTINCT FROM 'line'
    WINDOW w AS (PARTITION BY name ORDER BY at)
)
SELECT 244, concat(
    (SELECT string_agg(format('<line class=g x1=0%% x2=100%% y1=%s y2=%1$s />'
                              '<text class="t e" x=-8 y=%s>%s</text>', y, y + 4,
                              sync_probe_internal.html_tick(tick)), '')
     FROM unnest(axis.ticks) AS tick,
          LATERAL (SELECT round(220 - 1.9 * sync_probe_internal.html_at(axis, tick))) AS t (y)),
    format('<text class="t e" x=-8 y=12>%s</text>', sync_probe_internal.html_prose(axis.unit)),
    (SELECT string_agg(concat(
         format('<line class=q9 x1=%s%% x2=%1$s%% y1=26 y2=220 />', p.x),
         CASE WHEN p.x - p.old_x < 7 THEN NULL
              ELSE format('<text class="t c" x=%s%% y=22>%s</text>', p.x,
                          sync_probe_internal.html_escape(p.words)) END), '' ORDER BY p.x)
     FROM (SELECT p.*, lag(p.x) OVER (ORDER BY p.x) AS old_x FROM point AS p
           WHERE p.shape = 'line') AS p),
    (SELECT string_agg(concat(
                format('<g class=%s>', coalesce(j.colour, 'oth')),
                CASE WHEN j.joins AND j.old_y IS NOT NULL
                     THEN format('<line class=l x1=%s%% x2=%s%% y1=%s y2=%s />', j.old_x, j.x,
                                 j.old_y, j.y) END,
                CASE WHEN j.shape = 'cross'
                     THEN format('<use href=#cross class=xm x=%s%% y=%s />', j.x, j.y)
                     ELSE format('<circle class=%s cx=%s%% cy=%s r=3 />',
                                 CASE j.shape WHEN 'ring' THEN 'h' ELSE 'f' END, j.x, j.y) END,
                '</g>'), '' ORDER BY j.ordinality) FROM joined AS j WHERE j.y IS NOT NULL),
    (SELECT format('<text class=t x=0%% y=238>%s</text><text class="t e" x=100%% y=238>%s</text>',
                   sync_probe_internal.html_escape((array_agg(j.words ORDER BY j.at))[1]),
                   sync_probe_internal.html_escape((array_agg(j.words ORDER BY j.at DESC))[1]))
     FROM joined AS j))
$$;

--
-- A figure of a section with that title: heading, key to its shapes, plots, caption, and a table.
-- What a plot shows is read aloud from its marks.  Null if nothing can be drawn.
--
CREATE FUNCTION sync_probe_internal.html_figure(
    id text,
    section text,
    figure sync_probe_internal.figure)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
WITH panel AS (
    SELECT m.panel AS title, row_number() OVER (ORDER BY min(i)) AS n,
           array_agg(figure.marks[i] ORDER BY i) AS marks,
           min(least(m.number, m.low)) FILTER (WHERE b.counts) AS low,
           max(greatest(m.number, m.high)) FILTER (WHERE b.counts) AS high,
           string_agg(concat_ws(' ', left(m.name, 60),
                                sync_probe_internal.html_short(m.number), left(m.words, 60),
                                '(' || sync_probe_internal.html_short(m.low) || ' to '
                                    || sync_probe_internal.html_short(m.high) || ')'),
                      '; ' ORDER BY i) FILTER (WHERE i <= 60) AS words
    FROM generate_subscripts(figure.marks, 1) AS i, LATERAL (SELECT (figure.marks[i]).*) AS m,
         LATERAL (SELECT greatest(m.number, m.high) < 1e12 AND least(m.number, m.low) > CASE
                             figure.kind WHEN 'bars' THEN '-Infinity' ELSE 0::float8 END)
             AS b (counts)
    GROUP BY m.panel
), drawn AS (
    SELECT p.*, sync_probe_internal.html_axis(min(p.low) OVER g, max(p.high) OVER g, figure.unit,
                                              figure.kind <> 'bars') AS axis
    FROM panel AS p
    WINDOW g AS (PARTITION BY CASE WHEN figure.unit IS NULL THEN p.n END)
), plot AS (
    SELECT string_agg(concat(
               '<div>', '<p class=panel>' || sync_probe_internal.html_escape(d.title) || '</p>',
               format('<svg class=plot role=img aria-labelledby="%1$s-t %1$s-d" height=%2$s>'
                      '<title id=%1$s-t>%3$s</title><desc id=%1$s-d>%4$s</desc>%5$s</svg>',
                      id || '-' || d.n, k.height,
                      sync_probe_internal.html_prose(concat_ws(', ', section, figure.heading,
                                                               d.title)),
                      coalesce(sync_probe_internal.html_prose(d.words), 'nothing'), k.html),
               E'</div>\n'), '' ORDER BY d.n) AS html
    FROM drawn AS d,
         LATERAL unnest(ARRAY[CASE figure.kind
             WHEN 'intervals' THEN sync_probe_internal.html_intervals(d.marks, d.axis)
             WHEN 'bars' THEN sync_probe_internal.html_bars(d.marks, d.axis)
             WHEN 'lines' THEN sync_probe_internal.html_lines(d.marks, d.axis) END]) AS k
    WHERE (d.axis).low IS NOT NULL
)
SELECT coalesce(figure.html, concat(
    '<figure><h3>' || sync_probe_internal.html_prose(figure.heading) || '</h3>', '<p class=key>',
    (SELECT string_agg(format('<span><svg aria-hidden=true class=%s>%s</svg> %s</span>',
                split_part(figure.key[i], ' ', 1), CASE split_part(figure.key[i], ' ', 2)
                    WHEN 'dot' THEN '<circle class=f cx=50% cy=6 r=4.5 />'
                    WHEN 'ring' THEN '<circle class=h cx=50% cy=6 r=4 />'
                    WHEN 'cross' THEN '<use href=#cross class=xm x=50% y=6 />'
                    WHEN 'box' THEN '<rect class=f width=100% y=1 height=10 />'
                    WHEN 'frame' THEN '<rect class=h width=100% y=1 height=10 />'
                    WHEN 'band' THEN '<rect class=band width=100% height=12 />' END,
                sync_probe_internal.html_prose(figure.key[i + 1])), '' ORDER BY i)
     FROM generate_series(1, cardinality(figure.key), 2) AS i),
    '</p>', format('<div class="panels %s">', figure.kind), p.html, '</div>',
    '<figcaption>' || sync_probe_internal.html_prose(figure.caption) || '</figcaption>',
    '<details class=ft><summary>Show as a table</summary>',
    sync_probe_internal.html_table(concat_ws(', ', section, figure.heading), figure.cells),
    E'</details></figure>\n'))
FROM plot AS p
WHERE coalesce(figure.html, p.html) IS NOT NULL
$$;
--
-- What the sections of the report are made from, read once.  chosen: the caller named the runs;
-- otherwise they are the newest runs of this server.  more: without such a choice, earlier runs of
-- pg_wal, and the newest runs of other suites.  paths: whether the page may show where things are;
-- if not, they are left out of this data already.
--
CREATE TYPE sync_probe_internal.report_data AS (
    chosen boolean,
    paths boolean,
    places sync_probe.locations[],
    runs sync_probe.runs[],
    more sync_probe.runs[],
    advice sync_probe.recommendation_details[],
    findings sync_probe.findings[]);

--
-- What tells where the data are: directories, mount points, backing files, ZFS datasets and
-- pools, and names of hosts.  The longest come first.
--
CREATE FUNCTION sync_probe_internal.secrets(data sync_probe_internal.report_data)
RETURNS text[]
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT coalesce(array_agg(s.secret ORDER BY length(s.secret) DESC, s.secret), '{}')
FROM (SELECT v.secret
      FROM unnest(data.places) AS p, LATERAL (VALUES (p.directory), (p.mount_point)) AS v (secret)
      UNION SELECT v.secret
            FROM unnest(data.runs || data.more) AS r,
                 LATERAL (VALUES (r.directory), (r.host), (r.storage ->> 'mount_point'),
                                 (r.storage ->> 'backing_file'), (r.storage #>> '{zfs,dataset}'),
                                 (r.storage #>> '{zfs,pool}')) AS v (secret)
      UNION SELECT host FROM sync_probe_internal.this_server()
      UNION SELECT current_setting('data_directory', true)) AS s (secret)
WHERE s.secret NOT IN ('', '/')
$$;

--
-- A text with "(path)" instead of such names, and of whatever else looks like an absolute path
-- outside of /dev, /proc and /sys.
--
CREATE FUNCTION sync_probe_internal.without_paths(plain text, secrets text[])
RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    secret text;
BEGIN
    FOREACH secret IN ARRAY secrets LOOP
        IF strpos(plain, secret) > 0 THEN
            plain := regexp_replace(plain, '(?<!\w)' || regexp_replace(secret, '(\W)', '\\\1', 'g')
                                           || '(?!\w)', '(path)', 'g');
        END IF;
    END LOOP;
    RETURN regexp_replace(plain, '(?<![\w/)])/(?!(?:sys|proc|dev)/)[^\s"'',;:()]+', '(path)', 'g');
END
$$;

--
-- The data without what tells where things are, as JSON.  is_prose: texts in it are free text, in
-- which a path or the name of a host may stand; all others are names of this extension, or names
-- that users gave to tablespaces to know them again.
--
CREATE FUNCTION sync_probe_internal.data_without_paths(
    data jsonb,
    secrets text[],
    is_prose boolean DEFAULT false)
RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN CASE
        WHEN jsonb_typeof(data) = 'string' AND is_prose
        THEN to_jsonb(sync_probe_internal.without_paths(data #>> '{}', secrets))
        WHEN jsonb_typeof(data) = 'array'
        THEN (SELECT coalesce(jsonb_agg(sync_probe_internal.data_without_paths(
                                            a.value, secrets, is_prose) ORDER BY a.n), '[]')
              FROM jsonb_array_elements(data) WITH ORDINALITY AS a (value, n))
        WHEN jsonb_typeof(data) = 'object'
        THEN (SELECT coalesce(jsonb_object_agg(o.key, CASE
                         WHEN o.key IN ('directory', 'mount_point', 'host') THEN 'null'
                         ELSE sync_probe_internal.data_without_paths(o.value, secrets,
                             is_prose OR o.key IN ('label', 'reason', 'message', 'hint', 'commands',
                                                   'storage', 'mount_options', 'evidence')) END),
                         '{}')
              FROM jsonb_each(data) AS o)
        ELSE data END;
END
$$;

--
-- Runs of this cluster beside those that its advice rests on: the newest 60 of pg_wal by the wal
-- suite, as in history(), and the newest of each other suite, setting and location.
--
CREATE FUNCTION sync_probe_internal.report_more()
RETURNS sync_probe.runs[]
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT array_agg(m.run ORDER BY m.run_id DESC)
FROM sync_probe_internal.this_server() AS s, LATERAL (
      SELECT * FROM (
          SELECT r AS run, r.run_id
          FROM sync_probe.runs AS r
          WHERE r.suite = 'wal' AND r.location = 'pg_wal' AND r.imported_at IS NULL
            AND r.system_identifier = s.system_identifier
          ORDER BY r.run_id + 0 DESC
          LIMIT 60) AS history
      UNION ALL
      SELECT n.run, n.run_id
      FROM (SELECT DISTINCT ON (r.suite, r.location, r.setting, r.workload IS NULL)
                   r AS run, r.run_id
            FROM sync_probe.runs AS r
            WHERE r.suite <> 'wal' AND r.imported_at IS NULL
              AND r.system_identifier = s.system_identifier
            ORDER BY r.suite, r.location, r.setting, r.workload IS NULL, r.run_id DESC) AS n
     ) AS m
$$;

--
-- Where a run comes from, if not from this server: then nothing follows from it for this one.
-- Without paths the host of this server's runs is null.
--
CREATE FUNCTION sync_probe_internal.report_origin(run sync_probe.runs)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT CASE WHEN run.imported_at IS NOT NULL THEN 'imported'
            WHEN run.system_identifier IS DISTINCT FROM s.system_identifier
                 OR run.host <> s.host THEN 'another server' END
FROM sync_probe_internal.this_server() AS s
$$;

--
-- The verdict of one run as it was stored, with the names of recommendation_details; no row for
-- a run without one.  It has no commands: what this server needs now is in recommendation_details.
--
CREATE FUNCTION sync_probe_internal.report_verdict(run sync_probe.runs)
RETURNS SETOF jsonb
LANGUAGE sql STABLE
ROWS 1
SET search_path = pg_catalog, pg_temp
AS $$
SELECT jsonb_build_object(
    'location', run.location, 'verdict', run.verdict,
    'current_method', CASE WHEN run.suite = 'wal' THEN run.wal_sync_method
                           WHEN run.setting = 'wal_sync_method' THEN m.method
                           ELSE run.setting || ' = ' || m.method END,
    'recommended_method', run.recommended_value, 'best_method', run.best_value,
    'max_regret', run.max_regret, 'deciding_test', run.deciding_test, 'flush_us', run.flush_us,
    'durable', run.durable, 'basis', run.suite, 'run_id', run.run_id, 'reason', run.reason)
FROM (SELECT min(m.method) FILTER (WHERE m.choice = 'current') AS method
      FROM sync_probe.measurements AS m
      WHERE m.run_id = run.run_id AND m.test = run.setting) AS m
WHERE run.suite IN ('wal', 'trial', 'commit') AND run.verdict IS NOT NULL
$$;

--
-- The data of given runs: the verdicts of the first 100, and the findings that rest on one of them.
-- With null that of this server: its advice, the runs that this rests on, both with pg_wal before
-- the worst verdicts, and all findings.
--
CREATE FUNCTION sync_probe_internal.report_data(run_ids bigint[], paths boolean)
RETURNS sync_probe_internal.report_data
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT ROW(c.chosen, paths,
    ARRAY(SELECT l FROM sync_probe.locations AS l ORDER BY l.name <> 'pg_wal', l.name), r.runs,
    CASE WHEN NOT c.chosen THEN sync_probe_internal.report_more() END,
    CASE WHEN c.chosen
         THEN ARRAY(SELECT jsonb_populate_record(NULL::sync_probe.recommendation_details, v)
                    FROM generate_subscripts(r.runs, 1) AS i,
                         LATERAL sync_probe_internal.report_verdict(r.runs[i]) AS v
                    WHERE i <= 100
                    ORDER BY i)
         ELSE ARRAY(SELECT d FROM sync_probe.recommendation_details AS d
                    ORDER BY d.location <> 'pg_wal', array_position(
                        '{unsafe,switch,undecided}', d.verdict), d.location) END,
    ARRAY(SELECT f FROM sync_probe.findings AS f
          WHERE NOT c.chosen OR (f.evidence ->> 'run_id')::bigint = ANY (run_ids)
          ORDER BY array_position('{error,warning,info}', f.severity),
                   f.location <> 'pg_wal', f.location, f.code,
                       f.message))::sync_probe_internal.report_data
FROM (SELECT run_ids IS NOT NULL) AS c (chosen),
     LATERAL (SELECT CASE WHEN c.chosen
                          THEN ARRAY(SELECT r FROM sync_probe.runs AS r
                                     WHERE r.run_id = ANY (run_ids)
                                     ORDER BY array_position(run_ids, r.run_id))
                          ELSE ARRAY(SELECT n.run FROM sync_probe_internal.newest_runs AS n
                                     WHERE (n.run).run_id IS NOT NULL
                                     ORDER BY n.location <> 'pg_wal', array_position(
                                         '{unsafe,switch,undecided}', (n.run).verdict),
                                         n.location) END) AS r (runs)
$$;

--
-- The findings as the page shows them: those of info stand together by code, in the words of the
-- first.  number is what links point to.
--
CREATE FUNCTION sync_probe_internal.report_findings(
    data sync_probe_internal.report_data,
    OUT number bigint,
    OUT severity text,
    OUT code text,
    OUT locations text[],
    OUT run_ids bigint[],
    OUT message text,
    OUT hint text,
    OUT commands text[])
RETURNS SETOF record
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT row_number() OVER (ORDER BY min(f.n)), f.severity, f.code,
       array_agg(f.location::text ORDER BY f.n),
       array_agg((f.evidence ->> 'run_id')::bigint ORDER BY f.n),
       (array_agg(f.message ORDER BY f.n))[1], (array_agg(f.hint ORDER BY f.n))[1],
       ARRAY(SELECT jsonb_array_elements_text((jsonb_agg(f.commands ORDER BY f.n)
                                                   FILTER (WHERE f.commands IS NOT NULL)) -> 0))
FROM unnest(data.findings) WITH ORDINALITY
     AS f (location, severity, code, message, hint, commands, evidence, n)
GROUP BY f.severity, f.code, CASE WHEN f.severity <> 'info' THEN f.n END
$$;

--
-- All measurements of a run, in the order of its test cases, for a table.  detail names files, so
-- that it goes with the paths.
--
CREATE FUNCTION sync_probe_internal.report_cells(run_id bigint, paths boolean)
RETURNS json
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT json_agg(cell ORDER BY m.ordinal)
FROM sync_probe.measurements AS m,
     LATERAL (SELECT m.test, m.method, m.choice, m.direct_io AS "O_DIRECT",
                     m.write_size AS "write bytes", m.status, m.ops, m.ops_per_sec AS "ops/s",
                     m.mean_us AS "mean us", m.p50_us AS "p50 us", m.p99_us AS "p99 us",
                     m.max_us AS "max us", m.relative_speed AS speed,
                     m.relative_speed_low AS low, m.relative_speed_high AS high,
                     m.flushes_per_op AS "flushes/op", m.device_bytes_per_op AS "bytes/op",
                     100 * m.device_utilization AS "busy %",
                     CASE WHEN paths THEN m.detail END AS detail) AS cell
WHERE m.run_id = report_cells.run_id
$$;
--
-- The sections of the report in their order: id, title, title in the contents, how to read it, in
-- HTML, and a query of its figures: it returns columns of sync_probe_internal.figure, and reads
-- "data", a row of sync_probe_internal.report_data.  A section without a figure is left out.
--
CREATE TABLE sync_probe_internal.report_sections (
    position integer PRIMARY KEY,
    id text NOT NULL UNIQUE,
    title text NOT NULL,
    short_title text NOT NULL,
    how_html text NOT NULL,
    query text NOT NULL
);

-- report_html() reads it with the rights of its caller.
GRANT SELECT ON sync_probe_internal.report_sections TO pg_monitor;

--
-- The verdict on pg_wal as a heading; of given runs, which these are.
--
CREATE FUNCTION sync_probe_internal.report_title(data sync_probe_internal.report_data)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT CASE
    WHEN data.chosen AND cardinality(data.runs) = 1
    THEN format('Run %s: %s', (data.runs[1]).run_id,
                concat_ws(', ', coalesce((data.runs[1]).location, (data.runs[1]).label),
                          'suite ' || (data.runs[1]).suite))
    WHEN data.chosen THEN (
        -- reports of pg_test_fsync do not say where they were made
        SELECT format('%s runs%s', count(*), coalesce(
                   ' of ' || string_agg(DISTINCT r.location, ', '),
                   ': ' || string_agg(DISTINCT nullif(r.label, ''), ', ')))
        FROM unnest(data.runs) AS r)
    ELSE coalesce((
        SELECT CASE a.verdict
               WHEN 'outdated' THEN 'Probe pg_wal again: its run is outdated'
               WHEN 'switch' THEN 'Set wal_sync_method to ' || a.recommended_method
               WHEN 'unsafe' THEN coalesce('Commits are not safe: set wal_sync_method to '
                                           || a.recommended_method,
                                           'Commits on pg_wal are not safe')
               WHEN 'keep' THEN format('Keep wal_sync_method = %s', a.current_method)
               WHEN 'undecided' THEN format('Not settled: %s stays for now', a.current_method) END
        FROM unnest(data.advice) AS a
        WHERE a.location = 'pg_wal' LIMIT 1), 'pg_wal has not been probed') END
$$;

--
-- What follows the title: what to do where nothing was probed, why the verdict is what it is, and
-- where else syncs are not safe.
--
CREATE FUNCTION sync_probe_internal.report_lead(data sync_probe_internal.report_data)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT concat_ws('</p><p class=lead>', CASE WHEN cardinality(data.runs) = 0 THEN concat(
        CASE WHEN data.chosen THEN 'The list of runs is empty, so nothing can be shown.'
             ELSE 'Nothing that counts was probed on this server yet. These statements probe each '
                  'file system for up to 5 seconds, and make this page again:' END, '</p>',
        sync_probe_internal.html_code(
            '{SELECT * FROM sync_probe.probe_all(),SELECT sync_probe.report_html()}'),
        (SELECT '<p class=lead>Imported runs are shown only if they are named:</p>'
                || sync_probe_internal.html_code(ARRAY['SELECT sync_probe.report_html(ARRAY('
                       'SELECT run_id FROM sync_probe.runs WHERE imported_at IS NOT NULL))'])
         FROM sync_probe.runs AS r WHERE r.imported_at IS NOT NULL LIMIT 1), '<p class=lead>') END,
    (SELECT sync_probe_internal.html_prose(CASE
         WHEN a.verdict = 'switch' AND f.words IS NOT NULL
         THEN format('A flush %s takes %s.', CASE a.deciding_test WHEN 'saturated'
                         THEN 'back to back' ELSE 'at this cluster''s pace' END, f.words)
         WHEN a.verdict IN ('keep', 'undecided') AND b.words IS NOT NULL
         THEN format('With %s, a %s %s than with any other method.',
                     sync_probe_internal.clipped(a.current_method, 60),
                     CASE WHEN a.basis IN ('trial', 'commit') THEN 'commit waits'
                          ELSE 'flush takes' END, b.words)
         ELSE format('On %s: %s.', a.location, sync_probe_internal.clipped(a.reason, 1000)) END)
     FROM unnest(data.advice) AS a,
          LATERAL sync_probe_internal.report_flush(a) AS f (words),
          LATERAL sync_probe_internal.html_bound(a.max_regret) AS b (words)
     WHERE NOT data.chosen AND a.location = 'pg_wal' AND a.run_id IS NOT NULL LIMIT 1),
    (SELECT format('The syncs of %s do not reach the device: %s.',
                   CASE count(*) WHEN 1 THEN 'one other location'
                                 ELSE format('%s other locations', count(*)) END,
                   sync_probe_internal.html_escape(sync_probe_internal.clipped(
                       string_agg(a.location, ', ' ORDER BY a.location), 200)))
     FROM unnest(data.advice) AS a
     WHERE NOT data.chosen AND a.location <> 'pg_wal' AND a.durable = 'no'
     HAVING count(*) > 0))
$$;

--
-- What was measured, where and how, by the newest run on pg_wal or the only run that was given.
--
CREATE FUNCTION sync_probe_internal.report_facts(data sync_probe_internal.report_data)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT string_agg(format('<div><dt>%s<dd>%s</div>', v.name, sync_probe_internal.html_prose(
                             sync_probe_internal.clipped(v.words, 200))), '' ORDER BY v.n)
FROM sync_probe_internal.this_server() AS s
LEFT JOIN LATERAL (SELECT * FROM unnest(data.runs) AS r
                   WHERE CASE WHEN data.chosen THEN cardinality(data.runs) = 1
                              ELSE r.location = 'pg_wal' END LIMIT 1) AS r ON true
LEFT JOIN LATERAL (
    SELECT p.filesystem, p.device, p.write_cache, p.mount_options, p.directory
    FROM unnest(data.places) AS p WHERE p.name = 'pg_wal' AND NOT data.chosen
    UNION ALL
    SELECT r.filesystem, r.device, r.storage ->> 'write_cache', r.storage ->> 'mount_options',
           r.directory WHERE data.chosen
    LIMIT 1) AS p ON true,
     LATERAL (VALUES
    (1, 'Server', CASE WHEN data.chosen
                  THEN concat_ws(', ', r.host, 'PostgreSQL ' || r.server_version_num / 10000)
                  ELSE concat_ws(', ', CASE WHEN data.paths THEN s.host END, 'PostgreSQL '
                           || split_part(current_setting('server_version'), ' (', 1)) END),
    (2, 'Setting', 'wal_sync_method = ' || CASE WHEN data.chosen THEN r.wal_sync_method
                                           ELSE current_setting('wal_sync_method') END),
    (3, CASE WHEN data.chosen THEN 'Storage' ELSE 'pg_wal lies on' END,
     concat_ws(', ', p.filesystem || coalesce(' on ' || p.device, ''), p.write_cache,
               'mounted ' || p.mount_options)),
    (4, 'Directory', p.directory),
    (5, 'A flush, as imitated', r.flush_size || ' bytes of WAL'
        || coalesce(' every ' || sync_probe_internal.html_duration(r.flush_interval), '')),
    (6, 'Measured', sync_probe_internal.html_time(r.finished_at)
        || coalesce(', ' || sync_probe_internal.html_duration(r.finished_at - r.started_at), '')),
    (7, 'Label', r.label),
    (8, 'Findings', (
        SELECT string_agg(concat(f.count, ' ', f.severity, CASE WHEN f.count > 1 THEN 's' END),
                          ', ' ORDER BY array_position('{error,warning,info}', f.severity))
        FROM (SELECT f.severity, count(*) FROM unnest(data.findings) AS f
              GROUP BY f.severity) AS f))) AS v (n, name, words)
WHERE v.words <> ''
$$;

--
-- What stands before the sections: title, verdicts at a glance, facts.
--
CREATE FUNCTION sync_probe_internal.report_head(data sync_probe_internal.report_data)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT concat('<p class=kicker>pg_sync_probe report</p><h1>',
    sync_probe_internal.html_escape(
        sync_probe_internal.clipped(sync_probe_internal.report_title(data), 120)), '</h1>',
    '<p class=lead>' || nullif(sync_probe_internal.report_lead(data), '') || '</p>',
    '<dl class=facts>' || sync_probe_internal.report_facts(data) || '</dl>',
    '<ul class=glance>' || string_agg(
        format('<li class=%s><a href=#%s><b>%s</b> <span class=m>%s</span></a>',
               sync_probe_internal.html_class(a.verdict),
               CASE WHEN number <= 12 THEN 'verdict-' || number ELSE 'numbers' END,
               sync_probe_internal.html_escape(coalesce(a.verdict, 'unknown')),
               sync_probe_internal.html_escape(concat_ws(' ', a.location, CASE WHEN data.chosen
                   THEN 'run ' || a.run_id END))), '' ORDER BY number) || '</ul>')
FROM generate_subscripts(data.advice, 1) AS number, LATERAL (SELECT (data.advice[number]).*) AS a
WHERE number <= 24
$$;

--
-- report_html
--
-- One page of HTML that needs no other file: verdict, figures, findings and all numbers of the
-- newest runs of this server, or of the given runs.  paths => false leaves out directories, mount
-- points and names of hosts.  doc/report.md describes it.  The page loads nothing and runs no
-- script.
--
-- With many tablespaces the plans look costly enough to compile, which takes seconds.  Numbers have
-- all their digits, whatever the session shows, and queries mean the same.
--
CREATE FUNCTION sync_probe.report_html(
    run_ids bigint[] DEFAULT NULL,
    paths boolean DEFAULT true)
RETURNS text
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
SET jit = off
SET extra_float_digits = 1
SET standard_conforming_strings = on
AS $$
DECLARE
    data sync_probe_internal.report_data;
    section record;
    body text;
    contents text := '';
    sections text := '';
    number integer := 0;
BEGIN
    PERFORM sync_probe_internal.require_runs(run_ids);
    IF paths IS NULL THEN
        RAISE EXCEPTION 'argument "paths" must not be null'
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'true shows directories and host names, false leaves them out.';
    END IF;
    data := sync_probe_internal.report_data(run_ids, paths);
    IF NOT paths THEN
        data := jsonb_populate_record(NULL::sync_probe_internal.report_data,
                    sync_probe_internal.data_without_paths(to_jsonb(data),
                        sync_probe_internal.secrets(data)));
    END IF;
    FOR section IN SELECT * FROM sync_probe_internal.report_sections AS s ORDER BY s.position LOOP
        EXECUTE format($q$
            SELECT string_agg(sync_probe_internal.html_figure(%1$L || f.n, %2$L,
                       json_populate_record(NULL::sync_probe_internal.figure, f.figure)),
                   '' ORDER BY f.n)
            FROM (SELECT row_to_json(f) AS figure, row_number() OVER () AS n
                  FROM unnest(ARRAY[$1]) AS data, LATERAL (%3$s) AS f) AS f$q$,
            section.id || '-', section.title, section.query) INTO body USING data;
        CONTINUE WHEN body IS NULL;
        number := number + 1;
        contents := contents || format('<li><a href=#%s>%s</a>', section.id,
                                       sync_probe_internal.html_prose(section.short_title));
        sections := sections
            || format(E'\n<section id=%1$s aria-labelledby=%1$s-h><div class=hd><h2 id=%1$s-h>'
                      '<b>%2$s</b>%3$s</h2><p class=how>%4$s</p></div><div class=body>%5$s</div>'
                      '</section>',
                      section.id, number, sync_probe_internal.html_prose(section.title),
                      section.how_html, body);
    END LOOP;
    RETURN concat(
        E'<!DOCTYPE html>\n<html lang=en><head><meta charset=utf-8>',
        '<meta name=viewport content="width=device-width,initial-scale=1">',
        E'<meta name=color-scheme content="light dark">\n<title>pg_sync_probe: ',
        sync_probe_internal.html_prose(
            sync_probe_internal.clipped(sync_probe_internal.report_title(data), 120)),
        '</title><style>', sync_probe_internal.html_style(),
        '</style></head><body><a class=skip href=#main>Skip to the first section</a>',
        '<svg class=defs width=0 height=0 aria-hidden=true>',
        '<path id=cross d="M-4-4 4 4M-4 4 4-4"/></svg>',
        E'\n<div class=page><header id=top>', sync_probe_internal.report_head(data),
        E'\n<nav aria-label=Contents><ol>' || nullif(contents, '') || '</ol></nav>',
        '</header><main id=main>', sections, E'</main>\n<footer class=sm>',
        format('<p>Made by <code>SELECT sync_probe.report_html()</code>, pg_sync_probe %s. All '
               'numbers are in the tables and views of schema <code>sync_probe</code>. '
               '<a href=#top>Back to the top</a></p>',
               (SELECT e.extversion FROM pg_extension AS e WHERE e.extname = 'pg_sync_probe')),
        '<p><i>Paced</i>: one flush in each flush interval, as commits come here. <i>Back to '
        'back</i>: one flush right after the other. Flushes that were counted are evidence, not '
        'proof: only pulling the plug proves a drive honest.</p>',
        E'</footer></div></body></html>\n');
END
$$;

REVOKE ALL ON FUNCTION sync_probe.report_html FROM PUBLIC;
GRANT EXECUTE ON FUNCTION sync_probe.report_html TO pg_monitor;

COMMENT ON FUNCTION sync_probe.report_html IS
  'Page of HTML with verdict, figures, findings and all numbers of this server''s newest runs, '
  'or of the given ones';
--
-- Section waits: what commits wait for, by the newest result of this server that saw a commit.
-- Others are of other loads, whose bars are not to be compared.  A report on chosen runs has none.
--
INSERT INTO sync_probe_internal.report_sections VALUES (40, 'waits', 'What do commits wait for?',
    'What commits wait for',
    'The mean time that a commit waited, split by what it waited for. With '
    '<code>open_datasync</code> and <code>open_sync</code> the sync is in WALWrite. A faster sync '
    'shortens WALSync, WALWrite and the queue, not SyncRep, which is the answer of a standby.', $$
SELECT 'bars' AS kind, 'us' AS unit,
       format('%s: a commit waits %s', w.wal_sync_method,
              sync_probe_internal.html_duration(w.commit_wait_us)) AS heading,
       format('Newest result, %s, sampled for %s: %s', sync_probe_internal.html_time(w.started_at),
              sync_probe_internal.html_duration(w.duration), w.answer) AS caption, p.marks, p.cells
FROM (SELECT w.* FROM sync_probe.commit_wait_results AS w, sync_probe_internal.this_server() AS s
      WHERE NOT data.chosen AND w.commit_wait_us > 0 AND w.commit_wait_us < 'Infinity'
        AND w.system_identifier = s.system_identifier AND w.host = s.host
      ORDER BY w.result_id DESC LIMIT 1) AS w,
     LATERAL (SELECT json_agg(mark ORDER BY p.n) AS marks, json_agg(cell ORDER BY p.n) AS cells
              FROM (VALUES (1, 'WALSync', w.sync_us), (2, 'WALWrite', w.write_us),
                           (3, 'WALWriteLock', w.queue_us), (4, 'commit_delay', w.commit_delay_us),
                           (5, 'SyncRep', w.sync_rep_us), (6, 'other', w.other_us))
                       AS p (n, name, us),
                   LATERAL (SELECT p.name, 'cur' AS colour, p.us AS number) AS mark,
                   LATERAL (SELECT p.name AS part, p.us, 100 * p.us / w.commit_wait_us AS "%")
                       AS cell
              WHERE p.us IS NOT NULL) AS p
$$);

--
-- Section trials: what trials and the commit suite measured of real commits: the newest run of each
-- setting, or those that were chosen, at most 4; methods come first.
--
INSERT INTO sync_probe_internal.report_sections VALUES (50, 'trials', 'What do real commits say?',
    'Real commits',
    'A trial switched a setting back and forth while sessions committed; the commit suite made '
    'commits of its own. The current value is 1. A mark right of the band is better by more than '
    'the margin; the line through it is the 95&nbsp;% confidence interval. The row of the current '
    'value compares it with itself, so it shows the noise.', $$
SELECT 'intervals' AS kind, 'times' AS unit,
       concat_ws(' ', CASE c.suite WHEN 'trial' THEN 'Trial of' ELSE 'Commit suite:' END,
                 concat_ws(', ', c.test, m.verdict)) AS heading,
       concat_ws(' ', CASE WHEN c.setting = c.test
                           THEN upper(left(c.reason, 1)) || substr(c.reason, 2) || '.' END,
           format('Run %s, %s, %s.', c.run_id, sync_probe_internal.html_time(c.started_at),
                  CASE WHEN c.suite = 'commit' THEN c.workers || ' workers'
                       WHEN c.workload IS NULL THEN 'load: the sessions of the server'
                       ELSE 'load: workload ' || c.workload END)) AS caption,
       '{cur dot,current,rec dot,recommended,oth dot,other,cur band,margin}' AS key,
       m.marks, sync_probe_internal.report_cells(c.run_id, data.paths) AS cells
FROM (SELECT r.*, m.test, row_number() OVER (PARTITION BY r.suite, m.test, r.workload IS NULL
                                             ORDER BY r.run_id DESC) AS age
      FROM (SELECT * FROM unnest(data.runs || data.more) AS r
            WHERE r.suite IN ('trial', 'commit') ORDER BY r.run_id DESC LIMIT 100) AS r,
           LATERAL (SELECT DISTINCT m.test FROM sync_probe.measurements AS m
                    WHERE m.run_id = r.run_id AND m.relative_speed > 0) AS m) AS c,
     LATERAL (SELECT min(m.verdict) AS verdict, json_agg(mark ORDER BY m.ordinal)
                         FILTER (WHERE m.relative_speed > 0 AND m.n <= 12) AS marks
              FROM (SELECT m.*, row_number() OVER (ORDER BY m.ordinal) AS n
                    FROM sync_probe.measurements AS m
                    WHERE m.run_id = c.run_id AND m.test = c.test) AS m,
                   LATERAL (SELECT m.method AS name, m.choice AS note,
                                   CASE m.choice WHEN 'current' THEN 'cur'
                                                 WHEN 'recommended' THEN 'rec' END AS colour,
                                   m.relative_speed AS number, m.relative_speed_low AS low,
                                   m.relative_speed_high AS high) AS mark) AS m
WHERE (data.chosen OR c.age = 1) AND m.marks IS NOT NULL
ORDER BY c.test <> 'wal_sync_method', c.run_id DESC LIMIT 4
$$);
--
-- Section history: the newest 60 runs of pg_wal that measured their own method, side by side, and
-- what has changed between them.
--
INSERT INTO sync_probe_internal.report_sections VALUES (90, 'history', 'What has changed?',
    'History',
    'Each point is one run on <code>pg_wal</code> with the method that was current then, paced. '
    'Runs stand side by side, whatever the time between them. A numbered line stands where '
    'something changed. A gap in p99 is a run with too few flushes to know it.', $$
WITH run AS (
    SELECT r.*, row_number() OVER w AS n, count(*) OVER () AS count,
           CASE WHEN lag(r.run_id) OVER w IS NOT NULL
                THEN sync_probe_internal.changes_between(lag(r.run) OVER w, r.run) END AS changes
    FROM (SELECT r.run, m.run_id, m.method, m.durable, m.p50_us, m.p99_us
          FROM (SELECT DISTINCT ON (r.run_id) r AS run, r.run_id, r.wal_sync_method AS method
                FROM unnest(data.runs || data.more) AS r
                WHERE r.location = 'pg_wal' AND r.suite = 'wal' ORDER BY r.run_id) AS r
          JOIN sync_probe.measurements AS m USING (run_id, method)
          WHERE m.test = 'paced' AND m.p50_us > 0
          ORDER BY m.run_id DESC LIMIT 60) AS r
    WINDOW w AS (ORDER BY r.run_id)
), change AS (
    SELECT r.*, row_number() OVER (ORDER BY r.n) AS number FROM run AS r
    WHERE r.changes IS NOT NULL
), mark AS (
    SELECT v.name, r.method AS note, v.colour,
           CASE WHEN r.durable = 'no' THEN 'cross' ELSE v.shape END AS shape, v.number,
           (r.n - 0.5) / r.count AS at,
           to_char((r.run).started_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI') AS words
    FROM run AS r,
         LATERAL (VALUES ('p50', 'cur', 'dot', r.p50_us), ('p99', 'oth', 'ring', r.p99_us))
             AS v (name, colour, shape, number)
    UNION ALL
    SELECT NULL, NULL, NULL, 'line', NULL, (c.n - 1.0) / c.count, c.number::text FROM change AS c
)
SELECT 'lines' AS kind, 'us' AS unit,
       '{cur dot,p50,oth ring,p99,cur cross,syncs did not reach the device}' AS key,
       concat('Latency of a flush, logarithmic. ', coalesce(
           (SELECT string_agg(format('%s: run %s: %s', c.number, c.run_id,
                                     sync_probe_internal.clipped(
                                         array_to_string(c.changes, '; '), 300)), '. '
                              ORDER BY c.n) || '.' FROM change AS c),
           'No change between them is recorded.')) AS caption,
       (SELECT json_agg(mark) FROM mark) AS marks, json_agg(cell ORDER BY r.n) AS cells
FROM run AS r, LATERAL (SELECT (r.run).*) AS all_of_run,
     LATERAL (SELECT r.run_id::text AS run, sync_probe_internal.html_time(started_at) AS started,
                     label, r.method, filesystem AS "file system",
                     storage ->> 'mount_options' AS "mount options", storage ->> 'kernel' AS kernel,
                     sync_probe_internal.version_words(server_version_num) AS server,
                     r.durable, r.p50_us AS "p50 us", r.p99_us AS "p99 us") AS cell
HAVING count(*) > 1
$$);
--
-- What the first 24 runs of the wal suite measured of each method in one test.  name: of the
-- location, with the number of the run if the page has several runs of it.  A method of the history
-- may be any text.
--
CREATE FUNCTION sync_probe_internal.report_methods(
    data sync_probe_internal.report_data,
    OUT place bigint,
    OUT name text,
    OUT method text,
    OUT is_current boolean,
    OUT colour text,
    OUT note text,
    OUT run sync_probe.runs,
    OUT measured sync_probe.measurements)
RETURNS SETOF record
LANGUAGE sql STABLE
ROWS 40
SET search_path = pg_catalog, pg_temp
AS $$
SELECT r.place, r.name, sync_probe_internal.clipped(m.method, 60), c.is_current,
       CASE WHEN m.durable = 'no' THEN 'bad' WHEN c.is_current THEN 'cur'
            WHEN c.is_recommended THEN 'rec' END,
       CASE WHEN m.durable = 'no' THEN 'not durable' WHEN c.is_current THEN 'current'
            WHEN c.is_recommended THEN 'recommended' END, r.run, m
FROM (SELECT data.runs[i] AS run, row_number() OVER (ORDER BY i) AS place,
             CASE WHEN count(*) OVER (PARTITION BY r.location) > 1 OR r.location IS NULL
                  THEN concat_ws(' ', r.location, 'run ' || r.run_id) ELSE r.location::text END
                 AS name
      FROM generate_subscripts(data.runs, 1) AS i, LATERAL (SELECT (data.runs[i]).*) AS r
      WHERE r.suite = 'wal') AS r
JOIN sync_probe.measurements AS m
    ON m.run_id = (r.run).run_id AND m.test IN ('paced', 'saturated') AND NOT m.direct_io,
     LATERAL (SELECT m.method = (r.run).wal_sync_method, m.method = (r.run).recommended_value
                     AND (r.run).verdict IN ('switch', 'unsafe')) AS c (is_current, is_recommended)
WHERE r.place <= 24
$$;

--
-- Section speed: relative speeds of the methods, a figure for each of up to 8 runs.  Where the
-- current method's syncs do not reach the device nothing is compared.
--
INSERT INTO sync_probe_internal.report_sections VALUES (20, 'speed', 'How much faster?',
    'How much faster?',
    'A mark to the right of the shaded band is a method whose flushes take less time than those of '
    'the current one by more than the margin: 2&times; is half of the time. The line through a '
    'mark is its confidence interval. The row of the current method compares two copies of it, so '
    'it shows the noise.', $$
SELECT 'intervals' AS kind, 'times' AS unit,
       concat_ws(': ', p.name, min((p.run).verdict)) AS heading,
       format('Time of the current method divided by that of the other, with 95 %% confidence '
              'intervals; run %s. Shaded: the margin.', min(m.run_id)) AS caption,
       '{cur dot,paced,cur ring,back to back,cur band,margin}' AS key,
       json_agg(mark ORDER BY p.fastest DESC NULLS LAST, p.method, m.test)
           FILTER (WHERE m.relative_speed > 0) AS marks, json_agg(cell ORDER BY m.ordinal) AS cells
FROM (SELECT p.*, max((p.measured).relative_speed) FILTER (WHERE (p.measured).test = 'paced')
                      OVER (PARTITION BY p.place, p.method) AS fastest,
             bool_or(p.is_current AND p.colour = 'bad') OVER (PARTITION BY p.place) AS is_void
      FROM sync_probe_internal.report_methods(data) AS p) AS p,
     LATERAL (SELECT (p.measured).*) AS m,
     LATERAL (SELECT p.method AS name, p.note, p.colour, m.relative_speed AS number,
                     CASE m.test WHEN 'saturated' THEN 'ring' END AS shape,
                     m.relative_speed_low AS low, m.relative_speed_high AS high) AS mark,
     LATERAL (SELECT m.method, m.test, m.durable, m.relative_speed AS speed,
                     m.relative_speed_low AS low, m.relative_speed_high AS high) AS cell
WHERE NOT p.is_void
GROUP BY p.place, p.name
ORDER BY p.place LIMIT 8
$$);

--
-- Section latency: the methods of the first run in both tests, and the current method of each.
--
INSERT INTO sync_probe_internal.report_sections VALUES (30, 'latency',
    'How long does a flush take?', 'Latency',
    'A dot is the median of the flushes of one method, p50; its line ends at p99, which needs 299 '
    'flushes. Half of the flushes took less than p50, and one in a hundred took more than p99. The '
    'axis is logarithmic: the same distance is the same factor everywhere.', $$
SELECT 'intervals' AS kind, 'us' AS unit,
       CASE f.part WHEN 1 THEN min(p.name) ELSE 'The current method of each, paced' END AS heading,
       'Microseconds, from p50 to p99.' AS caption,
       '{cur dot,current,rec dot,recommended,oth dot,other}' AS key,
       json_agg(mark ORDER BY m.test, m.p50_us) AS marks,
       json_agg(cell ORDER BY m.test, m.p50_us) AS cells
FROM (VALUES (1), (2)) AS f (part), sync_probe_internal.report_methods(data) AS p,
     LATERAL (SELECT (p.measured).*) AS m,
     LATERAL (SELECT CASE WHEN f.part = 1 AND m.test = 'paced' THEN 'Paced'
                          WHEN f.part = 1 THEN 'Back to back' END AS panel,
                     CASE f.part WHEN 1 THEN p.method ELSE p.name END AS name,
                     CASE f.part WHEN 1 THEN p.note ELSE p.method END AS note, p.colour,
                     m.p50_us AS number, m.p50_us AS low, m.p99_us AS high) AS mark,
     LATERAL (SELECT p.name AS location, m.method, m.test, m.ops AS flushes, m.mean_us AS "mean us",
                     m.p50_us AS "p50 us", m.p99_us AS "p99 us", m.max_us AS "max us") AS cell
WHERE m.p50_us > 0 AND CASE f.part WHEN 1 THEN p.place = 1
                                   ELSE p.is_current AND m.test = 'paced' AND p.place <= 8 END
GROUP BY f.part
HAVING f.part = 1 OR count(*) > 1
ORDER BY f.part
$$);

--
-- Section device: what arrives at the device for each sync with the current method, of 8 runs.
--
INSERT INTO sync_probe_internal.report_sections VALUES (60, 'device',
    'Does the sync reach the device?', 'Does it reach the device?',
    'A sync that reaches the disk appears in the counters of the disk as a flush, or as two where '
    'the file system writes its journal, too. Write amplification is what the device wrote for '
    'each byte that the server gave it. Where the device is idle while syncs are slow, a faster '
    'one will not help. Counters are evidence, not proof.', $$
SELECT 'bars' AS kind, 'With the current method. Flushes and bytes when paced, busy back to back.'
           AS caption,
       '{cur box,durable or no volatile cache,cur frame,unknown,bad box,not durable}' AS key,
       json_agg(mark ORDER BY t.n, p.place) FILTER (WHERE p.place <= 8) AS marks,
       json_agg(cell ORDER BY p.place) FILTER (WHERE t.n = 1) AS cells
FROM sync_probe_internal.report_methods(data) AS p
JOIN sync_probe_internal.report_methods(data) AS s
    ON s.place = p.place AND s.method = p.method AND (s.measured).test = 'saturated',
     LATERAL (SELECT (p.run).storage ? 'syncs_nothing' AS syncs_nothing) AS d,
     LATERAL (SELECT (p.measured).*) AS m,
     LATERAL (SELECT b.given,
                     CASE WHEN NOT d.syncs_nothing THEN b.own / b.given END AS amplification,
                     (s.measured).flushes_per_op AS saturated_flushes,
                     CASE WHEN NOT d.syncs_nothing THEN 100 * (s.measured).device_utilization END
                         AS busy
              FROM sync_probe_internal.device_bytes(coalesce((p.run).storage, '{}'), p.measured,
                                                    (p.run).flush_size) AS b) AS b,
     LATERAL (VALUES (1, 'Flushes per sync', m.flushes_per_op),
                     (2, 'Write amplification', b.amplification), (3, 'Device busy, %', b.busy))
         AS t (n, panel, number),
     LATERAL (SELECT t.panel, p.name, p.colour, t.number,
                     CASE m.durable WHEN 'unknown' THEN 'frame' END AS shape,
                     CASE WHEN d.syncs_nothing THEN 'no device' END AS words) AS mark,
     LATERAL (SELECT p.name AS location, m.durable, m.flushes_per_op AS "flushes paced",
                     b.saturated_flushes AS "flushes back to back", m.device_bytes_per_op AS bytes,
                     b.given AS "bytes given", b.amplification, b.busy AS "busy %") AS cell
WHERE p.is_current AND m.test = 'paced'
  AND (d.syncs_nothing OR num_nonnulls(m.flushes_per_op, m.device_bytes_per_op,
                                       (s.measured).device_utilization) > 0)
$$);
--
-- Section stream: rate and longest flush over the seconds of the newest stream of each location, or
-- of the chosen ones, at most 4 runs of up to 9 test cases.
--
INSERT INTO sync_probe_internal.report_sections VALUES (70, 'stream',
    'How fast does WAL stream, and does it stall?', 'Streams',
    'A stream writes and syncs without a rest. The test cases take turns of a second. Where all '
    'lines change at once, the storage has changed, not the method.', $$
WITH run AS (
    SELECT r.*, row_number() OVER (ORDER BY r.location <> 'pg_wal', r.location, r.run_id DESC)
                    AS place
    FROM unnest(data.runs || data.more) AS r WHERE r.suite = 'stream'
    ORDER BY place LIMIT 4
), second AS (
    -- at most 100 points for each test case
    SELECT r.run_id, m.ordinal, f.part, min(s.second) AS second,
           concat(m.test, ' ', m.method, CASE WHEN m.direct_io THEN '*' END) AS panel, m.method,
           CASE WHEN m.method = r.wal_sync_method THEN 'cur' END AS colour,
           CASE f.part WHEN 1 THEN min(s.bytes / nullif(s.length_ms, 0)) / 1048.576
                       ELSE max(s.slowest_us) / 1000 END AS number,
           avg((s.second + 0.5) / t.total) AS at
    FROM run AS r
    JOIN sync_probe.measurements AS m USING (run_id)
    JOIN sync_probe.stream_seconds AS s USING (run_id, ordinal),
         LATERAL (SELECT max(o.second) + 1.0 AS total FROM sync_probe.stream_seconds AS o
                  WHERE o.run_id = r.run_id) AS t, (VALUES (1), (2)) AS f (part)
    WHERE m.ordinal <= 9
    GROUP BY r.run_id, r.wal_sync_method, m.ordinal, m.test, m.method, m.direct_io, f.part,
             floor(100.0 * s.second / t.total)
)
SELECT 'lines' AS kind, CASE s.part WHEN 1 THEN 'MB/s' ELSE 'ms' END AS unit,
       format('%s, run %s: %s', r.location, r.run_id,
              CASE s.part WHEN 1 THEN 'MB per second' ELSE 'longest flush of each second' END)
           AS heading,
       format('%s, %s, wal_sync_method = %s. A star is O_DIRECT. %s',
              sync_probe_internal.html_time(r.started_at),
              sync_probe_internal.html_duration(r.finished_at - r.started_at), r.wal_sync_method,
              coalesce((
                  SELECT 'Longest stalls: ' || string_agg(
                             format('second %s, %s %s, %s of %s (%s)', x.second, x.test, x.method,
                                    x.kind, sync_probe_internal.html_duration(x.stalled_ms * 1000),
                                    x.meanwhile), '; ' ORDER BY x.stalled_ms DESC) || '.'
                  FROM (SELECT * FROM sync_probe_internal.stalls AS x WHERE x.run_id = r.run_id
                        ORDER BY x.stalled_ms DESC LIMIT 5) AS x), 'No stall.')) AS caption,
       s.marks, sync_probe_internal.report_cells(r.run_id, data.paths) AS cells
FROM run AS r
JOIN (SELECT s.run_id, s.part, json_agg(mark ORDER BY s.ordinal, s.second) AS marks
      FROM second AS s,
           LATERAL (SELECT s.panel, s.method AS name, s.colour, nullif(s.number, 0) AS number,
                           s.at, s.second || ' s' AS words) AS mark
      GROUP BY s.run_id, s.part) AS s USING (run_id)
ORDER BY r.place, s.part
$$);

--
-- Section segments: what a segment of each kind takes, with its creation and its first flushes, in
-- the newest run of each location, or the chosen ones, at most 4.
--
INSERT INTO sync_probe_internal.report_sections VALUES (80, 'segments',
    'What does a new segment cost?', 'WAL segments',
    'The server renames an old segment (<code>recycle</code>, setting <code>wal_recycle</code>) or '
    'creates a file, of zeros (<code>zero_fill</code>, setting <code>wal_init_zero</code>) or with '
    'no blocks (<code>sparse</code>). What creation saves, the flushes may pay. A commit that '
    'needs a segment waits for its creation.', $$
SELECT 'bars' AS kind, concat_ws(', ', r.location, sync_probe_internal.clipped(r.label, 80))
           AS heading,
       concat_ws('. ', w.settings, upper(left(w.words, 1)) || substr(w.words, 2),
                 format('Run %s of %s, wal_sync_method = %s.', r.run_id,
                        sync_probe_internal.html_time(r.started_at), r.wal_sync_method)) AS caption,
       '{cur box,with the settings of the run,oth box,other}' AS key,
       (SELECT json_agg(mark ORDER BY t.n, m.ordinal)
        FROM (VALUES (1, 'segment', 'A whole segment, ms'), (2, 'create', 'To create it, ms'),
                     (3, 'first_flushes', 'A first flush, ms')) AS t (n, test, panel)
        JOIN sync_probe.measurements AS m ON m.test = t.test AND m.run_id = r.run_id,
             LATERAL (SELECT t.panel, m.method AS name, m.p50_us / 1000 AS number,
                             CASE m.choice WHEN 'current' THEN 'cur' END AS colour,
                             m.status AS words) AS mark) AS marks,
       sync_probe_internal.report_cells(r.run_id, data.paths) AS cells
FROM (SELECT * FROM unnest(data.runs || data.more) AS r WHERE r.suite = 'segments'
      ORDER BY r.location <> 'pg_wal', r.location, r.run_id DESC LIMIT 4) AS r,
     LATERAL (SELECT min(x.words) AS words,
                     string_agg(format('%s = %s: %s', s.setting, s.at_run,
                                       concat(s.verdict, CASE s.verdict WHEN 'switch'
                                                         THEN ' to ' || s.recommended END)), '; '
                                ORDER BY s.setting DESC) AS settings
              FROM (SELECT array_agg(m) FROM sync_probe.measurements AS m
                    WHERE m.run_id = r.run_id) AS a (rows)
              CROSS JOIN LATERAL sync_probe_internal.explain_segments(a.rows) AS x (words)
              LEFT JOIN LATERAL sync_probe_internal.segment_settings(a.rows) AS s ON true) AS w
$$);

--
-- Section tool: runs of the pg_test_fsync suite, measured or imported, on one scale, since readers
-- compare the bars of one with those of the next.
--
INSERT INTO sync_probe_internal.report_sections VALUES (110, 'tool',
    'What does pg_test_fsync report?', 'pg_test_fsync',
    'The tests of the program <code>pg_test_fsync</code>. They sync back to back, so they do not '
    'see what a server with pauses between commits sees. The program itself measures one method '
    'after the other: the noise of a minute then looks like a difference. It does not show whether '
    'a sync has reached the disk.', $$
SELECT 'bars' AS kind, 'ops/s' AS unit,
       concat_ws(', ', 'Run ' || r.run_id, r.location, sync_probe_internal.clipped(r.label, 80),
                 sync_probe_internal.report_origin(r)) AS heading,
       'Syncs per second, back to back. A star is O_DIRECT.' AS caption,
       '{cur box,current,oth box,other}' AS key,
       (SELECT json_agg(mark ORDER BY t.n, m.ordinal)
        FROM (VALUES (1, 'one_write', 'One write of %s kB'),
                     (2, 'two_writes', 'Two writes of %s kB')) AS t (n, test, title)
        JOIN sync_probe.measurements AS m ON m.test = t.test AND m.run_id = r.run_id,
             LATERAL (SELECT format(t.title, m.write_size / 1024) AS panel,
                             concat(m.method, CASE WHEN m.direct_io THEN '*' END) AS name,
                             CASE m.choice WHEN 'current' THEN 'cur' END AS colour,
                             m.ops_per_sec AS number, m.status AS words) AS mark) AS marks,
       sync_probe_internal.report_cells(r.run_id, data.paths) AS cells
FROM unnest(data.runs) AS r
WHERE r.suite = 'pg_test_fsync'
$$);
--
-- Section findings: the worst first.  After 20 the rest is counted.
--
INSERT INTO sync_probe_internal.report_sections VALUES (120, 'findings', 'Findings', 'Findings',
    'An error puts data at risk, a warning asks for action, and an info is good to know before you '
    'believe a number. Infos of one kind stand together, in the words of the first.', $$
SELECT concat(
    string_agg(concat(
        format('<div class="fi %s" id=finding-%s><p class=sv>%s</p><div>',
               sync_probe_internal.html_class(f.severity), f.number,
               sync_probe_internal.html_tag(f.severity)),
        format('<h3><code>%s</code> <span class="sm m">%s</span></h3>',
               sync_probe_internal.html_escape(f.code),
               sync_probe_internal.html_escape(array_to_string(f.locations, ', '))),
        '<p>' || sync_probe_internal.html_prose(
            sync_probe_internal.clipped(f.message, 1000)) || '</p>',
        '<p>' || sync_probe_internal.html_prose(
            sync_probe_internal.clipped(f.hint, 1000)) || '</p>',
        sync_probe_internal.html_code(f.commands), '</div></div>'), '' ORDER BY f.number)
        FILTER (WHERE f.number <= 20),
    CASE WHEN count(*) > 20
         THEN format('<p class=note>%s more: see sync_probe.findings.</p>', count(*) - 20)
         END) AS html
FROM sync_probe_internal.report_findings(data) AS f
HAVING count(*) > 0
$$);

--
-- Section numbers: the tables that the figures are drawn from.  Measurements of 24 runs are shown,
-- so that a page of hundreds stays readable.
--
INSERT INTO sync_probe_internal.report_sections VALUES (130, 'numbers', 'All numbers',
    'All numbers',
    'What the figures are drawn from, and what they leave out. A dash means that there was nothing '
    'to measure, or too little to know it.', $$
SELECT format('<details%s><summary>%s</summary>%s</details>',
              CASE t.title WHEN 'Recommendations' THEN ' open' END,
              sync_probe_internal.html_escape(t.title),
              sync_probe_internal.html_table(t.title, t.cells)) AS html
FROM (
    SELECT 1 AS n, NULL::bigint AS i, 'Recommendations' AS title, json_agg(cell) AS cells
    FROM unnest(data.advice) AS a,
         LATERAL (SELECT a.location, a.verdict, a.current_method AS current,
                         a.recommended_method AS recommended, a.best_method AS "best so far",
                         a.durable, a.basis, a.max_regret, a.deciding_test AS regime,
                         a.flush_us AS "flush us", a.recommended_commit_delay AS commit_delay,
                         a.run_id::text AS run) AS cell
    UNION ALL
    SELECT 2, NULL, 'Runs', json_agg(cell)
    FROM unnest(data.runs) AS r,
         LATERAL (SELECT r.run_id::text AS run, r.suite, r.location,
                         sync_probe_internal.clipped(r.label, 60) AS label,
                         coalesce(sync_probe_internal.report_origin(r), 'this server') AS "from",
                         concat_ws(', ', r.host, 'PostgreSQL ' || r.server_version_num / 10000)
                             AS server, r.filesystem AS "file system", r.device,
                         r.storage ->> 'write_cache' AS "write cache", r.directory,
                         r.wal_sync_method AS method,
                         sync_probe_internal.html_time(r.finished_at) AS finished,
                         r.flush_size AS "flush bytes",
                         sync_probe_internal.html_duration(r.flush_interval) AS "flush interval",
                         sync_probe_internal.html_duration(r.finished_at - r.started_at) AS duration
                 ) AS cell
    UNION ALL
    SELECT 3, i, format('Measurements of run %s, %s', r.run_id, coalesce(r.location, r.suite)),
           sync_probe_internal.report_cells(r.run_id, data.paths)
    FROM generate_subscripts(data.runs, 1) AS i, LATERAL (SELECT (data.runs[i]).*) AS r
    WHERE i <= 24
    UNION ALL
    SELECT 4, NULL, 'Locations', json_agg(cell)
    FROM unnest(data.places) AS p,
         LATERAL (SELECT p.name, p.filesystem AS "file system", p.device,
                         p.write_cache AS "write cache", p.directory, p.mount_point AS "mounted at",
                         p.mount_options AS "mount options",
                         p.shares_filesystem_with AS "shares with",
                         pg_size_pretty(p.size_bytes) AS size,
                         pg_size_pretty(p.available_bytes) AS available) AS cell
    WHERE NOT data.chosen) AS t
WHERE t.cells IS NOT NULL
ORDER BY t.n, t.i
$$);
--
-- The verdict on a location in a few words, as HTML.  The methods are values of the history, which
-- may be anything.
--
CREATE FUNCTION sync_probe_internal.report_sentence(advice sync_probe.recommendation_details)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT CASE
    WHEN advice.verdict = 'switch' THEN coalesce(' from ' || m.now, '') || ' to ' || m.advised
    WHEN advice.verdict = 'unsafe' AND m.advised IS NOT NULL THEN ': use ' || m.advised
    WHEN advice.verdict = 'unsafe' AND advice.run_id IS NOT NULL
    THEN ': no method was seen to be safe'
    WHEN advice.verdict = 'keep' THEN ' ' || m.now
    WHEN advice.verdict = 'undecided' THEN ': stay with ' || m.now || ' for now' END
FROM (SELECT '<code>' || sync_probe_internal.html_escape(
                             sync_probe_internal.clipped(advice.current_method, 60)) || '</code>',
             '<code>' || sync_probe_internal.html_escape(
                             sync_probe_internal.clipped(advice.recommended_method, 60))
                      || '</code>') AS m (now, advised)
$$;

--
-- Time of a flush in the regime that decides, with the recommended method and the current one.
--
CREATE FUNCTION sync_probe_internal.report_flush(advice sync_probe.recommendation_details)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT sync_probe_internal.html_duration(advice.flush_us) || coalesce((
    SELECT format(', with %s %s', sync_probe_internal.clipped(m.method, 60),
                  sync_probe_internal.html_duration(m.mean_us))
    FROM sync_probe.measurements AS m
    WHERE m.run_id = advice.run_id AND m.test = advice.deciding_test
      AND m.method = advice.current_method AND NOT m.direct_io AND m.mean_us < 'Infinity'
      AND advice.recommended_method <> advice.current_method LIMIT 1), '')
$$;

--
-- The verdict on one location, or of one run.
--
CREATE FUNCTION sync_probe_internal.report_panel(
    data sync_probe_internal.report_data,
    number integer,
    advice sync_probe.recommendation_details)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT concat(
    format('<article id=verdict-%s class="v %s %s"><div class=vh><h3 class=m>%s</h3>', number,
           CASE WHEN number = 1 THEN 'big' END, sync_probe_internal.html_class(advice.verdict),
           sync_probe_internal.html_escape(concat_ws(' ',
               advice.location, CASE WHEN data.chosen THEN 'run ' || advice.run_id END))),
    '<span class=sm>' || sync_probe_internal.html_escape(concat_ws(', ',
        r.filesystem || coalesce(' on ' || r.device, ''), r.write_cache)) || '</span></div>',
    '<p class=vw>' || sync_probe_internal.html_tag(coalesce(advice.verdict, 'unknown')),
    sync_probe_internal.report_sentence(advice),
    ' <span class=from>' || r.origin || '</span>',
    '</p><p class=why>' || sync_probe_internal.html_prose(
        sync_probe_internal.clipped(advice.reason, 1000)) || '</p>',
    '<dl class=figures>', f.facts, '</dl>', sync_probe_internal.html_code(advice.commands),
    E'</article>\n')
FROM (VALUES (1)) AS one
LEFT JOIN LATERAL (
    SELECT r.filesystem, r.device, r.storage ->> 'write_cache' AS write_cache,
           sync_probe_internal.report_origin(r) AS origin
    FROM unnest(data.runs) AS r
    WHERE r.run_id = advice.run_id OR NOT data.chosen AND r.location = advice.location
    LIMIT 1) AS r ON true
LEFT JOIN LATERAL (
    SELECT string_agg(format('<div><dt>%s<dd>%s</div>', v.name, v.html), '' ORDER BY v.n) AS facts
    FROM (VALUES
        (1, 'Durable', sync_probe_internal.html_tag(advice.durable)),
        (2, 'A flush takes',
         sync_probe_internal.html_prose(sync_probe_internal.report_flush(advice))),
        (3, 'Current method takes',
         sync_probe_internal.html_prose(sync_probe_internal.html_bound(advice.max_regret))),
        (4, 'Rests on', sync_probe_internal.html_escape(
            CASE advice.basis WHEN 'wal' THEN 'probe' WHEN 'commit' THEN 'suite commit'
                              ELSE advice.basis END || ', run ' || advice.run_id)),
        (5, 'Worst finding', (
            SELECT format('<a href=#%s>%s</a>',
                          CASE WHEN f.number <= 20 THEN 'finding-' || f.number ELSE 'findings' END,
                          sync_probe_internal.html_escape(f.severity || ', ' || f.code))
            FROM sync_probe_internal.report_findings(data) AS f
            WHERE r.origin IS NULL
              AND CASE WHEN data.chosen THEN advice.run_id = ANY (f.run_ids)
                       ELSE advice.location = ANY (f.locations) END
            ORDER BY f.number LIMIT 1))) AS v (n, name, html)
    WHERE v.html IS NOT NULL) AS f ON true
$$;

--
-- Section verdict: the first large, the others small.  After 12 the rest is counted: the table of
-- all numbers has them.
--
INSERT INTO sync_probe_internal.report_sections VALUES (10, 'verdict', 'Verdict', 'Verdict',
    'Each panel judges one location, or one run, by the strongest measurement of it. '
    '<code>wal_sync_method</code> is one setting for the whole cluster and acts on '
    '<code>pg_wal</code> alone. The panel of a tablespace shows which method would be best if '
    'pg_wal were on that file system.', $$
SELECT concat(string_agg(p.html, '') FILTER (WHERE p.number = 1),
              '<div class=pair>' || string_agg(p.html, '' ORDER BY p.number)
                                        FILTER (WHERE p.number BETWEEN 2 AND 12) || '</div>',
              CASE WHEN count(*) > 12 THEN format(
                  '<p class=note>%s more: see the tables at the end.</p>', count(*) - 12) END,
              '<p class=note>Not probed separately, because they share a file system: '
              || sync_probe_internal.html_escape((
                  SELECT string_agg(format('%s (with %s)', l.name, l.shares_filesystem_with), ', '
                                    ORDER BY l.name)
                  FROM unnest(data.places) AS l
                  WHERE NOT data.chosen AND l.shares_filesystem_with IS NOT NULL
                    AND NOT EXISTS (SELECT FROM unnest(data.advice) AS a
                                    WHERE a.location = l.name))) || '.</p>') AS html
FROM (SELECT number, CASE WHEN number <= 12
                          THEN sync_probe_internal.report_panel(data, number, data.advice[number])
                          END AS html
      FROM generate_subscripts(data.advice, 1) AS number) AS p
HAVING count(*) > 0
$$);
--
-- Section workloads: the workloads that ran last, at most 8: of each the results with the arguments
-- and settings of its newest one, the newest of each tablespace.  sql_bench() has a view of its
-- own.
--
INSERT INTO sync_probe_internal.report_sections VALUES (100, 'workloads',
    'What does it mean for a workload?', 'Workloads',
    'This compares storage of tables and indexes: the WAL goes to <code>pg_wal</code>, whatever '
    'the tablespace. A dot is the median latency of a transaction; its line ends at p99.', $$
WITH recent AS (
    SELECT w.*, row_number() OVER (PARTITION BY w.workload ORDER BY w.result_id DESC) AS age,
           -- what must be equal
           jsonb_build_array(w.clients, w.rows, w.settings,
                             w.server_settings -> 'wal_sync_method') AS terms
    FROM (SELECT * FROM sync_probe.workload_results AS w
          WHERE NOT data.chosen AND w.suite IS DISTINCT FROM 'sql_bench' AND w.tps > 0
            AND w.tps < 'Infinity'
          ORDER BY w.result_id DESC LIMIT 200) AS w
), shown AS (
    SELECT s.*, row_number() OVER (PARTITION BY s.place ORDER BY s.tps DESC) AS n,
           coalesce(s.tablespace, 'default') AS name,
           (SELECT a.durable FROM unnest(data.places) AS p, unnest(data.advice) AS a
            WHERE p.name = s.tablespace AND a.location IN (p.name, p.shares_filesystem_with)
            ORDER BY a.location = p.name DESC LIMIT 1) AS durable
    FROM (SELECT DISTINCT ON (l.place, r.tablespace) l.place, r.*
          FROM (SELECT r.workload, r.terms, row_number() OVER (ORDER BY r.result_id DESC) AS place
                FROM recent AS r WHERE r.age = 1) AS l
          JOIN recent AS r ON r.workload = l.workload AND r.terms = l.terms
          WHERE l.place <= 8
          ORDER BY l.place, r.tablespace, r.result_id DESC) AS s
)
SELECT f.kind, f.unit, format('Workload %s: %s', min(s.workload), f.title) AS heading,
       format('%s clients, %s rows, %s each; wal_sync_method = %s.%s', min(s.clients),
              sync_probe_internal.html_number(min(s.rows)),
              sync_probe_internal.html_duration(min(s.transactions / s.tps) * 1e6),
              min(s.server_settings ->> 'wal_sync_method'),
              CASE WHEN min(s.transactions / s.tps) < 9.5
                   THEN ' A run this short does not show which tablespace is faster.' END)
           AS caption,
       json_agg(mark ORDER BY s.n) FILTER (WHERE s.n <= 12) AS marks,
       json_agg(cell ORDER BY s.n) AS cells
FROM shown AS s,
     (VALUES ('bars', 'tps', 'transactions per second'),
             ('intervals', 'ms', 'latency, p50 to p99')) AS f (kind, unit, title),
     LATERAL (SELECT s.name, CASE s.durable WHEN 'no' THEN 'not durable' END AS note,
                     CASE s.durable WHEN 'no' THEN 'bad' ELSE 'cur' END AS colour,
                     CASE f.unit WHEN 'tps' THEN s.tps ELSE s.latency_p50_ms END AS number,
                     CASE f.unit WHEN 'ms' THEN s.latency_p50_ms END AS low,
                     CASE f.unit WHEN 'ms' THEN s.latency_p99_ms END AS high) AS mark,
     LATERAL (SELECT s.name AS tablespace, sync_probe_internal.html_time(s.started_at) AS started,
                     s.durable, s.tps, s.latency_p50_ms AS "p50 ms", s.latency_p99_ms AS "p99 ms",
                     s.latency_max_ms AS "max ms", s.transactions, s.failed) AS cell
GROUP BY s.place, f.kind, f.unit, f.title
ORDER BY s.place, f.kind
$$);
