-- Which processes wait_for_reload() waits for, on invented ones.  test/t/013_advice.pl has that it
-- waits for a session, and for the postmaster.
\ir include/begin.sql

CREATE TEMP TABLE activity AS
SELECT v.*, now() + began AS query_start, now() - interval '2 s' AS backend_start,
       row_number() OVER ()::integer AS pid
FROM (VALUES ('waits', 'client backend', 'active', '-1 s'::interval, NULL, NULL),
    ('-', 'client backend', 'active', '1 s', NULL, NULL),
    ('waits', 'client backend', 'fastpath function call', '-1 s', NULL, NULL),
    ('-', 'client backend', 'idle', '-1 s', 'ClientRead', NULL),
    ('-', 'client backend', 'idle in transaction', '-1 s', 'ClientRead', NULL),
    -- it does not say what it does
    ('unknown', 'client backend', 'disabled', NULL, NULL, NULL),
    -- one table after the other, each a statement; none before the first
    ('waits', 'autovacuum worker', 'active', '-1 s', 'VacuumDelay', NULL),
    ('-', 'autovacuum worker', 'active', '1 s', 'VacuumDelay', NULL),
    ('waits', 'autovacuum worker', NULL, NULL, NULL, NULL),
    ('waits', 'checkpointer', NULL, NULL, 'DataFileSync', NULL),
    ('waits', 'checkpointer', NULL, NULL, NULL, NULL),
    ('-', 'checkpointer', NULL, NULL, 'CheckpointWriteDelay', NULL),
    ('-', 'checkpointer', NULL, NULL, 'CheckpointerMain', NULL),
    ('waits', 'background writer', NULL, NULL, NULL, NULL),
    ('-', 'background writer', NULL, NULL, 'BgWriterMain', NULL),
    ('waits', 'walwriter', NULL, NULL, 'WALWrite', NULL),
    ('-', 'walwriter', NULL, NULL, 'WalWriterMain', NULL),
    ('-', 'walsender', 'active', '-1 s', NULL, 'start_replication 0/0'),
    ('-', 'walsender', 'active', '-1 s', NULL, ' START_REPLICATION SLOT x LOGICAL 0/0'),
    ('waits', 'walsender', 'active', '-1 s', NULL, 'BASE_BACKUP'),
    ('waits', 'walsender', 'active', '-1 s', NULL, 'SELECT 1 -- START_REPLICATION'))
    AS v (expected, backend_type, state, began, wait_event, query);
SELECT replace(pg_get_functiondef('sync_probe_internal.older_statements'::regproc),
               'pg_stat_activity', 'pg_temp.activity') AS definition \gset
:definition;

SELECT is(CASE WHEN a.pid::text = ANY (string_to_array(s.pids, ', ')) THEN 'waits'
               WHEN a.pid::text = ANY (string_to_array(s.silent_pids, ', ')) THEN 'unknown'
               ELSE '-' END, a.expected,
          concat_ws(', ', backend_type, state, began, wait_event, query))
FROM activity AS a, sync_probe_internal.older_statements(now(), NULL) AS s;
SELECT is(n.news, s.pids <> noticed, 'news after a notice of ' || noticed)
FROM sync_probe_internal.older_statements(now(), NULL) AS s, unnest(ARRAY[s.pids, '0']) AS noticed,
     sync_probe_internal.older_statements(now(), noticed) AS n;

\ir include/end.sql
