\set ECHO none
-- Workloads through pgbench: arguments, errors, privileges, shape of the result.
\a \t on
\set SHOW_CONTEXT never
SET client_min_messages = warning;
SELECT count(*) FROM sync_probe.running; -- loads the library, with its settings

\echo -- arguments
SELECT refused('SELECT FROM sync_probe.pgbench(%s)', $$
'nothing'
'sql_bench'
'regress_sync_probe'
NULL
clients => NULL
clients => 0
threads => 0
rows => 0
duration => NULL
duration => '0'
duration => '1500 ms'
transactions => 0
tablespace => 'nowhere'
tablespace => 'pg_global'
allow_publication => NULL
settings => '[1]'
settings => '{"no_such_setting": 1}'
settings => '{"temp_tablespaces": "nowhere"}'
settings => '{"my.own setting": 1}'
settings => '{"work_mem": null}'
settings => '{"wal_sync_method": "fsync"}'
settings => '{"role": "mine"}'
settings => jsonb_build_object('search_path', repeat(' ', 5000))
$$);
\echo -- how many connections there are is known to this server
SELECT refused('SELECT FROM sync_probe.pgbench(%s)', 'clients => 100000', terse => true);

\echo -- where transactions are counted the duration is not used
-- the schema of the run goes before a search_path; what is set for a run is not defined here
SELECT w.transactions, current_setting('regress.unknown', true) IS NULL AS not_defined
FROM unnest(ARRAY['{"search_path": ""}', '{"search_path": " "}',
                  '{"regress.unknown": "a b"}']::jsonb[]) AS given,
    LATERAL sync_probe.pgbench('upsert', clients => 1, transactions => 2, rows => 10,
                               duration => '1 day', settings => given) AS w;
DELETE FROM sync_probe.workload_results;

\echo -- a publication of all tables would publish those of a workload, whatever wal_level is now
SET client_min_messages = error;
CREATE PUBLICATION regress_schema FOR TABLES IN SCHEMA public;
SELECT transactions FROM sync_probe.pgbench('upsert', clients => 1, transactions => 1);
CREATE PUBLICATION regress_all FOR ALL TABLES WITH (publish = 'insert');
SET client_min_messages = warning;
SELECT refused('SELECT FROM sync_probe.pgbench(%s)', 'clients => 1');
CALL sync_probe.run_workload('upsert', clients => 1, transactions => 1);
SELECT transactions FROM sync_probe.pgbench('upsert', clients => 1, transactions => 1,
                                             allow_publication => true);
DROP PUBLICATION regress_schema, regress_all;
DELETE FROM sync_probe.workload_results;

\echo -- the procedure: the same, and never inside a transaction block
CALL sync_probe.run_workload('nothing');
BEGIN;
CALL sync_probe.run_workload(clients => 1, transactions => 1);
ROLLBACK;
\echo -- what was asked for in one message is one group, whatever commits in it
CREATE PROCEDURE regress_run(runs integer) LANGUAGE plpgsql AS $$
DECLARE
    id bigint;
    tps double precision;
    mean double precision;
    p99 double precision;
BEGIN
    FOR i IN 1 .. runs LOOP
        CALL sync_probe.run_workload('upsert', clients => 1, transactions => 3, label => 'one',
                                     result_id => id, tps => tps, latency_mean_ms => mean,
                                     latency_p99_ms => p99);
        COMMIT;
        RAISE WARNING '% % % %',
            (SELECT transactions FROM sync_probe.workload_results WHERE result_id = id),
            tps > 0, mean > 0, p99;
    END LOOP;
END
$$;
CALL regress_run(2);
SELECT count(*) FROM generate_series(1, 2) AS n,
    LATERAL sync_probe.pgbench('upsert', clients => 1, transactions => n, label => 'two');
SELECT label, count(*), min(result_id) = min(run_group) AND min(run_group) = max(run_group) AS one
FROM sync_probe.workload_results GROUP BY label ORDER BY label;
SELECT count(DISTINCT run_group) FROM sync_probe.workload_results;
DELETE FROM sync_probe.workload_results;

\echo -- whose names come first in the search path, he must not be trusted
CREATE FUNCTION public.regress_trap(double precision) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    RAISE WARNING 'trapped as %', current_user;
    RETURN true;
END
$$;
CREATE DOMAIN public.float8 AS double precision CHECK (public.regress_trap(value));
CREATE DOMAIN public.int4 AS integer CHECK (public.regress_trap(value));
CREATE FUNCTION public.sum(double precision) RETURNS double precision
    LANGUAGE sql AS 'SELECT NULL::double precision WHERE public.regress_trap(1)';
SET search_path = public, pg_catalog;
CALL regress_run(1);
SHOW search_path;
RESET search_path;
DROP FUNCTION public.sum(double precision);
DROP DOMAIN public.float8, public.int4;
DROP FUNCTION public.regress_trap;
DROP PROCEDURE regress_run;
DELETE FROM sync_probe.workload_results;

