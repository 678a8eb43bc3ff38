--
-- What follows the title: what to do where nothing was probed, why the verdict is what it is, and
-- where else syncs are not safe.
--
CREATE FUNCTION sync_probe_internal.report_lead(data sync_probe_internal.report_data)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT concat_ws('</p><p class=lead>', CASE WHEN cardinality(data.runs) = 0 THEN concat(
        CASE WHEN data.chosen THEN 'The list of runs is empty, so nothing can be shown.'
             WHEN pg_is_in_recovery()
             THEN 'This server is a standby, where probes return their rows and record nothing.'
             ELSE 'Nothing that counts was probed on this server yet. These statements probe each '
                  'file system for up to 5 seconds, and make this page again:' END, '</p>',
        sync_probe_internal.html_code('{SELECT * FROM sync_probe.probe_all()}'::text[]
            || CASE WHEN NOT pg_is_in_recovery() THEN 'SELECT sync_probe.report_html()' END),
        (SELECT '<p class=lead>Imported runs are shown in full only if they are named:</p>'
                || sync_probe_internal.html_code(ARRAY['SELECT sync_probe.report_html(ARRAY('
                       'SELECT run_id FROM sync_probe.runs WHERE imported_at IS NOT NULL))'])
         FROM sync_probe.runs AS r WHERE r.imported_at IS NOT NULL LIMIT 1), '<p class=lead>') END,
    (SELECT sync_probe_internal.html_prose(CASE
         WHEN a.verdict = 'switch' AND f.words IS NOT NULL
         THEN format('A flush %s takes %s.', CASE WHEN EXISTS (
                         SELECT FROM sync_probe.measurements AS m
                         WHERE m.run_id = a.run_id AND m.test = 'saturated'
                           AND m.verdict IS NOT NULL)
                         THEN 'back to back' ELSE 'at this cluster''s pace' END, f.words)
         WHEN a.verdict IN ('keep', 'undecided') AND b.words IS NOT NULL
         THEN format('With %s, a %s %s than with any method that was compared.',
                     sync_probe_internal.clipped(a.current_method, 60),
                     CASE WHEN a.basis IN ('trial', 'commit') THEN 'commit waits'
                          ELSE 'flush takes' END, b.words)
         ELSE format('On %s: %s.', a.location, sync_probe_internal.clipped(a.reason, 1000)) END)
     FROM unnest(data.advice) AS a,
          LATERAL sync_probe_internal.report_flush(a) AS f (words),
          LATERAL sync_probe_internal.html_bound(a.max_regret) AS b (words)
     WHERE NOT data.chosen AND a.location = 'pg_wal' AND a.run_id IS NOT NULL LIMIT 1),
    (SELECT format('The syncs of %s do not reach the device: %s.',
                   CASE count(*) WHEN 1 THEN 'one other location'
                                 ELSE format('%s other locations', count(*)) END,
                   sync_probe_internal.html_escape(sync_probe_internal.clipped(
                       string_agg(a.location, ', ' ORDER BY a.location), 200)))
     FROM unnest(data.advice) AS a
     WHERE NOT data.chosen AND a.location <> 'pg_wal' AND a.durable IN ('no', 'refuted')
       AND current_setting('fsync')::boolean
     HAVING count(*) > 0))
$$;

--
-- Location, storage and method of the newest run on pg_wal, or of the only run that was given.
--
CREATE FUNCTION sync_probe_internal.report_facts(data sync_probe_internal.report_data)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT string_agg(format('<div><dt>%s<dd>%s</div>', v.name, sync_probe_internal.html_prose(
                             sync_probe_internal.clipped(v.words, 200))), '' ORDER BY v.n)
FROM sync_probe_internal.this_server() AS s
LEFT JOIN LATERAL (SELECT * FROM unnest(data.runs) AS r
                   WHERE CASE WHEN data.chosen THEN cardinality(data.runs) = 1
                              ELSE r.location = 'pg_wal' END LIMIT 1) AS r ON true
