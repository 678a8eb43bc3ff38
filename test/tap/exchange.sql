--
-- Runs as documents: export_json() and import_json().
--
\set ON_ERROR_STOP on
\set QUIET on
\pset format unaligned
\pset tuples_only on
BEGIN;
CREATE EXTENSION IF NOT EXISTS pgtap;
CREATE EXTENSION IF NOT EXISTS pg_sync_probe;
DELETE FROM sync_probe.runs;
\ir include/stage.sql

-- ---------------------------------------------------------------- round trip

-- one with all kinds of values, one with as few as may be
SELECT pg_temp.record_run('{"label": "all", "host": "wéb \"1\"\n",
    "started_at": "2026-05-03 10:00:00.123456+02", "finished_at": "1999-12-31 23:59:59.999999+00",
    "noise": 0.1, "duty_cycle": 1e-12,
    "duration": "1 mon 2 days 03:04:05.000001", "random_seed": -9223372036854775808,
    "system_identifier": 9223372036854775807, "reason": "", "stop_early": false,
    "times_as_long": "Infinity", "wal_busy": 0, "loss_bound": 0.1,
    "storage": {"kernel": "Linux 6", "fua": null, "disks": [{"name": "sda", "virtual": false}],
                "others": {"seconds": 1.50}, "zfs": {"log_devices": ["a"]}, "else": [null, {}],
                "own_share": {"1": 0.5}, "file_bytes": 0}}') AS a \gset
INSERT INTO sync_probe.runs (source, suite) VALUES ('pg_test_fsync', 'x')
RETURNING run_id AS b \gset
INSERT INTO sync_probe.measurements (run_id, ordinal, test, method, status, value, choice,
    direct_io, mean_us, p50_us, p99_us, max_us, ops)
VALUES (:a, 2, 'paced', 'fsync', 'ok', '', 'current', true, 0.1, 1e15, '-0', 5e-12,
        100000000000000),
       (:a, 1, '', '', 'error', NULL, NULL, NULL, 1 / 3.0::float8, NULL, NULL, NULL, 0);
INSERT INTO sync_probe.samples VALUES
    (:a, 2, '{0.1,NULL,-0,0.30000000000000004}', '{}', '{0.001,131.072}', '{1,NULL}'),
    (:a, 1, NULL, NULL, NULL, NULL);
INSERT INTO sync_probe.stream_seconds (run_id, ordinal, second, began_at, length_ms, bytes)
VALUES (:a, 2, 1, '2026-05-03 10:00:00.5+00', 1000.25, 8192), (:a, 2, 0, NULL, NULL, NULL);

CREATE TEMP TABLE document (name text PRIMARY KEY, document jsonb);
INSERT INTO document VALUES ('both', sync_probe.export_json(ARRAY[:b, :a]));
CREATE TEMP TABLE imported AS
SELECT run_id, row_number() OVER () AS n
FROM document, LATERAL sync_probe.import_json(document::text) AS run_id;

SELECT plan(133);

SELECT is((SELECT count(*) FROM imported), 2::bigint, 'two runs');
SELECT is(sync_probe.export_json((SELECT array_agg(run_id ORDER BY n) FROM imported))::text,
          document::text, 'what was imported is exported as it was') FROM document;
SELECT is((SELECT array_agg(suite ORDER BY n) FROM imported JOIN sync_probe.runs USING (run_id)),
          '{x,wal}'::text[], 'in the order of the document');

-- the same rows but for what is new; float8send() shows the bits
CREATE FUNCTION pg_temp.rows_of(id bigint) RETURNS SETOF text LANGUAGE sql AS $$
    SELECT (to_jsonb(r) - '{run_id,imported_at,usable_for_advice}'::text[])::text
    FROM sync_probe.runs AS r WHERE run_id = id
    UNION ALL
    SELECT (to_jsonb(m) - 'run_id')::text || float8send(m.mean_us) || coalesce(float8send(m.p99_us),
            '') || coalesce(float8send(m.max_us), '')
    FROM sync_probe.measurements AS m WHERE run_id = id
    UNION ALL
    SELECT (to_jsonb(s) - 'run_id')::text || coalesce(array_send(s.round_mean_us), '')
    FROM sync_probe.samples AS s WHERE run_id = id
    UNION ALL
    SELECT (to_jsonb(t) - 'run_id')::text FROM sync_probe.stream_seconds AS t WHERE run_id = id
