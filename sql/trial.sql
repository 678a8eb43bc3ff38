-- Arguments, privileges and refusals of trial().  How it ends: test/t/018_trial.pl.
\set VERBOSITY terse
\pset tuples_only
\pset format unaligned
\pset null '(null)'
SET client_min_messages = warning;
-- so that no change of a file is pending
SELECT pg_reload_conf();
CALL sync_probe.wait_for_reload();

-- settings and values: the server's own message where it has one
CALL sync_probe.trial('work_mem', '{1MB}');
CALL sync_probe.trial('no_such_setting');
CALL sync_probe.trial(NULL);
CALL sync_probe.trial('commit_delay');
CALL sync_probe.trial('commit_delay', '{0}');
CALL sync_probe.trial('commit_delay', '{0,100001}');
CALL sync_probe.trial('wal_writer_delay', '{200ms,0.2s}');

-- times, and a text that is stored; the slots of more sessions are longer
CALL sync_probe.trial(duration => '0.5 s');
CALL sync_probe.trial(slot => '0.1 s');
CALL sync_probe.trial(slot => '10 s', duration => '20 s');
CALL sync_probe.trial('commit_delay', '{10}', '1 s', slot => '0.3 s', workload => 'upsert');
CALL sync_probe.trial(label => repeat('x', 257));

-- not where it cannot commit
BEGIN;
CALL sync_probe.trial();
ROLLBACK;
SET default_transaction_read_only = on;
CALL sync_probe.trial();
RESET default_transaction_read_only;

-- two privileges, and both for the session user and the current user
CREATE ROLE regress_trial_caller;
GRANT EXECUTE ON PROCEDURE sync_probe.trial TO regress_trial_caller;
SET ROLE regress_trial_caller;
CALL sync_probe.trial('commit_delay', '{10}');
RESET ROLE;
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
CALL sync_probe.trial('commit_delay', '{0,10}', duration => '2 s', label => 'regress') \gset
SELECT location, suite, setting, verdict, recommended_value, reason, max_regret,
       directory IS NOT NULL, usable_for_advice, workload
FROM sync_probe.runs WHERE run_id = :run_id AND label = 'regress';
SELECT test, method, choice, status, relative_speed
FROM sync_probe.measurements WHERE run_id = :run_id ORDER BY ordinal;
SHOW commit_delay;
DELETE FROM sync_probe.runs WHERE label = 'regress';
