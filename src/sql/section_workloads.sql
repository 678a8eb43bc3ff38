--
-- Section workloads: the workloads that ran last, at most 8: of each the results with the arguments
-- and settings of its newest one, the newest of each tablespace.  sql_bench() has a view of its
-- own.
--
INSERT INTO sync_probe_internal.report_sections VALUES (100, 'workloads',
    'What does it mean for a workload?', 'Workloads',
    'This compares storage of tables and indexes: the WAL goes to <code>pg_wal</code>, whatever '
    'the '
    'tablespace. A dot is the median latency of a transaction; its line ends at p99.');

CREATE FUNCTION sync_probe_internal.section_workloads(data sync_probe_internal.report_data)
RETURNS SETOF sync_probe_internal.figure
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
WITH recent AS (
    SELECT w.*, row_number() OVER (PARTITION BY w.workload ORDER BY w.result_id DESC) AS age,
           -- what must be equal
           jsonb_build_array(w.clients, w.rows, w.settings,
                             w.server_settings -> 'wal_sync_method') AS terms
    FROM (SELECT * FROM sync_probe.workload_results AS w
          WHERE NOT data.chosen AND w.suite IS DISTINCT FROM 'sql_bench' AND w.tps > 0
            AND w.tps < 'Infinity'
          ORDER BY w.result_id DESC LIMIT 200) AS w
), shown AS (
    SELECT s.*, row_number() OVER (PARTITION BY s.place ORDER BY s.tps DESC) AS n,
           coalesce(s.tablespace, 'default') AS name,
           (SELECT a.durable FROM unnest(data.places) AS p, unnest(data.advice) AS a
            WHERE p.name = s.tablespace AND a.location IN (p.name, p.shares_filesystem_with)
            ORDER BY a.location = p.name DESC LIMIT 1) AS durable
    FROM (SELECT DISTINCT ON (l.place, r.tablespace) l.place, r.*
          FROM (SELECT r.workload, r.terms, row_number() OVER (ORDER BY r.result_id DESC) AS place
                FROM recent AS r WHERE r.age = 1) AS l
          JOIN recent AS r ON r.workload = l.workload AND r.terms = l.terms
          WHERE l.place <= 8
          ORDER BY l.place, r.tablespace, r.result_id DESC) AS s
), mark AS (
    SELECT s.place, s.n, f.part,
           ROW(s.name, CASE WHEN s.durable = 'no' THEN 'not durable' END,
               CASE s.durable WHEN 'no' THEN 'bad' ELSE 'cur' END,
               CASE f.part WHEN 1 THEN 'box' ELSE 'dot' END,
               CASE f.part WHEN 1 THEN s.tps ELSE s.latency_p50_ms END,
               CASE f.part WHEN 2 THEN s.latency_p50_ms END,
               CASE f.part WHEN 2 THEN s.latency_p99_ms END, NULL,
               NULL)::sync_probe_internal.mark AS mark
    FROM shown AS s, (VALUES (1), (2)) AS f (part)
)
SELECT CASE f.part WHEN 1 THEN 'bars' ELSE 'intervals' END,
       format('Workload %s: %s', min(s.workload), CASE f.part WHEN 1 THEN 'transactions per second'
                                                  ELSE 'latency, p50 to p99' END),
       CASE f.part WHEN 1 THEN 'tps' ELSE 'ms' END, NULL::float8,
       ARRAY[ROW(NULL, NULL, (SELECT array_agg(m.mark ORDER BY m.n) FROM mark AS m
                              WHERE m.place = s.place AND m.part = f.part AND m.n <= 12)
                )::sync_probe_internal.panel],
       format('%s clients, %s rows, %s each; wal_sync_method = %s.%s', min(s.clients),
              to_char(min(s.rows), 'FM9,999,999,999'),
              sync_probe_internal.html_duration(min(s.transactions / s.tps) * 1e6),
              min(s.server_settings ->> 'wal_sync_method'),
              CASE WHEN min(s.transactions / s.tps) < 9.5
                   THEN ' A run this short does not show which tablespace is faster.' ELSE '' END),
       NULL::text[],
       sync_probe_internal.html_table(format('Workload %s by tablespace, latencies in ms',
                                             min(s.workload)),
           '{tablespace,started,durable,tps,p50,p99,longest,transactions,failed}',
           array_agg(ARRAY[s.name, sync_probe_internal.html_time(s.started_at), s.durable,
               sync_probe_internal.html_number(s.tps),
               sync_probe_internal.html_factor(s.latency_p50_ms),
               sync_probe_internal.html_factor(s.latency_p99_ms),
               sync_probe_internal.html_factor(s.latency_max_ms),
               sync_probe_internal.html_number(s.transactions),
               sync_probe_internal.html_number(s.failed)] ORDER BY s.n), 3)
FROM shown AS s, (VALUES (1), (2)) AS f (part)
GROUP BY s.place, f.part
ORDER BY s.place, f.part
$$;
