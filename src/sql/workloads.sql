--
-- workloads
--
-- doc/workloads.md describes them.
--
-- A view: users' rows are in a table, and functions make those of the extension, which would
-- take an eighth of CREATE EXTENSION to store.
--
-- A later version may bring a builtin workload with the name of a user's row.  Both are
-- kept, in an update as in a restore; the name means the builtin one.
--
CREATE TABLE sync_probe_internal.workloads (
    workload name PRIMARY KEY CHECK (workload <> ''),
    suite name NOT NULL,
    description text,
    setup text,
    script text NOT NULL CHECK (script <> ''),
    teardown text,
    transactions integer CHECK (transactions > 0),
    protocol text NOT NULL CHECK (protocol IN ('simple', 'extended', 'prepared')),
    new_connections boolean NOT NULL
);

-- write_workload() writes it with the rights of its caller, who needs this role.
GRANT SELECT, INSERT, DELETE ON sync_probe_internal.workloads TO pg_execute_server_program;

-- Workloads that users added are their data: pg_dump includes them.
SELECT pg_catalog.pg_extension_config_dump('sync_probe_internal.workloads', '');

--
-- The upsert of the field report: update the row, insert it if it is missing, and ignore
-- the duplicate if another session was faster.  The table starts empty.
--
CREATE FUNCTION sync_probe_internal.builtin_workloads()
RETURNS SETOF sync_probe_internal.workloads
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $builtin$
VALUES
('upsert', 'upsert',
 'Update a row by its key, or insert it: a PL/pgSQL function that ignores duplicates',
 $setup$
CREATE TABLE test (id int PRIMARY KEY, info text, crt_time timestamp);
CREATE FUNCTION upsert(key int) RETURNS void LANGUAGE plpgsql AS $function$
BEGIN
    UPDATE test SET info = md5(random()::text), crt_time = now() WHERE id = key;
    IF NOT FOUND THEN
        INSERT INTO test (id, info, crt_time) VALUES (key, md5(random()::text), now());
    END IF;
EXCEPTION
    WHEN unique_violation THEN
        NULL;
END
$function$;
$setup$,
 $script$
\set id random(1, :rows)
SELECT upsert(:id);
$script$, NULL, NULL::int, 'prepared', false),
('upsert_on_conflict', 'upsert', 'The same in one statement: INSERT ... ON CONFLICT DO UPDATE',
 $setup$
CREATE TABLE test (id int PRIMARY KEY, info text, crt_time timestamp);
$setup$,
 $script$
\set id random(1, :rows)
INSERT INTO test (id, info, crt_time) VALUES (:id, md5(random()::text), now())
ON CONFLICT (id) DO UPDATE SET info = excluded.info, crt_time = excluded.crt_time;
$script$, NULL, NULL::int, 'prepared', false)
UNION ALL SELECT * FROM sync_probe_internal.sql_bench_workloads()
$builtin$;

CREATE VIEW sync_probe.workloads AS
SELECT *, false AS builtin FROM sync_probe_internal.workloads
UNION ALL SELECT *, true FROM sync_probe_internal.builtin_workloads();

GRANT SELECT ON sync_probe.workloads TO pg_monitor;

COMMENT ON VIEW sync_probe.workloads IS
  'SQL workloads that pgbench() can run. Writing one requires pg_execute_server_program';
COMMENT ON COLUMN sync_probe.workloads.workload IS
  'Name; a builtin workload of the same name runs instead';
COMMENT ON COLUMN sync_probe.workloads.suite IS
  'Group for workload_comparison(); user if not given';
COMMENT ON COLUMN sync_probe.workloads.description IS 'Free text';
COMMENT ON COLUMN sync_probe.workloads.setup IS 'SQL that creates the objects';
COMMENT ON COLUMN sync_probe.workloads.script IS 'Transaction script of pgbench';
COMMENT ON COLUMN sync_probe.workloads.teardown IS
  'SQL that removes what setup created outside of :schema';
COMMENT ON COLUMN sync_probe.workloads.transactions IS
  'Runs of the script per client; null: until the duration ends';
COMMENT ON COLUMN sync_probe.workloads.protocol IS
  'simple, extended or prepared (default), as pgbench''s -M';
