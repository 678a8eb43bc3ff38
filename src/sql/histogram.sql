--
-- latency_histogram
--
-- The latency distribution of each measurement, eight buckets to the octave: fine enough
-- to show two humps, with few rows.  sync_probe_internal.samples has the 64 buckets to
-- the octave that were recorded.
--
CREATE VIEW sync_probe.latency_histogram AS
WITH bar AS (
    SELECT s.run_id, s.ordinal, l.lower_us, l.lower_us + o.ns / 8000 AS upper_us,
           sum(b.ops)::bigint AS ops,
           (sum(b.ops) / nullif(max(sum(b.ops)) OVER of_measurement, 0))::float8 AS height
    FROM sync_probe_internal.samples AS s,
         LATERAL unnest(s.bucket_lower_us, s.bucket_ops) AS b (lower_us, ops),
         -- the octave; without 1e-9, rounding can put a power of two into the one below
         LATERAL (SELECT pow(2, floor(ln(greatest(b.lower_us, 0.001) * 1000) / ln(2.0::float8)
                                      + 1e-9))) AS o (ns),
         LATERAL (SELECT o.ns / 1000 * (1 + floor((b.lower_us * 1000 / o.ns - 1) * 8 + 1e-9) / 8)
                 ) AS l (lower_us)
    GROUP BY s.run_id, s.ordinal, l.lower_us, o.ns
    WINDOW of_measurement AS (PARTITION BY s.run_id, s.ordinal)
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
