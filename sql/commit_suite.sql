--
-- The commit suite: its arguments, and who may use it.
--
-- what the cluster does must not matter
SET pg_sync_probe.commit_waits_max_age = 0;
\pset tuples_only
\pset format unaligned

-- nothing here gets as far as starting a worker
CREATE FUNCTION pg_temp.refusal(arguments text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('SELECT FROM sync_probe.probe(%s)', arguments);
    RETURN 'none';
EXCEPTION WHEN others THEN
    RETURN SQLSTATE || ' ' || replace(SQLERRM, current_setting('wal_sync_method'), '(current)');
END
$$;
SELECT a, pg_temp.refusal(a)
FROM (VALUES ($$'pg_default', 'commit'$$), ($$'pg_wal', 'commit', duty_cycle => 0.5$$),
             ($$workers => 4$$), ($$methods => '{fsync}'$$),
             ($$suite => 'pg_test_fsync', commit_delays => '{10}'$$)) AS v (a);
SELECT a, pg_temp.refusal($$'pg_wal', 'commit', $$ || a)
FROM (VALUES ($$workers => 0$$), ($$workers => 65$$),
             ($$methods => '{fsync,no_such_method}'$$), ($$methods => '{fsync,NULL}'$$),
             ($$methods => '{}'$$),
             ($$commit_delays => '{10,-1}'$$), ($$commit_delays => '{10,NULL}'$$),
             ($$commit_delays => '{}'$$), ($$commit_delays => '{0,0}'$$),
             ($$commit_delays => '{1,2,3,4,5,6,7,8}'$$),
             ($$flush_size => 23$$), ($$flush_size => 1048577$$), ($$flush_interval => '0'$$),
             ($$duration => '0'$$), ($$duration => '100 ms', workers => 1$$),
             ($$duration => '5 s', flush_interval => '60 s'$$)) AS v (a);

-- its limit is for superusers
\set VERBOSITY terse
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
