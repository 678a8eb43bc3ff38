--
-- import_pg_test_fsync(): arguments, errors, privileges, and the rows that it records.
-- test/tap/import.sql has the reports of all versions.
--
SET client_min_messages = warning;
\set SHOW_CONTEXT never
DELETE FROM sync_probe.runs;
\set head '5 seconds per test\nO_DIRECT supported on this platform for open_*.\n'
\set one 'Compare file sync methods using one 8kB write:\n'

-- no report
SELECT FROM sync_probe.import_pg_test_fsync(NULL);
SELECT FROM sync_probe.import_pg_test_fsync('');
SELECT FROM sync_probe.import_pg_test_fsync(E' \n\t\n');
SELECT FROM sync_probe.import_pg_test_fsync(E'\n  hello, world\nsecond line');
SELECT FROM sync_probe.import_pg_test_fsync(repeat('many words ', 100));
SELECT FROM sync_probe.import_pg_test_fsync(E'two\tcolumns and a bell \007');
SELECT FROM sync_probe.import_pg_test_fsync(E'5 Sekunden pro Test\n  fsync  7,500 Op./s');
SELECT FROM sync_probe.import_pg_test_fsync('fsync 519.180 ops/sec');
SELECT FROM sync_probe.import_pg_test_fsync(:'head');
SELECT FROM sync_probe.import_pg_test_fsync(:'head' || :'one' || 'fsync 519.18');
SELECT FROM sync_probe.import_pg_test_fsync(:'one' || 'fsync 519.180 ops/sec', repeat('x', 257));

-- more of it than anybody has, one of 100 MB, and one that takes too long
SELECT FROM sync_probe.import_pg_test_fsync(
    repeat(:'head' || :'one' || E'fsync 519.180 ops/sec\n', 1001));
SELECT FROM sync_probe.import_pg_test_fsync(repeat('9', 100000000));
SET statement_timeout = '200 ms';
SELECT FROM sync_probe.import_pg_test_fsync(repeat(E'\n', 200000000));
RESET statement_timeout;
SELECT count(*) AS runs FROM sync_probe.runs;

-- the states, for programs
DO $$
DECLARE
    statement text;
BEGIN
    FOREACH statement IN ARRAY ARRAY[
        'SELECT FROM sync_probe.import_pg_test_fsync(NULL)',
        'SELECT FROM sync_probe.import_pg_test_fsync(''hello'')',
        'SELECT FROM sync_probe.import_pg_test_fsync(''hello'', repeat(''x'', 257))',
        'SELECT FROM sync_probe.import_pg_test_fsync(repeat(E''Compare file sync methods using one'
        ' write:\nfsync 1 ops/sec\n'', 1001))']
    LOOP
        BEGIN
            EXECUTE statement;
            RAISE INFO 'no error: %', statement;
        EXCEPTION WHEN OTHERS THEN
            RAISE INFO '% %', SQLSTATE, statement;
        END;
    END LOOP;
    SET LOCAL transaction_read_only = on;
    BEGIN
        PERFORM sync_probe.import_pg_test_fsync('hello');
    EXCEPTION WHEN OTHERS THEN
        RAISE INFO '% %', SQLSTATE, SQLERRM;
    END;
END
$$;

-- what is recorded
SELECT run_id IS NOT NULL AS run_id, test_cases, missing
FROM sync_probe.import_pg_test_fsync(
    E'db1:~$ pg_test_fsync -s 5\n' || :'head' || E'\n' || :'one'
    || E'        fdatasync                           519.180 ops/sec    1926 usecs/op\n'
       '        fsync_writethrough                              n/a\n'
       '        open_sync                                      n/a*\n', 'cache off');
SELECT source, label, suite, username = current_user AS username, location, duration,
       imported_at IS NOT NULL AS imported, finished_at, usable_for_advice
FROM sync_probe.runs;
SELECT ordinal, test, method, direct_io, status, ops_per_sec, mean_us, write_size,
       writes_per_sync, ops
FROM sync_probe.measurements ORDER BY run_id, ordinal;
SELECT sync_probe.pg_test_fsync_report(run_id) FROM sync_probe.runs
\g (format=unaligned tuples_only)

-- several in one text
SELECT run_id - min(run_id) OVER () AS run, test_cases, missing
FROM sync_probe.import_pg_test_fsync(
    :'head' || :'one' || E'fsync 1.500 ops/sec\n' || :'head' || :'one'
    || E'fsync 2.500 ops/sec\nfsync_writethrough n/a\n' || :'one' || 'fsync 3.500 ops/sec')
