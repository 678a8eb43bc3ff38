--
-- Workloads through pgbench: arguments, errors, privileges, shape of the result.
--
SET client_min_messages = warning;
SELECT count(*) FROM sync_probe.running; -- loads the library, with its settings

-- arguments
SELECT FROM sync_probe.pgbench('nothing');
SELECT FROM sync_probe.pgbench('sql_bench');
SELECT FROM sync_probe.pgbench('regress_sync_probe');
SELECT FROM sync_probe.pgbench(NULL);
SELECT FROM sync_probe.pgbench(clients => NULL);
SELECT FROM sync_probe.pgbench(clients => 0);
SELECT FROM sync_probe.pgbench(clients => -1);
SELECT FROM sync_probe.pgbench(threads => 0);
SELECT FROM sync_probe.pgbench(rows => 0);
SELECT FROM sync_probe.pgbench(duration => NULL);
SELECT FROM sync_probe.pgbench(duration => '0');
SELECT FROM sync_probe.pgbench(duration => '1500 ms');
SELECT FROM sync_probe.pgbench(duration => '1 day');
SELECT FROM sync_probe.pgbench(transactions => 0);
-- where transactions are counted the duration is not used
SELECT transactions FROM sync_probe.pgbench(clients => 1, transactions => 2, rows => 10,
    duration => '1500 ms');
SELECT transactions FROM sync_probe.pgbench(clients => 1, transactions => 2, rows => 10,
    duration => '1 day');
SELECT FROM sync_probe.pgbench(tablespace => 'nowhere');
SELECT FROM sync_probe.pgbench(tablespace => 'pg_wal');
SELECT FROM sync_probe.pgbench(tablespace => 'pg_global');

SELECT FROM sync_probe.pgbench(trust => NULL);
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
SELECT FROM sync_probe.pgbench(settings => '"jit"');
SELECT FROM sync_probe.pgbench(settings => '{"no_such_setting": 1}');
SELECT FROM sync_probe.pgbench(settings => '{"work_mem": "much"}');
-- names that the server would take from nobody
\set VERBOSITY sqlstate
SELECT FROM sync_probe.pgbench(settings => '{"my own.setting": 1}');
\set VERBOSITY default
SELECT FROM sync_probe.pgbench(settings => '{"my.own setting": 1}');
SELECT FROM sync_probe.pgbench(settings => '{"my.own-setting": 1}');
SELECT FROM sync_probe.pgbench(settings => '{"my..setting": 1}');
SELECT FROM sync_probe.pgbench(settings => '{".setting": 1}');
SELECT FROM sync_probe.pgbench(settings => '{"my.": 1}');
SELECT FROM sync_probe.pgbench(settings => '{"1.setting": 1}');
SELECT FROM sync_probe.pgbench(settings => '{"my.setting=a": 1}');
SELECT FROM sync_probe.pgbench(settings => '{"work_mem": null}');
SELECT FROM sync_probe.pgbench(settings => '{"work_mem": {"a": 1}}');
SELECT FROM sync_probe.pgbench(settings => '{"wal_sync_method": "fsync"}');
SELECT FROM sync_probe.pgbench(settings => '{"application_name": "mine"}');
SELECT FROM sync_probe.pgbench(settings => '{"role": "mine"}');
-- the schema of the run goes before a search_path
SELECT transactions FROM sync_probe.pgbench('upsert', clients => 1, transactions => 1,
    settings => '{"search_path": "public"}');
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
       seconds BETWEEN 0.0001 AND extract(epoch FROM finished_at - started_at) AS seconds,
       latency_mean_ms > 0 AS mean, latency_p50_ms <= latency_p95_ms AS p50,
       latency_p95_ms <= latency_max_ms AS p95,
       latency_p99_ms IS NULL AS p99_unknown, wal_bytes > 0 AS wal_bytes,
       wal_sync_method = current_setting('wal_sync_method') AS method,
       fsync = current_setting('fsync')::bool AS fsync,
       full_page_writes = current_setting('full_page_writes')::bool AS full_page_writes,
       shared_buffers = current_setting('shared_buffers') AS shared_buffers,
       synchronous_commit, username = current_user AS own,
       settings, label, suite, protocol, new_connections AS new,
       finished_at > started_at AS time,
       server_version_num = current_setting('server_version_num')::int AS version,
       pgbench_version ~ '^[0-9]+' AS pgbench_version, jsonb_array_length(statements) AS statements
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

