\set ECHO none
-- The operations of sql-bench, all of them: who may run them, and what is kept.
\a \t on
\set SHOW_CONTEXT never
SET client_min_messages = warning;

\echo -- what is missing is said by the names that people know
\set run 'SELECT refused($$CALL sync_probe.sql_bench(%s)$$, $$''{pg_default}''$$);'
CREATE ROLE regress_sync_probe_bench;
SET ROLE regress_sync_probe_bench; :run RESET ROLE;
GRANT EXECUTE ON PROCEDURE sync_probe.sql_bench TO regress_sync_probe_bench;
SET ROLE regress_sync_probe_bench; :run RESET ROLE;
GRANT pg_monitor TO regress_sync_probe_bench;
SET ROLE regress_sync_probe_bench; :run RESET ROLE;
GRANT EXECUTE ON PROCEDURE sync_probe.run_workload TO regress_sync_probe_bench;
SET ROLE regress_sync_probe_bench; CALL sync_probe.sql_bench('{pg_default}'); RESET ROLE;
DROP OWNED BY regress_sync_probe_bench;
DROP ROLE regress_sync_probe_bench;

\echo -- what cannot be run is refused before anything is
SELECT refused('CALL sync_probe.sql_bench(%s)', $$
NULL
'{}'
'{pg_default,nowhere}'
'{pg_default,NULL}'
'{pg_default}', NULL
'{pg_default}', 0
'{pg_default}', 1.1
'{pg_default}', 'NaN'
'{pg_default}'
$$);
SET client_min_messages = error;
CREATE PUBLICATION regress_all FOR ALL TABLES;
SET client_min_messages = warning;
CALL sync_probe.sql_bench('{pg_default}');
DROP PUBLICATION regress_all;
SELECT count(*) FROM sync_probe.workload_results;

\echo -- every combination begins once, and they take turns
SELECT number,
       string_agg(concat_ws(' ', tablespace, run_settings), ', ' ORDER BY n) AS combinations,
       min(progress) AS progress
FROM (SELECT *, (n - 1) / 4 + 1 AS number
      FROM sync_probe_internal.sql_bench_plan('{pg_default,regress_sync_probe}', 0.01,
                                              '{NULL,"{}"}')
          WITH ORDINALITY AS p (workload, tablespace, run_settings, transactions, progress, n)) AS p
WHERE number < 6 GROUP BY number ORDER BY number;
SELECT count(*), count(DISTINCT workload), sum(transactions), min(transactions)
FROM sync_probe_internal.sql_bench_plan('{pg_default}', 0.01, NULL);

\echo -- what was done before an error is kept; the names of a search_path mean nothing
CREATE FUNCTION public._sql_bench_plan(pg_catalog.name[], double precision, pg_catalog.jsonb[])
RETURNS boolean LANGUAGE sql AS 'SELECT 1 / 0 = 1';
CREATE PROCEDURE public.run_workload(pg_catalog.name, pg_catalog.name, integer, integer)
LANGUAGE sql AS 'SELECT 1 / 0 = 1';
CREATE DOMAIN public.name AS pg_catalog.name CHECK (value = 'trapped');
CREATE DOMAIN public.jsonb AS pg_catalog.jsonb CHECK (value IS NULL AND false);
SET search_path = public, pg_catalog;
CALL sync_probe.sql_bench('{pg_default}', 1e-9,
                          ARRAY[NULL, '{"no_such_setting": 1}']::pg_catalog.jsonb[]);
RESET search_path;
DROP DOMAIN public.name, public.jsonb;
DROP FUNCTION public._sql_bench_plan;
DROP PROCEDURE public.run_workload;
SELECT workload, settings, transactions, clients, rows
FROM sync_probe.workload_results;
DELETE FROM sync_probe.workload_results;

\echo -- each of them once, in two combinations, as one statement; and side by side
CALL sync_probe.sql_bench('{pg_default}', 1e-9, '{NULL, "{\"synchronous_commit\": \"off\"}"}');
SELECT count(*), count(DISTINCT run_group) AS groups, bool_and(run_group = min) AS named_by_first
FROM sync_probe.workload_results, (SELECT min(result_id) FROM sync_probe.workload_results) AS m;
SELECT array_agg(operation ORDER BY operation) =
       (SELECT array_agg(workload ORDER BY workload) FROM sync_probe.workloads
        WHERE suite = 'sql_bench') AS all_operations
FROM sync_probe.workload_comparison('sql_bench')
WHERE combination = 'pg_default' AND operation <> 'TOTALS'
  AND iterations = 1 AND tps > 0 AND seconds IS NOT NULL;
DELETE FROM sync_probe.workload_results;
