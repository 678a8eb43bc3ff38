--
-- What sync_probe.latency_histogram makes of recorded buckets.
--
\set tests 8
\ir include/begin.sql

INSERT INTO sync_probe.runs (run_id, location, suite)
    VALUES (1001, 'pg_wal', 'wal');
INSERT INTO sync_probe.measurements (run_id, ordinal, test, method, status) VALUES
    (1001, 1, 'paced', 'fsync', 'ok'), (1001, 2, 'paced', 'fdatasync', 'ok');

-- 131.072 us is 2^17 ns, where an octave of eight buckets of 16.384 us begins
INSERT INTO sync_probe_internal.samples (run_id, ordinal, bucket_lower_us, bucket_ops) VALUES
    (1001, 1, '{131.072, 133.12, 145.408, 147.456, 262.144}', '{1, 2, 3, 10, 4}'),
    (1001, 2, '{0.001, 0.127, 0.128}', '{5, 5, 10}');

SELECT results_eq(
    'SELECT lower_us, upper_us, ops, length(bar) FROM sync_probe.latency_histogram '
        'WHERE ordinal = 1',
    $$VALUES (131.1::float8, 147.5::float8, 6::bigint, 24), (147.5, 163.8, 10, 40),
             (262.1, 294.9, 4, 16)$$,
    'eight buckets to the octave, bars in proportion');
SELECT is(sum(ops), 20::numeric, 'the smallest latencies are there too')
FROM sync_probe.latency_histogram WHERE ordinal = 2;
SELECT is(max(upper_us) <= 0.2, true, 'and stay small') FROM sync_probe.latency_histogram
WHERE ordinal = 2;
SELECT is(array_agg(DISTINCT method), '{fdatasync,fsync}'::text[],
          'with the names of their methods')
FROM sync_probe.latency_histogram;

-- every bucket that the engine has falls into just one bucket of the view
UPDATE sync_probe_internal.samples SET
    bucket_lower_us = ARRAY(SELECT CASE WHEN b < 64 THEN b
                            ELSE (64 + b % 64) * 2.0 ^ (b / 64 - 1) END / 1000.0
                            FROM generate_series(1, 2239) AS b),
    bucket_ops = array_fill(1::bigint, ARRAY[2239])
WHERE ordinal = 1;
SELECT is(sum(ops), 2239::numeric, 'no bucket is lost, none counted twice')
FROM sync_probe.latency_histogram WHERE ordinal = 1;
SELECT is(count(*) FILTER (WHERE ops <> 8), 0::bigint,
          'eight of them in each, from the first full octave on')
FROM sync_probe.latency_histogram WHERE ordinal = 1 AND lower_us >= 1;
SELECT is_empty($$SELECT * FROM (SELECT *, lag(upper_us) OVER (ORDER BY lower_us) AS upper_before
                                 FROM sync_probe.latency_histogram WHERE ordinal = 1) AS b
                  WHERE lower_us >= 1 AND (upper_us <= lower_us OR lower_us < upper_before)$$,
                'buckets do not overlap');

-- from elsewhere
UPDATE sync_probe_internal.samples SET bucket_ops = '{0, 0}', bucket_lower_us = '{1, 9}';
SELECT is(count(*) FILTER (WHERE bar IS NULL), 4::bigint, 'buckets that are all empty have no bar')
FROM sync_probe.latency_histogram;

\ir include/end.sql
