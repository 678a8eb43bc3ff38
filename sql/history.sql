\set ECHO none
-- compare() and history() of real runs.
\a \t on
SET client_min_messages = warning;

SELECT count(*) > 0 AS probed
FROM generate_series(1, 2) AS n, LATERAL sync_probe.probe(duration => '400 ms', label => 'run ' || n,
    flush_size => 8192, flush_interval => '5 ms');

SELECT count(*) > 0 AS cases,
       count(*) FILTER (WHERE NOT ratio BETWEEN ratio_low AND ratio_high) AS outside,
       max(length(bar)) <= 20 AS bars, max(not_comparable) AS differs
FROM sync_probe.compare(ARRAY(SELECT run_id FROM sync_probe.runs ORDER BY run_id))
WHERE ratio_low IS NOT NULL;
SELECT label, method = current_setting('wal_sync_method') AS method, p50_us > 0 AS p50,
       ratio > 0 AS ratio, (ratio BETWEEN ratio_low AND ratio_high) IS FALSE AS outside, changes
FROM sync_probe.history();
DELETE FROM sync_probe.runs;
