--
-- sync_probe_internal.history_run
--
-- A run of pg_wal in the history, with its own method and what has changed since the run before.
--
CREATE TYPE sync_probe_internal.history_run AS (
    n integer,
    run_id bigint,
    started_at timestamptz,
    label text,
    method text,
    filesystem text,
    mount_options text,
    kernel text,
    server text,
    durable text,
    p50_us double precision,
    p99_us double precision,
    changes text[]);

COMMENT ON TYPE sync_probe_internal.history_run IS
  'A run in the history of pg_wal';

--
-- sync_probe_internal.history_runs
--
-- The newest 60 runs of pg_wal by the wal suite that measured their own method, oldest first.
--
CREATE FUNCTION sync_probe_internal.history_runs(data sync_probe_internal.report_data)
RETURNS SETOF sync_probe_internal.history_run
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT row_number() OVER w, r.run_id, r.started_at, r.label, r.method, r.filesystem,
       (r.run).storage ->> 'mount_options', (r.run).storage ->> 'kernel',
       sync_probe_internal.version_words((r.run).server_version_num), r.durable, r.p50_us, r.p99_us,
       CASE WHEN lag(r.run_id) OVER w IS NOT NULL
            THEN sync_probe_internal.changes_between(lag(r.run) OVER w, r.run) END
FROM (SELECT r.run, (r.run).run_id, (r.run).started_at, (r.run).label, p.method,
             (r.run).filesystem, p.p50_us, p.p99_us,
             sync_probe_internal.case_durable(r.run, p) AS durable
      FROM (SELECT DISTINCT ON (r.run_id) r AS run
            FROM unnest(data.runs || data.more) AS r
            WHERE r.location = 'pg_wal' AND r.suite = 'wal' ORDER BY r.run_id) AS r
      JOIN sync_probe.measurements AS p
          ON p.run_id = (r.run).run_id AND p.test = 'paced' AND p.method = (r.run).wal_sync_method
      WHERE p.p50_us > 0
      ORDER BY p.run_id DESC LIMIT 60) AS r
WINDOW w AS (ORDER BY r.run_id)
$$;

COMMENT ON FUNCTION sync_probe_internal.history_runs(sync_probe_internal.report_data) IS
  'The newest 60 runs of pg_wal';

--
-- sync_probe_internal.history_marks
--
-- Lines where something has changed.  Those that are closer than their numbers are wide share
-- a number: that of the first of them.
--
CREATE FUNCTION sync_probe_internal.history_marks(history sync_probe_internal.history_run[])
RETURNS TABLE (number integer, x numeric, is_first boolean, text text)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
WITH RECURSIVE change AS (
    SELECT row_number() OVER (ORDER BY h.n) AS i,
           round(100.0 * (h.n - 1) / cardinality(history), 1) AS x,
           format('Run %s: %s', h.run_id, array_to_string(h.changes, '; ')) AS text
    FROM unnest(history) AS h WHERE h.changes IS NOT NULL
), grouped AS (
    SELECT i, x, text, x AS start, 1 AS number FROM change WHERE i = 1
    UNION ALL
    SELECT c.i, c.x, c.text, CASE WHEN c.x - g.start < 8 THEN g.start ELSE c.x END,
           g.number + CASE WHEN c.x - g.start < 8 THEN 0 ELSE 1 END
    FROM grouped AS g JOIN change AS c ON c.i = g.i + 1
)
SELECT number, x, x = start, text FROM grouped
$$;

COMMENT ON FUNCTION sync_probe_internal.history_marks(sync_probe_internal.history_run[]) IS
  'Lines in the history where something has changed';

--
-- sync_probe_internal.history_line
--
-- A quantile of all runs: points at y, joined within a method.  What a run does not know is
-- a gap.  A cross: syncs did not reach the device.
--
CREATE FUNCTION sync_probe_internal.history_line(
    history sync_probe_internal.history_run[],
    axis sync_probe_internal.axis,
    quantile text)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
WITH point AS (
    SELECT h.n, h.method, h.durable, round(100 * (h.n - 0.5) / cardinality(history), 1) AS x,
           round(224 - 2 * sync_probe_internal.html_at(axis, v.us)) AS y, v.us
    FROM unnest(history) AS h,
         LATERAL (SELECT CASE quantile WHEN 'p50' THEN h.p50_us ELSE h.p99_us END) AS v (us)
), joined AS (
    SELECT *, lag(x) OVER (ORDER BY n) AS old_x, lag(y) OVER (ORDER BY n) AS old_y,
           lag(method) OVER (ORDER BY n) AS old_method
    FROM point
)
SELECT format('<g class=%s>', CASE quantile WHEN 'p50' THEN 'cur' ELSE 'oth' END)
       || coalesce(string_agg(format('<line class=%s x1=%s%% x2=%s%% y1=%s y2=%s />',
                                     CASE quantile WHEN 'p50' THEN 'l' ELSE 'n' END,
                                     old_x, x, old_y, y), '' ORDER BY n)
                       FILTER (WHERE old_y IS NOT NULL AND y IS NOT NULL AND method = old_method),
                   '')
       || coalesce(string_agg(CASE WHEN durable = 'no'
                     THEN format('<use href=#cross class=xm x=%s%% y=%s />', x, y)
                     ELSE format('<circle class=%s cx=%s%% cy=%s r=%s />',
                                 CASE quantile WHEN 'p50' THEN 'f' ELSE 'h' END, x, y,
                                 CASE WHEN cardinality(history) > 30 THEN 2.5 ELSE 3.5 END)
                     END, '' ORDER BY n) FILTER (WHERE y IS NOT NULL), '')
       || '</g>'
