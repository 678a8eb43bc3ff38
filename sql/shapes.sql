\set ECHO none
-- What probe() returns: always the same rows in the same order.
\a \t on
SET client_min_messages = warning;

SELECT test, status, string_agg(method, ' ' ORDER BY ordinal) AS methods,
       bool_and(ops > 0) AS measured,
       bool_and(p50_us <= max_us) AS quantiles_in_order,
       bool_and(mean_us BETWEEN 0 AND max_us) AS mean_fits,
       bool_and(CASE test WHEN 'paced' THEN ops_per_sec IS NULL
                          ELSE abs(ops_per_sec * mean_us / 1e6 - 1) < 0.05 END) AS rate_fits
FROM sync_probe.probe(duration => '300 ms', flush_size => 8192, record => false)
WHERE NOT direct_io GROUP BY test, status ORDER BY min(ordinal);

\echo -- in order
SELECT bool_and(ordinal = ordinality) AS in_order
FROM sync_probe.probe(duration => '100 ms', record => false) WITH ORDINALITY;

\echo -- what O_DIRECT would do with open_*; a file system may refuse it
SELECT test, method, status IN ('ok', 'no_direct_io') AS tried
FROM sync_probe.probe(duration => '300 ms', record => false)
WHERE direct_io;

\echo -- the methods are those of the server
SELECT array_agg(method ORDER BY method) =
       (SELECT array_agg(v ORDER BY v) FROM pg_settings, unnest(enumvals) v
        WHERE name = 'wal_sync_method') AS all_known
FROM sync_probe.probe(duration => '100 ms', record => false)
WHERE test = 'paced' AND status <> 'unsupported';

\echo -- the size of a flush that was asked for, and quantiles without enough operations
SELECT DISTINCT (run).flush_size
FROM sync_probe_internal.probe_run('pg_wal', 'wal', duration => '100 ms', flush_size => 100000,
                                   record => false);
SELECT bool_and((p99_us IS NOT NULL) = (ops >= 299)) AS p99
FROM sync_probe.probe(duration => '300 ms', record => false) WHERE status = 'ok';

\echo -- the lines of pg_test_fsync, here in a tablespace
SELECT test, direct_io, string_agg(method, ', ' ORDER BY ordinal) AS methods
FROM sync_probe.probe('regress_sync_probe', 'pg_test_fsync', duration => '400 ms', record => false)
GROUP BY test, direct_io ORDER BY min(ordinal);

\echo -- where a new WAL segment comes from, at pg_wal and in a tablespace
SELECT test, string_agg(concat_ws(' ', method, substring(choice FROM 'current')), ', '
                        ORDER BY ordinal) AS kinds,
       bool_and(status = 'ok' AND ops > 0) AS measured, bool_and(p50_us > 0) AS takes_time
FROM sync_probe.probe('pg_wal', 'segments', duration => '500 ms', flush_size => 8192,
                      record => false)
GROUP BY test ORDER BY min(ordinal);
SELECT count(*) FILTER (WHERE ops > 0) AS measured, count(DISTINCT test) AS tests,
       min(detail) FILTER (WHERE test = 'segment') = 'creation and one flush' AS one_flush
FROM sync_probe.probe('regress_sync_probe', 'segments', duration => '500 ms',
                      flush_size => 16777216, duty_cycle => 0.9, record => false);

\echo -- the current kind is what the settings make of a segment that is needed
SET wal_recycle = off;
SET wal_init_zero = off;
SELECT string_agg(test || ' ' || method, ', ' ORDER BY ordinal) AS current
FROM sync_probe.probe('pg_wal', 'segments', duration => '100 ms', record => false)
WHERE choice = 'current';
RESET wal_recycle;
RESET wal_init_zero;

\echo -- what the device did, or nothing of it where nobody can tell
SELECT bool_and(num_nulls(bytes, busy) IN (0, 2)) AS all_or_none,
       bool_and(coalesce(busy, 0) BETWEEN 0 AND 1) AS share
FROM sync_probe_internal.probe_run('pg_wal', 'wal', duration => '300 ms', record => false),
    LATERAL (SELECT (run).storage, (measured).ordinal::text) AS m (storage, ordinal),
    LATERAL (SELECT (storage #>> ARRAY['device_bytes_per_op', ordinal])::float8,
                    (storage #>> ARRAY['device_utilization', ordinal])::float8) AS d (bytes, busy);
