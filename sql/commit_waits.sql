--
-- commit_waits(): arguments, privileges, what it returns and records.
--
SET client_min_messages = notice;
\set SHOW_CONTEXT never
DELETE FROM sync_probe.commit_wait_results;

-- bad arguments
SELECT sync_probe.commit_waits(NULL);
SELECT sync_probe.commit_waits('0');
SELECT sync_probe.commit_waits('-1 s');
SELECT sync_probe.commit_waits('50 ms');
SELECT sync_probe.commit_waits('1 hour');
SELECT count(*) FROM sync_probe.commit_wait_results;

-- one row, which is recorded
SELECT abs(commits_per_sec * extract(epoch FROM duration) - commits) <= 1 AS rate, samples > 10 AS samples, answer <> '' AS answer,
       wal_busy BETWEEN 0 AND 1 AS wal_busy,
       duration >= '200 ms' AS duration, started_at < clock_timestamp() AS started,
       wal_sync_method = current_setting('wal_sync_method') AS method, commit_delay,
       flushes_source IN ('pg_stat_wal', 'pg_stat_io') AS source,
       username = current_user AS username,
       system_identifier = (SELECT system_identifier FROM pg_control_system()) AS cluster,
       host <> '' AS host, result_id IS NOT NULL AS recorded
FROM sync_probe.commit_waits('200 ms');
SELECT count(*), bool_and(duration >= '200 ms') FROM sync_probe.commit_wait_results;

-- what was not seen is null
SELECT count(*) AS contradictions
FROM sync_probe.commit_wait_results
WHERE (commits = 0) <> (commit_wait_us IS NULL) OR (commits = 0) <> (wal_bytes_per_commit IS NULL);

-- nothing is recorded in a read-only transaction
BEGIN READ ONLY;
SELECT result_id IS NULL AS not_recorded, samples > 10 AS samples
FROM sync_probe.commit_waits('100 ms');
COMMIT;
SELECT count(*) FROM sync_probe.commit_wait_results;

-- a time limit of the session ends it
SET statement_timeout = '300 ms';
SELECT sync_probe.commit_waits('1 min');
RESET statement_timeout;

-- pg_monitor may call it, others need EXECUTE
CREATE ROLE regress_sync_probe_sampler;
GRANT SELECT ON sync_probe.commit_wait_results TO regress_sync_probe_sampler;
SET ROLE regress_sync_probe_sampler;
SELECT sync_probe.commit_waits('100 ms');
INSERT INTO sync_probe.commit_wait_results (answer) VALUES ('of mine');
RESET ROLE;
GRANT pg_monitor TO regress_sync_probe_sampler;
SET ROLE regress_sync_probe_sampler;
SELECT username, result_id IS NOT NULL AS recorded FROM sync_probe.commit_waits('100 ms');
RESET ROLE;

-- a probe takes the pace of the newest result that counts
SET client_min_messages = warning;
CREATE FUNCTION pg_temp.pace_of_probe(max_age text)
RETURNS TABLE (flush_size integer, size_source text, flush_interval interval,
               interval_source text, observed interval)
LANGUAGE plpgsql AS $$
DECLARE
    new_run bigint;
BEGIN
    PERFORM set_config('pg_sync_probe.commit_waits_max_age', max_age, false);
    SELECT max(p.run_id) INTO new_run FROM sync_probe.probe(duration => '30 ms') AS p;
    RETURN QUERY SELECT r.flush_size, r.flush_size_source, r.flush_interval,
                        r.flush_interval_source, r.observed_flush_interval
                 FROM sync_probe.runs AS r WHERE r.run_id = new_run;
END
$$;

DELETE FROM sync_probe.commit_wait_results;
INSERT INTO sync_probe.commit_wait_results (answer, system_identifier, host, started_at, flushes,
    flushes_per_sec, bytes_per_flush, committers, commits_per_sec, commits)
SELECT '', s.system_identifier, s.host, clock_timestamp() - '10 min'::interval, 1000, 400, 4321,
       8, 400, 1000
FROM sync_probe_internal.this_server() AS s;
SELECT * FROM pg_temp.pace_of_probe('1 h');

-- a newer result that saw no commit tells nothing of them
INSERT INTO sync_probe.commit_wait_results (answer, system_identifier, host, started_at, commits,
    committers, flushes, flushes_per_sec, bytes_per_flush)
SELECT '', s.system_identifier, s.host, clock_timestamp(), 0, 0, 200, 2, 8192
FROM sync_probe_internal.this_server() AS s
RETURNING result_id AS idle \gset
SELECT * FROM pg_temp.pace_of_probe('1 h');
DELETE FROM sync_probe.commit_wait_results WHERE result_id = :idle;

-- too old, or switched off
SELECT size_source <> 'commit_waits' AS size, interval_source <> 'commit_waits' AS pace
FROM pg_temp.pace_of_probe('9 min');
SELECT size_source <> 'commit_waits' AS size, interval_source <> 'commit_waits' AS pace
FROM pg_temp.pace_of_probe('0');

-- within the bounds of the paced regime
UPDATE sync_probe.commit_wait_results SET flushes_per_sec = 20000;
SELECT flush_interval, observed FROM pg_temp.pace_of_probe('1 h');
UPDATE sync_probe.commit_wait_results SET flushes_per_sec = 25, bytes_per_flush = 1e12;
SELECT flush_size <= 16777216 AS flush_size, flush_interval, observed
FROM pg_temp.pace_of_probe('1 h');

-- too few flushes, unknown ones, and those of another server
UPDATE sync_probe.commit_wait_results SET flushes = 99;
SELECT size_source <> 'commit_waits' AS size FROM pg_temp.pace_of_probe('1 h');
UPDATE sync_probe.commit_wait_results SET flushes = NULL, flushes_per_sec = NULL;
SELECT size_source <> 'commit_waits' AS size FROM pg_temp.pace_of_probe('1 h');
UPDATE sync_probe.commit_wait_results SET flushes = 1000, flushes_per_sec = 100, host = 'elsewhere';
SELECT size_source <> 'commit_waits' AS size FROM pg_temp.pace_of_probe('1 h');

DELETE FROM sync_probe.commit_wait_results;
DELETE FROM sync_probe.runs;
RESET pg_sync_probe.commit_waits_max_age;
REVOKE ALL ON sync_probe.commit_wait_results FROM regress_sync_probe_sampler;
DROP ROLE regress_sync_probe_sampler;