FROM joined
$$;

COMMENT ON FUNCTION sync_probe_internal.history_line(sync_probe_internal.history_run[],
  sync_probe_internal.axis, text) IS
  'A quantile of all runs of the history';

--
-- sync_probe_internal.history_frame
--
-- What is around the lines: axis, marks of changes, methods and times below.
--
CREATE FUNCTION sync_probe_internal.history_frame(
    history sync_probe_internal.history_run[],
    axis sync_probe_internal.axis)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
WITH run AS (
    SELECT h.*, round(100 * (h.n - 0.5) / cardinality(history), 1) AS x,
           sum((h.method IS DISTINCT FROM o.method)::integer) OVER (ORDER BY h.n) AS era
    FROM unnest(history) AS h LEFT JOIN unnest(history) AS o ON o.n = h.n - 1
), era AS (
    SELECT method, 100.0 * (min(n) - 1) / cardinality(history) AS low,
           100.0 * (max(n) - min(n) + 1) / cardinality(history) AS width,
           7.4 * length(method) + 4 AS pixels
    FROM run GROUP BY era, method
), label AS (
    SELECT DISTINCT round(1 + (cardinality(history) - 1)
                              * k::numeric / greatest(l.labels - 1, 1))::integer AS n
    FROM (SELECT CASE WHEN cardinality(history) < 20 THEN least(cardinality(history), 3)
                      ELSE 4 END) AS l (labels), generate_series(0, l.labels - 1) AS k
)
SELECT (SELECT string_agg(format('<line class=g x1=0%% x2=100%% y1=%s y2=%1$s />'
                                 '<text class="t e" x=-8 y=%s>%s</text>', t.y, t.y + 4,
                                 sync_probe_internal.html_escape(t.label)), '' ORDER BY t.y)
        FROM (SELECT round(224 - 2 * sync_probe_internal.html_at(axis, t.tick)) AS y, t.label
              FROM unnest(axis.ticks, axis.labels) AS t (tick, label)) AS t)
    || '<text class="t e" x=-8 y=14>&micro;s</text>'
    || coalesce((SELECT '<g class=cur>' || string_agg(
               format('<line class=%s x1=%s%% x2=%2$s%% y1=20 y2=224 />',
                      CASE WHEN m.is_first THEN 'z' ELSE 'q9' END, m.x)
               || CASE WHEN m.is_first
                       THEN format('<circle class=h cx=%s%% cy=11 r=8 />'
                                   '<text class="t c" x=%1$s%% y=15>%s</text>', m.x, m.number)
                       ELSE '' END, '' ORDER BY m.x) || '</g>'
        FROM sync_probe_internal.history_marks(history) AS m), '')
    || (SELECT string_agg(
               format('<rect class=band x=%s%% width=%s%% y=232 height=20 />',
                      round(e.low + 0.2, 1), round(greatest(e.width - 0.4, 0.2), 1))
               || CASE WHEN e.pixels > e.width * 4.6 THEN ''
                       ELSE format('<text class="k c%s" x=%s%% y=246>%s</text>',
                                   CASE WHEN e.pixels > e.width * 2.4 THEN ' wd' ELSE '' END,
                                   round(e.low + e.width / 2, 1),
                                   sync_probe_internal.html_escape(e.method)) END,
               '' ORDER BY e.low)
        FROM era AS e)
    || (SELECT string_agg(format('<text class="t c" x=%s%% y=269>%s</text>', r.x,
                                 to_char(r.started_at AT TIME ZONE 'UTC',
                                         CASE WHEN d.one_day THEN 'HH24:MI:SS'
                                              ELSE 'YYYY-MM-DD' END)), '' ORDER BY r.n)
        FROM label JOIN run AS r USING (n),
             (SELECT count(DISTINCT (h.started_at AT TIME ZONE 'UTC')::date) = 1
              FROM unnest(history) AS h) AS d (one_day)
        WHERE isfinite(r.started_at))
$$;

COMMENT ON FUNCTION sync_probe_internal.history_frame(sync_probe_internal.history_run[],
  sync_probe_internal.axis) IS
  'Axis, changes and times of the history';

