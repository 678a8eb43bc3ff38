\set ECHO none
-- import_pg_test_fsync(): arguments, errors.  test/tap/import.sql has the reports of
-- all versions.
\a \pset footer off
SET client_min_messages = warning;
\set SHOW_CONTEXT never
DELETE FROM sync_probe.runs;
\set one 'Compare file sync methods using one 8kB write:\n'

SELECT refused('SELECT FROM sync_probe.import_pg_test_fsync(%s)', $$
NULL
''
E'\n  hello, world\nsecond line'
'fsync 519.180 ops/sec'
E'using one 8kB write:\nfsync 519.180 ops/sec', repeat('x', 257)
repeat('9', 1000001)
$$);
SELECT test_cases, left(not_understood, 70) AS not_understood
FROM unnest(ARRAY[E'fsync 519.180 ops/sec\nfsync 1.000 ops/sec',
                  repeat('9', 20) || E'kB writes:\nfsync 0.000 ops/sec\nopen_sync '
                      || repeat('9', 20) || '.000 ops/sec',
                  E'fsync 519.180 ops/sec\nx' || repeat(' 1.1 ops/sec', 80000)]) AS report,
    LATERAL sync_probe.import_pg_test_fsync(:'one' || report);

BEGIN READ ONLY;
SELECT FROM sync_probe.import_pg_test_fsync(:'one' || 'fsync 519.180 ops/sec');
ROLLBACK;

SELECT test_cases FROM sync_probe.import_pg_test_fsync(:'one' || 'fsync 519.180 ops/sec', 'mine');
SELECT r.label, r.suite, m.ordinal, m.test, m.method, m.status, m.direct_io, r.flush_size,
       m.ops_per_sec, m.mean_us
FROM sync_probe.runs AS r JOIN sync_probe.measurements AS m USING (run_id)
ORDER BY r.run_id, m.ordinal;
DELETE FROM sync_probe.runs;
