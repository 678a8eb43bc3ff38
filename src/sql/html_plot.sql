--
-- sync_probe_internal.html_grid
--
-- Grid lines of an axis from one y to another, and the names of the ticks below: as many as there
-- is room for in 190 pixels, and in a wide plot more where the page is wide.  The last name has the
-- unit, and ends inside the plot at its end.
--
CREATE FUNCTION sync_probe_internal.html_grid(
    axis sync_probe_internal.axis,
    top integer,
    bottom integer,
    wide boolean DEFAULT false)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
WITH tick AS (
    SELECT t.n, sync_probe_internal.html_at(axis, t.tick) AS x, t.label,
           concat_ws(' ', t.label, nullif((axis).unit, 'times')) AS with_unit,
           CASE WHEN (axis).unit = 'times' THEN array_position((axis).labels, '1')
                WHEN NOT (axis).logarithmic THEN 1
                ELSE cardinality((axis).ticks) END AS anchor
    FROM unnest((axis).ticks, (axis).labels) WITH ORDINALITY AS t (tick, label, n)
), candidate AS (
    -- every k-th tick, so that the anchor is among them; 1.8: half a character in 190 pixels
    SELECT t.*, k, t.n = max(t.n) OVER w AS is_last,
           CASE WHEN t.n < max(t.n) OVER w THEN 1.8 * length(t.label)
                WHEN t.x > 88 THEN 3.6 * (length(t.with_unit) + 1)
                ELSE 1.8 * (length(t.with_unit) + 1) END AS half
    FROM tick AS t, generate_series(1, cardinality((axis).ticks)) AS k
    WHERE (t.n - t.anchor) % k = 0
    WINDOW w AS (PARTITION BY k)
), spaced AS (
    SELECT c.*, c.x - lag(c.x) OVER w AS distance, c.half + lag(c.half) OVER w AS names
    FROM candidate AS c
    WINDOW w AS (PARTITION BY k ORDER BY c.n)
), step AS (
    SELECT k, coalesce(bool_and(distance - names >= 2), true) AS fits_narrow,
           coalesce(bool_and(distance - 0.4 * names >= 2), true) AS fits_wide
    FROM spaced
    GROUP BY k
), narrow AS (
    SELECT min(k) AS k FROM step WHERE fits_narrow
), named AS (
    SELECT s.n, s.is_last, s.k <> narrow.k AS only_wide
    FROM narrow, spaced AS s
    WHERE s.k = narrow.k
       OR wide AND s.k = (SELECT min(t.k) FROM step AS t WHERE t.fits_wide AND narrow.k % t.k = 0)
          AND NOT EXISTS (SELECT FROM spaced AS o WHERE o.k = narrow.k AND o.n = s.n)
)
SELECT coalesce(string_agg(
           format('<line class=%s x1=%s%% x2=%2$s%% y1=%s y2=%s />',
                  CASE WHEN t.x = 0 AND NOT (axis).logarithmic THEN 'z' ELSE 'g' END,
                  t.x, top, bottom)
           || CASE WHEN c.n IS NULL THEN ''
                   ELSE format('<text class="t %s%s" x=%s%% y=%s>%s%s</text>',
                               CASE WHEN c.is_last AND t.x > 88 THEN 'e' ELSE 'c' END,
                               CASE WHEN c.only_wide THEN ' wd' END, t.x, bottom + 15,
                               sync_probe_internal.html_prose(CASE WHEN c.is_last THEN t.with_unit
                                                                   ELSE t.label END),
                               CASE WHEN c.is_last AND (axis).unit = 'times' THEN '&times;' END)
                   END, '' ORDER BY t.n), '')
FROM tick AS t LEFT JOIN named AS c USING (n)
$$;

COMMENT ON FUNCTION
  sync_probe_internal.html_grid(sync_probe_internal.axis, integer, integer, boolean) IS
  'Grid lines of an axis with the names of its ticks';

