--
-- sync_probe_internal.stream_point
--
-- Seconds of a test case of a run of the stream suite that are drawn as one: at x, so wide, of
-- 500, the slowest of them and their longest flush.
--
CREATE TYPE sync_probe_internal.stream_point AS (
    ordinal integer,
    x numeric,
    width numeric,
    mb_per_sec double precision,
    slowest_us double precision);

COMMENT ON TYPE sync_probe_internal.stream_point IS
  'Seconds of a stream that are drawn as one';

--
-- sync_probe_internal.stream_points
--
-- At most 60 for each test case.  A second that the end has cut short has no rate.
--
CREATE FUNCTION sync_probe_internal.stream_points(of_run bigint)
RETURNS SETOF sync_probe_internal.stream_point
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
WITH second AS (
    SELECT s.ordinal, s.mb_per_sec, s.slowest_us, s.second + s.length_ms / 2000 AS at,
           s.length_ms >= least(500, max(s.length_ms) OVER ()) AS is_whole,
           max(s.second + s.length_ms / 1000) OVER () AS total
    FROM sync_probe.stream_seconds AS s
    WHERE s.run_id = of_run
)
SELECT ordinal, round(least(greatest(500 * avg(at / total), w.width / 2),
                            500 - w.width / 2)::numeric, 1),
       round(w.width::numeric, 1),
       min(mb_per_sec) FILTER (WHERE is_whole), max(slowest_us)
FROM second,
     LATERAL (SELECT 500 / least(60, greatest(total, 1)) AS width) AS w
GROUP BY ordinal, floor(60 * at / total), w.width
$$;

COMMENT ON FUNCTION sync_probe_internal.stream_points(bigint) IS
  'What is drawn of a run of the stream suite';

--
-- sync_probe_internal.stream_case
--
-- A test case of a run of the stream suite, with the line that it is drawn in.
--
CREATE TYPE sync_probe_internal.stream_case AS (
    n integer,
    ordinal integer,
    name text,
    note text,
    colour text,
    mb_per_sec double precision,
    slowest_second double precision,
    fastest_second double precision,
    p50_us double precision,
    max_us double precision);

COMMENT ON TYPE sync_probe_internal.stream_case IS
  'A test case of a run of the stream suite';

--
-- sync_probe_internal.stream_cases
--
CREATE FUNCTION sync_probe_internal.stream_cases(run sync_probe.runs)
RETURNS SETOF sync_probe_internal.stream_case
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT row_number() OVER (ORDER BY m.ordinal), m.ordinal, m.test,
       m.method || CASE WHEN m.direct_io THEN '*' ELSE '' END,
       CASE WHEN m.method = run.wal_sync_method AND NOT m.direct_io THEN 'cur' ELSE 'oth' END,
       s.mb_per_sec, p.slowest, p.fastest, m.p50_us, m.max_us
FROM sync_probe.measurements AS m,
     LATERAL (SELECT sum(s.bytes) / 1048.576 / nullif(sum(s.length_ms), 0) AS mb_per_sec
              FROM sync_probe.stream_seconds AS s
              WHERE s.run_id = m.run_id AND s.ordinal = m.ordinal) AS s,
     LATERAL (SELECT min(p.mb_per_sec) AS slowest, max(p.mb_per_sec) AS fastest
              FROM sync_probe_internal.stream_points(m.run_id) AS p
              WHERE p.ordinal = m.ordinal) AS p
WHERE m.run_id = run.run_id AND m.p50_us > 0 AND m.max_us > 0 AND p.fastest > 0
$$;

COMMENT ON FUNCTION sync_probe_internal.stream_cases(sync_probe.runs) IS
  'The test cases of a run of the stream suite';

