--
-- Do syncs reach the device: the rule, and what recommendations make of it.
--
-- A sync that was made durable leaves a flush in the device's counters; background I/O
-- can hide a missing one, never take one away.
--
\set ON_ERROR_STOP on
\set QUIET on
\pset format unaligned
\pset tuples_only on
BEGIN;
CREATE EXTENSION IF NOT EXISTS pgtap;
CREATE EXTENSION IF NOT EXISTS pg_sync_probe;
\ir include/stage.sql
DELETE FROM sync_probe.runs;
SET LOCAL pg_sync_probe.margin = 0.05;

-- ------------------------------------------------------------------ the rule

CREATE TEMP TABLE rule (
    write_cache text, fua boolean, syncs_nothing boolean,
    flushes float8, background float8,  -- per operation
    has_backing boolean, backing float8,    -- at the backing devices of a loop device
    durable text);
INSERT INTO rule VALUES
-- a volatile cache: none, and where the limits are
('write back', false, false, 0, 0, false, NULL, 'no'),
('write back', false, false, 0.05, 0, false, NULL, 'no'),
('write back', false, false, 0.09, 0, false, NULL, 'no'),
('write back', false, false, 0.1, 0, false, NULL, 'unknown'),
('write back', false, false, 0.3, 0, false, NULL, 'unknown'),
('write back', false, false, 0.89, 0, false, NULL, 'unknown'),
('write back', false, false, 0.9, 0, false, NULL, 'yes'),
('write back', false, false, 1, 0, false, NULL, 'yes'),
('write back', false, false, 2, 0, false, NULL, 'yes'),
('write back', false, false, NULL, 0, false, NULL, 'unknown'),
-- background I/O may have made them
('write back', false, false, 0, 0.3, false, NULL, 'no'),
('write back', false, false, 0.3, 0.3, false, NULL, 'no'),
('write back', false, false, 0.3, 0.05, false, NULL, 'unknown'),
('write back', false, false, 0.49, 1, false, NULL, 'no'),
('write back', false, false, 0.5, 1, false, NULL, 'unknown'),
('write back', false, false, 0.9, 0.3, false, NULL, 'unknown'),
('write back', false, false, 1, 0.25, false, NULL, 'yes'),
('write back', false, false, 1, 0.3, false, NULL, 'unknown'),
('write back', false, false, 1, 1, false, NULL, 'unknown'),
('write back', false, false, 2, 0.3, false, NULL, 'yes'),
('write back', false, false, 2, 1, false, NULL, 'unknown'),
('write back', false, false, 3, 1, false, NULL, 'yes'),
-- no idle sample: no claim that background I/O would spoil
('write back', false, false, 0, NULL, false, NULL, 'no'),
('write back', false, false, 0.05, NULL, false, NULL, 'no'),
('write back', false, false, 0.3, NULL, false, NULL, 'unknown'),
('write back', false, false, 1, NULL, false, NULL, 'unknown'),
('write back', false, false, 2, NULL, false, NULL, 'unknown'),
-- FUA writes show no flush; nor do those that may be
('write back', true, false, 0, 0, false, NULL, 'unknown'),
('write back', true, false, 0.3, 0.3, false, NULL, 'unknown'),
('write back', true, false, 1, 0, false, NULL, 'yes'),
('write back', NULL, false, 0, 0, false, NULL, 'unknown'),
('write back', NULL, false, 1, 0, false, NULL, 'yes'),
-- a write-through cache needs none
('write through', false, false, 0, 0, false, NULL, 'no_cache'),
('write through', false, false, NULL, NULL, false, NULL, 'no_cache'),
('write through', false, false, 0, 0, true, 0, 'unknown'),
('write through', false, false, 1, 0, false, NULL, 'yes'),
('write through', true, false, 0.05, 0, false, NULL, 'no_cache'),
(NULL, false, false, 0, 0, false, NULL, 'unknown'),
(NULL, NULL, NULL, 0, NULL, NULL, NULL, 'unknown'),
(NULL, false, false, 1, 0, false, NULL, 'yes'),
('a word of tomorrow', false, false, 0, 0, false, NULL, 'unknown'),
-- what arrives at a loop device is to arrive at its backing device, too
('write back', false, false, 1, 0, true, 1, 'yes'),
('write back', false, false, 1, 0, true, 0.9, 'yes'),
('write back', false, false, 1, 0, true, 0.89, 'unknown'),
('write back', false, false, 1, 0, true, 0, 'unknown'),
('write back', false, false, 1, 0, true, NULL, 'unknown'),
('write back', false, false, 0, 0, true, 1, 'no'),
('write back', false, false, 1, 0, false, 0, 'yes'),
('write back', false, false, 1, 0, NULL, NULL, 'yes'),
-- whatever the counters say
('write back', false, true, 1, 0, false, NULL, 'no'),
('write through', true, true, NULL, NULL, false, NULL, 'no'),
(NULL, NULL, true, NULL, NULL, NULL, NULL, 'no'),
('write back', false, NULL, 1, 0, false, NULL, 'yes');

