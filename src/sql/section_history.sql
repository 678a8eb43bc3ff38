--
-- Section history: the newest 60 runs of pg_wal that measured their own method, side by side, and
-- what has changed between them.
--
UNION ALL VALUES (90, 'history', 'What has changed?',
    'History',
    'Each point is one run on <code>pg_wal</code> with the method that was current then, paced. '
    'Runs stand side by side, whatever the time between them. A numbered line stands where '
    'something changed. A gap in p99 is a run with too few flushes to know it.', $$
WITH run AS (
    SELECT r.*, row_number() OVER w AS n, count(*) OVER () AS count,
           CASE WHEN lag(r.run_id) OVER w IS NOT NULL
                THEN sync_probe_internal.changes_between(lag(r.run) OVER w, r.run) END AS changes
    FROM (SELECT r.run, m.run_id, m.method, m.durable, m.p50_us, m.p99_us
          FROM (SELECT DISTINCT ON (r.run_id) r AS run, r.run_id, r.wal_sync_method AS method
                FROM unnest(data.runs || data.more) AS r
                WHERE r.location = 'pg_wal' AND r.suite = 'wal' ORDER BY r.run_id) AS r
          JOIN sync_probe.measurements AS m USING (run_id, method)
          WHERE m.test = 'paced' AND m.p50_us > 0
          ORDER BY m.run_id DESC LIMIT 60) AS r
    WINDOW w AS (ORDER BY r.run_id)
), change AS (
    SELECT r.*, row_number() OVER (ORDER BY r.n) AS number FROM run AS r
    WHERE r.changes IS NOT NULL
), mark AS (
    SELECT v.name, r.method AS note, v.colour,
           CASE WHEN r.durable = 'no' THEN 'cross' ELSE v.shape END AS shape, v.number,
           (r.n - 0.5) / r.count AS at,
           to_char((r.run).started_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI') AS words
    FROM run AS r,
         LATERAL (VALUES ('p50', 'cur', 'dot', r.p50_us), ('p99', 'oth', 'ring', r.p99_us))
             AS v (name, colour, shape, number)
    UNION ALL
    SELECT NULL, NULL, NULL, 'line', NULL, (c.n - 1.0) / c.count, c.number::text FROM change AS c
)
SELECT 'lines' AS kind, 'us' AS unit,
       '{cur dot,p50,oth ring,p99,cur cross,syncs did not reach the device}' AS key,
       concat('Latency of a flush, logarithmic. ', coalesce(
           (SELECT string_agg(format('%s: run %s: %s', c.number, c.run_id,
                                     -- without paths an own host is not known
                                     sync_probe_internal.clipped(array_to_string(ARRAY(
                                         SELECT CASE WHEN data.paths THEN x
                                                ELSE regexp_replace(x, '^host: .*', 'host') END
                                         FROM unnest(c.changes) AS x), '; '), 300)), '. '
                              ORDER BY c.n) || '.' FROM change AS c),
           'No change between them is recorded.')) AS caption,
       (SELECT json_agg(mark) FROM mark) AS marks, json_agg(cell ORDER BY r.n) AS cells
FROM run AS r, LATERAL (SELECT (r.run).*) AS all_of_run,
     LATERAL (SELECT r.run_id::text AS run, sync_probe_internal.html_time(started_at) AS started,
                     label, r.method, filesystem AS "file system",
                     storage ->> 'mount_options' AS "mount options", storage ->> 'kernel' AS kernel,
                     server_version_num / 10000 || '.' || server_version_num % 10000 AS server,
                     r.durable, r.p50_us AS "p50 us", r.p99_us AS "p99 us") AS cell
HAVING count(*) > 1
$$)
