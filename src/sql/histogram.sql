--
-- latency_histogram
--
-- The latencies of each measurement, eight buckets to the octave: fine enough
-- to see two humps, few enough rows to look at.  The 64 buckets to the octave
-- that were recorded are in sync_probe.samples.
--
CREATE VIEW sync_probe.latency_histogram AS
WITH bucket AS (
    SELECT s.run_id, s.ordinal, b.lower_us, b.ops,
           -- the least double above a power of two must not fall below it
           pow(2, floor(ln(greatest(b.lower_us, 0.001) * 1000) / ln(2.0::float8) + 1e-9)) AS octave_ns
    FROM sync_probe.samples AS s,
         LATERAL unnest(s.bucket_lower_us, s.bucket_ops) AS b (lower_us, ops)
), part AS (
    SELECT run_id, ordinal, ops,
           octave_ns / 1000 * (1 + floor((lower_us * 1000 / octave_ns - 1) * 8 + 1e-9) / 8) AS lower_us,
           octave_ns / 8000 AS width_us
    FROM bucket
), bar AS (
    SELECT run_id, ordinal, lower_us, lower_us + width_us AS upper_us,
           sum(ops)::bigint AS ops,
           sum(ops) / sum(sum(ops)) OVER of_measurement AS fraction,
           sum(ops) / max(sum(ops)) OVER of_measurement AS height
    FROM part
    GROUP BY run_id, ordinal, lower_us, width_us
    WINDOW of_measurement AS (PARTITION BY run_id, ordinal)
)
SELECT b.run_id, b.ordinal, m.test, m.method,
       round(b.lower_us::numeric, CASE WHEN b.lower_us < 10 THEN 3 ELSE 1 END)::float8 AS lower_us,
       round(b.upper_us::numeric, CASE WHEN b.upper_us < 10 THEN 3 ELSE 1 END)::float8 AS upper_us,
       b.ops, round(b.fraction, 4)::float8 AS fraction,
       repeat('#', ceil(b.height * 50)::integer) AS bar
FROM bar AS b
JOIN sync_probe.measurements AS m USING (run_id, ordinal)
ORDER BY b.run_id, b.ordinal, b.lower_us;

GRANT SELECT ON sync_probe.latency_histogram TO pg_monitor;

COMMENT ON VIEW sync_probe.latency_histogram IS
  'How the latencies of each measurement are spread; ask for one run_id and ordinal';
COMMENT ON COLUMN sync_probe.latency_histogram.fraction IS
  'Share of the measurement''s operations in this bucket';

