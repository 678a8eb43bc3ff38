--
-- The statements that change wal_sync_method on a running server.
--
-- A change may lead through a time in which WAL counts as flushed that is not: see "A change of
-- wal_sync_method" in doc/durability-and-findings.md.  With an open_* method XLogWrite() takes what
-- is written for flushed, whoever wrote it.  So one of them must not meet a process that writes WAL
-- without one, in either direction: then the checkpoint ends that time.  Methods that sync the file
-- afterwards can meet: each sync is of the whole file.
--
CREATE FUNCTION sync_probe_internal.change_commands(old_method text, new_method text)
RETURNS text[]
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT ARRAY[format('ALTER SYSTEM SET wal_sync_method = %L', new_method),
             'SELECT pg_catalog.pg_reload_conf()']
       || CASE WHEN starts_with(old_method, 'open_') <> starts_with(new_method, 'open_')
               THEN ARRAY['CALL sync_probe.wait_for_reload()', 'CHECKPOINT'] END
$$;

--
-- Wait until the postmaster has handled all reloads that were requested before.  By then it has
-- signaled all processes.  A procedure knows whether wait_for_reload() can commit, unless it has a
-- SET search_path; every name in its query has a schema.
--
CREATE PROCEDURE sync_probe_internal.await_postmaster()
LANGUAGE c
AS 'MODULE_PATHNAME', 'sync_probe_await_postmaster';

REVOKE ALL ON PROCEDURE sync_probe_internal.await_postmaster FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE sync_probe_internal.await_postmaster TO pg_monitor;

--
-- Processes that execute a statement which began before a time.  A session takes a new
-- configuration between two statements only, a worker of autovacuum between two tables, the
-- checkpointer between two checkpoints and while it waits in one.  WAL senders that stream take
-- it at once, and their statement never ends; others execute SQL, or a base backup.  Lists of
-- processes are null if empty; news: pids is not that of the notice before.
--
CREATE FUNCTION sync_probe_internal.older_statements(
    before timestamptz,
    noticed text,
    OUT pids text,
    OUT silent_pids text,
    OUT news boolean)
LANGUAGE sql VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
SELECT s.pids, s.silent_pids, s.pids IS DISTINCT FROM noticed
FROM (SELECT string_agg(a.pid::text, ', ' ORDER BY a.pid)
                 FILTER (WHERE CASE a.backend_type
                     WHEN 'autovacuum worker' THEN coalesce(a.query_start, a.backend_start) < before
                     WHEN 'checkpointer' THEN coalesce(a.wait_event, '') NOT IN
                         ('CheckpointerMain', 'CheckpointWriteDelay')
                     -- it may flush WAL for the pages that it writes
                     WHEN 'background writer' THEN coalesce(a.wait_event, '') NOT IN
                         ('BgWriterMain', 'BgWriterHibernate', 'BgwriterMain', 'BgwriterHibernate')
                     WHEN 'walwriter' THEN coalesce(a.wait_event, '') <> 'WalWriterMain'
                     ELSE a.state IN ('active', 'fastpath function call')
                         AND a.query_start < before END),
             -- track_activities is off there: it is unknown whether a statement runs
             string_agg(a.pid::text, ', ' ORDER BY a.pid) FILTER (WHERE a.state = 'disabled')
      FROM pg_stat_activity AS a
      WHERE a.pid <> pg_backend_pid()
        AND (a.backend_type <> 'walsender' OR a.query !~* '^[[:space:]]*START_REPLICATION')
     ) AS s (pids, silent_pids)
$$;

--
-- wait_for_reload
--
-- Wait until all processes of the cluster have the configuration of the last reload.
--
-- It commits after each look, so that it holds no snapshot while it waits: a statement that
-- it waits for may take hours.  It has no SET search_path, because a procedure with one
-- cannot commit; every name in it, of types too, has a schema.
--
CREATE PROCEDURE sync_probe.wait_for_reload()
LANGUAGE plpgsql
AS $procedure$
DECLARE
    before pg_catalog.timestamptz;
    seen pg_catalog.record;
    noticed pg_catalog.text;
BEGIN
    CALL sync_probe_internal.await_postmaster();
    COMMIT;
    before := pg_catalog.clock_timestamp();
    LOOP
        SELECT * INTO seen FROM sync_probe_internal.older_statements(before, noticed);
        EXIT WHEN seen.pids IS NULL;
        IF seen.news THEN
            RAISE NOTICE 'waiting for processes that may not have read the configuration yet'
                USING DETAIL = pg_catalog.concat('Processes: ', seen.pids, '.');
            noticed := seen.pids;
        END IF;
        COMMIT;
        PERFORM pg_catalog.pg_sleep(0.1);
    END LOOP;
    IF seen.silent_pids IS NOT NULL THEN
        RAISE WARNING 'it is unknown whether all sessions use the configuration of the last reload'
            USING DETAIL = pg_catalog.concat('track_activities is off in processes: ',
                                             seen.silent_pids, '.'),
                  HINT = 'Wait until each of them has executed another statement.';
    END IF;
END
$procedure$;

REVOKE ALL ON PROCEDURE sync_probe.wait_for_reload FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE sync_probe.wait_for_reload TO pg_monitor;

COMMENT ON PROCEDURE sync_probe.wait_for_reload IS
  'Wait until all processes have the configuration of the last reload';
