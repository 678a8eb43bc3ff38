--
-- Figures of the report
--
-- A plot has no viewBox: x is in percent of its width, y in pixels, and names stand left of 0 %.
-- So text keeps its size from a phone to paper.  Colours are classes: cur (current), rec
-- (recommended), oth (other), bad (syncs do not reach the device).  A colour never says something
-- that no word says.
--

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

--
-- The nearest of 1, 2 and 5 times a power of ten that is not above, or not below, a number.
-- Null if that is not above 0: a caller's WHERE would be too late, since the planner computes
-- immutable functions of known arguments (18 and later do so with those of SQL functions).
--
CREATE FUNCTION sync_probe_internal.round_tick(number double precision, up boolean)
RETURNS double precision
LANGUAGE sql IMMUTABLE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
SELECT CASE WHEN up THEN min(t.tick) FILTER (WHERE t.tick >= number * 0.9999999)
            ELSE max(t.tick) FILTER (WHERE t.tick <= number * 1.0000001) END::float8
FROM unnest('{0.5,1,2,5,10,20}'::numeric[]) AS m,
     LATERAL (SELECT m * 10::numeric ^ floor(log(CASE WHEN number > 0 THEN number::numeric END))
                  AS tick) AS t
$$;

--
-- A logarithmic axis that holds two numbers, between round ends.  It has ticks at 1, 2 and 5 up
-- to two decades, beyond that at powers of ten.  Null if a number is unknown or not above 0.
--
CREATE FUNCTION sync_probe_internal.html_log_axis(
    lowest double precision,
    highest double precision,
    unit text)
RETURNS sync_probe_internal.axis
LANGUAGE sql IMMUTABLE
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

--
-- An axis from 0 that holds a number, with two to five ticks.
--
CREATE FUNCTION sync_probe_internal.html_linear_axis(highest double precision, unit text)
RETURNS sync_probe_internal.axis
LANGUAGE sql IMMUTABLE
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

--
-- A logarithmic axis of ratios around 1 that holds two of them, with at least 15 percent to
-- each side.  It ends at 1/20 and at 20: beyond that a mark is an arrow.  Ticks are at least 15
-- percent of its length apart: on paper their labels would touch otherwise.
--
CREATE FUNCTION sync_probe_internal.html_ratio_axis(
    lowest double precision,
    highest double precision)
RETURNS sync_probe_internal.axis
LANGUAGE sql IMMUTABLE
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

--
-- Where a number is on an axis, in percent from its low end.  What is beyond an end is at it.
-- Null if the number is unknown.
--
CREATE FUNCTION sync_probe_internal.html_at(
    axis sync_probe_internal.axis,
    number double precision)
RETURNS numeric
LANGUAGE sql IMMUTABLE
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

--
-- Grid lines of an axis from top to bottom, and the labels of ticks that have room.
--
CREATE FUNCTION sync_probe_internal.html_grid(
    axis sync_probe_internal.axis,
    top integer,
    bottom integer,
    wide boolean)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT coalesce(string_agg(
           format('<line class=%s x1=%s%% x2=%2$s%% y1=%s y2=%s />',
                  CASE WHEN t.x = 0 AND NOT (axis).logarithmic THEN 'z' ELSE 'g' END,
                  t.x, top, bottom)
           || CASE WHEN t.shown AND (t.x = t.last OR t.last < 88 OR t.last - t.x > t.room)
                   THEN format('<text class="t %s" x=%s%% y=%s>%s</text>',
                               CASE WHEN t.x > 88 THEN 'e' ELSE 'c' END, t.x, bottom + 15,
                               concat(sync_probe_internal.html_prose(t.label), CASE
                                   WHEN t.x < t.last OR t.last IS NULL THEN NULL
                                   WHEN (axis).unit = 'times' THEN '&times;'
                                   ELSE sync_probe_internal.html_prose(' ' || (axis).unit) END))
                   ELSE '' END, '' ORDER BY t.n), '')
FROM (SELECT t.*, max(t.x) FILTER (WHERE t.shown) OVER () AS last
      FROM (SELECT t.n, t.label, sync_probe_internal.html_at(axis, t.tick) AS x, w.room,
                   -- so many ticks from one label to the next
                   (t.n - 1) % ceil(w.room / 2.0
                       / (100.0 / greatest(count(*) OVER () - 1, 1)))::integer = 0 AS shown
            FROM unnest((axis).ticks, (axis).labels) WITH ORDINALITY AS t (tick, label, n),
                 (SELECT CASE WHEN wide THEN 36 ELSE 60 END) AS w (room)) AS t) AS t
