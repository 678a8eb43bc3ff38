--
-- Bad arguments: each names the value and what was expected.
--
-- Nothing here gets as far as writing a file.
\set SHOW_CONTEXT never

-- location
SELECT FROM sync_probe.probe(NULL);
SELECT FROM sync_probe.probe('');
SELECT FROM sync_probe.probe('no_such_tablespace');
SELECT FROM sync_probe.probe('/tmp');
SELECT FROM sync_probe.probe('../pg_wal');
SELECT FROM sync_probe.probe('pg_global');

-- suite
SELECT FROM sync_probe.probe(suite => NULL);
SELECT FROM sync_probe.probe(suite => '');
SELECT FROM sync_probe.probe(suite => 'WAL');
SELECT FROM sync_probe.probe(suite => 'iops');

-- duration
SELECT FROM sync_probe.probe(duration => '0');
SELECT FROM sync_probe.probe(duration => '-1 s');
SELECT FROM sync_probe.probe(duration => '1 ms');
SELECT FROM sync_probe.probe(duration => '1 day');
SELECT FROM sync_probe.probe(duration => '100000000 years');
SELECT FROM sync_probe.probe(duration => '-100000000 years');
SELECT FROM sync_probe.probe(duration => '5 fortnights');

-- the upper limit is a setting that only superusers may raise
SET pg_sync_probe.max_duration = '2 s';
SELECT FROM sync_probe.probe(duration => '3 s');
RESET pg_sync_probe.max_duration;

-- duty_cycle
SELECT FROM sync_probe.probe(duty_cycle => 0);
SELECT FROM sync_probe.probe(duty_cycle => -0.5);
SELECT FROM sync_probe.probe(duty_cycle => 1.1);
SELECT FROM sync_probe.probe(duty_cycle => 'NaN');
SELECT FROM sync_probe.probe(duty_cycle => 'Infinity');

-- flush_size
SELECT FROM sync_probe.probe(flush_size => 0);
SELECT FROM sync_probe.probe(flush_size => -8192);
SELECT FROM sync_probe.probe(flush_size => 16777217);
SELECT FROM sync_probe.probe(flush_size => 2147483647);

-- flush_interval
SELECT FROM sync_probe.probe(flush_interval => '-1 ms');
SELECT FROM sync_probe.probe(flush_interval => '0');
SELECT FROM sync_probe.probe(flush_interval => '61 s');

-- what does not apply to a suite
SELECT FROM sync_probe.probe('pg_wal', 'segments', flush_interval => '1 ms');
SELECT FROM sync_probe.probe('pg_wal', 'segments', workers => 2);
SELECT FROM sync_probe.probe('pg_wal', 'segments', flush_size => 16777217);
SELECT FROM sync_probe.probe('pg_wal', 'segments', duty_cycle => 0);

-- no room for one round of all test cases; how many there are is the platform's business
\set VERBOSITY terse
SELECT FROM sync_probe.probe(duration => '200 ms', duty_cycle => 0.0001);
SELECT FROM sync_probe.probe(duration => '5 s', flush_interval => '60 s');
SELECT FROM sync_probe.probe(suite => 'pg_test_fsync', duty_cycle => 1e-300);
\set VERBOSITY default

-- the rest
SELECT FROM sync_probe.probe(stop_early => NULL);
SELECT FROM sync_probe.probe(record => NULL);
SELECT FROM sync_probe.probe_all(duration => '-1 s');
SELECT FROM sync_probe.probe_all(duty_cycle => 2);

-- label
SELECT FROM sync_probe.probe(label => repeat('x', 257));
SELECT FROM sync_probe.probe(label => repeat('x', 200000000));
SELECT FROM sync_probe.probe_all(label => repeat('x', 257));
SELECT FROM sync_probe.pgbench(label => repeat('x', 257));
CALL sync_probe.run_workload(label => repeat('x', 257));

-- settings
SET pg_sync_probe.margin = 0;
SET pg_sync_probe.margin = 'a lot';
SET pg_sync_probe.reserve_percent = 101;
SET pg_sync_probe.no_such_setting = 1;

-- a run that is not there, or is not of the tool's suite
SELECT sync_probe.pg_test_fsync_report(NULL);
SELECT sync_probe.pg_test_fsync_report(-1);

-- the states, for programs
DO $$
DECLARE
    statement text;
BEGIN
    FOREACH statement IN ARRAY ARRAY[
        'SELECT FROM sync_probe.probe(NULL)',
        'SELECT FROM sync_probe.probe(''no_such_tablespace'')',
        'SELECT FROM sync_probe.probe(''pg_global'')',
        'SELECT FROM sync_probe.probe(suite => ''iops'')',
        'SELECT FROM sync_probe.probe(duration => ''0'')',
        'SELECT FROM sync_probe.probe(duration => ''1 s'', flush_interval => ''2 s'')',
        'SELECT FROM sync_probe.probe(duty_cycle => 0)',
        'SELECT FROM sync_probe.probe(flush_size => 0)',
        'SELECT FROM sync_probe.probe(flush_interval => ''-1 s'')',
        'SELECT sync_probe.pg_test_fsync_report(-1)']
    LOOP
        BEGIN
            EXECUTE statement;
            RAISE INFO 'no error: %', statement;
        EXCEPTION WHEN OTHERS THEN
            RAISE INFO '% %', SQLSTATE, statement;
        END;
    END LOOP;
END
$$;

-- room: a reserve that no file system can leave
SET pg_sync_probe.reserve_percent = 100;
\set VERBOSITY terse
SELECT FROM sync_probe.probe(duration => '10 ms');
SELECT FROM sync_probe.probe('pg_default', duration => '10 ms');
RESET pg_sync_probe.reserve_percent;
SET temp_file_limit = '1MB';
SELECT FROM sync_probe.probe('pg_default', 'pg_test_fsync', duration => '10 ms');
\set VERBOSITY default
RESET temp_file_limit;

-- nothing was measured, nothing was recorded, nothing is left
SELECT count(*) FROM sync_probe.runs;
SELECT sync_probe.cleanup();
