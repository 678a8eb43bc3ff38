--
-- sync_probe_internal.stream_findings
--
-- The newest run of the stream suite at each location, if it stalled: in one flush for a
-- second, or for a twentieth of its time in all.  A shorter stall in minutes is usual.  The run
-- counts while it is of this server, directory and device.
--
CREATE FUNCTION sync_probe_internal.stream_findings(facts sync_probe_internal.storage[])
RETURNS SETOF sync_probe_internal.finding
LANGUAGE sql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
SELECT r.location, 'warning', 'stream_stalls',
       format('a stream stalled %s in %s s, for %s s in all; in the longest stall, of %s s, %s',
              CASE t.stalls WHEN 1 THEN 'once' ELSE t.stalls || ' times' END,
              round(d.seconds::numeric, 1), round(t.seconds::numeric, 1),
              round(t.longest::numeric, 1), t.meanwhile),
       'Commits wait meanwhile. The command shows when. Another run of suite stream tells whether'
       ' it comes again.',
       ARRAY[format('SELECT * FROM sync_probe.stalls WHERE run_id = %s', r.run_id)],
       jsonb_build_object('run_id', r.run_id, 'stalls', t.stalls,
                          'stalled_seconds', round(t.seconds::numeric, 3),
                          'longest_seconds', round(t.longest::numeric, 3),
                          'seconds', round(d.seconds::numeric, 3))
FROM sync_probe_internal.this_server() AS s
CROSS JOIN unnest(facts) AS l
CROSS JOIN LATERAL (
    -- an index range, as in newest_runs
    SELECT r.*
    FROM sync_probe.runs AS r
    WHERE (r.location, r.suite) >= (l.name, 'stream')
      AND (r.location, r.suite) <= (l.name, 'stream')
      AND r.imported_at IS NULL
      AND r.system_identifier = s.system_identifier AND r.host = s.host
      AND r.directory IS NOT DISTINCT FROM l.directory
      AND r.device IS NOT DISTINCT FROM l.device
    ORDER BY r.location DESC, r.suite DESC, r.run_id DESC
    LIMIT 1) AS r
CROSS JOIN LATERAL (SELECT extract(epoch FROM r.finished_at - r.started_at)::float8) AS d (seconds)
CROSS JOIN LATERAL (
    SELECT count(*) AS stalls, sum(x.stalled_ms) / 1000 AS seconds,
           max(x.stalled_ms) / 1000 AS longest,
           max(x.stalled_ms) FILTER (WHERE x.kind = 'flush') / 1000 AS longest_flush,
           (array_agg(x.meanwhile ORDER BY x.stalled_ms DESC))[1] AS meanwhile
    FROM sync_probe.stalls AS x
    WHERE x.run_id = r.run_id) AS t
WHERE t.longest_flush >= 1 OR t.seconds >= d.seconds / 20
$$;