\echo -- one that works: what it says is true of every machine
SELECT workload, tablespace, transactions, failed, clients, threads, rows,
       transactions_per_client AS per_client, tps > 0 AS tps,
       latency_mean_ms > 0 AS mean, latency_p50_ms <= latency_max_ms AS p50,
       latency_p99_ms IS NULL AS p99_unknown, wal_bytes > 0 AS wal_bytes,
       (SELECT count(*) FROM jsonb_each_text(server_settings) AS s
        WHERE s.value = current_setting(s.key)) AS as_in_this_session,
       settings, label, suite, finished_at > started_at AS time
FROM sync_probe.pgbench('upsert', 'regress_sync_probe', clients => 2, threads => 8,
                        transactions => 50, rows => 10,
                        settings => '{"synchronous_commit": "off", "jit": false}',
                        label => 'first') \gx
SELECT s.value ->> 'statement' AS statement, (s.value ->> 'failures')::int AS failures,
       (s.value ->> 'latency_ms') IS NOT NULL AS latency
FROM sync_probe.workload_results, jsonb_array_elements(statements) AS s;
SELECT workload, transactions, latency_p99_ms > 0 AS p99, tablespace, result_id > 0 AS result_id,
       run_group = result_id AS own_group
FROM sync_probe.pgbench('upsert_on_conflict', clients => 1, transactions => 400);

\echo -- synchronous_commit is that of the sessions of the run, and not of the caller
SET synchronous_commit = remote_write;
ALTER DATABASE :"DBNAME" SET synchronous_commit = local;
SELECT given, server_settings ->> 'synchronous_commit' AS synchronous_commit
FROM unnest(ARRAY[NULL, '{"jit": true}', '{"Synchronous_Commit": true}',
                  '{"synchronous_commit": 0}']::jsonb[]) AS given,
    LATERAL sync_probe.pgbench('upsert', clients => 1, transactions => 1, settings => given);
SHOW synchronous_commit;
ALTER DATABASE :"DBNAME" RESET synchronous_commit;
RESET synchronous_commit;

\echo -- other workloads, in their own schema
-- test/t/012_workload_faults.pl has variables where they are replaced; here meta-commands where
-- pgbench takes them, and names that are not variables
INSERT INTO sync_probe.workloads (workload, setup, script, teardown, transactions, protocol) VALUES
('same line', NULL, E'BEGIN; \\set i 1\nSELECT :i; END;', NULL, 2, 'prepared'),
('slice', NULL, 'SELECT (ARRAY[1, 2])[1:n] FROM (VALUES (2)) AS v (n);', NULL, 2, 'simple'),
('prepared slice', NULL, 'SELECT (ARRAY[1, 2])[1:n]', NULL, 2, 'prepared'),
('bad variable', NULL, 'SELECT :aid;', NULL, NULL, 'prepared'),
('uncounted', NULL, 'SELECT :transactions;', NULL, NULL, 'prepared'),
('bad set-up', 'CREATE TABLE t (i int); SELEC 1', 'SELECT 1', NULL, NULL, 'prepared'),
('no statement', NULL, '-- nothing', NULL, NULL, 'prepared'),
('fails later', 'CREATE TABLE t (i int PRIMARY KEY)', 'INSERT INTO t VALUES (1);', NULL, 2,
 'prepared');
SELECT n.workload, w.transactions, w.suite
FROM unnest('{same line,slice}'::name[]) AS n (workload),
    LATERAL sync_probe.pgbench(n.workload, clients => 2) AS w;
SELECT refused('SELECT FROM sync_probe.pgbench(%s)', $$
'prepared slice'
'bad variable'
'uncounted'
$$);
\echo -- the details are words of pgbench
SELECT refused('SELECT FROM sync_probe.pgbench(%s, clients => 1)', $$
'bad set-up'
'no statement'
'fails later'
$$, terse => true);
SELECT refused('INSERT INTO sync_probe.workloads (workload, script, transactions, protocol) %s', $$
VALUES ('', 'SELECT 1', NULL, 'simple')
VALUES ('empty', '', NULL, 'simple')
VALUES ('none', 'SELECT 1', 0, 'simple')
VALUES ('other', 'SELECT 1', NULL, 'v2')
$$, terse => true);
DELETE FROM sync_probe.workloads WHERE NOT builtin;

