\set ECHO none
-- The table of privileges: what each object allows to each role, asked of the catalog and tried.
-- So that a new object fails, the output has all but internal functions that all may call.
\a \t on
SET client_min_messages = error;
\set SHOW_CONTEXT never
CREATE ROLE regress_sync_probe_nobody;
CREATE ROLE regress_sync_probe_monitor IN ROLE pg_monitor;
CREATE ROLE regress_sync_probe_granted;
GRANT EXECUTE ON ALL ROUTINES IN SCHEMA sync_probe TO regress_sync_probe_granted;
CREATE ROLE regress_sync_probe_writer IN ROLE pg_read_all_data, pg_write_all_data;
-- predefined roles of later servers
SELECT format('GRANT %I TO regress_sync_probe_writer', rolname) FROM pg_roles
WHERE rolname IN ('pg_maintain', 'pg_create_subscription') \gexec
CREATE ROLE regress_sync_probe_owner;
ALTER DATABASE :"DBNAME" OWNER TO regress_sync_probe_owner;

CREATE TEMP TABLE role AS
SELECT 'regress_sync_probe_' || r.name AS name, r.n
FROM unnest('{nobody,monitor,granted,writer,owner}'::text[]) WITH ORDINALITY AS r (name, n);
INSERT INTO role VALUES (current_user, 6);

-- Arguments that are not all null: else the call would take long, or fail before a privilege is
-- looked at.
CREATE TEMP TABLE argument (function name, list text);
INSERT INTO argument VALUES ('probe_all', $$'10 ms'$$), ('delete_history', $$'1 year'$$),
    ('pgbench', $$label => repeat('x', 257)$$), ('expect', ''), ('history', ''),
    ('report_html', ''), ('commit_waits', $$'100 ms'$$), ('device_lifetime', $$'pg_wal', 1, 1$$),
    ('drop_leftovers', $$'{}'$$), ('fleet_rows', $$NULL::sync_probe.findings, NULL$$);

-- A privilege on each object, with its letter, and a statement that needs it, of functions and of
-- what can be read.  An internal function in SQL is not called: which of its parts the server looks
-- at, and whether it is inlined, differs between versions.
CREATE TEMP VIEW privilege AS
SELECT CASE WHEN p.prorettype = 'trigger'::regtype THEN 'trigger functions'
            WHEN p.prokind = 'p' THEN 'procedures' ELSE 'functions' END
           || CASE WHEN p.prosecdef THEN ', as their owner,' ELSE '' END AS kind,
       p.oid, p.pronamespace::regnamespace AS schema, p.proname AS object, 'X' AS letter,
       format('has_function_privilege($1, %s::oid, ''EXECUTE'')', p.oid) AS has,
       CASE WHEN p.prorettype <> 'trigger'::regtype
                 AND (p.pronamespace::regnamespace::text = 'sync_probe' OR l.lanname <> 'sql')
            THEN format('%s %s.%I(%s)',
                        CASE p.prokind WHEN 'p' THEN 'CALL' ELSE 'SELECT FROM' END,
                        p.pronamespace::regnamespace, p.proname,
                        coalesce((SELECT a.list FROM argument AS a WHERE a.function = p.proname),
                                 (SELECT string_agg('NULL::' || format_type(t, NULL), ', '
                                                    ORDER BY n)
                                  FROM unnest(p.proargtypes) WITH ORDINALITY AS t (t, n)))) END
           AS statement
FROM pg_proc AS p JOIN pg_language AS l ON l.oid = p.prolang
UNION ALL
SELECT CASE c.relkind WHEN 'r' THEN 'tables' WHEN 'v' THEN 'views' ELSE 'sequences' END, c.oid,
       c.relnamespace::regnamespace, c.relname, v.letter,
       format('has_%s_privilege($1, %s::oid, %L)',
              CASE c.relkind WHEN 'S' THEN 'sequence' ELSE 'table' END, c.oid, v.privilege),
       CASE WHEN v.letter = 'R' THEN format('SELECT count(t::text) FROM %s AS t', c.oid::regclass)
            END
FROM pg_class AS c
JOIN (VALUES ('R', 'SELECT', 'rv'), ('A', 'INSERT', 'rv'), ('W', 'UPDATE', 'rvS'),
             ('D', 'DELETE', 'rv'), ('T', 'TRUNCATE', 'r'), ('G', 'TRIGGER', 'r'),
             ('U', 'USAGE, UPDATE', 'S')) AS v (letter, privilege, kinds)
    ON strpos(v.kinds, c.relkind) > 0;

