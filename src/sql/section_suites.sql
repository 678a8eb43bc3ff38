--
-- Section stream: rate and longest flush over the seconds of the newest stream of each location, or
-- of the chosen ones, at most 4 runs of up to 9 test cases.
--
UNION ALL VALUES (70, 'stream',
    'How fast does WAL stream, and does it stall?', 'Streams',
    'A stream writes and syncs without a rest. The test cases take turns of a second. Where all '
    'lines change at once, the storage has changed, not the method.', $$
WITH run AS (
    SELECT r.*, row_number() OVER (ORDER BY r.location <> 'pg_wal', r.location, r.run_id DESC)
                    AS place
    FROM unnest(data.runs || data.more) AS r WHERE r.suite = 'stream'
    ORDER BY place LIMIT 4
), second AS (
    -- at most 100 points for each test case
    SELECT r.run_id, s.ordinal, f.part, min(s.second) AS second,
           concat(s.test, ' ', s.method, CASE WHEN s.direct_io THEN '*' END) AS panel, s.method,
           CASE WHEN s.method = r.wal_sync_method THEN 'cur' END AS colour,
           CASE f.part WHEN 1 THEN min(s.rate) ELSE max(s.slowest_us) / 1000 END AS number,
           avg((s.second + 0.5) / t.total) AS at
    FROM run AS r,
         LATERAL sync_probe_internal.judged_seconds(r.run_id) AS s,
         LATERAL (SELECT max(o.second) + 1.0 AS total FROM sync_probe_internal.stream_seconds AS o
                  WHERE o.run_id = r.run_id) AS t, (VALUES (1), (2)) AS f (part)
    WHERE s.ordinal <= 9
    GROUP BY r.run_id, r.wal_sync_method, s.ordinal, s.test, s.method, s.direct_io, f.part,
             floor(100.0 * s.second / t.total)
)
SELECT 'lines' AS kind, CASE s.part WHEN 1 THEN 'MB/s' ELSE 'ms' END AS unit,
       format('%s, run %s: %s', r.location, r.run_id,
              CASE s.part WHEN 1 THEN 'MB per second' ELSE 'longest flush of each second' END)
           AS heading,
       format('%s, %s, wal_sync_method = %s. A star is O_DIRECT. %s',
              sync_probe_internal.html_time(r.started_at),
              sync_probe_internal.html_duration(r.finished_at - r.started_at), r.wal_sync_method,
              coalesce((
                  SELECT 'Longest stalls: ' || string_agg(
                             format('second %s, %s %s, %s of %s (%s)', x.second, x.test, x.method,
                                    x.kind, sync_probe_internal.html_duration(x.stalled_ms * 1000),
                                    x.meanwhile), '; ' ORDER BY x.stalled_ms DESC) || '.'
                  FROM (SELECT * FROM sync_probe_internal.judged_seconds(r.run_id) AS x
                        WHERE x.kind IS NOT NULL
                        ORDER BY x.stalled_ms DESC LIMIT 5) AS x), 'No stall.')) AS caption,
       s.marks, sync_probe_internal.report_cells(r.run_id, data.paths) AS cells
FROM run AS r
JOIN (SELECT s.run_id, s.part, json_agg(mark ORDER BY s.ordinal, s.second) AS marks
      FROM second AS s,
           LATERAL (SELECT s.panel, s.method AS name, s.colour, nullif(s.number, 0) AS number,
                           s.at, s.second || ' s' AS words) AS mark
      GROUP BY s.run_id, s.part) AS s USING (run_id)
ORDER BY r.place, s.part
$$)

