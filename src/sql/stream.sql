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
    device_bytes bigint,
    device_utilization double precision,
    slowest_device_utilization double precision,
    PRIMARY KEY (run_id, ordinal, second)
);

GRANT SELECT ON sync_probe.stream_seconds TO pg_monitor;

COMMENT ON TABLE sync_probe.stream_seconds IS 'Seconds of suite stream, each of one test case';
COMMENT ON COLUMN sync_probe.stream_seconds.run_id IS 'As in measurements';
COMMENT ON COLUMN sync_probe.stream_seconds.ordinal IS 'As in measurements';
COMMENT ON COLUMN sync_probe.stream_seconds.second IS 'Since measuring began';
COMMENT ON COLUMN sync_probe.stream_seconds.began_at IS 'Start';
COMMENT ON COLUMN sync_probe.stream_seconds.length_ms IS
  'Up to the first flush that ends after a second';
COMMENT ON COLUMN sync_probe.stream_seconds.bytes IS 'Written by flushes';
COMMENT ON COLUMN sync_probe.stream_seconds.slowest_us IS 'Longest flush';
COMMENT ON COLUMN sync_probe.stream_seconds.device_bytes IS
  'Written by disks, also for others; null if unknown';
COMMENT ON COLUMN sync_probe.stream_seconds.device_utilization IS
  'Busy share of the time, 0 to 1; an upper bound';
COMMENT ON COLUMN sync_probe.stream_seconds.slowest_device_utilization IS
  'Likewise around the slowest flush; null if it took less than 20 ms';

SELECT pg_catalog.pg_extension_config_dump('sync_probe.stream_seconds', '');

--
-- stalls
--
-- Where a stream stalled: a flush of more than 100 ms and ten times the median of its test
-- case, or a second with less than a tenth of the median rate of its seconds.  A second that
-- the end of the run has cut short has too few flushes for a rate.
--
-- The busy share of the device, around the flush or in the whole second, shows who made it wait:
-- not an idle device, and a busy one unless others wrote in that second.  written: the bytes that
-- the run's own flushes usually make the device write in such a second.  A quarter more is no sign
-- of others, nor are 8 MB: the journal and the log tree of any file system write less at a time.
--
CREATE FUNCTION sync_probe_internal.stalls(of_run bigint)
RETURNS TABLE (
    test text,
    method text,
    second integer,
    began_at timestamptz,
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
SELECT m.test, m.method, t.second, t.began_at, k.kind,
       round(k.stalled_ms::numeric, 1)::float8,
       CASE WHEN num_nulls(k.utilization, t.device_bytes) > 0
            THEN 'unknown: the counters of the device were not read'
            ELSE format(
                CASE WHEN k.utilization < 0.25
                     THEN 'the device was idle %s %% of the time: something above it waited (file'
                          ' system, processor, a limit on I/O)'
                     WHEN t.device_bytes > 1.25 * w.written + 8 * 1024 * 1024
                     THEN 'the device was busy %2$s %% of the time, and others wrote %3$s'
                     ELSE 'the device was busy %2$s %% of the time: it was slow itself' END,
                round((100 * (1 - k.utilization))::numeric), round((100 * k.utilization)::numeric),
                pg_size_pretty(greatest(t.device_bytes - w.written, 0)::bigint)) END
FROM sync_probe.stream_seconds AS t
JOIN usual AS u USING (ordinal)
JOIN sync_probe.measurements AS m USING (run_id, ordinal),
     LATERAL (SELECT t.slowest_us > greatest(10 * m.p50_us, 100000)) AS f (is_flush),
     LATERAL (SELECT 'flush', t.slowest_us / 1000, t.slowest_device_utilization
              WHERE f.is_flush
              UNION ALL
              SELECT 'second'::text, t.length_ms, t.device_utilization
              WHERE NOT f.is_flush AND t.length_ms >= 500
                AND t.bytes / nullif(t.length_ms, 0) < u.rate / 10
             ) AS k (kind, stalled_ms, utilization),
     LATERAL (SELECT coalesce(t.bytes * u.amplification, 0)) AS w (written)
WHERE t.run_id = of_run
$$;