ORDER BY run_id;
-- a text of almost any size may be 1,000 of them
SELECT count(*), count(DISTINCT run_id) AS runs, min(test_cases) AS lines
FROM sync_probe.import_pg_test_fsync(
    repeat(:'head' || :'one' || E'fsync 519.180 ops/sec\n', 1000));
DELETE FROM sync_probe.runs;

-- EXECUTE is enough, and nothing else is
CREATE ROLE regress_sync_probe_nobody;
CREATE ROLE regress_sync_probe_importer;
GRANT EXECUTE ON FUNCTION sync_probe.import_pg_test_fsync TO regress_sync_probe_importer;
SET ROLE regress_sync_probe_nobody;
SELECT FROM sync_probe.import_pg_test_fsync('hello');
SET ROLE regress_sync_probe_importer;
SELECT test_cases FROM sync_probe.import_pg_test_fsync(:'one' || 'fsync 1.500 ops/sec', 'mine');
SELECT FROM sync_probe.runs;
SELECT sync_probe.pg_test_fsync_report(1);
RESET ROLE;
SELECT username, label FROM sync_probe.runs;

-- what somebody attached to the history runs as its owner, but cannot change the session; a
-- function of the role that imports is not called
CREATE FUNCTION regress_attached() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE WARNING '% inserts, search_path is %',
        CASE WHEN current_user = 'regress_sync_probe_importer' THEN 'the caller'
             ELSE 'the owner' END,
        current_setting('search_path');
    CREATE TEMP TABLE regress_attached (n integer);
    RETURN new;
END
$$;
CREATE TRIGGER attached BEFORE INSERT ON sync_probe.runs
    FOR EACH ROW EXECUTE FUNCTION regress_attached();
GRANT CREATE ON SCHEMA public TO regress_sync_probe_importer;
SET ROLE regress_sync_probe_importer;
CREATE FUNCTION public.unnest(anyarray) RETURNS SETOF anyelement
    LANGUAGE sql AS $$ SELECT 1 / 0, NULL $$;
CREATE FUNCTION public.nextval(text) RETURNS bigint LANGUAGE sql AS $$ SELECT 1 / 0 $$;
SET search_path = public, pg_catalog;
\set VERBOSITY terse
SELECT FROM sync_probe.import_pg_test_fsync(:'one' || 'fsync 1.500 ops/sec');
\set VERBOSITY default
RESET search_path;
RESET ROLE;
DROP TRIGGER attached ON sync_probe.runs;
DROP FUNCTION regress_attached();
DROP OWNED BY regress_sync_probe_importer;
DROP ROLE regress_sync_probe_nobody, regress_sync_probe_importer;

-- a column that a user added gets its default
ALTER TABLE sync_probe.runs ADD site text NOT NULL DEFAULT 'lab';
SELECT count(*) FROM sync_probe.import_pg_test_fsync(:'one' || 'fsync 1.500 ops/sec');
SELECT DISTINCT site FROM sync_probe.runs;
ALTER TABLE sync_probe.runs DROP site;
DELETE FROM sync_probe.runs;

-- other encodings: a long line is shortened between two characters
CREATE DATABASE regress_sync_probe_latin1
    ENCODING 'LATIN1' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C';
CREATE DATABASE regress_sync_probe_utf8
    ENCODING 'UTF8' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C';
SELECT current_database() AS here \gset
\c regress_sync_probe_latin1
SET client_encoding = 'UTF8';
SET client_min_messages = warning;
CREATE EXTENSION pg_sync_probe;
SELECT FROM sync_probe.import_pg_test_fsync(repeat(U&'\00e9', 200));
SELECT test_cases, missing
FROM sync_probe.import_pg_test_fsync(
    U&'\00e9\00e9\000aNon-sync\00b4ed 4kB writes:\000awrite 9.500 ops/sec', U&'\00e9');
SELECT label, write_size FROM sync_probe.runs JOIN sync_probe.measurements USING (run_id);
\c regress_sync_probe_utf8
SET client_encoding = 'UTF8';
SET client_min_messages = warning;
CREATE EXTENSION pg_sync_probe;
SELECT FROM sync_probe.import_pg_test_fsync(repeat(U&'\20ac', 200));
SELECT test_cases, missing
FROM sync_probe.import_pg_test_fsync(
    U&'\feff5 seconds per test\000aNon-sync\2019ed 4kB writes:\000awrite 9.500 ops/sec');
\c :here
DROP DATABASE regress_sync_probe_latin1;
DROP DATABASE regress_sync_probe_utf8;
