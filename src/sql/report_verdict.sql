--
-- Time of a flush in the regime that decides, with the recommended method and the current one.
--
CREATE FUNCTION sync_probe_internal.report_flush(advice sync_probe.recommendation_details)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT sync_probe_internal.html_duration(advice.flush_us) || coalesce((
    SELECT format(', with %s %s', sync_probe_internal.clipped(m.method, 60),
                  sync_probe_internal.html_duration(m.mean_us))
    FROM sync_probe.measurements AS m
    WHERE m.run_id = advice.run_id AND m.verdict IS NOT NULL
      AND m.method = advice.current_method AND m.mean_us < 'Infinity'
      AND advice.recommended_method <> advice.current_method LIMIT 1), '')
$$;

--
-- The verdict on one location, or of one run.
--
CREATE FUNCTION sync_probe_internal.report_panel(
    data sync_probe_internal.report_data,
    number integer,
    advice sync_probe.recommendation_details)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT concat(
    format('<article id=verdict-%s class="v %s %s"><div class=vh><h3 class=m>%s</h3>', number,
           CASE WHEN number = 1 THEN 'big' END, advice.verdict,
           sync_probe_internal.html_escape(concat_ws(' ',
               advice.location, CASE WHEN data.chosen THEN 'run ' || advice.run_id END))),
    '<span class=sm>' || sync_probe_internal.html_escape(concat_ws(', ',
        r.filesystem || coalesce(' on ' || r.device, ''), r.write_cache)) || '</span></div>',
    '<p class=vw>' || sync_probe_internal.html_tag(coalesce(advice.verdict, 'unknown')),
    v.words,
    ' <span class=from>' || r.origin || '</span>',
    '</p><p class=why>' || sync_probe_internal.html_prose(
        sync_probe_internal.clipped(advice.reason, 1000)) || '</p>',
    '<dl class=figures>', f.facts, '</dl>', sync_probe_internal.html_code(advice.commands),
    E'</article>\n')
-- in a few words; the methods are values of the history, which may be anything
FROM (SELECT CASE
          WHEN advice.verdict = 'switch' THEN coalesce(' from ' || m.now, '') || ' to ' || m.advised
          WHEN advice.verdict = 'unsafe' AND advice.reason LIKE 'fsync is off%'
          THEN ': fsync is off'
          WHEN advice.verdict = 'unsafe' AND m.advised IS NOT NULL THEN ': use ' || m.advised
          WHEN advice.verdict = 'unsafe' AND advice.run_id IS NOT NULL
          THEN ': no method was seen to be safe'
          WHEN advice.verdict = 'keep' THEN ' ' || m.now
          WHEN advice.verdict = 'undecided' THEN ': stay with ' || m.now || ' for now' END
      FROM (SELECT '<code>' || sync_probe_internal.html_escape(
                       sync_probe_internal.clipped(advice.current_method, 60)) || '</code>',
                   '<code>' || sync_probe_internal.html_escape(
                       sync_probe_internal.clipped(advice.recommended_method, 60)) || '</code>'
           ) AS m (now, advised)) AS v (words)
LEFT JOIN LATERAL (
    SELECT r.filesystem, r.device, r.storage ->> 'write_cache' AS write_cache,
           sync_probe_internal.report_origin(r) AS origin
    FROM unnest(data.runs) AS r
    WHERE r.run_id = advice.run_id OR NOT data.chosen AND r.location = advice.location
    LIMIT 1) AS r ON true
LEFT JOIN LATERAL (
    SELECT string_agg(format('<div><dt>%s<dd>%s</div>', v.name, v.html), '' ORDER BY v.n) AS facts
    FROM (VALUES
        (1, 'Durable', sync_probe_internal.html_tag(advice.durable)),
        (2, 'A flush takes',
         sync_probe_internal.html_prose(sync_probe_internal.report_flush(advice))),
        (3, 'Current method takes',
         sync_probe_internal.html_prose(sync_probe_internal.html_bound(advice.max_regret))),
        (4, 'Rests on', sync_probe_internal.html_escape(
            CASE advice.basis WHEN 'wal' THEN 'probe' WHEN 'commit' THEN 'suite commit'
                              ELSE advice.basis END || ', run ' || advice.run_id)),
        (5, 'Worst finding', (
            SELECT format('<a href=#%s>%s</a>',
                          CASE WHEN f.number <= 20 THEN 'finding-' || f.number ELSE 'findings' END,
                          sync_probe_internal.html_escape(f.severity || ', ' || f.code))
            FROM sync_probe_internal.report_findings(data) AS f
            WHERE r.origin IS NULL
              AND CASE WHEN data.chosen THEN advice.run_id = ANY (f.run_ids)
                       ELSE advice.location = ANY (f.locations) END
            ORDER BY f.number LIMIT 1))) AS v (n, name, html)
    WHERE v.html IS NOT NULL) AS f ON true
$$;
