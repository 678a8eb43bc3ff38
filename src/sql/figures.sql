--
-- Figures of the report
--
-- A plot has no viewBox: x is in percent of its width, y in pixels, and names stand left of 0 %.
-- So text keeps its size from a phone to paper.  Labels cannot touch, whatever was measured:
-- numbers are short, ticks far apart, and names and units stand in the margin.  Colours are
-- classes: cur (current), rec (recommended), oth (other), bad (syncs do not reach the device).  A
-- colour never shows what no word shows.
--
-- The function of a kind of figure returns its height in pixels, and its content.
--

--
-- A mark of a figure: the title of its plot; the name of its row or line, which stands once where
-- marks share it, and a note below; its colour and shape; its number, with an interval or without;
-- where it is in time, as a share of the width from 0 to 1; words in place of the number.  Shapes
-- are dot (if null), ring, cross and, across a plot of lines, line; of bars box (if null) and
-- frame.
--
CREATE TYPE sync_probe_internal.mark AS (
    panel text,
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
-- An axis: its ends, whether it is logarithmic, its ticks, and its unit.
--
CREATE TYPE sync_probe_internal.axis AS (
    low double precision,
    high double precision,
    logarithmic boolean,
    ticks double precision[],
    unit text);

--
-- An axis that holds two numbers, with ticks at least 20 percent of its length apart.  A linear one
-- begins at 0.  One of ratios holds 1 and 15 percent to each side of it, and ends at 1/20 and 20,
-- another logarithmic one at 0.01: beyond that a mark is an arrow.  Null if no axis holds the
-- numbers.
--
CREATE FUNCTION sync_probe_internal.html_axis(
    lowest double precision,
    highest double precision,
    unit text,
    logarithmic boolean)
RETURNS sync_probe_internal.axis
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    low numeric := 0;
    high numeric;
    least_step numeric;
    factors numeric[];
    ticks float8[];
BEGIN
    IF unit = 'times' THEN
        low := greatest(least(lowest / 1.03, 0.87), 0.045);
        high := least(greatest(highest * 1.03, 1.15), 22);
    ELSIF NOT logarithmic THEN
        high := CASE WHEN highest > 0 AND highest < 1e12
                     THEN greatest(highest * 1.04, 0.01) ELSE 1 END;
    ELSIF lowest > 0 AND highest >= lowest AND highest < 1e12 THEN
        low := greatest(lowest, 0.01) / 1.15;
        high := greatest(highest * 1.15, low * 2);
    ELSE
        RETURN NULL;
    END IF;
    least_step := 0.2 * CASE WHEN logarithmic THEN log(high / low) ELSE high END;
    -- the finest of these that are so far apart, in a decade of a logarithmic axis
    factors := CASE WHEN NOT logarithmic THEN '{1,2,5,10}'
                    WHEN least_step > 0.477 THEN '{1}' -- or less often than in each decade
                    WHEN least_step > 0.3 THEN '{1,3}'
                    WHEN least_step > 0.176 THEN '{1,2,5}'
                    WHEN least_step > 0.096 THEN '{1,1.5,2.5,4,6}'
                    WHEN least_step > 0.041 THEN '{1,1.25,1.6,2,2.5,3.2,4,5,6.3,8}'
                    ELSE '{1,1.1,1.25,1.4,1.6,1.8,2,2.25,2.5,2.8,3.2,3.6,4,4.5,5,5.6,6.3,7,8,9}'
                    END;
    IF NOT logarithmic THEN
        least_step := min(s.step) FROM unnest(factors) AS f,
            LATERAL (SELECT f * 10 ^ floor(log(least_step))) AS s (step) WHERE s.step >= least_step;
        ticks := ARRAY(SELECT least_step * n
                       FROM generate_series(0, floor(high / least_step)) AS n);
    ELSE
        ticks := ARRAY(SELECT t.tick
                       FROM generate_series(floor(log(low)), floor(log(high)),
                                            ceil(least_step)) AS d,
                            unnest(factors) AS f, LATERAL (SELECT f * 10 ^ d) AS t (tick)
                       WHERE t.tick BETWEEN low AND high ORDER BY t.tick);
    END IF;
    RETURN ROW(low, high, logarithmic, ticks, unit)::sync_probe_internal.axis;
END
$$;

--
-- Position of a number on an axis, in percent from its low end.  What is beyond an end is at it.
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
            ELSE trim_scale(round((100 * CASE
                WHEN axis.logarithmic THEN ln(number / axis.low) / ln(axis.high / axis.low)
                ELSE (number - axis.low) / (axis.high - axis.low) END)::numeric, 1)) END
$$;

--
-- Vertical lines at the ticks, numbers below them, and the unit where the names of rows are.
--
CREATE FUNCTION sync_probe_internal.html_grid(
    axis sync_probe_internal.axis,
    top integer,
    bottom integer)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT concat(string_agg(format(
                  '<line class=%1$s x1=%2$s%% x2=%2$s%% y1=%3$s y2=%4$s />'
                  '<text class="t c" x=%2$s%% y=%5$s>%6$s</text>',
                  CASE WHEN tick = 0 THEN 'z' ELSE 'g' END, sync_probe_internal.html_at(axis, tick),
                  top, bottom, bottom + 15, sync_probe_internal.html_tick(tick)), ''),
              format('<text class="t e" x=-24 y=%s>%s</text>', bottom + 15,
                     CASE axis.unit WHEN 'times' THEN '&times;'
                                    ELSE sync_probe_internal.html_prose(axis.unit) END))
FROM unnest(axis.ticks) AS tick
$$;

--
-- The name of a row left of the plot, with its baseline at y, and a note below.
--
CREATE FUNCTION sync_probe_internal.html_row_name(y bigint, name text, note text)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT concat(format('<text class=k x=-10 y=%s>%s</text>', y, sync_probe_internal.html_escape(
                  CASE WHEN length(name) > 14 THEN left(name, 12) || '..' ELSE name END)),
              format('<text class=u x=-10 y=%s>', y + 15)
                  || sync_probe_internal.html_escape(nullif(note, '')) || '</text>')
$$;

--
-- Numbers with their intervals, one below the other.  Ratios have the
-- band of the margin, a line at 1, and what is better to the right.  A number beyond the axis is an
-- arrow at its end.
--
CREATE FUNCTION sync_probe_internal.html_intervals(
    marks sync_probe_internal.mark[],
    axis sync_probe_internal.axis)
RETURNS text[]
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
WITH line AS (
    -- 18 pixels a line, and 12 more where another row begins
    SELECT m.*, 8 + 18 * m.ordinality + 12 * count(*) FILTER (WHERE m.starts) OVER w AS y,
           sync_probe_internal.html_at(axis, m.number) AS x,
           CASE WHEN axis.unit = 'times' THEN '&times;' END AS sign
    FROM (SELECT m.*, m.name IS DISTINCT FROM lag(m.name) OVER (ORDER BY m.ordinality) AS starts
          FROM unnest(marks) WITH ORDINALITY AS m) AS m
    WINDOW w AS (ORDER BY m.ordinality)
), frame AS (
    SELECT max(y)::integer + 20 AS bottom, sync_probe_internal.html_at(axis, 1) AS one,
           sync_probe_internal.html_at(axis, 1 / (1 + margin)) AS low,
           sync_probe_internal.html_at(axis, 1 + margin) AS high
    FROM line, CAST(current_setting('pg_sync_probe.margin') AS float8) AS margin
    GROUP BY margin
)
SELECT ARRAY[(f.bottom + 22)::text, concat(
    CASE WHEN axis.unit = 'times'
         THEN format('<rect class=band x=%s%% width=%s%% y=24 height=%s />', f.low, f.high - f.low,
                     f.bottom - 24) END,
    sync_probe_internal.html_grid(axis, 24, f.bottom),
    CASE WHEN axis.unit = 'times'
         THEN format('<line class=z x1=%1$s%% x2=%1$s%% y1=24 y2=%2$s />'
                     '<text class="t e" x=%1$s%% dx=-14 y=14>&larr; worse</text>'
                     '<text class=t x=%1$s%% dx=14 y=14>better &rarr;</text>', f.one, f.bottom) END,
    string_agg(concat(
        format('<g class=%s>', coalesce(l.colour, 'oth')),
        CASE WHEN l.starts THEN sync_probe_internal.html_row_name(l.y + 4, l.name, l.note) END,
        CASE WHEN l.low < l.high
             THEN format('<line class=l x1=%s%% x2=%s%% y1=%s y2=%3$s />',
                         sync_probe_internal.html_at(axis, l.low),
                         sync_probe_internal.html_at(axis, l.high), l.y) END,
        CASE WHEN l.number > axis.high
             THEN format('<text class="e bx" x=100%% y=%s>&rsaquo;</text>', l.y + 4)
             WHEN l.number < axis.low
             THEN format('<text class=bx x=0 y=%s>&lsaquo;</text>', l.y + 4)
             ELSE format('<circle class=%s cx=%s%% cy=%s r=4.5 />',
                         CASE l.shape WHEN 'ring' THEN 'h' ELSE 'f' END, l.x, l.y) END,
        format('<text class=%s x=100%% dx=12 y=%s>%s%s',
               CASE l.shape WHEN 'ring' THEN 't' ELSE 'b' END, l.y + 4,
               sync_probe_internal.html_short(l.number), l.sign),
        '<tspan class="wd t"> (' || sync_probe_internal.html_short(l.low) || ' to '
            || sync_probe_internal.html_short(l.high) || ')</tspan>',
        '</text></g>'), '' ORDER BY l.ordinality))]
FROM frame AS f, line AS l
GROUP BY f.bottom, f.low, f.one, f.high
$$;

--
-- A bar of 14 pixels for each mark.  The number, or the words where
-- it is unknown, stand behind a short bar and in a long one.
--
CREATE FUNCTION sync_probe_internal.html_bars(
    marks sync_probe_internal.mark[],
    axis sync_probe_internal.axis)
RETURNS text[]
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT ARRAY[(26 * cardinality(marks) + 22)::text, concat(
    sync_probe_internal.html_grid(axis, 0, 26 * cardinality(marks)),
    string_agg(concat(
        format('<g class=%s>', coalesce(m.colour, 'oth')),
        sync_probe_internal.html_row_name(y, m.name, NULL),
        CASE WHEN x > 0 THEN format('<rect class=%s width=%s%% y=%s height=14 />',
                                    CASE m.shape WHEN 'frame' THEN 'h' ELSE 'f' END, x, y - 11) END,
        format('<text class="%s" x=%s%% dx=%s y=%s>',
               CASE WHEN NOT x > 60 THEN 'y' WHEN m.shape = 'frame' THEN 'e' ELSE 'e on' END,
               x, CASE WHEN x > 60 THEN -5 ELSE 5 END, y),
        sync_probe_internal.html_escape(
            coalesce(sync_probe_internal.html_short(m.number),
                     sync_probe_internal.clipped(m.words, 16), 'unknown')),
        '</text></g>'), '' ORDER BY m.ordinality))]
FROM unnest(marks) WITH ORDINALITY AS m,
     LATERAL (SELECT coalesce(sync_probe_internal.html_at(axis, m.number), 0),
                     26 * m.ordinality - 9) AS at (x, y)
$$;

--
-- Numbers over time, in a box of 200 pixels.  A line for each name is
-- broken where the note changes or a number is unknown.  A mark of shape line is a dashed line
-- across, with its words above, unless the one before is too near.  Below stand the words of the
-- first and the last mark that have a number.
--
CREATE FUNCTION sync_probe_internal.html_lines(
    marks sync_probe_internal.mark[],
    axis sync_probe_internal.axis)
RETURNS text[]
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
WITH point AS (
    SELECT m.*, round((100 * m.at)::numeric, 1) AS x,
           round(220 - 1.9 * sync_probe_internal.html_at(axis, m.number)) AS y
    FROM unnest(marks) WITH ORDINALITY AS m
), joined AS (
    SELECT p.*, lag(x) OVER w AS old_x, lag(y) OVER w AS old_y,
           note IS NOT DISTINCT FROM lag(note) OVER w AS joins
    FROM point AS p WHERE p.shape IS DISTINCT FROM 'line'
    WINDOW w AS (PARTITION BY name ORDER BY at)
)
SELECT ARRAY['244', concat(
    (SELECT string_agg(format('<line class=g x1=0%% x2=100%% y1=%s y2=%1$s />'
                              '<text class="t e" x=-8 y=%s>%s</text>', y, y + 4,
                              sync_probe_internal.html_tick(tick)), '')
     FROM unnest(axis.ticks) AS tick,
          LATERAL (SELECT round(220 - 1.9 * sync_probe_internal.html_at(axis, tick))) AS t (y)),
    format('<text class="t e" x=-8 y=12>%s</text>', sync_probe_internal.html_prose(axis.unit)),
    (SELECT string_agg(concat(
         format('<line class=q9 x1=%s%% x2=%1$s%% y1=26 y2=220 />', p.x),
         CASE WHEN p.x - p.old_x < 7 THEN NULL
              ELSE format('<text class="t c" x=%s%% y=22>%s</text>', p.x,
                          sync_probe_internal.html_escape(p.words)) END), '' ORDER BY p.x)
     FROM (SELECT p.*, lag(p.x) OVER (ORDER BY p.x) AS old_x FROM point AS p
           WHERE p.shape = 'line') AS p),
    (SELECT string_agg(concat(
                format('<g class=%s>', coalesce(j.colour, 'oth')),
                CASE WHEN j.joins AND j.old_y IS NOT NULL
                     THEN format('<line class=l x1=%s%% x2=%s%% y1=%s y2=%s />', j.old_x, j.x,
                                 j.old_y, j.y) END,
                CASE WHEN j.shape = 'cross'
                     THEN format('<use href=#cross class=xm x=%s%% y=%s />', j.x, j.y)
                     ELSE format('<circle class=%s cx=%s%% cy=%s r=3 />',
                                 CASE j.shape WHEN 'ring' THEN 'h' ELSE 'f' END, j.x, j.y) END,
                '</g>'), '' ORDER BY j.ordinality) FROM joined AS j WHERE j.y IS NOT NULL),
    (SELECT format('<text class=t x=0%% y=238>%s</text><text class="t e" x=100%% y=238>%s</text>',
                   sync_probe_internal.html_escape((array_agg(j.words ORDER BY j.at))[1]),
                   sync_probe_internal.html_escape((array_agg(j.words ORDER BY j.at DESC))[1]))
     FROM joined AS j))]
$$;

--
-- A figure of a section with that title: heading, key to its shapes, plots, caption, and a table.
-- Screen readers read a plot from its marks.  Null if nothing can be drawn.
--
-- figure: a row of the section's query, which may leave members out.  kind: intervals, bars or
-- lines.  marks: an array of rows of type mark.  All plots have one axis, in that unit; with a null
-- unit each has its own.  Unit "times": ratios to the row that is current.  key: pairs of colour
-- and shape, and their meaning.  cells: the rows of the table below.  html: the whole content, in
-- place of a figure.
--
CREATE FUNCTION sync_probe_internal.html_figure(id text, section text, figure json)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
WITH figure AS (
    SELECT * FROM json_to_record(html_figure.figure) AS f (
        kind text, heading text, unit text, marks sync_probe_internal.mark[], key text[],
        caption text, cells json, html text)
), panel AS (
    SELECT m.panel AS title, row_number() OVER (ORDER BY min(i)) AS n,
           array_agg(f.marks[i] ORDER BY i) AS marks,
           min(least(m.number, m.low)) FILTER (WHERE b.counts) AS low,
           max(greatest(m.number, m.high)) FILTER (WHERE b.counts) AS high,
           string_agg(concat_ws(' ', left(m.name, 60),
                                sync_probe_internal.html_short(m.number), left(m.words, 60),
                                '(' || sync_probe_internal.html_short(m.low) || ' to '
                                    || sync_probe_internal.html_short(m.high) || ')'),
                      '; ' ORDER BY i) FILTER (WHERE i <= 60) AS words
    FROM figure AS f, generate_subscripts(f.marks, 1) AS i, LATERAL (SELECT (f.marks[i]).*) AS m,
         LATERAL (SELECT greatest(m.number, m.high) < 1e12 AND least(m.number, m.low) > CASE
                             f.kind WHEN 'bars' THEN '-Infinity' ELSE 0::float8 END)
             AS b (counts)
    GROUP BY m.panel
), drawn AS (
    SELECT p.*, f.kind, f.heading,
           sync_probe_internal.html_axis(min(p.low) OVER g, max(p.high) OVER g, f.unit,
                                         f.kind <> 'bars') AS axis
    FROM figure AS f, panel AS p
    WINDOW g AS (PARTITION BY CASE WHEN f.unit IS NULL THEN p.n END)
), plot AS (
    SELECT string_agg(concat(
               '<div>', '<p class=panel>' || sync_probe_internal.html_escape(d.title) || '</p>',
               format('<svg class=plot role=img aria-labelledby="%1$s-t %1$s-d" height=%2$s>'
                      '<title id=%1$s-t>%3$s</title><desc id=%1$s-d>%4$s</desc>%5$s</svg>',
                      id || '-' || d.n, k.plot[1],
                      sync_probe_internal.html_prose(concat_ws(', ', section, d.heading, d.title)),
                      coalesce(sync_probe_internal.html_prose(d.words), 'nothing'), k.plot[2]),
               E'</div>\n'), '' ORDER BY d.n) AS html
    FROM drawn AS d,
         LATERAL (SELECT CASE d.kind
             WHEN 'intervals' THEN sync_probe_internal.html_intervals(d.marks, d.axis)
             WHEN 'bars' THEN sync_probe_internal.html_bars(d.marks, d.axis)
             WHEN 'lines' THEN sync_probe_internal.html_lines(d.marks, d.axis) END) AS k (plot)
    WHERE (d.axis).low IS NOT NULL
)
SELECT coalesce(f.html, concat(
    '<figure><h3>' || sync_probe_internal.html_prose(f.heading) || '</h3>', '<p class=key>',
    (SELECT string_agg(format('<span><svg aria-hidden=true class=%s>%s</svg> %s</span>',
                split_part(f.key[i], ' ', 1), CASE split_part(f.key[i], ' ', 2)
                    WHEN 'dot' THEN '<circle class=f cx=50% cy=6 r=4.5 />'
                    WHEN 'ring' THEN '<circle class=h cx=50% cy=6 r=4 />'
                    WHEN 'cross' THEN '<use href=#cross class=xm x=50% y=6 />'
                    WHEN 'box' THEN '<rect class=f width=100% y=1 height=10 />'
                    WHEN 'frame' THEN '<rect class=h width=100% y=1 height=10 />'
                    WHEN 'band' THEN '<rect class=band width=100% height=12 />' END,
                sync_probe_internal.html_prose(f.key[i + 1])), '' ORDER BY i)
     FROM generate_series(1, cardinality(f.key), 2) AS i),
    '</p>', format('<div class="panels %s">', f.kind), p.html, '</div>',
    '<figcaption>' || sync_probe_internal.html_prose(f.caption) || '</figcaption>',
    '<details class=ft><summary>Show as a table</summary>',
    sync_probe_internal.html_table(concat_ws(', ', section, f.heading), f.cells),
    E'</details></figure>\n'))
FROM figure AS f, plot AS p
WHERE coalesce(f.html, p.html) IS NOT NULL
$$;
