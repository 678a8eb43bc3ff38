--
-- Workloads through pgbench: arguments, errors, privileges, shape of the result.
--
\set SHOW_CONTEXT never
SET client_min_messages = warning;
SELECT count(*) FROM sync_probe.running; -- loads the library, with its settings

-- arguments
SELECT FROM sync_probe.pgbench('nothing');
SELECT FROM sync_probe.pgbench('sql_bench');
SELECT FROM sync_probe.pgbench('regress_sync_probe');
SELECT FROM sync_probe.pgbench(NULL);
SELECT FROM sync_probe.pgbench(clients => NULL);
SELECT FROM sync_probe.pgbench(clients => 0);
SELECT FROM sync_probe.pgbench(threads => 0);
SELECT FROM sync_probe.pgbench(rows => 0);
SELECT FROM sync_probe.pgbench(duration => NULL);
SELECT FROM sync_probe.pgbench(duration => '0');
SELECT FROM sync_probe.pgbench(duration => '1500 ms');
SELECT FROM sync_probe.pgbench(duration => '1 day');
SELECT FROM sync_probe.pgbench(transactions => 0);
-- where transactions are counted the duration is not used
SELECT transactions FROM sync_probe.pgbench(clients => 1, transactions => 2, rows => 10,
    duration => '1 day');
SELECT FROM sync_probe.pgbench(tablespace => 'nowhere');
SELECT FROM sync_probe.pgbench(tablespace => 'pg_wal');
SELECT FROM sync_probe.pgbench(tablespace => 'pg_global');

SELECT FROM sync_probe.pgbench(allow_publication => NULL);

-- more clients than connections; how many there are is this server's own
DO $$
DECLARE
    detail text;
    hint text;
BEGIN
    PERFORM FROM sync_probe.pgbench(clients => 100000);
EXCEPTION WHEN too_many_connections THEN
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    RAISE WARNING '%: %', sqlerrm, regexp_replace(detail || ' ' || hint, '\d+', 'N', 'g');
END
$$;

-- settings
SELECT FROM sync_probe.pgbench(settings => '[1]');
SELECT FROM sync_probe.pgbench(settings => '{"no_such_setting": 1}');
SELECT FROM sync_probe.pgbench(settings => '{"work_mem": "much"}');
-- names that the server would take from nobody
\set VERBOSITY sqlstate
SELECT FROM sync_probe.pgbench(settings => '{"my own.setting": 1}');
\set VERBOSITY default
SELECT FROM sync_probe.pgbench(settings => '{"my.own setting": 1}');
SELECT FROM sync_probe.pgbench(settings => '{"my.setting=a": 1}');
SELECT FROM sync_probe.pgbench(settings => '{"work_mem": null}');
SELECT FROM sync_probe.pgbench(settings => '{"work_mem": {"a": 1}}');
SELECT FROM sync_probe.pgbench(settings => '{"wal_sync_method": "fsync"}');
SELECT FROM sync_probe.pgbench(settings => '{"role": "mine"}');
-- the schema of the run goes before a search_path
SELECT transactions FROM sync_probe.pgbench('upsert', clients => 1, transactions => 1,
    settings => '{"search_path": ""}');

SELECT FROM sync_probe.pgbench(settings => jsonb_build_object('search_path', repeat(' ', 5000)));
SELECT count(*) FROM sync_probe.pgbench('upsert', clients => 1, transactions => 1,
    settings => '{"regress.unknown": "a b"}');
SELECT current_setting('regress.unknown', true) IS NULL AS not_defined_here;
DELETE FROM sync_probe.workload_results;

-- a publication of all tables would publish those of a workload, whatever wal_level is now
SET client_min_messages = error;
CREATE PUBLICATION regress_schema FOR TABLES IN SCHEMA public;
SELECT transactions FROM sync_probe.pgbench('upsert', clients => 1, transactions => 1);
CREATE PUBLICATION regress_all FOR ALL TABLES WITH (publish = 'insert');
SET client_min_messages = warning;
SELECT FROM sync_probe.pgbench('upsert', clients => 1, transactions => 1);
CALL sync_probe.run_workload('upsert', clients => 1, transactions => 1);
SELECT transactions FROM sync_probe.pgbench('upsert', clients => 1, transactions => 1,
                                             allow_publication => true);
DROP PUBLICATION regress_schema, regress_all;
DELETE FROM sync_probe.workload_results;

