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
  'Results of commit_waits(). Times are means per commit, in microseconds; null if unknown';
COMMENT ON COLUMN sync_probe.commit_wait_results.answer IS 'Whether a faster sync would help';
COMMENT ON COLUMN sync_probe.commit_wait_results.commits_per_sec IS
  'Transactions with a transaction ID, also rollbacks and rolled back subtransactions';
COMMENT ON COLUMN sync_probe.commit_wait_results.commit_wait_us IS
  'Wait of a commit: the five parts below, processor time and other wait events';
COMMENT ON COLUMN sync_probe.commit_wait_results.wait_share IS
  'Share of the active time of sessions in commits, 0 to 1';
COMMENT ON COLUMN sync_probe.commit_wait_results.sync_us IS 'Wait event WALSync';
COMMENT ON COLUMN sync_probe.commit_wait_results.write_us IS
  'WALWrite; with open_* it includes the sync';
COMMENT ON COLUMN sync_probe.commit_wait_results.queue_us IS
  'WALWriteLock: another process writes or syncs WAL; answer shares it among the other parts';
COMMENT ON COLUMN sync_probe.commit_wait_results.commit_delay_us IS
  'Sleep for commit_delay, up to PostgreSQL 18 with processor time';
COMMENT ON COLUMN sync_probe.commit_wait_results.sync_rep_us IS 'SyncRep: a synchronous standby';
COMMENT ON COLUMN sync_probe.commit_wait_results.committers IS 'Processes seen in a commit';
COMMENT ON COLUMN sync_probe.commit_wait_results.wal_bytes_per_commit IS
  'WAL of all processes, divided by commits';
COMMENT ON COLUMN sync_probe.commit_wait_results.flushes_per_sec IS
  'Flushes of WAL; null if sampled for less than a second';
COMMENT ON COLUMN sync_probe.commit_wait_results.wal_busy IS
  'Share of the time with a write or sync of WAL, 0 to 1';
COMMENT ON COLUMN sync_probe.commit_wait_results.wal_sync_method IS 'Setting of the server';
COMMENT ON COLUMN sync_probe.commit_wait_results.started_at IS 'Start of sampling';
COMMENT ON COLUMN sync_probe.commit_wait_results.duration IS 'Time sampled';
COMMENT ON COLUMN sync_probe.commit_wait_results.system_identifier IS 'As in pg_control_system()';
COMMENT ON COLUMN sync_probe.commit_wait_results.host IS 'Machine name';

SELECT pg_catalog.pg_extension_config_dump('sync_probe.commit_wait_results', '');

--
-- commit_waits
--
-- doc/real-commits.md describes it.
--
CREATE FUNCTION sync_probe.commit_waits(duration interval DEFAULT '5 s')
RETURNS sync_probe.commit_wait_results
LANGUAGE c VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'sync_probe_commit_waits';

REVOKE ALL ON FUNCTION sync_probe.commit_waits FROM PUBLIC;
GRANT EXECUTE ON FUNCTION sync_probe.commit_waits TO pg_monitor;

COMMENT ON FUNCTION sync_probe.commit_waits IS
  'Sample how long commits of this server wait, for what, and whether a faster sync would help. '
  'Returns and records one row';