-- ------------------------------------------------- a method in both regimes

CREATE FUNCTION pg_temp.measured(ordinal integer, flushes float8, ops bigint)
RETURNS sync_probe.measurements LANGUAGE sql AS $$
    SELECT jsonb_populate_record(NULL::sync_probe.measurements,
        jsonb_build_object('ordinal', ordinal, 'flushes_per_op', flushes, 'ops', ops,
                           'mean_us', 1000, 'method', 'fdatasync', 'direct_io', false))
$$;

CREATE TEMP TABLE both_regimes (
    name text,
    of_storage jsonb,       -- beside a volatile cache without FUA
    paced float8, paced_ops bigint, saturated float8, saturated_ops bigint,
    durable text);
INSERT INTO both_regimes VALUES
('flushes in both', '{"others": {"most_flushes_per_sec": 0}}', 1, 100, 1, 100, 'yes'),
('in one alone', '{"others": {"most_flushes_per_sec": 0}}', 1, 100, 0, 100, 'no'),
('in the other alone', '{"others": {"most_flushes_per_sec": 0}}', 0, 100, 1, 100, 'no'),
('one is not known', '{"others": {"most_flushes_per_sec": 0}}', 1, 100, 0.5, 100, 'unknown'),
('one is not known, the other is none', '{"others": {"most_flushes_per_sec": 0}}',
    0.5, 100, 0, 100, 'no'),
('one was not measured', '{"others": {"most_flushes_per_sec": 0}}', 1, 100, 0, 0, 'yes'),
('nothing was measured', '{"others": {"most_flushes_per_sec": 0}}', 0, 0, 0, NULL, 'unknown'),
-- 250 a second are 0.25 in the millisecond of a sync, 300 are 0.3
('background I/O leaves half', '{"others": {"most_flushes_per_sec": 250}}', 1, 100, 1, 100, 'yes'),
('background I/O leaves less than half', '{"others": {"most_flushes_per_sec": 300}}',
    1, 100, 1, 100, 'unknown'),
('no idle sample', '{}', 1, 100, 1, 100, 'unknown'),
('no idle sample, and none', '{}', 0, 100, 0, 100, 'no'),
('all arrive below',
    '{"others": {"most_flushes_per_sec": 0, "most_below_flushes_per_sec": 0},
        "below_flushes_per_op": {"2": 1, "7": 1}}',
    1, 100, 1, 100, 'yes'),
('all arrive below, but perhaps of background I/O',
    '{"others": {"most_flushes_per_sec": 0, "most_below_flushes_per_sec": 300},
        "below_flushes_per_op": {"2": 1, "7": 1}}',
    1, 100, 1, 100, 'unknown'),
('all arrive below, no idle sample there',
    '{"others": {"most_flushes_per_sec": 0}, "below_flushes_per_op": {"2": 1, "7": 1}}',
    1, 100, 1, 100, 'unknown'),
('the caches of the disks differ',
    '{"write_cache": "mixed", "others": {"most_flushes_per_sec": 0}}', 1, 100, 0, 100, 'unknown'),
('none of one arrives below',
    '{"others": {"most_flushes_per_sec": 0, "most_below_flushes_per_sec": 0},
        "below_flushes_per_op": {"2": 1, "7": 0}}',
    1, 100, 1, 100, 'unknown'),
('only another''s arrive below',
    '{"others": {"most_flushes_per_sec": 0, "most_below_flushes_per_sec": 0},
        "below_flushes_per_op": {"3": 1, "8": 1}}',
    1, 100, 1, 100, 'unknown'),
('nothing is known below',
    '{"others": {"most_flushes_per_sec": 0, "most_below_flushes_per_sec": 0},
        "below_flushes_per_op": {}}',
    1, 100, 1, 100, 'unknown'),
('memory', '{"syncs_nothing": "tmpfs"}', NULL, 100, NULL, 100, 'no'),
('FUA', '{"fua": true}', 0, 100, 0, 100, 'unknown'),
('FUA is not known', '{"fua": null}', 0, 100, 0, 100, 'unknown'),
('FUA, which does not replace flushes of buffered writes',
    '{"fua": true, "flushes_uncounted": false}', 0, 100, 0, 100, 'no'),