$$;

--
-- A mark of a plot: the name of its row or line, which stands once where marks share it, a note
-- below; its colour and shape; its number, with an interval or without; where it is in time, as a
-- share of the width from 0 to 1; words in place of the number.  Shapes are dot, ring and cross;
-- box and frame of bars.
--
CREATE TYPE sync_probe_internal.mark AS (
    name text,
    note text,
    colour text,
    shape text,
    number double precision,
    low double precision,
    high double precision,
    at double precision,
    words text);

--
-- A plot of a figure: its title, a note, and its marks.
--
CREATE TYPE sync_probe_internal.panel AS (
    title text,
    note text,
    marks sync_probe_internal.mark[]);

--
-- What a section of the report returns, one row for each of its figures.  kind: intervals, bars or
-- lines; null if table_html is the whole content.  All panels have one axis, in that unit; with a
-- null unit each has its own.  Unit "times": ratios to the row that is current.  limit_at: where a
-- dashed line stands.  key: pairs of colour and shape, and their meaning.
--
CREATE TYPE sync_probe_internal.figure AS (
    kind text,
    heading text,
    unit text,
    limit_at double precision,
    panels sync_probe_internal.panel[],
    caption text,
    key text[],
    table_html text);

--
-- The name of a row left of the plot, with its baseline at y, and a note below.
--
CREATE FUNCTION sync_probe_internal.html_row_name(y integer, name text, note text)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT concat(format('<text class=k x=-10 y=%s>%s</text>', y, sync_probe_internal.html_escape(
                         CASE WHEN length(name) > 14 THEN left(name, 13) || U&'\2026'
                              ELSE name END)),
              CASE WHEN note <> ''
                   THEN format('<text class=u x=-10 y=%s>%s</text>', y + 15,
                               sync_probe_internal.html_escape(note)) END)
$$;

--
-- A plot: id, height in pixels, title, content.  What it shows is read aloud from its marks.  An
-- attribute without quotes ends at a blank, so that an id loses all that is no letter, digit or
-- hyphen.
--
CREATE FUNCTION sync_probe_internal.html_plot(
    id text,
    height integer,
    title text,
    marks sync_probe_internal.mark[],
    content_html text,
    class text)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT format(E'<svg class="plot %6$s" role=img aria-labelledby="%1$s-t %1$s-d" height=%2$s>'
              '<title id=%1$s-t>%3$s</title><desc id=%1$s-d>%4$s</desc>\n%5$s</svg>',
              regexp_replace(id, '[^A-Za-z0-9-]+', '_', 'g'), height,
              sync_probe_internal.html_prose(coalesce(title, 'Plot')),
              sync_probe_internal.html_prose(coalesce(
                  (SELECT string_agg(concat_ws(' ', m.name, m.words,
                                               sync_probe_internal.html_factor(m.number),
                                               '(' || sync_probe_internal.html_factor(m.low)
                                               || ' to '
                                               || sync_probe_internal.html_factor(m.high) || ')'),
                                     '; ' ORDER BY m.n)
                   FROM unnest(marks) WITH ORDINALITY AS m (name, note, colour, shape, number, low,
                                                            high, at, words, n)
                   WHERE m.n <= 60), 'nothing')), content_html, class)
$$;

--
-- Numbers with their intervals, one below the other.  Ratios have the band of the margin, a line at
-- 1, and what is better to the right.  A number beyond the axis is an arrow at its end.
--
CREATE FUNCTION sync_probe_internal.html_intervals(
    id text,
    title text,
    marks sync_probe_internal.mark[],
    axis sync_probe_internal.axis,
    wide boolean)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
