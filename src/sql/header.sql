/* pg_sync_probe: joined by make from the files in src/sql, in the order of the Makefile, without
   their comments */

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION pg_sync_probe" to load this file. \quit

-- Names without a schema are the server's own, whatever the caller's search_path is.
SET LOCAL search_path = pg_catalog, pg_temp;

-- Not IF NOT EXISTS: the owner of a schema could put functions into it that a superuser then calls.
CREATE SCHEMA sync_probe;
CREATE SCHEMA sync_probe_internal;

COMMENT ON SCHEMA sync_probe IS
  'What a commit costs on this storage, and which wal_sync_method to use';

COMMENT ON SCHEMA sync_probe_internal IS
  'Internals of schema sync_probe: not for direct use, may change in any version';

GRANT USAGE ON SCHEMA sync_probe, sync_probe_internal TO PUBLIC;

--
-- A publication FOR ALL TABLES would publish the tables of this extension.  Subscribers
-- that lack them stop at the first row.  A probe measures the whole cluster, so that the
-- extension works as well in another database.
--
-- Of the time of CREATE EXTENSION, pglz takes a sixth to compress functions and views, and an ACL
-- in each function a thirtieth.  Default privileges may have revoked EXECUTE from PUBLIC, as guides
-- to security advise: only then it is granted.  footer.sql sets both back.
--
DO $$
DECLARE
    publication name;
BEGIN
    SELECT p.pubname INTO publication
    FROM pg_publication AS p
    WHERE p.puballtables
    ORDER BY p.pubname LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'publication "%" would publish the tables of this extension', publication
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = 'It is FOR ALL TABLES. Subscribers that lack these tables would stop.',
                  HINT = 'Create the extension in another database of the cluster, which measures'
                         ' the same.';
    END IF;
    PERFORM set_config('sync_probe.toast_compression',
                       current_setting('default_toast_compression'), true);
    BEGIN
        SET LOCAL default_toast_compression = lz4;
    EXCEPTION WHEN invalid_parameter_value THEN
        NULL; -- built without it
    END;
    IF EXISTS (SELECT FROM pg_default_acl) THEN
        ALTER DEFAULT PRIVILEGES IN SCHEMA sync_probe, sync_probe_internal
            GRANT EXECUTE ON ROUTINES TO PUBLIC;
    END IF;
END
$$;