('flushes may not be counted', '{"fua": false, "flushes_uncounted": true}', 0, 100, 0, 100,
    'unknown'),
('a write-through cache', '{"write_cache": "write through"}', 0, 100, 0, 100, 'no_cache'),
('a write-through cache, but flushes in one regime',
    '{"write_cache": "write through", "others": {"most_flushes_per_sec": 0}}', 1, 100, 0, 100,
    'no_cache'),
('a write-through cache, and flushes in both',
    '{"write_cache": "write through", "others": {"most_flushes_per_sec": 0}}', 1, 100, 1, 100,
    'yes'),
('sham windows show flushes of our own',
    '{"others": {"most_flushes_per_sec": 3000}, "own_share": {"2": 0.5}}', 2, 100, 1, 100, 'yes'),
('sham windows show too few',
    '{"others": {"most_flushes_per_sec": 3000}, "own_share": {"2": 0.49}}', 2, 100, 1, 100,
    'unknown'),
('sham windows of another method',
    '{"others": {"most_flushes_per_sec": 3000}, "own_share": {"3": 0.9}}', 2, 100, 1, 100,
    'unknown'),
('sham windows show flushes of our own below, too',
    '{"others": {"most_flushes_per_sec": 3000, "most_below_flushes_per_sec": 3000},
        "own_share": {"2": 0.9}, "below_own_share": {"2": 0.9},
        "below_flushes_per_op": {"2": 2, "7": 2}}', 2, 100, 1, 100, 'yes'),
('sham windows show nothing below',
    '{"others": {"most_flushes_per_sec": 3000, "most_below_flushes_per_sec": 3000},
        "own_share": {"2": 0.9}, "below_own_share": {},
        "below_flushes_per_op": {"2": 2, "7": 2}}', 2, 100, 1, 100, 'unknown'),
('some syncs had no flush, though others flush',
    '{"others": {"most_flushes_per_sec": 3000}, "lacking_share": {"2": 0.06}}', 2, 100, 1, 100,
    'no'),
('hardly any sync had no flush',
    '{"others": {"most_flushes_per_sec": 3000}, "lacking_share": {"2": 0.05}}', 2, 100, 1, 100,
    'unknown'),
('one of several disks gets no flush',
    '{"others": {"most_flushes_per_sec": 0}, "least_flushes_per_op": {"2": 0, "7": 0},
        "required_flushes_per_op": {"2": 0, "7": 0}}', 1, 100, 1, 100, 'no'),
('one of several disks gets no flush, and may need none',
    '{"others": {"most_flushes_per_sec": 0}, "least_flushes_per_op": {"2": 0, "7": 0},
        "required_flushes_per_op": {"2": 1, "7": 1}}', 1, 100, 1, 100, 'unknown'),
('each of several disks gets its flush',
    '{"others": {"most_flushes_per_sec": 0}, "least_flushes_per_op": {"2": 1, "7": 1},
        "required_flushes_per_op": {"2": 1, "7": 1}}', 4, 100, 4, 100, 'yes'),
('each of several disks gets its flush, but not in one regime',
    '{"others": {"most_flushes_per_sec": 0}, "least_flushes_per_op": {"2": 1, "7": 0},
        "required_flushes_per_op": {"2": 1, "7": 0}}', 4, 100, 4, 100, 'no'),
('the caches of the disks differ, and the volatile one gets its flush',
    '{"write_cache": "mixed", "others": {"most_flushes_per_sec": 0},
        "least_flushes_per_op": {"2": 1, "7": 1}, "required_flushes_per_op": {"2": 1, "7": 1}}',
    1, 100, 1, 100, 'yes'),
('the caches of the disks differ, and the volatile one gets no flush',
    '{"write_cache": "mixed", "others": {"most_flushes_per_sec": 0},
        "least_flushes_per_op": {"2": 0, "7": 0}, "required_flushes_per_op": {"2": 0, "7": 0}}',
    0, 100, 0, 100, 'no'),
('the caches of the disks differ, and the volatile one may need no flush',
    '{"write_cache": "mixed", "others": {"most_flushes_per_sec": 0},
        "least_flushes_per_op": {"2": 0, "7": 0}, "required_flushes_per_op": {}}',
    0, 100, 0, 100, 'unknown'),
('a loop device, whose disk needs no flush',
    '{"others": {"most_flushes_per_sec": 0, "most_below_flushes_per_sec": 0},
        "below_flushes_per_op": {"2": 0, "7": 0}, "below_write_cache": "write through"}',
    1, 100, 1, 100, 'no_cache'),