-- what was asked for in one statement is one group, which the label tells here
CREATE FUNCTION regress_run(label text) RETURNS bigint
RETURN (SELECT p.result_id
        FROM sync_probe.pgbench('upsert', clients => 1, transactions => 1, label => label) AS p);

SELECT count(*) FROM generate_series(1, 3) AS n,
    LATERAL sync_probe.pgbench('upsert', clients => 1, transactions => n, label => 'one: LATERAL');
SELECT regress_run('one: in one list') < regress_run('one: in one list') AS two;
DO $$
DECLARE
    r record;
    c refcursor;
BEGIN
    FOR i IN 1 .. 2 LOOP
        PERFORM regress_run('one: DO');
        FOR r IN SELECT regress_run('one: DO') LOOP
            BEGIN
                PERFORM regress_run('one: DO');
                PERFORM 1 / 0;
            EXCEPTION WHEN division_by_zero THEN
                NULL;
            END;
        END LOOP;
    END LOOP;
    OPEN c FOR SELECT regress_run('one: DO') FROM generate_series(1, 2);
    FETCH c INTO r;
    PERFORM regress_run('one: DO');
    FETCH c INTO r;
    EXECUTE 'SELECT regress_run(''one: DO'')';
END
$$;
DO $$
DECLARE
    r record;
BEGIN
    FOR r IN SELECT regress_run('one: loop first') LOOP
        PERFORM regress_run('one: loop first');
    END LOOP;
    PERFORM regress_run('one: loop first');
END
$$;
DO $$
DECLARE
    id bigint;
    tps double precision;
    mean double precision;
    p99 double precision;
BEGIN
    FOR i IN 1 .. 2 LOOP
        CALL sync_probe.run_workload('upsert', clients => 1, transactions => 1,
                                     label => 'one: commits', result_id => id, tps => tps,
                                     latency_mean_ms => mean, latency_p99_ms => p99);
        PERFORM regress_run('one: commits');
        COMMIT;
        PERFORM regress_run('one: rolled back');
        ROLLBACK;
    END LOOP;
END
$$;
BEGIN;
DECLARE c CURSOR FOR SELECT regress_run('one: cursor') FROM generate_series(1, 3);
MOVE 1 IN c;
MOVE 1 IN c;
SELECT regress_run('two: cursor waits') > 0 AS ran;
SELECT regress_run('two: cursor waits') > 0 AS ran;
COMMIT;
BEGIN;
DECLARE h CURSOR WITH HOLD FOR SELECT regress_run('one: held cursor') FROM generate_series(1, 2);
COMMIT;
SELECT regress_run('two: after the held cursor') > 0 AS ran;
MOVE 1 IN h \; SELECT regress_run('two: after the held cursor') > 0 AS ran;
CLOSE h;
\o /dev/null
SELECT regress_run('two: one message') \; SELECT regress_run('two: one message');
BEGIN \; SELECT regress_run('two: one transaction') \;
SELECT regress_run('two: one transaction') \; COMMIT;
PREPARE p AS SELECT regress_run('two: prepared');
EXECUTE p;
EXECUTE p;
DEALLOCATE p;
\o
SELECT label, count(*), count(DISTINCT run_group) AS groups,
       bool_and(first = run_group) AS named_by_first
FROM (SELECT *, min(result_id) OVER (PARTITION BY run_group) AS first
      FROM sync_probe.workload_results WHERE label ~ '^(one|two): ') AS r
GROUP BY label ORDER BY label;
SELECT count(DISTINCT label) FROM sync_probe.workload_results
WHERE label ~ '^(one|two): ' GROUP BY run_group HAVING count(DISTINCT label) > 1;
DROP FUNCTION regress_run;
DELETE FROM sync_probe.workload_results;

-- synchronous_commit is that of the sessions of the run, and not the caller's
SET synchronous_commit = remote_write;
SELECT format('ALTER DATABASE %I SET synchronous_commit = local', current_database()) \gexec
SELECT given, synchronous_commit
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
INSERT INTO regress_seen VALUES ('set-up', :'tablespace'), ('quoted', ':rows'), ('rows', :rows),
    ('place', (SELECT coalesce(spcname, 'default') FROM pg_class
               LEFT JOIN pg_tablespace s ON s.oid = reltablespace
               WHERE pg_class.oid = 't'::regclass));
