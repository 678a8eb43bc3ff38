--
-- The surface of the extension as a whole: who may use it, and that \d+ and \df+ describe it.
-- doc/reference.md has all names and types; a test compares it with the catalog.
--
\ir include/begin.sql
SELECT is(current_setting('default_toast_compression'), reset_val,
          'CREATE EXTENSION leaves the compression of its transaction as it was')
FROM pg_settings WHERE name = 'default_toast_compression';

-- Readers of the history, and those who ask for a report, write many names: each one must earn
-- its place.
CREATE TEMP VIEW public_column AS
SELECT c.relname, a.attname, col_description(c.oid, a.attnum) AS comment, a.attcollation,
       a.atttypid
FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
WHERE c.relnamespace = 'sync_probe'::regnamespace AND c.relkind IN ('r', 'v', 'c')
  AND a.attnum > 0 AND NOT a.attisdropped;
SELECT cmp_ok((SELECT count(*) FROM public_column), '<=', 207::bigint, 'public columns');

SELECT is_empty($$
    SELECT c.oid::regclass FROM pg_class AS c
    WHERE c.relnamespace = 'sync_probe'::regnamespace AND c.relkind IN ('r', 'v')
      AND (NOT has_table_privilege('pg_monitor', c.oid, 'SELECT')
           OR has_table_privilege('pg_monitor', c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE'))$$,
    'pg_monitor may look at all tables and views, and no more');

-- what writes is nobody's but the owner's, until granted
SELECT ok(NOT has_function_privilege('pg_monitor', p.oid, 'EXECUTE'),
          p.proname || '() is revoked from PUBLIC')
FROM pg_proc AS p
WHERE p.pronamespace = 'sync_probe'::regnamespace
  AND p.proname IN ('probe', 'probe_all', 'trial', 'cleanup', 'pgbench', 'run_workload', 'sql_bench',
                    'import_pg_test_fsync', 'import_json', 'fleet_run', 'probe_fleet',
                    'collect_fleet', 'delete_history', 'power_test', 'power_test_result')
ORDER BY p.proname;

-- what runs as the owner is nobody else's: any role could call it, and make triggers of a
-- trigger function on tables of its own
SELECT is_empty($$
    SELECT p.oid::regprocedure FROM pg_proc AS p
    CROSS JOIN LATERAL aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) AS a
    WHERE p.pronamespace IN ('sync_probe'::regnamespace, 'sync_probe_internal'::regnamespace)
      AND p.prosecdef AND a.grantee <> p.proowner$$,
    'no other role may execute what runs as the owner');

-- nobody else looks; pg_monitor may, and what it calls works for it
CREATE ROLE sync_probe_nobody;
SELECT is_empty($$
    SELECT c.oid::regclass FROM pg_class AS c
    WHERE c.relnamespace IN ('sync_probe'::regnamespace, 'sync_probe_internal'::regnamespace)
      AND c.relkind IN ('r', 'v') AND has_table_privilege('sync_probe_nobody', c.oid, 'SELECT')$$,
    'nothing is for everybody to look at');
SELECT ok(NOT has_function_privilege('sync_probe_nobody', f::regprocedure, 'EXECUTE'),
          f || ' is not for everybody')
FROM unnest('{sync_probe.commit_waits(interval),sync_probe.wait_for_reload(),
    "sync_probe.report_html(bigint[],boolean)",
    "sync_probe.expect(name,name,interval,boolean)",
    "sync_probe_internal.examine_locations(name,name[])",
    sync_probe_internal.this_server()}'::text[]) AS f;
SET LOCAL ROLE pg_monitor;
SELECT lives_ok('SELECT * FROM sync_probe.findings', 'pg_monitor reads findings');
SELECT lives_ok('SELECT * FROM sync_probe.recommendations', 'and recommendations');
SELECT lives_ok('SELECT * FROM sync_probe.recommendation_details', 'and their details');
SELECT lives_ok('SELECT * FROM sync_probe.metrics', 'and metrics');
SELECT lives_ok('SELECT * FROM sync_probe.fleet_compare', 'and what nodes recorded');
SELECT lives_ok('SELECT * FROM sync_probe.fleet_history', 'and their history');
SELECT throws_ok('SELECT * FROM sync_probe.fleet_findings', '42501', NULL,
                 'but may not connect to them');
SELECT lives_ok('SELECT * FROM sync_probe.workload_comparison(''upsert'')',
                'and comparisons of workloads');
SELECT lives_ok('SELECT * FROM sync_probe.device_lifetime(''pg_wal'', 300000000000, 5000)',
                'and calls device_lifetime()');
SELECT lives_ok('SELECT * FROM sync_probe.expect()', 'and expect()');
RESET ROLE;

-- \d+, \df+ and \dn+ are the reference in the database
SELECT is_empty('SELECT relname, attname FROM public_column WHERE comment IS NULL',
                'each public column has a comment');
SELECT is_empty($$SELECT oid::regprocedure FROM pg_proc
                  WHERE pronamespace = 'sync_probe'::regnamespace
                    AND obj_description(oid, 'pg_proc') IS NULL$$, 'each function');
SELECT is_empty($$SELECT oid::regclass FROM pg_class
                  WHERE relnamespace = 'sync_probe'::regnamespace AND relkind IN ('r', 'v')
                    AND obj_description(oid, 'pg_class') IS NULL$$, 'each table and view');

-- text that has no collation cannot be sorted or compared
SELECT is_empty($$SELECT p.relname, p.attname FROM public_column AS p
                  JOIN pg_type AS t ON t.oid = p.atttypid
                  WHERE p.attcollation = 0 AND t.typcollation <> 0$$,
                'all text has a collation');

SELECT is((SELECT count(*) FROM pg_extension, unnest(extconfig) WHERE extname = 'pg_sync_probe'),
          10::bigint, 'the history is dumped: six tables and their sequences; workloads, profiles');
SELECT is((SELECT c FROM pg_extension, unnest(extconfig, extcondition) AS e (t, c)
           WHERE extname = 'pg_sync_probe' AND t = 'sync_probe_internal.workloads'::regclass),
          '', 'all workloads that users added');
SELECT is((SELECT extrelocatable FROM pg_extension WHERE extname = 'pg_sync_probe'), false,
          'not relocatable');

\ir include/end.sql
