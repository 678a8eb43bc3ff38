--
-- Sections of the report on history, waits, workloads and streams, on recorded rows.
--
\set ON_ERROR_STOP on
\set QUIET on
\pset format unaligned
\pset tuples_only on
BEGIN;
CREATE EXTENSION IF NOT EXISTS pgtap;
CREATE EXTENSION IF NOT EXISTS pg_sync_probe;
SELECT plan(25);

-- ------------------------------------------------------------------- history

-- Runs with the numbers of those in which something has changed.
CREATE FUNCTION pg_temp.history(runs integer, changed integer[])
RETURNS sync_probe_internal.history_run[] LANGUAGE sql AS $$
    SELECT array_agg((n, n, '2026-01-01'::timestamptz + n * interval '1 day', NULL, 'fsync', 'ext4',
                      'rw', '6.1', '15.4', 'yes', 100 + n, NULL,
                      CASE WHEN n = ANY (changed) THEN ARRAY['kernel: 1 -> 2'] END
                     )::sync_probe_internal.history_run ORDER BY n)
    FROM generate_series(1, runs) AS n
$$;

SELECT results_eq(
    $$SELECT number, x, is_first, text
      FROM sync_probe_internal.history_marks(pg_temp.history(10, '{2,6}'))$$,
    $$VALUES (1, 10.0, true, 'Run 2: kernel: 1 -> 2'), (2, 50.0, true, 'Run 6: kernel: 1 -> 2')$$,
    'each change has a number');
SELECT results_eq(
    $$SELECT number, x, is_first
      FROM sync_probe_internal.history_marks(pg_temp.history(50, '{2,3,5,6,40}'))$$,
    $$VALUES (1, 2.0, true), (1, 4.0, false), (1, 8.0, false), (2, 10.0, true), (3, 78.0, true)$$,
    'changes whose numbers would touch share one');
SELECT is_empty($$SELECT * FROM sync_probe_internal.history_marks(pg_temp.history(5, '{}'))$$,
    'no change, no mark');

CREATE FUNCTION pg_temp.line(history sync_probe_internal.history_run[], quantile text)
RETURNS text LANGUAGE sql AS $$
    SELECT sync_probe_internal.history_line(history,
               sync_probe_internal.html_log_axis(50, 500, 'us'), quantile)
$$;
SELECT is(regexp_count(pg_temp.line(pg_temp.history(5, '{}'), 'p50'), '<circle'), 5,
    'a point for each run');
SELECT is(regexp_count(pg_temp.line(pg_temp.history(5, '{}'), 'p50'), '<line'), 4,
    'joined by lines');
SELECT is(pg_temp.line(pg_temp.history(5, '{}'), 'p99'), '<g class=oth></g>',
    'what no run knows is not drawn');

-- ----------------------------------------------------------------- workloads

CREATE FUNCTION pg_temp.data(chosen boolean)
RETURNS sync_probe_internal.report_data LANGUAGE sql AS $$
    SELECT jsonb_populate_record(NULL::sync_probe_internal.report_data,
                                 jsonb_build_object('chosen', chosen))
$$;

DELETE FROM sync_probe.workload_results;
INSERT INTO sync_probe.workload_results (result_id, run_group, workload, suite, tablespace, clients,
    rows, tps, latency_p50_ms, latency_p99_ms, latency_max_ms, wal_sync_method, seconds)
VALUES (0, 0, 'reads', 'user', 'a', 8, 10, 700, 1, 2, 3, 'fsync', 30),
       (1, 1, 'upsert', 'upsert', 'a', 8, 10, 100, 1, 2, 3, 'fsync', 30),
       (2, 1, 'upsert', 'upsert', 'b', 8, 10, 300, 1, 2, 3, 'fsync', 30),
       (3, 3, 'upsert', 'upsert', 'a', 8, 10, 200, 1, 2, 3, 'fsync', 30),
       (4, 4, 'upsert', 'upsert', 'c', 8, 99, 900, 1, 2, 3, 'fsync', 30),
       (5, 5, 'upsert', 'upsert', 'd', 8, 10, 900, 1, 2, 3, 'open_sync', 30),
       (6, 6, 'upsert', 'upsert', NULL, 8, 10, 50, 1, NULL, 3, 'fsync', 30),
       (7, 7, 'select', 'sql_bench', 'a', 8, 10, 900, 1, 2, 3, 'fsync', 30);
SELECT results_eq(
    $$SELECT workload, n, place, (result).result_id
      FROM sync_probe_internal.workload_rows(pg_temp.data(false)) ORDER BY 1, 2$$,
    $$VALUES (1, 1, 'b', 2::bigint), (1, 2, 'a', 3), (1, 3, 'default', 6), (2, 1, 'a', 0)$$,
    'of each workload the newest of each tablespace with its newest arguments and settings');
SELECT results_eq(
    $$SELECT w[1] FROM regexp_matches(
          (sync_probe_internal.page_workloads(pg_temp.data(false))).body_html,
          'Workload (\w+) with', 'g') AS w$$,
    $$VALUES ('upsert'), ('reads')$$, 'each workload has a figure');
SELECT is_empty($$SELECT * FROM sync_probe_internal.workload_rows(pg_temp.data(true))$$,
    'no workload in a report on chosen runs');
SELECT matches((sync_probe_internal.page_workloads(pg_temp.data(false))).body_html,
    'default p50 1\.0, p99 \?, longest 3.0&nbsp;ms', 'an unknown quantile is said');

SELECT matches(sync_probe_internal.workload_latency(
    sync_probe_internal.html_log_axis(1, 100, 'ms'), 9, 1.5, 34, 90), '>34</text>$',
    'the number beside p99 is p99');
