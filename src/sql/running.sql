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

CREATE VIEW sync_probe.running AS
SELECT r.pid, a.datname AS database, a.usename AS username,
       r.location, r.suite, r.workload, r.phase, r.started_at, r.rounds, r.transactions,
       round((r.done * 100)::numeric, 1)::float8 AS percent_done,
       make_interval(secs => r.duration_seconds) AS duration
FROM sync_probe_internal.running() AS r
LEFT JOIN pg_catalog.pg_stat_activity AS a USING (pid);

GRANT SELECT ON sync_probe.running TO pg_monitor;

COMMENT ON VIEW sync_probe.running IS
  'The probe, trial, workload or cleanup that runs now in this cluster';
COMMENT ON COLUMN sync_probe.running.pid IS 'Process ID of its backend';
COMMENT ON COLUMN sync_probe.running.database IS
  'Database of the session; null if it has just ended';
COMMENT ON COLUMN sync_probe.running.username IS 'Role that called it; null as database';
COMMENT ON COLUMN sync_probe.running.location IS
  'Location of the probe, tablespace of the workload';
COMMENT ON COLUMN sync_probe.running.suite IS 'Suite, or trial';
COMMENT ON COLUMN sync_probe.running.workload IS 'Workload that runs';
COMMENT ON COLUMN sync_probe.running.phase IS
  'Such as examining storage, writing files, measuring, recording, setting up, running, tearing '
  'down, cleaning up';
COMMENT ON COLUMN sync_probe.running.started_at IS 'Start';
COMMENT ON COLUMN sync_probe.running.rounds IS 'Rounds of a probe or trial so far';
COMMENT ON COLUMN sync_probe.running.transactions IS 'Transactions of a workload so far';
COMMENT ON COLUMN sync_probe.running.percent_done IS
  'Percentage of the duration or of the transactions';
COMMENT ON COLUMN sync_probe.running.duration IS
  'Upper bound; null if a workload counts transactions';
