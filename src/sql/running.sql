--
-- running
--
-- The probe, trial, workload or cleanup that runs in this cluster.  Every session of every
-- database sees it.
--
CREATE FUNCTION sync_probe_internal.running(
    OUT pid integer,
    OUT location name,
    OUT suite text,
    OUT workload name,
    OUT phase text,
    OUT started_at timestamptz,
    OUT rounds bigint,
    OUT transactions bigint,
    OUT done double precision,
    OUT duration_seconds double precision)
RETURNS SETOF record
LANGUAGE c VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'sync_probe_running';

REVOKE ALL ON FUNCTION sync_probe_internal.running() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION sync_probe_internal.running() TO pg_monitor;

COMMENT ON FUNCTION sync_probe_internal.running() IS
  'The rows of sync_probe.running, without the names of database and role';

CREATE VIEW sync_probe.running AS
SELECT r.pid, a.datname AS database, a.usename AS username,
       r.location, r.suite, r.workload, r.phase, r.started_at, r.rounds, r.transactions,
       round((r.done * 100)::numeric, 1)::float8 AS percent_done,
       make_interval(secs => r.duration_seconds) AS duration
FROM sync_probe_internal.running() AS r
LEFT JOIN pg_catalog.pg_stat_activity AS a USING (pid);

GRANT SELECT ON sync_probe.running TO pg_monitor;

COMMENT ON VIEW sync_probe.running IS
  'The probe, trial, workload or cleanup that runs now in this cluster; no row if none runs';
COMMENT ON COLUMN sync_probe.running.pid IS
  'Process ID of its backend';
COMMENT ON COLUMN sync_probe.running.database IS
  'Database of the session; null if the session has just ended';
COMMENT ON COLUMN sync_probe.running.username IS
  'Role that called it; null as database';
COMMENT ON COLUMN sync_probe.running.location IS
  'Location of the probe, pg_wal for a trial; the tablespace of a workload';
COMMENT ON COLUMN sync_probe.running.suite IS
  'Suite of the probe or workload; trial for a trial';
COMMENT ON COLUMN sync_probe.running.workload IS
  'Name of the workload, or of that which makes the load of a trial; null otherwise';
COMMENT ON COLUMN sync_probe.running.phase IS
  'Of a probe: examining storage, writing files, measuring, recording. Of a workload: setting '
  'up, running, tearing down, recording. Of a trial: measuring, recording; with a workload also '
  'setting up, tearing down. Of a cleanup: cleaning up';
COMMENT ON COLUMN sync_probe.running.started_at IS
  'Start of the probe, workload or cleanup';
COMMENT ON COLUMN sync_probe.running.rounds IS
  'Rounds of a probe or trial so far';
COMMENT ON COLUMN sync_probe.running.transactions IS
  'Transactions of a workload so far';
COMMENT ON COLUMN sync_probe.running.percent_done IS
  'Percentage of the duration, or of the transactions if the workload has a number of them. A '
  'probe that stops early ends below 100';
COMMENT ON COLUMN sync_probe.running.duration IS
  'Upper bound of the duration; null if a workload counts transactions';

