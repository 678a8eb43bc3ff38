--
-- workload_results
--
-- One row for each run of a workload, with a number from the sequence of runs.  pgbench() returns
-- rows of this type.
--
CREATE TABLE sync_probe.workload_results (
    result_id bigint PRIMARY KEY,
    run_group bigint NOT NULL,
    workload name NOT NULL,
    tablespace name,
    tps double precision,
    latency_mean_ms double precision,
    latency_p50_ms double precision,
    latency_p99_ms double precision,
    latency_max_ms double precision,
    transactions bigint,
    failed bigint,
    clients integer,
    threads integer,
    wal_bytes bigint,
    wal_syncs bigint,
    settings jsonb,
    server_settings jsonb,
    label text,
    suite name,
    rows integer,
    transactions_per_client integer,
    started_at timestamptz,
    finished_at timestamptz,
    statements jsonb,
    second_tps double precision[]
);

GRANT SELECT ON sync_probe.workload_results TO pg_monitor;

COMMENT ON TABLE sync_probe.workload_results IS 'Runs of workloads. Latencies are in milliseconds';
COMMENT ON COLUMN sync_probe.workload_results.result_id IS 'Number';
COMMENT ON COLUMN sync_probe.workload_results.run_group IS 'First result_id of the same statement';
COMMENT ON COLUMN sync_probe.workload_results.workload IS 'As in workloads';
COMMENT ON COLUMN sync_probe.workload_results.tablespace IS 'Of its objects';
COMMENT ON COLUMN sync_probe.workload_results.tps IS
  'As pgbench reports it, without the first connections';
COMMENT ON COLUMN sync_probe.workload_results.latency_mean_ms IS 'As pgbench reports it';
COMMENT ON COLUMN sync_probe.workload_results.latency_p50_ms IS
  'From a log of all transactions, within 1 percent; null if too few';
COMMENT ON COLUMN sync_probe.workload_results.latency_p99_ms IS
  'From a log of all transactions, within 1 percent; null if too few';
COMMENT ON COLUMN sync_probe.workload_results.latency_max_ms IS
  'From a log of all transactions, within 1 percent; null if too few';
COMMENT ON COLUMN sync_probe.workload_results.transactions IS 'Completed';
COMMENT ON COLUMN sync_probe.workload_results.failed IS
  'Serialization failures and deadlocks; other errors end the run';
COMMENT ON COLUMN sync_probe.workload_results.clients IS 'Of pgbench';
COMMENT ON COLUMN sync_probe.workload_results.threads IS 'Of pgbench';
COMMENT ON COLUMN sync_probe.workload_results.wal_bytes IS
  'WAL of the whole server; null if the statistics were reset';
COMMENT ON COLUMN sync_probe.workload_results.wal_syncs IS
  'Of the whole server; 0 with open_*, whose writes are not counted';
COMMENT ON COLUMN sync_probe.workload_results.settings IS 'The argument';
COMMENT ON COLUMN sync_probe.workload_results.server_settings IS
  'Settings that affect commits, and server_version; synchronous_commit of the sessions; no '
  'wal_sync_method if it changed meanwhile';
COMMENT ON COLUMN sync_probe.workload_results.label IS 'Free text';
COMMENT ON COLUMN sync_probe.workload_results.suite IS 'As in workloads';
COMMENT ON COLUMN sync_probe.workload_results.rows IS 'The argument';
COMMENT ON COLUMN sync_probe.workload_results.transactions_per_client IS
  'Argument transactions; null with a duration';
COMMENT ON COLUMN sync_probe.workload_results.started_at IS 'Start and end of pgbench';
COMMENT ON COLUMN sync_probe.workload_results.finished_at IS 'Start and end of pgbench';
COMMENT ON COLUMN sync_probe.workload_results.statements IS
  'Mean latency and failures per line of the script';
COMMENT ON COLUMN sync_probe.workload_results.second_tps IS 'tps in each second';

SELECT pg_catalog.pg_extension_config_dump('sync_probe.workload_results', '');

--
-- pgbench
--
-- doc/workloads.md describes arguments and columns, doc/settings-and-privileges.md errors.
--
CREATE FUNCTION sync_probe.pgbench(
    workload name DEFAULT 'upsert',
    tablespace name DEFAULT NULL,
    clients integer DEFAULT 16,
    threads integer DEFAULT 8,
    duration interval DEFAULT '30 s',
    transactions integer DEFAULT NULL,
    rows integer DEFAULT 500000,
    settings jsonb DEFAULT NULL,
    label text DEFAULT NULL,
    allow_publication boolean DEFAULT false)
RETURNS SETOF sync_probe.workload_results
LANGUAGE c VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'sync_probe_pgbench';

REVOKE ALL ON FUNCTION sync_probe.pgbench FROM PUBLIC;

COMMENT ON FUNCTION sync_probe.pgbench IS
  'Run a workload with the server''s pgbench, record it and return its row. Requires '
  'pg_execute_server_program';

--
-- run_workload
--
-- The same as a procedure.  It commits first, so that no snapshot of the caller keeps the
-- server from removing dead row versions while the workload runs.  It cannot be called in
-- a transaction block.  It has no SET search_path, because a procedure with one cannot
-- commit; every name that it executes has a schema.
--
CREATE PROCEDURE sync_probe.run_workload(
    workload name DEFAULT 'upsert',
    tablespace name DEFAULT NULL,
    clients integer DEFAULT 16,
    threads integer DEFAULT 8,
    duration interval DEFAULT '30 s',
    transactions integer DEFAULT NULL,
    rows integer DEFAULT 500000,
    settings jsonb DEFAULT NULL,
    label text DEFAULT NULL,
    allow_publication boolean DEFAULT false,
    INOUT result_id bigint DEFAULT NULL,
    INOUT tps double precision DEFAULT NULL,
    INOUT latency_mean_ms double precision DEFAULT NULL,
    INOUT latency_p99_ms double precision DEFAULT NULL)
LANGUAGE c
AS 'MODULE_PATHNAME', 'sync_probe_run_workload';

REVOKE ALL ON PROCEDURE sync_probe.run_workload FROM PUBLIC;

COMMENT ON PROCEDURE sync_probe.run_workload IS
  'As pgbench(), but without a snapshot, which would keep dead row versions';
