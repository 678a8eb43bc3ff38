\set ECHO none
-- compare() and history() of real runs, and what they need to be read.
\a \t on
\set SHOW_CONTEXT never
SET client_min_messages = warning;

DELETE FROM sync_probe.runs;
SELECT count(*) > 0 AS probed FROM sync_probe.probe(duration => '500 ms', label => 'before',
    flush_size => 8192, flush_interval => '5 ms');
SELECT count(*) > 0 AS probed FROM sync_probe.probe(duration => '500 ms', label => 'after',
    flush_size => 8192, flush_interval => '5 ms');
SELECT count(*) > 0 AS probed FROM sync_probe.probe('pg_wal', 'pg_test_fsync', '300 ms');
SELECT array_agg(run_id ORDER BY run_id) AS ids FROM sync_probe.runs \gset

\echo -- two runs side by side
SELECT count(*) > 0 AS cases,
       count(*) FILTER (WHERE NOT ratio BETWEEN ratio_low AND ratio_high) AS outside,
       max(length(bar)) <= 20 AS bars, max(not_comparable) AS differs
FROM sync_probe.compare((:'ids'::bigint[])[1:2]) WHERE run = 'after' AND value_us IS NOT NULL;

\echo -- the newest run comes last
SELECT label, method = current_setting('wal_sync_method') AS method, p50_us > 0 AS p50,
       ratio > 0 AS ratio, (ratio BETWEEN ratio_low AND ratio_high) IS FALSE AS outside, changes
FROM sync_probe.history();

\echo -- SELECT is enough to read tables alone
CREATE ROLE regress_sync_probe_reader;
GRANT SELECT ON sync_probe.runs, sync_probe.measurements TO regress_sync_probe_reader;
SET ROLE regress_sync_probe_reader;
SELECT refused('SELECT sync_probe.compare(%s)', $$'{1}'$$);
RESET ROLE;
GRANT SELECT ON sync_probe_internal.samples TO regress_sync_probe_reader;
SET ROLE regress_sync_probe_reader;
SELECT count(*) > 0 AS compared FROM sync_probe.compare(:'ids');
SELECT refused('SELECT sync_probe.export_json(%s)', $$'{1}'$$);
RESET ROLE;
GRANT SELECT ON sync_probe.stream_seconds TO regress_sync_probe_reader;
SET ROLE regress_sync_probe_reader;
SELECT sync_probe.export_json(:'ids') IS NOT NULL AS exported;
RESET ROLE;
DROP OWNED BY regress_sync_probe_reader;
DROP ROLE regress_sync_probe_reader;
DELETE FROM sync_probe.runs;