$$;
SELECT set_eq(format('SELECT pg_temp.rows_of(%s)', run_id),
              format('SELECT pg_temp.rows_of(%s)', :a), 'the same rows, bit by bit')
FROM imported WHERE n = 2;
SELECT is(count(*), 2::bigint, 'they know that they were imported, and are no advice')
FROM imported JOIN sync_probe.runs USING (run_id)
WHERE imported_at = now() AND NOT usable_for_advice;
SELECT is(usable_for_advice, true, 'the original is') FROM sync_probe.runs WHERE run_id = :a;

-- whatever the session's settings
SET LOCAL timezone = 'Asia/Kolkata';
SET LOCAL datestyle = 'German';
SET LOCAL intervalstyle = 'sql_standard';
SET LOCAL extra_float_digits = -15;
SET LOCAL quote_all_identifiers = on;
SELECT is(sync_probe.export_json(ARRAY[:b, :a])::text, document::text, 'other settings, export')
FROM document;
SELECT array_agg(i) AS again FROM document, LATERAL sync_probe.import_json(document::text) AS i
\gset
INSERT INTO document SELECT 'again', sync_probe.export_json(:'again');
RESET timezone;
RESET datestyle;
RESET intervalstyle;
RESET extra_float_digits;
RESET quote_all_identifiers;
SELECT is((SELECT document::text FROM document WHERE name = 'again'), document::text,
          'other settings, import') FROM document WHERE name = 'both';

-- what no probe records is exported, and not imported
UPDATE sync_probe.measurements SET mean_us = 'NaN', p50_us = '-Infinity', max_us = 'Infinity'
WHERE run_id = :a AND ordinal = 1;
SELECT ok(sync_probe.export_json(ARRAY[:a]) #> '{runs,0,measurements,0}'
              @> '{"mean_us": "NaN", "p50_us": "-Infinity", "max_us": "Infinity"}',
          'what is no number is exported as text');
SELECT throws_ok(
    format('SELECT sync_probe.import_json(sync_probe.export_json(ARRAY[%s])::text)', :a),
    '22P02',
    'cannot import the document: runs[0].measurements[0].p50_us must be a number',
    'but not imported');
DELETE FROM sync_probe.runs;

-- every table with rows of runs is part of a document
SELECT set_eq(
    $$SELECT a.attrelid::regclass
      FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid AND c.relkind = 'r'
      WHERE a.attname = 'run_id' AND c.relnamespace = 'sync_probe'::regnamespace
        AND c.relname <> 'runs'$$,
    'SELECT relation FROM sync_probe_internal.exchange_tables()', 'all tables');

-- ------------------------------------------------------- documents refused

CREATE FUNCTION pg_temp.refused(document jsonb) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM sync_probe.import_json(document::text);
    RETURN NULL;
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE || ' ' || SQLERRM;
END
$$;

