--
-- Views of a fleet.  A node is a cluster on a machine: (system_identifier, host).
--

--
-- fleet_recommendations, fleet_findings
--
-- What the nodes answer now.  Their columns are read by name: those that a node of another release
-- lacks are null.  A node without an answer has one row, which says why.
--
CREATE VIEW sync_probe.fleet_recommendations AS
SELECT f.server, (f.r).location,
       CASE WHEN f.error IS NULL THEN (f.r).verdict ELSE 'no answer' END AS verdict,
       (f.r).recommended_method, coalesce(f.error, (f.r).reason) AS reason
FROM sync_probe_internal.fleet_rows(NULL::sync_probe.recommendation_details,
                                    'SELECT * FROM sync_probe.recommendation_details') AS f
WHERE num_nonnulls((f.r).location, f.error) > 0
ORDER BY f.error IS NULL,
         array_position('{unsafe,outdated,switch,undecided,not probed,keep}', (f.r).verdict),
         f.server, (f.r).location <> 'pg_wal', (f.r).location;

GRANT SELECT ON sync_probe.fleet_recommendations TO pg_monitor;

COMMENT ON VIEW sync_probe.fleet_recommendations IS
  'recommendation_details of each node, worst first. Requires EXECUTE on fleet_run()';
COMMENT ON COLUMN sync_probe.fleet_recommendations.server IS 'Foreign server';
COMMENT ON COLUMN sync_probe.fleet_recommendations.location IS 'As in recommendation_details';
COMMENT ON COLUMN sync_probe.fleet_recommendations.verdict IS
  'As in recommendation_details; no answer: none that can be read, reason has the error';
COMMENT ON COLUMN sync_probe.fleet_recommendations.recommended_method IS
  'As in recommendation_details';
COMMENT ON COLUMN sync_probe.fleet_recommendations.reason IS 'As in recommendation_details';

CREATE VIEW sync_probe.fleet_findings AS
SELECT f.server, (f.r).location,
       CASE WHEN f.error IS NULL THEN (f.r).severity ELSE 'error' END AS severity,
       CASE WHEN f.error IS NULL THEN (f.r).code ELSE 'no_answer' END AS code,
       coalesce(f.error, (f.r).message) AS message
FROM sync_probe_internal.fleet_rows(NULL::sync_probe.findings,
                                    'SELECT * FROM sync_probe.findings') AS f
WHERE num_nonnulls((f.r).location, f.error) > 0
ORDER BY f.error IS NULL, array_position('{error,warning,info}', (f.r).severity), f.server,
         (f.r).location <> 'pg_wal', (f.r).location, (f.r).code, (f.r).message;

GRANT SELECT ON sync_probe.fleet_findings TO pg_monitor;

COMMENT ON VIEW sync_probe.fleet_findings IS
  'findings of each node, worst first. Requires EXECUTE on fleet_run()';
COMMENT ON COLUMN sync_probe.fleet_findings.server IS 'Foreign server';
COMMENT ON COLUMN sync_probe.fleet_findings.location IS 'As in findings';
COMMENT ON COLUMN sync_probe.fleet_findings.severity IS
  'As in findings; error also with no_answer';
COMMENT ON COLUMN sync_probe.fleet_findings.code IS
  'As in findings; no_answer: none that can be read, message has the error';
COMMENT ON COLUMN sync_probe.fleet_findings.message IS 'As in findings';

--
-- fleet_history
--
-- The runs of all nodes in time, this server's own and imported ones, that measured the method
-- which was current then, seven times or more: see history().
--
-- before: the run before of the same node at the same location.
--
CREATE FUNCTION sync_probe_internal.fleet_runs()
RETURNS TABLE (host text, location name, finished_at timestamptz, method text, p50_us float8,
               run_id bigint, before bigint)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT r.host, r.location, date_trunc('second', r.finished_at), r.wal_sync_method, m.p50_us,
       r.run_id,
       lag(r.run_id) OVER (PARTITION BY r.system_identifier, r.host, r.location
                           ORDER BY r.finished_at, r.run_id)
