--
-- Section stream: rate and longest flush over the seconds of the newest stream of each location, or
-- of the chosen ones, at most 4 runs of up to 9 test cases.
--
INSERT INTO sync_probe_internal.report_sections VALUES (70, 'stream',
    'How fast does WAL stream, and does it stall?', 'Streams',
    'A stream writes and syncs without a rest. The test cases take turns of a second. Where all '
    'lines change at once, the storage has changed, not the method.');

CREATE FUNCTION sync_probe_internal.section_stream(data sync_probe_internal.report_data)
RETURNS SETOF sync_probe_internal.figure
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
WITH run AS (
    SELECT r AS run, r.run_id, row_number() OVER (ORDER BY r.location <> 'pg_wal', r.location,
                                                           r.run_id DESC) AS place
    FROM unnest(data.runs || data.more) AS r WHERE r.suite = 'stream'
    ORDER BY place LIMIT 4
), second AS (
    -- at most 100 points for each test case
    SELECT r.place, r.run_id, s.ordinal, f.part, min(s.second) AS second,
           CASE f.part WHEN 1 THEN min(s.bytes / nullif(s.length_ms, 0)) / 1048.576 ELSE max(s.slowest_us) / 1000 END AS number,
           avg((s.second + 0.5) / t.total) AS at, max(t.total) AS total
    FROM run AS r
    JOIN sync_probe.stream_seconds AS s USING (run_id),
         LATERAL (SELECT max(o.second) + 1 AS total FROM sync_probe.stream_seconds AS o
                  WHERE o.run_id = r.run_id) AS t, (VALUES (1), (2)) AS f (part)
    GROUP BY r.place, r.run_id, s.ordinal, f.part, floor(100.0 * s.second / t.total)
), panel AS (
    SELECT s.place, s.part, m.ordinal,
           ROW(concat(m.test, ' ', m.method, CASE WHEN m.direct_io THEN '*' END), NULL,
               array_agg(ROW(m.method, NULL, CASE WHEN m.method = (r.run).wal_sync_method THEN 'cur'
                             ELSE 'oth' END, 'dot', nullif(s.number, 0), NULL, NULL, s.at,
                             s.second || ' s')::sync_probe_internal.mark
                         ORDER BY s.second))::sync_probe_internal.panel AS panel
    FROM second AS s JOIN run AS r USING (place)
    JOIN sync_probe.measurements AS m ON m.run_id = s.run_id AND m.ordinal = s.ordinal
    WHERE m.ordinal <= 9
    GROUP BY s.place, s.part, m.ordinal, m.test, m.method, m.direct_io
)
SELECT 'lines', format('%s, run %s: %s', (r.run).location, r.run_id,
                       CASE p.part WHEN 1 THEN 'MB per second' ELSE 'longest flush of each second'
                           END),
       CASE p.part WHEN 1 THEN 'MB/s' ELSE 'ms' END, NULL::float8,
       array_agg(p.panel ORDER BY p.ordinal),
       format('%s, %s, wal_sync_method = %s. A star is O_DIRECT. %s',
              sync_probe_internal.html_time((r.run).started_at),
              sync_probe_internal.html_duration((r.run).finished_at - (r.run).started_at),
              (r.run).wal_sync_method, coalesce(min(t.words), 'No stall.')), NULL::text[],
       (SELECT sync_probe_internal.html_table(format('Test cases of run %s', r.run_id),
                   '{test,method,O_DIRECT,status,flushes,p50 us,p99 us,max us,detail}',
                   array_agg(ARRAY[m.test, m.method, m.direct_io::text, m.status,
                       sync_probe_internal.html_number(m.ops),
                       sync_probe_internal.html_number(m.p50_us),
                       sync_probe_internal.html_number(m.p99_us),
                       sync_probe_internal.html_number(m.max_us), m.detail] ORDER BY m.ordinal), 4)
        FROM sync_probe.measurements AS m WHERE m.run_id = r.run_id)
FROM run AS r JOIN panel AS p USING (place)
LEFT JOIN LATERAL (
    SELECT 'Longest stalls: ' || string_agg(format('second %s, %s %s, %s of %s (%s)', x.second,
               x.test, x.method, x.kind, sync_probe_internal.html_duration(x.stalled_ms * 1000),
               x.meanwhile), '; ' ORDER BY x.stalled_ms DESC) || '.' AS words
    FROM (SELECT * FROM sync_probe_internal.stalls AS x WHERE x.run_id = r.run_id
          ORDER BY x.stalled_ms DESC LIMIT 5) AS x) AS t ON true
GROUP BY r.place, r.run, r.run_id, p.part
ORDER BY r.place, p.part
$$;

--
-- Section segments: what a segment of each kind takes, with its creation and its first flushes, in
-- the newest run of each location, or the chosen ones, at most 4.
--
INSERT INTO sync_probe_internal.report_sections VALUES (80, 'segments',
    'What does a new segment cost?', 'WAL segments',
    'The server renames an old segment (<code>recycle</code>, setting <code>wal_recycle</code>) or '
    'creates a file, of zeros (<code>zero_fill</code>, setting <code>wal_init_zero</code>) or with '
    'no blocks (<code>sparse</code>). What creation saves, the flushes may pay. A commit that '
    'needs a segment waits for its creation.');