--
-- sync_probe_internal.history_ends
--
-- The last p50 and p99 right of the plot, at least 14 pixels apart.
--
CREATE FUNCTION sync_probe_internal.history_ends(
    last sync_probe_internal.history_run,
    axis sync_probe_internal.axis)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT concat(
    format('<text class=b x=100%% dx=6 y=%s><tspan class=wd>p50 </tspan>%s</text>', y50 + 4,
           sync_probe_internal.html_number(last.p50_us)),
    CASE WHEN y99 IS NOT NULL
         THEN format('<text class=y x=100%% dx=6 y=%s><tspan class=wd>p99 </tspan>%s</text>',
                     least(y99, y50 - 14) + 4, sync_probe_internal.html_number(last.p99_us)) END)
FROM (SELECT round(224 - 2 * sync_probe_internal.html_at(axis, last.p50_us)),
             round(224 - 2 * sync_probe_internal.html_at(axis, last.p99_us))) AS y (y50, y99)
$$;

COMMENT ON FUNCTION sync_probe_internal.history_ends(sync_probe_internal.history_run,
  sync_probe_internal.axis) IS
  'The last figures of the history';

--
-- sync_probe_internal.page_history
--
-- Runs of pg_wal side by side, and what has changed between them; from 2 runs on.
--
CREATE FUNCTION sync_probe_internal.page_history(data sync_probe_internal.report_data)
RETURNS sync_probe_internal.section
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
WITH history AS (
    SELECT array_agg(h ORDER BY h.n) AS runs, count(*) AS count,
           sync_probe_internal.html_log_axis(min(h.p50_us), max(greatest(h.p50_us, h.p99_us)),
                                             'us') AS axis,
           bool_or(h.durable = 'no') AS unsafe, bool_or(h.changes IS NOT NULL) AS changed
    FROM sync_probe_internal.history_runs(data) AS h
), words AS (
    SELECT string_agg(format('Run %s: p50 %s us, p99 %s us', h.run_id,
                             sync_probe_internal.html_number(h.p50_us),
                             coalesce(sync_probe_internal.html_number(h.p99_us), 'unknown')), '; '
                      ORDER BY h.n) AS description,
           array_agg(ARRAY[h.run_id::text, sync_probe_internal.html_time(h.started_at), h.label,
                           h.method, h.filesystem, h.mount_options, h.kernel, h.server, h.durable,
                           sync_probe_internal.html_number(h.p50_us),
                           sync_probe_internal.html_number(h.p99_us)] ORDER BY h.n) AS cells
    FROM history, unnest(history.runs) AS h
), listed AS (
    SELECT format('<ol class=list>%s</ol>', string_agg(
               '<li>' || replace(sync_probe_internal.html_prose(
                                     sync_probe_internal.clipped(m.text, 300)),
                                 ' -&gt; ', ' &rarr; '), '' ORDER BY m.number)) AS html
    FROM (SELECT m.number, string_agg(m.text, '. ' ORDER BY m.x) AS text
          FROM history, sync_probe_internal.history_marks(history.runs) AS m
          GROUP BY m.number) AS m
)
SELECT ROW('history', 'What has changed?', 'History',
    'Each point is one run on <code>pg_wal</code> with the method that was current then, at the '
    'cluster&rsquo;s pace. Runs stand side by side, whatever the time between them. A numbered '
    'line stands where something changed. A gap in p99 is a run with too few flushes to know it.',
    sync_probe_internal.html_figure(
        sync_probe_internal.html_plot('history-1', 274,
            'Paced flushes of the current method on pg_wal, run by run', w.description,
            sync_probe_internal.history_frame(h.runs, h.axis)
            || sync_probe_internal.history_line(h.runs, h.axis, 'p99')
            || sync_probe_internal.history_line(h.runs, h.axis, 'p50')
            || sync_probe_internal.history_ends(h.runs[h.count], h.axis), 'tall')
        || coalesce(l.html, ''),
        format('Latency of a flush, in microseconds, logarithmic; the newest %s runs.%s', h.count,
               CASE WHEN h.changed THEN '' ELSE ' No change between them is recorded.' END),
        sync_probe_internal.html_table('Current method on pg_wal, paced, in us',
            '{run,started,label,method,file system,mount options,kernel,server,durable,p50,p99}',
            w.cells, 9),
        NULL,
        CASE WHEN h.unsafe
             THEN sync_probe_internal.html_key('cur dot', 'p50', 'oth ring', 'p99',
                                               'cur cross', 'syncs did not reach the device')
             ELSE sync_probe_internal.html_key('cur dot', 'p50', 'oth ring', 'p99') END)
    )::sync_probe_internal.section
FROM history AS h, words AS w, listed AS l
WHERE h.count > 1 AND h.axis IS NOT NULL
$$;

COMMENT ON FUNCTION sync_probe_internal.page_history(sync_probe_internal.report_data) IS
  'Section of the report: the history of pg_wal';
