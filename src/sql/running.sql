--
-- running
--
-- The probe that runs in this cluster, seen from any session of any database.
--
CREATE FUNCTION sync_probe._running(
    OUT pid integer,
    OUT location name,
    OUT suite text,
    OUT phase text,
    OUT started_at timestamptz,
    OUT rounds bigint,
    OUT done double precision,
    OUT duration_seconds double precision)
RETURNS SETOF record
LANGUAGE c VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'sync_probe_running';

REVOKE ALL ON FUNCTION sync_probe._running() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION sync_probe._running() TO pg_monitor;

CREATE VIEW sync_probe.running AS
SELECT r.pid, a.datname AS database, a.usename AS username,
       r.location, r.suite, r.phase, r.started_at, r.rounds,
       round((r.done * 100)::numeric, 1)::float8 AS percent_of_time,
       make_interval(secs => r.duration_seconds) AS duration
FROM sync_probe._running() AS r
LEFT JOIN pg_catalog.pg_stat_activity AS a USING (pid);

GRANT SELECT ON sync_probe.running TO pg_monitor;

COMMENT ON VIEW sync_probe.running IS
  'Who is probing what since when, and how far; no row when nobody is';
COMMENT ON COLUMN sync_probe.running.phase IS
  'examining storage, writing files, measuring, recording, or cleaning up';
COMMENT ON COLUMN sync_probe.running.percent_of_time IS
  'Share of the duration that is over; a probe that is settled early ends before 100';

