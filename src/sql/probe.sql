--
-- probe
--
-- Measure one location with one suite.  Writes files of its own there (16 MB
-- for each way to sync, removed at the end) and loads the device while it runs.
--
-- One row for each test case, always the same ones in the same order; a case
-- that could not be measured is a row whose status says why.  Errors: see
-- doc/settings-and-privileges.md.
--
CREATE FUNCTION sync_probe.probe(
    location name DEFAULT 'pg_wal',
    suite text DEFAULT 'wal',
    duration interval DEFAULT '5 s',
    duty_cycle double precision DEFAULT 1.0,
    flush_size integer DEFAULT NULL,
    flush_interval interval DEFAULT NULL,
    stop_early boolean DEFAULT true,
    label text DEFAULT NULL,
    record boolean DEFAULT true)
RETURNS SETOF sync_probe.measurements
LANGUAGE c VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'sync_probe_probe';

REVOKE ALL ON FUNCTION sync_probe.probe(name, text, interval, double precision,
  integer, interval, boolean, text, boolean) FROM PUBLIC;

COMMENT ON FUNCTION sync_probe.probe(name, text, interval, double precision,
  integer, interval, boolean, text, boolean) IS
  'Measure what writing and syncing costs at pg_wal or a tablespace, with every sync method. Measuring ends within duration; up to two seconds more if a test case has not had its first round';

--
-- cleanup
--
-- Remove the files of probes whose backend was killed, and directories and schemas (of
-- this database) of such workloads.  Each probe does so for its own location before
-- it starts, each workload for the schemas of its role in its database.
--
-- Schemas are those of all roles that the caller may act as.  It waits 1 s for a lock
-- on one of them, and begins none after 10 s; a WARNING says how many are left.
--
CREATE FUNCTION sync_probe.cleanup()
RETURNS integer
LANGUAGE c VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'sync_probe_cleanup';

REVOKE ALL ON FUNCTION sync_probe.cleanup() FROM PUBLIC;

COMMENT ON FUNCTION sync_probe.cleanup() IS
  'Remove what killed probes and workloads left behind: files in any location, schemas in this database; returns how many';

