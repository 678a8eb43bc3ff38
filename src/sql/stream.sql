--
-- The seconds of the stream suite, each of one test case, which stream_seconds() shows.
--
-- second: since measuring began.  length_ms: up to the first flush that ends after a second.
-- device_bytes, device_utilization: of the disks, also for others; slowest_device_utilization
-- around the slowest flush, null if that took less than 20 ms.
--
CREATE TABLE sync_probe_internal.stream_seconds (
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

GRANT SELECT ON sync_probe_internal.stream_seconds TO pg_monitor;

SELECT pg_catalog.pg_extension_config_dump('sync_probe_internal.stream_seconds', '');

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
    FROM sync_probe_internal.stream_seconds
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
FROM sync_probe_internal.stream_seconds AS t
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

--
-- stream_seconds
--
CREATE FUNCTION sync_probe.stream_seconds(run_id bigint)
RETURNS TABLE (
    second integer,
    began_at timestamptz,
    test text,
    method text,
    direct_io boolean,
    mb_per_sec double precision,
    slowest_us double precision,
    device_utilization double precision,
    bar text,
    stall text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM sync_probe_internal.require_run('stream_seconds()', run_id,
        '{sync_probe.runs,sync_probe.measurements,sync_probe_internal.stream_seconds}');
    RETURN QUERY
        SELECT s.second, s.began_at, m.test, m.method, m.direct_io,
               round(r.rate::numeric, 1)::float8, s.slowest_us, s.device_utilization,
               sync_probe.bar(r.rate / nullif(max(r.rate) OVER (PARTITION BY s.ordinal), 0)),
               x.kind || format(' of %s ms: %s', x.stalled_ms, x.meanwhile)
        FROM sync_probe_internal.stream_seconds AS s
        JOIN sync_probe.measurements AS m ON m.run_id = s.run_id AND m.ordinal = s.ordinal
        LEFT JOIN sync_probe_internal.stalls(stream_seconds.run_id) AS x ON x.second = s.second,
             LATERAL (SELECT s.bytes / nullif(s.length_ms, 0) / 1048.576) AS r (rate)
        WHERE s.run_id = stream_seconds.run_id
        ORDER BY s.second, s.ordinal;
END
$$;

COMMENT ON FUNCTION sync_probe.stream_seconds IS
  'Seconds of a run of suite stream: rate, longest flush, busy share of the device (0 to 1, an '
  'upper bound), and stalls. Requires SELECT on the tables';
