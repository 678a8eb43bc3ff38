-- What sync_probe.compare() makes of recorded runs.
\ir include/begin.sql
\ir include/stage.sql

-- A run with these test cases.
CREATE FUNCTION pg_temp.record(differences text, VARIADIC cases text[]) RETURNS bigint
LANGUAGE sql AS $$
    SELECT pg_temp.record_cases(pg_temp.record_run(pg_temp.given(differences)), VARIADIC ARRAY(
        SELECT '{"mean_us": 500}' || pg_temp.given(c) FROM unnest(cases) AS c))
$$;

-- ------------------------------------------------------ values and intervals

-- 1 to 11: the median is 6, and ranks 2 and 10 enclose it (2 * 12 / 2048 <= 2.5 %)
SELECT pg_temp.record('', 'entries=[11, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]',
                      'method=fsync, entries=[6, 6]', 'method=open_sync') AS a \gset
SELECT pg_temp.record('label=twice', 'entries=[22, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20]',
                      'method=fsync, entries=[9, 9, 9]',
                      'method=open_sync, mean_us=750, entries=[7]',
                      'method=open_datasync, status=stopped, mean_us=null, ops=null') AS b \gset
CREATE TEMP VIEW got AS SELECT * FROM sync_probe.compare((SELECT array_agg(run_id ORDER BY run_id)
                                                          FROM sync_probe.runs));

SELECT results_eq(
    $$SELECT test_case, run, value_us, ratio, ratio_low, ratio_high, statistic FROM got$$,
    format($$VALUES ('fdatasync', 'run %1$s', 6::float8, 1::float8, NULL::float8, NULL::float8,
                     'median'),
                    ('fdatasync', 'twice', 12, 2, 0.4, 10, 'median'),
                    ('fsync', 'run %1$s', 6, 1, NULL, NULL, 'median'),
                    ('fsync', 'twice', 9, 1.5, NULL, NULL, 'median'),
                    ('open_sync', 'run %1$s', 500, 1, NULL, NULL, 'mean'),
                    ('open_sync', 'twice', 750, 1.5, NULL, NULL, 'mean'),
                    ('open_datasync', 'twice', NULL, NULL, NULL, NULL, NULL)$$, :a),
    'medians where both have entries, else means');
SELECT results_eq(
    $$SELECT * FROM sync_probe_internal.median_interval('{5,1,NULL,NaN,4,2,3,Infinity}', 0.07)$$,
    'VALUES (3::float8, 1::float8, 5::float8)', 'what is no number is left out of a median');
SELECT results_eq(
    $$SELECT * FROM sync_probe_internal.median_interval('{NULL}', 0.05)
      UNION ALL SELECT * FROM sync_probe_internal.median_interval('{}', 0.05)$$,
    'VALUES (NULL::float8, NULL::float8, NULL::float8), (NULL, NULL, NULL)',
    'nor a median of none');
SELECT is(array_agg(length(bar) ORDER BY run_id), '{14,20}'::integer[], 'bars in proportion')
FROM got WHERE test_case = 'open_sync';
SELECT is(array_agg(r.test_case), '{fdatasync,fsync,open_sync}'::text[],
          'the first run of the array is what ratios are of')
FROM sync_probe.compare(ARRAY[:b, :a]) AS r WHERE run_id = :a AND ratio < 1;
SELECT is(count(*), 4::bigint, 'one run alone') FROM sync_probe.compare(ARRAY[:b]) WHERE
    ratio IS NOT DISTINCT FROM CASE WHEN value_us IS NOT NULL THEN 1 END;

-- --------------------------------------------------------------------- names

DELETE FROM sync_probe.runs;
SELECT pg_temp.record('label=same', '') AS a \gset
SELECT pg_temp.record('label=same', '') AS b \gset
SELECT pg_temp.record('', '') AS c \gset
SELECT is(array_agg(run ORDER BY run_id), ARRAY['run ' || :a || ': same', 'run ' || :b || ': same',
                                                'run ' || :c], 'runs with the same label') FROM got;
UPDATE sync_probe.runs SET label = '' WHERE run_id = :a;
UPDATE sync_probe.runs SET label = format('run %s', :a) WHERE run_id = :b;
SELECT is(count(DISTINCT run), 3::bigint, 'a label that looks like another run') FROM got;

DELETE FROM sync_probe.runs;
SELECT pg_temp.record('suite=pg_test_fsync', 'test=one_write, direct_io=true',
    'test=open_sync_sizes, method=open_sync 16 kB, direct_io=true',
    'test=open_sync_sizes, method=open_sync 8 kB, direct_io=true',
    'test=saturated, method=open_sync',
    'test=saturated, method=open_sync, direct_io=true',
    'test=commit_delay, method=0', 'test=commit_delay, method=50',
    'test=odd', 'test=odd') AS a \gset
