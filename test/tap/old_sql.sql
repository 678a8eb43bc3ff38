-- A package brings a new library, and the SQL is of an earlier version until ALTER EXTENSION
-- UPDATE.  Tables that are not as the library expects give an error.

\set tests 12
\ir include/begin.sql

-- A table that lacks a column of the library's version: the error names both.
CREATE FUNCTION pg_temp.run(change text, statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    hint text;
    state text;
    message text;
BEGIN
    EXECUTE change;
    EXECUTE statement;
    RAISE EXCEPTION 'it ran';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT, state = RETURNED_SQLSTATE,
        message = MESSAGE_TEXT;
    RETURN format('%s %s %s', state, message,
                  CASE WHEN hint LIKE '%ALTER EXTENSION pg\_sync\_probe UPDATE%' THEN 'hint' END);
END
$$;

CREATE TEMP TABLE lacks (relation text, change text, statement text, missing text);
INSERT INTO lacks VALUES
('runs', 'ALTER TABLE sync_probe.runs RENAME COLUMN host TO other',
 'SELECT FROM sync_probe.probe(duration => ''20 ms'')', 'host'),
('measurements', 'ALTER TABLE sync_probe.measurements RENAME COLUMN max_us TO other',
 'SELECT FROM sync_probe.probe(duration => ''20 ms'')', 'max_us'),
('samples', 'ALTER TABLE sync_probe_internal.samples RENAME COLUMN bucket_ops TO other',
 'SELECT FROM sync_probe.probe(duration => ''20 ms'')', 'bucket_ops'),
('stream_seconds', 'ALTER TABLE sync_probe.stream_seconds RENAME COLUMN slowest_us TO other',
 'SELECT FROM sync_probe.probe(''pg_wal'', ''stream'', ''200 ms'')', 'slowest_us'),
('commit_wait_results', 'ALTER TABLE sync_probe.commit_wait_results RENAME COLUMN answer TO other',
 'SELECT sync_probe.commit_waits(''100 ms'')', 'answer'),
('workloads', 'ALTER TABLE sync_probe.workloads RENAME COLUMN protocol TO other',
 'SELECT FROM sync_probe.pgbench(clients => 1, transactions => 1)', 'protocol'),
('workload_results', 'ALTER TABLE sync_probe.workload_results RENAME COLUMN tps TO other',
 'SELECT FROM sync_probe.pgbench(clients => 1, transactions => 1)', 'tps'),
('storage', 'ALTER TYPE sync_probe_internal.storage RENAME ATTRIBUTE size_bytes TO other',
 'SELECT FROM sync_probe_internal.examine_locations(''pg_wal'')', 'size_bytes');

SELECT matches(pg_temp.run(change, statement),
               format('^42703 column "%s" .*is missing in .*%s hint$', missing, relation),
               relation || ' without ' || missing)
FROM lacks;
SELECT matches(pg_temp.run('ALTER TABLE sync_probe.runs RENAME TO other_runs',
                           'SELECT FROM sync_probe.probe(duration => ''20 ms'')'),
               '^42P01 ', 'without a table');
SELECT matches(pg_temp.run('ALTER TABLE sync_probe.' || relation || ' RENAME TO others', statement),
               '^42P01 .*' || relation || '" does not exist ', 'without ' || relation)
FROM lacks WHERE relation IN ('samples', 'stream_seconds');
SELECT is(pg_temp.run('SELECT 1', 'SELECT FROM sync_probe.probe(duration => ''20 ms'')'),
          'P0001 it ran ', 'with all of them it runs');

\ir include/end.sql