COMMENT ON COLUMN sync_probe.workloads.new_connections IS
  'For each transaction, as pgbench''s -C; default false';
COMMENT ON COLUMN sync_probe.workloads.builtin IS 'True if it came with the extension';

--
-- sync_probe_internal.write_workload
--
-- Whoever runs a workload executes its SQL with privileges of their own, and its \shell
-- commands as the account of the server.  So only a role that has that account may write one:
-- it can do all of this anyway.  The table asks for it, too: pg_write_all_data writes any table,
-- and session_replication_role cannot switch an ALWAYS trigger off.  Builtin workloads cannot be
-- changed, because their names are in the history with the meaning that they have.
--
CREATE FUNCTION sync_probe_internal.write_workload()
RETURNS trigger
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    IF NOT pg_has_role(current_user, 'pg_execute_server_program', 'USAGE') THEN
        RAISE EXCEPTION 'permission denied to write workload "%"',
            coalesce(new.workload, old.workload)
            USING ERRCODE = 'insufficient_privilege',
                  DETAIL = 'Only roles with privileges of the "pg_execute_server_program" role may '
                           'write SQL that others run.',
                  HINT = format('GRANT pg_execute_server_program TO %I;', current_user);
    END IF;
    IF TG_WHEN = 'BEFORE' THEN
        RETURN coalesce(new, old);
    END IF;
    IF TG_OP <> 'INSERT' AND old.builtin THEN
        RAISE EXCEPTION 'workload "%" came with the extension', old.workload
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = 'It cannot be changed or removed, because earlier results and those of '
                           'other servers refer to its name.',
                  HINT = 'Insert a copy under a name of your own. WHERE NOT builtin restricts a '
                         'statement to your rows.';
    END IF;
    IF TG_OP <> 'INSERT' THEN
        DELETE FROM sync_probe_internal.workloads AS w WHERE w.workload = old.workload;
        IF NOT FOUND THEN	-- else an update would bring it back, under its old name or a new one
            RAISE EXCEPTION 'workload "%" was changed by another session', old.workload
                USING ERRCODE = 'serialization_failure', HINT = 'Try again.';
        END IF;
    END IF;
    IF TG_OP = 'DELETE' THEN
        RETURN old;
    END IF;
    IF new.builtin THEN
        RAISE EXCEPTION 'workload "%" cannot be builtin', new.workload
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = 'Builtin workloads come with the extension. pg_dump leaves them out.',
                  HINT = 'Leave out column builtin.';
    END IF;
    IF EXISTS (SELECT FROM sync_probe_internal.builtin_workloads() AS w
               WHERE w.workload = new.workload) THEN
        RAISE WARNING 'workload "%" has the name of a builtin workload, which runs instead',
            new.workload USING HINT = 'Give the row another name.';
    END IF;
    new.builtin := false;
    new.suite := coalesce(new.suite, 'user');
    new.protocol := coalesce(new.protocol, 'prepared');
    new.new_connections := coalesce(new.new_connections, false);
    INSERT INTO sync_probe_internal.workloads VALUES (
        new.workload, new.suite, new.description, new.setup, new.script, new.teardown,
        new.transactions, new.protocol, new.new_connections);
    RETURN new;
END
$function$;

CREATE TRIGGER write_row INSTEAD OF INSERT OR UPDATE OR DELETE ON sync_probe.workloads
    FOR EACH ROW EXECUTE FUNCTION sync_probe_internal.write_workload();
CREATE TRIGGER check_row BEFORE INSERT OR UPDATE OR DELETE ON sync_probe_internal.workloads
    FOR EACH ROW EXECUTE FUNCTION sync_probe_internal.write_workload();
ALTER TABLE sync_probe_internal.workloads ENABLE ALWAYS TRIGGER check_row;

--
-- sync_probe_internal.drop_schema
--
-- pgbench calls it.  One transaction cannot drop thousands of tables: it locks each of them
-- with its indexes and TOAST, and the lock table is small.  Partitions come before their tables,
-- so that no step is larger than the others.  What belongs to an extension or a column is
-- dropped with the schema.  It has no SET search_path, because a procedure with one cannot
-- commit.
--
CREATE PROCEDURE sync_probe_internal.drop_schema(schema name)
LANGUAGE plpgsql
AS $procedure$
DECLARE
    drops pg_catalog.text;
