-- Runs as documents: export_json() and import_json().
\ir include/begin.sql
\ir include/stage.sql

-- one with all kinds of values, one with as few as may be
SELECT pg_temp.record_run('{"label": "all", "host": "wéb \"1\"\n",
    "started_at": "2026-05-03 10:00:00.123456+02", "flush_interval": "1 mon 2 days 03:04:05.000001",
    "system_identifier": -9223372036854775807, "max_regret": 0.1,
    "storage": {"disks": [{"name": "sda", "virtual": false}], "flushed_fraction": {"1": 0.5}}}')
    AS a \gset
INSERT INTO sync_probe.runs (suite) VALUES ('trial') RETURNING run_id AS b \gset
INSERT INTO sync_probe.measurements (run_id, ordinal, test, method, status, mean_us, ops)
VALUES (:a, 2, 'paced', 'fsync', 'ok', 0.1, 7), (:a, 1, '', '', 'error', 1 / 3.0::float8, 0);
INSERT INTO sync_probe_internal.samples VALUES
    (:a, 2, '{0.1,NULL,0.30000000000000004}', '{}', '{0.001,131.072}', '{1,NULL}'),
    (:a, 1, NULL, NULL, NULL, NULL);
INSERT INTO sync_probe_internal.stream_seconds (run_id, ordinal, second)
VALUES (:a, 2, 1), (:a, 2, 0);

CREATE TEMP TABLE document AS SELECT sync_probe.export_json(ARRAY[:b, :a]) AS document;
SELECT is((SELECT array_agg(r ->> 'suite') FROM jsonb_array_elements(document -> 'runs') AS r),
          '{trial,wal}', 'in the order of the argument') FROM document;

-- whatever the session's settings, the same bits
SET LOCAL timezone = 'Asia/Kolkata';
SET LOCAL datestyle = 'German';
SET LOCAL intervalstyle = 'sql_standard';
SET LOCAL extra_float_digits = -15;
SELECT is(sync_probe.export_json(ARRAY[:b, :a]), document, 'other settings') FROM document;
CREATE TEMP TABLE imported AS
SELECT run_id, row_number() OVER () AS n
FROM document, LATERAL sync_probe.import_json(document::text) AS run_id;
RESET timezone; RESET datestyle; RESET intervalstyle; RESET extra_float_digits;
SELECT is(sync_probe.export_json((SELECT array_agg(run_id ORDER BY n) FROM imported)), document,
          'what was imported is exported as it was') FROM document;
SELECT is(count(*), 2::bigint, 'they know that they were imported, and are no advice')
FROM imported JOIN sync_probe.runs USING (run_id)
WHERE imported_at = now() AND NOT usable_for_advice;

