--
-- workloads
--
-- What sync_probe.pgbench() can run: SQL that creates objects, SQL that pgbench runs
-- again and again, and SQL that removes what dropping the schema does not.
--
-- Each run gets a schema of its own.  Tables whose names have no schema are created
-- there.  The schema is dropped after the run with all its objects.  In the three
-- scripts :schema, :tablespace and :rows are replaced first, as in psql, and
-- :transactions where transactions are counted.  :tablespace is safe as an identifier,
-- :'tablespace' as a string.  Nothing is replaced in quotes, dollar quotes and comments.
-- All other names after a colon are pgbench's: its own variables, such as :client_id, and
-- those that \set defines.
--
-- Set-up and tear-down are one transaction each.  The script is what pgbench's manual
-- calls a transaction script.
--
-- A later version may bring a builtin workload with the name of a user's row.  Both are
-- kept, in an update as in a restore, and the name goes on to mean the user's row.
--
CREATE TABLE sync_probe.workloads (
    workload name CHECK (workload <> ''),
    suite name NOT NULL DEFAULT 'user',
    description text,
    setup text,
    script text NOT NULL CHECK (script <> ''),
    teardown text,
    transactions integer CHECK (transactions > 0),
    protocol text NOT NULL DEFAULT 'prepared'
        CHECK (protocol IN ('simple', 'extended', 'prepared')),
    new_connections boolean NOT NULL DEFAULT false,
    builtin boolean NOT NULL DEFAULT false,
    author name NOT NULL DEFAULT current_user,
    author_oid oid,
    PRIMARY KEY (workload, builtin)
);

GRANT SELECT ON sync_probe.workloads TO pg_monitor;

COMMENT ON TABLE sync_probe.workloads IS
  'SQL workloads that pgbench() can run; insert a row to add one. Builtin ones need no privilege '
  'on this table, others SELECT';
COMMENT ON COLUMN sync_probe.workloads.workload IS
  'Its name. A row of yours hides a builtin one of the same name';
COMMENT ON COLUMN sync_probe.workloads.suite IS
  'Group that workload_comparison shows together';
COMMENT ON COLUMN sync_probe.workloads.description IS
  'Free text';
COMMENT ON COLUMN sync_probe.workloads.setup IS
  'SQL that creates the objects, in one transaction';
COMMENT ON COLUMN sync_probe.workloads.script IS
  'Transaction script of pgbench';
COMMENT ON COLUMN sync_probe.workloads.teardown IS
  'SQL that removes what the set-up created outside of :schema, in one transaction';
COMMENT ON COLUMN sync_probe.workloads.transactions IS
  'How often each client runs the script; null: until the duration ends';
COMMENT ON COLUMN sync_probe.workloads.protocol IS
  'simple, extended or prepared, as pgbench''s -M';
COMMENT ON COLUMN sync_probe.workloads.new_connections IS
  'A new connection for each transaction, as pgbench''s -C';
COMMENT ON COLUMN sync_probe.workloads.builtin IS
  'True if it came with the extension';
COMMENT ON COLUMN sync_probe.workloads.author IS
  'Role that wrote the row; running it requires trust => true unless the author could act as the '
  'role that runs it';
COMMENT ON COLUMN sync_probe.workloads.author_oid IS
  'OID of that role';

--
-- sync_probe_internal.is_builtin_workload
--
-- A role may have INSERT on workloads without SELECT.
--
CREATE FUNCTION sync_probe_internal.is_builtin_workload(name name)
RETURNS boolean
LANGUAGE sql STABLE STRICT SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
    SELECT EXISTS (SELECT FROM sync_probe.workloads AS w WHERE w.workload = $1 AND w.builtin)
$function$;

--
-- sync_probe_internal.check_workload
--
-- Builtin workloads cannot be changed, because their names are in the history with the
-- meaning that they have.  Other rows carry the role that wrote them.  An author that a
-- superuser gives is kept, so that pg_restore keeps authors and a superuser can take
-- over a row.  Only a superuser can hide a builtin workload from all others: a restore must be
-- able to, where a later version has brought one of that name.  The triggers are in
-- workload_results.sql, after the builtin rows.
--
CREATE FUNCTION sync_probe_internal.check_workload()
RETURNS trigger
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    superuser boolean;
BEGIN
    IF TG_OP = 'TRUNCATE' THEN
        RAISE EXCEPTION 'table "workloads" cannot be truncated'
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = 'It contains the workloads that came with the extension.',
                  HINT = 'DELETE FROM sync_probe.workloads WHERE NOT builtin;';
    END IF;
    IF TG_OP <> 'INSERT' AND old.builtin THEN
        RAISE EXCEPTION 'workload "%" came with the extension', old.workload
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = 'It cannot be changed or removed, because earlier results and those of '
                           'other servers refer to its name.',
                  HINT = 'Insert a copy under a name of your own.';
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
    superuser := (SELECT rolsuper FROM pg_roles WHERE rolname = current_user);
    IF TG_NARGS = 0 AND (TG_OP = 'INSERT' OR new.workload <> old.workload)
       AND sync_probe_internal.is_builtin_workload(new.workload) THEN
        IF NOT superuser THEN
            RAISE EXCEPTION 'workload "%" came with the extension', new.workload
                USING ERRCODE = 'unique_violation',
                      DETAIL = 'Your row would hide it from everybody. Only a superuser can do '
                      'that.',
                      HINT = 'Use another name.';
        END IF;
        RAISE NOTICE 'workload "%" hides the builtin workload of that name', new.workload
            USING HINT = 'To use both, give the row another name: UPDATE sync_probe.workloads SET'
                         || format(' workload = ... WHERE workload = %L AND NOT builtin;',
                                   new.workload);
    END IF;
    IF NOT superuser THEN
        new.author := current_user;
        new.author_oid := NULL;
    ELSIF TG_NARGS = 1 AND new.author_oid IS NOT DISTINCT FROM old.author_oid THEN
        -- UPDATE names author and not its OID: it is the role that has this name now.
        new.author_oid := NULL;
    END IF;
    new.author_oid := coalesce(new.author_oid, (SELECT oid FROM pg_roles
        WHERE rolname = new.author));
    RETURN new;
END
$function$;

-- Workloads that users added are their data: pg_dump includes them.
SELECT pg_catalog.pg_extension_config_dump('sync_probe.workloads', 'WHERE NOT builtin');

--
-- The upsert of the field report: update the row, insert it if it is missing, and ignore
-- the duplicate if another session was faster.  The table starts empty.
--
INSERT INTO sync_probe.workloads (workload, suite, description, setup, script, builtin) VALUES
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
$script$, true),
('upsert_on_conflict', 'upsert', 'The same in one statement: INSERT ... ON CONFLICT DO UPDATE',
 $setup$
CREATE TABLE test (id int PRIMARY KEY, info text, crt_time timestamp);
$setup$,
 $script$
\set id random(1, :rows)
INSERT INTO test (id, info, crt_time) VALUES (:id, md5(random()::text), now())
ON CONFLICT (id) DO UPDATE SET info = excluded.info, crt_time = excluded.crt_time;
$script$, true);
