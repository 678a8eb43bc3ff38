--
-- runs
--
-- One row for each probe: one location, measured by one suite.
--
CREATE TABLE sync_probe.runs (
    run_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    label text,
    location name,
    suite text NOT NULL CHECK (suite ~ '^[a-z0-9_]{1,63}$'),
    setting name,
    workload name,
    verdict text
        CHECK (verdict IN ('switch', 'keep', 'undecided', 'unsafe')),
    recommended_value text,
    best_value text,
    max_regret double precision,
    margin double precision,
    durable text CHECK (durable IN ('yes', 'no', 'no_cache', 'unknown', 'proven', 'refuted')),
    longer_duration interval,
    reason text,
    started_at timestamptz,
    finished_at timestamptz,
    directory text,
    filesystem text,
    device text,
    wal_sync_method text,
    fsync boolean,
    flush_size integer,
    flush_interval interval,
    workers integer,
    server_version_num integer,
    system_identifier bigint,
    host text,
    -- what findings, views and the report take apart; what is unknown is left out
    storage jsonb CHECK (storage @@ $$
        $.type() != "object" || $.** == null || $.disks.type() != "array"
        || $.disks[*].virtual.type() != "boolean"
        || $.zfs.data_devices.type() != "array" || $.zfs.log_devices.type() != "array"
        || exists($.keyvalue() ? (
             @.key like_regex "^(others|earlier|device_.*|below_flushes_per_op|.*flushed_fraction)$"
               && (@.value.type() != "object" || @.value.*.type() != "number")))
        $$ IS NOT TRUE),
    imported_at timestamptz,
    usable_for_advice boolean NOT NULL DEFAULT false
);

-- The index of advice and findings, see sync_probe_internal.own_runs.  With the bare run_id
-- the planner would rather walk down the primary key to the first run that matches, and if none
-- does, through the whole history.  For metrics, which looks for the runs of a month, finished_at.
CREATE INDEX ON sync_probe.runs (suite, location, (run_id + 0) DESC, finished_at)
    WHERE imported_at IS NULL;
-- for the finding fsync_was_off
CREATE INDEX ON sync_probe.runs (finished_at) WHERE NOT fsync;

GRANT SELECT ON sync_probe.runs TO pg_monitor;

COMMENT ON TABLE sync_probe.runs IS
  'Recorded runs. Deleting one deletes its measurements and seconds';
COMMENT ON COLUMN sync_probe.runs.run_id IS 'Number';
COMMENT ON COLUMN sync_probe.runs.label IS 'Free text';
COMMENT ON COLUMN sync_probe.runs.location IS
  'pg_wal or a tablespace; null in imports of pg_test_fsync';
COMMENT ON COLUMN sync_probe.runs.suite IS 'Suite of probe(), trial or power_test';
COMMENT ON COLUMN sync_probe.runs.setting IS 'Setting compared';
COMMENT ON COLUMN sync_probe.runs.workload IS
  'Load of a trial; null if the server''s own sessions made it';
COMMENT ON COLUMN sync_probe.runs.verdict IS
  'switch, keep, undecided or unsafe, when the run ended; null if nothing was compared, and in '
  'suite segments, see measurements';
COMMENT ON COLUMN sync_probe.runs.recommended_value IS 'The current one with keep and undecided';
COMMENT ON COLUMN sync_probe.runs.best_value IS 'Best by good odds, whatever the verdict';
COMMENT ON COLUMN sync_probe.runs.max_regret IS
  'The current value takes at most this much longer than the best one';
COMMENT ON COLUMN sync_probe.runs.margin IS 'Least gain worth a switch';
COMMENT ON COLUMN sync_probe.runs.durable IS 'As in recommendation_details';
COMMENT ON COLUMN sync_probe.runs.longer_duration IS
  'May settle an undecided run; null if none within max_duration can';
COMMENT ON COLUMN sync_probe.runs.reason IS 'Of the verdict';
COMMENT ON COLUMN sync_probe.runs.started_at IS 'Start and end';
COMMENT ON COLUMN sync_probe.runs.finished_at IS 'Start and end';
COMMENT ON COLUMN sync_probe.runs.directory IS 'As in locations';
COMMENT ON COLUMN sync_probe.runs.filesystem IS 'As in locations';
COMMENT ON COLUMN sync_probe.runs.device IS 'As in locations';
COMMENT ON COLUMN sync_probe.runs.wal_sync_method IS 'Setting at the start: the current method';
COMMENT ON COLUMN sync_probe.runs.fsync IS 'Setting at the end';
COMMENT ON COLUMN sync_probe.runs.flush_size IS
  'Bytes of WAL per flush, in suite commit per commit, in suite pg_test_fsync per write';
COMMENT ON COLUMN sync_probe.runs.flush_interval IS
  'Between paced flushes, in suite commit between commits of all workers';
COMMENT ON COLUMN sync_probe.runs.workers IS 'Of suite commit';
COMMENT ON COLUMN sync_probe.runs.server_version_num IS 'Version of the server';
COMMENT ON COLUMN sync_probe.runs.system_identifier IS 'As in pg_control_system()';
COMMENT ON COLUMN sync_probe.runs.host IS 'Machine name';
COMMENT ON COLUMN sync_probe.runs.storage IS
  'Mount options, disks, caches, background I/O, ZFS, earlier runs; by ordinal of measurements, '
  'device_bytes_per_op (background I/O included) and device_utilization (an upper bound); without '
  'what is unknown';