CREATE FUNCTION sync_probe_internal.section_segments(data sync_probe_internal.report_data)
RETURNS SETOF sync_probe_internal.figure
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT 'bars', concat_ws(', ', r.location, sync_probe_internal.clipped(nullif(r.label, ''), 80)),
       NULL::text, NULL::float8, p.panels,
       concat_ws('. ', w.settings, upper(left(w.words, 1)) || substr(w.words, 2),
                 format('Run %s of %s, wal_sync_method = %s.', r.run_id,
                        sync_probe_internal.html_time(r.started_at), r.wal_sync_method)),
       '{cur box,with the settings of the run,oth box,other}'::text[],
       (SELECT sync_probe_internal.html_table(format('Segments of run %s', r.run_id),
                   '{test,kind,choice,status,times,p50 us,p99 us,max us,speed,low,high,detail}',
                   array_agg(ARRAY[m.test, m.method, m.choice, m.status,
                       sync_probe_internal.html_number(m.ops),
                       sync_probe_internal.html_number(m.p50_us),
                       sync_probe_internal.html_number(m.p99_us),
                       sync_probe_internal.html_number(m.max_us),
                       sync_probe_internal.html_factor(m.relative_speed),
                       sync_probe_internal.html_factor(m.relative_speed_low),
                       sync_probe_internal.html_factor(m.relative_speed_high), m.detail]
                       ORDER BY m.ordinal), 4)
        FROM sync_probe.measurements AS m WHERE m.run_id = r.run_id)
FROM (SELECT r.* FROM unnest(data.runs || data.more) AS r WHERE r.suite = 'segments'
      ORDER BY r.location <> 'pg_wal', r.location, r.run_id DESC LIMIT 4) AS r,
     LATERAL (SELECT array_agg(p.panel ORDER BY p.n) AS panels
              FROM (SELECT t.n, ROW(t.title, NULL, array_agg(ROW(m.method, NULL,
                               CASE m.choice WHEN 'current' THEN 'cur' ELSE 'oth' END, 'box',
                               m.p50_us / 1000, NULL, NULL, NULL,
                               m.status)::sync_probe_internal.mark ORDER BY m.ordinal)
                               )::sync_probe_internal.panel AS panel
                    FROM (VALUES (1, 'segment', 'A whole segment, ms'),
                                 (2, 'create', 'To create it, ms'),
                                 (3, 'first_flushes', 'A first flush, ms')) AS t (n, test, title)
                    JOIN sync_probe.measurements AS m ON m.test = t.test AND m.run_id = r.run_id
                    GROUP BY t.n, t.title) AS p) AS p,
     LATERAL (SELECT min(x.words) AS words,
                     string_agg(format('%s = %s: %s', s.setting, s.at_run,
                                       CASE s.verdict WHEN 'switch' THEN 'switch to '
                                           || s.recommended
                                                      ELSE s.verdict END), '; '
                                ORDER BY s.setting DESC) AS settings
              FROM (SELECT array_agg(m) FROM sync_probe.measurements AS m
                    WHERE m.run_id = r.run_id) AS a (rows)
              CROSS JOIN LATERAL sync_probe_internal.explain_segments(a.rows) AS x (words)
              LEFT JOIN LATERAL sync_probe_internal.segment_settings(a.rows) AS s ON true) AS w
WHERE p.panels IS NOT NULL
$$;

--
-- Section tool: runs of the pg_test_fsync suite, measured or imported, on one scale, since readers
-- compare the bars of one with those of the next.
--
INSERT INTO sync_probe_internal.report_sections VALUES (110, 'tool',
    'What does pg_test_fsync report?', 'pg_test_fsync',
    'The tests of the program <code>pg_test_fsync</code>. They sync back to back, so they do not '
    'see '
    'what a server with pauses between commits sees. The program itself measures one method after '
    'the other: the noise of a minute then looks like a difference. It does not show whether a '
    'sync has reached the disk.');

CREATE FUNCTION sync_probe_internal.section_tool(data sync_probe_internal.report_data)
RETURNS SETOF sync_probe_internal.figure
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT 'bars', concat_ws(', ', 'Run ' || r.run_id, r.location,
                         sync_probe_internal.clipped(nullif(r.label, ''), 80),
                         sync_probe_internal.report_origin(data.runs[i])), 'ops/s', NULL::float8,
       p.panels, 'Syncs per second, back to back. A star is O_DIRECT.',
       '{cur box,current,oth box,other}'::text[],
       (SELECT sync_probe_internal.html_table(format('All tests of run %s', r.run_id),
                   '{test,method,O_DIRECT,write size,status,ops/s,us per op}',
                   array_agg(ARRAY[m.test, m.method, m.direct_io::text, m.write_size::text,
                       m.status,
                       sync_probe_internal.html_number(m.ops_per_sec),
                       sync_probe_internal.html_number(m.mean_us)] ORDER BY m.ordinal), 3)
        FROM sync_probe.measurements AS m WHERE m.run_id = r.run_id)
FROM generate_subscripts(data.runs, 1) AS i, LATERAL (SELECT (data.runs[i]).*) AS r,
     LATERAL (SELECT array_agg(p.panel ORDER BY p.n) AS panels
              FROM (SELECT t.n, ROW(format(t.title, max(m.write_size) / 1024), NULL,
                               array_agg(ROW(concat(sync_probe_internal.clipped(m.method, 60),
                                                    CASE WHEN m.direct_io THEN '*' END), NULL,
                                   CASE m.choice WHEN 'current' THEN 'cur' ELSE 'oth' END, 'box',
                                   m.ops_per_sec, NULL, NULL, NULL,
                                   m.status)::sync_probe_internal.mark ORDER BY m.ordinal)
                               )::sync_probe_internal.panel AS panel
                    FROM (VALUES (1, 'one_write', 'One write of %s kB'),
                                 (2, 'two_writes', 'Two writes of %s kB')) AS t (n, test, title)
                    JOIN sync_probe.measurements AS m ON m.test = t.test AND m.run_id = r.run_id
                    GROUP BY t.n, t.title) AS p) AS p
WHERE r.suite = 'pg_test_fsync' AND p.panels IS NOT NULL
ORDER BY i
$$;
