--
-- locations
--
-- The places that can be probed, and what is known of their storage.
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
    rotational boolean,
    write_cache text,
    fua boolean,
    disks text[],
    size_bytes bigint,
    available_bytes bigint,
    shares_filesystem_with name,
    missing boolean);

COMMENT ON TYPE sync_probe_internal.storage IS
  'A location and its storage: sync_probe.locations with what only findings need';

CREATE FUNCTION sync_probe_internal.examine_locations(only_location name)
RETURNS SETOF sync_probe_internal.storage
LANGUAGE c STABLE PARALLEL RESTRICTED
ROWS 10 -- with the default of 1,000 what reads it looks costly enough for JIT
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'sync_probe_locations';

REVOKE ALL ON FUNCTION sync_probe_internal.examine_locations(name) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION sync_probe_internal.examine_locations(name) TO pg_monitor;

CREATE VIEW sync_probe.locations AS
SELECT l.name, l.holds_wal, l.tablespace, l.directory, l.filesystem,
       l.mount_point, l.mount_options, l.device, l.rotational, l.write_cache,
       l.size_bytes, l.available_bytes, l.shares_filesystem_with
FROM sync_probe_internal.examine_locations(NULL) AS l;

REVOKE ALL ON sync_probe.locations FROM PUBLIC;
GRANT SELECT ON sync_probe.locations TO pg_monitor;

COMMENT ON VIEW sync_probe.locations IS
  'pg_wal and every tablespace: directory, file system, whole disk, its write cache, space in bytes';
COMMENT ON COLUMN sync_probe.locations.device IS
  'Whole disk under the file system (vda, nvme0n1, md0); null if none can be named';
COMMENT ON COLUMN sync_probe.locations.write_cache IS
  'What the kernel takes the disk''s cache for: write back (volatile, needs flushes) or write through';
COMMENT ON COLUMN sync_probe.locations.shares_filesystem_with IS
  'First location of this list on the same file system; null for that one itself';

