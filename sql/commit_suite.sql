--
-- The commit suite: its arguments, and who may use it.
--
-- Nothing here gets as far as starting a worker, but for the last statements.
\set SHOW_CONTEXT never

-- what the cluster does must not matter
SET pg_sync_probe.commit_waits_max_age = 0;

-- where, and what does not apply to which suite
SELECT FROM sync_probe.probe('pg_default', 'commit');
SELECT FROM sync_probe.probe('pg_wal', 'commit', duty_cycle => 0.5);
SELECT FROM sync_probe.probe(workers => 4);
SELECT FROM sync_probe.probe(methods => '{fsync}');
SELECT FROM sync_probe.probe(suite => 'pg_test_fsync', commit_delays => '{10}');

-- workers
SELECT FROM sync_probe.probe('pg_wal', 'commit', workers => 0);
SELECT FROM sync_probe.probe('pg_wal', 'commit', workers => 65);
SELECT FROM sync_probe.probe('pg_wal', 'commit', workers => -1);

-- methods; the list of the hint is the platform's business
\set VERBOSITY terse
SELECT FROM sync_probe.probe('pg_wal', 'commit', methods => '{fsync,no_such_method}');
SELECT FROM sync_probe.probe('pg_wal', 'commit', methods => '{fsync,NULL}');
\set VERBOSITY sqlstate
SELECT FROM sync_probe.probe('pg_wal', 'commit', methods => '{}');
\set VERBOSITY default
DO $$
BEGIN
    EXECUTE format('SELECT FROM sync_probe.probe(''pg_wal'', ''commit'', methods => ''{%s}'')',
                   current_setting('wal_sync_method'));
EXCEPTION WHEN invalid_parameter_value THEN
    RAISE INFO '%', replace(SQLERRM, current_setting('wal_sync_method'), 'current');
END
$$;

-- commit_delay
SELECT FROM sync_probe.probe('pg_wal', 'commit', commit_delays => '{10,-1}');
SELECT FROM sync_probe.probe('pg_wal', 'commit', commit_delays => '{100001}');
SELECT FROM sync_probe.probe('pg_wal', 'commit', commit_delays => '{10,NULL}');
SELECT FROM sync_probe.probe('pg_wal', 'commit', commit_delays => '{}');
SELECT FROM sync_probe.probe('pg_wal', 'commit', commit_delays => '{0,0}');
SELECT FROM sync_probe.probe('pg_wal', 'commit', commit_delays => '{1,2,3,4,5,6,7,8}');

-- a commit
SELECT FROM sync_probe.probe('pg_wal', 'commit', flush_size => 23);
SELECT FROM sync_probe.probe('pg_wal', 'commit', flush_size => 1048577);
SELECT FROM sync_probe.probe('pg_wal', 'commit', flush_interval => '0');

-- time
SELECT FROM sync_probe.probe('pg_wal', 'commit', duration => '0');
SELECT FROM sync_probe.probe('pg_wal', 'commit', duration => '100 ms', workers => 1);
SELECT FROM sync_probe.probe('pg_wal', 'commit', duration => '5 s', flush_interval => '60 s');

-- its limit is for superusers
\set VERBOSITY sqlstate
SET pg_sync_probe.max_commit_wal = 0;
\set VERBOSITY default
CREATE ROLE regress_sync_probe_committer;
SET ROLE regress_sync_probe_committer;
SET pg_sync_probe.max_commit_wal = '10GB';
SELECT FROM sync_probe.probe('pg_wal', 'commit');
RESET ROLE;

-- EXECUTE is enough; a read-only transaction records nothing
GRANT EXECUTE ON FUNCTION sync_probe.probe TO regress_sync_probe_committer;
SET ROLE regress_sync_probe_committer;
SET client_min_messages = warning;
SELECT test, method = value AS named, ops > 0 AS measured, write_size, status
FROM sync_probe.probe('pg_wal', 'commit', workers => 2, duration => '1 s', flush_size => 500,
    methods => '{fsync,fdatasync}')
WHERE method IN ('fsync', 'fdatasync');
BEGIN READ ONLY;
SELECT count(*) > 0 AS rows, count(run_id) AS recorded
FROM sync_probe.probe('pg_wal', 'commit', workers => 2, duration => '1 s');
COMMIT;
RESET client_min_messages;
RESET ROLE;
REVOKE EXECUTE ON FUNCTION sync_probe.probe FROM regress_sync_probe_committer;
DROP ROLE regress_sync_probe_committer;
SELECT suite, workers, flush_interval, verdict IS NOT NULL AS judged, usable_for_advice
FROM sync_probe.runs WHERE suite = 'commit';
DELETE FROM sync_probe.runs WHERE suite = 'commit';