-- the procedure: the same, and never in a transaction that is another's
CALL sync_probe.run_workload('nothing');
CALL sync_probe.run_workload(clients => 0);
BEGIN;
CALL sync_probe.run_workload(clients => 1, transactions => 1);
ROLLBACK;
CREATE FUNCTION regress_call() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE 'CALL sync_probe.run_workload(clients => 1, transactions => 1)';
END
$$;
SELECT regress_call();
DROP FUNCTION regress_call();
CREATE PROCEDURE regress_run() LANGUAGE plpgsql AS $$
DECLARE
    id bigint;
    tps double precision;
    mean double precision;
    p99 double precision;
BEGIN
    CALL sync_probe.run_workload('upsert', clients => 1, transactions => 3,
                                 result_id => id, tps => tps,
                                 latency_mean_ms => mean, latency_p99_ms => p99);
    RAISE WARNING '% % % %',
        (SELECT transactions FROM sync_probe.workload_results WHERE result_id = id),
        tps > 0, mean > 0, p99;
END
$$;
CALL regress_run();
DELETE FROM sync_probe.workload_results;

-- whose names come first in the search path, he must not be trusted
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
CALL regress_run();
SHOW search_path;
RESET search_path;
DROP FUNCTION public.sum(double precision);
DROP DOMAIN public.float8, public.int4;
DROP FUNCTION public.regress_trap;
DROP PROCEDURE regress_run();
DELETE FROM sync_probe.workload_results;

-- one that works: what it says is true of every machine
SELECT workload, tablespace, transactions, failed, clients, threads, rows,
       transactions_per_client AS per_client, tps > 0 AS tps,
       latency_mean_ms > 0 AS mean, latency_p50_ms <= latency_max_ms AS p50,
       latency_p99_ms IS NULL AS p99_unknown, wal_bytes > 0 AS wal_bytes,
       (SELECT count(*) FROM jsonb_each_text(server_settings) AS s
        WHERE s.value = current_setting(s.key)) AS as_in_this_session,
       settings, label, suite, finished_at > started_at AS time,
       jsonb_array_length(statements) AS statements
FROM sync_probe.pgbench('upsert', 'regress_sync_probe', clients => 2, threads => 8,
                        transactions => 50, rows => 10,
                        settings => '{"synchronous_commit": "off", "jit": false}',
                        label => 'first') \gx
SELECT s.value ->> 'statement' AS statement, (s.value ->> 'failures')::int AS failures,
       (s.value ->> 'latency_ms') IS NOT NULL AS latency
FROM sync_probe.workload_results, jsonb_array_elements(statements) AS s;
SELECT p.transactions, result_id > 0 AS result_id, run_group = result_id AS own_group
FROM sync_probe.pgbench('upsert_on_conflict', clients => 1, transactions => 400) p;
SELECT workload, latency_p99_ms > 0 AS p99, tablespace
FROM sync_probe.workload_results ORDER BY result_id DESC LIMIT 1;

-- what was asked for in one message is one group, whatever commits in it
DO $$
DECLARE
    id bigint;
    tps double precision;
    mean double precision;
    p99 double precision;
BEGIN
    FOR i IN 1 .. 2 LOOP
        CALL sync_probe.run_workload('upsert', clients => 1, transactions => 1, label => 'one',
                                     result_id => id, tps => tps, latency_mean_ms => mean,
                                     latency_p99_ms => p99);
        COMMIT;
    END LOOP;
END
$$;
SELECT count(*) FROM generate_series(1, 2) AS n,
    LATERAL sync_probe.pgbench('upsert', clients => 1, transactions => n, label => 'two');
SELECT label, count(*), count(DISTINCT run_group) AS groups, min(result_id) = min(run_group) AS named
FROM sync_probe.workload_results WHERE label IN ('one', 'two') GROUP BY label ORDER BY label;
SELECT count(DISTINCT run_group) FROM sync_probe.workload_results WHERE label IN ('one', 'two');
DELETE FROM sync_probe.workload_results;

-- synchronous_commit is that of the sessions of the run, and not the caller's
SET synchronous_commit = remote_write;
SELECT format('ALTER DATABASE %I SET synchronous_commit = local', current_database()) \gexec
SELECT given, server_settings ->> 'synchronous_commit' AS synchronous_commit
FROM unnest(ARRAY[NULL, '{"jit": true}', '{"Synchronous_Commit": true}',
                  '{"synchronous_commit": 0}']::jsonb[]) AS given,
    LATERAL sync_probe.pgbench('upsert', clients => 1, transactions => 1, settings => given);