WITH line AS (
    -- 18 pixels a line, and 12 more where another row begins
    SELECT m.*, (20 + 18 * m.n + 12 * (count(*) FILTER (WHERE m.starts) OVER (ORDER BY m.n) - 1))
                    ::integer AS y,
           sync_probe_internal.html_at(axis, m.number) AS x
    FROM (SELECT m.*, m.name IS DISTINCT FROM lag(m.name) OVER (ORDER BY m.n) AS starts
          FROM unnest(marks) WITH ORDINALITY
               AS m (name, note, colour, shape, number, low, high, at, words, n)) AS m
), frame AS (
    SELECT max(y) + 14 AS bottom, (axis).unit = 'times' AS ratios,
           sync_probe_internal.html_at(axis, 1 / (1 + s.margin)) AS low,
           sync_probe_internal.html_at(axis, 1) AS one,
           sync_probe_internal.html_at(axis, 1 + s.margin) AS high
    FROM line, (SELECT current_setting('pg_sync_probe.margin')::float8) AS s (margin)
    GROUP BY s.margin
)
SELECT sync_probe_internal.html_plot(id, f.bottom + 22, title, marks, concat(
           CASE WHEN f.ratios THEN format(
               '<rect class=band x=%s%% width=%s%% y=24 height=%s />', f.low, f.high - f.low,
               f.bottom - 24) END,
           sync_probe_internal.html_grid(axis, 24, f.bottom, wide),
           CASE WHEN f.ratios THEN format(
               '<line class=z x1=%1$s%% x2=%1$s%% y1=24 y2=%2$s />'
               '<text class="t e" x=%1$s%% dx=-14 y=14>&larr; worse</text>'
               '<text class=t x=%1$s%% dx=14 y=14>better &rarr;</text>', f.one, f.bottom) END,
           (SELECT string_agg(concat(
                format('<g class=%s>', l.colour),
                CASE WHEN l.starts
                     THEN sync_probe_internal.html_row_name(l.y + 4, l.name, l.note) END,
                CASE WHEN l.low < l.high
                     THEN format('<line class=l x1=%s%% x2=%s%% y1=%s y2=%3$s />',
                                 sync_probe_internal.html_at(axis, l.low),
                                 sync_probe_internal.html_at(axis, l.high), l.y) END,
                CASE WHEN l.number > (axis).high
                     THEN format('<text class="e bx" x=100%% y=%s>&rsaquo;</text>', l.y + 4)
                     WHEN l.number < (axis).low
                     THEN format('<text class=bx x=0 y=%s>&lsaquo;</text>', l.y + 4)
                     WHEN l.x IS NOT NULL
                     THEN format('<circle class=%s cx=%s%% cy=%s r=4.5 />',
                                 CASE l.shape WHEN 'ring' THEN 'h' ELSE 'f' END, l.x, l.y) END,
                CASE WHEN wide THEN format(
                    '<text class=%s x=100%% dx=12 y=%s>%s%s</text>',
                    CASE l.shape WHEN 'ring' THEN 't' ELSE 'b' END, l.y + 4,
                    coalesce(sync_probe_internal.html_prose(l.words),
                             CASE WHEN f.ratios
                                  THEN sync_probe_internal.html_factor(l.number) || '&times;'
                                  ELSE sync_probe_internal.html_number(l.number) END, '&ndash;'),
                    '<tspan class="wd t"> (' || sync_probe_internal.html_factor(l.low) || ' to '
                        || sync_probe_internal.html_factor(l.high) || ')</tspan>') END,
                E'</g>\n'), '' ORDER BY l.n) FROM line AS l)),
           CASE WHEN wide THEN 'wide' ELSE '' END)
FROM frame AS f
$$;

--
-- A bar of 14 pixels for each mark, with its number behind or inside, or words where it has none.
--
CREATE FUNCTION sync_probe_internal.html_bars(
    id text,
    title text,
    marks sync_probe_internal.mark[],
    axis sync_probe_internal.axis,
    limit_at double precision,
    wide boolean)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT sync_probe_internal.html_plot(id, 26 * cardinality(marks) + 22, title, marks, concat(
           sync_probe_internal.html_grid(axis, 0, 26 * cardinality(marks), wide),
           CASE WHEN limit_at IS NOT NULL
                THEN format('<line class=q9 x1=%s%% x2=%1$s%% y2=%s />',
                            sync_probe_internal.html_at(axis, limit_at),
                            26 * cardinality(marks)) END,
           string_agg(concat(
               format('<g class="%s">', m.colour),
               sync_probe_internal.html_row_name((26 * m.n - 9)::integer, m.name, NULL),
               CASE WHEN x.x > 0
                    THEN format('<rect class=%s width=%s%% y=%s height=14 />',
                                CASE m.shape WHEN 'frame' THEN 'h' ELSE 'f' END, x.x,
                                26 * m.n - 20) END,
               CASE WHEN x.x > 80
                    THEN format('<text class="e%s" x=%s%% dx=-5 y=%s>',
                                CASE m.shape WHEN 'frame' THEN '' ELSE ' on' END, x.x,
                                26 * m.n - 9)
                    ELSE format('<text class=y x=%s%% dx=5 y=%s>', coalesce(x.x, 0),
                                26 * m.n - 9) END,
               sync_probe_internal.html_prose(
                   coalesce(sync_probe_internal.html_number(m.number), m.words, 'unknown')),
               E'</text></g>\n'), '' ORDER BY m.n)),
           CASE WHEN wide THEN 'wide' ELSE '' END)
