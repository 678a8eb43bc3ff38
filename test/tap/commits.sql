-- What commit_waits() and the suite commit refuse and record, and the pace that a probe takes
-- from commit_waits().  Real commits: test/t/017_commit_suite.pl and 019_commit_waits.pl.
\set tests 37
\ir include/begin.sql
DELETE FROM sync_probe.commit_wait_results;
-- what the cluster does must not matter
SET LOCAL pg_sync_probe.commit_waits_max_age = 0;
SET LOCAL client_min_messages = warning;

-- Nothing here gets as far as starting a worker.
SELECT throws_ok(statement, state,
                 replace(message, '(current)', current_setting('wal_sync_method')), statement)
FROM (
    SELECT 'SELECT sync_probe.commit_waits(' || a || ')', '22023', message
    FROM (VALUES ('NULL', 'argument "duration" must not be null'),
                 ($$'50 ms'$$, 'duration "00:00:00.05" is out of range'),
                 ($$'1 hour'$$, 'duration "01:00:00" is out of range')) AS v (a, message)
    UNION ALL
    SELECT 'SELECT FROM sync_probe.probe(' || a || ')', '22023', message
    FROM (VALUES
        ($$'pg_default', 'commit'$$, 'suite "commit" does not apply to location "pg_default"'),
        ('workers => 4', 'argument "workers" does not apply to suite "wal"'),
        ($$suite => 'pg_test_fsync', commit_delays => '{10}'$$,
         'argument "commit_delays" does not apply to suite "pg_test_fsync"')) AS v (a, message)
    UNION ALL
    SELECT $$SELECT FROM sync_probe.probe('pg_wal', 'commit', $$ || a || ')',
           CASE WHEN a ~ 'NULL' THEN '22004' ELSE '22023' END, message
    FROM (VALUES ('duty_cycle => 0.5', 'argument "duty_cycle" does not apply to suite "commit"'),
        ('workers => 0', 'workers 0 is out of range'),
        ('workers => 65', 'workers 65 is out of range'),
        ($$methods => '{fsync,no_such_method}'$$,
         'invalid value for parameter "wal_sync_method": "no_such_method"'),
        ($$methods => '{fsync,NULL}'$$, 'values of "wal_sync_method" must not contain nulls'),
        ($$methods => '{}'$$,
         'there is no value of "wal_sync_method" to compare with the current one, "(current)"'),
        ($$commit_delays => '{10,-1}'$$,
         '-1 is outside the valid range for parameter "commit_delay" (0 .. 100000)'),
        ($$commit_delays => '{0,0}'$$,
         'there is no value of "commit_delay" to compare with the current one, "0"'),
        ($$commit_delays => '{1,2,3,4,5,6,7,8}'$$, 'too many values of "commit_delay"'),
        ('flush_size => 23', 'flush_size 23 is out of range'),
        ('flush_size => 1048577', 'flush_size 1048577 is out of range'),
        ($$methods => '{fsync}', commit_delays => '{10}'$$,
         'cannot specify both methods and commit_delays'),
        ($$duration => '100 ms', workers => 1$$, 'duration of 0.1 s is too short for one round'),
        ($$duration => '2 s', flush_interval => '60 s'$$,
         'duration of 2 s is too short for one round')) AS v (a, message)
    ) AS v (statement, state, message);

-- EXECUTE is enough for a run that is recorded
CREATE ROLE sync_probe_committer;
GRANT USAGE ON SCHEMA sync_probe TO sync_probe_committer;
GRANT EXECUTE ON FUNCTION sync_probe.probe TO sync_probe_committer;
SET LOCAL ROLE sync_probe_committer;
SELECT is(count(run_id) FILTER (WHERE ops > 0), 2::bigint, 'it is recorded')
FROM sync_probe.probe('pg_wal', 'commit', workers => 2, duration => '3 s',
                      methods => '{fsync,fdatasync}')
WHERE method IN ('fsync', 'fdatasync');
RESET ROLE;

-- the row of commit_waits()
SELECT results_eq($$
    SELECT answer <> '', wal_busy BETWEEN 0 AND 1, duration >= '1 s',
           started_at < clock_timestamp(), wal_sync_method = current_setting('wal_sync_method'),
           coalesce(commit_delay_us, 0), flushes_per_sec >= 0,
           (system_identifier, host) = (SELECT s.system_identifier, s.host
                                        FROM sync_probe_internal.this_server() AS s),
           (commits_per_sec = 0) = (commit_wait_us IS NULL)
    FROM sync_probe.commit_waits('1 s')$$,
    'VALUES (true, true, true, true, true, 0::float8, true, true, true)', 'commit_waits()');
SELECT is(count(*), 1::bigint, 'is recorded') FROM sync_probe.commit_wait_results;

-- A probe takes the pace of the newest result that counts: a flush is 5,000 bytes of WAL there,
-- the commits of two sessions.  Rates are per second.
CREATE FUNCTION pg_temp.pace(max_age text, change text,
                             OUT flush_size integer, OUT flush_interval interval)
LANGUAGE plpgsql AS $$
DECLARE new_run bigint;
BEGIN
    DELETE FROM sync_probe.commit_wait_results;
    INSERT INTO sync_probe.commit_wait_results (answer, system_identifier, host, started_at,
        duration, commits_per_sec, commit_wait_us, wal_bytes_per_commit, flushes_per_sec)
    SELECT '', s.system_identifier, s.host, clock_timestamp() - '10 min'::interval, '10 s',
           800, 2500, 2500, 400
    FROM sync_probe_internal.this_server() AS s;
    EXECUTE replace(change, 'results', 'sync_probe.commit_wait_results');
    PERFORM set_config('pg_sync_probe.commit_waits_max_age', max_age, true);
    SELECT max(p.run_id) INTO new_run FROM sync_probe.probe(duration => '30 ms') AS p;
    SELECT r.flush_size, r.flush_interval INTO pace.flush_size, pace.flush_interval
    FROM sync_probe.runs AS r WHERE r.run_id = new_run;
END
$$;
SELECT is(ROW(p.*)::text, pace, 'the pace ' || what)
FROM (VALUES ('as it is', 'SELECT', '(5000,00:00:00.0025)'),
    ('not below 0.5 ms', 'UPDATE results SET flushes_per_sec = 20000', '(100,00:00:00.0005)'),
    ('not above 5 ms', 'UPDATE results SET flushes_per_sec = 25', '(80000,00:00:00.005)')
    ) AS v (what, change, pace), pg_temp.pace('1 h', v.change) AS p;
SELECT is(p.flush_size, 5000, 'the pace beside a newer one with ' || seen)
FROM unnest(ARRAY['"commits_per_sec": 0', '"commit_wait_us": 12.5',
    '"sync_us": 12, "write_us": 0, "queue_us": 0, "commit_delay_us": 0, "sync_rep_us": 0']) AS seen,
     pg_temp.pace('1 h', format($$INSERT INTO results SELECT (jsonb_populate_record(r,
         '{"flushes_per_sec": 200, %s}'::jsonb || jsonb_build_object('started_at',
             clock_timestamp()))).* FROM results AS r$$, seen)) AS p;
SELECT isnt(p.flush_size, 5000, 'no pace: ' || what)
FROM (VALUES ('too old', '9 min', 'SELECT'),
    ('of a clock ahead', '1 h', $$UPDATE results SET started_at = now() + '1 d'::interval$$),
    ('switched off', '0', 'SELECT'),
    ('too few flushes', '1 h', $$UPDATE results SET duration = '0.1 s'$$),
    ('unknown flushes', '1 h', 'UPDATE results SET flushes_per_sec = NULL'),
    ('another server', '1 h', $$UPDATE results SET host = 'elsewhere'$$)) AS v (what, age, change),
    pg_temp.pace(v.age, v.change) AS p;

-- from here on nothing can be recorded
SET LOCAL transaction_read_only = on;
SELECT is(ARRAY[count(r.started_at), count(w.flushes_per_sec)], '{0,0}'::bigint[],
          'a read-only transaction records no result, a short one sees no flushes')
FROM sync_probe.commit_waits('100 ms') AS w
LEFT JOIN sync_probe.commit_wait_results AS r USING (started_at);
SELECT is(count(run_id), 0::bigint, 'and no run')
FROM sync_probe.probe('pg_wal', 'commit', workers => 2, duration => '1 s');

\ir include/end.sql