-- "-" without the privilege, else its letter: a small one if the statement needs another one, too;
-- "!" if it does not need this one.
CREATE FUNCTION pg_temp.cell(role text, letter text, has text, statement text) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    held boolean;
    refused boolean := false;
BEGIN
    EXECUTE 'SELECT ' || has INTO held USING role;
    IF statement <> '' THEN
        BEGIN
            EXECUTE format('SET LOCAL ROLE %I', role);
            EXECUTE statement;
            RAISE SQLSTATE 'RB000';
        EXCEPTION WHEN insufficient_privilege THEN
            refused := true;
        WHEN OTHERS THEN -- nothing stays of it; without dblink two views have an error
            IF letter = 'R' AND SQLSTATE NOT IN ('RB000', '55000') THEN
                RETURN SQLSTATE;
            END IF;
        END;
    END IF;
    RETURN CASE WHEN held AND refused THEN lower(letter) WHEN held THEN letter
                WHEN refused OR statement IS NULL THEN '-' ELSE '!' END;
END
$$;

\echo R SELECT, A INSERT, W UPDATE, D DELETE, T TRUNCATE, G TRIGGER, U nextval, X EXECUTE
\echo PUBLIC, pg_monitor, EXECUTE granted, pg_write_all_data, database owner, superuser
WITH may AS (
    SELECT p.kind, p.schema, p.object, p.oid, r.n,
           string_agg(pg_temp.cell(r.name, p.letter, p.has, p.statement), ''
                      ORDER BY strpos('RAWDTGUX', p.letter)) AS letters
    FROM privilege AS p, role AS r
    WHERE p.schema::text ~ '^sync_probe'
    GROUP BY p.kind, p.schema, p.object, p.oid, r.n
), line AS (
    SELECT m.kind, m.schema, m.object,
           string_agg(coalesce(nullif(replace(m.letters, '-', ''), ''), '-'), ' ' ORDER BY m.n)
               AS cells
    FROM may AS m
    GROUP BY m.kind, m.schema, m.object, m.oid
)
SELECT format(E'%s  %s of %s:\n', l.cells, l.kind, l.schema)
       || rtrim(regexp_replace(string_agg(l.object, ' ' ORDER BY l.object COLLATE "C"),
                               '(.{1,90})( |$)', E'    \\1\n', 'g'), E'\n') AS "table"
FROM line AS l
WHERE (l.schema::text, l.kind, l.cells) <> ('sync_probe_internal', 'functions', 'X X X X X X')
GROUP BY l.cells, l.kind, l.schema
ORDER BY l.schema::text COLLATE "C", l.kind, l.cells COLLATE "C";

\echo -- default privileges change nothing of it
SELECT $$
    SELECT string_agg(concat_ws(' ', o.object, a.grantee, a.privilege_type), ',' ORDER BY o.object,
                      a.grantee, a.privilege_type)
    FROM (SELECT oid::regprocedure::text, coalesce(proacl, acldefault('f', proowner)) FROM pg_proc
          UNION ALL SELECT oid::regclass::text, relacl FROM pg_class
          UNION ALL SELECT nspname, nspacl FROM pg_namespace
          UNION ALL SELECT 'sync_probe', defaclacl FROM pg_default_acl WHERE defaclnamespace <> 0)
             AS o (object, acl), aclexplode(o.acl) AS a
    WHERE o.object ~ '^sync_probe'
      AND a.grantee IN (0, 'regress_sync_probe_nobody'::regrole, 'pg_monitor'::regrole)
$$ AS grants, current_database() AS here \gset
SELECT (:grants) AS before \gset
CREATE DATABASE regress_sync_probe_defaults;
\c regress_sync_probe_defaults
SET client_min_messages = warning;
ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO PUBLIC, regress_sync_probe_nobody, pg_monitor;
ALTER DEFAULT PRIVILEGES GRANT ALL ON SEQUENCES TO PUBLIC, regress_sync_probe_nobody, pg_monitor;
ALTER DEFAULT PRIVILEGES GRANT ALL ON ROUTINES TO regress_sync_probe_nobody;
ALTER DEFAULT PRIVILEGES GRANT ALL ON SCHEMAS TO PUBLIC, regress_sync_probe_nobody;
ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON ROUTINES FROM PUBLIC;
CREATE EXTENSION pg_sync_probe;
SELECT (:grants) = :'before' AS "the same grants";