--
-- sync_probe_internal.stream_plot
--
-- A strip of 30 pixels for each test case, a path in each, and numbers at the right.
--
CREATE FUNCTION sync_probe_internal.stream_plot(
    id text,
    title text,
    cases sync_probe_internal.stream_case[],
    paths text[],
    class text,
    numbers text[],
    notes text[],
    seconds double precision)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT sync_probe_internal.html_plot(id, 38 * cardinality(cases) + 24, title,
    string_agg(format('%s %s: %s %s', c.name, c.note, numbers[c.n], notes[c.n]), '; '
               ORDER BY c.n),
    sync_probe_internal.html_grid(
        ROW(0, seconds, false, a.ticks, a.labels, 's')::sync_probe_internal.axis,
        0, 38 * cardinality(cases) + 4, true)
    || string_agg(concat(format('<g class=%s>', c.colour),
           sync_probe_internal.html_row_name(38 * c.n - 16, c.name, c.note),
           format('<line class=ax x2=100%% y1=%1$s y2=%1$s />'
                  '<svg y=%2$s width=100%% height=30 viewBox="0 0 500 30" '
                  'preserveAspectRatio=none><path class=%3$s d="%4$s"/></svg>'
                  '<text class=b x=100%% dx=12 y=%5$s>%6$s'
                  '<tspan class="wd t"> %7$s</tspan></text></g>',
                  38 * c.n, 38 * c.n - 30, class, paths[c.n], 38 * c.n - 10,
                  sync_probe_internal.html_prose(numbers[c.n]),
                  sync_probe_internal.html_prose(notes[c.n])), E'\n'), '' ORDER BY c.n), 'wide')
FROM unnest(cases) AS c, sync_probe_internal.html_linear_axis(seconds / 1.04, 's') AS a
GROUP BY a.ticks, a.labels
$$;

COMMENT ON FUNCTION sync_probe_internal.stream_plot(text, text,
  sync_probe_internal.stream_case[], text[], text, text[], text[], double precision) IS
  'Strips of a stream over its seconds';

--
-- sync_probe_internal.stream_figure
--
-- A run: rates and slowest flushes over its seconds, its stalls, and a table of its test cases and
-- of its first 600 seconds.
--
CREATE FUNCTION sync_probe_internal.stream_figure(run sync_probe.runs)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
WITH line AS (
    SELECT c AS line, c.n, c.ordinal, min(c.p50_us) OVER () AS low,
           ln(max(c.max_us) OVER () * 1.01 / min(c.p50_us) OVER ()) AS span
    FROM sync_probe_internal.stream_cases(run) AS c
), path AS (
    SELECT l.n, l.line,
           (SELECT string_agg(format('M%s 30V%sH%sV30z', p.x - p.width / 2,
                                     round((30 - 29 * p.mb_per_sec
                                            / (l.line).fastest_second)::numeric, 1),
                                     p.x + p.width / 2), '' ORDER BY p.x)
            FROM sync_probe_internal.stream_points(run.run_id) AS p
            WHERE p.ordinal = l.ordinal AND p.mb_per_sec >= 0) AS rate,
           (SELECT string_agg(format('M%s 30V%s', p.x, round((30 - 29 * greatest(
                                  ln(p.slowest_us / l.low) / l.span, 0))::numeric, 1)), ''
                              ORDER BY p.x)
            FROM sync_probe_internal.stream_points(run.run_id) AS p
            WHERE p.ordinal = l.ordinal AND p.slowest_us > 0) AS slowest
    FROM line AS l
), plot AS (
    SELECT sync_probe_internal.html_panel('MB per second', 'each strip to its own maximum',
               sync_probe_internal.stream_plot(format('stream-%s-rate', run.run_id),
                   format('MB written in each second, run %s', run.run_id), a.cases, a.rates, 'a',
                   a.means, a.minima, a.seconds))
           || sync_probe_internal.html_panel('Longest flush of each second, ms',
               'logarithmic, the same for all strips',
               sync_probe_internal.stream_plot(format('stream-%s-slowest', run.run_id),
                   format('Slowest flush in each second, run %s', run.run_id), a.cases, a.slowest,
                   'tick', a.maxima, a.medians, a.seconds)) AS html
    FROM (SELECT array_agg(p.line ORDER BY p.n) AS cases, array_agg(p.rate ORDER BY p.n) AS rates,
                 array_agg(p.slowest ORDER BY p.n) AS slowest,
                 array_agg(sync_probe_internal.html_number((p.line).mb_per_sec)
                           ORDER BY p.n) AS means,
                 array_agg(format('(slowest %s)',
                                  sync_probe_internal.html_number((p.line).slowest_second))
                           ORDER BY p.n) AS minima,
                 array_agg(sync_probe_internal.html_number((p.line).max_us / 1e3) ORDER BY p.n)
                     AS maxima,
                 array_agg(format('(p50 %s)',
                                  sync_probe_internal.html_number((p.line).p50_us / 1e3))
                           ORDER BY p.n) AS medians,
                 (SELECT max(s.second + s.length_ms / 1000)
                  FROM sync_probe.stream_seconds AS s WHERE s.run_id = run.run_id) AS seconds
          FROM path AS p) AS a
    WHERE a.cases IS NOT NULL
), stall AS (
    SELECT count(*) AS count,
           '<ol class=list>' || string_agg('<li>' || sync_probe_internal.html_prose(
               format('Second %s, %s %s: a %s of %s; %s', s.second, s.test, s.method, s.kind,
                      sync_probe_internal.html_duration(s.stalled_ms * 1000), s.meanwhile)), ''
               ORDER BY s.stalled_ms DESC) FILTER (WHERE s.place <= 5) || '</ol>' AS html
    FROM (SELECT *, row_number() OVER (ORDER BY stalled_ms DESC) AS place
          FROM sync_probe.stalls WHERE run_id = run.run_id) AS s
), tables AS (
    SELECT sync_probe_internal.html_table(format('Test cases of run %s', run.run_id),
               '{test,method,O_DIRECT,status,flushes,p50 us,p99 us,p99.9 us,max us,detail}',
               array_agg(ARRAY[m.test, m.method, CASE WHEN m.direct_io THEN 'yes' ELSE 'no' END,
                   m.status, sync_probe_internal.html_number(m.ops),
                   sync_probe_internal.html_number(m.p50_us),
                   sync_probe_internal.html_number(m.p99_us),
                   NULL,
                   sync_probe_internal.html_number(m.max_us), m.detail] ORDER BY m.ordinal), 4)
           || coalesce((
               SELECT sync_probe_internal.html_table(
                   format('Seconds of run %s, at most 600', run.run_id),
                   '{second,test,method,flushes,MB/s,slowest us,device writes,flushes,busy}',
                   array_agg(ARRAY[s.second::text, s.test, s.method,
                       sync_probe_internal.html_number(s.ops),
                       sync_probe_internal.html_number(s.mb_per_sec),
                       sync_probe_internal.html_number(s.slowest_us),
                       sync_probe_internal.html_number(s.device_writes),
                       sync_probe_internal.html_number(s.device_flushes),
                       round((100 * s.device_utilization)::numeric) || ' %']
                       ORDER BY s.second, s.ordinal), 3)
               FROM (SELECT s.*, m.test, m.method
                     FROM sync_probe.stream_seconds AS s
                     JOIN sync_probe.measurements AS m USING (run_id, ordinal)
                     WHERE s.run_id = run.run_id ORDER BY s.second, s.ordinal LIMIT 600) AS s),
               '') AS html
    FROM sync_probe.measurements AS m WHERE m.run_id = run.run_id
)
SELECT sync_probe_internal.html_figure(p.html || coalesce(s.html, ''),
    format('%s, %s, wal_sync_method = %s. A star is O_DIRECT. %s',
           sync_probe_internal.html_time(run.started_at),
           sync_probe_internal.html_duration(run.finished_at - run.started_at), run.wal_sync_method,
           CASE s.count WHEN 0 THEN 'No stall.' WHEN 1 THEN 'One stall.'
                ELSE format('%s stalls%s.', s.count,
                            CASE WHEN s.count > 5 THEN ', the longest of them above' END) END),
    t.html, concat_ws(', ', run.location, sync_probe_internal.clipped(nullif(run.label, ''), 80)))
