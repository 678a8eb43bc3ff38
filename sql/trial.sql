-- Arguments, privileges and refusals of trial().
\set VERBOSITY terse
SET client_min_messages = warning;

-- so that no change of a file is pending
SELECT pg_reload_conf();
SELECT pg_sleep(0.5);

-- settings and values: the server's own message where it has one
CALL sync_probe.trial('work_mem', '{1MB}');
CALL sync_probe.trial('no_such_setting');
CALL sync_probe.trial(NULL);
CALL sync_probe.trial('commit_delay');
CALL sync_probe.trial('commit_delay', '{}');
CALL sync_probe.trial('commit_delay', '{0}');
CALL sync_probe.trial('commit_delay', '{0,x}');
CALL sync_probe.trial('commit_delay', '{0,100001}');
CALL sync_probe.trial('commit_delay', '{0,10,NULL}');
CALL sync_probe.trial('commit_delay', '{1,2,3,4,5,6,7,8}');
CALL sync_probe.trial('wal_writer_delay', '{200ms,0.2s}');
CALL sync_probe.trial('wal_sync_method', '{fdatasynk}');
CALL sync_probe.trial('wal_compression', '{off,no}');
-- one of them is of another kind than the current method
\set VERBOSITY sqlstate
CALL sync_probe.trial("values" => '{fsync,open_datasync}');
\set VERBOSITY terse

-- times
CALL sync_probe.trial(duration => '0.5 s');
CALL sync_probe.trial(duration => '1 day');
CALL sync_probe.trial(duration => NULL);
CALL sync_probe.trial(slot => '0.1 s');
CALL sync_probe.trial(slot => '10 s', duration => '20 s');

-- the workload that makes the load
CALL sync_probe.trial(workload => 'no_such_workload');
CALL sync_probe.trial(workload => '');
CALL sync_probe.trial(workload => 'sql_bench');
INSERT INTO sync_probe.workloads (workload, script, transactions)
VALUES ('regress counted', 'SELECT 1', 5);
CALL sync_probe.trial(workload => 'regress counted');
DELETE FROM sync_probe.workloads WHERE workload = 'regress counted';
-- the slots of more sessions are longer
CALL sync_probe.trial('commit_delay', '{0,10}', duration => '1 s', slot => '0.3 s', workload => 'upsert');

-- a text that is stored
CALL sync_probe.trial(label => repeat('x', 257));

-- not where it cannot commit
BEGIN;
CALL sync_probe.trial();
ROLLBACK;
CREATE PROCEDURE public.lent() LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    run_id bigint;
    verdict text;
    recommended_value text;
    reason text;
BEGIN
    CALL sync_probe.trial('commit_delay', '{0,10}', run_id => run_id, verdict => verdict,
                          recommended_value => recommended_value, reason => reason);
END
$$;
CALL public.lent();
DROP PROCEDURE public.lent;
SET default_transaction_read_only = on;
CALL sync_probe.trial();
RESET default_transaction_read_only;

-- two privileges, and both for the session user and the current user
CREATE ROLE regress_trial_caller;
SET ROLE regress_trial_caller;
CALL sync_probe.trial('commit_delay', '{0,10}');
RESET ROLE;
GRANT EXECUTE ON PROCEDURE sync_probe.trial TO regress_trial_caller;
SET ROLE regress_trial_caller;
CALL sync_probe.trial('commit_delay', '{0,10}');
RESET ROLE;
SET SESSION AUTHORIZATION regress_trial_caller;
CALL sync_probe.trial('commit_delay', '{0,10}');
RESET SESSION AUTHORIZATION;

GRANT ALTER SYSTEM ON PARAMETER commit_delay TO regress_trial_caller;
SET SESSION AUTHORIZATION regress_trial_caller;
CALL sync_probe.trial('wal_sync_method');
-- the argument is wrong, so that no trial begins
CALL sync_probe.trial('commit_delay', '{0}');
RESET SESSION AUTHORIZATION;
REVOKE ALL ON PARAMETER commit_delay FROM regress_trial_caller;
REVOKE ALL ON PROCEDURE sync_probe.trial FROM regress_trial_caller;
DROP ROLE regress_trial_caller;

-- a trial without commits: the row, and what is recorded
\pset null '(null)'
CALL sync_probe.trial('commit_delay', '{0,10}', duration => '2 s', label => 'regress',
                      run_id => NULL, verdict => NULL, recommended_value => NULL, reason => NULL) \gset
SELECT source, label, location, suite, setting, verdict, recommended_value, reason <> '' AS has_reason,
       directory IS NOT NULL AS has_directory, wal_sync_method = wal_sync_method_at_end AS same,
       requested_duration, usable_for_advice, workload
FROM sync_probe.runs ORDER BY run_id DESC LIMIT 1;
SELECT m.test, m.method = current_setting('wal_sync_method') AS in_force, m.value, m.choice, m.status,
       m.relative_speed, m.relative_rate, m.ordinal
FROM sync_probe.measurements AS m
WHERE run_id = (SELECT max(run_id) FROM sync_probe.runs) ORDER BY ordinal;
SHOW commit_delay;
DELETE FROM sync_probe.runs WHERE label = 'regress';