SHOW synchronous_commit;
SELECT format('ALTER DATABASE %I RESET synchronous_commit', current_database()) \gexec
RESET synchronous_commit;

-- a workload of one's own, in one's own schema, with the variables where they are
-- replaced and where not
CREATE TABLE public.regress_seen (what text, value text);
INSERT INTO sync_probe.workloads (workload, setup, script, teardown, transactions, protocol) VALUES
('my own', $$
CREATE TABLE :schema.t AS SELECT g AS i FROM generate_series(1, :rows) g; -- :rows
INSERT INTO regress_seen VALUES ('set-up', ':tablespace'), ('quoted', ':rows'), ('rows', :rows),
    ('place', (SELECT coalesce(spcname, 'default') FROM pg_class
               LEFT JOIN pg_tablespace s ON s.oid = reltablespace
               WHERE pg_class.oid = 't'::regclass));
$$, $$
\set i random(1, :rows)
INSERT INTO regress_seen SELECT 'script', :transactions FROM t WHERE i = :i;
$$, $$
INSERT INTO regress_seen SELECT 'tear-down', count(*) FROM :schema.t;
$$, 3, 'extended');
SELECT transactions, suite FROM sync_probe.pgbench('my own', 'regress_sync_probe',
    clients => 2, rows => 7);
SELECT what, value, count(*) FROM public.regress_seen GROUP BY what, value ORDER BY what;
DROP TABLE public.regress_seen;

-- meta-commands where pgbench takes them, and names that are not variables
INSERT INTO sync_probe.workloads (workload, script, protocol) VALUES
('same line', E'BEGIN; \\set i 1\nSELECT :i; END;', 'prepared'),
('slice', 'SELECT (ARRAY[1, 2])[1:n] FROM (VALUES (2)) AS v (n);', 'simple'),
('prepared slice', 'SELECT (ARRAY[1, 2])[1:n] FROM (VALUES (2)) AS v (n);', 'prepared');
SELECT transactions FROM sync_probe.pgbench('same line', clients => 1, transactions => 2);
SELECT transactions FROM sync_probe.pgbench('slice', clients => 1, transactions => 2);
SELECT FROM sync_probe.pgbench('prepared slice', clients => 1, transactions => 2);

-- what is wrong with one is said
INSERT INTO sync_probe.workloads (workload, setup, script) VALUES
('bad set-up', 'CREATE TABLE t (i int); SELEC 1', 'SELECT 1'),
('bad division', 'SELECT 1 / (:rows - :rows)', 'SELECT 1'),
('bad script', NULL, 'SELEC 1;'),
('bad meta-command', NULL, '\set i random('),
('no statement', NULL, '-- nothing'),
('bad variable', NULL, 'SELECT :aid;'),
('uncounted', NULL, 'SELECT :transactions;'),
('fails later', 'CREATE TABLE t (i int PRIMARY KEY)', 'INSERT INTO t VALUES (1);');
SELECT FROM sync_probe.pgbench('bad variable');
SELECT FROM sync_probe.pgbench('uncounted');
\set VERBOSITY terse
SELECT FROM sync_probe.pgbench('bad set-up');
SELECT FROM sync_probe.pgbench('bad division');
SELECT FROM sync_probe.pgbench('bad script', clients => 1);
SELECT FROM sync_probe.pgbench('bad meta-command', clients => 1);
SELECT FROM sync_probe.pgbench('no statement', clients => 1);
SELECT FROM sync_probe.pgbench('fails later', clients => 1, transactions => 2);
INSERT INTO sync_probe.workloads (workload, script) VALUES ('', 'SELECT 1');
INSERT INTO sync_probe.workloads (workload, script) VALUES ('empty', '');
INSERT INTO sync_probe.workloads (workload, script, transactions) VALUES ('none', 'SELECT 1', 0);
INSERT INTO sync_probe.workloads (workload, script, protocol) VALUES ('other', 'SELECT 1', 'v2');
\set VERBOSITY default
DELETE FROM sync_probe.workloads WHERE NOT builtin;

-- those of the extension stay as they are
UPDATE sync_probe.workloads SET script = 'SELECT 1' WHERE workload = 'upsert';
DELETE FROM sync_probe.workloads;
INSERT INTO sync_probe.workloads (workload, script, builtin) VALUES ('mine', 'SELECT 1', true);
INSERT INTO sync_probe.workloads (workload, script) VALUES ('mine', 'SELECT 1');
UPDATE sync_probe.workloads SET builtin = true WHERE workload = 'mine';
DELETE FROM sync_probe.workloads WHERE workload = 'mine';
TRUNCATE sync_probe.workloads;

