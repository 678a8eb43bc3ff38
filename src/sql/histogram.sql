--
-- latency_histogram
--
-- The latency distribution of each measurement, eight buckets to the octave: fine enough
-- to show two humps, with few rows.  sync_probe_internal.samples has the 64 buckets to
-- the octave that were recorded.
--
CREATE VIEW sync_probe.latency_histogram AS
WITH bucket AS (
    SELECT s.run_id, s.ordinal, b.lower_us, b.ops,
           -- without 1e-9, rounding can put a power of two into the octave below
           pow(2, floor(ln(greatest(b.lower_us, 0.001) * 1000) / ln(2.0::float8) + 1e-9))
               AS octave_ns
    FROM sync_probe_internal.samples AS s,
         LATERAL unnest(s.bucket_lower_us, s.bucket_ops) AS b (lower_us, ops)
), part AS (
    SELECT run_id, ordinal, ops,
           octave_ns / 1000 * (1 + floor((lower_us * 1000 / octave_ns - 1) * 8 + 1e-9) / 8)
               AS lower_us,
           octave_ns / 8000 AS width_us
    FROM bucket
), bar AS (
    SELECT run_id, ordinal, lower_us, lower_us + width_us AS upper_us,
           sum(ops)::bigint AS ops,
           (sum(ops) / nullif(max(sum(ops)) OVER of_measurement, 0))::float8 AS height
    FROM part
    GROUP BY run_id, ordinal, lower_us, width_us
    WINDOW of_measurement AS (PARTITION BY run_id, ordinal)
)
SELECT b.run_id, b.ordinal, m.test, m.method,
       round(b.lower_us::numeric, CASE WHEN b.lower_us < 10 THEN 3 ELSE 1 END)::float8 AS lower_us,
       round(b.upper_us::numeric, CASE WHEN b.upper_us < 10 THEN 3 ELSE 1 END)::float8 AS upper_us,
       b.ops, sync_probe.bar(b.height) AS bar
FROM bar AS b, sync_probe.measurements AS m
WHERE m.run_id = b.run_id AND m.ordinal = b.ordinal
ORDER BY b.run_id, b.ordinal, b.lower_us;

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
