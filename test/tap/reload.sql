-- Which processes wait_for_reload() waits for, on invented ones.  test/t/013_advice.pl has that it
-- waits for a session, and for the postmaster.
\ir include/begin.sql

CREATE TEMP TABLE activity AS
SELECT v.*, row_number() OVER ()::integer AS pid
FROM (VALUES
    ('waits', 'client backend', 'active', '-1 s'::interval, NULL),
    ('-', 'client backend', 'active', '1 s', NULL),
    ('waits', 'client backend', 'fastpath function call', '-1 s', NULL),
    ('-', 'client backend', 'idle', '-1 s', 'ClientRead'),
    ('-', 'client backend', 'idle in transaction', '-1 s', 'ClientRead'),
    -- it does not say what it does
    ('unknown', 'client backend', 'disabled', NULL, NULL),
    -- one table after the other, each a statement; none before the first
    ('waits', 'autovacuum worker', 'active', '-1 s', 'VacuumDelay'),
    ('-', 'autovacuum worker', 'active', '1 s', 'VacuumDelay'),
    ('waits', 'autovacuum worker', NULL, NULL, NULL),
    ('waits', 'checkpointer', NULL, NULL, 'DataFileSync'),
    ('waits', 'checkpointer', NULL, NULL, NULL),
    ('-', 'checkpointer', NULL, NULL, 'CheckpointWriteDelay'),
    ('-', 'checkpointer', NULL, NULL, 'CheckpointerMain'))
    AS v (expected, backend_type, state, began, wait_event);
ALTER TABLE activity ADD query text;
INSERT INTO activity (expected, backend_type, state, began, query, pid) VALUES
    ('-', 'walsender', 'active', '-1 s', 'start_replication 0/0', 101),
    ('-', 'walsender', 'active', '-1 s', ' START_REPLICATION SLOT x LOGICAL 0/0', 102),
    ('waits', 'walsender', 'active', '-1 s', 'BASE_BACKUP', 103),
    ('waits', 'walsender', 'active', '-1 s', 'SELECT 1 -- START_REPLICATION', 104);
ALTER TABLE activity ADD query_start timestamptz, ADD backend_start timestamptz;
UPDATE activity SET query_start = now() + began, backend_start = now() - interval '2 s';
SELECT replace(pg_get_functiondef('sync_probe_internal.older_statements'::regproc),
               'pg_stat_activity', 'pg_temp.activity') AS definition \gset
:definition;

SELECT is(CASE WHEN a.pid::text = ANY (string_to_array(s.pids, ', ')) THEN 'waits'
               WHEN a.pid::text = ANY (string_to_array(s.silent_pids, ', ')) THEN 'unknown'
               ELSE '-' END, a.expected,
          concat_ws(', ', backend_type, state, began, wait_event, query))
FROM activity AS a, sync_probe_internal.older_statements(now(), NULL) AS s;
SELECT is(n.news, s.pids <> noticed, 'news after a notice of ' || noticed)
FROM sync_probe_internal.older_statements(now(), NULL) AS s,
     unnest(ARRAY[s.pids, '0']) AS noticed,
     sync_probe_internal.older_statements(now(), noticed) AS n;

\ir include/end.sql