CREATE TEMP TABLE wrong (id serial, path text[], value jsonb, says text);
INSERT INTO wrong (path, value, says) VALUES
('{}', NULL, '^22023 argument "document" must not be null$'),
('{}', '[]', '^22023 the document is not one of runs$'),
('{}', 'null', '^22023 the document is not one of runs$'),
('{}', '{}', '^22023 the document is not one of runs$'),
('{format}', '"other"', '^22023 the document is not one of runs$'),
('{version}', '2', '^22023 the document has version 2, supported is 1$'),
('{version}', '"1"', '^22023 the document has version 1, supported is 1$'),
('{version}', NULL, '^22023 the document has version null, supported is 1$'),
('{comment}', '""', ': comment is unknown$'),
('{runs}', NULL, ': runs is missing$'),
('{runs}', '{}', ': runs must be an array$'),
('{runs,0}', '7', ': runs\[0\] must be an object$'),
('{runs,1,run_id}', '1', '.run_id is unknown$'),
('{runs,1,imported_at}', 'null', '.imported_at is unknown$'),
('{runs,1,usable_for_advice}', 'true', '.usable_for_advice is unknown$'),
('{runs,1,label}', NULL, '.label is missing$'),
('{runs,1,samples}', NULL, '.samples is missing$'),
('{runs,1,label}', '7', '.label must be a string$'),
('{runs,1,label}', to_jsonb(repeat('x', 10001)), '.label is too long$'),
('{runs,1,location}', to_jsonb(repeat('x', 64)), '.location is too long$'),
('{runs,1,source}', 'null', '.source must not be null$'),
('{runs,1,source}', '"guess"', '.source has a value that is not allowed, expected .*trial'),
('{runs,1,verdict}', '"maybe"', '.verdict has a value that is not allowed'),
('{runs,1,verdict}', '"tie"', '.verdict has a value that is not allowed'),
('{runs,1,deciding_test}', '"both"', '.deciding_test has a value that is not allowed'),
('{runs,1,durable}', '"perhaps"', '.durable has a value that is not allowed'),
('{runs,1,times_as_long}', '"-Infinity"', '.times_as_long must be a number$'),
('{runs,1,times_as_long}', '"NaN"', '.times_as_long must be a number$'),
('{runs,1,loss_bound}', '"Infinity"', '.loss_bound must be a number$'),
('{runs,1,rounds}', '"7"', '.rounds must be a whole number$'),
('{runs,1,rounds}', '1.5', '.rounds must be a whole number$'),
('{runs,1,rounds}', '1.0', '.rounds must be a whole number$'),
('{runs,1,rounds}', '-1', '.rounds is out of range$'),
('{runs,1,rounds}', '2147483648', '.rounds is out of range$'),
('{runs,1,random_seed}', '9223372036854775808', '.random_seed is out of range$'),
('{runs,1,random_seed}', '1e100000', '.random_seed is out of range$'),
('{runs,1,noise}', '"0.1"', '.noise must be a number$'),
('{runs,1,noise}', '"NaN"', '.noise must be a number$'),
('{runs,1,noise}', '1e400', '.noise is out of range$'),
('{runs,1,noise}', '1e-400', '.noise is out of range$'),
('{runs,1,noise}', '-0.1', '.noise is out of range$'),
('{runs,1,noise}', '0.1000000000000000055511151231257827', '.noise is not as it would be'),
('{runs,1,stop_early}', '"yes"', '.stop_early must be true or false$'),
('{runs,1,started_at}', '"now"', '.started_at must be a time'),
('{runs,1,started_at}', '"infinity"', '.started_at must be a time'),
('{runs,1,started_at}', '"2026-13-01T00:00:00+00:00"', '.started_at must be a time'),
('{runs,1,started_at}', '"2026-01-01T24:00:00+00:00"', '.started_at must be a time'),
('{runs,1,started_at}', '"2026-02-30T00:00:00+00:00"', '.started_at is no day'),
('{runs,1,started_at}', '"2026-02-00T00:00:00+00:00"', '.started_at is no day'),
('{runs,1,started_at}', '"2026-02-03T00:00:00.50+00:00"', '.started_at is not as it would'),
('{runs,1,duration}', '"5 s"', '.duration must be a duration'),
('{runs,1,duration}', '"-00:00:01"', '.duration must be a duration'),
('{runs,1,duration}', '""', '.duration must be a duration'),
('{runs,1,duration}', '"00:99:00"', '.duration must be a duration'),
('{runs,1,duration}', '"999999 years"', '.duration must be a duration'),
('{runs,1,duration}', '"1 day 1 day"', '.duration must be a duration'),
('{runs,1,duration}', '"1 day2 days"', '.duration must be a duration'),
('{runs,1,duration}', '"1 day "', '.duration is not as it would be'),
('{runs,1,storage}', '[]', '.storage must be an object$'),
('{runs,1,storage}', '"x"', '.storage must be an object$'),
('{runs,1,storage,fua}', '"maybe"', '.storage.fua must be a boolean$'),
('{runs,1,storage,flushes_uncounted}', '{}', '.storage.flushes_uncounted must be a boolean$'),
('{runs,1,storage,writes_uncounted}', '2', '.storage.writes_uncounted must be a boolean$'),
('{runs,1,storage,mount_options}', '7', '.storage.mount_options must be a string$'),
('{runs,1,storage,disks}', '7', '.storage.disks must be an array$'),
('{runs,1,storage,disks}', 'null', '.storage.disks must be an array$'),
('{runs,1,storage,disks}', '[7]', '.storage.disks\[0\] must be an object$'),
('{runs,1,storage,disks}', '[{"virtual": "x"}]', '.storage.disks\[0\].virtual must be a boolean$'),
('{runs,1,storage,others}', '[]', '.storage.others must be an object$'),
('{runs,1,storage,others}', '{"x": "y"}', '.storage.others.x must be a number$'),
('{runs,1,storage,others}', '{"x": 1e400}', '.storage.others.x is out of range$'),
('{runs,1,storage,own_share}', '{"1": "x"}', '.storage.own_share.1 must be a number$'),
('{runs,1,storage,lacking_share}', '{"1": 1e-400}', '.storage.lacking_share.1 is out of'),
('{runs,1,storage,below_flushes_per_op}', '{"1": {}}',
    '.storage.below_flushes_per_op.1 must be a number$'),
