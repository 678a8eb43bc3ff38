--
-- Section workloads: the workloads that ran last, at most 8: of each the results with the arguments
-- and settings of its newest one, the newest of each tablespace.  workload_comparison() shows
-- sql_bench.
--
UNION ALL VALUES (100, 'workloads',
    'What does it mean for a workload?', 'Workloads',
    'This compares storage of tables and indexes: the WAL goes to <code>pg_wal</code>, whatever '
    'the tablespace. A dot is the median latency of a transaction; its line ends at p99.', $$
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
)
SELECT f.kind, f.unit, format('Workload %s: %s', min(s.workload), f.title) AS heading,
       format('%s clients, %s rows, %s each; wal_sync_method = %s.%s', min(s.clients),
              sync_probe_internal.html_number(min(s.rows)),
              sync_probe_internal.html_duration(min(s.transactions / s.tps) * 1e6),
              min(s.server_settings ->> 'wal_sync_method'),
              CASE WHEN min(s.transactions / s.tps) < 9.5
                   THEN ' A run this short does not show which tablespace is faster.' END)
           AS caption,
       json_agg(mark ORDER BY s.n) FILTER (WHERE s.n <= 12) AS marks,
       json_agg(cell ORDER BY s.n) AS cells
FROM shown AS s,
     (VALUES ('bars', 'tps', 'transactions per second'),
             ('intervals', 'ms', 'latency, p50 to p99')) AS f (kind, unit, title),
     LATERAL (SELECT s.name,
                     CASE WHEN s.durable IN ('no', 'refuted') THEN 'not durable' END AS note,
                     CASE WHEN s.durable IN ('no', 'refuted') THEN 'bad' ELSE 'cur' END AS colour,
                     CASE f.unit WHEN 'tps' THEN s.tps ELSE s.latency_p50_ms END AS number,
                     CASE f.unit WHEN 'ms' THEN s.latency_p50_ms END AS low,
                     CASE f.unit WHEN 'ms' THEN s.latency_p99_ms END AS high) AS mark,
     LATERAL (SELECT s.name AS tablespace, sync_probe_internal.html_time(s.started_at) AS started,
                     s.durable, s.tps, s.latency_p50_ms AS "p50 ms", s.latency_p99_ms AS "p99 ms",
                     s.latency_max_ms AS "max ms", s.transactions, s.failed) AS cell
GROUP BY s.place, f.kind, f.unit, f.title
ORDER BY s.place, f.kind
$$)