\echo -- those of the extension stay as they are
INSERT INTO sync_probe.workloads (workload, script) VALUES ('mine', 'SELECT 1') RETURNING *;
SELECT refused('%s', $$
UPDATE sync_probe.workloads SET script = 'SELECT 1' WHERE workload = 'upsert'
DELETE FROM sync_probe.workloads
INSERT INTO sync_probe.workloads (workload, script, builtin) VALUES ('a', 'SELECT 1', true)
UPDATE sync_probe.workloads SET builtin = true WHERE workload = 'mine'
$$);
SELECT refused('WITH d AS (%s RETURNING 1)
                UPDATE sync_probe.workloads SET script = '''' FROM d WHERE NOT builtin',
               'DELETE FROM sync_probe.workloads WHERE NOT builtin');
DELETE FROM sync_probe.workloads WHERE workload = 'mine';

\echo -- a later version may bring one whose name is taken: the name means the builtin one
INSERT INTO sync_probe.workloads (workload, script) VALUES ('upsert_on_conflict', 'SELECT 1;');
SELECT suite FROM sync_probe.pgbench('upsert_on_conflict', clients => 1, transactions => 1);
UPDATE sync_probe.workloads SET workload = 'mine' WHERE NOT builtin;
SELECT statements -> 0 ->> 'statement' AS statement
FROM sync_probe.pgbench('mine', clients => 1, transactions => 1);
DELETE FROM sync_probe.workloads WHERE NOT builtin;
DELETE FROM sync_probe.workload_results;

\echo -- only superusers see where passwords are
CREATE ROLE regress_sync_probe_runner;
SET ROLE regress_sync_probe_runner;
SELECT count(*) FROM pg_settings WHERE name = 'pg_sync_probe.pgbench_passfile'; -- superusers see it
RESET ROLE;

\echo -- what is missing, after each of the grants before
\set arguments '$$clients => 1, tablespace => ''regress_sync_probe''$$'
\set run 'SELECT refused($$SELECT FROM sync_probe.pgbench(%s)$$, ' :arguments ');'
SET ROLE regress_sync_probe_runner; :run RESET ROLE;
GRANT EXECUTE ON FUNCTION sync_probe.pgbench TO regress_sync_probe_runner;
SET ROLE regress_sync_probe_runner; :run RESET ROLE;
GRANT pg_execute_server_program TO regress_sync_probe_runner;
SET ROLE regress_sync_probe_runner; :run RESET ROLE;
GRANT CREATE ON DATABASE :"DBNAME" TO regress_sync_probe_runner;
SET ROLE regress_sync_probe_runner; :run RESET ROLE;
ALTER ROLE regress_sync_probe_runner LOGIN;
SET ROLE regress_sync_probe_runner; :run RESET ROLE;

\echo -- whoever runs a row executes its SQL: only roles that may execute programs can write one
CREATE ROLE regress_sync_probe_author IN ROLE pg_write_all_data;
GRANT ALL ON sync_probe.workloads TO regress_sync_probe_author, regress_sync_probe_runner;
GRANT SET ON PARAMETER session_replication_role TO regress_sync_probe_author;
INSERT INTO sync_probe.workloads (workload, script) VALUES ('ours', 'SELECT 1;');
SET ROLE regress_sync_probe_author;
SELECT refused('%s', $$
INSERT INTO sync_probe.workloads (workload, script) VALUES ('theirs', 'SELECT 1;')
UPDATE sync_probe.workloads SET script = 'SELECT 2;' WHERE workload = 'ours'
DELETE FROM sync_probe.workloads WHERE workload = 'ours'
$$);
SET session_replication_role = replica; -- the view writes nothing, and the table asks
INSERT INTO sync_probe.workloads (workload, script) VALUES ('replicated', 'SELECT 1;');
INSERT INTO sync_probe_internal.workloads
VALUES ('replicated', 'user', NULL, NULL, 'SELECT 1;', NULL, NULL, 'simple', false);
RESET session_replication_role;
RESET ROLE;
ALTER ROLE regress_sync_probe_runner SET synchronous_commit = remote_apply;
SET ROLE regress_sync_probe_runner;
INSERT INTO sync_probe.workloads (workload, script) VALUES ('theirs', 'SELECT current_user;');
SELECT transactions, server_settings ->> 'synchronous_commit' AS synchronous_commit
FROM sync_probe.pgbench('theirs', clients => 1, transactions => 1);
RESET ROLE;
SELECT workload FROM sync_probe.workloads WHERE NOT builtin ORDER BY workload;
DELETE FROM sync_probe.workloads WHERE NOT builtin;

\echo -- nothing is left, but the row
SELECT nspname FROM pg_namespace WHERE nspname LIKE 'sync\_probe\_workload\_%';
SELECT sync_probe.cleanup();
SELECT count(*) FROM sync_probe.workload_results;
DELETE FROM sync_probe.workload_results;
DROP OWNED BY regress_sync_probe_runner, regress_sync_probe_author;
REVOKE pg_execute_server_program FROM regress_sync_probe_runner;
DROP ROLE regress_sync_probe_runner, regress_sync_probe_author;
