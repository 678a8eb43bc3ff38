--
-- latency_histogram
--
-- The latency distribution of each measurement of a run, eight buckets to the octave: fine enough
-- to show two humps, with few rows.  sync_probe_internal.samples has the 64 buckets to the octave
-- that were recorded.
--
CREATE FUNCTION sync_probe.latency_histogram(run_id bigint)
RETURNS TABLE (
    ordinal integer,
    test text,
    method text,
    lower_us double precision,
    ops bigint,
    bar text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM sync_probe_internal.require_run('latency_histogram()', run_id,
        '{sync_probe.runs,sync_probe.measurements,sync_probe_internal.samples}');
    RETURN QUERY
        SELECT m.ordinal, m.test, m.method,
               round(l.lower_us::numeric, CASE WHEN l.lower_us < 10 THEN 3 ELSE 1 END)::float8,
               least(sum(b.ops), 9223372036854775807)::bigint,
               sync_probe.bar((sum(b.ops) / nullif(max(sum(b.ops)) OVER (PARTITION BY m.ordinal), 0)
                              )::float8)
        FROM sync_probe.measurements AS m
        JOIN sync_probe_internal.samples AS s ON s.run_id = m.run_id AND s.ordinal = m.ordinal,
             LATERAL unnest(s.bucket_lower_us, s.bucket_ops) AS b (lower_us, ops),
             -- the octave; without 1e-9, rounding can put a power of two into the one below
             LATERAL (SELECT pow(2, floor(ln(greatest(b.lower_us, 0.001) * 1000) / ln(2.0::float8)
                                          + 1e-9))) AS o (ns),
             LATERAL (SELECT o.ns / 1000
                             * (1 + floor((b.lower_us * 1000 / o.ns - 1) * 8 + 1e-9) / 8)
                     ) AS l (lower_us)
        WHERE m.run_id = latency_histogram.run_id
        GROUP BY m.ordinal, m.test, m.method, l.lower_us
        ORDER BY m.ordinal, l.lower_us;
END
$$;

COMMENT ON FUNCTION sync_probe.latency_histogram IS
  'Latency distribution of each measurement of a run: operations in each bucket, eight to the '
  'octave. Requires SELECT on the tables';