SELECT is(sync_probe_internal.workload_latency(
    sync_probe_internal.html_log_axis(1, 100, 'ms'), 9, NULL, NULL, 90), NULL,
    'nothing is drawn without p50');

-- -------------------------------------------------------------------- speeds

CREATE FUNCTION pg_temp.forest(low float8, high float8) RETURNS text LANGUAGE sql AS $$
    SELECT sync_probe_internal.html_forest('f', 'title',
        ARRAY[ROW('fsync', NULL, 'oth', 'dot', 0.83, low, high)::sync_probe_internal.forest_mark],
        sync_probe_internal.html_ratio_axis(0.5, 2), 'worse', 'better')
$$;
SELECT is(pg_temp.forest(0.8, 0.9) ~ 'fsync 0\.83 \(0\.80 to 0\.90\)'
          AND pg_temp.forest(0.8, 0.9) ~ '> \(0\.80 to 0\.90\)<', true, 'a speed with its bounds');
SELECT is(pg_temp.forest(NULL, NULL) ~ '0\.83' AND pg_temp.forest(NULL, NULL) !~ ' to ', true,
          'and one without');

-- --------------------------------------------------------------------- waits

DELETE FROM sync_probe.commit_wait_results;
SELECT is((sync_probe_internal.page_waits(pg_temp.data(false))).id, NULL, 'nothing was sampled');
INSERT INTO sync_probe.commit_wait_results (result_id, answer, commit_wait_us, sync_us, write_us,
    queue_us, commit_delay_us, sync_rep_us, other_us, wal_sync_method, commit_delay, started_at,
    duration, system_identifier, host)
SELECT v.*, '2026-01-01', '5 s', s.system_identifier, s.host
FROM sync_probe_internal.this_server() AS s,
     (VALUES (1, 'old', 100, 90, 5, 5, 0, 0, 0, 'fsync', 0),
             (2, 'new', 200, 100, 50, 30, 0, 0, 20, 'fsync', 0),
             (3, 'none', 0, 0, 0, 0, 0, 0, 0, 'fsync', 0),
             (-1, 'another load', 900, 900, 0, 0, 0, 0, 0, 'open_sync', 50)) AS v;
INSERT INTO sync_probe.commit_wait_results (result_id, answer, commit_wait_us, sync_us,
    wal_sync_method, commit_delay, system_identifier, host)
VALUES (4, 'elsewhere', 300, 300, 'fsync', 0, 1, 'elsewhere');
SELECT matches((sync_probe_internal.page_waits(pg_temp.data(false))).body_html,
    '<desc id=waits-1-d>fsync: WALSync 100&nbsp;&micro;s, WALWrite 50&nbsp;&micro;s, '
    'queue for WALWriteLock 30&nbsp;&micro;s, other 20&nbsp;&micro;s</desc>',
    'the newest result of this server');
SELECT unalike((sync_probe_internal.page_waits(pg_temp.data(false))).body_html, '%open_sync%</desc>%',
    'a result of another load has no bar beside it');
SELECT is((sync_probe_internal.page_waits(pg_temp.data(true))).id, NULL,
    'no waits in a report on chosen runs');
SELECT is((SELECT sum(w[1]::numeric)
           FROM regexp_matches(sync_probe_internal.stacked_bar(
                    sync_probe_internal.html_linear_axis(200, 'us'), 6, r),
                    'width=([0-9.]+)%', 'g') AS w), sync_probe_internal.html_at(
                           sync_probe_internal.html_linear_axis(200, 'us'), 200),
    'the parts of a bar are as long as the whole')
FROM sync_probe.commit_wait_results AS r WHERE result_id = 2;

-- ------------------------------------------------------------------- streams

INSERT INTO sync_probe.runs (run_id, source, suite, location, wal_sync_method, started_at, duration)
VALUES (900001, 'probe', 'stream', 'pg_wal', 'fsync', '2026-01-01', '600 s');
INSERT INTO sync_probe.measurements (run_id, ordinal, test, method, direct_io, status, p50_us,
    max_us, write_size, ops)
VALUES (900001, 1, '8 kB', 'fsync', false, 'ok', 100, 5000, 8192, 10);
INSERT INTO sync_probe.stream_seconds (run_id, ordinal, second, length_ms, ops, bytes, mb_per_sec,
    slowest_us)
SELECT 900001, 1, n, CASE n WHEN 599 THEN 100 ELSE 1000 END, 1, 1048576,
       CASE n WHEN 95 THEN 0.5 WHEN 599 THEN 0.001 ELSE 1 END, CASE n WHEN 7 THEN 5000 ELSE 200 END
FROM generate_series(0, 599) AS n;
SELECT is(count(*), 60::bigint, 'ten minutes are 60 points')
FROM sync_probe_internal.stream_points(900001);
SELECT is(min(mb_per_sec), 0.5::float8, 'the slowest second is not lost, the cut one is no second')
FROM sync_probe_internal.stream_points(900001);
SELECT is(max(slowest_us), 5000::float8, 'nor is the longest flush')
FROM sync_probe_internal.stream_points(900001);
SELECT is(count(*) FILTER (WHERE x - width / 2 < -0.1 OR x + width / 2 > 500.1), 0::bigint,
    'all points are inside')
FROM sync_probe_internal.stream_points(900001);
SELECT matches(sync_probe_internal.stream_figure(r), 'No stall\.', 'stalls are counted')
FROM sync_probe.runs AS r WHERE run_id = 900001;
SELECT is(sync_probe_internal.stream_figure(r), NULL, 'a run without seconds has no figure')
FROM (SELECT (jsonb_populate_record(NULL::sync_probe.runs, '{"run_id": 900002}')).*) AS r;

SELECT * FROM finish();
ROLLBACK;
