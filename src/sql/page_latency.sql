--
-- sync_probe_internal.latency_row
--
-- A distribution of a latency plot: name, colour, measurement.
--
CREATE TYPE sync_probe_internal.latency_row AS (
    name text,
    colour text,
    measured sync_probe.measurements);

COMMENT ON TYPE sync_probe_internal.latency_row IS
  'A distribution of a latency plot';

--
-- sync_probe_internal.latency_axis
--
-- The axis for such rows: from well below the lowest median to well above the highest 99th
-- percentile.
--
CREATE FUNCTION sync_probe_internal.latency_axis(rows sync_probe_internal.latency_row[])
RETURNS sync_probe_internal.axis
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT sync_probe_internal.html_log_axis(min((r.measured).p50_us) / 1.9,
    greatest(max((r.measured).p99_us) * 1.35, max((r.measured).p50_us) * 3), 'us')
FROM unnest(rows) AS r
WHERE (r.measured).p50_us > 0
$$;

COMMENT ON FUNCTION sync_probe_internal.latency_axis(sync_probe_internal.latency_row[]) IS
  'The axis of a latency plot';

--
-- sync_probe_internal.latency_shapes
--
-- The outline of each distribution on the axis, in a box of 500 by 50.  Its height is operations
-- per distance on the axis, relative to its own peak, because the buckets at the low end may be
-- wider than the others.
--
CREATE FUNCTION sync_probe_internal.latency_shapes(
    rows sync_probe_internal.latency_row[],
    axis sync_probe_internal.axis,
    OUT run_id bigint,
    OUT ordinal integer,
    OUT path text)
RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
WITH bucket AS (
    SELECT h.run_id, h.ordinal, h.lower_us, h.upper_us, b.low, b.high,
           h.ops / ln(h.upper_us / b.from_us) AS height
    FROM sync_probe.latency_histogram AS h,
         -- the first bucket begins at 0
         LATERAL (SELECT CASE WHEN h.lower_us > 0 THEN h.lower_us
                              ELSE h.upper_us / 2 END) AS f (from_us),
         LATERAL (SELECT f.from_us,
                         500 * ln(f.from_us / (axis).low) / ln((axis).high / (axis).low) AS low,
                         500 * ln(h.upper_us / (axis).low) / ln((axis).high / (axis).low) AS high
                 ) AS b
    WHERE h.run_id = ANY (ARRAY(SELECT (r.measured).run_id FROM unnest(rows) AS r))
      AND (h.run_id, h.ordinal) IN (SELECT (r.measured).run_id, (r.measured).ordinal
                                    FROM unnest(rows) AS r)
      AND h.upper_us > h.lower_us AND h.ops > 0
), placed AS (
    SELECT b.run_id, b.ordinal, b.lower_us,
           greatest(round(b.low), 0) AS x1, least(round(b.high), 500) AS x2,
           50 - round(50 * b.height / max(b.height) OVER (PARTITION BY b.run_id, b.ordinal)) AS y,
           lag(b.upper_us) OVER (PARTITION BY b.run_id, b.ordinal ORDER BY b.lower_us)
               >= b.lower_us * 0.999 AS joins
    FROM bucket AS b
)
SELECT p.run_id, p.ordinal,
       format('M%s 50', min(p.x1))
       || string_agg(CASE WHEN p.joins THEN '' ELSE format('V50H%s', p.x1) END
                     || format('V%sH%s', p.y, p.x2), '' ORDER BY p.lower_us) || 'V50z'
FROM placed AS p
WHERE p.x1 < 500 AND p.x2 > 0
GROUP BY p.run_id, p.ordinal
$$;

COMMENT ON FUNCTION sync_probe_internal.latency_shapes(sync_probe_internal.latency_row[],
  sync_probe_internal.axis) IS
  'The outline of each distribution of a latency plot';

--
-- sync_probe_internal.latency_plot
--
-- Distributions on an axis, one below the other.
--
CREATE FUNCTION sync_probe_internal.latency_plot(
    id text,
    title text,
    rows sync_probe_internal.latency_row[],
    axis sync_probe_internal.axis,
    wide boolean)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