('a loop device that passes no flush on',
    '{"write_cache": "write through", "below_flushes_per_op": {"2": 0, "7": 0},
        "below_write_cache": "write through"}', 0, 100, 0, 100, 'unknown');

-- FUA replaces a flush for open_datasync with O_DIRECT alone.
CREATE TEMP TABLE fua_case (method text, direct_io boolean, durable text);
INSERT INTO fua_case VALUES
('open_datasync', true, 'unknown'),
('open_datasync', false, 'no'),
('open_datasync', NULL, 'unknown'),
('open_sync', true, 'no'),
('fdatasync', true, 'no');

-- Syncs that write nothing reach nothing, if writes are counted.
CREATE TEMP TABLE write_case (of_storage jsonb, writes float8, durable text);
INSERT INTO write_case VALUES
('{"writes_uncounted": false}', 0.09, 'no'),
('{"writes_uncounted": false}', 0.1, 'no_cache'),
('{"writes_uncounted": false}', NULL, 'no_cache'),
('{"writes_uncounted": true}', 0, 'no_cache'),
('{}', 0, 'no_cache');

-- ----------------------------------------------------------- recommendations

CREATE TYPE pg_temp.speed AS (low float8, high float8);

-- fdatasync is the current method: its speeds are those of the control
CREATE TEMP TABLE scenario (
    name text,
    location name,
    of_storage jsonb,
    fdatasync float8,       -- flushes an operation, for each method
    open_datasync float8, od_speed pg_temp.speed,
    fsync float8, fsync_speed pg_temp.speed,
    verdict text, recommended text, durable text, reason text, has_command boolean);
INSERT INTO scenario VALUES
-- the current one does not sync: the fastest that does, however slow
('one method syncs', 'pg_wal', '{}', 0, 0, (1.10,1.20), 1, (0.60,0.70), 'unsafe', 'fsync', 'no',
    'syncs with fdatasync do not reach the device; fsync is the fastest method whose syncs do',
    true),
('two methods sync', 'pg_wal', '{}', 0, 1, (0.80,0.90), 1, (0.60,0.70), 'unsafe', 'open_datasync',
    'no', 'open_datasync is the fastest method', true),
('two methods sync, the other is the faster', 'pg_wal', '{}', 0, 1, (0.60,0.70), 1, (0.80,0.90),
    'unsafe', 'fsync', 'no', 'fsync is the fastest method', true),
('there were few rounds', 'pg_wal', '{}', 0, 0, NULL, 1, NULL, 'unsafe', 'fsync', 'no',
    'fsync is the fastest method', true),
('no method syncs', 'pg_wal', '{}', 0, 0, (1.10,1.20), 0, (0.60,0.70), 'unsafe', NULL, 'no',
    'change the storage, not the setting', false),
('of no method it is known', 'pg_wal', '{}', 0, 0.5, (1.10,1.20), NULL, (0.60,0.70), 'unsafe',
    NULL, 'no', 'no method is known whose syncs do', false),
('ZFS that syncs nothing', 'pg_wal', '{"syncs_nothing": "sync=disabled"}', 1, 1, (1.10,1.20), 1,
    (0.60,0.70), 'unsafe', NULL, 'no', 'not the setting (sync=disabled)', false),
('memory', 'pg_wal', '{"syncs_nothing": "tmpfs"}', NULL, NULL, (1.10,1.20), NULL, (0.60,0.70),
    'unsafe', NULL, 'no', 'not the setting (tmpfs)', false),
('a tablespace where one method syncs', 'pg_default', '{}', 0, 0, (1.10,1.20), 1, (0.60,0.70),
    'unsafe', 'fsync', 'no', 'if the WAL were here: syncs with fdatasync do not reach', false),
('a tablespace where none does', 'pg_default', '{}', 0, 0, (1.10,1.20), 0, (0.60,0.70), 'unsafe',
    NULL, 'no', 'if the WAL were here: syncs with fdatasync do not reach', false),

-- another one does not sync: it is never recommended
('the faster one does not sync', 'pg_wal', '{}', 1, 0, (1.10,1.20), 1, (0.60,0.70), 'keep',
    'fdatasync', 'yes', 'every other method that can be measured is slower than fdatasync', false),
('the faster one does not sync, the next does', 'pg_wal', '{}', 1, 0, (1.50,1.60), 1, (1.10,1.20),
    'switch', 'fsync', 'yes', 'fsync takes 13 % less', true),