FROM sync_probe.runs AS r
JOIN sync_probe.measurements AS m
    ON m.run_id = r.run_id AND m.test = 'paced' AND m.choice = 'current' AND m.p50_us > 0
       AND m.ops >= 7
WHERE r.suite = 'wal'
ORDER BY r.host, r.system_identifier, r.location <> 'pg_wal', r.location, r.finished_at, r.run_id
$$;

-- Here the ratio is computed for the rows that are asked for, in the function for all.
CREATE VIEW sync_probe.fleet_history AS
SELECT r.host, r.location, r.finished_at, r.method, r.p50_us,
       (SELECT c.ratio::double precision
        FROM sync_probe_internal.paced_ratio(r.before, r.method, r.run_id, r.method) AS c) AS ratio,
       r.run_id
FROM sync_probe_internal.fleet_runs() AS r;

GRANT SELECT ON sync_probe.fleet_history TO pg_monitor;

COMMENT ON VIEW sync_probe.fleet_history IS 'Runs of suite wal, own and imported, by node and time';
COMMENT ON COLUMN sync_probe.fleet_history.host IS 'As in runs';
COMMENT ON COLUMN sync_probe.fleet_history.location IS 'As in runs';
COMMENT ON COLUMN sync_probe.fleet_history.finished_at IS 'As in runs';
COMMENT ON COLUMN sync_probe.fleet_history.method IS 'wal_sync_method of the node then';
COMMENT ON COLUMN sync_probe.fleet_history.p50_us IS
  'Median latency of a paced flush, in microseconds';
COMMENT ON COLUMN sync_probe.fleet_history.ratio IS 'As in history()';
COMMENT ON COLUMN sync_probe.fleet_history.run_id IS 'As in runs';

--
-- The kind of device: that of the disks of the file system, not of those below a loop device;
-- where no disk is known, the file system.  An imported document may have anything there.
--
CREATE FUNCTION sync_probe_internal.device_kind(run sync_probe.runs)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT CASE WHEN d.disks @? '$[*] ? (@.virtual == true)' THEN 'virtual disk'
            WHEN d.disks @? '$[*] ? (@.rotational == true)' THEN 'rotating disk'
            WHEN d.disks @? '$[*] ? (@.name starts with "nvme")' THEN 'nvme'
            WHEN d.disks @? '$[*]' THEN 'ssd'
            ELSE coalesce(run.filesystem, 'unknown') END
FROM (SELECT jsonb_path_query_array(run.storage, '$.disks[*] ? (!exists (@.below))')) AS d (disks)
$$;

--
-- The newest run of each node, or the newest of the given ones, against the run with the median
-- time on the same kind of device, among three or more whose syncs reach the device.
--
CREATE FUNCTION sync_probe_internal.compared_nodes(run_ids bigint[])
RETURNS TABLE (odd boolean, host text, kind text, p50_us float8, ratio float8, ratio_low float8,
               ratio_high float8, reason text, run_id bigint)