('{runs,1,storage,durable_unknown}', '7', '.storage.durable_unknown must be a string$'),
('{runs,1,storage,zfs}', '{"log_devices": [1]}', '.storage.zfs.log_devices\[0\] must be a string$'),
('{runs,1,storage,file_bytes}', '"1"', '.storage.file_bytes must be a number$'),
('{runs,1,storage,else}', to_jsonb(repeat('x', 200001)), '.storage is too long$'),
('{runs,1,storage,else}', '[[[[[[[[[1]]]]]]]]]', '.storage.else(\[0\]){9} is nested too deeply$'),
('{runs,1,storage,else}', (repeat('[', 5000) || repeat(']', 5000))::jsonb, 'nested too deeply$'),
('{runs,1,measurements}', '{}', '.measurements must be an array$'),
('{runs,1,measurements}', 'null', '.measurements must be an array$'),
('{runs,1,measurements,1}', '[]', '.measurements\[1\] must be an object$'),
('{runs,1,measurements,1,run_id}', '1', '.measurements\[1\].run_id is unknown$'),
('{runs,1,measurements,1,method}', '5', '.measurements\[1\].method must be a string$'),
('{runs,1,measurements,1,method}', NULL, '.measurements\[1\].method is missing$'),
('{runs,1,measurements,1,method}', 'null', '.measurements\[1\].method must not be null$'),
('{runs,1,measurements,1,status}', '"fine"', '.measurements\[1\].status has a value'),
('{runs,1,measurements,1,verdict}', '"tie"', '.measurements\[1\].verdict has a value'),
('{runs,1,measurements,1,durable}', '"perhaps"', '.measurements\[1\].durable has a value'),
('{runs,1,measurements,1,ordinal}', '1', '.measurements\[1\].ordinal is not the first'),
('{runs,1,measurements,1,ordinal}', 'null', '.measurements\[1\].ordinal must not be null$'),
('{runs,1,measurements,0,ordinal}', '3', '.samples\[0\].ordinal is that of no measurement$'),
('{runs,1,measurements,1,ops}', '100000000000001', '.measurements\[1\].ops is out of range$'),
('{runs,1,samples,0,bucket_ops}', '[-1]', '.samples\[0\].bucket_ops has an element'),
('{runs,1,samples,0,bucket_ops}', '[1.5]', '.samples\[0\].bucket_ops has an element'),
('{runs,1,samples,0,bucket_ops}', '[1.0]', '.samples\[0\].bucket_ops has an element'),
('{runs,1,samples,0,bucket_ops}', '[[1]]', '.samples\[0\].bucket_ops has an element'),
('{runs,1,samples,0,round_mean_us}', '["NaN"]', '.samples\[0\].round_mean_us has an element'),
('{runs,1,samples,0,round_mean_us}', '[1e400]', '.samples\[0\].round_mean_us has an element'),
('{runs,1,samples,0,round_mean_us}', '{}', '.samples\[0\].round_mean_us must be an array$'),
('{runs,1,samples,0,round_mean_us}', (SELECT jsonb_agg(1) FROM generate_series(1, 10001)),
    '.samples\[0\].round_mean_us has more than 10000 elements$'),