('the faster one does not sync, an equal does', 'pg_wal', '{}', 1, 0, (1.50,1.60), 1, (0.98,1.02),
    'tie', 'fdatasync', 'yes',
    'no method is more than 2 % faster with a flush every 5 ms, or 2 % back to back; as fast as '
    'fdatasync: fsync',
    false),
-- nor does it stand in the way of the others
('open, but does not sync', 'pg_wal', '{}', 1, 0, (0.90,1.30), 1, (0.60,0.70), 'keep', 'fdatasync',
    'yes', 'every other method', false),
('open, and syncs', 'pg_wal', '{}', 1, 1, (0.90,1.30), 1, (0.60,0.70), 'undecided', 'fdatasync',
    'yes', 'not settled: open_datasync', false),
('an equal does not sync', 'pg_wal', '{}', 1, 0, (0.98,1.02), 1, (0.60,0.70), 'keep', 'fdatasync',
    'yes', 'every other method', false),

-- what is not known takes part
('the faster one may sync', 'pg_wal', '{}', 1, 0.5, (1.10,1.20), 1, (0.60,0.70), 'switch',
    'open_datasync', 'yes', 'open_datasync takes 13 % less', true),
('the current one may sync', 'pg_wal', '{}', 0.5, 1, (0.80,0.90), 1, (0.60,0.70), 'keep',
    'fdatasync', 'unknown', 'every other method', false),
('FUA', 'pg_wal', '{"fua": true}', 0, 0, (1.10,1.20), 1, (0.60,0.70), 'switch', 'open_datasync',
    'unknown', 'open_datasync takes', true),
('a write-through cache', 'pg_wal', '{"write_cache": "write through"}', 0, 0, (1.10,1.20), 1,
    (0.60,0.70), 'switch', 'open_datasync', 'no_cache', 'open_datasync takes', true),
('nothing was recorded of the storage', 'pg_wal', NULL, 0, 0, (1.10,1.20), 1, (0.60,0.70),
    'switch', 'open_datasync', 'unknown', 'open_datasync takes', true),
('a tablespace whose faster method does not sync', 'pg_default', '{}', 1, 0, (1.50,1.60), 1,
    (1.10,1.20), 'switch', 'fsync', 'yes', 'if the WAL were here: fsync takes', false);

CREATE FUNCTION pg_temp.record(s scenario) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    id bigint;
BEGIN
    id := pg_temp.record_run(jsonb_build_object('location', s.location, 'storage',
        '{"write_cache": "write back", "fua": false, "others": {"most_flushes_per_sec": 0}}'
        || s.of_storage));
    INSERT INTO sync_probe.measurements (run_id, ordinal, test, method, direct_io, status, ops,
        mean_us, relative_speed, relative_speed_low, relative_speed_high, flushes_per_op)
    SELECT id, row_number() OVER (), r.test, m.method, false, 'ok', 500, r.mean_us,
           coalesce(sqrt((m.speed).low * (m.speed).high), m.estimate),
           (m.speed).low, (m.speed).high, m.flushes
    FROM (VALUES ('paced', 1000), ('saturated', 500)) AS r (test, mean_us),
         (VALUES ('fdatasync', s.fdatasync, (0.99,1.01)::pg_temp.speed, 1),
                 ('open_datasync', s.open_datasync, s.od_speed, 1.1),
                 ('fsync', s.fsync, s.fsync_speed, 0.6)) AS m (method, flushes, speed, estimate);
    RETURN id;
END
$$;

CREATE TEMP TABLE advice (LIKE scenario, id bigint, got sync_probe.recommendation_details);
DO $$
DECLARE
    s scenario;
    id bigint;
BEGIN
    FOR s IN SELECT * FROM scenario LOOP
        id := pg_temp.record(s);
        INSERT INTO advice
        SELECT s.*, id, r FROM sync_probe.recommendation_details AS r
        WHERE r.location = s.location;
    END LOOP;
END
$$;

-- --------------------------------------------------------------------- tests

SELECT plan((SELECT count(*)::integer FROM rule) + (SELECT count(*)::integer FROM both_regimes)
            + (SELECT count(*)::integer * 6 FROM scenario)
            + (SELECT count(*)::integer FROM fua_case) + (SELECT count(*)::integer FROM write_case)
            + (SELECT count(*)::integer + 6 FROM both_regimes WHERE durable = 'unknown')
            + 24);

-- A run of a scenario that becomes the newest: an error unless one is recorded.
PREPARE record (text) AS
SELECT pg_temp.record(s) AS run_id FROM scenario AS s WHERE s.name = $1;

