--
-- sync_probe_internal.workload_rows
--
-- Results to be compared, by workload: those with the arguments and settings of its newest
-- result, the newest of each tablespace, the most transactions per second first.  The workload that
-- ran last comes first.  durable is that of the tablespace.  sql_bench() has a view of its own.
--
CREATE FUNCTION sync_probe_internal.workload_rows(data sync_probe_internal.report_data)
RETURNS TABLE (workload integer, n integer, place text, durable text,
               result sync_probe.workload_results)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
WITH recent AS (
    SELECT w FROM sync_probe.workload_results AS w
    WHERE NOT data.chosen AND w.suite IS DISTINCT FROM 'sql_bench' AND w.tps > 0
      AND w.tps < 'Infinity'
    ORDER BY w.result_id DESC LIMIT 200
), newest AS (
    SELECT l.w, row_number() OVER (ORDER BY (l.w).result_id DESC) AS n
    FROM (SELECT DISTINCT ON ((r.w).workload) r.w FROM recent AS r
          ORDER BY (r.w).workload, (r.w).result_id DESC) AS l
), same AS (
    SELECT DISTINCT ON (l.n, (r.w).tablespace) l.n, r.w
    FROM recent AS r, newest AS l
    WHERE ((r.w).workload, (r.w).clients, (r.w).rows, (r.w).protocol, (r.w).new_connections,
           (r.w).settings, (r.w).synchronous_commit, (r.w).wal_sync_method, (r.w).fsync,
           (r.w).transactions_per_client)
          IS NOT DISTINCT FROM
          ((l.w).workload, (l.w).clients, (l.w).rows, (l.w).protocol, (l.w).new_connections,
           (l.w).settings, (l.w).synchronous_commit, (l.w).wal_sync_method, (l.w).fsync,
           (l.w).transactions_per_client)
    ORDER BY l.n, (r.w).tablespace, (r.w).result_id DESC
)
SELECT s.n, row_number() OVER (PARTITION BY s.n ORDER BY (s.w).tps DESC, (s.w).result_id),
       coalesce((s.w).tablespace, 'default'),
       (SELECT a.durable FROM unnest(data.places) AS p, unnest(data.advice) AS a
        WHERE p.name = (s.w).tablespace
          AND a.location IN (p.name, p.shares_filesystem_with) AND a.durable IS NOT NULL
        ORDER BY a.location = p.name DESC LIMIT 1),
       s.w
FROM same AS s
$$;

COMMENT ON FUNCTION sync_probe_internal.workload_rows(sync_probe_internal.report_data) IS
  'Results of each workload by tablespace';

--
-- sync_probe_internal.workload_latency
--
-- p50, p99 and the longest transaction on one line.
--
CREATE FUNCTION sync_probe_internal.workload_latency(
    axis sync_probe_internal.axis,
    y integer,
    p50 double precision,
    p99 double precision,
    longest double precision)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT concat(
    format('<line class=n x1=%1$s%% x2=%2$s%% y1=%3$s y2=%3$s />'
           '<line class=n x1=%2$s%% x2=%2$s%% y1=%4$s y2=%5$s />',
           coalesce(x.p99, x.p50), x.longest, y, y - 4, y + 4),
    format('<line class=l x1=%1$s%% x2=%2$s%% y1=%3$s y2=%3$s />', x.p50, coalesce(x.p99, x.p50),
           y),
    format('<circle class=f cx=%s%% cy=%s r=4 />', x.p50, y),
    CASE WHEN x.p99 IS NOT NULL
         THEN format('<circle class=h cx=%1$s%% cy=%2$s r=4 />'
                     '<text class="%3$s" x=%1$s%% dx=%4$s y=%5$s>%6$s</text>', x.p99, y,
                     CASE WHEN x.p99 > 80 THEN 'y e' ELSE 'y' END,
                     CASE WHEN x.p99 > 80 THEN -7 ELSE 7 END, y - 5,
                     sync_probe_internal.html_number(workload_latency.p99)) END)
FROM (SELECT sync_probe_internal.html_at(axis, workload_latency.p50),
             sync_probe_internal.html_at(axis, workload_latency.p99),
             sync_probe_internal.html_at(axis, workload_latency.longest)) AS x (p50, p99, longest)
WHERE x.p50 IS NOT NULL
$$;

COMMENT ON FUNCTION sync_probe_internal.workload_latency(sync_probe_internal.axis, integer,
  double precision, double precision, double precision) IS
  'Latencies of a workload on one line';

