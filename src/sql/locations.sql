--
-- locations
--
-- pg_wal and the tablespaces, and what is known of their storage.
--
CREATE TYPE sync_probe_internal.storage AS (
    name name,
    holds_wal boolean,
    tablespace oid,
    directory text,
    filesystem text,
    mount_point text,
    mount_options text,
    device text,
    write_cache text,
    fua boolean,
    disks text[],
    size_bytes bigint,
    available_bytes bigint,
    shares_filesystem_with name,
    missing boolean,
    power_test_left boolean);

CREATE FUNCTION sync_probe_internal.examine_locations(only_location name, named name[] DEFAULT NULL)
RETURNS SETOF sync_probe_internal.storage
LANGUAGE c STABLE PARALLEL RESTRICTED
ROWS 10 -- the default of 1,000 makes queries look costly enough for JIT compilation
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'sync_probe_locations';

REVOKE ALL ON FUNCTION sync_probe_internal.examine_locations FROM PUBLIC;
GRANT EXECUTE ON FUNCTION sync_probe_internal.examine_locations TO pg_monitor;

CREATE VIEW sync_probe.locations AS
SELECT l.name, l.directory, l.filesystem, l.mount_point, l.mount_options, l.device, l.write_cache,
       l.size_bytes, l.available_bytes, l.shares_filesystem_with
FROM sync_probe_internal.examine_locations(NULL) AS l;

GRANT SELECT ON sync_probe.locations TO pg_monitor;

COMMENT ON VIEW sync_probe.locations IS
  'Where probe() can measure: pg_wal and every tablespace except pg_global; null if the system '
  'does not report it';
COMMENT ON COLUMN sync_probe.locations.name IS 'pg_wal or the tablespace';
COMMENT ON COLUMN sync_probe.locations.directory IS 'With symbolic links resolved; null if missing';
COMMENT ON COLUMN sync_probe.locations.filesystem IS 'Type';
COMMENT ON COLUMN sync_probe.locations.mount_point IS 'Of the file system';
COMMENT ON COLUMN sync_probe.locations.mount_options IS 'Of the mount and the file system';
COMMENT ON COLUMN sync_probe.locations.device IS 'Whole disk below it (vda, nvme0n1, md0)';
COMMENT ON COLUMN sync_probe.locations.write_cache IS
  'write back (volatile, needs flushes) or write through, as the kernel sees it';
COMMENT ON COLUMN sync_probe.locations.size_bytes IS 'Of the file system';
COMMENT ON COLUMN sync_probe.locations.available_bytes IS
  'What the server''s account can still write';
COMMENT ON COLUMN sync_probe.locations.shares_filesystem_with IS
  'First location in this view on the same file system';
