--
-- commit_wait_results
--
-- One row for each call of commit_waits(), which returns a row of this type.
--
CREATE TABLE sync_probe.commit_wait_results (
    answer text NOT NULL,
    commits_per_sec double precision,
    commit_wait_us double precision,
    wait_share double precision,
    sync_us double precision,
    write_us double precision,
    queue_us double precision,
    commit_delay_us double precision,
    sync_rep_us double precision,
    committers integer,
    wal_bytes_per_commit double precision,
    flushes_per_sec double precision,
    wal_busy double precision,
    wal_sync_method text,
    started_at timestamptz,
    duration interval,
    system_identifier bigint,
    host text
);

CREATE INDEX ON sync_probe.commit_wait_results (started_at);

GRANT SELECT ON sync_probe.commit_wait_results TO pg_monitor;

COMMENT ON TABLE sync_probe.commit_wait_results IS
  'History of commit_waits(). Times are means for each commit, in microseconds; null if unknown';
COMMENT ON COLUMN sync_probe.commit_wait_results.answer IS
  'Whether a faster sync would help, in words';
COMMENT ON COLUMN sync_probe.commit_wait_results.commits_per_sec IS
  'Transactions with a transaction ID, rollbacks and rolled back subtransactions included';
COMMENT ON COLUMN sync_probe.commit_wait_results.commit_wait_us IS
  'Time that a commit waits; what its five parts leave is processor time and other wait events';
COMMENT ON COLUMN sync_probe.commit_wait_results.wait_share IS
  'Share of the active time of sessions that is spent in commits, 0 to 1';
COMMENT ON COLUMN sync_probe.commit_wait_results.sync_us IS
  'Part in the sync of WAL (wait event WALSync)';
COMMENT ON COLUMN sync_probe.commit_wait_results.write_us IS
  'Part in the write of WAL (WALWrite); with open_* it includes the sync';
COMMENT ON COLUMN sync_probe.commit_wait_results.queue_us IS
  'Part in which another process writes or syncs WAL (WALWriteLock)';
COMMENT ON COLUMN sync_probe.commit_wait_results.commit_delay_us IS
  'Part that sleeps for commit_delay, up to PostgreSQL 18 with processor time';
COMMENT ON COLUMN sync_probe.commit_wait_results.sync_rep_us IS
  'Part that waits for a synchronous standby (SyncRep)';
COMMENT ON COLUMN sync_probe.commit_wait_results.committers IS
  'Processes that were seen in a commit';
COMMENT ON COLUMN sync_probe.commit_wait_results.wal_bytes_per_commit IS
  'Bytes of WAL of all processes, divided by commits';
COMMENT ON COLUMN sync_probe.commit_wait_results.flushes_per_sec IS 'Flushes of WAL';
COMMENT ON COLUMN sync_probe.commit_wait_results.wal_busy IS
  'Share of the time in which a process wrote or synced WAL, 0 to 1';
COMMENT ON COLUMN sync_probe.commit_wait_results.wal_sync_method IS 'Setting of the server';
COMMENT ON COLUMN sync_probe.commit_wait_results.started_at IS 'Start of the sampling';
COMMENT ON COLUMN sync_probe.commit_wait_results.duration IS 'Time that was sampled';
COMMENT ON COLUMN sync_probe.commit_wait_results.system_identifier IS
  'System identifier of the cluster';
COMMENT ON COLUMN sync_probe.commit_wait_results.host IS 'Name of the machine';

-- The history is the user's data: pg_dump includes it.
SELECT pg_catalog.pg_extension_config_dump('sync_probe.commit_wait_results', '');

--
-- commit_waits
--
-- How long the commits of this server wait, and for what: processes are sampled for the
-- duration, about a thousand times a second, without a lock and without a write.  On a
-- standby and in a read-only transaction nothing is recorded.
--
CREATE FUNCTION sync_probe.commit_waits(duration interval DEFAULT '5 s')
RETURNS sync_probe.commit_wait_results
LANGUAGE c VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'sync_probe_commit_waits';

REVOKE ALL ON FUNCTION sync_probe.commit_waits FROM PUBLIC;
GRANT EXECUTE ON FUNCTION sync_probe.commit_waits TO pg_monitor;

COMMENT ON FUNCTION sync_probe.commit_waits IS
  'Sample how long the commits of this server wait, for what, and whether a faster sync would '
  'help. Returns one row and records it';