('{runs,1,samples,1,ordinal}', '1', '.samples\[1\].ordinal is not the first'),
('{runs,1,stream_seconds,0,second}', '1', '.stream_seconds\[1\].ordinal and second is not'),
('{runs,1,stream_seconds,0,ordinal}', '9', '.stream_seconds\[0\].ordinal is that of no'),
('{runs,1,measurements}', (SELECT jsonb_agg(i) FROM generate_series(1, 1000000) AS i),
    '.measurements has 1000000 elements, at most 1000 are allowed$');

SELECT matches(pg_temp.refused(changed),
               CASE WHEN says ~ '^\^' THEN says
                    ELSE '^22P02 .*' || CASE WHEN says ~ '^[.]' THEN ': runs\[1\]' ELSE '' END
                         || says END,
               format('%s: %s', path, left(value::text, 60)))
FROM wrong AS w
CROSS JOIN document AS d,
     LATERAL (SELECT CASE WHEN path = '{}' THEN w.value
                          WHEN w.value IS NULL THEN d.document #- path
                          ELSE jsonb_set(d.document, path, w.value) END) AS c (changed)
WHERE d.name = 'both' ORDER BY w.id;
SELECT is(count(*), 0::bigint, 'nothing of them was imported') FROM sync_probe.runs;

