-- The end of these regression tests: what setup.sql and locations.sql have made.
DROP TABLESPACE regress_sync_probe;
DROP EXTENSION pg_sync_probe;
DROP FUNCTION refused;
