--
-- commit_waits(): arguments, privileges, what it returns and records.
--
\set VERBOSITY terse
DELETE FROM sync_probe.commit_wait_results;

-- bad arguments
SELECT sync_probe.commit_waits(NULL);
SELECT sync_probe.commit_waits('50 ms');
SELECT sync_probe.commit_waits('1 hour');

-- one row, which is recorded, but not in a read-only transaction
SELECT answer <> '' AS answer, wal_busy BETWEEN 0 AND 1 AS wal_busy,
       duration >= '200 ms' AS duration, started_at < clock_timestamp() AS started,
       wal_sync_method = current_setting('wal_sync_method') AS method, commit_delay,
       flushes_per_sec >= 0 AS flushes, result_id IS NOT NULL AS recorded,
       (system_identifier, host) = (SELECT s.system_identifier, s.host
                                    FROM sync_probe_internal.this_server() AS s) AS server,
       (commits_per_sec = 0) = (commit_wait_us IS NULL) AS known
FROM sync_probe.commit_waits('200 ms');
BEGIN READ ONLY;
SELECT result_id IS NULL AS not_recorded FROM sync_probe.commit_waits('100 ms');
COMMIT;
SELECT count(*), bool_and(duration >= '200 ms') FROM sync_probe.commit_wait_results;

-- a time limit of the session ends it
SET statement_timeout = '300 ms';
SELECT sync_probe.commit_waits('1 min');
RESET statement_timeout;

-- pg_monitor may call it, others need EXECUTE
CREATE ROLE regress_sync_probe_sampler;
SET ROLE regress_sync_probe_sampler;
SELECT sync_probe.commit_waits('100 ms');
RESET ROLE;
GRANT pg_monitor TO regress_sync_probe_sampler;
SET ROLE regress_sync_probe_sampler;
SELECT result_id IS NOT NULL AS recorded FROM sync_probe.commit_waits('100 ms');
RESET ROLE;
DROP ROLE regress_sync_probe_sampler;

-- A probe takes the pace of the newest result that counts: a flush is 5,000 bytes of WAL there,
-- the commits of two.  Rates are per second.
SET client_min_messages = warning;
CREATE FUNCTION pg_temp.pace(max_age text, change text,
                             OUT flush_size integer, OUT flush_interval interval)
LANGUAGE plpgsql AS $$
DECLARE
    new_run bigint;
BEGIN
    DELETE FROM sync_probe.commit_wait_results;
    INSERT INTO sync_probe.commit_wait_results (answer, system_identifier, host, started_at,
        duration, commits_per_sec, wal_bytes_per_commit, flushes_per_sec)
    SELECT '', s.system_identifier, s.host, clock_timestamp() - '10 min'::interval, '10 s',
           800, 2500, 400
    FROM sync_probe_internal.this_server() AS s;
    EXECUTE replace(change, 'results', 'sync_probe.commit_wait_results');
    PERFORM set_config('pg_sync_probe.commit_waits_max_age', max_age, false);
    SELECT max(p.run_id) INTO new_run FROM sync_probe.probe(duration => '30 ms') AS p;
    SELECT r.flush_size, r.flush_interval INTO pace.flush_size, pace.flush_interval
    FROM sync_probe.runs AS r WHERE r.run_id = new_run;
END
$$;
-- as it is; beside one without a commit; within the bounds of the paced regime
SELECT p.* FROM (VALUES
    (1, 'SELECT'),
    (2, $$INSERT INTO results SELECT (r).* FROM (SELECT jsonb_populate_record(r, jsonb_build_object(
              'result_id', result_id + 1, 'commits_per_sec', 0, 'flushes_per_sec', 200,
              'started_at', clock_timestamp())) AS r FROM results AS r) AS r$$),
    (3, 'UPDATE results SET flushes_per_sec = 20000'),
    (4, 'UPDATE results SET flushes_per_sec = 25')) AS v (n, change),
    pg_temp.pace('1 h', v.change) AS p
ORDER BY v.n;
-- too old, switched off, too few flushes, unknown ones, and those of another server
SELECT p.flush_size <> 5000 AS not_taken FROM (VALUES
    ('9 min', 'SELECT'), ('0', 'SELECT'),
    ('1 h', $$UPDATE results SET duration = '0.1 s'$$),
    ('1 h', 'UPDATE results SET flushes_per_sec = NULL'),
    ('1 h', $$UPDATE results SET host = 'elsewhere'$$)) AS v (age, change),
    pg_temp.pace(v.age, v.change) AS p;

DELETE FROM sync_probe.commit_wait_results;
DELETE FROM sync_probe.runs;
RESET pg_sync_probe.commit_waits_max_age;
