\set ECHO none
-- Arguments, errors, privileges and shapes of compare() and history().
\a \pset footer off
\set SHOW_CONTEXT never
SET client_min_messages = warning;

DELETE FROM sync_probe.runs;
SELECT count(*) > 0 AS probed FROM sync_probe.probe(duration => '500 ms', label => 'before',
    flush_size => 8192, flush_interval => '5 ms');
SELECT count(*) > 0 AS probed FROM sync_probe.probe(duration => '500 ms', label => 'after',
    flush_size => 8192, flush_interval => '5 ms');
SELECT count(*) > 0 AS probed FROM sync_probe.probe('pg_wal', 'pg_test_fsync', '300 ms');
SELECT array_agg(run_id ORDER BY run_id) AS ids FROM sync_probe.runs \gset

\echo -- wrong arguments; test/tap/exchange.sql has wrong documents
SELECT refused('SELECT FROM sync_probe.%s', $$
compare(NULL)
compare('{}')
compare('{-7}')
compare(ARRAY(SELECT run_id FROM sync_probe.runs) || NULL::bigint)
compare(array_fill(1, ARRAY[101]))
history(NULL)
history('nowhere')
history('PG_WAL')
export_json(NULL)
export_json('{-7}')
import_json(NULL)
$$);

\echo -- two runs side by side
SELECT test_case, run, value_us > 0 AS measured
FROM sync_probe.compare((:'ids'::bigint[])[1:2])
WHERE test = 'paced' AND test_case IN ('fdatasync', 'fsync');
SELECT count(*) > 0 AS cases,
       count(*) FILTER (WHERE NOT ratio BETWEEN ratio_low AND ratio_high) AS outside,
       max(length(bar)) <= 20 AS bars, max(not_comparable) AS differs
FROM sync_probe.compare((:'ids'::bigint[])[1:2]) WHERE run = 'after' AND value_us IS NOT NULL;

\echo -- the newest run comes last
SELECT label, method = current_setting('wal_sync_method') AS method, p50_us > 0 AS p50,
       ratio > 0 AS ratio, (ratio BETWEEN ratio_low AND ratio_high) IS FALSE AS outside, changes
FROM sync_probe.history();
SELECT count(*) FROM sync_probe.history('pg_default');

\echo -- documents
SELECT sync_probe.import_json('{"format": "pg_sync_probe runs", "version": 1, "runs": []}');
SELECT sync_probe.export_json(:'ids') AS document \gset
SELECT array_agg(i) AS imported FROM sync_probe.import_json(:'document') AS i \gset
SELECT sync_probe.export_json(:'imported')::text = :'document' AS the_same;
SELECT label, imported_at < now() AS imported, usable_for_advice
FROM sync_probe.runs ORDER BY run_id;
DELETE FROM sync_probe.runs WHERE imported_at IS NOT NULL;

\echo -- without rights they say which role helps
CREATE ROLE regress_sync_probe_reader;
SET ROLE regress_sync_probe_reader;
SELECT refused('SELECT FROM sync_probe.%s', $$
compare('{1}')
history()
export_json('{1}')
$$);

\echo -- SELECT is enough to read tables alone
RESET ROLE;
GRANT SELECT ON sync_probe.runs, sync_probe.measurements, sync_probe_internal.samples
    TO regress_sync_probe_reader;
SET ROLE regress_sync_probe_reader;
SELECT count(*) > 0 AS compared FROM sync_probe.compare(:'ids');
SELECT sync_probe.export_json(:'ids');
RESET ROLE;
GRANT SELECT ON sync_probe.stream_seconds TO regress_sync_probe_reader;
SET ROLE regress_sync_probe_reader;
SELECT sync_probe.export_json(:'ids') IS NOT NULL AS exported;
RESET ROLE;
REVOKE SELECT ON ALL TABLES IN SCHEMA sync_probe, sync_probe_internal
    FROM regress_sync_probe_reader;
GRANT pg_monitor TO regress_sync_probe_reader;
SET ROLE regress_sync_probe_reader;
SELECT count(*) > 0 AS compared FROM sync_probe.compare(:'ids');
SELECT count(*) FROM sync_probe.history();
RESET ROLE;
DROP ROLE regress_sync_probe_reader;
DELETE FROM sync_probe.runs;
