\set ECHO none
-- What the stream suite records.  It writes as much as the storage takes in 200 ms; its limit is in
-- test/t/006_limits.pl.
\a \t on
\set SHOW_CONTEXT never
SET client_min_messages = warning;

\echo -- the current method with three block sizes, and two with the flags of dd
SET pg_sync_probe.max_stream_write = '1GB';
SELECT ordinal, test, choice, method = current_setting('wal_sync_method') AS is_current
FROM sync_probe.probe('regress_sync_probe', 'stream', duration => '200 ms', label => 'stream')
WHERE choice IS NOT NULL;
SELECT test, method, direct_io, choice, status IN ('ok', 'no_direct_io') AS tried
FROM sync_probe.measurements JOIN sync_probe.runs USING (run_id)
WHERE label = 'stream' AND method = 'open_datasync' AND direct_io AND choice IS NULL
ORDER BY ordinal;
SELECT suite, usable_for_advice, verdict FROM sync_probe.runs WHERE label = 'stream';

\echo -- each second belongs to a case, and all operations are in one
SELECT m.ordinal, abs(m.max_us - max(s.slowest_us)) < 0.1 AS slowest,
       sum(s.bytes) = m.ops * pg_size_bytes(m.test) AS bytes,
       bool_and(s.began_at BETWEEN r.started_at AND r.finished_at) AS in_time,
       bool_and(s.length_ms > 0) AS lengths,
       m.detail ~ '^[0-9.]+ MB/s, slowest second [0-9.]+ MB/s$' AS described
FROM sync_probe.runs AS r
JOIN sync_probe.measurements AS m USING (run_id)
JOIN sync_probe_internal.stream_seconds AS s USING (run_id, ordinal)
WHERE r.label = 'stream' AND m.choice = 'current'
GROUP BY m.run_id, m.ordinal
ORDER BY m.ordinal;
SELECT bool_and(num_nulls(device_bytes, device_utilization) IN (0, 2)) AS all_or_none,
       bool_and(slowest_us >= 20000 OR slowest_device_utilization IS NULL) AS slow_only,
       bool_and(greatest(device_utilization, slowest_device_utilization, 0) <= 1) AS share
FROM sync_probe_internal.stream_seconds;

RESET pg_sync_probe.max_stream_write;
DELETE FROM sync_probe.runs WHERE suite = 'stream';
