-- sync_probe.workload_comparison on recorded results: what is a combination, what
-- is compared with what, when there are totals.
\set tests 6
\ir include/begin.sql

DELETE FROM sync_probe.workload_results;
SELECT is_empty($$SELECT * FROM sync_probe.workload_comparison('sql_bench')$$,
                'nothing recorded, nothing compared');

-- Groups 1 and 10 of one suite, 20 of another.  Each: group, workload, tablespace,
-- settings, label, transactions, seconds, and whether they were counted.
CREATE FUNCTION pg_temp.results(first bigint, suite name, VARIADIC results text[]) RETURNS void
    LANGUAGE sql AS $$
INSERT INTO sync_probe.workload_results (result_id, run_group, suite, workload, tablespace,
    settings, label, transactions, tps, transactions_per_client)
SELECT first + place - 1, first, suite, f[1], f[2], nullif(f[3], '')::jsonb, nullif(f[4], ''),
       f[5]::bigint, f[5]::bigint / f[6]::float8, nullif(f[7], '')::integer
FROM unnest(results) WITH ORDINALITY r (line, place),
    LATERAL regexp_split_to_array(line, ' *[|] *') f
$$;

SELECT pg_temp.results(1, 'sql_bench', 'insert | old |  |  | 100 | 1 | 100');
SELECT is(count(*), 1::bigint, 'no totals of one operation')
FROM sync_probe.workload_comparison('sql_bench');
SELECT pg_temp.results(10, 'sql_bench', 'select | slow |  |  | 100 | 2 | 100',
    'select | fast |  |  | 100 | 1 | 100',
    'select | fast | {"work_mem": "1MB", "jit": false} |  | 100 | 3 | 100',
    'insert | fast |  |  | 10 | 2 | 10',
    'insert | fast | {"work_mem": "1MB", "jit": false} |  | 10 | 1 | 10',
    'insert | slow |  |  | 10 | 8 | 10');
SELECT pg_temp.results(20, 'upsert', 'upsert | fast |  | before | 3000 | 30 | ',
    'upsert | fast |  | after | 6000 | 30 | ',
    'upsert | fast |  | after | 12000 | 30 | ',
    'upsert_on_conflict | fast |  | before | 0 | 30 | ',
    'upsert_on_conflict | fast |  | after | 60 | 30 | ');

SELECT results_eq(
    $$SELECT operation, combination, iterations, seconds, ratio
      FROM sync_probe.workload_comparison('sql_bench')$$,
    $$VALUES ('TOTALS'::name, 'slow', 110::bigint, 10::float8, 1::float8),
             ('TOTALS', 'fast', 110, 3, 0.3),
             ('TOTALS', 'fast jit=false work_mem=1MB', 110, 4, 0.4),
             ('insert', 'slow', 10, 8, 1), ('insert', 'fast', 10, 2, 0.25),
             ('insert', 'fast jit=false work_mem=1MB', 10, 1, 0.125),
             ('select', 'slow', 100, 2, 1), ('select', 'fast', 100, 1, 0.5),
             ('select', 'fast jit=false work_mem=1MB', 100, 3, 1.5)$$,
    'the newest statement: totals first, then operations by name; ratios are to the combination'
    ' that ran first of all');

SELECT results_eq(
    $$SELECT operation, combination, iterations, seconds, tps, ratio
      FROM sync_probe.workload_comparison('upsert')$$,
    $$VALUES ('upsert'::name, 'fast (before)', 3000::bigint, 30::float8, 100::float8, 1::float8),
             ('upsert', 'fast (after)', 9000, 30, 300, 0.333),
             ('upsert_on_conflict', 'fast (after)', 60, 30, 2, 1)$$,
    'a label is part of the combination; repetitions are averaged, the time of a transaction is'
    ' compared; no totals of runs that lasted for a duration, no run without a transaction');

-- what else differs is named, and not averaged
INSERT INTO sync_probe.workload_results (result_id, run_group, suite, workload, tablespace,
    settings, label, transactions, tps, clients, threads, rows) VALUES
(30, 30, 'user', 'mine', 'fast', NULL, NULL, 100, 100, 1, 1, 10),
(31, 30, 'user', 'mine', 'fast', '{}', '', 400, 400, 1, 1, 10),
(32, 30, 'user', 'mine', 'fast', NULL, NULL, 500, 500, 5, 1, 10),
(33, 30, 'user', 'mine', 'fast', '{"jit": "off"}', NULL, 1, 1, 5, 1, 10),
(34, 30, 'user', 'mine', 'fast', NULL, 'jit=off', 1, 0.001, 5, 1, 10);
SELECT results_eq(
    $$SELECT combination, tps, ratio FROM sync_probe.workload_comparison('user')$$,
    $$VALUES ('fast [clients 1, threads 1, rows 10]', 250::float8, 1::float8),
             ('fast [clients 5, threads 1, rows 10]', 500, 0.5),
             ('fast jit=off [clients 5, threads 1, rows 10]', 1, 250),
             ('fast (jit=off) [clients 5, threads 1, rows 10]', 0.001, 250000)$$,
    'clients that differ are combinations; no settings and an empty label are none');

-- totals are of what all combinations ran
SELECT pg_temp.results(40, 'user',
    'a | x |  |  | 10 | 1 | 10', 'b | x |  |  | 10 | 100 | 10', 'c | x |  |  | 10 | 1 | 10',
    'a | y |  |  | 10 | 2 | 10', 'c | y |  |  | 10 | 2 | 10');
SELECT results_eq(
    $$SELECT combination, iterations, seconds, ratio FROM sync_probe.workload_comparison('user')
      WHERE operation = 'TOTALS'$$,
    $$VALUES ('x', 20::bigint, 2::float8, 1::float8), ('y', 20, 4, 2)$$,
    'an operation that one of them did not run is in no total');

\ir include/end.sql
