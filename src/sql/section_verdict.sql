--
-- The verdict on a location in a few words, as HTML.  The methods are values of the history, which
-- may be anything.
--
CREATE FUNCTION sync_probe_internal.report_sentence(advice sync_probe.recommendation_details)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT CASE
    WHEN advice.verdict = 'switch' THEN coalesce(' from ' || m.now, '') || ' to ' || m.advised
    WHEN advice.verdict = 'unsafe' AND m.advised IS NOT NULL THEN ': use ' || m.advised
    WHEN advice.verdict = 'unsafe' AND advice.run_id IS NOT NULL
    THEN ': no method was seen to be safe'
    WHEN advice.verdict = 'keep' THEN ' ' || m.now
    WHEN advice.verdict = 'undecided' THEN ': stay with ' || m.now || ' for now' END
FROM (SELECT '<code>' || sync_probe_internal.html_escape(
                             sync_probe_internal.clipped(advice.current_method, 60)) || '</code>',
             '<code>' || sync_probe_internal.html_escape(
                             sync_probe_internal.clipped(advice.recommended_method, 60))
                      || '</code>') AS m (now, advised)
$$;

--
-- Time of a flush with the recommended method in the regime that decides, and with the current
-- one.
--
CREATE FUNCTION sync_probe_internal.report_flush(advice sync_probe.recommendation_details)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT sync_probe_internal.html_duration(advice.flush_us)
       || coalesce(', with ' || sync_probe_internal.clipped(min(m.method), 60) || ' ' ||
                   min(sync_probe_internal.html_duration(m.mean_us)), '')
FROM (SELECT) AS one
LEFT JOIN sync_probe.measurements AS m
    ON m.run_id = advice.run_id AND m.test = advice.deciding_test
    AND m.method = advice.current_method AND NOT m.direct_io
    AND advice.recommended_method <> advice.current_method
$$;

--
-- The verdict on one location, or of one run.
--
CREATE FUNCTION sync_probe_internal.report_panel(
    data sync_probe_internal.report_data,
    number bigint,
    advice sync_probe.recommendation_details)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT concat(
    format('<article id=verdict-%s class="v %s %s"><div class=vh><h3 class=m>%s</h3>', number,
           CASE WHEN number = 1 THEN 'big' END, sync_probe_internal.html_class(advice.verdict),
           concat_ws(' ', sync_probe_internal.html_escape(
                              coalesce(advice.location, CASE WHEN data.chosen THEN ''
                                                             ELSE 'unknown' END)),
                     CASE WHEN data.chosen THEN 'run ' || advice.run_id END)),
    '<span class=sm>' || sync_probe_internal.html_escape(concat_ws(', ',
        r.filesystem || coalesce(' on ' || r.device, ''), r.storage ->> 'write_cache'))
            || '</span></div>',
    '<p class=vw>' || sync_probe_internal.html_tag(coalesce(advice.verdict, 'unknown')),
    sync_probe_internal.report_sentence(advice),
    ' <span class=from>' || r.origin || '</span>',
    '</p><p class=why>' || sync_probe_internal.html_prose(
        sync_probe_internal.clipped(advice.reason, 1000)) || '</p>',
    '<dl class=figures>',
    '<div><dt>Durable<dd>' || sync_probe_internal.html_tag(advice.durable) || '</div>',
    '<div><dt>A flush takes<dd>'
        || sync_probe_internal.html_prose(sync_probe_internal.report_flush(advice)) || '</div>',
    '<div><dt>Current method takes<dd>' || sync_probe_internal.html_prose(
        sync_probe_internal.html_bound(advice.max_regret)) || '</div>',
    '<div><dt>Rests on<dd>' || sync_probe_internal.html_escape(
        CASE advice.basis WHEN 'wal' THEN 'probe' WHEN 'commit' THEN 'suite commit'
                          ELSE advice.basis END || ', run ' || advice.run_id) || '</div>',
    (SELECT format('<div><dt>Worst finding<dd><a href=#%s>%s</a></div>',
                   CASE WHEN f.number <= 20 THEN 'finding-' || f.number ELSE 'findings' END,
                   sync_probe_internal.html_escape(f.severity || ', ' || f.code))
     FROM sync_probe_internal.report_findings(data) AS f
     WHERE r.origin IS NULL
       AND CASE WHEN data.chosen THEN advice.run_id = ANY (f.run_ids)
                ELSE advice.location = ANY (f.locations) END
     ORDER BY f.number LIMIT 1),
    '</dl>', sync_probe_internal.html_code(advice.commands), E'</article>\n')
FROM (VALUES (1)) AS one
LEFT JOIN LATERAL (
    SELECT r.filesystem, r.device, r.storage,
           sync_probe_internal.report_origin(data.runs[i]) AS origin
    FROM generate_subscripts(data.runs, 1) AS i, LATERAL (SELECT (data.runs[i]).*) AS r
    WHERE r.run_id = advice.run_id OR NOT data.chosen AND r.location = advice.location
    LIMIT 1) AS r ON true
$$;

--
-- Section verdict: the first large, the others small.  After 12 the rest is counted: the table of
-- all numbers has them.
--
INSERT INTO sync_probe_internal.report_sections VALUES (10, 'verdict', 'Verdict', 'Verdict',
    'Each panel judges one location, or one run, by the strongest measurement of it. '
    '<code>wal_sync_method</code> is one setting for the whole cluster and acts on '
    '<code>pg_wal</code> alone. The panel of a tablespace shows which method would be best if '
    'pg_wal were on that file system.');

CREATE FUNCTION sync_probe_internal.section_verdict(data sync_probe_internal.report_data)
RETURNS SETOF sync_probe_internal.figure
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT (jsonb_populate_record(NULL::sync_probe_internal.figure, jsonb_build_object('table_html',
    concat(string_agg(p.html, '') FILTER (WHERE p.number = 1),
           '<div class=pair>' || string_agg(p.html, '' ORDER BY p.number)
                                     FILTER (WHERE p.number BETWEEN 2 AND 12) || '</div>',
           sync_probe_internal.html_more(count(*) - 12, 'the tables at the end'),
           '<p class=note>Not probed separately, because they share a file system: '
           || sync_probe_internal.html_escape((
               SELECT string_agg(format('%s (with %s)', l.name, l.shares_filesystem_with), ', '
                                 ORDER BY l.name)
               FROM unnest(data.places) AS l
               WHERE NOT data.chosen AND l.shares_filesystem_with IS NOT NULL
                 AND NOT EXISTS (SELECT FROM unnest(data.advice) AS a
                                 WHERE a.location = l.name))) || '.</p>')))).*
FROM (SELECT p.number, CASE WHEN p.number <= 12
                            THEN sync_probe_internal.report_panel(data, p.number, data.advice[p.n])
                            END AS html
      FROM sync_probe_internal.report_panels(data) AS p) AS p
HAVING count(*) > 0
$$;