-- every table with rows of runs is part of a document
SELECT set_eq(
    $$SELECT c.relname::text FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid
      WHERE c.relnamespace::regnamespace::text ~ '^sync_probe' AND c.relkind = 'r'
        AND a.attname = 'run_id' AND c.relname <> 'runs'$$,
    $$SELECT k FROM document, jsonb_object_keys(document #> '{runs,0}') AS k
      WHERE jsonb_typeof(document #> ARRAY['runs', '0', k]) = 'array'$$,
    'every table whose rows belong to runs');

-- ------------------------------------------------------------ bad documents
CREATE FUNCTION pg_temp.refused(document text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM sync_probe.import_json(document);
    RETURN 'imported';
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE || ' ' || SQLERRM;
END
$$;
SELECT is(pg_temp.refused(jsonb_set(document, '{runs,1}', document #> '{runs,1}'
              || '{"label": "NaN", "host": "infinity", "storage": {"zfs": {"pool": "nan"}}}'
             )::text),
          'imported', 'names that read like figures')
FROM document;
DELETE FROM sync_probe.runs;
SELECT matches(pg_temp.refused(d), says, coalesce(left(d, 30), 'null'))
FROM (VALUES (NULL, '^22023 .*: it is null'), ('', '^22P02'), ('{', '^22P02'), ('7', '^22023'),
             ('[]', '^22023'), ('{}', '^22023 .*"format" is not'),
             ('{"format": "pg_sync_probe runs", "version": 1, "runs": []}', '^imported$'),
             (repeat('[', 100000), '^54001|^22P02'),
             (repeat(' ', 67108865), '^54000 the document is larger than 64 MB')) AS v (d, says);

-- what the second of two runs becomes, and what is said then
CREATE TEMP TABLE wrong (path text[], value jsonb, says text);
INSERT INTO wrong VALUES
('{version}', '2', '^22023 .*: its version is 2, supported is 1$'),
('{runs}', '{}', '^22023 .*: its member "runs" is not an array$'),
('{runs,1}', '7', '^22023 .*: runs\[1\]: it is not an object$'),
('{runs,1,run_id}', '1', 'runs\[1\]: member "run_id" is unknown$'),
('{runs,1,usable_for_advice}', 'true', 'member "usable_for_advice" is unknown$'),
('{runs,1,samples}', NULL, 'samples or stream_seconds is missing$'),
('{runs,1,verdict}', '"maybe"', '^23514'),
('{runs,1,max_regret}', '"NaN"', 'a figure that is neither 0 nor from 10\^-30 to 10\^15$'),
('{runs,1,started_at}', '"\tinfinity"', 'a figure that is neither 0 nor from 10\^-30 to 10\^15$'),
('{runs,1,finished_at}', '"2999-01-01"', 'its finished_at is before 2000, or in the future$'),
('{runs,1,finished_at}', '"1999-12-31"', 'its finished_at is before 2000, or in the future$'),
('{runs,1,host}', to_jsonb(repeat('x', 256)), 'runs\[1\]: its host is longer than 255 characters$'),
('{runs,1,suite}', '"Other"', '^23514'), ('{runs,1,measurements,1,status}', '"fine"', '^23514'),
('{runs,1,measurements,1,p50_us}', '"-1"', 'a figure that is neither 0 nor from 10'),
('{runs,1,measurements,1,mean_us}', '1e-101', 'a figure that is neither'),
('{runs,1,samples,0,ordinal}', '9', 'samples has an ordinal that measurements has not$'),
('{runs,1,samples,0,round_mean_us}', '["-Infinity"]', 'a figure that is neither'),
('{runs,1,stream_seconds,0,bytes}', '9223372036854775807', 'a figure that is neither'),
('{runs}', (SELECT jsonb_agg(i) FROM generate_series(1, 1001) AS i), 'it has 1001 runs, at most');
-- what a reader of storage would fail at
INSERT INTO wrong
SELECT '{runs,1,storage}' || path::text[], value::jsonb, '^23514'
FROM (VALUES ('{}', '[]'), ('{disks,0,name}', 'null'), ('{disks}', '{}'),
             ('{disks,0,virtual}', '"x"'), ('{zfs}', '{"data_devices": {}}'),
             ('{zfs}', '{"log_devices": 7}'), ('{others}', '{"seconds": "x"}'),
             ('{device_bytes_error}', '["x", "y"]'), ('{unflushed_fraction}', '{"1": "x"}'),
             ('{device_bytes_per_op}', '{"1": "x"}'), ('{device_utilization}', '[0.5]'),
             ('{flushed_fraction,1}', 'true'), ('{below_flushes_per_op}', '"x"'))
         AS v (path, value);
SELECT matches(pg_temp.refused((CASE WHEN value IS NULL THEN document #- path
                                     ELSE jsonb_set(document, path, value) END)::text), says,
               format('%s: %s', path, left(value::text, 40)))
FROM wrong, document;
SELECT is(count(*), 0::bigint, 'nothing of them was imported') FROM sync_probe.runs;

-- an extreme run, of this server by its own words, is read by every view
CREATE TEMP TABLE worst AS
SELECT jsonb_set(document, '{runs}', jsonb_agg(document #> '{runs,1}'
           || jsonb_build_object('suite', u.suite, 'system_identifier', s.system_identifier,
                  'host', s.host, 'label', E'\u0001<b>', 'setting', '<i>', 'verdict', 'switch',
                  'recommended_value', '999999999999', 'reason', repeat('x', 3000),
                  'flush_interval', '178000000 years',
                  'measurements', m.rows, 'samples', m.samples, 'stream_seconds',
                  '[{"ordinal": 1, "second": 2147483647}]'::jsonb)))::text AS document
FROM document, sync_probe_internal.this_server() AS s,
     unnest('{wal,commit,trial,stream,segments,pg_test_fsync,of_release_2}'::text[]) AS u (suite),
     LATERAL (SELECT jsonb_agg(jsonb_build_object('ordinal', n, 'test', t, 'method', v,
                         'status', 'ok', 'choice', 'current', 'mean_us', 0, 'p50_us', 1e15,
                         'p99_us', 0, 'ops', 1e14, 'relative_speed', 0, 'relative_speed_low', 1e15,
                         'ops_per_sec', 0, 'detail', '<script>') ORDER BY n),
                     jsonb_agg(jsonb_build_object('ordinal', n,
                         'bucket_lower_us', '[0, 1e15, null]'::jsonb,
                         'bucket_ops', '[0, 100000000000000, 5, null]'::jsonb,
                         'round_mean_us', '[0, 1e15, 1e-30, null]'::jsonb) ORDER BY n)
              FROM (SELECT t, v, row_number() OVER () AS n
                    FROM unnest('{paced,saturated,wal_sync_method,commit_delay,one_write,segment,
                                  8 kB}'::text[]) AS t,
                         unnest('{fdatasync,fsync,9999999,recycle}'::text[]) AS v) AS c)
         AS m (rows, samples)
GROUP BY document;
SELECT * INTO TEMP before FROM sync_probe.recommendation_details;
SELECT array_agg(i) AS ids FROM worst, LATERAL sync_probe.import_json(document) AS i \gset
SELECT set_eq('SELECT * FROM sync_probe.recommendation_details', 'SELECT * FROM before',
              'it changes no advice');
SELECT lives_ok(format('SELECT t::text FROM %s AS t',
                       replace(relation, 'IDS', quote_literal(:'ids'))), relation)
FROM unnest(ARRAY['unnest(IDS::bigint[]) AS i, sync_probe.latency_histogram(i)',
                  'sync_probe.stream_seconds((IDS::bigint[])[4])',
                  'sync_probe.findings',
                  'sync_probe.history()', 'sync_probe.compare(IDS)',
                  'sync_probe.report_html(IDS)']) AS relation;

\ir include/end.sql