--
-- sync_probe_internal.html_row_name
--
-- The name of a row left of the plot, with its baseline at y, and a note below.
--
CREATE FUNCTION sync_probe_internal.html_row_name(y integer, name text, note text DEFAULT NULL)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT concat(format('<text class=k x=-10 y=%s>%s</text>', y,
                     CASE WHEN length(name) > 14
                          THEN sync_probe_internal.html_escape(left(name, 13)) || '&hellip;'
                          ELSE sync_probe_internal.html_escape(name) END),
              CASE WHEN note <> ''
                   THEN format('<text class=u x=-10 y=%s>%s</text>', y + 15,
                               sync_probe_internal.html_escape(note)) END)
$$;

COMMENT ON FUNCTION sync_probe_internal.html_row_name(integer, text, text) IS
  'The name of a row left of the plot';

--
-- sync_probe_internal.html_bar
--
-- A bar of 14 pixels from the low end of the axis, and its number behind or inside.  Classes are
-- f or h, and a colour.  An unknown number has no bar.
--
CREATE FUNCTION sync_probe_internal.html_bar(
    axis sync_probe_internal.axis,
    y integer,
    number double precision,
    classes text,
    label text)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT format('<g class="%s">', substr(classes, 3))
       || CASE WHEN x > 0 THEN format('<rect class=%s width=%s%% y=%s height=14 />',
                                      left(classes, 1), x, y) ELSE '' END
       || CASE WHEN x > 80
               THEN format('<text class="e%s" x=%s%% dx=-5 y=%s>',
                           CASE WHEN classes LIKE 'f%' THEN ' on' ELSE '' END, x, y + 11)
               ELSE format('<text class=y x=%s%% dx=5 y=%s>', coalesce(x, 0), y + 11) END
       || sync_probe_internal.html_prose(label) || '</text></g>'
FROM sync_probe_internal.html_at(axis, number) AS x
$$;

COMMENT ON FUNCTION sync_probe_internal.html_bar(sync_probe_internal.axis, integer,
  double precision, text, text) IS
  'A bar with its number';

--
-- sync_probe_internal.html_mark
--
-- A number with its interval: a shape (dot, ring or diamond) on a line.  If the number is beyond
-- the axis, an arrow at its end.
--
CREATE FUNCTION sync_probe_internal.html_mark(
    axis sync_probe_internal.axis,
    y integer,
    shape text,
    number double precision,
    low double precision DEFAULT NULL,
    high double precision DEFAULT NULL)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT concat(
    CASE WHEN low < high
         THEN format('<line class=l x1=%s%% x2=%s%% y1=%s y2=%3$s />',
                     sync_probe_internal.html_at(axis, low),
                     sync_probe_internal.html_at(axis, high), y) END,
    CASE WHEN number > (axis).high
         THEN format('<text class="e bx" x=100%% y=%s>&rsaquo;</text>', y + 4)
         WHEN number < (axis).low
         THEN format('<text class=bx x=0 y=%s>&lsaquo;</text>', y + 4)
         WHEN shape = 'diamond' THEN format('<use href=#diamond class=f x=%s%% y=%s />', x, y)
         WHEN x IS NOT NULL
         THEN format('<circle class=%s cx=%s%% cy=%s r=4.5 />',
                     CASE shape WHEN 'ring' THEN 'h' ELSE 'f' END, x, y) END)
FROM sync_probe_internal.html_at(axis, number) AS x
$$;

COMMENT ON FUNCTION sync_probe_internal.html_mark(sync_probe_internal.axis, integer, text,
  double precision, double precision, double precision) IS
  'A number with its interval';

--
-- sync_probe_internal.html_plot
--
-- A plot: id, height in pixels, title, the figures in words, content.  Class wide has room for
-- numbers at the right.  An attribute without quotes ends at a blank, so that an id loses all
-- that is no letter, digit or hyphen.
--
CREATE FUNCTION sync_probe_internal.html_plot(
    id text,
    height integer,
    title text,
    description text,
    content_html text,
    class text DEFAULT '')
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT format(E'<svg class="plot %6$s" role=img aria-labelledby="%1$s-t %1$s-d" height=%2$s>'
              '<title id=%1$s-t>%3$s</title><desc id=%1$s-d>%4$s</desc>\n%5$s</svg>',
              regexp_replace(id, '[^A-Za-z0-9-]+', '_', 'g'), height,
              sync_probe_internal.html_prose(title),
              sync_probe_internal.html_prose(description), content_html, class)