LANGUAGE sql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
SET jit = off -- many columns look costly enough to compile, which takes longer than the query
AS $$
WITH node AS (
    SELECT r AS run, r.run_id, r.host, r.wal_sync_method AS method, r.durable,
           sync_probe_internal.device_kind(r) AS kind,
           (SELECT min(m.p50_us) FROM sync_probe.measurements AS m
            WHERE m.run_id = r.run_id AND m.test = 'paced' AND m.choice = 'current'
              AND m.p50_us > 0) AS p50_us
    FROM (SELECT DISTINCT ON (r.system_identifier, r.host) r.run_id
          FROM sync_probe.runs AS r, pg_control_system() AS s
          WHERE r.suite = 'wal' AND r.location = 'pg_wal'
            -- a cluster whose dump was restored here is no node, nor is that before pg_upgrade;
            -- this_server() is not for all who may read the view
            -- nor is a run from the future the newest
            AND CASE WHEN run_ids IS NULL THEN (r.imported_at IS NOT NULL
                                                OR r.system_identifier = s.system_identifier)
                                               AND (r.finished_at > clock_timestamp()) IS NOT TRUE
                     ELSE r.run_id = ANY (run_ids) END
          ORDER BY r.system_identifier, r.host, r.finished_at DESC NULLS LAST, r.run_id DESC) AS n
    JOIN sync_probe.runs AS r USING (run_id)
), median AS (
    SELECT n.kind,
           (array_agg(n.run_id ORDER BY n.p50_us, n.run_id))[(count(*) + 1) / 2] AS run_id
    FROM node AS n
    WHERE n.p50_us > 0 AND n.durable IS DISTINCT FROM 'no'
    GROUP BY n.kind
    HAVING count(*) >= 3
)
SELECT o.lies OR o.differs, n.host, n.kind, n.p50_us,
       CASE WHEN t.run_id = n.run_id THEN 1 ELSE c.ratio END, c.low, c.high,
       nullif(concat_ws('; ',
           CASE WHEN o.lies AND (n.run).fsync IS FALSE THEN 'fsync was off'
                WHEN o.lies THEN format('syncs with %s do not reach the device', n.method) END,
           CASE WHEN n.p50_us IS NULL THEN format('its newest run did not measure %s', n.method)
                WHEN t.run_id IS NULL
                THEN 'fewer than three nodes to compare have this kind of device'
                WHEN t.run_id = n.run_id THEN 'the median'
                WHEN o.differs
                THEN format('a flush takes %s times as long as on %s, run %s', round(c.ratio, 2),
                            coalesce(t.host, 'another node'), t.run_id) END,
           CASE WHEN o.differs
                THEN (SELECT string_agg(x.change, '; ' ORDER BY x.n)
                      FROM unnest(sync_probe_internal.changes_between(t.run, n.run))
                               WITH ORDINALITY AS x (change, n)
                      WHERE split_part(x.change, ': ', 1) NOT IN ('host', 'directory', 'device'))
                END), ''),
       n.run_id
FROM node AS n
LEFT JOIN median AS w USING (kind)
LEFT JOIN node AS t ON t.run_id = w.run_id
LEFT JOIN sync_probe_internal.paced_ratio(t.run_id, t.method, n.run_id, n.method) AS c
    ON t.run_id <> n.run_id,
     LATERAL (SELECT coalesce(n.durable = 'no', false),
                     coalesce(c.low > 1 + margin OR c.high < 1 / (1 + margin), false)
              FROM CAST(coalesce(current_setting('pg_sync_probe.margin', true), '0.05') AS numeric)
                       AS margin) AS o (lies, differs)
ORDER BY o.lies DESC, o.differs DESC, greatest(c.ratio, 1 / (c.ratio + 0.0001)) DESC NULLS LAST,
         n.host, n.run_id
$$;

--
-- fleet_compare
--
CREATE VIEW sync_probe.fleet_compare AS
SELECT n.* FROM sync_probe_internal.compared_nodes(NULL) AS n;

GRANT SELECT ON sync_probe.fleet_compare TO pg_monitor;

COMMENT ON VIEW sync_probe.fleet_compare IS
  'Newest run of suite wal on pg_wal of this server and of each node with imported runs, against '
  'the median node with the same kind of device; the odd ones first';
COMMENT ON COLUMN sync_probe.fleet_compare.odd IS
  'The whole interval of the ratio is beyond the margin, or syncs do not reach the device';
COMMENT ON COLUMN sync_probe.fleet_compare.host IS 'As in runs';
COMMENT ON COLUMN sync_probe.fleet_compare.kind IS
  'virtual disk, rotating disk, nvme, ssd; type of the file system if no disk is known';
COMMENT ON COLUMN sync_probe.fleet_compare.p50_us IS 'As in fleet_history';
COMMENT ON COLUMN sync_probe.fleet_compare.ratio IS
  'To the median of at least three nodes (2: twice as long)';
COMMENT ON COLUMN sync_probe.fleet_compare.ratio_low IS 'Its 95 percent confidence interval';
COMMENT ON COLUMN sync_probe.fleet_compare.ratio_high IS 'Its 95 percent confidence interval';
COMMENT ON COLUMN sync_probe.fleet_compare.reason IS
  'Why it is odd, and what else differs; or why there is no ratio';
COMMENT ON COLUMN sync_probe.fleet_compare.run_id IS 'As in runs';