LEFT JOIN unnest(data.places) AS l ON l.name = 'pg_wal',
     LATERAL (
    SELECT CASE WHEN data.paths THEN s.host END AS host,
           split_part(current_setting('server_version'), ' (', 1) AS version,
           current_setting('wal_sync_method') AS method, l.filesystem, l.device, l.write_cache,
           l.mount_options, l.directory WHERE NOT data.chosen
    UNION ALL
    SELECT r.host, (r.server_version_num / 10000)::text, r.wal_sync_method, r.filesystem, r.device,
           r.storage ->> 'write_cache', r.storage ->> 'mount_options', r.directory
    WHERE data.chosen) AS p,
     LATERAL (VALUES
    (1, 'Server', concat_ws(', ', p.host, 'PostgreSQL ' || p.version)),
    (2, 'Setting', 'wal_sync_method = ' || p.method),
    (3, CASE WHEN data.chosen THEN 'Storage' ELSE 'pg_wal lies on' END,
     concat_ws(', ', p.filesystem || coalesce(' on ' || p.device, ''), p.write_cache,
               'mounted ' || p.mount_options)),
    (4, 'Directory', p.directory),
    (5, 'A flush, as imitated', r.flush_size || ' bytes of WAL'
        || coalesce(' every ' || sync_probe_internal.html_duration(r.flush_interval), '')),
    (6, 'Measured', sync_probe_internal.html_time(r.finished_at)
        || coalesce(', ' || sync_probe_internal.html_duration(r.finished_at - r.started_at), '')),
    (7, 'Label', r.label),
    (8, 'Findings', (
        SELECT string_agg(concat(f.count, ' ', f.severity, CASE WHEN f.count > 1 THEN 's' END),
                          ', ' ORDER BY array_position('{error,warning,info}', f.severity))
        FROM (SELECT f.severity, count(*) FROM unnest(data.findings) AS f
              GROUP BY f.severity) AS f))) AS v (n, name, words)
WHERE v.words <> ''
$$;

--
-- report_html
--
-- doc/report.md describes it.
--
-- With many tablespaces the plans look costly enough to compile, which takes seconds.  Numbers have
-- all their digits, whatever the session shows, and queries mean the same.
--
CREATE FUNCTION sync_probe.report_html(
    run_ids bigint[] DEFAULT NULL,
    paths boolean DEFAULT true)
RETURNS text
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
SET jit = off
SET extra_float_digits = 1
SET standard_conforming_strings = on
AS $$
DECLARE
    data sync_probe_internal.report_data;
    title text;
    section record;
    body text;
    contents text := '';
    sections text := '';
    number integer := 0;
