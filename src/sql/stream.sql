--
-- stream_seconds
--
-- One row for each second of a run of the stream suite.  Each belongs to one test case.
--
CREATE TABLE sync_probe.stream_seconds (
    run_id bigint,
    ordinal integer,
    second integer,
    began_at timestamptz,
    length_ms double precision,
    bytes bigint,
    slowest_us double precision,
    slowest_at timestamptz,
    device_bytes bigint,
    device_flushes bigint,
    device_utilization double precision,
    slowest_device_bytes bigint,
    slowest_device_flushes bigint,
    slowest_device_utilization double precision,
    PRIMARY KEY (run_id, ordinal, second)
);

GRANT SELECT ON sync_probe.stream_seconds TO pg_monitor;

COMMENT ON TABLE sync_probe.stream_seconds IS
  'History: what the stream suite wrote in each second, and what all wrote to the device. Each '
  'second belongs to one test case';
COMMENT ON COLUMN sync_probe.stream_seconds.run_id IS 'As in measurements';
COMMENT ON COLUMN sync_probe.stream_seconds.ordinal IS 'As in measurements';
COMMENT ON COLUMN sync_probe.stream_seconds.second IS 'Seconds since the start of the measuring';
COMMENT ON COLUMN sync_probe.stream_seconds.began_at IS 'When it began';
COMMENT ON COLUMN sync_probe.stream_seconds.length_ms IS
  'Its length; it ends with the first flush that ends after a second';
COMMENT ON COLUMN sync_probe.stream_seconds.bytes IS 'Bytes written by flushes';
COMMENT ON COLUMN sync_probe.stream_seconds.slowest_us IS 'Longest flush';
COMMENT ON COLUMN sync_probe.stream_seconds.slowest_at IS 'When it began';
COMMENT ON COLUMN sync_probe.stream_seconds.device_bytes IS
  'Bytes that the disks wrote; null if unknown';
COMMENT ON COLUMN sync_probe.stream_seconds.device_flushes IS
  'Flush requests that the disks completed';
COMMENT ON COLUMN sync_probe.stream_seconds.device_utilization IS
  'Share of the time that the device was busy, 0 to 1; an upper bound';
COMMENT ON COLUMN sync_probe.stream_seconds.slowest_device_bytes IS
  'The same around the slowest flush; null if it took less than 20 ms';
COMMENT ON COLUMN sync_probe.stream_seconds.slowest_device_flushes IS
  'The same around the slowest flush; null if it took less than 20 ms';
COMMENT ON COLUMN sync_probe.stream_seconds.slowest_device_utilization IS
  'The same around the slowest flush; null if it took less than 20 ms';

-- The history is the user's data: pg_dump includes it.
SELECT pg_catalog.pg_extension_config_dump('sync_probe.stream_seconds', '');

--
-- stalls
--
-- Where a stream stalled: a flush of more than 100 ms and ten times the median of its test
-- case, or a second with less than a tenth of the median rate of its seconds.  A second that
-- the end of the run has cut short has too few flushes for a rate.
--
-- Of a flush the counters are those around it, else those of the whole second.  They tell who made
-- it wait: not an idle device, and a busy one unless others wrote.  written: the bytes that the
-- run's own flushes usually make the device write in that time; 8 MB are more than the journal and
-- the log tree of any file system add to a flush.
--
CREATE FUNCTION sync_probe_internal.stalls(of_run bigint)
RETURNS TABLE (
    test text,
    method text,
    second integer,
    stalled_at timestamptz,
    kind text,
    stalled_ms double precision,
    meanwhile text)
LANGUAGE sql STABLE PARALLEL SAFE
ROWS 10
SET search_path = pg_catalog, pg_temp
AS $$
WITH usual AS (
    SELECT ordinal,
           percentile_cont(0.5) WITHIN GROUP (ORDER BY bytes / nullif(length_ms, 0)) AS rate,
           percentile_cont(0.5) WITHIN GROUP (ORDER BY device_bytes / nullif(bytes, 0)::float8)
               AS amplification
    FROM sync_probe.stream_seconds
    WHERE run_id = of_run
    GROUP BY ordinal
)
SELECT m.test, m.method, t.second, k.stalled_at, k.kind,
       round(k.stalled_ms::numeric, 1)::float8,
       CASE WHEN num_nulls(k.utilization, k.device_bytes) > 0
            THEN 'unknown: the counters of the device were not read'
            ELSE format(
                CASE WHEN k.utilization < 0.25
                     THEN 'the device was idle %s %% of the time: something above it waited (file'
                          ' system, processor, a limit on I/O)'
                     WHEN k.device_bytes > 2 * w.written + 8 * 1024 * 1024
                     THEN 'the device was busy %2$s %% of the time: others wrote %3$s'
                     ELSE 'the device was busy %2$s %% of the time and wrote %4$s: it was'
                          ' slow itself' END,
                round((100 * (1 - k.utilization))::numeric), round((100 * k.utilization)::numeric),
                pg_size_pretty(greatest(k.device_bytes - w.written, 0)::bigint),
                pg_size_pretty(k.device_bytes)
                || coalesce(' in ' || k.flushes
                            || CASE k.flushes WHEN 1 THEN ' flush' ELSE ' flushes' END, ''))
            END
FROM sync_probe.stream_seconds AS t
JOIN usual AS u USING (ordinal)
JOIN sync_probe.measurements AS m USING (run_id, ordinal),
     LATERAL (SELECT t.slowest_us > greatest(10 * m.p50_us, 100000)) AS f (is_flush),
     LATERAL (SELECT 'flush', t.slowest_at, t.slowest_us / 1000, m.write_size::bigint,
                     t.slowest_device_utilization, t.slowest_device_bytes, t.slowest_device_flushes
              WHERE f.is_flush
              UNION ALL
              SELECT 'second'::text, t.began_at, t.length_ms, t.bytes, t.device_utilization,
                     t.device_bytes, t.device_flushes
              WHERE NOT f.is_flush AND t.length_ms >= 500
                AND t.bytes / nullif(t.length_ms, 0) < u.rate / 10
             ) AS k (kind, stalled_at, stalled_ms, bytes, utilization, device_bytes, flushes),
     LATERAL (SELECT coalesce(k.bytes * u.amplification, 0)) AS w (written)
WHERE t.run_id = of_run
$$;
