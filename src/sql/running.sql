--
-- running
--
-- The probe, trial, workload or cleanup that runs in this cluster.  Every session of every
-- database sees it; pg_stat_activity has its role and database.
--
CREATE FUNCTION sync_probe_internal.running(
    OUT pid integer,
    OUT location name,
    OUT suite text,
    OUT workload name,
    OUT phase text,
    OUT started_at timestamptz,
    OUT percent_done double precision)
RETURNS SETOF record
LANGUAGE c VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'sync_probe_running';

REVOKE ALL ON FUNCTION sync_probe_internal.running FROM PUBLIC;
GRANT EXECUTE ON FUNCTION sync_probe_internal.running TO pg_monitor;

CREATE VIEW sync_probe.running AS
SELECT r.pid, r.location, r.suite, r.workload, r.phase, r.started_at, r.percent_done
FROM sync_probe_internal.running() AS r;

GRANT SELECT ON sync_probe.running TO pg_monitor;

COMMENT ON VIEW sync_probe.running IS
  'Probe, trial, workload or cleanup that runs now in this cluster';
COMMENT ON COLUMN sync_probe.running.pid IS 'As in pg_stat_activity';
COMMENT ON COLUMN sync_probe.running.location IS
  'Location of the probe, tablespace of the workload';
COMMENT ON COLUMN sync_probe.running.suite IS 'Suite, trial or power_test';
COMMENT ON COLUMN sync_probe.running.workload IS 'Name';
COMMENT ON COLUMN sync_probe.running.phase IS
  'Such as examining storage, writing files, measuring, recording, setting up, running, tearing '
  'down, cleaning up';
COMMENT ON COLUMN sync_probe.running.started_at IS 'Start';
COMMENT ON COLUMN sync_probe.running.percent_done IS 'Of the duration or of the transactions';
