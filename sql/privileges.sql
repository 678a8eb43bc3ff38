\set ECHO none
--
-- Who may probe, who may look.
--
\a \pset footer off
SET client_min_messages = warning;
\set SHOW_CONTEXT never
CREATE ROLE regress_sync_probe_nobody;
CREATE ROLE regress_sync_probe_monitor IN ROLE pg_monitor;
CREATE ROLE regress_sync_probe_prober;
GRANT EXECUTE ON FUNCTION sync_probe.probe, sync_probe.power_test_result
    TO regress_sync_probe_prober;
GRANT EXECUTE ON PROCEDURE sync_probe.power_test TO regress_sync_probe_prober;

SELECT count(*) FROM sync_probe.running; -- loads the library, with its settings

\echo -- nobody may do either
SET ROLE regress_sync_probe_nobody;
SELECT refused('%s', $$
SELECT FROM sync_probe.probe(duration => '10 ms')
SELECT FROM sync_probe.probe_all()
SELECT sync_probe.cleanup()
CALL sync_probe.power_test()
SELECT sync_probe.power_test_result(1)
SELECT FROM sync_probe.runs
SELECT FROM sync_probe.recommendations
SELECT FROM sync_probe_internal.probe_run('pg_wal', 'wal')
SELECT FROM sync_probe_internal.examine_locations(NULL)
SELECT sync_probe.device_lifetime('pg_wal', 1, 1)
SET pg_sync_probe.max_duration = '1 day'
SET pg_sync_probe.reserve_percent = 0
SET pg_sync_probe.max_stream_write = '1TB'
SET pg_sync_probe.zfs_directory = '/tmp'
$$);
SET pg_sync_probe.margin = 0.1;
RESET pg_sync_probe.margin;
RESET ROLE;

\echo -- pg_monitor may look
SET ROLE regress_sync_probe_monitor;
SELECT (SELECT count(*) > 1 FROM sync_probe.locations) AS locations,
       (SELECT count(*) FROM sync_probe.runs) AS runs,
       (SELECT count(*) FROM sync_probe.runs AS r, sync_probe.latency_histogram(r.run_id)) AS buckets,
       (SELECT count(*) FROM sync_probe.running) AS running;
SELECT years, basis LIKE '%not probed yet' AS unknown
FROM sync_probe.device_lifetime('pg_wal', 300000000000, 5000);
SELECT refused('%s', $$
SELECT FROM sync_probe.probe(duration => '10 ms')
SELECT FROM sync_probe.expect(duration => '10 ms')
INSERT INTO sync_probe.runs (suite) VALUES ('wal')
$$);
RESET ROLE;

\echo -- probe_all() says which GRANT it lacks, and so do others
GRANT EXECUTE ON FUNCTION sync_probe.probe_all, sync_probe.probe_fleet, sync_probe.collect_fleet
    TO regress_sync_probe_prober;
SET ROLE regress_sync_probe_prober;
SELECT refused('SELECT FROM sync_probe.%s', $$
probe_fleet()
collect_fleet()
$$);
SELECT FROM sync_probe.probe_all(duration => '10 ms');
RESET ROLE;

\echo -- EXECUTE is enough for pg_wal, and to record the run
SET ROLE regress_sync_probe_prober;
SELECT count(*) > 0 AS probed, count(run_id) = count(*) AS recorded
FROM sync_probe.probe(duration => '20 ms', label => 'prober');
DELETE FROM sync_probe.runs;

\echo -- what somebody attached to the history runs as its owner, but cannot change the session
RESET ROLE;
CREATE FUNCTION regress_attached() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE WARNING 'search_path is %', current_setting('search_path');
    CREATE TEMP TABLE regress_attached (n integer);
    RETURN new;
END
$$;
CREATE TRIGGER attached BEFORE INSERT ON sync_probe.runs
    FOR EACH ROW EXECUTE FUNCTION regress_attached();
SET ROLE regress_sync_probe_prober;
\set VERBOSITY terse
SELECT FROM sync_probe.probe(duration => '20 ms', label => 'prober');
\set VERBOSITY default
RESET ROLE;
DROP TRIGGER attached ON sync_probe.runs;
DROP FUNCTION regress_attached();
SET ROLE regress_sync_probe_prober;

\echo -- a tablespace takes CREATE, as for anything else that writes there
SELECT FROM sync_probe.probe('regress_sync_probe', duration => '10 ms');
CALL sync_probe.power_test('regress_sync_probe');
SELECT sync_probe.power_test_result(1, 'regress_sync_probe');
RESET ROLE;
GRANT CREATE ON TABLESPACE regress_sync_probe TO regress_sync_probe_prober;
SET ROLE regress_sync_probe_prober;
SELECT count(*) > 0 AS probed FROM sync_probe.probe('regress_sync_probe', duration => '20 ms');
RESET ROLE;
SELECT count(*), count(storage -> 'disks') FROM sync_probe.runs WHERE label = 'prober';
DELETE FROM sync_probe.runs;

DROP OWNED BY regress_sync_probe_prober;
DROP ROLE regress_sync_probe_nobody, regress_sync_probe_monitor, regress_sync_probe_prober;