FROM unnest(marks) WITH ORDINALITY
     AS m (name, note, colour, shape, number, low, high, at, words, n),
     LATERAL (SELECT sync_probe_internal.html_at(axis, m.number)) AS x (x)
$$;

--
-- Numbers over time, in a box of 200 pixels: a line for each name, broken where the note changes or
-- a number is unknown.  A mark without a number is a dashed line across, with its words above.
-- Below stand the words of the first and the last mark that have a number.
--
CREATE FUNCTION sync_probe_internal.html_lines(
    id text,
    title text,
    marks sync_probe_internal.mark[],
    axis sync_probe_internal.axis,
    wide boolean)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
WITH point AS (
    SELECT m.*, round((100 * m.at)::numeric, 1) AS x,
           round(220 - 1.9 * sync_probe_internal.html_at(axis, m.number)) AS y
    FROM unnest(marks) WITH ORDINALITY
         AS m (name, note, colour, shape, number, low, high, at, words, n)
), joined AS (
    SELECT p.*, lag(x) OVER w AS old_x, lag(y) OVER w AS old_y,
           note IS NOT DISTINCT FROM lag(note) OVER w AS joins, count(*) OVER w2 AS points
    FROM point AS p WHERE p.shape <> 'line'
    WINDOW w AS (PARTITION BY name ORDER BY at), w2 AS (PARTITION BY name)
)
SELECT sync_probe_internal.html_plot(id, 244, title, marks, concat(
    (SELECT string_agg(format('<line class=g x1=0%% x2=100%% y1=%s y2=%1$s />'
                              '<text class="t %s" x=%s y=%s>%s</text>', t.y,
                              CASE WHEN wide THEN 'e' ELSE '' END, CASE WHEN wide THEN -8 ELSE 2
                                  END,
                              CASE WHEN wide THEN t.y + 4 ELSE t.y - 3 END,
                              sync_probe_internal.html_escape(t.label)), '' ORDER BY t.y)
     FROM (SELECT round(220 - 1.9 * sync_probe_internal.html_at(axis, t.tick)) AS y, t.label
           FROM unnest((axis).ticks, (axis).labels) AS t (tick, label)) AS t),
    format('<text class="t %s" x=%s y=12>%s</text>', CASE WHEN wide THEN 'e' ELSE '' END,
           CASE WHEN wide THEN -8 ELSE 2 END, sync_probe_internal.html_prose((axis).unit)),
    (SELECT string_agg(format('<line class=q9 x1=%s%% x2=%1$s%% y1=26 y2=220 />'
                              '<text class="t c" x=%1$s%% y=22>%s</text>', p.x,
                              sync_probe_internal.html_escape(p.words)), '' ORDER BY p.x)
     FROM point AS p WHERE p.shape = 'line'),
    (SELECT string_agg(concat(
                format('<g class=%s>', j.colour),
                CASE WHEN j.joins AND j.old_y IS NOT NULL
                     THEN format('<line class=l x1=%s%% x2=%s%% y1=%s y2=%s />', j.old_x, j.x,
                                 j.old_y, j.y) END,
                CASE WHEN j.shape = 'cross'
                     THEN format('<use href=#cross class=xm x=%s%% y=%s />', j.x, j.y)
                     ELSE format('<circle class=%s cx=%s%% cy=%s r=%s />',
                                 CASE j.shape WHEN 'ring' THEN 'h' ELSE 'f' END, j.x, j.y,
                                 CASE WHEN j.points > 30 THEN 2 ELSE 3.5 END) END,
                '</g>'), '' ORDER BY j.n) FROM joined AS j WHERE j.y IS NOT NULL),
    (SELECT format('<text class=t x=0%% y=238>%s</text><text class="t e" x=100%% y=238>%s</text>',
                   sync_probe_internal.html_escape((array_agg(j.words ORDER BY j.at))[1]),
                   sync_probe_internal.html_escape((array_agg(j.words ORDER BY j.at DESC))[1]))
     FROM joined AS j)),
    CASE WHEN wide THEN 'tall' ELSE '' END)
