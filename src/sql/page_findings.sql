--
-- sync_probe_internal.page_findings
--
-- Findings, the worst first.  Those of info stand together by code, in the words of the first.
-- After 20 the rest is counted.
--
CREATE FUNCTION sync_probe_internal.page_findings(data sync_probe_internal.report_data)
RETURNS sync_probe_internal.section
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
WITH finding AS (
    SELECT min(f.n) AS n, f.severity, f.code,
           string_agg(f.location, ', ' ORDER BY f.n) AS locations,
           (array_agg(f.message ORDER BY f.n))[1] AS message,
           (array_agg(f.hint ORDER BY f.n))[1] AS hint,
           (array_agg(to_jsonb(f.commands) ORDER BY f.n))[1] AS commands
    FROM unnest(data.findings) WITH ORDINALITY
         AS f (location, severity, code, message, hint, commands, evidence, n)
    GROUP BY f.severity, f.code, CASE WHEN f.severity <> 'info' THEN f.n END
), numbered AS (
    SELECT *, row_number() OVER (ORDER BY n) AS number, count(*) OVER () AS findings
    FROM finding
)
SELECT ROW('findings', 'Findings', 'Findings',
    'An error puts data at risk, a warning asks for action, and an info is good to know before you '
    'believe a number. Those of one kind stand together, in the words of the first.',
    string_agg(concat(
        format('<div class="fi %s" id=finding-%s><p class=sv>%s</p><div>',
               sync_probe_internal.html_class(severity), number,
               sync_probe_internal.html_tag(severity)),
        format('<h3><code>%s</code> <span class=sm>%s</span></h3>',
               sync_probe_internal.html_escape(code),
               sync_probe_internal.html_escape(locations)),
        '<p>' || sync_probe_internal.html_prose(message) || '</p>',
        '<p>' || sync_probe_internal.html_prose(hint) || '</p>',
        sync_probe_internal.html_code(
            ARRAY(SELECT jsonb_array_elements_text(commands)
                  WHERE jsonb_typeof(commands) = 'array')),
        E'</div></div>\n'), '' ORDER BY number) FILTER (WHERE number <= 20)
    || CASE WHEN max(findings) > 20
            THEN format('<p class=note>%s more are in <code>sync_probe.findings</code>.</p>',
                        max(findings) - 20) ELSE '' END)::sync_probe_internal.section
FROM numbered
HAVING count(*) > 0
$$;

COMMENT ON FUNCTION sync_probe_internal.page_findings(sync_probe_internal.report_data) IS
  'Section of the report: findings';
