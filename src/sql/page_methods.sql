--
-- sync_probe_internal.methods_table
--
-- The numbers of the forest plots of some runs.
--
CREATE FUNCTION sync_probe_internal.methods_table(
    data sync_probe_internal.report_data,
    caption text,
    run_ids bigint[])
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT sync_probe_internal.html_table(caption,
    '{location,method,durable,paced,low,high,back to back,low,high}',
    array_agg(ARRAY[m.name, m.method, m.durable,
        sync_probe_internal.html_factor((m.paced).relative_speed),
        sync_probe_internal.html_factor((m.paced).relative_speed_low),
        sync_probe_internal.html_factor((m.paced).relative_speed_high),
        sync_probe_internal.html_factor((m.saturated).relative_speed),
        sync_probe_internal.html_factor((m.saturated).relative_speed_low),
        sync_probe_internal.html_factor((m.saturated).relative_speed_high)]
        ORDER BY m.n, (m.paced).ordinal), 3)
FROM unnest(data.methods) AS m
WHERE m.run_id = ANY (run_ids)
$$;

COMMENT ON FUNCTION sync_probe_internal.methods_table(sync_probe_internal.report_data, text,
  bigint[]) IS
  'Table of the speeds of methods';

--
-- sync_probe_internal.methods_plot
--
-- Forest plot of the methods of a run, the fastest at the cluster's pace first.  The current
-- method's own row compares two copies of it.
--
CREATE FUNCTION sync_probe_internal.methods_plot(
    data sync_probe_internal.report_data,
    of_run bigint,
    axis sync_probe_internal.axis,
    wide boolean)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
WITH method AS (
    SELECT m.*, row_number() OVER (
               ORDER BY CASE WHEN wide THEN (m.paced).relative_speed END DESC NULLS LAST,
                        (m.paced).ordinal) AS place
    FROM unnest(data.methods) AS m
    WHERE m.run_id = of_run AND num_nonnulls((m.paced).relative_speed,
                                             (m.saturated).relative_speed) > 0
)
SELECT sync_probe_internal.html_forest('speed-' || of_run,
    format('Speed of the methods relative to %s, on %s',
           coalesce(min(m.method) FILTER (WHERE m.is_current), 'the current one'), min(m.name)),
    array_agg(ROW(m.method, CASE WHEN m.is_current THEN 'current, A/A'
                                 WHEN m.durable = 'no' THEN 'not durable'
                                 WHEN m.is_advised THEN 'recommended' END,
                  m.colour, s.shape, (s.measured).relative_speed,
                  (s.measured).relative_speed_low, (s.measured).relative_speed_high
                 )::sync_probe_internal.forest_mark ORDER BY m.place, s.shape),
    axis, 'slower',
    format('faster than %s', min(m.method) FILTER (WHERE m.is_current)), wide)
FROM method AS m
CROSS JOIN LATERAL (VALUES ('dot', m.paced), ('ring', m.saturated)) AS s (shape, measured)
$$;

COMMENT ON FUNCTION sync_probe_internal.methods_plot(sync_probe_internal.report_data, bigint,
  sync_probe_internal.axis, boolean) IS
  'Forest plot of the methods of a run';

--
-- sync_probe_internal.page_methods
--
-- Speeds of the methods: the first location large, up to 7 others small.  Where the current
-- method's syncs do not reach the device nothing is compared.
--
CREATE FUNCTION sync_probe_internal.page_methods(data sync_probe_internal.report_data)
RETURNS sync_probe_internal.section
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
WITH place AS (
    SELECT m.n, m.run_id, m.name, min(p.verdict) AS verdict,
           bool_or(m.is_current AND m.durable = 'no') AS is_void,
           least(min((m.paced).relative_speed_low), min((m.saturated).relative_speed)) AS lowest,
           greatest(max((m.paced).relative_speed_high), max((m.saturated).relative_speed))
               AS highest
    FROM unnest(data.methods) AS m
    JOIN unnest(data.probes) AS p USING (run_id)
    GROUP BY m.n, m.run_id, m.name
    HAVING count((m.paced).relative_speed) + count((m.saturated).relative_speed) > 0
), shown AS (
    SELECT *, row_number() OVER (ORDER BY n) AS number FROM place WHERE NOT is_void
), large AS (
    SELECT sync_probe_internal.html_figure(
               sync_probe_internal.methods_plot(data, s.run_id,
                   sync_probe_internal.html_ratio_axis(s.lowest, s.highest), true),
               format('Median of the current method''s time divided by this one''s, with 95 %% '
                      'confidence intervals; run %s. Shaded: the margin.', s.run_id),
               sync_probe_internal.methods_table(data, 'Speed relative to the current method, '
                                                       || s.name, ARRAY[s.run_id]), s.name,
               sync_probe_internal.html_key('cur dot', 'at this cluster''s pace',
                   'cur ring', 'back to back', 'cur band', 'margin')) AS html
    FROM shown AS s
    WHERE s.number = 1
), small AS (
    SELECT sync_probe_internal.html_figure(
               '<div class=tri>' || string_agg(sync_probe_internal.html_panel(s.name, s.verdict,
                   sync_probe_internal.methods_plot(data, s.run_id, a.axis, false)), ''
                   ORDER BY s.number) || '</div>',
               'The same axis for all.',
               sync_probe_internal.methods_table(data, 'Speed relative to the current method',
                                                 array_agg(s.run_id)),
               CASE WHEN data.chosen THEN 'Other runs' ELSE 'If the WAL lay elsewhere' END) AS html
    FROM shown AS s,
         LATERAL (SELECT sync_probe_internal.html_ratio_axis(min(o.lowest), max(o.highest))
                  FROM shown AS o WHERE o.number BETWEEN 2 AND 8) AS a (axis)
    WHERE s.number BETWEEN 2 AND 8
    HAVING count(*) > 0
)
SELECT ROW('speed', 'How much faster?', 'How much faster?',
    'A mark to the right of the shaded band is a method whose flushes take less time than those of '
    'the current one by more than the margin: 2&times; is half of the time. The line through a '
    'mark is its confidence interval. The row of the current method compares two copies of it, so '
    'it shows how much is noise.',
    concat((SELECT html FROM large), (SELECT html FROM small),
           '<p class=note>Not compared, because syncs do not reach the device: '
           || sync_probe_internal.html_escape(
                  (SELECT string_agg(name, ', ' ORDER BY n) FROM place WHERE is_void)) || '.</p>',
           (SELECT format('<p class=note>%s more %s in the tables at the end.</p>', count(*),
                          CASE count(*) WHEN 1 THEN 'is' ELSE 'are' END)
            FROM shown WHERE number > 8 HAVING count(*) > 0)))::sync_probe_internal.section
WHERE EXISTS (SELECT FROM shown)
$$;

COMMENT ON FUNCTION sync_probe_internal.page_methods(sync_probe_internal.report_data) IS
  'Section of the report: speeds of the methods';