$$;

COMMENT ON FUNCTION sync_probe_internal.html_plot(text, integer, text, text, text, text) IS
  'A plot with its title and description';

--
-- sync_probe_internal.html_panel
--
-- One of several plots side by side: name and note above it.  These are put into
-- <div class=duo> or <div class=tri>, where only the first of a row shows names of rows.
--
CREATE FUNCTION sync_probe_internal.html_panel(name text, note text, plot_html text)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT concat('<div><p class=panel>', sync_probe_internal.html_escape(name),
              ' <i>' || sync_probe_internal.html_prose(note) || '</i>', '</p>', plot_html,
              '</div>')
$$;

COMMENT ON FUNCTION sync_probe_internal.html_panel(text, text, text) IS
  'One of several plots side by side';

--
-- sync_probe_internal.html_bars
--
-- A panel with a bar for each row, and a dashed line at a limit if there is one.  A row without a
-- number has the word instead.
--
CREATE FUNCTION sync_probe_internal.html_bars(
    id text,
    title text,
    names text[],
    classes text[],
    numbers double precision[],
    instead text[],
    mark double precision,
    axis sync_probe_internal.axis)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT sync_probe_internal.html_panel(title, NULL, sync_probe_internal.html_plot(
    id, (26 * max(r.n) + 22)::integer, title,
    string_agg(format('%s %s', r.name, coalesce(sync_probe_internal.html_number(r.number),
                                                r.instead)), '; ' ORDER BY r.n),
    concat(sync_probe_internal.html_grid(axis, 0, (26 * max(r.n))::integer),
           CASE WHEN mark IS NOT NULL
                THEN format('<line class=q9 x1=%s%% x2=%1$s%% y2=%s />',
                            sync_probe_internal.html_at(axis, mark), 26 * max(r.n)) END,
           string_agg(sync_probe_internal.html_row_name((26 * r.n - 9)::integer, r.name)
                      || sync_probe_internal.html_bar(axis, (26 * r.n - 20)::integer, r.number,
                             r.classes, coalesce(sync_probe_internal.html_number(r.number),
                                                 r.instead)), E'\n' ORDER BY r.n))))
FROM unnest(names, classes, numbers, instead) WITH ORDINALITY
     AS r (name, classes, number, instead, n)
$$;

COMMENT ON FUNCTION sync_probe_internal.html_bars(text, text, text[], text[],
  double precision[], text[], double precision, sync_probe_internal.axis) IS
  'A panel of bars';

--
-- sync_probe_internal.forest_mark
--
-- A line of a forest plot: name and note of its row, which are shown where they change, its
-- colour, its shape as in html_mark(), a ratio and its interval.
--
CREATE TYPE sync_probe_internal.forest_mark AS (
    name text,
    note text,
    colour text,
    shape text,
    ratio double precision,
    low double precision,
    high double precision);

COMMENT ON TYPE sync_probe_internal.forest_mark IS
  'A line of a forest plot';

--
-- sync_probe_internal.html_forest
--
-- A forest plot of ratios to one of the rows, in the order of the marks: band of the margin, line
-- at 1, and numbers at the right if it is wide.  What is better lies to the right.
--
CREATE FUNCTION sync_probe_internal.html_forest(
    id text,
    title text,
    marks sync_probe_internal.forest_mark[],
    axis sync_probe_internal.axis,
    worse text,
    better text,
    wide boolean DEFAULT true)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