SELECT is((sync_probe_internal.durable(write_cache, fua, syncs_nothing, flushes, background,
                                       has_backing, backing, background)).durable,
          durable,
          format('%s, fua %s, nothing %s, %s flushes, background %s, backing %s %s',
                 write_cache, fua, syncs_nothing, flushes, background, has_backing, backing))
FROM rule;

SELECT is(sync_probe_internal.method_durable('{"write_cache": "write back", "fua": false}' || of_storage,
                                     pg_temp.measured(2, paced, paced_ops),
                                     pg_temp.measured(7, saturated, saturated_ops)),
          durable, 'both regimes: ' || name)
FROM both_regimes;
SELECT is(sync_probe_internal.method_durable(
              '{"write_cache": "write back", "fua": true, "flushes_uncounted": false}', m, m),
          f.durable, format('FUA: %s, direct_io %s', f.method, f.direct_io))
FROM fua_case AS f,
     LATERAL jsonb_populate_record(pg_temp.measured(2, 0, 100),
         jsonb_build_object('method', f.method, 'direct_io', f.direct_io)) AS m;
SELECT is(sync_probe_internal.method_durable('{"write_cache": "write through"}' || of_storage,
                                             m, m),
          durable, format('%s writes per sync, %s', writes, of_storage))
FROM write_case,
     LATERAL jsonb_populate_record(pg_temp.measured(2, 0, 100),
         jsonb_build_object('device_writes_per_op', writes)) AS m;
SELECT is(sync_probe_internal.method_durable(NULL, pg_temp.measured(2, 0, 100),
                                     pg_temp.measured(7, 0, 100)),
          'unknown', 'nothing is known of the storage');

SELECT is((got).run_id, id, name || ': the newest run') FROM advice;
SELECT is((got).verdict, verdict, name || ': verdict') FROM advice;
SELECT is((got).recommended_method, recommended, name || ': method') FROM advice;
SELECT is((got).durable, durable, name || ': durable') FROM advice;
SELECT ok(strpos((got).reason, reason) > 0, name || ': reason: ' || (got).reason) FROM advice;
SELECT is((got).commands,
          CASE WHEN has_command
               THEN ARRAY[format('ALTER SYSTEM SET wal_sync_method = ''%s''', recommended),
                          'SELECT pg_reload_conf()']
                    || CASE WHEN recommended LIKE 'open%'
                       THEN '{CALL sync_probe.wait_for_reload(),CHECKPOINT}'::text[] END
               WHEN verdict = 'tie'
               THEN ARRAY['SELECT * FROM sync_probe.probe(duration => ''15 s'')']
               WHEN verdict = 'undecided'
               THEN ARRAY['SELECT * FROM sync_probe.probe(duration => ''15 s'', '
                          'stop_early => false)'] END,
          name || ': commands')
FROM advice;

-- the figures are those of the method that is recommended, or none
SELECT is((got).paced_speed_low, 0.6::float8, 'the price of safety, paced')
FROM advice WHERE name = 'one method syncs';
SELECT is((got).saturated_speed_high, 0.7::float8, 'and back to back')
FROM advice WHERE name = 'one method syncs';
SELECT is(num_nulls((got).paced_speed, (got).saturated_speed, (got).paced_flush_us,
                    (got).recommended_commit_delay), 4, 'no method, no figures')
FROM advice WHERE name = 'no method syncs';
SELECT is_empty($$SELECT name FROM advice
                  WHERE (got).reason LIKE '%open_datasync%' AND open_datasync = 0
                    AND fdatasync = 1$$,
                'no word of a method that does not sync');

-- back to back gains of a method that does not sync are none
EXECUTE record ('the faster one does not sync') \gset
UPDATE sync_probe.measurements
SET relative_speed = 0.65, relative_speed_low = 0.6, relative_speed_high = 0.7
WHERE run_id = :run_id AND test = 'paced' AND method = 'open_datasync';
SELECT is(reason, 'every other method that can be measured is slower than fdatasync',
          'nor are they told of')
FROM sync_probe.recommendation_details WHERE location = 'pg_wal';

-- an advice that was followed: the run's method was another than today's
EXECUTE record ('two methods sync') \gset
UPDATE sync_probe.measurements
SET method = CASE method WHEN 'open_datasync' THEN current_setting('wal_sync_method')
                         ELSE 'once ' || method END