COMMENT ON COLUMN sync_probe.runs.imported_at IS 'Null if this server measured the run';
COMMENT ON COLUMN sync_probe.runs.usable_for_advice IS
  'True if not imported and with the cluster''s own flush size and interval; in suites wal and '
  'segments, with 16 samples or more';

--
-- measurements
--
-- One row for each test case of a run.  probe() returns rows of this type.
--
-- There is no foreign key, here and below: pg_restore with several jobs loads the tables of an
-- extension in any order, and would fail.  Triggers on runs do the rest.
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
    detail text,
    run_id bigint,
    ordinal integer,
    PRIMARY KEY (run_id, ordinal)
);

GRANT SELECT ON sync_probe.measurements TO pg_monitor;

COMMENT ON TABLE sync_probe.measurements IS
  'Test cases of runs. Times are in microseconds; null if not measured';
COMMENT ON COLUMN sync_probe.measurements.test IS
  'Test of the suite; in trials and suite commit the setting compared';
COMMENT ON COLUMN sync_probe.measurements.method IS
  'Sync method, or what the test does instead; value of a setting; in suite segments recycle, '
  'zero_fill or sparse';
COMMENT ON COLUMN sync_probe.measurements.direct_io IS
  'Whether opened with O_DIRECT, in trials and suite commit by the server';
COMMENT ON COLUMN sync_probe.measurements.choice IS
  'current: as the server is set; recommended: by this run instead';
COMMENT ON COLUMN sync_probe.measurements.verdict IS
  'switch, keep, undecided or unsafe, on the row of the current value in the test that decides; '
  'null in suites stream and pg_test_fsync';
COMMENT ON COLUMN sync_probe.measurements.durable IS
  'Whether its syncs reached the device: yes, no, no_cache or unknown; null in trials, suite '
  'commit and reports of pg_test_fsync';
COMMENT ON COLUMN sync_probe.measurements.status IS
  'ok; unsupported by platform or server; no_direct_io: the file system refuses O_DIRECT; '
  'stopped: no time left; error: see detail';
COMMENT ON COLUMN sync_probe.measurements.p50_us IS 'Median latency';
COMMENT ON COLUMN sync_probe.measurements.relative_speed IS
  'Current method''s time divided by this one''s within samples; on its own row, that of its two '
  'copies';
COMMENT ON COLUMN sync_probe.measurements.relative_speed_low IS
  'Its 95 percent confidence interval, corrected for repeated looks and number of methods';
COMMENT ON COLUMN sync_probe.measurements.relative_speed_high IS
  'Its 95 percent confidence interval, corrected for repeated looks and number of methods';
COMMENT ON COLUMN sync_probe.measurements.p99_us IS '99th percentile; null below 299 operations';
COMMENT ON COLUMN sync_probe.measurements.max_us IS 'Longest latency';
COMMENT ON COLUMN sync_probe.measurements.flushes_per_op IS
  'Flush requests that disks completed, background I/O included; null if unknown';
COMMENT ON COLUMN sync_probe.measurements.ops IS 'Operations, each the writes and their sync';
COMMENT ON COLUMN sync_probe.measurements.mean_us IS 'Mean time';
COMMENT ON COLUMN sync_probe.measurements.ops_per_sec IS
  'Per second spent in operations, or commits per second; null when paced';
COMMENT ON COLUMN sync_probe.measurements.detail IS
  'Call that failed and its error; when a slower method was left out; rate (stream); flushes '
  '(segments)';
COMMENT ON COLUMN sync_probe.measurements.run_id IS 'Null if not recorded';
COMMENT ON COLUMN sync_probe.measurements.ordinal IS 'Position in the run, from 1';

--
-- samples
--
-- The samples and the histogram of each measurement, which latency_histogram(), compare() and
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
-- sync_probe_internal.delete_rows
--
-- Rows of a run are deleted with it.  It runs as the owner, as actions of foreign keys do.  On a
-- table of their own, callers could make it run their comparison functions as the owner.
--
CREATE FUNCTION sync_probe_internal.delete_rows()
RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    belonging text;
BEGIN
    IF TG_RELID <> 'sync_probe.runs'::regclass THEN
        RAISE insufficient_privilege;
    END IF;
    FOREACH belonging IN ARRAY '{sync_probe.measurements,sync_probe_internal.samples,
        sync_probe_internal.stream_seconds}'::regclass[]
    LOOP
        -- TRUNCATE has no table of old rows
        EXECUTE concat('DELETE FROM ', belonging, CASE TG_OP
            WHEN 'DELETE' THEN ' WHERE run_id IN (SELECT run_id FROM gone)' END);
    END LOOP;
    RETURN NULL;
END
$$;

REVOKE ALL ON FUNCTION sync_probe_internal.delete_rows FROM PUBLIC;

CREATE TRIGGER delete_rows AFTER DELETE ON sync_probe.runs
    REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION sync_probe_internal.delete_rows();
CREATE TRIGGER truncate_rows AFTER TRUNCATE ON sync_probe.runs
    FOR EACH STATEMENT EXECUTE FUNCTION sync_probe_internal.delete_rows();
