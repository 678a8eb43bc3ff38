--
-- metrics
--
-- Figures for monitoring, with names and base units as Prometheus has them.  Strings are labels
-- of a series whose value is 1.  What is unknown is no row, and no value is NaN or infinite.  As
-- numeric a value has 15 digits, without those that a division adds.
--
-- A function, so that it can set jit, as findings() does, which it calls once.
--
CREATE FUNCTION sync_probe_internal.metrics()
RETURNS TABLE (name text, labels jsonb, value double precision)
LANGUAGE sql STABLE PARALLEL RESTRICTED
ROWS 100
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $$
SELECT 'pg_sync_probe_' || m.name, jsonb_strip_nulls(m.labels), m.value::numeric::float8
FROM (
    SELECT 'info', jsonb_build_object('version', e.extversion), 1::float8
    FROM pg_extension AS e
    WHERE e.extname = 'pg_sync_probe'

    UNION ALL
    SELECT m.name, jsonb_build_object('location', a.location) || m.labels, m.value
    FROM (SELECT a.*, (a.place).device, (a.run).finished_at
          FROM sync_probe_internal.advice(also => NULL) AS a) AS a
    LEFT JOIN LATERAL unnest(a.measured) AS p ON p.test = 'paced' AND p.method = a.current_method
    -- Last month is counted back from the run.  The newest of that time will do for a median.
    CROSS JOIN LATERAL (
        SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY m.p99_us) AS p99_us
        FROM (SELECT (r.run).run_id
              FROM sync_probe_internal.own_runs AS r
              WHERE (r.run).suite = 'wal' AND (r.run).location = a.location
                AND (r.run).device IS NOT DISTINCT FROM a.device AND (r.run).usable_for_advice
                AND (r.run).finished_at BETWEEN a.finished_at - interval '60 days'
                                            AND a.finished_at - interval '30 days'
                AND p.p99_us IS NOT NULL
              ORDER BY (r.run).run_id + 0 DESC
              LIMIT 31) AS r
        JOIN sync_probe.measurements AS m USING (run_id)
        WHERE m.test = 'paced' AND m.method = p.method AND m.p99_us > 0) AS e
    CROSS JOIN LATERAL (
        SELECT jsonb_build_object('device', a.device, 'method', a.current_method)) AS f (labels)
    CROSS JOIN LATERAL (VALUES
        ('advice_info', f.labels || jsonb_build_object('verdict', a.verdict, 'basis', a.basis,
             'recommended_method', a.recommended_method, 'durable', a.durable), 1),
        ('durable', '{}', CASE WHEN a.durable <> 'unknown'
             THEN (a.durable NOT IN ('no', 'refuted'))::integer END),
        ('run_age_seconds', '{}', extract(epoch FROM now() - a.finished_at)::float8),
        ('flush_p50_seconds', f.labels, p.p50_us / 1e6),
        ('flush_p99_seconds', f.labels, p.p99_us / 1e6),
        ('flush_p99_ratio', f.labels, p.p99_us / e.p99_us)) AS m (name, labels, value)

    UNION ALL
    SELECT m.name, '{}', m.value
    FROM (SELECT w.*
          FROM sync_probe.commit_wait_results AS w
          JOIN sync_probe_internal.this_server() AS s USING (system_identifier, host)
          WHERE w.started_at <= clock_timestamp()
          ORDER BY w.started_at DESC
          LIMIT 1) AS w,
         LATERAL (VALUES
        ('commit_wait_seconds', w.commit_wait_us / 1e6),
        ('commits_per_second', w.commits_per_sec),
        ('wal_busy_ratio', w.wal_busy),
        ('commit_wait_age_seconds',
         extract(epoch FROM clock_timestamp() - w.started_at)::float8)
        ) AS m (name, value)

    UNION ALL
    -- Its lifetime depends on its endurance, which is unknown here.
    SELECT 'device_written_bytes_per_second',
           jsonb_build_object('location', 'pg_wal', 'device', l.device),
           l.wal_bytes_per_sec * l.write_amplification
    FROM sync_probe.device_lifetime('pg_wal', 1, 1) AS l

    UNION ALL
    SELECT 'finding', jsonb_build_object('location', f.location, 'severity', f.severity,
                                         'code', f.code), count(*)
    FROM sync_probe_internal.findings() AS f
    GROUP BY f.location, f.severity, f.code
) AS m (name, labels, value)
WHERE m.value > '-Infinity' AND m.value < 'Infinity'
ORDER BY m.name, m.labels
$$;

CREATE VIEW sync_probe.metrics AS
SELECT m.name, m.labels, m.value
FROM sync_probe_internal.metrics() AS m;

GRANT SELECT ON sync_probe.metrics TO pg_monitor;

COMMENT ON VIEW sync_probe.metrics IS
  'Figures for monitoring, see doc/monitoring.md; one row for each series';
COMMENT ON COLUMN sync_probe.metrics.name IS 'With its unit: seconds, bytes, ratio';
COMMENT ON COLUMN sync_probe.metrics.labels IS 'Without unknown ones';
COMMENT ON COLUMN sync_probe.metrics.value IS 'What is unknown has no row';