--
-- sync_probe_internal.workload_figure
--
-- A workload by tablespace, from rows of workload_rows(): at most 8 in the figure, all in the
-- table.
--
CREATE FUNCTION sync_probe_internal.workload_figure(
    number integer,
    places text[],
    durable text[],
    results sync_probe.workload_results[])
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
WITH line AS (
    SELECT n, places[n] AS place, workload_figure.durable[n] AS durable, (results[n]).*,
           28 * n - 21 AS y,
           CASE workload_figure.durable[n] WHEN 'no' THEN 'bad' ELSE 'cur' END AS colour
    FROM generate_subscripts(results, 1) AS n
), shown AS (
    SELECT *, sync_probe_internal.html_row_name(y + 11, place) AS name_html FROM line WHERE n <= 8
), frame AS (
    SELECT sync_probe_internal.html_linear_axis(max(tps), NULL) AS tps,
           sync_probe_internal.html_log_axis(min(latency_p50_ms),
               max(greatest(latency_p50_ms, latency_p99_ms, latency_max_ms)), 'ms') AS ms,
           28 * count(*)::integer AS height, bool_or(durable = 'no') AS unsafe
    FROM shown
), tps AS (
    SELECT sync_probe_internal.html_panel('Transactions per second', NULL,
        sync_probe_internal.html_plot(format('workloads-%s-1', number), f.height + 20,
            format('Transactions per second of workload %s by tablespace', min(s.workload)),
            string_agg(format('%s %s', s.place, sync_probe_internal.html_number(s.tps)), '; '
                       ORDER BY s.n),
            sync_probe_internal.html_grid(f.tps, 0, f.height)
            || string_agg(format(E'<g class=%s>%s</g>%s\n', s.colour, s.name_html,
                   sync_probe_internal.html_bar(f.tps, s.y, s.tps, 'f ' || s.colour,
                       sync_probe_internal.html_number(s.tps))), '' ORDER BY s.n))) AS html
    FROM shown AS s, frame AS f GROUP BY f.height, f.tps
), latency AS (
    SELECT sync_probe_internal.html_panel('Latency of a transaction', NULL,
        sync_probe_internal.html_plot(format('workloads-%s-2', number), f.height + 20,
            format('Latency of workload %s by tablespace', min(s.workload)),
            string_agg(format('%s p50 %s, p99 %s, longest %s ms', s.place,
                              sync_probe_internal.html_number(s.latency_p50_ms),
                              coalesce(sync_probe_internal.html_number(s.latency_p99_ms), '?'),
                              sync_probe_internal.html_number(s.latency_max_ms)), '; '
                       ORDER BY s.n),
            sync_probe_internal.html_grid(f.ms, 0, f.height)
            || string_agg(format(E'<g class=%s>%s%s</g>\n', s.colour, s.name_html,
                   sync_probe_internal.workload_latency(f.ms, s.y + 7, s.latency_p50_ms,
                       s.latency_p99_ms, s.latency_max_ms)), '' ORDER BY s.n))) AS html
    FROM shown AS s, frame AS f WHERE f.ms IS NOT NULL GROUP BY f.height, f.ms
), words AS (
    SELECT min(workload) AS name, format('Workload %s with %s clients and %s rows', min(workload), min(clients),
                  to_char(min(rows), 'FM9,999,999,999')) AS heading,
           format('%s each; wal_sync_method = %s, synchronous_commit = %s.%s',
                  sync_probe_internal.html_duration(min(seconds) * 1e6), min(wal_sync_method),
                  min(synchronous_commit),
                  CASE WHEN min(seconds) < 9.5
                       THEN ' So short a run does not tell which tablespace is faster.'
                       ELSE '' END
                  || CASE WHEN count(*) > 8
                          THEN format(' %s more %s in the table.', count(*) - 8,
                                      CASE count(*) WHEN 9 THEN 'is' ELSE 'are' END)
                          ELSE '' END) AS caption,
           array_agg(ARRAY[place, workload, sync_probe_internal.html_time(started_at), durable,
               sync_probe_internal.html_number(tps),
               sync_probe_internal.html_factor(latency_mean_ms),
               sync_probe_internal.html_factor(latency_p50_ms),
               sync_probe_internal.html_factor(latency_p95_ms),
               sync_probe_internal.html_factor(latency_p99_ms),
               sync_probe_internal.html_factor(latency_max_ms),
               sync_probe_internal.html_number(transactions),
               sync_probe_internal.html_number(failed), pg_size_pretty(wal_bytes),
               sync_probe_internal.html_number(wal_syncs),
               sync_probe_internal.html_number(wal_sync_time_ms)] ORDER BY n) AS cells
    FROM line WHERE n <= 100
)
SELECT sync_probe_internal.html_figure(
    '<div class=duo>' || t.html || coalesce(l.html, '') || '</div>', w.caption,
    sync_probe_internal.html_table(format('Workload %s by tablespace, latencies in ms', w.name),
        '{tablespace,workload,started,durable,tps,mean,p50,p95,p99,longest,transactions,'
        'failed,WAL,WAL syncs,time in syncs}', w.cells, 4),
    w.heading,
    CASE WHEN f.unsafe
         THEN sync_probe_internal.html_key('cur dot', 'p50', 'cur ring', 'p99, with its number',
                  'cur line', 'longest', 'bad box', 'syncs do not reach the device there')
         ELSE sync_probe_internal.html_key('cur dot', 'p50', 'cur ring', 'p99, with its number',
                  'cur line', 'longest') END)
FROM tps AS t CROSS JOIN frame AS f CROSS JOIN words AS w LEFT JOIN latency AS l ON true
$$;

COMMENT ON FUNCTION sync_probe_internal.workload_figure(integer, text[], text[],
  sync_probe.workload_results[]) IS
  'A figure of a workload by tablespace';

--
-- sync_probe_internal.page_workloads
--
-- The workloads that ran last, at most 8.
--
CREATE FUNCTION sync_probe_internal.page_workloads(data sync_probe_internal.report_data)
RETURNS sync_probe_internal.section
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT ROW('workloads', 'What does it mean for a workload?', 'Workloads',
    'What is compared is where tables and indexes are: the WAL goes to <code>pg_wal</code>, '
    'whatever the tablespace. The longest transaction is a single one, so look at p99 first.',
    string_agg(f.html, '' ORDER BY f.workload))::sync_probe_internal.section
FROM (SELECT r.workload,
             sync_probe_internal.workload_figure(r.workload, array_agg(r.place ORDER BY r.n),
                 array_agg(r.durable ORDER BY r.n), array_agg(r.result ORDER BY r.n)) AS html
      FROM sync_probe_internal.workload_rows(data) AS r
      WHERE r.workload <= 8
      GROUP BY r.workload) AS f
HAVING count(f.html) > 0
$$;

COMMENT ON FUNCTION sync_probe_internal.page_workloads(sync_probe_internal.report_data) IS
  'Section of the report: workloads by tablespace';
