--
-- version
--
-- A package replaces the library at once, the SQL follows with ALTER EXTENSION UPDATE.
--
CREATE FUNCTION sync_probe_internal.library_version()
RETURNS text
LANGUAGE c IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'sync_probe_library_version';

CREATE FUNCTION sync_probe.version(OUT library text, OUT extension text)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT sync_probe_internal.library_version(), e.extversion
FROM pg_extension AS e
WHERE e.extname = 'pg_sync_probe'
$$;

COMMENT ON FUNCTION sync_probe.version IS
  'Release of the loaded library, such as 1.0.0, and version of the SQL, such as 1.0';