WITH line AS (
    SELECT r.name, r.colour, r.n, (54 * r.n)::integer AS y, s.path,
           (r.measured).p50_us AS p50, (r.measured).p99_us AS p99,
           sync_probe_internal.html_at(axis, (r.measured).p50_us) AS x50,
           sync_probe_internal.html_at(axis, (r.measured).p99_us) AS x99
    FROM unnest(rows) WITH ORDINALITY AS r (name, colour, measured, n)
    LEFT JOIN sync_probe_internal.latency_shapes(rows, axis) AS s
        ON s.run_id = (r.measured).run_id AND s.ordinal = (r.measured).ordinal
)
SELECT sync_probe_internal.html_plot(id, max(y) + 20, title,
    string_agg(format('%s p50 %s%s us', name, sync_probe_internal.html_number(p50),
                      ', p99 ' || sync_probe_internal.html_number(p99)), '; ' ORDER BY n)
        FILTER (WHERE p50 IS NOT NULL),
    sync_probe_internal.html_grid(axis, 0, max(y), wide)
    || string_agg(concat(
        format('<g class=%s>', colour), sync_probe_internal.html_row_name(y - 4, name),
        format('<svg y=%s width=100%% height=34 viewBox="0 0 500 50" preserveAspectRatio=none>'
               '<path class=a d="%s"/></svg>', y - 34, nullif(path, '')),
        CASE WHEN p50 IS NOT NULL
             THEN format('<line class=q x1=%s%% x2=%1$s%% y1=%s y2=%s />'
                         '<text class="b e" x=%1$s%% dx=-4 y=%4$s>%5$s</text>', x50, y - 46, y,
                         y - 38, sync_probe_internal.html_number(p50)) END,
        CASE WHEN p99 IS NOT NULL
             THEN format('<line class=q9 x1=%s%% x2=%1$s%% y1=%s y2=%s />'
                         '<text class="y%4$s" x=%1$s%% dx=%5$s y=%6$s>%7$s</text>', x99, y - 46, y,
                         CASE WHEN x99 > 88 THEN ' e' END,
                         CASE WHEN x99 > 88 THEN -4 ELSE 4 END, y - 38,
                         sync_probe_internal.html_number(p99)) END,
        CASE WHEN p50 IS NULL
             THEN format('<text class=t x=5 y=%s>not measured</text>', y - 4) END,
        format('<line class=ax x1=0%% x2=100%% y1=%s y2=%1$s /></g>', y), E'\n'), '' ORDER BY n))
FROM line
$$;

COMMENT ON FUNCTION sync_probe_internal.latency_plot(text, text,
  sync_probe_internal.latency_row[], sync_probe_internal.axis, boolean) IS
  'A plot of latency distributions';

--
-- sync_probe_internal.latency_table
--
-- Their numbers.
--
CREATE FUNCTION sync_probe_internal.latency_table(
    caption text,
    rows sync_probe_internal.latency_row[])
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT sync_probe_internal.html_table(caption,
    '{row,test,flushes,mean,p50,p90,p99,p99.9,max}',
    array_agg(ARRAY[r.name, m.test, to_char(m.ops, 'FM999,999,999,999'),
                    sync_probe_internal.html_number(m.mean_us),
                    sync_probe_internal.html_number(m.p50_us),
                    NULL,
                    sync_probe_internal.html_number(m.p99_us),
                    NULL,
                    sync_probe_internal.html_number(m.max_us)] ORDER BY r.n), 2)
FROM unnest(rows) WITH ORDINALITY AS r (name, colour, measured, n),
     LATERAL (SELECT (r.measured).*) AS m
$$;

COMMENT ON FUNCTION
  sync_probe_internal.latency_table(text, sync_probe_internal.latency_row[]) IS
  'The numbers of a latency plot';

--
-- sync_probe_internal.latency_of_methods
--
-- The methods of the first run, in both regimes, on one axis.
--
CREATE FUNCTION sync_probe_internal.latency_of_methods(data sync_probe_internal.report_data)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    name text;
    paced sync_probe_internal.latency_row[];
    saturated sync_probe_internal.latency_row[];
    axis sync_probe_internal.axis;