WHERE run_id = :run_id;
UPDATE sync_probe.runs SET wal_sync_method = 'once fdatasync' WHERE run_id = :run_id;
SELECT is(verdict, 'keep', 'what was recommended is kept')
FROM sync_probe.recommendation_details WHERE location = 'pg_wal';
SELECT is(commands, NULL, 'no command for what is set already')
FROM sync_probe.recommendation_details WHERE location = 'pg_wal';
SELECT is(durable, 'yes', 'its syncs reach the device')
FROM sync_probe.recommendation_details WHERE location = 'pg_wal';
SELECT ok(starts_with(reason, 'chosen instead of once fdatasync: '), 'and the reason says so')
FROM sync_probe.recommendation_details WHERE location = 'pg_wal';
SELECT is_empty($$SELECT code FROM sync_probe.findings
                  WHERE location = 'pg_wal' AND code IN ('flush_missing', 'outdated_run')$$,
                'and no finding says otherwise');

-- the function takes the words alone
CREATE TEMP VIEW judged AS
SELECT d.durable, v.*
FROM unnest('{"{yes,yes}", "{yes,no}", "{no,yes}", "{no,unknown}", "{unknown,unknown}",
              "{NULL,perhaps}", "{unknown,yes}", "{no,no_cache}",
              "{no_cache,no_cache}"}'::text[]) WITH ORDINALITY AS w (words, n),
     LATERAL CAST(w.words AS text[]) AS d (durable),
     LATERAL sync_probe_internal.verdict('fsync', '{fsync,open_sync}', '{1,1.2}', '{0.99,1.1}',
                                 '{1.01,1.3}', '{1,1.2}', '{0.99,1.1}', '{1.01,1.3}',
                                 '{9,9}', '{0,0}', '{9,9}', '{0,0}', d.durable,
                                 'NaN', 'NaN', 'NaN') AS v
ORDER BY n;
SELECT results_eq('SELECT durable, verdict, recommended_method FROM judged',
    $$VALUES ('{yes,yes}'::text[], 'switch', 'open_sync'),
             ('{yes,no}', 'undecided', 'fsync'),
             ('{no,yes}', 'unsafe', 'open_sync'),
             ('{no,unknown}', 'unsafe', NULL),
             ('{unknown,unknown}', 'switch', 'open_sync'),
             ('{NULL,perhaps}', 'switch', 'open_sync'),
             ('{unknown,yes}', 'switch', 'open_sync'),
             ('{no,no_cache}', 'unsafe', 'open_sync'),
             ('{no_cache,no_cache}', 'switch', 'open_sync')$$,
    '_verdict() by the words on durability');
SELECT is(reason, 'no other method could be measured',
          'a method that does not sync leaves nobody to compare with')
FROM judged WHERE durable = '{yes,no}';
SELECT throws_ok(format($$SELECT sync_probe_internal.verdict('fsync', '{fsync,open_sync}', '{1,1}', '{1,1}',
                                             '{1,1}', '{1,1}', '{1,1}', '{1,1}', '{9,9}', '{0,0}',
                                             '{9,9}', '{0,0}', %L, 1, 1, 1)$$,
                        words),
                 '2202E', NULL, 'durable has a word for each method: ' || words)
FROM unnest('{"{yes}", "{yes,yes,yes}", "{}"}'::text[]) AS words;
SELECT is(sync_probe_internal.verdict('fsync', '{fsync}', '{1}', '{1}', '{1}', '{1}', '{1}', '{1}',
                                      '{9}', '{0}', '{9}', '{0}', NULL, 1, 1, 1),
          NULL, 'null is null');
SELECT is(sync_probe_internal.verdict(current, '{fsync}', '{1}', '{1}', '{1}', '{1}', '{1}', '{1}',
                                      '{9}', '{0}', '{9}', '{0}', '{yes}', 1, 1, 1) IS NULL,
          unknown, 'a verdict on ' || current || ' needs its figures')
FROM (VALUES ('fsync', false), ('open_sync', true)) AS v (current, unknown);
SELECT is(sync_probe_internal.verdict('fsync', array_fill('fsync'::text, n), o, o, o, o, o, o, o, o,
                                      o, o, array_fill('yes'::text, n), 1, 1, 1) IS NULL,
          unknown, format('a verdict on %s methods', n[1]))
FROM (VALUES ('{8}'::int[], false), ('{9}', true)) AS v (n, unknown),
     LATERAL (SELECT array_fill(1::float8, n)) AS a (o);

