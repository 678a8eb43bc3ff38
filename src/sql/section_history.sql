--
-- Section history: the newest 60 runs of pg_wal that measured their own method, side by side, and
-- what has changed between them.
--
INSERT INTO sync_probe_internal.report_sections VALUES (90, 'history', 'What has changed?',
    'History',
    'Each point is one run on <code>pg_wal</code> with the method that was current then, paced. '
    'Runs '
    'stand side by side, whatever the time between them. A numbered line stands where something '
    'changed. A gap in p99 is a run with too few flushes to know it.');

CREATE FUNCTION sync_probe_internal.section_history(data sync_probe_internal.report_data)
RETURNS SETOF sync_probe_internal.figure
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
WITH run AS (
    SELECT r.run, r.run_id, r.measured, row_number() OVER w AS n, count(*) OVER () AS count,
           CASE WHEN lag(r.run_id) OVER w IS NOT NULL
                THEN sync_probe_internal.changes_between(lag(r.run) OVER w, r.run) END AS changes
    FROM (SELECT r.run, r.run_id, m AS measured
          FROM (SELECT DISTINCT ON (r.run_id) r AS run, r.run_id
                FROM unnest(data.runs || data.more) AS r
                WHERE r.location = 'pg_wal' AND r.suite = 'wal' ORDER BY r.run_id) AS r
          JOIN sync_probe.measurements AS m
              ON m.run_id = r.run_id AND m.test = 'paced' AND m.method = (r.run).wal_sync_method
          WHERE m.p50_us > 0
          ORDER BY r.run_id DESC LIMIT 60) AS r
    WINDOW w AS (ORDER BY r.run_id)
), change AS (
    SELECT r.n, r.run_id, r.changes, row_number() OVER (ORDER BY r.n) AS number
    FROM run AS r WHERE r.changes IS NOT NULL
), mark AS (
    SELECT r.n, ROW(v.name, (r.measured).method, v.colour,
                    CASE WHEN (r.measured).durable = 'no' THEN 'cross' ELSE v.shape END, v.number,
                    NULL, NULL, (r.n - 0.5) / r.count,
                    to_char((r.run).started_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI')
                   )::sync_probe_internal.mark
               AS mark
    FROM run AS r, LATERAL (VALUES ('p50', 'cur', 'dot', (r.measured).p50_us),
                                   ('p99', 'oth', 'ring', (r.measured).p99_us))
                       AS v (name, colour, shape, number)
    UNION ALL
    SELECT c.n, ROW(NULL, NULL, 'oth', 'line', NULL, NULL, NULL, (c.n - 1.0) / r.count,
                    c.number)::sync_probe_internal.mark
    FROM change AS c JOIN run AS r USING (n)
)
SELECT 'lines', NULL::text, 'us', NULL::float8,
       ARRAY[ROW(NULL, NULL, (SELECT array_agg(m.mark ORDER BY m.n) FROM mark AS m)
                )::sync_probe_internal.panel],
       concat('Latency of a flush, logarithmic. ', coalesce(
           (SELECT string_agg(format('%s: run %s: %s', c.number, c.run_id,
                                     sync_probe_internal.clipped(
                                         array_to_string(c.changes, '; '), 300)), '. '
                              ORDER BY c.n) || '.' FROM change AS c),
           'No change between them is recorded.')),
       '{cur dot,p50,oth ring,p99,cur cross,syncs did not reach the device}'::text[],
       sync_probe_internal.html_table('Current method on pg_wal, paced, in us',
           '{run,started,label,method,file system,mount options,kernel,server,durable,p50,p99}',
           array_agg(ARRAY[r.run_id::text, sync_probe_internal.html_time((r.run).started_at),
               (r.run).label, (r.measured).method, (r.run).filesystem,
               (r.run).storage ->> 'mount_options', (r.run).storage ->> 'kernel',
               sync_probe_internal.version_words((r.run).server_version_num), (r.measured).durable,
               sync_probe_internal.html_number((r.measured).p50_us),
               sync_probe_internal.html_number((r.measured).p99_us)] ORDER BY r.n), 9)
FROM run AS r
HAVING count(*) > 1
$$;
