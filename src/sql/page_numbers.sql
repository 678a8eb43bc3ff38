--
-- sync_probe_internal.numbers_advice
--
CREATE FUNCTION sync_probe_internal.numbers_advice(data sync_probe_internal.report_data)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT '<details open><summary>Recommendations</summary>' || sync_probe_internal.html_table(
    'sync_probe.recommendation_details: times in us, commits per second relative to the present '
    'commit_delay, with 95 % confidence intervals',
    '{location,verdict,current,recommended,best so far,durable,basis,loss bound,regime,flush,'
    'commit_delay,by,commits,low,high,run,real commits,run}',
    array_agg(ARRAY[a.location, a.verdict, a.current_method, a.recommended_method, a.best_method,
        a.durable, a.basis, a.loss_bound::text, a.deciding_test,
        sync_probe_internal.html_number(a.flush_us),
        a.recommended_commit_delay::text, a.commit_delay_basis,
        sync_probe_internal.html_factor(a.commit_delay_rate),
        NULL,
        NULL, a.run_id::text,
        a.live_verdict, a.live_run_id::text] ORDER BY i), 7) || '</details>'
FROM generate_subscripts(data.advice, 1) AS i, LATERAL (SELECT (data.advice[i]).*) AS a
HAVING count(*) > 0
$$;

COMMENT ON FUNCTION sync_probe_internal.numbers_advice(sync_probe_internal.report_data) IS
  'Table of all recommendations';

--
-- sync_probe_internal.numbers_runs
--
CREATE FUNCTION sync_probe_internal.numbers_runs(data sync_probe_internal.report_data)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT '<details><summary>Runs</summary>' || sync_probe_internal.html_table('sync_probe.runs',
    '{run,suite,location,label,from,server,file system,device,write cache,directory,method,'
    'finished,flush bytes,flush interval,duration,rounds,noise}',
    array_agg(ARRAY[r.run_id::text, r.suite, r.location::text,
        sync_probe_internal.clipped(r.label, 60),
        coalesce(sync_probe_internal.report_origin(data.runs[i]), 'this server'),
        concat_ws(', ', r.host, 'PostgreSQL ' || r.server_version_num / 10000),
        r.filesystem, r.device, r.storage ->> 'write_cache', r.directory, r.wal_sync_method,
        sync_probe_internal.html_time(r.finished_at),
        to_char(r.flush_size, 'FM999,999,999,999'),
        sync_probe_internal.html_duration(r.flush_interval),
        sync_probe_internal.html_duration(r.finished_at - r.started_at), NULL,
        NULL] ORDER BY i), 12) || '</details>'
FROM generate_subscripts(data.runs, 1) AS i, LATERAL (SELECT (data.runs[i]).*) AS r
HAVING count(*) > 0
$$;

COMMENT ON FUNCTION sync_probe_internal.numbers_runs(sync_probe_internal.report_data) IS
  'Table of the runs of a report';

--
-- sync_probe_internal.numbers_measured
--
-- The measurements of one run.  detail is that of the system; where paths are left out it is, too.
--
CREATE FUNCTION sync_probe_internal.numbers_measured(
    run sync_probe.runs,
    with_detail boolean)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT format('<details><summary>Measurements of run %s, %s</summary>', run.run_id,
              sync_probe_internal.html_escape(coalesce(run.location, run.suite)))
       || sync_probe_internal.html_table(
    format('sync_probe.measurements, run %s; times in us', run.run_id),
    '{test,method,value,O_DIRECT,status,ops,per second,mean,p50,p90,p99,p99.9,max,speed,low,high,'
    'flushes/op,writes/op,bytes/op,busy %,detail}',
    array_agg(ARRAY[m.test, m.method, m.value,
        CASE WHEN m.direct_io THEN 'yes' WHEN NOT m.direct_io THEN 'no' END, m.status,
        to_char(m.ops, 'FM999,999,999,999'), sync_probe_internal.html_number(m.ops_per_sec),
        sync_probe_internal.html_number(m.mean_us), sync_probe_internal.html_number(m.p50_us),
        NULL, sync_probe_internal.html_number(m.p99_us),
        NULL, sync_probe_internal.html_number(m.max_us),
        sync_probe_internal.html_factor(m.relative_speed),
        sync_probe_internal.html_factor(m.relative_speed_low),
        sync_probe_internal.html_factor(m.relative_speed_high),
        sync_probe_internal.html_factor(m.flushes_per_op),
        NULL,
        sync_probe_internal.html_number(m.device_bytes_per_op),
        sync_probe_internal.html_number(100 * m.device_utilization),
        CASE WHEN with_detail THEN m.detail END] ORDER BY m.ordinal), 5) || '</details>'
FROM sync_probe.measurements AS m
WHERE m.run_id = run.run_id
HAVING count(*) > 0
$$;

COMMENT ON FUNCTION sync_probe_internal.numbers_measured(sync_probe.runs, boolean) IS
  'Table of the measurements of a run';

--
-- sync_probe_internal.numbers_places
--
CREATE FUNCTION sync_probe_internal.numbers_places(data sync_probe_internal.report_data)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT '<details><summary>Locations</summary>' || sync_probe_internal.html_table(
    'sync_probe.locations',
    '{name,file system,device,write cache,directory,mounted at,mount options,shares with,size,'
    'available}',
    array_agg(ARRAY[p.name, p.filesystem, p.device, p.write_cache, p.directory, p.mount_point,
                    p.mount_options, p.shares_filesystem_with, pg_size_pretty(p.size_bytes),
                    pg_size_pretty(p.available_bytes)] ORDER BY i), 8) || '</details>'
FROM generate_subscripts(data.places, 1) AS i, LATERAL (SELECT (data.places[i]).*) AS p
WHERE NOT data.chosen
HAVING count(*) > 0
$$;

COMMENT ON FUNCTION sync_probe_internal.numbers_places(sync_probe_internal.report_data) IS
  'Table of the locations';

--
-- sync_probe_internal.page_numbers
--
-- All numbers.  The measurements of 24 runs are shown, so that a page of hundreds stays readable.
--
CREATE FUNCTION sync_probe_internal.page_numbers(data sync_probe_internal.report_data)
RETURNS sync_probe_internal.section
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT ROW('numbers', 'All numbers', 'All numbers',
    'What the figures are drawn from, and what they leave out. Times are in microseconds. A dash '
    'means that there was nothing to measure, or too little to know it.',
    concat(sync_probe_internal.numbers_advice(data), sync_probe_internal.numbers_runs(data),
           (SELECT string_agg(sync_probe_internal.numbers_measured(data.runs[i], data.paths), ''
                              ORDER BY i)
            FROM generate_subscripts(data.runs, 1) AS i
            WHERE i <= 24),
           CASE WHEN cardinality(data.runs) > 24
                THEN '<p class=note>The measurements of more runs are in '
                     '<code>sync_probe.measurements</code>.</p>' END,
           sync_probe_internal.numbers_places(data)))::sync_probe_internal.section
WHERE cardinality(data.runs) > 0 OR cardinality(data.places) > 0 AND NOT data.chosen
$$;

COMMENT ON FUNCTION sync_probe_internal.page_numbers(sync_probe_internal.report_data) IS
  'Section of the report: all numbers';
