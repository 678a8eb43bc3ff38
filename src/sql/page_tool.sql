--
-- sync_probe_internal.tool_figure
--
-- A run of the pg_test_fsync suite, measured or imported: bars of operations per second, and all
-- tests as a table.  most: where the axis ends, the same for all runs of the page, since readers
-- compare the bars of one with those of the next.
--
CREATE FUNCTION sync_probe_internal.tool_figure(run sync_probe.runs, most double precision)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
WITH test (n, test, title) AS (VALUES
    (1, 'one_write', 'One write of %s kB'),
    (2, 'two_writes', 'Two writes of %s kB')
), bar AS (
    -- an imported report may be of a server with another block size
    SELECT t.n, t.test, format(t.title, max(m.write_size) OVER () / 1024) AS title,
           sync_probe_internal.clipped(m.method, 60)
               || CASE WHEN m.direct_io THEN '*' ELSE '' END AS name,
           m.status, m.ops_per_sec,
           row_number() OVER (PARTITION BY t.n ORDER BY m.ordinal)::integer AS place,
           CASE WHEN m.choice = 'current' THEN 'f cur' ELSE 'f oth' END AS classes
    FROM test AS t
    JOIN sync_probe.measurements AS m ON m.run_id = run.run_id AND m.test = t.test
), axis AS (
    SELECT sync_probe_internal.html_linear_axis(most, '') AS axis
), plot AS (
    SELECT b.n, sync_probe_internal.html_panel(b.title, NULL, sync_probe_internal.html_plot(
               format('tool-%s-%s', run.run_id, b.n), 26 * max(b.place) + 22,
               format('%s, syncs per second, run %s', b.title, run.run_id),
               string_agg(format('%s %s', b.name,
                                 coalesce(sync_probe_internal.html_number(b.ops_per_sec),
                                          b.status)), '; ' ORDER BY b.place),
               sync_probe_internal.html_grid(a.axis, 0, 26 * max(b.place))
               || string_agg(sync_probe_internal.html_row_name(26 * b.place - 9, b.name)
                             || sync_probe_internal.html_bar(a.axis, 26 * b.place - 20,
                                    b.ops_per_sec, b.classes,
                                    coalesce(sync_probe_internal.html_number(b.ops_per_sec),
                                             b.status)), E'\n' ORDER BY b.place))) AS html
    FROM bar AS b, axis AS a
    GROUP BY b.n, b.title, a.axis
)
SELECT sync_probe_internal.html_figure(
    '<div class=duo>' || string_agg(p.html, '' ORDER BY p.n) || '</div>',
    'Syncs per second, back to back, on one scale for all runs. A star is O_DIRECT.',
    (SELECT sync_probe_internal.html_table(format('All tests of run %s', run.run_id),
                '{test,method,O_DIRECT,write size,writes per sync,status,ops/s,us per op}',
                array_agg(ARRAY[m.test, m.method, CASE WHEN m.direct_io THEN 'yes' ELSE 'no' END,
                                m.write_size::text, m.writes_per_sync::text, m.status,
                                sync_probe_internal.html_number(m.ops_per_sec),
                                sync_probe_internal.html_number(m.mean_us)] ORDER BY m.ordinal), 3)
     FROM sync_probe.measurements AS m WHERE m.run_id = run.run_id),
    concat_ws(', ', 'Run ' || run.run_id, run.location,
              sync_probe_internal.clipped(nullif(run.label, ''), 80),
              sync_probe_internal.report_origin(run)))
FROM plot AS p
HAVING count(*) > 0
$$;

COMMENT ON FUNCTION sync_probe_internal.tool_figure(sync_probe.runs, double precision) IS
  'Figure of a run of the pg_test_fsync suite';

--
-- sync_probe_internal.page_tool
--
CREATE FUNCTION sync_probe_internal.page_tool(data sync_probe_internal.report_data)
RETURNS sync_probe_internal.section
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT ROW('tool', 'What does pg_test_fsync say?', 'pg_test_fsync',
    'These are the tests of the program <code>pg_test_fsync</code>. They sync back to back, so '
    'that they do not see what a server with pauses between commits sees. The program itself '
    'measures one method after the other: noise of a minute then looks like a difference. Its '
    'output does not tell whether a sync has reached the disk.',
    string_agg(f.html, '' ORDER BY i))::sync_probe_internal.section
FROM generate_subscripts(data.runs, 1) AS i,
     (SELECT max(m.ops_per_sec)
      FROM unnest(data.runs) AS r JOIN sync_probe.measurements AS m ON m.run_id = r.run_id
      WHERE r.suite = 'pg_test_fsync' AND m.test IN ('one_write', 'two_writes')) AS a (most),
     LATERAL (SELECT sync_probe_internal.tool_figure(data.runs[i], a.most)) AS f (html)
WHERE (data.runs[i]).suite = 'pg_test_fsync' AND f.html <> ''
HAVING count(*) > 0
$$;

COMMENT ON FUNCTION sync_probe_internal.page_tool(sync_probe_internal.report_data) IS
  'Section of the report: runs of the pg_test_fsync suite';
