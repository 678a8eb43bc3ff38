--
-- The seconds of the stream suite, each of one test case, which stream_seconds() shows.
--
-- second: since measuring began.  length_ms: up to the first flush that ends after a second.
-- device_bytes, device_utilization: of the disks, also for others; slowest_device_utilization
-- around the slowest flush, null if that took less than 20 ms.
--
CREATE TABLE sync_probe_internal.stream_seconds (
    run_id bigint NOT NULL,
    ordinal integer NOT NULL,
    second integer NOT NULL,
    began_at timestamptz,
    length_ms double precision,
    bytes bigint,
    slowest_us double precision,
    device_bytes bigint,
    device_utilization double precision,
    slowest_device_utilization double precision
);

-- Not unique: of a short run, a case may have two turns in one second.
CREATE INDEX ON sync_probe_internal.stream_seconds (run_id);

GRANT SELECT ON sync_probe_internal.stream_seconds TO pg_monitor;

SELECT pg_catalog.pg_extension_config_dump('sync_probe_internal.stream_seconds', '');

--
-- The seconds of a run, and which of them stalled: kind is null if none did.  A stall is a flush of
-- more than 100 ms and ten times the median of its test case, or a second with less than a tenth of
-- the median rate of its seconds.  A second that the end of the run has cut short has too few
-- flushes for that.  rate: in MB a second.
--
-- The busy share of the device, around the flush or in the whole second, shows who made it wait:
-- not an idle device, and a busy one unless others wrote in that second.  written: the bytes that
-- the run's own flushes usually make the device write in such a second.  A quarter more is no sign
-- of others, nor are 8 MB: the journal and the log tree of any file system write less at a time.
--
CREATE FUNCTION sync_probe_internal.judged_seconds(of_run bigint)
RETURNS TABLE (
    second integer,
    began_at timestamptz,
    ordinal integer,
    test text,
    method text,
    direct_io boolean,
    rate double precision,
    slowest_us double precision,
    device_utilization double precision,
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
SELECT t.second, t.began_at, t.ordinal, m.test, m.method, m.direct_io,
       t.bytes / nullif(t.length_ms, 0) / 1048.576, t.slowest_us, t.device_utilization,
       k.kind, round(k.stalled_ms::numeric, 1)::float8,
       CASE WHEN k.kind IS NULL THEN NULL
            WHEN num_nulls(k.utilization, t.device_bytes) > 0
            THEN 'the counters of the device were not read: the cause is unknown'
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
JOIN sync_probe.measurements AS m USING (run_id, ordinal)
CROSS JOIN LATERAL (SELECT t.slowest_us > greatest(10 * m.p50_us, 100000)) AS f (is_flush)
LEFT JOIN LATERAL (SELECT 'flush', t.slowest_us / 1000, t.slowest_device_utilization
                   WHERE f.is_flush
                   UNION ALL
                   SELECT 'slow second'::text, t.length_ms, t.device_utilization
                   WHERE NOT f.is_flush AND t.length_ms >= 500
                     AND t.bytes / nullif(t.length_ms, 0) < u.rate / 10
                  ) AS k (kind, stalled_ms, utilization) ON true
CROSS JOIN LATERAL (SELECT coalesce(t.bytes * u.amplification, 0)) AS w (written)
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
        '{sync_probe.runs,sync_probe.measurements,sync_probe_internal.stream_seconds}', 'stream');
    RETURN QUERY
        SELECT s.second, s.began_at, s.test, s.method, s.direct_io,
               round(s.rate::numeric, 1)::float8, s.slowest_us, s.device_utilization,
               sync_probe.bar(s.rate / nullif(max(s.rate) OVER (PARTITION BY s.ordinal), 0)),
               s.kind || format(' of %s ms: %s', s.stalled_ms, s.meanwhile)
        FROM sync_probe_internal.judged_seconds(run_id) AS s
        ORDER BY s.second, s.began_at, s.ordinal;
END
$$;

COMMENT ON FUNCTION sync_probe.stream_seconds IS
  'Seconds of a run of suite stream: rate, longest flush, busy share of the device (0 to 1, an '
  'upper bound), and stalls. Requires SELECT on the tables';
