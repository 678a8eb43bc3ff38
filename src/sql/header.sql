/* pg_sync_probe: joined by make from the files in src/sql, in the order of the Makefile */

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION pg_sync_probe" to load this file. \quit

-- Names without a schema are the server's own, whoever has been here before.
SET LOCAL search_path = pg_catalog, pg_temp;

-- Not IF NOT EXISTS: the owner of a schema may put functions into it that a superuser then calls.
CREATE SCHEMA sync_probe;

COMMENT ON SCHEMA sync_probe IS
  'What a commit costs on this storage, and what wal_sync_method should be';

GRANT USAGE ON SCHEMA sync_probe TO PUBLIC;

