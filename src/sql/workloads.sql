--
-- workloads
--
-- What sync_probe.pgbench() can run: SQL that makes objects, SQL that pgbench
-- runs again and again, SQL that takes away what the schema's own end does not.
--
-- Each run gets a schema of its own, where tables are made that have no schema
-- in their names; it is dropped after the run with all that is in it.  In the
-- three scripts :schema, :tablespace and :rows, and :transactions where these are
-- counted, are replaced before anything else sees them, as in psql: :tablespace is
-- safe as an identifier, :'tablespace' as a string, and nothing is replaced in
-- quotes, dollar quotes and comments.  What else begins with a colon is pgbench's:
-- its own variables, like :client_id, and those that \set makes.
--
-- set-up and tear-down are one transaction each; the script is what pgbench's
-- manual calls a transaction script.
--
CREATE TABLE sync_probe.workloads (
    workload name PRIMARY KEY CHECK (workload <> ''),
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
    author_oid oid
);

GRANT SELECT ON sync_probe.workloads TO pg_monitor;

COMMENT ON TABLE sync_probe.workloads IS
  'What sync_probe.pgbench() can run; your own are rows that you insert. Builtin ones are public; '
  'to run another takes SELECT on this table, since what pgbench reports shows its script';
COMMENT ON COLUMN sync_probe.workloads.setup IS
  'Makes the objects, in :schema and :tablespace, in one transaction, which waits 10 s for a lock '
  'unless it sets lock_timeout';
COMMENT ON COLUMN sync_probe.workloads.script IS
  'pgbench''s transaction script';
COMMENT ON COLUMN sync_probe.workloads.teardown IS
  'Removes what the set-up made outside of :schema, which is dropped anyway';
COMMENT ON COLUMN sync_probe.workloads.transactions IS
  'How often each client runs the script; null: as long as the duration';
COMMENT ON COLUMN sync_probe.workloads.protocol IS
  'pgbench''s -M: simple, extended or prepared';
COMMENT ON COLUMN sync_probe.workloads.new_connections IS
  'A new connection for each transaction (pgbench''s -C)';
COMMENT ON COLUMN sync_probe.workloads.builtin IS
  'Came with the extension: not dumped, and its sessions look for objects in :schema alone';
COMMENT ON COLUMN sync_probe.workloads.author IS
  'The role that wrote the row; only a superuser can set another. To run the row takes '
  'trust => true, unless its author could act as the role that runs it';
COMMENT ON COLUMN sync_probe.workloads.author_oid IS
  'OID of that role when the row was written: a role that has got the name since then, or has it '
  'in another cluster, is not the author';

--
-- The rules of the table.  What a name stands for in the history must not change:
-- builtin workloads stay as they came.  Other rows carry the role that wrote them;
-- what a superuser gives as author is kept, so that pg_restore keeps authors and a
-- superuser can take a row over.
--
CREATE FUNCTION sync_probe_internal.check_workload()
RETURNS trigger
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    IF TG_OP = 'TRUNCATE' THEN
        RAISE EXCEPTION 'table "workloads" cannot be truncated'
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = 'It has the workloads that came with the extension.',
                  HINT = 'DELETE FROM sync_probe.workloads WHERE NOT builtin;';
    END IF;
    IF TG_OP <> 'INSERT' AND old.builtin THEN
        RAISE EXCEPTION 'workload "%" came with the extension', old.workload
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = 'It cannot be changed or removed: results of other servers and times '
                           'have its name, too.',
                  HINT = 'Insert a copy under a name of your own.';
    END IF;
    IF TG_OP = 'DELETE' THEN
        RETURN old;
    END IF;
    IF new.builtin THEN
        RAISE EXCEPTION 'workload "%" cannot be builtin', new.workload
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = 'Builtin ones come with the extension, and are not dumped.',
                  HINT = 'Leave builtin out.';
    END IF;
    IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
        new.author := current_user;
        new.author_oid := NULL;
    ELSIF TG_OP = 'UPDATE' AND new.author <> old.author THEN
        new.author_oid := NULL;
    END IF;
    new.author_oid := coalesce(new.author_oid, (SELECT oid FROM pg_roles WHERE rolname = new.author));
    RETURN new;
END
$function$;

COMMENT ON FUNCTION sync_probe_internal.check_workload() IS
  'Refuses to change builtin workloads, and sets the author of others';

-- What users added belongs to them: pg_dump keeps it.
SELECT pg_catalog.pg_extension_config_dump('sync_probe.workloads', 'WHERE NOT builtin');

--
-- The upsert of the field report: update, insert what was not there, and forget
-- about it where another session was faster.  The table starts empty.
--
INSERT INTO sync_probe.workloads (workload, suite, description, setup, script, builtin) VALUES
('upsert', 'upsert', 'Update a row by its key, or insert it: a PL/pgSQL function that forgets about duplicates',
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