-- rows out of order
SELECT matches(pg_temp.refused(jsonb_set(document, '{runs,1,measurements}',
                   jsonb_build_array(document #> '{runs,1,measurements,1}',
                                     document #> '{runs,1,measurements,0}'))),
               '.measurements is not as it would be exported$', 'another order')
FROM document WHERE name = 'both';

-- ------------------------------------------------ the worst that is accepted

-- A run of each suite that says that it is of this server, with extreme figures.
CREATE TEMP TABLE odd AS
SELECT column_name, value
FROM (VALUES ('mean_us', '1e15'::jsonb), ('p50_us', '1e-12'), ('p99_us', '0'), ('max_us', '"-0"'),
             ('ops', '100000000000000'), ('relative_speed', '1e-12'),
             ('relative_speed_low', '1e15'), ('relative_speed_high', '0'), ('ops_per_sec', '1e15'), ('write_size', '2147483647'),
             ('writes_per_sync', '0'), ('flushes_per_op', '1e15'), ('device_bytes_per_op', '1e15'),
             ('device_utilization', '1e15'),
             ('detail', '"\u0001\n<script>"')) AS v (column_name, value);
CREATE FUNCTION pg_temp.worst(suite text, tests text[], methods text[]) RETURNS jsonb
LANGUAGE sql AS $$
    SELECT jsonb_set(jsonb_set(d.document #> '{runs,1}'
        || jsonb_build_object('suite', suite, 'label', E'\u0001\u001b[31m\n\t<b>',
               'verdict', 'switch', 'setting', '<i>', 'recommended_value', '999999999999',
               'reason', repeat(U&'\2588', 3000),
               'flush_size', 0, 'duration', '99999:59:59', 'flush_interval', '00:00:00',
               'system_identifier', s.system_identifier, 'host', s.host, 'directory', '/data',
               'started_at', '2199-12-31T23:59:59.999999+00:00', 'server_version_num', 2147483647,
               'stream_seconds', '[]'::jsonb,
               'storage', '{"kernel": null, "disks": [{}, {"name": null}], "fua": null, "zfs": {},
                            "others": {"flushes_per_sec": 1e15, "most_flushes_per_sec": 1e15},
                            "own_share": {"1": 1e15}, "syncs_nothing": null,
                            "else": {"deep": [[[]]]}}'
               ::jsonb),
        '{measurements}', coalesce(m.rows, '[]')), '{samples}', coalesce(m.samples, '[]'))
    FROM document AS d, sync_probe_internal.this_server() AS s,
         LATERAL (SELECT jsonb_agg(d.document #> '{runs,1,measurements,1}'
                             || jsonb_build_object('ordinal', n, 'test', t, 'method', m, 'value', m)
                             || (SELECT jsonb_object_agg(column_name, value) FROM odd) ORDER BY n),
                         jsonb_agg(d.document #> '{runs,1,samples,1}'
                             || jsonb_build_object('ordinal', n, 'bucket_lower_us',
                                    '[0, 1e15, "-0", null, 1e-12, 1e15]'::jsonb, 'bucket_ops',
                                    '[0, 100000000000000, 100000000000000, 5, null]'::jsonb,
                                    'round_mean_us', '[0, 1e15, 1e-12, null, "-0", 1, 2, 3]'::jsonb)
                             ORDER BY n)
                  FROM (SELECT t, m, row_number() OVER () AS n
                        FROM unnest(tests) AS t, unnest(methods) AS m) AS c) AS m (rows, samples)
    WHERE d.name = 'both'
$$;
INSERT INTO document
SELECT 'worst', jsonb_set(document, '{runs}', jsonb_build_array(
    pg_temp.worst('wal', '{paced,saturated}', '{fdatasync,fsync,open_datasync,fsync}'),
    pg_temp.worst('commit', '{wal_sync_method,commit_delay}', '{fdatasync,9999999,x}'),
    pg_temp.worst('trial', '{wal_sync_method,commit_delay}', '{fdatasync,fsync,0}'),
    pg_temp.worst('pg_test_fsync', '{one_write,two_writes,open_sync_sizes,non_write_descriptor,'
                  'unsynced_write}', '{open_sync,fsync,"a #2",a,a}'),
    pg_temp.worst('stream', '{"8 kB"}', '{fsync}') || jsonb_build_object('stream_seconds',
        (SELECT jsonb_agg(document #> '{runs,1,stream_seconds,0}'
                          || jsonb_build_object('ordinal', 1, 'second', i, 'bytes', b, 'ops', 1,
                               'device_bytes', 100000000000000, 'device_writes', 100000000000000,
                               'device_utilization', 1e15, 'slowest_us', 1e15, 'mb_per_sec', v,
                               'began_at', '2026-05-03T10:00:00+00:00', 'length_ms', 1000,
                               'slowest_device_utilization', 1e15, 'slowest_device_writes', 1,
                               'slowest_device_bytes', 1, 'slowest_device_flushes', 0) ORDER BY i)
         FROM (VALUES (1, 1::bigint, 1e15), (2, 100000000000000, 0), (3, 1, 1e15)) AS v (i, b, v))),
    pg_temp.worst('nothing known', '{}', '{}')))
FROM document WHERE name = 'both';

SELECT * INTO TEMP before FROM sync_probe.recommendation_details;
SELECT * INTO TEMP findings_before FROM sync_probe.findings;
CREATE TEMP TABLE ids AS
SELECT array_agg(i) AS ids FROM document, LATERAL sync_probe.import_json(document::text) AS i
WHERE name = 'worst';
SELECT is((SELECT cardinality(ids) FROM ids), 6, 'the worst document is accepted');
SELECT set_eq('SELECT * FROM sync_probe.recommendation_details', 'SELECT * FROM before',
              'and changes no advice');
SELECT set_eq($$SELECT location, code, message FROM sync_probe.findings$$,
              $$SELECT location, code, message FROM findings_before$$, 'and no finding');
SELECT is(sync_probe.export_json(ids)::text, document::text, 'it is exported again')
FROM ids, document WHERE name = 'worst';
CREATE TEMP TABLE got (t text);
SELECT lives_ok(format('INSERT INTO got SELECT t::text FROM %s AS t', relation), relation)
FROM unnest(ARRAY['sync_probe.latency_histogram', 'sync_probe.recommendations',
                  'sync_probe.stalls', 'sync_probe.history()',
                  'sync_probe.compare((SELECT ids FROM ids))',
                  'sync_probe.compare((SELECT array_agg(i ORDER BY i DESC)'
                  ' FROM ids, unnest(ids) AS i))',
                  'sync_probe.pg_test_fsync_report((SELECT ids[4] FROM ids))',
                  'sync_probe.device_lifetime(''pg_wal'', 300000000000, 5000)',
                  'sync_probe.report_html((SELECT ids FROM ids))']) AS relation;
SELECT is(count(*), 0::bigint, 'history() leaves it out') FROM sync_probe.history();

SELECT * FROM finish();
ROLLBACK;