$$, $$
\set i random(1, :rows)
INSERT INTO regress_seen SELECT 'script', :transactions FROM t WHERE i = :i;
$$, $$
INSERT INTO regress_seen SELECT 'tear-down', count(*) FROM :"schema".t;
$$, 3, 'extended');
SELECT transactions, suite, protocol FROM sync_probe.pgbench('my own', 'regress_sync_probe',
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
SELECT FROM sync_probe.pgbench('bad set-up');
SELECT FROM sync_probe.pgbench('bad division');
SELECT FROM sync_probe.pgbench('bad variable');
SELECT FROM sync_probe.pgbench('uncounted');
\set VERBOSITY terse
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

-- a set-up that waits for a lock of the transaction that runs it, which no deadlock check sees
CREATE TABLE public.regress_locked ();
INSERT INTO sync_probe.workloads (workload, setup, script) VALUES
('waits', 'SET lock_timeout = ''10ms''; SELECT FROM public.regress_locked', 'SELECT 1;');
BEGIN;
LOCK TABLE public.regress_locked;
SELECT FROM sync_probe.pgbench('waits', clients => 1, transactions => 1);
ROLLBACK;
SELECT transactions FROM sync_probe.pgbench('waits', clients => 1, transactions => 1);
DROP TABLE public.regress_locked;
DELETE FROM sync_probe.workloads WHERE NOT builtin;

-- those of the extension stay as they are
UPDATE sync_probe.workloads SET script = 'SELECT 1' WHERE workload = 'upsert';
UPDATE sync_probe.workloads SET builtin = false WHERE workload = 'upsert';
DELETE FROM sync_probe.workloads;
INSERT INTO sync_probe.workloads (workload, script, builtin) VALUES ('mine', 'SELECT 1', true);
INSERT INTO sync_probe.workloads (workload, script) VALUES ('mine', 'SELECT 1');
UPDATE sync_probe.workloads SET builtin = true WHERE workload = 'mine';
DELETE FROM sync_probe.workloads WHERE workload = 'mine';
TRUNCATE sync_probe.workloads;

-- a later version may bring one whose name is taken: the name keeps its meaning
SET client_min_messages = notice;
INSERT INTO sync_probe.workloads (workload, script, suite) VALUES
('upsert_on_conflict', 'SELECT 1;', 'mine'), ('insert', 'SELECT 1;', 'mine');
SET client_min_messages = warning;
\set VERBOSITY terse
SELECT FROM sync_probe.pgbench('upsert_on_conflict', clients => 1, transactions => 1);
\set VERBOSITY default
SELECT workload, suite, statements -> 0 ->> 'statement' AS statement
FROM sync_probe.pgbench('upsert_on_conflict', clients => 1, transactions => 1, trust => true);
CALL sync_probe.sql_bench('{pg_default}');
UPDATE sync_probe.workloads SET workload = 'mine' WHERE workload = 'insert' AND NOT builtin;
UPDATE sync_probe.workloads SET description = 'mine' WHERE workload = 'upsert_on_conflict'
    AND NOT builtin;
DELETE FROM sync_probe.workloads WHERE NOT builtin;
SELECT workload, suite FROM sync_probe.pgbench('upsert_on_conflict', clients => 1, transactions => 1);
DELETE FROM sync_probe.workload_results WHERE workload = 'upsert_on_conflict';

-- nobody else's business, until granted
CREATE ROLE regress_sync_probe_runner;
SET ROLE regress_sync_probe_runner;
SELECT FROM sync_probe.pgbench();
CALL sync_probe.run_workload();
CALL sync_probe.sql_bench('{pg_default}');
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

-- a row carries who wrote it, which only a superuser can set
RESET ROLE;
CREATE ROLE regress_sync_probe_author;
GRANT INSERT ON sync_probe.workloads TO regress_sync_probe_author;
SET ROLE regress_sync_probe_author;
INSERT INTO sync_probe.workloads (workload, script) VALUES ('upsert', 'SELECT 1;');
RESET ROLE;
GRANT SELECT, UPDATE ON sync_probe.workloads TO regress_sync_probe_author;
GRANT SET ON PARAMETER session_replication_role TO regress_sync_probe_author;
INSERT INTO sync_probe.workloads (workload, script) VALUES
('ours', 'SELECT 1;'), ('changed', 'SELECT 1;');
SET ROLE regress_sync_probe_author;
INSERT INTO sync_probe.workloads (workload, script, author) VALUES
('theirs', 'SELECT 1;', session_user), ('taken over', 'SELECT 1;', session_user);
UPDATE sync_probe.workloads SET description = 'SELECT 1 + 1', author = session_user
WHERE workload = 'changed';
UPDATE sync_probe.workloads SET workload = 'upsert' WHERE workload = 'changed';
SET session_replication_role = replica;
INSERT INTO sync_probe.workloads (workload, script, author) VALUES
('replicated', 'SELECT 1;', session_user);
RESET session_replication_role;
RESET ROLE;
UPDATE sync_probe.workloads SET script = 'SELECT 2;' WHERE workload = 'theirs';
UPDATE sync_probe.workloads SET author = current_user WHERE workload = 'taken over';
INSERT INTO sync_probe.workloads (workload, script, author) VALUES
('gone', 'SELECT 1;', 'regress_sync_probe_gone');
SELECT workload, CASE author WHEN current_user THEN 'the superuser' ELSE author::text END AS author
FROM sync_probe.workloads WHERE NOT builtin OR author <> current_user ORDER BY workload;

-- a superuser is told whose script it is
\set VERBOSITY terse
SELECT FROM sync_probe.pgbench('theirs', clients => 1, transactions => 1);
CALL sync_probe.run_workload('theirs', clients => 1, transactions => 1);
SELECT FROM sync_probe.pgbench('changed', clients => 1, transactions => 1);
SELECT FROM sync_probe.pgbench('gone', clients => 1, transactions => 1);
\set VERBOSITY default
SELECT transactions FROM sync_probe.pgbench('theirs', clients => 1, transactions => 1,
                                             trust => true);
SELECT transactions FROM sync_probe.pgbench('gone', clients => 1, transactions => 1,
                                             trust => true);
SELECT transactions FROM sync_probe.pgbench('ours', clients => 1, transactions => 1);
SELECT transactions FROM sync_probe.pgbench('taken over', clients => 1, transactions => 1);

-- so is any other role, unless the author is a member; and it takes SELECT, but for builtin ones
ALTER ROLE regress_sync_probe_runner SET synchronous_commit = remote_apply;
SET ROLE regress_sync_probe_runner;
SELECT transactions, username, synchronous_commit
FROM sync_probe.pgbench('upsert', clients => 1, transactions => 1);
SELECT FROM sync_probe.pgbench('ours', clients => 1, transactions => 1);
SELECT FROM sync_probe.pgbench('theirs', clients => 1, transactions => 1, trust => true);
RESET ROLE;
GRANT SELECT ON sync_probe.workloads TO regress_sync_probe_runner;
SET ROLE regress_sync_probe_runner;
SELECT transactions FROM sync_probe.pgbench('ours', clients => 1, transactions => 1);
SELECT FROM sync_probe.pgbench('theirs', clients => 1, transactions => 1);
RESET ROLE;
GRANT regress_sync_probe_author TO regress_sync_probe_runner;
SET ROLE regress_sync_probe_runner;
\set VERBOSITY terse
SELECT FROM sync_probe.pgbench('theirs', clients => 1, transactions => 1);
\set VERBOSITY default
RESET ROLE;
REVOKE regress_sync_probe_author FROM regress_sync_probe_runner;
GRANT regress_sync_probe_runner TO regress_sync_probe_author;
SET ROLE regress_sync_probe_runner;
SELECT transactions FROM sync_probe.pgbench('theirs', clients => 1, transactions => 1);
RESET ROLE;
DELETE FROM sync_probe.workloads WHERE NOT builtin;

-- nothing is left, but the rows
SELECT nspname FROM pg_namespace WHERE nspname LIKE 'sync\_probe\_workload\_%';
SELECT sync_probe.cleanup();
SELECT count(*), count(DISTINCT run_group) FROM sync_probe.workload_results;
DELETE FROM sync_probe.workload_results;
DROP OWNED BY regress_sync_probe_runner, regress_sync_probe_author;
REVOKE pg_execute_server_program FROM regress_sync_probe_runner;
DROP ROLE regress_sync_probe_runner, regress_sync_probe_author;
