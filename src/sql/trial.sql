--
-- trial
--
-- doc/real-commits.md describes it, doc/settings-and-privileges.md its errors.  Without SET
-- search_path, with which it could not commit.
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
