--
-- sync_probe_internal.page_findings
--
-- Findings, the worst first.  After 20 the rest is counted.
--
CREATE FUNCTION sync_probe_internal.page_findings(data sync_probe_internal.report_data)
RETURNS sync_probe_internal.section
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT ROW('findings', 'Findings', 'Findings',
    'An error puts data at risk, a warning asks for action, and an info is good to know before you '
    'believe a number. Infos of one kind stand together, in the words of the first.',
    string_agg(concat(
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
        E'</div></div>\n'), '' ORDER BY f.number) FILTER (WHERE f.number <= 20)
    || CASE WHEN count(*) > 20
            THEN format('<p class=note>%s more %s in <code>sync_probe.findings</code>.</p>',
                        count(*) - 20, CASE count(*) WHEN 21 THEN 'is' ELSE 'are' END)
            ELSE '' END)::sync_probe_internal.section
FROM sync_probe_internal.report_findings(data) AS f
HAVING count(*) > 0
$$;

COMMENT ON FUNCTION sync_probe_internal.page_findings(sync_probe_internal.report_data) IS
  'Section of the report: findings';
