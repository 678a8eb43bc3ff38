--
-- The rows of the view, a paragraph for each code.  Those of storage and settings are in
-- findings_storage.sql, those of a run of the wal suite in findings_run.sql.  A new code also has
-- its place in doc/durability-and-findings.md and in the list of test/tap/findings.sql.
--
-- To examine the storage of many locations is most of the work: it is done once, by advice().  A
-- function is planned when it is first called: not where no location has such runs.
--
-- One cause is one finding: what is true of a file system is told at the first location on it, and
-- what follows from a mount without barriers is named in the evidence of barrier_off.
--
-- A function, so that it can set jit: with many tablespaces the plan looks costly enough to
-- compile, which takes seconds for a query of milliseconds.
--
CREATE FUNCTION sync_probe_internal.findings()
RETURNS SETOF sync_probe_internal.finding
LANGUAGE sql STABLE PARALLEL RESTRICTED
ROWS 100
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $$
WITH advice AS MATERIALIZED (
    SELECT * FROM sync_probe_internal.advice(all_locations => true)
), runs AS MATERIALIZED (
    SELECT array_agg(a.run) AS runs, array_agg(a.run_id) AS ids
    FROM (SELECT a.run, (a.run).run_id FROM advice AS a) AS a
    WHERE a.run_id IS NOT NULL
), segments AS MATERIALIZED (
    SELECT a.*
    FROM (SELECT array_agg(a.place) AS places FROM advice AS a
          WHERE 'segments' = ANY (a.suites)) AS e,
         LATERAL sync_probe_internal.segment_advice(e.places) AS a
    WHERE e.places IS NOT NULL
), busiest AS MATERIALIZED (
    SELECT sync_probe_internal.busiest_tablespace() AS name
), of_storage AS MATERIALIZED (
    SELECT f.*
    FROM busiest AS b,
         -- what was measured needs no rule
         (SELECT ARRAY(SELECT s.setting::text FROM segments AS s
                       WHERE s.location = 'pg_wal' AND s.verdict <> 'undecided')) AS m (settled),
         LATERAL sync_probe_internal.storage_findings(
             (SELECT array_agg(a.place)
              FROM advice AS a
              WHERE (a.place).shares_filesystem_with IS NULL OR (a.place).missing
                 OR (a.run).run_id IS NOT NULL OR a.location = b.name),
             (SELECT r.runs FROM runs AS r),
             current_setting('fsync')::boolean,
             current_setting('wal_recycle')::boolean AND NOT 'wal_recycle' = ANY (m.settled),
             current_setting('wal_init_zero')::boolean AND NOT 'wal_init_zero' = ANY (m.settled),
             pg_size_bytes(current_setting('max_wal_size')),
             (SELECT coalesce(sum(w.size), 0)::bigint FROM pg_ls_waldir() AS w),
             current_setting('pg_sync_probe.reserve_percent')::integer,
             b.name) AS f
), cause AS (
    -- A file system without barriers, and the locations on it.
    SELECT a.location, f.location AS cause
    FROM of_storage AS f
    JOIN advice AS a ON coalesce((a.place).shares_filesystem_with, a.location) = f.location
    WHERE f.code = 'barrier_off'
), told AS (
    -- effect_of: the cause that says it all.
    SELECT f.*, c.cause,
           CASE WHEN f.code IN ('flush_missing', 'write_cache_volatile')
                     OR f.code = 'outdated_run' AND f.evidence #>> '{changes,1}' IS NULL
                        AND starts_with(f.evidence #>> '{changes,0}', 'mount options ')
                     OR f.code = 'implausibly_fast'
                     OR f.code = 'drift' AND (f.evidence ->> 'p50_us')::float8
                                             < (f.evidence ->> 'earlier_median_us')::float8
                THEN c.cause END AS effect_of
    FROM (
SELECT * FROM of_storage

UNION ALL
-- What a run of the suite segments says of wal_recycle and wal_init_zero, a row for each.
SELECT s.location, CASE WHEN s.verdict = 'switch' AND s.location = 'pg_wal' THEN 'warning'
                        ELSE 'info' END, 'cow_wal_settings',
       format(CASE s.verdict WHEN 'switch' THEN '%s = %s makes WAL segments cheaper (run %s)'
                             WHEN 'keep' THEN '%s = %s is right (run %s)'
                             ELSE 'it is undecided whether %s = %s is right (run %s)' END,
              s.setting, s.recommended_value, s.run_id),
       upper(left(s.reason, 1)) || substr(s.reason, 2) || '.',
       s.commands,
       jsonb_build_object('run_id', s.run_id, 'setting', s.setting, 'verdict', s.verdict,
                          'current', s.current_value, 'recommended', s.recommended_value,
                          'ratio', s.ratio, 'ratio_low', s.ratio_low, 'ratio_high', s.ratio_high)
FROM segments AS s

UNION ALL
SELECT f.*
FROM runs AS r, LATERAL sync_probe_internal.run_findings(r.ids) AS f
WHERE r.ids IS NOT NULL

UNION ALL
SELECT f.*
FROM (SELECT array_agg(a.place) AS places FROM advice AS a
      WHERE 'stream' = ANY (a.suites)) AS e,
     LATERAL sync_probe_internal.stream_findings(e.places) AS f
WHERE e.places IS NOT NULL

UNION ALL
-- Without a run that counts; other findings may say already why there is none, or what matters.
SELECT a.location, 'info', 'durable_unknown',
       format('no probe has seen whether syncs at %s reach the device', a.location),
       'Probe it.',
       ARRAY[sync_probe_internal.probe_command(a.location)],
       jsonb_build_object('verdict', a.verdict)
FROM advice AS a
WHERE a.is_advised AND a.durable = 'unknown' AND (a.run).run_id IS NULL
  AND a.passed_over IS NULL
  AND NOT EXISTS (SELECT FROM of_storage AS f
                  WHERE f.location = a.location
                    AND f.code IN ('barrier_off', 'device_unknown', 'memory_filesystem',
                                   'network_filesystem', 'read_only_filesystem',
                                   'tablespace_missing', 'write_cache_volatile'))

UNION ALL
SELECT a.location, 'warning', 'outdated_run',
       format('run %s is outdated: %s', a.run_id, array_to_string(a.changes, '; ')),
       'Its recommendation may no longer hold. Probe again.',
       a.commands,
       jsonb_build_object('run_id', a.run_id, 'finished_at', (a.run).finished_at,
                          'changes', a.changes)
FROM advice AS a
WHERE a.verdict = 'outdated'

UNION ALL
-- Only with a recommendation to change wal_sync_method on the running server.
SELECT a.location, 'info', 'sync_method_change',
       format('while processes change from %s to %s, WAL counts as flushed that the disk may not'
              ' have', current_setting('wal_sync_method'), a.recommended_method),
       'If the power fails then, commits are lost or the cluster is damaged. It is over when a'
       ' checkpoint has completed that began after all processes had the new method: execute all'
       ' of these commands, or restart the server instead of a reload.',
       a.commands,
       jsonb_build_object('run_id', a.run_id, 'method', current_setting('wal_sync_method'),
                          'recommended_method', a.recommended_method)
FROM advice AS a
WHERE a.commands @> sync_probe_internal.change_commands(current_setting('wal_sync_method'),
                                                        a.recommended_method)
  AND sync_probe_internal.unlike_methods(current_setting('wal_sync_method'),
                                         a.recommended_method)

UNION ALL
-- Nothing of the server tells what fsync was before, but a run of that time does.
SELECT 'pg_wal', 'warning', 'fsync_was_off',
       format('fsync was off during run %s, after this server was started: what was written'
              ' meanwhile may not be on disk', r.run_id),
       'If the operating system crashes, the cluster may be destroyed. Run sync on the machine, or'
       ' stop the server and run initdb --sync-only, or unmount the file systems. This finding'
       ' stays until the server is restarted.',
       NULL,
       jsonb_build_object('run_id', r.run_id, 'finished_at', r.finished_at,
                          'server_started_at', pg_postmaster_start_time())
FROM (SELECT (r.run).*
      FROM sync_probe_internal.own_runs AS r
      WHERE NOT (r.run).fsync AND (r.run).finished_at > pg_postmaster_start_time()
      ORDER BY (r.run).finished_at DESC
      LIMIT 1) AS r
WHERE current_setting('fsync')::boolean

UNION ALL
SELECT 'pg_wal', 'error', 'trial_not_restored',
       format('a trial has left a value of %s behind', t.fields[1]),
       'The server or the machine has failed during the trial. Restore the value from before.',
       ARRAY['SELECT sync_probe.cleanup()'],
       jsonb_build_object('setting', t.fields[1], 'value_before', nullif(t.fields[2], ''))
FROM string_to_array(left(substr(current_setting('pg_sync_probe.trial_restores', true), 2), -1),
                     '","') AS t (fields)
WHERE cardinality(t.fields) > 2
  AND NOT EXISTS (SELECT FROM sync_probe.running WHERE suite = 'trial')

UNION ALL
-- CREATE EXTENSION refuses where there is such a publication; it may have come later.
SELECT 'pg_wal', 'warning', 'history_published',
       format('publication %s is FOR ALL TABLES, which includes the tables of this extension',
              string_agg(quote_ident(p.pubname), ', ' ORDER BY p.pubname)),
       'Subscribers that lack these tables stop at the first row that is recorded. Keep the'
       ' extension in another database, which measures the same.',
       NULL,
       jsonb_build_object('publications', jsonb_agg(p.pubname ORDER BY p.pubname))
FROM pg_publication AS p
WHERE p.puballtables
HAVING count(*) > 0

UNION ALL
SELECT a.location, 'info', 'run_passed_over',
       format('run %s is the newest of %s, but no advice rests on it: %s',
              a.passed_over, a.location, a.passed_over_why),
       'Advice rests on runs of this server, at this directory and device, at the cluster''s own'
       ' pace.',
       NULL,
       jsonb_build_object('run_id', a.passed_over, 'finished_at', a.passed_over_at,
                          'why', a.passed_over_why)
FROM advice AS a
WHERE a.passed_over IS NOT NULL
) AS f
    LEFT JOIN cause AS c USING (location)
)
SELECT t.location, t.severity, t.code, t.message, t.hint, t.commands,
       CASE WHEN t.code = 'barrier_off' AND t.location = t.cause
            THEN t.evidence || (
                SELECT jsonb_strip_nulls(jsonb_build_object(
                           'locations', (SELECT jsonb_agg(c.location ORDER BY c.location)
                                         FROM cause AS c WHERE c.cause = t.cause),
                           'also_found', jsonb_agg(DISTINCT o.code),
                           'run_id', min((o.evidence ->> 'run_id')::bigint) FILTER (WHERE
                               o.location = t.cause)))
                FROM told AS o WHERE o.effect_of = t.cause)
            ELSE t.evidence END
FROM told AS t
WHERE t.effect_of IS NULL
$$;

--
-- findings
--
-- The facts about each location that one must know before believing a number.
--
CREATE VIEW sync_probe.findings AS
SELECT f.location, f.severity, f.code, f.message, f.hint, f.commands, f.evidence
FROM sync_probe_internal.findings() AS f
ORDER BY f.location <> 'pg_wal', f.location,
         array_position(ARRAY['error', 'warning', 'info'], f.severity), f.code, f.message;

GRANT SELECT ON sync_probe.findings TO pg_monitor;

COMMENT ON VIEW sync_probe.findings IS
  'Facts about storage, settings and runs that decide how far figures can be trusted; in each '
  'location the most severe first';
COMMENT ON COLUMN sync_probe.findings.location IS
  'Location that the finding is about, of several on one file system the first';
COMMENT ON COLUMN sync_probe.findings.severity IS
  'error: data are at risk; warning: act on it; info: good to know';
COMMENT ON COLUMN sync_probe.findings.code IS 'Name of the finding, the same in all versions';
COMMENT ON COLUMN sync_probe.findings.message IS 'What was found';
COMMENT ON COLUMN sync_probe.findings.hint IS 'What to do';
COMMENT ON COLUMN sync_probe.findings.commands IS
  'SQL that helps, one statement in each element; null if there is none';
COMMENT ON COLUMN sync_probe.findings.evidence IS
  'Figures and settings behind the finding; run_id if a run showed it';
