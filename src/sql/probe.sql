--
-- probe
--
-- doc/probe.md describes arguments, suites and columns, doc/settings-and-privileges.md errors.
--
CREATE FUNCTION sync_probe.probe(
    location name DEFAULT 'pg_wal',
    suite text DEFAULT 'wal',
    duration interval DEFAULT NULL,
    duty_cycle double precision DEFAULT NULL,
    flush_size integer DEFAULT NULL,
    flush_interval interval DEFAULT NULL,
    stop_early boolean DEFAULT true,
    label text DEFAULT NULL,
    record boolean DEFAULT true,
    pace text DEFAULT NULL,
    methods text[] DEFAULT NULL,
    commit_delays integer[] DEFAULT NULL,
    workers integer DEFAULT NULL)
RETURNS SETOF sync_probe.measurements
LANGUAGE c VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'sync_probe_probe';

REVOKE ALL ON FUNCTION sync_probe.probe FROM PUBLIC;

COMMENT ON FUNCTION sync_probe.probe IS
  'Measure writes and syncs with every sync method at pg_wal or a tablespace, one row for each '
  'test case. Requires CREATE on a tablespace other than the database''s own';

--
-- The same for suites that write files, each row with that of the run: on a standby it is not in
-- the history.  Requires EXECUTE on probe(), which it checks.
--
CREATE FUNCTION sync_probe_internal.probe_run(
    location name,
    suite text,
    duration interval DEFAULT NULL,
    duty_cycle double precision DEFAULT NULL,
    flush_size integer DEFAULT NULL,
    flush_interval interval DEFAULT NULL,
    stop_early boolean DEFAULT true,
    label text DEFAULT NULL,
    record boolean DEFAULT true,
    pace text DEFAULT NULL)
RETURNS TABLE (run sync_probe.runs, measured sync_probe.measurements)
LANGUAGE c VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'sync_probe_probe';

--
-- cleanup
--
-- Remove the files of probes whose backend was killed, and the directories of such
-- workloads with their schemas in this database.  Before it starts, each probe does so
-- for its own location, and each workload for the schemas of its role in its database.
--
-- The schemas are those of all roles that the caller can act as.  It waits 10 ms for a lock,
-- unless lock_timeout is set.  A WARNING has the number that is left.
--
CREATE FUNCTION sync_probe.cleanup()
RETURNS integer
LANGUAGE c VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'sync_probe_cleanup';

REVOKE ALL ON FUNCTION sync_probe.cleanup FROM PUBLIC;

COMMENT ON FUNCTION sync_probe.cleanup IS
  'Remove files in all locations and schemas in this database that killed runs left behind, and '
  'restore the setting of a trial. Returns how many';
