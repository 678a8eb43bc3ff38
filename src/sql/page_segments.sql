--
-- sync_probe_internal.segments_figure
--
-- A run of the suite segments: what a segment of each kind takes, with its creation and its first
-- flushes.
--
CREATE FUNCTION sync_probe_internal.segments_figure(run sync_probe.runs)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
WITH panel (n, test, id, title, scale) AS (VALUES
    (1, 'segment', 'whole', 'A whole segment, ms', 1e3),
    (2, 'create', 'create', 'To create it, ms', 1e3),
    (3, 'first_flushes', 'flush', 'A first flush, ms', 1e3)
), measured AS (
    SELECT m.*, CASE m.method WHEN 'recycle' THEN 1 WHEN 'zero_fill' THEN 2 ELSE 3 END AS place
    FROM sync_probe.measurements AS m WHERE m.run_id = run.run_id
), plot AS (
    SELECT p.n, sync_probe_internal.html_bars(format('segments-%s-%s', run.run_id, p.id), p.title,
               array_agg(m.method ORDER BY m.place),
               array_agg(CASE WHEN m.choice = 'current' THEN 'f cur' ELSE 'f oth' END
                         ORDER BY m.place),
               array_agg(m.p50_us / p.scale ORDER BY m.place),
               array_agg(m.status ORDER BY m.place), NULL,
               sync_probe_internal.html_linear_axis(max(m.p50_us / p.scale), NULL)) AS html
    FROM panel AS p JOIN measured AS m USING (test)
    GROUP BY p.n, p.id, p.title
    HAVING max(m.p50_us) > 0
)
SELECT sync_probe_internal.html_figure(
    '<div class=tri>' || string_agg(p.html, '' ORDER BY p.n) || '</div>',
    (SELECT concat_ws('. ', string_agg(format('%s = %s: %s', s.setting, s.at_run,
                 CASE s.verdict WHEN 'switch' THEN 'switch to ' || s.recommended
                                ELSE s.verdict END), '; ' ORDER BY s.setting DESC),
                 upper(left(w.words, 1)) || substr(w.words, 2),
                 format('Run %s of %s, wal_sync_method = %s.', run.run_id,
                        sync_probe_internal.html_time(run.started_at), run.wal_sync_method))
     FROM (SELECT array_agg(m) FROM sync_probe.measurements AS m
           WHERE m.run_id = run.run_id) AS a (rows)
     CROSS JOIN LATERAL sync_probe_internal.explain_segments(a.rows) AS w (words)
     LEFT JOIN LATERAL sync_probe_internal.segment_settings(a.rows) AS s ON true
     GROUP BY w.words),
    (SELECT sync_probe_internal.html_table(format('Segments of run %s', run.run_id),
                '{test,kind,choice,status,times,p50 us,p99 us,max us,speed,low,high,detail}',
                array_agg(ARRAY[m.test, m.method, m.choice, m.status,
                    sync_probe_internal.html_number(m.ops),
                    sync_probe_internal.html_number(m.p50_us),
                    sync_probe_internal.html_number(m.p99_us),
                    sync_probe_internal.html_number(m.max_us),
                    sync_probe_internal.html_factor(m.relative_speed),
                    sync_probe_internal.html_factor(m.relative_speed_low),
                    sync_probe_internal.html_factor(m.relative_speed_high), m.detail]
                    ORDER BY m.ordinal), 4) FROM measured AS m),
    concat_ws(', ', run.location, sync_probe_internal.clipped(nullif(run.label, ''), 80)),
    sync_probe_internal.html_key('cur box', 'with the settings of the run', 'oth box', 'other'))
FROM plot AS p
HAVING count(p.html) > 0
$$;

COMMENT ON FUNCTION sync_probe_internal.segments_figure(sync_probe.runs) IS
  'Figure of a run of the suite segments';

--
-- sync_probe_internal.page_segments
--
-- The newest run of each location, or the chosen ones, at most 4.
--
CREATE FUNCTION sync_probe_internal.page_segments(data sync_probe_internal.report_data)
RETURNS sync_probe_internal.section
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT ROW('segments', 'What does a new segment cost?', 'WAL segments',
    'The server renames an old segment (<code>recycle</code>, setting <code>wal_recycle</code>) or '
    'creates a file, of zeros (<code>zero_fill</code>, setting <code>wal_init_zero</code>) or with '
    'no blocks (<code>sparse</code>). What creation saves, the flushes may pay. A commit that '
    'needs a segment waits for its creation.',
    string_agg(f.html, '' ORDER BY f.n))::sync_probe_internal.section
FROM (SELECT row_number() OVER (ORDER BY r.location <> 'pg_wal', r.location, r.run_id DESC) AS n,
             sync_probe_internal.segments_figure(r) AS html
      FROM unnest(data.runs || data.more) AS r
      WHERE r.suite = 'segments'
      ORDER BY n LIMIT 4) AS f
HAVING count(f.html) > 0
$$;

COMMENT ON FUNCTION sync_probe_internal.page_segments(sync_probe_internal.report_data) IS
  'Section of the report: runs of the suite segments';
