--
-- running
--
-- The probe or workload that runs in this cluster, seen from any session of any
-- database.
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
  'Who is probing or running what since when, and how far; no row when nobody is';
COMMENT ON COLUMN sync_probe.running.location IS
  'Of a workload: the tablespace';
COMMENT ON COLUMN sync_probe.running.phase IS
  'examining storage, writing files, measuring, recording, or cleaning up; of a workload: setting up, running, tearing down, recording';
COMMENT ON COLUMN sync_probe.running.percent_done IS
  'Share of the duration that is over, or of the transactions where a workload has a number of them; a probe that is settled early ends before 100';