BEGIN
    SELECT min(m.name),
           array_agg(ROW(m.method, m.colour, m.paced)::sync_probe_internal.latency_row
                     ORDER BY (m.paced).p50_us, (m.paced).ordinal),
           array_agg(ROW(m.method, m.colour, m.saturated)::sync_probe_internal.latency_row
                     ORDER BY (m.paced).p50_us, (m.paced).ordinal)
    INTO name, paced, saturated
    FROM (SELECT m.*, rank() OVER (ORDER BY m.n) AS place
          FROM unnest(data.methods) AS m
          WHERE num_nonnulls((m.paced).p50_us, (m.saturated).p50_us) > 0) AS m
    WHERE m.place = 1;
    axis := sync_probe_internal.latency_axis(paced || saturated);
    IF axis.low IS NULL THEN
        RETURN NULL;
    END IF;
    RETURN sync_probe_internal.html_figure(
        concat('<div class=duo>', sync_probe_internal.html_panel('At this cluster''s pace', NULL,
                   sync_probe_internal.latency_plot('latency-paced',
                       format('Latency of flushes at this cluster''s pace, %s', name), paced,
                       axis, false)),
               sync_probe_internal.html_panel('Back to back', NULL,
                   sync_probe_internal.latency_plot('latency-saturated',
                       format('Latency of flushes back to back, %s', name), saturated, axis,
                       false)),
               '</div>'), NULL,
        sync_probe_internal.latency_table(format('Latency in us, %s', name), paced || saturated),
        name,
        sync_probe_internal.html_key('cur line', 'p50, number to its left', 'cur dashes',
            'p99, number to its right', 'rec shape', 'recommended', 'cur shape', 'current',
            'oth shape', 'other'));
END
$$;

COMMENT ON FUNCTION
  sync_probe_internal.latency_of_methods(sync_probe_internal.report_data) IS
  'Figure of the latencies of the methods';

--
-- sync_probe_internal.latency_of_places
--
-- The current method at each location, at the cluster's pace, the fastest first.
--
CREATE FUNCTION sync_probe_internal.latency_of_places(data sync_probe_internal.report_data)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    methods text;
    rows sync_probe_internal.latency_row[];
    axis sync_probe_internal.axis;
    void boolean;
BEGIN
    SELECT string_agg(DISTINCT m.method, ', '), bool_or(m.durable = 'no'),
           array_agg(ROW(m.name, CASE m.durable WHEN 'no' THEN 'bad' ELSE 'cur' END,
                         m.paced)::sync_probe_internal.latency_row
                     ORDER BY (m.paced).p50_us, m.n)
    INTO methods, void, rows
    FROM (SELECT m.* FROM unnest(data.methods) AS m
          WHERE m.is_current AND (m.paced).p50_us > 0 ORDER BY m.n LIMIT 8) AS m;
    axis := sync_probe_internal.latency_axis(rows);
    IF cardinality(rows) < 2 OR axis.low IS NULL THEN
        RETURN NULL;
    END IF;
    RETURN sync_probe_internal.html_figure(
        sync_probe_internal.latency_plot('latency-places',
            format('Latency of flushes with %s, at the pace of the cluster', methods), rows,
            axis, true),
        CASE WHEN void THEN 'In red: syncs that do not reach the device. Their speed means nothing.'
        END,
        sync_probe_internal.latency_table(format('Latency in us, %s', methods), rows),
        format('%s on each %s, at this cluster''s pace', methods,
               CASE WHEN data.chosen THEN 'run' ELSE 'location' END));
END
$$;

COMMENT ON FUNCTION
  sync_probe_internal.latency_of_places(sync_probe_internal.report_data) IS
  'Figure of the latencies of the current method';

--
-- sync_probe_internal.page_latency
--
CREATE FUNCTION sync_probe_internal.page_latency(data sync_probe_internal.report_data)
RETURNS sync_probe_internal.section
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT ROW('latency', 'How long does a flush take?', 'Latency',
    'A shape shows how long the flushes of one method took, relative to its own peak. The axis is '
    'logarithmic: the same distance is the same factor everywhere. Half of the flushes took less '
    'than p50, and one in a hundred took more than p99, which needs 299 flushes.',
    concat(f.methods, f.places))::sync_probe_internal.section
FROM (SELECT sync_probe_internal.latency_of_methods(data),
             sync_probe_internal.latency_of_places(data)) AS f (methods, places)
WHERE num_nonnulls(f.methods, f.places) > 0
$$;

COMMENT ON FUNCTION sync_probe_internal.page_latency(sync_probe_internal.report_data) IS
  'Section of the report: latencies';