SELECT is(array_agg(test_case ORDER BY ordinal),
          '{fdatasync,open_sync 16 kB,open_sync 8 kB,open_sync,open_sync direct,
            0,50,fdatasync,fdatasync #2}'::text[], 'names of test cases')
FROM got;

-- --------------------------------------------------- what cannot be compared

-- How another run and its case differ from the first one, and what both have.
CREATE TEMP TABLE other (name text, run text, of_case text, says text,
                         both_runs text DEFAULT '', both_cases text DEFAULT '');
INSERT INTO other VALUES
('nothing', '', '', NULL), ('another host', 'host=web2', '', '^host web2, not \S+$'),
('an unknown host', 'host=null, system_identifier=null', '', '^host unknown, not \S+$'),
('another cluster', 'system_identifier=1', '', '^another cluster$'),
('another device', 'device=sdb, filesystem=zfs, location=fast', '', NULL),
('another suite', 'suite=stream', '', '^suite stream, not wal$'),
('more pages', 'flush_size=8193', '', '^flushes of 8193 bytes, not 8192$'),
('as many pages', 'flush_size=100', '', NULL),
('a huge flush', 'flush_size=2147483647', '', 'not 8192$'),
('O_DIRECT', '', 'direct_io=true', '^with O_DIRECT$'),
('about the pace', 'flush_interval=2.5 ms', '', NULL),
('another pace', 'flush_interval=2.4 ms', '', '^flush interval 2.4 ms, not 5 ms$'),
('a slower one', 'flush_interval=10.1 ms', '', '^flush interval 10.1 ms, not 5 ms$'),
('no pace', 'flush_interval=null', '', '^flush interval none, not 5 ms$'),
('workers', 'workers=8', '', NULL),
('a load', 'workload=upsert', '', '^load of upsert, not its own sessions$'),
('three things', 'host=web2, flush_size=50000', 'direct_io=true',
    '^host web2, not \S+; flushes of 50000 bytes, not 8192; with O_DIRECT$'),
('no sync', '', 'durable=no', '^its syncs do not reach the device$'),
('syncs of which nothing is known', '', 'durable=unknown', NULL);
INSERT INTO other VALUES
('the pace back to back', 'flush_interval=0.5 ms', '', NULL, '', 'test=saturated'),
('the pace of a stream', 'flush_interval=0.5 ms', '', NULL, 'suite=stream', 'test=8 kB'),
('the pace of commits', 'flush_interval=0.5 ms', '', '^flush interval 0.5 ms, not 5 ms$',
    'suite=commit', 'test=8 kB'),
('the pace of pg_test_fsync', 'flush_interval=0.5 ms', '', NULL, 'suite=pg_test_fsync',
    'test=one_write'),
('its writes', 'flush_size=4096', '', '^flushes of 4096 bytes, not 8192$', 'suite=pg_test_fsync',
    'test=one_write'),
('its writes of given sizes', 'flush_size=4096', '', NULL, 'suite=pg_test_fsync',
    'test=open_sync_sizes'),
('a setting', 'workers=8, wal_sync_method=fsync', '', '^workers: 8, not 4; fsync, not fdatasync$',
    'suite=commit, workers=4', 'test=commit_delay, method=0');

CREATE FUNCTION pg_temp.said(o other) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    a bigint;
    b bigint;
BEGIN
    DELETE FROM sync_probe.runs;
    a := pg_temp.record(o.both_runs, o.both_cases);
    b := pg_temp.record(concat(o.both_runs, '; ', o.run), concat(o.both_cases, '; ', o.of_case));
    RETURN (SELECT c.not_comparable FROM sync_probe.compare(ARRAY[a, b]) AS c
            WHERE c.run_id = b AND c.ratio = 1);
END
$$;
SELECT ok(CASE WHEN says IS NULL THEN s.said IS NULL ELSE s.said ~ says END,
          format('%s: %s', name, coalesce(s.said, 'comparable')))
FROM other AS o, LATERAL (SELECT pg_temp.said(o)) AS s (said);

DELETE FROM sync_probe.runs;
SELECT pg_temp.record('durable=no, label=memory', 'durable=no',
                      'test=unsynced_write, method=write, durable=no') AS a,
       pg_temp.record('label=disk', '', 'test=unsynced_write, method=write') AS b \gset
SELECT results_eq($$SELECT run, not_comparable FROM got WHERE test = 'paced'$$,
    $$VALUES ('memory', 'its syncs do not reach the device'),
             ('disk', 'syncs of memory do not reach the device')$$, 'the first run syncs nothing');
SELECT is_empty($$SELECT * FROM got WHERE test = 'unsynced_write' AND not_comparable IS NOT NULL$$,
                'what is not synced need not reach the device');

-- why there is no ratio
DELETE FROM sync_probe.runs;
SELECT pg_temp.record('', 'status=stopped, mean_us=null', 'method=fsync') AS a,
       pg_temp.record('suite=stream', '', 'method=fsync', 'method=open_sync') AS b \gset
SELECT results_eq('SELECT test_case, ratio, not_comparable FROM got WHERE run_id = ' || :b,
    $$VALUES ('fdatasync', NULL::float8, 'suite stream, not wal'),
             ('fsync', 1, 'suite stream, not wal'),
             ('open_sync', NULL, 'suite stream, not wal')$$, 'another suite');
UPDATE sync_probe.runs SET suite = 'wal';
SELECT results_eq('SELECT test_case, ratio, not_comparable FROM got WHERE run_id = ' || :b,
    format($$VALUES ('fdatasync', NULL::float8, 'not measured by run %1$s'), ('fsync', 1, NULL),
                    ('open_sync', NULL, 'not measured by run %1$s')$$, :a),
    'what the first run did not measure');
SELECT is_empty('SELECT * FROM sync_probe.compare(ARRAY[' || :b || ', ' || :a || '])
                 WHERE value_us IS NULL AND not_comparable IS NOT NULL',
                'what has no time has no reason');

-- times that are zero, or as large as an import may bring
DELETE FROM sync_probe.runs;
SELECT pg_temp.record('', 'mean_us=0', 'method=fsync, mean_us=1e-12') AS a,
       pg_temp.record('', 'mean_us=1e15', 'method=fsync, mean_us=1e15') AS b \gset
SELECT results_eq('SELECT ratio FROM got WHERE run_id = ' || :b,
                  'VALUES (NULL::float8), (1e27)', 'no ratio to zero');

SELECT throws_ok(format('SELECT FROM sync_probe.compare(ARRAY[%1$s, %2$s, %1$s])', :a, :b), '22023',
                 format('argument "run_ids" names run %s twice', :a), 'twice');

\ir include/end.sql