\echo -- nor does EXECUTE on what runs as the owner make a superuser
GRANT EXECUTE ON ALL ROUTINES IN SCHEMA sync_probe_internal TO regress_sync_probe_owner;
ALTER DATABASE regress_sync_probe_defaults OWNER TO regress_sync_probe_owner;
SET ROLE regress_sync_probe_owner;
CREATE TABLE public.mine (run_id bigint);
CREATE TRIGGER deletes AFTER TRUNCATE ON mine EXECUTE FUNCTION sync_probe_internal.delete_rows();
\set VERBOSITY sqlstate
TRUNCATE mine;
\set VERBOSITY default
\c :here
SET client_min_messages = warning;
LOAD 'pg_sync_probe';
DROP DATABASE regress_sync_probe_defaults;
ALTER DATABASE :"DBNAME" OWNER TO CURRENT_USER;
\set SHOW_CONTEXT never

\echo -- settings, by who may set them
SELECT context, string_agg(substr(name, 15), ' ' ORDER BY name)
FROM pg_settings WHERE name LIKE 'pg\_sync\_probe.%' GROUP BY context ORDER BY context;
SET ROLE regress_sync_probe_monitor;
SELECT FROM sync_probe.expect(duration => '10 ms'); -- it probes
RESET ROLE;

CREATE ROLE regress_sync_probe_prober;
GRANT EXECUTE ON FUNCTION sync_probe.probe, sync_probe.power_test_result
    TO regress_sync_probe_prober;
GRANT EXECUTE ON PROCEDURE sync_probe.power_test TO regress_sync_probe_prober;

\echo -- probe_all() says which GRANT it lacks, and so do others
GRANT EXECUTE ON FUNCTION sync_probe.probe_all, sync_probe.probe_fleet, sync_probe.collect_fleet
    TO regress_sync_probe_prober;
SET ROLE regress_sync_probe_prober;
SELECT refused('SELECT FROM sync_probe.%s', $$
probe_all(duration => '10 ms')
probe_fleet()
collect_fleet()
compare('{1}')
history()
$$);
RESET ROLE;
GRANT SELECT ON sync_probe.runs, sync_probe.measurements, sync_probe_internal.samples
    TO regress_sync_probe_prober;
SET ROLE regress_sync_probe_prober;
SELECT refused('SELECT FROM sync_probe.%s', $$
compare('{1}')
export_json('{1}')
$$);
RESET ROLE;
REVOKE ALL ON sync_probe.runs FROM regress_sync_probe_prober;

\echo -- EXECUTE is enough for pg_wal, and to record the run
SET ROLE regress_sync_probe_prober;
SELECT count(*) > 0 AS probed, count(run_id) = count(*) AS recorded
FROM sync_probe.probe(duration => '20 ms', label => 'prober');
DELETE FROM sync_probe.runs;

\echo -- what somebody attached to the history runs as its owner, but cannot change the session
RESET ROLE;
CREATE FUNCTION regress_attached() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE WARNING 'search_path is %', current_setting('search_path');
    CREATE TEMP TABLE regress_attached (n integer);
    RETURN new;
END
$$;
CREATE TRIGGER attached BEFORE INSERT ON sync_probe.runs
    FOR EACH ROW EXECUTE FUNCTION regress_attached();
SET ROLE regress_sync_probe_prober;
\set VERBOSITY terse
SELECT FROM sync_probe.probe(duration => '20 ms', label => 'prober');
\set VERBOSITY default
RESET ROLE;
DROP TRIGGER attached ON sync_probe.runs;
DROP FUNCTION regress_attached();
SET ROLE regress_sync_probe_prober;

\echo -- a tablespace takes CREATE, as for anything else that writes there
SELECT refused('%s', $$
SELECT FROM sync_probe.probe('regress_sync_probe', duration => '10 ms')
CALL sync_probe.power_test('regress_sync_probe')
SELECT sync_probe.power_test_result(1, 'regress_sync_probe')
$$);
RESET ROLE;
GRANT CREATE ON TABLESPACE regress_sync_probe TO regress_sync_probe_prober;
SET ROLE regress_sync_probe_prober;
SELECT count(*) > 0 AS probed FROM sync_probe.probe('regress_sync_probe', duration => '20 ms');
RESET ROLE;
SELECT count(*), count(storage -> 'disks') FROM sync_probe.runs WHERE label = 'prober';
DELETE FROM sync_probe.runs;

DROP OWNED BY regress_sync_probe_prober, regress_sync_probe_granted;
DROP ROLE regress_sync_probe_nobody, regress_sync_probe_monitor, regress_sync_probe_prober,
    regress_sync_probe_granted, regress_sync_probe_writer, regress_sync_probe_owner;