-- a later version may bring one whose name is taken: the name means the builtin one
INSERT INTO sync_probe.workloads (workload, script) VALUES ('upsert_on_conflict', 'SELECT 1;');
SELECT workload, suite FROM sync_probe.pgbench('upsert_on_conflict', clients => 1, transactions => 1);
UPDATE sync_probe.workloads SET workload = 'mine' WHERE NOT builtin;
SELECT statements -> 0 ->> 'statement' AS statement
FROM sync_probe.pgbench('mine', clients => 1, transactions => 1);
DELETE FROM sync_probe.workloads WHERE NOT builtin;
DELETE FROM sync_probe.workload_results;

-- nobody else's business, until granted
CREATE ROLE regress_sync_probe_runner;
SET ROLE regress_sync_probe_runner;
SELECT FROM sync_probe.pgbench();
CALL sync_probe.run_workload();
SELECT FROM sync_probe.workloads;
SELECT FROM sync_probe.workload_results;
SELECT FROM sync_probe.workload_comparison;
SET pg_sync_probe.pgbench_directory = '/tmp';
SET pg_sync_probe.pgbench_passfile = '/tmp/p';
SELECT count(*) FROM pg_settings WHERE name = 'pg_sync_probe.pgbench_passfile'; -- superusers see it
RESET ROLE;
GRANT EXECUTE ON FUNCTION sync_probe.pgbench TO regress_sync_probe_runner;
SET ROLE regress_sync_probe_runner;
SELECT FROM sync_probe.pgbench();
RESET ROLE;
GRANT pg_execute_server_program TO regress_sync_probe_runner;
SET ROLE regress_sync_probe_runner;
\set VERBOSITY terse
SELECT FROM sync_probe.pgbench();
\set VERBOSITY default
RESET ROLE;
DO $$
BEGIN
    EXECUTE format('GRANT CREATE ON DATABASE %I TO regress_sync_probe_runner', current_database());
END
$$;
SET ROLE regress_sync_probe_runner;
SELECT FROM sync_probe.pgbench(clients => 1);
RESET ROLE;
ALTER ROLE regress_sync_probe_runner LOGIN;
SET ROLE regress_sync_probe_runner;
SELECT FROM sync_probe.pgbench(tablespace => 'regress_sync_probe');
RESET ROLE;

ALTER ROLE regress_sync_probe_runner SET synchronous_commit = remote_apply;
SET ROLE regress_sync_probe_runner;
SELECT transactions, server_settings ->> 'synchronous_commit' AS synchronous_commit
FROM sync_probe.pgbench('upsert', clients => 1, transactions => 1);
RESET ROLE;

-- whoever runs a row executes its SQL: only a role that has the server's account can write one
CREATE ROLE regress_sync_probe_author;
GRANT ALL ON sync_probe.workloads TO regress_sync_probe_author, regress_sync_probe_runner;
GRANT SET ON PARAMETER session_replication_role TO regress_sync_probe_author;
INSERT INTO sync_probe.workloads (workload, script) VALUES ('ours', 'SELECT 1;');
SET ROLE regress_sync_probe_author;
INSERT INTO sync_probe.workloads (workload, script) VALUES ('theirs', 'SELECT 1;');
UPDATE sync_probe.workloads SET script = 'SELECT 2;' WHERE workload = 'ours';
SET session_replication_role = replica;
INSERT INTO sync_probe.workloads (workload, script) VALUES ('replicated', 'SELECT 1;');
RESET session_replication_role;
SET ROLE regress_sync_probe_runner;
INSERT INTO sync_probe.workloads (workload, script) VALUES ('theirs', 'SELECT current_user;');
SELECT transactions FROM sync_probe.pgbench('theirs', clients => 1, transactions => 1);
RESET ROLE;
SELECT workload FROM sync_probe.workloads WHERE NOT builtin ORDER BY workload;
DELETE FROM sync_probe.workloads WHERE NOT builtin;

-- nothing is left, but the rows
SELECT nspname FROM pg_namespace WHERE nspname LIKE 'sync\_probe\_workload\_%';
SELECT sync_probe.cleanup();
SELECT count(*), count(DISTINCT run_group) FROM sync_probe.workload_results;
DELETE FROM sync_probe.workload_results;
DROP OWNED BY regress_sync_probe_runner, regress_sync_probe_author;
REVOKE pg_execute_server_program FROM regress_sync_probe_runner;
DROP ROLE regress_sync_probe_runner, regress_sync_probe_author;