$$;

--
-- A figure: heading, key to its shapes, plots, caption, and a table of the same numbers.
--
CREATE FUNCTION sync_probe_internal.html_figure(id text, figure sync_probe_internal.figure)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
WITH panel AS (
    SELECT p.n, p.title, p.note, p.marks, cardinality(figure.panels) = 1 AS wide,
           CASE WHEN figure.unit IS NULL THEN p.n END AS axis_group, b.low, b.high
    FROM unnest(figure.panels) WITH ORDINALITY AS p (title, note, marks, n),
         LATERAL (SELECT min(least(m.number, m.low)), max(greatest(m.number, m.high))
                  FROM unnest(p.marks) AS m
                  WHERE least(m.number, m.low) > 0 OR figure.kind = 'bars') AS b (low, high)
), drawn AS (
    SELECT p.*, CASE WHEN figure.unit = 'times'
                     THEN sync_probe_internal.html_ratio_axis(min(p.low) OVER g, max(p.high) OVER g)
                     WHEN figure.kind = 'bars'
                     THEN sync_probe_internal.html_linear_axis(
                              greatest(max(p.high) OVER g, figure.limit_at * 1.05), figure.unit)
                     ELSE sync_probe_internal.html_log_axis(min(p.low) OVER g, max(p.high) OVER g,
                                                            figure.unit) END AS axis
    FROM panel AS p
    WINDOW g AS (PARTITION BY p.axis_group)
), plot AS (
    SELECT d.n, d.wide, concat('<div>',
               '<p class=panel>' || sync_probe_internal.html_escape(d.title)
                   || concat(' <i>' || sync_probe_internal.html_prose(d.note) || '</i>', '</p>'),
               CASE figure.kind
                   WHEN 'intervals' THEN sync_probe_internal.html_intervals(id || '-' || d.n,
                       coalesce(d.title, figure.heading), d.marks, d.axis, d.wide)
                   WHEN 'bars' THEN sync_probe_internal.html_bars(id || '-' || d.n,
                       coalesce(d.title, figure.heading), d.marks, d.axis, figure.limit_at, d.wide)
                   ELSE sync_probe_internal.html_lines(id || '-' || d.n,
                       coalesce(d.title, figure.heading), d.marks, d.axis, d.wide) END,
               '</div>') AS html
    FROM drawn AS d WHERE (d.axis).low IS NOT NULL
)
SELECT CASE WHEN figure.kind IS NULL THEN figure.table_html ELSE concat(
    '<figure>', '<h3>' || sync_probe_internal.html_prose(figure.heading) || '</h3>',
    (SELECT '<p class=key>' || string_agg(format('<span><svg aria-hidden=true class=%s>%s</svg> %s'
                '</span>', split_part(figure.key[i], ' ', 1), CASE split_part(figure.key[i], ' ', 2)
                    WHEN 'dot' THEN '<circle class=f cx=50% cy=6 r=4.5 />'
                    WHEN 'ring' THEN '<circle class=h cx=50% cy=6 r=4 />'
                    WHEN 'cross' THEN '<use href=#cross class=xm x=50% y=6 />'
                    WHEN 'box' THEN '<rect class=f width=100% y=1 height=10 />'
                    WHEN 'frame' THEN '<rect class=h width=100% y=1 height=10 />'
                    WHEN 'dashes' THEN '<line class=q9 x1=50% x2=50% y2=12 />'
                    WHEN 'band' THEN '<rect class=band width=100% height=12 />' END,
                sync_probe_internal.html_prose(figure.key[i + 1])), '' ORDER BY i) || '</p>'
     FROM generate_series(1, cardinality(figure.key), 2) AS i),
    (SELECT format('<div class=%s>', CASE WHEN count(*) = 1 THEN 'one' WHEN count(*) IN (2, 4)
                                          THEN 'duo' ELSE 'tri' END)
            || string_agg(p.html, '' ORDER BY p.n) || '</div>' FROM plot AS p),
    '<figcaption>' || sync_probe_internal.html_prose(figure.caption) || '</figcaption>',
    '<details class=ft><summary>Show as a table</summary>' || figure.table_html || '</details>',
    E'</figure>\n') END
WHERE figure.kind IS NULL OR EXISTS (SELECT FROM plot)
$$;
