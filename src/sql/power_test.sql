--
-- power_test
--
-- Write numbered blocks to a file of its own, sync each as the server syncs WAL, and report to the
-- client the newest number that is synced, until the plug is pulled.  doc/power-test.md has the
-- steps.  It is a procedure, since it returns nothing; it commits nothing.  max_duration is no
-- limit: one test a machine is enough, and somebody has to walk to the plug.
--
CREATE PROCEDURE sync_probe.power_test(
    location name DEFAULT 'pg_wal',
    duration interval DEFAULT '1 hour')
LANGUAGE c
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'sync_probe_power_test';

REVOKE ALL ON PROCEDURE sync_probe.power_test FROM PUBLIC;

COMMENT ON PROCEDURE sync_probe.power_test IS
  'Write and sync numbered blocks, and show the newest synced number, until the plug is pulled. '
  'Requires CREATE as probe() does';

--
-- power_test_result
--
-- Check after a power cut that each number which the client of power_test() has seen is there.
-- The file stays until cleanup(), so that it can be asked again; the newest result counts.
--
CREATE FUNCTION sync_probe.power_test_result(
    INOUT last_number bigint,
    INOUT location name DEFAULT 'pg_wal',
    OUT device text,
    OUT method text,
    OUT started_at timestamptz,
    OUT newest_number bigint,
    OUT lost bigint,
    OUT durable text,
    OUT reason text)
LANGUAGE c VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'sync_probe_power_test_result';

REVOKE ALL ON FUNCTION sync_probe.power_test_result FROM PUBLIC;

COMMENT ON FUNCTION sync_probe.power_test_result IS
  'Check the file of power_test() after a power cut against the last number that its client saw, '
  'and record whether syncs are proven or refuted. Requires CREATE as probe() does';

--
-- The newest result of this server at that place, with the current method.  It stands above what
-- counters show, see run_advice().
--
CREATE FUNCTION sync_probe_internal.power_tested(
    of_location name,
    of_directory text,
    of_device text)
RETURNS sync_probe.runs
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT (r.run).*
FROM sync_probe_internal.own_runs AS r
WHERE (r.run).suite = 'power_test' AND (r.run).location = of_location
  AND ARRAY[(r.run).directory, (r.run).device] = ARRAY[of_directory, of_device]
  AND (r.run).wal_sync_method = current_setting('wal_sync_method')
ORDER BY (r.run).run_id + 0 DESC
LIMIT 1
$$;
