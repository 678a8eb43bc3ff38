-- What sync_probe.latency_histogram makes of recorded buckets.
\set tests 11
\ir include/begin.sql

INSERT INTO sync_probe.runs (run_id, location, suite) OVERRIDING SYSTEM VALUE
    VALUES (1001, 'pg_wal', 'wal');
INSERT INTO sync_probe.measurements (run_id, ordinal, test, method, status) VALUES
    (1001, 1, 'paced', 'fsync', 'ok'), (1001, 2, 'paced', 'fdatasync', 'ok');

-- 131.072 us is 2^17 ns, where an octave of eight buckets of 16.384 us begins
INSERT INTO sync_probe_internal.samples (run_id, ordinal, bucket_lower_us, bucket_ops) VALUES
    (1001, 1, '{131.072, 133.12, 145.408, 147.456, 262.144}', '{1, 2, 3, 10, 4}'),
    (1001, 2, '{0.001, 0.127, 0.128}', '{5, 5, 10}');

CREATE TEMP VIEW histogram AS SELECT * FROM sync_probe.latency_histogram(1001);
SELECT results_eq(
    'SELECT lower_us, ops, length(bar) FROM histogram WHERE ordinal = 1',
    'VALUES (131.1::float8, 6::bigint, 24), (147.5, 10, 40), (262.1, 4, 16)',
    'eight buckets to the octave, bars in proportion');
SELECT ok(sum(ops) = 20 AND max(lower_us) <= 0.2, 'the smallest are there, and stay small')
FROM histogram WHERE ordinal = 2;
SELECT is(array_agg(DISTINCT concat_ws(' ', ordinal, test, method)),
          '{1 paced fsync,2 paced fdatasync}'::text[], 'with the names of their test cases')
FROM histogram;

-- every bucket that the engine has falls into just one bucket of the view
UPDATE sync_probe_internal.samples SET
    bucket_lower_us = ARRAY(SELECT CASE WHEN b < 64 THEN b
                            ELSE (64 + b % 64) * 2.0 ^ (b / 64 - 1) END / 1000.0
                            FROM generate_series(1, 2239) AS b),
    bucket_ops = array_fill(1::bigint, ARRAY[2239])
WHERE ordinal = 1;
SELECT is(sum(ops), 2239::numeric, 'no bucket is lost, none counted twice')
FROM histogram WHERE ordinal = 1;
SELECT is(count(*) FILTER (WHERE ops <> 8), 0::bigint,
          'eight of them in each, from the first full octave on')
FROM histogram WHERE ordinal = 1 AND lower_us >= 1;
-- an eighth of an octave is at most an eighth, and at least a sixteenth, of its lower bound
SELECT is_empty($$SELECT * FROM (SELECT lower_us, lead(lower_us) OVER (ORDER BY lower_us) - lower_us
                                            AS width
                                 FROM histogram WHERE ordinal = 1) AS b
                  WHERE lower_us >= 10
                    AND width NOT BETWEEN lower_us / 16.1 - 0.2 AND lower_us / 7.9 + 0.2$$,
                'each bucket begins where the one before ends');

-- from elsewhere
UPDATE sync_probe_internal.samples SET bucket_ops = '{0, 0}', bucket_lower_us = '{1, 9}';
SELECT is(count(*) FILTER (WHERE bar IS NULL), 4::bigint, 'buckets that are all empty have no bar')
FROM histogram;

SELECT throws_ok(format('SELECT FROM sync_probe.%s(%s)', f, id), '22023', error, error)
FROM (VALUES ('1002', 'run 1002 does not exist'), ('NULL', 'argument "run_id" must not be null'))
         AS v (id, error), unnest('{latency_histogram,stream_seconds}'::text[]) AS f;

\ir include/end.sql
