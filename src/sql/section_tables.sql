--
-- Section findings: the worst first.  After 20 the rest is counted.
--
INSERT INTO sync_probe_internal.report_sections VALUES (120, 'findings', 'Findings', 'Findings',
    'An error puts data at risk, a warning asks for action, and an info is good to know before you '
    'believe a number. Infos of one kind stand together, in the words of the first.');

CREATE FUNCTION sync_probe_internal.section_findings(data sync_probe_internal.report_data)
RETURNS SETOF sync_probe_internal.figure
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT (jsonb_populate_record(NULL::sync_probe_internal.figure, jsonb_build_object('table_html',
    concat(string_agg(concat(
        format('<div class="fi %s" id=finding-%s><p class=sv>%s</p><div>',
               sync_probe_internal.html_class(f.severity), f.number,
               sync_probe_internal.html_tag(f.severity)),
        format('<h3><code>%s</code> <span class="sm m">%s</span></h3>',
               sync_probe_internal.html_escape(f.code),
               sync_probe_internal.html_escape(array_to_string(f.locations, ', '))),
        '<p>' || sync_probe_internal.html_prose(
            sync_probe_internal.clipped(f.message, 1000)) || '</p>',
        '<p>' || sync_probe_internal.html_prose(
            sync_probe_internal.clipped(f.hint, 1000)) || '</p>',
        sync_probe_internal.html_code(f.commands),
        E'</div></div>\n'), '' ORDER BY f.number) FILTER (WHERE f.number <= 20),
    sync_probe_internal.html_more(count(*) - 20, 'sync_probe.findings'))))).*
FROM sync_probe_internal.report_findings(data) AS f
HAVING count(*) > 0
$$;

--
-- Section numbers: the tables that the figures are drawn from.  Measurements of 24 runs are shown,
-- so that a page of hundreds stays readable.  detail names files, so that it goes with the paths.
--
INSERT INTO sync_probe_internal.report_sections VALUES (130, 'numbers', 'All numbers',
    'All numbers',
    'What the figures are drawn from, and what they leave out. Times are in microseconds. A dash '
    'means that there was nothing to measure, or too little to know it.');

CREATE FUNCTION sync_probe_internal.section_numbers(data sync_probe_internal.report_data)
RETURNS SETOF sync_probe_internal.figure
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT (jsonb_populate_record(NULL::sync_probe_internal.figure, jsonb_build_object('table_html',
           format('<details%s><summary>%s</summary>%s</details>',
                  CASE t.n WHEN 1 THEN ' open' END, sync_probe_internal.html_escape(t.title),
                  sync_probe_internal.html_table(t.title, t.head, t.cells, t.text_columns))))).*
FROM (
    SELECT 1 AS n, 0 AS i, 'Recommendations' AS title,
           '{location,verdict,current,recommended,best so '
           'far,durable,basis,max_regret,regime,flush,commit_delay,run}'::text[] AS head,
           array_agg(ARRAY[a.location, a.verdict, a.current_method, a.recommended_method,
               a.best_method, a.durable, a.basis, a.max_regret::text, a.deciding_test,
               sync_probe_internal.html_number(a.flush_us), a.recommended_commit_delay::text,
               a.run_id::text] ORDER BY i) AS cells, 7 AS text_columns
    FROM generate_subscripts(data.advice, 1) AS i, LATERAL (SELECT (data.advice[i]).*) AS a
    UNION ALL
    SELECT 2, 0, 'Runs',
           '{run,suite,location,label,from,server,file system,device,write cache,directory,method,'
           'finished,flush bytes,flush interval,duration}',
           array_agg(ARRAY[r.run_id::text, r.suite, r.location::text,
               sync_probe_internal.clipped(r.label, 60),
               coalesce(sync_probe_internal.report_origin(data.runs[i]), 'this server'),
               concat_ws(', ', r.host, 'PostgreSQL ' || r.server_version_num / 10000),
               r.filesystem, r.device, r.storage ->> 'write_cache', r.directory, r.wal_sync_method,
               sync_probe_internal.html_time(r.finished_at),
               to_char(r.flush_size, 'FM999,999,999,999'),
               sync_probe_internal.html_duration(r.flush_interval),
               sync_probe_internal.html_duration(r.finished_at - r.started_at)] ORDER BY i), 12
    FROM generate_subscripts(data.runs, 1) AS i, LATERAL (SELECT (data.runs[i]).*) AS r
    UNION ALL
    SELECT 3, i, format('Measurements of run %s, %s', r.run_id,
                        coalesce(min(r.location), min(r.suite))),
           '{test,method,O_DIRECT,status,ops,per second,mean,p50,p99,max,speed,low,high,'
           'flushes/op,bytes/op,busy %,detail}',
           array_agg(ARRAY[m.test, m.method, m.direct_io::text, m.status,
               to_char(m.ops, 'FM999,999,999,999'), sync_probe_internal.html_number(m.ops_per_sec),
               sync_probe_internal.html_number(m.mean_us),
                   sync_probe_internal.html_number(m.p50_us),
               sync_probe_internal.html_number(m.p99_us), sync_probe_internal.html_number(m.max_us),
               sync_probe_internal.html_factor(m.relative_speed),
               sync_probe_internal.html_factor(m.relative_speed_low),
               sync_probe_internal.html_factor(m.relative_speed_high),
               sync_probe_internal.html_factor(m.flushes_per_op),
               sync_probe_internal.html_number(m.device_bytes_per_op),
               sync_probe_internal.html_number(100 * m.device_utilization),
               CASE WHEN data.paths THEN m.detail END] ORDER BY m.ordinal), 4
    FROM generate_subscripts(data.runs, 1) AS i, LATERAL (SELECT (data.runs[i]).*) AS r
    JOIN sync_probe.measurements AS m ON m.run_id = r.run_id
    WHERE i <= 24 GROUP BY i, r.run_id
    UNION ALL
    SELECT 4, 0, 'Locations',
           '{name,file system,device,write cache,directory,mounted at,mount options,shares '
           'with,size,'
           'available}',
           array_agg(ARRAY[p.name, p.filesystem, p.device, p.write_cache, p.directory,
               p.mount_point, p.mount_options, p.shares_filesystem_with,
               pg_size_pretty(p.size_bytes), pg_size_pretty(p.available_bytes)] ORDER BY i), 8
    FROM generate_subscripts(data.places, 1) AS i, LATERAL (SELECT (data.places[i]).*) AS p
    WHERE NOT data.chosen) AS t
WHERE t.cells IS NOT NULL
ORDER BY t.n, t.i
$$;
