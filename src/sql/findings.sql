--
-- sync_probe_internal.findings
--
-- The rows of the view.  Those that need no run are in findings_storage.sql, those of a run
-- in findings_run.sql, findings_stream.sql and segments.sql: a paragraph for each.  A new code
-- also has its place in doc/durability-and-findings.md and in the list of
-- test/tap/findings.sql.
--
-- One cause is one finding: what follows from a mount without barriers, and the same mount at
-- other locations, is named in the evidence of barrier_off.
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
WITH examined (facts) AS MATERIALIZED (
    SELECT array_agg(l) FROM sync_probe_internal.examine_locations(NULL) AS l
), of_storage AS MATERIALIZED (
    SELECT f.*
    FROM examined AS e, LATERAL sync_probe_internal.storage_findings(e.facts) AS f
), advice AS MATERIALIZED (
    SELECT * FROM sync_probe.recommendation_details
), found AS (
SELECT * FROM of_storage

UNION ALL
SELECT f.*
FROM examined AS e,
     -- what was measured needs no rule
     LATERAL (SELECT ARRAY(SELECT a.setting::text FROM sync_probe.segment_advice AS a
                           WHERE a.location = 'pg_wal' AND a.verdict <> 'undecided')
             ) AS m (settled),
     LATERAL sync_probe_internal.settings_findings(
         e.facts,
         current_setting('fsync')::boolean,
         current_setting('wal_recycle')::boolean AND NOT 'wal_recycle' = ANY (m.settled),
         current_setting('wal_init_zero')::boolean AND NOT 'wal_init_zero' = ANY (m.settled),
         pg_size_bytes(current_setting('max_wal_size')),
         (SELECT coalesce(sum(w.size), 0)::bigint FROM pg_ls_waldir() AS w),
         current_setting('pg_sync_probe.reserve_percent')::integer,
         sync_probe_internal.busiest_tablespace()) AS f

UNION ALL
SELECT f.*
FROM sync_probe_internal.segment_findings AS f

UNION ALL
SELECT f.*
FROM sync_probe_internal.run_findings AS f

UNION ALL
SELECT f.*
FROM examined AS e, LATERAL sync_probe_internal.stream_findings(e.facts) AS f

UNION ALL
-- Without a run that counts; other findings may say already why there is none, or what matters.
SELECT d.location, 'info', 'durable_unknown',
       format('no probe has seen whether syncs at %s reach the device', d.location),
       'Probe it.',
       ARRAY[sync_probe_internal.probe_command(d.location)],
       jsonb_build_object('verdict', d.verdict)
FROM advice AS d
JOIN sync_probe_internal.newest_runs AS n USING (location)
WHERE d.durable = 'unknown' AND (n.run).run_id IS NULL
  AND NOT EXISTS (SELECT FROM of_storage AS f
                  WHERE f.location = d.location
                    AND f.code IN ('barrier_off', 'device_unknown', 'memory_filesystem',
                                   'network_filesystem', 'read_only_filesystem',
                                   'tablespace_missing', 'write_cache_volatile'))
  AND NOT EXISTS (SELECT FROM sync_probe_internal.passed_over_runs AS o
                  WHERE o.location = d.location)

UNION ALL
SELECT d.location, 'warning', 'outdated_run',
       format('run %s is outdated: %s', d.run_id, array_to_string(c.changes, '; ')),
       'Its recommendation may no longer hold. Probe again.',
       d.commands,
       jsonb_build_object('run_id', d.run_id, 'finished_at', d.measured_at, 'changes', c.changes)
FROM advice AS d
JOIN sync_probe_internal.newest_runs AS n USING (location),
     LATERAL sync_probe_internal.serious_changes(
         sync_probe_internal.changes_since(n.run, n.place),
         sync_probe_internal.followed((n.run).verdict, (n.run).recommended_value,
                                      (n.run).wal_sync_method, 'wal_sync_method')) AS c (changes)
WHERE d.verdict = 'outdated'

UNION ALL
-- Only with a recommendation to change wal_sync_method on the running server.
SELECT d.location, 'info', 'sync_method_change',
       format('while processes change from %s to %s, WAL counts as flushed that the disk may not'
              ' have', current_setting('wal_sync_method'), d.recommended_method),
       'If the power fails then, commits are lost or the cluster is damaged. It is over when a'
       ' checkpoint has completed that began after all processes had the new method: execute all'
       ' of these commands, or restart the server instead of a reload.',
       d.commands,
       jsonb_build_object('run_id', d.run_id, 'method', current_setting('wal_sync_method'),
                          'recommended_method', d.recommended_method)
FROM advice AS d
WHERE d.commands @> sync_probe_internal.change_commands(current_setting('wal_sync_method'),
                                                        d.recommended_method)
  AND sync_probe_internal.unlike_methods(current_setting('wal_sync_method'),
                                         d.recommended_method)

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
FROM (SELECT r.run_id, r.finished_at
      FROM sync_probe.runs AS r, sync_probe_internal.this_server() AS s
      WHERE NOT r.fsync AND r.finished_at > pg_postmaster_start_time()
        AND r.imported_at IS NULL
        AND r.system_identifier = s.system_identifier AND r.host = s.host
      ORDER BY r.finished_at DESC
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
SELECT o.location, 'info', 'run_passed_over',
       format('run %s is the newest of %s, but no advice rests on it: %s',
              o.run_id, o.location, o.why),
       'Advice rests on runs of this server, at this directory and device, at the cluster''s own'
       ' pace.',
       NULL,
       jsonb_build_object('run_id', o.run_id, 'finished_at', o.finished_at, 'why', o.why)
FROM sync_probe_internal.passed_over_runs AS o
), cause AS (
    -- A mount without barriers, told at the first location on it.
    SELECT DISTINCT ON (l.mount_point) l.mount_point, l.name AS location
    FROM of_storage AS f
    JOIN examined AS e ON f.code = 'barrier_off'
    JOIN unnest(e.facts) AS l ON l.name = f.location
    ORDER BY l.mount_point, l.holds_wal DESC, l.name
), told AS (
    -- effect_of: the cause that says it all.
    SELECT f.*, c.location AS cause,
           CASE WHEN f.location <> c.location AND f.code = 'barrier_off'
                     OR f.code IN ('flush_missing', 'write_cache_volatile')
                     OR f.code = 'outdated_run' AND f.evidence #>> '{changes,1}' IS NULL
                        AND starts_with(f.evidence #>> '{changes,0}', 'mount options ')
                     OR f.code = 'implausibly_fast'
                     OR f.code = 'drift' AND (f.evidence ->> 'p50_us')::float8
                                             < (f.evidence ->> 'earlier_median_us')::float8
                THEN c.location END AS effect_of
    FROM found AS f
    CROSS JOIN examined AS e
    LEFT JOIN unnest(e.facts) AS l ON l.name = f.location
    LEFT JOIN cause AS c ON c.mount_point = l.mount_point
)
SELECT t.location, t.severity, t.code, t.message, t.hint, t.commands,
       CASE WHEN t.code = 'barrier_off' AND t.location = t.cause
            THEN t.evidence || (
                SELECT jsonb_strip_nulls(jsonb_build_object(
                           'locations', jsonb_agg(DISTINCT o.location) FILTER (WHERE
                               o.code = 'barrier_off'),
                           'also_found', jsonb_agg(DISTINCT o.code) FILTER (WHERE
                               o.effect_of = t.cause AND o.code <> 'barrier_off'),
                           'run_id', min((o.evidence ->> 'run_id')::bigint) FILTER (WHERE
                               o.effect_of = t.cause AND o.location = t.cause)))
                FROM told AS o WHERE o.cause = t.cause)
            ELSE t.evidence END
FROM told AS t
WHERE t.effect_of IS NULL
$$;

REVOKE ALL ON FUNCTION sync_probe_internal.findings() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION sync_probe_internal.findings() TO pg_monitor;

--
-- findings
--
-- The facts about each location that one must know before believing a number.
--
CREATE VIEW sync_probe.findings AS
SELECT f.location, f.severity, f.code, f.message, f.hint, f.commands, f.evidence
FROM sync_probe_internal.findings() AS f
ORDER BY f.location <> 'pg_wal', f.location,
         array_position(ARRAY['error', 'warning', 'info'], f.severity), f.code;

GRANT SELECT ON sync_probe.findings TO pg_monitor;

COMMENT ON VIEW sync_probe.findings IS
  'Facts about storage, settings and runs that decide how far figures can be trusted; in each '
  'location the most severe first';
COMMENT ON COLUMN sync_probe.findings.location IS
  'Location that the finding is about';
COMMENT ON COLUMN sync_probe.findings.severity IS
  'error: data are at risk; warning: act on it; info: good to know';
COMMENT ON COLUMN sync_probe.findings.code IS
  'Name of the finding, the same in all versions';
COMMENT ON COLUMN sync_probe.findings.message IS
  'What was found';
COMMENT ON COLUMN sync_probe.findings.hint IS
  'What to do';
COMMENT ON COLUMN sync_probe.findings.commands IS
  'SQL that helps, one statement in each element; null if there is none';
COMMENT ON COLUMN sync_probe.findings.evidence IS
  'Figures and settings behind the finding; run_id if a run showed it';