BEGIN
    LOOP
        SELECT pg_catalog.string_agg(
                   pg_catalog.format('DROP %s IF EXISTS %I.%I CASCADE', r.kind, schema, r.relname),
                   '; ')
        INTO drops
        FROM (SELECT c.relname,
                     CASE WHEN c.relkind OPERATOR(pg_catalog.=) 'v' THEN 'VIEW'
                          WHEN c.relkind OPERATOR(pg_catalog.=) 'm' THEN 'MATERIALIZED VIEW'
                          WHEN c.relkind OPERATOR(pg_catalog.=) 'S' THEN 'SEQUENCE'
                          WHEN c.relkind OPERATOR(pg_catalog.=) 'f' THEN 'FOREIGN TABLE'
                          ELSE 'TABLE' END AS kind
              FROM pg_catalog.pg_class AS c
              WHERE c.relnamespace OPERATOR(pg_catalog.=)
                        (SELECT n.oid FROM pg_catalog.pg_namespace AS n
                         WHERE n.nspname OPERATOR(pg_catalog.=) schema)
                AND c.relkind OPERATOR(pg_catalog.=) ANY ('{r,p,v,m,S,f}')
                AND NOT EXISTS (
                    SELECT FROM pg_catalog.pg_depend AS d
                    WHERE d.classid OPERATOR(pg_catalog.=)
                              'pg_catalog.pg_class'::pg_catalog.regclass
                      AND d.objid OPERATOR(pg_catalog.=) c.oid
                      AND d.deptype OPERATOR(pg_catalog.=) ANY ('{e,i}'))
              ORDER BY c.relispartition DESC, c.oid DESC LIMIT 20) AS r;
        EXIT WHEN drops IS NULL;
        EXECUTE drops;
        COMMIT;
    END LOOP;
    EXECUTE pg_catalog.format('DROP SCHEMA IF EXISTS %I CASCADE', schema);
END
$procedure$;

--
-- sync_probe_internal.drop_leftovers
--
-- cleanup() calls it.  Each schema has a subtransaction: if it is locked, or too large for one
-- transaction, the others can still be dropped.  Any role can hold locks on the tables of a
-- schema, and release each shortly before the wait for it ends; so this hardly waits.  Returns
-- how many were dropped.
--
CREATE FUNCTION sync_probe_internal.drop_leftovers(schemas name[]) RETURNS integer
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
-- no NOTICE of what else is dropped
SET client_min_messages = warning
AS $function$
DECLARE
    leftover name;
    dropped integer := 0;
    kept integer := 0;
    code text;
    reason text;
    waits_for_ever boolean := current_setting('lock_timeout') = '0';
BEGIN
    IF waits_for_ever THEN
        SET LOCAL lock_timeout = '10ms';
    END IF;
    FOREACH leftover IN ARRAY schemas LOOP
        BEGIN
            EXECUTE format('DROP SCHEMA IF EXISTS %I CASCADE', leftover);
            dropped := dropped + 1;
        EXCEPTION WHEN OTHERS THEN
            IF kept = 0 THEN
                code := sqlstate;
                reason := format('The first is "%s": %s', leftover, sqlerrm);
            END IF;
            kept := kept + 1;
        END;
    END LOOP;
    IF waits_for_ever THEN
        SET LOCAL lock_timeout = 0;
    END IF;
    IF kept > 0 THEN
        RAISE WARNING USING ERRCODE = code, DETAIL = reason,
            MESSAGE = CASE kept WHEN 1 THEN '1 schema of a workload could not be dropped'
                      ELSE format('%s schemas of workloads could not be dropped', kept) END,
            HINT = 'Call sync_probe.cleanup() again when no session uses their tables. It waits'
                   ' 10 ms for a lock unless lock_timeout is set. A schema that is too large for'
                   ' one transaction is dropped when its owner runs the next workload.';
    END IF;
    RETURN dropped;
END
$function$;