--
-- Section segments: what a segment of each kind takes, with its creation and its first flushes, in
-- the newest run of each location, or the chosen ones, at most 4.
--
UNION ALL VALUES (80, 'segments',
    'What does a new segment cost?', 'WAL segments',
    'The server renames an old segment (<code>recycle</code>, setting <code>wal_recycle</code>) or '
    'creates a file, of zeros (<code>zero_fill</code>, setting <code>wal_init_zero</code>) or with '
    'no blocks (<code>sparse</code>). What creation saves, the flushes may pay. A commit that '
    'needs a segment waits for its creation.', $$
SELECT 'bars' AS kind, concat_ws(', ', r.location, sync_probe_internal.clipped(r.label, 80))
           AS heading,
       concat_ws('. ', w.settings, upper(left(w.words, 1)) || substr(w.words, 2),
                 format('Run %s of %s, wal_sync_method = %s.', r.run_id,
                        sync_probe_internal.html_time(r.started_at), r.wal_sync_method)) AS caption,
       '{cur box,with the settings of the run,oth box,other}' AS key,
       (SELECT json_agg(mark ORDER BY t.n, m.ordinal)
        FROM (VALUES (1, 'segment', 'A whole segment, ms'), (2, 'create', 'To create it, ms'),
                     (3, 'first_flushes', 'A first flush, ms')) AS t (n, test, panel)
        JOIN sync_probe.measurements AS m ON m.test = t.test AND m.run_id = r.run_id,
             LATERAL (SELECT t.panel, m.method AS name, m.p50_us / 1000 AS number,
                             CASE m.choice WHEN 'current' THEN 'cur' END AS colour,
                             m.status AS words) AS mark) AS marks,
       sync_probe_internal.report_cells(r.run_id, data.paths) AS cells
FROM (SELECT * FROM unnest(data.runs || data.more) AS r WHERE r.suite = 'segments'
      ORDER BY r.location <> 'pg_wal', r.location, r.run_id DESC LIMIT 4) AS r,
     LATERAL (SELECT min(x.words) AS words,
                     string_agg(format('%s = %s: %s', s.setting, s.at_run,
                                       concat(s.verdict, CASE s.verdict WHEN 'switch'
                                                         THEN ' to ' || s.recommended END)), '; '
                                ORDER BY s.setting DESC) AS settings
              FROM (SELECT array_agg(m) FROM sync_probe.measurements AS m
                    WHERE m.run_id = r.run_id) AS a (rows)
              CROSS JOIN LATERAL sync_probe_internal.explain_segments(a.rows) AS x (words)
              LEFT JOIN LATERAL sync_probe_internal.segment_settings(a.rows) AS s ON true) AS w
$$)

--
-- Section tool: runs of the pg_test_fsync suite, measured or imported, on one scale, since readers
-- compare the bars of one with those of the next.
--
UNION ALL VALUES (110, 'tool',
    'What does pg_test_fsync report?', 'pg_test_fsync',
    'The tests of the program <code>pg_test_fsync</code>. They sync back to back, so they do not '
    'see what a server with pauses between commits sees. The program itself measures one method '
    'after the other: the noise of a minute then looks like a difference. It does not show whether '
    'a sync has reached the disk.', $$
SELECT 'bars' AS kind, 'ops/s' AS unit,
       concat_ws(', ', 'Run ' || r.run_id, r.location, sync_probe_internal.clipped(r.label, 80),
                 sync_probe_internal.report_origin(r)) AS heading,
       'Syncs per second, back to back. A star is O_DIRECT.' AS caption,
       '{cur box,current,oth box,other}' AS key,
       (SELECT json_agg(mark ORDER BY t.n, m.ordinal)
        FROM (VALUES (1, 'one_write', 'One write of %s kB'),
                     (2, 'two_writes', 'Two writes of %s kB')) AS t (n, test, title)
        JOIN sync_probe.measurements AS m ON m.test = t.test AND m.run_id = r.run_id,
             LATERAL (SELECT format(t.title, coalesce((r.flush_size / 1024)::text, '?')) AS panel,
                             concat(m.method, CASE WHEN m.direct_io THEN '*' END) AS name,
                             CASE m.choice WHEN 'current' THEN 'cur' END AS colour,
                             m.ops_per_sec AS number, m.status AS words) AS mark) AS marks,
       sync_probe_internal.report_cells(r.run_id, data.paths) AS cells
FROM unnest(data.runs) AS r
WHERE r.suite = 'pg_test_fsync'
$$)
