--
-- trial
--
-- Try values of a setting on the server's own load, or on that of a workload: switch it
-- for the whole cluster, in short slots of time in random order, and compare how long
-- commits wait and how many there are.  However it ends, the old value comes back.  Values of
-- wal_sync_method are of the kind in use: buffered, or open_*.
--
-- Settings are wal_sync_method, commit_delay, commit_siblings, wal_compression,
-- wal_writer_delay and wal_writer_flush_after.  workload: a row of workloads, which
-- pgbench runs as long as the trial lasts; it needs the privileges of run_workload(), too.
-- doc/real-commits.md describes it, doc/settings-and-privileges.md its errors.
--
-- Without SET search_path, with which it could not commit.
--
CREATE PROCEDURE sync_probe.trial(
    setting name DEFAULT 'wal_sync_method',
    "values" text[] DEFAULT NULL,
    duration interval DEFAULT '1 min',
    slot interval DEFAULT NULL,
    workload name DEFAULT NULL,
    label text DEFAULT NULL,
    INOUT run_id bigint DEFAULT NULL,
    INOUT verdict text DEFAULT NULL,
    INOUT recommended_value text DEFAULT NULL,
    INOUT reason text DEFAULT NULL)
LANGUAGE c
AS 'MODULE_PATHNAME', 'sync_probe_trial';

REVOKE ALL ON PROCEDURE sync_probe.trial FROM PUBLIC;

COMMENT ON PROCEDURE sync_probe.trial IS
  'Switch a setting of the cluster in short random slots, compare commits, and restore it. '
  'Requires ALTER SYSTEM on it; with workload, which makes the load, also what run_workload() '
  'requires';
