--
-- sync_probe_internal.axis
--
-- An axis: its ends, whether it is logarithmic, where it has ticks, what these are called, and
-- the unit, in plain text.
--
CREATE TYPE sync_probe_internal.axis AS (
    low double precision,
    high double precision,
    logarithmic boolean,
    ticks double precision[],
    labels text[],
    unit text);

COMMENT ON TYPE sync_probe_internal.axis IS
  'An axis of a plot';

--
-- sync_probe_internal.round_tick
--
-- The nearest of 1, 2 and 5 times a power of ten that is not above, or not below, a number.
-- Null if that is not above 0: a caller's WHERE would be too late, since the planner computes
-- immutable functions of known arguments (18 and later do so with those of SQL functions).
--
CREATE FUNCTION sync_probe_internal.round_tick(number double precision, up boolean)
RETURNS double precision
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT CASE WHEN up THEN min(t.tick) FILTER (WHERE t.tick >= number * 0.9999999)
            ELSE max(t.tick) FILTER (WHERE t.tick <= number * 1.0000001) END::float8
FROM unnest('{0.5,1,2,5,10,20}'::numeric[]) AS m,
     LATERAL (SELECT m * 10::numeric ^ floor(log(CASE WHEN number > 0 THEN number::numeric END))
                  AS tick) AS t
$$;

COMMENT ON FUNCTION sync_probe_internal.round_tick(double precision, boolean) IS
  'The nearest of 1, 2 and 5 times a power of ten';

--
-- sync_probe_internal.html_log_axis
--
-- A logarithmic axis that holds two numbers, between round ends.  It has ticks at 1, 2 and 5 up
-- to two decades, beyond that at powers of ten.  Null if a number is unknown or not above 0.
--
CREATE FUNCTION sync_probe_internal.html_log_axis(
    lowest double precision,
    highest double precision,
    unit text)
RETURNS sync_probe_internal.axis
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT ROW(e.low, e.high, true, t.ticks, t.labels, unit)::sync_probe_internal.axis
FROM (SELECT sync_probe_internal.round_tick(lowest, false),
             sync_probe_internal.round_tick(greatest(highest, lowest * 2), true)
      OFFSET 0) AS e (low, high), -- not pulled up, which would repeat the calls
     LATERAL (SELECT array_agg(p.tick::float8 ORDER BY p.tick),
                     array_agg(to_char(trim_scale(p.tick), CASE WHEN p.tick >= 1
                                                           THEN 'FM999,999,999,999'
                                                           ELSE 'FM0.999999' END)
                               ORDER BY p.tick)
              FROM generate_series(floor(log(e.low::numeric))::integer,
                                   ceil(log(e.high::numeric))::integer) AS d,
                   unnest(CASE WHEN e.high / e.low <= 100.0001 THEN '{1,2,5}'::numeric[]
                               ELSE '{1}' END) AS m,
                   LATERAL (SELECT m * 10::numeric ^ d) AS p (tick)
              WHERE p.tick >= e.low::numeric * 0.9999 AND p.tick <= e.high::numeric * 1.0001
             ) AS t (ticks, labels)
WHERE lowest > 0 AND highest > 0 AND greatest(lowest, highest) < 1e15
$$;

COMMENT ON FUNCTION
  sync_probe_internal.html_log_axis(double precision, double precision, text) IS
  'A logarithmic axis that holds two numbers';

--
-- sync_probe_internal.html_linear_axis
--
-- An axis from 0 that holds a number, with two to five ticks.
--
CREATE FUNCTION sync_probe_internal.html_linear_axis(highest double precision, unit text)
RETURNS sync_probe_internal.axis
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT ROW(0, e.high, false, t.ticks, t.labels, unit)::sync_probe_internal.axis
FROM (SELECT CASE WHEN highest > 0 AND highest < 1e15 THEN highest * 1.04 ELSE 1 END) AS e (high),
     LATERAL (SELECT sync_probe_internal.round_tick(e.high / 5, true) OFFSET 0) AS s (step),
     LATERAL (SELECT array_agg((n * s.step)::float8 ORDER BY n),
                     array_agg(CASE WHEN n = 0 THEN '0'
                                    WHEN s.step >= 1
                                    THEN to_char(n * s.step, 'FM999,999,999,999,999')
                                    ELSE trim_scale(n * s.step::numeric)::text END ORDER BY n)
              FROM generate_series(0, floor(e.high / s.step)::integer) AS n) AS t (ticks, labels)
$$;

COMMENT ON FUNCTION sync_probe_internal.html_linear_axis(double precision, text) IS
  'An axis from 0 that holds a number';

--
-- sync_probe_internal.html_ratio_axis
--
-- A logarithmic axis of ratios around 1 that holds two of them, with at least 15 percent to
-- each side.  It ends at 1/20 and at 20: beyond that a mark is an arrow.  Ticks are at least 15
-- percent of its length apart: on paper their labels would touch otherwise.
--
CREATE FUNCTION sync_probe_internal.html_ratio_axis(
    lowest double precision,
    highest double precision)
RETURNS sync_probe_internal.axis
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT ROW(e.low, e.high, true, t.ticks, t.labels, 'times')::sync_probe_internal.axis
FROM (SELECT greatest(least(coalesce(lowest, 1) / 1.03, 0.87), 0.045),
             least(greatest(coalesce(highest, 1) * 1.03, 1.15), 22)) AS e (low, high),
     LATERAL (SELECT array_agg(tick::float8 ORDER BY tick), array_agg(tick::text ORDER BY tick)
              FROM unnest(CASE WHEN e.high / e.low < 1.6 THEN '{0.8,0.9,1,1.1,1.2}'
                               WHEN e.high / e.low < 3 THEN '{0.5,0.6,0.8,1,1.25,1.5,2,2.5}'
                               WHEN e.high / e.low < 6 THEN '{0.3,0.5,0.7,1,1.5,2,3,4}'
                               WHEN e.high / e.low < 30 THEN '{0.05,0.1,0.2,0.5,1,2,5,10,20}'
                               ELSE '{0.05,0.2,1,5,20}' END::numeric[]) AS tick
              WHERE tick BETWEEN e.low AND e.high) AS t (ticks, labels)
$$;

COMMENT ON FUNCTION sync_probe_internal.html_ratio_axis(double precision, double precision) IS
  'A logarithmic axis of ratios around 1';

--
-- sync_probe_internal.html_at
--
-- Where a number is on an axis, in percent from its low end.  What is beyond an end is at it.
-- Null if the number is unknown.
--
CREATE FUNCTION sync_probe_internal.html_at(
    axis sync_probe_internal.axis,
    number double precision)
RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT CASE WHEN number = 'NaN' OR axis.low IS NULL THEN NULL
            WHEN number <= axis.low THEN 0
            WHEN number >= axis.high THEN 100
            WHEN axis.logarithmic
            THEN trim_scale(round((100 * ln(number / axis.low)
                                   / ln(axis.high / axis.low))::numeric, 1))
            ELSE trim_scale(round((100 * (number - axis.low)
                                   / (axis.high - axis.low))::numeric, 1)) END
$$;

COMMENT ON FUNCTION sync_probe_internal.html_at(sync_probe_internal.axis, double precision) IS
  'Where a number is on an axis, in percent';
