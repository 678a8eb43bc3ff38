--
-- How a probe is used in somebody's own regression tests; doc/testing.md shows
-- this file.
--
SET client_min_messages = warning;

-- every method that this server has can sync, here and now
SELECT test, method, ops > 0 AS measured
FROM sync_probe.probe(duration => '100 ms', record => false)
WHERE status <> 'unsupported' AND NOT direct_io
ORDER BY ordinal;

-- a sync at pg_wal takes no longer than a second
SELECT bool_and(p50_us < 1000000) AS quick_enough
FROM sync_probe.probe(duration => '100 ms', record => false)
WHERE status = 'ok';

-- the last of our files: clean up
DROP TABLESPACE regress_sync_probe;
DROP EXTENSION pg_sync_probe;
