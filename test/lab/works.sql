-- What every stack must show, as TAP.  Variables: see works() in guest.sh.
--
-- Emulation is slow: nothing here is about time.  Findings that depend on speed, or on how full
-- the small disks are, may be there or not.

CREATE FUNCTION pg_temp.ok(passes boolean, name text) RETURNS text
    RETURN CASE WHEN passes THEN 'ok - ' ELSE 'not ok - ' END || name;

SELECT pg_temp.ok(coalesce(device, '') = :'device' AND filesystem = :'filesystem',
                  format('location pg_wal: %s on %s', filesystem, device))
FROM sync_probe.locations WHERE name = 'pg_wal';

SELECT 'rows of a probe: ' || count(*) FROM sync_probe.probe('pg_wal', duration => '20 s');

SELECT format('run %s: %s, %s', run_id, verdict, reason) FROM sync_probe.runs;

SELECT pg_temp.ok(bool_or(test = 'paced') AND bool_or(test = 'saturated')
                      AND bool_and(status IN ('ok', 'unsupported')),
                  format('every method is measured: %s, of %s rows',
                         string_agg(DISTINCT status, ' '), count(*)))
FROM sync_probe.measurements;

SELECT pg_temp.ok(durable = :'durable', format('durable: %s, expected %s', durable, :'durable'))
FROM sync_probe.recommendations WHERE location = 'pg_wal';

SELECT pg_temp.ok(seen = expected, format('findings: %s, expected %s', seen, expected))
FROM (SELECT array_agg(DISTINCT code ORDER BY code)
      FROM sync_probe.findings
      WHERE code NOT IN ('counters_shared', 'drift', 'low_space', 'outdated_run', 'slow_tail',
                         'software_bound', 'stream_stalls', 'sync_method_change',
                         'write_amplification', 'write_cache_volatile')) AS s (seen),
    (SELECT array_agg(code ORDER BY code)
     FROM unnest(string_to_array(:'findings', ' ') || '{wal_shares_device}'
                 || CASE WHEN :'filesystem' IN ('btrfs', 'zfs')
                         THEN '{cow_wal_settings}'::text[] END) AS code) AS e (expected);

SELECT pg_temp.ok(:'durable' <> 'yes' OR max(flushes_per_op) > 0,
                  format('counters: up to %s flushes and %s bytes per flush of WAL',
                         max(flushes_per_op), max((storage #>> ARRAY['device_bytes_per_op',
                                                                     ordinal::text])::float8)))
FROM sync_probe.measurements JOIN sync_probe.runs USING (run_id)
WHERE test = 'paced' AND method = :'method';

SELECT pg_temp.ok(bool_and(wal_sync_method = :'method' AND duration > '0'), 'commit_waits')
FROM sync_probe.commit_waits('1 s');

SELECT pg_temp.ok(sum(transactions) = 40, 'pgbench')
FROM sync_probe.pgbench('upsert', clients => 2, transactions => 20, rows => 1000);

SELECT pg_temp.ok(bool_and(status = 'ok'), format('suite %s: %s rows', suite, count(*)))
FROM unnest('{segments,stream}'::text[]) AS suite,
    sync_probe.probe('pg_wal', suite,
                     duration => CASE suite WHEN 'stream' THEN interval '10 s' ELSE '30 s' END)
GROUP BY suite;

SELECT pg_temp.ok(report LIKE '%</html>%', 'report_html') FROM sync_probe.report_html() AS report;

SELECT left(format('finding %s: %s', code, message), 200) FROM sync_probe.findings;