WITH mark AS (
    SELECT m.*, sync_probe_internal.html_factor(m.low) || ' to '
                    || sync_probe_internal.html_factor(m.high) AS bounds,
           m.name IS DISTINCT FROM lag(m.name) OVER (ORDER BY m.n) AS starts,
           m.name IS DISTINCT FROM lead(m.name) OVER (ORDER BY m.n) AS ends
    FROM unnest(marks) WITH ORDINALITY
         AS m (name, note, colour, shape, ratio, low, high, n)
), line AS (
    -- 18 pixels a line, and 10 more between two rows; 11 and 6 in a narrow plot
    SELECT *, (CASE WHEN wide THEN 20 ELSE -6 END
               + CASE WHEN wide THEN 18 ELSE 12 END * n
               + CASE WHEN wide THEN 12 ELSE 8 END * (count(*) FILTER (WHERE starts)
                                                          OVER (ORDER BY n) - 1)
               + CASE WHEN wide THEN 0 ELSE 6 END)::integer AS y
    FROM mark
), frame AS (
    SELECT CASE WHEN wide THEN 24 ELSE 2 END AS top, max(y) + 12 AS bottom,
           string_agg(CASE WHEN starts OR shape = 'dot' OR shape = 'diamond'
                           THEN concat(name, ' ', sync_probe_internal.html_factor(ratio),
                                       ' (' || bounds || ')') END, '; '
                      ORDER BY n) FILTER (WHERE ratio IS NOT NULL) AS description
    FROM line
), content AS (
    SELECT string_agg(concat(
               format('<g class=%s>', colour),
               CASE WHEN starts THEN sync_probe_internal.html_row_name(
                        y + CASE WHEN ends OR note IS NOT NULL OR NOT wide THEN 4 ELSE 13 END,
                        name, CASE WHEN wide THEN note END) END,
               sync_probe_internal.html_mark(axis, y, shape, ratio, low, high),
               CASE WHEN wide
                    THEN format('<text class=%s x=100%% dx=12 y=%s>%s%s</text>',
                                CASE shape WHEN 'ring' THEN 't' ELSE 'b' END, y + 4,
                                coalesce(sync_probe_internal.html_factor(ratio)
                                         || '&times;', '&ndash;'),
                                '<tspan class="wd t"> (' || bounds || ')</tspan>') END,
               '</g>',
               CASE WHEN ends AND wide AND y + 12 < bottom
                    THEN format('<line class=g x1=0%% x2=100%% y1=%s y2=%1$s />', y + 15) END,
               E'\n'), '' ORDER BY n) AS html
    FROM line, frame
)
SELECT sync_probe_internal.html_plot(id, bottom + 22, title, description, concat(
           CASE WHEN wide
                THEN format('<text class="t e" x=%1$s%% dx=-14 y=14>&larr; %2$s</text>'
                            '<text class=t x=%1$s%% dx=14 y=14>%3$s &rarr;</text>',
                            sync_probe_internal.html_at(axis, 1),
                            sync_probe_internal.html_prose(worse),
                            -- short on a phone
                            regexp_replace(sync_probe_internal.html_prose(better), '( than .*)',
                                           '<tspan class=wd>\1</tspan>')) END,
           format('<rect class=band x=%s%% width=%s%% y=%s height=%s />', b.low, b.high - b.low,
                  top, bottom - top),
           sync_probe_internal.html_grid(axis, top, bottom, wide),
           format('<line class=z x1=%s%% x2=%1$s%% y1=%s y2=%s />',
                  sync_probe_internal.html_at(axis, 1), top, bottom),
           content.html), CASE WHEN wide THEN 'wide' ELSE '' END)
FROM frame, content,
     LATERAL (SELECT current_setting('pg_sync_probe.margin')::float8) AS s (margin),
     LATERAL (SELECT sync_probe_internal.html_at(axis, 1 / (1 + s.margin)),
                     sync_probe_internal.html_at(axis, 1 + s.margin)) AS b (low, high)
$$;

COMMENT ON FUNCTION sync_probe_internal.html_forest(text, text,
  sync_probe_internal.forest_mark[], sync_probe_internal.axis, text, text, boolean) IS
  'A forest plot of ratios';
