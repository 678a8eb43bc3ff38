--
-- Section findings: the worst first.  After 20 the rest is counted.
--
UNION ALL VALUES (120, 'findings', 'Findings', 'Findings',
    'An error puts data at risk, a warning asks for action, and an info is good to know before you '
    'believe a number. Infos of one kind stand together, in the words of the first.', $$
SELECT concat(
    string_agg(concat(
        format('<div class="fi %s" id=finding-%s><p class=sv>%s</p><div>',
               f.severity, f.number, sync_probe_internal.html_tag(f.severity)),
        format('<h3><code>%s</code> <span class="sm m">%s</span></h3>',
               sync_probe_internal.html_escape(f.code),
               sync_probe_internal.html_escape(array_to_string(f.locations, ', '))),
        '<p>' || sync_probe_internal.html_prose(
            sync_probe_internal.clipped(f.message, 1000)) || '</p>',
        '<p>' || sync_probe_internal.html_prose(
            sync_probe_internal.clipped(f.hint, 1000)) || '</p>',
        sync_probe_internal.html_code(f.commands), '</div></div>'), '' ORDER BY f.number)
        FILTER (WHERE f.number <= 20),
    CASE WHEN count(*) > 20
         THEN format('<p class=note>%s more: see sync_probe.findings.</p>', count(*) - 20)
         END) AS html
FROM sync_probe_internal.report_findings(data) AS f
HAVING count(*) > 0
$$)

--
-- Section numbers: the tables that the figures are drawn from.  Measurements of 24 runs are shown,
-- so that a page of hundreds stays readable.
--
UNION ALL VALUES (130, 'numbers', 'All numbers',
    'All numbers',
    'What the figures are drawn from, and what they leave out. A dash means that there was nothing '
    'to measure, or too little to know it.', $$
SELECT format('<details%s><summary>%s</summary>%s</details>',
              CASE t.title WHEN 'Recommendations' THEN ' open' END,
              sync_probe_internal.html_escape(t.title),
              sync_probe_internal.html_table(t.title, t.cells)) AS html
FROM (
    SELECT 1 AS n, NULL::bigint AS i, 'Recommendations' AS title, json_agg(cell) AS cells
    FROM unnest(data.advice) AS a,
         LATERAL (SELECT a.location, a.verdict, a.current_method AS current,
                         a.recommended_method AS recommended, a.best_method AS "best so far",
                         a.durable, a.basis, a.max_regret, a.flush_us AS "flush us",
                         a.run_id::text AS run) AS cell
    UNION ALL
    SELECT 2, NULL, 'Runs', json_agg(cell)
    FROM unnest(data.runs) AS r,
         LATERAL (SELECT r.run_id::text AS run, r.suite, r.location,
                         sync_probe_internal.clipped(r.label, 60) AS label,
                         coalesce(sync_probe_internal.report_origin(r), 'this server') AS "from",
                         concat_ws(', ', r.host, 'PostgreSQL ' || r.server_version_num / 10000)
                             AS server, r.filesystem AS "file system", r.device,
                         r.storage ->> 'write_cache' AS "write cache", r.directory,
                         r.wal_sync_method AS method,
                         sync_probe_internal.html_time(r.finished_at) AS finished,
                         r.flush_size AS "flush bytes",
                         sync_probe_internal.html_duration(r.flush_interval) AS "flush interval",
                         sync_probe_internal.html_duration(r.finished_at - r.started_at) AS duration
                 ) AS cell
    UNION ALL
    SELECT 3, i, format('Measurements of run %s, %s', r.run_id, coalesce(r.location, r.suite)),
           sync_probe_internal.report_cells(r.run_id, data.paths)
    FROM generate_subscripts(data.runs, 1) AS i, LATERAL (SELECT (data.runs[i]).*) AS r
    WHERE i <= 24
    UNION ALL
    SELECT 4, NULL, 'Locations', json_agg(cell)
    FROM unnest(data.places) AS p,
         LATERAL (SELECT p.name, p.filesystem AS "file system", p.device,
                         p.write_cache AS "write cache", p.directory, p.mount_point AS "mounted at",
                         p.mount_options AS "mount options",
                         p.shares_filesystem_with AS "shares with",
                         pg_size_pretty(p.size_bytes) AS size,
                         pg_size_pretty(p.available_bytes) AS available) AS cell
    WHERE NOT data.chosen) AS t
WHERE t.cells IS NOT NULL
ORDER BY t.n, t.i
$$)