FROM plot AS p, stall AS s, tables AS t
$$;

COMMENT ON FUNCTION sync_probe_internal.stream_figure(sync_probe.runs) IS
  'Figure of a run of the stream suite';

--
-- sync_probe_internal.page_stream
--
-- The newest stream of each location, or the chosen ones, at most 4.
--
CREATE FUNCTION sync_probe_internal.page_stream(data sync_probe_internal.report_data)
RETURNS sync_probe_internal.section
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT ROW('stream', 'How fast does WAL stream, and does it stall?', 'Streams',
    'A stream writes and syncs without a rest. The test cases take turns of a second. A low bar in '
    'the upper strips is a second in which little was written; a tall line in the lower ones is a '
    'long flush. Where all strips change at once, the storage has changed, not the method.',
    string_agg(f.html, '' ORDER BY f.n))::sync_probe_internal.section
FROM (SELECT row_number() OVER (ORDER BY r.location <> 'pg_wal', r.location, r.run_id DESC) AS n,
             sync_probe_internal.stream_figure(r) AS html
      FROM unnest(data.runs || data.more) AS r
      WHERE r.suite = 'stream'
      ORDER BY n LIMIT 4) AS f
HAVING count(f.html) > 0
$$;

COMMENT ON FUNCTION sync_probe_internal.page_stream(sync_probe_internal.report_data) IS
  'Section of the report: runs of the stream suite';
