--
-- sync_probe_internal.report_sections
--
-- The sections in their order.  One that has nothing to show is null.
--
CREATE FUNCTION sync_probe_internal.report_sections(data sync_probe_internal.report_data)
RETURNS sync_probe_internal.section[]
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT ARRAY[
    sync_probe_internal.page_verdict(data),
    sync_probe_internal.page_methods(data),
    sync_probe_internal.page_latency(data),
    sync_probe_internal.page_waits(data),
    sync_probe_internal.page_trials(data),
    sync_probe_internal.page_device(data),
    sync_probe_internal.page_stream(data),
    sync_probe_internal.page_segments(data),
    sync_probe_internal.page_history(data),
    sync_probe_internal.page_workloads(data),
    sync_probe_internal.page_tool(data),
    sync_probe_internal.page_findings(data),
    sync_probe_internal.page_numbers(data)
]
$$;

COMMENT ON FUNCTION sync_probe_internal.report_sections(sync_probe_internal.report_data) IS
  'The sections of the report';

--
-- sync_probe_internal.report_foot
--
CREATE FUNCTION sync_probe_internal.report_foot()
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT format('<p>Made by <code>SELECT sync_probe.report_html()</code>, pg_sync_probe %s. All '
              'numbers are in the tables and views of schema <code>sync_probe</code>. '
              '<a href=#top>Back to the top</a></p>',
              (SELECT e.extversion FROM pg_extension AS e WHERE e.extname = 'pg_sync_probe'))
       || '<p>At this cluster&#39;s pace, or paced: one flush in each flush interval, as commits '
          'come here. Back to back, or saturated: one flush right after the other. Flushes that '
          'were counted are evidence, not proof: only pulling the plug proves a drive honest.</p>'
$$;

COMMENT ON FUNCTION sync_probe_internal.report_foot() IS
  'The foot of the report';

--
-- report_html
--
-- One page of HTML that needs no other file: verdict, figures, findings and all numbers of the
-- newest runs of this server, or of the given runs.  paths => false leaves out directories, mount
-- points and names of hosts.  doc/report.md describes it.
--
-- With many tablespaces the plans look costly enough to compile, which takes seconds.  The
-- functions below are parsed when they are called, with backslashes as they were written.
-- Numbers have all their digits, whatever the session shows.
--
CREATE FUNCTION sync_probe.report_html(
    run_ids bigint[] DEFAULT NULL,
    paths boolean DEFAULT true)
RETURNS text
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
SET jit = off
SET standard_conforming_strings = on
SET extra_float_digits = 1
AS $$
DECLARE
    data sync_probe_internal.report_data;
BEGIN
    PERFORM sync_probe_internal.require_runs(run_ids);
    IF paths IS NULL THEN
        RAISE EXCEPTION 'argument "paths" must not be null'
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'true shows directories and host names, false leaves them out.';
    END IF;
    data := CASE WHEN run_ids IS NULL THEN sync_probe_internal.report_newest(paths)
                 ELSE sync_probe_internal.report_chosen(run_ids, paths) END;
    IF NOT paths THEN
        data := sync_probe_internal.report_without_paths(data);
    END IF;
    data := sync_probe_internal.report_complete(data);
    RETURN sync_probe_internal.html_page(
        'pg_sync_probe: '
            || sync_probe_internal.clipped(sync_probe_internal.report_title(data), 120),
        sync_probe_internal.report_head(data),
        sync_probe_internal.report_sections(data),
        sync_probe_internal.report_foot());
END
$$;

REVOKE ALL ON FUNCTION sync_probe.report_html(bigint[], boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION sync_probe.report_html(bigint[], boolean) TO pg_monitor;

COMMENT ON FUNCTION sync_probe.report_html(bigint[], boolean) IS
  'A page of HTML with verdict, figures, findings and all numbers: of this server''s newest runs, '
  'or of the given ones';
