--
-- The buckets of a measurement, eight to the octave.
--
CREATE FUNCTION sync_probe_internal.histogram(
    bucket_lower_us double precision[],
    bucket_ops bigint[])
RETURNS TABLE (lower_us double precision, upper_us double precision, ops bigint, bar text)
LANGUAGE sql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
WITH part AS (
    SELECT b.ops, o.ns / 8000 AS width_us,
           o.ns / 1000 * (1 + floor((b.lower_us * 1000 / o.ns - 1) * 8 + 1e-9) / 8) AS lower_us
    FROM unnest(bucket_lower_us, bucket_ops) AS b (lower_us, ops),
         -- without 1e-9, rounding can put a power of two into the octave below
         LATERAL (SELECT pow(2, floor(ln(greatest(b.lower_us, 0.001) * 1000) / ln(2.0::float8)
                                      + 1e-9))) AS o (ns)
), bar AS (
    SELECT lower_us, lower_us + width_us AS upper_us, sum(ops)::bigint AS ops,
           (sum(ops) / nullif(max(sum(ops)) OVER (), 0))::float8 AS height
    FROM part
    GROUP BY lower_us, width_us
)
SELECT round(b.lower_us::numeric, CASE WHEN b.lower_us < 10 THEN 3 ELSE 1 END)::float8,
       round(b.upper_us::numeric, CASE WHEN b.upper_us < 10 THEN 3 ELSE 1 END)::float8,
       b.ops, sync_probe.bar(b.height)
FROM bar AS b
$$;

--
-- latency_histogram
--
-- The latency distribution of each measurement, eight buckets to the octave: fine enough
-- to show two humps, with few rows.  sync_probe_internal.samples has the 64 buckets to
-- the octave that were recorded.
--
CREATE VIEW sync_probe.latency_histogram AS
SELECT m.run_id, m.ordinal, m.test, m.method, h.lower_us, h.upper_us, h.ops, h.bar
FROM sync_probe.measurements AS m, sync_probe_internal.samples AS s,
     LATERAL sync_probe_internal.histogram(s.bucket_lower_us, s.bucket_ops) AS h
WHERE s.run_id = m.run_id AND s.ordinal = m.ordinal
ORDER BY m.run_id, m.ordinal, h.lower_us;

GRANT SELECT ON sync_probe.latency_histogram TO pg_monitor;

COMMENT ON VIEW sync_probe.latency_histogram IS
  'Latency distribution of each measurement. Ask for one run_id: over the whole history the view '
  'is slow';
COMMENT ON COLUMN sync_probe.latency_histogram.run_id IS 'As in measurements';
COMMENT ON COLUMN sync_probe.latency_histogram.ordinal IS 'As in measurements';
COMMENT ON COLUMN sync_probe.latency_histogram.test IS 'As in measurements';
COMMENT ON COLUMN sync_probe.latency_histogram.method IS 'As in measurements';
COMMENT ON COLUMN sync_probe.latency_histogram.lower_us IS
  'Bounds of the bucket; there are eight to the octave';
COMMENT ON COLUMN sync_probe.latency_histogram.upper_us IS
  'Bounds of the bucket; there are eight to the octave';
COMMENT ON COLUMN sync_probe.latency_histogram.ops IS 'Operations in the bucket';
COMMENT ON COLUMN sync_probe.latency_histogram.bar IS
  'ops as a bar; the fullest bucket has 40 characters';
