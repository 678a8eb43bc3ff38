--
-- How a probe is used in somebody's own regression tests; doc/testing.md shows
-- this file.
--
-- Needs extension pg_sync_probe in this database, EXECUTE on sync_probe.probe(),
-- and no other probe meanwhile.  Creates, drops and records nothing.
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