-- of a run without figures of its method nothing is claimed
EXECUTE record ('no method syncs') \gset
UPDATE sync_probe.measurements SET ops = 0, status = 'error' WHERE run_id = :run_id;
SELECT is(durable, 'unknown', 'no operation, no word on it')
FROM sync_probe.recommendation_details WHERE location = 'pg_wal';
UPDATE sync_probe.measurements SET ops = NULL WHERE run_id = :run_id;
SELECT is(durable, 'unknown', 'none that is known, neither')
FROM sync_probe.recommendation_details WHERE location = 'pg_wal';

-- Each way to unknown has a finding that says why.
CREATE FUNCTION pg_temp.says_why(of_storage jsonb, measured sync_probe.measurements[])
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    id bigint;
BEGIN
    DELETE FROM sync_probe.runs;
    id := pg_temp.record_run(jsonb_build_object('storage', of_storage));
    INSERT INTO sync_probe.measurements
    SELECT r.*
    FROM generate_subscripts(measured, 1) AS i,
         LATERAL jsonb_populate_record(measured[i], jsonb_build_object('run_id', id, 'status', 'ok',
             'test', CASE i WHEN 1 THEN 'paced' ELSE 'saturated' END)) AS r;
    RETURN (SELECT format('%s: %s', d.durable, string_agg(
                       CASE f.code WHEN 'durable_unknown'
                                   THEN substring(f.message FROM 'reach nvme0n1: (.*)')
                                   ELSE f.code END, ', '))
            FROM sync_probe.recommendation_details AS d
            LEFT JOIN sync_probe.findings AS f ON f.location = d.location
                 AND (f.code IN ('durable_unknown', 'counters_unknown', 'counters_shared')
                      OR f.code = 'loop_device' AND f.severity = 'warning')
            WHERE d.location = 'pg_wal'
            GROUP BY d.durable);
END
$$;
CREATE TEMP TABLE way AS
SELECT b.name, pg_temp.says_why('{"write_cache": "write back", "fua": false}' || b.of_storage,
                                ARRAY[pg_temp.measured(2, paced, paced_ops),
                                      pg_temp.measured(7, saturated, saturated_ops)]) AS why
FROM (SELECT name, of_storage, paced, paced_ops, saturated, saturated_ops FROM both_regimes
      WHERE durable = 'unknown'
      UNION ALL
      VALUES ('the counters were not read', '{"no_counters": "no disk"}'::jsonb, NULL::float8, 100,
              NULL::float8, 100),
             ('readings failed', '{"readings_lost": 9}', NULL, 100, NULL, 100),
             ('the kernel counts no flushes', '{}', NULL, 100, NULL, 100),
             ('the cache is not known', '{"write_cache": null}', 0, 100, 0, 100),
             ('a loop device above a disk that gets no flush',
              '{"backing_file": "/f", "below_flushes_per_op": {"2": 0, "7": 0},
                "others": {"most_flushes_per_sec": 0, "most_below_flushes_per_sec": 0},
                "disks": [{"name": "sda", "below": true, "write_cache": "write back"}]}',
              1, 100, 1, 100),
             ('a loop device above a disk that is busy',
              '{"backing_file": "/f", "below_flushes_per_op": {"2": 1, "7": 1},
                "others": {"most_flushes_per_sec": 0, "most_below_flushes_per_sec": 900},
                "disks": [{"name": "sda", "below": true, "write_cache": "write back"}]}',
              1, 100, 1, 100)) AS b (name, of_storage, paced, paced_ops, saturated, saturated_ops);
SELECT alike(why, 'unknown: _%', name || ': a finding says why') FROM way;
SELECT set_eq('SELECT DISTINCT why FROM way', ARRAY[
    'unknown: flushes are not counted',
    'unknown: there were fewer flushes than syncs, but not so few that this proves anything',
    'unknown: there were flushes, but it was not seen how many background I/O makes',
    'unknown: background I/O flushes so often that it may have made all flushes',
    'unknown: the loop device is set to write through, so that it passes no flush on',
    'unknown: it is not known whether the write cache is volatile',
    'unknown: a FUA write may replace a flush, or the driver may not count flushes',
    'unknown: a disk had too few flushes, and it is not known whether it needs them',
    'unknown: at the disk below the loop device, flushes are not counted',
    'unknown: at the disk below the loop device, there were fewer flushes than syncs, but not so'
    ' few that this proves anything',
    'unknown: at the disk below the loop device, there were flushes, but it was not seen how many'
    ' background I/O makes',
    'unknown: at the disk below the loop device, background I/O flushes so often that it may have'
    ' made all flushes',
    'unknown: none of its syncs was measured', 'unknown: counters_unknown',
    'unknown: loop_device'], 'all ways were seen');

SELECT * FROM finish();
ROLLBACK;
