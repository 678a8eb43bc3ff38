\set ECHO none
-- sync_probe.locations: pg_wal, and one row for each tablespace but pg_global.
\a \t on
SET allow_in_place_tablespaces = on;
CREATE TABLESPACE regress_sync_probe LOCATION '';
CREATE TABLESPACE "regress Sync'Probe" LOCATION '';

SELECT name
FROM sync_probe.locations
WHERE name IN ('pg_wal', 'pg_default') OR name LIKE 'regress%';

\echo -- one row for each, with pg_wal for pg_global
SELECT (SELECT count(*) FROM sync_probe.locations)
       = (SELECT count(*) FROM pg_tablespace) AS complete;
SELECT l.name FROM sync_probe.locations l
LEFT JOIN pg_tablespace t ON t.spcname = l.name
WHERE t.oid IS NULL;

\echo -- directories are real ones, and the file system of each can be told
SELECT name,
       directory LIKE '/%' AS absolute,
       starts_with(directory, mount_point) AS below_mount_point,
       filesystem <> '' AS has_filesystem,
       mount_options ~ '(^|,)rw(,|$)' AS writable,
       available_bytes BETWEEN 1 AND size_bytes AS space_adds_up,
       coalesce(write_cache IN ('write back', 'write through'), true) AS known_cache
FROM sync_probe.locations
WHERE name IN ('pg_wal', 'pg_default') OR name LIKE 'regress%';

\echo -- these two lie in the data directory
SELECT name, shares_filesystem_with IS NOT NULL AS shares
FROM sync_probe.locations WHERE name LIKE 'regress%';

\echo -- the first location on a file system never shares it with another
SELECT l.name FROM sync_probe.locations l
JOIN sync_probe.locations first ON first.name = l.shares_filesystem_with
WHERE first.shares_filesystem_with IS NOT NULL;

DROP TABLESPACE "regress Sync'Probe";
SELECT refused('SELECT FROM sync_probe.probe(%s)', $$'regress Sync''Probe'$$);