BEGIN
    PERFORM sync_probe_internal.require_monitor('report_html()');
    PERFORM sync_probe_internal.require_runs(run_ids);
    IF paths IS NULL THEN
        RAISE EXCEPTION 'argument "paths" must not be null'
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'true shows directories and host names, false leaves them out.';
    END IF;
    data := sync_probe_internal.report_data(run_ids, paths);
    IF NOT paths THEN
        -- whatever shows where the data are, and names of hosts, the longest first
        data := jsonb_populate_record(NULL::sync_probe_internal.report_data,
            sync_probe_internal.data_without_paths(to_jsonb(data), (
                SELECT coalesce(array_agg(s.name ORDER BY length(s.name) DESC, s.name), '{}')
                FROM (SELECT v #>> '{}' FROM jsonb_path_query(to_jsonb(data),
                          'strict $.** ? (@.type() == "object").keyvalue() ? (@.key like_regex
                               "^(directory|mount_point|host|backing_file|dataset|pool)$").value'
                          ) AS v
                      UNION SELECT s.host FROM sync_probe_internal.this_server() AS s
                      UNION SELECT current_setting('data_directory', true)) AS s (name)
                WHERE s.name NOT IN ('', '/'))));
    END IF;
    -- the verdict on pg_wal; of given runs, which these are
    title := CASE
        WHEN data.chosen AND cardinality(data.runs) = 1
        THEN format('Run %s: %s', (data.runs[1]).run_id,
                    concat_ws(', ', coalesce((data.runs[1]).location, (data.runs[1]).label),
                              'suite ' || (data.runs[1]).suite))
        WHEN data.chosen THEN (
            -- reports of pg_test_fsync do not have where they were made
            SELECT format('%s runs%s', count(*), coalesce(
                       ' of ' || string_agg(DISTINCT r.location, ', '),
                       ': ' || string_agg(DISTINCT nullif(r.label, ''), ', ')))
            FROM unnest(data.runs) AS r)
        ELSE coalesce((
            SELECT CASE a.verdict
                   WHEN 'outdated' THEN 'Probe pg_wal again: its run is outdated'
                   WHEN 'switch' THEN 'Set wal_sync_method to ' || a.recommended_method
                   WHEN 'unsafe' THEN concat('Commits are not safe', CASE
                       WHEN current_setting('fsync') = 'off' THEN ': fsync is off'
                       ELSE ': set wal_sync_method to ' || a.recommended_method END)
                   WHEN 'keep' THEN format('Keep wal_sync_method = %s', a.current_method)
                   WHEN 'undecided'
                   THEN format('Not settled: %s stays for now', a.current_method) END
            FROM unnest(data.advice) AS a
            WHERE a.location = 'pg_wal' LIMIT 1), 'No probe of pg_wal counts') END;
    title := sync_probe_internal.clipped(title, 120);
    FOR section IN SELECT * FROM sync_probe_internal.report_sections() AS s ORDER BY s.place LOOP
        EXECUTE format($q$
            SELECT string_agg(sync_probe_internal.html_figure(%1$L || f.n, %2$L, f.figure),
                              '' ORDER BY f.n)
            FROM (SELECT row_to_json(f) AS figure, row_number() OVER () AS n
                  FROM unnest(ARRAY[$1]) AS data, LATERAL (%3$s) AS f) AS f$q$,
            section.id || '-', section.title, section.query) INTO body USING data;
        CONTINUE WHEN body IS NULL;
        number := number + 1;
        contents := contents || format('<li><a href=#%s>%s</a>', section.id,
                                       sync_probe_internal.html_prose(section.short_title));
        sections := sections
            || format(E'\n<section id=%1$s aria-labelledby=%1$s-h><div class=hd><h2 id=%1$s-h>'
                      '<b>%2$s</b>%3$s</h2><p class=how>%4$s</p></div><div class=body>%5$s</div>'
                      '</section>',
                      section.id, number, sync_probe_internal.html_prose(section.title),
                      section.how_html, body);
    END LOOP;
    RETURN concat(
        E'<!DOCTYPE html>\n<html lang=en><head><meta charset=utf-8>',
        '<meta name=viewport content="width=device-width,initial-scale=1">',
        E'<meta name=color-scheme content="light dark">\n<title>pg_sync_probe: ',
        sync_probe_internal.html_prose(title), '</title><style>', sync_probe_internal.html_style(),
        '</style></head><body><a class=skip href=#main>Skip to the first section</a>',
        '<svg class=defs width=0 height=0 aria-hidden=true>',
        '<path id=cross d="M-4-4 4 4M-4 4 4-4"/></svg>',
        E'\n<div class=page><header id=top><p class=kicker>pg_sync_probe report</p><h1>',
        sync_probe_internal.html_escape(title), '</h1>',
        '<p class=lead>' || nullif(sync_probe_internal.report_lead(data), '') || '</p>',
        '<dl class=facts>' || sync_probe_internal.report_facts(data) || '</dl>',
        -- verdicts at a glance
        (SELECT '<ul class=glance>' || string_agg(
             format('<li class="%s"><a href=#%s><b>%s</b> <span class=m>%s</span></a>', a.verdict,
                    CASE WHEN i <= 12 THEN 'verdict-' || i ELSE 'numbers' END,
                    sync_probe_internal.html_escape(coalesce(a.verdict, 'unknown')),
                    sync_probe_internal.html_escape(concat_ws(' ', a.location,
                        CASE WHEN data.chosen THEN 'run ' || a.run_id END))), '' ORDER BY i)
             || '</ul>'
         FROM generate_subscripts(data.advice, 1) AS i, LATERAL (SELECT (data.advice[i]).*) AS a
         WHERE i <= 24),
        E'\n<nav aria-label=Contents><ol>' || nullif(contents, '') || '</ol></nav>',
        '</header><main id=main>', sections, E'</main>\n<footer class=sm>',
        format('<p>Made by <code>SELECT sync_probe.report_html()</code>, pg_sync_probe %s. All '
               'numbers are in the tables and views of schema <code>sync_probe</code>. '
               '<a href=#top>Back to the top</a></p>',
               (SELECT e.extversion FROM pg_extension AS e WHERE e.extname = 'pg_sync_probe')),
        '<p><i>Paced</i>: one flush in each flush interval, as commits come here. <i>Back to '
        'back</i>: one flush right after the other. Flushes that were counted are evidence, not '
        'proof: only pulling the plug proves a drive honest.</p>',
        E'</footer></div></body></html>\n');
END
$$;

REVOKE ALL ON FUNCTION sync_probe.report_html FROM PUBLIC;
GRANT EXECUTE ON FUNCTION sync_probe.report_html TO pg_monitor;

COMMENT ON FUNCTION sync_probe.report_html IS
  'Page of HTML with verdict, figures, findings and all numbers of this server''s newest runs, or '
  'of the given ones';
